/* SPDX-License-Identifier: Apache-2.0
 * tools/offline/explain/fixes: what is found for a pod in small clusters, that the cluster is as before
 * afterwards, and the scores and refusals that the report is made of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/flow/cycle/source.h"
#include "tools/format/object_reader.h"
#include "tools/kube/report/scores.h"
#include "tools/offline/explain/fixes.h"

static void give_up(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	fail_msg("%s", diagnosis->message);
}

struct cluster {
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_explain_subject subject;
	struct bt_refusal_rows refusals;
	struct bt_explain_search search;
};

/* Loads a cluster, in which the pod p is pending. */
static void load(struct cluster *c, const char *text)
{
	struct bt_object_reader *reader = bt_object_reader_create(give_up, NULL);
	struct bt_config_errors errors = {0};
	const struct bt_object *object;
	enum bt_entry entry;
	uint32_t ix;

	*c = (struct cluster){.subject = {.namespace_ = bt_str(""), .name = bt_str("p")}};
	bt_config_init_default(&c->config, NULL);
	c->engine = bt_engine_create(&c->config, &(struct bt_engine_options){.seed = 1}, &errors);
	bt_object_reader_begin_text(reader, "cluster", bt_str(text), BT_FORMAT_YAML);
	while ((object = bt_object_reader_next(reader))) {
		assert_int_equal(bt_engine_apply(c->engine, object, &entry, &ix), BT_OK);
		if (object->kind == BT_KIND_POD) {
			bt_explain_subject_entered(&c->subject, ix, &object->pod);
		} else if (object->kind == BT_KIND_NODE) {
			bt_explain_subject_node(&c->subject, &object->node);
		}
	}
	bt_object_reader_destroy(reader);
	bt_config_errors_fini(&errors);
	assert_true(c->subject.found);
}

static uint32_t pod_of(const struct cluster *c)
{
	return bt_engine_find_pod(c->engine, c->subject.namespace_, c->subject.name);
}

static void search(struct cluster *c)
{
	struct bt_progress progress = {0};

	bt_progress_begin(&progress, "", 0, true);
	bt_refusal_rows_collect(c->engine, pod_of(c), &c->refusals);
	bt_explain_search(c->engine, &c->subject, &c->refusals, &progress, &c->search);
	bt_progress_end(&progress);
}

static void end(struct cluster *c)
{
	bt_explain_search_fini(&c->search);
	bt_refusal_rows_fini(&c->refusals);
	bt_explain_subject_fini(&c->subject);
	bt_engine_destroy(c->engine);
	bt_config_fini(&c->config);
}

static const struct bt_explain_fix *find(const struct cluster *c, const char *text)
{
	for (size_t i = 0; i < c->search.fix_n; i++) {
		if (strcmp(c->search.fixes[i].text, text) == 0) {
			return &c->search.fixes[i];
		}
	}
	return NULL;
}

#define NODE(name, cpu, spec)                                                                                \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {h: " name "}}, spec: {" spec  \
	"}, status: {allocatable: {cpu: '" cpu "', memory: 8Gi, pods: '10'}}}\n"
#define POD(name, cpu, spec)                                                                                 \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name                                            \
	"}, spec: {schedulerName: default-scheduler, " spec                                                  \
	" containers: [{name: c, image: i, resources: {requests: {cpu: '" cpu "'}}}]}}\n"
#define TAINT "taints: [{key: k, value: v, effect: NoSchedule}]"

static void the_cheapest_fix_comes_first(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "4", "") NODE("b", "8", TAINT) POD("p", "5", ""));
	search(&c);
	assert_true(c.search.fix_n >= 2);
	assert_string_equal(c.search.fixes[0].text, "tolerate taint k=v:NoSchedule");
	assert_string_equal(c.search.fixes[0].node, "b");
	assert_string_equal(c.search.fixes[1].text, "lower containers[c].resources.requests.cpu from 5 to 4");
	assert_string_equal(c.search.fixes[1].node, "a");
	end(&c);
}

static void two_things_that_are_lacking_everywhere_are_changed_together(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "4", TAINT) POD("p", "5", ""));
	search(&c);
	assert_int_equal(c.search.single_n, 0);
	assert_non_null(find(&c, "tolerate taint k=v:NoSchedule; "
				 "lower containers[c].resources.requests.cpu from 5 to 4"));
	assert_int_equal(c.search.miss_n, 1);
	assert_string_equal(c.search.misses[0].lacks, "taint k=v:NoSchedule; 1 cpu short");
	end(&c);
}

static void a_pod_that_fits_needs_no_fix(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "8", "") POD("p", "5", ""));
	search(&c);
	assert_true(c.search.fits);
	assert_int_equal(c.search.fix_n, 0);
	end(&c);
}

static void only_pods_of_lower_priority_are_evicted(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "8", "") POD("low", "4", "nodeName: a, priority: 1,") POD("high", "1",
			 "nodeName: a, priority: 9,") POD("p", "5", "priority: 5, preemptionPolicy: Never,"));
	search(&c);
	assert_non_null(find(&c, "evict /low"));
	assert_string_equal(find(&c, "evict /low")->objects, "/low");
	end(&c);
}

static void a_new_node_has_no_cordon(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "8", "unschedulable: true") POD("p", "5", ""));
	search(&c);
	assert_non_null(find(&c, "kubectl uncordon a"));
	assert_non_null(find(&c, "add a node like a"));
	end(&c);
}

static void the_search_leaves_the_cluster_as_it_was(void **state)
{
	struct bt_refusal_rows after;
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "4", TAINT) NODE("b", "4", "unschedulable: true") NODE("c", "4", "")
			 POD("low", "3", "nodeName: c, priority: -1,") POD("p", "5", ""));
	uint64_t version = bt_engine_cache(c.engine)->view.snapshot->node_n;
	search(&c);
	bt_refusal_rows_collect(c.engine, pod_of(&c), &after);
	assert_int_equal(after.n, c.refusals.n);
	for (size_t i = 0; i < after.n; i++) {
		assert_string_equal(after.items[i].text, c.refusals.items[i].text);
		assert_int_equal(after.items[i].node_n, c.refusals.items[i].node_n);
	}
	assert_int_equal(bt_engine_cache(c.engine)->view.snapshot->node_n, version);
	assert_int_equal(bt_ledger_pod(bt_engine_cache(c.engine)->ledger, pod_of(&c))->node_ix, BT_NO_NODE);
	bt_refusal_rows_fini(&after);
	end(&c);
}

static void equal_nodes_are_one_kind(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "4", "") NODE("b", "4", "") NODE("d", "8", "") POD("p", "1", ""));
	assert_int_equal(c.subject.kind_n, 2);
	assert_int_equal(c.subject.kinds[0].node_n, 2);
	end(&c);
}

static void the_nearest_nodes_lack_the_least(void **state)
{
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "1", "") NODE("b", "3", "") NODE("d", "2", "") NODE("e", "4", "")
			 NODE("f", "1", "") NODE("g", "2", "") POD("p", "5", ""));
	bt_refusal_rows_collect(c.engine, pod_of(&c), &c.refusals);
	assert_int_equal(c.refusals.nearest_n, BT_REFUSAL_NEAREST);
	for (uint32_t i = 1; i < c.refusals.nearest_n; i++) {
		assert_true(c.refusals.nearest[i - 1].lacks <= c.refusals.nearest[i].lacks);
	}
	assert_true(c.refusals.nearest[0].lacks == 0.2 && c.refusals.nearest[4].lacks == 0.8);
	end(&c);
}

static void scores_outlive_their_explanation(void **state)
{
	struct bt_explanation explanation = {0};
	struct bt_score_rows rows;
	struct bt_buf text = {0};
	struct cluster c;

	(void)state;
	load(&c, NODE("a", "8", "") NODE("b", "8", "") NODE("d", "16", "") POD("p", "5", ""));
	bt_engine_explain(c.engine, pod_of(&c), &explanation);
	bt_score_rows_of(c.engine, &explanation, &rows);
	bt_explanation_fini(&explanation);
	assert_int_equal(rows.n, 3);
	assert_int_equal(bt_score_rows_tied(&rows), 1);
	assert_true(rows.items[0].total > rows.items[1].total);
	assert_int_equal(rows.items[1].total, rows.items[2].total);
	assert_ptr_equal(bt_score_rows_find(&rows, rows.items[2].node_ix), &rows.items[2]);
	bt_score_rows_difference(&rows, &rows.items[0], &rows.items[1], &text);
	assert_non_null(strstr(text.ptr, "NodeResourcesFit +"));
	int64_t sum = 0;
	for (uint32_t k = 0; k < rows.plugin_n; k++) {
		sum += rows.items[0].scores[k];
	}
	assert_int_equal(sum, rows.items[0].total);
	bt_buf_fini(&text);
	bt_score_rows_fini(&rows);
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cheapest_fix_comes_first),
		cmocka_unit_test(two_things_that_are_lacking_everywhere_are_changed_together),
		cmocka_unit_test(a_pod_that_fits_needs_no_fix),
		cmocka_unit_test(only_pods_of_lower_priority_are_evicted),
		cmocka_unit_test(a_new_node_has_no_cordon),
		cmocka_unit_test(the_search_leaves_the_cluster_as_it_was),
		cmocka_unit_test(equal_nodes_are_one_kind),
		cmocka_unit_test(the_nearest_nodes_lack_the_least),
		cmocka_unit_test(scores_outlive_their_explanation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
