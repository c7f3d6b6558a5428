// SPDX-License-Identifier: Apache-2.0

// fields writes tools/format/api_fields.def: the members of every object that berth reads, by the API's own structs.
// In tests/e2e: go run -modfile=go-1.37.mod ./fields > ../../tools/format/api_fields.def
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	resource "k8s.io/api/resource/v1"
	resourcea3 "k8s.io/api/resource/v1alpha3"
	resource1beta2 "k8s.io/api/resource/v1beta2"
	scheduling "k8s.io/api/scheduling/v1"
	scheda3 "k8s.io/api/scheduling/v1alpha3"
	schedb1 "k8s.io/api/scheduling/v1beta1"
	storage "k8s.io/api/storage/v1"
)

const header = `/* SPDX-License-Identifier: Apache-2.0
 * The members of every object that is read, also of those that scheduling ignores: one row per struct of the
 * API, FIELD(name) for a plain member, OBJECT(name, struct) for one that holds an object or a list of them.
 * Made by tests/e2e/fields from k8s.io/api v0.37.2; workloadRef is of 1.35.
 */
`

// types has the members of each struct, and the struct of each member, or "".
var types = map[string]map[string]string{}

func leaf(t reflect.Type) bool {
	switch t.String() {
	case "v1.Time", "v1.MicroTime", "resource.Quantity", "intstr.IntOrString", "v1.Duration", "runtime.RawExtension", "v1.FieldsV1":
		return true
	}
	return false
}
func walk(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || leaf(t) {
		return ""
	}
	name := t.Name()
	if _, ok := types[name]; !ok {
		types[name] = map[string]string{}
	}
	add(name, t)
	return name
}

var busy = map[string]bool{}

func add(name string, t reflect.Type) {
	key := name + t.String() + t.PkgPath()
	if busy[key] {
		return
	}
	busy[key] = true
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" || strings.Contains(f.Tag.Get("json"), ",inline") {
			add(name, f.Type)
			continue
		}
		if tag == "-" || tag == "" {
			continue
		}
		types[name][tag] = walk(f.Type)
	}
}
func main() {
	roots := []any{core.Node{}, core.Pod{}, core.Namespace{}, core.Service{}, core.ReplicationController{}, apps.ReplicaSet{}, apps.StatefulSet{}, policy.PodDisruptionBudget{}, core.PersistentVolume{}, core.PersistentVolumeClaim{}, storage.StorageClass{}, storage.CSINode{}, storage.CSIDriver{}, storage.CSIStorageCapacity{}, storage.VolumeAttachment{}, resource.ResourceClaim{}, resource1beta2.ResourceClaim{}, resource.ResourceSlice{}, resource1beta2.ResourceSlice{}, resource.DeviceClass{}, resource1beta2.DeviceClass{}, resource.DeviceTaintRule{}, resource1beta2.DeviceTaintRule{}, resourcea3.DeviceTaintRule{}, schedb1.PodGroup{}, scheda3.CompositePodGroup{}, scheduling.PriorityClass{}, node.RuntimeClass{}, core.LimitRange{}, core.ResourceQuota{}, apps.Deployment{}, apps.DaemonSet{}, batch.Job{}, batch.CronJob{}}
	for _, r := range roots {
		walk(reflect.TypeOf(r))
	}
	types["PodSpec"]["workloadRef"] = ""
	types["PodGroupSpec"]["disruptionMode"] = ""
	var names []string
	for n := range types {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Print(header)
	for _, name := range names {
		fmt.Println(row(name))
	}
}

// row is one struct, in lines of at most 108 columns.
func row(name string) string {
	var members []string
	for member, object := range types[name] {
		if object != "" {
			members = append(members, fmt.Sprintf("OBJECT(%q, %s)", member, object))
		} else {
			members = append(members, fmt.Sprintf("FIELD(%q)", member))
		}
	}
	sort.Slice(members, func(i, j int) bool {
		return strings.Split(members[i], "\"")[1] < strings.Split(members[j], "\"")[1]
	})
	text, line := "", "BT_API_TYPE("+name
	for _, member := range members {
		if len(strings.ReplaceAll(line, "\t", "        "))+len(member)+2 > 108 {
			text += line + ",\n"
			line = "\t" + member
		} else {
			line += ", " + member
		}
	}
	return text + line + ")"
}
