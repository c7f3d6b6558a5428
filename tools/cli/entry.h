/* SPDX-License-Identifier: Apache-2.0
 * The subcommands' entry points. Each is in a file cmd_<name>.c, takes a checked command line and returns one
 * of enum bt_exit.
 */
#pragma once

#include "tools/cli/invocation.h"

int bt_cmd_simulate(struct bt_invocation *invocation);
int bt_cmd_run(struct bt_invocation *invocation);
int bt_cmd_bench(struct bt_invocation *invocation);
int bt_cmd_quality(struct bt_invocation *invocation);
int bt_cmd_explain(struct bt_invocation *invocation);
int bt_cmd_timeline(struct bt_invocation *invocation);
int bt_cmd_recommend(struct bt_invocation *invocation);
int bt_cmd_whatif(struct bt_invocation *invocation);
int bt_cmd_capacity(struct bt_invocation *invocation);
int bt_cmd_check(struct bt_invocation *invocation);
int bt_cmd_compare(struct bt_invocation *invocation);
int bt_cmd_replay(struct bt_invocation *invocation);
int bt_cmd_verdict(struct bt_invocation *invocation);
int bt_cmd_history(struct bt_invocation *invocation);
int bt_cmd_generate(struct bt_invocation *invocation);
int bt_cmd_kinds(struct bt_invocation *invocation);
int bt_cmd_topology(struct bt_invocation *invocation);
