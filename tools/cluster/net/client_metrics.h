/* SPDX-License-Identifier: Apache-2.0
 * What was asked of a server, by all clients that share its access: counted as client-go counts it, in its
 * buckets. Source: component-base's metrics/prometheus/restclient and client-go's rest/request.go, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "tools/cluster/net/http.h"

#define BT_CLIENT_METRICS_METHODS 5   /* of enum bt_http_method */
#define BT_CLIENT_METRICS_CODES	  600 /* HTTP status codes; 0: no answer came */
#define BT_CLIENT_METRICS_BOUNDS  12

/* How many values fell into each bucket, the last one being what is beyond.
 * atomic: relaxed; every client adds, and a reader may miss the newest */
struct bt_client_metrics_buckets {
	_Atomic uint64_t counts[BT_CLIENT_METRICS_BOUNDS + 1];
	_Atomic uint64_t sum; /* ns, or bytes */
};

/* All zeroes: nothing yet. Private. */
struct bt_client_metrics {
	/* atomic: as the buckets; again: those of calls that had been sent before */
	_Atomic uint64_t codes[BT_CLIENT_METRICS_METHODS][BT_CLIENT_METRICS_CODES],
		again[BT_CLIENT_METRICS_METHODS][BT_CLIENT_METRICS_CODES];
	struct bt_client_metrics_buckets durations[BT_CLIENT_METRICS_METHODS],
		sent[BT_CLIENT_METRICS_METHODS], received[BT_CLIENT_METRICS_METHODS],
		waits[BT_CLIENT_METRICS_METHODS];
};

/* A call that is over. */
struct bt_client_metrics_call {
	enum bt_http_method method;
	uint32_t status; /* 0: no answer */
	bool watch;	 /* lasts as long as it can: its duration and sizes say nothing */
	bool again;	 /* it had been sent before, by whoever sends it */
	int64_t took_ns;
	uint64_t sent_bytes, received_bytes; /* of the bodies */
};

/* Context: any thread. */
void bt_client_metrics_note(struct bt_client_metrics *metrics, const struct bt_client_metrics_call *call);

/* A call has waited so long for its turn under the client's own limit of calls a second. Context: any
 * thread. */
void bt_client_metrics_waited(struct bt_client_metrics *metrics, enum bt_http_method method, int64_t wait_ns);

/* Adds what other has. Context: the thread that alone has sum. */
void bt_client_metrics_merge(struct bt_client_metrics *sum, const struct bt_client_metrics *other);

/* ---- reading; any thread ---- */

/* "GET". */
const char *bt_client_metrics_method(enum bt_http_method method);

uint64_t bt_client_metrics_code_n(
	const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status);

/* The same for calls that had been sent before. */
uint64_t bt_client_metrics_again_n(
	const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status);

enum bt_client_metric {
	BT_CLIENT_METRICS_DURATION = 0,
	BT_CLIENT_METRICS_SENT,
	BT_CLIENT_METRICS_RECEIVED,
	BT_CLIENT_METRICS_WAIT
};

/* Of one method; counts are of each bucket alone. */
struct bt_client_metrics_view {
	uint32_t bound_n;
	const double *bounds; /* seconds, or bytes */
	uint64_t counts[BT_CLIENT_METRICS_BOUNDS + 1];
	double sum;
	uint64_t n;
};

void bt_client_metrics_read(const struct bt_client_metrics *metrics, enum bt_client_metric metric,
	enum bt_http_method method, struct bt_client_metrics_view *out_view);
