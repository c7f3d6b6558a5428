/* SPDX-License-Identifier: Apache-2.0
 * Client configs for API servers: which kubeconfigs make them, and which files are read again later.
 */
#include "folder.h"

#include "tools/cluster/run/access.h"

#define SERVER(user)                                                                                         \
	"apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, "      \
	"user: "                                                                                             \
	"u}}]\nclusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443'}}]\nusers: [{name: u, user: "  \
	"{" user "}}]\n"

/* What a scheduler is started with. */
struct start {
	struct bt_run_flags flags;
	struct bt_config config;
	struct bt_buf paths, error;
};

static void begin(struct start *start, const char *kubeconfig)
{
	*start = (struct start){.flags = {.sandbox = BT_SANDBOX_OFF}};
	bt_config_init_default(&start->config, NULL);
	start->config.client_connection.kubeconfig = kubeconfig ? bt_str(kubeconfig) : (struct bt_str){0};
	bt_buf_text(&start->paths, "");
	bt_buf_text(&start->error, "");
}

static void end(struct start *start, struct bt_run_access *access)
{
	bt_run_access_destroy(access);
	bt_config_fini(&start->config);
	bt_buf_fini(&start->paths);
	bt_buf_fini(&start->error);
}

static struct bt_run_access *create(struct start *start)
{
	struct bt_run_access *access = bt_run_access_create(&start->flags, &start->config, &start->error);

	if (!access) {
		fail_msg("%s", start->error.ptr);
	}
	return access;
}

static void expect_error(struct start *start, const char *words)
{
	assert_null(bt_run_access_create(&start->flags, &start->config, &start->error));
	if (!strstr(start->error.ptr, words)) {
		fail_msg("no '%s' in %s", words, start->error.ptr);
	}
	end(start, NULL);
}

static void add_path(void *context, const char *path)
{
	bt_buf_printf(context, "%s\n", path);
}

static void reviews_use_the_api_s_config_unless_they_have_their_own(void **state)
{
	struct start start;

	(void)state;
	begin(&start, write_text("api", SERVER("")));
	struct bt_run_access *access = create(&start);
	assert_string_equal(bt_client_config_server(access->api), "https://10.0.0.1:6443");
	assert_null(access->authentication);
	assert_null(access->authorization);
	end(&start, access);
	begin(&start, path_of("api"));
	start.flags.authentication_kubeconfig = path_of("api");
	access = create(&start);
	assert_non_null(access->authentication);
	assert_null(access->authorization);
	end(&start, access);
}

static void the_address_of_a_flag_takes_precedence(void **state)
{
	struct start start;

	(void)state;
	begin(&start, write_text("api", SERVER("")));
	start.flags.master = "https://10.9.9.9:1";
	struct bt_run_access *access = create(&start);
	assert_string_equal(bt_client_config_server(access->api), "https://10.9.9.9:1");
	end(&start, access);
}

static void a_wrong_kubeconfig_of_a_flag_is_named_by_the_flag(void **state)
{
	struct start start;

	(void)state;
	write_text("api", SERVER(""));
	begin(&start, path_of("missing"));
	expect_error(&start, "/missing: No such file");
	begin(&start, path_of("api"));
	start.flags.authentication_kubeconfig = path_of("missing");
	expect_error(&start, "--authentication-kubeconfig: ");
	begin(&start, path_of("api"));
	start.flags.authorization_kubeconfig = path_of("missing");
	expect_error(&start, "--authorization-kubeconfig: ");
}

static void every_file_that_rotates_is_named(void **state)
{
	const struct bt_sni_settings sni[] = {{.cert_file = "/sni.crt", .key_file = "/sni.key"}};
	struct bt_extender_config extender = {
		.tls = {.ca_file = bt_str("/ext.ca"), .key_file = bt_str("/ext.key.more")}};
	struct bt_buf want = {0};
	struct start start;

	(void)state;
	write_text("token", "t\n");
	begin(&start, write_text("api", SERVER("tokenFile: token")));
	extender.tls.key_file.len = strlen("/ext.key"); /* texts of the configuration end in no NUL */
	start.config.extenders = &extender;
	start.config.extender_n = 1;
	start.flags.serving = (struct bt_serve_settings){.cert_file = "/own.crt",
		.key_file = "/own.key",
		.client_ca_file = "/clients.ca",
		.proxy_ca_file = "/proxies.ca",
		.sni = sni,
		.sni_n = 1};
	struct bt_run_access *access = create(&start);
	assert_false(bt_run_access_each_file(access, &start.config, add_path, &start.paths));
	bt_buf_printf(&want,
		"%s\n/own.crt\n/own.key\n/clients.ca\n/proxies.ca\n/sni.crt\n/sni.key\n/ext.ca\n/ext.key\n",
		path_of("token"));
	assert_string_equal(start.paths.ptr, want.ptr);
	bt_buf_fini(&want);
	start.config.extenders = NULL;
	start.config.extender_n = 0;
	end(&start, access);
}

static void a_credential_plugin_is_logged_when_it_runs(void **state)
{
	struct start start;

	(void)state;
	write_text("api", SERVER(""));
	write_text("reviews", SERVER("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, "
				     "interactiveMode: Never}"));
	begin(&start, path_of("api"));
	start.flags.authentication_kubeconfig = path_of("reviews");
	start.flags.authorization_kubeconfig = path_of("api");
	struct bt_run_access *access = create(&start);
	assert_true(bt_run_access_each_file(access, &start.config, add_path, &start.paths));
	end(&start, access);
}

static void files_are_known_by_what_they_are_and_kubeconfigs_count(void **state)
{
	struct start start;

	(void)state;
	write_text("token", "t\n");
	write_text("other", "t\n");
	begin(&start, write_text("api", SERVER("tokenFile: token")));
	struct bt_run_access *access = create(&start);
	assert_true(bt_run_access_reads(access, &start.config, path_of("token")));
	assert_true(bt_run_access_reads(access, &start.config, path_of("./token")));
	assert_true(bt_run_access_reads(access, &start.config, path_of("api")));
	assert_false(bt_run_access_reads(access, &start.config, path_of("other")));
	end(&start, access);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reviews_use_the_api_s_config_unless_they_have_their_own),
		cmocka_unit_test(the_address_of_a_flag_takes_precedence),
		cmocka_unit_test(a_wrong_kubeconfig_of_a_flag_is_named_by_the_flag),
		cmocka_unit_test(every_file_that_rotates_is_named),
		cmocka_unit_test(a_credential_plugin_is_logged_when_it_runs),
		cmocka_unit_test(files_are_known_by_what_they_are_and_kubeconfigs_count),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
