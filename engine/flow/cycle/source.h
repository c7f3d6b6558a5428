/* SPDX-License-Identifier: Apache-2.0
 * Stage 1: sources of objects. A source returns one object after the other, for example from a file or trace;
 * the engine applies objects of all kinds by one call.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* A source of objects. init: const while it is read. */
struct bt_source {
	/* The next object, which the caller may change, valid until the next call; NULL at the end. */
	struct bt_object *(*next)(void *context);
	void *context;
};

/*
 * Applies an object by its kind; ignores unknown kinds.
 * Context : the scheduling thread.
 * Returns : as bt_engine_apply_node and bt_engine_add_pod for nodes and pods, with the index and, of a pod,
 *           the state in which it was entered; as bt_engine_apply_object for other kinds.
 */
enum bt_status bt_engine_apply(
	struct bt_engine *engine, const struct bt_object *object, enum bt_entry *out_entry, uint32_t *out_ix);
