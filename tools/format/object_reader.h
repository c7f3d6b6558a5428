/* SPDX-License-Identifier: Apache-2.0
 * Kubernetes objects out of text: documents, lists in lists, JSON and YAML, all flattened into one object
 * after another.
 *
 *   begin_text / add_path --> next --> object (valid until the next call) ... --> NULL
 *                              |  a bad object is reported, and the next one follows
 *
 * Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/object.h"
#include "tools/format/diagnosis.h"
#include "tools/format/input.h"
#include "tools/format/schema.h"

struct bt_object_reader;

struct bt_object_counts {
	uint64_t files, ignored_files, documents, objects, errors;
	uint64_t unreadable; /* files and folders that are not there, or that the system does not let be read
			      */
	uint64_t bytes;	     /* of text, after unpacking */
	uint64_t ahead;	     /* of the objects: decoded before the reader got there */
};

/* report hears of each problem; strict callers stop calling next. Owns: destroy with
 * bt_object_reader_destroy. */
struct bt_object_reader *bt_object_reader_create(bt_diagnosis_fn *report, void *context);
void bt_object_reader_destroy(struct bt_object_reader *reader);

/* Adds a file, a directory or "-" to what is read; see bt_input_add. */
enum bt_status bt_object_reader_add_path(struct bt_object_reader *reader, const char *path);

/*
 * Lets helper_n threads decode what follows in long lists of JSON, in ranges of so many bytes (0: a usual
 * number), of which a few per thread are kept. Objects, their order and what is reported are the same as
 * without. Context: before the first object.
 */
void bt_object_reader_read_ahead(struct bt_object_reader *reader, uint32_t helper_n, size_t range_bytes);

/* Reads text next, before any path. name is for diagnoses. Both stay the caller's and must outlive the
 * reading. */
void bt_object_reader_begin_text(
	struct bt_object_reader *reader, const char *name, struct bt_str text, enum bt_format format);

/* The same for a text of either format: as bt_input_format has it, but YAML may begin with a brace, too. */
void bt_object_reader_begin_any(struct bt_object_reader *reader, const char *name, struct bt_str text);

/* Returns the next good object, or NULL at the end. Owns: the reader; it dies with the next call. */
const struct bt_object *bt_object_reader_next(struct bt_object_reader *reader);

struct bt_object_counts bt_object_reader_counts(const struct bt_object_reader *reader);

/*
 * Decodes the one object at decode's cursor, for documents that hold objects, such as scenarios. Lists are
 * refused. Returns : false with decode->error set and the cursor standing still, as bt_schema_decode; out may
 * be half filled. Owns    : decode->arena and the text.
 */
bool bt_object_decode(struct bt_decode *decode, struct bt_object *out);

/* Copies all that an object points to into arena: from then on it needs nothing else. Context: any thread. */
void bt_object_own(struct bt_object *object, struct bt_arena *arena);

/* Writes "Pod team-a/web-0" for an object, as far as it is known. Returns the length. */
size_t bt_object_name(const struct bt_object *object, char *out, size_t cap);
