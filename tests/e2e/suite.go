// SPDX-License-Identifier: Apache-2.0

// Subcommand test: cases that test berth on a control plane, one after the other, each from a clean cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// suite is the context of a case.
type suite struct {
	*plane
	berth   string // the program under test
	deploy  string // the folder of its manifests
	seed    int64
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	guest   *guest // on a foreign cluster; else nil
	made    []madeObject
	started []*process
	logN    int
	next    string // the e2e program of the next release, or ""
}

// skipped is the reason why a case cannot run here.
type skipped string

func (s skipped) Error() string { return string(s) }

// testCase is one of the suite; it returns an error when berth violates its requirements.
type testCase struct {
	name, help string
	run        func(ctx context.Context, s *suite) error
	family     *family // for cases that only compare with kube-scheduler
	why        string  // why it requires an own cluster; "": the usual reason
}

func test(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var f planeFlags
	f.register(fs)
	berth := fs.String("berth", "berth", "the program under test")
	deploy := fs.String("deploy", "tools/deploy", "the folder of its manifests")
	only := fs.String("run", ".", "cases to run, a regular expression")
	list := fs.Bool("list", false, "list the cases and end")
	seed := fs.Int64("seed", time.Now().UnixNano(), "of faults")
	next := fs.String("next", "", "the e2e program of the next release, to which the server is upgraded")
	limit := fs.Duration("limit", 10*time.Minute, "a case that takes longer has failed")
	fs.Parse(args)
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *list {
		for _, c := range testCases {
			fmt.Printf("%-31s %s\n", c.name, c.help)
		}
		return nil
	}
	path, err := filepath.Abs(*berth)
	if err != nil {
		return err
	}
	fmt.Printf("seed %d\n", *seed)
	foreign, err := foreignKubeconfig()
	if err != nil {
		return err
	}
	s, err := newSuite(ctx, f, path, *seed, foreign)
	if s != nil && s.plane != nil {
		defer s.stop()
	}
	if err != nil {
		if s != nil && s.guest != nil && s.plane != nil {
			err = errors.Join(err, s.leave(context.WithoutCancel(ctx)))
		}
		return err
	}
	s.deploy, s.next = *deploy, *next
	var failed []string
	for _, c := range testCases {
		if !wanted.MatchString(c.name) {
			continue
		}
		if why := cannotVisit(c); s.guest != nil && why != "" {
			fmt.Printf("skip %-31s %s\n", c.name, why)
			continue
		}
		if !s.runCase(ctx, c, *limit) {
			failed = append(failed, c.name)
		}
	}
	if s.guest != nil {
		if err := s.leave(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s; logs are in %s", strings.Join(failed, ", "), f.dir)
	}
	return nil
}

// newSuite starts a control plane, or connects to that of a kubeconfig.
func newSuite(ctx context.Context, f planeFlags, berth string, seed int64, foreign string) (*suite, error) {
	s := &suite{berth: berth, seed: seed}
	kubeconfig := foreign
	var err error
	if foreign != "" {
		s.guest = newGuest(foreign)
		fmt.Printf("on the cluster of %s, in namespace %s\n", foreign, s.guest.id)
		s.plane, err = visit(ctx, f, s.guest)
	} else {
		s.plane, err = startPlane(ctx, f)
		kubeconfig = s.file("kubeconfig")
	}
	if err != nil {
		return s, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return s, err
	}
	config.QPS = -1
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return s, err
	}
	s.mapper = newMapper(s.admin)
	return s, nil
}

// runCase returns whether the case passed.
func (s *suite) runCase(ctx context.Context, c testCase, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	err := c.run(ctx, s)
	for _, running := range s.started {
		err = errors.Join(err, running.end())
	}
	s.started = nil
	err = errors.Join(err, s.clean(context.WithoutCancel(ctx)))
	verdict := "ok  "
	var why skipped
	if errors.As(err, &why) {
		fmt.Printf("skip %-31s %s\n", c.name, why)
		return true
	}
	if err != nil {
		verdict = "FAIL"
	}
	fmt.Printf("%s %-31s %6.1f s\n", verdict, c.name, time.Since(began).Seconds())
	if err != nil {
		fmt.Printf("     %s\n", strings.ReplaceAll(err.Error(), "\n", "\n     "))
	}
	return err == nil
}

// eventually repeats look until it returns nil, and returns its last error when the context ends.
func eventually(ctx context.Context, limit time.Duration, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := look()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for up to %s: %w", limit, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// logFile returns a new log file name for each process.
func (s *suite) logFile(name string) string {
	s.logN++
	return s.file(fmt.Sprintf("%02d-%s.log", s.logN, name))
}

// tail returns the end of a file, for messages.
func tail(path string, lines int) string {
	data, _ := os.ReadFile(path)
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// now0 is a deletion without a grace period, for clusters without kubelets.
func now0() metav1.DeleteOptions {
	zero := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &zero}
}
