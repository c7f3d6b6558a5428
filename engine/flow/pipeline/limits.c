/* SPDX-License-Identifier: Apache-2.0
 * The pipeline's limits (I7).
 */
#include "engine/flow/pipeline/limits.h"

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/team.h"

#define SECOND_NS    INT64_C(1000000000)
#define CAPACITY_MIN 4u
#define CAPACITY_MAX (1u << 24)
#define THREADS_MAX  256u

struct bt_limits bt_limits_default(void)
{
	return (struct bt_limits){
		.sources = 1,
		.feed = 2048,
		.delta = 2048,
		.inbox = 4096,
		.spent = 8192,
		.bind_requests = 4096,
		.decisions = 0,
		.bindings = 65536,
		.tombstones = 65536,
		.batch = 64,
		.events = 1024,
		.run = BT_LIMITS_RUN,
		.ingest_threads = 1,
		.bind_threads = 1,
		.workers = 1,
		.bind_timeout_ns = 30 * SECOND_NS,
		.assume_ttl_ns = 60 * SECOND_NS,
		.stall_ns = 10 * SECOND_NS,
	};
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t power = CAPACITY_MIN;

	while (power < n) {
		power *= 2;
	}
	return power;
}

enum bt_status bt_limits_settle(struct bt_limits *limits, const char **out_name)
{
	const struct {
		const char *name;
		uint32_t *value, max;
		bool ring;
	} rows[] = {
		{"sources", &limits->sources, THREADS_MAX, false},
		{"feed", &limits->feed, CAPACITY_MAX, true},
		{"delta", &limits->delta, CAPACITY_MAX, true},
		{"inbox", &limits->inbox, CAPACITY_MAX, true},
		{"spent", &limits->spent, CAPACITY_MAX, true},
		{"bind_requests", &limits->bind_requests, CAPACITY_MAX, true},
		{"bindings", &limits->bindings, CAPACITY_MAX, false},
		{"tombstones", &limits->tombstones, CAPACITY_MAX, false},
		{"batch", &limits->batch, CAPACITY_MAX, false},
		{"events", &limits->events, CAPACITY_MAX, false},
		{"run", &limits->run, BT_LIMITS_RUN, false},
		{"ingest_threads", &limits->ingest_threads, THREADS_MAX, false},
		{"bind_threads", &limits->bind_threads, THREADS_MAX, false},
		{"workers", &limits->workers, BT_TEAM_MAX, false},
	};

	if (limits->decisions > CAPACITY_MAX) {
		*out_name = "decisions";
		return BT_RANGE;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (*rows[i].value == 0 || *rows[i].value > rows[i].max) {
			*out_name = rows[i].name;
			return BT_RANGE;
		}
	}
	if (limits->bind_timeout_ns <= 0 || limits->assume_ttl_ns <= 0 || limits->stall_ns <= 0) {
		*out_name = limits->bind_timeout_ns <= 0 ? "bind_timeout_ns"
			    : limits->assume_ttl_ns <= 0 ? "assume_ttl_ns"
							 : "stall_ns";
		return BT_RANGE;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].value = rows[i].ring ? power_of_two(*rows[i].value) : *rows[i].value;
	}
	limits->decisions = limits->decisions ? power_of_two(limits->decisions) : 0;
	return BT_OK;
}
