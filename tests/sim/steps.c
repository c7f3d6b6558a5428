/* SPDX-License-Identifier: Apache-2.0
 * Implementation of the steps.
 */
#include "sim.h"

#include <inttypes.h>

#include "engine/base/hash.h"

#define SILENCE_S   30 /* the binder's timeout for an answer */
#define KEPT_PODS   7  /* one of this many stays */
#define EVICTS_FROM 25 /* evictions from this number of 100 on succeed */
#define NEWS	    4  /* events read per cycle without faults */

static struct sim_object *object_of(struct sim *sim, enum sim_stream stream, uint32_t ix)
{
	return &sim->api->objects[stream][ix];
}

/* A pod's binding that was not sent to the API server, or NULL. */
static const struct sim_binding *undone(const struct sim *sim, uint32_t slot)
{
	const struct sim_object *pod = &sim->api->objects[SIM_POD_STREAM][slot];

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		if (pod->there && sim->bindings[i].uid == pod->uid && !sim->bindings[i].done) {
			return &sim->bindings[i];
		}
	}
	return NULL;
}

/* ---- users, controllers and kubelets ---- */

static void put_node(struct sim *sim, uint32_t ix, uint32_t shape)
{
	struct sim_object what = {.node = sim_node_spec_of(shape)};

	sim->faults[SIM_NODE_AGAIN] += object_of(sim, SIM_NODE_STREAM, ix)->version > 0 &&
				       !object_of(sim, SIM_NODE_STREAM, ix)->there;
	sim_api_put(sim->api, SIM_NODE_STREAM, ix, &what);
}

static void delete_node(struct sim *sim, uint32_t ix)
{
	sim->faults[SIM_NODE_DELETED] += object_of(sim, SIM_NODE_STREAM, ix)->there;
	sim_api_remove(sim->api, SIM_NODE_STREAM, ix);
}

static void flap_node(struct sim *sim, uint32_t ix, uint32_t how)
{
	struct sim_object what = *object_of(sim, SIM_NODE_STREAM, ix);

	if (!what.there) {
		return;
	}
	if (how == 0) {
		what.node.broken = !what.node.broken;
	} else {
		what.node.unschedulable = !what.node.unschedulable;
	}
	sim->faults[SIM_NODE_FLAP]++;
	sim_api_put(sim->api, SIM_NODE_STREAM, ix, &what);
}

/* Access modes do not change. */
static void put_claim(struct sim *sim, uint32_t ix, uint32_t how)
{
	const struct sim_object *claim = object_of(sim, SIM_CLAIM_STREAM, ix);
	struct sim_object what = {
		.claim = {.bound = how & 1, .once = claim->there ? claim->claim.once : (how & 2) != 0}};

	sim_api_put(sim->api, SIM_CLAIM_STREAM, ix, &what);
}

static void put_device_claim(struct sim *sim, uint32_t ix)
{
	struct sim_object what = *object_of(sim, SIM_DEVICE_STREAM, ix);

	if (what.there) {
		what.device_claim.touched++;
	} else {
		what.device_claim = (struct sim_device_claim_spec){.node = SIM_NONE};
	}
	sim_api_put(sim->api, SIM_DEVICE_STREAM, ix, &what);
}

static void create_pod(struct sim *sim, uint32_t slot, uint32_t shape)
{
	struct sim_object what = {.pod = {.spec = sim_pod_spec_of(shape, slot),
					  .node = SIM_NONE,
					  .nominated = SIM_NONE,
					  .creation_ns = sim->now_ns}};

	if (sim_groups_of(sim->seed) == SIM_QUEUED && what.pod.spec.grouped) {
		/* Pods of another priority, policy or scheduler are an error, whatever the cluster is like,
		 * and so is, in DynamicResources' PodGroupPostFilter, a claim that does not exist; errors are
		 * retried for ever. */
		what.pod.spec.priority = sim_group_priority(sim_namespace_of(slot));
		what.pod.spec.never_preempts = what.pod.spec.foreign = false;
		what.pod.spec.claim = SIM_NONE;
	}

	if (!object_of(sim, SIM_POD_STREAM, slot)->there) {
		sim_api_put(sim->api, SIM_POD_STREAM, slot, &what);
	}
}

static void delete_pod(struct sim *sim, uint32_t slot, uint32_t grace_s)
{
	sim->faults[SIM_DELETED_MEANWHILE] += undone(sim, slot) != NULL;
	sim_api_delete_pod(sim->api, slot, sim->now_ns, grace_s, false);
}

/* With every second node only a few pods stay. */
static void keep_node(struct sim *sim, uint32_t ix)
{
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		if (i != ix) {
			delete_node(sim, i);
		}
	}
	for (uint32_t slot = 0; slot < SIM_PODS && ix % 2; slot++) {
		if (slot % KEPT_PODS) {
			delete_pod(sim, slot, 0);
		}
	}
}

static void end_pod(struct sim *sim, uint32_t slot)
{
	struct sim_object what = *object_of(sim, SIM_POD_STREAM, slot);

	if (what.there && what.pod.node != SIM_NONE && !what.pod.ended) {
		what.pod.ended = true;
		sim_api_put(sim->api, SIM_POD_STREAM, slot, &what);
	}
}

static void change_pod(struct sim *sim, uint32_t slot, uint32_t what, uint32_t to)
{
	struct sim_object object = *object_of(sim, SIM_POD_STREAM, slot);
	struct sim_pod_spec *spec = &object.pod.spec;

	if (!object.there) {
		return;
	}
	switch (what) {
	case 0:
		spec->label = to;
		break;
	case 1:
		spec->gated = false;
		break;
	case 2:
		spec->milli_cpu = 100 * ((int64_t)to + 1);
		break;
	default:
		spec->tolerates = true;
		break;
	}
	sim->faults[SIM_CHANGED_MEANWHILE] += undone(sim, slot) != NULL;
	sim_api_put(sim->api, SIM_POD_STREAM, slot, &object);
}

static void bind_elsewhere(struct sim *sim, uint32_t slot, uint32_t node)
{
	const struct sim_object *pod = object_of(sim, SIM_POD_STREAM, slot);

	if (pod->there && !pod->pod.spec.gated) {
		bool raced = undone(sim, slot) != NULL;

		if (sim_api_bind(sim->api, slot, pod->uid, node) == SIM_CREATED) {
			sim->faults[SIM_BOUND_MEANWHILE] += raced;
			sim->faults[SIM_GANG_BOUND] +=
				sim_is_grouped(sim, slot) && sim_group_waiting_n(sim, slot) > 1;
		}
	}
}

/* ---- streams ---- */

/* Returns false when there is no room for it. */
static bool hand_over(struct sim *sim, enum sim_stream stream, const struct sim_event *event)
{
	if (sim->pipeline) {
		return sim_pipe_feed(sim, stream, event->ix, &event->object);
	}
	if (event->object.version <= sim->feeds[stream].seen) {
		return true;
	}
	if (!sim_show_change(sim, stream, event->ix, &event->object)) {
		return false;
	}
	sim->feeds[stream].seen = event->object.version;
	return true;
}

/* Has another stream older unread events? */
static bool overtakes(const struct sim *sim, enum sim_stream stream, uint64_t version)
{
	for (int i = 0; i < SIM_STREAM_N; i++) {
		const struct sim_log *log = &sim->api->logs[i];

		if (i != (int)stream && sim->feeds[i].next < log->n &&
			log->events[sim->feeds[i].next].object.version < version) {
			return true;
		}
	}
	return false;
}

static bool deliver(struct sim *sim, enum sim_stream stream)
{
	struct sim_feed *feed = &sim->feeds[stream];
	const struct sim_log *log = &sim->api->logs[stream];

	if (feed->next == log->n) {
		return false;
	}
	const struct sim_event event = log->events[feed->next];
	if (!hand_over(sim, stream, &event)) {
		return false;
	}
	sim->faults[SIM_DELAY] += log->n - feed->next >= 10;
	sim->faults[SIM_REORDER] += overtakes(sim, stream, event.object.version);
	log->events[feed->next].shown |= 1u << sim->number;
	feed->next++;
	return true;
}

static void repeat(struct sim *sim, enum sim_stream stream, uint32_t back, enum sim_fault fault)
{
	uint32_t next = sim->feeds[stream].next;

	if (next <= back) {
		return;
	}
	const struct sim_event *event = &sim->api->logs[stream].events[next - 1 - back];
	/* A source does not repeat the deletion of an object that it never showed because it listed later. */
	if (!sim->pipeline || event->shown >> sim->number & 1) {
		sim->faults[fault]++;
		hand_over(sim, stream, event);
	}
}

static void drop(struct sim *sim, enum sim_stream stream)
{
	struct sim_feed *feed = &sim->feeds[stream];

	if (feed->next < sim->api->logs[stream].n) {
		sim->faults[SIM_DROP]++;
		feed->next++;
		feed->gap = true;
	}
}

/* The events of a source after a list: deletions, with the last known state, then new and changed objects. */
static void hand_over_listed(
	struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *there)
{
	struct sim_object gone = sim->fed[stream][ix];

	gone.there = false;
	if (sim->fed[stream][ix].there && (!there->there || there->uid != gone.uid)) {
		while (!sim_pipe_feed(sim, stream, ix, &gone)) {
			sim_pipe_move_on(sim);
		}
		sim->fed[stream][ix].there = false;
	}
	while (there->there && there->version != sim->fed[stream][ix].version &&
		!sim_pipe_feed(sim, stream, ix, there)) {
		sim_pipe_move_on(sim);
	}
}

/* Starts a watch with a list of the state after position events. A list older than a state seen before is
 * requested again. */
void sim_list(struct sim *sim, enum sim_stream stream, uint32_t position)
{
	const struct sim_log *log = &sim->api->logs[stream];
	struct sim_feed *feed = &sim->feeds[stream];
	struct sim_object there[SIM_OBJECTS] = {{0}};
	uint64_t version = position ? log->events[position - 1].object.version : 0;

	if (position < feed->next || version < feed->seen) {
		return;
	}
	if (sim_is_starved(sim, BT_MEM_OBJECT)) {
		feed->gap = true; /* listed later */
		return;
	}
	for (uint32_t i = 0; i < position; i++) {
		there[log->events[i].ix] = log->events[i].object;
	}
	*feed = (struct sim_feed){.next = position, .seen = version};
	for (uint32_t ix = 0; ix < SIM_OBJECTS; ix++) {
		const struct sim_object *shown = &sim->shown[stream][ix];

		if (sim->pipeline) {
			hand_over_listed(sim, stream, ix, &there[ix]);
		} else if (there[ix].version != shown->version && (there[ix].there || shown->there)) {
			sim_show_change(sim, stream, ix, &there[ix]);
		}
	}
}

static void list_old(struct sim *sim, enum sim_stream stream, uint32_t back)
{
	uint32_t n = sim->api->logs[stream].n;

	sim->faults[SIM_STALE_LIST]++;
	sim_list(sim, stream, n > back ? n - back : 0);
}

/* ---- binder ---- */

/* The a-th binding that is done or not, and due; or binding_n. */
static uint32_t find_binding(const struct sim *sim, uint32_t a, bool done)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		n += sim->bindings[i].done == done && sim->bindings[i].due_ns <= sim->now_ns;
	}
	for (uint32_t i = 0, k = n ? a % n : 0; n && i < sim->binding_n; i++) {
		if (sim->bindings[i].done == done && sim->bindings[i].due_ns <= sim->now_ns && k-- == 0) {
			return i;
		}
	}
	return sim->binding_n;
}

static uint32_t done_n(const struct sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		n += sim->bindings[i].done;
	}
	return n;
}

/* Does the binding fail without reaching the API server? */
static bool refuses(struct sim *sim, uint32_t how)
{
	static const enum sim_fault faults[] = {SIM_REFUSED_409, SIM_REFUSED_404, SIM_REFUSED_500};

	if (how < 12 || how >= 24) {
		return false;
	}
	sim->faults[faults[how % 3]]++;
	return true;
}

/* No two claims have the same device. */
static void check_devices(struct sim *sim)
{
	const struct sim_object *claims = sim->api->objects[SIM_DEVICE_STREAM];

	for (uint32_t i = 0; i < SIM_DEVICE_CLAIMS; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (claims[i].there && claims[k].there && claims[i].device_claim.node != SIM_NONE &&
				claims[i].device_claim.node == claims[k].device_claim.node &&
				claims[i].device_claim.device == claims[k].device_claim.device) {
				sim_fail(sim, "I1",
					"device-%" PRIu32 " and device-%" PRIu32 " have the same device", k,
					i);
			}
		}
	}
}

static bool bind_with_devices(struct sim *sim, struct sim_binding *binding)
{
	uint32_t claim = binding->spec.device_claim;

	if (claim != SIM_NONE) {
		if (!sim_api_reserve_device(sim->api, claim, binding->claim_uid, binding->uid, binding->node,
			    binding->wanted)) {
			sim->faults[SIM_DEVICE_CONFLICT]++;
			return false;
		}
		sim->faults[binding->wanted == SIM_NONE ? SIM_DEVICE_SHARED : SIM_DEVICE_ALLOCATED]++;
		check_devices(sim);
	}
	bool good = sim_api_bind(sim->api, binding->slot, binding->uid, binding->node) == SIM_CREATED;
	if (!good && claim != SIM_NONE) {
		sim_api_release_devices(sim->api, binding->uid);
	}
	if (claim != SIM_NONE) {
		binding->wrote = object_of(sim, SIM_DEVICE_STREAM, claim)->version;
	}
	return good;
}

void sim_call_bind(struct sim *sim, struct sim_binding *binding, uint32_t how)
{
	binding->done = true;
	if (!sim->leader) {
		sim->faults[SIM_NOT_LEADER]++;
		return;
	}
	if (refuses(sim, how)) {
		return;
	}
	if (how < 3) {
		/* A caller of the engine itself gives up after a timeout; the pipeline checks the pod. */
		sim->faults[SIM_LOST_REQUEST]++;
		binding->due_ns = sim->now_ns + SILENCE_S * SIM_SECOND;
		binding->silent = true;
		return;
	}
	binding->good = bind_with_devices(sim, binding);
	if (binding->spec.device_claim != SIM_NONE) {
		return; /* a binder that writes claims checks the result before it
			 * answers: no answer is lost */
	}
	if (binding->good && how < 7) {
		sim->faults[SIM_LOST_ANSWER]++;
		binding->good = false;
	} else if (binding->good && how < 12) {
		sim->faults[SIM_LOST_SILENTLY]++;
		binding->good = false;
		binding->due_ns = sim->now_ns + SILENCE_S * SIM_SECOND;
		binding->silent = true;
	}
}

static bool bind(struct sim *sim, uint32_t which, uint32_t how)
{
	uint32_t i = find_binding(sim, which, false);

	if (sim->pipeline) {
		return sim_pipe_bind(sim, which, how);
	}
	if (i == sim->binding_n) {
		return false;
	}
	if (done_n(sim) == SIM_RING) {
		sim->faults[SIM_RING_FULL]++;
		return false;
	}
	sim_call_bind(sim, &sim->bindings[i], how);
	return true;
}

struct bt_binding_answer sim_answer_of(
	struct sim *sim, const struct sim_binding *binding, struct bt_written_claim *claim)
{
	const struct sim_object object = {
		.there = true, .uid = binding->claim_uid, .version = binding->wrote};

	if (binding->wrote == 0) {
		return (struct bt_binding_answer){.bound = binding->good};
	}
	const struct bt_meta_object *meta =
		&sim_device_claim_object(&sim->arena, binding->spec.device_claim, &object)->meta;
	*claim = (struct bt_written_claim){
		.name = meta->name, .uid = meta->uid, .version = binding->wrote, .reserved = binding->good};
	return (struct bt_binding_answer){.bound = binding->good, .claims = claim, .claim_n = 1};
}

static bool answer(struct sim *sim, uint32_t which)
{
	uint32_t i = find_binding(sim, which, true);

	if (sim->pipeline) {
		return sim_pipe_reply(sim, which);
	}
	if (i == sim->binding_n) {
		return false;
	}
	sim_answer(sim, i);
	return true;
}

static bool evict(struct sim *sim, uint32_t which, uint32_t how)
{
	if (sim->eviction_n == 0 || sim->pipeline) {
		return false;
	}
	uint32_t i = which % sim->eviction_n;
	const struct sim_eviction victim = sim->evictions[i];

	sim->evictions[i] = sim->evictions[--sim->eviction_n];
	if (how < EVICTS_FROM) {
		sim->faults[SIM_EVICTION_FAILED]++;
		sim_evict_failed(sim, &victim);
	} else if (object_of(sim, SIM_POD_STREAM, victim.slot)->uid == victim.uid) {
		sim_api_delete_pod(sim->api, victim.slot, sim->now_ns, 2, true);
	}
	return true;
}

/* ---- readers ---- */

static uint64_t sight_of(const struct bt_published *look)
{
	const struct bt_node_desc *desc;
	uint64_t sight = look->version;

	for (uint32_t slot = 0; (desc = bt_published_next(look, &slot)); slot++) {
		sight = bt_hash_u64(sight ^ slot);
		sight = bt_hash_u64(sight ^ (uint64_t)desc->alloc_pods);
		for (uint32_t i = 0; i < desc->alloc.n; i++) {
			sight = bt_hash_u64(sight ^ (uint64_t)desc->alloc.items[i].amount);
		}
	}
	return sight;
}

void sim_leave(struct sim *sim)
{
	if (!sim->visiting) {
		return;
	}
	if (sight_of(&sim->look) != sim->sight) {
		sim_fail(sim, "I7", "what a visitor looks at has changed");
	}
	bt_published_end(&sim->look);
	sim->visiting = false;
}

static void visit(struct sim *sim, uint32_t steps)
{
	/* After the first reader other threads reclaim replaced objects, which takes longer. */
	if (!sim->visiting && sim->seed % 8 == 0) {
		bt_published_begin(bt_engine_cache(sim->engines[0])->publisher, &sim->look);
		sim->sight = sight_of(&sim->look);
		sim->visit_until = sim->step_no + steps;
		sim->visiting = true;
	}
}

/* ---- workers ---- */

void sim_let_go(struct sim *sim)
{
	if (sim->held_until) {
		sim->faults[SIM_WORKER_PAUSED] += bt_team_taken_over_n(sim_team()) - sim->taken_over_n;
		sim_let_workers_go();
		sim->held_until = 0;
	}
}

/* ---- memory ---- */

bool sim_is_starved(const struct sim *sim, enum bt_mem_use use)
{
	return !sim->settling && sim->starved_until[use] > sim->step_no;
}

/* ---- time ---- */

static void move_clock(struct sim *sim, int64_t by_ns)
{
	sim->now_ns += by_ns;
	sim->latest_ns = sim->now_ns > sim->latest_ns ? sim->now_ns : sim->latest_ns;
	if (!sim->pipeline) {
		sim_tick(sim);
	}
}

static void jump(struct sim *sim, uint32_t how)
{
	bool back = how >= 4;

	sim->faults[back ? SIM_CLOCK_BACK : SIM_CLOCK_FORWARD]++;
	move_clock(sim, back ? -20 * SIM_SECOND : (int64_t)(1 + how) * 3600 * SIM_SECOND);
}

/* ---- dispatch ---- */

static bool is_paused(struct sim *sim, enum sim_stage stage)
{
	bool paused = !sim->settling && sim->paused_until[stage] > sim->step_no;

	sim->faults[SIM_PAUSED] += paused;
	return paused;
}

static void do_objects(struct sim *sim, struct sim_step step)
{
	struct sim_object what = {0};

	switch (step.op) {
	case SIM_OP_put_node:
		put_node(sim, step.a, step.b);
		break;
	case SIM_OP_delete_node:
		delete_node(sim, step.a);
		break;
	case SIM_OP_keep_node:
		keep_node(sim, step.a);
		break;
	case SIM_OP_flap_node:
		flap_node(sim, step.a, step.b);
		break;
	case SIM_OP_put_claim:
		put_claim(sim, step.a, step.b);
		break;
	case SIM_OP_delete_claim:
		sim_api_remove(sim->api, SIM_CLAIM_STREAM, step.a);
		break;
	case SIM_OP_put_volume:
		what.volume = (struct sim_volume_spec){.zone = step.b};
		sim_api_put(sim->api, SIM_VOLUME_STREAM, step.a, &what);
		break;
	case SIM_OP_delete_volume:
		sim_api_remove(sim->api, SIM_VOLUME_STREAM, step.a);
		break;
	case SIM_OP_put_budget:
		what.budget = (struct sim_budget_spec){step.b % 3, (int32_t)step.b / 3};
		sim_api_put(sim->api, SIM_BUDGET_STREAM, step.a, &what);
		break;
	case SIM_OP_delete_budget:
		sim_api_remove(sim->api, SIM_BUDGET_STREAM, step.a);
		break;
	case SIM_OP_put_group:
		what.group = (struct sim_group_spec){step.b};
		/* It is immutable, so it is re-created. */
		sim_api_remove(sim->api, SIM_GROUP_STREAM, step.a);
		sim_api_put(sim->api, SIM_GROUP_STREAM, step.a, &what);
		break;
	case SIM_OP_put_slice:
		what.slice = (struct sim_slice_spec){step.b};
		sim_api_put(sim->api, SIM_SLICE_STREAM, step.a, &what);
		break;
	case SIM_OP_delete_slice:
		sim_api_remove(sim->api, SIM_SLICE_STREAM, step.a);
		break;
	case SIM_OP_put_device_claim:
		put_device_claim(sim, step.a);
		break;
	case SIM_OP_delete_device_claim:
		/* While in use it only starts being deleted. */
		if (object_of(sim, SIM_DEVICE_STREAM, step.a)->device_claim.user_n == 0) {
			sim_api_remove(sim->api, SIM_DEVICE_STREAM, step.a);
		}
		break;
	case SIM_OP_delete_group:
		sim_api_remove(sim->api, SIM_GROUP_STREAM, step.a);
		break;
	default:
		break;
	}
}

static void do_pods(struct sim *sim, struct sim_step step)
{
	switch (step.op) {
	case SIM_OP_create_pod:
		create_pod(sim, step.a, step.b);
		break;
	case SIM_OP_delete_pod:
		delete_pod(sim, step.a, step.b);
		break;
	case SIM_OP_replace_pod:
		delete_pod(sim, step.a, 0);
		create_pod(sim, step.a, step.b);
		break;
	case SIM_OP_end_pod:
		end_pod(sim, step.a);
		break;
	case SIM_OP_change_pod:
		change_pod(sim, step.a, step.b, step.c);
		break;
	case SIM_OP_bind_elsewhere:
		bind_elsewhere(sim, step.a, step.b);
		break;
	case SIM_OP_kubelet:
		sim_api_finish_pods(sim->api, sim->now_ns);
		break;
	case SIM_OP_evict:
		evict(sim, step.a, step.b);
		break;
	default:
		break;
	}
}

/* Most events concern pods. */
static enum sim_stream stream_of(uint32_t a)
{
	if (a < SIM_FEW_STREAMS) {
		return (enum sim_stream)a;
	}
	if (a < 2 * SIM_FEW_STREAMS) {
		return a % SIM_FEW_STREAMS ? SIM_POD_STREAM : SIM_NODE_STREAM;
	}
	return (enum sim_stream)(a - SIM_FEW_STREAMS);
}

static void do_stream(struct sim *sim, struct sim_step step)
{
	enum sim_stream stream = stream_of(step.a);

	if (is_paused(sim, SIM_INGEST)) {
		return;
	}
	switch (step.op) {
	case SIM_OP_deliver:
		for (uint32_t i = 0; i <= step.b && deliver(sim, stream); i++) {
		}
		break;
	case SIM_OP_duplicate:
		repeat(sim, stream, 0, SIM_DUPLICATE);
		break;
	case SIM_OP_stale:
		repeat(sim, stream, step.b + 1, SIM_STALE);
		break;
	case SIM_OP_drop:
		drop(sim, stream);
		break;
	case SIM_OP_cut:
		sim->faults[SIM_CUT]++;
		sim_list(sim, stream, sim->api->logs[stream].n);
		break;
	case SIM_OP_stale_list:
		list_old(sim, stream, step.b);
		break;
	case SIM_OP_malformed:
		if (sim->pipeline) {
			sim_pipe_feed_malformed(sim, step.a, step.b);
		} else {
			sim_show_malformed(sim, step.a, step.b);
		}
		break;
	default:
		break;
	}
}

static void decide(struct sim *sim, uint32_t cycles)
{
	if (is_paused(sim, SIM_SCHEDULER)) {
		return;
	}
	if (sim->pipeline) {
		sim_pipe_decide(sim, cycles);
		return;
	}
	for (uint32_t i = 0; i < cycles && sim_decide(sim); i++) {
	}
}

/* Runs a stage of the pipeline, unless its thread is paused. */
static void stage(struct sim *sim, uint32_t which, uint32_t times)
{
	static const enum sim_stage threads[] = {SIM_INGEST, SIM_INGEST, SIM_INGEST, SIM_INGEST,
		SIM_SCHEDULER, SIM_SCHEDULER, SIM_ANSWERS, SIM_SCHEDULER};

	if (!sim->pipeline || is_paused(sim, threads[which % 8])) {
		return;
	}
	for (uint32_t i = 0; i < times && sim_pipe_stage(sim, which); i++) {
	}
}

static void do_stages(struct sim *sim, struct sim_step step)
{
	switch (step.op) {
	case SIM_OP_decide:
		decide(sim, step.b + 1);
		break;
	case SIM_OP_stage:
		stage(sim, step.a, step.b + 1);
		break;
	case SIM_OP_begin:
		if (!sim->pipeline) {
			sim_begin(sim);
		}
		break;
	case SIM_OP_end:
		sim_finish(sim);
		break;
	case SIM_OP_bind:
		if (!is_paused(sim, SIM_BINDER)) {
			bind(sim, step.a, step.b);
		}
		break;
	case SIM_OP_answer:
		if (!is_paused(sim, SIM_ANSWERS)) {
			answer(sim, step.a);
		}
		break;
	case SIM_OP_clock:
		move_clock(sim, (int64_t)step.b * 1000000);
		break;
	case SIM_OP_jump:
		jump(sim, step.b);
		break;
	case SIM_OP_leader:
		sim->leader = !sim->leader;
		break;
	case SIM_OP_visit:
		visit(sim, step.b);
		break;
	case SIM_OP_starve:
		sim->starved_until[step.a] = sim->step_no + step.b;
		break;
	case SIM_OP_hold:
		if (sim->works) {
			sim_hold_worker(step.a + 1);
			sim->held_until = sim->step_no + step.b;
			sim->taken_over_n = bt_team_taken_over_n(sim_team());
		}
		break;
	case SIM_OP_pause:
		sim->paused_until[step.a % SIM_STAGE_N] = sim->step_no + step.b;
		break;
	default:
		break;
	}
}

void sim_do(struct sim *sim, struct sim_step step)
{
	if (step.op >= SIM_OP_deliver && step.op <= SIM_OP_malformed) {
		do_stream(sim, step);
	} else if (step.op >= SIM_OP_decide && step.op != SIM_OP_evict && step.op != SIM_OP_keep_node) {
		do_stages(sim, step);
	} else {
		do_objects(sim, step);
		do_pods(sim, step);
	}
	sim->step_no++;
	if (sim->step_no > sim->visit_until) {
		sim_leave(sim);
	}
	if (sim->held_until && sim->step_no > sim->held_until) {
		sim_let_go(sim);
	}
}

bool sim_move_on(struct sim *sim)
{
	bool moved = sim->begun;

	sim_finish(sim);
	for (int i = 0; i < SIM_STREAM_N; i++) {
		enum sim_stream stream = (enum sim_stream)i;

		if (sim->feeds[stream].gap) {
			sim_list(sim, stream, sim->api->logs[stream].n);
			moved = true;
		}
		/* Events are read faster than cycles create them. */
		for (uint32_t n = 0; n < NEWS && deliver(sim, stream); n++) {
			moved = true;
		}
	}
	sim_api_finish_pods(sim->api, sim->now_ns);
	if (sim->pipeline) {
		return sim_pipe_move_on(sim) || moved;
	}
	moved |= bind(sim, 0, SIM_FAULTLESS);
	moved |= answer(sim, 0);
	moved |= evict(sim, 0, SIM_FAULTLESS);
	moved |= sim_decide(sim);
	return moved;
}
