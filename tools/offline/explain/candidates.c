/* SPDX-License-Identifier: Apache-2.0
 * Lists the edits that might make a pod fit.
 */
#include "tools/offline/explain/search_int.h"

#include "cache/node_view.h"
#include "engine/base/mem.h"

#define TAINTS_MAX   64 /* of all nodes */
#define CORDON_TAINT "node.kubernetes.io/unschedulable"

static void add(struct bt_explain_search *s, const struct bt_explain_edit *edit)
{
	s->candidates = bt_mem_grow(s->candidates, s->candidate_n, &s->candidate_cap, sizeof(*s->candidates));
	s->candidates[s->candidate_n++] = *edit;
}

static int64_t sum_of_containers(const struct bt_pod_object *pod, struct bt_str resource)
{
	int64_t sum = 0;

	for (uint32_t c = 0; c < pod->spec.container_n; c++) {
		const struct bt_resource_list *list = &pod->spec.containers[c].resources.requests;

		for (uint32_t i = 0; i < list->n; i++) {
			sum += bt_str_eq(list->items[i].name, resource)
				       ? bt_explain_amount_of(&list->items[i])
				       : 0;
		}
	}
	return sum;
}

/* The API refuses a request of the pod that is below the sum of its containers. */
static void add_requests(struct bt_explain_search *s, enum bt_explain_holder holder, uint32_t container,
	const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct bt_explain_edit edit = {.kind = BT_EXPLAIN_REQUEST,
			.holder = holder,
			.container = container,
			.item = i,
			.lowered = 1};

		if (holder == BT_EXPLAIN_POD_LEVEL) {
			edit.amount = sum_of_containers(&s->subject->pod, list->items[i].name);
		}
		if (bt_explain_amount_of(&list->items[i]) > edit.amount) {
			add(s, &edit);
		}
	}
}

static void add_node_affinity(struct bt_explain_search *s)
{
	const struct bt_node_selector_object *required =
		&s->subject->pod.spec.affinity.node_affinity.required;

	for (uint32_t t = 0; required->set && t < required->term_n; t++) {
		const struct bt_node_term_object *term = &required->terms[t];

		/* A term without expressions matches no node. */
		for (uint32_t i = 0;
			i < term->match_expressions.n && term->match_expressions.n + term->match_fields.n > 1;
			i++) {
			add(s, &(struct bt_explain_edit){
				       .kind = BT_EXPLAIN_EXPRESSION, .item = t, .expression = i});
		}
	}
	if (required->set) {
		add(s, &(struct bt_explain_edit){.kind = BT_EXPLAIN_NODE_AFFINITY});
	}
}

/* With the host's network every port of a container is the host's, and cannot be dropped alone. */
static void add_ports(struct bt_explain_search *s)
{
	const struct bt_pod_spec_object *spec = &s->subject->pod.spec;

	for (uint32_t c = 0; !spec->host_network && c < spec->container_n; c++) {
		for (uint32_t i = 0; i < spec->containers[c].port_n; i++) {
			if (spec->containers[c].ports[i].host_port) {
				add(s, &(struct bt_explain_edit){
					       .kind = BT_EXPLAIN_PORT, .container = c, .item = i});
			}
		}
	}
}

static void add_each(struct bt_explain_search *s, enum bt_explain_kind kind, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		add(s, &(struct bt_explain_edit){.kind = kind, .item = i});
	}
}

void bt_explain_list_candidates(struct bt_explain_search *s)
{
	const struct bt_pod_spec_object *spec = &s->subject->pod.spec;

	for (uint32_t c = 0; c < spec->container_n; c++) {
		add_requests(s, BT_EXPLAIN_CONTAINER, c, &spec->containers[c].resources.requests);
	}
	for (uint32_t c = 0; c < spec->init_container_n; c++) {
		add_requests(s, BT_EXPLAIN_INIT_CONTAINER, c, &spec->init_containers[c].resources.requests);
	}
	add_requests(s, BT_EXPLAIN_POD_LEVEL, 0, &spec->resources.requests);
	for (uint32_t i = 0; i < spec->spread_n; i++) {
		if (!bt_str_is(spec->spread[i].when_unsatisfiable, "ScheduleAnyway")) {
			add(s, &(struct bt_explain_edit){.kind = BT_EXPLAIN_SPREAD, .item = i});
		}
	}
	add_each(s, BT_EXPLAIN_SELECTOR, spec->node_selector.n);
	add_node_affinity(s);
	add_each(s, BT_EXPLAIN_AFFINITY, spec->affinity.pod_affinity.required_n);
	add_each(s, BT_EXPLAIN_ANTI_AFFINITY, spec->affinity.pod_anti_affinity.required_n);
	add_ports(s);
	add_each(s, BT_EXPLAIN_VOLUME, spec->volume_n);
}

static struct bt_str keep(struct bt_explain_search *s, uint32_t name)
{
	struct bt_str text = bt_intern_str(bt_engine_cache(s->trial.engine)->dictionary->intern, name);

	return (struct bt_str){bt_arena_copy(&s->arena, text.ptr, text.len), text.len};
}

static bool is_listed(const struct bt_explain_edit *edits, size_t n, const struct bt_taint_object *taint)
{
	for (size_t i = 0; i < n; i++) {
		if (bt_str_eq(edits[i].taint.key, taint->key) &&
			bt_str_eq(edits[i].taint.value, taint->value) &&
			bt_str_eq(edits[i].taint.effect, taint->effect)) {
			return true;
		}
	}
	return false;
}

static void list_set(
	struct bt_explain_search *s, const struct bt_taint_set *set, struct bt_explain_edit *out, size_t *n)
{
	for (uint32_t t = 0; t < set->n && *n < TAINTS_MAX; t++) {
		struct bt_explain_edit edit = {.kind = BT_EXPLAIN_TOLERATE};

		if (set->items[t].effect != BT_NAME_NO_SCHEDULE &&
			set->items[t].effect != BT_NAME_NO_EXECUTE) {
			continue;
		}
		edit.taint.key = keep(s, set->items[t].key);
		edit.taint.value = keep(s, set->items[t].value);
		edit.taint.effect = keep(s, set->items[t].effect);
		if (!bt_str_is(edit.taint.key, CORDON_TAINT) && !is_listed(out, *n, &edit.taint)) {
			edit.item = (uint32_t)*n;
			out[(*n)++] = edit;
		}
	}
}

size_t bt_explain_list_taints(struct bt_explain_search *s, uint32_t node_ix, struct bt_explain_edit **out)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(s->trial.engine)->view.snapshot;
	uint8_t *seen = bt_mem_zalloc(snapshot->taint_set_n + 1, 1);
	size_t n = 0;

	*out = bt_arena_zalloc(&s->arena, TAINTS_MAX * sizeof(**out));
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		uint32_t set = snapshot->nodes[i].taint_set;

		if (bt_bitmap_test(snapshot->live, i) && (node_ix == BT_NO_NODE || node_ix == i) &&
			!seen[set]) {
			seen[set] = 1;
			list_set(s, &snapshot->taint_sets[set], *out, &n);
		}
	}
	bt_mem_free(seen);
	return n;
}
