/* SPDX-License-Identifier: Apache-2.0
 * The release that flags select: --kubernetes-version, and kube-scheduler's --emulated-version and
 * --min-compatibility-version. Source: component-base/compatibility, v0.36.3.
 */
#pragma once

#include "tools/cli/invocation.h"
#include "engine/model/release.h"

struct bt_run_versions {
	const struct bt_release *fixed; /* NULL: the API server's */
	uint32_t emulated, compatible;	/* minor versions; 0: not given */
};

/* Prints errors that do not depend on the release. Returns: enum bt_exit. */
int bt_run_versions_read(const struct bt_invocation *invocation, struct bt_run_versions *out_versions);

/*
 * Applies the flags to a release. out_release is valid as long as binary is.
 * Returns: false with a flag's name and upstream's text in out_error.
 */
bool bt_run_versions_apply(const struct bt_run_versions *versions, const struct bt_release *binary,
	struct bt_release *out_release, struct bt_buf *out_error);
