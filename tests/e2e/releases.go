// SPDX-License-Identifier: Apache-2.0

// Releases: berth's decisions on a server of another release, during a cluster upgrade, and beside
// schedulers of other releases.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func releaseCases() []testCase {
	return []testCase{
		{name: "release-of-server", help: "decisions are those of the server's release: known, newer, too old, fixed by a flag, not known at first", run: serverReleaseCase},
		{name: "release-upgrade", help: "the server is upgraded while pods come: nothing is lost, nothing bound twice", run: upgradeCase},
		{name: "release-in-place", help: "kube-apiserver is killed while bindings are under way, and the next release's starts on its data", run: inPlaceCase},
		{name: "release-replicas", help: "replicas of two releases and kube-scheduler share one lease", run: releaseReplicasCase},
	}
}

// mayReadTaintRules: a scheduler that decides as 1.37 reads DeviceTaintRules, which an older server's role for
// kube-scheduler does not allow.
func (s *suite) mayReadTaintRules(ctx context.Context) (takeBack func(), err error) {
	name := metav1.ObjectMeta{Name: "e2e-devicetaintrules"}
	role := &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"resource.k8s.io"}, Resources: []string{"devicetaintrules"}, Verbs: []string{"list", "watch"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: name.Name},
		Subjects: []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: "system:kube-scheduler"}}}
	rbac := s.admin.RbacV1()
	_, err = rbac.ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	if err == nil {
		_, err = rbac.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	}
	return func() {
		ctx := context.WithoutCancel(ctx)
		_ = rbac.ClusterRoleBindings().Delete(ctx, name.Name, metav1.DeleteOptions{})
		_ = rbac.ClusterRoles().Delete(ctx, name.Name, metav1.DeleteOptions{})
	}, err
}

// decidesAs checks the release that a scheduler reports.
func decidesAs(ctx context.Context, x *process, minor string) error {
	status, body, err := x.get(ctx, "/metrics")
	if err == nil && (status != 200 || !strings.Contains(body, `emulation="1.`+minor+`"`)) {
		err = fmt.Errorf("%s does not decide as 1.%s (%d)", x.name, minor, status)
	}
	return err
}

func (x *process) says(words string) error {
	text, err := os.ReadFile(x.log)
	if err == nil && !strings.Contains(string(text), words) {
		err = fmt.Errorf("%s does not say %q\n%s", x.name, words, tail(x.log, 10))
	}
	return err
}

func serverReleaseCase(ctx context.Context, s *suite) error {
	takeBack, err := s.mayReadTaintRules(ctx)
	if err != nil {
		return err
	}
	defer takeBack()
	p, err := s.startProxy("release.kubeconfig", 0)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := s.makeNodes(ctx, 3); err != nil {
		return err
	}
	for i, c := range []struct{ server, args, minor, words string }{
		{"35", "", "35", "Decisions are those of the API server's release"},
		{"36", "", "36", "Decisions are those of the API server's release"},
		{"37+", "", "37", "Decisions are those of the API server's release"},
		{"99", "", "37", "The API server is newer than every release"},
		{"35", "--kubernetes-version=1.37", "37", "Decisions are those of --kubernetes-version"},
		{"37", "--emulated-version=1.36", "36", "Decisions are those of the API server's release"},
	} {
		p.pretend(c.server)
		o := schedulerOptions{kubeconfig: s.file("release.kubeconfig")}
		if c.args != "" {
			o.args = []string{c.args}
		}
		b, err := s.startOpen(ctx, "berth", o)
		if err != nil {
			return err
		}
		if err := errors.Join(decidesAs(ctx, b, c.minor), b.says(c.words), s.makePods(ctx, fmt.Sprintf("p%d", i), 3, "100m"), s.waitBound(ctx, time.Minute, 3*(i+1)), b.end()); err != nil {
			return fmt.Errorf("server 1.%s %s: %w", c.server, c.args, err)
		}
	}
	p.pretend("20")
	old, err := s.launchBerth("old", schedulerOptions{kubeconfig: s.file("release.kubeconfig")})
	if err != nil {
		return err
	}
	if err := errors.Join(old.endsBy(3), old.says("a scheduler must not be newer than its API server")); err != nil {
		return err
	}
	return s.lateServer(ctx, p)
}

// lateServer: the server does not respond when berth starts, which stays alive; then the server reports an
// older version than assumed.
func (s *suite) lateServer(ctx context.Context, p *faultProxy) error {
	p.block(true)
	p.pretend("35")
	b, err := s.launchBerth("early", schedulerOptions{kubeconfig: s.file("release.kubeconfig"), leader: election, args: openDebug})
	if err != nil {
		return err
	}
	err = eventually(ctx, 20*time.Second, func() error {
		status, _, err := b.get(ctx, "/livez")
		if err == nil && status != 200 {
			err = fmt.Errorf("/livez: %d", status)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.block(false)
	return errors.Join(s.makePods(ctx, "late", 20, "100m"), s.waitBound(ctx, time.Minute, 38), decidesAs(ctx, b, "35"), b.says("does not answer"), s.waitLeader(ctx, b))
}

// upgradeCase creates pods while servers behind one address report two releases, and then only the newer one.
func upgradeCase(ctx context.Context, s *suite) error {
	p, err := s.startProxy("upgrade.kubeconfig", 0)
	if err != nil {
		return err
	}
	defer p.stop()
	p.pretend("35")
	o := schedulerOptions{kubeconfig: s.file("upgrade.kubeconfig"), leader: election, args: append([]string{"--follow-server"}, openDebug...)}
	b, err := s.startBerth(ctx, "berth", o)
	if err != nil {
		return err
	}
	if err := errors.Join(s.makeNodes(ctx, 50), decidesAs(ctx, b, "35")); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	p.pretend("35", "36")
	time.Sleep(25 * time.Second)
	if err := decidesAs(ctx, b, "35"); err != nil {
		return fmt.Errorf("in the middle of the upgrade: %w", err)
	}
	p.pretend("36")
	made, n := make(chan error, 1), 0
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				made <- nil
				return
			default:
			}
			if err := s.makePods(ctx, fmt.Sprintf("p%d", n), 20, "10m"); err != nil {
				made <- err
				return
			}
			n++
			time.Sleep(200 * time.Millisecond)
		}
	}()
	err = eventually(ctx, time.Minute, func() error { return decidesAs(ctx, b, "36") })
	close(stop)
	if err := errors.Join(err, <-made); err != nil {
		return err
	}
	fmt.Printf("     %d pods came meanwhile\n", 20*n)
	return s.settled(ctx, time.Minute, r, 20*n, b)
}

// inPlaceCase upgrades a control plane of its own: the server first, as Kubernetes requires.
func inPlaceCase(ctx context.Context, s *suite) error {
	if s.next == "" {
		return skipped("no program of the next release (BT_E2E_NEXT=1.37)")
	}
	t, err := newSuite(ctx, planeFlags{dir: s.file("in-place"), runPods: true, controllers: s.controllers, admissionOff: s.admissionOff}, s.berth, s.seed, "")
	if t != nil && t.plane != nil {
		defer t.stop()
	}
	if err != nil {
		return err
	}
	minor := func() string {
		version, err := t.admin.Discovery().ServerVersion()
		if err != nil {
			return err.Error()
		}
		return version.Minor
	}
	older := minor()
	b, err := t.startBerth(ctx, "berth", schedulerOptions{leader: election, args: append([]string{"--follow-server"}, openDebug...)})
	if err != nil {
		return err
	}
	defer func() { _ = b.end() }()
	if err := errors.Join(t.makeNodes(ctx, 50), decidesAs(ctx, b, older)); err != nil {
		return err
	}
	r, err := t.record(ctx)
	if err != nil {
		return err
	}
	defer r.stop()
	if err := t.makePods(ctx, "before", 300, "10m"); err != nil {
		return err
	}
	t.killAPI()
	t.upgraded = s.next
	if err := t.startAPI(ctx); err != nil {
		return err
	}
	newer := minor()
	if newer == older {
		return fmt.Errorf("the server is still of 1.%s", older)
	}
	began := time.Now()
	if err := t.makePods(ctx, "after", 300, "10m"); err != nil {
		return err
	}
	if err := eventually(ctx, 2*time.Minute, func() error { return decidesAs(ctx, b, newer) }); err != nil {
		return err
	}
	fmt.Printf("     from 1.%s to 1.%s, followed %.1f s after the server was ready\n", older, newer, time.Since(began).Seconds())
	return t.settled(ctx, time.Minute, r, 600, b)
}

// patientElection has kube-scheduler's default times: with shorter ones it loses its lease on a slow machine.
const patientElection = "{leaderElect: true, leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s, resourceName: berth-e2e, resourceNamespace: kube-system, resourceLock: leases}"

func releaseReplicasCase(ctx context.Context, s *suite) error {
	takeBack, err := s.mayReadTaintRules(ctx)
	if err != nil {
		return err
	}
	defer takeBack()
	end := func(leader *process) error { return leader.end() }
	with := func(version string) schedulerOptions {
		return schedulerOptions{leader: patientElection, args: append([]string{"--kubernetes-version=" + version}, openDebug...)}
	}
	older, err := s.startBerth(ctx, "berth-1.35", with("1.35"))
	if err != nil {
		return err
	}
	if err := s.waitLeader(ctx, older); err != nil {
		return err
	}
	newer, err := s.startBerth(ctx, "berth-1.37", with("1.37"))
	if err != nil {
		return err
	}
	if err := s.takeoverBy(ctx, older, newer, newer, end, 10*time.Second); err != nil {
		return fmt.Errorf("1.35 to 1.37: %w", err)
	}
	if err := errors.Join(s.clean(ctx), s.wipeAll(ctx)); err != nil {
		return err
	}
	real, err := s.startReal(ctx, schedulerOptions{leader: patientElection, args: openDebug[:1]})
	if err != nil {
		return err
	}
	if err := s.takeoverBy(ctx, newer, real, nil, end, 10*time.Second); err != nil {
		return fmt.Errorf("1.37 to kube-scheduler: %w", err)
	}
	if err := errors.Join(s.clean(ctx), s.wipeAll(ctx)); err != nil {
		return err
	}
	last, err := s.startBerth(ctx, "berth-1.36", with("1.36"))
	if err != nil {
		return err
	}
	return s.takeoverBy(ctx, real, last, last, end, 20*time.Second)
}
