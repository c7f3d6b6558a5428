// SPDX-License-Identifier: Apache-2.0

// A family is a small cluster on which every pod has one correct outcome, so that berth and kube-scheduler must agree
// exactly: the node, or the message. Pods are created one at a time, after the one before is decided.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type family struct {
	name    string
	objects string   // created first; nodes by "node NAME" shorthands in nodes
	nodes   []string // NAME, or NAME followed by YAML of metadata/spec/status to merge, see nodeText
	alone   bool     // refused pods are deleted, so that they are not retried
	pods    []string // NAME, then the pod's spec as flow YAML, then labels as flow YAML
}

// node returns a node of 4 CPUs, 8Gi and 110 pods; labels, spec and status are flow YAML.
func node(name, labels, spec, status string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %s%s}}
spec: {%s}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
  %s
`, name, name, labels, spec, status)
}

// pod returns a pod of one container; container and spec are additional fields as flow YAML.
func pod(name, labels, container, spec string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {%s}}
spec: {containers: [{name: c, image: example/pause:1%s}]%s}
`, name, labels, container, spec)
}

func cpu(amount string) string { return ", resources: {requests: {cpu: " + amount + ", memory: 64Mi}}" }

var (
	a = node("a", "", "", "")
	b = node("b", "", "", "")
	c = node("c", "", "", "")
)

func zoned(name, zone string) string {
	return node(name, ", topology.kubernetes.io/zone: "+zone, "", "")
}

// highClass is a PriorityClass above all other pods.
const highClass = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: e2e-high}
value: 1000
`

var families = []family{
	{name: "resources", nodes: []string{a, b},
		pods: []string{
			pod("first", "", cpu("3"), ", nodeName: a"),
			pod("where-there-is-room", "", cpu("2"), ""),
			pod("least-allocated", "", cpu("200m"), ""),
			pod("too-large", "", cpu("5"), ""),
			pod("memory", "", ", resources: {requests: {memory: 9Gi}}", ""),
			pod("unknown-resource", "", `, resources: {requests: {example.com/gpu: "1"}, limits: {example.com/gpu: "1"}}`, "")}},
	{name: "node-affinity", nodes: []string{node("a", ", disk: ssd", "", ""), node("b", ", disk: hdd, cores: \"16\"", "", ""), c},
		pods: []string{
			pod("selector", "", "", ", nodeSelector: {disk: ssd}"),
			pod("greater", "", "", ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: cores, operator: Gt, values: [\"8\"]}]}]}}}"),
			pod("preferred", "", "", ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: disk, operator: DoesNotExist}]}}]}}"),
			pod("nowhere", "", "", ", nodeSelector: {disk: tape}"),
			pod("field", "", "", ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [c]}]}]}}}")}},
	{name: "taints", nodes: []string{
		node("a", "", "taints: [{key: k, value: v, effect: NoSchedule}]", ""),
		node("b", "", "taints: [{key: k, value: w, effect: PreferNoSchedule}]", ""), c,
		node("d", "", "unschedulable: true", "")},
		pods: []string{
			pod("plain", "", "", ""),
			pod("tolerates", "", cpu("3"), ", tolerations: [{key: k, operator: Equal, value: v, effect: NoSchedule}], nodeSelector: {kubernetes.io/hostname: a}"),
			pod("does-not", "", "", ", nodeSelector: {kubernetes.io/hostname: a}"),
			pod("cordoned", "", "", ", nodeSelector: {kubernetes.io/hostname: d}")}},
	{name: "ports", nodes: []string{a, b},
		pods: []string{
			pod("one", "", ", ports: [{containerPort: 80, hostPort: 8080}]", ", nodeSelector: {kubernetes.io/hostname: a}"),
			pod("two", "", ", ports: [{containerPort: 80, hostPort: 8080}]", ""),
			pod("three", "", ", ports: [{containerPort: 80, hostPort: 8080}]", ""),
			pod("other-protocol", "", ", ports: [{containerPort: 80, hostPort: 8080, protocol: UDP}]", ", nodeSelector: {kubernetes.io/hostname: a}")}},
	{name: "images", nodes: []string{a, node("b", "", "", "images: [{names: [\"example/pause:1\"], sizeBytes: 900000000}]")},
		pods: []string{pod("where-the-image-is", "", "", "")}},
	{name: "spread", nodes: []string{zoned("a", "z1"), zoned("b", "z1"), zoned("c", "z2")},
		pods: []string{
			pod("one", "app: web", "", ", nodeSelector: {kubernetes.io/hostname: a}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"),
			pod("two", "app: web", "", ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"),
			pod("three", "app: web", "", ", nodeSelector: {kubernetes.io/hostname: c}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]"),
			pod("four", "app: web", "", ", nodeSelector: {topology.kubernetes.io/zone: z2}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, labelSelector: {matchLabels: {app: web}}}]"),
			pod("soft", "app: web", "", ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]")}},
	{name: "pod-affinity", nodes: []string{zoned("a", "z1"), zoned("b", "z2"), zoned("c", "z3")},
		pods: []string{
			pod("cache", "app: cache", "", ", nodeSelector: {kubernetes.io/hostname: b}"),
			pod("near", "app: web", "", ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: cache}}, topologyKey: topology.kubernetes.io/zone}]}}"),
			pod("away", "app: db", "", ", nodeSelector: {kubernetes.io/hostname: a}, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: web}}, topologyKey: topology.kubernetes.io/zone}, {labelSelector: {matchLabels: {app: db}}, topologyKey: kubernetes.io/hostname}]}}"),
			pod("db-2", "app: db", "", ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: web}}, topologyKey: topology.kubernetes.io/zone}, {labelSelector: {matchLabels: {app: db}}, topologyKey: kubernetes.io/hostname}]}}"),
			pod("web-2", "app: web", "", ", nodeSelector: {kubernetes.io/hostname: a}"),
			pod("prefers", "app: x", "", ", affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {labelSelector: {matchLabels: {app: cache}}, topologyKey: kubernetes.io/hostname}}]}}"),
			pod("no-such-friend", "app: other", "", ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: nobody}}, topologyKey: topology.kubernetes.io/zone}]}}")}},
	{name: "volumes", nodes: []string{zoned("a", "z1"), zoned("b", "z2")},
		objects: `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: on-b}
spec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: local, persistentVolumeReclaimPolicy: Retain, local: {path: /data}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [b]}]}]}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 5Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: more, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 5Gi}}}
`,
		pods: []string{
			pod("where-the-volume-is", "", "", ", volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"),
			pod("none-left", "", "", ", volumes: [{name: v, persistentVolumeClaim: {claimName: more}}]"),
			pod("no-claim", "", "", ", volumes: [{name: v, persistentVolumeClaim: {claimName: nothing}}]")}},
	{name: "preemption", nodes: []string{a, b},
		objects: highClass,
		pods: []string{
			pod("low-a", "", cpu("3"), ", nodeSelector: {kubernetes.io/hostname: a}"),
			pod("low-b", "", cpu("2"), ", nodeSelector: {kubernetes.io/hostname: b}"),
			pod("high", "", cpu("3"), ", priorityClassName: e2e-high, nodeSelector: {kubernetes.io/hostname: a}"),
			pod("too-low", "", cpu("3"), "")}},
	{name: "devices", nodes: []string{a, b},
		objects: `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice-b}
spec: {driver: gpu.example.com, nodeName: b, pool: {name: b, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim-2, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
`,
		pods: []string{
			pod("where-the-device-is", "", ", resources: {claims: [{name: d}]}", ", resourceClaims: [{name: d, resourceClaimName: claim}]"),
			pod("none-left", "", ", resources: {claims: [{name: d}]}", ", resourceClaims: [{name: d, resourceClaimName: claim-2}]")}},
	{name: "gates", nodes: []string{a},
		pods: []string{
			pod("gated", "", "", ", schedulingGates: [{name: example.com/wait}]"),
			pod("behind-it", "", "", "")}},
}

// play creates a family's objects and pods, and returns each pod's outcome.
func (s *suite) play(ctx context.Context, f family) (map[string]string, error) {
	if err := s.apply(ctx, f.objects); err != nil {
		return nil, err
	}
	for _, text := range f.nodes {
		if err := s.apply(ctx, text); err != nil {
			return nil, err
		}
	}
	time.Sleep(time.Second) // Nodes and pods arrive by different watches, and all nodes must be known before the first pod.
	became := map[string]string{}
	for _, text := range f.pods {
		objects, err := documents(text)
		if err != nil {
			return nil, err
		}
		if err := s.playPod(ctx, objects[0], became); err != nil {
			return became, err
		}
		if name := objects[0].GetName(); f.alone && strings.Contains(became[name], ": ") {
			if err := s.remove(ctx, objects[0].GetNamespace(), name); err != nil {
				return became, err
			}
		}
	}
	return became, nil
}

// remove deletes a pod and waits until it is gone.
func (s *suite) remove(ctx context.Context, namespace, name string) error {
	pods := s.admin.CoreV1().Pods(namespace)
	return eventually(ctx, time.Minute, func() error {
		err := pods.Delete(ctx, name, now0())
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("pod %s is still there", name))
	})
}

func (s *suite) playPod(ctx context.Context, object *unstructured.Unstructured, became map[string]string) error {
	if err := s.create(ctx, object); err != nil {
		return err
	}
	text, err := s.waitDecided(ctx, object.GetNamespace(), object.GetName())
	if err != nil {
		return fmt.Errorf("%s: %w", object.GetName(), err)
	}
	became[object.GetName()] = text
	return nil
}

// familyCase plays a family with kube-scheduler, cleans up, plays it with berth, and compares.
func familyCase(f family) testCase {
	return testCase{name: "family-" + f.name, help: "placed, or refused with the same words, as by kube-scheduler", family: &f, run: func(ctx context.Context, s *suite) error {
		real, err := s.startReal(ctx, schedulerOptions{})
		if err != nil {
			return err
		}
		want, err := s.play(ctx, f)
		if err != nil {
			return fmt.Errorf("kube-scheduler: %w", err)
		}
		if err := real.end(); err != nil {
			return err
		}
		if err := s.clean(ctx); err != nil {
			return err
		}
		if _, err := s.startBerth(ctx, "berth", schedulerOptions{}); err != nil {
			return err
		}
		got, err := s.play(ctx, f)
		if err != nil {
			return fmt.Errorf("berth: %w", err)
		}
		return differences(want, got)
	}}
}

func differences(want, got map[string]string) error {
	var lines []string
	for name, text := range want {
		if got[name] != text {
			lines = append(lines, fmt.Sprintf("pod %s: kube-scheduler says %q, berth says %q", name, text, got[name]))
		}
	}
	if len(lines) > 0 {
		return fmt.Errorf("%s", strings.Join(lines, "\n"))
	}
	return nil
}

func familyCases() []testCase {
	var all []testCase
	for _, f := range families {
		all = append(all, familyCase(f))
	}
	return all
}
