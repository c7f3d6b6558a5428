/* SPDX-License-Identifier: Apache-2.0
 * The API server's version.
 */
#include "tools/cluster/run/server_version.h"

#include <stdio.h>

#include "engine/base/arena.h"
#include "tools/cli/interrupt.h"
#include "tools/cluster/net/http.h"
#include "tools/format/json.h"

#define MAJOR	 1
#define FETCH_NS INT64_C(5000000000)

struct version_answer {
	struct bt_str major, minor, git;
	struct bt_str emulated; /* minor of the emulated version, if it emulates */
};

/* "36", or "36+" of a modified server. Returns: -1: not a number. */
static int number_of(struct bt_str text)
{
	int number = text.len ? 0 : -1;

	for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < 10000; i++) {
		number = number * 10 + (text.ptr[i] - '0');
	}
	return text.len && (text.ptr[0] < '0' || text.ptr[0] > '9') ? -1 : number;
}

static bool read_version(struct bt_json *json, struct version_answer *out)
{
	struct bt_str key;

	if (!bt_json_enter_object(json)) {
		return false;
	}
	while (bt_json_next_key(json, &key)) {
		struct bt_str *to = bt_str_is(key, "major")	       ? &out->major
				    : bt_str_is(key, "minor")	       ? &out->minor
				    : bt_str_is(key, "emulationMinor") ? &out->emulated
				    : bt_str_is(key, "gitVersion")     ? &out->git
								       : NULL;

		if (!(to ? bt_json_string(json, to) : bt_json_skip(json))) {
			return false;
		}
	}
	return true;
}

bool bt_server_version_read(struct bt_str json, struct bt_server_version *out_version)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_arena arena = {0};
	struct version_answer version = {0};

	bt_json_begin(cursor, json, &arena);
	bool good = read_version(cursor, &version) && number_of(version.major) == MAJOR;
	int minor = number_of(version.emulated.len ? version.emulated : version.minor);

	good = good && minor >= 0;
	if (good) {
		out_version->minor = minor;
		snprintf(out_version->git, sizeof(out_version->git), "%.*s", BT_STR_ARG(version.git));
	}
	bt_arena_fini(&arena);
	bt_json_destroy(cursor);
	return good;
}

static enum bt_server_answer take_version(const struct bt_http_head *head, const struct bt_buf *body,
	struct bt_server_version *out_version, struct bt_buf *out_error)
{
	if (head->status == 429 || head->status >= 500) {
		bt_buf_printf(out_error, "/version was answered with %u", head->status);
		return BT_SERVER_UNREACHABLE;
	}
	if (head->status != 200 || !bt_server_version_read(bt_buf_view(body), out_version)) {
		bt_buf_printf(out_error,
			head->status == 200 ? "/version is no version" : "/version was answered with %u",
			head->status);
		return BT_SERVER_NO_VERSION;
	}
	return BT_SERVER_KNOWN;
}

enum bt_server_answer bt_server_version_get(const struct bt_client_config *access,
	struct bt_server_version *out_version, struct bt_buf *out_error)
{
	const struct bt_http_call call = {
		.path = BT_STR("/version"), .accept = BT_STR("application/json"), .timeout_ns = FETCH_NS};
	struct bt_http_head head = {.status = 0};
	struct bt_buf body = {0};
	enum bt_server_answer answer = BT_SERVER_UNREACHABLE;
	struct bt_http *http = bt_http_create(
		&(struct bt_http_options){
			.access = access, .name = "version", .gives_up = bt_interrupt_pending},
		out_error);

	if (http && bt_http_fetch(http, &call, &head, &body, out_error) == BT_HTTP_ANSWERED) {
		answer = take_version(&head, &body, out_version, out_error);
	}
	bt_http_destroy(http);
	bt_buf_fini(&body);
	return answer;
}

const struct bt_release *bt_server_version_release(const struct bt_server_version *version)
{
	const struct bt_release *release = NULL, *next;

	for (uint32_t i = 0; (next = bt_release_at(i)) && (int)next->minor <= version->minor; i++) {
		release = next;
	}
	return release;
}
