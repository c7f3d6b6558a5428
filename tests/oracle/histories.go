// SPDX-License-Identifier: Apache-2.0

// histories: random sequences of events: pods that are not schedulable yet, events that help them and
// events that do not, and time.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// happen generates one history. It tracks its own writes, not the scheduler's reaction: an event may come
// too late, which is fine.
type happen struct {
	*gen
	world   map[string]runtime.Object // existing objects, unless preemption deleted them
	nodeIDs []string
	podIDs  []string // keys in world, bound or waiting
	steps   []Step
	names   int
	themes  []int // cases of waitingPod that this history prefers
}

var themeNames = []string{"big", "big", "tolerate", "selector", "affinity", "spread", "anti", "near", "port", "gate", "volume", "preempt", "preempt"}

func runHistories(args []string) error {
	fs := flag.NewFlagSet("histories", flag.ExitOnError)
	seed := fs.Uint64("seed", 1, "first seed; each history uses the next one")
	count := fs.Int("count", 100, "histories")
	profile := fs.String("profile", "queue", "queue, twins (scenarios with everything, each pod several times) or dra (the same, about dynamic resources), or rules (with DeviceTaintRules, which only 1.37 reads), or gated (with what alpha gates of 1.37 open), or allocatable (with devices that are resources of their nodes), or deferred (with resizes that wait for room, which a gate of 1.37 needs), or workloads (with pods that name Workloads, as gates of 1.35 have them), or groups (with PodGroups; judge them with the gates that they name), or groupalone (the same where no group of 1.37 preempts), or grouppreempt (the same where groups preempt, and are preempted), or groupvictims (the same where no group waits), or grouptopology, grouptopologypreempt (groups, grouppreempt with topology constraints), or groupclaims, groupclaimspreempt (the same with ResourceClaims that their pods share), or groupallocatable, groupallocatablepreempt (these with devices that are resources of their nodes), or groupcomposite, groupcompositepreempt, groupcompositetopology, groupcompositetopologypreempt (these in trees of CompositePodGroups)")
	version := fs.String("workloads", "v1alpha2", "groups: the version of scheduling.k8s.io, v1beta1 for 1.37")
	steps := fs.Int("steps", 45, "queue: most steps in a history, about")
	_ = fs.Parse(args)
	if *profile != "queue" && *profile != "deferred" && *profile != "workloads" && !groupProfiles[*profile] && likely[*profile] == nil {
		return fmt.Errorf("unknown profile %q", *profile)
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range *count {
		s := *seed + uint64(i)
		if groupProfiles[*profile] {
			if err := enc.Encode(groupHistory(s, *profile, *version, *steps)); err != nil {
				return err
			}
			continue
		}
		if *profile == "workloads" {
			if err := enc.Encode(workloadHistory(s, *steps)); err != nil {
				return err
			}
			continue
		}
		if *profile == "deferred" {
			if err := enc.Encode(deferredHistory(s, *steps)); err != nil {
				return err
			}
			continue
		}
		if *profile != "queue" {
			h, err := twinHistory(*profile, s)
			if err != nil {
				return err
			}
			if err := enc.Encode(h); err != nil {
				return err
			}
			continue
		}
		h := &happen{gen: &gen{Rand: rand.New(rand.NewPCG(s, 0x71756575)), on: map[string]bool{}}, world: map[string]runtime.Object{}}
		if err := enc.Encode(h.history(fmt.Sprintf("%s-%d", *profile, s), *steps)); err != nil {
			return err
		}
	}
	return nil
}

func (h *happen) history(id string, most int) *History {
	out := &History{ID: id}
	h.spaces = []string{"default", "default", "blue"}
	for _, ns := range []string{"default", "blue"} {
		h.put(&v1.Namespace{TypeMeta: meta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"kubernetes.io/metadata.name": ns, "team": pick(h.gen, "red", "blue")}}})
	}
	for range 2 + h.IntN(2) {
		h.themes = append(h.themes, h.IntN(len(themeNames)))
	}
	for _, t := range h.themes {
		out.Note = strings.TrimSpace(out.Note + " " + themeNames[t])
	}
	h.put(h.class("fast", storagev1.VolumeBindingImmediate))
	h.put(h.class("late", storagev1.VolumeBindingWaitForFirstConsumer))
	for range 2 + h.IntN(5) {
		h.put(h.newNode())
	}
	for range h.IntN(2 * len(h.nodeIDs)) {
		h.put(h.runningPod())
	}
	if h.chance(30) {
		h.put(h.budget())
	}
	for _, name := range []string{"data-a", "data-b", "data-c"} {
		for _, ns := range []string{"default", "blue"} {
			if slices.Contains(h.themes, 10) && h.chance(60) {
				h.put(h.claimFor(ns, name))
			}
		}
	}
	waiting := 3 + h.IntN(10)
	for range waiting {
		h.put(h.waitingPod())
	}
	for _, s := range h.steps { // writes so far form the initial state
		out.Objects = append(out.Objects, s.Create)
	}
	h.steps = nil
	for range waiting/2 + h.IntN(waiting) {
		h.cycle()
	}
	for n := 10 + h.IntN(most); len(h.steps) < n; {
		switch x := h.IntN(100); {
		case x < 32:
			h.cycle()
		case x < 42:
			h.window()
		case x < 60:
			h.steps = append(h.steps, Step{Advance: pick(h.gen, 0.5, 0.5, 0.9, 1, 1.3, 2, 2.5, 4, 4.7, 8, 11, 29.5, 61, 301, 330, 400)})
		default:
			h.event()
		}
	}
	out.Steps = h.steps
	return out
}

func (h *happen) cycle() {
	s := &CycleStep{}
	if h.chance(10) {
		s.Pin = pick(h.gen, h.nodeIDs...)
	}
	s.FailBind = h.chance(5)
	h.steps = append(h.steps, Step{Cycle: s})
}

// window makes events while a pod is in flight.
func (h *happen) window() {
	h.steps = append(h.steps, Step{CycleBegin: &CycleStep{FailBind: h.chance(5)}})
	for range 1 + h.IntN(3) {
		if h.chance(15) {
			h.steps = append(h.steps, Step{Advance: pick(h.gen, 0.5, 1.2, 3)})
			continue
		}
		h.event()
	}
	h.steps = append(h.steps, Step{CycleEnd: &struct{}{}})
}

// ---- writing

func (h *happen) id(o runtime.Object) string {
	m := o.(metav1.Object)
	return o.GetObjectKind().GroupVersionKind().Kind + " " + m.GetNamespace() + "/" + m.GetName()
}

func raw(o runtime.Object) json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return b
}

// put creates o, or replaces an existing one.
func (h *happen) put(o runtime.Object) {
	id := h.id(o)
	if _, ok := h.world[id]; ok {
		h.steps = append(h.steps, Step{Update: raw(o)})
	} else {
		h.steps = append(h.steps, Step{Create: raw(o)})
		switch o.(type) {
		case *v1.Node:
			h.nodeIDs = append(h.nodeIDs, o.(metav1.Object).GetName())
		case *v1.Pod:
			h.podIDs = append(h.podIDs, id)
		}
	}
	h.world[id] = o
}

func (h *happen) drop(o runtime.Object) {
	m, gvk := o.(metav1.Object), o.GetObjectKind().GroupVersionKind()
	h.steps = append(h.steps, Step{Delete: &Ref{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: m.GetNamespace(), Name: m.GetName()}})
	id := h.id(o)
	delete(h.world, id)
	for i := range h.podIDs {
		if h.podIDs[i] == id {
			h.podIDs = append(h.podIDs[:i], h.podIDs[i+1:]...)
			break
		}
	}
	for i := range h.nodeIDs {
		if _, ok := o.(*v1.Node); ok && h.nodeIDs[i] == m.GetName() {
			h.nodeIDs = append(h.nodeIDs[:i], h.nodeIDs[i+1:]...)
			break
		}
	}
}

func (h *happen) next(prefix string) string {
	h.names++
	return fmt.Sprintf("%s-%d", prefix, h.names)
}

// ---- things

func (h *happen) newNode() *v1.Node {
	name := h.next("n")
	alloc := v1.ResourceList{"cpu": q(pick(h.gen, "1", "2", "2", "3")), "memory": q(pick(h.gen, "2Gi", "4Gi", "8Gi")), "pods": q(pick(h.gen, "3", "110", "110"))}
	n := &v1.Node{TypeMeta: meta("v1", "Node"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}},
		Status: v1.NodeStatus{Allocatable: alloc, Capacity: alloc.DeepCopy(), Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}}
	if h.chance(85) {
		n.Labels["topology.kubernetes.io/zone"] = pick(h.gen, "z1", "z2", "z3")
	}
	if h.chance(30) {
		n.Labels["disk"] = pick(h.gen, "ssd", "hdd")
	}
	tainted, cordoned := 8, 3
	if slices.Contains(h.themes, 2) {
		tainted, cordoned = 50, 10
	}
	if h.chance(tainted) {
		n.Spec.Taints = []v1.Taint{{Key: pick(h.gen, "dedicated", "gpu"), Value: pick(h.gen, "a", "b"), Effect: pick(h.gen, v1.TaintEffectNoSchedule, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule)}}
	}
	if h.chance(cordoned) {
		n.Spec.Unschedulable = true
	}
	return n
}

func (h *happen) class(name string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{TypeMeta: meta("storage.k8s.io/v1", "StorageClass"), ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &mode}
}

func (h *happen) claimFor(ns, name string) *v1.PersistentVolumeClaim {
	class := pick(h.gen, "fast", "fast", "late", "gone")
	return &v1.PersistentVolumeClaim{TypeMeta: meta("v1", "PersistentVolumeClaim"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns},
		Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: &class,
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{"storage": q("100Gi")}}}, Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}}
}

// volume is too small for any claim: only volumes that the history binds itself are used, because
// no volume controller runs.
func (h *happen) volume(name, size string) *v1.PersistentVolume {
	zone := pick(h.gen, "z1", "z2", "z3")
	pv := &v1.PersistentVolume{TypeMeta: meta("v1", "PersistentVolume"), ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeSpec{Capacity: v1.ResourceList{"storage": q(size)}, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: "late",
			PersistentVolumeSource: v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/data"}}}}
	if h.chance(60) {
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
			{Key: "topology.kubernetes.io/zone", Operator: v1.NodeSelectorOpIn, Values: []string{zone}}}}}}}
	}
	if h.chance(30) {
		pv.Labels = map[string]string{"topology.kubernetes.io/zone": zone}
	}
	return pv
}

func (h *happen) budget() *policyv1.PodDisruptionBudget {
	least := intstr.FromInt32(int32(h.IntN(3)))
	return &policyv1.PodDisruptionBudget{TypeMeta: meta("policy/v1", "PodDisruptionBudget"), ObjectMeta: metav1.ObjectMeta{Name: h.next("pdb"), Namespace: "default"},
		Spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(h.gen, "web", "db")}}},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(h.IntN(2))}}
}

func (h *happen) plainPod(name string, cpu ...string) *v1.Pod {
	prio := pick(h.gen, int32(0), 0, 0, 10, 100, 1000)
	p := &v1.Pod{TypeMeta: meta("v1", "Pod"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick(h.gen, h.spaces...), Labels: map[string]string{"app": pick(h.gen, "web", "db", "cache", "log")}},
		Spec: v1.PodSpec{SchedulerName: "default-scheduler", Priority: &prio, Containers: []v1.Container{{Name: "c", Image: "registry.local/web:v1",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": q(pick(h.gen, cpu...)), "memory": q(pick(h.gen, "64Mi", "500Mi", "1Gi"))}}}}}}
	if h.chance(8) {
		never := v1.PreemptNever
		p.Spec.PreemptionPolicy = &never
	}
	return p
}

func (h *happen) runningPod() *v1.Pod {
	p := h.plainPod(h.next("run"), "100m", "500m", "1", "1500m")
	prio := pick(h.gen, int32(0), 0, 10, 500)
	p.Spec.Priority = &prio
	if slices.Contains(h.themes, 5) && h.chance(60) {
		p.Labels["app"] = "web"
	}
	p.Spec.NodeName = pick(h.gen, h.nodeIDs...)
	p.Status.Phase = v1.PodRunning
	if h.chance(20) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: pick(h.gen, int32(8080), 9000)}}
	}
	if h.chance(15) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{h.term()}}}
	}
	if h.chance(40) {
		p.Finalizers = []string{"example.com/hold"} // after its eviction it stays
	}
	return p
}

func (h *happen) term() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(h.gen, "web", "db", "cache", "log")}}, TopologyKey: pick(h.gen, "kubernetes.io/hostname", "topology.kubernetes.io/zone")}
	if h.chance(30) {
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(h.gen, "red", "blue")}}
	}
	return t
}

// waitingPod has one or two properties that may make it unschedulable.
func (h *happen) waitingPod() *v1.Pod {
	p := h.plainPod(h.next("new"), "100m", "250m", "500m", "1", "1500m")
	if h.chance(2) {
		leaving(p)
	}
	for range 1 + h.IntN(2) {
		switch h.theme() {
		case 0, 1:
			p.Spec.Containers[0].Resources.Requests["cpu"] = q(pick(h.gen, "2", "3", "3500m", "6"))
		case 2:
			p.Spec.Tolerations = []v1.Toleration{{Key: pick(h.gen, "dedicated", "gpu"), Operator: v1.TolerationOpExists}}
		case 3:
			p.Spec.NodeSelector = map[string]string{"disk": pick(h.gen, "ssd", "hdd", "nvme")}
		case 4:
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: pick(h.gen, "topology.kubernetes.io/zone", "rack"), Operator: pick(h.gen, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: []string{pick(h.gen, "z1", "z2", "z4", "a")}}}}}}}}
		case 5:
			p.Labels["app"] = "web"
			p.Spec.Containers[0].Resources.Requests["cpu"] = q("50m")
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: pick(h.gen, "topology.kubernetes.io/zone", "kubernetes.io/hostname"), WhenUnsatisfiable: v1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}}}
			if h.chance(60) {
				least := pick(h.gen, int32(2), 3, 4)
				p.Spec.TopologySpreadConstraints[0].MinDomains = &least
			}
		case 6:
			p.Spec.Containers[0].Resources.Requests["cpu"] = q("50m")
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{h.term()}}}
		case 7:
			p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{h.term()}}}
		case 8:
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: pick(h.gen, int32(8080), 9000)}}
		case 9:
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
			if h.chance(30) {
				p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: "example.com/more"})
			}
		case 10:
			p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: pick(h.gen, "data-a", "data-b", "data-c")}}}}
		case 11, 12:
			prio := pick(h.gen, int32(100), 1000, 1000, 2000)
			p.Spec.Priority = &prio
			p.Spec.Containers[0].Resources.Requests["cpu"] = q(pick(h.gen, "1", "1500m", "2"))
		}
	}
	return p
}

// leaving: being deleted, but with a finalizer.
func leaving(p *v1.Pod) {
	p.Finalizers = []string{"example.com/hold"}
	p.DeletionTimestamp = &metav1.Time{Time: epoch}
}

func (h *happen) theme() int {
	if h.chance(25) {
		return h.IntN(len(themeNames))
	}
	return pick(h.gen, h.themes...)
}

// ---- events

// event makes a random event; half of the time one that pods of a theme may wait for.
func (h *happen) event() {
	if h.chance(50) && h.themed() {
		return
	}
	switch h.IntN(24) {
	case 0:
		n := h.newNode()
		if h.chance(50) {
			n.Status.Allocatable["cpu"], n.Status.Capacity["cpu"] = q("8"), q("8")
		}
		h.put(n)
	case 1:
		if len(h.nodeIDs) > 1 {
			h.drop(h.world["Node /"+pick(h.gen, h.nodeIDs...)])
		}
	case 2, 3, 4, 5, 6, 7:
		h.nodeEvent(h.IntN(10))
	case 8, 9:
		if o := h.pod(true); o != nil {
			h.drop(o)
		}
	case 10:
		h.put(h.runningPod())
	case 11, 12:
		if o := h.pod(true); o != nil {
			h.podEvent(o, h.IntN(9))
		}
	case 13, 14, 15, 16, 17:
		if o := h.pod(false); o != nil {
			h.podEvent(o, h.IntN(9))
		}
	case 18:
		if o := h.pod(false); o != nil && h.chance(60) {
			h.drop(o)
		} else {
			h.put(h.waitingPod())
		}
	case 19, 20, 21:
		h.storageEvent()
	case 22:
		ns := h.world["Namespace /"+pick(h.gen, h.spaces...)].DeepCopyObject().(*v1.Namespace)
		ns.Labels["team"] = pick(h.gen, "red", "blue")
		h.put(ns)
	case 23:
		h.put(h.budget())
	}
}

func (h *happen) themed() bool {
	bound, waiting := h.pod(true), h.pod(false)
	switch h.theme() {
	case 0, 1, 11, 12:
		switch {
		case h.chance(25):
			h.nodeEvent(6)
		case bound != nil && h.chance(60):
			h.drop(bound)
		case bound != nil && h.chance(50):
			h.podEvent(bound, 6)
		case waiting != nil:
			h.podEvent(waiting, 6)
		}
	case 2:
		if h.chance(60) {
			h.nodeEvent(3 + h.IntN(3))
		} else if waiting != nil {
			waiting.Spec.SchedulingGates = nil
			h.podEvent(waiting, 3)
		}
	case 3:
		h.nodeEvent(0)
	case 4:
		h.nodeEvent(pick(h.gen, 1, 1, 2))
	case 5, 6, 7:
		switch {
		case h.chance(25):
			h.nodeEvent(1)
		case bound != nil && h.chance(50):
			h.podEvent(bound, 0)
		case bound != nil && h.chance(40):
			h.drop(bound)
		default:
			h.put(h.runningPod())
		}
	case 8:
		if bound != nil {
			h.drop(bound)
		}
	case 9:
		for _, id := range h.podIDs {
			if p := h.world[id].(*v1.Pod); len(p.Spec.SchedulingGates) > 0 && h.chance(60) {
				h.podEvent(p.DeepCopy(), 3)
				return true
			}
		}
		return false
	case 10:
		h.storageEvent()
	}
	return true
}

// pod returns a copy of one that was created bound, or unbound, or nil.
func (h *happen) pod(bound bool) *v1.Pod {
	var from []*v1.Pod
	for _, id := range h.podIDs {
		if p := h.world[id].(*v1.Pod); (p.Spec.NodeName != "") == bound {
			from = append(from, p)
		}
	}
	if len(from) == 0 {
		return nil
	}
	return pick(h.gen, from...).DeepCopy()
}

func (h *happen) nodeEvent(what int) {
	n := h.world["Node /"+pick(h.gen, h.nodeIDs...)].DeepCopyObject().(*v1.Node)
	switch what {
	case 0:
		n.Labels["disk"] = pick(h.gen, "ssd", "hdd", "nvme")
	case 1:
		n.Labels["topology.kubernetes.io/zone"] = pick(h.gen, "z1", "z2", "z3", "z4")
	case 2:
		n.Labels["note"] = h.next("x")
	case 3, 4:
		n.Spec.Taints = nil
	case 5:
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: h.next("t"), Effect: v1.TaintEffectNoSchedule})
	case 6:
		cpu := pick(h.gen, "1", "2", "4", "8")
		n.Status.Allocatable["cpu"], n.Status.Capacity["cpu"] = q(cpu), q(cpu)
	case 7:
		n.Status.Allocatable["pods"] = q(pick(h.gen, "2", "110"))
	case 8:
		n.Annotations = map[string]string{"note": h.next("x")}
	case 9:
		n.Spec.Unschedulable = !n.Spec.Unschedulable
		if h.chance(30) {
			n.Status.Conditions[0].Status = pick(h.gen, v1.ConditionTrue, v1.ConditionFalse)
		}
	}
	h.put(n)
}

func (h *happen) podEvent(p *v1.Pod, what int) {
	switch what {
	case 0:
		p.Labels["app"] = pick(h.gen, "web", "db", "cache", "log")
	case 1:
		p.Labels["note"] = h.next("x")
	case 2:
		p.Annotations = map[string]string{"note": h.next("x")}
	case 3, 4:
		if len(p.Spec.SchedulingGates) > 0 {
			p.Spec.SchedulingGates = p.Spec.SchedulingGates[1:]
			break
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: pick(h.gen, "dedicated", "gpu", "other"), Operator: v1.TolerationOpExists})
	case 5:
		p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	case 6, 7:
		p.Spec.Containers[0].Resources.Requests["cpu"] = q(pick(h.gen, "50m", "50m", "200m", "2"))
	case 8:
		if p.Spec.NodeName != "" {
			p.Status.Phase = pick(h.gen, v1.PodSucceeded, v1.PodFailed)
		} else if h.chance(70) {
			p.Spec.SchedulingGates = nil
			p.Labels["tier"] = pick(h.gen, "front", "back")
		} else {
			leaving(p)
		}
	}
	h.put(p)
}

func (h *happen) storageEvent() {
	ns, name := pick(h.gen, h.spaces...), pick(h.gen, "data-a", "data-b", "data-c")
	id := "PersistentVolumeClaim " + ns + "/" + name
	switch h.IntN(8) {
	case 0, 1, 2:
		if o, ok := h.world[id]; ok && h.chance(20) {
			h.drop(o)
			break
		}
		h.put(h.claimFor(ns, name))
	case 3, 4: // bound, as the volume controller would
		o, ok := h.world[id]
		if !ok {
			break
		}
		c := o.DeepCopyObject().(*v1.PersistentVolumeClaim)
		pv := h.volume(h.next("pv"), "100Gi")
		pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: ns, Name: name}
		pv.Spec.StorageClassName = *c.Spec.StorageClassName
		pv.Status.Phase = v1.VolumeBound
		h.put(pv)
		c.Spec.VolumeName = pv.Name
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		c.Status.Phase = v1.ClaimBound
		h.put(c)
	case 5:
		h.put(h.volume(h.next("pv"), "1Gi"))
	case 6:
		h.put(h.class("gone", storagev1.VolumeBindingImmediate))
	case 7:
		h.put(&storagev1.CSINode{TypeMeta: meta("storage.k8s.io/v1", "CSINode"), ObjectMeta: metav1.ObjectMeta{Name: pick(h.gen, h.nodeIDs...)}})
	}
}
