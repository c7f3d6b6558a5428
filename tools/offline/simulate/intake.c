/* SPDX-License-Identifier: Apache-2.0
 * Counts loaded objects.
 */
#include "tools/offline/simulate/intake.h"

#include <stdio.h>

#include "engine/base/mem.h"
#include "tools/format/object_reader.h"
#include "tools/offline/simulate/terminations.h"

#define NAME_MAX_BYTES 600

static void intake_diagnose(struct bt_intake *intake, const struct bt_object *object, const char *path,
	const char *message, const char *remedy)
{
	char name[NAME_MAX_BYTES];

	bt_object_name(object, name, sizeof(name));
	bt_diagnostics_report(intake->diagnostics, name, path, message, remedy);
}

/* The same for an ignored pod. */
static void lose(struct bt_intake *intake, const struct bt_object *object, const char *path,
	const char *message, const char *remedy)
{
	char name[NAME_MAX_BYTES];

	bt_object_name(object, name, sizeof(name));
	bt_diagnostics_report_lost(intake->diagnostics, name, path, message, remedy);
}

static void note_entry(struct bt_intake *intake, enum bt_entry entry)
{
	switch (entry) {
	case BT_ENTERED_QUEUE:
		intake->counts.pending++;
		break;
	case BT_ENTERED_GATED:
		intake->counts.gated++;
		break;
	case BT_ENTERED_SCHEDULED:
		intake->counts.scheduled++;
		break;
	case BT_ENTERED_ENDED:
		intake->counts.ended++;
		return;
	case BT_ENTERED_FOREIGN:
		intake->counts.other_schedulers++;
		return;
	}
	intake->counts.pods++;
}

/* Records the pod's grace period, and whether it is terminating. Source: CheckGracefulDelete, v1.36.3. */
static void note_end(struct bt_intake *intake, const struct bt_pod_object *pod, uint32_t pod_ix)
{
	int64_t grace_s = pod->spec.termination_grace_s;

	if (pod_ix == BT_NO_POD) {
		return;
	}
	if (pod->spec.has_termination_grace && grace_s != BT_GRACE_S) {
		grace_s = grace_s < 0 ? 1 : grace_s;
		bt_map_put(&intake->graces, (uint64_t)pod_ix + 1,
			grace_s < UINT32_MAX ? (uint32_t)grace_s : UINT32_MAX);
	}
	if (pod->meta.deletion_ns) {
		intake->leavers = bt_mem_grow(
			intake->leavers, intake->leaver_n, &intake->leaver_cap, sizeof(*intake->leavers));
		intake->leavers[intake->leaver_n++] = (struct bt_leaver){pod_ix, pod->meta.deletion_ns};
	}
}

static void note_pod(struct bt_intake *intake, const struct bt_object *object, enum bt_status status,
	const struct bt_taken *taken)
{
	if (status == BT_FULL) {
		intake_diagnose(intake, object, "spec.containers",
			"the pod requests too many resources, or too many names of resources are known",
			"the pod is not placed; use fewer names");
	} else if (status != BT_OK) {
		lose(intake, object, NULL, "the pod could not be entered", NULL);
		return;
	}
	note_entry(intake, taken->entry);
	if (intake->ignored && taken->entry == BT_ENTERED_ENDED) {
		intake->ignored(intake->context, &object->pod, "the pod has completed");
	} else if (intake->ignored && taken->entry == BT_ENTERED_FOREIGN) {
		intake->ignored(intake->context, &object->pod, "the pod is another scheduler's");
	}
	if (intake->entered && taken->ix != BT_NO_POD) {
		intake->entered(intake->context, taken->ix, &object->pod);
	}
	if (intake->taint_evictions && taken->ix != BT_NO_POD) {
		bt_taint_evictions_pod(intake->taint_evictions, taken->ix, &object->pod);
	}
	note_end(intake, &object->pod, taken->ix);
}

void bt_intake_note(struct bt_intake *intake, const struct bt_object *object, enum bt_status status,
	const struct bt_taken *taken)
{
	if (object->kind == BT_KIND_POD) {
		note_pod(intake, object, status, taken);
	} else if (object->kind == BT_KIND_NODE) {
		intake->counts.nodes++;
		if (intake->taint_evictions) {
			bt_taint_evictions_node(intake->taint_evictions, &object->node);
		}
		if (intake->node) {
			intake->node(intake->context, &object->node);
		}
		if (status == BT_FULL) {
			intake_diagnose(intake, object, "status.allocatable",
				"there are more different resource names than berth can distinguish",
				"this resource was left out; use fewer names");
		}
	}
}

void bt_intake_end(struct bt_intake *intake, struct bt_engine *engine)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	char name[NAME_MAX_BYTES], message[NAME_MAX_BYTES];

	for (uint32_t i = 0; i < bt_ledger_pod_end(cache->ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, i);

		if (pod->state != BT_POD_SCHEDULED ||
			bt_bitmap_test(cache->view.snapshot->live, pod->node_ix)) {
			continue;
		}
		intake->counts.on_unknown_nodes++;
		snprintf(name, sizeof(name), "Pod %.*s/%.*s",
			BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
			BT_STR_ARG(bt_intern_str(intern, pod->name)));
		snprintf(message, sizeof(message), "unknown node \"%.*s\"",
			BT_STR_ARG(bt_intern_str(intern, cache->view.snapshot->nodes[pod->node_ix].name)));
		bt_diagnostics_report(intake->diagnostics, name, "spec.nodeName", message,
			"pod ignored; add the node to the input");
	}
}

void bt_intake_fini(struct bt_intake *intake)
{
	bt_mem_free(intake->leavers);
	bt_map_fini(&intake->graces);
}
