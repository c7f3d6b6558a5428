/* SPDX-License-Identifier: Apache-2.0
 * An API server's output about pods: lists and events, as JSON and as protobuf.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"

struct pod {
	const char *name;
	uint32_t uid; /* 0: none */
	uint64_t version;
	const char *node; /* or NULL */
};

/* Damage of pods written from now on: a label; spec.priority as a text. */
enum poison { CLEAN = 0, NOT_UTF8, BAD_VALUE };

extern enum poison server_poison;

enum form { JSON = 0, PROTO, FORM_N };

/* The Content-Type. */
const char *type_of_list(enum form form);
const char *type_of_watch(enum form form);

/* Appends a page of a list. */
void write_list(struct bt_buf *out, enum form form, uint64_t version, const char *continue_,
	const struct pod *pods, uint32_t n);

/* Appends an event: of a pod; of a bookmark, which may end the initial events; of a Status. */
void write_event(struct bt_buf *out, enum form form, const char *type, const struct pod *pod);
void write_bookmark(struct bt_buf *out, enum form form, uint64_t version, bool initial_end);
void write_status_event(
	struct bt_buf *out, enum form form, int32_t code, const char *reason, const char *message);

/* A Status as a body. */
void write_status(struct bt_buf *out, int32_t code, const char *reason, const char *message);
