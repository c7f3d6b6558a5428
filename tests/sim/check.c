/* SPDX-License-Identifier: Apache-2.0
 * Invariants after every step, and at rest.
 */
#include "sim.h"

#include <inttypes.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)

/* The binder has confirmed the eviction, and the engine has applied its answer. */
static bool is_being_evicted(const struct sim *sim, uint32_t slot)
{
	return sim->known[slot].evicted && sim->known[slot].ix != BT_NO_POD &&
	       sim_pod_at(sim->engines[0], sim->known[slot].ix)->terminating;
}

static void collect_devices(const struct sim *sim, struct sim_state *out)
{
	for (uint32_t i = 0; i < SIM_DEVICE_CLAIMS; i++) {
		const struct sim_object *shown = &sim->shown[SIM_DEVICE_STREAM][i];
		bool allocated = shown->there && shown->device_claim.node != SIM_NONE;

		out->devices[i] = (struct sim_device){.node = SIM_NONE};
		if (sim->kept_version[i] && shown->there) {
			out->devices[i] = sim->kept[i];
		} else if (allocated) {
			out->devices[i] = (struct sim_device){
				shown->device_claim.node, shown->device_claim.device, false};
		}
	}
	for (uint32_t i = 0; i < sim->binding_n; i++) {
		const struct sim_binding *binding = &sim->bindings[i];

		const struct sim_device device = {binding->node, binding->wanted, true};
		uint32_t claim = binding->spec.device_claim;

		if (!binding->has_device) {
			continue;
		}
		if (sim->shown[SIM_DEVICE_STREAM][claim].there &&
			sim->shown[SIM_DEVICE_STREAM][claim].uid == binding->claim_uid) {
			/* The watch may have shown it before the binder's answer. */
			out->devices[claim] =
				out->devices[claim].node == SIM_NONE ? device : out->devices[claim];
		} else {
			out->lost[out->lost_n++] = device;
		}
	}
}

void sim_collect(const struct sim *sim, struct sim_state *out)
{
	*out = (struct sim_state){.nodes = sim->shown[SIM_NODE_STREAM],
		.claims = sim->shown[SIM_CLAIM_STREAM],
		.volumes = sim->shown[SIM_VOLUME_STREAM],
		.slices = sim->shown[SIM_SLICE_STREAM],
		.device_claims = sim->shown[SIM_DEVICE_STREAM]};
	collect_devices(sim, out);
	memcpy(out->port_twice, sim->port_twice, sizeof(out->port_twice));
	for (uint32_t slot = 0; slot < SIM_PODS; slot++) {
		const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][slot];
		uint32_t node = shown->pod.node != SIM_NONE ? shown->pod.node : sim->known[slot].confirmed;

		if (shown->there && !shown->pod.ended && node != SIM_NONE) {
			out->placed[out->placed_n++] = (struct sim_placed){slot, shown->uid, shown->pod.spec,
				node, shown->pod.deletion_ns != 0 || is_being_evicted(sim, slot)};
		}
	}
	memcpy(out->placed + out->placed_n, sim->in_group, sim->in_group_n * sizeof(sim->in_group[0]));
	out->placed_n += sim->in_group_n;
	for (uint32_t i = 0; i < sim->binding_n; i++) {
		const struct sim_binding *binding = &sim->bindings[i];
		const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][binding->slot];
		bool known = shown->there && shown->uid == binding->uid;

		if (binding->held) {
			out->placed[out->placed_n++] = (struct sim_placed){binding->slot, binding->uid,
				known ? shown->pod.spec : binding->spec, binding->node,
				known && is_being_evicted(sim, binding->slot)};
		}
	}
}

/* The slot of a node, live or not; BT_NO_NODE if the engine does not know it. */
static uint32_t slot_of(struct bt_engine *engine, uint32_t node)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_snapshot *snapshot = cache->view.snapshot;
	uint32_t name = bt_intern_find(cache->dictionary->intern, sim_node_name(NULL, node)), slot = 0;

	while (name && slot < snapshot->slot_n && snapshot->nodes[slot].name != name) {
		slot++;
	}
	return name && slot < snapshot->slot_n ? slot : BT_NO_NODE;
}

static void expect(
	struct sim *sim, const char *invariant, uint32_t node, const char *what, int64_t got, int64_t want)
{
	if (got != want) {
		sim_fail(sim, invariant, "node-%" PRIu32 ": %s is %" PRId64 " instead of %" PRId64, node,
			what, got, want);
	}
}

static int64_t used(struct bt_engine *engine, const char *name, uint32_t slot)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	int r = bt_resource_find(cache->dictionary, bt_str(name));

	return r < 0 ? 0 : bt_node_used(cache->view.usage, (uint32_t)r, slot);
}

static int64_t allocatable(struct bt_engine *engine, const char *name, uint32_t slot)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	int r = bt_resource_find(cache->dictionary, bt_str(name));

	return r < 0 ? 0 : bt_node_alloc(cache->view.snapshot, (uint32_t)r, slot);
}

static void check_ports(
	struct sim *sim, const struct bt_port_list *ports, const struct sim_usage *usage, uint32_t node)
{
	if (sim->port_twice[node]) {
		return;
	}
	expect(sim, "I4", node, "the number of its host ports", ports->n, usage->port_n);
	for (uint32_t i = 0; i < ports->n; i++) {
		bool there = false;

		for (uint32_t k = 0; k < usage->port_n; k++) {
			there |= (int64_t)usage->ports[k] == ports->items[i].port;
		}
		if (!there) {
			sim_fail(sim, "I4", "node-%" PRIu32 ": nobody has host port %d", node,
				ports->items[i].port);
		}
	}
}

static void check_usage(struct sim *sim, struct bt_engine *engine, const struct sim_state *state,
	uint32_t node, uint32_t slot)
{
	const struct bt_usage *usage = bt_engine_cache(engine)->view.usage;
	const struct bt_node_use *got = &usage->nodes[slot];
	struct sim_usage want = sim_usage_of(state, node);

	expect(sim, "I4", node, "cpu used", used(engine, "cpu", slot), want.milli_cpu);
	expect(sim, "I4", node, "memory used", used(engine, "memory", slot), want.memory);
	expect(sim, "I4", node, "widgets used", used(engine, "example.com/widget", slot), want.widgets);
	expect(sim, "I4", node, "the number of its pods", got->pod_n, want.pods);
	expect(sim, "I4", node, "cpu for scores", got->nonzero_milli_cpu, want.nonzero_milli_cpu);
	expect(sim, "I4", node, "memory for scores", got->nonzero_memory, want.nonzero_memory);
	check_ports(sim, &usage->ports[slot], &want, node);
}

static void check_description(struct sim *sim, struct bt_engine *engine, uint32_t node, uint32_t slot)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(engine)->view.snapshot;
	const struct sim_object *shown = &sim->shown[SIM_NODE_STREAM][node];
	bool live = slot != BT_NO_NODE && bt_bitmap_test(snapshot->live, slot);

	expect(sim, "I4", node, "whether it is there", live, shown->there);
	if (!live) {
		return;
	}
	expect(sim, "I4", node, "cpu", allocatable(engine, "cpu", slot), shown->node.milli_cpu);
	expect(sim, "I4", node, "memory", allocatable(engine, "memory", slot), shown->node.mem_mib * MIB);
	expect(sim, "I4", node, "widgets", allocatable(engine, "example.com/widget", slot),
		shown->node.widgets);
	expect(sim, "I4", node, "pods", snapshot->rooms[slot].pods, shown->node.pods);
}

/* Is the pod in the expected state? */
static void check_pod(struct sim *sim, struct bt_engine *engine, const struct sim_state *state, uint32_t slot)
{
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][slot];
	uint32_t ix = sim->known[slot].ix;
	uint32_t found =
		bt_engine_find_pod(engine, sim_namespace(&sim->arena, slot), sim_pod_name(&sim->arena, slot));
	bool foreign = shown->pod.spec.foreign && shown->pod.node == SIM_NONE;
	bool belongs = shown->there && !shown->pod.ended && !foreign;

	if (found != ix || belongs != (found != BT_NO_POD)) {
		sim_fail(sim, "I4", "pod-%" PRIu32 " is %sknown", slot, belongs ? "not " : "");
		return;
	}
	if (!belongs) {
		return;
	}
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(engine)->ledger, ix);
	enum bt_pod_state want = BT_POD_QUEUED;
	uint32_t node = SIM_NONE;
	for (uint32_t i = 0; i < state->placed_n; i++) {
		if (state->placed[i].slot == slot && state->placed[i].uid == shown->uid) {
			node = state->placed[i].node;
			want = shown->pod.node == SIM_NONE && sim->known[slot].confirmed == SIM_NONE
				       ? BT_POD_ASSUMED
				       : BT_POD_SCHEDULED;
		}
	}
	if (pod->state != want || (node != SIM_NONE && pod->node_ix != slot_of(engine, node))) {
		sim_fail(sim, "I4", "pod-%" PRIu32 " is in state %d instead of %d", slot, (int)pod->state,
			(int)want);
	}
}

static void check_counts(struct sim *sim, struct bt_engine *engine, const struct sim_state *state)
{
	struct bt_ledger_counts counts = bt_engine_counts(engine).sets;
	uint32_t held = 0;

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		held += sim->bindings[i].held;
	}
	if (counts.assumed != held || counts.assumed + counts.scheduled != state->placed_n) {
		sim_fail(sim, "I4",
			"%" PRIu64 " assumed, %" PRIu64 " scheduled instead of %" PRIu32 ", %" PRIu32,
			counts.assumed, counts.scheduled, held, state->placed_n - held);
	}
}

/* Records nodes that have moved to other slots. */
static void note_moves(struct sim *sim)
{
	const struct bt_engine_counts counts = bt_engine_counts(sim->engines[0]);
	uint64_t moved_n = counts.node_move_n - sim->move_n;

	sim->move_n = counts.node_move_n;
	sim->faults[SIM_NODE_MOVED] += moved_n;
	sim->faults[SIM_NODE_MOVED_ASSUMED] += counts.sets.assumed ? moved_n : 0;
}

void sim_check(struct sim *sim)
{
	struct sim_state state;

	note_moves(sim);
	sim_collect(sim, &state);
	for (uint32_t e = 0; e < sim->engine_n && !sim->failed; e++) {
		struct bt_engine *engine = sim->engines[e];

		/* Nodes frozen during a cycle catch up at its end. */
		bool frozen = bt_ledger_is_frozen(bt_engine_cache(engine)->ledger);

		for (uint32_t node = 0; node < SIM_NODES && !frozen; node++) {
			uint32_t slot = slot_of(engine, node);

			check_description(sim, engine, node, slot);
			if (slot != BT_NO_NODE) {
				check_usage(sim, engine, &state, node, slot);
			} else {
				expect(sim, "I4", node, "pods on a node that is not known",
					sim_usage_of(&state, node).pods, 0);
			}
		}
		for (uint32_t slot = 0; slot < SIM_PODS; slot++) {
			check_pod(sim, engine, &state, slot);
		}
		check_counts(sim, engine, &state);
	}
}

/* ---- at rest ---- */

/*
 * Does upstream keep the pod waiting, too? Its hints miss some events: a pod on
 * another node than its nominated one, or assumed on one, or changed while assumed; other pods'
 * anti-affinity when a node is added, changed or deleted; a claim in use when its user's node is deleted.
 * And an event that could requeue a pod while PreEnqueue gates it for its victims is lost; then upstream
 * never requeues it. Source: QueueingHints of InterPodAffinity and VolumeRestrictions, PreEnqueue of
 * DefaultPreemption, v1.36.3.
 */
static bool is_kept_out(const struct sim *sim, uint32_t slot)
{
	return sim->known[slot].ix != BT_NO_POD &&
	       bt_queue_info(bt_engine_queue(sim->engines[0]), sim->known[slot].ix).where == BT_WAIT_GATED;
}

static bool is_excused(const struct sim *sim, uint32_t slot)
{
	const struct sim_known *known = &sim->known[slot];

	bool together = sim->api->objects[SIM_POD_STREAM][slot].pod.spec.together;
	/* A member whose binding has failed waits where its group does. Source: addToPodGroupIfExists,
	 * backend/queue, v1.37.2. */
	bool with_group = sim_groups_of(sim->seed) == SIM_QUEUED && sim_is_grouped(sim, slot);

	return sim->untold || with_group || is_kept_out(sim, slot) ||
	       (known->by_other_pods && sim->node_shown_at > known->refused_at) ||
	       (known->by_other_pods && together && sim->pod_shown_at > known->refused_at) ||
	       (known->by_claims && sim->node_gone_at > known->refused_at);
}

static bool waits(const struct sim_object *pod)
{
	return pod->there && !pod->pod.ended && pod->pod.node == SIM_NONE && !pod->pod.deletion_ns &&
	       !pod->pod.spec.gated && !pod->pod.spec.foreign;
}

/* Where groups are queued, a member with a scheduling gate keeps all others out. Source: PreEnqueue of a
 * QueuedPodGroupInfo, backend/queue, v1.37.2. */
static bool is_gated_by_another(const struct sim *sim, uint32_t slot)
{
	if (sim_groups_of(sim->seed) != SIM_QUEUED || !sim_is_grouped(sim, slot)) {
		return false;
	}
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		const struct sim_object *pod = &sim->api->objects[SIM_POD_STREAM][i];

		if (sim_is_grouped(sim, i) && sim_namespace_of(i) == sim_namespace_of(slot) &&
			pod->pod.spec.gated && pod->pod.node == SIM_NONE && !pod->pod.ended) {
			return true;
		}
	}
	return false;
}

/* Does the pod fit, also beside pods of higher priority that are nominated to the node? */
static bool fits_beside_nominated(
	const struct sim *sim, const struct sim_state *state, uint32_t slot, uint32_t node)
{
	const struct sim_pod_spec *spec = &sim->api->objects[SIM_POD_STREAM][slot].pod.spec;
	struct sim_state with = *state;
	const char *why;

	for (uint32_t i = 0; i < SIM_PODS; i++) {
		const struct sim_object *pod = &sim->api->objects[SIM_POD_STREAM][i];

		if (i != slot && waits(pod) && pod->pod.nominated == node &&
			pod->pod.spec.priority >= spec->priority) {
			with.placed[with.placed_n++] =
				(struct sim_placed){i, pod->uid, pod->pod.spec, node, false};
		}
	}
	return sim_judge(state, slot, spec, node, &why) == SIM_YES &&
	       sim_judge(&with, slot, spec, node, &why) == SIM_YES;
}

/* How many more members a pod's gang needs; 0: it has no gang. UINT32_MAX: the group does not exist. */
static uint32_t lacks(const struct sim *sim, uint32_t slot)
{
	const struct sim_object *group = &sim->shown[SIM_GROUP_STREAM][sim_namespace_of(slot)];

	if (!sim_is_grouped(sim, slot)) {
		return 0;
	}
	uint32_t placed_n = sim_group_placed_n(sim, slot);
	if (!group->there) {
		return UINT32_MAX;
	}
	return group->group.min_count > placed_n ? group->group.min_count - placed_n : 0;
}

#define MOST_TRIES 100000

/* Waiting members of a gang, and how they might be decided. */
struct gang {
	const struct sim *sim;
	struct sim_state state;
	uint32_t slots[SIM_PODS], n;
	uint32_t tries; /* attempts left */
};

/*
 * Can the gang fail when these members (a bitmap) are decided in some order, and this many must get nodes?
 * Assumes the worst order and the worst feasible node for each, because the actual ones are not known here.
 * Returns true when there are too many ways to try.
 */
static bool may_fail(struct gang *gang, uint32_t left, uint32_t lacking)
{
	const char *why;

	if (lacking == 0 || (uint32_t)__builtin_popcount(left) < lacking) {
		return lacking > 0;
	}
	for (uint32_t bits = left; bits; bits &= bits - 1) {
		uint32_t slot = gang->slots[__builtin_ctz(bits)], others = left & ~(bits & -bits);
		const struct sim_object *pod = &gang->sim->api->objects[SIM_POD_STREAM][slot];
		bool fits = false;

		for (uint32_t node = 0; node < SIM_NODES; node++) {
			enum sim_answer answer = sim_judge(&gang->state, slot, &pod->pod.spec, node, &why);

			if (answer == SIM_MAYBE || gang->tries-- == 0) {
				return true;
			}
			if (answer == SIM_NO) {
				continue;
			}
			fits |= fits_beside_nominated(gang->sim, &gang->state, slot, node);
			gang->state.placed[gang->state.placed_n++] =
				(struct sim_placed){slot, pod->uid, pod->pod.spec, node, false};
			bool fails = may_fail(gang, others, lacking - 1);
			gang->state.placed_n--;
			if (fails) {
				return true;
			}
		}
		if (!fits && may_fail(gang, others, lacking)) {
			return true;
		}
	}
	return false;
}

/* Lists the waiting members of the pod's gang. Returns whether the outcome can be predicted. */
static bool list_gang(const struct sim *sim, uint32_t first, struct gang *gang)
{
	for (uint32_t slot = 0; slot < SIM_PODS; slot++) {
		const struct sim_object *pod = &sim->api->objects[SIM_POD_STREAM][slot];

		if (!waits(pod) || !sim_is_grouped(sim, slot) ||
			sim_namespace_of(slot) != sim_namespace_of(first)) {
			continue;
		}
		/* Two members may need the same device. */
		if (pod->pod.spec.device_claim != SIM_NONE) {
			return false;
		}
		gang->slots[gang->n++] = slot;
	}
	return true;
}

/* A gang that needs several pods may wait, if some order of its members fails. */
static bool check_gang(struct sim *sim, const struct sim_state *state, uint32_t slot, bool flushed)
{
	struct gang gang = {.sim = sim, .state = *state, .tries = MOST_TRIES};
	uint32_t lacking = lacks(sim, slot);

	if (lacking == UINT32_MAX || !list_gang(sim, slot, &gang)) {
		return false;
	}
	sim->faults[SIM_GANG_LACKS] += gang.n >= lacking;
	if (may_fail(&gang, (1u << gang.n) - 1, lacking)) {
		return false;
	}
	/* An event that requeues one member need not requeue the others: then the flush does. */
	if (flushed) {
		sim_fail(sim, "I3",
			"pod-%" PRIu32 " waits, but the %" PRIu32
			" pods that its gang lacks fit, even after the flush",
			slot, lacking);
	}
	return true;
}

bool sim_check_waiting(struct sim *sim, bool flushed)
{
	struct sim_state state;
	bool any = false;

	sim_collect(sim, &state);
	for (uint32_t i = 0; i < SIM_PODS * SIM_NODES; i++) {
		uint32_t slot = i / SIM_NODES, node = i % SIM_NODES;

		if (!waits(&sim->api->objects[SIM_POD_STREAM][slot]) || is_gated_by_another(sim, slot)) {
			continue;
		}
		if (lacks(sim, slot) > 1) {
			any |= node == 0 && check_gang(sim, &state, slot, flushed);
			continue;
		}
		if (!fits_beside_nominated(sim, &state, slot, node)) {
			continue;
		}
		any = true;
		if (flushed || !is_excused(sim, slot)) {
			sim_fail(sim, "I3", "pod-%" PRIu32 " waits, but node-%" PRIu32 " fits%s", slot, node,
				flushed ? ", even after the flush" : "");
		}
	}
	sim->excused_n += any;
	return any;
}

/* The engine's verdict for a pod and each node: the refusing plugin, or the total. */
struct opinion {
	int64_t of[SIM_NODES];
	bool preempts; /* it would need victims */
};

static void read_opinion(struct bt_engine *engine, uint32_t pod_ix, struct opinion *out)
{
	struct bt_explanation x = {0};
	const struct bt_evaluation *e = &x.evaluation;

	*out = (struct opinion){0};
	bt_engine_explain(engine, pod_ix, &x);
	for (uint32_t node = 0; node < SIM_NODES && !x.refused && !x.gated; node++) {
		uint32_t slot = slot_of(engine, node);

		for (uint32_t i = 0; i < e->visited_n; i++) {
			if (e->visited[i] == slot && e->refused_by[i] != BT_PASSED) {
				out->of[node] = -1 - (int64_t)e->refused_by[i];
			}
		}
		for (uint32_t i = 0; i < e->feasible_n; i++) {
			if (e->feasible[i] == slot) {
				out->of[node] = 1 + e->totals[i];
			}
		}
	}
	out->preempts = x.post_filtered && x.preempts;
	bt_explanation_fini(&x);
}

/* Adds a pod of a shape and evaluates it. */
static void probe(struct sim *sim, struct bt_engine *engine, uint32_t shape, struct opinion *out)
{
	const uint32_t slot = 1000 + shape % SIM_PLAIN_SHAPES;
	struct sim_object object = {.there = true,
		.uid = 1000000 + shape,
		.pod = {.spec = sim_pod_spec_of(shape, slot), .node = SIM_NONE, .nominated = SIM_NONE}};
	enum bt_entry entry;
	uint32_t ix;

	object.pod.spec.foreign = object.pod.spec.gated = object.pod.spec.grouped = false;
	if (bt_engine_add_pod(engine, sim_pod_object(&sim->arena, slot, &object), &entry, &ix) != BT_OK) {
		sim_fail(sim, "I6", "a pod is not taken");
		return;
	}
	read_opinion(engine, ix, out);
}

/* A new engine that gets only the current objects. */
static struct bt_engine *fold(struct sim *sim)
{
	struct bt_engine *engine = sim_engine_create(sim, false, false);
	struct bt_arena *arena = &sim->arena;
	enum bt_entry entry;
	uint32_t ix;

	for (uint32_t i = 0; i < SIM_NODES; i++) {
		if (sim->api->objects[SIM_NODE_STREAM][i].there) {
			bt_engine_apply_object(
				engine, sim_node_object(arena, i, &sim->api->objects[SIM_NODE_STREAM][i]));
		}
	}
	for (uint32_t i = 0; i < SIM_CLAIMS; i++) {
		if (sim->api->objects[SIM_CLAIM_STREAM][i].there) {
			bt_engine_apply_object(
				engine, sim_claim_object(arena, i, &sim->api->objects[SIM_CLAIM_STREAM][i]));
		}
		if (sim->api->objects[SIM_VOLUME_STREAM][i].there) {
			bt_engine_apply_object(engine,
				sim_volume_object(arena, i, &sim->api->objects[SIM_VOLUME_STREAM][i]));
		}
	}
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		if (sim->api->objects[SIM_SLICE_STREAM][i].there) {
			bt_engine_apply_object(
				engine, sim_slice_object(arena, i, &sim->api->objects[SIM_SLICE_STREAM][i]));
		}
	}
	for (uint32_t i = 0; i < SIM_DEVICE_CLAIMS; i++) {
		if (sim->api->objects[SIM_DEVICE_STREAM][i].there) {
			bt_engine_apply_object(engine,
				sim_device_claim_object(arena, i, &sim->api->objects[SIM_DEVICE_STREAM][i]));
		}
	}
	for (uint32_t i = 0; i < SIM_GROUPS; i++) {
		if (sim->api->objects[SIM_GROUP_STREAM][i].there) {
			bt_engine_apply_object(
				engine, sim_group_object(arena, i, &sim->api->objects[SIM_GROUP_STREAM][i]));
		}
	}
	for (uint32_t i = 0; i < SIM_BUDGETS; i++) {
		if (sim->api->objects[SIM_BUDGET_STREAM][i].there) {
			bt_engine_apply_object(engine,
				sim_budget_object(arena, i, &sim->api->objects[SIM_BUDGET_STREAM][i]));
		}
	}
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		if (sim->api->objects[SIM_POD_STREAM][i].there) {
			bt_engine_add_pod(engine,
				sim_pod_object(arena, i, &sim->api->objects[SIM_POD_STREAM][i]), &entry, &ix);
		}
	}
	return engine;
}

static void check_reported(struct sim *sim)
{
	for (uint32_t i = 0; i < SIM_STREAM_N * SIM_OBJECTS; i++) {
		const struct sim_object *shown = &sim->shown[i / SIM_OBJECTS][i % SIM_OBJECTS],
					*there = &sim->api->objects[i / SIM_OBJECTS][i % SIM_OBJECTS];

		if (shown->there != there->there || (there->there && shown->version != there->version)) {
			sim_fail(sim, "I4", "stream %d has not shown everything", (int)i / SIM_OBJECTS);
		}
	}
}

/* A pod that lost its claim is gated, and keeps its nomination. When it is re-added, up to 1.36 it has none,
 * because only entering the active queue nominates a pod. Since 1.37 it has that of its status. A failed
 * binding ends a nomination, but the simulation writes the status only after the pod's next cycle. */
static bool is_nominated_without_its_claim(struct sim *sim, uint32_t slot)
{
	const struct sim_object *shown = &sim->shown[SIM_POD_STREAM][slot];
	uint32_t claim = shown->pod.spec.device_claim;

	return shown->there && claim != SIM_NONE &&
	       (sim_nominated(sim, slot) != SIM_NONE || shown->pod.nominated != SIM_NONE) &&
	       !sim->shown[SIM_DEVICE_STREAM][claim].there;
}

void sim_check_rest(struct sim *sim)
{
	struct bt_engine *folded = fold(sim);
	struct opinion want, got;
	bool unclear = false;

	check_reported(sim);
	for (uint32_t node = 0; node < SIM_NODES; node++) {
		unclear |= sim->port_twice[node];
	}
	/* The only waiting pod of a gang keeps its nomination, but would not get it now. */
	for (uint32_t slot = 0; slot < SIM_PODS; slot++) {
		unclear |= sim_is_grouped(sim, slot) && sim_nominated(sim, slot) != SIM_NONE;
		unclear |= is_nominated_without_its_claim(sim, slot);
	}
	for (uint32_t i = 0; i < 24 && !sim->failed && !unclear; i++) {
		/* Includes some with more fields. */
		uint32_t shape = i < 16 ? i : SIM_PLAIN_SHAPES + i;

		probe(sim, folded, shape, &want);
		for (uint32_t e = 0; e < sim->engine_n; e++) {
			probe(sim, sim->engines[e], shape, &got);
			expect(sim, "I4", 0, "whether a new pod preempts", got.preempts, want.preempts);
			for (uint32_t node = 0; node < SIM_NODES; node++) {
				expect(sim, "I4", node, "what is said of a new pod there", got.of[node],
					want.of[node]);
			}
		}
	}
	bt_engine_destroy(folded);
}
