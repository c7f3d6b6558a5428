// SPDX-License-Identifier: Apache-2.0

// diff: compares two verdict files and counts how far they agree.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
)

const verdictAspects = "gated,preFilter,rejected,scores,best,message,preemption,error"

// tally counts agreement per aspect over all pods of the wanted file.
type tally struct{ same, all int }

func runDiff(args []string) error {
	fs := flag.NewFlagSet("diff", flag.ExitOnError)
	limit := fs.Int("show", 20, "how many disagreements to print in full")
	minimum := fs.Float64("min", 100, "exit 1 when an aspect agrees on fewer percent of the pods")
	only := fs.String("aspects", verdictAspects, "what to compare")
	_ = fs.Parse(args)
	if fs.NArg() != 2 {
		return fmt.Errorf("usage: oracle diff [flags] WANT GOT")
	}
	want, err := readVerdicts(fs.Arg(0))
	if err != nil {
		return err
	}
	got, err := readVerdicts(fs.Arg(1))
	if err != nil {
		return err
	}
	aspects := strings.Split(*only, ",")
	tallies := map[string]*tally{}
	for _, a := range aspects {
		tallies[a] = &tally{}
	}
	ids := make([]string, 0, len(want))
	for id := range want {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	pods, shown := 0, 0
	for _, id := range ids {
		for name, w := range want[id] {
			pods++
			g := verdictOf(got[id], name)
			for _, a := range aspects {
				t := tallies[a]
				t.all++
				if aspectAgrees(a, &w, &g) {
					t.same++
					continue
				}
				x, y := aspect(a, &w), aspect(a, &g)
				if shown < *limit {
					fmt.Printf("%s %s %s\n  want %s\n  got  %s\n", id, name, a, brief(x, y), brief(y, x))
				}
				shown++
			}
		}
	}
	bad := false
	for _, a := range aspects {
		t := tallies[a]
		pc := 100 * float64(t.same) / float64(max(t.all, 1))
		bad = bad || pc < *minimum
		fmt.Printf("%-10s %6d of %6d agree  %6.2f %%\n", a, t.same, t.all, pc)
	}
	fmt.Printf("%d scenarios, %d pods\n", len(ids), pods)
	if bad || pods == 0 {
		os.Exit(1)
	}
	return nil
}

// verdictOf finds a pod's verdict; with an empty name the scenario's error. A missing answer counts as an error, and so
// does an error for each pod.
func verdictOf(answer map[string]PodVerdict, name string) PodVerdict {
	v, ok := answer[name]
	if ok {
		return v
	}
	for _, p := range answer {
		if name == "" && p.Error == "" {
			return v
		}
	}
	return PodVerdict{Pod: name, Error: "no verdict"}
}

func aspectAgrees(name string, want, got *PodVerdict) bool {
	if want.Any {
		return true
	}
	switch name {
	case "preemption":
		if preemptionAgrees(want, got) {
			return true
		}
	case "gated":
		for _, r := range want.GatedToo {
			if reflect.DeepEqual(&r, got.Gated) {
				return true
			}
		}
	}
	return reflect.DeepEqual(aspect(name, want), aspect(name, got))
}

// aspect returns one comparable part; a score that is missing counts as zero.
func aspect(name string, v *PodVerdict) any {
	switch name {
	case "gated":
		return v.Gated
	case "preFilter":
		return []any{v.PreFilter, strings.Join(v.Narrowed, ",")}
	case "rejected":
		if len(v.Rejected) == 0 {
			return nil
		}
		for _, r := range v.Rejected {
			sort.Strings(r.Reasons) // extended resources come in map order
		}
		return v.Rejected
	case "scores":
		out := map[string]any{}
		for n, s := range v.Scores {
			p := map[string]int64{}
			for k, x := range s.Plugins {
				if x != 0 {
					p[k] = x
				}
			}
			out[n] = []any{s.Total, p}
		}
		return out
	case "best":
		return strings.Join(v.Best, ",")
	case "message":
		head, _, _ := strings.Cut(v.Message, "preemption: [running") // errors of several nodes, in the order of goroutines
		return head
	case "filterMessage": // without PostFilter's part
		head, _, _ := strings.Cut(v.Message, " no new claims to deallocate")
		return head
	case "preemption":
		return v.Preemptions
	default:
		return v.Error != ""
	}
}

// preemptionAgrees: the wanted list has all choices observed among equal candidates; each of them is accepted.
func preemptionAgrees(want, got *PodVerdict) bool {
	if len(want.Preemptions) == 0 || len(got.Preemptions) == 0 {
		return len(want.Preemptions) == len(got.Preemptions)
	}
	for _, g := range got.Preemptions {
		ok := false
		for _, w := range want.Preemptions {
			ok = ok || w.Node == g.Node && reflect.DeepEqual(w.Victims, g.Victims)
		}
		if !ok {
			return false
		}
	}
	return true
}

// brief prints x; of a map only the entries that differ from other's.
func brief(x, other any) string {
	v, o := reflect.ValueOf(x), reflect.ValueOf(other)
	if v.IsValid() && v.Kind() == reflect.Map {
		part := map[string]any{}
		for _, k := range v.MapKeys() {
			var ov reflect.Value
			if o.IsValid() && o.Kind() == reflect.Map {
				ov = o.MapIndex(k)
			}
			if !ov.IsValid() || !reflect.DeepEqual(v.MapIndex(k).Interface(), ov.Interface()) {
				part[k.String()] = v.MapIndex(k).Interface()
			}
			if len(part) == 3 {
				break
			}
		}
		x = part
	}
	b, _ := json.Marshal(x)
	return fmt.Sprintf("%.600s", b)
}

func readVerdicts(path string) (map[string]map[string]PodVerdict, error) {
	r, err := open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := map[string]map[string]PodVerdict{}
	return out, eachLine(r, func(line []byte) error {
		var v Verdict
		if err := json.Unmarshal(line, &v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		m := map[string]PodVerdict{}
		if v.Error != "" {
			m[""] = PodVerdict{Error: v.Error}
		}
		for _, p := range v.Pods {
			m[p.Pod] = p
		}
		out[v.ID] = m
		return nil
	})
}
