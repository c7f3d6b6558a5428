/* SPDX-License-Identifier: Apache-2.0
 * Requests and limits of pods. A lock guards everything; it is left again and again while metrics are
 * written.
 */
#include "tools/serve/pod_resources.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/serve/exposition.h"

#define NONE	 UINT32_MAX
#define PODS_RUN 1000 /* so many pods are written at a time */

/* ---- sums ---- */

/* Amounts by name. Names are the objects'. */
struct sum {
	struct bt_named_quantity *items;
	size_t n, cap;
};

static struct bt_quantity *amount_of(struct sum *sum, struct bt_str name)
{
	for (size_t i = 0; i < sum->n; i++) {
		if (bt_str_eq(sum->items[i].name, name)) {
			return &sum->items[i].quantity;
		}
	}
	return NULL;
}

static struct bt_quantity *enter(struct sum *sum, struct bt_str name)
{
	struct bt_quantity *known = amount_of(sum, name);

	if (known) {
		return known;
	}
	sum->items = bt_mem_grow(sum->items, sum->n, &sum->cap, sizeof(*sum->items));
	sum->items[sum->n] = (struct bt_named_quantity){.name = name};
	return &sum->items[sum->n++].quantity;
}

static void add(struct sum *sum, const struct bt_named_quantity *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct bt_quantity *amount = enter(sum, items[i].name);

		*amount = bt_quantity_add(*amount, items[i].quantity);
	}
}

static void raise_to(struct sum *sum, const struct sum *other)
{
	for (size_t i = 0; i < other->n; i++) {
		struct bt_quantity *amount = enter(sum, other->items[i].name);

		if (bt_quantity_cmp(other->items[i].quantity, *amount) > 0) {
			*amount = other->items[i].quantity;
		}
	}
}

static const struct bt_resource_list *list_of(const struct bt_requirements_object *of, bool limits)
{
	return limits ? &of->limits : &of->requests;
}

/* Containers run together; init containers one after the other, with the sidecars before them. */
static void add_containers(const struct bt_pod_spec_object *spec, bool limits, struct sum *total)
{
	struct sum sidecars = {0}, most = {0}, one = {0};

	for (uint32_t i = 0; i < spec->container_n; i++) {
		const struct bt_resource_list *list = list_of(&spec->containers[i].resources, limits);

		add(total, list->items, list->n);
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		const struct bt_container_object *container = &spec->init_containers[i];
		const struct bt_resource_list *list = list_of(&container->resources, limits);

		if (bt_str_is(container->restart_policy, "Always")) {
			add(total, list->items, list->n);
			add(&sidecars, list->items, list->n);
			raise_to(&most, &sidecars);
		} else {
			one.n = 0;
			add(&one, list->items, list->n);
			add(&one, sidecars.items, sidecars.n);
			raise_to(&most, &one);
		}
	}
	raise_to(total, &most);
	bt_mem_free(sidecars.items);
	bt_mem_free(most.items);
	bt_mem_free(one.items);
}

static void replace_by_pod_level(const struct bt_resource_list *level, struct sum *total)
{
	for (uint32_t i = 0; i < level->n; i++) {
		struct bt_str name = level->items[i].name;

		if (bt_str_is(name, "cpu") || bt_str_is(name, "memory") ||
			bt_str_starts(name, "hugepages-")) {
			*enter(total, name) = level->items[i].quantity;
		}
	}
}

/* Overhead is added to every request, but to limits only where there are some. */
static void sum_up(const struct bt_pod_spec_object *spec, bool limits, struct sum *out)
{
	out->n = 0;
	add_containers(spec, limits, out);
	replace_by_pod_level(list_of(&spec->resources, limits), out);
	for (uint32_t i = 0; i < spec->overhead.n; i++) {
		struct bt_quantity *amount = limits ? amount_of(out, spec->overhead.items[i].name)
						    : enter(out, spec->overhead.items[i].name);

		if (amount && (!limits || amount->nano != 0)) {
			*amount = bt_quantity_add(*amount, spec->overhead.items[i].quantity);
		}
	}
}

/* ---- what is kept ---- */

/* A sum as bytes: for each amount that is not zero its name, a NUL, and a double. Shared, and counted. */
struct set {
	uint64_t key;
	uint32_t pod_n, next; /* next: of those with the same key, or of the vacant ones */
	struct bt_buf bytes;
};

struct pod {
	uint64_t key, born; /* born: the number of the entry */
	uint32_t next;	    /* of those with the same key */
	uint32_t sets[2];   /* requests, limits */
	uint32_t lens[4];   /* of namespace, name, node, scheduler */
	int32_t priority;
	bool has_priority;
	char text[];
};

struct bt_pod_resources {
	struct bt_lock lock;
	/* lock(lock): from here on */
	struct pod **pods; /* NULL: vacant */
	size_t pod_n, pod_cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	struct bt_map pod_ixs; /* by key: the first pod */
	struct set *sets;
	size_t set_n, set_cap;
	uint32_t free_set;
	struct bt_map set_ixs;
	uint64_t born_n;
	struct sum sum; /* scratch */
	struct bt_buf bytes;
};

struct bt_pod_resources *bt_pod_resources_create(void)
{
	struct bt_pod_resources *r = bt_mem_zalloc(1, sizeof(*r));

	bt_lock_init(&r->lock);
	r->free_set = NONE;
	return r;
}

void bt_pod_resources_destroy(struct bt_pod_resources *r)
{
	if (!r) {
		return;
	}
	for (size_t i = 0; i < r->pod_n; i++) {
		bt_mem_free(r->pods[i]);
	}
	for (size_t i = 0; i < r->set_n; i++) {
		bt_buf_fini(&r->sets[i].bytes);
	}
	bt_mem_free(r->pods);
	bt_mem_free(r->vacant);
	bt_mem_free(r->sets);
	bt_map_fini(&r->pod_ixs);
	bt_map_fini(&r->set_ixs);
	bt_mem_free(r->sum.items);
	bt_buf_fini(&r->bytes);
	bt_lock_fini(&r->lock);
	bt_mem_free(r);
}

static void serialize(const struct sum *sum, struct bt_buf *out)
{
	bt_buf_clear(out);
	for (size_t i = 0; i < sum->n; i++) {
		double value = bt_quantity_approximate(sum->items[i].quantity);

		if (sum->items[i].quantity.nano != 0) {
			bt_buf_str(out, sum->items[i].name);
			bt_buf_char(out, 0);
			bt_buf_add(out, &value, sizeof(value));
		}
	}
}

/* The set with what is in bytes, for one more pod. */
static uint32_t hold_set(struct bt_pod_resources *r)
{
	uint64_t key = bt_hash_bytes(r->bytes.len ? r->bytes.ptr : "", r->bytes.len);
	uint32_t first = NONE, ix;

	if (!bt_map_get(&r->set_ixs, key, &first)) {
		first = NONE;
	}
	for (ix = first; ix != NONE; ix = r->sets[ix].next) {
		if (bt_str_eq(bt_buf_view(&r->sets[ix].bytes), bt_buf_view(&r->bytes))) {
			r->sets[ix].pod_n++;
			return ix;
		}
	}
	ix = r->free_set;
	if (ix != NONE) {
		r->free_set = r->sets[ix].next;
	} else {
		r->sets = bt_mem_grow(r->sets, r->set_n, &r->set_cap, sizeof(*r->sets));
		ix = (uint32_t)r->set_n++;
	}
	r->sets[ix] = (struct set){.key = key, .pod_n = 1, .next = first};
	bt_buf_str(&r->sets[ix].bytes, bt_buf_view(&r->bytes));
	bt_map_put(&r->set_ixs, key, ix);
	return ix;
}

static void release_set(struct bt_pod_resources *r, uint32_t ix)
{
	struct set *set = &r->sets[ix];
	uint32_t first = NONE;

	if (--set->pod_n) {
		return;
	}
	bt_map_get(&r->set_ixs, set->key, &first);
	if (first == ix && set->next == NONE) {
		bt_map_remove(&r->set_ixs, set->key);
	} else if (first == ix) {
		bt_map_put(&r->set_ixs, set->key, set->next);
	} else {
		while (r->sets[first].next != ix) {
			first = r->sets[first].next;
		}
		r->sets[first].next = set->next;
	}
	bt_buf_fini(&set->bytes);
	*set = (struct set){.next = r->free_set};
	r->free_set = ix;
}

/* ---- pods ---- */

static uint64_t key_of(const struct bt_object *object)
{
	struct bt_str namespace_ = object->meta.namespace_, name = object->meta.name;
	uint64_t key = bt_hash_bytes(namespace_.len ? namespace_.ptr : "", namespace_.len);

	return bt_hash_u64(key) ^ bt_hash_bytes(name.len ? name.ptr : "", name.len);
}

static struct bt_str part_of(const struct pod *pod, int part)
{
	const char *at = pod->text;

	for (int i = 0; i < part; i++) {
		at += pod->lens[i];
	}
	return (struct bt_str){at, pod->lens[part]};
}

/* The pod's index, and the one before it with the same key; NONE: there is none. */
static uint32_t find(
	const struct bt_pod_resources *r, uint64_t key, const struct bt_object *object, uint32_t *out_before)
{
	uint32_t ix = NONE;

	*out_before = NONE;
	if (!bt_map_get(&r->pod_ixs, key, &ix)) {
		return NONE;
	}
	while (ix != NONE && !(bt_str_eq(part_of(r->pods[ix], 0), object->meta.namespace_) &&
				     bt_str_eq(part_of(r->pods[ix], 1), object->meta.name))) {
		*out_before = ix;
		ix = r->pods[ix]->next;
	}
	return ix;
}

static void drop(struct bt_pod_resources *r, uint32_t ix, uint32_t before)
{
	struct pod *pod = r->pods[ix];

	if (before != NONE) {
		r->pods[before]->next = pod->next;
	} else if (pod->next != NONE) {
		bt_map_put(&r->pod_ixs, pod->key, pod->next);
	} else {
		bt_map_remove(&r->pod_ixs, pod->key);
	}
	release_set(r, pod->sets[0]);
	release_set(r, pod->sets[1]);
	bt_mem_free(pod);
	r->pods[ix] = NULL;
	r->vacant = bt_mem_grow(r->vacant, r->vacant_n, &r->vacant_cap, sizeof(*r->vacant));
	r->vacant[r->vacant_n++] = ix;
}

static struct pod *make_pod(const struct bt_object *object)
{
	const struct bt_pod_spec_object *spec = &object->pod.spec;
	const struct bt_str parts[4] = {
		object->meta.namespace_, object->meta.name, spec->node_name, spec->scheduler_name};
	size_t len = parts[0].len + parts[1].len + parts[2].len + parts[3].len;
	struct pod *pod = bt_mem_zalloc(1, sizeof(*pod) + len);
	char *at = pod->text;

	for (int i = 0; i < 4; i++) {
		pod->lens[i] = (uint32_t)parts[i].len;
		memcpy(at, parts[i].len ? parts[i].ptr : "", parts[i].len);
		at += parts[i].len;
	}
	pod->priority = spec->priority;
	pod->has_priority = spec->has_priority;
	return pod;
}

static void put(struct bt_pod_resources *r, uint64_t key, const struct bt_object *object)
{
	struct pod *pod = make_pod(object);
	uint32_t ix;

	for (int limits = 0; limits < 2; limits++) {
		sum_up(&object->pod.spec, limits, &r->sum);
		serialize(&r->sum, &r->bytes);
		pod->sets[limits] = hold_set(r);
	}
	if (r->vacant_n) {
		ix = r->vacant[--r->vacant_n];
	} else {
		r->pods = bt_mem_grow(r->pods, r->pod_n, &r->pod_cap, sizeof(struct pod *));
		ix = (uint32_t)r->pod_n++;
	}
	pod->key = key;
	pod->born = ++r->born_n;
	pod->next = NONE;
	if (bt_map_get(&r->pod_ixs, key, &pod->next)) {
		BT_REQUIRE(pod->next != ix);
	} else {
		pod->next = NONE;
	}
	bt_map_put(&r->pod_ixs, key, ix);
	r->pods[ix] = pod;
}

/* Pods that have run to their end do not count. */
static bool has_ended(const struct bt_pod_object *pod)
{
	return pod->spec.node_name.len &&
	       (bt_str_is(pod->phase, "Succeeded") || bt_str_is(pod->phase, "Failed"));
}

static void hear(void *context, enum bt_parcel_kind what, const struct bt_object *object)
{
	struct bt_pod_resources *r = context;
	uint32_t before;

	if (what == BT_PARCEL_SYNCED || object->kind != BT_KIND_POD) {
		return;
	}
	uint64_t key = key_of(object);

	bt_lock_acquire(&r->lock);
	uint32_t ix = find(r, key, object, &before);

	if (ix != NONE) {
		drop(r, ix, before);
	}
	if (what == BT_PARCEL_APPLY && !has_ended(&object->pod)) {
		put(r, key, object);
	}
	bt_lock_release(&r->lock);
}

struct bt_watch_listener bt_pod_resources_listener(struct bt_pod_resources *resources)
{
	return (struct bt_watch_listener){.event = hear, .context = resources};
}

/* ---- writing ---- */

static const char *unit_of(const char *resource)
{
	struct bt_str name = bt_str(resource);

	if (bt_str_is(name, "cpu")) {
		return "cores";
	}
	if (bt_str_is(name, "memory") || bt_str_is(name, "storage") || bt_str_is(name, "ephemeral-storage") ||
		bt_str_starts(name, "hugepages-")) {
		return "bytes";
	}
	return bt_str_starts(name, "attachable-volumes-") ? "integer" : "";
}

static void write_pod(
	const struct bt_pod_resources *r, const struct pod *pod, bool limits, struct bt_exposition *x)
{
	const struct bt_buf *bytes = &r->sets[pod->sets[limits]].bytes;
	char priority[16] = "";

	if (pod->has_priority) {
		snprintf(priority, sizeof(priority), "%d", (int)pod->priority);
	}
	for (size_t at = 0; at < bytes->len;) {
		const char *name = bytes->ptr + at;
		double value;

		at += strlen(name) + 1;
		memcpy(&value, bytes->ptr + at, sizeof(value));
		at += sizeof(value);
		bt_expose_label(x, "namespace", part_of(pod, 0));
		bt_expose_label(x, "node", part_of(pod, 2));
		bt_expose_label(x, "pod", part_of(pod, 1));
		bt_expose_label(x, "priority", bt_str(priority));
		bt_expose_label(x, "resource", bt_str(name));
		bt_expose_label(x, "scheduler", part_of(pod, 3));
		bt_expose_label(x, "unit", bt_str(unit_of(name)));
		bt_expose_real(x, value);
	}
}

/* A pod that comes meanwhile is left to the next time: one that went and came again must not be there twice.
 */
static void write_family(struct bt_pod_resources *r, bool limits, struct bt_exposition *x)
{
	bt_lock_acquire(&r->lock);
	uint64_t last = r->born_n;

	for (size_t from = 0; from < r->pod_n; from += PODS_RUN) {
		for (size_t i = from; i < from + PODS_RUN && i < r->pod_n; i++) {
			if (r->pods[i] && r->pods[i]->born <= last) {
				write_pod(r, r->pods[i], limits, x);
			}
		}
		bt_lock_release(&r->lock);
		bt_lock_acquire(&r->lock);
	}
	bt_lock_release(&r->lock);
}

void bt_pod_resources_write(struct bt_pod_resources *r, struct bt_buf *out)
{
	struct bt_exposition x;

	bt_exposition_begin(&x, NULL, out);
	bt_expose(&x, "kube_pod_resource_limit", BT_METRIC_GAUGE,
		"[STABLE] Resources limit for workloads on the cluster, broken down by pod. This shows the "
		"resource usage the scheduler and kubelet expect per pod for resources along with the unit "
		"for the resource if any.");
	write_family(r, true, &x);
	bt_expose(&x, "kube_pod_resource_request", BT_METRIC_GAUGE,
		"[STABLE] Resources requested by workloads on the cluster, broken down by pod. This shows "
		"the resource usage the scheduler and kubelet expect per pod for resources along with the "
		"unit for the resource if any.");
	write_family(r, false, &x);
	bt_exposition_end(&x);
}
