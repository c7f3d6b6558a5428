// SPDX-License-Identifier: Apache-2.0

package berth

/*
#include <stdlib.h>
#include <berth.h>
*/
import "C"

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Placement restricts a call to some nodes; nil: all nodes. MakePlacement makes one.
type Placement struct{ nodes []string }

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
	Pod              *v1.Pod // the caller's, unchanged; of a template, the generated one
	SelectedNodeName string  // empty: it does not fit
	Message          string  // why it does not fit: the FailedScheduling event's text
}

// FeasibilityResult is the outcome of CanSchedulePod.
type FeasibilityResult struct {
	NodeNames []string // those that fit
	Message   string   // why none does
}

// TransactionResult decides what becomes of a transaction's mutations.
type TransactionResult int

const (
	Commit TransactionResult = iota // keep them
	Revert                          // undo them
)

// Unpreemption puts preempted pods back, once: see PreemptPods.
type Unpreemption struct {
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

// MakePlacement turns names of nodes into the Placement to which other verbs are restricted.
func (s *ClusterSnapshot) MakePlacement(candidateNodeNames []string) (*Placement, error) {
	const op = "MakePlacement"
	if len(candidateNodeNames) == 0 {
		return nil, &Error{Status: Invalid, Op: op, Text: "there is no name; pass a nil Placement for all nodes"}
	}
	placement := &Placement{nodes: slices.Clone(candidateNodeNames)}
	if err := s.h.enter(op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if err := s.try(op, placement, func() (bool, error) { return false, nil }); err != nil {
		return nil, err
	}
	return placement, nil
}

// CanSchedulePod reports which nodes of the placement fit a pod. Nothing changes. A pod that the snapshot has already, by
// namespace and name, is taken as it is there.
func (s *ClusterSnapshot) CanSchedulePod(ctx context.Context, pod *v1.Pod, placement *Placement) (FeasibilityResult, error) {
	const op = "CanSchedulePod"
	if err := begin(ctx, s.h, op); err != nil {
		return FeasibilityResult{}, err
	}
	defer s.h.leave()
	var result FeasibilityResult
	if placement == nil {
		if set, status := s.h.feasible(pod.Namespace, pod.Name); status == C.BERTH_OK {
			return result, s.answer(op, pod, &set, &result)
		}
	}
	err := s.try(op, placement, func() (bool, error) {
		set, status := s.h.feasible(pod.Namespace, pod.Name)
		if status == C.BERTH_NOT_FOUND {
			if err := s.addPods(at(op, pod), []*v1.Pod{pod}); err != nil {
				return false, err
			}
			set, status = s.h.feasible(pod.Namespace, pod.Name)
		}
		if err := s.h.check(at(op, pod), status); err != nil {
			return false, err
		}
		return false, s.answer(op, pod, &set, &result)
	})
	return result, err
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

func begin(ctx context.Context, h *handle, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("berth: %s: %w", op, err)
	}
	return h.enter(op)
}

func at(op string, pod *v1.Pod) string {
	return op + ": pod " + namespaceOf(pod.Namespace) + "/" + pod.Name
}

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
// snapshot has not are added; one that it has is taken as it is there. Unless DryRun is set the result is kept.
func (s *ClusterSnapshot) SchedulePods(ctx context.Context, pods []*v1.Pod, placement *Placement, opts SchedulePodsOptions) ([]SchedulingResult, error) {
	const op = "SchedulePods"
	if err := begin(ctx, s.h, op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	results := make([]SchedulingResult, 0, len(pods))
	err := s.mutate(op, placement, opts.DryRun, func() error {
		for _, pod := range pods {
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
		if err := s.addPods(at(op, pod), []*v1.Pod{pod}); err != nil {
			return result, err
		}
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
	if err := begin(ctx, s.h, op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	pod := s.podOf(template)
	var results []SchedulingResult
	err := s.mutate(op, placement, opts.DryRun, func() error {
		if err := s.addPods(at(op, pod), []*v1.Pod{pod}); err != nil {
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
	s.owned[pod.Namespace+"/"+pod.Name] = true
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
// and the gate GenericWorkload be on. One result per pod, in their order; if none has a node, each has the reason.
func (s *ClusterSnapshot) ScheduleWorkload(ctx context.Context, pods []*v1.Pod, opts ScheduleWorkloadOptions) ([]SchedulingResult, error) {
	const op = "ScheduleWorkload"
	if len(pods) == 0 {
		return nil, nil
	}
	if err := begin(ctx, s.h, op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	var results []SchedulingResult
	err := s.mutate(op, nil, opts.DryRun, func() error {
		if err := s.addPods(op, s.unknown(pods)); err != nil {
			return err
		}
		var err error
		results, err = s.scheduleTogether(op, pods)
		return err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// unknown are those of the pods that the snapshot has not.
func (s *ClusterSnapshot) unknown(pods []*v1.Pod) []*v1.Pod {
	var missing []*v1.Pod
	for _, p := range pods {
		ns, name := s.h.named(p.Namespace, p.Name)
		if C.berth_find_pod(s.h.berth, ns, name, nil, nil) == C.BERTH_NOT_FOUND {
			missing = append(missing, p)
		}
	}
	return missing
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
		} else {
			results[i].Message = message
		}
	}
	return results, nil
}

// PreemptPods takes pods off their nodes, all or none, and returns what puts them back. That is valid until anything else
// is kept, and in its transaction alone.
func (s *ClusterSnapshot) PreemptPods(ctx context.Context, pods []*v1.Pod) (*Unpreemption, error) {
	const op = "PreemptPods"
	if err := begin(ctx, s.h, op); err != nil {
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
	return &Unpreemption{pods: slices.Clone(pods), number: uint64(number), epoch: s.epoch}, nil
}

// Unpreempt puts the pods back, whether they still fit or not, and returns them.
func (s *ClusterSnapshot) Unpreempt(u *Unpreemption) ([]*v1.Pod, error) {
	const op = "Unpreempt"
	if u == nil || u.used || u.epoch != s.epoch {
		return nil, &Error{Status: Invalid, Op: op, Text: "the preemption was put back already, or the snapshot has changed since; preempt again"}
	}
	if err := s.h.enter(op); err != nil {
		return nil, err
	}
	defer s.h.leave()
	if err := s.h.check(op, C.berth_unpreempt(s.h.berth, C.uint64_t(u.number))); err != nil {
		return nil, err
	}
	u.used = true
	return u.pods, nil
}

// Victim is a pod that preemption would evict.
type Victim struct{ Namespace, Name, NodeName string }

// FindVictims reports whom DefaultPreemption would evict for a pod of the snapshot, with PodDisruptionBudgets, and the
// node where it would fit then; "" and none when that does not help, or it fits already. Nothing changes.
func (s *ClusterSnapshot) FindVictims(ctx context.Context, pod *v1.Pod) (node string, victims []Victim, err error) {
	const op = "FindVictims"
	if err := begin(ctx, s.h, op); err != nil {
		return "", nil, err
	}
	defer s.h.leave()
	err = s.try(op, nil, func() (bool, error) {
		if err := s.addPods(at(op, pod), s.unknown([]*v1.Pod{pod})); err != nil {
			return false, err
		}
		var name *C.char
		var list *C.struct_berth_pod_ref
		var n C.uint32_t
		ns, pn := s.h.named(pod.Namespace, pod.Name)
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
// panics. Transactions do not nest, as in scheduler-library.
func (s *ClusterSnapshot) Transaction(ctx context.Context, f func() (TransactionResult, error)) (err error) {
	const op = "Transaction"
	if err := begin(ctx, s.h, op); err != nil {
		return err
	}
	if s.inside {
		s.h.leave()
		return &Error{Status: Busy, Op: op, Text: "a transaction is open already; end it first"}
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
	return s.h.check(op, C.berth_transaction_rollback(s.h.berth))
}
