/* SPDX-License-Identifier: Apache-2.0
 * A client, a pipeline and a clock for the watch's tests.
 */
#include "fake.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

struct bt_http {
	int unused;
};

struct timer {
	int64_t due_ns;
	uint64_t number;
	void (*call)(void *context);
	void *context;
};

struct fake_call fake_calls[FAKE_CALLS];
uint32_t fake_call_n;
struct fake_fed fake_fed[FAKE_FED];
uint32_t fake_fed_n, fake_room = UINT32_MAX;
enum bt_status fake_full = BT_FULL;

static struct bt_http http;
static struct timer timers[256];
static uint32_t timer_n;
static uint64_t timer_number;
static int64_t now_ns;
static bool closing;

void fake_reset(void)
{
	for (uint32_t i = 0; i < fake_call_n; i++) {
		bt_buf_fini(&fake_calls[i].path);
		bt_buf_fini(&fake_calls[i].held);
	}
	memset(fake_calls, 0, fake_call_n * sizeof(fake_calls[0]));
	fake_call_n = fake_fed_n = timer_n = 0;
	fake_room = UINT32_MAX;
	fake_full = BT_FULL;
	now_ns = 0;
	closing = false;
}

/* ---- calls ---- */

struct bt_http *bt_http_create(const struct bt_http_options *options, struct bt_buf *out_error)
{
	(void)options;
	(void)out_error;
	return &http;
}

void bt_http_destroy(struct bt_http *client)
{
	(void)client;
	closing = true;
	for (uint32_t i = 0; i < fake_call_n; i++) {
		if (fake_calls[i].open) {
			fake_done(&fake_calls[i], BT_HTTP_CANCELLED);
		}
	}
}

uint64_t bt_http_send(struct bt_http *client, const struct bt_http_call *call)
{
	(void)client;
	BT_REQUIRE(fake_call_n < FAKE_CALLS && !closing);
	struct fake_call *fake = &fake_calls[fake_call_n++];

	*fake = (struct fake_call){.id = fake_call_n, .call = *call, .open = true};
	bt_buf_str(&fake->path, call->path);
	return fake->id;
}

void bt_http_cancel(struct bt_http *client, uint64_t call)
{
	(void)client;
	fake_calls[call - 1].cancelled = true;
}

void bt_http_pause(struct bt_http *client, uint64_t call, bool paused)
{
	struct fake_call *fake = &fake_calls[call - 1];
	struct bt_buf held = fake->held;

	(void)client;
	BT_REQUIRE(fake->open && fake->paused != paused);
	fake->paused = paused;
	if (!paused && held.len) {
		/* As libcurl does: held data arrives within this call. */
		fake->held = (struct bt_buf){0};
		fake_data(fake, bt_buf_view(&held), 0);
		bt_buf_fini(&held);
	}
}

struct bt_http_counts bt_http_counts(const struct bt_http *client)
{
	(void)client;
	return (struct bt_http_counts){.call_n = fake_call_n};
}

struct fake_call *fake_find(const char *prefix)
{
	for (uint32_t i = fake_call_n; i-- > 0;) {
		if (fake_calls[i].open && bt_str_starts(bt_buf_view(&fake_calls[i].path), prefix)) {
			return &fake_calls[i];
		}
	}
	return NULL;
}

static struct bt_http_head head;

void fake_head(struct fake_call *call, uint32_t status, const char *content_type, int64_t retry_after_ns)
{
	head = (struct bt_http_head){
		.status = status, .content_type = bt_str(content_type), .retry_after_ns = retry_after_ns};
	call->head_sent = true;
	call->call.head(call->call.context, &head);
}

static void give(struct fake_call *call, const char *bytes, size_t n)
{
	char *exact = bt_mem_copy(bytes, n); /* freed after the call */

	if (!call->call.data(call->call.context, exact, n)) {
		call->cancelled = true;
	}
	bt_mem_free(exact);
}

void fake_data(struct fake_call *call, struct bt_str bytes, size_t piece)
{
	for (size_t at = 0; at < bytes.len && call->open && !call->cancelled;) {
		size_t n = piece && bytes.len - at > piece ? piece : bytes.len - at;

		if (call->paused) {
			bt_buf_add(&call->held, bytes.ptr + at, bytes.len - at);
			return;
		}
		give(call, bytes.ptr + at, n);
		at += n;
	}
}

void fake_done(struct fake_call *call, enum bt_http_end end)
{
	BT_REQUIRE(call->open && !call->held.len);
	call->open = false;
	call->call.done(call->call.context, end, call->head_sent ? &head : NULL, (struct bt_str){0},
		end == BT_HTTP_ANSWERED ? (struct bt_str){0} : bt_str("cut off"));
}

/* ---- time ---- */

void bt_http_after(struct bt_http *client, int64_t delay_ns, void (*call)(void *context), void *context)
{
	(void)client;
	BT_REQUIRE(timer_n < sizeof(timers) / sizeof(timers[0]));
	timers[timer_n++] =
		(struct timer){now_ns + (delay_ns > 0 ? delay_ns : 0), timer_number++, call, context};
}

static uint32_t next_timer(void)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < timer_n; i++) {
		if (best == UINT32_MAX || timers[i].due_ns < timers[best].due_ns ||
			(timers[i].due_ns == timers[best].due_ns && timers[i].number < timers[best].number)) {
			best = i;
		}
	}
	return best;
}

int64_t fake_next_ns(void)
{
	uint32_t ix = next_timer();

	return ix == UINT32_MAX ? -1 : timers[ix].due_ns - now_ns;
}

void fake_pass(int64_t ns)
{
	int64_t until = now_ns + ns;

	for (uint32_t ix; (ix = next_timer()) != UINT32_MAX && timers[ix].due_ns <= until;) {
		const struct timer timer = timers[ix];

		timers[ix] = timers[--timer_n];
		now_ns = timer.due_ns;
		timer.call(timer.context);
	}
	now_ns = until;
}

/* ---- the pipeline ---- */

struct bt_watch_event *bt_watch_event_create(enum bt_watch_event_kind kind)
{
	struct bt_watch_event *watch_event = bt_mem_zalloc(1, sizeof(*watch_event));

	watch_event->kind = kind;
	return watch_event;
}

void bt_watch_event_destroy(struct bt_watch_event *watch_event)
{
	if (watch_event) {
		bt_arena_fini(&watch_event->arena);
		bt_mem_free(watch_event);
	}
}

struct bt_watch_event *bt_pipeline_get_event(
	struct bt_pipeline *pipeline, uint32_t source, enum bt_watch_event_kind kind)
{
	(void)pipeline;
	(void)source;
	struct bt_watch_event *watch_event = bt_watch_event_create(kind);

	memset(&watch_event->object, 0xa5, sizeof(watch_event->object)); /* the source must set all of it */
	return watch_event;
}

static void copy(char *out, size_t cap, struct bt_str text)
{
	snprintf(out, cap, "%.*s", BT_STR_ARG(text));
}

enum bt_status bt_pipeline_feed(struct bt_pipeline *pipeline, uint32_t source,
	struct bt_watch_event **watch_event, int64_t timeout_ns)
{
	const struct bt_object *object = &(*watch_event)->object;
	struct fake_fed *fed = &fake_fed[fake_fed_n];

	(void)pipeline;
	BT_REQUIRE(timeout_ns == 0 && fake_fed_n < FAKE_FED);
	if (fake_room == 0) {
		return fake_full;
	}
	fake_room -= fake_room != UINT32_MAX;
	*fed = (struct fake_fed){.kind = (*watch_event)->kind, .source = source};
	if (fed->kind != BT_WATCH_EVENT_SYNCED) {
		copy(fed->name, sizeof(fed->name), object->meta.name);
		copy(fed->uid, sizeof(fed->uid), object->meta.uid);
		copy(fed->version, sizeof(fed->version), object->meta.resource_version);
		if (object->kind == BT_KIND_POD && fed->kind == BT_WATCH_EVENT_APPLY) {
			copy(fed->node, sizeof(fed->node), object->pod.spec.node_name);
		}
	}
	fake_fed_n++;
	bt_watch_event_destroy(*watch_event);
	*watch_event = NULL;
	return BT_OK;
}
