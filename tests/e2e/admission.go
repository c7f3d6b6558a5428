// SPDX-License-Identifier: Apache-2.0

// Manifests as a cluster admits them: the pods and claims that API server and controllers make of them are those that
// berth simulate makes, in every field that scheduling depends on; and both refuse the same objects with the same words.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What other objects are admitted by.
const admissionPolicies = `
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: e2e-a, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: e2e/none, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: e2e-b}, provisioner: e2e/none}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: e2e-high}, value: 1000, preemptionPolicy: Never}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: e2e-usual}, value: 7, globalDefault: true}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: e2e-kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 120Mi}}
scheduling:
  nodeSelector: {runtime: kata}
  tolerations: [{key: kata, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 10}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: e2e-limits, namespace: default}
spec:
  limits:
  - {type: Container, min: {cpu: 10m}, max: {cpu: "2", memory: 4Gi}, default: {memory: 512Mi}, defaultRequest: {cpu: 100m}, maxLimitRequestRatio: {cpu: "20"}}
  - {type: Pod, max: {memory: 6Gi}}
  - {type: PersistentVolumeClaim, max: {storage: 10Gi}}
`

// Workloads, pods and claims; the label app names each.
const admissionObjects = `
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: plain}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: classless}, spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1500m}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      priorityClassName: e2e-high
      containers: [{name: c, image: x, resources: {requests: {cpu: 200m}}}]
      initContainers: [{name: i, image: x, resources: {limits: {cpu: "1"}}}, {name: side, image: x, restartPolicy: Always}]
      volumes: [{name: data, emptyDir: {}}, {name: tmp, emptyDir: {}}]
  volumeClaimTemplates:
  - {metadata: {name: data, labels: {tier: fast, app: other}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}
  - {metadata: {name: logs}, spec: {accessModes: [ReadWriteOnce], storageClassName: e2e-b, volumeMode: Block, resources: {requests: {storage: 1Gi}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, version: "1"}}
    spec:
      runtimeClassName: e2e-kata
      nodeSelector: {zone: a}
      tolerations: [{key: kata, operator: Equal, value: x}, {key: other, operator: Exists, effect: NoSchedule}]
      containers: [{name: c, image: x, ports: [{containerPort: 80}]}, {name: d, image: x, resources: {limits: {cpu: 500m, memory: 1Gi}}}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [version]}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [version]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: indexed}
spec:
  completions: 5
  parallelism: 3
  completionMode: Indexed
  template:
    metadata: {labels: {app: indexed}}
    spec: {restartPolicy: Never, hostNetwork: true, containers: [{name: c, image: x, ports: [{containerPort: 81}], resources: {requests: {cpu: 0.0001, memory: "1.5"}, limits: {cpu: 1m}}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: queue}
spec:
  parallelism: 2
  template:
    metadata: {labels: {app: queue}}
    spec: {restartPolicy: OnFailure, activeDeadlineSeconds: 9, containers: [{name: c, image: x}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: rc}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: rc}}
    spec: {containers: [{name: c, image: x}], schedulingGates: [{name: e2e/gate}]}
---
apiVersion: v1
kind: Pod
metadata: {name: scratch, labels: {app: scratch}}
spec:
  containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]
  tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]
  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}}}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: level, labels: {app: level}}
spec:
  resources: {limits: {cpu: "2", memory: 4Gi}}
  containers: [{name: c, image: x}]
`

// Objects that an API server refuses.
const admissionRefused = `
{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {containers: [{name: c, image: x, resources: {limits: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: uneven}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 10m}, limits: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: sum}, spec: {containers: [{name: c, image: x, resources: {limits: {cpu: 100m, memory: 4Gi}}}, {name: d, image: x, resources: {limits: {cpu: 100m, memory: 3Gi}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: over}, spec: {runtimeClassName: e2e-kata, overhead: {cpu: "1"}, containers: [{name: c, image: x}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: where}, spec: {runtimeClassName: e2e-kata, nodeSelector: {runtime: other}, containers: [{name: c, image: x}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {overhead: {cpu: "1"}, containers: [{name: c, image: x}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: which}, spec: {runtimeClassName: e2e-none, containers: [{name: c, image: x}]}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: huge}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 11Gi}}}}
`

// admitted holds what a scheduler sees of objects, by their names; generated ones have none.
type admitted map[string][]string

func (a admitted) add(key string, value any) error {
	text, err := json.Marshal(value)
	a[key] = append(a[key], string(text))
	sort.Strings(a[key])
	return err
}

// withoutHashes drops labels whose values are generated.
func withoutHashes(labels map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range labels {
		switch key {
		case "pod-template-hash", "controller-revision-hash", "controller-uid", "batch.kubernetes.io/controller-uid":
			continue
		}
		kept[key] = value
	}
	return kept
}

func containersOf(containers []v1.Container) []v1.Container {
	kept := []v1.Container{}
	for _, c := range containers {
		kept = append(kept, v1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy, Ports: c.Ports})
	}
	return kept
}

func (a admitted) addPod(pod *v1.Pod) error {
	spec := pod.Spec
	seen := v1.PodSpec{
		Containers: containersOf(spec.Containers), InitContainers: containersOf(spec.InitContainers), NodeSelector: spec.NodeSelector,
		Affinity: spec.Affinity, Tolerations: spec.Tolerations, TopologySpreadConstraints: spec.TopologySpreadConstraints,
		Priority: spec.Priority, PreemptionPolicy: spec.PreemptionPolicy, Overhead: spec.Overhead,
		RuntimeClassName: spec.RuntimeClassName, SchedulerName: spec.SchedulerName, RestartPolicy: spec.RestartPolicy,
		TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds, ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds,
		HostNetwork: spec.HostNetwork, SchedulingGates: spec.SchedulingGates, Resources: spec.Resources,
	}
	for _, volume := range spec.Volumes {
		if volume.PersistentVolumeClaim != nil || volume.Ephemeral != nil {
			kept := v1.Volume{Name: volume.Name}
			kept.PersistentVolumeClaim = volume.PersistentVolumeClaim
			seen.Volumes = append(seen.Volumes, kept)
		}
	}
	sort.Slice(seen.Volumes, func(i, j int) bool { return seen.Volumes[i].Name < seen.Volumes[j].Name })
	return a.add("pods of "+pod.Labels["app"], map[string]any{"labels": withoutHashes(pod.Labels), "spec": seen})
}

func (a admitted) addClaim(claim *v1.PersistentVolumeClaim) error {
	owners := []string{}
	for _, owner := range claim.OwnerReferences {
		owners = append(owners, owner.Kind+" "+owner.Name)
	}
	spec := claim.Spec
	spec.VolumeName = ""
	return a.add("claim "+claim.Name, map[string]any{"labels": claim.Labels, "spec": spec, "owners": owners})
}

// admittedByCluster reads what the control plane has made.
func (s *suite) admittedByCluster(ctx context.Context) (admitted, error) {
	a := admitted{}
	pods, err := s.admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		err = errors.Join(err, a.addPod(&pods.Items[i]))
	}
	claims, failed := s.admin.CoreV1().PersistentVolumeClaims("default").List(ctx, metav1.ListOptions{})
	if failed != nil {
		return nil, failed
	}
	for i := range claims.Items {
		err = errors.Join(err, a.addClaim(&claims.Items[i]))
	}
	return a, err
}

// berthAdmits runs berth simulate and returns what it has made, and what it has said.
func (s *suite) berthAdmits(ctx context.Context, text string) (admitted, string, error) {
	in, out := filepath.Join(s.dir, "admission.yaml"), filepath.Join(s.dir, "admitted.json")
	if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
		return nil, "", err
	}
	var said bytes.Buffer
	command := exec.CommandContext(ctx, s.berth, "simulate", "-f", in, "--write-objects", out)
	command.Stderr = &said
	if err := command.Run(); err != nil {
		return nil, said.String(), fmt.Errorf("berth simulate: %w: %s", err, said.String())
	}
	written, err := os.ReadFile(out)
	if err != nil {
		return nil, "", err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(written, &list); err != nil {
		return nil, "", err
	}
	a := admitted{}
	for _, item := range list.Items {
		var kind metav1.TypeMeta
		var pod v1.Pod
		var claim v1.PersistentVolumeClaim
		err = errors.Join(err, json.Unmarshal(item, &kind))
		switch kind.Kind {
		case "Pod":
			err = errors.Join(err, json.Unmarshal(item, &pod), a.addPod(&pod))
		case "PersistentVolumeClaim":
			err = errors.Join(err, json.Unmarshal(item, &claim), a.addClaim(&claim))
		}
	}
	return a, said.String(), err
}

// differences lists where two results differ, an object a line.
func (a admitted) differences(b admitted) error {
	var wrong []error
	for _, key := range keysOf(a, b) {
		cluster, berth := strings.Join(a[key], "\n  "), strings.Join(b[key], "\n  ")
		if cluster != berth {
			wrong = append(wrong, fmt.Errorf("%s\n cluster\n  %s\n berth\n  %s", key, cluster, berth))
		}
	}
	return errors.Join(wrong...)
}

func keysOf(maps ...admitted) []string {
	known := map[string]bool{}
	keys := []string{}
	for _, m := range maps {
		for key := range m {
			if !known[key] {
				keys = append(keys, key)
			}
			known[key] = true
		}
	}
	sort.Strings(keys)
	return keys
}

// refusedAlike: berth says of each object what the server says after "forbidden".
func (s *suite) refusedAlike(ctx context.Context, said string) error {
	objects, err := documents(admissionRefused)
	if err != nil {
		return err
	}
	var wrong []error
	for _, object := range objects {
		client, _, err := s.client(object)
		if err != nil {
			return err
		}
		if _, err = client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err == nil {
			wrong = append(wrong, fmt.Errorf("the server takes %s", object.GetName()))
			continue
		}
		_, reason, _ := strings.Cut(err.Error(), " is forbidden: ")
		reason = strings.TrimSuffix(strings.TrimPrefix(reason, "["), "]")
		if reason == "" || !saysOf(said, object, reason) {
			wrong = append(wrong, fmt.Errorf("%s: the server says %q, berth %q", object.GetName(), err.Error(), said))
		}
	}
	return errors.Join(wrong...)
}

func saysOf(said string, object *unstructured.Unstructured, reason string) bool {
	for _, line := range strings.Split(said, "\n") {
		if strings.Contains(line, object.GetKind()+" default/"+object.GetName()+": ") && strings.Contains(line, reason) {
			return true
		}
	}
	return false
}

func admissionCase(ctx context.Context, s *suite) error {
	nodes := numberedNode(0) + "---" + numberedNode(1)
	if err := s.apply(ctx, nodes+"---"+admissionPolicies); err != nil {
		return err
	}
	want, said, err := s.berthAdmits(ctx, nodes+"---"+admissionPolicies+"---"+admissionObjects+"---"+admissionRefused)
	if err != nil {
		return err
	}
	// The server's plugins see new classes after a moment.
	refused := eventually(ctx, 20*time.Second, func() error { return s.refusedAlike(ctx, said) })
	if refused != nil {
		return refused
	}
	if err := s.apply(ctx, admissionObjects); err != nil {
		return err
	}
	return eventually(ctx, 20*time.Second, func() error {
		got, err := s.admittedByCluster(ctx)
		if err != nil {
			return err
		}
		return got.differences(want)
	})
}
