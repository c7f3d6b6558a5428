/* SPDX-License-Identifier: Apache-2.0
 * createPods, deletePods, allocResourceClaims.
 * Source: executor.go, CreatePodWithPersistentVolume, v1.36.3.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/offline/bench/run_int.h"

/* Pods fed between two steps of the pipeline. */
#define FEED_N 64

/* Pods to be created, with their volumes. */
struct pod_batch {
	const struct bt_bench_op *op;
	uint32_t space, group;
	const struct bt_pod_object **objects; /* one, or one for each */
	bool varies, has_volumes;
	struct bt_object volume, claim; /* of which each pod gets one */
};

/* ---- making ---- */

static bool read_pods(struct bt_bench_run *run, const struct bt_spec *spec, struct pod_batch *batch)
{
	const struct bt_bench_op *op = batch->op;
	struct bt_arena *arena = &run->world.arena;

	batch->varies = bt_specs_varies(run->specs, spec);
	int64_t n = batch->varies ? op->count : 1;
	batch->objects = bt_arena_zalloc(arena, (size_t)n * sizeof(const struct bt_pod_object *) + 1);
	for (int64_t i = 0; i < n; i++) {
		const struct bt_spec_request request = {
			.spec = spec, .index = i, .count = op->count, .kind = BT_KIND_POD, .arena = arena};
		struct bt_spec_object made;

		if (!bt_bench_run_goes_on(run) || !bt_bench_run_object(run, &request, &made)) {
			return false;
		}
		struct bt_pod_object *pod = bt_arena_alloc(arena, sizeof(*pod), 16);
		*pod = made.object.pod;
		batch->objects[i] = pod;
	}
	return true;
}

static bool read_volume(
	struct bt_bench_run *run, struct bt_str path, enum bt_kind kind, struct bt_object *out)
{
	const struct bt_spec *spec = bt_bench_run_file(run, path);
	struct bt_spec_object made;

	if (!spec || !bt_bench_run_object(run,
			     &(struct bt_spec_request){
				     .spec = spec, .plain = true, .kind = kind, .arena = &run->world.arena},
			     &made)) {
		return false;
	}
	*out = made.object;
	return true;
}

/* Reads all files, so that nothing is read while the clock runs. */
static bool prepare(struct bt_bench_run *run, struct pod_batch *batch)
{
	const struct bt_bench_op *op = batch->op;
	struct bt_str path = op->pod_template.len ? op->pod_template : run->plan->test_case->pod_template;
	const struct bt_spec *spec = path.len ? bt_bench_run_file(run, path) : bt_specs_base_pod(run->specs);

	if (!spec || !read_pods(run, spec, batch)) {
		return false;
	}
	batch->has_volumes = op->claim_template.len > 0;
	return !batch->has_volumes ||
	       (read_volume(run, op->volume_template, BT_KIND_PERSISTENT_VOLUME, &batch->volume) &&
		       read_volume(run, op->claim_template, BT_KIND_PERSISTENT_VOLUME_CLAIM, &batch->claim));
}

/* Makes a claim and the volume that it is bound to. Returns: the claim's name. */
static struct bt_str make_volume(struct bt_bench_run *run, const struct pod_batch *batch, int64_t i)
{
	struct bt_world *world = &run->world;
	struct bt_str space = world->spaces[batch->space].name;
	struct bt_str claim_name = bt_world_text(world, "pvc-%lld", (long long)i);
	struct bt_str name = bt_world_text(world, "%.*s-vol-%lld", BT_STR_ARG(space), (long long)i);
	struct bt_object claim = batch->claim, volume = batch->volume;
	struct bt_volume_object *source = &volume.persistent_volume.source;

	claim.meta.name = claim_name;
	claim.meta.namespace_ = space;
	claim.claim.volume_name = name;
	claim.claim.phase = bt_str("Bound");
	volume.meta.name = name;
	volume.persistent_volume.has_claim = true;
	volume.persistent_volume.claim_namespace = space;
	volume.persistent_volume.claim_name = claim_name;
	volume.persistent_volume.phase = bt_str("Bound");
	if (source->type == BT_VOLUME_CSI_INLINE) {
		source->handle = name;
	} else if (source->type == BT_VOLUME_AWS_EBS) {
		source->source = bt_str_sub(name, space.len + 1, name.len);
	}
	bt_world_apply(world, &claim);
	bt_world_apply(world, &volume);
	return claim_name;
}

static const struct bt_pod_object *with_volume(
	struct bt_bench_run *run, const struct bt_pod_object *object, struct bt_str claim_name)
{
	struct bt_pod_object *own = bt_arena_alloc(&run->world.arena, sizeof(*own), 16);
	struct bt_volume_object *volume = bt_arena_zalloc(&run->world.arena, sizeof(*volume));

	*volume = (struct bt_volume_object){
		.name = BT_STR("vol"), .type = BT_VOLUME_CLAIM, .source = claim_name};
	*own = *object;
	own->spec.volumes = volume;
	own->spec.volume_n = 1;
	return own;
}

static bool make_pod(struct bt_bench_run *run, const struct pod_batch *batch, int64_t i)
{
	const struct bt_pod_object *object = batch->objects[batch->varies ? i : 0];
	struct bt_str why;

	if (batch->has_volumes) {
		object = with_volume(run, object, make_volume(run, batch, i));
	}
	if (bt_world_add_pod(&run->world, object, batch->space, batch->group, &why) == BT_NO_POD) {
		return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED, "createPods (line %zu): %.*s",
			batch->op->line, BT_STR_ARG(why));
	}
	return true;
}

static bool make_pods(struct bt_bench_run *run, struct pod_batch *batch)
{
	batch->group = ++run->world.group_n;
	for (int64_t i = 0; i < batch->op->count; i++) {
		if (!make_pod(run, batch, i)) {
			return false;
		}
		if (i % FEED_N == FEED_N - 1) {
			bt_bench_run_pump(run);
			if (!bt_bench_run_goes_on(run) || run->result->end != BT_BENCH_RUN_DONE) {
				return false;
			}
		}
	}
	return true;
}

/* ---- waiting ---- */

static bool all_placed(struct bt_bench_run *run, const void *context)
{
	const uint64_t *wanted = context;

	return run->world.wait.placed_n >= *wanted;
}

/* Waits until n pods of the group have been bound. */
static bool await_pods(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t group, uint64_t n)
{
	run->world.wait = (struct bt_world_watch){.group = group};
	bt_world_watch(&run->world, &run->world.wait);
	bool ok = bt_bench_run_until(run, op, all_placed, &n);
	run->world.wait.on = false;
	if (!ok && run->result->end == BT_BENCH_RUN_FAILED) {
		bt_buf_printf(&run->result->why, ": %llu of %llu pods have been bound",
			(unsigned long long)run->world.wait.placed_n, (unsigned long long)n);
	}
	return ok;
}

/*
 * Deletes all pods once all are bound, and creates them again, for the duration; the last ones stay.
 */
static bool make_steadily(struct bt_bench_run *run, struct pod_batch *batch)
{
	int64_t end_ns = bt_clock_monotonic_ns() + bt_bench_run_span(run, (double)batch->op->duration_ns);

	for (;;) {
		if (!make_pods(run, batch) ||
			!await_pods(run, batch->op, batch->group, (uint64_t)batch->op->count)) {
			return false;
		}
		if (bt_clock_monotonic_ns() >= end_ns) {
			return true;
		}
		/* Deletes all pods of the namespace, not only those created here. */
		for (size_t i = 0; i < run->world.pod_n; i++) {
			if (run->world.pods[i].space == batch->space &&
				run->world.pods[i].state != BT_WORLD_GONE) {
				bt_world_delete_pod(&run->world, (uint32_t)i, true);
			}
		}
	}
}

bool bt_bench_run_create_pods(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix)
{
	struct bt_str name =
		op->namespace_.len ? op->namespace_ : bt_world_text(&run->world, "namespace-%u", op_ix);
	struct pod_batch batch = {.op = op, .space = bt_world_namespace(&run->world, name, NULL)};

	if (!prepare(run, &batch) || (op->collects && !bt_bench_run_collect_begin(run, op, name))) {
		return false;
	}
	if (op->steady) {
		return make_steadily(run, &batch) && (!op->collects || bt_bench_run_collect_end(run, op));
	}
	if (!make_pods(run, &batch)) {
		return false;
	}
	if (op->no_wait) {
		run->world.spaces[batch.space].expected_n += (uint64_t)op->count;
		return true;
	}
	return await_pods(run, op, batch.group, (uint64_t)op->count) &&
	       (!op->collects || bt_bench_run_collect_end(run, op));
}

/* ---- deletePods ---- */

bool bt_bench_run_delete_again(struct bt_bench_run *run, struct bt_bench_run_timer *timer)
{
	bt_world_delete_pod(&run->world, timer->pods[timer->fired_n], false);
	return timer->fired_n + 1 < timer->pod_n;
}

static bool all_deleted(struct bt_bench_run *run, const void *context)
{
	const struct bt_bench_op *op = context;

	for (size_t i = 0; i < run->timer_n; i++) {
		if (run->timers[i].op == op && run->timers[i].next_ns != INT64_MAX) {
			return false;
		}
	}
	return true;
}

bool bt_bench_run_delete_pods(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	const struct bt_world_watch whom = {
		.spaces = (uint32_t[]){bt_world_namespace(&run->world, op->namespace_, NULL)},
		.space_n = 1,
		.labels = op->labels.n ? &op->labels : NULL,
	};
	bool at_once = op->per_second == 0;
	struct bt_bench_run_timer *timer =
		at_once ? NULL
			: bt_bench_run_add_timer(
				  run, op, bt_bench_run_span(run, 1e9 / (double)op->per_second));

	for (size_t i = 0; i < run->world.pod_n; i++) {
		if (run->world.pods[i].state == BT_WORLD_GONE ||
			!bt_world_watches(&whom, &run->world.pods[i])) {
			continue;
		}
		if (at_once) {
			bt_world_delete_pod(&run->world, (uint32_t)i, false);
		} else {
			timer->pods =
				bt_mem_grow(timer->pods, timer->pod_n, &timer->pod_cap, sizeof(*timer->pods));
			timer->pods[timer->pod_n++] = (uint32_t)i;
		}
	}
	if (timer && timer->pod_n == 0) {
		timer->next_ns = INT64_MAX;
	}
	return op->no_wait || at_once || bt_bench_run_until(run, op, all_deleted, op);
}

/* ---- allocResourceClaims ---- */

/*
 * Makes the engine allocate claims that no pod uses: creates a pod for each and deletes it after its
 * binding; the allocation stays.
 */
static const struct bt_pod_object *claimant(struct bt_bench_run *run, struct bt_str claim)
{
	struct bt_arena *arena = &run->world.arena;
	struct bt_pod_object *pod = bt_arena_zalloc(arena, sizeof(*pod));
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));
	struct bt_pod_claim_object *use = bt_arena_zalloc(arena, sizeof(*use));
	struct bt_toleration_object *any = bt_arena_zalloc(arena, sizeof(*any));

	container->name = container->image = bt_str("main");
	use->name = bt_str("claim");
	use->claim_name = claim;
	any->operator_ = bt_str("Exists");
	*pod = (struct bt_pod_object){
		.meta.generate_name = BT_STR("alloc-"),
		.spec = {.scheduler_name = BT_STR("default-scheduler"),
			.containers = container,
			.container_n = 1,
			.claims = use,
			.claim_n = 1,
			.tolerations = any,
			.toleration_n = 1,
			.termination_grace_s = 0,
			.has_termination_grace = true},
	};
	return pod;
}

bool bt_bench_run_alloc_claims(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	struct bt_world *world = &run->world;
	uint32_t group = ++world->group_n;
	uint64_t n = 0;
	struct bt_str why;

	for (size_t i = 0; i < world->claim_n; i++) {
		const struct bt_world_claim *claim = &world->claims[i];

		if (op->namespace_.len && !bt_str_eq(op->namespace_, claim->namespace_)) {
			continue;
		}
		bt_world_add_pod(world, claimant(run, claim->name),
			bt_world_namespace(world, claim->namespace_, NULL), group, &why);
		n++;
	}
	if (!await_pods(run, op, group, n)) {
		return false;
	}
	for (size_t i = 0; i < world->pod_n; i++) {
		if (world->pods[i].group == group) {
			bt_world_delete_pod(world, (uint32_t)i, true);
		}
	}
	while (bt_bench_run_pump(run)) {
	}
	return run->result->end == BT_BENCH_RUN_DONE;
}
