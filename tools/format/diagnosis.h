/* SPDX-License-Identifier: Apache-2.0
 * What is wrong with an input: the place, what was found there, and what to do about it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"

/* What a problem may have kept from being read. */
enum bt_loss {
	BT_LOST_NOTHING = 0,
	BT_LOST_POD, /* a pod, */
	BT_LOST_PART /* something in which pods may have been: a file, a document, a workload, an object of no
			kind */
};

struct bt_diagnosis {
	const char *file;    /* as the user named it; "-" is standard input; NULL: unknown */
	size_t line, column; /* from 1; 0: unknown */
	const char *object;  /* "Pod team-a/web-0"; NULL: unknown */
	const char *path;    /* "spec.containers[0].image"; NULL or empty: the whole */
	const char *message;
	const char *remedy; /* NULL: none */
	enum bt_loss loss;
	bool fatal; /* the whole run comes to nothing: said also to who wants no warnings */
};

/* Hears of each problem. The strings are valid during the call only. */
typedef void bt_diagnosis_fn(void *context, const struct bt_diagnosis *diagnosis);

/* Appends "file:line:column: object: path: message; remedy" with what is known, without a line end. What a
 * terminal would obey, or not show, is escaped: names and values come from the input. */
void bt_diagnosis_text(const struct bt_diagnosis *diagnosis, struct bt_buf *buf);
