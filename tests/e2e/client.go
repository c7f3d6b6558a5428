// SPDX-License-Identifier: Apache-2.0

// Connections to the API server: protobuf, no client-side rate limit, one TCP connection each.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type connection struct{ *kubernetes.Clientset }

func kubeconfigFlag(fs *flag.FlagSet) *string {
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		path = "cluster-data/kubeconfig"
	}
	return fs.String("kubeconfig", path, "kubeconfig to use; default from KUBECONFIG")
}

func newClient(kubeconfig string) (*connection, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.QPS = -1
	// client-go shares one HTTP/2 connection between equal configs; a separate dialer makes this one differ.
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	config.Dial = dialer.DialContext
	config.WarningHandler = rest.NoWarnings{}
	set, err := kubernetes.NewForConfig(config)
	return &connection{set}, err
}

func newClients(kubeconfig string, n int) ([]*connection, error) {
	conns := make([]*connection, n)
	for i := range conns {
		var err error
		if conns[i], err = newClient(kubeconfig); err != nil {
			return nil, err
		}
	}
	return conns, nil
}

// inParallel calls do for every index below n from this number of workers; it stops at the first error.
func inParallel(ctx context.Context, workers, n int, do func(ctx context.Context, worker, ix int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				ix := int(next.Add(1) - 1)
				if ix >= n {
					return
				}
				if err := do(ctx, w, ix); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// percentiles reports the given durations in milliseconds.
func percentiles(d []time.Duration) map[string]float64 {
	if len(d) == 0 {
		return nil
	}
	slices.Sort(d)
	out := map[string]float64{}
	for name, p := range map[string]float64{"p50": .50, "p90": .90, "p99": .99, "p999": .999, "max": 1} {
		ix := int(p*float64(len(d))+.5) - 1
		out[name] = round(float64(d[min(max(ix, 0), len(d)-1)].Microseconds()) / 1000)
	}
	return out
}

func round(x float64) float64 { return float64(int64(x*100+.5)) / 100 }

func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(v)
}
