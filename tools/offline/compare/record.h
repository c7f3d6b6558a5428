/* SPDX-License-Identifier: Apache-2.0
 * A run of a cluster as a journal in memory.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "tools/cli/invocation.h"

struct bt_recorded {
	struct bt_buf journal;
	uint64_t node_n;
};

/* Places the pods of the invocation's files under the configuration. Returns: enum bt_exit, with a message on
 * standard error. Owns: bt_buf_fini of the journal, in any case. */
int bt_record_run(const struct bt_invocation *invocation, const struct bt_config *config,
	struct bt_recorded *out_recorded);
