/* SPDX-License-Identifier: Apache-2.0
 * Plugins of the public ABI: they decide as in-tree plugins, with or without declared dependencies;
 * one without any is called every time; and errors in a descriptor are reported.
 */
#include <string.h>

#include "engine/base/rng.h"
#include "plugins/out_of_tree.h"
#include "plugins/registry.h"
#include "config_fixture.h"
#include "seed.h"
#include "tools/kube/config/config_encode.h"
#include "trial_config.h"

#define HEAD "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

/* ---- a plugin for node prices, as the in-tree PriceLabel ---- */

struct price {
	char label[64];
	bool required;
};

static uint32_t instance_n;

static bool create_price(
	const struct berth_plugin_host *host, const char *args, void **out_self, struct berth_plugin_why *why)
{
	const char *label = args ? strstr(args, "\"labelName\":\"") : NULL;

	if (!label) {
		host->add_reason(why, "labelName: it is missing");
		return false;
	}
	struct price *price = calloc(1, sizeof(*price));
	assert_non_null(price);
	sscanf(label, "\"labelName\":\"%63[^\"]", price->label);
	price->required = strstr(args, "\"required\":true");
	*out_self = price;
	instance_n++;
	return true;
}

static void destroy_price(void *self)
{
	instance_n--;
	free(self);
}

static bool price_of(const struct berth_plugin_call *call, const struct berth_plugin_node *node, int64_t *out)
{
	const struct price *price = call->self;
	const char *text = call->host->node_label(node, price->label);

	if (!text || !*text || strspn(text, "0123456789") != strlen(text)) {
		return false;
	}
	*out = strtoll(text, NULL, 10);
	*out = *out > 100 ? 100 : *out;
	return true;
}

static enum berth_plugin_verdict filter_price(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
	struct berth_plugin_why *why)
{
	int64_t price;

	(void)pod;
	if (!((const struct price *)call->self)->required || price_of(call, node, &price)) {
		return BERTH_PLUGIN_SUCCESS;
	}
	call->host->add_reason(why, "node(s) had no price");
	return BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE;
}

static int64_t score_price(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
	const struct berth_plugin_node *node)
{
	int64_t price;

	(void)pod;
	return price_of(call, node, &price) ? 100 - price : 0;
}

/* ---- a plugin that reads the pods on a node ---- */

struct sum {
	const struct berth_plugin_host *host;
	int64_t watts;
	const char *wanted;
	bool found;
};

static int64_t watts_of(const struct berth_plugin_host *host, const struct berth_plugin_pod *pod)
{
	const char *text = host->pod_label(pod, "watts");

	return text ? strtoll(text, NULL, 10) : 0;
}

static void add_pod_on(void *context, const struct berth_plugin_pod *pod)
{
	struct sum *sum = context;
	const char *app = sum->host->pod_label(pod, "app");

	assert_true(*sum->host->pod_name(pod));
	sum->watts += watts_of(sum->host, pod);
	sum->found |= app && sum->wanted && strcmp(app, sum->wanted) == 0;
}

static struct sum sum_of(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
	const struct berth_plugin_node *node)
{
	struct sum sum = {.host = call->host, .wanted = call->host->pod_label(pod, "needs")};

	call->host->node_pods(node, add_pod_on, &sum);
	return sum;
}

/* The node has enough power and, if the pod requests one, a companion: an added pod may help as well. */
static enum berth_plugin_verdict filter_power(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
	struct berth_plugin_why *why)
{
	const struct sum sum = sum_of(call, pod, node);
	const char *label = call->host->node_label(node, "watts");
	int64_t budget = label ? strtoll(label, NULL, 10) : 50, own = watts_of(call->host, pod);

	if (sum.wanted && !sum.found) {
		call->host->add_reason(why, "node(s) had no companion");
		return BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE;
	}
	if (sum.watts + own > budget) {
		call->host->add_reason(why, "node(s) had no power left");
		return own > budget ? BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE
				    : BERTH_PLUGIN_UNSCHEDULABLE;
	}
	return BERTH_PLUGIN_SUCCESS;
}

static int64_t score_power(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
	const struct berth_plugin_node *node)
{
	int64_t watts = sum_of(call, pod, node).watts;

	return watts > 100 ? 0 : 100 - watts;
}

/* ---- a plugin that depends on unknown state ---- */

static bool mood;
static uint32_t filter_n, odd_pre_filter_n;

static enum berth_plugin_verdict pre_filter_mood(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, void *memory, const void **out_state,
	struct berth_plugin_why *why)
{
	const char *name = call->host->pod_name(pod);
	char *state = call->host->allocate(memory, strlen(name) + 1);

	(void)why;
	odd_pre_filter_n++;
	memcpy(state, name, strlen(name));
	*out_state = state;
	return BERTH_PLUGIN_SUCCESS;
}

static enum berth_plugin_verdict filter_mood(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
	struct berth_plugin_why *why)
{
	const char *name = call->host->pod_name(pod);

	filter_n++;
	assert_string_equal(name, call->state);
	if (strncmp(name, "bad", 3) == 0) {
		call->host->add_reason(why, "no pods of that name");
		return BERTH_PLUGIN_ERROR;
	}
	if (strncmp(name, "any", 3) == 0 || mood) {
		return BERTH_PLUGIN_SUCCESS;
	}
	if (strncmp(name, "alone", 5) == 0) {
		return call->host->node_requested(node, "pods") ? BERTH_PLUGIN_UNSCHEDULABLE
								: BERTH_PLUGIN_SUCCESS;
	}
	if (strncmp(name, "never", 5) == 0) {
		return BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE;
	}
	return BERTH_PLUGIN_UNSCHEDULABLE;
}

static enum berth_plugin_verdict enqueue_mood(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, struct berth_plugin_why *why)
{
	const char *wait = call->host->pod_label(pod, "wait");

	if (wait && !mood) {
		call->host->add_reason(why, "it is not in the mood");
		return BERTH_PLUGIN_UNSCHEDULABLE;
	}
	return BERTH_PLUGIN_SUCCESS;
}

/* ---- a plugin with declared dependencies, PreFilter and NormalizeScore ---- */

static enum berth_plugin_verdict pre_filter_team(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, void *memory, const void **out_state,
	struct berth_plugin_why *why)
{
	const char *team = call->host->pod_label(pod, "team");

	(void)memory;
	/* Undeclared fields are not filled in. */
	assert_string_equal(call->host->pod_name(pod), "");
	assert_string_equal(call->host->pod_namespace(pod), "");
	assert_int_equal(call->host->pod_priority(pod), 0);
	assert_int_equal(call->host->pod_request(pod, "cpu"), 0);
	if (!team) {
		return BERTH_PLUGIN_SKIP;
	}
	if (strcmp(team, "fails") == 0) {
		call->host->add_reason(why, "no such team");
		return BERTH_PLUGIN_ERROR;
	}
	*out_state = "state";
	call->host->add_reason(why, "teams are not wanted");
	return strcmp(team, "none") == 0 ? BERTH_PLUGIN_UNSCHEDULABLE : BERTH_PLUGIN_SUCCESS;
}

static enum berth_plugin_verdict filter_team(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
	struct berth_plugin_why *why)
{
	const char *key, *value, *effect;

	(void)pod;
	(void)why;
	assert_string_equal(call->state, "state");
	assert_int_equal(call->host->node_requested(node, "cpu"), 0);
	assert_int_equal(call->host->node_allocatable(node, "cpu"), 4000);
	assert_int_equal(call->host->node_allocatable(node, "pods"), 10);
	assert_int_equal(call->host->node_allocatable(node, "nothing"), 0);
	assert_int_equal(call->host->node_taint_n(node), 0);
	call->host->node_taint_at(node, 0, &key, &value, &effect);
	assert_string_equal(effect, "");
	assert_false(call->host->node_unschedulable(node));
	return call->host->node_label_n(node) ? BERTH_PLUGIN_SUCCESS : BERTH_PLUGIN_UNSCHEDULABLE;
}

static int64_t score_team(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
	const struct berth_plugin_node *node)
{
	(void)pod;
	return (int64_t)strlen(call->host->node_name(node)) * 1000;
}

static void normalize_team(
	const struct berth_plugin_call *call, const struct berth_plugin_pod *pod, size_t n, int64_t *scores)
{
	(void)call;
	(void)pod;
	for (size_t i = 0; i < n; i++) {
		scores[i] = 100 - scores[i] / 1000;
	}
}

/* ---- worlds ---- */

#define ABI .size = sizeof(struct berth_plugin), .abi = BERTH_PLUGIN_ABI

static const struct berth_plugin_registration price_events[] = {
	{BERTH_PLUGIN_NODE, BERTH_PLUGIN_ADD | BERTH_PLUGIN_UPDATE_NODE_LABEL}};

static bool hint_price(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
	const struct berth_plugin_event *event)
{
	int64_t price;

	(void)pod;
	assert_int_equal(event->resource, BERTH_PLUGIN_NODE);
	assert_null(event->current_pod);
	bool had = event->old_node && price_of(call, event->old_node, &price);
	return !had && price_of(call, event->current_node, &price);
}

#define PRICE                                                                                                \
	.create = create_price, .destroy = destroy_price, .filter = filter_price, .score = score_price,      \
	.events = price_events, .event_n = 1, .hint = hint_price

static const struct berth_plugin plugins[] = {
	{ABI, .name = "PriceSilent", .version = "1", PRICE},
	{ABI, .name = "PriceDeclared", .depends = BERTH_PLUGIN_DEPENDS_ON_NODE, PRICE},
	{ABI, .name = "PowerSilent", .filter = filter_power, .score = score_power},
	{ABI, .name = "PowerDeclared", .depends = BERTH_PLUGIN_DEPENDS_ON_NODE_AND_PODS,
		.pod_fields = BERTH_PLUGIN_POD_LABELS, .filter = filter_power, .score = score_power},
	{ABI, .name = "Team", .depends = BERTH_PLUGIN_DEPENDS_ON_NODE, .pod_fields = BERTH_PLUGIN_POD_LABELS,
		.pre_filter = pre_filter_team, .filter = filter_team, .score = score_team,
		.normalize = BERTH_PLUGIN_NORMALIZE_OWN, .normalize_scores = normalize_team},
	{ABI, .name = "Mood", .pre_filter = pre_filter_mood, .filter = filter_mood,
		.pre_enqueue = enqueue_mood},
};

static int add_plugins(void **state)
{
	struct bt_buf error = {0};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(plugins); i++) {
		/* From a later berth: larger. */
		static struct {
			struct berth_plugin plugin;
			uint64_t more[4];
		} larger[COUNT_OF(plugins)];

		larger[i].plugin = plugins[i];
		larger[i].plugin.size = sizeof(larger[i]);
		if (bt_out_of_tree_add(&larger[i].plugin, bt_str(i ? "" : "0123"), &error) != BT_OK) {
			fail_msg("%s: %s", plugins[i].name, error.ptr);
		}
	}
	return 0;
}

static struct trial begin_with(void **state, const char *plugin, const char *args)
{
	/* Otherwise kinds known to be infeasible go behind the others. */
	const struct bt_engine_options options = {.no_backoff = true, .strict_order = true};
	struct trial t = {.f = *state};
	struct bt_buf text = {0};

	bt_buf_printf(&text,
		HEAD "profiles:\n- schedulerName: default-scheduler\n"
		     "  plugins: {multiPoint: {enabled: [{name: %s, weight: 50}]}}\n",
		plugin);
	if (args) {
		bt_buf_printf(&text, "  pluginConfig:\n  - name: %s\n    args: %s\n", plugin, args);
	}
	start_with(&t, &text, &options);
	return t;
}

/* ---- equal decisions ---- */

#define WORLDS 2
#define PODS   400

/* The same history in engines with plugins that must decide the same. */
struct worlds {
	struct trial t[WORLDS];
	struct bt_rng rng;
	bool there[PODS];
	uint32_t refused_n, placed_n, evicted_n;
};

static uint32_t draw(struct worlds *w, uint32_t n)
{
	return (uint32_t)(bt_rng_next(&w->rng) % n);
}

static void change_node(struct worlds *w)
{
	uint32_t node = draw(w, 12), watts = 20 + 10 * draw(w, 8), price = draw(w, 130);
	bool priced = draw(w, 6);
	char metadata[128];

	for (int i = 0; i < WORLDS; i++) {
		snprintf(metadata, sizeof(metadata), "n%u, labels: {watts: '%u', %s: '%u'}", node, watts,
			priced ? "price" : "cost", price);
		add_node(&w->t[i], metadata, "2");
	}
}

static void come(struct worlds *w, uint32_t pod)
{
	char metadata[160], spec[160];
	uint32_t watts = 5 * draw(w, 8), app = draw(w, 4), needs = draw(w, 8), priority = draw(w, 3),
		 cpu = 100 * (1 + draw(w, 3));

	snprintf(metadata, sizeof(metadata), "name: p%u, uid: u%u, labels: {watts: '%u', app: a%u, %s: a%u}",
		pod, pod, watts, app, needs < 4 ? "needs" : "wants", needs % 4);
	snprintf(spec, sizeof(spec),
		"priority: %u, containers: [{name: a, resources: {requests: {cpu: '%um'}}}]", priority, cpu);
	for (int i = 0; i < WORLDS; i++) {
		add_pod(&w->t[i], metadata, spec, "");
	}
	w->there[pod] = true;
}

static uint32_t find(struct trial *t, uint32_t pod)
{
	char name[16];

	numbered(name, sizeof(name), "p", pod);
	return bt_engine_find_pod(t->engine, bt_str("default"), bt_str(name));
}

static void go(struct worlds *w, uint32_t pod)
{
	for (int i = 0; i < WORLDS && w->there[pod]; i++) {
		bt_engine_remove_pod(w->t[i].engine, find(&w->t[i], pod));
	}
	w->there[pod] = false;
}

/* Deletes the victims of a decision, in all worlds. */
static void evict(struct worlds *w, const struct bt_decision *decisions)
{
	uint32_t victims[16], n = decisions[0].victim_n;

	assert_int_equal(decisions[1].victim_n, n);
	assert_in_range(n, 0, COUNT_OF(victims));
	for (uint32_t k = 0; k < n; k++) {
		victims[k] = decisions[0].victims[k].pod_ix;
		assert_int_equal(decisions[1].victims[k].pod_ix, victims[k]);
	}
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t pod = 0; pod < PODS; pod++) {
			if (w->there[pod] && find(&w->t[0], pod) == victims[k]) {
				go(w, pod);
				w->evicted_n++;
				break;
			}
		}
	}
}

static void compare_messages(struct worlds *w, uint32_t ix)
{
	struct bt_buf first = {0};

	bt_buf_text(&first, message(&w->t[0], ix));
	assert_string_equal(message(&w->t[1], ix), first.ptr ? first.ptr : "");
	bt_buf_fini(&first);
}

static bool decide_in_all(struct worlds *w)
{
	struct bt_decision decisions[WORLDS];
	uint32_t ix = bt_engine_pop(w->t[0].engine);

	assert_int_equal(bt_engine_pop(w->t[1].engine), ix);
	if (ix == BT_NO_POD) {
		return false;
	}
	for (int i = 0; i < WORLDS; i++) {
		bt_engine_decide(w->t[i].engine, ix, &decisions[i]);
	}
	assert_int_equal(decisions[0].outcome, decisions[1].outcome);
	assert_int_equal(decisions[0].nominated_ix, decisions[1].nominated_ix);
	w->refused_n += decisions[0].outcome == BT_REFUSED;
	w->placed_n += decisions[0].outcome == BT_PLACED;
	if (decisions[0].outcome == BT_PLACED) {
		assert_int_equal(decisions[0].node_ix, decisions[1].node_ix);
	}
	evict(w, decisions);
	if (decisions[0].outcome == BT_REFUSED && draw(w, 4) == 0) {
		compare_messages(w, ix);
	}
	return true;
}

static void run_history(void **state, const char *one, const char *other, const char *args)
{
	struct worlds w = {
		.t = {begin_with(state, one, args), begin_with(state, other, args)}, .rng = {seed_of_test()}};

	for (int i = 0; i < 8; i++) {
		change_node(&w);
	}
	for (uint32_t pod = 0; pod < PODS; pod++) {
		come(&w, pod);
		if (draw(&w, 8) == 0) {
			change_node(&w);
		}
		while (draw(&w, 4) && decide_in_all(&w)) {
		}
		if (draw(&w, 3) == 0) {
			go(&w, draw(&w, pod + 1));
		}
	}
	assert_true(w.placed_n > PODS / 4);
	assert_true(w.refused_n > PODS / 20);
	printf("%u placed, %u refused, %u evicted\n", w.placed_n, w.refused_n, w.evicted_n);
	end(&w.t[0]);
	end(&w.t[1]);
}

static void a_plugin_without_declarations_decides_as_the_built_in_one(void **state)
{
	run_history(state, "PriceLabel", "PriceSilent", "{labelName: price, required: true}");
	assert_int_equal(instance_n, 0);
}

static void one_that_depends_on_nodes_decides_as_the_plugin_of_the_tree(void **state)
{
	run_history(state, "PriceLabel", "PriceDeclared", "{labelName: price, required: true}");
	run_history(state, "PriceLabel", "PriceDeclared", "{labelName: price}");
	assert_int_equal(instance_n, 0);
}

static void a_plugin_that_depends_on_pods_decides_as_without_declarations(void **state)
{
	run_history(state, "PowerSilent", "PowerDeclared", NULL);
}

static void its_declarations_let_columns_decide(void **state)
{
	static const char *const names[] = {"PriceSilent", "PriceDeclared", "PowerSilent", "PowerDeclared"};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct trial t = begin_with(state, names[i], i < 2 ? "{labelName: price}" : NULL);

		add_node(&t, "n1, labels: {price: '5'}", "4");
		add_node(&t, "n2", "4");
		decide(&t, add_pod(&t, "name: a", CPU("1"), ""));
		assert_int_equal(bt_engine_counts(t.engine).by_columns_n, i % 2);
		assert_int_equal(bt_engine_counts(t.engine).by_evaluation_n, 1 - i % 2);
		end(&t);
	}
}

static void it_sees_only_the_state_that_it_declares(void **state)
{
	struct trial t = begin_with(state, "Team", NULL);

	add_node(&t, "a", "4");
	uint32_t pod = add_pod(&t, "name: a, labels: {team: red}", CPU("1"), "");
	assert_non_null(strstr(message(&t, pod), "1 node(s) didn't satisfy plugin Team"));
	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	add_node(&t, "long, labels: {any: '1'}", "4");
	uint32_t brief = add_node(&t, "b, labels: {any: '1'}", "4");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, brief);
	/* PreFilter skips Filter: nodes without labels pass, too. */
	assert_int_equal(decide(&t, add_pod(&t, "name: d", CPU("1"), "")).outcome, BT_PLACED);
	pod = add_pod(&t, "name: b, labels: {team: none}", CPU("1"), "");
	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	assert_non_null(strstr(message(&t, pod), "0/3 nodes are available: teams are not wanted"));
	pod = add_pod(&t, "name: c, labels: {team: fails}", CPU("1"), "");
	assert_int_equal(decide(&t, pod).outcome, BT_FAILED);
	assert_string_equal(message(&t, pod), "running PreFilter plugin \"Team\": no such team");
	end(&t);
}

/* ---- one without declared dependencies ---- */

static void it_is_called_for_every_node_in_every_cycle(void **state)
{
	struct trial t = begin_with(state, "Mood", NULL);
	char name[16];

	mood = true;
	for (uint32_t i = 0; i < 5; i++) {
		add_node(&t, numbered(name, sizeof(name), "n", i), "4");
	}
	for (uint32_t i = 0; i < 6; i++) {
		char metadata[32];

		snprintf(metadata, sizeof(metadata), "name: p%u", i);
		filter_n = odd_pre_filter_n = 0;
		assert_int_equal(decide(&t, add_pod(&t, metadata, CPU("100m"), "")).outcome, BT_PLACED);
		assert_int_equal(filter_n, 5);
		assert_int_equal(odd_pre_filter_n, 1);
	}
	end(&t);
}

/* Pods are equal except for their names, which it reads; and its state changes without an event. */
static void its_refusals_are_not_cached(void **state)
{
	struct trial t = begin_with(state, "Mood", NULL);

	mood = false;
	add_node(&t, "n1", "4");
	uint32_t a = add_pod(&t, "name: a", CPU("100m"), ""), b = add_pod(&t, "name: b", CPU("100m"), ""),
		 any = add_pod(&t, "name: any", CPU("100m"), "");
	assert_int_equal(decide(&t, a).outcome, BT_REFUSED);
	assert_non_null(strstr(message(&t, a), "1 node(s) didn't satisfy plugin Mood"));
	mood = true;
	assert_int_equal(decide(&t, b).outcome, BT_PLACED);
	mood = false;
	/* Placing a pod on a node is an event. */
	assert_int_equal(decide(&t, a).outcome, BT_REFUSED);
	assert_int_equal(decide(&t, any).outcome, BT_PLACED);
	end(&t);
}

/* In preemption's dry runs Filter does not see victims, and sees nominated pods. */
static void it_sees_the_pods_that_would_be_on_the_node(void **state)
{
	static const char *const names[] = {"PowerSilent", "PowerDeclared"};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct trial t = begin_with(state, names[i], NULL);

		uint32_t node = add_node(&t, "n1, labels: {watts: '30'}", "4");
		decide(&t, add_pod(&t, "name: small, labels: {watts: '10'}", "priority: 0, " CPU("1m"), ""));
		uint32_t large =
			add_pod(&t, "name: large, labels: {watts: '20'}", "priority: 1, " CPU("1m"), "");
		assert_int_equal(decide(&t, large).outcome, BT_PLACED);
		uint32_t high =
			add_pod(&t, "name: high, labels: {watts: '15'}", "priority: 10, " CPU("1m"), "");
		struct bt_decision decision = decide(&t, high);
		assert_int_equal(decision.nominated_ix, node);
		assert_int_equal(decision.victim_n, 1); /* small is reprieved, or there would be two */
		assert_int_equal(decision.victims[0].pod_ix, large);
		bt_engine_remove_pod(t.engine, large);
		/* 10 of 30 are in use, 15 are nominated. */
		uint32_t low = add_pod(&t, "name: low, labels: {watts: '10'}", "priority: 2, " CPU("1m"), ""),
			 lower = add_pod(
				 &t, "name: lower, labels: {watts: '5'}", "priority: 1, " CPU("1m"), "");
		assert_non_null(strstr(message(&t, low), "1 node(s) had no power left"));
		bt_engine_explain(t.engine, lower, &t.explanation);
		assert_int_equal(t.explanation.evaluation.feasible_n, 1);
		end(&t);
	}
}

/* Two pods of one kind: the result of the first one's preemption is not used for the second. */
static void preemption_is_tried_for_each_pod(void **state)
{
	struct trial t = begin_with(state, "Mood", NULL);

	mood = false;
	uint32_t node = add_node(&t, "n1", "4");
	uint32_t victim = add_pod(&t, "name: any", "priority: 0, " CPU("100m"), "");
	assert_int_equal(decide(&t, victim).outcome, BT_PLACED);
	uint32_t never = add_pod(&t, "name: never", "priority: 10, " CPU("100m"), ""),
		 alone = add_pod(&t, "name: alone", "priority: 10, " CPU("100m"), "");
	assert_int_equal(decide(&t, never).nominated_ix, BT_NO_NODE);
	struct bt_decision decision = decide(&t, alone);
	assert_int_equal(decision.nominated_ix, node);
	assert_int_equal(decision.victim_n, 1);
	assert_int_equal(decision.victims[0].pod_ix, victim);
	end(&t);
}

static void its_failure_fails_the_cycle(void **state)
{
	struct trial t = begin_with(state, "Mood", NULL);

	mood = true;
	add_node(&t, "n1", "4");
	uint32_t bad = add_pod(&t, "name: bad", CPU("100m"), "");
	assert_int_equal(decide(&t, bad).outcome, BT_FAILED);
	assert_string_equal(message(&t, bad), "running \"Mood\" filter plugin: no pods of that name");
	end(&t);
}

static void pre_enqueue_keeps_a_pod_out_until_something_happens(void **state)
{
	struct trial t = begin_with(state, "Mood", NULL);

	mood = false;
	add_node(&t, "n1", "4");
	uint32_t pod = add_pod(&t, "name: any, labels: {wait: 'yes'}", CPU("100m"), "");
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	mood = true;
	add_node(&t, "n2", "4");
	assert_int_equal(decide(&t, pod).outcome, BT_PLACED);
	end(&t);
}

/* ---- arguments ---- */

static void expect_error(const char *args, const char *want)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text,
		HEAD "profiles:\n- schedulerName: s\n  plugins: {multiPoint: {enabled: [{name: "
		     "PriceSilent}]}}\n%s\n",
		args);
	expect_config_error(bt_buf_view(&text), want);
	bt_buf_fini(&text);
}

static void wrong_arguments_are_refused_in_the_plugins_words(void **state)
{
	(void)state;
	expect_error("  pluginConfig: [{name: PriceSilent, args: {label: x}}]",
		"f.yaml: initializing profiles: creating profile for scheduler name s: initializing plugin "
		"\"PriceSilent\": labelName: it is missing");
	expect_error("",
		"f.yaml: initializing profiles: creating profile for scheduler name s: initializing plugin "
		"\"PriceSilent\": labelName: it is missing");
	assert_int_equal(instance_n, 0);
}

static void arguments_are_written_as_they_were_read(void **state)
{
	struct trial t = begin_with(state, "PriceSilent", "{labelName: price, required: true}");
	struct bt_buf text = {0};

	bt_config_encode(&t.config, &text);
	assert_non_null(strstr(
		text.ptr, "{\"args\":{\"labelName\":\"price\",\"required\":true},\"name\":\"PriceSilent\"}"));
	bt_buf_fini(&text);
	end(&t);
}

/* ---- descriptors ---- */

static void expect_refused(const struct berth_plugin *plugin, enum bt_status status, const char *want)
{
	struct bt_buf error = {0};
	uint32_t n = bt_plugin_n();

	assert_int_equal(bt_out_of_tree_add(plugin, bt_str(""), &error), status);
	assert_string_equal(error.ptr, want);
	assert_int_equal(bt_plugin_n(), n);
	bt_buf_fini(&error);
}

static void a_wrong_descriptor_is_refused(void **state)
{
	const struct berth_plugin right = {ABI, .name = "Right", .filter = filter_power};
	struct berth_plugin wrong = right;

	(void)state;
	wrong.size = 8;
	expect_refused(&wrong, BT_INVALID, "size: set it to sizeof(struct berth_plugin)");
	wrong = right;
	wrong.abi = 2;
	expect_refused(&wrong, BT_UNSUPPORTED,
		"it was built for plugin ABI 2, and this berth has 1; build it with this berth's "
		"berth_plugin.h");
	wrong = right;
	wrong.name = "a b";
	expect_refused(
		&wrong, BT_INVALID, "name: give it one of 1 to 63 letters, digits, \".\", \"_\" and \"-\"");
	wrong = right;
	wrong.filter = NULL;
	expect_refused(&wrong, BT_INVALID,
		"it has no extension point; set one of pre_enqueue, pre_filter, filter and score");
	wrong = right;
	wrong.depends = 7;
	expect_refused(&wrong, BT_UNSUPPORTED,
		"depends or pod_fields: a value that this berth does not know; leave both 0, and it is "
		"called "
		"every time");
	wrong = right;
	wrong.normalize = BERTH_PLUGIN_NORMALIZE_OWN;
	expect_refused(
		&wrong, BT_INVALID, "normalize: no value of the header, or its own without normalize_scores");
	wrong = right;
	wrong.name = "NodeResourcesFit";
	expect_refused(&wrong, BT_EXISTS, "a plugin of that name is there already; rename one of them");
	wrong.name = "Mood";
	expect_refused(&wrong, BT_EXISTS, "a plugin of that name is there already; rename one of them");
}

static void there_is_room_for_eight(void **state)
{
	const struct berth_plugin seventh = {ABI, .name = "Seventh", .filter = filter_power},
				  eighth = {ABI, .name = "Eighth", .filter = filter_power},
				  ninth = {ABI, .name = "Ninth", .filter = filter_power},
				  taken = {ABI, .name = "Mood", .filter = filter_power};
	struct bt_buf text = {0};

	(void)state;
	assert_int_equal(bt_out_of_tree_add(&seventh, bt_str(""), &text), BT_OK);
	assert_int_equal(bt_out_of_tree_add(&eighth, bt_str(""), &text), BT_OK);
	expect_refused(&ninth, BT_RANGE,
		"there are 8 plugins of others already, and no room for more; leave some out");
	expect_refused(&taken, BT_EXISTS, "a plugin of that name is there already; rename one of them");
	bt_out_of_tree_identity(bt_plugin_find(bt_str("PriceSilent")), &text);
	assert_string_equal(text.ptr, "1, build 0123");
	bt_buf_clear(&text);
	bt_out_of_tree_identity(bt_plugin_find(bt_str("NodeResourcesFit")), &text);
	assert_int_equal(text.len, 0);
	bt_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_plugin_without_declarations_decides_as_the_built_in_one),
		FIXTURE_TEST(one_that_depends_on_nodes_decides_as_the_plugin_of_the_tree),
		FIXTURE_TEST(a_plugin_that_depends_on_pods_decides_as_without_declarations),
		FIXTURE_TEST(its_declarations_let_columns_decide),
		FIXTURE_TEST(it_sees_only_the_state_that_it_declares),
		FIXTURE_TEST(it_is_called_for_every_node_in_every_cycle),
		FIXTURE_TEST(its_refusals_are_not_cached),
		FIXTURE_TEST(it_sees_the_pods_that_would_be_on_the_node),
		FIXTURE_TEST(preemption_is_tried_for_each_pod),
		FIXTURE_TEST(its_failure_fails_the_cycle),
		FIXTURE_TEST(pre_enqueue_keeps_a_pod_out_until_something_happens),
		FIXTURE_TEST(arguments_are_written_as_they_were_read),
		cmocka_unit_test(wrong_arguments_are_refused_in_the_plugins_words),
		cmocka_unit_test(a_wrong_descriptor_is_refused),
		cmocka_unit_test(there_is_room_for_eight),
	};

	return cmocka_run_group_tests(tests, add_plugins, NULL);
}
