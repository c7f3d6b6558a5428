// SPDX-License-Identifier: Apache-2.0

// Foreign clusters: cases that run there without harm. Their objects are in a separate namespace, on nodes of their own
// with taints, so that foreign pods stay away, and labels, so that the cases' pods go nowhere else; berth and
// kube-scheduler run one after the other under a scheduler name of their own. Only created objects are deleted.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// guest marks the suite's objects on a foreign cluster; nil on an own cluster.
type guest struct {
	kubeconfig string
	id         string // namespace, scheduler's name, label, taint
	prefix     string // of nodes' names
}

const guestMark = "berth-e2e"

// foreignKubeconfig is the kubeconfig of the foreign cluster, or "".
func foreignKubeconfig() (string, error) {
	path, set := os.LookupEnv("BERTH_E2E_KUBECONFIG")
	if !set {
		path = os.Getenv("KUBECONFIG")
	}
	if path == "" {
		return "", nil
	}
	if strings.Contains(path, ":") {
		return "", fmt.Errorf("KUBECONFIG=%s names several files; set BERTH_E2E_KUBECONFIG to one of them, or to nothing for a cluster of our own", path)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	return path, err
}

func newGuest(kubeconfig string) *guest {
	random := make([]byte, 4)
	_, _ = rand.Read(random)
	id := guestMark + "-" + hex.EncodeToString(random)
	return &guest{kubeconfig: kubeconfig, id: id, prefix: id + "-"}
}

// visit returns a plane without processes: only a connection to a foreign cluster.
func visit(ctx context.Context, f planeFlags, g *guest) (*plane, error) {
	admin, err := newClient(g.kubeconfig)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, err
	}
	p := &plane{planeFlags: f, admin: admin}
	_, err = admin.CoreV1().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: g.id,
		Labels: map[string]string{guestMark: g.id}}}, metav1.CreateOptions{})
	return p, err
}

// leave deletes the namespace, and waits until it is gone.
func (s *suite) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	namespaces := s.admin.CoreV1().Namespaces()
	err := namespaces.Delete(ctx, s.guest.id, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return eventually(ctx, time.Minute, func() error {
		if _, err := namespaces.Get(ctx, s.guest.id, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return errors.Join(err, fmt.Errorf("namespace %s is still there", s.guest.id))
		}
		return nil
	})
}

// adapt marks an object as ours and restricts it to our nodes.
func (g *guest) adapt(object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case "Node":
		return g.adaptNode(object)
	case "Pod":
		return g.adaptPod(object)
	}
	return fmt.Errorf("%s %s: cases on a cluster that is not ours make nodes and pods only", object.GetKind(), object.GetName())
}

func (g *guest) adaptNode(object *unstructured.Unstructured) error {
	object.SetName(g.prefix + object.GetName())
	labels := object.GetLabels()
	labels["kubernetes.io/hostname"], labels[guestMark] = object.GetName(), g.id
	object.SetLabels(labels)
	taints, _, _ := unstructured.NestedSlice(object.Object, "spec", "taints")
	taints = append(taints, map[string]any{"key": guestMark, "value": g.id, "effect": "NoSchedule"})
	if object.Object["spec"] == nil {
		object.Object["spec"] = map[string]any{}
	}
	return unstructured.SetNestedSlice(object.Object, taints, "spec", "taints")
}

func (g *guest) adaptPod(object *unstructured.Unstructured) error {
	object.SetNamespace(g.id)
	spec := object.Object["spec"].(map[string]any)
	spec["schedulerName"] = g.id
	if name, ok := spec["nodeName"].(string); ok {
		spec["nodeName"] = g.prefix + name
	}
	selector, _ := spec["nodeSelector"].(map[string]any)
	if selector == nil {
		selector = map[string]any{}
	}
	if name, ok := selector["kubernetes.io/hostname"].(string); ok {
		selector["kubernetes.io/hostname"] = g.prefix + name
	}
	selector[guestMark] = g.id
	spec["nodeSelector"] = selector
	tolerations, _ := spec["tolerations"].([]any)
	spec["tolerations"] = append(tolerations, map[string]any{"key": guestMark, "value": g.id, "effect": "NoSchedule"})
	return nil
}

// config makes schedulers handle our pods only.
func (g *guest) config() string { return fmt.Sprintf("\nprofiles: [{schedulerName: %s}]\n", g.id) }

// cannotVisit says why a case cannot run on a foreign cluster; "" if it can.
func cannotVisit(c testCase) string {
	if c.why != "" {
		return c.why
	}
	if c.family == nil {
		return "it needs a cluster of its own: it stops servers, changes rights, or takes all pods and nodes away"
	}
	if c.family.objects != "" {
		return "it makes objects that are nobody's namespace's: classes, volumes, priorities, devices"
	}
	return ""
}
