// SPDX-License-Identifier: Apache-2.0

//go:build k8s137

// What kube-scheduler 1.37 calls otherwise than earlier ones.
package main

import (
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const (
	// The API server now defaults pod-level resources when it stores a pod, not when it decodes one: decode does it the older way, to the same requests.
	versionGates   = "PodLevelResourcesFixDefaulting=false"
	gatedNominates = true // a pod that PreEnqueue holds back: does its nomination count?
)

func newInformers(c kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(c, 0, nil)
}

func hookPop(s *scheduler.Scheduler, popped func(*framework.QueuedPodInfo)) {
	next := s.NextEntity
	s.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		e, err := next(logger)
		if p, ok := e.(*framework.QueuedPodInfo); ok && p != nil {
			popped(p)
		}
		return e, err
	}
}

func queued(q *queue.PriorityQueue, p *v1.Pod) (*framework.QueuedPodInfo, bool) {
	return q.GetPod(p.Name, p.Namespace, p.Spec.SchedulingGroup)
}

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulable(q *queue.PriorityQueue, logger klog.Logger)
