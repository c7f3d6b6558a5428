// SPDX-License-Identifier: Apache-2.0

// histories, profile workloads: pods of groups of Workloads, some of which are gangs, beside pods without Workloads, while
// nodes, members and Workloads are added and deleted; 1.35 only, with gates.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ofWorkloads generates one history. A pod's reference is written by hand, because other releases' types do not have it.
type ofWorkloads struct {
	*happen
	names []string
	there map[string]bool // existing Workloads
}

func workloadHistory(seed uint64, most int) *History {
	h := &happen{gen: &gen{Rand: rand.New(rand.NewPCG(seed, 0x776f726b)), on: map[string]bool{}}, world: map[string]runtime.Object{}}
	w := &ofWorkloads{happen: h, there: map[string]bool{}}
	h.themes, h.spaces = []int{0}, []string{"default"}
	h.put(&v1.Namespace{TypeMeta: meta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	for range 1 + h.IntN(4) {
		h.put(h.newNode())
	}
	for range h.IntN(2 * len(h.nodeIDs)) {
		h.put(h.runningPod())
	}
	for range 1 + h.IntN(2) {
		name := h.next("w")
		w.names = append(w.names, name)
		if h.chance(80) {
			w.workload(name)
		}
		for range 1 + h.IntN(7) {
			w.member(name)
		}
	}
	for range h.IntN(3) {
		h.put(h.plainPod(h.next("alone"), "250m", "500m", "1"))
	}
	out := &History{ID: fmt.Sprintf("workloads-%d", seed), Gates: groupGates}
	for _, s := range h.steps {
		out.Objects = append(out.Objects, s.Create)
	}
	h.steps = nil
	for n := 8 + h.IntN(most); len(h.steps) < n; {
		switch x := h.IntN(100); {
		case x < 45:
			h.cycle()
			h.steps[len(h.steps)-1].Cycle.FailBind = false
		case x < 62:
			h.steps = append(h.steps, Step{Advance: pick(h.gen, 0.5, 1, 1.3, 2, 2.5, 4, 4.7, 8, 11, 29.5, 61, 150, 301, 330)})
		default:
			w.happens()
		}
	}
	out.Steps = h.steps
	return out
}

// workload creates the object, or re-creates it.
func (w *ofWorkloads) workload(name string) {
	var groups []any
	for _, group := range []string{"a", "b"} {
		policy := map[string]any{"basic": map[string]any{}}
		if w.chance(80) {
			policy = map[string]any{"gang": map[string]any{"minCount": 1 + w.IntN(4)}}
		}
		if group == "a" || w.chance(70) {
			groups = append(groups, map[string]any{"name": group, "policy": policy})
		}
	}
	b, _ := json.Marshal(map[string]any{"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload",
		"metadata": map[string]any{"namespace": "default", "name": name}, "spec": map[string]any{"podGroups": groups}})
	if w.there[name] {
		w.dropWorkload(name)
	}
	w.there[name] = true
	w.steps = append(w.steps, Step{Create: b})
}

func (w *ofWorkloads) dropWorkload(name string) {
	delete(w.there, name)
	w.steps = append(w.steps, Step{Delete: &Ref{APIVersion: "scheduling.k8s.io/v1alpha1", Kind: "Workload", Namespace: "default", Name: name}})
}

func (w *ofWorkloads) member(name string) {
	p := w.plainPod(w.next(name), "250m", "500m", "1", "1500m")
	if w.chance(10) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	}
	if w.chance(10) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	if w.chance(10) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{w.term()}}}
	}
	if w.chance(10) {
		p.Spec.NodeName = pick(w.gen, w.nodeIDs...)
		p.Status.Phase = v1.PodRunning
		p.Spec.SchedulingGates = nil
	}
	w.put(p)
	ref := map[string]any{"name": name, "podGroup": pick(w.gen, "a", "a", "a", "b")}
	if w.chance(25) {
		ref["podGroupReplicaKey"] = pick(w.gen, "r1", "r2")
	}
	var o map[string]any
	_ = json.Unmarshal(w.steps[len(w.steps)-1].Create, &o)
	o["spec"].(map[string]any)["workloadRef"] = ref
	b, _ := json.Marshal(o)
	w.steps[len(w.steps)-1].Create = b
}

func (w *ofWorkloads) happens() {
	name := pick(w.gen, w.names...)
	switch w.IntN(10) {
	case 0, 1, 2:
		w.member(name)
	case 3:
		w.workload(name)
	case 4:
		w.dropWorkload(name)
	case 5:
		if len(w.podIDs) > 0 {
			w.drop(w.world[pick(w.gen, w.podIDs...)])
		}
	case 6:
		if len(w.nodeIDs) > 1 && w.chance(30) {
			w.drop(w.world["Node /"+pick(w.gen, w.nodeIDs...)])
		} else {
			w.put(w.newNode())
		}
	case 7:
		w.put(w.runningPod())
	default:
		w.put(w.plainPod(w.next("alone"), "250m", "500m", "1"))
	}
}
