// SPDX-License-Identifier: Apache-2.0

// Devices that count as node resources (gate DRANodeAllocatableResources): pods' status as kube-scheduler patches it, and
// cleared when a binding fails.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const nodeResourcesGate = "--feature-gates=DRANodeAllocatableResources=true"

var podKind = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// nodeResourcesFamily: a device's resources are those of the server's release.
func nodeResourcesFamily(minor string) family {
	resources := `nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: "1"}, overhead: {perPod: 10m, perContainer: 5m}}, memory: {mapping: {deviceMultiplier: 1Gi}}}`
	if minor == "36" {
		resources = `nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: "1"}, memory: {allocationMultiplier: 1Gi}}`
	}
	uses := func(name string) string {
		return pod(name, "", ", resources: {claims: [{name: d}]}", ", resourceClaims: [{name: d, resourceClaimName: "+name+"}]")
	}
	devices, claims := "", ""
	for i := range 6 {
		devices += fmt.Sprintf("  - {name: d%d, %s}\n", i, resources)
	}
	for _, c := range []struct {
		name  string
		count int
	}{{"one", 1}, {"two", 1}, {"large", 3}, {"unbound", 1}} {
		claims += fmt.Sprintf(`---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: %s, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: cores, count: %d}}]}}
`, c.name, c.count)
	}
	// A slice with such devices is accepted only if its node exists and declares the feature.
	return family{name: "node-resources", objects: a + "---" + node("b", "", "", "declaredFeatures: [DRANodeAllocatableResources]") + `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: e2e-unbound}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods/binding]}]}
  validations: [{expression: 'object.metadata.name != "unbound"', message: this pod stays unbound}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: e2e-unbound}
spec: {policyName: e2e-unbound, validationActions: [Deny]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: cores}
spec: {selectors: [{cel: {expression: device.driver == "cores.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: cores-b}
spec:
  driver: cores.example.com
  nodeName: b
  pool: {name: b, generation: 1, resourceSliceCount: 1}
  devices:
` + devices + claims, pods: []string{uses("one"), uses("two"), uses("large"), uses("unbound")}}
}

// nodeClaims returns a pod's status.nodeAllocatableResourceClaimStatuses as JSON.
func (s *suite) nodeClaims(ctx context.Context, name string) (string, error) {
	object, err := s.dynamic.Resource(podKind).Namespace("default").Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	list, _, err := unstructured.NestedSlice(object.Object, "status", "nodeAllocatableResourceClaimStatuses")
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// playNodeResources returns the pods' outcomes and lists, and checks that the rejected binding's list was written and cleared.
func (s *suite) playNodeResources(ctx context.Context, f family) (map[string]string, error) {
	changes, err := s.dynamic.Resource(podKind).Namespace("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=unbound"})
	if err != nil {
		return nil, err
	}
	defer changes.Stop()
	became, err := s.play(ctx, f)
	if err != nil {
		return nil, err
	}
	written, limit := "", time.After(30*time.Second)
	for cleared := false; !cleared; {
		select {
		case event := <-changes.ResultChan():
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return nil, fmt.Errorf("watch of pods: %v", event)
			}
			list, _, _ := unstructured.NestedSlice(object.Object, "status", "nodeAllocatableResourceClaimStatuses")
			if len(list) > 0 {
				text, err := json.Marshal(list)
				if err != nil {
					return nil, err
				}
				written = string(text)
			}
			cleared = written != "" && len(list) == 0
		case <-limit:
			return nil, fmt.Errorf("the list of the pod that cannot be bound (%q) is not written and cleared: %v", written, became)
		}
	}
	became["unbound's list"] = written
	for _, name := range []string{"one", "two", "large"} {
		if became[name+"'s list"], err = s.nodeClaims(ctx, name); err != nil {
			return nil, err
		}
	}
	return became, s.playDevices(ctx, became)
}

func nodeResourcesCase(ctx context.Context, s *suite) error {
	version, err := s.admin.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	if version.Minor == "35" {
		return skipped("the gate DRANodeAllocatableResources is of 1.36")
	}
	// A control plane with the gate.
	t, err := newSuite(ctx, planeFlags{dir: s.file("node-resources"), runPods: true, controllers: s.controllers, admissionOff: s.admissionOff, apiserverArgs: nodeResourcesGate}, s.berth, s.seed, "")
	if t != nil && t.plane != nil {
		defer t.stop()
	}
	if err != nil {
		return err
	}
	f := nodeResourcesFamily(version.Minor)
	var became [2]map[string]string
	for i := range became {
		start := t.startReal
		if i == 1 {
			start = func(ctx context.Context, o schedulerOptions) (*process, error) { return t.startOpen(ctx, "berth", o) }
		}
		scheduler, err := start(ctx, schedulerOptions{args: []string{nodeResourcesGate}})
		if err != nil {
			return err
		}
		became[i], err = t.playNodeResources(ctx, f)
		if err := errors.Join(err, scheduler.end(), t.clean(ctx)); err != nil {
			return fmt.Errorf("%s: %w", scheduler.name, err)
		}
	}
	if became[0]["one's list"] == "null" || became[0]["large's list"] != "null" {
		return fmt.Errorf("kube-scheduler: %v", became[0])
	}
	return errors.Join(differences(became[0], became[1]), differences(became[1], became[0]))
}
