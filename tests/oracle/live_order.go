// SPDX-License-Identifier: Apache-2.0

//go:build !k8s135

// The order of a group's scheduled pods. Upstream takes them from a map, and TopologyPlacementGenerator's result depends on
// the first ones: here it sees the PodGroups of a tree in the order in which they are decided, and the pods of each by name.
package main

import (
	"reflect"
	"slices"
	"strings"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/topologyaware"
)

// orderPods replaces the handle of a profile's TopologyPlacementGenerator.
func (l *Live) orderPods(f framework.Framework) {
	plugins := reflect.ValueOf(f).Elem().FieldByName("placementGeneratePlugins")
	for _, p := range *(*[]fwk.PlacementGeneratePlugin)(unsafe.Pointer(plugins.UnsafeAddr())) {
		if t, ok := p.(*topologyaware.TopologyPlacement); ok {
			handle := (*fwk.Handle)(unsafe.Pointer(reflect.ValueOf(t).Elem().FieldByName("handle").UnsafeAddr()))
			*handle = orderedHandle{*handle, l}
		}
	}
}

type orderedHandle struct {
	fwk.Handle
	live *Live
}

func (h orderedHandle) SnapshotSharedLister() fwk.SharedLister {
	return orderedLister{h.Handle.SnapshotSharedLister(), h.live}
}

type orderedLister struct {
	fwk.SharedLister
	live *Live
}

func (l orderedLister) PodGroupStates() fwk.PodGroupStateLister {
	return orderedStates{l.SharedLister.PodGroupStates()}
}

type orderedStates struct{ fwk.PodGroupStateLister }

func (l orderedStates) Get(namespace, name string) (fwk.PodGroupState, error) {
	state, err := l.PodGroupStateLister.Get(namespace, name)
	if err != nil {
		return nil, err
	}
	return orderedState{state}, nil
}

type orderedState struct{ fwk.PodGroupState }

func (s orderedState) ScheduledPods() []*v1.Pod {
	pods := s.PodGroupState.ScheduledPods()
	slices.SortFunc(pods, func(a, b *v1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}
