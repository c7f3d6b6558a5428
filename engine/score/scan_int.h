/* SPDX-License-Identifier: Apache-2.0
 * The scan's versions, each compiled for its processor.
 */
#pragma once

#include "engine/score/scan.h"

extern const struct bt_scan_version bt_scan_avx2, bt_scan_avx512;
