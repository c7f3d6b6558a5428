// SPDX-License-Identifier: Apache-2.0

// The control plane: starting it, waiting for it, killing and restarting parts of it, stopping it in reverse order.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const defaultControllers = "namespace-controller,serviceaccount-controller,serviceaccount-token-controller,deployment-controller," +
	"replicaset-controller,statefulset-controller,job-controller,disruption-controller," +
	"pod-garbage-collector-controller,garbage-collector-controller,persistentvolume-binder-controller," +
	"persistentvolumeclaim-protection-controller,persistentvolume-protection-controller," +
	"ephemeral-volume-controller,resourceclaim-controller,taint-eviction-controller," +
	"replicationcontroller-controller,root-ca-certificate-publisher-controller"

type planeFlags struct {
	dir, etcd, controllers, admissionOff, etcdArgs, apiserverArgs, controllerArgs string
	port                                                                          int
	fsync, runPods, grace, bare                                                   bool
}

// child is one of the real programs, running as a process.
type child struct {
	name string
	cmd  *exec.Cmd
	done chan error
}

// plane is a running control plane. admin is cluster-admin; DIR/berth.kubeconfig is user system:kube-scheduler.
type plane struct {
	planeFlags
	ca       *authority
	server   string
	running  []*child
	admin    *connection
	stopPods context.CancelFunc
	upgraded string // the e2e program of another release, whose kube-apiserver is started; "": this one
}

func (f *planeFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.dir, "dir", "e2e-data", "directory for keys, kubeconfigs, logs and etcd data; emptied of etcd data first")
	fs.IntVar(&f.port, "port", 0, "API server port on loopback; 0 picks a free one")
	fs.BoolVar(&f.fsync, "fsync", false, "let etcd fsync every write, as production does")
	fs.BoolVar(&f.runPods, "run-pods", true, "kubelet stub: bound pods become Running, deleted ones go away")
	fs.BoolVar(&f.grace, "grace", false, "kubelet stub: a pod that is deleted stays for its grace period")
	fs.StringVar(&f.controllers, "controllers", "default", "kube-controller-manager controllers: default, none, or a comma-separated list")
	fs.BoolVar(&f.bare, "bare", false, "for benchmarks: same as --run-pods=false --controllers=none")
	fs.StringVar(&f.admissionOff, "disable-admission", "ServiceAccount,TaintNodesByCondition", "admission plugins to switch off")
	fs.StringVar(&f.etcdArgs, "etcd-args", "", "more etcd flags, space-separated")
	fs.StringVar(&f.apiserverArgs, "apiserver-args", "", "more kube-apiserver flags, space-separated")
	fs.StringVar(&f.controllerArgs, "controller-args", "", "more kube-controller-manager flags, space-separated")
}

func up(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var f planeFlags
	f.register(fs)
	fs.Parse(args)
	began := time.Now()
	p, err := startPlane(ctx, f)
	if p != nil {
		defer p.stop()
	}
	if err != nil {
		return err
	}
	line := fmt.Sprintf("ready in %.1fs: %s, KUBECONFIG=%s", time.Since(began).Seconds(), p.server, p.file("kubeconfig"))
	pids := ""
	for _, c := range p.running {
		line += fmt.Sprintf(", %s pid %d", c.name, c.cmd.Process.Pid)
		pids += fmt.Sprintf("%s=%d\n", c.name, c.cmd.Process.Pid)
	}
	if err := os.WriteFile(p.file("pids"), []byte(pids), 0o644); err != nil {
		return err
	}
	fmt.Println(line)
	return waitForEnd(ctx, p.running)
}

func (p *plane) file(name string) string { return filepath.Join(p.dir, name) }

func (p *plane) start(name string, args ...string) (*child, error) {
	program, arguments, err := programOf(name, args)
	if name == "apiserver" && p.upgraded != "" {
		program, arguments, err = p.upgraded, append([]string{name}, args...), nil
	}
	if err != nil {
		return nil, err
	}
	c, err := startChild(p.dir, name, program, arguments)
	if err == nil {
		p.running = append(p.running, c)
	}
	return c, err
}

// startPlane returns the running part even on failure: the caller stops it.
func startPlane(ctx context.Context, f planeFlags) (*plane, error) {
	if f.bare {
		f.runPods, f.controllers = false, "none"
	}
	p := &plane{planeFlags: f}
	if err := os.RemoveAll(p.file("etcd")); err != nil {
		return p, err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return p, err
	}
	url, err := freeURL()
	if err != nil {
		return p, err
	}
	peer, err := freeURL()
	if err != nil {
		return p, err
	}
	p.etcd = url
	if _, err := p.start("etcd", etcdFlags(&p.planeFlags, url, peer)...); err != nil {
		return p, err
	}
	if p.port == 0 {
		if p.port, err = freePort(); err != nil {
			return p, err
		}
	}
	p.server = fmt.Sprintf("https://127.0.0.1:%d", p.port)
	if p.ca, err = newAuthority(p.dir); err != nil {
		return p, err
	}
	err = errors.Join(
		p.ca.issue("serviceaccount", newTemplate("serviceaccount", nil)),
		p.ca.issueServer("apiserver"),
		p.ca.issueClient("kubeconfig", "admin", "admin", []string{"system:masters"}, p.server),
		p.ca.issueClient("berth.kubeconfig", "berth", "system:kube-scheduler", nil, p.server),
	)
	if err != nil {
		return p, err
	}
	if p.admin, err = newClient(p.file("kubeconfig")); err != nil {
		return p, err
	}
	if err := p.startAPI(ctx); err != nil {
		return p, err
	}
	if p.controllers != "none" {
		if _, err := p.start("controllers", controllerFlags(&p.planeFlags, p.ca)...); err != nil {
			return p, err
		}
	}
	if p.runPods {
		var pods context.Context
		pods, p.stopPods = context.WithCancel(ctx)
		go runPods(pods, p.admin, p.grace)
	}
	return p, nil
}

// startAPI starts kube-apiserver, also after killAPI, and waits until it is ready.
func (p *plane) startAPI(ctx context.Context) error {
	api, err := p.start("apiserver", apiserverFlags(&p.planeFlags, p.ca)...)
	if err != nil {
		return err
	}
	return waitReady(ctx, p.admin, api)
}

// killAPI kills kube-apiserver, without closing connections in order.
func (p *plane) killAPI() {
	for i, c := range p.running {
		if c.name == "apiserver" {
			c.cmd.Process.Kill()
			<-c.done
			p.running = append(p.running[:i], p.running[i+1:]...)
			return
		}
	}
}

func (p *plane) stop() {
	if p.stopPods != nil {
		p.stopPods()
	}
	for i := len(p.running) - 1; i >= 0; i-- {
		p.running[i].stop()
	}
	p.running = nil
}

// waitForEnd returns nil when told to stop, and an error when a child exits on its own.
func waitForEnd(ctx context.Context, running []*child) error {
	ended := make(chan error, len(running))
	for _, c := range running {
		go func() {
			err := <-c.done
			c.done <- err
			ended <- fmt.Errorf("%s ended by itself: %v", c.name, err)
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

func etcdFlags(f *planeFlags, url, peer string) []string {
	args := []string{
		"--data-dir=" + filepath.Join(f.dir, "etcd"),
		"--listen-client-urls=" + url,
		"--advertise-client-urls=" + url,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--log-level=warn",
		"--quota-backend-bytes=8589934592",
		"--auto-compaction-retention=5m",
	}
	if !f.fsync {
		args = append(args, "--unsafe-no-fsync")
	}
	return append(args, strings.Fields(f.etcdArgs)...)
}

// apiserverFlags lifts every request limit: a benchmark must measure the server, not a policy.
func apiserverFlags(f *planeFlags, ca *authority) []string {
	args := []string{
		"--etcd-servers=" + f.etcd,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", f.port),
		"--tls-cert-file=" + ca.path("apiserver.crt"),
		"--tls-private-key-file=" + ca.path("apiserver.key"),
		"--client-ca-file=" + ca.path("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + ca.path("serviceaccount.key"),
		"--service-account-signing-key-file=" + ca.path("serviceaccount.key"),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=Node,RBAC",
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--http2-max-streams-per-connection=1000",
		"--event-ttl=1h",
		"--shutdown-send-retry-after=false",
	}
	if f.admissionOff != "" {
		args = append(args, "--disable-admission-plugins="+f.admissionOff)
	}
	return append(args, strings.Fields(f.apiserverArgs)...)
}

func controllerFlags(f *planeFlags, ca *authority) []string {
	list := f.controllers
	if list == "default" {
		list = defaultControllers
	}
	kubeconfig := filepath.Join(f.dir, "kubeconfig")
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--controllers=" + list,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--service-account-private-key-file=" + ca.path("serviceaccount.key"),
		"--root-ca-file=" + ca.path("ca.crt"),
		"--pvclaimbinder-sync-period=2s",
	}
	return append(args, strings.Fields(f.controllerArgs)...)
}

// startChild runs a part of the control plane, with its log in DIR/NAME.log. It is killed when this process ends.
func startChild(dir, name, program string, args []string) (*child, error) {
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := &child{name: name, cmd: exec.Command(program, args...), done: make(chan error, 1)}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	// Its own process group: an interrupt from the terminal must reach only this process, which
	// stops children in order.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { c.done <- c.cmd.Wait() }()
	return c, nil
}

// programOf is the program of a part of the control plane: this binary, or one in KUBEBUILDER_ASSETS.
func programOf(name string, args []string) (string, []string, error) {
	if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
		file := filepath.Join(folder, map[string]string{"etcd": "etcd", "apiserver": "kube-apiserver"}[name])
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file, args, nil
		}
	}
	self, err := os.Executable()
	return self, append([]string{name}, args...), err
}

func (c *child) stop() {
	c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(10 * time.Second):
		c.cmd.Process.Kill()
		<-c.done
	}
}

func waitReady(ctx context.Context, client *connection, api *child) error {
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-api.done:
			api.done <- err
			return fmt.Errorf("kube-apiserver ended: %v; see its log", err)
		case <-time.After(100 * time.Millisecond):
		}
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err != nil {
			continue
		}
		// Pods need their namespace and the two system priority classes, which come after readiness.
		_, errNS := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		_, errPC := client.SchedulingV1().PriorityClasses().Get(ctx, "system-node-critical", metav1.GetOptions{})
		if errNS == nil && errPC == nil {
			return nil
		}
	}
	return errors.New("kube-apiserver not ready after two minutes; see its log")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func freeURL() (string, error) {
	port, err := freePort()
	return fmt.Sprintf("http://127.0.0.1:%d", port), err
}

// compact makes etcd discard all but the newest version of every object.
func (p *plane) compact(ctx context.Context) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{p.etcd}, DialTimeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	now, err := client.Get(ctx, "nothing")
	if err != nil {
		return err
	}
	_, err = client.Compact(ctx, now.Header.Revision)
	return err
}
