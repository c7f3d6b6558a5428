// SPDX-License-Identifier: Apache-2.0

// simulate: kube-scheduler's own plugins place every pending pod, one after the other; prints a
// decision log to compare with.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
)

func runSimulate(args []string) error {
	fs := flag.NewFlagSet("simulate", flag.ExitOnError)
	var files fileList
	fs.Var(&files, "objects", "JSON or YAML file with the cluster and its pending pods; may be repeated")
	configFile := fs.String("config", "", "KubeSchedulerConfiguration")
	limit := fs.Int("limit", 0, "stop after so many pods; 0 is all")
	seed := fs.Uint64("seed", 1, "breaks ties between equally good nodes")
	gatesFlag(fs)
	_ = fs.Parse(args)
	c, err := loadCluster(files, *configFile)
	if err != nil {
		return err
	}
	defer c.stop()
	var queue []*v1.Pod
	for _, p := range c.pods {
		if p.Spec.NodeName == "" {
			queue = append(queue, p)
		}
	}
	// PrioritySort: higher priority first, then older; names break ties within the API's resolution of one second.
	sort.Slice(queue, func(i, j int) bool {
		a, b := queue[i], queue[j]
		if x, y := corev1helpers.PodPriority(a), corev1helpers.PodPriority(b); x != y {
			return x > y
		}
		if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return a.CreationTimestamp.Before(&b.CreationTimestamp)
		}
		return key(a) < key(b)
	})
	if *limit > 0 && len(queue) > *limit {
		queue = queue[:*limit]
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	rnd := rand.New(rand.NewPCG(*seed, 1))
	start := time.Now()
	for _, pod := range queue {
		f, err := c.profile(pod)
		if err != nil {
			return err
		}
		if _, err := c.snapshot(f); err != nil {
			return err
		}
		pv := &PodVerdict{Pod: key(pod)}
		c.cycle(f, pod, pv)
		if err := c.crash.take(); err != nil {
			return fmt.Errorf("%s: %w", key(pod), err)
		}
		d := Decision{Pod: key(pod), Message: pv.Message}
		if len(pv.Best) > 0 {
			node := pv.Best[rnd.IntN(len(pv.Best))]
			d.Node = &node
			if err := c.assume(pod, node); err != nil {
				return err
			}
		}
		if err := enc.Encode(d); err != nil {
			return err
		}
	}
	t := time.Since(start)
	fmt.Fprintf(os.Stderr, "%d pods in %.3f s, %.0f pods/s\n", len(queue), t.Seconds(), float64(len(queue))/t.Seconds())
	return nil
}
