/* SPDX-License-Identifier: Apache-2.0
 * NodePorts: which host ports conflict.
 */
#include "plugins/node_ports/node_ports.h"
#include "plugin_fixture.h"

struct row {
	const char *taken, *wanted;
	bool clash;
};

static const struct row rows[] = {
	{"hostPort: 80", "hostPort: 80", true},
	{"hostPort: 80", "hostPort: 81", false},
	{"hostPort: 80", "hostPort: 80, protocol: TCP", true},
	{"hostPort: 80", "hostPort: 80, protocol: UDP", false},
	{"hostPort: 80, hostIP: 10.0.0.1", "hostPort: 80, hostIP: 10.0.0.2", false},
	{"hostPort: 80, hostIP: 10.0.0.1", "hostPort: 80, hostIP: 10.0.0.1", true},
	{"hostPort: 80, hostIP: 10.0.0.1", "hostPort: 80", true},
	{"hostPort: 80, hostIP: 0.0.0.0", "hostPort: 80, hostIP: 10.0.0.1", true},
	{"hostPort: 80, hostIP: '::'", "hostPort: 80, hostIP: 10.0.0.1", false},
	{"hostPort: 80, hostIP: '::'", "hostPort: 80", true},
};

static void ports_conflict_as_upstream(void **state)
{
	struct fixture *f = *state;
	char text[256];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		snprintf(text, sizeof(text), "name: n%zu", i);
		uint32_t node = fixture_node(f, text, "", "");

		snprintf(text, sizeof(text), "nodeName: n%zu, containers: [{name: a, ports: [{%s}]}]", i,
			rows[i].taken);
		fixture_pod(f, text);
		snprintf(text, sizeof(text), "containers: [{name: a, ports: [{%s}]}]", rows[i].wanted);
		struct subject subject = compile_pod(f, &bt_plugin_node_ports, NULL, text);
		if (rows[i].clash) {
			assert_refused(&subject, node, BT_UNSCHEDULABLE,
				"node(s) didn't have free ports for the requested pod ports");
		} else {
			assert_true(passes(&subject, node));
		}
	}
}

static void a_pods_own_ports_may_repeat(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");
	struct subject subject = compile_pod(f, &bt_plugin_node_ports, NULL,
		"containers: [{name: a, ports: [{hostPort: 80}, {hostPort: 80}]}]");

	assert_true(passes(&subject, node));
}

static void pods_without_host_ports_skip(void **state)
{
	struct subject subject = compile_pod(
		*state, &bt_plugin_node_ports, NULL, "containers: [{name: a, ports: [{containerPort: 80}]}]");

	assert_true(subject.compiled.filter_skip);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(ports_conflict_as_upstream),
		FIXTURE_TEST(a_pods_own_ports_may_repeat),
		FIXTURE_TEST(pods_without_host_ports_skip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
