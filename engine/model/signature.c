/* SPDX-License-Identifier: Apache-2.0
 * Signatures: a pod is written as a canonical run of words and texts; equal runs are one signature.
 */
#include "engine/model/signature.h"

#include <stdlib.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/thread.h"

/*
 * Why this is safe. Entries are never given back before the end, but used again, so that anybody may ask an
 * entry's state. Who finds one by its slot holds it first, and looks then whose it is: nobody can come to
 * hold what has gone, and what somebody holds does not change. An entry that nobody holds is listed; the
 * scheduling thread takes it out by a compare and swap of its whole state, which fails if somebody came.
 */

#define FIRST_SLOTS	256
#define FIRST_CHUNK_LOG 6
#define CHUNK_N		(32 - FIRST_CHUNK_LOG)
#define SIGNATURE_BYTES 1536 /* what most signatures take, besides their run */
#define NO_ENTRY	UINT32_MAX

/* A state: whether there is a signature, whether it is listed, whether it was held again since; holders. */
#define KNOWN	(UINT64_C(1) << 34)
#define LISTED	(UINT64_C(1) << 33)
#define AGAIN	(UINT64_C(1) << 32)
#define HOLDERS ((UINT64_C(1) << 32) - 1)

/* A signature with its run. But for its state it does not change while it is held or its slot is there. */
struct entry {
	_Atomic uint64_t state;
	struct bt_signature *signature;
	uint64_t hash;
	const char *words;
	size_t words_bytes;
	uint32_t *names; /* that it holds */
	uint32_t name_n;
	uint32_t next;	       /* of the list, or of those that are free */
	struct bt_arena arena; /* all of the signature, the run and the names included */
};

/* Slots: the upper half of the hash, and ix + 1; or 0. */
struct table {
	struct table *outgrown; /* the one before, which somebody may be reading */
	uint32_t mask;
	_Atomic uint64_t slots[];
};

struct bt_signatures {
	struct bt_dictionary *dictionary;	 /* init: */
	_Atomic(struct table *) table;		 /* changed under the lock, like all below */
	_Atomic(struct entry *) chunks[CHUNK_N]; /* by ix */
	_Atomic uint32_t count, end, listed_n;
	uint64_t serial;
	uint32_t free, first, last; /* entries that are free, and the list of those that nobody holds */
	struct bt_lock lock;
	struct bt_signature_maker *maker; /* of whoever has none */
	uint32_t *retired;		  /* owner: the scheduling thread */
	size_t retired_n, retired_cap;
};

struct bt_signature_maker {
	struct bt_signatures *signatures;
	struct bt_dictionary *dictionary;
	struct bt_arena arena;	 /* of the signature that is being made */
	struct bt_arena scratch; /* one pod */
	struct bt_buf words;
	struct bt_buf text;
	struct bt_held held; /* by the signature that is being made */
};

struct bt_signature_maker *bt_signature_maker_create(struct bt_signatures *signatures)
{
	struct bt_signature_maker *maker = bt_mem_zalloc(1, sizeof(*maker));

	maker->signatures = signatures;
	maker->dictionary = signatures->dictionary;
	maker->held.intern = signatures->dictionary->intern;
	return maker;
}

void bt_signature_maker_destroy(struct bt_signature_maker *maker)
{
	if (maker) {
		bt_arena_fini(&maker->arena);
		bt_arena_fini(&maker->scratch);
		bt_buf_fini(&maker->words);
		bt_buf_fini(&maker->text);
		bt_held_release(&maker->held);
		bt_mem_free(maker);
	}
}

/* ---- the canonical run ---- */

static void put(struct bt_signature_maker *s, uint64_t word)
{
	if (BT_UNLIKELY(s->words.len + sizeof(word) >= s->words.cap)) {
		bt_buf_reserve(&s->words, sizeof(word));
	}
	memcpy(s->words.ptr + s->words.len, &word, sizeof(word));
	s->words.len += sizeof(word);
}

/* A text is written as it is, with its length in front: what is known needs no look into the dictionary. */
static void put_text(struct bt_signature_maker *s, struct bt_str text)
{
	if (BT_UNLIKELY(s->words.len + sizeof(uint64_t) + text.len >= s->words.cap)) {
		bt_buf_reserve(&s->words, sizeof(uint64_t) + text.len);
	}
	put(s, text.len);
	if (text.len) {
		memcpy(s->words.ptr + s->words.len, text.ptr, text.len);
		s->words.len += text.len;
	}
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(((const struct bt_str_pair *)a)->key, ((const struct bt_str_pair *)b)->key);
}

/* The pairs of a map by ascending keys; the API server's come so. */
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
	return sorted;
}

static void put_map(struct bt_signature_maker *s, const struct bt_str_map *map)
{
	const struct bt_str_pair *pairs = in_order(s, map);

	put(s, (uint64_t)map->n << 1 | map->set);
	for (uint32_t i = 0; i < map->n; i++) {
		put_text(s, pairs[i].key);
		put_text(s, pairs[i].value);
	}
}

static void put_requirements(struct bt_signature_maker *s, const struct bt_requirement_object_list *list)
{
	put(s, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct bt_requirement_object *item = &list->items[i];

		put_text(s, item->key);
		put_text(s, item->operator_);
		put(s, item->values.n);
		for (uint32_t j = 0; j < item->values.n; j++) {
			put_text(s, item->values.items[j]);
		}
	}
}

static void put_node_affinity(struct bt_signature_maker *s, const struct bt_node_affinity_object *affinity)
{
	put(s, (uint64_t)affinity->required.term_n << 33 | (uint64_t)affinity->required.set << 32 |
			(uint64_t)affinity->preferred_n << 1 | affinity->preferred_set);
	for (uint32_t i = 0; i < affinity->required.term_n; i++) {
		put_requirements(s, &affinity->required.terms[i].match_expressions);
		put_requirements(s, &affinity->required.terms[i].match_fields);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		put(s, (uint64_t)affinity->preferred[i].weight);
		put_requirements(s, &affinity->preferred[i].preference.match_expressions);
		put_requirements(s, &affinity->preferred[i].preference.match_fields);
	}
}

static void put_tolerations(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec)
{
	put(s, spec->toleration_n);
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
	put(s, amounts.n);
	for (uint32_t i = 0; i < amounts.n; i++) {
		put(s, amounts.items[i].slot);
		put(s, (uint64_t)amounts.items[i].amount);
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

/* Amounts that are the same as others for most pods. */
static void put_like(struct bt_signature_maker *s, struct bt_amounts amounts, struct bt_amounts others)
{
	if (same_amounts(amounts, others)) {
		put(s, UINT64_MAX);
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
			put(s, (uint64_t)container->ports[i].host_port);
			put_text(s, container->ports[i].host_ip);
			put_text(s, container->ports[i].protocol);
		}
	}
	put(s, UINT64_MAX);
}

static void put_list(struct bt_signature_maker *s, const struct bt_str_list *list)
{
	put(s, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		put_text(s, list->items[i]);
	}
}

static void put_label_selector(struct bt_signature_maker *s, const struct bt_label_selector_object *selector)
{
	put(s, selector->set);
	put_map(s, &selector->match_labels);
	put_requirements(s, &selector->match_expressions);
}

/* matchLabelKeys and mismatchLabelKeys are left out: the API server has merged them, and the scheduler does
 * not read them. */
static void put_pod_term(struct bt_signature_maker *s, int32_t weight, const struct bt_pod_term_object *term)
{
	put(s, (uint64_t)(uint32_t)weight);
	put_label_selector(s, &term->label_selector);
	put_label_selector(s, &term->namespace_selector);
	put_list(s, &term->namespaces);
	put_text(s, term->topology_key);
}

static void put_pod_affinity(struct bt_signature_maker *s, const struct bt_pod_affinity_object *affinity)
{
	put(s, (uint64_t)affinity->required_n << 32 | affinity->preferred_n);
	for (uint32_t i = 0; i < affinity->required_n; i++) {
		put_pod_term(s, 0, &affinity->required[i]);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		put_pod_term(s, affinity->preferred[i].weight, &affinity->preferred[i].term);
	}
}

static void put_spread(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec)
{
	put(s, spec->spread_n);
	for (uint32_t i = 0; i < spec->spread_n; i++) {
		const struct bt_spread_constraint_object *constraint = &spec->spread[i];

		put(s, (uint64_t)(uint32_t)constraint->max_skew << 32 | (uint32_t)constraint->min_domains);
		put(s, constraint->has_min_domains);
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

	put(s, kind);
	if (kind != BT_OWNER_NONE) {
		put_text(s, name);
	}
}

/* How a pod names a claim, and the claim's name; empty when there is none. */
static enum bt_pod_claim_kind claim_kind(
	const struct bt_pod_object *pod, const struct bt_pod_claim_object *claim, struct bt_str *out_name)
{
	*out_name = claim->claim_name;
	if (claim->claim_name.len) {
		return BT_POD_CLAIM_NAMED;
	}
	for (uint32_t i = 0; claim->template_name.len && i < pod->claim_status_n; i++) {
		const struct bt_pod_claim_object *status = &pod->claim_statuses[i];

		if (bt_str_eq(status->name, claim->name)) {
			*out_name = status->claim_name;
			return status->claim_name.len ? BT_POD_CLAIM_GENERATED : BT_POD_CLAIM_NONE;
		}
	}
	return claim->template_name.len ? BT_POD_CLAIM_NOT_CREATED : BT_POD_CLAIM_UNSUPPORTED;
}

static void put_claims(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	put(s, pod->spec.claim_n);
	for (uint32_t i = 0; i < pod->spec.claim_n; i++) {
		struct bt_str name;
		enum bt_pod_claim_kind kind = claim_kind(pod, &pod->spec.claims[i], &name);

		put(s, kind);
		put_text(s, pod->spec.claims[i].name);
		put_text(s, name);
		if (kind == BT_POD_CLAIM_GENERATED) {
			put_text(s, pod->meta.name);
			put_text(s, pod->meta.uid);
		}
	}
}

static bool is_sidecar(const struct bt_container_object *container)
{
	return bt_str_is(container->restart_policy, "Always");
}

/* A quantity that upstream holds as a whole number. Source: Quantity.AsInt64, v1.36.3. */
static bool whole(struct bt_quantity quantity, int64_t *out)
{
	__extension__ __int128 value = quantity.nano / 1000000000;

	*out = (int64_t)value;
	return quantity.mantissa && quantity.nano_exp >= 9 && value <= INT64_MAX && value >= INT64_MIN;
}

static uint32_t key_of(const struct bt_resource_list *requests, struct bt_str name)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < requests->n; i++) {
		before += bt_str_cmp(requests->items[i].name, name) < 0;
	}
	return before;
}

/* Appends what one container asks of extended resources; items may be NULL, for counting. */
static void list_extended(struct bt_signature_maker *s, const struct bt_container_object *container,
	uint32_t container_ix, bool short_lived, struct bt_extended_request *items, uint32_t *n)
{
	const struct bt_resource_list *requests = &container->resources.requests;

	for (uint32_t i = 0; i < requests->n; i++) {
		struct bt_str name = requests->items[i].name;
		/* Those that fit have slots. */
		int slot = bt_resource_look_up(s->dictionary, name);
		int64_t count;

		if (slot < BT_FIRST_SCALAR ||
			(!s->dictionary->resources.extended[slot] &&
				!bt_str_starts(name, "deviceclass.resource.kubernetes.io/")) ||
			!whole(requests->items[i].quantity, &count)) {
			continue;
		}
		if (items) {
			items[*n] = (struct bt_extended_request){
				container_ix, key_of(requests, name), (uint32_t)slot, short_lived, count};
		}
		++*n;
	}
}

/* Of a pod that asks for too many, some may get slots meanwhile; nobody decides about it. */
static uint32_t list_all_extended(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec,
	const struct bt_requests *requests, struct bt_extended_request *items)
{
	uint32_t n = 0;

	if (bt_requests_incomplete(requests)) {
		return 0;
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		list_extended(
			s, &spec->init_containers[i], i, !is_sidecar(&spec->init_containers[i]), items, &n);
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		list_extended(s, &spec->containers[i], spec->init_container_n + i, false, items, &n);
	}
	return n;
}

static void put_extended(struct bt_signature_maker *s, const struct bt_pod_spec_object *spec,
	const struct bt_requests *requests)
{
	uint32_t n = list_all_extended(s, spec, requests, NULL);

	put(s, n);
	if (n == 0) {
		return;
	}
	struct bt_extended_request *items = bt_arena_zalloc(&s->scratch, n * sizeof(*items));
	list_all_extended(s, spec, requests, items);
	for (uint32_t i = 0; i < n; i++) {
		put(s, (uint64_t)items[i].container << 33 | (uint64_t)items[i].short_lived << 32 |
				items[i].key);
		put(s, items[i].slot);
		put(s, (uint64_t)items[i].count);
	}
}

/* The features that upstream knows, by name. Those without a bit concern changes of pods, not their placing.
 */
static const struct {
	struct bt_str name;
	uint32_t bit;
} known_features[] = {
	{BT_STR("ExtendWebSocketsToKubelet"), 0},
	{BT_STR("InPlacePodLevelResourcesVerticalScaling"), 0},
	{BT_STR("InPlacePodVerticalScalingInitContainers"), 0},
	{BT_STR("RestartAllContainersOnContainerExits"), BT_FEATURE_RESTART_ALL_CONTAINERS},
	{BT_STR("UserNamespacesHostNetworkSupport"), BT_FEATURE_USER_NAMESPACES_HOST_NETWORK},
};

/* Upstream merges two sorted lists; the API keeps a node's sorted, and of one that is not it misses what it
 * has passed. */
uint32_t bt_features_declared(const struct bt_str_list *names)
{
	size_t known = 0, known_n = sizeof(known_features) / sizeof(known_features[0]);
	uint32_t bits = 0, i = 0;

	while (i < names->n && known < known_n) {
		int order = bt_str_cmp(names->items[i], known_features[known].name);

		bits |= order == 0 ? known_features[known].bit : 0;
		i += order <= 0;
		known += order >= 0;
	}
	return bits;
}

static bool restart_all(const struct bt_container_object *containers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (containers[i].restarts_all) {
			return true;
		}
	}
	return false;
}

static uint32_t features_of(const struct bt_pod_spec_object *spec)
{
	bool restarts = restart_all(spec->containers, spec->container_n) ||
			restart_all(spec->init_containers, spec->init_container_n);
	bool user_namespaces = spec->host_network && spec->has_host_users && !spec->host_users;

	return (restarts ? BT_FEATURE_RESTART_ALL_CONTAINERS : 0) |
	       (user_namespaces ? BT_FEATURE_USER_NAMESPACES_HOST_NETWORK : 0);
}

/* Claims of ephemeral volumes belong to one pod, so its name and UID are part of what it asks for. */
static void put_volumes(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	bool own = false;

	for (uint32_t i = 0; i < spec->volume_n; i++) {
		const struct bt_volume_object *volume = &spec->volumes[i];

		if (bt_volume_noted(volume->type) || volume->type == BT_VOLUME_IMAGE) {
			put(s, (uint64_t)volume->type << 1);
			put_text(s, volume->source);
		}
		if (!bt_volume_matters(volume->type)) {
			continue;
		}
		put(s, (uint64_t)volume->type << 1 | volume->read_only);
		put_text(s, volume->name);
		put_text(s, volume->source);
		put_text(s, volume->pool);
		put_text(s, volume->kind);
		put_list(s, &volume->monitors);
		own |= volume->type == BT_VOLUME_EPHEMERAL;
	}
	put(s, UINT64_MAX);
	if (own) {
		put_text(s, pod->meta.name);
		put_text(s, pod->meta.uid);
	}
}

static void put_pod(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, const struct bt_requests *requests)
{
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
	put_like(s, requests->score, requests->fit);
	put(s, (uint64_t)requests->nonzero_milli_cpu);
	put(s, (uint64_t)requests->nonzero_memory);
	put(s, (uint64_t)features_of(spec) << 3 | (uint64_t)requests->names_missing << 2 |
			(uint64_t)(spec->incomplete.len > 0) << 1 | requests->too_many_names);
	put(s, (uint64_t)spec->init_container_n << 32 | spec->container_n);
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		put_container(s, &spec->init_containers[i], is_sidecar(&spec->init_containers[i]));
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
	/* The last word, which most pods do not have. */
	if (spec->pod_group.len) {
		put_text(s, spec->pod_group);
	}
}

/* ---- the parts of a new signature ---- */

static struct bt_amounts keep_amounts(struct bt_signature_maker *s, struct bt_amounts amounts)
{
	struct bt_amount *items = bt_arena_alloc(&s->arena, amounts.n * sizeof(*items), 8);

	if (amounts.n) {
		memcpy(items, amounts.items, amounts.n * sizeof(*items));
	}
	return (struct bt_amounts){items, amounts.n};
}

static int by_name(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool listed(const struct bt_str_list *list, struct bt_str name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_eq(list->items[i], name)) {
			return true;
		}
	}
	return false;
}

static bool demands_names(const struct bt_requirement_object *field)
{
	return bt_str_is(field->key, "metadata.name") && bt_str_is(field->operator_, "In");
}

/*
 * The names that one term demands: those of its first In on metadata.name that are also in all its other
 * ones. They are taken even when the term could not be parsed otherwise, as upstream's PreFilter does.
 * Returns false when the term demands none.
 */
static bool term_names(
	struct bt_signature_maker *s, const struct bt_node_term_object *term, uint32_t *names, uint32_t *n)
{
	const struct bt_requirement_object *first = NULL;

	for (uint32_t i = 0; i < term->match_fields.n && !first; i++) {
		first = demands_names(&term->match_fields.items[i]) ? &term->match_fields.items[i] : NULL;
	}
	for (uint32_t v = 0; first && v < first->values.n; v++) {
		bool in_all = true;

		for (uint32_t i = 0; i < term->match_fields.n; i++) {
			const struct bt_requirement_object *field = &term->match_fields.items[i];

			in_all &= !demands_names(field) || listed(&field->values, first->values.items[v]);
		}
		if (in_all) {
			names[(*n)++] = bt_held_add(&s->held, first->values.items[v]);
		}
	}
	return first != NULL;
}

static void find_names(struct bt_signature_maker *s, const struct bt_node_selector_object *required,
	struct bt_signature *signature)
{
	size_t limit = 0;
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < required->term_n; i++) {
		for (uint32_t j = 0; j < required->terms[i].match_fields.n; j++) {
			limit += required->terms[i].match_fields.items[j].values.n;
		}
	}
	uint32_t *names = bt_arena_alloc(&s->arena, limit * sizeof(*names), 8);
	for (uint32_t i = 0; i < required->term_n; i++) {
		if (!term_names(s, &required->terms[i], names, &n)) {
			return;
		}
	}
	if (n) {
		qsort(names, n, sizeof(*names), by_name);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || names[kept - 1] != names[i]) {
			names[kept++] = names[i];
		}
	}
	signature->names_only = required->term_n > 0;
	signature->node_names = names;
	signature->node_name_n = kept;
}

static void keep_preferred(struct bt_signature_maker *s, const struct bt_node_affinity_object *affinity,
	struct bt_signature *signature)
{
	struct bt_preferred_term *items = bt_arena_zalloc(&s->arena, affinity->preferred_n * sizeof(*items));
	uint32_t n = 0;

	bt_buf_clear(&s->text);
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		items[n].weight = affinity->preferred[i].weight;
		n += items[n].weight != 0 &&
		     bt_node_term_compile(&s->held, &s->arena, &affinity->preferred[i].preference,
			     &items[n].term, &s->text);
	}
	signature->has_preferred = affinity->preferred_set;
	signature->preferred = items;
	signature->preferred_n = n;
	signature->preferred_error = s->text.len ? bt_arena_copy(&s->arena, s->text.ptr, s->text.len) : NULL;
}

static void keep_ports(struct bt_signature_maker *s, const struct bt_container_object *container,
	struct bt_host_port *ports, uint32_t *n)
{
	struct bt_held *held = &s->held;

	for (uint32_t i = 0; i < container->port_n; i++) {
		const struct bt_port_object *port = &container->ports[i];

		if (port->host_port > 0) {
			ports[(*n)++] = (struct bt_host_port){
				.ip = port->host_ip.len ? bt_held_add(held, port->host_ip) : BT_NAME_ANY_IP,
				.protocol =
					port->protocol.len ? bt_held_add(held, port->protocol) : BT_NAME_TCP,
				.port = port->host_port,
			};
		}
	}
}

static void keep_all_ports(
	struct bt_signature_maker *s, const struct bt_pod_spec_object *spec, struct bt_signature *signature)
{
	size_t limit = 0;

	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		limit += spec->init_containers[i].port_n;
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		limit += spec->containers[i].port_n;
	}
	struct bt_host_port *ports = bt_arena_zalloc(&s->arena, limit * sizeof(*ports));
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		if (is_sidecar(&spec->init_containers[i])) {
			keep_ports(s, &spec->init_containers[i], ports, &signature->port_n);
		}
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		keep_ports(s, &spec->containers[i], ports, &signature->port_n);
	}
	signature->ports = ports;
}

/* An image name with a tag: ":latest" is added unless the last colon comes after the last slash. */
static uint32_t image_name(struct bt_signature_maker *s, struct bt_str image)
{
	size_t colon = image.len, slash = image.len;

	for (size_t i = 0; i < image.len; i++) {
		colon = image.ptr[i] == ':' ? i : colon;
		slash = image.ptr[i] == '/' ? i : slash;
	}
	if (colon != image.len && (slash == image.len || colon > slash)) {
		return bt_held_add(&s->held, image);
	}
	bt_buf_clear(&s->text);
	bt_buf_str(&s->text, image);
	bt_buf_text(&s->text, ":latest");
	return bt_held_add(&s->held, bt_buf_view(&s->text));
}

static void keep_images(
	struct bt_signature_maker *s, const struct bt_pod_spec_object *spec, struct bt_signature *signature)
{
	uint32_t *images = bt_arena_alloc(&s->arena,
		(spec->init_container_n + spec->container_n + spec->volume_n) * sizeof(*images), 8);
	uint32_t n = 0;

	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		images[n++] = image_name(s, spec->init_containers[i].image);
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		images[n++] = image_name(s, spec->containers[i].image);
	}
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		if (spec->volumes[i].type == BT_VOLUME_IMAGE) {
			images[n++] = image_name(s, spec->volumes[i].source);
		}
	}
	signature->images = images;
	signature->image_n = n;
	signature->container_n = spec->init_container_n + spec->container_n;
}

static void keep_spread(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, struct bt_signature *signature)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_spread_constraint *items = bt_arena_zalloc(&s->arena, spec->spread_n * sizeof(*items));

	for (uint32_t i = 0; i < spec->spread_n; i++) {
		bt_spread_constraint_compile(
			&s->held, &s->arena, &spec->spread[i], signature->labels, &items[i], &s->text);
	}
	signature->spread = items;
	signature->spread_n = spec->spread_n;
	if (spec->spread_n == 0) {
		struct bt_str name;

		signature->owner_kind = bt_pod_owner(&pod->meta, &name);
		signature->owner_name =
			signature->owner_kind == BT_OWNER_NONE ? BT_NAME_NONE : bt_held_add(&s->held, name);
	}
}

/* What the pod has belongs to it alone. */
static void keep_pod(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, struct bt_signature *signature)
{
	struct bt_held *held = &s->held;

	signature->pod_name = bt_held_add(held, pod->meta.name);
	signature->pod_uid = pod->meta.uid.len ? bt_held_add(held, pod->meta.uid) : BT_NAME_NONE;
}

static void keep_volumes(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, struct bt_signature *signature)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_held *held = &s->held;
	struct bt_pod_volume *volumes = bt_arena_zalloc(&s->arena, spec->volume_n * sizeof(*volumes));

	for (uint32_t i = 0; i < spec->volume_n; i++) {
		if (!bt_volume_matters(spec->volumes[i].type)) {
			continue;
		}
		bt_pod_volume_compile(
			held, &s->arena, &spec->volumes[i], pod->meta.name, &volumes[signature->volume_n++]);
		if (spec->volumes[i].type == BT_VOLUME_EPHEMERAL) {
			keep_pod(s, pod, signature);
		}
	}
	signature->noted_n = signature->volume_n;
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		if (bt_volume_noted(spec->volumes[i].type)) {
			bt_pod_volume_compile(held, &s->arena, &spec->volumes[i], pod->meta.name,
				&volumes[signature->noted_n++]);
		}
	}
	signature->volumes = volumes;
}

static void keep_claims(struct bt_signature_maker *s, const struct bt_pod_object *pod,
	const struct bt_requests *requests, struct bt_signature *signature)
{
	struct bt_pod_claim *claims = bt_arena_zalloc(&s->arena, pod->spec.claim_n * sizeof(*claims));
	uint32_t n = list_all_extended(s, &pod->spec, requests, NULL);
	struct bt_extended_request *extended = bt_arena_zalloc(&s->arena, n * sizeof(*extended));

	for (uint32_t i = 0; i < pod->spec.claim_n; i++) {
		struct bt_str name;

		claims[i].kind = claim_kind(pod, &pod->spec.claims[i], &name);
		claims[i].name = bt_held_add(&s->held, pod->spec.claims[i].name);
		claims[i].claim = name.len ? bt_held_add(&s->held, name) : BT_NAME_NONE;
		if (claims[i].kind == BT_POD_CLAIM_GENERATED) {
			keep_pod(s, pod, signature);
		}
	}
	signature->claims = claims;
	signature->claim_n = pod->spec.claim_n;
	signature->extended = extended;
	signature->extended_n = list_all_extended(s, &pod->spec, requests, extended);
}

/* Why a pod is known in part, with a remedy; NULL: it is known whole. */
static const char *incomplete_text(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, const struct bt_requests *requests)
{
	bt_buf_clear(&s->text);
	if (pod->spec.incomplete.len) {
		bt_buf_printf(&s->text,
			"the pod could not be read whole (%.*s), and nothing is decided on half knowledge: "
			"correct that field, or create the pod anew without it",
			BT_STR_ARG(pod->spec.incomplete));
	} else if (requests->too_many_names) {
		bt_buf_printf(&s->text,
			"spec.containers: the pod asks for more than %d resources, and is not scheduled: ask "
			"for fewer",
			BT_REQUEST_MAX);
	} else if (requests->names_missing) {
		bt_buf_printf(&s->text,
			"spec.containers: the pod asks for a resource that no node offers, and pods have "
			"named %d already, which is the limit: correct the name, or delete the pods that "
			"name "
			"resources of no node and restart berth",
			BT_RESOURCE_POD_MAX);
	}
	return s->text.len ? bt_arena_copy(&s->arena, s->text.ptr, s->text.len) : NULL;
}

static struct bt_signature *build(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, const struct bt_requests *requests)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	const struct bt_node_affinity_object *affinity = &spec->affinity.node_affinity;
	struct bt_held *held = &s->held;
	struct bt_signature *signature = bt_arena_zalloc(&s->arena, sizeof(*signature));
	struct bt_toleration *tolerations =
		bt_arena_zalloc(&s->arena, spec->toleration_n * sizeof(*tolerations));

	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		tolerations[i] = bt_toleration_intern(held, &spec->tolerations[i]);
	}
	*signature = (struct bt_signature){
		.table = s->signatures,
		.namespace_ = bt_held_add(held, pod->meta.namespace_),
		.scheduler_name = bt_held_add(held, spec->scheduler_name),
		.labels = bt_labels_intern(&s->held, &s->arena, &pod->meta.labels),
		.requests = *requests,
		.has_node_selector = spec->node_selector.set,
		.node_selector = bt_selector_from_map(held, &s->arena, &spec->node_selector),
		.has_required = affinity->required.set,
		.required = bt_node_selector_compile(held, &s->arena, &affinity->required),
		.tolerations = tolerations,
		.toleration_n = spec->toleration_n,
		.features = features_of(spec),
		.incomplete = incomplete_text(s, pod, requests),
		.pod_group = spec->pod_group.len ? bt_held_add(held, spec->pod_group) : BT_NAME_NONE,
	};
	signature->requests.fit = keep_amounts(s, requests->fit);
	signature->requests.used = keep_amounts(s, requests->used);
	signature->requests.used_milli = keep_amounts(s, requests->used_milli);
	signature->requests.score = keep_amounts(s, requests->score);
	find_names(s, &affinity->required, signature);
	keep_preferred(s, affinity, signature);
	keep_all_ports(s, spec, signature);
	keep_images(s, spec, signature);
	signature->pod_affinity =
		bt_pod_affinity_compile(held, &s->arena, &spec->affinity, signature->namespace_, &s->text);
	keep_spread(s, pod, signature);
	keep_volumes(s, pod, signature);
	keep_claims(s, pod, requests, signature);
	return signature;
}

/* ---- the table ---- */

/* Chunks double. */
static struct entry *entry_of(const struct bt_signatures *s, uint32_t ix)
{
	uint64_t shifted = (uint64_t)ix + (1u << FIRST_CHUNK_LOG);
	uint32_t log = 63 - (uint32_t)__builtin_clzll(shifted);

	return &bt_load_acquire(&s->chunks[log - FIRST_CHUNK_LOG])[shifted - (UINT64_C(1) << log)];
}

static struct table *make_table(uint32_t slot_n, struct table *outgrown)
{
	struct table *table = bt_mem_zalloc(1, sizeof(*table) + slot_n * sizeof(table->slots[0]));

	table->outgrown = outgrown;
	table->mask = slot_n - 1;
	return table;
}

struct bt_signatures *bt_signatures_create(struct bt_dictionary *dictionary)
{
	struct bt_signatures *signatures = bt_mem_zalloc(1, sizeof(*signatures));

	signatures->dictionary = dictionary;
	signatures->free = signatures->first = signatures->last = NO_ENTRY;
	bt_store_relaxed(&signatures->table, make_table(FIRST_SLOTS, NULL));
	bt_lock_init(&signatures->lock);
	signatures->maker = bt_signature_maker_create(signatures);
	return signatures;
}

/* ---- the list of those that nobody holds, as they came ---- */

/* Context: the lock is held, as in all of these. */
static void append(struct bt_signatures *s, uint32_t ix)
{
	entry_of(s, ix)->next = NO_ENTRY;
	if (s->last == NO_ENTRY) {
		s->first = ix;
	} else {
		entry_of(s, s->last)->next = ix;
	}
	s->last = ix;
	bt_store_relaxed(&s->listed_n, bt_load_relaxed(&s->listed_n) + 1);
}

static uint32_t take_first(struct bt_signatures *s)
{
	uint32_t ix = s->first;

	s->first = entry_of(s, ix)->next;
	if (s->first == NO_ENTRY) {
		s->last = NO_ENTRY;
	}
	bt_store_relaxed(&s->listed_n, bt_load_relaxed(&s->listed_n) - 1);
	return ix;
}

/* Gives up what an entry has. */
static void empty(struct bt_signatures *s, struct entry *entry)
{
	for (uint32_t i = 0; i < entry->name_n; i++) {
		bt_intern_release(s->dictionary->intern, entry->names[i]);
	}
	bt_arena_fini(&entry->arena);
	entry->signature = NULL;
	entry->name_n = 0;
}

void bt_signatures_destroy(struct bt_signatures *signatures)
{
	if (!signatures) {
		return;
	}
	for (uint32_t ix = 0; ix < bt_signatures_end(signatures); ix++) {
		empty(signatures, entry_of(signatures, ix));
	}
	for (uint32_t i = 0; i < CHUNK_N; i++) {
		bt_mem_free(bt_load_relaxed(&signatures->chunks[i]));
	}
	for (struct table *next, *table = bt_load_relaxed(&signatures->table); table; table = next) {
		next = table->outgrown;
		bt_mem_free(table);
	}
	bt_lock_fini(&signatures->lock);
	bt_signature_maker_destroy(signatures->maker);
	bt_mem_free(signatures->retired);
	bt_mem_free(signatures);
}

/* ---- holding and letting go ---- */

/* One more holder, if there still is a signature. */
static bool hold(struct entry *entry)
{
	uint64_t state = bt_load_relaxed(&entry->state);

	/* Lock-free: who fails has seen somebody else come or go. */
	while (state & KNOWN) {
		uint64_t more = (state + 1) | (state & LISTED ? AGAIN : 0);

		BT_REQUIRE((state & HOLDERS) < HOLDERS);
		/* EDGE signatures.state acquire: the entry is filled. */
		if (bt_cas(&entry->state, &state, more)) {
			return true;
		}
	}
	return false;
}

/* The last holder may go: an entry that nobody holds is in the list. Context: the lock is held. */
static void leave_last(struct bt_signatures *s, uint32_t ix)
{
	struct entry *entry = entry_of(s, ix);
	uint64_t state = bt_load_relaxed(&entry->state), less;

	do {
		BT_REQUIRE(state & HOLDERS);
		less = (state - 1) | ((state & HOLDERS) == 1 ? LISTED : 0);
		/* EDGE signatures.state release: what was read of the signature was read before it goes. */
	} while (!bt_cas(&entry->state, &state, less));
	if ((less & LISTED) && !(state & LISTED)) {
		append(s, ix);
	}
}

void bt_signature_hold(const struct bt_signature *signature)
{
	if (signature->table) {
		bool held = hold(entry_of(signature->table, signature->ix));

		BT_REQUIRE(held);
	}
}

void bt_signature_release(const struct bt_signature *signature)
{
	if (!signature || !signature->table) {
		return;
	}
	struct entry *entry = entry_of(signature->table, signature->ix);
	uint64_t state = bt_load_relaxed(&entry->state);
	while ((state & HOLDERS) > 1 || (state & LISTED)) {
		BT_REQUIRE(state & HOLDERS);
		/* EDGE signatures.state release. */
		if (bt_cas(&entry->state, &state, state - 1)) {
			return;
		}
	}
	BT_RACE_POINT("signatures.release.last");
	bt_lock_acquire(&signature->table->lock);
	leave_last(signature->table, signature->ix);
	bt_lock_release(&signature->table->lock);
}

/* The entry of a run, which is held from now on, or NULL. May miss one that is being moved, unless the lock
 * is held. */
static struct entry *find(struct bt_signatures *s, uint64_t hash, struct bt_str words, bool locked)
{
	/* EDGE signatures.table acquire: the table is filled. */
	const struct table *table = bt_load_acquire(&s->table);

	for (uint32_t n = 0; n <= table->mask; n++) {
		/* EDGE signatures.slot acquire: the chunk of the entry is there. */
		uint64_t slot = bt_load_acquire(&table->slots[((uint32_t)hash + n) & table->mask]);

		if (!slot) {
			return NULL;
		}
		BT_RACE_POINT("signatures.find.slot");
		/* Whose it is can be read by who holds it. */
		if (slot >> 32 != hash >> 32 || !hold(entry_of(s, (uint32_t)slot - 1))) {
			continue;
		}
		struct entry *entry = entry_of(s, (uint32_t)slot - 1);
		if (entry->hash == hash && entry->words_bytes == words.len &&
			memcmp(entry->words, words.ptr, words.len) == 0) {
			return entry;
		}
		if (locked) {
			leave_last(s, entry->signature->ix);
		} else {
			bt_signature_release(entry->signature);
		}
	}
	return NULL;
}

/* ---- coming ---- */

static void put_slot(struct table *table, uint64_t slot, uint32_t home)
{
	uint32_t at = home & table->mask;

	while (bt_load_relaxed(&table->slots[at])) {
		at = (at + 1) & table->mask;
	}
	/* EDGE signatures.slot release. */
	bt_store_release(&table->slots[at], slot);
}

/* Context: the lock is held. */
static void grow(struct bt_signatures *s)
{
	struct table *old = bt_load_relaxed(&s->table), *new = make_table((old->mask + 1) * 2, old);

	for (uint32_t i = 0; i <= old->mask; i++) {
		uint64_t slot = bt_load_relaxed(&old->slots[i]);

		if (slot) {
			put_slot(new, slot, (uint32_t)entry_of(s, (uint32_t)slot - 1)->hash);
		}
	}
	/* EDGE signatures.table release. */
	bt_store_release(&s->table, new);
}

/* An index for one more entry. Context: the lock is held. */
static uint32_t take_ix(struct bt_signatures *s)
{
	uint32_t ix = s->free, end = bt_load_relaxed(&s->end);

	if (ix != NO_ENTRY) {
		s->free = entry_of(s, ix)->next;
		return ix;
	}
	uint32_t log = 63 - (uint32_t)__builtin_clzll((uint64_t)end + (1u << FIRST_CHUNK_LOG));

	BT_REQUIRE(end < UINT32_MAX - 1);
	if (!bt_load_relaxed(&s->chunks[log - FIRST_CHUNK_LOG])) {
		/* EDGE signatures.slot release: a chunk is there before a slot of its entries. */
		bt_store_release(&s->chunks[log - FIRST_CHUNK_LOG],
			bt_mem_zalloc((size_t)1 << log, sizeof(struct entry)));
	}
	bt_store_release(&s->end, end + 1);
	return end;
}

/* Enters a signature that nobody else has entered meanwhile. Returns: the one that is there, held. */
static const struct bt_signature *enter(struct bt_signatures *s, struct entry *made)
{
	bt_lock_acquire(&s->lock);
	const struct entry *known =
		find(s, made->hash, (struct bt_str){made->words, made->words_bytes}, true);
	if (!known) {
		uint32_t ix = take_ix(s), count = bt_load_relaxed(&s->count) + 1;
		struct entry *entry = entry_of(s, ix);

		made->signature->ix = ix;
		made->signature->serial = ++s->serial;
		entry->signature = made->signature;
		entry->hash = made->hash;
		entry->words = made->words;
		entry->words_bytes = made->words_bytes;
		entry->names = made->names;
		entry->name_n = made->name_n;
		entry->arena = made->arena;
		made->arena = (struct bt_arena){0};
		made->name_n = 0;
		/* EDGE signatures.state release. */
		bt_store_release(&entry->state, KNOWN | 1);
		if (count * 2 > bt_load_relaxed(&s->table)->mask) {
			grow(s);
		}
		put_slot(bt_load_relaxed(&s->table), made->hash >> 32 << 32 | (ix + 1), (uint32_t)made->hash);
		bt_store_relaxed(&s->count, count);
		known = entry;
	}
	bt_lock_release(&s->lock);
	return known->signature;
}

/* Moves the names that the maker has come to hold to the new signature. */
static void keep_held(struct bt_signature_maker *maker, struct entry *made)
{
	made->name_n = (uint32_t)maker->held.n;
	made->names = bt_arena_alloc(&maker->arena, maker->held.n * sizeof(*made->names), 8);
	if (maker->held.n) {
		memcpy(made->names, maker->held.items, maker->held.n * sizeof(*made->names));
	}
	maker->held.n = 0;
}

const struct bt_signature *bt_signature_make(
	struct bt_signature_maker *maker, const struct bt_pod_object *pod)
{
	struct bt_requests requests;

	bt_arena_reset(&maker->scratch);
	bt_buf_clear(&maker->words);
	bt_requests_compute(maker->dictionary, &maker->scratch, pod, &requests);
	put_pod(maker, pod, &requests);
	struct bt_str words = bt_buf_view(&maker->words);
	uint64_t hash = bt_hash_bytes(words.ptr, words.len);
	const struct entry *known = find(maker->signatures, hash, words, false);
	if (known) {
		return known->signature;
	}
	bt_arena_start(&maker->arena, words.len + SIGNATURE_BYTES);
	char *kept = bt_arena_alloc(&maker->arena, words.len, 8);
	memcpy(kept, words.ptr, words.len);
	struct bt_signature *signature = build(maker, pod, &requests);
	struct entry made = {.signature = signature, .hash = hash, .words = kept, .words_bytes = words.len};
	keep_held(maker, &made);
	made.arena = maker->arena;
	maker->arena = (struct bt_arena){0};
	const struct bt_signature *entered = enter(maker->signatures, &made);
	empty(maker->signatures, &made); /* if another thread was first */
	return entered;
}

const struct bt_signature *bt_signatures_intern(
	struct bt_signatures *signatures, const struct bt_pod_object *pod)
{
	return bt_signature_make(signatures->maker, pod);
}

const struct bt_signature *bt_signatures_get(const struct bt_signatures *signatures, uint32_t ix)
{
	BT_INVARIANT(ix < bt_signatures_end(signatures));
	return entry_of(signatures, ix)->signature;
}

uint32_t bt_signatures_end(const struct bt_signatures *signatures)
{
	return bt_load_acquire(&signatures->end);
}

uint32_t bt_signatures_count(const struct bt_signatures *signatures)
{
	return bt_load_relaxed(&signatures->count);
}

uint32_t bt_signatures_listed(const struct bt_signatures *signatures)
{
	return bt_load_relaxed(&signatures->listed_n);
}

/* ---- going ---- */

/* Empties a slot and moves what stands behind it up. Who searches meanwhile may miss a signature, and asks
 * again under the lock. Context: the lock is held. */
static void take_out(struct bt_signatures *s, uint32_t ix)
{
	struct table *table = bt_load_relaxed(&s->table);
	uint32_t mask = table->mask, hole = (uint32_t)entry_of(s, ix)->hash & mask;
	uint64_t slot;

	while ((uint32_t)bt_load_relaxed(&table->slots[hole]) != ix + 1) {
		hole = (hole + 1) & mask;
	}
	for (uint32_t at = (hole + 1) & mask; (slot = bt_load_relaxed(&table->slots[at]));
		at = (at + 1) & mask) {
		uint32_t home = (uint32_t)entry_of(s, (uint32_t)slot - 1)->hash;

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			bt_store_release(&table->slots[hole], slot);
			BT_RACE_POINT("signatures.take_out.moved");
			hole = at;
		}
	}
	bt_store_release(&table->slots[hole], 0);
	bt_store_relaxed(&s->count, bt_load_relaxed(&s->count) - 1);
}

/* What becomes of the first of the list: held ones leave it, those that were used since they came stay once
 * more, others go. Returns whether it went. Context: the lock is held. */
static bool weigh_first(struct bt_signatures *s)
{
	uint32_t ix = take_first(s);
	struct entry *entry = entry_of(s, ix);
	uint64_t state = bt_load_relaxed(&entry->state), next;

	do {
		if (state & HOLDERS) {
			next = state & ~(LISTED | AGAIN);
		} else {
			next = state & AGAIN ? state & ~AGAIN : 0;
		}
		/* EDGE signatures.state acquire: what holders read they read before the end. */
	} while (!bt_cas(&entry->state, &state, next));
	if (next & LISTED) {
		append(s, ix);
	}
	return next == 0;
}

uint32_t bt_signatures_retire(struct bt_signatures *s, uint32_t keep_n, const uint32_t **out_ixs)
{
	s->retired_n = 0;
	bt_lock_acquire(&s->lock);
	/* Twice: what was used since it came may go the second time. */
	for (uint64_t n = 2 * (uint64_t)bt_load_relaxed(&s->listed_n); n; n--) {
		uint32_t ix = s->first;

		if (bt_load_relaxed(&s->listed_n) <= keep_n) {
			break;
		}
		if (weigh_first(s)) {
			take_out(s, ix);
			s->retired =
				bt_mem_grow(s->retired, s->retired_n, &s->retired_cap, sizeof(*s->retired));
			s->retired[s->retired_n++] = ix;
		}
	}
	bt_lock_release(&s->lock);
	*out_ixs = s->retired;
	return (uint32_t)s->retired_n;
}

void bt_signatures_bury(struct bt_signatures *s)
{
	for (size_t i = 0; i < s->retired_n; i++) {
		empty(s, entry_of(s, s->retired[i]));
	}
	bt_lock_acquire(&s->lock);
	for (size_t i = 0; i < s->retired_n; i++) {
		entry_of(s, s->retired[i])->next = s->free;
		s->free = s->retired[i];
	}
	bt_lock_release(&s->lock);
	s->retired_n = 0;
}
