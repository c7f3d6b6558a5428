/* SPDX-License-Identifier: Apache-2.0
 * Work queues of one item each, and their metrics.
 */
#include "tools/cluster/serve/work_queues.h"

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

/* Source: prometheus.ExponentialBuckets(10e-9, 10, 10). */
#define BOUNDS	     10
#define FIRST_BOUND  10e-9
#define BOUND_FACTOR 10

static const char *const names[BT_WORK_QUEUES] = {
	[BT_WORK_CLIENT_CA_FILE] = "DynamicCABundle-client-ca-bundle",
	[BT_WORK_PROXY_CA_FILE] = "DynamicCABundle-request-header",
	[BT_WORK_SERVING_CERT] = "DynamicCABundle-serving-cert",
	[BT_WORK_CLIENT_CA_MAP] = "DynamicConfigMapCABundle-client-ca",
	[BT_WORK_SERVING] = "DynamicServingCertificateController",
};

/* atomic: all of it, relaxed; the thread that adds, takes and ends writes, any thread reads: samples may be
 * of slightly different times. */
struct durations {
	_Atomic uint64_t counts[BOUNDS + 1]; /* per bucket, not cumulative */
	_Atomic int64_t sum_ns;
};

struct work_queue {
	_Atomic uint64_t add_n, retry_n;
	_Atomic int64_t added_ns, taken_ns; /* while it is queued; while it is processed; else 0 */
	struct durations wait, work;
	bool failed; /* owner: the thread that adds, takes and ends */
};

struct bt_work_queues {
	struct work_queue items[BT_WORK_QUEUES];
};

struct bt_work_queues *bt_work_queues_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct bt_work_queues));
}

void bt_work_queues_destroy(struct bt_work_queues *queues)
{
	bt_mem_free(queues);
}

static void note(struct durations *durations, int64_t ns)
{
	double bound = FIRST_BOUND;
	uint32_t i = 0;

	for (; i < BOUNDS && (double)ns / 1e9 > bound; i++) {
		bound *= BOUND_FACTOR;
	}
	bt_add_owned(&durations->counts[i], UINT64_C(1));
	bt_add_owned(&durations->sum_ns, ns);
}

void bt_work_queues_add(struct bt_work_queues *queues, enum bt_work_queue queue, int64_t now_ns)
{
	if (!queues) {
		return;
	}
	struct work_queue *item = &queues->items[queue];

	BT_REQUIRE(!bt_load_relaxed(&item->added_ns) && !bt_load_relaxed(&item->taken_ns));
	bt_add_owned(&item->add_n, UINT64_C(1));
	bt_add_owned(&item->retry_n, (uint64_t)item->failed);
	bt_store_relaxed(&item->added_ns, now_ns);
}

void bt_work_queues_take(struct bt_work_queues *queues, enum bt_work_queue queue, int64_t now_ns)
{
	if (!queues) {
		return;
	}
	struct work_queue *item = &queues->items[queue];
	int64_t added_ns = bt_load_relaxed(&item->added_ns);

	BT_REQUIRE(added_ns);
	note(&item->wait, now_ns - added_ns);
	bt_store_relaxed(&item->added_ns, 0);
	bt_store_relaxed(&item->taken_ns, now_ns);
}

void bt_work_queues_end(struct bt_work_queues *queues, enum bt_work_queue queue, bool good, int64_t now_ns)
{
	if (!queues) {
		return;
	}
	struct work_queue *item = &queues->items[queue];
	int64_t taken_ns = bt_load_relaxed(&item->taken_ns);

	BT_REQUIRE(taken_ns);
	note(&item->work, now_ns - taken_ns);
	item->failed = !good;
	bt_store_relaxed(&item->taken_ns, 0);
}

/* ---- exposition ---- */

enum work_queues_value { ADDS, DEPTH, RETRIES, WORKING };

static double value_of(const struct work_queue *item, enum work_queues_value value, int64_t now_ns)
{
	int64_t taken_ns = bt_load_relaxed(&item->taken_ns);

	switch (value) {
	case ADDS:
		return (double)bt_load_relaxed(&item->add_n);
	case DEPTH:
		return bt_load_relaxed(&item->added_ns) != 0;
	case RETRIES:
		return (double)bt_load_relaxed(&item->retry_n);
	default:
		return taken_ns && now_ns > taken_ns ? (double)(now_ns - taken_ns) / 1e9 : 0;
	}
}

/* Adds the queue's name label, if it has ever had an item. */
static bool label(const struct bt_work_queues *queues, struct bt_exposition *x, int i)
{
	bool used = bt_load_relaxed(&queues->items[i].add_n);

	if (used) {
		bt_expose_label(x, "name", bt_str(names[i]));
	}
	return used;
}

static void expose_values(const struct bt_work_queues *queues, struct bt_exposition *x,
	enum work_queues_value value, int64_t now_ns)
{
	for (int i = 0; i < BT_WORK_QUEUES; i++) {
		if (label(queues, x, i)) {
			bt_expose_real(x, value_of(&queues->items[i], value, now_ns));
		}
	}
}

static void expose_durations(const struct bt_work_queues *queues, struct bt_exposition *x, bool work)
{
	double bounds[BOUNDS] = {FIRST_BOUND};
	uint64_t counts[BOUNDS + 1];

	for (uint32_t i = 1; i < BOUNDS; i++) {
		bounds[i] = bounds[i - 1] * BOUND_FACTOR;
	}
	for (int i = 0; i < BT_WORK_QUEUES; i++) {
		const struct work_queue *item = &queues->items[i];
		const struct durations *durations = work ? &item->work : &item->wait;

		if (!label(queues, x, i)) {
			continue;
		}
		for (uint32_t k = 0; k <= BOUNDS; k++) {
			counts[k] = bt_load_relaxed(&durations->counts[k]);
		}
		bt_expose_buckets(x, &(struct bt_metric_buckets){bounds, counts, BOUNDS,
					     (double)bt_load_relaxed(&durations->sum_ns) / 1e9});
	}
}

void bt_work_queues_expose(const struct bt_work_queues *queues, struct bt_exposition *x, int64_t now_ns)
{
	bt_expose(x, "workqueue_adds_total", BT_METRIC_COUNTER,
		"[BETA] Total number of adds handled by workqueue");
	expose_values(queues, x, ADDS, now_ns);
	bt_expose(x, "workqueue_depth", BT_METRIC_GAUGE, "[BETA] Current depth of workqueue");
	expose_values(queues, x, DEPTH, now_ns);
	/* There is only one item, so the longest work is all work in progress. */
	bt_expose(x, "workqueue_longest_running_processor_seconds", BT_METRIC_GAUGE,
		"[BETA] How many seconds has the longest running processor for workqueue been running.");
	expose_values(queues, x, WORKING, now_ns);
	bt_expose(x, "workqueue_queue_duration_seconds", BT_METRIC_HISTOGRAM,
		"[BETA] How long in seconds an item stays in workqueue before being requested.");
	expose_durations(queues, x, false);
	bt_expose(x, "workqueue_retries_total", BT_METRIC_COUNTER,
		"[BETA] Total number of retries handled by workqueue");
	expose_values(queues, x, RETRIES, now_ns);
	bt_expose(x, "workqueue_unfinished_work_seconds", BT_METRIC_GAUGE,
		"[BETA] How many seconds of work has done that is in progress and hasn't been observed by "
		"work_duration. Large values indicate stuck threads. One can deduce the number of stuck "
		"threads by observing the rate at which this increases.");
	expose_values(queues, x, WORKING, now_ns);
	bt_expose(x, "workqueue_work_duration_seconds", BT_METRIC_HISTOGRAM,
		"[BETA] How long in seconds processing an item from workqueue takes.");
	expose_durations(queues, x, true);
}
