/* SPDX-License-Identifier: Apache-2.0
 * tools/offline/quality/measure: used, stranded and violated amounts, compared with
 * numbers calculated by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flow/cycle/source.h"
#include "tools/format/object_reader.h"
#include "tools/offline/quality/measure.h"

static void give_up(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	fail_msg("%s", diagnosis->message);
}

/* A cluster as text; every pod is decided once. */
struct cluster {
	struct bt_config config;
	struct bt_engine *engine;
};

static void place(struct cluster *c, const char *text)
{
	struct bt_object_reader *reader = bt_object_reader_create(give_up, NULL);
	struct bt_config_errors errors = {0};
	const struct bt_object *object;
	struct bt_decision decision;
	enum bt_entry entry;
	uint32_t ix;

	bt_config_init_default(&c->config, NULL);
	c->engine = bt_engine_create(&c->config, &(struct bt_engine_options){.seed = 1}, &errors);
	bt_object_reader_begin_text(reader, "cluster", bt_str(text), BT_FORMAT_YAML);
	while ((object = bt_object_reader_next(reader))) {
		assert_int_equal(bt_engine_apply(c->engine, object, &entry, &ix), BT_OK);
	}
	while ((ix = bt_engine_pop(c->engine)) != BT_NO_POD) {
		bt_engine_decide(c->engine, ix, &decision);
	}
	bt_object_reader_destroy(reader);
	bt_config_errors_fini(&errors);
}

static void end(struct cluster *c)
{
	bt_engine_destroy(c->engine);
	bt_config_fini(&c->config);
}

#define NODE(name, zone, cpu, memory, pods)                                                                  \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {zone: " zone                  \
	"}}, status: {allocatable: {cpu: '" cpu "', memory: " memory ", pods: '" pods "'}}}\n"
#define POD(name, node, cpu, memory, more)                                                                   \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name                                            \
	", namespace: default, labels: {app: web}}, spec: {schedulerName: default-scheduler, " node          \
	"containers: [{name: main, resources: {requests: {cpu: '" cpu "', memory: " memory "}}}]" more       \
	"}}\n"

static void near(double a, double b)
{
	assert_true(a - b < 1e-9 && b - a < 1e-9);
}

static void mean_pod_is_over_placed_and_waiting_pods(void **state)
{
	struct cluster c;

	(void)state;
	place(&c, NODE("a", "z", "4", "8Gi", "10") POD("one", "nodeName: a, ", "1", "2Gi", "")
			  POD("whale", "", "9", "4Gi", ""));
	struct bt_mean_pod mean = bt_quality_mean_pod(c.engine);
	near(mean.milli_cpu, 5000);
	near(mean.memory_bytes, 3.0 * (1 << 30));
	end(&c);
}

static void resources_that_average_pods_cannot_use_are_stranded(void **state)
{
	/* a: cpu is the limit, half of the memory is left; b: the number of pods; c: nothing is left. */
	const struct bt_mean_pod mean = {1000, 1 << 30};
	struct bt_quality q;
	struct cluster c;

	(void)state;
	place(&c, NODE("a", "z", "4", "8Gi", "10") NODE("b", "z", "4", "4Gi", "1")
			  NODE("c", "z", "2", "2Gi", "9") POD("one", "nodeName: b, ", "1", "1Gi", ""));
	bt_quality_measure(c.engine, &mean, &c.config.gates, &q);
	assert_int_equal(q.node_n, 3);
	assert_int_equal(q.used_node_n, 1);
	assert_int_equal(q.room_n, 4 + 0 + 2);
	near(q.cpu_used, 1.0 / 10);
	near(q.memory_used, 1.0 / 14);
	near(q.cpu_stranded, (0 + 3 + 0) / 10.0);
	near(q.memory_stranded, (4 + 3 + 0) / 14.0);
	end(&c);
}

static void unrequested_resources_are_neither_full_nor_stranded(void **state)
{
	const struct bt_mean_pod mean = {1000, 0};
	struct bt_quality q;
	struct cluster c;

	(void)state;
	place(&c, NODE("a", "z", "4", "8Gi", "10"));
	bt_quality_measure(c.engine, &mean, &c.config.gates, &q);
	assert_int_equal(q.room_n, 4);
	near(q.cpu_stranded, 0);
	end(&c);
}

static void pods_are_counted_by_where_they_are(void **state)
{
	const struct bt_mean_pod mean = {1000, 1 << 30};
	struct bt_quality q;
	struct cluster c;

	(void)state;
	place(&c, NODE("a", "z", "4", "8Gi", "10") POD("one", "nodeName: a, ", "1", "1Gi", "")
			  POD("two", "", "1", "1Gi", "") POD("whale", "", "9", "1Gi", ""));
	bt_quality_measure(c.engine, &mean, &c.config.gates, &q);
	assert_int_equal(q.pod_n, 3);
	assert_int_equal(q.placed_n, 2);
	assert_int_equal(q.unplaced_n, 1);
	end(&c);
}

#define SPREAD(when, skew)                                                                                   \
	", topologySpreadConstraints: [{maxSkew: " skew ", topologyKey: zone, whenUnsatisfiable: " when      \
	", labelSelector: {matchLabels: {app: web}}}]"

static void a_skew_above_the_limit_is_a_violation_and_counts_once(void **state)
{
	struct bt_quality q;
	struct cluster c;

	(void)state;
	/* Three in x, none in w. */
	place(&c, NODE("a", "x", "4", "8Gi", "10") NODE("b", "w", "4", "8Gi", "10")
			  POD("one", "nodeName: a, ", "1", "1Gi", SPREAD("ScheduleAnyway", "1")) POD(
				  "two", "nodeName: a, ", "1", "1Gi", SPREAD("ScheduleAnyway", "1"))
				  POD("three", "nodeName: a, ", "1", "1Gi", SPREAD("DoNotSchedule", "3")));
	bt_quality_measure(c.engine, &(struct bt_mean_pod){1000, 1 << 30}, &c.config.gates, &q);
	assert_int_equal(q.spread_n, 2);
	assert_int_equal(q.spread_violated_n, 1);
	near(q.skew_excess, 2.0 / 2);
	end(&c);
}

static void domains_that_the_pod_may_not_enter_do_not_count(void **state)
{
	struct bt_quality q;
	struct cluster c;

	(void)state;
	place(&c,
		NODE("a", "x", "4", "8Gi", "10") NODE("b", "w", "4", "8Gi", "10") POD("one", "nodeName: a, ",
			"1", "1Gi", ", nodeSelector: {zone: x}" SPREAD("ScheduleAnyway", "1"))
			POD("two", "nodeName: a, ", "1", "1Gi",
				", nodeSelector: {zone: x}" SPREAD("ScheduleAnyway", "1")));
	bt_quality_measure(c.engine, &(struct bt_mean_pod){1000, 1 << 30}, &c.config.gates, &q);
	assert_int_equal(q.spread_n, 1);
	assert_int_equal(q.spread_violated_n, 0);
	end(&c);
}

static void nodes_with_taints_count_by_the_constraints_policy(void **state)
{
	static const char *const policies[] = {"Ignore", "Honor"};

	(void)state;
	/* Two in x; w is empty, and tainted. */
	for (int honor = 0; honor < 2; honor++) {
		struct bt_buf text = {0};
		struct bt_quality q;
		struct cluster c;

		bt_buf_text(&text, NODE("a", "x", "4", "8Gi",
					   "10") "---\n{apiVersion: v1, kind: Node, metadata: {name: b, "
						 "labels: {zone: w}}, spec: {taints: [{key: k, effect: "
						 "NoSchedule}]}, status: {allocatable: {cpu: '4', pods: "
						 "'10'}}}\n");
		for (int i = 0; i < 2; i++) {
			bt_buf_printf(&text,
				POD("p%d", "nodeName: a, ", "1", "1Gi",
					", topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
					"whenUnsatisfiable: ScheduleAnyway, nodeTaintsPolicy: %s, "
					"labelSelector: {matchLabels: {app: web}}}]"),
				i, policies[honor]);
		}
		place(&c, text.ptr);
		bt_quality_measure(c.engine, &(struct bt_mean_pod){1000, 1 << 30}, &c.config.gates, &q);
		assert_int_equal(q.spread_n, 1);
		assert_int_equal(q.spread_violated_n, !honor);
		bt_buf_fini(&text);
		end(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_pod_is_over_placed_and_waiting_pods),
		cmocka_unit_test(resources_that_average_pods_cannot_use_are_stranded),
		cmocka_unit_test(unrequested_resources_are_neither_full_nor_stranded),
		cmocka_unit_test(pods_are_counted_by_where_they_are),
		cmocka_unit_test(a_skew_above_the_limit_is_a_violation_and_counts_once),
		cmocka_unit_test(domains_that_the_pod_may_not_enter_do_not_count),
		cmocka_unit_test(nodes_with_taints_count_by_the_constraints_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
