/* SPDX-License-Identifier: Apache-2.0
 * Journals of simulations: the inputs of a run's engine and its decisions, written to a file for berth
 * replay. Objects are stored as JSON; the configuration is preceded by its Kubernetes release and its feature
 * gates.
 */
#pragma once

#include "engine/base/atomic.h"
#include "engine/flow/pipeline/journal.h"
#include "tools/cli/output.h"

/* All zeroes: no recording. */
struct bt_recording {
	struct bt_journal *journal; /* for the pipeline */
	struct bt_output output;
	struct bt_buf config; /* for the header */
	_Atomic int error;    /* atomic: relaxed; errno of a failed write */
};

/* Opens the file. Returns: BT_OK; BT_IO with a message on standard error. */
enum bt_status bt_recording_open(struct bt_recording *recording, const char *path, enum bt_output_way way,
	const struct bt_config *config);

/* The same into memory, where it cannot fail. */
void bt_recording_open_memory(
	struct bt_recording *recording, struct bt_buf *out_bytes, const struct bt_config *config);
void bt_recording_close_memory(struct bt_recording *recording);

/* The errno of the failed write that ended the journal; 0: none. Context: any thread. */
static inline int bt_recording_error(const struct bt_recording *recording)
{
	return bt_load_relaxed(&recording->error);
}

/* Ends the journal, if any; unless whole, an older file stays unchanged. Returns: enum bt_exit. */
int bt_recording_close(struct bt_recording *recording, bool whole);

/*
 * The configuration of a journal's header. Returns: BT_OK; else the reason in out_error. Owns:
 * bt_config_fini.
 */
enum bt_status bt_recording_config(
	struct bt_str text, struct bt_config *out_config, struct bt_buf *out_error);
