/* SPDX-License-Identifier: Apache-2.0
 * A pod's requests. Sums are exact (billionths) and rounded up once, at the end.
 */
#include "engine/model/request.h"

#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/wrap.h"

/* The sums in use at the same time. */
enum {
	FIT,
	WITH_STATUS,
	OWN,
	NONZERO,
	CONTAINERS,
	TOTAL_N, /* results; the other sums are intermediate */
	PART = TOTAL_N,
	SIDECARS,
	INIT_MAX,
	ONE,
	LEVEL,
	LEVEL_IN_SPEC,
	OVERHEAD,
	SUM_N
};

enum { WORD_BITS = 64, NARROW_WORD_N = (BT_REQUEST_MAX + WORD_BITS - 1) / WORD_BITS };

/* A resource list during summation: exact amounts, and which resources are present. */
struct request_sum {
	struct bt_quantity *quantities; /* by cell; garbage until the cell becomes present */
	uint64_t *present;		/* bits by cell; garbage in words at or above end */
	int end;			/* all present cells are below */
};

/* Storage for the sums of nearly every pod. */
struct narrow {
	struct bt_quantity quantities[SUM_N * BT_REQUEST_MAX];
	uint64_t present[SUM_N * NARROW_WORD_N];
	uint32_t slots[BT_REQUEST_MAX];
	struct bt_str unknown[BT_REQUEST_MAX];
};

/* Which request of a container counts. */
enum request_part {
	IN_SPEC,
	LARGEST,   /* the largest of spec, actuated and allocated, during a resize */
	ALLOCATED, /* allocated in its status, else as IN_SPEC */
	ACTUATED   /* actuated in its status, else as ALLOCATED */
};

struct way {
	bool use_status, skip_pod_level;
	bool default_cpu, default_memory;
};

/* Each resource that the pod names has a cell: the fixed slots first, others in order of occurrence. A pod
 * with more resources than struct narrow has cells uses a cell per slot. */
struct adder {
	struct bt_dictionary *dictionary;
	const struct bt_pod_object *pod;
	struct bt_request_rules rules;
	struct way way;
	enum request_part part;
	bool resize_infeasible;
	struct request_sum sums[SUM_N];
	struct bt_quantity *quantities; /* of the sums, cell_max each */
	uint64_t *present;		/* of the sums, word_n each */
	int word_n;
	uint32_t *slots; /* by cell; NULL: a cell is a slot */
	int cell_n, cell_max;
	struct bt_str *unknown; /* names without a slot, each once; NULL: not collected */
	uint32_t unknown_n;
	bool too_many; /* too many names: some are omitted */
	bool lacking;  /* a container has no cpu or memory request: defaults apply */
};

/* An empty sum. */
static struct request_sum *empty_sum(struct adder *adder, int which)
{
	BT_INVARIANT(which >= 0 && which < SUM_N);
	struct request_sum *sum = &adder->sums[which];

	sum->quantities = adder->quantities + (size_t)which * (size_t)adder->cell_max;
	sum->present = adder->present + (size_t)which * (size_t)adder->word_n;
	sum->end = 0;
	return sum;
}

static inline uint32_t word_of(int cell)
{
	return (uint32_t)cell / WORD_BITS;
}

static inline uint64_t bit_of(int cell)
{
	return (uint64_t)1 << ((uint32_t)cell % WORD_BITS);
}

/* The first present cell at or after one; sum->end or more: none. */
static int next(const struct request_sum *sum, int cell)
{
	BT_INVARIANT(cell >= 0);
	for (; cell < sum->end; cell = (cell | (WORD_BITS - 1)) + 1) {
		uint64_t word = sum->present[word_of(cell)] >> ((uint32_t)cell % WORD_BITS);

		if (word) {
			return cell + __builtin_ctzll(word);
		}
	}
	return sum->end;
}

static inline bool has(const struct request_sum *sum, int cell)
{
	return cell < sum->end && (sum->present[word_of(cell)] & bit_of(cell));
}

/* Clears the words of present from end up to the cell's. */
static inline void widen(struct request_sum *sum, int cell)
{
	BT_INVARIANT(cell >= sum->end);
	for (uint32_t word = word_of(sum->end + WORD_BITS - 1); word <= word_of(cell); word++) {
		sum->present[word] = 0;
	}
	sum->end = cell + 1;
	BT_INVARIANT(has(sum, cell) || sum->end == cell + 1);
}

static inline void request_note(struct request_sum *sum, int cell)
{
	if (!has(sum, cell)) {
		if (cell >= sum->end) {
			widen(sum, cell);
		}
		sum->present[word_of(cell)] |= bit_of(cell);
		sum->quantities[cell] = (struct bt_quantity){0};
	}
	BT_INVARIANT(has(sum, cell));
}

static uint32_t slot_of(const struct adder *adder, int cell)
{
	return adder->slots ? adder->slots[cell] : (uint32_t)cell;
}

/* Returns: -1 when there are too many. */
static int cell_of(struct adder *adder, int slot)
{
	if (slot < BT_FIRST_SCALAR) {
		return slot;
	}
	if (BT_UNLIKELY(!adder->slots)) {
		adder->too_many |= slot >= adder->cell_max;
		return slot < adder->cell_max ? slot : -1;
	}
	for (int cell = BT_FIRST_SCALAR; cell < adder->cell_n; cell++) {
		if (adder->slots[cell] == (uint32_t)slot) {
			return cell;
		}
	}
	if (adder->cell_n == adder->cell_max) {
		adder->too_many = true;
		return -1;
	}
	BT_INVARIANT(adder->cell_n < adder->cell_max);
	adder->slots[adder->cell_n] = (uint32_t)slot;
	return adder->cell_n++;
}

static BT_NOINLINE void list_unknown(struct adder *adder, struct bt_str name)
{
	const uint32_t max = adder->unknown ? BT_REQUEST_MAX : 0;

	for (uint32_t i = 0; i < max && i < adder->unknown_n; i++) {
		if (bt_str_eq(adder->unknown[i], name)) {
			return;
		}
	}
	if (adder->unknown_n >= max) {
		adder->too_many = true;
	} else {
		BT_INVARIANT(adder->unknown_n < BT_REQUEST_MAX);
		adder->unknown[adder->unknown_n++] = name;
	}
}

static void read_list(struct adder *adder, struct request_sum *sum, const struct bt_resource_list *list)
{
	sum->end = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		int slot = bt_resource_look_up(adder->dictionary, list->items[i].name);

		if (BT_UNLIKELY(slot == BT_SLOT_NEW)) {
			list_unknown(adder, list->items[i].name);
		}
		int cell = slot >= 0 ? cell_of(adder, slot) : -1;
		if (cell >= 0) {
			request_note(sum, cell);
			sum->quantities[cell] = list->items[i].quantity;
		}
	}
}

static void request_add(struct request_sum *to, const struct request_sum *from)
{
	for (int cell = next(from, 0); cell < from->end; cell = next(from, cell + 1)) {
		request_note(to, cell);
		BT_INVARIANT(has(to, cell) && has(from, cell));
		to->quantities[cell] = bt_quantity_add(to->quantities[cell], from->quantities[cell]);
	}
}

static void raise_to(struct request_sum *to, const struct request_sum *from)
{
	for (int cell = next(from, 0); cell < from->end; cell = next(from, cell + 1)) {
		bool fresh = !has(to, cell);

		request_note(to, cell);
		BT_INVARIANT(has(to, cell) && has(from, cell));
		if (fresh || bt_quantity_cmp(from->quantities[cell], to->quantities[cell]) > 0) {
			to->quantities[cell] = from->quantities[cell];
		}
	}
}

/* The largest of spec, actuated and allocated; without the spec if the resize is infeasible. */
static void effective(struct adder *adder, struct request_sum *sum, const struct bt_resource_list *spec,
	const struct bt_resource_list *actuated, const struct bt_resource_list *allocated)
{
	struct request_sum *part = empty_sum(adder, PART);

	read_list(adder, sum, adder->resize_infeasible ? actuated : spec);
	if (!adder->resize_infeasible) {
		read_list(adder, part, actuated);
		raise_to(sum, part);
	}
	read_list(adder, part, allocated);
	raise_to(sum, part);
}

static const struct bt_container_status_object *status_in(
	const struct bt_container_status_object *statuses, uint32_t n, struct bt_str name, bool last)
{
	const struct bt_container_status_object *found = NULL;

	for (uint32_t i = 0; i < n && (last || !found); i++) {
		if (bt_str_eq(statuses[i].name, name)) {
			found = &statuses[i];
		}
	}
	return found;
}

/* Of several with the name upstream uses the last one, with BT_RULE_RESIZE_SUMS_BY_STATE the first. */
static const struct bt_container_status_object *find_status(const struct adder *adder, struct bt_str name)
{
	const struct bt_pod_object *pod = adder->pod;
	bool last = !adder->rules.sums_by_state;
	const struct bt_container_status_object *one = status_in(pod->container_statuses,
							pod->container_status_n, name, last),
						*init = status_in(pod->init_container_statuses,
							pod->init_container_status_n, name, last);

	return last ? (init ? init : one) : (one ? one : init);
}

static void fill_default(struct request_sum *sum, int cell, bool wanted, int64_t units, int64_t nano_per_unit)
{
	BT_INVARIANT(units > 0 && nano_per_unit > 0);
	if (wanted && !has(sum, cell)) {
		request_note(sum, cell);
		sum->quantities[cell].nano = (__int128)units * nano_per_unit;
	}
}

/* A container's effective requests by its status, if any. */
static void read_part(struct adder *adder, struct request_sum *sum, const struct bt_resource_list *spec,
	const struct bt_container_status_object *status)
{
	bool by_state = adder->part == ALLOCATED || adder->part == ACTUATED;

	if (adder->part == LARGEST && status && status->resources.set) {
		effective(adder, sum, spec, &status->resources.requests, &status->allocated);
	} else if (adder->part == ACTUATED && status && status->resources.requests.set) {
		read_list(adder, sum, &status->resources.requests);
	} else if (by_state && status && status->allocated.set) {
		read_list(adder, sum, &status->allocated);
	} else if (by_state && adder->resize_infeasible) {
		sum->end = 0;
	} else {
		read_list(adder, sum, spec);
	}
}

/* Does the container's status count? In some releases the status of a non-sidecar init container does not. */
static bool status_counts(const struct adder *adder, bool ends)
{
	return adder->part != IN_SPEC && (adder->rules.sums_by_state || !ends);
}

static void container_sum(
	struct adder *adder, const struct bt_container_object *container, bool ends, struct request_sum *sum)
{
	read_part(adder, sum, &container->resources.requests,
		status_counts(adder, ends) ? find_status(adder, container->name) : NULL);
	adder->lacking |= !has(sum, BT_CPU) || !has(sum, BT_MEMORY);
	fill_default(sum, BT_CPU, adder->way.default_cpu, BT_DEFAULT_MILLI_CPU, 1000000);
	fill_default(sum, BT_MEMORY, adder->way.default_memory, BT_DEFAULT_MEMORY_BYTES, 1000000000);
}

static void add_init_containers(struct adder *adder, struct request_sum *total, struct request_sum *one)
{
	const struct bt_pod_spec_object *spec = &adder->pod->spec;
	struct request_sum *sidecars = empty_sum(adder, SIDECARS), *init_max = empty_sum(adder, INIT_MAX);

	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		const struct bt_container_object *container = &spec->init_containers[i];
		bool sidecar = bt_str_is(container->restart_policy, "Always");

		container_sum(adder, container, !sidecar, one);
		if (sidecar) {
			request_add(total, one);
			request_add(sidecars, one);
			raise_to(init_max, sidecars);
		} else {
			request_add(one, sidecars);
			raise_to(init_max, one);
		}
	}
	raise_to(total, init_max);
}

static void add_containers(struct adder *adder, struct request_sum *total)
{
	const struct bt_pod_spec_object *spec = &adder->pod->spec;
	struct request_sum *one = empty_sum(adder, ONE);

	for (uint32_t i = 0; i < spec->container_n; i++) {
		/* The first one is written to total directly. */
		container_sum(adder, &spec->containers[i], false, i ? one : total);
		if (i) {
			request_add(total, one);
		}
	}
	if (spec->init_container_n) {
		add_init_containers(adder, total, one);
	}
}

/* A device's overhead for a node resource: for the pod, and for each container that names
 * the claim. */
static struct bt_quantity overhead_of(const struct bt_node_overhead_object *overhead, uint32_t container_n)
{
	struct bt_quantity sum = overhead->has_per_pod ? overhead->per_pod : (struct bt_quantity){0};

	for (uint32_t i = 0; overhead->has_per_container && i < container_n; i++) {
		sum = bt_quantity_add(sum, overhead->per_container);
	}
	return sum;
}

/* Adds what the pod's claims take of its node. Source: addDRANodeAllocatableClaimResources, v0.37.2;
 * AggregateContainerRequests, v0.36.3. */
static void add_node_claims(struct adder *adder, struct request_sum *total)
{
	const struct bt_pod_object *pod = adder->pod;
	struct request_sum *one = empty_sum(adder, ONE);

	for (uint32_t i = 0; adder->rules.node_claims && i < pod->node_claim_n; i++) {
		const struct bt_node_claim_object *claim = &pod->node_claims[i];

		if (adder->rules.claims_map_alone) {
			read_list(adder, one, &claim->resources);
			request_add(total, one);
			continue;
		}
		for (uint32_t j = 0; j < claim->mapping_n; j++) {
			read_list(adder, one, &(struct bt_resource_list){&claim->mapping[j], 1, true});
			request_add(total, one);
		}
		for (uint32_t j = 0; j < claim->overhead_n; j++) {
			struct bt_named_quantity item = {claim->overheads[j].name,
				overhead_of(&claim->overheads[j], claim->containers.n)};

			read_list(adder, one, &(struct bt_resource_list){&item, 1, true});
			request_add(total, one);
		}
	}
}

static void raise_to_part(struct adder *adder, struct request_sum *total, enum request_part part)
{
	struct request_sum *sum = empty_sum(adder, PART);

	adder->part = part;
	add_containers(adder, sum);
	if (part == ALLOCATED) {
		add_node_claims(adder, sum);
	}
	raise_to(total, sum);
}

static void raise_to_list(struct adder *adder, struct request_sum *total, const struct bt_resource_list *list)
{
	struct request_sum *sum = empty_sum(adder, PART);

	read_list(adder, sum, list);
	raise_to(total, sum);
}

/* The largest of the containers' requested, allocated and actuated amounts; the last two from the pod's own
 * status, if it has them. Source: AggregateContainerRequests, v0.37.2. */
static void add_states(struct adder *adder, struct request_sum *total)
{
	const struct bt_pod_object *pod = adder->pod;

	if (!adder->resize_infeasible) {
		adder->part = IN_SPEC;
		add_containers(adder, total);
		add_node_claims(adder, total);
	}
	if (adder->rules.pod_level_status && pod->allocated.set && pod->resources.requests.set) {
		raise_to_list(adder, total, &pod->allocated);
		raise_to_list(adder, total, &pod->resources.requests);
	} else {
		raise_to_part(adder, total, ALLOCATED);
		raise_to_part(adder, total, ACTUATED);
	}
}

bool bt_pod_level_name(struct bt_str name)
{
	return bt_str_is(name, "cpu") || bt_str_is(name, "memory") || bt_str_starts(name, "hugepages-");
}

static bool pod_level_set(const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->spec.resources.requests.n; i++) {
		if (bt_pod_level_name(pod->spec.resources.requests.items[i].name)) {
			return true;
		}
	}
	return false;
}

static void replace_by_pod_level(struct adder *adder, struct request_sum *total)
{
	const struct bt_pod_object *pod = adder->pod;
	struct request_sum *level = empty_sum(adder, LEVEL), *spec = empty_sum(adder, LEVEL_IN_SPEC);

	bool by_status = adder->way.use_status && adder->rules.pod_level_status && pod->resources.set;

	read_list(adder, level, &pod->spec.resources.requests);
	if (by_status) {
		effective(adder, level, &pod->spec.resources.requests, &pod->resources.requests,
			&pod->allocated);
	}
	if (by_status && !adder->rules.sums_by_state) {
		read_list(adder, spec, &pod->spec.resources.requests);
		/* A name that is in the spec but not in the effective requests becomes zero; a name that is
		 * not in the spec is ignored. */
		for (int cell = next(spec, 0); cell < spec->end; cell = next(spec, cell + 1)) {
			spec->quantities[cell] =
				has(level, cell) ? level->quantities[cell] : (struct bt_quantity){0};
		}
		level = spec;
	}
	for (int cell = next(level, 0); cell < level->end; cell = next(level, cell + 1)) {
		if (bt_pod_level_name(bt_resource_name(adder->dictionary, slot_of(adder, cell)))) {
			request_note(total, cell);
			total->quantities[cell] = level->quantities[cell];
		}
	}
}

static struct request_sum *pod_sum(struct adder *adder, struct way way, int which)
{
	struct request_sum *total = empty_sum(adder, which);

	adder->way = way;
	if (way.use_status && adder->rules.sums_by_state) {
		add_states(adder, total);
	} else {
		adder->part = way.use_status ? LARGEST : IN_SPEC;
		add_containers(adder, total);
		if (way.use_status) {
			add_node_claims(adder, total);
		}
	}
	if (!way.skip_pod_level && pod_level_set(adder->pod)) {
		replace_by_pod_level(adder, total);
	}
	if (adder->pod->spec.overhead.n) {
		struct request_sum *overhead = empty_sum(adder, OVERHEAD);

		read_list(adder, overhead, &adder->pod->spec.overhead);
		request_add(total, overhead);
	}
	return total;
}

/* Inserts an amount in the order of slots. Cells are usually in that order. */
static void request_put(struct bt_amount *items, uint32_t *n, struct bt_amount amount)
{
	uint32_t at = (*n)++;

	for (; at > 0 && items[at - 1].slot > amount.slot; at--) {
		items[at] = items[at - 1];
	}
	items[at] = amount;
}

static struct bt_amounts round_up(
	const struct adder *adder, struct bt_arena *arena, const struct request_sum *sum)
{
	uint32_t n = 0;
	struct bt_amount *items = bt_arena_alloc(arena, (size_t)sum->end * sizeof(*items), 8);

	for (int cell = next(sum, 0); cell < sum->end; cell = next(sum, cell + 1)) {
		uint32_t slot = slot_of(adder, cell);

		request_put(
			items, &n, (struct bt_amount){slot, bt_resource_amount(slot, sum->quantities[cell])});
	}
	return (struct bt_amounts){items, n};
}

/* The amounts in thousandths that cannot be derived from the rounded amounts. */
static struct bt_amounts odd_milli(
	const struct adder *adder, struct bt_arena *arena, const struct request_sum *sum)
{
	struct bt_amounts odd = {0};
	struct bt_amount *items = NULL;

	for (int cell = next(sum, BT_CPU + 1); cell < sum->end; cell = next(sum, cell + 1)) {
		uint32_t slot = slot_of(adder, cell);
		int64_t amount = bt_resource_amount(slot, sum->quantities[cell]);
		int64_t milli = bt_quantity_milli(sum->quantities[cell]);

		if (milli != bt_wrap_mul(amount, 1000)) {
			items = items ? items : bt_arena_alloc(arena, (size_t)sum->end * sizeof(*items), 8);
			request_put(items, &odd.n, (struct bt_amount){slot, milli});
		}
	}
	odd.items = items;
	return odd;
}

/* The amount of a cell; zero for a pod without containers. */
static struct bt_quantity amount_of(const struct request_sum *sum, int cell)
{
	return has(sum, cell) ? sum->quantities[cell] : (struct bt_quantity){0};
}

/* The reason of a pending resize; empty: none pending. Source: IsPodResizeInfeasible, IsPodResizeDeferred,
 * component-helpers, v1.37.2. */
static struct bt_str resize_pending(const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		if (bt_str_is(pod->conditions[i].type, "PodResizePending")) {
			return pod->conditions[i].reason;
		}
	}
	return (struct bt_str){.len = 0};
}

/* What is used, without what claims take. */
static const struct request_sum *own_sum(struct adder *adder, bool has_status)
{
	bool counts = adder->rules.node_claims;

	adder->rules.node_claims = false;
	const struct request_sum *own = pod_sum(adder, (struct way){.use_status = has_status}, OWN);
	adder->rules.node_claims = counts;
	return own;
}

/* The requests, except names without a slot or cell. */
static void compute(struct adder *adder, struct bt_arena *arena, struct bt_requests *out_requests)
{
	const struct bt_pod_object *pod = adder->pod;
	bool has_claims = adder->rules.node_claims && pod->node_claim_n;
	bool has_own_status = pod->resources.set || pod->container_status_n || pod->init_container_status_n ||
			      (adder->resize_infeasible && adder->rules.sums_by_state);
	bool has_status = has_own_status || has_claims;
	bool level = pod_level_set(pod);
	const struct request_sum *fit = pod_sum(adder, (struct way){0}, FIT), *used = fit, *counted,
				 *score = fit;

	if (has_status) {
		used = pod_sum(adder, (struct way){.use_status = true}, WITH_STATUS);
	}
	/* Without defaults the sums for scores equal the used ones. */
	counted = used;
	if (adder->lacking) {
		counted = score = pod_sum(adder,
			(struct way){
				.use_status = has_status,
				.default_cpu = !level || !has(used, BT_CPU),
				.default_memory = !level || !has(used, BT_MEMORY),
			},
			NONZERO);
	}
	if (level || (has_status && adder->lacking)) {
		score = pod_sum(adder,
			(struct way){.skip_pod_level = true, .default_cpu = true, .default_memory = true},
			CONTAINERS);
	}
	const struct request_sum *own = has_claims ? own_sum(adder, has_own_status) : used;
	const struct bt_amounts amounts = round_up(adder, arena, fit);
	const struct bt_amounts used_amounts = used == fit ? amounts : round_up(adder, arena, used);
	const struct bt_amounts used_milli = odd_milli(adder, arena, used);
	*out_requests = (struct bt_requests){
		.fit = amounts,
		.used = used_amounts,
		.used_milli = used_milli,
		.own = own == used ? used_amounts : round_up(adder, arena, own),
		.own_milli = own == used ? used_milli : odd_milli(adder, arena, own),
		.score = score == fit ? amounts : round_up(adder, arena, score),
		.nonzero_milli_cpu = bt_quantity_milli(amount_of(counted, BT_CPU)),
		.nonzero_memory = bt_quantity_value(amount_of(counted, BT_MEMORY)),
	};
}

/* Resources with fixed slots have cells from the start; others get them on first use. */
static void begin_narrow(struct adder *adder, struct narrow *narrow)
{
	adder->quantities = narrow->quantities;
	adder->present = narrow->present;
	adder->word_n = NARROW_WORD_N;
	adder->slots = narrow->slots;
	adder->cell_max = BT_REQUEST_MAX;
	adder->unknown = narrow->unknown;
	adder->unknown_n = 0;
	adder->too_many = adder->lacking = false;
	for (adder->cell_n = 0; adder->cell_n < BT_FIRST_SCALAR; adder->cell_n++) {
		adder->slots[adder->cell_n] = (uint32_t)adder->cell_n;
	}
}

/* ---- pods with more resources than struct narrow holds ---- */

struct names {
	struct bt_str *items;
	size_t n, cap;
};

static void list_names(
	const struct bt_dictionary *dictionary, const struct bt_resource_list *list, struct names *names)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_resource_look_up(dictionary, list->items[i].name) == BT_SLOT_NEW) {
			names->items =
				bt_mem_grow(names->items, names->n, &names->cap, sizeof(*names->items));
			names->items[names->n++] = list->items[i].name;
		}
	}
}

static void list_of_containers(const struct bt_dictionary *dictionary,
	const struct bt_container_object *containers, uint32_t n, struct names *names)
{
	for (uint32_t i = 0; i < n; i++) {
		list_names(dictionary, &containers[i].resources.requests, names);
	}
}

static void list_of_statuses(const struct bt_dictionary *dictionary,
	const struct bt_container_status_object *statuses, uint32_t n, struct names *names)
{
	for (uint32_t i = 0; i < n; i++) {
		list_names(dictionary, &statuses[i].resources.requests, names);
		list_names(dictionary, &statuses[i].allocated, names);
	}
}

static int compare_names(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

/* Assigns slots to names without one, while there is room. */
static void add_names(struct bt_dictionary *dictionary, const struct bt_pod_object *pod)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	struct names names = {0};

	list_names(dictionary, &spec->overhead, &names);
	list_names(dictionary, &spec->resources.requests, &names);
	list_names(dictionary, &pod->resources.requests, &names);
	list_names(dictionary, &pod->allocated, &names);
	list_of_containers(dictionary, spec->containers, spec->container_n, &names);
	list_of_containers(dictionary, spec->init_containers, spec->init_container_n, &names);
	list_of_statuses(dictionary, pod->container_statuses, pod->container_status_n, &names);
	list_of_statuses(dictionary, pod->init_container_statuses, pod->init_container_status_n, &names);
	if (names.n) {
		qsort(names.items, names.n, sizeof(*names.items), compare_names);
	}
	bool room = true;
	for (size_t i = 0; room && i < names.n; i++) {
		if (i == 0 || !bt_str_eq(names.items[i], names.items[i - 1])) {
			room = bt_resource_add_all(dictionary, &names.items[i], 1, BT_RESOURCE_POD_MAX);
		}
	}
	bt_mem_free(names.items);
}

/* With a cell for every slot, so that no resource with a slot is omitted. */
static void compute_wide(struct adder *adder, struct bt_arena *arena, struct bt_requests *out_requests)
{
	const size_t cell_n = (size_t)bt_resource_count(adder->dictionary),
		     word_n = (cell_n + WORD_BITS - 1) / WORD_BITS;
	struct bt_quantity *quantities = bt_mem_zalloc(SUM_N * cell_n, sizeof(*quantities));
	uint64_t *present = bt_mem_zalloc(SUM_N * word_n, sizeof(*present));

	adder->quantities = quantities;
	adder->present = present;
	adder->word_n = (int)word_n;
	adder->slots = NULL;
	adder->cell_max = (int)cell_n;
	adder->unknown = NULL;
	adder->unknown_n = 0;
	adder->too_many = adder->lacking = false;
	compute(adder, arena, out_requests);
	out_requests->too_many_names = true;
	out_requests->names_missing = adder->too_many;
	bt_mem_free(present);
	bt_mem_free(quantities);
}

struct bt_request_rules bt_request_rules_of(const struct bt_release *release, const bool *gates)
{
	return (struct bt_request_rules){
		.sums_by_state = bt_release_has(release, BT_RULE_RESIZE_SUMS_BY_STATE),
		.pod_level_status = gates[BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING],
		.resizes_wait = gates[BT_GATE_IN_PLACE_POD_VERTICAL_SCALING_SCHEDULER_PREEMPTION],
		.node_claims = gates[BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES],
		.claims_map_alone = bt_release_has(release, BT_RULE_DEVICES_MAP_ALONE),
	};
}

void bt_requests_compute(struct bt_dictionary *dictionary, const struct bt_request_rules *rules,
	struct bt_arena *arena, const struct bt_pod_object *pod, struct bt_requests *out_requests)
{
	const struct bt_str pending = resize_pending(pod);
	struct narrow narrow;
	struct adder adder;

	adder.dictionary = dictionary;
	adder.pod = pod;
	adder.rules = *rules;
	adder.resize_infeasible = bt_str_is(pending, "Infeasible");
	begin_narrow(&adder, &narrow);
	compute(&adder, arena, out_requests);
	if (BT_UNLIKELY(adder.too_many || adder.cell_n + (int)adder.unknown_n > BT_REQUEST_MAX)) {
		/* A pending pod is not scheduled, so its names get no slots. */
		if (pod->spec.node_name.len) {
			add_names(dictionary, pod);
		}
		compute_wide(&adder, arena, out_requests);
	} else if (BT_UNLIKELY(adder.unknown_n)) {
		if (bt_resource_add_all(dictionary, adder.unknown, adder.unknown_n, BT_RESOURCE_POD_MAX)) {
			begin_narrow(&adder, &narrow);
			compute(&adder, arena, out_requests);
		} else {
			out_requests->names_missing = true;
		}
	}
	out_requests->resize_waits =
		rules->resizes_wait && pod->spec.node_name.len && bt_str_is(pending, "Deferred");
}
