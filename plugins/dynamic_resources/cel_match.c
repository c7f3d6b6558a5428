/* SPDX-License-Identifier: Apache-2.0
 * Runs the program of a pattern over a text: all ways at once, in the order of preference, so that the time
 * is the product of both lengths at most (Pike's machine).
 */
#include "plugins/dynamic_resources/cel_regex_int.h"

#include "engine/base/utf8.h"

/* One way through the program: where it is, and where its match began. */
struct thread {
	uint32_t inst;
	size_t start;
};

/* A set of ways in order of preference, with a table of who is in it. */
struct threads {
	struct thread *list;
	uint32_t *place; /* by instruction; only what points back counts */
	uint32_t n;
};

struct bt_cel_matcher {
	uint32_t cap_n;
	struct threads sets[2];
	uint32_t *stack;
};

/* A matcher with room for n instructions; NULL: no memory. The run keeps it. */
static struct bt_cel_matcher *prepare(struct bt_cel_run *run, uint32_t n)
{
	struct bt_cel_matcher *matcher = run->matcher;

	if (matcher && matcher->cap_n >= n) {
		return matcher;
	}
	size_t bytes = n * (2 * sizeof(struct thread) + 5 * sizeof(uint32_t));
	matcher = bt_cel_alloc(run, sizeof(*matcher) + bytes);
	if (!matcher) {
		return NULL;
	}
	struct thread *list = (struct thread *)(matcher + 1);
	uint32_t *place = (uint32_t *)(list + 2 * (size_t)n);
	*matcher = (struct bt_cel_matcher){
		.cap_n = n, .sets = {{.list = list, .place = place}, {.list = list + n, .place = place + n}}};
	memset(place, 0, 2 * (size_t)n * sizeof(*place));
	matcher->stack = place + 2 * (size_t)n;
	run->matcher = matcher;
	return matcher;
}

static bool is_word_byte(struct bt_str text, size_t ix)
{
	char c = ix < text.len ? text.ptr[ix] : '\0';

	return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool holds(enum bt_cel_regex_assertion assertion, struct bt_str text, size_t at)
{
	switch (assertion) {
	case BT_CEL_RE_BEGIN_TEXT:
		return at == 0;
	case BT_CEL_RE_END_TEXT:
		return at == text.len;
	case BT_CEL_RE_BEGIN_LINE:
		return at == 0 || text.ptr[at - 1] == '\n';
	case BT_CEL_RE_END_LINE:
		return at == text.len || text.ptr[at] == '\n';
	case BT_CEL_RE_WORD:
	case BT_CEL_RE_NO_WORD:
		return ((at > 0 && is_word_byte(text, at - 1)) != is_word_byte(text, at)) ==
		       (assertion == BT_CEL_RE_WORD);
	}
	return false;
}

static bool enter(struct threads *threads, uint32_t inst, size_t start)
{
	uint32_t place = threads->place[inst];

	if (place < threads->n && threads->list[place].inst == inst) {
		return false;
	}
	threads->place[inst] = threads->n;
	threads->list[threads->n++] = (struct thread){inst, start};
	return true;
}

/* Enters what can be reached from inst without taking a character. */
static void follow(const struct bt_cel_regex *regex, struct bt_cel_matcher *matcher, struct threads *threads,
	uint32_t inst, size_t start, struct bt_str text, size_t at)
{
	uint32_t stack_n = 0;

	matcher->stack[stack_n++] = inst;
	while (stack_n > 0) {
		const struct bt_cel_regex_inst *next = &regex->insts[inst = matcher->stack[--stack_n]];

		if (!enter(threads, inst, start)) {
			continue;
		}
		/* Each instruction is entered once, so that the stack holds at most two for each. */
		if (next->op == BT_CEL_RE_SPLIT) {
			matcher->stack[stack_n++] = next->other;
			matcher->stack[stack_n++] = next->out;
		} else if (next->op == BT_CEL_RE_ASSERT && holds(next->assertion, text, at)) {
			matcher->stack[stack_n++] = next->out;
		}
	}
}

static bool takes(const struct bt_cel_regex_inst *inst, uint32_t rune)
{
	uint32_t low = 0;
	uint32_t high = inst->range_n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (rune > inst->ranges[middle].last) {
			low = middle + 1;
		} else if (rune < inst->ranges[middle].first) {
			high = middle;
		} else {
			return true;
		}
	}
	return false;
}

/* The match so far. */
struct found {
	bool any;
	size_t start, end;
};

/* Moves every thread over the rune at at, or takes note of a match there, which ends all that come after. */
static void advance(const struct bt_cel_regex *regex, struct bt_cel_matcher *matcher, uint32_t which,
	uint32_t rune, struct bt_str text, size_t at, size_t after, struct found *found)
{
	struct threads *now = &matcher->sets[which];
	struct threads *next = &matcher->sets[!which];

	for (uint32_t i = 0; i < now->n; i++) {
		const struct bt_cel_regex_inst *inst = &regex->insts[now->list[i].inst];

		if (inst->op == BT_CEL_RE_MATCH) {
			*found = (struct found){true, now->list[i].start, at};
			break;
		}
		if (inst->op == BT_CEL_RE_CLASS && after > at && takes(inst, rune)) {
			follow(regex, matcher, next, inst->out, now->list[i].start, text, after);
		}
	}
	now->n = 0;
}

bool bt_cel_regex_find(struct bt_cel_run *run, const struct bt_cel_regex *regex, struct bt_str text,
	size_t from, size_t *out_start, size_t *out_end)
{
	struct bt_cel_matcher *matcher = prepare(run, regex->inst_n);
	struct found found = {0};
	uint32_t which = 0;

	if (!matcher) {
		return false;
	}
	matcher->sets[0].n = matcher->sets[1].n = 0;
	for (size_t at = from;; which = !which) {
		uint32_t rune = 0;
		size_t after = at < text.len ? at + bt_utf8_decode(text, at, &rune) : at;

		if (!found.any) {
			follow(regex, matcher, &matcher->sets[which], regex->start, at, text, at);
		}
		if (matcher->sets[which].n == 0 || !bt_cel_step(run, matcher->sets[which].n)) {
			break;
		}
		advance(regex, matcher, which, rune, text, at, after, &found);
		if (at == text.len) {
			break;
		}
		at = after;
	}
	*out_start = found.start;
	*out_end = found.end;
	return found.any;
}
