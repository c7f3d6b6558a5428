/* SPDX-License-Identifier: Apache-2.0
 * Kinds that change placements in a cluster and that berth does not apply.
 */
#pragma once

#include <stddef.h>

/* The effect of ignoring objects of a kind, named as in the report ("RuntimeClass (node.k8s.io/v1)"), on
 * placements in a cluster; NULL: none. */
const char *bt_ignored_effect(const char *kind);
