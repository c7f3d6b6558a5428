// SPDX-License-Identifier: Apache-2.0

//go:build k8s135

// Pods that wait at Permit for their group of a Workload: 1.35 decides them one by one. Waits end one after the other, in
// the order of their start, after the step that has ended them; timeouts are in virtual time.
package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubefeatures "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/backend/workloadmanager"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

const waitsFor = 5 * time.Minute // workloadmanager.DefaultSchedulingTimeoutDuration, which would pass in real time

func init() { workloadmanager.DefaultSchedulingTimeoutDuration = 24 * time.Hour }

// waits lists all waiting pods. Nothing else runs during a call, except released goroutines.
type waits struct {
	live      *Live
	mu        sync.Mutex
	all       []*waiter
	going     *waiter // the released one
	deadlines map[fwk.PodGroupInfo]time.Time
	ended     []Member
}

type waiter struct {
	pod      *v1.Pod
	f        framework.Framework
	waits    time.Duration
	until    time.Time
	rejected bool // by us, or by its deletion
	released bool
	turn     chan struct{}
	over     chan struct{}
	closes   bool // the event after its failure ends it
}

func newWaits(l *Live) *waits {
	if !utilfeature.DefaultFeatureGate.Enabled(kubefeatures.GangScheduling) {
		return nil
	}
	w := &waits{live: l, deadlines: map[fwk.PodGroupInfo]time.Time{}}
	l.sched.SchedulingQueue = &waitsQueue{l.sched.SchedulingQueue, w}
	return w
}

// waitsQueue sees the event that ends the failure of a pod that has waited.
type waitsQueue struct {
	queue.SchedulingQueue
	waits *waits
}

func (q *waitsQueue) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, check queue.PreEnqueueCheck) {
	q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, oldObj, newObj, check)
	q.waits.mu.Lock()
	defer q.waits.mu.Unlock()
	if g := q.waits.going; g != nil && g.closes {
		g.closes = false
		close(g.over)
	}
}

// RejectWaitingPod is called when the pod is deleted.
func (f *liveFramework) RejectWaitingPod(uid types.UID) bool {
	if w := f.live.waits; w != nil {
		for _, p := range w.all {
			p.rejected = p.rejected || p.pod.UID == uid
		}
	}
	return f.Framework.RejectWaitingPod(uid)
}

// deadline is SchedulingTimeout in virtual time.
func (w *waits) deadline(pod *v1.Pod) time.Time {
	now := w.live.clock.Now().Truncate(tick)
	info, err := w.live.sched.WorkloadManager.PodGroupInfo(pod.Namespace, pod.Spec.WorkloadRef)
	if err != nil {
		return now.Add(waitsFor)
	}
	if d, ok := w.deadlines[info]; !ok || d.Before(now) {
		w.deadlines[info] = now.Add(waitsFor)
	}
	return w.deadlines[info]
}

func (w *waits) wait(ctx context.Context, f framework.Framework, pod *v1.Pod) *fwk.Status {
	cy := w.live.cycle
	if !f.WillWaitOnPermit(ctx, pod) {
		<-cy.binds
		return f.WaitOnPermit(ctx, pod)
	}
	w.mu.Lock()
	p := &waiter{pod: pod, f: f, turn: make(chan struct{}), over: make(chan struct{})}
	p.until = w.deadline(pod)
	p.waits = p.until.Sub(w.live.clock.Now().Truncate(tick))
	w.all = append(w.all, p)
	w.mu.Unlock()
	close(cy.over)
	s := f.WaitOnPermit(ctx, pod)
	w.mu.Lock()
	p.released = true
	w.mu.Unlock()
	<-p.turn
	return s
}

func (w *waits) isGoing(uid types.UID) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.going != nil && w.going.pod.UID == uid {
		return w.going
	}
	return nil
}

func (w *waits) failed(pod *v1.Pod, s *fwk.Status, n *fwk.NominatingInfo, fail func()) bool {
	if w == nil {
		return false
	}
	g := w.isGoing(pod.UID)
	if g == nil {
		return false
	}
	w.live.clock.Step(time.Nanosecond) // no two pods enter the queue at the same time
	fail()
	m := Member{Pod: key(pod), Message: s.Message()}
	if n.Mode() == fwk.ModeOverride {
		m.Nominated = n.NominatedNodeName
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.live.factory.Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name); err == nil { // a deleted pod has no result
		w.ended = append(w.ended, m)
	}
	if s.IsRejected() {
		g.closes = true
	} else {
		close(g.over)
	}
	return true
}

func (w *waits) bound(pod *v1.Pod, node string) bool {
	if w == nil {
		return false
	}
	g := w.isGoing(pod.UID)
	if g == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, Member{Pod: key(pod), Result: &node})
	close(g.over)
	return true
}

// ends: is the wait over, by rejection, a result, or because no plugin is left?
func (p *waiter) ends() bool {
	wp := p.f.GetWaitingPod(p.pod.UID)
	if wp == nil || p.rejected || len(wp.GetPendingPlugins()) == 0 {
		return true
	}
	return reflect.ValueOf(wp).Elem().FieldByName("s").Len() > 0
}

// settle releases those whose wait has ended, one after the other. rejects: a preemption may just have rejected some.
func (w *waits) settle(rejects bool) error {
	if w == nil {
		return nil
	}
	if rejects {
		time.Sleep(2 * time.Millisecond)
	}
	for i := 0; i < len(w.all); {
		p := w.all[i]
		if !p.ends() {
			i++
			continue
		}
		w.all = append(w.all[:i:i], w.all[i+1:]...)
		w.mu.Lock()
		w.going = p
		w.mu.Unlock()
		close(p.turn)
		select {
		case <-p.over:
		case <-time.After(cycleTakes):
			return fmt.Errorf("the wait of %s does not end", key(p.pod))
		}
		w.mu.Lock()
		w.going = nil
		w.mu.Unlock()
		if err := w.live.crash.take(); err != nil {
			return fmt.Errorf("%s: %w", key(p.pod), err)
		}
		i = 0
	}
	return nil
}

// expire rejects those whose timeout has passed, as newWaitingPod's timers do.
func (w *waits) expire() {
	if w == nil {
		return
	}
	// The timers of a group fire at the same time: which goroutine is first is random. Here they end in the
	// order of the pods' creation.
	slices.SortStableFunc(w.all, func(a, b *waiter) int {
		now := w.live.clock.Now()
		if a.until.After(now) || b.until.After(now) {
			return 0
		}
		return strings.Compare(string(a.pod.UID), string(b.pod.UID))
	})
	for _, p := range w.all {
		if wp := p.f.GetWaitingPod(p.pod.UID); wp != nil && !p.until.After(w.live.clock.Now()) {
			p.rejected = true
			wp.Reject(names.GangScheduling, fmt.Sprintf("rejected due to timeout after waiting %v at plugin %v", p.waits, names.GangScheduling))
		}
	}
	_ = w.settle(false)
}

// crashes: a pod deleted while it waits is added again to those that Permit activates, and 1.35 crashes there. From
// then on there is no answer.
func (w *waits) crashes(err error) bool {
	return w != nil && strings.Contains(err.Error(), "panic: runtime error: invalid memory address")
}

func (w *waits) take() []Member {
	if w == nil {
		return nil
	}
	out := w.ended
	w.ended = nil
	return out
}
