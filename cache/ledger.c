/* SPDX-License-Identifier: Apache-2.0
 * Stages 6 and 8: the pods on each node, and their resource usage.
 */
#include "cache/ledger.h"

#include "engine/base/index_allocator.h"
#include "engine/base/check.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/wrap.h"

#define FIRST_SLOTS 64
#define JOURNAL_N   (1u << 16)
#define NOT_APART   UINT32_MAX
#define LISTED_MAX  1024 /* names; a longer list is freed once empty */
#define WRAP_NEAR   (UINT64_C(1) << 61)
/* Pods keep their indices while at most VACANT_FEW are vacant, or fewer than 1/DENSE_PART of those in use. */
#define VACANT_FEW 4
#define DENSE_PART 8

/* A pod's neighbours in the list of its node: indices and one, so that zero is none. */
struct link {
	uint32_t next, previous;
};

/* A pod added to a node (add) or removed from it by a trial. */
struct tried {
	const struct bt_signature *signature;
	uint32_t pod_ix; /* which counts as one of that signature */
	uint32_t node_ix;
	bool add;
};

/* A change deferred for frozen nodes: an added pod (take), or the removal of one that was set apart. */
struct missed {
	uint32_t pod_ix, node_ix;
	bool take;
};

/* A pod of a frozen node that has changed or was deleted since. */
struct set_apart {
	uint32_t pod_ix; /* the old version, which has the place on the node */
	uint32_t now_ix; /* its current index; BT_NO_POD: deleted */
	uint32_t before; /* the previous one set apart from the same pod, or NOT_APART */
	bool kept;	 /* bt_ledger_keep */
};

/* Key types of frozen_keys, for a pod's index while nodes are frozen. */
enum frozen_key {
	KEY_ARRIVAL = 1, /* in missed: its arrival on its node */
	KEY_APART,	 /* in apart: it was set apart */
	KEY_LAST_APART,	 /* in apart: the last one set apart from it */
};

/* The ports of a node before a pod with ports was lifted. */
struct lifted_ports {
	uint32_t node_ix;
	struct bt_port_list ports;
};

/* Pods of one priority. */
struct ledger_level {
	int32_t priority;
	uint64_t pod_n;	  /* on nodes */
	uint64_t known_n; /* all; 0: the entry is vacant */
};

struct bt_ledger {
	struct bt_usage usage;
	size_t slot_cap;
	struct bt_node_use *nodes; /* by node slot */
	int64_t *scalars[BT_FIRST_RARE];
	struct bt_map rare; /* bt_rare_key -> index in rare_used, nonzero ones only */
	int64_t *rare_used;
	size_t rare_n, rare_cap;
	struct bt_index_allocator vacant_rare;
	struct bt_port_list *ports;
	uint32_t *journal;
	struct bt_pod *pods;
	struct link *links; /* by pod */
	size_t pod_end, pod_cap, link_cap;
	struct ledger_level *levels;
	size_t level_n, level_cap;
	struct bt_index_allocator vacant_levels;
	struct bt_map level_ixs; /* by priority */
	uint32_t joined_level;	 /* level of the last added pod */
	int32_t lowest;		 /* priority of a pod on a node */
	uint64_t nominated_n, change_n;
	struct bt_port_list saved_ports[BT_TRIAL_DEPTH]; /* of trial_node_ix */
	uint32_t trial_node_ix;
	size_t lifted_n; /* pods that are lifted now */
	struct lifted_ports *lifted_ports;
	size_t lifted_port_n, lifted_port_cap;
	uint32_t trial_depth;
	struct tried *tried; /* in order; only for nodes whose pods have volumes, where the order matters */
	size_t tried_n, tried_cap, tried_from[BT_TRIAL_DEPTH];
	bool tried_noted;
	struct tried *listed; /* of list_in_order */
	struct bt_pods_view pods_view;
	size_t listed_cap;
	int32_t nominated_highest;	  /* upper bound of nominated pods' priorities */
	struct bt_index_allocator vacant; /* indices to reuse */
	bool gathers;			  /* indices are being compacted, until few are vacant */
	struct bt_map keys;		  /* namespace and name -> index */
	struct bt_ledger_counts counts;
	struct bt_intern *intern; /* holds the names; NULL: names are not held */
	uint32_t *gone;		  /* names still held for removed pods */
	size_t gone_n, gone_cap;
	/* Signatures to release together with the names, one entry for each pod that left. */
	const struct bt_signature **left;
	size_t left_n, left_cap;
	uint32_t *signature_pod_n; /* by signature: its pods, and its entries in left; held while above 0 */
	size_t signature_cap;
	struct bt_counters *counters; /* NULL: no plugin reads counts by topology */
	struct bt_volumes *volumes;   /* NULL: no plugin reads volumes */
	bool frozen;
	struct missed *missed; /* in order */
	size_t missed_n, missed_cap;
	struct set_apart *apart;
	size_t apart_n, apart_cap;
	struct bt_map frozen_keys; /* enum frozen_key, pod index -> index in missed or apart */
};

struct bt_ledger *bt_ledger_create(void)
{
	struct bt_ledger *l = bt_mem_zalloc(1, sizeof(*l));

	l->journal = bt_mem_zalloc(JOURNAL_N, sizeof(*l->journal));
	l->usage.journal = l->journal;
	l->usage.journal_mask = JOURNAL_N - 1;
	l->usage.rare = &l->rare;
	l->lowest = INT32_MAX;
	bt_ledger_reserve(l, FIRST_SLOTS);
	return l;
}

void bt_ledger_destroy(struct bt_ledger *l)
{
	if (!l) {
		return;
	}
	for (int r = 0; r < BT_FIRST_RARE; r++) {
		bt_mem_free(l->scalars[r]);
	}
	bt_map_fini(&l->rare);
	bt_mem_free(l->rare_used);
	bt_index_allocator_fini(&l->vacant_rare);
	for (size_t i = 0; i < l->slot_cap; i++) {
		bt_mem_free(l->ports[i].items);
	}
	bt_mem_free(l->nodes);
	bt_mem_free(l->ports);
	for (int i = 0; i < BT_TRIAL_DEPTH; i++) {
		bt_mem_free(l->saved_ports[i].items);
	}
	for (size_t i = 0; i < l->lifted_port_cap; i++) {
		bt_mem_free(l->lifted_ports[i].ports.items);
	}
	bt_mem_free(l->lifted_ports);
	bt_mem_free(l->links);
	bt_mem_free(l->levels);
	bt_index_allocator_fini(&l->vacant_levels);
	bt_mem_free(l->journal);
	bt_mem_free(l->pods);
	bt_index_allocator_fini(&l->vacant);
	bt_mem_free(l->gone);
	bt_mem_free(l->left);
	bt_mem_free(l->signature_pod_n);
	bt_mem_free(l->tried);
	bt_mem_free(l->listed);
	bt_mem_free(l->missed);
	bt_mem_free(l->apart);
	bt_map_fini(&l->frozen_keys);
	bt_map_fini(&l->keys);
	bt_map_fini(&l->level_ixs);
	bt_mem_free(l);
}

/* Every index is vacant, or that of a pod in one of the three sets, unless it was set apart. */
static bool every_pod_is_in_one_set(const struct bt_ledger *l)
{
	return l->counts.queued + l->counts.assumed + l->counts.scheduled + l->apart_n + l->vacant.n ==
	       l->pod_end;
}

struct bt_owner *bt_ledger_owner(struct bt_ledger *l)
{
	return &l->usage.owner;
}

const struct bt_usage *bt_ledger_usage(const struct bt_ledger *l)
{
	return &l->usage;
}

void bt_ledger_hold_in(struct bt_ledger *l, struct bt_intern *intern)
{
	BT_REQUIRE(l->pod_end == 0);
	BT_REQUIRE(intern && !l->intern);
	l->intern = intern;
}

void bt_ledger_free_removed(struct bt_ledger *l)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	while (l->gone_n) {
		bt_intern_release(l->intern, l->gone[--l->gone_n]);
	}
	while (l->left_n) {
		const struct bt_signature *signature = l->left[--l->left_n];

		BT_INVARIANT(l->signature_pod_n[signature->ix] > 0);
		if (--l->signature_pod_n[signature->ix] == 0) {
			bt_signature_release(signature);
		}
	}
	if (l->gone_cap > LISTED_MAX) {
		bt_mem_free(l->gone);
		l->gone = NULL;
		l->gone_cap = 0;
	}
	if (l->left_cap > LISTED_MAX) {
		bt_mem_free(l->left);
		l->left = NULL;
		l->left_cap = 0;
	}
}

uint32_t bt_ledger_trim_pods(struct bt_ledger *l)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	l->pod_end = bt_index_allocator_cut(&l->vacant, l->pod_end);
	size_t room = bt_index_allocator_room(l->pod_end, l->pod_cap);
	if (room < l->pod_cap) {
		l->pods = bt_mem_realloc(l->pods, room, sizeof(*l->pods));
		l->links = bt_mem_realloc(l->links, room, sizeof(*l->links));
		l->pod_cap = l->link_cap = room;
	}
	return (uint32_t)l->pod_end;
}

/* A signature is held once for all of its pods. */
static void hold_signature(struct bt_ledger *l, const struct bt_signature *signature)
{
	if (signature->ix >= l->signature_cap) {
		size_t old = l->signature_cap, cap = old ? old : FIRST_SLOTS;

		while (cap <= signature->ix) {
			cap *= 2;
		}
		l->signature_pod_n = bt_mem_realloc(l->signature_pod_n, cap, sizeof(*l->signature_pod_n));
		memset(l->signature_pod_n + old, 0, (cap - old) * sizeof(*l->signature_pod_n));
		l->signature_cap = cap;
	}
	if (l->signature_pod_n[signature->ix]++ == 0) {
		bt_signature_hold(signature);
	}
}

static void hold_names(struct bt_ledger *l, const struct bt_pod *pod)
{
	BT_INVARIANT(pod->status_ix == BT_NO_NODE || pod->status_ix < l->slot_cap);
	if (l->intern) {
		bt_intern_hold_again(l->intern, pod->name);
		bt_intern_hold_again(l->intern, pod->uid);
		bt_intern_hold_again(l->intern, pod->gates);
		bt_intern_hold_again(l->intern, pod->status_node);
		hold_signature(l, pod->signature);
	}
	if (pod->status_ix != BT_NO_NODE) {
		l->nodes[pod->status_ix].status_n++;
	}
}

/* The name stays valid for cycles and events that still refer to it. */
static void ledger_give_up(struct bt_ledger *l, uint32_t name)
{
	if (l->intern && name != BT_NAME_NONE) {
		bt_intern_prefetch_release(l->intern, name);
		l->gone = bt_mem_grow(l->gone, l->gone_n, &l->gone_cap, sizeof(*l->gone));
		l->gone[l->gone_n++] = name;
	}
}

static void give_names_up(struct bt_ledger *l, const struct bt_pod *pod)
{
	if (pod->status_ix != BT_NO_NODE) {
		BT_INVARIANT(l->nodes[pod->status_ix].status_n > 0);
		l->nodes[pod->status_ix].status_n--;
	}
	if (!l->intern) {
		return;
	}
	ledger_give_up(l, pod->name);
	ledger_give_up(l, pod->uid);
	ledger_give_up(l, pod->gates);
	ledger_give_up(l, pod->status_node);
	l->left = bt_mem_grow(l->left, l->left_n, &l->left_cap, sizeof(const struct bt_signature *));
	l->left[l->left_n++] = pod->signature;
}

void bt_ledger_count_in(struct bt_ledger *l, struct bt_counters *counters)
{
	BT_REQUIRE(l->counts.assumed + l->counts.scheduled == 0);
	BT_REQUIRE(counters);
	l->counters = counters;
}

static bool visit_in_order(void *context, uint32_t node_ix, bt_visit_signature *visit, void *visitor);

void bt_ledger_mount_in(struct bt_ledger *l, struct bt_volumes *volumes)
{
	BT_REQUIRE(l->counts.assumed + l->counts.scheduled == 0);
	BT_REQUIRE(volumes);
	l->volumes = volumes;
	bt_volumes_order_by(volumes, visit_in_order, l);
}

void bt_ledger_set_terminating(struct bt_ledger *l, uint32_t pod_ix, bool terminating)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state != BT_POD_VACANT);
	if (pod->terminating == terminating) {
		return;
	}
	bool counted = l->counters && pod->state != BT_POD_QUEUED;
	BT_INVARIANT(!counted || pod->node_ix < l->slot_cap);
	if (counted) {
		bt_counters_leave(l->counters, pod->signature, pod_ix);
	}
	pod->terminating = terminating;
	l->change_n++;
	if (counted) {
		bt_counters_enter(l->counters, pod->signature, pod_ix, pod->node_ix, terminating);
	}
}

void bt_ledger_set_ended(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	l->pods[pod_ix].ended = true;
}

void bt_ledger_set_preempted(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod pod = l->pods[pod_ix];

	if (BT_UNLIKELY(l->frozen)) {
		/* An assumed pod stays where it is. */
		pod.node_ix = pod.state == BT_POD_ASSUMED ? BT_NO_NODE : pod.node_ix;
		pod.terminating = pod.preempted = true;
		bt_ledger_replace(l, pod_ix, &pod);
		return;
	}
	bt_ledger_set_terminating(l, pod_ix, true);
	l->pods[pod_ix].preempted = true;
	l->change_n++;
}

/* Resizes to new_n slots: keeps the first old_n, the others are empty. */
static void resize_nodes(struct bt_ledger *l, size_t old_n, size_t new_n)
{
	BT_INVARIANT(old_n <= new_n);
	for (int r = 0; r < BT_FIRST_RARE; r++) {
		if (l->scalars[r]) {
			l->scalars[r] = bt_mem_widen(l->scalars[r], old_n, new_n, sizeof(*l->scalars[r]));
			l->usage.scalars[r] = l->scalars[r];
		}
	}
	l->nodes = bt_mem_widen(l->nodes, old_n, new_n, sizeof(*l->nodes));
	l->ports = bt_mem_realloc(l->ports, new_n, sizeof(*l->ports));
	memset(l->ports + old_n, 0, (new_n - old_n) * sizeof(*l->ports));
	l->slot_cap = new_n;
	l->usage.nodes = l->nodes;
	l->usage.ports = l->ports;
}

void bt_ledger_reserve(struct bt_ledger *l, uint32_t slot_n)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	size_t cap = l->slot_cap ? l->slot_cap : FIRST_SLOTS;

	while (cap < slot_n) {
		cap *= 2;
	}
	if (cap > l->slot_cap) {
		resize_nodes(l, l->slot_cap, cap);
	}
}

void bt_ledger_trim_nodes(struct bt_ledger *l, uint32_t slot_n)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	size_t cap = bt_index_allocator_room(slot_n, l->slot_cap);

	BT_REQUIRE(l->trial_depth == 0);
	if (cap < l->slot_cap) {
		resize_nodes(l, cap, cap);
	}
}

bool bt_ledger_keeps(const struct bt_ledger *l, uint32_t node_ix)
{
	if (node_ix >= l->slot_cap) {
		return false;
	}
	const struct bt_node_use *node = &l->nodes[node_ix];
	return node->first_on || node->first_nominated || node->status_n;
}

void bt_ledger_vacate(struct bt_ledger *l, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(!bt_ledger_keeps(l, node_ix) && l->nodes[node_ix].pod_n == 0 && l->ports[node_ix].n == 0);
	bt_mem_free(l->ports[node_ix].items);
	l->ports[node_ix] = (struct bt_port_list){0};
}

static void write_journal(struct bt_ledger *l, uint32_t node_ix)
{
	l->journal[l->usage.journal_end++ & l->usage.journal_mask] = node_ix;
}

void bt_ledger_redescribe(struct bt_ledger *l, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	l->usage.release_n++;
	l->usage.redescribed_n++;
	write_journal(l, node_ix);
}

static bool same_port(const struct bt_host_port *a, const struct bt_host_port *b)
{
	return a->ip == b->ip && a->protocol == b->protocol && a->port == b->port;
}

static uint32_t find_port(const struct bt_port_list *list, const struct bt_host_port *port)
{
	uint32_t at = 0;

	while (at < list->n && !same_port(&list->items[at], port)) {
		at++;
	}
	return at;
}

/* A node's ports are a set, as in upstream: a port is free as soon as one of its pods is removed. */
static BT_NOINLINE void take_ports(struct bt_port_list *list, const struct bt_signature *signature)
{
	for (uint32_t i = 0; i < signature->port_n; i++) {
		if (find_port(list, &signature->ports[i]) < list->n) {
			continue;
		}
		if (list->n == list->cap) {
			list->cap = list->cap ? list->cap * 2 : 4;
			list->items = bt_mem_realloc(list->items, list->cap, sizeof(*list->items));
		}
		list->items[list->n++] = signature->ports[i];
	}
}

static void return_ports(struct bt_port_list *list, const struct bt_signature *signature)
{
	for (uint32_t i = 0; i < signature->port_n; i++) {
		uint32_t at = find_port(list, &signature->ports[i]);

		if (at < list->n) {
			list->items[at] = list->items[--list->n];
		}
	}
}

/*
 * Amounts wrap at the ends of int64_t, as upstream's do.
 * Returns : whether taking may have made room: the amount is negative, or the usage is so large that the free
 *           amount may wrap around.
 */
BT_INLINE bool shift(int64_t *cell, int64_t amount, bool take)
{
	*cell = take ? bt_wrap_add(*cell, amount) : bt_wrap_sub(*cell, amount);
	return amount < 0 || (uint64_t)*cell >= WRAP_NEAR;
}

BT_INLINE void count(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool take)
{
	const struct bt_pod *pod = &l->pods[pod_ix];

	if (!l->counters) {
		return;
	}
	if (take) {
		bt_counters_enter(l->counters, pod->signature, pod_ix, node_ix, pod->terminating);
	} else {
		bt_counters_leave(l->counters, pod->signature, pod_ix);
	}
}

/* Creates the column for the first pod that uses a resource. */
static BT_NOINLINE void make_column(struct bt_ledger *l, uint32_t slot)
{
	l->scalars[slot] = bt_mem_column(l->slot_cap, sizeof(*l->scalars[slot]));
	l->usage.scalars[slot] = l->scalars[slot];
}

/* Rare resources have an entry only where a node's usage is not 0. */
static BT_NOINLINE bool shift_rare(
	struct bt_ledger *l, const struct bt_amount *amount, uint32_t node_ix, bool take)
{
	const uint64_t key = bt_rare_key(amount->slot, node_ix);
	uint32_t ix;

	if (!bt_map_get(&l->rare, key, &ix)) {
		if (amount->amount == 0) {
			return false;
		}
		if (!bt_index_allocator_take(&l->vacant_rare, &ix)) {
			l->rare_used =
				bt_mem_grow(l->rare_used, l->rare_n, &l->rare_cap, sizeof(*l->rare_used));
			l->usage.rare_used = l->rare_used;
			ix = (uint32_t)l->rare_n++;
		}
		l->rare_used[ix] = 0;
		bt_map_put(&l->rare, key, ix);
	}
	BT_INVARIANT(ix < l->rare_n);
	bool released = shift(&l->rare_used[ix], amount->amount, take);
	if (l->rare_used[ix] == 0) {
		bt_map_remove(&l->rare, key);
		bt_index_allocator_give(&l->vacant_rare, ix);
		l->rare_n = bt_index_allocator_cut(&l->vacant_rare, l->rare_n);
		l->rare_used = bt_index_allocator_shrink(
			l->rare_used, l->rare_n, &l->rare_cap, sizeof(*l->rare_used));
		l->usage.rare_used = l->rare_used;
	}
	return released;
}

/* Likewise for resources that few nodes have. */
static BT_NOINLINE bool shift_scalar(
	struct bt_ledger *l, const struct bt_amount *amount, uint32_t node_ix, bool take)
{
	if (amount->slot >= BT_FIRST_RARE) {
		return shift_rare(l, amount, node_ix, take);
	}
	if (!l->scalars[amount->slot]) {
		make_column(l, amount->slot);
	}
	return shift(&l->scalars[amount->slot][node_ix], amount->amount, take);
}

/* Adds a pod's requests to a node, or subtracts them. Returns whether adding may have made room. */
BT_INLINE bool use(struct bt_ledger *l, const struct bt_signature *signature, uint32_t node_ix, bool take)
{
	const struct bt_requests *requests = &signature->requests;
	struct bt_node_use *node = &l->nodes[node_ix];
	bool released = false;

	BT_REQUIRE(node_ix < l->slot_cap);
	for (uint32_t i = 0; i < requests->used.n; i++) {
		const struct bt_amount *amount = &requests->used.items[i];

		released |= BT_LIKELY(amount->slot < BT_FIRST_SCALAR)
				    ? shift(&node->used[amount->slot], amount->amount, take)
				    : shift_scalar(l, amount, node_ix, take);
	}
	shift(&node->nonzero_milli_cpu, requests->nonzero_milli_cpu, take);
	shift(&node->nonzero_memory, requests->nonzero_memory, take);
	shift(&node->pod_n, 1, take);
	/* Only trials may bring it below the number of pods on the node. */
	BT_INVARIANT(node->pod_n >= 0);
	return released;
}

static void link_pod(struct bt_ledger *l, uint32_t *head, uint32_t pod_ix)
{
	BT_INVARIANT(pod_ix < l->pod_end && (!*head || l->links[*head - 1].previous == 0));
	l->links[pod_ix] = (struct link){.next = *head};
	if (*head) {
		l->links[*head - 1].previous = pod_ix + 1;
	}
	*head = pod_ix + 1;
}

static void unlink_pod(struct bt_ledger *l, uint32_t *head, uint32_t pod_ix)
{
	struct link link = l->links[pod_ix];

	BT_INVARIANT(!link.next || l->links[link.next - 1].previous == pod_ix + 1);
	BT_INVARIANT(!link.previous || l->links[link.previous - 1].next == pod_ix + 1);
	if (link.next) {
		l->links[link.next - 1].previous = link.previous;
	}
	if (link.previous) {
		l->links[link.previous - 1].next = link.next;
	} else {
		BT_INVARIANT(*head == pod_ix + 1);
		*head = link.next;
	}
}

/*
 * Takes a pod off its node's list; the newest one, which is the head, takes its place. Upstream's lists
 * change in the same way, and their order decides which of equally important pods is preempted.
 */
static void take_off(struct bt_ledger *l, uint32_t *head, uint32_t pod_ix)
{
	uint32_t last = *head - 1;

	BT_INVARIANT(*head);
	unlink_pod(l, head, last);
	if (last == pod_ix) {
		return;
	}
	struct link link = l->links[pod_ix];
	BT_INVARIANT(!link.next || l->links[link.next - 1].previous == pod_ix + 1);
	l->links[last] = link;
	if (link.next) {
		l->links[link.next - 1].previous = last + 1;
	}
	if (link.previous) {
		l->links[link.previous - 1].next = last + 1;
	} else {
		BT_INVARIANT(*head == pod_ix + 1);
		*head = last + 1;
	}
}

static void enter_level(struct bt_ledger *l, struct ledger_level *level)
{
	level->pod_n++;
	BT_INVARIANT(level->pod_n <= level->known_n);
	l->lowest = level->priority < l->lowest ? level->priority : l->lowest;
}

static void leave_level(struct bt_ledger *l, struct ledger_level *level)
{
	BT_INVARIANT(level->pod_n > 0 && level->priority >= l->lowest);
	if (--level->pod_n || level->priority > l->lowest) {
		return;
	}
	l->lowest = INT32_MAX;
	for (size_t i = 0; i < l->level_n; i++) {
		if (l->levels[i].pod_n && l->levels[i].priority < l->lowest) {
			l->lowest = l->levels[i].priority;
		}
	}
}

static void mount(struct bt_ledger *l, const struct bt_signature *signature, uint32_t node_ix, bool take)
{
	if (!l->volumes || !signature->volume_n) {
		return;
	}
	if (take) {
		bt_volumes_enter(l->volumes, signature, node_ix);
	} else {
		bt_volumes_leave(l->volumes, signature, node_ix);
	}
}

/* Ports and volumes: the slow path. */
static BT_NOINLINE void take_rest(struct bt_ledger *l, const struct bt_signature *signature, uint32_t node_ix)
{
	take_ports(&l->ports[node_ix], signature);
	mount(l, signature, node_ix, true);
}

static void miss(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool take);

/* take is a constant at every call, so that inlining drops a branch. l->pods may be reallocated. */
BT_INLINE void charge(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool take)
{
	const struct bt_pod *pod = &l->pods[pod_ix];
	const struct bt_signature *signature = pod->signature;

	BT_INVARIANT(l->levels[pod->level].known_n && l->levels[pod->level].priority == pod->priority);
	BT_INVARIANT(!pod->lifted);
	if (BT_UNLIKELY(l->frozen)) {
		miss(l, pod_ix, node_ix, take);
		return;
	}
	bool released = use(l, signature, node_ix, take) || !take;

	if (take) {
		if (BT_UNLIKELY(signature->port_n | signature->volume_n)) {
			take_rest(l, signature, node_ix);
		}
		link_pod(l, &l->nodes[node_ix].first_on, pod_ix);
		enter_level(l, &l->levels[pod->level]);
	} else {
		return_ports(&l->ports[node_ix], signature);
		mount(l, signature, node_ix, false);
		take_off(l, &l->nodes[node_ix].first_on, pod_ix);
		leave_level(l, &l->levels[pod->level]);
	}
	l->usage.release_n += released;
	write_journal(l, node_ix);
	count(l, pod_ix, node_ix, take);
}

/* ---- moves ---- */

static uint64_t ledger_key_of(uint32_t namespace_, uint32_t name)
{
	return (uint64_t)namespace_ << 32 | name;
}

static void move_amount(int64_t *column, uint32_t from, uint32_t to)
{
	BT_INVARIANT(column[to] == 0);
	column[to] = column[from];
	column[from] = 0;
}

/* Moves the node's usage of rare resources; several pods may use the same one. */
static void move_rare(struct bt_ledger *l, uint32_t from, uint32_t to)
{
	for (uint32_t i = l->nodes[from].first_on; i && l->rare.count; i = l->links[i - 1].next) {
		const struct bt_amounts *used = &l->pods[i - 1].signature->requests.used;

		for (uint32_t k = 0; k < used->n; k++) {
			uint32_t slot = used->items[k].slot, ix;

			if (slot >= BT_FIRST_RARE && bt_map_get(&l->rare, bt_rare_key(slot, from), &ix)) {
				bt_map_remove(&l->rare, bt_rare_key(slot, from));
				bt_map_put(&l->rare, bt_rare_key(slot, to), ix);
			}
		}
	}
}

/* Pods whose status nominates them to the node: first those in its list of nominations, then all others. */
static void move_status(struct bt_ledger *l, uint32_t from, uint32_t to)
{
	uint32_t left_n = l->nodes[from].status_n;

	for (uint32_t i = l->nodes[from].first_nominated; i && left_n; i = l->links[i - 1].next) {
		if (l->pods[i - 1].status_ix == from) {
			l->pods[i - 1].status_ix = to;
			left_n--;
		}
	}
	for (size_t i = 0; i < l->pod_end && left_n; i++) {
		if (l->pods[i].state != BT_POD_VACANT && l->pods[i].status_ix == from) {
			l->pods[i].status_ix = to;
			left_n--;
		}
	}
	BT_INVARIANT(left_n == 0);
}

static void move_pods(struct bt_ledger *l, uint32_t from, uint32_t to)
{
	for (uint32_t i = l->nodes[from].first_on; i; i = l->links[i - 1].next) {
		BT_INVARIANT(l->pods[i - 1].node_ix == from);
		l->pods[i - 1].node_ix = to;
		if (l->counters) {
			bt_counters_move(l->counters, l->pods[i - 1].signature, i - 1, to);
		}
	}
	for (uint32_t i = l->nodes[from].first_nominated; i; i = l->links[i - 1].next) {
		BT_INVARIANT(l->pods[i - 1].nominated_ix == from);
		l->pods[i - 1].nominated_ix = to;
	}
}

void bt_ledger_move_node(struct bt_ledger *l, uint32_t from, uint32_t to)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(to < from && from < l->slot_cap && !bt_ledger_keeps(l, to) && !l->ports[to].items &&
		   l->trial_depth == 0);
	for (int r = 0; r < BT_FIRST_RARE; r++) {
		if (l->scalars[r]) {
			move_amount(l->scalars[r], from, to);
		}
	}
	move_rare(l, from, to);
	l->ports[to] = l->ports[from];
	l->ports[from] = (struct bt_port_list){0};
	move_pods(l, from, to);
	move_status(l, from, to);
	BT_INVARIANT(l->nodes[to].pod_n == 0);
	l->nodes[to] = l->nodes[from];
	l->nodes[from] = (struct bt_node_use){.pod_n = 0};
	if (l->volumes) {
		bt_volumes_move_node(l->volumes, from, to);
	}
	BT_INVARIANT(!bt_ledger_keeps(l, from));
}

bool bt_ledger_is_sparse(struct bt_ledger *l)
{
	size_t vacant_n = l->vacant.n, pod_n = l->pod_end - vacant_n;

	l->gathers = vacant_n > VACANT_FEW && vacant_n > (l->gathers ? pod_n / DENSE_PART : pod_n);
	return l->gathers;
}

uint32_t bt_ledger_last_pod(const struct bt_ledger *l, uint32_t end)
{
	size_t last = bt_index_allocator_end(&l->vacant, end < l->pod_end ? end : l->pod_end);

	BT_INVARIANT(last <= l->pod_end);
	return l->vacant.n && last > bt_index_allocator_first(&l->vacant) ? (uint32_t)last - 1 : BT_NO_POD;
}

/* The neighbours of a pod in its node's list refer to it by its new index. */
static void relink(struct bt_ledger *l, uint32_t node_ix, uint32_t from, uint32_t to)
{
	const struct link *link = &l->links[to];

	BT_INVARIANT(l->pods[to].node_ix == node_ix);
	l->links[to] = l->links[from];
	if (link->next) {
		l->links[link->next - 1].previous = to + 1;
	}
	if (link->previous) {
		l->links[link->previous - 1].next = to + 1;
	} else {
		BT_INVARIANT(l->nodes[node_ix].first_on == from + 1);
		l->nodes[node_ix].first_on = to + 1;
	}
}

uint32_t bt_ledger_move_pod(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	const struct bt_pod *pod = &l->pods[pod_ix];
	uint32_t to = BT_NO_POD;

	bool any = bt_index_allocator_take(&l->vacant, &to);
	BT_REQUIRE(any && to < pod_ix && pod_ix < l->pod_end && l->trial_depth == 0);
	BT_REQUIRE((pod->state == BT_POD_QUEUED || pod->state == BT_POD_SCHEDULED) && !pod->detached &&
		   pod->nominated_ix == BT_NO_NODE);
	l->pods[to] = *pod;
	if (pod->state == BT_POD_SCHEDULED) {
		relink(l, pod->node_ix, pod_ix, to);
	}
	if (pod->state == BT_POD_SCHEDULED && l->counters) {
		bt_counters_move_pod(l->counters, pod->signature, pod_ix, to);
	}
	bt_map_put(&l->keys, ledger_key_of(pod->signature->namespace_, pod->name), to);
	l->pods[pod_ix].state = BT_POD_VACANT;
	bt_index_allocator_give(&l->vacant, pod_ix);
	BT_INVARIANT(every_pod_is_in_one_set(l));
	return to;
}

/* ---- nominations and trials ---- */

static BT_NOINLINE void nomination(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_pod *pod = &l->pods[pod_ix];

	if (pod->nominated_ix != BT_NO_NODE) {
		unlink_pod(l, &l->nodes[pod->nominated_ix].first_nominated, pod_ix);
		BT_INVARIANT(l->nominated_n > 0);
		l->nominated_n--;
		l->usage.cleared_nomination_n++;
		write_journal(l, pod->nominated_ix);
	}
	pod->nominated_ix = node_ix;
	l->change_n++;
	if (node_ix == BT_NO_NODE) {
		return;
	}
	BT_REQUIRE(node_ix < l->slot_cap);
	link_pod(l, &l->nodes[node_ix].first_nominated, pod_ix);
	write_journal(l, node_ix);
	/* A nominated pod that is not queued counts as one of priority 0. */
	int32_t priority = pod->priority > 0 ? pod->priority : 0;
	if (l->nominated_n++ == 0 || priority > l->nominated_highest) {
		l->nominated_highest = priority;
	}
	if (l->counters) {
		bt_counters_know(l->counters, pod->signature);
	}
	BT_INVARIANT(l->nominated_n > 0 && l->nominated_n <= l->counts.queued);
}

void bt_ledger_nominate(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	const struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state == BT_POD_QUEUED);
	if (pod->nominated_ix != node_ix) {
		nomination(l, pod_ix, node_ix);
	}
}

/* Moves the first nominated pod of a node behind another one. */
static void move_behind(struct bt_ledger *l, uint32_t *head, uint32_t pod_ix, uint32_t before_ix)
{
	BT_INVARIANT(*head == pod_ix + 1);
	unlink_pod(l, head, pod_ix);
	uint32_t next = l->links[before_ix].next;

	l->links[pod_ix] = (struct link){.next = next, .previous = before_ix + 1};
	l->links[before_ix].next = pod_ix + 1;
	if (next) {
		l->links[next - 1].previous = pod_ix + 1;
	}
}

void bt_ledger_nominate_behind(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, uint32_t before_ix)
{
	BT_REQUIRE(l->pods[pod_ix].nominated_ix == BT_NO_NODE && node_ix < l->slot_cap);
	BT_REQUIRE(before_ix == BT_NO_POD || l->pods[before_ix].nominated_ix == node_ix);
	bt_ledger_nominate(l, pod_ix, node_ix);
	if (before_ix != BT_NO_POD) {
		move_behind(l, &l->nodes[node_ix].first_nominated, pod_ix, before_ix);
	}
}

uint32_t bt_ledger_previous(const struct bt_ledger *l, uint32_t pod_ix)
{
	BT_REQUIRE_HOT(pod_ix < l->pod_end);
	return l->links[pod_ix].previous - 1;
}

uint32_t bt_ledger_first_on(const struct bt_ledger *l, uint32_t node_ix)
{
	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	return l->nodes[node_ix].first_on - 1;
}

uint32_t bt_ledger_first_nominated(const struct bt_ledger *l, uint32_t node_ix)
{
	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	return l->nodes[node_ix].first_nominated - 1;
}

uint32_t bt_ledger_next(const struct bt_ledger *l, uint32_t pod_ix)
{
	BT_REQUIRE_HOT(pod_ix < l->pod_end);
	return l->links[pod_ix].next - 1;
}

bool bt_ledger_may_yield(const struct bt_ledger *l, uint32_t pod_ix)
{
	const struct bt_pod *pod = &l->pods[pod_ix];

	BT_INVARIANT(pod->state == BT_POD_QUEUED || pod->nominated_ix == BT_NO_NODE);
	return l->nominated_n > (pod->nominated_ix != BT_NO_NODE) && l->nominated_highest >= pod->priority;
}

uint64_t bt_ledger_change_n(const struct bt_ledger *l)
{
	return l->change_n;
}

int32_t bt_ledger_lowest_priority(const struct bt_ledger *l)
{
	return l->lowest;
}

static void copy_ports(const struct bt_port_list *from, struct bt_port_list *to)
{
	if (from->n > to->cap) {
		to->cap = from->n;
		to->items = bt_mem_realloc(to->items, to->cap, sizeof(*to->items));
	}
	if (from->n) {
		memcpy(to->items, from->items, from->n * sizeof(*to->items));
	}
	to->n = from->n;
}

void bt_ledger_try_begin(struct bt_ledger *l, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(l->trial_depth < BT_TRIAL_DEPTH && node_ix < l->slot_cap);
	if (l->trial_depth == 0) {
		l->tried_noted = l->usage.pods ||
				 (l->volumes && bt_volume_users_n(bt_volumes_view(l->volumes), node_ix));
	}
	l->tried_from[l->trial_depth] = l->tried_n;
	BT_REQUIRE_HOT(l->trial_depth == 0 || l->trial_node_ix == node_ix);
	l->trial_node_ix = node_ix;
	copy_ports(&l->ports[node_ix], &l->saved_ports[l->trial_depth++]);
}

void bt_ledger_try_end(struct bt_ledger *l, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(l->trial_depth > 0);
	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	copy_ports(&l->saved_ports[--l->trial_depth], &l->ports[node_ix]);
	l->tried_n = l->tried_from[l->trial_depth];
}

/* All but the counters. */
static void try_uncounted(struct bt_ledger *l, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix, bool add)
{
	BT_REQUIRE(l->trial_depth > 0);
	if (l->tried_noted) {
		l->tried = bt_mem_grow(l->tried, l->tried_n, &l->tried_cap, sizeof(*l->tried));
		l->tried[l->tried_n++] = (struct tried){signature, pod_ix, node_ix, add};
	}
	use(l, signature, node_ix, add);
	if (add && node_ix == l->trial_node_ix) {
		take_ports(&l->ports[node_ix], signature);
	} else if (node_ix == l->trial_node_ix) {
		return_ports(&l->ports[node_ix], signature);
	}
	if (l->volumes && signature->volume_n) {
		bt_volumes_try(l->volumes, signature, node_ix, add);
	}
}

void bt_ledger_try_absent(struct bt_ledger *l, uint32_t pod_ix, bool absent)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	const struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE_HOT(bt_ledger_has(l, pod_ix) && pod->node_ix < l->slot_cap);
	try_uncounted(l, pod->signature, pod_ix, pod->node_ix, !absent);
	if (l->counters) {
		bt_counters_try_absent(l->counters, pod->signature, pod_ix, absent);
	}
}

static void try_any(struct bt_ledger *l, const struct bt_signature *signature, uint32_t pod_ix,
	uint32_t node_ix, bool add)
{
	try_uncounted(l, signature, pod_ix, node_ix, add);
	if (l->counters) {
		bt_counters_try(l->counters, signature, node_ix, add ? 1 : -1);
	}
}

void bt_ledger_try(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool add)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE_HOT(bt_ledger_has(l, pod_ix));
	try_any(l, l->pods[pod_ix].signature, pod_ix, node_ix, add);
}

void bt_ledger_try_as(struct bt_ledger *l, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t node_ix, bool add)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE_HOT(bt_ledger_has(l, pod_ix) && node_ix < l->slot_cap);
	try_any(l, signature, pod_ix, node_ix, add);
}

/* ---- lifted pods ---- */

static void save_ports(struct bt_ledger *l, uint32_t node_ix)
{
	for (size_t i = 0; i < l->lifted_port_n; i++) {
		if (l->lifted_ports[i].node_ix == node_ix) {
			return;
		}
	}
	if (l->lifted_port_n == l->lifted_port_cap) {
		size_t old = l->lifted_port_cap;

		l->lifted_ports =
			bt_mem_grow(l->lifted_ports, old, &l->lifted_port_cap, sizeof(*l->lifted_ports));
		memset(l->lifted_ports + old, 0, (l->lifted_port_cap - old) * sizeof(*l->lifted_ports));
	}
	struct lifted_ports *saved = &l->lifted_ports[l->lifted_port_n++];
	saved->node_ix = node_ix;
	copy_ports(&l->ports[node_ix], &saved->ports);
}

void bt_ledger_lift(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];
	const struct bt_signature *signature = pod->signature;

	BT_REQUIRE_HOT(pod->node_ix < l->slot_cap && !pod->lifted && !l->frozen && l->trial_depth == 0);
	use(l, signature, pod->node_ix, false);
	if (BT_UNLIKELY(signature->port_n)) {
		save_ports(l, pod->node_ix);
		return_ports(&l->ports[pod->node_ix], signature);
	}
	mount(l, signature, pod->node_ix, false);
	l->usage.release_n++;
	write_journal(l, pod->node_ix);
	count(l, pod_ix, pod->node_ix, false);
	pod->lifted = true;
	l->lifted_n++;
}

void bt_ledger_put_back(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];
	const struct bt_signature *signature = pod->signature;

	BT_REQUIRE_HOT(pod->lifted && l->trial_depth == 0);
	BT_INVARIANT(l->lifted_n > 0);
	l->usage.release_n += use(l, signature, pod->node_ix, true);
	if (BT_UNLIKELY(signature->port_n | signature->volume_n)) {
		take_rest(l, signature, pod->node_ix);
	}
	write_journal(l, pod->node_ix);
	count(l, pod_ix, pod->node_ix, true);
	pod->lifted = false;
	l->lifted_n--;
}

void bt_ledger_lift_end(struct bt_ledger *l)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(l->lifted_n == 0);
	for (size_t i = 0; i < l->lifted_port_n; i++) {
		copy_ports(&l->lifted_ports[i].ports, &l->ports[l->lifted_ports[i].node_ix]);
	}
	l->lifted_port_n = 0;
}

/* ---- withdrawn pods ---- */

uint32_t bt_ledger_withdraw(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE_HOT(bt_ledger_has(l, pod_ix) && pod->node_ix < l->slot_cap && !pod->lifted);
	BT_REQUIRE_HOT(!l->frozen && l->trial_depth == 0);
	uint32_t newest = l->nodes[pod->node_ix].first_on - 1;
	charge(l, pod_ix, pod->node_ix, false);
	pod->lifted = true;
	return newest;
}

/* The inverse of take_off: the pod, which is the first of the list, gets its place back from the one that was
 * the first, which becomes it again. */
static void trade_places(struct bt_ledger *l, uint32_t *head, uint32_t pod_ix, uint32_t newest)
{
	unlink_pod(l, head, pod_ix);
	struct link link = l->links[newest];

	l->links[pod_ix] = link;
	if (link.next) {
		l->links[link.next - 1].previous = pod_ix + 1;
	}
	if (link.previous) {
		l->links[link.previous - 1].next = pod_ix + 1;
	} else {
		BT_INVARIANT(*head == newest + 1);
		*head = pod_ix + 1;
	}
	link_pod(l, head, newest);
}

void bt_ledger_reinstate(struct bt_ledger *l, uint32_t pod_ix, uint32_t newest)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE_HOT(bt_ledger_has(l, pod_ix) && pod->lifted && !l->frozen && l->trial_depth == 0);
	pod->lifted = false;
	charge(l, pod_ix, pod->node_ix, true);
	if (newest != pod_ix) {
		BT_REQUIRE_HOT(l->pods[newest].node_ix == pod->node_ix && !l->pods[newest].lifted);
		trade_places(l, &l->nodes[pod->node_ix].first_on, pod_ix, newest);
	}
}

void bt_ledger_save_ports(const struct bt_ledger *l, uint32_t node_ix, struct bt_port_list *out_ports)
{
	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	copy_ports(&l->ports[node_ix], out_ports);
}

void bt_ledger_restore_ports(struct bt_ledger *l, uint32_t node_ix, const struct bt_port_list *ports)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	copy_ports(ports, &l->ports[node_ix]);
}

static size_t list_one(struct bt_ledger *l, size_t n, const struct tried *pod)
{
	l->listed = bt_mem_grow(l->listed, n, &l->listed_cap, sizeof(*l->listed));
	l->listed[n] = *pod;
	return n + 1;
}

/* Removes an entry; the last one takes its place. */
static size_t unlist_one(struct bt_ledger *l, size_t n, const struct tried *pod)
{
	size_t at = 0;

	while (at < n && (l->listed[at].signature != pod->signature || l->listed[at].pod_ix != pod->pod_ix)) {
		at++;
	}
	BT_INVARIANT(at < n);
	l->listed[at] = l->listed[n - 1];
	return n - 1;
}

/* Lists the node's pods, oldest first, with trials applied. Returns: their number. */
static size_t list_in_order(struct bt_ledger *l, uint32_t node_ix)
{
	size_t n = 0;

	for (uint32_t i = bt_ledger_first_on(l, node_ix); i != BT_NO_POD; i = bt_ledger_next(l, i)) {
		if (!l->pods[i].lifted) {
			n = list_one(l, n, &(struct tried){.signature = l->pods[i].signature, .pod_ix = i});
		}
	}
	for (size_t i = 0; i < n / 2; i++) {
		struct tried last = l->listed[n - 1 - i];

		l->listed[n - 1 - i] = l->listed[i];
		l->listed[i] = last;
	}
	for (size_t i = 0; i < l->tried_n; i++) {
		if (l->tried[i].node_ix == node_ix) {
			n = l->tried[i].add ? list_one(l, n, &l->tried[i]) : unlist_one(l, n, &l->tried[i]);
		}
	}
	return n;
}

/* bt_visit_in_order. */
static bool visit_in_order(void *context, uint32_t node_ix, bt_visit_signature *visit, void *visitor)
{
	struct bt_ledger *l = context;
	size_t n = list_in_order(l, node_ix);
	bool goes_on = true;

	for (size_t i = 0; i < n && goes_on; i++) {
		goes_on = visit(visitor, l->listed[i].signature);
	}
	return goes_on;
}

/* A deleted pod has neither name nor signature. */
static struct bt_pod_facts facts_of(void *context, uint32_t pod_ix)
{
	const struct bt_ledger *l = context;

	if (!bt_ledger_has(l, pod_ix)) {
		return (struct bt_pod_facts){.signature = NULL};
	}
	const struct bt_pod *pod = &l->pods[pod_ix];
	return (struct bt_pod_facts){pod->signature, pod->name, pod->uid, pod->priority};
}

/* Without trials it writes nothing, so several threads may call it. */
static void visit_pods(void *context, uint32_t node_ix,
	void (*visit)(void *visitor, const struct bt_pod_facts *pod), void *visitor)
{
	struct bt_ledger *l = context;
	struct bt_pod_facts facts;

	if (l->tried_n == 0) {
		for (uint32_t i = bt_ledger_first_on(l, node_ix); i != BT_NO_POD; i = bt_ledger_next(l, i)) {
			facts = facts_of(l, i);
			if (!l->pods[i].lifted) {
				visit(visitor, &facts);
			}
		}
		return;
	}
	for (size_t i = 0, n = list_in_order(l, node_ix); i < n; i++) {
		facts = facts_of(l, l->listed[i].pod_ix);
		facts.signature = l->listed[i].signature;
		visit(visitor, &facts);
	}
}

void bt_ledger_show_pods(struct bt_ledger *l, const uint32_t *cycle_ix)
{
	BT_REQUIRE(l->trial_depth == 0);
	l->pods_view = (struct bt_pods_view){l, cycle_ix, facts_of, visit_pods};
	l->usage.pods = &l->pods_view;
}

static uint64_t level_key(int32_t priority)
{
	return (uint64_t)(uint32_t)priority + 1;
}

/* Adds a pod to the level of its priority. Returns: the level. */
static uint32_t join_level(struct bt_ledger *l, int32_t priority)
{
	uint32_t ix = l->joined_level;

	/* Most pods have the priority of the previous one. */
	if (ix < l->level_n && l->levels[ix].known_n && l->levels[ix].priority == priority) {
		l->levels[ix].known_n++;
		return ix;
	}
	if (!bt_map_get(&l->level_ixs, level_key(priority), &ix)) {
		if (!bt_index_allocator_take(&l->vacant_levels, &ix)) {
			l->levels = bt_mem_grow(l->levels, l->level_n, &l->level_cap, sizeof(*l->levels));
			ix = (uint32_t)l->level_n++;
		}
		l->levels[ix] = (struct ledger_level){.priority = priority};
		bt_map_put(&l->level_ixs, level_key(priority), ix);
	}
	l->levels[ix].known_n++;
	l->joined_level = ix;
	BT_INVARIANT(l->levels[ix].priority == priority);
	return ix;
}

/* Removes a pod from its level. */
static void quit_level(struct bt_ledger *l, uint32_t ix)
{
	BT_INVARIANT(l->levels[ix].known_n > l->levels[ix].pod_n);
	if (--l->levels[ix].known_n == 0) {
		bt_map_remove(&l->level_ixs, level_key(l->levels[ix].priority));
		bt_index_allocator_give(&l->vacant_levels, ix);
	}
}

static uint32_t take_index(struct bt_ledger *l)
{
	uint32_t ix;

	if (!bt_index_allocator_take(&l->vacant, &ix)) {
		l->pods = bt_mem_grow(l->pods, l->pod_end, &l->pod_cap, sizeof(*l->pods));
		l->links = bt_mem_grow(l->links, l->pod_end, &l->link_cap, sizeof(*l->links));
		/* bt_ledger_fetch_pod reads it before the pod has a node. */
		l->links[l->pod_end] = (struct link){0};
		ix = (uint32_t)l->pod_end++;
	}
	return ix;
}

enum bt_status bt_ledger_add(struct bt_ledger *l, const struct bt_pod *pod, uint32_t *out_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	uint64_t key = ledger_key_of(pod->signature->namespace_, pod->name);
	uint32_t ix;

	BT_REQUIRE(pod->node_ix == BT_NO_NODE || pod->node_ix < l->slot_cap);
	BT_REQUIRE(pod->status_ix == BT_NO_NODE || pod->status_ix < l->slot_cap);
	if (bt_map_get(&l->keys, key, &ix)) {
		*out_ix = ix;
		return BT_EXISTS;
	}
	ix = take_index(l);
	hold_names(l, pod);
	l->pods[ix] = *pod;
	l->pods[ix].nominated_ix = BT_NO_NODE;
	l->pods[ix].detached = false;
	l->pods[ix].shown = pod->node_ix != BT_NO_NODE;
	l->pods[ix].level = join_level(l, pod->priority);
	bt_map_put(&l->keys, key, ix);
	if (pod->node_ix == BT_NO_NODE) {
		l->pods[ix].state = BT_POD_QUEUED;
		l->counts.queued++;
	} else {
		l->pods[ix].state = BT_POD_SCHEDULED;
		l->counts.scheduled++;
		charge(l, ix, pod->node_ix, true);
	}
	*out_ix = ix;
	BT_INVARIANT(every_pod_is_in_one_set(l));
	return BT_OK;
}

/* Adds a pod to the count of its set, or removes it. */
static void count_state(struct bt_ledger *l, enum bt_pod_state state, bool add)
{
	uint64_t *count = state == BT_POD_QUEUED    ? &l->counts.queued
			  : state == BT_POD_ASSUMED ? &l->counts.assumed
						    : &l->counts.scheduled;

	BT_INVARIANT(add || *count > 0);
	*count += add ? 1 : (uint64_t)-1;
}

void bt_ledger_replace(struct bt_ledger *l, uint32_t pod_ix, const struct bt_pod *pod)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *old = &l->pods[pod_ix];
	enum bt_pod_state state = old->state;
	uint32_t node_ix = state == BT_POD_SCHEDULED ? old->node_ix : pod->node_ix,
		 nominated = old->nominated_ix;

	BT_REQUIRE(pod_ix < l->pod_end && state != BT_POD_VACANT && !old->detached);
	if (state == BT_POD_QUEUED) {
		bt_ledger_nominate(l, pod_ix, BT_NO_NODE);
	} else {
		charge(l, pod_ix, old->node_ix, false);
		old = &l->pods[pod_ix];
	}
	count_state(l, state, false);
	if (state == BT_POD_ASSUMED && node_ix == BT_NO_NODE) {
		node_ix = old->node_ix;
	} else {
		l->counts.confirm_n += state == BT_POD_ASSUMED;
		state = node_ix == BT_NO_NODE ? BT_POD_QUEUED : BT_POD_SCHEDULED;
	}
	BT_INVARIANT(node_ix == BT_NO_NODE || node_ix < l->slot_cap);
	uint32_t level = join_level(l, pod->priority);
	bool shown = pod->node_ix != BT_NO_NODE || old->shown;
	quit_level(l, old->level);
	hold_names(l, pod);
	give_names_up(l, old);
	*old = *pod;
	old->state = state;
	old->node_ix = node_ix;
	old->nominated_ix = BT_NO_NODE;
	old->detached = false;
	old->shown = shown;
	old->level = level;
	count_state(l, state, true);
	l->change_n++;
	if (state != BT_POD_QUEUED) {
		charge(l, pod_ix, node_ix, true);
	} else if (nominated != BT_NO_NODE) {
		bt_ledger_nominate(l, pod_ix, nominated);
	}
	BT_INVARIANT(every_pod_is_in_one_set(l));
}

/* Makes a pod on a node a queued one; the caller lowers the count of its former set. */
static void leave_node(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_INVARIANT(l->pods[pod_ix].node_ix < l->slot_cap);
	BT_INVARIANT(l->frozen || l->nodes[l->pods[pod_ix].node_ix].first_on);
	charge(l, pod_ix, l->pods[pod_ix].node_ix, false);
	l->pods[pod_ix].node_ix = BT_NO_NODE;
	l->pods[pod_ix].state = BT_POD_QUEUED;
	l->counts.queued++;
}

/* After the deletion of a pod, frozen nodes keep the copies set apart from it. */
static void end_apart(struct bt_ledger *l, uint32_t pod_ix)
{
	const uint64_t key = bt_pair_key(KEY_LAST_APART, pod_ix);
	uint32_t at;

	if (!bt_map_get(&l->frozen_keys, key, &at)) {
		return;
	}
	bt_map_remove(&l->frozen_keys, key);
	while (at != NOT_APART) {
		l->apart[at].now_ix = BT_NO_POD;
		at = l->apart[at].before;
	}
}

void bt_ledger_detach(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && !pod->detached && pod->state != BT_POD_VACANT);
	if (pod->state == BT_POD_ASSUMED) {
		bt_ledger_forget(l, pod_ix);
	} else if (pod->state == BT_POD_SCHEDULED) {
		leave_node(l, pod_ix);
		l->counts.scheduled--;
	}
	pod = &l->pods[pod_ix];
	end_apart(l, pod_ix);
	bt_ledger_nominate(l, pod_ix, BT_NO_NODE);
	bt_map_remove(&l->keys, ledger_key_of(pod->signature->namespace_, pod->name));
	pod->detached = true;
	BT_INVARIANT(pod->node_ix == BT_NO_NODE && every_pod_is_in_one_set(l));
}

void bt_ledger_set_status_node(struct bt_ledger *l, uint32_t pod_ix, uint32_t name, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(bt_ledger_has(l, pod_ix) && (node_ix == BT_NO_NODE || node_ix < l->slot_cap));
	if (l->intern) {
		bt_intern_hold_again(l->intern, name);
	}
	ledger_give_up(l, pod->status_node);
	if (pod->status_ix != BT_NO_NODE) {
		BT_INVARIANT(l->nodes[pod->status_ix].status_n > 0);
		l->nodes[pod->status_ix].status_n--;
	}
	pod->status_node = name;
	pod->status_ix = node_ix;
	if (node_ix != BT_NO_NODE) {
		l->nodes[node_ix].status_n++;
	}
}

void bt_ledger_remove(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state != BT_POD_VACANT);
	switch (pod->state) {
	case BT_POD_VACANT:
		break;
	case BT_POD_QUEUED:
		bt_ledger_nominate(l, pod_ix, BT_NO_NODE);
		l->counts.queued--;
		break;
	case BT_POD_ASSUMED:
		l->counts.assumed--;
		charge(l, pod_ix, pod->node_ix, false);
		break;
	case BT_POD_SCHEDULED:
		l->counts.scheduled--;
		charge(l, pod_ix, pod->node_ix, false);
		break;
	}
	pod = &l->pods[pod_ix];
	end_apart(l, pod_ix);
	if (!pod->detached) {
		bt_map_remove(&l->keys, ledger_key_of(pod->signature->namespace_, pod->name));
	}
	give_names_up(l, pod);
	quit_level(l, pod->level);
	pod->state = BT_POD_VACANT;
	bt_index_allocator_give(&l->vacant, pod_ix);
	l->counts.remove_n++;
	BT_INVARIANT(every_pod_is_in_one_set(l));
}

void bt_ledger_assume(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state == BT_POD_QUEUED);
	BT_REQUIRE_HOT(node_ix < l->slot_cap && l->trial_depth == 0);
	bt_ledger_nominate(l, pod_ix, BT_NO_NODE);
	pod->node_ix = node_ix;
	pod->state = BT_POD_ASSUMED;
	l->counts.queued--;
	l->counts.assumed++;
	l->counts.assume_n++;
	charge(l, pod_ix, node_ix, true);
	BT_INVARIANT(pod->nominated_ix == BT_NO_NODE && every_pod_is_in_one_set(l));
}

void bt_ledger_fetch(const struct bt_ledger *l, const struct bt_signature *signature, uint32_t node_ix)
{
	const struct bt_amounts *used = &signature->requests.used;

	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	for (uint32_t i = 0; i < used->n; i++) {
		uint32_t r = used->items[i].slot;

		if (r >= BT_FIRST_SCALAR && r < BT_FIRST_RARE && l->scalars[r]) {
			__builtin_prefetch(&l->scalars[r][node_ix], 1);
		}
	}
	__builtin_prefetch(&l->nodes[node_ix], 1);
}

void bt_ledger_fetch_pod(const struct bt_ledger *l, uint32_t pod_ix)
{
	const struct bt_pod *pod = &l->pods[pod_ix];
	const struct link *link = &l->links[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end);
	__builtin_prefetch(&l->links[link->next ? link->next - 1 : pod_ix], 1);
	__builtin_prefetch(&l->links[link->previous ? link->previous - 1 : pod_ix], 1);
	if (l->counters) {
		bt_counters_fetch_pod(l->counters, pod_ix);
	}
	bt_map_prefetch(&l->keys, ledger_key_of(pod->signature->namespace_, pod->name));
	if (l->intern) {
		bt_intern_prefetch_name(l->intern, pod->name);
		bt_intern_prefetch_name(l->intern, pod->uid);
	}
}

void bt_ledger_fetch_links(const struct bt_ledger *l, uint32_t node_ix)
{
	if (node_ix < l->slot_cap && l->nodes[node_ix].first_on) {
		__builtin_prefetch(&l->links[l->nodes[node_ix].first_on - 1], 1);
	}
}

void bt_ledger_confirm(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state == BT_POD_ASSUMED);
	BT_INVARIANT(pod->node_ix < l->slot_cap && pod->nominated_ix == BT_NO_NODE);
	pod->state = BT_POD_SCHEDULED;
	l->counts.assumed--;
	l->counts.scheduled++;
	l->counts.confirm_n++;
	BT_INVARIANT(every_pod_is_in_one_set(l));
}

void bt_ledger_forget(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(pod_ix < l->pod_end && l->pods[pod_ix].state == BT_POD_ASSUMED);
	BT_REQUIRE_HOT(l->trial_depth == 0);
	leave_node(l, pod_ix);
	l->counts.assumed--;
	l->counts.forget_n++;
	BT_INVARIANT(l->pods[pod_ix].node_ix == BT_NO_NODE && every_pod_is_in_one_set(l));
}

void bt_ledger_hold_ports(struct bt_ledger *l, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE_HOT(node_ix < l->slot_cap);
	for (uint32_t i = bt_ledger_first_on(l, node_ix); i != BT_NO_POD; i = bt_ledger_next(l, i)) {
		take_ports(&l->ports[node_ix], l->pods[i].signature);
	}
}

/* ---- frozen nodes ---- */

/* Removes and returns the arrival of a pod on its frozen node; NULL: it was on the node before the freeze. */
static struct missed *take_arrival(struct bt_ledger *l, uint32_t pod_ix)
{
	const uint64_t key = bt_pair_key(KEY_ARRIVAL, pod_ix);
	uint32_t at;

	if (!bt_map_get(&l->frozen_keys, key, &at)) {
		return NULL;
	}
	bt_map_remove(&l->frozen_keys, key);
	return &l->missed[at];
}

/* Records a pod that was set apart. */
static void enter_apart(struct bt_ledger *l, uint32_t pod_ix, uint32_t now_ix)
{
	const uint32_t at = (uint32_t)l->apart_n;
	uint32_t before = NOT_APART;

	bt_map_get(&l->frozen_keys, bt_pair_key(KEY_LAST_APART, now_ix), &before);
	bt_map_put(&l->frozen_keys, bt_pair_key(KEY_LAST_APART, now_ix), at);
	bt_map_put(&l->frozen_keys, bt_pair_key(KEY_APART, pod_ix), at);
	l->apart = bt_mem_grow(l->apart, l->apart_n, &l->apart_cap, sizeof(*l->apart));
	l->apart[l->apart_n++] = (struct set_apart){.pod_ix = pod_ix, .now_ix = now_ix, .before = before};
}

/* Copies a pod to a new index, which takes its place on the node. Returns: the index. */
static uint32_t set_apart(struct bt_ledger *l, uint32_t pod_ix)
{
	uint32_t to = take_index(l);
	const struct bt_pod *pod = &l->pods[pod_ix];
	struct missed *arrival = take_arrival(l, pod_ix);

	BT_REQUIRE(l->trial_depth == 0);
	hold_names(l, pod);
	l->pods[to] = *pod;
	l->pods[to].detached = true;
	l->pods[to].level = join_level(l, pod->priority);
	if (arrival) {
		arrival->pod_ix = to;
	} else {
		relink(l, pod->node_ix, pod_ix, to);
	}
	if (!arrival && l->counters) {
		bt_counters_move_pod(l->counters, pod->signature, pod_ix, to);
	}
	enter_apart(l, to, pod_ix);
	return to;
}

/* The thaw replays every arrival and departure, as the order of the node's list depends on them all. */
static BT_NOINLINE void miss(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool take)
{
	BT_INVARIANT(l->frozen && node_ix < l->slot_cap);
	pod_ix = take ? pod_ix : set_apart(l, pod_ix);
	if (take) {
		bt_map_put(&l->frozen_keys, bt_pair_key(KEY_ARRIVAL, pod_ix), (uint32_t)l->missed_n);
	}
	l->missed = bt_mem_grow(l->missed, l->missed_n, &l->missed_cap, sizeof(*l->missed));
	l->missed[l->missed_n++] = (struct missed){pod_ix, node_ix, take};
}

void bt_ledger_freeze(struct bt_ledger *l)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	BT_REQUIRE(!l->frozen && l->trial_depth == 0);
	l->frozen = true;
}

bool bt_ledger_is_frozen(const struct bt_ledger *l)
{
	return l->frozen;
}

static struct set_apart *find_apart(const struct bt_ledger *l, uint32_t pod_ix)
{
	uint32_t at;

	return bt_map_get(&l->frozen_keys, bt_pair_key(KEY_APART, pod_ix), &at) ? &l->apart[at] : NULL;
}

uint32_t bt_ledger_now(const struct bt_ledger *l, uint32_t pod_ix)
{
	const struct set_apart *apart = find_apart(l, pod_ix);

	return apart ? apart->now_ix : pod_ix;
}

void bt_ledger_keep(struct bt_ledger *l, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	struct set_apart *apart = find_apart(l, pod_ix);

	BT_REQUIRE(apart && l->frozen);
	apart->kept = true;
}

/* Removes a copy that was set apart, or keeps it as a queued pod without an object. */
static void end_set_apart(struct bt_ledger *l, const struct set_apart *apart)
{
	struct bt_pod *pod = &l->pods[apart->pod_ix];

	if (apart->kept) {
		pod->node_ix = BT_NO_NODE;
		pod->state = BT_POD_QUEUED;
		l->counts.queued++;
		return;
	}
	give_names_up(l, pod);
	quit_level(l, pod->level);
	pod->state = BT_POD_VACANT;
	bt_index_allocator_give(&l->vacant, apart->pod_ix);
}

void bt_ledger_thaw(struct bt_ledger *l)
{
	BT_OWNED_BY_THREAD(&l->usage.owner);
	l->frozen = false;
	for (size_t i = 0; i < l->missed_n; i++) {
		const struct missed *missed = &l->missed[i];

		if (missed->take) {
			charge(l, missed->pod_ix, missed->node_ix, true);
		} else {
			charge(l, missed->pod_ix, missed->node_ix, false);
		}
	}
	for (size_t i = 0; i < l->apart_n; i++) {
		end_set_apart(l, &l->apart[i]);
	}
	l->missed_n = l->apart_n = 0;
	bt_map_fini(&l->frozen_keys);
	BT_INVARIANT(every_pod_is_in_one_set(l));
}

uint32_t bt_ledger_find(const struct bt_ledger *l, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return name && bt_map_get(&l->keys, ledger_key_of(namespace_, name), &ix) ? ix : BT_NO_POD;
}

const struct bt_pod *bt_ledger_pod(const struct bt_ledger *l, uint32_t pod_ix)
{
	BT_INVARIANT(pod_ix < l->pod_end);
	return &l->pods[pod_ix];
}

bool bt_ledger_has(const struct bt_ledger *l, uint32_t pod_ix)
{
	return pod_ix < l->pod_end && l->pods[pod_ix].state != BT_POD_VACANT;
}

uint32_t bt_ledger_pod_end(const struct bt_ledger *l)
{
	return (uint32_t)l->pod_end;
}

struct bt_ledger_counts bt_ledger_counts(const struct bt_ledger *l)
{
	return l->counts;
}
