// SPDX-License-Identifier: Apache-2.0

//go:build k8s135

// Names and functions that differ in kube-scheduler 1.35.
package main

import (
	"context"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// preemptor holds the goroutines of asynchronous preemption.
type preemptor = preemption.Evaluator

func preemptorOf(d *defaultpreemption.DefaultPreemption) *preemptor { return d.Evaluator }

const (
	versionGates   = ""
	gatedNominates = false // does a gated pod's nomination count?
)

func newInformers(c kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(c, 0)
}

func newRecorder(string) events.EventRecorder { return &events.FakeRecorder{} }

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

func hookSchedule(s *scheduler.Scheduler, around func(framework.Framework, *v1.Pod, fwk.CycleState, func() (scheduler.ScheduleResult, error)) (scheduler.ScheduleResult, error)) {
	schedule := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, p *v1.Pod) (scheduler.ScheduleResult, error) {
		return around(f, p, state, func() (scheduler.ScheduleResult, error) { return schedule(ctx, f, state, p) })
	}
}

func (l *Live) queued(p *v1.Pod) (*framework.QueuedPodInfo, bool) {
	return l.queue.GetPod(p.Name, p.Namespace)
}

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulablePodsLeftover
func flushUnschedulable(q *queue.PriorityQueue, logger klog.Logger)

// 1.35 decides the pods of a workload one by one.
func groupsOn() bool { return false }

func inGroup(*v1.Pod) bool { return false }

func inGroupOf(*framework.CycleState, fwk.CycleState) {}

func sameGroup(_, _ *v1.Pod) bool { return false }

func groupUID(informers.SharedInformerFactory, *v1.Pod) types.UID { return "" }

func (l *Live) lookAtGroups(*StepResult) {}

func (l *Live) orderQueue() {}

func (l *Live) orderPods(framework.Framework) {}
