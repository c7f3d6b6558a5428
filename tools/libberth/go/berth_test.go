// SPDX-License-Identifier: Apache-2.0

package berth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func node(name, cpu string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Allocatable: v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}}}
}

func pod(name, cpu string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{"cpu": resource.MustParse(cpu)}}}}}}
}

func on(p *v1.Pod, node string) *v1.Pod {
	p.Spec.NodeName = node
	return p
}

func with(t testing.TB, pods []*v1.Pod, nodes ...*v1.Node) *ClusterSnapshot {
	s, err := NewClusterSnapshot(pods, nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fitting(t *testing.T, s *ClusterSnapshot, p *v1.Pod) []string {
	t.Helper()
	r, err := s.CanSchedulePod(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.NodeNames
}

func nodesOf(results []SchedulingResult) string {
	var names []string
	for _, r := range results {
		names = append(names, r.SelectedNodeName)
	}
	return strings.Join(names, ",")
}

func TestAPodFitsNodesWithRoom(t *testing.T) {
	s := with(t, []*v1.Pod{on(pod("there", "3"), "n2")}, node("n1", "4"), node("n2", "4"), node("n3", "2"))
	if got := fitting(t, s, pod("a", "2")); !slices.Equal(got, []string{"n1", "n3"}) {
		t.Fatal(got)
	}
	only, err := s.MakePlacement([]string{"n3", "n2"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.CanSchedulePod(t.Context(), pod("a", "3"), only)
	if err != nil || len(r.NodeNames) > 0 || !strings.Contains(r.Message, "0/2 nodes are available: 2 Insufficient cpu") {
		t.Fatal(r, err)
	}
	if pods, err := s.Pods(); err != nil || len(pods) != 1 {
		t.Fatal("the asked pod stayed", pods, err)
	}
	if _, err = s.MakePlacement([]string{"n9"}); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "n9") {
		t.Fatal(err)
	}
	if err = s.AddNodes(node("n4", "4")); err != nil {
		t.Fatal(err)
	}
	if got := fitting(t, s, pod("a", "3")); !slices.Equal(got, []string{"n1", "n4"}) {
		t.Fatal(got)
	}
}

func TestMutationsAreKeptRevertedAndReset(t *testing.T) {
	s := with(t, nil, node("n1", "4"), node("n2", "2"))
	pods := []*v1.Pod{pod("a", "3"), pod("b", "2"), pod("c", "2")}
	dry := SchedulePodsOptions{CommonSchedulingOptions: CommonSchedulingOptions{DryRun: true}}
	for range 2 {
		r, err := s.SchedulePods(t.Context(), pods, nil, dry)
		if err != nil || nodesOf(r) != "n1,n2," || !strings.Contains(r[2].Message, "Insufficient cpu") {
			t.Fatal(r, err)
		}
	}
	err := s.Transaction(t.Context(), func() (TransactionResult, error) {
		r, err := s.SchedulePods(t.Context(), pods, nil, SchedulePodsOptions{StopOnFailure: true})
		if len(r) != 3 {
			t.Error(r)
		}
		if nested := s.Transaction(t.Context(), nil); !errors.Is(nested, ErrBusy) {
			t.Error(nested)
		}
		if len(fitting(t, s, pod("d", "2"))) != 0 {
			t.Error("the transaction does not see its pods")
		}
		return Revert, err
	})
	if err != nil || len(fitting(t, s, pod("d", "2"))) != 2 {
		t.Fatal(err)
	}
	if err = s.Transaction(t.Context(), func() (TransactionResult, error) { return Commit, errors.New("no") }); err == nil {
		t.Fatal("the error was lost")
	}
	err = s.Transaction(t.Context(), func() (TransactionResult, error) {
		_, err := s.SchedulePods(t.Context(), pods[:1], nil, SchedulePodsOptions{})
		return Commit, err
	})
	if got := fitting(t, s, pod("d", "2")); err != nil || !slices.Equal(got, []string{"n2"}) {
		t.Fatal(got, err)
	}
	if pods[0].Spec.NodeName != "" {
		t.Fatal("the caller's pod was changed")
	}
	if err = s.ResetMutations(); err != nil || len(fitting(t, s, pod("d", "2"))) != 2 {
		t.Fatal(err)
	}
	if err = s.Delete(node("n1", "4")); err != nil || len(fitting(t, s, pod("d", "2"))) != 1 {
		t.Fatal(err)
	}
}

func TestATemplateFillsTheCluster(t *testing.T) {
	s := with(t, nil, node("n1", "4"), node("n2", "2"))
	template := &v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: pod("", "2").Spec}
	for _, max := range []int{2, 9} {
		r, err := s.SchedulePodsByTemplate(t.Context(), template, nil, max, SchedulePodsByTemplateOptions{CommonSchedulingOptions{DryRun: true}})
		if err != nil || len(r) != min(max, 4) || r[0].SelectedNodeName == "" || r[1].Pod.Spec.NodeName != r[1].SelectedNodeName {
			t.Fatal(r, err)
		}
		if max == 9 && (r[3].SelectedNodeName != "" || !strings.Contains(r[3].Message, "Insufficient cpu")) {
			t.Fatal(r)
		}
	}
	if r, err := s.SchedulePodsByTemplate(t.Context(), template, nil, 2, SchedulePodsByTemplateOptions{}); err != nil || len(r) != 2 {
		t.Fatal(err)
	}
	if pods, err := s.Pods(); err != nil || len(pods) != 2 {
		t.Fatal(pods, err)
	}
	nodes, err := s.Nodes()
	if err != nil || len(nodes) != 2 || nodes[0].Usage[0].Resource != "pods" {
		t.Fatal(nodes, err)
	}
}

func TestVictimsArePreemptedAndPutBack(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &intstr.IntOrString{IntVal: 1}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
	guarded, free, high := on(pod("guarded", "3"), "n1"), on(pod("free", "3"), "n2"), pod("high", "4")
	guarded.Labels = map[string]string{"app": "x"}
	priority := int32(5)
	high.Spec.Priority = &priority
	s := with(t, []*v1.Pod{guarded, free}, node("n1", "4"), node("n2", "4"))
	if err := s.Apply(budget); err != nil {
		t.Fatal(err)
	}
	where, victims, err := s.FindVictims(t.Context(), high)
	if err != nil || where != "n2" || !slices.Equal(victims, []Victim{{"default", "free", "n2"}}) {
		t.Fatal(where, victims, err)
	}
	if _, err = s.PreemptPods(t.Context(), []*v1.Pod{free, high}); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	u, err := s.PreemptPods(t.Context(), []*v1.Pod{free})
	if err != nil || !slices.Equal(fitting(t, s, high), []string{"n2"}) {
		t.Fatal(err)
	}
	if back, err := s.Unpreempt(u); err != nil || len(back) != 1 || len(fitting(t, s, high)) != 0 {
		t.Fatal(err)
	}
	if _, err = s.Unpreempt(u); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
	u, _ = s.PreemptPods(t.Context(), []*v1.Pod{free})
	if _, err = s.SchedulePods(t.Context(), []*v1.Pod{high}, nil, SchedulePodsOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Unpreempt(u); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
}

func TestAWorkloadIsPlacedTogetherOrNotAtAll(t *testing.T) {
	s, err := New(&Options{FeatureGates: "GenericWorkload=true"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	group, count := "gang", int32(2)
	if err = s.Apply(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: group, Namespace: "default"},
		Spec: schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: count}}}}); err != nil {
		t.Fatal(err)
	}
	if err = s.AddNodes(node("n1", "4")); err != nil {
		t.Fatal(err)
	}
	member := func(name, cpu string) *v1.Pod {
		p := pod(name, cpu)
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
		return p
	}
	r, err := s.ScheduleWorkload(t.Context(), []*v1.Pod{member("a", "3"), member("b", "3")}, ScheduleWorkloadOptions{CommonSchedulingOptions{DryRun: true}})
	if err != nil || nodesOf(r) != "," || !strings.Contains(r[0].Message, "pod group is unschedulable") {
		t.Fatal(r, err)
	}
	r, err = s.ScheduleWorkload(t.Context(), []*v1.Pod{member("a", "2"), member("b", "2"), member("c", "2")}, ScheduleWorkloadOptions{})
	if err != nil || nodesOf(r) != "n1,n1," || !strings.Contains(r[2].Message, "Insufficient cpu") {
		t.Fatal(r, err)
	}
	if _, err = s.ScheduleWorkload(t.Context(), []*v1.Pod{member("d", "1"), pod("e", "1")}, ScheduleWorkloadOptions{}); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
}

func TestErrorsNameThePlaceAndTheRemedy(t *testing.T) {
	if _, err := New(&Options{FeatureGates: "Nonsense=true"}); !errors.Is(err, ErrBadInput) || !strings.Contains(err.Error(), "Nonsense") {
		t.Fatal(err)
	}
	s := with(t, nil, node("n1", "4"))
	if err := s.ApplyText([]byte("{kind: Pod")); !errors.Is(err, ErrBadInput) {
		t.Fatal(err)
	}
	stranger := pod("a", "1")
	stranger.Spec.SchedulerName = "another"
	if _, err := s.SchedulePods(t.Context(), []*v1.Pod{stranger}, nil, SchedulePodsOptions{}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), `default/a: no profile has its spec.schedulerName, "another"`) {
		t.Fatal(err)
	}
	finished := pod("b", "1")
	finished.Status.Phase = v1.PodSucceeded
	if _, err := s.CanSchedulePod(t.Context(), finished, nil); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "Succeeded") {
		t.Fatal(err)
	}
	if _, err := s.CanSchedulePod(t.Context(), on(pod("c", "1"), "n1"), nil); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "its spec.nodeName is n1") {
		t.Fatal(err)
	}
	if pods, err := s.Pods(); err != nil || len(pods) != 0 {
		t.Fatal("a refused pod stayed", pods, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.CanSchedulePod(ended, pod("a", "1"), nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.Close()
	if err := s.AddNodes(node("n2", "4")); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "closed") {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNilIsAnErrorAndLeavesTheSnapshotAsItWas(t *testing.T) {
	s := with(t, nil, node("n1", "4"))
	none := []*v1.Pod{pod("a", "1"), nil}
	calls := map[string]func() error{
		"CanSchedulePod": func() error { _, err := s.CanSchedulePod(t.Context(), nil, nil); return err },
		"SchedulePods": func() error {
			_, err := s.SchedulePods(t.Context(), none, nil, SchedulePodsOptions{})
			return err
		},
		"SchedulePodsByTemplate": func() error {
			_, err := s.SchedulePodsByTemplate(t.Context(), nil, nil, 1, SchedulePodsByTemplateOptions{})
			return err
		},
		"ScheduleWorkload": func() error {
			_, err := s.ScheduleWorkload(t.Context(), none, ScheduleWorkloadOptions{})
			return err
		},
		"PreemptPods": func() error { _, err := s.PreemptPods(t.Context(), none); return err },
		"Unpreempt":   func() error { _, err := s.Unpreempt(nil); return err },
		"Explain":     func() error { _, err := s.Explain(t.Context(), nil, nil); return err },
		"FindVictims": func() error { _, _, err := s.FindVictims(t.Context(), nil); return err },
		"Transaction": func() error { return s.Transaction(t.Context(), nil) },
		"AddNodes":    func() error { return s.AddNodes(nil) },
		"AddPods":     func() error { return s.AddPods(none...) },
		"Apply":       func() error { return s.Apply(nil) },
		"Delete":      func() error { return s.Delete((*v1.Pod)(nil)) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Error(name, err)
		}
	}
	if pods, err := s.Pods(); err != nil || len(pods) != 0 {
		t.Fatal(pods, err)
	}
	if err := s.Delete(node("n1", "4")); err != nil {
		t.Fatal(err)
	}
}

func TestNothingFitsAnEmptyPlacement(t *testing.T) {
	s := with(t, nil, node("n1", "4"))
	none, err := s.MakePlacement(nil)
	if err != nil || none == nil {
		t.Fatal(err)
	}
	if r, err := s.CanSchedulePod(t.Context(), pod("a", "1"), none); err != nil || len(r.NodeNames) != 0 {
		t.Fatal(r, err)
	}
	if r, err := s.SchedulePods(t.Context(), []*v1.Pod{pod("a", "1")}, none, SchedulePodsOptions{}); err != nil || len(r) != 0 {
		t.Fatal(r, err)
	}
	template := &v1.PodTemplateSpec{Spec: pod("", "2").Spec}
	if r, err := s.SchedulePodsByTemplate(t.Context(), template, none, 2, SchedulePodsByTemplateOptions{}); err != nil || len(r) != 0 {
		t.Fatal(r, err)
	}
}

func TestAPreemptedPodIsScheduledAgain(t *testing.T) {
	a := on(pod("a", "3"), "n1")
	s := with(t, []*v1.Pod{a}, node("n1", "4"), node("n2", "4"), node("n3", "2"))
	if got := fitting(t, s, a); !slices.Equal(got, []string{"n2"}) {
		t.Fatal(got)
	}
	if _, err := s.SchedulePods(t.Context(), []*v1.Pod{a}, nil, SchedulePodsOptions{}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "it is on node n1") {
		t.Fatal(err)
	}
	u, err := s.PreemptPods(t.Context(), []*v1.Pod{a})
	if err != nil {
		t.Fatal(err)
	}
	if got := fitting(t, s, a); !slices.Equal(got, []string{"n1", "n2"}) {
		t.Fatal(got)
	}
	rest, err := s.MakePlacement([]string{"n2", "n3"})
	if err != nil {
		t.Fatal(err)
	}
	dry := CommonSchedulingOptions{DryRun: true}
	if r, err := s.ScheduleWorkload(t.Context(), []*v1.Pod{a, pod("b", "3")}, ScheduleWorkloadOptions{dry}); err != nil || len(r) != 2 || r[0].SelectedNodeName == "" || r[1].SelectedNodeName == "" {
		t.Fatal(r, err)
	}
	if _, err = s.Unpreempt(u); err != nil {
		t.Fatal("a dry run ended the preemption", err)
	}
	if _, err = s.PreemptPods(t.Context(), []*v1.Pod{a}); err != nil {
		t.Fatal(err)
	}
	r, err := s.SchedulePods(t.Context(), []*v1.Pod{a}, rest, SchedulePodsOptions{})
	if err != nil || nodesOf(r) != "n2" || r[0].Pod == a || a.Name != "a" || a.Spec.NodeName != "n1" {
		t.Fatal(r, err)
	}
	if _, err = s.PreemptPods(t.Context(), []*v1.Pod{r[0].Pod}); err != nil {
		t.Fatal(err)
	}
	if err = s.ResetMutations(); err != nil {
		t.Fatal(err)
	}
	if pods, err := s.Pods(); err != nil || len(pods) != 1 || pods[0] != (PodState{"default", "a", "n1"}) {
		t.Fatal(pods, err)
	}
}

func TestARemovedNodeComesBack(t *testing.T) {
	a := on(pod("a", "3"), "n1")
	s := with(t, []*v1.Pod{a}, node("n1", "4"), node("n2", "4"))
	if err := s.RemoveNodes(t.Context(), "n1", "n9"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "n9") {
		t.Fatal(err)
	}
	err := s.Transaction(t.Context(), func() (TransactionResult, error) {
		if err := s.RemoveNodes(t.Context(), "n1"); err != nil {
			return Revert, err
		}
		if _, err := s.PreemptPods(t.Context(), []*v1.Pod{a}); err != nil {
			return Revert, err
		}
		r, err := s.SchedulePods(t.Context(), []*v1.Pod{a}, nil, SchedulePodsOptions{})
		if err != nil || nodesOf(r) != "n2" {
			t.Error(r, err)
		}
		if got := fitting(t, s, pod("b", "1")); !slices.Equal(got, []string{"n2"}) {
			t.Error(got)
		}
		return Revert, err
	})
	if got := fitting(t, s, pod("b", "1")); err != nil || !slices.Equal(got, []string{"n1", "n2"}) {
		t.Fatal(got, err)
	}
}

func TestEachNodeTellsWhyAPodDoesNotFit(t *testing.T) {
	s := with(t, []*v1.Pod{on(pod("there", "3"), "n2")}, node("n1", "4"), node("n2", "4"), node("n3", "1"))
	v, err := s.Explain(t.Context(), pod("a", "2"), nil)
	if err != nil || len(v) != 3 || v[0].NodeName != "n1" || v[0].Plugin != "" || v[0].Total == 0 || v[0].Scores["NodeResourcesFit"] == 0 {
		t.Fatal(v, err)
	}
	if v[1].NodeName != "n2" || v[1].Plugin != "NodeResourcesFit" || !strings.Contains(v[1].Reason, "Insufficient cpu (needs 2, free 1)") || !v[1].PreemptionMightHelp || v[2].PreemptionMightHelp {
		t.Fatal(v)
	}
	only, err := s.MakePlacement([]string{"n3", "n1"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err = s.Explain(t.Context(), pod("a", "2"), only); err != nil || len(v) != 2 || v[0].NodeName != "n1" || v[1].NodeName != "n3" {
		t.Fatal(v, err)
	}
	if pods, err := s.Pods(); err != nil || len(pods) != 1 {
		t.Fatal("the asked pod stayed", pods, err)
	}
}

func TestAPreemptionBelongsToItsSnapshot(t *testing.T) {
	a := on(pod("a", "3"), "n1")
	one, two := with(t, []*v1.Pod{a}, node("n1", "4")), with(t, []*v1.Pod{a}, node("n1", "4"))
	u, err := one.PreemptPods(t.Context(), []*v1.Pod{a})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = two.PreemptPods(t.Context(), []*v1.Pod{a}); err != nil {
		t.Fatal(err)
	}
	if _, err = two.Unpreempt(u); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
	if _, err = one.Unpreempt(u); err != nil {
		t.Fatal(err)
	}
}

// endsAfter is a context that ends when it has been asked n times.
type endsAfter struct {
	context.Context
	n int
}

func (c *endsAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestAContextEndsSchedulingBetweenPods(t *testing.T) {
	s := with(t, nil, node("n1", "4"))
	pods := []*v1.Pod{pod("a", "1"), pod("b", "1"), pod("c", "1")}
	if _, err := s.SchedulePods(&endsAfter{t.Context(), 3}, pods, nil, SchedulePodsOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if left, err := s.Pods(); err != nil || len(left) != 0 {
		t.Fatal("it kept what it had placed", left, err)
	}
}

func TestWhatAddsAndDeletesWhileThereAreMutations(t *testing.T) {
	s := with(t, nil, node("n1", "4"))
	err := s.Transaction(t.Context(), func() (TransactionResult, error) {
		if err := s.Delete(node("n1", "4")); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "return from it") {
			t.Error(err)
		}
		return Revert, s.AddNodes(node("n2", "4"))
	})
	if nodes, listed := s.Nodes(); err != nil || listed != nil || len(nodes) != 1 {
		t.Fatal("the added node stayed", nodes, err, listed)
	}
	if err = s.Delete(node("n1", "4")); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "ResetMutations") {
		t.Fatal(err)
	}
}

func TestOneGoroutineAtATime(t *testing.T) {
	s := with(t, nil, node("n1", "4"))
	if err := s.h.enter("test"); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error)
	go func() { _, err := s.Nodes(); refused <- err }()
	if err := <-refused; !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	s.h.leave()
	if _, err := s.Nodes(); err != nil {
		t.Fatal(err)
	}
}

func TestAnUnreachableSnapshotIsFreed(t *testing.T) {
	handle := func() *handle {
		s, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.h
	}()
	for !handle.freed.Load() {
		runtime.GC()
		runtime.Gosched()
	}
}

// residentPages is the process's memory, C's included.
func residentPages(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNothingLeaks(t *testing.T) {
	s := with(t, nil, node("n1", "64"), node("n2", "64"))
	round := func() {
		for range 200 {
			if _, err := s.SchedulePods(t.Context(), []*v1.Pod{pod("a", "1"), pod("b", "1")}, nil, SchedulePodsOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.CanSchedulePod(t.Context(), pod("c", "999"), nil); err != nil {
				t.Fatal(err)
			}
			if err := s.ResetMutations(); err != nil {
				t.Fatal(err)
			}
		}
		other, err := NewClusterSnapshot(nil, []*v1.Node{node("n1", "4")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		other.Close()
		runtime.GC()
	}
	for range 5 {
		round()
	}
	before := residentPages(t)
	for range 20 {
		round()
	}
	if grown := residentPages(t) - before; grown > 2048 { // 8 MiB
		t.Fatalf("%d pages more", grown)
	}
}

func ExampleClusterSnapshot_SchedulePods() {
	s, err := NewClusterSnapshot(nil, []*v1.Node{node("n1", "4"), node("n2", "2")}, nil)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	results, err := s.SchedulePods(context.Background(), []*v1.Pod{pod("a", "3"), pod("b", "2"), pod("c", "2")}, nil, SchedulePodsOptions{})
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		fmt.Printf("%s: %s%s\n", r.Pod.Name, r.SelectedNodeName, r.Message)
	}
	// Output:
	// a: n1
	// b: n2
	// c: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.
}

func ExampleClusterSnapshot_Transaction() {
	s, err := NewClusterSnapshot([]*v1.Pod{on(pod("a", "3"), "n1")}, []*v1.Node{node("n1", "4"), node("n2", "4")}, nil)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	// May n1 go? Its pods must fit elsewhere.
	err = s.Transaction(context.Background(), func() (TransactionResult, error) {
		rest, err := s.MakePlacement([]string{"n2"})
		if err != nil {
			return Revert, err
		}
		itsPods := []*v1.Pod{pod("a", "3")}
		if _, err := s.PreemptPods(context.Background(), itsPods); err != nil {
			return Revert, err
		}
		results, err := s.SchedulePods(context.Background(), itsPods, rest, SchedulePodsOptions{})
		if err == nil {
			fmt.Println("its pod goes to", results[0].SelectedNodeName)
		}
		return Revert, err
	})
	fmt.Println(err)
	// Output:
	// its pod goes to n2
	// <nil>
}
