// SPDX-License-Identifier: Apache-2.0

// configurations: kube-scheduler's result for a configuration file with some feature gates: its error, or the configuration
// with every default and each profile's plugins by extension point, with their weights. Gates are per process, so one
// process answers the cases with equal gates.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	basecompatibility "k8s.io/component-base/compatibility"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// ConfigurationCase is one case.
type ConfigurationCase struct {
	Gates string `json:"gates"`
	Text  string `json:"text"`
}

func runConfigurations(args []string) error {
	fs := flag.NewFlagSet("configurations", flag.ExitOnError)
	in := fs.String("in", "-", "cases, one JSON document a line: gates, text")
	child := fs.Bool("gates-of-first", false, "set the first case's gates in this process, and answer all cases with them")
	_ = fs.Parse(args)
	cases, err := readCases(*in)
	if err != nil {
		return err
	}
	answers := make([]string, len(cases))
	if *child {
		gates := setComponentGates(cases[0].Gates)
		for i, c := range cases {
			answers[i] = answerConfiguration(c, gates)
		}
	} else if err := askChildren(cases, answers); err != nil {
		return err
	}
	_, err = fmt.Println(strings.Join(answers, "\n"))
	return err
}

func readCases(name string) ([]ConfigurationCase, error) {
	file := os.Stdin
	if name != "-" {
		var err error
		if file, err = os.Open(name); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	var cases []ConfigurationCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var c ConfigurationCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, errors.New("there are no cases")
	}
	return cases, lines.Err()
}

// askChildren answers the cases in their order, those with equal gates by one process.
func askChildren(cases []ConfigurationCase, answers []string) error {
	of := map[string][]int{}
	for i, c := range cases {
		of[c.Gates] = append(of[c.Gates], i)
	}
	for _, which := range of {
		var asked bytes.Buffer
		for _, i := range which {
			_ = json.NewEncoder(&asked).Encode(cases[i])
		}
		cmd := exec.Command(os.Args[0], "configurations", "-gates-of-first")
		cmd.Stdin, cmd.Stderr = &asked, os.Stderr
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if err != nil || len(lines) != len(which) {
			return fmt.Errorf("gates %q: %d answers to %d cases: %v", cases[which[0]].Gates, len(lines), len(which), err)
		}
		for n, i := range which {
			answers[i] = lines[n]
		}
	}
	return nil
}

// setComponentGates does the same as the flag --feature-gates.
func setComponentGates(gates string) error {
	registry := basecompatibility.NewComponentGlobalsRegistry()
	if err := registry.Register(basecompatibility.DefaultKubeComponent, compatibility.DefaultBuildEffectiveVersion(), utilfeature.DefaultMutableFeatureGate); err != nil {
		return err
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	registry.AddFlags(fs)
	if gates != "" {
		if err := fs.Lookup("feature-gates").Value.Set(gates); err != nil {
			return err
		}
	}
	if err := registry.Set(); err != nil {
		return err
	}
	return utilerrors.NewAggregate(registry.Validate())
}

func answerConfiguration(c ConfigurationCase, gates error) string {
	var out any
	err := gates
	if err != nil {
		err = fmt.Errorf("gates: %w", err)
	} else {
		out, err = loadedConfiguration([]byte(c.Text))
	}
	if err != nil {
		out = map[string]string{"error": err.Error()}
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(line.String(), "\n")
}

// loadedConfiguration does the same as loadConfig and Validate of cmd/kube-scheduler/app/options, and then New.
func loadedConfiguration(text []byte) (answer any, err error) {
	defer func() {
		if what := recover(); what != nil { // an upstream bug: 1.35 does not check Fit's scoringStrategy for nil
			err = fmt.Errorf("panic: %v", what)
		}
	}()
	obj, gvk, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s: ", gvk)
	}
	cfg.TypeMeta.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	for i := range cfg.Extenders { // New does the same to its own copies
		if cfg.Extenders[i].HTTPTimeout.Duration == 0 {
			cfg.Extenders[i].HTTPTimeout.Duration = scheduler.DefaultExtenderTimeout
		}
	}
	shown, err := writtenConfiguration(cfg) // before New adds the resources that extenders make Fit ignore
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := fake.NewClientset()
	sched, err := scheduler.New(ctx, client, newInformers(client), nil, newRecorder, scheduler.WithProfiles(cfg.Profiles...), scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithExtenders(cfg.Extenders...), scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds), scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore))
	if err != nil {
		return nil, err
	}
	profiles := []json.RawMessage{}
	for i := range cfg.Profiles {
		profiles = append(profiles, listedPlugins(sched.Profiles[cfg.Profiles[i].SchedulerName].ListPlugins(), &cfg.Profiles[i]))
	}
	return map[string]any{"config": shown, "profiles": profiles}, nil
}

// writtenConfiguration is the configuration as a file, without empty fields.
func writtenConfiguration(cfg *config.KubeSchedulerConfiguration) (any, error) {
	info, _ := runtime.SerializerInfoForMediaType(configscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	text, err := runtime.Encode(configscheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion), cfg)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var all map[string]any
	err = decoder.Decode(&all)
	withoutEmpty(all)
	return all, err
}

// unsaid are fields that berth leaves out when they are zero.
var unsaid = map[string]bool{"weight": true, "score": true, "utilization": true, "ignorePreferredTermsOfExistingPods": true}

func withoutEmpty(value any) {
	if all, ok := value.(map[string]any); ok {
		for key, v := range all {
			items, many := v.([]any)
			if withoutEmpty(v); v == nil || v == "" || many && len(items) == 0 || isPoint[key] && reflect.DeepEqual(v, map[string]any{}) || unsaid[key] && (v == json.Number("0") || v == false) {
				delete(all, key)
			}
		}
	} else if all, ok := value.([]any); ok {
		for i := range all {
			withoutEmpty(all[i])
		}
	}
}

// pointsInOrder are the extension points in berth's order.
var pointsInOrder = []string{"PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind",
	"PlacementGenerate", "PlacementScore", "PodGroupPostFilter"}

var isPoint = map[string]bool{"preference": true}

func init() {
	for _, point := range pointsInOrder {
		isPoint[fieldOf(point)] = true
	}
}

func fieldOf(point string) string { return strings.ToLower(point[:1]) + point[1:] }

func quoted(names []string) string {
	text, _ := json.Marshal(names)
	return string(text)
}

func listedPlugins(plugins *config.Plugins, profile *config.KubeSchedulerProfile) json.RawMessage {
	ignored := []string{}
	for _, pc := range profile.PluginConfig {
		if args, ok := pc.Args.(*config.NodeResourcesFitArgs); ok {
			ignored = append(ignored, args.IgnoredResources...)
		}
	}
	out := `{"ignoredResources":` + quoted(ignored)
	for _, point := range pointsInOrder {
		set := reflect.ValueOf(plugins).Elem().FieldByName(point)
		if !set.IsValid() { // a later release's point
			continue
		}
		names := []string{}
		for _, p := range set.Interface().(config.PluginSet).Enabled {
			name := p.Name
			if p.Weight != 0 {
				name += fmt.Sprintf("=%d", p.Weight)
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			out += fmt.Sprintf(`,"%s":%s`, fieldOf(point), quoted(names))
		}
	}
	return json.RawMessage(out + "}")
}
