/* SPDX-License-Identifier: Apache-2.0
 * YAML as JSON text, a document at a time. Scalars mean what they mean to kubectl (YAML 1.1, as go-yaml v2
 * reads it): yes is true, 010 is eight, 2001-01-01 is a string. Aliases and merge keys are expanded within
 * bounds. Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/status.h"
#include "engine/base/str.h"

struct bt_yaml;

struct bt_yaml_error {
	enum bt_status status;
	size_t line, column; /* from 1 */
	char message[256];
	const char *remedy; /* static; may be NULL */
	/* What go-yaml says about a fault of syntax (else NULL), and the line that it names, 0 for none. */
	const char *problem;
	size_t problem_line;
};

/* Owns: destroy with bt_yaml_destroy. */
struct bt_yaml *bt_yaml_create(void);
void bt_yaml_destroy(struct bt_yaml *yaml);

/* Starts on text, which must stay until the last document was read. */
void bt_yaml_begin(struct bt_yaml *yaml, struct bt_str text);

/* A key, as JSON text, that its mapping had before, be it by merging; line is where its value begins, or what
 * is merged. */
typedef void bt_yaml_duplicate_fn(void *context, struct bt_str key, size_t line);

/* From now on a key that appears twice is reported and its last value counts, instead of being an error. */
void bt_yaml_tell_duplicates(struct bt_yaml *yaml, bt_yaml_duplicate_fn *tell, void *context);

/*
 * Converts the next document; empty ones are passed over.
 * Returns : BT_OK with the JSON text, which is valid until the next call; BT_NOT_FOUND at the end; anything
 * else: the document is bad, bt_yaml_error says why, and the next call goes on behind the next "---" line.
 */
enum bt_status bt_yaml_next(struct bt_yaml *yaml, struct bt_str *out_json);

const struct bt_yaml_error *bt_yaml_error(const struct bt_yaml *yaml);

/* The line of the YAML text from which the byte at offset of the JSON text comes. */
size_t bt_yaml_line(const struct bt_yaml *yaml, size_t offset);
