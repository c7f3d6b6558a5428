/* SPDX-License-Identifier: Apache-2.0
 * Objects that churn creates and deletes, one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/offline/bench/run_int.h"

struct stage {
	struct bt_bench_run run;
	struct bt_bench_run_result result;
	struct bt_config config;
	struct bt_bench_op op;
	struct bt_bench_run_timer timer;
	struct bt_spec_object object;
	struct bt_churned slots[2];
};

static void open_stage(struct stage *s, const char *mode, struct bt_spec_object object)
{
	const struct bt_pipeline_options options = {.limits = bt_limits_default(),
		.engine = {.seed = 1, .clock = bt_clock_real(), .sampling = BT_SAMPLING_NONE},
		.binder = bt_world_binder(&s->run.world),
		.sink = bt_world_sink(&s->run.world)};
	struct bt_config_errors errors = {0};
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_default());
	bt_config_init_default(&s->config, &gates);
	s->run.result = &s->result;
	s->run.world.pipeline = bt_pipeline_create(&s->config, &options, &errors);
	assert_non_null(s->run.world.pipeline);
	bt_config_errors_fini(&errors);
	s->op = (struct bt_bench_op){
		.kind = BT_BENCH_OP_CHURN, .mode = bt_str(mode), .count = 1, .namespace_ = BT_STR("x")};
	s->object = object;
	s->slots[0].pod = s->slots[1].pod = BT_NO_POD;
	s->timer = (struct bt_bench_run_timer){
		.op = &s->op, .objects = &s->object, .object_n = 1, .churned = s->slots};
}

static void close_stage(struct stage *s)
{
	bt_pipeline_destroy(s->run.world.pipeline);
	bt_world_fini(&s->run.world);
	bt_config_fini(&s->config);
}

/* Checks the numbers of added and deleted objects after churn's next tick. */
static void tick(struct stage *s, uint64_t applied_n, uint64_t deleted_n)
{
	assert_true(bt_bench_run_churn_again(&s->run, &s->timer) || bt_str_is(s->op.mode, "create"));
	s->timer.fired_n++;
	while (bt_world_step(&s->run.world)) {
	}
	struct bt_pipeline_counts counts = bt_pipeline_counts(s->run.world.pipeline);
	assert_int_equal(counts.applied_n, applied_n);
	assert_int_equal(counts.deleted_n, deleted_n);
}

static struct bt_spec_object named(enum bt_kind kind, const char *word)
{
	return (struct bt_spec_object){
		.object = {.kind = kind, .kind_name = bt_str(word), .meta = {.name = BT_STR("a")}}};
}

static void what_is_recreated_is_made_anew_each_time(struct bt_spec_object object)
{
	struct stage s = {.op = {.count = 0}};

	open_stage(&s, "recreate", object);
	tick(&s, 1, 0);
	tick(&s, 1, 1);
	tick(&s, 2, 1);
	tick(&s, 2, 2);
	tick(&s, 3, 2);
	close_stage(&s);
}

static void a_namespace_is_encoded_afresh_each_time(void **state)
{
	(void)state;
	what_is_recreated_is_made_anew_each_time(named(BT_KIND_NAMESPACE, "Namespace"));
}

static void a_node_is_encoded_afresh_each_time(void **state)
{
	(void)state;
	what_is_recreated_is_made_anew_each_time(named(BT_KIND_NODE, "Node"));
}

static void a_name_that_is_there_is_not_made_again(void **state)
{
	struct stage s = {.op = {.count = 0}};

	(void)state;
	open_stage(&s, "create", named(BT_KIND_NAMESPACE, "Namespace"));
	tick(&s, 1, 0);
	tick(&s, 1, 0);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_namespace_is_encoded_afresh_each_time),
		cmocka_unit_test(a_node_is_encoded_afresh_each_time),
		cmocka_unit_test(a_name_that_is_there_is_not_made_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
