// SPDX-License-Identifier: Apache-2.0

// generate: random clusters and pods, small enough to read, with many corner cases. The same seed and profile
// give the same scenarios.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourceapi "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// features of a scenario; a profile is a set of them. Resources and labels are always included.
var features = []string{"fit", "affinity", "taints", "ports", "images", "spread", "interpod", "volumes", "preemption", "gates", "nominated", "config", "edge", "dra"}

// gen generates one scenario.
type gen struct {
	*rand.Rand
	on      map[string]bool
	objects []runtime.Object
	nodes   []*v1.Node
	spaces  []string
	pvcs    []*v1.PersistentVolumeClaim
	classes []string

	resourceClaims []*resourceapi.ResourceClaim
	devices        devices
	moreClaimNames []types.NamespacedName
}

func runGenerate(args []string) error {
	fs := flag.NewFlagSet("generate", flag.ExitOnError)
	seed := fs.Uint64("seed", 1, "first seed; each scenario uses the next one")
	count := fs.Int("count", 100, "scenarios")
	profile := fs.String("profile", "mixed", "comma-separated features of "+strings.Join(slices.Concat(features, laterFeatures, gateFeatures), ",")+"; or mixed: a random subset each, the last "+fmt.Sprint(len(laterFeatures)+len(gateFeatures))+" never")
	nodes := fs.Int("nodes", 12, "most nodes in a scenario")
	pending := fs.Int("pending", 8, "most pending pods in a scenario")
	_ = fs.Parse(args)
	known := map[string]bool{}
	for _, f := range slices.Concat(features, laterFeatures, gateFeatures) {
		known[f] = true
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := 0; i < *count; i++ {
		s := *seed + uint64(i)
		g := &gen{Rand: rand.New(rand.NewPCG(s, 0x6265727468)), on: map[string]bool{}}
		if *profile == "mixed" {
			for _, f := range features {
				g.on[f] = g.chance(45)
			}
		} else {
			for _, f := range strings.Split(*profile, ",") {
				if !known[f] {
					return fmt.Errorf("unknown feature %q; there are %v", f, features)
				}
				g.on[f] = true
			}
		}
		sc, err := g.scenario(fmt.Sprintf("%s-%d", *profile, s), 1+g.IntN(*nodes), 1+g.IntN(*pending))
		if err != nil {
			return err
		}
		if err := enc.Encode(sc); err != nil {
			return err
		}
	}
	return nil
}

func (g *gen) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *gen, from ...T) T { return from[g.IntN(len(from))] }

func (g *gen) add(o runtime.Object) { g.objects = append(g.objects, o) }

func (g *gen) scenario(id string, nodeN, pendingN int) (*Scenario, error) {
	g.spaces = []string{"default", "blue", "green"}
	for _, ns := range g.spaces {
		g.add(&v1.Namespace{TypeMeta: meta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: ns,
			Labels: map[string]string{"kubernetes.io/metadata.name": ns, "team": pick(g, "red", "blue")}}})
	}
	if g.on["volumes"] {
		g.storage()
	}
	for i := range nodeN {
		g.node(i)
	}
	if g.on["volumes"] {
		g.volumes()
	}
	if g.on["dra"] {
		g.deviceClasses()
		g.claims(g.slices())
	}
	if g.on["dra2"] {
		g.moreDevices()
	}
	if g.on["vol2"] {
		g.moreStorage()
	}
	most := pick(g, 1, 2, 3, 6) * nodeN
	if g.on["preemption"] {
		most = 10 * nodeN
	}
	for i := range g.IntN(most) {
		p := g.pod(fmt.Sprintf("run-%d", i))
		p.Spec.NodeName = pick(g, g.nodes...).Name
		p.Spec.SchedulingGates = nil
		p.Spec.Affinity = g.keepTerms(p.Spec.Affinity)
		p.Status = v1.PodStatus{Phase: v1.PodRunning, ResourceClaimStatuses: p.Status.ResourceClaimStatuses, StartTime: &metav1.Time{Time: metav1.Unix(1700000000+int64(g.IntN(5000)), 0).Time}}
		if g.on["edge"] && g.chance(5) {
			p.Status.Phase = pick(g, v1.PodSucceeded, v1.PodFailed)
		}
		if g.chance(5) {
			p.DeletionTimestamp = &metav1.Time{Time: metav1.Unix(1700009000, 0).Time}
			p.Finalizers = []string{"example.com/hold"}
		}
		g.add(p)
	}
	if g.on["preemption"] {
		g.budgets()
	}
	if g.on["spread"] && g.chance(50) { // pods of a Service get the default constraints
		for _, ns := range g.spaces {
			g.add(&v1.Service{TypeMeta: meta("v1", "Service"), ObjectMeta: metav1.ObjectMeta{Name: "svc", Namespace: ns},
				Spec: v1.ServiceSpec{Selector: map[string]string{"app": pick(g, "web", "db")}}})
		}
	}
	sc := &Scenario{ID: id}
	for i := range pendingN {
		p := g.pod(fmt.Sprintf("new-%d", i))
		if g.on["nominated"] && g.chance(30) {
			p.Status.NominatedNodeName = pick(g, g.nodes...).Name
		}
		g.add(p)
		sc.Pending = append(sc.Pending, key(p))
	}
	if g.on["config"] {
		sc.Config = g.config()
	}
	g.later()
	g.byGates()
	sc.Gates = g.gates()
	var on []string
	for f := range g.on {
		if g.on[f] {
			on = append(on, f)
		}
	}
	sort.Strings(on)
	sc.Note = strings.Join(on, " ")
	for _, o := range g.objects {
		raw, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		sc.Objects = append(sc.Objects, raw)
	}
	return sc, nil
}

func meta(api, kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: api, Kind: kind} }

func q(s string) resource.Quantity { return resource.MustParse(s) }

var zones = []string{"z1", "z2", "z3", "z4"}

func (g *gen) node(i int) {
	name := fmt.Sprintf("n%d", i)
	labels := map[string]string{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": pick(g, "amd64", "arm64")}
	if g.chance(90) {
		labels["topology.kubernetes.io/zone"] = pick(g, zones...)
		labels["topology.kubernetes.io/region"] = "r1"
	}
	if g.chance(60) {
		labels["disk"] = pick(g, "ssd", "hdd", "nvme")
	}
	if g.chance(60) {
		labels["gen"] = pick(g, "1", "2", "3", "10", "007", "x")
	}
	if g.chance(50) {
		labels["rack"] = pick(g, "a", "b", "c")
	}
	alloc := v1.ResourceList{
		"cpu":               q(pick(g, "1", "2", "3910m", "4", "7.5", "8", "16", "16", "64")),
		"memory":            q(pick(g, "1Gi", "2G", "4Gi", "7975216Ki", "16Gi", "33554432k", "64Gi", "1Ti")),
		"ephemeral-storage": q(pick(g, "10Gi", "100Gi", "47093746742")),
		"pods":              q(pick(g, "3", "8", "110", "110", "250")),
	}
	if g.on["preemption"] { // small nodes, so that pods compete
		alloc["cpu"], alloc["memory"] = q(pick(g, "2", "3", "4")), q(pick(g, "4Gi", "6Gi", "8Gi"))
	}
	if g.chance(30) {
		alloc["nvidia.com/gpu"] = q(pick(g, "1", "4", "8"))
	}
	if g.chance(20) {
		alloc["example.com/widget"] = q(pick(g, "2", "5", "1k"))
	}
	if g.chance(20) {
		alloc["hugepages-2Mi"] = q(pick(g, "64Mi", "1Gi"))
	}
	if g.on["edge"] && g.chance(8) {
		delete(alloc, pick(g, v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods, v1.ResourceEphemeralStorage))
	}
	if g.on["edge"] && g.chance(5) {
		alloc[pick(g, v1.ResourceCPU, v1.ResourceMemory)] = q("0")
	}
	n := &v1.Node{TypeMeta: meta("v1", "Node"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: v1.NodeStatus{Allocatable: alloc, Capacity: alloc.DeepCopy(),
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}}
	if g.on["taints"] {
		for range g.IntN(pick(g, 1, 2, 3)) {
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: pick(g, "dedicated", "gpu", "node.kubernetes.io/not-ready"),
				Value: pick(g, "", "a", "b"), Effect: pick(g, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)})
		}
		if g.chance(10) {
			n.Spec.Unschedulable = true
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "node.kubernetes.io/unschedulable", Effect: v1.TaintEffectNoSchedule})
		} else if g.chance(4) {
			n.Spec.Unschedulable = true
		}
	}
	if g.on["images"] {
		for _, im := range images {
			if g.chance(40) {
				n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{im.name, "mirror.local/" + im.name}, SizeBytes: im.size})
			}
		}
	}
	if g.on["volumes"] && !g.on["vol2"] && g.chance(80) {
		g.csiNode(name)
	}
	g.nodes = append(g.nodes, n)
	g.add(n)
}

var images = []struct {
	name string
	size int64
}{{"registry.local/web:v1", 40 << 20}, {"registry.local/big", 900 << 20}, {"registry.local/huge:latest", 4 << 30}, {"registry.local/app@sha256:" + strings.Repeat("ab", 32), 300 << 20}}

func (g *gen) labels() map[string]string {
	l := map[string]string{"app": pick(g, "web", "db", "cache")}
	if g.chance(60) {
		l["tier"] = pick(g, "front", "back")
	}
	if g.chance(30) {
		l["rev"] = pick(g, "1", "2")
	}
	return l
}

func (g *gen) pod(name string) *v1.Pod {
	p := &v1.Pod{TypeMeta: meta("v1", "Pod"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick(g, g.spaces...), Labels: g.labels()},
		Spec: v1.PodSpec{SchedulerName: "default-scheduler", Containers: []v1.Container{g.container("c0")}}}
	if g.on["fit"] {
		g.richResources(p)
	}
	if g.on["affinity"] {
		g.nodeAffinity(p)
	}
	if g.on["taints"] {
		for range g.IntN(3) {
			t := v1.Toleration{Key: pick(g, "dedicated", "gpu", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable", ""), Value: pick(g, "", "a", "b"),
				Operator: pick(g, v1.TolerationOpEqual, v1.TolerationOpExists, ""), Effect: pick(g, "", v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}
			if t.Key == "" {
				t.Operator = v1.TolerationOpExists
			}
			if t.Operator == v1.TolerationOpExists {
				t.Value = ""
			}
			p.Spec.Tolerations = append(p.Spec.Tolerations, t)
		}
	}
	if g.on["ports"] && g.chance(60) {
		for range 1 + g.IntN(2) {
			p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, v1.ContainerPort{ContainerPort: 80, HostPort: pick(g, int32(0), 80, 8080, 9000),
				Protocol: pick(g, v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP), HostIP: pick(g, "", "", "127.0.0.1", "10.0.0.1", "0.0.0.0")})
		}
	}
	if g.on["images"] {
		p.Spec.Containers[0].Image = pick(g, "registry.local/web:v1", "registry.local/big", "registry.local/big:latest", "registry.local/huge", images[3].name, "mirror.local/registry.local/web:v1", "unknown:1")
	}
	if g.on["spread"] {
		g.spread(p)
	}
	if g.on["interpod"] {
		g.interpod(p)
	}
	if g.on["volumes"] && len(g.pvcs) > 0 && g.chance(60) {
		g.mounts(p)
	}
	if g.on["dra"] && strings.HasPrefix(name, "new-") && len(p.Spec.Volumes) == 0 && g.chance(75) {
		g.claim(p)
	}
	if g.on["vol2"] && g.chance(60) {
		g.moreMounts(p)
	}
	if g.on["dra2"] && g.chance(70) {
		g.useDevices(p, strings.HasPrefix(name, "run-"))
	}
	if g.on["preemption"] {
		prio := pick(g, int32(0), 0, 10, 100, -5)
		if strings.HasPrefix(name, "new-") {
			prio = pick(g, int32(0), 10, 100, 1000, 1000)
			if r := p.Spec.Containers[0].Resources; r.Requests != nil && g.chance(60) {
				r.Requests["cpu"] = q(pick(g, "1", "1800m", "2", "3500m"))
			}
		}
		p.Spec.Priority = &prio
		if g.chance(10) {
			never := v1.PreemptNever
			p.Spec.PreemptionPolicy = &never
		}
	}
	if g.on["gates"] && g.chance(20) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
		if g.chance(30) {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: "example.com/more"})
		}
	}
	return p
}

func (g *gen) container(name string) v1.Container {
	c := v1.Container{Name: name, Image: "registry.local/web:v1", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{}}}
	if g.chance(85) {
		c.Resources.Requests["cpu"] = q(pick(g, "1m", "100m", "100m", "250m", "250m", "0.5", "0.5", "1", "1500m", "3"))
	}
	if g.chance(85) {
		c.Resources.Requests["memory"] = q(pick(g, "1", "64Mi", "200M", "200M", "500Mi", "500Mi", "1Gi", "1536Mi", "0.5Gi", "3Gi"))
	}
	return c
}

func (g *gen) richResources(p *v1.Pod) {
	for i := range g.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(fmt.Sprintf("c%d", i+1)))
	}
	r := p.Spec.Containers[0].Resources.Requests
	if g.chance(15) {
		r["nvidia.com/gpu"] = q(pick(g, "0", "1", "2", "4"))
	}
	if g.chance(10) {
		r["example.com/widget"] = q(pick(g, "1", "3", "500"))
	}
	if g.chance(10) {
		r["ephemeral-storage"] = q(pick(g, "1Gi", "20Gi", "99Gi"))
	}
	if g.chance(8) {
		r["hugepages-2Mi"] = q(pick(g, "2Mi", "64Mi", "128Mi"))
	}
	if g.chance(25) {
		always := v1.ContainerRestartPolicyAlways
		for i := range 1 + g.IntN(2) {
			c := g.container(fmt.Sprintf("i%d", i))
			if g.chance(40) {
				c.RestartPolicy = &always
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	if g.chance(15) {
		p.Spec.Overhead = v1.ResourceList{"cpu": q(pick(g, "10m", "250m")), "memory": q(pick(g, "32Mi", "120Mi"))}
	}
	if g.chance(12) {
		p.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": q(pick(g, "8", "10", "9500m"))}}
		if g.chance(50) {
			p.Spec.Resources.Requests["memory"] = q(pick(g, "20Gi", "40Gi"))
		}
	}
	if g.chance(15) { // limits only: the API server copies them to requests
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{Limits: v1.ResourceList{"cpu": q("700m"), "memory": q("300Mi")}}
	}
}

func (g *gen) nodeTerm() v1.NodeSelectorTerm {
	var t v1.NodeSelectorTerm
	for range g.IntN(3) {
		r := v1.NodeSelectorRequirement{Key: pick(g, "disk", "gen", "rack", "topology.kubernetes.io/zone", "kubernetes.io/arch", "absent")}
		r.Operator = pick(g, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt)
		switch r.Operator {
		case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
			for range 1 + g.IntN(3) {
				r.Values = append(r.Values, pick(g, "ssd", "hdd", "1", "2", "a", "b", "z1", "z2", "z3", "amd64"))
			}
		case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
			r.Key, r.Values = pick(g, "gen", "gen", "disk"), []string{pick(g, "1", "2", "5", "0")}
		}
		t.MatchExpressions = append(t.MatchExpressions, r)
	}
	if g.chance(15) {
		t.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: pick(g, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: []string{pick(g, "n0", "n1", "n2", "gone")}}}
	}
	return t
}

func (g *gen) nodeAffinity(p *v1.Pod) {
	if g.chance(15) {
		p.Spec.NodeSelector = map[string]string{pick(g, "disk", "rack"): pick(g, "ssd", "hdd", "a", "b")}
	}
	a := &v1.NodeAffinity{}
	if g.chance(30) {
		a.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{}
		for range 1 + g.IntN(2) {
			s := a.RequiredDuringSchedulingIgnoredDuringExecution
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.nodeTerm())
		}
	}
	for range g.IntN(3) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			v1.PreferredSchedulingTerm{Weight: pick(g, int32(1), 7, 50, 100), Preference: g.nodeTerm()})
	}
	p.Spec.Affinity = &v1.Affinity{NodeAffinity: a}
	if g.on["edge"] && g.chance(5) {
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{}
	}
}

func (g *gen) selector() *metav1.LabelSelector {
	if g.on["edge"] && g.chance(10) {
		return pick(g, nil, &metav1.LabelSelector{})
	}
	if g.chance(70) {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(g, "web", "db", "cache")}}
	}
	op := pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)
	r := metav1.LabelSelectorRequirement{Key: pick(g, "app", "tier", "rev"), Operator: op}
	if op == metav1.LabelSelectorOpIn || op == metav1.LabelSelectorOpNotIn {
		r.Values = []string{pick(g, "web", "front", "1"), pick(g, "db", "back", "2")}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}}
}

var topologyKeys = []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "disk"}

func (g *gen) spread(p *v1.Pod) {
	seen := map[string]bool{}
	for range g.IntN(pick(g, 1, 3, 4)) {
		c := v1.TopologySpreadConstraint{MaxSkew: pick(g, int32(1), 1, 2, 5), TopologyKey: pick(g, topologyKeys...),
			WhenUnsatisfiable: pick(g, v1.DoNotSchedule, v1.ScheduleAnyway), LabelSelector: g.selector()}
		if seen[c.TopologyKey+string(c.WhenUnsatisfiable)] {
			continue // the API rejects a second one
		}
		seen[c.TopologyKey+string(c.WhenUnsatisfiable)] = true
		if c.WhenUnsatisfiable == v1.DoNotSchedule && g.chance(25) {
			m := pick(g, int32(1), 2, 3, 5)
			c.MinDomains = &m
		}
		if g.chance(30) {
			pol := pick(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore)
			c.NodeAffinityPolicy = &pol
		}
		if g.chance(30) {
			pol := pick(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore)
			c.NodeTaintsPolicy = &pol
		}
		if c.LabelSelector != nil && g.chance(20) {
			c.MatchLabelKeys = []string{pick(g, "rev", "tier")}
			if len(c.LabelSelector.MatchLabels)+len(c.LabelSelector.MatchExpressions) > 0 {
				for _, r := range c.LabelSelector.MatchExpressions {
					if r.Key == c.MatchLabelKeys[0] {
						c.MatchLabelKeys = nil
						break
					}
				}
			}
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func (g *gen) podTerm() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{TopologyKey: pick(g, topologyKeys...), LabelSelector: g.selector()}
	switch {
	case g.chance(20):
		t.Namespaces = []string{pick(g, g.spaces...)}
	case g.chance(20):
		t.NamespaceSelector = pick(g, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(g, "red", "blue")}})
	}
	return t
}

func (g *gen) interpod(p *v1.Pod) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	if g.chance(40) {
		a := &v1.PodAffinity{}
		if g.chance(50) {
			a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, g.podTerm())
		}
		for range g.IntN(3) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.WeightedPodAffinityTerm{Weight: pick(g, int32(1), 10, 100), PodAffinityTerm: g.podTerm()})
		}
		p.Spec.Affinity.PodAffinity = a
	}
	if g.chance(40) {
		a := &v1.PodAntiAffinity{}
		if g.chance(50) {
			a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, g.podTerm())
		}
		for range g.IntN(3) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.WeightedPodAffinityTerm{Weight: pick(g, int32(1), 10, 100), PodAffinityTerm: g.podTerm()})
		}
		p.Spec.Affinity.PodAntiAffinity = a
	}
}

// keepTerms: half of the bound pods have no affinity, so that their terms do not exclude everything.
func (g *gen) keepTerms(a *v1.Affinity) *v1.Affinity {
	if g.chance(50) {
		return nil
	}
	return a
}

func (g *gen) storage() {
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	g.classes = []string{"late", "early", "static", "zoned"}
	g.add(&storagev1.StorageClass{TypeMeta: meta("storage.k8s.io/v1", "StorageClass"), ObjectMeta: metav1.ObjectMeta{Name: "late"}, Provisioner: "csi.example.com", VolumeBindingMode: &wait})
	g.add(&storagev1.StorageClass{TypeMeta: meta("storage.k8s.io/v1", "StorageClass"), ObjectMeta: metav1.ObjectMeta{Name: "early"}, Provisioner: "csi.example.com", VolumeBindingMode: &now})
	g.add(&storagev1.StorageClass{TypeMeta: meta("storage.k8s.io/v1", "StorageClass"), ObjectMeta: metav1.ObjectMeta{Name: "static"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait})
	g.add(&storagev1.StorageClass{TypeMeta: meta("storage.k8s.io/v1", "StorageClass"), ObjectMeta: metav1.ObjectMeta{Name: "zoned"}, Provisioner: "csi.example.com", VolumeBindingMode: &wait,
		AllowedTopologies: []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "topology.kubernetes.io/zone", Values: []string{"z1", "z2"}}}}}})
	capacity := g.chance(30)
	g.add(&storagev1.CSIDriver{TypeMeta: meta("storage.k8s.io/v1", "CSIDriver"), ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &capacity}})
	if capacity {
		c := q("5Gi")
		g.add(&storagev1.CSIStorageCapacity{TypeMeta: meta("storage.k8s.io/v1", "CSIStorageCapacity"), ObjectMeta: metav1.ObjectMeta{Name: "cap-1", Namespace: "default"},
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{"topology.kubernetes.io/zone": "z1"}}, StorageClassName: "late", Capacity: &c})
	}
}

func (g *gen) csiNode(name string) {
	d := storagev1.CSINodeDriver{Name: "csi.example.com", NodeID: name, TopologyKeys: []string{"topology.kubernetes.io/zone"}}
	if g.chance(60) {
		n := pick(g, int32(0), 1, 2, 3, 20)
		d.Allocatable = &storagev1.VolumeNodeResources{Count: &n}
	}
	g.add(&storagev1.CSINode{TypeMeta: meta("storage.k8s.io/v1", "CSINode"), ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{d}}})
}

func (g *gen) volumes() {
	fsMode := v1.PersistentVolumeFilesystem
	for i := range 2 + g.IntN(8) {
		class := pick(g, g.classes...)
		ns := pick(g, g.spaces...)
		name := fmt.Sprintf("claim-%d", i)
		mode := pick(g, v1.ReadWriteOnce, v1.ReadWriteOnce, v1.ReadOnlyMany, v1.ReadWriteOncePod)
		c := &v1.PersistentVolumeClaim{TypeMeta: meta("v1", "PersistentVolumeClaim"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, UID: uid(90000 + i), Annotations: map[string]string{}},
			Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{mode}, VolumeMode: &fsMode,
				Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{"storage": q(pick(g, "1Gi", "8Gi"))}}},
			Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}}
		bound := g.chance(55)
		if bound || class == "static" && g.chance(70) {
			v := &v1.PersistentVolume{TypeMeta: meta("v1", "PersistentVolume"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pv-%d", i), UID: uid(80000 + i), Annotations: map[string]string{}},
				Spec: v1.PersistentVolumeSpec{StorageClassName: class, AccessModes: []v1.PersistentVolumeAccessMode{mode}, VolumeMode: &fsMode,
					Capacity:               v1.ResourceList{"storage": q(pick(g, "2Gi", "10Gi", "10Gi"))},
					PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: fmt.Sprintf("h-%d", i)}}},
				Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}
			if class == "static" {
				v.Spec.PersistentVolumeSource = v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/mnt/disk"}}
				v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
					{Key: "kubernetes.io/hostname", Operator: v1.NodeSelectorOpIn, Values: []string{pick(g, g.nodes...).Name}}}}}}}
			} else if g.chance(50) {
				v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
					{Key: "topology.kubernetes.io/zone", Operator: v1.NodeSelectorOpIn, Values: []string{pick(g, zones...)}}}}}}}
			} else if g.chance(40) {
				v.Labels = map[string]string{"topology.kubernetes.io/zone": pick(g, "z1", "z2", "z1__z3")}
			}
			if bound {
				v.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: ns, Name: name, UID: c.UID}
				v.Status.Phase = v1.VolumeBound
				c.Spec.VolumeName = v.Name
				c.Status.Phase = v1.ClaimBound
				c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
			}
			g.add(v)
		}
		g.pvcs = append(g.pvcs, c)
		g.add(c)
	}
}

func (g *gen) mounts(p *v1.Pod) {
	used := map[string]bool{}
	for i := range 1 + g.IntN(2) {
		c := pick(g, g.pvcs...)
		if used[c.Name] || i > 0 && c.Namespace != p.Namespace {
			continue
		}
		used[c.Name] = true
		p.Namespace = c.Namespace
		name := c.Name
		if g.on["edge"] && g.chance(6) {
			name = "missing"
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	if g.chance(10) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "disk", VolumeSource: v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: pick(g, "d1", "d2"), ReadOnly: g.chance(40)}}})
	}
	if g.chance(10) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "iscsi", VolumeSource: v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.9:3260", IQN: pick(g, "iqn.a", "iqn.b"), ReadOnly: g.chance(40)}}})
	}
}

func (g *gen) budgets() {
	for i := range g.IntN(4) {
		min := intstr.FromInt32(int32(g.IntN(3)))
		ns := pick(g, g.spaces...)
		g.add(&policyv1.PodDisruptionBudget{TypeMeta: meta("policy/v1", "PodDisruptionBudget"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pdb-%d", i), Namespace: ns},
			Spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: &min, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(g, "web", "db", "cache")}}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(g.IntN(3))}})
	}
}

func (g *gen) config() json.RawMessage {
	type m = map[string]any
	args := []any{}
	add := func(name string, a m) {
		a["apiVersion"], a["kind"] = "kubescheduler.config.k8s.io/v1", name+"Args"
		args = append(args, m{"name": name, "args": a})
	}
	if g.chance(60) {
		res := []any{m{"name": "cpu", "weight": 1 + g.IntN(5)}, m{"name": "memory", "weight": 1 + g.IntN(5)}}
		if g.chance(40) {
			res = append(res, m{"name": pick(g, "nvidia.com/gpu", "example.com/widget", "ephemeral-storage"), "weight": 1 + g.IntN(9)})
		}
		st := m{"type": pick(g, "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"), "resources": res}
		if st["type"] == "RequestedToCapacityRatio" {
			st["requestedToCapacityRatio"] = m{"shape": pick(g, []any{m{"utilization": 0, "score": 0}, m{"utilization": 100, "score": 10}},
				[]any{m{"utilization": 0, "score": 10}, m{"utilization": 100, "score": 0}}, []any{m{"utilization": 0, "score": 2}, m{"utilization": 40, "score": 9}, m{"utilization": 71, "score": 3}})}
		}
		a := m{"scoringStrategy": st}
		if g.chance(20) {
			a["ignoredResources"] = []any{"example.com/widget"}
		}
		if g.chance(20) {
			a["ignoredResourceGroups"] = []any{"nvidia.com"}
		}
		add("NodeResourcesFit", a)
	}
	if g.chance(30) {
		add("NodeResourcesBalancedAllocation", m{"resources": []any{m{"name": "cpu", "weight": 1}, m{"name": "memory", "weight": 1}, m{"name": "nvidia.com/gpu", "weight": 1}}})
	}
	if g.chance(40) {
		add("InterPodAffinity", m{"hardPodAffinityWeight": pick(g, 0, 1, 37, 100), "ignorePreferredTermsOfExistingPods": g.chance(50)})
	}
	if g.chance(30) {
		add("NodeAffinity", m{"addedAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": m{"nodeSelectorTerms": []any{m{"matchExpressions": []any{
			m{"key": "disk", "operator": "In", "values": []any{"ssd", "hdd"}}}}}}}})
	}
	if g.chance(40) {
		if g.chance(50) {
			add("PodTopologySpread", m{"defaultingType": "List", "defaultConstraints": []any{m{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}}})
		} else {
			add("PodTopologySpread", m{"defaultingType": "List"})
		}
	}
	profile := m{"schedulerName": "default-scheduler", "pluginConfig": args}
	if g.chance(40) {
		enabled, disabled := []any{}, []any{}
		for _, name := range []string{"NodeResourcesFit", "NodeAffinity", "TaintToleration", "InterPodAffinity", "PodTopologySpread", "ImageLocality", "NodeResourcesBalancedAllocation"} {
			if g.chance(30) {
				disabled = append(disabled, m{"name": name})
				if g.chance(60) {
					enabled = append(enabled, m{"name": name, "weight": pick(g, 1, 2, 5, 10, 100)})
				}
			}
		}
		plugins := m{"score": m{"enabled": enabled, "disabled": disabled}}
		if g.chance(25) {
			plugins["filter"] = m{"disabled": []any{m{"name": pick(g, "NodePorts", "TaintToleration", "InterPodAffinity", "NodeResourcesFit")}}}
		}
		profile["plugins"] = plugins
	}
	raw, err := json.Marshal(m{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []any{profile}})
	if err != nil {
		panic(err)
	}
	return raw
}
