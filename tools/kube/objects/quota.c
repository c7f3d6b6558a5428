/* SPDX-License-Identifier: Apache-2.0
 * Source: pkg/quota/v1/evaluator/core, pods.go and persistent_volume_claims.go, v1.37.2.
 */
#include "tools/kube/objects/quota.h"

#include <string.h>

#include "engine/base/mem.h"
#include "tools/format/object_reader.h"
#include "tools/kube/objects/defaults.h"

void bt_quotas_fini(struct bt_quotas *quotas)
{
	bt_mem_free(quotas->items);
	bt_arena_fini(&quotas->arena);
	*quotas = (struct bt_quotas){0};
}

void bt_quotas_add(struct bt_quotas *quotas, const struct bt_object *object)
{
	struct bt_object copy = *object;
	size_t ix = 0;

	for (; ix < quotas->n; ix++) {
		const struct bt_meta_object *known = &quotas->items[ix].object.meta;

		if (bt_str_eq(known->name, object->meta.name) &&
			bt_str_eq(known->namespace_, object->meta.namespace_)) {
			break;
		}
	}
	if (ix == quotas->n) {
		quotas->items = bt_mem_grow(quotas->items, quotas->n, &quotas->cap, sizeof(*quotas->items));
		quotas->n++;
	}
	bt_object_own(&copy, &quotas->arena);
	size_t bytes = (copy.quota.hard.n + 1) * sizeof(struct bt_quantity);
	quotas->items[ix] = (struct bt_quota){.object = copy.quota,
		.seen = bt_arena_zalloc(&quotas->arena, bytes),
		.asked = bt_arena_zalloc(&quotas->arena, bytes)};
}

/* ---- what an object uses ---- */

static void use(struct bt_resource_list *usage, struct bt_arena *arena, const char *prefix,
	struct bt_str name, struct bt_quantity amount)
{
	size_t prefix_n = strlen(prefix);
	char *text = bt_arena_alloc(arena, prefix_n + name.len + 1, 1);

	memcpy(text, prefix, prefix_n);
	memcpy(text + prefix_n, name.ptr, name.len);
	usage->items[usage->n++] = (struct bt_named_quantity){{text, prefix_n + name.len}, amount};
}

static bool is_compute(struct bt_str name)
{
	return bt_str_is(name, "cpu") || bt_str_is(name, "memory") || bt_str_is(name, "ephemeral-storage");
}

static const struct bt_named_quantity *pod_level(
	const struct bt_pod_spec_object *spec, const struct bt_resource_list *own, struct bt_str name)
{
	bool counts =
		bt_str_is(name, "cpu") || bt_str_is(name, "memory") || bt_str_starts(name, "hugepages-");

	return spec->resources.set && counts ? bt_resource_list_find(own, name) : NULL;
}

/* The pod's total with pod-level amounts and overhead. Source: PodRequests, PodLimits, component-helpers,
 * v0.37.2. */
static struct bt_resource_list pod_total(
	const struct bt_pod_spec_object *spec, bool limits, struct bt_arena *arena)
{
	const struct bt_resource_list *own = limits ? &spec->resources.limits : &spec->resources.requests;
	struct bt_resource_list total = bt_pod_total(spec, limits, arena), all = {.set = true};

	all.items = bt_arena_alloc(arena, (total.n + own->n + spec->overhead.n + 1) * sizeof(*all.items), 16);
	for (uint32_t i = 0; i < own->n; i++) {
		if (pod_level(spec, own, own->items[i].name)) {
			all.items[all.n++] = own->items[i];
		}
	}
	for (uint32_t i = 0; i < total.n; i++) {
		if (!bt_resource_list_find(&all, total.items[i].name)) {
			all.items[all.n++] = total.items[i];
		}
	}
	for (uint32_t i = 0; i < spec->overhead.n; i++) {
		const struct bt_named_quantity *more = &spec->overhead.items[i];
		struct bt_named_quantity *sum = bt_resource_list_find(&all, more->name);

		if (sum) {
			sum->quantity = bt_quantity_add(sum->quantity, more->quantity);
		} else if (!limits) {
			all.items[all.n++] = *more;
		}
	}
	return all;
}

static bool has_ended(const struct bt_pod_object *pod)
{
	return bt_str_is(pod->phase, "Succeeded") || bt_str_is(pod->phase, "Failed");
}

static struct bt_resource_list pod_usage(const struct bt_pod_object *pod, struct bt_arena *arena)
{
	const struct bt_quantity one = bt_quantity_of_int64(1, BT_DECIMAL_SI);
	struct bt_resource_list requests = pod_total(&pod->spec, false, arena);
	struct bt_resource_list limits = pod_total(&pod->spec, true, arena);
	struct bt_resource_list usage = {.set = true};

	usage.items = bt_arena_alloc(arena, (2 * requests.n + limits.n + 2) * sizeof(*usage.items), 16);
	use(&usage, arena, "count/", bt_str("pods"), one);
	if (has_ended(pod)) {
		return usage;
	}
	use(&usage, arena, "", bt_str("pods"), one);
	for (uint32_t i = 0; i < requests.n; i++) {
		const struct bt_named_quantity *item = &requests.items[i];

		if (is_compute(item->name) || bt_str_starts(item->name, "hugepages-")) {
			use(&usage, arena, "", item->name, item->quantity);
		}
		use(&usage, arena, "requests.", item->name, item->quantity);
	}
	for (uint32_t i = 0; i < limits.n; i++) {
		if (is_compute(limits.items[i].name)) {
			use(&usage, arena, "limits.", limits.items[i].name, limits.items[i].quantity);
		}
	}
	return usage;
}

static struct bt_resource_list claim_usage(const struct bt_claim_object *claim, struct bt_arena *arena)
{
	static const struct bt_str by_class = BT_STR(".storageclass.storage.k8s.io/");
	const struct bt_quantity one = bt_quantity_of_int64(1, BT_DECIMAL_SI);
	const struct bt_named_quantity *storage = bt_resource_list_find(&claim->requests, bt_str("storage"));
	struct bt_resource_list usage = {.set = true};
	struct bt_buf name = {.len = 0};

	usage.items = bt_arena_alloc(arena, 6 * sizeof(*usage.items), 16);
	use(&usage, arena, "count/", bt_str("persistentvolumeclaims"), one);
	use(&usage, arena, "", bt_str("persistentvolumeclaims"), one);
	if (storage) {
		use(&usage, arena, "", bt_str("requests.storage"), storage->quantity);
	}
	if (claim->storage_class.len) {
		bt_buf_printf(&name, "%.*s%s", BT_STR_ARG(claim->storage_class), by_class.ptr);
		use(&usage, arena, name.ptr, bt_str("persistentvolumeclaims"), one);
		if (storage) {
			use(&usage, arena, name.ptr, bt_str("requests.storage"), storage->quantity);
		}
	}
	bt_buf_fini(&name);
	return usage;
}

static uint32_t container_count(const struct bt_pod_spec_object *spec)
{
	return spec->container_n + spec->init_container_n;
}

static const struct bt_container_object *container_at(const struct bt_pod_spec_object *spec, uint32_t ix)
{
	return ix < spec->container_n ? &spec->containers[ix]
				      : &spec->init_containers[ix - spec->container_n];
}

/* ---- scopes ---- */

static bool sets_compute(const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		bool counts =
			bt_str_is(list->items[i].name, "cpu") || bt_str_is(list->items[i].name, "memory");

		if (counts && list->items[i].quantity.nano > 0) {
			return true;
		}
	}
	return false;
}

/* Source: ComputePodQOS, pkg/apis/core/helper/qos, v1.37.2. */
static bool is_best_effort(const struct bt_pod_spec_object *spec)
{
	if (spec->resources.set &&
		(sets_compute(&spec->resources.requests) || sets_compute(&spec->resources.limits))) {
		return false;
	}
	for (uint32_t i = 0; i < container_count(spec); i++) {
		const struct bt_container_object *container = container_at(spec, i);

		if (sets_compute(&container->resources.requests) ||
			sets_compute(&container->resources.limits)) {
			return false;
		}
	}
	return true;
}

static bool crosses(const struct bt_pod_term_object *term)
{
	return term->namespaces.n || term->namespace_selector.set;
}

static bool affinity_crosses(const struct bt_pod_affinity_object *affinity)
{
	bool found = false;

	for (uint32_t i = 0; i < affinity->required_n; i++) {
		found = found || crosses(&affinity->required[i]);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		found = found || crosses(&affinity->preferred[i].term);
	}
	return found;
}

static bool priority_class_matches(const struct bt_requirement_object *term, struct bt_str class_name)
{
	bool listed = false;

	if (bt_str_is(term->operator_, "Exists")) {
		return class_name.len > 0;
	}
	if (bt_str_is(term->operator_, "DoesNotExist")) {
		return class_name.len == 0;
	}
	for (uint32_t i = 0; i < term->values.n; i++) {
		listed = listed || bt_str_eq(term->values.items[i], class_name);
	}
	return bt_str_is(term->operator_, "NotIn") ? !listed : listed && class_name.len;
}

/* Source: podMatchesScopeFunc. */
static bool scope_matches(
	struct bt_str scope, const struct bt_requirement_object *term, const struct bt_pod_spec_object *spec)
{
	if (bt_str_is(scope, "Terminating") || bt_str_is(scope, "NotTerminating")) {
		return spec->has_active_deadline == bt_str_is(scope, "Terminating");
	}
	if (bt_str_is(scope, "BestEffort") || bt_str_is(scope, "NotBestEffort")) {
		return is_best_effort(spec) == bt_str_is(scope, "BestEffort");
	}
	if (bt_str_is(scope, "PriorityClass")) {
		return term ? priority_class_matches(term, spec->priority_class_name)
			    : spec->priority_class_name.len > 0;
	}
	return bt_str_is(scope, "CrossNamespacePodAffinity") &&
	       (affinity_crosses(&spec->affinity.pod_affinity) ||
		       affinity_crosses(&spec->affinity.pod_anti_affinity));
}

/* Does the quota count such an object? Scopes are of pods only. */
static bool quota_covers(const struct bt_quota_object *quota, const struct bt_quota_user *user)
{
	const struct bt_meta_object *meta = user->pod ? &user->pod->meta : &user->claim->meta;

	if (!bt_str_eq(quota->meta.namespace_, meta->namespace_)) {
		return false;
	}
	if (!user->pod) {
		return quota->scopes.n == 0 && quota->scope_terms.n == 0;
	}
	for (uint32_t i = 0; i < quota->scopes.n; i++) {
		if (!scope_matches(quota->scopes.items[i], NULL, &user->pod->spec)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < quota->scope_terms.n; i++) {
		const struct bt_requirement_object *term = &quota->scope_terms.items[i];

		if (!scope_matches(term->key, term, &user->pod->spec)) {
			return false;
		}
	}
	return true;
}

/* ---- amounts that a quota requires ---- */

/* Sorted. Source: validationSet. */
static const struct {
	struct bt_str name, resource;
	bool limits;
} required[] = {
	{BT_STR("cpu"), BT_STR("cpu"), false},
	{BT_STR("limits.cpu"), BT_STR("cpu"), true},
	{BT_STR("limits.memory"), BT_STR("memory"), true},
	{BT_STR("memory"), BT_STR("memory"), false},
	{BT_STR("requests.cpu"), BT_STR("cpu"), false},
	{BT_STR("requests.memory"), BT_STR("memory"), false},
};
#define REQUIRED_N (sizeof(required) / sizeof(required[0]))

static bool has_pod_level(const struct bt_pod_spec_object *spec, const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (pod_level(spec, list, list->items[i].name)) {
			return true;
		}
	}
	return false;
}

/* The first container by name, after that one, that lacks the amount; NULL: none. */
static const struct bt_container_object *next_silent(
	const struct bt_pod_spec_object *spec, size_t what, const struct bt_container_object *after)
{
	const struct bt_container_object *next = NULL;

	for (uint32_t i = 0; i < container_count(spec); i++) {
		const struct bt_container_object *container = container_at(spec, i);
		const struct bt_resource_list *list =
			required[what].limits ? &container->resources.limits : &container->resources.requests;

		if (!bt_resource_list_find(list, required[what].resource) &&
			(!after || bt_str_cmp(container->name, after->name) > 0) &&
			(!next || bt_str_cmp(container->name, next->name) < 0)) {
			next = container;
		}
	}
	return next;
}

/* Adds "must specify cpu for: app,init; memory for: app". Returns: whether the quota requires an amount that
 * a container lacks. Source: podEvaluator.Constraints. */
static bool explain_silence(
	const struct bt_quota_object *quota, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	bool any = false;

	if (has_pod_level(spec, &spec->resources.requests) || has_pod_level(spec, &spec->resources.limits)) {
		return false;
	}
	for (size_t what = 0; what < REQUIRED_N; what++) {
		const struct bt_container_object *first = next_silent(spec, what, NULL);

		if (!first || !bt_resource_list_find(&quota->hard, required[what].name)) {
			continue;
		}
		bt_buf_printf(
			out, "%s%.*s for: ", any ? "; " : "must specify ", BT_STR_ARG(required[what].name));
		for (const struct bt_container_object *c = first; c; c = next_silent(spec, what, c)) {
			bt_buf_printf(out, "%s%.*s", c == first ? "" : ",", BT_STR_ARG(c->name));
		}
		any = true;
	}
	return any;
}

/* ---- counting ---- */

static struct bt_resource_list usage_of(const struct bt_quota_user *user, struct bt_arena *arena)
{
	return user->pod ? pod_usage(user->pod, arena) : claim_usage(user->claim, arena);
}

struct bt_quantity bt_quota_used(const struct bt_quota *quota, uint32_t ix)
{
	const struct bt_named_quantity *status =
		bt_resource_list_find(&quota->object.used, quota->object.hard.items[ix].name);

	return status ? status->quantity : quota->seen[ix];
}

static void add_amount(struct bt_buf *out, size_t begin, struct bt_str name, struct bt_quantity amount)
{
	char text[BT_QUANTITY_TEXT_MAX];

	bt_quantity_text(amount, text);
	bt_buf_printf(out, "%s%.*s=%s", out->len > begin ? "," : "", BT_STR_ARG(name), text);
}

/* Adds "requested: …, used: …, limited: …" of the entries that would be exceeded. False: none. */
static bool explain_excess(
	const struct bt_quota *quota, const struct bt_resource_list *usage, struct bt_buf *out)
{
	static const char *const words[] = {"requested: ", ", used: ", ", limited: "};
	const struct bt_resource_list *hard = &quota->object.hard;
	bool any = false;

	for (size_t w = 0; w < 3; w++) {
		bt_buf_text(out, words[w]);
		size_t begin = out->len;

		for (uint32_t i = 0; i < hard->n; i++) {
			const struct bt_named_quantity *entry = &hard->items[i];
			const struct bt_named_quantity *more = bt_resource_list_find(usage, entry->name);
			struct bt_quantity used = bt_quantity_add(bt_quota_used(quota, i), quota->asked[i]);

			if (more && more->quantity.nano &&
				bt_quantity_cmp(bt_quantity_add(used, more->quantity), entry->quantity) > 0) {
				add_amount(out, begin, entry->name,
					w == 0	 ? more->quantity
					: w == 1 ? used
						 : entry->quantity);
				any = true;
			}
		}
	}
	return any;
}

bool bt_quotas_allow(const struct bt_quotas *quotas, const struct bt_quota_user *user, struct bt_arena *arena,
	struct bt_buf *out_reason)
{
	struct bt_resource_list usage = {.n = 0};

	for (size_t i = 0; i < quotas->n && user->pod; i++) {
		const struct bt_quota_object *quota = &quotas->items[i].object;
		size_t before = out_reason->len;

		bt_buf_printf(out_reason, "failed quota: %.*s: ", BT_STR_ARG(quota->meta.name));
		if (quota_covers(quota, user) && explain_silence(quota, user->pod, out_reason)) {
			return false;
		}
		out_reason->len = before;
	}
	for (size_t i = 0; i < quotas->n; i++) {
		const struct bt_quota *quota = &quotas->items[i];
		size_t before = out_reason->len;

		if (!quota_covers(&quota->object, user)) {
			continue;
		}
		usage = usage.set ? usage : usage_of(user, arena);
		bt_buf_printf(out_reason, "exceeded quota: %.*s, ", BT_STR_ARG(quota->object.meta.name));
		if (explain_excess(quota, &usage, out_reason)) {
			return false;
		}
		out_reason->len = before;
	}
	return true;
}

/* Remembers a created pod without an amount that the quota requires. */
static void note_silence(struct bt_quotas *quotas, struct bt_quota *quota, const struct bt_pod_object *pod)
{
	struct bt_buf text = {0};

	if (explain_silence(&quota->object, pod, &text) && quota->silent_n++ == 0) {
		quota->silent = (struct bt_str){bt_arena_copy(&quotas->arena, text.ptr, text.len), text.len};
	}
	bt_buf_fini(&text);
}

void bt_quotas_count(struct bt_quotas *quotas, const struct bt_quota_user *user, struct bt_arena *arena)
{
	struct bt_resource_list usage = {.n = 0};

	for (size_t i = 0; i < quotas->n; i++) {
		struct bt_quota *quota = &quotas->items[i];
		const struct bt_resource_list *hard = &quota->object.hard;
		struct bt_quantity *sums = user->created ? quota->asked : quota->seen;

		if (!quota_covers(&quota->object, user)) {
			continue;
		}
		usage = usage.set ? usage : usage_of(user, arena);
		quota->asked_n += user->created;
		if (user->created && user->pod) {
			note_silence(quotas, quota, user->pod);
		}
		for (uint32_t j = 0; j < hard->n; j++) {
			const struct bt_named_quantity *more =
				bt_resource_list_find(&usage, hard->items[j].name);

			sums[j] = more ? bt_quantity_add(sums[j], more->quantity) : sums[j];
		}
	}
}
