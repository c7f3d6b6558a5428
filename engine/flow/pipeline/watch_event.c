/* SPDX-License-Identifier: Apache-2.0
 * Parcels: made by a source, and given back to it when they have come to the end of their way, so that events
 * allocate nothing.
 */
#include <string.h>

#include "engine/base/mem.h"
#include "engine/flow/pipeline/pipeline_int.h"

#define ARENA_BYTES 1024u /* at first, of a parcel that is used again and again */
#define KEPT_BYTES  16384u

struct bt_watch_event *bt_watch_event_create(enum bt_watch_event_kind kind)
{
	struct bt_watch_event *parcel = bt_mem_zalloc(1, sizeof(*parcel));

	parcel->kind = kind;
	return parcel;
}

void bt_watch_event_destroy(struct bt_watch_event *parcel)
{
	if (!parcel) {
		return;
	}
	if (parcel->stage != BT_WATCH_EVENT_FED) {
		bt_delta_drop(&parcel->delta);
	}
	bt_arena_fini(&parcel->arena);
	bt_buf_fini(&parcel->encoded);
	bt_mem_free(parcel);
}

/* The next parcel that may be used again, or NULL; the one behind it is fetched meanwhile, for other threads
 * have had it. */
static struct bt_watch_event *next_spare(struct bt_source_lane *runtime)
{
	if (runtime->spare_first == runtime->spare_n) {
		runtime->spare_first = 0;
		runtime->spare_n = bt_ring_try_pop_n(&runtime->spent, runtime->spares, BT_RUN);
	}
	if (runtime->spare_first == runtime->spare_n) {
		return NULL;
	}
	struct bt_watch_event *parcel = runtime->spares[runtime->spare_first++];
	for (size_t at = 0; runtime->spare_first < runtime->spare_n && at < sizeof(*parcel);
		at += BT_CACHELINE) {
		__builtin_prefetch((char *)runtime->spares[runtime->spare_first] + at, 1);
	}
	return parcel;
}

struct bt_watch_event *bt_pipeline_parcel(
	struct bt_pipeline *p, uint32_t source, enum bt_watch_event_kind kind)
{
	struct bt_watch_event *parcel = next_spare(&p->sources[source]);

	if (!parcel) {
		parcel = bt_watch_event_create(kind);
		bt_arena_start(&parcel->arena, ARENA_BYTES);
		return parcel;
	}
	const struct bt_arena arena = parcel->arena;
	const struct bt_buf encoded = parcel->encoded;
	memset(parcel, 0, offsetof(struct bt_watch_event, object));
	parcel->kind = kind;
	parcel->arena = arena;
	parcel->encoded = encoded;
	return parcel;
}

/* One with much memory is not kept (I7). */
void bt_pipeline_end_parcel(struct bt_pipeline *p, struct bt_watch_event *parcel)
{
	if (parcel->encoded.cap + bt_arena_bytes(&parcel->arena) <= KEPT_BYTES) {
		if (parcel->stage != BT_WATCH_EVENT_FED) {
			bt_delta_drop(&parcel->delta);
			parcel->stage = BT_WATCH_EVENT_FED;
		}
		bt_arena_reset(&parcel->arena);
		bt_buf_clear(&parcel->encoded);
		if (bt_ring_try_push(&p->sources[parcel->source].spent, &parcel)) {
			return;
		}
	}
	bt_watch_event_destroy(parcel);
}
