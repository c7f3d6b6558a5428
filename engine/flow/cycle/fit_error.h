/* SPDX-License-Identifier: Apache-2.0
 * The text of why a pod fits nowhere. Source: scheduler framework FitError, v1.36.3.
 */
#pragma once

#include "engine/base/buf.h"

/* Counted reasons. Zero-initialized, it is empty. Owns: bt_fit_error_fini. */
struct bt_fit_error {
	struct bt_fit_reason {
		char *text;
		uint64_t n;
	} * reasons;
	size_t reason_n, reason_cap;
};

void bt_fit_error_fini(struct bt_fit_error *error);

/* Clears the reasons, keeps the list's memory. */
void bt_fit_error_clear(struct bt_fit_error *error);

/* Counts a reason for n more nodes. */
void bt_fit_error_add(struct bt_fit_error *error, struct bt_str reason, uint64_t n);

/* Appends "0/N nodes are available: 2 reason, 1 other.", the entries in byte order. */
void bt_fit_error_text(const struct bt_fit_error *error, uint64_t node_n, struct bt_buf *out_text);
