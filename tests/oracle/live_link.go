// SPDX-License-Identifier: Apache-2.0

// Unexported functions of upstream. The queue's two periodic flushes: SchedulingQueue.Run starts them on goroutines, one of
// them by the real clock regardless of the queue's clock, and exports neither; Live calls them at their virtual times.
package main

import (
	"reflect"
	"sync"
	"unsafe" // also for go:linkname

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

//go:linkname flushBackoffQCompleted k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoffQCompleted(q *queue.PriorityQueue, logger klog.Logger)

// preEnqueuePlugins are the queue's plugins by profile and name.
func preEnqueuePlugins(q *queue.PriorityQueue) map[string]map[string]fwk.PreEnqueuePlugin {
	f := reflect.ValueOf(q).Elem().FieldByName("preEnqueuePluginMap")
	return *(*map[string]map[string]fwk.PreEnqueuePlugin)(unsafe.Pointer(f.UnsafeAddr()))
}

// runningPreemption reads the set of preemptors, from which only the last line of the goroutine removes one.
func runningPreemption(e *preemptor, uid types.UID) bool {
	fields := reflect.ValueOf(e).Elem()
	mu := (*sync.RWMutex)(unsafe.Pointer(fields.FieldByName("mu").UnsafeAddr()))
	set := (*sets.Set[types.UID])(unsafe.Pointer(fields.FieldByName("preempting").UnsafeAddr()))
	mu.RLock()
	defer mu.RUnlock()
	return set.Has(uid)
}
