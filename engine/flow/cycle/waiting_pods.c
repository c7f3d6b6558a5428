/* SPDX-License-Identifier: Apache-2.0
 * The list of pods that wait at Permit.
 */
#include "engine/flow/cycle/waiting_pods.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

void bt_waiting_pods_fini(struct bt_waiting_pods *waiting)
{
	bt_mem_free(waiting->items);
	bt_buf_fini(&waiting->text);
	*waiting = (struct bt_waiting_pods){.n = 0};
}

static struct bt_waiting_pod *waiting_of(const struct bt_waiting_pods *waiting, uint32_t pod_ix)
{
	for (size_t i = 0; i < waiting->n; i++) {
		if (waiting->items[i].pod_ix == pod_ix) {
			return &waiting->items[i];
		}
	}
	return NULL;
}

bool bt_waiting_pods_has(const struct bt_waiting_pods *waiting, uint32_t pod_ix)
{
	return waiting_of(waiting, pod_ix);
}

struct bt_waiting_pod bt_waiting_pods_take(struct bt_waiting_pods *waiting, uint32_t pod_ix)
{
	struct bt_waiting_pod *at = waiting_of(waiting, pod_ix);

	BT_REQUIRE(at);
	const struct bt_waiting_pod taken = *at;
	memmove(at, at + 1, (size_t)(waiting->items + --waiting->n - at) * sizeof(*at));
	return taken;
}

int64_t bt_waiting_pods_next_end(const struct bt_waiting_pods *waiting, int64_t begun_by_ns)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < waiting->n; i++) {
		const struct bt_waiting_pod *entry = &waiting->items[i];

		if (entry->until_ns - entry->wait_ns <= begun_by_ns && entry->until_ns < first_ns) {
			first_ns = entry->until_ns;
		}
	}
	return first_ns;
}

void bt_waiting_pods_preempt(struct bt_waiting_pods *waiting, uint32_t pod_ix)
{
	struct bt_waiting_pod *at = waiting_of(waiting, pod_ix);

	BT_REQUIRE(at);
	at->preempted = true;
}

void bt_waiting_pods_add(struct bt_waiting_pods *waiting, const struct bt_waiting_pod *pod)
{
	BT_REQUIRE(!waiting_of(waiting, pod->pod_ix));
	waiting->items = bt_mem_grow(waiting->items, waiting->n, &waiting->cap, sizeof(*waiting->items));
	waiting->items[waiting->n++] = *pod;
}
