// SPDX-License-Identifier: Apache-2.0

// Subcommands nodes, pods and wipe: create and delete objects quickly.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/template"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// A template is YAML with Go's text/template over these fields, and functions mod and div.
type fields struct {
	Index, Zone                                   int
	Name, CPU, Memory, Pods, Namespace, Scheduler string
}

const nodeTemplate = `
apiVersion: v1
kind: Node
metadata:
  name: {{.Name}}
  labels:
    kubernetes.io/hostname: {{.Name}}
    kubernetes.io/os: linux
    kubernetes.io/arch: amd64
    topology.kubernetes.io/region: region-0
    topology.kubernetes.io/zone: zone-{{.Zone}}
status:
  capacity: {cpu: "{{.CPU}}", memory: {{.Memory}}, ephemeral-storage: 200Gi, pods: "{{.Pods}}"}
  allocatable: {cpu: "{{.CPU}}", memory: {{.Memory}}, ephemeral-storage: 200Gi, pods: "{{.Pods}}"}
  conditions:
  - {type: Ready, status: "True", reason: KubeletReady}
  addresses:
  - {type: InternalIP, address: 10.{{div .Index 65536}}.{{mod (div .Index 256) 256}}.{{mod .Index 256}}}
  - {type: Hostname, address: {{.Name}}}
`

const podTemplate = `
apiVersion: v1
kind: Pod
metadata:
  name: {{.Name}}
  namespace: {{.Namespace}}
spec:
  schedulerName: {{.Scheduler}}
  containers:
  - name: pause
    image: example/pause:3.10
    ports:
    - containerPort: 80
    resources:
      requests: {cpu: {{.CPU}}, memory: {{.Memory}}}
      limits: {cpu: {{.CPU}}, memory: {{.Memory}}}
`

func parseTemplate(file, fallback string) (*template.Template, error) {
	text := fallback
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	mod := func(a, b int) int { return a % b }
	div := func(a, b int) int { return a / b }
	return template.New("object").Funcs(template.FuncMap{"mod": mod, "div": div}).Parse(text)
}

func render(t *template.Template, f fields, into any) error {
	var text bytes.Buffer
	if err := t.Execute(&text, f); err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text.Bytes(), into)
}

func nodes(ctx context.Context, fs *flag.FlagSet, args []string) error {
	kubeconfig := kubeconfigFlag(fs)
	count := fs.Int("count", 100, "how many")
	first := fs.Int("first", 0, "number of the first")
	prefix := fs.String("prefix", "node-", "names are PREFIX and six digits")
	zones := fs.Int("zones", 3, "zones the nodes are dealt to in turn")
	cpu := fs.String("cpu", "4", "CPU of each")
	memory := fs.String("memory", "32Gi", "memory of each")
	podLimit := fs.String("pods", "110", "pods each can hold")
	file := fs.String("template", "", "YAML template of a node, instead of the built-in one")
	workers := fs.Int("workers", 16, "concurrent requests")
	fs.Parse(args)

	t, err := parseTemplate(*file, nodeTemplate)
	if err != nil {
		return err
	}
	conns, err := newClients(*kubeconfig, min(4, *workers))
	if err != nil {
		return err
	}
	began := time.Now()
	err = inParallel(ctx, *workers, *count, func(ctx context.Context, worker, ix int) error {
		n := *first + ix
		f := fields{Index: n, Zone: n % *zones, Name: fmt.Sprintf("%s%06d", *prefix, n), CPU: *cpu, Memory: *memory, Pods: *podLimit}
		var node v1.Node
		if err := render(t, f, &node); err != nil {
			return err
		}
		_, err := conns[worker%len(conns)].CoreV1().Nodes().Create(ctx, &node, metav1.CreateOptions{})
		return err
	})
	return reportCreated("nodes", *count, began, err)
}

func pods(ctx context.Context, fs *flag.FlagSet, args []string) error {
	kubeconfig := kubeconfigFlag(fs)
	count := fs.Int("count", 100, "how many")
	first := fs.Int("first", 0, "number of the first")
	prefix := fs.String("prefix", "pod-", "names are PREFIX and six digits")
	cpu := fs.String("cpu", "100m", "CPU each asks for")
	memory := fs.String("memory", "500Mi", "memory each asks for")
	namespace := fs.String("namespace", "default", "made if it does not exist")
	scheduler := fs.String("scheduler-name", v1.DefaultSchedulerName, "who shall place them")
	file := fs.String("template", "", "YAML template of a pod, instead of the built-in one")
	workers := fs.Int("workers", 64, "concurrent requests")
	rate := fs.Float64("rate", 0, "so many a second, each at its time whatever became of those before; 0: as fast as they are taken")
	fs.Parse(args)

	t, err := parseTemplate(*file, podTemplate)
	if err != nil {
		return err
	}
	conns, err := newClients(*kubeconfig, min(4, *workers))
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, conns[0], *namespace); err != nil {
		return err
	}
	began := time.Now()
	err = inParallel(ctx, *workers, *count, func(ctx context.Context, worker, ix int) error {
		if *rate > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(float64(ix) / *rate * float64(time.Second)))))
		}
		n := *first + ix
		f := fields{Index: n, Name: fmt.Sprintf("%s%06d", *prefix, n), CPU: *cpu, Memory: *memory, Namespace: *namespace, Scheduler: *scheduler}
		var pod v1.Pod
		if err := render(t, f, &pod); err != nil {
			return err
		}
		_, err := conns[worker%len(conns)].CoreV1().Pods(*namespace).Create(ctx, &pod, metav1.CreateOptions{})
		return err
	})
	return reportCreated("pods", *count, began, err)
}

func reportCreated(kind string, count int, began time.Time, err error) error {
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	cpu, _ := spent()
	return printJSON(map[string]any{"created": kind, "count": count, "seconds": round(took),
		"per_second": round(float64(count) / took), "cpu_seconds": round(cpu.Seconds())})
}

func ensureNamespace(ctx context.Context, c *connection, name string) error {
	ns := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func wipe(ctx context.Context, fs *flag.FlagSet, args []string) error {
	kubeconfig := kubeconfigFlag(fs)
	namespace := fs.String("namespace", "default", "whose pods go")
	alsoNodes := fs.Bool("nodes", false, "delete all nodes too")
	fs.Parse(args)
	c, err := newClient(*kubeconfig)
	if err != nil {
		return err
	}
	if *alsoNodes {
		if err := c.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return wipePods(ctx, c, *namespace)
}

// wipePods does not wait for kubelets, which may not exist. A single request may time out in a large namespace.
func wipePods(ctx context.Context, c *connection, namespace string) error {
	now := int64(0)
	for range 20 {
		err := c.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
		if err != nil && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return err
		}
		left, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		if len(left.Items) == 0 {
			return nil
		}
	}
	return errors.New("pods are still left after twenty tries")
}
