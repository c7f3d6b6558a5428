/* SPDX-License-Identifier: Apache-2.0
 * The scheduler's nodes against the API's: a hash of each node on either side.
 */
#include "tools/cluster/run/node_comparer.h"

#include "engine/base/atomic.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cluster/run/node_comparison.h"
#include "tools/kube/log/log.h"

#define SECOND_NS     INT64_C(1000000000)
#define AGAIN_NS      (2 * SECOND_NS)
#define PAUSE_NS      (SECOND_NS / 4) /* between two pages */
#define NODES_A_VISIT 4096u	      /* the scheduling thread is blocked for this many */

struct bt_node_comparer {
	struct bt_node_comparer_options options;
	struct bt_dictionary *dictionary;      /* NULL until the first visit */
	struct bt_node_comparison now, before; /* a node on a side is one item: a hash of its resources */
	bool lists;			       /* a round has started: some pages have been read */
	int64_t next_ns;
	/* owner: the caller's thread; any thread reads, relaxed */
	_Atomic uint64_t round_n, differ_n, unlisted_n;
};

struct bt_node_comparer *bt_node_comparer_create(const struct bt_node_comparer_options *options)
{
	struct bt_node_comparer *comparer = bt_mem_zalloc(1, sizeof(*comparer));

	comparer->options = *options;
	if (!comparer->options.interval_ns) {
		comparer->options.interval_ns = 30 * SECOND_NS;
	}
	return comparer;
}

void bt_node_comparer_destroy(struct bt_node_comparer *comparer)
{
	if (comparer) {
		bt_node_comparison_fini(&comparer->now);
		bt_node_comparison_fini(&comparer->before);
		bt_mem_free(comparer);
	}
}

struct bt_node_comparer_counts bt_node_comparer_counts(const struct bt_node_comparer *comparer)
{
	return (struct bt_node_comparer_counts){
		.round_n = bt_load_relaxed(&comparer->round_n),
		.differ_n = bt_load_relaxed(&comparer->differ_n),
		.unlisted_n = bt_load_relaxed(&comparer->unlisted_n),
	};
}

/* ---- the two sides ---- */

/* The fields of a node's resources that decisions depend on. */
static uint64_t hash_of(const struct bt_node_desc *desc)
{
	uint64_t hash = bt_hash_u64((uint64_t)desc->alloc_pods);

	for (uint32_t i = 0; i < desc->alloc.n; i++) {
		hash = bt_hash_u64(hash ^ desc->alloc.items[i].slot);
		hash = bt_hash_u64(hash ^ (uint64_t)desc->alloc.items[i].amount);
	}
	return hash;
}

/* The server's node, described as by an ingestion thread. */
static void add_api(void *context, const struct bt_object *object)
{
	struct bt_node_comparer *comparer = context;
	struct bt_node_desc *desc = bt_node_desc_create(comparer->dictionary, &object->node);

	bt_node_comparison_of(&comparer->now, object->meta.name)->api =
		(struct bt_compared_side){.sum = hash_of(desc), .n = 1};
	bt_node_desc_destroy(desc);
}

struct node_comparer_visit {
	struct bt_node_comparer *comparer;
	uint32_t first, end;
};

/* Context: the scheduling thread, between two cycles. */
static void see_some(void *context, struct bt_engine *engine)
{
	struct node_comparer_visit *visit = context;
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t stop = visit->first + NODES_A_VISIT;

	visit->end = cache->view.snapshot->slot_n;
	for (; visit->first < visit->end && visit->first < stop; visit->first++) {
		const struct bt_node_desc *desc = bt_snapshot_desc(cache->snapshot, visit->first);

		if (desc) {
			struct bt_str name = bt_intern_str(cache->dictionary->intern, desc->name);

			bt_node_comparison_of(&visit->comparer->now, name)->ours =
				(struct bt_compared_side){.sum = hash_of(desc), .n = 1};
		}
	}
}

static void see_all(struct bt_node_comparer *comparer)
{
	struct node_comparer_visit visit = {.comparer = comparer, .end = 1};

	while (visit.first < visit.end) {
		bt_pipeline_call(comparer->options.pipeline, see_some, &visit);
	}
}

/* ---- a round ---- */

static void log_node_difference(struct bt_str name, const struct bt_compared *node)
{
	bt_log(BT_LOG_ERROR, 0,
		"A node differs between the scheduler and the API: please report it, and restart",
		bt_log_fields(bt_log_str("node", name),
			bt_log_str("difference", bt_str(!node->api.n	 ? "not in the API"
							 : !node->ours.n ? "not in the scheduler"
									 : "status.allocatable"))));
}

/* The list is complete. */
static void compare(struct bt_node_comparer *comparer, int64_t now_ns)
{
	bool again = false;

	see_all(comparer);
	for (size_t i = 0; i < comparer->now.n; i++) {
		const struct bt_compared *node = &comparer->now.items[i];

		if (!bt_compared_differs(node)) {
			continue;
		}
		if (bt_node_comparison_had(&comparer->before, node)) {
			log_node_difference(bt_node_comparison_name(&comparer->now, node), node);
			bt_add_owned(&comparer->differ_n, 1u);
		} else {
			again = true;
		}
	}
	bt_node_comparison_fini(&comparer->before);
	comparer->before = comparer->now;
	comparer->now = (struct bt_node_comparison){.n = 0};
	comparer->next_ns = now_ns + (again ? AGAIN_NS : comparer->options.interval_ns);
	bt_add_owned(&comparer->round_n, 1u);
}

static void find_dictionary(void *context, struct bt_engine *engine)
{
	struct bt_node_comparer *comparer = context;

	comparer->dictionary = bt_engine_cache(engine)->dictionary;
}

void bt_node_comparer_tick(struct bt_node_comparer *comparer, int64_t now_ns)
{
	if (now_ns < comparer->next_ns) {
		return;
	}
	if (!comparer->dictionary) {
		bt_pipeline_call(comparer->options.pipeline, find_dictionary, comparer);
	}
	if (!comparer->lists) {
		bt_pod_pages_begin_nodes(comparer->options.pages);
	}
	enum bt_pages step = bt_pod_pages_next_nodes(comparer->options.pages, add_api, comparer);
	comparer->lists = step == BT_PAGES_MORE;
	if (step == BT_PAGES_MORE) {
		comparer->next_ns = now_ns + PAUSE_NS;
	} else if (step == BT_PAGES_END) {
		compare(comparer, now_ns);
	} else {
		int64_t retry_ns = bt_pod_pages_retry_after_ns(comparer->options.pages);

		bt_node_comparison_fini(&comparer->now);
		bt_add_owned(&comparer->unlisted_n, 1u);
		comparer->next_ns = now_ns + (retry_ns > AGAIN_NS ? retry_ns : AGAIN_NS);
	}
}
