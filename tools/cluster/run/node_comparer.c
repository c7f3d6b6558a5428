/* SPDX-License-Identifier: Apache-2.0
 * The scheduler's nodes against the API's: a hash of each node on either side.
 */
#include "tools/cluster/run/node_comparer.h"

#include "engine/base/atomic.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "tools/kube/log/log.h"

#define SECOND_NS     INT64_C(1000000000)
#define AGAIN_NS      (2 * SECOND_NS)
#define PAUSE_NS      (SECOND_NS / 4) /* between two pages */
#define NODES_A_VISIT 4096u	      /* the scheduling thread is blocked for this many */

/* Both sides of a node; 0: absent. */
struct sides {
	size_t name, name_end; /* in names */
	uint64_t api, ours;
};

struct round {
	struct sides *items;
	size_t n, cap;
	struct bt_map by_name; /* a hash of the name -> index in items */
	struct bt_buf names;
};

struct bt_node_comparer {
	struct bt_node_comparer_options options;
	struct bt_dictionary *dictionary; /* NULL until the first visit */
	struct round now, before;
	bool lists; /* a round has started: some pages have been read */
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

static void round_fini(struct round *round)
{
	bt_mem_free(round->items);
	bt_map_fini(&round->by_name);
	bt_buf_fini(&round->names);
	*round = (struct round){.n = 0};
}

void bt_node_comparer_destroy(struct bt_node_comparer *comparer)
{
	if (comparer) {
		round_fini(&comparer->now);
		round_fini(&comparer->before);
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

static struct sides *sides_of(struct round *round, struct bt_str name)
{
	uint32_t ix;

	if (!bt_map_get(&round->by_name, bt_hash_key(bt_hash_str(name)), &ix)) {
		round->items = bt_mem_grow(round->items, round->n, &round->cap, sizeof(*round->items));
		ix = (uint32_t)round->n++;
		round->items[ix] =
			(struct sides){.name = round->names.len, .name_end = round->names.len + name.len};
		bt_buf_str(&round->names, name);
		bt_map_put(&round->by_name, bt_hash_key(bt_hash_str(name)), ix);
	}
	return &round->items[ix];
}

/* The fields of a node's resources that decisions depend on. */
static uint64_t hash_of(const struct bt_node_desc *desc)
{
	uint64_t hash = bt_hash_u64((uint64_t)desc->alloc_pods);

	for (uint32_t i = 0; i < desc->alloc.n; i++) {
		hash = bt_hash_u64(hash ^ desc->alloc.items[i].slot);
		hash = bt_hash_u64(hash ^ (uint64_t)desc->alloc.items[i].amount);
	}
	return hash | 1;
}

/* The server's node, described as by an ingestion thread. */
static void add_api(void *context, const struct bt_object *object)
{
	struct bt_node_comparer *comparer = context;
	struct bt_node_desc *desc = bt_node_desc_create(comparer->dictionary, &object->node);

	sides_of(&comparer->now, object->meta.name)->api = hash_of(desc);
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

			sides_of(&visit->comparer->now, name)->ours = hash_of(desc);
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

static bool is_as_before(
	const struct bt_node_comparer *comparer, struct bt_str name, const struct sides *node)
{
	uint32_t ix;

	if (!bt_map_get(&comparer->before.by_name, bt_hash_key(bt_hash_str(name)), &ix)) {
		return false;
	}
	const struct sides *before = &comparer->before.items[ix];
	return before->api == node->api && before->ours == node->ours;
}

static void log_node_difference(struct bt_str name, const struct sides *node)
{
	bt_log(BT_LOG_ERROR, 0,
		"A node differs between the scheduler and the API: please report it, and restart",
		bt_log_fields(bt_log_str("node", name),
			bt_log_str("difference", bt_str(!node->api     ? "not in the API"
							 : !node->ours ? "not in the scheduler"
								       : "status.allocatable"))));
}

/* The list is complete. */
static void compare(struct bt_node_comparer *comparer, int64_t now_ns)
{
	bool again = false;

	see_all(comparer);
	for (size_t i = 0; i < comparer->now.n; i++) {
		const struct sides *node = &comparer->now.items[i];
		struct bt_str name =
			bt_str_sub(bt_buf_view(&comparer->now.names), node->name, node->name_end);

		if (node->api == node->ours) {
			continue;
		}
		if (is_as_before(comparer, name, node)) {
			log_node_difference(name, node);
			bt_add_owned(&comparer->differ_n, 1u);
		} else {
			again = true;
		}
	}
	round_fini(&comparer->before);
	comparer->before = comparer->now;
	comparer->now = (struct round){.n = 0};
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

		round_fini(&comparer->now);
		bt_add_owned(&comparer->unlisted_n, 1u);
		comparer->next_ns = now_ns + (retry_ns > AGAIN_NS ? retry_ns : AGAIN_NS);
	}
}
