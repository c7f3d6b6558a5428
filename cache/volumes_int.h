/* SPDX-License-Identifier: Apache-2.0
 * Lookups of storage objects by name for the folder's own files. Context: the scheduling thread.
 */
#pragma once

#include "cache/volumes.h"

/* The object with that name, or NULL. */
const struct bt_csi_capacity *bt_volumes_capacity(
	const struct bt_volumes *volumes, uint32_t namespace_, uint32_t name);
const struct bt_attachment *bt_volumes_attachment(const struct bt_volumes *volumes, uint32_t name);
