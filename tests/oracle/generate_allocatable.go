// SPDX-License-Identifier: Apache-2.0

// generate, feature nodealloc: devices of dra2 that count as node resources or consume them, and bound pods whose status
// lists such claims. Each field is written in the forms of 1.36 and of 1.37; each release ignores the other's.
package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func (g *gen) amountOf(resource string) string {
	switch resource {
	case "cpu":
		return pick(g, "100m", "500m", "1", "1", "1500m", "2", "3", "8", "333u")
	case "memory":
		return pick(g, "64Mi", "100Mi", "1Gi", "2Gi", "4Gi", "16Gi", "1500m")
	case "ephemeral-storage":
		return pick(g, "1Gi", "10Gi")
	}
	return pick(g, "2Mi", "4Mi")
}

// nodeResources gives a device its node resources.
func (g *gen) nodeResources(d object) {
	capacities, _ := d["capacity"].(object)
	shared, _ := d["allowMultipleAllocations"].(bool)
	key := ""
	for _, name := range []string{"memory", "share", "slots"} {
		if _, ok := capacities[name]; ok && (shared || g.chance(2)) {
			key = name
		}
	}
	for _, resource := range []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi"} {
		if !g.chance(map[string]int{"cpu": 70, "memory": 45}[resource] + 4) {
			continue
		}
		now := object{}
		if g.chance(70) {
			mapping, alone := object{}, object{}
			if key != "" && g.chance(50) {
				mapping["capacityKey"], alone["capacityKey"] = key, key
				if g.chance(70) {
					by := pick(g, "1", "2", "500m", "1n", "10u")
					mapping["capacityMultiplier"], alone["allocationMultiplier"] = by, by
				}
			} else {
				by := g.amountOf(resource)
				mapping["deviceMultiplier"], alone["allocationMultiplier"] = by, by
			}
			now["mapping"] = mapping
			in(d, "nodeAllocatableResourceMappings")[resource] = alone
		}
		if g.chance(50) {
			overhead := object{}
			if g.chance(70) {
				overhead["perPod"] = g.amountOf(resource)
			}
			if g.chance(60) {
				overhead["perContainer"] = g.amountOf(resource)
			}
			now["overhead"] = overhead
		}
		in(d, "nodeAllocatableResources")[resource] = now
	}
}

// claimStatus is an entry of a pod's status.
func (g *gen) claimStatus(claim string, containers list) object {
	status := object{"resourceClaimName": claim, "containers": containers}
	for _, resource := range []string{"cpu", "memory"} {
		if g.chance(70) {
			amount := g.amountOf(resource)
			in(status, "resources")[resource] = amount
			mapping, _ := status["mapping"].(list)
			status["mapping"] = append(mapping, object{"name": resource, "quantity": amount})
		}
		if g.chance(40) {
			overhead, _ := status["overhead"].(list)
			status["overhead"] = append(overhead, object{"name": resource, "perPod": g.amountOf(resource), "perContainer": g.amountOf(resource)})
		}
	}
	return status
}

// withClaims makes containers use the pod's claims, and adds pod-level requests.
func (g *gen) withClaims(o *v1.Pod) runtime.Object {
	p := parsed(raw(o))
	spec := in(p, "spec")
	claims, _ := spec["resourceClaims"].(list)
	containers, names := list{}, list{}
	for _, of := range []string{"initContainers", "containers"} {
		all, _ := spec[of].(list)
		containers = append(containers, all...)
	}
	for _, c := range containers {
		for _, claim := range claims {
			if g.chance(60) {
				mine, _ := in(c.(object), "resources")["claims"].(list)
				in(c.(object), "resources")["claims"] = append(mine, object{"name": claim.(object)["name"]})
			}
		}
		if g.chance(50) {
			names = append(names, c.(object)["name"])
		}
		if g.chance(15) {
			in(c.(object), "resources", "limits")["cpu"] = "6"
		}
	}
	if g.chance(12) {
		in(spec, "resources", "requests")["cpu"] = pick(g, "4", "6", "8")
		if g.chance(50) {
			in(spec, "resources", "limits")["cpu"] = pick(g, "6", "8", "12")
		}
	}
	if o.Spec.NodeName != "" && g.chance(50) || g.chance(5) {
		all := list{}
		for _, claim := range claims {
			if name, ok := claim.(object)["resourceClaimName"].(string); ok && g.chance(80) && len(all) == 0 {
				all = append(all, g.claimStatus(name, names))
			}
		}
		if len(all) == 0 || g.chance(20) {
			all = append(all, g.claimStatus("other", names))
		}
		in(p, "status")["nodeAllocatableResourceClaimStatuses"] = all
	}
	return plain(p)
}

// allocatable changes an object; nodes get room for huge pages.
func (g *gen) allocatable(o runtime.Object) runtime.Object {
	switch o := o.(type) {
	case *unstructured.Unstructured:
		if o.GetKind() == "ResourceSlice" {
			devices, _ := in(o.Object, "spec")["devices"].(list)
			for _, d := range devices {
				if g.chance(80) {
					g.nodeResources(d.(object))
				}
			}
		}
	case *v1.Pod:
		return g.withClaims(o)
	}
	return o
}
