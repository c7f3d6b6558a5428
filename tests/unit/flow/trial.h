/* SPDX-License-Identifier: Apache-2.0
 * An engine for tests, with nodes and pods out of YAML.
 */
#pragma once

#include "object_fixture.h"

#include "engine/flow/engine.h"

#define CPU(amount) "containers: [{name: a, resources: {requests: {cpu: '" amount "'}}}]"

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_explanation explanation;
	struct bt_buf text;
};

/* Makes the engine of a configuration that is set up. */
static inline void start(struct trial *t, const struct bt_engine_options *options)
{
	struct bt_config_errors errors = {0};

	t->engine = bt_engine_create(&t->config, options, &errors);
	assert_non_null(t->engine);
	bt_config_errors_fini(&errors);
}

static inline struct trial begin(void **state)
{
	const struct bt_engine_options options = {.no_backoff = true};
	struct trial t = {.f = *state};

	bt_config_init_default(&t.config, NULL);
	start(&t, &options);
	return t;
}

static inline void end(struct trial *t)
{
	bt_explanation_fini(&t->explanation);
	bt_buf_fini(&t->text);
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

static inline const struct bt_object *read(struct trial *t, const char *format, const char *a, const char *b)
{
	bt_buf_clear(&t->text);
	bt_buf_printf(&t->text, format, a, b);
	return fixture_read(t->f, t->text.ptr);
}

static inline uint32_t add_node(struct trial *t, const char *name, const char *cpu)
{
	uint32_t slot = BT_NO_NODE;
	const struct bt_object *object = read(t,
		"{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: '%s', "
		"memory: 8Gi, pods: '10'}}}",
		name, cpu);

	assert_int_equal(bt_engine_apply_node(t->engine, &object->node, &slot), BT_OK);
	return slot;
}

static inline const char *numbered(char *out, size_t size, const char *what, uint32_t number)
{
	snprintf(out, size, "%s%" PRIu32, what, number);
	return out;
}

/* Nodes n0 and so on, each labeled with its name and a zone, of which there are two. */
static inline void add_labeled_nodes(struct trial *t, uint32_t n)
{
	char name[16], labels[128];

	for (uint32_t i = 0; i < n; i++) {
		numbered(name, sizeof(name), "n", i);
		snprintf(labels, sizeof(labels),
			"%s, labels: {kubernetes.io/hostname: %s, topology.kubernetes.io/zone: z%" PRIu32 "}",
			name, name, i % 2);
		assert_int_equal(add_node(t, labels, "4"), i);
	}
}

static inline uint32_t add_pod(struct trial *t, const char *metadata, const char *spec, const char *status)
{
	struct bt_buf body = {0};
	enum bt_entry entry;
	uint32_t ix;

	bt_buf_printf(&body, "schedulerName: default-scheduler, %s}, status: {%s", spec, status);
	const struct bt_object *object = read(t,
		strstr(metadata, "namespace")
			? "{apiVersion: v1, kind: Pod, metadata: {%s}, spec: {%s}}"
			: "{apiVersion: v1, kind: Pod, metadata: {namespace: default, %s}, spec: {%s}}",
		metadata, body.ptr);
	assert_int_equal(bt_engine_add_pod(t->engine, &object->pod, &entry, &ix), BT_OK);
	bt_buf_fini(&body);
	return ix;
}

static inline struct bt_decision decide(struct trial *t, uint32_t pod)
{
	struct bt_decision decision;

	assert_int_equal(bt_engine_pop(t->engine), pod);
	bt_engine_decide(t->engine, pod, &decision);
	return decision;
}

static inline const char *message(struct trial *t, uint32_t pod)
{
	bt_engine_explain(t->engine, pod, &t->explanation);
	bt_buf_clear(&t->text);
	bt_engine_message(t->engine, &t->explanation, &t->text);
	return t->text.ptr;
}
