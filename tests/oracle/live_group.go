// SPDX-License-Identifier: Apache-2.0

// The cycle of a PodGroup: its pods are decided together; those that fit are bound one after the other, in the order of
// their decisions, after all are decided.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Member is a cycle's result for one pod of a group.
type Member struct {
	Pod       string  `json:"pod"`
	Result    *string `json:"result"` // the node, or null when it was not bound
	Message   string  `json:"message,omitempty"`
	Nominated string  `json:"nominated,omitempty"`
}

// entity is what the queue popped for a cycle: a pod, or all pods of a group in the order in which they are decided.
type entity struct {
	name  string
	uid   types.UID // of the pod or of the PodGroup
	pods  []*framework.QueuedPodInfo
	whole bool // the group itself was queued
}

// groupCycle is written by the cycle and by one binding at a time.
type groupCycle struct {
	live    *Live
	mu      sync.Mutex
	change  *sync.Cond
	members []Member
	done    map[types.UID]bool
	waiting map[types.UID]*v1.Pod // their bindings have started
	turn    types.UID             // the pod whose binding continues
	uid     types.UID             // of the PodGroup, which preempts as a whole
	rank    map[types.UID]int     // the order in which the pods are decided
	held    []<-chan struct{}     // preemption goroutines at their first call, by their contexts, in the order of their pods
	let     int                   // this many of them continue
	gone    bool                  // no reader is left
}

func newGroupCycle(l *Live) *groupCycle {
	g := &groupCycle{live: l, done: map[types.UID]bool{}, waiting: map[types.UID]*v1.Pod{}}
	g.change = sync.NewCond(&g.mu)
	return g
}

// begin records the order in which the pods are decided.
func (g *groupCycle) begin(e *entity) {
	all := e.pods
	g.uid = e.uid
	if !e.whole {
		g.uid = groupUID(g.live.factory, e.pods[0].Pod)
		all = g.membersBeside(e.pods[0])
	}
	g.rank = map[types.UID]int{}
	for n, i := range all {
		g.rank[i.Pod.UID] = n
	}
}

// membersBeside orders pods that became active at the same time by creation: upstream takes them from a map.
func (g *groupCycle) membersBeside(popped *framework.QueuedPodInfo) []*framework.QueuedPodInfo {
	all := []*framework.QueuedPodInfo{popped}
	now := g.live.clock.Now()
	objects, _ := g.live.factory.Core().V1().Pods().Lister().Pods(popped.Pod.Namespace).List(labels.Everything())
	for _, p := range objects {
		if i, ok := g.live.queued(p); ok && sameGroup(p, popped.Pod) {
			if i.InitialAttemptTimestamp == nil {
				i.InitialAttemptTimestamp = &now
			}
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b *framework.QueuedPodInfo) int {
		if c := a.InitialAttemptTimestamp.Compare(*b.InitialAttemptTimestamp); c != 0 {
			return c
		}
		return strings.Compare(string(a.Pod.UID), string(b.Pod.UID))
	})
	for n, i := range all[:max(len(all)-1, 0)] {
		if next := all[n+1]; !next.InitialAttemptTimestamp.After(*i.InitialAttemptTimestamp) {
			at := i.InitialAttemptTimestamp.Add(1)
			next.InitialAttemptTimestamp = &at
		}
	}
	slices.SortStableFunc(all, func(a, b *framework.QueuedPodInfo) int {
		return cmp.Compare(corev1helpers.PodPriority(b.Pod), corev1helpers.PodPriority(a.Pod))
	})
	return all
}

// hold delays a preemptor's goroutine before its first write until it is next.
func (g *groupCycle) hold(who <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.held, who) {
		g.held = append(g.held, who)
		g.change.Broadcast()
	}
	for g.place(who) >= g.let && !g.gone {
		g.change.Wait()
	}
}

// place is a goroutine's position in the order: upstream runs them concurrently.
func (g *groupCycle) place(who <-chan struct{}) int {
	i := slices.Index(g.held, who)
	if g.live.late {
		return len(g.held) - 1 - i
	}
	return i
}

// preempting counts the pods whose goroutine has more to do.
func (g *groupCycle) preempting() int {
	n := 0
	for u := range g.rank {
		if g.live.preempting(u) {
			n++
		}
	}
	if g.uid != "" && g.live.preempting(g.uid) {
		n++
	}
	return n
}

// preemptorsHeld waits until each of them has reached its first call: PreEnqueue checks their progress.
func (g *groupCycle) preemptorsHeld() {
	for began := time.Now(); time.Since(began) < cycleTakes; time.Sleep(20 * time.Microsecond) {
		n := g.preempting()
		g.mu.Lock()
		all := len(g.held) >= n
		g.mu.Unlock()
		if all {
			return
		}
	}
}

// preempt lets the preemption goroutines continue, one after the other.
func (g *groupCycle) preempt() error {
	n := len(g.held)
	for i := range n {
		g.mu.Lock()
		g.let = i + 1
		g.change.Broadcast()
		g.mu.Unlock()
		for began := time.Now(); g.preempting() > n-i-1; time.Sleep(20 * time.Microsecond) {
			if time.Since(began) > cycleTakes {
				return fmt.Errorf("a preemption by the group of %s does not end", g.live.cycle.popped)
			}
		}
	}
	return nil
}

func (g *groupCycle) add(p *v1.Pod, m Member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, m)
	g.done[p.UID] = true
	g.change.Broadcast()
}

func (g *groupCycle) failed(p *v1.Pod, s *fwk.Status, n *fwk.NominatingInfo) {
	m := Member{Pod: key(p), Message: s.Message()}
	if n.Mode() == fwk.ModeOverride {
		m.Nominated = n.NominatedNodeName
	}
	g.add(p, m)
}

func (g *groupCycle) bound(p *v1.Pod, node string) { g.add(p, Member{Pod: key(p), Result: &node}) }

func (g *groupCycle) awaitTurn(p *v1.Pod) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting[p.UID] = p
	g.change.Broadcast()
	for g.turn != p.UID && !g.gone {
		g.change.Wait()
	}
}

// until waits for a condition; false: timeout.
func (g *groupCycle) until(late <-chan time.Time, holds func() bool) bool {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-late:
			g.mu.Lock()
			g.gone = true
			g.change.Broadcast()
			g.mu.Unlock()
		case <-stop:
		}
	}()
	for !holds() && !g.gone {
		g.change.Wait()
	}
	return holds()
}

// end lets the bindings continue, one after the other, after the cycle.
func (g *groupCycle) end(late <-chan time.Time) error {
	l := g.live
	var binding []*v1.Pod
	for _, p := range l.queue.InFlightPods() {
		binding = append(binding, p)
	}
	slices.SortFunc(binding, func(a, b *v1.Pod) int { return cmp.Compare(g.rank[a.UID], g.rank[b.UID]) })
	g.mu.Lock()
	defer g.mu.Unlock()
	l.cycle.skipped = len(g.members) == 0 && len(binding) == 0
	all := func() bool {
		for _, p := range binding {
			if g.waiting[p.UID] == nil {
				return false
			}
		}
		return true
	}
	if !g.until(late, all) {
		return fmt.Errorf("a binding of the group of %s does not begin", l.cycle.popped)
	}
	for _, p := range binding {
		g.turn = p.UID
		g.change.Broadcast()
		if !g.until(late, func() bool { return g.done[p.UID] }) {
			return fmt.Errorf("the binding of %s does not end", key(p))
		}
	}
	g.mu.Unlock()
	defer g.mu.Lock()
	return g.preempt()
}

// results are sorted by name; their messages show the order of decisions.
func (g *groupCycle) results() []Member {
	slices.SortFunc(g.members, func(a, b Member) int { return strings.Compare(a.Pod, b.Pod) })
	return g.members
}

func groupAspect(members []Member) any {
	out := []string{}
	for _, m := range members {
		b, _ := json.Marshal(m)
		out = append(out, string(b))
	}
	return sorted(out)
}
