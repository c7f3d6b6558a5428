/* SPDX-License-Identifier: Apache-2.0
 * Writing KubeSchedulerConfiguration as JSON, which YAML readers take too.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/flow/config/config.h"

/*
 * Appends the configuration as one line of JSON, members in byte order of their names. Empty or zero members
 * that mean the same as absent ones are omitted, so that reading the text again gives an equal configuration.
 * Context: any thread; allocates in out_text.
 */
void bt_config_encode(const struct bt_config *config, struct bt_buf *out_text);

/* The same with every member of kube-scheduler's --write-config-to, even if empty. clientConnection's qps and
 * burst, if 0, become their defaults again when the text is read, as upstream. */
void bt_config_encode_whole(const struct bt_config *config, struct bt_buf *out_text);
