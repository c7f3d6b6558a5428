/* SPDX-License-Identifier: Apache-2.0
 * Decoding of JSON into C structs by static tables (engine/model/schema.h). Kubernetes objects, the
 * configuration and scenarios all go through here, so that errors carry a field path everywhere. Errors are
 * the decoder's own: the first one, with a place and a remedy. strict.h collects them all, in Go's words.
 *
 * As in the API, null is the same as absent, keys are case-sensitive, and members that no table names are
 * stepped over (an error when strict). A key that is named twice is an error (the first counts when
 * tolerant). What is not in the text keeps the value it had.
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

/* What is wrong with a value, for who collects errors. */
enum bt_decode_fault {
	BT_FAULT_UNKNOWN,   /* no table names the member */
	BT_FAULT_DUPLICATE, /* the member was there before; it is read again */
	BT_FAULT_TYPE,	    /* the value at the cursor has another type than its field */
	BT_FAULT_NUMBER,    /* text is a number that the field does not hold */
	BT_FAULT_BASE64,    /* text says what is wrong */
	BT_FAULT_DURATION   /* likewise */
};

/*
 * Called for an error at decode->path, in place of decode->error, in which it may note one that ends the
 * decoding. text: of a number, of what is wrong, or empty.
 */
typedef void bt_decode_tell(
	struct bt_decode *decode, enum bt_decode_fault fault, size_t offset, struct bt_str text);

/* One decoding. The caller sets what is in front of path, and path; error holds the first error. */
struct bt_decode {
	struct bt_json *json;
	struct bt_arena *arena;
	bool strict;   /* unknown members are errors */
	bool fold;     /* as Go's encoding/json: the case of letters in names does not matter */
	bool tolerant; /* a value that cannot be read costs that value alone, and the first such error is in
			  spared; only what cannot be read as JSON ends the decoding */
	bool sorted;   /* members are met in the order of their keys, not in that of the text */
	bt_decode_tell *tell; /* collects errors, or NULL; needs tolerant. Members and keys that come twice
				 are read twice */
	void *context;	      /* of tell */
	const struct bt_path *path; /* where the object is in its document; NULL at the top */
	struct bt_decode_error error, spared;
};

/*
 * Decodes the object at the cursor into out, whose members keep their values where the text is silent.
 * Returns : false with decode->error set; the cursor then stands still, and bt_json_seek moves it unless
 * error.syntax. Owns    : strings and arrays belong to the text and to decode->arena, which must also be the
 * cursor's.
 */
bool bt_schema_decode(struct bt_decode *decode, const struct bt_schema *schema, void *out);

/* The same for an object that was entered: key, if not NULL, was read and its value is next; seen has a bit
 * for each field of the table whose member was read before. */
bool bt_schema_decode_from(struct bt_decode *decode, const struct bt_schema *schema, const struct bt_str *key,
	uint64_t seen, void *out);

/*
 * Copies all that a decoded object points to into arena, so that it needs neither the text nor the arena that
 * it was decoded into. What several members point to is copied for each.
 */
void bt_schema_own(const struct bt_schema *schema, struct bt_arena *arena, void *object);

/* The last steps of a path, the topmost first. Returns how many they are. */
uint32_t bt_path_steps(const struct bt_path *path, const struct bt_path *out_steps[BT_PATH_STEPS]);

/* For custom readers: notes an error about the value at offset. Always returns false. */
bool bt_decode_fail(struct bt_decode *decode, enum bt_status status, size_t offset, const char *remedy,
	const char *format, ...) BT_PRINTF(5, 6);

/* For custom readers: a string, reported with the path if it is none. */
bool bt_decode_string(struct bt_decode *decode, struct bt_str *out_string);
