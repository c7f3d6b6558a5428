/* SPDX-License-Identifier: Apache-2.0
 * Pods and nodes as JSON, fetched on demand. The watch's thread marks cached entries; the calling thread
 * fetches and frees them, so texts that were returned do not change.
 */
#include "tools/cluster/extender/objects_int.h"

#include <string.h>

#include "engine/base/atomic.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/format/schema.h"
#include "tools/cluster/net/escape.h"
#include "tools/cluster/net/latch.h"

#define FETCH_NS  (5 * INT64_C(1000000000))
#define AT_A_TIME 64u
#define MANY	  256u /* from this many nodes on, one list replaces single requests */
#define PAGE	  500u

/* An object that was fetched, or will be. */
struct extender_entry {
	uint64_t key; /* of kind, namespace and name; 0: vacant */
	uint64_t uid; /* a hash; of pods */
	struct bt_buf text;
	uint64_t round; /* of the call that last used it */
	bool is_pod;
	bool fresh; /* lock(lock): unchanged since it was requested */
	bool gone;  /* lock(lock): the watch has shown its deletion */
};

struct bt_objects {
	struct bt_http *http;
	struct bt_json *json, *inner;
	struct bt_arena arena;
	uint64_t round;
	struct bt_str *texts;
	size_t text_cap;
	uint32_t *wanted;
	size_t wanted_cap;
	struct bt_lock lock;
	struct bt_map by_key;		/* lock(lock): to entries */
	struct extender_entry *entries; /* lock(lock): the array; owner: texts */
	size_t entry_n, entry_cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	bool any_gone; /* lock(lock): */
};

struct bt_objects *bt_objects_create(struct bt_http *http)
{
	struct bt_objects *o = bt_mem_zalloc(1, sizeof(*o));

	o->http = http;
	o->json = bt_json_create();
	o->inner = bt_json_create();
	bt_lock_init(&o->lock);
	return o;
}

void bt_objects_destroy(struct bt_objects *o)
{
	if (!o) {
		return;
	}
	for (size_t i = 0; i < o->entry_n; i++) {
		bt_buf_fini(&o->entries[i].text);
	}
	bt_map_fini(&o->by_key);
	bt_mem_free(o->entries);
	bt_mem_free(o->vacant);
	bt_mem_free(o->texts);
	bt_mem_free(o->wanted);
	bt_json_destroy(o->json);
	bt_json_destroy(o->inner);
	bt_arena_fini(&o->arena);
	bt_lock_fini(&o->lock);
	bt_mem_free(o);
}

static uint64_t extender_objects_key_of(bool is_pod, struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_key(bt_hash_u64(bt_hash_str(namespace_) + (is_pod ? 1 : 2)) ^ bt_hash_str(name));
}

/* ---- the cache; under the lock ---- */

static uint32_t extender_objects_enter(struct bt_objects *o, uint64_t key, bool is_pod)
{
	uint32_t ix;

	if (bt_map_get(&o->by_key, key, &ix)) {
		return ix;
	}
	if (o->vacant_n) {
		ix = o->vacant[--o->vacant_n];
	} else {
		o->entries = bt_mem_grow(o->entries, o->entry_n, &o->entry_cap, sizeof(*o->entries));
		ix = (uint32_t)o->entry_n++;
		o->entries[ix] = (struct extender_entry){.key = 0};
	}
	o->entries[ix] = (struct extender_entry){.key = key, .is_pod = is_pod};
	bt_map_put(&o->by_key, key, ix);
	return ix;
}

static void drop(struct bt_objects *o, uint32_t ix)
{
	struct extender_entry *entry = &o->entries[ix];

	bt_map_remove(&o->by_key, entry->key);
	bt_buf_fini(&entry->text);
	entry->key = 0;
	o->vacant = bt_mem_grow(o->vacant, o->vacant_n, &o->vacant_cap, sizeof(*o->vacant));
	o->vacant[o->vacant_n++] = ix;
}

/* Drops pods that this call did not use, and deleted objects. */
static void sweep(struct bt_objects *o, bool pods)
{
	if (!pods && !o->any_gone) {
		return;
	}
	for (uint32_t i = 0; i < o->entry_n; i++) {
		const struct extender_entry *entry = &o->entries[i];

		if (entry->key && entry->round != o->round && (entry->gone || (pods && entry->is_pod))) {
			drop(o, i);
		}
	}
	o->any_gone = false;
}

void bt_objects_update(struct bt_objects *o, enum bt_watch_event_kind what, const struct bt_object *object)
{
	uint32_t ix;

	if (what == BT_WATCH_EVENT_SYNCED || (object->kind != BT_KIND_POD && object->kind != BT_KIND_NODE)) {
		return;
	}
	bool is_pod = object->kind == BT_KIND_POD;
	uint64_t key = extender_objects_key_of(
		is_pod, is_pod ? object->meta.namespace_ : bt_str(""), object->meta.name);

	bt_lock_acquire(&o->lock);
	if (bt_map_get(&o->by_key, key, &ix)) {
		o->entries[ix].fresh = false;
		o->entries[ix].gone = what == BT_WATCH_EVENT_DELETE;
		o->any_gone |= what == BT_WATCH_EVENT_DELETE;
	}
	bt_lock_release(&o->lock);
}

/* ---- calls ---- */

struct extender_fetch;

struct one {
	struct extender_fetch *fetch;
	enum bt_http_end end;
	uint32_t status;
	struct bt_buf path, body, error;
};

struct extender_fetch {
	struct bt_latch over;
	_Atomic uint32_t left; /* atomic: the last call opens the latch */
};

/* Context: the client's thread. */
static void fetched(void *context, enum bt_http_end end, const struct bt_http_head *head, struct bt_str body,
	struct bt_str error)
{
	struct one *one = context;
	struct extender_fetch *fetch = one->fetch;

	one->end = end;
	one->status = end == BT_HTTP_ANSWERED ? head->status : 0;
	bt_buf_clear(&one->body);
	bt_buf_str(&one->body, body);
	bt_buf_clear(&one->error);
	bt_buf_str(&one->error, error);
	if (bt_sub(&fetch->left, 1u) == 1) {
		bt_latch_open(&fetch->over);
	}
}

/* Makes n calls at a time and waits for all. */
static void fetch_all(struct bt_objects *o, struct one *ones, uint32_t n)
{
	struct extender_fetch fetch;

	bt_latch_init(&fetch.over);
	bt_store_relaxed(&fetch.left, n);
	for (uint32_t i = 0; i < n; i++) {
		ones[i].fetch = &fetch;
		bt_http_send(o->http, &(struct bt_http_call){.path = bt_buf_view(&ones[i].path),
					      .accept = bt_str("application/json"),
					      .timeout_ns = FETCH_NS,
					      .done = fetched,
					      .context = &ones[i]});
	}
	bt_latch_wait(&fetch.over, BT_EVENTCOUNT_FOREVER);
	bt_latch_fini(&fetch.over);
}

static void ones_fini(struct one *ones, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bt_buf_fini(&ones[i].path);
		bt_buf_fini(&ones[i].body);
		bt_buf_fini(&ones[i].error);
	}
}

/* ---- answers ---- */

struct pod_reference {
	struct bt_str name, uid, managed;
};

#define FIELD(json, kind, member)                                                                            \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind,                                               \
		.offset = offsetof(struct pod_reference, member)                                             \
	}

/* Reads the object's identity. Returns: false: not an object. */
static bool read_object(
	struct bt_objects *o, struct bt_json *json, struct bt_str text, struct pod_reference *out)
{
	static const struct bt_field meta_fields[] = {
		FIELD("managedFields", RAW, managed), FIELD("name", STR, name), FIELD("uid", STR, uid)};
	static const struct bt_schema meta = BT_SCHEMA(meta_fields, struct pod_reference);
	static const struct bt_field fields[] = {
		{.name = BT_STR("metadata"), .type = BT_FIELD_OBJECT, .schema = &meta}};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct pod_reference);
	struct bt_decode decode = {.json = json, .arena = &o->arena};

	*out = (struct pod_reference){.name = {.len = 0}};
	bt_json_begin(json, text, &o->arena);
	return bt_schema_decode(&decode, &schema, out) && out->name.len;
}

/* Keeps the text of an object, without a pod's managedFields. */
static void extender_objects_keep(
	struct extender_entry *entry, struct bt_str text, const struct pod_reference *seen)
{
	bt_buf_clear(&entry->text);
	if (entry->is_pod && seen->managed.len) {
		size_t from = (size_t)(seen->managed.ptr - text.ptr);

		bt_buf_str(&entry->text, bt_str_sub(text, 0, from));
		bt_buf_text(&entry->text, "null");
		bt_buf_str(&entry->text, bt_str_sub(text, from + seen->managed.len, text.len));
	} else {
		bt_buf_str(&entry->text, text);
	}
	while (entry->text.len && strchr(" \t\r\n", entry->text.ptr[entry->text.len - 1])) {
		entry->text.len--;
	}
	entry->uid = bt_hash_str(seen->uid);
}

/* Appends why the answer is not an object. */
static bool explain_invalid(const struct one *one, struct bt_str what, struct bt_buf *out_error)
{
	bt_buf_printf(out_error,
		"the API server does not show %.*s to be sent to the extender: ", BT_STR_ARG(what));
	if (one->end != BT_HTTP_ANSWERED) {
		bt_buf_str(out_error, bt_buf_view(&one->error));
	} else if (one->status == 200) {
		bt_buf_text(out_error, "it answers with something else");
	} else {
		bt_buf_printf(out_error, "it answers %u", one->status);
	}
	return false;
}

/* Fetches the entries one by one; path writes the path of the i-th. */
static bool fetch_each(struct bt_objects *o, const uint32_t *entries, uint32_t n,
	void (*path)(const void *context, uint32_t i, struct bt_buf *out), const void *context,
	struct bt_buf *out_error)
{
	struct one ones[AT_A_TIME];
	bool good = true;

	memset(ones, 0, sizeof(ones));
	for (uint32_t from = 0; from < n && good; from += AT_A_TIME) {
		uint32_t some = n - from < AT_A_TIME ? n - from : AT_A_TIME;

		for (uint32_t i = 0; i < some; i++) {
			bt_buf_clear(&ones[i].path);
			path(context, from + i, &ones[i].path);
		}
		fetch_all(o, ones, some);
		for (uint32_t i = 0; i < some && good; i++) {
			struct bt_str body = bt_buf_view(&ones[i].body);
			struct pod_reference seen;

			bt_arena_reset(&o->arena);
			good = ones[i].end == BT_HTTP_ANSWERED && ones[i].status == 200 &&
			       read_object(o, o->json, body, &seen);
			if (good) {
				extender_objects_keep(&o->entries[entries[from + i]], body, &seen);
			} else {
				explain_invalid(&ones[i], bt_buf_view(&ones[i].path), out_error);
			}
		}
	}
	ones_fini(ones, AT_A_TIME);
	return good;
}

/* ---- requests ---- */

/* Begins a call for n objects. wanted: the entries to fetch; order: their positions. */
struct object_request {
	uint32_t *entries; /* of all n */
	uint32_t *order;   /* positions of the wanted ones */
	uint32_t *wanted;  /* their entries */
	uint32_t wanted_n;
};

static struct object_request reserve(struct bt_objects *o, uint32_t n)
{
	if (n > o->text_cap) {
		o->text_cap = n;
		o->texts = bt_mem_realloc(o->texts, n, sizeof(*o->texts));
	}
	if (3 * (size_t)n > o->wanted_cap) {
		o->wanted_cap = 3 * (size_t)n;
		o->wanted = bt_mem_realloc(o->wanted, o->wanted_cap, sizeof(*o->wanted));
	}
	o->round++;
	return (struct object_request){
		.entries = o->wanted, .order = o->wanted + n, .wanted = o->wanted + 2 * n};
}

/* From now on, an observed change makes the entry stale again. Under the lock. */
static void request_object(
	struct bt_objects *o, struct object_request *request, uint32_t i, uint64_t key, bool is_pod)
{
	uint32_t ix = extender_objects_enter(o, key, is_pod);
	struct extender_entry *entry = &o->entries[ix];

	request->entries[i] = ix;
	if (!entry->fresh && entry->round != o->round) {
		request->order[request->wanted_n] = i;
		request->wanted[request->wanted_n++] = ix;
		entry->fresh = true;
	}
	entry->round = o->round;
}

/* After a failure nothing is fresh. */
static void extender_objects_give_up(struct bt_objects *o, const struct object_request *request, uint32_t n)
{
	bt_lock_acquire(&o->lock);
	for (uint32_t i = 0; i < n; i++) {
		o->entries[request->entries[i]].fresh = false;
	}
	bt_lock_release(&o->lock);
}

static void give_out(struct bt_objects *o, const struct object_request *request, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		o->texts[i] = bt_buf_view(&o->entries[request->entries[i]].text);
	}
}

struct pods_path {
	const struct bt_pod_ref *pods;
	const uint32_t *order;
};

static void write_pod_path(const void *context, uint32_t i, struct bt_buf *out)
{
	const struct pods_path *path = context;
	const struct bt_pod_ref *pod = &path->pods[path->order[i]];

	bt_buf_text(out, "/api/v1/namespaces/");
	bt_escape(out, pod->namespace_);
	bt_buf_text(out, "/pods/");
	bt_escape(out, pod->name);
}

bool bt_objects_pods(struct bt_objects *o, const struct bt_pod_ref *pods, uint32_t n,
	const struct bt_str **out_texts, struct bt_buf *out_error)
{
	struct object_request request = reserve(o, n);

	bt_lock_acquire(&o->lock);
	for (uint32_t i = 0; i < n; i++) {
		request_object(o, &request, i,
			extender_objects_key_of(true, pods[i].namespace_, pods[i].name), true);
	}
	sweep(o, true);
	bt_lock_release(&o->lock);
	const struct pods_path path = {pods, request.order};
	bool good = fetch_each(o, request.wanted, request.wanted_n, write_pod_path, &path, out_error);

	for (uint32_t i = 0; i < n && good; i++) {
		good = o->entries[request.entries[i]].uid == bt_hash_str(pods[i].uid);
		if (!good) {
			bt_buf_printf(out_error, "another pod is called %.*s/%.*s by now",
				BT_STR_ARG(pods[i].namespace_), BT_STR_ARG(pods[i].name));
		}
	}
	if (good) {
		give_out(o, &request, n);
		*out_texts = o->texts;
	} else {
		extender_objects_give_up(o, &request, n);
	}
	return good;
}

struct nodes_path {
	const struct bt_str *names;
	const uint32_t *order;
};

static void write_node_path(const void *context, uint32_t i, struct bt_buf *out)
{
	const struct nodes_path *path = context;

	bt_buf_text(out, "/api/v1/nodes/");
	bt_escape(out, path->names[path->order[i]]);
}

/* Takes the requested nodes of a page. Returns: false when it is not a page; out_continue is empty after the
 * last page. */
static bool take_page(struct bt_objects *o, struct bt_str body, struct bt_buf *out_continue)
{
	struct bt_str key, text;
	struct pod_reference seen;
	uint32_t ix;

	bt_buf_clear(out_continue);
	bt_json_begin(o->json, body, &o->arena);
	for (bool in = bt_json_enter_object(o->json); in && bt_json_next_key(o->json, &key);) {
		if (bt_str_is(key, "metadata")) {
			for (bool meta = bt_json_enter_object(o->json);
				meta && bt_json_next_key(o->json, &key);) {
				if (!bt_str_is(key, "continue")) {
					bt_json_skip(o->json);
				} else if (bt_json_string(o->json, &text)) {
					bt_buf_str(out_continue, text);
				}
			}
			continue;
		}
		if (!bt_str_is(key, "items")) {
			bt_json_skip(o->json);
			continue;
		}
		for (bool items = bt_json_enter_array(o->json); items && bt_json_next_element(o->json);) {
			if (bt_json_raw(o->json, &text) && read_object(o, o->inner, text, &seen) &&
				bt_map_get(&o->by_key, extender_objects_key_of(false, bt_str(""), seen.name),
					&ix)) {
				extender_objects_keep(&o->entries[ix], text, &seen);
			}
		}
	}
	return bt_json_error(o->json)->status == BT_OK;
}

/* Nodes that the list does not contain stay without a text. */
static bool fetch_list(struct bt_objects *o, const struct object_request *request, struct bt_buf *out_error)
{
	struct bt_buf next = {.len = 0};
	struct one one = {.status = 0};
	bool good = true;

	for (uint32_t i = 0; i < request->wanted_n; i++) {
		bt_buf_clear(&o->entries[request->wanted[i]].text);
	}
	do {
		bt_buf_clear(&one.path);
		bt_buf_printf(&one.path, "/api/v1/nodes?limit=%u", PAGE);
		if (next.len) {
			bt_buf_text(&one.path, "&continue=");
			bt_escape(&one.path, bt_buf_view(&next));
		}
		fetch_all(o, &one, 1);
		bt_arena_reset(&o->arena);
		good = one.end == BT_HTTP_ANSWERED && one.status == 200 &&
		       take_page(o, bt_buf_view(&one.body), &next);
	} while (good && next.len);
	if (!good) {
		explain_invalid(&one, bt_str("nodes"), out_error);
	}
	bt_buf_fini(&next);
	ones_fini(&one, 1);
	return good;
}

bool bt_objects_nodes(struct bt_objects *o, const struct bt_str *names, uint32_t n,
	const struct bt_str **out_texts, struct bt_buf *out_error)
{
	struct object_request request = reserve(o, n);

	bt_lock_acquire(&o->lock);
	for (uint32_t i = 0; i < n; i++) {
		request_object(o, &request, i, extender_objects_key_of(false, bt_str(""), names[i]), false);
	}
	sweep(o, false);
	bt_lock_release(&o->lock);
	const struct nodes_path path = {names, request.order};
	bool good = request.wanted_n > MANY ? fetch_list(o, &request, out_error)
					    : fetch_each(o, request.wanted, request.wanted_n, write_node_path,
						      &path, out_error);

	for (uint32_t i = 0; i < n && good; i++) {
		good = o->entries[request.entries[i]].text.len != 0;
		if (!good) {
			bt_buf_printf(
				out_error, "the API server has no node %.*s any more", BT_STR_ARG(names[i]));
		}
	}
	if (good) {
		give_out(o, &request, n);
		*out_texts = o->texts;
	} else {
		extender_objects_give_up(o, &request, n);
	}
	return good;
}
