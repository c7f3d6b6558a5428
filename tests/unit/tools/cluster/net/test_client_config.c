/* SPDX-License-Identifier: Apache-2.0
 * Calls over TLS: trusted servers, presented credentials, changed files, credential plugins, and rejected
 * credentials.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/atomic.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "caught.h"
#include "client_config_int.h"
#include "exec_plugin_int.h"
#include "folder.h"
#include "pki.h"
#include "server.h"
#include "tools/format/base64.h"
#include "tools/cluster/net/http.h"

#define SECOND ((int64_t)1000000000)

static bool over_h2; /* in the second pass */

/* Issuers and owners of the test's certificates. */
static struct pki_pair authority, other_authority, server_pair, client_pair, other_client;

static int make_world(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* the test's server writes by OpenSSL */
	pki_make(&authority, NULL, "test authority", NULL);
	pki_make(&other_authority, NULL, "other authority", NULL);
	pki_make(&server_pair, &authority, "server", "DNS:api.example,IP:127.0.0.1");
	pki_make(&client_pair, &authority, "first client", NULL);
	pki_make(&other_client, &authority, "second client", NULL);
	return folder_make(NULL);
}

static int end_world(void **state)
{
	(void)state;
	pki_fini(&authority);
	pki_fini(&other_authority);
	pki_fini(&server_pair);
	pki_fini(&client_pair);
	pki_fini(&other_client);
	return rmdir(folder); /* no test leaves a file */
}

/* As the kubelet does: renames another file over it. */
static void write_file(const char *name, const void *bytes, size_t n)
{
	const char *fresh = write_bytes("fresh", bytes, n);

	chmod(fresh, 0755);
	assert_int_equal(rename(fresh, path_of(name)), 0);
}

static void replace_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void remove_file(const char *name)
{
	unlink(path_of(name));
}

/* atomic: the first client's certificate gets 401 */
static _Atomic bool first_is_refused;

/* Responds with the client's credentials: certificate, headers, whether the session was resumed.
 * Rejects token "old", and closes the connection for "/cut". */
static bool mirror(void *context, struct peer *peer, const struct request *request)
{
	struct bt_str token = request_header(request, "Authorization");
	struct bt_buf body = {0};
	bool cuts = bt_str_is(request->path, "/cut");

	(void)context;
	bt_buf_printf(&body, "%s|%.*s|%.*s|%.*s|%.*s|%s",
		peer_is(peer, "first client")	 ? "first"
		: peer_is(peer, "second client") ? "second"
						 : "nobody",
		BT_STR_ARG(token), BT_STR_ARG(request_header(request, "Impersonate-User")),
		BT_STR_ARG(request_header(request, "Impersonate-Extra-a%2fb")),
		BT_STR_ARG(request_header(request, "User-Agent")),
		peer_resumed(peer) ? "resumed" : "new session");
	bool refused = bt_str_is(token, "Bearer old") ||
		       (peer_is(peer, "first client") && bt_load_acquire(&first_is_refused));

	if (cuts) {
		peer_hold(peer);
	}
	bool good = peer_answer(peer, refused ? 401 : 200, "", body.ptr);
	bt_buf_fini(&body);
	return good && !cuts;
}

/* A server, and a kubeconfig with this cluster and user. */
struct way {
	SSL_CTX *tls;
	struct server *server;
	struct bt_client_config *access;
	struct bt_http *http;
	struct bt_buf answer, error;
	struct bt_http_head head;
};

static void add_base64(struct bt_buf *text, const struct bt_buf *bytes)
{
	bt_base64_encode(bt_buf_view(bytes), text);
}

static void write_kubeconfig(const struct way *way, const char *scheme, const char *cluster, const char *user)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text,
		"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
		"\"c\", "
		"\"user\": \"u\"}}], \"clusters\": [{\"name\": \"c\", \"cluster\": {\"server\": "
		"\"%s://127.0.0.1:%u\"%s}}], \"users\": [{\"name\": \"u\", \"user\": {%s}}]}",
		scheme, server_port(way->server), cluster, user);
	write_file("config", text.ptr, text.len);
	bt_buf_fini(&text);
}

static void open_client(struct way *way)
{
	way->access = bt_client_config_create(
		&(struct bt_client_config_options){.kubeconfig = path_of("config"), .user_agent = "tester/1"},
		&way->error);
	if (!way->access) {
		fail_msg("%s", way->error.ptr);
	}
	way->http =
		bt_http_create(&(struct bt_http_options){.access = way->access, .name = "test"}, &way->error);
	assert_non_null(way->http);
}

static void start_server(struct way *way, bool tls)
{
	*way = (struct way){.tls = tls ? pki_server(&server_pair, &authority) : NULL};
	if (tls && over_h2) {
		pki_choose_h2(way->tls);
	}
	way->server = server_start(way->tls, mirror, NULL);
}

static void start_way(struct way *way, const char *cluster, const char *user)
{
	start_server(way, true);
	write_kubeconfig(way, "https", cluster, user);
	open_client(way);
}

static void close_way(struct way *way)
{
	bt_http_destroy(way->http);
	bt_client_config_destroy(way->access);
	server_stop(way->server);
	SSL_CTX_free(way->tls);
	bt_buf_fini(&way->answer);
	bt_buf_fini(&way->error);
	remove_file("config");
}

static enum bt_http_end call_for(struct way *way, enum bt_http_method method, const char *path)
{
	bt_buf_clear(&way->error);
	return bt_http_fetch(way->http,
		&(struct bt_http_call){.method = method, .path = bt_str(path), .timeout_ns = 60 * SECOND},
		&way->head, &way->answer, &way->error);
}

static enum bt_http_end call(struct way *way)
{
	return call_for(way, BT_HTTP_POST, "/x");
}

static void expect_end(const struct way *way, enum bt_http_end end, uint32_t status, const char *text)
{
	if (end != BT_HTTP_ANSWERED || way->head.status != status || !strstr(way->answer.ptr, text)) {
		fail_msg("%d %u %s: not %u %s", end, way->head.status,
			way->error.len ? way->error.ptr : way->answer.ptr, status, text);
	}
}

static void expect_answer(struct way *way, uint32_t status, const char *text)
{
	enum bt_http_end end = call(way);

	expect_end(way, end, status, text);
}

/* A response on a connection that is closed after it; libcurl's sessions are not checked. */
static void expect_cut(struct way *way, const char *client, const char *session)
{
	enum bt_http_end end = call_for(way, BT_HTTP_GET, "/cut");

	expect_end(way, end, 200, client);
	if (over_h2 || !strcmp(session, "new session")) {
		expect_end(way, end, 200, session);
	}
}

/* ---- trust ---- */

static void trusted(struct bt_buf *cluster, const struct pki_pair *whom, const char *more)
{
	bt_buf_clear(cluster);
	bt_buf_text(cluster, ", \"certificate-authority-data\": \"");
	add_base64(cluster, &whom->certificate_pem);
	bt_buf_printf(cluster, "\"%s", more);
}

/* A client whose kubeconfig names the CA. more: for the cluster; user: for the user. */
static void start_trusting(struct way *way, const struct pki_pair *whom, const char *more, const char *user)
{
	struct bt_buf cluster = {0};

	trusted(&cluster, whom, more);
	start_way(way, cluster.ptr, user);
	bt_buf_fini(&cluster);
}

static void only_the_named_authority_is_trusted(void **state)
{
	struct way way;

	(void)state;
	start_trusting(&way, &authority, "", "");
	expect_answer(&way, 200, "nobody||||tester/1");
	close_way(&way);
	start_trusting(&way, &other_authority, "", "");
	assert_int_equal(call(&way), BT_HTTP_UNSENT);
	assert_non_null(strstr(way.error.ptr, "does certificate-authority of the kubeconfig name"));
	assert_int_equal(server_request_n(way.server), 0);
	close_way(&way);
	start_way(&way, "", "");
	assert_int_equal(call(&way), BT_HTTP_UNSENT); /* not in the system's CAs */
	close_way(&way);
	start_way(&way, ", \"insecure-skip-tls-verify\": true", "");
	expect_answer(&way, 200, "nobody|");
	close_way(&way);
}

/* The log while a client of this cluster is created and destroyed. */
static const char *log_of(const char *cluster)
{
	struct way way;

	caught_begin();
	start_way(&way, cluster, "");
	close_way(&way);
	return caught_end();
}

static void an_unverified_server_is_reported(void **state)
{
	struct bt_buf cluster = {0};

	(void)state;
	trusted(&cluster, &authority, "");
	assert_null(strstr(log_of(cluster.ptr), "insecure-skip-tls-verify"));
	const char *log = log_of(", \"insecure-skip-tls-verify\": true");

	assert_non_null(strstr(log, "The server's certificate is not checked"));
	assert_non_null(strstr(log, "instead of insecure-skip-tls-verify"));
	bt_buf_fini(&cluster);
}

static void the_name_in_the_certificate_must_fit(void **state)
{
	struct way way;

	(void)state;
	start_trusting(&way, &authority, ", \"tls-server-name\": \"api.example\"", "");
	expect_answer(&way, 200, "nobody|");
	close_way(&way);
	start_trusting(&way, &authority, ", \"tls-server-name\": \"other.example\"", "");
	assert_int_equal(call(&way), BT_HTTP_UNSENT);
	assert_int_equal(server_request_n(way.server), 0);
	close_way(&way);
}

/* ---- credentials ---- */

static void credentials_are_shown(void **state)
{
	struct bt_buf user = {0};
	struct way way;

	(void)state;
	bt_buf_text(&user, "\"client-certificate-data\": \"");
	add_base64(&user, &client_pair.certificate_pem);
	bt_buf_text(&user, "\", \"client-key-data\": \"");
	add_base64(&user, &client_pair.key_pem);
	bt_buf_text(&user, "\", \"token\": \"t\", \"as\": \"boss\", \"as-user-extra\": {\"a/b\": [\"v\"]}");
	start_trusting(&way, &authority, "", user.ptr);
	expect_answer(&way, 200, "first|Bearer t|boss|");
	close_way(&way);
	start_trusting(&way, &authority, "", "\"username\": \"me\", \"password\": \"pass\"");
	expect_answer(&way, 200, "nobody|Basic bWU6cGFzcw==|");
	close_way(&way);
	bt_buf_fini(&user);
}

static void nothing_secret_is_shown_without_tls(void **state)
{
	struct way way;

	(void)state;
	start_server(&way, false);
	write_kubeconfig(&way, "http", "", "\"token\": \"t\", \"as\": \"boss\"");
	open_client(&way);
	expect_answer(&way, 200, "nobody||||");
	close_way(&way);
}

/* ---- files that change ---- */

static void a_token_that_was_refused_is_read_again(void **state)
{
	struct way way;

	(void)state;
	replace_text("token", "old\n");
	start_trusting(&way, &authority, "", "\"tokenFile\": \"token\"");
	expect_answer(&way, 401, "Bearer old"); /* no change: the response stands */
	assert_int_equal(server_request_n(way.server), 1);
	replace_text("token", "new\n");
	expect_answer(&way, 200, "Bearer new");
	assert_int_equal(server_request_n(way.server), 3);
	remove_file("token"); /* the previous content stays */
	expect_answer(&way, 200, "Bearer new");
	close_way(&way);
}

static void write_pem(const char *name, const struct bt_buf *pem)
{
	write_file(name, pem->ptr, pem->len);
}

static void write_pair(const struct pki_pair *pair)
{
	write_pem("crt", &pair->certificate_pem);
	write_pem("key", &pair->key_pem);
}

/* A client whose certificate and key are files, initially client_pair's. */
static void start_way_of_files(struct way *way)
{

	write_pair(&client_pair);
	start_trusting(way, &authority, "", "\"client-certificate\": \"crt\", \"client-key\": \"key\"");
}

static void close_way_of_files(struct way *way)
{
	close_way(way);
	remove_file("crt");
	remove_file("key");
}

static void a_certificate_that_changes_is_shown_on_a_new_connection(void **state)
{
	struct way way;

	(void)state;
	start_way_of_files(&way);
	expect_answer(&way, 200, "first|");
	write_pair(&other_client);
	bt_store_release(&first_is_refused, true);
	expect_answer(&way, 200, "second|");
	/* One more connection tested whether the server, which has HTTP/1.1 only, selects HTTP/2. */
	assert_int_equal(server_connection_n(way.server), over_h2 ? 2 : 3);
	bt_store_release(&first_is_refused, false);
	close_way_of_files(&way);
}

static void a_certificate_waits_for_its_key(void **state)
{
	struct way way;

	(void)state;
	start_way_of_files(&way);
	expect_answer(&way, 200, "first|");
	bt_store_release(&first_is_refused, true); /* so that files are checked */
	write_pem("crt", &other_client.certificate_pem);
	expect_answer(&way, 401, "first|");
	expect_answer(&way, 401, "first|");
	write_pem("key", &other_client.key_pem);
	expect_answer(&way, 200, "second|");
	bt_store_release(&first_is_refused, false);
	close_way_of_files(&way);
}

static void a_session_is_never_that_of_another_certificate(void **state)
{
	struct way way;

	(void)state;
	start_way_of_files(&way);
	expect_cut(&way, "first|", "new session");
	expect_cut(&way, "first|", "resumed");
	write_pair(&other_client);
	bt_store_release(&first_is_refused, true);
	expect_cut(&way, "second|", "new session");
	expect_cut(&way, "second|", "resumed");
	bt_store_release(&first_is_refused, false);
	close_way_of_files(&way);
}

static void missing_files_are_named(void **state)
{
	static const char *const users[] = {
		"\"tokenFile\": \"none\"", "\"client-certificate\": \"none\", \"client-key\": \"none\""};
	struct way way;

	(void)state;
	start_server(&way, true);
	for (size_t i = 0; i < 2; i++) {
		write_kubeconfig(&way, "https", "", users[i]);
		assert_null(bt_client_config_create(
			&(struct bt_client_config_options){.kubeconfig = path_of("config")}, &way.error));
		assert_non_null(strstr(way.error.ptr, "/none: No such file or directory; the file must be"));
		bt_buf_clear(&way.error);
	}
	close_way(&way);
}

static void files_that_tls_cannot_use_are_reported_at_once(void **state)
{
	static const struct {
		const char *cluster, *user, *error;
	} cases[] = {
		{", \"certificate-authority\": \"garbage\"", "", "certificate-authority: "},
		{", \"certificate-authority-data\": \"Z2FyYmFnZQ==\"", "",
			"certificate-authority-data: no certificate can be read from it; it must be in PEM"},
		{"", "\"client-certificate\": \"crt\", \"client-key\": \"garbage\"",
			"garbage: no certificate in PEM and its key; they must belong together"},
		{"", "\"client-certificate-data\": \"Z2FyYmFnZQ==\", \"client-key-data\": \"Z2FyYmFnZQ==\"",
			"client-certificate-data, client-key-data: no certificate in PEM"},
	};
	struct way way;

	(void)state;
	start_server(&way, true);
	replace_text("garbage", "garbage\n");
	write_pair(&client_pair);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		write_kubeconfig(&way, "https", cases[i].cluster, cases[i].user);
		assert_null(bt_client_config_create(
			&(struct bt_client_config_options){.kubeconfig = path_of("config")}, &way.error));
		if (!strstr(way.error.ptr, cases[i].error)) {
			fail_msg("%s: %s", cases[i].error, way.error.ptr);
		}
		bt_buf_clear(&way.error);
	}
	close_way(&way);
	remove_file("garbage");
	remove_file("crt");
	remove_file("key");
}

/* ---- plugins ---- */

#define EXEC(args, env)                                                                                      \
	"\"exec\": {\"apiVersion\": \"client.authentication.k8s.io/v1\", \"command\": \"./plugin\", "        \
	"\"interactiveMode\": \"Never\", \"provideClusterInfo\": true, \"args\": [" args "], \"env\": [" env \
	"]}"
#define SAYS(status)                                                                                         \
	"#!/bin/sh\necho '{\"kind\": \"ExecCredential\", \"apiVersion\": "                                   \
	"\"client.authentication.k8s.io/v1\", \"status\": {" status "}}'\n"

static void a_credential_plugin_runs_once(void **state)
{
	struct way way;

	(void)state;
	replace_text("plugin",
		"#!/bin/sh\n"
		"echo run >> \"$(dirname \"$0\")/runs\"\n"
		"case \"$KUBERNETES_EXEC_INFO\" in *certificate-authority-data*) ca=ca;; esac\n"
		"echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\",'\n"
		"echo '\"status\": {\"token\": \"'$1-$A-$ca'\", \"expirationTimestamp\": "
		"\"2999-01-01T00:00:00Z\"}}'\n");
	start_trusting(&way, &authority, "", EXEC("\"x\"", "{\"name\": \"A\", \"value\": \"b\"}"));
	for (int i = 0; i < 3; i++) {
		expect_answer(&way, 200, "nobody|Bearer x-b-ca|");
	}
	struct stat runs;

	assert_int_equal(stat(path_of("runs"), &runs), 0);
	assert_int_equal(runs.st_size, strlen("run\n"));
	close_way(&way);
	remove_file("plugin");
	remove_file("runs");
}

/* As data, even if the kubeconfig names a file. */
static void a_plugin_gets_the_authority_of_a_file(void **state)
{
	struct bt_buf pem = {0};
	struct way way;

	(void)state;
	bt_base64_encode(bt_buf_view(&authority.certificate_pem), &pem);
	write_pem("authority", &authority.certificate_pem);
	write_pem("wanted", &pem);
	replace_text("plugin",
		"#!/bin/sh\n"
		"case \"$KUBERNETES_EXEC_INFO\" in\n"
		"*'\"certificate-authority-data\":\"'\"$(cat \"$(dirname \"$0\")/wanted\")\"'\"'*) "
		"ca=told;;\n"
		"esac\n"
		"echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\",'\n"
		"echo '\"status\": {\"token\": \"'$ca'\"}}'\n");
	start_way(&way, ", \"certificate-authority\": \"authority\"", EXEC("", ""));
	expect_answer(&way, 200, "nobody|Bearer told|");
	close_way(&way);
	remove_file("plugin");
	remove_file("authority");
	remove_file("wanted");
	bt_buf_fini(&pem);
}

static void a_credential_plugin_runs_again_when_its_token_is_refused(void **state)
{
	struct way way;

	(void)state;
	replace_text("plugin", SAYS("\"token\": \"old\""));
	start_trusting(&way, &authority, "", EXEC("", ""));
	expect_answer(&way, 401, "Bearer old");
	replace_text("plugin", SAYS("\"token\": \"new\""));
	expect_answer(&way, 200, "Bearer new");
	close_way(&way);
	remove_file("plugin");
}

/* Writes a plugin that returns a certificate. */
static void write_certifier(const struct pki_pair *pair)
{
	struct bt_buf script = {0};

	bt_buf_text(&script,
		"#!/bin/sh\ncat <<'END'\n{\"kind\": \"ExecCredential\", \"apiVersion\": "
		"\"client.authentication.k8s.io/v1\", \"status\": {\"clientCertificateData\": \"");
	for (size_t i = 0; i < pair->certificate_pem.len; i++) {
		char c = pair->certificate_pem.ptr[i];

		bt_buf_printf(&script, c == '\n' ? "\\n" : "%c", c);
	}
	bt_buf_text(&script, "\", \"clientKeyData\": \"");
	for (size_t i = 0; i < pair->key_pem.len; i++) {
		char c = pair->key_pem.ptr[i];

		bt_buf_printf(&script, c == '\n' ? "\\n" : "%c", c);
	}
	bt_buf_text(&script, "\"}}\nEND\n");
	write_file("plugin", script.ptr, script.len);
	bt_buf_fini(&script);
}

static struct bt_client_config_counts counts_of(const struct way *way)
{
	struct bt_client_config_counts counts = {.expires_s = INT64_MAX};

	bt_client_config_count(way->access, &counts);
	return counts;
}

static void a_plugin_may_give_a_client_certificate(void **state)
{
	struct way way;

	(void)state;
	write_certifier(&client_pair);
	start_trusting(&way, &authority, "", EXEC("", ""));
	expect_answer(&way, 200, "first||");
	close_way(&way);
	remove_file("plugin");
}

/* The tests' certificates are an hour old, and expire in a day. */
static void runs_of_plugins_and_the_age_of_their_certificates_are_counted(void **state)
{
	struct bt_clock wall = bt_clock_real();
	struct way way;

	(void)state;
	write_certifier(&client_pair);
	start_trusting(&way, &authority, "", EXEC("", ""));
	assert_true(counts_of(&way).expires_s == INT64_MAX);
	expect_answer(&way, 200, "first||");
	struct bt_client_config_counts counts = counts_of(&way);
	int64_t left_s = counts.expires_s - bt_clock_now_ns(&wall) / SECOND;

	assert_int_equal(counts.exits[0], 1);
	assert_in_range(left_s, 86000, 86401);
	assert_true(counts.age_sum_s == 0);
	write_certifier(&other_client);
	bt_store_release(&first_is_refused, true);
	expect_answer(&way, 200, "second|");
	bt_store_release(&first_is_refused, false);
	counts = counts_of(&way);
	assert_int_equal(counts.exits[0], 2);
	assert_int_equal(counts.ages[3], 1); /* from one to four hours */
	assert_true(counts.age_sum_s >= 3600 && counts.age_sum_s < 4000);
	close_way(&way);
	remove_file("plugin");
}

static void plugins_that_fail_are_counted_by_how(void **state)
{
	static const char *const scripts[] = {
		"#!/bin/sh\nexit 3\n", "#!/bin/sh\nkill -9 $$\n", "#!/bin/sh\necho nonsense\n", NULL};
	struct bt_client_config_counts sum = {.expires_s = INT64_MAX};
	struct way way;

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (scripts[i]) {
			replace_text("plugin", scripts[i]);
		} else {
			remove_file("plugin");
		}
		start_trusting(&way, &authority, "", EXEC("", ""));
		assert_int_equal(call(&way), BT_HTTP_UNSENT);
		bt_client_config_count(way.access, &sum);
		close_way(&way);
	}
	assert_int_equal(sum.exits[3], 1);
	assert_int_equal(sum.killed_n, 1);
	assert_int_equal(sum.exits[0], 1); /* regardless of its output */
	assert_int_equal(sum.missing_n, 1);
	assert_int_equal(sum.failed_n, 0);
	assert_true(sum.expires_s == INT64_MAX);
}

static void looking_at_the_authority_s_file_is_counted(void **state)
{
	struct way way;

	(void)state;
	replace_text("token", "old\n"); /* rejected, so that files are checked at once */
	write_file("ca", authority.certificate_pem.ptr, authority.certificate_pem.len);
	start_way(&way, ", \"certificate-authority\": \"ca\"", "\"tokenFile\": \"token\"");
	expect_answer(&way, 401, "Bearer old");
	assert_int_equal(counts_of(&way).reloads[BT_RELOAD_UNCHANGED], 1);
	replace_text("ca", "");
	expect_answer(&way, 401, "Bearer old");
	assert_int_equal(counts_of(&way).reloads[BT_RELOAD_EMPTY], 1);
	remove_file("ca");
	expect_answer(&way, 401, "Bearer old");
	assert_int_equal(counts_of(&way).reloads[BT_RELOAD_UNREAD], 1);
	struct bt_buf both = {0};

	bt_buf_str(&both, bt_buf_view(&authority.certificate_pem));
	bt_buf_str(&both, bt_buf_view(&other_authority.certificate_pem));
	write_file("ca", both.ptr, both.len);
	expect_answer(&way, 401, "Bearer old");
	assert_int_equal(counts_of(&way).reloads[BT_RELOAD_UPDATED], 1);
	close_way(&way);
	remove_file("ca");
	remove_file("token");
	bt_buf_fini(&both);
}

static void a_server_that_no_url_names_is_refused(void **state)
{
	static const char *const cases[][2] = {{"https://exa mple:1", "it has a character that no URL has"},
		{"https://10.0.0.1:99999", "its port must be a number from 1 to 65535"},
		{"https://10.0.0.1:x", "its port must be"}, {"10.0.0.1:0", "its port must be"},
		{"https://", "it names no host"}, {"https://:6443", "it names no host"},
		{"ftp://10.0.0.1", "it must begin with https://"}};
	static const char *const good[] = {"https://10.0.0.1", "https://[fd00::1]:6443/path",
		"https://[fd00::1]", "localhost:8080", "https://a.b:1/x:y"};
	struct way way;

	(void)state;
	start_server(&way, true);
	write_kubeconfig(&way, "https", "", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_null(bt_client_config_create(
			&(struct bt_client_config_options){
				.kubeconfig = path_of("config"), .master = cases[i][0]},
			&way.error));
		if (!strstr(way.error.ptr, cases[i][1])) {
			fail_msg("%s: %s", cases[i][0], way.error.ptr);
		}
		bt_buf_clear(&way.error);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct bt_client_config *access = bt_client_config_create(
			&(struct bt_client_config_options){
				.kubeconfig = path_of("config"), .master = good[i]},
			&way.error);

		assert_non_null(access);
		bt_client_config_destroy(access);
	}
	close_way(&way);
}

static void a_ca_that_becomes_garbage_is_not_taken(void **state)
{
	struct way way;

	(void)state;
	replace_text("token", "old\n"); /* rejected, so that files are checked at once */
	write_file("ca", authority.certificate_pem.ptr, authority.certificate_pem.len);
	start_way(&way, ", \"certificate-authority\": \"ca\"", "\"tokenFile\": \"token\"");
	expect_answer(&way, 401, "Bearer old");
	replace_text("ca", "garbage");
	expect_answer(&way, 401, "Bearer old");
	assert_int_equal(counts_of(&way).reloads[BT_RELOAD_UNPARSED], 1);
	replace_text("token", "new\n");
	expect_answer(&way, 200, "Bearer new"); /* on its own connection */
	close_way(&way);
	remove_file("ca");
	remove_file("token");
}

static void a_plugin_that_fails_leaves_calls_unsent(void **state)
{
	struct way way;

	(void)state;
	replace_text("plugin", "#!/bin/sh\necho s3cret\nexit 3\n");
	start_trusting(&way, &authority, "", EXEC("", ""));
	assert_int_equal(call(&way), BT_HTTP_UNSENT);
	assert_non_null(strstr(way.error.ptr, "/plugin: it failed with exit code 3"));
	assert_null(strstr(way.error.ptr, "s3cret"));
	assert_int_equal(server_connection_n(way.server), 0);
	close_way(&way);
	remove_file("plugin");
}

static void a_client_ends_while_a_plugin_runs(void **state)
{
	struct way way;

	(void)state;
	replace_text("plugin", "#!/bin/sh\nsleep 1000\n");
	start_trusting(&way, &authority, "", EXEC("", ""));
	bt_http_send(way.http, &(struct bt_http_call){.path = bt_str("/x")});
	struct bt_http_call limited = {.path = bt_str("/y"), .timeout_ns = SECOND / 50};

	assert_int_equal(
		bt_http_fetch(way.http, &limited, &way.head, &way.answer, &way.error), BT_HTTP_UNSENT);
	assert_non_null(strstr(way.error.ptr, "no credentials were received in time"));
	close_way(&way); /* the plugin is killed */
	remove_file("plugin");
}

static void a_plugins_output_is_validated(void **state)
{
	static const struct {
		const char *script, *error;
	} cases[] = {
		{"#!/bin/sh\necho s3cret\n", "its output is no ExecCredential in JSON or YAML"},
		{"#!/bin/sh\necho '{}'\n", "its output is no ExecCredential"},
		{"#!/bin/sh\n", "its output is no ExecCredential in JSON or YAML"},
		{"#!/bin/sh\necho '{\"kind\": \"ExecCredential\", \"apiVersion\": "
		 "\"client.authentication.k8s.io/v1beta1\"}'\n",
			"it must print the version that the kubeconfig names, "
			"client.authentication.k8s.io/v1"},
		{"#!/bin/sh\necho '{\"kind\": \"ExecCredential\", \"apiVersion\": "
		 "\"client.authentication.k8s.io/v1\"}'\n",
			"its ExecCredential has no status"},
		{SAYS(""), "neither a token nor a client certificate"},
		{SAYS("\"clientKeyData\": \"s3cret\""), "must come together"},
		{SAYS("\"token\": \"s3cret\", \"expirationTimestamp\": \"soon\""),
			"expirationTimestamp is no time"},
		{SAYS("\"token\": \"s3cret\"") "echo '{}'\n",
			"it prints something behind its ExecCredential"},
		{SAYS("\"token\": \"s3cret\"") "echo rubbish\n",
			"it prints something behind its ExecCredential"},
		{"#!/bin/sh\nyes s3cret\n", "it prints more than 1 MiB"},
		{"#!/bin/sh\nkill -9 $$\n", "it was killed by signal 9"},
		{"#!/bin/sh\nsleep 1000\n", "it did not end in time"},
		{"#!/bin/sh\nexec >&-\nsleep 1000\n", "it did not end in time"},
	};
	struct bt_exec_credential credential = {0};
	struct bt_buf error = {0};
	char command[256];
	struct bt_client_config_plan plan = {.exec = {.command = {command, strlen(path_of("plugin"))},
						     .api_version = bt_str("client.authentication.k8s.io/v1"),
						     .interactive_mode = bt_str("Never")}};

	(void)state;
	snprintf(command, sizeof(command), "%s", path_of("plugin"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool hangs = strstr(cases[i].error, "in time") != NULL;

		replace_text("plugin", cases[i].script);
		bt_buf_clear(&error);
		const struct bt_exec_call call = {.plan = &plan,
			.server = "https://x",
			.limit_ns = hangs ? SECOND / 20 : 60 * SECOND,
			.stop = -1};

		if (bt_exec_run(&call, &credential, &error) || !strstr(error.ptr, cases[i].error) ||
			strstr(error.ptr, "s3cret")) {
			fail_msg("case %zu: %s", i, error.len ? error.ptr : "no error");
		}
	}
	remove_file("plugin");
	bt_buf_clear(&error);
	plan.exec.install_hint = bt_str("get it from a friend");
	const struct bt_exec_call missing = {
		.plan = &plan, .server = "https://x", .limit_ns = SECOND, .stop = -1};

	assert_false(bt_exec_run(&missing, &credential, &error));
	assert_non_null(strstr(error.ptr, "No such file or directory; get it from a friend"));
	bt_buf_fini(&error);
}

/* As client-go's decoder: the first document of YAML. */
static void a_plugin_may_answer_in_yaml(void **state)
{
	struct bt_exec_credential credential = {0};
	struct bt_buf error = {0};
	char command[256];
	struct bt_client_config_plan plan = {.exec = {.command = {command, strlen(path_of("plugin"))},
						     .api_version = bt_str("client.authentication.k8s.io/v1"),
						     .interactive_mode = bt_str("Never")}};
	const struct bt_exec_call call = {
		.plan = &plan, .server = "https://x", .limit_ns = 60 * SECOND, .stop = -1};

	(void)state;
	snprintf(command, sizeof(command), "%s", path_of("plugin"));
	replace_text("plugin",
		"#!/bin/sh\ncat <<E\n# from the vault\napiVersion: client.authentication.k8s.io/v1\n"
		"kind: ExecCredential\nstatus:\n  token: s3cret\n---\nkind: Pod\nE\n");
	if (!bt_exec_run(&call, &credential, &error)) {
		fail_msg("%s", error.ptr);
	}
	assert_memory_equal(credential.token.ptr, "s3cret", sizeof("s3cret") - 1);
	bt_exec_credential_fini(&credential);
	replace_text("plugin", "#!/bin/sh\nprintf 'kind: ExecCredential\\nstatus: [\\n'\n");
	assert_false(bt_exec_run(&call, &credential, &error));
	assert_non_null(strstr(error.ptr, "no ExecCredential in JSON or YAML"));
	remove_file("plugin");
	bt_buf_fini(&error);
}

/* ---- malicious plugins ---- */

/* Runs a script as a plugin, with standard error redirected to a file. Returns: its size in bytes. */
static size_t run_script(const char *script, int64_t limit_ns, bool good, const char *words)
{
	struct bt_exec_credential credential = {0};
	struct bt_buf error = {0};
	char command[256];
	struct bt_client_config_plan plan = {.exec = {.command = {command, strlen(path_of("plugin"))},
						     .api_version = bt_str("client.authentication.k8s.io/v1"),
						     .interactive_mode = bt_str("Never")}};
	int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int file = open(path_of("said"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat about;

	snprintf(command, sizeof(command), "%s", path_of("plugin"));
	replace_text("plugin", script);
	dup2(file, STDERR_FILENO);
	bool ran = bt_exec_run(
		&(struct bt_exec_call){
			.plan = &plan, .server = "https://x", .limit_ns = limit_ns, .stop = -1},
		&credential, &error);

	dup2(own, STDERR_FILENO);
	close(own);
	fstat(file, &about);
	close(file);
	remove_file("said");
	remove_file("plugin");
	if (ran != good || (words && !strstr(error.ptr, words))) {
		fail_msg("%s", error.len ? error.ptr : "no error");
	}
	bt_exec_credential_fini(&credential);
	bt_buf_fini(&error);
	return (size_t)about.st_size;
}

static void a_plugin_may_fill_no_log(void **state)
{
	static const char endless[] = "#!/bin/sh\nyes nonsense >&2\n",
			  some[] = "#!/bin/sh\necho sorry >&2\nexit 1\n";

	(void)state;
	size_t n = run_script(endless, SECOND / 2, false, "it did not end in time");

	assert_in_range(n, 64 << 10, 65 << 10);
	assert_int_equal(
		run_script(some, 60 * SECOND, false, "it failed with exit code 1"), strlen("sorry\n"));
}

static void a_plugins_leftover_processes_do_not_block_for_long(void **state)
{
	static const char holds_output[] = "#!/bin/sh\nsleep 20 &\n";
	static const char holds_errors[] = SAYS("\"token\": \"t\"") "sleep 20 >&- &\n";
	static const char holds_both[] = SAYS("\"token\": \"t\"") "sleep 20 &\n";

	(void)state;
	run_script(holds_output, 60 * SECOND, false, "its output is no ExecCredential");
	run_script(holds_errors, 60 * SECOND, true, NULL);
	run_script(holds_both, 60 * SECOND, true, NULL);
}

/* ---- precedence ---- */

static char *server_of(const struct bt_client_config_options *options, struct bt_buf *error)
{
	struct bt_client_config *access = bt_client_config_create(options, error);
	char *server =
		access ? bt_mem_copy(bt_client_config_server(access), strlen(bt_client_config_server(access)))
		       : NULL;

	bt_client_config_destroy(access);
	return server;
}

static void expect_server(const struct bt_client_config_options *options, const char *wanted)
{
	struct bt_buf error = {0};
	char *server = server_of(options, &error);

	if (!server || strcmp(server, wanted) != 0) {
		fail_msg("%s, not %s: %s", server, wanted, error.len ? error.ptr : "");
	}
	bt_mem_free(server);
	bt_buf_fini(&error);
}

#define CONFIG(server)                                                                                       \
	"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": \"c\", "   \
	"\"user\": \"u\"}}], \"users\": [{\"name\": \"u\", \"user\": {\"token\": \"t\"}}], "                 \
	"\"clusters\": [{\"name\": \"c\", \"cluster\": {\"server\": \"" server "\"}}]}"

static void kubeconfig_in_the_environment_counts_outside_a_pod_alone(void **state)
{
	struct bt_buf error = {0};
	char list[600];

	(void)state;
	replace_text("named", CONFIG("https://named:1"));
	replace_text("other", CONFIG("https://other:1"));
	snprintf(list, sizeof(list), "%s:%s:%s", path_of("missing"), path_of("other"), path_of("named"));
	setenv("KUBECONFIG", list, 1);
	expect_server(&(struct bt_client_config_options){.kubeconfig = path_of("named")}, "https://named:1");
	expect_server(&(struct bt_client_config_options){.kubeconfig = NULL}, "https://other:1");
	expect_server(&(struct bt_client_config_options){.master = "https://master:1"}, "https://master:1");
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	assert_null(server_of(&(struct bt_client_config_options){.kubeconfig = NULL}, &error));
	assert_non_null(strstr(error.ptr, "/var/run/secrets/kubernetes.io/serviceaccount"));
	expect_server(&(struct bt_client_config_options){.kubeconfig = path_of("named")}, "https://named:1");
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBERNETES_SERVICE_PORT");
	unsetenv("KUBECONFIG");
	remove_file("named");
	remove_file("other");
	bt_buf_fini(&error);
}

/* The user of $KUBECONFIG is not used for --master's server. */
static void a_master_alone_gets_no_credentials(void **state)
{
	struct bt_identity *identity = NULL;
	struct bt_buf error = {0};

	(void)state;
	replace_text("named", CONFIG("https://named:1"));
	setenv("KUBECONFIG", path_of("named"), 1);
	struct bt_client_config *access = bt_client_config_create(
		&(struct bt_client_config_options){.master = "https://master:1"}, &error);

	assert_non_null(access);
	assert_int_equal(
		bt_client_config_identity(access, 0, NULL, NULL, &identity, &error), BT_CLIENT_CONFIG_READY);
	assert_int_equal(identity->header_n, 0);
	bt_identity_release(identity);
	bt_client_config_destroy(access);
	unsetenv("KUBECONFIG");
	remove_file("named");
	bt_buf_fini(&error);
}

/* ---- in a cluster ---- */

static void a_service_account_is_a_folder(void **state)
{
	struct bt_client_config_plan plan;
	struct bt_buf error = {0};

	(void)state;
	unsetenv("KUBERNETES_SERVICE_HOST");
	assert_false(bt_in_cluster_plan(folder, &plan, &error));
	assert_non_null(strstr(error.ptr, "KUBERNETES_SERVICE_HOST"));
	setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	assert_true(bt_in_cluster_plan(folder, &plan, &error));
	assert_true(bt_str_is(plan.server, "https://[fd00::1]:443"));
	assert_string_equal(plan.token_file, path_of("token"));
	assert_string_equal(plan.authority_file, path_of("ca.crt"));
	bt_client_config_plan_fini(&plan);
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBERNETES_SERVICE_PORT");
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_named_authority_is_trusted),
		cmocka_unit_test(an_unverified_server_is_reported),
		cmocka_unit_test(the_name_in_the_certificate_must_fit),
		cmocka_unit_test(credentials_are_shown),
		cmocka_unit_test(nothing_secret_is_shown_without_tls),
		cmocka_unit_test(a_token_that_was_refused_is_read_again),
		cmocka_unit_test(a_certificate_that_changes_is_shown_on_a_new_connection),
		cmocka_unit_test(a_certificate_waits_for_its_key),
		cmocka_unit_test(a_session_is_never_that_of_another_certificate),
		cmocka_unit_test(missing_files_are_named),
		cmocka_unit_test(files_that_tls_cannot_use_are_reported_at_once),
		cmocka_unit_test(a_ca_that_becomes_garbage_is_not_taken),
		cmocka_unit_test(a_server_that_no_url_names_is_refused),
		cmocka_unit_test(a_credential_plugin_runs_once),
		cmocka_unit_test(a_plugin_gets_the_authority_of_a_file),
		cmocka_unit_test(a_credential_plugin_runs_again_when_its_token_is_refused),
		cmocka_unit_test(a_plugin_may_give_a_client_certificate),
		cmocka_unit_test(runs_of_plugins_and_the_age_of_their_certificates_are_counted),
		cmocka_unit_test(plugins_that_fail_are_counted_by_how),
		cmocka_unit_test(looking_at_the_authority_s_file_is_counted),
		cmocka_unit_test(a_plugin_that_fails_leaves_calls_unsent),
		cmocka_unit_test(a_client_ends_while_a_plugin_runs),
		cmocka_unit_test(a_plugins_output_is_validated),
		cmocka_unit_test(a_plugin_may_answer_in_yaml),
		cmocka_unit_test(a_plugin_may_fill_no_log),
		cmocka_unit_test(a_plugins_leftover_processes_do_not_block_for_long),
		cmocka_unit_test(kubeconfig_in_the_environment_counts_outside_a_pod_alone),
		cmocka_unit_test(a_master_alone_gets_no_credentials),
		cmocka_unit_test(a_service_account_is_a_folder),
	};

	int failed = cmocka_run_group_tests_name("HTTP/1.1", tests, make_world, end_world);

	over_h2 = true;
	return failed + cmocka_run_group_tests_name("HTTP/2", tests, make_world, end_world);
}
