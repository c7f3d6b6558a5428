// SPDX-License-Identifier: Apache-2.0

// Package berth answers what-if questions about a Kubernetes cluster with kube-scheduler's decisions: which nodes fit a
// pod, where pods go, how many of them fit, whom preemption would evict. Its verbs are those of
// kubernetes-sigs/scheduler-library; libberth, a C library, decides.
//
// A ClusterSnapshot holds nodes, pods and what else scheduling depends on. Apply and Delete change the cluster itself.
// SchedulePods, SchedulePodsByTemplate, ScheduleWorkload, PreemptPods and RemoveNodes are mutations, which try something:
// Transaction keeps or reverts what it groups, and ResetMutations reverts all that was kept. While there are mutations,
// AddNodes and AddPods are such, too.
//
// # Errors
//
// An error names the call, the object and the remedy; errors.Is tells its kind (ErrInvalid, ErrNotFound, …). A call that
// fails changes nothing. That a pod fits nowhere is no error: results have the reason.
//
// # Contexts
//
// A verb whose context has ended returns its error, and changes nothing. SchedulePods looks before each pod; other verbs,
// of a few milliseconds, look once.
//
// # Goroutines
//
// A ClusterSnapshot belongs to one goroutine at a time; a call while another one runs returns ErrBusy. Different
// snapshots are independent.
//
// # Memory
//
// Close frees a snapshot. One that is never closed is freed after the garbage collector has found it unreachable.
// Objects that are passed in are copied, and are never changed: a pod that is passed again is known by namespace and name.
//
// # Building
//
// cgo finds libberth through pkg-config: install libberth, or let PKG_CONFIG_PATH name the folder of its berth.pc.
package berth
