/* SPDX-License-Identifier: Apache-2.0
 * NodeVolumeLimits. Source: plugins/nodevolumelimits, v1.35.4 to v1.37.2.
 */
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "engine/base/check.h"

#include "cache/node_view.h"
#include "cache/storage_view.h"

enum node_volume_limits_reason_kind {
	TOO_MANY = 0,
	NO_DRIVER, /* arg: the driver */
	NO_CLAIM   /* arg: a name, the text */
};

/* Why the pod's own volumes cannot be counted. */
struct node_volume_limits_fault {
	const char *text; /* NULL: they can be counted */
	bool missing;	  /* a claim is missing: the node is refused; otherwise Filter fails */
};

struct node_volume_limits_wanted {
	uint64_t id;
	uint32_t driver;
	enum bt_in_tree in_tree; /* counts as this kind, where in-tree disks count */
};

struct node_volume_limits_term {
	const struct bt_signature *signature;
	enum bt_driver_demand demand;
	struct node_volume_limits_wanted *wanted; /* each once; current, like the fields below */
	uint32_t wanted_n;
	struct node_volume_limits_fault fault[2]; /* on nodes without and with a CSINode */
};

static void node_volume_limits_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct node_volume_limits_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	term->signature = signature;
	term->demand = ((const struct bt_node_volume_limits_settings *)settings)->demand;
	term->wanted = bt_arena_zalloc(env->arena, signature->volume_n * sizeof(*term->wanted));
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		const struct bt_pod_volume *volume = &signature->volumes[i];

		if (bt_volume_claims(volume->type) || volume->disk.in_tree) {
			out_compiled->state = term;
		}
	}
	out_compiled->term = term;
	out_compiled->filter_skip = !out_compiled->state;
	out_compiled->score_skip = true;
}

static void node_volume_limits_note(
	struct node_volume_limits_term *term, bool everywhere, bool missing, const char *text)
{
	BT_INVARIANT(text);
	for (int i = everywhere ? 0 : 1; i < 2; i++) {
		if (!term->fault[i].text) {
			term->fault[i] = (struct node_volume_limits_fault){text, missing};
		}
	}
}

static void want(struct node_volume_limits_term *term, const struct bt_csi_disk *disk)
{
	uint64_t id = bt_disk_id(disk);

	if (disk->driver == BT_NAME_EMPTY || disk->handle == BT_NAME_EMPTY) {
		return;
	}
	for (uint32_t i = 0; i < term->wanted_n; i++) {
		if (term->wanted[i].id == id) {
			term->wanted[i].in_tree = disk->in_tree ? term->wanted[i].in_tree : BT_IN_TREE_NONE;
			return;
		}
	}
	BT_INVARIANT(term->wanted_n < term->signature->volume_n);
	term->wanted[term->wanted_n++] = (struct node_volume_limits_wanted){id, disk->driver, disk->in_tree};
}

static void add_claim(
	struct node_volume_limits_term *term, const struct bt_view *view, const struct bt_pod_volume *volume)
{
	const struct bt_storage *storage = view->storage;
	struct bt_str space = bt_view_str(view, term->signature->namespace_),
		      name = bt_view_str(view, volume->source);

	if (name.len == 0) {
		node_volume_limits_note(term, true, false, "PersistentVolumeClaim had no name");
		return;
	}
	const struct bt_claim *claim = bt_storage_claim(storage, term->signature->namespace_, volume->source);
	if (!claim) {
		node_volume_limits_note(term, true, true,
			bt_keep_text(view,
				"looking up PVC %.*s/%.*s: persistentvolumeclaim \"%.*s\" not found",
				BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(name)));
		return;
	}
	if (volume->type == BT_VOLUME_EPHEMERAL &&
		(!claim->owner_uid || claim->owner_uid != term->signature->pod_uid)) {
		node_volume_limits_note(term, true, false,
			bt_keep_text(view,
				"PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
				BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(space),
				BT_STR_ARG(bt_view_str(view, term->signature->pod_name))));
		return;
	}
	struct bt_csi_disk disk = storage->disk(storage->context, claim);
	want(term, &disk);
}

/*
 * As upstream, Filter reads all objects itself; the list is the same for all nodes until an object changes.
 */
static void list_wanted(struct node_volume_limits_term *term, const struct bt_view *view)
{
	term->wanted_n = 0;
	term->fault[0] = term->fault[1] = (struct node_volume_limits_fault){0};
	for (uint32_t i = 0; i < term->signature->volume_n && !term->fault[0].text; i++) {
		const struct bt_pod_volume *volume = &term->signature->volumes[i];

		if (bt_volume_claims(volume->type)) {
			add_claim(term, view, volume);
		} else if (volume->disk.error) {
			node_volume_limits_note(term, false, false,
				bt_keep_text(view, "converting volume(%.*s) from inline to csi: %.*s",
					BT_STR_ARG(bt_view_str(view, volume->name)),
					BT_STR_ARG(bt_view_str(view, volume->disk.error))));
		} else {
			want(term, &volume->disk);
		}
	}
}

static void pre_filter(void *state, const struct bt_view *view, struct bt_compiled *compiled)
{
	(void)compiled;
	list_wanted(state, view);
}

static void state_changes(
	struct bt_compiled *compiled, const struct bt_view *view, enum bt_state_change change)
{
	if (change == BT_STATE_HAS_CHANGED && compiled->state) {
		list_wanted(compiled->state, view);
	}
}

static bool listed(const uint64_t *ids, uint32_t n, uint64_t id)
{
	BT_INVARIANT(n > 0);
	uint32_t low = 0;

	while (n) {
		uint32_t half = n / 2;

		if (ids[low + half] < id) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return ids[low] == id;
}

static bool is_attached(const struct bt_attached *attached, uint64_t id)
{
	return attached->disk_n && id <= attached->disks[attached->disk_n - 1] &&
	       listed(attached->disks, attached->disk_n, id);
}

/* Is the driver required on the node, and missing? */
static bool driver_missing(const struct node_volume_limits_term *term, const struct bt_view *view,
	const struct bt_csi_node *csi_node, uint32_t name)
{
	if (term->demand == BT_DEMAND_NO_DRIVER) {
		return false;
	}
	const struct bt_csi_driver *driver = bt_storage_driver(view->storage, name);

	if (!driver || (term->demand == BT_DEMAND_DRIVERS_THAT_INSIST && !driver->prevents_if_missing)) {
		return false;
	}
	for (uint32_t i = 0; csi_node && i < csi_node->driver_n; i++) {
		if (csi_node->drivers[i].driver == name) {
			return false;
		}
	}
	return true;
}

static bool limited(const struct bt_csi_node *csi_node)
{
	for (uint32_t i = 0; csi_node && i < csi_node->driver_n; i++) {
		if (csi_node->drivers[i].limited) {
			return true;
		}
	}
	return false;
}

/* Do the volumes fit in addition to those on the node? */
static bool fits(const struct node_volume_limits_term *term, const struct bt_storage *storage,
	const struct bt_csi_node *csi_node, const struct bt_attached *attached)
{
	BT_INVARIANT(csi_node);
	for (uint32_t d = 0; d < csi_node->driver_n; d++) {
		const struct bt_csi_limit *limit = &csi_node->drivers[d];
		int64_t count = 0, fresh = 0;

		for (uint32_t i = 0; i < term->wanted_n; i++) {
			fresh += term->wanted[i].driver == limit->driver &&
				 bt_storage_counts_on(storage, csi_node, term->wanted[i].in_tree) &&
				 !is_attached(attached, term->wanted[i].id);
		}
		for (uint32_t i = 0; i < attached->count_n; i++) {
			count += attached->counts[i].driver == limit->driver ? attached->counts[i].n : 0;
		}
		if (limit->limited && fresh > 0 && count + fresh > limit->count) {
			return false;
		}
	}
	return true;
}

/* Filter's result for a node: pass, a reason, or an error. */
struct node_volume_limits_answer {
	bool refused;
	struct bt_reason reason;
	const char *error;
};

static struct node_volume_limits_answer judge(
	const struct node_volume_limits_term *term, const struct bt_view *view, uint32_t node_ix)
{
	const struct bt_storage *storage = view->storage;
	const struct bt_csi_node *csi_node =
		bt_storage_csi_node(storage, view->snapshot->nodes[node_ix].name);
	const struct node_volume_limits_fault *fault = &term->fault[csi_node != NULL];
	uint32_t wanted_n = 0;

	BT_REQUIRE_HOT(node_ix < view->snapshot->slot_n);
	if (fault->text) {
		struct bt_texts *texts = view->snapshot->dictionary->texts;

		return (struct node_volume_limits_answer){.refused = fault->missing,
			.reason = {.kind = NO_CLAIM, .arg = bt_texts_keep(texts, bt_str(fault->text))},
			.error = fault->missing ? NULL : fault->text};
	}
	for (uint32_t i = 0; i < term->wanted_n; i++) {
		const struct node_volume_limits_wanted *wanted = &term->wanted[i];

		if (!bt_storage_counts_on(storage, csi_node, wanted->in_tree)) {
			continue;
		}
		wanted_n++;
		if (driver_missing(term, view, csi_node, wanted->driver)) {
			return (struct node_volume_limits_answer){
				.refused = true, .reason = {.kind = NO_DRIVER, .arg = wanted->driver}};
		}
	}
	if (wanted_n == 0 || !limited(csi_node)) {
		return (struct node_volume_limits_answer){0};
	}
	const struct bt_attached *attached = storage->attached(storage->context, node_ix);
	BT_INVARIANT(wanted_n <= term->wanted_n);
	if (attached->error) {
		return (struct node_volume_limits_answer){.error = bt_view_str(view, attached->error).ptr};
	}
	return (struct node_volume_limits_answer){
		.refused = !fits(term, storage, csi_node, attached), .reason = {.kind = TOO_MANY}};
}

static void node_volume_limits_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	for (uint32_t i = 0; i < n; i++) {
		struct node_volume_limits_answer answer = judge(term, view, first + i);

		pass[i] = !answer.refused && !answer.error;
	}
}

static const char *failure(const void *term, const struct bt_view *view, uint32_t node_ix)
{
	return judge(term, view, node_ix).error;
}

static void node_volume_limits_reject(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	struct node_volume_limits_answer answer = judge(term, view, node_ix);
	bool no_claim = answer.reason.kind == NO_CLAIM;

	bt_reject_with(
		out_rejection, no_claim ? BT_UNSCHEDULABLE_AND_UNRESOLVABLE : BT_UNSCHEDULABLE, TOO_MANY);
	out_rejection->reasons[0] = answer.reason;
}

static void reason_text(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text)
{
	if (reason->kind == TOO_MANY) {
		bt_buf_text(out_text, "node(s) exceed max volume count");
		return;
	}
	bt_buf_str(out_text, bt_intern_str(dictionary->intern, reason->arg));
	if (reason->kind == NO_DRIVER) {
		bt_buf_text(out_text, " CSI driver is not installed on the node");
	}
}

/* ---- queueing hints ---- */

static bool after_csi_node_updated(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->object.changes & BT_CHANGED_LIMIT_GREW;
}

static bool after_pod_deleted(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_cluster_event_pod *gone = &event->pod.old;

	(void)env;
	for (uint32_t i = 0; bt_cluster_event_pod_placed(gone) && i < gone->signature->noted_n; i++) {
		enum bt_volume_type type = gone->signature->volumes[i].type;

		if (bt_volume_claims(type) || bt_volume_migrates(type)) {
			return true;
		}
	}
	return false;
}

static bool after_attachment_deleted(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	for (uint32_t i = 0; i < env->signature->noted_n; i++) {
		const struct bt_pod_volume *volume = &env->signature->volumes[i];
		const struct bt_csi_disk *disk = &volume->disk;

		if (volume->type == BT_VOLUME_CLAIM || disk->error ||
			(disk->driver != BT_NAME_EMPTY && disk->driver == event->object.other)) {
			return true;
		}
	}
	return false;
}

static bool after_claim_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return bt_signature_uses_claim(env->signature, event->object.namespace_, event->object.name);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_CSI_NODE, BT_ADD, NULL, 0},
	{BT_CLUSTER_EVENT_CSI_NODE, BT_UPDATE, after_csi_node_updated, 0},
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE, after_pod_deleted, 0},
	{BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM, BT_ADD, after_claim_added, 0},
	{BT_CLUSTER_EVENT_VOLUME_ATTACHMENT, BT_DELETE, after_attachment_deleted, 0},
};

static const void *settings_of(const struct bt_settings_env *env, const void *args)
{
	struct bt_node_volume_limits_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));

	(void)args;
	if (env->config.gates[BT_GATE_VOLUME_LIMIT_SCALING]) {
		settings->demand = bt_settings_rule(env, BT_RULE_EVERY_DRIVER_INSISTS)
					   ? BT_DEMAND_EVERY_DRIVER
					   : BT_DEMAND_DRIVERS_THAT_INSIST;
	}
	return settings;
}

const struct bt_plugin bt_plugin_node_volume_limits = {
	.name = "NodeVolumeLimits",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER),
	.settings = settings_of,
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.compile = node_volume_limits_compile,
	.filter = node_volume_limits_filter,
	.reject = node_volume_limits_reject,
	.reason = reason_text,
	.pre_filter = pre_filter,
	.state_changes = state_changes,
	.failure = failure,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
