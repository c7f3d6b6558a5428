// SPDX-License-Identifier: Apache-2.0

// Objects of any kind from YAML: created, waited for, and deleted after a case.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

type madeObject struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

func newMapper(c *connection) *restmapper.DeferredDiscoveryRESTMapper {
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Discovery()))
}

// documents splits YAML text into objects.
func documents(text string) ([]*unstructured.Unstructured, error) {
	reader := yamlreader.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	var all []*unstructured.Unstructured
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, document)
		}
		if len(object.Object) > 0 {
			all = append(all, object)
		}
	}
}

func (s *suite) client(object *unstructured.Unstructured) (dynamic.ResourceInterface, schema.GroupVersionResource, error) {
	kind := object.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, schema.GroupVersionResource{}, err
	}
	if mapping.Scope.Name() == "namespace" {
		if object.GetNamespace() == "" {
			object.SetNamespace("default")
		}
		return s.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()), mapping.Resource, nil
	}
	return s.dynamic.Resource(mapping.Resource), mapping.Resource, nil
}

// create creates an object with its status, and records it for clean.
func (s *suite) create(ctx context.Context, object *unstructured.Unstructured) error {
	if s.guest != nil {
		if err := s.guest.adapt(object); err != nil {
			return err
		}
	}
	client, resource, err := s.client(object)
	if err != nil {
		return err
	}
	status, hasStatus := object.Object["status"]
	made, err := client.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	s.made = append(s.made, madeObject{resource, object.GetNamespace(), object.GetName()})
	if hasStatus && made.Object["status"] == nil {
		made.Object["status"] = status
		_, err = client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	}
	return err
}

// apply creates all objects of a text.
func (s *suite) apply(ctx context.Context, text string) error {
	objects, err := documents(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := s.create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// clean deletes the case's objects, its pods first, and on an own cluster all other pods and nodes.
func (s *suite) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var failed error
	for i := len(s.made) - 1; i >= 0; i-- {
		o := s.made[i]
		err := s.dynamic.Resource(o.resource).Namespace(o.namespace).Delete(ctx, o.name, now0())
		if o.namespace == "" {
			err = s.dynamic.Resource(o.resource).Delete(ctx, o.name, now0())
		}
		if err != nil && !apierrors.IsNotFound(err) {
			failed = errors.Join(failed, err)
		}
	}
	if s.guest == nil {
		failed = errors.Join(failed, s.wipeAll(ctx))
	}
	for _, o := range s.made {
		failed = errors.Join(failed, eventually(ctx, time.Minute, func() error { return s.gone(ctx, o) }))
	}
	s.made = nil
	return failed
}

func (s *suite) gone(ctx context.Context, o madeObject) error {
	var left *unstructured.Unstructured
	var err error
	if o.namespace == "" {
		left, err = s.dynamic.Resource(o.resource).Get(ctx, o.name, metav1.GetOptions{})
	} else {
		left, err = s.dynamic.Resource(o.resource).Namespace(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	// No controller removes these finalizers here: a pool's protection, a claim's device.
	if len(left.GetFinalizers()) > 0 {
		left.SetFinalizers(nil)
		client, _, err := s.client(left)
		if err == nil {
			_, _ = client.Update(ctx, left, metav1.UpdateOptions{})
		}
	}
	return fmt.Errorf("%s %s is still there", o.resource.Resource, o.name)
}

func (s *suite) wipeAll(ctx context.Context) error {
	err := eventually(ctx, 3*time.Minute, func() error { return wipePods(ctx, s.admin, metav1.NamespaceDefault) })
	if err != nil {
		return err
	}
	return s.admin.CoreV1().Nodes().DeleteCollection(ctx, now0(), metav1.ListOptions{})
}
