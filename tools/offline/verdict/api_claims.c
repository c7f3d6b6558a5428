/* SPDX-License-Identifier: Apache-2.0
 * DynamicResources' writes of ResourceClaims, in histories. Source: bindClaim, Unreserve, PostFilter and
 * deleteClaim, v1.36.3.
 */
#include "tools/offline/verdict/api_int.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/prebind_writes.h"

#define KIND	  "ResourceClaim"
#define FINALIZER "resource.kubernetes.io/delete-protection"
#define FAILS	  "running PreBind plugin \"DynamicResources\": "

/* A claim of the pod that is being bound. */
struct written {
	struct bt_str name;
	const struct bt_resource_claim_object *now; /* as the pod's cycle has read it */
	uint64_t version;			    /* its version; 0: the write overrides any version */
	struct bt_claim_consumer_object consumer;
	bool deleted;
};

/* A pod in its binding, or after a failed one. */
struct claims_in_work {
	struct bt_api *api;
	const struct bt_engine *engine;
	struct bt_str namespace_, name, uid;
	struct bt_str pod_group; /* the group whose reservations count for the pod; or empty */
	const struct bt_pod *pod;
	uint32_t pod_ix;
	struct bt_prebind_writes *writes;
	struct written *claims;
	uint32_t claim_n, user_n;
};

static struct bt_str api_claims_text_of(const struct claims_in_work *w, uint32_t name)
{
	return bt_intern_str(bt_engine_cache((struct bt_engine *)w->engine)->dictionary->intern, name);
}

/* ---- claims read by the cycle ---- */

static void see(struct bt_api *api, const struct bt_api_object *stored)
{
	api->seen = bt_mem_grow(api->seen, api->seen_n, &api->seen_cap, sizeof(*api->seen));
	api->seen[api->seen_n++] = (struct bt_api_seen){
		stored->namespace_, stored->name, bt_api_claim(api, stored), 0, BT_NO_POD};
}

void bt_api_see_member(struct bt_api *api, uint32_t pod_ix)
{
	const struct bt_signature *signature =
		bt_ledger_pod(bt_engine_cache(api->cluster.engine)->ledger, pod_ix)->signature;

	for (size_t i = 0; signature->claim_n && i < api->object_n; i++) {
		if (!api->objects[i].gone && bt_str_is(api->objects[i].kind, KIND)) {
			see(api, &api->objects[i]);
			api->seen[api->seen_n - 1].version = api->objects[i].version;
			api->seen[api->seen_n - 1].pod_ix = pod_ix;
		}
	}
}

void bt_api_see_pod(struct bt_api *api, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	const struct bt_signature *signature = bt_ledger_pod(cache->ledger, pod_ix)->signature;
	const struct bt_api_object *pod = bt_api_pod(api, pod_ix);

	api->refusal_before = pod ? pod->refusal : (struct bt_str){0};
	api->seen_n = 0;
	if (signature->claim_n + signature->extended_n == 0) {
		return;
	}
	for (size_t i = 0; i < api->object_n; i++) {
		if (!api->objects[i].gone && bt_str_is(api->objects[i].kind, KIND)) {
			see(api, &api->objects[i]);
		}
	}
}

/* The claim as at the start of the cycle; the current one if the cycle has not read it. out_version: the
 * version read by a group's cycle, whose pods write the same claims; else 0. */
static const struct bt_resource_claim_object *seen_claim(struct bt_api *api, uint32_t pod_ix,
	struct bt_str namespace_, struct bt_str name, uint64_t *out_version)
{
	for (size_t i = api->seen_n; i-- > 0;) { /* the latest */
		if ((api->seen[i].pod_ix == pod_ix || api->seen[i].pod_ix == BT_NO_POD) &&
			bt_str_eq(api->seen[i].name, name) &&
			bt_str_eq(api->seen[i].namespace_, namespace_)) {
			*out_version = api->seen[i].version;
			return api->seen[i].claim;
		}
	}
	*out_version = 0;
	const struct bt_api_object *stored = bt_api_find(api, (struct bt_str)BT_STR(KIND), namespace_, name);
	return stored ? bt_api_claim(api, stored) : NULL;
}

/* ---- claims as values ---- */

static bool has_uid(const struct bt_resource_claim_object *claim, struct bt_str uid)
{
	for (uint32_t i = 0; i < claim->reserved_for_n; i++) {
		if (bt_str_eq(claim->reserved_for[i].uid, uid)) {
			return true;
		}
	}
	return false;
}

/* Source: IsReservedForPod, resourceclaim of k8s.io/dynamic-resource-allocation, v0.36.3. */
static bool is_reserved(const struct claims_in_work *w, const struct bt_resource_claim_object *claim)
{
	for (uint32_t i = 0; w->pod_group.len && i < claim->reserved_for_n; i++) {
		if (bt_str_is(claim->reserved_for[i].api_group, "scheduling.k8s.io") &&
			bt_str_eq(claim->reserved_for[i].name, w->pod_group)) {
			return true;
		}
	}
	return has_uid(claim, w->uid);
}

static bool has_finalizer(const struct bt_resource_claim_object *claim)
{
	for (uint32_t i = 0; i < claim->meta.finalizers.n; i++) {
		if (bt_str_is(claim->meta.finalizers.items[i], FINALIZER)) {
			return true;
		}
	}
	return false;
}

static struct bt_resource_claim_object *copy_of(
	struct bt_api *api, const struct bt_resource_claim_object *claim)
{
	struct bt_resource_claim_object *copy = bt_arena_zalloc(&api->cluster.arena, sizeof(*copy));

	*copy = *claim;
	return copy;
}

static struct bt_str_list with(struct bt_api *api, const struct bt_str_list *from, struct bt_str item)
{
	struct bt_str_list list = {
		bt_arena_zalloc(&api->cluster.arena, (from->n + 1) * sizeof(*list.items)), from->n + 1, true};

	for (uint32_t i = 0; i < from->n; i++) {
		list.items[i] = from->items[i];
	}
	list.items[from->n] = item;
	return list;
}

static struct bt_str_list without(struct bt_api *api, const struct bt_str_list *from, struct bt_str item)
{
	struct bt_str_list list = {
		bt_arena_zalloc(&api->cluster.arena, from->n * sizeof(*list.items)), 0, from->set};

	for (uint32_t i = 0; i < from->n; i++) {
		if (!bt_str_eq(from->items[i], item)) {
			list.items[list.n++] = from->items[i];
		}
	}
	return list;
}

static void reserve_for(struct bt_api *api, struct bt_resource_claim_object *claim,
	const struct bt_claim_consumer_object *consumer)
{
	struct bt_claim_consumer_object *all =
		bt_arena_zalloc(&api->cluster.arena, (claim->reserved_for_n + 1) * sizeof(*all));

	for (uint32_t i = 0; i < claim->reserved_for_n; i++) {
		all[i] = claim->reserved_for[i];
	}
	all[claim->reserved_for_n] = *consumer;
	claim->reserved_for = all;
	claim->reserved_for_n++;
}

static void unreserve_for(struct bt_api *api, struct bt_resource_claim_object *claim, struct bt_str uid)
{
	struct bt_claim_consumer_object *all =
		bt_arena_zalloc(&api->cluster.arena, claim->reserved_for_n * sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; i < claim->reserved_for_n; i++) {
		if (!bt_str_eq(claim->reserved_for[i].uid, uid)) {
			all[n++] = claim->reserved_for[i];
		}
	}
	claim->reserved_for = all;
	claim->reserved_for_n = n;
}

static void allocate(struct bt_resource_claim_object *claim, const struct bt_bind_request_claim *request)
{
	claim->allocated = true;
	claim->results = (struct bt_device_result_object *)request->results;
	claim->result_n = request->result_n;
	claim->node_selector = request->node_selector;
	claim->allocation_ns = 0;
}

static void deallocate(struct bt_resource_claim_object *claim)
{
	claim->allocated = false;
	claim->result_n = 0;
	claim->node_selector = (struct bt_node_selector_object){.set = false};
	claim->allocation_ns = 0;
	claim->reserved_for_n = 0;
	claim->device_n = 0;
}

/* ---- writing ---- */

/* Replaces the claim by a state that was read before, overwriting later changes. Returns: does it exist? */
static bool update(struct bt_api *api, struct bt_str namespace_, struct bt_str name,
	const struct bt_resource_claim_object *claim)
{
	struct bt_api_object *stored = bt_api_find(api, (struct bt_str)BT_STR(KIND), namespace_, name);

	if (stored) {
		stored->claim = claim;
		bt_api_show(api, stored);
	}
	return stored;
}

static bool fail_missing(struct claims_in_work *w, const char *what, const struct written *claim)
{
	bt_buf_printf(&w->api->bind_error,
		FAILS "%s claim %.*s/%.*s: resourceclaims.resource.k8s.io \"%.*s\" not found", what,
		BT_STR_ARG(w->namespace_), BT_STR_ARG(claim->name), BT_STR_ARG(claim->name));
	return false;
}

static struct bt_claim_consumer_object pod_consumer(const struct claims_in_work *w)
{
	return (struct bt_claim_consumer_object){.resource = BT_STR("pods"), .name = w->name, .uid = w->uid};
}

/* Reads the claim again if another pod of the group has written it since this pod was decided. Returns:
 * false: it cannot be written. */
static bool refresh(
	struct claims_in_work *w, struct written *claim, const struct bt_bind_request_claim *request)
{
	const struct bt_api_object *stored =
		bt_api_find(w->api, (struct bt_str)BT_STR(KIND), w->namespace_, claim->name);

	if (!claim->version || !stored || stored->version == claim->version) {
		return true;
	}
	claim->now = bt_api_claim(w->api, stored);
	if (request->allocates && claim->now->allocated) {
		bt_buf_printf(&w->api->bind_error,
			FAILS "claim %.*s/%.*s got allocated elsewhere in the meantime",
			BT_STR_ARG(w->namespace_), BT_STR_ARG(claim->name));
		return false;
	}
	if (has_uid(claim->now, claim->consumer.uid)) {
		bt_buf_printf(&w->api->bind_error,
			FAILS "add reservation to claim %.*s/%.*s: ResourceClaim.resource.k8s.io \"%.*s\" is "
			      "invalid: status.reservedFor[%u].uid: Duplicate value: \"%.*s\"",
			BT_STR_ARG(w->namespace_), BT_STR_ARG(claim->name), BT_STR_ARG(claim->name),
			claim->now->reserved_for_n, BT_STR_ARG(claim->consumer.uid));
		return false;
	}
	return true;
}

static bool has_binding_conditions(const struct claims_in_work *w)
{
	return bt_engine_cache((struct bt_engine *)w->engine)->view.devices->features.binding_conditions;
}

static bool bind_claim(
	struct claims_in_work *w, struct written *claim, const struct bt_bind_request_claim *request)
{
	if (!refresh(w, claim, request)) {
		return false;
	}
	if (claim->version && !request->allocates && !claim->now->allocated && has_binding_conditions(w)) {
		bt_buf_printf(&w->api->bind_error,
			FAILS "claim %.*s/%.*s got deallocated elsewhere in the meantime",
			BT_STR_ARG(w->namespace_), BT_STR_ARG(claim->name));
		return false;
	}
	struct bt_resource_claim_object *now = copy_of(w->api, claim->now);

	if (request->allocates && !has_finalizer(now)) {
		now->meta.finalizers = with(w->api, &now->meta.finalizers, (struct bt_str)BT_STR(FINALIZER));
		if (!update(w->api, w->namespace_, claim->name, now)) {
			return fail_missing(w, "add finalizer to", claim);
		}
	}
	now = copy_of(w->api, now);
	if (request->allocates) {
		allocate(now, request);
	}
	if (request->timed && now->allocation_ns == 0) { /* others who allocate need not set it */
		now->allocation_ns = w->api->now_ns;
	}
	reserve_for(w->api, now, &claim->consumer);
	if (!update(w->api, w->namespace_, claim->name, now)) {
		return fail_missing(w,
			request->allocates ? "add allocation and reservation to" : "add reservation to",
			claim);
	}
	claim->now = now;
	return true;
}

/* ---- the claim for extended resources ---- */

static void write_requests(const struct bt_bind_request_claim *request, struct bt_buf *out)
{
	bt_buf_text(out, "\"requests\":[");
	for (uint32_t i = 0; i < request->request_n; i++) {
		bt_buf_printf(out, "%s{\"name\":\"%.*s\",\"exactly\":{\"deviceClassName\":\"%.*s\"}}",
			i ? "," : "", BT_STR_ARG(request->requests[i].name),
			BT_STR_ARG(request->requests[i].class_));
	}
	bt_buf_char(out, ']');
}

static struct bt_str special_text(
	struct claims_in_work *w, struct bt_str name, const struct bt_bind_request_claim *request)
{
	struct bt_buf text = {.len = 0};

	bt_buf_printf(&text,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"" KIND
		"\",\"metadata\":{\"name\":\"%.*s\",\"namespace\":\"%.*s\",\"annotations\":{"
		"\"resource.kubernetes.io/extended-resource-claim\":\"true\"},\"ownerReferences\":[{"
		"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"%.*s\",\"uid\":\"%.*s\",\"controller\":"
		"true}]},\"spec\":{\"devices\":{",
		BT_STR_ARG(name), BT_STR_ARG(w->namespace_), BT_STR_ARG(w->name), BT_STR_ARG(w->uid));
	if (request->request_n) {
		write_requests(request, &text);
	}
	bt_buf_text(&text, "}}}");
	struct bt_str doc = {bt_arena_copy(&w->api->cluster.arena, text.ptr, text.len), text.len};
	bt_buf_fini(&text);
	return doc;
}

/* Writes the pod's status: the claim's request for each extended resource. */
static void write_mappings(struct claims_in_work *w, struct bt_api_object *pod, struct bt_str claim,
	const struct bt_bind_request_claim *request)
{
	struct bt_arena *arena = &w->api->cluster.arena;
	struct bt_extended_mapping_object *mappings =
		bt_arena_zalloc(arena, request->mapping_n * sizeof(*mappings));

	for (uint32_t i = 0; i < request->mapping_n; i++) {
		const struct bt_bind_request_mapping *from = &request->mappings[i];
		char container[16];
		int len = snprintf(container, sizeof(container), "%" PRIu32, from->container);

		mappings[i] = (struct bt_extended_mapping_object){
			.container = {bt_arena_copy(arena, container, (size_t)len), (size_t)len},
			.resource = {bt_arena_copy(arena, from->resource.ptr, from->resource.len),
				from->resource.len},
			.request = {bt_arena_copy(arena, from->request.ptr, from->request.len),
				from->request.len}};
	}
	pod->extended_claim = claim;
	pod->extended_mappings = mappings;
	pod->extended_mapping_n = request->mapping_n;
	bt_api_show(w->api, pod);
}

static bool bind_special(struct claims_in_work *w, const struct bt_bind_request_claim *request)
{
	struct bt_buf name = {.len = 0}, error = {.len = 0};
	struct written *claim = &w->claims[w->claim_n++];

	claim->consumer = pod_consumer(w);

	bt_buf_printf(&name, "%.*s-extended-resources-%u", BT_STR_ARG(w->name), w->api->uid_n + 1);
	claim->name = (struct bt_str){bt_arena_copy(&w->api->cluster.arena, name.ptr, name.len), name.len};
	enum bt_status status = bt_api_create(w->api, special_text(w, claim->name, request), &error);
	BT_REQUIRE(status == BT_OK);
	bt_buf_fini(&name);
	bt_buf_fini(&error);
	claim->now = bt_api_claim(
		w->api, bt_api_find(w->api, (struct bt_str)BT_STR(KIND), w->namespace_, claim->name));
	const struct bt_resource_claim_object *made = claim->now;
	if (!bind_claim(w, claim, request)) {
		return false;
	}
	struct bt_api_object *pod = bt_api_find(w->api, (struct bt_str)BT_STR("Pod"), w->namespace_, w->name);

	if (request->mapping_n && !pod) {
		bt_buf_printf(&w->api->bind_error,
			FAILS "update pod %.*s/%.*s ExtendedResourceClaimStatus: pods \"%.*s\" not found",
			BT_STR_ARG(w->namespace_), BT_STR_ARG(w->name), BT_STR_ARG(w->name));
		return false;
	}
	if (request->mapping_n == 0) {
		claim->now = made; /* Unreserve's base; its write reverts the allocation */
		bt_buf_printf(&w->api->bind_error,
			FAILS "nil or empty request mappings, no update of pod %.*s/%.*s "
			      "ExtendedResourceClaimStatus",
			BT_STR_ARG(w->namespace_), BT_STR_ARG(w->name));
		return false;
	}
	write_mappings(w, pod, claim->name, request);
	return true;
}

/* ---- PreBind and Unreserve ---- */

/* The consumer for which the pod's claim is reserved. */
static struct bt_claim_consumer_object consumer_of(
	const struct claims_in_work *w, const struct bt_pod_claim *named)
{
	const struct bt_device_store *store = bt_engine_cache((struct bt_engine *)w->engine)->view.devices;
	const struct bt_claim_consumer consumer = bt_device_store_consumer(
		store, w->pod->signature, named, bt_consumer_uid(w->pod->name, w->pod->uid));

	if (consumer.pod_group == BT_NAME_NONE) {
		return pod_consumer(w);
	}
	return (struct bt_claim_consumer_object){.api_group = BT_STR("scheduling.k8s.io"),
		.resource = BT_STR("podgroups"),
		.name = api_claims_text_of(w, consumer.pod_group),
		.uid = api_claims_text_of(w, consumer.uid)};
}

static void list_claims(struct claims_in_work *w, const struct bt_pod *pod)
{
	const struct bt_signature *signature = pod->signature;

	w->claims = bt_mem_zalloc(signature->claim_n + 1, sizeof(*w->claims));
	for (uint32_t i = 0; i < signature->claim_n; i++) {
		struct bt_str name = signature->claims[i].claim == BT_NAME_NONE
					     ? (struct bt_str){.len = 0}
					     : api_claims_text_of(w, signature->claims[i].claim);
		uint64_t version;
		const struct bt_resource_claim_object *now =
			name.len ? seen_claim(w->api, w->pod_ix, w->namespace_, name, &version) : NULL;

		if (now) {
			w->claims[w->claim_n++] = (struct written){.name = name,
				.now = now,
				.version = version,
				.consumer = consumer_of(w, &signature->claims[i])};
		}
	}
	w->user_n = w->claim_n;
}

/* The write for the user's i-th claim, which may be listed twice. */
static struct bt_bind_request_claim request_of(const struct claims_in_work *w, uint32_t i)
{
	uint32_t before = 0;

	for (uint32_t k = 0; k < i; k++) {
		before += bt_str_eq(w->claims[k].name, w->claims[i].name);
	}
	for (uint32_t k = 0; w->writes && k < w->writes->claim_n; k++) {
		const struct bt_bind_request_claim *request = &w->writes->claims[k];

		if (!request->special && bt_str_eq(request->name, w->claims[i].name) && before-- == 0) {
			return *request;
		}
	}
	return (struct bt_bind_request_claim){.allocates = !w->claims[i].now->allocated};
}

static bool prebind(struct claims_in_work *w)
{
	for (uint32_t i = 0; i < w->user_n; i++) {
		struct bt_bind_request_claim request = request_of(w, i);

		request.allocates &= !w->claims[i].now->allocated;
		if (!is_reserved(w, w->claims[i].now) && !bind_claim(w, &w->claims[i], &request)) {
			return false;
		}
	}
	for (uint32_t k = 0; w->writes && k < w->writes->claim_n; k++) {
		if (w->writes->claims[k].special && !bind_special(w, &w->writes->claims[k])) {
			return false;
		}
	}
	return true;
}

/* Removes the pod from a claim's reservations. */
static void unreserve_claim(struct claims_in_work *w, const struct written *claim)
{
	struct bt_api_object *stored =
		bt_api_find(w->api, (struct bt_str)BT_STR(KIND), w->namespace_, claim->name);

	if (!stored || !claim->now->allocated || !has_uid(claim->now, w->uid)) {
		return;
	}
	struct bt_resource_claim_object *now = copy_of(w->api, bt_api_claim(w->api, stored));
	unreserve_for(w->api, now, w->uid);
	stored->claim = now;
	bt_api_show(w->api, stored);
}

static void delete_claim(struct bt_api *api, struct bt_str namespace_, struct bt_str name,
	const struct bt_resource_claim_object *seen)
{
	struct bt_resource_claim_object *now = copy_of(api, seen);

	now->meta.finalizers = without(api, &now->meta.finalizers, (struct bt_str)BT_STR(FINALIZER));
	if (update(api, namespace_, name, now)) {
		bt_api_delete(api, (struct bt_str)BT_STR(KIND), namespace_, name);
	}
}

static void unreserve(struct claims_in_work *w)
{
	for (uint32_t i = 0; i < w->user_n; i++) {
		unreserve_claim(w, &w->claims[i]);
	}
	for (uint32_t i = w->user_n; i < w->claim_n; i++) {
		delete_claim(w->api, w->namespace_, w->claims[i].name, w->claims[i].now);
		w->claims[i].deleted = true;
	}
}

/* Answers the engine with the written claims; events have shown them already. */
static void answer(struct claims_in_work *w, uint32_t pod_ix, bool bound)
{
	struct bt_written_claim *said = bt_mem_zalloc(w->claim_n, sizeof(*said));
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->claim_n; i++) {
		const struct bt_api_object *stored =
			bt_api_find(w->api, (struct bt_str)BT_STR(KIND), w->namespace_, w->claims[i].name);

		if (stored) {
			said[n++] = (struct bt_written_claim){.name = w->claims[i].name,
				.uid = stored->uid,
				.version = stored->version,
				.reserved = bound,
				.special = i >= w->user_n};
		}
	}
	const struct bt_binding_answer answer = {.bound = bound,
		.repeats = bt_str_eq(w->api->refusal_before, bt_buf_view(&w->api->bind_error)),
		.claims = said,
		.claim_n = n};
	bt_engine_answer(w->api->cluster.engine, pod_ix, &answer);
	bt_mem_free(said);
}

/* Memory of objects is freed only at the end of the history. */
static void keep_writes(struct bt_api *api, struct bt_prebind_writes *writes)
{
	if (writes) {
		api->writes = bt_mem_grow(
			api->writes, api->writes_n, &api->writes_cap, sizeof(struct bt_prebind_writes *));
		api->writes[api->writes_n++] = writes;
	}
}

/* Owns: claims, the caller. */
static struct claims_in_work begin_work(struct bt_api *api, uint32_t pod_ix, struct bt_prebind_writes *writes)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_intern *intern = cache->dictionary->intern;
	struct claims_in_work w = {.api = api,
		.engine = api->cluster.engine,
		.namespace_ = bt_intern_str(intern, pod->signature->namespace_),
		.name = bt_intern_str(intern, pod->name),
		.uid = bt_intern_str(intern, bt_consumer_uid(pod->name, pod->uid)),
		.pod = pod,
		.pod_ix = pod_ix,
		.writes = writes};

	if (cache->view.devices->features.group_claims && pod->signature->pod_group != BT_NAME_NONE) {
		w.pod_group = bt_intern_str(intern, pod->signature->pod_group);
	}
	keep_writes(api, writes);
	list_claims(&w, pod);
	return w;
}

void bt_api_unreserve_pod(void *context, struct bt_engine *engine, uint32_t pod_ix)
{
	struct claims_in_work w = begin_work(context, pod_ix, NULL);

	(void)engine;
	unreserve(&w);
	bt_mem_free(w.claims);
}

void bt_api_bind_pod(struct bt_api *api, uint32_t pod_ix, bool (*bind)(struct bt_api *api, uint32_t pod_ix))
{
	struct claims_in_work w = begin_work(api, pod_ix, bt_prebind_writes_of(api->cluster.engine, pod_ix));
	bool bound = prebind(&w) && bind(api, pod_ix);
	if (!bound) {
		unreserve(&w);
	}
	answer(&w, pod_ix, bound);
	bt_mem_free(w.claims);
}

/* ---- PostFilter ---- */

void bt_api_release_claim(
	void *context, struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix)
{
	struct bt_api *api = context;
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_resource_claim *claim = &cache->view.devices->claims[release->claim_ix];
	struct bt_str namespace_ = bt_intern_str(cache->dictionary->intern, claim->namespace_),
		      name = bt_intern_str(cache->dictionary->intern, claim->name);
	const struct bt_api_object *stored = bt_api_find(api, (struct bt_str)BT_STR(KIND), namespace_, name);
	uint64_t version;
	const struct bt_resource_claim_object *seen = seen_claim(api, for_ix, namespace_, name, &version);

	if (release->what == BT_CLAIMS_DELETE) {
		delete_claim(api, namespace_, name, seen);
		return;
	}
	/* The engine has the state that a group's cycle has read. */
	struct bt_resource_claim_object *now =
		copy_of(api, version && stored ? bt_api_claim(api, stored) : seen);
	if (release->what == BT_CLAIMS_UNRESERVE) {
		struct bt_str consumer = bt_intern_str(cache->dictionary->intern, release->consumer);

		if (!has_uid(now, consumer)) {
			return;
		}
		unreserve_for(api, now, consumer);
	} else {
		deallocate(now);
	}
	update(api, namespace_, name, now);
}
