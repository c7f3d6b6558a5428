/* SPDX-License-Identifier: Apache-2.0
 * Compares the results for configurations with kube-scheduler's: the error's text, or every value after
 * defaulting and every plugin of each profile and point, in order and with its weight. Usage: test_config
 * CASES [ANSWERS], both JSON lines, possibly compressed; without ANSWERS, prints ours instead of comparing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "engine/base/quote.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "tools/format/json.h"
#include "tools/kube/config/config_decode.h"
#include "tools/kube/config/config_encode.h"

#define SHOWN_MAX 20

struct config_case {
	struct bt_str gates, text;
};

static void write_error(struct bt_buf *out, struct bt_str text)
{
	bt_buf_text(out, "{\"error\":");
	bt_quote_json_go(out, text);
	bt_buf_char(out, '}');
}

static void write_point(struct bt_buf *out, const struct bt_resolved_profile *profile, enum bt_point point)
{
	const struct bt_resolved_point *resolved = &profile->points[point];

	bt_buf_printf(out, ",\"%s\":[", bt_point_field(point));
	for (uint32_t i = 0; i < resolved->n; i++) {
		bt_buf_printf(
			out, "%s\"%.*s", i ? "," : "", BT_STR_ARG(bt_plugin_name(resolved->plugins[i].id)));
		if (resolved->plugins[i].weight) {
			bt_buf_printf(out, "=%" PRId32, resolved->plugins[i].weight);
		}
		bt_buf_char(out, '"');
	}
	bt_buf_char(out, ']');
}

static void write_profile(
	struct bt_buf *out, const struct bt_config *config, uint32_t ix, struct bt_config_errors *errors)
{
	struct bt_resolved_profile profile;

	if (bt_config_resolve(config, ix, errors, &profile) != BT_OK) {
		bt_buf_text(out, "null");
		return;
	}
	const struct bt_node_resources_fit_args *fit = bt_resolved_args(&profile, "NodeResourcesFit");
	const struct bt_args_env env = bt_config_args_env(config);
	const struct bt_str_list *ignored = fit ? bt_fit_ignored_resources(fit, &env) : NULL;

	bt_buf_text(out, "{\"ignoredResources\":[");
	for (uint32_t i = 0; ignored && i < ignored->n; i++) {
		bt_buf_text(out, i ? "," : "");
		bt_quote_json_go(out, ignored->items[i]);
	}
	bt_buf_char(out, ']');
	for (unsigned point = 0; point < BT_POINT_N; point++) {
		if (profile.points[point].n) {
			write_point(out, &profile, (enum bt_point)point);
		}
	}
	bt_buf_char(out, '}');
}

static void write_config(struct bt_buf *out, const struct bt_config *config)
{
	struct bt_config_errors errors = {.n = 0};

	bt_buf_text(out, "{\"config\":");
	bt_config_encode(config, out);
	bt_buf_text(out, ",\"profiles\":[");
	for (uint32_t i = 0; i < config->profile_n; i++) {
		bt_buf_text(out, i ? "," : "");
		write_profile(out, config, i, &errors);
	}
	bt_buf_text(out, "]}");
	bt_config_errors_fini(&errors);
}

/* Reads the written configuration back; it must be equal. */
static bool reads_back(const struct bt_config *config, const struct bt_gates *gates)
{
	struct bt_buf first = {.len = 0}, second = {.len = 0}, error = {.len = 0};
	struct bt_config again;
	bool same;

	bt_config_encode(config, &first);
	bt_config_init(&again, gates);
	same = bt_config_load(&again, "", bt_buf_view(&first), &error) == BT_OK;
	if (same) {
		bt_config_encode(&again, &second);
		same = bt_str_eq(bt_buf_view(&first), bt_buf_view(&second));
	}
	if (!same) {
		fprintf(stderr, "written:   %s\nread back: %s%s\n", first.ptr, second.len ? second.ptr : "",
			error.len ? error.ptr : "");
	}
	bt_config_fini(&again);
	bt_buf_fini(&first);
	bt_buf_fini(&second);
	bt_buf_fini(&error);
	return same;
}

/* Strips ":line: " or ": " before the error, as there is no file name. */
static struct bt_str without_place(struct bt_str text)
{
	size_t at = 0;

	while (at < text.len && text.ptr[at] != ' ') {
		at++;
	}
	return bt_str_sub(text, at < text.len ? at + 1 : at, text.len);
}

static bool answer(const struct bt_release *release, const struct config_case *c, struct bt_buf *out)
{
	struct bt_buf error = {.len = 0};
	struct bt_config config;
	struct bt_gates gates;
	bool same = true;

	bt_gates_init(&gates, release);
	if (bt_gates_parse(&gates, c->gates, &error) != BT_OK) {
		struct bt_buf text = {.len = 0};

		bt_buf_printf(&text, "gates: %.*s", BT_STR_ARG(bt_buf_view(&error)));
		write_error(out, bt_buf_view(&text));
		bt_buf_fini(&text);
		bt_buf_fini(&error);
		return true;
	}
	bt_config_init(&config, &gates);
	if (bt_config_load(&config, "", c->text, &error) == BT_OK) {
		write_config(out, &config);
		same = reads_back(&config, &gates);
	} else {
		write_error(out, without_place(bt_buf_view(&error)));
	}
	bt_config_fini(&config);
	bt_buf_fini(&error);
	return same;
}

static bool read_case(struct bt_json *json, struct config_case *out)
{
	struct bt_str key;

	*out = (struct config_case){.gates = {.len = 0}};
	if (!bt_json_enter_object(json)) {
		return false;
	}
	while (bt_json_next_key(json, &key)) {
		bool ok = bt_str_is(key, "gates")  ? bt_json_string(json, &out->gates)
			  : bt_str_is(key, "text") ? bt_json_string(json, &out->text)
						   : bt_json_skip(json);

		if (!ok) {
			return false;
		}
	}
	return bt_json_error(json)->status == BT_OK;
}

static void show(const struct config_case *c, struct bt_str wanted, struct bt_str got)
{
	fprintf(stderr, "gates:  %.*s\ntext:   %.*s\nwanted: %.*s\ngot:    %.*s\n\n", BT_STR_ARG(c->gates),
		BT_STR_ARG(c->text), BT_STR_ARG(wanted), BT_STR_ARG(got));
}

static bool is_error(struct bt_str answer)
{
	return bt_str_starts(answer, "{\"error\":");
}

/* A configuration that makes kube-scheduler panic is rejected here; there is no text to compare. */
static bool is_panic(struct bt_str answer)
{
	return bt_str_starts(answer, "{\"error\":\"panic: ");
}

/* Returns the number of cases with other answers than wanted; without answers, prints ours. */
static size_t run(const struct bt_release *release, struct bt_str text, struct bt_str *answers, size_t *out_n)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf got = {.len = 0};
	struct config_case c;
	size_t wrong_n = 0;

	bt_json_begin(json, text, &arena);
	for (*out_n = 0; bt_json_more(json); ++*out_n) {
		bool same;

		if (!read_case(json, &c)) {
			fprintf(stderr, "case %zu cannot be read\n", *out_n);
			wrong_n++;
			break;
		}
		bt_buf_clear(&got);
		same = answer(release, &c, &got);
		if (!answers) {
			printf("%s\n", got.ptr);
		} else {
			struct bt_str wanted = answers_next_line(answers);
			bool agrees = bt_str_eq(bt_buf_view(&got), wanted) ||
				      (is_panic(wanted) && is_error(bt_buf_view(&got)));

			if (!agrees && wrong_n < SHOWN_MAX) {
				show(&c, wanted, bt_buf_view(&got));
			}
			same &= agrees;
		}
		wrong_n += !same;
	}
	if (answers && answers->len) {
		fprintf(stderr, "answers are left after the last case\n");
		wrong_n++;
	}
	bt_buf_fini(&got);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
	return wrong_n;
}

int main(int argc, char **argv)
{
	struct bt_input_file asked, answered = {0};
	size_t n = 0, wrong_n;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: test_config RELEASE CASES [ANSWERS]\n");
		return 2;
	}
	struct bt_input *asked_input = answers_open(argv[2], &asked);
	struct bt_input *answered_input = argc > 3 ? answers_open(argv[3], &answered) : NULL;
	wrong_n = run(answers_release(argv[1]), asked.text, argc > 3 ? &answered.text : NULL, &n);
	fprintf(stderr, "%zu configurations, %zu answered otherwise than kube-scheduler\n", n, wrong_n);
	bt_input_destroy(asked_input);
	bt_input_destroy(answered_input);
	return wrong_n || !n;
}
