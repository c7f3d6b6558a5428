/* SPDX-License-Identifier: Apache-2.0
 * Counts why pods entered each part of the queue. Source: uses of SchedulerQueueIncomingPods and
 * InFlightEvents, v1.36.3.
 */
#include <stdio.h>
#include <string.h>

#include "queue/queue_int.h"
#include "engine/base/check.h"

static bool is_held(enum bt_wait where)
{
	return where == BT_WAIT_UNSCHEDULABLE || where == BT_WAIT_GATED;
}

static uint32_t line_of(enum bt_wait where)
{
	BT_REQUIRE_HOT(where >= BT_WAIT_ACTIVE && where <= BT_WAIT_GATED);
	return where == BT_WAIT_ACTIVE ? 0 : where == BT_WAIT_BACKOFF ? 1 : 2;
}

uint32_t bt_cause_of(const struct bt_cluster_event *event, uint32_t only)
{
	if (event->resource == BT_CLUSTER_EVENT_WILDCARD) {
		return only == BT_QUEUE_EMPTY ? BT_CAUSE_TIMEOUT : BT_CAUSE_FORCE_ACTIVATE;
	}
	return bt_cluster_event_label(event->resource, event->action);
}

void bt_incoming_show(const struct bt_queue *queue, uint32_t slot_ix, uint32_t cause)
{
	const struct bt_queue_observer *observer = &queue->options.observer;
	const struct bt_slot *slot = &queue->slots[slot_ix];

	if (BT_LIKELY(!observer->moved)) {
		return;
	}
	if (!slot->is_entity) {
		observer->moved(observer->context, slot->pod_ix, slot->where, cause);
		return;
	}
	const struct bt_entity *entity = &queue->entities[slot->entity];
	for (size_t i = 0; i < entity->member_n; i++) {
		observer->moved(
			observer->context, queue->slots[entity->members[i]].pod_ix, slot->where, cause);
	}
}

void bt_incoming_count(struct bt_queue *queue, uint32_t slot_ix, enum bt_wait from, enum bt_wait to)
{
	BT_INVARIANT(queue->cause < BT_CAUSE_N);
	if (!is_held(from) || !is_held(to)) {
		queue->incoming[line_of(to)][queue->cause] += bt_slot_size(queue, &queue->slots[slot_ix]);
		bt_incoming_show(queue, slot_ix, queue->cause);
	}
}

/* New pods are counted from their order numbers, so that adding one costs nothing. */
uint64_t bt_queue_incoming(const struct bt_queue *queue, enum bt_wait where, uint32_t cause)
{
	BT_REQUIRE(cause < BT_CAUSE_N);
	uint64_t n = queue->incoming[line_of(where)][cause];

	if (where == BT_WAIT_ACTIVE && cause == BT_CAUSE_NEWCOMER) {
		n += queue->orders - queue->gated_n - queue->late_n;
	}
	return n;
}

void bt_queue_logged(const struct bt_queue *queue, uint64_t out_n[BT_CAUSE_N])
{
	memset(out_n, 0, BT_CAUSE_N * sizeof(*out_n));
	for (size_t i = 0; i < queue->log_n; i++) {
		out_n[bt_cause_of(&queue->log[i].event, queue->log[i].only)]++;
	}
}

void bt_queue_cause_text(
	const struct bt_release *release, uint32_t cause, char out_text[BT_CLUSTER_EVENT_LABEL_BYTES])
{
	static const char *const words[] = {"ScheduleAttemptFailure", "BackoffComplete", "PopFromBackoffQ",
		"ForceActivate", "UnschedulableTimeout"};

	BT_REQUIRE(cause < BT_CAUSE_N);
	if (cause < BT_CLUSTER_EVENT_LABELS) {
		bt_cluster_event_label_text(release, cause, out_text);
	} else {
		snprintf(
			out_text, BT_CLUSTER_EVENT_LABEL_BYTES, "%s", words[cause - BT_CLUSTER_EVENT_LABELS]);
	}
}
