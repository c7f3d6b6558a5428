// SPDX-License-Identifier: Apache-2.0

// histories, profile groups: pods of PodGroups, some of which are gangs, beside pods without groups, while nodes, members
// and groups are added and deleted. Profiles grouptopology, grouptopologypreempt: groups have topology constraints as
// well. Profile grouppreempt: the same with priorities, disruption modes and budgets, on full nodes. Profile
// groupvictims: no group waits there.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var groupProfiles = map[string]bool{"groups": true, "groupalone": true, "grouppreempt": true, "groupvictims": true, "grouptopology": true, "grouptopologypreempt": true,
	"groupclaims": true, "groupclaimspreempt": true, "groupallocatable": true, "groupallocatablepreempt": true, "groupcomposite": true, "groupcompositepreempt": true, "groupcompositetopology": true, "groupcompositetopologypreempt": true}

const zone = "topology.kubernetes.io/zone"

const groupGates = "GenericWorkload=true,GangScheduling=true"

// podsPreempt is a configuration without preemption by groups of 1.37.
const podsPreempt = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"default-scheduler","plugins":{"podGroupPostFilter":{"disabled":[{"name":"DefaultPreemption"}]}}}]}`

// groupPreemptGates: 1.37 includes all of it in GenericWorkload.
func groupPreemptGates(version string) string {
	if version == "v1beta1" {
		return "GenericWorkload=true"
	}
	return groupGates + ",WorkloadAwarePreemption=true"
}

// together generates one history. A pod's label has its group's name.
type together struct {
	*happen
	version string // of scheduling.k8s.io
	groups  []string
	prios   map[string]int32
	there   map[string]bool // existing groups
	mixed   bool            // members of a group may have different priorities
	preempt bool            // groups preempt, and are preempted
	victims bool            // the members of all groups are bound
	domains bool            // groups have topology constraints
	trees   *forest         // of composites, or nil
	claims  *groupClaims    // of groups and pods, or nil
}

func groupHistory(seed uint64, profile, version string, most int) *History {
	h := &happen{gen: &gen{Rand: rand.New(rand.NewPCG(seed, 0x67726f7570)), on: map[string]bool{}}, world: map[string]runtime.Object{}}
	t := &together{happen: h, version: version, prios: map[string]int32{}, there: map[string]bool{}, mixed: h.chance(20), preempt: strings.HasSuffix(profile, "preempt") || profile == "groupvictims",
		victims: profile == "groupvictims", domains: strings.Contains(profile, "topology")}
	h.themes, h.spaces = []int{0}, []string{"default"}
	h.put(&v1.Namespace{TypeMeta: meta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	nodes := 1 + h.IntN(4)
	if t.domains {
		nodes += 1 + h.IntN(5)
	}
	for range nodes {
		h.put(h.newNode())
	}
	for range h.IntN(2 * len(h.nodeIDs)) {
		h.put(h.runningPod())
	}
	mapped := strings.HasPrefix(profile, "groupallocatable")
	if mapped || strings.HasPrefix(profile, "groupclaims") {
		t.equip(mapped)
		t.mixed = false
	}
	groups := 1 + h.IntN(3)
	if strings.HasPrefix(profile, "groupcomposite") {
		t.trees, t.mixed = newForest(), t.mixed && h.chance(20)
		t.plant()
		groups += 1 + h.IntN(3)
	}
	for range groups {
		name := h.next("g")
		t.groups = append(t.groups, name)
		if t.trees != nil && h.chance(85) {
			t.adopt(name)
		} else {
			t.prios[name] = pick(h.gen, int32(0), 0, 10, 100)
		}
		if t.claims != nil && !t.preempt {
			t.prios[name] = 0
		}
		if h.chance(85) {
			t.group(name)
		}
		for range h.IntN(6) {
			t.member(name)
		}
	}
	for range h.IntN(3) {
		h.put(h.plainPod(h.next("alone"), "250m", "500m", "1"))
	}
	out := &History{ID: fmt.Sprintf("%s-%d", profile, seed), Gates: groupGates}
	if version == "v1beta1" {
		out.Gates = "GenericWorkload=true"
	}
	if profile == "groupalone" {
		out.Config = json.RawMessage(podsPreempt)
	}
	if t.preempt {
		out.ID, out.Gates = fmt.Sprintf("%s-%d", profile, seed), groupPreemptGates(version)
		t.fill()
	}
	if t.domains {
		out.Gates += ",TopologyAwareWorkloadScheduling=true"
	}
	if t.trees != nil {
		out.Gates = compositeGates
	}
	if t.claims != nil {
		out.Gates += claimGate
		if mapped {
			out.Gates += ",DRANodeAllocatableResources=true"
		}
	}
	for _, s := range h.steps {
		out.Objects = append(out.Objects, s.Create)
	}
	h.steps = nil
	for n := 8 + h.IntN(most); len(h.steps) < n; {
		switch x := h.IntN(100); {
		case x < 40: // no binding fails: which of a group's pods fails first depends on timing
			h.cycle()
			h.steps[len(h.steps)-1].Cycle.FailBind = false
		case x < 60:
			h.steps = append(h.steps, Step{Advance: pick(h.gen, 0.5, 1, 1.3, 2, 2.5, 4, 4.7, 8, 11, 29.5, 61, 301, 330)})
		default:
			t.happens()
		}
	}
	out.Steps = h.steps
	return out
}

// fill creates groups with bound members, and budgets.
func (t *together) fill() {
	for range 1 + t.IntN(3) {
		name := t.next("old")
		t.groups = append(t.groups, name)
		if t.trees != nil && t.chance(60) {
			t.adopt(name)
		} else {
			t.prios[name] = pick(t.gen, int32(0), 0, 5, 10, 50)
		}
		if t.chance(90) {
			t.group(name)
		}
		for range 1 + t.IntN(5) {
			t.bound(name)
		}
	}
	for range t.IntN(3) {
		t.put(t.budget())
	}
}

// bound creates a bound member.
func (t *together) bound(name string) {
	p := t.runningPod()
	p.Namespace = "default"
	if prio := t.prios[name]; t.chance(70) || t.version == "v1beta1" && t.chance(90) { // members must agree there
		p.Spec.Priority = &prio
	}
	t.joined(p, name)
}

// preemption adds a group's preemption and disruption policies.
func (t *together) preemption(name string, spec map[string]any) {
	if t.chance(85) || t.version == "v1beta1" {
		spec["priority"] = t.prios[name]
	}
	mode := pick(t.gen, "", "Pod", "PodGroup", "PodGroup")
	switch {
	case mode == "":
	case t.version == "v1alpha2":
		spec["disruptionMode"] = mode
	default:
		spec["disruptionMode"] = map[string]any{map[string]string{"Pod": "single", "PodGroup": "all"}[mode]: map[string]any{}}
	}
}

// group creates the object of a group, or re-creates it.
func (t *together) group(name string) {
	policy := map[string]any{"basic": map[string]any{}}
	if t.chance(75) {
		policy = map[string]any{"gang": map[string]any{"minCount": 1 + t.IntN(4)}}
	}
	spec := map[string]any{"schedulingPolicy": policy}
	if t.version == "v1beta1" {
		spec["priority"] = t.prios[name]
	}
	if t.preempt {
		t.preemption(name, spec)
	}
	if t.domains && t.chance(80) {
		t.constrain(spec)
	}
	metadata := map[string]any{"namespace": "default", "name": name}
	if t.trees != nil {
		metadata = t.made(name)
		if parent := t.trees.parents[name]; parent != "" {
			spec["parentCompositePodGroupName"] = parent
		}
	}
	o := map[string]any{"apiVersion": "scheduling.k8s.io/" + t.version, "kind": "PodGroup", "metadata": metadata, "spec": spec}
	if t.claims != nil {
		t.share(name, o)
	}
	b, _ := json.Marshal(o)
	if t.there[name] {
		t.dropGroup(name)
	}
	t.there[name] = true
	t.steps = append(t.steps, Step{Create: b})
}

func (t *together) dropGroup(name string) {
	delete(t.there, name)
	t.steps = append(t.steps, Step{Delete: &Ref{APIVersion: "scheduling.k8s.io/" + t.version, Kind: "PodGroup", Namespace: "default", Name: name}})
}

// member creates a pod of the group. Its object is written by hand, because not every release's types have groups.
func (t *together) member(name string) {
	if t.victims {
		t.bound(name)
		return
	}
	p := t.plainPod(t.next(name), "250m", "500m", "1", "1500m")
	p.Namespace = "default"
	if prio := t.prios[name]; !t.mixed {
		p.Spec.Priority = &prio
		p.Spec.PreemptionPolicy = nil
	}
	if t.chance(10) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	}
	if t.chance(10) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	if t.version != "v1alpha2" && t.chance(10) { // 1.36 ignores the terms of pods placed in this cycle
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{t.term()}}}
	}
	if t.chance(10) {
		p.Spec.NodeName = pick(t.gen, t.nodeIDs...)
		p.Status.Phase = v1.PodRunning
		p.Spec.SchedulingGates = nil
	}
	if t.claims != nil {
		t.consume(p, name)
	}
	t.joined(p, name)
}

// joined makes the pod a member.
func (t *together) joined(p *v1.Pod, name string) {
	t.put(p)
	var o map[string]any
	_ = json.Unmarshal(t.steps[len(t.steps)-1].Create, &o)
	o["spec"].(map[string]any)["schedulingGroup"] = map[string]any{"podGroupName": name}
	b, _ := json.Marshal(o)
	t.steps[len(t.steps)-1].Create = b
}

func (t *together) happens() {
	name := pick(t.gen, t.groups...)
	if t.trees != nil && t.chance(20) {
		t.treesHappen()
		return
	}
	if t.claims != nil && t.chance(45) {
		t.devicesHappen()
		return
	}
	if t.preempt && t.chance(25) {
		switch t.IntN(3) {
		case 0:
			t.bound(name)
		case 1:
			t.put(t.runningPod())
		default:
			t.put(t.budget())
		}
		return
	}
	switch t.IntN(8) {
	case 0, 1:
		t.member(name)
	case 2:
		t.group(name)
	case 3:
		t.dropGroup(name)
	case 4, 5:
		if len(t.podIDs) > 0 {
			t.drop(t.world[pick(t.gen, t.podIDs...)])
		}
	case 6:
		if len(t.nodeIDs) > 1 && t.chance(30) {
			t.drop(t.world["Node /"+pick(t.gen, t.nodeIDs...)])
		} else {
			t.put(t.newNode())
		}
	case 7:
		t.put(t.plainPod(t.next("alone"), "250m", "500m", "1"))
	}
}
