/* SPDX-License-Identifier: Apache-2.0
 * Errors of a configuration: a list of texts, field paths, quoting, and the rules of names, as upstream
 * spells them. Context: one thread at a time; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "engine/base/str.h"

/* A list of texts. Owns: its arena; end with bt_config_errors_fini. */
struct bt_config_errors {
	struct bt_arena arena;
	struct bt_str *items;
	size_t n, cap;
};

/* Adds one formatted error. */
void bt_config_errors_add(struct bt_config_errors *errors, const char *format, ...) BT_PRINTF(2, 3);

/* Appends the errors as one line: alone, or as "[a, b]" without repetitions. */
void bt_config_errors_text(const struct bt_config_errors *errors, struct bt_buf *out_text);

void bt_config_errors_fini(struct bt_config_errors *errors);

/* A formatted text that lives as long as the errors; used for field paths. */
struct bt_str bt_config_path(struct bt_config_errors *errors, const char *format, ...) BT_PRINTF(2, 3);

/* "path: Required value: detail"; the detail may be empty. */
void bt_config_required(struct bt_config_errors *errors, struct bt_str path, const char *detail);
void bt_config_forbidden(struct bt_config_errors *errors, struct bt_str path, const char *detail);
void bt_config_duplicate(struct bt_config_errors *errors, struct bt_str path, struct bt_str value);

/* "path: Invalid value: …: detail", the value as a number, as a quoted text or as it is. */
void bt_config_invalid_int(
	struct bt_config_errors *errors, struct bt_str path, int64_t value, const char *detail);
void bt_config_invalid_text(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *detail);
void bt_config_invalid_raw(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *detail);
void bt_config_invalid_duration(
	struct bt_config_errors *errors, struct bt_str path, int64_t ns, const char *detail);

/* "path: Unsupported value: "…": …"; the detail lists what is supported. */
void bt_config_unsupported(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *supported);

/* One error per fault of a name that must be a label key. */
void bt_config_check_label_key(struct bt_config_errors *errors, struct bt_str path, struct bt_str name);

/* A set of texts that remembers where each came first. Zero-initialise; end with bt_config_seen_fini. */
struct bt_config_seen {
	struct bt_config_seen_slot *slots;
	size_t n, slot_n;
};

/* Returns true when the text is new; else its first ix in out_first. The text must outlive the set. */
bool bt_config_seen_add(struct bt_config_seen *seen, struct bt_str text, uint32_t ix, uint32_t *out_first);
void bt_config_seen_fini(struct bt_config_seen *seen);
