// SPDX-License-Identifier: Apache-2.0

// Scenario and verdict documents, and the decoding of Kubernetes objects in them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"sigs.k8s.io/yaml"
)

// Scenario is a cluster, an optional scheduler configuration, and the pods to be judged, each alone, on that cluster.
type Scenario struct {
	ID      string            `json:"id"`
	Note    string            `json:"note,omitempty"`
	Gates   string            `json:"featureGates,omitempty"` // its own gates; -feature-gates sets them
	Config  json.RawMessage   `json:"config,omitempty"`       // KubeSchedulerConfiguration, kubescheduler.config.k8s.io/v1
	Objects []json.RawMessage `json:"objects"`                // any kind, with apiVersion and kind; pods with spec.nodeName are bound
	Pending []string          `json:"pending"`                // namespace/name, in the order to be judged
}

// Rejection is why one node was refused, or all of them.
type Rejection struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"` // Unschedulable | UnschedulableAndUnresolvable | Pending | Error
	Reasons []string `json:"reasons"`
}

// Score is a feasible node's total and each score plugin's normalised score times its weight.
type Score struct {
	Total   int64            `json:"total"`
	Plugins map[string]int64 `json:"plugins"`
}

// Preemption is one possible outcome; of several equally good ones, all that were observed are listed.
type Preemption struct {
	Node    string   `json:"node"`
	Victims []string `json:"victims"`
}

// PodVerdict is kube-scheduler's complete decision about one pod.
type PodVerdict struct {
	Pod         string               `json:"pod"`
	Gated       *Rejection           `json:"gated,omitempty"`       // PreEnqueue gates it
	GatedToo    []Rejection          `json:"gatedToo,omitempty"`    // upstream may report any of these as well
	PreFilter   *Rejection           `json:"preFilter,omitempty"`   // refused before any node was evaluated
	Narrowed    []string             `json:"narrowed,omitempty"`    // PreFilter's node names
	Rejected    map[string]Rejection `json:"rejected,omitempty"`    // by node
	Scores      map[string]Score     `json:"scores,omitempty"`      // by feasible node
	Best        []string             `json:"best,omitempty"`        // nodes with the highest total, sorted
	Message     string               `json:"message,omitempty"`     // the FailedScheduling text, including preemption's
	Preemptions []Preemption         `json:"preemptions,omitempty"` // PostFilter nominated one of these
	Error       string               `json:"error,omitempty"`       // the cycle ended in an error, not in a verdict
	Any         bool                 `json:"any,omitempty"`         // random upstream: repeated, it gave another result
}

// Verdict answers one scenario.
type Verdict struct {
	ID    string       `json:"id"`
	Error string       `json:"error,omitempty"` // the scenario could not be judged
	Pods  []PodVerdict `json:"pods"`
}

// decode decodes one JSON object into its type, with the API server's defaults.
func decode(raw []byte) (runtime.Object, error) {
	obj, gvk, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding %.120q: %w", raw, err)
	}
	legacyscheme.Scheme.Default(obj)
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return obj, nil
}

// readObjects reads files of JSON or YAML: single objects, Lists, or several YAML documents.
func readObjects(paths []string) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, doc := range strings.Split("\n"+string(data), "\n---") {
			if strings.TrimSpace(doc) == "" {
				continue
			}
			js, err := yaml.YAMLToJSON([]byte(doc))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			var u unstructured.Unstructured
			if err := json.Unmarshal(js, &u.Object); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if !strings.HasSuffix(u.GetKind(), "List") {
				out = append(out, js)
				continue
			}
			items, _, _ := unstructured.NestedSlice(u.Object, "items")
			for _, item := range items {
				b, err := json.Marshal(item)
				if err != nil {
					return nil, err
				}
				out = append(out, b)
			}
		}
	}
	return out, nil
}

// eachLine calls f with every non-empty line of r, of any length.
func eachLine(r io.Reader, f func(line []byte) error) error {
	br := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 1 {
			if ferr := f(line); ferr != nil {
				return ferr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func open(path string) (io.ReadCloser, error) {
	if path == "" || path == "-" {
		return os.Stdin, nil
	}
	return os.Open(path)
}
