// SPDX-License-Identifier: Apache-2.0

// A fault-injecting proxy between a scheduler and the API server: it cuts connections, delays, responds with 429 and
// 500, loses responses after the server has acted, and cuts watches in the middle of an event.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

type faultProxy struct {
	server *http.Server
	url    string

	mu    sync.Mutex
	rng   *rand.Rand
	rate  float64 // share of requests with a fault
	conns map[net.Conn]bool
	hits  map[string]int
	shut  bool

	absent []string // prefixes of paths that the server seems not to know
	minors []string // minor versions that it reports in turn; none: the server's own
}

// faults names all kinds of faults, so that a test can check that all of them occurred.
var faults = []string{"delay", "429", "500", "cut-before", "cut-after", "watch-cut", "watch-delay", "connection-cut"}

// startProxy starts a proxy and writes the kubeconfig NAME for it.
func (s *suite) startProxy(name string, rate float64) (*faultProxy, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &faultProxy{url: fmt.Sprintf("https://127.0.0.1:%d", port), rng: rand.New(rand.NewSource(s.seed)), rate: rate,
		conns: map[net.Conn]bool{}, hits: map[string]int{}}
	if err := s.ca.issueClient(name, "berth", "system:kube-scheduler", nil, p.url); err != nil {
		return nil, err
	}
	transport, err := s.transport(name)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(s.server)
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, ErrorLog: quiet,
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: p.spoil,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }}
	p.server = &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), Handler: p.handler(forward), ErrorLog: quiet,
		ConnState: p.connState}
	listener, err := net.Listen("tcp", p.server.Addr)
	if err != nil {
		return nil, err
	}
	go func() { _ = p.server.ServeTLS(listener, s.ca.path("apiserver.crt"), s.ca.path("apiserver.key")) }()
	return p, nil
}

// transport connects to the API server as the user of the kubeconfig: certificates end at the proxy.
func (s *suite) transport(file string) (*http.Transport, error) {
	pem, err := os.ReadFile(s.ca.path("ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	pair, err := tls.LoadX509KeyPair(s.ca.path(file+".crt"), s.ca.path(file+".key"))
	if err != nil {
		return nil, err
	}
	return &http.Transport{ForceAttemptHTTP2: true, DisableCompression: true,
		TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}, nil
}

func (p *faultProxy) connState(c net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state == http.StateNew {
		p.conns[c] = true
	} else if state == http.StateClosed || state == http.StateHijacked {
		delete(p.conns, c)
	}
}

// draw decides whether a fault occurs, with this share of the rate.
func (p *faultProxy) draw(what string, share float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rng.Float64() >= p.rate*share {
		return false
	}
	p.hits[what]++
	return true
}

func (p *faultProxy) pause(most time.Duration) {
	p.mu.Lock()
	d := time.Duration(p.rng.Int63n(int64(most)))
	p.mu.Unlock()
	time.Sleep(d)
}

func isWatch(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "watch=") }

func (p *faultProxy) handler(forward http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.isShut() {
			panic(http.ErrAbortHandler)
		}
		if p.isAbsent(r.URL.Path) {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		if minor := p.nextMinor(r.URL.Path); minor != "" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"major":"1","minor":%q,"gitVersion":"v1.%s.0"}`, minor, minor)
			return
		}
		if p.draw("delay", 1) {
			p.pause(500 * time.Millisecond)
		}
		switch {
		case p.draw("429", .5):
			w.Header().Set("Retry-After", "1")
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too many requests","reason":"TooManyRequests","code":429}`,
				http.StatusTooManyRequests)
		case p.draw("500", .5):
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"made up","reason":"InternalError","code":500}`,
				http.StatusInternalServerError)
		case p.draw("cut-before", .5):
			panic(http.ErrAbortHandler)
		case p.draw("connection-cut", .05):
			p.cutAll()
			panic(http.ErrAbortHandler)
		default:
			forward.ServeHTTP(w, r)
		}
	})
}

// cutAll closes every connection, in the middle of anything.
func (p *faultProxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// spoil loses responses after the server has acted, and breaks watches.
func (p *faultProxy) spoil(answer *http.Response) error {
	if isWatch(answer.Request) {
		answer.Body = &spoiledBody{ReadCloser: answer.Body, proxy: p}
	} else if answer.Request.Method != http.MethodGet && p.draw("cut-after", 1) {
		return errors.New("lost")
	}
	return nil
}

// spoiledBody is a watch that is delayed, and ends in the middle of an event.
type spoiledBody struct {
	io.ReadCloser
	proxy *faultProxy
}

func (b *spoiledBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if n > 1 && b.proxy.draw("watch-cut", .1) {
		return n / 2, errors.New("cut")
	}
	if n > 0 && b.proxy.draw("watch-delay", .2) {
		b.proxy.pause(300 * time.Millisecond)
	}
	return n, err
}

// block cuts every connection and stops all traffic, or allows it again.
func (p *faultProxy) block(shut bool) {
	p.mu.Lock()
	p.shut = shut
	p.mu.Unlock()
	if shut {
		p.cutAll()
	}
}

func (p *faultProxy) isShut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shut
}

// isAbsent counts requests for paths that the server seems not to know.
func (p *faultProxy) isAbsent(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, beginning := range p.absent {
		if strings.HasPrefix(path, beginning) {
			p.hits["absent "+path]++
			return true
		}
	}
	return false
}

// lack makes the server seem not to know paths with these prefixes.
func (p *faultProxy) lack(beginnings ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absent = beginnings
}

// pretend makes the server report other minor versions: several behind one address, in turn.
func (p *faultProxy) pretend(minors ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.minors = minors
}

func (p *faultProxy) nextMinor(path string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if path != "/version" || len(p.minors) == 0 {
		return ""
	}
	p.minors = append(p.minors[1:], p.minors[0])
	return p.minors[0]
}

// lacked counts the requests for each absent path.
func (p *faultProxy) lacked() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]int{}
	for what, n := range p.hits {
		if path, ok := strings.CutPrefix(what, "absent "); ok {
			all[path] = n
		}
	}
	return all
}

// calm stops all faults.
func (p *faultProxy) calm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate = 0
}

// stop ends the proxy and returns the faults that never occurred.
func (p *faultProxy) stop() []string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = p.server.Shutdown(ctx)
	_ = p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(faults), func(f string) bool { return p.hits[f] > 0 })
}
