/* SPDX-License-Identifier: Apache-2.0
 * Claiming pods. A dump's pods cost a group for each owner and set of labels, and some words each where their
 * completion index or their node counts.
 */
#include "tools/kube/objects/claim.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/model/selector.h"

struct bt_pod_detail {
	uint64_t key;
	uint32_t next; /* of the group, + 1 */
};

struct bt_owned_pods {
	struct bt_str owner_uid;
	struct bt_labels labels;
	uint32_t active, succeeded, leaving;
	uint32_t detail; /* the first, + 1 */
	uint32_t next;	 /* of the owner, + 1 */
	bool adopted;
};

static uint64_t mix(uint64_t key, struct bt_str part)
{
	return bt_hash_u64(key + bt_hash_bytes(part.ptr, part.len) + part.len);
}

/* Pods without a controller are those of an owner without a name. */
static uint64_t owner_key(struct bt_str namespace_, struct bt_str kind, struct bt_str name)
{
	return bt_hash_key(mix(mix(mix(1, namespace_), kind), name));
}

static uint64_t detail_key(enum bt_claim_detail what, struct bt_str text)
{
	return bt_hash_key(mix((uint64_t)what, text));
}

const struct bt_owner_object *bt_claim_controller_of(const struct bt_meta_object *meta)
{
	for (uint32_t i = 0; i < meta->owner_n; i++) {
		if (meta->owners[i].controller) {
			return &meta->owners[i];
		}
	}
	return NULL;
}

static struct bt_name_refs names(struct bt_claims *claims)
{
	if (!claims->intern) {
		claims->intern = bt_intern_create();
	}
	return bt_name_refs_pinned(claims->intern);
}

void bt_claims_fini(struct bt_claims *claims)
{
	if (claims->intern) {
		bt_intern_destroy(claims->intern);
	}
	bt_arena_fini(&claims->arena);
	bt_mem_free(claims->groups);
	bt_mem_free(claims->details);
	bt_map_fini(&claims->by_identity);
	bt_map_fini(&claims->by_owner);
	*claims = (struct bt_claims){.intern = NULL};
}

/* ---- observing ---- */

/* The owner's group of pods with these labels. */
static struct bt_owned_pods *group_of(
	struct bt_claims *claims, uint64_t owner, struct bt_str uid, const struct bt_str_map *labels)
{
	uint64_t identity = mix(owner, uid);
	uint32_t ix, first = 0;

	for (uint32_t i = 0; i < labels->n; i++) {
		identity = mix(mix(identity, labels->items[i].key), labels->items[i].value);
	}
	identity = bt_hash_key(identity);
	if (bt_map_get(&claims->by_identity, identity, &ix)) {
		return &claims->groups[ix];
	}
	struct bt_name_refs held = names(claims);
	bt_map_get(&claims->by_owner, owner, &first);
	claims->groups =
		bt_mem_grow(claims->groups, claims->group_n, &claims->group_cap, sizeof(*claims->groups));
	ix = (uint32_t)claims->group_n++;
	claims->groups[ix] = (struct bt_owned_pods){
		.owner_uid = {bt_arena_copy(&claims->arena, uid.ptr ? uid.ptr : "", uid.len), uid.len},
		.labels = bt_labels_intern(&held, &claims->arena, labels),
		.next = first};
	bt_map_put(&claims->by_identity, identity, ix);
	bt_map_put(&claims->by_owner, owner, ix + 1);
	return &claims->groups[ix];
}

static void add_detail(
	struct bt_claims *claims, struct bt_owned_pods *group, enum bt_claim_detail what, struct bt_str text)
{
	claims->details =
		bt_mem_grow(claims->details, claims->detail_n, &claims->detail_cap, sizeof(*claims->details));
	claims->details[claims->detail_n++] = (struct bt_pod_detail){detail_key(what, text), group->detail};
	group->detail = (uint32_t)claims->detail_n;
}

/* The node that a daemon's pod is for: bound to it, or requiring it by name. */
static struct bt_str node_of(const struct bt_pod_spec_object *spec)
{
	const struct bt_node_selector_object *required = &spec->affinity.node_affinity.required;

	if (spec->node_name.len) {
		return spec->node_name;
	}
	for (uint32_t i = 0; i < required->term_n; i++) {
		const struct bt_requirement_object_list *fields = &required->terms[i].match_fields;

		for (uint32_t j = 0; j < fields->n; j++) {
			if (bt_str_is(fields->items[j].key, "metadata.name") &&
				fields->items[j].values.n == 1) {
				return fields->items[j].values.items[0];
			}
		}
	}
	return (struct bt_str){NULL, 0};
}

static bool completion_index(const struct bt_str_map *annotations, struct bt_str *out)
{
	for (uint32_t i = 0; i < annotations->n; i++) {
		if (bt_str_is(annotations->items[i].key, "batch.kubernetes.io/job-completion-index")) {
			*out = annotations->items[i].value;
			return true;
		}
	}
	return false;
}

void bt_claims_observe(struct bt_claims *claims, const struct bt_pod_object *pod)
{
	const struct bt_owner_object *owner = bt_claim_controller_of(&pod->meta);
	bool succeeded = bt_str_is(pod->phase, "Succeeded");
	bool ended = succeeded || bt_str_is(pod->phase, "Failed");
	bool deleted = pod->meta.deletion_ns != 0;
	struct bt_str none = {NULL, 0}, kind = owner ? owner->kind : none, index;

	if (!owner && deleted) {
		return; /* it is not adopted */
	}
	struct bt_owned_pods *group =
		group_of(claims, owner_key(pod->meta.namespace_, kind, owner ? owner->name : none),
			owner ? owner->uid : none, &pod->meta.labels);
	group->active += !ended && !deleted;
	group->succeeded += succeeded;
	group->leaving += !ended && deleted;
	if ((!owner || bt_str_is(kind, "Job")) && completion_index(&pod->meta.annotations, &index)) {
		if (succeeded || (!ended && !deleted)) {
			add_detail(claims, group, BT_CLAIM_INDEX, index);
		} else if (!ended) {
			add_detail(claims, group, BT_CLAIM_LEAVING_INDEX, index);
		}
	}
	struct bt_str node = node_of(&pod->spec);
	if ((!owner || bt_str_is(kind, "DaemonSet")) && !ended && node.len) {
		/* A terminating pod keeps its node until it is deleted. */
		add_detail(claims, group, BT_CLAIM_NODE, node);
	}
	if ((!owner || bt_str_is(kind, "StatefulSet")) && ended && !deleted) {
		add_detail(claims, group, BT_CLAIM_ENDED, pod->meta.name);
	}
}

/* ---- claiming ---- */

bool bt_claim_same_uid(struct bt_str uid, struct bt_str named)
{
	return uid.len == 0 || named.len == 0 || bt_str_eq(uid, named);
}

/* Returns false when there is no selector that can be read. */
static bool claim_compile(struct bt_claims *claims, const struct bt_workload_object *controller,
	struct bt_arena *arena, struct bt_selector *out)
{
	struct bt_name_refs held = names(claims);

	return controller->selector.set &&
	       bt_selector_compile(&held, arena, &controller->selector, out, NULL) == BT_OK;
}

/* Adds a group's counts to the controller's. */
static void claim_count(
	const struct bt_claims *claims, const struct bt_owned_pods *group, struct bt_claimed *out)
{
	out->active += group->active;
	out->succeeded += group->succeeded;
	out->leaving += group->leaving;
	for (uint32_t at = group->detail; at; at = claims->details[at - 1].next) {
		bt_map_put(&out->details, claims->details[at - 1].key, 1);
	}
}

struct bt_claimed bt_claims_take(
	struct bt_claims *claims, struct bt_str kind, const struct bt_workload_object *controller)
{
	const struct bt_meta_object *meta = &controller->meta;
	struct bt_str none = {NULL, 0};
	struct bt_claimed claimed = {.active = 0};
	struct bt_arena arena = {0};
	struct bt_selector selector;
	bool selects = claim_compile(claims, controller, &arena, &selector);
	uint32_t at = 0;

	bt_map_get(&claims->by_owner, owner_key(meta->namespace_, kind, meta->name), &at);
	for (; at; at = claims->groups[at - 1].next) {
		const struct bt_owned_pods *group = &claims->groups[at - 1];

		/* The controller releases a pod that it no longer selects. */
		if (bt_claim_same_uid(meta->uid, group->owner_uid) &&
			(!selects || bt_selector_matches(claims->intern, &selector, group->labels))) {
			claim_count(claims, group, &claimed);
		}
	}
	at = 0;
	if (selects) {
		bt_map_get(&claims->by_owner, owner_key(meta->namespace_, none, none), &at);
	}
	for (; at; at = claims->groups[at - 1].next) {
		struct bt_owned_pods *group = &claims->groups[at - 1];

		if (!group->adopted && bt_selector_matches(claims->intern, &selector, group->labels)) {
			/* A StatefulSet also requires matching names to adopt, so it adopts none of these. */
			group->adopted = !bt_str_is(kind, "StatefulSet");
			claim_count(claims, group, &claimed);
		}
	}
	bt_arena_fini(&arena);
	return claimed;
}

void bt_claimed_fini(struct bt_claimed *claimed)
{
	bt_map_fini(&claimed->details);
}

bool bt_claimed_has(const struct bt_claimed *claimed, enum bt_claim_detail what, struct bt_str text)
{
	uint32_t yes;

	return bt_map_get(&claimed->details, detail_key(what, text), &yes);
}

bool bt_claims_selects(struct bt_claims *claims, const struct bt_workload_object *controller,
	const struct bt_meta_object *object)
{
	struct bt_name_refs held = names(claims);
	struct bt_arena arena = {0};
	struct bt_selector selector;
	bool yes = claim_compile(claims, controller, &arena, &selector) &&
		   bt_selector_matches(
			   claims->intern, &selector, bt_labels_intern(&held, &arena, &object->labels));

	bt_arena_fini(&arena);
	return yes;
}
