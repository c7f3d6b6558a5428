// SPDX-License-Identifier: Apache-2.0

package berth

/*
#include <stdlib.h>
#include <berth.h>
*/
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Placement restricts a call to some nodes; nil: all nodes. MakePlacement makes one.
type Placement struct{ nodes []string }

// empty: no pod fits, and none is tried.
func (p *Placement) empty() bool { return p != nil && len(p.nodes) == 0 }

// CommonSchedulingOptions are those of all verbs that schedule.
type CommonSchedulingOptions struct {
	DryRun     bool // revert the result
	NoMessages bool // leave SchedulingResult.Message empty: faster where many pods do not fit
}

// SchedulePodsOptions are the options of SchedulePods.
type SchedulePodsOptions struct {
	CommonSchedulingOptions
	StopOnFailure bool // end at the first pod that does not fit
}

// SchedulePodsByTemplateOptions are the options of SchedulePodsByTemplate.
type SchedulePodsByTemplateOptions struct{ CommonSchedulingOptions }

// ScheduleWorkloadOptions are the options of ScheduleWorkload.
type ScheduleWorkloadOptions struct{ CommonSchedulingOptions }

// SchedulingResult is the outcome for one pod.
type SchedulingResult struct {
	Pod              *v1.Pod // the caller's, unchanged; of a template, or of a preempted pod, the one that was added
	SelectedNodeName string  // empty: it does not fit
	Message          string  // why it does not fit: the FailedScheduling event's text
}

// FeasibilityResult is the outcome of CanSchedulePod.
type FeasibilityResult struct {
	NodeNames []string // those that fit
	Message   string   // why none does
}

// NodeVerdict is what a node says about a pod.
type NodeVerdict struct {
	NodeName            string           `json:"node"`
	Plugin              string           `json:"plugin"` // that refuses the pod; "": the pod fits
	Reason              string           `json:"reason"` // why, with the needed and free amounts
	PreemptionMightHelp bool             `json:"preemption_might_help"`
	Total               int64            `json:"total"`  // of the weighted scores, where it fits
	Scores              map[string]int64 `json:"scores"` // weighted, by plugin
}

// TransactionResult decides what becomes of a transaction's mutations.
type TransactionResult int

const (
	Commit TransactionResult = iota // keep them
	Revert                          // undo them
)

// Unpreemption puts preempted pods back, once: see PreemptPods.
type Unpreemption struct {
	of     *handle
	pods   []*v1.Pod
	number uint64
	epoch  uint64
	used   bool
}

// open opens a transaction that holds mutations which are made outside of Transaction.
func (s *ClusterSnapshot) open(op string) error {
	if s.base {
		return nil
	}
	if err := s.h.check(op, C.berth_transaction_begin(s.h.berth)); err != nil {
		return err
	}
	s.base = true
	return nil
}

// try runs a function in a transaction of its own, restricted to the placement; it is kept if keep is returned. Between
// enter and leave.
func (s *ClusterSnapshot) try(op string, placement *Placement, f func() (keep bool, err error)) error {
	if err := s.h.check(op, C.berth_transaction_begin(s.h.berth)); err != nil {
		return err
	}
	keep, err := false, error(nil)
	if placement != nil {
		err = s.restrict(op, placement)
	}
	if err == nil {
		keep, err = f()
	}
	if keep && err == nil {
		return s.h.check(op, C.berth_transaction_commit(s.h.berth))
	}
	if ended := s.h.check(op, C.berth_transaction_rollback(s.h.berth)); err == nil {
		err = ended
	}
	return err
}

func (s *ClusterSnapshot) restrict(op string, placement *Placement) error {
	names := C.malloc(C.size_t(len(placement.nodes)+1) * C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(names)
	list := unsafe.Slice((**C.char)(names), len(placement.nodes))
	for i, n := range placement.nodes {
		list[i] = C.CString(n)
		defer C.free(unsafe.Pointer(list[i]))
	}
	return s.h.check(op, C.berth_restrict_nodes(s.h.berth, (**C.char)(names), C.uint32_t(len(placement.nodes))))
}

// MakePlacement turns names of nodes into the Placement to which other verbs are restricted. Without names it is empty:
// nothing fits, and verbs that schedule return no results.
func (s *ClusterSnapshot) MakePlacement(candidateNodeNames []string) (*Placement, error) {
	const op = "MakePlacement"
	placement := &Placement{nodes: slices.Clone(candidateNodeNames)}
	if err := s.h.enter(op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if placement.empty() {
		return placement, nil
	}
	if err := s.try(op, placement, func() (bool, error) { return false, nil }); err != nil {
		return nil, err
	}
	return placement, nil
}

// CanSchedulePod reports which nodes of the placement fit a pod. Nothing changes. A pending pod of the snapshot, by namespace
// and name, is taken as it is there; one that is on a node, or preempted, is asked about as if it was another pod.
func (s *ClusterSnapshot) CanSchedulePod(ctx context.Context, pod *v1.Pod, placement *Placement) (FeasibilityResult, error) {
	const op = "CanSchedulePod"
	var result FeasibilityResult
	if err := begin(ctx, s.h, op, pod); err != nil {
		return result, err
	}
	defer s.h.leave()
	if placement.empty() {
		return result, nil
	}
	if placement == nil {
		if set, status := s.h.feasible(pod.Namespace, pod.Name); status == C.BERTH_OK {
			return result, s.answer(op, pod, &set, &result)
		}
	}
	err := s.try(op, placement, func() (bool, error) {
		asked := pod
		set, status := s.h.feasible(pod.Namespace, pod.Name)
		if status == C.BERTH_NOT_FOUND {
			var err error
			if asked, err = s.addAnother(at(op, pod), pod, true); err != nil {
				return false, err
			}
			set, status = s.h.feasible(asked.Namespace, asked.Name)
		}
		if err := s.h.check(at(op, pod), status); err != nil {
			return false, err
		}
		return false, s.answer(op, asked, &set, &result)
	})
	return result, err
}

// Explain reports what each node of the placement says about a pod: why it does not fit, or its scores; the best node first.
// Nothing changes; the pod is as that of CanSchedulePod, which is faster.
func (s *ClusterSnapshot) Explain(ctx context.Context, pod *v1.Pod, placement *Placement) ([]NodeVerdict, error) {
	const op = "Explain"
	if err := begin(ctx, s.h, op, pod); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if placement.empty() {
		return nil, nil
	}
	var answer struct{ Explain []NodeVerdict }
	err := s.try(op, placement, func() (bool, error) {
		asked := pod
		if state, _ := s.h.find(pod.Namespace, pod.Name); state != C.BERTH_POD_WAITING && state != C.BERTH_POD_GATED {
			var err error
			if asked, err = s.addAnother(at(op, pod), pod, true); err != nil {
				return false, err
			}
		}
		text, err := s.h.explain(at(op, pod), asked.Namespace, asked.Name)
		if err == nil {
			err = json.Unmarshal(text, &answer)
		}
		return false, err
	})
	return answer.Explain, err
}

// addAnother adds a pod that is not pending: itself, if the snapshot has none of its name, else a copy of another name. A
// pod that is on a node gets none unless twice is set.
func (s *ClusterSnapshot) addAnother(op string, pod *v1.Pod, twice bool) (*v1.Pod, error) {
	state, node := s.h.find(pod.Namespace, pod.Name)
	if state == C.BERTH_POD_UNKNOWN && !s.preempted[keyOf(pod)] {
		if err := s.addPods(op, []*v1.Pod{pod}); err != nil {
			return nil, err
		}
		return pod, s.pending(op, pod)
	}
	if state != C.BERTH_POD_UNKNOWN && !twice {
		return nil, &Error{Status: Invalid, Op: op, Text: "it is on node " + node + "; preempt it first"}
	}
	s.templates++
	pod = pod.DeepCopy()
	pod.Name, pod.UID = fmt.Sprintf("%s-%d", pod.Name, s.templates), ""
	pod.Spec.NodeName, pod.Status.Phase, pod.Status.NominatedNodeName = "", "", ""
	if err := s.addPods(op, []*v1.Pod{pod}); err != nil {
		return nil, err
	}
	return pod, s.pending(op, pod)
}

// pending tells why an added pod is not pending.
func (s *ClusterSnapshot) pending(op string, pod *v1.Pod) error {
	text := ""
	switch state, node := s.h.find(pod.Namespace, pod.Name); {
	case state == C.BERTH_POD_ON_NODE || state == C.BERTH_POD_ASSUMED:
		text = "its spec.nodeName is " + node + "; clear it in a copy"
	case state != C.BERTH_POD_UNKNOWN:
		return nil
	case pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed:
		text = "its status.phase is " + string(pod.Status.Phase) + "; clear it in a copy"
	default:
		text = fmt.Sprintf("no profile has its spec.schedulerName, %q; add one to Options.Config", pod.Spec.SchedulerName)
	}
	return &Error{Status: Invalid, Op: op, Text: text}
}

func (s *ClusterSnapshot) answer(op string, pod *v1.Pod, set *C.struct_berth_node_set, result *FeasibilityResult) (err error) {
	names := s.nodeNames(set)
	result.NodeNames = make([]string, int(set.n))
	for i, number := range unsafe.Slice((*uint32)(unsafe.Pointer(set.nodes)), int(set.n)) {
		result.NodeNames[i] = names[number]
	}
	if set.n == 0 {
		result.Message, err = s.h.message(at(op, pod), pod.Namespace, pod.Name)
	}
	return err
}

func begin(ctx context.Context, h *handle, op string, pods ...*v1.Pod) error {
	if err := ended(ctx, op); err != nil {
		return err
	}
	for i, p := range pods {
		if p == nil {
			return &Error{Status: Invalid, Op: op, Text: fmt.Sprintf("pod %d is nil", i)}
		}
	}
	return h.enter(op)
}

func ended(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("berth: %s: %w", op, err)
	}
	return nil
}

func keyOf(pod *v1.Pod) string { return namespaceOf(pod.Namespace) + "/" + pod.Name }

func at(op string, pod *v1.Pod) string { return op + ": pod " + keyOf(pod) }

// mutate runs a function whose changes are kept unless dryRun is set or it fails.
func (s *ClusterSnapshot) mutate(op string, placement *Placement, dryRun bool, f func() error) error {
	if !s.inside && !dryRun {
		if err := s.open(op); err != nil {
			return err
		}
	}
	err := s.try(op, placement, func() (bool, error) {
		err := f()
		return !dryRun, err
	})
	if err == nil && !dryRun {
		s.epoch++
	}
	return err
}

// SchedulePods places the pods one after the other, each as if those before it were on their nodes. Pods that the
// snapshot has not are added; a pending one is taken as it is there; of a preempted one a copy with another name is added.
// Unless DryRun is set the result is kept.
func (s *ClusterSnapshot) SchedulePods(ctx context.Context, pods []*v1.Pod, placement *Placement, opts SchedulePodsOptions) ([]SchedulingResult, error) {
	const op = "SchedulePods"
	if err := begin(ctx, s.h, op, pods...); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if placement.empty() {
		return nil, nil
	}
	results := make([]SchedulingResult, 0, len(pods))
	err := s.mutate(op, placement, opts.DryRun, func() error {
		for _, pod := range pods {
			if err := ended(ctx, op); err != nil {
				return err
			}
			result, err := s.scheduleOne(op, pod, opts.NoMessages)
			if err != nil {
				return err
			}
			results = append(results, result)
			if result.SelectedNodeName == "" && opts.StopOnFailure {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s *ClusterSnapshot) scheduleOne(op string, pod *v1.Pod, noMessages bool) (SchedulingResult, error) {
	result := SchedulingResult{Pod: pod}
	node, status := s.h.schedule(pod.Namespace, pod.Name)
	if status == C.BERTH_NOT_FOUND {
		var err error
		if pod, err = s.addAnother(at(op, pod), pod, false); err != nil {
			return result, err
		}
		result.Pod = pod
		node, status = s.h.schedule(pod.Namespace, pod.Name)
	}
	if status != C.BERTH_OK {
		return result, s.h.check(at(op, pod), status)
	}
	if *node != 0 {
		result.SelectedNodeName = s.intern(node)
		return result, nil
	}
	if noMessages {
		return result, nil
	}
	var err error
	result.Message, err = s.h.message(at(op, pod), pod.Namespace, pod.Name)
	return result, err
}

// SchedulePodsByTemplate places as many pods of a template as fit, up to maxPods. The last result is that of the first
// pod that does not fit, if there is one.
func (s *ClusterSnapshot) SchedulePodsByTemplate(ctx context.Context, template *v1.PodTemplateSpec, placement *Placement, maxPods int, opts SchedulePodsByTemplateOptions) ([]SchedulingResult, error) {
	const op = "SchedulePodsByTemplate"
	if maxPods <= 0 {
		return nil, nil
	}
	if template == nil {
		return nil, &Error{Status: Invalid, Op: op, Text: "the template is nil"}
	}
	if err := begin(ctx, s.h, op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if placement.empty() {
		return nil, nil
	}
	pod := s.podOf(template)
	var results []SchedulingResult
	err := s.mutate(op, placement, opts.DryRun, func() error {
		if err := s.addPods(at(op, pod), []*v1.Pod{pod}); err != nil {
			return err
		}
		if err := s.pending(at(op, pod), pod); err != nil {
			return err
		}
		var err error
		results, err = s.scheduleCopies(op, pod, maxPods, opts.NoMessages)
		return err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// podOf is a pod of a template, with a name that no other one has.
func (s *ClusterSnapshot) podOf(template *v1.PodTemplateSpec) *v1.Pod {
	name := template.Name
	if name == "" {
		name = "templated-pod"
	}
	s.templates++
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, s.templates),
		Namespace: namespaceOf(template.Namespace), Labels: template.Labels, Annotations: template.Annotations},
		Spec: template.Spec}
	s.owned[keyOf(pod)] = true
	return pod
}

func (s *ClusterSnapshot) scheduleCopies(op string, pod *v1.Pod, maxPods int, noMessages bool) ([]SchedulingResult, error) {
	var n C.uint32_t
	var text *C.char
	into := &text
	if noMessages {
		into = nil
	}
	ns, name := s.h.named(pod.Namespace, pod.Name)
	status := C.berth_schedule_pods_by_template(s.h.berth, ns, name, C.uint32_t(maxPods), &n, into)
	if err := s.h.check(at(op, pod), status); err != nil {
		return nil, err
	}
	defer C.berth_free(text)
	var copies *C.struct_berth_pod_ref
	if err := s.h.check(op, C.berth_template_pods(s.h.berth, &copies, &n)); err != nil {
		return nil, err
	}
	results := make([]SchedulingResult, 0, int(n)+1)
	generated := make([]v1.Pod, int(n)+1)
	for i, c := range unsafe.Slice(copies, int(n)) {
		p := &generated[i]
		*p = v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: C.GoString(c.name), Namespace: pod.Namespace, Labels: pod.Labels}, Spec: pod.Spec}
		p.Spec.NodeName = s.intern(c.node)
		results = append(results, SchedulingResult{Pod: p, SelectedNodeName: p.Spec.NodeName})
	}
	if int(n) < maxPods {
		result := SchedulingResult{Pod: pod}
		if text != nil {
			result.Message = C.GoString(text)
		}
		results = append(results, result)
	}
	return results, nil
}

// ScheduleWorkload places pods as one workload: those of a PodGroup as in the group's cycle (of a gang at least minCount;
// within one topology domain, if the group has such a constraint), others all or none. The PodGroup must have been applied,
// and the gate GenericWorkload be on (Options.FeatureGates): else, as in kube-scheduler, spec.schedulingGroup means nothing.
// One result per pod, in their order; a pod without a node has the reason. Preempted pods are as those of SchedulePods.
func (s *ClusterSnapshot) ScheduleWorkload(ctx context.Context, pods []*v1.Pod, opts ScheduleWorkloadOptions) ([]SchedulingResult, error) {
	const op = "ScheduleWorkload"
	if len(pods) == 0 {
		return nil, nil
	}
	if err := begin(ctx, s.h, op, pods...); err != nil {
		return nil, err
	}
	defer s.h.leave()
	var results []SchedulingResult
	err := s.mutate(op, nil, opts.DryRun, func() error {
		members, err := s.addMissing(op, pods)
		if err == nil {
			results, err = s.scheduleTogether(op, members)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// addMissing adds those of the pods that are not pending. Returns: the pending pods, in the same order.
func (s *ClusterSnapshot) addMissing(op string, pods []*v1.Pod) ([]*v1.Pod, error) {
	pods = slices.Clone(pods)
	for i, p := range pods {
		state, _ := s.h.find(p.Namespace, p.Name)
		if state == C.BERTH_POD_WAITING || state == C.BERTH_POD_GATED {
			continue
		}
		var err error
		if pods[i], err = s.addAnother(at(op, p), p, false); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

func (s *ClusterSnapshot) scheduleTogether(op string, pods []*v1.Pod) ([]SchedulingResult, error) {
	refs := s.h.references(pods)
	var n C.uint32_t
	var text *C.char
	if err := s.h.check(op, C.berth_schedule_workload(s.h.berth, &refs[0], C.uint32_t(len(refs)), &n, &text)); err != nil {
		return nil, err
	}
	defer C.berth_free(text)
	message := C.GoString(text)
	results := make([]SchedulingResult, len(pods))
	for i, p := range pods {
		results[i] = SchedulingResult{Pod: p}
		if *refs[i].node != 0 {
			results[i].SelectedNodeName = s.intern(refs[i].node)
		}
	}
	for i, p := range pods { // which ends what refs point to
		if results[i].SelectedNodeName != "" {
			continue
		}
		results[i].Message = message
		if message == "" {
			var err error
			if results[i].Message, err = s.h.message(at(op, p), p.Namespace, p.Name); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// PreemptPods takes pods off their nodes, all or none, and returns what puts them back. That is valid until anything else
// is kept, and in its transaction alone.
func (s *ClusterSnapshot) PreemptPods(ctx context.Context, pods []*v1.Pod) (*Unpreemption, error) {
	const op = "PreemptPods"
	if err := begin(ctx, s.h, op, pods...); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if !s.inside {
		if err := s.open(op); err != nil {
			return nil, err
		}
	}
	var number C.uint64_t
	var first *C.struct_berth_pod_ref
	if refs := s.h.references(pods); len(refs) > 0 {
		first = &refs[0]
	}
	if err := s.h.check(op, C.berth_preempt_pods(s.h.berth, first, C.uint32_t(len(pods)), &number)); err != nil {
		return nil, err
	}
	for _, p := range pods {
		s.preempted[keyOf(p)] = true
	}
	return &Unpreemption{of: s.h, pods: slices.Clone(pods), number: uint64(number), epoch: s.epoch}, nil
}

// Unpreempt puts the pods back, whether they still fit or not, and returns them.
func (s *ClusterSnapshot) Unpreempt(u *Unpreemption) ([]*v1.Pod, error) {
	const op = "Unpreempt"
	if u == nil || u.of != s.h {
		return nil, &Error{Status: Invalid, Op: op, Text: "it is not from this snapshot's PreemptPods"}
	}
	if err := s.h.enter(op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if u.used || u.epoch != s.epoch {
		return nil, &Error{Status: Invalid, Op: op, Text: "the preemption was put back already, or the snapshot has changed since; preempt again"}
	}
	if err := s.h.check(op, C.berth_unpreempt(s.h.berth, C.uint64_t(u.number))); err != nil {
		return nil, err
	}
	u.used = true
	return u.pods, nil
}

// RemoveNodes takes nodes away, all or none, as if they were deleted. Their pods stay until they are preempted.
func (s *ClusterSnapshot) RemoveNodes(ctx context.Context, names ...string) error {
	const op = "RemoveNodes"
	if err := begin(ctx, s.h, op); err != nil {
		return err
	}
	defer s.h.leave()
	return s.mutate(op, nil, false, func() error {
		for _, name := range names {
			text := C.CString(name)
			err := s.h.check(op, C.berth_remove_node(s.h.berth, text))
			C.free(unsafe.Pointer(text))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Victim is a pod that preemption would evict.
type Victim struct{ Namespace, Name, NodeName string }

// FindVictims reports whom DefaultPreemption would evict for a pod of the snapshot, with PodDisruptionBudgets, and the
// node where it would fit then; "" and none when that does not help, or it fits already. Nothing changes.
func (s *ClusterSnapshot) FindVictims(ctx context.Context, pod *v1.Pod) (node string, victims []Victim, err error) {
	const op = "FindVictims"
	if err := begin(ctx, s.h, op, pod); err != nil {
		return "", nil, err
	}
	defer s.h.leave()
	err = s.try(op, nil, func() (bool, error) {
		asked, err := s.addMissing(op, []*v1.Pod{pod})
		if err != nil {
			return false, err
		}
		var name *C.char
		var list *C.struct_berth_pod_ref
		var n C.uint32_t
		ns, pn := s.h.named(asked[0].Namespace, asked[0].Name)
		if err := s.h.check(at(op, pod), C.berth_find_victims(s.h.berth, ns, pn, &name, &list, &n)); err != nil {
			return false, err
		}
		node = C.GoString(name)
		for _, v := range unsafe.Slice(list, int(n)) {
			victims = append(victims, Victim{C.GoString(v.pod_namespace), C.GoString(v.name), s.intern(v.node)})
		}
		return false, nil
	})
	return node, victims, err
}

// Transaction groups calls: their mutations are kept if f returns Commit, and undone if it returns Revert or an error, or
// panics. Nodes and pods that it adds are such mutations, too. Transactions do not nest, as in scheduler-library.
func (s *ClusterSnapshot) Transaction(ctx context.Context, f func() (TransactionResult, error)) (err error) {
	const op = "Transaction"
	if err := begin(ctx, s.h, op); err != nil {
		return err
	}
	if s.inside || f == nil {
		inside := s.inside
		s.h.leave()
		if inside {
			return &Error{Status: Busy, Op: op, Text: "a transaction is open already; end it first"}
		}
		return &Error{Status: Invalid, Op: op, Text: "its function is nil"}
	}
	err = s.open(op)
	if err == nil {
		err = s.h.check(op, C.berth_transaction_begin(s.h.berth))
	}
	if err != nil {
		s.h.leave()
		return err
	}
	s.inside = true
	before := s.epoch
	s.epoch++ // preemptions of outside cannot be put back inside
	s.h.leave()

	result := Revert
	defer func() {
		if entered := s.h.enter(op); entered != nil {
			err = entered
			return
		}
		defer s.h.leave()
		s.inside = false
		if result == Commit && err == nil {
			s.epoch++
			err = s.h.check(op, C.berth_transaction_commit(s.h.berth))
			return
		}
		s.epoch = before
		if ended := s.h.check(op, C.berth_transaction_rollback(s.h.berth)); err == nil {
			err = ended
		}
	}()
	chosen, err := f()
	if err != nil {
		return fmt.Errorf("berth: %s: %w", op, err)
	}
	result = chosen
	return nil
}

// ResetMutations undoes all that was kept since the snapshot was made or last reset. Not inside Transaction.
func (s *ClusterSnapshot) ResetMutations() error {
	const op = "ResetMutations"
	if err := s.h.enter(op); err != nil {
		return err
	}
	defer s.h.leave()
	if s.inside {
		return &Error{Status: Busy, Op: op, Text: "a transaction is open; return Revert from it"}
	}
	if !s.base {
		return nil
	}
	s.base = false
	s.epoch++
	clear(s.owned)
	clear(s.preempted)
	return s.h.check(op, C.berth_transaction_rollback(s.h.berth))
}
