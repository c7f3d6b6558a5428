/* SPDX-License-Identifier: Apache-2.0
 * Events: the registrations that they match, and an update's actions, in upstream's order.
 */
#include "object_fixture.h"

#include "engine/model/cluster_event.h"

struct match_row {
	enum bt_cluster_event_resource registered;
	uint32_t actions;
	enum bt_cluster_event_resource resource;
	uint32_t action;
	bool matches;
};

static const struct match_row match_rows[] = {
	{BT_CLUSTER_EVENT_POD, BT_DELETE, BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE, true},
	{BT_CLUSTER_EVENT_POD, BT_DELETE, BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_DELETE, true},
	{BT_CLUSTER_EVENT_POD, BT_DELETE, BT_CLUSTER_EVENT_TARGET_POD, BT_DELETE, true},
	{BT_CLUSTER_EVENT_POD, BT_DELETE, BT_CLUSTER_EVENT_NODE, BT_DELETE, false},
	{BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_ADD, BT_CLUSTER_EVENT_TARGET_POD, BT_ADD, false},
	{BT_CLUSTER_EVENT_POD, BT_DELETE, BT_CLUSTER_EVENT_ASSIGNED_POD, BT_ADD, false},
	{BT_CLUSTER_EVENT_POD, BT_UPDATE, BT_CLUSTER_EVENT_ASSIGNED_POD, BT_UPDATE_POD_LABEL, true},
	{BT_CLUSTER_EVENT_POD, BT_ADD | BT_UPDATE_POD_LABEL, BT_CLUSTER_EVENT_ASSIGNED_POD, BT_UPDATE, false},
	{BT_CLUSTER_EVENT_POD, BT_ADD | BT_UPDATE, BT_CLUSTER_EVENT_ASSIGNED_POD, BT_UPDATE, true},
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_TAINT, BT_CLUSTER_EVENT_NODE, BT_UPDATE_NODE_LABEL,
		false},
};

static void a_registration_matches_its_events_and_more_specific_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(match_rows); i++) {
		const struct match_row *row = &match_rows[i];
		const struct bt_cluster_event event = {.resource = row->resource, .action = row->action};

		if (bt_cluster_event_matches(row->registered, row->actions, &event) != row->matches) {
			fail_msg("row %zu", i);
		}
	}
}

static struct bt_cluster_event_pod pod_of(struct fixture *f, const char *metadata, const char *spec)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p, %s}, spec: {%s}}", metadata,
		spec);
	const struct bt_pod_object *pod = &fixture_read(f, f->text.ptr)->pod;
	return (struct bt_cluster_event_pod){
		.signature = bt_signatures_intern(f->cache->signatures, pod),
		.gated = pod->spec.scheduling_gates.n > 0,
	};
}

#define REQUESTS(text) "containers: [{name: c, resources: {requests: {" text "}}}]"

static const struct bt_release *release_of(const char *name)
{
	const struct bt_release *release = bt_release_find(bt_str(name));

	assert_non_null(release);
	return release;
}

struct pod_row {
	const char *old_metadata, *old_spec, *new_metadata, *new_spec;
	uint32_t actions[4]; /* in order, then 0 */
};

static const struct pod_row pod_rows[] = {
	{"", REQUESTS("cpu: '1'"), "annotations: {a: b}", REQUESTS("cpu: '1'"), {BT_UPDATE}},
	{"labels: {a: b}", "", "labels: {a: c}", "", {BT_UPDATE_POD_LABEL}},
	{"labels: {}", "", "", "", {BT_UPDATE}},
	{"", REQUESTS("cpu: '1'"), "", REQUESTS("cpu: '2'"), {BT_UPDATE}},
	{"", REQUESTS("cpu: '2'"), "", REQUESTS("cpu: '1'"), {BT_UPDATE_POD_SCALE_DOWN}},
	{"", REQUESTS("cpu: '2', memory: 1Gi"), "", REQUESTS("cpu: '2'"), {BT_UPDATE_POD_SCALE_DOWN}},
	{"", REQUESTS("example.com/x: '0'"), "", REQUESTS(""), {BT_UPDATE_POD_SCALE_DOWN}},
	/* Less by less than a byte. */
	{"", REQUESTS("memory: 1500m"), "", REQUESTS("memory: 1200m"), {BT_UPDATE_POD_SCALE_DOWN}},
	{"", REQUESTS("memory: 1200m"), "", REQUESTS("memory: 1500m"), {BT_UPDATE}},
	{"", "schedulingGates: [{name: g}]", "", "", {BT_UPDATE_POD_GATES_ELIMINATED}},
	{"", "schedulingGates: [{name: g}, {name: h}]", "", "schedulingGates: [{name: g}]", {BT_UPDATE}},
	{"", "", "", "tolerations: [{operator: Exists}]", {BT_UPDATE_POD_TOLERATION}},
	{"", "tolerations: [{key: a}]", "", "tolerations: [{key: b}]", {BT_UPDATE}},
	{"labels: {a: b}", "schedulingGates: [{name: g}], " REQUESTS("cpu: '1'"), "",
		"tolerations: [{operator: Exists}], " REQUESTS(""),
		{BT_UPDATE_POD_LABEL, BT_UPDATE_POD_SCALE_DOWN, BT_UPDATE_POD_GATES_ELIMINATED,
			BT_UPDATE_POD_TOLERATION}},
};

/* From 1.37 on a growing request is an action, too. */
static const struct pod_row growing_rows[] = {
	{"", REQUESTS("cpu: '1'"), "", REQUESTS("cpu: '2'"), {BT_UPDATE_POD_SCALE_UP}},
	{"", REQUESTS("cpu: '1'"), "", REQUESTS("cpu: '1'"), {BT_UPDATE}},
	{"", REQUESTS(""), "", REQUESTS("example.com/x: '0'"), {BT_UPDATE_POD_SCALE_UP}},
	{"", REQUESTS("memory: 1200m"), "", REQUESTS("memory: 1500m"), {BT_UPDATE_POD_SCALE_UP}},
	{"labels: {a: b}", REQUESTS("cpu: '1', memory: 2Gi"), "",
		"tolerations: [{operator: Exists}], " REQUESTS("cpu: '2', memory: 1Gi"),
		{BT_UPDATE_POD_LABEL, BT_UPDATE_POD_SCALE_DOWN, BT_UPDATE_POD_SCALE_UP,
			BT_UPDATE_POD_TOLERATION}},
};

static void check_actions(
	struct fixture *f, const struct bt_release *release, const struct pod_row *rows, size_t row_n)
{
	for (size_t i = 0; i < row_n; i++) {
		const struct pod_row *row = &rows[i];
		struct bt_cluster_event_pod old = pod_of(f, row->old_metadata, row->old_spec);
		struct bt_cluster_event_pod new = pod_of(f, row->new_metadata, row->new_spec);
		uint32_t actions[BT_CLUSTER_EVENT_ACTIONS] = {0};
		uint32_t n = bt_pod_changes(release, &old, &new, actions);

		if (memcmp(actions, row->actions, sizeof(row->actions)) != 0 || n > 4) {
			fail_msg("row %zu: %u actions, the first is %s", i, n,
				bt_cluster_event_action_name(actions[0]));
		}
	}
}

static void an_update_of_a_pod_has_its_actions_in_order(void **state)
{
	check_actions(*state, release_of("1.36"), pod_rows, COUNT_OF(pod_rows));
	check_actions(*state, release_of("1.37"), growing_rows, COUNT_OF(growing_rows));
}

static void labels_of_events_are_those_of_the_release(void **state)
{
	static const struct {
		const char *release;
		enum bt_cluster_event_resource resource;
		uint32_t action;
		const char *text;
	} rows[] = {
		{"1.36", BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_ADD, "UnschedulablePodAdd"},
		{"1.37", BT_CLUSTER_EVENT_UNSCHEDULED_POD, BT_ADD, "UnscheduledPodAdd"},
		{"1.37", BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_SCALE_UP, "TargetPodUpdatePodScaleUp"},
		{"1.37", BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE, "TargetPodUpdate"},
		{"1.37", BT_CLUSTER_EVENT_ASSIGNED_POD, BT_UPDATE_POD_GENERATED_CLAIM,
			"AssignedPodUpdatePodGeneratedResourceClaim"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[BT_CLUSTER_EVENT_LABEL_BYTES];

		bt_cluster_event_label_text(release_of(rows[i].release),
			bt_cluster_event_label(rows[i].resource, rows[i].action), text);
		assert_string_equal(text, rows[i].text);
	}
}

static struct bt_cluster_event_pod pod_with_claims(struct fixture *f, const char *statuses)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p, uid: u}, spec: "
		"{resourceClaims: "
		"[{name: c, resourceClaimTemplateName: t}]}, status: {resourceClaimStatuses: [%s]}}",
		statuses);
	return (struct bt_cluster_event_pod){
		.signature = bt_signatures_intern(f->cache->signatures, &fixture_read(f, f->text.ptr)->pod)};
}

static void claims_that_were_made_for_a_pod_are_an_action_of_their_own(void **state)
{
	const char *const statuses[] = {"", "{name: c}", "{name: c, resourceClaimName: x}"};
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS];

	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		for (size_t j = 0; j < COUNT_OF(statuses); j++) {
			struct bt_cluster_event_pod old = pod_with_claims(*state, statuses[i]);
			struct bt_cluster_event_pod new = pod_with_claims(*state, statuses[j]);

			assert_int_equal(bt_pod_changes(bt_release_default(), &old, &new, actions), 1);
			assert_int_equal(actions[0], i == j ? BT_UPDATE : BT_UPDATE_POD_GENERATED_CLAIM);
		}
	}
	assert_int_equal(pod_with_claims(*state, statuses[0]).signature->pod_uid, BT_NAME_NONE);
	assert_int_equal(pod_with_claims(*state, statuses[2]).signature->pod_uid, fixture_name(*state, "u"));
}

static void pods_that_differ_in_parts_of_bytes_have_signatures_of_their_own(void **state)
{
	struct fixture *f = *state;

	assert_ptr_not_equal(fixture_signature(f, REQUESTS("memory: 1500m")),
		fixture_signature(f, REQUESTS("memory: 1200m")));
	assert_ptr_equal(fixture_signature(f, REQUESTS("memory: 1Gi")),
		fixture_signature(f, REQUESTS("memory: 1024Mi")));
}

static struct bt_node_facts node_of(
	struct fixture *f, const char *metadata, const char *spec, const char *status)
{
	struct bt_node_facts facts;
	char text[128];

	snprintf(text, sizeof(text), "name: n1, %s", metadata);
	bt_node_facts_of(
		bt_snapshot_desc(f->cache->snapshot, fixture_node(f, text, spec, status)), &f->arena, &facts);
	return facts;
}

struct node_row {
	const char *old[3], *new[3]; /* metadata, spec, status */
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS];
};

static const struct node_row node_rows[] = {
	{{"", "", ""}, {"labels: {}", "taints: []", "conditions: []"}, {0}},
	{{"", "unschedulable: true", ""}, {"", "", ""}, {BT_UPDATE_NODE_TAINT}},
	{{"", "", ""}, {"", "unschedulable: true", ""}, {0}},
	{{"", "", "allocatable: {cpu: '1', memory: 1Gi}"},
		{"", "", "allocatable: {memory: 1024Mi, cpu: 1000m}"}, {0}},
	{{"", "", "allocatable: {storage: 1Gi}"}, {"", "", "allocatable: {storage: 2Gi}"},
		{BT_UPDATE_NODE_ALLOCATABLE}},
	{{"", "", "allocatable: {cpu: '0'}"}, {"", "", ""}, {BT_UPDATE_NODE_ALLOCATABLE}},
	{{"labels: {a: b}", "", ""}, {"labels: {a: c}", "", ""}, {BT_UPDATE_NODE_LABEL}},
	{{"", "taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]", ""},
		{"", "taints: [{key: b, effect: NoSchedule}, {key: a, effect: NoSchedule}]", ""},
		{BT_UPDATE_NODE_TAINT}},
	{{"", "taints: [{key: a, effect: NoExecute, timeAdded: '2026-01-01T00:00:00Z'}]", ""},
		{"", "taints: [{key: a, effect: NoExecute, timeAdded: '2026-01-01T00:00:01Z'}]", ""},
		{BT_UPDATE_NODE_TAINT}},
	{{"", "", "conditions: [{type: A, status: 'True'}, {type: B, status: 'True'}]"},
		{"", "", "conditions: [{type: B, status: 'True', reason: x}, {type: A, status: 'True'}]"},
		{0}},
	{{"", "", "conditions: [{type: A, status: 'True'}]"},
		{"", "", "conditions: [{type: A, status: 'False'}]"}, {BT_UPDATE_NODE_CONDITION}},
	{{"", "", "conditions: [{type: A, status: 'True'}]"},
		{"", "", "conditions: [{type: A, status: 'False'}, {type: A, status: 'True'}]"}, {0}},
	{{"annotations: {a: b, c: d}", "", ""}, {"annotations: {c: d, a: b}", "", ""}, {0}},
	{{"annotations: {a: b, c: d}", "", ""}, {"annotations: {a: d, c: b}", "", ""},
		{BT_UPDATE_NODE_ANNOTATION}},
	{{"", "", "declaredFeatures: [A, B]"}, {"", "", "declaredFeatures: [A]"},
		{BT_UPDATE_NODE_DECLARED_FEATURE}},
	/* Two events with the same action, in upstream's order. */
	{{"labels: {a: b}, annotations: {a: b}", "unschedulable: true",
		 "allocatable: {cpu: '1'}, declaredFeatures: [A], conditions: [{type: A, status: 'True'}]"},
		{"", "taints: [{key: a, effect: NoSchedule}]", ""},
		{BT_UPDATE_NODE_TAINT, BT_UPDATE_NODE_ALLOCATABLE, BT_UPDATE_NODE_LABEL, BT_UPDATE_NODE_TAINT,
			BT_UPDATE_NODE_CONDITION, BT_UPDATE_NODE_ANNOTATION,
			BT_UPDATE_NODE_DECLARED_FEATURE}},
};

static void an_update_of_a_node_has_its_actions_in_order(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT_OF(node_rows); i++) {
		const struct node_row *row = &node_rows[i];
		struct bt_node_facts old = node_of(f, row->old[0], row->old[1], row->old[2]);
		struct bt_node_facts new = node_of(f, row->new[0], row->new[1], row->new[2]);
		uint32_t actions[BT_CLUSTER_EVENT_ACTIONS] = {0},
			 n = bt_node_facts_changes(bt_release_default(), &old, &new, actions);

		if (memcmp(actions, row->actions, sizeof(actions)) != 0) {
			fail_msg("row %zu: %u actions, the first is %s", i, n,
				n ? bt_cluster_event_action_name(actions[0]) : "");
		}
	}
}

static void facts_of_a_node_outlive_its_next_description(void **state)
{
	struct fixture *f = *state;
	struct bt_node_facts old = node_of(f, "labels: {a: b}", "taints: [{key: k, effect: NoSchedule}]",
		"allocatable: {cpu: '2', pods: '7', example.com/x: '3'}, declaredFeatures: "
		"[RestartAllContainersOnContainerExits]");

	/* A name keeps its meaning while it is held. */
	uint32_t a = fixture_name(f, "a"), b = fixture_name(f, "b"), k = fixture_name(f, "k");

	node_of(f, "", "", "");
	assert_int_equal(old.name, fixture_name(f, "n1"));
	assert_int_equal(bt_labels_get(old.labels, a), b);
	assert_int_equal(old.taint_n, 1);
	assert_int_equal(old.taints[0].key, k);
	assert_int_equal(old.alloc.n, 2);
	assert_int_equal(bt_amounts_get(old.alloc, BT_CPU), 2000);
	assert_int_equal(old.alloc_pods, 7);
	assert_int_equal(old.features, BT_FEATURE_RESTART_ALL_CONTAINERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_registration_matches_its_events_and_more_specific_ones),
		FIXTURE_TEST(an_update_of_a_pod_has_its_actions_in_order),
		cmocka_unit_test(labels_of_events_are_those_of_the_release),
		FIXTURE_TEST(claims_that_were_made_for_a_pod_are_an_action_of_their_own),
		FIXTURE_TEST(pods_that_differ_in_parts_of_bytes_have_signatures_of_their_own),
		FIXTURE_TEST(an_update_of_a_node_has_its_actions_in_order),
		FIXTURE_TEST(facts_of_a_node_outlive_its_next_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
