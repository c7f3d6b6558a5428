// SPDX-License-Identifier: Apache-2.0

// Package berth answers what-if questions about a Kubernetes cluster with kube-scheduler's decisions: which nodes fit a
// pod, where pods go, how many of them fit, whom preemption would evict. Its verbs are those of
// kubernetes-sigs/scheduler-library; libberth, a C library, decides.
//
// A ClusterSnapshot holds nodes, pods and what else scheduling depends on. Apply and Delete change the cluster itself.
// SchedulePods, SchedulePodsByTemplate, ScheduleWorkload and PreemptPods try something: Transaction keeps or reverts
// what it groups, and ResetMutations reverts all that was kept.
//
// # Goroutines
//
// A ClusterSnapshot belongs to one goroutine at a time; a call while another one runs returns ErrBusy. Different
// snapshots are independent.
//
// # Memory
//
// Close frees a snapshot. One that is never closed is freed after the garbage collector has found it unreachable.
// Objects that are passed in are copied, and are never changed.
//
// # Building
//
// cgo finds libberth through pkg-config: install libberth, or let PKG_CONFIG_PATH name the folder of its berth.pc.
package berth
