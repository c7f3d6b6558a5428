// SPDX-License-Identifier: Apache-2.0

// Schedulers' writes of ResourceClaims: configurations and tolerations of classes, claims and alternatives.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var claims = schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"}

func opaque(driver, parameters string) string {
	return fmt.Sprintf("opaque: {driver: %s, parameters: %s}", driver, parameters)
}

var deviceFamily = family{name: "device-results", nodes: []string{a, b},
	objects: `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]
  config: [{` + opaque("gpu.example.com", "{class: 1}") + `}, {` + opaque("gpu.example.com", `{class: [2, "two"]}`) + `}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic}
spec:
  selectors: [{cel: {expression: device.driver == "nic.example.com"}}]
  config: [{` + opaque("nic.example.com", "{mtu: 9000}") + `}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: plain}
spec: {selectors: [{cel: {expression: device.driver == "nic.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: gpus-b}
spec:
  driver: gpu.example.com
  nodeName: b
  pool: {name: b, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {model: {string: big}}}
  - {name: gpu-1, attributes: {model: {string: small}}, taints: [{key: example.com/worn, value: v, effect: NoSchedule}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: nics-b}
spec:
  driver: nic.example.com
  nodeName: b
  pool: {name: b, generation: 1, resourceSliceCount: 1}
  devices: [{name: nic-0}, {name: nic-1}, {name: nic-2}, {name: nic-3}, {name: nic-4}, {name: nic-5}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one, namespace: default}
spec:
  devices:
    requests:
    - {name: g, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "big"'}}]}}
    - {name: nn, exactly: {deviceClassName: nic}}
    config:
    - {` + opaque("gpu.example.com", "{all: true}") + `}
    - {requests: [g], ` + opaque("gpu.example.com", `{only: "g"}`) + `}
    - {requests: [nn, g], ` + opaque("nic.example.com", `{both: null}`) + `}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: two, namespace: default}
spec:
  devices:
    requests:
    - name: f
      firstAvailable:
      - {name: huge, deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "huge"'}}]}
      - {name: small, deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "small"'}}], tolerations: [{key: example.com/worn, operator: Exists, effect: NoSchedule}]}
    - {name: nn, exactly: {deviceClassName: nic, tolerations: [{operator: Exists}]}}
    config:
    - {requests: [f], ` + opaque("gpu.example.com", "{f: 1}") + `}
    - {requests: [f/small], ` + opaque("gpu.example.com", "{f: small}") + `}
    - {requests: [f/huge], ` + opaque("gpu.example.com", "{f: huge}") + `}
    - {requests: [f/huge, nn], ` + opaque("gpu.example.com", "{f: other}") + `}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: three, namespace: default}
spec:
  devices:
    requests:
    - {name: x, exactly: {deviceClassName: nic}}
    - {name: yy, exactly: {deviceClassName: plain}}
    - {name: z, exactly: {deviceClassName: nic, count: 2}}
`,
	pods: []string{
		pod("one", "", ", resources: {claims: [{name: d}]}", ", resourceClaims: [{name: d, resourceClaimName: one}]"),
		pod("two", "", ", resources: {claims: [{name: d}]}", ", resourceClaims: [{name: d, resourceClaimName: two}]"),
		pod("three", "", ", resources: {claims: [{name: d}]}", ", resourceClaims: [{name: d, resourceClaimName: three}]"),
	}}

// playDevices returns the pods' outcomes, and their claims' status without times and UIDs.
func (s *suite) playDevices(ctx context.Context, became map[string]string) error {
	list, err := s.dynamic.Resource(claims).Namespace("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		claim := &list.Items[i]
		status, _, _ := unstructured.NestedMap(claim.Object, "status")
		unstructured.RemoveNestedField(status, "allocation", "allocationTimestamp")
		if users, ok := status["reservedFor"].([]any); ok {
			for _, user := range users {
				delete(user.(map[string]any), "uid")
			}
		}
		text, err := json.Marshal(map[string]any{"status": status, "finalizers": claim.GetFinalizers()})
		if err != nil {
			return err
		}
		became["claim "+claim.GetName()] = string(text)
	}
	return nil
}

func devicesCase(ctx context.Context, s *suite) error {
	var became [2]map[string]string
	for i := range became {
		start := s.startReal
		if i == 1 {
			start = func(ctx context.Context, o schedulerOptions) (*process, error) { return s.startBerth(ctx, "berth", o) }
		}
		scheduler, err := start(ctx, schedulerOptions{})
		if err != nil {
			return err
		}
		if became[i], err = s.play(ctx, deviceFamily); err == nil {
			err = s.playDevices(ctx, became[i])
		}
		if err := errors.Join(err, scheduler.end(), s.clean(ctx)); err != nil {
			return fmt.Errorf("%s: %w", scheduler.name, err)
		}
	}
	return errors.Join(differences(became[0], became[1]), differences(became[1], became[0]))
}
