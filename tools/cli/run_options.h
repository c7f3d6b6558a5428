/* SPDX-License-Identifier: Apache-2.0
 * The options of berth run: kube-scheduler's flags, and berth's own.
 */
#pragma once

#include "tools/cli/command.h"

/* Ends with a NULL name. */
extern const struct bt_option bt_run_options[];
