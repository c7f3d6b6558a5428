// SPDX-License-Identifier: Apache-2.0

// What upstream does not export. The queue's two periodic flushes: SchedulingQueue.Run starts them on goroutines, one of them by the real clock whatever clock the queue has,
// and exports neither; Live calls them at their virtual times.
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

// preEnqueuePlugins is what the queue asks, by profile and name.
func preEnqueuePlugins(q *queue.PriorityQueue) map[string]map[string]fwk.PreEnqueuePlugin {
	f := reflect.ValueOf(q).Elem().FieldByName("preEnqueuePluginMap")
	return *(*map[string]map[string]fwk.PreEnqueuePlugin)(unsafe.Pointer(f.UnsafeAddr()))
}

// runningPreemption looks into the set of preemptors, which only its goroutine's last line leaves.
func runningPreemption(e *preemptor, uid types.UID) bool {
	fields := reflect.ValueOf(e).Elem()
	mu := (*sync.RWMutex)(unsafe.Pointer(fields.FieldByName("mu").UnsafeAddr()))
	set := (*sets.Set[types.UID])(unsafe.Pointer(fields.FieldByName("preempting").UnsafeAddr()))
	mu.RLock()
	defer mu.RUnlock()
	return set.Has(uid)
}
