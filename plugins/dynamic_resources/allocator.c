/* SPDX-License-Identifier: Apache-2.0
 * Backtracking search: picks devices for each request of each claim, and undoes picks
 * that lead to no solution.
 */
#include "plugins/dynamic_resources/allocator.h"

#include "cache/device_view.h"
#include "engine/base/check.h"
#include "plugins/dynamic_resources/capacity.h"

/* AllocationResultsMaxSize, v1.36.3. */
#define RESULTS_MAX 32

/* The search recurses once for each device, request and claim. */
#define DEPTH_MAX 20000

/* ---- state of the search ---- */

struct pool_counter {
	uint32_t set, name;
	bt_nano available, consumed;
};

/* Counters of a pool; in some releases, of all pools with that name. */
struct bt_pool_counters {
	uint32_t pool;
	uint32_t driver; /* BT_NAME_NONE: any */
	struct pool_counter *items;
	uint32_t n;
	struct bt_pool_counters *next;
};

/* A device with its slice and pool. */
struct allocator_place {
	const struct bt_device_pool *pool;
	const struct bt_resource_slice *slice;
	const struct bt_device *device;
};

/* A request or subrequest. */
struct requested {
	const struct bt_device_subrequest *subrequest;
	const struct bt_device_class *class_;
	uint32_t name, parent; /* parent: BT_NAME_NONE for a request */
	int64_t device_n;
	struct allocator_place *all; /* mode All: its devices */
	/* Results of selectors by use index, shared by two alternatives while they are
	 * listed; NULL: not shared. */
	uint8_t *found;
	bool *constrained; /* by constraint: does it apply to this request? */
};

struct allocator_wanted {
	struct requested *requested; /* one, or one for each alternative */
	uint32_t requested_n;
	bool alternatives;
};

struct distinct {
	uint32_t request;
	const struct bt_attribute *attribute;
};

/* Values that all devices so far have for an attribute; one level for each device added. */
struct common {
	enum bt_attribute_type type; /* of the elements */
	int64_t *items;		     /* levels with room for item_cap items each */
	uint32_t item_n[RESULTS_MAX];
	uint32_t item_cap;
};

struct constraint {
	const struct bt_device_constraint *is;
	const struct bt_attribute *attribute; /* match: the first device's value */
	struct common *common;		      /* match, where attributes may be lists */
	struct distinct *seen;		      /* distinct: values so far */
	uint32_t seen_n;
	uint32_t device_n;
};

/* A picked device. */
struct picked {
	struct allocator_place at;
	const struct requested *requested;
	uint32_t claim;
	bool counted; /* it consumes counters, and no earlier share of the device does */
};

struct claim_state {
	struct allocator_wanted *wanted;
	struct constraint *constraints;
	uint32_t result_n; /* devices picked for it */
};

struct allocator_search {
	const struct bt_allocation_request *request;
	const struct bt_view *view;
	const struct bt_device_store *store;
	struct bt_arena *arena;
	const struct bt_device_pools *pools;
	struct claim_state *claims;
	struct picked *picked; /* in order, of all claims */
	uint32_t picked_n;
	struct bt_allocation *out;
	struct bt_buf *error;
	uint64_t step_n;
	uint32_t depth;
};

/* Outcome of a part of the search. */
enum allocator_found {
	NOTHING = 0,
	FOUND,
	TOO_MANY, /* every solution needs more devices than a claim may have */
	FAILED,
	TIMED_OUT
};

/* Position in the search: a device of a request of a claim. */
struct position {
	uint32_t claim, request, alternative;
	int64_t device;
	bool inside; /* of an alternative */
};

/* Where the scan for the next device starts. */
struct location {
	uint32_t pool, slice, device;
};

static struct bt_str allocator_text_of(const struct allocator_search *s, uint32_t name)
{
	return bt_intern_str(s->view->snapshot->dictionary->intern, name);
}

static bool has_rule(const struct allocator_search *s, enum bt_rule rule)
{
	return bt_release_has(s->store->features.release, rule);
}

/* Starts an error message with the claim's name. */
static void blame(const struct allocator_search *s, uint32_t claim)
{
	const struct bt_wanted_claim *wanted = &s->request->claims[claim];

	bt_buf_printf(s->error, "claim %.*s/%.*s", BT_STR_ARG(allocator_text_of(s, wanted->namespace_)),
		BT_STR_ARG(wanted->name));
}

static void blame_request(const struct allocator_search *s, uint32_t claim, uint32_t name)
{
	blame(s, claim);
	bt_buf_printf(s->error, ", request %.*s", BT_STR_ARG(allocator_text_of(s, name)));
}

/* ---- selectors ---- */

/* Upstream uses its experimental allocator when an alpha gate is on. */
static bool is_experimental(const struct allocator_search *s)
{
	const struct bt_device_features *features = &s->store->features;

	return features->lists_match || features->optional_operations || features->compatibility_groups ||
	       features->derived_attributes;
}

/* Upstream uses its stable allocator without consumable capacity, binding conditions and newer features. It
 * supports neither distinctAttribute nor bindsToNode nor shared devices. */
static bool is_stable(const struct allocator_search *s)
{
	const struct bt_device_features *features = &s->store->features;

	return !features->consumable_capacity && !features->binding_conditions &&
	       !features->fractional_ranges && !is_experimental(s);
}

static void add_place(const struct allocator_search *s, const struct allocator_place *at)
{
	bt_buf_printf(s->error, "%.*s/%.*s/%.*s", BT_STR_ARG(allocator_text_of(s, at->slice->driver)),
		BT_STR_ARG(allocator_text_of(s, at->slice->pool)),
		BT_STR_ARG(allocator_text_of(s, at->device->name)));
}

/* Appends a selector's error to a message that already names the claim or class. Source: EnhanceRuntimeError,
 * dynamic-resource-allocation/cel/errors.go, v1.37.2. */
static void blame_selector(const struct allocator_search *s, uint32_t ix, const struct allocator_place *at,
	bool compiling, struct bt_str why)
{
	bool named = !compiling && has_rule(s, BT_RULE_SELECTOR_ERRORS_NAME_DEVICES);

	bt_buf_printf(s->error, ": selector #%u", ix);
	if (named) {
		bt_buf_text(s->error, " on device ");
		add_place(s, at);
	}
	bt_buf_printf(s->error, ": CEL %s error: %.*s", compiling ? "compile" : "runtime", BT_STR_ARG(why));
	if (named && why.len && strstr(why.ptr, "no such key:")) {
		bt_buf_text(s->error,
			". consider using CEL optional chaining (.? followed by orValue()) or guarding the "
			"check with has() for optional fields");
	}
}

/* Do all expressions match the device? class_: the class with the selectors; NULL: they are the claim's. */
static enum allocator_found selectors_match(struct allocator_search *s, uint32_t claim,
	const struct bt_device_class *class_, const struct bt_device_selectors *selectors,
	const struct allocator_place *at)
{
	struct bt_buf why = {0};
	enum allocator_found found = FOUND;

	BT_REQUIRE_HOT(selectors->n == 0 || selectors->expressions);
	for (uint32_t i = 0; i < selectors->n && found == FOUND; i++) {
		if (!selectors->expressions[i]) { /* Of a class: requests were checked before. */
			bt_buf_printf(s->error, "class %.*s", BT_STR_ARG(allocator_text_of(s, class_->name)));
			bt_buf_printf(s->error,
				": selector #%u: CEL expression empty (unsupported selector type?)", i);
			found = FAILED;
			break;
		}
		enum bt_device_answer answer = s->store->calls->match(s->store->context,
			selectors->expressions[i], at->slice->driver, at->device, is_stable(s), &why);

		if (answer == BT_DEVICE_YES) {
			continue;
		}
		found = answer == BT_DEVICE_NO ? NOTHING : FAILED;
		if (found == FAILED) {
			if (class_) {
				bt_buf_printf(s->error, "class %.*s",
					BT_STR_ARG(allocator_text_of(s, class_->name)));
			} else {
				blame(s, claim);
			}
			blame_selector(s, i, at, answer == BT_DEVICE_BAD_EXPRESSION, bt_buf_view(&why));
		}
	}
	bt_buf_fini(&why);
	return found;
}

static enum allocator_found evaluate_selectors(struct allocator_search *s, uint32_t claim,
	const struct requested *requested, const struct allocator_place *at)
{
	const struct bt_device *device = at->device;

	BT_INVARIANT(requested->class_ && requested->subrequest);
	enum allocator_found found =
		selectors_match(s, claim, requested->class_, &requested->class_->selectors, at);
	if (found == FOUND) {
		found = selectors_match(s, claim, NULL, &requested->subrequest->selectors, at);
	}
	if (found == FOUND && at->slice->per_device &&
		!bt_device_reaches(s->view->snapshot, s->request->node_ix, device->node_name,
			device->all_nodes, device->has_selector ? &device->selector : NULL)) {
		return NOTHING;
	}
	return found;
}

/* Source: isSelectable, v1.36.3. */
static enum allocator_found selectable(struct allocator_search *s, uint32_t claim,
	const struct requested *requested, const struct allocator_place *at)
{
	const struct bt_device *device = at->device;
	uint8_t *known = requested->found ? &requested->found[device->use_ix] : NULL;

	if (!s->store->features.binding_conditions && device->binding_condition_n) {
		return NOTHING;
	}
	if (known && *known) {
		return *known == 1 + FOUND ? FOUND : NOTHING;
	}
	enum allocator_found found = evaluate_selectors(s, claim, requested, at);
	if (known && found != FAILED) {
		*known = (uint8_t)(1 + found);
	}
	return found;
}

/* ---- capacity ---- */

static bool shareable(const struct allocator_search *s, const struct bt_device *device)
{
	return s->store->features.consumable_capacity && device->allow_multiple;
}

static struct bt_capacity_rounding rounding(const struct allocator_search *s)
{
	return (struct bt_capacity_rounding){.as_step = !has_rule(s, BT_RULE_ROUNDED_CAPACITY_IS_BINARY),
		.fractional = s->store->features.fractional_ranges};
}

static struct bt_quantity taken(const struct allocator_search *s, const struct requested *requested,
	const struct bt_capacity *capacity)
{
	return bt_capacity_taken(requested->subrequest, capacity, rounding(s));
}

/* What claims of the cluster and of this search consume of a capacity. */
static bt_nano taken_before(
	const struct allocator_search *s, const struct bt_device *device, const struct bt_capacity *capacity)
{
	const struct bt_device_use *use = &s->store->uses[device->use_ix];
	bt_nano sum = 0;

	for (uint32_t i = 0; use->consumes && i < use->consumed_n; i++) {
		sum += use->consumed[i].name == capacity->name ? use->consumed[i].value : 0;
	}
	for (uint32_t i = 0; device->allow_multiple && i < s->picked_n; i++) {
		if (s->picked[i].at.device->use_ix == device->use_ix) {
			sum += taken(s, s->picked[i].requested, capacity).nano;
		}
	}
	return sum;
}

/* Does the device have enough of every capacity? all: ignore other consumers. Source:
 * CmpRequestOverCapacity, v1.36.3. */
static bool has_capacity(const struct allocator_search *s, const struct requested *requested,
	const struct bt_device *device, bool all)
{
	if (!s->store->features.consumable_capacity) {
		return true;
	}
	if (bt_capacity_unknown(requested->subrequest, device)) {
		return false;
	}
	for (uint32_t i = 0; i < device->capacity_n; i++) {
		const struct bt_capacity *capacity = &device->capacities[i];
		struct bt_quantity wanted = taken(s, requested, capacity);
		bt_nano before = all ? 0 : taken_before(s, device, capacity);

		if (bt_capacity_violated(requested->subrequest, capacity, wanted, rounding(s)) ||
			before + wanted.nano > capacity->value.nano) {
			return false;
		}
	}
	return true;
}

/* Does upstream fail on the amount that the request takes of some capacity? Source:
 * CmpRequestOverCapacity, v1.37.2. */
static bool capacity_fails(struct allocator_search *s, uint32_t claim, const struct requested *requested,
	const struct allocator_place *at, bool listing)
{
	const struct bt_device *device = at->device;
	struct bt_buf why = {0};
	bool fails = false;

	if (!s->store->features.consumable_capacity || has_rule(s, BT_RULE_ODD_CAPACITY_COUNTS) ||
		bt_capacity_unknown(requested->subrequest, device)) {
		return false;
	}
	for (uint32_t i = 0; i < device->capacity_n && !fails; i++) {
		const struct bt_capacity *capacity = &device->capacities[i];

		fails = bt_capacity_fails(requested->subrequest, capacity, rounding(s), &why);
		if (fails) {
			blame_request(s, claim, requested->name);
			bt_buf_text(s->error, ": checking capacity for device ");
			if (listing) {
				bt_buf_printf(
					s->error, "%.*s", BT_STR_ARG(allocator_text_of(s, device->name)));
			} else {
				add_place(s, at);
			}
			bt_buf_printf(s->error, ": capacity \"%.*s\": %.*s",
				BT_STR_ARG(allocator_text_of(s, capacity->name)),
				BT_STR_ARG(bt_buf_view(&why)));
		}
	}
	bt_buf_fini(&why);
	return fails;
}

/* Does the device have a share already? */
static bool shared_already(const struct allocator_search *s, const struct bt_device *device)
{
	const struct bt_device_use *use = &s->store->uses[device->use_ix];
	bool shared = use->consumes ||
		      (use->share_n && !has_rule(s, BT_RULE_SHARES_WITHOUT_CAPACITY_ARE_FORGOTTEN));

	for (uint32_t i = 0; i < s->picked_n && !shared; i++) {
		shared = s->picked[i].at.device->use_ix == device->use_ix;
	}
	return shared;
}

/* ---- devices in use ---- */

static bool in_use(const struct allocator_search *s, const struct bt_device *device)
{
	const struct bt_device_use *use = &s->store->uses[device->use_ix];

	return use->allocated || use->pending_n || s->store->marks[device->use_ix];
}

static bool picked_for(const struct allocator_search *s, const struct bt_device *device, uint32_t claim)
{
	if (!s->store->marks[device->use_ix]) {
		return false;
	}
	for (uint32_t i = 0; i < s->picked_n; i++) {
		if (s->picked[i].claim == claim && s->picked[i].at.device->use_ix == device->use_ix) {
			return true;
		}
	}
	return false;
}

/* Is the device in use? Requests with admin access only check picks for their own claim. */
static bool occupied(const struct allocator_search *s, const struct requested *requested,
	const struct bt_device *device, uint32_t claim)
{
	return requested->subrequest->admin ? picked_for(s, device, claim) : in_use(s, device);
}

/* ---- counters ---- */

static bool takes_counters(const struct allocator_search *s, const struct bt_device_use *use)
{
	if (has_rule(s, BT_RULE_SHARES_TAKE_NO_COUNTERS)) {
		return use->allocated || use->pending_n;
	}
	return use->allocated || use->pending_n || use->share_n || use->consumes;
}

static struct pool_counter *counter_of(struct bt_pool_counters *counters, const struct bt_counter *counter)
{
	for (uint32_t i = 0; i < counters->n; i++) {
		if (counters->items[i].set == counter->set && counters->items[i].name == counter->name) {
			return &counters->items[i];
		}
	}
	return NULL;
}

/* Subtracts what allocated devices of the slices consume. */
static void take_allocated(
	struct allocator_search *s, struct bt_pool_counters *counters, const uint32_t *slices, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_resource_slice *slice = &s->store->slices[slices[i]];

		for (uint32_t j = 0; j < slice->device_n; j++) {
			const struct bt_device *device = &slice->devices[j];

			if (!takes_counters(s, &s->store->uses[device->use_ix])) {
				continue;
			}
			for (uint32_t k = 0; k < device->counter_n; k++) {
				struct pool_counter *counter = counter_of(counters, &device->counters[k]);

				if (counter) {
					counter->available -= device->counters[k].value;
				}
			}
		}
	}
}

static struct bt_pool_counters *counters_of(struct allocator_search *s, const struct bt_device_pool *pool)
{
	struct bt_pool_counters **bucket = &s->request->cycle->counters[pool->pool % 64];
	uint32_t driver = has_rule(s, BT_RULE_POOLS_OF_ONE_NAME_SHARE_COUNTERS) ? BT_NAME_NONE : pool->driver;

	for (struct bt_pool_counters *at = *bucket; at; at = at->next) {
		if (at->pool == pool->pool && at->driver == driver) {
			return at;
		}
	}
	struct bt_pool_counters *counters = bt_arena_zalloc(s->arena, sizeof(*counters));
	*counters = (struct bt_pool_counters){.pool = pool->pool,
		.driver = driver,
		.items = bt_arena_zalloc(s->arena, pool->counter_n * sizeof(*counters->items)),
		.n = pool->counter_n,
		.next = *bucket};
	for (uint32_t i = 0; i < pool->counter_n; i++) {
		counters->items[i] = (struct pool_counter){.set = pool->counters[i].set,
			.name = pool->counters[i].name,
			.available = pool->counters[i].value};
	}
	take_allocated(s, counters, pool->slices, pool->slice_n);
	take_allocated(s, counters, pool->others, pool->other_n);
	BT_INVARIANT(counters->n == 0 || counters->items);
	*bucket = counters;
	return counters;
}

/* Resets what a previous search of the cycle has consumed. */
static void reset_counters(const struct bt_allocation_cycle *cycle)
{
	for (size_t i = 0; i < sizeof(cycle->counters) / sizeof(cycle->counters[0]); i++) {
		for (struct bt_pool_counters *at = cycle->counters[i]; at; at = at->next) {
			for (uint32_t k = 0; k < at->n; k++) {
				at->items[k].consumed = 0;
			}
		}
	}
}

static void consume(struct bt_pool_counters *counters, const struct bt_device *device, int sign)
{
	for (uint32_t i = 0; i < device->counter_n; i++) {
		struct pool_counter *counter = counter_of(counters, &device->counters[i]);

		if (counter) {
			counter->consumed += sign * device->counters[i].value;
		}
	}
}

/* Consumes the device's counters. Returns false, and consumes nothing, when one would be overdrawn. */
static bool take_counters(struct allocator_search *s, const struct allocator_place *at)
{
	struct bt_pool_counters *counters = counters_of(s, at->pool);

	consume(counters, at->device, 1);
	for (uint32_t i = 0; i < counters->n; i++) {
		if (counters->items[i].available < counters->items[i].consumed) {
			consume(counters, at->device, -1);
			return false;
		}
	}
	return true;
}

/* ---- compatibility groups ---- */

/* The device's compatibility groups for a counter set, or NULL. */
static const struct bt_counter_groups *groups_of(const struct bt_device *device, uint32_t set)
{
	for (uint32_t i = 0; i < device->group_n; i++) {
		if (device->groups[i].set == set) {
			return &device->groups[i];
		}
	}
	return NULL;
}

/* The intersection of the groups of a counter set's devices, limited to the groups that a device needs: one
 * bit for each of the first 64. Source: compatibilityGroupIntersection,
 * structured/internal/experimental/compatibility_groups.go, v1.37.2. */
struct shared_groups {
	const struct bt_counter_groups *wanted;
	uint64_t common; /* of wanted */
	bool any, bare;
};

static void intersect(struct shared_groups *shared_groups, const struct bt_device *device)
{
	const struct bt_counter_groups *groups = groups_of(device, shared_groups->wanted->set);
	uint64_t has = 0;

	if (!groups) {
		return;
	}
	if (!shared_groups->any) {
		shared_groups->any = true;
		shared_groups->bare = groups->n == 0;
	} else if (shared_groups->bare || groups->n == 0) {
		return;
	}
	for (uint32_t i = 0; i < groups->n; i++) {
		for (uint32_t j = 0; j < shared_groups->wanted->n; j++) {
			has |= groups->names[i] == shared_groups->wanted->names[j] ? 1ull << (j % 64) : 0;
		}
	}
	shared_groups->common &= has;
}

static void intersect_allocated(const struct allocator_search *s, struct shared_groups *shared_groups,
	const uint32_t *slices, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_resource_slice *slice = &s->store->slices[slices[i]];

		for (uint32_t j = 0; j < slice->device_n; j++) {
			if (takes_counters(s, &s->store->uses[slice->devices[j].use_ix])) {
				intersect(shared_groups, &slice->devices[j]);
			}
		}
	}
}

/* Is the device compatible with the other devices, allocated or picked, that consume its counter sets? */
static bool groups_fit(const struct allocator_search *s, const struct allocator_place *at)
{
	bool fits = true;

	for (uint32_t i = 0; s->store->features.compatibility_groups && i < at->device->group_n && fits;
		i++) {
		struct shared_groups shared_groups = {.wanted = &at->device->groups[i], .common = UINT64_MAX};

		intersect_allocated(s, &shared_groups, at->pool->slices, at->pool->slice_n);
		intersect_allocated(s, &shared_groups, at->pool->others, at->pool->other_n);
		for (uint32_t j = 0; j < s->picked_n; j++) {
			if (s->picked[j].counted && s->picked[j].at.pool == at->pool) {
				intersect(&shared_groups, s->picked[j].at.device);
			}
		}
		fits = !shared_groups.any ||
		       (shared_groups.wanted->n == 0 ? shared_groups.bare
						     : !shared_groups.bare && shared_groups.common != 0);
	}
	return fits;
}

/* ---- taints and constraints ---- */

static bool taint_repels(const struct allocator_search *s, const struct bt_taint *taint,
	const struct bt_device_subrequest *subrequest)
{
	const struct bt_intern *intern = s->view->snapshot->dictionary->intern;
	bool tolerated = taint->effect != BT_NAME_NO_SCHEDULE && taint->effect != BT_NAME_NO_EXECUTE;

	for (uint32_t i = 0; i < subrequest->toleration_n && !tolerated; i++) {
		tolerated = bt_tolerates(intern, &subrequest->tolerations[i], taint, false);
	}
	return !tolerated;
}

/* Source: taintPreventsAllocation, v1.36.3. Upstream's tracker adds the taints of
 * DeviceTaintRules to slices. */
static bool repels(const struct allocator_search *s, const struct allocator_place *at,
	const struct bt_device_subrequest *subrequest)
{
	const struct bt_device_store *store = s->store;
	const struct bt_device *device = at->device;
	const struct bt_taint *of_rule = NULL;
	uint32_t cursor = BT_NO_TAINT_RULE;
	bool repelled = false;

	for (uint32_t i = 0; store->features.taints && i < device->taint_n && !repelled; i++) {
		repelled = taint_repels(s, &device->taints[i], subrequest);
	}
	while (store->features.taint_rules && !repelled &&
		(of_rule = store->calls->next_taint(store->context, at->slice, device, &cursor))) {
		repelled = taint_repels(s, of_rule, subrequest);
	}
	return repelled;
}

/* Compares plain values. Lists count as no value unless features.lists_match. */
static bool equal(const struct bt_attribute *a, const struct bt_attribute *b)
{
	bool text = a->type == BT_ATTRIBUTE_STRING || a->type == BT_ATTRIBUTE_VERSION;

	return a->type == b->type && (text ? a->text == b->text : a->number == b->number);
}

static bool is_plain(const struct bt_attribute *attribute)
{
	return attribute->type != BT_ATTRIBUTE_NONE && attribute->type < BT_ATTRIBUTE_INTS;
}

/* The items of a list, or the single value; none for a value of unknown type. */
static uint32_t values_of(const struct bt_attribute *attribute, int64_t *one, const int64_t **out_values)
{
	if (attribute->type >= BT_ATTRIBUTE_INTS) {
		*out_values = attribute->items;
		return attribute->n;
	}
	*one = attribute->type == BT_ATTRIBUTE_STRING || attribute->type == BT_ATTRIBUTE_VERSION
		       ? (int64_t)attribute->text
		       : attribute->number;
	*out_values = one;
	return attribute->type != BT_ATTRIBUTE_NONE;
}

static bool is_among(const int64_t *values, uint32_t n, int64_t value)
{
	for (uint32_t i = 0; i < n; i++) {
		if (values[i] == value) {
			return true;
		}
	}
	return false;
}

static bool has_values(const struct bt_attribute *attribute)
{
	const int64_t *values;
	int64_t one;

	return values_of(attribute, &one, &values) > 0;
}

static bool overlap(const struct bt_attribute *a, const struct bt_attribute *b)
{
	const int64_t *of_a, *of_b;
	int64_t one_a, one_b;
	uint32_t a_n = values_of(a, &one_a, &of_a), b_n = values_of(b, &one_b, &of_b);

	for (uint32_t i = 0; i < a_n && bt_attribute_element(a->type) == bt_attribute_element(b->type); i++) {
		if (is_among(of_b, b_n, of_a[i])) {
			return true;
		}
	}
	return false;
}

/* Starts with the values of the first device. */
static void begin_common(
	const struct allocator_search *s, struct common *common, const struct bt_attribute *attribute)
{
	const int64_t *values;
	int64_t one;
	uint32_t n = values_of(attribute, &one, &values);

	if (n > common->item_cap) {
		common->items = bt_arena_alloc(s->arena, (size_t)n * RESULTS_MAX * sizeof(*values), 8);
		common->item_cap = n;
	}
	memcpy(common->items, values, n * sizeof(*values));
	common->type = bt_attribute_element(attribute->type);
	common->item_n[0] = n;
}

/* Adds a level with the values that the attribute has, too. Returns whether any are left. */
static bool narrow_common(struct common *common, const struct bt_attribute *attribute, uint32_t device_n)
{
	const int64_t *values, *before = common->items + (size_t)(device_n - 1) * common->item_cap;
	int64_t one, *after = common->items + (size_t)device_n * common->item_cap;
	uint32_t value_n = values_of(attribute, &one, &values), n = 0;

	BT_INVARIANT(device_n > 0 && device_n < RESULTS_MAX);
	if (common->type != bt_attribute_element(attribute->type)) {
		return false;
	}
	for (uint32_t i = 0; i < common->item_n[device_n - 1]; i++) {
		if (is_among(values, value_n, before[i])) {
			after[n++] = before[i];
		}
	}
	common->item_n[device_n] = n;
	return n > 0;
}

static bool add_match(
	const struct allocator_search *s, struct constraint *constraint, const struct bt_attribute *attribute)
{
	if (s->store->features.lists_match) {
		if (!has_values(attribute)) {
			return false;
		}
		if (constraint->device_n == 0) {
			begin_common(s, constraint->common, attribute);
		} else if (!narrow_common(constraint->common, attribute, constraint->device_n)) {
			return false;
		}
	} else if (constraint->device_n == 0) {
		constraint->attribute = attribute;
	} else if (!is_plain(attribute) || !equal(attribute, constraint->attribute)) {
		return false;
	}
	constraint->device_n++;
	return true;
}

/* Does the attribute have no value in common with an earlier device? */
static bool differ(
	const struct allocator_search *s, const struct bt_attribute *attribute, const struct distinct *seen)
{
	return s->store->features.lists_match ? !overlap(attribute, seen->attribute)
					      : is_plain(attribute) && !equal(attribute, seen->attribute);
}

/* Some releases remember only the last device of each request. */
static bool add_distinct(const struct allocator_search *s, struct constraint *constraint, uint32_t request,
	const struct bt_attribute *attribute)
{
	bool alone = has_rule(s, BT_RULE_DISTINCT_REMEMBERS_A_DEVICE_A_REQUEST);
	uint32_t at = constraint->seen_n;

	if (s->store->features.lists_match && !has_values(attribute)) {
		return false;
	}
	for (uint32_t i = 0; i < constraint->seen_n; i++) {
		if (constraint->device_n && !differ(s, attribute, &constraint->seen[i])) {
			return false;
		}
		at = alone && constraint->seen[i].request == request ? i : at;
	}
	BT_INVARIANT(at <= constraint->seen_n);
	constraint->seen[at] = (struct distinct){request, attribute};
	constraint->seen_n += at == constraint->seen_n;
	constraint->device_n++;
	return true;
}

static uint32_t base_name(const struct requested *requested)
{
	return requested->parent ? requested->parent : requested->name;
}

/* The request's expression for a derived attribute; BT_NAME_NONE: it has none. */
static uint32_t expression_of(const struct requested *requested, uint32_t attribute)
{
	for (uint32_t i = requested->subrequest->derived_n; i-- > 0;) {
		if (requested->subrequest->derived[i].name == attribute) {
			return requested->subrequest->derived[i].expression;
		}
	}
	return BT_NAME_NONE;
}

/* Source: lookupAttribute, structured/internal/experimental, v1.37.2. */
static bool derive(struct allocator_search *s, uint32_t expression, uint32_t attribute,
	const struct allocator_place *at, const struct bt_attribute **out)
{
	struct bt_buf why = {0};
	enum bt_device_answer answer = s->store->calls->derive(
		s->store->context, expression, at->slice->driver, at->device, out, &why);

	if (answer != BT_DEVICE_YES) {
		bool compiling = answer == BT_DEVICE_BAD_EXPRESSION;

		bt_buf_printf(s->error, "%s derived attribute %.*s", compiling ? "compile" : "evaluate",
			BT_STR_ARG(allocator_text_of(s, attribute)));
		if (!compiling) {
			bt_buf_text(s->error, " on device ");
			add_place(s, at);
		}
		bt_buf_printf(s->error, " failed: %.*s", BT_STR_ARG(bt_buf_view(&why)));
	}
	bt_buf_fini(&why);
	return answer == BT_DEVICE_YES;
}

static enum allocator_found add_constraint(struct allocator_search *s, struct claim_state *claim,
	const struct requested *requested, uint32_t i, const struct allocator_place *at)
{
	struct constraint *constraint = &claim->constraints[i];
	const struct bt_attribute *attribute;

	if (!requested->constrained[i]) {
		return FOUND;
	}
	uint32_t expression = s->store->features.derived_attributes
				      ? expression_of(requested, constraint->is->attribute)
				      : BT_NAME_NONE;
	if (!expression) {
		attribute = bt_device_attribute(at->device, at->slice->driver, constraint->is);
	} else if (!derive(s, expression, constraint->is->attribute, at, &attribute)) {
		return FAILED;
	}
	bool added =
		attribute && (constraint->is->kind == BT_CONSTRAINT_MATCH
					     ? add_match(s, constraint, attribute)
					     : add_distinct(s, constraint, base_name(requested), attribute));
	return added ? FOUND : NOTHING;
}

static void remove_constraints(struct claim_state *claim, const struct requested *requested, uint32_t n)
{
	for (uint32_t i = n; i-- > 0;) {
		struct constraint *constraint = &claim->constraints[i];

		if (!requested->constrained[i]) {
			continue;
		}
		BT_INVARIANT(constraint->device_n > 0);
		constraint->device_n--;
		for (uint32_t j = constraint->seen_n; j-- > 0;) {
			if (constraint->seen[j].request == base_name(requested)) {
				constraint->seen[j] = constraint->seen[--constraint->seen_n];
				break;
			}
		}
	}
}

/* ---- picking a device ---- */

/* What put_back has to undo for a device. */
struct undo {
	bool counters, marked;
};

static void put_back(struct allocator_search *s, uint32_t claim, const struct requested *requested,
	const struct allocator_place *at, struct undo undo)
{
	BT_INVARIANT(s->picked_n > 0 && s->claims[claim].result_n > 0);
	struct claim_state *state = &s->claims[claim];

	s->picked_n--;
	BT_INVARIANT(s->picked[s->picked_n].at.device == at->device && s->picked[s->picked_n].claim == claim);
	state->result_n--;
	if (undo.marked) {
		BT_INVARIANT(s->store->marks[at->device->use_ix] > 0);
		s->store->marks[at->device->use_ix]--;
	}
	remove_constraints(state, requested, s->request->claims[claim].constraint_n);
	if (undo.counters &&
		!(has_rule(s, BT_RULE_REFUSED_DEVICES_KEEP_COUNTERS) && shareable(s, at->device))) {
		consume(counters_of(s, at->pool), at->device, -1);
	}
}

/* A constraint fails. With mode All, which needs every device, that is an error. */
static enum allocator_found unconstrained(struct allocator_search *s, uint32_t claim,
	const struct requested *requested, const struct allocator_place *at, bool must)
{
	if (!must) {
		return NOTHING;
	}
	blame_request(s, claim, requested->name);
	bt_buf_text(s->error, ": cannot add device ");
	add_place(s, at);
	bt_buf_text(s->error, " because a claim constraint would not be satisfied");
	return FAILED;
}

/* Does the device skip a node operation that the node requires? Only upstream's
 * experimental allocator checks this. */
static bool lacks_operations(const struct allocator_search *s, const struct allocator_place *at)
{
	const struct bt_node *node = &s->view->snapshot->nodes[s->request->node_ix];

	return at->slice->skipped_n && is_experimental(s) &&
	       !(s->store->features.optional_operations &&
		       node->features & BT_FEATURE_DRA_OPTIONAL_NODE_OPERATIONS);
}

/* Picks a selectable device unless a check fails. must: mode All needs this device. Source:
 * allocateDevice, v1.36.3. */
static enum allocator_found pick(struct allocator_search *s, uint32_t claim,
	const struct requested *requested, const struct allocator_place *at, bool must, struct undo *out_undo)
{
	const struct bt_device *device = at->device;
	struct claim_state *state = &s->claims[claim];
	bool shares = shareable(s, device);
	struct undo undo = {.marked = !shares};

	if ((requested->subrequest->admin && !shares && picked_for(s, device, claim)) ||
		(!requested->subrequest->admin && in_use(s, device)) ||
		(device->consumes && !s->store->features.partitionable) || lacks_operations(s, at)) {
		return NOTHING;
	}
	if (device->consumes && !(shares && shared_already(s, device))) {
		if (!groups_fit(s, at) || !take_counters(s, at)) {
			return NOTHING;
		}
		undo.counters = true;
	}
	enum allocator_found found = repels(s, at, requested->subrequest) ? NOTHING : FOUND;
	uint32_t added = 0;
	for (; found == FOUND && added < s->request->claims[claim].constraint_n; added++) {
		found = add_constraint(s, state, requested, added, at);
		if (found != FOUND) {
			found = found == FAILED ? FAILED : unconstrained(s, claim, requested, at, must);
			break;
		}
	}
	if (found == FOUND && !has_capacity(s, requested, device, false)) {
		found = NOTHING;
	}
	if (found != FOUND) {
		remove_constraints(state, requested, added);
		if (undo.counters && !has_rule(s, BT_RULE_REFUSED_DEVICES_KEEP_COUNTERS)) {
			consume(counters_of(s, at->pool), device, -1);
		}
		return found;
	}
	if (undo.marked) {
		s->store->marks[device->use_ix]++;
	}
	BT_INVARIANT(s->picked_n < s->request->claim_n * RESULTS_MAX && state->result_n < RESULTS_MAX);
	s->picked[s->picked_n++] = (struct picked){*at, requested, claim, undo.counters};
	state->result_n++;
	*out_undo = undo;
	return FOUND;
}

/* ---- the result ---- */

/* Sets the node selector for n devices of one claim. Source: createNodeSelector, v1.36.3. */
static bool reach(
	struct allocator_search *s, const struct picked *first, uint32_t n, struct bt_allocation *out)
{
	struct bt_node_term *term = bt_arena_zalloc(s->arena, sizeof(*term));
	uint32_t label_n = 0, field_n = 0;
	bool local = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct allocator_place *at = &first[i].at;
		const struct bt_node_selector *selector =
			at->slice->per_device ? &at->device->selector : &at->slice->selector;

		local |= at->slice->per_device ? at->device->has_node_name : at->slice->has_node_name;
		local |= at->device->binds_to_node && !is_stable(s);
		if (!local && selector->term_n > 1) {
			bt_buf_printf(s->error, "unsupported ResourceSlice.NodeSelector with %u terms",
				selector->term_n);
			return false;
		}
		if (selector->term_n) {
			label_n += selector->terms[0].labels.n;
			field_n += selector->terms[0].field_n;
			term->invalid |= selector->terms[0].invalid;
		}
	}
	if (!local && label_n + field_n == 0) {
		return true;
	}
	struct bt_requirement *labels = bt_arena_zalloc(s->arena, label_n * sizeof(*labels));
	struct bt_field_requirement *fields = bt_arena_zalloc(s->arena, (field_n + 1) * sizeof(*fields));
	label_n = field_n = 0;
	for (uint32_t i = 0; !local && i < n; i++) {
		const struct allocator_place *at = &first[i].at;
		const struct bt_node_selector *selector =
			at->slice->per_device ? &at->device->selector : &at->slice->selector;

		if (selector->term_n == 0) {
			continue;
		}
		for (uint32_t j = 0; j < selector->terms[0].labels.n; j++) {
			labels[label_n++] = selector->terms[0].labels.items[j];
		}
		for (uint32_t j = 0; j < selector->terms[0].field_n; j++) {
			fields[field_n++] = selector->terms[0].fields[j];
		}
	}
	if (local) {
		fields[field_n++] = (struct bt_field_requirement){
			s->view->snapshot->nodes[s->request->node_ix].name, true, false};
		term->invalid = false;
	}
	term->labels = (struct bt_selector){labels, label_n, false};
	term->fields = fields;
	term->field_n = field_n;
	out->has_selector = true;
	out->selector = (struct bt_node_selector){term, 1};
	BT_INVARIANT(!local || field_n > 0);
	return true;
}

static struct bt_device_result result_of(struct allocator_search *s, const struct picked *picked)
{
	const struct bt_device *device = picked->at.device;
	struct bt_device_result result = {
		.request = picked->requested->parent ? picked->requested->subrequest->path
						     : picked->requested->name,
		.driver = picked->at.slice->driver,
		.pool = picked->at.slice->pool,
		.device = device->name,
		.admin = picked->requested->subrequest->admin,
	};

	if (shareable(s, device)) {
		struct bt_consumed *consumed =
			bt_arena_zalloc(s->arena, device->capacity_n * sizeof(*consumed));

		for (uint32_t i = 0; i < device->capacity_n; i++) {
			consumed[i] = (struct bt_consumed){device->capacities[i].name,
				taken(s, picked->requested, &device->capacities[i]).nano};
		}
		result.share = BT_NAME_EMPTY;
		result.consumed = consumed;
		result.consumed_n = device->capacity_n;
	}
	if (s->store->features.binding_conditions) {
		result.binding_conditions = device->binding_conditions;
		result.binding_condition_n = device->binding_condition_n;
		result.failure_conditions = device->failure_conditions;
		result.failure_condition_n = device->failure_condition_n;
	}
	if (is_experimental(s)) {
		result.skipped = picked->at.slice->skipped;
		result.skipped_n = picked->at.slice->skipped_n;
	}
	return result;
}

/* All claims have their devices: copies the results before the search unwinds. */
static enum allocator_found write_down(struct allocator_search *s)
{
	const struct picked *at = s->picked;

	for (uint32_t c = 0; c < s->request->claim_n; c++) {
		uint32_t n = s->claims[c].result_n;
		struct bt_device_result *results = bt_arena_zalloc(s->arena, n * sizeof(*results));
		struct bt_buf why = {0}, *error = s->error;

		for (uint32_t i = 0; i < n; i++) {
			results[i] = result_of(s, &at[i]);
		}
		s->out[c] = (struct bt_allocation){.results = results, .result_n = n};
		s->error = &why;
		bool reached = reach(s, at, n, &s->out[c]);
		s->error = error;
		if (!reached) {
			bt_buf_printf(s->error, "create NodeSelector for claim %.*s: %.*s",
				BT_STR_ARG(s->request->claims[c].name), BT_STR_ARG(bt_buf_view(&why)));
			bt_buf_fini(&why);
			return FAILED;
		}
		bt_buf_fini(&why);
		at += n;
	}
	BT_INVARIANT(at == s->picked + s->picked_n);
	return FOUND;
}

/* ---- the search ---- */

static enum allocator_found search_from(struct allocator_search *s, struct position at, struct location from);

static const struct requested *requested_at(const struct allocator_search *s, const struct position *at)
{
	return &s->claims[at->claim].wanted[at->request].requested[at->alternative];
}

static enum allocator_found next_claim(struct allocator_search *s, uint32_t claim)
{
	enum allocator_found found =
		search_from(s, (struct position){.claim = claim + 1}, (struct location){0});

	BT_INVARIANT(claim < s->request->claim_n);
	/* The next claim may fit with other devices for this one. */
	return found == TOO_MANY ? NOTHING : found;
}

static enum allocator_found search_alternatives(struct allocator_search *s, struct position at)
{
	const struct allocator_wanted *wanted = &s->claims[at.claim].wanted[at.request];
	bool all_too_many = true;

	at.inside = true;
	for (at.alternative = 0; at.alternative < wanted->requested_n; at.alternative++) {
		enum allocator_found found = search_from(s, at, (struct location){0});

		if (found != TOO_MANY && found != NOTHING) {
			return found;
		}
		all_too_many &= found == TOO_MANY;
	}
	return all_too_many ? TOO_MANY : NOTHING;
}

/* Continues with the next device of the request. */
static enum allocator_found go_on(struct allocator_search *s, struct position at,
	const struct allocator_place *place, struct undo undo, struct location next)
{
	const struct requested *requested = requested_at(s, &at);

	at.device++;
	if (requested->subrequest->mode == BT_ALLOCATE_ALL &&
		has_rule(s, BT_RULE_ALL_RESTARTS_ALTERNATIVES)) {
		at.alternative = 0;
	}
	enum allocator_found found = search_from(s, at, next);
	put_back(s, at.claim, requested, place, undo);
	return found;
}

static enum allocator_found take_all(struct allocator_search *s, struct position at)
{
	const struct requested *requested = requested_at(s, &at);
	const struct allocator_place *place = &requested->all[at.device];
	struct undo undo;
	enum allocator_found found = pick(s, at.claim, requested, place, true, &undo);

	BT_INVARIANT(at.device < requested->device_n && requested->all);
	return found == FOUND ? go_on(s, at, place, undo, (struct location){0}) : found;
}

/* Tries one device. out_go_on: the search continues with the next one. */
static enum allocator_found try_device(struct allocator_search *s, struct position at,
	const struct allocator_place *place, struct location next, bool *out_go_on)
{
	const struct requested *requested = requested_at(s, &at);
	struct undo undo;

	*out_go_on = false;
	s->step_n++;
	enum allocator_found found = occupied(s, requested, place->device, at.claim)
					     ? NOTHING
					     : selectable(s, at.claim, requested, place);
	if (found == FOUND && capacity_fails(s, at.claim, requested, place, false)) {
		found = FAILED;
	}
	if (found == FOUND && !has_capacity(s, requested, place->device, false)) {
		found = NOTHING;
	}
	if (found == FOUND) {
		found = pick(s, at.claim, requested, place, false, &undo);
	}
	if (found == FOUND) {
		found = go_on(s, at, place, undo, next);
	}
	*out_go_on = found == NOTHING;
	return found;
}

/* Scans for a device from a location on. The devices of one request come in ascending order, so that no
 * combination is tried twice. */
static enum allocator_found search_device(
	struct allocator_search *s, struct position at, struct location from)
{
	for (uint32_t p = from.pool; p < s->pools->n; p++) {
		const struct bt_device_pool *pool = &s->pools->items[p];

		if (pool->incomplete || pool->invalid) {
			continue;
		}
		for (uint32_t i = p == from.pool ? from.slice : 0; i < pool->slice_n; i++) {
			const struct bt_resource_slice *slice = &s->store->slices[pool->slices[i]];
			uint32_t j = p == from.pool && i == from.slice ? from.device : 0;

			for (; j < slice->device_n; j++) {
				const struct allocator_place place = {pool, slice, &slice->devices[j]};
				bool again = has_rule(s, BT_RULE_REQUEST_REPEATS_DEVICES) &&
					     shareable(s, place.device);
				bool go_on;
				enum allocator_found found = try_device(
					s, at, &place, (struct location){p, i, again ? j : j + 1}, &go_on);

				if (!go_on) {
					return found;
				}
			}
		}
	}
	return NOTHING;
}

static enum allocator_found search_request(
	struct allocator_search *s, struct position at, struct location from)
{
	const struct allocator_wanted *wanted = &s->claims[at.claim].wanted[at.request];

	BT_INVARIANT(at.request < s->request->claims[at.claim].request_n);
	if (wanted->alternatives && !at.inside) {
		return search_alternatives(s, at);
	}
	const struct requested *requested = requested_at(s, &at);
	bool all = requested->subrequest->mode == BT_ALLOCATE_ALL;

	if (all && requested->device_n == 0) {
		return NOTHING;
	}
	if (at.device >= requested->device_n) {
		return search_from(s, (struct position){.claim = at.claim, .request = at.request + 1},
			(struct location){0});
	}
	if (s->claims[at.claim].result_n + requested->device_n - at.device > RESULTS_MAX) {
		return TOO_MANY;
	}
	return all ? take_all(s, at) : search_device(s, at, from);
}

/* Source: allocateOne, v1.36.3. */
static enum allocator_found search_from(struct allocator_search *s, struct position at, struct location from)
{
	enum allocator_found found;

	s->step_n++;
	if (s->request->step_limit && s->step_n > s->request->step_limit) {
		return TIMED_OUT;
	}
	if (at.claim >= s->request->claim_n) {
		return write_down(s);
	}
	if (s->depth == DEPTH_MAX) {
		bt_buf_text(
			s->error, "the pod's claims request more devices than berth searches for at once");
		return FAILED;
	}
	s->depth++;
	if (at.request >= s->request->claims[at.claim].request_n) {
		found = next_claim(s, at.claim);
	} else {
		found = search_request(s, at, from);
	}
	s->depth--;
	BT_INVARIANT(s->picked_n <= s->request->claim_n * RESULTS_MAX);
	return found;
}

/* ---- requests ---- */

/* Adds the devices of the pool that a request of mode All must get. */
static enum allocator_found add_all(struct allocator_search *s, uint32_t claim, struct requested *requested,
	const struct bt_device_pool *pool)
{
	bool full = !has_rule(s, BT_RULE_ALL_LEAVES_OUT_WHAT_IS_FULL);

	for (uint32_t i = 0; i < pool->slice_n; i++) {
		const struct bt_resource_slice *slice = &s->store->slices[pool->slices[i]];

		for (uint32_t j = 0; j < slice->device_n; j++) {
			const struct allocator_place place = {pool, slice, &slice->devices[j]};
			enum allocator_found found = selectable(s, claim, requested, &place);

			if (found == FAILED ||
				(found == FOUND && capacity_fails(s, claim, requested, &place, true))) {
				return FAILED;
			}
			if (found == FOUND && has_capacity(s, requested, place.device, full)) {
				requested->all[requested->device_n++] = place;
			}
		}
	}
	return FOUND;
}

static enum allocator_found list_all(struct allocator_search *s, uint32_t claim, struct requested *requested)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->pools->n; i++) {
		const struct bt_device_pool *pool = &s->pools->items[i];

		for (uint32_t j = 0; j < pool->slice_n; j++) {
			n += s->store->slices[pool->slices[j]].device_n;
		}
	}
	BT_INVARIANT(requested->device_n == 0);
	requested->all = bt_arena_alloc(s->arena, n * sizeof(*requested->all), 8);
	for (uint32_t i = 0; i < s->pools->n; i++) {
		const struct bt_device_pool *pool = &s->pools->items[i];

		if (pool->incomplete || pool->invalid) {
			blame_request(s, claim, requested->name);
			bt_buf_printf(s->error,
				": asks for all devices, but resource pool %.*s/%.*s is currently %s",
				BT_STR_ARG(allocator_text_of(s, pool->driver)),
				BT_STR_ARG(allocator_text_of(s, pool->pool)),
				pool->incomplete ? "being updated" : "invalid");
			return FAILED;
		}
		if (add_all(s, claim, requested, pool) == FAILED) {
			return FAILED;
		}
	}
	BT_INVARIANT((size_t)requested->device_n <= n);
	return FOUND;
}

/* Source: validateDeviceRequest, v1.36.3. */
static enum allocator_found check_requested(
	struct allocator_search *s, uint32_t claim, struct requested *requested)
{
	const struct bt_device_subrequest *subrequest = requested->subrequest;

	if (subrequest->derived_n && !s->store->features.derived_attributes &&
		has_rule(s, BT_RULE_DERIVED_ATTRIBUTES_FAIL)) {
		blame_request(s, claim, requested->name);
		bt_buf_text(
			s->error, ": cannot handle request with derived attributes, the feature is disabled");
		return FAILED;
	}
	for (uint32_t i = 0; i < subrequest->selectors.n; i++) {
		if (!subrequest->selectors.expressions[i]) {
			blame_request(s, claim, requested->name);
			bt_buf_printf(s->error,
				", selector #%u: CEL expression empty (unsupported selector type?)", i);
			return FAILED;
		}
	}
	if (!s->store->features.admin_access && subrequest->has_admin && !requested->parent) {
		blame_request(s, claim, requested->name);
		bt_buf_text(s->error, ": admin access is requested, but the feature is disabled");
		return FAILED;
	}
	requested->class_ = bt_device_store_class(s->store, subrequest->class_);
	if (!requested->class_) {
		blame_request(s, claim, requested->name);
		if (subrequest->class_ == BT_NAME_EMPTY) {
			bt_buf_text(s->error, ": missing device class name (unsupported request type?)");
		} else {
			struct bt_str name = allocator_text_of(s, subrequest->class_);

			bt_buf_printf(s->error,
				": could not retrieve device class %.*s: "
				"deviceclass.resource.k8s.io \"%.*s\" not found",
				BT_STR_ARG(name), BT_STR_ARG(name));
		}
		return FAILED;
	}
	switch (subrequest->mode) {
	case BT_ALLOCATE_EXACT_COUNT:
		requested->device_n = subrequest->count;
		return FOUND;
	case BT_ALLOCATE_ALL:
		return list_all(s, claim, requested);
	case BT_ALLOCATE_OTHER:
		break;
	}
	blame_request(s, claim, requested->name);
	bt_buf_printf(s->error, ": unsupported count mode %.*s",
		BT_STR_ARG(allocator_text_of(s, subrequest->mode_text)));
	return FAILED;
}

static bool capacity_disabled(
	struct allocator_search *s, uint32_t claim, const struct bt_device_request *request)
{
	const char *what = NULL;
	uint32_t name = request->name;

	if (request->has_exactly && request->exactly.has_capacity) {
		what = "request";
	}
	for (uint32_t i = 0; i < request->alternative_n && !what; i++) {
		if (request->alternatives[i].has_capacity) {
			what = "subrequest";
			name = request->alternatives[i].name;
		}
	}
	if (what) {
		blame(s, claim);
		bt_buf_printf(s->error,
			", %s %.*s: has capacity requests, but the DRAConsumableCapacity feature is disabled",
			what, BT_STR_ARG(allocator_text_of(s, name)));
	}
	return what != NULL;
}

/* Does the constraint apply to this request? One without names applies to all. */
static bool names(const struct allocator_search *s, const struct bt_device_constraint *constraint,
	const struct requested *requested)
{
	struct bt_str name = allocator_text_of(s, requested->name),
		      parent = allocator_text_of(s, base_name(requested));

	for (uint32_t i = 0; i < constraint->request_n; i++) {
		struct bt_str at = allocator_text_of(s, constraint->requests[i]);

		if (bt_str_eq(at, parent)) {
			return true;
		}
		if (requested->parent && at.len == parent.len + 1 + name.len && at.ptr[parent.len] == '/' &&
			bt_str_eq(bt_str_sub(at, 0, parent.len), parent) &&
			bt_str_eq(bt_str_sub(at, parent.len + 1, at.len), name)) {
			return true;
		}
	}
	return constraint->request_n == 0;
}

static enum allocator_found add_requested(
	struct allocator_search *s, uint32_t claim, struct requested *requested)
{
	const struct bt_wanted_claim *wanted = &s->request->claims[claim];

	requested->constrained = bt_arena_zalloc(s->arena, wanted->constraint_n);
	for (uint32_t i = 0; i < wanted->constraint_n; i++) {
		requested->constrained[i] = names(s, &wanted->constraints[i], requested);
	}
	return check_requested(s, claim, requested);
}

/* Where the first two alternatives have mode All, upstream lists the devices of both by
 * the results for the first.
 * Source: Allocate, v1.35.4. */
static uint8_t *share_found(const struct allocator_search *s, const struct bt_device_request *request)
{
	return has_rule(s, BT_RULE_ALL_RESTARTS_ALTERNATIVES) && request->alternative_n > 1 &&
			       request->alternatives[0].mode == BT_ALLOCATE_ALL &&
			       request->alternatives[1].mode == BT_ALLOCATE_ALL
		       ? bt_arena_zalloc(s->arena, s->store->use_n)
		       : NULL;
}

/* Prepares a request. out_least: how many devices it needs at least. */
static enum allocator_found add_request(
	struct allocator_search *s, uint32_t claim, uint32_t ix, int64_t *out_least)
{
	const struct bt_device_request *request = &s->request->claims[claim].requests[ix];
	struct allocator_wanted *wanted = &s->claims[claim].wanted[ix];

	wanted->alternatives = request->alternative_n > 0;
	wanted->requested_n = wanted->alternatives ? request->alternative_n : 1;
	wanted->requested = bt_arena_zalloc(s->arena, wanted->requested_n * sizeof(*wanted->requested));
	if (!s->store->features.prioritized_list && wanted->alternatives) {
		blame_request(s, claim, request->name);
		bt_buf_text(s->error, ": has subrequests, but the DRAPrioritizedList feature is disabled");
		return FAILED;
	}
	if (!s->store->features.consumable_capacity && !is_stable(s) &&
		capacity_disabled(s, claim, request)) {
		return FAILED;
	}
	*out_least = INT64_MAX;
	uint8_t *found = share_found(s, request);
	for (uint32_t i = 0; i < wanted->requested_n; i++) {
		struct requested *requested = &wanted->requested[i];

		*requested =
			wanted->alternatives
				? (struct requested){.subrequest = &request->alternatives[i],
					  .name = request->alternatives[i].name,
					  .parent = request->name}
				: (struct requested){.subrequest = &request->exactly, .name = request->name};
		requested->found = i < 2 ? found : NULL;
		if (add_requested(s, claim, requested) == FAILED) {
			return FAILED;
		}
		requested->found = NULL; /* The search itself evaluates selectors again. */
		*out_least = requested->device_n < *out_least ? requested->device_n : *out_least;
	}
	return FOUND;
}

static bool is_known(const struct allocator_search *s, const struct bt_device_constraint *constraint)
{
	return constraint->kind == BT_CONSTRAINT_MATCH ||
	       (constraint->kind == BT_CONSTRAINT_DISTINCT && !is_stable(s));
}

static enum allocator_found add_constraints(struct allocator_search *s, uint32_t claim)
{
	const struct bt_wanted_claim *wanted = &s->request->claims[claim];
	struct constraint *constraints =
		bt_arena_zalloc(s->arena, wanted->constraint_n * sizeof(*constraints));

	for (uint32_t i = 0; i < wanted->constraint_n; i++) {
		if (!is_known(s, &wanted->constraints[i])) {
			blame(s, claim);
			bt_buf_printf(s->error,
				", constraint #%u: empty constraint (unsupported constraint type?)", i);
			return FAILED;
		}
		constraints[i].is = &wanted->constraints[i];
		constraints[i].common = s->store->features.lists_match
						? bt_arena_zalloc(s->arena, sizeof(*constraints[i].common))
						: NULL;
		constraints[i].seen = bt_arena_zalloc(
			s->arena, (wanted->request_n + RESULTS_MAX) * sizeof(*constraints[i].seen));
	}
	s->claims[claim].constraints = constraints;
	return FOUND;
}

static enum allocator_found add_claim(struct allocator_search *s, uint32_t claim)
{
	const struct bt_wanted_claim *wanted = &s->request->claims[claim];
	int64_t least = 0;

	s->claims[claim].wanted =
		bt_arena_zalloc(s->arena, wanted->request_n * sizeof(*s->claims[claim].wanted));
	for (uint32_t i = 0; i < wanted->request_n; i++) {
		int64_t one;

		if (add_request(s, claim, i, &one) == FAILED) {
			return FAILED;
		}
		if (one > RESULTS_MAX - least && has_rule(s, BT_RULE_REQUESTS_ARE_COUNTED_ONE_BY_ONE)) {
			blame_request(s, claim, wanted->requests[i].name);
			bt_buf_printf(s->error,
				": adding %lld devices exceeds the claim limit of %d, with %lld already "
				"accounted for",
				(long long)one, RESULTS_MAX, (long long)least);
			return FAILED;
		}
		least = __builtin_add_overflow(least, one, &least) ? INT64_MAX : least;
	}
	if (least > RESULTS_MAX) {
		blame(s, claim);
		bt_buf_printf(s->error, ": number of requested devices %lld exceeds the claim limit of %d",
			(long long)least, RESULTS_MAX);
		return FAILED;
	}
	return add_constraints(s, claim);
}

static bool any_invalid(const struct bt_device_pools *pools)
{
	for (uint32_t i = 0; i < pools->n; i++) {
		if (pools->items[i].invalid) {
			return true;
		}
	}
	return false;
}

enum bt_allocation_outcome bt_allocate(const struct bt_allocation_request *request,
	struct bt_allocation *out_allocations, struct bt_buf *out_error)
{
	const struct bt_device_store *store = request->view->devices;
	struct allocator_search s = {
		.request = request,
		.view = request->view,
		.store = store,
		.arena = store->scratch,
		.pools = store->calls->pools(store->context, request->node_ix),
		.claims = bt_arena_zalloc(store->scratch, request->claim_n * sizeof(*s.claims)),
		.picked = bt_arena_alloc(
			store->scratch, (size_t)request->claim_n * RESULTS_MAX * sizeof(*s.picked), 8),
		.out = out_allocations,
		.error = out_error,
	};
	BT_REQUIRE_HOT(request->node_ix < request->view->snapshot->slot_n && request->cycle);
	if (has_rule(&s, BT_RULE_REFUSED_DEVICES_KEEP_COUNTERS)) {
		reset_counters(request->cycle);
	}
	for (uint32_t i = 0; i < request->claim_n; i++) {
		if (add_claim(&s, i) == FAILED) {
			return BT_ALLOCATION_FAILED;
		}
	}
	switch (search_from(&s, (struct position){0}, (struct location){0})) {
	case FOUND:
		return BT_ALLOCATED;
	case NOTHING:
		return any_invalid(s.pools) ? BT_POOLS_INVALID : BT_NOT_ALLOCATED;
	case TOO_MANY:
		bt_buf_text(out_error, "allocation max size exceeded");
		return BT_ALLOCATION_FAILED;
	case TIMED_OUT:
		return BT_ALLOCATION_TIMED_OUT;
	case FAILED:
		break;
	}
	return BT_ALLOCATION_FAILED;
}
