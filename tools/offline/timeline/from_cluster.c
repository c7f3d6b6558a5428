/* SPDX-License-Identifier: Apache-2.0
 * A timeline from a simulated cluster.
 */
#include "tools/cli/message.h"
#include "tools/offline/simulate/loaded_cluster.h"
#include "tools/offline/simulate/pod_names.h"
#include "tools/offline/timeline/source.h"

struct simulated {
	struct bt_timeline *timeline;
	struct bt_loaded_cluster cluster;
	struct bt_api_log api;
	struct bt_simulate_run_watch watch;
	struct bt_buf pod; /* namespace/name */
};

static void note_entered(void *context, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct simulated *s = context;

	bt_api_log_entered(&s->api, pod_ix, pod);
	if (!s->timeline->known && bt_timeline_is_of(s->timeline, pod)) {
		bt_timeline_shown(s->timeline, pod);
	}
}

static void note_ignored(void *context, const struct bt_pod_object *pod, const char *why)
{
	struct simulated *s = context;

	if (bt_timeline_is_of(s->timeline, pod)) {
		bt_timeline_ignored(s->timeline, pod, why);
	}
}

static void note_cycle(void *context, struct bt_simulate_run_watch *watch, uint32_t pod_ix)
{
	struct simulated *s = context;

	(void)watch;
	bt_timeline_cycle_begins(s->timeline, pod_ix);
}

static int simulate(struct simulated *s)
{
	struct bt_loaded_cluster *cluster = &s->cluster;
	const struct bt_gates *gates = &cluster->config.gates;

	if (!s->timeline->known) {
		bt_pod_names_unknown(cluster->engine, "timeline:", s->pod.ptr);
		return BT_EXIT_INPUT;
	}
	const int64_t begin_ns = bt_load_begin_ns(&cluster->load);

	bt_timeline_loaded(s->timeline, begin_ns);
	s->api.engine = cluster->engine;
	s->api.preempts_in_turn = !gates->on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION];
	s->api.nominates_waiting = gates->on[BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION];
	cluster->run.api = &s->api;
	cluster->run.watches = &s->watch;
	cluster->run.watch_n = 1;
	cluster->run.explain = note_cycle;
	cluster->run.context = s;
	cluster->run.now_ns = begin_ns;
	bt_api_log_begin(&s->api);
	return bt_loaded_cluster_settle(cluster);
}

int bt_timeline_from_cluster(struct bt_timeline *timeline, struct bt_invocation *invocation)
{
	struct simulated s = {.timeline = timeline};

	bt_buf_printf(&s.pod, "%.*s/%.*s", BT_STR_ARG(timeline->namespace_), BT_STR_ARG(timeline->name));
	s.watch.pod = bt_buf_view(&s.pod);
	s.api.observer = bt_timeline_call_observer(timeline);
	s.api.now_ns = timeline->now_ns = &s.cluster.run.now_ns;
	timeline->engine = &s.cluster.engine;
	s.cluster.entered = note_entered;
	s.cluster.ignored = note_ignored;
	s.cluster.context = &s;
	s.cluster.observer = bt_timeline_queue_observer(timeline);
	s.cluster.messages = true;
	s.cluster.evicts_by_taints = bt_invocation_has(invocation, "taint-eviction");
	int status = bt_loaded_cluster_open(&s.cluster, invocation);
	if (status == BT_EXIT_OK) {
		status = simulate(&s);
	}
	bt_loaded_cluster_close(&s.cluster);
	bt_api_log_fini(&s.api);
	bt_buf_fini(&s.pod);
	timeline->engine = NULL;
	timeline->now_ns = NULL;
	return status;
}
