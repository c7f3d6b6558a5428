/* SPDX-License-Identifier: Apache-2.0
 * Pods and nodes as the API server writes them, for extenders: the engine keeps only the fields that
 * decisions depend on, an extender gets the whole object. A pod is fetched in the cycle that needs it, and
 * cached until the watch shows another version; a node is cached until the watch shows a change. Nothing is
 * fetched unless an extender is called.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/net/http.h"

struct bt_objects;

/* http: of the API server; outlives it. Owns: bt_objects_destroy. */
struct bt_objects *bt_objects_create(struct bt_http *http);
void bt_objects_destroy(struct bt_objects *objects);

/*
 * The texts of pods, without metadata.managedFields, as upstream's informers drop them. Valid until the next
 * call. Context: one thread at a time, which waits for the server.
 * Returns: false with the reason in out_error: the server does not answer, or has another pod of that name.
 */
bool bt_objects_pods(struct bt_objects *objects, const struct bt_pod_ref *pods, uint32_t n,
	const struct bt_str **out_texts, struct bt_buf *out_error);

/* The same for nodes, by name. Valid until the next call of this function. */
bool bt_objects_nodes(struct bt_objects *objects, const struct bt_str *names, uint32_t n,
	const struct bt_str **out_texts, struct bt_buf *out_error);

/* The watch has shown an object, or its deletion. Context: any thread. */
void bt_objects_update(
	struct bt_objects *objects, enum bt_watch_event_kind what, const struct bt_object *object);
