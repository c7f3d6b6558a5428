/* SPDX-License-Identifier: Apache-2.0
 * Random histories with upstream's sampling, compared with a plain model of findNodesThatFitPod with
 * one worker: each decision is the best of the nodes that kube-scheduler would have evaluated.
 * BT_SEED=n repeats one history.
 */
#include "engine_fixture.h"
#include "object_fixture.h"

#include "engine/base/rng.h"
#include "engine/flow/cycle/engine.h"
#include "tools/kube/config/config_decode.h"

#define HISTORIES 12
#define STEPS	  400
#define NODES_MAX 900
#define ZONES	  4
#define NO_ZONE	  ZONES

static const char config_text[] =
	"apiVersion: kubescheduler.config.k8s.io/v1\n"
	"kind: KubeSchedulerConfiguration\n"
	"percentageOfNodesToScore: %d\n"
	"profiles:\n"
	"- plugins:\n"
	"    score: {disabled: [{name: '*'}]%s}\n"
	"  pluginConfig:\n"
	"  - name: NodeResourcesFit\n"
	"    args: {scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 1}]}}\n";

/* The model's state of a node; cpu in thousandths. */
struct node {
	int zone, shown_zone; /* shown_zone: at upstream's last list of nodes */
	int64_t cpu, used;
	uint64_t entered; /* sequence number of its entry into the zone; 0: the node does not exist */
	uint32_t slot;
};

struct history {
	struct fixture *f;
	struct bt_rng rng;
	struct bt_config config;
	struct bt_engine *engine;
	uint64_t seed;
	int percentage;
	bool scores;
	struct node nodes[NODES_MAX];
	uint32_t node_n;
	uint64_t clock;
	uint64_t zone_entered[ZONES + 1]; /* when it last became non-empty */
	uint32_t order[NODES_MAX], order_n;
	bool stale;
	uint32_t start;
	uint32_t pod_n, placed_n, sampled_n;
};

static uint32_t below(struct history *h, uint32_t n)
{
	return bt_rng_below(&h->rng, n);
}

/* ---- the reference ---- */

static uint32_t zone_size(const struct history *h, int zone)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->node_n; i++) {
		n += h->nodes[i].entered && h->nodes[i].zone == zone;
	}
	return n;
}

static void enter_zone(struct history *h, struct node *node, int zone)
{
	if (zone_size(h, zone) == 0) {
		h->zone_entered[zone] = ++h->clock;
	}
	node->zone = zone;
	node->entered = ++h->clock;
}

/* The node of a zone with the next sequence number after this one, or NODES_MAX. */
static uint32_t next_in_zone(const struct history *h, int zone, uint64_t after)
{
	uint32_t best = NODES_MAX;

	for (uint32_t i = 0; i < h->node_n; i++) {
		const struct node *node = &h->nodes[i];

		if (node->entered > after && node->zone == zone &&
			(best == NODES_MAX || node->entered < h->nodes[best].entered)) {
			best = i;
		}
	}
	return best;
}

/* One node of each zone in turn, zones in order of creation. */
static void list_nodes(struct history *h)
{
	uint64_t after[ZONES + 1] = {0};
	int zones[ZONES + 1], zone_n = 0;

	for (uint64_t moment = 0; moment <= h->clock; moment++) {
		for (int zone = 0; zone <= ZONES; zone++) {
			if (h->zone_entered[zone] == moment && zone_size(h, zone)) {
				zones[zone_n++] = zone;
			}
		}
	}
	h->order_n = 0;
	for (bool more = true; more;) {
		more = false;
		for (int z = 0; z < zone_n; z++) {
			uint32_t next = next_in_zone(h, zones[z], after[zones[z]]);

			if (next < NODES_MAX) {
				after[zones[z]] = h->nodes[next].entered;
				h->order[h->order_n++] = next;
				more = true;
			}
		}
	}
	h->stale = false;
}

static uint32_t enough(const struct history *h, uint32_t n)
{
	uint32_t percentage = (uint32_t)h->percentage, found;

	if (!h->scores) {
		return 1;
	}
	if (n < 100) {
		return n;
	}
	if (percentage == 0) {
		percentage = n / 125 > 45 ? 5 : 50 - n / 125;
	}
	found = n * percentage / 100;
	return found < 100 ? 100 : found;
}

static bool fits(const struct history *h, uint32_t node, int64_t cpu)
{
	return h->nodes[node].used + cpu <= h->nodes[node].cpu;
}

/*
 * The feasible nodes of a pod. candidates: PreFilter's result, or NULL; nominated: NODES_MAX for none.
 * Advances the start index.
 */
static uint32_t find_nodes(struct history *h, int64_t cpu, const uint32_t *candidates, uint32_t candidate_n,
	uint32_t nominated, uint32_t *found)
{
	const uint32_t *nodes = candidates ? candidates : h->order;
	uint32_t n = candidates ? candidate_n : h->order_n, limit = enough(h, n), found_n = 0, refused_n = 0;
	bool met = nominated == NODES_MAX;

	if (nominated < NODES_MAX && fits(h, nominated, cpu)) {
		found[0] = nominated;
		return 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = nodes[(h->start + i) % n];

		if (fits(h, node, cpu) && found_n == limit) {
			h->sampled_n++;
			break;
		}
		if (fits(h, node, cpu)) {
			found[found_n++] = node;
		} else {
			refused_n++;
		}
		met |= node == nominated;
	}
	h->start = (h->start + found_n + refused_n + !met) % h->order_n;
	return found_n;
}

static int64_t score_of(const struct history *h, uint32_t node, int64_t cpu)
{
	const struct node *n = &h->nodes[node];

	return h->scores ? (n->cpu - n->used - cpu) * 100 / n->cpu : 0;
}

/* ---- the history ---- */

static void apply_node(struct history *h, uint32_t i)
{
	struct node *node = &h->nodes[i];
	char labels[64] = "";
	char text[256];

	if (node->zone != NO_ZONE) {
		snprintf(labels, sizeof(labels), "topology.kubernetes.io/zone: z%d", node->zone);
	}
	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Node, metadata: {name: n%u, labels: {%s}}, status: {allocatable: "
		"{cpu: %dm, memory: 8Gi, pods: '50'}}}",
		i, labels, (int)node->cpu);
	assert_int_equal(
		bt_engine_apply_node(h->engine, &fixture_read(h->f, text)->node, &node->slot), BT_OK);
}

static void add_node(struct history *h)
{
	struct node *node = &h->nodes[h->node_n];

	*node = (struct node){.cpu = 1000 * (1 + below(h, 4))};
	h->node_n++;
	enter_zone(h, node, (int)below(h, ZONES + 1));
	apply_node(h, h->node_n - 1);
	h->stale = true;
}

static void move_node(struct history *h)
{
	struct node *node = &h->nodes[below(h, h->node_n)];
	int zone = (int)below(h, ZONES + 1);

	if (node->entered && node->zone != zone) {
		node->entered = 0;
		enter_zone(h, node, zone);
		apply_node(h, (uint32_t)(node - h->nodes));
	}
}

/* Removes only nodes without pods, so that the model stays simple. */
static void remove_node(struct history *h)
{
	struct node *node = &h->nodes[below(h, h->node_n)];
	char name[16];

	if (!node->entered || node->used) {
		return;
	}
	snprintf(name, sizeof(name), "n%u", (unsigned)(node - h->nodes));
	assert_int_equal(bt_engine_delete_object(h->engine, BT_KIND_NODE, bt_str(""), bt_str(name)), BT_OK);
	node->entered = 0;
	h->stale = true;
}

static uint32_t node_in_slot(const struct history *h, uint32_t slot)
{
	for (uint32_t i = 0; i < h->node_n; i++) {
		if (h->nodes[i].entered && h->nodes[i].slot == slot) {
			return i;
		}
	}
	fail_msg("BT_SEED=%" PRIu64 ": a node that is not there was chosen", h->seed);
	return 0;
}

/* Some nodes by name, in the order of their slots, as matchFields restrict them. */
static uint32_t pick_candidates(struct history *h, uint32_t *candidates)
{
	uint32_t n = 0, wanted = 1 + below(h, 6);

	for (uint32_t tries = 0; tries < 20 && n < wanted; tries++) {
		uint32_t i = below(h, h->node_n);
		bool known = !h->nodes[i].entered;

		for (uint32_t k = 0; k < n; k++) {
			known |= candidates[k] == i;
		}
		if (!known) {
			candidates[n++] = i;
		}
	}
	return n;
}

static uint32_t add_pod(
	struct history *h, int64_t cpu, const uint32_t *candidates, uint32_t candidate_n, uint32_t nominated)
{
	struct bt_buf text = {0};
	enum bt_entry entry;
	uint32_t pod_ix;

	bt_buf_printf(&text,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: d, name: p%u}, spec: {schedulerName: "
		"default-scheduler, containers: [{name: c, resources: {requests: {cpu: %dm}}}]",
		h->pod_n++, (int)cpu);
	for (uint32_t i = 0; i < candidate_n; i++) {
		bt_buf_printf(&text, "%s{matchFields: [{key: metadata.name, operator: In, values: [n%u]}]}",
			i ? ", "
			  : ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "{nodeSelectorTerms: [",
			candidates[i]);
	}
	bt_buf_text(&text, candidate_n ? "]}}}}" : "}");
	if (nominated < NODES_MAX) {
		bt_buf_printf(&text, ", status: {nominatedNodeName: n%u}", nominated);
	}
	bt_buf_char(&text, '}');
	assert_int_equal(
		bt_engine_add_pod(h->engine, &fixture_read(h->f, text.ptr)->pod, &entry, &pod_ix), BT_OK);
	assert_int_equal(entry, BT_ENTERED_QUEUE);
	bt_buf_fini(&text);
	return pod_ix;
}

static void check_choice(struct history *h, const struct bt_decision *decision, int64_t cpu,
	const uint32_t *found, uint32_t found_n)
{
	int64_t best = INT64_MIN;
	bool among = false;

	if (found_n == 0) {
		assert_int_equal(decision->outcome, BT_REFUSED);
		return;
	}
	assert_int_equal(decision->outcome, BT_PLACED);
	uint32_t chosen = node_in_slot(h, decision->node_ix);
	for (uint32_t i = 0; i < found_n; i++) {
		int64_t score = score_of(h, found[i], cpu);

		best = score > best ? score : best;
		among |= found[i] == chosen;
	}
	if (!among || score_of(h, chosen, cpu) != best) {
		fail_msg("BT_SEED=%" PRIu64 ", pod %u: n%u is %s of the %u nodes that were looked at",
			h->seed, h->pod_n - 1, chosen, among ? "not the best" : "none", found_n);
	}
	h->nodes[chosen].used += cpu;
	h->placed_n++;
}

static int by_slot(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;

	return (*x)->slot < (*y)->slot ? -1 : 1;
}

static void sort_by_slot(const struct history *h, uint32_t *candidates, uint32_t n)
{
	const struct node *nodes[8];

	for (uint32_t i = 0; i < n; i++) {
		nodes[i] = &h->nodes[candidates[i]];
	}
	qsort(nodes, n, sizeof(nodes[0]), by_slot);
	for (uint32_t i = 0; i < n; i++) {
		candidates[i] = (uint32_t)(nodes[i] - h->nodes);
	}
}

static void schedule(struct history *h)
{
	int64_t cpu = 100 * (1 + below(h, 30));
	uint32_t candidates[8], found[NODES_MAX], candidate_n = 0, nominated = NODES_MAX;
	struct bt_decision decision;

	if (below(h, 5) == 0) {
		candidate_n = pick_candidates(h, candidates);
		sort_by_slot(h, candidates, candidate_n);
	}
	if (candidate_n == 0 && below(h, 4) == 0) {
		nominated = below(h, h->node_n);
		nominated = h->nodes[nominated].entered ? nominated : NODES_MAX;
	}
	if (h->stale) {
		list_nodes(h);
	}
	uint32_t pod_ix = add_pod(h, cpu, candidates, candidate_n, nominated);
	assert_int_equal(bt_engine_pop(h->engine), pod_ix);
	uint32_t found_n = find_nodes(h, cpu, candidate_n ? candidates : NULL, candidate_n, nominated, found);
	bt_engine_decide(h->engine, pod_ix, &decision);
	check_choice(h, &decision, cpu, found, found_n);
	if (decision.outcome != BT_PLACED) {
		bt_engine_remove_pod(h->engine, pod_ix);
	}
}

static void begin(struct history *h, struct fixture *f, uint64_t seed)
{
	struct bt_buf text = {0}, error = {0};

	h->f = f;
	h->seed = seed;
	h->rng = (struct bt_rng){seed};
	h->scores = below(h, 6) != 0;
	h->percentage = below(h, 2) ? 0 : (int)(1 + below(h, 100));
	bt_buf_printf(&text, config_text, h->percentage,
		h->scores ? ", enabled: [{name: NodeResourcesFit, weight: 1}]" : "");
	bt_config_init(&h->config, NULL);
	if (bt_config_load(&h->config, "test", bt_buf_view(&text), &error) != BT_OK) {
		fail_msg("%s", error.ptr);
	}
	const struct bt_engine_options options = {.seed = seed, .sampling = BT_SAMPLING_UPSTREAM};
	h->engine = fixture_engine(&h->config, &options);
	for (uint32_t n = 20 + below(h, 400); h->node_n < n;) {
		add_node(h);
	}
	bt_buf_fini(&text);
}

static void play(struct fixture *f, uint64_t seed, uint32_t *placed_n, uint32_t *sampled_n)
{
	struct history *h = calloc(1, sizeof(*h));

	begin(h, f, seed);
	for (int step = 0; step < STEPS; step++) {
		uint32_t what = below(h, 40);

		if (what == 0 && h->node_n < NODES_MAX) {
			add_node(h);
		} else if (what == 1) {
			move_node(h);
		} else if (what == 2) {
			remove_node(h);
		} else {
			schedule(h);
		}
	}
	*placed_n += h->placed_n;
	*sampled_n += h->sampled_n;
	bt_engine_destroy(h->engine);
	bt_config_fini(&h->config);
	free(h);
}

static void decisions_come_from_upstreams_sample(void **state)
{
	const char *given = getenv("BT_SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : 1;
	uint32_t placed_n = 0, sampled_n = 0;

	for (uint64_t i = 0; i < (given ? 1 : HISTORIES); i++) {
		play(*state, first + i, &placed_n, &sampled_n);
	}
	print_message("BT_SEED=%" PRIu64 "...: %u placed, %u samples smaller than all nodes\n", first,
		placed_n, sampled_n);
	assert_true(given || (placed_n > 1000 && sampled_n > 300));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			decisions_come_from_upstreams_sample, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
