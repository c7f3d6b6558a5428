/* SPDX-License-Identifier: Apache-2.0
 * /flagz and /statusz: a component's flags, and its status. Each function appends its answer; see routes.c.
 * Source: k8s.io/apiserver/pkg/server/{flagz,statusz}, v0.36.3.
 */
#pragma once

#include "tools/cluster/serve/routes.h"

void bt_zpages_flagz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
void bt_zpages_statusz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out);
