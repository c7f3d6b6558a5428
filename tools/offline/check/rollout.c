/* SPDX-License-Identifier: Apache-2.0
 * Pods that a rollout keeps.
 */
#include "tools/offline/check/rollout.h"

#include <string.h>

#include "cache/ledger.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/format/object_reader.h"

/* Labels that controllers add to their pods, different ones in each revision or for each pod. */
static const char *const revision_labels[] = {"pod-template-hash", "controller-revision-hash",
	"pod-template-generation", "controller-uid", "batch.kubernetes.io/controller-uid", "job-name",
	"batch.kubernetes.io/job-name", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"};

static bool is_revision_label(struct bt_str key)
{
	for (size_t i = 0; i < sizeof(revision_labels) / sizeof(*revision_labels); i++) {
		if (bt_str_is(key, revision_labels[i])) {
			return true;
		}
	}
	return false;
}

static void drop_revision_labels(struct bt_pod_object *pod, struct bt_arena *arena)
{
	struct bt_str_map *labels = &pod->meta.labels;
	struct bt_str_pair *items = bt_arena_alloc(arena, (labels->n + 1) * sizeof(*items), 16);
	uint32_t n = 0;

	for (uint32_t i = 0; i < labels->n; i++) {
		if (!is_revision_label(labels->items[i].key)) {
			items[n++] = labels->items[i];
		}
	}
	labels->items = items;
	labels->n = n;
}

/* The tolerations that admission gives every pod. */
static bool is_default_toleration(const struct bt_toleration_object *toleration)
{
	return bt_str_is(toleration->effect, "NoExecute") &&
	       (bt_str_is(toleration->key, "node.kubernetes.io/not-ready") ||
		       bt_str_is(toleration->key, "node.kubernetes.io/unreachable"));
}

static void drop_default_tolerations(struct bt_pod_spec_object *spec, struct bt_arena *arena)
{
	struct bt_toleration_object *items =
		bt_arena_alloc(arena, (spec->toleration_n + 1) * sizeof(*items), 16);
	uint32_t n = 0;

	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		if (!is_default_toleration(&spec->tolerations[i])) {
			items[n++] = spec->tolerations[i];
		}
	}
	spec->tolerations = items;
	spec->toleration_n = n;
}

/* The signature that the pod would have without its node, its owner and what its revision has added. */
static const struct bt_signature *shape_of(struct bt_rollout *rollout, const struct bt_pod_object *pod)
{
	struct bt_pod_object plain = {.meta = {.name = pod->meta.name,
					      .namespace_ = pod->meta.namespace_,
					      .labels = pod->meta.labels},
		.spec = pod->spec};

	bt_arena_reset(&rollout->scratch);
	plain.spec.node_name = (struct bt_str){0};
	drop_revision_labels(&plain, &rollout->scratch);
	drop_default_tolerations(&plain.spec, &rollout->scratch);
	return bt_signatures_intern(rollout->cache->signatures, &plain);
}

void bt_rollout_note(struct bt_rollout *rollout, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	uint32_t workload = bt_app_workload_of(rollout->app, pod, false);

	if (workload == BT_NO_WORKLOAD || pod->meta.deletion_ns) {
		return;
	}
	rollout->old_pods =
		bt_mem_grow(rollout->old_pods, rollout->old_n, &rollout->old_cap, sizeof(*rollout->old_pods));
	rollout->old_pods[rollout->old_n++] = (struct bt_old_pod){.pod_ix = pod_ix,
		.workload = workload,
		.shape = shape_of(rollout, pod),
		.name = bt_intern_hold(rollout->cache->dictionary->intern, pod->meta.name)};
}

uint32_t bt_rollout_count(const struct bt_rollout *rollout, uint32_t workload)
{
	uint32_t n = 0;

	for (size_t i = 0; i < rollout->old_n; i++) {
		n += rollout->old_pods[i].workload == workload;
	}
	return n;
}

void bt_rollout_add(struct bt_rollout *rollout, const struct bt_object *pod, uint32_t workload)
{
	BT_REQUIRE(pod->kind == BT_KIND_POD && workload < rollout->app->workload_n);
	rollout->new_pods =
		bt_mem_grow(rollout->new_pods, rollout->new_n, &rollout->new_cap, sizeof(*rollout->new_pods));
	struct bt_new_pod *new_pod = &rollout->new_pods[rollout->new_n++];
	*new_pod = (struct bt_new_pod){.object = *pod, .workload = workload, .kept_ix = BT_NO_POD};
	bt_object_own(&new_pod->object, &rollout->arena);
	new_pod->shape = shape_of(rollout, &new_pod->object.pod);
}

/* ---- matching ---- */

/* In this order, so that as few pods as possible are replaced. */
enum matching { SAME_NAME, ON_A_NODE, ANY_OLD_POD, MATCHING_N };

static bool counts_for(const struct bt_rollout *rollout, const struct bt_old_pod *old_pod,
	const struct bt_new_pod *new_pod, enum matching matching)
{
	const struct bt_pod *pod = bt_ledger_pod(rollout->cache->ledger, old_pod->pod_ix);
	bool stateful = rollout->app->workloads[old_pod->workload].kind == BT_KIND_STATEFUL_SET;

	if (old_pod->kept || old_pod->workload != new_pod->workload || old_pod->shape != new_pod->shape ||
		pod->priority != new_pod->object.pod.spec.priority) {
		return false;
	}
	if (matching == SAME_NAME) {
		return bt_str_eq(bt_intern_str(rollout->cache->dictionary->intern, old_pod->name),
			new_pod->object.pod.meta.name);
	}
	return !stateful && (matching == ANY_OLD_POD || pod->node_ix != BT_NO_NODE);
}

static void match_one(struct bt_rollout *rollout, struct bt_new_pod *new_pod, enum matching matching)
{
	for (size_t i = 0; i < rollout->old_n && new_pod->kept_ix == BT_NO_POD; i++) {
		struct bt_old_pod *old_pod = &rollout->old_pods[i];

		if (counts_for(rollout, old_pod, new_pod, matching)) {
			old_pod->kept = true;
			new_pod->kept_ix = old_pod->pod_ix;
		}
	}
}

static void release_old(struct bt_rollout *rollout, const struct bt_old_pod *old_pod)
{
	bt_signature_release(old_pod->shape);
	bt_intern_release(rollout->cache->dictionary->intern, old_pod->name);
}

/* Is the pod still there: not deleted, and not being deleted? */
static bool is_active(const struct bt_rollout *rollout, const struct bt_old_pod *old_pod)
{
	const struct bt_ledger *ledger = rollout->cache->ledger;

	return bt_ledger_has(ledger, old_pod->pod_ix) &&
	       bt_ledger_pod(ledger, old_pod->pod_ix)->name == old_pod->name &&
	       !bt_ledger_pod(ledger, old_pod->pod_ix)->terminating;
}

void bt_rollout_match(struct bt_rollout *rollout)
{
	size_t old_n = 0;

	for (size_t i = 0; i < rollout->old_n; i++) {
		if (is_active(rollout, &rollout->old_pods[i])) {
			rollout->old_pods[old_n++] = rollout->old_pods[i];
		} else {
			release_old(rollout, &rollout->old_pods[i]);
		}
	}
	rollout->old_n = old_n;
	for (unsigned matching = SAME_NAME; matching < MATCHING_N; matching++) {
		for (size_t i = 0; i < rollout->new_n; i++) {
			match_one(rollout, &rollout->new_pods[i], (enum matching)matching);
		}
	}
}

void bt_rollout_fini(struct bt_rollout *rollout)
{
	for (size_t i = 0; i < rollout->old_n; i++) {
		release_old(rollout, &rollout->old_pods[i]);
	}
	for (size_t i = 0; i < rollout->new_n; i++) {
		bt_signature_release(rollout->new_pods[i].shape);
	}
	bt_mem_free(rollout->old_pods);
	bt_mem_free(rollout->new_pods);
	bt_arena_fini(&rollout->arena);
	bt_arena_fini(&rollout->scratch);
}
