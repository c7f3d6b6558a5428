/* SPDX-License-Identifier: Apache-2.0
 * Objects that are decoded, encoded and decoded again give the same verdicts: every third scenario of each
 * file. Usage: test_encode FILE...
 */
#include <stdio.h>

#include "answers.h"
#include "tools/format/encode.h"
#include "tools/format/object_reader.h"
#include "tools/offline/verdict/verdict.h"

#define EVERY 3

/* The verdict of a scenario, or the error. */
static void judge(const struct bt_scenario *scenario, struct bt_buf *out)
{
	struct bt_scenario_cluster cluster;
	struct bt_buf error = {0};

	bt_buf_clear(out);
	if (bt_scenario_open(scenario, 1, &cluster, &error) == BT_OK) {
		bt_verdict_write(scenario, &cluster, out);
		bt_scenario_close(&cluster);
	} else {
		bt_buf_str(out, bt_buf_view(&error));
	}
	bt_buf_fini(&error);
}

/* Each object of a JSON array, decoded and encoded. False: one cannot be decoded. */
static bool encode_all(struct bt_str array, struct bt_buf *out)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	bool decoded = true;
	const char *between = "[";

	bt_json_begin(json, array, &arena);
	bt_json_enter_array(json);
	while (decoded && bt_json_next_element(json)) {
		struct bt_decode decode = {.json = json, .arena = &arena};
		struct bt_object object = {0};

		decoded = bt_object_decode(&decode, &object);
		bt_buf_text(out, between);
		bt_object_encode(&object, out);
		between = ",";
	}
	bt_buf_text(out, *between == '[' ? "[]" : "]");
	bt_arena_fini(&arena);
	bt_json_destroy(json);
	return decoded;
}

/* Does a scenario have the same verdict with encoded objects? */
static bool agrees(struct bt_scenario *scenario)
{
	struct bt_buf objects = {0}, again = {0}, before = {0}, after = {0};
	bool same = true;

	if (encode_all(scenario->objects, &objects)) {
		judge(scenario, &before);
		scenario->objects = bt_buf_view(&objects);
		judge(scenario, &after);
		same = bt_str_eq(bt_buf_view(&before), bt_buf_view(&after)) &&
		       encode_all(scenario->objects, &again) &&
		       bt_str_eq(bt_buf_view(&objects), bt_buf_view(&again));
		if (!same) {
			printf("%.*s:\n before %s\n after  %s\n %s\n %s\n", BT_STR_ARG(scenario->id),
				before.ptr, after.ptr, objects.ptr, again.ptr ? again.ptr : "");
		}
	}
	bt_buf_fini(&objects);
	bt_buf_fini(&again);
	bt_buf_fini(&before);
	bt_buf_fini(&after);
	return same;
}

static int check_file(const char *path)
{
	struct bt_input_file file;
	struct bt_input *input = answers_open(path, &file);
	struct bt_str rest = file.text;
	int wrong_n = 0, n = 0;

	for (int ix = 0; rest.len; ix++) {
		struct bt_str line = answers_next_line(&rest);
		struct bt_json *json = bt_json_create();
		struct bt_arena arena = {0};
		struct bt_buf error = {0};
		struct bt_scenario scenario;

		bt_json_begin(json, line, &arena);
		if (ix % EVERY == 0 && bt_scenario_read(json, &arena, &scenario, &error)) {
			wrong_n += !agrees(&scenario);
			n++;
		}
		bt_buf_fini(&error);
		bt_arena_fini(&arena);
		bt_json_destroy(json);
	}
	bt_input_destroy(input);
	printf("%s: %d scenarios, %d judged otherwise\n", path, n, wrong_n);
	return wrong_n + (n == 0);
}

int main(int argc, char **argv)
{
	int wrong_n = 0;

	for (int i = 1; i < argc; i++) {
		wrong_n += check_file(argv[i]);
	}
	return wrong_n > 0;
}
