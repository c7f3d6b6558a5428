/* SPDX-License-Identifier: Apache-2.0
 * A trace as moments.
 */
#include "tools/simulate/replay.h"

#include <stdlib.h>
#include <string.h>

#include "cache/ledger.h"
#include "engine/base/mem.h"

#define NS_PER_S INT64_C(1000000000)

/* A pod's end. */
struct bt_departure {
	int64_t at_s;
	uint32_t pod; /* in the trace */
};

static int by_time(const void *a, const void *b)
{
	const struct bt_departure *x = a, *y = b;

	if (x->at_s != y->at_s) {
		return x->at_s < y->at_s ? -1 : 1;
	}
	return x->pod < y->pod ? -1 : x->pod > y->pod;
}

void bt_replay_init(struct bt_replay *replay, const struct bt_trace *trace)
{
	*replay = (struct bt_replay){.trace = trace};
	replay->departures = bt_mem_zalloc(trace->pod_n, sizeof(*replay->departures));
	replay->pod_ixs = bt_mem_zalloc(trace->pod_n, sizeof(*replay->pod_ixs));
	for (size_t i = 0; i < trace->pod_n; i++) {
		int64_t gone_s = trace->pods[i].delete_s, come_s = trace->pods[i].create_s;

		/* A pod lives for a second at least, so that it has come before it goes. */
		replay->departures[i] =
			(struct bt_departure){gone_s > come_s ? gone_s : come_s + 1, (uint32_t)i};
		replay->pod_ixs[i] = BT_NO_POD;
	}
	if (trace->pod_n) {
		qsort(replay->departures, trace->pod_n, sizeof(*replay->departures), by_time);
	}
}

void bt_replay_fini(struct bt_replay *replay)
{
	bt_mem_free(replay->departures);
	bt_mem_free(replay->pod_ixs);
	bt_mem_free(replay->trace_pods);
}

static int64_t moment_of(int64_t second)
{
	return second == INT64_MAX ? INT64_MAX : (BT_TRACE_EPOCH_S + second) * NS_PER_S;
}

static size_t pod_n(const struct bt_replay *replay)
{
	return replay->trace ? replay->trace->pod_n : 0;
}

static int64_t next_arrival(const struct bt_replay *replay)
{
	return replay->come < pod_n(replay) ? replay->trace->pods[replay->come].create_s : INT64_MAX;
}

static int64_t next_departure(const struct bt_replay *replay)
{
	return replay->gone < pod_n(replay) ? replay->departures[replay->gone].at_s : INT64_MAX;
}

int64_t bt_replay_next(const struct bt_replay *replay)
{
	int64_t come = next_arrival(replay), gone = next_departure(replay);

	return moment_of(come < gone ? come : gone);
}

uint32_t bt_replay_departure(struct bt_replay *replay, int64_t now_ns)
{
	while (moment_of(next_departure(replay)) <= now_ns && replay->gone < pod_n(replay)) {
		uint32_t pod_ix = replay->pod_ixs[replay->departures[replay->gone++].pod];

		if (pod_ix != BT_NO_POD) {
			return pod_ix;
		}
	}
	return BT_NO_POD;
}

const struct bt_pod_object *bt_replay_arrival(struct bt_replay *replay, int64_t now_ns)
{
	if (moment_of(next_arrival(replay)) > now_ns || replay->come == pod_n(replay)) {
		return NULL;
	}
	return &replay->trace->pods[replay->come++].object.pod;
}

void bt_replay_entered(struct bt_replay *replay, uint32_t pod_ix)
{
	while (pod_ix >= replay->trace_pod_n) {
		size_t old = replay->trace_pod_n;

		replay->trace_pods = bt_mem_grow(
			replay->trace_pods, old, &replay->trace_pod_n, sizeof(*replay->trace_pods));
		memset(replay->trace_pods + old, 0,
			(replay->trace_pod_n - old) * sizeof(*replay->trace_pods));
	}
	replay->pod_ixs[replay->come - 1] = pod_ix;
	replay->trace_pods[pod_ix] = (uint32_t)replay->come;
}

void bt_replay_left(struct bt_replay *replay, uint32_t pod_ix)
{
	if (pod_ix < replay->trace_pod_n && replay->trace_pods[pod_ix]) {
		replay->pod_ixs[replay->trace_pods[pod_ix] - 1] = BT_NO_POD;
		replay->trace_pods[pod_ix] = 0;
	}
}
