/* SPDX-License-Identifier: Apache-2.0
 * Watch events: created by a source, and returned to it after processing, so that feeding allocates nothing.
 */
#include <string.h>

#include "engine/base/mem.h"
#include "engine/flow/pipeline/pipeline_int.h"

#define ARENA_BYTES 1024u /* initial size for reused events */
#define KEPT_BYTES  16384u

struct bt_watch_event *bt_watch_event_create(enum bt_watch_event_kind kind)
{
	struct bt_watch_event *watch_event = bt_mem_zalloc(1, sizeof(*watch_event));

	watch_event->kind = kind;
	return watch_event;
}

void bt_watch_event_destroy(struct bt_watch_event *watch_event)
{
	if (!watch_event) {
		return;
	}
	if (watch_event->stage != BT_WATCH_EVENT_FED) {
		bt_delta_drop(&watch_event->delta);
	}
	bt_arena_fini(&watch_event->arena);
	bt_buf_fini(&watch_event->encoded);
	bt_mem_free(watch_event);
}

/* The next event to reuse, or NULL. Prefetches the one after it, whose cache lines are in other threads'
 * caches. */
static struct bt_watch_event *next_spare(struct bt_source_queues *source)
{
	if (source->spare_first == source->spare_n) {
		source->spare_first = 0;
		source->spare_n = bt_ring_try_pop_n(&source->spent, source->spares, BT_RUN);
	}
	if (source->spare_first == source->spare_n) {
		return NULL;
	}
	struct bt_watch_event *watch_event = source->spares[source->spare_first++];
	for (size_t at = 0; source->spare_first < source->spare_n && at < sizeof(*watch_event);
		at += BT_CACHELINE) {
		__builtin_prefetch((char *)source->spares[source->spare_first] + at, 1);
	}
	return watch_event;
}

struct bt_watch_event *bt_pipeline_get_event(
	struct bt_pipeline *p, uint32_t source, enum bt_watch_event_kind kind)
{
	struct bt_watch_event *watch_event = next_spare(&p->sources[source]);

	if (!watch_event) {
		watch_event = bt_watch_event_create(kind);
		bt_arena_start(&watch_event->arena, ARENA_BYTES);
		return watch_event;
	}
	const struct bt_arena arena = watch_event->arena;
	const struct bt_buf encoded = watch_event->encoded;
	memset(watch_event, 0, offsetof(struct bt_watch_event, object));
	watch_event->kind = kind;
	watch_event->arena = arena;
	watch_event->encoded = encoded;
	return watch_event;
}

/* Frees an event that holds much memory instead of keeping it (I7). */
void bt_pipeline_end_event(struct bt_pipeline *p, struct bt_watch_event *watch_event)
{
	if (watch_event->encoded.cap + bt_arena_bytes(&watch_event->arena) <= KEPT_BYTES) {
		if (watch_event->stage != BT_WATCH_EVENT_FED) {
			bt_delta_drop(&watch_event->delta);
			watch_event->stage = BT_WATCH_EVENT_FED;
		}
		bt_arena_reset(&watch_event->arena);
		bt_buf_clear(&watch_event->encoded);
		if (bt_ring_try_push(&p->sources[watch_event->source].spent, &watch_event)) {
			return;
		}
	}
	bt_watch_event_destroy(watch_event);
}
