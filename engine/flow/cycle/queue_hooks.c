/* SPDX-License-Identifier: Apache-2.0
 * The functions that the queue calls for a waiting pod.
 */
#include "engine/base/check.h"
#include "engine/flow/cycle/engine_int.h"

/* PreEnqueue. The present gate runs first; upstream runs the others in any order. */
static int gate(void *context, uint32_t pod_ix, int first)
{
	const struct bt_engine *engine = context;

	/* Usually no plugin needs any of the pod's traits. */
	if (!(bt_engine_traits(engine, pod_ix) & bt_profile_runtimes_gate_traits(&engine->runtimes))) {
		return BT_QUEUE_NO_GATE;
	}
	struct bt_group_state group;
	struct bt_pod_env env = bt_engine_pod_env(engine, pod_ix, &group);
	const struct bt_hooks *hooks = &bt_engine_runtime_of(engine, pod_ix)->profile.pre_enqueue;

	for (uint32_t i = 0; i < hooks->n && first >= 0; i++) {
		if ((int)hooks->items[i].id == first && bt_engine_hook_gates(&hooks->items[i], &env, NULL)) {
			return first;
		}
	}
	for (uint32_t i = 0; i < hooks->n; i++) {
		if (bt_engine_hook_gates(&hooks->items[i], &env, NULL)) {
			return (int)hooks->items[i].id;
		}
	}
	return BT_QUEUE_NO_GATE;
}

static bt_plugin_set interested(void *context, uint32_t pod_ix, const struct bt_cluster_event *event)
{
	return bt_hints_interested(&bt_engine_runtime_of(context, pod_ix)->hints, event);
}

static bt_plugin_set matters(void *context, const struct bt_cluster_event *event)
{
	const struct bt_engine *engine = context;
	bt_plugin_set plugins = 0;
	const struct bt_profile_runtime *runtime;

	for (uint32_t i = 0; (runtime = bt_profile_runtimes_at(&engine->runtimes, i)); i++) {
		plugins |= bt_hints_interested(&runtime->hints, event);
	}
	return plugins;
}

static bool is_about(const struct bt_pod *pod, const struct bt_cluster_event *event)
{
	if (event->resource > BT_CLUSTER_EVENT_TARGET_POD) {
		return false;
	}
	const struct bt_cluster_event_pod *shown =
		event->pod.new.signature ? &event->pod.new : &event->pod.old;

	return shown->name == pod->name && shown->uid == pod->uid &&
	       shown->signature->namespace_ == pod->signature->namespace_;
}

/* The root of the tree that an event is about, or NULL. */
static const struct bt_pod_group *tree_of(
	const struct bt_pod_groups *groups, const struct bt_cluster_event *event)
{
	const struct bt_cluster_event_object *object = &event->object;

	if (event->resource == BT_CLUSTER_EVENT_COMPOSITE_POD_GROUP) {
		return bt_pod_groups_root(
			groups, bt_pod_groups_find_composite(groups, object->namespace_, object->name));
	}
	if (event->resource == BT_CLUSTER_EVENT_POD_GROUP) {
		return bt_pod_groups_root(
			groups, bt_pod_groups_find(groups, object->namespace_, object->name));
	}
	if (event->resource > BT_CLUSTER_EVENT_TARGET_POD || !event->pod.new.signature) {
		return NULL;
	}
	const struct bt_signature *pod = event->pod.new.signature;
	return bt_pod_groups_root(groups, bt_pod_groups_known(groups, pod->namespace_, pod->pod_group));
}

/* Source: areSameHierarchy, v1.37.2; isSchedulableAfterWorkloadAdded, v1.35.4. */
static bool is_about_tree(const struct bt_pod_groups *groups, const struct bt_signature *waiting,
	const struct bt_cluster_event *event)
{
	if (event->resource == BT_CLUSTER_EVENT_WORKLOAD) {
		const struct bt_pod_group *group =
			waiting->pod_group == BT_NAME_NONE
				? NULL
				: bt_pod_groups_find(groups, waiting->namespace_, waiting->pod_group);

		return group && group->workload == event->object.name &&
		       group->namespace_ == event->object.namespace_;
	}
	if (!bt_pod_groups_have_trees(groups) || waiting->pod_group == BT_NAME_NONE) {
		return false;
	}
	const struct bt_pod_group *root = tree_of(groups, event);
	return root && root == bt_pod_groups_root(groups,
				       bt_pod_groups_find(groups, waiting->namespace_, waiting->pod_group));
}

static bool hint(void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	const struct bt_engine *engine = context;
	const struct bt_profile_runtime *runtime = bt_engine_runtime_of(engine, pod_ix);
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	const struct bt_hint_waiting waiting = {
		pod->signature, is_about(pod, event), is_about_tree(&engine->groups, pod->signature, event)};

	int by = bt_hints_queue(
		&runtime->hints, &engine->cache->view, &waiting, event, plugins, engine->metrics);
	const struct bt_queue_observer *observer = &engine->options.observer;

	if (observer->hinted && event->resource != BT_CLUSTER_EVENT_WILDCARD) {
		bt_plugin_set hinted_plugins = plugins & bt_hints_interested(&runtime->hints, event);

		if (hinted_plugins) {
			observer->hinted(observer->context, pod_ix,
				bt_cluster_event_label(event->resource, event->action), hinted_plugins, by);
		}
	}
	return by != BT_HINT_NONE;
}

/* Is the preemption over, without a victim left whose deletion could requeue the pod? Upstream leaves such a
 * pod gated until an event that one of its unschedulable plugins registered; so does flush_skips_gated. */
static bool stuck(void *context, uint32_t pod_ix, int number)
{
	const struct bt_engine *engine = context;
	const struct bt_ledger *ledger = engine->cache->ledger;

	return !engine->options.flush_skips_gated &&
	       number == bt_engine_runtime_of(engine, pod_ix)->preemption_number &&
	       !bt_eviction_is_for(&engine->eviction, &engine->groups, engine->cache->ledger, pod_ix) &&
	       !bt_preempt_lingers(
		       ledger, bt_pod_groups_as_victims(&engine->groups), bt_ledger_pod(ledger, pod_ix));
}

static bool pod_group(void *context, uint32_t pod_ix, struct bt_queue_pod_group *out_group)
{
	const struct bt_engine *engine = context;
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;

	if (!bt_pod_groups_whole(&engine->groups) || signature->pod_group == BT_NAME_NONE ||
		signature->resize_node != BT_NAME_NONE) {
		return false;
	}
	const struct bt_pod_group *group =
		bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group);
	BT_INVARIANT(group); /* the pod is a member */
	const struct bt_pod_group *root = bt_pod_groups_root(&engine->groups, group);
	*out_group = (struct bt_queue_pod_group){bt_pod_groups_number(&engine->groups, root ? root : group),
		bt_pod_groups_number(&engine->groups, group), root, root ? root->terms.priority : 0};
	return true;
}

struct bt_queue_hooks bt_engine_hooks(struct bt_engine *engine)
{
	return (struct bt_queue_hooks){gate, interested, matters, hint, stuck, pod_group, engine};
}
