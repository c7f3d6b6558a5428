# SPDX-License-Identifier: Apache-2.0
load "style.gnuplot"
set title "Placements a second over workers (by the wall's clock; median, quartiles)"
set xlabel "workers"
set xtics 1
set logscale y
set ylabel "placements/s"
plot of("scaling/one_signature_5000") using 3:6:7:8 title "one signature" lc 1, \
     of("scaling/mixed_1000_5000") using 3:6:7:8 title "1,000 mixed" lc 2, \
     of("scaling/own_sizes_5000") using 3:6:7:8 title "1,000 own sizes" lc 3, \
     of("scaling/own_sizes_50000") using 3:6:7:8 title "own sizes, 50,000 nodes" lc 4
