/* SPDX-License-Identifier: Apache-2.0
 * Verification of servers: names, chains and suites as by Go's crypto/x509 and crypto/tls. Each case with
 * HTTP/2 and libcurl; nothing may be sent to a rejected server.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pki.h"
#include "plan_int.h"
#include "server.h"
#include "tools/format/base64.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/net/verify.h"

static char config[] = "/tmp/berth-trust-XXXXXX";
static struct pki_pair root, twin, stranger; /* root and twin have the same name and different keys */

/* The server's certificates, and the client's CAs. */
struct show {
	const struct pki_pair *own;
	const struct pki_pair *beside[3]; /* sent with it; up to the first NULL */
	const struct pki_pair *trusted[3];
	const char *odd;    /* text before each of them in the bundle; NULL: none */
	const char *name;   /* tls-server-name; NULL: 127.0.0.1 */
	const char *suites; /* of TLS 1.2, then the only version; NULL: any */
	int version;	    /* the only one; 0: by suites */
};

static bool answer(void *context, struct peer *peer, const struct request *request)
{
	(void)context, (void)request;
	return peer_answer(peer, 200, "", "ok");
}

static SSL_CTX *make_server(const struct show *show, bool h2)
{
	SSL_CTX *tls = pki_server(show->own, NULL);
	int version = show->version ? show->version : show->suites ? TLS1_2_VERSION : 0;

	for (size_t i = 0; i < 3 && show->beside[i]; i++) {
		SSL_CTX_add1_chain_cert(tls, show->beside[i]->certificate);
	}
	assert_true(!show->suites || SSL_CTX_set_cipher_list(tls, show->suites));
	if (version) {
		SSL_CTX_set_min_proto_version(tls, version);
		SSL_CTX_set_max_proto_version(tls, version);
	}
	if (h2) {
		pki_choose_h2(tls);
	}
	return tls;
}

static void write_config(const struct show *show, uint16_t port)
{
	struct bt_buf bundle = {0}, text = {0};
	FILE *file = fopen(config, "w");

	for (size_t i = 0; i < 3 && show->trusted[i]; i++) {
		bt_buf_text(&bundle, show->odd ? show->odd : "");
		bt_buf_str(&bundle, bt_buf_view(&show->trusted[i]->certificate_pem));
	}
	bt_base64_encode(bt_buf_view(&bundle), &text);
	fprintf(file,
		"{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
		"\"c\", \"user\": \"u\"}}], \"users\": [{\"name\": \"u\", \"user\": {\"token\": "
		"\"secret\"}}], "
		"\"clusters\": [{\"name\": \"c\", \"cluster\": {\"server\": \"https://127.0.0.1:%u\", "
		"\"certificate-authority-data\": \"%s\"",
		port, text.ptr);
	if (show->name) {
		fprintf(file, ", \"tls-server-name\": \"%s\"", show->name);
	}
	fputs("}}]}", file);
	fclose(file);
	bt_buf_fini(&bundle);
	bt_buf_fini(&text);
}

/* why: the error's text; NULL: the server is accepted. */
static void expect_over(const struct show *show, const char *why, bool h2)
{
	SSL_CTX *tls = make_server(show, h2);
	struct server *server = server_start(tls, answer, NULL);
	struct bt_buf error = {0}, body = {0};
	struct bt_http_head head;

	write_config(show, server_port(server));
	struct bt_client_config *access =
		bt_client_config_create(&(struct bt_client_config_options){.kubeconfig = config}, &error);

	if (!access) {
		fail_msg("%s", error.ptr);
	}
	struct bt_http *http =
		bt_http_create(&(struct bt_http_options){.access = access, .name = "test"}, &error);
	enum bt_http_end end =
		bt_http_fetch(http, &(struct bt_http_call){.path = bt_str("/x")}, &head, &body, &error);
	uint32_t request_n = server_request_n(server);

	bt_http_destroy(http);
	server_stop(server);
	bt_client_config_destroy(access);
	SSL_CTX_free(tls);
	if (why ? end != BT_HTTP_UNSENT || request_n || !strstr(error.ptr, why) : end != BT_HTTP_ANSWERED) {
		fail_msg("by %s: %d, %u requests: %s", h2 ? "HTTP/2" : "HTTP/1.1", end, request_n,
			error.len ? error.ptr : "answered");
	}
	bt_buf_fini(&error);
	bt_buf_fini(&body);
}

static void expect(const struct show *show, const char *why)
{
	expect_over(show, why, true);
	expect_over(show, why, false);
}

static struct pki_pair make(const struct pki_options *options)
{
	struct pki_pair pair;

	pki_make_as(&pair, options);
	return pair;
}

static struct pki_pair make_server_of(const struct pki_pair *issuer)
{
	return make(
		&(struct pki_options){.issuer = issuer, .common_name = "server", .names = "IP:127.0.0.1"});
}

/* ---- names ---- */

static void a_common_name_is_no_name(void **state)
{
	struct pki_pair host = make(&(struct pki_options){.issuer = &root, .common_name = "api.example"});
	struct pki_pair address = make(&(struct pki_options){.issuer = &root, .common_name = "127.0.0.1"});

	(void)state;
	expect(&(struct show){.own = &host, .trusted = {&root}, .name = "api.example"},
		"certificate relies on legacy Common Name field, use SANs instead");
	expect(&(struct show){.own = &address, .trusted = {&root}},
		"cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs");
	pki_fini(&host);
	pki_fini(&address);
}

static void the_host_must_be_among_the_names(void **state)
{
	struct pki_pair pair = make(&(struct pki_options){.issuer = &root,
		.common_name = "server",
		.names = "DNS:api.example,DNS:*.local,IP:127.0.0.2"});

	(void)state;
	expect(&(struct show){.own = &pair, .trusted = {&root}, .name = "api.example"}, NULL);
	expect(&(struct show){.own = &pair, .trusted = {&root}, .name = "API.Example"}, NULL);
	expect(&(struct show){.own = &pair, .trusted = {&root}, .name = "kube.local"}, NULL);
	expect(&(struct show){.own = &pair, .trusted = {&root}, .name = "server"},
		"certificate is valid for api.example, *.local, not server");
	expect(&(struct show){.own = &pair, .trusted = {&root}},
		"certificate is valid for 127.0.0.2, not 127.0.0.1");
	pki_fini(&pair);
}

static void names_match_as_in_go(void **state)
{
	static const struct {
		const char *names, *host;
		bool good;
	} cases[] = {
		{"DNS:a.example", "a.example", true},
		{"DNS:a.example", "A.EXAMPLE", true},
		{"DNS:a.example", "a.example.", true},
		{"DNS:a.example", "a.example..", false},
		{"DNS:a.example.", "a.example.", true}, /* no host name, so it must match literally */
		{"DNS:a.example.", "a.example", false},
		{"DNS:*.example", "a.example", true},
		{"DNS:*.example", "a.example.", true},
		{"DNS:*.example", "example", false},
		{"DNS:*.example", ".example", false},
		{"DNS:*.example", "b.a.example", false},
		{"DNS:*.*.example", "b.a.example", false},
		{"DNS:a*.example", "ab.example", false},
		{"DNS:a.*.example", "a.b.example", false},
		{"DNS:*", "example", false},
		{"DNS:*", "*", true},
		{"DNS:_a.example", "_a.example", true},
		{"DNS:-a.example", "-a.example", true},
		{"DNS:*.a b", "x.a b", false},
		{"DNS:127.0.0.1", "127.0.0.1", false},
		{"IP:127.0.0.1", "127.0.0.1", true},
		{"IP:127.0.0.1", "::ffff:127.0.0.1", true},
		{"IP:::ffff:127.0.0.1", "127.0.0.1", true},
		{"IP:127.0.0.1", "127.0.0.2", false},
		{"IP:::1", "::1", true},
		{"IP:::1", "[::1]", true},
		{"IP:::1", "::2", false},
		{"URI:https://a.example", "a.example", false},
		{"email:a@a.example", "a.example", false},
		{NULL, "server", false},
		{"DNS:a.example", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pki_pair pair = make(&(struct pki_options){
			.issuer = &root, .common_name = "server", .names = cases[i].names});
		struct bt_buf why = {0};
		bool good = bt_verify_name(pair.certificate, bt_str(cases[i].host), &why) == X509_V_OK;

		if (good != cases[i].good) {
			fail_msg("%s for %s", cases[i].names, cases[i].host);
		}
		assert_true(good == !why.len);
		bt_buf_fini(&why);
		pki_fini(&pair);
	}
}

/* ---- chains ---- */

static void each_authority_of_a_name_is_tried(void **state)
{
	struct pki_pair one = make_server_of(&root), two = make_server_of(&twin),
			three = make_server_of(&stranger);

	(void)state;
	expect(&(struct show){.own = &one, .trusted = {&root, &twin}}, NULL);
	expect(&(struct show){.own = &two, .trusted = {&root, &twin}}, NULL);
	expect(&(struct show){.own = &one, .trusted = {&twin, &root}}, NULL);
	expect(&(struct show){.own = &two, .trusted = {&twin, &root}}, NULL);
	expect(&(struct show){.own = &two, .trusted = {&root}}, "certificate signature failure (/CN=root)");
	expect(&(struct show){.own = &three, .trusted = {&root, &twin}},
		"unable to get local issuer certificate");
	pki_fini(&one);
	pki_fini(&two);
	pki_fini(&three);
}

/* A PEM block that OpenSSL stops at does not hide later certificates; libcurl sees all of them, too. */
static void other_blocks_of_a_bundle_are_skipped(void **state)
{
	static const char *const odd[] = {
		"# a comment -----\n",
		"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
		"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----  \r\n",
		"-----END CERTIFICATE-----\n",
		"\xff\xfe\n",
	};
	struct pki_pair own = make_server_of(&root);

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		expect(&(struct show){.own = &own, .trusted = {&stranger, &root}, .odd = odd[i]}, NULL);
	}
	pki_fini(&own);
}

static void an_issuer_is_named_byte_by_byte(void **state)
{
	struct pki_pair capital =
		make(&(struct pki_options){.common_name = "Root", .authority = true, .key = &root});
	struct pki_pair own = make_server_of(&capital);

	(void)state;
	expect(&(struct show){.own = &own, .trusted = {&capital}}, NULL);
	expect(&(struct show){.own = &own, .trusted = {&root}}, "unable to get local issuer certificate");
	pki_fini(&capital);
	pki_fini(&own);
}

static void each_authority_between_is_tried(void **state)
{
	struct pki_pair between =
		make(&(struct pki_options){.issuer = &root, .common_name = "between", .authority = true});
	struct pki_pair again = make(&(struct pki_options){
		.issuer = &stranger, .common_name = "between", .authority = true, .key = &between});
	struct pki_pair old = make(&(struct pki_options){.issuer = &root,
		.common_name = "between",
		.authority = true,
		.key = &between,
		.from_s = -7200,
		.until_s = -3600});
	struct pki_pair own = make_server_of(&between);

	(void)state;
	expect(&(struct show){.own = &own, .beside = {&between}, .trusted = {&root}}, NULL);
	expect(&(struct show){.own = &own, .beside = {&again, &between}, .trusted = {&root}}, NULL);
	expect(&(struct show){.own = &own, .beside = {&old, &between}, .trusted = {&root}}, NULL);
	expect(&(struct show){.own = &own, .beside = {&between}, .trusted = {&twin, &root}}, NULL);
	expect(&(struct show){.own = &own, .beside = {&old}, .trusted = {&root}}, "certificate has expired");
	expect(&(struct show){.own = &own, .trusted = {&root}}, "unable to get local issuer certificate");
	expect(&(struct show){.own = &own, .trusted = {&between}}, NULL); /* a trusted certificate
									   * need not be a root */
	pki_fini(&between);
	pki_fini(&again);
	pki_fini(&old);
	pki_fini(&own);
}

static void cross_signed_authorities_do_not_loop(void **state)
{
	struct pki_pair a =
		make(&(struct pki_options){.issuer = &stranger, .common_name = "a", .authority = true});
	struct pki_pair b = make(&(struct pki_options){.issuer = &a, .common_name = "b", .authority = true});
	struct pki_pair c =
		make(&(struct pki_options){.issuer = &b, .common_name = "a", .authority = true, .key = &a});
	struct pki_pair own = make_server_of(&b);

	(void)state;
	expect(&(struct show){.own = &own, .beside = {&b, &a, &c}, .trusted = {&root}},
		"unable to get local issuer certificate");
	pki_fini(&a);
	pki_fini(&b);
	pki_fini(&c);
	pki_fini(&own);
}

static void a_trusted_certificate_needs_no_issuer(void **state)
{
	struct pki_pair own = make_server_of(&stranger);
	struct pki_pair self = make(&(struct pki_options){.common_name = "self", .names = "IP:127.0.0.1"});

	(void)state;
	expect(&(struct show){.own = &own, .trusted = {&own}}, NULL);
	expect(&(struct show){.own = &self, .trusted = {&self}}, NULL);
	expect(&(struct show){.own = &self, .trusted = {&root}}, "unable to get local issuer certificate");
	pki_fini(&own);
	pki_fini(&self);
}

/* A certificate below root with a deviation. */
static void expect_verified(struct pki_options options, const char *why)
{
	options.issuer = &root;
	options.common_name = "server";
	options.names = "IP:127.0.0.1,DNS:api.example";
	struct pki_pair own = make(&options);

	expect(&(struct show){.own = &own, .trusted = {&root}}, why);
	pki_fini(&own);
}

static void a_certificate_must_be_one_of_a_server_that_counts_now(void **state)
{
	(void)state;
	expect_verified((struct pki_options){.uses = "serverAuth"}, NULL);
	expect_verified((struct pki_options){.uses = "clientAuth,serverAuth"}, NULL);
	expect_verified((struct pki_options){.uses = "anyExtendedKeyUsage"}, NULL);
	expect_verified((struct pki_options){.uses = "clientAuth"}, "unsuitable certificate purpose");
	expect_verified((struct pki_options){.uses = "1.2.3.4"}, "unsuitable certificate purpose");
	expect_verified((struct pki_options){.usage = "critical,keyCertSign"}, NULL); /* Go ignores it */
	expect_verified((struct pki_options){.wrong_id = true}, NULL); /* an identifier is only a hint, too */
	expect_verified((struct pki_options){.from_s = -7200, .until_s = -3600}, "certificate has expired");
	expect_verified(
		(struct pki_options){.from_s = 3600, .until_s = 7200}, "certificate is not yet valid");
	expect_verified((struct pki_options){.sha1 = true}, "CA signature digest algorithm too weak");
	expect_verified((struct pki_options){.other = "critical,DER:05:00"}, "unhandled critical extension");
	expect_verified((struct pki_options){.other = "DER:05:00"}, NULL);
}

/* A CA below root with a deviation, and a normal server below it. */
static void expect_between(struct pki_options options, const char *why)
{
	options.issuer = &root;
	options.common_name = "between";
	struct pki_pair between = make(&options);
	struct pki_pair own = make(&(struct pki_options){
		.issuer = &between, .common_name = "kube.example", .names = "IP:127.0.0.1,DNS:api.example"});

	expect(&(struct show){.own = &own, .beside = {&between}, .trusted = {&root}}, why);
	pki_fini(&between);
	pki_fini(&own);
}

static void an_authority_must_be_one(void **state)
{
	(void)state;
	expect_between((struct pki_options){.authority = true}, NULL);
	expect_between((struct pki_options){0}, "invalid CA certificate");
	expect_between((struct pki_options){.authority = true, .silent = true}, "invalid CA certificate");
	expect_between((struct pki_options){.authority = true, .usage = "critical,cRLSign"},
		"invalid CA certificate");
	expect_between((struct pki_options){.authority = true, .uses = "clientAuth"},
		"unsuitable certificate purpose");
	expect_between((struct pki_options){.authority = true, .uses = "serverAuth"}, NULL);
	expect_between((struct pki_options){.authority = true, .sha1 = true},
		"CA signature digest algorithm too weak");
	expect_between(
		(struct pki_options){.authority = true, .constraints = "critical,permitted;DNS:example"},
		NULL);
	expect_between((struct pki_options){.authority = true, .constraints = "critical,permitted;DNS:other"},
		"permitted subtree violation");
	expect_between(
		(struct pki_options){.authority = true, .constraints = "critical,excluded;DNS:example"},
		"excluded subtree violation");
	expect_between((struct pki_options){.authority = true,
			       .constraints = "critical,permitted;IP:127.0.0.0/255.0.0.0"},
		NULL);
	expect_between((struct pki_options){.authority = true,
			       .constraints = "critical,permitted;IP:10.0.0.0/255.0.0.0"},
		"permitted subtree violation");
}

/* ---- TLS ---- */

static void suites_and_versions_are_those_of_go(void **state)
{
	static const struct {
		const char *suites;
		int version;
		bool good;
	} cases[] = {
		{"ECDHE-RSA-AES128-GCM-SHA256", 0, true},
		{"ECDHE-RSA-AES256-GCM-SHA384", 0, true},
		{"ECDHE-RSA-CHACHA20-POLY1305", 0, true},
		{"ECDHE-RSA-AES128-SHA", 0, true},
		{"ECDHE-RSA-AES128-SHA256", 0, false},
		{"AES128-GCM-SHA256", 0, false},
		{"AES256-SHA", 0, false},
		{"DHE-RSA-AES128-GCM-SHA256", 0, false},
		{NULL, TLS1_3_VERSION, true},
		{"ALL:@SECLEVEL=0", TLS1_1_VERSION, false},
	};
	struct pki_pair own = make(&(struct pki_options){
		.issuer = &root, .common_name = "server", .names = "IP:127.0.0.1", .rsa = true});

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		expect(&(struct show){.own = &own,
			       .trusted = {&root},
			       .suites = cases[i].suites,
			       .version = cases[i].version},
			cases[i].good ? NULL : "");
	}
	pki_fini(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_common_name_is_no_name),
		cmocka_unit_test(the_host_must_be_among_the_names),
		cmocka_unit_test(names_match_as_in_go),
		cmocka_unit_test(each_authority_of_a_name_is_tried),
		cmocka_unit_test(other_blocks_of_a_bundle_are_skipped),
		cmocka_unit_test(an_issuer_is_named_byte_by_byte),
		cmocka_unit_test(each_authority_between_is_tried),
		cmocka_unit_test(cross_signed_authorities_do_not_loop),
		cmocka_unit_test(a_trusted_certificate_needs_no_issuer),
		cmocka_unit_test(a_certificate_must_be_one_of_a_server_that_counts_now),
		cmocka_unit_test(an_authority_must_be_one),
		cmocka_unit_test(suites_and_versions_are_those_of_go),
	};

	signal(SIGPIPE, SIG_IGN); /* the test's server writes by OpenSSL */
	int fd = mkstemp(config);

	pki_make(&root, NULL, "root", NULL);
	pki_make(&twin, NULL, "root", NULL);
	pki_make(&stranger, NULL, "stranger", NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	pki_fini(&root);
	pki_fini(&twin);
	pki_fini(&stranger);
	close(fd);
	unlink(config);
	return failed;
}
