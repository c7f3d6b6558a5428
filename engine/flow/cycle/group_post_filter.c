/* SPDX-License-Identifier: Apache-2.0
 * PodGroupPostFilter: what may help a PodGroup that waits as one and has just been rejected. Source:
 * RunPodGroupPostFilterPlugins, v1.37.2.
 */
#include "engine/base/check.h"
#include "engine/flow/cycle/engine_int.h"

/* Why the group's preemption comes to nothing, without looking for victims. */
static const char *idle(const struct bt_engine *engine, const struct bt_pod_group *group)
{
	const struct bt_ledger *ledger = engine->cache->ledger;

	for (size_t i = 0; i < group->member_n; i++) {
		if (bt_ledger_pod(ledger, group->members[i])->never_preempts) {
			return "not eligible due to preemptionPolicy=Never.";
		}
	}
	return NULL;
}

/* Source: DynamicResources.PodGroupPostFilter, v1.37.2. */
static void release_claims(struct bt_engine *engine, const struct bt_group_cycle *cycle)
{
	for (size_t i = 0; i < cycle->member_n; i++) {
		const struct bt_decision *decision = &cycle->members[i].decision;

		(void)bt_engine_release_claim(engine, &decision->release, decision->pod_ix);
	}
}

enum bt_preempt_outcome bt_engine_group_post_filter(struct bt_engine *engine, struct bt_group_cycle *cycle,
	const struct bt_profile_runtime *runtime, const struct bt_pod_group *group)
{
	const struct bt_hooks *hooks = &runtime->profile.group_post_filter;
	struct bt_buf *text = &cycle->text;
	size_t before = text->len;

	for (uint32_t i = 0; i < hooks->n; i++) {
		const char *why = "deallocation and deletion of ResourceClaims completed";
		const struct bt_plugin *plugin = hooks->items[i].plugin;

		if (plugin->no_pre_filter_post_error && !(cycle->met >> i & 1)) {
			bt_buf_clear(text);
			bt_buf_printf(text, "error in \"%s\" PodGroupPostFilter plugins: %s", plugin->name,
				plugin->no_pre_filter_post_error);
			return BT_PREEMPT_FAILED;
		}
		if (!plugin->preemption) {
			release_claims(engine, cycle);
		}
		if (hooks->items[i].plugin->preemption) {
			why = idle(engine, group);
			if (!why) {
				/* Nobody of the cluster's pods has a lower priority. */
				text->len = before;
				bt_buf_text(text, ", pod group preemption: No preemption victims found for "
						  "incoming preemptor");
				return BT_PREEMPT_NOWHERE;
			}
		}
		bt_buf_printf(text, ", %s%s",
			hooks->items[i].plugin->preemption ? "pod group preemption: " : "", why);
	}
	if (hooks->n == 0) {
		bt_buf_text(text, ", ");
	}
	return BT_PREEMPT_INELIGIBLE;
}
