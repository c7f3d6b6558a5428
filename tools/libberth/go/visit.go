// SPDX-License-Identifier: Apache-2.0

package berth

/*
#include <stdint.h>
#include <berth.h>

bool berthGoNode(void *context, struct berth_node_state *node);
bool berthGoPod(void *context, struct berth_pod_ref *pod, enum berth_pod_state state);

static inline enum berth_status go_each_node(struct berth *berth, uintptr_t context)
{
	return berth_each_node(berth, (bool (*)(void *, const struct berth_node_state *))berthGoNode, (void *)context);
}

static inline enum berth_status go_each_pod(struct berth *berth, uintptr_t context)
{
	return berth_each_pod(
		berth, (bool (*)(void *, const struct berth_pod_ref *, enum berth_pod_state))berthGoPod, (void *)context);
}
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Usage is a resource of a node: cpu in thousandths of a core, all else in whole units.
type Usage struct {
	Resource          string
	Allocatable, Used int64
}

// NodeState is a node and what its pods use.
type NodeState struct {
	Name          string
	Usage         []Usage // of each allocatable resource, "pods" first
	Unschedulable bool
}

// PodState is a pod, and its node if it has one.
type PodState struct{ Namespace, Name, NodeName string }

type visit struct {
	s     *ClusterSnapshot
	nodes []NodeState
	pods  []PodState
}

//export berthGoNode
func berthGoNode(context unsafe.Pointer, node *C.struct_berth_node_state) C.bool {
	v := cgo.Handle(uintptr(context)).Value().(*visit)
	state := NodeState{Name: v.s.intern(node.name), Unschedulable: bool(node.unschedulable)}
	for _, u := range unsafe.Slice(node.usage, int(node.usage_n)) {
		state.Usage = append(state.Usage, Usage{C.GoString(u.resource), int64(u.allocatable), int64(u.used)})
	}
	v.nodes = append(v.nodes, state)
	return true
}

//export berthGoPod
func berthGoPod(context unsafe.Pointer, pod *C.struct_berth_pod_ref, _ C.enum_berth_pod_state) C.bool {
	v := cgo.Handle(uintptr(context)).Value().(*visit)
	state := PodState{Namespace: C.GoString(pod.pod_namespace), Name: C.GoString(pod.name), NodeName: v.s.intern(pod.node)}
	if !v.s.owned[state.Namespace+"/"+state.Name] {
		v.pods = append(v.pods, state)
	}
	return true
}

// Nodes lists the nodes with their usage, as mutations have them.
func (s *ClusterSnapshot) Nodes() ([]NodeState, error) {
	v, err := s.visit("Nodes", func(context C.uintptr_t) C.enum_berth_status { return C.go_each_node(s.h.berth, context) })
	return v.nodes, err
}

// Pods lists the pods, as mutations have them: those that are preempted are not among them.
func (s *ClusterSnapshot) Pods() ([]PodState, error) {
	v, err := s.visit("Pods", func(context C.uintptr_t) C.enum_berth_status { return C.go_each_pod(s.h.berth, context) })
	return v.pods, err
}

func (s *ClusterSnapshot) visit(op string, call func(C.uintptr_t) C.enum_berth_status) (*visit, error) {
	v := &visit{s: s}
	if err := s.h.enter(op); err != nil {
		return v, err
	}
	defer s.h.leave()
	context := cgo.NewHandle(v)
	defer context.Delete()
	return v, s.h.check(op, call(C.uintptr_t(context)))
}
