/* SPDX-License-Identifier: Apache-2.0
 * /debug/pprof: its profiles, and replacements for those of Go.
 */
#pragma once

#include "tools/cluster/serve/routes.h"

void bt_profiles_answer(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
