/* SPDX-License-Identifier: Apache-2.0
 * Compares the plugins' event registrations and queueing hints with kube-scheduler's: for a waiting pod and
 * an object before and after a change, each event's hint plugins and those that return Queue. Usage:
 * test_hints CASES ANSWERS, both JSON lines, possibly compressed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "answers.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/hints.h"
#include "plugins/dynamic_resources/selectors.h"
#include "cache_fixture.h"
#include "tools/format/json.h"
#include "tools/format/object_reader.h"
#include "tools/kube/config/config_decode.h"

#define SHOWN_MAX 20

#define GATES_REFUSED "gates refused\n"

struct hint_case {
	struct bt_str id, gates;
	struct bt_str config, objects, waiting, old, new; /* JSON texts */
};

#define TEXT(json, kind, member)                                                                             \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(struct hint_case, member)  \
	}
static const struct bt_field case_fields[] = {
	TEXT("config", RAW, config),
	TEXT("gates", STR, gates),
	TEXT("id", STR, id),
	TEXT("new", RAW, new),
	TEXT("objects", RAW, objects),
	TEXT("old", RAW, old),
	TEXT("waiting", RAW, waiting),
};
static const struct bt_schema case_schema = BT_SCHEMA(case_fields, struct hint_case);

/* A running case. */
struct trial {
	const struct bt_release *release;
	const struct hint_case *is;
	struct bt_arena arena;
	struct bt_config config;
	struct bt_cache *cache;
	struct bt_flow_profile profile;
	struct bt_hints hints;
	struct bt_buf got, wanted;
};

static void stop(const struct trial *t, const char *what, struct bt_str why)
{
	fprintf(stderr, "%.*s: %s: %.*s\n", BT_STR_ARG(t->is->id), what, BT_STR_ARG(why));
	exit(2);
}

static uint32_t name_of(struct trial *t, struct bt_str text)
{
	return text.len ? bt_intern_add(t->cache->dictionary->intern, text) : BT_NAME_NONE;
}

/* ---- the profile ---- */

static void set_up_devices(struct trial *t, const struct bt_gates *gates)
{
	static const struct bt_device_judge judge = {
		bt_selectors_create, bt_selectors_destroy, bt_selectors_match, bt_selectors_derive};
	const struct bt_device_features features = {
		.extended_resources = gates->on[BT_GATE_DRA_EXTENDED_RESOURCE], .release = gates->release};

	bt_devices_configure(t->cache->devices, &features, &judge);
}

static void set_up_profile(struct trial *t)
{
	struct bt_config_errors errors = {0};
	struct bt_resolved_profile *resolved = bt_mem_zalloc(1, sizeof(*resolved));
	struct bt_buf why = {0};
	struct bt_gates gates;

	bt_gates_init(&gates, t->release);
	if (t->is->gates.len && bt_gates_parse(&gates, t->is->gates, &why) != BT_OK) {
		stop(t, "gates", bt_buf_view(&why));
	}
	if (t->is->config.len) {
		bt_config_init(&t->config, &gates);
		if (bt_config_load(&t->config, "config", t->is->config, &why) != BT_OK) {
			stop(t, "config", bt_buf_view(&why));
		}
	} else {
		bt_config_init_default(&t->config, &gates);
	}
	if (bt_config_resolve(&t->config, 0, &errors, resolved) != BT_OK) {
		bt_config_errors_text(&errors, &why);
		stop(t, "profile", bt_buf_view(&why));
	}
	bt_signatures_configure(t->cache->signatures, gates.release, gates.on);
	set_up_devices(t, &gates);
	bt_flow_profile_init(&t->profile, resolved, &t->config.gates, t->cache->dictionary, &t->arena);
	bt_hints_of(&t->hints, &t->profile);
	if (t->config.extender_n) {
		bt_hints_add_extenders(&t->hints, gates.on[BT_GATE_GENERIC_WORKLOAD]);
	}
	bt_mem_free(resolved);
	bt_config_errors_fini(&errors);
	bt_buf_fini(&why);
}

/* ---- objects ---- */

static struct bt_object decode_at(struct trial *t, struct bt_json *json)
{
	struct bt_decode decode = {.json = json, .arena = &t->arena};
	struct bt_object object = {0};

	if (!bt_object_decode(&decode, &object)) {
		stop(t, decode.error.path, bt_str(decode.error.message));
	}
	return object;
}

static struct bt_object decode(struct trial *t, struct bt_str text)
{
	struct bt_json *json = bt_json_create();

	bt_json_begin(json, text, &t->arena);
	struct bt_object object = decode_at(t, json);
	bt_json_destroy(json);
	return object;
}

static void apply(struct trial *t, const struct bt_object *object)
{
	uint32_t ix;

	if (object->kind == BT_KIND_NODE) {
		cache_show_node(t->cache, &object->node, &ix);
	} else if (object->kind == BT_KIND_SERVICE) {
		bt_ingest_service(t->cache, &object->service);
	} else if (object->kind == BT_KIND_NAMESPACE) {
		bt_ingest_namespace(t->cache, &object->namespace_);
	} else if (bt_kind_store(object->kind) == BT_STORE_VOLUMES) {
		bt_ingest_storage(t->cache, object);
	} else if (bt_kind_store(object->kind) == BT_STORE_DEVICES) {
		bt_ingest_devices(t->cache, object);
	} else {
		stop(t, "objects", object->meta.name);
	}
}

static void apply_objects(struct trial *t)
{
	struct bt_json *json = bt_json_create();

	bt_json_begin(json, t->is->objects, &t->arena);
	bt_json_enter_array(json);
	while (bt_json_next_element(json)) {
		struct bt_object object = decode_at(t, json);

		apply(t, &object);
	}
	bt_json_destroy(json);
}

/* ---- sets of plugins as text ---- */

struct names {
	struct bt_str items[BT_HINT_PLUGINS];
	uint32_t n;
};

static void add_name(struct names *names, struct bt_str name)
{
	if (names->n < BT_HINT_PLUGINS) {
		names->items[names->n++] = name;
	}
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

static void write_names(struct names *names, struct bt_buf *out)
{
	if (names->n) {
		qsort(names->items, names->n, sizeof(*names->items), by_text);
	}
	for (uint32_t i = 0; i < names->n; i++) {
		bt_buf_printf(out, " %.*s", BT_STR_ARG(names->items[i]));
	}
}

/* ---- events ---- */

/* The result of each of the profile's hint plugins for an event, as a line. */
static void ask(
	struct trial *t, const struct bt_signature *waiting, bool own, const struct bt_cluster_event *event)
{
	bt_plugin_set interested = bt_hints_interested(&t->hints, event);
	const struct bt_hint_waiting hinted = {waiting, own, false};
	struct names asked = {0}, queue = {0};

	for (uint32_t i = 0; i < BT_HINT_PLUGINS; i++) {
		struct bt_str name = bt_str(bt_hints_name(i));

		if (!t->hints.hint_plugins[i].is_there) {
			continue;
		}
		if (bt_plugin_set_has(interested, i)) {
			add_name(&asked, name);
		}
		if (bt_hints_queue(&t->hints, &t->cache->view, &hinted, event, bt_plugin_set_of(i), NULL) !=
			BT_HINT_NONE) {
			add_name(&queue, name);
		}
	}
	bt_buf_printf(&t->got, "%s%s: asked", bt_cluster_event_resource_name(t->release, event->resource),
		bt_cluster_event_action_name(event->action));
	write_names(&asked, &t->got);
	bt_buf_text(&t->got, "; queue");
	write_names(&queue, &t->got);
	bt_buf_char(&t->got, '\n');
	/* Queue if any plugin returns Queue. */
	if ((bt_hints_queue(&t->hints, &t->cache->view, &hinted, event, UINT32_MAX, NULL) != BT_HINT_NONE) !=
		(queue.n > 0)) {
		stop(t, "hint plugins together and alone", bt_str("differ"));
	}
}

static struct bt_cluster_event_pod pod_facts(struct trial *t, const struct bt_pod_object *pod)
{
	return (struct bt_cluster_event_pod){
		.signature = bt_signatures_intern(t->cache->signatures, pod),
		.name = name_of(t, pod->meta.name),
		.uid = name_of(t, pod->meta.uid),
		.node = name_of(t, pod->spec.node_name),
		.nominated = pod->nominated_node_name.len > 0,
		.gated = pod->spec.scheduling_gates.n > 0,
	};
}

static void ask_of_pod(struct trial *t, const struct bt_object *waiting, const struct bt_object *old,
	const struct bt_object *new)
{
	const struct bt_signature *signature = bt_signatures_intern(t->cache->signatures, &waiting->pod);
	struct bt_cluster_event event = {.action = old ? BT_DELETE : BT_ADD};
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS], n = 1;
	const struct bt_cluster_event_pod *some = new ? &event.pod.new : &event.pod.old;

	if (old) {
		event.pod.old = pod_facts(t, &old->pod);
	}
	if (new) {
		event.pod.new = pod_facts(t, &new->pod);
	}
	actions[0] = event.action;
	if (old && new) {
		n = bt_pod_changes(t->release, &event.pod.old, &event.pod.new, actions);
	}
	bool own = some->uid == name_of(t, waiting->meta.uid);
	event.resource = some->node ? BT_CLUSTER_EVENT_ASSIGNED_POD
			 : own && old && new &&bt_release_has(t->release, BT_RULE_POD_EVENTS_BY_KIND)
				 ? BT_CLUSTER_EVENT_TARGET_POD
				 : BT_CLUSTER_EVENT_UNSCHEDULED_POD;
	for (uint32_t i = 0; i < n; i++) {
		event.action = actions[i];
		ask(t, signature, own, &event);
	}
}

static void ask_of_node(struct trial *t, const struct bt_object *waiting, const struct bt_object *old,
	const struct bt_object *new)
{
	const struct bt_signature *signature = bt_signatures_intern(t->cache->signatures, &waiting->pod);
	struct bt_node_facts before, after;
	struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE};
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS] = {old ? BT_DELETE : BT_ADD}, n = 1, ix;

	if (old) {
		cache_show_node(t->cache, &old->node, &ix);
		bt_node_facts_of(bt_snapshot_desc(t->cache->snapshot, ix), &t->arena, &before);
		event.node.old = &before;
	}
	if (new) {
		cache_show_node(t->cache, &new->node, &ix);
		bt_node_facts_of(bt_snapshot_desc(t->cache->snapshot, ix), &t->arena, &after);
		event.node.new = &after;
	}
	if (old && new) {
		n = bt_node_facts_changes(bt_release_default(), &before, &after, actions);
	}
	for (uint32_t i = 0; i < n; i++) {
		event.action = actions[i];
		ask(t, signature, false, &event);
	}
}

static bool describe(struct trial *t, const struct bt_object *object, struct bt_cluster_event_object *out)
{
	return bt_kind_store(object->kind) == BT_STORE_VOLUMES
		       ? bt_volumes_describe(t->cache->volumes, object, &t->cache->dictionary->for_ever, out)
		       : bt_devices_describe(t->cache->devices, object, &t->cache->dictionary->for_ever, out);
}

static bool describe_removal(
	struct trial *t, const struct bt_object *object, struct bt_cluster_event_object *out)
{
	uint32_t namespace_ = name_of(t, object->meta.namespace_), name = name_of(t, object->meta.name);

	return bt_kind_store(object->kind) == BT_STORE_VOLUMES
		       ? bt_volumes_describe_removal(t->cache->volumes, object->kind, namespace_, name, out)
		       : bt_devices_describe_removal(t->cache->devices, object->kind, namespace_, name, out);
}

/* Storage and devices. */
static void ask_of_object(struct trial *t, const struct bt_object *waiting, const struct bt_object *old,
	const struct bt_object *new)
{
	static const enum bt_cluster_event_resource resources[BT_KIND_N] = {
		[BT_KIND_PERSISTENT_VOLUME] = BT_CLUSTER_EVENT_PERSISTENT_VOLUME,
		[BT_KIND_PERSISTENT_VOLUME_CLAIM] = BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM,
		[BT_KIND_STORAGE_CLASS] = BT_CLUSTER_EVENT_STORAGE_CLASS,
		[BT_KIND_CSI_NODE] = BT_CLUSTER_EVENT_CSI_NODE,
		[BT_KIND_CSI_DRIVER] = BT_CLUSTER_EVENT_CSI_DRIVER,
		[BT_KIND_CSI_STORAGE_CAPACITY] = BT_CLUSTER_EVENT_CSI_STORAGE_CAPACITY,
		[BT_KIND_VOLUME_ATTACHMENT] = BT_CLUSTER_EVENT_VOLUME_ATTACHMENT,
		[BT_KIND_RESOURCE_CLAIM] = BT_CLUSTER_EVENT_RESOURCE_CLAIM,
		[BT_KIND_RESOURCE_SLICE] = BT_CLUSTER_EVENT_RESOURCE_SLICE,
		[BT_KIND_DEVICE_CLASS] = BT_CLUSTER_EVENT_DEVICE_CLASS,
	};
	const struct bt_signature *signature = bt_signatures_intern(t->cache->signatures, &waiting->pod);
	const struct bt_object *some = new ? new : old;
	struct bt_cluster_event event = {.resource = resources[some->kind]};

	if (old) {
		apply(t, old);
	}
	if (new) {
		event.action = describe(t, new, &event.object) ? BT_UPDATE : BT_ADD;
		apply(t, new);
	} else {
		event.action = BT_DELETE;
		if (!describe_removal(t, old, &event.object)) {
			stop(t, "removal", bt_str("what is there is not found"));
		}
	}
	ask(t, signature, false, &event);
}

static void ask_all(struct trial *t)
{
	struct bt_object waiting = decode(t, t->is->waiting), old = {0}, new = {0};
	const struct bt_object *was = NULL, *is = NULL;

	if (t->is->old.len) {
		old = decode(t, t->is->old);
		was = &old;
	}
	if (t->is->new.len) {
		new = decode(t, t->is->new);
		is = &new;
	}
	enum bt_kind kind = is ? is->kind : was->kind;
	if (kind == BT_KIND_POD) {
		ask_of_pod(t, &waiting, was, is);
	} else if (kind == BT_KIND_NODE) {
		ask_of_node(t, &waiting, was, is);
	} else if (bt_kind_store(kind) == BT_STORE_VOLUMES || bt_kind_store(kind) == BT_STORE_DEVICES) {
		ask_of_object(t, &waiting, was, is);
	} else {
		stop(t, "no such kind", is ? is->kind_name : was->kind_name);
	}
}

/* Registrations as lines: the plugins registered for an event, and those without a hint function. */
static void list_registrations(const struct bt_hints *hints, struct bt_buf *out)
{
	for (uint32_t resource = 0; resource < BT_CLUSTER_EVENT_WILDCARD; resource++) {
		for (uint32_t action = 0; action < BT_CLUSTER_EVENT_ACTION_N; action++) {
			for (uint32_t i = 0; i < BT_HINT_PLUGINS; i++) {
				bool always = bt_plugin_set_has(hints->always[resource][action], i);

				if (bt_plugin_set_has(hints->interested[resource][action], i)) {
					bt_buf_printf(out, "%s%s %s%s\n",
						bt_cluster_event_resource_name(hints->release,
							(enum bt_cluster_event_resource)resource),
						bt_cluster_event_action_name(
							action == BT_CLUSTER_EVENT_ACTION_N - 1
								? BT_UPDATE
								: 1u << action),
						bt_hints_name(i), always ? " always" : "");
				}
			}
		}
	}
}

/* ---- upstream's answers ---- */

static void read_names(struct bt_json *json, struct bt_buf *out)
{
	struct names names = {0};
	struct bt_str name;

	bt_json_enter_array(json);
	while (bt_json_next_element(json) && bt_json_string(json, &name)) {
		add_name(&names, name);
	}
	write_names(&names, out);
}

static void read_event(struct bt_json *json, struct bt_buf *out)
{
	struct bt_str key, event;

	bt_json_enter_object(json);
	while (bt_json_next_key(json, &key)) {
		if (bt_str_is(key, "event") && bt_json_string(json, &event)) {
			bt_buf_printf(out, "%.*s: asked", BT_STR_ARG(event));
		} else if (bt_str_is(key, "asked")) {
			read_names(json, out);
		} else {
			bt_buf_text(out, "; queue");
			read_names(json, out);
			bt_buf_char(out, '\n');
		}
	}
}

/* Upstream's bits of actions, numbered per release, converted to ours. */
static uint32_t actions_of(const struct bt_release *release, uint32_t theirs)
{
	static const uint32_t bits[] = {BT_ADD, BT_DELETE, BT_UPDATE_NODE_ALLOCATABLE, BT_UPDATE_NODE_LABEL,
		BT_UPDATE_NODE_TAINT, BT_UPDATE_NODE_CONDITION, BT_UPDATE_NODE_ANNOTATION,
		BT_UPDATE_NODE_DECLARED_FEATURE, BT_UPDATE_NODE_PREEMPTION_POLICY, BT_UPDATE_POD_LABEL,
		BT_UPDATE_POD_SCALE_DOWN, BT_UPDATE_POD_SCALE_UP, BT_UPDATE_POD_TOLERATION,
		BT_UPDATE_POD_GATES_ELIMINATED, BT_UPDATE_POD_GENERATED_CLAIM};
	bool grown = bt_release_has(release, BT_RULE_SCALE_UP_IS_AN_EVENT);
	const uint32_t late = BT_UPDATE_POD_SCALE_UP | BT_UPDATE_NODE_PREEMPTION_POLICY;
	uint32_t actions = 0, n = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (grown || !(bits[i] & late)) {
			actions |= theirs >> n++ & 1 ? bits[i] : 0;
		}
	}
	/* All updates together count as one. */
	return grown || (actions & BT_UPDATE) != (BT_UPDATE & ~late) ? actions : actions | BT_UPDATE;
}

/* Parses a line such as "NodePorts Pod 2 hint" and adds it to the masks. Returns: is it a hint plugin? */
static bool read_registration(struct bt_str line, struct bt_hints *hints)
{
	char plugin[64], resource[64], word[16];
	unsigned actions;
	char *text = bt_mem_zalloc(line.len + 1, 1);

	memcpy(text, line.ptr, line.len);
	if (sscanf(text, "%63s %63s %u %15s", plugin, resource, &actions, word) != 4) {
		fprintf(stderr, "not a registration: %s\n", text);
		exit(2);
	}
	bt_mem_free(text);
	int hint_plugin = bt_hints_number(hints, bt_plugin_find(bt_str(plugin)));
	const bt_plugin_set own = hint_plugin >= 0 ? bt_plugin_set_of((uint32_t)hint_plugin) : 0;

	actions = actions_of(hints->release, actions);
	for (uint32_t r = 0; hint_plugin >= 0 && r < BT_CLUSTER_EVENT_WILDCARD; r++) {
		for (uint32_t a = 0; a < BT_CLUSTER_EVENT_ACTION_N; a++) {
			struct bt_cluster_event event = {.resource = (enum bt_cluster_event_resource)r,
				.action = a == BT_CLUSTER_EVENT_ACTION_N - 1 ? BT_UPDATE : 1u << a};
			enum bt_cluster_event_resource named =
				strcmp(resource, "Pod") == 0 ? BT_CLUSTER_EVENT_POD
				: strcmp(resource,
					  bt_cluster_event_resource_name(hints->release, event.resource)) == 0
					? event.resource
					: BT_CLUSTER_EVENT_WILDCARD;

			if (bt_cluster_event_matches(named, actions, &event)) {
				hints->interested[r][a] |= own;
				hints->always[r][a] |= strcmp(word, "always") == 0 ? own : 0;
			}
		}
	}
	return hint_plugin >= 0;
}

static void read_registrations(struct trial *t, struct bt_json *json)
{
	struct bt_hints *theirs = bt_mem_zalloc(1, sizeof(*theirs));
	struct bt_str line;

	*theirs = t->hints;
	memset(theirs->interested, 0, sizeof(theirs->interested));
	memset(theirs->always, 0, sizeof(theirs->always));
	bool strange = false;
	bt_json_enter_array(json);
	while (bt_json_next_element(json) && bt_json_string(json, &line)) {
		strange |= !read_registration(line, theirs);
	}
	bt_buf_text(&t->wanted, strange ? "plugins that are not hint plugins\n" : "");
	list_registrations(theirs, &t->wanted);
	bt_mem_free(theirs);
}

static void read_answer(struct trial *t, struct bt_json *json)
{
	struct bt_str key, id;

	bt_json_enter_object(json);
	while (bt_json_next_key(json, &key)) {
		if (bt_str_is(key, "id") && bt_json_string(json, &id)) {
			if (!bt_str_eq(id, t->is->id)) {
				stop(t, "the answer is for", id);
			}
		} else if (bt_str_is(key, "events")) {
			bt_json_enter_array(json);
			while (bt_json_next_element(json)) {
				read_event(json, &t->wanted);
			}
		} else if (bt_str_is(key, "registrations")) {
			read_registrations(t, json);
		} else if (bt_str_is(key, "error") && bt_json_string(json, &id)) {
			bt_buf_text(&t->wanted, GATES_REFUSED);
		}
	}
}

/* ---- the run ---- */

static bool has_line(struct bt_str text, struct bt_str line)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = bt_str_find(text, '\n', at);

		if (bt_str_eq(bt_str_sub(text, at, end), line)) {
			return true;
		}
		at = end + 1;
	}
	return false;
}

/* Prints the lines of text that other lacks. */
static void show_missing(const char *who, struct bt_str text, struct bt_str other)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = bt_str_find(text, '\n', at);
		struct bt_str line = bt_str_sub(text, at, end);

		if (!has_line(other, line)) {
			printf("  %s: %.*s\n", who, BT_STR_ARG(line));
		}
		at = end + 1;
	}
}

/* Does the release reject the case's gates? */
static bool refuses_gates(const struct trial *t)
{
	struct bt_buf why = {0};
	struct bt_gates gates;

	bt_gates_init(&gates, t->release);
	bool refused = t->is->gates.len && bt_gates_parse(&gates, t->is->gates, &why) != BT_OK;
	bt_buf_fini(&why);
	return refused;
}

static void ask_case(struct trial *t)
{
	set_up_profile(t);
	if (t->is->objects.len) {
		apply_objects(t);
	}
	if (t->is->waiting.len) {
		ask_all(t);
	} else {
		list_registrations(&t->hints, &t->got);
	}
}

/* Runs one case; returns whether both agree. */
static bool run_case(
	const struct bt_release *release, const struct hint_case *is, struct bt_json *answers, bool show)
{
	struct trial *t = bt_mem_zalloc(1, sizeof(*t));

	t->release = release;
	t->is = is;
	t->cache = bt_cache_create();
	if (refuses_gates(t)) {
		bt_buf_text(&t->got, GATES_REFUSED);
	} else {
		ask_case(t);
	}
	read_answer(t, answers);
	bool same = bt_str_eq(bt_buf_view(&t->got), bt_buf_view(&t->wanted));
	if (!same && show) {
		printf("%.*s\n", BT_STR_ARG(is->id));
		show_missing("kube-scheduler", bt_buf_view(&t->wanted), bt_buf_view(&t->got));
		show_missing("berth", bt_buf_view(&t->got), bt_buf_view(&t->wanted));
	}
	bt_cache_destroy(t->cache);
	bt_config_fini(&t->config);
	bt_arena_fini(&t->arena);
	bt_buf_fini(&t->got);
	bt_buf_fini(&t->wanted);
	bt_mem_free(t);
	return same;
}

int main(int argc, char **argv)
{
	struct bt_input_file asked, answered;
	struct bt_arena arena = {0};
	struct bt_json *cases = bt_json_create(), *answers = bt_json_create();
	unsigned n = 0, wrong = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: %s RELEASE CASES ANSWERS\n", argv[0]);
		return 2;
	}
	const struct bt_release *release = answers_release(argv[1]);
	struct bt_input *asked_input = answers_open(argv[2], &asked);
	struct bt_input *answered_input = answers_open(argv[3], &answered);
	bt_json_begin(cases, asked.text, &arena);
	bt_json_begin(answers, answered.text, &arena);
	for (; bt_json_more(cases); n++) {
		struct bt_decode decode = {.json = cases, .arena = &arena, .strict = true};
		struct hint_case is = {0};

		if (!bt_schema_decode(&decode, &case_schema, &is) || !bt_json_more(answers)) {
			fprintf(stderr, "case %u: %s\n", n, decode.error.message);
			return 2;
		}
		wrong += !run_case(release, &is, answers, wrong < SHOWN_MAX);
		bt_arena_reset(&arena);
	}
	printf("%u cases, %u differ\n", n, wrong);
	bt_json_destroy(cases);
	bt_json_destroy(answers);
	bt_arena_fini(&arena);
	bt_input_destroy(asked_input);
	bt_input_destroy(answered_input);
	return n == 0 || wrong > 0;
}
