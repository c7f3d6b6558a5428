/* SPDX-License-Identifier: Apache-2.0
 * PodGroups as entities of the queue: a group is in a place, and its waiting pods are in the group. Its slot
 * has the group's times, attempts and gate; its pods' slots have theirs. Groups of one tree form one entity,
 * with the number of its root; groups without an existing root have incomplete pods, under their own numbers.
 * Source: backend/queue scheduling_queue, workload_forest and QueuedPodGroupInfo, v1.37.2.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "queue/queue_int.h"

/* Kinds of PodGroups follow those of pods: each has its own kind, so no two are evaluated together. */
#define ENTITY_KINDS 0x40000000u

void bt_entities_fini(struct bt_queue *queue)
{
	for (size_t i = 0; i < queue->entity_n; i++) {
		bt_mem_free(queue->entities[i].members);
		bt_mem_free(queue->entities[i].aside);
	}
	bt_mem_free(queue->entities);
}

static bool group_of(const struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_pod_group *out)
{
	const struct bt_queue_hooks *hooks = &queue->options.hooks;

	return hooks->pod_group && hooks->pod_group(hooks->context, pod_ix, out);
}

uint32_t bt_entity_of(const struct bt_queue *queue, uint32_t pod_ix)
{
	struct bt_queue_pod_group group;

	return group_of(queue, pod_ix, &group) ? group.number : BT_NO_ENTITY;
}

static struct bt_entity *entity_at(struct bt_queue *queue, uint32_t number)
{
	while (queue->entity_n <= number) {
		queue->entities = bt_mem_grow(
			queue->entities, queue->entity_n, &queue->entity_cap, sizeof(*queue->entities));
		queue->entities[queue->entity_n++] = (struct bt_entity){.slot = BT_NO_SLOT};
	}
	return &queue->entities[number];
}

/* The PodGroup of a slot. */
static struct bt_entity *entities_of(const struct bt_queue *queue, const struct bt_slot *slot)
{
	BT_INVARIANT(slot->entity < queue->entity_n);
	return &queue->entities[slot->entity];
}

static bool is_place(enum bt_wait where)
{
	return where >= BT_WAIT_ACTIVE && where <= BT_WAIT_GATED;
}

/* ---- members ---- */

/* Source: PodGroupMemberPodsOrderingFunc, v1.37.2; ties are broken by waiting time, not by name. */
static bool goes_before(const struct bt_queue *queue, uint32_t a, uint32_t b)
{
	const struct bt_slot *x = &queue->slots[a], *y = &queue->slots[b];
	int32_t first = queue->active.kinds[x->kind].kind.priority,
		second = queue->active.kinds[y->kind].kind.priority;

	if (first != second) {
		return first > second;
	}
	if (x->attempts != y->attempts) {
		return x->attempts > y->attempts;
	}
	return x->timestamp_ns != y->timestamp_ns ? x->timestamp_ns < y->timestamp_ns : x->turn < y->turn;
}

static void insert_member(struct bt_queue *queue, struct bt_entity *entity, uint32_t ix)
{
	size_t at = entity->member_n;

	entity->members =
		bt_mem_grow(entity->members, entity->member_n, &entity->member_cap, sizeof(*entity->members));
	for (; at > 0 && goes_before(queue, ix, entity->members[at - 1]); at--) {
		entity->members[at] = entity->members[at - 1];
	}
	entity->members[at] = ix;
	entity->member_n++;
}

/* Removes a slot from a list, if present, keeping the order. */
static bool take_out(uint32_t *slots, size_t *n, uint32_t ix)
{
	size_t at = 0;

	while (at < *n && slots[at] != ix) {
		at++;
	}
	if (at == *n) {
		return false;
	}
	memmove(slots + at, slots + at + 1, (--*n - at) * sizeof(*slots));
	return true;
}

static void put_aside(struct bt_queue *queue, struct bt_entity *entity, uint32_t ix, enum bt_wait where)
{
	entity->aside =
		bt_mem_grow(entity->aside, entity->aside_n, &entity->aside_cap, sizeof(*entity->aside));
	entity->aside[entity->aside_n++] = ix;
	queue->slots[ix].where = (uint8_t)where;
	++*(where == BT_WAIT_PENDING ? &queue->counts.pending : &queue->counts.incomplete);
}

static void take_back(struct bt_queue *queue, struct bt_entity *entity, uint32_t ix)
{
	struct bt_slot *slot = &queue->slots[ix];
	uint64_t *count = slot->where == BT_WAIT_PENDING ? &queue->counts.pending : &queue->counts.incomplete;

	BT_INVARIANT(slot->where == BT_WAIT_PENDING || slot->where == BT_WAIT_INCOMPLETE);
	bool was_aside = take_out(entity->aside, &entity->aside_n, ix);

	BT_REQUIRE(was_aside && *count > 0);
	--*count;
	slot->where = BT_WAIT_NOWHERE;
}

void bt_entity_count(struct bt_queue *queue, const struct bt_slot *slot, enum bt_wait where, bool add)
{
	uint64_t n = entities_of(queue, slot)->member_n;

	BT_INVARIANT(n > 0 && (add || queue->entity_pods[where] >= n));
	queue->counts.pod_groups[where] += add ? 1 : (uint64_t)-1;
	queue->counts.had_pod_groups[where] = true;
	queue->entity_pods[where] += add ? n : -n;
}

/* ---- its place ---- */

/* The plugins that refused any of its pods, to select relevant events. */
static void sum_up(struct bt_queue *queue, struct bt_entity *entity)
{
	struct bt_slot *slot = &queue->slots[entity->slot];

	slot->unschedulable_plugins = slot->pending = 0;
	for (size_t i = 0; i < entity->member_n; i++) {
		slot->unschedulable_plugins |= queue->slots[entity->members[i]].unschedulable_plugins;
		slot->pending |= queue->slots[entity->members[i]].pending;
	}
}

static enum bt_wait admit_entity(
	struct bt_queue *queue, struct bt_entity *entity, enum bt_strategy strategy, int64_t now_ns)
{
	sum_up(queue, entity);
	return bt_slot_admit(queue, entity->slot, strategy, now_ns);
}

/* The strategy that returns it to its place. */
static enum bt_strategy back_to(enum bt_wait where)
{
	return where == BT_WAIT_ACTIVE	  ? BT_IMMEDIATELY
	       : where == BT_WAIT_BACKOFF ? BT_AFTER_BACKOFF
					  : BT_SKIP;
}

static void vacate(struct bt_queue *queue, struct bt_entity *entity)
{
	uint32_t ix = entity->slot;

	BT_INVARIANT(entity->member_n == 0 && queue->slots[ix].where == BT_WAIT_NOWHERE);
	bt_active_leave_kind(queue, queue->slots[ix].kind);
	queue->slots[ix].is_entity = false;
	entity->slot = BT_NO_SLOT;
	entity->returned = false;
	bt_slot_vacate(queue, ix);
}

/* Creates the entity for its first pod, with that pod's waiting time. */
static void found(struct bt_queue *queue, uint32_t number, int32_t priority, uint32_t first_ix)
{
	const uint32_t ix = bt_slot_vacant(queue);
	const struct bt_slot *first = &queue->slots[first_ix];

	queue->slots[ix] = (struct bt_slot){.pod_ix = BT_QUEUE_EMPTY,
		.entity = number,
		.is_entity = true,
		.gate = BT_QUEUE_NO_GATE,
		.patient = true, /* no plugin refuses a group, so it is treated as after an error */
		.expiry_ns = BT_EXPIRED,
		.first_ns = first->first_ns,
		.timestamp_ns = first->timestamp_ns,
		.waits_since_ns = first->timestamp_ns,
		.entered_ns = first->entered_ns,
		.order = first->order,
		.group = BT_NO_GROUP};
	queue->slots[ix].kind = bt_active_join_kind(
		queue, (struct bt_queue_kind){.signature_ix = ENTITY_KINDS | number, .priority = priority});
	queue->entities[number].slot = ix;
}

enum bt_wait bt_entity_enter(struct bt_queue *queue, uint32_t ix, int64_t now_ns)
{
	struct bt_queue_pod_group group;

	BT_REQUIRE(queue->slots[ix].where == BT_WAIT_NOWHERE);
	bool in_group = group_of(queue, queue->slots[ix].pod_ix, &group);
	BT_REQUIRE(in_group);
	struct bt_entity *entity = entity_at(queue, group.number);
	queue->slots[ix].entity = group.number;
	queue->slots[ix].leaf = group.leaf;
	if (!group.known) {
		put_aside(queue, entity, ix, BT_WAIT_INCOMPLETE);
		return BT_WAIT_INCOMPLETE;
	}
	if (entity->slot != BT_NO_SLOT && queue->slots[entity->slot].where == BT_WAIT_IN_FLIGHT) {
		put_aside(queue, entity, ix, BT_WAIT_PENDING);
		return BT_WAIT_PENDING;
	}
	enum bt_strategy strategy = BT_IMMEDIATELY;
	if (entity->slot == BT_NO_SLOT) {
		found(queue, group.number, group.priority, ix);
	} else {
		strategy = back_to(bt_slot_leave(queue, entity->slot));
	}
	queue->slots[ix].where = BT_WAIT_MEMBER;
	insert_member(queue, entity, ix);
	enum bt_wait to = admit_entity(queue, entity, strategy, now_ns);
	bt_incoming_count(queue, entity->slot, BT_WAIT_NOWHERE, to);
	return to;
}

enum bt_wait bt_entity_return(struct bt_queue *queue, uint32_t ix, enum bt_strategy strategy, int64_t now_ns)
{
	bool of_cycle = bt_slot_leave(queue, ix) == BT_WAIT_IN_FLIGHT;

	queue->slots[ix].turn = ++queue->turns;
	enum bt_wait where = bt_entity_enter(queue, ix, now_ns);
	if (where == BT_WAIT_PENDING && of_cycle) {
		struct bt_entity *entity = entities_of(queue, &queue->slots[ix]);

		entity->returned = true;
		entity->best = strategy > entity->best ? (uint8_t)strategy : entity->best;
	}
	return where;
}

void bt_entity_drop(struct bt_queue *queue, uint32_t ix)
{
	struct bt_slot *slot = &queue->slots[ix];
	struct bt_entity *entity = entities_of(queue, slot);

	if (slot->where != BT_WAIT_MEMBER) {
		take_back(queue, entity, ix);
		return;
	}
	enum bt_wait from = bt_slot_leave(queue, entity->slot);
	bool was_member = take_out(entity->members, &entity->member_n, ix);

	BT_REQUIRE(was_member);
	slot->where = BT_WAIT_NOWHERE;
	if (entity->member_n == 0) {
		vacate(queue, entity);
		return;
	}
	/* A running backoff continues. */
	queue->cause = BT_CAUSE_NEWCOMER;
	enum bt_wait to = admit_entity(queue, entity, back_to(from), queue->slots[entity->slot].timestamp_ns);
	bt_incoming_count(queue, entity->slot, BT_WAIT_NOWHERE, to);
}

/* ---- its cycle ---- */

void bt_entity_pop(struct bt_queue *queue, uint32_t ix)
{
	struct bt_entity *entity = entities_of(queue, &queue->slots[ix]);

	BT_INVARIANT(entity->slot == ix && entity->member_n > 0);
	queue->slots[ix].where = BT_WAIT_IN_FLIGHT;
	queue->slots[ix].attempts++;
	entity->returned = false;
	entity->best = BT_SKIP;
	for (size_t i = 0; i < entity->member_n; i++) {
		queue->slots[entity->members[i]].where = BT_WAIT_NOWHERE;
		bt_in_flight_begin(queue, entity->members[i]);
	}
}

void bt_entity_detach(struct bt_queue *queue, uint32_t ix)
{
	struct bt_entity *entity = entities_of(queue, &queue->slots[ix]);

	take_out(entity->members, &entity->member_n, ix);
}

void bt_queue_end_group(struct bt_queue *queue, uint32_t number, enum bt_queue_attempt attempt,
	bool by_events, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	struct bt_entity *entity = entity_at(queue, number);
	struct bt_slot *slot = &queue->slots[entity->slot];

	BT_REQUIRE(entity->slot != BT_NO_SLOT && slot->where == BT_WAIT_IN_FLIGHT && entity->member_n == 0);
	slot->where = BT_WAIT_NOWHERE;
	for (size_t i = 0; i < entity->aside_n;) {
		uint32_t ix = entity->aside[i];

		if (queue->slots[ix].where != BT_WAIT_PENDING) {
			i++;
			continue;
		}
		take_back(queue, entity, ix);
		queue->slots[ix].where = BT_WAIT_MEMBER;
		insert_member(queue, entity, ix);
	}
	if (entity->member_n == 0) {
		vacate(queue, entity);
		return;
	}
	slot->error_n = attempt == BT_ATTEMPT_FAILED ? slot->error_n + 1 : 0;
	slot->unschedulable_n = attempt == BT_ATTEMPT_SUCCEEDED
					? 0
					: slot->unschedulable_n + (attempt == BT_ATTEMPT_REJECTED);
	if (attempt != BT_ATTEMPT_SUCCEEDED || !entity->returned) {
		slot->timestamp_ns = now_ns;
	}
	slot->waits_since_ns = slot->timestamp_ns;
	slot->expiry_ns = bt_pod_backoff_expiry(queue, slot);
	slot->flushed = false;
	enum bt_strategy strategy = attempt == BT_ATTEMPT_SUCCEEDED ? BT_IMMEDIATELY
				    : by_events			    ? (enum bt_strategy)entity->best
								    : BT_AFTER_BACKOFF;
	entity->returned = false;
	queue->cause = BT_CAUSE_ATTEMPT_FAILED;
	bt_incoming_count(
		queue, entity->slot, BT_WAIT_NOWHERE, admit_entity(queue, entity, strategy, now_ns));
}

/* ---- its object ---- */

static int by_time(const void *a, const void *b, void *context)
{
	const struct bt_queue *queue = context;
	const struct bt_slot *x = &queue->slots[*(const uint32_t *)a],
			     *y = &queue->slots[*(const uint32_t *)b];

	if (x->timestamp_ns != y->timestamp_ns) {
		return x->timestamp_ns < y->timestamp_ns ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The first pod gives the group its time, so pods enter in the order in which they were queued; upstream
 * takes them from a map. */
void bt_queue_pod_groups_added(struct bt_queue *queue, const uint32_t *leaves, size_t leaf_n, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	size_t n = 0;

	queue->cause = BT_CAUSE_NEWCOMER;
	for (size_t i = 0; i < leaf_n; i++) {
		const struct bt_entity *entity = entity_at(queue, leaves[i]);

		for (size_t k = 0; k < entity->aside_n; k++) {
			if (queue->slots[entity->aside[k]].where == BT_WAIT_INCOMPLETE) {
				bt_queue_note(queue, &n, entity->aside[k]);
			}
		}
	}
	if (n > 1) {
		qsort_r(queue->scratch, n, sizeof(*queue->scratch), by_time, queue);
	}
	/* When the group is in flight, they are set aside again. */
	for (size_t i = 0; i < n; i++) {
		const uint32_t ix = queue->scratch[i];

		take_back(queue, entity_at(queue, queue->slots[ix].entity), ix);
		bt_entity_enter(queue, ix, now_ns);
	}
}

void bt_queue_pod_group_changed(struct bt_queue *queue, uint32_t number, int32_t priority)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	uint32_t ix = entity_at(queue, number)->slot;

	if (ix == BT_NO_SLOT || queue->active.kinds[queue->slots[ix].kind].kind.priority == priority) {
		return;
	}
	bool waits = is_place(queue->slots[ix].where);
	enum bt_wait where = waits ? bt_slot_leave(queue, ix) : BT_WAIT_IN_FLIGHT;
	bt_active_leave_kind(queue, queue->slots[ix].kind);
	queue->slots[ix].kind = bt_active_join_kind(
		queue, (struct bt_queue_kind){.signature_ix = ENTITY_KINDS | number, .priority = priority});
	if (waits) {
		bt_slot_enter(queue, ix, where);
	}
}

static bool is_among(uint32_t leaf, const uint32_t *leaves, size_t leaf_n)
{
	size_t i = 0;

	while (i < leaf_n && leaves[i] != leaf) {
		i++;
	}
	return i < leaf_n;
}

/* Removes pods of deleted leaf groups from a list, keeping the order. They become incomplete. */
static void make_incomplete(
	struct bt_queue *queue, struct bt_entity *entity, const uint32_t *leaves, size_t leaf_n)
{
	size_t kept_n = 0;

	for (size_t i = 0; i < entity->member_n; i++) {
		uint32_t ix = entity->members[i];

		if (!is_among(queue->slots[ix].leaf, leaves, leaf_n)) {
			entity->members[kept_n++] = ix;
			continue;
		}
		queue->slots[ix].entity = queue->slots[ix].leaf;
		put_aside(queue, &queue->entities[queue->slots[ix].leaf], ix, BT_WAIT_INCOMPLETE);
	}
	entity->member_n = kept_n;
}

static void make_pending_incomplete(
	struct bt_queue *queue, struct bt_entity *entity, const uint32_t *leaves, size_t leaf_n)
{
	for (size_t n = entity->aside_n, at = 0; n > 0; n--) {
		uint32_t ix = entity->aside[at];

		if (queue->slots[ix].where != BT_WAIT_PENDING ||
			!is_among(queue->slots[ix].leaf, leaves, leaf_n)) {
			at++;
			continue;
		}
		take_back(queue, entity, ix);
		queue->slots[ix].entity = queue->slots[ix].leaf;
		put_aside(queue, &queue->entities[queue->slots[ix].leaf], ix, BT_WAIT_INCOMPLETE);
	}
}

void bt_queue_pod_groups_deleted(
	struct bt_queue *queue, uint32_t number, const uint32_t *leaves, size_t leaf_n)
{
	BT_OWNED_BY_THREAD(&queue->owner);
	for (size_t i = 0; i < leaf_n; i++) {
		entity_at(queue, leaves[i]);
	}
	struct bt_entity *entity = entity_at(queue, number);
	make_pending_incomplete(queue, entity, leaves, leaf_n);
	if (entity->slot == BT_NO_SLOT || queue->slots[entity->slot].where == BT_WAIT_IN_FLIGHT) {
		return;
	}
	enum bt_wait from = bt_slot_leave(queue, entity->slot);
	make_incomplete(queue, entity, leaves, leaf_n);
	if (entity->member_n == 0) {
		vacate(queue, entity);
		return;
	}
	queue->cause = bt_cluster_event_label(BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_UPDATE);
	enum bt_wait to = admit_entity(queue, entity, back_to(from), queue->slots[entity->slot].timestamp_ns);
	bt_incoming_count(queue, entity->slot, BT_WAIT_NOWHERE, to);
}

/* ---- gates and events ---- */

uint32_t bt_entity_place(const struct bt_queue *queue, uint32_t ix)
{
	const struct bt_slot *slot = &queue->slots[ix];

	return slot->where == BT_WAIT_MEMBER ? entities_of(queue, slot)->slot : ix;
}

enum bt_wait bt_entity_where(const struct bt_queue *queue, const struct bt_slot *slot)
{
	return queue->slots[bt_entity_place(queue, (uint32_t)(slot - queue->slots))].where;
}

uint32_t bt_entity_pod(const struct bt_queue *queue, const struct bt_slot *slot)
{
	if (!slot->is_entity) {
		return slot->pod_ix;
	}
	const struct bt_entity *entity = entities_of(queue, slot);
	uint32_t best = entity->members[0];

	BT_INVARIANT(entity->member_n > 0);
	for (size_t i = 0; i < entity->member_n && slot->gate != BT_QUEUE_NO_GATE; i++) {
		best = queue->slots[entity->members[i]].gate == slot->gate ? entity->members[i] : best;
	}
	return queue->slots[best].pod_ix;
}

/* Evaluates all pods, since each has its own gate; the last gate found is the group's. */
bool bt_entity_pass_gate(struct bt_queue *queue, struct bt_slot *slot)
{
	struct bt_entity *entity = entities_of(queue, slot);

	slot->gate = BT_QUEUE_NO_GATE;
	for (size_t i = 0; i < entity->member_n; i++) {
		struct bt_slot *member = &queue->slots[entity->members[i]];

		if (!bt_slot_pass_gate(queue, member)) {
			slot->gate = member->gate;
		}
	}
	sum_up(queue, entity);
	return slot->gate == BT_QUEUE_NO_GATE;
}

/* Source: isEntityWorthRequeuing, v1.37.2. */
enum bt_strategy bt_entity_weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event)
{
	const struct bt_entity *entity = entities_of(queue, slot);
	enum bt_strategy best = BT_SKIP;

	for (size_t i = 0; i < entity->member_n && best != BT_IMMEDIATELY; i++) {
		enum bt_strategy strategy = bt_slot_weigh(queue, &queue->slots[entity->members[i]], event);

		best = strategy > best ? strategy : best;
		/* Only a plugin with a waiting pod can raise it further. */
		if (best == BT_AFTER_BACKOFF && !slot->pending) {
			break;
		}
	}
	return best;
}

bool bt_entity_yields(const struct bt_queue *queue, const struct bt_slot *slot, int32_t max_priority)
{
	const struct bt_entity *entity = entities_of(queue, slot);

	for (size_t i = 0; i < entity->member_n; i++) {
		uint32_t kind = queue->slots[entity->members[i]].kind;

		if (queue->active.kinds[kind].kind.priority <= max_priority) {
			return true;
		}
	}
	return false;
}

void bt_entity_note_active(struct bt_queue *queue, const struct bt_slot *slot, int64_t now_ns)
{
	const struct bt_entity *entity = entities_of(queue, slot);

	for (size_t i = 0; i < entity->member_n; i++) {
		struct bt_slot *member = &queue->slots[entity->members[i]];

		member->first_ns = member->first_ns == INT64_MAX ? now_ns : member->first_ns;
	}
}

void bt_entity_note_flushed(struct bt_queue *queue, const struct bt_slot *slot)
{
	const struct bt_entity *entity = entities_of(queue, slot);

	for (size_t i = 0; i < entity->member_n; i++) {
		queue->slots[entity->members[i]].flushed = true;
	}
}

bool bt_queue_is_group(const struct bt_queue *queue, uint32_t pod_ix)
{
	uint32_t ix = pod_ix < queue->pod_cap ? queue->slot_ixs[pod_ix] - 1 : BT_NO_SLOT;

	return ix != BT_NO_SLOT && queue->slots[ix].entity != BT_NO_ENTITY;
}

uint32_t bt_queue_members(const struct bt_queue *queue, uint32_t pod_ix, uint32_t *out_pods, uint32_t cap)
{
	uint32_t ix = pod_ix < queue->pod_cap ? queue->slot_ixs[pod_ix] - 1 : BT_NO_SLOT;

	if (!bt_queue_is_group(queue, pod_ix)) {
		return 0;
	}
	const struct bt_entity *entity = entities_of(queue, &queue->slots[ix]);
	for (size_t i = 0; i < entity->member_n && i < cap; i++) {
		out_pods[i] = queue->slots[entity->members[i]].pod_ix;
	}
	return (uint32_t)entity->member_n;
}
