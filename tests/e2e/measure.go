// SPDX-License-Identifier: Apache-2.0

// Subcommand measure: watches pods from outside, as any client could, and times creation and binding.
// It works for every scheduler, because it reads only spec.nodeName.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// sighting is the time when a pod was first seen, and when it was first seen bound.
type sighting struct{ created, bound time.Time }

func measure(ctx context.Context, fs *flag.FlagSet, args []string) error {
	kubeconfig := kubeconfigFlag(fs)
	expect := fs.Int("expect", 0, "stop once this many pods were bound while watching")
	timeout := fs.Duration("timeout", 10*time.Minute, "stop after this time anyhow")
	namespace := fs.String("namespace", "default", "whose pods to watch")
	scheduler := fs.String("scheduler-name", "", "look only at pods of this scheduler")
	pids := fs.String("pids", "", "also report CPU of these processes, as name=pid,name=pid")
	fs.Parse(args)
	if *expect <= 0 {
		return fmt.Errorf("--expect must be positive")
	}
	c, err := newClient(*kubeconfig)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()

	var mu sync.Mutex
	var cpu *cpuMeter // Starts at the first pod that counts.
	seen := map[types.UID]*sighting{}
	done := make(chan struct{})
	bound := 0
	missed := 0 // First seen bound: created and bound while the watch was down, so without a latency.
	look := func(obj any, initial bool) {
		now := time.Now()
		pod := obj.(*v1.Pod)
		if *scheduler != "" && pod.Spec.SchedulerName != *scheduler {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		s := seen[pod.UID]
		if s == nil {
			s = &sighting{created: now}
			seen[pod.UID] = s
			if initial && pod.Spec.NodeName != "" {
				*s = sighting{bound: now} // Bound before the start: not counted.
				return
			}
			if cpu == nil {
				cpu = startCPU(*kubeconfig, *pids)
			}
			if pod.Spec.NodeName != "" {
				missed++
			}
		}
		if pod.Spec.NodeName == "" || !s.bound.IsZero() {
			return
		}
		s.bound = now
		if bound++; bound == *expect {
			close(done)
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace(*namespace))
	informer := factory.Core().V1().Pods().Informer()
	// The store needs no pod bodies, and without them 100,000 pods stay small.
	informer.SetTransform(func(obj any) (any, error) {
		if pod, ok := obj.(*v1.Pod); ok {
			slim := &v1.Pod{ObjectMeta: pod.ObjectMeta}
			slim.ManagedFields = nil
			slim.Spec.NodeName, slim.Spec.SchedulerName = pod.Spec.NodeName, pod.Spec.SchedulerName
			return slim, nil
		}
		return obj, nil
	})
	informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    look,
		UpdateFunc: func(_, obj any) { look(obj, false) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	fmt.Fprintln(os.Stderr, "watching")

	timedOut := false
	select {
	case <-done:
	case <-ctx.Done():
		timedOut = true
	}
	mu.Lock()
	defer mu.Unlock()
	out := summarize(seen)
	out["timed_out"] = timedOut
	out["missed_pending"] = missed
	if cpu != nil {
		out["cpu_seconds"] = cpu.report()
	}
	return printJSON(out)
}

func summarize(seen map[types.UID]*sighting) map[string]any {
	var bounds []time.Time
	var latency []time.Duration
	var firstCreate, lastCreate time.Time
	for _, s := range seen {
		if s.created.IsZero() {
			continue
		}
		if firstCreate.IsZero() || s.created.Before(firstCreate) {
			firstCreate = s.created
		}
		if s.created.After(lastCreate) {
			lastCreate = s.created
		}
		if !s.bound.IsZero() {
			bounds = append(bounds, s.bound)
			if s.bound.After(s.created) {
				latency = append(latency, s.bound.Sub(s.created))
			}
		}
	}
	out := map[string]any{"pods_seen": len(seen), "bound": len(bounds)}
	if len(bounds) == 0 {
		return out
	}
	slices.SortFunc(bounds, time.Time.Compare)
	first, last := bounds[0], bounds[len(bounds)-1]
	total := last.Sub(firstCreate).Seconds()
	out["create_seconds"] = round(lastCreate.Sub(firstCreate).Seconds())
	out["seconds"] = round(total)
	out["per_second"] = round(float64(len(bounds)) / total)
	if busy := last.Sub(first).Seconds(); busy > 0 {
		out["per_second_first_bind_to_last"] = round(float64(len(bounds)-1) / busy)
	}
	out["latency_ms"] = percentiles(latency)
	out["window_1s"] = windows(bounds, first)
	return out
}

// windows counts bindings in whole seconds from the first one on; the last, partial second is left out.
func windows(bounds []time.Time, first time.Time) map[string]any {
	n := int(bounds[len(bounds)-1].Sub(first) / time.Second)
	if n == 0 {
		return map[string]any{"count": 0}
	}
	counts := make([]int, n)
	for _, b := range bounds {
		if w := int(b.Sub(first) / time.Second); w < n {
			counts[w]++
		}
	}
	slices.Sort(counts)
	at := func(p float64) int { return counts[min(int(p*float64(n)), n-1)] }
	return map[string]any{"count": n, "min": counts[0], "p50": at(.5), "p90": at(.9), "p99": at(.99), "max": counts[n-1]}
}
