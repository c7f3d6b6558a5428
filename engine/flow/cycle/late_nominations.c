/* SPDX-License-Identifier: Apache-2.0
 * Nominations that survive refusals. Source: handleSchedulingFailure, bindingCycle, v1.35.4.
 */
#include "engine/flow/cycle/late_nominations.h"

#include "cache/ledger.h"
#include "engine/model/release.h"

void bt_late_nominations_init(struct bt_late_nominations *late, const struct bt_gates *gates)
{
	bool stay = bt_release_has(gates->release, BT_RULE_CYCLE_CLEARS_KNOWN_NOMINATION);

	*late = (struct bt_late_nominations){.stay = stay,
		.binding_writes = stay && gates->on[BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION],
		.without_ix = BT_NO_POD};
}

void bt_late_nominations_begin(struct bt_late_nominations *late, const struct bt_pod *pod, uint32_t pod_ix)
{
	late->without_ix = pod->status_node != BT_NAME_NONE ? BT_NO_POD : pod_ix;
}

bool bt_late_nominations_stay(const struct bt_late_nominations *late, uint32_t pod_ix)
{
	return late->stay && late->without_ix == pod_ix;
}

static bool has_claims(const struct bt_signature *signature)
{
	uint32_t i = 0;

	while (i < signature->claim_n && signature->claims[i].kind == BT_POD_CLAIM_NONE) {
		i++;
	}
	return i < signature->claim_n;
}

/* Source: PreBindPreFlight of VolumeBinding and DynamicResources, v1.35.4. */
uint32_t bt_late_nominations_by_binding(const struct bt_late_nominations *late, const struct bt_cache *cache,
	const struct bt_hooks *pre_bind, bool failed, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	uint32_t choice_n;

	if (BT_LIKELY(!late->binding_writes) || pod->state != BT_POD_ASSUMED ||
		(pod->status_node != BT_NAME_NONE && late->without_ix != pod_ix)) {
		return BT_NO_NODE;
	}
	bt_devices_pending(cache->devices, pod_ix, &choice_n);
	bool claims = pre_bind->n && (choice_n || has_claims(pod->signature));

	return failed || claims || bt_volumes_assumed(cache->volumes, pod_ix, NULL, 0) ? pod->node_ix
										       : BT_NO_NODE;
}
