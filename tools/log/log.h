/* SPDX-License-Identifier: Apache-2.0
 * Structured logs on standard error: klog's text or JSON, as kube-scheduler writes them. A line is one write.
 * Never a secret: callers do not pass any. Context: any thread; allocates nothing for usual lines.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"

enum bt_log_level { BT_LOG_INFO = 0, BT_LOG_WARNING, BT_LOG_ERROR };
enum bt_log_format { BT_LOG_TEXT = 0, BT_LOG_JSON };

struct bt_log_field {
	const char *key; /* NULL ends a list */
	enum { BT_LOG_FIELD_STR = 0, BT_LOG_FIELD_INT, BT_LOG_FIELD_REAL, BT_LOG_FIELD_POD } kind;
	struct bt_str text, namespace_; /* STR: text; POD: namespace_/text */
	int64_t number;
	double real;
};

#define bt_log_str(key, value)	((struct bt_log_field){(key), BT_LOG_FIELD_STR, .text = (value)})
#define bt_log_int(key, value)	((struct bt_log_field){(key), BT_LOG_FIELD_INT, .number = (value)})
#define bt_log_real(key, value) ((struct bt_log_field){(key), BT_LOG_FIELD_REAL, .real = (value)})
#define bt_log_pod(namespace, name)                                                                          \
	((struct bt_log_field){"pod", BT_LOG_FIELD_POD, .text = (name), .namespace_ = (namespace)})

/* verbosity: lines above it are not written (-v). Before any other thread logs. */
void bt_log_setup(enum bt_log_format format, int verbosity);

/* Is a line of that verbosity written? */
bool bt_log_enabled(int verbosity);

/* One line. verbosity counts for BT_LOG_INFO only. fields: ended by a NULL key; NULL: none. */
void bt_log(enum bt_log_level level, int verbosity, const char *message, const struct bt_log_field *fields);

#define bt_log_fields(...) ((const struct bt_log_field[]){__VA_ARGS__, {.key = NULL}})
