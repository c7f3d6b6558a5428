/* SPDX-License-Identifier: Apache-2.0
 * Handles the answers of calls.
 */
#include "tools/cluster/watch/intake_int.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/format/object_reader.h"
#include "tools/format/object_schema.h"
#include "tools/kube/log/log.h"

bool bt_intake_is_blocked(const struct bt_reflector *r)
{
	return r->queue.n >= BT_REFLECTOR_WAITING;
}

enum bt_watch_fate bt_intake_fate(int32_t code, struct bt_str reason, struct bt_str message)
{
	const char ahead[] = "Too large resource version";

	if (code == 410 || bt_str_is(reason, "Expired") || bt_str_is(reason, "Gone")) {
		return BT_FATE_EXPIRED;
	}
	if (message.len >= sizeof(ahead) - 1 && memcmp(message.ptr, ahead, sizeof(ahead) - 1) == 0) {
		return BT_FATE_AHEAD;
	}
	switch (code) {
	case 401:
	case 403:
		return BT_FATE_DENIED;
	case 404:
		return BT_FATE_ABSENT;
	case 429:
		return BT_FATE_THROTTLED;
	default:
		return code >= 400 && code < 500 ? BT_FATE_REFUSED : BT_FATE_FAILED;
	}
}

/* ---- logs ---- */

static struct bt_watch_event *watch_event(struct bt_reflector *r, enum bt_watch_event_kind what)
{
	struct bt_watch_event *spare = r->spare;

	if (!spare) {
		return bt_pipeline_get_event(r->queue.pipeline, r->queue.source, what);
	}
	r->spare = NULL;
	bt_arena_reset(&spare->arena);
	spare->kind = what;
	return spare;
}

static void pass_on(struct bt_reflector *r, struct bt_watch_event *p)
{
	for (uint32_t i = 0; i < r->shared->listener_n; i++) {
		const struct bt_watch_listener *listener = &r->shared->listeners[i];

		listener->event(listener->context, p->kind, &p->object);
	}
	bt_backpressure_queue_put(&r->queue, p);
}

void bt_intake_sync(struct bt_reflector *r)
{
	if (!bt_load_relaxed(&r->synced)) {
		struct bt_watch_event *p = watch_event(r, BT_WATCH_EVENT_SYNCED);

		memset(&p->object, 0, sizeof(p->object));
		bt_backpressure_queue_put(&r->queue, p);
		bt_store_release(&r->synced, 1u);
	}
}

/* Skips an object without identity. If it was a known one, a new list will show it. */
static void pass_over(struct bt_reflector *r)
{
	bt_add_owned(&r->skipped_n, 1u);
	bt_reflector_note(
		r, "An object without a readable name was passed over", bt_str(r->shared->reader.error));
	if (r->state == BT_REFLECTOR_WATCH && r->fate == BT_FATE_NONE) {
		r->fate = BT_FATE_GARBLED;
	}
}

/* Logs an object that was not decoded completely, unless there are many; /debug/unread has all. */
static void warn_unread(
	const struct bt_reflector *r, const struct bt_object *object, enum bt_proto_extent extent, uint64_t n)
{
	char name[256];

	if (n > BT_REFLECTOR_NAMED) {
		return;
	}
	bt_object_name(object, name, sizeof(name));
	if (extent == BT_PROTO_REPLACED) {
		bt_log(BT_LOG_WARNING, 0, "An object has text that is not UTF-8, which is read as U+FFFD",
			bt_log_fields(bt_log_str("object", bt_str(name)),
				bt_log_str("err", bt_str(r->shared->reader.error))));
		return;
	}
	bt_log(BT_LOG_ERROR, 0,
		"An object could not be read whole: correct the field, or create the object again without it",
		bt_log_fields(bt_log_str("object", bt_str(name)),
			bt_log_str("err", bt_str(r->shared->reader.error)),
			bt_log_str("until", bt_str(r->kind->kind == BT_KIND_POD
							    ? "it counts on its node; it is bound to none"
							    : "it counts with what was read"))));
}

/* Records how far an existing object was decoded; whole for a deleted one. */
static void note_extent(struct bt_reflector *r, const struct bt_object *object, enum bt_proto_extent extent)
{
	bt_lock_acquire(&r->lock);
	bool is_new = bt_unread_note(&r->unread, &object->meta, extent, bt_str(r->shared->reader.error));
	uint64_t replaced_n = bt_unread_n(&r->unread, BT_PROTO_REPLACED);
	uint64_t in_part_n = bt_unread_n(&r->unread, BT_PROTO_IN_PART);
	bt_store_relaxed(&r->replaced_n, replaced_n);
	bt_store_relaxed(&r->in_part_n, in_part_n);
	bt_lock_release(&r->lock);
	if (is_new) {
		warn_unread(r, object, extent, replaced_n + in_part_n);
	}
}

/* ---- objects ---- */

/* Updates the store. Returns: whether the event is new. Other threads may read the store. */
static bool update_store(
	struct bt_reflector *r, enum bt_watch_event_kind what, const struct bt_object *object)
{
	bt_lock_acquire(&r->lock);
	bool is_new = what == BT_WATCH_EVENT_DELETE
			      ? bt_store_remove(r->known, &object->meta)
			      : bt_store_show(r->known, &object->meta) == BT_STORE_CHANGED;
	bt_store_relaxed(&r->object_n, (uint64_t)bt_store_n(r->known));
	bt_lock_release(&r->lock);
	return is_new;
}

/* Handles an object. out_version: its resource version; the event's copy is valid only until the next
 * event. */
static void take_object(struct bt_reflector *r, enum bt_watch_event_kind what, struct bt_str bytes,
	struct bt_buf *out_version)
{
	struct bt_watch_frame_reader *reader = &r->shared->reader;
	struct bt_watch_event *p = watch_event(r, what);
	struct bt_meta_object *meta = &p->object.meta;
	enum bt_proto_extent extent =
		bt_watch_frame_object(reader, r->is_proto, r->kind, bytes, &p->arena, &p->object);

	if (!bt_watch_frame_check_name(reader, &p->object)) {
		pass_over(r);
		r->spare = p;
		return;
	}
	if (meta->resource_version.len && out_version) {
		bt_reflector_set(out_version, meta->resource_version);
	}
	/* A deleted object is no longer unread, even if it could not be decoded. */
	note_extent(r, &p->object, what == BT_WATCH_EVENT_DELETE ? BT_PROTO_WHOLE : extent);
	if (!update_store(r, what, &p->object)) {
		r->spare = p;
		return;
	}
	pass_on(r, p);
}

/* Reports one object as deleted. Returns: false when the sweep has ended. */
static bool sweep_one(struct bt_reflector *r)
{
	struct bt_store_object gone;

	bt_lock_acquire(&r->lock);
	bool any = bt_store_next_gone(r->known, &r->cursor, &gone);
	bt_lock_release(&r->lock);
	if (!any) {
		return false;
	}
	struct bt_watch_event *p = watch_event(r, BT_WATCH_EVENT_DELETE);
	const struct bt_kind_schema *schema = bt_kind_schema_of(r->kind->kind);
	memset(&p->object, 0, sizeof(p->object));
	p->object.kind = r->kind->kind;
	p->object.api_version = bt_kind_api_version(r->kind);
	p->object.kind_name = bt_str(r->kind->name);
	p->object.meta = (struct bt_meta_object){.name = gone.name,
		.namespace_ = gone.namespace_,
		.uid = gone.uid,
		.resource_version = gone.version};
	bt_schema_own(&schema->schema, &p->arena, &p->object.meta);
	note_extent(r, &p->object, BT_PROTO_WHOLE);
	bt_lock_acquire(&r->lock);
	bt_store_forget(r->known, r->cursor);
	bt_store_relaxed(&r->object_n, (uint64_t)bt_store_n(r->known));
	bt_lock_release(&r->lock);
	pass_on(r, p);
	return true;
}

void bt_intake_sweep(struct bt_reflector *r, struct bt_str version)
{
	bt_reflector_set(&r->list_version, version);
	r->sweeping = true;
	r->cursor = 0;
}

/* The list is complete: changes follow. */
static void end_list(struct bt_reflector *r)
{
	r->sweeping = false;
	r->wants_list = r->unavailable = r->unpaged = r->plain_once = false;
	r->call_event_n = 0;
	bt_reflector_set(&r->version, bt_buf_view(&r->list_version));
	bt_add_owned(&r->list_n, 1u);
	bt_reflector_note(r, NULL, (struct bt_str){0});
	bt_intake_sync(r);
	bt_log(BT_LOG_INFO, 2, "Caches populated",
		bt_log_fields(bt_log_str("type", bt_str(r->kind->name)),
			bt_log_int("objects", (int64_t)bt_load_relaxed(&r->object_n))));
}

/* ---- parts ---- */

static bool is_initial_end(const struct bt_object *object)
{
	const struct bt_str_map *notes = &object->meta.annotations;

	for (uint32_t i = 0; i < notes->n; i++) {
		if (bt_str_is(notes->items[i].key, "k8s.io/initial-events-end")) {
			return bt_str_is(notes->items[i].value, "true");
		}
	}
	return false;
}

static void take_bookmark(struct bt_reflector *r, struct bt_str bytes)
{
	struct bt_watch_frame_reader *reader = &r->shared->reader;
	struct bt_watch_event *p = watch_event(r, BT_WATCH_EVENT_APPLY);
	struct bt_str version = {0};

	(void)bt_watch_frame_object(reader, r->is_proto, r->kind, bytes, &p->arena, &p->object);
	version = p->object.meta.resource_version;
	if (version.len && r->state == BT_REFLECTOR_STREAM && is_initial_end(&p->object)) {
		r->state = BT_REFLECTOR_WATCH;
		bt_add_owned(&r->watch_n, 1u);
		bt_intake_sweep(r, version);
	} else if (version.len && r->state == BT_REFLECTOR_WATCH) {
		bt_reflector_set(&r->version, version);
	}
	r->spare = p;
}

static void take_status(struct bt_reflector *r, struct bt_str bytes)
{
	struct bt_proto_status status;

	if (!bt_watch_frame_status(&r->shared->reader, r->is_proto, bytes, &status)) {
		r->fate = BT_FATE_FAILED;
		bt_reflector_note(r, "The server ends a watch for a reason that cannot be read",
			bt_str(r->shared->reader.error));
		return;
	}
	r->fate = bt_intake_fate(status.code, status.reason, status.message);
	r->head.retry_after_ns = bt_http_retry_after_ns(status.retry_after_s > 0 ? status.retry_after_s : -1);
	if (r->fate == BT_FATE_EXPIRED) {
		bt_reflector_log(r, 4, "Watch closed", status.message);
	} else if (r->fate == BT_FATE_THROTTLED) {
		bt_reflector_log(r, 2, "Watch returned 429 - backing off", (struct bt_str){0});
	} else {
		bt_reflector_note(r, "The server ends a watch", status.message);
	}
}

static void take_event(struct bt_reflector *r, struct bt_str bytes)
{
	/* During the initial list, versions come in any order. */
	struct bt_buf *version = r->state == BT_REFLECTOR_WATCH ? &r->version : NULL;
	enum bt_watch_frame_type type = BT_WATCH_FRAME_OTHER;
	struct bt_str object;

	bt_add_owned(&r->event_n, 1u);
	bt_store_relaxed(&r->last_event_ns, bt_clock_monotonic_ns());
	if (!bt_watch_frame_open(&r->shared->reader, r->is_proto, r->kind, bytes, &type, &object)) {
		bt_reflector_note(r, "An event cannot be read", bt_str(r->shared->reader.error));
		r->fate = BT_FATE_GARBLED;
		return;
	}
	r->call_event_n += type != BT_WATCH_FRAME_ERROR;
	switch (type) {
	case BT_WATCH_FRAME_ADDED:
	case BT_WATCH_FRAME_MODIFIED:
		take_object(r, BT_WATCH_EVENT_APPLY, object, version);
		break;
	case BT_WATCH_FRAME_DELETED:
		take_object(r, BT_WATCH_EVENT_DELETE, object, version);
		break;
	case BT_WATCH_FRAME_BOOKMARK:
		take_bookmark(r, object);
		break;
	case BT_WATCH_FRAME_ERROR:
		take_status(r, object);
		break;
	case BT_WATCH_FRAME_OTHER:
		break; /* of a later version: ignored */
	}
}

static void take_list_meta(struct bt_reflector *r, struct bt_str bytes)
{
	struct bt_proto_list_meta meta;

	if (!bt_watch_frame_list_meta(&r->shared->reader, r->is_proto, bytes, &meta)) {
		bt_reflector_note(r, "A list cannot be read", bt_str(r->shared->reader.error));
		r->fate = BT_FATE_FAILED;
		return;
	}
	bt_reflector_set(&r->list_version, meta.resource_version);
	bt_reflector_set(&r->continue_, meta.continue_);
}

static void take_part(struct bt_reflector *r, enum bt_stream_step step, struct bt_str part)
{
	if (step == BT_STREAM_BAD) {
		bt_reflector_note(r, "The server's answer cannot be read", bt_str(r->stream.error));
		r->fate = r->state == BT_REFLECTOR_LIST ? BT_FATE_FAILED : BT_FATE_GARBLED;
	} else if (step == BT_STREAM_META) {
		take_list_meta(r, part);
	} else if (r->state == BT_REFLECTOR_LIST) {
		take_object(r, BT_WATCH_EVENT_APPLY, part, NULL);
	} else {
		take_event(r, part);
	}
}

void bt_intake(struct bt_reflector *r)
{
	struct bt_str part;

	bt_backpressure_queue_drain(&r->queue);
	while (!bt_intake_is_blocked(r)) {
		if (r->sweeping) {
			if (!sweep_one(r)) {
				end_list(r);
			}
			continue;
		}
		if (!r->answered || r->fate != BT_FATE_NONE) {
			break;
		}
		enum bt_stream_step step = bt_stream_next(&r->stream, &part);
		if (step == BT_STREAM_MORE) {
			break;
		}
		take_part(r, step, part);
	}
	bt_store_relaxed(&r->waiting_n, (uint64_t)r->queue.n);
}
