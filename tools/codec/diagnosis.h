/* SPDX-License-Identifier: Apache-2.0
 * What is wrong with an input: the place, what was found there, and what to do about it.
 */
#pragma once

#include <stddef.h>

#include "engine/base/buf.h"

struct bt_diagnosis {
	const char *file;    /* as the user named it; "-" is standard input; NULL: unknown */
	size_t line, column; /* from 1; 0: unknown */
	const char *object;  /* "Pod team-a/web-0"; NULL: unknown */
	const char *path;    /* "spec.containers[0].image"; NULL or empty: the whole */
	const char *message;
	const char *remedy; /* NULL: none */
};

/* Hears of each problem. The strings are valid during the call only. */
typedef void bt_diagnosis_fn(void *context, const struct bt_diagnosis *diagnosis);

/* Appends "file:line:column: object: path: message; remedy" with what is known, without a line end. */
void bt_diagnosis_text(const struct bt_diagnosis *diagnosis, struct bt_buf *buf);
