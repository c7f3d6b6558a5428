/* SPDX-License-Identifier: Apache-2.0
 * /debug/: the scheduler's state. Each function appends its answer; see routes.c.
 */
#pragma once

#include "tools/cluster/serve/routes.h"

void bt_debug_queue(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
void bt_debug_cache(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
void bt_debug_compare(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
void bt_debug_unread(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
void bt_debug_explain(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
