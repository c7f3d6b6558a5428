/* SPDX-License-Identifier: Apache-2.0
 * Reads Kubernetes objects from text: documents, nested lists, JSON and YAML, flattened into a sequence of
 * objects.
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
	uint64_t unreadable; /* files and folders that are missing or unreadable
			      */
	uint64_t bytes;	     /* of text, after unpacking */
	uint64_t ahead;	     /* of the objects: decoded ahead */
};

/* report is called for each problem; strict callers stop calling next. Owns: destroy with
 * bt_object_reader_destroy. */
struct bt_object_reader *bt_object_reader_create(bt_diagnosis_fn *report, void *context);
void bt_object_reader_destroy(struct bt_object_reader *reader);

/* Adds a file, a directory or "-" to what is read; see bt_input_add. */
enum bt_status bt_object_reader_add_path(struct bt_object_reader *reader, const char *path);

/*
 * Lets helper_n threads decode ahead in long JSON lists, in ranges of range_bytes (0: default), a few per
 * thread. Objects, their order and reports are the same as without. Context: before the first object.
 */
void bt_object_reader_read_ahead(struct bt_object_reader *reader, uint32_t helper_n, size_t range_bytes);

/*
 * Lets the reader report what an API server would not accept (BT_UNVALIDATED): in objects without a uid,
 * unknown and duplicate members, unknown words and numbers out of range; versions of kinds that are not read.
 */
void bt_object_reader_validate(struct bt_object_reader *reader, bool validates);

/* Reads text next, before any path. name is for diagnoses. The caller keeps both, which must outlive the
 * reading. */
void bt_object_reader_begin_text(
	struct bt_object_reader *reader, const char *name, struct bt_str text, enum bt_format format);

/* The same for a text of either format: as bt_input_format has it, but YAML may begin with a brace, too. */
void bt_object_reader_begin_any(struct bt_object_reader *reader, const char *name, struct bt_str text);

/* Returns the next valid object, or NULL at the end. Owns: the reader; valid until the next call. */
const struct bt_object *bt_object_reader_next(struct bt_object_reader *reader);

/* The file of the last object, as bt_diagnosis names it, valid until the next call of bt_object_reader_next,
 * and the line that it begins on; 0: unknown, because it was decoded ahead. */
const char *bt_object_reader_file(const struct bt_object_reader *reader);
size_t bt_object_reader_line(struct bt_object_reader *reader);

struct bt_object_counts bt_object_reader_counts(const struct bt_object_reader *reader);

/*
 * Decodes the one object at decode's cursor, for documents that hold objects, such as scenarios. Lists are
 * rejected.
 * Returns : false with decode->error set and the cursor stopped, as bt_schema_decode; out may be half filled.
 * Owns    : decode->arena and the text.
 */
bool bt_object_decode(struct bt_decode *decode, struct bt_object *out);

/* Copies all data that an object points to into arena, so that it is self-contained. Context: any thread. */
void bt_object_own(struct bt_object *object, struct bt_arena *arena);

/* Writes "Pod team-a/web-0" for an object, as far as it is known. Returns the length. */
size_t bt_object_name(const struct bt_object *object, char *out, size_t cap);
