# SPDX-License-Identifier: Apache-2.0
# perf/compare tells a faster build from noise, perf/measure keeps what was measured. $1: perf/, $2: a folder to work in.
. "$(dirname "$0")/../cli/common.sh" "$@"
perf=$1

# program NAME RATE NOISE: benchmarks suite/one and suite/two, of which each run has the rate, more or less by up to NOISE
# per cent: the same runs every time.
program() {
	mkdir -p "$1/bin"
	cat >"$1/bin/berth_perf" <<-END
		#!/usr/bin/env python3
		import json, os, random, re, sys
		pattern, repeat = "", 1
		for option in sys.argv[1:]:
		    key, _, value = option.partition("=")
		    pattern = value if key == "--benchmark_filter" else pattern
		    repeat = int(value) if key == "--benchmark_repetitions" else repeat
		names = ("suite/one/10", "suite/two/10", "worst/plain_scan/4000", "worst/all_tie/4000")
		found = [name for name in names if re.search(pattern, name)]
		if "--benchmark_list_tests" in sys.argv:
		    print("\n".join(found))
		    sys.exit()
		count = os.path.join(os.path.dirname(__file__), "count")
		turn = int(open(count).read()) if os.path.exists(count) else 0
		open(count, "w").write(str(turn + 1))
		dice = random.Random("$1%d" % turn)
		print(json.dumps({"benchmarks": [
		    {"name": name, "run_type": "iteration", "cpu_time": 1.0,
		     "items_per_second": $2 * (1 + dice.uniform(-$3, $3) / 100)} for name in found for _ in range(repeat)]}))
	END
	chmod +x "$1/bin/berth_perf"
}

program plain 1000 3
program same 1000 3
program fast 1200 3
program slow 950 1
program wild 1050 60
program silent 1000 0
printf '#!/bin/sh\nexit 1\n' >silent/bin/berth_perf

# verdict TEXT A B: both benchmarks get this verdict.
verdict() {
	local text=$1
	shift
	expect 0 "$text" "$perf/compare" -f suite/ -n 6 -o result.json "$@"
	[ "$(grep -cF -- "$text" out)" = 2 ] || fail "not twice '$text': $(cat out)"
}

verdict "faster by" plain fast
grep -q '"verdict": "faster"' result.json || fail "result.json does not say faster"
[ "$(python3 -c 'import json; print(len(json.load(open("result.json"))["runs"]["suite/one/10"]["b"]))')" = 6 ] ||
	fail "result.json does not hold 6 rounds"
verdict "slower by" fast plain
verdict "slower by" plain slow
verdict "no difference that this machine can show" plain same
verdict "no difference that this machine can show" plain wild
# Differences below the requested threshold do not count.
verdict "no difference that this machine can show" -l 10 plain slow

expect 1 "no benchmark matches nothing" "$perf/compare" -f nothing plain fast
expect 1 "is no program" "$perf/compare" plain nowhere
expect 1 "silent/bin/berth_perf" "$perf/compare" -f suite/ plain silent
expect 2 "fewer than 6 rounds" "$perf/compare" -n 5 plain fast
# Invalid arguments are rejected before anything is measured.
rm -f plain/bin/count
expect 2 "0 is not above 0" "$perf/compare" -f suite/ -t 0 plain fast
expect 2 "invalid float value: 'x'" "$perf/compare" -f suite/ -t x plain fast
expect 2 "nan is not above 0" "$perf/compare" -f suite/ -t nan plain fast
expect 2 "CPU 99999 is none of" "$perf/compare" -f suite/ -c 99999 plain fast
expect 2 "is below 0" "$perf/compare" -f suite/ -l -5 plain fast
expect 1 "compare: nowhere/result.json: No such file" "$perf/compare" -f suite/ -o nowhere/result.json plain fast
expect 2 "0 is not above 0" "$perf/measure" -b plain -g worst -n 0 -r results
expect 2 "CPU 99999 is none of" "$perf/measure" -b plain -g worst -c 99999 -r results
expect 1 "/proc/nowhere: No such file" "$perf/measure" -b plain -g worst -r /proc/nowhere
expect 1 "has no benchmark of group curves" "$perf/measure" -b plain -g curves -r results
expect 1 "is no program" "$perf/measure" -b nowhere -g worst -r results
[ ! -e plain/bin/count ] || fail "something was measured"

# Figures of a group, beside their comparison; those of another group are kept.
echo "CMAKE_C_COMPILER:FILEPATH=$(command -v cc)" >plain/CMakeCache.txt
cp plain/CMakeCache.txt fast/
"$perf/measure" -b plain -g worst -n 3 -r kept/results >out 2>err
grep -q '^worst,worst/all_tie,4000,3,' kept/results/figures.csv || fail "measure: $(cat err) $(cat kept/results/figures.csv)"
grep -q '^| worst/all_tie/4000 | 3 |.*| worst/plain_scan | [01]\.' kept/results/figures.md || fail "figures.md: $(cat kept/results/figures.md)"
printf 'nodes,placement/one_signature,5000,1,1,1,1,1\n' >>kept/results/figures.csv
"$perf/measure" -b fast -g worst -n 3 -r kept/results >out 2>err
grep -q '^nodes,placement/one_signature,5000' kept/results/figures.csv || fail "another group's figures are gone: $(cat kept/results/figures.csv)"
[ "$(grep -c all_tie kept/results/figures.csv)" = 1 ] || fail "figures are there twice"
# gnuplot without figures, and no gnuplot.
mkdir -p fails without
printf '#!/bin/sh\nexit 1\n' >fails/gnuplot
chmod +x fails/gnuplot
ln -s "$(python3 -c "import sys; print(sys.executable)")" without/python3
expect 1 "nodes.svg was not drawn: its figures are missing" env PATH="$folder/fails:$PATH" "$perf/measure" -d -r results
expect 1 "gnuplot is missing" env PATH="$folder/without" "$perf/measure" -d -r results

# The interval contains the median with the stated confidence, by the binomial distribution.
python3 - "$perf" <<'END' || fail "median_interval"
import sys
sys.path.insert(0, sys.argv[1])
import timing
for n, cut in ((6, 0), (8, 0), (9, 1), (10, 1), (20, 5)):
    low, high, confidence = timing.median_interval([n - i for i in range(n)])
    assert (low, high) == (1 + cut, n - cut), (n, low, high)
    assert confidence >= 0.95, (n, confidence)
assert timing.spread([1.0, 2.0, 3.0, 4.0, 5.0]) == 2 / 3
END
finish
