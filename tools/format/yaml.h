/* SPDX-License-Identifier: Apache-2.0
 * Converts YAML to JSON text, one document at a time. Scalars have kubectl's types (YAML 1.1 as in go-yaml
 * v2): yes is true, 010 is eight, 2001-01-01 is a string. Aliases and merge keys are expanded within bounds.
 * Context: one thread at a time.
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
	/* go-yaml's text for a syntax error (else NULL), and its line number, 0 for none. */
	const char *problem;
	size_t problem_line;
};

/* Owns: destroy with bt_yaml_destroy. */
struct bt_yaml *bt_yaml_create(void);
void bt_yaml_destroy(struct bt_yaml *yaml);

/* Starts on text, which must stay until the last document was read. */
void bt_yaml_begin(struct bt_yaml *yaml, struct bt_str text);

/* Called for a duplicate key, as JSON text, also by merging; line: where its value or the merged mapping
 * begins. */
typedef void bt_yaml_duplicate_fn(void *context, struct bt_str key, size_t line);

/* Makes duplicate keys reported, with the last value used, instead of an error. */
void bt_yaml_report_duplicates(struct bt_yaml *yaml, bt_yaml_duplicate_fn *report, void *context);

/*
 * Converts the next document; skips empty ones.
 * Returns : BT_OK with the JSON text, which is valid until the next call; BT_NOT_FOUND at the end; anything
 * else: the document is invalid, bt_yaml_error has the reason, and the next call continues after the next
 * "---" line.
 */
enum bt_status bt_yaml_next(struct bt_yaml *yaml, struct bt_str *out_json);

const struct bt_yaml_error *bt_yaml_error(const struct bt_yaml *yaml);

/* The line of the YAML text from which the byte at offset of the JSON text comes. */
size_t bt_yaml_line(const struct bt_yaml *yaml, size_t offset);
