#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# berth exports every metric and label value that an alert of tools/deploy queries, and serves every page that its text
# refers to. $1: another file of alerts.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
alerts=${1:-$root/tools/deploy/alerts.yaml}
bad=0

# Reports an error unless the sources of berth run have the text in quotation marks.
written() {
	grep -rqF "\"$2\"" "$root/tools/cluster" "$root/engine" --include='*.c' --include='*.h' && return
	echo "${alerts##*/}: there is no $1 $2"
	bad=1
}

exprs=$(sed -n 's/^ *expr: //p' "$alerts")
[ -n "$exprs" ] || { echo "${alerts##*/}: no alert has an expr on its line"; exit 1; }
metrics=$(grep -oE '\bberth_[a-z_]+|\bscheduler_[a-z_]+' "$alerts" | sort -u)
for name in $metrics; do
	written metric "$name"
done
for matcher in $(echo "$exprs" | grep -oE '[a-z_]+="[^"]*"' | sort -u); do
	written label "${matcher%%=*}"
	value=${matcher#*=\"}
	written "value of ${matcher%%=*}" "${value%\"}"
done
for page in $(grep -oE '/debug/[a-z]+' "$alerts" | sort -u); do
	written page "$page"
done
# Alerts use the increase of a counter: it never falls.
if echo "$exprs" | grep '_total' | grep -vE '^(increase|rate)\('; then
	echo "${alerts##*/}: an alert takes a counter as it is"
	bad=1
fi
exit $bad
