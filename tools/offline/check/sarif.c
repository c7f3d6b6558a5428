/* SPDX-License-Identifier: Apache-2.0
 * The report of berth check as SARIF. Source: Static Analysis Results Interchange Format 2.1.0, OASIS.
 */
#include "tools/cli/json_write.h"
#include "tools/offline/check/report.h"

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static const struct sarif_rule {
	const char *id, *text;
} rules[] = {
	{"does-not-fit", "A pod of the workload has no place on the cluster."},
	{"preempts", "The workload gets its place by preemption of other pods."},
};

static void write_member(struct bt_json_writer *json, const char *key, const char *text)
{
	bt_json_write_key(json, key);
	bt_json_write_text(json, text);
}

/* {"text": ...} as a member. */
static void write_message(struct bt_json_writer *json, const char *key, struct bt_str text)
{
	bt_json_write_key(json, key);
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "text");
	bt_json_write_str(json, text);
	bt_json_write_end(json);
}

static void write_tool(struct bt_json_writer *json)
{
	bt_json_write_key(json, "tool");
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "driver");
	bt_json_write_begin_object(json);
	write_member(json, "name", "berth");
	bt_json_write_key(json, "rules");
	bt_json_write_begin_array(json);
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		bt_json_write_begin_object(json);
		write_member(json, "id", rules[i].id);
		write_message(json, "shortDescription", bt_str(rules[i].text));
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
	bt_json_write_end(json);
	bt_json_write_end(json);
}

/* A path as a URI reference. Source: RFC 3986, section 2.3. */
static void write_uri(const char *path, struct bt_buf *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

	bt_buf_clear(out);
	bt_buf_text(out, path[0] == '/' ? "file://" : "");
	for (; *path; path++) {
		if (bt_str_find((struct bt_str){plain, sizeof(plain) - 1}, *path, 0) < sizeof(plain) - 1) {
			bt_buf_char(out, *path);
		} else {
			bt_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
		}
	}
}

static void write_locations(struct bt_json_writer *json, const struct bt_app_workload *workload)
{
	struct bt_buf uri = {0};

	write_uri(workload->file, &uri);
	bt_json_write_key(json, "locations");
	bt_json_write_begin_array(json);
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "physicalLocation");
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "artifactLocation");
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "uri");
	bt_json_write_str(json, bt_buf_view(&uri));
	bt_json_write_end(json);
	if (workload->line) {
		bt_json_write_key(json, "region");
		bt_json_write_begin_object(json);
		bt_json_write_key(json, "startLine");
		bt_json_write_int(json, (int64_t)workload->line);
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
	bt_json_write_end(json);
	bt_json_write_end(json);
	bt_buf_fini(&uri);
}

static void write_result(struct bt_json_writer *json, const struct bt_check *check, uint32_t ix)
{
	const struct bt_app_workload *workload = &check->app.workloads[ix];
	struct bt_buf sentence = {0}, text = {0};

	if (bt_check_sentence(check, ix, &sentence)) {
		bt_buf_printf(&text, "%s: %.*s", workload->label, (int)sentence.len, sentence.ptr);
		bt_json_write_begin_object(json);
		write_member(json, "ruleId", rules[check->results[ix].reason ? 0 : 1].id);
		write_member(json, "level", bt_check_workload_fails(check, ix) ? "error" : "warning");
		write_message(json, "message", bt_buf_view(&text));
		if (!bt_str_is(bt_str(workload->file), "-")) {
			write_locations(json, workload);
		}
		bt_json_write_end(json);
	}
	bt_buf_fini(&sentence);
	bt_buf_fini(&text);
}

void bt_check_write_sarif(const struct bt_check *check, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out, .pretty = true};

	bt_json_write_begin_object(&json);
	write_member(&json, "$schema", SARIF_SCHEMA);
	write_member(&json, "version", "2.1.0");
	bt_json_write_key(&json, "runs");
	bt_json_write_begin_array(&json);
	bt_json_write_begin_object(&json);
	write_tool(&json);
	bt_json_write_key(&json, "results");
	bt_json_write_begin_array(&json);
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		write_result(&json, check, i);
	}
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_buf_char(out, '\n');
}
