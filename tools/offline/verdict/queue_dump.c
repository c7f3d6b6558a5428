/* SPDX-License-Identifier: Apache-2.0
 * The scheduling queue as JSON.
 */
#include "tools/offline/verdict/queue_dump.h"

#include <stdlib.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/hints.h"

/* A pod with its key, for sorting. */
struct keyed_pod {
	struct bt_str key;
	uint32_t pod_ix;
	uint32_t turn; /* of the pod, or of its PodGroup */
};

static int by_key(const void *a, const void *b)
{
	return bt_str_cmp(((const struct keyed_pod *)a)->key, ((const struct keyed_pod *)b)->key);
}

/* Pods of a group are popped together: ordered by key. */
static int by_turn(const void *a, const void *b)
{
	const struct keyed_pod *x = a, *y = b;

	return x->turn != y->turn ? (x->turn < y->turn ? -1 : 1) : by_key(a, b);
}

/* The PodGroup, or tree, that a pod waits in, or BT_NAME_NONE. */
static uint32_t group_of(const struct bt_api *api, uint32_t pod_ix)
{
	struct bt_engine *engine = api->cluster.engine;
	bool grouped = bt_queue_info(bt_engine_queue(engine), pod_ix).in_group;

	return grouped ? bt_engine_whole_group(engine, pod_ix) : BT_NAME_NONE;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct bt_str bt_queue_dump_key(struct bt_api *api, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);

	bt_buf_clear(&api->text);
	bt_buf_printf(&api->text, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
	return (struct bt_str){
		bt_arena_copy(&api->cluster.arena, api->text.ptr, api->text.len), api->text.len};
}

struct bt_str bt_queue_dump_group_key(struct bt_api *api, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_signature *signature = bt_ledger_pod(cache->ledger, pod_ix)->signature;

	bt_buf_clear(&api->text);
	bt_buf_printf(&api->text, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, bt_engine_whole_group(api->cluster.engine, pod_ix))));
	return (struct bt_str){
		bt_arena_copy(&api->cluster.arena, api->text.ptr, api->text.len), api->text.len};
}

/* The pods of a queue, in order or sorted by key. Owns: bt_mem_free. */
static struct keyed_pod *list(struct bt_api *api, enum bt_wait where, bool sorted, uint32_t *out_n)
{
	struct bt_queue *queue = bt_engine_queue(api->cluster.engine);
	uint32_t n = bt_queue_list(queue, where, NULL, 0);
	uint32_t *pods = bt_mem_zalloc(n, sizeof(*pods));
	struct keyed_pod *out = bt_mem_zalloc(n, sizeof(*out));

	bt_queue_list(queue, where, pods, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t group = group_of(api, pods[i]);
		bool same = i > 0 && group != BT_NAME_NONE && group == group_of(api, pods[i - 1]);

		out[i] = (struct keyed_pod){
			bt_queue_dump_key(api, pods[i]), pods[i], i == 0 ? 0 : out[i - 1].turn + !same};
	}
	if (n) {
		qsort(out, n, sizeof(*out), sorted ? by_key : by_turn);
	}
	bt_mem_free(pods);
	*out_n = n;
	return out;
}

static void write_keys(struct bt_api *api, struct bt_json_writer *json, const char *key, enum bt_wait where)
{
	uint32_t n;
	struct keyed_pod *pods = list(api, where, where != BT_WAIT_ACTIVE, &n);

	if (n || where == BT_WAIT_ACTIVE) {
		bt_json_write_key(json, key);
		bt_json_write_begin_array(json);
		for (uint32_t i = 0; i < n; i++) {
			bt_json_write_str(json, pods[i].key);
		}
		bt_json_write_end(json);
	}
	bt_mem_free(pods);
}

/* Seconds until the flush that moves the pod: the one at its expiry still leaves it. */
static void write_left(struct bt_api *api, struct bt_json_writer *json, const struct bt_queue_info *info)
{
	int64_t left_ms = (info->expiry_ns + BT_QUEUE_SECOND - api->now_ns) / 1000000;

	bt_json_write_key(json, "left");
	bt_json_write_real(json, (double)left_ms / 1000, 3);
	if (info->in_group || !(info->unschedulable_plugins | info->pending)) {
		bt_json_write_key(json, "error");
		bt_json_write_bool(json, true);
	}
}

static void write_backoff(struct bt_api *api, struct bt_json_writer *json)
{
	uint32_t n;
	struct keyed_pod *pods = list(api, BT_WAIT_BACKOFF, false, &n);

	bt_json_write_key(json, "backoff");
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_queue_info info =
			bt_queue_info(bt_engine_queue(api->cluster.engine), pods[i].pod_ix);

		bt_json_write_begin_object(json);
		bt_json_write_key(json, "pod");
		bt_json_write_str(json, pods[i].key);
		write_left(api, json, &info);
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
	bt_mem_free(pods);
}

/* The plugins of a mask, sorted by name. */
static void write_plugins(struct bt_json_writer *json, bt_plugin_set plugins)
{
	const char *names[BT_PLUGIN_SET_ROOM];
	uint32_t n = 0;

	for (; plugins; plugins = bt_plugin_set_rest(plugins)) {
		names[n++] = bt_hints_name(bt_plugin_set_first(plugins));
	}
	qsort(names, n, sizeof(*names), by_text);
	bt_json_write_key(json, "plugins");
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < n; i++) {
		bt_json_write_text(json, names[i]);
	}
	bt_json_write_end(json);
}

static void write_held(struct bt_api *api, struct bt_json_writer *json, const char *key, enum bt_wait where)
{
	uint32_t n;
	struct keyed_pod *pods = list(api, where, true, &n);

	bt_json_write_key(json, key);
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_queue_info info =
			bt_queue_info(bt_engine_queue(api->cluster.engine), pods[i].pod_ix);

		bt_json_write_begin_object(json);
		bt_json_write_key(json, "pod");
		bt_json_write_str(json, pods[i].key);
		bt_plugin_set refused_by = info.in_group ? 0 : info.unschedulable_plugins | info.pending;

		write_plugins(
			json, where == BT_WAIT_GATED ? bt_plugin_set_of((uint32_t)info.gate) : refused_by);
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
	bt_mem_free(pods);
}

/* The name of the node that a waiting pod is nominated to, or BT_NAME_NONE. A pod that was dropped because it
 * is being deleted keeps its nomination, although it does not count for other pods. */
static uint32_t nomination_of(struct bt_api *api, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	enum bt_wait where = bt_queue_info(bt_engine_queue(api->cluster.engine), pod_ix).where;

	if (pod->state != BT_POD_QUEUED) {
		return BT_NAME_NONE;
	}
	if (pod->terminating && where == BT_WAIT_NOWHERE) {
		return pod->status_node;
	}
	return pod->nominated_ix == BT_NO_NODE ? BT_NAME_NONE
					       : cache->view.snapshot->nodes[pod->nominated_ix].name;
}

static void write_nominations(struct bt_api *api, struct bt_json_writer *json)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	bool any = false;

	for (uint32_t i = 0; i < bt_ledger_pod_end(cache->ledger); i++) {
		uint32_t nomination = nomination_of(api, i);

		if (nomination == BT_NAME_NONE) {
			continue;
		}
		if (!any) {
			bt_json_write_key(json, "nominations");
			bt_json_write_begin_object(json);
			any = true;
		}
		bt_json_write_key_str(json, bt_queue_dump_key(api, i));
		bt_json_write_str(json, bt_intern_str(cache->dictionary->intern, nomination));
	}
	if (any) {
		bt_json_write_end(json);
	}
}

void bt_queue_dump(struct bt_api *api, struct bt_json_writer *json)
{
	write_keys(api, json, "active", BT_WAIT_ACTIVE);
	write_backoff(api, json);
	write_held(api, json, "unschedulable", BT_WAIT_UNSCHEDULABLE);
	write_held(api, json, "gated", BT_WAIT_GATED);
	write_keys(api, json, "inFlight", BT_WAIT_IN_FLIGHT);
	write_keys(api, json, "incomplete", BT_WAIT_INCOMPLETE);
	write_keys(api, json, "pending", BT_WAIT_PENDING);
	write_nominations(api, json);
}
