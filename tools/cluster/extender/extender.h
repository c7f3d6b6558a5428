/* SPDX-License-Identifier: Apache-2.0
 * Stages 5 and 7: the frontend of engine/flow/cycle/extender.h: calls the extenders of a configuration over
 * HTTP. Source: scheduler extender.go, v1.36.3.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "engine/flow/cycle/extender.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/net/client_config.h"
#include "tools/cluster/watch/watch.h"

struct bt_extenders;

/*
 * access: of the API server, from which the pods and nodes for extenders are fetched. config and access
 * outlive it.
 * Returns: NULL with the reason in out_error, also when the configuration names no extender; then out_error
 * is empty.
 * Owns: bt_extenders_destroy.
 */
struct bt_extenders *bt_extenders_create(
	const struct bt_config *config, const struct bt_client_config *access, struct bt_buf *out_error);

/* Requires: no more calls of the hooks. Bindings in flight end as lost. */
void bt_extenders_destroy(struct bt_extenders *extenders);

/* Aborts calls that are waited for, and fails all later ones. Context: any thread. */
void bt_extenders_close(struct bt_extenders *extenders);

/* The hooks for an engine's options. Each call waits for the extender, at most its httpTimeout. */
struct bt_extender_hooks bt_extenders_hooks(struct bt_extenders *extenders);

/* Must be registered with the watch: invalidates cached objects. */
struct bt_watch_listener bt_extenders_listener(struct bt_extenders *extenders);

/*
 * Calls the extender to bind a pod; done is called once, on the client's thread of the extender, and must not
 * wait.
 * error: empty when the pod is bound. Context: any thread; does not wait.
 */
void bt_extenders_bind(struct bt_extenders *extenders, const struct bt_extender_config *extender,
	const struct bt_pod_ref *pod, struct bt_str node,
	void (*done)(void *context, enum bt_extender_end end, struct bt_str error), void *context);

/* Call statistics of one extender. */
struct bt_extender_counts {
	struct bt_str url;
	uint64_t call_n, error_n, wait_ns; /* wait_ns: time spent waiting for answers, without bindings */
};

/* Writes the statistics of at most cap extenders. Context: any thread. Returns: how many there are. */
uint32_t bt_extenders_counts(
	const struct bt_extenders *extenders, struct bt_extender_counts *out, uint32_t cap);
