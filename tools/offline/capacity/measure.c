/* SPDX-License-Identifier: Apache-2.0
 * Measures one cluster: loads it, and counts the copies of each template.
 */
#include "engine/base/mem.h"
#include "tools/offline/capacity/capacity_int.h"

static int read_templates(struct bt_capacity_run *c)
{
	const char *path, *ratio = bt_invocation_text(c->invocation, "mix");
	bool together = bt_invocation_has(c->invocation, "together");
	int status = BT_EXIT_OK;

	for (size_t i = 0; status == BT_EXIT_OK && (path = bt_invocation_item(c->invocation, "pod", i));
		i++) {
		status = bt_capacity_templates_read(&c->templates, &c->cluster, path, together);
	}
	if (status == BT_EXIT_OK && ratio && !bt_capacity_templates_mix(&c->templates, ratio)) {
		return bt_invocation_wrong(c->invocation->command,
			"--mix %s is no ratio of the %zu templates; write a number from 1 to 10000 for each, "
			"such "
			"as 3:1",
			ratio, c->templates.unit_n - 1);
	}
	return status;
}

static int fill_all(struct bt_capacity_run *c)
{
	uint64_t limit = bt_invocation_number(c->invocation, "limit");
	int status = BT_EXIT_OK;

	c->fills = bt_mem_zalloc(c->templates.unit_n, sizeof(*c->fills));
	for (size_t i = 0; status == BT_EXIT_OK && i < c->templates.unit_n; i++) {
		status = bt_capacity_fill(&c->cluster, &c->templates.units[i], limit, &c->fills[i]);
	}
	return status;
}

int bt_capacity_measure(struct bt_capacity_run *c)
{
	int status = bt_loaded_cluster_open(&c->cluster, c->invocation);

	if (status == BT_EXIT_OK && !bt_invocation_has(c->invocation, "ignore-pending")) {
		status = bt_loaded_cluster_settle(&c->cluster);
	}
	if (status == BT_EXIT_OK) {
		status = read_templates(c);
	}
	return status == BT_EXIT_OK ? fill_all(c) : status;
}

void bt_capacity_fini(struct bt_capacity_run *c)
{
	for (size_t i = 0; c->fills && i < c->templates.unit_n; i++) {
		bt_capacity_fill_fini(&c->fills[i]);
	}
	bt_mem_free(c->fills);
	bt_capacity_templates_fini(&c->templates);
	bt_loaded_cluster_close(&c->cluster);
}

const char *bt_capacity_stops(const struct bt_capacity_fill *fill)
{
	return fill->limited ? "--limit; more may fit" : fill->refusals.n ? fill->refusals.items[0].text : "";
}
