// SPDX-License-Identifier: Apache-2.0

// Keys, certificates and kubeconfigs of one throwaway cluster, all below its directory.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

// authority signs every certificate of the cluster: the server's and its clients'.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	template := newTemplate("berth-cluster-ca", nil)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	return a, a.issue("ca", template)
}

func newTemplate(name string, groups []string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(10 * 365 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

// issue writes DIR/file.crt and DIR/file.key. The first call creates the authority itself.
func (a *authority) issue(file string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			return err
		}
		a.key = key
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(a.path(file+".crt"), "CERTIFICATE", der); err != nil {
		return err
	}
	return writePEM(a.path(file+".key"), "EC PRIVATE KEY", keyDER)
}

func (a *authority) issueServer(file string) error {
	t := newTemplate("kube-apiserver", nil)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	t.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	return a.issue(file, t)
}

// issueClient creates a user of the cluster; file is the kubeconfig's name in the cluster directory.
func (a *authority) issueClient(file, entry, user string, groups []string, server string) error {
	t := newTemplate(user, groups)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if err := a.issue(file, t); err != nil {
		return err
	}
	pems := map[string][]byte{}
	for _, name := range []string{"ca.crt", file + ".crt", file + ".key"} {
		data, err := os.ReadFile(a.path(name))
		if err != nil {
			return err
		}
		pems[name] = data
	}
	config := api.NewConfig()
	config.Clusters["cluster"] = &api.Cluster{Server: server, CertificateAuthorityData: pems["ca.crt"]}
	config.AuthInfos[entry] = &api.AuthInfo{
		ClientCertificateData: pems[file+".crt"],
		ClientKeyData:         pems[file+".key"],
	}
	config.Contexts[entry] = &api.Context{Cluster: "cluster", AuthInfo: entry, Namespace: "default"}
	config.CurrentContext = entry
	return clientcmd.WriteToFile(*config, filepath.Join(a.dir, file))
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, "pki", name) }

func writePEM(path, kind string, der []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
