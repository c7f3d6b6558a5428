/* SPDX-License-Identifier: Apache-2.0
 * Signatures: equal pods share one; each field that can change a decision distinguishes pods.
 */
#include "object_fixture.h"

#define COMMON "schedulerName: default-scheduler, containers: [{name: a, image: app}]"

static const char *const different[] = {
	COMMON,
	"schedulerName: other, containers: [{name: a, image: app}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: web}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app}, {name: b, image: app}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app, resources: {requests: {cpu: "
	"1}}}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app, resources: {requests: {cpu: "
	"0}}}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app, resources: {requests: "
	"{nvidia.com/gpu: 1}}}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app, ports: [{hostPort: 80}]}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app, ports: [{hostPort: 80, hostIP: "
	"10.0.0.1}]}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app, ports: [{hostPort: 80, "
	"protocol: UDP}]}]",
	"schedulerName: default-scheduler, containers: [{name: a, image: app}], initContainers: [{name: i, "
	"image: app}]",
	COMMON ", nodeSelector: {}",
	COMMON ", nodeSelector: {disk: ssd}",
	COMMON ", tolerations: [{operator: Exists}]",
	COMMON ", tolerations: [{key: k, operator: Exists}]",
	COMMON ", tolerations: [{key: k, operator: Exists, effect: NoSchedule}]",
	COMMON ", overhead: {cpu: 10m}",
	COMMON ", resources: {requests: {cpu: 100m}}",
	COMMON
	", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
	"[{matchExpressions: [{key: a, operator: Exists}]}]}}}",
	COMMON
	", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
	"[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}",
	COMMON ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
	       "preference: "
	       "{matchExpressions: [{key: a, operator: Exists}]}}]}}",
	COMMON ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 2, "
	       "preference: "
	       "{matchExpressions: [{key: a, operator: Exists}]}}]}}",
};

static void every_field_that_matters_sets_pods_apart(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signatures[COUNT_OF(different)];

	for (size_t i = 0; i < COUNT_OF(different); i++) {
		signatures[i] = fixture_signature(f, different[i]);
		for (size_t k = 0; k < i; k++) {
			if (signatures[i] == signatures[k]) {
				fail_msg("\"%s\" and \"%s\" share a signature", different[i], different[k]);
			}
		}
	}
	assert_int_equal(bt_signatures_count(f->cache->signatures), COUNT_OF(different));
}

static void equal_pods_share_a_signature(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT_OF(different); i++) {
		const struct bt_signature *signature = fixture_signature(f, different[i]);

		assert_ptr_equal(fixture_signature(f, different[i]), signature);
		assert_ptr_equal(bt_signatures_get(f->cache->signatures, signature->ix), signature);
	}
}

static void irrelevant_fields_do_not_change_the_signature(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, COMMON);

	assert_ptr_equal(
		fixture_signature(f, COMMON ", priority: 5, terminationGracePeriodSeconds: 3"), signature);
	assert_ptr_equal(
		fixture_signature(f, "schedulerName: default-scheduler, containers: [{name: z, image: app}]"),
		signature);
}

/* ---- what claims take of the node ---- */

/* Signatures of a release, which have nothing of the fixture's. */
static struct bt_signatures *signatures_with_node_claims(struct fixture *f, const char *release)
{
	struct bt_signatures *signatures = bt_signatures_create(f->cache->dictionary);
	static const bool gates[BT_GATE_N] = {[BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES] = true};

	bt_signatures_configure(signatures, bt_release_find(bt_str(release)), gates);
	return signatures;
}

static const struct bt_signature *with_status(
	struct fixture *f, struct bt_signatures *signatures, const char *node_claim)
{
	char text[768];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {" COMMON
		"}, status: {nodeAllocatableResourceClaimStatuses: [%s]}}",
		node_claim);
	return bt_signatures_intern(signatures, &fixture_read(f, text)->pod);
}

/* A pod whose claim may take of the node. */
static const struct bt_signature *with_claim(struct fixture *f, struct bt_signatures *signatures)
{
	return bt_signatures_intern(signatures,
		&fixture_read(f, "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: "
				 "{" COMMON ", resourceClaims: [{name: c, resourceClaimName: c}]}}")
			 ->pod);
}

#define MAPPING	 "mapping: [{name: cpu, quantity: 1}]"
#define OVERHEAD "overhead: [{name: cpu, perPod: 1, perContainer: 2}]"

/* The first one, and others that differ from it in one field each; many come to the same requests. */
static const char *const different_claims[] = {
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", " OVERHEAD "}",
	"",
	"{resourceClaimName: d, containers: [a, b], " MAPPING ", " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a, z], " MAPPING ", " OVERHEAD "}",
	"{resourceClaimName: c, containers: [b, a], " MAPPING ", " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a], " MAPPING ", " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a, b], " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a, b], mapping: [{name: cpu, quantity: 2}], " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a, b], mapping: [{name: memory, quantity: 1}], " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a, b], mapping: [{name: cpu, quantity: 1}, {name: memory, "
	"quantity: 0}], " OVERHEAD "}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING "}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING
	", overhead: [{name: memory, perPod: 1, perContainer: 2}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING
	", overhead: [{name: cpu, perPod: 3, perContainer: 2}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING
	", overhead: [{name: cpu, perPod: 1, perContainer: 4}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", overhead: [{name: cpu, perContainer: 2}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING
	", overhead: [{name: cpu, perPod: 0, perContainer: 2}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", overhead: [{name: cpu, perPod: 1}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING
	", overhead: [{name: cpu, perPod: 1, perContainer: 0}]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", " OVERHEAD
	"}, {resourceClaimName: d, containers: [a]}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", " OVERHEAD ", resources: {cpu: 1}}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", " OVERHEAD ", resources: {cpu: 2}}",
	"{resourceClaimName: c, containers: [a, b], " MAPPING ", " OVERHEAD ", resources: {memory: 1}}",
};

/* The pod of that status, and one that is assumed with what the status says. */
static void every_field_of_a_node_claim_sets_pods_apart(void **state)
{
	static const char *const releases[] = {"1.36", "1.37"};
	struct fixture *f = *state;
	const struct bt_signature *shown[COUNT_OF(different_claims)];

	for (size_t r = 0; r < COUNT_OF(releases); r++) {
		struct bt_signatures *signatures = signatures_with_node_claims(f, releases[r]);

		for (size_t i = 0; i < COUNT_OF(different_claims); i++) {
			shown[i] = with_status(f, signatures, different_claims[i]);
			assert_ptr_equal(with_status(f, signatures, different_claims[i]), shown[i]);
			for (size_t k = 0; k < i; k++) {
				if (shown[i] == shown[k]) {
					fail_msg("%s: \"%s\" and \"%s\" share a signature", releases[r],
						different_claims[i], different_claims[k]);
				}
			}
		}
		bt_signatures_destroy(signatures);
	}
}

/* The last ones have resources, the field of 1.36, which is read instead of mapping. */
#define WITH_RESOURCES 3

static void every_field_of_a_node_claim_sets_assumed_pods_apart(void **state)
{
	enum { N = COUNT_OF(different_claims) - WITH_RESOURCES };
	struct fixture *f = *state;
	struct bt_signatures *signatures = signatures_with_node_claims(f, "1.37");
	const struct bt_signature *base = with_claim(f, signatures), *assumed[N];

	for (size_t i = 0; i < N; i++) {
		const struct bt_signature *shown = with_status(f, signatures, different_claims[i]);

		assumed[i] = bt_signature_assume(signatures, base, shown->node_claims, shown->node_claim_n);
		assert_ptr_equal(assumed[i]->assumed_of, base);
		assert_int_equal(assumed[i]->node_claim_n > 0, i != 1);
		for (size_t k = 0; k < i; k++) {
			if (assumed[i] == assumed[k]) {
				fail_msg("\"%s\" and \"%s\" share a signature", different_claims[i],
					different_claims[k]);
			}
		}
	}
	/* The text that is written to the status depends on the notation. */
	struct bt_exact exact = *assumed[0]->node_claims[0].mapping.items;
	struct bt_node_claim claim = assumed[0]->node_claims[0];

	claim.mapping.items = &exact;
	assert_ptr_equal(bt_signature_assume(signatures, base, &claim, 1), assumed[0]);
	exact.quantity.format = BT_BINARY_SI;
	assert_ptr_not_equal(bt_signature_assume(signatures, base, &claim, 1), assumed[0]);
	bt_signatures_destroy(signatures);
}

/* The signature of a bound pod that requests 700m and one x, with other requests in its status. */
static const struct bt_signature *running_with(struct fixture *f, const char *requests)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {schedulerName: "
		"default-scheduler, nodeName: n1, containers: [{name: a, image: app, resources: {requests: "
		"{cpu: 700m, example.com/x: 1}}}]}, status: {containerStatuses: [{name: a, resources: "
		"{requests: {%s}}}]}}",
		requests);
	return bt_signatures_intern(f->cache->signatures, &fixture_read(f, text)->pod);
}

static void a_status_is_in_the_signature_only_where_it_adds_to_the_spec(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *waiting =
		fixture_signature(f, "schedulerName: default-scheduler, containers: [{name: a, image: app, "
				     "resources: {requests: {cpu: 700m, example.com/x: 1}}}]");

	assert_ptr_equal(running_with(f, "cpu: 700m, example.com/x: 1"), waiting);
	assert_ptr_equal(running_with(f, "cpu: 600m"), waiting);
	assert_ptr_not_equal(running_with(f, "cpu: 800m, example.com/x: 1"), waiting);
	assert_ptr_not_equal(running_with(f, "cpu: 700m, example.com/x: 2"), waiting);
	assert_ptr_not_equal(running_with(f, "cpu: 700m, example.com/x: 2"),
		running_with(f, "cpu: 700m, example.com/x: 3"));
	assert_ptr_equal(running_with(f, "cpu: 700m, example.com/x: 2"), running_with(f, "example.com/x: 2"));
}

static void pods_of_two_namespaces_differ(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *one = bt_signatures_intern(f->cache->signatures,
		&fixture_read(f,
			"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: one}, spec: {" COMMON
			"}}")
			 ->pod);
	const struct bt_signature *two = bt_signatures_intern(f->cache->signatures,
		&fixture_read(f,
			"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: two}, spec: {" COMMON
			"}}")
			 ->pod);

	assert_ptr_not_equal(one, two);
	assert_int_equal(one->namespace_, fixture_name(f, "one"));
}

static void names_demanded_by_every_term_are_collected(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *s = fixture_signature(f,
		COMMON ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
		       "{nodeSelectorTerms: "
		       "[{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}, {matchFields: "
		       "[{key: metadata.name, "
		       "operator: In, values: [n1]}]}]}}}");

	assert_true(s->names_only);
	assert_int_equal(s->node_name_n, 2);
	s = fixture_signature(f,
		COMMON ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
		       "{nodeSelectorTerms: "
		       "[{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}, "
		       "{matchExpressions: [{key: a, operator: "
		       "Exists}]}]}}}");
	assert_false(s->names_only);
	s = fixture_signature(f,
		COMMON ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
		       "{nodeSelectorTerms: "
		       "[{matchFields: [{key: metadata.name, operator: In, values: [n2]}, {key: "
		       "metadata.name, operator: In, "
		       "values: [n1]}]}]}}}");
	assert_true(s->names_only);
	assert_int_equal(s->node_name_n, 0);
}

static void a_preference_that_cannot_be_parsed_is_kept_as_an_error(void **state)
{
	const struct bt_signature *s = fixture_signature(*state,
		COMMON ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
		       "[{weight: 1, preference: "
		       "{matchExpressions: [{key: a, operator: Near}]}}]}}");

	assert_non_null(s->preferred_error);
}

static void only_running_containers_take_host_ports(void **state)
{
	const struct bt_signature *s =
		fixture_signature(*state, "containers: [{name: a, ports: [{hostPort: 80}, {containerPort: "
					  "81}]}], initContainers: [{name: i, ports: "
					  "[{hostPort: 82}]}, {name: s, restartPolicy: Always, ports: "
					  "[{hostPort: 83, protocol: UDP}]}]");
	int64_t sum = 0;

	assert_int_equal(s->port_n, 2);
	for (uint32_t i = 0; i < s->port_n; i++) {
		assert_int_equal(s->ports[i].ip, BT_NAME_ANY_IP);
		sum += s->ports[i].port;
	}
	assert_int_equal(sum, 80 + 83);
}

static void volumes_for_hints_only_are_last_and_do_not_count(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *s = fixture_signature(f, COMMON
		", volumes: [{name: a, csi: {driver: d}}, {name: b, persistentVolumeClaim: {claimName: c}}, "
		"{name: e, emptyDir: {}}, {name: f, azureFile: {shareName: s}}]");

	assert_int_equal(s->volume_n, 1);
	assert_int_equal(s->volumes[0].type, BT_VOLUME_CLAIM);
	assert_int_equal(s->noted_n, 3);
	assert_int_equal(s->volumes[1].source, fixture_name(f, "d"));
	assert_int_equal(s->volumes[2].type, BT_VOLUME_AZURE_FILE);
	assert_ptr_not_equal(fixture_signature(f, COMMON ", volumes: [{name: a, csi: {driver: d}}]"),
		fixture_signature(f, COMMON ", volumes: [{name: a, csi: {driver: e}}]"));
	assert_ptr_equal(fixture_signature(f, COMMON ", volumes: [{name: a, csi: {driver: d}}]"),
		fixture_signature(f, COMMON ", volumes: [{name: b, csi: {driver: d}}]"));
}

/* ---- reuse and removal ---- */

#define APP(n) "schedulerName: default-scheduler, containers: [{name: a, image: \"image-" #n "\"}]"

/* Retires unused signatures except the latest keep_n. Returns their number. */
static uint32_t retire(struct fixture *f, uint32_t keep_n)
{
	const uint32_t *ixs;
	uint32_t n = bt_signatures_retire(f->cache->signatures, keep_n, &ixs);

	bt_signatures_free_retired(f->cache->signatures);
	return n;
}

static void a_signature_lives_while_it_is_referenced(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *s = fixture_signature(f, APP(1));

	bt_signature_hold(s);
	bt_signature_release(s);
	assert_int_equal(bt_signatures_listed(f->cache->signatures), 0);
	assert_int_equal(retire(f, 0), 0);
	assert_ptr_equal(fixture_signature(f, APP(1)), s);
	bt_signature_release(s);
	bt_signature_release(s);
	assert_int_equal(bt_signatures_listed(f->cache->signatures), 1);
	assert_int_equal(retire(f, 1), 0);
	/* Held again, it is not retired. */
	assert_ptr_equal(fixture_signature(f, APP(1)), s);
	assert_int_equal(retire(f, 0), 0);
	assert_int_equal(bt_signatures_listed(f->cache->signatures), 0);
	bt_signature_release(s);
	assert_int_equal(retire(f, 0), 1);
	assert_int_equal(bt_signatures_count(f->cache->signatures), 0);
}

static void an_index_is_used_again_and_a_serial_number_is_not(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *s = fixture_signature(f, APP(1));
	uint32_t ix = s->ix;
	uint64_t serial = s->serial;

	bt_signature_release(s);
	assert_int_equal(retire(f, 0), 1);
	s = fixture_signature(f, APP(1));
	assert_int_equal(s->ix, ix);
	assert_true(s->serial > serial);
	assert_int_equal(bt_signatures_end(f->cache->signatures), 1);
}

static void names_go_with_the_last_that_has_them(void **state)
{
	struct fixture *f = *state;
	const struct bt_intern *intern = f->cache->dictionary->intern;
	const struct bt_signature *one = fixture_signature(f,
		COMMON ", nodeSelector: {only-one: yes-one}, tolerations: [{key: both, operator: Exists}]");
	const struct bt_signature *two = fixture_signature(f, COMMON
		", tolerations: [{key: both, operator: Exists}], affinity: {podAntiAffinity: "
		"{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: only-two, labelSelector: "
		"{matchLabels: {two-key: two-value}}}]}}");

	bt_signature_release(one);
	assert_int_equal(retire(f, 0), 1);
	assert_int_equal(bt_intern_find(intern, bt_str("only-one")), BT_NAME_NONE);
	assert_int_equal(bt_intern_find(intern, bt_str("yes-one")), BT_NAME_NONE);
	assert_int_equal(two->tolerations[0].key, bt_intern_find(intern, bt_str("both")));
	bt_signature_release(two);
	assert_int_equal(retire(f, 0), 1);
	assert_int_equal(bt_intern_find(intern, bt_str("both")), BT_NAME_NONE);
	assert_int_equal(bt_intern_find(intern, bt_str("only-two")), BT_NAME_NONE);
	assert_int_equal(bt_intern_find(intern, bt_str("two-value")), BT_NAME_NONE);
}

static void the_most_recently_used_signatures_are_kept(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *s[4] = {fixture_signature(f, APP(0)), fixture_signature(f, APP(1)),
		fixture_signature(f, APP(2)), fixture_signature(f, APP(3))};

	for (uint32_t i = 0; i < 4; i++) {
		bt_signature_release(s[i]);
	}
	/* The first one is used once more. */
	bt_signature_release(fixture_signature(f, APP(0)));
	assert_int_equal(retire(f, 2), 2);
	assert_ptr_equal(fixture_signature(f, APP(0)), s[0]);
	assert_ptr_equal(fixture_signature(f, APP(3)), s[3]);
	assert_int_equal(bt_signatures_count(f->cache->signatures), 2);
}

static void the_table_stays_small_while_many_entries_are_added_and_removed(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *alive[50] = {0};
	char spec[128];

	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(spec, sizeof(spec), "containers: [{name: a, image: \"image-%u\"}]", i * 7919 % 3001);
		bt_signature_release(alive[i % 50]);
		alive[i % 50] = fixture_signature(f, spec);
		if (bt_signatures_listed(f->cache->signatures) > 100) {
			retire(f, 20);
		}
	}
	assert_true(bt_signatures_count(f->cache->signatures) <= 151);
	assert_true(bt_signatures_end(f->cache->signatures) <= 151);
	for (uint32_t i = 4950; i < 5000; i++) {
		snprintf(spec, sizeof(spec), "containers: [{name: a, image: \"image-%u\"}]", i * 7919 % 3001);
		assert_ptr_equal(fixture_signature(f, spec), alive[i % 50]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(every_field_that_matters_sets_pods_apart),
		FIXTURE_TEST(equal_pods_share_a_signature),
		FIXTURE_TEST(irrelevant_fields_do_not_change_the_signature),
		FIXTURE_TEST(a_status_is_in_the_signature_only_where_it_adds_to_the_spec),
		FIXTURE_TEST(every_field_of_a_node_claim_sets_pods_apart),
		FIXTURE_TEST(every_field_of_a_node_claim_sets_assumed_pods_apart),
		FIXTURE_TEST(pods_of_two_namespaces_differ),
		FIXTURE_TEST(names_demanded_by_every_term_are_collected),
		FIXTURE_TEST(a_preference_that_cannot_be_parsed_is_kept_as_an_error),
		FIXTURE_TEST(only_running_containers_take_host_ports),
		FIXTURE_TEST(volumes_for_hints_only_are_last_and_do_not_count),
		FIXTURE_TEST(a_signature_lives_while_it_is_referenced),
		FIXTURE_TEST(an_index_is_used_again_and_a_serial_number_is_not),
		FIXTURE_TEST(names_go_with_the_last_that_has_them),
		FIXTURE_TEST(the_most_recently_used_signatures_are_kept),
		FIXTURE_TEST(the_table_stays_small_while_many_entries_are_added_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
