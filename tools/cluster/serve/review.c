/* SPDX-License-Identifier: Apache-2.0
 * Reviews. Source: authentication.k8s.io/v1 and authorization.k8s.io/v1.
 */
#include "tools/cluster/serve/review.h"

#include "engine/base/arena.h"
#include "engine/base/quote.h"
#include "tools/format/json.h"

void bt_user_fini(struct bt_user *user)
{
	bt_buf_fini(&user->name);
	bt_buf_fini(&user->uid);
	bt_buf_fini(&user->groups);
	bt_buf_fini(&user->extra);
}

static void copy(const struct bt_buf *from, struct bt_buf *to)
{
	bt_buf_clear(to);
	bt_buf_str(to, bt_buf_view(from));
}

void bt_user_copy(const struct bt_user *from, struct bt_user *to)
{
	copy(&from->name, &to->name);
	copy(&from->uid, &to->uid);
	copy(&from->groups, &to->groups);
	copy(&from->extra, &to->extra);
	to->privileged = from->privileged;
}

void bt_user_begin_groups(struct bt_user *user)
{
	bt_buf_clear(&user->groups);
	bt_buf_char(&user->groups, '[');
	user->privileged = false;
}

void bt_user_add_group(struct bt_user *user, struct bt_str group)
{
	bt_buf_text(&user->groups, user->groups.len > 1 ? "," : "");
	bt_quote_json(&user->groups, group);
	user->privileged = user->privileged || bt_str_is(group, "system:masters");
}

void bt_user_end_groups(struct bt_user *user, bool authenticated)
{
	if (!authenticated) {
		bt_user_add_group(user, bt_str("system:authenticated"));
	}
	bt_buf_char(&user->groups, ']');
}

void bt_review_token(struct bt_str token, struct bt_buf *out_json)
{
	bt_buf_text(out_json, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
			      "\"spec\":{\"token\":");
	bt_quote_json(out_json, token);
	bt_buf_text(out_json, "}}");
}

void bt_review_access(
	const struct bt_user *user, struct bt_str path, const char *verb, struct bt_buf *out_json)
{
	bt_buf_text(out_json, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
			      "\"spec\":{\"nonResourceAttributes\":{\"path\":");
	bt_quote_json(out_json, path);
	bt_buf_text(out_json, ",\"verb\":");
	bt_quote_json(out_json, bt_str(verb));
	bt_buf_text(out_json, "},\"user\":");
	bt_quote_json(out_json, bt_buf_view(&user->name));
	if (user->uid.len) {
		bt_buf_text(out_json, ",\"uid\":");
		bt_quote_json(out_json, bt_buf_view(&user->uid));
	}
	if (user->extra.len) {
		bt_buf_text(out_json, ",\"extra\":");
		bt_buf_str(out_json, bt_buf_view(&user->extra));
	}
	bt_buf_text(out_json, ",\"groups\":");
	bt_buf_str(out_json, user->groups.len ? bt_buf_view(&user->groups) : bt_str("[]"));
	bt_buf_text(out_json, "}}");
}

/* ---- reading ---- */

struct review_reader {
	struct bt_json *json;
	struct bt_arena arena;
	bool whole; /* all of it is valid JSON, including what follows the part that is read */
};

static void review_begin(struct review_reader *reader, struct bt_str json)
{
	*reader = (struct review_reader){.json = bt_json_create()};
	bt_json_begin(reader->json, json, &reader->arena);
	reader->whole = bt_json_skip(reader->json) && !bt_json_more(reader->json);
	bt_json_begin(reader->json, json, &reader->arena);
}

/* Returns: whether everything was JSON with the expected types. */
static bool review_end(struct review_reader *reader, struct bt_buf *out_error)
{
	const struct bt_json_error *error = bt_json_error(reader->json);
	bool good = reader->whole && error->status == BT_OK;

	if (!good && out_error) {
		bt_buf_printf(out_error, "the answer is not as expected: %s",
			error->status == BT_OK ? "it is not one JSON document" : error->text);
	}
	bt_json_destroy(reader->json);
	bt_arena_fini(&reader->arena);
	return good;
}

/* Enters the object under a key of the object at the cursor. The caller reads only to its end. */
static bool review_enter(struct bt_json *json, const char *wanted)
{
	struct bt_str key;

	if (!bt_json_enter_object(json)) {
		return false;
	}
	while (bt_json_next_key(json, &key)) {
		if (bt_str_is(key, wanted) && bt_json_peek(json) == BT_JSON_OBJECT) {
			return bt_json_enter_object(json);
		}
		bt_json_skip(json);
	}
	return false;
}

static void read_text(struct bt_json *json, struct bt_buf *out)
{
	struct bt_str text;

	if (bt_json_peek(json) == BT_JSON_NULL) {
		bt_json_skip(json);
	} else if (bt_json_string(json, &text)) {
		bt_buf_clear(out);
		bt_buf_str(out, text);
	}
}

static void read_groups(struct bt_json *json, struct bt_user *user)
{
	bool authenticated = false;
	struct bt_str group;

	bt_user_begin_groups(user);
	if (bt_json_peek(json) == BT_JSON_NULL) {
		bt_json_skip(json);
	} else if (bt_json_enter_array(json)) {
		while (bt_json_next_element(json)) {
			if (!bt_json_string(json, &group)) {
				break;
			}
			authenticated = authenticated || bt_str_is(group, "system:authenticated");
			bt_user_add_group(user, group);
		}
	}
	bt_user_end_groups(user, authenticated);
}

static void read_user(struct bt_json *json, struct bt_user *user)
{
	struct bt_str key, raw;

	if (!bt_json_enter_object(json)) {
		return;
	}
	while (bt_json_next_key(json, &key)) {
		if (bt_str_is(key, "username")) {
			read_text(json, &user->name);
		} else if (bt_str_is(key, "uid")) {
			read_text(json, &user->uid);
		} else if (bt_str_is(key, "groups")) {
			read_groups(json, user);
		} else if (bt_str_is(key, "extra") && bt_json_peek(json) == BT_JSON_OBJECT &&
			   bt_json_raw(json, &raw)) {
			bt_buf_clear(&user->extra);
			bt_buf_str(&user->extra, raw);
		} else if (!bt_json_skip(json)) {
			break;
		}
	}
}

bool bt_review_read_token(
	struct bt_str json, bool *out_authenticated, struct bt_user *out_user, struct bt_buf *out_error)
{
	struct review_reader reader;
	struct bt_str key;
	bool found;

	*out_authenticated = false;
	bt_user_begin_groups(out_user);
	bt_user_end_groups(out_user, false);
	review_begin(&reader, json);
	found = review_enter(reader.json, "status");
	while (found && bt_json_next_key(reader.json, &key)) {
		if (bt_str_is(key, "authenticated")) {
			bt_json_bool(reader.json, out_authenticated);
		} else if (bt_str_is(key, "user")) {
			read_user(reader.json, out_user);
		} else {
			bt_json_skip(reader.json);
		}
	}
	bool good = review_end(&reader, out_error);

	if (good && !found) {
		bt_buf_text(out_error, "the answer has no status");
	}
	return good && found;
}

bool bt_review_read_access(
	struct bt_str json, bool *out_allowed, struct bt_buf *out_reason, struct bt_buf *out_error)
{
	struct review_reader reader;
	struct bt_str key;
	bool found, denied = false;

	*out_allowed = false;
	review_begin(&reader, json);
	found = review_enter(reader.json, "status");
	while (found && bt_json_next_key(reader.json, &key)) {
		if (bt_str_is(key, "allowed")) {
			bt_json_bool(reader.json, out_allowed);
		} else if (bt_str_is(key, "denied")) {
			bt_json_bool(reader.json, &denied);
		} else if (bt_str_is(key, "reason")) {
			read_text(reader.json, out_reason);
		} else {
			bt_json_skip(reader.json);
		}
	}
	bool good = review_end(&reader, out_error);

	if (good && !found) {
		bt_buf_text(out_error, "the answer has no status");
	}
	*out_allowed = good && found && *out_allowed && !denied;
	return good && found;
}

bool bt_review_read_data(struct bt_str json, const char *wanted, struct bt_buf *out_text)
{
	struct review_reader reader;
	struct bt_str key;

	bt_buf_clear(out_text);
	review_begin(&reader, json);
	bool found = review_enter(reader.json, "data");

	while (found && bt_json_next_key(reader.json, &key)) {
		if (bt_str_is(key, wanted)) {
			read_text(reader.json, out_text);
		} else {
			bt_json_skip(reader.json);
		}
	}
	return review_end(&reader, NULL) && out_text->len > 0;
}

bool bt_review_read_list(struct bt_str json, struct bt_arena *arena, struct bt_str_list *out_list)
{
	struct review_reader reader;
	uint32_t n = 0;

	*out_list = (struct bt_str_list){0};
	if (!json.len) {
		return true;
	}
	review_begin(&reader, json);
	struct bt_str *items =
		bt_arena_zalloc(arena, (json.len / 2 + 1) * sizeof(*items)); /* "" and a comma each */

	if (bt_json_enter_array(reader.json)) {
		while (bt_json_next_element(reader.json) && bt_json_string(reader.json, &items[n])) {
			items[n].ptr = bt_arena_copy(arena, items[n].ptr, items[n].len);
			n++;
		}
	}
	bool good = review_end(&reader, NULL);

	out_list->items = items;
	out_list->n = good ? n : 0;
	return good;
}
