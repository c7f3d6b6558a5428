# SPDX-License-Identifier: Apache-2.0
# Output files: none may be an input, no two may be the same, and an existing file is kept until the new one is complete.
. "$(dirname "$0")/common.sh" "$@"

cat >n.yaml <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p1}, spec: {containers: [{name: c}]}}
YAML
cp n.yaml original
printf '%s\n' 'apiVersion: kubescheduler.config.k8s.io/v1' 'kind: KubeSchedulerConfiguration' >config.yaml
cp config.yaml original-config
mkdir -p folder/inner
cp n.yaml folder/inner/n.yaml
ln n.yaml hard
ln -s n.yaml soft
ln -s "$PWD/folder" folder-link

intact() {
	cmp -s n.yaml original && cmp -s config.yaml original-config && cmp -s folder/inner/n.yaml original || {
		fail "$*: an input was changed"
		cp original n.yaml
		cp original-config config.yaml
		cp original folder/inner/n.yaml
	}
}

# ---- an output that is an input ----
for option in --decisions --events --journal --write-config-to; do
	for name in n.yaml ./n.yaml "$PWD/n.yaml" hard soft folder/../n.yaml; do
		expect 2 "$option $name is also an input" "$berth" simulate n.yaml $option "$name"
		intact "$option $name"
		expect 2 "$option $name is also an input" "$berth" simulate -f n.yaml $option "$name"
		intact "-f n.yaml $option $name"
	done
	expect 2 "is also an input" "$berth" simulate soft $option n.yaml
	expect 2 "is also an input" "$berth" simulate n.yaml --config config.yaml $option config.yaml
	expect 2 "is also an input" "$berth" simulate - $option n.yaml <n.yaml
	expect 2 "is also an input" "$berth" simulate folder $option folder/inner/n.yaml
	expect 2 "is also an input" "$berth" simulate folder-link $option folder/inner/n.yaml
	expect 2 "is also an input" "$berth" simulate folder $option folder/inner/new.yaml
	[ ! -e folder/inner/new.yaml ] || fail "$option: a refused output was made"
	intact "$option"
done
ln n.yaml folder/inner/linked.json
expect 2 "is also an input" "$berth" simulate folder --decisions hard
rm folder/inner/linked.json
# A file whose name the reader of a folder ignores is no input.
expect 0 "placed" "$berth" simulate folder --decisions folder/log
rm folder/log
printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,2,P100\n' >nodes.csv
cp nodes.csv nodes.before
expect 2 "--decisions nodes.csv is also an input" "$berth" simulate --trace openb --nodes nodes.csv --pods none --decisions nodes.csv
cmp -s nodes.csv nodes.before || fail "the trace was changed"
"$berth" simulate n.yaml >>n.yaml 2>err
[ $? = 2 ] || fail "standard output may be the input: $(cat err)"
intact "standard output"
for command in "quality n.yaml" "generate --trace openb --nodes n.yaml --pods nodes.csv" "verdict n.yaml" "history n.yaml" "replay n.yaml" "bench n.yaml"; do
	$berth $command >>n.yaml 2>err
	[ $? = 2 ] && grep -qF "standard output is also an input" err || fail "$command: $(cat err)"
	intact "$command"
done
for option in --journal --write-config-to; do
	expect 2 "$option config.yaml is also an input" "$berth" run --config=config.yaml $option=config.yaml
	intact "run $option"
done

# Files named in a configuration or a kubeconfig are inputs as well.
printf '%s\n' 'apiVersion: v1' 'kind: Config' 'clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]' \
	'users: [{name: u, user: {tokenFile: token}}]' 'contexts: [{name: x, context: {cluster: c, user: u}}]' 'current-context: x' >kubeconfig
echo secret >token
printf '%s\n' 'clientConnection: {kubeconfig: kubeconfig}' 'extenders: [{urlPrefix: "https://127.0.0.1:1", filterVerb: filter, enableHTTPS: true, tlsConfig: {caFile: authority}}]' |
	cat config.yaml - >named.yaml
echo authority >authority
for name in kubeconfig token authority; do
	cp $name before
	expect 3 "--journal $name is also an input" "$berth" run --config=named.yaml --secure-port=0 --journal=$name
	cmp -s $name before || fail "run --journal: $name was changed"
done
export KUBECONFIG=nowhere:kubeconfig
for name in kubeconfig token; do
	expect 3 "--journal ./$name is also an input" "$berth" run --secure-port=0 --journal=./$name
done
unset KUBECONFIG
[ "$(cat token)" = secret ] || fail "run --journal: the token of \$KUBECONFIG was changed"

# ---- two outputs to the same file ----
touch there
ln -s there there-link
ln there there-hard
ln -s not-there dangling
for pair in "new new" "new ./new" "there there-link" "there there-hard" "dangling not-there" "- -" "- /dev/stdout" "/dev/stdout -" "/dev/fd/1 /proc/self/fd/1"; do
	set -- $pair
	expect 2 "are the same file" "$berth" simulate n.yaml --decisions "$1" --events "$2"
	expect 2 "are the same file" "$berth" simulate n.yaml --journal "$1" --events "$2"
done
for name in - /dev/stdout; do
	expect 2 "and the report of --output" "$berth" simulate n.yaml --decisions $name -o json
	expect 2 "and the report of --output" "$berth" simulate n.yaml --events $name -o table
done
"$berth" simulate n.yaml --decisions both -o json >both 2>err
[ $? = 2 ] || fail "a log into the file that is standard output: $(cat err)"
"$berth" simulate n.yaml --decisions both >both 2>err
[ $? = 2 ] || fail "a log into the file that the report goes to: $(cat err)"
# /dev/null may be used twice.
expect 0 "" "$berth" simulate n.yaml --decisions /dev/null --events /dev/null
"$berth" simulate n.yaml --decisions /dev/null >/dev/null 2>err || fail "/dev/null twice: $(cat err)"

# With a log on standard output the report goes to standard error.
"$berth" simulate n.yaml --decisions - >out 2>err || fail "--decisions -: $(cat err)"
[ "$(cat out)" = '{"pod":"default/p1","node":"n1"}' ] || fail "--decisions - writes: $(cat out)"
grep -qE '^  placed +1$' err || fail "--decisions -: no report: $(cat err)"
"$berth" simulate -q n.yaml --decisions /dev/stdout >out 2>err || fail "--decisions /dev/stdout: $(cat err)"
[ "$(cat out)" = '{"pod":"default/p1","node":"n1"}' ] || fail "--decisions /dev/stdout writes: $(cat out)"
[ ! -s err ] || fail "-q reports: $(cat err)"

# ---- the old file is kept until the new one is complete ----
left() {
	find . -name '.*.tmp' | grep -q . && fail "$*: left behind: $(find . -name '.*.tmp')"
}
echo old >log
chmod 640 log
expect 3 "" "$berth" simulate missing.yaml --decisions log --journal log2 --events log3
[ "$(cat log)" = old ] || fail "a failed run changed the old file: $(cat log)"
[ ! -e log2 ] && [ ! -e log3 ] || fail "a failed run made files"
left "a failed run"
expect 0 "" "$berth" simulate n.yaml --decisions log
[ "$(cat log)" = '{"pod":"default/p1","node":"n1"}' ] || fail "the log says: $(cat log)"
[ "$(stat -c %a log)" = 640 ] || fail "permissions were not kept: $(stat -c %a log)"
(umask 027 && "$berth" simulate n.yaml --decisions fresh >/dev/null)
[ "$(stat -c %a fresh)" = 640 ] || fail "a new file has not the umask's permissions: $(stat -c %a fresh)"
ln -s log link
expect 0 "" "$berth" simulate n.yaml --decisions link --seed 2
[ -L link ] || fail "a link was replaced"
left "a run"

# until TEXT FILE COMMAND: waits for a line while the program runs.
"$berth" generate --nodes 10 --pods 10 >ten.json
for signal in TERM INT HUP QUIT KILL; do
	echo old >log
	mkfifo pipe
	set -m
	"$berth" simulate pipe --decisions log --journal journal >out 2>err &
	child=$!
	set +m
	# The program opens its outputs before the pipe, and then waits for objects.
	exec 9>pipe
	cat ten.json >&9
	# The first TERM or INT requests the end, the second one ends at once; two that arrive together count as one.
	while kill -$signal $child 2>/dev/null; do :; done
	wait $child 2>/dev/null
	status=$?
	exec 9>&-
	[ $status -gt 128 ] || fail "SIG$signal ended with $status"
	[ "$(cat log)" = old ] || fail "SIG$signal: the old file is gone: $(cat log)"
	[ ! -e journal ] || fail "SIG$signal: there is half a journal"
	[ $signal = KILL ] || left "SIG$signal"
	rm -f pipe .*.tmp
done

# On a full disk the old file is kept; pipes and devices are written directly.
if (ulimit -f 1 && "$berth" simulate --decisions log >/dev/null 2>err); then
	fail "no error for a file that may not grow"
fi
grep -qF "cannot write log: File too large" err || fail "a file that may not grow: $(cat err)"
[ "$(cat log)" = old ] || fail "a full disk destroyed the old file"
left "a full disk"
mkfifo pipe
cat pipe >got &
"$berth" simulate n.yaml --decisions pipe >out 2>err || fail "into a pipe: $(cat err)"
wait $!
[ -p pipe ] || fail "the pipe was replaced"
[ "$(cat got)" = '{"pod":"default/p1","node":"n1"}' ] || fail "through the pipe came: $(cat got)"
expect 4 "cannot write folder: Is a directory" "$berth" simulate n.yaml --decisions folder
if [ "$(id -u)" != 0 ]; then
	chmod 400 log
	expect 4 "cannot write log: Permission denied" "$berth" simulate n.yaml --decisions log
fi
finish
