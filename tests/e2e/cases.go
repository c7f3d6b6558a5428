// SPDX-License-Identifier: Apache-2.0

// The cases besides the families: many pods, replicas, servers that fail, faults, permissions.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var testCases = slices.Concat(familyCases(), extenderCases(), rotationCases(), manifestCases(), releaseCases(), gangCases(), []testCase{
	{name: "events", help: "what kubectl describe shows of a pod is what it shows with kube-scheduler", run: eventsCase},
	{name: "endpoints", help: "health, metrics for a real parser, configz", run: endpointsCase},
	{name: "metrics", help: "the metrics of kube-scheduler, by their names, types, helps, labels and buckets", run: metricsCase},
	{name: "deployments", help: "controllers make, scale and delete pods meanwhile", run: deploymentsCase},
	{name: "node-comes-later", help: "pods that fit nowhere are placed when a node comes, at once", run: nodeComesCase},
	{name: "nodes-come-back", help: "nodes are deleted and made again under their names while pods come", run: nodesComeBackCase},
	{name: "many", help: "1,000 nodes and 10,000 pods, watched by another client", run: manyCase},
	{name: "leader-killed", help: "two replicas, the leader is killed", run: leaderKilledCase},
	{name: "leader-stopped", help: "two replicas, the leader is frozen for longer than its lease", run: leaderStoppedCase},
	{name: "leader-leaves", help: "two replicas, the leader ends in order: the other one takes over at once", run: leaderLeavesCase},
	{name: "server-restarts", help: "kube-apiserver is killed and started again", run: serverRestartsCase},
	{name: "compaction", help: "etcd forgets what the watches would resume from", run: compactionCase},
	{name: "faults", help: "minutes behind a proxy that breaks everything", run: faultsCase},
	{name: "hostile-objects", help: "objects that a server takes and nobody expects: ledger and API agree, nothing leaks, nobody waits without a word", run: hostileCase},
	{name: "device-results", help: "what is written of ResourceClaims is what kube-scheduler writes", run: devicesCase},
	{name: "node-resources", help: "devices that count as node resources: pod status and messages as by kube-scheduler, cleared when a binding fails", run: nodeResourcesCase},
	{name: "admission", help: "pods and claims of manifests are as an API server and controllers make them, field by field; both refuse the same", run: admissionCase},
	{name: "capacity", help: "of a Deployment that is scaled up kube-scheduler binds as many pods as berth capacity says", run: capacityCase},
	{name: "older-server", help: "a server without devices, capacities and pod groups: said once, and everything else goes on", run: olderServerCase},
	{name: "rights", help: "rights are taken away one by one: said clearly, no crash, and all is well when they are back", run: rightsCase},
	{name: "wrong-kubeconfig", help: "a kubeconfig that is none", run: wrongKubeconfigCase},
	{name: "shadow", help: "beside kube-scheduler: decides, binds nothing, and tells how often both agree", run: shadowCase},
})

func numberedNode(i int) string {
	return node(fmt.Sprintf("n-%04d", i), fmt.Sprintf(", topology.kubernetes.io/zone: z%d", i%3), "", "")
}

func (s *suite) makeNodes(ctx context.Context, count int) error {
	return s.makeMany(ctx, count, numberedNode)
}

func (s *suite) makePods(ctx context.Context, prefix string, count int, amount string) error {
	return s.makeMany(ctx, count, func(i int) string {
		return pod(fmt.Sprintf("%s-%05d", prefix, i), "app: "+prefix, cpu(amount), "")
	})
}

// makeMany creates objects; clean deletes them with all others of their kind.
func (s *suite) makeMany(ctx context.Context, count int, text func(int) string) error {
	return inParallel(ctx, 16, count, func(ctx context.Context, _, i int) error {
		objects, err := documents(text(i))
		if err != nil {
			return err
		}
		client, _, err := s.client(objects[0])
		if err != nil {
			return err
		}
		_, err = client.Create(ctx, objects[0], metav1.CreateOptions{})
		return err
	})
}

// settled: every pod is bound once, no node exceeds its allocatable, and the ledger equals the API.
func (s *suite) settled(ctx context.Context, limit time.Duration, r *recorder, count int, leader *process) error {
	if err := s.waitBound(ctx, limit, count); err != nil {
		return errors.Join(err, r.verdict())
	}
	if err := r.verdict(); err != nil {
		return err
	}
	if leader == nil {
		return nil
	}
	return eventually(ctx, 20*time.Second, func() error {
		status, body, err := leader.get(ctx, "/debug/compare")
		if err != nil {
			return err
		}
		var sides struct {
			DifferenceCount, APIPods               *int
			LedgerScheduledPods, LedgerAssumedPods *int
		}
		if err := json.Unmarshal([]byte(body), &sides); err != nil || status != 200 || sides.DifferenceCount == nil || sides.LedgerScheduledPods == nil || sides.LedgerAssumedPods == nil {
			return fmt.Errorf("/debug/compare: %d %v %s", status, err, body)
		}
		if *sides.DifferenceCount != 0 || *sides.APIPods != *sides.LedgerScheduledPods || *sides.LedgerAssumedPods != 0 {
			return fmt.Errorf("/debug/compare: %s", body)
		}
		return nil
	})
}

var openDebug = []string{"--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics,/metrics/*,/configz,/flagz,/statusz,/debug/*", "-v=2"}

func (s *suite) startOpen(ctx context.Context, name string, o schedulerOptions) (*process, error) {
	o.args = append(o.args, openDebug...)
	return s.startBerth(ctx, name, o)
}

var uids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// eventsOf lists what kubectl describe shows, without times and names: type, reason, action, note, reporter.
func (s *suite) eventsOf(ctx context.Context) ([]string, error) {
	list, err := s.admin.EventsV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range list.Items {
		e := &list.Items[i]
		if e.Regarding.Kind == "Pod" && strings.HasPrefix(e.ReportingController, "default-scheduler") {
			all = append(all, fmt.Sprintf("%s %s %s %s %q", e.Regarding.Name, e.Type, e.Reason, e.Action, uids.ReplaceAllString(e.Note, "UID")))
		}
	}
	sort.Strings(all)
	return all, nil
}

func (s *suite) playEvents(ctx context.Context) ([]string, error) {
	f := families[0]
	for _, other := range families {
		if other.name == "preemption" {
			f = other
		}
	}
	err := s.admin.EventsV1().Events(metav1.NamespaceDefault).DeleteCollection(ctx, now0(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := s.play(ctx, f); err != nil {
		return nil, err
	}
	time.Sleep(2 * time.Second) // Events are written last, and nothing reports that all have arrived.
	return s.eventsOf(ctx)
}

func eventsCase(ctx context.Context, s *suite) error {
	real, err := s.startReal(ctx, schedulerOptions{})
	if err != nil {
		return err
	}
	want, err := s.playEvents(ctx)
	if err = errors.Join(err, real.end(), s.clean(ctx)); err != nil {
		return err
	}
	if _, err := s.startBerth(ctx, "berth", schedulerOptions{}); err != nil {
		return err
	}
	got, err := s.playEvents(ctx)
	if err != nil {
		return err
	}
	if strings.Join(want, "\n") != strings.Join(got, "\n") {
		return fmt.Errorf("kube-scheduler:\n%s\nberth:\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	return nil
}

// checkProfiles: pprof can read berth's samples, with names from berth's file; a second concurrent profile is rejected.
func (s *suite) checkProfiles(ctx context.Context, b *process) error {
	type answer struct {
		status int
		body   string
		err    error
	}
	first := make(chan answer, 1)
	go func() {
		status, body, err := b.get(ctx, "/debug/pprof/profile?seconds=4")
		for status == 500 && err == nil { // the second was first
			status, body, err = b.get(ctx, "/debug/pprof/profile?seconds=4")
		}
		first <- answer{status, body, err}
	}()
	err := eventually(ctx, 20*time.Second, func() error {
		status, body, err := b.get(ctx, "/debug/pprof/profile?seconds=1")
		if err != nil || status != 500 || !strings.Contains(body, "cpu profiling already in use") {
			return fmt.Errorf("a second profile: %d %v %.100s", status, err, body)
		}
		return nil
	})
	if err := errors.Join(err, s.makePods(ctx, "profiled", 200, "1m"), s.waitBound(ctx, time.Minute, 210)); err != nil {
		return err
	}
	profile := <-first
	if profile.err != nil || profile.status != 200 {
		return fmt.Errorf("/debug/pprof/profile: %d %v %.100s", profile.status, profile.err, profile.body)
	}
	file := filepath.Join(s.dir, "berth.prof")
	if err := os.WriteFile(file, []byte(profile.body), 0o600); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-raw", s.berth+"-run", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "berth-run") || !strings.Contains(string(out), "PeriodType: cpu") {
		return fmt.Errorf("pprof cannot read %s: %w %s", file, err, out)
	}
	for path, part := range map[string]string{"/debug/pprof/": "/debug/pprof/profile", "/debug/pprof/heap": "No heap profile: ", "/debug/pprof/threads": "schedule"} {
		status, body, err := b.get(ctx, path)
		if err != nil || status != 200 || !strings.Contains(body, part) {
			return fmt.Errorf("%s: %d %v %.200s", path, status, err, body)
		}
	}
	return nil
}

func endpointsCase(ctx context.Context, s *suite) error {
	b, err := s.startOpen(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	if err := errors.Join(s.makeNodes(ctx, 3), s.makePods(ctx, "p", 10, "100m"), s.waitBound(ctx, time.Minute, 10)); err != nil {
		return err
	}
	for path, part := range map[string]string{"/healthz": "ok", "/livez": "ok", "/readyz?verbose": "[+]", "/configz": "kubescheduler.config.k8s.io/v1",
		"/metrics/slis": "kubernetes_healthcheck", "/metrics/resources": "kube_pod_resource_request", "/flagz": "kube-scheduler flagz", "/statusz": "kube-scheduler statusz",
		"/version": "gitVersion"} {
		status, body, err := b.get(ctx, path)
		if err != nil || status != 200 || !strings.Contains(body, part) {
			return fmt.Errorf("%s: %d %v %s", path, status, err, body)
		}
	}
	status, body, err := b.get(ctx, "/metrics")
	if err != nil || status != 200 {
		return fmt.Errorf("/metrics: %d %v", status, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("/metrics does not parse: %w", err)
	}
	attempts := 0.0
	for _, m := range families["scheduler_schedule_attempts_total"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "result" && l.GetValue() == "scheduled" {
				attempts += m.GetCounter().GetValue()
			}
		}
	}
	if attempts != 10 {
		return fmt.Errorf("scheduler_schedule_attempts_total{result=scheduled} is %v after 10 pods", attempts)
	}
	if err := s.checkProfiles(ctx, b); err != nil {
		return err
	}
	return s.strangersAreRefused(ctx)
}

// strangersAreRefused: metrics and debugging require permission unless their paths are open.
func (s *suite) strangersAreRefused(ctx context.Context) error {
	b, err := s.startBerth(ctx, "closed", schedulerOptions{})
	if err != nil {
		return err
	}
	for _, path := range []string{"/metrics", "/configz", "/debug/compare", "/debug/pprof/", "/debug/pprof/profile?seconds=1", "/debug/pprof/heap", "/debug/pprof/threads"} {
		if status, body, err := b.get(ctx, path); err != nil || (status != 401 && status != 403) {
			return fmt.Errorf("%s without credentials: %d %v %s", path, status, err, body)
		}
	}
	return nil
}

func deploymentsCase(ctx context.Context, s *suite) error {
	b, err := s.startOpen(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	if err := s.makeNodes(ctx, 20); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	for i := range 5 {
		if err := s.apply(ctx, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: d-%d, namespace: default}
spec:
  replicas: 20
  selector: {matchLabels: {app: d-%d}}
  template:
    metadata: {labels: {app: d-%d}}
    spec: {containers: [{name: c, image: example/pause:1%s}]}
`, i, i, i, cpu("100m"))); err != nil {
			return err
		}
	}
	if err := s.waitBound(ctx, time.Minute, 100); err != nil {
		return err
	}
	for i := range 5 {
		replicas := []int32{0, 40, 10, 60, 30}[i]
		patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
		_, err := s.admin.AppsV1().Deployments(metav1.NamespaceDefault).Patch(ctx, fmt.Sprintf("d-%d", i), types.MergePatchType,
			[]byte(patch), metav1.PatchOptions{})
		if err != nil {
			return err
		}
	}
	err = eventually(ctx, time.Minute, func() error {
		pods, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) != 140 {
			err = fmt.Errorf("%d pods, not 140", len(pods.Items))
		}
		return err
	})
	if err != nil {
		return err
	}
	err = s.settled(ctx, time.Minute, r, 140, b)
	for i := range 5 {
		err = errors.Join(err, s.admin.AppsV1().Deployments(metav1.NamespaceDefault).Delete(ctx, fmt.Sprintf("d-%d", i), metav1.DeleteOptions{}))
	}
	return err
}

func nodeComesCase(ctx context.Context, s *suite) error {
	b, err := s.startOpen(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	if err := s.makePods(ctx, "p", 20, "100m"); err != nil {
		return err
	}
	if text, err := s.waitDecided(ctx, "default", "p-00019"); err != nil || !strings.Contains(text, "no nodes available") {
		return fmt.Errorf("%q %v", text, err)
	}
	if err := s.makeNodes(ctx, 1); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	return s.settled(ctx, 15*time.Second, r, 20, b)
}

func nodesComeBackCase(ctx context.Context, s *suite) error {
	b, err := s.startOpen(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	if err := s.makeNodes(ctx, 30); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	for round := range 5 {
		if err := s.makePods(ctx, fmt.Sprintf("r%d", round), 50, "100m"); err != nil {
			return err
		}
		for i := range 10 {
			name := fmt.Sprintf("n-%04d", (round*7+i*3)%30)
			if err := s.admin.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		if err := s.makeMany(ctx, 10, func(i int) string { return numberedNode((round*7 + i*3) % 30) }); err != nil {
			return err
		}
	}
	// The pod garbage collector may delete pods of removed nodes; the remaining ones must be bound.
	err = eventually(ctx, time.Minute, func() error {
		pods, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName == "" {
				return fmt.Errorf("pod %s is not bound", pods.Items[i].Name)
			}
		}
		return nil
	})
	return errors.Join(err, s.settled(ctx, time.Second, r, 0, b))
}

func manyCase(ctx context.Context, s *suite) error {
	b, err := s.startOpen(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	if err := s.makeNodes(ctx, 1000); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	if err := s.makePods(ctx, "p", 10000, "100m"); err != nil {
		return err
	}
	return s.settled(ctx, 2*time.Minute, r, 10000, b)
}

const election = "{leaderElect: true, leaseDuration: 5s, renewDeadline: 3s, retryPeriod: 1s, resourceName: berth-e2e, resourceNamespace: kube-system, resourceLock: leases}"

// replicas starts two, waits until one leads, and returns it first.
func (s *suite) replicas(ctx context.Context) (leader, other *process, err error) {
	o := schedulerOptions{leader: election, args: openDebug}
	if leader, err = s.startBerth(ctx, "one", o); err != nil {
		return
	}
	if err = s.waitLeader(ctx, leader); err != nil {
		return
	}
	if other, err = s.launchBerth("two", o); err != nil {
		return
	}
	err = eventually(ctx, time.Minute, func() error {
		status, body, err := other.get(ctx, "/metrics")
		if err == nil && (status != 200 || !strings.Contains(body, "leader_election_master_status")) {
			err = fmt.Errorf("the standby: %d", status)
		}
		return err
	})
	return
}

func (s *suite) waitLeader(ctx context.Context, x *process) error {
	return eventually(ctx, 20*time.Second, func() error {
		_, body, err := x.get(ctx, "/metrics")
		if err == nil && !strings.Contains(body, `leader_election_master_status{name="kube-scheduler"} 1`) {
			err = fmt.Errorf("%s does not lead", x.name)
		}
		return err
	})
}

// takeover creates pods while something happens to the leader.
func takeover(ctx context.Context, s *suite, befall func(leader *process) error, limit time.Duration) error {
	leader, other, err := s.replicas(ctx)
	if err != nil {
		return err
	}
	return s.takeoverBy(ctx, leader, other, other, befall, limit)
}

// takeoverBy does that with these two processes; asked is the one that compares its ledger with the API, or nil.
func (s *suite) takeoverBy(ctx context.Context, leader, other, asked *process, befall func(leader *process) error, limit time.Duration) error {
	if err := s.makeNodes(ctx, 50); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	made := make(chan error, 1)
	go func() { made <- s.makePods(ctx, "p", 1500, "100m") }()
	time.Sleep(time.Second)
	if err := befall(leader); err != nil {
		return err
	}
	began := time.Now()
	if err := s.waitLeader(ctx, other); err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Printf("     the other one leads after %.1f s\n", took.Seconds())
	if took > limit {
		return fmt.Errorf("that is more than %s", limit)
	}
	if err := <-made; err != nil {
		return err
	}
	if leader.frozen {
		_ = leader.cmd.Process.Signal(syscall.SIGCONT)
		if err := leader.endsBy(1); err != nil { // It has lost its lease.
			return err
		}
	}
	return s.settled(ctx, time.Minute, r, 1500, asked)
}

func leaderKilledCase(ctx context.Context, s *suite) error {
	return takeover(ctx, s, func(leader *process) error { leader.kill(); return nil }, 20*time.Second)
}

func leaderStoppedCase(ctx context.Context, s *suite) error {
	return takeover(ctx, s, func(leader *process) error {
		leader.frozen = true
		return leader.cmd.Process.Signal(syscall.SIGSTOP)
	}, 20*time.Second)
}

func leaderLeavesCase(ctx context.Context, s *suite) error {
	return takeover(ctx, s, func(leader *process) error { return leader.end() }, 4*time.Second)
}

func serverRestartsCase(ctx context.Context, s *suite) error {
	b, err := s.startOpen(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	if err := s.makeNodes(ctx, 50); err != nil {
		return err
	}
	if err := errors.Join(s.makePods(ctx, "p", 500, "100m"), s.waitBound(ctx, time.Minute, 100)); err != nil {
		return err
	}
	s.killAPI()
	time.Sleep(3 * time.Second)
	if err := s.startAPI(ctx); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	if err := s.makePods(ctx, "q", 500, "100m"); err != nil {
		return err
	}
	return s.settled(ctx, 2*time.Minute, r, 1000, b)
}

// compactionCase cuts the watches while etcd compacts its history, so that resuming gets 410.
func compactionCase(ctx context.Context, s *suite) error {
	proxy, err := s.startProxy("compaction.kubeconfig", 0)
	if err != nil {
		return err
	}
	defer proxy.stop()
	b, err := s.startOpen(ctx, "berth", schedulerOptions{kubeconfig: s.file("compaction.kubeconfig")})
	if err != nil {
		return err
	}
	if err := errors.Join(s.makeNodes(ctx, 20), s.makePods(ctx, "p", 100, "100m"), s.waitBound(ctx, time.Minute, 100)); err != nil {
		return err
	}
	proxy.block(true)
	err = errors.Join(wipePods(ctx, s.admin, metav1.NamespaceDefault), s.makePods(ctx, "q", 200, "100m"),
		s.admin.CoreV1().Nodes().Delete(ctx, "n-0007", metav1.DeleteOptions{}), s.compact(ctx))
	if err != nil {
		return err
	}
	s.killAPI() // Its watch cache would still have them.
	if err := s.startAPI(ctx); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	proxy.block(false)
	return errors.Join(s.settled(ctx, 2*time.Minute, r, 200, b), b.end())
}

func faultsCase(ctx context.Context, s *suite) error {
	proxy, err := s.startProxy("faults.kubeconfig", .1)
	if err != nil {
		return err
	}
	b, err := s.startOpen(ctx, "berth", schedulerOptions{kubeconfig: s.file("faults.kubeconfig")})
	if err != nil {
		return err
	}
	if err := s.makeNodes(ctx, 100); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	for round := range 30 {
		if err := s.makePods(ctx, fmt.Sprintf("f%02d", round), 100, "50m"); err != nil {
			return err
		}
		if round%3 == 2 { // Some are deleted again, bound or not.
			for i := range 20 {
				_ = s.admin.CoreV1().Pods(metav1.NamespaceDefault).Delete(ctx, fmt.Sprintf("f%02d-%05d", round-1, i), now0())
			}
		}
		time.Sleep(2 * time.Second)
	}
	proxy.calm()
	err = errors.Join(s.settled(ctx, 3*time.Minute, r, 2800, b), b.end())
	if never := proxy.stop(); len(never) > 0 && err == nil {
		err = fmt.Errorf("these faults never happened: %s", strings.Join(never, ", "))
	}
	return err
}

// rightsCase removes one resource after the other from the scheduler's role.
func rightsCase(ctx context.Context, s *suite) error {
	roles := s.admin.RbacV1().ClusterRoles()
	role, err := roles.Get(ctx, "system:kube-scheduler", metav1.GetOptions{})
	if err != nil {
		return err
	}
	defer func() { // The server's own role, as it was.
		now, err := roles.Get(context.WithoutCancel(ctx), role.Name, metav1.GetOptions{})
		if err == nil {
			now.Rules = role.Rules
			_, _ = roles.Update(context.WithoutCancel(ctx), now, metav1.UpdateOptions{})
		}
	}()
	if err := s.makeNodes(ctx, 3); err != nil {
		return err
	}
	for i, resource := range []string{"nodes", "pods", "services", "poddisruptionbudgets", "pods/binding"} {
		if err := s.withoutRight(ctx, role, resource, i); err != nil {
			return fmt.Errorf("without %s: %w", resource, err)
		}
	}
	return nil
}

func without(rules []rbacv1.PolicyRule, resource string) []rbacv1.PolicyRule {
	var left []rbacv1.PolicyRule
	for _, rule := range rules {
		next := *rule.DeepCopy()
		next.Resources = nil
		for _, r := range rule.Resources {
			if r != resource {
				next.Resources = append(next.Resources, r)
			}
		}
		if len(next.Resources) > 0 || len(rule.Resources) == 0 {
			left = append(left, next)
		}
	}
	return left
}

func (s *suite) setRules(ctx context.Context, name string, rules []rbacv1.PolicyRule) error {
	role, err := s.admin.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	role.Rules = rules
	_, err = s.admin.RbacV1().ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
	return err
}

func (s *suite) withoutRight(ctx context.Context, role *rbacv1.ClusterRole, resource string, number int) error {
	if err := s.setRules(ctx, role.Name, without(role.Rules, resource)); err != nil {
		return err
	}
	time.Sleep(time.Second) // The authorizer gets roles by its own watch.
	b, err := s.launchBerth("rights", schedulerOptions{args: openDebug})
	if err != nil {
		return err
	}
	if err := s.makePods(ctx, fmt.Sprintf("r%d", number), 2, "100m"); err != nil {
		return err
	}
	word := strings.Split(resource, "/")[0]
	err = eventually(ctx, 20*time.Second, func() error {
		text, err := os.ReadFile(b.log)
		if err == nil && (!strings.Contains(string(text), "forbidden") || !strings.Contains(string(text), word)) {
			err = fmt.Errorf("no word of it in the log:\n%s", tail(b.log, 10))
		}
		return err
	})
	if err != nil {
		return err
	}
	used := processSpent(b.cmd.Process.Pid)
	time.Sleep(2 * time.Second)
	if busy := processSpent(b.cmd.Process.Pid) - used; busy > time.Second {
		return fmt.Errorf("%s of processor time in 2 s: a busy loop", busy)
	}
	if err := s.setRules(ctx, role.Name, role.Rules); err != nil {
		return err
	}
	return errors.Join(s.waitBound(ctx, 90*time.Second, 2*(number+1)), b.end())
}

func wrongKubeconfigCase(ctx context.Context, s *suite) error {
	path := s.file("wrong.kubeconfig")
	for text, part := range map[string]string{
		"apiVersion: v1\nkind: Config\nclusters: 7\n":             "clusters",
		"apiVersion: v1\nkind: Config\ncurrent-context: nobody\n": "nobody",
		"apiVersion: v1\nkind: Config\nusers: [\n":                "wrong.kubeconfig",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		out, err := exec.CommandContext(ctx, s.berth, "run", "--kubeconfig="+path, "--leader-elect=false").CombinedOutput()
		cancel()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() <= 0 || !strings.Contains(string(out), part) {
			return fmt.Errorf("%q: %v, and it says %s", text, err, out)
		}
	}
	return nil
}

func shadowCase(ctx context.Context, s *suite) error {
	if err := s.makeNodes(ctx, 5); err != nil {
		return err
	}
	b, err := s.startOpen(ctx, "shadow", schedulerOptions{args: []string{"--shadow"}})
	if err != nil {
		return err
	}
	if err := s.makePods(ctx, "p", 10, "100m"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	pods, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Spec.NodeName != "" || len(p.Status.Conditions) > 0 || p.Status.Phase != v1.PodPending {
			return fmt.Errorf("pod %s was touched", p.Name)
		}
	}
	if _, err := s.startReal(ctx, schedulerOptions{}); err != nil {
		return err
	}
	if err := s.waitBound(ctx, time.Minute, 10); err != nil {
		return err
	}
	// One at a time, both see the same cluster and must agree, except for ties.
	for i := range 10 {
		if err := s.makeMany(ctx, 1, func(int) string { return pod(fmt.Sprintf("q-%d", i), "", cpu("300m"), "") }); err != nil {
			return err
		}
		if err := s.waitBound(ctx, time.Minute, 11+i); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	// Pods created at once are all compared.
	if err := errors.Join(s.makePods(ctx, "r", 40, "200m"), s.waitBound(ctx, time.Minute, 60)); err != nil {
		return err
	}
	return eventually(ctx, 20*time.Second, func() error {
		_, body, err := b.get(ctx, "/metrics")
		if err != nil {
			return err
		}
		agreed, all := 0, 0
		for _, line := range strings.Split(body, "\n") {
			var verdict string
			var n int
			if _, err := fmt.Sscanf(line, "berth_shadow_pods_total{verdict=%q} %d", &verdict, &n); err == nil {
				all += n
				if verdict == "same" || verdict == "tied" || verdict == "crossed" {
					agreed += n
				}
			}
		}
		log, err := os.ReadFile(b.log)
		if err != nil {
			return err
		}
		// Sometimes bindings arrive in another order than their decisions.
		if all != 60 || agreed < 50 || strings.Contains(string(log), `pod="default/q-`) {
			return fmt.Errorf("of 60 pods %d are judged, and both agree about %d\n%s", all, agreed, tail(b.log, 20))
		}
		return nil
	})
}

// olderServerCase: what a server of another version lacks is reported clearly and not requested in a loop.
func olderServerCase(ctx context.Context, s *suite) error {
	p, err := s.startProxy("older.kubeconfig", 0)
	if err != nil {
		return err
	}
	defer p.stop()
	p.lack("/apis/resource.k8s.io/", "/apis/scheduling.k8s.io/v1beta1/", "/apis/scheduling.k8s.io/v1alpha2/", "/apis/storage.k8s.io/v1/csistoragecapacities")
	b, err := s.startOpen(ctx, "berth", schedulerOptions{kubeconfig: s.file("older.kubeconfig"), args: []string{"--kubernetes-version=1.36", "--feature-gates=GenericWorkload=true"}})
	if err != nil {
		return err
	}
	if err := errors.Join(s.makeNodes(ctx, 3), s.makePods(ctx, "p", 30, "100m"), s.waitBound(ctx, time.Minute, 30)); err != nil {
		return err
	}
	text, err := os.ReadFile(b.log)
	if err != nil {
		return err
	}
	for _, words := range []string{
		"The server has no resourceclaims of resource.k8s.io/v1, resource.k8s.io/v1beta2", "Pods that name ResourceClaims wait",
		"The server has no resourceslices of resource.k8s.io/v1, resource.k8s.io/v1beta2", "No device can be allocated",
		"The server has no deviceclasses of resource.k8s.io/v1, resource.k8s.io/v1beta2",
		"The server has no podgroups of scheduling.k8s.io/v1beta1, scheduling.k8s.io/v1alpha2", "Pods that name a PodGroup wait",
		"The server has no csistoragecapacities of storage.k8s.io/v1"} {
		if strings.Count(string(text), words) != 1 {
			err = errors.Join(err, fmt.Errorf("%q is not said once", words))
		}
	}
	asked := p.lacked()
	if len(asked) != 9 {
		err = errors.Join(err, fmt.Errorf("of what the server lacks %d paths were asked for, not 9: %v", len(asked), asked))
	}
	for path, n := range asked {
		if n != 1 {
			err = errors.Join(err, fmt.Errorf("%s was asked for %d times", path, n))
		}
	}
	return errors.Join(err, s.metricIs(ctx, b, "scheduler_schedule_attempts_total", 30))
}

// metricIs compares the sum of a counter.
func (s *suite) metricIs(ctx context.Context, b *process, name string, want float64) error {
	_, body, err := b.get(ctx, "/metrics")
	if err != nil {
		return err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		return err
	}
	sum := 0.0
	for _, m := range families[name].GetMetric() {
		sum += m.GetCounter().GetValue()
	}
	if sum != want {
		return fmt.Errorf("%s is %v, not %v", name, sum, want)
	}
	return nil
}
