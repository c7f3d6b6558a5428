// SPDX-License-Identifier: Apache-2.0

// Hostile objects of other kinds: nodes, devices, volumes, budgets, namespaces. Each kind has a few names,
// which are reused, so that they come back with other UIDs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
)

// hostileKind: fresh returns an empty object, spoil fills it in. After its creation it is changed, also
// its status, and deleted.
type hostileKind struct {
	resource, path string // path: of the collection
	client         func(*connection) rest.Interface
	fresh          func() metaObject
	spoil          func(h *hostile, object metaObject)
}

type metaObject interface {
	runtime.Object
	metav1.Object
}

func coreRest(c *connection) rest.Interface    { return c.CoreV1().RESTClient() }
func storageRest(c *connection) rest.Interface { return c.StorageV1().RESTClient() }
func deviceRest(c *connection) rest.Interface  { return c.ResourceV1().RESTClient() }

var hostileKinds = []hostileKind{
	{"nodes", "/api/v1/nodes", coreRest, func() metaObject { return &v1.Node{} },
		func(h *hostile, o metaObject) { h.spoilNode(o.(*v1.Node)) }},
	{"namespaces", "/api/v1/namespaces", coreRest, func() metaObject { return &v1.Namespace{} },
		func(h *hostile, o metaObject) { h.spoilNamespace(o.(*v1.Namespace)) }},
	{"persistentvolumes", "/api/v1/persistentvolumes", coreRest, func() metaObject { return &v1.PersistentVolume{} },
		func(h *hostile, o metaObject) { h.spoilVolume(o.(*v1.PersistentVolume)) }},
	{"persistentvolumeclaims", "/api/v1/namespaces/default/persistentvolumeclaims", coreRest, func() metaObject { return &v1.PersistentVolumeClaim{} },
		func(h *hostile, o metaObject) { h.spoilVolumeClaim(o.(*v1.PersistentVolumeClaim)) }},
	{"csinodes", "/apis/storage.k8s.io/v1/csinodes", storageRest, func() metaObject { return &storagev1.CSINode{} },
		func(h *hostile, o metaObject) { h.spoilCSINode(o.(*storagev1.CSINode)) }},
	{"storageclasses", "/apis/storage.k8s.io/v1/storageclasses", storageRest, func() metaObject { return &storagev1.StorageClass{} },
		func(h *hostile, o metaObject) { h.spoilStorageClass(o.(*storagev1.StorageClass)) }},
	{"poddisruptionbudgets", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
		func(c *connection) rest.Interface { return c.PolicyV1().RESTClient() }, func() metaObject { return &policyv1.PodDisruptionBudget{} },
		func(h *hostile, o metaObject) { h.spoilBudget(o.(*policyv1.PodDisruptionBudget)) }},
	{"resourceslices", "/apis/resource.k8s.io/v1/resourceslices", deviceRest, func() metaObject { return &resourcev1.ResourceSlice{} },
		func(h *hostile, o metaObject) { h.spoilSlice(o.(*resourcev1.ResourceSlice)) }},
	{"deviceclasses", "/apis/resource.k8s.io/v1/deviceclasses", deviceRest, func() metaObject { return &resourcev1.DeviceClass{} },
		func(h *hostile, o metaObject) { h.spoilClass(o.(*resourcev1.DeviceClass)) }},
	{"resourceclaims", claimsPath, deviceRest, func() metaObject { return &resourcev1.ResourceClaim{} },
		func(h *hostile, o metaObject) { h.spoilClaim(o.(*resourcev1.ResourceClaim)) }},
}

// pick returns one of some values.
func pick[T any](h *hostile, of ...T) T { return of[h.rng.Intn(len(of))] }

func times[T any](n int, of func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = of(i)
	}
	return all
}

func ptr[T any](value T) *T { return &value }

// some is usually small, sometimes very large.
func (h *hostile) some() int { return pick(h, 0, 0, 1, 2, 3, 70, 2000) }

// kindNames: short ones, and one of the maximum length.
var kindNames = []string{"h0", "h1", "h2", "h3", "h4", strings.Repeat(strings.Repeat("a", 62)+".", 4) + "b"}

func (h *hostile) kindName() string { return pick(h, kindNames...) }

// time is any within 64 bits of seconds, which protobuf transports and RFC 3339 cannot express.
func (h *hostile) time() metav1.Time {
	return metav1.Unix(pick[int64](h, 0, 1, -1, math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, math.MaxUint32, -62135596801, -62135596800,
		-62135596799, -62167219201, 253402300799, 253402300800, 9223372036, 9223372037, -9223372037, time.Now().Unix(), h.rng.Int63()-h.rng.Int63()), 0)
}

func (h *hostile) int64() int64 {
	return pick[int64](h, 0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, 1<<53+1, h.rng.Int63())
}

func (h *hostile) int32() int32 {
	return pick[int32](h, 0, 1, -1, math.MaxInt32, math.MinInt32, 3, 110)
}

func (h *hostile) quantity() resource.Quantity {
	return resource.MustParse(pick(h, "0", "1", "4", "3900m", "1n", "1e-9", "9223372036854775807", "9223372036854775808", "1e30", "8Ei", "7.99Ei",
		"0.0000000001", "100000000000000000000", "1E", "1.5Gi", "12e6", "1u", "110", "1000000000000000000000000000000000000m"))
}

func (h *hostile) key(i int) string { return fmt.Sprintf("example.com/k%d", i) }

func (h *hostile) labels() map[string]string {
	all := map[string]string{}
	for i := h.some(); i > 0; i-- {
		all[h.key(i)] = pick(h, "", "a", strings.Repeat("x", 63))
	}
	return all
}

func (h *hostile) spoilMeta(o metaObject) {
	o.SetLabels(h.labels())
	notes := map[string]string{"example.com/a": h.text()}
	switch h.rng.Intn(13) {
	case 0:
		notes["example.com/large"] = strings.Repeat("\x00", 250<<10) // six times as long in JSON
	case 1:
		o.SetOwnerReferences(times(pick(h, 1, 3000), func(i int) metav1.OwnerReference {
			return metav1.OwnerReference{APIVersion: "v1", Kind: h.text() + "x", Name: h.text() + "x", UID: types.UID(fmt.Sprint(i, h.text()))}
		}))
	case 2:
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", Time: ptr(h.time())}})
	case 3: // of the maximum size, by fields that the scheduler ignores
		fields := strings.Join(times(h.bytes()/32, func(i int) string { return fmt.Sprintf(`"f:example.com/field-%08d":{}`, i) }), ",")
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			Time: ptr(h.time()), FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:annotations":{` + fields + `}}}`)}}})
	}
	o.SetAnnotations(notes)
}

func (h *hostile) resources() v1.ResourceList {
	all := v1.ResourceList{}
	for _, name := range []v1.ResourceName{"cpu", "memory", "pods", "ephemeral-storage", "hugepages-2Mi", "example.com/r1", "example.com/huge"} {
		if h.rng.Intn(3) != 0 {
			all[name] = h.quantity()
			if name != "cpu" && h.rng.Intn(20) != 0 { // parts of these are rejected
				all[name] = resource.MustParse(pick(h, "0", "1", "110", "8Gi", "1.5Gi", "1E", "8000000G", "9e15", "100000000000000000000"))
			}
		}
	}
	switch h.rng.Intn(6) {
	case 0:
		for i := 0; i < 2000; i++ {
			all[v1.ResourceName(fmt.Sprintf("example.com/n%d", i))] = resource.MustParse("1")
		}
	case 1:
		all[v1.ResourceName(h.text())], all[""] = resource.MustParse("1"), resource.MustParse("1")
	}
	return all
}

func (h *hostile) spoilNode(node *v1.Node) {
	node.Spec.Unschedulable = h.rng.Intn(4) == 0
	node.Spec.Taints = times(h.some(), func(i int) v1.Taint {
		return v1.Taint{Key: h.key(i), Value: pick(h, "", "x"), Effect: pick(h, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute),
			TimeAdded: ptr(h.time())}
	})
	node.Status.Capacity, node.Status.Allocatable = h.resources(), h.resources()
	node.Status.Conditions = times(pick(h, 0, 1, 3, 100), func(i int) v1.NodeCondition {
		return v1.NodeCondition{Type: pick(h, v1.NodeReady, v1.NodeConditionType(h.text())), Status: pick(h, v1.ConditionUnknown, v1.ConditionFalse, "", v1.ConditionStatus(h.text())),
			LastTransitionTime: h.time(), LastHeartbeatTime: h.time(), Message: h.text()}
	})
	node.Status.Images = times(h.some(), func(i int) v1.ContainerImage {
		return v1.ContainerImage{Names: []string{h.text(), fmt.Sprintf("image-%d", i), ""}, SizeBytes: h.int64()}
	})
	node.Status.Phase = v1.NodePhase(h.text())
}

func (h *hostile) spoilNamespace(namespace *v1.Namespace) {
	namespace.Status.Phase = pick(h, "", v1.NamespaceTerminating, v1.NamespacePhase(h.text()))
	namespace.Status.Conditions = []v1.NamespaceCondition{{Type: v1.NamespaceConditionType(h.text()), LastTransitionTime: h.time()}}
}

func (h *hostile) nodeSelector() *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: times(pick(h, 1, 2, 500), func(i int) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: h.key(i), Operator: pick(h, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn),
			Values: []string{pick(h, "1", "-9223372036854775808", "99999999999999999999", "a")}}}}
	})}
}

func (h *hostile) spoilVolume(volume *v1.PersistentVolume) {
	volume.Status = v1.PersistentVolumeStatus{Phase: pick(h, "", v1.VolumeBound, v1.VolumeFailed, v1.PersistentVolumePhase(h.text())), Message: h.text(), LastPhaseTransitionTime: ptr(h.time())}
	if volume.UID != "" { // its spec is immutable
		return
	}
	volume.Spec.AccessModes = []v1.PersistentVolumeAccessMode{pick(h, v1.ReadWriteOnce, v1.ReadWriteMany, v1.ReadWriteOncePod)}
	volume.Spec.Capacity = v1.ResourceList{v1.ResourceStorage: h.quantity()}
	volume.Spec.StorageClassName = pick(h, "", "h0", "h1")
	volume.Spec.VolumeMode = pick(h, nil, ptr(v1.PersistentVolumeBlock), ptr(v1.PersistentVolumeFilesystem))
	volume.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: h.text() + "x", VolumeAttributes: map[string]string{"\xff": h.text(), "\xfe": ""}}
	if h.rng.Intn(2) == 0 {
		volume.Spec.ClaimRef = &v1.ObjectReference{Kind: pick(h, "PersistentVolumeClaim", h.text()), Namespace: pick(h, "default", "nowhere", h.text()), Name: pick(h, h.kindName(), h.text()),
			UID: types.UID(pick(h, "", "1", h.text())), ResourceVersion: h.text(), FieldPath: h.text()}
	}
	if h.rng.Intn(2) == 0 {
		volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: h.nodeSelector()}
	}
}

func (h *hostile) spoilVolumeClaim(claim *v1.PersistentVolumeClaim) {
	claim.Status = v1.PersistentVolumeClaimStatus{Phase: pick(h, "", v1.ClaimBound, v1.ClaimLost, v1.PersistentVolumeClaimPhase(h.text())), Capacity: v1.ResourceList{v1.ResourceName(h.text()): h.quantity()},
		Conditions: []v1.PersistentVolumeClaimCondition{{Type: v1.PersistentVolumeClaimConditionType(h.text()), LastProbeTime: h.time(), LastTransitionTime: h.time()}}}
	if h.rng.Intn(3) == 0 {
		claim.Annotations["pv.kubernetes.io/bind-completed"] = h.text()
		claim.Annotations["volume.kubernetes.io/selected-node"] = pick(h, "a", "nowhere", h.text())
	}
	if claim.UID != "" { // its spec is immutable
		return
	}
	claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{pick(h, v1.ReadWriteOnce, v1.ReadWriteMany, v1.ReadWriteOncePod)}
	claim.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: h.quantity()}
	claim.Spec.StorageClassName = pick(h, nil, ptr(""), ptr("h0"), ptr("h1"))
	claim.Spec.VolumeName = pick(h, "", "h0", h.kindName(), h.text())
}

func (h *hostile) spoilCSINode(node *storagev1.CSINode) {
	node.Spec.Drivers = times(pick(h, 0, 1, 3, 1000), func(i int) storagev1.CSINodeDriver {
		return storagev1.CSINodeDriver{Name: fmt.Sprintf("d%d.example.com", i), NodeID: h.text() + "x", TopologyKeys: []string{h.key(i)},
			Allocatable: &storagev1.VolumeNodeResources{Count: pick(h, nil, ptr(int32(0)), ptr(int32(math.MaxInt32)), ptr(max(h.int32(), 0)))}}
	})
}

func (h *hostile) spoilStorageClass(class *storagev1.StorageClass) {
	class.Provisioner = pick(h, "kubernetes.io/no-provisioner", "d.example.com")
	class.Parameters = map[string]string{"\xff": "1", "\xfe": "2", "k": h.text()}
	class.MountOptions = times(h.some(), func(int) string { return h.text() })
	class.VolumeBindingMode = pick(h, nil, ptr(storagev1.VolumeBindingWaitForFirstConsumer), ptr(storagev1.VolumeBindingImmediate))
	class.AllowedTopologies = times(pick(h, 0, 0, 1, 50), func(i int) v1.TopologySelectorTerm {
		return v1.TopologySelectorTerm{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: h.key(i), Values: []string{h.text()}}}}
	})
}

func (h *hostile) spoilBudget(budget *policyv1.PodDisruptionBudget) {
	value := pick(h, intstr.FromString("0%"), intstr.FromString("100%"), intstr.FromString("00000050%"), intstr.FromString("1%"), intstr.FromInt32(max(h.int32(), 0)))
	budget.Spec.MinAvailable, budget.Spec.MaxUnavailable = nil, nil
	if h.rng.Intn(2) == 0 {
		budget.Spec.MinAvailable = &value
	} else {
		budget.Spec.MaxUnavailable = &value
	}
	budget.Spec.Selector = pick(h, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "hostile"}})
	budget.Spec.UnhealthyPodEvictionPolicy = pick(h, nil, ptr(policyv1.AlwaysAllow))
	budget.Status = policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: max(h.int32(), 0), CurrentHealthy: max(h.int32(), 0), DesiredHealthy: max(h.int32(), 0), ExpectedPods: max(h.int32(), 0), ObservedGeneration: h.int64(),
		DisruptedPods: map[string]metav1.Time{"hostile-1": h.time(), h.text(): h.time()}}
}

func (h *hostile) spoilClass(class *resourcev1.DeviceClass) {
	class.Spec.Selectors = times(pick(h, 0, 1, 32), func(i int) resourcev1.DeviceSelector {
		return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: pick(h, "true", `device.driver == "d.example.com"`, `device.attributes["x"].y`, `"`+h.text()+`" == ""`,
			`device.capacity["d.example.com"].c.compareTo(quantity("1")) > 0`, "1/0 == 1", strings.Repeat("(", 200)+"true"+strings.Repeat(")", 200), "9223372036854775807 + 1 > 0")}}
	})
	class.Spec.ExtendedResourceName = pick(h, nil, ptr("example.com/r1"))
}

func (h *hostile) spoilClaim(claim *resourcev1.ResourceClaim) {
	if claim.UID != "" {
		claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: h.kindName(), UID: types.UID(h.text())}}
		return
	}
	claim.Spec.Devices.Requests = times(pick(h, 1, 2, 32), func(i int) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Name: fmt.Sprintf("r%d", i), Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: h.kindName(), AllocationMode: pick(h, "", resourcev1.DeviceAllocationModeAll),
			Count: 0, Tolerations: []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists, TolerationSeconds: pick(h, nil, ptr(h.int64()))}}}}
	})
}

func (h *hostile) spoilSlice(slice *resourcev1.ResourceSlice) {
	slice.Spec.Driver = "d.example.com"
	name := slice.Spec.Pool.Name // immutable
	if name == "" {
		name = pick(h, "p", h.kindName())
	}
	slice.Spec.Pool = resourcev1.ResourcePool{Name: name, Generation: pick[int64](h, 0, 1, math.MaxInt64), ResourceSliceCount: pick[int64](h, 1, 2, math.MaxInt64)}
	slice.Spec.NodeName, slice.Spec.AllNodes, slice.Spec.NodeSelector = nil, nil, nil
	switch h.rng.Intn(3) {
	case 0:
		slice.Spec.NodeName = ptr(pick(h, "a", "b", "nowhere"))
	case 1:
		slice.Spec.AllNodes = ptr(true)
	default:
		selector := h.nodeSelector()
		selector.NodeSelectorTerms = selector.NodeSelectorTerms[:1]
		slice.Spec.NodeSelector = selector
	}
	slice.Spec.Devices = times(pick(h, 0, 1, 3, 64), func(i int) resourcev1.Device {
		device := resourcev1.Device{Name: fmt.Sprintf("d%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"y": pick(h, resourcev1.DeviceAttribute{IntValue: ptr(h.int64())}, resourcev1.DeviceAttribute{StringValue: ptr(h.text())},
				resourcev1.DeviceAttribute{VersionValue: ptr("999999999999999999999.0.0-a.b+c")}, resourcev1.DeviceAttribute{BoolValue: ptr(true)})},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"c": {Value: h.quantity()}}}
		if h.rng.Intn(3) == 0 {
			device.Taints = []resourcev1.DeviceTaint{{Key: h.key(i), Value: "", Effect: pick(h, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone), TimeAdded: ptr(h.time())}}
		}
		return device
	})
}

// play creates, changes or deletes an object of the kind.
func (h *hostile) play(ctx context.Context, kind *hostileKind) error {
	client, name, object := kind.client(h.admin), h.kindName(), kind.fresh()
	err := client.Get().AbsPath(kind.path, name).Do(ctx).Into(object)
	if apierrors.IsNotFound(err) {
		object = kind.fresh()
		object.SetName(name)
		h.spoilMeta(object)
		kind.spoil(h, object)
		return h.counted(kind, client.Post().AbsPath(kind.path).Body(object).Do(ctx).Error())
	}
	if err != nil {
		return h.counted(kind, err)
	}
	if h.rng.Intn(3) == 0 {
		return h.counted(kind, client.Delete().AbsPath(kind.path, name).Body(ptr(now0())).Do(ctx).Error())
	}
	h.spoilMeta(object)
	kind.spoil(h, object)
	path := []string{kind.path, name}
	if h.rng.Intn(2) == 0 {
		path = append(path, "status")
	}
	return h.counted(kind, client.Put().AbsPath(path...).Body(object).Do(ctx).Error())
}

func (h *hostile) counted(kind *hostileKind, err error) error {
	before := h.taken
	err = h.count(err)
	h.of[kind.resource] += h.taken - before
	return err
}

// listed counts the objects of a kind on the server. Go cannot parse times after the year 9999 from the server's JSON,
// so objects are not decoded.
func (h *hostile) listed(ctx context.Context, kind *hostileKind) (int, error) {
	path := strings.Replace(kind.path, "/namespaces/default", "", 1)
	var list struct{ Items []json.RawMessage }
	text, err := kind.client(h.admin).Get().AbsPath(path).SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").Do(ctx).Raw()
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	return len(list.Items), err
}

// knowsAll: berth has as many objects of each kind as the server, and has read all of them completely.
func (h *hostile) knowsAll(ctx context.Context, berth *process) error {
	var wrong error
	for i := range hostileKinds {
		kind := &hostileKinds[i]
		has, err := h.listed(ctx, kind)
		if err != nil {
			return err
		}
		knows, err := sumOf(ctx, berth, `berth_watch_objects\{resource="`+kind.resource+`"\}`)
		if err == nil && int(knows) != has {
			err = fmt.Errorf("the server has %d %s, berth knows %v", has, kind.resource, knows)
		}
		wrong = errors.Join(wrong, err)
	}
	unread, err := inPart(ctx, berth)
	if err == nil && unread != "" {
		err = errors.New("objects were read in part: " + unread)
	}
	return errors.Join(wrong, err)
}

// inPart lists objects that berth could not read completely.
func inPart(ctx context.Context, berth *process) (string, error) {
	var unread struct {
		Objects []struct{ Resource, Name, Read, Why string }
	}
	_, body, err := berth.get(ctx, "/debug/unread")
	if err == nil {
		err = json.Unmarshal([]byte(body), &unread)
	}
	text := ""
	for _, object := range unread.Objects {
		if object.Read == "in part" {
			text += fmt.Sprintf("%s %s: %s; ", object.Resource, object.Name, object.Why)
		}
	}
	return text, err
}

// deleteKinds deletes all objects that play has created, whatever protects them.
func (h *hostile) deleteKinds(ctx context.Context) error {
	return eventually(ctx, time.Minute, func() error {
		var left error
		for i := range hostileKinds {
			left = errors.Join(left, h.deleteKind(ctx, &hostileKinds[i]))
		}
		return left
	})
}

func (h *hostile) deleteKind(ctx context.Context, kind *hostileKind) error {
	client := kind.client(h.admin)
	for _, name := range kindNames {
		object := kind.fresh()
		err := client.Get().AbsPath(kind.path, name).Do(ctx).Into(object)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err == nil && len(object.GetFinalizers()) > 0 {
			object.SetFinalizers(nil) // no patch: the server decodes its own JSON again, which fails sometimes
			err = client.Put().AbsPath(kind.path, name).Body(object).Do(ctx).Error()
		}
		_ = client.Delete().AbsPath(kind.path, name).Body(ptr(now0())).Do(ctx).Error()
		return errors.Join(fmt.Errorf("%s %s is still there", kind.resource, name), err)
	}
	return nil
}
