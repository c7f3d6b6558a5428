/* SPDX-License-Identifier: Apache-2.0
 * Metrics of calls to a server.
 */
#include "tools/cluster/net/client_metrics.h"

#include "engine/base/atomic.h"

static const double second_bounds[] = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
static const double byte_bounds[] = {
	64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

static const struct {
	const double *bounds;
	uint32_t n;
	double unit; /* values per unit of the bounds */
} shapes[] = {
	[BT_CLIENT_METRICS_DURATION] = {second_bounds, sizeof(second_bounds) / sizeof(*second_bounds), 1e9},
	[BT_CLIENT_METRICS_SENT] = {byte_bounds, sizeof(byte_bounds) / sizeof(*byte_bounds), 1},
	[BT_CLIENT_METRICS_RECEIVED] = {byte_bounds, sizeof(byte_bounds) / sizeof(*byte_bounds), 1},
	[BT_CLIENT_METRICS_WAIT] = {second_bounds, sizeof(second_bounds) / sizeof(*second_bounds), 1e9},
};

static void client_metrics_note(
	struct bt_client_metrics_buckets *buckets, enum bt_client_metric metric, uint64_t value)
{
	uint32_t i = 0;

	while (i < shapes[metric].n && (double)value / shapes[metric].unit > shapes[metric].bounds[i]) {
		i++;
	}
	bt_add_relaxed(&buckets->counts[i], 1);
	bt_add_relaxed(&buckets->sum, value);
}

void bt_client_metrics_note(struct bt_client_metrics *metrics, const struct bt_client_metrics_call *call)
{
	uint32_t status = call->status < BT_CLIENT_METRICS_CODES ? call->status : 0;

	bt_add_relaxed(&metrics->codes[call->method][status], 1);
	if (call->again) {
		bt_add_relaxed(&metrics->again[call->method][status], 1);
	}
	if (call->watch) {
		return;
	}
	client_metrics_note(&metrics->durations[call->method], BT_CLIENT_METRICS_DURATION,
		call->took_ns > 0 ? (uint64_t)call->took_ns : 0);
	client_metrics_note(&metrics->sent[call->method], BT_CLIENT_METRICS_SENT, call->sent_bytes);
	if (status) {
		client_metrics_note(
			&metrics->received[call->method], BT_CLIENT_METRICS_RECEIVED, call->received_bytes);
	}
}

void bt_client_metrics_waited(struct bt_client_metrics *metrics, enum bt_http_method method, int64_t wait_ns)
{
	client_metrics_note(
		&metrics->waits[method], BT_CLIENT_METRICS_WAIT, wait_ns > 0 ? (uint64_t)wait_ns : 0);
}

static void merge(struct bt_client_metrics_buckets *sum, const struct bt_client_metrics_buckets *other)
{
	for (uint32_t i = 0; i <= BT_CLIENT_METRICS_BOUNDS; i++) {
		bt_add_owned(&sum->counts[i], bt_load_relaxed(&other->counts[i]));
	}
	bt_add_owned(&sum->sum, bt_load_relaxed(&other->sum));
}

void bt_client_metrics_merge(struct bt_client_metrics *sum, const struct bt_client_metrics *other)
{
	for (int method = 0; method < BT_CLIENT_METRICS_METHODS; method++) {
		for (uint32_t code = 0; code < BT_CLIENT_METRICS_CODES; code++) {
			bt_add_owned(&sum->codes[method][code], bt_load_relaxed(&other->codes[method][code]));
			bt_add_owned(&sum->again[method][code], bt_load_relaxed(&other->again[method][code]));
		}
		merge(&sum->durations[method], &other->durations[method]);
		merge(&sum->sent[method], &other->sent[method]);
		merge(&sum->received[method], &other->received[method]);
		merge(&sum->waits[method], &other->waits[method]);
	}
}

const char *bt_client_metrics_method(enum bt_http_method method)
{
	static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

	return names[method];
}

uint64_t bt_client_metrics_code_n(
	const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status)
{
	return bt_load_relaxed(&metrics->codes[method][status]);
}

uint64_t bt_client_metrics_again_n(
	const struct bt_client_metrics *metrics, enum bt_http_method method, uint32_t status)
{
	return bt_load_relaxed(&metrics->again[method][status]);
}

static const struct bt_client_metrics_buckets *buckets_of(
	const struct bt_client_metrics *metrics, enum bt_client_metric metric, enum bt_http_method method)
{
	const struct bt_client_metrics_buckets *const all[] = {
		[BT_CLIENT_METRICS_DURATION] = metrics->durations,
		[BT_CLIENT_METRICS_SENT] = metrics->sent,
		[BT_CLIENT_METRICS_RECEIVED] = metrics->received,
		[BT_CLIENT_METRICS_WAIT] = metrics->waits,
	};

	return &all[metric][method];
}

void bt_client_metrics_read(const struct bt_client_metrics *metrics, enum bt_client_metric metric,
	enum bt_http_method method, struct bt_client_metrics_view *out_view)
{
	const struct bt_client_metrics_buckets *buckets = buckets_of(metrics, metric, method);

	*out_view =
		(struct bt_client_metrics_view){.bound_n = shapes[metric].n, .bounds = shapes[metric].bounds};
	for (uint32_t i = 0; i <= out_view->bound_n; i++) {
		out_view->counts[i] = bt_load_relaxed(&buckets->counts[i]);
		out_view->n += out_view->counts[i];
	}
	out_view->sum = (double)bt_load_relaxed(&buckets->sum) / shapes[metric].unit;
}
