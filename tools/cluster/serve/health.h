/* SPDX-License-Identifier: Apache-2.0
 * /healthz, /livez and /readyz with their named checks, and their texts. Source:
 * k8s.io/apiserver/pkg/server/healthz and cmd/kube-scheduler/app/server.go, v1.36.3.
 */
#pragma once

#include "tools/cluster/serve/sources.h"

/* Results of checks: for each check and point the number of successes and failures, and the last result.
 * Context: any thread. */
struct bt_health_tally;

struct bt_health_tally *bt_health_tally_create(void);
void bt_health_tally_destroy(struct bt_health_tally *tally);

/* Calls call for each check and point that was requested. */
void bt_health_each(const struct bt_health_tally *tally,
	void (*call)(void *context, const char *name, const char *point, const uint64_t n[2], bool good),
	void *context);

enum bt_health_point { BT_HEALTHZ = 1, BT_LIVEZ = 2, BT_READYZ = 4 };

struct bt_health_request {
	enum bt_health_point point;
	bool verbose;
	const struct bt_str *excluded;
	size_t excluded_n;
};

/* Runs all checks of a point and appends the answer. Context: any thread. Returns: the HTTP status. */
unsigned bt_health_answer(
	const struct bt_serve_sources *sources, const struct bt_health_request *request, struct bt_buf *out);

/* The same for one check, with its reason. Returns: 404 when there is no such check. */
unsigned bt_health_answer_one(const struct bt_serve_sources *sources, enum bt_health_point point,
	struct bt_str check, struct bt_buf *out);
