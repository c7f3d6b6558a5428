# SPDX-License-Identifier: Apache-2.0
# berth simulate: the same objects give the same decisions in every form of input, and decisions are repeatable.
. "$(dirname "$0")/common.sh" "$@"

# simulate LOG ARGUMENT...: the decisions go to LOG.
simulate() {
	local log=$1
	shift
	"$berth" simulate --quiet --decisions "$log" "$@" >out 2>err || fail "simulate $* ended with $?: $(head -3 err)"
}

same() {
	cmp -s want "$1" || fail "$2: other decisions"
}

shape="--nodes 40 --pods 600 --profile everyday,ports,gates --bound 0.3 --signatures 60 --seed 5"
"$berth" generate $shape >all.json
"$berth" generate $shape -o yaml >all.yaml
simulate want all.json
[ "$(grep -c '"node":"' want)" -gt 300 ] || fail "too few decisions: $(wc -l <want)"

# Formats, compression, standard input, folders.
simulate got all.yaml
same got YAML
simulate got -f all.json
same got -f
simulate got --objects all.json
same got --objects
gzip -k all.json
simulate got all.json.gz
same got gzip
gzip -c all.yaml >all.packed
simulate got all.packed
same got "gzip without a name for it"
simulate got - <all.json
same got "standard input"
simulate got - <all.json.gz
same got "gzip on standard input"
if command -v zstd >/dev/null; then
	zstd -qk all.json
	simulate got all.json.zst
	same got zstd
	simulate got - <all.json.zst
	same got "zstd on standard input"
fi
"$berth" generate $shape 2>err | "$berth" simulate --quiet --decisions got - >out || fail "generate | simulate"
same got "generate | simulate"
[ ! -s err ] || fail "generate into a pipe says: $(cat err)"
# The objects as one document per line, as Lists of one kind, and as files in folders.
grep '^{"apiVersion":"[^"]*","kind":"[A-Z][A-Za-z]*","metadata"' all.json | sed 's/,$//' >lines.json
[ "$(grep -c '"kind":"Pod"' lines.json)" = 600 ] || fail "cannot take the list apart"
simulate got lines.json
same got "JSON documents, one a line"
sed 's/^/--- /' lines.json >documents.yaml
simulate got documents.yaml
same got "JSON inside YAML documents"
for kind in Node Pod Namespace PriorityClass; do
	{
		echo "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":["
		grep "\"kind\":\"$kind\"" lines.json | sed '$!s/$/,/'
		echo ']}]}'
	} >list-$kind.json
done
simulate got list-*.json
same got "Lists inside Lists"
# Files of a folder are read in the order of their names.
mkdir -p folder/more
mv list-Namespace.json list-Node.json folder
mv list-Pod.json folder/more
gzip list-PriorityClass.json
mv list-PriorityClass.json.gz folder/more
echo "not an object" >folder/README.txt
simulate got folder
same got "a folder"
# Fields that kubectl adds are ignored.
sed 's/"metadata":{/"metadata":{"managedFields":[{"manager":"kubectl","fieldsV1":{"f:a":{".":{}}}}],"selfLink":"",/' lines.json >fields.json
simulate got fields.json
same got managedFields

# Seeds.
simulate got all.json
same got "the same again"
simulate got --seed 1 all.json
same got "the default seed"
{
	for i in $(seq 20); do
		echo "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n$i\"},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\"}}}"
	done
	for i in $(seq 50); do
		echo "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p$i\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1600m\"}}}]}}"
	done
} >equal.json
simulate one --seed 1 equal.json
grep -E '^  (placed|not placed) ' out >one.counts
simulate two --seed 2 equal.json
grep -E '^  (placed|not placed) ' out >two.counts
cmp -s one two && fail "another seed breaks ties alike"
cmp -s one.counts two.counts || fail "another seed, other counts: $(cat one.counts two.counts)"
grep -qE '^  placed +40$' one.counts || fail "not 40 placed: $(cat one.counts)"
[ "$(grep -c '"node":null,"message":"0/20 nodes are available: 20 Insufficient cpu' one)" = 10 ] || fail "not 10 refused: $(tail -1 one)"

# Workloads: existing pods are not created again.
cat >dump.yaml <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "100", pods: "200"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, uid: d}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: &template
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: done, uid: j}
spec: {completions: 4, parallelism: 4, template: {spec: {containers: [{name: c}], restartPolicy: Never}}}
status: {succeeded: 4, conditions: [{type: Complete, status: "True"}]}
YAML
made() {
	local want=$1
	shift
	"$berth" simulate "$@" >out 2>err || fail "simulate $*: $(cat err)"
	grep -qE "^  created from workloads +$want\$" out || fail "$*: not $want made: $(grep -E 'made|placed' out)"
}
made 3 dump.yaml
cat >replicas.yaml <<'YAML'
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, uid: r, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}}
YAML
made 3 dump.yaml replicas.yaml
made 3 replicas.yaml dump.yaml
for i in 1 2; do
	cat <<YAML
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1-$i
  labels: {app: web}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]
spec: {nodeName: n1, containers: [{name: c}]}
YAML
done >pods.yaml
made 1 dump.yaml replicas.yaml pods.yaml
made 1 pods.yaml replicas.yaml dump.yaml
"$berth" simulate --no-expand dump.yaml replicas.yaml pods.yaml >out
grep -q "created from workloads" out && fail "--no-expand makes pods"
grep -qE '^  placed +0$' out || fail "--no-expand places pods: $(cat out)"

# Traces: the same decisions as objects, and without times.
printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,2,P100\nn2,32000,262144,0,\n' >nodes.csv
{
	echo 'name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time'
	for i in $(seq 9); do
		echo "p$i,1000,1024,1,500,,LS,Running,$((10 - i)),$((11 - i)),6"
	done
} >pods.csv
trace="--trace openb --nodes nodes.csv --pods pods.csv"
simulate timed $trace
[ "$(grep -c '"node":"n1"' timed)" = 9 ] || fail "not all placed in the course of time"
[ "$(grep -c '"delete":true' timed)" = 9 ] || fail "not all gone"
[ "$(head -1 timed)" = '{"pod":"default/p9","node":"n1"}' ] || fail "the first to come is not first: $(head -1 timed)"
simulate want --no-time $trace
grep -q delete want && fail "--no-time deletes"
[ "$(grep -c '"node":null' want)" = 5 ] || fail "not 5 refused without times"
"$berth" generate $trace >trace.json
simulate got trace.json
same got "the trace as objects"
simulate got $trace --until 5
[ "$(grep -c '"node":"n1"' got)" = 5 ] || fail "--until: not 5 placed: $(cat got)"
[ "$(grep -c '"delete":true' got)" = 4 ] || fail "--until: not 4 gone"

# Statuses.
expect 1 "not placed" "$berth" simulate --fail-on-unplaced equal.json
expect 0 "not placed" "$berth" simulate --fail-on-unplaced dump.yaml

# Sampling on request; with fewer than a hundred nodes all are examined.
"$berth" generate --nodes 400 --pods 300 --profile everyday --seed 8 >many.json
simulate want many.json
simulate got many.json --node-sampling all
same got "--node-sampling all"
simulate sampled many.json --node-sampling upstream
cmp -s want sampled && fail "sampling changes nothing"
printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' \
	'percentageOfNodesToScore: 47' >sampling.yaml # the adaptive percentage for 400 nodes
simulate got many.json --config sampling.yaml
cmp -s got sampled || fail "a percentage is not what the adaptive one comes to"
simulate got many.json --config sampling.yaml --node-sampling all
same got "--node-sampling all beats the configuration"
expect 2 "--node-sampling is one of configured|all|upstream, not 'some'" "$berth" simulate many.json --node-sampling some
simulate want all.json
simulate got all.json --node-sampling upstream
same got "40 nodes are too few for samples"
# Without nodes kube-scheduler retries after each backoff; a simulation ends, but with --until it continues until then.
cat >alone.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec: {containers: [{name: main, image: x}]}
END
expect 0 "no nodes available to schedule pods" timeout 20 "$berth" simulate alone.yaml --decisions log
[ "$(wc -l <log)" -le 3 ] || fail "without nodes: $(wc -l <log) attempts"
expect 0 "backoff" timeout 20 "$berth" simulate alone.yaml --until 1m --decisions log
[ "$(wc -l <log)" -ge 7 ] || fail "without nodes, --until: only $(wc -l <log) attempts"

# The same for pods whose every cycle ends in an error.
cat >broken.yaml <<'END'
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: odd}
spec: {selectors: [{cel: {expression: 'device.attributes["a.example.com"].missing == "x"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec: {driver: a.example.com, nodeName: n1, pool: {name: n1, resourceSliceCount: 1}, devices: [{name: d1}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c1, namespace: default}
spec: {devices: {requests: [{name: r1, exactly: {deviceClassName: odd}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: broken}
spec: {containers: [{name: main, image: x}], resourceClaims: [{name: c, resourceClaimName: c1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: fine}
spec: {containers: [{name: main, image: x}]}
END
expect 0 "default/broken" timeout 20 "$berth" simulate broken.yaml --decisions log
grep -qF '{"pod":"default/fine","node":"n1"}' log || fail "beside a pod that meets an error: $(cat log)"
[ "$(wc -l <log)" -le 6 ] || fail "a pod that meets an error: $(wc -l <log) attempts"
finish
