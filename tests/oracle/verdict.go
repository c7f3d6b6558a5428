// SPDX-License-Identifier: Apache-2.0

// verdict: kube-scheduler's verdict for each pending pod, with every node evaluated.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func runVerdict(args []string) error {
	fs := flag.NewFlagSet("verdict", flag.ExitOnError)
	in := fs.String("in", "-", "scenarios, one JSON document a line")
	preemptTries := fs.Int("preempt-tries", 6, "how often PostFilter is asked, to see equally good outcomes")
	parallel := fs.Int("parallel", 32, "scenarios at a time")
	ask := fs.Int("ask", 3, "how often each scenario is judged, to see where upstream's answer is a matter of chance")
	gatesFlag(fs)
	_ = fs.Parse(args)
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
	// A scenario mostly waits for its informers: many run at once, and answers are written in the order of input.
	pending := make(chan chan *Verdict, *parallel)
	readErr := make(chan error, 1)
	go func() {
		defer close(pending)
		readErr <- eachLine(r, func(line []byte) error {
			out := make(chan *Verdict, 1)
			pending <- out
			go func() { out <- answerScenario(line, *preemptTries, *ask) }()
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

// answerScenario returns the error of a scenario that cannot be judged.
func answerScenario(line []byte, preemptTries, ask int) *Verdict {
	var s Scenario
	var v *Verdict
	err := guarded(func() (err error) {
		if err = json.Unmarshal(line, &s); err == nil {
			v, err = judgeScenario(&s, preemptTries)
		}
		for i := 1; i < ask && err == nil; i++ {
			var w *Verdict
			if w, err = judgeScenario(&s, preemptTries); err == nil {
				v.alsoSeen(w)
			}
		}
		return err
	})
	if err != nil {
		return &Verdict{ID: s.ID, Error: err.Error(), Pods: []PodVerdict{}}
	}
	return v
}

// alsoSeen marks the pods whose verdict differs in another answer to the same scenario.
func (v *Verdict) alsoSeen(w *Verdict) {
	for i := range v.Pods {
		for _, a := range strings.Split(verdictAspects, ",") {
			if a != "preemption" && !reflect.DeepEqual(aspect(a, &v.Pods[i]), aspect(a, &w.Pods[i])) { // lists all observed choices
				v.Pods[i].Any = true
			}
		}
	}
}

func judgeScenario(s *Scenario, preemptTries int) (*Verdict, error) {
	c, err := newCluster(s.Config, s.Objects)
	if err != nil {
		return nil, err
	}
	defer func() { c.stop() }()
	v := &Verdict{ID: s.ID, Pods: []PodVerdict{}}
	for _, name := range s.Pending {
		pod, ok := c.pods[name]
		if !ok {
			return nil, fmt.Errorf("pending pod %s is not among the objects", name)
		}
		f, err := c.profile(pod)
		if err != nil {
			return nil, err
		}
		if _, err := c.snapshot(f); err != nil {
			return nil, err
		}
		v.Pods = append(v.Pods, *c.judgePod(f, pod, preemptTries))
		if err := c.crash.take(); err != nil { // the panic may have left locks held: the next pod gets a new scheduler
			v.Pods[len(v.Pods)-1] = PodVerdict{Pod: name, Error: err.Error()}
			c.stop()
			if c, err = newCluster(s.Config, s.Objects); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// judgePod runs one scheduling cycle up to, but not including, the choice among the best nodes.
func (c *Cluster) judgePod(f framework.Framework, pod *v1.Pod, preemptTries int) *PodVerdict {
	pv := &PodVerdict{Pod: key(pod)}
	defer c.crash.caught()
	if by := c.gates(f, pod); len(by) > 0 {
		pv.Gated, pv.GatedToo = &by[0], by[1:]
		return pv
	}
	cy := c.cycle(f, pod, pv)
	if cy.fit == nil {
		return pv
	}
	var outcomes []Preemption
	seen := map[string]bool{}
	for i := 0; f.HasPostFilterPlugins() && i < preemptTries; i++ {
		c.takeEvicted()
		res, s := f.RunPostFilterPlugins(c.ctx, cy.state, pod, cy.fit.Diagnosis.NodeToStatus)
		cy.fit.Diagnosis.PostFilterMsg = s.Message()
		if res == nil || res.NominatingInfo == nil || res.NominatedNodeName == "" {
			break
		}
		o := Preemption{Node: res.NominatedNodeName, Victims: c.takeEvicted()}
		if !seen[o.Node] {
			seen[o.Node] = true
			outcomes = append(outcomes, o)
		}
	}
	sort.Slice(outcomes, func(i, j int) bool { return outcomes[i].Node < outcomes[j].Node })
	pv.Preemptions = outcomes
	pv.Message = cy.fit.Error()
	return pv
}

// cycleResult is passed to later steps.
type cycleResult struct {
	state fwk.CycleState
	fit   *framework.FitError // nil when a node was found or the cycle failed
}

func (c *Cluster) cycle(f framework.Framework, pod *v1.Pod, pv *PodVerdict) cycleResult {
	return c.cycleBeside(f, pod, nil, pv)
}

// cycleBeside runs a cycle with the group state of another cycle, or nil.
func (c *Cluster) cycleBeside(f framework.Framework, pod *v1.Pod, of fwk.CycleState, pv *PodVerdict) cycleResult {
	state := framework.NewCycleState()
	inGroupOf(state, of)
	cy := cycleResult{state: state}
	all, err := nodesInPlacement(f)
	if err != nil || len(all) == 0 {
		pv.Error = "no nodes available to schedule pods"
		return cy
	}
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	unfit := func() cycleResult {
		cy.fit = &framework.FitError{Pod: pod, NumAllNodes: len(all), Diagnosis: diagnosis}
		pv.Message = cy.fit.Error()
		return cy
	}
	pre, status, plugins := f.RunPreFilterPlugins(c.ctx, cy.state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			pv.Error = status.AsError().Error()
			return cy
		}
		r := rejection(status)
		pv.PreFilter = &r
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		return unfit()
	}
	nodes := all
	if !pre.AllNodes() {
		nodes = nil
		for _, n := range all {
			if pre.NodeNames.Has(n.Node().Name) {
				nodes = append(nodes, n)
				pv.Narrowed = append(pv.Narrowed, n.Node().Name)
			}
		}
		sort.Strings(pv.Narrowed)
		if pv.Narrowed == nil {
			pv.Narrowed = []string{}
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(plugins))))
	}
	if c.nominatedFits(f, pod, cy.state, pv) {
		return cy
	}
	statuses := make([]*fwk.Status, len(nodes))
	f.Parallelizer().Until(c.ctx, len(nodes), func(i int) {
		statuses[i] = f.RunFilterPluginsWithNominatedPods(c.ctx, cy.state, pod, nodes[i])
	}, "oracle")
	var feasible []fwk.NodeInfo
	for i, s := range statuses {
		if s.IsSuccess() {
			feasible = append(feasible, nodes[i])
			continue
		}
		if s.Code() == fwk.Error {
			pv.Error = s.AsError().Error()
			return cy
		}
		if pv.Rejected == nil {
			pv.Rejected = map[string]Rejection{}
		}
		pv.Rejected[nodes[i].Node().Name] = rejection(s)
		diagnosis.NodeToStatus.Set(nodes[i].Node().Name, s)
	}
	if len(feasible) == 0 {
		return unfit()
	}
	c.score(f, pod, cy.state, feasible, pv)
	return cy
}

// nodesInPlacement lists the nodes of a group's placement, or all.
func nodesInPlacement(f framework.Framework) ([]fwk.NodeInfo, error) {
	if s, ok := f.SnapshotSharedLister().(interface {
		ListNodesInPlacement() ([]fwk.NodeInfo, error)
	}); ok { // 1.35 has no placements
		return s.ListNodesInPlacement()
	}
	return f.SnapshotSharedLister().NodeInfos().List()
}

func inPlacement(f framework.Framework, n fwk.NodeInfo) bool {
	all, err := nodesInPlacement(f)
	return err == nil && slices.Contains(all, n)
}

// nominatedFits: a nominated pod takes its node while it fits, regardless of other nodes' scores.
func (c *Cluster) nominatedFits(f framework.Framework, pod *v1.Pod, state fwk.CycleState, pv *PodVerdict) bool {
	if pod.Status.NominatedNodeName == "" {
		return false
	}
	n, err := f.SnapshotSharedLister().NodeInfos().Get(pod.Status.NominatedNodeName)
	if err != nil || !inPlacement(f, n) || !f.RunFilterPluginsWithNominatedPods(c.ctx, state, pod, n).IsSuccess() {
		return false
	}
	c.score(f, pod, state, []fwk.NodeInfo{n}, pv)
	return true
}

func (c *Cluster) score(f framework.Framework, pod *v1.Pod, state fwk.CycleState, feasible []fwk.NodeInfo, pv *PodVerdict) {
	pv.Scores = map[string]Score{}
	if f.HasScorePlugins() {
		if s := f.RunPreScorePlugins(c.ctx, state, pod, feasible); !s.IsSuccess() {
			pv.Error = s.AsError().Error()
			return
		}
		scores, s := f.RunScorePlugins(c.ctx, state, pod, feasible)
		if !s.IsSuccess() {
			pv.Error = s.AsError().Error()
			return
		}
		for _, ns := range scores {
			sc := Score{Total: ns.TotalScore, Plugins: map[string]int64{}}
			for _, ps := range ns.Scores {
				sc.Plugins[ps.Name] = ps.Score
			}
			pv.Scores[ns.Name] = sc
		}
	} else {
		for _, n := range feasible {
			pv.Scores[n.Node().Name] = Score{Total: 1, Plugins: map[string]int64{}}
		}
	}
	top := int64(-1 << 62)
	for _, s := range pv.Scores {
		top = max(top, s.Total)
	}
	for n, s := range pv.Scores {
		if s.Total == top {
			pv.Best = append(pv.Best, n)
		}
	}
	sort.Strings(pv.Best)
}
