/* SPDX-License-Identifier: Apache-2.0
 * The server over TLS, asked by libcurl: certificates given, made and changed; clients known by theirs;
 * requests that are too large or of another kind.
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

/* A folder, a server, and what it answered last. */
struct desk {
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
	struct desk *desk = bt_mem_zalloc(1, sizeof(*desk));

	strcpy(desk->folder, "/tmp/berth-serve-XXXXXX");
	assert_non_null(mkdtemp(desk->folder));
	snprintf(desk->certificate, sizeof(desk->certificate), "%s/tls.crt", desk->folder);
	snprintf(desk->key, sizeof(desk->key), "%s/tls.key", desk->folder);
	snprintf(desk->ca, sizeof(desk->ca), "%s/ca.crt", desk->folder);
	bt_config_init_default(&desk->config, NULL);
	desk->always[0] = bt_str("/*");
	desk->options = (struct bt_serve_options){
		.settings = {.bind_address = "127.0.0.1", .always_allow = {desk->always, 1, true}},
		.sources = {.config = &desk->config, .version = "1"},
		.any_port = true,
		.look_ns = BT_FOREVER};
	*state = desk;
	return 0;
}

static int teardown(void **state)
{
	struct desk *desk = *state;
	char path[160];

	bt_serve_destroy(desk->serve);
	unlink(desk->certificate);
	unlink(desk->key);
	unlink(desk->ca);
	snprintf(path, sizeof(path), "%s/kube-scheduler.crt", desk->folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/kube-scheduler.key", desk->folder);
	unlink(path);
	rmdir(desk->folder);
	bt_config_fini(&desk->config);
	bt_buf_fini(&desk->error);
	bt_buf_fini(&desk->body);
	bt_mem_free(desk);
	return 0;
}

static void begin(struct desk *desk)
{
	desk->serve = bt_serve_create(&desk->options, &desk->error);
	if (!desk->serve) {
		fail_msg("%s", desk->error.ptr);
	}
}

static size_t take(char *bytes, size_t size, size_t n, void *context)
{
	bt_buf_add(context, bytes, size * n);
	return size * n;
}

/* Of the certificates that were shown, the first one's subject. */
static void note_subject(CURL *curl, struct desk *desk)
{
	struct curl_certinfo *info = NULL;

	desk->served[0] = 0;
	if (curl_easy_getinfo(curl, CURLINFO_CERTINFO, &info) == CURLE_OK && info && info->num_of_certs > 0) {
		for (struct curl_slist *one = info->certinfo[0]; one; one = one->next) {
			if (strncmp(one->data, "Subject:", 8) == 0) {
				snprintf(desk->served, sizeof(desk->served), "%s", one->data);
			}
		}
	}
}

static CURL *client(struct desk *desk, const char *path)
{
	CURL *curl = curl_easy_init();
	char url[256];

	snprintf(url, sizeof(url), "https://127.0.0.1:%u%s", bt_serve_port(desk->serve), path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	curl_easy_setopt(curl, CURLOPT_CERTINFO, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &desk->body);
	return curl;
}

static CURLcode perform(struct desk *desk, CURL *curl)
{
	bt_buf_clear(&desk->body);
	bt_buf_text(&desk->body, "");
	CURLcode code = curl_easy_perform(curl);

	desk->status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &desk->status);
	note_subject(curl, desk);
	return code;
}

static void get(struct desk *desk, const char *path)
{
	CURL *curl = client(desk, path);

	assert_int_equal(perform(desk, curl), CURLE_OK);
	curl_easy_cleanup(curl);
}

static void without_a_certificate_one_is_made(void **state)
{
	struct desk *desk = *state;

	begin(desk);
	get(desk, "/healthz");
	assert_int_equal(desk->status, 200);
	assert_string_equal(desk->body.ptr, "ok");
	assert_non_null(strstr(desk->served, "CN = localhost"));
	assert_false(bt_serve_reload(desk->serve));
}

static void a_made_certificate_is_kept_in_its_folder(void **state)
{
	struct desk *desk = *state;
	struct stat about;
	char path[160], first[sizeof(desk->served)];

	desk->options.settings.cert_dir = desk->folder;
	begin(desk);
	get(desk, "/healthz");
	strcpy(first, desk->served);
	snprintf(path, sizeof(path), "%s/kube-scheduler.key", desk->folder);
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	ino_t inode = about.st_ino;

	bt_serve_destroy(desk->serve);
	begin(desk);
	assert_int_equal(stat(path, &about), 0);
	assert_true(about.st_ino == inode);
}

/* Whoever may write to the folder, or has planted links there, gets neither the key nor somebody's file
 * written over. */
static void links_in_the_folder_lead_nowhere(void **state)
{
	static const char *const planted[] = {"kube-scheduler.key", "kube-scheduler.crt",
		"kube-scheduler.key.new", "kube-scheduler.crt.new"};
	struct desk *desk = *state;
	struct bt_buf text = {0};
	struct stat about;
	char path[160], victim[160];

	snprintf(victim, sizeof(victim), "%s/victim", desk->folder);
	write_file(victim, "precious");
	for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
		snprintf(path, sizeof(path), "%s/%s", desk->folder, planted[i]);
		assert_int_equal(symlink(victim, path), 0);
	}
	desk->options.settings.cert_dir = desk->folder;
	begin(desk);
	assert_int_equal(bt_file_read(victim, &text, &desk->error), BT_OK);
	assert_string_equal(text.ptr, "precious");
	snprintf(path, sizeof(path), "%s/%s", desk->folder, planted[0]);
	assert_int_equal(lstat(path, &about), 0);
	assert_true(S_ISREG(about.st_mode));
	assert_int_equal(about.st_mode & 0777, 0600);
	snprintf(path, sizeof(path), "%s/%s", desk->folder, planted[1]);
	assert_int_equal(lstat(path, &about), 0);
	assert_true(S_ISREG(about.st_mode));
	for (size_t i = 2; i < sizeof(planted) / sizeof(*planted); i++) {
		snprintf(path, sizeof(path), "%s/%s", desk->folder, planted[i]);
		assert_int_equal(unlink(path), 0);
	}
	unlink(victim);
	bt_buf_fini(&text);
}

/* How many files are in a folder. */
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
	struct desk *desk = *state;
	char path[160];

	desk->options.settings.cert_dir = desk->certificate;
	write_file(desk->certificate, "a file");
	bt_buf_clear(&desk->error);
	assert_null(bt_serve_create(&desk->options, &desk->error));
	assert_non_null(strstr(desk->error.ptr, "Not a directory; see --cert-dir"));
	unlink(desk->certificate);
	desk->options.settings.cert_dir = desk->folder;
	snprintf(path, sizeof(path), "%s/kube-scheduler.key", desk->folder);
	assert_int_equal(mkdir(path, 0700), 0);
	bt_buf_clear(&desk->error);
	assert_null(bt_serve_create(&desk->options, &desk->error));
	assert_non_null(strstr(desk->error.ptr, "kube-scheduler.key: Is a directory; see --cert-dir"));
	assert_int_equal(count_files(desk->folder), 1); /* nothing half written is left */
	assert_int_equal(rmdir(path), 0);
	if (geteuid() != 0) {
		return; /* who is not root cannot give a folder away */
	}
	assert_int_equal(chown(desk->folder, 65534, 65534), 0);
	bt_buf_clear(&desk->error);
	assert_null(bt_serve_create(&desk->options, &desk->error));
	assert_non_null(strstr(desk->error.ptr, "belongs to user 65534"));
	assert_int_equal(chown(desk->folder, 0, 0), 0);
}

/* Somebody else's certificate would be served with a key that he has. */
static void a_strangers_certificate_in_the_folder_is_replaced(void **state)
{
	struct desk *desk = *state;
	struct identity ca;
	char path[160];

	if (geteuid() != 0) {
		skip(); /* who is not root cannot give a file away */
	}
	identity_make(&ca, NULL, "stranger", NULL, 3600);
	desk->options.settings.cert_dir = desk->folder;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/kube-scheduler.%s", desk->folder, i ? "key" : "crt");
		write_file(path, i ? ca.key_pem : ca.pem);
		assert_int_equal(chown(path, 65534, 65534), 0);
	}
	begin(desk);
	get(desk, "/healthz");
	assert_non_null(strstr(desk->served, "CN = localhost"));
	identity_drop(&ca);
}

static void a_certificate_that_changes_is_served_from_then_on(void **state)
{
	struct desk *desk = *state;
	struct identity ca, one, two;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&one, &ca, "one", NULL, 3600);
	identity_make(&two, &ca, "two", NULL, 3600);
	write_file(desk->certificate, one.pem);
	write_file(desk->key, one.key_pem);
	desk->options.settings.cert_file = desk->certificate;
	desk->options.settings.key_file = desk->key;
	begin(desk);
	uint16_t port = bt_serve_port(desk->serve);
	CURL *lasting = client(desk, "/healthz");

	assert_int_equal(perform(desk, lasting), CURLE_OK);
	assert_non_null(strstr(desk->served, "CN = one"));
	assert_false(bt_serve_reload(desk->serve));
	write_file(desk->certificate, two.pem); /* half way: the key is the old one's */
	assert_false(bt_serve_reload(desk->serve));
	get(desk, "/healthz");
	assert_non_null(strstr(desk->served, "CN = one"));
	write_file(desk->key, two.key_pem);
	assert_true(bt_serve_reload(desk->serve));
	get(desk, "/healthz");
	assert_int_equal(desk->status, 200);
	assert_non_null(strstr(desk->served, "CN = two"));
	assert_int_equal(bt_serve_port(desk->serve), port);
	assert_int_equal(perform(desk, lasting), CURLE_OK); /* on its old connection */
	assert_int_equal(desk->status, 200);
	curl_easy_cleanup(lasting);
	identity_drop(&ca);
	identity_drop(&one);
	identity_drop(&two);
}

static void a_client_is_known_by_its_certificate(void **state)
{
	struct desk *desk = *state;
	struct identity ca, jane, root;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&jane, &ca, "jane", "dev", 3600);
	identity_make(&root, &ca, "root", "system:masters", 3600);
	write_file(desk->ca, ca.pem);
	desk->options.settings.client_ca_file = desk->ca;
	desk->always[0] = bt_str("/healthz");
	begin(desk);
	get(desk, "/version");
	assert_int_equal(desk->status, 403);
	assert_non_null(strstr(desk->body.ptr, "\"message\": \"forbidden: User \\\"system:anonymous\\\" "
					       "cannot get path \\\"/version\\\"\""));
	assert_non_null(strstr(desk->body.ptr, "\"kind\": \"Status\""));
	assert_non_null(strstr(desk->body.ptr, "\"details\": {}"));
	for (int i = 0; i < 2; i++) {
		CURL *curl = client(desk, "/version");

		write_file(desk->certificate, i ? root.pem : jane.pem);
		write_file(desk->key, i ? root.key_pem : jane.key_pem);
		curl_easy_setopt(curl, CURLOPT_SSLCERT, desk->certificate);
		curl_easy_setopt(curl, CURLOPT_SSLKEY, desk->key);
		assert_int_equal(perform(desk, curl), CURLE_OK);
		assert_int_equal(desk->status, i ? 200 : 403);
		assert_true(i || strstr(desk->body.ptr, "User \\\"jane\\\" cannot get path"));
		curl_easy_cleanup(curl);
	}
	identity_drop(&ca);
	identity_drop(&jane);
	identity_drop(&root);
}

static void a_front_proxy_speaks_for_others(void **state)
{
	struct bt_str user = BT_STR("x-remote-user"), group = BT_STR("x-remote-group");
	struct desk *desk = *state;
	struct identity ca, proxy;

	identity_make(&ca, NULL, "proxy-ca", NULL, 3600);
	identity_make(&proxy, &ca, "proxy", NULL, 3600);
	write_file(desk->ca, ca.pem);
	write_file(desk->certificate, proxy.pem);
	write_file(desk->key, proxy.key_pem);
	desk->options.settings.proxy_ca_file = desk->ca;
	desk->options.settings.proxy.username_headers = (struct bt_str_list){.items = &user, .n = 1};
	desk->options.settings.proxy.group_headers = (struct bt_str_list){.items = &group, .n = 1};
	desk->always[0] = bt_str("/healthz");
	begin(desk);
	struct curl_slist *headers = curl_slist_append(NULL, "X-Remote-User: alice");

	for (int i = 0; i < 2; i++) {
		CURL *curl = client(desk, "/version");

		curl_easy_setopt(curl, CURLOPT_SSLCERT, desk->certificate);
		curl_easy_setopt(curl, CURLOPT_SSLKEY, desk->key);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		assert_int_equal(perform(desk, curl), CURLE_OK);
		assert_int_equal(desk->status, i ? 200 : 403);
		assert_true(i || strstr(desk->body.ptr, "User \\\"alice\\\" cannot get path"));
		curl_easy_cleanup(curl);
		headers = curl_slist_append(headers, "X-Remote-Group: system:masters");
	}
	/* Without the certificate the same words count nothing. */
	CURL *curl = client(desk, "/version");

	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	assert_int_equal(perform(desk, curl), CURLE_OK);
	assert_int_equal(desk->status, 403);
	assert_non_null(strstr(desk->body.ptr, "system:anonymous"));
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	identity_drop(&ca);
	identity_drop(&proxy);
}

/* Asks with a certificate, and as a front proxy would. Returns: the status. */
static long ask_with(struct desk *desk, const struct identity *identity)
{
	CURL *curl = client(desk, "/version");
	struct curl_slist *headers = curl_slist_append(NULL, "X-Remote-User: root");

	headers = curl_slist_append(headers, "X-Remote-Group: system:masters");
	write_file(desk->certificate, identity->pem);
	write_file(desk->key, identity->key_pem);
	curl_easy_setopt(curl, CURLOPT_SSLCERT, desk->certificate);
	curl_easy_setopt(curl, CURLOPT_SSLKEY, desk->key);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	assert_int_equal(perform(desk, curl), CURLE_OK);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return desk->status;
}

/* While a cluster's CA is replaced, the bundle has the old one and the new one, in any order. */
static void each_authority_of_a_subject_is_tried(void **state)
{
	struct bt_str user = BT_STR("x-remote-user"), group = BT_STR("x-remote-group");
	struct desk *desk = *state;
	struct identity ca[3], of[3];
	char bundle[2 * sizeof(ca->pem)];

	for (int i = 0; i < 3; i++) {
		identity_make(&ca[i], NULL, "ca", NULL, 3600);
		identity_make(&of[i], &ca[i], "root", "system:masters", 3600);
	}
	snprintf(bundle, sizeof(bundle), "%s%s", ca[0].pem, ca[1].pem);
	write_file(desk->ca, bundle);
	desk->always[0] = bt_str("/healthz");
	desk->options.settings.proxy.username_headers = (struct bt_str_list){.items = &user, .n = 1};
	desk->options.settings.proxy.group_headers = (struct bt_str_list){.items = &group, .n = 1};
	for (int proxy = 0; proxy < 2; proxy++) {
		desk->options.settings.client_ca_file = proxy ? NULL : desk->ca;
		desk->options.settings.proxy_ca_file = proxy ? desk->ca : NULL;
		begin(desk);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(ask_with(desk, &of[i]) == 200, i < 2);
		}
		bt_serve_destroy(desk->serve);
		desk->serve = NULL;
	}
	for (int i = 0; i < 3; i++) {
		identity_drop(&ca[i]);
		identity_drop(&of[i]);
	}
}

static void put_is_taken_where_it_means_something(void **state)
{
	static const char *const paths[] = {"/debug/flags/v", "/healthz"};
	struct desk *desk = *state;
	struct curl_slist *headers = curl_slist_append(NULL, "Accept: text/html");

	begin(desk);
	for (int i = 0; i < 2; i++) {
		CURL *curl = client(desk, paths[i]);

		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "3");
		assert_int_equal(perform(desk, curl), CURLE_OK);
		assert_int_equal(desk->status, i ? 405 : 200);
		curl_easy_cleanup(curl);
	}
	assert_true(bt_log_enabled(3));
	bt_log_set_verbosity(0);
	CURL *curl = client(desk, "/statusz");

	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	assert_int_equal(perform(desk, curl), CURLE_OK);
	assert_int_equal(desk->status, 406);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
}

static void odd_requests_are_answered_and_no_more(void **state)
{
	struct desk *desk = *state;
	char *large = bt_mem_zalloc(1, 100001);

	begin(desk);
	CURL *curl = client(desk, "/healthz");

	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "body");
	assert_int_equal(perform(desk, curl), CURLE_OK);
	assert_int_equal(desk->status, 405);
	curl_easy_cleanup(curl);
	curl = client(desk, "/healthz");
	curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	assert_int_equal(perform(desk, curl), CURLE_OK);
	assert_int_equal(desk->status, 200);
	assert_int_equal(desk->body.len, 0);
	curl_easy_cleanup(curl);
	memset(large, 'x', 100000);
	memcpy(large, "X-Large: ", 9);
	struct curl_slist *headers = curl_slist_append(NULL, large);

	curl = client(desk, "/healthz");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	perform(desk, curl);
	assert_int_not_equal(desk->status, 200);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	bt_mem_free(large);
	get(desk, "/nonsense");
	assert_int_equal(desk->status, 404);
	get(desk, "/metrics");
	assert_int_equal(desk->status, 200);
}

static void only_tls_1_3_is_served_when_asked_for(void **state)
{
	struct desk *desk = *state;

	desk->options.settings.tls13 = true;
	begin(desk);
	CURL *curl = client(desk, "/healthz");

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_MAX_TLSv1_2);
	assert_int_not_equal(perform(desk, curl), CURLE_OK);
	curl_easy_cleanup(curl);
	get(desk, "/healthz");
	assert_int_equal(desk->status, 200);
}

static void cipher_suites_are_chosen_by_name(void **state)
{
	struct bt_str names[] = {BT_STR("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")};
	struct desk *desk = *state;

	desk->options.settings.cipher_suites = (struct bt_str_list){names, 1, true};
	begin(desk);
	CURL *curl = client(desk, "/healthz");

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_MAX_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, "ECDHE-ECDSA-AES128-GCM-SHA256");
	assert_int_not_equal(perform(desk, curl), CURLE_OK);
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, "ECDHE-ECDSA-AES256-GCM-SHA384");
	assert_int_equal(perform(desk, curl), CURLE_OK);
	curl_easy_cleanup(curl);
}

/* Returns: whether TLS 1.2 is spoken with that suite (OpenSSL's name), and by these curves. */
static bool speaks(struct desk *desk, const char *suite, const char *curves)
{
	CURL *curl = client(desk, "/healthz");

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_MAX_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, suite);
	curl_easy_setopt(curl, CURLOPT_SSL_EC_CURVES, curves);
	CURLcode code = perform(desk, curl);

	curl_easy_cleanup(curl);
	assert_true(code == CURLE_OK || code == CURLE_SSL_CONNECT_ERROR || code == CURLE_SEND_ERROR ||
		    code == CURLE_RECV_ERROR);
	return code == CURLE_OK;
}

/* A certificate with a key that every suite and curve goes with. */
static void give_rsa(struct desk *desk)
{
	struct identity ca, one;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make_for(&one, EVP_RSA_gen(2048), &ca, "one", NULL, "DNS:localhost", 3600);
	write_file(desk->certificate, one.pem);
	write_file(desk->key, one.key_pem);
	desk->options.settings.cert_file = desk->certificate;
	desk->options.settings.key_file = desk->key;
	identity_drop(&ca);
	identity_drop(&one);
}

/* Source: crypto/tls, defaults.go: what Go 1.26 serves without a choice. */
static void suites_are_gos_without_a_choice(void **state)
{
	static const char *const served[] = {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
		"ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA"};
	static const char *const refused[] = {"AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA",
		"AES256-SHA", "DHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256",
		"ECDHE-RSA-AES256-SHA384", "AES128-CCM"};
	struct desk *desk = *state;

	give_rsa(desk);
	begin(desk);
	for (size_t i = 0; i < sizeof(served) / sizeof(*served); i++) {
		assert_true(speaks(desk, served[i], "P-256"));
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		if (speaks(desk, refused[i], "P-256")) {
			fail_msg("%s is served", refused[i]);
		}
	}
}

static void insecure_suites_are_taken_and_not_served(void **state)
{
	struct bt_str names[] = {
		BT_STR("TLS_RSA_WITH_AES_128_CBC_SHA"), BT_STR("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256")};
	struct desk *desk = *state;

	desk->options.settings.cipher_suites = (struct bt_str_list){names, 2, true};
	begin(desk);
	assert_true(speaks(desk, "ECDHE-ECDSA-AES128-SHA256", "P-256"));
	assert_false(speaks(desk, "ECDHE-ECDSA-AES128-GCM-SHA256", "P-256"));
	assert_false(speaks(desk, "AES128-SHA", "P-256"));
	get(desk, "/healthz");
	assert_int_equal(desk->status, 200);
}

static void curves_are_chosen_by_gos_numbers(void **state)
{
	static const uint32_t chosen[] = {24, 4588};
	struct desk *desk = *state;

	give_rsa(desk);
	begin(desk);
	assert_true(speaks(desk, "ALL", "X25519"));
	assert_true(speaks(desk, "ALL", "P-521"));
	assert_false(speaks(desk, "ALL", "X448"));
	bt_serve_destroy(desk->serve);
	desk->options.settings.curves = chosen;
	desk->options.settings.curve_n = 2;
	begin(desk);
	assert_false(speaks(desk, "ALL", "X25519:P-256:P-521"));
	assert_true(speaks(desk, "ALL", "X25519:P-384"));
}

/* What a client that asks for that name is shown: a certificate's common name. */
static void assert_shown(struct desk *desk, const char *host, const char *name)
{
	char url[128], to[128];
	CURL *curl = client(desk, "/healthz");

	snprintf(url, sizeof(url), "https://%s:%u/healthz", host, bt_serve_port(desk->serve));
	snprintf(to, sizeof(to), "%s:%u:127.0.0.1", host, bt_serve_port(desk->serve));
	struct curl_slist *resolve = curl_slist_append(NULL, to);

	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve);
	assert_int_equal(perform(desk, curl), CURLE_OK);
	if (!strstr(desk->served, name)) {
		fail_msg("%s is shown %s, not %s", host, desk->served, name);
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
	struct desk *desk = *state;
	struct bt_sni_settings sni[3];
	struct identity ca, of[4];
	char names[4][16], paths[4][2][160];

	identity_make(&ca, NULL, "ca", NULL, 3600);
	for (int i = 0; i < 4; i++) {
		snprintf(names[i], sizeof(names[i]), "number-%d", i);
		identity_make_for(&of[i], EVP_EC_gen("P-256"), &ca, names[i], NULL, alternatives[i], 3600);
		snprintf(paths[i][0], sizeof(paths[i][0]), "%s/%d.crt", desk->folder, i);
		snprintf(paths[i][1], sizeof(paths[i][1]), "%s/%d.key", desk->folder, i);
		write_file(paths[i][0], of[i].pem);
		write_file(paths[i][1], of[i].key_pem);
		if (i) {
			sni[i - 1] =
				(struct bt_sni_settings){.cert_file = paths[i][0], .key_file = paths[i][1]};
		}
	}
	sni[1].names = (struct bt_str_list){.items = &given[0], .n = 2};
	sni[2].names = (struct bt_str_list){.items = &given[2], .n = 1};
	desk->options.settings.cert_file = paths[0][0];
	desk->options.settings.key_file = paths[0][1];
	desk->options.settings.sni = sni;
	desk->options.settings.sni_n = 3;
	begin(desk);
	assert_shown(desk, "own.example", names[0]);
	assert_shown(desk, "nobody.example", names[0]);
	assert_shown(desk, "first.example", names[2]); /* given, before its own */
	assert_shown(desk, "a.deep.example", names[1]);
	assert_shown(desk, "a.b.deep.example", names[0]);
	assert_shown(desk, "number-1", names[1]);
	assert_shown(desk, "x.GIVEN.example", names[2]);
	assert_shown(desk, "unseen.example", names[3]); /* nobody's, but valid for it */
	assert_shown(desk, "127.0.0.1", names[3]);	/* no name asked for: the address it came to */
	write_file(paths[1][0], of[3].pem);
	write_file(paths[1][1], of[3].key_pem);
	assert_true(bt_serve_reload(desk->serve));
	assert_shown(desk, "unseen.example", names[3]);
	for (int i = 0; i < 4; i++) {
		unlink(paths[i][0]);
		unlink(paths[i][1]);
		identity_drop(&of[i]);
	}
	identity_drop(&ca);
}

#define assert_refused(desk, part)                                                                           \
	do {                                                                                                 \
		bt_buf_clear(&(desk)->error);                                                                \
		assert_null(bt_serve_create(&(desk)->options, &(desk)->error));                              \
		assert_non_null(strstr((desk)->error.ptr, (part)));                                          \
	} while (0)

static void what_cannot_be_served_is_said(void **state)
{
	struct bt_str names[] = {BT_STR("TLS_NULL_WITH_NULL_NULL")};
	struct desk *desk = *state;

	desk->options.settings.bind_address = "nonsense";
	assert_refused(desk, "'nonsense' is not an IP address");
	desk->options.settings.bind_address = "127.0.0.1";
	desk->options.settings.cipher_suites = (struct bt_str_list){names, 1, true};
	assert_refused(desk, "TLS_NULL_WITH_NULL_NULL");
	desk->options.settings.cipher_suites = (struct bt_str_list){0};
	desk->options.settings.cert_file = desk->certificate;
	desk->options.settings.key_file = desk->key;
	assert_refused(desk, "No such file");
	write_file(desk->certificate, "nonsense");
	write_file(desk->key, "nonsense");
	assert_refused(desk, "no certificate in PEM");
	desk->options.settings.cert_file = desk->options.settings.key_file = NULL;
	desk->options.settings.client_ca_file = "/nonsense";
	assert_refused(desk, "--client-ca-file: /nonsense: No such file");
	desk->options.settings.client_ca_file = NULL;
	desk->options.settings.proxy_ca_file = "/nonsense";
	desk->options.settings.tolerate_lookup_failure = true;
	assert_refused(desk, "--requestheader-client-ca-file: /nonsense: No such file");
	desk->options.settings.proxy_ca_file = NULL;
	begin(desk);
	struct bt_serve_options other = desk->options;

	other.any_port = false;
	other.settings.port = bt_serve_port(desk->serve);
	bt_buf_clear(&desk->error);
	assert_null(bt_serve_create(&other, &desk->error));
	assert_non_null(strstr(desk->error.ptr, "Address already in use"));
}

static void ask_often(void *context)
{
	struct desk *desk = context;
	struct bt_buf body = {0};

	for (int i = 0; i < 20; i++) {
		CURL *curl = client(desk, i % 2 ? "/metrics" : "/readyz?verbose");
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
	struct desk *desk = *state;
	struct bt_thread *threads[3];
	struct identity ca, one;

	identity_make(&ca, NULL, "ca", NULL, 3600);
	write_file(desk->certificate, ca.pem);
	write_file(desk->key, ca.key_pem);
	desk->options.settings.cert_file = desk->certificate;
	desk->options.settings.key_file = desk->key;
	begin(desk);
	for (int i = 0; i < 3; i++) {
		const struct bt_thread_options options = {.name = "client"};

		assert_int_equal(bt_thread_start(&options, ask_often, desk, &threads[i], NULL), BT_OK);
	}
	identity_make(&one, &ca, "one", NULL, 3600);
	write_file(desk->key, one.key_pem);
	write_file(desk->certificate, one.pem);
	assert_true(bt_serve_reload(desk->serve));
	for (int i = 0; i < 3; i++) {
		bt_thread_join(&threads[i]);
	}
	get(desk, "/healthz");
	assert_non_null(strstr(desk->served, "CN = one"));
	identity_drop(&ca);
	identity_drop(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_certificate_one_is_made, setup, teardown),
		cmocka_unit_test_setup_teardown(a_made_certificate_is_kept_in_its_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(links_in_the_folder_lead_nowhere, setup, teardown),
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
		cmocka_unit_test_setup_teardown(only_tls_1_3_is_served_when_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(cipher_suites_are_chosen_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(suites_are_gos_without_a_choice, setup, teardown),
		cmocka_unit_test_setup_teardown(insecure_suites_are_taken_and_not_served, setup, teardown),
		cmocka_unit_test_setup_teardown(curves_are_chosen_by_gos_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(certificates_are_chosen_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_served_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(
			several_clients_are_served_while_certificates_change, setup, teardown),
	};

	curl_global_init(CURL_GLOBAL_ALL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	curl_global_cleanup();
	return failed;
}
