// SPDX-License-Identifier: Apache-2.0

// histories, profile groupcomposite: groups whose PodGroups are in trees of CompositePodGroups, which are added and deleted
// as well. Profiles groupcompositepreempt, groupcompositetopology, groupcompositetopologypreempt: with the additions of
// grouppreempt and grouptopology.
package main

import (
	"encoding/json"
	"time"
)

const (
	compositeVersion = "scheduling.k8s.io/v1alpha3"
	compositeGates   = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
)

// forest maps groups to their parents, which never change.
type forest struct {
	names   []string          // composites, parents first
	parents map[string]string // of composites and of groups
	there   map[string]bool   // existing composites
}

func newForest() *forest { return &forest{parents: map[string]string{}, there: map[string]bool{}} }

// plant creates composites: roots, and others below them.
func (t *together) plant() {
	for range 1 + t.IntN(4) {
		name := t.next("c")
		if n := len(t.trees.names); n > 0 && t.chance(65) {
			t.adopt(name)
		} else {
			t.prios[name] = pick(t.gen, int32(0), 0, 10, 100)
		}
		t.trees.names = append(t.trees.names, name)
		if t.chance(92) {
			t.composite(name)
		}
	}
}

// adopt gives a new group a parent, and its tree's priority.
func (t *together) adopt(name string) {
	parent := pick(t.gen, t.trees.names...)
	for at, depth := parent, 1; at != ""; at, depth = t.trees.parents[at], depth+1 {
		if depth > 2 { // limit of the depth of templates
			parent = t.trees.names[0]
		}
	}
	t.trees.parents[name], t.prios[name] = parent, t.prios[parent]
}

// made is a group's creation time: several share one.
func (t *together) made(name string) map[string]any {
	at := epoch.Add(-time.Duration(t.IntN(3)) * time.Second).Format(time.RFC3339)
	return map[string]any{"namespace": "default", "name": name, "creationTimestamp": at}
}

// constrain adds a topology constraint for a group's pods, or those below it.
func (t *together) constrain(spec map[string]any) {
	key := pick(t.gen, zone, zone, zone, "kubernetes.io/hostname", "disk", "rack")
	spec["schedulingConstraints"] = map[string]any{"topology": []any{map[string]any{"key": key}}}
}

// composite creates a composite's object, or re-creates it.
func (t *together) composite(name string) {
	policy := map[string]any{"basic": map[string]any{}}
	if t.chance(70) {
		policy = map[string]any{"gang": map[string]any{"minGroupCount": 1 + t.IntN(3)}}
	}
	spec := map[string]any{"schedulingPolicy": policy, "priority": t.prios[name],
		"workloadRef": map[string]any{"workloadName": "w", "templateName": name}}
	if parent := t.trees.parents[name]; parent != "" {
		spec["parentCompositePodGroupName"] = parent
	}
	if t.domains && t.chance(40) {
		t.constrain(spec)
	}
	if t.preempt {
		if mode := pick(t.gen, "", "single", "all"); mode != "" {
			spec["disruptionMode"] = map[string]any{mode: map[string]any{}}
		}
	}
	b, _ := json.Marshal(map[string]any{"apiVersion": compositeVersion, "kind": "CompositePodGroup",
		"metadata": t.made(name), "spec": spec})
	if t.trees.there[name] {
		t.dropComposite(name)
	}
	t.trees.there[name] = true
	t.steps = append(t.steps, Step{Create: b})
}

func (t *together) dropComposite(name string) {
	delete(t.trees.there, name)
	t.steps = append(t.steps, Step{Delete: &Ref{APIVersion: compositeVersion, Kind: "CompositePodGroup", Namespace: "default", Name: name}})
}

// treesHappen: adds, deletes or re-creates a composite.
func (t *together) treesHappen() {
	name := pick(t.gen, t.trees.names...)
	if t.trees.there[name] && t.chance(30) {
		t.dropComposite(name)
		return
	}
	t.composite(name)
}
