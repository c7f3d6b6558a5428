// SPDX-License-Identifier: Apache-2.0

// berth capacity beside kubectl scale: of a Deployment that is scaled up until pods stay pending, kube-scheduler binds as many
// as berth capacity has said of the cluster before.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Nodes of several sizes in three zones; one has devices, one is cordoned, one is tainted.
const capacityNodes = `
{apiVersion: v1, kind: Node, metadata: {name: a-1, labels: {kubernetes.io/hostname: a-1, topology.kubernetes.io/zone: a}},
  status: {allocatable: {cpu: 3100m, memory: 8Gi, pods: "110", e2e/gpu: "3"}, capacity: {cpu: 3100m, memory: 8Gi, pods: "110", e2e/gpu: "3"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: a-2, labels: {kubernetes.io/hostname: a-2, topology.kubernetes.io/zone: a}},
  status: {allocatable: {cpu: "8", memory: 1Gi, pods: "4", e2e/gpu: "5"}, capacity: {cpu: "8", memory: 1Gi, pods: "4", e2e/gpu: "5"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: b-1, labels: {kubernetes.io/hostname: b-1, topology.kubernetes.io/zone: b}},
  status: {allocatable: {cpu: 1900m, memory: 8Gi, pods: "110"}, capacity: {cpu: 1900m, memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: c-1, labels: {kubernetes.io/hostname: c-1, topology.kubernetes.io/zone: c}},
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, capacity: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: c-2, labels: {kubernetes.io/hostname: c-2, topology.kubernetes.io/zone: c}}, spec: {unschedulable: true},
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, capacity: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: c-3, labels: {kubernetes.io/hostname: c-3, topology.kubernetes.io/zone: c}}, spec: {taints: [{key: e2e, value: x, effect: NoSchedule}]},
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, capacity: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}}
`

// What a pod of each shape has besides its name and its image. Whatever nodes it prefers, as many fit.
var capacityShapes = []struct{ name, container, spec string }{
	{"plain", cpu("400m"), ""},
	{"spread", cpu("300m"), `, topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: spread}}}]`},
	{"apart", cpu("100m"), `, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}]}}`},
	{"devices", `, resources: {limits: {e2e/gpu: "2"}}`, ""},
	{"tolerant", cpu("700m"), `, tolerations: [{key: e2e, operator: Exists}]`},
}

const capacityDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: c, image: example/pause:1%[2]s}]%[3]s}
`

// dump writes the cluster to a file, as kubectl get -o json does.
func (s *suite) dump(ctx context.Context, path string) error {
	list := unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, resource := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "nodes"}, {Version: "v1", Resource: "namespaces"}, {Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "services"}, {Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "replicasets"}} {
		objects, err := s.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		list.Items = append(list.Items, objects.Items...)
	}
	text, err := list.MarshalJSON()
	return errors.Join(err, os.WriteFile(path, text, 0o644))
}

// berthFits returns how many more copies of a pod berth capacity finds room for.
func (s *suite) berthFits(ctx context.Context, name, manifest string) (int, error) {
	cluster, pod := s.file("capacity-"+name+".json"), s.file("capacity-"+name+".yaml")
	if err := errors.Join(s.dump(ctx, cluster), os.WriteFile(pod, []byte(manifest), 0o644)); err != nil {
		return 0, err
	}
	var said, report bytes.Buffer
	command := exec.CommandContext(ctx, s.berth, "capacity", cluster, "--pod", pod, "-o", "json")
	command.Stdout, command.Stderr = &report, &said
	if err := command.Run(); err != nil {
		return 0, fmt.Errorf("berth capacity: %w: %s", err, said.String())
	}
	var told struct{ Capacity []struct{ Fits int } }
	if err := json.Unmarshal(report.Bytes(), &told); err != nil || len(told.Capacity) != 1 {
		return 0, fmt.Errorf("berth capacity: %v: %s", err, report.String())
	}
	return told.Capacity[0].Fits, nil
}

// countPods returns how many pods of an app are bound, and how many kube-scheduler has refused.
func (s *suite) countPods(ctx context.Context, app string) (bound, refused int, err error) {
	pods, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return 0, 0, err
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName != "" {
			bound++
		}
		for _, condition := range pods.Items[i].Status.Conditions {
			if condition.Type == v1.PodScheduled && condition.Reason == v1.PodReasonUnschedulable {
				refused++
			}
		}
	}
	return bound, refused, nil
}

func (s *suite) scale(ctx context.Context, name string, replicas int) error {
	_, err := s.admin.AppsV1().Deployments(metav1.NamespaceDefault).Patch(ctx, name, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)), metav1.PatchOptions{}, "scale")
	return err
}

// waitPods waits until so many pods of the app are bound and refused.
func (s *suite) waitPods(ctx context.Context, app string, bound, refused int) error {
	return eventually(ctx, 30*time.Second, func() error {
		isBound, isRefused, err := s.countPods(ctx, app)
		if err == nil && (isBound != bound || isRefused != refused) {
			err = fmt.Errorf("%s: %d pods are bound and %d pending, not %d and %d", app, isBound, isRefused, bound, refused)
		}
		return err
	})
}

// capacityOf scales one shape up beyond what fits.
func (s *suite) capacityOf(ctx context.Context, name, container, spec string) error {
	const pending = 3

	if err := s.apply(ctx, fmt.Sprintf(capacityDeployment, name, container, spec)); err != nil {
		return err
	}
	if err := s.waitPods(ctx, name, 1, 0); err != nil {
		return err
	}
	fits, err := s.berthFits(ctx, name, pod(name, "app: "+name, container, spec))
	if err != nil {
		return err
	}
	if fits == 0 {
		return fmt.Errorf("%s: berth capacity finds no room, so that nothing is compared", name)
	}
	if err := s.scale(ctx, name, 1+fits+pending); err != nil {
		return err
	}
	err = s.waitPods(ctx, name, 1+fits, pending)
	if err == nil {
		fmt.Printf("     %s: %d more fit\n", name, fits)
	}
	return err
}

func capacityCase(ctx context.Context, s *suite) error {
	if err := s.apply(ctx, capacityNodes); err != nil {
		return err
	}
	if _, err := s.startReal(ctx, schedulerOptions{}); err != nil {
		return err
	}
	for _, shape := range capacityShapes {
		err := s.capacityOf(ctx, shape.name, shape.container, shape.spec)
		if err == nil && shape.name != "plain" { // its pods stay, and the other shapes find what is left
			err = errors.Join(s.scale(ctx, shape.name, 0), s.waitPods(ctx, shape.name, 0, 0))
		} else if err == nil {
			err = errors.Join(s.scale(ctx, shape.name, 4), eventually(ctx, 30*time.Second, func() error {
				bound, refused, err := s.countPods(ctx, shape.name)
				if err == nil && bound+refused != 4 {
					err = fmt.Errorf("%s: %d pods, not 4", shape.name, bound+refused)
				}
				return err
			}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
