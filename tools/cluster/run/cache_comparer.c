/* SPDX-License-Identifier: Apache-2.0
 * The ledger against the API: a sum of hashes over the pods of each node on either side, so that no pod is
 * copied unless they differ. A round lists the pods page by page, and compares when the list is complete.
 */
#include "tools/cluster/run/cache_comparer.h"

#include "engine/base/atomic.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "tools/cluster/run/node_comparison.h"
#include "tools/kube/log/log.h"

#define SECOND_NS      INT64_C(1000000000)
#define AGAIN_NS       (2 * SECOND_NS)
#define PAUSE_NS       (SECOND_NS / 4) /* between two pages */
#define PODS_A_VISIT   4096u	       /* the scheduling thread is blocked for this many */
#define RENEWAL_ROUNDS 2
#define REPAIRS_A_NODE 64u /* in one round; further pods follow when these are right */

/* A pod that is on the node on one side, and the other side's view. */
struct pod_view {
	struct bt_str namespace_, name, uid;
	bool in_api, in_ledger;
};

struct bt_cache_comparer {
	struct bt_cache_comparer_options options;
	struct bt_node_comparison now, before;
	bool lists;    /* a round has started: some pages have been read */
	int slot_n;    /* resource names, as of the last round */
	int renewal_n; /* number of rounds that still ignore pods that lack names */
	int64_t next_ns;
	/* owner: the caller's thread; any thread reads, relaxed */
	_Atomic uint64_t round_n, differ_n, repaired_n, failed_n, unlisted_n;
};

struct bt_cache_comparer *bt_cache_comparer_create(const struct bt_cache_comparer_options *options)
{
	struct bt_cache_comparer *comparer = bt_mem_zalloc(1, sizeof(*comparer));

	comparer->options = *options;
	if (!comparer->options.interval_ns) {
		comparer->options.interval_ns = 30 * SECOND_NS;
	}
	return comparer;
}

void bt_cache_comparer_destroy(struct bt_cache_comparer *comparer)
{
	if (comparer) {
		bt_node_comparison_fini(&comparer->now);
		bt_node_comparison_fini(&comparer->before);
		bt_mem_free(comparer);
	}
}

struct bt_cache_comparer_counts bt_cache_comparer_counts(const struct bt_cache_comparer *comparer)
{
	return (struct bt_cache_comparer_counts){
		.round_n = bt_load_relaxed(&comparer->round_n),
		.differ_n = bt_load_relaxed(&comparer->differ_n),
		.repaired_n = bt_load_relaxed(&comparer->repaired_n),
		.failed_n = bt_load_relaxed(&comparer->failed_n),
		.unlisted_n = bt_load_relaxed(&comparer->unlisted_n),
	};
}

/* ---- sums ---- */

static uint64_t pod_hash(struct bt_str namespace_, struct bt_str name, struct bt_str uid)
{
	return bt_hash_u64(bt_hash_key(bt_hash_str(namespace_)) + 3 * bt_hash_key(bt_hash_str(name)) +
			   5 * bt_hash_key(bt_hash_str(uid)));
}

static void add_api(void *context, const struct bt_watch_pod *pod)
{
	bt_compared_add(&bt_node_comparison_of(context, pod->node)->api,
		pod_hash(pod->namespace_, pod->name, pod->uid));
}

/* A range of the ledger's pods. */
struct pod_comparer_visit {
	uint32_t first, end;
	bool renews; /* pods that lack resource names are ignored */
	int slot_n;
	void (*see)(void *context, const struct bt_watch_pod *pod);
	void *context;
};

/* Context: the scheduling thread, between two cycles. */
static void see_some(void *context, struct bt_engine *engine)
{
	struct pod_comparer_visit *visit = context;
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	uint32_t stop = visit->first + PODS_A_VISIT;

	visit->end = bt_ledger_pod_end(cache->ledger);
	visit->slot_n = bt_resource_count(cache->dictionary);
	for (; visit->first < visit->end && visit->first < stop; visit->first++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, visit->first);

		if (pod->state != BT_POD_SCHEDULED || pod->detached ||
			(visit->renews && pod->signature->requests.names_missing)) {
			continue;
		}
		const struct bt_watch_pod seen = {
			.namespace_ = bt_intern_str(intern, pod->signature->namespace_),
			.name = bt_intern_str(intern, pod->name),
			.uid = pod->uid == BT_NAME_NONE ? (struct bt_str){.len = 0}
							: bt_intern_str(intern, pod->uid),
			.node = bt_intern_str(intern, cache->view.snapshot->nodes[pod->node_ix].name),
		};
		visit->see(visit->context, &seen);
	}
}

/* Returns: how many resource names there are. */
static int each_in_ledger(struct bt_cache_comparer *comparer,
	void (*see)(void *context, const struct bt_watch_pod *pod), void *context)
{
	struct pod_comparer_visit visit = {
		.end = 1, .renews = comparer->renewal_n > 0, .see = see, .context = context};

	while (visit.first < visit.end) {
		bt_pipeline_call(comparer->options.pipeline, see_some, &visit);
	}
	return visit.slot_n;
}

static void add_ledger(void *context, const struct bt_watch_pod *pod)
{
	bt_compared_add(&bt_node_comparison_of(context, pod->node)->ours,
		pod_hash(pod->namespace_, pod->name, pod->uid));
}

/* ---- repair ---- */

struct views {
	struct bt_arena arena;
	uint64_t key;
	struct bt_str node;
	struct pod_view *items;
	size_t n, cap;
	struct bt_map by_key;
	bool api; /* the side that is being read */
};

static struct bt_str cache_comparer_keep(struct views *views, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&views->arena, text.ptr, text.len), text.len};
}

static void view(void *context, const struct bt_watch_pod *pod)
{
	struct views *views = context;
	uint64_t key = pod_hash(pod->namespace_, pod->name, pod->uid) | 1;
	uint32_t ix;

	if (bt_hash_key(bt_hash_str(pod->node)) != views->key) {
		return;
	}
	if (!bt_map_get(&views->by_key, key, &ix)) {
		views->items = bt_mem_grow(views->items, views->n, &views->cap, sizeof(*views->items));
		ix = (uint32_t)views->n++;
		views->items[ix] =
			(struct pod_view){.namespace_ = cache_comparer_keep(views, pod->namespace_),
				.name = cache_comparer_keep(views, pod->name),
				.uid = cache_comparer_keep(views, pod->uid)};
		bt_map_put(&views->by_key, key, ix);
	}
	views->items[ix].in_api |= views->api;
	views->items[ix].in_ledger |= !views->api;
}

static void views_fini(struct views *views)
{
	bt_arena_fini(&views->arena);
	bt_mem_free(views->items);
	bt_map_fini(&views->by_key);
}

/* The repair of one pod. */
struct repair {
	const struct pod_view *pod;
	const struct bt_object *object; /* NULL: deleted */
};

/* Context: the scheduling thread, between two cycles. */
static void apply_repair(void *context, struct bt_engine *engine)
{
	const struct repair *repair = context;
	struct bt_taken taken;

	if (repair->object) {
		(void)bt_engine_show(engine, repair->object, &taken);
		return;
	}
	uint32_t pod_ix = bt_engine_find_pod(engine, repair->pod->namespace_, repair->pod->name);
	if (pod_ix != BT_NO_POD) {
		bt_engine_remove_pod(engine, pod_ix);
	}
}

static void log_difference(const struct pod_view *pod, struct bt_str node)
{
	bt_log(BT_LOG_ERROR, 0, "The ledger and the API differ; the ledger is corrected from the server",
		bt_log_fields(bt_log_pod(pod->namespace_, pod->name), bt_log_str("node", node),
			bt_log_str("uid", pod->uid),
			bt_log_str("api", bt_str(pod->in_ledger ? "not on the node" : "on the node")),
			bt_log_str("ledger", bt_str(pod->in_ledger ? "on the node" : "not on the node"))));
}

/* Reads the pod from the server: if the list was older than the ledger, nothing is wrong. Returns: whether
 * the ledger was wrong, or the server did not answer. */
static bool repair_pod(struct bt_cache_comparer *comparer, const struct pod_view *pod, struct bt_str node)
{
	struct bt_arena arena = {0};
	struct bt_object object;
	struct repair repair = {.pod = pod};
	uint32_t status =
		bt_pod_pages_get(comparer->options.pages, pod->namespace_, pod->name, &arena, &object);
	bool wrong = true;

	if (status != 200 && status != 404) {
		bt_add_owned(&comparer->failed_n, 1u);
	} else {
		bool there = status == 200 && bt_str_eq(object.meta.uid, pod->uid) &&
			     bt_str_eq(object.pod.spec.node_name, node);

		repair.object = status == 200 ? &object : NULL;
		wrong = there != pod->in_ledger;
		if (wrong) {
			log_difference(pod, node);
			bt_pipeline_call(comparer->options.pipeline, apply_repair, &repair);
			bt_add_owned(&comparer->repaired_n, 1u);
		}
	}
	bt_arena_fini(&arena);
	return wrong;
}

/* Lists the pods of the node again. */
static bool list_node(struct bt_cache_comparer *comparer, struct views *views)
{
	enum bt_pages step;

	bt_pod_pages_begin(comparer->options.pages, views->node);
	do {
		step = bt_pod_pages_next(comparer->options.pages, view, views);
	} while (step == BT_PAGES_MORE);
	return step == BT_PAGES_END;
}

static void repair_node(struct bt_cache_comparer *comparer, const struct bt_compared *node)
{
	struct views views = {
		.key = node->key, .node = bt_node_comparison_name(&comparer->now, node), .api = true};
	uint32_t repair_n = 0;
	bool wrong = false;

	if (list_node(comparer, &views)) {
		views.api = false;
		each_in_ledger(comparer, view, &views);
		for (size_t i = 0; i < views.n && repair_n < REPAIRS_A_NODE; i++) {
			if (views.items[i].in_api != views.items[i].in_ledger) {
				wrong |= repair_pod(comparer, &views.items[i], views.node);
				repair_n++;
			}
		}
	} else {
		bt_add_owned(&comparer->unlisted_n, 1u);
	}
	if (wrong) {
		bt_add_owned(&comparer->differ_n, 1u);
	}
	views_fini(&views);
}

/* ---- a round ---- */

/*
 * A node has introduced a resource name that had no slot when a pod requested it. Pods that lack such names
 * are ignored for two rounds, because a difference must last that long before they are read from the server.
 */
static void renew(struct bt_cache_comparer *comparer, int slot_n)
{
	if (slot_n != comparer->slot_n) {
		comparer->slot_n = slot_n;
		comparer->renewal_n = RENEWAL_ROUNDS;
	} else if (comparer->renewal_n > 0) {
		comparer->renewal_n--;
	}
}

/* The list is complete. */
static void compare(struct bt_cache_comparer *comparer, int64_t now_ns)
{
	bool again = false;

	const int slot_n = each_in_ledger(comparer, add_ledger, &comparer->now);
	for (size_t i = 0; i < comparer->now.n; i++) {
		const struct bt_compared *node = &comparer->now.items[i];

		if (bt_compared_differs(node)) {
			again = true;
			if (bt_node_comparison_had(&comparer->before, node)) {
				repair_node(comparer, node);
			}
		}
	}
	renew(comparer, slot_n);
	bt_node_comparison_fini(&comparer->before);
	comparer->before = comparer->now;
	comparer->now = (struct bt_node_comparison){.n = 0};
	comparer->next_ns = now_ns + (again ? AGAIN_NS : comparer->options.interval_ns);
	bt_add_owned(&comparer->round_n, 1u);
}

/* The list failed: drops what this round has read. */
static void cache_comparer_give_up(struct bt_cache_comparer *comparer, int64_t now_ns)
{
	int64_t retry_ns = bt_pod_pages_retry_after_ns(comparer->options.pages);

	bt_node_comparison_fini(&comparer->now);
	bt_add_owned(&comparer->unlisted_n, 1u);
	bt_log(BT_LOG_WARNING, 2, "Could not list the pods on nodes to compare them with the cache; retrying",
		bt_log_fields(bt_log_str("err", bt_pod_pages_error(comparer->options.pages))));
	comparer->next_ns = now_ns + (retry_ns > AGAIN_NS ? retry_ns : AGAIN_NS);
}

void bt_cache_comparer_tick(struct bt_cache_comparer *comparer, int64_t now_ns)
{
	if (now_ns < comparer->next_ns) {
		return;
	}
	if (!comparer->lists) {
		bt_pod_pages_begin(comparer->options.pages, (struct bt_str){.len = 0});
	}
	enum bt_pages step = bt_pod_pages_next(comparer->options.pages, add_api, &comparer->now);
	comparer->lists = step == BT_PAGES_MORE;
	if (step == BT_PAGES_MORE) {
		comparer->next_ns = now_ns + PAUSE_NS;
	} else if (step == BT_PAGES_END) {
		compare(comparer, now_ns);
	} else {
		cache_comparer_give_up(comparer, now_ns);
	}
}
