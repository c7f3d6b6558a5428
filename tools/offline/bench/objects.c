/* SPDX-License-Identifier: Apache-2.0
 * createAny, createResourceClaims, updateAny, churn; and the check that reads all files without running.
 * Source: operations.go, update.go, executor.go, v1.36.3.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/offline/bench/run_int.h"
#include "tools/kube/config/config_decode.h"

const struct bt_spec *bt_bench_run_file(struct bt_bench_run *run, struct bt_str path)
{
	return bt_specs_file(run->specs, run->plan->file->folder, path);
}

bool bt_bench_run_object(
	struct bt_bench_run *run, const struct bt_spec_request *request, struct bt_spec_object *out)
{
	return bt_specs_object(run->specs, request, out) == BT_OK;
}

/* ---- kinds ---- */

/* Kinds that exist in a cluster and that no decision depends on. */
static bool is_harmless(struct bt_str kind)
{
	static const char *const kinds[] = {"ConfigMap", "Secret", "ServiceAccount", "Endpoints",
		"EndpointSlice", "Event", "Lease", "LimitRange", "ResourceQuota", "Role", "RoleBinding",
		"ClusterRole", "ClusterRoleBinding", "NetworkPolicy", "Ingress"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (bt_str_is(kind, kinds[i])) {
			return true;
		}
	}
	return false;
}

/* Are objects of this kind supported? If not, reports why. */
static bool bench_knows(const struct bt_spec_object *object, struct bt_buf *out_why)
{
	struct bt_str kind = object->object.kind_name;

	switch (bt_kind_store(object->object.kind)) {
	case BT_STORE_NONE:
		if (is_harmless(kind)) {
			return true;
		}
		break;
	case BT_STORE_EXPANDED:
		break;
	default:
		return true;
	}
	bt_buf_printf(out_why,
		"berth does nothing with %.*s %.*s: there is no controller in a benchmark, and the scheduler "
		"does "
		"not look at it",
		BT_STR_ARG(object->object.api_version), BT_STR_ARG(kind));
	return false;
}

/* Does the operation have a namespace for a cluster-scoped object, or none for a namespaced one? */
static bool fits_space(
	const struct bt_bench_op *op, const struct bt_spec_object *object, struct bt_buf *out_why)
{
	bool namespaced = object->namespaced || object->claim_template;

	if (object->object.kind == BT_KIND_OTHER || op->kind == BT_BENCH_OP_CHURN ||
		namespaced == (op->namespace_.len > 0)) {
		return true;
	}
	bt_buf_printf(out_why, "%s (line %zu): %.*s %s", bt_bench_op_word(op->kind), op->line,
		BT_STR_ARG(object->object.kind_name),
		namespaced ? "needs a namespace" : "belongs to no namespace, but one is given");
	return false;
}

/* ---- creating ---- */

static void note_claim(struct bt_world *world, const struct bt_object *object)
{
	world->claims = bt_mem_grow(world->claims, world->claim_n, &world->claim_cap, sizeof(*world->claims));
	world->claims[world->claim_n++] = (struct bt_world_claim){object->meta.namespace_, object->meta.name};
}

static void note_template(struct bt_world *world, const struct bt_object *claim)
{
	struct bt_object *own = bt_arena_alloc(&world->arena, sizeof(*own), 16);

	*own = *claim;
	world->templates = bt_mem_grow(
		world->templates, world->template_n, &world->template_cap, sizeof(*world->templates));
	world->templates[world->template_n++] =
		(struct bt_world_template){claim->meta.namespace_, claim->meta.name, own};
}

static bool enter_pod(struct bt_bench_run *run, const struct bt_bench_op *op, const struct bt_object *object,
	struct bt_churned *out)
{
	uint32_t space = bt_world_namespace(&run->world, object->meta.namespace_, NULL);
	struct bt_pod_object *own = bt_arena_alloc(&run->world.arena, sizeof(*own), 16);
	struct bt_str why;

	if (op->kind == BT_BENCH_OP_CHURN && object->meta.name.len &&
		bt_world_find_pod(&run->world, space, object->meta.name) != BT_NO_POD) {
		return true;
	}
	*own = object->pod;
	out->pod = bt_world_add_pod(&run->world, own, space, 0, &why);
	return out->pod != BT_NO_POD || bt_bench_run_fail(run, BT_BENCH_RUN_FAILED, "%s (line %zu): %.*s",
						bt_bench_op_word(op->kind), op->line, BT_STR_ARG(why));
}

bool bt_bench_run_name_is_free(
	struct bt_bench_run *run, const struct bt_bench_op *op, const struct bt_object *object)
{
	return bt_world_take_name(&run->world, object->kind, object->meta.namespace_, object->meta.name) ||
	       bt_bench_run_fail(run, BT_BENCH_RUN_FAILED,
		       "%s (line %zu): there is a %.*s %.*s already; objects that are several need "
		       "generateName, or {{.Index}} in their names",
		       bt_bench_op_word(op->kind), op->line, BT_STR_ARG(object->kind_name),
		       BT_STR_ARG(object->meta.name));
}

/* Returns: false when another object has the name: churn does not make it then, as upstream; else the run has
 * ended. */
static bool give_name(struct bt_bench_run *run, const struct bt_bench_op *op,
	const struct bt_spec_object *from, struct bt_object *object)
{
	if (object->meta.name.len == 0) {
		object->meta.name = bt_world_name(&run->world, object->meta.generate_name);
		return true;
	}
	if (object->kind == BT_KIND_OTHER || from->claim_template) {
		return true;
	}
	return op->kind == BT_BENCH_OP_CHURN ? bt_world_take_name(&run->world, object->kind,
						       object->meta.namespace_, object->meta.name)
					     : bt_bench_run_name_is_free(run, op, object);
}

/* Makes an object of createAny or churn in the world, under its name. */
static bool bench_enter(struct bt_bench_run *run, const struct bt_bench_op *op,
	const struct bt_spec_object *from, struct bt_churned *out)
{
	struct bt_world *world = &run->world;
	struct bt_object object = from->object;

	*out = (struct bt_churned){.pod = BT_NO_POD};
	if (from->namespaced || from->claim_template) {
		object.meta.namespace_ = op->namespace_;
		bt_world_namespace(world, op->namespace_, NULL);
	}
	if (object.kind == BT_KIND_POD) {
		return enter_pod(run, op, &object, out);
	}
	if (!give_name(run, op, from, &object)) {
		return run->result->end == BT_BENCH_RUN_DONE;
	}
	out->name = object.meta.name;
	if (from->claim_template) {
		note_template(world, &object);
	} else if (object.kind == BT_KIND_NAMESPACE) {
		bt_world_make_namespace(world, object.meta.name, &object.namespace_);
	} else if (object.kind == BT_KIND_NODE && op->kind != BT_BENCH_OP_CHURN) {
		bt_world_add_node(world, &object);
	} else if (object.kind != BT_KIND_OTHER) {
		if (object.kind == BT_KIND_RESOURCE_CLAIM) {
			note_claim(world, &object);
		}
		bt_world_apply(world, &object);
	}
	return true;
}

/* Reads the index-th object of createAny or updateAny. */
static bool read_any(
	struct bt_bench_run *run, const struct bt_bench_op *op, int64_t index, struct bt_spec_object *out)
{
	const struct bt_spec *spec = bt_bench_run_file(run, op->template_path);
	struct bt_buf why = {0};

	if (!spec || !bt_bench_run_object(run,
			     &(struct bt_spec_request){.spec = spec,
				     .plain = op->kind == BT_BENCH_OP_CREATE_CLAIMS,
				     .index = index,
				     .count = op->count,
				     .kind = op->kind == BT_BENCH_OP_CREATE_CLAIMS ? BT_KIND_RESOURCE_CLAIM
										   : BT_KIND_OTHER,
				     .arena = &run->world.arena},
			     out)) {
		return false;
	}
	if (!bench_knows(out, &why)) {
		bt_bench_run_fail(run, BT_BENCH_RUN_UNSUPPORTED, "%s (line %zu): %s",
			bt_bench_op_word(op->kind), op->line, why.ptr);
	} else if (!fits_space(op, out, &why)) {
		bt_bench_run_fail(run, BT_BENCH_RUN_FAILED, "%s", why.ptr);
	}
	bt_buf_fini(&why);
	return run->result->end == BT_BENCH_RUN_DONE;
}

bool bt_bench_run_create_any(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	struct bt_spec_object object;
	struct bt_churned made;

	for (int64_t i = 0; i < op->count; i++) {
		if (!bt_bench_run_goes_on(run) || !read_any(run, op, i, &object) ||
			!bench_enter(run, op, &object, &made)) {
			return false;
		}
	}
	return true;
}

bool bt_bench_run_create_claims(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	return bt_bench_run_create_any(run, op);
}

/* ---- updating ---- */

static bool update_pod(struct bt_bench_run *run, const struct bt_bench_op *op, const struct bt_object *object)
{
	uint32_t space = bt_world_namespace(&run->world, op->namespace_, NULL);
	uint32_t pod = bt_world_find_pod(&run->world, space, object->meta.name);

	if (pod == BT_NO_POD) {
		return bt_bench_run_fail(run, BT_BENCH_RUN_FAILED,
			"updateAny (line %zu): there is no Pod %.*s/%.*s", op->line,
			BT_STR_ARG(op->namespace_), BT_STR_ARG(object->meta.name));
	}
	bt_world_update_pod(&run->world, pod, &object->pod);
	return true;
}

static bool update(struct bt_bench_run *run, const struct bt_bench_op *op, int64_t index)
{
	struct bt_spec_object made;

	if (!read_any(run, op, index, &made)) {
		return false;
	}
	if (made.object.kind == BT_KIND_POD) {
		return update_pod(run, op, &made.object);
	}
	if (made.namespaced) {
		made.object.meta.namespace_ = op->namespace_;
	}
	if (made.object.kind != BT_KIND_OTHER) {
		bt_world_apply(&run->world, &made.object);
	}
	return true;
}

bool bt_bench_run_update_any(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	int64_t next_ns = bt_clock_monotonic_ns();
	int64_t interval_ns = op->per_second ? bt_bench_run_span(run, 1e9 / (double)op->per_second) : 0;

	for (int64_t i = 0; i < op->count; i++) {
		next_ns += interval_ns;
		if (!bt_bench_run_goes_on(run) || (interval_ns && !bt_bench_run_pass(run, next_ns)) ||
			!update(run, op, i)) {
			return false;
		}
	}
	return true;
}

/* ---- churn ---- */

static struct bt_churned *slot_of(struct bt_bench_run_timer *timer, uint32_t object)
{
	uint64_t number = (uint64_t)timer->op->count;

	return &timer->churned[object * number + timer->fired_n % number];
}

static void churn_delete(
	struct bt_bench_run *run, struct bt_bench_run_timer *timer, uint32_t i, struct bt_churned *churned)
{
	const struct bt_spec_object *object = &timer->objects[i];

	if (object->object.kind == BT_KIND_POD) {
		bt_world_delete_pod(&run->world, churned->pod, false);
	} else if (object->object.kind != BT_KIND_OTHER) {
		bt_world_delete(&run->world, object->object.kind,
			object->namespaced ? timer->op->namespace_ : (struct bt_str){.len = 0},
			churned->name);
	}
	*churned = (struct bt_churned){.pod = BT_NO_POD};
}

bool bt_bench_run_churn_again(struct bt_bench_run *run, struct bt_bench_run_timer *timer)
{
	bool recreates = bt_str_is(timer->op->mode, "recreate");

	for (uint32_t i = 0; i < timer->object_n; i++) {
		struct bt_churned made, *slot = recreates ? slot_of(timer, i) : &made;

		run->result->churn_n++;
		if (recreates && (slot->name.len || slot->pod != BT_NO_POD)) {
			churn_delete(run, timer, i, slot);
		} else if (!bench_enter(run, timer->op, &timer->objects[i], slot)) {
			return false;
		}
	}
	return recreates || timer->op->count == 0 || timer->fired_n + 1 < (uint64_t)timer->op->count;
}

static bool read_churn(
	struct bt_bench_run *run, const struct bt_bench_op *op, struct bt_bench_run_timer *timer)
{
	struct bt_buf why = {0};

	timer->objects = bt_mem_zalloc(op->templates.n, sizeof(*timer->objects));
	for (uint32_t i = 0; i < op->templates.n; i++) {
		const struct bt_spec *spec = bt_bench_run_file(run, op->templates.items[i]);

		if (!spec || !bt_bench_run_object(run,
				     &(struct bt_spec_request){
					     .spec = spec, .plain = true, .arena = &run->world.arena},
				     &timer->objects[i])) {
			return false;
		}
		if (!bench_knows(&timer->objects[i], &why)) {
			bt_bench_run_fail(
				run, BT_BENCH_RUN_UNSUPPORTED, "churn (line %zu): %s", op->line, why.ptr);
			bt_buf_fini(&why);
			return false;
		}
		timer->object_n++;
	}
	return true;
}

bool bt_bench_run_churn(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix)
{
	double interval_ns = (op->interval_ms ? (double)op->interval_ms : 500) * 1e6;
	struct bt_bench_op *own = bt_arena_alloc(&run->world.arena, sizeof(*own), 16);
	size_t slot_n = bt_str_is(op->mode, "recreate") ? (size_t)op->count * op->templates.n : 0;

	*own = *op;
	if (own->namespace_.len == 0) {
		own->namespace_ = bt_world_text(&run->world, "namespace-%u", op_ix);
	}
	bt_world_namespace(&run->world, own->namespace_, NULL);
	struct bt_bench_run_timer *timer =
		bt_bench_run_add_timer(run, own, bt_bench_run_span(run, interval_ns));
	timer->churned = bt_mem_zalloc(slot_n + 1, sizeof(*timer->churned));
	for (size_t i = 0; i < slot_n; i++) {
		timer->churned[i].pod = BT_NO_POD;
	}
	return read_churn(run, op, timer);
}

/* ---- checking without running ---- */

struct bench_check {
	const struct bt_bench_run_plan *plan;
	struct bt_specs *specs;
	struct bt_arena arena;
	struct bt_buf *why;
	enum bt_status status;
};

static bool check_object(
	struct bench_check *c, const struct bt_bench_op *op, const struct bt_spec_request *request)
{
	struct bt_spec_object object;

	if (bt_specs_object(c->specs, request, &object) != BT_OK) {
		c->status = BT_INVALID;
		return false;
	}
	if (request->kind == BT_KIND_OTHER && !bench_knows(&object, c->why)) {
		c->status = BT_UNSUPPORTED;
		return false;
	}
	bool any = op->kind == BT_BENCH_OP_CREATE_ANY || op->kind == BT_BENCH_OP_UPDATE_ANY;
	if (any && !fits_space(op, &object, c->why)) {
		c->status = BT_INVALID;
		return false;
	}
	return true;
}

/* Reads the first and the last object of a file. */
static bool check_file(struct bench_check *c, const struct bt_bench_op *op, struct bt_str path,
	enum bt_kind kind, bool plain)
{
	int64_t count = op->kind == BT_BENCH_OP_CHURN || plain ? 1 : op->count;
	const struct bt_spec *spec;

	if (path.len == 0) {
		return true;
	}
	spec = bt_specs_file(c->specs, c->plan->file->folder, path);
	if (!spec) {
		c->status = BT_INVALID;
		return false;
	}
	struct bt_spec_request request = {
		.spec = spec, .plain = plain, .count = count, .kind = kind, .arena = &c->arena};
	if (!check_object(c, op, &request)) {
		return false;
	}
	request.index = count > 1 ? count - 1 : 0;
	return count < 2 || check_object(c, op, &request);
}

static bool check_op(struct bench_check *c, const struct bt_bench_op *op)
{
	struct bt_str pod = op->pod_template.len ? op->pod_template : c->plan->test_case->pod_template;
	bool pods = op->kind == BT_BENCH_OP_CREATE_PODS, claims = op->kind == BT_BENCH_OP_CREATE_CLAIMS;

	for (uint32_t i = 0; i < op->templates.n; i++) {
		if (!check_file(c, op, op->templates.items[i], BT_KIND_OTHER, true)) {
			return false;
		}
	}
	return check_file(c, op, op->node_template, BT_KIND_NODE, false) &&
	       check_file(c, op, op->namespace_template, BT_KIND_NAMESPACE, true) &&
	       (!pods || check_file(c, op, pod, BT_KIND_POD, false)) &&
	       check_file(c, op, op->volume_template, BT_KIND_PERSISTENT_VOLUME, true) &&
	       check_file(c, op, op->claim_template, BT_KIND_PERSISTENT_VOLUME_CLAIM, true) &&
	       check_file(c, op, op->template_path, claims ? BT_KIND_RESOURCE_CLAIM : BT_KIND_OTHER, claims);
}

static bool check_config(struct bench_check *c)
{
	struct bt_str path = c->plan->test_case->config_path;
	const struct bt_spec *file;
	struct bt_config config;

	if (path.len == 0) {
		return true;
	}
	file = bt_specs_file(c->specs, c->plan->file->folder, path);
	if (file) {
		bt_config_init(&config, &c->plan->gates);
		c->status = bt_config_load(&config, file->path, file->text, c->why);
		bt_config_fini(&config);
	} else {
		c->status = BT_INVALID;
	}
	return c->status == BT_OK;
}

enum bt_status bt_bench_run_check(
	const struct bt_bench_run_plan *plan, struct bt_specs *specs, struct bt_buf *out_why)
{
	struct bench_check c = {.plan = plan, .specs = specs, .why = out_why, .status = BT_OK};
	bool ok = check_config(&c);

	for (uint32_t i = 0; i < plan->ops.n && ok; i++) {
		ok = check_op(&c, &plan->ops.ops[i]);
	}
	bt_arena_fini(&c.arena);
	return c.status;
}

/* ---- planning ---- */

/* The gates that a workload sets; its own settings come before those of its test case. */
struct bench_settings {
	bool given[BT_GATE_N], on[BT_GATE_N];
	struct bt_buf text; /* for bt_gates_parse */
};

static void set_gate(struct bench_settings *settings, enum bt_gate gate, bool on)
{
	settings->given[gate] = true;
	settings->on[gate] = on;
	bt_buf_printf(&settings->text, "%s%s=%s", settings->text.len ? "," : "", bt_gate_name(gate),
		on ? "true" : "false");
}

/*
 * Is it a gate of an older release that this one has removed, with the set value as the remaining behaviour?
 */
static bool is_decided(const struct bt_gate_setting *setting, const struct bt_release *release)
{
	for (uint32_t i = 0; bt_release_at(i) && bt_release_at(i)->minor < release->minor; i++) {
		enum bt_gate gate = bt_gate_find(setting->name, bt_release_at(i));

		if (gate != BT_GATE_N) {
			return bt_gate_spec(gate, release)->on == setting->on;
		}
	}
	return false;
}

/* Settings for which upstream emulates an older version are ignored, with a note. */
static enum bt_status add_settings(struct bt_bench_run_plan *plan, struct bench_settings *settings,
	const struct bt_gate_setting *from, uint32_t n, struct bt_buf *out_why)
{
	for (uint32_t i = 0; i < n; i++) {
		enum bt_gate gate = bt_gate_find(from[i].name, plan->gates.release);

		if (bt_str_is(from[i].name, bt_gate_name(BT_GATE_SCHEDULER_QUEUEING_HINTS)) && !from[i].on) {
			plan->notes = bt_str(
				"without SchedulerQueueingHints upstream emulates v1.33; here hints are on");
		} else if (gate == BT_GATE_N && !is_decided(&from[i], plan->gates.release)) {
			bt_buf_printf(out_why,
				"there is no feature gate %.*s in Kubernetes %s; see --kubernetes-version",
				BT_STR_ARG(from[i].name), plan->gates.release->name);
			return BT_UNSUPPORTED;
		} else if (gate != BT_GATE_N && !settings->given[gate]) {
			set_gate(settings, gate, from[i].on);
		}
	}
	return BT_OK;
}

/* Gates that need one which is set off go off with it. Source: SetFeatureGatesDuringTest, v1.36.3. */
static bool disable_dependents(const struct bt_release *release, struct bench_settings *settings)
{
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		for (unsigned needed = 0; needed < BT_GATE_N; needed++) {
			if (!settings->given[gate] && bt_gate_spec((enum bt_gate)gate, release)->on &&
				settings->given[needed] && !settings->on[needed] &&
				bt_gate_needs((enum bt_gate)gate, (enum bt_gate)needed, release)) {
				set_gate(settings, (enum bt_gate)gate, false);
				return true;
			}
		}
	}
	return false;
}

/* Is the threshold for a metric that is not measured here? */
static bool compares_otherwise(const struct bt_test_case *test_case, const struct bt_workload *workload)
{
	const struct bt_threshold_metric *metric =
		workload->metric.set ? &workload->metric : &test_case->metric;

	return metric->set && !bt_str_is(metric->name, "SchedulingThroughput");
}

enum bt_status bt_bench_run_plan(const struct bt_release *release, struct bt_workload_file *file,
	const struct bt_test_case *test_case, struct bt_workload *workload, bt_diagnosis_fn *report,
	void *context, struct bt_bench_run_plan *out_plan, struct bt_buf *out_why)
{
	struct bench_settings settings = {.text = {0}};

	*out_plan = (struct bt_bench_run_plan){.file = file, .test_case = test_case, .workload = workload};
	if (bt_workload_param(workload, bt_str("numNodeDeclaredFeatures"))) {
		out_plan->notes = bt_str("upstream's own program lets pods need the features that its nodes "
					 "declare; here nodes declare them, and pods need none");
	}
	if (workload->threshold_n && compares_otherwise(test_case, workload)) {
		out_plan->notes = bt_str("thresholds are compared with SchedulingThroughput alone: that of a "
					 "workload which names another metric is not compared");
	}
	bt_gates_init(&out_plan->gates, release);
	enum bt_status status = add_settings(out_plan, &settings, workload->gates, workload->gate_n, out_why);
	if (status == BT_OK) {
		status = add_settings(out_plan, &settings, test_case->gates, test_case->gate_n, out_why);
	}
	while (status == BT_OK && disable_dependents(out_plan->gates.release, &settings)) {
	}
	if (status == BT_OK && settings.text.len &&
		bt_gates_parse(&out_plan->gates, bt_buf_view(&settings.text), out_why) != BT_OK) {
		status = BT_UNSUPPORTED;
	}
	bt_buf_fini(&settings.text);
	return status != BT_OK ? status
			       : bt_workload_ops(file, test_case, workload, &out_plan->ops, report, context);
}
