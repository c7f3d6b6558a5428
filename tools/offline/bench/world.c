/* SPDX-License-Identifier: Apache-2.0
 * The cluster of a workload.
 */
#include "tools/offline/bench/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/kube/objects/defaults.h"

#define UID_DIGITS 8

/* ---- names ---- */

/* Letters that make no words, as the API server has them. */
#define LETTERS	 "bcdfghjklmnpqrstvwxz2456789"
#define LETTER_N (sizeof(LETTERS) - 1)
#define SUFFIX_N UINT64_C(14348907) /* LETTER_N to the fifth */
#define STRIDE	 UINT64_C(8867531)  /* has no divisor in common with it */

struct bt_str bt_world_text(struct bt_world *world, const char *format, ...)
{
	va_list args;

	bt_buf_clear(&world->text);
	va_start(args, format);
	bt_buf_vprintf(&world->text, format, args);
	va_end(args);
	return (struct bt_str){
		bt_arena_copy(&world->arena, world->text.ptr, world->text.len), world->text.len};
}

struct bt_str bt_world_name(struct bt_world *world, struct bt_str prefix)
{
	uint64_t number = world->name_n++;
	uint64_t left = number / SUFFIX_N, mixed = number % SUFFIX_N * STRIDE % SUFFIX_N;
	char *name = bt_arena_alloc(&world->arena, prefix.len + 16, 1);
	size_t n = prefix.len;

	memcpy(name, prefix.len ? prefix.ptr : "", prefix.len);
	for (int i = 0; i < 5 || left; i++) {
		name[n++] = LETTERS[mixed % LETTER_N];
		mixed = i < 4 ? mixed / LETTER_N : left;
		left = i < 4 ? left : left / LETTER_N;
	}
	return (struct bt_str){name, n};
}

/* ---- feeding ---- */

static void feed(struct bt_world *world, struct bt_watch_event *watch_event)
{
	enum bt_status rc = bt_pipeline_feed(world->pipeline, 0, &watch_event, BT_FOREVER);
	BT_REQUIRE(rc == BT_OK);
}

void bt_world_apply(struct bt_world *world, const struct bt_object *object)
{
	struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_APPLY);

	watch_event->object = *object;
	feed(world, watch_event);
}

static uint64_t taken_key(enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	uint64_t space = bt_hash_bytes(namespace_.ptr, namespace_.len) * UINT64_C(0x9e3779b97f4a7c15);

	return (bt_hash_bytes(name.ptr, name.len) ^ space ^ (uint64_t)kind << 48) | 1;
}

bool bt_world_take_name(
	struct bt_world *world, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	uint64_t key = taken_key(kind, namespace_, name);
	uint32_t there;

	if (bt_map_get(&world->taken, key, &there)) {
		return false;
	}
	bt_map_put(&world->taken, key, 1);
	return true;
}

void bt_world_delete(struct bt_world *world, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_DELETE);

	bt_map_remove(&world->taken, taken_key(kind, namespace_, name));
	watch_event->object.kind = kind;
	watch_event->object.meta.namespace_ = namespace_;
	watch_event->object.meta.name = name;
	feed(world, watch_event);
}

void bt_world_add_node(struct bt_world *world, const struct bt_object *object)
{
	world->nodes = bt_mem_grow(world->nodes, world->node_n, &world->node_cap, sizeof(*world->nodes));
	world->nodes[world->node_n++] = object->meta.name;
	bt_world_apply(world, object);
}

/* The number of a namespace: it stays, whether the namespace exists or not. */
static uint32_t space_of(struct bt_world *world, struct bt_str name)
{
	for (uint32_t i = 0; i < world->space_n; i++) {
		if (bt_str_eq(world->spaces[i].name, name)) {
			return i;
		}
	}
	world->spaces = bt_mem_grow(world->spaces, world->space_n, &world->space_cap, sizeof(*world->spaces));
	world->spaces[world->space_n] =
		(struct bt_world_space){.name = {bt_arena_copy(&world->arena, name.ptr, name.len), name.len}};
	return (uint32_t)world->space_n++;
}

void bt_world_make_namespace(
	struct bt_world *world, struct bt_str name, const struct bt_namespace_object *template_)
{
	struct bt_object object = {
		.kind = BT_KIND_NAMESPACE, .api_version = BT_STR("v1"), .kind_name = BT_STR("Namespace")};
	uint32_t space = space_of(world, name);

	if (template_) {
		object.namespace_ = *template_;
	}
	object.meta.name = world->spaces[space].name;
	bt_defaults_scheme(&object, &world->arena);
	bt_world_apply(world, &object);
}

uint32_t bt_world_namespace(
	struct bt_world *world, struct bt_str name, const struct bt_namespace_object *template_)
{
	if (bt_world_take_name(world, BT_KIND_NAMESPACE, (struct bt_str){.len = 0}, name)) {
		bt_world_make_namespace(world, name, template_);
	}
	return space_of(world, name);
}

/* ---- pods ---- */

static uint64_t name_key(uint32_t space, struct bt_str name)
{
	return (bt_hash_bytes(name.ptr, name.len) ^ (uint64_t)space * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static void feed_pod(struct bt_world *world, uint32_t number, enum bt_watch_event_kind kind)
{
	const struct bt_world_pod *pod = &world->pods[number];
	struct bt_watch_event *watch_event = bt_watch_event_create(kind);
	struct bt_meta_object *meta = &watch_event->object.meta;

	watch_event->object = (struct bt_object){
		.kind = BT_KIND_POD, .api_version = BT_STR("v1"), .kind_name = BT_STR("Pod")};
	watch_event->object.pod = *pod->object;
	meta->name = pod->name;
	meta->namespace_ = world->spaces[pod->space].name;
	meta->uid = pod->uid;
	meta->creation_ns = pod->creation_ns;
	if (pod->leaving) {
		meta->deletion_ns = pod->creation_ns;
	}
	if (pod->state == BT_WORLD_BOUND) {
		const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(world->pipeline));
		uint32_t ix =
			bt_engine_find_pod(bt_pipeline_engine(world->pipeline), meta->namespace_, meta->name);
		uint32_t node_ix = ix == BT_NO_POD ? BT_NO_NODE : bt_ledger_pod(cache->ledger, ix)->node_ix;

		if (node_ix != BT_NO_NODE) {
			watch_event->object.pod.spec.node_name = bt_intern_str(
				cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
		}
	}
	feed(world, watch_event);
}

static const struct bt_object *find_template(
	const struct bt_world *world, struct bt_str namespace_, struct bt_str name)
{
	for (size_t i = world->template_n; i-- > 0;) {
		const struct bt_world_template *template_ = &world->templates[i];

		if (bt_str_eq(template_->name, name) && bt_str_eq(template_->namespace_, namespace_)) {
			return template_->claim;
		}
	}
	return NULL;
}

/* The name of the claim that the controller makes for a pod. */
static struct bt_str claim_name(struct bt_world *world, const struct bt_world_pod *pod, struct bt_str claim)
{
	return bt_world_text(
		world, "%.*s-%.*s-%.*s", BT_STR_ARG(pod->name), BT_STR_ARG(claim), BT_STR_ARG(pod->uid));
}

static void make_claim(struct bt_world *world, const struct bt_world_pod *pod, const struct bt_object *from,
	struct bt_str name)
{
	struct bt_owner_object *owner = bt_arena_zalloc(&world->arena, sizeof(*owner));
	struct bt_object claim = *from;

	*owner = (struct bt_owner_object){.api_version = BT_STR("v1"),
		.kind = BT_STR("Pod"),
		.name = pod->name,
		.uid = pod->uid,
		.controller = true};
	claim.meta = (struct bt_meta_object){
		.name = name, .namespace_ = world->spaces[pod->space].name, .owners = owner, .owner_n = 1};
	bt_world_apply(world, &claim);
}

/* Makes the claims that a pod's templates call for, and notes them in its status. Returns: false when
 * there is no such template. */
static bool make_claims(struct bt_world *world, struct bt_world_pod *pod, struct bt_str *out_why)
{
	const struct bt_pod_spec_object *spec = &pod->object->spec;
	struct bt_pod_claim_object *statuses = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < spec->claim_n; i++) {
		const struct bt_pod_claim_object *claim = &spec->claims[i];

		if (claim->template_name.len == 0) {
			continue;
		}
		const struct bt_object *from =
			find_template(world, world->spaces[pod->space].name, claim->template_name);
		if (!from) {
			*out_why = bt_world_text(world, "namespace %.*s has no ResourceClaimTemplate %.*s",
				BT_STR_ARG(world->spaces[pod->space].name), BT_STR_ARG(claim->template_name));
			return false;
		}
		statuses = statuses ? statuses
				    : bt_arena_zalloc(&world->arena, spec->claim_n * sizeof(*statuses));
		statuses[n] = (struct bt_pod_claim_object){
			.name = claim->name, .claim_name = claim_name(world, pod, claim->name)};
		make_claim(world, pod, from, statuses[n++].claim_name);
	}
	if (n) {
		struct bt_pod_object *own = bt_arena_alloc(&world->arena, sizeof(*own), 16);

		*own = *pod->object;
		own->claim_statuses = statuses;
		own->claim_status_n = n;
		pod->object = own;
	}
	return true;
}

static void delete_claims(struct bt_world *world, const struct bt_world_pod *pod)
{
	for (uint32_t i = 0; i < pod->object->claim_status_n; i++) {
		bt_world_delete(world, BT_KIND_RESOURCE_CLAIM, world->spaces[pod->space].name,
			pod->object->claim_statuses[i].claim_name);
	}
}

uint32_t bt_world_add_pod(struct bt_world *world, const struct bt_pod_object *object, uint32_t space,
	uint32_t group, struct bt_str *out_why)
{
	uint32_t number = (uint32_t)world->pod_n;
	struct bt_str name = object->meta.name;

	if (name.len && bt_world_find_pod(world, space, name) != BT_NO_POD) {
		*out_why = bt_world_text(world, "namespace %.*s has a pod %.*s already",
			BT_STR_ARG(world->spaces[space].name), BT_STR_ARG(name));
		return BT_NO_POD;
	}
	char *uid = bt_arena_alloc(&world->arena, UID_DIGITS + 1, 1);
	snprintf(uid, UID_DIGITS + 1, "%08x", number);
	world->pods = bt_mem_grow(world->pods, world->pod_n, &world->pod_cap, sizeof(*world->pods));
	struct bt_world_pod *pod = &world->pods[world->pod_n++];
	*pod = (struct bt_world_pod){
		.object = object,
		.name = name.len ? name : bt_world_name(world, object->meta.generate_name),
		.uid = {uid, UID_DIGITS},
		.space = space,
		.group = group,
		.state = object->spec.scheduling_gates.n ? BT_WORLD_TRIED : BT_WORLD_WAITING,
		.creation_ns = bt_clock_real().now_ns(NULL),
	};
	if (name.len) {
		bt_map_put(&world->named, name_key(space, name), number + 1);
	}
	if (object->spec.claim_n && !make_claims(world, pod, out_why)) {
		pod->state = BT_WORLD_GONE;
		return BT_NO_POD;
	}
	feed_pod(world, number, BT_WATCH_EVENT_APPLY);
	return number;
}

uint32_t bt_world_find_pod(const struct bt_world *world, uint32_t space, struct bt_str name)
{
	uint32_t number;

	if (!bt_map_get(&world->named, name_key(space, name), &number) ||
		world->pods[number - 1].state == BT_WORLD_GONE) {
		return BT_NO_POD;
	}
	return number - 1;
}

void bt_world_update_pod(struct bt_world *world, uint32_t number, const struct bt_pod_object *object)
{
	struct bt_world_pod *pod = &world->pods[number];
	struct bt_pod_object *own = bt_arena_alloc(&world->arena, sizeof(*own), 16);

	*own = *object;
	own->claim_statuses = pod->object->claim_statuses;
	own->claim_status_n = pod->object->claim_status_n;
	pod->object = own;
	feed_pod(world, number, BT_WATCH_EVENT_APPLY);
}

/* ---- watching ---- */

static bool has_labels(const struct bt_str_map *labels, const struct bt_str_map *wanted)
{
	for (uint32_t i = 0; i < wanted->n; i++) {
		bool found = false;

		for (uint32_t j = 0; j < labels->n && !found; j++) {
			found = bt_str_eq(labels->items[j].key, wanted->items[i].key) &&
				bt_str_eq(labels->items[j].value, wanted->items[i].value);
		}
		if (!found) {
			return false;
		}
	}
	return true;
}

bool bt_world_watches(const struct bt_world_watch *watch, const struct bt_world_pod *pod)
{
	bool here = watch->spaces == NULL;

	for (uint32_t i = 0; i < watch->space_n && !here; i++) {
		here = watch->spaces[i] == pod->space;
	}
	return here && (watch->group == 0 || watch->group == pod->group) &&
	       (!watch->labels || has_labels(&pod->object->meta.labels, watch->labels));
}

static bool is_tried(enum bt_world_state state)
{
	return state == BT_WORLD_TRIED || state == BT_WORLD_BOUND;
}

static void world_count(struct bt_world_watch *watch, const struct bt_world_pod *pod, enum bt_world_state to)
{
	if (!watch->on || !bt_world_watches(watch, pod)) {
		return;
	}
	watch->tried_n += (uint64_t)is_tried(to) - (uint64_t)is_tried(pod->state);
	watch->bound_n += (uint64_t)(to == BT_WORLD_BOUND) - (uint64_t)(pod->state == BT_WORLD_BOUND);
	watch->placed_n += to == BT_WORLD_BOUND;
}

void bt_world_watch(struct bt_world *world, struct bt_world_watch *watch)
{
	watch->tried_n = watch->bound_n = watch->placed_n = 0;
	for (size_t i = 0; i < world->pod_n; i++) {
		const struct bt_world_pod *pod = &world->pods[i];

		if (bt_world_watches(watch, pod)) {
			watch->tried_n += is_tried(pod->state);
			watch->bound_n += pod->state == BT_WORLD_BOUND;
			watch->placed_n += pod->was_bound;
		}
	}
	watch->on = true;
}

static void world_enter(struct bt_world *world, struct bt_world_pod *pod, enum bt_world_state to)
{
	world_count(&world->wait, pod, to);
	world_count(&world->collector, pod, to);
	pod->was_bound |= to == BT_WORLD_BOUND;
	pod->state = to;
}

void bt_world_delete_pod(struct bt_world *world, uint32_t number, bool now)
{
	struct bt_world_pod *pod = &world->pods[number];
	const struct bt_pod_object *object = pod->object;
	bool has_time = !now && (!object->spec.has_termination_grace || object->spec.termination_grace_s > 0);

	if (pod->state == BT_WORLD_GONE) {
		return;
	}
	world->counts.deleted_n++;
	if (object->meta.finalizers.n || (pod->state == BT_WORLD_BOUND && has_time)) {
		if (!pod->leaving) {
			pod->leaving = true;
			feed_pod(world, number, BT_WATCH_EVENT_APPLY);
		}
		return;
	}
	world_enter(world, pod, BT_WORLD_GONE);
	feed_pod(world, number, BT_WATCH_EVENT_DELETE);
	delete_claims(world, pod);
}

/* ---- pipeline callbacks ---- */

static struct bt_world_pod *pod_of(struct bt_world *world, struct bt_str uid)
{
	uint32_t number = 0;

	for (size_t i = 0; i < uid.len; i++) {
		char c = uid.ptr[i];

		number = number * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	BT_REQUIRE(uid.len == UID_DIGITS && number < world->pod_n);
	return &world->pods[number];
}

/* As the API server: a pod that is being deleted, or was deleted, cannot be bound. */
static void bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct bt_world *world = context;
	struct bt_world_pod *pod = pod_of(world, request->pod.uid);

	if (pod->state == BT_WORLD_GONE || pod->leaving) {
		(void)bt_pipeline_bind_failed(pipeline, request->handle, bt_str("the pod is being deleted"));
		return;
	}
	BT_REQUIRE(pod->state != BT_WORLD_BOUND);
	world->counts.bound_n++;
	world_enter(world, pod, BT_WORLD_BOUND);
	(void)bt_pipeline_bound(pipeline, request->handle);
}

static void evict(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct bt_world *world = context;

	world->evicted =
		bt_mem_grow(world->evicted, world->evicted_n, &world->evicted_cap, sizeof(*world->evicted));
	world->evicted[world->evicted_n++] = (uint32_t)(pod_of(world, request->pod.uid) - world->pods);
	world->counts.evicted_n++;
	(void)bt_pipeline_evicted(pipeline, request->handle);
}

struct bt_pipeline_binder bt_world_binder(struct bt_world *world)
{
	return (struct bt_pipeline_binder){.bind = bind, .evict = evict, .context = world};
}

static void decided(void *context, const struct bt_pipeline_decision *decision)
{
	struct bt_world *world = context;

	if (BT_LIKELY(decision->outcome == BT_PLACED)) {
		return;
	}
	struct bt_world_pod *pod = pod_of(world, decision->pod.uid);
	world->counts.refused_n += decision->outcome == BT_REFUSED;
	world->counts.failed_n += decision->outcome == BT_FAILED;
	world->counts.preemption_n += decision->nominated.len > 0;
	if (pod->state == BT_WORLD_WAITING) {
		world_enter(world, pod, BT_WORLD_TRIED);
	}
}

struct bt_pipeline_sink bt_world_sink(struct bt_world *world)
{
	return (struct bt_pipeline_sink){.decided = decided, .context = world};
}

/* Applies fed objects and completed bindings, and handles requests, once. */
static bool settle(struct bt_world *world)
{
	struct bt_pipeline *pipeline = world->pipeline;
	bool did = world->evicted_n > 0;

	for (size_t i = 0; i < world->evicted_n; i++) {
		bt_world_delete_pod(world, world->evicted[i], false);
	}
	world->evicted_n = 0;
	did |= bt_pipeline_ingest_step(pipeline, 0);
	did |= bt_pipeline_publish_step(pipeline);
	did |= bt_pipeline_answer_step(pipeline);
	did |= bt_pipeline_apply_step(pipeline);
	while (bt_pipeline_bind_step(pipeline, 0)) {
		did = true;
	}
	return did;
}

bool bt_world_step(struct bt_world *world)
{
	bool did = false;

	/* The API server is instantaneous here: pods are scheduled after the effects of earlier ones. */
	while (settle(world)) {
		did = true;
	}
	return bt_pipeline_schedule_step(world->pipeline) || did;
}

void bt_world_fini(struct bt_world *world)
{
	bt_mem_free(world->pods);
	bt_map_fini(&world->named);
	bt_map_fini(&world->taken);
	bt_mem_free(world->spaces);
	bt_mem_free(world->nodes);
	bt_mem_free(world->templates);
	bt_mem_free(world->claims);
	bt_mem_free(world->evicted);
	bt_buf_fini(&world->text);
	bt_arena_fini(&world->arena);
	*world = (struct bt_world){.pipeline = NULL};
}
