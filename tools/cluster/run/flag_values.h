/* SPDX-License-Identifier: Apache-2.0
 * Values of flags in the syntax of kube-scheduler's flags. Source: spf13/pflag v1.0.9 and component-base's
 * logs/api/v1, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "tools/cli/invocation.h"

/* Reads an integer as Go's strconv.ParseInt with base 0: "0x1F", "0b11", "0o17", "017", "1_000", "-1".
 * Returns: false when it is invalid, or beyond int64. Context: any thread. */
bool bt_flag_integer(struct bt_str text, int64_t *out_value);

/* Whether it is PATTERN=N, or empty, as after a trailing comma in --vmodule. */
bool bt_flag_is_vmodule(struct bt_str word);

/* Whether the text is empty or only blanks. */
bool bt_flag_is_blank(struct bt_str text);

/*
 * Finds a comma-separated item, in all values of a flag, that good rejects. An empty value has no items; a
 * value of a single comma has two.
 * Returns: the value that contains it, and the item in out_word; NULL when there is none.
 */
const char *bt_flag_wrong_word(const struct bt_invocation *invocation, const char *name,
	bool (*good)(struct bt_str word), struct bt_str *out_word);

/* The text without spaces around it. */
struct bt_str bt_flag_trim(struct bt_str text);
