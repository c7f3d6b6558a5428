/* SPDX-License-Identifier: Apache-2.0
 * The scheduling queue: moves of pods between places. Source: backend/queue scheduling_queue,
 * v1.36.3.
 */
#include "queue/queue_int.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/index_allocator.h"

#define TRIM_SLOTS 256 /* slots that are never trimmed */

struct bt_queue *bt_queue_create(const struct bt_queue_options *options)
{
	struct bt_queue *queue = bt_mem_zalloc(1, sizeof(*queue));

	BT_REQUIRE(options->initial_backoff_ns >= 0 && options->max_backoff_ns >= 0 &&
		   options->max_unschedulable_ns >= 0);
	queue->options = *options;
	queue->error_backoff.error = true;
	queue->free_slot = BT_NO_SLOT;
	queue->free_group = BT_NO_GROUP;
	return queue;
}

struct bt_owner *bt_queue_owner(struct bt_queue *queue)
{
	return &queue->owner;
}

void bt_queue_destroy(struct bt_queue *queue)
{
	if (!queue) {
		return;
	}
	bt_active_fini(&queue->active);
	bt_mem_free(queue->backoff.slots);
	bt_mem_free(queue->error_backoff.slots);
	bt_mem_free(queue->slots);
	bt_mem_free(queue->slot_ixs);
	bt_entities_fini(queue);
	bt_mem_free(queue->groups);
	bt_map_fini(&queue->group_ixs);
	bt_mem_free(queue->log);
	bt_mem_free(queue->flying);
	bt_mem_free(queue->scratch);
	bt_mem_free(queue);
}

/* ---- slots ---- */

static uint32_t queue_find(const struct bt_queue *queue, uint32_t pod_ix)
{
	return pod_ix < queue->pod_cap ? queue->slot_ixs[pod_ix] - 1 : BT_NO_SLOT;
}

static void grow_pods(struct bt_queue *queue, uint32_t pod_ix)
{
	size_t cap = queue->pod_cap ? queue->pod_cap : 64;

	while (cap <= pod_ix) {
		cap *= 2;
	}
	queue->slot_ixs = bt_mem_realloc(queue->slot_ixs, cap, sizeof(*queue->slot_ixs));
	memset(queue->slot_ixs + queue->pod_cap, 0, (cap - queue->pod_cap) * sizeof(*queue->slot_ixs));
	queue->pod_cap = cap;
}

/* Is a slot in use? */
static bool is_used(const struct bt_queue *queue, uint32_t ix)
{
	uint32_t pod_ix = queue->slots[ix].pod_ix;

	BT_REQUIRE_HOT(ix < queue->slot_n);
	if (queue->slots[ix].is_entity) {
		return true;
	}
	return pod_ix < queue->pod_cap && queue->slot_ixs[pod_ix] == ix + 1;
}

/* Frees the slots after the last used one, and orders the other free slots, lowest first. Requires: no line
 * has entries, which might refer to free slots. */
static void trim_slots(struct bt_queue *queue)
{
	BT_INVARIANT(queue->active.entry_n == 0 && queue->active.parked_n == 0);
	while (queue->slot_n > 0 && !is_used(queue, (uint32_t)queue->slot_n - 1)) {
		queue->slot_n--;
	}
	queue->free_slot = BT_NO_SLOT;
	for (uint32_t ix = (uint32_t)queue->slot_n; ix-- > 0;) {
		if (!is_used(queue, ix)) {
			queue->slots[ix].next = queue->free_slot;
			queue->free_slot = ix;
		}
	}
	queue->slots = bt_index_allocator_shrink(
		queue->slots, queue->slot_n, &queue->slot_cap, sizeof(*queue->slots));
}

void bt_queue_trim(struct bt_queue *queue, uint32_t pod_end)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	queue->slot_ixs = bt_index_allocator_shrink(
		queue->slot_ixs, pod_end, &queue->pod_cap, sizeof(*queue->slot_ixs));
	/* Amortized: since the last time as many pods were added as there are slots to scan. */
	if (queue->orders - queue->trimmed_at >= queue->slot_n && queue->slot_n > TRIM_SLOTS &&
		queue->active.entry_n == 0 && queue->active.parked_n == 0) {
		queue->trimmed_at = queue->orders;
		trim_slots(queue);
	}
}

uint32_t bt_slot_vacant(struct bt_queue *queue)
{
	uint32_t slot = queue->free_slot;

	if (slot != BT_NO_SLOT) {
		queue->free_slot = queue->slots[slot].next;
	} else {
		queue->slots =
			bt_mem_grow(queue->slots, queue->slot_n, &queue->slot_cap, sizeof(*queue->slots));
		slot = (uint32_t)queue->slot_n++;
	}
	BT_INVARIANT(slot < queue->slot_n);
	return slot;
}

void bt_slot_vacate(struct bt_queue *queue, uint32_t slot)
{
	queue->slots[slot].next = queue->free_slot;
	queue->free_slot = slot;
}

static uint32_t make_slot(struct bt_queue *queue, uint32_t pod_ix)
{
	if (pod_ix >= queue->pod_cap) {
		grow_pods(queue, pod_ix);
	}
	uint32_t slot = bt_slot_vacant(queue);
	queue->slots[slot] = (struct bt_slot){.pod_ix = pod_ix,
		.entity = BT_NO_ENTITY,
		.gate = BT_QUEUE_NO_GATE,
		.expiry_ns = BT_EXPIRED,
		.first_ns = INT64_MAX,
		.group = BT_NO_GROUP,
		.order = ++queue->orders};
	BT_INVARIANT(slot < queue->slot_n && queue->slot_ixs[pod_ix] == 0);
	queue->slot_ixs[pod_ix] = slot + 1;
	return slot;
}

void bt_queue_move_pod(struct bt_queue *queue, uint32_t from, uint32_t to)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, from);

	if (ix == BT_NO_SLOT) {
		return;
	}
	BT_REQUIRE(queue->slots[ix].where != BT_WAIT_IN_FLIGHT && !bt_queue_keeps_events(queue));
	BT_REQUIRE(to < from && queue->slot_ixs[to] == 0);
	queue->slots[ix].pod_ix = to;
	queue->slot_ixs[to] = ix + 1;
	queue->slot_ixs[from] = 0;
}

static uint64_t *count_of(struct bt_queue *queue, enum bt_wait where)
{
	switch (where) {
	case BT_WAIT_ACTIVE:
		return &queue->counts.active;
	case BT_WAIT_BACKOFF:
		return &queue->counts.backoff;
	case BT_WAIT_UNSCHEDULABLE:
		return &queue->counts.unschedulable;
	case BT_WAIT_GATED:
		return &queue->counts.gated;
	case BT_WAIT_BINDING:
		return &queue->counts.binding;
	default:
		return NULL;
	}
}

/* In backoff, is it popped only after expiry? */
static bool is_patient(const struct bt_slot *slot)
{
	return slot->patient || !(slot->unschedulable_plugins | slot->pending);
}

static struct bt_pod_backoff *heap_of(struct bt_queue *queue, const struct bt_slot *slot)
{
	return is_patient(slot) ? &queue->error_backoff : &queue->backoff;
}

/* Removes a slot from its place. Returns: the place. */
enum bt_wait bt_slot_leave(struct bt_queue *queue, uint32_t ix)
{
	struct bt_slot *slot = &queue->slots[ix];
	enum bt_wait from = slot->where;
	uint64_t *count = count_of(queue, from);

	BT_INVARIANT(is_used(queue, ix) && (!count || *count > 0));
	if (count) {
		--*count;
	}
	if (BT_UNLIKELY(slot->is_entity)) {
		bt_entity_count(queue, slot, from, false);
	}
	switch (from) {
	case BT_WAIT_ACTIVE:
		bt_active_drop(queue, ix);
		break;
	case BT_WAIT_BACKOFF:
		bt_pod_backoff_remove(queue, heap_of(queue, slot), ix);
		break;
	case BT_WAIT_UNSCHEDULABLE:
	case BT_WAIT_GATED:
		bt_groups_leave(queue, ix);
		break;
	case BT_WAIT_IN_FLIGHT:
		bt_in_flight_end(queue, ix);
		if (BT_UNLIKELY(slot->entity != BT_NO_ENTITY)) {
			bt_entity_detach(queue, ix);
		}
		break;
	case BT_WAIT_INCOMPLETE:
	case BT_WAIT_PENDING:
	case BT_WAIT_MEMBER:
		bt_entity_drop(queue, ix);
		break;
	default:
		break;
	}
	slot->where = BT_WAIT_NOWHERE;
	BT_INVARIANT(slot->group == BT_NO_GROUP && queue->counts.in_flight == queue->flying_n);
	return from;
}

/* Puts a slot without a place into one of the four places. */
void bt_slot_enter(struct bt_queue *queue, uint32_t ix, enum bt_wait where)
{
	struct bt_slot *slot = &queue->slots[ix];

	BT_INVARIANT(slot->where == BT_WAIT_NOWHERE && slot->group == BT_NO_GROUP);
	BT_INVARIANT(where >= BT_WAIT_ACTIVE && where <= BT_WAIT_GATED);
	slot->where = (uint8_t)where;
	++*count_of(queue, where);
	if (BT_UNLIKELY(slot->is_entity)) {
		bt_entity_count(queue, slot, where, true);
	}
	if (where == BT_WAIT_ACTIVE) {
		bt_active_push(queue, ix);
	} else if (where == BT_WAIT_BACKOFF) {
		bt_pod_backoff_push(queue, heap_of(queue, slot), ix);
	} else {
		bt_groups_enter(queue, ix);
	}
}

/* ---- from place to place ---- */

/* PreEnqueue. Returns: whether the pod passes. */
BT_INLINE bool pass_gate(struct bt_queue *queue, struct bt_slot *slot)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;

	if (BT_UNLIKELY(slot->is_entity)) {
		return bt_entity_pass_gate(queue, slot);
	}
	slot->gate = hooks->gate ? (int8_t)hooks->gate(hooks->context, slot->pod_ix, slot->gate)
				 : BT_QUEUE_NO_GATE;
	if (slot->gate == BT_QUEUE_NO_GATE) {
		return true;
	}
	BT_INVARIANT(slot->gate >= 0);
	slot->unschedulable_plugins |= bt_plugin_set_of((uint32_t)slot->gate);
	return false;
}

bool bt_slot_pass_gate(struct bt_queue *queue, struct bt_slot *slot)
{
	return pass_gate(queue, slot);
}

/* Activates a slot without a place if it passes PreEnqueue. checked: it has already passed. */
BT_INLINE enum bt_wait to_active(struct bt_queue *queue, uint32_t ix, bool checked, int64_t now_ns)
{
	struct bt_slot *slot = &queue->slots[ix];

	bt_slot_enter(queue, ix, checked || pass_gate(queue, slot) ? BT_WAIT_ACTIVE : BT_WAIT_GATED);
	if (slot->where == BT_WAIT_ACTIVE && slot->first_ns == INT64_MAX) {
		slot->first_ns = now_ns;
	}
	if (BT_UNLIKELY(slot->is_entity) && slot->where == BT_WAIT_ACTIVE) {
		bt_entity_note_active(queue, slot, now_ns);
	}
	return slot->where;
}

static enum bt_wait to_backoff(struct bt_queue *queue, uint32_t ix)
{
	struct bt_slot *slot = &queue->slots[ix];
	bool passed = !queue->options.pop_from_backoff || pass_gate(queue, slot);

	queue->counts.backoff_n += passed;
	bt_slot_enter(queue, ix, passed ? BT_WAIT_BACKOFF : BT_WAIT_GATED);
	return slot->where;
}

/* The place to which an event moves a slot without a place. */
enum bt_wait bt_slot_admit(struct bt_queue *queue, uint32_t ix, enum bt_strategy strategy, int64_t now_ns)
{
	struct bt_slot *slot = &queue->slots[ix];

	BT_INVARIANT(slot->where == BT_WAIT_NOWHERE);
	if (strategy == BT_SKIP) {
		bt_slot_enter(
			queue, ix, slot->gate == BT_QUEUE_NO_GATE ? BT_WAIT_UNSCHEDULABLE : BT_WAIT_GATED);
		return slot->where;
	}
	if (strategy == BT_AFTER_BACKOFF && bt_pod_backoff_lasts(queue, slot, now_ns)) {
		return to_backoff(queue, ix);
	}
	return to_active(queue, ix, false, now_ns);
}

/* The same for a slot with a place, because of queue->cause. */
static enum bt_wait requeue(struct bt_queue *queue, uint32_t ix, enum bt_strategy strategy, int64_t now_ns)
{
	enum bt_wait from = bt_slot_leave(queue, ix), to = bt_slot_admit(queue, ix, strategy, now_ns);

	bt_incoming_count(queue, ix, from, to);
	return to;
}

/* Moves a slot from its place to active, because of queue->cause. */
static void activate(struct bt_queue *queue, uint32_t ix, bool checked, int64_t now_ns)
{
	enum bt_wait from = bt_slot_leave(queue, ix);

	bt_incoming_count(queue, ix, from, to_active(queue, ix, checked, now_ns));
}

/* Should an event requeue a pod? Source: isPodWorthRequeuing, v1.36.3. */
/* Inlined where an event visits many groups: the calls would double the cost. */
BT_INLINE enum bt_strategy weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;

	BT_REQUIRE_HOT(is_used(queue, (uint32_t)(slot - queue->slots)));
	if (BT_UNLIKELY(slot->is_entity)) {
		return bt_entity_weigh(queue, slot, event);
	}
	if (!(slot->unschedulable_plugins | slot->pending) || !hooks->hint ||
		event->resource == BT_CLUSTER_EVENT_WILDCARD) {
		return BT_AFTER_BACKOFF;
	}
	queue->counts.hint_n++;
	if (slot->pending && hooks->hint(hooks->context, slot->pod_ix, event, slot->pending)) {
		return BT_IMMEDIATELY;
	}
	return hooks->hint(hooks->context, slot->pod_ix, event, slot->unschedulable_plugins)
		       ? BT_AFTER_BACKOFF
		       : BT_SKIP;
}

enum bt_strategy bt_slot_weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event)
{
	return weigh(queue, slot, event);
}

static inline enum bt_wait queue_add(
	struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind, int64_t timestamp_ns)
{
	BT_REQUIRE(queue_find(queue, pod_ix) == BT_NO_SLOT);
	uint32_t ix = make_slot(queue, pod_ix);

	queue->slots[ix].kind = bt_active_join_kind(queue, kind);
	queue->slots[ix].timestamp_ns = queue->slots[ix].entered_ns = timestamp_ns;
	queue->slots[ix].waits_since_ns = timestamp_ns;
	if (BT_UNLIKELY(bt_entity_of(queue, pod_ix) != BT_NO_ENTITY)) {
		queue->slots[ix].turn = ++queue->turns;
		queue->late_n++; /* it is counted with its group */
		return bt_entity_enter(queue, ix, timestamp_ns);
	}
	return to_active(queue, ix, false, timestamp_ns);
}

enum bt_wait bt_queue_add(
	struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind, int64_t timestamp_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	queue->cause = BT_CAUSE_NEWCOMER;
	enum bt_wait where = queue_add(queue, pod_ix, kind, timestamp_ns);

	if (BT_UNLIKELY(queue->slots[queue_find(queue, pod_ix)].entity != BT_NO_ENTITY)) {
		return where;
	}
	if (BT_UNLIKELY(where == BT_WAIT_GATED)) {
		queue->gated_n++;
		bt_incoming_count(queue, queue_find(queue, pod_ix), BT_WAIT_NOWHERE, where);
	} else if (BT_UNLIKELY(queue->options.observer.moved != NULL)) {
		bt_incoming_show(queue, queue_find(queue, pod_ix), BT_CAUSE_NEWCOMER);
	}
	return where;
}

/* No pod is active: the next pod that may be popped from backoff. */
static BT_NOINLINE uint32_t pop_backoff(struct bt_queue *queue)
{
	uint32_t ix = BT_QUEUE_EMPTY;

	if (queue->options.pop_from_backoff && queue->backoff.n) {
		ix = queue->backoff.slots[0];
		BT_INVARIANT(queue->slots[ix].where == BT_WAIT_BACKOFF && !is_patient(&queue->slots[ix]));
		bt_slot_leave(queue, ix);
		queue->incoming[0][BT_CAUSE_POP_FROM_BACKOFF]++;
	}
	return ix;
}

/* Pops a PodGroup. Returns the first of its pods. */
static BT_NOINLINE uint32_t pop_entity(struct bt_queue *queue, uint32_t ix)
{
	uint32_t pod_ix = queue->slots[queue->entities[queue->slots[ix].entity].members[0]].pod_ix;

	bt_entity_pop(queue, ix);
	return pod_ix;
}

uint32_t bt_queue_pop(struct bt_queue *queue)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = bt_active_pop(queue);

	if (BT_LIKELY(ix != BT_QUEUE_EMPTY)) {
		/* Its entry is already removed. */
		BT_INVARIANT(queue->slots[ix].where == BT_WAIT_ACTIVE && queue->counts.active > 0);
		queue->counts.active--;
		if (BT_UNLIKELY(queue->slots[ix].is_entity)) {
			bt_entity_count(queue, &queue->slots[ix], BT_WAIT_ACTIVE, false);
		}
		bt_active_drop(queue, ix);
	} else {
		ix = pop_backoff(queue);
		if (ix == BT_QUEUE_EMPTY) {
			return BT_QUEUE_EMPTY;
		}
	}
	if (BT_UNLIKELY(queue->slots[ix].is_entity)) {
		return pop_entity(queue, ix);
	}
	bt_in_flight_begin(queue, ix);
	BT_INVARIANT(queue->slots[ix].where == BT_WAIT_IN_FLIGHT && queue->slots[ix].stamp == 0);
	return queue->slots[ix].pod_ix;
}

uint32_t bt_queue_peek(const struct bt_queue *queue, uint32_t *out_pods, uint32_t cap)
{
	uint32_t n = bt_active_peek(queue, out_pods, cap), pod_n = 0;

	BT_INVARIANT(n <= cap);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t pod_ix = queue->slots[out_pods[i]].pod_ix;

		if (pod_ix != BT_QUEUE_EMPTY) { /* it is no PodGroup */
			out_pods[pod_n++] = pod_ix;
		}
	}
	return pod_n;
}

uint32_t bt_queue_guess(const struct bt_queue *queue, uint32_t places)
{
	uint32_t ix = bt_active_guess(queue, places);

	return ix == BT_NO_SLOT ? BT_QUEUE_EMPTY : queue->slots[ix].pod_ix;
}

static enum bt_status take(struct bt_queue *queue, uint32_t pod_ix, enum bt_wait last)
{
	uint32_t ix = queue_find(queue, pod_ix);

	if (ix == BT_NO_SLOT) {
		return BT_NOT_FOUND;
	}
	ix = bt_entity_place(queue, ix);
	if (queue->slots[ix].where < BT_WAIT_ACTIVE || queue->slots[ix].where > last) {
		return BT_NOT_FOUND;
	}
	bt_slot_leave(queue, ix);
	if (queue->slots[ix].is_entity) {
		bt_entity_pop(queue, ix);
	} else {
		bt_in_flight_begin(queue, ix);
	}
	return BT_OK;
}

enum bt_status bt_queue_take(struct bt_queue *queue, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	return take(queue, pod_ix, BT_WAIT_UNSCHEDULABLE);
}

enum bt_status bt_queue_take_any(struct bt_queue *queue, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	return take(queue, pod_ix, BT_WAIT_GATED);
}

enum bt_status bt_queue_take_alone(struct bt_queue *queue, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);
	enum bt_wait where = ix == BT_NO_SLOT ? BT_WAIT_NOWHERE : (enum bt_wait)queue->slots[ix].where;

	BT_REQUIRE(where != BT_WAIT_PENDING);
	if (where == BT_WAIT_NOWHERE || where == BT_WAIT_IN_FLIGHT || where == BT_WAIT_BINDING) {
		return BT_NOT_FOUND;
	}
	bt_slot_leave(queue, ix);
	bt_in_flight_begin(queue, ix);
	return BT_OK;
}

void bt_queue_done(struct bt_queue *queue, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	BT_REQUIRE(ix != BT_NO_SLOT && queue->slots[ix].where == BT_WAIT_IN_FLIGHT);
	if (queue->active.kinds[queue->slots[ix].kind].is_parked) {
		/* It fits, so its kind's verdict is obsolete. */
		bt_active_unpark(queue, queue->slots[ix].kind);
	}
	bt_in_flight_end(queue, ix);
	if (BT_UNLIKELY(queue->slots[ix].entity != BT_NO_ENTITY)) {
		bt_entity_detach(queue, ix);
	}
	queue->slots[ix].where = BT_WAIT_BINDING;
	queue->counts.binding++;
	BT_INVARIANT(queue->slots[ix].group == BT_NO_GROUP && queue->counts.in_flight == queue->flying_n);
}

void bt_queue_back_off(struct bt_queue *queue, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	BT_REQUIRE(ix != BT_NO_SLOT && queue->slots[ix].where == BT_WAIT_IN_FLIGHT);
	queue->slots[ix].missed = true;
}

/* Evaluates the events since the pod was popped. Source: determineSchedulingHintForInFlightPod, v1.36.3. */
static enum bt_strategy weigh_log(struct bt_queue *queue, const struct bt_slot *slot)
{
	BT_INVARIANT(slot->where != BT_WAIT_IN_FLIGHT || slot->log_begin >= queue->log_begin);
	enum bt_strategy best = BT_SKIP;

	if (slot->where != BT_WAIT_IN_FLIGHT || slot->missed ||
		!(slot->unschedulable_plugins | slot->pending)) {
		return BT_AFTER_BACKOFF;
	}
	for (uint64_t i = slot->log_begin - queue->log_begin; i < queue->log_n && best != BT_IMMEDIATELY;
		i++) {
		const struct bt_logged *logged = &queue->log[i];

		if (logged->only == BT_QUEUE_EMPTY || logged->only == slot->pod_ix) {
			enum bt_strategy strategy = bt_slot_weigh(queue, slot, &logged->event);

			best = strategy > best ? strategy : best;
		}
		if (best == BT_AFTER_BACKOFF && !slot->pending) {
			break;
		}
	}
	return best;
}

enum bt_wait bt_queue_refuse(struct bt_queue *queue, uint32_t pod_ix, bt_plugin_set unschedulable_plugins,
	bt_plugin_set pending, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	BT_REQUIRE(ix != BT_NO_SLOT && (queue->slots[ix].where == BT_WAIT_IN_FLIGHT ||
					       queue->slots[ix].where == BT_WAIT_BINDING));
	struct bt_slot *slot = &queue->slots[ix];
	slot->unschedulable_plugins = unschedulable_plugins;
	slot->pending = pending;
	/* Only popped pods are refused. */
	BT_INVARIANT(slot->attempts > 0);
	if (unschedulable_plugins | pending) {
		slot->unschedulable_n++;
		slot->error_n = 0;
	} else {
		slot->error_n++;
	}
	slot->timestamp_ns = slot->waits_since_ns = now_ns;
	slot->expiry_ns = bt_pod_backoff_expiry(queue, slot);
	slot->flushed = false;

	enum bt_strategy strategy = weigh_log(queue, slot);
	queue->cause = BT_CAUSE_ATTEMPT_FAILED;
	return BT_UNLIKELY(bt_entity_of(queue, pod_ix) != BT_NO_ENTITY)
		       ? bt_entity_return(queue, ix, strategy, now_ns)
		       : requeue(queue, ix, strategy, now_ns);
}

void bt_queue_park(struct bt_queue *queue, uint32_t pod_ix, bt_plugin_set unschedulable_plugins)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	BT_REQUIRE(ix != BT_NO_SLOT);
	bt_active_park(queue, ix, unschedulable_plugins);
}

enum bt_status bt_queue_remove(struct bt_queue *queue, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	if (ix == BT_NO_SLOT) {
		return BT_NOT_FOUND;
	}
	bt_slot_leave(queue, ix);
	bt_active_leave_kind(queue, queue->slots[ix].kind);
	queue->slot_ixs[pod_ix] = 0;
	bt_slot_vacate(queue, ix);
	BT_INVARIANT(queue->slots[ix].where == BT_WAIT_NOWHERE && queue_find(queue, pod_ix) == BT_NO_SLOT);
	return BT_OK;
}

/* A pod that waits for an event has changed. Source: PriorityQueue.Update, v1.36.3. */
static enum bt_wait update_held(struct bt_queue *queue, uint32_t ix, const struct bt_cluster_event *events,
	uint32_t n, int64_t now_ns)
{
	enum bt_wait where = queue->slots[ix].where;

	for (uint32_t i = 0; i < n && (where == BT_WAIT_UNSCHEDULABLE || where == BT_WAIT_GATED); i++) {
		enum bt_strategy strategy = bt_slot_weigh(queue, &queue->slots[ix], &events[i]);

		queue->cause = bt_cause_of(&events[i], BT_QUEUE_EMPTY);
		where = requeue(queue, ix, strategy, now_ns);
	}
	return where;
}

static void change_kind(struct bt_queue *queue, uint32_t ix, uint32_t new_kind)
{
	uint32_t old_kind = queue->slots[ix].kind;

	BT_INVARIANT(new_kind < queue->active.kind_n && queue->active.kinds[new_kind].pod_n > 0);
	queue->slots[ix].kind = new_kind;
	bt_active_leave_kind(queue, old_kind);
}

/* An update adds a pod that had no place. */
static enum bt_wait enter_late(
	struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind, int64_t now_ns)
{
	queue->cause = queue->options.late_are_new
			       ? BT_CAUSE_NEWCOMER
			       : bt_cluster_event_label(BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_UPDATE);
	enum bt_wait where = queue_add(queue, pod_ix, kind, now_ns);

	if (queue->slots[queue_find(queue, pod_ix)].entity == BT_NO_ENTITY) {
		queue->late_n++;
		bt_incoming_count(queue, queue_find(queue, pod_ix), BT_WAIT_NOWHERE, where);
	}
	return where;
}

enum bt_wait bt_queue_update(struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind,
	const struct bt_cluster_event *events, uint32_t n, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	if (ix == BT_NO_SLOT) {
		return enter_late(queue, pod_ix, kind, now_ns);
	}
	enum bt_wait where = queue->slots[ix].where;
	uint32_t new_kind = bt_active_join_kind(queue, kind);
	if (where == BT_WAIT_IN_FLIGHT) {
		for (uint32_t i = 0; i < n; i++) {
			bt_in_flight_log(queue, &events[i], BT_QUEUE_EMPTY);
		}
	}
	if (where == BT_WAIT_IN_FLIGHT || where == BT_WAIT_BINDING) {
		change_kind(queue, ix, new_kind);
		return where;
	}
	if (BT_UNLIKELY(queue->slots[ix].entity != bt_entity_of(queue, pod_ix))) {
		bt_active_leave_kind(queue, new_kind);
		bt_queue_remove(queue, pod_ix);
		return enter_late(queue, pod_ix, kind, now_ns);
	}
	if (BT_UNLIKELY(queue->slots[ix].entity != BT_NO_ENTITY)) {
		change_kind(queue, ix, new_kind);
		return update_held(queue, bt_entity_place(queue, ix), events, n, now_ns);
	}
	if (queue->slots[ix].kind != new_kind) {
		bt_slot_leave(queue, ix);
		change_kind(queue, ix, new_kind);
		bt_slot_enter(queue, ix, where);
	} else {
		bt_active_leave_kind(queue, new_kind);
	}
	return update_held(queue, ix, events, n, now_ns);
}

/* ---- events ---- */

/* Is the gating plugin registered for the event? */
BT_INLINE bool gate_is_registered(
	const struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;

	if (slot->gate == BT_QUEUE_NO_GATE) {
		return true;
	}
	return event->resource != BT_CLUSTER_EVENT_WILDCARD && hooks->interested &&
	       hooks->interested(hooks->context, bt_entity_pod(queue, slot), event) >> slot->gate & 1;
}

void bt_queue_note(struct bt_queue *queue, size_t *n, uint32_t slot)
{
	queue->scratch = bt_mem_grow(queue->scratch, *n, &queue->scratch_cap, sizeof(*queue->scratch));
	queue->scratch[(*n)++] = slot;
}

static void move_slot(struct bt_queue *queue, uint32_t ix, enum bt_strategy strategy, int64_t now_ns)
{
	BT_INVARIANT(
		queue->slots[ix].where == BT_WAIT_UNSCHEDULABLE || queue->slots[ix].where == BT_WAIT_GATED);
	queue->counts.moved_n += requeue(queue, ix, strategy, now_ns) != BT_WAIT_GATED;
}

/* The event is relevant for the pod's gate, but does not help. */
BT_INLINE void stay(const struct bt_queue *queue, uint32_t ix)
{
	const struct bt_queue_observer *observer = &queue->options.observer;

	if (observer->stayed) {
		observer->stayed(observer->context, bt_entity_pod(queue, &queue->slots[ix]), queue->cause);
	}
}

/* Evaluates the event for one slot and moves it if the event may help. */
static void move_one(
	struct bt_queue *queue, uint32_t ix, const struct bt_cluster_event *event, int64_t now_ns)
{
	const struct bt_slot *slot = &queue->slots[ix];

	if (!gate_is_registered(queue, slot, event)) {
		return;
	}
	enum bt_strategy strategy = bt_slot_weigh(queue, slot, event);

	if (strategy != BT_SKIP) {
		move_slot(queue, ix, strategy, now_ns);
	} else {
		stay(queue, ix);
	}
}

/* Evaluates the event for a group except own, and moves the whole group if the event may help. Returns:
 * whether it moved. */
BT_INLINE bool move_group(struct bt_queue *queue, uint32_t group, const struct bt_cluster_event *event,
	uint32_t own, int64_t now_ns)
{
	uint32_t ix = queue->groups[group].first;
	size_t n = 0;

	BT_INVARIANT(group < queue->group_n && queue->groups[group].n > 0);
	if (ix == own) {
		ix = queue->slots[ix].next;
	}
	if (ix == BT_NO_SLOT || !gate_is_registered(queue, &queue->slots[ix], event)) {
		return false;
	}
	enum bt_strategy strategy = weigh(queue, &queue->slots[ix], event);
	if (strategy == BT_SKIP) {
		stay(queue, ix);
		return false;
	}
	for (; ix != BT_NO_SLOT; ix = queue->slots[ix].next) {
		if (ix != own) {
			bt_queue_note(queue, &n, ix);
		}
	}
	for (size_t i = 0; i < n; i++) {
		move_slot(queue, queue->scratch[i], strategy, now_ns);
	}
	return true;
}

/* Unparks kinds that the event may help, and those whose example is gone. */
static void unpark(struct bt_queue *queue, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;

	for (size_t i = queue->active.parked_n; i-- > 0;) {
		uint32_t kind_ix = queue->active.parked[i];
		const struct bt_kind_line *kind = &queue->active.kinds[kind_ix];
		const struct bt_slot *slot = &queue->slots[kind->example];
		BT_INVARIANT(kind->is_parked && kind->parked_ix == i);
		bool known = slot->where != BT_WAIT_NOWHERE && slot->kind == kind_ix;

		if (known && hooks->hint &&
			(!(kind->parked_for & plugins) ||
				!hooks->hint(hooks->context, slot->pod_ix, event, kind->parked_for))) {
			continue;
		}
		bt_active_unpark(queue, kind_ix);
	}
}

/* Did any of these plugins refuse a waiting pod? */
BT_INLINE bool concerns(const struct bt_queue *queue, bt_plugin_set plugins)
{
	/* Its pods may include one that no plugin refused. */
	if (queue->counts.pod_groups[BT_WAIT_UNSCHEDULABLE] | queue->counts.pod_groups[BT_WAIT_GATED]) {
		return true;
	}
	for (bt_plugin_set rest = plugins; rest; rest = bt_plugin_set_rest(rest)) {
		if (queue->plugin_groups[bt_plugin_set_first(rest)]) {
			return true;
		}
	}
	return false;
}

/* Does the group have a pod with at most that priority? */
BT_INLINE bool yields(
	const struct bt_queue *queue, const struct bt_waiting_group *group, int32_t max_priority)
{
	const struct bt_slot *first = &queue->slots[group->first];

	if (BT_UNLIKELY(first->is_entity)) {
		return bt_entity_yields(queue, first, max_priority);
	}
	return max_priority == INT32_MAX || queue->active.kinds[group->kind].kind.priority <= max_priority;
}

static void move_all(struct bt_queue *queue, const struct bt_cluster_event *event, int32_t max_priority,
	uint32_t own_ix, bool own_moves, int64_t now_ns)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;
	bt_plugin_set plugins = hooks->matters ? hooks->matters(hooks->context, event) : BT_PLUGIN_SET_ALL;
	uint32_t own = own_ix == BT_QUEUE_EMPTY ? BT_NO_SLOT : queue_find(queue, own_ix);
	size_t group_n = queue->group_n;

	if (plugins == 0) {
		return;
	}
	BT_REQUIRE_HOT(own == BT_NO_SLOT || queue->slots[own].where != BT_WAIT_NOWHERE);
	queue->cause = bt_cause_of(event, BT_QUEUE_EMPTY);
	if (own_moves && own != BT_NO_SLOT && queue->slots[own].group != BT_NO_GROUP &&
		queue->active.kinds[queue->slots[own].kind].kind.priority <= max_priority) {
		move_one(queue, own, event, now_ns);
	}
	bool concerned = concerns(queue, plugins);
	for (size_t i = 0; concerned && i < group_n; i++) {
		const struct bt_waiting_group *group = &queue->groups[i];

		if (group->n && yields(queue, group, max_priority) &&
			move_group(queue, (uint32_t)i, event, own, now_ns)) {
			concerned = concerns(queue, plugins); /* only moves change that */
		}
	}
	if (queue->active.parked_n && (queue->active.parked_for & plugins)) {
		unpark(queue, event, plugins);
	}
	bt_in_flight_log(queue, event, BT_QUEUE_EMPTY);
}

void bt_queue_move(struct bt_queue *queue, const struct bt_cluster_event *event, int32_t max_priority,
	uint32_t own_ix, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	move_all(queue, event, max_priority, own_ix, true, now_ns);
}

void bt_queue_move_others(
	struct bt_queue *queue, const struct bt_cluster_event *event, uint32_t except_ix, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	move_all(queue, event, INT32_MAX, except_ix, false, now_ns);
}

void bt_queue_activate(struct bt_queue *queue, uint32_t pod_ix, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	if (ix == BT_NO_SLOT) {
		return;
	}
	ix = bt_entity_place(queue, ix);
	enum bt_wait where = queue->slots[ix].where;
	if (where == BT_WAIT_IN_FLIGHT) {
		const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_WILDCARD};

		bt_in_flight_log(queue, &event, pod_ix);
	} else if (where == BT_WAIT_BACKOFF || where == BT_WAIT_UNSCHEDULABLE || where == BT_WAIT_GATED) {
		queue->cause = BT_CAUSE_FORCE_ACTIVATE;
		activate(queue, ix, where == BT_WAIT_BACKOFF && queue->options.pop_from_backoff, now_ns);
	}
}

void bt_queue_try_again(struct bt_queue *queue, uint32_t pod_ix, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = queue_find(queue, pod_ix);

	if (ix == BT_NO_SLOT) {
		return;
	}
	ix = bt_entity_place(queue, ix);
	struct bt_slot *slot = &queue->slots[ix];
	if (slot->where == BT_WAIT_IN_FLIGHT) {
		slot->missed = slot->patient = true;
	} else if (slot->where == BT_WAIT_UNSCHEDULABLE || slot->where == BT_WAIT_GATED) {
		slot->patient = true;
		queue->cause = BT_CAUSE_FORCE_ACTIVATE;
		requeue(queue, ix, BT_AFTER_BACKOFF, now_ns);
	} else if (slot->where == BT_WAIT_BACKOFF && !is_patient(slot)) {
		/* An event arrived before the failure. If it were popped from backoff, failing pods would
		 * requeue each other forever. */
		bt_slot_leave(queue, ix);
		slot->patient = true;
		bt_slot_enter(queue, ix, BT_WAIT_BACKOFF);
	}
}

/* ---- time ---- */

static void flush_heap(struct bt_queue *queue, struct bt_pod_backoff *heap, int64_t now_ns)
{
	while (heap->n && !bt_pod_backoff_lasts(queue, &queue->slots[heap->slots[0]], now_ns)) {
		BT_INVARIANT(queue->slots[heap->slots[0]].where == BT_WAIT_BACKOFF);
		activate(queue, heap->slots[0], queue->options.pop_from_backoff, now_ns);
	}
}

void bt_queue_flush_backoff(struct bt_queue *queue, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	/* Limits the time that kinds are parked, in case a hint missed a helpful event. */
	while (queue->active.parked_n) {
		bt_active_unpark(queue, queue->active.parked[queue->active.parked_n - 1]);
	}
	queue->cause = BT_CAUSE_BACKOFF_COMPLETE;
	flush_heap(queue, &queue->backoff, now_ns);
	flush_heap(queue, &queue->error_backoff, now_ns);
	BT_INVARIANT(bt_queue_next_expiry(queue) == INT64_MAX || queue->counts.backoff > 0);
}

static bool is_stuck(const struct bt_queue *queue, const struct bt_slot *slot)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;

	return slot->where == BT_WAIT_GATED && hooks->stuck &&
	       hooks->stuck(hooks->context, bt_entity_pod(queue, slot), slot->gate);
}

void bt_queue_flush_unschedulable(struct bt_queue *queue, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	bool any = false;
	size_t n = 0;

	for (uint32_t i = 0; i < queue->slot_n; i++) {
		const struct bt_slot *slot = &queue->slots[i];

		if (slot->group == BT_NO_GROUP ||
			slot->waits_since_ns >= now_ns - queue->options.max_unschedulable_ns) {
			continue;
		}
		/* A pod that stays gated is also an event for those in flight. */
		any = true;
		if (slot->where == BT_WAIT_UNSCHEDULABLE || queue->options.flush_runs_pre_enqueue ||
			is_stuck(queue, slot)) {
			bt_queue_note(queue, &n, i);
		}
	}
	queue->cause = BT_CAUSE_TIMEOUT;
	for (size_t i = 0; i < n; i++) {
		uint32_t ix = queue->scratch[i];

		queue->slots[ix].flushed = true;
		if (BT_UNLIKELY(queue->slots[ix].is_entity)) {
			bt_entity_note_flushed(queue, &queue->slots[ix]);
		}
		if (queue->options.flush_runs_pre_enqueue) {
			queue->slots[ix].waits_since_ns = now_ns;
		}
		queue->counts.flushed_n++;
		requeue(queue, ix, BT_AFTER_BACKOFF, now_ns);
	}
	if (any) {
		const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_WILDCARD};

		bt_in_flight_log(queue, &event, BT_QUEUE_EMPTY);
	}
}

static int64_t first_expiry(const struct bt_queue *queue, const struct bt_pod_backoff *heap)
{
	return heap->n ? queue->slots[heap->slots[0]].expiry_ns : INT64_MAX;
}

int64_t bt_queue_next_expiry(const struct bt_queue *queue)
{
	int64_t refused = first_expiry(queue, &queue->backoff),
		failed = first_expiry(queue, &queue->error_backoff);

	return refused < failed ? refused : failed;
}

int64_t bt_queue_oldest(const struct bt_queue *queue, int64_t refused_by_ns)
{
	int64_t oldest = INT64_MAX;

	for (size_t i = 0; i < queue->slot_n && (queue->counts.unschedulable || queue->counts.gated); i++) {
		const struct bt_slot *slot = &queue->slots[i];

		if (slot->timestamp_ns <= refused_by_ns && slot->waits_since_ns < oldest &&
			(slot->where == BT_WAIT_UNSCHEDULABLE || is_stuck(queue, slot))) {
			oldest = slot->waits_since_ns;
		}
	}
	return oldest;
}

bool bt_queue_keeps_events(const struct bt_queue *queue)
{
	return queue->log_n != 0;
}

/* ---- queries ---- */

struct bt_queue_info bt_queue_info(const struct bt_queue *queue, uint32_t pod_ix)
{
	uint32_t ix = queue_find(queue, pod_ix);

	if (ix == BT_NO_SLOT) {
		return (struct bt_queue_info){.gate = BT_QUEUE_NO_GATE};
	}
	const struct bt_slot *slot = &queue->slots[ix], *place = &queue->slots[bt_entity_place(queue, ix)];
	return (struct bt_queue_info){
		.where = place->where,
		.gate = place->gate,
		.unschedulable_plugins = slot->unschedulable_plugins,
		.pending = slot->pending,
		.attempts = slot->attempts,
		.entered_ns = slot->entered_ns,
		.timestamp_ns = place->timestamp_ns,
		.expiry_ns = place->expiry_ns,
		.patient = place->where == BT_WAIT_BACKOFF && is_patient(place),
		.flushed = slot->flushed,
		.first_ns = slot->first_ns,
		.order = slot->order,
		.in_group = place != slot,
	};
}

static int compare(const void *a, const void *b, void *context)
{
	const struct bt_queue *queue = context;
	const struct bt_slot *x = &queue->slots[*(const uint32_t *)a],
			     *y = &queue->slots[*(const uint32_t *)b];

	if (x->where == BT_WAIT_BACKOFF) {
		bool patient = is_patient(x), other = is_patient(y);

		if (patient != other) {
			return patient ? 1 : -1;
		}
		return bt_pod_backoff_before(queue, x, y, patient) ? -1 : 1;
	}
	int32_t first = queue->active.kinds[x->kind].kind.priority,
		second = queue->active.kinds[y->kind].kind.priority;
	if (first != second) {
		return first > second ? -1 : 1;
	}
	if (x->timestamp_ns != y->timestamp_ns) {
		return x->timestamp_ns < y->timestamp_ns ? -1 : 1;
	}
	return x->order < y->order ? -1 : 1;
}

static uint32_t list_members(
	const struct bt_queue *queue, const struct bt_slot *slot, uint32_t *pods, uint32_t cap)
{
	const struct bt_entity *entity = &queue->entities[slot->entity];

	for (size_t i = 0; i < entity->member_n && i < cap; i++) {
		pods[i] = queue->slots[entity->members[i]].pod_ix;
	}
	return (uint32_t)entity->member_n;
}

uint32_t bt_queue_list(struct bt_queue *queue, enum bt_wait where, uint32_t *pods, uint32_t cap)
{
	size_t n = 0;
	uint32_t pod_n = 0;

	for (uint32_t i = 0; i < queue->slot_n; i++) {
		/* In flight, pods are listed instead of their group. */
		if (queue->slots[i].where == where &&
			(where <= BT_WAIT_GATED || !queue->slots[i].is_entity)) {
			bt_queue_note(queue, &n, i);
		}
	}
	if (n && (where == BT_WAIT_ACTIVE || where == BT_WAIT_BACKOFF)) {
		qsort_r(queue->scratch, n, sizeof(*queue->scratch), compare, queue);
	}
	for (size_t i = 0; i < n; i++) {
		const struct bt_slot *slot = &queue->slots[queue->scratch[i]];

		if (slot->is_entity) {
			pod_n += list_members(queue, slot, pods + pod_n, cap > pod_n ? cap - pod_n : 0);
		} else {
			if (pod_n < cap) {
				pods[pod_n] = slot->pod_ix;
			}
			pod_n++;
		}
	}
	return pod_n;
}

struct bt_queue_counts bt_queue_counts(const struct bt_queue *queue)
{
	struct bt_queue_counts counts = queue->counts;

	counts.parked = queue->active.parked_n;
	memcpy(counts.grouped, queue->entity_pods, sizeof(counts.grouped));
	counts.active += queue->entity_pods[BT_WAIT_ACTIVE] - counts.pod_groups[BT_WAIT_ACTIVE];
	counts.backoff += queue->entity_pods[BT_WAIT_BACKOFF] - counts.pod_groups[BT_WAIT_BACKOFF];
	counts.unschedulable +=
		queue->entity_pods[BT_WAIT_UNSCHEDULABLE] - counts.pod_groups[BT_WAIT_UNSCHEDULABLE];
	counts.gated += queue->entity_pods[BT_WAIT_GATED] - counts.pod_groups[BT_WAIT_GATED];
	return counts;
}

bool bt_queue_may_requeue(const struct bt_queue *queue)
{
	const struct bt_queue_counts *counts = &queue->counts;

	return (counts->unschedulable | counts->gated | counts->in_flight | queue->active.parked_n) != 0;
}

bool bt_queue_is_busy(const struct bt_queue *queue)
{
	return (queue->counts.in_flight | queue->log_n) != 0;
}
