// SPDX-License-Identifier: Apache-2.0

package berth

/*
#cgo pkg-config: berth
#include <stdlib.h>
#include <berth.h>

static enum berth_status go_create(const char *config, const char *gates, const char *release, uint64_t seed,
	struct berth **out)
{
	struct berth_options options;

	BERTH_INIT(&options);
	options.config = config;
	options.feature_gates = gates;
	options.kubernetes_version = release;
	options.seed = seed;
	options.sampling = BERTH_SAMPLE_NEVER;
	return berth_create(&options, out);
}

static enum berth_status go_feasible(
	struct berth *berth, const char *pod_namespace, const char *name, struct berth_node_set *out)
{
	BERTH_INIT(out);
	return berth_feasible_nodes(berth, pod_namespace, name, out);
}

static enum berth_status go_schedule(
	struct berth *berth, const char *pod_namespace, const char *name, const char **out_node)
{
	struct berth_pod_ref pod = {.pod_namespace = pod_namespace, .name = name};
	enum berth_status status = berth_schedule_pods(berth, &pod, 1, NULL);

	*out_node = pod.node;
	return status;
}
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// handle is a libberth handle, and what calls need besides. It is separate from ClusterSnapshot, so that its cleanup
// does not keep the snapshot alive.
type handle struct {
	berth *C.struct_berth
	busy  atomic.Bool // a call runs
	freed atomic.Bool
	refs  unsafe.Pointer // C memory for references to pods, and their strings
	size  uintptr
	text  []byte // namespace and name of one pod, each with a NUL
}

// enter begins a call. leave must follow, unless it returns an error.
//
// libberth keeps the last error per thread: the goroutine stays on its thread until leave.
func (h *handle) enter(op string) error {
	if !h.busy.CompareAndSwap(false, true) {
		return &Error{Status: Busy, Op: op, Text: "another goroutine uses the snapshot; let one own it at a time"}
	}
	if h.freed.Load() {
		h.busy.Store(false)
		return &Error{Status: Invalid, Op: op, Text: "the snapshot is closed; create another one"}
	}
	runtime.LockOSThread()
	return nil
}

func (h *handle) leave() {
	runtime.UnlockOSThread()
	h.busy.Store(false)
}

// check turns a status into an error. Between enter and leave.
func (h *handle) check(op string, status C.enum_berth_status) error {
	if status == C.BERTH_OK {
		return nil
	}
	return &Error{Status: Status(status), Op: op, Text: C.GoString(C.berth_error(h.berth))}
}

func (h *handle) free() {
	if h.freed.CompareAndSwap(false, true) {
		C.berth_destroy(h.berth)
		C.free(h.refs)
	}
}

func create(o *Options) (*handle, error) {
	var strings [3]*C.char
	for i, s := range []string{o.Config, o.FeatureGates, o.KubernetesVersion} {
		if s != "" {
			strings[i] = C.CString(s)
			defer C.free(unsafe.Pointer(strings[i]))
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h := &handle{}
	if status := C.go_create(strings[0], strings[1], strings[2], C.uint64_t(o.Seed), &h.berth); status != C.BERTH_OK {
		return nil, &Error{Status: Status(status), Op: "New", Text: C.GoString(C.berth_error(nil))}
	}
	return h, nil
}

func namespaceOf(namespace string) string {
	if namespace == "" {
		return v1.NamespaceDefault
	}
	return namespace
}

// named returns namespace and name as C strings, valid until the next call of it.
func (h *handle) named(namespace, name string) (*C.char, *C.char) {
	h.text = append(append(h.text[:0], namespaceOf(namespace)...), 0)
	at := len(h.text)
	h.text = append(append(h.text, name...), 0)
	return (*C.char)(unsafe.Pointer(&h.text[0])), (*C.char)(unsafe.Pointer(&h.text[at]))
}

// references lists pods for C, in C memory that is valid until the next call of it.
func (h *handle) references(pods []*v1.Pod) []C.struct_berth_pod_ref {
	need := uintptr(len(pods)) * unsafe.Sizeof(C.struct_berth_pod_ref{})
	at := need
	for _, p := range pods {
		need += uintptr(len(namespaceOf(p.Namespace)) + len(p.Name) + 2)
	}
	if need > h.size {
		C.free(h.refs)
		h.size = 2 * need
		h.refs = C.malloc(C.size_t(h.size))
	}
	if len(pods) == 0 {
		return nil
	}
	bytes := unsafe.Slice((*byte)(h.refs), h.size)
	keep := func(s string) *C.char {
		begin := at
		at += uintptr(copy(bytes[at:], s))
		bytes[at] = 0
		at++
		return (*C.char)(unsafe.Pointer(&bytes[begin]))
	}
	refs := unsafe.Slice((*C.struct_berth_pod_ref)(h.refs), len(pods))
	for i, p := range pods {
		refs[i] = C.struct_berth_pod_ref{pod_namespace: keep(namespaceOf(p.Namespace)), name: keep(p.Name)}
	}
	return refs
}

func (h *handle) feasible(namespace, name string) (C.struct_berth_node_set, C.enum_berth_status) {
	var set C.struct_berth_node_set
	ns, n := h.named(namespace, name)
	status := C.go_feasible(h.berth, ns, n, &set)
	return set, status
}

// schedule places one pod. The node is valid until the next call.
func (h *handle) schedule(namespace, name string) (*C.char, C.enum_berth_status) {
	var node *C.char
	ns, n := h.named(namespace, name)
	status := C.go_schedule(h.berth, ns, n, &node)
	return node, status
}

// find returns a pod's state and its node.
func (h *handle) find(namespace, name string) (C.enum_berth_pod_state, string) {
	var state C.enum_berth_pod_state
	var node *C.char
	ns, n := h.named(namespace, name)
	if C.berth_find_pod(h.berth, ns, n, &state, &node) != C.BERTH_OK {
		return C.BERTH_POD_UNKNOWN, ""
	}
	return state, C.GoString(node)
}

func (h *handle) explain(op, namespace, name string) ([]byte, error) {
	var text *C.char
	ns, n := h.named(namespace, name)
	if err := h.check(op, C.berth_explain(h.berth, ns, n, C.BERTH_JSON, &text)); err != nil {
		return nil, err
	}
	defer C.berth_free(text)
	return []byte(C.GoString(text)), nil
}

func (h *handle) message(op, namespace, name string) (string, error) {
	var text *C.char
	ns, n := h.named(namespace, name)
	if err := h.check(op, C.berth_message(h.berth, ns, n, &text)); err != nil {
		return "", err
	}
	defer C.berth_free(text)
	return C.GoString(text), nil
}
