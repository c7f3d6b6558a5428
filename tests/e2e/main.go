// SPDX-License-Identifier: Apache-2.0

// Command e2e runs a real Kubernetes control plane on one machine, tests berth with it, and measures it.
//
// It is one binary with the real etcd, kube-apiserver, kube-controller-manager and kube-scheduler
// linked in as ordinary Go dependencies; each runs as a child process.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // as the real programs register them
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// client is one of this program's subcommands: it declares its flags, parses args, and works until ctx ends.
type client struct {
	run  func(ctx context.Context, fs *flag.FlagSet, args []string) error
	help string
}

var clients = map[string]client{
	"test":         {test, "drive berth on a real control plane, case by case"},
	"up":           {up, "start etcd, kube-apiserver and, unless --bare, controllers and a kubelet stub"},
	"nodes":        {nodes, "create nodes"},
	"pods":         {pods, "create pods"},
	"bind-ceiling": {bindCeiling, "measure how many pod bindings per second the API server takes"},
	"measure":      {measure, "watch pods and report scheduling throughput and latency as JSON"},
	"wipe":         {wipe, "delete all pods of a namespace at once"},
}

var clientOrder = []string{"test", "up", "nodes", "pods", "measure", "bind-ceiling", "wipe"}

// components are the real programs; arguments after the name are theirs.
var components = map[string]func() *cobra.Command{
	"apiserver":   apiserver.NewAPIServerCommand,
	"controllers": controllers.NewControllerManagerCommand,
	"scheduler":   func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 2 {
		usage(2)
	}
	name, args := os.Args[1], os.Args[2:]
	if name == "etcd" {
		etcdmain.Main(append([]string{"etcd"}, args...))
		return
	}
	if newCommand, ok := components[name]; ok {
		cmd := newCommand()
		cmd.SetArgs(args)
		os.Exit(cli.Run(cmd))
	}
	c, ok := clients[name]
	if !ok {
		if name == "help" || name == "-h" || name == "--help" {
			usage(0)
		}
		usage(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fs := flag.NewFlagSet("e2e "+name, flag.ExitOnError)
	if err := c.run(ctx, fs, args); err != nil {
		fmt.Fprintf(os.Stderr, "e2e %s: %v\n", name, err)
		os.Exit(1)
	}
}

func usage(code int) {
	fmt.Fprintln(os.Stderr, "usage: e2e SUBCOMMAND [flags]   (--help after a subcommand lists its flags)")
	for _, name := range clientOrder {
		fmt.Fprintf(os.Stderr, "  %-13s %s\n", name, clients[name].help)
	}
	fmt.Fprintln(os.Stderr, "  scheduler     the real kube-scheduler, with its own flags")
	fmt.Fprintln(os.Stderr, "  apiserver, controllers, etcd   the other real programs, with their own flags")
	os.Exit(code)
}
