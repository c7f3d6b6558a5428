# SPDX-License-Identifier: Apache-2.0
load "style.gnuplot"
set title "Placements a second over nodes (one core; median, quartiles)"
set xlabel "nodes"
set logscale xy
set format x "%.0s%c"
set ylabel "placements/s"
plot of("limit/one_signature") using 3:6 with linespoints title "limit, one signature" lc rgb "#d7b5e8", \
     of("placement/one_signature") using 3:6:7:8 title "one signature" lc 1, \
     of("limit/ten_signatures") using 3:6 with linespoints title "limit, ten" lc rgb "#99d8c0", \
     of("placement/ten_signatures") using 3:6:7:8 title "ten signatures" lc 2, \
     of("placement/mixed_1000") using 3:6:7:8 title "1,000 mixed" lc 3, \
     of("placement/affinity_spread") using 3:6:7:8 title "affinity, spread" lc 4, \
     of("placement/preemption") using 3:6:7:8 title "preemption" lc 6
