/* SPDX-License-Identifier: Apache-2.0
 * Decoding of JSON into C structs by static tables (engine/model/schema.h). Used for Kubernetes objects, the
 * configuration and scenarios, so that all errors have a field path. It reports the first error, with place
 * and remedy. strict.h collects all errors, with Go's messages.
 *
 * As in the API, null is the same as absent, keys are case-sensitive, and unknown members are skipped (an
 * error when strict). A duplicate key is an error (when tolerant, the first one counts). Members absent from
 * the text keep their values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "engine/model/schema.h"
#include "tools/format/json.h"

#define BT_PATH_MAX    256
#define BT_PATH_STEPS  32
#define BT_MESSAGE_MAX 256

struct bt_decode_error {
	enum bt_status status; /* BT_OK: none */
	bool syntax;	       /* the rest of the document is lost */
	size_t offset;
	char path[BT_PATH_MAX]; /* such as spec.containers[0].image; empty for a syntax error outside any
				   field */
	char message[BT_MESSAGE_MAX];
	const char *remedy; /* static */
};

/* A step of the field path: a key, or an index when the key's pointer is NULL. */
struct bt_path {
	const struct bt_path *up;
	struct bt_str key;
	uint32_t index;
};

/* The kind of an error, for collecting errors. */
enum bt_decode_fault {
	BT_FAULT_UNKNOWN,   /* no table names the member */
	BT_FAULT_DUPLICATE, /* duplicate member; it is read again */
	BT_FAULT_TYPE,	    /* the value at the cursor has another type than its field */
	BT_FAULT_NUMBER,    /* text is a number that does not fit the field */
	BT_FAULT_BASE64,    /* text is the error */
	BT_FAULT_DURATION   /* likewise */
};

/*
 * Called for an error at decode->path instead of setting decode->error, which it may set to end the decoding.
 * text: a number, an error text, or empty.
 */
typedef void bt_decode_report(
	struct bt_decode *decode, enum bt_decode_fault fault, size_t offset, struct bt_str text);

/* One decoding. The caller sets the members up to and including path; error is the first error. */
struct bt_decode {
	struct bt_json *json;
	struct bt_arena *arena;
	bool strict;   /* unknown members are errors */
	bool fold;     /* as Go's encoding/json: the case of letters in names does not matter */
	bool tolerant; /* invalid values are skipped, and spared has the first such error; only invalid JSON
			  ends the decoding */
	bool sorted;   /* members are read in the order of their keys, not of the text */
	bt_decode_report
		*report; /* collects errors, or NULL; needs tolerant. Duplicate members and keys are read
				 twice */
	void *context;	 /* of report */
	const struct bt_path *path; /* where the object is in its document; NULL at the top */
	struct bt_decode_error error, spared;
};

/*
 * Decodes the object at the cursor into out, whose members keep their values where absent in the text.
 * Returns : false with decode->error set; the cursor then stops, and bt_json_seek resumes it unless
 *           error.syntax.
 * Owns    : strings and arrays belong to the text and to decode->arena, which must also be the cursor's.
 */
bool bt_schema_decode(struct bt_decode *decode, const struct bt_schema *schema, void *out);

/* The same for an object that was entered: key, if not NULL, was read and its value is next; seen has a bit
 * for each field of the table whose member was read before. */
bool bt_schema_decode_from(struct bt_decode *decode, const struct bt_schema *schema, const struct bt_str *key,
	uint64_t seen, void *out);

/*
 * Copies all data that a decoded object points to into arena, so that it is independent of the text and its
 * original arena. Shared data is copied for each pointer.
 */
void bt_schema_own(const struct bt_schema *schema, struct bt_arena *arena, void *object);

/* The last steps of a path, the topmost first. Returns their number. */
uint32_t bt_path_steps(const struct bt_path *path, const struct bt_path *out_steps[BT_PATH_STEPS]);

/* For custom readers: sets an error about the value at offset. Always returns false. */
bool bt_decode_fail(struct bt_decode *decode, enum bt_status status, size_t offset, const char *remedy,
	const char *format, ...) BT_PRINTF(5, 6);

/* For custom readers: a string, reported with the path if it is none. */
bool bt_decode_string(struct bt_decode *decode, struct bt_str *out_string);
