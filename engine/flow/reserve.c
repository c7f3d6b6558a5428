/* SPDX-License-Identifier: Apache-2.0
 * Reserve: the claims of a pod get what was found for them on its node. What they get is noted when the node
 * is chosen and entered when the pod is assumed, because claims may have come and gone in between.
 */
#include "engine/base/compiler.h"
#include "engine/base/mem.h"
#include "engine/base/probe.h"
#include "engine/flow/engine_int.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/volume_binding/volume_binding.h"

static void choose_volumes(struct bt_engine *engine, const struct bt_plan *plan, uint32_t node_ix)
{
	struct bt_reserved *reserved = &engine->reserved;
	const struct bt_volume_binding *bindings = NULL;

	for (uint32_t u = 0; plan->signature->volume_n && u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];

		if (use->plugin != &bt_plugin_volume_binding || !use->filter || !use->reserve) {
			continue;
		}
		uint32_t n = bt_volume_binding_choose(
			&plan->compiled[u], &engine->cache->view, node_ix, &bindings);
		for (uint32_t i = 0; i < n; i++) {
			reserved->bindings = bt_mem_grow(reserved->bindings, reserved->binding_n,
				&reserved->binding_cap, sizeof(*reserved->bindings));
			reserved->bindings[reserved->binding_n++] = bindings[i];
		}
	}
}

static struct bt_reserved_choice note(const struct bt_engine *engine, const struct bt_device_choice *choice)
{
	const struct bt_resource_claim *claims = engine->cache->view.devices->claims;

	if (choice->claim_ix == BT_NO_CLAIM) {
		return (struct bt_reserved_choice){*choice, BT_NAME_NONE, BT_NAME_NONE};
	}
	return (struct bt_reserved_choice){
		*choice, claims[choice->claim_ix].name, claims[choice->claim_ix].uid};
}

static void choose_devices(struct bt_engine *engine, const struct bt_plan *plan, uint32_t node_ix)
{
	struct bt_reserved *reserved = &engine->reserved;

	for (uint32_t u = 0; plan->asks && u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];
		const struct bt_device_choice *choices = NULL;

		if (use->plugin != &bt_plugin_dynamic_resources || !use->pre_filter || !use->filter ||
			!use->reserve) {
			continue;
		}
		uint32_t n = bt_dynamic_resources_choose(
			&plan->compiled[u], &engine->cache->view, node_ix, &choices);
		for (uint32_t i = 0; i < n; i++) {
			reserved->choices = bt_mem_grow(reserved->choices, reserved->choice_n,
				&reserved->choice_cap, sizeof(*reserved->choices));
			reserved->choices[reserved->choice_n++] = note(engine, &choices[i]);
		}
	}
}

static BT_NOINLINE void choose_claims(struct bt_engine *engine, const struct bt_plan *plan, uint32_t node_ix)
{
	choose_volumes(engine, plan, node_ix);
	choose_devices(engine, plan, node_ix);
}

void bt_engine_choose_reserved(
	struct bt_engine *engine, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_reserved *reserved = &engine->reserved;

	reserved->pod_ix = pod_ix;
	reserved->node_ix = node_ix;
	reserved->storage = engine->cache->view.storage->version;
	reserved->devices = engine->cache->view.devices->version;
	reserved->binding_n = reserved->choice_n = 0;
	if (plan->asks || plan->signature->volume_n) {
		choose_claims(engine, plan, node_ix);
	}
}

static bool still_there(const struct bt_engine *engine, const struct bt_reserved_choice *noted)
{
	const struct bt_device_store *store = engine->cache->view.devices;

	if (noted->choice.claim_ix == BT_NO_CLAIM) {
		return true;
	}
	const struct bt_resource_claim *claim = &store->claims[noted->choice.claim_ix];
	return claim->live && claim->name == noted->name && claim->uid == noted->uid;
}

static void assume_volumes(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_storage *storage = engine->cache->view.storage;
	struct bt_reserved *reserved = &engine->reserved;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reserved->binding_n; i++) {
		const struct bt_volume_binding *binding = &reserved->bindings[i];

		if (storage->claims[binding->claim_ix].live &&
			(binding->pv_ix == BT_NO_VOLUME || storage->pvs[binding->pv_ix].live)) {
			reserved->bindings[kept++] = *binding;
		}
	}
	bt_volumes_assume(engine->cache->volumes, pod_ix, engine->cache->view.snapshot->nodes[node_ix].name,
		reserved->bindings, kept);
}

static void assume_devices(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_reserved *reserved = &engine->reserved;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reserved->choice_n; i++) {
		if (still_there(engine, &reserved->choices[i])) {
			reserved->given = bt_mem_grow(
				reserved->given, kept, &reserved->given_cap, sizeof(*reserved->given));
			reserved->given[kept++] = reserved->choices[i].choice;
		}
	}
	bt_devices_assume(engine->cache->devices, pod_ix, reserved->given, kept);
}

/* Has what plugins know of the pod's claims been worked out for the claims as they are? */
static bool is_current(struct bt_engine *engine, struct bt_plan *plan)
{
	const struct bt_view *view = &engine->cache->view;

	if (engine->reserved.storage == view->storage->version &&
		engine->reserved.devices == view->devices->version) {
		return true;
	}
	bt_prepare(plan, view);
	return !plan->refusal && !plan->pre_filter_error;
}

static BT_NOINLINE void choose_again(
	struct bt_engine *engine, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	engine->reserved.binding_n = engine->reserved.choice_n = 0;
	if (is_current(engine, plan)) {
		bt_engine_choose_reserved(engine, plan, pod_ix, node_ix);
	}
}

/* Looking up the node's name for nothing is a miss of all caches where there are many nodes. */
static BT_NOINLINE void assume_claims(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	if (engine->reserved.binding_n) {
		assume_volumes(engine, pod_ix, node_ix);
	}
	if (engine->reserved.choice_n) {
		assume_devices(engine, pod_ix);
	}
}

void bt_engine_reserve(struct bt_engine *engine, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_reserved *reserved = &engine->reserved;

	/* The caller of the second half may have another node. */
	if (reserved->pod_ix != pod_ix || reserved->node_ix != node_ix) {
		choose_again(engine, plan, pod_ix, node_ix);
	}
	if (reserved->binding_n | reserved->choice_n) {
		assume_claims(engine, pod_ix, node_ix);
	}
	reserved->pod_ix = BT_NO_POD;
	bt_ledger_assume(engine->cache->ledger, pod_ix, node_ix);
	BT_PROBE2(assumed, pod_ix, node_ix);
}
