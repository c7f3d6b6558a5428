/* SPDX-License-Identifier: Apache-2.0
 * The pods evicted in the current cycle.
 */
#include "tools/offline/simulate/evicted.h"

#include "engine/base/mem.h"

void bt_evicted_add(struct bt_evicted *evicted, uint32_t pod_ix)
{
	evicted->pod_ixs =
		bt_mem_grow(evicted->pod_ixs, evicted->n, &evicted->cap, sizeof(*evicted->pod_ixs));
	evicted->pod_ixs[evicted->n++] = pod_ix;
}

bool bt_evicted_take(struct bt_evicted *evicted, uint32_t pod_ix)
{
	for (size_t i = 0; i < evicted->n; i++) {
		if (evicted->pod_ixs[i] == pod_ix) {
			evicted->pod_ixs[i] = evicted->pod_ixs[--evicted->n];
			return true;
		}
	}
	return false;
}

void bt_evicted_fini(struct bt_evicted *evicted)
{
	bt_mem_free(evicted->pod_ixs);
}
