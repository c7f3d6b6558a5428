# SPDX-License-Identifier: Apache-2.0
# --live and --stats: the picture on a terminal, that the terminal comes back, lines where there is none, and the report.
. "$(dirname "$0")/common.sh" "$@"
samples=$(dirname "$0")/../../tools/samples
samples=$(realpath "$samples")
export TERM=xterm LANG=C.UTF-8
unset NO_COLOR

# ---- a terminal ----
tm() {
	tmux -S "$folder/tmux" -f /dev/null "$@"
}

# reaches WHAT COMMAND...: within 30 seconds the command succeeds.
reaches() {
	local what=$1 i
	shift
	for i in $(seq 300); do
		"$@" && return 0
		sleep 0.1
	done
	fail "$what does not come; the screen is: $(tm capture-pane -p)"
	return 1
}

shows() {
	tm capture-pane -p | grep -qE -- "$1"
}

is() {
	[ "$(tm display-message -p "#{$1}")" = "$2" ]
}

command="$berth simulate --live -o json --until 2h --speed 1 $samples 2>&1 >report"
tm new-session -d -x 80 -y 24 "env -u NO_COLOR PS1='prompt> ' bash --norc --noprofile -i"
reaches "a prompt" shows '^prompt>'
tm send-keys "$command" Enter
reaches "the picture" shows '^threads +berth'
shows '^berth  placing pods   00:0[0-9]   virtual ' || fail "no head: $(tm capture-pane -p)"
shows '^queue +active [0-9]+   backoff ' || fail "no queue: $(tm capture-pane -p)"
shows '^decide( +[0-9.]+ [num]?s){5} +[0-9]+$' || fail "no latencies: $(tm capture-pane -p)"
is alternate_on 1 || fail "the picture is not on the alternate screen"

# Another size: the picture follows it.
tm resize-window -x 40 -y 8
reaches "the narrow picture" shows '^queue +active [0-9]+   backoff [0-9]+$'
tm capture-pane -p | head -1 | grep -q '^berth  placing' || fail "narrow: the head is not first: $(tm capture-pane -p)"
tm resize-window -x 100 -y 30
reaches "the wide picture" shows '^pods +assumed [0-9]+ +scheduled [0-9]+ +placed [0-9]+ +nodes'

# Stopped, the terminal is the shell's; continued, the picture is back.
tm send-keys C-z
reaches "the shell while it is stopped" shows 'Stopped'
is alternate_on 0 || fail "stopped: still on the alternate screen"
is cursor_flag 1 || fail "stopped: the cursor is hidden"
tm send-keys "fg" Enter
reaches "the picture after fg" is alternate_on 1

# SIGINT: the terminal is as before, and the report is whole.
tm send-keys C-c
reaches "the shell after SIGINT" is alternate_on 0
tm send-keys 'echo ended=$?' Enter
reaches "status 130" shows '^ended=130'
is alternate_on 0 || fail "after SIGINT: still on the alternate screen"
is cursor_flag 1 || fail "after SIGINT: the cursor is hidden"
[ "$(tail -n 1 report)" = "}" ] || fail "the report is not closed: $(tail -n 3 report)"
grep -q '"stage": "decide"' report || fail "--live does not imply --stats"

# A deadly signal: the terminal comes back all the same.
tm send-keys "clear; $command" Enter
reaches "the picture once more" is alternate_on 1
pkill -ABRT -P "$(tm display-message -p '#{pane_pid}')" berth
reaches "the shell after SIGABRT" is alternate_on 0
tm send-keys 'echo ended=$?' Enter
reaches "status 134" shows '^ended=134'
is alternate_on 0 || fail "after SIGABRT: still on the alternate screen"
is cursor_flag 1 || fail "after SIGABRT: the cursor is hidden"
tm kill-server

# ---- colours ----
soon="$berth simulate --live --until 1s --speed 2 $samples"
script -qec "$soon" /dev/null >out </dev/null
grep -q "$(printf '\033\[1mprogress')" out || fail "no colours on a terminal"
NO_COLOR=1 script -qec "$soon" /dev/null >out </dev/null
grep -q progress out || fail "no picture with NO_COLOR"
grep -q "$(printf '\033\[[0-9]*m')" out && fail "colours in spite of NO_COLOR"
TERM=dumb script -qec "$soon 2>err >/dev/null" /dev/null >out </dev/null
grep -q "$(printf '\033')" out && fail "control sequences on a dumb terminal"

# ---- no terminal ----
$berth simulate --live --until 3s --speed 1 "$samples" >report 2>err || fail "without a terminal: $(cat err)"
grep -qE '^00:0[0-9] placing pods: [0-9,]+ of 3 virtual s, [0-9,]+ pods/s, [0-9,]+ wait' err || fail "no lines: $(cat err)"
grep -q "$(printf '\033')" err && fail "control sequences where there is no terminal"
$berth simulate --live --quiet --until 2s --speed 1 "$samples" >report 2>err
[ -s err ] && fail "--quiet says: $(cat err)"

# ---- the report ----
placed=$($berth simulate -q "$samples" -o json | sed -n 's/^ *"placed": \([0-9]*\),$/\1/p' | head -1)
for format in table json yaml csv; do
	$berth simulate -q --stats -o $format "$samples" >"stats.$format" || fail "--stats -o $format fails"
	$berth simulate -q -o $format "$samples" >"plain.$format"
	grep -qE 'stages|how long stages took' "plain.$format" && fail "$format has stages that nobody asked for"
done
grep -qE '^ *stage +count +mean +p50 +p90 +p99 +p999 +max$' stats.table || fail "no table: $(cat stats.table)"
grep -qE '^  decide +[0-9]+( +[0-9.,]+){6}$' stats.table || fail "no row: $(cat stats.table)"
grep -qE '^stages,decide,.*,[0-9]+(,[0-9.]+){6}$' stats.csv || fail "no CSV: $(grep stages stats.csv)"
grep -qx -- '- stage: decide' stats.yaml || fail "no YAML: $(grep -A3 stages stats.yaml)"
decided=$(sed -n '/"stage": "decide"/,/count/s/.*"count": \([0-9]*\),/\1/p' stats.json)
[ "$decided" -ge "$placed" ] || fail "$decided were decided, but $placed placed"
for stage in ingest wait decide; do
	grep -q "\"stage\": \"$stage\"" stats.json || fail "stage $stage is not in the report"
done

# Measuring changes no decision.
$berth simulate -q --decisions with.jsonl --stats --seed 7 "$samples" >/dev/null
$berth simulate -q --decisions without.jsonl --seed 7 "$samples" >/dev/null
cmp -s with.jsonl without.jsonl || fail "--stats changes decisions"
finish
