// SPDX-License-Identifier: Apache-2.0

// Subcommand bind-ceiling: how fast can bindings be written if all decisions are already made? This
// is the upper limit for any scheduler with this API server on this machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func bindCeiling(ctx context.Context, fs *flag.FlagSet, args []string) error {
	kubeconfig := kubeconfigFlag(fs)
	count := fs.Int("pods", 5000, "pods to create and bind in each round")
	workerList := fs.String("workers", "32", "concurrent bindings; a comma-separated list gives one round each")
	connections := fs.Int("connections", 4, "TCP connections the workers share")
	schedule := fs.String("schedule", "round-robin", "round-robin or random: which node each pod goes to")
	runs := fs.Int("runs", 1, "rounds for each worker count")
	watchers := fs.Int("watchers", 0, "clients that watch the pods meanwhile, as a scheduler and whoever measures it do")
	fs.Parse(args)

	conns, err := newClients(*kubeconfig, *connections)
	if err != nil {
		return err
	}
	list, err := conns[0].CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) == 0 {
		return fmt.Errorf("no nodes; create some with cluster nodes")
	}
	names := make([]string, *count)
	targets := make([]string, *count)
	for i := range names {
		names[i] = fmt.Sprintf("ceiling-%06d", i)
		node := i % len(list.Items)
		if *schedule == "random" {
			node = rand.IntN(len(list.Items))
		}
		targets[i] = list.Items[node].Name
	}
	const namespace = "bind-ceiling"
	if err := ensureNamespace(ctx, conns[0], namespace); err != nil {
		return err
	}
	t, err := parseTemplate("", podTemplate)
	if err != nil {
		return err
	}
	if err := watchPods(ctx, *kubeconfig, namespace, *watchers); err != nil {
		return err
	}
	for word := range strings.SplitSeq(*workerList, ",") {
		workers, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		for run := range *runs {
			if err := wipePods(ctx, conns[0], namespace); err != nil {
				return err
			}
			creating := time.Now()
			err := inParallel(ctx, 64, *count, func(ctx context.Context, worker, ix int) error {
				var pod v1.Pod
				f := fields{Name: names[ix], CPU: "100m", Memory: "500Mi", Namespace: namespace, Scheduler: "nobody"}
				if err := render(t, f, &pod); err != nil {
					return err
				}
				_, err := conns[worker%len(conns)].CoreV1().Pods(namespace).Create(ctx, &pod, metav1.CreateOptions{})
				return err
			})
			if err != nil {
				return err
			}
			created := time.Since(creating).Seconds()

			took := make([]time.Duration, *count)
			cpu := startCPU(*kubeconfig, "")
			began := time.Now()
			err = inParallel(ctx, workers, *count, func(ctx context.Context, worker, ix int) error {
				from := time.Now()
				err := conns[worker%len(conns)].CoreV1().Pods(namespace).Bind(ctx, &v1.Binding{
					ObjectMeta: metav1.ObjectMeta{Name: names[ix], Namespace: namespace},
					Target:     v1.ObjectReference{Kind: "Node", Name: targets[ix]},
				}, metav1.CreateOptions{})
				took[ix] = time.Since(from)
				return err
			})
			if err != nil {
				return err
			}
			seconds := time.Since(began).Seconds()
			printJSON(map[string]any{
				"bindings": *count, "nodes": len(list.Items), "workers": workers, "connections": *connections, "watchers": *watchers,
				"run": run + 1, "seconds": round(seconds), "per_second": round(float64(*count) / seconds),
				"latency_ms": percentiles(took), "create_per_second": round(float64(*count) / created),
				"cpu_seconds": cpu.report(),
			})
		}
	}
	return wipePods(ctx, conns[0], namespace)
}

// watchPods reads a watch of pods by n clients, each with its own connection, until ctx ends.
func watchPods(ctx context.Context, kubeconfig, namespace string, n int) error {
	conns, err := newClients(kubeconfig, n)
	if err != nil {
		return err
	}
	for _, c := range conns {
		body, err := c.CoreV1().RESTClient().Get().Resource("pods").Namespace(namespace).
			SetHeader("Accept", "application/vnd.kubernetes.protobuf;stream=watch").
			VersionedParams(&metav1.ListOptions{Watch: true}, metav1.ParameterCodec).Stream(ctx)
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(io.Discard, body) }()
	}
	return nil
}
