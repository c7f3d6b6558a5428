/* SPDX-License-Identifier: Apache-2.0
 * The volume that an id of awsElasticBlockStore names, which may be written as a URL.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Appends the volume's name, as its CSI driver knows it; or, when the id names none, why.
 * Returns: does it name one?
 * Context: allocates.
 */
bool bt_ebs_volume(struct bt_str id, struct bt_buf *out);
