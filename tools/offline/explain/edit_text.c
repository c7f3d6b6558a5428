/* SPDX-License-Identifier: Apache-2.0
 * Changes that could make a pod fit, as texts and as JSON patches.
 */
#include "tools/cli/json_write.h"
#include "tools/offline/explain/edit.h"

#include <stdio.h>

const char *bt_explain_kind_name(enum bt_explain_kind kind)
{
	static const char *const names[BT_EXPLAIN_KINDS] = {"scheduling-gates", "wait", "toleration",
		"request", "spread", "node-selector", "node-affinity-expression", "node-affinity",
		"pod-affinity", "pod-anti-affinity", "host-port", "volume", "uncordon", "evict", "add-node",
		"evict-against-budget"};

	return names[kind];
}

static void add_quantity(struct bt_quantity quantity, struct bt_buf *out)
{
	char text[BT_QUANTITY_TEXT_MAX];

	bt_quantity_text(quantity, text);
	bt_buf_text(out, text);
}

static struct bt_str container_name(const struct bt_explain_edit *edit, const struct bt_pod_object *pod)
{
	return edit->holder == BT_EXPLAIN_INIT_CONTAINER ? pod->spec.init_containers[edit->container].name
							 : pod->spec.containers[edit->container].name;
}

static void add_selector(const struct bt_label_selector_object *selector, struct bt_buf *out)
{
	const char *comma = "";

	for (uint32_t i = 0; i < selector->match_labels.n; i++) {
		const struct bt_str_pair *label = &selector->match_labels.items[i];

		bt_buf_printf(out, "%s%.*s=%.*s", comma, BT_STR_ARG(label->key), BT_STR_ARG(label->value));
		comma = ",";
	}
	for (uint32_t i = 0; i < selector->match_expressions.n; i++) {
		const struct bt_requirement_object *expression = &selector->match_expressions.items[i];

		bt_buf_printf(out, "%s%.*s %.*s", comma, BT_STR_ARG(expression->key),
			BT_STR_ARG(expression->operator_));
		comma = ",";
	}
}

static void add_expression(const struct bt_requirement_object *expression, struct bt_buf *out)
{
	bt_buf_printf(out, "%.*s %.*s", BT_STR_ARG(expression->key), BT_STR_ARG(expression->operator_));
	for (uint32_t i = 0; i < expression->values.n; i++) {
		bt_buf_printf(out, "%s%.*s", i ? ", " : " [", BT_STR_ARG(expression->values.items[i]));
	}
	bt_buf_text(out, expression->values.n ? "]" : "");
}

static void add_taint(const struct bt_taint_object *taint, struct bt_buf *out)
{
	bt_buf_printf(out, "%.*s%s%.*s:%.*s", BT_STR_ARG(taint->key), taint->value.len ? "=" : "",
		BT_STR_ARG(taint->value), BT_STR_ARG(taint->effect));
}

/* Where a request is: "containers[app].resources.requests.cpu". */
static void add_request_place(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	if (edit->holder != BT_EXPLAIN_POD_LEVEL) {
		bt_buf_printf(out, "%s[%.*s].",
			edit->holder == BT_EXPLAIN_CONTAINER ? "containers" : "initContainers",
			BT_STR_ARG(container_name(edit, pod)));
	}
	bt_buf_printf(out, "resources.requests.%.*s", BT_STR_ARG(bt_explain_request_of(pod, edit)->name));
}

static void add_request(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_named_quantity *request = bt_explain_request_of(pod, edit);

	bt_buf_text(out, "lower ");
	add_request_place(edit, pod, out);
	bt_buf_text(out, " from ");
	add_quantity(request->quantity, out);
	bt_buf_text(out, " to ");
	add_quantity(bt_explain_quantity_of(request->name, edit->amount), out);
	if (bt_str_find(request->name, '/', 0) < request->name.len) {
		bt_buf_text(out, ", and its limit");
	}
}

static const struct bt_pod_term_object *term_of(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod)
{
	const struct bt_affinity_object *affinity = &pod->spec.affinity;

	return edit->kind == BT_EXPLAIN_AFFINITY ? &affinity->pod_affinity.required[edit->item]
						 : &affinity->pod_anti_affinity.required[edit->item];
}

static void add_term(const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_pod_term_object *term = term_of(edit, pod);

	bt_buf_printf(out, "%s[%u] (", bt_explain_kind_name(edit->kind), edit->item);
	add_selector(&term->label_selector, out);
	bt_buf_printf(out, " by %.*s)", BT_STR_ARG(term->topology_key));
}

static void add_spread(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_spread_constraint_object *constraint = &pod->spec.spread[edit->item];

	bt_buf_printf(out, "topologySpreadConstraints[%u] (%.*s): ", edit->item,
		BT_STR_ARG(constraint->topology_key));
	if (edit->amount) {
		bt_buf_printf(
			out, "raise maxSkew from %d to %lld", constraint->max_skew, (long long)edit->amount);
	} else {
		bt_buf_text(out, "set whenUnsatisfiable to ScheduleAnyway");
	}
}

static void add_port(const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_port_object *port = &pod->spec.containers[edit->container].ports[edit->item];

	bt_buf_printf(out, "hostPort %d", port->host_port);
	if (port->protocol.len) {
		bt_buf_printf(out, "/%.*s", BT_STR_ARG(port->protocol));
	}
}

static void add_volume(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_volume_object *volume = &pod->spec.volumes[edit->item];

	bt_buf_printf(out, "volume %.*s", BT_STR_ARG(volume->name));
	if (volume->type == BT_VOLUME_CLAIM) {
		bt_buf_printf(out, " (claim %.*s)", BT_STR_ARG(volume->source));
	}
}

/* What an edit that drops something drops. */
static void add_dropped(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_pod_spec_object *spec = &pod->spec;

	switch (edit->kind) {
	case BT_EXPLAIN_SELECTOR:
		bt_buf_printf(out, "nodeSelector %.*s=%.*s",
			BT_STR_ARG(spec->node_selector.items[edit->item].key),
			BT_STR_ARG(spec->node_selector.items[edit->item].value));
		break;
	case BT_EXPLAIN_EXPRESSION:
		bt_buf_printf(out, "required node affinity, term %u: ", edit->item);
		add_expression(&spec->affinity.node_affinity.required.terms[edit->item]
					.match_expressions.items[edit->expression],
			out);
		break;
	case BT_EXPLAIN_NODE_AFFINITY:
		bt_buf_text(out, "required node affinity");
		break;
	case BT_EXPLAIN_AFFINITY:
	case BT_EXPLAIN_ANTI_AFFINITY:
		bt_buf_text(out, "required ");
		add_term(edit, pod, out);
		break;
	case BT_EXPLAIN_PORT:
		add_port(edit, pod, out);
		break;
	case BT_EXPLAIN_VOLUME:
		add_volume(edit, pod, out);
		break;
	default:
		break;
	}
}

static const char *by_itself(const struct bt_pod_object *pod)
{
	return bt_str_is(pod->spec.preemption_policy, "Never") ? "" : " (the scheduler does so by itself)";
}

void bt_explain_edit_text(const struct bt_explain_edit *edit, const struct bt_pod_object *pod,
	struct bt_str pods, struct bt_buf *out)
{
	switch (edit->kind) {
	case BT_EXPLAIN_GATES:
		bt_buf_text(out, "remove spec.schedulingGates");
		break;
	case BT_EXPLAIN_WAIT:
		bt_buf_printf(out, "wait until terminating pods have ended: %.*s", BT_STR_ARG(pods));
		break;
	case BT_EXPLAIN_TOLERATE:
		bt_buf_text(out, "tolerate taint ");
		add_taint(&edit->taint, out);
		break;
	case BT_EXPLAIN_REQUEST:
		add_request(edit, pod, out);
		break;
	case BT_EXPLAIN_SPREAD:
		add_spread(edit, pod, out);
		break;
	case BT_EXPLAIN_UNCORDON:
		bt_buf_printf(out, "kubectl uncordon %.*s", BT_STR_ARG(edit->node_name));
		break;
	case BT_EXPLAIN_EVICT:
		bt_buf_printf(out, "evict %.*s%s", BT_STR_ARG(pods), by_itself(pod));
		break;
	case BT_EXPLAIN_EVICT_FORBIDDEN:
		bt_buf_printf(out, "evict %.*s%s; a PodDisruptionBudget forbids %u of them", BT_STR_ARG(pods),
			by_itself(pod), edit->violation_n);
		break;
	case BT_EXPLAIN_ADD_NODE:
		bt_buf_printf(out, "add a node like %.*s", BT_STR_ARG(edit->node_name));
		break;
	default:
		bt_buf_text(out, "drop ");
		add_dropped(edit, pod, out);
		break;
	}
}

/* Of which container, where there are several. */
static void add_container(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	if (edit->holder != BT_EXPLAIN_POD_LEVEL && pod->spec.container_n + pod->spec.init_container_n > 1) {
		bt_buf_printf(out, " for %.*s", BT_STR_ARG(container_name(edit, pod)));
	}
}

void bt_explain_edit_lack(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out)
{
	const struct bt_named_quantity *request;

	switch (edit->kind) {
	case BT_EXPLAIN_TOLERATE:
		bt_buf_text(out, "taint ");
		add_taint(&edit->taint, out);
		break;
	case BT_EXPLAIN_REQUEST:
		request = bt_explain_request_of(pod, edit);
		add_quantity(
			bt_explain_quantity_of(request->name, bt_explain_amount_of(request) - edit->amount),
			out);
		bt_buf_printf(out, " %.*s short", BT_STR_ARG(request->name));
		add_container(edit, pod, out);
		break;
	case BT_EXPLAIN_SPREAD:
		bt_buf_printf(out, "spread by %.*s: ", BT_STR_ARG(pod->spec.spread[edit->item].topology_key));
		if (edit->amount) {
			bt_buf_printf(out, "skew %lld, maxSkew %d", (long long)edit->amount,
				pod->spec.spread[edit->item].max_skew);
		} else {
			bt_buf_text(out, "no such label");
		}
		break;
	case BT_EXPLAIN_UNCORDON:
		bt_buf_text(out, "cordoned");
		break;
	default:
		add_dropped(edit, pod, out);
		break;
	}
}

/* ---- patches ---- */

static void begin_operation(struct bt_json_writer *json, const char *what, const char *path)
{
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "op");
	bt_json_write_text(json, what);
	bt_json_write_key(json, "path");
	bt_json_write_text(json, path);
}

static void write_member(struct bt_json_writer *json, const char *key, struct bt_str value)
{
	if (value.len) {
		bt_json_write_key(json, key);
		bt_json_write_str(json, value);
	}
}

/* The path of the resources that have a request. */
static void request_path(const struct bt_explain_edit *edit, const char *last, char *out_path, size_t cap)
{
	if (edit->holder == BT_EXPLAIN_POD_LEVEL) {
		snprintf(out_path, cap, "/spec/resources/%s", last);
	} else {
		snprintf(out_path, cap, "/spec/%s/%u/resources/%s",
			edit->holder == BT_EXPLAIN_CONTAINER ? "containers" : "initContainers",
			edit->container, last);
	}
}

/* The whole list, since the input may have it from defaults alone. */
static void patch_list(struct bt_json_writer *json, const char *path, const struct bt_resource_list *list)
{
	char text[BT_QUANTITY_TEXT_MAX];

	begin_operation(json, "add", path);
	bt_json_write_key(json, "value");
	bt_json_write_begin_object(json);
	for (uint32_t i = 0; i < list->n; i++) {
		bt_quantity_text(list->items[i].quantity, text);
		bt_json_write_key_str(json, list->items[i].name);
		bt_json_write_text(json, text);
	}
	bt_json_write_end(json);
	bt_json_write_end(json);
}

/* All requests of one holder at once. An extended resource's limit is its request, and follows it. */
static void patch_holder(
	const struct bt_explain_edit *edit, const struct bt_pod_object *changed, struct bt_json_writer *json)
{
	const struct bt_requirements_object *resources =
		edit->holder == BT_EXPLAIN_POD_LEVEL ? &changed->spec.resources
		: edit->holder == BT_EXPLAIN_CONTAINER
			? &changed->spec.containers[edit->container].resources
			: &changed->spec.init_containers[edit->container].resources;
	struct bt_resource_list limits = resources->limits;
	struct bt_arena arena = {0};
	char path[128];
	bool follows = false;

	request_path(edit, "requests", path, sizeof(path));
	patch_list(json, path, &resources->requests);
	limits.items = bt_arena_zalloc(&arena, (limits.n + 1) * sizeof(*limits.items));
	for (uint32_t i = 0; i < limits.n; i++) {
		limits.items[i] = resources->limits.items[i];
		for (uint32_t k = 0; k < resources->requests.n; k++) {
			const struct bt_named_quantity *request = &resources->requests.items[k];

			if (bt_str_eq(request->name, limits.items[i].name) &&
				bt_str_find(request->name, '/', 0) < request->name.len &&
				bt_quantity_cmp(request->quantity, limits.items[i].quantity) != 0) {
				limits.items[i].quantity = request->quantity;
				follows = true;
			}
		}
	}
	if (follows) {
		request_path(edit, "limits", path, sizeof(path));
		patch_list(json, path, &limits);
	}
	bt_arena_fini(&arena);
}

static void patch_tolerations(const struct bt_pod_object *changed, struct bt_json_writer *json)
{
	begin_operation(json, "add", "/spec/tolerations");
	bt_json_write_key(json, "value");
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < changed->spec.toleration_n; i++) {
		const struct bt_toleration_object *toleration = &changed->spec.tolerations[i];

		bt_json_write_begin_object(json);
		write_member(json, "key", toleration->key);
		write_member(json, "operator", toleration->operator_);
		write_member(json, "value", toleration->value);
		write_member(json, "effect", toleration->effect);
		if (toleration->has_toleration_seconds) {
			bt_json_write_key(json, "tolerationSeconds");
			bt_json_write_int(json, toleration->toleration_seconds);
		}
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
	bt_json_write_end(json);
}

/* A key of nodeSelector in a path: '/' and '~' are escaped. */
static void patch_selector(struct bt_str key, struct bt_json_writer *json)
{
	struct bt_buf path = {0};

	bt_buf_text(&path, "/spec/nodeSelector/");
	for (size_t i = 0; i < key.len; i++) {
		if (key.ptr[i] == '/') {
			bt_buf_text(&path, "~1");
		} else {
			bt_buf_char(&path, key.ptr[i]);
		}
	}
	bt_buf_char(&path, '\0');
	begin_operation(json, "remove", path.ptr);
	bt_json_write_end(json);
	bt_buf_fini(&path);
}

static void patch_spread(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_json_writer *json)
{
	char path[128];

	snprintf(path, sizeof(path), "/spec/topologySpreadConstraints/%u/%s", edit->item,
		edit->amount ? "maxSkew" : "whenUnsatisfiable");
	begin_operation(json, "replace", path);
	bt_json_write_key(json, "value");
	if (edit->amount) {
		bt_json_write_int(json, edit->amount);
	} else {
		bt_json_write_text(json, "ScheduleAnyway");
	}
	bt_json_write_end(json);
	if (!edit->amount && pod->spec.spread[edit->item].has_min_domains) {
		snprintf(path, sizeof(path), "/spec/topologySpreadConstraints/%u/minDomains", edit->item);
		begin_operation(json, "remove", path);
		bt_json_write_end(json);
	}
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static void patch_removal(const struct bt_explain_edit *edit, struct bt_json_writer *json)
{
	char path[192];

	switch (edit->kind) {
	case BT_EXPLAIN_GATES:
		snprintf(path, sizeof(path), "/spec/schedulingGates");
		break;
	case BT_EXPLAIN_EXPRESSION:
		snprintf(path, sizeof(path),
			"/spec/affinity/nodeAffinity/" REQUIRED "/nodeSelectorTerms/%u/matchExpressions/%u",
			edit->item, edit->expression);
		break;
	case BT_EXPLAIN_NODE_AFFINITY:
		snprintf(path, sizeof(path), "/spec/affinity/nodeAffinity/" REQUIRED);
		break;
	case BT_EXPLAIN_AFFINITY:
		snprintf(path, sizeof(path), "/spec/affinity/podAffinity/" REQUIRED "/%u", edit->item);
		break;
	case BT_EXPLAIN_ANTI_AFFINITY:
		snprintf(path, sizeof(path), "/spec/affinity/podAntiAffinity/" REQUIRED "/%u", edit->item);
		break;
	case BT_EXPLAIN_PORT:
		snprintf(path, sizeof(path), "/spec/containers/%u/ports/%u/hostPort", edit->container,
			edit->item);
		break;
	case BT_EXPLAIN_VOLUME:
		snprintf(path, sizeof(path), "/spec/volumes/%u", edit->item);
		break;
	default:
		return;
	}
	begin_operation(json, "remove", path);
	bt_json_write_end(json);
}

static void patch_one(const struct bt_explain_edit *edit, const struct bt_pod_object *pod,
	const struct bt_pod_object *changed, struct bt_json_writer *json)
{
	switch (edit->kind) {
	case BT_EXPLAIN_REQUEST:
		patch_holder(edit, changed, json);
		break;
	case BT_EXPLAIN_SELECTOR:
		patch_selector(pod->spec.node_selector.items[edit->item].key, json);
		break;
	case BT_EXPLAIN_SPREAD:
		patch_spread(edit, pod, json);
		break;
	default:
		patch_removal(edit, json);
		break;
	}
}

void bt_explain_edits_patch(
	const struct bt_explain_edit *edits, size_t n, const struct bt_pod_object *pod, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out};
	struct bt_arena arena = {0};
	struct bt_pod_object changed;
	bool tolerates = false, any = false;

	for (size_t i = 0; i < n; i++) {
		any |= bt_explain_is_of_pod(edits[i].kind);
		tolerates |= edits[i].kind == BT_EXPLAIN_TOLERATE;
	}
	if (!any) {
		return;
	}
	bt_explain_edits_apply(edits, n, pod, &arena, &changed);
	bt_json_write_begin_array(&json);
	if (tolerates) {
		patch_tolerations(&changed, &json);
	}
	for (size_t i = 0; i < n; i++) {
		bool again = i && edits[i].kind == BT_EXPLAIN_REQUEST && edits[i - 1].kind == edits[i].kind &&
			     edits[i - 1].holder == edits[i].holder &&
			     edits[i - 1].container == edits[i].container;

		if (!again) {
			patch_one(&edits[i], pod, &changed, &json);
		}
	}
	bt_json_write_end(&json);
	bt_arena_fini(&arena);
}
