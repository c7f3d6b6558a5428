/* SPDX-License-Identifier: Apache-2.0
 * TokenReviews and SubjectAccessReviews as JSON, in both directions. Pure except for allocations.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/object.h"

/* A user, as in reviews. All zeroes: none. */
struct bt_user {
	struct bt_buf name, uid;
	struct bt_buf groups; /* a JSON array of strings */
	struct bt_buf extra;  /* a JSON object, or empty */
	bool privileged;      /* in system:masters */
};

void bt_user_fini(struct bt_user *user);
void bt_user_copy(const struct bt_user *from, struct bt_user *to);

/* Starts an empty list of groups; adds one; ends the list, with system:authenticated if that is missing. */
void bt_user_begin_groups(struct bt_user *user);
void bt_user_add_group(struct bt_user *user, struct bt_str group);
void bt_user_end_groups(struct bt_user *user, bool authenticated);

void bt_review_token(struct bt_str token, struct bt_buf *out_json);
void bt_review_access(
	const struct bt_user *user, struct bt_str path, const char *verb, struct bt_buf *out_json);

/* Parses the result of a review. Returns: false with the reason in out_error when it is not a result. */
bool bt_review_read_token(
	struct bt_str json, bool *out_authenticated, struct bt_user *out_user, struct bt_buf *out_error);
bool bt_review_read_access(
	struct bt_str json, bool *out_allowed, struct bt_buf *out_reason, struct bt_buf *out_error);

/* A member of a ConfigMap's data. Returns: false when it is missing or empty. */
bool bt_review_read_data(struct bt_str json, const char *key, struct bt_buf *out_text);

/* A JSON array of strings; an empty text: none. Returns: false when it is something else. Owns: texts live in
 * the arena. */
bool bt_review_read_list(struct bt_str json, struct bt_arena *arena, struct bt_str_list *out_list);
