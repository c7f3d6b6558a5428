// SPDX-License-Identifier: Apache-2.0

// Outcomes of pods: waited for, compared, and checked against invariants.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// outcome is a node's name, or the reason why there is none.
func outcome(pod *v1.Pod) (string, bool) {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName, true
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return c.Reason + ": " + c.Message, true
		}
	}
	return "", false
}

// waitDecided returns the outcome of a pod's cycle. For a refused pod that preempts, waits until it is bound.
func (s *suite) waitDecided(ctx context.Context, namespace, name string) (string, error) {
	got := ""
	err := eventually(ctx, 30*time.Second, func() error {
		pod, err := s.admin.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		text, ok := outcome(pod)
		if !ok || (pod.Status.NominatedNodeName != "" && pod.Spec.NodeName == "") {
			return fmt.Errorf("pod %s is not decided", name)
		}
		got = text
		return nil
	})
	if s.guest != nil {
		got = strings.ReplaceAll(got, s.guest.prefix, "")
	}
	return got, err
}

func (s *suite) waitBound(ctx context.Context, limit time.Duration, count int) error {
	return eventually(ctx, limit, func() error {
		pods, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		bound := 0
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName != "" {
				bound++
			}
		}
		if bound < count {
			return fmt.Errorf("%d of %d pods are bound", bound, count)
		}
		return nil
	})
}

// recorder watches all pods by its own connection and records violations: a pod on two nodes, a node
// beyond its allocatable.
type recorder struct {
	mu     sync.Mutex
	nodes  map[string]v1.ResourceList
	used   map[string]map[v1.ResourceName]*resource.Quantity
	count  map[string]int64
	placed map[types.UID]string
	wrong  []error
	boundN int
	stop   context.CancelFunc
}

func (s *suite) record(ctx context.Context) (*recorder, error) {
	r := &recorder{nodes: map[string]v1.ResourceList{}, used: map[string]map[v1.ResourceName]*resource.Quantity{},
		count: map[string]int64{}, placed: map[types.UID]string{}}
	nodes, err := s.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range nodes.Items {
		r.nodes[nodes.Items[i].Name] = nodes.Items[i].Status.Allocatable
	}
	ctx, r.stop = context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(s.admin, 0)
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.see(obj.(*v1.Pod)) },
		UpdateFunc: func(_, obj any) { r.see(obj.(*v1.Pod)) },
		DeleteFunc: func(obj any) {
			if pod, ok := obj.(*v1.Pod); ok {
				r.lose(pod)
			}
		},
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return r, err
}

func finished(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func (r *recorder) see(pod *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	node, known := r.placed[pod.UID]
	if finished(pod) {
		r.take(pod, -1)
		return
	}
	if pod.Spec.NodeName == "" {
		return
	}
	if known && node != pod.Spec.NodeName {
		r.wrong = append(r.wrong, fmt.Errorf("pod %s was on %s and is on %s", pod.Name, node, pod.Spec.NodeName))
	}
	if !known {
		r.boundN++
		r.placed[pod.UID] = pod.Spec.NodeName
		r.take(pod, 1)
	}
}

func (r *recorder) lose(pod *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(pod, -1)
}

// take adds a pod to its node's usage, or removes it; placed ensures that each happens once.
func (r *recorder) take(pod *v1.Pod, sign int64) {
	name, known := r.placed[pod.UID]
	if !known || name == "" {
		return
	}
	if sign < 0 {
		r.placed[pod.UID] = ""
	}
	used := r.used[name]
	if used == nil {
		used = map[v1.ResourceName]*resource.Quantity{}
		r.used[name] = used
	}
	r.count[name] += sign
	for _, c := range pod.Spec.Containers {
		for resourceName, amount := range c.Resources.Requests {
			q := used[resourceName]
			if q == nil {
				q = &resource.Quantity{}
				used[resourceName] = q
			}
			if sign > 0 {
				q.Add(amount)
			} else {
				q.Sub(amount)
			}
			if has, ok := r.nodes[name][resourceName]; ok && q.Cmp(has) > 0 {
				r.wrong = append(r.wrong, fmt.Errorf("node %s has %s of %s and %s is asked of it, by pod %s at last",
					name, has.String(), resourceName, q.String(), pod.Name))
			}
		}
	}
	allocatable := r.nodes[name]
	if has := allocatable.Pods(); has.Value() > 0 && r.count[name] > has.Value() {
		r.wrong = append(r.wrong, fmt.Errorf("node %s holds %d pods and has %d places", name, r.count[name], has.Value()))
	}
}

// verdict stops watching and returns the violations.
func (r *recorder) verdict() error {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) > 5 {
		return errors.Join(append(r.wrong[:5], fmt.Errorf("and %d more", len(r.wrong)-5))...)
	}
	return errors.Join(r.wrong...)
}
