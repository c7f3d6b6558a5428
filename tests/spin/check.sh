#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks a model with SPIN: check.sh FOLDER MODEL QUESTION...
# A question is "holds PROPERTY [-DMACRO...]" or "refuted PROPERTY [-DMACRO...]"; a property is the name of an ltl formula
# (checked under weak fairness), or asserts, or safety: assertions, and no process waits forever where it may not end.
# "refuted" passes when SPIN finds a counterexample of exactly that kind; an incomplete search never passes.
# A result depends only on model and question, so passed questions in FOLDER are not checked again.
set -eu
root=$1 model=$(realpath "$2")
shift 2
script=$(realpath "$0")
depth=${BT_SPIN_DEPTH:-400000} megabytes=${BT_SPIN_MEGABYTES:-700}
if [ -n "${BT_SPIN_LONG:-}" ] && [ "${BT_LONG:-0}" = 0 ]; then
	echo "skipped: takes long; BT_LONG=1 runs it"
	exit 77
fi

fail() {
	echo "check: $question: $*" >&2
	cat pan.out >&2
	if ls ./*.trail >/dev/null 2>&1; then
		echo "check: the counterexample, its last 60 steps:" >&2
		# shellcheck disable=SC2086 # a list of macros
		spin -t -p $macros "${model##*/}" 2>/dev/null | tail -n 60 >&2 || true
	fi
	exit 1
}

# compile FLAGS...: counterexamples are found at once, so there compiling takes most of the time.
compile() {
	optimise=-O1
	[ "$expected" = holds ] || optimise=-O0
	gcc -std=gnu99 $optimise -w -DMEMLIM="$megabytes" -DVECTORSZ=2048 "$@" -o pan pan.c
}

# Runs pan; its output is in pan.out.
search() {
	case $property in
	safety)
		compile -DSAFETY -DNOCLAIM
		set -- -m"$depth" -w20
		reason='assertion violated|invalid end state'
		;;
	asserts)
		compile -DSAFETY -DNOCLAIM
		set -- -m"$depth" -w20 -E
		reason='assertion violated'
		;;
	*)
		compile -DNFAIR=3
		set -- -m"$depth" -w20 -a -f -N "$property"
		reason='acceptance cycle'
		;;
	esac
	./pan "$@" >pan.out 2>&1 || true
	grep -E 'states, stored|elapsed|^pan:1' pan.out || true
}

judge() {
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.out)
	case $expected in
	holds)
		[ "${errors:-none}" = 0 ] || fail "does not hold"
		if grep -qE 'max search depth too small|out of memory|Search not completed' pan.out; then
			fail "the search was cut short, so nothing is proved"
		fi
		;;
	refuted)
		[ "${errors:-0}" -gt 0 ] || fail "the broken model was not refuted"
		grep -qE "^pan:1: ($reason)" pan.out || fail "refuted for another reason"
		;;
	*) fail "what is '$expected'?" ;;
	esac
}

# ask EXPECTED PROPERTY [-DMACRO...]
ask() {
	expected=$1 property=$2
	shift 2
	macros=$*
	folder=$root/$(echo "$question" | tr -c 'A-Za-z0-9_\n' '_')
	fingerprint=$(cat "$model" "${model%/*}/park.pml" "$script" | sha256sum)
	if [ "$(cat "$folder/passed" 2>/dev/null)" = "$fingerprint" ]; then
		echo "passed before, with exactly this model: $question"
		return
	fi
	echo "==> $question"
	rm -rf "$folder"
	mkdir -p "$folder"
	cp "${model%/*}"/*.pml "$folder" # the trail is written beside the model
	cd "$folder"
	if ! spin -a "$@" "${model##*/}" >pan.out 2>&1 || grep -q 'Error:' pan.out; then
		fail "is not a model"
	fi
	search
	judge
	rm -f pan pan.*
	echo "$fingerprint" >passed
}

for question in "$@"; do
	# shellcheck disable=SC2086 # words
	ask $question
done
