/* SPDX-License-Identifier: Apache-2.0
 * Errors of a configuration: a list of texts, field paths, quoting, and the rules of names, in upstream's
 * wording. Context: one thread at a time; allocates.
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

/* Appends the errors as one line: a single one, or "[a, b]" without duplicates. */
void bt_config_errors_text(const struct bt_config_errors *errors, struct bt_buf *out_text);

void bt_config_errors_fini(struct bt_config_errors *errors);

/* A formatted text that lives as long as the errors; used for field paths. */
struct bt_str bt_config_path(struct bt_config_errors *errors, const char *format, ...) BT_PRINTF(2, 3);

/* "path: Required value: detail"; the detail may be empty. */
void bt_config_required(struct bt_config_errors *errors, struct bt_str path, const char *detail);
void bt_config_forbidden(struct bt_config_errors *errors, struct bt_str path, const char *detail);
void bt_config_duplicate(struct bt_config_errors *errors, struct bt_str path, struct bt_str value);

/* "path: Invalid value: …: detail", the value as a number, quoted or verbatim. */
void bt_config_invalid_int(
	struct bt_config_errors *errors, struct bt_str path, int64_t value, const char *detail);
void bt_config_invalid_text(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *detail);
void bt_config_invalid_raw(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *detail);
void bt_config_invalid_duration(
	struct bt_config_errors *errors, struct bt_str path, int64_t ns, const char *detail);

/* "path: Unsupported value: "…": …"; the detail lists the supported values. */
void bt_config_unsupported(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *supported);

/* Adds one error per fault of a label key. */
void bt_config_check_label_key(struct bt_config_errors *errors, struct bt_str path, struct bt_str name);

/*
 * A set of texts with the index of each one's first occurrence. Zero-initialise; end with
 * bt_config_seen_fini.
 */
struct bt_config_seen {
	struct bt_config_seen_slot *slots;
	size_t n, slot_n;
};

/*
 * Returns true when the text is new; else false, with its first ix in out_first. The text must outlive the
 * set.
 */
bool bt_config_seen_add(struct bt_config_seen *seen, struct bt_str text, uint32_t ix, uint32_t *out_first);
void bt_config_seen_fini(struct bt_config_seen *seen);
