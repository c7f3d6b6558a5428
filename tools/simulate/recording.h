/* SPDX-License-Identifier: Apache-2.0
 * Journals of simulations: what a run shows its engine, and what that decides, into a file that berth replay
 * plays again. Objects are kept as JSON, the configuration with its feature gates in front.
 */
#pragma once

#include "engine/flow/journal.h"
#include "tools/cli/output.h"

/* All zeroes: nothing is recorded, and every function does nothing. */
struct bt_recording {
	struct bt_journal *journal;
	struct bt_output output;
	struct bt_buf text;
};

/* Opens the file, which gets the header. Returns: BT_OK; BT_IO with a message on standard error. */
enum bt_status bt_recording_open(struct bt_recording *recording, const char *path,
	const struct bt_config *config, const struct bt_journal_header *header);

/* Ends the journal, if there is one. Returns: enum bt_exit. */
int bt_recording_close(struct bt_recording *recording);

/* An object has been shown to the engine. */
void bt_recording_object(struct bt_recording *recording, const struct bt_object *object);
void bt_recording_pod(struct bt_recording *recording, const struct bt_pod_object *pod);

/* A pod is about to be removed. */
void bt_recording_remove(struct bt_recording *recording, struct bt_engine *engine, uint32_t pod_ix);

/* The clock was set; what: what the engine is about to be told besides. */
void bt_recording_time(struct bt_recording *recording, int64_t now_ns, enum bt_journal_time what);

/* A pod was taken out of the queue. */
void bt_recording_taken(struct bt_recording *recording, uint32_t pod_ix);

void bt_recording_decision(
	struct bt_recording *recording, struct bt_engine *engine, const struct bt_decision *decision);

/* The configuration of a journal's header. Returns: BT_OK; else why not in out_error. Owns: bt_config_fini.
 */
enum bt_status bt_recording_config(
	struct bt_str text, struct bt_config *out_config, struct bt_buf *out_error);
