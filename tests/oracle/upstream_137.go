// SPDX-License-Identifier: Apache-2.0

//go:build k8s137

// Names and functions that differ in kube-scheduler 1.37.
package main

import (
	"context"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubefeatures "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const (
	// The API server now defaults pod-level resources when it stores a pod, not when it decodes one: decode uses the
	// older way, with the same result.
	versionGates   = "PodLevelResourcesFixDefaulting=false"
	gatedNominates = true // does a gated pod's nomination count?
)

func newInformers(c kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(c, 0, nil)
}

func hookPop(s *scheduler.Scheduler, popped func(*entity)) {
	next := s.NextEntity
	s.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		e, err := next(logger)
		switch i := e.(type) {
		case *framework.QueuedPodInfo:
			if i != nil {
				popped(&entity{name: key(i.Pod), uid: i.Pod.UID, pods: []*framework.QueuedPodInfo{i}})
			}
		case *framework.QueuedPodGroupInfo:
			g := &entity{name: i.Namespace + "/" + i.Name, whole: true}
			switch {
			case i.PodGroup != nil:
				g.uid = i.PodGroup.UID
			case i.CompositePodGroup != nil:
				g.uid = i.CompositePodGroup.UID
			}
			for _, leaf := range leavesOf(i.PodGroupInfo) { // upstream has them in a map
				g.pods = append(g.pods, i.QueuedPodInfos[fwk.PodGroupKey(leaf.Namespace, leaf.Name)]...)
			}
			popped(g)
		}
		return e, err
	}
}

// leavesOf lists the PodGroups of a tree in the order in which they are decided.
func leavesOf(i *framework.PodGroupInfo) []*framework.PodGroupInfo {
	if i.CompositePodGroup == nil {
		return []*framework.PodGroupInfo{i}
	}
	var out []*framework.PodGroupInfo
	for _, child := range i.GetChildGroups() {
		out = append(out, leavesOf(child)...)
	}
	return out
}

// rootOf is the name of the root of a group's tree, or the group's own. The tree exists: its pods are queued.
func (l *Live) rootOf(p *v1.Pod) string {
	name := *p.Spec.SchedulingGroup.PodGroupName
	if !utilfeature.DefaultFeatureGate.Enabled(kubefeatures.CompositePodGroup) {
		return name
	}
	groups, trees := l.factory.Scheduling().V1beta1().PodGroups().Lister(), l.factory.Scheduling().V1alpha3().CompositePodGroups().Lister()
	g, err := groups.PodGroups(p.Namespace).Get(name)
	if err != nil || g.Spec.ParentCompositePodGroupName == nil {
		return name
	}
	for parent := g.Spec.ParentCompositePodGroupName; parent != nil; {
		name = *parent
		c, err := trees.CompositePodGroups(p.Namespace).Get(name)
		if err != nil {
			return name
		}
		parent = c.Spec.ParentCompositePodGroupName
	}
	return name
}

// queued sets the unschedulable plugins of a group's pod from its group.
func (l *Live) queued(p *v1.Pod) (*framework.QueuedPodInfo, bool) {
	i, ok := l.queue.GetPod(p.Name, p.Namespace, p.Spec.SchedulingGroup)
	if !ok || !groupsOn() || !inGroup(p) {
		return i, ok
	}
	g, ok := l.queue.GetPodGroup(l.rootOf(p), p.Namespace, fwk.PodGroupKeyType)
	if !ok {
		return nil, false
	}
	pod, priority := i.Pod.DeepCopy(), g.GetPriority()
	pod.Spec.Priority = &priority
	return &framework.QueuedPodInfo{PodInfo: &framework.PodInfo{Pod: pod}, QueueingParams: g.QueueingParams}, true
}

// groupUID: all pods of a group are popped with it.
func groupUID(informers.SharedInformerFactory, *v1.Pod) types.UID { return "" }

// lookAtGroups adds pods that wait for their group's object, and those that wait for the end of its cycle.
func (l *Live) lookAtGroups(r *StepResult) {
	for _, p := range l.queue.IncompletePodGroupPodsPods() {
		r.Incomplete = append(r.Incomplete, key(p))
	}
	for _, p := range l.queue.PendingPodGroupPods() {
		r.Pending = append(r.Pending, key(p))
	}
}

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulable(q *queue.PriorityQueue, logger klog.Logger)

func (f *liveFramework) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assigned []*fwk.PodGroupAssignments, states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, assigned, states)
	preferFirst(scores)
	return scores, status
}
