/* SPDX-License-Identifier: Apache-2.0
 * The simulation's record of what the engine has seen and decided; and the invariants of each decision: no
 * rule is violated (I5), no pod is refused that fits (I10), no pod is bound twice (I2).
 */
#include <inttypes.h>
#include <string.h>

#include "sim.h"

#include "cache/devices_int.h"
#include "engine/flow/cycle/hints.h"

/* ---- names and numbers ---- */

uint32_t sim_number(struct bt_engine *engine, uint32_t name)
{
	return sim_number_of(bt_intern_str(bt_engine_cache(engine)->dictionary->intern, name));
}

const struct bt_pod *sim_pod_at(struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix);
}

uint32_t sim_node_number(struct bt_engine *engine, uint32_t node_ix)
{
	return sim_number(engine, bt_engine_cache(engine)->view.snapshot->nodes[node_ix].name);
}

/* ---- events ---- */

static void note_node(struct sim *sim, const struct sim_node_spec *spec)
{
	sim_note(sim,
		"    cpu %" PRId64 "m memory %" PRId64 "Mi pods %" PRId64 " widgets %" PRId64 " zone %" PRIu32
		"%s%s%s",
		spec->milli_cpu, spec->mem_mib, spec->pods, spec->widgets, spec->zone,
		spec->dedicated ? " dedicated" : "", spec->unschedulable ? " unschedulable" : "",
		spec->broken ? " broken" : "");
}

static void note_pod(struct sim *sim, const struct sim_pod *pod)
{
	const struct sim_pod_spec *spec = &pod->spec;

	sim_note(sim,
		"    cpu %" PRId64 "m memory %" PRId64 "Mi widgets %" PRId64 " priority %" PRId32
		" app %" PRIu32 " label %" PRIu32 " zone %" PRIu32 " port %" PRIu32
		" claim %d device %d apart %d together %d spread %d likes %d"
		" node %d nominated %d%s%s%s%s%s%s%s",
		spec->milli_cpu, spec->mem_mib, spec->widgets, spec->priority, spec->app, spec->label,
		spec->zone, spec->port, (int)spec->claim, (int)spec->device_claim, (int)spec->apart,
		(int)spec->together, (int)spec->spread, (int)spec->likes, (int)pod->node, (int)pod->nominated,
		spec->tolerates ? " tolerates" : "", spec->gated ? " gated" : "",
		spec->foreign ? " foreign" : "", spec->never_preempts ? " never-preempts" : "",
		spec->grouped ? " grouped" : "", pod->deletion_ns ? " leaving" : "",
		pod->ended ? " ended" : "");
}

/* Ends an assumption; the pod is on node now, or on none. */
static void let_go(struct sim *sim, uint32_t uid, uint32_t node)
{
	for (uint32_t i = 0; i < sim->binding_n; i++) {
		if (sim->bindings[i].uid == uid) {
			sim->untold |= node != SIM_NONE && sim->bindings[i].node != node;
			sim->bindings[i].held = false;
		}
	}
}

/* Is it decided, with an open binding? */
static bool is_held(const struct sim *sim, uint32_t uid)
{
	for (uint32_t i = 0; i < sim->binding_n; i++) {
		if (sim->bindings[i].uid == uid && sim->bindings[i].held) {
			return true;
		}
	}
	return false;
}

uint32_t sim_nominated(struct sim *sim, uint32_t slot)
{
	struct bt_engine *engine = sim->engines[0];
	uint32_t pod_ix = sim->known[slot].ix;
	uint32_t node_ix = pod_ix == BT_NO_POD ? BT_NO_NODE : sim_pod_at(engine, pod_ix)->nominated_ix;

	return node_ix == BT_NO_NODE ? SIM_NONE : sim_node_number(engine, node_ix);
}

static void account_of_pod(struct sim *sim, uint32_t slot, const struct sim_object *object)
{
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][slot];
	struct sim_known *known = &sim->known[slot];

	note_pod(sim, &object->pod);
	known->twin_evicted = false; /* an event may be older than the eviction's answer */
	if (shown->there && (!object->there || object->uid != shown->uid)) {
		sim->faults[SIM_POD_AGAIN] += object->there;
		let_go(sim, shown->uid, SIM_NONE);
		*known = (struct sim_known){.ix = BT_NO_POD, .confirmed = SIM_NONE};
	}
	/* Changes of an assumed pod requeue no waiting pod. Source: updatePodInSchedulingQueue, v1.36.3. */
	sim->untold |= is_held(sim, object->uid) &&
		       memcmp(&object->pod.spec, &shown->pod.spec, sizeof(shown->pod.spec)) != 0;
	/* Nor when a nominated pod requests less: Update requeues that pod alone. */
	sim->untold |= shown->there && shown->uid == object->uid && sim_nominated(sim, slot) != SIM_NONE &&
		       object->pod.spec.milli_cpu < shown->pod.spec.milli_cpu;
	if (object->pod.node != SIM_NONE || object->pod.deletion_ns || object->pod.ended) {
		let_go(sim, object->uid, object->pod.node);
	}
	sim->untold |= shown->there && object->pod.node != SIM_NONE &&
		       ((shown->pod.nominated != SIM_NONE && shown->pod.nominated != object->pod.node) ||
			       sim_nominated(sim, slot) != SIM_NONE);
}

/* Of two pods on a node with the same port the first removal frees it. */
void sim_note_ports(struct sim *sim)
{
	struct sim_state state;

	sim_collect(sim, &state);
	for (uint32_t node = 0; node < SIM_NODES; node++) {
		struct sim_usage usage = sim_usage_of(&state, node);

		if (usage.port_n == 0) {
			sim->port_twice[node] = false;
		}
		for (uint32_t i = 1; i < usage.port_n; i++) {
			for (uint32_t k = 0; k < i; k++) {
				sim->port_twice[node] |= usage.ports[i] == usage.ports[k];
			}
		}
		sim->faults[SIM_PORT_TWICE] += sim->port_twice[node];
	}
}

/* An event of a claim replaces its state, unless it is older than the binder's write. */
static void account_of_device_claim(struct sim *sim, uint32_t ix, const struct sim_object *object)
{
	const struct sim_object *shown = &sim->shown[SIM_DEVICE_STREAM][ix];

	sim_note(sim, "    device-%" PRIu32 " node %d device %d users %" PRIu32, ix,
		(int)object->device_claim.node, (int)object->device_claim.device,
		object->device_claim.user_n);
	if (object->there && shown->there && object->uid == shown->uid &&
		object->version < sim->kept_version[ix]) {
		sim->faults[SIM_DEVICE_UNTOLD]++;
		return;
	}
	sim->kept_version[ix] = 0;
}

/* The pod's current requests at its cycle are those that are assumed, even if it is deleted by then. */
static void follow(struct sim *sim, uint32_t slot, const struct sim_object *object)
{
	if (object->there && object->uid == sim->shown[SIM_POD_STREAM][slot].uid) {
		sim->deciding = object->pod.spec;
	}
}

void sim_account(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object)
{
	sim_note(sim, "  shown of %d/%" PRIu32 " version %" PRIu64 "%s", (int)stream, ix, object->version,
		object->there ? "" : ": gone");
	sim->shown_n++;
	if (stream == SIM_NODE_STREAM) {
		sim->node_shown_at = sim->shown_n;
		sim->faults[SIM_VISITED] += sim->visiting;
		sim->node_gone_at = object->there ? sim->node_gone_at : sim->shown_n;
		note_node(sim, &object->node);
	} else if (stream == SIM_DEVICE_STREAM) {
		account_of_device_claim(sim, ix, object);
	} else if (stream == SIM_GROUP_STREAM) {
		sim->faults[SIM_GANG_CHANGED] += sim->gangs && sim_group_placed_n(sim, ix) > 0;
		sim->faults[SIM_GANG_LATE] += sim->gangs && object->there && sim_group_waiting_n(sim, ix) > 0;
	} else if (stream == SIM_POD_STREAM) {
		sim->pod_shown_at = sim->shown_n;
		if (sim->begun && sim->decisions[0].pod_ix == sim->known[ix].ix) {
			sim->faults[SIM_TOLD_IN_CYCLE]++;
			follow(sim, ix, object);
		}
		account_of_pod(sim, ix, object);
	}
	sim->shown[stream][ix] = *object;
	if (!object->there) {
		sim->shown[stream][ix].there = false;
	}
}

void sim_find_pod(struct sim *sim, uint32_t slot)
{
	sim->known[slot].ix = bt_engine_find_pod(
		sim->engines[0], sim_namespace(&sim->arena, slot), sim_pod_name(&sim->arena, slot));
}

uint32_t sim_pod_of(struct sim *sim, uint32_t uid)
{
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		uint32_t ix = sim->known[i].ix;

		if (ix != BT_NO_POD &&
			sim_number(sim->engines[0], sim_pod_at(sim->engines[0], ix)->uid) == uid) {
			return ix;
		}
	}
	return BT_NO_POD;
}

void sim_follow_moves(struct sim *sim)
{
	uint64_t move_n = bt_engine_counts(sim->engines[0]).pod_move_n;

	if (move_n == sim->pod_move_n) {
		return;
	}
	sim->pod_move_n = move_n;
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		uint32_t ix = sim->known[i].ix;

		if (ix == BT_NO_POD) {
			continue;
		}
		sim_find_pod(sim, i);
		if (sim->known[i].ix != ix && sim->known[i].ix != BT_NO_POD) {
			const struct bt_pod *pod = sim_pod_at(sim->engines[0], sim->known[i].ix);

			sim->faults[SIM_POD_MOVED]++;
			sim->faults[SIM_POD_MOVED_WAITING] += pod->state == BT_POD_QUEUED;
			sim->faults[SIM_POD_MOVED_ASSUMED] += sim->binding_n > 0;
		}
	}
}

/* ---- decisions ---- */

static bool may_wait(const struct sim *sim, uint32_t slot, uint32_t uid)
{
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][slot];

	return shown->there && shown->uid == uid && !shown->pod.ended && shown->pod.node == SIM_NONE &&
	       sim->known[slot].confirmed == SIM_NONE && !shown->pod.spec.gated && !shown->pod.spec.foreign;
}

static void judge(struct sim *sim, uint32_t slot)
{
	struct sim_state state;
	sim_collect(sim, &state);
	for (uint32_t node = 0; node < SIM_NODES; node++) {
		sim->verdicts[node] = sim_judge(&state, slot, &sim->deciding, node, &sim->reasons[node]);
	}
}

void sim_begin_cycle(struct sim *sim, uint32_t slot, uint32_t uid)
{
	if (!may_wait(sim, slot, uid)) {
		sim_fail(sim, "I2", "pod-%" PRIu32 " is decided, but does not wait", slot);
	}
	sim->deciding = sim->shown[SIM_POD_STREAM][slot].pod.spec;
	judge(sim, slot);
}

/* Records the plugins that refused the pod, if their hints are known to miss events. */
static void note_unschedulable_plugins(struct sim *sim, const struct sim_cycle *cycle)
{
	struct sim_known *known = &sim->known[cycle->slot];

	known->refused_at = sim->shown_n;
	known->by_other_pods = known->by_claims = false;
	for (bt_plugin_set rest = cycle->unschedulable_plugins; rest; rest = bt_plugin_set_rest(rest)) {
		const char *name = bt_hints_name(bt_plugin_set_first(rest));

		known->by_other_pods |= strcmp(name, "InterPodAffinity") == 0;
		known->by_claims |= strcmp(name, "VolumeRestrictions") == 0;
	}
}

void sim_check_cycle(struct sim *sim, const struct sim_cycle *cycle)
{
	uint32_t slot = cycle->slot;

	sim_note(sim, "  cycle of pod-%" PRIu32 ": outcome %d", slot, (int)cycle->outcome);
	sim->refused_n += cycle->outcome == BT_REFUSED;
	sim->faults[SIM_PREEMPTED] += cycle->victim_n > 0;
	if (cycle->outcome == BT_FAILED && !cycle->grouped) {
		sim_fail(sim, "I6", "the cycle of pod-%" PRIu32 " ends in an error", slot);
	}
	if (cycle->outcome == BT_PLACED && sim->verdicts[cycle->node] == SIM_NO) {
		sim_fail(sim, "I5", "pod-%" PRIu32 " must not be on node-%" PRIu32 ": %s", slot, cycle->node,
			sim->reasons[cycle->node]);
	}
	/* A pod that waits because of a nomination is not requeued when the nominated pod goes elsewhere.
	 * Source: deletePodFromSchedulingQueue, v1.36.3, and kubernetes issue 134859. */
	sim->untold |= cycle->outcome == BT_PLACED && cycle->nominated != SIM_NONE &&
		       cycle->nominated != cycle->node;
	note_unschedulable_plugins(sim, cycle);
	for (uint32_t node = 0;
		cycle->outcome == BT_REFUSED && !cycle->grouped && !cycle->yields && node < SIM_NODES;
		node++) {
		if (sim->verdicts[node] == SIM_YES) {
			sim_fail(sim, "I10", "pod-%" PRIu32 " is refused, but node-%" PRIu32 " fits", slot,
				node);
		}
	}
}

/* Does a budget protect the pod's application? */
static bool is_protected(const struct sim *sim, uint32_t slot, const struct sim_pod_spec *spec)
{
	for (uint32_t i = 0; i < SIM_BUDGETS; i++) {
		const struct sim_object *budget = &sim->shown[SIM_BUDGET_STREAM][i];

		if (budget->there && sim_namespace_of(i) == sim_namespace_of(slot) &&
			budget->budget.app == spec->label) {
			return true;
		}
	}
	return false;
}

/* The cluster without pods of lower priority that no budget protects, and with the
 * pods nominated to the node. */
static struct sim_state without_unprotected(
	struct sim *sim, const struct sim_state *state, uint32_t slot, uint32_t node, bool *out_any_protected)
{
	int32_t priority = sim->deciding.priority;
	struct sim_state out = *state;

	out.placed_n = 0;
	for (uint32_t i = 0; i < state->placed_n; i++) {
		const struct sim_placed *placed = &state->placed[i];
		bool less = placed->spec.priority < priority,
		     kept = is_protected(sim, placed->slot, &placed->spec);

		*out_any_protected |= less && kept;
		if (placed->node != node || !less || kept) {
			out.placed[out.placed_n++] = *placed;
		}
	}
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][i];

		if (i != slot && sim_nominated(sim, i) == node && shown->pod.spec.priority >= priority) {
			out.placed[out.placed_n++] =
				(struct sim_placed){i, shown->uid, shown->pod.spec, node, false};
		}
	}
	return out;
}

/* Does the choice violate a budget, in any order of evaluation? */
static bool breaks_budget(
	const struct sim *sim, const struct sim_state *state, const struct sim_victims *victims)
{
	for (uint32_t i = 0; i < SIM_BUDGETS; i++) {
		const struct sim_object *budget = &sim->shown[SIM_BUDGET_STREAM][i];
		int32_t left = budget->budget.allowed;

		for (uint32_t k = 0; k < state->placed_n * victims->n; k++) {
			const struct sim_placed *placed = &state->placed[k / victims->n];

			left -= placed->uid == victims->uids[k % victims->n] &&
				sim_namespace_of(placed->slot) == sim_namespace_of(i) &&
				placed->spec.label == budget->budget.app;
		}
		if (budget->there && left < 0) {
			return true;
		}
	}
	return false;
}

void sim_check_victims(struct sim *sim, uint32_t slot, const struct sim_victims *victims)
{
	const struct sim_pod_spec *spec = &sim->deciding;
	struct sim_state state;
	bool any_protected = false;
	const char *why;

	/* Rules that other pods help to satisfy cannot be predicted without a trial. */
	if (victims->n == 0 || spec->together || spec->spread || spec->claim != SIM_NONE) {
		return;
	}
	sim_collect(sim, &state);
	for (uint32_t node = 0; node < SIM_NODES; node++) {
		const struct sim_state without = without_unprotected(sim, &state, slot, node, &any_protected);

		if (sim_judge(&without, slot, spec, node, &why) != SIM_YES) {
			continue;
		}
		sim->faults[SIM_BUDGET_SPARED] += any_protected;
		if (breaks_budget(sim, &state, victims)) {
			sim_fail(sim, "I10", "pod-%" PRIu32 " breaks a budget, but not on node-%" PRIu32,
				slot, node);
		}
	}
}

static struct bt_devices *devices_of(struct bt_engine *engine)
{
	return bt_engine_cache(engine)->devices;
}

uint32_t sim_pending_device(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_devices *devices = devices_of(engine);
	uint32_t at;

	if (!bt_map_get(&devices->pending_ixs, pod_ix + (uint64_t)1, &at)) {
		return SIM_NONE;
	}
	return sim_number(engine, devices->pending[at].choices[0].allocation.results[0].device);
}

/* The allocated device is free and on the pod's node; unless that has changed between
 * the halves of the cycle. */
static void check_device(struct sim *sim, const struct sim_binding *binding)
{
	uint32_t claim = binding->spec.device_claim;
	struct sim_state state;

	sim_collect(sim, &state);
	if (binding->has_device && !sim->begun &&
		(claim == SIM_NONE || state.devices[claim].node != SIM_NONE ||
			!sim_device_is_free(&state, binding->node, binding->wanted))) {
		sim_fail(sim, "I1",
			"pod-%" PRIu32 " gets dev-%" PRIu32 " on node-%" PRIu32 ", which is not free",
			binding->slot, binding->wanted, binding->node);
	}
}

void sim_release_claim(struct sim *sim, uint32_t ix, uint32_t uid)
{
	const struct sim_object *claim = &sim->api->objects[SIM_DEVICE_STREAM][ix];
	uint64_t shown = sim->shown[SIM_DEVICE_STREAM][ix].version, kept = sim->kept_version[ix];

	sim_note(sim, "  takes back what device-%" PRIu32 " has", ix);
	/* The server rejects updates of a claim that has changed since. */
	if (claim->there && claim->uid == uid && claim->version == (kept > shown ? kept : shown)) {
		sim->faults[SIM_DEVICE_TAKEN_BACK]++;
		sim_api_deallocate(sim->api, ix);
	}
}

struct sim_binding *sim_add_binding(struct sim *sim, struct sim_binding binding)
{
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][binding.slot];

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		if (sim->bindings[i].uid == binding.uid) {
			sim_fail(sim, "I2", "pod-%" PRIu32 " is bound while it is being bound", binding.slot);
		}
	}
	/* A pod that was deleted in its cycle leaves no state: the server rejects its binding. */
	if (shown->there && shown->uid == binding.uid && shown->pod.node != SIM_NONE && !shown->pod.ended) {
		sim_fail(sim, "I2", "pod-%" PRIu32 " is bound although it is bound", binding.slot);
	}
	if (sim->binding_n == SIM_BINDINGS) {
		sim_fail(sim, "I7", "more bindings than there is room for");
		return &sim->bindings[0];
	}
	sim_note(sim, "  pod-%" PRIu32 " to node-%" PRIu32, binding.slot, binding.node);
	binding.spec = sim->deciding;
	binding.wanted = sim_pending_device(sim->engines[0], binding.pod_ix);
	binding.has_device = binding.wanted != SIM_NONE;
	binding.claim_uid = binding.spec.device_claim == SIM_NONE
				    ? 0
				    : sim->shown[SIM_DEVICE_STREAM][binding.spec.device_claim].uid;
	check_device(sim, &binding);
	binding.held = true;
	sim->placed_n++;
	sim->bindings[sim->binding_n] = binding;
	return &sim->bindings[sim->binding_n++];
}

/* The binder's writes of a claim count, whether shown or not, and whatever happens to the pod, unless
 * the watch has shown a newer version. */
static void keep_device(struct sim *sim, const struct sim_binding *binding)
{
	uint32_t ix = binding->spec.device_claim;
	struct sim_state state;

	if (binding->wrote == 0) {
		return;
	}
	const struct sim_object *claim = &sim->shown[SIM_DEVICE_STREAM][ix];
	sim_collect(sim, &state);
	if (!claim->there || claim->uid != binding->claim_uid || claim->version >= binding->wrote) {
		return;
	}
	if (binding->has_device) {
		sim->kept[ix] = (struct sim_device){binding->node, binding->wanted, false};
	} else if (state.devices[ix].node != SIM_NONE && !state.devices[ix].pending) {
		sim->kept[ix] = state.devices[ix];
	} else {
		return;
	}
	sim->kept_version[ix] = binding->wrote;
}

void sim_end_binding(struct sim *sim, uint32_t ix)
{
	const struct sim_binding binding = sim->bindings[ix];
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][binding.slot];

	sim_note(sim, "  pod-%" PRIu32 " on node-%" PRIu32 ": %s", binding.slot, binding.node,
		binding.good ? "bound" : "failed");
	keep_device(sim, &binding);
	memmove(&sim->bindings[ix], &sim->bindings[ix + 1], (--sim->binding_n - ix) * sizeof(binding));
	if (binding.good && binding.held && shown->there && shown->uid == binding.uid) {
		sim->known[binding.slot].confirmed = binding.node;
	}
}

void sim_note_victim(struct sim *sim, struct sim_eviction victim)
{
	sim_note(sim, "  evicts pod-%" PRIu32, victim.slot);
	for (uint32_t i = 0; i < sim->binding_n; i++) {
		sim->faults[SIM_VICTIM_IN_FLIGHT] += sim->bindings[i].uid == victim.uid;
	}
}

void sim_patch(struct sim *sim, uint32_t pod_ix, bool keeps)
{
	struct bt_engine *engine = sim->engines[0];
	const struct bt_pod *pod = sim_pod_at(engine, pod_ix);
	uint32_t slot = sim_number(engine, pod->name);
	struct sim_object object = sim->api->objects[SIM_POD_STREAM][slot];
	uint32_t nominated = pod->status_node ? sim_number(engine, pod->status_node) : SIM_NONE;

	if ((!keeps && nominated != SIM_NONE) || (sim->fenced && !sim->leader)) {
		return; /* the cycle did nothing, or the scheduler does not lead */
	}
	if (pod->state == BT_POD_QUEUED && object.there && object.uid == sim_number(engine, pod->uid) &&
		object.pod.node == SIM_NONE && object.pod.nominated != nominated) {
		object.pod.nominated = nominated;
		sim_api_put(sim->api, SIM_POD_STREAM, slot, &object);
	}
}
