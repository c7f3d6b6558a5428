# SPDX-License-Identifier: Apache-2.0
# --live and --stats without a terminal: lines instead of a screen, and the report. terminal.sh tests the screen.
. "$(dirname "$0")/common.sh" "$@"
samples=$(dirname "$0")/../../tools/samples
samples=$(realpath "$samples")
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
