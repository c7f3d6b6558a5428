/* SPDX-License-Identifier: Apache-2.0
 * The rules. Source: the plugins of the default profile, v1.36.3.
 */
#include "model.h"

#include <string.h>

#define MIB (INT64_C(1) << 20)

struct sim_usage sim_usage_of(const struct sim_state *state, uint32_t node)
{
	struct sim_usage usage = {0};

	for (uint32_t i = 0; i < state->placed_n; i++) {
		const struct sim_pod_spec *spec = &state->placed[i].spec;

		if (state->placed[i].node != node) {
			continue;
		}
		usage.pods++;
		usage.milli_cpu += spec->milli_cpu;
		usage.memory += spec->mem_mib * MIB;
		usage.widgets += spec->widgets;
		usage.nonzero_milli_cpu += spec->milli_cpu ? spec->milli_cpu : 100;
		usage.nonzero_memory += spec->mem_mib ? spec->mem_mib * MIB : 200 * MIB;
		if (spec->port) {
			usage.ports[usage.port_n++] = spec->port;
		}
	}
	return usage;
}

static bool fits(const struct sim_state *state, const struct sim_pod_spec *spec, uint32_t node)
{
	const struct sim_node_spec *has = &state->nodes[node].node;
	struct sim_usage usage = sim_usage_of(state, node);

	return usage.pods < has->pods &&
	       (!spec->milli_cpu || spec->milli_cpu <= has->milli_cpu - usage.milli_cpu) &&
	       (!spec->mem_mib || spec->mem_mib * MIB <= has->mem_mib * MIB - usage.memory) &&
	       (!spec->widgets || spec->widgets <= has->widgets - usage.widgets);
}

static bool port_taken(const struct sim_state *state, uint32_t port, uint32_t node)
{
	struct sim_usage usage = sim_usage_of(state, node);

	for (uint32_t i = 0; i < usage.port_n; i++) {
		if (usage.ports[i] == port) {
			return true;
		}
	}
	return false;
}

/* The domain of a node; SIM_NONE: it has none. */
static uint32_t domain_of(const struct sim_state *state, uint32_t node, enum sim_scope scope)
{
	if (!state->nodes[node].there) {
		return SIM_NONE;
	}
	if (scope == SIM_HOST) {
		return node;
	}
	return state->nodes[node].node.zone ? state->nodes[node].node.zone : SIM_NONE;
}

static bool is_like(const struct sim_placed *placed, uint32_t slot, uint32_t app)
{
	return sim_namespace_of(placed->slot) == sim_namespace_of(slot) && placed->spec.label == app;
}

/* The number of an application's pods in a domain; SIM_NONE: in all domains. */
static uint32_t count_like(const struct sim_state *state, uint32_t slot, uint32_t app, enum sim_scope scope,
	uint32_t domain, bool leaving_too)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < state->placed_n; i++) {
		const struct sim_placed *placed = &state->placed[i];
		uint32_t where = domain_of(state, placed->node, scope);

		n += is_like(placed, slot, app) && (leaving_too || !placed->leaving) && where != SIM_NONE &&
		     (domain == SIM_NONE || where == domain);
	}
	return n;
}

/* Does a pod in reach have anti-affinity to this one? */
static bool is_shunned(
	const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec, uint32_t node)
{
	for (uint32_t i = 0; i < state->placed_n; i++) {
		const struct sim_placed *placed = &state->placed[i];
		enum sim_scope scope = placed->spec.apart;
		uint32_t domain = scope ? domain_of(state, placed->node, scope) : SIM_NONE;

		if (domain != SIM_NONE && domain == domain_of(state, node, scope) &&
			placed->spec.app == spec->label &&
			sim_namespace_of(placed->slot) == sim_namespace_of(slot)) {
			return true;
		}
	}
	return false;
}

static bool finds_its_like(
	const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec, uint32_t node)
{
	uint32_t domain = domain_of(state, node, spec->together);

	if (domain == SIM_NONE) {
		return false;
	}
	if (count_like(state, slot, spec->app, spec->together, domain, true)) {
		return true;
	}
	/* The first pod of its application may go anywhere. */
	return spec->label == spec->app &&
	       count_like(state, slot, spec->app, spec->together, SIM_NONE, true) == 0;
}

static bool stays_even(
	const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec, uint32_t node)
{
	uint32_t domain = domain_of(state, node, spec->spread), lowest = UINT32_MAX;

	if (domain == SIM_NONE) {
		return false;
	}
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		uint32_t other = domain_of(state, i, spec->spread);

		if (other != SIM_NONE) {
			uint32_t n = count_like(state, slot, spec->app, spec->spread, other, false);
			lowest = n < lowest ? n : lowest;
		}
	}
	uint32_t here = count_like(state, slot, spec->app, spec->spread, domain, false);
	return here + (spec->label == spec->app) <= lowest + 1;
}

static const char *claim_refusal(const struct sim_state *state, uint32_t claim, uint32_t node)
{
	const struct sim_object *wanted = &state->claims[claim], *volume = &state->volumes[claim];

	if (!wanted->there || !wanted->claim.bound || !volume->there) {
		return "its claim is not bound";
	}
	if (volume->volume.zone && volume->volume.zone != state->nodes[node].node.zone) {
		return "its volume is elsewhere";
	}
	for (uint32_t i = 0; wanted->claim.once && i < state->placed_n; i++) {
		if (state->placed[i].spec.claim == claim && state->nodes[state->placed[i].node].there) {
			return "its claim is in use";
		}
	}
	return NULL;
}

bool sim_device_is_free(const struct sim_state *state, uint32_t node, uint32_t ix)
{
	const struct sim_object *slice = &state->slices[node];

	for (uint32_t i = 0; i < SIM_DEVICE_CLAIMS; i++) {
		if (state->devices[i].node == node && state->devices[i].ix == ix) {
			return false;
		}
	}
	for (uint32_t i = 0; i < state->lost_n; i++) {
		if (state->lost[i].node == node && state->lost[i].ix == ix) {
			return false;
		}
	}
	return slice->there && ix < slice->slice.device_n;
}

static const char *device_refusal(const struct sim_state *state, uint32_t claim, uint32_t node)
{
	const struct sim_device *device = &state->devices[claim];

	if (!state->device_claims[claim].there) {
		return "its device claim is not there";
	}
	if (device->pending) {
		return "its device claim is being allocated";
	}
	if (device->node != SIM_NONE) {
		return device->node == node ? NULL : "its device is elsewhere";
	}
	for (uint32_t ix = 0; ix < state->slices[node].slice.device_n; ix++) {
		if (sim_device_is_free(state, node, ix)) {
			return NULL;
		}
	}
	return "there is no free device";
}

static const char *refusal(
	const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec, uint32_t node)
{
	const struct sim_node_spec *has = &state->nodes[node].node;

	if (!state->nodes[node].there) {
		return "there is no such node";
	}
	if (has->unschedulable || has->broken || (has->dedicated && !spec->tolerates)) {
		return "the node is closed to it";
	}
	if (spec->zone && spec->zone != has->zone) {
		return "the node is in another zone";
	}
	if (!fits(state, spec, node)) {
		return "the node is full";
	}
	if (spec->apart && domain_of(state, node, spec->apart) != SIM_NONE &&
		count_like(state, slot, spec->app, spec->apart, domain_of(state, node, spec->apart), true)) {
		return "it would be near its like";
	}
	if (is_shunned(state, slot, spec, node)) {
		return "a pod there does not want it near";
	}
	if (spec->together && !finds_its_like(state, slot, spec, node)) {
		return "it would be away from its like";
	}
	if (spec->spread && !stays_even(state, slot, spec, node)) {
		return "its like would be uneven";
	}
	if (spec->device_claim != SIM_NONE && device_refusal(state, spec->device_claim, node)) {
		return device_refusal(state, spec->device_claim, node);
	}
	return spec->claim == SIM_NONE ? NULL : claim_refusal(state, spec->claim, node);
}

enum sim_answer sim_judge(const struct sim_state *state, uint32_t slot, const struct sim_pod_spec *spec,
	uint32_t node, const char **out_why)
{
	*out_why = refusal(state, slot, spec, node);
	if (*out_why) {
		return SIM_NO;
	}
	if (spec->port && state->port_twice[node]) {
		return SIM_MAYBE;
	}
	if (spec->port && port_taken(state, spec->port, node)) {
		*out_why = "the host port is taken";
		return SIM_NO;
	}
	return SIM_YES;
}
