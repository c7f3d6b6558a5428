# SPDX-License-Identifier: Apache-2.0
# berth run without an API server: version, invalid command lines, and files that cannot be written.
. "$(dirname "$0")/common.sh" "$@"

cat >none.kubeconfig <<'YAML'
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
YAML

expect 0 "Kubernetes $("$berth" --version | grep -o 'v1[.0-9]*')" "$berth" run --version
expect 0 "Kubernetes v1.36." "$berth" run --version --kubernetes-version=1.36
expect 2 "Try 'berth run --help'" "$berth" run --no-such-flag
expect 3 "missing.kubeconfig: No such file or directory" "$berth" run --kubeconfig=missing.kubeconfig

# If the endpoint cannot listen, the process exits with the reason, whatever the state of its other parts.
for attempt in 1 2 3 4 5 6 7 8 9 10; do
	expect 3 "missing: No such file or directory; see --tls-cert-file and --tls-private-key-file" \
		"$berth" run --kubeconfig=none.kubeconfig --leader-elect=false --tls-cert-file=missing --tls-private-key-file=missing
done
expect 2 "--bind-address is an IP address, such as 0.0.0.0 or ::, not 'nonsense'" "$berth" run --bind-address=nonsense
expect 2 "Cipher suite 'FOO' not supported or doesn't exist; --tls-cipher-suites takes TLS_" "$berth" run --tls-cipher-suites=FOO
expect 2 "--leader-elect-resource-name is required where --leader-elect is on, not ''" \
	"$berth" run --kubeconfig=none.kubeconfig --leader-elect-resource-name=
# A flag of 0 differs from the default, and is printed as upstream prints it.
"$berth" run --kube-api-qps=0 --write-config-to=- >written.yaml || fail "--kube-api-qps=0 is refused"
grep -qF '"burst":100' written.yaml || fail "--kube-api-qps=0 takes the burst away"
grep -qF '"qps":0}' written.yaml || fail "--kube-api-qps=0 is taken for the default"
"$berth" run --kube-api-burst=0 --kube-api-qps=-1 --write-config-to=- >written.yaml || fail "--kube-api-burst=0 is refused"
grep -qF '"acceptContentTypes":"","burst":0,' written.yaml || fail "--kube-api-burst=0 is taken for the default"
grep -qF '"multiPoint":{"enabled":[{"name":"SchedulingGates","weight":0},' written.yaml || fail "a weight of 0 is left out"
grep -qF '"postBind":{},' written.yaml || fail "sets of no plugins are left out"
expect 3 "GnuTLS has none of these" "$berth" run --kubeconfig=none.kubeconfig --leader-elect=false --tls-curve-preferences=4588
expect 3 "one.crt: No such file or directory; see --tls-sni-cert-key" \
	"$berth" run --kubeconfig=none.kubeconfig --leader-elect=false --tls-sni-cert-key=one.crt,one.key:a,b
echo nonsense >one.crt
echo nonsense >one.key
expect 3 "no certificate in PEM" \
	"$berth" run --kubeconfig=none.kubeconfig --leader-elect=false --tls-sni-cert-key=one.crt,one.key:a,b
expect 3 "missing.kubeconfig: No such file" "$berth" run --kubeconfig=missing.kubeconfig --tls-min-version=VersionTLS10 \
	--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA
expect 3 "--authentication-kubeconfig: missing: No such file" \
	"$berth" run --kubeconfig=none.kubeconfig --leader-elect=false --authentication-kubeconfig=missing
expect 3 "leaderElection: renewDeadline must be greater than retryPeriod*JitterFactor; see --leader-elect-lease-duration" \
	"$berth" run --kubeconfig=none.kubeconfig --leader-elect-retry-period=20s

# Ignored settings of a configuration are reported.
cat >scheduler.yaml <<'YAML'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: missing.kubeconfig}
parallelism: 4
delayCacheUntilActive: true
YAML
expect 3 'field="parallelism"' "$berth" run --config=scheduler.yaml
expect 3 'field="delayCacheUntilActive"' "$berth" run --config=scheduler.yaml
expect 3 'field="featureGates.CoordinatedLeaderElection"' "$berth" run --kubeconfig=missing.kubeconfig --feature-gates=CoordinatedLeaderElection=true
expect 3 "missing.kubeconfig: No such file" \
	"$berth" run --kubeconfig=missing.kubeconfig --kubernetes-version=1.36 --feature-gates=DRANodeAllocatableResources=true
expect 3 "Failed" "$berth" run --kubeconfig=missing.kubeconfig
grep -qF "Configuration has no effect" err && fail "something of the defaults is said to have no effect"

# No file gets the descriptor of a closed standard error: the log would be written to it.
"$berth" run --kubeconfig=missing.kubeconfig --journal=run.journal 2>&-
grep -qaF "Failed" run.journal && fail "the log is in the journal"
"$berth" simulate --quiet --decisions decisions.jsonl >&-
[ $? = 4 ] || fail "a closed standard output is no error"
grep -qv '^{' decisions.jsonl && fail "the report is in the log of decisions"

# A journal on a full disk is reported immediately, and the scheduler continues.
mkfifo log
"$berth" run --kubeconfig=none.kubeconfig --secure-port=0 --leader-elect=false --journal=/dev/full 2>log &
pid=$!
said=no
while read -r line; do
	case $line in
	*"The journal breaks off"*"No space left on device"*)
		said=yes
		name=$(cat "/proc/$pid/comm")
		shown=$(tr '\0' ' ' <"/proc/$pid/cmdline")
		kill -TERM $pid
		;;
	esac
done <log
wait $pid
[ $? = 0 ] || fail "who cannot write its journal does not end well"
[ $said = yes ] || fail "nothing is said of a journal that cannot be written"
# ps shows the program's name.
[ "$name" = "berth run" ] || fail "the process is called '$name'"
case $shown in "$berth run --kubeconfig="*) ;; *) fail "ps shows '$shown'" ;; esac
# It drops privileges that it does not need, and reports those that it cannot drop.
sandbox_of() {
	mkfifo sandbox.log
	"$berth" run --kubeconfig="$1" --secure-port=0 --leader-elect=false --journal=sandbox.journal --sandbox="$2" -v 1 2>sandbox.log &
	pid=$!
	while read -r line; do
		echo "$line" >>sandbox.lines
		case $line in
		*"Starting berth"*)
			grep -E "^(NoNewPrivs|Seccomp):" /proc/$pid/status >sandbox.status
			kill -TERM $pid
			;;
		esac
	done <sandbox.log
	wait $pid
	rm sandbox.log
}
sandbox_of none.kubeconfig auto
if ! grep -qF "this is a build with sanitizers" sandbox.lines; then
	grep -qF "Sandboxed" sandbox.lines || fail "does not say that it is sandboxed: $(cat sandbox.lines)"
	# The journal's thread starts afterwards, and so do all others.
	grep -F "other threads run already" sandbox.lines && fail "a thread runs before Landlock"
	grep -qP "NoNewPrivs:\t1" sandbox.status || fail "may get new privileges: $(cat sandbox.status)"
	grep -qP "Seccomp:\t2" sandbox.status || fail "has no filter: $(cat sandbox.status)"
	sed 's/token: t/exec: {apiVersion: client.authentication.k8s.io\/v1, command: "true", interactiveMode: Never}/' none.kubeconfig >exec.kubeconfig
	expect 3 "--sandbox=require: no Landlock: the kubeconfig names a credential plugin, which would inherit it; use --sandbox=auto" \
		"$berth" run --kubeconfig=exec.kubeconfig --leader-elect=false --sandbox=require
fi
rm sandbox.lines
sandbox_of none.kubeconfig off
grep -qF "Sandboxed" sandbox.lines && fail "is sandboxed although it is off"
# Privileges that a container has dropped stay dropped.
grep -E "^(NoNewPrivs|Seccomp):" /proc/self/status >own.status
cmp -s own.status sandbox.status || fail "is limited although it is off: $(cat sandbox.status)"
expect 2 "--sandbox" "$berth" run --kubeconfig=none.kubeconfig --sandbox=maybe
finish
