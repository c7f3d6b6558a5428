// SPDX-License-Identifier: Apache-2.0

// Valid but extreme objects: text that is not UTF-8, JSON that only Go accepts, very many names,
// objects of etcd's maximum size, pods that request hundreds of resources.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const claimsPath = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"

// hostile makes random objects; objects that the server rejects do not count.
type hostile struct {
	*suite
	rng            *rand.Rand
	taken, refused int
	unanswered     int            // calls that timed out: a list of the server shows whether they were carried out
	of             map[string]int // accepted ones, by resource
	pods           []string
}

// tooLarge: the server's error, with status 500, for an object that exceeds etcd's or gRPC's limit.
var tooLarge = regexp.MustCompile("request is too large|larger than max")

func (h *hostile) count(err error) error {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		h.taken++
	case errors.As(err, &status) && (status.Status().Code >= 400 && status.Status().Code < 500 || tooLarge.MatchString(err.Error())):
		h.refused++
	case apierrors.IsTimeout(err):
		h.unanswered++
	default:
		return err
	}
	return nil
}

// text is short, and often invalid UTF-8, which protobuf transports unchanged.
func (h *hostile) text() string {
	parts := []string{"a", "\xff", "\xc3", "\xed\xa0\x80", "é", "\x00", "\U0010ffff", "\xf4\x90\x80\x80", "<&>", "\u2028"}
	var b strings.Builder
	for n := 1 + h.rng.Intn(6); n > 0; n-- {
		b.WriteString(parts[h.rng.Intn(len(parts))])
	}
	return b.String()
}

// spoil puts extreme values into fields that the server does not validate.
func (h *hostile) spoil(pod *v1.Pod) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{"app": "hostile"}
	}
	for n := h.rng.Intn(3); n > 0; n-- {
		pod.Annotations[fmt.Sprintf("example.com/a%d", h.rng.Intn(4))] = h.text()
	}
	if h.rng.Intn(8) == 0 {
		pod.Annotations["example.com/large"] = strings.Repeat(h.text(), 10000)
	}
}

// widePrefix: resources that only wide pods request.
const widePrefix = "wide.example.com/r"

// bytes is a size up to etcd's limit of 1.5 MiB per request.
func (h *hostile) bytes() int { return pick(h, 200<<10, 700<<10, 1200<<10, 1480<<10) }

// enlarge fills one of the lists without a length limit.
func (h *hostile) enlarge(pod *v1.Pod) {
	word := func(i int) string { return fmt.Sprintf("w%d%s", i, strings.Repeat("x", 48)) }
	spec, room := &pod.Spec, h.bytes()-pod.Size()
	switch h.rng.Intn(6) {
	case 0:
		spec.Tolerations = times(room/90, func(i int) v1.Toleration {
			return v1.Toleration{Key: "example.com/" + word(i), Operator: v1.TolerationOpExists}
		})
	case 1: // the server stores the manager of each field, which takes more room than the field
		spec.Containers = times(room/500, func(i int) v1.Container { return v1.Container{Name: fmt.Sprintf("c%d", i), Image: "x"} })
	case 2:
		spec.Containers[0].Env = []v1.EnvVar{{Name: "LARGE", Value: strings.Repeat("\xff<&>", room/4)}}
	case 3:
		spec.Containers[0].Args = times(room/60, word)
	case 4:
		spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: h.key(0),
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: times(room/60, word)}}}}}}}
	case 5:
		spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: times(room/150, func(i int) v1.NodeSelectorTerm {
			return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "example.com/" + word(i), Operator: v1.NodeSelectorOpIn, Values: []string{word(i)}}}}
		})}}}
	}
}

func (h *hostile) newPod(name string) *v1.Pod {
	requests := v1.ResourceList{v1.ResourceCPU: resource.MustParse([]string{"100m", "250m", "1"}[h.rng.Intn(3)])}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{
		Containers: []v1.Container{{Name: "c", Image: "example/" + h.text() + "x", Args: []string{h.text()},
			Env: []v1.EnvVar{{Name: "E", Value: h.text()}}}}}}
	switch h.rng.Intn(7) {
	case 0: // too many resources for berth to schedule; on a node all of them count
		from, n := h.rng.Intn(300), 65+h.rng.Intn(236)
		for i := from; i < from+n; i++ {
			requests[v1.ResourceName(fmt.Sprintf("%s%d", widePrefix, i))] = *resource.NewQuantity(1+h.rng.Int63n(9), resource.DecimalSI)
		}
	case 1: // tolerations, and terms that match nothing
		for i := 0; i < 2000; i++ {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: fmt.Sprintf("example.com/t%d", i), Operator: v1.TolerationOpExists})
		}
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: make([]v1.NodeSelectorTerm, 500)}}}
	case 2: // an extremely large quantity
		requests["example.com/huge"] = resource.MustParse("9223372036854775807")
		requests[v1.ResourceMemory] = resource.MustParse("1e-9")
	case 3: // many containers
		for i := 0; i < 300; i++ {
			pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: fmt.Sprintf("c%d", i), Image: "x" + h.text() + "x"})
		}
	case 4:
		h.enlarge(pod)
	}
	pod.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: requests, Limits: v1.ResourceList{}}
	for name, amount := range requests {
		if strings.Contains(string(name), "/") {
			pod.Spec.Containers[0].Resources.Limits[name] = amount
		}
	}
	h.spoilSpec(&pod.Spec)
	if pod.Spec.SchedulingGates == nil && h.rng.Intn(2) == 0 { // bound at creation: it counts in any case
		pod.Spec.NodeName = pick(h, "a", "b", "a", "b", "nowhere", h.kindName())
	}
	h.spoil(pod)
	return pod
}

// spoilSpec: extreme times, counts and weights, and references to the other hostile objects.
func (h *hostile) spoilSpec(spec *v1.PodSpec) {
	spec.TerminationGracePeriodSeconds = pick(h, nil, ptr(h.int64()))
	spec.ActiveDeadlineSeconds = pick(h, nil, ptr(int64(1)), ptr(int64(math.MaxInt32)))
	spec.Tolerations = append(spec.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: pick(h, nil, ptr(h.int64()))})
	switch h.rng.Intn(8) {
	case 0:
		spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: h.kindName()}}}}
	case 1:
		spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: ptr(h.kindName())}}
	case 2:
		spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: pick[int32](h, 1, math.MaxInt32), MinDomains: pick(h, nil, ptr(int32(math.MaxInt32))), TopologyKey: h.key(0),
			WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{}}}
	case 3:
		spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: h.key(0),
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "hostile"}}, NamespaceSelector: &metav1.LabelSelector{}}}}}
	case 4:
		spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/never"}}
	}
}

// spoilStatus: phases and times that no kubelet writes.
func (h *hostile) spoilStatus(pod *v1.Pod) {
	pod.Status.StartTime = pick(h, nil, ptr(h.time()))
	pod.Status.Phase = pick(h, "", v1.PodPending, v1.PodUnknown, v1.PodRunning, v1.PodSucceeded, v1.PodPhase(h.text()))
	pod.Status.NominatedNodeName = pick(h, "", "a", "nowhere")
	pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: v1.PodConditionType(pick(h, "example.com/c", "Ready", "PodScheduled2")), Status: v1.ConditionStatus(h.text()), LastProbeTime: h.time(), LastTransitionTime: h.time(), Message: h.text()})
	pod.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", AllocatedResources: h.resources(), Resources: &v1.ResourceRequirements{Requests: h.resources()}}}
}

func (h *hostile) deletePod(ctx context.Context, name string) error {
	options := now0()
	if h.rng.Intn(4) == 0 {
		options.GracePeriodSeconds = pick(h, nil, ptr(h.int64())) // bound pods stay, and count
	}
	return h.count(h.admin.CoreV1().Pods(metav1.NamespaceDefault).Delete(ctx, name, options))
}

// poke changes a pod by its other subresources, or lets it be deleted.
func (h *hostile) poke(ctx context.Context, pod *v1.Pod) error {
	var err error
	pods := h.admin.CoreV1().Pods(pod.Namespace)
	switch h.rng.Intn(4) {
	case 0: // another scheduler's binding
		err = pods.Bind(ctx, &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Annotations: map[string]string{"example.com/a0": h.text()}},
			Target: v1.ObjectReference{Kind: "Node", Name: pick(h, "a", "b", "nowhere", h.kindName())}}, metav1.CreateOptions{})
	case 1:
		pod.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(pick(h, "0", "1n", "50m", "2", "9223372036854775807m", "1e18"))
		_, err = pods.UpdateResize(ctx, pod.Name, pod, metav1.UpdateOptions{})
	case 2:
		pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{
			Name: fmt.Sprintf("e%d", len(pod.Spec.EphemeralContainers)), Image: "x" + h.text() + "x", ImagePullPolicy: v1.PullAlways, TerminationMessagePolicy: v1.TerminationMessageReadFile}})
		_, err = pods.UpdateEphemeralContainers(ctx, pod.Name, pod, metav1.UpdateOptions{})
	case 3:
		pod.Spec.SchedulingGates = nil
		_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	}
	return h.count(err)
}

func (h *hostile) step(ctx context.Context, i int) error {
	if h.rng.Intn(2) == 0 {
		return h.play(ctx, &hostileKinds[h.rng.Intn(len(hostileKinds))])
	}
	pods := h.admin.CoreV1().Pods(metav1.NamespaceDefault)
	if len(h.pods) == 0 || h.rng.Intn(2) == 0 {
		pod := h.newPod(fmt.Sprintf("hostile-%d", i))
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		if err == nil {
			h.pods = append(h.pods, pod.Name)
		}
		return h.count(err)
	}
	at := h.rng.Intn(len(h.pods))
	name := h.pods[at]
	if h.rng.Intn(2) == 0 {
		h.pods = append(h.pods[:at], h.pods[at+1:]...)
		return h.deletePod(ctx, name)
	}
	pod, err := pods.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return h.count(err)
	}
	if h.rng.Intn(3) == 0 {
		return h.poke(ctx, pod)
	}
	if h.rng.Intn(2) == 0 {
		h.spoilStatus(pod)
		_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return h.count(err)
	}
	h.spoil(pod)
	_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	return h.count(err)
}

// claim is raw JSON, with parameters that only its driver reads.
func (h *hostile) claim(ctx context.Context, name, parameters string) error {
	body := `{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "` + name + `"}, "spec": {"devices": {` +
		`"requests": [{"name": "r", "exactly": {"deviceClassName": "none"}}], "config": [{"requests": ["r"], "opaque": {` +
		`"driver": "d.example.com", "parameters": ` + parameters + `}}]}}}`
	return h.count(h.admin.ResourceV1().RESTClient().Post().AbsPath(claimsPath).SetHeader("Content-Type", "application/json").
		Body([]byte(body)).Do(ctx).Error())
}

func (h *hostile) others(ctx context.Context) error {
	deep := strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000)
	_, err := h.admin.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "hostile"},
		Provisioner: "example.com/disk", Parameters: map[string]string{"\xff": "1", "\xfe": "2", "k": "\xc3"}}, metav1.CreateOptions{})
	return errors.Join(h.count(err), h.claim(ctx, "deep", deep), h.claim(ctx, "half", `{"a": "\ud800"}`), h.claim(ctx, "raw", "{\"a\": \"\xff\"}"))
}

// said: a waiting pod has a condition, or is gated and berth reports by which plugin.
func (h *hostile) said(ctx context.Context, berth *process) error {
	list, err := h.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if pod := &list.Items[i]; pod.Spec.NodeName == "" && !finished(pod) && pod.DeletionTimestamp == nil {
			if _, done := outcome(pod); !done {
				_, why, err := berth.get(ctx, "/debug/explain?pod=default/"+pod.Name)
				if err == nil && strings.Contains(why, "  gated  ") {
					continue // PreEnqueue writes no condition, as upstream
				}
				if !patchable(&pod.Status) {
					continue
				}
				return fmt.Errorf("pod %s waits without a word: %.2000s\n%+v", pod.Name, why, pod.Status)
			}
		}
	}
	return nil
}

// patchable: the API server can patch the status. It reads the status from JSON for that, which fails for a year of five
// digits, that it has taken as protobuf.
func patchable(status *v1.PodStatus) bool {
	text, err := json.Marshal(status)
	return err == nil && json.Unmarshal(text, &v1.PodStatus{}) == nil
}

// agrees: ledger and API have the same pods on nodes.
func agrees(ctx context.Context, berth *process) error {
	status, body, err := berth.get(ctx, "/debug/compare")
	var sides struct {
		DifferenceCount, LedgerAssumedPods *int
	}
	if err == nil {
		err = json.Unmarshal([]byte(body), &sides)
	}
	if err != nil || status != 200 || sides.DifferenceCount == nil || sides.LedgerAssumedPods == nil {
		return fmt.Errorf("/debug/compare: %d %v %s", status, err, body)
	}
	if *sides.DifferenceCount != 0 || *sides.LedgerAssumedPods != 0 {
		return fmt.Errorf("/debug/compare: %s", body)
	}
	return nil
}

// countsAll: each node's allocatable and usage equal those of kube-scheduler's NodeInfo from a fresh list.
func (h *hostile) countsAll(ctx context.Context, berth *process) error {
	nodes, err := h.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := h.admin.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		info := framework.NewNodeInfo()
		info.SetNode(&nodes.Items[i])
		for j := range pods.Items {
			if pod := &pods.Items[j]; pod.Spec.NodeName == info.Node().Name && !finished(pod) {
				info.AddPod(pod)
			}
		}
		if err := countsAsIn(ctx, berth, info); err != nil {
			return err
		}
	}
	return nil
}

// amounts of a resource in /debug/cache.
type amounts struct{ Allocatable, Used int64 }

func countsAsIn(ctx context.Context, berth *process, info *framework.NodeInfo) error {
	var cache struct {
		Items []struct {
			UsedPods  int
			Resources map[string]amounts
		}
	}
	name := info.Node().Name
	status, body, err := berth.get(ctx, "/debug/cache?limit=100000&node="+name)
	if err == nil {
		err = json.Unmarshal([]byte(body), &cache)
	}
	if err != nil || status != 200 || len(cache.Items) != 1 {
		return fmt.Errorf("/debug/cache?node=%s: %d %v %.500s", name, status, err, body)
	}
	room, used := info.Allocatable, info.Requested
	want := map[string]amounts{"cpu (milli)": {room.MilliCPU, used.MilliCPU}, "memory": {room.Memory, used.Memory}, "ephemeral-storage": {room.EphemeralStorage, used.EphemeralStorage}}
	for _, of := range []map[v1.ResourceName]int64{room.ScalarResources, used.ScalarResources} {
		for name := range of {
			want[strings.ToValidUTF8(string(name), "\ufffd")] = amounts{room.ScalarResources[name], used.ScalarResources[name]}
		}
	}
	nothing := func(_ string, a amounts) bool { return a == amounts{} }
	maps.DeleteFunc(want, nothing)
	maps.DeleteFunc(cache.Items[0].Resources, nothing)
	if !maps.Equal(cache.Items[0].Resources, want) || cache.Items[0].UsedPods != len(info.Pods) {
		return fmt.Errorf("node %s: %d pods have %v, and berth counts %d with %v", name, len(info.Pods), want, cache.Items[0].UsedPods, cache.Items[0].Resources)
	}
	return nil
}

// sumOf adds up the samples of a metric whose line matches.
func sumOf(ctx context.Context, berth *process, pattern string) (float64, error) {
	status, body, err := berth.get(ctx, "/metrics")
	if err != nil || status != 200 {
		return 0, fmt.Errorf("/metrics: %d %w", status, err)
	}
	sum := 0.0
	for _, match := range regexp.MustCompile("(?m)^"+pattern+" ([0-9.e+]+)$").FindAllStringSubmatch(body, -1) {
		value, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			return 0, err
		}
		sum += value
	}
	return sum, nil
}

// nothingLeft: no node has usage, no pod waits, and no object is listed as unread.
func nothingLeft(ctx context.Context, berth *process) error {
	status, body, err := berth.get(ctx, "/debug/cache")
	var cache struct {
		ScheduledPods, AssumedPods, QueuedPods *int
		Items                                  []struct {
			UsedPods  int
			Resources map[string]struct{ Used int64 }
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(body), &cache)
	}
	if err != nil || status != 200 || cache.ScheduledPods == nil {
		return fmt.Errorf("/debug/cache: %d %v %s", status, err, body)
	}
	left := *cache.ScheduledPods + *cache.AssumedPods + *cache.QueuedPods
	for _, node := range cache.Items {
		left += node.UsedPods
		for _, amount := range node.Resources {
			left += int(min(amount.Used, 1))
		}
	}
	unread, err := sumOf(ctx, berth, `berth_watch_unread_objects\{.*\}`)
	if err != nil || left != 0 || unread != 0 {
		return fmt.Errorf("something is left: %v, %v objects unread, %s", err, unread, body)
	}
	return nil
}

// followed: the ledger equals the API.
func (h *hostile) followed(ctx context.Context, berth *process) error {
	err := errors.Join(agrees(ctx, berth), h.knowsAll(ctx, berth), h.countsAll(ctx, berth))
	if err != nil {
		err = fmt.Errorf("%s: %w", berth.name, err)
	}
	return err
}

// notMended: no comparison found a difference between ledger and API.
func notMended(ctx context.Context, berth *process) error {
	repaired, err := sumOf(ctx, berth, "berth_audit_repaired_total")
	if err != nil || repaired != 0 {
		return fmt.Errorf("%s: %v pods had to be repaired: %w", berth.name, repaired, err)
	}
	differ, err := sumOf(ctx, berth, "berth_audit_node_differences_total")
	if err != nil || differ != 0 {
		return fmt.Errorf("%s: %v nodes differ: %w", berth.name, differ, err)
	}
	return nil
}

func hostileCase(ctx context.Context, s *suite) error {
	h := &hostile{suite: s, rng: rand.New(rand.NewSource(s.seed)), of: map[string]int{}}
	if err := s.apply(ctx, a+"\n---\n"+b); err != nil {
		return err
	}
	// The standby schedules no pod, and reads as JSON what the leader reads as protobuf.
	berth, err := s.startOpen(ctx, "berth", schedulerOptions{leader: election})
	if err != nil {
		return err
	}
	if err := s.waitLeader(ctx, berth); err != nil {
		return err
	}
	standby, err := s.startOpen(ctx, "standby", schedulerOptions{leader: election, content: "application/json"})
	if err != nil {
		return err
	}
	if err := h.others(ctx); err != nil {
		return err
	}
	for i := 0; i < 400; i++ {
		if err := h.step(ctx, i); err != nil {
			return err
		}
	}
	fmt.Printf("     seed %d: the server took %d, refused %d and left %d without an answer; beside pods it took %v\n",
		s.seed, h.taken, h.refused, h.unanswered, h.of)
	err = eventually(ctx, time.Minute, func() error {
		return errors.Join(h.said(ctx, berth), h.followed(ctx, berth), h.followed(ctx, standby))
	})
	if err != nil {
		return err
	}
	if status, body, err := berth.get(ctx, "/debug/unread"); err != nil || status != 200 || !strings.Contains(body, "UTF-8") {
		return fmt.Errorf("/debug/unread names nothing: %d %v %s", status, err, body)
	}
	everything := metav1.ListOptions{LabelSelector: labels.Everything().String()}
	err = errors.Join(h.admin.CoreV1().Pods(metav1.NamespaceDefault).DeleteCollection(ctx, now0(), everything),
		h.admin.ResourceV1().ResourceClaims(metav1.NamespaceDefault).DeleteCollection(ctx, now0(), everything),
		h.admin.StorageV1().StorageClasses().DeleteCollection(ctx, now0(), everything), h.deleteKinds(ctx))
	if err != nil {
		return err
	}
	if err := eventually(ctx, time.Minute, func() error {
		return errors.Join(agrees(ctx, berth), nothingLeft(ctx, berth), agrees(ctx, standby), nothingLeft(ctx, standby))
	}); err != nil {
		return err
	}
	if err := errors.Join(notMended(ctx, berth), notMended(ctx, standby)); err != nil {
		return err
	}
	// The room is free again: two pods that need nearly a node each.
	whole := func(i int) string { return pod(fmt.Sprintf("whole-%d", i), "app: whole", cpu("3900m"), "") }
	return errors.Join(s.makeMany(ctx, 2, whole), s.waitBound(ctx, time.Minute, 2))
}
