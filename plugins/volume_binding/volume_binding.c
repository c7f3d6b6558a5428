/* SPDX-License-Identifier: Apache-2.0
 * VolumeBinding. Node-independent results are computed once per cycle: the claims to bind, and the candidate
 * volumes of each, best first. Source: plugins/volumebinding and component-helpers storage/volume, v1.36.3.
 */
#include "plugins/volume_binding/volume_binding.h"

#include <math.h>
#include <stdlib.h>

#include "cache/node_view.h"
#include "cache/storage_view.h"
#include "engine/base/check.h"
#include "engine/base/wrap.h"

#define FULL 100

enum volume_binding_reason_kind { NODE_CONFLICT = 0, NOTHING_TO_BIND, NOT_ENOUGH_SPACE, NO_VOLUME };

/* A claim to be bound, and its candidates. */
struct unbound {
	const struct bt_claim *claim;
	const struct bt_storage_class *class_; /* NULL: deleted since the cycle began */
	const struct bt_pv **nominated;	       /* volumes with a claimRef to it, in the store's order */
	const struct bt_pv **others;	       /* smallest first */
	uint32_t nominated_n, other_n;
	const struct bt_csi_capacity **capacities; /* large enough */
	uint32_t capacity_n;
	bool checks_capacity, provisioned;
};

/* A volume for a claim; NULL: it is provisioned, from that capacity if known. */
struct pick {
	const struct bt_claim *claim;
	const struct bt_pv *pv;
	const struct bt_csi_capacity *capacity;
};

/* Filter's result for one node. */
struct volume_binding_found {
	bool bound_match, bound_exist, unbound_match, enough_space;
	const char *error;
	uint32_t pick_n;
	struct pick *picks;
};

/* A pod's requested bytes and capacity of one class. */
struct share {
	uint32_t class_;
	int64_t requested, capacity;
};

struct volume_binding_term {
	const struct bt_signature *signature;
	const struct bt_volume_binding_settings *settings;
	/* Of this cycle, in the store's scratch; when settled, claims and volumes to bind are copies. */
	bool settled;
	const struct bt_claim **bound;
	uint32_t bound_n;
	struct unbound *selected,
		*unbound; /* claims with a selected node, in the pod's order; the others, smallest first */
	uint32_t selected_n, unbound_n;
	/* Of the node that is being filtered. */
	const struct unbound **left; /* claims without a matching volume, in their order: to be provisioned */
	struct volume_binding_found *found;
	struct bt_volume_binding *bindings;
	struct share *shares;
};

static void volume_binding_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct volume_binding_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	term->signature = signature;
	term->settings = settings;
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (bt_volume_claims(signature->volumes[i].type)) {
			out_compiled->state = term;
		}
	}
	out_compiled->term = term;
	out_compiled->filter_skip = !out_compiled->state;
	out_compiled->score_skip = !out_compiled->state || !term->settings->scores;
	out_compiled->score_error = term->settings->misses_pre_filter ? "not found" : NULL;
}

/* ---- PreFilter ---- */

/* Why a claim of the pod cannot be used, or NULL. */
static const char *illegal(const struct volume_binding_term *term, const struct bt_view *view,
	const struct bt_pod_volume *volume)
{
	const struct bt_signature *signature = term->signature;
	const struct bt_claim *claim = bt_storage_claim(view->storage, signature->namespace_, volume->source);
	struct bt_str space = bt_view_str(view, signature->namespace_),
		      name = bt_view_str(view, volume->source);
	bool ephemeral = volume->type == BT_VOLUME_EPHEMERAL;

	BT_INVARIANT(bt_volume_claims(volume->type));
	if (!claim && ephemeral) {
		return bt_keep_text(view,
			"waiting for ephemeral volume controller to create the persistentvolumeclaim "
			"\"%.*s\"",
			BT_STR_ARG(name));
	}
	if (!claim) {
		return bt_keep_text(view, "persistentvolumeclaim \"%.*s\" not found", BT_STR_ARG(name));
	}
	if (claim->lost) {
		return bt_keep_text(view,
			"persistentvolumeclaim \"%.*s\" bound to non-existent persistentvolume \"%.*s\"",
			BT_STR_ARG(name), BT_STR_ARG(bt_view_str(view, claim->volume)));
	}
	if (claim->deleting) {
		return bt_keep_text(
			view, "persistentvolumeclaim \"%.*s\" is being deleted", BT_STR_ARG(name));
	}
	if (ephemeral && (!claim->owner_uid || claim->owner_uid != signature->pod_uid)) {
		return bt_keep_text(view,
			"PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
			BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(space),
			BT_STR_ARG(bt_view_str(view, signature->pod_name)));
	}
	return NULL;
}

static bool nominated_to(const struct bt_claim_ref *ref, const struct bt_claim *claim)
{
	return ref->name == claim->name && ref->namespace_ == claim->namespace_ &&
	       (ref->uid == BT_NAME_EMPTY || ref->uid == claim->uid);
}

/* Does the volume match the claim, regardless of the node? out_nominated: its claimRef is the claim. */
static bool serves(
	const struct bt_view *view, const struct bt_pv *pv, const struct bt_claim *claim, bool *out_nominated)
{
	const struct bt_claim_ref *ref = bt_pv_claim(pv);

	*out_nominated = ref && nominated_to(ref, claim);
	if ((ref && !*out_nominated) || bt_quantity_cmp(pv->capacity, claim->request) < 0 ||
		pv->mode != claim->mode || pv->attributes_class != claim->attributes_class || pv->deleting) {
		return false;
	}
	if (*out_nominated) {
		return true;
	}
	return pv->available && (claim->access_modes & ~pv->access_modes) == 0 &&
	       (!claim->has_selector ||
		       bt_selector_matches(view->snapshot->dictionary->intern, &claim->selector, pv->labels));
}

static int by_size(const void *a, const void *b)
{
	const struct bt_pv *x = *(const struct bt_pv *const *)a, *y = *(const struct bt_pv *const *)b;
	int order = bt_quantity_cmp(x->capacity, y->capacity);

	return order ? order : (x > y) - (x < y);
}

static void find_volumes(const struct bt_view *view, struct unbound *unbound)
{
	const struct bt_storage *storage = view->storage;
	uint32_t first = 0, n = 0;

	bt_map_get(&storage->class_pvs, unbound->claim->class_, &first);
	for (uint32_t at = first; at; at = storage->next_of_class[at - 1]) {
		n++;
	}
	unbound->nominated = bt_arena_alloc(storage->scratch, n * sizeof(*unbound->nominated), 8);
	unbound->others = bt_arena_alloc(storage->scratch, n * sizeof(*unbound->others), 8);
	for (uint32_t at = first; at; at = storage->next_of_class[at - 1]) {
		const struct bt_pv *pv = &storage->pvs[at - 1];
		bool nominated;

		if (!serves(view, pv, unbound->claim, &nominated)) {
			continue;
		}
		if (nominated) {
			unbound->nominated[unbound->nominated_n++] = pv;
		} else {
			unbound->others[unbound->other_n++] = pv;
		}
	}
	BT_INVARIANT(unbound->nominated_n + unbound->other_n <= n);
	if (unbound->other_n > 1) {
		qsort(unbound->others, unbound->other_n, sizeof(*unbound->others), by_size);
	}
}

static void find_capacities(const struct bt_view *view, struct unbound *unbound)
{
	const struct bt_storage *storage = view->storage;
	const struct bt_csi_driver *driver = bt_storage_driver(storage, unbound->class_->provisioner);
	int64_t size = bt_quantity_value(unbound->claim->request);

	unbound->capacity_n = 0;
	unbound->checks_capacity = unbound->claim->has_request && driver && driver->tracks_capacity;
	if (!unbound->checks_capacity) {
		return;
	}
	unbound->capacities =
		bt_arena_alloc(storage->scratch, storage->capacity_n * sizeof(*unbound->capacities), 8);
	for (uint32_t i = 0; i < storage->capacity_n; i++) {
		const struct bt_csi_capacity *capacity = &storage->capacities[i];

		if (capacity->live && capacity->class_ == unbound->class_->name && capacity->has_limit &&
			capacity->limit >= size && capacity->has_topology) {
			unbound->capacities[unbound->capacity_n++] = capacity;
		}
	}
	BT_INVARIANT(unbound->capacity_n <= storage->capacity_n);
}

/* Looks up how the claim is provisioned. As upstream, Filter reads that itself. */
static void find_provisioner(
	const struct bt_view *view, struct unbound *unbound, const struct bt_storage_class *class_)
{
	unbound->class_ = class_;
	if (class_) {
		unbound->provisioned =
			class_->provisioner != BT_NAME_EMPTY &&
			!bt_str_is(bt_view_str(view, class_->provisioner), "kubernetes.io/no-provisioner");
		find_capacities(view, unbound);
	}
}

static void add_unbound(struct volume_binding_term *term, const struct bt_view *view,
	const struct bt_claim *claim, const struct bt_storage_class *class_)
{
	struct unbound unbound = {.claim = claim};

	BT_INVARIANT(term->selected_n + term->unbound_n < term->signature->volume_n);
	find_provisioner(view, &unbound, class_);
	if (bt_claim_node(claim) != BT_NAME_NONE) {
		term->selected[term->selected_n++] = unbound;
		return;
	}
	find_volumes(view, &unbound);
	uint32_t at = term->unbound_n++;
	for (; at && bt_quantity_cmp(claim->request, term->unbound[at - 1].claim->request) < 0; at--) {
		term->unbound[at] = term->unbound[at - 1];
	}
	term->unbound[at] = unbound;
	BT_INVARIANT(at == 0 || bt_quantity_cmp(term->unbound[at - 1].claim->request, claim->request) <= 0);
}

static void volume_binding_begin(struct volume_binding_term *term, struct bt_arena *scratch)
{
	uint32_t n = term->signature->volume_n;

	bt_arena_reset(scratch);
	term->settled = false;
	term->bound_n = term->selected_n = term->unbound_n = 0;
	term->bound = bt_arena_zalloc(scratch, n * sizeof(const struct bt_claim *));
	term->selected = bt_arena_zalloc(scratch, n * sizeof(*term->selected));
	term->unbound = bt_arena_zalloc(scratch, n * sizeof(*term->unbound));
	term->left = bt_arena_zalloc(scratch, n * sizeof(const struct unbound *));
	term->shares = bt_arena_zalloc(scratch, n * sizeof(*term->shares));
	term->found = bt_arena_zalloc(scratch, sizeof(*term->found));
	term->found->picks = bt_arena_zalloc(scratch, n * sizeof(*term->found->picks));
	term->bindings = bt_arena_zalloc(scratch, n * sizeof(*term->bindings));
}

static void pre_filter(void *state, const struct bt_view *view, struct bt_compiled *compiled)
{
	struct volume_binding_term *term = state;
	const struct bt_signature *signature = term->signature;
	bool immediate = false;

	volume_binding_begin(term, view->storage->scratch);
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		const char *why = bt_volume_claims(signature->volumes[i].type)
					  ? illegal(term, view, &signature->volumes[i])
					  : NULL;

		if (why) {
			bt_refuse(compiled, why);
			return;
		}
	}
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (!bt_volume_claims(signature->volumes[i].type)) {
			continue;
		}
		const struct bt_claim *claim =
			bt_storage_claim(view->storage, signature->namespace_, signature->volumes[i].source);
		const struct bt_storage_class *class_ =
			claim->class_ == BT_NAME_EMPTY ? NULL
						       : bt_storage_class(view->storage, claim->class_);
		BT_INVARIANT(claim->live && !claim->lost);
		if (claim->volume != BT_NAME_EMPTY && claim->bind_completed) {
			term->bound[term->bound_n++] = claim;
		} else if (class_ && !class_->has_mode) {
			compiled->pre_filter_error =
				bt_keep_text(view, "VolumeBindingMode not set for StorageClass \"%.*s\"",
					BT_STR_ARG(bt_view_str(view, claim->class_)));
			return;
		} else if (class_ && class_->waits && claim->volume == BT_NAME_EMPTY) {
			add_unbound(term, view, claim, class_);
		} else {
			immediate = true;
		}
	}
	BT_INVARIANT(term->bound_n + term->selected_n + term->unbound_n <= signature->volume_n);
	if (immediate) {
		bt_refuse(compiled, "pod has unbound immediate PersistentVolumeClaims");
	}
}

/* ---- state that changes before PostFilter ---- */

static void copy_pvs(struct bt_arena *scratch, const struct bt_pv **pvs, uint32_t n)
{
	struct bt_pv *copies = bt_arena_alloc(scratch, n * sizeof(*copies), _Alignof(struct bt_pv));

	for (uint32_t i = 0; i < n; i++) {
		copies[i] = *pvs[i];
		pvs[i] = &copies[i];
	}
}

static const struct bt_claim *copy_claim(struct bt_arena *scratch, const struct bt_claim *claim)
{
	struct bt_claim *copy = bt_arena_alloc(scratch, sizeof(*copy), _Alignof(struct bt_claim));

	*copy = *claim;
	return copy;
}

static void settle_unbound(struct bt_arena *scratch, struct unbound *unbound)
{
	unbound->claim = copy_claim(scratch, unbound->claim);
	copy_pvs(scratch, unbound->nominated, unbound->nominated_n);
	copy_pvs(scratch, unbound->others, unbound->other_n);
}

/* Copies claims and candidate volumes as PreFilter found them. Source: GetPodVolumeClaims, v1.36.3. */
static void settle(struct volume_binding_term *term, const struct bt_view *view)
{
	struct bt_arena *scratch = view->storage->scratch;

	term->settled = true;
	for (uint32_t i = 0; i < term->bound_n; i++) {
		term->bound[i] = copy_claim(scratch, term->bound[i]);
	}
	for (uint32_t i = 0; i < term->selected_n; i++) {
		settle_unbound(scratch, &term->selected[i]);
	}
	for (uint32_t i = 0; i < term->unbound_n; i++) {
		settle_unbound(scratch, &term->unbound[i]);
	}
}

static void update_provisioner(const struct bt_view *view, struct unbound *unbound)
{
	find_provisioner(view, unbound, bt_storage_class(view->storage, unbound->claim->class_));
}

/* Looks up classes, drivers and capacities again; volumes of bound claims are looked up by name anyway.
 * Source: checkVolumeProvisions, hasEnoughCapacity, v1.36.3. */
static void update_provisioners(struct volume_binding_term *term, const struct bt_view *view)
{
	for (uint32_t i = 0; i < term->selected_n; i++) {
		update_provisioner(view, &term->selected[i]);
	}
	for (uint32_t i = 0; i < term->unbound_n; i++) {
		update_provisioner(view, &term->unbound[i]);
	}
}

static void state_changes(
	struct bt_compiled *compiled, const struct bt_view *view, enum bt_state_change change)
{
	struct volume_binding_term *term = compiled->state;

	if (!term) {
		return;
	}
	if (change == BT_VOLUMES_WILL_CHANGE && !term->settled) {
		settle(term, view);
	} else if (change == BT_STATE_HAS_CHANGED && term->settled) {
		update_provisioners(term, view);
	}
}

/* ---- Filter ---- */

static bool reaches(
	const struct bt_view *view, const struct bt_pv *pv, bool translated, struct bt_labels labels)
{
	return bt_pv_reaches(view->snapshot->dictionary->intern, pv, translated, labels);
}

static void check_bound(const struct volume_binding_term *term, const struct bt_view *view, uint32_t node_ix,
	struct volume_binding_found *found)
{
	const struct bt_node *node = &view->snapshot->nodes[node_ix];
	const struct bt_csi_node *csi_node = bt_storage_csi_node(view->storage, node->name);

	BT_INVARIANT(node_ix < view->snapshot->slot_n);
	for (uint32_t i = 0; i < term->bound_n; i++) {
		const struct bt_pv *pv = bt_storage_pv(view->storage, term->bound[i]->volume);

		if (!pv) {
			found->bound_exist = false;
			return;
		}
		bool translated = csi_node && bt_pv_is_migrated(pv, csi_node->migrated);
		if (translated && pv->disk.error) {
			found->error = bt_keep_text(view, "could not translate pv: %.*s",
				BT_STR_ARG(bt_view_str(view, pv->disk.error)));
			return;
		}
		if (!reaches(view, pv, translated, node->labels)) {
			found->bound_match = false;
			return;
		}
	}
}

static bool taken(const struct volume_binding_found *found, const struct bt_pv *pv)
{
	for (uint32_t i = 0; i < found->pick_n; i++) {
		if (found->picks[i].pv && found->picks[i].pv->name == pv->name) {
			return true;
		}
	}
	return false;
}

/* The volume that the claim gets on a node, or NULL. */
static const struct bt_pv *match(const struct bt_view *view, const struct unbound *unbound,
	const struct volume_binding_found *found, struct bt_labels labels)
{
	for (uint32_t i = 0; i < unbound->nominated_n; i++) {
		if (!taken(found, unbound->nominated[i])) {
			return reaches(view, unbound->nominated[i], false, labels) ? unbound->nominated[i]
										   : NULL;
		}
	}
	for (uint32_t i = 0; i < unbound->other_n; i++) {
		if (!taken(found, unbound->others[i]) && reaches(view, unbound->others[i], false, labels)) {
			return unbound->others[i];
		}
	}
	return NULL;
}

static bool topology_allows(
	const struct bt_view *view, const struct bt_storage_class *class_, struct bt_labels labels)
{
	for (uint32_t i = 0; i < class_->topology_n; i++) {
		if (bt_selector_matches(view->snapshot->dictionary->intern, &class_->topologies[i], labels)) {
			return true;
		}
	}
	return class_->any_topology;
}

/* Can the claim be provisioned on the node? Records the reason if not. */
static bool provision(const struct bt_view *view, const struct unbound *unbound, struct bt_labels labels,
	struct volume_binding_found *found)
{
	const struct bt_csi_capacity *capacity = NULL;

	if (!unbound->class_) {
		found->error = bt_keep_text(view, "failed to find storage class \"%.*s\"",
			BT_STR_ARG(bt_view_str(view, unbound->claim->class_)));
		return false;
	}
	if (!unbound->provisioned || !topology_allows(view, unbound->class_, labels)) {
		found->unbound_match = false;
		return false;
	}
	for (uint32_t i = 0; i < unbound->capacity_n && !capacity; i++) {
		if (bt_selector_matches(
			    view->snapshot->dictionary->intern, &unbound->capacities[i]->topology, labels)) {
			capacity = unbound->capacities[i];
		}
	}
	if (unbound->checks_capacity && !capacity) {
		found->enough_space = false;
		return false;
	}
	BT_INVARIANT(!unbound->checks_capacity || capacity);
	found->picks[found->pick_n++] = (struct pick){.claim = unbound->claim, .capacity = capacity};
	return true;
}

static void bind_unbound(const struct volume_binding_term *term, const struct bt_view *view, uint32_t node_ix,
	struct volume_binding_found *found)
{
	const struct bt_node *node = &view->snapshot->nodes[node_ix];
	uint32_t left_n = 0;

	for (uint32_t i = 0; i < term->selected_n; i++) {
		if (bt_claim_node(term->selected[i].claim) != node->name) {
			found->unbound_match = false;
			return;
		}
	}
	for (uint32_t i = 0; i < term->unbound_n; i++) {
		const struct unbound *unbound = &term->unbound[i];

		if (unbound->claim->selector_error) {
			found->error = bt_keep_text(view,
				"error creating internal label selector for claim: %.*s/%.*s: %.*s",
				BT_STR_ARG(bt_view_str(view, unbound->claim->namespace_)),
				BT_STR_ARG(bt_view_str(view, unbound->claim->name)),
				BT_STR_ARG(bt_view_str(view, unbound->claim->selector_error)));
			return;
		}
		const struct bt_pv *pv = match(view, unbound, found, node->labels);
		if (!pv) {
			term->left[left_n++] = unbound;
			continue;
		}
		BT_INVARIANT(!taken(found, pv));
		found->picks[found->pick_n++] = (struct pick){.claim = unbound->claim, .pv = pv};
	}
	for (uint32_t i = 0; i < term->selected_n; i++) {
		if (!provision(view, &term->selected[i], node->labels, found)) {
			return;
		}
	}
	for (uint32_t i = 0; i < left_n; i++) {
		BT_INVARIANT(left_n + found->pick_n <= 2 * term->unbound_n + term->selected_n);
		if (!provision(view, term->left[i], node->labels, found)) {
			return;
		}
	}
}

static const struct volume_binding_found *volume_binding_find(
	const struct volume_binding_term *term, const struct bt_view *view, uint32_t node_ix)
{
	struct volume_binding_found *found = term->found;

	found->bound_match = found->bound_exist = found->unbound_match = found->enough_space = true;
	found->error = NULL;
	found->pick_n = 0;
	check_bound(term, view, node_ix, found);
	if (!found->error) {
		bind_unbound(term, view, node_ix, found);
	}
	BT_INVARIANT(found->pick_n <= term->unbound_n + term->selected_n);
	return found;
}

static bool fits(const struct volume_binding_found *found)
{
	return !found->error && found->bound_match && found->bound_exist && found->unbound_match &&
	       found->enough_space;
}

static void volume_binding_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = fits(volume_binding_find(term, view, first + i));
	}
}

static const char *failure(const void *term, const struct bt_view *view, uint32_t node_ix)
{
	return volume_binding_find(term, view, node_ix)->error;
}

static void volume_binding_reject(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const struct volume_binding_found *found = volume_binding_find(term, view, node_ix);
	const bool good[] = {
		[NODE_CONFLICT] = found->bound_match,
		[NOTHING_TO_BIND] = found->unbound_match,
		[NOT_ENOUGH_SPACE] = found->enough_space,
		[NO_VOLUME] = found->bound_exist,
	};

	out_rejection->code = BT_UNSCHEDULABLE_AND_UNRESOLVABLE;
	out_rejection->n = 0;
	for (uint32_t kind = 0; kind <= NO_VOLUME; kind++) {
		if (!good[kind]) {
			out_rejection->reasons[out_rejection->n++] = (struct bt_reason){.kind = kind};
		}
	}
	BT_INVARIANT(out_rejection->n > 0);
}

static const char *const reasons[] = {
	[NODE_CONFLICT] = "node(s) didn't match PersistentVolume's node affinity",
	[NOTHING_TO_BIND] = "node(s) didn't find available persistent volumes to bind",
	[NOT_ENOUGH_SPACE] = "node(s) did not have enough free storage",
	[NO_VOLUME] = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
};

/* The bindings of the pod's unbound claims. */
static void reserve(const struct bt_plugin_use *use, const struct bt_compiled *compiled,
	const struct bt_view *view, uint32_t node_ix, struct bt_reservation *out)
{
	if (compiled->state && use->filter) {
		const struct volume_binding_term *term = compiled->term;
		const struct volume_binding_found *found = volume_binding_find(term, view, node_ix);

		BT_INVARIANT(fits(found) && !term->settled);
		for (uint32_t i = 0; i < found->pick_n; i++) {
			const struct pick *pick = &found->picks[i];

			term->bindings[i] =
				(struct bt_volume_binding){(uint32_t)(pick->claim - view->storage->claims),
					pick->pv ? (uint32_t)(pick->pv - view->storage->pvs) : BT_NO_VOLUME};
		}
		out->bindings = term->bindings;
		out->binding_n = found->pick_n;
	}
}

/* ---- Score ---- */

static struct share *share_of(struct share *shares, uint32_t *n, uint32_t class_)
{
	uint32_t i = 0;

	while (i < *n && shares[i].class_ != class_) {
		i++;
	}
	if (i == *n) {
		shares[(*n)++] = (struct share){.class_ = class_};
	}
	return &shares[i];
}

/* Statically bound volumes count; provisioned ones only when there are none. */
static uint32_t collect(const struct volume_binding_found *found, struct share *shares)
{
	bool bound = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < found->pick_n; i++) {
		bound |= found->picks[i].pv != NULL;
	}
	for (uint32_t i = 0; i < found->pick_n; i++) {
		const struct bt_claim *claim = found->picks[i].claim;
		const struct bt_pv *pv = found->picks[i].pv;
		const struct bt_csi_capacity *capacity = found->picks[i].capacity;

		if (bound ? !pv : !capacity) {
			continue;
		}
		struct share *share = share_of(shares, &n, bound ? pv->class_ : claim->class_);
		share->requested = bt_wrap_add(share->requested, bt_quantity_value(claim->request));
		share->capacity = bound ? bt_wrap_add(share->capacity, bt_quantity_value(pv->capacity))
					: capacity->capacity;
	}
	BT_INVARIANT(n <= found->pick_n);
	return n;
}

static int64_t on_shape(const struct bt_volume_binding_settings *settings, int64_t utilization)
{
	const struct bt_volume_shape_point *shape = settings->shape;

	for (uint32_t i = 0; i < settings->shape_n; i++) {
		if (utilization > shape[i].utilization) {
			continue;
		}
		if (i == 0) {
			return shape[0].score;
		}
		BT_INVARIANT(shape[i - 1].utilization < shape[i].utilization);
		return shape[i - 1].score + (shape[i].score - shape[i - 1].score) *
						    (utilization - shape[i - 1].utilization) /
						    (shape[i].utilization - shape[i - 1].utilization);
	}
	return settings->shape_n ? shape[settings->shape_n - 1].score : 0;
}

static int64_t score_node(
	const struct volume_binding_term *term, const struct bt_view *view, uint32_t node_ix)
{
	const struct volume_binding_found *found = volume_binding_find(term, view, node_ix);
	struct share *shares = term->shares;
	uint32_t n = collect(found, shares);
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool full = shares[i].capacity == 0 || shares[i].requested > shares[i].capacity;
		int64_t utilization =
			full ? FULL : bt_wrap_mul(shares[i].requested, FULL) / shares[i].capacity;

		sum += on_shape(term->settings, utilization);
	}
	BT_INVARIANT(n == 0 || sum >= 0);
	return n ? (int64_t)round((double)sum / (double)n) : 0;
}

static void volume_binding_score(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = score_node(term, view, first + i);
	}
}

/* ---- queueing hints ---- */

static bool after_class_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->action == BT_ADD || (event->object.changes & BT_CHANGED_TOPOLOGIES);
}

static bool after_claim_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return bt_signature_uses_claim(env->signature, event->object.namespace_, event->object.name);
}

static bool after_csi_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->action == BT_ADD || (event->object.changes & BT_CHANGED_MIGRATION);
}

static bool after_driver_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	if (!(event->object.changes & BT_CHANGED_CAPACITY_IGNORED)) {
		return false;
	}
	for (uint32_t i = 0; i < env->signature->noted_n; i++) {
		const struct bt_pod_volume *volume = &env->signature->volumes[i];

		if (volume->type == BT_VOLUME_CSI_INLINE && volume->source == event->object.name) {
			return true;
		}
	}
	return false;
}

static bool after_capacity_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->action == BT_ADD || (event->object.changes & BT_CHANGED_CAPACITY_GREW);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_STORAGE_CLASS, BT_ADD | BT_UPDATE, after_class_change, 0},
	{BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM, BT_ADD | BT_UPDATE, after_claim_change, 0},
	{BT_CLUSTER_EVENT_PERSISTENT_VOLUME, BT_ADD | BT_UPDATE, NULL, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL, NULL, 0},
	{BT_CLUSTER_EVENT_CSI_NODE, BT_ADD | BT_UPDATE, after_csi_node_change, 0},
	{BT_CLUSTER_EVENT_CSI_DRIVER, BT_UPDATE, after_driver_change, 0},
	{BT_CLUSTER_EVENT_CSI_STORAGE_CAPACITY, BT_ADD | BT_UPDATE, after_capacity_change, 0},
};

const struct bt_plugin bt_plugin_volume_binding = {
	.name = "VolumeBinding",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(PRE_SCORE) | BT_AT(SCORE) | BT_AT(RESERVE) |
		  BT_AT(PRE_BIND),
	.args = &bt_volume_binding_args_info,
	.settings = bt_volume_binding_make_settings,
	.traits = BT_TRAIT_VOLUMES,
	.reserve = reserve,
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.score_depends = BT_DEPENDS_ON_COUNTERS,
	.no_pre_filter_error = "not found",
	.compile = volume_binding_compile,
	.filter = volume_binding_filter,
	.reject = volume_binding_reject,
	.score = volume_binding_score,
	.reasons = reasons,
	.pre_filter = pre_filter,
	.state_changes = state_changes,
	.failure = failure,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
