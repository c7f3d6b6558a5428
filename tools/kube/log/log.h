/* SPDX-License-Identifier: Apache-2.0
 * Structured logs on standard error: klog's text or JSON, as kube-scheduler writes them. A line is one write
 * of at most BT_LOG_LINE_BYTES, so that a pipe never mixes two. Never a secret: callers do not pass any.
 * Context: any thread; allocates nothing; a line that cannot be written is counted and dropped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/str.h"

enum bt_log_level { BT_LOG_INFO = 0, BT_LOG_WARNING, BT_LOG_ERROR };
enum bt_log_format { BT_LOG_TEXT = 0, BT_LOG_JSON };

/* The maximum line length with its end: a pipe's atomic write (PIPE_BUF). */
#define BT_LOG_LINE_BYTES 4096
/* The maximum length of a message or value; "…" marks truncation. */
#define BT_LOG_VALUE_BYTES 1024

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
/* An object, as klog.KObj formats it. */
#define bt_log_object(key, namespace, name)                                                                  \
	((struct bt_log_field){(key), BT_LOG_FIELD_POD, .text = (name), .namespace_ = (namespace)})
#define bt_log_pod(namespace, name) bt_log_object("pod", namespace, name)

/* verbosity: lines above it are not written (-v). Ignores SIGPIPE, so that a closed standard error does not
 * end the process. Call it before other threads log. */
void bt_log_setup(enum bt_log_format format, int verbosity);

/* Changes the verbosity. Context: any thread. */
void bt_log_set_verbosity(int verbosity);

/* Is a line of that verbosity written? */
bool bt_log_enabled(int verbosity);

/* One line. verbosity counts for BT_LOG_INFO only; fields of a disabled line are not evaluated. fields:
 * ended by a NULL key; NULL: none. An error's reason goes under the key "err". */
#define bt_log(level, verbosity, message, fields)                                                            \
	((level) != BT_LOG_INFO || bt_log_enabled(verbosity)                                                 \
			? bt_log_at(__FILE_NAME__, __LINE__, (level), (verbosity), (message), (fields))      \
			: (void)0)
void bt_log_at(const char *file, int line, enum bt_log_level level, int verbosity, const char *message,
	const struct bt_log_field *fields);

#define bt_log_fields(...) ((const struct bt_log_field[]){__VA_ARGS__, {.key = NULL}})

/* The number of lines that could not be written. Context: any thread. */
uint64_t bt_log_lost_n(void);

/* Rate limit of a repeated line. All zeroes: initial state. One per call site. */
struct bt_log_limit {
	_Atomic int64_t next_ns; /* atomic: not logged before then; relaxed: the thread that advances it
				    logs */
	_Atomic uint64_t held_n; /* atomic: relaxed */
};

/*
 * Should a repeated line be written now (bt_clock_monotonic_ns)? Once per interval_ns, over all threads.
 * Context: any thread. Returns: true, with the number of lines suppressed since the last one in out_held_n.
 */
bool bt_log_due(struct bt_log_limit *limit, int64_t now_ns, int64_t interval_ns, uint64_t *out_held_n);
