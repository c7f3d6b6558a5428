// SPDX-License-Identifier: Apache-2.0

package berth

/*
#include <string.h>
#include <berth.h>
*/
import "C"

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Options of a snapshot. The zero value means kube-scheduler's defaults.
type Options struct {
	Config            string // a KubeSchedulerConfiguration, JSON or YAML
	FeatureGates      string // in the syntax of --feature-gates: "A=true,B=false"
	KubernetesVersion string // the release to follow, such as "1.37"; "": libberth's default
	Seed              uint64 // breaks ties between equally good nodes
}

// ClusterSnapshot is a cluster and changes of it that are tried.
type ClusterSnapshot struct {
	h       *handle
	cleanup runtime.Cleanup
	message []byte // scratch for protobuf

	names   []string // of nodes, by number
	version uint64   // of names
	cached  bool
	byName  map[string]string // node names, so that results share their strings

	base      bool   // mutations outside of Transaction have opened a transaction, which ResetMutations ends
	inside    bool   // Transaction runs
	epoch     uint64 // changes whenever an Unpreemption ends
	templates int
	owned     map[string]bool // pods that SchedulePodsByTemplate has added as templates
	preempted map[string]bool // pods that are preempted if the snapshot does not find them
}

// scheme knows the kinds that scheduling depends on.
var scheme = func() *kruntime.Scheme {
	s := kruntime.NewScheme()
	for _, add := range []func(*kruntime.Scheme) error{
		v1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme,
		schedulingv1beta1.AddToScheme, storagev1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return s
}()

// New creates an empty snapshot. options may be nil.
func New(options *Options) (*ClusterSnapshot, error) {
	if options == nil {
		options = &Options{}
	}
	h, err := create(options)
	if err != nil {
		return nil, err
	}
	s := &ClusterSnapshot{h: h, byName: map[string]string{}, owned: map[string]bool{}, preempted: map[string]bool{}}
	s.cleanup = runtime.AddCleanup(s, (*handle).free, h)
	return s, nil
}

// NewClusterSnapshot creates a snapshot of these pods and nodes. options may be nil.
func NewClusterSnapshot(pods []*v1.Pod, nodes []*v1.Node, options *Options) (*ClusterSnapshot, error) {
	s, err := New(options)
	if err != nil {
		return nil, err
	}
	if err = s.AddNodes(nodes...); err == nil {
		err = s.AddPods(pods...)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Close frees the snapshot. It may be called again.
func (s *ClusterSnapshot) Close() error {
	if !s.h.busy.CompareAndSwap(false, true) {
		return &Error{Status: Busy, Op: "Close", Text: "another goroutine uses the snapshot; close it after its call"}
	}
	defer s.h.busy.Store(false)
	s.cleanup.Stop()
	s.h.free()
	return nil
}

// marshaler is what k8s.io/api's types are in protobuf.
type marshaler interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}

// frame appends an object, preceded by its length.
func (s *ClusterSnapshot) frame(object marshaler) error {
	size, at := object.Size(), len(s.message)
	s.message = binary.BigEndian.AppendUint32(s.message, uint32(size))
	for cap(s.message)-len(s.message) < size {
		s.message = append(s.message[:cap(s.message)], 0)[:at+4]
	}
	s.message = s.message[:at+4+size]
	_, err := object.MarshalToSizedBuffer(s.message[at+4:])
	return err
}

// send applies the framed objects. Between enter and leave.
func (s *ClusterSnapshot) send(op string, kind *C.char) error {
	if len(s.message) == 0 {
		return nil
	}
	return s.h.check(op, C.berth_apply_protobuf(s.h.berth, kind, unsafe.Pointer(&s.message[0]), C.size_t(len(s.message)), nil))
}

var (
	kindPod  = C.CString("Pod")
	kindNode = C.CString("Node")
)

// AddNodes adds nodes, or replaces those of the same names.
func (s *ClusterSnapshot) AddNodes(nodes ...*v1.Node) error {
	const op = "AddNodes"
	if err := s.h.enter(op); err != nil {
		return err
	}
	defer s.h.leave()
	s.message = s.message[:0]
	for i, n := range nodes {
		if n == nil {
			return &Error{Status: Invalid, Op: op, Text: fmt.Sprintf("node %d is nil", i)}
		}
		if err := s.frame(n); err != nil {
			return fmt.Errorf("berth: %s: node %s: %w", op, n.Name, err)
		}
	}
	return s.send(op, kindNode)
}

// AddPods adds pods: with spec.nodeName they are on that node, else pending. Outside of mutations it also replaces pods
// of the same names.
func (s *ClusterSnapshot) AddPods(pods ...*v1.Pod) error {
	const op = "AddPods"
	if err := s.h.enter(op); err != nil {
		return err
	}
	defer s.h.leave()
	return s.addPods(op, pods)
}

func (s *ClusterSnapshot) addPods(op string, pods []*v1.Pod) error {
	s.message = s.message[:0]
	for i, p := range pods {
		if p == nil {
			return &Error{Status: Invalid, Op: op, Text: fmt.Sprintf("pod %d is nil", i)}
		}
		if err := s.frame(p); err != nil {
			return fmt.Errorf("berth: %s: pod %s/%s: %w", op, p.Namespace, p.Name, err)
		}
	}
	return s.send(op, kindPod)
}

// documents are the objects as JSON, one a line, for a call of op.
func documents(op string, objects []kruntime.Object) ([]byte, error) {
	var text []byte
	for i, o := range objects {
		if v := reflect.ValueOf(o); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, &Error{Status: Invalid, Op: op, Text: fmt.Sprintf("object %d is nil", i)}
		}
		one, err := typed(o)
		if err != nil {
			return nil, fmt.Errorf("berth: %s: %w", op, err)
		}
		text = append(append(text, one...), '\n')
	}
	return text, nil
}

// Apply adds or replaces objects of any kind that scheduling depends on: PodGroups, PodDisruptionBudgets,
// PersistentVolumes, … Other kinds are ignored. Nodes and pods alone can be applied while there are mutations.
func (s *ClusterSnapshot) Apply(objects ...kruntime.Object) error {
	const op = "Apply"
	text, err := documents(op, objects)
	if err != nil {
		return err
	}
	return s.ApplyText(text)
}

// ApplyText applies JSON or YAML, one or more documents, also Lists.
func (s *ClusterSnapshot) ApplyText(text []byte) error {
	return s.text("Apply", text, func(p *C.char, n C.size_t) C.enum_berth_status {
		return C.berth_apply(s.h.berth, p, n, 0, nil)
	})
}

// Delete deletes objects from the cluster. Not while there are mutations: see ResetMutations.
func (s *ClusterSnapshot) Delete(objects ...kruntime.Object) error {
	const op = "Delete"
	text, err := documents(op, objects)
	if err != nil {
		return err
	}
	return s.text(op, text, func(p *C.char, n C.size_t) C.enum_berth_status {
		return C.berth_delete_text(s.h.berth, p, n, 0, nil)
	})
}

func (s *ClusterSnapshot) text(op string, text []byte, call func(*C.char, C.size_t) C.enum_berth_status) error {
	if err := s.h.enter(op); err != nil {
		return err
	}
	defer s.h.leave()
	if len(text) == 0 {
		return nil
	}
	if s.inside && op == "Delete" {
		return &Error{Status: Busy, Op: op, Text: "a transaction is open; return from it first"}
	}
	if s.base && op == "Delete" {
		return &Error{Status: Busy, Op: op, Text: "there are mutations; call ResetMutations first"}
	}
	return s.h.check(op, call((*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text))))
}

// typed is an object as JSON, with kind and apiVersion, which k8s.io/api's types usually leave empty.
func typed(o kruntime.Object) ([]byte, error) {
	if o.GetObjectKind().GroupVersionKind().Kind == "" {
		kinds, _, err := scheme.ObjectKinds(o)
		if err != nil {
			return nil, fmt.Errorf("%T has no kind; set its TypeMeta: %w", o, err)
		}
		o = o.DeepCopyObject()
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	return json.Marshal(o)
}

// nodeNames updates the names of nodes by number.
func (s *ClusterSnapshot) nodeNames(set *C.struct_berth_node_set) []string {
	if s.cached && s.version == uint64(set.version) && len(s.names) == int(set.name_n) {
		return s.names
	}
	s.names = make([]string, int(set.name_n))
	if len(s.byName) > 2*len(s.names)+1024 {
		clear(s.byName) // most of these nodes are gone
	}
	for i, name := range unsafe.Slice(set.names, int(set.name_n)) {
		if name != nil {
			s.names[i] = s.intern(name)
		}
	}
	s.version, s.cached = uint64(set.version), true
	return s.names
}

// intern returns a name that C holds as a string, without a copy when it was seen before.
func (s *ClusterSnapshot) intern(name *C.char) string {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(name)), int(C.strlen(name)))
	if known, ok := s.byName[string(bytes)]; ok {
		return known
	}
	known := string(bytes)
	s.byName[known] = known
	return known
}
