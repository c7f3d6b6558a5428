// SPDX-License-Identifier: Apache-2.0

// generate, features of gates that are off by default: fields of dynamic resources that are ignored without the gate, or
// that hide devices then. They extend dra2.
package main

import (
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// gateFeatures must be requested by name, and extend dra2. With "gateless" the gates stay off, to test
// the fields without them.
var gateFeatures = []string{"lists", "skipops", "fractions", "compat", "derived", "nodealloc", "gateless", "mounts"}

var gateOf = map[string]string{
	"lists":     "DRAListTypeAttributes=true",
	"skipops":   "DRAOptionalNodeOperations=true",
	"fractions": "DRAFractionalCapacityRange=true",
	"compat":    "DRADeviceCompatibilityGroups=true",
	"derived":   "DRADerivedAttributes=true",
	"nodealloc": "DRANodeAllocatableResources=true",
}

// gates lists the gates that the features need.
func (g *gen) gates() string {
	var all []string
	for _, f := range gateFeatures {
		if gate := gateOf[f]; gate != "" && g.on[f] && !g.on["gateless"] {
			all = append(all, gate)
		}
	}
	return strings.Join(all, ",")
}

func sample[T any](g *gen, most int, from ...T) list {
	out := list{}
	for range 1 + g.IntN(most) {
		out = append(out, pick(g, from...))
	}
	return out
}

// byGates changes devices and claims after all objects are created.
func (g *gen) byGates() {
	for i, o := range g.objects {
		if g.on["mounts"] { // the API server of 1.37 alone stores a node's declared features, without a gate
			g.objects[i] = g.optionMounts(o)
		}
		if g.on["nodealloc"] {
			g.objects[i] = g.allocatable(o)
		}
		switch o := o.(type) {
		case *unstructured.Unstructured:
			spec, _ := o.Object["spec"].(object)
			switch o.GetKind() {
			case "ResourceSlice":
				g.gatedSlice(spec)
			case "ResourceClaim":
				if g.on["derived"] && g.chance(70) {
					g.derivingClaim(spec)
					delete(o.Object, "status")
					break
				}
				g.gatedClaim(spec)
				if status, ok := o.Object["status"].(object); ok && g.on["skipops"] && g.chance(50) {
					results, _ := in(status, "allocation", "devices")["results"].(list)
					for _, r := range results {
						r.(object)["skipNodeOperations"] = list{"*"}
					}
				}
			case "DeviceClass":
				if g.on["lists"] && g.chance(10) {
					spec["selectors"] = g.listSelector()
				}
			}
		case *v1.Node:
			if g.on["skipops"] && g.chance(70) {
				o.Status.DeclaredFeatures = append(o.Status.DeclaredFeatures, "DRAOptionalNodeOperations")
			}
		}
	}
}

func (g *gen) gatedSlice(spec object) {
	if g.on["skipops"] && g.chance(50) {
		spec["skipNodeOperations"] = pick(g, list{"*"}, list{"NodePrepareResources"}, list{"NodePrepareResources", "NodeUnprepareResources"})
	}
	all, _ := spec["devices"].(list)
	for _, d := range all {
		d := d.(object)
		if g.on["lists"] {
			g.listAttributes(in(d, "attributes"))
		}
		if g.on["fractions"] && g.chance(70) {
			g.fractions(d)
		}
		uses, _ := d["consumesCounters"].(list)
		for _, u := range uses {
			if g.on["compat"] && g.chance(70) {
				u.(object)["compatibilityGroups"] = sample(g, 2, "a", "b", "c")
			}
		}
	}
}

func (g *gen) listAttributes(attrs object) {
	if g.chance(50) {
		attrs["numa"] = object{"ints": sample(g, 3, int64(0), 1, 2)}
	}
	if g.chance(40) {
		attrs["model"] = object{"strings": sample(g, 3, "a100", "h100", "t4")}
	}
	if g.chance(20) {
		attrs["healthy"] = object{"bools": sample(g, 2, true, false)}
	}
	if g.chance(30) {
		attrs["x"] = pick(g, object{"versions": sample(g, 3, "1.0.0", "1.2.3", "2.0.0-rc.1")}, object{"ints": sample(g, 2, int64(0), 1, -5)}, object{"strings": sample(g, 2, "a100", "")}, object{"bools": sample(g, 1, true, false)})
	}
}

func (g *gen) listSelector() list {
	attr := `device.attributes["` + driver + `"]`
	return list{object{"cel": object{"expression": pick(g,
		attr+`.model.includes("a100")`,
		`has(`+attr+`.model) && `+attr+`.model.includes("h100")`,
		`"numa" in `+attr+` && `+attr+`.numa.includes(1)`,
		`has(`+attr+`.x) && `+attr+`.x.includes(semver("1.2.3"))`,
		`has(`+attr+`.x) && `+attr+`.x.includes("a100")`,
		`type(`+attr+`.?model.orValue("")) == string || "t4" in `+attr+`.model`,
		`type(`+attr+`.?numa.orValue(0)) == list ? `+attr+`.numa.exists(n, n > 0) : true`,
		`type(`+attr+`.?numa.orValue(0)) == list ? `+attr+`.numa.all(n, n < 2) : `+attr+`.?numa.orValue(0) < 1`,
		`has(`+attr+`.healthy) && `+attr+`.healthy`,
		`has(`+attr+`.healthy) && `+attr+`.healthy.exists(h, h)`,
		`size(dyn(`+attr+`.?model.orValue(""))) > 1`,
		attr+`.?numa.orValue([]) == [0, 1]`,
		`"numa" in `+attr+` && `+attr+`.numa < 1`,
		`dyn(true)`, `true`)}}}
}

func (g *gen) fractions(d object) {
	r := object{"min": pick(g, "100m", "250m", "500m", "1", "1500m", "100u", "2")}
	if g.chance(60) {
		r["max"] = pick(g, "1", "2500m", "4", "10E")
	}
	if g.chance(80) {
		r["step"] = pick(g, "100m", "250m", "300m", "1", "1500m", "100u")
	}
	d["allowMultipleAllocations"] = true
	in(d, "capacity")["share"] = object{"value": pick(g, "1", "2", "4", "10E"), "requestPolicy": object{"default": pick(g, "1", "500m", "2"), "validRange": r}}
}

// requestsOf lists a claim's requests and alternatives.
func requestsOf(spec object) []object {
	var all []object
	requests, _ := in(spec, "devices")["requests"].(list)
	for _, r := range requests {
		subs, _ := r.(object)["firstAvailable"].(list)
		if e, ok := r.(object)["exactly"].(object); ok {
			subs = append(subs, e)
		}
		for _, s := range subs {
			all = append(all, s.(object))
		}
	}
	return all
}

func (g *gen) gatedClaim(spec object) {
	for _, r := range requestsOf(spec) {
		if g.on["lists"] && g.chance(40) {
			r["selectors"] = g.listSelector()
		}
		if g.on["fractions"] && g.chance(60) {
			r["capacity"] = object{"requests": object{"share": pick(g, "50m", "150m", "300m", "600m", "700m", "1", "1250m", "1u", "9E")}}
		}
		if g.on["derived"] && g.chance(60) {
			r["derivedAttributes"] = g.derivedAttributes()
		}
	}
	if !(g.on["lists"] || g.on["derived"]) || !g.chance(60) {
		return
	}
	constraints := list{}
	for range 1 + g.IntN(2) {
		constraints = append(constraints, object{pick(g, "matchAttribute", "matchAttribute", "distinctAttribute"): pick(g, driver+"/model", driver+"/numa", driver+"/x", driver+"/healthy", "example.org/made")})
	}
	in(spec, "devices")["constraints"] = constraints
}

// derivingClaim makes the claim depend on its derived attributes.
func (g *gen) derivingClaim(spec object) {
	attr := `device.attributes["` + driver + `"]`
	names := []string{"example.org/made", driver + "/numa", "derived/other"}
	expressions := []string{attr + `.?numa.orValue(0)`, attr + `.?model.orValue("none")`, `device.driver`, `string(` + attr + `.?numa.orValue(1))`,
		`has(` + attr + `.healthy)`, `"numa" in ` + attr + ` && ` + attr + `.numa < 1`, `has(` + attr + `.x) ? string(` + attr + `.x) : "none"`}
	requests := list{}
	for i := range 1 + g.IntN(3) {
		derived := list{}
		for _, name := range names {
			switch {
			case g.chance(3):
				derived = append(derived, g.derivedAttributes()...)
			case g.chance(70):
				derived = append(derived, object{"name": name, "expression": pick(g, expressions...)})
			}
		}
		r := object{"deviceClassName": "any", "allocationMode": "ExactCount", "count": pick(g, int64(1), 1, 2), "derivedAttributes": derived}
		if g.chance(6) {
			r["allocationMode"] = "All"
			delete(r, "count")
		}
		request := object{"name": "r" + strconv.Itoa(i), "exactly": r}
		if g.chance(20) {
			other := object{"name": "t", "deviceClassName": "any", "allocationMode": "ExactCount", "count": int64(1), "derivedAttributes": list{object{"name": names[0], "expression": pick(g, expressions...)}}}
			r["name"] = "s"
			request = object{"name": "r" + strconv.Itoa(i), "firstAvailable": list{r, other}}
		}
		requests = append(requests, request)
	}
	constraints := list{}
	for range 1 + g.IntN(2) {
		constraints = append(constraints, object{pick(g, "matchAttribute", "matchAttribute", "distinctAttribute"): pick(g, append(names, driver+"/model")...)})
	}
	spec["devices"] = object{"requests": requests, "constraints": constraints}
}

func (g *gen) derivedAttributes() list {
	attr := `device.attributes["` + driver + `"]`
	all := list{}
	for _, name := range []string{"example.org/made", driver + "/numa", driver + "/model"} {
		if !g.chance(60) {
			continue
		}
		all = append(all, object{"name": name, "expression": pick(g,
			attr+`.numa`, attr+`.model`, attr+`.x`, // x may be missing
			attr+`.?numa.orValue(0)`, attr+`.?numa.orValue(0)`, attr+`.?model.orValue("none")`, attr+`.?x.orValue(false)`,
			`device.driver`, `has(`+attr+`.healthy)`, `"numa" in `+attr+` ? "n" + string(`+attr+`.numa) : "none"`,
			`[1, 2]`, `["a", "b"]`, `[]`, `semver("1.2.3")`, `[semver("1.0.0")]`, `[true]`,
			`1.5`, `{"a": 1}`, `quantity("1")`, `[dyn(1), dyn("a")]`, `device.allowMultipleAllocations`, `nonsense`)})
	}
	return all
}

// optionMounts gives pods mounts with options, which nodes must declare.
func (g *gen) optionMounts(o runtime.Object) runtime.Object {
	switch o := o.(type) {
	case *v1.Node:
		if g.chance(60) {
			o.Status.DeclaredFeatures = append(o.Status.DeclaredFeatures, "VolumeBindMountOptions")
		}
		if g.chance(60) {
			o.Status.DeclaredFeatures = append([]string{"RestartAllContainersOnContainerExits"}, o.Status.DeclaredFeatures...)
		}
	case *v1.Pod:
		p := parsed(raw(o))
		for _, of := range []string{"containers", "initContainers"} {
			all, _ := in(p, "spec")[of].(list)
			for _, c := range all {
				if g.chance(25) {
					mount := object{"name": "data", "mountPath": "/data"}
					if g.chance(70) {
						mount["bindMountOptions"] = list{"noexec", "nosuid"}
					}
					if g.chance(25) {
						c.(object)["restartPolicyRules"] = list{object{"action": "RestartAllContainers", "exitCodes": object{"operator": "In", "values": list{1}}}}
					}
					c.(object)["volumeMounts"] = list{mount}
				}
			}
		}
		if g.chance(10) {
			mount := object{"name": "data", "mountPath": "/data", "bindMountOptions": list{"noexec"}}
			in(p, "spec")["ephemeralContainers"] = list{object{"name": "debug", "image": "debug", "volumeMounts": list{mount}}}
		}
		return plain(p)
	}
	return o
}
