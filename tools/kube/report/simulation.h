/* SPDX-License-Identifier: Apache-2.0
 * The report of a simulation: placed pods, unplaced ones with reasons, utilization, durations.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"
#include "tools/kube/report/queueing.h"

#define BT_REPORT_SCHEMA "berth.simulation/v1"

struct bt_report_kind {
	const char *name;
	uint64_t n;
	bool used;	    /* berth uses objects of this kind */
	const char *effect; /* the effect of ignoring it; NULL: none */
};

/* A trace's resource usage over time, in the resource's unit. */
struct bt_report_use {
	double mean, peak;
};

/* The report's input apart from the engine. */
struct bt_simulation_facts {
	uint64_t pods_scheduled_before, pods_expanded, pods_ended, pods_other_schedulers, pods_deleting;
	uint64_t pods_on_unknown_nodes, pods_deleted, pods_deleted_waiting, pods_leaving, problems;
	uint64_t pods_lost; /* pods, and parts of the input in which pods may be, that could not be read */
	uint64_t bytes_read;
	double read_s, decide_s;
	bool has_uses; /* a trace with times */
	double virtual_s;
	const struct bt_report_use *uses; /* by resource slot; the last one, BT_FIRST_RARE, counts pods */
	struct bt_queueing_facts queueing;
	const struct bt_report_kind *kinds;
	size_t kind_n;
	const struct bt_stage_latency *stages; /* NULL: not measured */
	bool interrupted;
	bool all; /* all rows of each section */
};

/* Adds the header: the schema, the input's source (such as "tools/samples"), the seed. */
void bt_report_begin(struct bt_emit *emit, const char *source, uint64_t seed);

/* Adds every section to the report. */
void bt_report_simulation(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_simulation_facts *facts);
