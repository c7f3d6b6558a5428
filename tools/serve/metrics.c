/* SPDX-License-Identifier: Apache-2.0
 * /metrics, part by part.
 */
#include "tools/serve/metrics.h"

#include "metrics_int.h"
#include "tools/serve/health.h"

static void add_status(void *context, const char *name, const char *point, const uint64_t n[2], bool good)
{
	struct bt_exposition *x = context;

	(void)n;
	bt_expose_label(x, "name", bt_str(name));
	bt_expose_label(x, "type", bt_str(point));
	bt_expose_count(x, good);
}

static void add_total(void *context, const char *name, const char *point, const uint64_t n[2], bool good)
{
	static const char *const words[] = {"error", "success"};
	struct bt_exposition *x = context;

	(void)good;
	for (int i = 0; i < 2; i++) {
		if (n[i]) {
			bt_expose_label(x, "name", bt_str(name));
			bt_expose_label(x, "status", bt_str(words[i]));
			bt_expose_label(x, "type", bt_str(point));
			bt_expose_count(x, n[i]);
		}
	}
}

/* Source: component-base's metrics/prometheus/slis, v0.36.3. */
void bt_metrics_write_slis(const struct bt_serve_sources *sources, struct bt_buf *out)
{
	struct bt_exposition x;

	bt_exposition_begin(&x, NULL, out);
	if (sources->tally) {
		bt_expose(&x, "kubernetes_healthcheck", BT_METRIC_GAUGE,
			"[STABLE] This metric records the result of a single healthcheck.");
		bt_health_each(sources->tally, add_status, &x);
		bt_expose(&x, "kubernetes_healthchecks_total", BT_METRIC_COUNTER,
			"[STABLE] This metric records the results of all healthcheck.");
		bt_health_each(sources->tally, add_total, &x);
	}
	bt_metrics_start_time(&x, "[ALPHA] Start time of the process since unix epoch in seconds.");
	bt_exposition_end(&x);
}

void bt_metrics_write(
	const struct bt_serve_sources *sources, const struct bt_str_list *disabled, struct bt_buf *out)
{
	struct bt_exposition x;

	bt_exposition_begin(&x, disabled, out);
	bt_metrics_of_scheduler(sources, &x);
	bt_metrics_of_clients(sources, &x);
	bt_metrics_of_berth(sources, &x);
	bt_metrics_of_process(sources, &x);
	if (sources->more_metrics) {
		sources->more_metrics(sources->context, &x);
	}
	bt_exposition_end(&x);
}
