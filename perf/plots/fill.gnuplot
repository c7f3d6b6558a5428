# SPDX-License-Identifier: Apache-2.0
load "style.gnuplot"
set title "Placements a second over fill (5,000 nodes, one signature, one core; median, quartiles)"
set xlabel "cpu and memory in use before, %"
set yrange [0:]
set ylabel "placements/s"
plot of("curve/fill") using 3:6:7:8 title "one signature" lc 1
