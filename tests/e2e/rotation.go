// SPDX-License-Identifier: Apache-2.0

// A client certificate is replaced while pods are being bound: the old one expires, and the server rejects it on every
// connection.
package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

func rotationCases() []testCase {
	return []testCase{{name: "certificate-rotation", help: "certificate and key are replaced, one after the other, while pods are bound; the old one runs out",
		run: rotationCase, why: "certificates are signed by the cluster's own authority"}}
}

// issueFor creates pki/FILE.crt and .key for the scheduler, valid for this time.
func (a *authority) issueFor(file string, life time.Duration) error {
	t := newTemplate("system:kube-scheduler", nil)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	t.NotAfter = time.Now().Add(life)
	return a.issue(file, t)
}

// writeFileConfig writes a kubeconfig that names the files pki/FILE.crt and .key.
func (s *suite) writeFileConfig(file string) (string, error) {
	config := api.NewConfig()
	config.Clusters["cluster"] = &api.Cluster{Server: s.server, CertificateAuthority: s.ca.path("ca.crt")}
	config.AuthInfos["berth"] = &api.AuthInfo{ClientCertificate: s.ca.path(file + ".crt"), ClientKey: s.ca.path(file + ".key")}
	config.Contexts["berth"] = &api.Context{Cluster: "cluster", AuthInfo: "berth"}
	config.CurrentContext = "berth"
	path := filepath.Join(s.ca.dir, file+".kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

func rotationCase(ctx context.Context, s *suite) error {
	const life, pause, batches = 20 * time.Second, 100 * time.Millisecond, 300
	if err := errors.Join(s.ca.issueFor("rotated", life), s.ca.issueFor("fresh", time.Hour)); err != nil {
		return err
	}
	began := time.Now()
	kubeconfig, err := s.writeFileConfig("rotated")
	if err != nil {
		return err
	}
	b, err := s.startOpen(ctx, "berth", schedulerOptions{kubeconfig: kubeconfig})
	if err != nil {
		return err
	}
	if err := s.makeNodes(ctx, 50); err != nil {
		return err
	}
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	rotated := make(chan error, 1)
	go func() {
		time.Sleep(5 * time.Second)
		err := os.Rename(s.ca.path("fresh.crt"), s.ca.path("rotated.crt"))
		time.Sleep(3 * time.Second)
		rotated <- errors.Join(err, os.Rename(s.ca.path("fresh.key"), s.ca.path("rotated.key")))
	}()
	for i := 0; i < batches; i++ {
		if err := s.makePods(ctx, fmt.Sprintf("p%d", i), 10, "10m"); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	if err := <-rotated; err != nil {
		return err
	}
	time.Sleep(time.Until(began.Add(life + 5*time.Second)))
	// From here on the server rejects the old certificate.
	if err := s.makePods(ctx, "q", 100, "10m"); err != nil {
		return err
	}
	return s.settled(ctx, time.Minute, r, batches*10+100, b)
}
