# SPDX-License-Identifier: Apache-2.0
# The beginning of every script of this folder: $berth, an empty working folder inside $2, and functions that expect results.
set -u
# The same environment everywhere: variables of the user's shell or of the CI system do not change a test.
export TERM=xterm LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES KUBECONFIG MALLOC_CONF POSIXLY_CORRECT MANPAGER PAGER KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
unset http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY
umask 022
berth=$1
failed=0
mkdir -p "$2"
folder=$(mktemp -d "$2/run.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
	echo "FAILED: $*" >&2
	failed=1
	return 1
}

# expect STATUS TEXT COMMAND...: the command exits with the status and prints the text.
expect() {
	local want=$1 text=$2
	shift 2
	"$@" >out 2>err
	local got=$?
	[ "$got" = "$want" ] || fail "$* ended with $got, not $want: $(head -3 err)"
	cat out err | grep -qF -- "$text" || fail "$* does not say: $text"
}

finish() {
	exit $failed
}
