// SPDX-License-Identifier: Apache-2.0

// Kubelet stub: the visible effects of kubelets, for all nodes at once. A bound pod
// starts immediately; a deleted one ends immediately; annotation berth.dev/run-seconds makes one succeed.
package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldselector "k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const runSeconds = "berth.dev/run-seconds"

// syncNodes does a kubelet's part for extended resources: what is added to a node's capacity becomes allocatable.
func syncNodes(ctx context.Context, client *connection) {
	factory := informers.NewSharedInformerFactory(client, 0)
	sync := func(obj any) {
		node, ok := obj.(*v1.Node)
		if !ok {
			return
		}
		next := node.DeepCopy()
		changed := false
		for name, amount := range next.Status.Capacity {
			if have, ok := next.Status.Allocatable[name]; strings.Contains(string(name), "/") && (!ok || have.Cmp(amount) != 0) {
				next.Status.Allocatable[name], changed = amount, true
			}
		}
		for name := range next.Status.Allocatable {
			if _, ok := next.Status.Capacity[name]; strings.Contains(string(name), "/") && !ok {
				delete(next.Status.Allocatable, name)
				changed = true
			}
		}
		if changed {
			_, _ = client.CoreV1().Nodes().UpdateStatus(ctx, next, metav1.UpdateOptions{}) // On a conflict the watch brings the newer node.
		}
	}
	factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: sync, UpdateFunc: func(_, obj any) { sync(obj) }})
	factory.Start(ctx.Done())
	<-ctx.Done()
}

func runPods(ctx context.Context, client *connection, grace bool) {
	go syncNodes(ctx, client)
	bound := fieldselector.OneTermNotEqualSelector("spec.nodeName", "").String()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(
		func(o *metav1.ListOptions) { o.FieldSelector = bound }))
	informer := factory.Core().V1().Pods().Informer()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	add := func(obj any) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range 16 {
		go func() {
			for {
				key, stopped := queue.Get()
				if stopped {
					return
				}
				obj, exists, _ := informer.GetStore().GetByKey(key)
				var err error
				if exists {
					err = advance(ctx, client, obj.(*v1.Pod), grace, func(d time.Duration) { queue.AddAfter(key, d) })
				}
				if err != nil {
					queue.AddRateLimited(key) // Most often a conflict; the watch brings the newer pod.
				} else {
					queue.Forget(key)
				}
				queue.Done(key)
			}
		}()
	}
	<-ctx.Done()
	queue.ShutDown()
}

// advance takes one step of a pod's life; later schedules another call.
func advance(ctx context.Context, client *connection, pod *v1.Pod, grace bool, later func(time.Duration)) error {
	if pod.DeletionTimestamp != nil {
		if left := time.Until(pod.DeletionTimestamp.Time); grace && left > 0 {
			later(left)
			return nil
		}
		now := int64(0)
		return client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	}
	switch pod.Status.Phase {
	case v1.PodPending, "":
		return setPhase(ctx, client, pod, v1.PodRunning)
	case v1.PodRunning:
		seconds, err := strconv.Atoi(pod.Annotations[runSeconds])
		if err != nil || pod.Status.StartTime == nil {
			return nil
		}
		if left := time.Until(pod.Status.StartTime.Add(time.Duration(seconds) * time.Second)); left > 0 {
			later(left)
			return nil
		}
		return setPhase(ctx, client, pod, v1.PodSucceeded)
	}
	return nil
}

func setPhase(ctx context.Context, client *connection, pod *v1.Pod, phase v1.PodPhase) error {
	now := metav1.Now()
	running := v1.ConditionTrue
	if phase != v1.PodRunning {
		running = v1.ConditionFalse
	}
	next := pod.DeepCopy()
	s := &next.Status
	s.Phase = phase
	if s.StartTime == nil {
		s.StartTime = &now
		s.HostIP = "192.0.2.1"
		s.PodIP = podIP(string(pod.UID))
		s.PodIPs = []v1.PodIP{{IP: s.PodIP}}
	}
	for _, kind := range []v1.PodConditionType{v1.PodReadyToStartContainers, v1.PodInitialized, v1.ContainersReady, v1.PodReady} {
		status := v1.ConditionTrue
		if kind == v1.PodReady || kind == v1.ContainersReady {
			status = running
		}
		setCondition(s, v1.PodCondition{Type: kind, Status: status, LastTransitionTime: now, ObservedGeneration: pod.Generation})
	}
	s.ObservedGeneration = pod.Generation
	s.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		state := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}}
		if phase != v1.PodRunning {
			state = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed", StartedAt: *s.StartTime, FinishedAt: now}}
		}
		ready := phase == v1.PodRunning
		s.ContainerStatuses = append(s.ContainerStatuses, v1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: ready, Started: &ready, State: state})
	}
	_, err := client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return err
}

func setCondition(s *v1.PodStatus, c v1.PodCondition) {
	for i := range s.Conditions {
		if s.Conditions[i].Type == c.Type {
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

// podIP need only look like an address: no packets are routed to it in these clusters.
func podIP(uid string) string {
	var h uint32 = 2166136261
	for _, b := range []byte(uid) {
		h = (h ^ uint32(b)) * 16777619
	}
	return fmt.Sprintf("10.%d.%d.%d", 128+h>>24%64, h>>8&255, h&255)
}
