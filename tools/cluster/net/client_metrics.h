/* SPDX-License-Identifier: Apache-2.0
 * Metrics of calls to a server, by all clients of one client config: counted as client-go counts them, in its
 * buckets. Source: component-base's metrics/prometheus/restclient and client-go's rest/request.go, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "tools/cluster/net/http.h"

#define BT_CLIENT_METRICS_METHODS 5   /* of enum bt_http_method */
#define BT_CLIENT_METRICS_CODES	  600 /* HTTP status codes; 0: no answer */
#define BT_CLIENT_METRICS_BOUNDS  12

/*
 * A histogram: values by bucket, the last one for values beyond all bounds.
 * atomic: relaxed; every client adds, and a reader may miss the latest values
 */
struct bt_client_metrics_buckets {
	_Atomic uint64_t counts[BT_CLIENT_METRICS_BOUNDS + 1];
	_Atomic uint64_t sum; /* ns, or bytes */
};

/* All zeroes: empty. Private. */
struct bt_client_metrics {
	/* atomic: as the buckets; again: retried calls only */
	_Atomic uint64_t codes[BT_CLIENT_METRICS_METHODS][BT_CLIENT_METRICS_CODES],
		again[BT_CLIENT_METRICS_METHODS][BT_CLIENT_METRICS_CODES];
	struct bt_client_metrics_buckets durations[BT_CLIENT_METRICS_METHODS],
		sent[BT_CLIENT_METRICS_METHODS], received[BT_CLIENT_METRICS_METHODS],
		waits[BT_CLIENT_METRICS_METHODS];
};

/* A finished call. */
struct bt_client_metrics_call {
	enum bt_http_method method;
	uint32_t status; /* 0: no answer */
	bool watch;	 /* unbounded in time: duration and sizes are not recorded */
	bool again;	 /* a retry by the caller */
	int64_t took_ns;
	uint64_t sent_bytes, received_bytes; /* of the bodies */
};

/* Context: any thread. */
void bt_client_metrics_note(struct bt_client_metrics *metrics, const struct bt_client_metrics_call *call);

/* Records how long a call waited for the client's own rate limiter. Context: any thread. */
void bt_client_metrics_waited(struct bt_client_metrics *metrics, enum bt_http_method method, int64_t wait_ns);

/* Adds the values of other. Context: the thread that owns sum. */
void bt_client_metrics_merge(struct bt_client_metrics *sum, const struct bt_client_metrics *other);

/* ---- reading; any thread ---- */

/* "GET". */
const char *bt_client_metrics_method(enum bt_http_method method);

uint64_t bt_client_metrics_code_n(
	const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status);

/* The same for retried calls. */
uint64_t bt_client_metrics_again_n(
	const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status);

enum bt_client_metric {
	BT_CLIENT_METRICS_DURATION = 0,
	BT_CLIENT_METRICS_SENT,
	BT_CLIENT_METRICS_RECEIVED,
	BT_CLIENT_METRICS_WAIT
};

/* One method's histogram; counts are per bucket, not cumulative. */
struct bt_client_metrics_view {
	uint32_t bound_n;
	const double *bounds; /* seconds, or bytes */
	uint64_t counts[BT_CLIENT_METRICS_BOUNDS + 1];
	double sum;
	uint64_t n;
};

void bt_client_metrics_read(const struct bt_client_metrics *metrics, enum bt_client_metric metric,
	enum bt_http_method method, struct bt_client_metrics_view *out_view);
