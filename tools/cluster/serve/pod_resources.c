/* SPDX-License-Identifier: Apache-2.0
 * Requests and limits of pods. A lock guards everything; it is released periodically while metrics are
 * written.
 */
#include "tools/cluster/serve/pod_resources.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/cluster/serve/exposition.h"

#define NONE	 UINT32_MAX
#define PODS_RUN 1000 /* pods written per lock acquisition */

/* ---- sums ---- */

/* Amounts by name. Names are the objects'. */
struct pod_resources_sum {
	struct bt_named_quantity *items;
	size_t n, cap;
};

static struct bt_quantity *amount_of(struct pod_resources_sum *sum, struct bt_str name)
{
	for (size_t i = 0; i < sum->n; i++) {
		if (bt_str_eq(sum->items[i].name, name)) {
			return &sum->items[i].quantity;
		}
	}
	return NULL;
}

static struct bt_quantity *pod_resources_enter(struct pod_resources_sum *sum, struct bt_str name)
{
	struct bt_quantity *known = amount_of(sum, name);

	if (known) {
		return known;
	}
	sum->items = bt_mem_grow(sum->items, sum->n, &sum->cap, sizeof(*sum->items));
	sum->items[sum->n] = (struct bt_named_quantity){.name = name};
	return &sum->items[sum->n++].quantity;
}

static void pod_resources_add(struct pod_resources_sum *sum, const struct bt_named_quantity *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct bt_quantity *amount = pod_resources_enter(sum, items[i].name);

		*amount = bt_quantity_add(*amount, items[i].quantity);
	}
}

static void raise_to(struct pod_resources_sum *sum, const struct pod_resources_sum *other)
{
	for (size_t i = 0; i < other->n; i++) {
		struct bt_quantity *amount = pod_resources_enter(sum, other->items[i].name);

		if (bt_quantity_cmp(other->items[i].quantity, *amount) > 0) {
			*amount = other->items[i].quantity;
		}
	}
}

static const struct bt_resource_list *list_of(const struct bt_requirements_object *of, bool limits)
{
	return limits ? &of->limits : &of->requests;
}

/* Containers add up; init containers run one after the other, with the sidecars before them. */
static void add_containers(
	const struct bt_pod_spec_object *spec, bool limits, struct pod_resources_sum *total)
{
	struct pod_resources_sum sidecars = {0}, most = {0}, one = {0};

	for (uint32_t i = 0; i < spec->container_n; i++) {
		const struct bt_resource_list *list = list_of(&spec->containers[i].resources, limits);

		pod_resources_add(total, list->items, list->n);
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		const struct bt_container_object *container = &spec->init_containers[i];
		const struct bt_resource_list *list = list_of(&container->resources, limits);

		if (bt_str_is(container->restart_policy, "Always")) {
			pod_resources_add(total, list->items, list->n);
			pod_resources_add(&sidecars, list->items, list->n);
			raise_to(&most, &sidecars);
		} else {
			one.n = 0;
			pod_resources_add(&one, list->items, list->n);
			pod_resources_add(&one, sidecars.items, sidecars.n);
			raise_to(&most, &one);
		}
	}
	raise_to(total, &most);
	bt_mem_free(sidecars.items);
	bt_mem_free(most.items);
	bt_mem_free(one.items);
}

static void replace_by_pod_level(const struct bt_resource_list *level, struct pod_resources_sum *total)
{
	for (uint32_t i = 0; i < level->n; i++) {
		struct bt_str name = level->items[i].name;

		if (bt_str_is(name, "cpu") || bt_str_is(name, "memory") ||
			bt_str_starts(name, "hugepages-")) {
			*pod_resources_enter(total, name) = level->items[i].quantity;
		}
	}
}

/* Overhead is added to every request, but to limits only where there is one. */
static void sum_up(const struct bt_pod_spec_object *spec, bool limits, struct pod_resources_sum *out)
{
	out->n = 0;
	add_containers(spec, limits, out);
	replace_by_pod_level(list_of(&spec->resources, limits), out);
	for (uint32_t i = 0; i < spec->overhead.n; i++) {
		struct bt_quantity *amount = limits ? amount_of(out, spec->overhead.items[i].name)
						    : pod_resources_enter(out, spec->overhead.items[i].name);

		if (amount && (!limits || amount->nano != 0)) {
			*amount = bt_quantity_add(*amount, spec->overhead.items[i].quantity);
		}
	}
}

/* ---- pods and sums ---- */

struct pod {
	uint64_t born; /* the number of the entry; 0: vacant */
	uint32_t next; /* of those with the same key */
	uint32_t namespace_, name, node, scheduler;
	uint32_t sums[2]; /* requests, limits: names, of serialize's output */
	int32_t priority;
	bool has_priority;
};

static_assert(sizeof(struct pod) == 48, "there is one a pod");

struct bt_pod_resources {
	struct bt_intern *names; /* init: the pointer */
	struct bt_lock lock;
	/* lock(lock): from here on */
	struct pod *pods;
	size_t pod_n, pod_cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
	struct bt_map pod_ixs; /* by key: the first pod */
	uint64_t born_n;
	struct pod_resources_sum sum; /* scratch */
	struct bt_buf bytes;
};

struct bt_pod_resources *bt_pod_resources_create(struct bt_intern *names)
{
	struct bt_pod_resources *r = bt_mem_zalloc(1, sizeof(*r));

	r->names = names;
	bt_lock_init(&r->lock);
	return r;
}

static void release_names(const struct bt_pod_resources *r, const struct pod *pod)
{
	const uint32_t names[] = {
		pod->namespace_, pod->name, pod->node, pod->scheduler, pod->sums[0], pod->sums[1]};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bt_intern_release(r->names, names[i]);
	}
}

void bt_pod_resources_destroy(struct bt_pod_resources *r)
{
	if (!r) {
		return;
	}
	for (size_t i = 0; i < r->pod_n; i++) {
		release_names(r, &r->pods[i]);
	}
	bt_mem_free(r->pods);
	bt_mem_free(r->vacant);
	bt_map_fini(&r->pod_ixs);
	bt_mem_free(r->sum.items);
	bt_buf_fini(&r->bytes);
	bt_lock_fini(&r->lock);
	bt_mem_free(r);
}

/* For each nonzero amount its name, a NUL, and a double. */
static void serialize(const struct pod_resources_sum *sum, struct bt_buf *out)
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

/* ---- pods ---- */

static uint64_t pod_resources_key_of(const struct bt_object *object)
{
	struct bt_str namespace_ = object->meta.namespace_, name = object->meta.name;
	uint64_t key = bt_hash_str(namespace_);

	return bt_hash_u64(key) ^ bt_hash_str(name);
}

static struct bt_str pod_resources_text_of(const struct bt_pod_resources *r, uint32_t name)
{
	return bt_intern_str(r->names, name);
}

/* The pod's index, and the one before it with the same key; NONE: not found. */
static uint32_t pod_resources_find(
	const struct bt_pod_resources *r, uint64_t key, const struct bt_object *object, uint32_t *out_before)
{
	uint32_t ix = NONE;

	*out_before = NONE;
	if (!bt_map_get(&r->pod_ixs, key, &ix)) {
		return NONE;
	}
	while (ix != NONE &&
		!(bt_str_eq(pod_resources_text_of(r, r->pods[ix].namespace_), object->meta.namespace_) &&
			bt_str_eq(pod_resources_text_of(r, r->pods[ix].name), object->meta.name))) {
		*out_before = ix;
		ix = r->pods[ix].next;
	}
	return ix;
}

static void drop(struct bt_pod_resources *r, uint64_t key, uint32_t ix, uint32_t before)
{
	struct pod *pod = &r->pods[ix];

	if (before != NONE) {
		r->pods[before].next = pod->next;
	} else if (pod->next != NONE) {
		bt_map_put(&r->pod_ixs, key, pod->next);
	} else {
		bt_map_remove(&r->pod_ixs, key);
	}
	release_names(r, pod);
	*pod = (struct pod){.born = 0};
	r->vacant = bt_mem_grow(r->vacant, r->vacant_n, &r->vacant_cap, sizeof(*r->vacant));
	r->vacant[r->vacant_n++] = ix;
}

static void pod_resources_put(struct bt_pod_resources *r, uint64_t key, const struct bt_object *object)
{
	const struct bt_pod_spec_object *spec = &object->pod.spec;
	struct pod pod = {.born = ++r->born_n,
		.next = NONE,
		.namespace_ = bt_intern_hold(r->names, object->meta.namespace_),
		.name = bt_intern_hold(r->names, object->meta.name),
		.node = bt_intern_hold(r->names, spec->node_name),
		.scheduler = bt_intern_hold(r->names, spec->scheduler_name),
		.priority = spec->priority,
		.has_priority = spec->has_priority};
	uint32_t ix;

	for (int limits = 0; limits < 2; limits++) {
		sum_up(spec, limits, &r->sum);
		serialize(&r->sum, &r->bytes);
		pod.sums[limits] = bt_intern_hold(r->names, bt_buf_view(&r->bytes));
	}
	if (r->vacant_n) {
		ix = r->vacant[--r->vacant_n];
	} else {
		r->pods = bt_mem_grow(r->pods, r->pod_n, &r->pod_cap, sizeof(*r->pods));
		ix = (uint32_t)r->pod_n++;
	}
	bt_map_get(&r->pod_ixs, key, &pod.next);
	BT_REQUIRE(pod.next != ix);
	bt_map_put(&r->pod_ixs, key, ix);
	r->pods[ix] = pod;
}

/* Pods that have ended do not count. */
static bool has_ended(const struct bt_pod_object *pod)
{
	return pod->spec.node_name.len &&
	       (bt_str_is(pod->phase, "Succeeded") || bt_str_is(pod->phase, "Failed"));
}

static void on_pod_event(void *context, enum bt_watch_event_kind what, const struct bt_object *object)
{
	struct bt_pod_resources *r = context;
	uint32_t before;

	if (what == BT_WATCH_EVENT_SYNCED || object->kind != BT_KIND_POD) {
		return;
	}
	uint64_t key = pod_resources_key_of(object);

	bt_lock_acquire(&r->lock);
	uint32_t ix = pod_resources_find(r, key, object, &before);

	if (ix != NONE) {
		drop(r, key, ix, before);
	}
	if (what == BT_WATCH_EVENT_APPLY && !has_ended(&object->pod)) {
		pod_resources_put(r, key, object);
	}
	bt_lock_release(&r->lock);
}

struct bt_watch_listener bt_pod_resources_listener(struct bt_pod_resources *resources)
{
	return (struct bt_watch_listener){.event = on_pod_event, .context = resources};
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
	struct bt_str bytes = pod_resources_text_of(r, pod->sums[limits]);
	char priority[16] = "";

	if (pod->has_priority) {
		snprintf(priority, sizeof(priority), "%d", (int)pod->priority);
	}
	for (size_t at = 0; at < bytes.len;) {
		const char *name = bytes.ptr + at;
		double value;

		at += strlen(name) + 1;
		memcpy(&value, bytes.ptr + at, sizeof(value));
		at += sizeof(value);
		bt_expose_label(x, "namespace", pod_resources_text_of(r, pod->namespace_));
		bt_expose_label(x, "node", pod_resources_text_of(r, pod->node));
		bt_expose_label(x, "pod", pod_resources_text_of(r, pod->name));
		bt_expose_label(x, "priority", bt_str(priority));
		bt_expose_label(x, "resource", bt_str(name));
		bt_expose_label(x, "scheduler", pod_resources_text_of(r, pod->scheduler));
		bt_expose_label(x, "unit", bt_str(unit_of(name)));
		bt_expose_real(x, value);
	}
}

/* A pod that is added meanwhile is left to the next scrape: one that was deleted and recreated must not
 * appear twice. */
static void write_family(struct bt_pod_resources *r, bool limits, struct bt_exposition *x)
{
	bt_lock_acquire(&r->lock);
	uint64_t last = r->born_n;

	for (size_t from = 0; from < r->pod_n; from += PODS_RUN) {
		for (size_t i = from; i < from + PODS_RUN && i < r->pod_n; i++) {
			if (r->pods[i].born && r->pods[i].born <= last) {
				write_pod(r, &r->pods[i], limits, x);
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
