/* SPDX-License-Identifier: Apache-2.0
 * A problem of an input: place, description, remedy.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"

/* What a problem may have made unreadable. */
enum bt_loss {
	BT_LOST_NOTHING = 0,
	BT_LOST_POD, /* a pod, */
	BT_LOST_PART /* something that may contain pods: a file, a document, a workload, an object without a
			kind */
};

enum bt_severity {
	BT_PROBLEM = 0, /* something is lost, or is not what it seems: a strict run ends */
	BT_UNVALIDATED, /* nothing is lost, but the API server would not accept it: a problem in strict runs,
			   a warning in others */
	BT_ADVICE	/* a warning in all */
};

struct bt_diagnosis {
	const char *file;    /* as the user named it; "-" is standard input; NULL: unknown */
	size_t line, column; /* from 1; 0: unknown */
	const char *object;  /* "Pod team-a/web-0"; NULL: unknown */
	const char *path;    /* "spec.containers[0].image"; NULL or empty: the whole */
	const char *message;
	const char *remedy; /* NULL: none */
	enum bt_loss loss;
	bool fatal; /* the run fails: reported even if warnings are off */
	enum bt_severity severity;
};

/* Called for each problem. The strings are valid during the call only. */
typedef void bt_diagnosis_fn(void *context, const struct bt_diagnosis *diagnosis);

/* Appends "file:line:column: object: path: message; remedy" with what is known, without a line end. Terminal
 * controls and invisible characters are escaped, since names and values come from the input. */
void bt_diagnosis_text(const struct bt_diagnosis *diagnosis, struct bt_buf *buf);
