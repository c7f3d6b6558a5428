/* SPDX-License-Identifier: Apache-2.0
 * TLS by OpenSSL over memory, so that one read and one write of the socket serve many records.
 */
#include "tools/cluster/net/tls_int.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <string.h>
#include <time.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cluster/net/pem.h"
#include "tools/cluster/net/verify.h"

#define SESSIONS 16u /* that are kept; a server offers one or two per connection */

/* The protocols for ALPN, best first. */
static const unsigned char PROTOCOLS[] = "\x02h2\x08http/1.1";

/* Suites of TLS 1.2, as Go's: forward secrecy, no CBC with SHA-256, no plain RSA key exchange. Those of TLS
 * 1.3 are OpenSSL's. */
static const char SUITES[] = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
			     "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
			     "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
			     "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:"
			     "ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";

struct bt_client_tls_context {
	SSL_CTX *ssl;
	struct bt_client_tls_judge *judge;
	SSL_SESSION *sessions[SESSIONS]; /* the newest last */
	uint32_t session_n;
};

/* ---- sessions ---- */

/* Keeps a session that a server offers; drops the oldest when there is no room. Returns: 1: it is ours
 * now. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct bt_client_tls_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	if (context->session_n == SESSIONS) {
		SSL_SESSION_free(context->sessions[0]);
		memmove(&context->sessions[0], &context->sessions[1], (SESSIONS - 1) * sizeof(SSL_SESSION *));
		context->session_n--;
	}
	context->sessions[context->session_n++] = session;
	return 1;
}

/* Whether the server's certificate is still valid: resumption does not check it again, so an expired one ends
 * the session. */
static bool is_fresh(SSL_SESSION *session)
{
	X509 *server = SSL_SESSION_get0_peer(session);
	int64_t age_s = (int64_t)time(NULL) - (int64_t)SSL_SESSION_get_time(session);

	return SSL_SESSION_is_resumable(session) && age_s >= 0 &&
	       age_s < (int64_t)SSL_SESSION_get_timeout(session) && server &&
	       X509_cmp_current_time(X509_get0_notAfter(server)) > 0;
}

static void use_session(struct bt_client_tls_context *context, SSL *ssl)
{
	bool used = false;

	while (context->session_n && !used) {
		SSL_SESSION *session = context->sessions[--context->session_n];

		used = is_fresh(session) && SSL_set_session(ssl, session) == 1;
		SSL_SESSION_free(session);
	}
}

/* ---- certificates ---- */

static BIO *open_pem(struct bt_str pem)
{
	return BIO_new_mem_buf(pem.ptr, pem.len < INT_MAX ? (int)pem.len : INT_MAX);
}

static bool trust(SSL_CTX *context, struct bt_str pem)
{
	uint32_t broken_n;

	return bt_pem_trust(pem, SSL_CTX_get_cert_store(context), &broken_n) != 0;
}

static bool show(SSL_CTX *context, struct bt_str certificate, struct bt_str key)
{
	BIO *bio = open_pem(certificate);
	X509 *one = bio ? PEM_read_bio_X509_AUX(bio, NULL, bt_pem_no_password, NULL) : NULL;
	bool good = one && SSL_CTX_use_certificate(context, one) == 1;

	X509_free(one);
	while (good && (one = PEM_read_bio_X509(bio, NULL, bt_pem_no_password, NULL))) {
		good = SSL_CTX_add0_chain_cert(context, one) == 1;
	}
	BIO_free(bio);
	bio = good ? open_pem(key) : NULL;
	EVP_PKEY *secret = bio ? PEM_read_bio_PrivateKey(bio, NULL, bt_pem_no_password, NULL) : NULL;

	good = secret && SSL_CTX_use_PrivateKey(context, secret) == 1 &&
	       SSL_CTX_check_private_key(context) == 1;
	EVP_PKEY_free(secret);
	BIO_free(bio);
	ERR_clear_error();
	return good;
}

bool bt_client_tls_trusts(struct bt_str authority)
{
	struct bt_buf certificates = {0};
	uint32_t broken_n, n = bt_pem_certificates(authority, &certificates, &broken_n);

	bt_buf_fini(&certificates);
	return n != 0;
}

bool bt_client_tls_key_matches(struct bt_str certificate, struct bt_str key)
{
	SSL_CTX *ssl = SSL_CTX_new(TLS_client_method());

	BT_REQUIRE(ssl);
	bool good = show(ssl, certificate, key);

	SSL_CTX_free(ssl);
	return good;
}

/* ---- the server's identity ---- */

/* The host of "https://user@host:port/path", without brackets. */
static void add_host(struct bt_str url, struct bt_buf *out)
{
	struct bt_str scheme = bt_str("://");
	size_t from = 0;

	while (from + scheme.len < url.len && memcmp(url.ptr + from, scheme.ptr, scheme.len) != 0) {
		from++;
	}
	url = bt_str_sub(url, from + scheme.len, url.len);
	url = bt_str_sub(url, 0, bt_str_find(url, '/', 0));
	size_t at = bt_str_find(url, '@', 0);

	url = at < url.len ? bt_str_sub(url, at + 1, url.len) : url;
	bool bracket = bt_str_starts(url, "[");

	bt_buf_str(out, bt_str_sub(url, bracket ? 1 : 0, bt_str_find(url, bracket ? ']' : ':', 0)));
}

void bt_client_tls_judge_init(struct bt_client_tls_judge *judge, const struct bt_endpoint *endpoint)
{
	*judge = (struct bt_client_tls_judge){.insecure = endpoint->insecure};
	add_host(bt_str(endpoint->url), &judge->name);
	if (bt_str_starts(bt_str(endpoint->proxy), "https://")) {
		add_host(bt_str(endpoint->proxy), &judge->proxy);
	}
}

void bt_client_tls_judge_fini(struct bt_client_tls_judge *judge)
{
	bt_buf_fini(&judge->name);
	bt_buf_fini(&judge->proxy);
	bt_buf_fini(&judge->refusal);
}

/* Replaces OpenSSL's own verification. With a proxy, only libcurl knows whether a connection leads to the
 * proxy or to the server, so it checks the name as well. */
static int judge_server(X509_STORE_CTX *context, void *data)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct bt_client_tls_judge *judge = data;
	X509 *own = X509_STORE_CTX_get0_cert(context);

	bt_buf_clear(&judge->refusal);
	int error = bt_verify_name(own, bt_buf_view(&judge->name), &judge->refusal);

	if (error != X509_V_OK && judge->proxy.len) {
		bt_buf_clear(&judge->refusal);
		error = bt_verify_name(own, bt_buf_view(&judge->proxy), &judge->refusal);
	}
	if (error == X509_V_OK) {
		error = bt_verify_chain(own, X509_STORE_CTX_get0_untrusted(context),
			X509_STORE_CTX_get0_store(context), BT_VERIFY_SERVER, SSL_get_security_level(ssl),
			&judge->refusal);
	}
	X509_STORE_CTX_set_error(context, error);
	return error == X509_V_OK;
}

void bt_client_tls_prepare(SSL_CTX *ssl, struct bt_client_tls_judge *judge)
{
	BT_REQUIRE(SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) == 1 &&
		   SSL_CTX_set_cipher_list(ssl, SUITES) == 1);
	SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
	(void)SSL_CTX_set_mode(ssl, SSL_MODE_NO_AUTO_CHAIN);
	if (!judge->insecure) {
		SSL_CTX_set_cert_verify_callback(ssl, judge_server, judge);
	}
}

/* Returns: false: *out_fault and out_why have the reason. */
static bool set_identity(SSL_CTX *ssl, const struct bt_identity *identity, enum bt_http_fault *out_fault,
	struct bt_buf *out_why)
{
	if (!identity->authority.len) {
		SSL_CTX_set_default_verify_paths(ssl);
	} else if (!trust(ssl, identity->authority)) {
		bt_buf_text(out_why, "no certificate can be read from certificate-authority");
		*out_fault = BT_HTTP_NO_AUTHORITY;
		return false;
	}
	if (identity->certificate.len && !show(ssl, identity->certificate, identity->key)) {
		bt_buf_text(out_why, "the client certificate cannot be used with its key");
		*out_fault = BT_HTTP_NO_IDENTITY;
		return false;
	}
	return true;
}

struct bt_client_tls_context *bt_client_tls_context_create(const struct bt_identity *identity,
	struct bt_client_tls_judge *judge, enum bt_http_fault *out_fault, struct bt_buf *out_why)
{
	struct bt_client_tls_context *context = bt_mem_zalloc(1, sizeof(*context));
	SSL_CTX *ssl = context->ssl = SSL_CTX_new(TLS_client_method());

	BT_REQUIRE(ssl);
	context->judge = judge;
	SSL_CTX_set_verify(ssl, judge->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	bt_client_tls_prepare(ssl, judge);
	BT_REQUIRE(SSL_CTX_set_alpn_protos(ssl, PROTOCOLS, sizeof(PROTOCOLS) - 1) == 0);
	SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_set_app_data(ssl, context);
	SSL_CTX_sess_set_new_cb(ssl, keep_session);
	if (!set_identity(ssl, identity, out_fault, out_why)) {
		bt_client_tls_context_free(context);
		return NULL;
	}
	return context;
}

void bt_client_tls_context_free(struct bt_client_tls_context *context)
{
	if (!context) {
		return;
	}
	SSL_CTX_sess_set_new_cb(context->ssl, NULL); /* its connections may outlive it */
	while (context->session_n) {
		SSL_SESSION_free(context->sessions[--context->session_n]);
	}
	SSL_CTX_free(context->ssl);
	bt_mem_free(context);
}

/* Sends SNI without the trailing dot, as Go does; none for an address. */
static bool send_name(SSL *ssl, struct bt_str name)
{
	unsigned char address[16];
	char text[256];
	size_t n = name.len && name.ptr[name.len - 1] == '.' ? name.len - 1 : name.len;

	if (n == 0 || n >= sizeof(text)) {
		return false;
	}
	memcpy(text, name.ptr, n);
	text[n] = 0;
	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1 ||
	       SSL_set_tlsext_host_name(ssl, text) == 1;
}

bool bt_client_tls_init(struct bt_client_tls *tls, struct bt_client_tls_context *context)
{
	*tls = (struct bt_client_tls){
		SSL_new(context->ssl), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()), context->judge};
	BT_REQUIRE(tls->ssl && tls->in && tls->out);
	BIO_set_mem_eof_return(tls->in, -1);
	BIO_set_mem_eof_return(tls->out, -1);
	SSL_set_bio(tls->ssl, tls->in, tls->out);
	SSL_set_connect_state(tls->ssl);
	use_session(context, tls->ssl);
	return send_name(tls->ssl, bt_buf_view(&context->judge->name));
}

void bt_client_tls_fini(struct bt_client_tls *tls)
{
	if (tls->ssl) {
		/* A server usually closes without close_notify; the session stays usable. */
		SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	}
	SSL_free(tls->ssl); /* with its buffers */
	*tls = (struct bt_client_tls){0};
}

static void add_ssl_error(struct bt_buf *out_why)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	bt_buf_printf(out_why, "TLS fails: %s", reason ? reason : "the server breaks its rules");
	ERR_clear_error();
}

enum bt_client_tls_state bt_client_tls_handshake(
	struct bt_client_tls *tls, enum bt_http_fault *out_fault, struct bt_buf *out_why)
{
	ERR_clear_error();
	int rc = SSL_do_handshake(tls->ssl);

	if (rc == 1) {
		return BT_TLS_READY;
	}
	if (SSL_get_error(tls->ssl, rc) == SSL_ERROR_WANT_READ) {
		return BT_TLS_LATER;
	}
	long verdict = SSL_get_verify_result(tls->ssl);

	*out_fault = BT_HTTP_BROKEN;
	if (verdict != X509_V_OK && SSL_get_verify_mode(tls->ssl) != SSL_VERIFY_NONE) {
		*out_fault = BT_HTTP_NOT_TRUSTED;
		bt_buf_printf(out_why, BT_TLS_REFUSAL "%.*s", BT_STR_ARG(bt_buf_view(&tls->judge->refusal)));
		ERR_clear_error();
	} else {
		add_ssl_error(out_why);
	}
	return BT_TLS_FAILED;
}

bool bt_client_tls_is_h2(const struct bt_client_tls *tls)
{
	const unsigned char *name = NULL;
	unsigned n = 0;

	SSL_get0_alpn_selected(tls->ssl, &name, &n);
	return n == 2 && !memcmp(name, "h2", 2);
}

void bt_client_tls_feed(struct bt_client_tls *tls, const char *bytes, size_t n)
{
	BT_REQUIRE(n <= INT_MAX && BIO_write(tls->in, bytes, (int)n) == (int)n);
}

enum bt_client_tls_state bt_client_tls_read(
	struct bt_client_tls *tls, char *bytes, size_t cap, size_t *out_n, struct bt_buf *out_why)
{
	ERR_clear_error();
	int rc = SSL_read_ex(tls->ssl, bytes, cap, out_n);

	if (rc == 1) {
		return BT_TLS_READY;
	}
	switch (SSL_get_error(tls->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		return BT_TLS_LATER;
	case SSL_ERROR_ZERO_RETURN:
		bt_buf_text(out_why, "the server has closed it");
		return BT_TLS_FAILED;
	default:
		add_ssl_error(out_why);
		return BT_TLS_FAILED;
	}
}

bool bt_client_tls_write(struct bt_client_tls *tls, struct bt_str bytes)
{
	size_t n;

	ERR_clear_error();
	return SSL_write_ex(tls->ssl, bytes.ptr, bytes.len, &n) == 1 && n == bytes.len;
}

struct bt_str bt_client_tls_out(const struct bt_client_tls *tls)
{
	char *bytes = NULL;
	long n = tls->ssl ? BIO_get_mem_data(tls->out, &bytes) : 0;

	return (struct bt_str){bytes, n > 0 ? (size_t)n : 0};
}

void bt_client_tls_sent(struct bt_client_tls *tls, size_t n)
{
	char waste[4096];

	if (n == bt_client_tls_out(tls).len) {
		(void)BIO_reset(tls->out);
		return;
	}
	while (n) {
		int step = BIO_read(tls->out, waste, (int)(n < sizeof(waste) ? n : sizeof(waste)));

		BT_REQUIRE(step > 0);
		n -= (size_t)step;
	}
}
