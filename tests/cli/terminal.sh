# SPDX-License-Identifier: Apache-2.0
# Terminal output: the live screen, restoring the terminal, colours. Skipped where no terminal can be made.
. "$(dirname "$0")/common.sh" "$@"
samples=$(dirname "$0")/../../tools/samples
samples=$(realpath "$samples")
if ! script -qec true /dev/null >/dev/null 2>err </dev/null; then
	echo "skipped: no pseudo-terminal can be opened here: $(head -1 err)"
	exit 77
fi

# ---- the live screen ----
# Each screen has its own tmux server: a server that is ending may still accept the next session.
# Its commands run in /bin/sh, whatever the user's shell is.
server=first
export SHELL=/bin/sh
tm() {
	tmux -S "$folder/$server" -f /dev/null "$@"
}

# reaches WHAT COMMAND...: waits until the command succeeds. Only the test's timeout limits it: a busy machine may be slow.
reaches() {
	local what=$1
	shift
	echo "waiting for $what"
	until "$@"; do
		tm has-session 2>/dev/null || fail "$what does not come: the terminal has ended" || return
		sleep 0.1
	done
}

shows() {
	tm capture-pane -p | grep -qE -- "$1"
}

is() {
	[ "$(tm display-message -p "#{$1}")" = "$2" ]
}

command="(echo \$BASHPID >pid; exec $berth simulate --live -o json --until 2h --speed 1 $samples 2>&1 >report)"
tm new-session -d -x 80 -y 24 "env -u NO_COLOR PS1='prompt> ' bash --norc --noprofile -i"
reaches "a prompt" shows '^prompt>'
tm send-keys "$command" Enter
reaches "the picture" shows '^threads +berth'
shows '^berth  placing pods   [0-9]{2}:[0-9]{2}   virtual ' || fail "no head: $(tm capture-pane -p)"
shows '^queue +active [0-9]+   backoff ' || fail "no queue: $(tm capture-pane -p)"
shows '^decide( +[0-9.]+ [num]?s){5} +[0-9]+$' || fail "no latencies: $(tm capture-pane -p)"
is alternate_on 1 || fail "the picture is not on the alternate screen"

# The screen follows the terminal's size.
tm resize-window -x 40 -y 8
reaches "the narrow picture" shows '^queue +active [0-9]+   backoff [0-9]+$'
tm capture-pane -p | head -1 | grep -q '^berth  placing' || fail "narrow: the head is not first: $(tm capture-pane -p)"
tm resize-window -x 100 -y 30
reaches "the wide picture" shows '^pods +assumed [0-9]+ +scheduled [0-9]+ +placed [0-9]+ +nodes'

# SIGTSTP restores the terminal; SIGCONT shows the screen again.
tm send-keys C-z
reaches "the shell while it is stopped" shows 'Stopped'
is alternate_on 0 || fail "stopped: still on the alternate screen"
is cursor_flag 1 || fail "stopped: the cursor is hidden"
tm send-keys "fg" Enter
reaches "the picture after fg" is alternate_on 1

# SIGINT: the terminal is restored, and the report is complete.
tm send-keys C-c
reaches "the shell after SIGINT" is alternate_on 0
tm send-keys 'echo ended=$?' Enter
reaches "status 130" shows '^ended=130'
is alternate_on 0 || fail "after SIGINT: still on the alternate screen"
is cursor_flag 1 || fail "after SIGINT: the cursor is hidden"
[ "$(tail -n 1 report)" = "}" ] || fail "the report is not closed: $(tail -n 3 report)"
grep -q '"stage": "decide"' report || fail "--live does not imply --stats"

# A fatal signal: the terminal is restored, too.
tm send-keys "clear; $command" Enter
reaches "the picture once more" is alternate_on 1
kill -ABRT "$(cat pid)"
reaches "the shell after SIGABRT" is alternate_on 0
tm send-keys 'echo ended=$?' Enter
reaches "status 134" shows '^ended=134'
is alternate_on 0 || fail "after SIGABRT: still on the alternate screen"
is cursor_flag 1 || fail "after SIGABRT: the cursor is hidden"
tm kill-server

# ---- the live screen of a run with threads ----
server=second
tm new-session -d -x 110 -y 40 "$berth simulate --live --threads 2 --until 1h --speed 1 $samples >report"
has_threads() {
	tm capture-pane -p >screen && grep -q '^bind ' screen && grep -q '^threads' screen
}
reaches "the picture with threads" has_threads
for row in '^rates +[0-9,]+ pods/s' '^queue +active [0-9]+' '^stage +p50' '^bind +[0-9.]+ [num]?s' '^conflicts' '^reclaim' '^rings +feed-0-0 [0-9]+/[0-9]+ high' \
	'bind_requests-1-0 [0-9]+/[0-9]+' 'publish [0-9]+ % (works|waits)' 'schedule [0-9]+ % (works|waits)' 'ingest-1 [0-9]+ % (works|waits)' 'bind-1 [0-9]+ % (works|waits)'; do
	grep -qE "$row" screen || fail "the picture has no $row: $(cat screen)"
done
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

# ---- the report ----
script -qec "'$berth' simulate $samples" /dev/null </dev/null | grep -q "$(printf '\033\[1m')" || fail "no colours in a report on a terminal"
NO_COLOR=1 script -qec "'$berth' simulate $samples" /dev/null </dev/null | grep -q "$(printf '\033\[1m')" && fail "colours in a report with NO_COLOR"
finish
