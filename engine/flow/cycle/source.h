/* SPDX-License-Identifier: Apache-2.0
 * Stage 1: where objects come from. A source hands over one object after the other; files, traces and later
 * watches are sources. The engine takes any object by one call.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* A source of objects. init: const while it is read. */
struct bt_source {
	/* The next object, which the caller may change and which dies with the next call; NULL at the
	 * end. */
	struct bt_object *(*next)(void *context);
	void *context;
};

/*
 * Hands one object to the engine, by its kind; kinds that the engine does not know are left alone.
 * Context : the scheduling thread.
 * Returns : as bt_engine_apply_node and bt_engine_add_pod for nodes and pods, whose index is set then, and of
 *           a pod what became of it; as bt_engine_apply_object for other kinds.
 */
enum bt_status bt_engine_apply(
	struct bt_engine *engine, const struct bt_object *object, enum bt_entry *out_entry, uint32_t *out_ix);
