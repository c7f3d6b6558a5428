// SPDX-License-Identifier: Apache-2.0

// Gangs: pods that are scheduled together or not at all, on a server of its own with the gates and API versions of its
// release, with kube-scheduler and with berth.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gang is a small cluster on which a gang of count pods lacks room until the node extra comes.
type gang struct {
	server, scheduler string // flags
	objects           string
	pods              []string
	waits             int    // pods that are assumed, and nominated, until the others fit
	counted           string // a line of /metrics that both have at the end; "" for none
}

func member(name, part string) string { return pod(name, "", cpu("3"), ", "+part) }

// gangs of the server's minor versions.
var gangs = map[string]gang{
	"35": {
		server:    "--runtime-config=scheduling.k8s.io/v1alpha1=true --feature-gates=GenericWorkload=true",
		scheduler: "--feature-gates=GenericWorkload=true,GangScheduling=true",
		objects: `
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: train, namespace: default}
spec: {podGroups: [{name: workers, policy: {gang: {minCount: 3}}}]}
`,
		pods: []string{
			member("w-0", "workloadRef: {name: train, podGroup: workers}"),
			member("w-1", "workloadRef: {name: train, podGroup: workers}"),
			member("w-2", "workloadRef: {name: train, podGroup: workers}")},
		waits:   2,
		counted: `scheduler_permit_wait_duration_seconds_count{result="Success"} 2`},
	"37": {
		server: "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true " +
			"--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true",
		scheduler: "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true",
		objects: `
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: job, namespace: default}
spec: {workloadRef: {workloadName: w, templateName: t}, schedulingPolicy: {gang: {minGroupCount: 2}}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: driver, namespace: default}
spec: {parentCompositePodGroupName: job, workloadRef: {workloadName: w, templateName: d}, schedulingPolicy: {gang: {minCount: 1}}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: workers, namespace: default}
spec: {parentCompositePodGroupName: job, workloadRef: {workloadName: w, templateName: w}, schedulingPolicy: {gang: {minCount: 2}}}
`,
		pods: []string{
			member("d-0", "schedulingGroup: {podGroupName: driver}"),
			member("w-1", "schedulingGroup: {podGroupName: workers}"),
			member("w-2", "schedulingGroup: {podGroupName: workers}")}},
}

func gangCases() []testCase {
	return []testCase{{name: "gangs", help: "a gang of 1.35 waits at Permit, a tree of groups of 1.37 is placed as one: as by kube-scheduler", run: gangsCase}}
}

func gangsCase(ctx context.Context, s *suite) error {
	version, err := s.admin.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	g, ok := gangs[strings.TrimSuffix(version.Minor, "+")]
	if !ok {
		return skipped("no gang for a server of 1." + version.Minor)
	}
	t, err := newSuite(ctx, planeFlags{dir: s.file("gangs"), runPods: true, controllers: s.controllers, admissionOff: s.admissionOff,
		apiserverArgs: g.server}, s.berth, s.seed, "")
	if t != nil && t.plane != nil {
		defer t.stop()
	}
	if err != nil {
		return err
	}
	o := schedulerOptions{args: append([]string{g.scheduler}, openDebug...)}
	want, err := t.playGang(ctx, g, func() (*process, error) { return t.startReal(ctx, o) })
	if err != nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	got, err := t.playGang(ctx, g, func() (*process, error) { return t.startBerth(ctx, "berth", o) })
	if err != nil {
		return fmt.Errorf("berth: %w", err)
	}
	return differences(want, got)
}

// playGang says what each pod is while one node is missing, and that all are bound once it has come.
func (s *suite) playGang(ctx context.Context, g gang, start func() (*process, error)) (map[string]string, error) {
	x, err := start()
	if err != nil {
		return nil, err
	}
	defer func() { _ = x.end() }()
	if err := s.apply(ctx, g.objects+"---"+a+"---"+b); err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // as in play
	for _, text := range g.pods {
		if err := s.apply(ctx, text); err != nil {
			return nil, err
		}
	}
	became, err := s.gangStands(ctx, g)
	if err != nil {
		return nil, err
	}
	err = errors.Join(s.apply(ctx, c), s.waitBound(ctx, time.Minute, len(g.pods)))
	if err == nil && g.counted != "" {
		err = eventually(ctx, 10*time.Second, func() error { return x.exposes(ctx, g.counted) })
	}
	return became, errors.Join(err, s.clean(context.WithoutCancel(ctx)))
}

// gangStands waits until every pod is refused, or nominated without being bound.
func (s *suite) gangStands(ctx context.Context, g gang) (became map[string]string, err error) {
	err = eventually(ctx, 30*time.Second, func() error {
		pods, err := s.admin.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		became = map[string]string{}
		nominated := 0
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Spec.NodeName != "" {
				return fmt.Errorf("pod %s of a gang without room is bound", pod.Name)
			} else if pod.Status.NominatedNodeName != "" {
				nominated++
				became[pod.Name] = "nominated"
			} else if text, ok := outcome(pod); ok {
				became[pod.Name] = text
			}
		}
		if len(became) < len(g.pods) || nominated != g.waits {
			return fmt.Errorf("the gang is undecided: %v", became)
		}
		return nil
	})
	return became, err
}

// exposes checks that /metrics has a line.
func (x *process) exposes(ctx context.Context, line string) error {
	_, body, err := x.get(ctx, "/metrics")
	if err == nil && !strings.Contains(body, "\n"+line+"\n") {
		err = fmt.Errorf("%s does not expose %s", x.name, line)
	}
	return err
}
