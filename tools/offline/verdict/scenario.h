/* SPDX-License-Identifier: Apache-2.0
 * Scenarios: a cluster, an optional configuration, and the pods that are judged against it, each alone.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/format/diagnosis.h"
#include "tools/format/json.h"

/* A parsed scenario. Owns: nothing; strings belong to the text and the cursor's arena. */
struct bt_scenario {
	struct bt_str id, note;
	struct bt_str config;		  /* JSON text; empty when there is none */
	const struct bt_release *release; /* the release to decide as; parsing keeps the default */
	struct bt_str gates;		  /* in the format of kube-scheduler's
					   * --feature-gates; empty: the defaults */
	struct bt_str objects;		  /* JSON text of the array */
	struct bt_str_list pending;	  /* namespace/name, in the order to be judged */
};

/* A scenario's cluster. Owns: bt_scenario_close. */
struct bt_scenario_cluster {
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_arena arena;
};

/*
 * Reads one scenario at the cursor.
 * Returns: false with the error in out_error; the cursor is where it failed.
 */
bool bt_scenario_read(struct bt_json *json, struct bt_arena *arena, struct bt_scenario *out_scenario,
	struct bt_buf *out_error);

/*
 * Builds the scenario's cluster. Context: allocates.
 * Returns: BT_OK; otherwise the reason in out_error, and nothing is held.
 */
enum bt_status bt_scenario_open(const struct bt_scenario *scenario, uint64_t seed,
	struct bt_scenario_cluster *out_cluster, struct bt_buf *out_error);

/*
 * The same without objects: an engine that decides as a release, for a configuration (JSON text) and feature
 * gates ("A=true,B=false"),
 * the last two may be empty. Returns: BT_OK; otherwise the reason in out_error. Owns: bt_scenario_close, in
 * any case.
 */
enum bt_status bt_scenario_engine(const struct bt_release *release, struct bt_str config, struct bt_str gates,
	const struct bt_engine_options *options, struct bt_scenario_cluster *out_cluster,
	struct bt_buf *out_error);

void bt_scenario_close(struct bt_scenario_cluster *cluster);

/* The pod of that "namespace/name", or BT_NO_POD. */
uint32_t bt_scenario_find(struct bt_scenario_cluster *cluster, struct bt_str key);
