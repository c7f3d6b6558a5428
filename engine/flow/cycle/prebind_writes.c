/* SPDX-License-Identifier: Apache-2.0
 * PreBind's writes for a binder, with texts of their own.
 */
#include "engine/flow/cycle/prebind_writes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/model/node_claim.h"

#define ARENA_BYTES 1024

struct maker {
	struct bt_engine *engine;
	const struct bt_view *view;
	const struct bt_pod *pod;
	const struct bt_signature *signature;
	struct bt_arena *arena;
};

static struct bt_str prebind_writes_keep(const struct maker *m, uint32_t name)
{
	struct bt_str text = bt_engine_name(m->engine, name);

	return (struct bt_str){bt_arena_copy(m->arena, text.ptr ? text.ptr : "", text.len), text.len};
}

static struct bt_str_list keep_names(const struct maker *m, const uint32_t *names, uint32_t n)
{
	struct bt_str_list list = {bt_arena_zalloc(m->arena, n * sizeof(*list.items)), n, n > 0};

	for (uint32_t i = 0; i < n; i++) {
		list.items[i] = prebind_writes_keep(m, names[i]);
	}
	return list;
}

/* ---- volumes ---- */

static void add_volumes(const struct maker *m, uint32_t pod_ix, struct bt_prebind_writes *out)
{
	const struct bt_volumes *volumes = bt_engine_cache(m->engine)->volumes;
	uint32_t n = bt_volumes_assumed(volumes, pod_ix, NULL, 0);
	struct bt_volume_binding *bindings = bt_arena_zalloc(m->arena, n * sizeof(*bindings));
	struct bt_bind_request_volume *requested = bt_arena_zalloc(m->arena, n * sizeof(*requested));

	bt_volumes_assumed(volumes, pod_ix, bindings, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_claim *claim = &m->view->storage->claims[bindings[i].claim_ix];

		BT_INVARIANT(claim->name != BT_NAME_NONE);
		requested[i] = (struct bt_bind_request_volume){.claim = prebind_writes_keep(m, claim->name),
			.claim_uid = prebind_writes_keep(m, claim->uid)};
		if (bindings[i].pv_ix != BT_NO_VOLUME) {
			requested[i].volume =
				prebind_writes_keep(m, m->view->storage->pvs[bindings[i].pv_ix].name);
		}
	}
	out->volumes = requested;
	out->volume_n = n;
}

/* ---- node selectors ---- */

static bool same_requirement(const struct bt_requirement_object *a, const struct bt_requirement_object *b)
{
	if (!bt_str_eq(a->key, b->key) || !bt_str_eq(a->operator_, b->operator_) ||
		a->values.n != b->values.n) {
		return false;
	}
	for (uint32_t i = 0; i < a->values.n; i++) {
		if (!bt_str_eq(a->values.items[i], b->values.items[i])) {
			return false;
		}
	}
	return true;
}

/* Adds a requirement once. Source: addNewNodeSelectorRequirements, v1.36.3. */
static void add_once(struct bt_requirement_object_list *list, struct bt_requirement_object requirement)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (same_requirement(&list->items[i], &requirement)) {
			return;
		}
	}
	list->items[list->n++] = requirement;
}

static struct bt_requirement_object requirement_of(const struct maker *m, const struct bt_requirement *from)
{
	static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
	struct bt_requirement_object out = {.key = prebind_writes_keep(m, from->key),
		.operator_ = bt_str(operators[from->op]),
		.values = keep_names(m, from->values, from->value_n)};

	if (from->op == BT_OP_GT || from->op == BT_OP_LT) {
		struct bt_buf text = {0};

		bt_buf_printf(&text, "%lld", (long long)from->number);
		out.values =
			(struct bt_str_list){bt_arena_zalloc(m->arena, sizeof(*out.values.items)), 1, true};
		out.values.items[0] = (struct bt_str){bt_arena_copy(m->arena, text.ptr, text.len), text.len};
		bt_buf_fini(&text);
	}
	return out;
}

/* Of fields there is the node's name alone. */
static struct bt_requirement_object field_of(const struct maker *m, const struct bt_field_requirement *from)
{
	return (struct bt_requirement_object){.key = bt_str("metadata.name"),
		.operator_ = bt_str(from->negated ? "NotIn" : "In"),
		.values = keep_names(m, &from->value, 1)};
}

static struct bt_node_selector_object selector_of(
	const struct maker *m, const struct bt_allocation *allocation)
{
	const struct bt_node_selector *from = &allocation->selector;
	struct bt_node_selector_object out = {.set = allocation->has_selector, .term_n = from->term_n};

	if (!out.set) {
		return (struct bt_node_selector_object){.set = false};
	}
	out.terms = bt_arena_zalloc(m->arena, from->term_n * sizeof(*out.terms));
	for (uint32_t t = 0; t < from->term_n; t++) {
		const struct bt_node_term *term = &from->terms[t];
		struct bt_requirement_object_list *labels = &out.terms[t].match_expressions,
						  *fields = &out.terms[t].match_fields;

		labels->items = bt_arena_zalloc(m->arena, term->labels.n * sizeof(*labels->items));
		fields->items = bt_arena_zalloc(m->arena, term->field_n * sizeof(*fields->items));
		for (uint32_t i = 0; i < term->labels.n; i++) {
			add_once(labels, requirement_of(m, &term->labels.items[i]));
		}
		for (uint32_t i = 0; i < term->field_n; i++) {
			add_once(fields, field_of(m, &term->fields[i]));
		}
	}
	return out;
}

/* ---- allocations ---- */

static struct bt_resource_list consumed_of(const struct maker *m, const struct bt_device_result *from)
{
	struct bt_resource_list list = {bt_arena_zalloc(m->arena, from->consumed_n * sizeof(*list.items)),
		from->consumed_n, from->consumed_n > 0};

	for (uint32_t i = 0; i < from->consumed_n; i++) {
		list.items[i].name = prebind_writes_keep(m, from->consumed[i].name);
		list.items[i].quantity.nano = from->consumed[i].value;
	}
	return list;
}

static struct bt_device_result_object result_of(const struct maker *m, const struct bt_device_result *from)
{
	return (struct bt_device_result_object){
		.request = prebind_writes_keep(m, from->request),
		.driver = prebind_writes_keep(m, from->driver),
		.pool = prebind_writes_keep(m, from->pool),
		.device = prebind_writes_keep(m, from->device),
		.share_id = prebind_writes_keep(m, from->share),
		.has_share_id = from->share != BT_NAME_NONE,
		.admin_access = from->admin,
		.consumed = consumed_of(m, from),
		.binding_conditions = keep_names(m, from->binding_conditions, from->binding_condition_n),
		.binding_failure_conditions =
			keep_names(m, from->failure_conditions, from->failure_condition_n),
		.skipped = keep_names(m, from->skipped, from->skipped_n),
	};
}

static void add_allocation(
	const struct maker *m, const struct bt_allocation *from, struct bt_bind_request_claim *out)
{
	struct bt_device_result_object *results =
		bt_arena_zalloc(m->arena, from->result_n * sizeof(*results));

	for (uint32_t i = 0; i < from->result_n; i++) {
		results[i] = result_of(m, &from->results[i]);
	}
	BT_INVARIANT(!out->allocates && !out->reserved);
	out->allocates = true;
	out->results = results;
	out->result_n = from->result_n;
	out->node_selector = selector_of(m, from);
}

/* ---- requests of a claim ---- */

/* Is it "request/alternative"? */
static bool is_alternative(struct bt_str name, struct bt_str request, struct bt_str alternative)
{
	return name.len == request.len + 1 + alternative.len &&
	       bt_str_eq(bt_str_sub(name, 0, request.len), request) && name.ptr[request.len] == '/' &&
	       bt_str_eq(bt_str_sub(name, request.len + 1, name.len), alternative);
}

/* The alternative that got devices, or NULL. */
static const struct bt_device_subrequest *chosen(const struct maker *m,
	const struct bt_device_request *request, const struct bt_bind_request_claim *claim)
{
	struct bt_str name = bt_engine_name(m->engine, request->name);

	for (uint32_t a = 0; a < request->alternative_n; a++) {
		for (uint32_t i = 0; i < claim->result_n; i++) {
			if (is_alternative(claim->results[i].request, name,
				    bt_engine_name(m->engine, request->alternatives[a].name))) {
				return &request->alternatives[a];
			}
		}
	}
	return NULL;
}

static struct bt_str alternative_name(const struct maker *m, const struct bt_device_request *request,
	const struct bt_device_subrequest *alternative)
{
	struct bt_buf text = {0};

	bt_buf_str(&text, bt_engine_name(m->engine, request->name));
	bt_buf_char(&text, '/');
	bt_buf_str(&text, bt_engine_name(m->engine, alternative->name));
	struct bt_str name = {bt_arena_copy(m->arena, text.ptr, text.len), text.len};
	bt_buf_fini(&text);
	return name;
}

static void add_requests(
	const struct maker *m, const struct bt_resource_claim *from, struct bt_bind_request_claim *out)
{
	struct bt_bind_request_device *requests =
		bt_arena_zalloc(m->arena, from->request_n * sizeof(*requests));

	for (uint32_t i = 0; i < from->request_n; i++) {
		const struct bt_device_request *request = &from->requests[i];
		const struct bt_device_subrequest *alternative = chosen(m, request, out);

		if (request->has_exactly) {
			requests[out->request_n++] =
				(struct bt_bind_request_device){prebind_writes_keep(m, request->name),
					prebind_writes_keep(m, request->exactly.class_)};
		} else if (alternative) {
			requests[out->request_n++] =
				(struct bt_bind_request_device){alternative_name(m, request, alternative),
					prebind_writes_keep(m, alternative->class_)};
		}
	}
	BT_INVARIANT(out->request_n <= from->request_n);
	out->requests = requests;
}

/* ---- the claim for extended resources ---- */

static struct bt_str request_name(const struct maker *m, const struct bt_extended_request *extended)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "container-%u-request-%u", extended->container, extended->key);
	struct bt_str name = {bt_arena_copy(m->arena, text.ptr, text.len), text.len};
	bt_buf_fini(&text);
	return name;
}

static bool has_request(const struct bt_bind_request_claim *claim, struct bt_str name)
{
	for (uint32_t i = 0; i < claim->result_n; i++) {
		if (bt_str_eq(claim->results[i].request, name)) {
			return true;
		}
	}
	return false;
}

/* Do devices serve for the resource, in this claim? */
static bool is_served(const struct maker *m, const struct bt_bind_request_claim *claim, uint32_t slot)
{
	for (uint32_t i = 0; i < m->signature->extended_n; i++) {
		const struct bt_extended_request *extended = &m->signature->extended[i];

		if (extended->slot == slot && has_request(claim, request_name(m, extended))) {
			return true;
		}
	}
	return false;
}

struct mapper {
	const struct maker *maker;
	const struct bt_bind_request_claim *claim;
	struct bt_bind_request_mapping *items;
	uint32_t n;
	struct bt_str resource;
};

static void map(struct mapper *to, uint32_t container, struct bt_str request)
{
	to->items[to->n++] = (struct bt_bind_request_mapping){container, to->resource, request};
}

/* A container that ends before the next begins has what later ones hold, and what it needs beyond that of the
 * one request that such containers share. Source: createResourceRequestAndMappings, v1.36.3. */
static void map_short_lived(
	struct mapper *to, const struct bt_extended_request *extended, struct bt_str shared)
{
	const struct bt_signature *signature = to->maker->signature;
	int64_t sum = 0;

	for (uint32_t i = 0; i < signature->extended_n && sum < extended->count; i++) {
		const struct bt_extended_request *other = &signature->extended[i];

		if (other->short_lived || other->slot != extended->slot ||
			other->container < extended->container) {
			continue;
		}
		map(to, extended->container, request_name(to->maker, other));
		if (__builtin_add_overflow(sum, other->count, &sum)) {
			sum = INT64_MAX;
		}
	}
	if (sum < extended->count) {
		map(to, extended->container, shared);
	}
}

/* The mappings of one resource: containers that stay, then those that come and go. */
static void map_resource(struct mapper *to, uint32_t slot)
{
	const struct bt_signature *signature = to->maker->signature;
	struct bt_str shared = {0};

	to->resource = bt_resource_name(to->maker->view->snapshot->dictionary, slot);
	for (uint32_t i = 0; i < signature->extended_n; i++) {
		const struct bt_extended_request *extended = &signature->extended[i];
		struct bt_str name = request_name(to->maker, extended);

		if (extended->slot != slot || !has_request(to->claim, name)) {
			continue;
		}
		if (extended->short_lived) {
			shared = name;
		} else {
			map(to, extended->container, name);
		}
	}
	for (uint32_t i = 0; i < signature->extended_n; i++) {
		if (signature->extended[i].slot == slot && signature->extended[i].short_lived) {
			map_short_lived(to, &signature->extended[i], shared);
		}
	}
}

/* The resources that devices serve for, by name. Returns: how many. */
static uint32_t served(const struct maker *m, const struct bt_bind_request_claim *claim, uint32_t *out)
{
	const struct bt_dictionary *dictionary = m->view->snapshot->dictionary;
	const struct bt_signature *signature = m->signature;
	uint32_t n = 0;

	for (uint32_t i = 0; i < signature->extended_n; i++) {
		uint32_t slot = signature->extended[i].slot, at = 0;
		struct bt_str name = bt_resource_name(dictionary, slot);

		while (at < n && bt_str_cmp(bt_resource_name(dictionary, out[at]), name) < 0) {
			at++;
		}
		if ((at == n || out[at] != slot) && is_served(m, claim, slot)) {
			memmove(&out[at + 1], &out[at], (n++ - at) * sizeof(*out));
			out[at] = slot;
		}
	}
	return n;
}

static int by_request(const void *a, const void *b)
{
	return bt_str_cmp(((const struct bt_bind_request_device *)a)->name,
		((const struct bt_bind_request_device *)b)->name);
}

static void add_special(const struct maker *m, struct bt_bind_request_claim *out)
{
	const struct bt_signature *signature = m->signature;
	uint32_t *slots = bt_arena_zalloc(m->arena, signature->extended_n * sizeof(*slots));
	struct bt_bind_request_device *requests =
		bt_arena_zalloc(m->arena, signature->extended_n * sizeof(*requests));
	struct mapper to = {.maker = m, .claim = out};
	uint32_t slot_n = served(m, out, slots);

	/* A container's entry lists its own claims and those for all containers. */
	to.items = bt_arena_zalloc(
		m->arena, (size_t)signature->extended_n * (signature->extended_n + 1) * sizeof(*to.items));
	for (uint32_t i = 0; i < slot_n; i++) {
		map_resource(&to, slots[i]);
	}
	for (uint32_t i = 0; i < signature->extended_n; i++) {
		const struct bt_device_class *class_ = bt_device_store_resource(m->view->devices,
			m->view->snapshot->dictionary->resources.names[signature->extended[i].slot]);
		struct bt_str name = request_name(m, &signature->extended[i]);

		if (class_ && has_request(out, name)) {
			requests[out->request_n++] =
				(struct bt_bind_request_device){name, prebind_writes_keep(m, class_->name)};
		}
	}
	if (out->request_n) {
		qsort(requests, out->request_n, sizeof(*requests), by_request);
	}
	BT_INVARIANT(out->allocates && !out->name.len &&
		     to.n <= signature->extended_n * (signature->extended_n + 1));
	out->special = true;
	out->requests = requests;
	out->mappings = to.items;
	out->mapping_n = to.n;
}

/* ---- claims ---- */

/* What the claim gets; before: so often the pod names it before. */
static const struct bt_device_choice *choice_of(
	const struct bt_device_choice *choices, uint32_t n, uint32_t claim_ix, uint32_t before)
{
	for (uint32_t i = 0; i < n; i++) {
		if (choices[i].claim_ix == claim_ix && before-- == 0) {
			return &choices[i];
		}
	}
	return NULL;
}

static uint32_t named_before(const struct bt_signature *signature, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < i; k++) {
		n += signature->claims[k].claim == signature->claims[i].claim;
	}
	return n;
}

static bool is_conditional(const struct bt_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->result_n; i++) {
		if (allocation->results[i].binding_condition_n) {
			return true;
		}
	}
	return false;
}

/* A claim of the pod's spec: to be allocated and reserved, or reserved only, or it is so already. */
static void add_claim(const struct maker *m, const struct bt_pod_claim *named, uint32_t claim_ix,
	const struct bt_device_choice *choice, struct bt_bind_request_claim *claims, uint32_t *n)
{
	const struct bt_resource_claim *claim = &m->view->devices->claims[claim_ix];
	struct bt_bind_request_claim *out = &claims[*n];
	bool conditions = m->view->devices->features.binding_conditions;

	*out = (struct bt_bind_request_claim){
		.name = prebind_writes_keep(m, claim->name), .uid = prebind_writes_keep(m, claim->uid)};
	const struct bt_claim_consumer consumer = bt_device_store_consumer(
		m->view->devices, m->signature, named, bt_consumer_uid(m->pod->name, m->pod->uid));
	if (consumer.pod_group != BT_NAME_NONE) {
		out->group = prebind_writes_keep(m, consumer.pod_group);
		out->group_uid = prebind_writes_keep(m, consumer.uid);
	}
	out->reserved = !choice && bt_device_store_reserved(m->view->devices, claim, m->signature,
					   bt_consumer_uid(m->pod->name, m->pod->uid));
	out->conditional = out->reserved && conditions && is_conditional(&claim->allocation);
	out->timed = !out->reserved && conditions && (choice || claim->allocation.since_ns == 0);
	if (choice) {
		add_allocation(m, &choice->allocation, out);
		add_requests(m, claim, out);
	}
	BT_INVARIANT(claim->live && !(out->allocates && out->reserved));
	(*n)++;
}

static void add_claims(const struct maker *m, uint32_t pod_ix, struct bt_prebind_writes *out)
{
	const struct bt_signature *signature = m->signature;
	const struct bt_device_store *store = m->view->devices;
	uint32_t choice_n, n = 0, ix;
	const struct bt_device_choice *choices =
		bt_devices_pending(bt_engine_cache(m->engine)->devices, pod_ix, &choice_n);
	struct bt_bind_request_claim *claims =
		bt_arena_zalloc(m->arena, (signature->claim_n + 1) * sizeof(*claims));

	for (uint32_t i = 0; i < signature->claim_n; i++) {
		if (signature->claims[i].claim != BT_NAME_NONE &&
			bt_map_get(&store->claim_ixs,
				bt_pair_key(signature->namespace_, signature->claims[i].claim), &ix)) {
			add_claim(m, &signature->claims[i], ix,
				choice_of(choices, choice_n, ix, named_before(signature, i)), claims, &n);
		}
	}
	const struct bt_device_choice *special = choice_of(choices, choice_n, BT_NO_CLAIM, 0);
	if (special) {
		claims[n].timed = store->features.binding_conditions;
		add_allocation(m, &special->allocation, &claims[n]);
		add_special(m, &claims[n++]);
	}
	/* Devices may be chosen for claims that the pod, changed in its cycle, names no more. */
	BT_INVARIANT(n <= signature->claim_n + 1);
	out->claims = claims;
	out->claim_n = n;
}

/* Those that the pod is assumed with; its status may list others from an earlier attempt. */
static void add_node_claims(const struct maker *m, struct bt_prebind_writes *out)
{
	const struct bt_signature *signature = m->signature;
	uint32_t n = signature->node_claim_n;
	struct bt_node_claim_object *claims = bt_arena_zalloc(m->arena, n * sizeof(*claims));

	BT_INVARIANT(n == 0 || signature->assumed_of);
	for (uint32_t i = 0; i < n; i++) {
		claims[i] = bt_node_claim_object_of(
			m->view->snapshot->dictionary, m->arena, &signature->node_claims[i]);
	}
	out->node_claims = claims;
	out->node_claim_n = n;
}

struct bt_prebind_writes *bt_prebind_writes_of(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_signature *signature = pod->signature;

	BT_REQUIRE(pod->state == BT_POD_ASSUMED);
	if (!signature->volume_n && !signature->claim_n && !signature->extended_n) {
		return NULL;
	}
	struct bt_prebind_writes *out = bt_mem_zalloc(1, sizeof(*out));
	const struct maker m = {engine, &cache->view, pod, signature, &out->arena};
	bt_arena_start(&out->arena, ARENA_BYTES);
	if (signature->volume_n) {
		add_volumes(&m, pod_ix, out);
	}
	if (signature->claim_n || signature->extended_n) {
		add_claims(&m, pod_ix, out);
		add_node_claims(&m, out);
	}
	if (out->volume_n || out->claim_n || out->node_claim_n) {
		return out;
	}
	bt_prebind_writes_destroy(out);
	return NULL;
}

void bt_prebind_writes_destroy(struct bt_prebind_writes *writes)
{
	if (writes) {
		bt_arena_fini(&writes->arena);
		bt_mem_free(writes);
	}
}
