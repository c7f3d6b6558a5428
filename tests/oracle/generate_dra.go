// SPDX-License-Identifier: Apache-2.0

// generate, feature dra: devices in ResourceSlices, claims with selectors, constraints, alternatives; some already allocated.
package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const driver = "gpu.example.com"

type device struct{ node, name string }

func draMeta(kind string) metav1.TypeMeta { return meta("resource.k8s.io/v1", kind) }

func cel(s string) []resourceapi.DeviceSelector {
	return []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: s}}}
}

func (g *gen) deviceClasses() {
	g.add(&resourceapi.DeviceClass{TypeMeta: draMeta("DeviceClass"), ObjectMeta: metav1.ObjectMeta{Name: "any-gpu"},
		Spec: resourceapi.DeviceClassSpec{Selectors: cel(`device.driver == "` + driver + `"`)}})
	g.add(&resourceapi.DeviceClass{TypeMeta: draMeta("DeviceClass"), ObjectMeta: metav1.ObjectMeta{Name: "big-gpu"},
		Spec: resourceapi.DeviceClassSpec{Selectors: cel(`device.driver == "` + driver + `" && device.capacity["` + driver + `"].memory.compareTo(quantity("40Gi")) >= 0`)}})
}

// slices publishes the devices of each node and returns them.
func (g *gen) slices() []device {
	var all []device
	for _, n := range g.nodes {
		if !g.chance(70) {
			continue
		}
		name := n.Name
		s := &resourceapi.ResourceSlice{TypeMeta: draMeta("ResourceSlice"), ObjectMeta: metav1.ObjectMeta{Name: "slice-" + name},
			Spec: resourceapi.ResourceSliceSpec{Driver: driver, NodeName: &name, Pool: resourceapi.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}}
		if g.on["edge"] && g.chance(10) {
			s.Spec.Pool.ResourceSliceCount = 2 // the other half of the pool does not exist yet
		}
		for i := range 1 + g.IntN(5) {
			model, numa, ok := pick(g, "a100", "h100", "t4"), int64(g.IntN(2)), g.chance(80)
			d := resourceapi.Device{Name: fmt.Sprintf("gpu-%d", i),
				Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"model": {StringValue: &model}, "numa": {IntValue: &numa}, "healthy": {BoolValue: &ok}},
				Capacity:   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: resource.MustParse(pick(g, "16Gi", "40Gi", "80Gi"))}}}
			s.Spec.Devices = append(s.Spec.Devices, d)
			all = append(all, device{name, d.Name})
		}
		g.add(s)
	}
	return all
}

func (g *gen) exact() resourceapi.ExactDeviceRequest {
	r := resourceapi.ExactDeviceRequest{DeviceClassName: pick(g, "any-gpu", "any-gpu", "big-gpu", "absent"), AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: pick(g, int64(1), 1, 2, 3)}
	if g.chance(90) && r.DeviceClassName == "absent" {
		r.DeviceClassName = "any-gpu"
	}
	if g.chance(12) {
		r.AllocationMode, r.Count = resourceapi.DeviceAllocationModeAll, 0
	}
	if g.chance(50) {
		r.Selectors = cel(pick(g,
			`device.attributes["`+driver+`"].model == "a100"`,
			`device.attributes["`+driver+`"].model in ["h100", "t4"]`,
			`device.attributes["`+driver+`"].healthy`,
			`device.attributes["`+driver+`"].numa == 1 && device.attributes["`+driver+`"].healthy`,
			`"numa" in device.attributes["`+driver+`"] && device.attributes["`+driver+`"].numa < 1`,
			`device.capacity["`+driver+`"].memory.isGreaterThan(quantity("20Gi"))`))
		if g.on["edge"] && g.chance(10) {
			r.Selectors = cel(`device.attributes["` + driver + `"].absent == "x"`)
		}
	}
	return r
}

// claims creates claims, some of them already allocated on a node.
func (g *gen) claims(devices []device) {
	for i := range 2 + g.IntN(8) {
		c := &resourceapi.ResourceClaim{TypeMeta: draMeta("ResourceClaim"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("dev-%d", i), Namespace: pick(g, g.spaces...), UID: uid(70000 + i)}}
		for j := range 1 + g.IntN(2) {
			r := resourceapi.DeviceRequest{Name: fmt.Sprintf("r%d", j)}
			if g.chance(20) {
				for k := range 2 {
					e := g.exact()
					r.FirstAvailable = append(r.FirstAvailable, resourceapi.DeviceSubRequest{Name: fmt.Sprintf("s%d", k), DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count})
				}
			} else {
				e := g.exact()
				r.Exactly = &e
			}
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, r)
		}
		if g.chance(25) {
			a := resourceapi.FullyQualifiedName(driver + "/" + pick(g, "model", "numa"))
			c.Spec.Devices.Constraints = []resourceapi.DeviceConstraint{{MatchAttribute: &a}}
		}
		if len(devices) > 0 && g.chance(25) {
			d := devices[g.IntN(len(devices))]
			c.Status.Allocation = &resourceapi.AllocationResult{
				Devices: resourceapi.DeviceAllocationResult{Results: []resourceapi.DeviceRequestAllocationResult{{Request: "r0", Driver: driver, Pool: d.node, Device: d.name}}},
				NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
					{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{d.node}}}}}}}
			if g.chance(50) {
				c.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: "somebody", UID: "uid-somebody"}}
			}
		}
		g.resourceClaims = append(g.resourceClaims, c)
		g.add(c)
	}
}

func (g *gen) claim(p *v1.Pod) {
	c := pick(g, g.resourceClaims...)
	p.Namespace = c.Namespace
	name := c.Name
	if g.on["edge"] && g.chance(8) {
		name = "missing"
	}
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "dev", ResourceClaimName: &name}}
	p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "dev"}}
}
