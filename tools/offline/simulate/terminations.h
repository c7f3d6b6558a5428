/* SPDX-License-Identifier: Apache-2.0
 * Pods that are being deleted, and when each will be gone: after its grace period, in virtual time.
 * Context: one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BT_GRACE_S 30 /* how long a pod takes to end that says nothing about it */

struct bt_end;

/* All zeroes is an empty one. Owns: bt_terminations_fini. */
struct bt_terminations {
	/* private: */
	struct bt_end *heap; /* the next one first; of pods that have gone since, stale */
	size_t n, cap;
	uint64_t *orders; /* by pod_ix: of its end, or 0 */
	size_t pod_n;
	uint64_t order_n;
	size_t pending_n;
};

/* The pod will be gone at at_ns. Of two ends of a pod, the last one said counts. Those of one moment come in
 * the order in which they were said. */
void bt_terminations_add(struct bt_terminations *ends, uint32_t pod_ix, int64_t at_ns);

/* The pod is gone already. Nothing happens when it was not being deleted. */
void bt_terminations_drop(struct bt_terminations *ends, uint32_t pod_ix);

/* The next end, or INT64_MAX. */
int64_t bt_terminations_next(struct bt_terminations *ends);

/* How many pods there are. */
size_t bt_terminations_count(const struct bt_terminations *ends);

/* Takes a pod whose end has come by now_ns, or BT_NO_POD. */
uint32_t bt_terminations_take(struct bt_terminations *ends, int64_t now_ns);

void bt_terminations_fini(struct bt_terminations *ends);
