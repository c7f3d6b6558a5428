// SPDX-License-Identifier: Apache-2.0

// Writes random pods and nodes as JSON and as protobuf, both by Kubernetes' own encoders: what a decoder has to
// agree about. In a module that requires k8s.io/client-go v0.36.3: go run . 1 14 5 > objects
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func filler(seed int64) *randfill.Filler {
	suffixes := []string{"", "m", "Ki", "Mi", "Gi", "k", "M"}
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 2).MaxDepth(30).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(strconv.Itoa(c.Intn(100000)) + suffixes[c.Intn(len(suffixes))])
		},
		func(s *string, c randfill.Continue) {
			runes := []rune("abcdeXYZ019-./\"\\éλ中😀")
			*s = ""
			for n := c.Intn(6); n > 0; n-- {
				*s += string(runes[c.Intn(len(runes))])
			}
		},
		func(t *metav1.Time, c randfill.Continue) {
			*t = metav1.Time{}
			if c.Intn(4) != 0 {
				t.Time = time.Unix(c.Int63n(7000000000), 0)
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(7000000000), 0) },
		func(f *metav1.FieldsV1, c randfill.Continue) { f.Raw = []byte("{\"f:spec\":{}}") },
		func(r *v1.ContainerRestartRule, c randfill.Continue) {
			r.Action = []v1.ContainerRestartRuleAction{"Restart", "RestartAllContainers"}[c.Intn(2)]
		},
		// A volume has one source.
		func(s *v1.VolumeSource, c randfill.Continue) {
			c.FillNoCustom(s)
			fields := reflect.ValueOf(s).Elem()
			for i, keep := 0, c.Intn(fields.NumField()); i < fields.NumField(); i++ {
				if i != keep {
					fields.Field(i).SetZero()
				}
			}
		},
		// An empty list and none differ in JSON only.
		func(s *v1.RBDVolumeSource, c randfill.Continue) {
			c.FillNoCustom(s)
			s.CephMonitors = append(s.CephMonitors, "monitor")
		},
		func(i *v1.ContainerImage, c randfill.Continue) {
			c.FillNoCustom(i)
			i.Names = append(i.Names, "image")
		},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			c.FillNoCustom(m)
			m.Name = "name-" + strconv.Itoa(c.Intn(1000))
		},
	)
}

func write(object runtime.Object) {
	codecs := []runtime.Encoder{
		json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}),
		protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
	}
	for _, codec := range codecs {
		var out bytes.Buffer
		check(codec.Encode(object, &out))
		check(binary.Write(os.Stdout, binary.BigEndian, uint32(out.Len())))
		_, err := os.Stdout.Write(out.Bytes())
		check(err)
	}
}

func main() {
	var numbers [3]int
	for i := range numbers {
		n, err := strconv.Atoi(os.Args[i+1])
		check(err)
		numbers[i] = n
	}
	f := filler(int64(numbers[0]))
	for i := 0; i < numbers[1]+numbers[2]; i++ {
		kind := "Pod"
		var object runtime.Object
		if i < numbers[1] {
			pod := &v1.Pod{}
			f.Fill(pod)
			object = pod
		} else {
			kind = "Node"
			node := &v1.Node{}
			f.Fill(node)
			object = node
		}
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
		write(object)
	}
}
