// SPDX-License-Identifier: Apache-2.0

// generate, features of later versions: decisions that differ between 1.37 and 1.36 and that no other feature covers. Not
// part of mixed, so that its seeds keep their scenarios.
package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourceapi "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// laterFeatures must be requested by name. v137, dra2 and vol2: every version can read them. taintrules:
// only 1.37 can, with dra.
var laterFeatures = []string{"v137", "taintrules", "dra2", "vol2"}

type object = map[string]any

func plain(o object) runtime.Object { return &unstructured.Unstructured{Object: o} }

// later changes and adds objects after all others are created.
func (g *gen) later() {
	if g.on["v137"] {
		shared := map[string]bool{} // devices, by pool and name
		for i, o := range g.objects {
			switch o := o.(type) {
			case *v1.Pod:
				g.laterPod(o)
			case *v1.Node:
				g.laterNode(o)
			case *storagev1.CSIDriver: // VolumeLimitScaling is on: a driver may require nodes that have it
				g.objects[i] = plain(object{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": object{"name": o.Name},
					"spec": object{"storageCapacity": g.chance(60), "preventPodSchedulingIfMissing": g.chance(60)}})
			case *storagev1.CSINode:
				if g.chance(25) {
					o.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "other.example.com", NodeID: o.Name}}
				}
			case *resourceapi.ResourceSlice:
				g.laterSlice(o, shared)
			case *resourceapi.ResourceClaim:
				g.laterClaim(o, shared)
			}
		}
		if g.on["volumes"] { // StorageCapacityScoring is on: utilization of a class's storage differs between nodes
			for i, z := range zones {
				c, l := q(pick(g, "2Gi", "9Gi", "20Gi", "100Gi")), pick(g, "late", "zoned")
				g.add(&storagev1.CSIStorageCapacity{TypeMeta: meta("storage.k8s.io/v1", "CSIStorageCapacity"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("later-%d", i), Namespace: "default"},
					NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{"topology.kubernetes.io/zone": z}}, StorageClassName: l, Capacity: &c})
			}
		}
		if g.on["preemption"] { // overlapping budgets: the first exhausted one decides
			for i := range 2 + g.IntN(4) {
				min := intstr.FromInt32(1)
				sel := pick(g, map[string]string{"app": pick(g, "web", "db", "cache")}, map[string]string{"tier": pick(g, "front", "back")}, map[string]string{"rev": "1"})
				g.add(&policyv1.PodDisruptionBudget{TypeMeta: meta("policy/v1", "PodDisruptionBudget"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("later-%d", i), Namespace: pick(g, g.spaces...)},
					Spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: &min, Selector: &metav1.LabelSelector{MatchLabels: sel}},
					Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(g.IntN(2))}})
			}
		}
	}
	if g.on["taintrules"] {
		for i := range 1 + g.IntN(3) {
			sel := object{"driver": driver}
			if g.chance(60) {
				sel["pool"] = pick(g, g.nodes...).Name
			}
			if g.chance(50) {
				sel["device"] = fmt.Sprintf("gpu-%d", g.IntN(4))
			}
			g.add(plain(object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": object{"name": fmt.Sprintf("rule-%d", i)},
				"spec": object{"deviceSelector": sel, "taint": object{"key": "example.com/sick", "value": pick(g, "a", "b"), "effect": pick(g, "NoSchedule", "NoExecute", "None"), "timeAdded": "2026-01-01T00:00:00Z"}}}))
		}
	}
}

func (g *gen) laterNode(n *v1.Node) {
	if len(n.Status.Images) > 0 {
		return
	}
	for _, im := range images {
		if g.chance(40) {
			n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{im.name}, SizeBytes: im.size})
		}
	}
}

func (g *gen) laterPod(p *v1.Pod) {
	if g.chance(30) { // ImageLocality counts these among the pod's images
		for i := range 1 + g.IntN(3) {
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("image-%d", i), VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: pick(g, images...).name}}})
		}
	}
	if g.on["interpod"] && g.chance(40) {
		g.laterTerms(p)
	}
	if p.Spec.NodeName != "" && g.chance(40) {
		g.resized(p)
	}
}

// laterTerms: namespace selectors that would match an unknown namespace, too.
func (g *gen) laterTerms(p *v1.Pod) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	term := func() v1.PodAffinityTerm {
		t := g.podTerm()
		op := pick(g, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpDoesNotExist, metav1.LabelSelectorOpIn)
		r := metav1.LabelSelectorRequirement{Key: pick(g, "team", "absent"), Operator: op}
		if op != metav1.LabelSelectorOpDoesNotExist {
			r.Values = []string{pick(g, "red", "blue")}
		}
		t.Namespaces, t.NamespaceSelector = nil, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}}
		return t
	}
	a := p.Spec.Affinity
	switch g.IntN(4) {
	case 0:
		a.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term()}}
	case 1:
		a.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term()}}
	case 2:
		a.PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term()}}}
	default:
		a.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: term()}}}
	}
}

// resized: an in-place resize in progress, with containers at different stages. 1.37 sums first and takes the maximum then,
// 1.36 the other way round.
func (g *gen) resized(p *v1.Pod) {
	for i := range g.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(fmt.Sprintf("l%d", i)))
	}
	amount := func() v1.ResourceList {
		return v1.ResourceList{"cpu": q(pick(g, "100m", "500m", "1", "2")), "memory": q(pick(g, "64Mi", "512Mi", "2Gi"))}
	}
	status := func(name string) v1.ContainerStatus {
		s := v1.ContainerStatus{Name: name}
		if g.chance(80) {
			s.AllocatedResources = amount()
		}
		if g.chance(80) {
			s.Resources = &v1.ResourceRequirements{Requests: amount()}
		}
		return s
	}
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status(c.Name))
	}
	for _, c := range p.Spec.InitContainers {
		if g.chance(60) {
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status(c.Name))
		}
	}
	if p.Spec.Resources != nil && g.chance(70) {
		p.Status.AllocatedResources, p.Status.Resources = amount(), &v1.ResourceRequirements{Requests: amount()}
	}
	if g.chance(50) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: pick(g, v1.PodReasonDeferred, v1.PodReasonInfeasible)})
	}
}

// laterSlice: devices with capacity shared by several claims, in steps that may be fractional.
func (g *gen) laterSlice(s *resourceapi.ResourceSlice, shared map[string]bool) {
	many := true
	for i := range s.Spec.Devices {
		if !g.chance(60) {
			continue
		}
		min, step, def := q(pick(g, "250m", "250m", "500m", "1")), q(pick(g, "250m", "250m", "500m", "1")), q("1")
		shared[s.Spec.Pool.Name+"/"+s.Spec.Devices[i].Name] = true
		s.Spec.Devices[i].AllowMultipleAllocations = &many
		s.Spec.Devices[i].Capacity["share"] = resourceapi.DeviceCapacity{Value: q("2"),
			RequestPolicy: &resourceapi.CapacityRequestPolicy{Default: &def, ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: &min, Step: &step}}}
	}
}

func (g *gen) laterClaim(c *resourceapi.ResourceClaim, shared map[string]bool) {
	if a := c.Status.Allocation; a != nil { // the remaining capacity may be fractional
		for i := range a.Devices.Results {
			if r := &a.Devices.Results[i]; shared[r.Pool+"/"+r.Device] {
				id := types.UID("share-" + c.Name)
				r.ShareID, r.ConsumedCapacity = &id, map[resourceapi.QualifiedName]resource.Quantity{"share": q(pick(g, "500m", "1250m", "1250m", "1500m"))}
			}
		}
		return
	}
	for i := range c.Spec.Devices.Requests {
		if r := c.Spec.Devices.Requests[i].Exactly; r != nil && r.AllocationMode == resourceapi.DeviceAllocationModeExactCount && g.chance(75) {
			r.Capacity = &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{"share": q(pick(g, "300m", "600m", "750m", "750m", "1"))}}
			r.Selectors = append(r.Selectors, cel(`"share" in device.capacity["`+driver+`"]`)...)
		}
	}
}
