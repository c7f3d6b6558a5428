/* SPDX-License-Identifier: Apache-2.0
 * Notes of berth bench, below its report and in its man page.
 */
#pragma once

/* Differences between a run here and upstream's: a paragraph. */
#define BT_BENCH_DIFFERENCES                                                                                 \
	"Upstream measures a scheduler together with an API server, etcd, informers and clients with "       \
	"limits. Here objects are handed to the engine in memory, one thread makes all its steps in "        \
	"turn, every node is evaluated, and bindings always succeed, so figures show what the "              \
	"scheduler itself can do. A pod counts when it was created, popped from the queue, decided, "        \
	"assumed and bound. Templates of pods are read before the clock starts; the claims of a pod's "      \
	"ResourceClaimTemplates are there before the pod; calls to the API server have completed "           \
	"about before the next pods are decided; no kubelet ends pods, as upstream. What goes by the "       \
	"clock (churn, deletePods, updateAny, sleep, steadyState) goes --speed times as fast as the "        \
	"file has, as otherwise most measurements would be over before it happened once. A "                 \
	"measurement of less than three seconds is repeated, each time with a new engine and the same "      \
	"operations: then each run is a sample, of all its pods from the first creation to the last "        \
	"binding; else each second is, as upstream. Pods per CPU second leave out the time in which "        \
	"the thread had no CPU, for machines that others use, too. Stages are measured in a first "          \
	"run, whose throughput counts only when it is the only one. Upstream's thresholds are what "         \
	"its nightly measurements must not fall below."
