/* SPDX-License-Identifier: Apache-2.0
 * Reads the openb traces (nodes and pods of a GPU cluster, as CSV) into API objects with times. See README.md
 * for the representation of GPUs. Context: one thread; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/compiler.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "engine/model/object.h"

/* Second 0 of a trace as a date, January 1, 2023, since 0 means an absent time. */
#define BT_TRACE_EPOCH_S INT64_C(1672531200)

struct bt_trace_pod {
	struct bt_object object;    /* a pending pod; creation_ns counts from BT_TRACE_EPOCH_S */
	int64_t create_s, delete_s; /* virtual time; delete_s is INT64_MAX: never deleted */
	size_t order;		    /* private: index in the file */
};

/* Everything in it lives until bt_trace_fini. An empty trace is all zeroes. */
struct bt_trace {
	struct bt_object *nodes;
	struct bt_trace_pod *pods; /* in order of creation, the file's order among equals */
	size_t node_n, pod_n;
	size_t skipped_n; /* invalid rows */
	/* private: */
	struct bt_arena arena;
	size_t node_cap, pod_cap;
};

void bt_trace_fini(struct bt_trace *trace);

struct bt_openb_reader {
	bool strict; /* the first invalid row ends reading */
	/* Called for each diagnostic: file, line, column, error and remedy. NULL: ignored. */
	void (*diagnose)(void *context, const char *message);
	void *context;
};

/*
 * Reads a whole file of nodes or pods into the trace. An invalid row is reported and skipped.
 * Returns : BT_OK; BT_INVALID when the header lacks a column, no row is usable, or with strict a row is
 * invalid; BT_RANGE when the file is larger than a gigabyte; BT_IO when it is unreadable. All are reported.
 */
enum bt_status bt_openb_read_nodes(
	const struct bt_openb_reader *reader, const char *path, struct bt_trace *trace) BT_MUST_CHECK;
enum bt_status bt_openb_read_pods(
	const struct bt_openb_reader *reader, const char *path, struct bt_trace *trace) BT_MUST_CHECK;

/* The same from memory; name is used in diagnostics. The text may be freed afterwards. */
enum bt_status bt_openb_parse_nodes(const struct bt_openb_reader *reader, const char *name,
	struct bt_str text, struct bt_trace *trace) BT_MUST_CHECK;
enum bt_status bt_openb_parse_pods(const struct bt_openb_reader *reader, const char *name, struct bt_str text,
	struct bt_trace *trace) BT_MUST_CHECK;
