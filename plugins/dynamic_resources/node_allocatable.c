/* SPDX-License-Identifier: Apache-2.0
 * Devices that serve as resources of their node, or take of them.
 */
#include "plugins/dynamic_resources/node_allocatable.h"

#include "cache/device_view.h"
#include "cache/node_view.h"
#include "engine/base/check.h"
#include "plugins/dynamic_resources/dynamic_resources.h"

#define NANO_PER_UNIT 1000000000

/* The computation for one node. */
struct claim_mapper {
	const struct bt_view *view;
	const struct bt_signature *signature;
	uint32_t node_ix; /* BT_NO_NODE: wherever the devices are */
	bool alone;	  /* BT_RULE_DEVICES_MAP_ALONE */
	struct bt_mapping *out;
};

static bool maps_alone(const struct bt_view *view)
{
	return bt_release_has(view->devices->features.release, BT_RULE_DEVICES_MAP_ALONE);
}

/* Can the node be reached, by the words of a slice or a device? */
static bool reaches(const struct bt_view *view, uint32_t node_ix, bool has_name, uint32_t name, bool all,
	const struct bt_node_selector *selector)
{
	const struct bt_node *node = &view->snapshot->nodes[node_ix];

	return (has_name && name == node->name) || all ||
	       (selector && bt_node_selector_matches(
				    view->snapshot->dictionary->intern, selector, node->labels, node->name));
}

/* Source: filterSlicesForNode, v1.37.2. */
static bool slice_counts(const struct claim_mapper *m, const struct bt_resource_slice *slice)
{
	if (m->alone || m->node_ix == BT_NO_NODE) {
		return true;
	}
	return reaches(m->view, m->node_ix, slice->has_node_name, slice->node_name, slice->all_nodes,
		       slice->has_selector ? &slice->selector : NULL) ||
	       (!slice->has_selector && slice->per_device);
}

static const struct bt_device *in_slice(const struct bt_resource_slice *slice, uint32_t name)
{
	for (uint32_t i = 0; i < slice->device_n; i++) {
		if (slice->devices[i].name == name) {
			return &slice->devices[i];
		}
	}
	return NULL;
}

/* The slices to search: indices, or NULL for all. 1.36 compares the pool's name, not its driver. */
static const uint32_t *slices_of(
	const struct claim_mapper *m, const struct bt_device_result *result, uint32_t *out_n)
{
	const struct bt_device_store *store = m->view->devices;

	if (m->alone) {
		*out_n = store->slice_n;
		return NULL;
	}
	return store->calls->slices_of(store->context, result->driver, result->pool, out_n);
}

/* The device of an allocation. out_elsewhere: it exists, but the node cannot use it; returns NULL.
 * Source: getDeviceFromSlices, v1.37.2; getDeviceFromManager, v1.36.3. */
static const struct bt_device *find_device(
	const struct claim_mapper *m, const struct bt_device_result *result, bool *out_elsewhere)
{
	const struct bt_device_store *store = m->view->devices;
	uint32_t n;
	const uint32_t *slices = slices_of(m, result, &n);

	*out_elsewhere = false;
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_resource_slice *slice = &store->slices[slices ? slices[i] : i];

		if (!slice->live || slice->pool != result->pool || !slice_counts(m, slice)) {
			continue;
		}
		const struct bt_device *device = in_slice(slice, result->device);
		if (!device) {
			continue;
		}
		*out_elsewhere = !m->alone && m->node_ix != BT_NO_NODE && slice->per_device &&
				 !reaches(m->view, m->node_ix, device->has_node_name, device->node_name,
					 device->all_nodes, device->has_selector ? &device->selector : NULL);
		return *out_elsewhere ? NULL : device;
	}
	return NULL;
}

static const struct bt_node_resource *resources_of(
	const struct claim_mapper *m, const struct bt_device *device, uint32_t *out_n)
{
	*out_n = m->alone ? device->node_mapping_n : device->node_resource_n;
	return m->alone ? device->node_mappings : device->node_resources;
}

/* Has some device of the claim to do with the node's resources? */
static bool concerns(const struct claim_mapper *m, const struct bt_allocation *allocation)
{
	bool elsewhere;
	uint32_t n = 0;

	for (uint32_t i = 0; allocation && i < allocation->result_n && n == 0; i++) {
		const struct bt_device *device = find_device(m, &allocation->results[i], &elsewhere);

		if (device) {
			resources_of(m, device, &n);
		}
	}
	return n > 0;
}

static struct bt_str text_of(const struct claim_mapper *m, uint32_t name)
{
	return bt_view_str(m->view, name);
}

static struct bt_str claim_text(const struct claim_mapper *m, const struct bt_mapped_claim *claim)
{
	return claim->name ? text_of(m, claim->name) : bt_str(BT_EXTENDED_CLAIM);
}

/* ---- the resources of one claim ---- */

/* The resources so far; has room for every entry of its devices. */
struct mapped {
	struct bt_exact *mapping;
	struct bt_node_overhead *overheads;
	uint32_t mapping_n, overhead_n;
};

static void mapped_add(struct mapped *mapped, uint32_t slot, struct bt_quantity quantity)
{
	for (uint32_t i = 0; i < mapped->mapping_n; i++) {
		if (mapped->mapping[i].slot == slot) {
			mapped->mapping[i].quantity = bt_quantity_add(mapped->mapping[i].quantity, quantity);
			return;
		}
	}
	mapped->mapping[mapped->mapping_n++] = (struct bt_exact){slot, quantity};
}

static void overhead_add(struct mapped *mapped, uint32_t slot, const struct bt_node_resource *resource)
{
	uint32_t i = 0;

	if (!resource->has_per_pod && !resource->has_per_container) {
		return;
	}
	while (i < mapped->overhead_n && mapped->overheads[i].slot != slot) {
		i++;
	}
	if (i == mapped->overhead_n) {
		mapped->overheads[mapped->overhead_n++] = (struct bt_node_overhead){.slot = slot};
	}
	struct bt_node_overhead *at = &mapped->overheads[i];
	at->has_per_pod |= resource->has_per_pod;
	at->has_per_container |= resource->has_per_container;
	at->per_pod = bt_quantity_add(at->per_pod, resource->per_pod);
	at->per_container = bt_quantity_add(at->per_container, resource->per_container);
}

static const struct bt_consumed *consumed_of(const struct bt_device_result *result, uint32_t capacity)
{
	for (uint32_t i = 0; i < result->consumed_n; i++) {
		if (result->consumed[i].name == capacity) {
			return &result->consumed[i];
		}
	}
	return NULL;
}

/* Billionths are rounded up: what is finer cannot be held. */
static struct bt_quantity multiply(bt_nano value, const struct bt_quantity *by)
{
	struct bt_quantity product = {.nano = value, .format = BT_BINARY_SI};

	if (by) {
		product.nano = (value * by->nano + NANO_PER_UNIT - 1) / NANO_PER_UNIT;
	}
	return product;
}

/* What an allocation of the device serves as of a resource. Source: addDeviceMapping, v1.37.2;
 * buildNodeAllocatableDRAInfo, v1.36.3. */
static bool map_device(struct claim_mapper *m, const struct bt_mapped_claim *claim,
	const struct bt_device_result *result, const struct bt_node_resource *resource, uint32_t slot,
	struct mapped *mapped)
{
	bool has_multiplier = m->alone ? resource->has_device_multiplier : resource->has_capacity_multiplier;
	const struct bt_quantity *by =
		m->alone ? &resource->device_multiplier : &resource->capacity_multiplier;

	if (!resource->capacity) {
		if (resource->has_device_multiplier || m->alone) {
			mapped_add(mapped, slot, resource->device_multiplier);
		}
		return true;
	}
	if (result->consumed_n == 0) {
		struct bt_str space = text_of(m, m->signature->namespace_), name = claim_text(m, claim);
		struct bt_str device = text_of(m, result->device), key = text_of(m, resource->capacity);
		struct bt_str of = text_of(m, resource->name);

		m->out->text = bt_keep_text(m->view,
			"claim %.*s/%.*s, device %.*s: ConsumedCapacity is nil, but Capacity key '%.*s' is "
			"set in "
			"%s for resource %.*s",
			BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(device), BT_STR_ARG(key),
			m->alone ? "NodeAllocatableResourceMappings" : "NodeAllocatableResources",
			BT_STR_ARG(of));
		return false;
	}
	const struct bt_consumed *consumed = consumed_of(result, resource->capacity);
	if (consumed) {
		mapped_add(mapped, slot, multiply(consumed->value, has_multiplier ? by : NULL));
	}
	return true;
}

static bool add_device(struct claim_mapper *m, const struct bt_mapped_claim *claim,
	const struct bt_device_result *result, const struct bt_device *device, struct mapped *mapped)
{
	uint32_t n;
	const struct bt_node_resource *resources = resources_of(m, device, &n);

	for (uint32_t i = 0; i < n; i++) {
		int slot = bt_resource_look_up(m->view->snapshot->dictionary, text_of(m, resources[i].name));

		if (slot < 0) {
			continue;
		}
		if ((resources[i].maps || m->alone) &&
			!map_device(m, claim, result, &resources[i], (uint32_t)slot, mapped)) {
			return false;
		}
		overhead_add(mapped, (uint32_t)slot, &resources[i]);
	}
	return true;
}

static void report_lost(struct claim_mapper *m, const struct bt_mapped_claim *claim,
	const struct bt_device_result *result, bool elsewhere)
{
	struct bt_str space = text_of(m, m->signature->namespace_), name = claim_text(m, claim);
	struct bt_str device = text_of(m, result->device), driver = text_of(m, result->driver);
	struct bt_str pool = text_of(m, result->pool);

	if (m->alone) {
		m->out->text = bt_keep_text(m->view,
			"claim %.*s/%.*s, device %.*s: device %.*s not found in pool %.*s", BT_STR_ARG(space),
			BT_STR_ARG(name), BT_STR_ARG(device), BT_STR_ARG(device), BT_STR_ARG(pool));
	} else if (elsewhere) {
		m->out->text = bt_keep_text(m->view,
			"claim %.*s/%.*s, device %.*s, driver %.*s: device %.*s does not match node",
			BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(device), BT_STR_ARG(driver),
			BT_STR_ARG(device));
	} else {
		m->out->text = bt_keep_text(m->view,
			"claim %.*s/%.*s, device %.*s, driver %.*s: device %.*s not found in pool %.*s for "
			"driver "
			"%.*s",
			BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(device), BT_STR_ARG(driver),
			BT_STR_ARG(device), BT_STR_ARG(pool), BT_STR_ARG(driver));
	}
}

static uint32_t entries_of(const struct claim_mapper *m, const struct bt_allocation *allocation)
{
	uint32_t sum = 0, n;
	bool elsewhere;

	for (uint32_t i = 0; i < allocation->result_n; i++) {
		const struct bt_device *device = find_device(m, &allocation->results[i], &elsewhere);

		if (device) {
			resources_of(m, device, &n);
			sum += n;
		}
	}
	return sum;
}

/* The containers that name the claim, once for each time that they do. */
static void name_containers(
	const struct claim_mapper *m, const struct bt_mapped_claim *claim, struct bt_node_claim *out)
{
	const struct bt_signature *signature = m->signature;
	uint32_t ref_n = signature->sums->ref_n;
	uint32_t *containers = bt_arena_alloc(m->view->devices->scratch, ref_n * sizeof(*containers) + 1, 8);

	for (uint32_t i = 0; claim->name && i < ref_n; i++) {
		const struct bt_container_claim *ref = &signature->sums->refs[i];

		/* Of two claims of one name in the spec the last one counts. */
		for (uint32_t j = signature->claim_n; j-- > 0;) {
			if (signature->claims[j].name == ref->claim) {
				if (signature->claims[j].claim == claim->name) {
					containers[out->container_n++] = ref->container;
				}
				break;
			}
		}
	}
	out->containers = containers;
}

/* Returns: false when the cycle fails. out: claim BT_NAME_NONE: no resources. */
static bool map_claim(struct claim_mapper *m, const struct bt_mapped_claim *claim, struct bt_node_claim *out)
{
	struct bt_arena *scratch = m->view->devices->scratch;
	uint32_t room = entries_of(m, claim->allocation);
	struct mapped mapped = {
		.mapping = bt_arena_zalloc(scratch, (room + 1) * sizeof(*mapped.mapping)),
		.overheads = bt_arena_zalloc(scratch, (room + 1) * sizeof(*mapped.overheads)),
	};

	*out = (struct bt_node_claim){.claim = BT_NAME_NONE};
	for (uint32_t i = 0; i < claim->allocation->result_n; i++) {
		const struct bt_device_result *result = &claim->allocation->results[i];
		bool elsewhere;
		const struct bt_device *device = find_device(m, result, &elsewhere);

		if (!device) {
			report_lost(m, claim, result, elsewhere);
			return false;
		}
		if (!add_device(m, claim, result, device, &mapped)) {
			return false;
		}
	}
	BT_INVARIANT(mapped.mapping_n <= room && mapped.overhead_n <= room);
	if (mapped.mapping_n + mapped.overhead_n == 0) {
		return true;
	}
	out->claim = claim->name
			     ? claim->name
			     : bt_texts_keep(m->view->snapshot->dictionary->texts, bt_str(BT_EXTENDED_CLAIM));
	out->mapping = (struct bt_exacts){mapped.mapping, mapped.mapping_n};
	out->overheads = mapped.overheads;
	out->overhead_n = mapped.overhead_n;
	name_containers(m, claim, out);
	return true;
}

static void insert_claim(const struct claim_mapper *m, struct bt_node_claim *claims, uint32_t n,
	const struct bt_node_claim *claim)
{
	uint32_t at = n;

	for (; at > 0 && bt_str_cmp(text_of(m, claims[at - 1].claim), text_of(m, claim->claim)) > 0; at--) {
		claims[at] = claims[at - 1];
	}
	claims[at] = *claim;
}

/* ---- do the pod-level requests cover the claims? ---- */

/* Source: validatePodLevelResourcesCoverDRA, v1.37.2; validatePodLevelRequestsCoverDRA, v1.36.3. */
static bool requests_cover(const struct claim_mapper *m, const struct bt_claims_demand *demand)
{
	struct bt_exacts level = m->signature->sums->level;

	for (uint32_t i = 0; i < level.n; i++) {
		const struct bt_quantity *sum = bt_exacts_get(demand->containers, level.items[i].slot);

		if (sum && bt_quantity_cmp(*sum, level.items[i].quantity) > 0) {
			struct bt_str name =
				bt_resource_name(m->view->snapshot->dictionary, level.items[i].slot);

			m->out->text = bt_keep_text(m->view,
				"pod level request for %.*s is insufficient to cover the aggregated "
				"container "
				"and node-allocatable DRA requests",
				BT_STR_ARG(name));
			return false;
		}
	}
	return true;
}

static bool huge_limits_cover(const struct claim_mapper *m, const struct bt_claims_demand *demand)
{
	struct bt_exacts level = m->signature->sums->level_limits;

	for (uint32_t i = 0; i < level.n; i++) {
		struct bt_str name = bt_resource_name(m->view->snapshot->dictionary, level.items[i].slot);
		const struct bt_quantity *sum = bt_exacts_get(demand->limits, level.items[i].slot);

		if (sum && bt_str_starts(name, "hugepages-") &&
			bt_quantity_cmp(*sum, level.items[i].quantity) > 0) {
			m->out->text = bt_keep_text(m->view,
				"pod level limit for %.*s is insufficient to cover the aggregated container "
				"and "
				"node-allocatable DRA limits",
				BT_STR_ARG(name));
			return false;
		}
	}
	return true;
}

static bool container_limits_cover(
	const struct claim_mapper *m, const struct bt_node_claim *claims, uint32_t claim_n, uint32_t which)
{
	const struct bt_container_limits *limited = &m->signature->sums->limited[which];
	struct bt_exacts level = m->signature->sums->level_limits;

	for (uint32_t i = 0; i < limited->limits.n; i++) {
		const struct bt_exact *limit = &limited->limits.items[i];
		struct bt_str name = bt_resource_name(m->view->snapshot->dictionary, limit->slot);
		const struct bt_quantity *most = bt_exacts_get(level, limit->slot);

		if (!most || bt_str_starts(name, "hugepages-")) {
			continue;
		}
		struct bt_quantity sum = bt_quantity_add(limit->quantity,
			bt_claims_of_container(claims, claim_n, limited->container, limit->slot));
		if (bt_quantity_cmp(sum, *most) > 0) {
			struct bt_str container = text_of(m, limited->container);

			m->out->text = bt_keep_text(m->view,
				"pod level limit for %.*s is insufficient to cover the limit and DRA "
				"overhead for "
				"container %.*s",
				BT_STR_ARG(name), BT_STR_ARG(container));
			return false;
		}
	}
	return true;
}

static bool covered(const struct claim_mapper *m, const struct bt_claims_demand *demand,
	const struct bt_node_claim *claims, uint32_t claim_n)
{
	if (!m->alone && claim_n == 0) {
		return true;
	}
	if (!requests_cover(m, demand)) {
		return false;
	}
	if (m->alone) {
		return true;
	}
	bool covers = huge_limits_cover(m, demand);
	for (uint32_t i = 0; covers && i < m->signature->sums->limited_n; i++) {
		covers = container_limits_cover(m, claims, claim_n, i);
	}
	return covers;
}

/* In 1.36 some container has to name a claim that maps. */
static bool named_by_containers(
	const struct claim_mapper *m, const struct bt_node_claim *claims, uint32_t claim_n)
{
	for (uint32_t i = 0; m->alone && i < claim_n; i++) {
		if (claims[i].container_n == 0) {
			m->out->text = bt_keep_text(m->view,
				"claim %.*s: node-allocatable resource claim not referenced by any container "
				"within the pod",
				BT_STR_ARG(text_of(m, claims[i].claim)));
			return false;
		}
	}
	return true;
}

enum bt_mapping_outcome bt_map_claims(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t node_ix, const struct bt_mapped_claim *claims, uint32_t claim_n, struct bt_mapping *out)
{
	struct claim_mapper m = {view, signature, node_ix, maps_alone(view), out};
	struct bt_node_claim *mapped = bt_arena_zalloc(view->devices->scratch, claim_n * sizeof(*mapped) + 1);
	uint32_t n = 0;
	bool any = false;

	BT_REQUIRE_HOT(signature->sums);
	*out = (struct bt_mapping){.text = NULL};
	for (uint32_t i = 0; i < claim_n; i++) {
		struct bt_node_claim one;

		if (!concerns(&m, claims[i].allocation)) {
			continue;
		}
		any = true;
		if (!map_claim(&m, &claims[i], &one)) {
			return BT_MAPPING_FAILED;
		}
		if (one.claim != BT_NAME_NONE) {
			insert_claim(&m, mapped, n++, &one);
		}
	}
	if (!any) {
		return BT_MAPS_NOTHING;
	}
	struct bt_claims_demand demand = bt_claims_demand(
		view->snapshot->dictionary, view->devices->scratch, signature->sums, mapped, n);
	if (!named_by_containers(&m, mapped, n) || !covered(&m, &demand, mapped, n)) {
		return BT_MAPPING_REFUSED;
	}
	out->claims = mapped;
	out->claim_n = n;
	out->demand = demand.used;
	return BT_MAPPED;
}

/* ---- room on the node ---- */

/* How much too little there is; 0 or less: there is enough. Source: nodeFitsResources, v1.37.2. */
static int64_t missing(const struct bt_view *view, uint32_t node_ix, const struct bt_amount *amount)
{
	int64_t alloc = bt_node_alloc(view->snapshot, amount->slot, node_ix);
	int64_t used = bt_node_used(view->usage, amount->slot, node_ix);

	if (amount->slot < BT_FIRST_SCALAR) {
		return amount->amount > 0 && amount->amount > alloc - used;
	}
	return bt_str_starts(bt_resource_name(view->snapshot->dictionary, amount->slot), "hugepages-") &&
	       amount->amount > alloc - used;
}

bool bt_mapping_fits(const struct bt_view *view, uint32_t node_ix, struct bt_amounts demand)
{
	for (uint32_t i = 0; i < demand.n; i++) {
		if (missing(view, node_ix, &demand.items[i])) {
			return false;
		}
	}
	return true;
}

void bt_mapping_reject(const struct bt_view *view, uint32_t node_ix, struct bt_amounts demand, uint32_t kind,
	struct bt_rejection *out)
{
	out->code = BT_UNSCHEDULABLE;
	out->n = 0;
	for (uint32_t i = 0; i < demand.n && out->n < BT_PLUGIN_REASON_MAX; i++) {
		const struct bt_amount *amount = &demand.items[i];
		int64_t alloc = bt_node_alloc(view->snapshot, amount->slot, node_ix);

		if (!missing(view, node_ix, amount)) {
			continue;
		}
		if (amount->amount > alloc) {
			out->code = BT_UNSCHEDULABLE_AND_UNRESOLVABLE;
		}
		out->reasons[out->n++] = (struct bt_reason){.kind = kind,
			.arg = amount->slot,
			.wanted = amount->amount,
			.available = alloc - bt_node_used(view->usage, amount->slot, node_ix),
			.has_numbers = true};
	}
	BT_INVARIANT(out->n > 0);
}

/* ---- claims that several pods use ---- */

/* The pods on a node whose status has the claim. */
struct consumers {
	uint32_t namespace_, claim, own, n;
	bool others; /* one of them is not the cycle's */
};

static void visit_pod(void *visitor, const struct bt_pod_facts *pod)
{
	struct consumers *consumers = visitor;
	const struct bt_signature *signature = pod->signature;

	for (uint32_t i = 0;
		signature && signature->namespace_ == consumers->namespace_ && i < signature->node_claim_n;
		i++) {
		if (signature->node_claims[i].claim == consumers->claim) {
			consumers->n++;
			consumers->others |= bt_consumer_uid(pod->name, pod->uid) != consumers->own;
			return;
		}
	}
}

/* Source: validateNodeAllocatableDRAClaimSharing, v1.36.3. */
static const char *used_on_node(
	const struct bt_view *view, uint32_t node_ix, const struct bt_resource_claim *claim)
{
	const struct bt_device_store *store = view->devices;
	struct consumers consumers = {.namespace_ = claim->namespace_,
		.claim = claim->name,
		.own = bt_consumer_uid(store->pod_name, store->pod_uid)};
	const struct bt_pods_view *pods = view->usage->pods;
	struct bt_str name = bt_view_str(view, claim->name);

	BT_REQUIRE_HOT(pods);
	pods->each(pods->context, node_ix, visit_pod, &consumers);
	if (consumers.n > 1) {
		return bt_keep_text(view, "node allocatable resource claim %.*s shared by multiple pods",
			BT_STR_ARG(name));
	}
	return consumers.others
		       ? bt_keep_text(view,
				 "node allocatable resource claim %.*s is already used by another pod",
				 BT_STR_ARG(name))
		       : NULL;
}

/* Serves some device of the allocation as a resource of its node? */
static bool maps(const struct bt_view *view, const struct bt_allocation *allocation)
{
	const struct claim_mapper m = {.view = view, .node_ix = BT_NO_NODE};

	for (uint32_t i = 0; i < allocation->result_n; i++) {
		bool elsewhere;
		const struct bt_device *device = find_device(&m, &allocation->results[i], &elsewhere);

		for (uint32_t j = 0; device && j < device->node_resource_n; j++) {
			if (device->node_resources[j].maps) {
				return true;
			}
		}
	}
	return false;
}

static const char *not_shareable(const struct bt_view *view, const struct bt_resource_claim *claim)
{
	return bt_keep_text(view,
		"node allocatable resource claim %.*s has a mapped device and cannot be shared across pods",
		BT_STR_ARG(bt_view_str(view, claim->name)));
}

const char *bt_mapped_claim_refused(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t node_ix, const struct bt_resource_claim *claim)
{
	const struct bt_device_store *store = view->devices;

	if (maps_alone(view)) {
		return used_on_node(view, node_ix, claim);
	}
	if (claim->reserved_n == 0 || !claim->allocated ||
		bt_device_store_reserved(
			store, claim, signature, bt_consumer_uid(store->pod_name, store->pod_uid)) ||
		!maps(view, &claim->allocation)) {
		return NULL;
	}
	return not_shareable(view, claim);
}

const char *bt_pending_claim_refused(const struct bt_view *view, const struct bt_resource_claim *claim,
	const struct bt_allocation *pending)
{
	BT_INVARIANT(!claim->allocated);
	return maps_alone(view) || !maps(view, pending) ? NULL : not_shareable(view, claim);
}
