/* SPDX-License-Identifier: Apache-2.0
 * Passes over a journal, and the causes of their differences.
 */
#include "tools/offline/compare/causes.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/model/release.h"

/* ---- one pass ---- */

/* A pass's handler of a verdict. at: the next difference. */
struct pass {
	struct bt_comparison *c;
	void (*judged)(struct pass *pass, const struct bt_judgment *judgment, struct bt_verdict_key key);
	size_t at;
	uint32_t cause; /* that is tried, or BT_NO_CAUSE: several are */
	bool turned_on, hit;
	bool counts; /* it counts its cycles; others repeat their numbers */
	struct bt_buf text;
};

static uint64_t mix(uint64_t hash, struct bt_str text)
{
	return bt_hash_u64(hash ^ bt_hash_bytes(text.ptr, text.len));
}

/* A gated pod gets no node, as a refused one; their messages differ. */
static struct bt_verdict_key key_of(const struct bt_judgment *j)
{
	enum bt_outcome outcome = j->outcome == BT_GATED ? BT_REFUSED : j->outcome;
	uint64_t choice = mix(mix(mix((uint64_t)outcome + 1, j->node), j->nominated), j->victims);

	/* Two failures are the same only if they are of the same error. */
	choice = j->outcome == BT_FAILED ? mix(choice, j->message) : choice;
	return (struct bt_verdict_key){choice, bt_hash_bytes(j->message.ptr, j->message.len)};
}

static void take_judgment(void *context, const struct bt_judgment *judgment)
{
	struct pass *pass = context;

	pass->judged(pass, judgment, key_of(judgment));
}

struct bt_difference_record {
	struct bt_verdict_key key;
	uint64_t cycle_n;
	uint32_t outcome;
};

/* bt_follow.cycle_n. */
static uint64_t cycle_n_of(void *context, uint64_t number)
{
	const struct pass *pass = context;

	return pass->c->records[number - 1].cycle_n;
}

/* Follows the journal with the gates and their release. */
static enum bt_status follow(
	struct pass *pass, const struct bt_gates *gates, struct bt_str bytes, struct bt_buf *out_error)
{
	struct bt_replay_result result = {.decision_n = 0};
	struct bt_config config;
	enum bt_status status = BT_INVALID;

	if (pass->c->make_config(pass->c->context, gates, &config, out_error)) {
		const struct bt_replay_options options = {.follow = {.judged = take_judgment,
								  .cycle_n = pass->counts ? NULL : cycle_n_of,
								  .context = pass},
			.config = &config,
			.codec = pass->c->codec};

		status = bt_journal_replay(bytes, &options, &result, out_error);
		pass->c->decision_n = result.decision_n;
	}
	bt_config_fini(&config);
	bt_buf_fini(&pass->text);
	return status;
}

/* ---- differences ---- */

static void keep_key(struct pass *pass, const struct bt_judgment *judgment, struct bt_verdict_key key)
{
	struct bt_comparison *c = pass->c;
	uint64_t ix = judgment->number - 1;

	c->records = bt_mem_grow(c->records, ix, &c->record_cap, sizeof(*c->records));
	c->foreign_n += !judgment->agrees;
	c->records[ix] = (struct bt_difference_record){key, judgment->cycle_n, (uint32_t)judgment->outcome};
}

static struct bt_str keep_text(struct bt_comparison *c, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&c->arena, text.len ? text.ptr : "", text.len), text.len};
}

/* The decision as text. */
static struct bt_str words_of(struct pass *pass, const struct bt_judgment *j)
{
	static const char *const words[] = {"", "refused", "gated", "failed", "skipped"};
	struct bt_buf *text = &pass->text;

	bt_buf_clear(text);
	if (j->outcome == BT_PLACED) {
		bt_buf_str(text, j->node);
	} else {
		bt_buf_text(text, words[j->outcome]);
	}
	if (j->nominated.len) {
		bt_buf_printf(text, ", nominated to %.*s", BT_STR_ARG(j->nominated));
	}
	if (j->victims.len) {
		bt_buf_printf(text, ", evicting %.*s", BT_STR_ARG(j->victims));
	}
	return keep_text(pass->c, bt_buf_view(text));
}

static enum bt_difference_kind kind_of(
	const struct bt_difference_record *from, const struct bt_judgment *to, struct bt_verdict_key key)
{
	bool placed = from->outcome == BT_PLACED;

	if (from->key.choice == key.choice || (from->outcome == BT_FAILED && to->outcome == BT_FAILED)) {
		return BT_DIFFERENT_MESSAGE;
	}
	if (placed != (to->outcome == BT_PLACED)) {
		return placed ? BT_REFUSED_INSTEAD : BT_PLACED_INSTEAD;
	}
	if ((from->outcome == BT_FAILED) != (to->outcome == BT_FAILED)) {
		return BT_DIFFERENT_FAILURE;
	}
	return placed ? BT_DIFFERENT_NODE : BT_DIFFERENT_PREEMPTION;
}

static void keep_difference(struct pass *pass, const struct bt_judgment *judgment, struct bt_verdict_key key)
{
	struct bt_comparison *c = pass->c;
	const struct bt_difference_record *from = &c->records[judgment->number - 1];

	if (from->key.choice == key.choice && from->key.message == key.message) {
		return;
	}
	c->differences =
		bt_mem_grow(c->differences, c->difference_n, &c->difference_cap, sizeof(*c->differences));
	struct bt_difference *d = &c->differences[c->difference_n++];
	*d = (struct bt_difference){.number = judgment->number,
		.kind = kind_of(from, judgment, key),
		.to = words_of(pass, judgment),
		.to_message = keep_text(c, judgment->message),
		.from_key = from->key,
		.to_key = key,
		.cause = BT_NO_CAUSE};
	c->kind_n[d->kind]++;
	bt_buf_clear(&pass->text);
	bt_buf_printf(&pass->text, "%.*s/%.*s", BT_STR_ARG(judgment->namespace_), BT_STR_ARG(judgment->name));
	d->pod = keep_text(c, bt_buf_view(&pass->text));
}

/* The difference of that decision, or NULL. Decisions come in order. */
static struct bt_difference *find_difference(struct pass *pass, uint64_t number)
{
	struct bt_comparison *c = pass->c;

	while (pass->at < c->difference_n && c->differences[pass->at].number < number) {
		pass->at++;
	}
	return pass->at < c->difference_n && c->differences[pass->at].number == number
		       ? &c->differences[pass->at]
		       : NULL;
}

static void describe_from(struct pass *pass, const struct bt_judgment *judgment, struct bt_verdict_key key)
{
	struct bt_difference *d = find_difference(pass, judgment->number);

	(void)key;
	if (d) {
		d->from = words_of(pass, judgment);
		d->from_message = keep_text(pass->c, judgment->message);
	}
}

/* ---- causes ---- */

static bool equal(const struct bt_difference *d, struct bt_verdict_key a, struct bt_verdict_key b)
{
	return a.choice == b.choice && (d->kind != BT_DIFFERENT_MESSAGE || a.message == b.message);
}

/* Adds another cause of a difference that needs several. */
static void add_other(struct bt_difference *d, uint32_t cause)
{
	for (uint32_t i = 0; i < d->other_n; i++) {
		if (d->others[i] == cause) {
			return;
		}
	}
	if (d->cause == cause) {
		return;
	}
	if (d->other_n < BT_OTHER_CAUSES) {
		d->others[d->other_n++] = cause;
	} else {
		d->more_n++;
	}
}

/* The pass has the newer release with some points turned back, or the older one with some on. Of a pass
 * over several points it is only noted that one of them may be a cause. */
static void try_cause(struct pass *pass, const struct bt_judgment *judgment, struct bt_verdict_key key)
{
	struct bt_difference *d = find_difference(pass, judgment->number);

	if (!d || (d->cause != BT_NO_CAUSE && !d->together)) {
		return;
	}
	bool decides = equal(d, key, pass->turned_on ? d->to_key : d->from_key);
	bool matters = decides || !equal(d, key, pass->turned_on ? d->from_key : d->to_key);

	pass->hit |= matters;
	if (pass->cause == BT_NO_CAUSE || !matters) {
		return;
	}
	if (decides || d->cause == BT_NO_CAUSE) {
		d->cause = pass->cause;
		d->together = !decides;
		d->other_n = decides ? 0 : d->other_n;
	} else {
		add_other(d, pass->cause);
	}
}

static void add_cause(struct bt_comparison *c, enum bt_cause_kind kind, uint32_t number)
{
	c->causes = bt_mem_grow(c->causes, c->cause_n, &c->cause_cap, sizeof(*c->causes));
	c->causes[c->cause_n++] = (struct bt_cause){.kind = kind, .number = number};
}

static bool texts_differ(const struct bt_release *a, const struct bt_release *b)
{
	bool differ = false;

	for (unsigned text = 0; text < BT_TEXT_N; text++) {
		differ |= strcmp(bt_release_text(a, (enum bt_release_text)text),
				  bt_release_text(b, (enum bt_release_text)text)) != 0;
	}
	return differ;
}

/* Every point in which the two differ: first the texts, which every refusal has, gates last. */
static void list_causes(struct bt_comparison *c)
{
	const struct bt_release *from = c->from.release, *to = c->to.release;

	if (texts_differ(from, to)) {
		add_cause(c, BT_CAUSE_TEXTS, 0);
	}
	for (unsigned rule = 0; rule < BT_RULE_N; rule++) {
		if (bt_release_has(from, (enum bt_rule)rule) != bt_release_has(to, (enum bt_rule)rule)) {
			add_cause(c, BT_CAUSE_RULE, rule);
		}
	}
	for (uint32_t number = 0; number < BT_RELEASE_PLUGINS; number++) {
		if (bt_release_plugin_differs(from, to, number)) {
			add_cause(c, BT_CAUSE_PLUGIN, number);
		}
	}
	c->gates_at = c->cause_n;
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (c->from.on[gate] != c->to.on[gate]) {
			add_cause(c, BT_CAUSE_GATE, gate);
		}
	}
}

/* A pass over the causes first to last: the base with these points as the other has them. Returns whether one
 * of them may be a cause. */
static bool turn(struct bt_comparison *c, bool on, size_t first, size_t last, struct bt_str bytes,
	struct bt_buf *out_error)
{
	const struct bt_gates *base = on ? &c->from : &c->to, *other = on ? &c->to : &c->from;
	struct pass pass = {.c = c,
		.judged = try_cause,
		.turned_on = on,
		.cause = last - first == 1 ? (uint32_t)first : BT_NO_CAUSE};
	struct bt_gates gates = *base;
	uint64_t rules = 0, plugins = 0;
	bool texts = false;

	for (size_t i = first; i < last; i++) {
		const struct bt_cause *cause = &c->causes[i];

		rules |= cause->kind == BT_CAUSE_RULE ? UINT64_C(1) << cause->number : 0;
		texts |= cause->kind == BT_CAUSE_TEXTS;
		plugins |= cause->kind == BT_CAUSE_PLUGIN ? UINT64_C(1) << cause->number : 0;
		if (cause->kind == BT_CAUSE_GATE) {
			gates.on[cause->number] = other->on[cause->number];
		}
	}
	const struct bt_release release =
		bt_release_mix(base->release, other->release, rules, texts, plugins);
	gates.release = &release;
	c->status = follow(&pass, &gates, bytes, out_error);
	return pass.hit;
}

static bool all_explained(const struct bt_comparison *c)
{
	for (size_t i = 0; i < c->difference_n; i++) {
		if (c->differences[i].cause == BT_NO_CAUSE || c->differences[i].together) {
			return false;
		}
	}
	return true;
}

static bool goes_on(const struct bt_comparison *c)
{
	return c->status == BT_OK && !all_explained(c) && !(c->stop && c->stop());
}

/* Of many points few are a cause: halves in which none is are left out. */
static void halve(struct bt_comparison *c, bool on, size_t first, size_t last, struct bt_str bytes,
	struct bt_buf *out_error)
{
	if (first == last || !goes_on(c) || !turn(c, on, first, last, bytes, out_error) ||
		last - first == 1) {
		return;
	}
	size_t middle = first + (last - first) / 2;

	halve(c, on, first, middle, bytes, out_error);
	halve(c, on, middle, last, bytes, out_error);
}

/* First each point of the newer release is turned back; for the rest each is turned on in the older one. */
static void find_causes(struct bt_comparison *c, struct bt_str bytes, struct bt_buf *out_error)
{
	for (int on = 0; on < 2; on++) {
		for (size_t i = 0; i < c->gates_at && goes_on(c); i++) {
			turn(c, on, i, i + 1, bytes, out_error);
		}
		halve(c, on, c->gates_at, c->cause_n, bytes, out_error);
	}
}

static void count_causes(struct bt_comparison *c)
{
	for (size_t i = 0; i < c->difference_n; i++) {
		const struct bt_difference *d = &c->differences[i];

		if (d->cause == BT_NO_CAUSE) {
			continue;
		}
		c->causes[d->cause].decision_n += d->kind != BT_DIFFERENT_MESSAGE;
		c->causes[d->cause].message_n += d->kind == BT_DIFFERENT_MESSAGE;
	}
}

enum bt_status bt_compare_journal(struct bt_comparison *c, struct bt_str bytes, struct bt_buf *out_error)
{
	struct pass older = {.c = c, .judged = keep_key, .counts = true},
		    newer = {.c = c, .judged = keep_difference}, again = {.c = c, .judged = describe_from};

	list_causes(c);
	c->status = follow(&older, &c->from, bytes, out_error);
	if (c->status == BT_OK) {
		c->status = follow(&newer, &c->to, bytes, out_error);
	}
	if (c->status == BT_OK && c->difference_n) {
		c->status = follow(&again, &c->from, bytes, out_error);
	}
	find_causes(c, bytes, out_error);
	count_causes(c);
	return c->status;
}

void bt_cause_name(const struct bt_cause *cause, struct bt_buf *out)
{
	const char *name;

	switch (cause->kind) {
	case BT_CAUSE_TEXTS:
		bt_buf_text(out, "texts of events");
		return;
	case BT_CAUSE_PLUGIN:
		bt_buf_printf(out, "default plugin %.*s", BT_STR_ARG(bt_release_plugin_name(cause->number)));
		return;
	case BT_CAUSE_GATE:
		bt_buf_printf(out, "feature gate %s", bt_gate_name((enum bt_gate)cause->number));
		return;
	case BT_CAUSE_RULE:
		break;
	}
	for (name = bt_rule_name((enum bt_rule)cause->number); *name; name++) {
		bool upper = *name >= 'A' && *name <= 'Z';

		bt_buf_char(out, *name == '_' ? ' ' : (char)(upper ? *name - 'A' + 'a' : *name));
	}
}

void bt_comparison_fini(struct bt_comparison *c)
{
	bt_mem_free(c->records);
	bt_mem_free(c->differences);
	bt_mem_free(c->causes);
	bt_arena_fini(&c->arena);
}
