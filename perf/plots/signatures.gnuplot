# SPDX-License-Identifier: Apache-2.0
load "style.gnuplot"
set title "Placements a second over signatures (5,000 nodes, one core; median, quartiles)"
set xlabel "signatures"
set logscale xy
set ylabel "placements/s"
plot of("curve/signatures") using 3:6:7:8 title "in turn, 36 sizes" lc 1, \
     of("curve/own_sizes") using 3:6:7:8 title "at random, own sizes" lc 2
