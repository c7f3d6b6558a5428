/* SPDX-License-Identifier: Apache-2.0
 * Kubeconfig files: merging of several, and errors in wrong ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "tools/cluster/net/plan_int.h"

static const char good[] = "apiVersion: v1\n"
			   "kind: Config\n"
			   "current-context: work\n"
			   "clusters:\n"
			   "- name: prod\n"
			   "  cluster:\n"
			   "    server: https://10.0.0.1:6443\n"
			   "    certificate-authority: pki/ca.crt\n"
			   "    tls-server-name: api.example\n"
			   "    proxy-url: socks5://proxy:1080\n"
			   "    disable-compression: true\n"
			   "    extensions:\n"
			   "    - name: client.authentication.k8s.io/exec\n"
			   "      extension: {audience: x}\n"
			   "users:\n"
			   "- name: me\n"
			   "  user:\n"
			   "    client-certificate-data: Y2VydA==\n"
			   "    client-key: /abs/key\n"
			   "    token: t0k3n\n"
			   "    as: boss\n"
			   "    as-groups: [a, b]\n"
			   "    as-user-extra: {scopes: [x, z]}\n"
			   "    exec:\n"
			   "      apiVersion: client.authentication.k8s.io/v1\n"
			   "      command: ./plugin\n"
			   "      args: [one, two]\n"
			   "      env:\n"
			   "      - {name: A, value: b}\n"
			   "      interactiveMode: Never\n"
			   "      provideClusterInfo: true\n"
			   "contexts:\n"
			   "- name: other\n"
			   "  context: {cluster: none, user: none}\n"
			   "- name: work\n"
			   "  context: {cluster: prod, user: me, namespace: team}\n";

static bool read_files(const char *files, const struct bt_client_config_options *options,
	struct bt_client_config_plan *plan, struct bt_buf *error)
{
	bt_buf_clear(error);
	return bt_kubeconfig_read(files, options, plan, error);
}

static void expect_text(struct bt_str text, const char *expected)
{
	if (!bt_str_is(text, expected)) {
		fail_msg("\"%.*s\", not \"%s\"", BT_STR_ARG(text), expected);
	}
}

static void the_current_context_is_followed(void **state)
{
	const char *path = write_text("config", good);
	struct bt_client_config_plan plan;
	struct bt_buf error = {0}, wanted = {0};

	(void)state;
	assert_true(read_files(path, &(struct bt_client_config_options){.kubeconfig = path}, &plan, &error));
	expect_text(plan.server, "https://10.0.0.1:6443");
	expect_text(plan.namespace_, "team");
	expect_text(plan.tls_server_name, "api.example");
	expect_text(plan.proxy_url, "socks5://proxy:1080");
	assert_true(plan.disable_compression && !plan.insecure && !plan.proxy_from_environment);
	bt_buf_printf(&wanted, "%s/pki/ca.crt", folder); /* relative to the file */
	assert_string_equal(plan.authority_file, wanted.ptr);
	assert_string_equal(plan.key_file, "/abs/key");
	assert_string_equal(plan.certificate.ptr, "cert");
	assert_string_equal(plan.token.ptr, "t0k3n");
	expect_text(plan.as, "boss");
	assert_int_equal(plan.as_groups.n, 2);
	expect_text(plan.as_groups.items[1], "b");
	expect_text(plan.as_extra_keys.items[0], "scopes");
	expect_text(plan.as_extra_values[0].items[1], "z");
	assert_true(plan.has_exec && plan.exec.cluster);
	bt_buf_clear(&wanted);
	bt_buf_printf(&wanted, "%s/./plugin", folder);
	expect_text(plan.exec.command, wanted.ptr);
	expect_text(plan.exec.args.items[1], "two");
	expect_text(plan.exec.env[0].value, "b");
	assert_non_null(strstr(plan.exec.cluster_config.ptr, "audience"));
	bt_client_config_plan_fini(&plan);
	bt_buf_fini(&error);
	bt_buf_fini(&wanted);
	unlink(path);
}

static void the_first_file_that_names_something_decides(void **state)
{
	const char *one = write_text("one", "current-context: a\n"
					    "clusters:\n"
					    "- {name: c, cluster: {server: 'https://one'}}\n"
					    "users:\n"
					    "- {name: u, user: {token: one}}\n");
	const char *two =
		write_text("two", "current-context: b\n"
				  "clusters:\n"
				  "- {name: c, cluster: {server: 'https://two', tls-server-name: x}}\n"
				  "- {name: d, cluster: {server: 'https://d'}}\n"
				  "contexts:\n"
				  "- {name: a, context: {cluster: c, user: u}}\n"
				  "- {name: b, context: {cluster: d, user: u}}\n");
	const char *missing = path_of("missing");
	struct bt_client_config_plan plan;
	struct bt_buf error = {0}, list = {0};

	(void)state;
	bt_buf_printf(&list, "%s::%s:%s", missing, one, two);
	assert_true(read_files(list.ptr, &(struct bt_client_config_options){0}, &plan, &error));
	expect_text(plan.server, "https://one");
	expect_text(plan.tls_server_name, ""); /* each entry comes from one file */
	assert_string_equal(plan.token.ptr, "one");
	bt_client_config_plan_fini(&plan);
	assert_true(read_files(list.ptr, &(struct bt_client_config_options){.context = "b"}, &plan, &error));
	expect_text(plan.server, "https://d");
	bt_client_config_plan_fini(&plan);
	assert_false(read_files(missing, &(struct bt_client_config_options){0}, &plan, &error));
	assert_false(read_files(
		missing, &(struct bt_client_config_options){.kubeconfig = missing}, &plan, &error));
	assert_non_null(strstr(error.ptr, "missing: No such file"));
	bt_buf_fini(&error);
	bt_buf_fini(&list);
	unlink(one);
	unlink(two);
}

/* A valid file with one change, and the error. */
static void wrong_files_are_reported_by_line_and_remedy(void **state)
{
	static const struct {
		const char *from, *to, *error;
	} cases[] = {
		{"kind: Config", "kind: Pod", ":2: kind: not a kubeconfig; kind must be Config"},
		{"current-context: work", "current-context: play",
			"there is no context named \"play\"; set current-context to one of contexts: "},
		{"current-context: work\n", "",
			"current-context: no context is chosen; set current-context to one of contexts: "},
		{"cluster: prod", "cluster: prad",
			"there is no cluster named \"prad\"; the context must name one of the kubeconfig: "},
		{"user: me, ", "user: you, ", "there is no user named \"you\""},
		{"user: me, ", "", "context: no user; a context names"},
		{"    server: https://10.0.0.1:6443\n", "",
			"cluster.server: the cluster has no server; it must be"},
		{"server: https://10.0.0.1:6443", "server: [1]", ":7: clusters[0].cluster.server: "},
		{"proxy-url: socks5://", "proxy-url: ftp://",
			"cluster.proxy-url: not the URL of a proxy; its scheme"},
		{"disable-compression: true", "insecure-skip-tls-verify: true",
			"cluster.insecure-skip-tls-verify: the server shall not be verified, yet"},
		{"disable-compression: true", "disable-compression: maybe",
			":11: clusters[0].cluster.disable-compression: "},
		{"Y2VydA==", "c2VjcmV0!!!", "user.client-certificate-data: not base64; it must be the PEM"},
		{"    client-key: /abs/key\n", "", "user.client-key: a client certificate without its key"},
		{"    as: boss\n", "    username: a\n    password: b\n", "user: both a token and a username"},
		{"    as: boss\n", "", "user.as: uid, groups or extra without a user"},
		{"    as: boss\n", "    as: boss\n    auth-provider: {name: gcp}\n",
			"user.auth-provider: auth providers are no more; use an exec plugin"},
		{"{scopes: [x, z]}", "[1]", "user.as-user-extra: not lists of strings by key"},
		{"client.authentication.k8s.io/v1\n", "client.authentication.k8s.io/v1alpha1\n",
			"user.exec.apiVersion: not a version of this API"},
		{"      command: ./plugin\n", "", "user.exec.command: no command"},
		{"interactiveMode: Never", "interactiveMode: Perhaps",
			"user.exec.interactiveMode: not a mode"},
		{"      interactiveMode: Never\n", "", "user.exec.interactiveMode: not a mode"},
		{"{name: A, value: b}", "{value: b}", "user.exec.env: a variable without a name"},
		{"contexts:\n", "contexts: 7\nmore:\n", ":32: contexts: "},
		{"users:\n", "users: [\n", ":"},
	};
	struct bt_buf error = {0}, text = {0};
	struct bt_client_config_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = strstr(good, cases[i].from);

		assert_non_null(at);
		bt_buf_clear(&text);
		bt_buf_add(&text, good, (size_t)(at - good));
		bt_buf_text(&text, cases[i].to);
		bt_buf_text(&text, at + strlen(cases[i].from));
		const char *path = write_text("wrong", text.ptr);

		if (read_files(path, &(struct bt_client_config_options){.kubeconfig = path}, &plan, &error) ||
			strncmp(error.ptr, path, strlen(path)) != 0 || !strstr(error.ptr, cases[i].error)) {
			fail_msg("case %zu: %s: %s", i, cases[i].error, error.len ? error.ptr : "no error");
		}
		assert_null(strstr(error.ptr, "t0k3n"));
		assert_null(strstr(error.ptr, "c2Vj"));
		unlink(path);
	}
	bt_buf_fini(&error);
	bt_buf_fini(&text);
}

static void any_cut_of_a_file_is_an_error_or_a_plan(void **state)
{
	struct bt_buf error = {0};
	struct bt_client_config_plan plan;
	char text[sizeof(good)];

	(void)state;
	for (size_t n = 0; n < sizeof(good); n += 7) {
		memcpy(text, good, n);
		text[n] = 0;
		const char *path = write_text("cut", text);

		if (read_files(path, &(struct bt_client_config_options){.kubeconfig = path}, &plan, &error)) {
			bt_client_config_plan_fini(&plan);
		} else {
			assert_true(error.len > 0);
		}
		unlink(path);
	}
	bt_buf_fini(&error);
}

/* ---- proxies ---- */

static void proxies_are_those_that_go_would_take(void **state)
{
	static const struct {
		const char *no_proxy, *url, *proxy;
	} cases[] = {
		{"", "https://10.0.0.1:6443", "http://secure:1"},
		{"", "http://10.0.0.1:6443", "http://plain:2"},
		{"", "https://localhost:6443", ""},
		{"", "https://127.0.0.9", ""},
		{"", "https://[::1]:6443", ""},
		{"*", "https://10.0.0.1", ""},
		{"10.0.0.1", "https://10.0.0.1:6443", ""},
		{"10.0.0.1:443", "https://10.0.0.1:6443", "http://secure:1"},
		{"10.0.0.1:6443", "https://10.0.0.1:6443", ""},
		{"x, 10.0.0.0/8 ,y", "https://10.1.2.3:6443", ""},
		{"10.0.0.0/16", "https://10.1.2.3:6443", "http://secure:1"},
		{"fd00::/8", "https://[fd12::1]:6443", ""},
		{"fd00::/8", "https://10.1.2.3", "http://secure:1"},
		{"example.com", "https://api.example.com", ""},
		{"example.com", "https://EXAMPLE.com:1", ""},
		{"example.com", "https://badexample.com", "http://secure:1"},
		{".example.com", "https://api.example.com", ""},
		{".example.com", "https://example.com", "http://secure:1"},
		{"*.example.com", "https://a.b.example.com", ""},
		{"*.example.com", "https://example.com", "http://secure:1"},
		{"example.com:8443", "https://api.example.com", "http://secure:1"},
		{":80,,", "https://api.example.com", "http://secure:1"},
		{"::/0", "https://10.1.2.3", "http://secure:1"},
		{"::/0", "https://[fd12::1]", ""},
		{"::ffff:10.0.0.0/104", "https://10.1.2.3", ""},
		{"::ffff:10.0.0.0/104", "https://11.1.2.3", "http://secure:1"},
		{"10.0.0.0/33", "https://10.0.0.1", "http://secure:1"},
		{"x,\n\texample.com\r\n", "https://api.example.com", ""},
		{"", "https://LOCALHOST", "http://secure:1"},
	};
	struct bt_buf proxy = {0}, error = {0};

	(void)state;
	setenv("HTTPS_PROXY", "secure:1", 1);
	setenv("http_proxy", "http://plain:2", 1);
	unsetenv("HTTP_PROXY");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("NO_PROXY", cases[i].no_proxy, 1);
		bt_buf_clear(&proxy);
		assert_true(bt_proxy_from_environment(bt_str(cases[i].url), &proxy, &error));
		if (strcmp(proxy.ptr, cases[i].proxy) != 0) {
			fail_msg("NO_PROXY=%s %s: %s", cases[i].no_proxy, cases[i].url, proxy.ptr);
		}
	}
	setenv("NO_PROXY", "", 1);
	setenv("HTTPS_PROXY", "ftp://secret@x", 1);
	assert_false(bt_proxy_from_environment(bt_str("https://a"), &proxy, &error));
	assert_non_null(strstr(error.ptr, "HTTPS_PROXY: not the URL of a proxy"));
	assert_null(strstr(error.ptr, "secret"));
	unsetenv("HTTPS_PROXY");
	unsetenv("http_proxy");
	unsetenv("NO_PROXY");
	bt_buf_fini(&proxy);
	bt_buf_fini(&error);
}

/* libcurl's default port of a proxy would be 1080. */
static void a_proxy_has_the_port_of_its_scheme(void **state)
{
	static const struct {
		const char *named, *proxy; /* NULL: none */
	} cases[] = {
		{"proxy", "http://proxy:80"},
		{"proxy:3128", "http://proxy:3128"},
		{"http://proxy", "http://proxy:80"},
		{"http://proxy/", "http://proxy:80/"},
		{"http://proxy:", "http://proxy:80"},
		{"http://us:er@proxy", "http://us:er@proxy:80"},
		{"us:er@proxy:1", "http://us:er@proxy:1"},
		{"https://[::1]", "https://[::1]:443"},
		{"https://[::1]:8443", "https://[::1]:8443"},
		{"HTTPS://proxy", "https://proxy:443"},
		{"socks5://proxy", "socks5h://proxy:1080"},
		{"socks5h://proxy:9", "socks5h://proxy:9"},
		{"socks4://proxy", NULL},
		{"http://", NULL},
		{"http://a b", NULL},
	};
	struct bt_buf proxy = {0}, error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("HTTPS_PROXY", cases[i].named, 1);
		bt_buf_clear(&proxy);
		bool taken = bt_proxy_from_environment(bt_str("https://a"), &proxy, &error);

		if (taken != (cases[i].proxy != NULL) || (taken && strcmp(proxy.ptr, cases[i].proxy) != 0)) {
			fail_msg("%s: %s", cases[i].named, taken ? proxy.ptr : "none");
		}
	}
	unsetenv("HTTPS_PROXY");
	bt_buf_fini(&proxy);
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_current_context_is_followed),
		cmocka_unit_test(the_first_file_that_names_something_decides),
		cmocka_unit_test(wrong_files_are_reported_by_line_and_remedy),
		cmocka_unit_test(any_cut_of_a_file_is_an_error_or_a_plan),
		cmocka_unit_test(proxies_are_those_that_go_would_take),
		cmocka_unit_test(a_proxy_has_the_port_of_its_scheme),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
