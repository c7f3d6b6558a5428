/* SPDX-License-Identifier: Apache-2.0
 * Threads that answer requests that may block, for the API server or for the end of a cycle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"

struct bt_workers;

struct bt_workers_options {
	uint32_t threads;
	uint32_t waiting; /* limit of jobs that wait for a thread */
	void (*run)(void *context, void *job);
	void *context;
};

/* Returns: NULL with the reason in out_error. Owns: bt_workers_destroy, which waits for the accepted jobs. */
struct bt_workers *bt_workers_create(const struct bt_workers_options *options, struct bt_buf *out_error);
void bt_workers_destroy(struct bt_workers *workers);

/* Context: any thread; does not wait. Returns: whether the job was accepted; else too many wait. */
bool bt_workers_take(struct bt_workers *workers, void *job);
