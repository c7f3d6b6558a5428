# SPDX-License-Identifier: Apache-2.0
# Every command that help lists has help, and its man page renders without warnings.
. "$(dirname "$0")/common.sh" "$@"

expect 0 "Commands" "$berth" --help
expect 0 "Commands" "$berth" help
expect 0 "berth 0." "$berth" --version
expect 0 "berth 0." "$berth" version
expect 2 "there is no command 'nothing'" "$berth" help nothing
commands=$("$berth" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail "help lists no commands"
for command in $commands; do
	expect 0 "Exit status" "$berth" "$command" --help
	expect 0 "Exit status" "$berth" help "$command"
	"$berth" help --man "$command" >"berth-$command.1" || fail "no man page of $command"
done
"$berth" help --man >berth.1 || fail "no man page of berth"
if command -v man >/dev/null; then
	for page in *.1; do
		man --warnings -E UTF-8 -l "$page" >/dev/null 2>warnings
		[ ! -s warnings ] || fail "$page: $(head -1 warnings)"
	done
fi
escape=$(printf '\033')
"$berth" help simulate | grep -q "$escape" && fail "colours without a terminal"
"$berth" help simulate --color=always | grep -q "$escape" || fail "no colours with --color=always"
NO_COLOR=1 "$berth" help simulate --color=auto | grep -q "$escape" && fail "colours with NO_COLOR"
finish
