/* SPDX-License-Identifier: Apache-2.0
 * The verdict of one pod of a scenario.
 */
#include <inttypes.h>

#include "compare.h"

enum aspect { GATED, PRE_FILTER, REJECTED, SCORES, BEST, MESSAGE, PREEMPTION, ERROR, ASPECT_N };

static const char *const aspect_names[] = {
	"gated", "preFilter", "rejected", "scores", "best", "message", "preemption", "error", NULL};

/* {"plugin", "code", "reasons"} */
static struct bt_str read_refusal(struct answers_reader *r)
{
	struct bt_str plugin = {0}, code = {0}, reasons = {0}, key;
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "plugin")) {
			plugin = answers_text(r);
		} else if (bt_str_is(key, "code")) {
			code = answers_text(r);
		} else if (bt_str_is(key, "reasons")) {
			reasons = answers_texts(r);
		} else {
			r->failed = true;
			bt_json_skip(r->json);
		}
	}
	bt_buf_printf(&out, "%.*s %.*s: %.*s", BT_STR_ARG(plugin), BT_STR_ARG(code), BT_STR_ARG(reasons));
	return answers_keep(r, &out);
}

/* {"plugin": score, ...}; 0 equals no score. */
static struct bt_str read_plugins(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_buf one = {0};
		int64_t score = 0;

		r->failed |= !bt_json_int64(r->json, &score);
		if (score) {
			bt_buf_printf(&one, "%.*s=%" PRId64, BT_STR_ARG(key), score);
			answers_add_text(&texts, answers_keep(r, &one));
		}
	}
	return answers_join_sorted(r, &texts, ' ');
}

static struct bt_str read_score(struct answers_reader *r)
{
	struct bt_str key, plugins = {0};
	struct bt_buf out = {0};
	int64_t total = 0;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "total")) {
			r->failed |= !bt_json_int64(r->json, &total);
		} else if (bt_str_is(key, "plugins")) {
			plugins = read_plugins(r);
		} else {
			r->failed = true;
			bt_json_skip(r->json);
		}
	}
	bt_buf_printf(&out, "%" PRId64 ": %.*s", total, BT_STR_ARG(plugins));
	return answers_keep(r, &out);
}

/* {"node": ..., ...}, one line per node. */
static struct bt_str read_by_node(
	struct answers_reader *r, struct bt_str (*read_one)(struct answers_reader *))
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_str one = read_one(r);
		struct bt_buf line = {0};

		bt_buf_printf(&line, "%.*s %.*s", BT_STR_ARG(key), BT_STR_ARG(one));
		answers_add_text(&texts, answers_keep(r, &line));
	}
	return answers_join_sorted(r, &texts, '\n');
}

/* [{"node", "victims"}, ...], one line per outcome. */
static struct bt_str read_preemptions(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		struct bt_str node = {0}, victims = {0};
		struct bt_buf line = {0};

		r->failed |= !bt_json_enter_object(r->json);
		while (bt_json_next_key(r->json, &key)) {
			if (bt_str_is(key, "node")) {
				node = answers_text(r);
			} else {
				victims = answers_texts(r);
			}
		}
		bt_buf_printf(&line, "%.*s: %.*s", BT_STR_ARG(node), BT_STR_ARG(victims));
		answers_add_text(&texts, answers_keep(r, &line));
	}
	return answers_join_sorted(r, &texts, '\n');
}

/* [refusal, ...], each after a newline. */
static struct bt_str read_refusals(struct answers_reader *r)
{
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		bt_buf_char(&out, '\n');
		bt_buf_str(&out, read_refusal(r));
	}
	return answers_keep(r, &out);
}

/* Several members that form one aspect. */
struct parts {
	struct bt_str narrowed, gated_too;
};

static void read_member(
	struct answers_reader *r, struct bt_str key, struct answers_item *pod, struct parts *out_parts)
{
	if (bt_str_is(key, "pod")) {
		pod->name = answers_text(r);
	} else if (bt_str_is(key, "gated")) {
		pod->aspects[GATED] = read_refusal(r);
	} else if (bt_str_is(key, "preFilter")) {
		pod->aspects[PRE_FILTER] = read_refusal(r);
	} else if (bt_str_is(key, "narrowed")) {
		out_parts->narrowed = answers_texts(r);
	} else if (bt_str_is(key, "gatedToo")) {
		out_parts->gated_too = read_refusals(r);
	} else if (bt_str_is(key, "any")) {
		r->failed |= !bt_json_bool(r->json, &pod->any);
	} else if (bt_str_is(key, "rejected")) {
		pod->aspects[REJECTED] = read_by_node(r, read_refusal);
	} else if (bt_str_is(key, "scores")) {
		pod->aspects[SCORES] = read_by_node(r, read_score);
	} else if (bt_str_is(key, "best")) {
		pod->aspects[BEST] = answers_texts(r);
	} else if (bt_str_is(key, "message")) {
		pod->aspects[MESSAGE] = answers_message(r);
	} else if (bt_str_is(key, "preemptions")) {
		pod->aspects[PREEMPTION] = read_preemptions(r);
	} else if (bt_str_is(key, "error")) {
		pod->aspects[ERROR] = answers_text(r);
	} else {
		r->failed |= !bt_json_skip(r->json);
	}
}

static struct bt_str join(struct answers_reader *r, struct bt_str a, struct bt_str b)
{
	struct bt_buf both = {0};

	bt_buf_str(&both, a);
	bt_buf_str(&both, b);
	return answers_keep(r, &both);
}

static void read_pod(struct answers_reader *r, struct answers_item *out)
{
	struct parts parts = {.narrowed = {0}};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		read_member(r, key, out, &parts);
	}
	r->failed |= out->name.len == 0;
	out->aspects[PRE_FILTER] = join(r, out->aspects[PRE_FILTER], parts.narrowed);
	out->aspects[GATED] = join(r, out->aspects[GATED], parts.gated_too);
}

/* Of several plugins that gate a pod, any may be named. For preemption, the wanted lines are all choices
 * observed among equal candidates. */
static bool agrees(int aspect, struct bt_str want, struct bt_str got)
{
	return aspect == PREEMPTION || aspect == GATED ? answers_one_of(want, '\n', answers_next_line(&got))
						       : bt_str_eq(want, got);
}

const struct answers_kind answers_of_scenarios = {.item_key = "pods",
	.aspect_names = aspect_names,
	.error_aspect = ERROR,
	.play = answers_of_scenario,
	.read_item = read_pod,
	.agrees = agrees};
