/* SPDX-License-Identifier: Apache-2.0
 * Histories: from a seed, and as text.
 */
#include "step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "engine/base/rng.h"
#include "sim.h"

struct op {
	const char *name;
	uint32_t weight, a, b, c;
};

static const struct op ops[SIM_OP_N] = {
#define X(name, weight, a, b, c) {#name, weight, a, b, c},
	SIM_OPS(X)
#undef X
};

static const char *const fault_texts[SIM_FAULT_N] = {
#define X(name, text) text,
	SIM_FAULTS(X)
#undef X
};

const char *sim_fault_text(enum sim_fault fault)
{
	return fault_texts[fault];
}

void sim_history_add(struct sim_history *history, struct sim_step step)
{
	if (history->step_n == history->step_cap) {
		history->step_cap = history->step_cap ? history->step_cap * 2 : 256;
		history->steps = realloc(history->steps, history->step_cap * sizeof(*history->steps));
	}
	history->steps[history->step_n++] = step;
}

void sim_history_fini(struct sim_history *history)
{
	free(history->steps);
	*history = (struct sim_history){0};
}

static struct sim_step random_step(uint64_t seed, struct bt_rng *rng, enum sim_op op)
{
	struct sim_step step = {
		op, bt_rng_below(rng, ops[op].a), bt_rng_below(rng, ops[op].b), bt_rng_below(rng, ops[op].c)};

	/* With PodGroups enabled, twice as many pods belong to one. */
	if (sim_has_gangs(seed) && (op == SIM_OP_create_pod || op == SIM_OP_replace_pod)) {
		step.b = SIM_PLAIN_SHAPES + step.b % SIM_PLAIN_SHAPES;
	}
	return step;
}

/* The initial cluster. */
static void begin_history(struct sim_history *history, struct bt_rng *rng)
{
	uint32_t node_n = 1 + bt_rng_below(rng, SIM_NODES), pod_n = bt_rng_below(rng, SIM_PODS);

	for (uint32_t i = 0; i < node_n; i++) {
		struct sim_step step = random_step(history->seed, rng, SIM_OP_put_node);

		step.a = i;
		sim_history_add(history, step);
	}
	for (uint32_t i = 0; i < pod_n; i++) {
		sim_history_add(history, random_step(history->seed, rng, SIM_OP_create_pod));
	}
	for (uint32_t i = 0; i < node_n; i++) {
		sim_history_add(history, random_step(history->seed, rng, SIM_OP_put_slice));
	}
	for (uint32_t i = 0; i < SIM_DEVICE_CLAIMS; i++) {
		sim_history_add(history, random_step(history->seed, rng, SIM_OP_put_device_claim));
	}
	for (uint32_t i = 0; i < SIM_CLAIMS; i++) {
		sim_history_add(history, random_step(history->seed, rng, SIM_OP_put_claim));
		sim_history_add(history, random_step(history->seed, rng, SIM_OP_put_volume));
	}
}

/* A pipeline needs more steps. */
static uint32_t piped_weight(enum sim_op op, uint32_t weight)
{
	switch (op) {
	case SIM_OP_begin:
	case SIM_OP_end:
		return 0;
	case SIM_OP_stage:
		return 500;
	default:
		return weight;
	}
}

/* With PodGroups enabled, they are re-created and their members bound by other schedulers more often. */
static uint32_t weight_of(uint64_t seed, enum sim_op op)
{
	bool more = sim_has_gangs(seed) && (op == SIM_OP_put_group || op == SIM_OP_bind_elsewhere);

	return more ? 4 * ops[op].weight : ops[op].weight;
}

/* Each seed has its own weights, and skips some steps, so that histories differ in kind. */
void sim_history_of_seed(uint64_t seed, struct sim_history *out)
{
	static const uint32_t factors[] = {0, 1, 2, 2, 4, 8};
	struct bt_rng rng = {seed};
	uint32_t weights[SIM_OP_N], sum = 0, step_n = 60 + bt_rng_below(&rng, 240);

	*out = (struct sim_history){.seed = seed, .piped = bt_rng_below(&rng, 2)};
	out->leaders = out->piped && seed % 8 == 3;
	for (int i = 0; i < SIM_OP_N; i++) {
		bool needed = i == SIM_OP_create_pod || i == SIM_OP_deliver || i == SIM_OP_decide ||
			      i == SIM_OP_bind || i == SIM_OP_answer;
		uint32_t factor = i == SIM_OP_keep_node
					  ? seed % 8 == 6
					  : factors[bt_rng_below(&rng, sizeof(factors) / sizeof(factors[0]))];

		weights[i] = weight_of(seed, (enum sim_op)i) * (needed && factor == 0 ? 1 : factor);
		if (out->piped) {
			weights[i] = piped_weight((enum sim_op)i, weights[i]);
		}
		sum += weights[i];
	}
	begin_history(out, &rng);
	for (uint32_t i = 0; i < (out->piped ? 3 * step_n : step_n); i++) {
		uint32_t at = bt_rng_below(&rng, sum), op = 0;

		while (at >= weights[op]) {
			at -= weights[op++];
		}
		sim_history_add(out, random_step(seed, &rng, (enum sim_op)op));
	}
}

void sim_step_write(const struct sim_step *step, struct bt_buf *out)
{
	bt_buf_printf(out, "%s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", ops[step->op].name, step->a, step->b,
		step->c);
}

void sim_history_write(const struct sim_history *history, struct bt_buf *out)
{
	bt_buf_printf(out, "%s seed %" PRIu64 "\n",
		history->leaders ? "leaders"
		: history->piped ? "pipeline"
				 : "calls",
		history->seed);
	for (uint32_t i = 0; i < history->step_n; i++) {
		sim_step_write(&history->steps[i], out);
	}
}

static bool read_step(const char *line, struct sim_history *out)
{
	struct sim_step step = {0};
	char name[32];

	if (sscanf(line, "%31s %" SCNu32 " %" SCNu32 " %" SCNu32, name, &step.a, &step.b, &step.c) != 4) {
		return false;
	}
	for (int i = 0; i < SIM_OP_N; i++) {
		if (strcmp(ops[i].name, name) == 0) {
			step.op = (enum sim_op)i;
			step.a %= ops[i].a;
			step.b %= ops[i].b;
			sim_history_add(out, step);
			return true;
		}
	}
	return false;
}

bool sim_history_read(struct bt_str text, struct sim_history *out)
{
	size_t at = 0;

	*out = (struct sim_history){0};
	while (at < text.len) {
		size_t end = bt_str_find(text, '\n', at);
		struct bt_str rest = bt_str_sub(text, at, end);
		char line[128] = "";

		at = end + 1;
		if (rest.len == 0 || rest.ptr[0] == '#') {
			continue;
		}
		memcpy(line, rest.ptr, rest.len < sizeof(line) ? rest.len : sizeof(line) - 1);
		out->leaders |= strncmp(line, "leaders ", 8) == 0;
		out->piped |= out->leaders || strncmp(line, "pipeline ", 9) == 0;
		if (sscanf(line, "%*s seed %" SCNu64, &out->seed) != 1 && !read_step(line, out)) {
			sim_history_fini(out);
			return false;
		}
	}
	return true;
}
