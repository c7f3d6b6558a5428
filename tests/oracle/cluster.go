// SPDX-License-Identifier: Apache-2.0

// A kube-scheduler with an in-memory API, stopped before its loop, so that its plugins, cache and
// snapshot can be called directly.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"sort"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Cluster is one scenario's live scheduler.
type Cluster struct {
	ctx    context.Context
	stop   context.CancelFunc
	sched  *scheduler.Scheduler
	client *fake.Clientset
	pods   map[string]*v1.Pod // by namespace/name
	crash  crash

	mu      sync.Mutex
	evicted []string // pods deleted by preemption since the last check
}

func key(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

// featureGates are those of the command line, applied after the harness's own.
var featureGates string

func gatesFlag(fs *flag.FlagSet) {
	fs.StringVar(&featureGates, "feature-gates", "", "kube-scheduler's gates as Name=true,Other=false; those not named keep this version's defaults")
}

func setGates() error {
	// Synchronous preemption: the victims are known when PostFilter returns. Batching reuses older score lists, which hides the true best.
	for _, gates := range []string{"SchedulerAsyncPreemption=false,SchedulerAsyncAPICalls=false,OpportunisticBatching=false", versionGates, featureGates} {
		if gates == "" {
			continue
		}
		if err := utilfeature.DefaultMutableFeatureGate.Set(gates); err != nil {
			return err
		}
	}
	return nil
}

func parseConfig(raw json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}`)
	}
	obj, _, err := configscheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("not a KubeSchedulerConfiguration: %T", obj)
	}
	return cfg, nil
}

func newCluster(rawConfig json.RawMessage, rawObjects []json.RawMessage) (*Cluster, error) {
	cfg, err := parseConfig(rawConfig)
	if err != nil {
		return nil, err
	}
	c := &Cluster{pods: map[string]*v1.Pod{}}
	var objects []runtime.Object
	for i, raw := range rawObjects {
		obj, err := decode(raw)
		if err != nil {
			return nil, err
		}
		if p, ok := obj.(*v1.Pod); ok {
			if p.UID == "" {
				p.UID = uid(i)
			}
			c.pods[key(p)] = p
		}
		objects = append(objects, obj)
	}
	c.client = fake.NewClientset(objects...)
	c.client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		d := a.(clienttesting.DeleteAction)
		c.mu.Lock()
		c.evicted = append(c.evicted, d.GetNamespace()+"/"+d.GetName())
		c.mu.Unlock()
		return true, nil, nil // the judged cluster must not change
	})
	c.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		p := a.(clienttesting.PatchAction)
		return true, c.pods[p.GetNamespace()+"/"+p.GetName()], nil
	})
	c.client.PrependReactor("update", "resourceclaims", func(a clienttesting.Action) (bool, runtime.Object, error) {
		return true, a.(clienttesting.UpdateAction).GetObject(), nil
	})
	logger := klog.Background()
	c.ctx, c.stop = context.WithCancel(context.WithValue(klog.NewContext(context.Background(), logger), crashKey{}, &c.crash))
	informers := newInformers(c.client)
	c.sched, err = scheduler.New(c.ctx, c.client, informers, nil, newRecorder,
		scheduler.WithProfiles(cfg.Profiles...), scheduler.WithParallelism(cfg.Parallelism))
	if err != nil {
		c.stop()
		return nil, err
	}
	informers.Start(c.ctx.Done())
	informers.WaitForCacheSync(c.ctx.Done())
	if err := c.sched.WaitForHandlersSync(c.ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, c.nominate()
}

// nominate sets the nominations as in a queue at rest: a pod that passes PreEnqueue counts, regardless of the order of
// informers; from 1.37 on also a gated one.
func (c *Cluster) nominate() error {
	for _, pod := range c.pods {
		if pod.Spec.NodeName != "" || pod.Status.NominatedNodeName == "" {
			continue
		}
		f, err := c.profile(pod)
		if err != nil {
			return err
		}
		c.sched.SchedulingQueue.DeleteNominatedPodIfExists(pod)
		if !gatedNominates && len(c.gates(f, pod)) > 0 {
			continue
		}
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			return err
		}
		c.sched.SchedulingQueue.AddNominatedPod(klog.Background(), info, nil)
	}
	return nil
}

// gates returns why PreEnqueue gates the pod: one reason per plugin; upstream reports any of them.
func (c *Cluster) gates(f framework.Framework, pod *v1.Pod) []Rejection {
	var out []Rejection
	for _, pl := range f.PreEnqueuePlugins() {
		if s := pl.PreEnqueue(c.ctx, pod); !s.IsSuccess() {
			out = append(out, rejection(s.WithPlugin(pl.Name())))
		}
	}
	return out
}

func uid(i int) types.UID { return types.UID(fmt.Sprintf("uid-%06d", i)) }

func (c *Cluster) profile(pod *v1.Pod) (framework.Framework, error) {
	f, ok := c.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		return nil, fmt.Errorf("no profile is named %q", pod.Spec.SchedulerName)
	}
	return f, nil
}

// snapshot updates f's snapshot from the cache and returns it.
func (c *Cluster) snapshot(f framework.Framework) (*internalcache.Snapshot, error) {
	snap, ok := f.SnapshotSharedLister().(*internalcache.Snapshot)
	if !ok {
		return nil, fmt.Errorf("unexpected snapshot type %T", f.SnapshotSharedLister())
	}
	return snap, c.sched.Cache.UpdateSnapshot(klog.Background(), snap)
}

func rejection(s *fwk.Status) Rejection {
	return Rejection{Plugin: s.Plugin(), Code: s.Code().String(), Reasons: s.Reasons()}
}

func (c *Cluster) takeEvicted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := append([]string{}, c.evicted...)
	c.evicted = nil
	sort.Strings(v)
	return v
}
