// SPDX-License-Identifier: Apache-2.0

// Extenders: a handler in this program that both schedulers call. A pod's annotations contain its responses, so that both
// schedulers get the same ones; the requests are recorded, and must be equal, too.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// extender serves PREFIX/VERB; the prefix selects the annotation of a pod: e2e/PREFIX.VERB.
type extender struct {
	server *http.Server
	admin  kubernetes.Interface
	url    string

	mu    sync.Mutex
	asked map[string]string // the first request by prefix, verb and pod
}

func startExtender(admin kubernetes.Interface) (*extender, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	x := &extender{admin: admin, url: "http://" + listener.Addr().String(), asked: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{prefix}/filter", x.filter)
	mux.HandleFunc("POST /{prefix}/prioritize", x.prioritize)
	mux.HandleFunc("POST /{prefix}/preempt", x.preempt)
	mux.HandleFunc("POST /{prefix}/bind", x.bind)
	x.server = &http.Server{Handler: mux}
	go func() { _ = x.server.Serve(listener) }()
	return x, nil
}

func (x *extender) stop() { _ = x.server.Close() }

// orders parses an annotation: "keep=a,b fail=c:too_hot error=no". Underscores stand for blanks within words.
func orders(pod *v1.Pod, r *http.Request, verb string) map[string]string {
	words := map[string]string{}
	for _, word := range strings.Fields(pod.Annotations["e2e/"+r.PathValue("prefix")+"."+verb]) {
		key, value, _ := strings.Cut(word, "=")
		words[key] = strings.ReplaceAll(value, "_", " ")
	}
	return words
}

// note records the first request for a pod, without what differs from run to run.
func (x *extender) note(r *http.Request, pod *v1.Pod, rest any) {
	plain := pod.DeepCopy()
	strip(&plain.ObjectMeta)
	plain.TypeMeta = metav1.TypeMeta{}
	for i := range plain.Status.Conditions {
		plain.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	text, _ := json.Marshal(map[string]any{"pod": plain, "rest": rest})
	key := r.URL.Path + " " + pod.Name
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.asked[key] == "" {
		x.asked[key] = string(text)
	}
}

func strip(meta *metav1.ObjectMeta) {
	meta.UID, meta.ResourceVersion, meta.CreationTimestamp, meta.ManagedFields = "", "", metav1.Time{}, nil
}

// disturb does what orders require instead of a response; it returns false when no response is to be sent.
func disturb(w http.ResponseWriter, words map[string]string) bool {
	if status, err := strconv.Atoi(words["status"]); err == nil {
		http.Error(w, "no", status)
		return false
	}
	if words["raw"] != "" {
		_, _ = w.Write([]byte(words["raw"]))
		return false
	}
	if _, cut := words["cut"]; cut {
		panic(http.ErrAbortHandler)
	}
	if pause, err := time.ParseDuration(words["sleep"]); err == nil {
		time.Sleep(pause)
	}
	return true
}

func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func list(words map[string]string, key string) ([]string, bool) {
	value, ok := words[key]
	if !ok {
		return nil, false
	}
	return slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" }), true
}

func messages(words map[string]string, key string) extenderv1.FailedNodesMap {
	all, _ := list(words, key)
	failed := extenderv1.FailedNodesMap{}
	for _, word := range all {
		node, message, _ := strings.Cut(word, ":")
		failed[node] = message
	}
	return failed
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return false
	}
	return true
}

// said lists the names of the nodes in the request; nodes sent as objects must be complete.
func said(args *extenderv1.ExtenderArgs) (names []string, rest any) {
	if args.NodeNames != nil {
		names = slices.Clone(*args.NodeNames)
		sort.Strings(names)
		return names, names
	}
	var nodes []v1.Node
	for _, n := range args.Nodes.Items {
		names = append(names, n.Name)
		strip(&n.ObjectMeta)
		n.TypeMeta = metav1.TypeMeta{}
		for i := range n.Status.Conditions {
			n.Status.Conditions[i].LastHeartbeatTime, n.Status.Conditions[i].LastTransitionTime = metav1.Time{}, metav1.Time{}
		}
		nodes = append(nodes, n)
	}
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Name < nodes[j].Name })
	return names, nodes
}

func (x *extender) filter(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if !read(w, r, &args) {
		return
	}
	words := orders(args.Pod, r, "filter")
	names, rest := said(&args)
	x.note(r, args.Pod, rest)
	if !disturb(w, words) {
		return
	}
	result := extenderv1.ExtenderFilterResult{FailedNodes: messages(words, "fail"),
		FailedAndUnresolvableNodes: messages(words, "never"), Error: words["error"]}
	keep, some := list(words, "keep")
	if !some {
		keep = slices.DeleteFunc(names, func(n string) bool {
			_, failed := result.FailedNodes[n]
			_, never := result.FailedAndUnresolvableNodes[n]
			return failed || never
		})
	}
	if args.NodeNames != nil {
		result.NodeNames = &keep
	} else {
		result.Nodes = &v1.NodeList{}
		for _, n := range args.Nodes.Items {
			if slices.Contains(keep, n.Name) {
				result.Nodes.Items = append(result.Nodes.Items, n)
			}
		}
	}
	answer(w, result)
}

func (x *extender) prioritize(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if !read(w, r, &args) {
		return
	}
	_, rest := said(&args)
	x.note(r, args.Pod, rest)
	words := orders(args.Pod, r, "prioritize")
	if !disturb(w, words) {
		return
	}
	result := extenderv1.HostPriorityList{}
	for host, points := range words {
		if score, err := strconv.ParseInt(points, 10, 64); err == nil {
			result = append(result, extenderv1.HostPriority{Host: host, Score: score})
		}
	}
	answer(w, result)
}

// preempt keeps the candidates that its orders name, all without orders, with the given victims.
func (x *extender) preempt(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderPreemptionArgs
	if !read(w, r, &args) {
		return
	}
	victims := map[string]*extenderv1.MetaVictims{}
	rest := map[string][]string{}
	for node, meta := range args.NodeNameToMetaVictims {
		victims[node] = meta
		rest[node] = []string{fmt.Sprint(len(meta.Pods), meta.NumPDBViolations)}
	}
	for node, whole := range args.NodeNameToVictims {
		victims[node] = &extenderv1.MetaVictims{NumPDBViolations: whole.NumPDBViolations}
		for _, pod := range whole.Pods {
			victims[node].Pods = append(victims[node].Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			rest[node] = append(rest[node], pod.Name+" "+pod.Spec.NodeName+" "+pod.Spec.Containers[0].Image)
		}
	}
	x.note(r, args.Pod, rest)
	words := orders(args.Pod, r, "preempt")
	if !disturb(w, words) {
		return
	}
	if keep, some := list(words, "keep"); some {
		for node := range victims {
			if !slices.Contains(keep, node) {
				delete(victims, node)
			}
		}
	}
	if node := words["spare"]; victims[node] != nil {
		victims[node].Pods = nil
	}
	if node := words["strange"]; victims[node] != nil {
		victims[node].Pods = []*extenderv1.MetaPod{{UID: "nobody"}}
	}
	answer(w, extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: victims})
}

// bind makes the API server's binding.
func (x *extender) bind(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderBindingArgs
	if !read(w, r, &args) {
		return
	}
	pod, err := x.admin.CoreV1().Pods(args.PodNamespace).Get(r.Context(), args.PodName, metav1.GetOptions{})
	if err != nil || pod.UID != args.PodUID {
		answer(w, extenderv1.ExtenderBindingResult{Error: "another pod"})
		return
	}
	x.note(r, pod, args.Node)
	words := orders(pod, r, "bind")
	_, late := words["late"]
	if !late && !disturb(w, words) {
		return
	}
	if words["error"] != "" {
		answer(w, extenderv1.ExtenderBindingResult{Error: words["error"]})
		return
	}
	err = x.admin.CoreV1().Pods(args.PodNamespace).Bind(r.Context(), &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: args.PodName, Namespace: args.PodNamespace, UID: args.PodUID},
		Target:     v1.ObjectReference{Kind: "Node", Name: args.Node}}, metav1.CreateOptions{})
	if err != nil {
		answer(w, extenderv1.ExtenderBindingResult{Error: err.Error()})
		return
	}
	if late && !disturb(w, words) {
		return
	}
	answer(w, extenderv1.ExtenderBindingResult{})
}

// taken returns the recorded requests and clears them.
func (x *extender) taken() map[string]string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.asked
	x.asked = map[string]string{}
	return all
}

// extended is a node with resources managed by extenders.
func extended(name, cpu string) string {
	room := fmt.Sprintf(`{cpu: "%s", memory: 8Gi, pods: "110", example.com/whole: "9", example.com/maybe: "9", example.com/down: "9", example.com/slow: "9"}`, cpu)
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %s}, annotations: {e2e/note: "kept for extenders"}}
status: {capacity: %s, allocatable: %s, conditions: [{type: Ready, status: "True"}]}
`, name, name, room, room)
}

// asks is a pod of 100m with orders for extenders, as flow YAML, that requests one of a resource; "" for none.
func asks(name, orders, resource, spec string) string {
	amount := "cpu: 100m, memory: 64Mi"
	limits := ""
	if resource != "" {
		amount += fmt.Sprintf(`, example.com/%s: "1"`, resource)
		limits = fmt.Sprintf(`, limits: {example.com/%s: "1"}`, resource)
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, annotations: {%s}}
spec: {containers: [{name: c, image: example/pause:1, resources: {requests: {%s}%s}}]%s}
`, name, orders, amount, limits, spec)
}

const extenderConfig = `
extenders:
- {urlPrefix: "URL/maybe/", filterVerb: filter, preemptVerb: preempt, ignorable: true, nodeCacheCapable: true, managedResources: [{name: example.com/maybe}]}
- {urlPrefix: "URL/names", filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, weight: 2, nodeCacheCapable: true}
- {urlPrefix: "URL/whole", filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, weight: 1, managedResources: [{name: example.com/whole}]}
- {urlPrefix: "URL/binder", bindVerb: bind, managedResources: [{name: example.com/bound, ignoredByScheduler: true}]}
- {urlPrefix: "DOWN", filterVerb: filter, nodeCacheCapable: true, managedResources: [{name: example.com/down}]}
- {urlPrefix: "URL/slow", filterVerb: filter, httpTimeout: 300ms, nodeCacheCapable: true, managedResources: [{name: example.com/slow}]}
`

var extenderFamilies = []family{
	{name: "extender-filter", alone: true, nodes: []string{extended("a", "4"), extended("b", "4"), extended("c", "4")},
		pods: []string{
			asks("kept", `e2e/names.filter: "keep=b"`, "", ""),
			asks("refused", `e2e/names.filter: "fail=a:too_hot,b:too_hot,c:too_cold"`, "", ""),
			asks("never", `e2e/names.filter: "never=a:too_old,b:too_old fail=c:too_cold,a:too_hot"`, "", ""),
			asks("silent", `e2e/names.filter: "keep="`, "", ""),
			asks("kept-and-refused", `e2e/names.filter: "keep=c fail=a:no,b:no,c:no"`, "", ""),
			asks("strange-nodes", `e2e/names.filter: "keep= fail=zz:unknown,a:too_hot,yy:unknown never=xx:unknown"`, "", ""),
			asks("over-the-plugins", `e2e/names.filter: "keep= fail=a:mine"`, "", ", nodeSelector: {kubernetes.io/hostname: b}"),
			asks("error", `e2e/names.filter: "error=out_of_luck keep=a"`, "", ""),
			asks("status", `e2e/names.filter: "status=500"`, "", ""),
			asks("no-json", `e2e/names.filter: "raw=<html>"`, "", ""),
			asks("half-json", `e2e/names.filter: "raw={\"NodeNames\":[\"a\""`, "", ""),
			asks("cut", `e2e/names.filter: "cut="`, "", ""),
			asks("invents", `e2e/names.filter: "keep=a,zz"`, "", ""),
			asks("two", `e2e/names.filter: "keep=b,c", e2e/whole.filter: "keep=c"`, "whole", ""),
			asks("two-refuse", `e2e/names.filter: "keep=b,c fail=a:first", e2e/whole.filter: "keep= fail=b:second,c:second"`, "whole", ""),
			asks("ignored", `e2e/names.filter: "keep=a", e2e/maybe.filter: "status=500"`, "maybe", ""),
			asks("down", ``, "down", ""),
			asks("slow", `e2e/slow.filter: "sleep=2s"`, "slow", ""),
			asks("nowhere", ``, "", ", nodeSelector: {kubernetes.io/hostname: z}"),
		}},
	{name: "extender-scores", nodes: []string{extended("a", "4"), extended("b", "4"), extended("c", "2")},
		pods: []string{
			asks("points", `e2e/names.prioritize: "a=1 b=10"`, "", ""),
			asks("more-points", `e2e/names.prioritize: "a=10 b=5"`, "", ""),
			asks("weights", `e2e/names.prioritize: "a=3", e2e/whole.prioritize: "b=10"`, "whole", ""),
			asks("beyond-ten", `e2e/names.prioritize: "c=1000 a=10"`, "", ""),
			asks("below-none", `e2e/names.prioritize: "a=-100 b=-100"`, "", ""),
			asks("one-fails", `e2e/names.prioritize: "status=500", e2e/whole.prioritize: "b=10"`, "whole", ""),
			asks("nonsense", `e2e/names.prioritize: "raw={}", e2e/whole.prioritize: "a=10"`, "whole", ""),
		}},
	{name: "extender-whole-nodes", nodes: []string{extended("a", "4"), extended("c", "2")},
		pods: []string{
			pod("load", "", cpu("2"), ", nodeName: a"),
			asks("by-names", ``, "", ""),
			asks("nodes-look-empty", ``, "whole", ""),
		}},
	{name: "extender-binds", alone: true, nodes: []string{extended("a", "4"), extended("b", "4")},
		pods: []string{
			asks("bound", `e2e/names.filter: "keep=b"`, "bound", ""),
			asks("not-bound", `e2e/names.filter: "keep=b", e2e/binder.bind: "error=no_way"`, "bound", ""),
			asks("no-answer", `e2e/names.filter: "keep=a", e2e/binder.bind: "status=503"`, "bound", ""),
			asks("lost-answer", `e2e/names.filter: "keep=a", e2e/binder.bind: "late= cut="`, "bound", ""),
			asks("usual", `e2e/names.filter: "keep=a"`, "", ""),
		}},
	{name: "extender-preempts", alone: true, nodes: []string{extended("a", "4"), extended("b", "4")},
		objects: highClass,
		pods: []string{
			pod("low-a", "", cpu("3900m"), ", nodeName: a"),
			pod("low-b", "", cpu("3900m"), ", nodeName: b"),
			high("spared", `e2e/names.preempt: "spare=a keep=a"`, ""),
			high("strange", `e2e/names.preempt: "strange=b keep=b"`, ""),
			high("none", `e2e/names.preempt: "keep="`, ""),
			high("fails", `e2e/names.preempt: "status=500"`, ""),
			high("chosen", `e2e/names.preempt: "keep=b"`, ""),
		}},
	{name: "extender-preempts-whole", nodes: []string{extended("a", "4"), extended("b", "4")},
		objects: highClass,
		pods: []string{
			pod("low-a", "", cpu("3900m"), ", nodeName: a"),
			pod("low-b", "", cpu("3900m"), ", nodeName: b"),
			high("whole-victims", `e2e/whole.preempt: "keep=a"`, `, example.com/whole: "1"`),
		}},
}

// high is a pod that must preempt.
func high(name, orders, resource string) string {
	limits := ""
	if resource != "" {
		limits = fmt.Sprintf(", limits: {%s}", strings.TrimPrefix(resource, ", "))
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, annotations: {%s}}
spec: {priorityClassName: e2e-high, containers: [{name: c, image: example/pause:1, resources: {requests: {cpu: "3", memory: 64Mi%s}%s}}]}
`, name, orders, resource, limits)
}

// distinctEvents: the number of attempts, and whether one is made while a pod is deleted, depend on time. If the response
// to a binding is lost, berth checks the pod and finds the binding; kube-scheduler reports a failure.
func (s *suite) distinctEvents(ctx context.Context) (map[string]string, error) {
	all, err := s.eventsOf(ctx)
	distinct := map[string]string{}
	for _, event := range slices.Compact(all) {
		if !strings.HasPrefix(event, "lost-answer ") && !strings.Contains(event, "skip schedule deleting pod") {
			distinct[event] = "said"
		}
	}
	return distinct, err
}

// playExtended plays a family with a scheduler started here, and returns the pods' outcomes, the extender's requests,
// and the events.
func (s *suite) playExtended(ctx context.Context, f family, x *extender, config string,
	start func(context.Context, schedulerOptions) (*process, error)) (map[string]string, error) {
	x.taken()
	if err := s.admin.EventsV1().Events(metav1.NamespaceDefault).DeleteCollection(ctx, now0(), metav1.ListOptions{}); err != nil {
		return nil, err
	}
	scheduler, err := start(ctx, schedulerOptions{config: config})
	if err != nil {
		return nil, err
	}
	became, err := s.play(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", scheduler.name, err)
	}
	time.Sleep(time.Second) // Events are written last.
	events, err := s.distinctEvents(ctx)
	for event, word := range events {
		became["event: "+event] = word
	}
	for key, text := range x.taken() {
		became["asked: "+key] = text
	}
	return became, errors.Join(err, scheduler.end(), s.clean(ctx))
}

func extenderCase(f family) testCase {
	return testCase{name: "family-" + f.name, help: "with extenders, as kube-scheduler has them", why: "it takes the events of namespace default away", run: func(ctx context.Context, s *suite) error {
		x, err := startExtender(s.admin)
		if err != nil {
			return err
		}
		defer x.stop()
		down, err := freeURL()
		if err != nil {
			return err
		}
		config := strings.NewReplacer("URL", x.url, "DOWN", strings.Replace(down, "https://", "http://", 1)).Replace(extenderConfig)
		want, err := s.playExtended(ctx, f, x, config, s.startReal)
		if err != nil {
			return err
		}
		got, err := s.playExtended(ctx, f, x, config, func(ctx context.Context, o schedulerOptions) (*process, error) {
			return s.startBerth(ctx, "berth", o)
		})
		if err != nil {
			return err
		}
		return errors.Join(differences(want, got), differences(got, want))
	}}
}

func extenderCases() []testCase {
	var all []testCase
	for _, f := range extenderFamilies {
		all = append(all, extenderCase(f))
	}
	return all
}
