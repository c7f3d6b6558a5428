/* SPDX-License-Identifier: Apache-2.0
 * What a pod asks for. Sums are exact (billionths) and rounded up once, at the end.
 */
#include "engine/model/request.h"

#include "engine/base/check.h"
#include "engine/base/wrap.h"

/* A list of resources while it is being added up: exact amounts, and whether the name occurs at all. */
struct sum {
	struct bt_quantity quantities[BT_RESOURCE_MAX];
	uint64_t present;
	int slot_end; /* no slot at or above is present */
};

_Static_assert(BT_RESOURCE_MAX <= 64, "presence is one word");

struct way {
	bool use_status, skip_pod_level;
	bool default_cpu, default_memory;
};

struct adder {
	struct bt_dictionary *dictionary;
	const struct bt_pod_object *pod;
	struct way way;
	bool resize_infeasible;
	struct bt_new_resources *unknown; /* names without a slot */
};

/* Amounts are set when a slot becomes present; until then they are garbage. */
static void clear(struct sum *sum)
{
	sum->present = 0;
	sum->slot_end = 0;
}

static void note(struct sum *sum, int slot)
{
	if (!(sum->present >> slot & 1)) {
		sum->present |= (uint64_t)1 << slot;
		sum->quantities[slot] = (struct bt_quantity){0};
		sum->slot_end = slot >= sum->slot_end ? slot + 1 : sum->slot_end;
	}
}

static void read_list(struct adder *adder, struct sum *sum, const struct bt_resource_list *list)
{
	clear(sum);
	for (uint32_t i = 0; i < list->n; i++) {
		int slot = bt_resource_look_up(adder->dictionary, list->items[i].name);

		if (BT_UNLIKELY(slot == BT_SLOT_NEW)) {
			bt_new_resources_add(adder->unknown, list->items[i].name);
		}
		if (slot >= 0) {
			note(sum, slot);
			sum->quantities[slot] = list->items[i].quantity;
		}
	}
}

static void add(struct sum *to, const struct sum *from)
{
	for (int slot = 0; slot < from->slot_end; slot++) {
		if (from->present >> slot & 1) {
			note(to, slot);
			to->quantities[slot] = bt_quantity_add(to->quantities[slot], from->quantities[slot]);
		}
	}
}

static void raise_to(struct sum *to, const struct sum *from)
{
	for (int slot = 0; slot < from->slot_end; slot++) {
		if (!(from->present >> slot & 1)) {
			continue;
		}
		bool fresh = !(to->present >> slot & 1);

		note(to, slot);
		if (fresh || bt_quantity_cmp(from->quantities[slot], to->quantities[slot]) > 0) {
			to->quantities[slot] = from->quantities[slot];
		}
	}
}

/* What a container or pod counts when its status tells of a resize: the largest of spec, actuated and
 * allocated. */
static void effective(struct adder *adder, struct sum *sum, const struct bt_resource_list *spec,
	const struct bt_resource_list *actuated, const struct bt_resource_list *allocated)
{
	struct sum part;

	read_list(adder, sum, adder->resize_infeasible ? actuated : spec);
	if (!adder->resize_infeasible) {
		read_list(adder, &part, actuated);
		raise_to(sum, &part);
	}
	read_list(adder, &part, allocated);
	raise_to(sum, &part);
}

static const struct bt_container_status_object *find_status(
	const struct bt_pod_object *pod, struct bt_str name)
{
	const struct bt_container_status_object *found = NULL;

	for (uint32_t i = 0; i < pod->container_status_n; i++) {
		if (bt_str_eq(pod->container_statuses[i].name, name)) {
			found = &pod->container_statuses[i];
		}
	}
	for (uint32_t i = 0; i < pod->init_container_status_n; i++) {
		if (bt_str_eq(pod->init_container_statuses[i].name, name)) {
			found = &pod->init_container_statuses[i];
		}
	}
	return found;
}

static void fill_default(struct sum *sum, int slot, bool wanted, int64_t units, int64_t nano_per_unit)
{
	if (wanted && !(sum->present >> slot & 1)) {
		note(sum, slot);
		sum->quantities[slot].nano = (__int128)units * nano_per_unit;
	}
}

static void container_sum(
	struct adder *adder, const struct bt_container_object *container, bool status_counts, struct sum *sum)
{
	const struct bt_container_status_object *status =
		adder->way.use_status && status_counts ? find_status(adder->pod, container->name) : NULL;

	if (status && status->resources.set) {
		effective(adder, sum, &container->resources.requests, &status->resources.requests,
			&status->allocated);
	} else {
		read_list(adder, sum, &container->resources.requests);
	}
	fill_default(sum, BT_CPU, adder->way.default_cpu, BT_DEFAULT_MILLI_CPU, 1000000);
	fill_default(sum, BT_MEMORY, adder->way.default_memory, BT_DEFAULT_MEMORY_BYTES, 1000000000);
}

static void add_containers(struct adder *adder, struct sum *total)
{
	const struct bt_pod_spec_object *spec = &adder->pod->spec;
	struct sum sidecars, init_max, one;

	clear(&sidecars);
	clear(&init_max);
	for (uint32_t i = 0; i < spec->container_n; i++) {
		container_sum(adder, &spec->containers[i], true, &one);
		add(total, &one);
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		const struct bt_container_object *container = &spec->init_containers[i];
		bool sidecar = bt_str_is(container->restart_policy, "Always");

		container_sum(adder, container, sidecar, &one);
		if (sidecar) {
			add(total, &one);
			add(&sidecars, &one);
			raise_to(&init_max, &sidecars);
		} else {
			add(&one, &sidecars);
			raise_to(&init_max, &one);
		}
	}
	raise_to(total, &init_max);
}

/* Is the slot one of those that pod-level requests replace? */
static bool pod_level_name(struct bt_str name)
{
	return bt_str_is(name, "cpu") || bt_str_is(name, "memory") || bt_str_starts(name, "hugepages-");
}

static bool pod_level_set(const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->spec.resources.requests.n; i++) {
		if (pod_level_name(pod->spec.resources.requests.items[i].name)) {
			return true;
		}
	}
	return false;
}

static void replace_by_pod_level(struct adder *adder, struct sum *total)
{
	const struct bt_pod_object *pod = adder->pod;
	struct sum level;

	read_list(adder, &level, &pod->spec.resources.requests);
	if (adder->way.use_status && pod->resources.set) {
		struct sum spec = level;

		effective(adder, &level, &pod->spec.resources.requests, &pod->resources.requests,
			&pod->allocated);
		level.present &= spec.present;
		/* A name that is in the spec alone and not in what counts is replaced by nothing, that is
		 * zero. */
		for (int slot = 0; slot < spec.slot_end; slot++) {
			if (spec.present >> slot & 1) {
				note(&level, slot);
			}
		}
	}
	for (int slot = 0; slot < level.slot_end; slot++) {
		if (level.present >> slot & 1 &&
			pod_level_name(bt_resource_name(adder->dictionary, (uint32_t)slot))) {
			note(total, slot);
			total->quantities[slot] = level.quantities[slot];
		}
	}
}

static void pod_sum(struct adder *adder, struct way way, struct sum *total)
{
	struct sum overhead;

	adder->way = way;
	clear(total);
	add_containers(adder, total);
	if (!way.skip_pod_level && pod_level_set(adder->pod)) {
		replace_by_pod_level(adder, total);
	}
	read_list(adder, &overhead, &adder->pod->spec.overhead);
	add(total, &overhead);
}

static struct bt_amounts round_up(struct bt_arena *arena, const struct sum *sum)
{
	uint32_t n = 0;
	struct bt_amount *items =
		bt_arena_alloc(arena, (size_t)__builtin_popcountll(sum->present) * sizeof(*items), 8);

	for (int slot = 0; slot < sum->slot_end; slot++) {
		if (sum->present >> slot & 1) {

			items[n++] = (struct bt_amount){
				(uint32_t)slot, bt_resource_amount((uint32_t)slot, sum->quantities[slot])};
		}
	}
	return (struct bt_amounts){items, n};
}

/* The thousandths that the rounded amounts do not tell. */
static struct bt_amounts odd_milli(struct bt_arena *arena, const struct sum *sum)
{
	struct bt_amounts odd = {0};
	struct bt_amount *items = NULL;

	for (int slot = BT_CPU + 1; slot < sum->slot_end; slot++) {
		if (!(sum->present >> slot & 1)) {
			continue;
		}
		int64_t amount = bt_resource_amount((uint32_t)slot, sum->quantities[slot]);
		int64_t milli = bt_quantity_milli(sum->quantities[slot]);

		if (milli != bt_wrap_mul(amount, 1000)) {
			items = items ? items : bt_arena_alloc(arena, BT_RESOURCE_MAX * sizeof(*items), 8);
			items[odd.n++] = (struct bt_amount){(uint32_t)slot, milli};
		}
	}
	odd.items = items;
	return odd;
}

/* The amount of a slot; a pod without containers has none. */
static struct bt_quantity amount_of(const struct sum *sum, int slot)
{
	return sum->present >> slot & 1 ? sum->quantities[slot] : (struct bt_quantity){0};
}

static bool resize_infeasible(const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		if (bt_str_is(pod->conditions[i].type, "PodResizePending")) {
			return bt_str_is(pod->conditions[i].reason, "Infeasible");
		}
	}
	return false;
}

/* The requests, without those whose names have no slot, which are listed. */
static void compute(struct bt_dictionary *dictionary, struct bt_arena *arena, const struct bt_pod_object *pod,
	struct bt_new_resources *unknown, struct bt_requests *out_requests)
{
	struct adder adder = {.dictionary = dictionary,
		.pod = pod,
		.resize_infeasible = resize_infeasible(pod),
		.unknown = unknown};
	bool has_status = pod->resources.set || pod->container_status_n || pod->init_container_status_n;
	bool level = pod_level_set(pod);
	struct sum fit, with_status, nonzero, containers;
	const struct sum *used = &fit, *score = &nonzero;

	pod_sum(&adder, (struct way){0}, &fit);
	if (has_status) {
		pod_sum(&adder, (struct way){.use_status = true}, &with_status);
		used = &with_status;
	}
	pod_sum(&adder,
		(struct way){
			.use_status = has_status,
			.default_cpu = !level || !(used->present >> BT_CPU & 1),
			.default_memory = !level || !(used->present >> BT_MEMORY & 1),
		},
		&nonzero);
	if (level || has_status) {
		pod_sum(&adder,
			(struct way){.skip_pod_level = true, .default_cpu = true, .default_memory = true},
			&containers);
		score = &containers;
	}
	*out_requests = (struct bt_requests){
		.fit = round_up(arena, &fit),
		.used = round_up(arena, used),
		.used_milli = odd_milli(arena, used),
		.score = round_up(arena, score),
		.nonzero_milli_cpu = bt_quantity_milli(amount_of(&nonzero, BT_CPU)),
		.nonzero_memory = bt_quantity_value(amount_of(&nonzero, BT_MEMORY)),
	};
}

void bt_requests_compute(struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_pod_object *pod, struct bt_requests *out_requests)
{
	struct bt_new_resources unknown;

	unknown.n = 0;
	compute(dictionary, arena, pod, &unknown, out_requests);
	if (BT_LIKELY(unknown.n == 0)) {
		return;
	}
	/* A pod that asks for more than there is room for leaves none of its names behind. */
	bool fit = bt_resource_add_all(dictionary, unknown.names, unknown.n);
	unknown.n = 0;
	compute(dictionary, arena, pod, &unknown, out_requests);
	out_requests->too_many_names = !fit;
}
