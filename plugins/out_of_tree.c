/* SPDX-License-Identifier: Apache-2.0
 * Descriptors of the public ABI as plugins. A plugin's functions see only what the plugin declares to depend
 * on, so the engine's cached results are valid whatever the plugin does.
 */
#include "plugins/out_of_tree.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/thread.h"
#include "plugins/out_of_tree_int.h"
#include "plugins/registry.h"

#define NAME_BYTES	 64
#define BUILD_BYTES	 64
#define REGISTRATION_MAX 16
#define RESOURCES	 3

#define POD_FIELDS                                                                                           \
	(BERTH_PLUGIN_POD_NAMESPACE | BERTH_PLUGIN_POD_LABELS | BERTH_PLUGIN_POD_REQUESTS |                  \
		BERTH_PLUGIN_POD_SCHEDULER_NAME)

/* An added plugin. init: const once it is in the registry, so any thread may read it. */
struct added {
	struct bt_plugin plugin; /* first: the registry's pointer is this struct's */
	struct bt_plugin_args args;
	struct berth_plugin descriptor; /* a copy; fields that an older plugin lacks are zero */
	struct bt_registration events[RESOURCES];
	char name[NAME_BYTES], version[NAME_BYTES], build[BUILD_BYTES];
};

static struct bt_lock adding = BT_LOCK_INIT;
static struct added added_plugins[BT_PLUGIN_ADDED_MAX]; /* lock(adding) */
static uint32_t added_n;				/* lock(adding) */

/*
 * A plugin in a profile. owner: the scheduling thread; other threads read only self, and only of plugins that
 * declare dependences. current: the term whose PreFilter ran last, with memory for its state.
 */
struct instance {
	const struct added *added;
	void *self;
	uint32_t points;
	char *failed; /* why it could not be created; NULL: it was */
	bool fails;   /* Filter has failed on some node: failure is called */
	struct bt_arena memory;
	const struct out_of_tree_term *current;
};

/* Per pod; shared by many pods if the plugin declares dependences. */
struct out_of_tree_term {
	struct instance *instance;
	const struct bt_signature *signature;
	const void *state;	   /* PreFilter's */
	struct bt_pod_facts facts; /* of the pod in this cycle; without a signature: not set */
	uint32_t pod_ix;
};

static const struct added *added_of(const struct bt_plugin *plugin)
{
	return (const struct added *)(const void *)plugin;
}

static bool depends_on_anything(const struct added *added)
{
	return added->descriptor.depends == BERTH_PLUGIN_DEPENDS_ON_ANYTHING;
}

/* ---- arguments ---- */

/* Creates an instance. Returns: false with the reason in out_error. */
static bool create(
	const struct added *added, const struct bt_raw_args *args, void **out_self, struct bt_buf *out_error)
{
	const struct berth_plugin *d = &added->descriptor;
	struct berth_plugin_why why = {.wanted = true};

	*out_self = NULL;
	if (!d->create && args->json.len) {
		bt_buf_text(out_error, "the plugin takes no arguments; remove its entry of pluginConfig");
		return false;
	}
	bool ok = !d->create ||
		  d->create(bt_out_of_tree_host(), args->json.len ? args->json.ptr : NULL, out_self, &why);
	if (!ok) {
		bt_buf_str(out_error, why.text.len
					      ? bt_buf_view(&why.text)
					      : bt_str("the plugin refuses its arguments without a reason"));
	}
	bt_buf_fini(&why.text);
	return ok;
}

static void destroy(const struct added *added, void *self)
{
	if (added->descriptor.create && added->descriptor.destroy) {
		added->descriptor.destroy(self);
	}
}

static void validate(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct added *added = added_of(env->plugin);
	struct bt_buf error = {0};
	void *self;

	(void)path;
	if (create(added, opaque, &self, &error)) {
		destroy(added, self);
	} else {
		bt_config_errors_add(errors, "%.*s", BT_STR_ARG(bt_buf_view(&error)));
	}
	bt_buf_fini(&error);
}

static const struct bt_schema raw_table = {
	.bytes = sizeof(struct bt_raw_args), .go_package = "v1", .go_name = ""};

static const void *make_settings(const struct bt_settings_env *env, const void *opaque)
{
	struct instance *instance = bt_arena_zalloc(env->arena, sizeof(*instance));
	struct bt_buf error = {0};

	instance->added = added_of(env->config.plugin);
	instance->points = env->points;
	if (!create(instance->added, opaque, &instance->self, &error)) {
		instance->failed = bt_arena_copy(env->arena, error.ptr, error.len);
	}
	bt_buf_fini(&error);
	return instance;
}

static void end_settings(const void *opaque)
{
	struct instance *instance = (struct instance *)(uintptr_t)opaque;

	if (!instance->failed) {
		destroy(instance->added, instance->self);
	}
	bt_arena_fini(&instance->memory);
}

/* ---- arguments of the plugin's functions ---- */

static struct berth_plugin_call call_of(const struct instance *instance, const void *state)
{
	return (struct berth_plugin_call){
		sizeof(struct berth_plugin_call), bt_out_of_tree_host(), instance->self, state};
}

static struct berth_plugin_pod pod_of(const struct out_of_tree_term *term, const struct bt_view *view)
{
	const struct added *added = term->instance->added;
	struct berth_plugin_pod pod = {.dictionary = view->snapshot->dictionary,
		.facts.signature = term->signature,
		.fields = added->descriptor.pod_fields};

	if (depends_on_anything(added)) {
		pod.facts = term->facts;
		pod.facts.signature = term->signature;
		pod.fields = UINT32_MAX;
	}
	return pod;
}

static struct berth_plugin_node node_of(
	const struct out_of_tree_term *term, const struct bt_view *view, uint32_t node_ix)
{
	return (struct berth_plugin_node){.dictionary = view->snapshot->dictionary,
		.view = view,
		.ix = node_ix,
		.usage = term->instance->added->descriptor.depends != BERTH_PLUGIN_DEPENDS_ON_NODE};
}

/* ---- PreFilter ---- */

/* The plugin's message as a kept text; fallback: if it gave none. */
static const char *keep(const struct bt_view *view, struct berth_plugin_why *why, const char *fallback)
{
	const char *text = bt_keep_text(view, "%s", why->text.len ? why->text.ptr : fallback);

	bt_buf_fini(&why->text);
	return text;
}

static void run_pre_filter(struct out_of_tree_term *term, const struct bt_view *view, struct bt_arena *memory,
	struct bt_compiled *out)
{
	const struct instance *instance = term->instance;
	const struct berth_plugin *d = &instance->added->descriptor;
	const struct berth_plugin_pod pod = pod_of(term, view);
	const struct berth_plugin_call call = call_of(instance, NULL);
	struct berth_plugin_why why = {.wanted = true};

	term->state = NULL;
	if (instance->failed || !d->pre_filter || !(instance->points & BT_AT(PRE_FILTER))) {
		return;
	}
	switch (d->pre_filter(&call, &pod, memory, &term->state, &why)) {
	case BERTH_PLUGIN_SUCCESS:
		break;
	case BERTH_PLUGIN_SKIP:
		out->filter_skip = true;
		break;
	case BERTH_PLUGIN_UNSCHEDULABLE:
	case BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE:
		bt_refuse(out, keep(view, &why, "the pod was refused without a reason"));
		break;
	default:
		out->pre_filter_error = keep(view, &why, "failed without a reason");
	}
	bt_buf_fini(&why.text);
}

static void compile(const void *opaque, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	struct instance *instance = (struct instance *)(uintptr_t)opaque;
	struct out_of_tree_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	*term = (struct out_of_tree_term){.instance = instance, .signature = signature, .pod_ix = UINT32_MAX};
	out->term = term;
	out->pre_filter_error = out->score_error = instance->failed;
	if (depends_on_anything(instance->added)) {
		out->state = term;
		instance->current = NULL; /* a freed plan may have had a term at the same address */
	} else {
		run_pre_filter(term, env->view, env->arena, out);
	}
}

/* For a plugin without declared dependences: PreFilter, in each cycle. */
static void pre_filter(void *state, const struct bt_view *view, struct bt_compiled *compiled)
{
	struct out_of_tree_term *term = state;
	struct instance *instance = term->instance;
	const struct bt_pods_view *pods = view->usage->pods;

	BT_REQUIRE(pods);
	term->pod_ix = *pods->cycle_ix;
	term->facts = pods->facts(pods->context, term->pod_ix);
	bt_arena_reset(&instance->memory);
	instance->current = term;
	compiled->filter_skip = false;
	compiled->pre_filter_error = instance->failed;
	run_pre_filter(term, view, &instance->memory, compiled);
}

/* Another term's PreFilter may have run since, or this term's for another pod. */
static const struct out_of_tree_term *current(const void *opaque, const struct bt_view *view)
{
	const struct out_of_tree_term *term = opaque;
	const struct bt_pods_view *pods = view->usage->pods;
	struct bt_compiled unused = {0};

	if (depends_on_anything(term->instance->added) && pods &&
		(term->instance->current != term || term->pod_ix != *pods->cycle_ix)) {
		pre_filter((void *)(uintptr_t)term, view, &unused);
	}
	return term;
}

/* ---- Filter and Score ---- */

static enum berth_plugin_verdict call_filter(const struct out_of_tree_term *term, const struct bt_view *view,
	uint32_t node_ix, struct berth_plugin_why *why)
{
	const struct instance *instance = term->instance;
	const struct berth_plugin_call call = call_of(instance, term->state);
	const struct berth_plugin_pod pod = pod_of(term, view);
	const struct berth_plugin_node node = node_of(term, view, node_ix);

	if (instance->failed) {
		why->wanted ? bt_buf_text(&why->text, instance->failed) : (void)0;
		return BERTH_PLUGIN_ERROR;
	}
	return instance->added->descriptor.filter(&call, &pod, &node, why);
}

/* Vacant slots are filtered with the others; their result is ignored. */
static bool is_live(const struct bt_view *view, uint32_t node_ix)
{
	return bt_bitmap_test(view->snapshot->live, node_ix);
}

static void filter(const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct out_of_tree_term *term = current(opaque, view);
	struct berth_plugin_why unwanted = {.wanted = false};

	for (uint32_t i = 0; i < n; i++) {
		enum berth_plugin_verdict verdict = BERTH_PLUGIN_UNSCHEDULABLE;

		if (is_live(view, first + i)) {
			verdict = call_filter(term, view, first + i, &unwanted);
		}
		pass[i] = verdict == BERTH_PLUGIN_SUCCESS;
		if (BT_UNLIKELY(verdict > BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE) &&
			depends_on_anything(term->instance->added)) {
			term->instance->fails = true;
		}
	}
}

static const char *failure(const void *opaque, const struct bt_view *view, uint32_t node_ix)
{
	const struct out_of_tree_term *term = current(opaque, view);
	struct berth_plugin_why why = {.wanted = true};
	const char *text = NULL;

	if (!term->instance->fails) {
		return NULL;
	}
	if (call_filter(term, view, node_ix, &why) > BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE) {
		text = keep(view, &why, "failed without a reason");
	}
	bt_buf_fini(&why.text);
	return text;
}

/* Calls Filter again, for the reason. A plugin that passes the node now is not deterministic. */
static void reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const struct out_of_tree_term *term = current(opaque, view);
	const struct bt_dictionary *dictionary = view->snapshot->dictionary;
	struct berth_plugin_why why = {.wanted = true};
	bool unresolvable =
		call_filter(term, view, node_ix, &why) == BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE;

	if (!why.text.len) {
		bt_buf_printf(&why.text, "node(s) didn't satisfy plugin %s", term->instance->added->name);
	}
	bt_reject_with(out_rejection, unresolvable ? BT_UNSCHEDULABLE_AND_UNRESOLVABLE : BT_UNSCHEDULABLE, 0);
	out_rejection->reasons[0].arg = bt_texts_keep(dictionary->texts, bt_buf_view(&why.text));
	bt_buf_fini(&why.text);
}

static void reason(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text)
{
	bt_buf_str(out_text, bt_intern_str(dictionary->intern, reason->arg));
}

static void score(const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct out_of_tree_term *term = current(opaque, view);
	const struct berth_plugin_call call = call_of(term->instance, term->state);
	const struct berth_plugin_pod pod = pod_of(term, view);

	for (uint32_t i = 0; i < n; i++) {
		const struct berth_plugin_node node = node_of(term, view, first + i);

		raw[i] = 0;
		if (!term->instance->failed && is_live(view, first + i)) {
			raw[i] = term->instance->added->descriptor.score(&call, &pod, &node);
		}
	}
}

static void normalize(
	const void *opaque, const struct bt_view *view, const uint32_t *nodes, uint32_t n, int64_t *scores)
{
	const struct out_of_tree_term *term = current(opaque, view);
	const struct berth_plugin_call call = call_of(term->instance, term->state);
	const struct berth_plugin_pod pod = pod_of(term, view);

	(void)nodes;
	if (!term->instance->failed) {
		term->instance->added->descriptor.normalize_scores(&call, &pod, n, scores);
	}
}

static void add_labels(struct bt_labels labels, struct bt_buf *out_key)
{
	bt_buf_add(out_key, &labels.n, sizeof(labels.n));
	bt_buf_add(out_key, labels.items, labels.n * sizeof(*labels.items));
}

static void add_requests(struct bt_amounts amounts, struct bt_buf *out_key)
{
	bt_buf_add(out_key, &amounts.n, sizeof(amounts.n));
	for (uint32_t i = 0; i < amounts.n; i++) {
		bt_buf_add(out_key, &amounts.items[i].slot, sizeof(amounts.items[i].slot));
		bt_buf_add(out_key, &amounts.items[i].amount, sizeof(amounts.items[i].amount));
	}
}

/* The pod fields that the plugin sees. */
static void key(const void *opaque, struct bt_buf *out_key)
{
	const struct out_of_tree_term *term = opaque;
	const struct bt_signature *signature = term->signature;
	uint32_t fields = term->instance->added->descriptor.pod_fields;

	if (fields & BERTH_PLUGIN_POD_NAMESPACE) {
		bt_buf_add(out_key, &signature->namespace_, sizeof(signature->namespace_));
	}
	if (fields & BERTH_PLUGIN_POD_LABELS) {
		add_labels(signature->labels, out_key);
	}
	if (fields & BERTH_PLUGIN_POD_REQUESTS) {
		add_requests(signature->requests.fit, out_key);
	}
	if (fields & BERTH_PLUGIN_POD_SCHEDULER_NAME) {
		bt_buf_add(out_key, &signature->scheduler_name, sizeof(signature->scheduler_name));
	}
}

/* ---- PreEnqueue and events ---- */

static bool pre_enqueue(const struct bt_pod_env *env, struct bt_buf *out_why)
{
	const struct instance *instance = env->settings;
	const struct berth_plugin_call call = call_of(instance, NULL);
	const struct berth_plugin_pod pod = {env->view->snapshot->dictionary,
		{env->signature, env->name, env->uid, env->priority}, UINT32_MAX};
	struct berth_plugin_why why = {.wanted = out_why};

	if (instance->failed ||
		instance->added->descriptor.pre_enqueue(&call, &pod, &why) == BERTH_PLUGIN_SUCCESS) {
		bt_buf_fini(&why.text);
		return false;
	}
	if (out_why) {
		bt_buf_str(
			out_why, why.text.len ? bt_buf_view(&why.text) : bt_str("the plugin keeps it out"));
	}
	bt_buf_fini(&why.text);
	return true;
}

static const struct { /* ours, theirs */
	uint32_t here, there;
} actions[] = {
	{BT_ADD, BERTH_PLUGIN_ADD},
	{BT_DELETE, BERTH_PLUGIN_DELETE},
	{BT_UPDATE_NODE_ALLOCATABLE, BERTH_PLUGIN_UPDATE_NODE_ALLOCATABLE},
	{BT_UPDATE_NODE_LABEL, BERTH_PLUGIN_UPDATE_NODE_LABEL},
	{BT_UPDATE_NODE_TAINT, BERTH_PLUGIN_UPDATE_NODE_TAINT},
	{BT_UPDATE_POD_LABEL, BERTH_PLUGIN_UPDATE_POD_LABEL},
	{BT_UPDATE_POD_SCALE_DOWN, BERTH_PLUGIN_UPDATE_POD_SCALE_DOWN},
};
#define ACTION_N (sizeof(actions) / sizeof(actions[0]))

static const enum bt_cluster_event_resource resources[] = {
	[BERTH_PLUGIN_ASSIGNED_POD] = BT_CLUSTER_EVENT_ASSIGNED_POD,
	[BERTH_PLUGIN_UNSCHEDULED_POD] = BT_CLUSTER_EVENT_UNSCHEDULED_POD,
	[BERTH_PLUGIN_NODE] = BT_CLUSTER_EVENT_NODE,
};
#define RESOURCE_N (sizeof(resources) / sizeof(resources[0]))
static_assert(RESOURCE_N == RESOURCES + 1, "a registration for each");

static struct berth_plugin_pod event_pod(
	const struct bt_dictionary *dictionary, const struct bt_cluster_event_pod *pod)
{
	return (struct berth_plugin_pod){
		dictionary, {pod->signature, pod->name, pod->uid, pod->priority}, UINT32_MAX};
}

static struct berth_plugin_event event_of(const struct bt_cluster_event *event, bool own)
{
	struct berth_plugin_event out = {.size = sizeof(out), .own = own};

	enum bt_cluster_event_resource resource = event->resource == BT_CLUSTER_EVENT_TARGET_POD
							  ? BT_CLUSTER_EVENT_UNSCHEDULED_POD
							  : event->resource;

	for (uint32_t i = 1; i < RESOURCE_N; i++) {
		out.resource = resources[i] == resource ? i : out.resource;
	}
	for (size_t i = 0; i < ACTION_N; i++) {
		out.action = actions[i].here == event->action ? actions[i].there : out.action;
	}
	return out;
}

static bool hint(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct instance *instance = env->settings;
	const struct bt_dictionary *dictionary = env->view->snapshot->dictionary;
	const struct berth_plugin_call call = call_of(instance, NULL);
	const struct berth_plugin_pod waiting = {dictionary, {.signature = env->signature}, POD_FIELDS};
	struct berth_plugin_event out = event_of(event, env->own);
	struct berth_plugin_pod old_pod, current_pod;
	struct berth_plugin_node old_node, current_node;

	if (instance->failed) {
		return true;
	}
	if (event->resource == BT_CLUSTER_EVENT_NODE) {
		old_node = (struct berth_plugin_node){.dictionary = dictionary, .facts = event->node.old};
		current_node = (struct berth_plugin_node){.dictionary = dictionary, .facts = event->node.new};
		out.old_node = event->node.old ? &old_node : NULL;
		out.current_node = event->node.new ? &current_node : NULL;
	} else {
		old_pod = event_pod(dictionary, &event->pod.old);
		current_pod = event_pod(dictionary, &event->pod.new);
		out.old_pod = event->pod.old.signature ? &old_pod : NULL;
		out.current_pod = event->pod.new.signature ? &current_pod : NULL;
	}
	return instance->added->descriptor.hint(&call, &waiting, &out);
}

/* ---- adding ---- */

static enum bt_status refuse(struct bt_buf *out_error, enum bt_status status, const char *text)
{
	bt_buf_text(out_error, text);
	return status;
}

static bool is_name(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	for (size_t i = 0; i < n; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", name[i])) {
			return false;
		}
	}
	return n > 0 && n < NAME_BYTES;
}

static bool is_version(const char *version)
{
	for (const char *c = version; *c; c++) {
		if ((unsigned char)*c < ' ') {
			return false;
		}
	}
	return strlen(version) < NAME_BYTES;
}

static enum bt_status check_events(const struct berth_plugin *d, struct bt_buf *out_error)
{
	uint32_t known = 0;

	for (size_t i = 0; i < ACTION_N; i++) {
		known |= actions[i].there;
	}
	if (d->event_n > REGISTRATION_MAX || (d->event_n && !d->events)) {
		return refuse(out_error, BT_INVALID, "events: at most 16, and not NULL; join their actions");
	}
	for (size_t i = 0; i < d->event_n; i++) {
		const struct berth_plugin_registration *event = &d->events[i];

		if (event->resource < 1 || event->resource >= RESOURCE_N || !event->actions ||
			(event->actions & ~known)) {
			return refuse(out_error, BT_UNSUPPORTED,
				"events: a resource or action that this berth does not know; leave it out, "
				"or leave out all "
				"events to be called after each");
		}
	}
	return BT_OK;
}

/* Checks that do not need the registry. */
static enum bt_status check(const struct berth_plugin *d, struct bt_buf *out_error)
{
	if (!is_name(d->name)) {
		return refuse(out_error, BT_INVALID,
			"name: give it one of 1 to 63 letters, digits, \".\", \"_\" and \"-\"");
	}
	if (d->version && !is_version(d->version)) {
		return refuse(out_error, BT_INVALID,
			"version: give it at most 63 bytes without control characters");
	}
	if (!d->pre_enqueue && !d->pre_filter && !d->filter && !d->score) {
		return refuse(out_error, BT_INVALID,
			"it has no extension point; set one of pre_enqueue, pre_filter, filter and score");
	}
	if (d->depends > BERTH_PLUGIN_DEPENDS_ON_NODE_AND_PODS || (d->pod_fields & ~(uint32_t)POD_FIELDS)) {
		return refuse(out_error, BT_UNSUPPORTED,
			"depends or pod_fields: a value that this berth does not know; leave both 0, and it "
			"is called every "
			"time");
	}
	if (d->normalize > BERTH_PLUGIN_NORMALIZE_OWN ||
		(d->normalize == BERTH_PLUGIN_NORMALIZE_OWN && !d->normalize_scores)) {
		return refuse(out_error, BT_INVALID,
			"normalize: no value of the header, or its own without normalize_scores");
	}
	return check_events(d, out_error);
}

/* One for each resource. */
static void register_events(struct added *added)
{
	const struct berth_plugin *d = &added->descriptor;

	for (size_t i = 0; i < d->event_n; i++) {
		struct bt_registration *registration = added->events;

		while (registration->actions && registration->resource != resources[d->events[i].resource]) {
			registration++;
		}
		registration->resource = resources[d->events[i].resource];
		registration->hint = d->hint ? hint : NULL;
		for (size_t k = 0; k < ACTION_N; k++) {
			registration->actions |=
				d->events[i].actions & actions[k].there ? actions[k].here : 0;
		}
	}
	added->plugin.events = d->event_n ? added->events : NULL;
	added->plugin.kinds_are_exact = true;
	while (added->plugin.event_n < RESOURCES && added->events[added->plugin.event_n].actions) {
		added->plugin.event_n++;
	}
}

static void host_describe(struct added *added)
{
	static const enum bt_dependence dependences[] = {
		[BERTH_PLUGIN_DEPENDS_ON_ANYTHING] = BT_DEPENDS_ON_ALL,
		[BERTH_PLUGIN_DEPENDS_ON_NODE] = BT_DEPENDS_ON_DESCRIPTION,
		[BERTH_PLUGIN_DEPENDS_ON_NODE_AND_PODS] = BT_DEPENDS_ON_USAGE,
	};
	const struct berth_plugin *d = &added->descriptor;

	added->args = (struct bt_plugin_args){
		.schema = &raw_table, .validate = validate, .validated_late = true, .raw = true};
	added->plugin = (struct bt_plugin){
		.name = added->name,
		.points = (d->pre_enqueue ? BT_AT(PRE_ENQUEUE) : 0) |
			  (d->pre_filter ? BT_AT(PRE_FILTER) : 0) | (d->filter ? BT_AT(FILTER) : 0) |
			  (d->score ? BT_AT(SCORE) : 0),
		.args = &added->args,
		.settings = make_settings,
		.settings_end = end_settings,
		.pre_enqueue = d->pre_enqueue ? pre_enqueue : NULL,
		.filter_depends = dependences[d->depends],
		.score_depends = dependences[d->depends],
		.sees_pods = d->depends != BERTH_PLUGIN_DEPENDS_ON_NODE,
		.normalize = (enum bt_normalize)d->normalize,
		.compile = d->pre_filter || d->filter || d->score ? compile : NULL,
		.filter = d->filter ? filter : NULL,
		.reject = d->filter ? reject : NULL,
		.reason = reason,
		.score = d->score ? score : NULL,
		.key = key,
		.pre_filter = depends_on_anything(added) ? pre_filter : NULL,
		.failure = depends_on_anything(added) && d->filter ? failure : NULL,
		.normalize_own = d->normalize == BERTH_PLUGIN_NORMALIZE_OWN ? normalize : NULL,
	};
	register_events(added);
}

static enum bt_status join(struct added *added, struct bt_buf *out_error)
{
	enum bt_status status = bt_plugin_add(&added->plugin);

	if (status == BT_EXISTS) {
		bt_buf_text(out_error, "a plugin of that name is there already; rename one of them");
	} else if (status == BT_RANGE) {
		bt_buf_printf(out_error,
			"there are %d plugins of others already, and no room for more; leave some out",
			BT_PLUGIN_ADDED_MAX);
	}
	return status;
}

enum bt_status bt_out_of_tree_add(
	const struct berth_plugin *descriptor, struct bt_str build, struct bt_buf *out_error)
{
	static const size_t least = offsetof(struct berth_plugin, hint) + sizeof(descriptor->hint);
	const char *version;
	enum bt_status status;

	if (descriptor->size < least) {
		return refuse(out_error, BT_INVALID, "size: set it to sizeof(struct berth_plugin)");
	}
	if (descriptor->abi != BERTH_PLUGIN_ABI) {
		bt_buf_printf(out_error,
			"it was built for plugin ABI %u, and this berth has %u; build it with this berth's "
			"berth_plugin.h",
			descriptor->abi, BERTH_PLUGIN_ABI);
		return BT_UNSUPPORTED;
	}
	status = check(descriptor, out_error);
	if (status != BT_OK) {
		return status;
	}
	version = descriptor->version ? descriptor->version : "";
	bt_lock_acquire(&adding);
	if (added_n == BT_PLUGIN_ADDED_MAX) {
		static struct added extra; /* only to check for a duplicate name */

		extra.plugin.name = descriptor->name;
		status = join(&extra, out_error);
	} else {
		struct added *added = &added_plugins[added_n];
		size_t size = descriptor->size < sizeof(added->descriptor) ? descriptor->size
									   : sizeof(added->descriptor);

		*added = (struct added){.args.raw = true};
		memcpy(&added->descriptor, descriptor, size);
		memcpy(added->name, descriptor->name, strlen(descriptor->name));
		memcpy(added->version, version, strlen(version));
		memcpy(added->build, build.ptr, build.len < BUILD_BYTES ? build.len : BUILD_BYTES - 1);
		host_describe(added);
		status = join(added, out_error);
		added_n += status == BT_OK;
	}
	bt_lock_release(&adding);
	return status;
}

void bt_out_of_tree_identity(uint32_t id, struct bt_buf *out_text)
{
	if (id >= BT_PLUGIN_IN_TREE && bt_plugin_at(id)->settings == make_settings) {
		const struct added *added = added_of(bt_plugin_at(id));

		bt_buf_text(out_text, added->version);
		bt_buf_printf(out_text, added->build[0] ? "%sbuild %s" : "%s%s",
			added->version[0] && added->build[0] ? ", " : "", added->build);
	}
}
