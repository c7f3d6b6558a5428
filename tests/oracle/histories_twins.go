// SPDX-License-Identifier: Apache-2.0

// histories, profiles twins, dra and rules: a scenario with all features becomes a history. Its pending pods get twins that
// differ in one field, to find state cached for one pod and used for another; all are tried at least twice, minutes apart,
// while the cluster changes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// twins generates one history. Objects are plain maps: a step may set any field.
type twins struct {
	*gen
	world   map[string]object // as last written
	ids     []string          // keys in world, oldest first
	gone    []object          // deleted objects, which may be re-created
	steps   []Step
	mostly  bool           // mainly about dynamic resources
	pools   bool           // pools may be incomplete, and then no request has mode All: upstream's result depends on the order of a map
	members map[string]int // slices per generation of a pool
}

// likely is the probability of a feature, in percent.
var likely = map[string]map[string]int{
	"twins": {"fit": 25, "affinity": 15, "taints": 20, "ports": 20, "images": 10, "spread": 20, "interpod": 20, "gates": 15, "nominated": 25, "edge": 15, "v137": 20, "vol2": 10, "dra2": 20, "preemption": 80, "config": 5},
	"dra":   {"dra2": 100, "preemption": 70, "fit": 20, "taints": 15, "nominated": 25, "gates": 10, "edge": 15, "interpod": 5, "v137": 10},
	// With gates of 1.37.
	"gated": {"dra2": 100, "lists": 100, "skipops": 100, "fractions": 100, "compat": 100, "derived": 60, "preemption": 50, "nominated": 15, "gates": 10},
	// Devices that count as node resources, from 1.36 on.
	"allocatable": {"dra2": 100, "nodealloc": 100, "preemption": 50, "fit": 15, "nominated": 15, "gates": 10},
	"rules":       {"dra2": 100, "taintrules": 100, "preemption": 50, "nominated": 15, "gates": 10, "edge": 15},
}

func twinHistory(profile string, seed uint64) (*History, error) {
	t := &twins{gen: &gen{Rand: rand.New(rand.NewPCG(seed, 0x7477696e)), on: map[string]bool{}}, world: map[string]object{}, mostly: profile != "twins", members: map[string]int{}}
	t.pools = t.chance(50)
	for _, f := range append(append([]string{}, features...), laterFeatures...) {
		t.on[f] = t.chance(likely[profile][f])
	}
	for _, f := range gateFeatures {
		t.on[f] = likely[profile][f] > 0 // all histories of a profile have the same gates
	}
	sc, err := t.scenario(fmt.Sprintf("%s-%d", profile, seed), 1+t.IntN(5), 2+t.IntN(5))
	if err != nil {
		return nil, err
	}
	h := &History{ID: sc.ID, Note: sc.Note, Gates: sc.Gates, Config: sc.Config}
	waiting := 0
	for _, line := range sc.Objects {
		if o := parsed(line); o["kind"] == "ResourceSlice" {
			pool := in(o, "spec", "pool")
			t.members[fmt.Sprint(pool["name"], pool["generation"])]++
		}
	}
	for _, line := range sc.Objects {
		for i, o := range t.begin(parsed(line), sc.Pending) {
			if slices.Contains(sc.Pending, place(o)) || i > 0 {
				waiting++
			}
			t.put(o)
		}
	}
	for _, s := range t.steps {
		h.Objects = append(h.Objects, s.Create)
	}
	t.steps = nil
	t.round(waiting, 12)
	t.wait(25)
	t.round(waiting, 12)
	for range 1 + t.IntN(2) {
		for range 1 + t.IntN(4) {
			t.stir()
		}
		t.wait(pick(t.gen, 330, 330, 361.5, 400))
		t.round(waiting/2+1, 20)
	}
	h.Steps = t.steps
	return h, nil
}

// round tries so many pods, with events between and during cycles.
func (t *twins) round(n, percent int) {
	for range n {
		how := &CycleStep{FailBind: t.chance(3)}
		if t.chance(6) {
			how.Pin = t.node()
		}
		if t.chance(percent / 2) {
			t.steps = append(t.steps, Step{CycleBegin: how})
			t.stir()
			t.steps = append(t.steps, Step{CycleEnd: &struct{}{}})
		} else {
			t.steps = append(t.steps, Step{Cycle: how})
		}
		if t.chance(percent) {
			t.stir()
		}
		if t.chance(10) {
			t.wait(pick(t.gen, 1.5, 3, 12))
		}
	}
}

func (t *twins) wait(seconds float64) { t.steps = append(t.steps, Step{Advance: seconds}) }

// begin adapts an object of a scenario to a history, and adds a pending pod's twins.
func (t *twins) begin(o object, pending []string) []object {
	m := in(o, "metadata")
	switch o["kind"] {
	case "PersistentVolumeClaim": // no volume controller runs: no claim may wait for one
		if spec := in(o, "spec"); spec["volumeName"] == nil {
			spec["storageClassName"] = "now"
			delete(in(m, "annotations"), "volume.beta.kubernetes.io/storage-class")
		}
	case "ResourceSlice": // nor a driver
		all, _ := in(o, "spec")["devices"].(list)
		for _, d := range all {
			delete(d.(object), "bindingConditions")
			delete(d.(object), "bindingFailureConditions")
		}
		if pool := in(o, "spec", "pool"); !t.pools {
			pool["resourceSliceCount"] = t.members[fmt.Sprint(pool["name"], pool["generation"])]
		}
	case "ResourceClaim":
		requests, _ := in(o, "spec", "devices")["requests"].(list)
		for _, r := range requests {
			of, _ := r.(object)["firstAvailable"].(list)
			if e, ok := r.(object)["exactly"].(object); ok {
				of = append(of, e)
			}
			for _, r := range of {
				if t.pools && r.(object)["allocationMode"] == "All" {
					delete(r.(object), "allocationMode")
				}
			}
		}
	case "Pod":
		status := in(o, "status")
		delete(status, "startTime") // the harness sets start times without ties
		if status["phase"] == "Succeeded" || status["phase"] == "Failed" || m["deletionTimestamp"] != nil && t.chance(70) {
			return nil
		}
		if !slices.Contains(pending, place(o)) {
			break
		}
		all := []object{o}
		for i := range t.IntN(3) {
			all = append(all, t.twin(o, i))
		}
		return all
	}
	return []object{o}
}

func place(o object) string {
	m := in(o, "metadata")
	ns, _ := m["namespace"].(string)
	return ns + "/" + m["name"].(string)
}

// parsed preserves the text of numbers.
func parsed(line []byte) object {
	var o object
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		panic(err)
	}
	return o
}

func copied(o object) object { return parsed(raw(plain(o))) }

// twin is the same pod except for its name and at most one more field.
func (t *twins) twin(of object, i int) object {
	o := copied(of)
	m, spec := in(o, "metadata"), in(o, "spec")
	m["name"] = fmt.Sprintf("%s-twin-%d", m["name"], i)
	delete(m, "uid")
	switch t.IntN(12) {
	case 0, 1, 2:
		if spec["preemptionPolicy"] == "Never" {
			delete(spec, "preemptionPolicy")
		} else {
			spec["preemptionPolicy"] = "Never"
		}
	case 3, 4:
		spec["priority"] = pick(t.gen, 0, 10, 1000, 2147483647)
	case 9:
		in(o, "status")["nominatedNodeName"] = t.node()
	case 10:
		o["status"] = object{}
	case 11: // nothing
	default:
		t.change(o)
	}
	return o
}

// change changes a pod's label, request or toleration.
func (t *twins) change(o object) {
	spec := in(o, "spec")
	switch t.IntN(4) {
	case 0:
		in(o, "metadata", "labels")[pick(t.gen, "app", "tier", "rev")] = pick(t.gen, "web", "db", "front", "2")
	case 1, 2:
		c := spec["containers"].(list)[0].(object)
		in(c, "resources", "requests")[pick(t.gen, "cpu", "cpu", "memory")] = pick(t.gen, "50m", "1", "2500m", "1Gi")
	case 3:
		all, _ := spec["tolerations"].(list)
		spec["tolerations"] = append(all, object{"key": pick(t.gen, "dedicated", "gpu", "node.kubernetes.io/unschedulable"), "operator": "Exists"})
	}
}

// ---- writing

func (t *twins) put(o object) {
	id := fmt.Sprint(o["kind"], " ", place(o))
	line := raw(plain(o))
	if _, ok := t.world[id]; ok {
		t.steps = append(t.steps, Step{Update: line})
	} else {
		t.steps = append(t.steps, Step{Create: line})
		t.ids = append(t.ids, id)
	}
	t.world[id] = o
}

func (t *twins) drop(o object) {
	m := in(o, "metadata")
	ns, _ := m["namespace"].(string)
	t.steps = append(t.steps, Step{Delete: &Ref{APIVersion: o["apiVersion"].(string), Kind: o["kind"].(string), Namespace: ns, Name: m["name"].(string)}})
	id := fmt.Sprint(o["kind"], " ", place(o))
	delete(t.world, id)
	t.ids = slices.DeleteFunc(t.ids, func(x string) bool { return x == id })
	t.gone = append(t.gone, o)
}

// some returns a copy of any object for which right returns true, or nil.
func (t *twins) some(right func(o object) bool) object {
	var from []object
	for _, id := range t.ids {
		if right(t.world[id]) {
			from = append(from, t.world[id])
		}
	}
	if len(from) == 0 {
		return nil
	}
	return copied(pick(t.gen, from...))
}

func (t *twins) any(kind string) object {
	return t.some(func(o object) bool { return o["kind"] == kind })
}

func (t *twins) pod(bound bool) object {
	return t.some(func(o object) bool { return o["kind"] == "Pod" && (in(o, "spec")["nodeName"] != nil) == bound })
}

func (t *twins) node() string {
	if n := t.any("Node"); n != nil {
		return in(n, "metadata")["name"].(string)
	}
	return "gone"
}

// ---- events

// stir makes a change in the cluster.
func (t *twins) stir() {
	if (t.mostly || t.on["dra2"] && t.chance(40)) && t.chance(60) {
		t.stirDevices()
		return
	}
	switch t.IntN(16) {
	case 0, 1, 2, 3:
		if n := t.any("Node"); n != nil {
			t.stirNode(n)
		}
	case 4:
		if n := t.any("Node"); n != nil && t.chance(50) {
			t.drop(n)
		}
	case 5, 6, 7, 8:
		if p := t.pod(true); p != nil {
			t.drop(p)
		}
	case 9:
		if p := t.pod(true); p != nil {
			in(p, "status")["phase"] = pick(t.gen, "Succeeded", "Failed")
			t.put(p)
		}
	case 10, 11, 12:
		if p := t.pod(false); p != nil {
			t.stirPod(p)
		}
	case 13:
		if p := t.pod(t.chance(50)); p != nil {
			t.change(p)
			delete(p, "status")
			t.put(p)
		}
	case 14:
		if b := t.any("PodDisruptionBudget"); b != nil {
			in(b, "status")["disruptionsAllowed"] = t.IntN(3)
			t.put(b)
		} else if n := t.any("Namespace"); n != nil {
			in(n, "metadata", "labels")["team"] = pick(t.gen, "red", "blue")
			t.put(n)
		}
	case 15:
		if len(t.gone) > 0 { // re-created with a new UID
			o := copied(pick(t.gen, t.gone...))
			delete(in(o, "metadata"), "uid")
			t.put(o)
		}
	}
}

func (t *twins) stirNode(n object) {
	spec, labels := in(n, "spec"), in(n, "metadata", "labels")
	amounts := in(n, "status", "allocatable")
	switch t.IntN(8) {
	case 0:
		labels[pick(t.gen, "disk", "rack", "topology.kubernetes.io/zone")] = pick(t.gen, "ssd", "a", "z1", "z2")
	case 1:
		amounts["cpu"] = pick(t.gen, "1", "4", "8")
	case 2:
		amounts["pods"] = pick(t.gen, "3", "110")
	case 3:
		delete(spec, "taints")
		delete(spec, "unschedulable")
	case 4:
		spec["taints"] = list{object{"key": pick(t.gen, "dedicated", "gpu"), "value": "a", "effect": pick(t.gen, "NoSchedule", "PreferNoSchedule", "NoExecute")}}
	case 5:
		spec["unschedulable"] = spec["unschedulable"] != true
	case 6: // a device plugin appears or disappears
		name := pick(t.gen, "example.com/gpu", "example.com/widget", "nvidia.com/gpu")
		if amounts[name] != nil && t.chance(50) {
			delete(amounts, name)
		} else {
			amounts[name] = pick(t.gen, "0", "1", "4")
		}
	case 7:
		in(n, "metadata", "annotations")["note"] = fmt.Sprint(len(t.steps))
	}
	t.put(n)
}

// stirPod changes a pod that may be waiting, including its status.
func (t *twins) stirPod(p object) {
	switch t.IntN(7) {
	case 0:
		t.drop(p)
		return
	case 1:
		delete(in(p, "spec"), "schedulingGates")
		delete(p, "status")
	case 2:
		p["status"] = object{"phase": "Pending"}
	case 3:
		in(p, "status")["nominatedNodeName"] = t.node()
	case 4:
		in(p, "metadata")["deletionTimestamp"], in(p, "metadata")["finalizers"] = "2026-01-01T00:00:00Z", list{"example.com/hold"}
		delete(p, "status")
	default:
		t.change(p)
		delete(p, "status")
	}
	t.put(p)
}

// templated lists a pod's claims generated from templates.
func templated(o object) []any {
	var names []any
	if o["kind"] == "Pod" {
		all, _ := in(o, "spec")["resourceClaims"].(list)
		for _, r := range all {
			if r.(object)["resourceClaimTemplateName"] != nil {
				names = append(names, r.(object)["name"])
			}
		}
	}
	return names
}

// stirDevices writes as claim controllers, drivers and administrators do.
// stirRules changes taints of devices: other devices, other taints, or none.
func (t *twins) stirRules() {
	r := t.any("DeviceTaintRule")
	if r != nil && t.chance(30) {
		t.drop(r)
		return
	}
	if r == nil || t.chance(40) {
		r = object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": object{"name": fmt.Sprintf("rule-%d", t.IntN(5))}}
	}
	spec := object{"taint": object{"key": pick(t.gen, "bad", "sick"), "value": pick(t.gen, "a", "b"), "effect": pick(t.gen, "NoSchedule", "NoSchedule", "NoExecute", "None"),
		"timeAdded": pick(t.gen, "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")}}
	if t.chance(90) { // without a selector it selects no device
		sel := object{}
		if len(t.devices.all) > 0 {
			d := pick(t.gen, t.devices.all...)
			for _, field := range []string{"driver", "pool", "device"} {
				if t.chance(50) {
					sel[field] = d[field]
				}
			}
		}
		spec["deviceSelector"] = sel
	}
	r["spec"] = spec
	t.put(r)
}

func (t *twins) stirDevices() {
	if t.on["taintrules"] && t.chance(40) {
		t.stirRules()
		return
	}
	c, s := t.any("ResourceClaim"), t.any("ResourceSlice")
	switch what := t.IntN(14); {
	case what < 7 && c != nil:
		status := in(c, "status")
		switch what {
		case 0: // deallocated
			c["status"] = object{}
		case 1:
			delete(status, "reservedFor")
		case 2:
			if status["allocation"] != nil {
				status["reservedFor"] = list{object{"resource": "pods", "name": "somebody", "uid": "uid-somebody"}}
			}
		case 3, 4: // allocated elsewhere, without a reservation
			if len(t.devices.all) > 0 && status["allocation"] == nil {
				d := pick(t.gen, t.devices.all...)
				r := object{"request": "r0", "driver": d["driver"], "pool": d["pool"], "device": d["device"]}
				if d["shared"] == true {
					r["shareID"], r["consumedCapacity"] = "00000000-0000-0000-0000-000000000001", object{"memory": "1Gi"}
				}
				status["allocation"] = object{"devices": object{"results": list{r}}, "nodeSelector": object{"nodeSelectorTerms": list{object{"matchFields": list{
					object{"key": "metadata.name", "operator": "In", "values": list{t.node()}}}}}}}
			}
		case 5:
			t.drop(c)
			return
		case 6:
			in(c, "metadata", "annotations")["note"] = fmt.Sprint(len(t.steps))
		}
		t.put(c)
	case what < 11 && s != nil && (t.pools || what == 8 || what == 9):
		all, _ := in(s, "spec")["devices"].(list)
		switch what {
		case 7:
			t.drop(s)
			return
		case 8:
			if len(all) > 0 {
				in(s, "spec")["devices"] = all[:len(all)-1]
			}
		case 9:
			for _, d := range all {
				if t.chance(50) {
					d.(object)["taints"] = list{object{"key": "bad", "effect": "NoSchedule"}}
				} else {
					delete(d.(object), "taints")
				}
			}
		case 10:
			pool := in(s, "spec", "pool")
			pool["resourceSliceCount"] = 1 + t.IntN(2)
		}
		t.put(s)
	case what == 11:
		if d := t.any("DeviceClass"); d != nil {
			if t.chance(30) {
				t.drop(d)
				return
			}
			delete(in(d, "spec"), "selectors")
			t.put(d)
		}
	case what == 12: // creates a template's claim
		p := t.some(func(o object) bool { return len(templated(o)) > 0 })
		if p == nil || c == nil {
			return
		}
		status := list{}
		for _, name := range templated(p) {
			status = append(status, object{"name": name, "resourceClaimName": in(c, "metadata")["name"]})
		}
		in(p, "status")["resourceClaimStatuses"] = status
		t.put(p)
	default:
		if p := t.some(func(o object) bool { return o["kind"] == "Pod" && in(o, "spec")["resourceClaims"] != nil }); p != nil {
			t.drop(p)
		}
	}
}
