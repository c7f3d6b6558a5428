/* SPDX-License-Identifier: Apache-2.0
 * Stages 7 and 8: requests to the binder, and their ends. Each assumption ends exactly once (I2, I4).
 * Context: the scheduling thread, except for answers and bt_pipeline_bind_step.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/index_allocator.h"
#include "engine/flow/pipeline/pipeline_int.h"

/* ---- slots ---- */

static struct bt_bind_request_slot *slot_at(const struct bt_bind_requests *bind_requests, uint32_t ix)
{
	uint32_t chunk = 31 - (uint32_t)__builtin_clz(ix / BT_BIND_REQUEST_FIRST_CHUNK + 1);

	return &bind_requests->chunks[chunk][ix - BT_BIND_REQUEST_FIRST_CHUNK * ((1u << chunk) - 1)];
}

/* A word is a generation, a kind and a state. Without the state it is the upper half of the handle. */
#define STATE_BITS 3
#define KIND_BITS  2

static enum bt_bind_request_state state_of(uint64_t word)
{
	return (enum bt_bind_request_state)(word & ((1u << STATE_BITS) - 1));
}

static enum bt_bind_request_kind kind_of(uint32_t tag)
{
	return (enum bt_bind_request_kind)(tag & ((1u << KIND_BITS) - 1));
}

/* The part that a word and a handle share: generation and kind. */
static uint32_t tag_of(uint64_t word)
{
	return (uint32_t)(word >> STATE_BITS);
}

static uint64_t word_of(uint32_t tag, enum bt_bind_request_state state)
{
	return (uint64_t)tag << STATE_BITS | (uint64_t)state;
}

static enum bt_bind_request_state now_at(const struct bt_bind_request_slot *slot)
{
	return state_of(bt_load_acquire(&slot->word)); /* EDGE bind_request.word acquire: see step */
}

/* Context: the scheduling thread, the only one that changes a slot's tag. */
static uint32_t own_tag(const struct bt_bind_request_slot *slot)
{
	return tag_of(bt_load_relaxed(&slot->word));
}

static uint64_t handle_of(const struct bt_bind_request_slot *slot)
{
	return (uint64_t)own_tag(slot) << 32 | (slot->ix + 1);
}

/*
 * Moves a slot from one state to the next. Of concurrent callers, exactly one succeeds.
 * EDGE bind_request.word release: the thread that reads the new state sees the slot's earlier writes.
 */
static bool step(struct bt_bind_request_slot *slot, uint32_t tag, enum bt_bind_request_state from,
	enum bt_bind_request_state to)
{
	uint64_t expected = word_of(tag, from);

	BT_INVARIANT(from != to);
	BT_TESTPOINT("bind_requests.step");
	return bt_cas(&slot->word, &expected, word_of(tag, to));
}

/* The chunk that provides the next slots. */
static uint32_t next_chunk(const struct bt_bind_requests *bind_requests)
{
	return 31 - (uint32_t)__builtin_clz(
			    bt_load_relaxed(&bind_requests->slot_n) / BT_BIND_REQUEST_FIRST_CHUNK + 1);
}

static size_t chunk_bytes(const struct bt_bind_requests *bind_requests)
{
	return ((size_t)BT_BIND_REQUEST_FIRST_CHUNK << next_chunk(bind_requests)) *
	       sizeof(struct bt_bind_request_slot);
}

static void add_chunk(struct bt_bind_requests *bind_requests)
{
	uint32_t slot_n = bt_load_relaxed(&bind_requests->slot_n), chunk = next_chunk(bind_requests);
	uint32_t n = BT_BIND_REQUEST_FIRST_CHUNK << chunk;

	BT_REQUIRE(chunk < BT_BIND_REQUEST_CHUNKS);
	bind_requests->chunks[chunk] = bt_mem_zalloc(n, sizeof(*bind_requests->chunks[chunk]));
	for (uint32_t i = n; i-- > 0;) {
		bind_requests->chunks[chunk][i].ix = slot_n + i;
		bind_requests->vacant = bt_mem_grow(bind_requests->vacant, bind_requests->vacant_n,
			&bind_requests->vacant_cap, sizeof(*bind_requests->vacant));
		bind_requests->vacant[bind_requests->vacant_n++] = slot_n + i;
	}
	/* EDGE bind_request.slots release: the chunk is published before any handle into it. */
	bt_store_release(&bind_requests->slot_n, slot_n + n);
	BT_INVARIANT(bind_requests->vacant_n >= n);
}

static void list_add(struct bt_bind_requests *bind_requests, struct bt_bind_request_list *list,
	struct bt_bind_request_slot *slot)
{
	BT_INVARIANT(list->last == BT_NO_BIND_REQUEST ||
		     slot_at(bind_requests, list->last)->next == BT_NO_BIND_REQUEST);
	slot->next = BT_NO_BIND_REQUEST;
	slot->previous = list->last;
	if (list->last == BT_NO_BIND_REQUEST) {
		list->first = slot->ix;
	} else {
		slot_at(bind_requests, list->last)->next = slot->ix;
	}
	list->last = slot->ix;
}

static void list_remove(struct bt_bind_requests *bind_requests, struct bt_bind_request_list *list,
	struct bt_bind_request_slot *slot)
{
	BT_INVARIANT(slot->previous != BT_NO_BIND_REQUEST || list->first == slot->ix);
	BT_INVARIANT(slot->next != BT_NO_BIND_REQUEST || list->last == slot->ix);
	BT_INVARIANT(slot->previous == BT_NO_BIND_REQUEST ||
		     slot_at(bind_requests, slot->previous)->next == slot->ix);
	BT_INVARIANT(
		slot->next == BT_NO_BIND_REQUEST || slot_at(bind_requests, slot->next)->previous == slot->ix);
	if (slot->previous == BT_NO_BIND_REQUEST) {
		list->first = slot->next;
	} else {
		slot_at(bind_requests, slot->previous)->next = slot->next;
	}
	if (slot->next == BT_NO_BIND_REQUEST) {
		list->last = slot->previous;
	} else {
		slot_at(bind_requests, slot->next)->previous = slot->previous;
	}
}

static struct bt_bind_request_list *list_of(
	struct bt_bind_requests *bind_requests, const struct bt_bind_request_slot *slot)
{
	if (!slot->sent) {
		return &bind_requests->outgoing;
	}
	return slot->overdue ? &bind_requests->overdue : &bind_requests->waiting;
}

void bt_bind_requests_init(struct bt_pipeline *p)
{
	const struct bt_bind_request_list empty = {BT_NO_BIND_REQUEST, BT_NO_BIND_REQUEST};

	p->bind_requests.outgoing = p->bind_requests.waiting = p->bind_requests.overdue = empty;
}

void bt_bind_requests_fini(struct bt_pipeline *p)
{
	struct bt_bind_requests *bind_requests = &p->bind_requests;

	for (uint32_t i = 0; i < bt_load_relaxed(&bind_requests->slot_n); i++) {
		bt_buf_fini(&slot_at(bind_requests, i)->text);
		bt_mem_free(slot_at(bind_requests, i)->claims);
		bt_prebind_writes_destroy(slot_at(bind_requests, i)->writes);
	}
	for (int k = 0; k < BT_BIND_REQUEST_CHUNKS; k++) {
		bt_mem_free(bind_requests->chunks[k]);
	}
	for (int k = 0; k < BT_BIND_REQUEST_KINDS; k++) {
		bt_map_fini(&bind_requests->by_number[k]);
	}
	bt_mem_free(bind_requests->vacant);
	bt_mem_free(bind_requests->slot_of_pod);
}

/* ---- new requests ---- */

static uint32_t *grow_table(uint32_t *table, size_t *cap, uint32_t ix)
{
	while (ix >= *cap) {
		size_t old = *cap;

		table = bt_mem_grow(table, old, cap, sizeof(*table));
		memset(table + old, 0, (*cap - old) * sizeof(*table));
	}
	BT_INVARIANT(ix < *cap);
	return table;
}

static struct bt_bind_request_slot *make(
	struct bt_pipeline *p, enum bt_bind_request_kind kind, uint32_t pod_ix)
{
	struct bt_bind_requests *bind_requests = &p->bind_requests;

	if (bind_requests->vacant_n == 0) {
		add_chunk(bind_requests);
	}
	struct bt_bind_request_slot *slot =
		slot_at(bind_requests, bind_requests->vacant[--bind_requests->vacant_n]);
	BT_INVARIANT(now_at(slot) == BT_BIND_REQUEST_FREE);
	slot->kind = kind;
	slot->pod_ix = pod_ix;
	slot->number = ++bind_requests->numbers[kind];
	slot->made_ns = bt_stage_latency_now(bt_pipeline_schedule_stages(p));
	slot->decided_ns =
		slot->made_ns && kind == BT_BIND_REQUEST_BIND ? bt_engine_took_ns(p->engine, pod_ix) : 0;
	slot->sent = slot->overdue = slot->checking = slot->writes_claims = slot->releases = false;
	slot->preemptor = BT_CYCLE_METRIC_BY_POD;
	slot->reason[0] = 0;
	slot->target = 0;
	slot->extender = NULL;
	slot->preemption = slot->others_n = 0;
	slot->is_last = true;
	if (BT_UNLIKELY(p->replay)) {
		bt_map_put(&bind_requests->by_number[kind], slot->number, slot->ix);
	}
	uint32_t generation = (own_tag(slot) >> KIND_BITS) + 1;
	/* EDGE bind_request.word release: the texts are written later; the ring publishes those. */
	bt_store_release(
		&slot->word, word_of(generation << KIND_BITS | (uint32_t)kind, BT_BIND_REQUEST_READY));
	return slot;
}

static void write_text(struct bt_bind_request_slot *slot, const struct bt_pod_ref *pod, struct bt_str node,
	const struct bt_pod_ref *other, const struct bt_group_ref *group)
{
	const struct bt_str parts[] = {pod->namespace_, pod->name, pod->uid, node, other->namespace_,
		other->name, other->uid, group->name, group->uid};

	bt_buf_clear(&slot->text);
	for (int i = 0; i < 9; i++) {
		bt_buf_str(&slot->text, parts[i]);
		slot->ends[i] = slot->text.len;
	}
	BT_INVARIANT(slot->ends[8] == slot->text.len);
}

/* Queues a bind request. Returns: its slot. */
static struct bt_bind_request_slot *send_request(
	struct bt_pipeline *p, enum bt_bind_request_kind kind, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_pod_ref pod = bt_pipeline_pod_ref(p, pod_ix);
	struct bt_bind_request_slot *slot = make(p, kind, pod_ix);

	write_text(slot, &pod, bt_pipeline_node_name(p, node_ix), &(struct bt_pod_ref){0},
		&(struct bt_group_ref){0});
	bt_add_owned(&p->bind_requests.open_n, 1u);
	list_add(&p->bind_requests, &p->bind_requests.outgoing, slot);
	return slot;
}

void bt_bind_requests_bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_pipeline *p = context;
	struct bt_bind_request_slot *slot = send_request(p, BT_BIND_REQUEST_BIND, pod_ix, node_ix);
	BT_INVARIANT(slot->pod_ix == pod_ix);

	p->bind_requests.slot_of_pod =
		grow_table(p->bind_requests.slot_of_pod, &p->bind_requests.pod_n, pod_ix);
	p->bind_requests.slot_of_pod[pod_ix] = slot->ix + 1;
	slot->writes = p->replay ? NULL : bt_prebind_writes_of(engine, pod_ix);
	slot->writes_claims = slot->writes && slot->writes->claim_n;
	slot->extender = bt_engine_extender_to_bind(engine, pod_ix);
}

void bt_bind_requests_note_bound(struct bt_pipeline *p, uint32_t pod_ix, uint32_t node_ix)
{
	send_request(p, BT_BIND_REQUEST_BOUND, pod_ix, node_ix);
}

/* Numbers the evictions of one cycle as one preemption. */
static void join_preemption(struct bt_bind_requests *bind_requests, struct bt_bind_request_slot *slot)
{
	struct bt_bind_request_slot *before = bind_requests->evicting;

	BT_INVARIANT(before != slot);
	slot->preemption = slot->number;
	if (before && before->for_ix == slot->for_ix) {
		before->is_last = false;
		slot->preemption = before->preemption;
		slot->others_n = before->others_n + 1;
	}
	bind_requests->evicting = slot;
}

void bt_bind_requests_evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct bt_pipeline *p = context;

	if (p->replay) {
		bt_replay_note_eviction(p->replay, pod_ix);
	}
	if (p->replay && bt_replay_evicts_at_once(p->replay)) {
		bt_engine_evict(engine, pod_ix);
		return;
	}
	const struct bt_pod_ref pod = bt_pipeline_pod_ref(p, pod_ix), other = bt_pipeline_pod_ref(p, for_ix);
	uint32_t node_ix = bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->node_ix;
	struct bt_bind_request_slot *slot = make(p, BT_BIND_REQUEST_EVICT, pod_ix);

	const struct bt_group_ref group = bt_engine_preempting_group(engine);
	write_text(slot, &pod, bt_pipeline_node_name(p, node_ix), &other, &group);
	slot->for_ix = for_ix;
	slot->preemptor = group.composite  ? BT_CYCLE_METRIC_BY_TREE
			  : group.name.len ? BT_CYCLE_METRIC_BY_GROUP
					   : BT_CYCLE_METRIC_BY_POD;
	join_preemption(&p->bind_requests, slot);
	bt_add_owned(&p->bind_requests.evicting_n, 1u);
	list_add(&p->bind_requests, &p->bind_requests.outgoing, slot);
}

void bt_bind_requests_release(
	void *context, struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix)
{
	struct bt_pipeline *p = context;
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_resource_claim *claim = &cache->view.devices->claims[release->claim_ix];
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod_ref pod = bt_pipeline_pod_ref(p, for_ix),
				other = {bt_intern_str(intern, claim->namespace_),
					bt_intern_str(intern, claim->name),
					bt_intern_str(intern, claim->uid)};
	struct bt_bind_request_slot *slot = make(p, BT_BIND_REQUEST_EVICT, for_ix);

	BT_REQUIRE_HOT(release->claim_ix < cache->view.devices->claim_n);
	struct bt_group_ref group = {.name = {.len = 0}};
	if (release->consumer != BT_NAME_NONE) {
		group = bt_engine_group_of(engine, for_ix);
	}
	write_text(slot, &pod, (struct bt_str){0}, &other, &group);
	slot->for_ix = for_ix;
	slot->releases = true;
	slot->deletes = release->what == BT_CLAIMS_DELETE;
	slot->unreserves = release->what == BT_CLAIMS_UNRESERVE;
	bt_add_owned(&p->bind_requests.evicting_n, 1u);
	list_add(&p->bind_requests, &p->bind_requests.outgoing, slot);
}

bool bt_bind_requests_have_room(const struct bt_pipeline *p)
{
	const struct bt_pipeline_binder *binder = &p->options.binder;
	const struct bt_bind_requests *bind_requests = &p->bind_requests;

	return !bind_requests->stuck && bt_load_relaxed(&bind_requests->open_n) < p->limits.bindings &&
	       (!binder->has_room || binder->has_room(binder->context)) &&
	       (bind_requests->vacant_n > 0 || bt_load_relaxed(&bind_requests->open_n) == 0 ||
		       bt_mem_may_use(BT_MEM_BINDING, chunk_bytes(bind_requests)));
}

struct bt_bind_request_slot *bt_bind_requests_of_handle(struct bt_pipeline *p, uint64_t handle)
{
	struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, (uint32_t)handle - 1);

	return handle_of(slot) == handle && now_at(slot) != BT_BIND_REQUEST_FREE ? slot : NULL;
}

void bt_bind_requests_trim(struct bt_pipeline *p)
{
	uint32_t pod_end = bt_ledger_pod_end(bt_engine_cache(p->engine)->ledger);

	p->bind_requests.slot_of_pod = bt_index_allocator_shrink(p->bind_requests.slot_of_pod, pod_end,
		&p->bind_requests.pod_n, sizeof(*p->bind_requests.slot_of_pod));
}

struct bt_bind_request_slot *bt_bind_requests_of_pod(struct bt_pipeline *p, uint32_t pod_ix)
{
	uint32_t at = pod_ix < p->bind_requests.pod_n ? p->bind_requests.slot_of_pod[pod_ix] : 0;

	return at ? slot_at(&p->bind_requests, at - 1) : NULL;
}

/* ---- ends ---- */

/* Frees a slot. Its next user gets another generation, so that late answers are detected. */
static void release(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	struct bt_bind_requests *bind_requests = &p->bind_requests;

	list_remove(bind_requests, list_of(bind_requests, slot), slot);
	/* A replay answers requests that were never sent: the slot's next user may be another cycle's
	 * eviction. */
	bind_requests->evicting = bind_requests->evicting == slot ? NULL : bind_requests->evicting;
	bt_prebind_writes_destroy(slot->writes); /* it is still there if the request was not sent */
	slot->writes = NULL;
	bt_store_release(&slot->word, word_of(own_tag(slot), BT_BIND_REQUEST_FREE));
	bind_requests->vacant = bt_mem_grow(bind_requests->vacant, bind_requests->vacant_n,
		&bind_requests->vacant_cap, sizeof(*bind_requests->vacant));
	bind_requests->vacant[bind_requests->vacant_n++] = slot->ix;
}

static const struct bt_pod *pod_of(const struct bt_pipeline *p, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(p->engine)->ledger, pod_ix);
}

/* Frees the claims of a slot's answer. */
static void forget_claims(struct bt_bind_request_slot *slot)
{
	bt_mem_free(slot->claims);
	slot->claims = NULL;
	slot->claim_n = 0;
}

/* Reports a binding's end to the sink, while the pod is still in the queue's tables. */
static void report_end(struct bt_pipeline *p, const struct bt_bind_request_slot *slot, bool yes)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(p->engine), slot->pod_ix);
	int64_t took_ns = slot->answered_ns - slot->made_ns;

	/* Without an answer, answered_ns is from the slot's previous use. */
	took_ns = took_ns > 0 ? took_ns + slot->decided_ns : 0;
	p->options.sink.bound(p->options.sink.context, slot->pod_ix, yes, &info, took_ns);
}

/* Ends a binding, and passes the answer to the engine. */
static void end_binding(
	struct bt_pipeline *p, struct bt_bind_request_slot *slot, const struct bt_binding_answer *answer)
{
	uint32_t pod_ix = slot->pod_ix;

	if (p->options.sink.bound) {
		report_end(p, slot, answer->bound);
	}
	p->bind_requests.slot_of_pod[pod_ix] = 0;
	if (p->options.journal) {
		bt_journal_binding(p->options.journal, slot->number, answer);
	}
	bt_store_relaxed(&p->bind_requests.open_n, bt_load_relaxed(&p->bind_requests.open_n) - 1);
	release(p, slot);
	bt_engine_answer(p->engine, pod_ix, answer);
}

/* Ends a called binding with its known outcome, unless an answer arrives concurrently. */
static void end_called(
	struct bt_pipeline *p, struct bt_bind_request_slot *slot, const struct bt_binding_answer *answer)
{
	if (step(slot, own_tag(slot), BT_BIND_REQUEST_CALLED,
		    answer->bound ? BT_BIND_REQUEST_YES : BT_BIND_REQUEST_NO)) {
		BT_COUNT(p, recovered_n, 1);
		end_binding(p, slot, answer);
	}
}

static void take_binding(
	struct bt_pipeline *p, struct bt_bind_request_slot *slot, enum bt_bind_request_state state)
{
	const struct bt_pod *pod = pod_of(p, slot->pod_ix);
	bool yes = state == BT_BIND_REQUEST_YES;

	if (state != BT_BIND_REQUEST_CANCELLED) {
		bt_stage_latency_note(
			bt_pipeline_schedule_stages(p), BT_STAGE_BIND, slot->answered_ns - slot->called_ns);
		if (bt_pipeline_schedule_stages(p)) {
			bt_engine_note_bind(
				p->engine, slot->pod_ix, yes, slot->answered_ns - slot->called_ns);
		}
	}
	BT_COUNT(p, late_n, slot->overdue && state != BT_BIND_REQUEST_CANCELLED);
	BT_COUNT(p, bound_n, yes);
	BT_COUNT(p, failed_n, state == BT_BIND_REQUEST_NO);
	BT_COUNT(p, cancelled_n, state == BT_BIND_REQUEST_CANCELLED);
	BT_COUNT(p, shown_failed_n,
		state == BT_BIND_REQUEST_NO && !pod->detached && pod->state == BT_POD_SCHEDULED &&
			bt_bind_requests_is_about(slot, bt_pipeline_node_name(p, pod->node_ix)));
	end_binding(p, slot,
		&(struct bt_binding_answer){.bound = yes, .claims = slot->claims, .claim_n = slot->claim_n});
	forget_claims(slot);
}

/* Applies the answer to a check; its binding may have been answered meanwhile. */
static void take_check(
	struct bt_pipeline *p, struct bt_bind_request_slot *check, enum bt_bind_request_state state)
{
	struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, (uint32_t)check->target - 1);
	const struct bt_binding_answer answer = {
		.bound = state == BT_BIND_REQUEST_YES, .claims = check->claims, .claim_n = check->claim_n};

	if (handle_of(slot) == check->target) {
		slot->checking = false;
		if (state == BT_BIND_REQUEST_YES || state == BT_BIND_REQUEST_NO) {
			end_called(p, slot, &answer);
		}
	}
	forget_claims(check);
	release(p, check);
}

/* Namespace, name and UID in a slot's text, from that part on. */
static struct bt_pod_ref part_of(const struct bt_bind_request_slot *slot, struct bt_str all, uint32_t part)
{
	const size_t *ends = slot->ends + part;

	return (struct bt_pod_ref){bt_str_sub(all, part ? ends[-1] : 0, ends[0]),
		bt_str_sub(all, ends[0], ends[1]), bt_str_sub(all, ends[1], ends[2])};
}

/* The pod whose names start at that part of the slot's text; its index may have changed. BT_NO_POD: it has
 * gone. */
static uint32_t find_pod(const struct bt_pipeline *p, const struct bt_bind_request_slot *slot, uint32_t part)
{
	const struct bt_pod_ref ref = part_of(slot, bt_buf_view(&slot->text), part);
	uint32_t pod_ix = bt_engine_find_pod(p->engine, ref.namespace_, ref.name);

	return pod_ix != BT_NO_POD && bt_str_eq(bt_pipeline_pod_ref(p, pod_ix).uid, ref.uid) ? pod_ix
											     : BT_NO_POD;
}

/* Applies the answer to a release. After success, the source shows the claim's change; after failure, the
 * unschedulable pod is retried. */
static void take_release(
	struct bt_pipeline *p, struct bt_bind_request_slot *slot, enum bt_bind_request_state state)
{
	uint32_t for_ix = state == BT_BIND_REQUEST_YES ? BT_NO_POD : find_pod(p, slot, 0);

	BT_COUNT(p, release_n, state == BT_BIND_REQUEST_YES);
	BT_COUNT(p, release_failed_n, state != BT_BIND_REQUEST_YES);
	bt_store_relaxed(&p->bind_requests.evicting_n, bt_load_relaxed(&p->bind_requests.evicting_n) - 1);
	release(p, slot);
	if (for_ix == BT_NO_POD) {
		return;
	}
	if (p->options.journal) {
		bt_journal_answer(p->options.journal, BT_JOURNAL_EVICT_FAILED, slot->number);
	}
	bt_engine_evict_failed(p->engine, for_ix);
}

/* Applies the answer to an eviction. If the pod was deleted or is being deleted, the answer changes nothing,
 * because the source shows that. */
static void take_eviction(
	struct bt_pipeline *p, struct bt_bind_request_slot *slot, enum bt_bind_request_state state)
{
	bool evicted = state == BT_BIND_REQUEST_YES;

	if (slot->releases) {
		take_release(p, slot, state);
		return;
	}
	uint32_t pod_ix = find_pod(p, slot, 0), for_ix = evicted ? BT_NO_POD : find_pod(p, slot, 4);
	/* The last eviction is sent after the others, and only if they succeed, so its answer ends the
	 * preemption. */
	if (bt_pipeline_schedule_stages(p) && slot->is_last && state != BT_BIND_REQUEST_CANCELLED) {
		bt_engine_note_eviction(
			p->engine, slot->preemptor, evicted, slot->answered_ns - slot->made_ns);
	}
	BT_COUNT(p, evict_failed_n, state == BT_BIND_REQUEST_NO);
	BT_COUNT(p, evict_lost_n, state == BT_BIND_REQUEST_UNKNOWN);
	bt_store_relaxed(&p->bind_requests.evicting_n, bt_load_relaxed(&p->bind_requests.evicting_n) - 1);
	release(p, slot);
	bool stays = pod_ix != BT_NO_POD && !pod_of(p, pod_ix)->terminating;
	if (!stays || (!evicted && for_ix == BT_NO_POD)) {
		return;
	}
	if (p->options.journal) {
		bt_journal_answer(p->options.journal, evicted ? BT_JOURNAL_EVICTED : BT_JOURNAL_EVICT_FAILED,
			slot->number);
	}
	if (evicted) {
		bt_engine_evict(p->engine, pod_ix);
	} else {
		BT_COUNT(p, evict_again_n, 1);
		bt_engine_evict_failed(p->engine, for_ix);
	}
}

/* Applies the answer to a notice of an existing binding. */
static void take_notice(
	struct bt_pipeline *p, struct bt_bind_request_slot *slot, enum bt_bind_request_state state)
{
	bt_stage_latency_note(
		bt_pipeline_schedule_stages(p), BT_STAGE_BIND, slot->answered_ns - slot->called_ns);
	BT_COUNT(p, bound_n, state == BT_BIND_REQUEST_YES);
	BT_COUNT(p, failed_n, state == BT_BIND_REQUEST_NO);
	bt_store_relaxed(&p->bind_requests.open_n, bt_load_relaxed(&p->bind_requests.open_n) - 1);
	forget_claims(slot);
	release(p, slot);
}

static void take_answer(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	enum bt_bind_request_state state = now_at(slot);

	switch (slot->kind) {
	case BT_BIND_REQUEST_BIND:
		take_binding(p, slot, state);
		break;
	case BT_BIND_REQUEST_CHECK:
		take_check(p, slot, state);
		break;
	case BT_BIND_REQUEST_EVICT:
		take_eviction(p, slot, state);
		break;
	case BT_BIND_REQUEST_BOUND:
		take_notice(p, slot, state);
		break;
	}
}

bool bt_bind_requests_answer(struct bt_pipeline *p, enum bt_bind_request_kind kind, uint64_t number,
	const struct bt_binding_answer *answer)
{
	uint32_t ix;

	if (number == 0 || !bt_map_get(&p->bind_requests.by_number[kind], number, &ix)) {
		return false;
	}
	struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, ix);
	bt_map_remove(&p->bind_requests.by_number[kind], number);
	if (kind == BT_BIND_REQUEST_BIND) {
		end_binding(p, slot, answer);
	} else {
		take_eviction(p, slot, answer->bound ? BT_BIND_REQUEST_YES : BT_BIND_REQUEST_NO);
	}
	return true;
}

bool bt_bind_requests_take_answers(struct bt_pipeline *p)
{
	/* EDGE bind_request.answers acquire: links and reasons of all slots in the list. */
	uint32_t at = bt_load_relaxed(&p->bind_requests.answers) ? bt_exchange(&p->bind_requests.answers, 0u)
								 : 0,
		 first = 0;

	/* The list is last in, first out; this reverses it. */
	while (at) {
		struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, at - 1);
		uint32_t next = slot->answer_next;

		slot->answer_next = first;
		first = at;
		at = next;
	}
	for (at = first; at;) {
		struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, at - 1);

		at = slot->answer_next;
		take_answer(p, slot);
	}
	return first != 0;
}

uint64_t bt_bind_requests_handle_of_pod(struct bt_pipeline *p, uint32_t pod_ix)
{
	const struct bt_bind_request_slot *slot = bt_bind_requests_of_pod(p, pod_ix);

	return slot ? handle_of(slot) : 0;
}

void bt_bind_requests_cancel(struct bt_bind_request_slot *slot)
{
	step(slot, own_tag(slot), BT_BIND_REQUEST_READY, BT_BIND_REQUEST_CANCELLED);
}

bool bt_bind_requests_is_about(const struct bt_bind_request_slot *slot, struct bt_str node)
{
	return bt_str_eq(bt_str_sub(bt_buf_view(&slot->text), slot->ends[2], slot->ends[3]), node);
}

void bt_bind_requests_node_deleted(struct bt_pipeline *p, struct bt_str node)
{
	struct bt_bind_requests *bind_requests = &p->bind_requests;
	const uint32_t firsts[] = {
		bind_requests->outgoing.first, bind_requests->waiting.first, bind_requests->overdue.first};

	for (int i = 0; i < 3; i++) {
		struct bt_bind_request_slot *slot;

		for (uint32_t at = firsts[i]; at != BT_NO_BIND_REQUEST; at = slot->next) {
			slot = slot_at(bind_requests, at);
			if (slot->kind == BT_BIND_REQUEST_BIND && bt_bind_requests_is_about(slot, node)) {
				BT_COUNT(p, node_gone_n, 1);
				bt_bind_requests_cancel(slot);
			}
		}
	}
}

/* ---- sending ---- */

static bool send(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	uint64_t handle = handle_of(slot);

	for (uint32_t i = 0; i < p->limits.bind_threads; i++) {
		struct bt_binder_lane *runtime =
			&p->binders[(p->bind_requests.turn + i) % p->limits.bind_threads];

		if (bt_ring_try_push(&runtime->bind_requests, &handle)) {
			p->bind_requests.turn = (p->bind_requests.turn + i + 1) % p->limits.bind_threads;
			return true;
		}
	}
	return false;
}

bool bt_bind_requests_send(struct bt_pipeline *p)
{
	struct bt_bind_requests *bind_requests = &p->bind_requests;
	bool any = false;

	bind_requests->stuck = false;
	bind_requests->evicting = NULL;
	while (bind_requests->outgoing.first != BT_NO_BIND_REQUEST) {
		struct bt_bind_request_slot *slot = slot_at(bind_requests, bind_requests->outgoing.first);

		if (now_at(slot) == BT_BIND_REQUEST_CANCELLED) {
			take_answer(p, slot);
			any = true;
			continue;
		}
		bind_requests->stuck = !send(p, slot);
		if (bind_requests->stuck) {
			break;
		}
		list_remove(bind_requests, &bind_requests->outgoing, slot);
		slot->sent = true;
		slot->due_ns = p->now_ns + p->limits.bind_timeout_ns;
		list_add(bind_requests, &bind_requests->waiting, slot);
		BT_COUNT(
			p, bind_n, slot->kind == BT_BIND_REQUEST_BIND || slot->kind == BT_BIND_REQUEST_BOUND);
		BT_COUNT(p, evict_n, slot->kind == BT_BIND_REQUEST_EVICT && !slot->releases);
		BT_COUNT(p, check_n, slot->kind == BT_BIND_REQUEST_CHECK);
		any = true;
	}
	return any;
}

/* ---- overdue requests ---- */

static void check(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	struct bt_bind_request_slot *request = make(p, BT_BIND_REQUEST_CHECK, slot->pod_ix);

	request->target = handle_of(slot);
	request->number = slot->number;
	request->extender = slot->extender;
	bt_buf_clear(&request->text);
	bt_buf_str(&request->text, bt_buf_view(&slot->text));
	memcpy(request->ends, slot->ends, sizeof(request->ends));
	slot->checking = true;
	list_add(&p->bind_requests, &p->bind_requests.outgoing, request);
}

/* Gives up a request other than a binding: a check can be repeated, and an eviction counts as failed. */
static void bind_requests_give_up(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	if (step(slot, own_tag(slot), BT_BIND_REQUEST_CALLED, BT_BIND_REQUEST_UNKNOWN)) {
		take_answer(p, slot);
	}
}

/* Ends an overdue binding if the source has shown its outcome, otherwise sends a check. */
static void follow_overdue(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	if (slot->kind != BT_BIND_REQUEST_BIND) { /* its pod may have been deleted */
		bind_requests_give_up(p, slot);
		return;
	}
	const struct bt_pod *pod = pod_of(p, slot->pod_ix);

	if (!slot->writes_claims && (pod->detached || pod->state != BT_POD_ASSUMED)) {
		/* A pod that is on a node by now stays there: the engine ignores this answer. */
		end_called(p, slot, &(struct bt_binding_answer){.bound = false});
	} else if (p->options.binder.check && !slot->checking && now_at(slot) == BT_BIND_REQUEST_CALLED) {
		check(p, slot);
	}
}

/* Moves a slot to the end of the overdue list. */
static void defer(struct bt_pipeline *p, struct bt_bind_request_slot *slot, int64_t due_ns)
{
	list_remove(&p->bind_requests, list_of(&p->bind_requests, slot), slot);
	slot->overdue = true;
	slot->due_ns = due_ns;
	list_add(&p->bind_requests, &p->bind_requests.overdue, slot);
}

bool bt_bind_requests_watch(struct bt_pipeline *p)
{
	struct bt_bind_requests *bind_requests = &p->bind_requests;
	int64_t more_ns = p->limits.assume_ttl_ns - p->limits.bind_timeout_ns;
	bool any = false;

	while (bind_requests->waiting.first != BT_NO_BIND_REQUEST &&
		slot_at(bind_requests, bind_requests->waiting.first)->due_ns <= p->now_ns) {
		struct bt_bind_request_slot *slot = slot_at(bind_requests, bind_requests->waiting.first);

		BT_COUNT(p, overdue_n, slot->kind == BT_BIND_REQUEST_BIND);
		defer(p, slot, slot->due_ns + (more_ns > 0 ? more_ns : 0));
		any = true;
	}
	while (bind_requests->overdue.first != BT_NO_BIND_REQUEST &&
		slot_at(bind_requests, bind_requests->overdue.first)->due_ns <= p->now_ns) {
		struct bt_bind_request_slot *slot = slot_at(bind_requests, bind_requests->overdue.first);

		defer(p, slot, p->now_ns + p->limits.assume_ttl_ns);
		follow_overdue(p, slot);
		any = true;
	}
	return any;
}

int64_t bt_bind_requests_next_ns(const struct bt_pipeline *p)
{
	const struct bt_bind_requests *bind_requests = &p->bind_requests;
	int64_t next = INT64_MAX;

	if (bind_requests->waiting.first != BT_NO_BIND_REQUEST) {
		next = slot_at(bind_requests, bind_requests->waiting.first)->due_ns;
	}
	if (bind_requests->overdue.first != BT_NO_BIND_REQUEST &&
		slot_at(bind_requests, bind_requests->overdue.first)->due_ns < next) {
		next = slot_at(bind_requests, bind_requests->overdue.first)->due_ns;
	}
	return next;
}

/* ---- answers: any thread ---- */

/* Lock-free: of several concurrent pushes, one succeeds per round. */
static void push_answer(struct bt_pipeline *p, struct bt_bind_request_slot *slot)
{
	uint32_t last = bt_load_relaxed(&p->bind_requests.answers);

	do {
		slot->answer_next = last;
		BT_TESTPOINT("bind_requests.push_answer");
		/* EDGE bind_request.answers release: publishes the link and the reason. */
	} while (!bt_cas(&p->bind_requests.answers, &last, slot->ix + 1));
	bt_eventcount_wake(&p->schedule_park);
}

/* Counts an answer to no open request. */
static enum bt_status bind_requests_reject(struct bt_pipeline *p, bool repeated)
{
	if (repeated) {
		bt_add_relaxed(&p->counts.repeated_n, 1u);
	} else {
		bt_add_relaxed(&p->counts.bogus_n, 1u);
	}
	return BT_CONFLICT;
}

static struct bt_str copy_str(char **at, struct bt_str text)
{
	struct bt_str copy = {*at, text.len};

	memcpy(*at, text.len ? text.ptr : "", text.len);
	*at += text.len;
	return copy;
}

/* Copies claims and their strings, in one allocation. */
static void keep_claims(struct bt_bind_request_slot *slot, const struct bt_binding_answer *answer)
{
	size_t bytes = answer->claim_n * sizeof(*answer->claims);

	for (uint32_t i = 0; i < answer->claim_n; i++) {
		bytes += answer->claims[i].name.len + answer->claims[i].uid.len;
	}
	if (bytes == 0) {
		return;
	}
	slot->claims = bt_mem_zalloc(1, bytes);
	slot->claim_n = answer->claim_n;
	char *at = (char *)(slot->claims + slot->claim_n);
	for (uint32_t i = 0; i < slot->claim_n; i++) {
		slot->claims[i] = answer->claims[i];
		slot->claims[i].name = copy_str(&at, answer->claims[i].name);
		slot->claims[i].uid = copy_str(&at, answer->claims[i].uid);
	}
}

static enum bt_status answer(struct bt_pipeline *p, uint64_t handle, bool eviction,
	enum bt_bind_request_state state, const struct bt_binding_answer *response)
{
	uint32_t at = (uint32_t)handle, tag = (uint32_t)(handle >> 32);

	/* EDGE bind_request.slots acquire */
	if (at == 0 || at > bt_load_acquire(&p->bind_requests.slot_n) ||
		eviction != (kind_of(tag) == BT_BIND_REQUEST_EVICT)) {
		return bind_requests_reject(p, false);
	}
	struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, at - 1);
	uint64_t word = bt_load_acquire(&slot->word);
	bool same = tag_of(word) == tag;
	if (!same || state_of(word) != BT_BIND_REQUEST_CALLED) {
		return bind_requests_reject(
			p, same ? state_of(word) != BT_BIND_REQUEST_READY : tag < tag_of(word));
	}
	if (state == BT_BIND_REQUEST_UNKNOWN && kind_of(tag) == BT_BIND_REQUEST_BIND) {
		return BT_OK; /* no change */
	}
	if (!step(slot, tag, BT_BIND_REQUEST_CALLED, state)) {
		return bind_requests_reject(p, true);
	}
	size_t n = response->reason.len < BT_REASON_MAX - 1 ? response->reason.len : BT_REASON_MAX - 1;
	memcpy(slot->reason, n ? response->reason.ptr : "", n);
	slot->reason[n] = 0;
	keep_claims(slot, response);
	slot->answered_ns = bt_stage_latency_now(bt_pipeline_schedule_stages(p));
	push_answer(p, slot);
	return BT_OK;
}

enum bt_status bt_pipeline_answer(
	struct bt_pipeline *p, uint64_t handle, const struct bt_binding_answer *response)
{
	return answer(p, handle, false, response->bound ? BT_BIND_REQUEST_YES : BT_BIND_REQUEST_NO, response);
}

enum bt_status bt_pipeline_bound(struct bt_pipeline *p, uint64_t handle)
{
	return bt_pipeline_answer(p, handle, &(struct bt_binding_answer){.bound = true});
}

enum bt_status bt_pipeline_bind_failed(struct bt_pipeline *p, uint64_t handle, struct bt_str reason)
{
	return bt_pipeline_answer(p, handle, &(struct bt_binding_answer){.reason = reason});
}

enum bt_status bt_pipeline_unknown(struct bt_pipeline *p, uint64_t handle)
{
	return answer(p, handle, false, BT_BIND_REQUEST_UNKNOWN, &(struct bt_binding_answer){0});
}

enum bt_status bt_pipeline_evicted(struct bt_pipeline *p, uint64_t handle)
{
	return answer(p, handle, true, BT_BIND_REQUEST_YES, &(struct bt_binding_answer){0});
}

enum bt_status bt_pipeline_evict_failed(struct bt_pipeline *p, uint64_t handle, struct bt_str reason)
{
	return answer(p, handle, true, BT_BIND_REQUEST_NO, &(struct bt_binding_answer){.reason = reason});
}

/* ---- binder threads ---- */

bool bt_pipeline_bind_step(struct bt_pipeline *p, uint32_t thread)
{
	struct bt_binder_lane *runtime = &p->binders[thread];
	const struct bt_pipeline_binder *binder = &p->options.binder;
	uint64_t handle;

	if (!bt_ring_try_pop(&runtime->bind_requests, &handle)) {
		return false;
	}
	bt_pipeline_wake_producer(&runtime->bind_requests, 1, &p->schedule_park);
	struct bt_bind_request_slot *slot = slot_at(&p->bind_requests, (uint32_t)handle - 1);
	enum bt_bind_request_kind kind = kind_of((uint32_t)(handle >> 32));
	/* Copied, because the slot may have another user as soon as the binder may answer. */
	bt_buf_clear(&runtime->text);
	bt_buf_str(&runtime->text, bt_buf_view(&slot->text));
	struct bt_str all = bt_buf_view(&runtime->text);
	struct bt_prebind_writes *writes = slot->writes;
	bool releases = slot->releases;
	slot->writes = NULL;
	const struct bt_bind_request request = {
		.handle = handle,
		.number = slot->number,
		.pod = part_of(slot, all, 0),
		.node = bt_str_sub(all, slot->ends[2], slot->ends[3]),
		.other = part_of(slot, all, 4),
		.group = {bt_str_sub(all, slot->ends[3], slot->ends[4]),
			bt_str_sub(all, slot->ends[6], slot->ends[7]),
			bt_str_sub(all, slot->ends[7], slot->ends[8])},
		.for_tree = slot->preemptor == BT_CYCLE_METRIC_BY_TREE,
		.deletes = slot->releases && slot->deletes,
		.unreserves = slot->releases && slot->unreserves,
		.volumes = writes ? writes->volumes : NULL,
		.volume_n = writes ? writes->volume_n : 0,
		.claims = writes ? writes->claims : NULL,
		.claim_n = writes ? writes->claim_n : 0,
		.node_claims = writes ? writes->node_claims : NULL,
		.node_claim_n = writes ? writes->node_claim_n : 0,
		.extender = slot->extender,
		.preemption = kind == BT_BIND_REQUEST_EVICT && (slot->others_n || !slot->is_last)
				      ? slot->preemption
				      : 0,
		.after_n = kind == BT_BIND_REQUEST_EVICT && slot->is_last ? slot->others_n : 0,
	};
	slot->called_ns = bt_stage_latency_now(bt_pipeline_bind_stages(p, thread));
	int64_t waited_ns = slot->called_ns - slot->made_ns;
	if (!step(slot, (uint32_t)(handle >> 32), BT_BIND_REQUEST_READY, BT_BIND_REQUEST_CALLED)) {
		push_answer(p, slot);
	} else if (kind == BT_BIND_REQUEST_BIND || kind == BT_BIND_REQUEST_BOUND) {
		bt_stage_latency_note(bt_pipeline_bind_stages(p, thread), BT_STAGE_HAND_OVER, waited_ns);
		binder->bind(binder->context, p, &request);
	} else if (kind == BT_BIND_REQUEST_CHECK) {
		binder->check(binder->context, p, &request);
	} else if (releases) {
		binder->release(binder->context, p, &request);
	} else {
		binder->evict(binder->context, p, &request);
	}
	bt_prebind_writes_destroy(writes);
	return true;
}
