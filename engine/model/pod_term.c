/* SPDX-License-Identifier: Apache-2.0
 * Pod affinity terms and spread constraints.
 */
#include "engine/model/pod_term.h"
#include "engine/base/check.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t bt_names_sort(uint32_t *names, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 1) {
		qsort(names, n, sizeof(*names), by_name);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || names[kept - 1] != names[i]) {
			names[kept++] = names[i];
		}
	}
	BT_INVARIANT(kept <= n && (n == 0 || kept > 0));
	return kept;
}

/* The namespaces of a term, or the owner's when the term has neither namespaces nor a namespace selector. */
static void compile_namespaces(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_pod_term_object *object, uint32_t namespace_, struct bt_pod_match *match)
{
	uint32_t *names = bt_arena_alloc(arena, (object->namespaces.n + 1) * sizeof(*names), 8);
	uint32_t n = 0;

	if (object->namespaces.n == 0 && !object->namespace_selector.set) {
		names[n++] = namespace_;
	}
	for (uint32_t i = 0; i < object->namespaces.n; i++) {
		names[n++] = bt_name_refs_add(held, object->namespaces.items[i]);
	}
	match->namespaces = names;
	match->namespace_n = bt_names_sort(names, n);
	BT_INVARIANT(match->namespace_n <= object->namespaces.n + 1);
}

static bool compile_term(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_pod_term_object *object, uint32_t namespace_, struct bt_pod_term *out,
	struct bt_buf *why)
{
	if (bt_selector_compile(held, arena, &object->label_selector, &out->match.labels, why) != BT_OK ||
		bt_selector_compile(
			held, arena, &object->namespace_selector, &out->namespace_selector, why) != BT_OK) {
		return false;
	}
	compile_namespaces(held, arena, object, namespace_, &out->match);
	out->topology_key = bt_name_refs_add(held, object->topology_key);
	return true;
}

struct term_compiler {
	struct bt_name_refs *held;
	struct bt_arena *arena;
	uint32_t namespace_;
	struct bt_buf *text; /* all errors so far */
	uint32_t error_n;
};

/* Discards an invalid list: appends its error, and leaves it without terms. */
static void pod_term_give_up(struct term_compiler *c, const char *list, struct bt_str why)
{
	bt_buf_printf(c->text, "%s%s: %.*s", c->error_n ? ", " : "", list, BT_STR_ARG(why));
	c->error_n++;
}

static struct bt_pod_term_list compile_required(
	struct term_compiler *c, const struct bt_pod_term_object *objects, uint32_t n, const char *name)
{
	struct bt_pod_term *items = bt_arena_zalloc(c->arena, n * sizeof(*items));
	struct bt_buf why = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (!compile_term(c->held, c->arena, &objects[i], c->namespace_, &items[i], &why)) {
			pod_term_give_up(c, name, bt_buf_view(&why));
			n = 0;
		}
	}
	bt_buf_fini(&why);
	return (struct bt_pod_term_list){items, n};
}

static struct bt_pod_term_list compile_preferred(struct term_compiler *c,
	const struct bt_weighted_pod_term_object *objects, uint32_t n, const char *name)
{
	struct bt_pod_term *items = bt_arena_zalloc(c->arena, n * sizeof(*items));
	struct bt_buf why = {0};

	for (uint32_t i = 0; i < n; i++) {
		items[i].weight = objects[i].weight;
		if (!compile_term(c->held, c->arena, &objects[i].term, c->namespace_, &items[i], &why)) {
			pod_term_give_up(c, name, bt_buf_view(&why));
			n = 0;
		}
	}
	bt_buf_fini(&why);
	return (struct bt_pod_term_list){items, n};
}

const struct bt_pod_affinity *bt_pod_affinity_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_affinity_object *object, uint32_t namespace_, struct bt_buf *text)
{
	const struct bt_pod_affinity_object *with = &object->pod_affinity,
					    *apart = &object->pod_anti_affinity;

	if (!with->required_n && !with->preferred_n && !apart->required_n && !apart->preferred_n) {
		return NULL;
	}
	struct bt_pod_affinity *affinity = bt_arena_zalloc(arena, sizeof(*affinity));
	struct term_compiler c = {held, arena, namespace_, text, 0};
	bt_buf_clear(text);
	affinity->affinity = compile_required(&c, with->required, with->required_n, "requiredAffinityTerms");
	affinity->anti_affinity =
		compile_required(&c, apart->required, apart->required_n, "requiredAntiAffinityTerms");
	affinity->affinity_invalid = affinity->affinity.n != with->required_n;
	affinity->anti_affinity_invalid = affinity->anti_affinity.n != apart->required_n;
	affinity->preferred_affinity =
		compile_preferred(&c, with->preferred, with->preferred_n, "preferredAffinityTerms");
	affinity->preferred_anti_affinity =
		compile_preferred(&c, apart->preferred, apart->preferred_n, "preferredAntiAffinityTerms");
	affinity->has_preferred = with->preferred_n || apart->preferred_n;
	if (c.error_n) {
		/* Several errors are shown as a list. */
		struct bt_buf all = {0};

		bt_buf_printf(&all, c.error_n > 1 ? "[%.*s]" : "%.*s", BT_STR_ARG(bt_buf_view(text)));
		affinity->error = bt_arena_copy(arena, all.ptr, all.len);
		bt_buf_fini(&all);
	}
	BT_INVARIANT((c.error_n > 0) == (affinity->error != NULL));
	return affinity;
}

/* The requirements of matchLabelKeys first, then the selector's own: one array serves both selectors. */
static void merge_keys(struct bt_name_refs *held, struct bt_arena *arena, const struct bt_str_list *keys,
	struct bt_labels labels, struct bt_spread_constraint *out)
{
	const struct bt_selector *bare = &out->bare_selector;
	struct bt_requirement *items = bt_arena_zalloc(arena, (keys->n + bare->n) * sizeof(*items));
	uint32_t n = 0;

	for (uint32_t i = 0; i < keys->n; i++) {
		uint32_t key = bt_name_refs_add(held, keys->items[i]);
		uint32_t *value = bt_arena_alloc(arena, sizeof(*value), 8);

		*value = bt_labels_get(labels, key);
		if (*value != BT_NAME_NONE) {
			items[n++] = (struct bt_requirement){
				.key = key, .op = BT_OP_IN, .values = value, .value_n = 1};
		}
	}
	for (uint32_t i = 0; i < bare->n; i++) {
		items[n++] = bare->items[i];
	}
	out->selector = (struct bt_selector){.items = items, .n = n};
	BT_INVARIANT(n <= keys->n + bare->n);
}

void bt_spread_constraint_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_spread_constraint_object *object, struct bt_labels labels,
	struct bt_spread_constraint *out, struct bt_buf *text)
{
	const struct bt_str affinity = object->node_affinity_policy, taints = object->node_taints_policy;

	*out = (struct bt_spread_constraint){
		.when = bt_str_is(object->when_unsatisfiable, "DoNotSchedule")	  ? BT_SPREAD_DO_NOT_SCHEDULE
			: bt_str_is(object->when_unsatisfiable, "ScheduleAnyway") ? BT_SPREAD_SCHEDULE_ANYWAY
										  : BT_SPREAD_UNKNOWN,
		.max_skew = object->max_skew,
		.min_domains = object->has_min_domains ? object->min_domains : 1,
		.topology_key = bt_name_refs_add(held, object->topology_key),
		.honor_affinity = affinity.len == 0 || bt_str_is(affinity, "Honor"),
		.honor_taints = bt_str_is(taints, "Honor"),
	};
	bt_buf_clear(text);
	if (bt_selector_compile(held, arena, &object->label_selector, &out->bare_selector, text) != BT_OK) {
		out->error = bt_arena_copy(arena, text->ptr, text->len);
		out->bare_selector = out->selector = (struct bt_selector){.nothing = true};
		return;
	}
	out->selector = out->bare_selector;
	if (object->match_label_keys.n && !out->bare_selector.nothing) {
		merge_keys(held, arena, &object->match_label_keys, labels, out);
	}
}

enum bt_owner_kind bt_pod_owner(const struct bt_meta_object *meta, struct bt_str *out_name)
{
	const struct bt_owner_object *owner = NULL;

	*out_name = (struct bt_str){0};
	for (uint32_t i = 0; i < meta->owner_n && !owner; i++) {
		owner = meta->owners[i].controller ? &meta->owners[i] : NULL;
	}
	if (!owner) {
		return BT_OWNER_NONE;
	}
	bool core = bt_str_is(owner->api_version, "v1") || bt_str_is(owner->api_version, "/v1");
	bool apps = bt_str_is(owner->api_version, "apps/v1");
	enum bt_owner_kind kind = core && bt_str_is(owner->kind, "ReplicationController")
					  ? BT_OWNER_REPLICATION_CONTROLLER
				  : apps && bt_str_is(owner->kind, "ReplicaSet")  ? BT_OWNER_REPLICA_SET
				  : apps && bt_str_is(owner->kind, "StatefulSet") ? BT_OWNER_STATEFUL_SET
										  : BT_OWNER_NONE;
	if (kind != BT_OWNER_NONE) {
		*out_name = owner->name;
	}
	return kind;
}

static bool names_namespace(const struct bt_pod_match *match, uint32_t namespace_)
{
	uint32_t low = 0, high = match->namespace_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (match->namespaces[middle] < namespace_) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < match->namespace_n && match->namespaces[low] == namespace_;
}

bool bt_pod_match_holds(const struct bt_intern *intern, const struct bt_pod_match *match, uint32_t namespace_,
	struct bt_labels labels)
{
	return (match->any_namespace || names_namespace(match, namespace_)) &&
	       bt_selector_matches(intern, &match->labels, labels);
}

bool bt_pod_query_holds(const struct bt_intern *intern, const struct bt_pod_query *query, uint32_t namespace_,
	struct bt_labels labels)
{
	for (uint32_t i = 0; i < query->n; i++) {
		if (!bt_pod_match_holds(intern, &query->items[i], namespace_, labels)) {
			return false;
		}
	}
	return true;
}
