/* SPDX-License-Identifier: Apache-2.0
 * The manifests in tools/deploy: valid YAML, valid command lines and configuration of berth, and a role that
 * allows exactly the lists and watches that berth makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "tools/format/json.h"
#include "tools/format/yaml.h"
#include "tools/kube/config/config_decode.h"
#include "tools/cluster/run/flags.h"
#include "tools/cluster/serve/certificate.h"
#include "tools/cluster/watch/kinds.h"

#define FOLDER	  BT_SOURCE_DIR "/tools/deploy/"
#define RULES_MAX 256
#define ARGS_MAX  32

static const char *const files[] = {
	"rbac.yaml", "deployment.yaml", "shadow.yaml", "podmonitor.yaml", "static-pod.yaml", "alerts.yaml"};

/* A verb on a resource, as "group/resource verb". */
struct right {
	char text[160];
};

struct manifests {
	struct bt_json *json;
	struct bt_arena arena;
	struct right rights[RULES_MAX];
	size_t right_n;
	size_t command_n, config_n, document_n;
	int64_t user; /* runAsUser of the current file, -1: the image's */
	int64_t users[sizeof(files) / sizeof(*files)];
};

static size_t read_list(struct manifests *m, struct bt_str *out, size_t cap)
{
	size_t n = 0;

	assert_true(bt_json_enter_array(m->json));
	while (bt_json_next_element(m->json)) {
		assert_true(n < cap);
		assert_true(bt_json_string(m->json, &out[n++]));
	}
	return n;
}

/* Collects a rule's rights. */
static void read_rule(struct manifests *m)
{
	struct bt_str groups[8], resources[32], verbs[8], key;
	size_t group_n = 0, resource_n = 0, verb_n = 0;

	assert_true(bt_json_enter_object(m->json));
	while (bt_json_next_key(m->json, &key)) {
		if (bt_str_is(key, "apiGroups")) {
			group_n = read_list(m, groups, 8);
		} else if (bt_str_is(key, "resources")) {
			resource_n = read_list(m, resources, 32);
		} else if (bt_str_is(key, "verbs")) {
			verb_n = read_list(m, verbs, 8);
		} else {
			assert_true(bt_json_skip(m->json));
		}
	}
	for (size_t i = 0; i < group_n * resource_n * verb_n; i++) {
		assert_true(m->right_n < RULES_MAX);
		snprintf(m->rights[m->right_n].text, sizeof(m->rights[0].text), "%.*s/%.*s %.*s",
			BT_STR_ARG(groups[i % group_n]), BT_STR_ARG(resources[i / group_n % resource_n]),
			BT_STR_ARG(verbs[i / group_n / resource_n]));
		m->right_n++;
	}
}

/* berth run must accept a container's command line, with no flag that has no effect. */
static void check_command(struct manifests *m)
{
	static char text[4096];
	struct bt_str words[ARGS_MAX];
	size_t n = read_list(m, words, ARGS_MAX), at = 0, first = 0;
	char *argv[ARGS_MAX + 1] = {NULL};
	struct bt_invocation invocation;
	struct bt_run_flags flags;

	first = bt_str_is(words[0], "berth");
	assert_true(bt_str_is(words[first], "run"));
	for (size_t i = first; i < n; i++) {
		argv[i - first] = text + at;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s", BT_STR_ARG(words[i])) + 1;
		assert_true(at < sizeof(text));
	}
	assert_int_equal(bt_invocation_parse(bt_command_find("run"), (int)(n - first), argv, &invocation),
		BT_PARSE_RUN);
	assert_int_equal(bt_run_flags_read(&invocation, &flags), BT_EXIT_OK);
	assert_null(bt_invocation_ignored(&invocation, 0));
	bt_run_flags_fini(&flags);
	bt_invocation_fini(&invocation);
	m->command_n++;
}

static void check_configuration(struct manifests *m)
{
	struct bt_buf error = {0};
	struct bt_config config;
	struct bt_str text;

	assert_true(bt_json_string(m->json, &text));
	bt_config_init(&config, NULL);
	if (bt_config_load(&config, "config.yaml", text, &error) != BT_OK) {
		fail_msg("%s", error.ptr);
	}
	bt_config_fini(&config);
	bt_buf_fini(&error);
	m->config_n++;
}

static void read_value(struct manifests *m)
{
	struct bt_str key;

	if (bt_json_peek(m->json) == BT_JSON_ARRAY) {
		assert_true(bt_json_enter_array(m->json));
		while (bt_json_next_element(m->json)) {
			read_value(m);
		}
	} else if (bt_json_peek(m->json) == BT_JSON_OBJECT) {
		assert_true(bt_json_enter_object(m->json));
		while (bt_json_next_key(m->json, &key)) {
			if (bt_str_is(key, "rules")) {
				assert_true(bt_json_enter_array(m->json));
				while (bt_json_next_element(m->json)) {
					read_rule(m);
				}
			} else if (bt_str_is(key, "args") || bt_str_is(key, "command")) {
				check_command(m);
			} else if (bt_str_is(key, "config.yaml")) {
				check_configuration(m);
			} else if (bt_str_is(key, "runAsUser")) {
				assert_true(bt_json_int64(m->json, &m->user));
			} else {
				read_value(m);
			}
		}
	} else {
		assert_true(bt_json_skip(m->json));
	}
}

static void read_file(struct manifests *m, const char *name)
{
	struct bt_yaml *yaml = bt_yaml_create();
	struct bt_buf text = {0}, error = {0};
	char path[512];
	enum bt_status status;
	struct bt_str json;

	snprintf(path, sizeof(path), FOLDER "%s", name);
	assert_int_equal(bt_file_read(path, &text, &error), BT_OK);
	bt_yaml_begin(yaml, bt_buf_view(&text));
	while ((status = bt_yaml_next(yaml, &json)) == BT_OK) {
		bt_json_begin(m->json, json, &m->arena);
		read_value(m);
		assert_int_equal(bt_json_error(m->json)->status, BT_OK);
		m->document_n++;
	}
	if (status != BT_NOT_FOUND) {
		fail_msg("%s:%zu: %s", name, bt_yaml_error(yaml)->line, bt_yaml_error(yaml)->message);
	}
	bt_yaml_destroy(yaml);
	bt_buf_fini(&text);
	bt_buf_fini(&error);
}

static int setup(void **state)
{
	struct manifests *m = bt_mem_zalloc(1, sizeof(*m));

	m->json = bt_json_create();
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		m->user = -1;
		read_file(m, files[i]);
		m->users[i] = m->user;
	}
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct manifests *m = *state;

	bt_json_destroy(m->json);
	bt_arena_fini(&m->arena);
	bt_mem_free(m);
	return 0;
}

static bool may(const struct manifests *m, const char *group, const char *resource, const char *verb)
{
	char text[160];

	snprintf(text, sizeof(text), "%s/%s %s", group, resource, verb);
	for (size_t i = 0; i < m->right_n; i++) {
		if (strcmp(m->rights[i].text, text) == 0) {
			return true;
		}
	}
	return false;
}

static void every_command_line_and_configuration_is_berths(void **state)
{
	const struct manifests *m = *state;

	assert_int_equal(m->command_n, 3);
	assert_int_equal(m->config_n, 1);
	assert_true(m->document_n >= 10);
}

static void watched_kinds_need_list_and_watch_permissions_only(void **state)
{
	const struct manifests *m = *state;
	bool watched[BT_KIND_N] = {false};
	size_t listed_n = 0, n = 0;

	for (uint32_t ix = 0; bt_release_at(ix); ix++) {
		const struct bt_kind_info *kinds[BT_WATCH_KINDS_MAX];
		struct bt_gates gates;

		bt_gates_init(&gates, bt_release_at(ix));
		memset(gates.on, 1, sizeof(gates.on));
		for (uint32_t k = bt_watch_kinds(&gates, kinds); k-- > 0;) {
			if (!may(m, kinds[k]->group, kinds[k]->resource, "list") ||
				!may(m, kinds[k]->group, kinds[k]->resource, "watch")) {
				fail_msg("rbac.yaml lets nobody list and watch %s", kinds[k]->resource);
			}
			n += !watched[kinds[k]->kind];
			watched[kinds[k]->kind] = true;
		}
	}
	for (size_t i = 0; i < m->right_n; i++) {
		size_t len = strlen(m->rights[i].text);

		listed_n += len > 5 && strcmp(m->rights[i].text + len - 5, " list") == 0;
	}
	assert_int_equal(listed_n, n);
}

static void written_kinds_have_write_permissions_and_secrets_have_none(void **state)
{
	static const char *const needed[][3] = {{"", "pods/binding", "create"}, {"", "pods", "delete"},
		{"", "pods/status", "patch"}, {"events.k8s.io", "events", "create"},
		{"events.k8s.io", "events", "patch"}, {"", "persistentvolumes", "patch"},
		{"", "persistentvolumeclaims", "patch"},
		{"resource.k8s.io", "resourceclaims/status", "patch"},
		{"coordination.k8s.io", "leases", "create"}, {"coordination.k8s.io", "leases", "update"},
		{"coordination.k8s.io", "leases", "watch"},
		{"authentication.k8s.io", "tokenreviews", "create"},
		{"authorization.k8s.io", "subjectaccessreviews", "create"}};
	const struct manifests *m = *state;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!may(m, needed[i][0], needed[i][1], needed[i][2])) {
			fail_msg("rbac.yaml lets nobody %s %s", needed[i][2], needed[i][1]);
		}
	}
	for (size_t i = 0; i < m->right_n; i++) {
		assert_null(strstr(m->rights[i].text, "secrets"));
		assert_null(strchr(m->rights[i].text, '*'));
	}
}

/* Only root can read kubeadm's scheduler.conf; a ServiceAccount's token is readable for any user. */
static void a_static_pod_is_root_and_others_are_not(void **state)
{
	const struct manifests *m = *state;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (strcmp(files[i], "static-pod.yaml") == 0) {
			assert_int_equal(m->users[i], 0);
		} else if (strcmp(files[i], "deployment.yaml") == 0 || strcmp(files[i], "shadow.yaml") == 0) {
			assert_true(m->users[i] > 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_line_and_configuration_is_berths),
		cmocka_unit_test(watched_kinds_need_list_and_watch_permissions_only),
		cmocka_unit_test(written_kinds_have_write_permissions_and_secrets_have_none),
		cmocka_unit_test(a_static_pod_is_root_and_others_are_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
