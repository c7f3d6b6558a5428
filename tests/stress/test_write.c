/* SPDX-License-Identifier: Apache-2.0
 * The writer under stress: several binder threads, a scheduling thread's reports, a watch, and a client
 * with its own thread, whose server sometimes does not answer. Every binding is answered once, with its own
 * texts (EDGE write.inbox).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/rng.h"
#include "engine/base/thread.h"
#include "engine/model/intern.h"
#include "seed.h"
#include "stress.h"
#include "tools/cluster/write/writer.h"

#define BINDERS	 3
#define PODS	 3000 /* per binder */
#define DRAIN_NS INT64_C(60000000000)

/* ---- a client with a table in place of the server ---- */

struct task {
	struct task *next;
	int64_t at_ns;
	void (*call)(void *context);
	void *context;
	struct bt_http_call http; /* call == NULL */
	char *path;
};

static struct {
	struct bt_lock lock;
	struct task *tasks; /* lock(lock) */
	bool ends;	    /* lock(lock) */
	struct bt_eventcount park;
	struct bt_thread *thread;
	/* owner: the client's thread */
	bool bound[BINDERS * PODS];
	struct bt_rng rng;
	_Atomic uint32_t answers[BINDERS * PODS];
} server;

static void add_task(const struct task *task)
{
	struct task *copy = bt_mem_zalloc(1, sizeof(*copy));

	*copy = *task;
	bt_lock_acquire(&server.lock);
	copy->next = server.tasks;
	server.tasks = copy;
	bt_lock_release(&server.lock);
	bt_eventcount_wake(&server.park);
}

uint64_t bt_http_send(struct bt_http *http, const struct bt_http_call *call)
{
	struct task task = {.http = *call, .path = bt_mem_copy(call->path.ptr, call->path.len)};

	(void)http;
	add_task(&task);
	return 1;
}

void bt_http_after(struct bt_http *http, int64_t delay_ns, void (*call)(void *context), void *context)
{
	/* Later callbacks run soon: an early timer does no harm. */
	int64_t wait_ns = delay_ns < 1000000 ? delay_ns : 1000000;

	(void)http;
	add_task(
		&(struct task){.at_ns = bt_clock_monotonic_ns() + wait_ns, .call = call, .context = context});
}

static void end_call(struct task *task, enum bt_http_end end, uint32_t status, const char *body)
{
	const struct bt_http_head head = {.status = status, .retry_after_ns = -1};

	task->http.done(task->http.context, end, &head, bt_str(body), (struct bt_str){.len = 0});
}

static void serve_binding(struct task *task, uint32_t pod)
{
	char taken[128];

	snprintf(taken, sizeof(taken), "{\"message\":\"pod p%u is already assigned to node \\\"n%u\\\"\"}",
		pod, pod % 7);
	uint32_t fate = bt_rng_below(&server.rng, 16);
	if (server.bound[pod]) {
		end_call(task, BT_HTTP_ANSWERED, 409, taken);
		return;
	}
	server.bound[pod] = fate != 0;
	if (fate < 2) {
		end_call(task, BT_HTTP_LOST, 0, "");
	} else {
		end_call(task, BT_HTTP_ANSWERED, 201, "{}");
	}
}

static void perform(struct task *task)
{
	uint32_t pod;

	if (task->call) {
		task->call(task->context);
	} else if (sscanf(task->path, "/api/v1/namespaces/ns/pods/p%u/binding", &pod) == 1) {
		serve_binding(task, pod);
	} else {
		end_call(task, BT_HTTP_ANSWERED, 201, "{}");
	}
	bt_mem_free(task->path);
	bt_mem_free(task);
}

/* Takes the tasks that are due. Returns: false at the end. */
static bool take_tasks(struct task **out)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	bool ends;

	*out = NULL;
	bt_lock_acquire(&server.lock);
	for (struct task **at = &server.tasks; *at;) {
		struct task *task = *at;

		if (task->at_ns > now_ns) {
			at = &task->next;
			continue;
		}
		*at = task->next;
		task->next = *out;
		*out = task;
	}
	ends = server.ends;
	bt_lock_release(&server.lock);
	return !ends;
}

static void run_client(void *context)
{
	struct task *tasks;

	(void)context;
	while (take_tasks(&tasks)) {
		uint32_t key = bt_eventcount_prepare(&server.park);

		if (!tasks) {
			bt_eventcount_wait(&server.park, key, 200000);
		}
		for (struct task *next; tasks; tasks = next) {
			next = tasks->next;
			perform(tasks);
		}
	}
	for (struct task *next; tasks; tasks = next) {
		next = tasks->next;
		bt_mem_free(tasks->path);
		bt_mem_free(tasks);
	}
}

struct bt_http *bt_http_create(const struct bt_http_options *options, struct bt_buf *out_error)
{
	const struct bt_thread_options thread = {.name = "client"};

	(void)options;
	bt_lock_init(&server.lock);
	bt_eventcount_init(&server.park);
	STRESS_CHECK(bt_thread_start(&thread, run_client, NULL, &server.thread, out_error) == BT_OK);
	return (struct bt_http *)&server;
}

void bt_http_destroy(struct bt_http *http)
{
	(void)http;
	bt_lock_acquire(&server.lock);
	server.ends = true;
	bt_lock_release(&server.lock);
	bt_eventcount_wake(&server.park);
	bt_thread_join(&server.thread);
	for (struct task *next; server.tasks; server.tasks = next) {
		next = server.tasks->next;
		STRESS_CHECK(server.tasks->call != NULL);
		bt_mem_free(server.tasks);
	}
}

/* ---- a pipeline that counts ---- */

static enum bt_status count(uint64_t handle, bool good)
{
	STRESS_CHECK(good && handle >= 1 && handle <= BINDERS * PODS);
	bt_add(&server.answers[handle - 1], 1u);
	return BT_OK;
}

enum bt_status bt_pipeline_bound(struct bt_pipeline *pipeline, uint64_t handle)
{
	(void)pipeline;
	return count(handle, true);
}

enum bt_status bt_pipeline_bind_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason)
{
	(void)pipeline;
	(void)reason;
	return count(handle, false);
}

enum bt_status bt_pipeline_answer(
	struct bt_pipeline *pipeline, uint64_t handle, const struct bt_binding_answer *answer)
{
	(void)pipeline;
	return count(handle, answer->bound);
}

enum bt_status bt_pipeline_unknown(struct bt_pipeline *pipeline, uint64_t handle)
{
	(void)pipeline;
	return count(handle, false);
}

enum bt_status bt_pipeline_evicted(struct bt_pipeline *pipeline, uint64_t handle)
{
	(void)pipeline;
	return count(handle, false);
}

enum bt_status bt_pipeline_evict_failed(struct bt_pipeline *pipeline, uint64_t handle, struct bt_str reason)
{
	(void)pipeline;
	(void)reason;
	return count(handle, false);
}

struct bt_engine *bt_pipeline_engine(struct bt_pipeline *pipeline)
{
	(void)pipeline;
	return NULL;
}

static struct bt_intern *names; /* init: */

struct bt_intern *bt_pipeline_names(const struct bt_pipeline *pipeline)
{
	(void)pipeline;
	return names;
}

/* ---- the threads ---- */

static void send_request(void *context, uint32_t ix)
{
	struct bt_writer *writer = context;
	const struct bt_pipeline_binder binder = bt_writer_binder(writer);

	for (uint32_t i = 0; i < PODS; i++) {
		uint32_t pod = ix * PODS + i;
		char name[16], node[16];

		snprintf(name, sizeof(name), "p%u", pod);
		snprintf(node, sizeof(node), "n%u", pod % 7);
		const struct bt_bind_request request = {.handle = pod + 1,
			.number = pod + 1,
			.pod = {bt_str("ns"), bt_str(name), bt_str(name)},
			.node = bt_str(node)};
		binder.bind(binder.context, NULL, &request);
	}
}

/* The watch shows the pods, unbound and bound, while they are being bound. */
static void show_pods(void *context, uint32_t ix)
{
	struct bt_writer *writer = context;
	const struct bt_watch_listener listener = bt_writer_listener(writer);

	(void)ix;
	for (uint32_t i = 0; i < 2 * BINDERS * PODS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i / 2);
		const struct bt_object pod = {.kind = BT_KIND_POD,
			.pod = {.meta = {.name = bt_str(name),
					.namespace_ = bt_str("ns"),
					.uid = bt_str(name),
					.resource_version = bt_str("7")},
				.spec = {.scheduler_name = bt_str("s"),
					.node_name = bt_str(i % 2 ? "n1" : "")}}};
		listener.event(listener.context, BT_WATCH_EVENT_APPLY, &pod);
	}
}

static void every_binding_is_answered_once(void **state)
{
	struct bt_writer *writer =
		bt_writer_create(&(struct bt_writer_options){.qps = -1, .host = "h"}, NULL);
	struct stress_team team = {.member_n = 0};

	(void)state;
	names = bt_intern_create();
	server.rng.state = seed_of_test();
	bt_writer_attach(writer, NULL);
	for (int i = 0; i < BINDERS; i++) {
		stress_add(&team, send_request, writer);
	}
	stress_add(&team, show_pods, writer);
	stress_run(&team);
	assert_true(bt_writer_drain(writer, DRAIN_NS));
	assert_int_equal(bt_writer_counts(writer).bound_n, BINDERS * PODS);
	assert_true(bt_writer_counts(writer).lost_n > 0);
	bt_writer_destroy(writer);
	bt_intern_destroy(names);
	for (uint32_t i = 0; i < BINDERS * PODS; i++) {
		assert_int_equal(bt_load_relaxed(&server.answers[i]), 1);
		assert_true(server.bound[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_binding_is_answered_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
