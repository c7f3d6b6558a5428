// SPDX-License-Identifier: Apache-2.0

//go:build k8s137

// The Go package of libberth beside the real framework: the nodes that fit a pod, and where pods go one after the other.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth.dev/berth"
	v1 "k8s.io/api/core/v1"
)

// fromEnvironment is a number of the environment, or what it is by default.
func fromEnvironment(t *testing.T, name string, byDefault uint64) uint64 {
	s := os.Getenv(name)
	if s == "" {
		return byDefault
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// scenarios calls a function with random scenarios of each profile.
func scenarios(t *testing.T, profiles []string, f func(t *testing.T, s *Scenario)) {
	if err := setGates(); err != nil {
		t.Fatal(err)
	}
	day, _ := strconv.ParseUint(time.Now().Format("060102"), 10, 64)
	seed, count := fromEnvironment(t, "BT_SEED", day*10000), fromEnvironment(t, "BT_SCENARIOS", 40)
	t.Logf("BT_SEED=%d", seed)
	for _, profile := range profiles {
		for i := range count {
			g := &gen{Rand: rand.New(rand.NewPCG(seed+i, 0x6265727468)), on: map[string]bool{}}
			for _, feature := range strings.Split(profile, ",") {
				g.on[feature] = true
			}
			s, err := g.scenario(fmt.Sprintf("%s-%d", profile, seed+i), 1+g.IntN(12), 1+g.IntN(8))
			if err != nil {
				t.Fatal(err)
			}
			f(t, s)
		}
	}
}

// admitted is the object with a uid if it is a pod: one without is a manifest, to which the library adds what an API server
// would, such as default tolerations.
func admitted(t *testing.T, raw json.RawMessage) []byte {
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	meta, _ := object["metadata"].(map[string]any)
	if object["kind"] != "Pod" || meta == nil || meta["uid"] != nil {
		return raw
	}
	meta["uid"] = fmt.Sprintf("uid-%v", meta["name"])
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// both are the real scheduler and the library with the same cluster.
func both(t *testing.T, s *Scenario) (*Cluster, *berth.ClusterSnapshot) {
	c, err := newCluster(s.Config, s.Objects)
	if err != nil {
		return nil, nil // such a scenario has no answer
	}
	library, err := berth.New(&berth.Options{Config: string(s.Config), KubernetesVersion: "1.37"})
	if err != nil {
		t.Fatalf("%s: %v", s.ID, err)
	}
	var text []byte
	for _, raw := range s.Objects {
		text = append(append(text, admitted(t, raw)...), '\n')
	}
	if err := library.ApplyText(text); err != nil {
		t.Fatalf("%s: %v", s.ID, err)
	}
	return c, library
}

func judged(t *testing.T, c *Cluster, pod *v1.Pod) *PodVerdict {
	f, err := c.profile(pod)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.snapshot(f); err != nil {
		t.Fatal(err)
	}
	pv := &PodVerdict{Pod: key(pod)}
	c.cycle(f, pod, pv)
	return pv
}

func explain(s *Scenario) string {
	text, _ := json.Marshal(s)
	return string(text)
}

var profiles = []string{"fit", "affinity", "taints", "ports", "images", "spread", "interpod", "volumes", "config",
	"fit,affinity,taints,spread,interpod,ports", "nominated", "dra"}

func TestCanSchedulePodReturnsTheNodesThatFit(t *testing.T) {
	pods, nodes := 0, 0
	scenarios(t, profiles, func(t *testing.T, s *Scenario) {
		c, library := both(t, s)
		if c == nil {
			return
		}
		defer c.stop()
		defer library.Close()
		for _, name := range s.Pending {
			pv := judged(t, c, c.pods[name])
			if pv.Error != "" {
				continue
			}
			want := []string{}
			for node := range pv.Scores {
				want = append(want, node)
			}
			result, err := library.CanSchedulePod(t.Context(), c.pods[name], nil)
			if err != nil {
				t.Fatalf("%s: %v", s.ID, err)
			}
			slices.Sort(want)
			slices.Sort(result.NodeNames)
			if !slices.Equal(want, result.NodeNames) {
				t.Fatalf("%s: %s fits %v; kube-scheduler says %v, and refuses %v\n%s", s.ID, name, result.NodeNames, want, pv.Rejected, explain(s))
			}
			pods, nodes = pods+1, nodes+len(want)
		}
	})
	t.Logf("%d pods fit %d nodes in all", pods, nodes)
	if pods == 0 || nodes == 0 {
		t.Fatal("no pod was compared")
	}
}

// Pods whose placement changes nothing but its node; others write to volumes and claims.
var placed = []string{"fit", "affinity", "taints", "ports", "images", "spread", "interpod", "config",
	"fit,affinity,taints,spread,interpod,ports"}

func TestSchedulePodsChoosesOneOfTheBestNodes(t *testing.T) {
	chosen, refused := 0, 0
	scenarios(t, placed, func(t *testing.T, s *Scenario) {
		c, library := both(t, s)
		if c == nil {
			return
		}
		defer c.stop()
		defer library.Close()
		var pods []*v1.Pod
		for _, name := range s.Pending {
			pods = append(pods, c.pods[name])
		}
		results, err := library.SchedulePods(t.Context(), pods, nil, berth.SchedulePodsOptions{})
		if err != nil {
			t.Fatalf("%s: %v", s.ID, err)
		}
		for _, r := range results {
			pv := judged(t, c, r.Pod)
			switch {
			case pv.Error != "":
				return
			case r.SelectedNodeName == "" && len(pv.Best) > 0, r.SelectedNodeName != "" && !slices.Contains(pv.Best, r.SelectedNodeName):
				t.Fatalf("%s: %s goes to %q; best are %v\n%s", s.ID, key(r.Pod), r.SelectedNodeName, pv.Best, explain(s))
			case r.SelectedNodeName == "":
				refused++
			default:
				chosen++
				if err := c.assume(r.Pod, r.SelectedNodeName); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := library.ResetMutations(); err != nil {
			t.Fatal(err)
		}
		if again, err := library.SchedulePods(context.Background(), pods, nil, berth.SchedulePodsOptions{}); err != nil || len(again) != len(results) {
			t.Fatalf("%s: %v", s.ID, err)
		} else {
			for i := range again {
				if again[i].SelectedNodeName != results[i].SelectedNodeName {
					t.Fatalf("%s: %s goes to %q after a reset, before to %q", s.ID, key(pods[i]), again[i].SelectedNodeName, results[i].SelectedNodeName)
				}
			}
		}
	})
	t.Logf("%d pods have one of the best nodes, %d fit nowhere", chosen, refused)
	if chosen == 0 || refused == 0 {
		t.Fatal("no pod was compared, or all fit")
	}
}
