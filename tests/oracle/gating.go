// SPDX-License-Identifier: Apache-2.0

// The plugin that gates a pod. Upstream runs PreEnqueue plugins in the order of a Go map and reports the first that
// rejects; with several it may be any of them. Here it is always the first in the configuration's order, so that a history
// has one answer; it also lists the others.
package main

import (
	"context"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

type gating struct {
	mu  sync.Mutex
	now map[types.UID][]string // the plugins that rejected the pod when it was gated, the reported one first
}

// oneGate replaces a plugin: it rejects only when it is the one to be reported.
type oneGate struct {
	fwk.PreEnqueuePlugin
	all []fwk.PreEnqueuePlugin // in order, including this one
	of  *gating
}

func newGating(profiles profile.Map, asked map[string]map[string]fwk.PreEnqueuePlugin) *gating {
	g := &gating{now: map[types.UID][]string{}}
	for name, plugins := range asked {
		all := profiles[name].PreEnqueuePlugins()
		for k, pl := range plugins {
			plugins[k] = oneGate{pl, all, g}
		}
	}
	return g
}

func (o oneGate) PreEnqueue(ctx context.Context, p *v1.Pod) *fwk.Status {
	var no []string
	var own *fwk.Status
	for _, pl := range o.all {
		s := pl.PreEnqueue(ctx, p)
		if !s.IsSuccess() {
			no = append(no, pl.Name())
		}
		if pl.Name() == o.Name() {
			own = s
		}
	}
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	was := o.of.now[p.UID]
	switch {
	case len(no) == 0:
		delete(o.of.now, p.UID)
	case len(was) > 0 && slices.Contains(no, was[0]): // upstream runs that one first
		no = was
	default:
		o.of.now[p.UID] = no
	}
	if len(no) > 0 && no[0] == o.Name() {
		return own
	}
	return nil
}

func (g *gating) others(uid types.UID) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if was := g.now[uid]; len(was) > 1 {
		return was[1:]
	}
	return nil
}
