// SPDX-License-Identifier: Apache-2.0

// judge: replays a log of decisions in order, and compares each with kube-scheduler's before applying it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// Decision is one line of a decision log: a placement, a refusal (node null), or the deletion of a pod.
type Decision struct {
	Pod     string  `json:"pod"`
	Node    *string `json:"node"`
	Message string  `json:"message,omitempty"` // of a refusal: the FailedScheduling text
	Delete  bool    `json:"delete,omitempty"`  // the pod was deleted
}

type fileList []string

func (l *fileList) String() string     { return strings.Join(*l, ",") }
func (l *fileList) Set(s string) error { *l = append(*l, s); return nil }

func runJudge(args []string) error {
	fs := flag.NewFlagSet("judge", flag.ExitOnError)
	var files fileList
	fs.Var(&files, "objects", "JSON or YAML file with the cluster and its pending pods; may be repeated")
	configFile := fs.String("config", "", "KubeSchedulerConfiguration")
	decisions := fs.String("decisions", "-", "decision log, one JSON document a line")
	every := fs.Int("every", 1, "check every n-th decision; all are applied")
	show := fs.Int("show", 10, "how many disagreements to print")
	messages := fs.Bool("messages", false, "also compare the texts of refusals (preemption's part left out)")
	gatesFlag(fs)
	_ = fs.Parse(args)
	c, err := loadCluster(files, *configFile)
	if err != nil {
		return err
	}
	defer c.stop()
	r, err := open(*decisions)
	if err != nil {
		return err
	}
	defer r.Close()
	n, checked, agreed, shown := 0, 0, 0, 0
	err = eachLine(r, func(line []byte) error {
		var d Decision
		if err := json.Unmarshal(line, &d); err != nil {
			return fmt.Errorf("decision %d: %w", n+1, err)
		}
		n++
		pod, ok := c.pods[d.Pod]
		if !ok {
			return fmt.Errorf("decision %d: no pod %s", n, d.Pod)
		}
		if d.Delete {
			return c.forget(pod)
		}
		f, err := c.profile(pod)
		if err != nil {
			return err
		}
		if n%*every == 0 {
			if _, err := c.snapshot(f); err != nil {
				return err
			}
			pv := &PodVerdict{Pod: d.Pod}
			c.cycle(f, pod, pv)
			if err := c.crash.take(); err != nil {
				return fmt.Errorf("decision %d: %w", n, err)
			}
			checked++
			if why := disagreement(&d, pv, *messages); why == "" {
				agreed++
			} else if shown < *show {
				shown++
				fmt.Printf("decision %d, %s: %s\n", n, d.Pod, why)
			}
		}
		if d.Node != nil {
			return c.assume(pod, *d.Node)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d decisions, %d checked, %d agree  %.3f %%\n", n, checked, agreed, 100*float64(agreed)/float64(max(checked, 1)))
	if agreed != checked || checked == 0 {
		os.Exit(1)
	}
	return nil
}

func loadCluster(files []string, configFile string) (*Cluster, error) {
	if err := setGates(); err != nil {
		return nil, err
	}
	objects, err := readObjects(files)
	if err != nil {
		return nil, err
	}
	var cfg json.RawMessage
	if configFile != "" {
		docs, err := readObjects([]string{configFile})
		if err != nil {
			return nil, err
		}
		cfg = docs[0]
	}
	return newCluster(cfg, objects)
}

func disagreement(d *Decision, pv *PodVerdict, messages bool) string {
	switch {
	case d.Node == nil && len(pv.Best) > 0:
		return fmt.Sprintf("refused, but %d nodes fit; best %v", len(pv.Scores), head(pv.Best))
	case d.Node == nil && messages && !strings.HasPrefix(d.Message, pv.Message):
		return fmt.Sprintf("refused with %q, wanted %q", d.Message, pv.Message)
	case d.Node != nil && !slices.Contains(pv.Best, *d.Node):
		s, fits := pv.Scores[*d.Node]
		if !fits {
			return fmt.Sprintf("placed on %s, which does not fit: %+v %s", *d.Node, pv.Rejected[*d.Node], pv.Error)
		}
		return fmt.Sprintf("placed on %s with %+v; best are %v with %+v", *d.Node, s, head(pv.Best), pv.Scores[pv.Best[0]])
	}
	return ""
}

func head(s []string) []string { return s[:min(len(s), 5)] }

func (c *Cluster) assume(pod *v1.Pod, node string) error {
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	c.pods[key(pod)] = placed
	return c.sched.Cache.AssumePod(klog.Background(), placed)
}

func (c *Cluster) forget(pod *v1.Pod) error {
	if pod.Spec.NodeName == "" {
		return nil
	}
	if assumed, _ := c.sched.Cache.IsAssumedPod(pod); assumed {
		return c.sched.Cache.ForgetPod(klog.Background(), pod)
	}
	return c.sched.Cache.RemovePod(klog.Background(), pod)
}
