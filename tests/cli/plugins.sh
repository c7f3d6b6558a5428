# SPDX-License-Identifier: Apache-2.0
# --plugin: a plugin in a shared object decides, its arguments are checked, a journal replays only with it, and files that are not
# plugins are refused with the reason.
. "$(dirname "$0")/common.sh" "$1" "$2"
plugin=$3 odd=$4 none=$5

cat >cluster.yaml <<'END'
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {example.com/watts: '100'}}
status: {allocatable: {cpu: '8', memory: 8Gi, pods: '20'}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: '8', memory: 8Gi, pods: '20'}}
END
for i in 1 2 3 4; do
	cat >>cluster.yaml <<END
---
apiVersion: v1
kind: Pod
metadata: {name: p$i, namespace: default, labels: {example.com/watts: '60'}}
spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}
END
done
config() {
	cat <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: RackPower}]}}
$1
END
}
config '  pluginConfig: [{name: RackPower, args: {budgetWatts: 130}}]' >config.yaml
config '  pluginConfig: [{name: RackPower, args: {budget: 130}}]' >wrong.yaml

# One of 60 W on n1, two on n2.
expect 0 "default/p4      1      2  RackPower  Insufficient power" "$berth" simulate cluster.yaml --config config.yaml --plugin "$plugin" --journal run.journal
expect 3 'initializing plugin "RackPower": budgetWatts: give it a number above 0' "$berth" simulate cluster.yaml --config wrong.yaml --plugin "$plugin"
expect 3 "has to be loaded: --plugin FILE.so" "$berth" simulate cluster.yaml --config config.yaml
expect 0 '"args":{"budgetWatts":130}' "$berth" simulate cluster.yaml --config config.yaml --plugin "$plugin" --write-config-to -

# The journal records the plugin.
expect 0 "all decisions match the journal" "$berth" replay run.journal --plugin "$plugin"
expect 3 'written with plugin "RackPower" (1.0, build ' "$berth" replay run.journal
cp "$plugin" other.so
echo >>other.so
expect 3 'written with another plugin "RackPower": there 1.0, build ' "$berth" replay run.journal --plugin other.so

# Many pods and preemption, by workers too: a node with 60 W takes two pods.
"$berth" generate --profile preemption --nodes 60 --pods 600 -o json |
	sed '/"kind":"Pod"/s/"labels":{/&"example.com\/watts":"30",/' >many.json
config '  pluginConfig: [{name: RackPower, args: {budgetWatts: 60}}]' >config.yaml
expect 0 "Insufficient power" "$berth" simulate many.json --config config.yaml --plugin "$plugin" --journal many.journal
expect 0 "all decisions match the journal" "$berth" replay many.journal --plugin "$plugin" --workers 4

# Files that cannot be loaded.
expect 3 "nothing.so" "$berth" simulate cluster.yaml --plugin nothing.so
expect 3 "cluster.yaml" "$berth" simulate cluster.yaml --plugin cluster.yaml
expect 3 "it has no function berth_plugin_v1" "$berth" simulate cluster.yaml --plugin "$none"
expect 3 "built for plugin ABI 2, and this berth has 1" "$berth" simulate cluster.yaml --plugin "$odd"
expect 3 'other.so: plugin "RackPower": a plugin of that name is there already' \
	"$berth" simulate cluster.yaml --plugin "$plugin" --plugin ./other.so
expect 0 "Insufficient power" "$berth" simulate cluster.yaml --config config.yaml --plugin "$plugin" --plugin "$plugin"
finish
