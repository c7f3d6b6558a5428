# SPDX-License-Identifier: Apache-2.0
load "style.gnuplot"
set title "From due to bound, open loop (5,000 nodes, ten signatures; medians of runs)"
set xlabel "pods a second"
set format x "%.0s%c"
set logscale y
set format y "%.0s %cs"
set ylabel "latency"
plot of("latency/open_loop/5000") using 3:($11*1e-9) with linespoints title "p99.9" lc 3, \
     of("latency/open_loop/5000") using 3:($10*1e-9) with linespoints title "p99" lc 2, \
     of("latency/open_loop/5000") using 3:($9*1e-9) with linespoints title "p50" lc 1, \
     of("latency/bare") using 3:($11*1e-9) with linespoints title "p99.9 of nothing" lc rgb "#b0d8f0", \
     of("latency/bare") using 3:($10*1e-9) with linespoints title "p99 of nothing" lc rgb "#99d8c0"
