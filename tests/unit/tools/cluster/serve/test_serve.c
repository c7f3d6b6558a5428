/* SPDX-License-Identifier: Apache-2.0
 * The server over TLS, called by libcurl: given, generated and changed certificates; client certificates;
 * requests that are too large or invalid.
 */
#include <dirent.h>
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
#include <curl/curl.h>

#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "identity.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/certificate.h"
#include "tools/cluster/serve/serve.h"

/* A folder, a server, and its last response. */
struct serve_test {
	char folder[64], certificate[128], key[128], ca[128];
	struct bt_serve_options options;
	struct bt_str always[1];
	struct bt_config config;
	struct bt_serve *serve;
	struct bt_buf error, body;
	long status;
	char served[256]; /* the subject of the certificate */
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int setup(void **state)
{
	struct serve_test *test = bt_mem_zalloc(1, sizeof(*test));

	strcpy(test->folder, "/tmp/berth-serve-XXXXXX");
	assert_non_null(mkdtemp(test->folder));
	snprintf(test->certificate, sizeof(test->certificate), "%s/tls.crt", test->folder);
	snprintf(test->key, sizeof(test->key), "%s/tls.key", test->folder);
	snprintf(test->ca, sizeof(test->ca), "%s/ca.crt", test->folder);
	bt_config_init_default(&test->config, NULL);
	test->always[0] = bt_str("/*");
	test->options = (struct bt_serve_options){
		.settings = {.bind_address = "127.0.0.1", .always_allow = {test->always, 1, true}},
		.sources = {.config = &test->config, .version = "1"},
		.any_port = true,
		.look_ns = BT_FOREVER};
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;
	char path[160];

	bt_serve_destroy(test->serve);
	unlink(test->certificate);
	unlink(test->key);
	unlink(test->ca);
	snprintf(path, sizeof(path), "%s/kube-scheduler.crt", test->folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/kube-scheduler.key", test->folder);
	unlink(path);
	rmdir(test->folder);
	bt_config_fini(&test->config);
	bt_buf_fini(&test->error);
	bt_buf_fini(&test->body);
	bt_mem_free(test);
	return 0;
}

static void begin(struct serve_test *test)
{
	test->serve = bt_serve_create(&test->options, &test->error);
	if (!test->serve) {
		fail_msg("%s", test->error.ptr);
	}
}

static size_t take(char *bytes, size_t size, size_t n, void *context)
{
	bt_buf_add(context, bytes, size * n);
	return size * n;
}

/* The subject of the first certificate that was presented. */
static void note_subject(CURL *curl, struct serve_test *test)
{
	struct curl_certinfo *info = NULL;

	test->served[0] = 0;
	if (curl_easy_getinfo(curl, CURLINFO_CERTINFO, &info) == CURLE_OK && info && info->num_of_certs > 0) {
		for (struct curl_slist *one = info->certinfo[0]; one; one = one->next) {
			if (strncmp(one->data, "Subject:", 8) == 0) {
				snprintf(test->served, sizeof(test->served), "%s", one->data);
			}
		}
	}
}

static CURL *client(struct serve_test *test, const char *path)
{
	CURL *curl = curl_easy_init();
	char url[256];

	snprintf(url, sizeof(url), "https://127.0.0.1:%u%s", bt_serve_port(test->serve), path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	curl_easy_setopt(curl, CURLOPT_CERTINFO, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &test->body);
	return curl;
}

static CURLcode perform(struct serve_test *test, CURL *curl)
{
	bt_buf_clear(&test->body);
	bt_buf_text(&test->body, "");
	CURLcode code = curl_easy_perform(curl);

	test->status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &test->status);
	note_subject(curl, test);
	return code;
}

static void get(struct serve_test *test, const char *path)
{
	CURL *curl = client(test, path);

	assert_int_equal(perform(test, curl), CURLE_OK);
	curl_easy_cleanup(curl);
}

static void without_a_certificate_one_is_made(void **state)
{
	struct serve_test *test = *state;

	begin(test);
	get(test, "/healthz");
	assert_int_equal(test->status, 200);
	assert_string_equal(test->body.ptr, "ok");
	assert_non_null(strstr(test->served, "CN = localhost"));
	assert_false(bt_serve_reload(test->serve));
}

static void a_made_certificate_is_kept_in_its_folder(void **state)
{
	struct serve_test *test = *state;
	struct stat about;
	char path[160], first[sizeof(test->served)];

	test->options.settings.cert_dir = test->folder;
	begin(test);
	get(test, "/healthz");
	strcpy(first, test->served);
	snprintf(path, sizeof(path), "%s/kube-scheduler.key", test->folder);
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	ino_t inode = about.st_ino;

	bt_serve_destroy(test->serve);
	begin(test);
	assert_int_equal(stat(path, &about), 0);
	assert_true(about.st_ino == inode);
}

/* A user with write access to the folder, or links in it, can neither read the key nor make the
 * server overwrite another file. */
static void links_in_the_folder_lead_nowhere(void **state)
{
	static const char *const planted[] = {"kube-scheduler.key", "kube-scheduler.crt",
		"kube-scheduler.key.new", "kube-scheduler.crt.new"};
	struct serve_test *test = *state;
	struct bt_buf text = {0};
	struct stat about;
	char path[160], victim[160];

	snprintf(victim, sizeof(victim), "%s/victim", test->folder);
	write_file(victim, "precious");
	for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
		snprintf(path, sizeof(path), "%s/%s", test->folder, planted[i]);
		assert_int_equal(symlink(victim, path), 0);
	}
	test->options.settings.cert_dir = test->folder;
	begin(test);
	assert_int_equal(bt_file_read(victim, &text, &test->error), BT_OK);
	assert_string_equal(text.ptr, "precious");
	snprintf(path, sizeof(path), "%s/%s", test->folder, planted[0]);
	assert_int_equal(lstat(path, &about), 0);
	assert_true(S_ISREG(about.st_mode));
	assert_int_equal(about.st_mode & 0777, 0600);
	snprintf(path, sizeof(path), "%s/%s", test->folder, planted[1]);
	assert_int_equal(lstat(path, &about), 0);
	assert_true(S_ISREG(about.st_mode));
	for (size_t i = 2; i < sizeof(planted) / sizeof(*planted); i++) {
		snprintf(path, sizeof(path), "%s/%s", test->folder, planted[i]);
		assert_int_equal(unlink(path), 0);
	}
	unlink(victim);
	bt_buf_fini(&text);
}

static void a_pipe_in_the_folder_is_not_waited_for(void **state)
{
	struct serve_test *test = *state;
	struct stat about;
	char path[160];

	snprintf(path, sizeof(path), "%s/kube-scheduler.crt", test->folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	test->options.settings.cert_dir = test->folder;
	begin(test);
	assert_int_equal(lstat(path, &about), 0);
	assert_true(S_ISREG(about.st_mode));
}

/* The number of files in a folder. */
static int count_files(const char *folder)
{
	DIR *open = opendir(folder);
	int n = 0;

	assert_non_null(open);
	for (const struct dirent *one; (one = readdir(open));) {
		n += one->d_name[0] != '.' || one->d_name[1] == 'k';
	}
	closedir(open);
	return n;
}

static void a_folder_that_cannot_be_trusted_is_not_written_to(void **state)
{
	struct serve_test *test = *state;
	char path[160];

	test->options.settings.cert_dir = test->certificate;
	write_file(test->certificate, "a file");
	bt_buf_clear(&test->error);
	assert_null(bt_serve_create(&test->options, &test->error));
	assert_non_null(strstr(test->error.ptr, "Not a directory; see --cert-dir"));
	unlink(test->certificate);
	test->options.settings.cert_dir = test->folder;
	snprintf(path, sizeof(path), "%s/kube-scheduler.key", test->folder);
	assert_int_equal(mkdir(path, 0700), 0);
	bt_buf_clear(&test->error);
	assert_null(bt_serve_create(&test->options, &test->error));
	assert_non_null(strstr(test->error.ptr, "kube-scheduler.key: Is a directory; see --cert-dir"));
	assert_int_equal(count_files(test->folder), 1); /* no partial file is left */
	assert_int_equal(rmdir(path), 0);
	if (geteuid() != 0) {
		return; /* only root can give a folder away */
	}
	assert_int_equal(chown(test->folder, 65534, 65534), 0);
	bt_buf_clear(&test->error);
	assert_null(bt_serve_create(&test->options, &test->error));
	assert_non_null(strstr(test->error.ptr, "belongs to user 65534"));
	assert_int_equal(chown(test->folder, 0, 0), 0);
}

/* A certificate in another user's file would be served with a key known to that user. */
static void a_strangers_certificate_in_the_folder_is_replaced(void **state)
{
	struct serve_test *test = *state;
	struct identity ca;
	char path[160];

	if (geteuid() != 0) {
		skip(); /* only root can give a file away */
	}
	identity_make(&ca, NULL, "stranger", NULL, 3600);
	test->options.settings.cert_dir = test->folder;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/kube-scheduler.%s", test->folder, i ? "key" : "crt");
		write_file(path, i ? ca.key_pem : ca.pem);
		assert_int_equal(chown(path, 65534, 65534), 0);
	}
	begin(test);
	get(test, "/healthz");
	assert_non_null(strstr(test->served, "CN = localhost"));
	identity_drop(&ca);
}

static void a_certificate_that_changes_is_served_from_then_on(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, one, two;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&one, &ca, "one", NULL, 3600);
	identity_make(&two, &ca, "two", NULL, 3600);
	write_file(test->certificate, one.pem);
	write_file(test->key, one.key_pem);
	test->options.settings.cert_file = test->certificate;
	test->options.settings.key_file = test->key;
	begin(test);
	uint16_t port = bt_serve_port(test->serve);
	CURL *lasting = client(test, "/healthz");

	assert_int_equal(perform(test, lasting), CURLE_OK);
	assert_non_null(strstr(test->served, "CN = one"));
	assert_false(bt_serve_reload(test->serve));
	write_file(test->certificate, two.pem); /* half-way: still the old key */
	assert_false(bt_serve_reload(test->serve));
	get(test, "/healthz");
	assert_non_null(strstr(test->served, "CN = one"));
	write_file(test->key, two.key_pem);
	assert_true(bt_serve_reload(test->serve));
	get(test, "/healthz");
	assert_int_equal(test->status, 200);
	assert_non_null(strstr(test->served, "CN = two"));
	assert_int_equal(bt_serve_port(test->serve), port);
	assert_int_equal(perform(test, lasting), CURLE_OK); /* on its old connection */
	assert_int_equal(test->status, 200);
	curl_easy_cleanup(lasting);
	identity_drop(&ca);
	identity_drop(&one);
	identity_drop(&two);
}

static void a_client_is_known_by_its_certificate(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, jane, root;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&jane, &ca, "jane", "dev", 3600);
	identity_make(&root, &ca, "root", "system:masters", 3600);
	write_file(test->ca, ca.pem);
	test->options.settings.client_ca_file = test->ca;
	test->always[0] = bt_str("/healthz");
	begin(test);
	get(test, "/version");
	assert_int_equal(test->status, 403);
	assert_non_null(strstr(test->body.ptr, "\"message\": \"forbidden: User \\\"system:anonymous\\\" "
					       "cannot get path \\\"/version\\\"\""));
	assert_non_null(strstr(test->body.ptr, "\"kind\": \"Status\""));
	assert_non_null(strstr(test->body.ptr, "\"details\": {}"));
	for (int i = 0; i < 2; i++) {
		CURL *curl = client(test, "/version");

		write_file(test->certificate, i ? root.pem : jane.pem);
		write_file(test->key, i ? root.key_pem : jane.key_pem);
		curl_easy_setopt(curl, CURLOPT_SSLCERT, test->certificate);
		curl_easy_setopt(curl, CURLOPT_SSLKEY, test->key);
		assert_int_equal(perform(test, curl), CURLE_OK);
		assert_int_equal(test->status, i ? 200 : 403);
		assert_true(i || strstr(test->body.ptr, "User \\\"jane\\\" cannot get path"));
		curl_easy_cleanup(curl);
	}
	identity_drop(&ca);
	identity_drop(&jane);
	identity_drop(&root);
}

static void a_front_proxy_speaks_for_others(void **state)
{
	struct bt_str user = BT_STR("x-remote-user"), group = BT_STR("x-remote-group");
	struct serve_test *test = *state;
	struct identity ca, proxy;

	identity_make(&ca, NULL, "proxy-ca", NULL, 3600);
	identity_make(&proxy, &ca, "proxy", NULL, 3600);
	write_file(test->ca, ca.pem);
	write_file(test->certificate, proxy.pem);
	write_file(test->key, proxy.key_pem);
	test->options.settings.proxy_ca_file = test->ca;
	test->options.settings.proxy.username_headers = (struct bt_str_list){.items = &user, .n = 1};
	test->options.settings.proxy.group_headers = (struct bt_str_list){.items = &group, .n = 1};
	test->always[0] = bt_str("/healthz");
	begin(test);
	struct curl_slist *headers = curl_slist_append(NULL, "X-Remote-User: alice");

	for (int i = 0; i < 2; i++) {
		CURL *curl = client(test, "/version");

		curl_easy_setopt(curl, CURLOPT_SSLCERT, test->certificate);
		curl_easy_setopt(curl, CURLOPT_SSLKEY, test->key);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		assert_int_equal(perform(test, curl), CURLE_OK);
		assert_int_equal(test->status, i ? 200 : 403);
		assert_true(i || strstr(test->body.ptr, "User \\\"alice\\\" cannot get path"));
		curl_easy_cleanup(curl);
		headers = curl_slist_append(headers, "X-Remote-Group: system:masters");
	}
	/* The same headers have no effect without the certificate. */
	CURL *curl = client(test, "/version");

	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	assert_int_equal(perform(test, curl), CURLE_OK);
	assert_int_equal(test->status, 403);
	assert_non_null(strstr(test->body.ptr, "system:anonymous"));
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	identity_drop(&ca);
	identity_drop(&proxy);
}

/* Sends a request with a certificate, and a front proxy's headers. Returns: the status. */
static long get_with(struct serve_test *test, const struct identity *identity)
{
	CURL *curl = client(test, "/version");
	struct curl_slist *headers = curl_slist_append(NULL, "X-Remote-User: root");

	headers = curl_slist_append(headers, "X-Remote-Group: system:masters");
	write_file(test->certificate, identity->pem);
	write_file(test->key, identity->key_pem);
	curl_easy_setopt(curl, CURLOPT_SSLCERT, test->certificate);
	curl_easy_setopt(curl, CURLOPT_SSLKEY, test->key);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	assert_int_equal(perform(test, curl), CURLE_OK);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return test->status;
}

/* While a cluster's CA is rotated, the bundle has the old one and the new one, in any order; other text
 * may stand between them. */
static void each_authority_of_a_subject_is_tried(void **state)
{
	struct bt_str user = BT_STR("x-remote-user"), group = BT_STR("x-remote-group");
	struct serve_test *test = *state;
	struct identity ca[3], of[3];
	char bundle[3 * sizeof(ca->pem)];

	for (int i = 0; i < 3; i++) {
		identity_make(&ca[i], NULL, "ca", NULL, 3600);
		identity_make(&of[i], &ca[i], "root", "system:masters", 3600);
	}
	snprintf(bundle, sizeof(bundle),
		"%s# new\n-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n%s", ca[0].pem,
		ca[1].pem);
	write_file(test->ca, bundle);
	test->always[0] = bt_str("/healthz");
	test->options.settings.proxy.username_headers = (struct bt_str_list){.items = &user, .n = 1};
	test->options.settings.proxy.group_headers = (struct bt_str_list){.items = &group, .n = 1};
	for (int proxy = 0; proxy < 2; proxy++) {
		test->options.settings.client_ca_file = proxy ? NULL : test->ca;
		test->options.settings.proxy_ca_file = proxy ? test->ca : NULL;
		begin(test);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(get_with(test, &of[i]) == 200, i < 2);
		}
		bt_serve_destroy(test->serve);
		test->serve = NULL;
	}
	for (int i = 0; i < 3; i++) {
		identity_drop(&ca[i]);
		identity_drop(&of[i]);
	}
}

static void put_is_taken_where_it_means_something(void **state)
{
	static const char *const paths[] = {"/debug/flags/v", "/healthz"};
	struct serve_test *test = *state;
	struct curl_slist *headers = curl_slist_append(NULL, "Accept: text/html");

	begin(test);
	for (int i = 0; i < 2; i++) {
		CURL *curl = client(test, paths[i]);

		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "3");
		assert_int_equal(perform(test, curl), CURLE_OK);
		assert_int_equal(test->status, i ? 405 : 200);
		curl_easy_cleanup(curl);
	}
	assert_true(bt_log_enabled(3));
	bt_log_set_verbosity(0);
	CURL *curl = client(test, "/statusz");

	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	assert_int_equal(perform(test, curl), CURLE_OK);
	assert_int_equal(test->status, 406);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
}

static void odd_requests_are_answered_and_no_more(void **state)
{
	struct serve_test *test = *state;
	char *large = bt_mem_zalloc(1, 100001);

	begin(test);
	CURL *curl = client(test, "/healthz");

	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "body");
	assert_int_equal(perform(test, curl), CURLE_OK);
	assert_int_equal(test->status, 405);
	curl_easy_cleanup(curl);
	curl = client(test, "/healthz");
	curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	assert_int_equal(perform(test, curl), CURLE_OK);
	assert_int_equal(test->status, 200);
	assert_int_equal(test->body.len, 0);
	curl_easy_cleanup(curl);
	memset(large, 'x', 100000);
	memcpy(large, "X-Large: ", 9);
	struct curl_slist *headers = curl_slist_append(NULL, large);

	curl = client(test, "/healthz");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	perform(test, curl);
	assert_int_not_equal(test->status, 200);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	bt_mem_free(large);
	get(test, "/nonsense");
	assert_int_equal(test->status, 404);
	get(test, "/metrics");
	assert_int_equal(test->status, 200);
}

static void only_tls_1_3_is_served_when_configured(void **state)
{
	struct serve_test *test = *state;

	test->options.settings.tls13 = true;
	begin(test);
	CURL *curl = client(test, "/healthz");

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_MAX_TLSv1_2);
	assert_int_not_equal(perform(test, curl), CURLE_OK);
	curl_easy_cleanup(curl);
	get(test, "/healthz");
	assert_int_equal(test->status, 200);
}

static void cipher_suites_are_chosen_by_name(void **state)
{
	struct bt_str names[] = {BT_STR("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")};
	struct serve_test *test = *state;

	test->options.settings.cipher_suites = (struct bt_str_list){names, 1, true};
	begin(test);
	CURL *curl = client(test, "/healthz");

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_MAX_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, "ECDHE-ECDSA-AES128-GCM-SHA256");
	assert_int_not_equal(perform(test, curl), CURLE_OK);
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, "ECDHE-ECDSA-AES256-GCM-SHA384");
	assert_int_equal(perform(test, curl), CURLE_OK);
	curl_easy_cleanup(curl);
}

/* Returns: does the server accept TLS 1.2 with that suite (OpenSSL's name), and these curves? */
static bool speaks(struct serve_test *test, const char *suite, const char *curves)
{
	CURL *curl = client(test, "/healthz");

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_MAX_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, suite);
	curl_easy_setopt(curl, CURLOPT_SSL_EC_CURVES, curves);
	CURLcode code = perform(test, curl);

	curl_easy_cleanup(curl);
	assert_true(code == CURLE_OK || code == CURLE_SSL_CONNECT_ERROR || code == CURLE_SEND_ERROR ||
		    code == CURLE_RECV_ERROR);
	return code == CURLE_OK;
}

/* A certificate with a key that fits every suite and curve. */
static void give_rsa(struct serve_test *test)
{
	struct identity ca, one;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make_for(&one, EVP_RSA_gen(2048), &ca, "one", NULL, "DNS:localhost", 3600);
	write_file(test->certificate, one.pem);
	write_file(test->key, one.key_pem);
	test->options.settings.cert_file = test->certificate;
	test->options.settings.key_file = test->key;
	identity_drop(&ca);
	identity_drop(&one);
}

/* Source: crypto/tls, defaults.go: Go 1.26's defaults. */
static void suites_are_gos_without_a_choice(void **state)
{
	static const char *const served[] = {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
		"ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA"};
	static const char *const refused[] = {"AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA",
		"AES256-SHA", "DHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256",
		"ECDHE-RSA-AES256-SHA384", "AES128-CCM"};
	struct serve_test *test = *state;

	give_rsa(test);
	begin(test);
	for (size_t i = 0; i < sizeof(served) / sizeof(*served); i++) {
		assert_true(speaks(test, served[i], "P-256"));
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		if (speaks(test, refused[i], "P-256")) {
			fail_msg("%s is served", refused[i]);
		}
	}
}

static void insecure_suites_are_taken_and_not_served(void **state)
{
	struct bt_str names[] = {
		BT_STR("TLS_RSA_WITH_AES_128_CBC_SHA"), BT_STR("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256")};
	struct serve_test *test = *state;

	test->options.settings.cipher_suites = (struct bt_str_list){names, 2, true};
	begin(test);
	assert_true(speaks(test, "ECDHE-ECDSA-AES128-SHA256", "P-256"));
	assert_false(speaks(test, "ECDHE-ECDSA-AES128-GCM-SHA256", "P-256"));
	assert_false(speaks(test, "AES128-SHA", "P-256"));
	get(test, "/healthz");
	assert_int_equal(test->status, 200);
}

static void curves_are_chosen_by_gos_numbers(void **state)
{
	static const uint32_t chosen[] = {24, 4588};
	struct serve_test *test = *state;

	give_rsa(test);
	begin(test);
	assert_true(speaks(test, "ALL", "X25519"));
	assert_true(speaks(test, "ALL", "P-521"));
	assert_false(speaks(test, "ALL", "X448"));
	bt_serve_destroy(test->serve);
	test->options.settings.curves = chosen;
	test->options.settings.curve_n = 2;
	begin(test);
	assert_false(speaks(test, "ALL", "X25519:P-256:P-521"));
	assert_true(speaks(test, "ALL", "X25519:P-384"));
}

/* The common name of the certificate presented for a server name. */
static void assert_shown(struct serve_test *test, const char *host, const char *name)
{
	char url[128], to[128];
	CURL *curl = client(test, "/healthz");

	snprintf(url, sizeof(url), "https://%s:%u/healthz", host, bt_serve_port(test->serve));
	snprintf(to, sizeof(to), "%s:%u:127.0.0.1", host, bt_serve_port(test->serve));
	struct curl_slist *resolve = curl_slist_append(NULL, to);

	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve);
	assert_int_equal(perform(test, curl), CURLE_OK);
	if (!strstr(test->served, name)) {
		fail_msg("%s is shown %s, not %s", host, test->served, name);
	}
	curl_easy_cleanup(curl);
	curl_slist_free_all(resolve);
}

/* Source: BuildNamedCertificates, and Go's Config.getCertificate. */
static void certificates_are_chosen_by_name(void **state)
{
	static const char *const alternatives[] = {"DNS:own.example,DNS:first.example",
		"DNS:first.example,DNS:*.deep.example", "DNS:other.example", "DNS:unseen.example"};
	struct bt_str given[] = {BT_STR("first.example"), BT_STR("*.given.example"), BT_STR("127.0.0.1")};
	struct serve_test *test = *state;
	struct bt_sni_settings sni[3];
	struct identity ca, of[4];
	char names[4][16], paths[4][2][160];

	identity_make(&ca, NULL, "ca", NULL, 3600);
	for (int i = 0; i < 4; i++) {
		snprintf(names[i], sizeof(names[i]), "number-%d", i);
		identity_make_for(&of[i], EVP_EC_gen("P-256"), &ca, names[i], NULL, alternatives[i], 3600);
		snprintf(paths[i][0], sizeof(paths[i][0]), "%s/%d.crt", test->folder, i);
		snprintf(paths[i][1], sizeof(paths[i][1]), "%s/%d.key", test->folder, i);
		write_file(paths[i][0], of[i].pem);
		write_file(paths[i][1], of[i].key_pem);
		if (i) {
			sni[i - 1] =
				(struct bt_sni_settings){.cert_file = paths[i][0], .key_file = paths[i][1]};
		}
	}
	sni[1].names = (struct bt_str_list){.items = &given[0], .n = 2};
	sni[2].names = (struct bt_str_list){.items = &given[2], .n = 1};
	test->options.settings.cert_file = paths[0][0];
	test->options.settings.key_file = paths[0][1];
	test->options.settings.sni = sni;
	test->options.settings.sni_n = 3;
	begin(test);
	assert_shown(test, "own.example", names[0]);
	assert_shown(test, "nobody.example", names[0]);
	assert_shown(test, "first.example", names[2]); /* given, before the generated one */
	assert_shown(test, "a.deep.example", names[1]);
	assert_shown(test, "a.b.deep.example", names[0]);
	assert_shown(test, "number-1", names[1]);
	assert_shown(test, "x.GIVEN.example", names[2]);
	assert_shown(test, "unseen.example", names[3]); /* for another name, but valid for it */
	assert_shown(test, "127.0.0.1", names[3]);	/* no server name: the address counts */
	write_file(paths[1][0], of[3].pem);
	write_file(paths[1][1], of[3].key_pem);
	assert_true(bt_serve_reload(test->serve));
	assert_shown(test, "unseen.example", names[3]);
	for (int i = 0; i < 4; i++) {
		unlink(paths[i][0]);
		unlink(paths[i][1]);
		identity_drop(&of[i]);
	}
	identity_drop(&ca);
}

#define assert_refused(test, part)                                                                           \
	do {                                                                                                 \
		bt_buf_clear(&(test)->error);                                                                \
		assert_null(bt_serve_create(&(test)->options, &(test)->error));                              \
		assert_non_null(strstr((test)->error.ptr, (part)));                                          \
	} while (0)

static void invalid_serving_options_are_rejected(void **state)
{
	struct bt_str names[] = {BT_STR("TLS_NULL_WITH_NULL_NULL")};
	struct serve_test *test = *state;

	test->options.settings.bind_address = "nonsense";
	assert_refused(test, "'nonsense' is not an IP address");
	test->options.settings.bind_address = "127.0.0.1";
	test->options.settings.cipher_suites = (struct bt_str_list){names, 1, true};
	assert_refused(test, "TLS_NULL_WITH_NULL_NULL");
	test->options.settings.cipher_suites = (struct bt_str_list){0};
	test->options.settings.cert_file = test->certificate;
	test->options.settings.key_file = test->key;
	assert_refused(test, "No such file");
	write_file(test->certificate, "nonsense");
	write_file(test->key, "nonsense");
	assert_refused(test, "no certificate in PEM");
	test->options.settings.cert_file = test->options.settings.key_file = NULL;
	test->options.settings.client_ca_file = "/nonsense";
	assert_refused(test, "--client-ca-file: /nonsense: No such file");
	test->options.settings.client_ca_file = NULL;
	test->options.settings.proxy_ca_file = "/nonsense";
	test->options.settings.tolerate_lookup_failure = true;
	assert_refused(test, "--requestheader-client-ca-file: /nonsense: No such file");
	test->options.settings.proxy_ca_file = NULL;
	begin(test);
	struct bt_serve_options other = test->options;

	other.any_port = false;
	other.settings.port = bt_serve_port(test->serve);
	bt_buf_clear(&test->error);
	assert_null(bt_serve_create(&other, &test->error));
	assert_non_null(strstr(test->error.ptr, "Address already in use"));
}

static void ask_often(void *context)
{
	struct serve_test *test = context;
	struct bt_buf body = {0};

	for (int i = 0; i < 20; i++) {
		CURL *curl = client(test, i % 2 ? "/metrics" : "/readyz?verbose");
		long status = 0;

		bt_buf_clear(&body);
		curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
		assert_int_equal(curl_easy_perform(curl), CURLE_OK);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
		assert_int_equal(status, 200);
		curl_easy_cleanup(curl);
	}
	bt_buf_fini(&body);
}

static void several_clients_are_served_while_certificates_change(void **state)
{
	struct serve_test *test = *state;
	struct bt_thread *threads[3];
	struct identity ca, one;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	write_file(test->certificate, ca.pem);
	write_file(test->key, ca.key_pem);
	test->options.settings.cert_file = test->certificate;
	test->options.settings.key_file = test->key;
	begin(test);
	for (int i = 0; i < 3; i++) {
		const struct bt_thread_options options = {.name = "client"};

		assert_int_equal(bt_thread_start(&options, ask_often, test, &threads[i], NULL), BT_OK);
	}
	identity_make(&one, &ca, "one", NULL, 3600);
	write_file(test->key, one.key_pem);
	write_file(test->certificate, one.pem);
	assert_true(bt_serve_reload(test->serve));
	for (int i = 0; i < 3; i++) {
		bt_thread_join(&threads[i]);
	}
	get(test, "/healthz");
	assert_non_null(strstr(test->served, "CN = one"));
	identity_drop(&ca);
	identity_drop(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_certificate_one_is_made, setup, teardown),
		cmocka_unit_test_setup_teardown(a_made_certificate_is_kept_in_its_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(links_in_the_folder_lead_nowhere, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pipe_in_the_folder_is_not_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_folder_that_cannot_be_trusted_is_not_written_to, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_strangers_certificate_in_the_folder_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_certificate_that_changes_is_served_from_then_on, setup, teardown),
		cmocka_unit_test_setup_teardown(a_client_is_known_by_its_certificate, setup, teardown),
		cmocka_unit_test_setup_teardown(a_front_proxy_speaks_for_others, setup, teardown),
		cmocka_unit_test_setup_teardown(each_authority_of_a_subject_is_tried, setup, teardown),
		cmocka_unit_test_setup_teardown(put_is_taken_where_it_means_something, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_requests_are_answered_and_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(only_tls_1_3_is_served_when_configured, setup, teardown),
		cmocka_unit_test_setup_teardown(cipher_suites_are_chosen_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(suites_are_gos_without_a_choice, setup, teardown),
		cmocka_unit_test_setup_teardown(insecure_suites_are_taken_and_not_served, setup, teardown),
		cmocka_unit_test_setup_teardown(curves_are_chosen_by_gos_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(certificates_are_chosen_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(invalid_serving_options_are_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(
			several_clients_are_served_while_certificates_change, setup, teardown),
	};

	curl_global_init(CURL_GLOBAL_ALL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	curl_global_cleanup();
	return failed;
}
