// SPDX-License-Identifier: Apache-2.0

//go:build k8s137

// The Go package of libberth and the real framework at the same questions: perf/beside_library.
package main

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"berth.dev/berth"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// question is a cluster with two pods on each node, and pending pods.
type question struct {
	nodes           []*v1.Node
	bound, asked    []*v1.Pod
	c               *Cluster
	f               framework.Framework
	snap            *internalcache.Snapshot
	known, pristine *berth.ClusterSnapshot // with the pending pods, and without
}

func newPod(name, node string, milli, mebi int64) *v1.Pod {
	return &v1.Pod{TypeMeta: meta("v1", "Pod"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Labels: map[string]string{"app": "web"}},
		Spec: v1.PodSpec{NodeName: node, SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{Name: "main", Image: "web",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
				v1.ResourceMemory: *resource.NewQuantity(mebi<<20, resource.BinarySI)}}}}}}
}

// newQuestion: nodeN nodes, and podN pending pods of some sizes.
func newQuestion(b *testing.B, nodeN, podN, sizes int) *question {
	q := &question{}
	for i := range nodeN {
		name := fmt.Sprintf("node-%05d", i)
		q.nodes = append(q.nodes, &v1.Node{TypeMeta: meta("v1", "Node"),
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprint("zone-", i%3)}},
			Status: v1.NodeStatus{Allocatable: v1.ResourceList{"cpu": resource.MustParse("32"),
				"memory": resource.MustParse("128Gi"), "pods": resource.MustParse("110")}}})
		for k := range 2 {
			q.bound = append(q.bound, newPod(fmt.Sprintf("bound-%d-%d", i, k), name, int64(100+i%7*400), int64(512+i%5*256)))
		}
	}
	for i := range podN {
		q.asked = append(q.asked, newPod(fmt.Sprintf("asked-%d", i), "", int64(500+i%sizes*50), int64(512+i%sizes*64)))
	}
	q.askFramework(b)
	q.known, q.pristine = q.library(b), q.library(b)
	if err := q.known.AddPods(q.asked...); err != nil {
		b.Fatal(err)
	}
	return q
}

func (q *question) askFramework(b *testing.B) {
	if err := setGates(); err != nil {
		b.Fatal(err)
	}
	var objects []json.RawMessage
	add := func(o any) {
		text, err := json.Marshal(o)
		if err != nil {
			b.Fatal(err)
		}
		objects = append(objects, text)
	}
	for _, n := range q.nodes {
		add(n)
	}
	for _, p := range append(q.bound, q.asked...) {
		add(p)
	}
	var err error
	if q.c, err = newCluster(nil, objects); err != nil {
		b.Fatal(err)
	}
	if q.f, err = q.c.profile(q.asked[0]); err != nil {
		b.Fatal(err)
	}
	if q.snap, err = q.c.snapshot(q.f); err != nil {
		b.Fatal(err)
	}
	for i, p := range q.asked {
		q.asked[i] = q.c.pods[key(p)] // with defaults
	}
}

func (q *question) library(b *testing.B) *berth.ClusterSnapshot {
	s, err := berth.NewClusterSnapshot(q.bound, q.nodes, &berth.Options{KubernetesVersion: "1.37"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// measure repeats a question, and reports the process's CPU time beside the clock's.
func measure(b *testing.B, ask func()) {
	cpu := func() int64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return usage.Utime.Nano() + usage.Stime.Nano()
	}
	ask() // caches
	before := cpu()
	for b.Loop() {
		ask()
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
}

// filter returns the nodes that fit, of all.
func (q *question) filter(b *testing.B, state fwk.CycleState, pod *v1.Pod) []fwk.NodeInfo {
	nodes, err := q.snap.NodeInfos().List()
	if err != nil {
		b.Fatal(err)
	}
	if _, status, _ := q.f.RunPreFilterPlugins(q.c.ctx, state, pod); !status.IsSuccess() {
		b.Fatal(status)
	}
	fits := make([]bool, len(nodes))
	q.f.Parallelizer().Until(q.c.ctx, len(nodes), func(i int) {
		fits[i] = q.f.RunFilterPluginsWithNominatedPods(q.c.ctx, state, pod, nodes[i]).IsSuccess()
	}, "beside")
	feasible := make([]fwk.NodeInfo, 0, len(nodes))
	for i, n := range nodes {
		if fits[i] {
			feasible = append(feasible, n)
		}
	}
	return feasible
}

// choose returns the first of the best nodes.
func (q *question) choose(b *testing.B, pod *v1.Pod) string {
	state := framework.NewCycleState()
	feasible := q.filter(b, state, pod)
	if status := q.f.RunPreScorePlugins(q.c.ctx, state, pod, feasible); !status.IsSuccess() {
		b.Fatal(status)
	}
	scores, status := q.f.RunScorePlugins(q.c.ctx, state, pod, feasible)
	if !status.IsSuccess() {
		b.Fatal(status)
	}
	best := 0
	for i := range scores {
		if scores[i].TotalScore > scores[best].TotalScore {
			best = i
		}
	}
	return scores[best].Name
}

// placeAll places the pending pods in the snapshot, and reverts that.
func (q *question) placeAll(b *testing.B) {
	assumed := make([]*v1.Pod, 0, len(q.asked))
	for _, p := range q.asked {
		placed := p.DeepCopy()
		placed.Spec.NodeName = q.choose(b, p)
		info, err := framework.NewPodInfo(placed)
		if err == nil {
			err = q.snap.AssumePod(info)
		}
		if err != nil {
			b.Fatal(err)
		}
		assumed = append(assumed, placed)
	}
	for i := len(assumed) - 1; i >= 0; i-- {
		if err := q.snap.ForgetPod(klog.Background(), assumed[i]); err != nil {
			b.Fatal(err)
		}
	}
}

func placeAndRevert(s *berth.ClusterSnapshot, pods []*v1.Pod) func(b *testing.B) {
	options := berth.SchedulePodsOptions{CommonSchedulingOptions: berth.CommonSchedulingOptions{DryRun: true}}
	return func(b *testing.B) {
		measure(b, func() {
			results, err := s.SchedulePods(b.Context(), pods, nil, options)
			if err != nil || len(results) != len(pods) || results[len(pods)-1].SelectedNodeName == "" {
				b.Fatal(err)
			}
		})
	}
}

// 200 pods on 1,000 nodes: all are placed, and that is reverted.
func BenchmarkPlace(b *testing.B) {
	for _, sizes := range []int{1, 20} {
		q := newQuestion(b, 1000, 200, sizes)
		name := fmt.Sprintf("%d-sizes/", sizes)
		b.Run(name+"framework", func(b *testing.B) {
			measure(b, func() { q.placeAll(b) })
		})
		b.Run(name+"berth-decoding", placeAndRevert(q.pristine, q.asked))
		b.Run(name+"berth-known", placeAndRevert(q.known, q.asked))
		if sizes == 1 {
			template := &v1.PodTemplateSpec{ObjectMeta: q.asked[0].ObjectMeta, Spec: q.asked[0].Spec}
			b.Run(name+"berth-template", func(b *testing.B) {
				measure(b, func() {
					results, err := q.pristine.SchedulePodsByTemplate(b.Context(), template, nil, len(q.asked),
						berth.SchedulePodsByTemplateOptions{CommonSchedulingOptions: berth.CommonSchedulingOptions{DryRun: true}})
					if err != nil || len(results) != len(q.asked) {
						b.Fatal(err)
					}
				})
			})
		}
		q.c.stop()
	}
}

// One pod, 5,000 nodes: which of them fit.
func BenchmarkFits(b *testing.B) {
	q := newQuestion(b, 5000, 1, 1)
	ask := func(s *berth.ClusterSnapshot) func(b *testing.B) {
		return func(b *testing.B) {
			measure(b, func() {
				result, err := s.CanSchedulePod(b.Context(), q.asked[0], nil)
				if err != nil || len(result.NodeNames) != len(q.nodes) {
					b.Fatal(err, len(result.NodeNames))
				}
			})
		}
	}
	b.Run("framework", func(b *testing.B) {
		measure(b, func() {
			if n := len(q.filter(b, framework.NewCycleState(), q.asked[0])); n != len(q.nodes) {
				b.Fatal(n)
			}
		})
	})
	b.Run("berth-decoding", ask(q.pristine))
	b.Run("berth-known", ask(q.known))
	q.c.stop()
}
