/* SPDX-License-Identifier: Apache-2.0
 * What kubectl's --validate finds in an object: unknown and duplicate members, words that the API does not
 * know, numbers out of range.
 */
#pragma once

#include "engine/model/kind.h"
#include "tools/format/schema.h"

/* Called for each fault, at a field path. remedy may be NULL. The strings are valid during the call. */
typedef void bt_validate_fn(void *context, const struct bt_decode_error *fault);

/*
 * Checks the object at the cursor and moves past it. Values of a wrong type are left to the decoder.
 * Context : one thread at a time; allocates from the cursor's arena.
 * Returns : false when the cursor stopped at invalid JSON.
 */
bool bt_validate_object(struct bt_json *json, struct bt_arena *arena, enum bt_kind kind,
	bt_validate_fn *report, void *context);
