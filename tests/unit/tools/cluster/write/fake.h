/* SPDX-License-Identifier: Apache-2.0
 * A writer between a simulated server and a pipeline that records reports: the client's calls, the
 * pipeline's functions and the clocks are replaced at link time, so everything happens in one thread, in the
 * order of the test's lines.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/model/intern.h"
#include "engine/model/object.h"
#include "tools/cluster/net/client_metrics.h"
#include "tools/cluster/write/writer.h"

#define FAKE_S	   INT64_C(1000000000)
#define FAKE_WALL  (INT64_C(1767225600) * FAKE_S) /* 2026-01-01T00:00:00Z at the start */
#define FAKE_CALLS 2048

struct fake_call {
	struct bt_http_call call;
	char method[8], path[256], type[80], body[4096];
	size_t body_n;
	bool over;
};

struct fake_timer {
	int64_t at_ns;
	void (*call)(void *context);
	void *context;
};

/* A single one, because the replaced functions have no context for it. */
static struct fake {
	struct bt_writer *writer;
	struct fake_call calls[FAKE_CALLS];
	uint32_t call_n;
	struct fake_timer timers[FAKE_CALLS];
	uint32_t timer_n;
	int64_t now_ns;
	struct bt_buf reported; /* the writer's reports to the pipeline, one per line */
	struct bt_engine *engine;
	struct bt_intern *names;
	bool may_write;
	struct bt_client_metrics metrics;
} fake;

static bool fake_speaks_proto; /* clientConnection.contentType is protobuf */

/* ---- client ---- */

struct bt_http *bt_http_create(const struct bt_http_options *options, struct bt_buf *out_error)
{
	(void)options;
	(void)out_error;
	return (struct bt_http *)&fake;
}

struct bt_client_metrics *bt_client_config_metrics(const struct bt_client_config *access)
{
	(void)access;
	return &fake.metrics;
}

static inline void fake_copy(char *out, size_t size, struct bt_str text)
{
	assert_true(text.len < size);
	memcpy(out, text.len ? text.ptr : "", text.len);
	out[text.len] = 0;
}

uint64_t bt_http_send(struct bt_http *http, const struct bt_http_call *call)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
	struct fake_call *noted = &fake.calls[fake.call_n];

	(void)http;
	assert_true(fake.call_n < FAKE_CALLS);
	*noted = (struct fake_call){.call = *call, .body_n = call->body.len};
	fake_copy(noted->method, sizeof(noted->method), bt_str(methods[call->method]));
	fake_copy(noted->path, sizeof(noted->path), call->path);
	fake_copy(noted->type, sizeof(noted->type), call->content_type);
	fake_copy(noted->body, sizeof(noted->body), call->body);
	return ++fake.call_n;
}

void bt_http_after(struct bt_http *http, int64_t delay_ns, void (*call)(void *context), void *context)
{
	(void)http;
	assert_true(fake.timer_n < FAKE_CALLS);
	fake.timers[fake.timer_n++] = (struct fake_timer){fake.now_ns + delay_ns, call, context};
}

/* Ends the i-th call. */
static inline void fake_end_bytes(
	uint32_t i, enum bt_http_end end, uint32_t status, int64_t retry_after_ns, struct bt_str body)
{
	struct fake_call *noted = &fake.calls[i];
	const struct bt_http_head head = {.status = status, .retry_after_ns = retry_after_ns};

	assert_true(i < fake.call_n);
	assert_false(noted->over);
	noted->over = true;
	noted->call.done(noted->call.context, end, end == BT_HTTP_ANSWERED ? &head : NULL, body,
		bt_str(end == BT_HTTP_ANSWERED ? "" : "the connection is gone"));
}

static inline void fake_end(
	uint32_t i, enum bt_http_end end, uint32_t status, int64_t retry_after_ns, const char *body)
{
	fake_end_bytes(i, end, status, retry_after_ns, bt_str(body));
}

void bt_http_destroy(struct bt_http *http)
{
	(void)http;
	for (uint32_t i = 0; i < fake.call_n; i++) {
		if (!fake.calls[i].over) {
			fake_end(i, BT_HTTP_CANCELLED, 0, -1, "");
		}
	}
}

/* ---- pipeline ---- */

static inline enum bt_status note(const char *what, uint64_t handle, struct bt_str reason)
{
	bt_buf_printf(&fake.reported, "%s %llu", what, (unsigned long long)handle);
	if (reason.len) {
		bt_buf_printf(&fake.reported, " %.*s", BT_STR_ARG(reason));
	}
	bt_buf_char(&fake.reported, '\n');
	return BT_OK;
}

enum bt_status bt_pipeline_bound(struct bt_pipeline *pipeline, uint64_t handle)
{
	(void)pipeline;
	return note("bound", handle, (struct bt_str){.len = 0});
}

enum bt_status bt_pipeline_bind_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason)
{
	(void)pipeline;
	return note("failed", handle, reason);
}

enum bt_status bt_pipeline_answer(
	struct bt_pipeline *pipeline, uint64_t handle, const struct bt_binding_answer *answer)
{
	(void)pipeline;
	note(answer->bound ? "bound" : "failed", handle, answer->reason);
	for (uint32_t i = 0; i < answer->claim_n; i++) {
		const struct bt_written_claim *claim = &answer->claims[i];

		bt_buf_printf(&fake.reported, "claim %.*s %.*s %llu%s%s\n", BT_STR_ARG(claim->name),
			BT_STR_ARG(claim->uid), (unsigned long long)claim->version,
			claim->reserved ? " reserved" : "", claim->special ? " special" : "");
	}
	return BT_OK;
}

enum bt_status bt_pipeline_unknown(struct bt_pipeline *pipeline, uint64_t handle)
{
	(void)pipeline;
	return note("unknown", handle, (struct bt_str){.len = 0});
}

enum bt_status bt_pipeline_evicted(struct bt_pipeline *pipeline, uint64_t handle)
{
	(void)pipeline;
	return note("evicted", handle, (struct bt_str){.len = 0});
}

enum bt_status bt_pipeline_evict_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason)
{
	(void)pipeline;
	return note("evict failed", handle, reason);
}

struct bt_intern *bt_pipeline_names(const struct bt_pipeline *pipeline)
{
	(void)pipeline;
	return fake.names;
}

struct bt_engine *bt_pipeline_engine(struct bt_pipeline *pipeline)
{
	(void)pipeline;
	return fake.engine;
}

/* ---- called by tests ---- */

static inline int64_t fake_now(void *context)
{
	return fake.now_ns + *(const int64_t *)context;
}

static inline bool fake_may_write(void *context)
{
	(void)context;
	return fake.may_write;
}

/* A writer without limits unless the options set some. */
static inline struct bt_writer *fake_begin(struct bt_writer_options options)
{
	static const int64_t wall = FAKE_WALL, steady = 0;

	memset(&fake, 0, sizeof(fake));
	fake.may_write = true;
	fake.names = bt_intern_create();
	options.qps = options.qps == 0 ? -1 : options.qps;
	options.host = "h";
	options.json = !fake_speaks_proto;
	options.may_write = fake_may_write;
	options.wall = (struct bt_clock){fake_now, (void *)(uintptr_t)&wall};
	options.steady = (struct bt_clock){fake_now, (void *)(uintptr_t)&steady};
	fake.writer = bt_writer_create(&options, NULL);
	bt_writer_attach(fake.writer, NULL);
	return fake.writer;
}

/* Ends the writer; its reports stay. */
static inline void fake_stop(void)
{
	bt_writer_destroy(fake.writer);
	bt_intern_destroy(fake.names);
}

static inline void fake_finish(void)
{
	fake_stop();
	bt_buf_fini(&fake.reported);
}

/* The tests' teardown. */
static inline int fake_teardown(void **state)
{
	(void)state;
	fake_finish();
	return 0;
}

/* Advances time, and fires timers in order. */
static inline void fake_pass(int64_t ns)
{
	int64_t end_ns = fake.now_ns + ns;

	for (;;) {
		uint32_t first = fake.timer_n;

		for (uint32_t i = 0; i < fake.timer_n; i++) {
			if (fake.timers[i].at_ns <= end_ns &&
				(first == fake.timer_n || fake.timers[i].at_ns < fake.timers[first].at_ns)) {
				first = i;
			}
		}
		if (first == fake.timer_n) {
			break;
		}
		const struct fake_timer timer = fake.timers[first];
		memmove(&fake.timers[first], &fake.timers[first + 1],
			(fake.timer_n - first - 1) * sizeof(timer));
		fake.timer_n--;
		fake.now_ns = timer.at_ns > fake.now_ns ? timer.at_ns : fake.now_ns;
		timer.call(timer.context);
	}
	fake.now_ns = end_ns;
}

static inline void fake_answer(uint32_t i, uint32_t status, const char *body)
{
	fake_end(i, BT_HTTP_ANSWERED, status, -1, body);
}

static inline void fake_status(uint32_t i, uint32_t status, const char *message)
{
	char body[512];

	snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"reason\":\"x\",\"message\":\"%s\",\"code\":%u}",
		message, status);
	fake_answer(i, status, body);
}

/* The path of the tests' binding. */
#define BINDING "/api/v1/namespaces/ns/pods/p/binding"

/* Checks the i-th call. */
static inline void sent(uint32_t i, const char *method, const char *path)
{
	assert_true(i < fake.call_n);
	assert_string_equal(fake.calls[i].method, method);
	assert_string_equal(fake.calls[i].path, path);
}

/* Checks the reports since the last call. */
static inline void expect_reports(const char *lines)
{
	assert_string_equal(fake.reported.len ? fake.reported.ptr : "", lines);
	bt_buf_clear(&fake.reported);
	if (fake.reported.ptr) {
		fake.reported.ptr[0] = 0;
	}
}

/* The UID of most tests' pod is "u"; other pods have others. */
static inline const char *fake_uid(const char *pod)
{
	return strcmp(pod, "p") == 0 ? "u" : pod;
}

static inline struct bt_bind_request fake_bind_request(
	uint64_t handle, const char *pod, const char *uid, const char *node)
{
	return (struct bt_bind_request){.handle = handle,
		.number = handle,
		.pod = {bt_str("ns"), bt_str(pod), bt_str(uid)},
		.node = bt_str(node)};
}

static inline void bind(uint64_t handle, const char *pod, const char *node)
{
	const struct bt_bind_request request = fake_bind_request(handle, pod, fake_uid(pod), node);
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	binder.bind(binder.context, NULL, &request);
	fake_pass(0);
}

static inline void check(uint64_t handle, uint64_t number, const char *pod, const char *node)
{
	struct bt_bind_request request = fake_bind_request(handle, pod, fake_uid(pod), node);
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	request.number = number;
	binder.check(binder.context, NULL, &request);
	fake_pass(0);
}

static inline void evict(uint64_t handle, const char *pod, const char *node, const char *other)
{
	struct bt_bind_request request = fake_bind_request(handle, pod, fake_uid(pod), node);
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	request.other = (struct bt_pod_ref){bt_str("ns"), bt_str(other), bt_str(fake_uid(other))};
	binder.evict(binder.context, NULL, &request);
	fake_pass(0);
}

/* Releases a claim that blocks the pod. */
static inline void release_claim(uint64_t handle, const char *pod, const char *claim)
{
	struct bt_bind_request request = fake_bind_request(handle, pod, fake_uid(pod), "");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	request.other = (struct bt_pod_ref){bt_str("ns"), bt_str(claim), bt_str(fake_uid(claim))};
	binder.release(binder.context, NULL, &request);
	fake_pass(0);
}

static inline struct bt_object fake_pod(
	const char *name, const char *uid, const char *version, const char *node)
{
	return (struct bt_object){.kind = BT_KIND_POD,
		.pod = {.meta = {.name = bt_str(name),
				.namespace_ = bt_str("ns"),
				.uid = bt_str(uid),
				.resource_version = bt_str(version),
				.generation = 1},
			.spec = {.scheduler_name = bt_str("s"), .node_name = bt_str(node)}}};
}

static inline void show_object(enum bt_watch_event_kind what, const struct bt_object *object)
{
	const struct bt_watch_listener listener = bt_writer_listener(fake.writer);

	listener.event(listener.context, what, object);
	fake_pass(0);
}

/* The watch shows a pod of that name; pending when node is empty. */
static inline void show(const char *name, const char *version, const char *node)
{
	const struct bt_object pod = fake_pod(name, fake_uid(name), version, node);

	show_object(BT_WATCH_EVENT_APPLY, &pod);
}
