// SPDX-License-Identifier: Apache-2.0

// oracle runs the real kube-scheduler, plugin by plugin, for a pod and a cluster. See README.md.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
)

var commands = []struct {
	name, help string
	run        func(args []string) error
}{
	{"generate", "write random scenarios, one JSON document a line", runGenerate},
	{"verdict", "read scenarios, write what kube-scheduler says of each pending pod", runVerdict},
	{"configurations", "read configurations and gates, write kube-scheduler's errors, or values and plugins", runConfigurations},
	{"diff", "compare two verdict files, print every disagreement", runDiff},
	{"simulate", "place all pending pods with kube-scheduler's plugins, write the decision log", runSimulate},
	{"judge", "replay a decision log, check that each chosen node was one of kube-scheduler's best", runJudge},
	{"histories", "write random histories of a cluster, one JSON document a line", runHistories},
	{"history", "read histories, write what kube-scheduler's queue holds after each step", runHistory},
	{"diff-history", "compare two files of history verdicts, print the first disagreements", runDiffHistory},
	{"gates", "write the feature gates that this kube-scheduler has, with stage, default and lock", runGates},
	{"shrink", "make a scenario or history smaller while somebody still answers it otherwise", runShrink},
}

func main() {
	klog.InitFlags(nil)
	_ = flag.Set("logtostderr", "false")
	_ = flag.Set("alsologtostderr", "false")
	_ = flag.Set("stderrthreshold", "FATAL")
	if len(os.Args) > 1 {
		for _, c := range commands {
			if c.name == os.Args[1] {
				if err := c.run(os.Args[2:]); err != nil {
					fmt.Fprintln(os.Stderr, "oracle:", err)
					os.Exit(1)
				}
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: oracle COMMAND [flags]; each command has -h")
	for _, c := range commands {
		fmt.Fprintf(os.Stderr, "  %-14s %s\n", c.name, c.help)
	}
	os.Exit(2)
}
