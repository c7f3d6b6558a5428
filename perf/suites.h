/* SPDX-License-Identifier: Apache-2.0
 * Declares the suites that suites.def lists.
 */
#pragma once

#include "bench.h"

#define SUITE(name) extern const struct bt_bench_suite bt_bench_##name;
#include "suites.def"
#undef SUITE
