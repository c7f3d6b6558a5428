/* SPDX-License-Identifier: Apache-2.0
 * Requests and limits per pod, through a strict parser of Prometheus' format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "prometheus.h"
#include "seed.h"
#include "tools/format/object_reader.h"
#include "tools/cluster/serve/pod_resources.h"

struct serve_test {
	struct bt_intern *names;
	struct bt_pod_resources *resources;
	struct bt_watch_listener listener;
	struct bt_json *json;
	struct bt_buf text;
};

static int setup(void **state)
{
	struct serve_test *test = calloc(1, sizeof(*test));

	test->names = bt_intern_create();
	test->resources = bt_pod_resources_create(test->names);
	test->listener = bt_pod_resources_listener(test->resources);
	test->json = bt_json_create();
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	bt_pod_resources_destroy(test->resources);
	bt_intern_destroy(test->names);
	bt_json_destroy(test->json);
	bt_buf_fini(&test->text);
	free(test);
	return 0;
}

/* Feeds a pod in JSON with ' for "; the text is freed afterwards. */
static void show_pod(
	struct serve_test *test, enum bt_watch_event_kind what, const char *name, const char *spec)
{
	struct bt_watch_event *watch_event = bt_watch_event_create(what);
	char text[2048];
	int n = snprintf(text, sizeof(text),
		"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': '%s'}, %s}",
		name, spec);

	assert_true(n > 0 && (size_t)n < sizeof(text));
	char *own = bt_arena_copy(&watch_event->arena, text, (size_t)n);
	struct bt_decode decode = {.json = test->json, .arena = &watch_event->arena};

	for (int i = 0; i < n; i++) {
		own[i] = own[i] == '\'' ? '"' : own[i];
	}
	bt_json_begin(test->json, (struct bt_str){own, (size_t)n}, &watch_event->arena);
	if (!bt_object_decode(&decode, &watch_event->object)) {
		fail_msg("%s: %s: %s", text, decode.error.path, decode.error.message);
	}
	test->listener.event(test->listener.context, what, &watch_event->object);
	bt_watch_event_destroy(watch_event);
}

static struct prometheus *read_all(struct serve_test *test)
{
	bt_buf_clear(&test->text);
	bt_pod_resources_write(test->resources, &test->text);
	return prometheus_parse(&test->text);
}

#define POD(name, node, resource, unit)                                                                      \
	"{namespace=\"default\",node=\"" node "\",pod=\"" name "\",priority=\"0\",resource=\"" resource      \
	"\",scheduler=\"s\",unit=\"" unit "\"}"
#define REQUEST(name, node, resource, unit) "kube_pod_resource_request" POD(name, node, resource, unit)
#define LIMIT(name, node, resource, unit)   "kube_pod_resource_limit" POD(name, node, resource, unit)
#define SPEC				    "'priority': 0, 'schedulerName': 's', 'nodeName': 'n'"

static bool is_there(struct serve_test *test, const char *sample)
{
	return strstr(test->text.ptr ? test->text.ptr : "", sample) != NULL;
}

static void requests_and_limits_are_sums_with_units(void **state)
{
	struct serve_test *test = *state;

	show_pod(test, BT_WATCH_EVENT_APPLY, "p",
		"'spec': {" SPEC ", 'overhead': {'cpu': '10m', 'memory': '1Mi'}, 'containers': ["
		"{'name': 'a', 'resources': {'requests': {'cpu': '100m', 'hugepages-2Mi': '2Mi', 'x.y/gpu': "
		"'1'},"
		"'limits': {'cpu': '1', 'memory': '0', 'ephemeral-storage': '1Gi'}}},"
		"{'name': 'b', 'resources': {'requests': {'cpu': '250m', 'memory': '0'}}}]}");
	struct prometheus *p = read_all(test);

	assert_true(prometheus_value(p, REQUEST("p", "n", "cpu", "cores")) == 0.36);
	assert_true(prometheus_value(p, REQUEST("p", "n", "memory", "bytes")) == 1048576);
	assert_true(prometheus_value(p, REQUEST("p", "n", "hugepages-2Mi", "bytes")) == 2097152);
	assert_true(prometheus_value(p, REQUEST("p", "n", "x.y/gpu", "")) == 1);
	assert_true(prometheus_value(p, LIMIT("p", "n", "cpu", "cores")) == 1.01);
	assert_true(prometheus_value(p, LIMIT("p", "n", "ephemeral-storage", "bytes")) == 1073741824);
	/* Overhead adds no limit where there is none, or zero. */
	assert_false(is_there(test, LIMIT("p", "n", "memory", "bytes")));
	free(p);
}

static void init_containers_and_sidecars_count_as_they_run(void **state)
{
	struct serve_test *test = *state;

	show_pod(test, BT_WATCH_EVENT_APPLY, "p",
		"'spec': {" SPEC ", 'initContainers': ["
		"{'name': 'i', 'resources': {'requests': {'cpu': '3', 'memory': '10'}}},"
		"{'name': 's', 'restartPolicy': 'Always', 'resources': {'requests': {'cpu': '1'}}},"
		"{'name': 'j', 'resources': {'requests': {'cpu': '4'}}}],"
		"'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '2', 'memory': '5'}}}]}");
	struct prometheus *p = read_all(test);

	assert_true(prometheus_value(p, REQUEST("p", "n", "cpu", "cores")) == 5); /* s and j; not s and a */
	assert_true(prometheus_value(p, REQUEST("p", "n", "memory", "bytes")) == 10);
	free(p);
}

static void resources_of_the_pod_replace_those_of_containers(void **state)
{
	struct serve_test *test = *state;

	show_pod(test, BT_WATCH_EVENT_APPLY, "p",
		"'spec': {" SPEC ", 'resources': {'requests': {'cpu': '7', 'x.y/gpu': '9'}},"
		"'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '2', 'memory': '5'}}}]}");
	struct prometheus *p = read_all(test);

	assert_true(prometheus_value(p, REQUEST("p", "n", "cpu", "cores")) == 7);
	assert_true(prometheus_value(p, REQUEST("p", "n", "memory", "bytes")) == 5);
	assert_false(is_there(test, "gpu"));
	free(p);
}

#define ONE_CPU "'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '1'}}}]"

static void pods_are_added_changed_ended_and_deleted(void **state)
{
	struct serve_test *test = *state;

	show_pod(test, BT_WATCH_EVENT_APPLY, "p",
		"'spec': {'priority': 0, 'schedulerName': 's', " ONE_CPU "}");
	show_pod(test, BT_WATCH_EVENT_APPLY, "q", "'spec': {" ONE_CPU "}");
	free(read_all(test));
	assert_true(is_there(test, REQUEST("p", "", "cpu", "cores") " 1\n"));
	assert_true(is_there(test, "pod=\"q\",priority=\"\""));
	show_pod(test, BT_WATCH_EVENT_APPLY, "p", "'spec': {" SPEC ", " ONE_CPU "}");
	free(read_all(test));
	assert_false(is_there(test, REQUEST("p", "", "cpu", "cores")));
	assert_true(is_there(test, REQUEST("p", "n", "cpu", "cores") " 1\n"));
	show_pod(test, BT_WATCH_EVENT_APPLY, "p",
		"'spec': {" SPEC ", " ONE_CPU "}, 'status': {'phase': 'Succeeded'}");
	show_pod(test, BT_WATCH_EVENT_DELETE, "q", "'spec': {}");
	show_pod(test, BT_WATCH_EVENT_DELETE, "unknown", "'spec': {}");
	free(read_all(test));
	assert_false(is_there(test, "default"));
}

/* After any history, each pod is there once, with its last state. */
static void random_histories_leave_the_last_values(void **state)
{
	enum { PODS = 40, STEPS = 4000 };
	struct serve_test *test = *state;
	struct bt_rng rng = {.state = seed_or(1)};
	uint32_t cpus[PODS] = {0};

	for (int step = 0; step < STEPS; step++) {
		uint32_t i = (uint32_t)bt_rng_below(&rng, PODS), cpu = (uint32_t)bt_rng_below(&rng, 6);
		char name[16], spec[256];

		cpus[i] = cpu;
		snprintf(name, sizeof(name), "p%u", i);
		snprintf(spec, sizeof(spec),
			"'spec': {" SPEC
			", 'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '%u'}}}]}",
			cpu);
		show_pod(test, cpu ? BT_WATCH_EVENT_APPLY : BT_WATCH_EVENT_DELETE, name, spec);
	}
	free(read_all(test));
	size_t lines = 0, expected = 0;

	for (const char *at = test->text.ptr; (at = strstr(at, "\nkube_pod")); at++) {
		lines++;
	}
	for (uint32_t i = 0; i < PODS; i++) {
		char sample[256];

		snprintf(sample, sizeof(sample),
			"pod=\"p%u\",priority=\"0\",resource=\"cpu\",scheduler=\"s\",unit=\"cores\"} %u\n", i,
			cpus[i]);
		assert_int_equal(is_there(test, sample), cpus[i] > 0);
		expected += cpus[i] > 0;
	}
	assert_int_equal(lines, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_and_limits_are_sums_with_units, setup, teardown),
		cmocka_unit_test_setup_teardown(
			init_containers_and_sidecars_count_as_they_run, setup, teardown),
		cmocka_unit_test_setup_teardown(
			resources_of_the_pod_replace_those_of_containers, setup, teardown),
		cmocka_unit_test_setup_teardown(pods_are_added_changed_ended_and_deleted, setup, teardown),
		cmocka_unit_test_setup_teardown(random_histories_leave_the_last_values, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
