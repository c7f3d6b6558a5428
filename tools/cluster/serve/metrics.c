/* SPDX-License-Identifier: Apache-2.0
 * /metrics, part by part.
 */
#include "tools/cluster/serve/metrics.h"

#include "metrics_int.h"
#include "tools/cluster/serve/health.h"
#include "tools/cluster/serve/work_queues.h"

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

/* Source: component-base's metrics/registry.go and options.go, v0.36.3. The last of these families counts
 * itself. */
static void add_registry(const struct bt_metric_settings *settings, struct bt_exposition *x)
{
	static const char *const words[] = {"ALPHA", "BETA", "STABLE"};
	const struct bt_exposition_counts *counts = &x->counts;

	bt_expose(x, "cardinality_enforcement_unexpected_categorizations_total", BT_METRIC_COUNTER,
		"[ALPHA] The count of unexpected categorizations during cardinality enforcement.");
	bt_expose_count(x, counts->unexpected_n);
	bt_expose_counter(x, "disabled_metrics_total", "[BETA] The count of disabled metrics.",
		settings ? settings->disabled.n : 0);
	bt_expose(x, "hidden_metrics_total", BT_METRIC_COUNTER, "[BETA] The count of hidden metrics.");
	bt_expose_count(x, counts->hidden_n);
	bt_expose(x, "registered_metrics_total", BT_METRIC_COUNTER,
		"[BETA] The count of registered metrics broken by stability level and deprecation version.");
	for (int i = 0; i < BT_STABILITY_N; i++) {
		bt_expose_label(x, "deprecated_version", bt_str(""));
		bt_expose_label(x, "stability_level", bt_str(words[i]));
		bt_expose_count(x, counts->shown[i]);
	}
}

void bt_metrics_write(
	const struct bt_serve_sources *sources, const struct bt_metric_settings *settings, struct bt_buf *out)
{
	struct bt_exposition x;

	bt_exposition_begin(&x, settings, out);
	x.release = bt_served_release(sources);
	bt_metrics_of_scheduler(sources, &x);
	bt_metrics_of_clients(sources, &x);
	bt_metrics_of_berth(sources, &x);
	bt_metrics_of_process(sources, &x);
	if (sources->work_queues) {
		bt_work_queues_expose(sources->work_queues, &x, bt_clock_monotonic_ns());
	}
	if (sources->more_metrics) {
		sources->more_metrics(sources->context, &x);
	}
	add_registry(settings, &x);
	bt_exposition_end(&x);
}
