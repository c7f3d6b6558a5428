// SPDX-License-Identifier: Apache-2.0

// The manifests of tools/deploy on a real server: it accepts them, and their ServiceAccount has all
// permissions that berth needs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

func manifestCases() []testCase {
	return []testCase{
		{name: "manifests", help: "the server takes every manifest of tools/deploy, to the last field", run: manifestsCase},
		{name: "least-rights", help: "as the ServiceAccount of rbac.yaml: leads, binds, preempts, allocates, hands over, and is refused nothing", run: leastRightsCase},
		{name: "metrics-reader", help: "whom podmonitor.yaml names gets metrics, and nothing else", run: metricsReaderCase},
	}
}

func (s *suite) manifest(name string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(filepath.Join(s.deploy, name))
	if err != nil {
		return nil, err
	}
	return documents(string(text))
}

// isOfTheOperator: its kinds are those of the Prometheus operator.
func isOfTheOperator(object *unstructured.Unstructured) bool {
	return strings.HasPrefix(object.GetAPIVersion(), "monitoring.coreos.com/")
}

func manifestsCase(ctx context.Context, s *suite) error {
	paths, err := filepath.Glob(filepath.Join(s.deploy, "*.yaml"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("no manifests in %s: %v", s.deploy, err)
	}
	var wrong []error
	for _, path := range paths {
		objects, err := s.manifest(filepath.Base(path))
		if err != nil {
			return err
		}
		for _, object := range objects {
			if isOfTheOperator(object) {
				continue
			}
			client, _, err := s.client(object)
			if err == nil {
				_, err = client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s %s: %w", filepath.Base(path), object.GetKind(), object.GetName(), err))
			}
		}
	}
	return errors.Join(wrong...)
}

// makeManifest creates the objects of a manifest whose kinds the server knows.
func (s *suite) makeManifest(ctx context.Context, name string) error {
	objects, err := s.manifest(name)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if isOfTheOperator(object) {
			continue
		}
		if err := s.create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// accountConfig writes a kubeconfig for a ServiceAccount of kube-system, with a token file.
func (s *suite) accountConfig(ctx context.Context, account string) (string, error) {
	hour := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	request, err := s.admin.CoreV1().ServiceAccounts(metav1.NamespaceSystem).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	token := s.file("account-" + account + ".token") // DIR/berth.kubeconfig is the plane's
	if err := os.WriteFile(token, []byte(request.Status.Token+"\n"), 0o600); err != nil {
		return "", err
	}
	config := api.NewConfig()
	config.Clusters["cluster"] = &api.Cluster{Server: s.server, CertificateAuthority: s.ca.path("ca.crt")}
	config.AuthInfos["account"] = &api.AuthInfo{TokenFile: token}
	config.Contexts["account"] = &api.Context{Cluster: "cluster", AuthInfo: "account"}
	config.CurrentContext = "account"
	path := s.file("account-" + account + ".kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// refusals lists the requests that the server refused to a process, from its metrics and log.
func refusals(ctx context.Context, x *process) error {
	_, body, err := x.get(ctx, "/metrics")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(body, "\n") {
		if strings.HasPrefix(line, "rest_client_requests_total{") && strings.Contains(line, `code="403"`) {
			err = errors.Join(err, fmt.Errorf("%s: %s", x.name, line))
		}
	}
	log, readErr := os.ReadFile(x.log)
	if strings.Contains(string(log), "forbidden") || strings.Contains(string(log), "Not allowed") {
		err = errors.Join(err, fmt.Errorf("%s is refused something:\n%s", x.name, log))
	}
	return errors.Join(err, readErr)
}

func leastRightsCase(ctx context.Context, s *suite) error {
	if err := s.makeManifest(ctx, "rbac.yaml"); err != nil {
		return err
	}
	kubeconfig, err := s.accountConfig(ctx, "berth")
	if err != nil {
		return err
	}
	// The Lease has the name in rbac.yaml, which is kube-scheduler's.
	o := schedulerOptions{kubeconfig: kubeconfig, leader: "{leaderElect: true}", args: openDebug}
	leader, err := s.startBerth(ctx, "account", o)
	if err != nil {
		return err
	}
	if err := s.waitLeader(ctx, leader); err != nil {
		return err
	}
	other, err := s.startBerth(ctx, "account-standby", o)
	if err != nil {
		return err
	}
	for _, f := range families {
		if f.name != "preemption" && f.name != "volumes" && f.name != "devices" {
			continue
		}
		if _, err := s.play(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.name, errors.Join(err, refusals(ctx, leader)))
		}
		if err := s.wipeAll(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(refusals(ctx, leader), refusals(ctx, other), leader.end()); err != nil {
		return err
	}
	began := time.Now()
	if err := s.waitLeader(ctx, other); err != nil {
		return err
	}
	fmt.Printf("     the other one leads after %.1f s\n", time.Since(began).Seconds())
	if time.Since(began) > 2*time.Second {
		return errors.New("a Lease that is given up is not seen at once")
	}
	return refusals(ctx, other)
}

func metricsReaderCase(ctx context.Context, s *suite) error {
	if err := errors.Join(s.makeManifest(ctx, "rbac.yaml"), s.makeManifest(ctx, "podmonitor.yaml")); err != nil {
		return err
	}
	b, err := s.startBerth(ctx, "berth", schedulerOptions{})
	if err != nil {
		return err
	}
	// The token controller fills in the secret that the PodMonitor names.
	var token []byte
	err = eventually(ctx, 20*time.Second, func() error {
		secret, err := s.admin.CoreV1().Secrets(metav1.NamespaceSystem).Get(ctx, "berth-metrics-reader", metav1.GetOptions{})
		if err == nil {
			token = secret.Data["token"]
		}
		if err == nil && len(token) == 0 {
			err = errors.New("the Secret has no token")
		}
		return err
	})
	if err != nil {
		return err
	}
	for path, want := range map[string]int{"/metrics": 200, "/metrics/resources": 200, "/metrics/slis": 200, "/configz": 403, "/debug/queue": 403} {
		status, body, err := b.getAs(ctx, path, string(token))
		if err != nil || status != want {
			return fmt.Errorf("%s: %d %v, not %d: %s", path, status, err, want, body)
		}
	}
	return nil
}
