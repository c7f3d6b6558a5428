/* SPDX-License-Identifier: Apache-2.0
 * The engine as a pipeline in one thread: the history selects the next stage; rings have minimal size. Each
 * step applies at most one event, so that the simulation knows what the engine has seen.
 */
#include <inttypes.h>
#include <string.h>

#include "engine/flow/pipeline/pipeline_int.h"
#include "sim.h"
#include "tools/offline/generate/build.h"

#define STREAM_THREADS 2
#define BIND_THREADS   2
#define BINDINGS       8  /* at a time; a group may have more */
#define APPLIED	       8  /* events applied per round without faults */
#define CHECK_UNSURE   30 /* per cent of checks of a binding that get no answer */

/* ---- events in transit ---- */

static bool push(struct sim *sim, enum sim_stream stream, struct bt_watch_event *watch_event,
	struct sim_watch_event note)
{
	note.watch_event = watch_event;
	note.stream = stream;
	enum bt_status status = sim->event_n == SIM_PARCELS
					? BT_FULL
					: bt_pipeline_feed(sim->pipeline, (uint32_t)stream, &watch_event, 0);
	if (status != BT_OK) {
		sim->faults[SIM_RING_FULL] += status == BT_FULL;
		bt_watch_event_destroy(watch_event);
		return false;
	}
	sim->watch_events[sim->event_n++] = note;
	return true;
}

bool sim_pipe_feed(struct sim *sim, enum sim_stream stream, uint32_t ix, const struct sim_object *object)
{
	struct bt_watch_event *watch_event =
		bt_watch_event_create(object->there ? BT_WATCH_EVENT_APPLY : BT_WATCH_EVENT_DELETE);

	watch_event->object = *sim_shown(&watch_event->arena, stream, ix, object);
	if (!push(sim, stream, watch_event, (struct sim_watch_event){.ix = ix, .object = *object})) {
		return false;
	}
	if (object->version > sim->fed[stream][ix].version) {
		sim->fed[stream][ix] = *object;
	}
	return true;
}

bool sim_pipe_feed_malformed(struct sim *sim, uint32_t slot, uint32_t what)
{
	struct sim_object object = {.uid = ++sim->api->uid_n,
		.version = ++sim->api->version,
		.pod = {.spec = sim_pod_spec_of(0, slot), .node = SIM_NONE, .nominated = SIM_NONE}};
	struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_DELETE);

	watch_event->object =
		*sim_shown(&watch_event->arena, SIM_POD_STREAM, 1000 + slot + 100 * (what % 2), &object);
	sim->faults[SIM_MALFORMED]++;
	return push(sim, SIM_POD_STREAM, watch_event,
		(struct sim_watch_event){.malformed = true, .object = object});
}

/* The next watch event of a ring, or NULL. */
static const struct bt_watch_event *head_of(const struct bt_ring *ring)
{
	const struct bt_watch_event *watch_event = NULL;

	if (bt_ring_count(ring) > 0) {
		memcpy(&watch_event,
			ring->slots + (ring->ck.c_head & (ring->capacity - 1)) * sizeof(watch_event),
			sizeof(watch_event));
	}
	return watch_event;
}

/* The publisher's next event, or NULL: streams take turns, and so do the threads of a stream. */
static const struct bt_watch_event *next_to_publish(const struct sim *sim)
{
	const struct bt_pipeline *p = sim->pipeline;
	const struct bt_watch_event *watch_event = NULL;

	for (uint32_t i = 0; i < SIM_STREAM_N && !watch_event; i++) {
		const struct bt_source_queues *lane = &p->sources[(p->publish_turn + i) % SIM_STREAM_N];

		watch_event = head_of(&lane->deltas[bt_pipeline_ingest_of(sim->pipeline, lane->published_n)]);
	}
	return watch_event;
}

/* Is it new? An object has one history: versions grow within a UID, and a deleted
 * object does not come back. */
static bool is_news(const struct sim *sim, const struct sim_watch_event *watch_event)
{
	const struct sim_object *last = &sim->published[watch_event->stream][watch_event->ix],
				*seen = &watch_event->object;

	if (seen->there) {
		return seen->version > last->version && (last->there || seen->uid != last->uid);
	}
	/* A newer object has taken the name of the known one, so both are gone. */
	return last->version == 0 ||
	       (last->there && (seen->uid == last->uid || seen->version > last->version));
}

static struct sim_watch_event take_note(struct sim *sim, const struct bt_watch_event *watch_event)
{
	struct sim_watch_event note = {.watch_event = NULL};

	for (uint32_t i = 0; i < sim->event_n; i++) {
		if (sim->watch_events[i].watch_event == watch_event) {
			note = sim->watch_events[i];
			memmove(&sim->watch_events[i], &sim->watch_events[i + 1],
				(--sim->event_n - i) * sizeof(note));
			break;
		}
	}
	return note;
}

static uint32_t number_or_none(struct bt_str name)
{
	return name.len ? sim_number_of(name) : SIM_NONE;
}

/* ---- the twin: the same, event by event (I9) ---- */

static struct bt_engine *twin(struct sim *sim)
{
	return sim->engine_n > 1 ? sim->engines[1] : NULL;
}

static void tell_twin_object(struct sim *sim, const struct bt_object *object, bool there)
{
	uint32_t until = sim->starved_until[BT_MEM_OBJECT], ix;

	sim->starved_until[BT_MEM_OBJECT] = 0;
	sim_take(twin(sim), object, there, &ix);
	sim->starved_until[BT_MEM_OBJECT] = until;
}

/* The twin applies what the pipeline has applied, even if memory is short. */
static void tell_twin(struct sim *sim, const struct sim_watch_event *note)
{
	tell_twin_object(
		sim, sim_shown(&sim->arena, note->stream, note->ix, &note->object), note->object.there);
}

static void twin_tick(struct sim *sim)
{
	if (twin(sim) && sim->twin_ns != sim->pipeline->now_ns) {
		sim->twin_ns = sim->pipeline->now_ns;
		bt_engine_tick(twin(sim));
	}
}

/* The binder's answer; without one, the watch decides, which the twin sees, too. */
static void twin_end_binding(struct sim *sim, const struct sim_binding *binding)
{
	struct bt_binding_answer answer = {.bound = false};
	struct bt_written_claim claim;

	if (twin(sim)) {
		if (binding->replied) {
			answer = sim_answer_of(sim, binding, &claim);
		}
		bt_engine_answer(twin(sim), binding->pod_ix, &answer);
	}
}

static void tell_of_failure(struct sim *sim, const struct sim_eviction *eviction)
{
	uint32_t for_ix = sim_pod_of(sim, eviction->for_uid);

	if (twin(sim) && for_ix != BT_NO_POD) {
		bt_engine_evict_failed(twin(sim), for_ix);
	}
}

/* Evictions that are over. A failed one that matters makes the preemptor retry. */
static void end_evictions(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->eviction_n;) {
		const struct sim_eviction eviction = sim->evictions[i];
		const struct sim_known *known = &sim->known[eviction.slot];

		if (bt_bind_requests_of_handle(sim->pipeline, eviction.handle)) {
			i++;
			continue;
		}
		sim->evictions[i] = sim->evictions[--sim->eviction_n];
		bool stays = known->ix != BT_NO_POD && !sim_pod_at(sim->engines[0], known->ix)->terminating &&
			     sim_number(sim->engines[0], sim_pod_at(sim->engines[0], known->ix)->uid) ==
				     eviction.uid;
		if (eviction.releases ? !eviction.released : stays) {
			tell_of_failure(sim, &eviction);
		}
	}
}

static void twin_evict(struct sim *sim)
{
	for (uint32_t i = 0; twin(sim) && i < SIM_PODS; i++) {
		struct sim_known *known = &sim->known[i];

		if (known->evicted && !known->twin_evicted && known->ix != BT_NO_POD &&
			sim_pod_at(sim->engines[0], known->ix)->terminating) {
			known->twin_evicted = true;
			if (!sim_pod_at(twin(sim), known->ix)->terminating) {
				bt_engine_evict(twin(sim), known->ix);
			}
		}
	}
}

/* The twin's next cycle, and its pod. */
static uint32_t twin_next(struct sim *sim, struct bt_decision *out)
{
	struct bt_group_decision group;

	if (sim->twin_group_at == sim->twin_group_n) {
		uint32_t pod_ix = bt_engine_pop(twin(sim));

		sim->twin_group_at = sim->twin_group_n = 0;
		if (pod_ix == BT_NO_POD) {
			return BT_NO_POD;
		}
		if (!bt_engine_in_group(twin(sim), pod_ix)) {
			bt_engine_decide(twin(sim), pod_ix, out);
			return pod_ix;
		}
		bt_engine_decide_group(twin(sim), pod_ix, &(struct bt_group_watch){0}, &group);
		for (uint32_t i = 0; i < group.member_n && i < SIM_PODS; i++) {
			sim->twin_group[sim->twin_group_n++] = group.members[i].decision;
		}
	}
	*out = sim->twin_group[sim->twin_group_at++];
	return out->pod_ix;
}

static void twin_decide(struct sim *sim, const struct bt_pipeline_decision *decision, uint32_t slot)
{
	struct bt_decision own;

	if (!twin(sim)) {
		return;
	}
	twin_tick(sim);
	if (twin_next(sim, &own) != decision->pod_ix) {
		sim_fail(sim, "I9", "pod-%" PRIu32 "'s turn has not come, one by one", slot);
		return;
	}
	uint32_t node = own.outcome == BT_PLACED ? sim_node_number(twin(sim), own.node_ix) : SIM_NONE;
	uint32_t nominated =
		own.nominated_ix == BT_NO_NODE ? SIM_NONE : sim_node_number(twin(sim), own.nominated_ix);
	if (own.outcome != decision->outcome || node != number_or_none(decision->node) ||
		nominated != number_or_none(decision->nominated) || own.victim_n != decision->victim_n ||
		own.unschedulable_plugins != decision->unschedulable_plugins) {
		sim_fail(sim, "I9", "pod-%" PRIu32 " is decided otherwise, one by one", slot);
	}
}

/* ---- effects of the pipeline ---- */

/* Bindings that are over. */
static void sync(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->binding_n;) {
		const struct bt_bind_request_slot *slot =
			bt_bind_requests_of_pod(sim->pipeline, sim->bindings[i].pod_ix);

		if (slot && slot->number == sim->bindings[i].number) {
			i++;
		} else {
			twin_end_binding(sim, &sim->bindings[i]);
			sim_end_binding(sim, i);
		}
	}
	twin_evict(sim);
	end_evictions(sim);
	sim_note_ports(sim);
}

/* Events without effect. */
static uint64_t left_alone_n(const struct bt_pipeline_counts *counts)
{
	return counts->refused_n + counts->unknown_n + counts->stale_n;
}

/* The publisher drops stale events, and passes all others on. */
static bool publish(struct sim *sim)
{
	const struct bt_watch_event *watch_event = next_to_publish(sim);
	uint64_t stale_n = bt_pipeline_counts(sim->pipeline).stale_n;

	if (!bt_pipeline_publish_step(sim->pipeline)) {
		return false;
	}
	bool stale = bt_pipeline_counts(sim->pipeline).stale_n != stale_n;
	struct sim_watch_event note = take_note(sim, watch_event);
	if (!note.malformed && is_news(sim, &note) == stale) {
		sim_fail(sim, "I4", "%d/%" PRIu32 " version %" PRIu64 " is %s", (int)note.stream, note.ix,
			note.object.version, stale ? "taken for old" : "old, but taken");
	}
	if (stale) {
		return true;
	}
	if (!note.malformed) {
		sim->published[note.stream][note.ix] = note.object;
	}
	sim->watch_events[sim->event_n++] = note;
	return true;
}

static bool apply(struct sim *sim)
{
	const struct bt_watch_event *watch_event = head_of(&sim->pipeline->inbox);
	struct bt_pipeline_counts before = bt_pipeline_counts(sim->pipeline);

	if (!watch_event) {
		return false;
	}
	struct sim_watch_event note = take_note(sim, watch_event);
	if (!note.malformed) {
		sim_account(sim, note.stream, note.ix, &note.object);
	}
	if (note.malformed && twin(sim)) {
		/* Counts rejected objects: the slots of nodes depend on their number. */
		tell_twin_object(sim, &watch_event->object, watch_event->kind == BT_WATCH_EVENT_APPLY);
	}
	bt_pipeline_apply_step(sim->pipeline);
	sim_follow_moves(sim);
	if (!note.malformed && twin(sim)) {
		tell_twin(sim, &note);
	}
	if (!note.malformed && note.stream == SIM_POD_STREAM) {
		sim_find_pod(sim, note.ix);
	}
	struct bt_pipeline_counts after = bt_pipeline_counts(sim->pipeline);
	if (note.malformed && left_alone_n(&after) != left_alone_n(&before) + 1) {
		sim_fail(sim, "I6", "a malformed object is taken");
	}
	sync(sim);
	return true;
}

/* ---- the binder ---- */

static struct sim_binding *binding_of(struct sim *sim, const struct bt_bind_request *request)
{
	uint32_t uid = sim_number_of(request->pod.uid);

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		if (sim->bindings[i].uid == uid && sim->bindings[i].node == sim_number_of(request->node)) {
			return &sim->bindings[i];
		}
	}
	return NULL;
}

static void bind_pod(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct sim *sim = context;
	struct sim_binding *binding = binding_of(sim, request);

	(void)pipeline;
	if (!binding || binding->done) {
		sim_fail(sim, "I2", "the binder got a request without a decision, or twice");
		return;
	}
	binding->handle = request->handle;
	sim_call_bind(sim, binding, sim->bind_how);
}

static void reply(struct sim *sim, struct sim_binding *binding)
{
	struct bt_written_claim claim;
	const struct bt_binding_answer answer = sim_answer_of(sim, binding, &claim);

	binding->replied = true;
	(void)bt_pipeline_answer(sim->pipeline, binding->handle, &answer);
	/* Duplicate answers count once. */
	if (binding->uid % 8 == 0 && bt_pipeline_bound(sim->pipeline, binding->handle) != BT_CONFLICT) {
		sim_fail(sim, "I2", "a second answer is taken");
	}
}

/* Checks the pod at the API server, which knows the truth. */
static void check_pod(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct sim *sim = context;
	struct sim_binding *binding = binding_of(sim, request);

	sim->faults[SIM_ASKED_AGAIN]++;
	/* Its pending answer has the claims that it has written. */
	if (sim->bind_how < CHECK_UNSURE || (binding && binding->wrote && !binding->replied)) {
		(void)bt_pipeline_unknown(pipeline, request->handle);
		return;
	}
	const struct sim_object *pod =
		&sim->api->objects[SIM_POD_STREAM][sim_number_of(request->pod.name) % SIM_PODS];
	bool good = pod->there && pod->uid == sim_number_of(request->pod.uid) &&
		    pod->pod.node == sim_number_of(request->node);
	if (binding && !binding->replied) {
		binding->good = good;
		binding->replied = true;
	}
	if (good) {
		(void)bt_pipeline_bound(pipeline, request->handle);
	} else {
		(void)bt_pipeline_bind_failed(pipeline, request->handle, bt_str("not there"));
	}
}

static struct sim_eviction *add_eviction(struct sim *sim, struct sim_eviction eviction)
{
	if (sim->eviction_n == SIM_PODS * 2) {
		sim_fail(sim, "I7", "more evictions than there is room for");
		return &sim->evictions[0];
	}
	sim->evictions[sim->eviction_n] = eviction;
	return &sim->evictions[sim->eviction_n++];
}

static void release_claim(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct sim *sim = context;
	struct sim_eviction *release =
		add_eviction(sim, (struct sim_eviction){.for_uid = sim_number_of(request->pod.uid),
					  .handle = request->handle,
					  .releases = true});

	if (!sim->leader || sim->bind_how < 15) {
		sim->faults[SIM_RELEASE_FAILED]++;
		(void)bt_pipeline_evict_failed(pipeline, request->handle, bt_str("refused"));
		return;
	}
	sim_release_claim(sim, sim_number_of(request->other.name), sim_number_of(request->other.uid));
	if (sim->bind_how >= 30) {
		release->released = true;
		(void)bt_pipeline_evicted(pipeline, request->handle);
	}
}

static void evict_pod(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct sim *sim = context;
	const struct sim_eviction victim = {.slot = sim_number_of(request->pod.name),
		.uid = sim_number_of(request->pod.uid),
		.for_uid = sim_number_of(request->other.uid),
		.handle = request->handle};
	const struct sim_object *pod = &sim->api->objects[SIM_POD_STREAM][victim.slot];

	sim_note_victim(sim, victim);
	add_eviction(sim, victim);
	if (!sim->leader || sim->bind_how < 15) {
		sim->faults[SIM_EVICTION_FAILED]++;
		(void)bt_pipeline_evict_failed(pipeline, request->handle, bt_str("refused"));
		return;
	}
	if (sim->bind_how < 30) {
		sim->faults[SIM_EVICTION_LOST]++;
		return;
	}
	if (pod->uid == victim.uid) {
		sim_api_delete_pod(sim->api, victim.slot, sim->now_ns, 2, true);
	}
	if (sim->bind_how >= 40) {
		sim->known[victim.slot].evicted = true;
		(void)bt_pipeline_evicted(pipeline, request->handle);
	}
}

/* ---- decisions ---- */

/* Is a pod of higher priority, which this one must respect, nominated to a node? */
static bool yields(struct sim *sim, uint32_t slot)
{
	int32_t priority = sim->shown[SIM_POD_STREAM][slot].pod.spec.priority;

	for (uint32_t i = 0; i < SIM_PODS; i++) {
		if (i != slot && sim->known[i].ix != BT_NO_POD) {
			const struct bt_pod *pod = sim_pod_at(sim->engines[0], sim->known[i].ix);

			if (pod->nominated_ix != BT_NO_NODE && pod->priority >= priority) {
				return true;
			}
		}
	}
	return false;
}

static void check_victims(struct sim *sim, const struct bt_pipeline_decision *decision, uint32_t slot)
{
	struct sim_victims victims = {.n = 0};

	for (uint32_t i = 0; i < decision->victim_n && i < SIM_PODS; i++) {
		victims.uids[victims.n++] = sim_number_of(decision->victims[i].uid);
	}
	if (!sim_is_grouped(sim, slot)) {
		sim_check_victims(sim, slot, &victims);
	}
}

/* Of a gang no member was placed, or enough were. */
static void check_groups(struct sim *sim)
{
	for (uint32_t i = 0; i < SIM_GROUPS; i++) {
		if (sim->group_touched[i]) {
			sim_check_group(sim, i, 0, 0, sim_group_placed_n(sim, i));
			sim->group_touched[i] = false;
		}
	}
}

static void decided(void *context, const struct bt_pipeline_decision *decision)
{
	struct sim *sim = context;
	uint32_t slot = sim_number_of(decision->pod.name), uid = sim_number_of(decision->pod.uid);
	uint32_t nominated = sim->shown[SIM_POD_STREAM][slot].pod.nominated;

	if (sim->held) {
		sim_fail(sim, "I8", "pod-%" PRIu32 " is decided without the lease", slot);
	}
	/* This pod has no older binding any more. */
	sync(sim);
	twin_decide(sim, decision, slot);
	if (decision->outcome == BT_SKIPPED) {
		return;
	}
	sim_begin_cycle(sim, slot, uid);
	sim_check_cycle(sim, &(struct sim_cycle){.slot = slot,
				     .pod_ix = decision->pod_ix,
				     .outcome = decision->outcome,
				     .node = number_or_none(decision->node),
				     .nominated = nominated,
				     .victim_n = decision->victim_n,
				     .unschedulable_plugins = decision->unschedulable_plugins,
				     .grouped = sim_is_grouped(sim, slot),
				     .yields = yields(sim, slot)});
	check_victims(sim, decision, slot);
	if (decision->outcome == BT_PLACED) {
		sim->group_touched[sim_namespace_of(slot)] |= sim_is_grouped(sim, slot);
		sim->untold |= sim->api->objects[SIM_POD_STREAM][slot].pod.nominated != SIM_NONE &&
			       sim->api->objects[SIM_POD_STREAM][slot].pod.nominated !=
				       number_or_none(decision->node);
		sim_add_binding(sim,
			(struct sim_binding){.slot = slot,
				.uid = uid,
				.node = number_or_none(decision->node),
				.pod_ix = decision->pod_ix,
				.number = bt_bind_requests_of_pod(sim->pipeline, decision->pod_ix)->number});
		return;
	}
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		/* Includes pods nominated to the node before. */
		if (sim->known[i].ix != BT_NO_POD && (i == slot || decision->victim_n)) {
			sim_patch(sim, sim->known[i].ix, i == slot && decision->nominated.len);
		}
	}
}

bool sim_pipe_decide(struct sim *sim, uint32_t cycles)
{
	bool any = bt_pipeline_decide_step(sim->pipeline, cycles);

	check_groups(sim);
	sync(sim);
	return any;
}

/* ---- stages ---- */

/* Reads the clock and decides, as the scheduling thread does. */
static bool schedule(struct sim *sim)
{
	bt_pipeline_answer_step(sim->pipeline);
	sync(sim);
	while (apply(sim)) {
	}
	uint32_t batch = sim->pipeline->limits.batch;
	/* First the clock, then decisions: the twin must know the effects of time. */
	sim->pipeline->limits.batch = 0;
	bool any = bt_pipeline_schedule_step(sim->pipeline);
	sim->pipeline->limits.batch = batch;
	twin_tick(sim);
	sync(sim);
	any |= bt_pipeline_decide_step(sim->pipeline, batch);
	check_groups(sim);
	sync(sim);
	return any;
}

bool sim_pipe_stage(struct sim *sim, uint32_t which)
{
	bool any = false;

	switch (which) {
	case 0:
	case 1:
		return bt_pipeline_ingest_step(sim->pipeline, which);
	case 2:
	case 3:
		return publish(sim);
	case 4:
	case 5:
		return apply(sim);
	case 6:
		any = bt_pipeline_answer_step(sim->pipeline);
		sync(sim);
		return any;
	case 7:
		return schedule(sim);
	default:
		/* All stages. */
		for (uint32_t stage = 0; stage < 7; stage++) {
			any |= sim_pipe_stage(sim, stage);
		}
		return sim_pipe_decide(sim, 1) || any;
	}
}

/* The twin applies answers in their order of arrival, so only one is applied at a time. */
static void take_answer(struct sim *sim)
{
	if (twin(sim)) {
		bt_pipeline_answer_step(sim->pipeline);
	}
	sync(sim);
}

bool sim_pipe_bind(struct sim *sim, uint32_t thread, uint32_t how)
{
	sim->bind_how = how;
	bool any = bt_pipeline_bind_step(sim->pipeline, thread % BIND_THREADS);

	take_answer(sim);
	return any;
}

bool sim_pipe_reply(struct sim *sim, uint32_t which)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->binding_n; i++) {
		const struct sim_binding *binding = &sim->bindings[i];

		n += binding->done && !binding->replied && !binding->silent;
	}
	for (uint32_t i = 0, k = n ? which % n : 0; n && i < sim->binding_n; i++) {
		struct sim_binding *binding = &sim->bindings[i];

		if (binding->done && !binding->replied && !binding->silent && k-- == 0) {
			reply(sim, binding);
			take_answer(sim);
			return true;
		}
	}
	return false;
}

bool sim_pipe_move_on(struct sim *sim)
{
	bool moved = false;

	for (uint32_t thread = 0; thread < STREAM_THREADS; thread++) {
		moved |= bt_pipeline_ingest_step(sim->pipeline, thread);
	}
	for (uint32_t i = 0; i < APPLIED; i++) {
		moved |= publish(sim);
		moved |= apply(sim);
	}
	for (uint32_t thread = 0; thread < BIND_THREADS; thread++) {
		moved |= sim_pipe_bind(sim, thread, SIM_FAULTLESS);
	}
	moved |= sim_pipe_reply(sim, 0);
	return schedule(sim) || moved;
}

bool sim_pipe_is_idle(const struct sim *sim)
{
	return sim->event_n == 0 && bt_pipeline_counts(sim->pipeline).binding_n == 0;
}

/* A binder that accepts no requests while it has some. */
static bool takes_few(void *context)
{
	const struct sim *sim = context;

	return bt_pipeline_counts(sim->pipeline).binding_n < 4;
}

/* ---- setup ---- */

void sim_pipe_create(struct sim *sim)
{
	struct bt_config_errors errors = {0};
	struct bt_pipeline_options options = {
		.limits = bt_limits_default(),
		.engine = {.seed = sim->seed,
			.keeps_none = sim->seed >> 1 & 1,
			.moves_pods = true,
			.clock = bt_clock_virtual(&sim->now_ns),
			.strict_order = sim->seed & 1,
			.groups_by_events = true},
		.binder = {.bind = bind_pod,
			.evict = evict_pod,
			.check = check_pod,
			.release = release_claim,
			.has_room = sim->seed & 4 ? takes_few : NULL,
			.context = sim},
		.sink = {.decided = decided, .context = sim},
		.messages = sim->seed & 2,
	};
	struct bt_limits *limits = &options.limits;

	limits->sources = SIM_STREAM_N;
	limits->ingest_threads = STREAM_THREADS;
	limits->run = 1;
	limits->bind_threads = BIND_THREADS;
	limits->feed = limits->delta = limits->inbox = limits->bind_requests = SIM_RING;
	limits->bindings = BINDINGS;
	limits->events = 1;
	limits->batch = 1 + (uint32_t)(sim->seed / 4 % 4);
	sim_prefill(sim, false);
	sim->pipeline = bt_pipeline_create(sim_config(sim_groups_of(sim->seed)), &options, &errors);
	bt_resource_prefill(0);
	bt_config_errors_fini(&errors);
	sim->engines[0] = bt_pipeline_engine(sim->pipeline);
	bt_engine_apply_object(sim->engines[0], sim_class_object(&sim->arena));
	bt_engine_apply_object(sim->engines[0], sim_device_class_object(&sim->arena));
	sim->twin_ns = sim->pipeline->now_ns;
	if (sim->engine_n > 1) {
		sim->engines[1] = sim_engine_create(sim, true, true);
	}
}
