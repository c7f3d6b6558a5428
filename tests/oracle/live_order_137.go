// SPDX-License-Identifier: Apache-2.0

//go:build k8s137

// The order of the PodGroups of a tree, and of pods whose group's object arrives: upstream takes both from maps.
package main

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe" // also for go:linkname

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func (l orderedLister) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return orderedTrees{l.SharedLister.CompositePodGroupStates(), l.live}
}

type orderedTrees struct {
	fwk.CompositePodGroupStateLister
	live *Live
}

func (l orderedTrees) Get(namespace, name string) (fwk.CompositePodGroupState, error) {
	state, err := l.CompositePodGroupStateLister.Get(namespace, name)
	if err != nil {
		return nil, err
	}
	return orderedTree{state, l.live}, nil
}

type orderedTree struct {
	fwk.CompositePodGroupState
	live *Live
}

// GetChildren sorts as PodGroupInfo.GetChildGroups does: by creation, then by name.
func (t orderedTree) GetChildren() []fwk.EntityKey {
	children := t.CompositePodGroupState.GetChildren()
	slices.SortFunc(children, func(a, b fwk.EntityKey) int {
		if c := t.live.createdAt(a).Compare(t.live.createdAt(b)); c != 0 {
			return c
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return children
}

func (l *Live) createdAt(key fwk.EntityKey) time.Time {
	if key.GetType() == fwk.CompositePodGroupKeyType {
		if c, err := l.factory.Scheduling().V1alpha3().CompositePodGroups().Lister().CompositePodGroups(key.GetNamespace()).Get(key.GetName()); err == nil {
			return c.CreationTimestamp.Time
		}
	} else if g, err := l.factory.Scheduling().V1beta1().PodGroups().Lister().PodGroups(key.GetNamespace()).Get(key.GetName()); err == nil {
		return g.CreationTimestamp.Time
	}
	return time.Time{}
}

// orderedQueue adds the pods that waited for a group's object in the order in which they were queued: the first one gives
// the group its time, and PreEnqueue is run for it alone.
type orderedQueue struct{ *queue.PriorityQueue }

func (l *Live) orderQueue() { l.sched.SchedulingQueue = orderedQueue{l.queue} }

func (q orderedQueue) AddPodGroup(logger klog.Logger, g *schedulingv1beta1.PodGroup) {
	incomplete := q.takeIncomplete()
	q.PriorityQueue.AddPodGroup(logger, g)
	q.addAgain(logger, incomplete)
}

func (q orderedQueue) AddCompositePodGroup(logger klog.Logger, g *schedulingv1alpha3.CompositePodGroup) {
	incomplete := q.takeIncomplete()
	q.PriorityQueue.AddCompositePodGroup(logger, g)
	q.addAgain(logger, incomplete)
}

func (q orderedQueue) locked(do func()) {
	lock := (*sync.RWMutex)(unsafe.Pointer(reflect.ValueOf(q.PriorityQueue).Elem().FieldByName("lock").UnsafeAddr()))
	lock.Lock()
	defer lock.Unlock()
	do()
}

func (q orderedQueue) takeIncomplete() []*framework.QueuedPodInfo {
	var out []*framework.QueuedPodInfo
	q.locked(func() {
		pods := reflect.ValueOf(q.PriorityQueue).Elem().FieldByName("incompletePodGroupPods").Elem().FieldByName("podGroupToPodInfos")
		groups := *(*map[fwk.EntityKey]map[fwk.EntityKey]*framework.QueuedPodInfo)(unsafe.Pointer(pods.UnsafeAddr()))
		for _, infos := range groups {
			for _, i := range infos {
				out = append(out, i)
			}
		}
		clear(groups)
	})
	slices.SortFunc(out, func(a, b *framework.QueuedPodInfo) int {
		if c := a.Timestamp.Compare(b.Timestamp); c != 0 {
			return c
		}
		return cmp.Compare(a.Pod.UID, b.Pod.UID)
	})
	return out
}

func (q orderedQueue) addAgain(logger klog.Logger, pods []*framework.QueuedPodInfo) {
	q.locked(func() {
		for _, i := range pods {
			addPodGroupMember(q.PriorityQueue, logger, i)
		}
	})
}

//go:linkname addPodGroupMember k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).addPodGroupMember
func addPodGroupMember(q *queue.PriorityQueue, logger klog.Logger, i *framework.QueuedPodInfo)
