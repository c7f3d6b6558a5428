/* SPDX-License-Identifier: Apache-2.0
 * Kinds that change placements in a cluster and that berth does not apply.
 */
#pragma once

#include <stddef.h>

/* What becomes of objects of a kind that nobody looks at, named as in the report ("RuntimeClass
 * (node.k8s.io/v1)"), when a cluster would place pods otherwise because of them; NULL: it would not. */
const char *bt_ignored_effect(const char *kind);
