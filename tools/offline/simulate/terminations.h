/* SPDX-License-Identifier: Apache-2.0
 * Terminating pods, and the time of each one's deletion: after its grace period, in virtual time.
 * Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BT_GRACE_S 30 /* the default grace period in seconds */

struct bt_end;

/* A zero-initialized one is empty. Owns: bt_terminations_fini. */
struct bt_terminations {
	/* private: */
	struct bt_end *heap; /* the next one first; entries of deleted pods are stale */
	size_t n, cap;
	uint64_t *orders; /* by pod_ix: order number of its end, or 0 */
	size_t pod_n;
	uint64_t order_n;
	size_t pending_n;
};

/* The pod will be deleted at at_ns. A later call for the same pod replaces an earlier one. Equal times keep
 * the order of calls. */
void bt_terminations_add(struct bt_terminations *ends, uint32_t pod_ix, int64_t at_ns);

/* The pod was deleted earlier. No effect when it was not terminating. */
void bt_terminations_drop(struct bt_terminations *ends, uint32_t pod_ix);

/* Is the pod terminating? */
bool bt_terminations_has(const struct bt_terminations *ends, uint32_t pod_ix);

/* The next end, or INT64_MAX. */
int64_t bt_terminations_next(struct bt_terminations *ends);

/* The number of pods. */
size_t bt_terminations_count(const struct bt_terminations *ends);

/* Removes and returns a pod due by now_ns, or BT_NO_POD. */
uint32_t bt_terminations_take(struct bt_terminations *ends, int64_t now_ns);

void bt_terminations_fini(struct bt_terminations *ends);
