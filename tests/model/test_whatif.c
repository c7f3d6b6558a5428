/* SPDX-License-Identifier: Apache-2.0
 * Questions about random clusters: the answers do not depend on the questions before, nor on how often one
 * was asked; afterwards the next decisions are those of a cluster that was never asked.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/engine.h"
#include "engine_fixture.h"
#include "random_cluster.h"
#include "seed.h"
#include "tools/offline/whatif/question.h"

#define CLUSTERS  60
#define QUESTIONS 12
#define STEPS	  5
#define ENGINES	  2

enum { PLAIN = 0, ASKED };

struct lab {
	struct cluster_source source;
	struct bt_config config;
	struct bt_engine *engines[ENGINES];
	struct bt_inventory inventory;
	struct bt_step steps[QUESTIONS][STEPS];
	const struct bt_step *lists[QUESTIONS][STEPS];
	struct bt_question questions[QUESTIONS];
	struct bt_buf answers[QUESTIONS];
};

static uint64_t fates[BT_FATE_N], forbidden_n, violated_n;

static uint32_t below(struct lab *lab, uint32_t n)
{
	return topology_below(&lab->source.topology, n);
}

static struct bt_str node_name(struct lab *lab)
{
	return topology_numbered(&lab->source.topology, "n", below(lab, lab->source.node_n));
}

static void add_pods(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->source.node_n * 5; i++) {
		struct bt_pod_object pod = cluster_pod(&lab->source);
		struct bt_pod_note *note;

		if (below(lab, 2)) {
			pod.spec.node_name = node_name(lab);
		}
		for (uint32_t e = 0; e < ENGINES; e++) {
			enum bt_entry entry;
			uint32_t ix;

			if (bt_engine_add_pod(lab->engines[e], &pod, &entry, &ix) == BT_OK && e == ASKED) {
				bt_inventory_note_pod(&lab->inventory, ix, &pod);
				note = &lab->inventory.pods[ix];
				note->role = (enum bt_pod_role)(below(lab, 4) ? 0 : below(lab, BT_ROLE_N));
				note->workload = 1 + below(lab, 3);
			}
		}
	}
}

static void decide_all(struct lab *lab)
{
	for (uint32_t n = 0; n < 200; n++) {
		struct bt_decision decisions[ENGINES];
		uint32_t pod_ix = bt_engine_pop(lab->engines[PLAIN]);

		assert_int_equal(pod_ix, bt_engine_pop(lab->engines[ASKED]));
		if (pod_ix == BT_NO_POD) {
			return;
		}
		for (uint32_t e = 0; e < ENGINES; e++) {
			bt_engine_decide(lab->engines[e], pod_ix, &decisions[e]);
		}
		assert_int_equal(decisions[PLAIN].outcome, decisions[ASKED].outcome);
		assert_int_equal(decisions[PLAIN].node_ix, decisions[ASKED].node_ix);
		assert_int_equal(decisions[PLAIN].nominated_ix, decisions[ASKED].nominated_ix);
	}
}

static struct bt_node_object *new_node(struct lab *lab, bool added)
{
	struct bt_arena *arena = &lab->source.topology.arena;
	struct bt_node_object *node = bt_arena_zalloc(arena, sizeof(*node));

	*node = cluster_node(
		&lab->source, added ? lab->source.node_n + below(lab, 3) : below(lab, lab->source.node_n));
	if (below(lab, 3) == 0) {
		node->taints = bt_arena_zalloc(arena, sizeof(*node->taints));
		node->taints[0] = (struct bt_taint_object){.key = topology_pick(&lab->source.topology),
			.effect = bt_str(below(lab, 2) ? "NoExecute" : "NoSchedule")};
		node->taint_n = 1;
	}
	return node;
}

static struct bt_pod_object *new_pods(struct lab *lab, size_t n)
{
	struct bt_pod_object *pods = bt_arena_zalloc(&lab->source.topology.arena, n * sizeof(*pods));

	for (size_t i = 0; i < n; i++) {
		pods[i] = cluster_pod(&lab->source);
	}
	return pods;
}

static struct bt_step random_step(struct lab *lab, uint32_t change_ix)
{
	struct bt_step step = {.kind = (enum bt_step_kind)below(lab, BT_STEP_SCALE + 1),
		.change_ix = change_ix,
		.name = node_name(lab)};

	if (step.kind == BT_STEP_NODE) {
		step.node = new_node(lab, below(lab, 2));
		step.name = step.node->meta.name;
	} else if (step.kind == BT_STEP_ADD_POD) {
		step.pod_n = 1;
		step.pods = new_pods(lab, 1);
	} else if (step.kind == BT_STEP_DELETE_POD) {
		step.namespace_ = topology_pick(&lab->source.topology);
		step.name = topology_numbered(&lab->source.topology, "p", below(lab, lab->source.next + 1));
	} else if (step.kind == BT_STEP_SCALE) {
		step.workload = 1 + below(lab, 3);
		step.replicas = below(lab, 25);
		step.pod_n = 10;
		step.pods = new_pods(lab, 10);
	}
	return step;
}

static void make_questions(struct lab *lab)
{
	for (uint32_t q = 0; q < QUESTIONS; q++) {
		uint32_t n = 1 + below(lab, STEPS);

		for (uint32_t s = 0; s < n; s++) {
			lab->steps[q][s] = random_step(lab, s - (s > 0 && below(lab, 2)));
			lab->lists[q][s] = &lab->steps[q][s];
		}
		lab->questions[q] = (struct bt_question){.steps = lab->lists[q],
			.step_n = n,
			.tries_pending = below(lab, 2),
			.preempts = below(lab, 4) > 0,
			.explains_all = below(lab, 2)};
	}
}

/* Asks a question; the first answer is kept, and later ones are compared. */
static void ask(struct lab *lab, uint32_t q)
{
	struct bt_loaded_cluster cluster = {.engine = lab->engines[ASKED]};
	struct bt_arena arena = {0};
	struct bt_buf bytes = {0};
	struct bt_whatif_answer answer;

	bt_question_answer(&cluster, &lab->inventory, &lab->questions[q], &arena, &answer);
	bt_answer_write(&answer, &bytes);
	for (size_t i = 0; i < BT_FATE_N; i++) {
		fates[i] += answer.fates[i];
	}
	forbidden_n += answer.forbidden_n;
	violated_n += answer.violated_n;
	bt_arena_fini(&arena);
	if (!lab->answers[q].len) {
		lab->answers[q] = bytes;
		return;
	}
	assert_int_equal(bytes.len, lab->answers[q].len);
	assert_memory_equal(bytes.ptr, lab->answers[q].ptr, bytes.len);
	bt_buf_fini(&bytes);
}

static void begin_lab(struct lab *lab, uint64_t seed)
{
	const struct bt_engine_options options = {.seed = 7, .no_backoff = true};

	lab->source.topology.rng.state = seed;
	bt_config_init_default(&lab->config, NULL);
	lab->source.node_n = 2 + below(lab, 10);
	for (uint32_t e = 0; e < ENGINES; e++) {
		lab->engines[e] = fixture_engine(&lab->config, &options);
	}
	for (uint32_t i = 0; i < lab->source.node_n; i++) {
		struct bt_node_object node = cluster_node(&lab->source, i);
		uint32_t node_ix;

		for (uint32_t e = 0; e < ENGINES; e++) {
			assert_int_equal(bt_engine_apply_node(lab->engines[e], &node, &node_ix), BT_OK);
		}
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct bt_object budget = cluster_budget(&lab->source);

		for (uint32_t e = 0; e < ENGINES; e++) {
			bt_engine_apply_object(lab->engines[e], &budget);
		}
	}
}

static void end_lab(struct lab *lab)
{
	for (uint32_t q = 0; q < QUESTIONS; q++) {
		bt_buf_fini(&lab->answers[q]);
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_destroy(lab->engines[e]);
	}
	bt_inventory_fini(&lab->inventory);
	bt_config_fini(&lab->config);
	bt_arena_fini(&lab->source.topology.arena);
}

static void play(uint64_t seed)
{
	struct lab *lab = bt_mem_zalloc(1, sizeof(*lab));

	begin_lab(lab, seed);
	add_pods(lab);
	decide_all(lab);
	make_questions(lab);
	for (uint32_t q = 0; q < QUESTIONS; q++) {
		ask(lab, q);
	}
	for (uint32_t q = QUESTIONS; q-- > 0;) {
		ask(lab, q);
		ask(lab, q);
	}
	for (uint32_t n = 0; n < QUESTIONS; n++) {
		ask(lab, below(lab, QUESTIONS));
	}
	add_pods(lab);
	decide_all(lab);
	end_lab(lab);
	bt_mem_free(lab);
}

static void answers_do_not_depend_on_earlier_questions(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (uint32_t i = 0; i < CLUSTERS; i++) {
		play(bt_rng_next(&rng));
	}
	for (size_t i = 0; i < BT_FATE_N; i++) {
		printf("%s: %" PRIu64 "\n", bt_fate_text((enum bt_fate)i), fates[i]);
		assert_true(fates[i] > 0);
	}
	assert_true(forbidden_n > 0 && violated_n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_do_not_depend_on_earlier_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
