// SPDX-License-Identifier: Apache-2.0

// histories, profile deferred: bound pods request more than fits, and wait in the queue for their
// resize; 1.37 only, with a gate.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const deferredGates = "InPlacePodVerticalScalingSchedulerPreemption=true"

// policyNote is the annotation for a node's podPreemptionPolicy, a field unknown to the release that generates the cases.
const policyNote = "example.com/policy"

func deferredHistory(seed uint64, most int) *History {
	h := &happen{gen: &gen{Rand: rand.New(rand.NewPCG(seed, 0x6465666572)), on: map[string]bool{}}, world: map[string]runtime.Object{}}
	out := &History{ID: fmt.Sprintf("deferred-%d", seed), Gates: deferredGates}
	h.themes, h.spaces = []int{0, h.IntN(len(themeNames))}, []string{"default"}
	h.put(&v1.Namespace{TypeMeta: meta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "red"}}})
	h.put(h.class("fast", storagev1.VolumeBindingImmediate))
	for range 1 + h.IntN(4) {
		n := h.newNode()
		if h.chance(15) {
			h.policy(n)
		}
		h.put(n)
	}
	for range 2 + h.IntN(3*len(h.nodeIDs)) {
		p := h.runningPod()
		if h.chance(30) {
			h.resize(p)
			if h.chance(5) {
				p.Spec.SchedulerName = "other"
			}
		}
		h.put(p)
	}
	for range h.IntN(3) {
		h.put(h.budget())
	}
	for range h.IntN(4) {
		h.put(h.waitingPod())
	}
	for _, s := range h.steps {
		out.Objects = append(out.Objects, withPolicy(s.Create))
	}
	h.steps = nil
	for n := 8 + h.IntN(most); len(h.steps) < n; {
		switch x := h.IntN(100); {
		case x < 36:
			h.cycle()
		case x < 44:
			h.deferredWindow()
		case x < 58:
			h.steps = append(h.steps, Step{Advance: pick(h.gen, 0.5, 0.9, 1, 1.3, 2, 2.5, 4, 4.7, 8, 11, 29.5, 61, 301, 330)})
		case x < 85:
			h.deferredEvent(true)
		default:
			h.event()
		}
	}
	for _, s := range h.steps {
		s.Create, s.Update = withPolicy(s.Create), withPolicy(s.Update)
		out.Steps = append(out.Steps, s)
	}
	return out
}

// deferredWindow: no pod stops waiting for room in it, because which pod is in flight is random here.
func (h *happen) deferredWindow() {
	h.steps = append(h.steps, Step{CycleBegin: &CycleStep{}})
	for range 1 + h.IntN(3) {
		if h.chance(15) {
			h.steps = append(h.steps, Step{Advance: pick(h.gen, 0.5, 1.2, 3)})
			continue
		}
		h.deferredEvent(false)
	}
	h.steps = append(h.steps, Step{CycleEnd: &struct{}{}})
}

func (h *happen) deferredEvent(ends bool) {
	p := h.pod(true)
	switch x := h.IntN(20); {
	case p == nil || x < 2:
		p := h.runningPod()
		if h.chance(50) {
			h.resize(p)
		}
		h.put(p)
	case x < 9:
		if ends && h.chance(30) {
			p.Status.Conditions = nil
			p.Status.ContainerStatuses = nil
		} else if ends || deferred(p) || h.chance(60) {
			h.resize(p)
		}
		if !ends && deferred(h.world[h.id(p)].(*v1.Pod)) {
			p.Status.Conditions[0].Reason = v1.PodReasonDeferred
		}
		h.put(p)
	case x < 11:
		h.drop(p)
	case x < 14:
		n := h.world["Node /"+pick(h.gen, h.nodeIDs...)].DeepCopyObject().(*v1.Node)
		h.policy(n)
		h.put(n)
	case x < 17:
		h.nodeEvent(pick(h.gen, 6, 6, 7, 5, 9))
	case x < 18:
		h.put(h.waitingPod())
	case x < 19:
		h.podEvent(p, pick(h.gen, 0, 1, 2, 6))
	default:
		h.put(h.budget())
	}
}

func deferred(p *v1.Pod) bool {
	return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Reason == v1.PodReasonDeferred
}

// resize: the pod's requests change; the kubelet usually defers that.
func (h *happen) resize(p *v1.Pod) {
	c := &p.Spec.Containers[0]
	was := c.Resources.Requests.DeepCopy()
	if h.chance(80) {
		c.Resources.Requests["cpu"] = q(pick(h.gen, "100m", "500m", "1", "1500m", "2", "3", "6"))
	}
	if h.chance(20) {
		c.Resources.Requests["memory"] = q(pick(h.gen, "100Mi", "1Gi", "3Gi", "6Gi"))
	}
	if h.chance(60) {
		p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: c.Name, AllocatedResources: was, Resources: &v1.ResourceRequirements{Requests: was}}}
	}
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: pick(h.gen, v1.PodReasonDeferred, v1.PodReasonDeferred, v1.PodReasonDeferred, v1.PodReasonDeferred, v1.PodReasonDeferred, v1.PodReasonInfeasible)}}
}

func (h *happen) policy(n *v1.Node) {
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[policyNote] = pick(h.gen, "-", "{}", `{"disableResizePreemption":["example.com/owner"]}`, `{"disableResizePreemption":["example.com/owner"]}`, `{"disableResizePreemption":["example.com/other"]}`)
}

// withPolicy converts a node's annotation to the field.
func withPolicy(doc json.RawMessage) json.RawMessage {
	if doc == nil {
		return nil
	}
	var o object
	if err := json.Unmarshal(doc, &o); err != nil {
		panic(err)
	}
	if o["kind"] != "Node" {
		return doc
	}
	notes, _ := in(o, "metadata")["annotations"].(object)
	if note, ok := notes[policyNote].(string); ok {
		delete(notes, policyNote)
		var policy object
		if json.Unmarshal([]byte(note), &policy) == nil {
			in(o, "spec")["podPreemptionPolicy"] = policy
		}
	}
	out, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return out
}
