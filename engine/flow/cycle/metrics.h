/* SPDX-License-Identifier: Apache-2.0
 * Durations of the scheduling thread's work, in kube-scheduler's buckets: a series per set of labels. For
 * people, never an input of a decision; recorded only if enabled. Source: pkg/scheduler/metrics, v1.36.3.
 * Context: the scheduling thread, for reading too (bt_pipeline_call). Recording does not allocate; of series
 *          without room only the number of values is kept.
 */
#pragma once

#include "engine/base/clock.h"
#include "engine/model/cluster_event.h"

#define BT_CYCLE_METRIC_BOUNDS 20

enum bt_cycle_metric {
	BT_CYCLE_METRIC_POINT =
		0, /* an extension point: enum bt_cycle_metric_point, enum bt_cycle_metric_status, profile */
	BT_CYCLE_METRIC_PLUGIN, /* DefaultBinder or DefaultPreemption: the same without the profile */
	/* A queueing hint: the hint plugin's number, event (bt_cluster_event_label), whether it returned
	 * Queue. */
	BT_CYCLE_METRIC_HINT,
	BT_CYCLE_METRIC_EVENT, /* applying an event of a source: event (bt_cluster_event_label) */
	/* From the decision to preempt until all victims are evicted, or one eviction fails: enum
	 * bt_cycle_metric_status. */
	BT_CYCLE_METRIC_EVICTING,
	BT_CYCLE_METRIC_GROUP,		/* the cycle of a pod group: enum bt_cycle_metric_group, profile */
	BT_CYCLE_METRIC_GROUP_DECIDING, /* its part that finds nodes: no labels */
	/* Preemption by a pod group as a unit: enum bt_cycle_metric_status. Then its victims, without labels;
	 * groups that are preempted as a unit, and other pods of groups: enum bt_cycle_metric_preemptor. Of
	 * these n seconds represent n. */
	BT_CYCLE_METRIC_GROUP_PREEMPTING,
	BT_CYCLE_METRIC_GROUP_VICTIMS,
	BT_CYCLE_METRIC_GROUP_DISRUPTIONS,
	/* Finding victims, and evicting them, by pods too: enum bt_cycle_metric_preemptor, enum
	 * bt_cycle_metric_status. */
	BT_CYCLE_METRIC_EVALUATING,
	BT_CYCLE_METRIC_EXECUTING,
	/* Victims that disruption budgets would keep: enum bt_cycle_metric_preemptor; n seconds for n. */
	BT_CYCLE_METRIC_VIOLATIONS,
	BT_CYCLE_METRIC_PLACEMENT,   /* trying a group in a placement: whether it fits, profile */
	BT_CYCLE_METRIC_PLACEMENTS,  /* creating a placement, which takes no time: profile */
	BT_CYCLE_METRIC_PERMIT_WAIT, /* a wait at Permit: enum bt_cycle_metric_status */
	BT_CYCLE_METRIC_N
};

enum bt_cycle_metric_point {
	BT_CYCLE_METRIC_FILTER = 0,
	BT_CYCLE_METRIC_POST_FILTER,
	BT_CYCLE_METRIC_BIND,
	BT_CYCLE_METRIC_PERMIT
};

/* As upstream's status codes. */
enum bt_cycle_metric_status {
	BT_CYCLE_METRIC_SUCCESS = 0,
	BT_CYCLE_METRIC_ERROR,
	BT_CYCLE_METRIC_UNSCHEDULABLE,
	BT_CYCLE_METRIC_UNRESOLVABLE,
	BT_CYCLE_METRIC_WAIT
};

enum bt_cycle_metric_preemptor {
	BT_CYCLE_METRIC_BY_POD = 0,
	BT_CYCLE_METRIC_BY_GROUP,
	BT_CYCLE_METRIC_BY_TREE
};

/* The result of a pod group's cycle. */
enum bt_cycle_metric_group {
	BT_CYCLE_METRIC_GROUP_SCHEDULED = 0,
	BT_CYCLE_METRIC_GROUP_UNSCHEDULABLE,
	BT_CYCLE_METRIC_GROUP_WAITS, /* until its victims are deleted */
	BT_CYCLE_METRIC_GROUP_ERROR
};

struct bt_series {
	uint16_t labels[4];
	uint64_t counts[BT_CYCLE_METRIC_BOUNDS +
			1]; /* per bucket, not cumulative; the last one: beyond all bounds */
	int64_t sum_ns;
	uint64_t n; /* 0: empty slot */
};

struct bt_cycle_metric_table {
	struct bt_series *series; /* by hash, open addressing */
	uint32_t cap, n;	  /* cap: a power of two */
	uint64_t lost_n;	  /* values without a series, for lack of room */
};

/* owner: the scheduling thread. Readers of metrics read the tables; the rest is private. */
struct bt_cycle_metrics {
	struct bt_cycle_metric_table tables[BT_CYCLE_METRIC_N];
	uint64_t hint_n;      /* run so far: one in BT_CYCLE_METRIC_HINTS is measured */
	int64_t took_ns;      /* duration of the last decision */
	uint32_t event_label; /* the last recorded event; UINT32_MAX: none since the last take */
};

#define BT_CYCLE_METRIC_HINTS 16

#define BT_CYCLE_METRIC_ONE INT64_C(1000000000) /* used for a metric without a duration */

/* Owns: bt_cycle_metrics_destroy. */
struct bt_cycle_metrics *bt_cycle_metrics_create(void);
void bt_cycle_metrics_destroy(struct bt_cycle_metrics *metrics);

/* Records a duration with those labels. */
void bt_cycle_metrics_note(struct bt_cycle_metrics *metrics, enum bt_cycle_metric metric,
	const uint16_t labels[4], int64_t took_ns);

/* Records the duration of the last decision. */
void bt_cycle_metrics_decided(struct bt_cycle_metrics *metrics, int64_t took_ns);
int64_t bt_cycle_metrics_took_ns(const struct bt_cycle_metrics *metrics);

/* Records an event by its label (bt_cluster_event_label); take returns the last one and clears it, or
 * UINT32_MAX. */
void bt_cycle_metrics_note_event(struct bt_cycle_metrics *metrics, uint32_t label);
uint32_t bt_cycle_metrics_take_event(struct bt_cycle_metrics *metrics);

/* Counts a run of a queueing hint. Returns: whether to measure it. */
bool bt_cycle_metrics_samples_hint(struct bt_cycle_metrics *metrics);

/* The bounds of a metric's buckets, in seconds, ascending. Returns: their number. */
uint32_t bt_cycle_metric_bounds(enum bt_cycle_metric metric, double out_seconds[BT_CYCLE_METRIC_BOUNDS]);
