/* SPDX-License-Identifier: Apache-2.0
 * Runtimes of profiles: plans, hints and counts of plugin calls.
 * Owns: the planners and the arena of profiles' settings (bt_profile_runtimes_fini). Writer:
 *       profile_runtime.c, and of a profile's runs plugin_runs.c. Thread: the scheduling thread.
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

/* The runtime of a profile. */
struct bt_profile_runtime {
	struct bt_flow_profile profile;
	struct bt_planner *planner;
	bool samples; /* its cycles sample the nodes */
	struct bt_hints hints;
	int number_of_use[BT_PROFILE_USES]; /* numbers of hint plugins */
	/* Numbers of the plugin that preempts, of extenders, of the plugin that gates a group's pods until
	 * there are enough, and of the one that generates groups' placements; -1: none. */
	int preemption_number, extender_number, groups_number, placements_number;
	struct bt_plugin_runs runs;
};

/* The profiles of a configuration. Zero-initialized: none. Private. init: const after start. */
struct bt_profile_runtimes {
	struct bt_profile_runtime *items;
	uint32_t n;
	uint32_t gate_traits;  /* pod traits that PreEnqueue plugins of any profile need */
	bool reserve_always;   /* a Reserve plugin concerns every pod */
	bool sees_pods;	       /* of any profile: as in struct bt_profile */
	struct bt_arena arena; /* profiles' settings */
};

/*
 * Creates the runtimes of the configuration's profiles.
 * Returns: BT_OK; BT_INVALID with errors. Call bt_profile_runtimes_fini in any case.
 */
enum bt_status bt_profile_runtimes_init(struct bt_profile_runtimes *runtimes, const struct bt_config *config,
	enum bt_node_sampling sampling, struct bt_cache *cache, size_t plan_memory_bytes,
	struct bt_config_errors *errors);
void bt_profile_runtimes_fini(struct bt_profile_runtimes *runtimes);

/* Drops all plans: signatures were retired, or node slots have changed. */
void bt_profile_runtimes_forget_plans(struct bt_profile_runtimes *runtimes);

/* The number of plans dropped for lack of room. */
uint64_t bt_profile_runtimes_drop_n(const struct bt_profile_runtimes *runtimes);

/* The pod traits that PreEnqueue plugins of any profile need: enum bt_trait bits. */
static inline uint32_t bt_profile_runtimes_gate_traits(const struct bt_profile_runtimes *runtimes)
{
	return runtimes->gate_traits;
}

/* Does a Reserve plugin concern every pod? */
static inline bool bt_profile_runtimes_reserve_always(const struct bt_profile_runtimes *runtimes)
{
	return runtimes->reserve_always;
}

/* Does a plugin of any profile read single pods? */
static inline bool bt_profile_runtimes_see_pods(const struct bt_profile_runtimes *runtimes)
{
	return runtimes->sees_pods;
}

/* The profile of that number, or NULL after the last one. */
static inline struct bt_profile_runtime *bt_profile_runtimes_at(
	const struct bt_profile_runtimes *runtimes, uint32_t ix)
{
	return ix < runtimes->n ? &runtimes->items[ix] : NULL;
}

/* The profile of that schedulerName, or NULL. */
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
