/* SPDX-License-Identifier: Apache-2.0
 * Where a timeline comes from: a simulated cluster, or a journal. Context: one thread.
 */
#pragma once

#include "tools/cli/invocation.h"
#include "tools/offline/timeline/record.h"

/* Is the file a journal? An unreadable one is not. */
bool bt_timeline_is_journal(const char *path);

/*
 * Replays the journal of the invocation's first input and records the pod's rows. Reports errors on standard
 * error.
 * Returns: BT_EXIT_OK; BT_EXIT_INPUT: the journal is damaged, or decides differently now; rows up to there
 *          are recorded.
 */
int bt_timeline_from_journal(struct bt_timeline *timeline, const struct bt_invocation *invocation);

/* Simulates the cluster of the invocation, and records the pod's rows. Returns: enum bt_exit, with its
 * message on standard error. */
int bt_timeline_from_cluster(struct bt_timeline *timeline, struct bt_invocation *invocation);
