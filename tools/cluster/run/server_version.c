/* SPDX-License-Identifier: Apache-2.0
 * The API server's version.
 */
#include "tools/cluster/run/server_version.h"

#include "engine/base/arena.h"
#include "tools/format/json.h"
#include "tools/kube/log/log.h"

#define MAJOR 1

struct version {
	struct bt_str major, minor, git;
	struct bt_str emulated; /* the minor version whose API it has, where it says so */
};

/* "36", or "36+" of a server that somebody has changed. Returns: -1: no number. */
static int number_of(struct bt_str text)
{
	int number = text.len ? 0 : -1;

	for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < 10000; i++) {
		number = number * 10 + (text.ptr[i] - '0');
	}
	return text.len && (text.ptr[0] < '0' || text.ptr[0] > '9') ? -1 : number;
}

static bool read_version(struct bt_json *json, struct version *out)
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

bool bt_server_version_look(const struct bt_release *release, struct bt_str json)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_arena arena = {0};
	struct version version = {0};

	bt_json_begin(cursor, json, &arena);
	bool good = read_version(cursor, &version);
	struct bt_str minor = version.emulated.len ? version.emulated : version.minor;
	bool other = good && number_of(version.major) >= 0 && number_of(minor) >= 0 &&
		     (number_of(version.major) != MAJOR || number_of(minor) != (int)release->minor);

	if (other) {
		bt_log(BT_LOG_WARNING, 0,
			"The API server is of another minor version than the decisions; what only one of "
			"both knows "
			"counts for nothing. Use a scheduler of the server's version",
			bt_log_fields(bt_log_str("server", version.git), bt_log_str("minor", minor),
				bt_log_str("decisions", bt_str(release->version))));
	}
	bt_arena_fini(&arena);
	bt_json_destroy(cursor);
	return other;
}
