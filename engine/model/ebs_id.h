/* SPDX-License-Identifier: Apache-2.0
 * The volume of an awsElasticBlockStore id, which may be a URL.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the volume's name as its CSI driver uses it, or the reason when the id has none.
 * Returns: whether the id names a volume.
 * Context: allocates.
 */
bool bt_ebs_volume(struct bt_str id, struct bt_buf *out);
