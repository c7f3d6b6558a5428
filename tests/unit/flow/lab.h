/* SPDX-License-Identifier: Apache-2.0
 * A pipeline in one thread, with a source that speaks JSON, a binder that does as it is told, and a clock
 * that is moved by hand; for tests of what comes in which order.
 */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/flow/pipeline.h"
#include "tools/codec/object.h"

#define LAB_SECOND INT64_C(1000000000)
#define LAB_MAX	   64

/* What the binder was asked. */
struct lab_ask {
	uint64_t handle;
	char verb; /* b: bind, c: check, e: evict */
	char pod[64], uid[64], node[64];
	uint64_t preemption;
	uint32_t after_n;
};

struct lab_decision {
	enum bt_outcome outcome;
	char pod[64], node[64], nominated[64], message[256];
	uint32_t victim_n;
};

struct lab {
	struct bt_config config;
	struct bt_pipeline *pipeline;
	struct bt_json *json;
	int64_t now_ns;
	bool answers; /* the binder says yes at once */
	struct lab_ask asks[LAB_MAX];
	uint32_t ask_n;
	struct lab_decision decisions[LAB_MAX];
	uint32_t decision_n;
};

static inline void lab_write(char *out, size_t size, struct bt_str text)
{
	snprintf(out, size, "%.*s", BT_STR_ARG(text));
}

static inline void lab_note(struct lab *lab, char verb, const struct bt_ask *ask)
{
	assert_true(lab->ask_n < LAB_MAX);
	struct lab_ask *note = &lab->asks[lab->ask_n++];
	note->handle = ask->handle;
	note->verb = verb;
	note->preemption = ask->preemption;
	note->after_n = ask->after_n;
	lab_write(note->pod, sizeof(note->pod), ask->pod.name);
	lab_write(note->uid, sizeof(note->uid), ask->pod.uid);
	lab_write(note->node, sizeof(note->node), ask->node);
}

static inline void lab_bind(void *context, struct bt_pipeline *pipeline, const struct bt_ask *ask)
{
	struct lab *lab = context;

	lab_note(lab, 'b', ask);
	if (lab->answers) {
		assert_int_equal(bt_pipeline_bound(pipeline, ask->handle), BT_OK);
	}
}

static inline void lab_evict(void *context, struct bt_pipeline *pipeline, const struct bt_ask *ask)
{
	(void)pipeline;
	lab_note(context, 'e', ask);
}

static inline void lab_check(void *context, struct bt_pipeline *pipeline, const struct bt_ask *ask)
{
	(void)pipeline;
	lab_note(context, 'c', ask);
}

static inline void lab_decided(void *context, const struct bt_pipeline_decision *decision)
{
	struct lab *lab = context;

	assert_true(lab->decision_n < LAB_MAX);
	struct lab_decision *note = &lab->decisions[lab->decision_n++];
	note->outcome = decision->outcome;
	note->victim_n = decision->victim_n;
	lab_write(note->pod, sizeof(note->pod), decision->pod.name);
	lab_write(note->node, sizeof(note->node), decision->node);
	lab_write(note->nominated, sizeof(note->nominated), decision->nominated);
	lab_write(note->message, sizeof(note->message), decision->message);
}

/* Limits at which everything is full soon. */
static inline struct bt_limits lab_small_limits(void)
{
	struct bt_limits limits = bt_limits_default();

	limits.feed = limits.delta = limits.inbox = limits.asks = limits.bindings = limits.tombstones = 4;
	limits.batch = limits.events = limits.spent = 4;
	limits.run = 1;
	return limits;
}

static inline struct bt_pipeline_options lab_options(struct lab *lab)
{
	return (struct bt_pipeline_options){
		.limits = lab_small_limits(),
		.engine = {.seed = 1, .clock = bt_clock_virtual(&lab->now_ns)},
		.binder = {.bind = lab_bind, .evict = lab_evict, .check = lab_check, .context = lab},
		.sink = {.decided = lab_decided, .context = lab},
		.messages = true,
	};
}

/* With a configuration that is there already. */
static inline void lab_open(struct lab *lab, const struct bt_pipeline_options *options)
{
	struct bt_config_errors errors = {0};

	lab->json = bt_json_create();
	lab->pipeline = bt_pipeline_create(&lab->config, options, &errors);
	assert_non_null(lab->pipeline);
	bt_config_errors_fini(&errors);
}

static inline void lab_begin(struct lab *lab, const struct bt_pipeline_options *options)
{
	bt_config_init_default(&lab->config, NULL);
	lab_open(lab, options);
}

static inline void lab_end(struct lab *lab)
{
	bt_pipeline_destroy(lab->pipeline);
	bt_config_fini(&lab->config);
	bt_json_destroy(lab->json);
}

static inline int lab_setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	const struct bt_pipeline_options options = lab_options(lab);

	lab_begin(lab, &options);
	*state = lab;
	return 0;
}

static inline int lab_teardown(void **state)
{
	lab_end(*state);
	free(*state);
	return 0;
}

/* A parcel of an object that is written as JSON with ' for ". */
static inline struct bt_parcel *lab_parcel(struct lab *lab, enum bt_parcel_kind kind, const char *text)
{
	struct bt_parcel *parcel = bt_parcel_create(kind);
	char *own = bt_arena_copy(&parcel->arena, text, strlen(text));
	struct bt_decode decode = {.json = lab->json, .arena = &parcel->arena};

	for (char *c = own; *c; c++) {
		*c = *c == '\'' ? '"' : *c;
	}
	bt_json_begin(lab->json, bt_str(own), &parcel->arena);
	if (!bt_object_decode(&decode, &parcel->object)) {
		fail_msg("%s: %s: %s", text, decode.error.path, decode.error.message);
	}
	return parcel;
}

static inline void lab_feed(struct lab *lab, struct bt_parcel *parcel)
{
	assert_int_equal(bt_pipeline_feed(lab->pipeline, 0, &parcel, BT_FOREVER), BT_OK);
	assert_null(parcel);
}

static inline void lab_node_event(
	struct lab *lab, enum bt_parcel_kind kind, const char *name, const char *meta)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%s'%s}, 'status': "
		"{'allocatable': {'cpu': '2', 'memory': '8Gi', 'pods': '10'}}}",
		name, meta);
	lab_feed(lab, lab_parcel(lab, kind, text));
}

static inline void lab_node(struct lab *lab, const char *name)
{
	lab_node_event(lab, BT_PARCEL_APPLY, name, "");
}

/* An event about a pod that asks for a CPU. meta and spec begin with a comma when there is anything in them.
 */
static inline void lab_pod_event(
	struct lab *lab, enum bt_parcel_kind kind, const char *name, const char *meta, const char *spec)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': '%s'%s}, "
		"'spec': "
		"{'schedulerName': 'default-scheduler', 'containers': [{'name': 'a', 'resources': "
		"{'requests': "
		"{'cpu': '1'}}}]%s}}",
		name, meta, spec);
	lab_feed(lab, lab_parcel(lab, kind, text));
}

static inline void lab_pod(struct lab *lab, const char *name, const char *meta)
{
	lab_pod_event(lab, BT_PARCEL_APPLY, name, meta, "");
}

/* Brings what was fed to the engine, without a decision. */
static inline void lab_take_in(struct lab *lab)
{
	bool any = true;

	while (any) {
		any = bt_pipeline_ingest_step(lab->pipeline, 0);
		any |= bt_pipeline_publish_step(lab->pipeline);
		any |= bt_pipeline_apply_step(lab->pipeline);
	}
}

static inline void lab_settle(struct lab *lab)
{
	bt_pipeline_settle(lab->pipeline);
}

/* Moves the clock and lets happen what is due. */
static inline void lab_wait(struct lab *lab, int64_t ns)
{
	lab->now_ns += ns;
	lab_settle(lab);
}

static inline struct bt_pipeline_counts lab_counts(const struct lab *lab)
{
	return bt_pipeline_counts(lab->pipeline);
}

/* The pod of that name in the default namespace, or NULL. */
static inline const struct bt_pod *lab_find(const struct lab *lab, const char *name)
{
	struct bt_engine *engine = bt_pipeline_engine(lab->pipeline);
	uint32_t pod_ix = bt_engine_find_pod(engine, bt_str("default"), bt_str(name));

	return pod_ix == BT_NO_POD ? NULL : bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix);
}

/* How many pods are in which set; what pods use has to agree with it (I4). */
static inline void lab_assert_sets(
	const struct lab *lab, uint64_t queued, uint64_t assumed, uint64_t scheduled)
{
	struct bt_engine *engine = bt_pipeline_engine(lab->pipeline);
	const struct bt_view *view = &bt_engine_cache(engine)->view;
	struct bt_engine_counts counts = bt_engine_counts(engine);
	int64_t pod_n = 0;

	assert_int_equal(counts.sets.queued, queued);
	assert_int_equal(counts.sets.assumed, assumed);
	assert_int_equal(counts.sets.scheduled, scheduled);
	for (uint32_t i = 0; i < view->snapshot->slot_n; i++) {
		pod_n += view->usage->nodes[i].pod_n;
	}
	assert_int_equal(pod_n, assumed + scheduled);
}

#define LAB_TEST(test) cmocka_unit_test_setup_teardown(test, lab_setup, lab_teardown)
