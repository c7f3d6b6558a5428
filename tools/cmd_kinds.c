/* SPDX-License-Identifier: Apache-2.0
 * berth kinds: the kinds of objects that berth reads, as kubectl names them.
 */
#include <string.h>
#include <unistd.h>

#include "engine/model/kind.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/terminal.h"
#include "tools/kube/config/config_file.h"

#define SCHEMA "berth.kinds/v1"

/* The resources of workloads, of which berth makes the pods that they lack, are read on request only: in a
 * dump of a cluster their pods are there. */
static bool is_wanted(const struct bt_invocation *invocation, const struct bt_kind_info *info)
{
	return info->store != BT_STORE_EXPANDED || bt_invocation_has(invocation, "workloads");
}

/* The name for kubectl. Other projects' kinds have the names of groups of pods, too, so that these need
 * theirs in full. */
static void write_resource(const struct bt_kind_info *info, struct bt_buf *out)
{
	bool shared = info->store == BT_STORE_POD_GROUPS || info->store == BT_STORE_WORKLOADS;

	bt_buf_printf(out, "%s%s%s", info->resource, shared ? "." : "", shared ? info->group : "");
}

static void add_kind(struct bt_emit *emit, const struct bt_kind_info *info)
{
	struct bt_buf resource = {0};

	write_resource(info, &resource);
	bt_emit_begin_object(emit, NULL);
	bt_emit_str(emit, "resource", bt_buf_view(&resource));
	bt_emit_text(emit, "kind", info->name);
	bt_emit_str(emit, "api_version", bt_kind_api_version(info));
	bt_emit_label(emit, "version");
	bt_emit_bool(emit, "namespaced", info->namespaced);
	bt_emit_end(emit);
	bt_buf_fini(&resource);
}

static int report_kinds(const struct bt_invocation *invocation, const struct bt_gates *gates)
{
	const char *format = bt_invocation_text(invocation, "output");
	struct bt_emit *emit = bt_emit_create();
	struct bt_output output;
	struct bt_buf list = {0};

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_hide(emit);
	bt_emit_text(emit, "kubernetes_version", gates->release->version);
	bt_emit_label(emit, "Kubernetes");
	bt_emit_begin_array(emit, "kinds");
	bt_emit_label(emit, "Kinds");
	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);

		if (bt_kind_is_on(info, gates->release, gates->on) && is_wanted(invocation, info)) {
			add_kind(emit, info);
			bt_buf_text(&list, list.len ? "," : "");
			write_resource(info, &list);
		}
	}
	bt_emit_end(emit);
	bt_output_open_standard(false, &output);
	if (strcmp(format, "list") == 0) {
		bt_buf_char(&list, '\n');
		bt_output_str(&output, bt_buf_view(&list));
	} else {
		bt_emit_write(emit, bt_emit_format_of(format),
			bt_terminal_color(bt_invocation_text(invocation, "color"), STDOUT_FILENO), &output);
	}
	int status = bt_output_close(&output);
	bt_emit_destroy(emit);
	bt_buf_fini(&list);
	return status;
}

int bt_cmd_kinds(struct bt_invocation *invocation)
{
	struct bt_gates gates;
	int status = bt_configuration_gates(invocation, &gates);

	return status == BT_EXIT_OK ? report_kinds(invocation, &gates) : status;
}
