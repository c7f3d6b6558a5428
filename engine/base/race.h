/* SPDX-License-Identifier: Apache-2.0
 * Places where threads can meet in an unlucky order carry BT_RACE_POINT("module.function.where"). With the
 * CMake option BT_RACE a test can delay threads there, or hold one; without it the points are nothing at all.
 */
#pragma once

#define BT_RACE_POINT(name) ((void)sizeof(name))
