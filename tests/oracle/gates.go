// SPDX-License-Identifier: Apache-2.0

// The feature gates that this kube-scheduler registers, with their defaults.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"sort"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	metrics "k8s.io/component-base/metrics/features"
)

type gate struct {
	Name   string `json:"name"`
	Stage  string `json:"stage"`
	On     bool   `json:"on"`
	Locked bool   `json:"locked,omitempty"`
}

func runGates(args []string) error {
	flags := flag.NewFlagSet("gates", flag.ExitOnError)
	if err := flags.Parse(args); err != nil {
		return err
	}
	// Registered by kube-scheduler's command, in addition to its packages' gates.
	all := utilfeature.DefaultMutableFeatureGate
	if err := logsapi.AddFeatureGates(all); err != nil {
		return err
	}
	if err := metrics.AddFeatureGates(all); err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	var gates []gate
	for name, spec := range all.GetAll() {
		stage := string(spec.PreRelease)
		if spec.PreRelease == featuregate.GA {
			stage = "GA"
		}
		gates = append(gates, gate{string(name), stage, spec.Default, spec.LockToDefault})
	}
	sort.Slice(gates, func(i, j int) bool { return gates[i].Name < gates[j].Name })
	e := json.NewEncoder(w)
	for _, g := range gates {
		if err := e.Encode(g); err != nil {
			return err
		}
	}
	return nil
}
