/* SPDX-License-Identifier: Apache-2.0
 * Hint plugins of a profile: numbers, masks, and the result of several hints. tests/conformance/test_hints.c
 * compares each plugin's hint.
 */
#include "engine_fixture.h"
#include "object_fixture.h"

#include "engine/flow/cycle/hints.h"

struct profile {
	struct fixture *f;
	struct bt_config config;
	struct bt_flow_profile flow;
	struct bt_hints hints;
};

static void begin(struct profile *p, void **state, const char *gate_list)
{
	struct bt_config_errors errors = {0};
	struct bt_resolved_profile *resolved = calloc(1, sizeof(*resolved));

	p->f = *state;
	fixture_config(&p->config, "1.36", gate_list);
	assert_int_equal(bt_config_resolve(&p->config, 0, &errors, resolved), BT_OK);
	bt_flow_profile_init(&p->flow, resolved, &p->config.gates, p->f->cache->dictionary, &p->f->arena);
	bt_hints_of(&p->hints, &p->flow);
	bt_config_errors_fini(&errors);
	free(resolved);
}

static void end(struct profile *p)
{
	bt_config_fini(&p->config);
}

static int number_of(const struct profile *p, const char *plugin)
{
	return bt_hints_number(&p->hints, bt_plugin_find(bt_str(plugin)));
}

static bt_plugin_set bit(const struct profile *p, const char *name)
{
	int number = number_of(p, name);

	assert_in_range(number, 0, BT_HINT_PLUGINS - 1);
	return bt_plugin_set_of((uint32_t)number);
}

static bool queue(const struct profile *p, const char *spec, bool own, const struct bt_cluster_event *event,
	bt_plugin_set unschedulable_plugins)
{
	const struct bt_hint_waiting waiting = {fixture_signature(p->f, spec), own, false};

	return BT_HINT_NONE !=
	       bt_hints_queue(&p->hints, &p->f->cache->view, &waiting, event, unschedulable_plugins, NULL);
}

static void plugins_that_can_refuse_pods_have_their_own_numbers(void **state)
{
	struct profile p;

	begin(&p, state, "");
	assert_int_equal(number_of(&p, "SchedulingGates"), bt_plugin_find(bt_str("SchedulingGates")));
	assert_int_equal(number_of(&p, "NodeUnschedulable"), bt_plugin_find(bt_str("NodeUnschedulable")));
	for (uint32_t i = 0; i < BT_HINT_PLUGINS; i++) {
		bool there = p.hints.hint_plugins[i].is_there;

		assert_int_equal(bt_hints_number(&p.hints, i), there ? (int)i : -1);
	}
	assert_string_equal(bt_hints_name(BT_EXTENDERS_NUMBER), "Extender");
	assert_int_equal(number_of(&p, "ImageLocality"), -1);
	assert_int_equal(number_of(&p, "DefaultBinder"), -1);
	assert_int_equal(number_of(&p, "PrioritySort"), -1);
	assert_int_equal(number_of(&p, "NodeResourcesBalancedAllocation"), -1);
	end(&p);
}

static void a_wildcard_concerns_everybody_and_always_queues(void **state)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_WILDCARD};
	struct profile p;

	begin(&p, state, "");
	bt_plugin_set interested = bt_hints_interested(&p.hints, &event);
	assert_true(bt_plugin_set_has(interested, 0) && bt_plugin_set_has(interested, BT_EXTENDERS_NUMBER));
	assert_int_equal(__builtin_popcountll(interested), BT_HINT_PLUGINS);
	assert_true(queue(&p, "", false, &event, 0));
	end(&p);
}

static void a_plugin_that_registers_nothing_is_concerned_by_any_event(void **state)
{
	static const struct bt_cluster_event events[] = {
		{.resource = BT_CLUSTER_EVENT_NODE, .action = BT_UPDATE_NODE_LABEL},
		{.resource = BT_CLUSTER_EVENT_ASSIGNED_POD, .action = BT_DELETE},
		{.resource = BT_CLUSTER_EVENT_RESOURCE_CLAIM, .action = BT_UPDATE},
		{.resource = BT_CLUSTER_EVENT_POD_GROUP, .action = BT_ADD}};
	struct profile p;

	begin(&p, state, "");
	bt_plugin_set gates = bit(&p, "SchedulingGates");
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		assert_false(bt_hints_interested(&p.hints, &events[i]) & gates);
	}
	struct bt_hint_plugin *hint_plugin = &p.flow.hint_plugins[bt_plugin_find(bt_str("SchedulingGates"))];
	hint_plugin->every_event = true;
	hint_plugin->event_n = 0;
	bt_hints_of(&p.hints, &p.flow);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		assert_true(bt_hints_interested(&p.hints, &events[i]) & gates);
		assert_true(queue(&p, "", false, &events[i], gates));
	}
	end(&p);
}

static void plugins_registered_for_new_nodes_are_called_for_removed_taints(void **state)
{
	const struct bt_cluster_event event = {
		.resource = BT_CLUSTER_EVENT_NODE, .action = BT_UPDATE_NODE_TAINT};
	struct profile p;

	begin(&p, state, "");
	bt_plugin_set interested = bt_hints_interested(&p.hints, &event);
	assert_true(interested & bit(&p, "NodeName"));
	assert_true(interested & bit(&p, "VolumeBinding"));
	assert_true(interested & bit(&p, "TaintToleration"));
	assert_false(interested & bit(&p, "NodeVolumeLimits"));
	assert_false(interested & bit(&p, "SchedulingGates"));
	assert_true(queue(&p, "", false, &event, bit(&p, "NodeName")));
	assert_true(p.hints.always[BT_CLUSTER_EVENT_NODE][4] & bit(&p, "InterPodAffinity"));
	assert_false(p.hints.always[BT_CLUSTER_EVENT_NODE][4] & bit(&p, "TaintToleration"));
	end(&p);
}

static void only_hints_of_unschedulable_plugins_are_called(void **state)
{
	const struct bt_node_facts node = {.unschedulable = false, .alloc_pods = 0};
	const struct bt_cluster_event event = {
		.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD, .node = {.new = &node}};
	struct profile p;

	begin(&p, state, "");
	assert_true(queue(&p, "", false, &event, bit(&p, "NodeUnschedulable")));
	assert_false(queue(&p, "", false, &event, bit(&p, "NodeResourcesFit")));
	assert_true(queue(&p, "", false, &event, bit(&p, "NodeResourcesFit") | bit(&p, "NodeUnschedulable")));
	assert_false(queue(&p, "", false, &event, bit(&p, "SchedulingGates") | bit(&p, "NodeVolumeLimits")));
	assert_false(queue(&p, "", false, &event, 0));
	end(&p);
}

static void gates_take_registrations_away(void **state)
{
	const struct bt_cluster_event gone = {
		.resource = BT_CLUSTER_EVENT_UNSCHEDULED_POD, .action = BT_DELETE};
	const struct bt_cluster_event class_ = {.resource = BT_CLUSTER_EVENT_DEVICE_CLASS, .action = BT_ADD};
	struct profile p;

	begin(&p, state, "");
	assert_true(bt_hints_interested(&p.hints, &gone) & bit(&p, "DefaultPreemption"));
	assert_true(bt_hints_interested(&p.hints, &class_) & bit(&p, "NodeResourcesFit"));
	end(&p);
	begin(&p, state, "SchedulerAsyncPreemption=false,DRAExtendedResource=false");
	assert_false(bt_hints_interested(&p.hints, &gone) & bit(&p, "DefaultPreemption"));
	assert_false(bt_hints_interested(&p.hints, &class_) & bit(&p, "NodeResourcesFit"));
	end(&p);
}

struct class_row {
	uint32_t action;
	const char *name, *extended; /* extended: NULL: it has none */
	uint32_t changes;
	const char *requests;
	bool queues;
};

static const struct class_row class_rows[] = {
	{BT_ADD, "gpu", NULL, 0, "deviceclass.resource.kubernetes.io/gpu: '1'", true},
	{BT_ADD, "gpu", NULL, 0, "deviceclass.resource.kubernetes.io/gpu2: '1'", false},
	{BT_ADD, "gpu", NULL, 0, "deviceclass.resource.kubernetes.io/gp: '1'", false},
	{BT_ADD, "gpu", NULL, 0, "cpu: '1'", false},
	{BT_ADD, "gpu", "example.com/gpu", 0, "example.com/gpu: '1'", true},
	{BT_ADD, "gpu", "example.com/gpu", 0, "example.com/gpu: '0'", true},
	{BT_ADD, "gpu", "example.com/other", 0, "example.com/gpu: '1'", false},
	{BT_UPDATE, "gpu", "example.com/gpu", BT_CHANGED_EXTENDED_NAME, "example.com/gpu: '1'", true},
	{BT_UPDATE, "gpu", "example.com/gpu", 0, "example.com/gpu: '1'", false},
	{BT_UPDATE, "gpu", NULL, BT_CHANGED_EXTENDED_NAME, "deviceclass.resource.kubernetes.io/gpu: '1'",
		false},
};

static void a_device_class_requeues_pods_that_request_its_resource(void **state)
{
	struct profile p;
	char spec[256];

	begin(&p, state, "");
	for (size_t i = 0; i < COUNT_OF(class_rows); i++) {
		const struct class_row *row = &class_rows[i];
		const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_DEVICE_CLASS,
			.action = row->action,
			.object = {.name = fixture_name(p.f, row->name),
				.other = row->extended ? fixture_name(p.f, row->extended) : BT_NAME_NONE,
				.changes = row->changes}};

		snprintf(spec, sizeof(spec), "containers: [{name: a, resources: {requests: {%s}}}]",
			row->requests);
		if (queue(&p, spec, false, &event, bit(&p, "NodeResourcesFit")) != row->queues) {
			fail_msg("row %zu", i);
		}
	}
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(plugins_that_can_refuse_pods_have_their_own_numbers),
		FIXTURE_TEST(a_wildcard_concerns_everybody_and_always_queues),
		FIXTURE_TEST(a_plugin_that_registers_nothing_is_concerned_by_any_event),
		FIXTURE_TEST(plugins_registered_for_new_nodes_are_called_for_removed_taints),
		FIXTURE_TEST(only_hints_of_unschedulable_plugins_are_called),
		FIXTURE_TEST(gates_take_registrations_away),
		FIXTURE_TEST(a_device_class_requeues_pods_that_request_its_resource),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
