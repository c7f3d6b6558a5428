// SPDX-License-Identifier: Apache-2.0

// generate, feature dra2: dynamic resources in full: two drivers, pools of several slices and generations, shared counters and capacities, taints, prioritised lists,
// templates, extended resources that a device class, a device plugin or both offer, claims shared, allocated elsewhere, or held by running pods.
package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// devices is the state of feature dra2. Objects are plain maps: their kinds have more fields than any one version's types.
type devices struct {
	all    []object // driver, pool, device, shared
	claims []object
}

type list = []any

const otherDriver = "net.example.org"

func (g *gen) of(api, kind string, o object) object {
	o["apiVersion"], o["kind"] = api, kind
	g.add(plain(o))
	return o
}

func named(name string) object { return object{"name": name} }

func in(o object, keys ...string) object { // in returns o.a.b.c, created if missing
	for _, k := range keys {
		next, ok := o[k].(object)
		if !ok {
			next = object{}
			o[k] = next
		}
		o = next
	}
	return o
}

func (g *gen) anAttribute() object {
	switch g.IntN(5) {
	case 0:
		return object{"int": pick(g, int64(0), 1, 2, -5, 9007199254740993)}
	case 1:
		return object{"bool": g.chance(50)}
	case 2:
		return object{"version": pick(g, "1.0.0", "1.2.3", "2.0.0-rc.1", "1.2.3+b1")}
	}
	return object{"string": pick(g, "a100", "h100", "t4", "")}
}

func (g *gen) aCapacity() object {
	c := object{"value": pick(g, "16Gi", "40Gi", "80Gi", "8", "0.5Gi", "100m")}
	switch g.IntN(8) {
	case 0:
		r := object{"min": "1Gi"}
		if g.chance(60) {
			r["max"] = pick(g, "16Gi", "40Gi")
		}
		if g.chance(60) {
			r["step"] = pick(g, "1Gi", "3Gi", "512Mi")
		}
		c["requestPolicy"] = object{"default": pick(g, "1Gi", "8Gi"), "validRange": r}
	case 1:
		c["requestPolicy"] = object{"default": "4Gi", "validValues": list{"1Gi", "4Gi", "8Gi", "20Gi"}}
	case 2:
		c["requestPolicy"] = object{"default": "2Gi"}
	}
	return c
}

// aDevice: counted devices consume the pool's counters, placed ones have their own node selection.
func (g *gen) aDevice(drv, pool, name string, counted, placed bool) object {
	attrs := object{"model": object{"string": pick(g, "a100", "h100", "t4")}, "numa": object{"int": int64(g.IntN(2))}}
	if g.chance(50) {
		attrs["healthy"] = object{"bool": g.chance(80)}
	}
	if g.chance(40) {
		attrs["x"] = g.anAttribute()
	}
	if g.chance(30) {
		attrs[pick(g, "resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/pcieRoot", "other.org/model")] = g.anAttribute()
	}
	d := object{"name": name, "attributes": attrs}
	if g.chance(80) {
		in(d, "capacity")["memory"] = g.aCapacity()
		if g.chance(30) {
			in(d, "capacity")["slots"] = object{"value": pick(g, "1", "4", "7")}
		}
	}
	shared := g.chance(25)
	if shared || g.chance(5) {
		d["allowMultipleAllocations"] = shared
	}
	if g.chance(20) {
		taints := list{}
		for range 1 + g.IntN(2) {
			t := object{"key": pick(g, "bad", "slow"), "effect": pick(g, "NoSchedule", "NoSchedule", "NoExecute", "None")}
			if g.chance(50) {
				t["value"] = pick(g, "a", "b")
			}
			taints = append(taints, t)
		}
		d["taints"] = taints
	}
	if counted && g.chance(80) {
		use := object{"mem": object{"value": pick(g, "10Gi", "20Gi", "40Gi", "1")}}
		if g.chance(40) {
			use["cores"] = object{"value": pick(g, "1", "2", "4")}
		}
		uses := list{object{"counterSet": pick(g, "set0", "set0", "set1"), "counters": use}}
		if g.chance(20) {
			uses = list{object{"counterSet": "set0", "counters": use}, object{"counterSet": "set1", "counters": object{"mem": object{"value": "5Gi"}}}}
		}
		d["consumesCounters"] = uses
	}
	if placed {
		switch g.IntN(3) {
		case 0:
			d["nodeName"] = pick(g, g.nodes...).Name
		case 1:
			d["allNodes"] = true
		case 2:
			d["nodeSelector"] = object{"nodeSelectorTerms": list{g.plainTerm()}}
		}
	}
	if g.chance(10) {
		d["bindsToNode"] = true
	}
	if g.chance(5) {
		d["bindingConditions"], d["bindingFailureConditions"] = list{"example.com/ready"}, list{"example.com/broken"}
	}
	g.devices.all = append(g.devices.all, object{"driver": drv, "pool": pool, "device": name, "shared": shared})
	return d
}

// plainTerm is a node selector term that is not empty.
func (g *gen) plainTerm() object {
	r := object{"key": pick(g, "disk", "rack", "topology.kubernetes.io/zone", "kubernetes.io/hostname"), "operator": pick(g, "In", "In", "NotIn", "Exists")}
	if r["operator"] != "Exists" {
		r["values"] = list{pick(g, "ssd", "a", "z1", "n0"), pick(g, "hdd", "b", "z2", "n1")}
	}
	return object{"matchExpressions": list{r}}
}

func (g *gen) aSelector() list {
	attr, other, amount := `device.attributes["`+driver+`"]`, `device.attributes["`+otherDriver+`"]`, `device.capacity["`+driver+`"]`
	return list{object{"cel": object{"expression": pick(g,
		`"model" in `+attr+` && `+attr+`.model == "a100"`,
		attr+`.?model.orValue("") in ["h100", "t4"]`,
		attr+`.?healthy.orValue(false)`,
		attr+`.?numa.orValue(7) == 1`,
		`"healthy" in `+attr,
		`has(`+amount+`.memory) && `+amount+`.memory.isGreaterThan(quantity("20Gi"))`,
		`device.driver.startsWith("gpu")`,
		`has(`+attr+`.healthy) && `+attr+`.healthy`,
		`device.allowMultipleAllocations == true`,
		`has(`+attr+`.x) && `+attr+`.x == "a100"`, // x may have another type: an error
		`has(`+other+`.model) && `+other+`.model.matches("^[ah]100$")`,
		`!has(`+amount+`.slots) || `+amount+`.slots.compareTo(quantity("4")) >= 0`,
		`true`, `false`)}}}
}

func (g *gen) aRequest(sub bool) object {
	r := object{"deviceClassName": pick(g, "any", "any", "gpus", "nets", "big", "ext")}
	if g.chance(3) {
		r["deviceClassName"] = "absent"
	}
	switch g.IntN(6) {
	case 0:
		r["allocationMode"] = "All"
	case 1, 2:
		r["count"] = pick(g, int64(1), 2, 3)
		if g.chance(50) {
			r["allocationMode"] = "ExactCount"
		}
	}
	if g.chance(40) {
		r["selectors"] = g.aSelector()
	} else if g.chance(8) {
		r["selectors"] = append(g.aSelector(), g.aSelector()...)
	}
	if !sub && g.chance(8) {
		r["adminAccess"] = g.chance(80)
	}
	if g.chance(25) {
		t := object{}
		if g.chance(70) {
			t["key"] = pick(g, "bad", "slow")
		}
		if t["key"] == nil || g.chance(50) {
			t["operator"] = "Exists"
		} else if g.chance(50) {
			t["value"] = "a"
		}
		if g.chance(30) {
			t["effect"] = pick(g, "NoSchedule", "NoExecute")
		}
		r["tolerations"] = list{t}
	}
	if g.chance(30) {
		amounts := object{"memory": pick(g, "1Gi", "5Gi", "8Gi", "20Gi", "500Mi")}
		if g.chance(20) {
			amounts[pick(g, "slots", driver+"/memory", "absent")] = "1"
		}
		r["capacity"] = object{"requests": amounts}
	}
	return r
}

func (g *gen) claimSpec() object {
	requests, names := list{}, []string{}
	for j := range 1 + g.IntN(3) {
		n := fmt.Sprintf("r%d", j)
		names = append(names, n)
		if !g.chance(25) {
			requests = append(requests, object{"name": n, "exactly": g.aRequest(false)})
			continue
		}
		subs := list{}
		for k := range 1 + g.IntN(3) {
			r := g.aRequest(true)
			r["name"] = fmt.Sprintf("s%d", k)
			subs = append(subs, r)
			names = append(names, fmt.Sprintf("%s/s%d", n, k))
		}
		requests = append(requests, object{"name": n, "firstAvailable": subs})
	}
	d := object{"requests": requests}
	if g.chance(30) {
		constraints := list{}
		for range 1 + g.IntN(2) {
			c := object{pick(g, "matchAttribute", "matchAttribute", "distinctAttribute"): pick(g, driver+"/model", driver+"/numa", driver+"/x", "resource.kubernetes.io/pcieRoot", driver+"/absent")}
			if g.chance(50) {
				c["requests"] = list{pick(g, names...)}
			}
			constraints = append(constraints, c)
		}
		d["constraints"] = constraints
	}
	return object{"devices": d}
}

const resourceAPI = "resource.k8s.io/v1"

// moreDevices creates classes, slices and claims.
func (g *gen) moreDevices() {
	class := func(name, expression string, extended ...string) {
		spec := object{}
		if expression != "" {
			spec["selectors"] = list{object{"cel": object{"expression": expression}}}
		}
		if len(extended) > 0 {
			spec["extendedResourceName"] = pick(g, extended...)
		}
		g.of(resourceAPI, "DeviceClass", object{"metadata": object{"name": name, "creationTimestamp": pick(g, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")}, "spec": spec})
	}
	class("any", "")
	class("gpus", `device.driver == "`+driver+`"`, "example.com/gpu")
	class("nets", `device.driver == "`+otherDriver+`"`)
	class("big", `has(device.capacity[device.driver].memory) && device.capacity[device.driver].memory.compareTo(quantity("40Gi")) >= 0`)
	class("ext", pick(g, `true`, `device.driver.startsWith("gpu")`, `device.allowMultipleAllocations != true`), "example.com/gpu", "example.com/widget", "nvidia.com/gpu")
	for _, n := range g.nodes {
		if g.chance(25) { // a device plugin's own
			n.Status.Allocatable["example.com/gpu"], n.Status.Capacity["example.com/gpu"] = q("2"), q("2")
		}
		if g.chance(75) {
			g.pool(n.Name)
		}
	}
	if g.chance(50) { // devices that are not local to a node
		drv, placed, all := pick(g, driver, otherDriver), g.chance(40), list{}
		for i := range 1 + g.IntN(4) {
			all = append(all, g.aDevice(drv, "fabric", fmt.Sprintf("d%d", i), false, placed))
		}
		spec := object{"driver": drv, "pool": object{"name": "fabric", "generation": int64(1), "resourceSliceCount": int64(1)}, "devices": all}
		switch {
		case placed:
			spec["perDeviceNodeSelection"] = true
		case g.chance(50):
			spec["allNodes"] = true
		default:
			spec["nodeSelector"] = object{"nodeSelectorTerms": list{g.plainTerm()}}
		}
		g.of(resourceAPI, "ResourceSlice", object{"metadata": named("fabric"), "spec": spec})
	}
	for i := range 2 + g.IntN(8) {
		g.moreClaims(fmt.Sprintf("use-%d", i))
	}
}

// pool creates the slices of one node.
func (g *gen) pool(node string) {
	drv, counted, slices, generation := pick(g, driver, driver, otherDriver), g.chance(35), 1+g.IntN(2), pick(g, int64(1), 1, 2)
	total, pool := int64(slices), "pool-"+node
	if counted {
		total++
	}
	if g.chance(4) {
		total += pick(g, int64(1), -1) // the pool is incomplete, or has too many slices
	}
	slice := func(name string, generation, total int64, more object) {
		more["driver"], more["nodeName"] = drv, node
		more["pool"] = object{"name": pool, "generation": generation, "resourceSliceCount": total}
		g.of(resourceAPI, "ResourceSlice", object{"metadata": named(name), "spec": more})
	}
	if counted {
		slice("counters-"+node, generation, total, object{"sharedCounters": list{
			object{"name": "set0", "counters": object{"mem": object{"value": pick(g, "40Gi", "60Gi")}, "cores": object{"value": pick(g, "4", "7")}}},
			object{"name": "set1", "counters": object{"mem": object{"value": pick(g, "40Gi", "10Gi")}, "cores": object{"value": "4"}}}}})
	}
	k := 0
	for s := range slices {
		all := list{}
		for range g.IntN(4) {
			all = append(all, g.aDevice(drv, pool, fmt.Sprintf("d%d", k), counted, false))
			k++
		}
		slice(fmt.Sprintf("more-%s-%d", node, s), generation, total, object{"devices": all})
	}
	if generation == 2 && g.chance(50) {
		slice("old-"+node, 1, 1, object{"devices": list{g.aDevice(drv, pool, "old", false, false)}})
	}
}

func (g *gen) moreClaims(name string) {
	c := object{"metadata": object{"name": name, "namespace": pick(g, g.spaces...), "uid": "uid-" + name}, "spec": g.claimSpec()}
	if len(g.devices.all) > 0 && g.chance(30) {
		results := list{}
		for range 1 + g.IntN(2) {
			d := pick(g, g.devices.all...)
			r := object{"request": pick(g, "r0", "r0", "r0/s0"), "driver": d["driver"], "pool": d["pool"], "device": d["device"]}
			if d["shared"] == true {
				r["shareID"] = fmt.Sprintf("00000000-0000-0000-0000-%012d", g.IntN(1000000))
				r["consumedCapacity"] = object{"memory": pick(g, "1Gi", "8Gi")}
			}
			if g.chance(10) {
				r["adminAccess"] = true
			}
			results = append(results, r)
		}
		a := in(c, "status", "allocation")
		a["devices"] = object{"results": results}
		if g.chance(80) {
			here := object{"matchFields": list{object{"key": "metadata.name", "operator": "In", "values": list{pick(g, g.nodes...).Name}}}}
			a["nodeSelector"] = object{"nodeSelectorTerms": list{pick(g, here, here, g.plainTerm())}}
		}
		if g.chance(40) {
			in(c, "status")["reservedFor"] = list{object{"resource": "pods", "name": "somebody", "uid": "uid-somebody"}}
		}
	}
	if g.chance(4) {
		in(c, "metadata")["deletionTimestamp"], in(c, "metadata")["finalizers"] = "2026-01-01T00:00:00Z", list{"example.com/hold"}
	}
	g.devices.claims = append(g.devices.claims, g.of(resourceAPI, "ResourceClaim", c))
}

// useDevices gives a pod extended resources, claims, or both.
func (g *gen) useDevices(p *v1.Pod, running bool) {
	if running && g.chance(60) {
		return
	}
	if g.chance(30) {
		for i := range min(len(p.Spec.Containers), 1+g.IntN(2)) {
			r := &p.Spec.Containers[i].Resources
			if r.Requests == nil {
				r.Requests = v1.ResourceList{}
			}
			name := v1.ResourceName(pick(g, "example.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/any", "deviceclass.resource.kubernetes.io/gpus", "example.com/widget", "deviceclass.resource.kubernetes.io/absent"))
			r.Requests[name] = q(pick(g, "1", "1", "2", "0"))
			if r.Limits == nil {
				r.Limits = v1.ResourceList{}
			}
			r.Limits[name] = r.Requests[name]
		}
		if g.chance(60) {
			return
		}
	}
	if p.UID == "" {
		p.UID = types.UID("uid-" + p.Name)
	}
	settled := len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) > 0 // its namespace is fixed, too
	for i := range 1 + g.IntN(2) {
		c := pick(g, g.devices.claims...)
		m := in(c, "metadata")
		if settled && m["namespace"] != p.Namespace {
			continue
		}
		settled, p.Namespace = true, m["namespace"].(string)
		name, claim := fmt.Sprintf("x%d", i), m["name"].(string)
		r := v1.PodResourceClaim{Name: name}
		switch {
		case g.chance(20):
			template := "template"
			r.ResourceClaimTemplateName = &template
			if g.chance(85) {
				s := v1.PodResourceClaimStatus{Name: name, ResourceClaimName: &claim}
				if g.chance(10) {
					s.ResourceClaimName = nil // none is needed
				}
				p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, s)
			}
		default:
			if g.chance(3) {
				claim = "missing"
			}
			r.ResourceClaimName = &claim
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, r)
		p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, v1.ResourceClaim{Name: name})
		if s, ok := c["status"].(object); ok && running && g.chance(70) {
			held, _ := s["reservedFor"].(list)
			s["reservedFor"] = append(held, object{"resource": "pods", "name": p.Name, "uid": string(p.UID)})
		}
	}
}
