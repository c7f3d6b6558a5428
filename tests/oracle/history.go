// SPDX-License-Identifier: Apache-2.0

// history: what kube-scheduler's queue does, step by step, while a cluster changes and time passes.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// History is a cluster's beginning and what happens in it.
type History struct {
	ID      string            `json:"id"`
	Note    string            `json:"note,omitempty"`
	Config  json.RawMessage   `json:"config,omitempty"` // KubeSchedulerConfiguration, kubescheduler.config.k8s.io/v1
	Objects []json.RawMessage `json:"objects"`          // created one after the other
	Steps   []Step            `json:"steps"`
	Gates   string            `json:"featureGates,omitempty"` // those it is made for; -feature-gates sets them
}

// Step holds exactly one of its fields.
type Step struct {
	Create     json.RawMessage `json:"create,omitempty"`
	Update     json.RawMessage `json:"update,omitempty"` // full replacement; no such object: nothing happens
	Delete     *Ref            `json:"delete,omitempty"` // no such object: nothing happens
	Advance    float64         `json:"advance,omitempty"`
	Cycle      *CycleStep      `json:"cycle,omitempty"`
	CycleBegin *CycleStep      `json:"cycleBegin,omitempty"` // pop, filter and score
	CycleEnd   *struct{}       `json:"cycleEnd,omitempty"`   // the rest: bind, or preemption and requeueing
}

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion,omitempty"` // v1 when empty
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// CycleStep may choose the node among the feasible ones; otherwise it is the first by name of the best.
type CycleStep struct {
	Pin      string `json:"pin,omitempty"`
	FailBind bool   `json:"failBind,omitempty"` // the API refuses the binding
}

// StepResult is what a step did, and the queue after it.
type StepResult struct {
	Popped        string            `json:"popped,omitempty"`
	Empty         bool              `json:"empty,omitempty"`   // nothing could be popped
	Skipped       bool              `json:"skipped,omitempty"` // popped, but being deleted or already assumed: dropped
	Missing       bool              `json:"missing,omitempty"` // update or delete of what is not there
	Result        json.RawMessage   `json:"result,omitempty"`  // the node, or null when refused
	Message       string            `json:"message,omitempty"`
	Nominated     string            `json:"nominated,omitempty"`
	Evicted       []string          `json:"evicted,omitempty"`
	Group         []Member          `json:"group,omitempty"` // of a PodGroup's cycle; or pods whose wait at Permit has ended
	Active        []string          `json:"active"`          // in pop order
	Backoff       []Waiting         `json:"backoff"`         // in pop order, those after an error last
	Unschedulable []Held            `json:"unschedulable"`
	Gated         []Held            `json:"gated"`
	InFlight      []string          `json:"inFlight,omitempty"`
	Incomplete    []string          `json:"incomplete,omitempty"`  // pods whose PodGroup is not there
	Pending       []string          `json:"pending,omitempty"`     // pods that came while their group was in its cycle
	Nominations   map[string]string `json:"nominations,omitempty"` // pod to node, as filters of other pods see it
}

// CycleTime is what -elapsed says of a step instead.
type CycleTime struct {
	Empty   bool    `json:"empty,omitempty"`
	Elapsed float64 `json:"elapsed,omitempty"`
	CPU     float64 `json:"cpu,omitempty"`
	Placed  int     `json:"placed"`
	Victims int     `json:"victims"`
}

// Waiting is a pod in backoff.
type Waiting struct {
	Pod   string  `json:"pod"`
	Left  float64 `json:"left"`            // seconds until the flush that will move it to active
	Error bool    `json:"error,omitempty"` // no plugin refused it: not popped before its time
}

// Held is a pod that waits for an event, and the plugins to be asked whether one helps.
type Held struct {
	Pod     string   `json:"pod"`
	Plugins []string `json:"plugins"`
	Or      []string `json:"or,omitempty"` // gated: upstream may name any of these instead
}

// HistoryVerdict answers one history.
type HistoryVerdict struct {
	ID    string       `json:"id"`
	Error string       `json:"error,omitempty"` // the step after the last one failed, or an object if there is none
	Any   *int         `json:"any,omitempty"`   // from this step on upstream's answer is a matter of chance: asked again, it gave another
	Steps []StepResult `json:"steps"`
	Times []CycleTime  `json:"times,omitempty"`
}

func runHistory(args []string) error {
	fs := flag.NewFlagSet("history", flag.ExitOnError)
	in := fs.String("in", "-", "histories, one JSON document a line")
	parallel := fs.Int("parallel", 2, "histories at a time")
	var o liveOptions
	fs.IntVar(&o.workers, "workers", 0, "parallelism of each scheduler; 0 is the configuration's")
	fs.BoolVar(&o.elapsed, "elapsed", false, "say of each cycle how many seconds ScheduleOne took (elapsed; cpu: of this process meanwhile), and how many pods were placed and preempted, and nothing of the queue; any of the best nodes is taken")
	fs.BoolVar(&o.watch, "watch", false, "bring events through watches and client-go's informers, as a check on the harness: slower, same answers")
	async := fs.Bool("async-preemption", true, "as kube-scheduler does by default: victims are deleted after the preemptor is back in the queue")
	ask := fs.Int("ask", 2, "how often each history is played, to see where upstream's answer is a matter of chance")
	gatesFlag(fs)
	_ = fs.Parse(args)
	featureGates = fmt.Sprintf("SchedulerAsyncPreemption=%t,", *async) + featureGates
	if err := setGates(); err != nil {
		return err
	}
	r, err := open(*in)
	if err != nil {
		return err
	}
	defer r.Close()
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	pending := make(chan chan *HistoryVerdict, *parallel)
	slots := make(chan struct{}, *parallel)
	readErr := make(chan error, 1)
	go func() {
		defer close(pending)
		readErr <- eachLine(r, func(line []byte) error {
			out := make(chan *HistoryVerdict, 1)
			pending <- out
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				v := answerHistory(line, &o)
				for n := range *ask - 1 {
					v.alsoSeen(answerHistory(line, o.furtherPlay(n)))
				}
				out <- v
			}()
			return nil
		})
	}()
	for out := range pending {
		if err := enc.Encode(<-out); err != nil {
			return err
		}
	}
	return <-readErr
}

// askWorkers are the parallelisms of further plays, in turn; 0 is the configuration's. Where nodes are filtered in parallel and
// more than one of them has an error, which error is shown, and where the next cycle begins, is a matter of chance.
var askWorkers = []int{2, 1, 4, 0}

// furtherPlay varies what may change an answer of chance, for the nth play after the first one.
func (o *liveOptions) furtherPlay(n int) *liveOptions {
	other := *o
	other.late = n%2 == 0
	if o.workers == 0 {
		other.workers = askWorkers[n%len(askWorkers)]
	}
	return &other
}

// answerHistory goes as far as it can and says why it could not go on.
func answerHistory(line []byte, o *liveOptions) *HistoryVerdict {
	var h History
	v := &HistoryVerdict{Steps: []StepResult{}}
	err := guarded(func() error {
		if err := json.Unmarshal(line, &h); err != nil {
			return err
		}
		return v.judge(&h, o)
	})
	v.ID = h.ID
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

// alsoSeen notes where another answer to the same history differs.
func (v *HistoryVerdict) alsoSeen(w *HistoryVerdict) {
	most := max(len(v.Steps), len(w.Steps))
	if v.Any != nil {
		most = *v.Any
	}
	for i := range most {
		if i >= len(v.Steps) || i >= len(w.Steps) || !stepsEqual(&v.Steps[i], &w.Steps[i]) {
			v.Any = &i
			return
		}
	}
}

func stepsEqual(a, b *StepResult) bool {
	for _, aspect := range historyAspects {
		if !agree(aspect, historyAspect(aspect, a), historyAspect(aspect, b), 0) {
			return false
		}
	}
	return true
}

func (v *HistoryVerdict) judge(h *History, o *liveOptions) (err error) {
	l, err := newLive(h.Config, o)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // whatever is stuck stays so
			go l.close()
			return
		}
		l.close()
	}()
	for i, raw := range h.Objects {
		l.advance(tick)
		obj, err := decode(raw)
		if err != nil {
			return err
		}
		if err := l.create(obj); err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
	}
	for i := range h.Steps {
		l.advance(tick)
		r := StepResult{}
		if err := l.step(&h.Steps[i], &r); err != nil && l.waits.crashes(err) {
			v.Any = &i
			return nil
		} else if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := l.waits.settle(false); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if o.elapsed {
			v.Times = append(v.Times, l.times(&r))
			continue
		}
		r.Group = append(r.Group, l.waits.take()...)
		l.look(&r)
		v.Steps = append(v.Steps, r)
	}
	ended = true
	return nil
}

func (l *Live) times(r *StepResult) CycleTime {
	t := CycleTime{Empty: r.Empty, Elapsed: l.took.Seconds(), CPU: l.tookCPU.Seconds(), Victims: len(r.Evicted)}
	l.took, l.tookCPU = 0, 0
	if string(r.Result) != "" && string(r.Result) != "null" {
		t.Placed++
	}
	for _, m := range r.Group {
		if m.Result != nil {
			t.Placed++
		}
	}
	return t
}

func (l *Live) step(s *Step, r *StepResult) error {
	switch {
	case s.Create != nil:
		obj, err := decode(s.Create)
		if err != nil {
			return err
		}
		return l.create(obj)
	case s.Update != nil:
		obj, err := decode(s.Update)
		if err != nil {
			return err
		}
		var given struct {
			Status json.RawMessage `json:"status"`
		}
		if err := json.Unmarshal(s.Update, &given); err != nil {
			return err
		}
		found, err := l.update(obj, len(given.Status) == 0 || string(given.Status) == "{}")
		r.Missing = !found
		return err
	case s.Delete != nil:
		gv, err := schema.ParseGroupVersion(s.Delete.APIVersion)
		if err != nil {
			return err
		}
		if gv.Empty() {
			gv = v1.SchemeGroupVersion
		}
		gvr, _ := apimeta.UnsafeGuessKindToResource(gv.WithKind(s.Delete.Kind))
		found, err := l.remove(gvr, s.Delete.Namespace, s.Delete.Name)
		r.Missing = !found
		return err
	case s.Cycle != nil:
		cy, err := l.begin(s.Cycle)
		if err != nil || cy == nil {
			r.Empty = cy == nil
			return err
		}
		return l.finish(cy, r)
	case s.CycleBegin != nil:
		cy, err := l.begin(s.CycleBegin)
		if err != nil || cy == nil {
			r.Empty = cy == nil
			return err
		}
		r.Popped = cy.popped
		return nil
	case s.CycleEnd != nil:
		if l.cycle == nil {
			r.Empty = true
			return nil
		}
		return l.finish(l.cycle, r)
	case s.Advance > 0:
		l.advance(time.Duration(math.Round(s.Advance*1000)) * time.Millisecond)
		return nil
	}
	return errors.New("a step with nothing in it")
}

func (l *Live) finish(cy *liveCycle, r *StepResult) error {
	if cy.group == nil { // its pods were decided at once
		l.takeEvicted()
	}
	if err := l.end(cy); err != nil {
		return err
	}
	r.Popped, r.Message, r.Nominated, r.Evicted, r.Skipped = cy.popped, cy.message, cy.nominated, l.takeEvicted(), cy.skipped
	if cy.group != nil {
		r.Group = cy.group.results()
	}
	if cy.skipped || cy.group != nil {
		return nil
	}
	var err error
	r.Result, err = json.Marshal(cy.node)
	return err
}

// look writes down the queue. Nothing else runs: what GetPod returns is the queue's own and does not change.
func (l *Live) look(r *StepResult) {
	infos := func(pods []*v1.Pod) []*framework.QueuedPodInfo {
		var out []*framework.QueuedPodInfo
		for _, p := range pods {
			if i, ok := l.queued(p); ok {
				out = append(out, i)
			}
		}
		sort.Slice(out, func(a, b int) bool { return key(out[a].Pod) < key(out[b].Pod) })
		return out
	}
	active := infos(l.queue.PodsInActiveQ())
	backoff := infos(l.queue.PodsInBackoffQ())
	for _, f := range l.sched.Profiles { // all profiles have the same queue sort
		less := f.QueueSortFunc()
		sort.SliceStable(active, func(a, b int) bool { return less(active[a], active[b]) })
		sort.SliceStable(backoff, func(a, b int) bool {
			x, y := backoff[a], backoff[b]
			if e, f := failedWithError(x), failedWithError(y); e != f {
				return f
			}
			if !x.BackoffExpiration.Equal(y.BackoffExpiration) {
				return x.BackoffExpiration.Before(y.BackoffExpiration)
			}
			return less(x, y)
		})
		break
	}
	r.Active, r.Backoff, r.Unschedulable, r.Gated = []string{}, []Waiting{}, []Held{}, []Held{}
	for _, i := range active {
		r.Active = append(r.Active, key(i.Pod))
	}
	now := l.clock.Now()
	for _, i := range backoff {
		left := i.BackoffExpiration.Add(windowTakes).Sub(now) // the flush at its own second still leaves it; pods of a group are nanoseconds apart
		r.Backoff = append(r.Backoff, Waiting{Pod: key(i.Pod), Left: float64(left.Round(time.Millisecond).Milliseconds()) / 1000, Error: failedWithError(i)})
	}
	for _, i := range infos(l.queue.UnschedulablePods()) {
		if i.Gated() {
			r.Gated = append(r.Gated, Held{Pod: key(i.Pod), Plugins: []string{i.GatingPlugin}, Or: l.gating.others(i.Pod.UID)})
			continue
		}
		plugins := i.UnschedulablePlugins.Union(i.PendingPlugins).UnsortedList()
		sort.Strings(plugins)
		r.Unschedulable = append(r.Unschedulable, Held{Pod: key(i.Pod), Plugins: plugins})
	}
	for _, p := range l.queue.InFlightPods() {
		r.InFlight = append(r.InFlight, key(p))
	}
	l.lookAtGroups(r)
	for node := range l.nodes {
		for _, p := range l.queue.NominatedPodsForNode(node) {
			if r.Nominations == nil {
				r.Nominations = map[string]string{}
			}
			r.Nominations[key(p.GetPod())] = node
		}
	}
}
