/* SPDX-License-Identifier: Apache-2.0
 * PreEnqueue: which plugin gates a pod.
 */
#include "engine/flow/cycle/engine_int.h"

uint32_t bt_engine_traits(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	const struct bt_signature *signature = pod->signature;

	return BT_TRAIT_ANY | (pod->gates ? BT_TRAIT_GATES : 0) | (signature->claim_n ? BT_TRAIT_CLAIMS : 0) |
	       (signature->volume_n ? BT_TRAIT_VOLUMES : 0) |
	       (signature->pod_group != BT_NAME_NONE ? BT_TRAIT_GROUP : 0) |
	       (bt_eviction_is_for(&engine->eviction, &engine->groups, engine->cache->ledger, pod_ix)
			       ? BT_TRAIT_PREEMPTS
			       : 0);
}

struct bt_pod_env bt_engine_pod_env(
	const struct bt_engine *engine, uint32_t pod_ix, struct bt_group_state *group)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	const struct bt_signature *signature = pod->signature;
	struct bt_pod_env env = {
		.view = &engine->cache->view,
		.signature = signature,
		.name = pod->name,
		.uid = pod->uid,
		.priority = pod->priority,
		.gates = pod->gates,
		.traits = bt_engine_traits(engine, pod_ix),
	};

	if (signature->pod_group != BT_NAME_NONE) {
		*group = bt_pod_groups_state(&engine->groups, signature->namespace_, signature->pod_group);
		env.group = group;
	}
	return env;
}

bool bt_engine_hook_gates(const struct bt_hook *hook, struct bt_pod_env *env, struct bt_buf *out_why)
{
	env->settings = hook->settings;
	return bt_hook_concerns(hook, env->traits) && hook->plugin->pre_enqueue(env, out_why);
}

const char *bt_engine_gate(const struct bt_engine *engine, uint32_t pod_ix, struct bt_buf *out_why)
{
	const struct bt_profile_runtime *runtime = bt_engine_runtime_of(engine, pod_ix);
	const struct bt_hooks *hooks = &runtime->profile.pre_enqueue;
	struct bt_group_state group;
	struct bt_pod_env env = bt_engine_pod_env(engine, pod_ix, &group);

	for (uint32_t i = 0; i < hooks->n && (hooks->traits & env.traits); i++) {
		size_t before = out_why->len;

		if (bt_engine_hook_gates(&hooks->items[i], &env, out_why) && out_why->len > before) {
			return hooks->items[i].plugin->name;
		}
	}
	return NULL;
}
