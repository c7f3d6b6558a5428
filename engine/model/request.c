/* SPDX-License-Identifier: Apache-2.0
 * What a pod asks for. Sums are exact (billionths) and rounded up once, at the end.
 */
#include "engine/model/request.h"

#include "engine/base/check.h"
#include "engine/base/wrap.h"

/* A list of resources while it is being added up: exact amounts, and whether the name occurs at all. Each
 * resource that the pod names anywhere has a cell: the first ones that of their slot, others as they come. */
struct sum {
	struct bt_quantity quantities[BT_REQUEST_MAX];
	uint64_t present;
	int end; /* no cell at or above is present */
};

_Static_assert(BT_REQUEST_MAX <= 64, "presence is one word");

/* Names without a slot, each once. */
struct unknown {
	struct bt_str names[BT_REQUEST_MAX];
	uint32_t n;
};

struct way {
	bool use_status, skip_pod_level;
	bool default_cpu, default_memory;
};

struct adder {
	struct bt_dictionary *dictionary;
	const struct bt_pod_object *pod;
	struct way way;
	bool resize_infeasible;
	uint32_t slots[BT_REQUEST_MAX]; /* by cell */
	int cell_n;
	struct unknown *unknown;
	bool too_many; /* names, of which some are left out */
	bool lacking;  /* a container asks for no cpu or no memory at all: defaults make a difference */
};

/* Amounts are set when a cell becomes present; until then they are garbage. */
static void clear(struct sum *sum)
{
	sum->present = 0;
	sum->end = 0;
}

static void note(struct sum *sum, int cell)
{
	if (!(sum->present >> cell & 1)) {
		sum->present |= (uint64_t)1 << cell;
		sum->quantities[cell] = (struct bt_quantity){0};
		sum->end = cell >= sum->end ? cell + 1 : sum->end;
	}
}

/* Returns: -1 when there are too many. */
static int cell_of(struct adder *adder, int slot)
{
	if (slot < BT_FIRST_SCALAR) {
		return slot;
	}
	for (int cell = BT_FIRST_SCALAR; cell < adder->cell_n; cell++) {
		if (adder->slots[cell] == (uint32_t)slot) {
			return cell;
		}
	}
	if (adder->cell_n == BT_REQUEST_MAX) {
		adder->too_many = true;
		return -1;
	}
	adder->slots[adder->cell_n] = (uint32_t)slot;
	return adder->cell_n++;
}

static BT_NOINLINE void list_unknown(struct adder *adder, struct bt_str name)
{
	struct unknown *unknown = adder->unknown;

	for (uint32_t i = 0; i < unknown->n; i++) {
		if (bt_str_eq(unknown->names[i], name)) {
			return;
		}
	}
	if (unknown->n == BT_REQUEST_MAX) {
		adder->too_many = true;
	} else {
		unknown->names[unknown->n++] = name;
	}
}

static void read_list(struct adder *adder, struct sum *sum, const struct bt_resource_list *list)
{
	clear(sum);
	for (uint32_t i = 0; i < list->n; i++) {
		int slot = bt_resource_look_up(adder->dictionary, list->items[i].name);

		if (BT_UNLIKELY(slot == BT_SLOT_NEW)) {
			list_unknown(adder, list->items[i].name);
		}
		int cell = slot >= 0 ? cell_of(adder, slot) : -1;
		if (cell >= 0) {
			note(sum, cell);
			sum->quantities[cell] = list->items[i].quantity;
		}
	}
}

static void add(struct sum *to, const struct sum *from)
{
	for (int cell = 0; cell < from->end; cell++) {
		if (from->present >> cell & 1) {
			note(to, cell);
			to->quantities[cell] = bt_quantity_add(to->quantities[cell], from->quantities[cell]);
		}
	}
}

static void raise_to(struct sum *to, const struct sum *from)
{
	for (int cell = 0; cell < from->end; cell++) {
		if (!(from->present >> cell & 1)) {
			continue;
		}
		bool fresh = !(to->present >> cell & 1);

		note(to, cell);
		if (fresh || bt_quantity_cmp(from->quantities[cell], to->quantities[cell]) > 0) {
			to->quantities[cell] = from->quantities[cell];
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

static void fill_default(struct sum *sum, int cell, bool wanted, int64_t units, int64_t nano_per_unit)
{
	if (wanted && !(sum->present >> cell & 1)) {
		note(sum, cell);
		sum->quantities[cell].nano = (__int128)units * nano_per_unit;
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
	adder->lacking |= (~sum->present & (1u << BT_CPU | 1u << BT_MEMORY)) != 0;
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
		struct sum *sum = i ? &one : total; /* there is nothing to add the first one to */

		container_sum(adder, &spec->containers[i], true, sum);
		if (i) {
			add(total, &one);
		}
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
		for (int cell = 0; cell < spec.end; cell++) {
			if (spec.present >> cell & 1) {
				note(&level, cell);
			}
		}
	}
	for (int cell = 0; cell < level.end; cell++) {
		if (level.present >> cell & 1 &&
			pod_level_name(bt_resource_name(adder->dictionary, adder->slots[cell]))) {
			note(total, cell);
			total->quantities[cell] = level.quantities[cell];
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

/* Puts an amount where its slot wants it. Cells come in the order of slots as a rule. */
static void put(struct bt_amount *items, uint32_t *n, struct bt_amount amount)
{
	uint32_t at = (*n)++;

	for (; at > 0 && items[at - 1].slot > amount.slot; at--) {
		items[at] = items[at - 1];
	}
	items[at] = amount;
}

static struct bt_amounts round_up(const struct adder *adder, struct bt_arena *arena, const struct sum *sum)
{
	uint32_t n = 0;
	struct bt_amount *items = bt_arena_alloc(arena, (size_t)sum->end * sizeof(*items), 8);

	for (int cell = 0; cell < sum->end; cell++) {
		uint32_t slot = adder->slots[cell];

		if (sum->present >> cell & 1) {
			put(items, &n,
				(struct bt_amount){slot, bt_resource_amount(slot, sum->quantities[cell])});
		}
	}
	return (struct bt_amounts){items, n};
}

/* The thousandths that the rounded amounts do not tell. */
static struct bt_amounts odd_milli(const struct adder *adder, struct bt_arena *arena, const struct sum *sum)
{
	struct bt_amounts odd = {0};
	struct bt_amount *items = NULL;

	for (int cell = BT_CPU + 1; cell < sum->end; cell++) {
		if (!(sum->present >> cell & 1)) {
			continue;
		}
		uint32_t slot = adder->slots[cell];
		int64_t amount = bt_resource_amount(slot, sum->quantities[cell]);
		int64_t milli = bt_quantity_milli(sum->quantities[cell]);

		if (milli != bt_wrap_mul(amount, 1000)) {
			items = items ? items : bt_arena_alloc(arena, BT_REQUEST_MAX * sizeof(*items), 8);
			put(items, &odd.n, (struct bt_amount){slot, milli});
		}
	}
	odd.items = items;
	return odd;
}

/* The amount of a cell; a pod without containers has none. */
static struct bt_quantity amount_of(const struct sum *sum, int cell)
{
	return sum->present >> cell & 1 ? sum->quantities[cell] : (struct bt_quantity){0};
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

/* The cells of the resources with fixed slots are there from the beginning; others are set when they come. */
static void begin(struct adder *adder, struct bt_dictionary *dictionary, const struct bt_pod_object *pod,
	struct unknown *unknown)
{
	adder->dictionary = dictionary;
	adder->pod = pod;
	adder->resize_infeasible = resize_infeasible(pod);
	adder->unknown = unknown;
	adder->too_many = adder->lacking = false;
	for (adder->cell_n = 0; adder->cell_n < BT_FIRST_SCALAR; adder->cell_n++) {
		adder->slots[adder->cell_n] = (uint32_t)adder->cell_n;
	}
}

/* The requests, without those whose names have no slot, which are listed. */
static void compute(struct bt_dictionary *dictionary, struct bt_arena *arena, const struct bt_pod_object *pod,
	struct unknown *unknown, struct bt_requests *out_requests)
{
	struct adder adder;
	bool has_status = pod->resources.set || pod->container_status_n || pod->init_container_status_n;
	bool level = pod_level_set(pod);
	struct sum fit, with_status, nonzero, containers;
	const struct sum *used = &fit, *counted, *score;

	begin(&adder, dictionary, pod, unknown);
	pod_sum(&adder, (struct way){0}, &fit);
	if (has_status) {
		pod_sum(&adder, (struct way){.use_status = true}, &with_status);
		used = &with_status;
	}
	/* Without defaults the sums for scores are those from before. */
	counted = used;
	score = &fit;
	if (adder.lacking) {
		pod_sum(&adder,
			(struct way){
				.use_status = has_status,
				.default_cpu = !level || !(used->present >> BT_CPU & 1),
				.default_memory = !level || !(used->present >> BT_MEMORY & 1),
			},
			&nonzero);
		counted = score = &nonzero;
	}
	if (level || (has_status && adder.lacking)) {
		pod_sum(&adder,
			(struct way){.skip_pod_level = true, .default_cpu = true, .default_memory = true},
			&containers);
		score = &containers;
	}
	const struct bt_amounts amounts = round_up(&adder, arena, &fit);
	*out_requests = (struct bt_requests){
		.fit = amounts,
		.used = used == &fit ? amounts : round_up(&adder, arena, used),
		.used_milli = odd_milli(&adder, arena, used),
		.score = score == &fit ? amounts : round_up(&adder, arena, score),
		.nonzero_milli_cpu = bt_quantity_milli(amount_of(counted, BT_CPU)),
		.nonzero_memory = bt_quantity_value(amount_of(counted, BT_MEMORY)),
		.too_many_names = adder.too_many || adder.cell_n + (int)unknown->n > BT_REQUEST_MAX,
	};
}

void bt_requests_compute(struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_pod_object *pod, struct bt_requests *out_requests)
{
	struct unknown unknown;

	unknown.n = 0;
	compute(dictionary, arena, pod, &unknown, out_requests);
	if (BT_LIKELY(unknown.n == 0)) {
		return;
	}
	/* A pod that asks for more than there is room for leaves none of its names behind. */
	if (out_requests->too_many_names ||
		!bt_resource_add_all(dictionary, unknown.names, unknown.n, BT_RESOURCE_POD_MAX)) {
		out_requests->too_many_names = true;
		return;
	}
	unknown.n = 0;
	compute(dictionary, arena, pod, &unknown, out_requests);
}
