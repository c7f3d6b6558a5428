/* SPDX-License-Identifier: Apache-2.0
 * The canonical form of a pod: all fields that affect scheduling, as a sequence of words and texts.
 */
#include "engine/model/signature_int.h"
#include "engine/base/check.h"

#include <stdlib.h>

static void signature_canonical_put(struct bt_signature_maker *s, uint64_t word)
{
	if (BT_UNLIKELY(s->words.len + sizeof(word) >= s->words.cap)) {
		bt_buf_reserve(&s->words, sizeof(word));
	}
	memcpy(s->words.ptr + s->words.len, &word, sizeof(word));
	s->words.len += sizeof(word);
}

/* Writes a text verbatim, prefixed with its length: no dictionary lookup for known pods. */
static void put_text(struct bt_signature_maker *s, struct bt_str text)
{
	if (BT_UNLIKELY(s->words.len + sizeof(uint64_t) + text.len >= s->words.cap)) {
		bt_buf_reserve(&s->words, sizeof(uint64_t) + text.len);
	}
	signature_canonical_put(s, text.len);
	if (text.len) {
		memcpy(s->words.ptr + s->words.len, text.ptr, text.len);
		s->words.len += text.len;
	}
	BT_INVARIANT(s->words.len <= s->words.cap);
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(((const struct bt_str_pair *)a)->key, ((const struct bt_str_pair *)b)->key);
}

/* The pairs of a map by ascending keys, the API server's order. */
static const struct bt_str_pair *in_order(struct bt_signature_maker *s, const struct bt_str_map *map)
{
	uint32_t i = 1;

	while (i < map->n && by_text(&map->items[i - 1], &map->items[i]) < 0) {
		i++;
	}
	if (i >= map->n) {
		return map->items;
	}
	struct bt_str_pair *sorted = bt_arena_alloc(&s->scratch, map->n * sizeof(*sorted), 8);
	memcpy(sorted, map->items, map->n * sizeof(*sorted));
	qsort(sorted, map->n, sizeof(*sorted), by_text);
	BT_INVARIANT(by_text(&sorted[0], &sorted[map->n - 1]) <= 0);
	return sorted;
}

static void put_map(struct bt_signature_maker *s, const struct bt_str_map *map)
{
	const struct bt_str_pair *pairs = in_order(s, map);

	signature_canonical_put(s, (uint64_t)map->n << 1 | map->set);
	for (uint32_t i = 0; i < map->n; i++) {
		put_text(s, pairs[i].key);
		put_text(s, pairs[i].value);
	}
}

static void put_requirements(struct bt_signature_maker *s, const struct bt_requirement_object_list *list)
{
	signature_canonical_put(s, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct bt_requirement_object *item = &list->items[i];

		put_text(s, item->key);
		put_text(s, item->operator_);
		signature_canonical_put(s, item->values.n);
		for (uint32_t j = 0; j < item->values.n; j++) {
			put_text(s, item->values.items[j]);
		}
	}
}

static void put_node_affinity(struct bt_signature_maker *s, const struct bt_node_affinity_object *affinity)
{
	signature_canonical_put(s, (uint64_t)affinity->required.term_n << 33 |
					   (uint64_t)affinity->required.set << 32 |
					   (uint64_t)affinity->preferred_n << 1 | affinity->preferred_set);
	for (uint32_t i = 0; i < affinity->required.term_n; i++) {
		put_requirements(s, &affinity->required.terms[i].match_expressions);
		put_requirements(s, &affinity->required.terms[i].match_fields);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		signature_canonical_put(s, (uint64_t)affinity->preferred[i].weight);
		put_requirements(s, &affinity->preferred[i].preference.match_expressions);
		put_requirements(s, &affinity->preferred[i].preference.match_fields);
	}
}

static void put_tolerations(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec)
{
	signature_canonical_put(s, spec->toleration_n);
	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		const struct bt_toleration_object *toleration = &spec->tolerations[i];

		put_text(s, toleration->key);
		put_text(s, toleration->operator_);
		put_text(s, toleration->value);
		put_text(s, toleration->effect);
	}
}

static void put_amounts(struct bt_signature_maker *s, struct bt_amounts amounts)
{
	signature_canonical_put(s, amounts.n);
	for (uint32_t i = 0; i < amounts.n; i++) {
		signature_canonical_put(s, amounts.items[i].slot);
		signature_canonical_put(s, (uint64_t)amounts.items[i].amount);
	}
}

static bool same_amounts(struct bt_amounts a, struct bt_amounts b)
{
	for (uint32_t i = 0; a.items != b.items && i < a.n && i < b.n; i++) {
		if (a.items[i].slot != b.items[i].slot || a.items[i].amount != b.items[i].amount) {
			return false;
		}
	}
	return a.n == b.n;
}

/* Amounts that equal other ones for most pods. */
static void put_like(struct bt_signature_maker *s, struct bt_amounts amounts, struct bt_amounts others)
{
	if (same_amounts(amounts, others)) {
		signature_canonical_put(s, UINT64_MAX);
	} else {
		put_amounts(s, amounts);
	}
}

static void put_container(
	struct bt_signature_maker *s, const struct bt_container_object *container, bool ports_count)
{
	put_text(s, container->image);
	for (uint32_t i = 0; ports_count && i < container->port_n; i++) {
		if (container->ports[i].host_port > 0) {
			signature_canonical_put(s, (uint64_t)container->ports[i].host_port);
			put_text(s, container->ports[i].host_ip);
			put_text(s, container->ports[i].protocol);
		}
	}
	signature_canonical_put(s, UINT64_MAX);
}

static void put_list(struct bt_signature_maker *s, const struct bt_str_list *list)
{
	signature_canonical_put(s, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		put_text(s, list->items[i]);
	}
}

static void put_label_selector(struct bt_signature_maker *s, const struct bt_label_selector_object *selector)
{
	signature_canonical_put(s, selector->set);
	put_map(s, &selector->match_labels);
	put_requirements(s, &selector->match_expressions);
}

/* matchLabelKeys and mismatchLabelKeys are skipped: the API server has merged them, and the scheduler does
 * not read them. */
static void put_pod_term(struct bt_signature_maker *s, int32_t weight, const struct bt_pod_term_object *term)
{
	signature_canonical_put(s, (uint64_t)(uint32_t)weight);
	put_label_selector(s, &term->label_selector);
	put_label_selector(s, &term->namespace_selector);
	put_list(s, &term->namespaces);
	put_text(s, term->topology_key);
}

static void put_pod_affinity(struct bt_signature_maker *s, const struct bt_pod_affinity_object *affinity)
{
	signature_canonical_put(s, (uint64_t)affinity->required_n << 32 | affinity->preferred_n);
	for (uint32_t i = 0; i < affinity->required_n; i++) {
		put_pod_term(s, 0, &affinity->required[i]);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		put_pod_term(s, affinity->preferred[i].weight, &affinity->preferred[i].term);
	}
}

static void put_spread(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec)
{
	signature_canonical_put(s, spec->spread_n);
	for (uint32_t i = 0; i < spec->spread_n; i++) {
		const struct bt_spread_constraint_object *constraint = &spec->spread[i];

		signature_canonical_put(s,
			(uint64_t)(uint32_t)constraint->max_skew << 32 | (uint32_t)constraint->min_domains);
		signature_canonical_put(s, constraint->has_min_domains);
		put_text(s, constraint->topology_key);
		put_text(s, constraint->when_unsatisfiable);
		put_text(s, constraint->node_affinity_policy);
		put_text(s, constraint->node_taints_policy);
		put_label_selector(s, &constraint->label_selector);
		put_list(s, &constraint->match_label_keys);
	}
}

static void put_owner(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	struct bt_str name = {0};
	enum bt_owner_kind kind = pod->spec.spread_n ? BT_OWNER_NONE : bt_pod_owner(&pod->meta, &name);

	signature_canonical_put(s, kind);
	if (kind != BT_OWNER_NONE) {
		put_text(s, name);
	}
}

static void put_extended_status(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	put_text(s, pod->extended_claim);
	signature_canonical_put(s, pod->extended_mapping_n);
	for (uint32_t i = 0; i < pod->extended_mapping_n; i++) {
		put_text(s, pod->extended_mappings[i].container);
		put_text(s, pod->extended_mappings[i].resource);
		put_text(s, pod->extended_mappings[i].request);
	}
}

static void put_claims(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	signature_canonical_put(s, pod->spec.claim_n);
	for (uint32_t i = 0; i < pod->spec.claim_n; i++) {
		struct bt_str name;
		enum bt_pod_claim_kind kind = bt_signature_claim_kind(pod, &pod->spec.claims[i], &name);

		signature_canonical_put(s, kind);
		put_text(s, pod->spec.claims[i].name);
		put_text(s, name);
		put_text(s, pod->spec.claims[i].template_name);
		if (kind == BT_POD_CLAIM_GENERATED) {
			put_text(s, pod->meta.name);
			put_text(s, pod->meta.uid);
		}
	}
}

static void put_extended(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec,
	const struct bt_requests *requests)
{
	uint32_t n = bt_signature_list_extended(s->dictionary, spec, requests, NULL);

	signature_canonical_put(s, n);
	if (n == 0) {
		return;
	}
	struct bt_extended_request *items = bt_arena_zalloc(&s->scratch, n * sizeof(*items));
	bt_signature_list_extended(s->dictionary, spec, requests, items);
	for (uint32_t i = 0; i < n; i++) {
		signature_canonical_put(s, (uint64_t)items[i].container << 33 |
						   (uint64_t)items[i].short_lived << 32 | items[i].key);
		signature_canonical_put(s, items[i].slot);
		signature_canonical_put(s, (uint64_t)items[i].count);
	}
}

/* Claims of ephemeral volumes belong to one pod, so its name and UID are included. */
static void put_volumes(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	bool own = false;

	for (uint32_t i = 0; i < spec->volume_n; i++) {
		const struct bt_volume_object *volume = &spec->volumes[i];

		if (bt_volume_noted(volume->type) || volume->type == BT_VOLUME_IMAGE) {
			signature_canonical_put(s, (uint64_t)volume->type << 1);
			put_text(s, volume->source);
		}
		if (!bt_volume_matters(volume->type)) {
			continue;
		}
		signature_canonical_put(s, (uint64_t)volume->type << 1 | volume->read_only);
		put_text(s, volume->name);
		put_text(s, volume->source);
		put_text(s, volume->pool);
		put_text(s, volume->kind);
		put_list(s, &volume->monitors);
		own |= volume->type == BT_VOLUME_EPHEMERAL;
	}
	signature_canonical_put(s, UINT64_MAX);
	if (own) {
		put_text(s, pod->meta.name);
		put_text(s, pod->meta.uid);
	}
}

static void put_quantity(struct bt_signature_maker *s, struct bt_quantity quantity)
{
	signature_canonical_put(s, (uint64_t)quantity.nano);
	signature_canonical_put(s, (uint64_t)(quantity.nano >> 64));
}

static void put_resources(struct bt_signature_maker *s, const struct bt_resource_list *list)
{
	signature_canonical_put(s, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		put_text(s, list->items[i].name);
		put_quantity(s, list->items[i].quantity);
	}
}

static void put_sums_of(
	struct bt_signature_maker *s, const struct bt_container_object *containers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		signature_canonical_put(s, bt_signature_is_sidecar(&containers[i]));
		put_text(s, containers[i].name);
		put_resources(s, &containers[i].resources.requests);
		put_resources(s, &containers[i].resources.limits);
		put_list(s, &containers[i].resources.claims);
	}
}

/* Overheads of claims, and the amounts that they provide. */
static void put_node_claims(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	put_sums_of(s, pod->spec.init_containers, pod->spec.init_container_n);
	put_sums_of(s, pod->spec.containers, pod->spec.container_n);
	put_resources(s, &pod->spec.overhead);
	put_resources(s, &pod->spec.resources.requests);
	put_resources(s, &pod->spec.resources.limits);
	signature_canonical_put(s, pod->node_claim_n);
	for (uint32_t i = 0; i < pod->node_claim_n; i++) {
		const struct bt_node_claim_object *claim = &pod->node_claims[i];

		put_text(s, claim->claim);
		put_list(s, &claim->containers);
		put_resources(s, &claim->resources);
		put_resources(s, &(struct bt_resource_list){claim->mapping, claim->mapping_n, true});
		signature_canonical_put(s, claim->overhead_n);
		for (uint32_t j = 0; j < claim->overhead_n; j++) {
			put_text(s, claim->overheads[j].name);
			signature_canonical_put(s, (uint64_t)claim->overheads[j].has_per_pod << 1 |
							   claim->overheads[j].has_per_container);
			put_quantity(s, claim->overheads[j].per_pod);
			put_quantity(s, claim->overheads[j].per_container);
		}
	}
}

void bt_signature_canonical(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, const struct bt_requests *requests)
{
	BT_INVARIANT(s->words.len == 0);
	const struct bt_pod_spec_object *spec = &pod->spec;

	put_text(s, pod->meta.namespace_);
	put_text(s, spec->scheduler_name);
	put_map(s, &pod->meta.labels);
	put_map(s, &spec->node_selector);
	put_node_affinity(s, &spec->affinity.node_affinity);
	put_tolerations(s, spec);
	put_amounts(s, requests->fit);
	put_like(s, requests->used, requests->fit);
	put_amounts(s, requests->used_milli);
	put_like(s, requests->own, requests->used);
	put_like(s, requests->own_milli, requests->used_milli);
	put_like(s, requests->score, requests->fit);
	signature_canonical_put(s, (uint64_t)requests->nonzero_milli_cpu);
	signature_canonical_put(s, (uint64_t)requests->nonzero_memory);
	signature_canonical_put(s,
		(uint64_t)bt_signature_features(spec) << 6 |
			(uint64_t)bt_signature_sums(s, pod, requests) << 5 |
			(uint64_t)requests->resize_waits << 4 | (uint64_t)(pod->extended_claim.len > 0) << 3 |
			(uint64_t)requests->names_missing << 2 | (uint64_t)(spec->incomplete.len > 0) << 1 |
			requests->too_many_names);
	signature_canonical_put(s, (uint64_t)spec->init_container_n << 32 | spec->container_n);
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		put_container(
			s, &spec->init_containers[i], bt_signature_is_sidecar(&spec->init_containers[i]));
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		put_container(s, &spec->containers[i], true);
	}
	put_pod_affinity(s, &spec->affinity.pod_affinity);
	put_pod_affinity(s, &spec->affinity.pod_anti_affinity);
	put_spread(s, spec);
	put_owner(s, pod);
	put_volumes(s, pod);
	put_claims(s, pod);
	put_extended(s, spec, requests);
	if (spec->incomplete.len) {
		put_text(s, spec->incomplete);
	}
	if (pod->extended_claim.len) {
		put_extended_status(s, pod);
	}
	if (requests->resize_waits) {
		put_text(s, spec->node_name);
	}
	if (bt_signature_sums(s, pod, requests)) {
		put_node_claims(s, pod);
	}
	/* The last word, absent for most pods. */
	struct bt_str group = bt_signature_group(s, spec);

	if (group.len) {
		put_text(s, group);
	}
}
