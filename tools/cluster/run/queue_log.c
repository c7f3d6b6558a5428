/* SPDX-License-Identifier: Apache-2.0
 * kube-scheduler's log lines about its queue. The result of a plugin's hint is one line here; upstream's
 * plugins have their own texts for that, at the same level.
 */
#include "tools/cluster/run/queue_log.h"

#include <stdio.h>

#include "engine/flow/cycle/hints.h"
#include "tools/cluster/run/cycle_log.h"
#include "tools/kube/log/log.h"

/* kube-scheduler's levels */
enum { ABOUT_FAILED = 3, ABOUT_MOVES = 5 };

static struct bt_engine *engine_of(void *context)
{
	return bt_pipeline_engine(*(struct bt_pipeline **)context);
}

struct plugin_names {
	char text[512];
	size_t n;
};

static struct bt_str name_plugins(struct plugin_names *names, bt_plugin_set plugins)
{
	for (bt_plugin_set rest = plugins; rest; rest = bt_plugin_set_rest(rest)) {
		const struct bt_str name = bt_str(bt_hints_name(bt_plugin_set_first(rest)));

		if (names->n + name.len + 1 < sizeof(names->text)) {
			names->n += (size_t)snprintf(names->text + names->n, sizeof(names->text) - names->n,
				"%s%s", names->n ? "," : "", name.ptr);
		}
	}
	return (struct bt_str){names->text, names->n};
}

static struct bt_str name_cause(
	const struct bt_engine *engine, char text[BT_CLUSTER_EVENT_LABEL_BYTES], uint32_t cause)
{
	bt_queue_cause_text(bt_engine_kubernetes(engine), cause, text);
	return bt_str(text);
}

static void moved(void *context, uint32_t pod_ix, enum bt_wait to, uint32_t cause)
{
	bool failed = cause == BT_CAUSE_ATTEMPT_FAILED;
	char event[BT_CLUSTER_EVENT_LABEL_BYTES];

	if (!bt_log_enabled(failed ? ABOUT_FAILED : ABOUT_MOVES)) {
		return;
	}
	struct bt_engine *engine = engine_of(context);
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(engine), pod_ix);
	const struct bt_log_field pod = bt_cycle_log_pod(engine, "pod", pod_ix);
	const struct bt_log_field why = bt_log_str("event", name_cause(engine, event, cause));
	const struct bt_log_field queue =
		bt_log_str("queue", bt_str(to == BT_WAIT_ACTIVE	    ? "Active"
					    : to == BT_WAIT_BACKOFF ? "Backoff"
								    : "Unschedulable"));
	struct plugin_names names = {.n = 0};

	if (failed) {
		bt_log(BT_LOG_INFO, ABOUT_FAILED, "Pod moved to an internal scheduling queue",
			bt_log_fields(pod, why, queue,
				bt_log_str("unschedulable plugins",
					name_plugins(&names, info.unschedulable_plugins | info.pending))));
	} else {
		bt_log(BT_LOG_INFO, ABOUT_MOVES,
			to == BT_WAIT_GATED
				? "Pod moved to an internal scheduling queue, because the pod is gated"
				: "Pod moved to an internal scheduling queue",
			bt_log_fields(pod, why, queue));
	}
}

static void stayed(void *context, uint32_t pod_ix, uint32_t cause)
{
	struct bt_engine *engine = engine_of(context);
	char event[BT_CLUSTER_EVENT_LABEL_BYTES];

	bt_log(BT_LOG_INFO, ABOUT_MOVES, "Event is not making pod schedulable",
		bt_log_fields(bt_cycle_log_pod(engine, "pod", pod_ix),
			bt_log_str("event", name_cause(engine, event, cause))));
}

static void kept(void *context, uint32_t cause)
{
	char event[BT_CLUSTER_EVENT_LABEL_BYTES];

	bt_log(BT_LOG_INFO, ABOUT_MOVES, "Event received while pods are in flight",
		bt_log_fields(bt_log_str("event", name_cause(engine_of(context), event, cause))));
}

static void hinted(void *context, uint32_t pod_ix, uint32_t cause, bt_plugin_set plugins, int by)
{
	char event[BT_CLUSTER_EVENT_LABEL_BYTES];
	struct plugin_names names = {.n = 0};

	if (!bt_log_enabled(ABOUT_MOVES)) {
		return;
	}
	struct bt_engine *engine = engine_of(context);
	const bt_plugin_set shown = by >= 0 ? bt_plugin_set_of((uint32_t)by) : plugins;
	bt_log(BT_LOG_INFO, ABOUT_MOVES, "Queueing hint returned",
		bt_log_fields(bt_cycle_log_pod(engine, "pod", pod_ix),
			bt_log_str("plugin", name_plugins(&names, shown)),
			bt_log_str("event", name_cause(engine, event, cause)),
			bt_log_str("hint", bt_str(by >= 0 ? "Queue" : "QueueSkip"))));
}

struct bt_queue_observer bt_queue_log_observer(struct bt_pipeline **pipeline)
{
	return (struct bt_queue_observer){moved, stayed, kept, hinted, pipeline};
}
