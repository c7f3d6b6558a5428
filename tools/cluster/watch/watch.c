/* SPDX-License-Identifier: Apache-2.0
 * Stage 1 on a cluster: one reflector per kind, all on one client's thread.
 */
#include "tools/cluster/watch/watch.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tools/cluster/watch/reflector_int.h"

#define PAGE	 500u
#define BATCH_NS INT64_C(1000000) /* batches a burst of events into few wake-ups */

struct bt_watch {
	struct bt_reflectors shared;
	struct bt_watch_listener *listeners;
	uint32_t reflector_n;
	struct bt_reflector reflectors[BT_WATCH_KINDS_MAX];
};

uint32_t bt_watch_source_n(const struct bt_gates *gates)
{
	const struct bt_kind_info *kinds[BT_WATCH_KINDS_MAX];

	return bt_watch_kinds(gates, kinds);
}

static void copy_listeners(struct bt_watch *watch, const struct bt_watch_options *options)
{
	uint32_t n = options->listener_n;

	watch->listeners = bt_mem_zalloc(n ? n : 1, sizeof(*watch->listeners));
	if (n) {
		memcpy(watch->listeners, options->listeners, n * sizeof(*watch->listeners));
	}
	watch->shared.listeners = watch->listeners;
	watch->shared.listener_n = n;
}

struct bt_watch *bt_watch_create(const struct bt_watch_options *options, struct bt_buf *out_error)
{
	const struct bt_kind_info *kinds[BT_WATCH_KINDS_MAX];
	struct bt_http *http = bt_http_create(
		&(struct bt_http_options){
			.access = options->access, .name = "berth-watch", .batch_ns = BATCH_NS},
		out_error);

	if (!http) {
		return NULL;
	}
	struct bt_watch *watch = bt_mem_zalloc(1, sizeof(*watch));
	struct bt_reflectors *shared = &watch->shared;
	shared->http = http;
	shared->pipeline = options->pipeline;
	shared->page = options->page ? options->page : PAGE;
	shared->stream = options->stream;
	shared->json = options->json;
	shared->rng.state = options->seed ? options->seed : (uint64_t)bt_clock_monotonic_ns();
	bt_watch_frame_reader_init(&shared->reader);
	copy_listeners(watch, options);
	watch->reflector_n = bt_watch_kinds(options->gates, kinds);
	for (uint32_t i = 0; i < watch->reflector_n; i++) {
		bt_reflector_init(&watch->reflectors[i], shared, kinds[i], i, options->names);
	}
	for (uint32_t i = 0; i < watch->reflector_n; i++) {
		bt_http_after(http, 0, bt_reflector_start, &watch->reflectors[i]);
	}
	return watch;
}

void bt_watch_destroy(struct bt_watch *watch)
{
	if (!watch) {
		return;
	}
	bt_store_release(&watch->shared.closing, 1u);
	bt_http_destroy(watch->shared.http);
	for (uint32_t i = 0; i < watch->reflector_n; i++) {
		bt_reflector_fini(&watch->reflectors[i]);
	}
	bt_watch_frame_reader_fini(&watch->shared.reader);
	bt_mem_free(watch->listeners);
	bt_mem_free(watch);
}

uint32_t bt_watch_states(const struct bt_watch *watch, struct bt_watch_state *out, uint32_t cap)
{
	for (uint32_t i = 0; i < watch->reflector_n && i < cap; i++) {
		struct bt_reflector *r = (struct bt_reflector *)&watch->reflectors[i];

		out[i] = (struct bt_watch_state){.resource = r->kind->resource,
			.synced = bt_load_acquire(&r->synced) != 0,
			.object_n = bt_load_relaxed(&r->object_n),
			.list_n = bt_load_relaxed(&r->list_n),
			.watch_n = bt_load_relaxed(&r->watch_n),
			.event_n = bt_load_relaxed(&r->event_n),
			.error_n = bt_load_relaxed(&r->error_n),
			.byte_n = bt_load_relaxed(&r->byte_n),
			.skipped_n = bt_load_relaxed(&r->skipped_n),
			.replaced_n = bt_load_relaxed(&r->replaced_n),
			.in_part_n = bt_load_relaxed(&r->in_part_n),
			.waiting_n = bt_load_relaxed(&r->waiting_n),
			.last_event_ns = bt_load_relaxed(&r->last_event_ns)};
		bt_lock_acquire(&r->lock);
		memcpy(out[i].error, r->error, sizeof(out[i].error));
		bt_lock_release(&r->lock);
	}
	return watch->reflector_n;
}

static struct bt_reflector *reflector_of(struct bt_watch *watch, enum bt_kind kind)
{
	for (uint32_t i = 0; i < watch->reflector_n; i++) {
		if (watch->reflectors[i].kind->kind == kind) {
			return &watch->reflectors[i];
		}
	}
	return NULL;
}

void bt_watch_relist(struct bt_watch *watch, enum bt_kind kind)
{
	struct bt_reflector *r = reflector_of(watch, kind);

	if (r) {
		bt_http_after(watch->shared.http, 0, bt_reflector_relist, r);
	}
}

struct each_unread {
	void (*call)(void *context, const char *resource, const struct bt_unread_object *object);
	void *context;
	const char *resource;
};

static void show_unread(void *context, const struct bt_unread_object *object)
{
	const struct each_unread *each = context;

	each->call(each->context, each->resource, object);
}

void bt_watch_each_unread(struct bt_watch *watch,
	void (*call)(void *context, const char *resource, const struct bt_unread_object *object),
	void *context)
{
	for (uint32_t i = 0; i < watch->reflector_n; i++) {
		struct bt_reflector *r = &watch->reflectors[i];
		struct each_unread each = {call, context, r->kind->resource};

		bt_lock_acquire(&r->lock);
		bt_unread_each(&r->unread, show_unread, &each);
		bt_lock_release(&r->lock);
	}
}
