// SPDX-License-Identifier: Apache-2.0

// A running kube-scheduler in virtual time: the real scheduler with its queue and event handlers, and an in-memory API
// that delivers every event before the write that caused it returns. Nothing runs in the background, so the same
// history gives the same answer.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	kubefeatures "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	tick        = time.Millisecond // between two writes of a history: no two pods enter the queue at the same time
	flushEvery  = 30 * time.Second // as in SchedulingQueue.Run, for unschedulable pods
	cycleTakes  = 30 * time.Second // timeout of a cycle in real time
	windowTakes = time.Second      // pods leave backoff at whole seconds
)

// epoch is the start of every history: a whole second, as backoff ends at whole seconds.
var epoch = time.Unix(1767225600, 0)

// Live is one history's scheduler.
type Live struct {
	*Cluster
	queue   *queue.PriorityQueue
	clock   *clocktesting.FakeClock
	factory *syncFactory
	nodes   map[string]bool // every node name seen, for nominations
	writes  int             // resourceVersion
	objects int             // UIDs given
	started int             // start times given
	preempt []*preemptor
	held    atomic.Bool // the cycle's preemption goroutine has reached its first API call
	grouped bool        // the pods of a PodGroup are decided together
	late    bool
	broken  chan struct{} // closed when the binding goroutine panicked
	cycle   *liveCycle    // nil between cycles
	gating  *gating
	elapsed bool
	took    time.Duration // the last ScheduleOne, with elapsed
	tookCPU time.Duration // of the whole process during it
	waits   *waits        // pods waiting at Permit, for pods of Workloads; or nil
}

// liveOptions change no answer that is not random upstream.
type liveOptions struct {
	late    bool // the last goroutine of a group's preemptions is the last one to end
	workers int  // parallelism of the scheduler's plugins; 0 is the configuration's
	elapsed bool // ScheduleOne is timed, and cycles are not repeated
	watch   bool // client-go's own informers deliver the events from the fake clientset's watches; each event is waited for
}

// liveCycle is a scheduling cycle in a goroutine that runs only while the harness waits for it.
type liveCycle struct {
	popped string
	uid    types.UID
	CycleStep
	node      *string
	message   string
	nominated string
	skipped   bool
	decided   chan struct{} // filtering and scoring are done, or there was nothing to do
	proceed   chan struct{} // closed to continue it
	returned  chan struct{} // closed when ScheduleOne has returned
	over      chan struct{} // the failure was handled, or the pod is bound
	group     *groupCycle   // of a PodGroup's pods, or nil
	binds     chan struct{} // closed when its binding may continue
}

func newLive(rawConfig json.RawMessage, o *liveOptions) (*Live, error) {
	cfg, err := parseConfig(rawConfig)
	if err != nil {
		return nil, err
	}
	parallelism := int32(o.workers)
	if parallelism == 0 {
		parallelism = cfg.Parallelism
	}
	c := &Cluster{pods: map[string]*v1.Pod{}, client: fake.NewSimpleClientset()}
	l := &Live{Cluster: c, clock: clocktesting.NewFakeClock(epoch), nodes: map[string]bool{}, broken: make(chan struct{})}
	l.factory = &syncFactory{SharedInformerFactory: newInformers(c.client), informers: map[reflect.Type]*syncInformer{}, watch: o.watch}
	c.client.PrependReactor("*", "*", l.react)
	ctx := context.WithValue(klog.NewContext(context.Background(), klog.Background()), ofCycle{}, true)
	c.ctx, c.stop = context.WithCancel(context.WithValue(ctx, crashKey{}, &c.crash))
	c.sched, err = scheduler.New(c.ctx, heldClient{c.client, l}, l.factory, nil, newRecorder,
		scheduler.WithProfiles(cfg.Profiles...), scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore), scheduler.WithParallelism(parallelism), scheduler.WithClock(l.clock),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds), scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds))
	if err != nil {
		c.stop()
		return nil, err
	}
	if o.watch {
		l.factory.SharedInformerFactory.Start(c.ctx.Done())
		l.factory.SharedInformerFactory.WaitForCacheSync(c.ctx.Done())
	}
	l.queue = c.sched.SchedulingQueue.(*queue.PriorityQueue)
	l.orderQueue()
	l.grouped, l.late, l.elapsed = groupsOn(), o.late, o.elapsed
	l.waits = newWaits(l)
	l.gating = newGating(c.sched.Profiles, preEnqueuePlugins(l.queue))
	l.hook()
	return l, nil
}

// close ends a cycle that the history left open, then stops the scheduler.
func (l *Live) close() {
	l.stop()
	l.queue.Close()
	if l.cycle != nil {
		close(l.cycle.proceed)
		<-l.cycle.returned
	}
}

// ---- cycles

// hook replaces the four points of a cycle where the harness observes or chooses; everything else is kube-scheduler's own.
func (l *Live) hook() {
	fail := l.sched.FailureHandler
	hookPop(l.sched, func(e *entity) {
		l.cycle.popped, l.cycle.uid = e.name, e.uid
		if l.grouped && inGroup(e.pods[0].Pod) {
			l.cycle.group = newGroupCycle(l)
			l.cycle.group.begin(e)
		}
	})
	hookSchedule(l.sched, func(f framework.Framework, p *v1.Pod, state fwk.CycleState, schedule func() (scheduler.ScheduleResult, error)) (scheduler.ScheduleResult, error) {
		cy := l.cycle
		cy.skipped = false
		if cy.group != nil {
			cy.group.preemptorsHeld()
		}
		res, err := schedule()
		if err == nil && l.elapsed {
			cy.node = &res.SuggestedHost
		} else if err == nil { // the real one picks any of the best
			var pv PodVerdict
			l.Cluster.cycleBeside(f, p, state, &pv)
			_, fits := pv.Scores[cy.Pin]
			switch {
			case res.FeasibleNodes == 1: // a single node is not scored, so that scoring cannot fail
			case fits:
				res.SuggestedHost = cy.Pin
			case len(pv.Best) > 0:
				res.SuggestedHost = pv.Best[0]
			default:
				err = fmt.Errorf("harness: %s was found, but not a second time: %s", res.SuggestedHost, pv.Error)
			}
			cy.node = &res.SuggestedHost
		}
		if cy.group != nil {
			return res, err
		}
		close(cy.decided)
		<-cy.proceed
		return res, err
	})
	l.sched.FailureHandler = func(ctx context.Context, f framework.Framework, p *framework.QueuedPodInfo, s *fwk.Status, n *fwk.NominatingInfo, start time.Time) {
		if l.waits.failed(p.Pod, s, n, func() { fail(ctx, f, p, s, n, start) }) {
			return
		}
		cy := l.cycle
		if cy.group != nil {
			cy.group.preemptorsHeld()
			l.clock.Step(time.Nanosecond) // no two pods enter the queue at the same time
			fail(ctx, f, p, s, n, start)
			cy.group.failed(p.Pod, s, n)
			return
		}
		cy.node, cy.message = nil, s.Message()
		if n.Mode() == fwk.ModeOverride {
			cy.nominated = n.NominatedNodeName
		}
		// PreEnqueue checks the goroutine's progress: always up to its first call.
		for l.preempting(p.Pod.UID) && !l.held.Load() {
			time.Sleep(20 * time.Microsecond)
		}
		fail(ctx, f, p, s, n, start)
		close(cy.over)
	}
	for name, f := range l.sched.Profiles {
		for _, pl := range f.PreEnqueuePlugins() {
			if d, ok := pl.(*defaultpreemption.DefaultPreemption); ok {
				l.preempt = append(l.preempt, preemptorOf(d))
			}
		}
		l.orderPods(f)
		l.sched.Profiles[name] = &liveFramework{Framework: f, live: l}
	}
}

// liveFramework detects when the binding goroutine is done.
type liveFramework struct {
	framework.Framework
	live     *Live
	preBind  bool
	postBind bool
}

// WaitOnPermit starts the binding of a group's pod: one after the other, and all of them after the cycle.
func (f *liveFramework) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if f.live.waits != nil {
		return f.live.waits.wait(ctx, f.Framework, pod)
	}
	if g := f.live.cycle.group; g != nil {
		g.awaitTurn(pod)
	}
	return f.Framework.WaitOnPermit(ctx, pod)
}

func (f *liveFramework) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	f.preBind, f.postBind = false, false
	return f.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

// RunPreBindPlugins and RunBindPlugins run on a goroutine without a panic handler.
func (f *liveFramework) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	defer f.live.breaks()
	return f.Framework.RunPreBindPlugins(ctx, state, pod, node)
}

func (f *liveFramework) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	defer f.live.breaks()
	return f.Framework.RunBindPlugins(ctx, state, pod, node)
}

func (l *Live) breaks() {
	if r := recover(); r != nil {
		l.crash.note(r)
		close(l.broken)
		select {} // its locks cannot be released
	}
}

func (f *liveFramework) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	if f.live.waits.bound(pod, node) {
		return
	}
	if g := f.live.cycle.group; g != nil {
		g.bound(pod, node)
		return
	}
	f.postBind = true
	if !f.preBind {
		close(f.live.cycle.over)
	}
}

// canPop: Pop would block otherwise. Pods that failed with an error are not popped early from the backoff queue, and with
// SchedulerPopFromBackoffQ off none are.
func (l *Live) canPop() bool {
	if len(l.queue.PodsInActiveQ()) > 0 {
		return true
	}
	if !utilfeature.DefaultFeatureGate.Enabled(kubefeatures.SchedulerPopFromBackoffQ) {
		return false
	}
	for _, p := range l.queue.PodsInBackoffQ() {
		if i, ok := l.queued(p); ok && !failedWithError(i) {
			return true
		}
	}
	return false
}

func failedWithError(i *framework.QueuedPodInfo) bool {
	return i.UnschedulablePlugins.Len() == 0 && i.PendingPlugins.Len() == 0
}

// begin pops a pod, filters and scores; the API may change before end does the rest.
func (l *Live) begin(how *CycleStep) (*liveCycle, error) {
	if l.cycle != nil {
		return nil, errors.New("a cycle is already under way")
	}
	if !l.canPop() {
		return nil, nil
	}
	cy := &liveCycle{CycleStep: *how, skipped: true, decided: make(chan struct{}), proceed: make(chan struct{}), returned: make(chan struct{}), over: make(chan struct{}), binds: make(chan struct{})}
	l.cycle = cy
	l.held.Store(false)
	l.takeEvicted()
	go func() {
		defer close(cy.returned)
		defer l.crash.caught()
		began, cpu := time.Now(), processCPU()
		l.sched.ScheduleOne(l.ctx)
		l.took, l.tookCPU = time.Since(began), processCPU()-cpu
	}()
	select {
	case <-cy.decided:
	case <-cy.returned:
	case <-time.After(cycleTakes):
		return nil, errors.New("the cycle does not begin")
	}
	if err := l.crash.take(); err != nil {
		return nil, fmt.Errorf("%s: %w", cy.popped, err)
	}
	return cy, nil
}

// processCPU is the CPU time of all threads of this process.
func processCPU() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func (l *Live) end(cy *liveCycle) error {
	defer func() { l.cycle = nil }()
	close(cy.proceed)
	late := time.After(cycleTakes)
	select {
	case <-cy.returned:
	case <-late:
		return fmt.Errorf("the cycle of %s does not end", cy.popped)
	}
	if err := l.crash.take(); err != nil {
		return fmt.Errorf("%s: %w", cy.popped, err)
	}
	if cy.group != nil {
		return cy.group.end(late)
	}
	if cy.skipped {
		return nil
	}
	if err := l.waits.settle(false); err != nil {
		return err
	}
	close(cy.binds)
	select {
	case <-cy.over:
	case <-l.broken:
	case <-late:
		return fmt.Errorf("the binding of %s does not end; does it wait for a volume controller?", cy.popped)
	}
	if err := l.crash.take(); err != nil {
		return fmt.Errorf("%s: %w", cy.popped, err)
	}
	for l.preempting(cy.uid) {
		select {
		case <-late:
			return fmt.Errorf("the preemption by %s does not end", cy.popped)
		case <-time.After(20 * time.Microsecond):
		}
	}
	return l.waits.settle(cy.nominated != "")
}

// preempting: the goroutine of SchedulerAsyncPreemption has more to do for this pod. IsPodRunningPreemption
// would return false too early.
func (l *Live) preempting(uid types.UID) bool {
	for _, e := range l.preempt {
		if runningPreemption(e, uid) {
			return true
		}
	}
	return false
}

// heldClient delays that goroutine's writes until the cycle that started it is over. Its context is not derived from ours.
type heldClient struct {
	kubernetes.Interface
	live *Live
}

type heldCore struct {
	corev1.CoreV1Interface
	live *Live
}

type heldPods struct {
	corev1.PodInterface
	live *Live
}

type ofCycle struct{}

func (c heldClient) CoreV1() corev1.CoreV1Interface {
	return heldCore{c.Interface.CoreV1(), c.live}
}

func (c heldCore) Pods(namespace string) corev1.PodInterface {
	return heldPods{c.CoreV1Interface.Pods(namespace), c.live}
}

func (p heldPods) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	p.hold(ctx)
	return p.PodInterface.Delete(ctx, name, o)
}

func (p heldPods) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*v1.Pod, error) {
	p.hold(ctx)
	return p.PodInterface.Patch(ctx, name, t, data, o, sub...)
}

func (p heldPods) hold(ctx context.Context) {
	if ctx.Value(ofCycle{}) == nil {
		cycle := p.live.cycle
		if cycle == nil { // the history has ended in an error, and no reader is left
			return
		}
		if cycle.group != nil {
			cycle.group.hold(ctx.Done())
			return
		}
		p.live.held.Store(true)
		<-cycle.over
	}
}

// ---- time

// advance advances virtual time, with the queue's two periodic flushes at their times: each whole second, and
// every 30 s since the start.
func (l *Live) advance(d time.Duration) {
	until := l.clock.Now().Add(d)
	for {
		second := l.clock.Now().Truncate(windowTakes).Add(windowTakes)
		if second.After(until) {
			break
		}
		l.clock.SetTime(second)
		flushBackoffQCompleted(l.queue, klog.Background())
		if second.Sub(epoch)%flushEvery == 0 {
			flushUnschedulable(l.queue, klog.Background())
		}
		l.waits.expire()
	}
	l.clock.SetTime(until)
}

// ---- the API

func (l *Live) resource(obj runtime.Object) (schema.GroupVersionResource, metav1.Object, error) {
	gvr, _ := apimeta.UnsafeGuessKindToResource(obj.GetObjectKind().GroupVersionKind())
	m, err := apimeta.Accessor(obj)
	return gvr, m, err
}

// create does the same as a client's create: the server sets UID and creation time.
func (l *Live) create(obj runtime.Object) error {
	gvr, m, err := l.resource(obj)
	if err != nil {
		return err
	}
	return l.createAs(gvr, m, obj)
}

func (l *Live) createAs(gvr schema.GroupVersionResource, m metav1.Object, obj runtime.Object) error {
	l.objects++
	if m.GetName() == "" {
		m.SetName(fmt.Sprintf("%s%d", m.GetGenerateName(), l.objects))
	}
	if m.GetUID() == "" {
		m.SetUID(uid(l.objects))
	}
	if stamp := m.GetCreationTimestamp(); stamp.IsZero() {
		m.SetCreationTimestamp(metav1.NewTime(l.clock.Now().Truncate(time.Second)))
	}
	if p, ok := obj.(*v1.Pod); ok && p.Spec.NodeName != "" {
		l.start(p)
	}
	l.version(m)
	if err := l.client.Tracker().Create(gvr, obj, m.GetNamespace()); err != nil {
		return err
	}
	return l.deliver(gvr, m.GetNamespace(), m.GetName(), obj)
}

// update replaces an object; metadata stays, and for a pod also the node and, if the new one has none, the status. False:
// the object does not exist.
func (l *Live) update(obj runtime.Object, keepStatus bool) (bool, error) {
	gvr, m, err := l.resource(obj)
	if err != nil {
		return false, err
	}
	old, err := l.client.Tracker().Get(gvr, m.GetNamespace(), m.GetName())
	if err != nil {
		return false, nil
	}
	om, err := apimeta.Accessor(old)
	if err != nil {
		return false, err
	}
	m.SetUID(om.GetUID())
	m.SetCreationTimestamp(om.GetCreationTimestamp())
	if t := om.GetDeletionTimestamp(); t != nil {
		m.SetDeletionTimestamp(t)
	}
	if p, ok := obj.(*v1.Pod); ok {
		op := old.(*v1.Pod)
		if keepStatus {
			p.Status = op.Status
		}
		if op.Spec.NodeName != "" {
			p.Spec.NodeName = op.Spec.NodeName
		}
		if p.Spec.NodeName != "" {
			l.start(p)
		}
	}
	return true, l.store(gvr, obj)
}

func (l *Live) store(gvr schema.GroupVersionResource, obj runtime.Object) error {
	m, err := apimeta.Accessor(obj)
	if err != nil {
		return err
	}
	if l.factory.watch && ended(obj) { // the fake clientset's watches ignore field selectors
		_, err := l.remove(gvr, m.GetNamespace(), m.GetName())
		return err
	}
	l.version(m)
	if err := l.client.Tracker().Update(gvr, obj, m.GetNamespace()); err != nil {
		return err
	}
	return l.deliver(gvr, m.GetNamespace(), m.GetName(), obj)
}

// ended: kube-scheduler's watch excludes such pods.
func ended(obj runtime.Object) bool {
	p, ok := obj.(*v1.Pod)
	return ok && (p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed)
}

func (l *Live) remove(gvr schema.GroupVersionResource, namespace, name string) (bool, error) {
	old, err := l.client.Tracker().Get(gvr, namespace, name)
	if err != nil {
		return false, nil
	}
	if err := l.client.Tracker().Delete(gvr, namespace, name); err != nil {
		return false, err
	}
	return true, l.deliverTo(old, namespace, name, nil)
}

func (l *Live) version(m metav1.Object) {
	l.writes++
	m.SetResourceVersion(strconv.Itoa(l.writes))
}

// start sets a bound pod's start time as its kubelet would: whole seconds, all different, so that preemption has no
// ties to break at random.
func (l *Live) start(p *v1.Pod) {
	if p.Status.StartTime == nil {
		l.started++
		p.Status.StartTime = &metav1.Time{Time: epoch.Add(time.Duration(l.started) * time.Second)}
	}
}

func (l *Live) deliver(gvr schema.GroupVersionResource, namespace, name string, like runtime.Object) error {
	obj, err := l.client.Tracker().Get(gvr, namespace, name)
	if err != nil {
		return err
	}
	return l.deliverTo(like, namespace, name, obj)
}

// deliverTo passes one object's change to the informer of its kind and so to all handlers, in the order
// in which they were added.
func (l *Live) deliverTo(like runtime.Object, namespace, name string, obj runtime.Object) error {
	switch o := obj.(type) {
	case *v1.Node:
		l.nodes[o.Name] = true
	case *v1.Pod:
		if ended(o) {
			obj = nil
		} else if o.Status.NominatedNodeName != "" {
			l.nodes[o.Status.NominatedNodeName] = true
		}
	}
	inf, ok := l.factory.informers[reflect.TypeOf(like)]
	if !ok {
		return nil // no informer for this kind
	}
	k := name
	if namespace != "" {
		k = namespace + "/" + name
	}
	if l.factory.watch {
		return inf.wait(k, obj)
	}
	old, had, err := inf.GetIndexer().GetByKey(k)
	if err != nil {
		return err
	}
	switch {
	case obj == nil && !had:
	case obj == nil:
		err = inf.GetIndexer().Delete(old)
		inf.each(func(h cache.ResourceEventHandler) { h.OnDelete(old) })
	case had:
		err = inf.GetIndexer().Update(obj)
		inf.each(func(h cache.ResourceEventHandler) { h.OnUpdate(old, obj) })
	default:
		err = inf.GetIndexer().Add(obj)
		inf.each(func(h cache.ResourceEventHandler) { h.OnAdd(obj, false) })
	}
	return err
}

// react handles the scheduler's own writes. The client's lock is held: one write at a time.
func (l *Live) react(a clienttesting.Action) (bool, runtime.Object, error) {
	gvr, ns := a.GetResource(), a.GetNamespace()
	switch act := a.(type) {
	case clienttesting.CreateActionImpl:
		if gvr.Resource == "pods" && act.Subresource == "binding" {
			return true, nil, l.bind(act.GetObject().(*v1.Binding))
		}
		obj := act.GetObject().DeepCopyObject()
		m, err := apimeta.Accessor(obj)
		if err != nil {
			return true, nil, err
		}
		return true, obj, l.createAs(gvr, m, obj)
	case clienttesting.DeleteActionImpl:
		if gvr.Resource == "pods" {
			return true, nil, l.evict(gvr, ns, act.GetName())
		}
		_, err := l.remove(gvr, ns, act.GetName())
		return true, nil, err
	case clienttesting.UpdateActionImpl:
		obj := act.GetObject().DeepCopyObject()
		if c, ok := obj.(*resourceapi.ResourceClaim); ok && l.cycle != nil && l.cycle.group != nil {
			c, changed, err := l.written(gvr, c, act.Subresource)
			if err == nil && changed {
				err = l.store(gvr, c)
			}
			return true, c, err
		}
		return true, obj, l.store(gvr, obj)
	case clienttesting.PatchActionImpl:
		obj, err := l.patched(gvr, &act)
		if err != nil {
			return true, nil, err
		}
		if old, _ := l.client.Tracker().Get(gvr, ns, act.GetName()); gvr.Resource == "resourceclaims" && apiequality.Semantic.DeepEqual(old, obj) {
			return true, obj, nil // an API server writes nothing then
		}
		return true, obj, l.store(gvr, obj)
	}
	return false, nil, nil // reads
}

// written does an API server's part for a claim that pods of a group write concurrently: an older version is a conflict,
// spec and status are separate subresources, a consumer is listed once, and a write without a change is none.
func (l *Live) written(gvr schema.GroupVersionResource, c *resourceapi.ResourceClaim, subresource string) (*resourceapi.ResourceClaim, bool, error) {
	obj, err := l.client.Tracker().Get(gvr, c.Namespace, c.Name)
	if err != nil {
		return nil, false, err
	}
	old := obj.(*resourceapi.ResourceClaim)
	if c.ResourceVersion != "" && c.ResourceVersion != old.ResourceVersion {
		return nil, false, apierrors.NewConflict(gvr.GroupResource(), c.Name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	merged := old.DeepCopy()
	if subresource == "status" {
		merged.Status = c.Status
	} else {
		merged.Finalizers = c.Finalizers
	}
	for i, r := range merged.Status.ReservedFor {
		for _, other := range merged.Status.ReservedFor[:i] {
			if r.UID == other.UID {
				path := field.NewPath("status", "reservedFor").Index(i).Child("uid")
				return nil, false, apierrors.NewInvalid(resourceapi.SchemeGroupVersion.WithKind("ResourceClaim").GroupKind(), c.Name, field.ErrorList{field.Duplicate(path, r.UID)})
			}
		}
	}
	return merged, !apiequality.Semantic.DeepEqual(old, merged), nil
}

func (l *Live) patched(gvr schema.GroupVersionResource, a *clienttesting.PatchActionImpl) (runtime.Object, error) {
	old, err := l.client.Tracker().Get(gvr, a.GetNamespace(), a.GetName())
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	var after []byte
	switch a.GetPatchType() {
	case types.StrategicMergePatchType:
		after, err = strategicpatch.StrategicMergePatch(before, a.GetPatch(), old)
	case types.MergePatchType:
		after, err = jsonpatch.MergePatch(before, a.GetPatch())
	default:
		err = fmt.Errorf("patch type %s", a.GetPatchType())
	}
	if err != nil {
		return nil, err
	}
	obj := reflect.New(reflect.TypeOf(old).Elem()).Interface().(runtime.Object)
	if err := json.Unmarshal(after, obj); err != nil {
		return nil, err
	}
	// A patch that names another UID is for an object that was deleted.
	is, err := apimeta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	was, err := apimeta.Accessor(old)
	if err != nil {
		return nil, err
	}
	if is.GetUID() != was.GetUID() {
		return nil, apierrors.NewConflict(gvr.GroupResource(), a.GetName(), errors.New("the UID in the patch is another one"))
	}
	return obj, nil
}

// bind does the API server's part for a Binding, and the kubelet's after it.
func (l *Live) bind(b *v1.Binding) error {
	if l.cycle.FailBind {
		return fmt.Errorf("pod %s: no binding now", b.Name)
	}
	gvr := v1.SchemeGroupVersion.WithResource("pods")
	obj, err := l.client.Tracker().Get(gvr, b.Namespace, b.Name)
	if err != nil {
		return err
	}
	p := obj.(*v1.Pod).DeepCopy()
	switch {
	case p.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", p.Name)
	case p.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", p.Name, p.Spec.NodeName)
	case len(p.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", p.Name)
	}
	p.Spec.NodeName, p.Status.NominatedNodeName = b.Target.Name, ""
	podutil.UpdatePodCondition(&p.Status, &v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
	l.start(p)
	return l.store(gvr, p)
}

// evict: a pod with finalizers stays, marked as being deleted; any other is deleted immediately.
func (l *Live) evict(gvr schema.GroupVersionResource, ns, name string) error {
	obj, err := l.client.Tracker().Get(gvr, ns, name)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.evicted = append(l.evicted, ns+"/"+name)
	l.mu.Unlock()
	p := obj.(*v1.Pod).DeepCopy()
	if len(p.Finalizers) == 0 {
		_, err = l.remove(gvr, ns, name)
		return err
	}
	if p.DeletionTimestamp != nil {
		return nil
	}
	now := metav1.NewTime(l.clock.Now().Truncate(time.Second))
	p.DeletionTimestamp = &now
	return l.store(gvr, p)
}

// ---- informers without goroutines

// syncFactory returns informers that are never started; Live writes their stores and calls their handlers.
type syncFactory struct {
	informers.SharedInformerFactory
	mu        sync.Mutex
	informers map[reflect.Type]*syncInformer
	watch     bool
}

func (f *syncFactory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := reflect.TypeOf(obj)
	if _, ok := f.informers[t]; !ok {
		f.informers[t] = &syncInformer{SharedIndexInformer: f.SharedInformerFactory.InformerFor(obj, newFunc), watch: f.watch}
	}
	return f.informers[t]
}

func (f *syncFactory) Apps() apps.Interface         { return apps.New(f, metav1.NamespaceAll, nil) }
func (f *syncFactory) Core() core.Interface         { return core.New(f, metav1.NamespaceAll, nil) }
func (f *syncFactory) Policy() policy.Interface     { return policy.New(f, metav1.NamespaceAll, nil) }
func (f *syncFactory) Resource() resource.Interface { return resource.New(f, metav1.NamespaceAll, nil) }
func (f *syncFactory) Storage() storage.Interface   { return storage.New(f, metav1.NamespaceAll, nil) }
func (f *syncFactory) Scheduling() scheduling.Interface {
	return scheduling.New(f, metav1.NamespaceAll, nil)
}

type syncInformer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
	watch    bool
	sent     int64
	seen     []*atomic.Int64 // by each handler
}

// wait returns when the store has the object, or no longer has it, and every handler has seen every event.
func (i *syncInformer) wait(key string, obj runtime.Object) error {
	version := func(o any) string {
		m, _ := o.(metav1.Object)
		return m.GetResourceVersion()
	}
	i.sent++
	for began := time.Now(); ; time.Sleep(20 * time.Microsecond) {
		stored, had, err := i.GetIndexer().GetByKey(key)
		if err != nil {
			return err
		}
		behind := had != (obj != nil) || had && version(stored) != version(obj)
		for _, n := range i.seen {
			behind = behind || n.Load() < i.sent
		}
		if !behind {
			return nil
		}
		if time.Since(began) > cycleTakes {
			return errors.New("an event does not arrive")
		}
	}
}

func (i *syncInformer) each(call func(cache.ResourceEventHandler)) {
	for _, h := range i.handlers {
		call(h)
	}
}

func (i *syncInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	if i.watch {
		n := &atomic.Int64{}
		i.seen = append(i.seen, n)
		return i.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc:    func(o any, initial bool) { h.OnAdd(o, initial); n.Add(1) },
			UpdateFunc: func(o, p any) { h.OnUpdate(o, p); n.Add(1) },
			DeleteFunc: func(o any) { h.OnDelete(o); n.Add(1) },
		})
	}
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

func (i *syncInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *syncInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *syncInformer) HasSynced() bool { return true }

// synced is always true: histories start with an empty API.
type synced struct{}

var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (synced) HasSynced() bool       { return true }
func (synced) Name() string          { return "history" }
func (synced) Done() <-chan struct{} { return always }
