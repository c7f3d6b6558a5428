// SPDX-License-Identifier: Apache-2.0

//go:build !k8s135 && !k8s137

// Names and functions that differ in kube-scheduler 1.36.
package main

import (
	"context"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const (
	versionGates   = ""
	gatedNominates = false // does a gated pod's nomination count?
)

func newInformers(c kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(c, 0)
}

func hookPop(s *scheduler.Scheduler, popped func(*entity)) {
	next := s.NextPod
	s.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		p, err := next(logger)
		if p != nil {
			popped(&entity{name: key(p.Pod), uid: p.Pod.UID, pods: []*framework.QueuedPodInfo{p}})
		}
		return p, err
	}
}

func (l *Live) queued(p *v1.Pod) (*framework.QueuedPodInfo, bool) {
	return l.queue.GetPod(p.Name, p.Namespace)
}

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulablePodsLeftover
func flushUnschedulable(q *queue.PriorityQueue, logger klog.Logger)

// groupUID is that of the pod's PodGroup, if it exists.
func groupUID(f informers.SharedInformerFactory, p *v1.Pod) types.UID {
	g, err := f.Scheduling().V1alpha2().PodGroups().Lister().PodGroups(p.Namespace).Get(*p.Spec.SchedulingGroup.PodGroupName)
	if err != nil {
		return ""
	}
	return g.UID
}

func (l *Live) lookAtGroups(*StepResult) {}

func (l *Live) orderQueue() {}

func (f *liveFramework) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assigned []*fwk.PodGroupAssignments) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, status := f.Framework.RunPlacementScorePlugins(ctx, state, group, assigned)
	preferFirst(scores)
	return scores, status
}
