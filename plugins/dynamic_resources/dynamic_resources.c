/* SPDX-License-Identifier: Apache-2.0
 * DynamicResources. A node's result is computed once per cycle. Source: plugins/dynamicresources, v1.36.3.
 */
#include "plugins/dynamic_resources/dynamic_resources.h"

#include "cache/device_view.h"
#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/wrap.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/extended.h"
#include "plugins/dynamic_resources/group_claims.h"
#include "plugins/dynamic_resources/inputs.h"
#include "plugins/dynamic_resources/node_allocatable.h"
#include "plugins/dynamic_resources/selectors.h"

/* FirstAvailableDeviceRequestMaxSize, v1.36.3. */
#define ALTERNATIVES_MAX 8

enum dynamic_resources_reason_kind {
	NOT_AVAILABLE = 0,
	NOT_ALLOCATED,
	INVALID_POOLS,
	NO_RESOURCE,
	STALE,
	TIMED_OUT,
	MAPPING, /* reason: text of node_devices */
	NO_ROOM	 /* of a resource, for the pod's requests with its claims */
};

/* A claim of the pod. */
struct held {
	/* NULL: the claim for extended resources, not created yet. Valid during the cycle. */
	const struct bt_resource_claim *claim;
	/* Identifies the claim after the cycle. */
	uint32_t claim_ix, namespace_, name, uid;
	bool new; /* it has to be allocated */
	/* The allocation that another pod of the group gives it in this cycle; or NULL. */
	const struct bt_allocation *sharing;
	bool special;		  /* it is for extended resources */
	bool unavailable;	  /* it is allocated, but not available on some node */
	bool releasable;	  /* no other pod uses it */
	bool releasable_by_group; /* no pod outside of the group uses it */
	uint32_t group_uid;	  /* UID of the group; BT_NAME_NONE: unknown, or without claims */
};

/* The result for a node. */
struct node_devices {
	bool known, pass;
	bool settled;  /* for every allocation */
	bool remapped; /* node_claims and demand are of the slices after a change in mid-cycle */
	enum dynamic_resources_reason_kind kind;
	const char *error;
	const struct bt_allocation *allocations; /* of claims that the cycle allocates; NULL: none */
	/* Node resources that claims consume, and the pod's requests with them. Free resources are checked
	 * at each use. text: a name, for MAPPING. */
	const struct bt_node_claim *node_claims;
	uint32_t node_claim_n, text;
	struct bt_amounts demand;
};

struct dynamic_resources_term {
	const struct bt_signature *signature;
	const struct bt_dynamic_resources_settings *settings;
	/* Of this cycle; allocated in the store's scratch. */
	struct held *held;
	uint32_t held_n, user_n;      /* user_n: without the one for extended resources */
	uint32_t new_n, sharing_n;    /* to allocate; of these, shared ones */
	struct node_devices *answers; /* by node slot; valid until the cycle ends or state changes */
	uint32_t answer_n;
	struct bt_device_inputs *inputs; /* NULL: unchanged in this cycle */
	struct bt_allocation_cycle *cycle;
};

static void dynamic_resources_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct dynamic_resources_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	BT_REQUIRE_HOT(settings);
	*term = (struct dynamic_resources_term){.signature = signature, .settings = settings};
	out_compiled->term = term;
	if (signature->claim_n || bt_extended_wanted(env->view, signature) ||
		bt_group_claims_concern(env->view, signature)) {
		out_compiled->state = term;
	}
	out_compiled->filter_skip = out_compiled->score_skip = !out_compiled->state;
	if (term->settings->scores && !term->settings->pre_filtered) {
		out_compiled->score_error = "not found";
	}
}

/* ---- the pod's claims ---- */

/* The pod that owns or uses claims. */
struct owner {
	uint32_t namespace_, name, uid;
	uint32_t pod_group; /* whose claims it may use, or BT_NAME_NONE */
};

static struct owner owner_of(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t name, uint32_t uid)
{
	return (struct owner){signature->namespace_, name, uid,
		view->devices->features.group_claims ? signature->pod_group : BT_NAME_NONE};
}

/* Why a pod cannot use a claim that it names. */
enum dynamic_resources_failure { NO_FAILURE = 0, NOT_CREATED, UNSUPPORTED, MISSING, DELETING, FOREIGN };

/* The claim that a pod names. NULL and NO_FAILURE: the pod needs none. Source:
 * foreachPodResourceClaim, v1.36.3. */
static enum dynamic_resources_failure look_up(const struct bt_view *view, const struct owner *owner,
	const struct bt_pod_claim *named, const struct bt_resource_claim **out_claim)
{
	*out_claim = NULL;
	switch (named->kind) {
	case BT_POD_CLAIM_NONE:
		return NO_FAILURE;
	case BT_POD_CLAIM_NOT_CREATED:
		return NOT_CREATED;
	case BT_POD_CLAIM_UNSUPPORTED:
		return UNSUPPORTED;
	case BT_POD_CLAIM_NAMED:
	case BT_POD_CLAIM_GENERATED:
		break;
	}
	const struct bt_resource_claim *claim =
		bt_device_store_claim(view->devices, owner->namespace_, named->claim);
	*out_claim = claim;
	if (!claim) {
		return MISSING;
	}
	if (claim->deleting) {
		return DELETING;
	}
	bool owned = named->kind == BT_POD_CLAIM_NAMED || claim->owner_uid == owner->uid ||
		     (owner->pod_group != BT_NAME_NONE && claim->owner_group == owner->pod_group);
	return owned ? NO_FAILURE : FOREIGN;
}

/* The claim that a pod names, if the pod may use it; else NULL and the reason. */
static const struct bt_resource_claim *find_claim(const struct bt_view *view, const struct owner *owner,
	const struct bt_pod_claim *named, const char **out_why)
{
	struct bt_str space = bt_view_str(view, owner->namespace_), pod = bt_view_str(view, owner->name),
		      name = bt_view_str(view, named->claim);
	const char *kind = bt_release_text(view->devices->features.release, BT_TEXT_POD_OF_CLAIM);
	const struct bt_resource_claim *claim;

	switch (look_up(view, owner, named, &claim)) {
	case NO_FAILURE:
		break;
	case NOT_CREATED:
		*out_why = bt_keep_text(view, "pod \"%.*s/%.*s\": ResourceClaim not created yet",
			BT_STR_ARG(space), BT_STR_ARG(pod));
		break;
	case UNSUPPORTED:
		*out_why = bt_keep_text(view,
			"pod \"%.*s/%.*s\", spec.resourceClaim \"%.*s\": none of the supported fields are "
			"set",
			BT_STR_ARG(space), BT_STR_ARG(pod), BT_STR_ARG(bt_view_str(view, named->name)));
		break;
	case MISSING:
		*out_why = bt_keep_text(view, "could not find ResourceClaim \"%.*s/%.*s\"", BT_STR_ARG(space),
			BT_STR_ARG(name));
		break;
	case DELETING:
		*out_why = bt_keep_text(view, "resourceclaim \"%.*s\" is being deleted", BT_STR_ARG(name));
		break;
	case FOREIGN:
		if (owner->pod_group != BT_NAME_NONE) {
			*out_why = bt_keep_text(view,
				"ResourceClaim %.*s/%.*s was not created for %s %.*s/%.*s (neither %s nor "
				"PodGroup %.*s is the owner)",
				BT_STR_ARG(space), BT_STR_ARG(name), kind, BT_STR_ARG(space), BT_STR_ARG(pod),
				kind, BT_STR_ARG(bt_view_str(view, owner->pod_group)));
			break;
		}
		*out_why = bt_keep_text(view,
			"ResourceClaim %.*s/%.*s was not created for %s %.*s/%.*s (%s is not owner)",
			BT_STR_ARG(space), BT_STR_ARG(name), kind, BT_STR_ARG(space), BT_STR_ARG(pod), kind);
		break;
	}
	return claim;
}

const char *bt_dynamic_resources_gate(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t pod_name, uint32_t pod_uid)
{
	const struct owner owner = owner_of(view, signature, pod_name, bt_consumer_uid(pod_name, pod_uid));
	const char *why = NULL;

	for (uint32_t i = 0; i < signature->claim_n && !why; i++) {
		find_claim(view, &owner, &signature->claims[i], &why);
	}
	return why;
}

/* The claim created for the pod's extended resources in an earlier attempt, or NULL. Source:
 * findExtendedResourceClaim, v1.36.3. */
static const struct bt_resource_claim *find_special(const struct bt_device_store *store)
{
	for (uint32_t i = 0; store->special_n && i < store->claim_n; i++) {
		const struct bt_resource_claim *claim = &store->claims[i];

		for (uint32_t j = 0; claim->live && claim->special && j < claim->owner_n; j++) {
			if (claim->owners[j].controller && claim->owners[j].name == store->pod_name &&
				claim->owners[j].uid == store->pod_uid) {
				return claim;
			}
		}
	}
	BT_INVARIANT(store->special_n == 0 || store->pod_name != BT_NAME_NONE);
	return NULL;
}

/* Is the claim reserved for at most this consumer? */
static bool is_only_for(const struct bt_resource_claim *claim, uint32_t uid)
{
	return claim->reserved_n == 0 || (claim->reserved_n == 1 && claim->reserved_for[0].uid == uid);
}

static struct held hold(const struct bt_view *view, const struct bt_signature *signature,
	const struct bt_resource_claim *claim)
{
	const struct bt_device_store *store = view->devices;

	if (!claim) {
		return (struct held){.claim_ix = BT_NO_CLAIM, .new = true};
	}
	BT_INVARIANT(claim->live && claim >= store->claims);
	const uint32_t ix = (uint32_t)(claim - store->claims);
	const struct bt_claiming_group *group = bt_device_store_group(store, signature);
	return (struct held){.claim = claim,
		.claim_ix = ix,
		.namespace_ = claim->namespace_,
		.name = claim->name,
		.uid = claim->uid,
		.new = !claim->allocated,
		.sharing = !claim->allocated && claim->pending ? store->calls->sharing(store->context, ix)
							       : NULL,
		.releasable = is_only_for(claim, store->pod_uid),
		.releasable_by_group = is_only_for(claim, group ? group->uid : BT_NAME_NONE),
		.group_uid = group ? group->uid : BT_NAME_NONE};
}

/* The current claim, or NULL when it was deleted or replaced since. */
static const struct bt_resource_claim *claim_now(const struct bt_view *view, const struct held *held)
{
	BT_REQUIRE_HOT(held->claim_ix < view->devices->claim_n);
	const struct bt_resource_claim *claim = &view->devices->claims[held->claim_ix];

	return claim->live && claim->namespace_ == held->namespace_ && claim->name == held->name &&
			       claim->uid == held->uid
		       ? claim
		       : NULL;
}

/* Lists the pod's claims. Returns why it cannot be scheduled, or NULL. */
static const char *list_claims(struct dynamic_resources_term *term, const struct bt_view *view)
{
	const struct bt_signature *signature = term->signature;
	const struct owner owner = owner_of(view, signature, view->devices->pod_name, view->devices->pod_uid);
	const char *why = NULL;

	term->held = bt_arena_zalloc(view->devices->scratch, (signature->claim_n + 1) * sizeof(*term->held));
	for (uint32_t i = 0; i < signature->claim_n && !why; i++) {
		const struct bt_resource_claim *claim = find_claim(view, &owner, &signature->claims[i], &why);

		if (claim) {
			term->held[term->held_n++] = hold(view, signature, claim);
		}
	}
	term->user_n = term->held_n;
	if (!why && bt_extended_wanted(view, signature)) {
		term->held[term->held_n] = hold(view, signature, find_special(view->devices));
		term->held[term->held_n++].special = true;
	}
	why = why ? why : bt_group_claims_failure(view, signature);
	BT_INVARIANT(term->held_n <= signature->claim_n + 1 && term->user_n <= term->held_n);
	return why;
}

/* ---- PreFilter ---- */

static const char *claim_name(const struct bt_view *view, const struct bt_resource_claim *claim)
{
	return bt_keep_text(view, "%.*s/%.*s", BT_STR_ARG(bt_view_str(view, claim->namespace_)),
		BT_STR_ARG(bt_view_str(view, claim->name)));
}

/* Does the class not exist? Source: validateDeviceClass, v1.36.3. */
static bool class_fails(
	const struct bt_view *view, uint32_t class_, const char *request, struct bt_compiled *compiled)
{
	if (class_ == BT_NAME_EMPTY) {
		compiled->pre_filter_error =
			bt_keep_text(view, "request %s: unsupported request type", request);
		return true;
	}
	if (!bt_device_store_class(view->devices, class_)) {
		bt_refuse(compiled, bt_keep_text(view, "request %s: device class %.*s does not exist",
					    request, BT_STR_ARG(bt_view_str(view, class_))));
		return true;
	}
	return false;
}

/* Is the request invalid? Writes the error into compiled. */
static bool request_fails(const struct bt_view *view, const struct bt_resource_claim *claim,
	const struct bt_device_request *request, struct bt_compiled *compiled)
{
	const char *name = bt_keep_text(view, "%.*s", BT_STR_ARG(bt_view_str(view, request->name)));

	if (request->has_exactly) {
		return class_fails(view, request->exactly.class_, name, compiled);
	}
	if (request->alternative_n == 0) {
		bt_refuse(compiled, bt_keep_text(view, "resource claim %s, request %s: unknown request type",
					    claim_name(view, claim), name));
		return true;
	}
	if (!view->devices->features.prioritized_list) {
		bt_refuse(compiled, bt_keep_text(view,
					    "resource claim %s, request %s: has subrequests, but the "
					    "DRAPrioritizedList feature is disabled",
					    claim_name(view, claim), name));
		return true;
	}
	for (uint32_t i = 0; i < request->alternative_n; i++) {
		const char *full = bt_keep_text(
			view, "%s/%.*s", name, BT_STR_ARG(bt_view_str(view, request->alternatives[i].name)));

		if (class_fails(view, request->alternatives[i].class_, full, compiled)) {
			return true;
		}
	}
	return false;
}

/* Does the claim end PreFilter? Writes the result into compiled. */
static bool claim_fails(const struct bt_view *view, const struct held *held, struct bt_compiled *compiled)
{
	const struct bt_resource_claim *claim = held->claim;

	if (claim && claim->allocated) {
		if (claim->allocation.selector_error) {
			compiled->pre_filter_error = bt_keep_text(view, "%.*s",
				BT_STR_ARG(bt_view_str(view, claim->allocation.selector_error)));
		}
		return claim->allocation.selector_error != BT_NAME_NONE;
	}
	if (held->sharing) {
		if (bt_release_has(view->devices->features.release, BT_RULE_SHARED_CLAIMS_KEEP_TO_NODES) &&
			held->sharing->selector_error) {
			compiled->pre_filter_error = bt_keep_text(
				view, "%.*s", BT_STR_ARG(bt_view_str(view, held->sharing->selector_error)));
			return true;
		}
		return false;
	}
	if (claim && claim->pending) {
		bt_refuse(
			compiled, bt_keep_text(view, "resource claim %s is in the process of being allocated",
					  claim_name(view, claim)));
		return true;
	}
	for (uint32_t i = 0; !held->special && i < claim->request_n; i++) {
		if (request_fails(view, claim, &claim->requests[i], compiled)) {
			return true;
		}
	}
	return false;
}

static void pre_filter(void *state, const struct bt_view *view, struct bt_compiled *compiled)
{
	struct dynamic_resources_term *term = state;
	struct bt_arena *scratch = view->devices->scratch;

	bt_arena_reset(scratch);
	term->held_n = term->user_n = term->new_n = term->sharing_n = 0;
	term->inputs = NULL;
	compiled->filter_skip = compiled->score_skip = false;
	const char *why = list_claims(term, view);
	if (why) {
		term->held_n = 0;
		bt_refuse(compiled, why);
		return;
	}
	for (uint32_t i = 0; i < term->held_n; i++) {
		if (claim_fails(view, &term->held[i], compiled)) {
			term->held_n = 0;
			return;
		}
		term->new_n += term->held[i].new;
		term->sharing_n += term->held[i].sharing != NULL;
	}
	if (term->settings->allocated_break && term->new_n && term->new_n < term->held_n) {
		compiled->score_failure = bt_keep_text(
			view, "number of allocations %u is smaller than number of claims", term->new_n);
	}
	compiled->filter_skip = term->held_n == 0;
	compiled->score_skip = compiled->filter_skip || !term->settings->filtered;
	term->answers = bt_arena_zalloc(scratch, view->snapshot->slot_n * sizeof(*term->answers));
	term->answer_n = view->snapshot->slot_n;
	term->cycle = bt_arena_zalloc(scratch, sizeof(*term->cycle));
	BT_INVARIANT(term->new_n <= term->held_n);
}

/* ---- Filter ---- */

/* The first condition of a type that a device has in its claim's status. */
static bool is_true(
	const struct bt_resource_claim *claim, const struct bt_device_result *result, uint32_t type)
{
	for (uint32_t i = 0; i < claim->condition_n; i++) {
		const struct bt_device_condition *at = &claim->conditions[i];

		if (at->type == type && at->device == result->device && at->driver == result->driver &&
			at->pool == result->pool) {
			return at->is_true;
		}
	}
	return false;
}

static bool has_status(const struct bt_resource_claim *claim, const struct bt_device_result *result)
{
	for (uint32_t i = 0; i < claim->condition_n; i++) {
		const struct bt_device_condition *at = &claim->conditions[i];

		if (at->device == result->device && at->driver == result->driver &&
			at->pool == result->pool) {
			return true;
		}
	}
	return false;
}

enum readiness { READY, WAITING, BROKEN };

/* Source: isClaimReadyForBinding, v1.36.3. */
static enum readiness readiness(const struct bt_resource_claim *claim)
{
	BT_INVARIANT(claim->allocated);
	for (uint32_t i = 0; i < claim->allocation.result_n; i++) {
		const struct bt_device_result *result = &claim->allocation.results[i];

		if (result->binding_condition_n == 0) {
			continue;
		}
		if (!has_status(claim, result)) {
			return WAITING;
		}
		for (uint32_t j = 0; j < result->failure_condition_n; j++) {
			if (is_true(claim, result, result->failure_conditions[j])) {
				return BROKEN;
			}
		}
		for (uint32_t j = 0; j < result->binding_condition_n; j++) {
			if (!is_true(claim, result, result->binding_conditions[j])) {
				return WAITING;
			}
		}
	}
	return READY;
}

/* Source: isClaimTimeout, v1.36.3. Called only for claims that wait, which have binding conditions. */
static bool timed_out(const struct dynamic_resources_term *term, const struct bt_view *view,
	const struct bt_resource_claim *claim)
{
	int64_t since = claim->allocation.since_ns;

	BT_INVARIANT(view->devices->features.binding_conditions);
	return since && view->devices->now_ns > bt_wrap_add(since, term->settings->binding_timeout_ns);
}

static bool skips_operations(const struct bt_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->result_n; i++) {
		if (allocation->results[i].skipped_n) {
			return true;
		}
	}
	return false;
}

/* Does the allocation's node selector exclude the node? */
static bool is_out_of_reach(
	const struct bt_view *view, const struct bt_allocation *allocation, const struct bt_node *node)
{
	return allocation->has_selector && !bt_node_selector_matches(view->snapshot->dictionary->intern,
						   &allocation->selector, node->labels, node->name);
}

/* Can the node not use the claim's devices: out of reach, or without a required node operation? */
static bool elsewhere(const struct bt_view *view, const struct bt_resource_claim *claim, uint32_t node_ix)
{
	const struct bt_node *node = &view->snapshot->nodes[node_ix];

	BT_INVARIANT(claim->allocated && node_ix < view->snapshot->slot_n);
	if (is_out_of_reach(view, &claim->allocation, node)) {
		return true;
	}
	return bt_release_has(
		       view->devices->features.release, BT_RULE_SKIPPED_OPERATIONS_NEED_NODE_FEATURE) &&
	       skips_operations(&claim->allocation) &&
	       !(node->features & BT_FEATURE_DRA_OPTIONAL_NODE_OPERATIONS);
}

/* Do binding conditions of the allocated claim prevent binding? */
static bool unbindable(const struct dynamic_resources_term *term, const struct bt_view *view,
	const struct bt_resource_claim *claim)
{
	if (!view->devices->features.binding_conditions) {
		return false;
	}
	switch (readiness(claim)) {
	case BROKEN:
		return true;
	case WAITING:
		return timed_out(term, view, claim);
	case READY:
		break;
	}
	return false;
}

static struct bt_wanted_claim wanted_claim(const struct dynamic_resources_term *term,
	const struct bt_view *view, const struct held *held, uint32_t node_ix)
{
	BT_INVARIANT(held->new && (held->special || held->claim));
	if (held->special) {
		struct bt_wanted_claim wanted = {
			.namespace_ = term->signature->namespace_, .name = bt_str(BT_EXTENDED_CLAIM)};

		wanted.requests = bt_extended_requests(view, term->signature, node_ix, &wanted.request_n);
		if (held->claim) {
			wanted.name = bt_view_str(view, held->claim->name);
		}
		return wanted;
	}
	return (struct bt_wanted_claim){
		.namespace_ = held->claim->namespace_,
		.name = bt_view_str(view, held->claim->name),
		.requests = held->claim->requests,
		.request_n = held->claim->request_n,
		.constraints = held->claim->constraints,
		.constraint_n = held->claim->constraint_n,
	};
}

static void dynamic_resources_refuse(struct node_devices *answer, enum dynamic_resources_reason_kind kind)
{
	BT_INVARIANT(answer->known);
	answer->pass = false;
	answer->kind = kind;
}

/* Searches devices on the node. */
static void allocate(const struct dynamic_resources_term *term, const struct bt_view *view, uint32_t node_ix,
	struct node_devices *answer)
{
	struct bt_arena *scratch = view->devices->scratch;
	struct bt_wanted_claim *wanted = bt_arena_zalloc(scratch, term->new_n * sizeof(*wanted));
	struct bt_allocation *allocations = bt_arena_zalloc(scratch, term->new_n * sizeof(*allocations));
	struct bt_buf error = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < term->held_n; i++) {
		if (term->held[i].new && !term->held[i].sharing) {
			wanted[n++] = wanted_claim(term, view, &term->held[i], node_ix);
		}
	}
	BT_INVARIANT(n + term->sharing_n == term->new_n);
	const struct bt_allocation_request request = {
		view, node_ix, wanted, n, term->cycle, term->settings->step_limit};
	switch (bt_allocate(&request, allocations, &error)) {
	case BT_ALLOCATED:
		/* Shared allocations come last, but are assigned in the order of the claims, as upstream does
		 * (Filter and Reserve, v1.36.3): a claim may get the allocation of another
		 * one; PreBind fails then. */
		for (uint32_t i = 0; i < term->held_n; i++) {
			if (term->held[i].sharing) {
				allocations[n++] = *term->held[i].sharing;
			}
		}
		answer->allocations = allocations;
		break;
	case BT_NOT_ALLOCATED:
		dynamic_resources_refuse(answer, NOT_ALLOCATED);
		break;
	case BT_POOLS_INVALID:
		dynamic_resources_refuse(answer, INVALID_POOLS);
		break;
	case BT_ALLOCATION_TIMED_OUT:
		if (term->settings->timeout_refuses) {
			dynamic_resources_refuse(answer, TIMED_OUT);
			break;
		}
		answer->pass = false;
		answer->error = bt_keep_text(view, "node %.*s: timed out trying to allocate devices",
			BT_STR_ARG(bt_view_str(view, view->snapshot->nodes[node_ix].name)));
		break;
	case BT_ALLOCATION_FAILED:
		answer->pass = false;
		answer->error = bt_keep_text(view, "%.*s", BT_STR_ARG(bt_buf_view(&error)));
		break;
	}
	bt_buf_fini(&error);
}

/* Do extended resources alone decide the node? */
static bool settled_by_resources(const struct dynamic_resources_term *term, const struct bt_view *view,
	uint32_t node_ix, struct node_devices *answer)
{
	if (term->held_n == term->user_n) {
		return false;
	}
	BT_INVARIANT(term->held_n == term->user_n + 1 && term->held[term->user_n].special);
	const struct bt_resource_claim *special = term->held[term->user_n].claim;
	if (special && special->has_requests) {
		dynamic_resources_refuse(answer, STALE);
		return true;
	}
	enum bt_extended_source source = bt_extended_source(view, term->signature, node_ix);
	if (source == BT_EXTENDED_MISSING) {
		dynamic_resources_refuse(answer, NO_RESOURCE);
		return true;
	}
	return term->user_n == 0 && (source == BT_EXTENDED_ELSEWHERE || (special && special->allocated));
}

/* Is the claim, allocated or shared, not available on the node? */
static bool is_apart(const struct dynamic_resources_term *term, const struct bt_view *view,
	const struct held *held, uint32_t node_ix)
{
	if (held->sharing) {
		return bt_release_has(view->devices->features.release, BT_RULE_SHARED_CLAIMS_KEEP_TO_NODES) &&
		       is_out_of_reach(view, held->sharing, &view->snapshot->nodes[node_ix]);
	}
	return !held->new && (elsewhere(view, held->claim, node_ix) || unbindable(term, view, held->claim));
}

static void refuse_in_words(const struct bt_view *view, struct node_devices *answer, const char *text)
{
	dynamic_resources_refuse(answer, MAPPING);
	answer->text = bt_texts_keep(view->snapshot->dictionary->texts, bt_str(text));
}

/* Why the pod cannot share one of its allocated claims on the node, or NULL. Depends on the pods that are
 * on the node now. */
static const char *not_shared(
	const struct dynamic_resources_term *term, const struct bt_view *view, uint32_t node_ix)
{
	const char *text = NULL;

	for (uint32_t i = 0; view->devices->features.node_allocatable && i < term->held_n && !text; i++) {
		const struct held *held = &term->held[i];

		if (held->sharing) {
			text = is_out_of_reach(view, held->sharing, &view->snapshot->nodes[node_ix])
				       ? NULL
				       : bt_pending_claim_refused(view, held->claim, held->sharing);
		} else if (!held->new && !elsewhere(view, held->claim, node_ix)) {
			text = bt_mapped_claim_refused(view, term->signature, node_ix, held->claim);
		}
	}
	return text;
}

/* The same, where it depends on pods of the node; otherwise the cached result includes it. */
static const char *not_shared_now(const struct dynamic_resources_term *term, const struct bt_view *view,
	uint32_t node_ix, const struct node_devices *answer)
{
	return !answer->settled && view->devices->features.node_allocatable &&
			       bt_release_has(view->devices->features.release, BT_RULE_DEVICES_MAP_ALONE)
		       ? not_shared(term, view, node_ix)
		       : NULL;
}

/* Computes the node resources that claims consume. In 1.36 only of claims that the cycle allocates. view: has
 * the present slices, as upstream's Filter reads them also when preemption runs it again. */
static void map_claims(const struct dynamic_resources_term *term, const struct bt_view *view,
	uint32_t node_ix, struct node_devices *answer)
{
	bool new_alone = bt_release_has(view->devices->features.release, BT_RULE_DEVICES_MAP_ALONE);
	struct bt_mapped_claim *claims =
		bt_arena_zalloc(view->devices->scratch, term->held_n * sizeof(*claims));
	struct bt_mapping mapping;
	uint32_t n = 0, claim_n = 0;

	for (uint32_t i = 0; i < term->held_n; i++) {
		const struct held *held = &term->held[i];
		struct bt_mapped_claim claim = {held->claim ? held->claim->name : BT_NAME_NONE, NULL};
		uint32_t at = 0;

		if (held->sharing) {
			claim.allocation = held->sharing;
		} else if (held->new) {
			claim.allocation = answer->allocations ? &answer->allocations[n++] : NULL;
		} else if (!new_alone) {
			claim.allocation = &held->claim->allocation;
		}
		/* If the pod names a claim twice, upstream uses the last result. */
		while (at < claim_n && claims[at].name != claim.name) {
			at++;
		}
		claim_n += at == claim_n;
		claims[at] = claim;
	}
	switch (bt_map_claims(view, term->signature, node_ix, claims, claim_n, &mapping)) {
	case BT_MAPS_NOTHING:
		break;
	case BT_MAPPED:
		answer->node_claims = mapping.claims;
		answer->node_claim_n = mapping.claim_n;
		answer->demand = mapping.demand;
		break;
	case BT_MAPPING_REFUSED:
		refuse_in_words(view, answer, mapping.text);
		break;
	case BT_MAPPING_FAILED:
		answer->pass = false;
		answer->error = mapping.text;
		break;
	}
}

/* present: the view with the slices as they are now. */
static void spec(const struct dynamic_resources_term *term, const struct bt_view *view,
	const struct bt_view *present, uint32_t node_ix, struct node_devices *answer)
{
	bool *apart = bt_arena_zalloc(view->devices->scratch, term->held_n);
	bool any = false;

	*answer = (struct node_devices){.known = true, .pass = true};
	answer->settled = settled_by_resources(term, view, node_ix, answer);
	if (answer->settled) {
		return;
	}
	bool by_pods = bt_release_has(view->devices->features.release, BT_RULE_DEVICES_MAP_ALONE);
	const char *text = by_pods ? NULL : not_shared(term, view, node_ix);
	if (text) {
		refuse_in_words(view, answer, text);
		return;
	}
	for (uint32_t i = 0; i < term->held_n; i++) {
		apart[i] = is_apart(term, view, &term->held[i], node_ix);
	}
	if (term->new_n) {
		allocate(term, view, node_ix, answer);
	}
	if (answer->pass && view->devices->features.node_allocatable && term->signature->sums) {
		map_claims(term, present, node_ix, answer);
	}
	for (uint32_t i = 0; i < term->held_n; i++) {
		any |= apart[i];
	}
	if (answer->pass && any) {
		bool fits = bt_mapping_fits(view, node_ix, answer->demand) &&
			    !not_shared_now(term, view, node_ix, answer);

		for (uint32_t i = 0; fits && i < term->held_n; i++) {
			term->held[i].unavailable |= apart[i];
		}
		dynamic_resources_refuse(answer, NOT_AVAILABLE);
	}
	if (!answer->pass) {
		answer->allocations = NULL;
	}
}

static void compute(const struct dynamic_resources_term *term, const struct bt_view *view, uint32_t node_ix,
	struct node_devices *answer)
{
	struct bt_view as_read = *view;

	if (!term->inputs) {
		spec(term, view, view, node_ix, answer);
		return;
	}
	const struct bt_device_store devices = bt_device_inputs_store(term->inputs);
	as_read.devices = &devices;
	spec(term, &as_read, view, node_ix, answer);
	answer->remapped = true;
}

static const struct node_devices *answer_of(
	const struct dynamic_resources_term *term, const struct bt_view *view, uint32_t node_ix)
{
	struct node_devices *answer = &term->answers[node_ix];

	BT_REQUIRE_HOT(node_ix < term->answer_n);
	if (!answer->known) {
		compute(term, view, node_ix, answer);
	}
	BT_INVARIANT(answer->known && (answer->pass || !answer->allocations));
	return answer;
}

/* The same for Filter. After a change of devices in mid-cycle preemption alone filters, and maps the claims
 * again. */
static const struct node_devices *filter_answer(
	const struct dynamic_resources_term *term, const struct bt_view *view, uint32_t node_ix)
{
	struct node_devices *answer = &term->answers[node_ix];

	BT_REQUIRE_HOT(node_ix < term->answer_n);
	if (term->inputs && !answer->remapped && view->devices->features.node_allocatable) {
		answer->known = false;
	}
	return answer_of(term, view, node_ix);
}

/* Copies the claims, slices and allocations that PreFilter has read. */
static void keep_inputs(struct dynamic_resources_term *term, const struct bt_view *view)
{
	term->inputs = bt_device_inputs_keep(view);
	for (uint32_t i = 0; i < term->held_n; i++) {
		const struct bt_resource_claim *claim = term->held[i].claim;

		if (claim) {
			struct bt_resource_claim *kept =
				bt_arena_zalloc(view->devices->scratch, sizeof(*kept));

			*kept = *claim;
			term->held[i].claim = kept;
		}
	}
}

/* Filter reads DeviceClasses again; claims, slices and allocations remain as in PreFilter. */
static void dynamic_resources_state_changes(
	struct bt_compiled *compiled, const struct bt_view *view, enum bt_state_change change)
{
	struct dynamic_resources_term *term = compiled->state;

	if (!term || !term->held_n) {
		return;
	}
	if (change == BT_DEVICES_WILL_CHANGE && !term->inputs) {
		keep_inputs(term, view);
	} else if (change == BT_STATE_HAS_CHANGED) {
		memset(term->answers, 0, term->answer_n * sizeof(*term->answers));
	}
}

static void dynamic_resources_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		const struct node_devices *answer = filter_answer(term, view, first + i);

		pass[i] = answer->pass && bt_mapping_fits(view, first + i, answer->demand) &&
			  !not_shared_now(term, view, first + i, answer);
	}
}

static const char *failure(const void *term, const struct bt_view *view, uint32_t node_ix)
{
	const struct node_devices *answer = filter_answer(term, view, node_ix);

	return answer->error && !not_shared_now(term, view, node_ix, answer) ? answer->error : NULL;
}

static void dynamic_resources_reject(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const struct node_devices *answer = filter_answer(term, view, node_ix);

	const char *text = not_shared_now(term, view, node_ix, answer);

	if (text) {
		bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, MAPPING);
		out_rejection->reasons[0].arg =
			bt_texts_keep(view->snapshot->dictionary->texts, bt_str(text));
		return;
	}
	if (!bt_mapping_fits(view, node_ix, answer->demand)) {
		bt_mapping_reject(view, node_ix, answer->demand, NO_ROOM, out_rejection);
		return;
	}
	bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, answer->kind);
	out_rejection->reasons[0].arg = answer->text;
}

static const char *const reasons[] = {
	[NOT_AVAILABLE] = "resourceclaim not available on the node",
	[NOT_ALLOCATED] = "cannot allocate all claims",
	[INVALID_POOLS] = "invalid resource pools were encountered",
	[NO_RESOURCE] = "cannot fit resource",
	[STALE] = "cannot schedule extended resource claim",
	[TIMED_OUT] = "timed out trying to allocate devices",
};

static void reason(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text)
{
	switch (reason->kind) {
	case NO_ROOM:
		bt_buf_text(out_text, "Insufficient ");
		bt_buf_str(out_text, bt_resource_name(dictionary, reason->arg));
		break;
	case MAPPING:
		bt_buf_str(out_text, bt_intern_str(dictionary->intern, reason->arg));
		break;
	default:
		bt_buf_text(out_text, reasons[reason->kind]);
		break;
	}
}

/* ---- Score ---- */

/* Does a device's result name this alternative? */
static bool chosen(const struct bt_view *view, const struct bt_allocation *allocation, uint32_t request,
	uint32_t alternative)
{
	struct bt_str parent = bt_view_str(view, request), name = bt_view_str(view, alternative);

	for (uint32_t i = 0; i < allocation->result_n; i++) {
		struct bt_str at = bt_view_str(view, allocation->results[i].request);

		if (at.len == parent.len + 1 + name.len && at.ptr[parent.len] == '/' &&
			bt_str_eq(bt_str_sub(at, 0, parent.len), parent) &&
			bt_str_eq(bt_str_sub(at, parent.len + 1, at.len), name)) {
			return true;
		}
	}
	return false;
}

/* Earlier alternatives score higher. Source: computeScore, v1.36.3. */
static int64_t score_claim(const struct bt_view *view, const struct bt_resource_claim *claim,
	const struct bt_allocation *allocation)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < claim->request_n; i++) {
		const struct bt_device_request *request = &claim->requests[i];

		for (uint32_t j = 0; !request->has_exactly && j < request->alternative_n; j++) {
			if (chosen(view, allocation, request->name, request->alternatives[j].name)) {
				sum += ALTERNATIVES_MAX - (int64_t)j;
			}
		}
	}
	return sum;
}

static int64_t score_node(
	const struct dynamic_resources_term *term, const struct bt_view *view, uint32_t node_ix)
{
	const struct node_devices *answer = answer_of(term, view, node_ix);
	const struct bt_allocation *allocations = answer->allocations;
	int64_t sum = 0;
	uint32_t n = 0;

	/* Upstream keeps no state where nothing is allocated and claims consume no node resources. */
	for (uint32_t i = 0; (allocations || answer->node_claim_n) && i < term->held_n; i++) {
		const struct held *held = &term->held[i];
		const struct bt_allocation *allocation =
			held->new ? &allocations[n++] : &held->claim->allocation;

		if (held->claim) {
			sum += score_claim(view, held->claim, allocation);
		}
	}
	return sum;
}

static void dynamic_resources_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct dynamic_resources_term *term = opaque;

	for (uint32_t i = 0; i < n; i++) {
		raw[i] = term->settings->scores ? score_node(term, view, first + i) : 0;
	}
}

/* ---- Reserve and PostFilter ---- */

static void reserve(const struct bt_plugin_use *use, const struct bt_compiled *compiled,
	const struct bt_view *view, uint32_t node_ix, struct bt_reservation *out)
{
	const struct dynamic_resources_term *term = compiled->state;

	if (!use->pre_filter || !use->filter || !term || term->held_n == 0) {
		return;
	}
	const struct bt_allocation *allocations = answer_of(term, view, node_ix)->allocations;
	struct bt_device_choice *choices =
		bt_arena_zalloc(view->devices->scratch, term->held_n * sizeof(*choices));
	uint32_t n = 0, found = 0;

	for (uint32_t i = 0; allocations && i < term->held_n; i++) {
		const struct held *held = &term->held[i];

		if (!held->new) {
			continue;
		}
		const struct bt_allocation *allocation = &allocations[found++];
		/* As upstream: where device plugins provide all extended resources, a pod with further claims
		 * gets a claim for them without devices, and its binding fails. */
		if (held->claim_ix == BT_NO_CLAIM || claim_now(view, held)) {
			choices[n++] = (struct bt_device_choice){.claim_ix = held->claim_ix,
				.allocation = *allocation,
				.shared = held->sharing != NULL};
		}
	}
	out->choices = choices;
	out->choice_n = n;
	out->node_claims = answer_of(term, view, node_ix)->node_claims;
	out->node_claim_n = answer_of(term, view, node_ix)->node_claim_n;
}

static struct bt_claim_release release_of(enum bt_claims_release what, const struct held *held)
{
	return (struct bt_claim_release){
		.what = what, .claim_ix = held->claim_ix, .name = held->name, .uid = held->uid};
}

/* Does the pod have claims in this cycle, so that PostFilter acts? */
static bool holds(const struct bt_compiled *compiled)
{
	const struct dynamic_resources_term *term = compiled ? compiled->state : NULL;

	return term && term->held_n > 0;
}

static struct bt_claim_release release_for(const struct bt_compiled *compiled)
{
	if (!holds(compiled)) {
		return (struct bt_claim_release){.what = BT_CLAIMS_NONE};
	}
	const struct dynamic_resources_term *term = compiled->state;

	for (uint32_t i = 0; i < term->user_n; i++) {
		if (term->held[i].unavailable && term->held[i].releasable) {
			return release_of(BT_CLAIMS_DEALLOCATE, &term->held[i]);
		}
	}
	if (term->held_n > term->user_n && term->held[term->user_n].claim) {
		return release_of(BT_CLAIMS_DELETE, &term->held[term->user_n]);
	}
	return (struct bt_claim_release){.what = BT_CLAIMS_KEPT};
}

/* The claim to deallocate so that the group can be scheduled. Source: deallocatePodGroupClaims, v1.37.2. */
static struct bt_claim_release release_for_group(const struct bt_compiled *compiled)
{
	const struct dynamic_resources_term *term = holds(compiled) ? compiled->state : NULL;

	for (uint32_t i = 0; term && i < term->held_n; i++) {
		if (term->held[i].unavailable && term->held[i].releasable_by_group) {
			struct bt_claim_release release = release_of(BT_CLAIMS_DEALLOCATE, &term->held[i]);

			release.consumer = term->held[i].group_uid;
			return release;
		}
	}
	return (struct bt_claim_release){.what = BT_CLAIMS_NONE};
}

static const char *release_text(const struct bt_release *kubernetes, enum bt_claims_release release)
{
	switch (release) {
	case BT_CLAIMS_NONE:
		return bt_release_text(kubernetes, BT_TEXT_NO_CLAIMS_TO_DEALLOCATE);
	case BT_CLAIMS_KEPT:
		return bt_release_text(kubernetes, BT_TEXT_CLAIMS_KEPT);
	case BT_CLAIMS_DEALLOCATE:
		return "deallocation of ResourceClaim completed";
	case BT_CLAIMS_DELETE:
		return "deletion of ResourceClaim completed";
	case BT_CLAIMS_UNRESERVE:
		break; /* bt_group_claims_unreserve writes the text */
	}
	return "";
}

static bool post_filter_idle(const struct bt_compiled *compiled)
{
	return !holds(compiled);
}

/* Decides before later PostFilter plugins run Filter again: claims that these find unavailable count only for
 * plugins after them. */
static void post_filter(
	const struct bt_post_filter_env *env, struct bt_post_filter_result *out, struct bt_buf *out_text)
{
	const struct dynamic_resources_term *term = env->compiled ? env->compiled->state : NULL;
	size_t before = out_text->len;

	out->release = release_for(env->compiled);
	out->group_release = release_for_group(env->compiled);
	if (out->release.what == BT_CLAIMS_KEPT && !env->group_runs &&
		bt_group_claims_concern(env->view, term->signature) &&
		!bt_group_claims_unreserve(
			env->view, term->signature, env->view->devices->pod_uid, &out->release, out_text)) {
		out->nominates = true;
		out->outcome = BT_PREEMPT_FAILED;
	}
	out->ends = out->release.what == BT_CLAIMS_UNRESERVE;
	if (out_text->len == before) {
		bt_buf_text(out_text, release_text(env->release, out->release.what));
	}
}

/* ---- queueing hints ---- */

/* Are all claims of the pod available? out_uses: is one of them the claim with this UID? */
static bool has_claims(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t uid, bool *out_uses)
{
	const struct owner owner = owner_of(
		view, signature, BT_NAME_NONE, signature->pod_uid ? signature->pod_uid : BT_NAME_EMPTY);

	for (uint32_t i = 0; i < signature->claim_n; i++) {
		const struct bt_resource_claim *claim;

		if (look_up(view, &owner, &signature->claims[i], &claim) != NO_FAILURE) {
			return false;
		}
		*out_uses |= claim && claim->uid == uid;
	}
	return true;
}

static bool after_claim_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	uint32_t uid = event->object.uid ? event->object.uid : BT_NAME_EMPTY;
	bool uses = false;

	if (!has_claims(env->view, env->signature, uid, &uses)) {
		return false;
	}
	if (event->object.changes & BT_CHANGED_ALLOCATION_LOST) {
		return true;
	}
	return uses && (event->action == BT_ADD || (event->object.changes & BT_CHANGED_CLAIM_STATUS));
}

/* The claim's devices are free. */
static bool after_claim_deleted(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->object.changes & BT_CHANGED_ALLOCATION_LOST;
}

static bool after_generated_claim(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	bool uses = false;

	return env->own && has_claims(env->view, event->pod.new.signature, BT_NAME_NONE, &uses);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL | BT_UPDATE_NODE_ALLOCATABLE, NULL, 0},
	{BT_CLUSTER_EVENT_RESOURCE_CLAIM, BT_ADD | BT_UPDATE, after_claim_change, 0},
	{BT_CLUSTER_EVENT_RESOURCE_CLAIM, BT_DELETE, after_claim_deleted,
		BT_NEEDS_RULE(DELETED_CLAIMS_CONCERN_PODS)},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_GENERATED_CLAIM, after_generated_claim, 0},
	{BT_CLUSTER_EVENT_DEVICE_CLASS, BT_ADD | BT_UPDATE, NULL, 0},
	{BT_CLUSTER_EVENT_RESOURCE_SLICE, BT_ADD | BT_UPDATE, NULL, 0},
};

static bool pre_enqueue(const struct bt_pod_env *env, struct bt_buf *out_why)
{
	const char *why = bt_dynamic_resources_gate(env->view, env->signature, env->name, env->uid);

	if (why && out_why) {
		bt_buf_text(out_why, why);
	}
	return why != NULL;
}

/* Source: bindClaim, v1.36.3: the first pod of the group that is bound allocates the shared claims.
 * patchPodExtendedResourceClaimStatus, v1.36.3: a pod with claims never binds if a device plugin on its node
 * provides its extended resources, though a DeviceClass names them. */
static bool pre_bind(const struct bt_pod_env *env, const struct bt_device_choice *choices, uint32_t choice_n,
	struct bt_buf *out_why)
{
	for (uint32_t i = 0; i < choice_n; i++) {
		if (choices[i].shared || choices[i].withdrawn) {
			bt_buf_printf(out_why, "claim %s got allocated elsewhere in the meantime",
				claim_name(env->view, &env->view->devices->claims[choices[i].claim_ix]));
			return true;
		}
		if (choices[i].claim_ix == BT_NO_CLAIM && choices[i].allocation.result_n == 0) {
			bt_buf_printf(out_why,
				"nil or empty request mappings, no update of pod %.*s/%.*s "
				"ExtendedResourceClaimStatus",
				BT_STR_ARG(bt_view_str(env->view, env->signature->namespace_)),
				BT_STR_ARG(bt_view_str(env->view, env->name)));
			return true;
		}
	}
	return false;
}

static const struct bt_device_judge judge = {
	bt_selectors_create, bt_selectors_destroy, bt_selectors_match, bt_selectors_derive};

const struct bt_plugin bt_plugin_dynamic_resources = {
	.name = "DynamicResources",
	.ignores_resizes = true,
	.points = BT_AT(PRE_ENQUEUE) | BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(POST_FILTER) | BT_AT(SCORE) |
		  BT_AT(RESERVE) | BT_AT(PRE_BIND) | BT_AT(POD_GROUP_POST_FILTER),
	.args = &bt_dynamic_resources_args_info,
	.settings = bt_dynamic_resources_make_settings,
	.traits = BT_TRAIT_CLAIMS,
	.pre_enqueue = pre_enqueue,
	.post_filter = post_filter,
	.group_unreserve = bt_group_claims_unreserve,
	.post_filter_idle = post_filter_idle,
	.state_changes = dynamic_resources_state_changes,
	.no_pre_filter_post_error = "not found",
	.leaves_constrained_groups = true,
	.reserve = reserve,
	.pre_bind = pre_bind,
	.devices = &judge,
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.score_depends = BT_DEPENDS_ON_COUNTERS,
	.normalize = BT_NORMALIZE_DEFAULT,
	.no_pre_filter_error = "not found",
	.compile = dynamic_resources_compile,
	.filter = dynamic_resources_filter,
	.reject = dynamic_resources_reject,
	.score = dynamic_resources_score,
	.reasons = reasons,
	.reason = reason,
	.pre_filter = pre_filter,
	.failure = failure,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
