/* SPDX-License-Identifier: Apache-2.0
 * /metrics, part by part.
 */
#include "tools/serve/metrics.h"

#include "metrics_int.h"

void bt_metrics_write(
	const struct bt_serve_sources *sources, const struct bt_str_list *disabled, struct bt_buf *out)
{
	struct bt_exposition x;

	bt_exposition_begin(&x, disabled, out);
	bt_metrics_of_scheduler(sources, &x);
	bt_metrics_of_berth(sources, &x);
	bt_metrics_of_process(sources, &x);
	if (sources->more_metrics) {
		sources->more_metrics(sources->context, &x);
	}
	bt_exposition_end(&x);
}
