// SPDX-License-Identifier: Apache-2.0

// shrink: finds the smallest scenario or history for which a program still differs from kube-scheduler in the same way.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// shrinker holds the current case. A case with steps is a history.
type shrinker struct {
	now     object
	history bool
	kind    string // the first aspect that differs
	other   []string
	dir     string
	tries   int
	slack   float64
}

func runShrink(args []string) error {
	fs := flag.NewFlagSet("shrink", flag.ExitOnError)
	in := fs.String("in", "-", "scenarios or histories, one JSON document a line; or one document")
	id := fs.String("id", "", "which of them; the first one otherwise")
	with := fs.String("with", "berth", "the other one: a command that takes `verdict FILE` or `history FILE` (these words may be given, too)")
	any := fs.Bool("any", false, "whatever differs; otherwise the first difference must stay one of the same aspect")
	slack := fs.Float64("slack", 1, "by how many seconds left may differ")
	async := fs.Bool("async-preemption", true, "for histories, as in the command history")
	gatesFlag(fs)
	_ = fs.Parse(args)
	data, err := readCase(*in, *id)
	if err != nil {
		return err
	}
	s := &shrinker{now: data, slack: *slack, other: strings.Fields(*with)}
	s.history = data["steps"] != nil
	mode := "verdict"
	if gates, _ := data["featureGates"].(string); gates != "" { // the case's own gates; flags take precedence
		featureGates = gates + "," + featureGates
	}
	if s.history {
		mode = "history"
		featureGates = fmt.Sprintf("SchedulerAsyncPreemption=%t,", *async) + featureGates
	}
	if s.other[len(s.other)-1] != mode {
		s.other = append(s.other, mode)
	}
	if err := setGates(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "shrink"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	differ, err := s.differences([]object{data})
	if err != nil {
		return err
	}
	if differ[0] == "" {
		return fmt.Errorf("%v: both answer the same", data["id"])
	}
	s.kind = differ[0]
	if *any {
		s.kind = ""
	}
	fmt.Fprintf(os.Stderr, "%v differs in %s\n", data["id"], differ[0])
	for before := -1; before != size(s.now); { // a smaller part may allow removals elsewhere
		before = size(s.now)
		for _, part := range []string{"steps", "pending", "objects", "steps"} {
			if err := s.fewer(part); err != nil {
				return err
			}
		}
		if err := s.thinner(); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%d cases tried, %d bytes left\n", s.tries, size(s.now))
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(s.now)
}

func readCase(path, id string) (object, error) {
	r, err := open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := json.NewDecoder(r)
	d.UseNumber()
	for {
		var o object
		if err := d.Decode(&o); err != nil {
			return nil, fmt.Errorf("no case %q: %w", id, err)
		}
		if id == "" || o["id"] == id {
			return o, nil
		}
	}
}

func size(o object) int { return len(raw(plain(o))) }

// differences runs both for each case: the first aspect that differs, or "".
func (s *shrinker) differences(cases []object) ([]string, error) {
	s.tries += len(cases)
	var file strings.Builder
	for i, c := range cases {
		c = with(c, "id", fmt.Sprint("case-", i))
		b, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&file, "%s\n", b)
	}
	path := filepath.Join(s.dir, "cases.jsonl")
	if err := os.WriteFile(path, []byte(file.String()), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command(s.other[0], append(append([]string{}, s.other[1:]...), path)...)
	said, _ := cmd.Output() // it may reject some and answer the rest
	answers := filepath.Join(s.dir, "answers.jsonl")
	if err := os.WriteFile(answers, said, 0o644); err != nil {
		return nil, err
	}
	out := make([]string, len(cases))
	if s.history {
		got, _, err := readHistoryVerdicts(answers)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(strings.TrimSpace(file.String()), "\n") {
			out[i] = historyAlwaysDiffers([]byte(line), got[fmt.Sprint("case-", i)], s.slack)
		}
		return out, nil
	}
	got, err := readVerdicts(answers)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSpace(file.String()), "\n") {
		out[i] = verdictDiffers(answerScenario([]byte(line), 6, 3), got[fmt.Sprint("case-", i)])
	}
	return out, nil
}

// timesAsked is how often kube-scheduler must differ: removals make many cases with random results.
const timesAsked = 8

func historyAlwaysDiffers(line []byte, got *HistoryVerdict, slack float64) string {
	o := &liveOptions{}
	want := answerHistory(line, o)
	differs := historyDiffers(want, got, slack)
	for n := 0; n < timesAsked-1 && differs != ""; n++ {
		want.alsoSeen(answerHistory(line, o.furtherPlay(n)))
		differs = historyDiffers(want, got, slack)
	}
	return differs
}

// Cases that kube-scheduler cannot answer do not count: removals make many of them.
func historyDiffers(want, got *HistoryVerdict, slack float64) string {
	if want.Error != "" || want.Any != nil || got == nil || got.Error != "" {
		return ""
	}
	for i := range want.Steps {
		for _, a := range historyAspects {
			if i >= len(got.Steps) || !stepAgrees(a, &want.Steps[i], &got.Steps[i], slack) {
				return a
			}
		}
	}
	return ""
}

func verdictDiffers(want *Verdict, got map[string]PodVerdict) string {
	if want.Error != "" || got == nil || got[""].Error != "" {
		return ""
	}
	for i := range want.Pods {
		w := &want.Pods[i]
		g := verdictOf(got, w.Pod)
		for _, a := range strings.Split(verdictAspects, ",") {
			if !aspectAgrees(a, w, &g) {
				return a
			}
		}
	}
	return ""
}

func with(o object, key string, value any) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	c[key] = value
	return c
}

// good returns which cases still differ in the same way, all or only the first ones.
func (s *shrinker) good(cases []object, all bool) ([]int, error) {
	const atOnce = 24
	var out []int
	for from := 0; from < len(cases) && (all || len(out) == 0); from += atOnce {
		differ, err := s.differences(cases[from:min(from+atOnce, len(cases))])
		if err != nil {
			return nil, err
		}
		for i, d := range differ {
			if d != "" && (s.kind == "" || d == s.kind) {
				out = append(out, from+i)
			}
		}
	}
	return out, nil
}

// fewer removes parts of one list: halves first, then smaller parts, the last ones first.
func (s *shrinker) fewer(part string) error {
	all, _ := s.now[part].(list)
	for n := 2; len(all) > 0; {
		length := max(1, len(all)/n)
		var cases []object
		for to := len(all); to > 0; to -= length {
			cases = append(cases, with(s.now, part, slices.Concat(all[:max(0, to-length)], all[to:])))
		}
		good, err := s.good(cases, false)
		switch {
		case err != nil:
			return err
		case len(good) > 0:
			s.now = cases[good[0]]
			all = s.now[part].(list)
		case length == 1:
			return nil
		default:
			n *= 2
		}
	}
	return nil
}

// thinner removes fields, the outermost first.
func (s *shrinker) thinner() error {
	for depth := 3; depth < 14; depth++ {
		for {
			var paths [][]any
			for _, part := range []string{"config", "objects", "steps"} {
				if v, ok := s.now[part]; ok {
					paths = append(paths, pathsTo(v, []any{part}, depth)...)
				}
			}
			var cases []object
			for _, p := range paths {
				cases = append(cases, without(s.now, p).(object))
			}
			good, err := s.good(cases, true)
			if err != nil {
				return err
			}
			if len(good) == 0 {
				break
			}
			together := s.now
			for _, i := range slices.Backward(good) { // from the back: indices of earlier elements stay valid
				together = without(together, paths[i]).(object)
			}
			both, err := s.good([]object{together}, true)
			if err != nil {
				return err
			}
			if len(both) > 0 {
				s.now = together
			} else {
				s.now = cases[good[0]]
			}
		}
	}
	return nil
}

// pathsTo lists the removable fields at this depth of v: not those that make it an object.
func pathsTo(v any, at []any, depth int) [][]any {
	if len(at) == depth {
		last := at[len(at)-1]
		if last == "apiVersion" || last == "kind" || last == "metadata" || last == "cycle" || last == "cycleBegin" || last == "cycleEnd" || last == "advance" ||
			at[len(at)-2] == "metadata" && (last == "name" || last == "namespace") {
			return nil
		}
		return [][]any{at}
	}
	var out [][]any
	switch v := v.(type) {
	case object:
		keys := []string{}
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			out = append(out, pathsTo(v[k], append(slices.Clone(at), k), depth)...)
		}
	case list:
		for i := range v {
			out = append(out, pathsTo(v[i], append(slices.Clone(at), i), depth)...)
		}
	}
	return out
}

func without(v any, path []any) any {
	switch v := v.(type) {
	case object:
		k := path[0].(string)
		c := with(v, k, nil)
		if len(path) == 1 {
			delete(c, k)
		} else {
			c[k] = without(v[k], path[1:])
		}
		return c
	case list:
		i := path[0].(int)
		if len(path) == 1 {
			return slices.Concat(v[:i], v[i+1:])
		}
		c := slices.Clone(v)
		c[i] = without(v[i], path[1:])
		return c
	}
	return v
}
