/* SPDX-License-Identifier: Apache-2.0
 * A pipeline source that feeds copies of objects, and tracks when all of them have been applied.
 */
#pragma once

#include "engine/base/atomic.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/kube/objects/admission.h"

/* Zero-initialized except for the first two fields. Owns: bt_feeder_fini. */
struct bt_feeder {
	struct bt_pipeline *pipeline;
	uint32_t source;
	/* private: */
	_Atomic uint64_t fed_n; /* atomic: watch events */
	/* Events fed from the scheduling thread, which cannot wait for itself. */
	struct bt_watch_event **held;
	size_t held_n, held_cap;
	bool holds;
};

/*
 * Feeds a copy of an object; a deletion needs only the kind and the names. Context: one thread at a time;
 * waits for room. Returns: BT_OK; BT_CONFLICT when the pipeline has stopped.
 */
enum bt_status bt_feeder_hand_over(
	struct bt_feeder *feeder, enum bt_watch_event_kind kind, const struct bt_object *object);

/* Have all objects fed to n feeders of one pipeline been applied? Context: any thread. */
bool bt_feeders_are_taken(const struct bt_feeder *feeders, uint32_t n);

/*
 * bt_admission_finish, between two cycles: creates the pods of DaemonSets for the applied nodes. Admitted
 * objects are fed by this feeder afterwards.
 * Context: as bt_feeder_hand_over, and bt_pipeline_call. Returns: as bt_feeder_hand_over.
 */
enum bt_status bt_feeder_finish_admission(struct bt_feeder *feeder, struct bt_admission *admission);

void bt_feeder_fini(struct bt_feeder *feeder);
