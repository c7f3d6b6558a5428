/* SPDX-License-Identifier: Apache-2.0
 * PodTopologySpread: the events that may make a refused pod fit. Source: plugins/podtopologyspread,
 * v1.36.3.
 */
#include "plugins/pod_topology_spread/hints.h"

#include <string.h>

#include "cache/node_view.h"
#include "cache/topology_view.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

/* The constraints that refuse nodes. */
struct constraints {
	const struct bt_spread_constraint *items; /* of any kind */
	uint32_t n;
	bool match_label_keys;
	const struct bt_selector *selector; /* instead of the pod's; NULL: the pod's */
	bool invalid;
	const struct bt_intern *intern;
};

static bool is_hard(const struct constraints *constraints, uint32_t i)
{
	return constraints->items[i].when == BT_SPREAD_DO_NOT_SCHEDULE;
}

static bool any_hard(const struct constraints *constraints)
{
	for (uint32_t i = 0; i < constraints->n; i++) {
		if (is_hard(constraints, i)) {
			return true;
		}
	}
	return false;
}

static struct constraints own_constraints(
	const struct bt_spread_settings *settings, const struct bt_signature *waiting)
{
	struct constraints constraints = {
		.items = waiting->spread,
		.n = waiting->spread_n,
		.match_label_keys = settings->match_label_keys,
	};

	for (uint32_t i = 0; i < constraints.n; i++) {
		constraints.invalid |= is_hard(&constraints, i) && constraints.items[i].error;
	}
	return constraints;
}

/*
 * The pod's constraints, or the defaults if a service or owner selects the pod. selector: storage for the
 * defaults' selector.
 */
static struct constraints constraints_of(const struct bt_hint_env *env, struct bt_selector *selector)
{
	const struct bt_spread_settings *settings = env->settings;
	const struct bt_counting *counting = env->view->counting;
	struct constraints constraints = {.items = settings->defaults, .n = settings->default_n};

	if (env->signature->spread_n) {
		constraints = own_constraints(settings, env->signature);
	} else if (any_hard(&constraints)) {
		*selector = counting->default_selector(counting->context, env->signature);
		constraints.selector = selector;
		constraints.n = bt_selector_is_empty(selector) ? 0 : constraints.n;
	} else {
		constraints.n = 0;
	}
	constraints.intern = env->view->snapshot->dictionary->intern;
	return constraints;
}

static bool selects(const struct constraints *constraints, uint32_t i, struct bt_labels labels)
{
	const struct bt_spread_constraint *item = &constraints->items[i];
	const struct bt_selector *selector = constraints->selector	     ? constraints->selector
					     : constraints->match_label_keys ? &item->selector
									     : &item->bare_selector;

	return bt_selector_matches(constraints->intern, selector, labels);
}

static bool involves(const struct bt_hint_env *env, const struct bt_cluster_event_pod *pod)
{
	bool nominated = bt_release_has(env->release, BT_RULE_HINTS_SEE_NOMINATED_PODS);

	return !pod->signature || env->own ||
	       (bt_cluster_event_pod_counts(pod, nominated) &&
		       pod->signature->namespace_ == env->signature->namespace_);
}

static bool same_tolerations(const struct bt_signature *a, const struct bt_signature *b)
{
	return a->toleration_n == b->toleration_n &&
	       (a->toleration_n == 0 || memcmp(a->tolerations, b->tolerations,
						a->toleration_n * sizeof(*a->tolerations)) == 0);
}

static bool honors_taints(const struct constraints *constraints)
{
	for (uint32_t i = 0; i < constraints->n; i++) {
		if (is_hard(constraints, i) && constraints->items[i].honor_taints) {
			return true;
		}
	}
	return false;
}

static bool after_pod_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_signature *old = event->pod.old.signature, *new = event->pod.new.signature;
	struct bt_selector selector;

	if (!involves(env, &event->pod.old) || !involves(env, &event->pod.new)) {
		return false;
	}
	const struct constraints constraints = constraints_of(env, &selector);
	if (constraints.invalid) {
		return true; /* on an error upstream queues */
	}
	if (old && new && env->own && !same_tolerations(old, new) && honors_taints(&constraints)) {
		return true;
	}
	for (uint32_t i = 0; i < constraints.n; i++) {
		bool was = old && is_hard(&constraints, i) && selects(&constraints, i, old->labels);
		bool is = new &&is_hard(&constraints, i) && selects(&constraints, i, new->labels);

		if (was != is) {
			return true;
		}
	}
	return false;
}

static bool has_keys(const struct constraints *constraints, struct bt_labels labels)
{
	for (uint32_t i = 0; i < constraints->n; i++) {
		if (is_hard(constraints, i) &&
			bt_labels_get(labels, constraints->items[i].topology_key) == BT_NAME_NONE) {
			return false;
		}
	}
	return true;
}

static bool same_domains(
	const struct constraints *constraints, struct bt_labels labels, struct bt_labels other)
{
	for (uint32_t i = 0; i < constraints->n; i++) {
		uint32_t key = constraints->items[i].topology_key;

		if (is_hard(constraints, i) && bt_labels_get(labels, key) != bt_labels_get(other, key)) {
			return false;
		}
	}
	return true;
}

static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_node_facts *old = event->node.old, *new = event->node.new;
	struct bt_selector selector;
	const struct constraints constraints = constraints_of(env, &selector);

	if (constraints.invalid) {
		return true;
	}
	bool had = old && has_keys(&constraints, old->labels);
	bool has = new &&has_keys(&constraints, new->labels);
	if (!old || !new) {
		return had || has;
	}
	return had != has || (has && (!same_domains(&constraints, old->labels, new->labels) ||
					     !bt_node_facts_taints_equal(old, new)));
}

const struct bt_registration bt_spread_events[BT_SPREAD_EVENTS] = {
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_ADD | BT_UPDATE_POD_LABEL | BT_DELETE, after_pod_change, 0},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_TOLERATION | BT_UPDATE_POD_LABEL, after_pod_change, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_DELETE | BT_UPDATE_NODE_LABEL | BT_UPDATE_NODE_TAINT,
		after_node_change, 0},
};
