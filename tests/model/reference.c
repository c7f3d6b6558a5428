/* SPDX-License-Identifier: Apache-2.0
 * The reference scheduler.
 */
#include "reference.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB (INT64_C(1024) * 1024)

/* ---- resources ---- */

struct amount {
	bool present;
	struct bt_quantity quantity;
};

static const struct amount absent;

static struct amount look_up(const struct bt_resource_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_is(list->items[i].name, name)) {
			return (struct amount){true, list->items[i].quantity};
		}
	}
	return absent;
}

static struct amount plus(struct amount a, struct amount b)
{
	if (!a.present || !b.present) {
		return a.present ? a : b;
	}
	return (struct amount){true, bt_quantity_add(a.quantity, b.quantity)};
}

static struct amount larger(struct amount a, struct amount b)
{
	if (!a.present || !b.present) {
		return a.present ? a : b;
	}
	return bt_quantity_cmp(a.quantity, b.quantity) >= 0 ? a : b;
}

static struct amount parse(const char *text)
{
	struct amount amount = {.present = true};

	if (bt_quantity_parse(bt_str(text), &amount.quantity) != BT_OK) {
		abort();
	}
	return amount;
}

/* The default request of a container without one. */
static struct amount default_of(const char *name)
{
	if (strcmp(name, "cpu") == 0) {
		return parse("100m");
	}
	return strcmp(name, "memory") == 0 ? parse("200Mi") : absent;
}

static struct amount container_amount(
	const struct bt_container_object *container, const char *name, bool defaults)
{
	struct amount amount = look_up(&container->resources.requests, name);

	return amount.present || !defaults ? amount : default_of(name);
}

/* The requests of all containers, including peaks during start. */
static struct amount containers_amount(const struct bt_pod_object *pod, const char *name, bool defaults)
{
	struct amount running = absent, sidecars = absent, starting = absent;

	for (uint32_t i = 0; i < pod->spec.container_n; i++) {
		running = plus(running, container_amount(&pod->spec.containers[i], name, defaults));
	}
	for (uint32_t i = 0; i < pod->spec.init_container_n; i++) {
		const struct bt_container_object *container = &pod->spec.init_containers[i];
		struct amount one = container_amount(container, name, defaults);

		if (bt_str_is(container->restart_policy, "Always")) {
			running = plus(running, one);
			sidecars = plus(sidecars, one);
			starting = larger(starting, sidecars);
		} else {
			starting = larger(starting, plus(one, sidecars));
		}
	}
	return larger(running, starting);
}

static bool at_pod_level(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strncmp(name, "hugepages-", 10) == 0;
}

static bool has_pod_level(const struct bt_pod_object *pod)
{
	const struct bt_resource_list *list = &pod->spec.resources.requests;

	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_is(list->items[i].name, "cpu") || bt_str_is(list->items[i].name, "memory") ||
			bt_str_starts(list->items[i].name, "hugepages-")) {
			return true;
		}
	}
	return false;
}

static struct amount pod_amount(const struct bt_pod_object *pod, const char *name, bool defaults)
{
	struct amount level = look_up(&pod->spec.resources.requests, name);
	struct amount amount = containers_amount(pod, name, defaults);

	if (has_pod_level(pod) && level.present && at_pod_level(name)) {
		amount = level;
	}
	return plus(amount, look_up(&pod->spec.overhead, name));
}

static int64_t units(struct amount amount, const char *name)
{
	if (!amount.present) {
		return 0;
	}
	return strcmp(name, "cpu") == 0 ? bt_quantity_milli(amount.quantity)
					: bt_quantity_value(amount.quantity);
}

static int64_t requested(const struct bt_pod_object *pod, const char *name)
{
	return units(pod_amount(pod, name, false), name);
}

/* A bound pod's requests for scores: with defaults, unless the pod level sets all. */
static int64_t nonzero(const struct bt_pod_object *pod, const char *name)
{
	bool defaults = !has_pod_level(pod) || !pod_amount(pod, name, false).present;

	return units(pod_amount(pod, name, defaults), name);
}

/* The incoming pod's requests for NodeResourcesFit's score: containers only. */
static int64_t scored_request(const struct bt_pod_object *pod, const char *name)
{
	struct amount amount = plus(containers_amount(pod, name, true), look_up(&pod->spec.overhead, name));

	return units(amount, name);
}

static bool is_native(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strcmp(name, "ephemeral-storage") == 0;
}

static bool is_scalar(const char *name)
{
	return strchr(name, '/') || strncmp(name, "hugepages-", 10) == 0 ||
	       strncmp(name, "attachable-volumes-", 19) == 0;
}

static int64_t allocatable(const struct bt_node_object *node, const char *name)
{
	return units(look_up(&node->allocatable, name), name);
}

/* Sums wrap around as Go's do. */
static int64_t wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t wrap_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t divide(int64_t a, int64_t b)
{
	return b == -1 ? wrap_sub(0, a) : a / b;
}

typedef int64_t count_fn(const struct bt_pod_object *pod, const char *name);

static int64_t used(const struct ref_cluster *cluster, const struct bt_node_object *node, const char *name,
	count_fn *count)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < cluster->pod_n; i++) {
		if (bt_str_eq(cluster->pods[i].node, node->meta.name)) {
			sum = wrap_add(sum, count(cluster->pods[i].object, name));
		}
	}
	return sum;
}

static int64_t one_pod(const struct bt_pod_object *pod, const char *name)
{
	(void)pod;
	(void)name;
	return 1;
}

/* ---- taints ---- */

static bool plain_integer(struct bt_str s, int64_t *out)
{
	char text[32];
	char *end;
	size_t digits = s.len > 0 && s.ptr[0] == '-' ? 1 : 0;

	if (s.len == digits || s.len >= sizeof(text) || s.ptr[digits] < '0' || s.ptr[digits] > '9') {
		return false;
	}
	/* Rejects leading zeroes and "-0". */
	if (s.ptr[digits] == '0' && s.len > 1) {
		return false;
	}
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';
	errno = 0;
	*out = strtoll(text, &end, 10);
	return *end == '\0' && errno == 0;
}

static bool tolerates(
	const struct bt_toleration_object *t, const struct bt_taint_object *taint, bool compare_numbers)
{
	int64_t wanted, have;

	if (t->effect.len && !bt_str_eq(t->effect, taint->effect)) {
		return false;
	}
	if (t->key.len && !bt_str_eq(t->key, taint->key)) {
		return false;
	}
	if (t->operator_.len == 0 || bt_str_is(t->operator_, "Equal")) {
		return bt_str_eq(t->value, taint->value);
	}
	if (bt_str_is(t->operator_, "Exists")) {
		return true;
	}
	if (!compare_numbers || !plain_integer(t->value, &wanted) || !plain_integer(taint->value, &have)) {
		return false;
	}
	return bt_str_is(t->operator_, "Lt") ? have < wanted : bt_str_is(t->operator_, "Gt") && have > wanted;
}

static bool tolerated(
	const struct bt_pod_object *pod, const struct bt_taint_object *taint, bool compare_numbers)
{
	for (uint32_t i = 0; i < pod->spec.toleration_n; i++) {
		if (tolerates(&pod->spec.tolerations[i], taint, compare_numbers)) {
			return true;
		}
	}
	return false;
}

static bool kept_away(
	const struct bt_node_object *node, const struct bt_pod_object *pod, bool compare_numbers)
{
	for (uint32_t i = 0; i < node->taint_n; i++) {
		const struct bt_taint_object *taint = &node->taints[i];

		if (!bt_str_is(taint->effect, "PreferNoSchedule") &&
			!tolerated(pod, taint, compare_numbers)) {
			return true;
		}
	}
	return false;
}

static int64_t count_disliked(
	const struct bt_node_object *node, const struct bt_pod_object *pod, bool compare_numbers)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < node->taint_n; i++) {
		const struct bt_taint_object *taint = &node->taints[i];

		n += bt_str_is(taint->effect, "PreferNoSchedule") && !tolerated(pod, taint, compare_numbers);
	}
	return n;
}

static bool cordoned(const struct bt_node_object *node, const struct bt_pod_object *pod, bool compare_numbers)
{
	struct bt_taint_object taint = {
		.key = BT_STR("node.kubernetes.io/unschedulable"), .effect = BT_STR("NoSchedule")};

	return node->unschedulable && !tolerated(pod, &taint, compare_numbers);
}

/* ---- node affinity ---- */

enum match { NO = 0, YES, MALFORMED };

static bool integer(struct bt_str s, int64_t *out)
{
	char text[32];
	char *end;

	if (s.len == 0 || s.len >= sizeof(text) || s.ptr[0] == ' ') {
		return false;
	}
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';
	errno = 0;
	*out = strtoll(text, &end, 10);
	return *end == '\0' && errno == 0;
}

static const struct bt_str *label_of(const struct bt_node_object *node, struct bt_str key)
{
	for (uint32_t i = 0; i < node->meta.labels.n; i++) {
		if (bt_str_eq(node->meta.labels.items[i].key, key)) {
			return &node->meta.labels.items[i].value;
		}
	}
	return NULL;
}

static bool contains(const struct bt_str_list *list, struct bt_str s)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_eq(list->items[i], s)) {
			return true;
		}
	}
	return false;
}

/* The random objects only break the rules for keys and values by a leading blank or sign. */
static bool well_formed(const struct bt_requirement_object *r)
{
	if (bt_str_find(r->key, ' ', 0) < r->key.len || r->key.len == 0) {
		return false;
	}
	for (uint32_t i = 0; i < r->values.n; i++) {
		struct bt_str value = r->values.items[i];

		if (bt_str_find(value, ' ', 0) < value.len || bt_str_starts(value, "-")) {
			return false;
		}
	}
	return true;
}

static enum match match_expression(const struct bt_requirement_object *r, const struct bt_node_object *node)
{
	const struct bt_str *value = label_of(node, r->key);
	int64_t wanted, have;

	if (!well_formed(r)) {
		return MALFORMED;
	}
	if (bt_str_is(r->operator_, "In")) {
		return r->values.n == 0 ? MALFORMED : value && contains(&r->values, *value) ? YES : NO;
	}
	if (bt_str_is(r->operator_, "NotIn")) {
		return r->values.n == 0 ? MALFORMED : value && contains(&r->values, *value) ? NO : YES;
	}
	if (bt_str_is(r->operator_, "Exists")) {
		return r->values.n ? MALFORMED : value ? YES : NO;
	}
	if (bt_str_is(r->operator_, "DoesNotExist")) {
		return r->values.n ? MALFORMED : value ? NO : YES;
	}
	bool gt = bt_str_is(r->operator_, "Gt");
	if ((!gt && !bt_str_is(r->operator_, "Lt")) || r->values.n != 1 ||
		!integer(r->values.items[0], &wanted)) {
		return MALFORMED;
	}
	if (!value || !integer(*value, &have)) {
		return NO;
	}
	return (gt ? have > wanted : have < wanted) ? YES : NO;
}

static enum match match_field(const struct bt_requirement_object *r, const struct bt_node_object *node)
{
	bool in = bt_str_is(r->operator_, "In");

	if ((!in && !bt_str_is(r->operator_, "NotIn")) || r->values.n != 1) {
		return MALFORMED;
	}
	struct bt_str have = bt_str_is(r->key, "metadata.name") ? node->meta.name : bt_str("");
	return bt_str_eq(have, r->values.items[0]) == in ? YES : NO;
}

static enum match match_term(const struct bt_node_term_object *term, const struct bt_node_object *node)
{
	enum match all = YES;

	if (term->match_expressions.n == 0 && term->match_fields.n == 0) {
		return NO;
	}
	for (uint32_t i = 0; i < term->match_expressions.n; i++) {
		enum match one = match_expression(&term->match_expressions.items[i], node);

		all = one == MALFORMED || all == MALFORMED ? MALFORMED : one == NO ? NO : all;
	}
	for (uint32_t i = 0; i < term->match_fields.n; i++) {
		enum match one = match_field(&term->match_fields.items[i], node);

		all = one == MALFORMED || all == MALFORMED ? MALFORMED : one == NO ? NO : all;
	}
	return all;
}

static bool affinity_allows(const struct bt_node_object *node, const struct bt_pod_object *pod)
{
	const struct bt_node_selector_object *required = &pod->spec.affinity.node_affinity.required;

	for (uint32_t i = 0; i < pod->spec.node_selector.n; i++) {
		const struct bt_str *value = label_of(node, pod->spec.node_selector.items[i].key);

		if (!value || !bt_str_eq(*value, pod->spec.node_selector.items[i].value)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < required->term_n; i++) {
		if (match_term(&required->terms[i], node) == YES) {
			return true;
		}
	}
	return !required->set;
}

/* Does a term select nodes by name, and this one? */
static bool names_nodes(const struct bt_node_term_object *term, struct bt_str node, bool *out_named)
{
	bool any = false;

	*out_named = true;
	for (uint32_t i = 0; i < term->match_fields.n; i++) {
		const struct bt_requirement_object *r = &term->match_fields.items[i];

		if (bt_str_is(r->key, "metadata.name") && bt_str_is(r->operator_, "In")) {
			any = true;
			*out_named &= contains(&r->values, node);
		}
	}
	return any;
}

/* Does a term leave any name: one of its first entry that all others contain, too? */
static bool leaves_any(const struct bt_node_term_object *term)
{
	for (uint32_t i = 0; i < term->match_fields.n; i++) {
		const struct bt_requirement_object *r = &term->match_fields.items[i];

		if (!bt_str_is(r->key, "metadata.name") || !bt_str_is(r->operator_, "In")) {
			continue;
		}
		for (uint32_t v = 0; v < r->values.n; v++) {
			bool named;

			names_nodes(term, r->values.items[v], &named);
			if (named) {
				return true;
			}
		}
		return false;
	}
	return false;
}

static void pre_filter(
	const struct ref_cluster *cluster, const struct bt_pod_object *pod, struct ref_verdict *out)
{
	const struct bt_node_selector_object *required = &pod->spec.affinity.node_affinity.required;
	bool all = required->set && required->term_n > 0, any = false, named;

	for (uint32_t i = 0; i < required->term_n; i++) {
		all &= names_nodes(&required->terms[i], bt_str(""), &named);
		any |= leaves_any(&required->terms[i]);
	}
	out->refusal = all && !any ? "pod affinity terms conflict" : NULL;
	out->narrowed = all && any;
	for (uint32_t n = 0; n < cluster->node_n; n++) {
		out->nodes[n].evaluated = !all;
		for (uint32_t i = 0; all && i < required->term_n; i++) {
			names_nodes(&required->terms[i], cluster->nodes[n]->meta.name, &named);
			out->nodes[n].evaluated |= named;
		}
	}
}

/* ---- host ports ---- */

static struct bt_str or_text(struct bt_str s, const char *otherwise)
{
	return s.len ? s : bt_str(otherwise);
}

static bool clash(const struct bt_port_object *a, const struct bt_port_object *b)
{
	struct bt_str x = or_text(a->host_ip, "0.0.0.0"), y = or_text(b->host_ip, "0.0.0.0");

	return a->host_port > 0 && a->host_port == b->host_port &&
	       bt_str_eq(or_text(a->protocol, "TCP"), or_text(b->protocol, "TCP")) &&
	       (bt_str_eq(x, y) || bt_str_is(x, "0.0.0.0") || bt_str_is(y, "0.0.0.0"));
}

/* The i-th container whose ports count, or NULL at the end. */
static const struct bt_container_object *with_ports(const struct bt_pod_object *pod, uint32_t i)
{
	static const struct bt_container_object nothing;

	if (i < pod->spec.container_n) {
		return &pod->spec.containers[i];
	}
	i -= pod->spec.container_n;
	if (i >= pod->spec.init_container_n) {
		return NULL;
	}
	return bt_str_is(pod->spec.init_containers[i].restart_policy, "Always")
		       ? &pod->spec.init_containers[i]
		       : &nothing;
}

static bool containers_clash(const struct bt_container_object *a, const struct bt_container_object *b)
{
	for (uint32_t i = 0; i < a->port_n; i++) {
		for (uint32_t j = 0; j < b->port_n; j++) {
			if (clash(&a->ports[i], &b->ports[j])) {
				return true;
			}
		}
	}
	return false;
}

static bool pods_clash(const struct bt_pod_object *a, const struct bt_pod_object *b)
{
	for (uint32_t i = 0; with_ports(a, i); i++) {
		for (uint32_t j = 0; with_ports(b, j); j++) {
			if (containers_clash(with_ports(a, i), with_ports(b, j))) {
				return true;
			}
		}
	}
	return false;
}

static bool ports_taken(
	const struct ref_cluster *cluster, const struct bt_node_object *node, const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < cluster->pod_n; i++) {
		if (bt_str_eq(cluster->pods[i].node, node->meta.name) &&
			pods_clash(cluster->pods[i].object, pod)) {
			return true;
		}
	}
	return false;
}

/* ---- filter ---- */

static void refuse(struct ref_node_verdict *v, const char *plugin, bool unresolvable, const char *reason,
	const char *more)
{
	v->plugin = plugin;
	v->unresolvable |= unresolvable;
	snprintf(v->reasons[v->reason_n++], REF_TEXT_MAX, "%s%s", reason, more);
}

static void fit_one(const struct ref_cluster *cluster, const struct bt_node_object *node,
	const struct bt_pod_object *pod, const char *name, struct ref_node_verdict *v)
{
	int64_t wanted = requested(pod, name), total = allocatable(node, name);

	if (is_native(name) ? wanted <= 0 : wanted == 0) {
		return;
	}
	if (wanted > wrap_sub(total, used(cluster, node, name, requested))) {
		refuse(v, "NodeResourcesFit", wanted > total, "Insufficient ", name);
	}
}

/* The distinct names in the pod's lists. */
struct names {
	char items[REF_REASONS_MAX][REF_TEXT_MAX];
	uint32_t n;
};

static void note_names(const struct bt_resource_list *list, struct names *names)
{
	for (uint32_t i = 0; i < list->n; i++) {
		bool known = false;

		for (uint32_t k = 0; k < names->n; k++) {
			known |= bt_str_is(list->items[i].name, names->items[k]);
		}
		if (!known) {
			snprintf(names->items[names->n++], REF_TEXT_MAX, "%.*s",
				BT_STR_ARG(list->items[i].name));
		}
	}
}

static void fit(const struct ref_cluster *cluster, const struct bt_node_object *node,
	const struct bt_pod_object *pod, struct ref_node_verdict *v)
{
	struct names names = {0};

	if (wrap_add(used(cluster, node, "", one_pod), 1) > allocatable(node, "pods")) {
		refuse(v, "NodeResourcesFit", false, "Too many pods", "");
	}
	for (uint32_t i = 0; i < pod->spec.container_n; i++) {
		note_names(&pod->spec.containers[i].resources.requests, &names);
	}
	for (uint32_t i = 0; i < pod->spec.init_container_n; i++) {
		note_names(&pod->spec.init_containers[i].resources.requests, &names);
	}
	note_names(&pod->spec.resources.requests, &names);
	note_names(&pod->spec.overhead, &names);
	for (uint32_t i = 0; i < names.n; i++) {
		if (is_native(names.items[i]) || is_scalar(names.items[i])) {
			fit_one(cluster, node, pod, names.items[i], v);
		}
	}
}

static void filter(const struct ref_cluster *cluster, const struct ref_settings *settings,
	const struct bt_node_object *node, const struct bt_pod_object *pod, struct ref_node_verdict *v)
{
	if (cordoned(node, pod, settings->compare_numbers)) {
		refuse(v, "NodeUnschedulable", true, "node(s) were unschedulable", "");
	} else if (kept_away(node, pod, settings->compare_numbers)) {
		refuse(v, "TaintToleration", true, "node(s) had untolerated taint(s)", "");
	} else if (!affinity_allows(node, pod)) {
		refuse(v, "NodeAffinity", true, "node(s) didn't match Pod's node affinity/selector", "");
	} else if (ports_taken(cluster, node, pod)) {
		refuse(v, "NodePorts", false, "node(s) didn't have free ports for the requested pod ports",
			"");
	} else {
		fit(cluster, node, pod, v);
	}
	v->passes = v->reason_n == 0;
}

/* ---- scores ---- */

static int64_t preferred_weight(
	const struct bt_node_object *node, const struct bt_pod_object *pod, bool *out_malformed)
{
	const struct bt_node_affinity_object *affinity = &pod->spec.affinity.node_affinity;
	int64_t sum = 0;

	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		const struct bt_preferred_node_term_object *term = &affinity->preferred[i];
		enum match match = term->weight ? match_term(&term->preference, node) : NO;

		*out_malformed |= match == MALFORMED;
		sum += match == YES ? term->weight : 0;
	}
	return sum;
}

static int64_t percent(int64_t part, int64_t whole)
{
	return divide(wrap_mul(part, 100), whole);
}

static int64_t on_shape(const struct ref_settings *s, int64_t utilization)
{
	for (uint32_t i = 0; i < s->shape_n; i++) {
		if (utilization > s->shape[i].utilization) {
			continue;
		}
		if (i == 0) {
			return s->shape[0].score;
		}
		return s->shape[i - 1].score +
		       (s->shape[i].score - s->shape[i - 1].score) *
			       (utilization - s->shape[i - 1].utilization) /
			       (s->shape[i].utilization - s->shape[i - 1].utilization);
	}
	return s->shape[s->shape_n - 1].score;
}

static int64_t one_resource(const struct ref_settings *s, int64_t want, int64_t total)
{
	if (s->strategy == REF_LEAST) {
		return want > total ? 0 : percent(wrap_sub(total, want), total);
	}
	if (s->strategy == REF_MOST) {
		return percent(want > total ? total : want, total);
	}
	return on_shape(s, want > total ? 100 : percent(want, total));
}

static int64_t fit_score(const struct ref_cluster *cluster, const struct ref_settings *s,
	const struct bt_node_object *node, const struct bt_pod_object *pod)
{
	int64_t sum = 0, weights = 0;

	for (uint32_t i = 0; i < s->resource_n; i++) {
		const char *name = s->resources[i].name;
		bool counted = strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0;
		int64_t own = scored_request(pod, name), total = allocatable(node, name);

		if (total == 0 || (is_scalar(name) && own == 0)) {
			continue;
		}
		int64_t want = wrap_add(used(cluster, node, name, counted ? nonzero : requested), own);
		int64_t one = one_resource(s, want, total);
		if (s->strategy == REF_RATIO && one <= 0) {
			continue;
		}
		sum = wrap_add(sum, wrap_mul(one, s->resources[i].weight));
		weights += s->resources[i].weight;
	}
	if (weights == 0) {
		return 0;
	}
	return s->strategy == REF_RATIO ? (int64_t)round((double)sum / (double)weights) : sum / weights;
}

static double fraction(int64_t part, int64_t whole)
{
	double f = (double)part / (double)whole;

	return f > 1 ? 1 : f;
}

static int64_t balance_of(double cpu, double memory, uint32_t n)
{
	double distance = n == 2 ? fabs((cpu - memory) / 2) : 0;
	double score = (1 - distance) * 100;

	return score >= -0x1p63 && score < 0x1p63 ? (int64_t)score : INT64_MIN;
}

/* For cpu and memory, the only resources that these profiles balance. */
static int64_t balanced_score(
	const struct ref_cluster *cluster, const struct bt_node_object *node, const struct bt_pod_object *pod)
{
	static const char *const names[2] = {"cpu", "memory"};
	double before[2] = {0}, after[2] = {0};
	uint32_t n = 0;

	for (int i = 0; i < 2; i++) {
		int64_t total = allocatable(node, names[i]), have = used(cluster, node, names[i], requested);

		if (total != 0) {
			before[n] = fraction(have, total);
			after[n++] = fraction(wrap_add(have, requested(pod, names[i])), total);
		}
	}
	int64_t gain = wrap_sub(balance_of(after[0], after[1], n), balance_of(before[0], before[1], n));
	return 50 + wrap_add(50, gain) / 2;
}

static bool node_has(const struct bt_node_object *node, const char *image, int64_t *out_size)
{
	for (uint32_t i = 0; i < node->image_n; i++) {
		if (contains(&node->images[i].names, bt_str(image))) {
			*out_size = node->images[i].size_bytes;
			return true;
		}
	}
	return false;
}

static int64_t scaled_image_score(
	const struct ref_cluster *cluster, const struct bt_node_object *node, struct bt_str reference)
{
	char image[256];
	const char *tag;
	int64_t size, other, n = 0;

	snprintf(image, sizeof(image) - 8, "%.*s", BT_STR_ARG(reference));
	tag = strrchr(image, ':');
	if (!tag || (strrchr(image, '/') && tag < strrchr(image, '/'))) {
		memcpy(image + strlen(image), ":latest", 8);
	}
	if (!node_has(node, image, &size)) {
		return 0;
	}
	for (uint32_t i = 0; i < cluster->node_n; i++) {
		n += node_has(cluster->nodes[i], image, &other);
	}
	return (int64_t)((double)size * ((double)n / (double)cluster->node_n));
}

static int64_t image_score(
	const struct ref_cluster *cluster, const struct bt_node_object *node, const struct bt_pod_object *pod)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	int64_t low = 23 * MIB, high = 1000 * MIB * (int64_t)(spec->container_n + spec->init_container_n),
		sum = 0;

	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		sum += scaled_image_score(cluster, node, spec->init_containers[i].image);
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		sum += scaled_image_score(cluster, node, spec->containers[i].image);
	}
	sum = sum < low ? low : sum > high ? high : sum;
	return 100 * (sum - low) / (high - low);
}

static void normalize(struct ref_verdict *v, enum ref_score score, bool reversed)
{
	int64_t highest = 0;

	for (uint32_t i = 0; i < v->node_n; i++) {
		int64_t raw = v->nodes[i].scores[score];

		highest = v->nodes[i].passes && raw > highest ? raw : highest;
	}
	for (uint32_t i = 0; i < v->node_n; i++) {
		int64_t share = highest ? v->nodes[i].scores[score] * 100 / highest : 0;

		v->nodes[i].scores[score] = reversed ? 100 - share : share;
	}
}

static void score_node(const struct ref_cluster *cluster, const struct ref_settings *s,
	const struct bt_pod_object *pod, uint32_t n, struct ref_verdict *out)
{
	const struct bt_node_object *node = cluster->nodes[n];
	int64_t *scores = out->nodes[n].scores;
	bool balanced = requested(pod, "cpu") != 0 || requested(pod, "memory") != 0;

	scores[REF_TAINTS] = count_disliked(node, pod, s->compare_numbers);
	scores[REF_AFFINITY] = preferred_weight(node, pod, &out->failed);
	scores[REF_FIT] = fit_score(cluster, s, node, pod);
	scores[REF_BALANCED] = balanced ? balanced_score(cluster, node, pod) : 0;
	scores[REF_IMAGES] = image_score(cluster, node, pod);
}

/* A score outside 0..100 ends the cycle. */
static void weigh(const struct ref_settings *s, struct ref_verdict *out)
{
	out->best = INT64_MIN;
	for (uint32_t n = 0; n < out->node_n; n++) {
		struct ref_node_verdict *v = &out->nodes[n];

		for (int k = 0; v->passes && k < REF_SCORE_N; k++) {
			out->failed |= v->scores[k] < 0 || v->scores[k] > 100;
			v->scores[k] *= s->weights[k];
			v->total += v->scores[k];
		}
		out->best = v->passes && v->total > out->best ? v->total : out->best;
	}
}

void ref_judge(const struct ref_cluster *cluster, const struct ref_settings *settings,
	const struct bt_pod_object *pod, struct ref_verdict *out)
{
	*out = (struct ref_verdict){.node_n = cluster->node_n};
	if (cluster->node_n == 0) {
		return;
	}
	pre_filter(cluster, pod, out);
	if (out->refusal) {
		return;
	}
	for (uint32_t n = 0; n < cluster->node_n; n++) {
		if (out->nodes[n].evaluated) {
			filter(cluster, settings, cluster->nodes[n], pod, &out->nodes[n]);
		}
		out->feasible_n += out->nodes[n].passes;
	}
	for (uint32_t n = 0; n < cluster->node_n; n++) {
		if (out->nodes[n].passes) {
			score_node(cluster, settings, pod, n, out);
		}
	}
	normalize(out, REF_TAINTS, true);
	normalize(out, REF_AFFINITY, false);
	weigh(settings, out);
}

/* ---- the rest ---- */

struct ref_settings ref_defaults(void)
{
	return (struct ref_settings){
		.weights = {[REF_TAINTS] = 3,
			[REF_AFFINITY] = 2,
			[REF_FIT] = 1,
			[REF_BALANCED] = 1,
			[REF_IMAGES] = 1},
		.resources = {{"cpu", 1}, {"memory", 1}},
		.resource_n = 2,
	};
}

const char *ref_score_name(enum ref_score score)
{
	static const char *const names[REF_SCORE_N] = {"TaintToleration", "NodeAffinity", "NodeResourcesFit",
		"NodeResourcesBalancedAllocation", "ImageLocality"};

	return names[score];
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds "count reason" for each distinct reason, sorted as whole entries. */
static void add_counts(char **reasons, uint32_t n, struct bt_buf *out)
{
	char *entries[REF_NODES_MAX * REF_REASONS_MAX];
	uint32_t entry_n = 0;

	qsort(reasons, n, sizeof(*reasons), by_text);
	for (uint32_t i = 0; i < n;) {
		uint32_t same = 1;

		while (i + same < n && strcmp(reasons[i], reasons[i + same]) == 0) {
			same++;
		}
		entries[entry_n] = malloc(REF_TEXT_MAX + 16);
		snprintf(entries[entry_n++], REF_TEXT_MAX + 16, "%" PRIu32 " %s", same, reasons[i]);
		i += same;
	}
	qsort(entries, entry_n, sizeof(*entries), by_text);
	for (uint32_t i = 0; i < entry_n; i++) {
		bt_buf_printf(out, "%s%s", i ? ", " : " ", entries[i]);
		free(entries[i]);
	}
}

void ref_message(const struct ref_verdict *verdict, struct bt_buf *out)
{
	static char left_out[] = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
	char *reasons[REF_NODES_MAX * REF_REASONS_MAX];
	uint32_t n = 0;

	if (verdict->node_n == 0) {
		bt_buf_text(out, "no nodes available to schedule pods");
		return;
	}
	bt_buf_printf(out, "0/%" PRIu32 " nodes are available:", verdict->node_n);
	if (verdict->refusal) {
		/* DynamicResources did not reach PreFilter, so its PostFilter writes this. */
		bt_buf_printf(out, " %s. not found", verdict->refusal);
		return;
	}
	for (uint32_t i = 0; i < verdict->node_n; i++) {
		const struct ref_node_verdict *v = &verdict->nodes[i];

		if (!v->evaluated) {
			reasons[n++] = left_out;
		}
		for (uint32_t r = 0; r < v->reason_n; r++) {
			reasons[n++] = (char *)(uintptr_t)v->reasons[r];
		}
	}
	add_counts(reasons, n, out);
	bt_buf_text(out, n ? "." : "");
}
