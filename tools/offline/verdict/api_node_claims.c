/* SPDX-License-Identifier: Apache-2.0
 * status.nodeAllocatableResourceClaimStatuses of a history's pods. In 1.37 a strategic merge patch merges the
 * list by resourceClaimName, and its lists by name; in 1.36 it replaces the list.
 */
#include "engine/flow/cycle/source.h"
#include "engine/model/node_claim.h"
#include "tools/offline/verdict/api_int.h"

/* The quantities of both lists by name; add's replace those of base. Texts of base are copied. */
static struct bt_named_quantity *merge_quantities(struct bt_api *api, const struct bt_named_quantity *base,
	uint32_t base_n, const struct bt_named_quantity *add, uint32_t add_n, uint32_t *out_n)
{
	struct bt_named_quantity *merged =
		bt_arena_zalloc(&api->cluster.arena, (base_n + add_n + 1) * sizeof(*merged));
	uint32_t n = 0;

	for (uint32_t i = 0; i < base_n; i++) {
		merged[n++] = (struct bt_named_quantity){bt_api_keep(api, base[i].name), base[i].quantity};
	}
	for (uint32_t i = 0; i < add_n; i++) {
		uint32_t at = 0;

		while (at < n && !bt_str_eq(merged[at].name, add[i].name)) {
			at++;
		}
		merged[at] = add[i];
		n += at == n;
	}
	*out_n = n;
	return merged;
}

static void merge_overhead(struct bt_node_overhead_object *into, const struct bt_node_overhead_object *from)
{
	if (from->has_per_pod) {
		into->has_per_pod = true;
		into->per_pod = from->per_pod;
	}
	if (from->has_per_container) {
		into->has_per_container = true;
		into->per_container = from->per_container;
	}
}

static void merge_overheads(struct bt_api *api, const struct bt_node_claim_object *base,
	const struct bt_node_claim_object *add, struct bt_node_claim_object *out)
{
	uint32_t n = 0;

	out->overheads = bt_arena_zalloc(
		&api->cluster.arena, (base->overhead_n + add->overhead_n + 1) * sizeof(*out->overheads));
	for (uint32_t i = 0; i < base->overhead_n; i++) {
		out->overheads[n] = base->overheads[i];
		out->overheads[n].name = bt_api_keep(api, base->overheads[i].name);
		n++;
	}
	for (uint32_t i = 0; i < add->overhead_n; i++) {
		uint32_t at = 0;

		while (at < n && !bt_str_eq(out->overheads[at].name, add->overheads[i].name)) {
			at++;
		}
		out->overheads[at].name = add->overheads[i].name;
		merge_overhead(&out->overheads[at], &add->overheads[i]);
		n += at == n;
	}
	out->overhead_n = n;
}

/* A patch omits empty lists, and leaves the containers of base then. */
static struct bt_node_claim_object merge_entry(
	struct bt_api *api, const struct bt_node_claim_object *base, const struct bt_node_claim_object *add)
{
	static const struct bt_node_claim_object nothing;
	struct bt_node_claim_object merged = {
		.claim = bt_api_keep(api, base->claim), .containers = base->containers};

	add = add ? add : &nothing;
	if (add->containers.n) {
		merged.containers = add->containers;
	} else {
		merged.containers.items = bt_arena_zalloc(
			&api->cluster.arena, (base->containers.n + 1) * sizeof(*merged.containers.items));
		for (uint32_t i = 0; i < base->containers.n; i++) {
			merged.containers.items[i] = bt_api_keep(api, base->containers.items[i]);
		}
	}
	merged.mapping = merge_quantities(
		api, base->mapping, base->mapping_n, add->mapping, add->mapping_n, &merged.mapping_n);
	merged.resources.set = base->resources.set || add->resources.set;
	merged.resources.items = merge_quantities(api, base->resources.items, base->resources.n,
		add->resources.items, add->resources.n, &merged.resources.n);
	merge_overheads(api, base, add, &merged);
	return merged;
}

static uint32_t find_entry(const struct bt_node_claim_object *entries, uint32_t n, struct bt_str claim)
{
	uint32_t at = 0;

	while (at < n && !bt_str_eq(entries[at].claim, claim)) {
		at++;
	}
	return at;
}

/* The entries of the signature join those that the pod has, or replace them. */
static void add_entries(struct bt_api *api, const struct bt_pod_object *pod,
	const struct bt_signature *signature, struct bt_api_object *stored)
{
	const struct bt_release *release =
		bt_engine_cache(api->cluster.engine)->view.devices->features.release;
	bool replaces = bt_release_has(release, BT_RULE_DEVICES_MAP_ALONE);
	uint32_t old_n = replaces ? 0 : pod->node_claim_n, add_n = signature->node_claim_n, n = 0;
	struct bt_node_claim_object *all =
		bt_arena_zalloc(&api->cluster.arena, (old_n + add_n + 1) * sizeof(*all));
	struct bt_node_claim_object *add = bt_arena_zalloc(&api->cluster.arena, (add_n + 1) * sizeof(*add));

	for (uint32_t i = 0; i < add_n; i++) {
		add[i] = bt_node_claim_object_of(bt_engine_cache(api->cluster.engine)->dictionary,
			&api->cluster.arena, &signature->node_claims[i]);
	}
	for (uint32_t i = 0; i < old_n; i++) {
		uint32_t same = find_entry(add, add_n, pod->node_claims[i].claim);

		all[n++] = merge_entry(api, &pod->node_claims[i], same < add_n ? &add[same] : NULL);
	}
	for (uint32_t i = 0; i < add_n; i++) {
		if (find_entry(all, n, add[i].claim) == n) {
			all[n++] = add[i];
		}
	}
	stored->node_claims = all;
	stored->node_claim_n = n;
}

/* Source: patchNodeAllocatableResourceClaimStatus, clearNodeAllocatableResourceClaimStatus, v1.36.3, v1.37.2;
 * the list is atomic in 1.36. */
void bt_api_write_node_claims(
	struct bt_api *api, struct bt_api_object *stored, const struct bt_signature *signature, bool bound)
{
	struct bt_object object;

	if (!stored || !signature->assumed_of || signature->node_claim_n == 0) {
		return;
	}
	if (bound) {
		bt_api_build(api, stored, &object);
		add_entries(api, &object.pod, signature, stored);
	} else {
		stored->node_claim_n = 0;
	}
	stored->node_claims_set = true;
}
