/* SPDX-License-Identifier: Apache-2.0
 * Options become steps.
 */
#include "tools/offline/whatif/changes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "engine/flow/pipeline/pipeline.h"
#include "engine/model/kind.h"
#include "tools/cli/message.h"
#include "tools/format/encode.h"
#include "tools/format/object_reader.h"
#include "tools/offline/whatif/node_edit.h"

#define ADD_MAX	    100000
#define REPLICA_MAX 1000000

/* Pods of workloads that were made while a file or an object was read. */
struct bt_made_pods {
	struct bt_pod_object *items;
	size_t n, cap;
};

static int refuse(const char *option, const char *text, const char *what)
{
	bt_message("berth whatif: --%s %s: %s\n", option, text, what);
	return BT_EXIT_INPUT;
}

static int misused(const struct bt_changes *c, const char *option, const char *text, const char *form)
{
	return bt_invocation_wrong(
		c->cluster->invocation->command, "--%s %s is not of the form %s", option, text, form);
}

/* ---- steps ---- */

static const struct bt_step *add_step(struct bt_changes *c, struct bt_step step)
{
	struct bt_step *kept = bt_arena_zalloc(&c->arena, sizeof(*kept));

	*kept = step;
	kept->change_ix = c->change_n;
	c->steps = bt_mem_grow(c->steps, c->step_n, &c->step_cap, sizeof(*c->steps));
	c->steps[c->step_n++] = kept;
	bt_step_rehearse(c->cluster->engine, kept);
	return kept;
}

const struct bt_step *bt_changes_node_step(
	struct bt_changes *c, enum bt_step_kind kind, struct bt_str node, uint32_t change_ix)
{
	struct bt_step *step = bt_arena_zalloc(&c->arena, sizeof(*step));

	*step = (struct bt_step){.kind = kind, .change_ix = change_ix, .name = node};
	return step;
}

static void add_node(struct bt_changes *c, const struct bt_node_object *node)
{
	struct bt_object object = {.kind = BT_KIND_NODE,
		.api_version = BT_STR("v1"),
		.kind_name = BT_STR("Node"),
		.node = *node};
	struct bt_object *copy = bt_arena_zalloc(&c->arena, sizeof(*copy));

	/* The inventory's array may move; what its objects point to does not. */
	*copy = *bt_inventory_put(c->inventory, &object);
	add_step(
		c, (struct bt_step){.kind = BT_STEP_NODE, .name = copy->node.meta.name, .node = &copy->node});
}

static struct bt_pod_object *own_pods(struct bt_changes *c, const struct bt_pod_object *pods, size_t n)
{
	struct bt_pod_object *copies = bt_arena_zalloc(&c->arena, n * sizeof(*copies));

	for (size_t i = 0; i < n; i++) {
		struct bt_object object = {.kind = BT_KIND_POD,
			.api_version = BT_STR("v1"),
			.kind_name = BT_STR("Pod"),
			.pod = pods[i]};

		bt_object_own(&object, &c->arena);
		copies[i] = object.pod;
	}
	return copies;
}

static void add_pod(struct bt_changes *c, const struct bt_pod_object *pod)
{
	const struct bt_pod_object *copy = own_pods(c, pod, 1);

	add_step(c, (struct bt_step){.kind = BT_STEP_ADD_POD,
			    .namespace_ = copy->meta.namespace_,
			    .name = copy->meta.name,
			    .pods = copy,
			    .pod_n = 1});
}

static void show_later(struct bt_changes *c, const struct bt_object *object, bool removed)
{
	c->shown = bt_mem_grow(c->shown, c->shown_n, &c->shown_cap, sizeof(*c->shown));
	c->removed = bt_mem_grow(c->removed, c->shown_n, &c->removed_cap, sizeof(*c->removed));
	c->shown[c->shown_n] = *object;
	bt_object_own(&c->shown[c->shown_n], &c->arena);
	c->removed[c->shown_n++] = removed;
}

/* ---- nodes ---- */

static bool is_live(const struct bt_changes *c, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(c->cluster->engine);
	uint32_t interned = bt_intern_find(cache->dictionary->intern, name);

	return interned != BT_NAME_NONE && bt_snapshot_find(cache->snapshot, interned) != BT_NO_NODE;
}

/* Has no later change replaced the object? */
static bool is_newest(const struct bt_changes *c, const struct bt_object *object)
{
	return object == bt_inventory_find(c->inventory, bt_str(bt_kind_info(object->kind)->name),
				 object->meta.namespace_, object->meta.name);
}

/* Calls take for each selected node, as earlier changes leave the nodes. Returns: their number. */
static size_t each_node(struct bt_changes *c, struct bt_str selector,
	void (*take)(struct bt_changes *c, const struct bt_node_object *node, const void *what),
	const void *what)
{
	size_t end = c->inventory->object_n, n = 0;

	for (size_t i = 0; i < end; i++) {
		const struct bt_object *object = &c->inventory->objects[i];

		if (object->kind == BT_KIND_NODE && is_newest(c, object) &&
			bt_node_selected(selector, object->meta.name, &object->meta.labels) &&
			is_live(c, object->meta.name)) {
			const struct bt_node_object node = object->node;

			take(c, &node, what);
			n++;
		}
	}
	return n;
}

static void take_away(struct bt_changes *c, const struct bt_node_object *node, const void *what)
{
	const enum bt_step_kind *kind = what;

	add_step(c, (struct bt_step){.kind = *kind, .name = node->meta.name});
}

static int take_nodes_away(struct bt_changes *c, const char *option, const char *text, enum bt_step_kind kind)
{
	if (each_node(c, bt_str(text), take_away, &kind) == 0) {
		bt_message("berth whatif: --%s %s selects no node of the cluster; give a node's name or a "
			   "label as KEY=VALUE\n",
			option, text);
		return BT_EXIT_INPUT;
	}
	return BT_EXIT_OK;
}

static void edit_node(struct bt_changes *c, const struct bt_node_object *node, const void *what)
{
	const struct bt_str *edit = what;
	struct bt_node_object copy = *node;
	struct bt_buf why = {0};

	bool valid = bt_node_edit(&copy, *edit, &c->arena, &why);
	BT_REQUIRE(valid);
	bt_buf_fini(&why);
	add_node(c, &copy);
}

static int set(struct bt_changes *c, const char *text)
{
	const char *form = "NODE|SELECTOR:CHANGE";
	struct bt_str whole = bt_str(text);
	size_t colon = bt_str_find(whole, ':', 0);
	struct bt_str edit = bt_str_sub(whole, colon < whole.len ? colon + 1 : whole.len, whole.len);
	struct bt_node_object unused = {0};
	struct bt_buf why = {0};

	if (colon == 0 || edit.len == 0) {
		return misused(c, "set", text, form);
	}
	if (!bt_node_edit(&unused, edit, &c->arena, &why)) {
		int status =
			bt_invocation_wrong(c->cluster->invocation->command, "--set %s: %s", text, why.ptr);

		bt_buf_fini(&why);
		return status;
	}
	bt_buf_fini(&why);
	if (each_node(c, bt_str_sub(whole, 0, colon), edit_node, &edit) == 0) {
		return refuse("set", text, "it selects no node; give a node's name or a label as KEY=VALUE");
	}
	return BT_EXIT_OK;
}

/* ---- objects through admission ---- */

/* Known objects as a source of copies, which admission may change. */
struct known_objects {
	const struct bt_object *items;
	size_t n, at;
	struct bt_object copy;
};

static struct bt_object *next_known(void *context)
{
	struct known_objects *known = context;

	if (known->at == known->n) {
		return NULL;
	}
	known->copy = known->items[known->at++];
	return &known->copy;
}

static void load_objects(struct bt_changes *c, const struct bt_object *objects, size_t n,
	void (*take)(void *context, struct bt_object *object, bool made))
{
	struct known_objects known = {.items = objects, .n = n};

	(void)bt_load_apart_source(&c->cluster->load, &(struct bt_source){next_known, &known}, take, c);
}

static void keep_made(struct bt_changes *c, const struct bt_pod_object *pod)
{
	struct bt_made_pods *made = c->made;

	made->items = bt_mem_grow(made->items, made->n, &made->cap, sizeof(*made->items));
	made->items[made->n++] = *own_pods(c, pod, 1);
}

static void forget_made(struct bt_changes *c)
{
	if (c->made) {
		bt_mem_free(c->made->items);
		bt_mem_free(c->made);
	}
	c->made = NULL;
}

static void begin_made(struct bt_changes *c)
{
	forget_made(c);
	c->made = bt_mem_zalloc(1, sizeof(*c->made));
}

static void take_template(void *context, struct bt_object *object, bool made)
{
	struct bt_changes *c = context;

	if (object->kind == BT_KIND_NODE && !made && c->made->n == 0) {
		(void)bt_inventory_put(c->inventory, object);
		c->trouble = NULL;
		c->made->n = 1; /* the first one counts */
	}
}

/* The pod that a DaemonSet makes for a node requires it by name. */
static bool is_daemon_of(const struct bt_pod_object *pod, struct bt_str node)
{
	const struct bt_node_selector_object *required = &pod->spec.affinity.node_affinity.required;

	for (uint32_t t = 0; t < required->term_n; t++) {
		const struct bt_requirement_object_list *fields = &required->terms[t].match_fields;

		for (uint32_t i = 0; i < fields->n; i++) {
			if (bt_str_is(fields->items[i].key, "metadata.name") && fields->items[i].values.n &&
				bt_str_eq(fields->items[i].values.items[0], node)) {
				return true;
			}
		}
	}
	return false;
}

static void take_made(void *context, struct bt_object *object, bool made)
{
	if (made && object->kind == BT_KIND_POD) {
		keep_made(context, &object->pod);
	}
}

/* The DaemonSets' pods for the nodes of the steps from first on. */
static void add_daemons(struct bt_changes *c, size_t first)
{
	size_t step_n = c->step_n;

	for (size_t i = 0, end = c->inventory->object_n; i < end; i++) {
		const struct bt_object object = c->inventory->objects[i];

		if (object.kind != BT_KIND_DAEMON_SET || !is_newest(c, &c->inventory->objects[i])) {
			continue;
		}
		begin_made(c);
		load_objects(c, &object, 1, take_made);
		for (size_t p = 0; p < c->made->n; p++) {
			for (size_t s = first; s < step_n; s++) {
				if (is_daemon_of(&c->made->items[p], c->steps[s]->name)) {
					add_pod(c, &c->made->items[p]);
				}
			}
		}
	}
	forget_made(c);
}

/* The node that a template names, of the cluster or of a file; NULL: reported. */
static const struct bt_object *find_template(struct bt_changes *c, const char *text, const char *name)
{
	const struct bt_object *found =
		bt_inventory_find(c->inventory, bt_str("Node"), (struct bt_str){0}, bt_str(name));
	size_t before = c->inventory->object_n;

	if (found) {
		return found;
	}
	begin_made(c);
	bool read = bt_load_apart(&c->cluster->load, name, take_template, c);
	bool has = c->inventory->object_n > before;
	forget_made(c);
	if (!read || !has) {
		refuse("add", text,
			read ? "the file holds no Node; give one, or the name of a node of the cluster"
			     : "it is neither a node of the cluster nor a file that can be read");
		return NULL;
	}
	return &c->inventory->objects[before];
}

static int add_copies(struct bt_changes *c, const struct bt_node_object *template, uint64_t n)
{
	size_t first = c->step_n;
	struct bt_buf name = {0};

	for (uint64_t i = 0, number = 1; i < n; i++) {
		struct bt_node_object node = *template;

		do {
			bt_buf_clear(&name);
			bt_buf_printf(&name, "%.*s-%llu", BT_STR_ARG(template->meta.name),
				(unsigned long long)number++);
		} while (is_live(c, bt_buf_view(&name)));
		bt_node_renew(&node, bt_buf_view(&name), &c->arena);
		add_node(c, &node);
	}
	bt_buf_fini(&name);
	add_daemons(c, first);
	return BT_EXIT_OK;
}

/* Splits "TEXT*N" or "TEXT=N" at the last separator. Returns: false when there is no number of the range. */
static bool split_number(
	const char *text, char separator, uint64_t max, struct bt_buf *out_left, uint64_t *out_n)
{
	const char *at = strrchr(text, separator);
	int64_t n;

	bt_buf_add(out_left, text, at ? (size_t)(at - text) : strlen(text));
	if (!at || at == text || !bt_parse_int64(bt_str(at + 1), &n) || n < 0 || (uint64_t)n > max) {
		return false;
	}
	*out_n = (uint64_t)n;
	return true;
}

static int add(struct bt_changes *c, const char *text)
{
	struct bt_buf name = {0};
	uint64_t n = 1;
	int status;

	if (strchr(text, '*') && (!split_number(text, '*', ADD_MAX, &name, &n) || n == 0)) {
		status = misused(c, "add", text, "TEMPLATE*N, with N from 1 to 100000");
	} else {
		const struct bt_object *found = find_template(c, text, name.len ? name.ptr : text);
		const struct bt_object template = found ? *found : (struct bt_object){0};

		status = found ? add_copies(c, &template.node, n) : BT_EXIT_INPUT;
	}
	bt_buf_fini(&name);
	return status;
}

/* ---- objects by name ---- */

struct named {
	enum bt_kind kind;
	struct bt_str namespace_, name;
};

static bool is_word(struct bt_str text, const char *word)
{
	return strlen(word) == text.len && strncasecmp(text.ptr, word, text.len) == 0;
}

/* The kind that a word of kubectl means: deployment, deployments, deploy; BT_KIND_OTHER: none. */
static enum bt_kind kind_of(struct bt_str word)
{
	static const struct {
		const char *word;
		enum bt_kind kind;
	} shorts[] = {{"po", BT_KIND_POD}, {"no", BT_KIND_NODE}, {"ns", BT_KIND_NAMESPACE},
		{"deploy", BT_KIND_DEPLOYMENT}, {"rs", BT_KIND_REPLICA_SET},
		{"rc", BT_KIND_REPLICATION_CONTROLLER}, {"sts", BT_KIND_STATEFUL_SET},
		{"ds", BT_KIND_DAEMON_SET}, {"cj", BT_KIND_CRON_JOB}, {"svc", BT_KIND_SERVICE},
		{"pdb", BT_KIND_POD_DISRUPTION_BUDGET}, {"pv", BT_KIND_PERSISTENT_VOLUME},
		{"pvc", BT_KIND_PERSISTENT_VOLUME_CLAIM}, {"sc", BT_KIND_STORAGE_CLASS},
		{"pc", BT_KIND_PRIORITY_CLASS}};

	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
		if (is_word(word, shorts[i].word)) {
			return shorts[i].kind;
		}
	}
	for (int kind = 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);

		if (is_word(word, info->name) || is_word(word, info->resource)) {
			return info->kind;
		}
	}
	return BT_KIND_OTHER;
}

/* Reads KIND/NAME, KIND/NAMESPACE/NAME or NAMESPACE/KIND/NAME. Returns: false when it is none of these. */
static bool read_named(struct bt_str text, struct named *out)
{
	size_t first = bt_str_find(text, '/', 0), second = bt_str_find(text, '/', first + 1);
	struct bt_str parts[] = {bt_str_sub(text, 0, first),
		first < text.len ? bt_str_sub(text, first + 1, second) : (struct bt_str){0},
		second < text.len ? bt_str_sub(text, second + 1, text.len) : (struct bt_str){0}};

	*out = (struct named){.kind = kind_of(parts[0])};
	if (second >= text.len) {
		out->name = parts[1];
	} else if (out->kind != BT_KIND_OTHER) {
		out->namespace_ = parts[1];
		out->name = parts[2];
	} else {
		out->kind = kind_of(parts[1]);
		out->namespace_ = parts[0];
		out->name = parts[2];
	}
	if (out->kind == BT_KIND_OTHER || out->name.len == 0) {
		return false;
	}
	if (!bt_kind_info(out->kind)->namespaced) {
		out->namespace_ = (struct bt_str){0};
	} else if (out->namespace_.len == 0) {
		out->namespace_ = bt_str("default");
	}
	return true;
}

/* The number of pods that the workload has, as changes have not touched them. */
static size_t count_pods(const struct bt_changes *c, uint64_t workload)
{
	size_t n = 0;

	for (size_t i = 0; i < c->inventory->pod_n; i++) {
		n += c->inventory->pods[i].workload == workload;
	}
	return n;
}

static uint64_t key_of(const struct named *named)
{
	return bt_workload_key(bt_str(bt_kind_info(named->kind)->name), named->namespace_, named->name);
}

static void add_scale(struct bt_changes *c, enum bt_kind kind, uint64_t workload, uint64_t replicas)
{
	add_step(c, (struct bt_step){.kind = BT_STEP_SCALE,
			    .workload = workload,
			    .replicas = replicas,
			    .by_ordinal = kind == BT_KIND_STATEFUL_SET,
			    .pods = c->made ? c->made->items : NULL,
			    .pod_n = c->made ? c->made->n : 0});
	/* The steps keep the array. */
	if (c->made && c->made->n) {
		struct bt_step *last = (struct bt_step *)(uintptr_t)c->steps[c->step_n - 1];

		last->pods = own_pods(c, c->made->items, c->made->n);
	}
}

/* ---- scaling ---- */

static bool is_owned_by(const struct bt_object *object, const struct named *parent)
{
	for (uint32_t i = 0; i < object->meta.owner_n; i++) {
		if (bt_str_is(object->meta.owners[i].kind, "Deployment") &&
			bt_str_eq(object->meta.owners[i].name, parent->name)) {
			return bt_str_eq(object->meta.namespace_, parent->namespace_);
		}
	}
	return false;
}

/* Makes pods of the workload as if it had n replicas, and none yet: a Deployment's by its ReplicaSets. */
static void make_replicas(struct bt_changes *c, const struct named *named, uint64_t n)
{
	struct bt_object *family = NULL;
	size_t family_n = 0, cap = 0;

	begin_made(c);
	for (size_t i = 0; i < c->inventory->object_n; i++) {
		const struct bt_object *object = &c->inventory->objects[i];
		bool is_it = object->kind == named->kind &&
			     bt_str_eq(object->meta.namespace_, named->namespace_) &&
			     bt_str_eq(object->meta.name, named->name);

		if (!is_newest(c, object)) {
			continue;
		}
		if (!is_it && !(named->kind == BT_KIND_DEPLOYMENT && object->kind == BT_KIND_REPLICA_SET &&
				      is_owned_by(object, named))) {
			continue;
		}
		family = bt_mem_grow(family, family_n, &cap, sizeof(*family));
		family[family_n] = *object;
		if (is_it) {
			family[family_n].workload.replicas = (int32_t)n;
			family[family_n].workload.has_replicas = true;
		}
		family_n++;
	}
	if (family_n) {
		load_objects(c, family, family_n, take_made);
	}
	bt_mem_free(family);
}

static bool has_replicas(enum bt_kind kind)
{
	return kind == BT_KIND_DEPLOYMENT || kind == BT_KIND_REPLICA_SET || kind == BT_KIND_STATEFUL_SET ||
	       kind == BT_KIND_REPLICATION_CONTROLLER;
}

static int scale_named(struct bt_changes *c, const char *text, const struct named *named, uint64_t replicas)
{
	size_t now = count_pods(c, key_of(named));
	const struct bt_object *object = bt_inventory_find(
		c->inventory, bt_str(bt_kind_info(named->kind)->name), named->namespace_, named->name);

	if (!object && (now == 0 || replicas > now)) {
		return refuse("scale", text,
			now ? "the input has its pods, but not the workload itself; add it"
			    : "there is no such workload in the input; give NAMESPACE/KIND/NAME, and the "
			      "workload with the cluster");
	}
	make_replicas(c, named, replicas ? replicas + now : 0);
	add_scale(c, named->kind, key_of(named), replicas);
	forget_made(c);
	return BT_EXIT_OK;
}

static int scale(struct bt_changes *c, const char *text)
{
	struct bt_buf left = {0};
	struct named named;
	uint64_t replicas;
	int status;

	if (!split_number(text, '=', REPLICA_MAX, &left, &replicas) ||
		!read_named(bt_buf_view(&left), &named)) {
		status = misused(c, "scale", text, "[NAMESPACE/]KIND/NAME=REPLICAS");
	} else if (!has_replicas(named.kind)) {
		status = refuse("scale", text,
			"only a Deployment, ReplicaSet, StatefulSet or ReplicationController has replicas");
	} else {
		status = scale_named(c, text, &named, replicas);
	}
	bt_buf_fini(&left);
	return status;
}

/* ---- applying ---- */

/* Are the pod templates of two workloads equal? */
static bool same_template(const struct bt_object *a, const struct bt_object *b)
{
	struct bt_buf texts[2] = {{0}, {0}};
	const struct bt_object *objects[] = {a, b};

	for (size_t i = 0; i < 2; i++) {
		struct bt_object template = {.kind = a->kind,
			.workload = {.template_meta = objects[i]->workload.template_meta,
				.template_spec = objects[i]->workload.template_spec}};

		bt_object_encode(&template, &texts[i]);
	}
	bool same = bt_str_eq(bt_buf_view(&texts[0]), bt_buf_view(&texts[1]));
	bt_buf_fini(&texts[0]);
	bt_buf_fini(&texts[1]);
	return same;
}

/* A workload with another template replaces its pods; one with other replicas is scaled. */
static void apply_workload(struct bt_changes *c, const struct bt_object *object)
{
	const struct named named = {object->kind, object->meta.namespace_, object->meta.name};
	const struct bt_object *old = bt_inventory_find(
		c->inventory, bt_str(bt_kind_info(object->kind)->name), named.namespace_, named.name);
	size_t now = count_pods(c, key_of(&named)), n;
	bool scales = old && same_template(old, object) && has_replicas(object->kind);

	(void)bt_inventory_put(c->inventory, object);
	begin_made(c);
	if (scales) {
		int64_t replicas = object->workload.has_replicas ? object->workload.replicas : 1;

		n = replicas > 0 ? (size_t)replicas : 0;
		make_replicas(c, &named, n ? n + now : 0);
	} else {
		load_objects(c, object, 1, take_made);
		n = c->made->n;
		struct bt_made_pods *made = c->made;

		c->made = NULL;
		add_scale(c, object->kind, key_of(&named), 0);
		c->made = made;
	}
	add_scale(c, object->kind, key_of(&named), n);
	forget_made(c);
}

/* Objects of the file, but the pods of its workloads, which follow from the workloads. */
static void take_applied(void *context, struct bt_object *object, bool made)
{
	struct bt_changes *c = context;

	if (made) {
		return;
	}
	if (object->kind == BT_KIND_NODE) {
		add_node(c, &object->node);
	} else if (object->kind == BT_KIND_POD) {
		if (bt_engine_is_other_schedulers(c->cluster->engine, &object->pod)) {
			c->trouble = "schedulerName names no profile of the configuration; set it to one of "
				     "them";
		}
		add_pod(c, &object->pod);
	} else {
		show_later(c, object, false);
	}
}

static int apply(struct bt_changes *c, const char *path)
{
	size_t first = c->shown_n;

	c->trouble = NULL;
	if (!bt_load_apart(&c->cluster->load, path, take_applied, c)) {
		return refuse("apply", path, "it cannot be read, or holds no objects");
	}
	for (size_t i = first, end = c->shown_n; i < end; i++) {
		const struct bt_object object = c->shown[i];

		if (bt_kind_makes_pods(object.kind)) {
			apply_workload(c, &object);
		}
	}
	return c->trouble ? refuse("apply", path, c->trouble) : BT_EXIT_OK;
}

/* ---- deleting ---- */

static int delete (struct bt_changes *c, const char *text)
{
	struct named named;
	struct bt_object object = {0};

	if (!read_named(bt_str(text), &named)) {
		return misused(c, "delete", text, "KIND/NAME or KIND/NAMESPACE/NAME");
	}
	const struct bt_kind_info *info = bt_kind_info(named.kind);
	if (named.kind == BT_KIND_NODE) {
		return take_nodes_away(c, "delete", named.name.ptr, BT_STEP_LOSE);
	}
	if (named.kind == BT_KIND_POD) {
		if (bt_engine_find_pod(c->cluster->engine, named.namespace_, named.name) == BT_NO_POD) {
			return refuse("delete", text, "there is no such pod; give pod/NAMESPACE/NAME");
		}
		add_step(c, (struct bt_step){.kind = BT_STEP_DELETE_POD,
				    .namespace_ = named.namespace_,
				    .name = named.name});
		return BT_EXIT_OK;
	}
	if (named.kind == BT_KIND_NAMESPACE) {
		return refuse("delete", text, "namespaces are not deleted; delete the workloads in it");
	}
	if (bt_kind_makes_pods(named.kind)) {
		if (count_pods(c, key_of(&named)) == 0 &&
			!bt_inventory_find(c->inventory, bt_str(info->name), named.namespace_, named.name)) {
			return refuse("delete", text, "there is no such workload; give KIND/NAMESPACE/NAME");
		}
		add_scale(c, named.kind, key_of(&named), 0);
	}
	object.kind = named.kind;
	object.kind_name = bt_str(info->name);
	object.api_version = bt_kind_api_version(info);
	object.meta = (struct bt_meta_object){.name = named.name, .namespace_ = named.namespace_};
	show_later(c, &object, true);
	return BT_EXIT_OK;
}

/* ---- all options ---- */

static int take_drain(struct bt_changes *c, const char *text)
{
	return take_nodes_away(c, "drain", text, BT_STEP_DRAIN);
}

static int take_loss(struct bt_changes *c, const char *text)
{
	return take_nodes_away(c, "lose", text, BT_STEP_LOSE);
}

static const struct {
	const char *option;
	int (*read)(struct bt_changes *c, const char *text);
	bool helps_pending;
} readers[] = {{"drain", take_drain, false}, {"lose", take_loss, false}, {"add", add, true},
	{"scale", scale, true}, {"apply", apply, true}, {"delete", delete, true}, {"set", set, true}};

bool bt_changes_need_objects(const struct bt_invocation *invocation)
{
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if (bt_invocation_item(invocation, readers[i].option, 0)) {
			return true;
		}
	}
	return false;
}

static int read_option(struct bt_changes *c, const char *name, const char *text)
{
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if (strcmp(readers[i].option, name) == 0) {
			bt_buf_printf(&c->text, "%s%s %s", c->text.len ? ", " : "", name, text);
			c->helps_pending |= readers[i].helps_pending;
			int status = readers[i].read(c, text);
			c->change_n++;
			return status;
		}
	}
	return BT_EXIT_OK;
}

/* Kinds without steps join the cluster, or leave it. */
static int show_all(struct bt_changes *c)
{
	struct bt_taken taken;

	for (size_t i = 0; i < c->shown_n; i++) {
		enum bt_status status = bt_pipeline_apply_object(c->cluster->pipeline,
			c->removed[i] ? BT_WATCH_EVENT_DELETE : BT_WATCH_EVENT_APPLY, &c->shown[i], &taken);

		if (c->removed[i] && status == BT_NOT_FOUND && !bt_kind_makes_pods(c->shown[i].kind)) {
			bt_message("berth whatif: --delete: there is no %.*s %.*s in the input; give "
				   "KIND/NAMESPACE/NAME\n",
				BT_STR_ARG(c->shown[i].kind_name), BT_STR_ARG(c->shown[i].meta.name));
			return BT_EXIT_INPUT;
		}
	}
	return BT_EXIT_OK;
}

int bt_changes_read(struct bt_changes *c)
{
	const struct bt_option *option;
	const char *text;
	int status = BT_EXIT_OK;

	bt_transaction_begin(c->cluster->engine);
	for (size_t i = 0;
		status == BT_EXIT_OK && (option = bt_invocation_given(c->cluster->invocation, i, &text));
		i++) {
		status = read_option(c, option->name, text);
	}
	bt_transaction_roll_back(c->cluster->engine);
	return status == BT_EXIT_OK ? show_all(c) : status;
}

void bt_changes_fini(struct bt_changes *c)
{
	forget_made(c);
	bt_mem_free(c->steps);
	bt_mem_free(c->shown);
	bt_mem_free(c->removed);
	bt_buf_fini(&c->text);
	bt_arena_fini(&c->arena);
}
