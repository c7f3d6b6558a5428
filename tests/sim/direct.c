/* SPDX-License-Identifier: Apache-2.0
 * Calls every engine of a simulation directly. All make the same decisions (I9), and reject malformed
 * objects (I6).
 */
#include "sim.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/hash.h"
#include "tools/format/object_reader.h"
#include "tools/offline/generate/build.h"

/* ---- binder and evictor ---- */

static void bind_pod(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct sim *sim = context;
	const struct bt_pod *pod = sim_pod_at(engine, pod_ix);

	if (engine == sim->engines[0] && !sim->pipeline) {
		if (!sim->begun) {
			/* In a group's cycle the source has shown no change yet. */
			sim->deciding = sim->shown[SIM_POD_STREAM][sim_number(engine, pod->name)].pod.spec;
		}
		sim_add_binding(sim, (struct sim_binding){.slot = sim_number(engine, pod->name),
					     .uid = sim_number(engine, pod->uid),
					     .node = sim_node_number(engine, node_ix),
					     .pod_ix = pod_ix});
	}
}

static void evict_pod(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct sim *sim = context;
	const struct bt_pod *pod = sim_pod_at(engine, pod_ix);
	const struct sim_eviction victim = {.slot = sim_number(engine, pod->name),
		.uid = sim_number(engine, pod->uid),
		.for_uid = sim_number(engine, sim_pod_at(engine, for_ix)->uid)};

	if (sim->pipeline) {
		return;
	}
	/* All engines get the same events within the cycle. */
	if (!sim->settling && bt_hash_u64(sim->seed ^ (uint64_t)sim->step_no << 32 ^ victim.uid) % 8 == 0) {
		sim->faults[SIM_EVICTION_FAILED_AT_ONCE]++;
		bt_engine_evict_failed(engine, for_ix);
		return;
	}
	if (engine != sim->engines[0]) {
		return;
	}
	sim_note_victim(sim, victim);
	if (sim->eviction_n < sizeof(sim->evictions) / sizeof(sim->evictions[0])) {
		sim->evictions[sim->eviction_n++] = victim;
	}
}

static void release_claim(
	void *context, struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix)
{
	struct sim *sim = context;
	const struct bt_resource_claim *claim =
		&bt_engine_cache(engine)->view.devices->claims[release->claim_ix];

	(void)for_ix;
	if (engine == sim->engines[0] && !sim->pipeline) {
		sim_release_claim(sim, sim_number(engine, claim->name), sim_number(engine, claim->uid));
	}
}

void sim_prefill(const struct sim *sim, bool other)
{
	bt_resource_prefill(((sim->seed >> 3) + other) & 1 ? BT_FIRST_RARE : 0);
}

struct bt_engine *sim_engine_create(struct sim *sim, bool by_evaluation, bool binds)
{
	struct bt_config_errors errors = {0};
	const struct bt_engine_options options = {
		.seed = sim->seed,
		.clock = bt_clock_virtual(sim->pipeline ? &sim->twin_ns : &sim->now_ns),
		.binder = {binds ? bind_pod : NULL, sim},
		.evictor = {evict_pod, sim},
		.releaser = {release_claim, sim},
		.strict_order = sim->seed & 1,
		.evaluate_always = by_evaluation,
		.plan_memory_bytes = by_evaluation ? 1 : 0,
		.groups_by_events = true,
		.team = sim->works && binds && !by_evaluation ? sim_team() : NULL,
		.batch = 1 + (uint32_t)(sim->seed % 7),
		.always_share = true,
		.always_prefetch = true,
		.keeps_none = sim->seed >> 1 & 1,
		.moves_pods = true,
	};
	sim_prefill(sim, by_evaluation);
	struct bt_engine *engine = bt_engine_create(sim_config(sim_groups_of(sim->seed)), &options, &errors);
	bt_resource_prefill(0);

	bt_config_errors_fini(&errors);
	if (engine) {
		bt_engine_apply_object(engine, sim_class_object(&sim->arena));
		bt_engine_apply_object(engine, sim_device_class_object(&sim->arena));
	}
	return engine;
}

/* ---- events ---- */

enum bt_status sim_take(
	struct bt_engine *engine, const struct bt_object *object, bool there, uint32_t *out_ix)
{
	struct bt_taken taken = {.ix = BT_NO_POD};
	enum bt_status status = there ? bt_engine_show(engine, object, &taken)
				      : bt_engine_delete_object(engine, object->kind, object->meta.namespace_,
						object->meta.name);

	*out_ix = taken.ix;
	return status;
}

/* Passes an object, or its deletion, to all engines. */
static void take(struct sim *sim, const struct bt_object *object, bool there, bool known)
{
	uint32_t first_ix = BT_NO_POD, ix;

	for (uint32_t e = 0; e < sim->engine_n; e++) {
		enum bt_status status = sim_take(sim->engines[e], object, there, &ix);

		if (status != (there || known ? BT_OK : BT_NOT_FOUND)) {
			sim_fail(
				sim, "I6", "%.*s: %s", BT_STR_ARG(object->meta.name), bt_status_name(status));
		}
		if (e > 0 && ix != first_ix) {
			sim_fail(sim, "I9", "an index depends on the way of deciding");
		}
		first_ix = ix;
	}
}

/* No engine accepts it. */
static void refuse(struct sim *sim, const struct bt_object *object)
{
	for (uint32_t e = 0; e < sim->engine_n; e++) {
		uint32_t ix;

		if (sim_take(sim->engines[e], object, true, &ix) != BT_NO_MEMORY) {
			sim_fail(sim, "I7", "an object is taken while memory is short");
		}
	}
}

bool sim_show_change(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object)
{
	bool pod = stream == SIM_POD_STREAM;
	bool known = pod ? sim->known[ix].ix != BT_NO_POD : sim->shown[stream][ix].there;

	if (object->there && sim_is_starved(sim, BT_MEM_OBJECT)) {
		refuse(sim, sim_shown(&sim->arena, stream, ix, object));
		return false;
	}

	sim_account(sim, stream, ix, object);
	take(sim, sim_shown(&sim->arena, stream, ix, object), object->there, known);
	if (pod) {
		sim_find_pod(sim, ix);
	}
	sim_follow_moves(sim);
	sim_note_ports(sim);
	return true;
}

/* ---- cycles ---- */

static bool agree(const struct bt_decision *a, const struct bt_decision *b)
{
	if (a->outcome != b->outcome || a->node_ix != b->node_ix ||
		a->unschedulable_plugins != b->unschedulable_plugins || a->nominated_ix != b->nominated_ix ||
		a->victim_n != b->victim_n) {
		return false;
	}
	for (uint32_t i = 0; i < a->victim_n; i++) {
		if (a->victims[i].pod_ix != b->victims[i].pod_ix) {
			return false;
		}
	}
	return true;
}

static void check_decision(struct sim *sim, uint32_t slot)
{
	const struct bt_decision *decision = &sim->decisions[0];

	for (uint32_t e = 1; e < sim->engine_n; e++) {
		if (!agree(decision, &sim->decisions[e])) {
			sim_fail(sim, "I9", "pod-%" PRIu32 " is decided otherwise without columns", slot);
		}
	}
	sim_judge_decision(sim, sim->engines[0], decision);
}

void sim_judge_decision(struct sim *sim, struct bt_engine *engine, const struct bt_decision *decision)
{
	uint32_t slot = sim_number(engine, sim_pod_at(engine, decision->pod_ix)->name);
	uint32_t nominated_ix = sim_pod_at(engine, decision->pod_ix)->nominated_ix;
	struct sim_victims victims = {.n = 0};

	for (uint32_t i = 0; i < decision->victim_n && i < SIM_PODS; i++) {
		victims.uids[victims.n++] =
			sim_number(engine, sim_pod_at(engine, decision->victims[i].pod_ix)->uid);
	}
	sim_check_victims(sim, slot, &victims);
	sim_check_cycle(sim,
		&(struct sim_cycle){
			.slot = slot,
			.pod_ix = decision->pod_ix,
			.outcome = decision->outcome,
			.node = decision->outcome == BT_PLACED ? sim_node_number(engine, decision->node_ix)
							       : SIM_NONE,
			.nominated =
				nominated_ix == BT_NO_NODE ? SIM_NONE : sim_node_number(engine, nominated_ix),
			.victim_n = decision->victim_n,
			.unschedulable_plugins = decision->unschedulable_plugins,
			.yields = bt_ledger_may_yield(bt_engine_cache(engine)->ledger, decision->pod_ix),
		});
}

static uint32_t outgoing(const struct sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		n += !sim->bindings[i].done;
	}
	return n;
}

bool sim_begin(struct sim *sim)
{
	struct bt_engine *engine = sim->engines[0];

	if (sim->begun) {
		return false;
	}
	if (outgoing(sim) == SIM_RING) {
		sim->faults[SIM_RING_FULL]++;
		return false;
	}
	uint32_t pod_ix = bt_engine_pop(engine);
	for (uint32_t e = 1; e < sim->engine_n; e++) {
		if (bt_engine_pop(sim->engines[e]) != pod_ix) {
			sim_fail(sim, "I9", "another pod's turn has come without columns");
			return false;
		}
	}
	if (pod_ix == BT_NO_POD) {
		return false;
	}
	if (bt_engine_in_group(engine, pod_ix)) {
		sim_decide_group(sim, pod_ix);
		return true;
	}
	const struct bt_pod *pod = sim_pod_at(engine, pod_ix);
	uint32_t slot = sim_number(engine, pod->name);
	sim_begin_cycle(sim, slot, sim_number(engine, pod->uid));
	for (uint32_t e = 0; e < sim->engine_n; e++) {
		bt_engine_begin(sim->engines[e], pod_ix, &sim->decisions[e]);
	}
	check_decision(sim, slot);
	sim->begun = true;
	return true;
}

void sim_finish(struct sim *sim)
{
	const struct bt_decision *decision = &sim->decisions[0];

	if (!sim->begun) {
		return;
	}
	for (uint32_t e = 0; e < sim->engine_n; e++) {
		bt_engine_end(sim->engines[e], &sim->decisions[e]);
	}
	sim->begun = false;
	sim->faults[SIM_KEPT_OUT] +=
		decision->victim_n &&
		bt_queue_info(bt_engine_queue(sim->engines[0]), decision->pod_ix).where == BT_WAIT_GATED;
	sim_patch_after(sim, decision);
	sim_note_ports(sim);
}

void sim_patch_after(struct sim *sim, const struct bt_decision *decision)
{
	if (decision->outcome == BT_REFUSED || decision->outcome == BT_FAILED) {
		sim_patch(sim, decision->pod_ix, decision->nominated_ix != BT_NO_NODE);
	}
	for (uint32_t i = 0; i < decision->cleared_nominations_n; i++) {
		sim_patch(sim, decision->cleared_nominations[i], false);
	}
}

bool sim_decide(struct sim *sim)
{
	if (!sim_begin(sim)) {
		return false;
	}
	sim_finish(sim);
	return true;
}

void sim_answer(struct sim *sim, uint32_t binding_ix)
{
	const struct sim_binding binding = sim->bindings[binding_ix];

	struct bt_written_claim claim;
	const struct bt_binding_answer answer = sim_answer_of(sim, &binding, &claim);

	for (uint32_t e = 0; e < sim->engine_n; e++) {
		bt_engine_answer(sim->engines[e], binding.pod_ix, &answer);
	}
	sim_end_binding(sim, binding_ix);
	sim_note_ports(sim);
}

void sim_tick(struct sim *sim)
{
	for (uint32_t e = 0; e < sim->engine_n; e++) {
		bt_engine_tick(sim->engines[e]);
	}
}

void sim_evict_failed(struct sim *sim, const struct sim_eviction *eviction)
{
	uint32_t for_ix = sim_pod_of(sim, eviction->for_uid);

	if (for_ix == BT_NO_POD) {
		return;
	}
	sim_note(sim, "  pod-%" PRIu32 " stays where it is", eviction->slot);
	for (uint32_t e = 0; e < sim->engine_n; e++) {
		bt_engine_evict_failed(sim->engines[e], for_ix);
	}
}

/* ---- malformed objects ---- */

static enum bt_status add_again(struct bt_engine *engine, const struct bt_pod_object *pod)
{
	enum bt_entry entry;
	uint32_t ix;

	return bt_engine_add_pod(engine, pod, &entry, &ix);
}

static void ignore(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	(void)diagnosis;
}

/* Text that is no object is reported and has no effect. */
static enum bt_status read_nonsense(uint32_t what)
{
	static const char *const texts[] = {
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-1\",",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-1\"},"
		"\"spec\":{\"containers\":5}}",
	};
	struct bt_object_reader *reader = bt_object_reader_create(ignore, NULL);

	bt_object_reader_begin_text(reader, "watch", bt_str(texts[what % 2]), BT_FORMAT_JSON);
	bool any = bt_object_reader_next(reader) != NULL;
	uint64_t errors = bt_object_reader_counts(reader).errors;
	bt_object_reader_destroy(reader);
	return !any && errors ? BT_INVALID : BT_OK;
}

void sim_show_malformed(struct sim *sim, uint32_t slot, uint32_t what)
{
	static const enum bt_status wanted[] = {
		BT_INVALID, BT_INVALID, BT_INVALID, BT_INVALID, BT_NOT_FOUND, BT_NOT_FOUND, BT_EXISTS};
	const struct sim_known *known = &sim->known[slot];

	if (what == 6 && known->ix == BT_NO_POD) {
		what = 4 + (slot & 1);
	}
	for (uint32_t e = 0; e < sim->engine_n; e++) {
		struct bt_engine *engine = sim->engines[e];
		enum bt_status status = BT_OK;

		switch (what) {
		case 0:
		case 1:
		case 2:
		case 3:
			status = read_nonsense(what);
			break;
		case 4:
			status = bt_engine_remove_node(engine, bt_str("nobody-77"));
			break;
		case 5:
			status = bt_engine_delete_object(engine, BT_KIND_PERSISTENT_VOLUME_CLAIM,
				bt_str("space-0"), bt_str("claim-77"));
			break;
		default:
			status = add_again(
				engine, sim_pod_object(&sim->arena, slot, &sim->shown[SIM_POD_STREAM][slot]));
			break;
		}
		bool starved = sim_is_starved(sim, BT_MEM_OBJECT) && status == BT_NO_MEMORY;
		if (status != wanted[what] && !starved) {
			sim_fail(sim, "I6", "malformed object %" PRIu32 ": %s", what, bt_status_name(status));
		}
	}
	sim_follow_moves(sim);
	sim->faults[SIM_MALFORMED]++;
}
