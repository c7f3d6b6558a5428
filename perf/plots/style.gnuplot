# SPDX-License-Identifier: Apache-2.0
# Shared by the pictures. figures: the CSV of perf/measure; picture: the output file.
set terminal svg size 680,460 dynamic background "white" font "sans-serif,13"
set output picture
set datafile separator ","
set grid ytics lc rgb "#dddddd"
set border 3 lc rgb "#666666"
set tics nomirror
set key below
set style data yerrorlines
set pointsize 0.6
# Rows of a benchmark. Columns: 3 argument, 6 median, 7 and 8 quartiles, 9 to 11 p50, p99, p999.
of(name) = sprintf("< awk -F, '$2 == \"%s\"' %s", name, figures)
set format y "%.0s%c"
