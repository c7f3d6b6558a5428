/* SPDX-License-Identifier: Apache-2.0
 * berth topology: this machine as berth sees it, and which thread would run where.
 */
#include <string.h>

#include "engine/base/topo.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"

#define SCHEMA "berth.topology/v1"

static void add_machine(struct bt_emit *emit, const struct bt_topo_machine *machine)
{
	bt_emit_begin_object(emit, "machine");
	bt_emit_count(emit, "packages", "packages", machine->package_n);
	bt_emit_count(emit, "numa_nodes", "memory nodes", machine->numa_n);
	bt_emit_count(emit, "core_kinds", "kinds of cores", machine->kind_n);
	bt_emit_count(emit, "cores", "cores", machine->core_n);
	bt_emit_count(emit, "usable_cores", "  usable by this process", machine->usable_core_n);
	bt_emit_count(emit, "cpus", "hardware threads", machine->cpu_n);
	bt_emit_count(emit, "usable_cpus", "  usable by this process", machine->usable_cpu_n);
	if (machine->quota_n) {
		bt_emit_count(
			emit, "cpu_quota", "  granted at a time by its control group", machine->quota_n);
	}
	bt_emit_bool(emit, "simulated", machine->is_simulated);
	bt_emit_end(emit);
}

static void add_number_or_null(struct bt_emit *emit, const char *key, bool there, uint32_t n)
{
	if (there) {
		bt_emit_int(emit, key, n);
	} else {
		bt_emit_null(emit, key);
	}
}

static void add_plan(struct bt_emit *emit, const struct bt_topo_plan *plan)
{
	bt_emit_begin_object(emit, "plan");
	bt_emit_bool(emit, "inline", plan->is_inline);
	bt_emit_label(emit, "one thread runs everything");
	bt_emit_int(emit, "workers", plan->worker_n);
	bt_emit_int(emit, "ingestion", plan->ingestion_n);
	bt_emit_label(emit, "ingestion threads");
	bt_emit_int(emit, "binders", plan->binder_n);
	bt_emit_label(emit, "binder threads");
	bt_emit_end(emit);
	bt_emit_begin_array(emit, "threads");
	for (uint32_t i = 0; i < plan->place_n; i++) {
		const struct bt_topo_place *place = &plan->places[i];

		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "thread", place->name);
		add_number_or_null(emit, "cpu", place->has_cpu, place->cpu);
		add_number_or_null(emit, "core", place->has_cpu, place->core_ix);
		add_number_or_null(emit, "numa_node", place->has_cpu, place->numa_ix);
		bt_emit_label(emit, "memory node");
		add_number_or_null(emit, "core_kind", place->has_cpu, place->kind);
		bt_emit_label(emit, "kind");
		bt_emit_bool(emit, "pinned", place->is_pinned);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
}

/* A line for each warning of the plan. */
static void add_warnings(struct bt_emit *emit, const struct bt_topo_plan *plan)
{
	struct bt_str text = bt_buf_view(&plan->warnings);

	bt_emit_begin_array(emit, "warnings");
	for (size_t at = 0; at < text.len;) {
		size_t end = bt_str_find(text, '\n', at);

		bt_emit_str(emit, NULL, bt_str_sub(text, at, end));
		at = end + 1;
	}
	bt_emit_end(emit);
}

static int report(const struct bt_invocation *invocation, const struct bt_topo_machine *machine,
	const struct bt_topo_plan *plan)
{
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	add_machine(emit, machine);
	add_plan(emit, plan);
	add_warnings(emit, plan);
	return bt_print_report(emit, invocation);
}

int bt_cmd_topology(struct bt_invocation *invocation)
{
	struct bt_topo_request request = {
		.worker_n = (uint32_t)bt_invocation_number(invocation, "workers"),
		.ingestion_n = (uint32_t)bt_invocation_number(invocation, "ingestion"),
		.binder_n = (uint32_t)bt_invocation_number(invocation, "binders"),
		.cpus = bt_invocation_text(invocation, "cpus"),
	};
	struct bt_topo_plan plan;
	struct bt_topo *topo;
	struct bt_buf why = {0};
	int status = BT_EXIT_INPUT;

	if (bt_topo_discover(&topo, &why) != BT_OK) {
		bt_message("berth topology: %s\n", why.ptr);
	} else {
		if (bt_topo_plan(topo, &request, &plan, &why) != BT_OK) {
			status = bt_invocation_wrong(invocation->command, "%s", why.ptr);
		} else {
			struct bt_topo_machine machine = bt_topo_machine(topo);

			status = report(invocation, &machine, &plan);
			bt_topo_plan_fini(&plan);
		}
		bt_topo_destroy(topo);
	}
	bt_buf_fini(&why);
	return status;
}
