/* SPDX-License-Identifier: Apache-2.0
 * Node resources that a pod's ResourceClaims consume.
 */
#include "engine/model/node_claim.h"

#include "engine/base/check.h"
#include "engine/base/wrap.h"

/* A list of quantities during summation. Pods with more resources are not schedulable. */
struct exact_sum {
	struct bt_exact items[BT_REQUEST_MAX];
	uint32_t n;
};

enum list_kind { REQUESTED, WITH_DEFAULTS, LIMITED };

const struct bt_quantity *bt_exacts_get(struct bt_exacts exacts, uint32_t slot)
{
	for (uint32_t i = 0; i < exacts.n; i++) {
		if (exacts.items[i].slot == slot) {
			return &exacts.items[i].quantity;
		}
	}
	return NULL;
}

static struct bt_exacts view_of(const struct exact_sum *sum)
{
	return (struct bt_exacts){sum->items, sum->n};
}

static struct bt_exacts keep_sum(struct bt_arena *arena, const struct exact_sum *sum)
{
	struct bt_exact *items = bt_arena_alloc(arena, sum->n * sizeof(*items), 16);

	if (sum->n) {
		memcpy(items, sum->items, sum->n * sizeof(*items));
	}
	return (struct bt_exacts){items, sum->n};
}

/* The entry of a slot, added with 0 if missing; NULL: the list is full. */
static struct bt_quantity *place_of(struct exact_sum *sum, uint32_t slot)
{
	for (uint32_t i = 0; i < sum->n; i++) {
		if (sum->items[i].slot == slot) {
			return &sum->items[i].quantity;
		}
	}
	if (sum->n == BT_REQUEST_MAX) {
		return NULL;
	}
	sum->items[sum->n] = (struct bt_exact){.slot = slot};
	return &sum->items[sum->n++].quantity;
}

static void sum_add(struct exact_sum *sum, uint32_t slot, struct bt_quantity quantity)
{
	struct bt_quantity *at = place_of(sum, slot);

	if (at) {
		*at = bt_quantity_add(*at, quantity);
	}
}

static void sum_set(struct exact_sum *sum, uint32_t slot, struct bt_quantity quantity)
{
	struct bt_quantity *at = place_of(sum, slot);

	if (at) {
		*at = quantity;
	}
}

static void sum_add_all(struct exact_sum *sum, struct bt_exacts from)
{
	for (uint32_t i = 0; i < from.n; i++) {
		sum_add(sum, from.items[i].slot, from.items[i].quantity);
	}
}

static void sum_raise(struct exact_sum *sum, struct bt_exacts to)
{
	for (uint32_t i = 0; i < to.n; i++) {
		const struct bt_quantity *now = bt_exacts_get(view_of(sum), to.items[i].slot);

		if (!now || bt_quantity_cmp(*now, to.items[i].quantity) < 0) {
			sum_set(sum, to.items[i].slot, to.items[i].quantity);
		}
	}
}

/* The slot of a resource; negative: no slot is free, and no node offers it. */
static int give_slot(struct bt_dictionary *dictionary, struct bt_str name)
{
	int slot = bt_resource_look_up(dictionary, name);

	if (slot == BT_SLOT_NEW && bt_resource_add_all(dictionary, &name, 1, BT_RESOURCE_POD_MAX)) {
		slot = bt_resource_look_up(dictionary, name);
	}
	return slot;
}

static void read_into(struct bt_dictionary *dictionary, struct exact_sum *sum,
	const struct bt_resource_list *list, bool level_only)
{
	sum->n = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		int slot = level_only && !bt_pod_level_name(list->items[i].name)
				   ? BT_SLOT_IGNORED
				   : give_slot(dictionary, list->items[i].name);

		if (slot >= 0) {
			sum_set(sum, (uint32_t)slot, list->items[i].quantity);
		}
	}
}

static void read_container(struct bt_dictionary *dictionary, const struct bt_container_object *container,
	enum list_kind kind, struct exact_sum *out)
{
	const struct bt_requirements_object *from = &container->resources;

	read_into(dictionary, out, kind == LIMITED ? &from->limits : &from->requests, kind == LIMITED);
	if (kind == WITH_DEFAULTS && !bt_exacts_get(view_of(out), BT_CPU)) {
		sum_set(out, BT_CPU, bt_quantity_of_milli(BT_DEFAULT_MILLI_CPU, BT_DECIMAL_SI));
	}
	if (kind == WITH_DEFAULTS && !bt_exacts_get(view_of(out), BT_MEMORY)) {
		sum_set(out, BT_MEMORY, bt_quantity_of_int64(BT_DEFAULT_MEMORY_BYTES, BT_BINARY_SI));
	}
}

/* Source: aggregateContainerResourcesByFn, v0.37.2. */
static struct bt_exacts aggregate(struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_pod_spec_object *spec, enum list_kind kind)
{
	struct exact_sum total = {.n = 0}, sidecars = {.n = 0}, most = {.n = 0}, one;

	for (uint32_t i = 0; i < spec->container_n; i++) {
		read_container(dictionary, &spec->containers[i], kind, &one);
		sum_add_all(&total, view_of(&one));
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		read_container(dictionary, &spec->init_containers[i], kind, &one);
		if (bt_str_is(spec->init_containers[i].restart_policy, "Always")) {
			sum_add_all(&total, view_of(&one));
			sum_add_all(&sidecars, view_of(&one));
			sum_raise(&most, view_of(&sidecars));
		} else {
			sum_add_all(&one, view_of(&sidecars));
			sum_raise(&most, view_of(&one));
		}
	}
	sum_raise(&total, view_of(&most));
	return keep_sum(arena, &total);
}

static struct bt_exacts keep_list(struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_resource_list *list, bool level_only)
{
	struct exact_sum sum;

	read_into(dictionary, &sum, list, level_only);
	return keep_sum(arena, &sum);
}

static uint32_t list_refs(struct bt_name_refs *held, const struct bt_container_object *containers,
	uint32_t container_n, struct bt_container_claim *refs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < container_n; i++) {
		const struct bt_str_list *claims = &containers[i].resources.claims;

		for (uint32_t j = 0; j < claims->n; j++, n++) {
			if (refs) {
				refs[n].container = bt_name_refs_add(held, containers[i].name);
				refs[n].claim = bt_name_refs_add(held, claims->items[j]);
			}
		}
	}
	return n;
}

const struct bt_pod_sums *bt_pod_sums_make(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_pod_object *pod)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_pod_sums *sums = bt_arena_zalloc(arena, sizeof(*sums));
	uint32_t first_n = list_refs(held, spec->init_containers, spec->init_container_n, NULL);

	sums->ref_n = first_n + list_refs(held, spec->containers, spec->container_n, NULL);
	struct bt_container_claim *refs = bt_arena_zalloc(arena, sums->ref_n * sizeof(*refs));
	struct bt_container_limits *limited = bt_arena_zalloc(arena, spec->container_n * sizeof(*limited));
	list_refs(held, spec->init_containers, spec->init_container_n, refs);
	list_refs(held, spec->containers, spec->container_n, refs + first_n);
	for (uint32_t i = 0; i < spec->container_n; i++) {
		limited[i].container = bt_name_refs_add(held, spec->containers[i].name);
		limited[i].limits = keep_list(dictionary, arena, &spec->containers[i].resources.limits, true);
	}
	sums->refs = refs;
	sums->limited = limited;
	sums->limited_n = spec->container_n;
	sums->containers = aggregate(dictionary, arena, spec, REQUESTED);
	sums->defaulted = aggregate(dictionary, arena, spec, WITH_DEFAULTS);
	sums->limits = aggregate(dictionary, arena, spec, LIMITED);
	sums->level = keep_list(dictionary, arena, &spec->resources.requests, true);
	sums->level_limits = keep_list(dictionary, arena, &spec->resources.limits, true);
	sums->overhead = keep_list(dictionary, arena, &spec->overhead, false);
	return sums;
}

static void keep_node_claim(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_node_claim_object *object, struct bt_node_claim *out)
{
	const struct bt_resource_list mapping = {object->mapping, object->mapping_n, true};
	uint32_t *containers = bt_arena_alloc(arena, object->containers.n * sizeof(*containers), 8);
	struct bt_node_overhead *overheads = bt_arena_zalloc(arena, object->overhead_n * sizeof(*overheads));

	for (uint32_t i = 0; i < object->containers.n; i++) {
		containers[i] = bt_name_refs_add(held, object->containers.items[i]);
	}
	*out = (struct bt_node_claim){
		.claim = bt_name_refs_add(held, object->claim),
		.containers = containers,
		.container_n = object->containers.n,
		.mapping = keep_list(
			dictionary, arena, object->resources.n ? &object->resources : &mapping, false),
		.overheads = overheads,
	};
	for (uint32_t i = 0; i < object->overhead_n; i++) {
		const struct bt_node_overhead_object *from = &object->overheads[i];
		int slot = give_slot(dictionary, from->name);

		if (slot >= 0) {
			overheads[out->overhead_n++] =
				(struct bt_node_overhead){(uint32_t)slot, from->has_per_pod,
					from->has_per_container, from->per_pod, from->per_container};
		}
	}
	BT_INVARIANT(out->overhead_n <= object->overhead_n);
}

const struct bt_node_claim *bt_node_claims_make(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_pod_object *pod)
{
	struct bt_node_claim *claims = bt_arena_zalloc(arena, pod->node_claim_n * sizeof(*claims));

	for (uint32_t i = 0; i < pod->node_claim_n; i++) {
		keep_node_claim(dictionary, held, arena, &pod->node_claims[i], &claims[i]);
	}
	return claims;
}

/* ---- as objects ---- */

static struct bt_str keep_text(struct bt_arena *arena, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(arena, text.ptr ? text.ptr : "", text.len), text.len};
}

static void insert_quantity(struct bt_named_quantity *items, uint32_t n, struct bt_named_quantity item)
{
	uint32_t at = n;

	for (; at > 0 && bt_str_cmp(items[at - 1].name, item.name) > 0; at--) {
		items[at] = items[at - 1];
	}
	items[at] = item;
}

static void insert_overhead(
	struct bt_node_overhead_object *items, uint32_t n, struct bt_node_overhead_object item)
{
	uint32_t at = n;

	for (; at > 0 && bt_str_cmp(items[at - 1].name, item.name) > 0; at--) {
		items[at] = items[at - 1];
	}
	items[at] = item;
}

struct bt_node_claim_object bt_node_claim_object_of(
	const struct bt_dictionary *dictionary, struct bt_arena *arena, const struct bt_node_claim *claim)
{
	const struct bt_intern *intern = dictionary->intern;
	struct bt_node_claim_object object = {.claim = keep_text(arena, bt_intern_str(intern, claim->claim)),
		.mapping_n = claim->mapping.n,
		.overhead_n = claim->overhead_n};

	object.containers.items = bt_arena_zalloc(arena, (claim->container_n + 1) * sizeof(struct bt_str));
	object.containers.n = claim->container_n;
	object.containers.set = true;
	for (uint32_t i = 0; i < claim->container_n; i++) {
		object.containers.items[i] = keep_text(arena, bt_intern_str(intern, claim->containers[i]));
	}
	object.mapping = bt_arena_zalloc(arena, (claim->mapping.n + 1) * sizeof(*object.mapping));
	for (uint32_t i = 0; i < claim->mapping.n; i++) {
		const struct bt_exact *from = &claim->mapping.items[i];

		insert_quantity(object.mapping, i,
			(struct bt_named_quantity){
				keep_text(arena, bt_resource_name(dictionary, from->slot)), from->quantity});
	}
	object.resources = (struct bt_resource_list){object.mapping, object.mapping_n, true};
	object.overheads = bt_arena_zalloc(arena, (claim->overhead_n + 1) * sizeof(*object.overheads));
	for (uint32_t i = 0; i < claim->overhead_n; i++) {
		const struct bt_node_overhead *from = &claim->overheads[i];

		insert_overhead(object.overheads, i,
			(struct bt_node_overhead_object){
				keep_text(arena, bt_resource_name(dictionary, from->slot)), from->has_per_pod,
				from->has_per_container, from->per_pod, from->per_container});
	}
	return object;
}

/* ---- demand ---- */

/* n times the quantity. */
static struct bt_quantity times(struct bt_quantity quantity, uint32_t n)
{
	struct bt_quantity sum = {.format = quantity.format};

	for (uint32_t i = 0; i < n; i++) {
		sum = bt_quantity_add(sum, quantity);
	}
	return sum;
}

/* Source: addDRANodeAllocatableClaimResources, v0.37.2. */
static void add_claims(struct exact_sum *sum, const struct bt_node_claim *claims, uint32_t claim_n)
{
	for (uint32_t i = 0; i < claim_n; i++) {
		sum_add_all(sum, claims[i].mapping);
		for (uint32_t j = 0; j < claims[i].overhead_n; j++) {
			const struct bt_node_overhead *overhead = &claims[i].overheads[j];

			if (overhead->has_per_pod) {
				sum_add(sum, overhead->slot, overhead->per_pod);
			}
			sum_add(sum, overhead->slot,
				times(overhead->per_container,
					overhead->has_per_container ? claims[i].container_n : 0));
		}
	}
}

static void add_whole(struct exact_sum *sum, const struct bt_pod_sums *sums)
{
	for (uint32_t i = 0; i < sums->level.n; i++) {
		sum_set(sum, sums->level.items[i].slot, sums->level.items[i].quantity);
	}
	sum_add_all(sum, sums->overhead);
}

static void insert(struct bt_amount *items, uint32_t *n, struct bt_amount amount)
{
	uint32_t at = (*n)++;

	for (; at > 0 && items[at - 1].slot > amount.slot; at--) {
		items[at] = items[at - 1];
	}
	items[at] = amount;
}

static void put_demand(struct bt_arena *arena, const struct exact_sum *sum, struct bt_claims_demand *out)
{
	struct bt_amount *used = bt_arena_alloc(arena, sum->n * sizeof(*used), 8);
	struct bt_amount *milli = bt_arena_alloc(arena, sum->n * sizeof(*milli), 8);
	uint32_t n = 0, milli_n = 0;

	for (uint32_t i = 0; i < sum->n; i++) {
		uint32_t slot = sum->items[i].slot;
		int64_t amount = bt_resource_amount(slot, sum->items[i].quantity);
		int64_t exact = bt_quantity_milli(sum->items[i].quantity);

		insert(used, &n, (struct bt_amount){slot, amount});
		if (slot != BT_CPU && exact != bt_wrap_mul(amount, 1000)) {
			insert(milli, &milli_n, (struct bt_amount){slot, exact});
		}
	}
	out->used = (struct bt_amounts){used, n};
	out->used_milli = (struct bt_amounts){milli, milli_n};
}

/* The cpu or memory of the pod for scores. A container without a request counts with a default, unless the
 * pod has a request of its own. Source: CalculateResource, getNonMissingContainerRequests, v1.37.2. */
static struct bt_quantity counted(const struct bt_pod_sums *sums, const struct exact_sum *with,
	const struct bt_node_claim *claims, uint32_t claim_n, uint32_t slot)
{
	struct exact_sum sum = {.n = 0};
	const struct bt_quantity *at =
		bt_exacts_get(sums->level.n ? view_of(with) : (struct bt_exacts){0}, slot);

	if (!at) {
		sum_add_all(&sum, sums->defaulted);
		add_claims(&sum, claims, claim_n);
		add_whole(&sum, sums);
		at = bt_exacts_get(view_of(&sum), slot);
	}
	return at ? *at : (struct bt_quantity){0};
}

struct bt_claims_demand bt_claims_demand(const struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_pod_sums *sums, const struct bt_node_claim *claims, uint32_t claim_n)
{
	struct exact_sum with = {.n = 0}, limits = {.n = 0}, extra = {.n = 0};
	struct bt_claims_demand demand;

	sum_add_all(&with, sums->containers);
	add_claims(&with, claims, claim_n);
	demand.containers = keep_sum(arena, &with);
	add_whole(&with, sums);
	put_demand(arena, &with, &demand);
	demand.nonzero_milli_cpu = bt_quantity_milli(counted(sums, &with, claims, claim_n, BT_CPU));
	demand.nonzero_memory = bt_quantity_value(counted(sums, &with, claims, claim_n, BT_MEMORY));
	sum_add_all(&limits, sums->limits);
	add_claims(&extra, claims, claim_n);
	for (uint32_t i = 0; i < extra.n; i++) {
		if (bt_str_starts(bt_resource_name(dictionary, extra.items[i].slot), "hugepages-")) {
			sum_add(&limits, extra.items[i].slot, extra.items[i].quantity);
		}
	}
	demand.limits = keep_sum(arena, &limits);
	return demand;
}

/* Source: GetContainerDRAAllocations, v0.37.2. */
struct bt_quantity bt_claims_of_container(
	const struct bt_node_claim *claims, uint32_t claim_n, uint32_t container, uint32_t slot)
{
	struct bt_quantity sum = {0};

	for (uint32_t i = 0; i < claim_n; i++) {
		bool names = false;

		for (uint32_t j = 0; j < claims[i].container_n; j++) {
			names |= claims[i].containers[j] == container;
		}
		const struct bt_quantity *mapped = bt_exacts_get(claims[i].mapping, slot);
		sum = names && mapped ? bt_quantity_add(sum, *mapped) : sum;
		for (uint32_t j = 0; names && j < claims[i].overhead_n; j++) {
			const struct bt_node_overhead *overhead = &claims[i].overheads[j];

			if (overhead->slot == slot) {
				sum = bt_quantity_add(sum, overhead->per_pod);
				sum = bt_quantity_add(sum, overhead->per_container);
			}
		}
	}
	return sum;
}
