/* SPDX-License-Identifier: Apache-2.0
 * The report of a simulation: what was placed, what not and why, how full the cluster is, how long it took.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"
#include "tools/kube/report/queueing.h"

#define BT_REPORT_SCHEMA "berth.simulation/v1"

struct bt_report_kind {
	const char *name;
	uint64_t n;
	bool used;	    /* berth looks at objects of this kind */
	const char *effect; /* what is different because it does not; NULL: nothing */
};

/* What a trace's pods used in the course of time, in the resource's unit. */
struct bt_report_use {
	double mean, peak;
};

/* What the report says besides what the engine knows. */
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
	bool all; /* rows of each section, however many there are */
};

/* Adds what comes first: the schema, where the input is from (such as "tools/samples"), the seed. */
void bt_report_begin(struct bt_emit *emit, const char *source, uint64_t seed);

/* Adds every section to the report. */
void bt_report_simulation(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_simulation_facts *facts);
