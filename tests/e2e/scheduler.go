// SPDX-License-Identifier: Apache-2.0

// Schedulers as processes: berth, and the real kube-scheduler beside it, with the same configuration.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

type process struct {
	name, log, url string
	cmd            *exec.Cmd
	done           chan error
	killed, frozen bool
}

// schedulerOptions: config is the rest of a KubeSchedulerConfiguration; server and kubeconfig replace the plane's.
type schedulerOptions struct {
	config     string
	kubeconfig string
	leader     string // the leaderElection part; "" for none
	content    string // the content type of the connection; "" for the default
	args       []string
}

func (s *suite) writeConfig(name string, o schedulerOptions) (string, error) {
	if o.kubeconfig == "" {
		o.kubeconfig = s.file("berth.kubeconfig")
	}
	if s.guest != nil {
		o.kubeconfig = s.guest.kubeconfig
		o.config += s.guest.config()
	}
	if o.leader == "" {
		o.leader = "{leaderElect: false}"
	}
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" +
		"leaderElection: " + o.leader + "\n" +
		fmt.Sprintf("clientConnection: {kubeconfig: %q, qps: 10000, burst: 10000, contentType: %q}\n", o.kubeconfig, o.content) + o.config
	path := s.logFile(name) + ".yaml"
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// startBerth starts the program under test and waits until it is ready: synced, and leading if the options require it.
func (s *suite) startBerth(ctx context.Context, name string, o schedulerOptions) (*process, error) {
	b, err := s.launchBerth(name, o)
	if err != nil {
		return nil, err
	}
	return b, b.waitReady(ctx)
}

func (s *suite) launchBerth(name string, o schedulerOptions) (*process, error) {
	config, err := s.writeConfig(name, o)
	if err != nil {
		return nil, err
	}
	return s.launch(name, s.berth, append([]string{"run", "--config=" + config}, o.args...))
}

// startReal starts kube-scheduler.
func (s *suite) startReal(ctx context.Context, o schedulerOptions) (*process, error) {
	config, err := s.writeConfig("kube-scheduler", o)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	real, err := s.launch("kube-scheduler", self,
		append([]string{"scheduler", "--config=" + config, "--authentication-skip-lookup"}, o.args...))
	if err != nil {
		return nil, err
	}
	return real, real.waitReady(ctx)
}

func (s *suite) launch(name, program string, args []string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	x := &process{name: name, log: s.logFile(name), url: fmt.Sprintf("https://127.0.0.1:%d", port), done: make(chan error, 1)}
	log, err := os.Create(x.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	x.cmd = exec.Command(program, append(args, fmt.Sprintf("--secure-port=%d", port), "--bind-address=127.0.0.1")...)
	x.cmd.Stdout, x.cmd.Stderr = log, log
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { x.done <- x.cmd.Wait() }()
	s.started = append(s.started, x)
	return x, nil
}

// get calls one of the scheduler's own endpoints.
func (x *process) get(ctx context.Context, path string) (int, string, error) {
	return x.getAs(ctx, path, "")
}

// getAs does so with a token.
func (x *process) getAs(ctx context.Context, path, token string) (int, string, error) {
	client := &http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, x.url+path, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}

func (x *process) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := eventually(ctx, time.Minute, func() error {
		select {
		case err := <-x.done:
			x.done <- err
			cancel()
			return fmt.Errorf("%s ended: %v", x.name, err)
		default:
		}
		status, body, err := x.get(ctx, "/readyz")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("/readyz: %d %s", status, strings.TrimSpace(body))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w\n%s", x.name, err, tail(x.log, 15))
	}
	return nil
}

// kill ends the process like a crash.
func (x *process) kill() {
	x.killed = true
	_ = x.cmd.Process.Kill()
	<-x.done
	x.done <- nil
}

// endsBy waits until the process exits by itself with this status.
func (x *process) endsBy(status int) error {
	select {
	case err := <-x.done:
		x.killed = true
		x.done <- err
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != status {
			return fmt.Errorf("%s ended with %v, not with status %d\n%s", x.name, err, status, tail(x.log, 10))
		}
		return nil
	case <-time.After(30 * time.Second):
		return fmt.Errorf("%s does not end", x.name)
	}
}

// end stops the process in order; it must exit successfully within half a minute.
func (x *process) end() error {
	if x.killed {
		return nil
	}
	x.killed = true
	_ = x.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-x.done:
		x.done <- err
		return x.verdict(err)
	case <-time.After(30 * time.Second):
		_ = x.cmd.Process.Kill()
		<-x.done
		return fmt.Errorf("%s did not stop within 30 s of SIGTERM\n%s", x.name, tail(x.log, 10))
	}
}

// verdict: after a stop, only a crash is an error; upstream exits with 1 then.
func (x *process) verdict(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() == 0 {
		return nil
	}
	if exit.ExitCode() < 0 || x.name != "kube-scheduler" {
		return fmt.Errorf("%s ended: %v\n%s", x.name, err, tail(x.log, 15))
	}
	return nil
}
