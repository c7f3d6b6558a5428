/* SPDX-License-Identifier: Apache-2.0
 * Judging an application.
 */
#include "tools/offline/check/judge.h"

#include <string.h>

#include "cache/budgets.h"
#include "cache/ledger.h"
#include "cache/node_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/preempt.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/message.h"

#define REASONS_MAX 3 /* of a workload, in its line */

static struct bt_cache *check_cache(const struct bt_check *check)
{
	return bt_engine_cache(check->cluster.engine);
}

static char *take_text(struct bt_buf *text)
{
	char *copy = bt_mem_copy(text->len ? text->ptr : "", text->len);

	bt_buf_fini(text);
	return copy;
}

static char *pod_text(const struct bt_check *check, uint32_t pod_ix)
{
	const struct bt_cache *cache = check_cache(check);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
	return take_text(&text);
}

/* ---- reading the application into the cluster ---- */

static void note_pod_of_cluster(void *context, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct bt_check *check = context;

	check->rollout.cache = check_cache(check);
	if (!check->results) { /* the application's pods come later */
		bt_rollout_note(&check->rollout, pod_ix, pod);
	}
}

static const char *trouble_of(const struct bt_check *check, const struct bt_pod_object *pod)
{
	if (bt_engine_is_other_schedulers(check->cluster.engine, pod)) {
		return "schedulerName names no profile of the configuration; set it to one of them";
	}
	return pod->spec.node_name.len ? "spec.nodeName names a node, so that no scheduler places the pod; "
					 "leave it out"
				       : NULL;
}

static void take_app_pod(struct bt_check *check, struct bt_object *object, bool made)
{
	struct bt_pod_object *pod = &object->pod;
	uint32_t workload = bt_app_workload_of(&check->app, pod, made);

	BT_REQUIRE(workload != BT_NO_WORKLOAD);
	const char *trouble = trouble_of(check, pod);
	if (trouble) {
		check->trouble = trouble;
		check->troubled = check->app.workloads[workload].label;
		return;
	}
	/* What a dump of a running pod has besides, and when it is made: now. */
	pod->nominated_node_name = (struct bt_str){0};
	pod->phase = (struct bt_str){0};
	pod->meta.deletion_ns = 0;
	pod->meta.creation_ns = check->cluster.run.now_ns;
	bt_rollout_add(&check->rollout, object, workload);
}

static void take_app_object(void *context, struct bt_object *object, bool made)
{
	struct bt_check *check = context;
	struct bt_taken taken;

	if (object->kind == BT_KIND_POD) {
		take_app_pod(check, object, made);
	} else {
		(void)bt_pipeline_apply_object(check->cluster.pipeline, BT_WATCH_EVENT_APPLY, object, &taken);
	}
}

struct manifests {
	struct bt_check *check;
	size_t next;
	struct bt_object object; /* a copy, which admission may change */
};

static struct bt_object *next_manifest(void *context)
{
	struct manifests *m = context;
	const struct bt_app *app = &m->check->app;

	if (m->next == app->object_n) {
		return NULL;
	}
	m->object = app->objects[m->next++];
	return &m->object;
}

/* A manifest without replicas leaves those of the cluster as they are, as an autoscaler needs it. */
static void keep_replicas(struct bt_check *check)
{
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		const struct bt_app_workload *workload = &check->app.workloads[i];
		uint32_t running_n = bt_rollout_count(&check->rollout, i);

		if (workload->kind == BT_KIND_POD || running_n == 0) {
			continue;
		}
		struct bt_workload_object *object = &check->app.objects[workload->object].workload;
		if (!object->has_replicas) {
			object->replicas = (int32_t)running_n;
			object->has_replicas = true;
		}
	}
}

/* Missing objects that the application refers to. Owners only matter to how pods spread by default. */
static bool report_missing(struct bt_check *check)
{
	struct bt_missing missing[BT_LOAD_MISSING_MAX];
	size_t n = bt_load_missing(&check->cluster.load, missing), missing_n = 0;
	struct bt_buf text = {0};

	for (size_t i = 0; i < n; i++) {
		if (bt_kind_makes_pods(bt_kind_of_word(bt_str(missing[i].kind)))) {
			continue;
		}
		missing_n++;
		bt_buf_clear(&text);
		bt_load_missing_text(&missing[i], &text);
		bt_message("berth check: of the application, %.*s\n", (int)text.len, text.ptr);
	}
	bt_buf_fini(&text);
	if (missing_n) {
		bt_message("berth check: the application is not judged without them; add them to the cluster "
			   "or to the application\n");
	}
	return missing_n > 0;
}

static int apply_app(struct bt_check *check)
{
	struct manifests manifests = {.check = check};

	keep_replicas(check);
	check->cluster.diagnostics.quiet = false; /* what is wrong now is why it is not judged */
	bool whole = bt_load_apart_source(
		&check->cluster.load, &(struct bt_source){next_manifest, &manifests}, take_app_object, check);
	if (bt_interrupt_pending()) {
		return BT_EXIT_INTERRUPTED;
	}
	if (check->trouble) {
		bt_message("berth check: %s: %s\n", check->troubled, check->trouble);
	} else if (!whole) {
		bt_message("berth check: the application is not judged, as a part of it is wrong; correct "
			   "it\n");
	}
	return !whole || check->trouble || report_missing(check) ? BT_EXIT_INPUT : BT_EXIT_OK;
}

/* ---- placing ---- */

static void keep_pod(struct bt_check *check, uint32_t pod_ix, uint32_t workload, bool kept)
{
	char *name = pod_text(check, pod_ix);

	check->pods = bt_mem_grow(check->pods, check->pod_n, &check->pod_cap, sizeof(*check->pods));
	bt_map_put(&check->pods_by_ix, (uint64_t)pod_ix + 1, (uint32_t)check->pod_n);
	check->pods[check->pod_n++] = (struct bt_check_pod){.pod_ix = pod_ix,
		.workload = workload,
		.kept = kept,
		.name = bt_arena_copy(&check->arena, name, strlen(name))};
	bt_mem_free(name);
}

static struct bt_check_pod *find_check_pod(struct bt_check *check, uint32_t pod_ix)
{
	uint32_t ix;

	return bt_map_get(&check->pods_by_ix, (uint64_t)pod_ix + 1, &ix) ? &check->pods[ix] : NULL;
}

/* The budget that the eviction violates, after all evictions so far; NULL: none. */
static char *charge_budgets(struct bt_check *check, const struct bt_pod *pod)
{
	const struct bt_cache *cache = check_cache(check);
	const struct bt_intern *intern = cache->dictionary->intern;
	struct bt_buf text = {0};

	if (!check->budgets_left || !bt_preempt_overdraws(cache, pod, check->budgets_left, true)) {
		return NULL;
	}
	for (size_t b = 0; b < cache->budgets.n && text.len == 0; b++) {
		const struct bt_budget *budget = &cache->budgets.items[b];

		if (check->budgets_left[b] < 0 &&
			bt_budget_counts(budget, intern, pod->signature, pod->name)) {
			bt_buf_printf(&text, "%.*s/%.*s",
				BT_STR_ARG(bt_intern_str(intern, budget->namespace_)),
				BT_STR_ARG(bt_intern_str(intern, budget->name)));
		}
	}
	return take_text(&text);
}

static void note_eviction(void *context, uint32_t pod_ix, uint32_t for_ix)
{
	struct bt_check *check = context;
	const struct bt_cache *cache = check_cache(check);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	struct bt_check_pod *evicted = find_check_pod(check, pod_ix);
	const struct bt_check_pod *preemptor = find_check_pod(check, for_ix);

	if (evicted) {
		char *by = pod_text(check, for_ix);

		evicted->preempted_by = bt_arena_copy(&check->arena, by, strlen(by));
		bt_mem_free(by);
	}
	if (!preemptor) {
		return;
	}
	struct bt_str node =
		bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[pod->node_ix].name);
	check->results[preemptor->workload].victim_n++;
	check->victims =
		bt_mem_grow(check->victims, check->victim_n, &check->victim_cap, sizeof(*check->victims));
	check->victims[check->victim_n++] = (struct bt_check_victim){.workload = preemptor->workload,
		.preemptor = preemptor->name,
		.victim = pod_text(check, pod_ix),
		.node = bt_mem_copy(node.ptr, node.len),
		.priority = pod->priority,
		.budget = charge_budgets(check, pod)};
}

/* Deletes the old pods that no longer count, and adds those that the cluster lacks. */
static void roll_out(struct bt_check *check)
{
	struct bt_rollout *rollout = &check->rollout;

	bt_rollout_match(rollout);
	for (size_t i = 0; i < rollout->old_n; i++) {
		const struct bt_old_pod *old_pod = &rollout->old_pods[i];

		if (!old_pod->kept) {
			bt_simulate_run_delete(&check->cluster.run, old_pod->pod_ix);
			check->results[old_pod->workload].replaced_n++;
		}
	}
	for (size_t i = 0; i < rollout->new_n; i++) {
		const struct bt_new_pod *new_pod = &rollout->new_pods[i];
		struct bt_taken taken = {.ix = new_pod->kept_ix};

		check->results[new_pod->workload].wanted_n++;
		if (new_pod->kept_ix == BT_NO_POD) {
			enum bt_status status = bt_pipeline_apply_object(
				check->cluster.pipeline, BT_WATCH_EVENT_APPLY, &new_pod->object, &taken);

			bt_intake_note(&check->cluster.intake, &new_pod->object, status, &taken);
		}
		if (taken.ix != BT_NO_POD) {
			keep_pod(check, taken.ix, new_pod->workload, new_pod->kept_ix != BT_NO_POD);
		}
	}
}

static void begin_budgets(struct bt_check *check)
{
	const struct bt_budgets *budgets = &check_cache(check)->budgets;

	check->budgets_left = budgets->n ? bt_mem_zalloc(budgets->n, sizeof(*check->budgets_left)) : NULL;
	for (size_t b = 0; b < budgets->n; b++) {
		check->budgets_left[b] = budgets->items[b].allowed;
	}
}

static int place_app(struct bt_check *check)
{
	roll_out(check);
	begin_budgets(check);
	check->cluster.run.evicting = note_eviction;
	check->cluster.run.context = check;
	return bt_loaded_cluster_continue(&check->cluster, "placing the application", check->pod_n);
}

/* ---- results ---- */

uint32_t bt_check_node_of(const struct bt_check *check, const struct bt_check_pod *pod)
{
	const struct bt_ledger *ledger = check_cache(check)->ledger;

	return !bt_ledger_has(ledger, pod->pod_ix) ||
			       bt_ledger_pod(ledger, pod->pod_ix)->state == BT_POD_QUEUED
		       ? BT_NO_NODE
		       : bt_ledger_pod(ledger, pod->pod_ix)->node_ix;
}

/* Explains the first pod of a workload that has no place. */
static void explain(struct bt_check *check, struct bt_workload_result *result, const struct bt_check_pod *pod)
{
	if (bt_ledger_has(check_cache(check)->ledger, pod->pod_ix)) {
		result->example = pod->name;
		bt_refusal_rows_collect(check->cluster.engine, pod->pod_ix, &result->refusals);
	}
}

static void count_pods(struct bt_check *check)
{
	for (size_t i = 0; i < check->pod_n; i++) {
		const struct bt_check_pod *pod = &check->pods[i];
		struct bt_workload_result *result = &check->results[pod->workload];

		if (bt_check_node_of(check, pod) != BT_NO_NODE) {
			result->running_n += pod->kept;
			result->placed_n += !pod->kept;
		} else if (!result->refusals.n) {
			explain(check, result, pod);
		}
	}
}

static const char *preemptor_of(const struct bt_check *check, uint32_t workload)
{
	for (size_t i = 0; i < check->pod_n; i++) {
		if (check->pods[i].workload == workload && check->pods[i].preempted_by) {
			return check->pods[i].preempted_by;
		}
	}
	return NULL;
}

static void write_refusals(const struct bt_workload_result *result, uint64_t node_n, struct bt_buf *out)
{
	for (size_t i = 0; i < result->refusals.n && i < REASONS_MAX; i++) {
		const struct bt_refusal_row *row = &result->refusals.items[i];

		bt_buf_printf(out, "%s%llu of %llu nodes: %s", i ? "; " : ": ",
			(unsigned long long)row->node_n, (unsigned long long)node_n, row->text);
		if (row->lack_text) {
			bt_buf_printf(out, " (the nearest lacks %s)", row->lack_text);
		}
	}
	if (result->refusals.n > REASONS_MAX) {
		bt_buf_text(out, "; …");
	}
}

static void conclude(struct bt_check *check, uint32_t workload)
{
	struct bt_workload_result *result = &check->results[workload];
	uint64_t node_n = check_cache(check)->view.snapshot->node_n;
	const char *preemptor = preemptor_of(check, workload);
	struct bt_buf text = {0};

	result->unplaced_n = result->wanted_n - result->running_n - result->placed_n;
	if (result->unplaced_n) {
		bt_buf_printf(&text, "%llu of %llu pods have no place",
			(unsigned long long)result->unplaced_n, (unsigned long long)result->wanted_n);
		if (preemptor && result->refusals.n == 0) {
			bt_buf_printf(&text, ": preempted by %s", preemptor);
		}
		write_refusals(result, node_n, &text);
	} else if (result->wanted_n == 0 && check->app.workloads[workload].kind == BT_KIND_DAEMON_SET) {
		bt_buf_text(&text, "no node of the cluster is for its pods: taints, the node selector or the "
				   "node affinity exclude all");
	}
	result->reason = text.len ? take_text(&text) : NULL;
}

/* ---- the whole ---- */

static void drop_pending(struct bt_check *check)
{
	const struct bt_ledger *ledger = check_cache(check)->ledger;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		if (bt_ledger_has(ledger, i) && bt_ledger_pod(ledger, i)->state == BT_POD_QUEUED) {
			bt_pipeline_remove_pod(check->cluster.pipeline, i);
		}
	}
}

static int open_cluster(struct bt_check *check, struct bt_invocation *invocation)
{
	check->cluster.entered = note_pod_of_cluster;
	check->cluster.context = check;
	check->cluster.paths = invocation->operands;
	check->cluster.path_n = invocation->operand_n;
	int status = bt_loaded_cluster_open(&check->cluster, invocation);

	if (status == BT_EXIT_OK && check->cluster.diagnostics.lost_n) {
		bt_message("berth check: pods of the cluster may be lost with what is wrong in it, and the "
			   "answer would be that of another cluster; correct it\n");
		return BT_EXIT_INPUT;
	}
	if (status == BT_EXIT_OK && bt_invocation_has(invocation, "ignore-pending")) {
		drop_pending(check);
	}
	return status == BT_EXIT_OK ? bt_loaded_cluster_settle(&check->cluster) : status;
}

int bt_check_run(struct bt_check *check, struct bt_invocation *invocation)
{
	int status = bt_app_read(&check->app, invocation);

	check->rollout.app = &check->app;
	if (status == BT_EXIT_OK) {
		status = open_cluster(check, invocation);
	}
	if (status != BT_EXIT_OK) {
		return status;
	}
	check->rollout.cache = check_cache(check);
	check->results = bt_mem_zalloc(check->app.workload_n, sizeof(*check->results));
	status = apply_app(check);
	if (status == BT_EXIT_OK) {
		status = place_app(check);
	}
	if (status != BT_EXIT_OK) {
		return status;
	}
	count_pods(check);
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		conclude(check, i);
	}
	return BT_EXIT_OK;
}

void bt_check_fini(struct bt_check *check)
{
	for (size_t i = 0; check->results && i < check->app.workload_n; i++) {
		bt_mem_free(check->results[i].reason);
		bt_refusal_rows_fini(&check->results[i].refusals);
	}
	for (size_t i = 0; i < check->victim_n; i++) {
		bt_mem_free(check->victims[i].victim);
		bt_mem_free(check->victims[i].node);
		bt_mem_free(check->victims[i].budget);
	}
	bt_mem_free(check->results);
	bt_mem_free(check->victims);
	bt_mem_free(check->pods);
	bt_mem_free(check->budgets_left);
	bt_map_fini(&check->pods_by_ix);
	bt_arena_fini(&check->arena);
	bt_rollout_fini(&check->rollout);
	bt_app_fini(&check->app);
	bt_loaded_cluster_close(&check->cluster);
}
