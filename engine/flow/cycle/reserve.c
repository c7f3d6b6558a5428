/* SPDX-License-Identifier: Apache-2.0
 * Reserve: chooses volumes and devices for a pod's claims, and checks them again when the pod is assumed.
 */
#include "engine/flow/cycle/reserve.h"

#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/mem.h"
#include "engine/base/probe.h"
#include "engine/base/quote.h"
#include "engine/score/evaluate.h"

void bt_reserved_init(
	struct bt_reserved *reserved, struct bt_cache *cache, bool always, bool binder_writes_claims)
{
	*reserved = (struct bt_reserved){
		.cache = cache, .always = always, .binder_writes_claims = binder_writes_claims};
}

void bt_reserved_fini(struct bt_reserved *reserved)
{
	bt_name_refs_release(&reserved->names);
	bt_mem_free(reserved->bindings);
	bt_mem_free(reserved->volumes);
	bt_buf_fini(&reserved->why);
	bt_mem_free(reserved->choices);
	bt_mem_free(reserved->given);
}

void bt_reserved_begin(struct bt_reserved *reserved)
{
	reserved->pod_ix = BT_NO_POD;
}

struct bt_str bt_reserved_why(const struct bt_reserved *reserved)
{
	return bt_buf_view(&reserved->why);
}

void bt_reserved_clear_why(struct bt_reserved *reserved)
{
	bt_buf_clear(&reserved->why);
}

void bt_reserved_set_why(struct bt_reserved *reserved, struct bt_str why)
{
	bt_buf_clear(&reserved->why);
	bt_buf_str(&reserved->why, why);
}

static struct bt_str name_of(const struct bt_reserved *reserved, uint32_t name)
{
	return bt_intern_str(reserved->cache->dictionary->intern, name);
}

void bt_reserved_claim_deleted(struct bt_reserved *reserved, uint32_t name)
{
	bt_buf_clear(&reserved->why);
	bt_buf_text(&reserved->why, "resourceclaims.resource.k8s.io ");
	bt_quote(&reserved->why, name_of(reserved, name));
	bt_buf_text(&reserved->why, " not found");
}

/* Source: GetBindVolumeToClaim, v1.36.3. */
static bool is_claims(const struct bt_pv *pv, const struct bt_claim *claim)
{
	return pv->has_claim && pv->claim.namespace_ == claim->namespace_ && pv->claim.name == claim->name &&
	       pv->claim.uid == claim->uid;
}

/* Saves the identity and version of a binding's objects. */
static void note_volume(struct bt_reserved *reserved, const struct bt_volume_binding *binding)
{
	const struct bt_storage *storage = reserved->cache->view.storage;
	const struct bt_claim *claim = &storage->claims[binding->claim_ix];
	const struct bt_pv *pv = binding->pv_ix == BT_NO_VOLUME ? NULL : &storage->pvs[binding->pv_ix];
	const uint32_t n = reserved->binding_n;

	reserved->bindings =
		bt_mem_grow(reserved->bindings, n, &reserved->binding_cap, sizeof(*reserved->bindings));
	reserved->volumes =
		bt_mem_grow(reserved->volumes, n, &reserved->volume_cap, sizeof(*reserved->volumes));
	reserved->bindings[n] = *binding;
	reserved->volumes[n] = (struct bt_reserved_volume){.claim = claim->name,
		.volume = pv ? pv->name : BT_NAME_NONE,
		.bound = pv && is_claims(pv, claim),
		.version = pv ? pv->version : claim->version,
		.shown = pv ? pv->shown : claim->shown};
	reserved->names.intern = reserved->cache->dictionary->intern;
	bt_name_refs_add_name(&reserved->names, claim->name);
	if (pv) {
		bt_name_refs_add_name(&reserved->names, pv->name);
	}
	reserved->binding_n++;
	BT_INVARIANT(
		reserved->binding_n <= reserved->binding_cap && reserved->binding_n <= reserved->volume_cap);
}

static struct bt_reserved_choice reserve_note(
	const struct bt_reserved *reserved, const struct bt_device_choice *choice)
{
	const struct bt_resource_claim *claims = reserved->cache->view.devices->claims;

	if (choice->claim_ix == BT_NO_CLAIM) {
		return (struct bt_reserved_choice){*choice, BT_NAME_NONE, BT_NAME_NONE};
	}
	return (struct bt_reserved_choice){
		*choice, claims[choice->claim_ix].name, claims[choice->claim_ix].uid};
}

/* Saves one plugin's reservation. */
static void note_reservation(struct bt_reserved *reserved, const struct bt_plugin *plugin,
	const struct bt_reservation *reservation)
{
	for (uint32_t i = 0; i < reservation->binding_n; i++) {
		note_volume(reserved, &reservation->bindings[i]);
		reserved->volumes_by = plugin->name;
	}
	for (uint32_t i = 0; i < reservation->choice_n; i++) {
		reserved->choices = bt_mem_grow(reserved->choices, reserved->choice_n, &reserved->choice_cap,
			sizeof(*reserved->choices));
		reserved->choices[reserved->choice_n++] = reserve_note(reserved, &reservation->choices[i]);
		reserved->choices_by = plugin->name;
	}
	if (reservation->node_claim_n) {
		reserved->node_claims = reservation->node_claims;
		reserved->node_claim_n = reservation->node_claim_n;
	}
}

static BT_NOINLINE void choose_claims(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t node_ix)
{
	BT_INVARIANT(reserved->binding_n == 0 && reserved->choice_n == 0);
	uint32_t traits = BT_TRAIT_ANY | (plan->reads_state ? BT_TRAIT_CLAIMS : 0) |
			  (plan->signature->volume_n ? BT_TRAIT_VOLUMES : 0);

	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];
		struct bt_reservation reservation = {0};

		if (!use->reserve || !use->plugin->reserve || plan->compiled[u].aside ||
			(use->plugin->traits && !(use->plugin->traits & traits))) {
			continue;
		}
		use->plugin->reserve(use, &plan->compiled[u], &reserved->cache->view, node_ix, &reservation);
		note_reservation(reserved, use->plugin, &reservation);
	}
}

void bt_reserved_choose(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	BT_REQUIRE_HOT(pod_ix != BT_NO_POD && node_ix < reserved->cache->view.snapshot->slot_n);
	reserved->pod_ix = pod_ix;
	reserved->node_ix = node_ix;
	reserved->storage = reserved->cache->view.storage->version;
	reserved->devices = reserved->cache->view.devices->version;
	if (reserved->binding_n) {
		bt_name_refs_release(&reserved->names);
	}
	reserved->binding_n = reserved->choice_n = reserved->node_claim_n = 0;
	if (plan->reads_state || plan->signature->volume_n || reserved->always) {
		choose_claims(reserved, plan, node_ix);
	}
}

/* Finds the claim of a choice. A claim that was recreated under the same name causes a conflict in PreBind,
 * which then gives it the choice of the old one. Source: bindClaim, v1.36.3. */
static bool find_claim(
	const struct bt_reserved *reserved, uint32_t namespace_, struct bt_reserved_choice *noted)
{
	const struct bt_device_store *store = reserved->cache->view.devices;

	if (noted->choice.claim_ix == BT_NO_CLAIM) {
		return true;
	}
	const struct bt_resource_claim *claim = bt_device_store_claim(store, namespace_, noted->name);
	noted->choice.claim_ix = claim ? (uint32_t)(claim - store->claims) : noted->choice.claim_ix;
	return claim;
}

static bool is_bound(
	const struct bt_storage *storage, uint32_t namespace_, const struct bt_pod_volume *volume)
{
	const struct bt_claim *claim = bt_storage_claim(storage, namespace_, volume->source);

	return claim && claim->volume != BT_NAME_EMPTY && claim->bind_completed;
}

/* Are all claims of the pod bound by now? */
static bool all_bound(const struct bt_reserved *reserved, const struct bt_signature *signature)
{
	const struct bt_storage *storage = reserved->cache->view.storage;

	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (bt_volume_claims(signature->volumes[i].type) &&
			!is_bound(storage, signature->namespace_, &signature->volumes[i])) {
			return false;
		}
	}
	return true;
}

static void write_key(struct bt_reserved *reserved, uint32_t namespace_, uint32_t name)
{
	struct bt_buf key = {0};

	if (namespace_) {
		bt_buf_str(&key, name_of(reserved, namespace_));
		bt_buf_char(&key, '/');
	}
	bt_buf_str(&key, name_of(reserved, name));
	bt_quote(&reserved->why, bt_buf_view(&key));
	bt_buf_fini(&key);
}

static void write_not_found(struct bt_reserved *reserved, uint32_t namespace_, uint32_t name)
{
	struct bt_buf *why = &reserved->why;

	bt_buf_text(why, namespace_ ? "persistentvolumeclaims " : "persistentvolumes ");
	write_key(reserved, namespace_, name);
	bt_buf_text(why, " not found");
}

static void write_version(struct bt_buf *why, const char *word, uint64_t version)
{
	bt_buf_text(why, word);
	if (version) {
		bt_buf_printf(why, "%llu", (unsigned long long)version);
	}
}

/* Reports that an object has changed since the node was chosen. Source: passiveAssumeCache.Assume,
 * v1.36.3. */
static void write_changed(
	struct bt_reserved *reserved, uint32_t namespace_, uint32_t name, uint64_t stored, uint64_t assumed)
{
	struct bt_buf *why = &reserved->why;

	write_key(reserved, namespace_, name);
	write_version(why, " is out of sync (stored: ", stored);
	write_version(why, ", assume: ", assumed);
	bt_buf_char(why, ')');
}

/* "running Reserve plugin "x": ". */
static void write_plugin(struct bt_buf *why, const char *point, const char *plugin)
{
	bt_buf_printf(why, "running %s plugin \"%s\": ", point, plugin);
}

/* Can the binder find the volumes that are already bound to claims, and the claims? Source: bindAPIUpdate,
 * checkBindings, v1.36.3. */
static enum bt_reserve check_bindings(struct bt_reserved *reserved, uint32_t namespace_)
{
	const struct bt_storage *storage = reserved->cache->view.storage;

	for (uint32_t i = 0; i < reserved->binding_n; i++) {
		const struct bt_reserved_volume *noted = &reserved->volumes[i];
		const struct bt_pv *pv = noted->bound ? bt_storage_pv(storage, noted->volume) : NULL;

		if (noted->bound && !pv) {
			write_plugin(&reserved->why, "PreBind", reserved->volumes_by);
			write_not_found(reserved, BT_NAME_NONE, noted->volume);
			return BT_PRE_BIND_FAILS;
		}
		/* A recreated one may have another index. */
		if (pv) {
			reserved->bindings[i].pv_ix = (uint32_t)(pv - storage->pvs);
		}
	}
	for (uint32_t i = 0; i < reserved->binding_n; i++) {
		const struct bt_claim *claim =
			bt_storage_claim(storage, namespace_, reserved->volumes[i].claim);

		if (!claim) {
			write_plugin(&reserved->why, "PreBind", reserved->volumes_by);
			bt_buf_text(&reserved->why, "binding volumes: failed to check binding: ");
			write_not_found(reserved, namespace_, reserved->volumes[i].claim);
			return BT_PRE_BIND_FAILS;
		}
		/* A recreated one may have another index. */
		reserved->bindings[i].claim_ix = (uint32_t)(claim - storage->claims);
	}
	return BT_RESERVED;
}

/*
 * Can the volumes be assumed, and can the binder find its objects? Source: AssumePodVolumes, Assume, v1.36.3.
 */
static enum bt_reserve check_volumes(struct bt_reserved *reserved, uint32_t namespace_)
{
	const struct bt_storage *storage = reserved->cache->view.storage;

	bt_buf_clear(&reserved->why);
	for (uint32_t i = 0; i < reserved->binding_n; i++) {
		const struct bt_reserved_volume *noted = &reserved->volumes[i];
		bool provisioned = !noted->volume;
		const struct bt_claim *claim = bt_storage_claim(storage, namespace_, noted->claim);
		const struct bt_pv *pv = provisioned ? NULL : bt_storage_pv(storage, noted->volume);
		uint32_t space = provisioned ? namespace_ : BT_NAME_NONE;
		uint32_t name = provisioned ? noted->claim : noted->volume;

		if (noted->bound) {
			continue;
		}
		if (provisioned ? !claim : !pv) {
			write_plugin(&reserved->why, "Reserve", reserved->volumes_by);
			write_not_found(reserved, space, name);
			return BT_RESERVE_FAILS;
		}
		if (noted->version != (provisioned ? claim->version : pv->version)) {
			write_plugin(&reserved->why, "Reserve", reserved->volumes_by);
			write_changed(
				reserved, space, name, provisioned ? claim->shown : pv->shown, noted->shown);
			return BT_RESERVE_FAILS;
		}
	}
	return check_bindings(reserved, namespace_);
}

/* Assumes the bindings, unless volumes have changed since the node was chosen and all claims are bound. */
static enum bt_reserve assume_volumes(struct bt_reserved *reserved, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_signature *signature = bt_ledger_pod(reserved->cache->ledger, pod_ix)->signature;
	const struct bt_view *view = &reserved->cache->view;
	enum bt_reserve outcome = BT_RESERVED;

	if (reserved->storage != view->storage->version) {
		if (all_bound(reserved, signature)) {
			return BT_RESERVED;
		}
		outcome = check_volumes(reserved, signature->namespace_);
	}
	if (outcome == BT_RESERVED) {
		bt_volumes_assume(reserved->cache->volumes, pod_ix, view->snapshot->nodes[node_ix].name,
			reserved->bindings, reserved->binding_n);
	}
	return outcome;
}

/* Source: bindClaim, v1.36.3. */
static void write_claim_deleted(
	struct bt_reserved *reserved, uint32_t pod_ix, const struct bt_reserved_choice *noted)
{
	const struct bt_signature *signature = bt_ledger_pod(reserved->cache->ledger, pod_ix)->signature;
	struct bt_str name = name_of(reserved, noted->name);

	write_plugin(&reserved->why, "PreBind", reserved->choices_by);
	bt_buf_printf(&reserved->why, "add finalizer to claim %.*s/%.*s: resourceclaims.resource.k8s.io ",
		BT_STR_ARG(name_of(reserved, signature->namespace_)), BT_STR_ARG(name));
	bt_quote(&reserved->why, name);
	bt_buf_text(&reserved->why, " not found");
}

/* Source: SignalClaimPendingAllocation, v1.37.2. */
static void write_claim_not_found(
	struct bt_reserved *reserved, uint32_t namespace_, const struct bt_reserved_choice *noted)
{
	struct bt_str name = name_of(reserved, noted->name);

	write_plugin(&reserved->why, "Reserve", reserved->choices_by);
	bt_buf_printf(&reserved->why,
		"internal error, couldn't signal allocation for claim %.*s: look up assumed claim %.*s/%.*s, "
		"UID=%.*s: could not find ResourceClaim ",
		BT_STR_ARG(name), BT_STR_ARG(name_of(reserved, namespace_)), BT_STR_ARG(name),
		BT_STR_ARG(name_of(reserved, noted->uid)));
	write_key(reserved, namespace_, noted->name);
}

static enum bt_reserve assume_devices(struct bt_reserved *reserved, uint32_t pod_ix)
{
	bool looks_up = bt_release_has(
		reserved->cache->view.devices->features.release, BT_RULE_RESERVE_LOOKS_CLAIMS_UP);
	uint32_t namespace_ = bt_ledger_pod(reserved->cache->ledger, pod_ix)->signature->namespace_;
	enum bt_reserve outcome = BT_RESERVED;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reserved->choice_n; i++) {
		if (find_claim(reserved, namespace_, &reserved->choices[i])) {
			reserved->given = bt_mem_grow(
				reserved->given, kept, &reserved->given_cap, sizeof(*reserved->given));
			reserved->given[kept++] = reserved->choices[i].choice;
		} else if (looks_up) {
			write_claim_not_found(reserved, namespace_, &reserved->choices[i]);
			return BT_RESERVE_FAILS;
		} else if (outcome == BT_RESERVED && !reserved->binder_writes_claims) {
			write_claim_deleted(reserved, pod_ix, &reserved->choices[i]);
			outcome = BT_PRE_BIND_FAILS;
		}
	}
	BT_INVARIANT(kept <= reserved->choice_n);
	bt_devices_assume(reserved->cache->devices, pod_ix, reserved->given, kept);
	return outcome;
}

/* Are the plugins' results for the pod's claims up to date? Prepares the plan again if they are not. */
static bool is_current(struct bt_reserved *reserved, struct bt_plan *plan)
{
	const struct bt_view *view = &reserved->cache->view;

	if (reserved->storage == view->storage->version && reserved->devices == view->devices->version) {
		return true;
	}
	bt_prepare(plan, view);
	return !plan->refusal && !plan->pre_filter_error;
}

static BT_NOINLINE void choose_again(
	struct bt_reserved *reserved, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	reserved->binding_n = reserved->choice_n = reserved->node_claim_n = 0;
	if (is_current(reserved, plan)) {
		bt_reserved_choose(reserved, plan, pod_ix, node_ix);
	}
}

/* Does not look up the node's name unless needed, because with many nodes that misses all CPU caches. */
static BT_NOINLINE enum bt_reserve assume_claims(
	struct bt_reserved *reserved, uint32_t pod_ix, uint32_t node_ix)
{
	enum bt_reserve outcome = BT_RESERVED;

	if (reserved->binding_n) {
		outcome = assume_volumes(reserved, pod_ix, node_ix);
		bt_name_refs_release(&reserved->names);
	}
	if (outcome == BT_RESERVED && reserved->choice_n) {
		outcome = assume_devices(reserved, pod_ix);
	}
	return outcome;
}

static void become(struct bt_cache *cache, uint32_t pod_ix, const struct bt_signature *signature)
{
	struct bt_pod pod = *bt_ledger_pod(cache->ledger, pod_ix);

	pod.signature = signature;
	pod.node_ix = BT_NO_NODE;
	bt_ledger_replace(cache->ledger, pod_ix, &pod);
}

/* The pod is to count with what its claims take of the node, and with nothing that its status has from an
 * earlier attempt. Source: assume, v1.37.2. */
static BT_NOINLINE void count_claims(struct bt_reserved *reserved, uint32_t pod_ix)
{
	struct bt_cache *cache = reserved->cache;
	const struct bt_signature *base = bt_ledger_pod(cache->ledger, pod_ix)->signature;

	if (reserved->node_claim_n | base->node_claim_n) {
		const struct bt_signature *assumed = bt_signature_assume(
			cache->signatures, base, reserved->node_claims, reserved->node_claim_n);

		become(cache, pod_ix, assumed);
		bt_signature_release(assumed);
	}
}

void bt_reserved_forget(struct bt_cache *cache, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_signature *base = pod->signature->assumed_of;
	bool detached = pod->detached;

	bt_ledger_forget(cache->ledger, pod_ix);
	if (base && !detached) {
		become(cache, pod_ix, base);
	}
}

const struct bt_signature *bt_reserved_signature(
	struct bt_cache *cache, const struct bt_pod *assumed, const struct bt_signature *now)
{
	const struct bt_signature *before = assumed->signature;

	return assumed->state == BT_POD_ASSUMED && before->assumed_of && now->sums
		       ? bt_signature_assume(
				 cache->signatures, now, before->node_claims, before->node_claim_n)
		       : NULL;
}

enum bt_reserve bt_reserved_assume(
	struct bt_reserved *reserved, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	enum bt_reserve outcome = BT_RESERVED;

	BT_REQUIRE_HOT(bt_ledger_pod(reserved->cache->ledger, pod_ix)->state == BT_POD_QUEUED);
	BT_REQUIRE_HOT(node_ix != BT_NO_NODE);
	/* An explanation of the pod in between replaces the choice. */
	if (reserved->pod_ix != pod_ix || reserved->node_ix != node_ix) {
		choose_again(reserved, plan, pod_ix, node_ix);
	}
	if (reserved->binding_n | reserved->choice_n) {
		outcome = assume_claims(reserved, pod_ix, node_ix);
	}
	reserved->pod_ix = BT_NO_POD;
	if (outcome != BT_RESERVE_FAILS) {
		if (bt_ledger_pod(reserved->cache->ledger, pod_ix)->signature->sums) {
			count_claims(reserved, pod_ix);
		}
		bt_ledger_assume(reserved->cache->ledger, pod_ix, node_ix);
		BT_PROBE2(assumed, pod_ix, node_ix);
	}
	BT_INVARIANT((outcome != BT_RESERVE_FAILS) ==
		     (bt_ledger_pod(reserved->cache->ledger, pod_ix)->state == BT_POD_ASSUMED));
	return outcome;
}

void bt_reserved_choose_nothing(struct bt_reserved *reserved, uint32_t pod_ix, uint32_t node_ix)
{
	bt_reserved_begin(reserved);
	reserved->binding_n = reserved->choice_n = reserved->node_claim_n = 0;
	reserved->pod_ix = pod_ix;
	reserved->node_ix = node_ix;
}

void bt_reserved_fail_resize(
	struct bt_reserved *reserved, const struct bt_plan *plan, const struct bt_pod *pod)
{
	if (!pod->detached) {
		struct bt_str uid = pod->uid == BT_NAME_NONE ? bt_str("") : name_of(reserved, pod->uid);

		bt_buf_printf(&reserved->why, "pod %.*s(%.*s/%.*s) is in the cache, so can't be assumed",
			BT_STR_ARG(uid), BT_STR_ARG(name_of(reserved, pod->signature->namespace_)),
			BT_STR_ARG(name_of(reserved, pod->name)));
		return;
	}
	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];

		if (use->reserve && plan->compiled[u].aside) {
			write_plugin(&reserved->why, "Reserve", use->plugin->name);
			bt_buf_text(&reserved->why, "not found");
			return;
		}
	}
}

void bt_reserved_choose_once(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	if (reserved->pod_ix != pod_ix || reserved->node_ix != node_ix) {
		bt_reserved_choose(reserved, plan, pod_ix, node_ix);
	}
}

bool bt_reserved_prebinds(
	struct bt_reserved *reserved, const struct bt_hooks *hooks, uint32_t pod_ix, struct bt_pod_env *env)
{
	uint32_t n;
	const struct bt_device_choice *choices = bt_devices_pending(reserved->cache->devices, pod_ix, &n);
	struct bt_buf why = {0};
	bool fails = false;

	for (uint32_t i = 0; n && i < hooks->n && !fails && !reserved->binder_writes_claims; i++) {
		const struct bt_plugin *plugin = hooks->items[i].plugin;

		env->settings = hooks->items[i].settings;
		fails = plugin->pre_bind(env, choices, n, &why);
		if (fails) {
			bt_buf_clear(&reserved->why);
			write_plugin(&reserved->why, "PreBind", plugin->name);
			bt_buf_str(&reserved->why, bt_buf_view(&why));
		}
	}
	bt_buf_fini(&why);
	return !fails;
}
