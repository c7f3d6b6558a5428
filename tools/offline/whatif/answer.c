/* SPDX-License-Identifier: Apache-2.0
 * Answers as bytes: one list of fields, for both directions.
 */
#include "tools/offline/whatif/answer.h"

#include <string.h>

#include "engine/base/check.h"

bool bt_answer_is_bad(const struct bt_whatif_answer *answer)
{
	const uint64_t *n = answer->fates;

	return n[BT_FATE_UNPLACED] || n[BT_FATE_NOT_RECREATED] || n[BT_FATE_LOST] ||
	       n[BT_FATE_ADDED_PENDING] || n[BT_FATE_PREEMPTED_UNPLACED] || n[BT_FATE_PREEMPTED_ENDED] ||
	       answer->forbidden_n || answer->violated_n;
}

const char *bt_fate_text(enum bt_fate fate)
{
	static const char *const texts[BT_FATE_N] = {
		[BT_FATE_PLACED] = "placed",
		[BT_FATE_UNPLACED] = "fits nowhere",
		[BT_FATE_NOT_RECREATED] = "not recreated: it has no controller",
		[BT_FATE_LOST] = "lost: it has no controller",
		[BT_FATE_NOW_FITS] = "was pending, now fits",
		[BT_FATE_ADDED] = "new, placed",
		[BT_FATE_ADDED_PENDING] = "new, fits nowhere",
		[BT_FATE_DELETED] = "deleted",
		[BT_FATE_PREEMPTED] = "preempted, placed again",
		[BT_FATE_PREEMPTED_UNPLACED] = "preempted, fits nowhere",
		[BT_FATE_PREEMPTED_ENDED] = "preempted, not recreated: it has no controller",
	};

	BT_REQUIRE(fate < BT_FATE_N);
	return texts[fate];
}

/* Writes to out, or, without one, reads from bytes. */
struct codec {
	struct bt_buf *out;
	struct bt_str bytes;
	size_t at;
	struct bt_arena *arena;
};

static void code_bytes(struct codec *c, void *value, size_t n)
{
	if (c->out) {
		bt_buf_add(c->out, value, n);
		return;
	}
	BT_REQUIRE(n <= c->bytes.len - c->at);
	memcpy(value, c->bytes.ptr + c->at, n);
	c->at += n;
}

static void code_number(struct codec *c, uint64_t *number)
{
	code_bytes(c, number, sizeof(*number));
}

static void code_str(struct codec *c, struct bt_str *text)
{
	uint64_t len = text->len;

	code_number(c, &len);
	if (c->out) {
		bt_buf_str(c->out, *text);
		return;
	}
	BT_REQUIRE(len <= c->bytes.len - c->at);
	*text = (struct bt_str){c->bytes.ptr + c->at, (size_t)len};
	c->at += (size_t)len;
}

/* The number of an array's elements. Returns: the array, when reading a new one. */
static void *code_array(struct codec *c, uint64_t *n, void *array, size_t size)
{
	code_number(c, n);
	if (c->out) {
		return array;
	}
	/* Each element takes at least a byte. */
	BT_REQUIRE(*n <= c->bytes.len);
	return bt_arena_zalloc(c->arena, (size_t)*n * size);
}

static void code_pod(struct codec *c, struct bt_answer_pod *pod)
{
	code_str(c, &pod->name);
	code_str(c, &pod->from);
	code_str(c, &pod->to);
	code_number(c, &pod->fate);
	code_str(c, &pod->reason);
}

static void code_answer(struct codec *c, struct bt_whatif_answer *a)
{
	code_number(c, &a->node_n);
	code_number(c, &a->displaced_n);
	for (size_t i = 0; i < BT_FATE_N; i++) {
		code_number(c, &a->fates[i]);
	}
	code_number(c, &a->forbidden_n);
	code_number(c, &a->violated_n);
	code_number(c, &a->pending_n);
	code_str(c, &a->example);
	code_str(c, &a->reason);
	a->pods = code_array(c, &a->pod_n, a->pods, sizeof(*a->pods));
	for (uint64_t i = 0; i < a->pod_n; i++) {
		code_pod(c, &a->pods[i]);
	}
	a->budgets = code_array(c, &a->budget_n, a->budgets, sizeof(*a->budgets));
	for (uint64_t i = 0; i < a->budget_n; i++) {
		code_str(c, &a->budgets[i].name);
		code_number(c, &a->budgets[i].pod_n);
		code_number(c, &a->budgets[i].preempted_n);
	}
	a->preemptions = code_array(c, &a->preemption_n, a->preemptions, sizeof(*a->preemptions));
	for (uint64_t i = 0; i < a->preemption_n; i++) {
		code_str(c, &a->preemptions[i].pod);
		code_str(c, &a->preemptions[i].by);
		code_str(c, &a->preemptions[i].node);
		code_str(c, &a->preemptions[i].budget);
	}
	a->uses = code_array(c, &a->use_n, a->uses, sizeof(*a->uses));
	for (uint64_t i = 0; i < a->use_n; i++) {
		code_str(c, &a->uses[i].resource);
		code_bytes(c, &a->uses[i].before, sizeof(a->uses[i].before));
		code_bytes(c, &a->uses[i].after, sizeof(a->uses[i].after));
	}
}

void bt_answer_write(const struct bt_whatif_answer *answer, struct bt_buf *out)
{
	struct bt_whatif_answer copy = *answer; /* its arrays are not changed */
	struct codec c = {.out = out};

	code_answer(&c, &copy);
}

void bt_answer_read(struct bt_str bytes, struct bt_arena *arena, struct bt_whatif_answer *out_answer)
{
	struct codec c = {.bytes = bytes, .arena = arena};

	*out_answer = (struct bt_whatif_answer){0};
	code_answer(&c, out_answer);
	BT_REQUIRE(c.at == bytes.len);
}
