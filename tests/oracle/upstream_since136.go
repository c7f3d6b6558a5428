// SPDX-License-Identifier: Apache-2.0

//go:build !k8s135

// Common to kube-scheduler 1.36 and later.
package main

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	kubefeatures "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// preemptor holds the goroutines of asynchronous preemption.
type preemptor = preemption.Executor

func preemptorOf(d *defaultpreemption.DefaultPreemption) *preemptor { return d.Executor }

func newRecorder(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

func hookSchedule(s *scheduler.Scheduler, around func(framework.Framework, *v1.Pod, fwk.CycleState, func() (scheduler.ScheduleResult, error)) (scheduler.ScheduleResult, error)) {
	schedule := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		return around(f, p.Pod, state, func() (scheduler.ScheduleResult, error) { return schedule(ctx, f, state, p) })
	}
}

func (f *liveFramework) AddPodInPreBind(uid types.UID, cancel context.CancelCauseFunc) {
	f.preBind = true
	f.Framework.AddPodInPreBind(uid, cancel)
}

func (f *liveFramework) RemovePodInPreBind(uid types.UID) {
	f.Framework.RemovePodInPreBind(uid)
	if f.postBind && f.live.cycle.group == nil {
		close(f.live.cycle.over)
	}
}

func (i *syncInformer) HasSyncedChecker() cache.DoneChecker { return synced{} }
func (synced) HasSyncedChecker() cache.DoneChecker          { return synced{} }

func inGroupOf(state *framework.CycleState, of fwk.CycleState) {
	if of != nil {
		state.SetPodGroupSchedulingCycle(of.GetPodGroupSchedulingCycle())
	}
}

func groupsOn() bool { return utilfeature.DefaultFeatureGate.Enabled(kubefeatures.GenericWorkload) }

func inGroup(p *v1.Pod) bool { return p.Spec.SchedulingGroup != nil }

func sameGroup(a, b *v1.Pod) bool {
	return inGroup(a) && inGroup(b) && *a.Spec.SchedulingGroup.PodGroupName == *b.Spec.SchedulingGroup.PodGroupName
}

// RunPlacementGeneratePlugins: upstream takes placements from a map, and reports the error of the first one.
func (f *liveFramework) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, status := f.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	slices.SortFunc(placements, func(a, b *fwk.Placement) int { return strings.Compare(a.Name, b.Name) })
	return placements, status
}

// preferFirst picks the first by name of equally good placements: upstream picks any.
func preferFirst(all []fwk.PlacementPluginScores) {
	var names []string
	for i := range all {
		names = append(names, all[i].Placement.Name)
	}
	slices.Sort(names)
	for i := range all {
		all[i].TotalScore = all[i].TotalScore*int64(len(all)+1) - int64(slices.Index(names, all[i].Placement.Name))
	}
}

// waits: the pods of a group are decided together; none waits at Permit.
type waits struct{}

func newWaits(*Live) *waits { return nil }

func (w *waits) wait(ctx context.Context, f framework.Framework, pod *v1.Pod) *fwk.Status {
	return f.WaitOnPermit(ctx, pod)
}

func (w *waits) failed(*v1.Pod, *fwk.Status, *fwk.NominatingInfo, func()) bool { return false }

func (w *waits) bound(*v1.Pod, string) bool { return false }

func (w *waits) settle(bool) error { return nil }

func (w *waits) expire() {}

func (w *waits) crashes(error) bool { return false }

func (w *waits) take() []Member { return nil }
