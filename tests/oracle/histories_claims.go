// SPDX-License-Identifier: Apache-2.0

// histories, profiles groupclaims and groupclaimspreempt: PodGroups whose pods share ResourceClaims, and pods with their
// own claims, while claims, slices, groups and pods are added and deleted. Profiles groupallocatable and
// groupallocatablepreempt: the same with devices that are resources of their nodes.
package main

import (
	"encoding/json"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// claimGate is the gate that these histories test.
const claimGate = ",DRAWorkloadResourceClaims=true"

// groupClaims is a history's state of devices.
type groupClaims struct {
	claims []string            // names of ResourceClaims
	of     map[string][]object // by group: its spec.resourceClaims
	uids   map[string]string   // of groups
	world  map[string]object   // last written, by kind and name
	serial int
	mapped bool // devices are resources of their nodes
}

func (t *together) putObject(o object) {
	c := t.claims
	k := o["kind"].(string) + in(o, "metadata")["name"].(string)
	b, _ := json.Marshal(o)
	if c.world[k] == nil {
		t.steps = append(t.steps, Step{Create: b})
	} else {
		t.steps = append(t.steps, Step{Update: b})
	}
	c.world[k] = o
}

func (t *together) dropObject(kind, name string) {
	c := t.claims
	o := c.world[kind+name]
	if o == nil {
		return
	}
	ref := &Ref{APIVersion: o["apiVersion"].(string), Kind: kind, Name: name}
	if ns, ok := in(o, "metadata")["namespace"].(string); ok {
		ref.Namespace = ns
	}
	t.steps = append(t.steps, Step{Delete: ref})
	delete(c.world, kind+name)
}

// equip creates a class, slices, and claims.
func (t *together) equip(mapped bool) {
	t.claims = &groupClaims{mapped: mapped, of: map[string][]object{}, uids: map[string]string{}, world: map[string]object{}}
	t.putObject(object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": object{"name": "any-gpu"}, "spec": object{}})
	for _, n := range t.nodeIDs {
		if t.chance(85) {
			t.slice(n)
		}
	}
	if t.chance(25) { // devices for every node
		t.putObject(t.sliceOf("shared", object{"allNodes": true}, 1+t.IntN(2)))
	}
	for range 1 + t.IntN(4) {
		t.newClaim("")
	}
}

func (t *together) sliceOf(name string, reach object, devices int) object {
	all := list{}
	for i := range devices {
		d := object{"name": fmt.Sprintf("gpu-%d", i)}
		if t.claims.mapped && t.chance(80) {
			t.nodeResources(d)
		}
		all = append(all, d)
	}
	spec := object{"driver": driver, "pool": object{"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": all}
	for k, v := range reach {
		spec[k] = v
	}
	return object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": object{"name": "slice-" + name}, "spec": spec}
}

func (t *together) slice(node string) {
	t.putObject(t.sliceOf(node, object{"nodeName": node}, 1+t.IntN(3)))
}

// newClaim creates a claim, possibly owned by a group.
func (t *together) newClaim(owner string) string {
	c := t.claims
	name := fmt.Sprintf("c%d", c.serial)
	c.serial++
	c.claims = append(c.claims, name)
	t.putClaim(name, owner)
	return name
}

func (t *together) putClaim(name, owner string) {
	exactly := object{"deviceClassName": pick(t.gen, "any-gpu", "any-gpu", "any-gpu", "any-gpu", "any-gpu", "any-gpu", "absent"), "allocationMode": "ExactCount", "count": pick(t.gen, 1, 1, 1, 2)}
	request := object{"name": "r0", "exactly": exactly}
	if t.chance(15) {
		sub := func(name string, n int) object {
			return object{"name": name, "deviceClassName": "any-gpu", "allocationMode": "ExactCount", "count": n}
		}
		request = object{"name": "r0", "firstAvailable": list{sub("s0", 2), sub("s1", 1)}}
	}
	metadata := object{"name": name, "namespace": "default"}
	if owner != "" {
		uid := t.claims.uids[owner]
		if t.chance(5) {
			uid = "uid-other"
		}
		metadata["ownerReferences"] = list{object{"apiVersion": "scheduling.k8s.io/" + t.version, "kind": "PodGroup", "name": owner, "uid": uid, "controller": true}}
	}
	o := object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": object{"devices": object{"requests": list{request}}}}
	if t.chance(15) {
		t.allocated(o)
	}
	t.putObject(o)
}

// allocated gives a claim a device, and possibly consumers.
func (t *together) allocated(o object) {
	node := pick(t.gen, t.nodeIDs...)
	status := in(o, "status")
	status["allocation"] = object{"devices": object{"results": list{object{"request": "r0", "driver": driver, "pool": node, "device": fmt.Sprintf("gpu-%d", t.IntN(3))}}},
		"nodeSelector": object{"nodeSelectorTerms": list{object{"matchFields": list{object{"key": "metadata.name", "operator": "In", "values": list{node}}}}}}}
	t.consumed(status)
}

func (t *together) consumed(status object) {
	delete(status, "reservedFor")
	switch t.IntN(4) {
	case 0:
		status["reservedFor"] = list{object{"resource": "pods", "name": "somebody", "uid": "uid-somebody"}}
	case 1, 2:
		if len(t.groups) > 0 {
			g := pick(t.gen, t.groups...)
			uid := t.claims.uids[g]
			if t.chance(10) || uid == "" {
				uid = "uid-former"
			}
			status["reservedFor"] = list{object{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": g, "uid": uid}}
		}
	}
}

// share adds claims to a group's object. Their names stay when it is re-created.
func (t *together) share(name string, o map[string]any) {
	c := t.claims
	if c.uids[name] == "" || t.chance(15) {
		c.uids[name] = fmt.Sprintf("uid-%s-%d", name, len(t.steps))
	}
	o["metadata"].(map[string]any)["uid"] = c.uids[name]
	all, seen := c.of[name]
	if !seen {
		for i := range pick(t.gen, 0, 1, 1, 1, 1, 2) {
			claim := object{"name": fmt.Sprintf("x%d", i)}
			if t.chance(55) {
				claim["resourceClaimName"] = pick(t.gen, c.claims...)
			} else {
				claim["resourceClaimTemplateName"] = pick(t.gen, "template", "other")
			}
			all = append(all, claim)
		}
		c.of[name] = all
	}
	if len(all) == 0 {
		return
	}
	claims, statuses := list{}, list{}
	for _, claim := range all {
		claims = append(claims, claim)
		if claim["resourceClaimTemplateName"] == nil || !t.chance(92) {
			continue
		}
		s := object{"name": claim["name"]}
		if t.chance(96) {
			s["resourceClaimName"] = t.generated(name, claim["name"].(string))
		}
		statuses = append(statuses, s)
	}
	o["spec"].(map[string]any)["resourceClaims"] = claims
	if len(statuses) > 0 {
		o["status"] = object{"resourceClaimStatuses": statuses}
	}
}

// generated is the name of the claim created for a group from a template.
func (t *together) generated(group, claim string) string {
	name := group + "-" + claim
	if t.claims.world["ResourceClaim"+name] == nil && t.chance(90) {
		t.claims.claims = append(t.claims.claims, name)
		t.putClaim(name, group)
	}
	return name
}

// consume adds the claims of its group, and others, to a member.
func (t *together) consume(p *v1.Pod, group string) {
	c := t.claims
	add := func(r v1.PodResourceClaim) {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, r)
		p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, v1.ResourceClaim{Name: r.Name})
	}
	var named []string
	own := func() {
		name := pick(t.gen, c.claims...)
		if t.chance(60) {
			name = t.newClaim("")
		}
		if !slices.Contains(named, name) { // conflicts of the API server would prevent binding of a pod that names a claim twice
			named = append(named, name)
			add(v1.PodResourceClaim{Name: fmt.Sprintf("own%d", len(named)), ResourceClaimName: &name})
		}
	}
	if t.chance(15) {
		own()
	}
	for _, claim := range c.of[group] {
		if !t.chance(85) {
			continue
		}
		r := v1.PodResourceClaim{Name: claim["name"].(string)}
		if t.chance(6) { // another name: then it is the pod's own claim
			r.Name = "y" + r.Name
		}
		if name, ok := claim["resourceClaimName"].(string); ok {
			if slices.Contains(named, name) {
				continue
			}
			named = append(named, name)
			r.ResourceClaimName = &name
		} else {
			template := claim["resourceClaimTemplateName"].(string)
			if t.chance(4) {
				template = "third"
			}
			r.ResourceClaimTemplateName = &template
			if t.chance(92) {
				s := v1.PodResourceClaimStatus{Name: r.Name}
				name := t.generated(group, claim["name"].(string))
				if t.chance(4) {
					name = pick(t.gen, c.claims...)
				}
				if t.chance(97) {
					s.ResourceClaimName = &name
				}
				if slices.Contains(named, name) {
					continue
				}
				named = append(named, name)
				p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, s)
			}
		}
		add(r)
	}
	if t.chance(12) {
		own()
	}
}

// devicesHappen: writes of claim controllers, drivers and administrators.
func (t *together) devicesHappen() {
	c := t.claims
	name := pick(t.gen, c.claims...)
	o := c.world["ResourceClaim"+name]
	switch what := t.IntN(9); {
	case what == 0 && o != nil:
		t.dropObject("ResourceClaim", name)
	case what == 0:
		t.putClaim(name, "")
	case what < 6 && o != nil:
		o = copied(o)
		switch what {
		case 1, 2:
			delete(o, "status")
		case 3:
			t.allocated(o)
		default:
			if in(o, "status")["allocation"] != nil {
				t.consumed(in(o, "status"))
			} else {
				t.allocated(o)
			}
		}
		t.putObject(o)
	case what == 6:
		t.slice(pick(t.gen, t.nodeIDs...))
	case what == 7:
		t.dropObject("ResourceSlice", "slice-"+pick(t.gen, t.nodeIDs...))
	default:
		t.newClaim("")
	}
}
