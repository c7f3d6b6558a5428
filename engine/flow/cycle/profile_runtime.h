/* SPDX-License-Identifier: Apache-2.0
 * Profiles at work: each with its plans, hints and counts of plugins' runs.
 * Owns: the planners and what profiles' settings live in (bt_profile_runtimes_fini). Writer:
 * profile_runtime.c, and of a profile's runs plugin_runs.c. Thread: the scheduling thread.
 */
#pragma once

#include "cache/ingest.h"
#include "engine/base/arena.h"
#include "engine/base/rng.h"
#include "engine/flow/config/profile.h"
#include "engine/flow/cycle/hints.h"
#include "engine/flow/cycle/plugin_runs.h"
#include "engine/flow/cycle/sample.h"
#include "engine/score/plan.h"

/* A profile at work. */
struct bt_profile_runtime {
	struct bt_flow_profile profile;
	struct bt_planner *planner;
	bool samples; /* its cycles look at a sample of the nodes */
	struct bt_hints hints;
	int number_of_use[BT_PROFILE_USES]; /* hints' numbers */
	/* Of the plugin that preempts, of extenders, and of the one that keeps the pods of a group out until
	 * there are enough; -1: not there. */
	int preemption_number, extender_number, groups_number;
	struct bt_plugin_runs runs;
};

/* The profiles of a configuration. All zeroes: none. Private. init: const after start. */
struct bt_profile_runtimes {
	struct bt_profile_runtime *items;
	uint32_t n;
	uint32_t gate_traits;  /* of pods that concern PreEnqueue of any */
	bool reserve_always;   /* every pod concerns Reserve of some plugin */
	bool sees_pods;	       /* of some profile: as in struct bt_profile */
	struct bt_arena arena; /* profiles' settings */
};

/* Makes what the configuration's profiles need.
 * Returns: BT_OK; BT_INVALID with errors. bt_profile_runtimes_fini is due in any case. */
enum bt_status bt_profile_runtimes_init(struct bt_profile_runtimes *runtimes, const struct bt_config *config,
	enum bt_node_sampling sampling, struct bt_cache *cache, size_t plan_memory_bytes,
	struct bt_config_errors *errors);
void bt_profile_runtimes_fini(struct bt_profile_runtimes *runtimes);

/* Plans are made again: signatures were retired, or slots of nodes have changed. */
void bt_profile_runtimes_forget_plans(struct bt_profile_runtimes *runtimes);

/* How many plans were dropped because there was no room. */
uint64_t bt_profile_runtimes_drop_n(const struct bt_profile_runtimes *runtimes);

/* What of pods concerns PreEnqueue of any profile: enum bt_trait bits. */
static inline uint32_t bt_profile_runtimes_gate_traits(const struct bt_profile_runtimes *runtimes)
{
	return runtimes->gate_traits;
}

/* Does every pod concern Reserve of some plugin? */
static inline bool bt_profile_runtimes_reserve_always(const struct bt_profile_runtimes *runtimes)
{
	return runtimes->reserve_always;
}

/* Does a plugin of some profile see pods one by one? */
static inline bool bt_profile_runtimes_see_pods(const struct bt_profile_runtimes *runtimes)
{
	return runtimes->sees_pods;
}

/* The profile of that number, or NULL behind the last one. */
static inline struct bt_profile_runtime *bt_profile_runtimes_at(
	const struct bt_profile_runtimes *runtimes, uint32_t ix)
{
	return ix < runtimes->n ? &runtimes->items[ix] : NULL;
}

/* The profile that pods of that schedulerName ask for, or NULL. */
static inline struct bt_profile_runtime *bt_profile_runtimes_find(
	const struct bt_profile_runtimes *runtimes, uint32_t scheduler_name)
{
	for (uint32_t i = 0; i < runtimes->n; i++) {
		if (runtimes->items[i].profile.plugins.name == scheduler_name) {
			return &runtimes->items[i];
		}
	}
	return NULL;
}

/* The profile's number, for metrics. */
static inline uint16_t bt_profile_runtimes_ix(
	const struct bt_profile_runtimes *runtimes, const struct bt_profile_runtime *runtime)
{
	return (uint16_t)(runtime - runtimes->items);
}
