/* SPDX-License-Identifier: Apache-2.0
 * The live view as text: an engine's numbers, and their layout for any terminal size. Pure: the same numbers
 * give the same text.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/flow/cycle/stage_latency.h"
#include "queue/queue.h"

#define BT_LIVE_RINGS	 64
#define BT_LIVE_THREADS	 64
#define BT_LIVE_KINDS	 32
#define BT_LIVE_NAME_MAX 32

struct bt_live_stage {
	uint64_t n;
	int64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

/* A kind of conflict, and its count. */
struct bt_live_kind {
	const char *name;
	uint64_t n;
};

struct bt_live_ring {
	const char *name;
	uint32_t count, capacity, high_water;
	uint64_t full_n;
};

struct bt_live_thread {
	char name[BT_LIVE_NAME_MAX];
	int64_t cpu_ns;	  /* since it began */
	const char *does; /* a word */
};

/* Numbers at one time; counts are since the beginning. */
struct bt_live_numbers {
	const char *label;    /* such as "placing pods" */
	int64_t elapsed_ns;   /* since the beginning */
	int64_t virtual_ns;   /* virtual time since the beginning; below 0: time is real */
	uint64_t done, total; /* total 0: unknown */
	const char *unit;     /* of these two, such as "pods" */
	uint64_t places[BT_WAIT_N];
	uint64_t node_n, assumed, scheduled;
	uint64_t decided_n, placed_n, refused_n, event_n; /* event_n: added, changed or deleted objects */
	bool has_stages;
	struct bt_live_stage stages[BT_STAGE_N];
	struct bt_live_kind conflicts[BT_LIVE_KINDS];
	uint32_t conflict_n;
	struct bt_live_ring rings[BT_LIVE_RINGS];
	uint32_t ring_n;
	uint64_t rcu_pending_n, rcu_pending_bytes, rcu_throttle_n, rcu_stall_n;
	struct bt_live_thread threads[BT_LIVE_THREADS];
	uint32_t thread_n;
};

struct bt_live_size {
	uint32_t columns, rows;
	bool color;
};

/*
 * Appends the picture: at most size.rows lines of at most size.columns columns, ASCII, each ended by \r\n but
 * the last. The least important parts are omitted without room. before: earlier numbers, for rates; NULL:
 * none.
 */
void bt_live_draw(const struct bt_live_numbers *now, const struct bt_live_numbers *before,
	const struct bt_live_size *size, struct bt_buf *out);

/* Appends the same in one short line, without an end. */
void bt_live_line(
	const struct bt_live_numbers *now, const struct bt_live_numbers *before, struct bt_buf *out);
