/* SPDX-License-Identifier: Apache-2.0
 * Rollouts: which pods of the cluster count for a workload, and which are replaced.
 */
#include "app_fixture.h"

#include "cache/ledger.h"
#include "tools/offline/check/rollout.h"

/* A pod of a Deployment or StatefulSet "web": its name, more metadata, requested cpu, more of its spec. */
#define POD(name, owner, more, cpu, spec)                                                                    \
	"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: " name ", ownerReferences: "       \
	"[{apiVersion: apps/v1, kind: " owner ", uid: u, controller: true}], " more                          \
	"}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: " cpu "}}}], " spec "}}"
#define OLD(name, more, cpu, spec) POD(name, "ReplicaSet, name: web-abc", more, cpu, spec)
#define NEW(name, more, cpu, spec) POD(name, "ReplicaSet, name: web-xyz", more, cpu, spec)
#define LABELS(more)		   "labels: {app: web" more "}"
#define STATEFUL(name, ordinal, spec)                                                                        \
	POD(name, "StatefulSet, name: web", "labels: {x: " ordinal "}", "1", spec)

struct rolling {
	struct app_fixture app;
	struct bt_rollout rollout;
};

static void begin_rolling(struct rolling *r, struct fixture *f, const char *manifest)
{
	begin_app(&r->app, manifest, "");
	assert_int_equal(r->app.status, BT_EXIT_OK);
	r->rollout = (struct bt_rollout){.app = &r->app.app, .cache = f->cache};
	fixture_node(f, "name: n1", "", "allocatable: {cpu: 8}");
}

static void end_rolling(struct rolling *r)
{
	bt_rollout_fini(&r->rollout);
	end_app(&r->app);
}

static uint32_t old_pod(struct rolling *r, struct fixture *f, const char *yaml)
{
	const struct bt_pod_object *pod = &fixture_read(f, yaml)->pod;
	uint32_t ix = BT_NO_POD;

	assert_int_equal(cache_enter_pod(f->cache, pod, &ix), BT_OK);
	bt_rollout_note(&r->rollout, ix, pod);
	return ix;
}

static void new_pod(struct rolling *r, struct fixture *f, const char *yaml)
{
	bt_rollout_add(&r->rollout, fixture_read(f, yaml), 0);
}

/* Does a running pod count for the one that the manifest makes? */
static bool counts(void **state, const char *old_yaml, const char *new_yaml)
{
	struct rolling r;

	begin_rolling(&r, *state, MANIFEST("Deployment", "web"));
	uint32_t ix = old_pod(&r, *state, old_yaml);
	assert_int_equal(bt_rollout_count(&r.rollout, 0), 1);
	new_pod(&r, *state, new_yaml);
	bt_rollout_match(&r.rollout);
	bool kept = r.rollout.old_pods[0].kept;
	assert_int_equal(r.rollout.new_pods[0].kept_ix, kept ? ix : BT_NO_POD);
	bt_ledger_remove(r.rollout.cache->ledger, ix);
	end_rolling(&r);
	return kept;
}

static void a_pod_counts_unless_what_matters_to_scheduling_has_changed(void **state)
{
	static const char plain[] = NEW("b", LABELS(""), "1", "priority: 0");

	assert_true(counts(state, OLD("a", LABELS(""), "1", "nodeName: n1, priority: 0"), plain));
	/* What controllers and admission add does not matter. */
	assert_true(counts(state,
		OLD("a", LABELS(", pod-template-hash: abc"), "1", "nodeName: n1, priority: 0"), plain));
	assert_true(counts(state,
		OLD("a", LABELS(""), "1",
			"nodeName: n1, priority: 0, tolerations: [{key: node.kubernetes.io/not-ready, "
			"operator: "
			"Exists, effect: NoExecute, tolerationSeconds: 300}]"),
		plain));
	/* One difference each. */
	assert_false(counts(state, OLD("a", LABELS(""), "2", "nodeName: n1, priority: 0"), plain));
	assert_false(counts(state, OLD("a", LABELS(", tier: x"), "1", "nodeName: n1, priority: 0"), plain));
	assert_false(counts(state, OLD("a", LABELS(""), "1", "nodeName: n1, priority: 7"), plain));
	assert_false(counts(
		state, OLD("a", LABELS(""), "1", "nodeName: n1, priority: 0, nodeSelector: {a: b}"), plain));
	assert_false(counts(state,
		OLD("a", LABELS(""), "1",
			"nodeName: n1, priority: 0, tolerations: [{key: mine, operator: Exists}]"),
		plain));
}

static void pods_on_nodes_count_before_pods_that_wait(void **state)
{
	struct rolling r;

	begin_rolling(&r, *state, MANIFEST("Deployment", "web"));
	old_pod(&r, *state, OLD("waits", LABELS(""), "1", "priority: 0"));
	uint32_t runs_ix = old_pod(&r, *state, OLD("runs", LABELS(""), "1", "nodeName: n1, priority: 0"));
	new_pod(&r, *state, NEW("b", LABELS(""), "1", "priority: 0"));
	bt_rollout_match(&r.rollout);
	assert_int_equal(r.rollout.new_pods[0].kept_ix, runs_ix);
	assert_false(r.rollout.old_pods[0].kept);
	end_rolling(&r);
}

static void pods_of_a_stateful_set_count_by_name(void **state)
{
	struct rolling r;

	begin_rolling(&r, *state, MANIFEST("StatefulSet", "web"));
	uint32_t one_ix = old_pod(&r, *state, STATEFUL("web-1", "a", "nodeName: n1, priority: 0"));
	old_pod(&r, *state, STATEFUL("web-7", "a", "nodeName: n1, priority: 0"));
	new_pod(&r, *state, STATEFUL("web-0", "a", "priority: 0"));
	new_pod(&r, *state, STATEFUL("web-1", "a", "priority: 0"));
	bt_rollout_match(&r.rollout);
	assert_int_equal(r.rollout.new_pods[0].kept_ix, BT_NO_POD);
	assert_int_equal(r.rollout.new_pods[1].kept_ix, one_ix);
	assert_false(r.rollout.old_pods[1].kept);
	end_rolling(&r);
}

static void each_pod_counts_once_and_a_pod_that_is_gone_does_not(void **state)
{
	struct fixture *f = *state;
	struct rolling r;

	begin_rolling(&r, f, MANIFEST("Deployment", "web"));
	uint32_t gone_ix = old_pod(&r, f, OLD("gone", LABELS(""), "1", "nodeName: n1, priority: 0"));
	uint32_t stays_ix = old_pod(&r, f, OLD("stays", LABELS(""), "1", "nodeName: n1, priority: 0"));
	new_pod(&r, f, NEW("b", LABELS(""), "1", "priority: 0"));
	new_pod(&r, f, NEW("c", LABELS(""), "1", "priority: 0"));
	bt_ledger_remove(f->cache->ledger, gone_ix);
	bt_rollout_match(&r.rollout);
	assert_int_equal(r.rollout.old_n, 1);
	assert_int_equal(r.rollout.new_pods[0].kept_ix, stays_ix);
	assert_int_equal(r.rollout.new_pods[1].kept_ix, BT_NO_POD);
	end_rolling(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_counts_unless_what_matters_to_scheduling_has_changed),
		FIXTURE_TEST(pods_on_nodes_count_before_pods_that_wait),
		FIXTURE_TEST(pods_of_a_stateful_set_count_by_name),
		FIXTURE_TEST(each_pod_counts_once_and_a_pod_that_is_gone_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
