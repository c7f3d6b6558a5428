// SPDX-License-Identifier: Apache-2.0

// A panic, upstream's or the harness's, ends only one scenario's or history's answer.
package main

import (
	"context"
	"fmt"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// crash holds the first panic of one cluster's scheduler, whichever goroutine it was in.
type crash struct {
	mu  sync.Mutex
	err error
}

type crashKey struct{}

// stray collects panics whose context cannot be assigned to a cluster.
var stray crash

func init() {
	utilruntime.ReallyCrash = false // the scheduler's workers call these handlers with a context derived from ours
	utilruntime.PanicHandlers = []func(context.Context, any){func(ctx context.Context, r any) {
		if c, ok := ctx.Value(crashKey{}).(*crash); ok {
			c.note(r)
			return
		}
		stray.note(r)
	}}
}

func (c *crash) note(r any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("panic: %v", r)
	}
}

// take returns the recorded panic and clears it.
func (c *crash) take() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.err
	c.err = nil
	return err
}

// caught is to be deferred.
func (c *crash) caught() {
	if r := recover(); r != nil {
		c.note(r)
	}
}

// guarded calls f and turns a panic in it into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}
