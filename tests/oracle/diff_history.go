// SPDX-License-Identifier: Apache-2.0

// diff-history: compares two files of history verdicts and counts how far they agree.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
)

var historyAspects = []string{"popped", "result", "message", "nominated", "evicted", "group", "active", "order", "backoff", "left", "unschedulable", "gated", "nominations", "incomplete", "pending"}

func runDiffHistory(args []string) error {
	fs := flag.NewFlagSet("diff-history", flag.ExitOnError)
	limit := fs.Int("show", 20, "of how many histories to print the first disagreement")
	minimum := fs.Float64("min", 100, "exit 1 when an aspect agrees on fewer percent of the steps")
	only := fs.String("aspects", strings.Join(historyAspects, ","), "what to compare; order is the active queue's pop order, left the seconds in backoff")
	slack := fs.Float64("slack", 1, "by how many seconds left may differ")
	_ = fs.Parse(args)
	if fs.NArg() != 2 {
		return fmt.Errorf("usage: oracle diff-history [flags] WANT GOT")
	}
	want, ids, err := readHistoryVerdicts(fs.Arg(0))
	if err != nil {
		return err
	}
	got, _, err := readHistoryVerdicts(fs.Arg(1))
	if err != nil {
		return err
	}
	aspects := strings.Split(*only, ",")
	tallies := map[string]*tally{}
	for _, a := range aspects {
		tallies[a] = &tally{}
	}
	steps, same, shown := 0, 0, 0
	for _, id := range ids {
		first := ""
		w, g := want[id], got[id]
		if g == nil { // a missing answer counts as an error for histories that end with one
			g = &HistoryVerdict{Error: "no answer"}
		}
		for i := range w.Steps {
			steps++
			var there, here StepResult
			here = w.Steps[i]
			missing := i >= len(g.Steps)
			if !missing {
				there = g.Steps[i]
			}
			for _, a := range aspects {
				t := tallies[a]
				t.all++
				if w.Any != nil && i >= *w.Any || missing && w.Error != "" && g.Error != "" || !missing && stepAgrees(a, &here, &there, *slack) {
					t.same++
				} else if first == "" {
					x, y := historyAspect(a, &here), historyAspect(a, &there)
					first = fmt.Sprintf("%s step %d %s\n  want %s\n  got  %s\n", id, i, a, brief(x, y), brief(y, x))
				}
			}
		}
		if first == "" && w.Any == nil && ((w.Error == "") != (g.Error == "") || w.Error == "" && len(g.Steps) != len(w.Steps)) {
			first = fmt.Sprintf("%s error\n  want %q after %d steps\n  got  %q after %d\n", id, w.Error, len(w.Steps), g.Error, len(g.Steps))
		}
		if first == "" {
			same++
		} else if shown < *limit {
			fmt.Print(first)
			shown++
		}
	}
	bad := *minimum >= 100 && same != len(ids)
	for _, a := range aspects {
		t := tallies[a]
		pc := 100 * float64(t.same) / float64(max(t.all, 1))
		bad = bad || pc < *minimum
		fmt.Printf("%-14s %6d of %6d agree  %6.2f %%\n", a, t.same, t.all, pc)
	}
	fmt.Printf("%d histories, %d steps, %d histories agree in every step\n", len(ids), steps, same)
	if bad || steps == 0 {
		os.Exit(1)
	}
	return nil
}

func stepAgrees(aspect string, want, got *StepResult, slack float64) bool {
	x, y := historyAspect(aspect, want), historyAspect(aspect, got)
	if aspect == "gated" { // any of several plugins may be reported
		wanted, given := x.(map[string]string), y.(map[string]string)
		for _, h := range want.Gated {
			if slices.Contains(h.Or, given[h.Pod]) {
				wanted[h.Pod] = given[h.Pod]
			}
		}
	}
	return agree(aspect, x, y, slack)
}

func agree(aspect string, x, y any, slack float64) bool {
	if aspect != "left" {
		return reflect.DeepEqual(x, y)
	}
	a, b := x.(map[string]float64), y.(map[string]float64)
	for pod, left := range a {
		if other, ok := b[pod]; ok && math.Abs(left-other) > slack { // which pods are in backoff is compared separately
			return false
		}
	}
	return true
}

func historyAspect(name string, r *StepResult) any {
	switch name {
	case "popped":
		return []any{r.Popped, r.Empty, r.Skipped}
	case "result":
		return string(r.Result)
	case "message":
		head, _, _ := strings.Cut(r.Message, "preemption: [running") // errors of several nodes, in the order of goroutines
		return head
	case "nominated":
		return r.Nominated
	case "evicted":
		return sorted(r.Evicted)
	case "incomplete":
		return sorted(r.Incomplete)
	case "pending":
		return sorted(r.Pending)
	case "group":
		return groupAspect(r.Group)
	case "active":
		return sorted(r.Active)
	case "order":
		return append([]string{}, r.Active...)
	case "backoff":
		var out []string
		for _, w := range r.Backoff {
			out = append(out, w.Pod)
		}
		return sorted(out)
	case "left":
		out := map[string]float64{}
		for _, w := range r.Backoff {
			out[w.Pod] = w.Left
		}
		return out
	case "unschedulable":
		return held(r.Unschedulable)
	case "gated":
		return held(r.Gated)
	default:
		out := map[string]string{}
		for p, n := range r.Nominations {
			out[p] = n
		}
		return out
	}
}

func held(in []Held) map[string]string {
	out := map[string]string{}
	for _, h := range in {
		out[h.Pod] = strings.Join(sorted(h.Plugins), ",")
	}
	return out
}

func sorted(in []string) []string {
	out := append([]string{}, in...)
	sort.Strings(out)
	return out
}

func readHistoryVerdicts(path string) (map[string]*HistoryVerdict, []string, error) {
	r, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	out, ids := map[string]*HistoryVerdict{}, []string{}
	err = eachLine(r, func(line []byte) error {
		var v HistoryVerdict
		if err := json.Unmarshal(line, &v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out[v.ID] = &v
		ids = append(ids, v.ID)
		return nil
	})
	return out, ids, err
}
