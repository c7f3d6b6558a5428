// SPDX-License-Identifier: Apache-2.0

// kube-scheduler's /metrics compared with berth's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// notOurs are metrics of kube-scheduler that berth does not have; tools/cluster/serve/README.md has the reasons. A name
// that ends in _ is a prefix.
var notOurs = []string{"aggregator_", "apiextensions_", "apiserver_", "authenticated_user_requests", "authentication_", "authorization_", "go_", "informer_", "node_collector_",
	"rest_client_transport_cache_entries", "rest_client_transport_cert_rotation_gc_calls_total", "rest_client_transport_create_calls_total",
	"scheduler_batch_", "scheduler_get_node_hint_", "scheduler_store_schedule_results_"}

func isOurs(name string) bool {
	return name == "go_threads" || !slices.ContainsFunc(notOurs, func(other string) bool {
		return name == other || (strings.HasSuffix(other, "_") && strings.HasPrefix(name, other))
	})
}

// metricsOf creates pods, one of which does not fit, and reads the metrics.
func (s *suite) metricsOf(ctx context.Context, start func(context.Context, schedulerOptions) (*process, error)) (map[string]*dto.MetricFamily, error) {
	x, err := start(ctx, schedulerOptions{args: openDebug})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.makeNodes(ctx, 3), s.makePods(ctx, "p", 10, "100m"), s.makePods(ctx, "whale", 1, "1000"), s.waitBound(ctx, time.Minute, 10)); err != nil {
		return nil, err
	}
	var families map[string]*dto.MetricFamily
	err = eventually(ctx, time.Minute, func() error {
		status, body, err := x.get(ctx, "/metrics")
		if err != nil || status != 200 {
			return fmt.Errorf("/metrics: %d %v", status, err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		if families, err = parser.TextToMetricFamilies(strings.NewReader(body)); err != nil {
			return err
		}
		if families["scheduler_unschedulable_pods"].GetMetric() == nil || families["scheduler_pod_scheduling_sli_duration_seconds"].GetMetric() == nil {
			return errors.New("nothing is said of the pods yet")
		}
		return nil
	})
	return families, errors.Join(err, x.end(), s.clean(ctx), s.wipeAll(ctx))
}

// shapesOf lists label sets and bucket bounds.
func shapesOf(family *dto.MetricFamily) []string {
	seen := map[string]bool{}
	for _, m := range family.GetMetric() {
		var names, bounds []string
		for _, l := range m.GetLabel() {
			names = append(names, l.GetName())
		}
		sort.Strings(names)
		for _, b := range m.GetHistogram().GetBucket() {
			bounds = append(bounds, fmt.Sprint(b.GetUpperBound()))
		}
		seen[fmt.Sprint(names, " ", bounds)] = true
	}
	var shapes []string
	for shape := range seen {
		shapes = append(shapes, shape)
	}
	sort.Strings(shapes)
	return shapes
}

var selector = regexp.MustCompile(`\b((?:berth|scheduler)_\w+)(?:\{(\w+)="(\w+)"\})?`)

// alertsAsk lists the series that alerts of the manifests use and that do not exist.
func (s *suite) alertsAsk(got map[string]*dto.MetricFamily) (wrong error) {
	alerts, err := os.ReadFile(filepath.Join(s.deploy, "alerts.yaml"))
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(alerts), "\n") {
		_, expr, found := strings.Cut(line, " expr: ")
		asked := selector.FindAllStringSubmatch(expr, -1)
		if found && len(asked) == 0 {
			wrong = errors.Join(wrong, fmt.Errorf("alerts.yaml: %s asks for nothing", expr))
		}
		for _, want := range asked {
			if !slices.ContainsFunc(got[want[1]].GetMetric(), func(m *dto.Metric) bool {
				return want[2] == "" || slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == want[2] && l.GetValue() == want[3] })
			}) {
				wrong = errors.Join(wrong, fmt.Errorf("alerts.yaml asks for %s, which is not there", want[0]))
			}
		}
	}
	return wrong
}

func metricsCase(ctx context.Context, s *suite) error {
	want, err := s.metricsOf(ctx, s.startReal)
	if err != nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	got, err := s.metricsOf(ctx, func(ctx context.Context, o schedulerOptions) (*process, error) {
		return s.startBerth(ctx, "berth", o)
	})
	if err != nil {
		return fmt.Errorf("berth: %w", err)
	}
	wrong := []error{s.alertsAsk(got)}
	for name, family := range want {
		ours, there := got[name]
		switch {
		case !isOurs(name):
		case !there:
			wrong = append(wrong, fmt.Errorf("%s is not there", name))
		case ours.GetType() != family.GetType() || ours.GetHelp() != family.GetHelp():
			wrong = append(wrong, fmt.Errorf("%s is %v, %q, not %v, %q", name, ours.GetType(), ours.GetHelp(), family.GetType(), family.GetHelp()))
		case !slices.Equal(shapesOf(ours), shapesOf(family)):
			wrong = append(wrong, fmt.Errorf("%s has %v, not %v", name, shapesOf(ours), shapesOf(family)))
		}
	}
	return errors.Join(wrong...)
}
