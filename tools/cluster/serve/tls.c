/* SPDX-License-Identifier: Apache-2.0
 * TLS by GnuTLS. It is configured by the key exchanges, ciphers and MACs of cipher suites, so with TLS 1.2
 * other suites of the same parts are served, too. Source: crypto/tls of Go 1.26 (defaults.go,
 * Config.getCertificate), BuildNamedCertificates and GetConfigForClient of k8s.io/apiserver, v0.36.3.
 */
#include "tls_int.h"

#include <gnutls/gnutls.h>
#include <string.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/serve.h"

#define SERVER_NAME_BYTES 256
#define ANY_VERSION	  "NORMAL:-VERS-ALL:+VERS-TLS1.3"

/* ---- suites and curves ---- */

/* All suites of Go. TLS 1.3's have no key exchange in their names. Suites without a cipher here are not
 * served: they exchange keys by static RSA, or their cipher is broken. */
static const struct {
	const char *name, *exchange, *cipher, *mac;
} suites[] = {
	{"TLS_AES_128_GCM_SHA256", NULL, "AES-128-GCM", "AEAD"},
	{"TLS_AES_256_GCM_SHA384", NULL, "AES-256-GCM", "AEAD"},
	{"TLS_CHACHA20_POLY1305_SHA256", NULL, "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1"},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1"},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA", "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1"},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1"},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD"},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA", "AES-128-CBC", "SHA256"},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA", "AES-128-CBC", "SHA256"},
	{"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", NULL, NULL, NULL},
	{"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", NULL, NULL, NULL},
	{"TLS_ECDHE_RSA_WITH_RC4_128_SHA", NULL, NULL, NULL},
	{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", NULL, NULL, NULL},
	{"TLS_RSA_WITH_AES_128_CBC_SHA", NULL, NULL, NULL},
	{"TLS_RSA_WITH_AES_128_CBC_SHA256", NULL, NULL, NULL},
	{"TLS_RSA_WITH_AES_128_GCM_SHA256", NULL, NULL, NULL},
	{"TLS_RSA_WITH_AES_256_CBC_SHA", NULL, NULL, NULL},
	{"TLS_RSA_WITH_AES_256_GCM_SHA384", NULL, NULL, NULL},
	{"TLS_RSA_WITH_RC4_128_SHA", NULL, NULL, NULL},
};

/* Go's ids, in its order of preference. GnuTLS 3.7 has none of the hybrids. */
static const struct {
	uint32_t id;
	const char *group; /* NULL: not served */
} curves[] = {
	{4588, NULL},
	{4587, NULL},
	{4589, NULL},
	{29, "GROUP-X25519"},
	{23, "GROUP-SECP256R1"},
	{24, "GROUP-SECP384R1"},
	{25, "GROUP-SECP521R1"},
};

#define SUITE_N (sizeof(suites) / sizeof(*suites))
#define CURVE_N (sizeof(curves) / sizeof(*curves))

static size_t find_suite(struct bt_str name)
{
	size_t i = 0;

	while (i < SUITE_N && !bt_str_is(name, suites[i].name)) {
		i++;
	}
	return i;
}

bool bt_serve_knows_suite(struct bt_str name)
{
	return find_suite(name) < SUITE_N;
}

void bt_serve_refuse_suite(struct bt_str name, struct bt_buf *out_error)
{
	bt_buf_printf(out_error,
		"Cipher suite '%.*s' not supported or doesn't exist; --tls-cipher-suites takes ",
		BT_STR_ARG(name));
	for (size_t i = 0; i < SUITE_N; i++) {
		if (suites[i].cipher) {
			bt_buf_printf(out_error, "%s%s", i ? ", " : "", suites[i].name);
		}
	}
}

static enum bt_status add_suite(struct bt_str name, struct bt_buf *out, struct bt_buf *out_error)
{
	size_t i = find_suite(name);

	if (i == SUITE_N) {
		bt_serve_refuse_suite(name, out_error);
		return BT_INVALID;
	}
	if (!suites[i].cipher) {
		bt_log(BT_LOG_WARNING, 0,
			"A cipher suite of --tls-cipher-suites is not secure, and is not served",
			bt_log_fields(bt_log_str("suite", name)));
	} else if (suites[i].exchange) { /* all of TLS 1.3 are served */
		bt_buf_printf(out, ":+%s:+%s:+%s", suites[i].exchange, suites[i].cipher, suites[i].mac);
	}
	return BT_OK;
}

/* As in Go, suites can be selected only for TLS 1.2. The default is Go's: ECDHE with an AEAD cipher, or with
 * AES-CBC and SHA-1. */
static enum bt_status add_suites(
	const struct bt_serve_settings *settings, struct bt_buf *out, struct bt_buf *out_error)
{
	enum bt_status status = BT_OK;

	if (settings->cipher_suites.n == 0) {
		bt_buf_text(out, ":+ECDHE-ECDSA:+ECDHE-RSA:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305"
				 ":+AES-128-CBC:+AES-256-CBC:+AEAD:+SHA1");
	}
	for (uint32_t i = 0; i < settings->cipher_suites.n && status == BT_OK; i++) {
		status = add_suite(settings->cipher_suites.items[i], out, out_error);
	}
	return status;
}

static bool wants_curve(const struct bt_serve_settings *settings, uint32_t id)
{
	bool wanted = settings->curve_n == 0;

	for (uint32_t i = 0; i < settings->curve_n && !wanted; i++) {
		wanted = settings->curves[i] == id;
	}
	return wanted;
}

/* As in Go, the order of the selection has no effect. */
static enum bt_status add_curves(
	const struct bt_serve_settings *settings, struct bt_buf *out, struct bt_buf *out_error)
{
	uint32_t served_n = 0;

	bt_buf_text(out, ":-GROUP-ALL");
	for (size_t i = 0; i < CURVE_N; i++) {
		if (curves[i].group && wants_curve(settings, curves[i].id)) {
			bt_buf_printf(out, ":+%s", curves[i].group);
			served_n++;
		}
	}
	if (!served_n) {
		bt_buf_text(out_error,
			"--tls-curve-preferences: GnuTLS has none of these; add 29 (X25519), 23 (P-256), 24 "
			"(P-384) or 25 (P-521)");
	}
	return served_n ? BT_OK : BT_INVALID;
}

bool bt_serve_knows_curve(uint32_t id)
{
	for (size_t i = 0; i < CURVE_N; i++) {
		if (curves[i].id == id) {
			return true;
		}
	}
	return false;
}

#define NO_SUITES ":-KX-ALL:-CIPHER-ALL:-MAC-ALL"

enum bt_status bt_server_tls_priorities(const struct bt_serve_settings *settings,
	struct bt_server_tls_priorities *out, struct bt_buf *out_error)
{
	struct bt_buf *v12 = &out->of[BT_TLS_12], *v13 = &out->of[BT_TLS_13];

	bt_buf_text(v13, "NORMAL:-VERS-ALL:+VERS-TLS1.3" NO_SUITES
			 ":+ECDHE-ECDSA:+ECDHE-RSA:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:+AEAD");
	bt_buf_text(v12, "NORMAL:-VERS-ALL:+VERS-TLS1.2" NO_SUITES);
	enum bt_status status = add_suites(settings, v12, out_error);

	for (int i = 0; i < BT_TLS_N && status == BT_OK; i++) {
		status = add_curves(settings, &out->of[i], out_error);
		bt_buf_text(&out->of[i], ":%SERVER_PRECEDENCE");
	}
	if (settings->tls13) {
		bt_buf_clear(v12);
	}
	return status;
}

void bt_server_tls_priorities_fini(struct bt_server_tls_priorities *priorities)
{
	for (int i = 0; i < BT_TLS_N; i++) {
		bt_buf_fini(&priorities->of[i]);
	}
}

/* ---- settings of connections ---- */

/* A certificate, its key, and its server names. */
struct served_certificate {
	gnutls_certificate_credentials_t credentials;
	struct bt_str_list names, own;
	bool names_given;
};

struct bt_server_tls {
	_Atomic uint32_t users;
	gnutls_priority_t any;			/* init: of a session whose version is not negotiated yet */
	gnutls_priority_t priorities[BT_TLS_N]; /* init: NULL: that version is not served */
	struct served_certificate *served;	/* init: served_n of them */
	uint32_t served_n;			/* init: */
	bool requests_client_certificate;	/* init: requests client certificates */
	struct bt_arena arena;			/* init: names */
};

struct bt_server_tls *bt_server_tls_take(struct bt_server_tls *tls)
{
	bt_add(&tls->users, 1);
	return tls;
}

void bt_server_tls_drop(struct bt_server_tls *tls)
{
	if (!tls || bt_sub(&tls->users, 1) != 1) {
		return;
	}
	for (uint32_t i = 0; i < tls->served_n; i++) {
		if (tls->served[i].credentials) {
			gnutls_certificate_free_credentials(tls->served[i].credentials);
		}
	}
	for (int i = 0; i < BT_TLS_N; i++) {
		if (tls->priorities[i]) {
			gnutls_priority_deinit(tls->priorities[i]);
		}
	}
	if (tls->any) {
		gnutls_priority_deinit(tls->any);
	}
	bt_arena_fini(&tls->arena);
	bt_mem_free(tls->served);
	bt_mem_free(tls);
}

static gnutls_datum_t datum(struct bt_str text)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)text.ptr, (unsigned)text.len};
}

static int add_pair(
	struct bt_server_tls *tls, const struct bt_server_tls_pair *pair, struct bt_str authorities)
{
	const gnutls_datum_t certificate = datum(pair->certificate), key = datum(pair->key),
			     trust = datum(authorities);
	struct served_certificate *served = &tls->served[tls->served_n++];
	int error = gnutls_certificate_allocate_credentials(&served->credentials);

	if (error >= 0) {
		error = gnutls_certificate_set_x509_key_mem2(
			served->credentials, &certificate, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
	}
	if (error >= 0 && authorities.len) {
		error = gnutls_certificate_set_x509_trust_mem(
			served->credentials, &trust, GNUTLS_X509_FMT_PEM);
	}
	served->names_given = pair->names.n > 0;
	served->names = bt_serve_copy_list(&tls->arena, &pair->names);
	served->own = bt_serve_copy_list(&tls->arena, &pair->own);
	return error;
}

struct bt_server_tls *bt_server_tls_create(
	const struct bt_server_tls_options *options, struct bt_buf *out_error)
{
	struct bt_server_tls *tls = bt_mem_zalloc(1, sizeof(*tls));

	*tls = (struct bt_server_tls){.users = 1,
		.served = bt_mem_zalloc(options->pair_n, sizeof(*tls->served)),
		.requests_client_certificate = options->authorities.len > 0};
	int error = gnutls_priority_init(&tls->any,
		options->priorities->of[BT_TLS_12].len ? ANY_VERSION ":+VERS-TLS1.2" : ANY_VERSION, NULL);

	for (int i = 0; i < BT_TLS_N && error >= 0; i++) {
		const struct bt_buf *text = &options->priorities->of[i];

		error = text->len ? gnutls_priority_init(&tls->priorities[i], text->ptr, NULL) : 0;
	}
	for (uint32_t i = 0; i < options->pair_n && error >= 0; i++) {
		error = add_pair(tls, &options->pairs[i], options->authorities);
	}
	if (error < 0) {
		bt_buf_printf(out_error, "no HTTPS can be served with this certificate: %s",
			gnutls_strerror(error));
		bt_server_tls_drop(tls);
		return NULL;
	}
	return tls;
}

/* ---- certificate by server name ---- */

static bool has_name(const struct bt_str_list *list, struct bt_str name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->items[i].len == name.len &&
			strncasecmp(list->items[i].ptr, name.ptr, name.len) == 0) {
			return true;
		}
	}
	return false;
}

/* Configured names come before those in certificates; among equals the first one wins. */
static uint32_t find_name(const struct bt_server_tls *tls, struct bt_str name)
{
	for (int given = 1; given >= 0; given--) {
		for (uint32_t i = 1; i < tls->served_n; i++) {
			const struct served_certificate *one = &tls->served[i];

			if (one->names_given == given && has_name(given ? &one->names : &one->own, name)) {
				return i;
			}
		}
	}
	return tls->served_n;
}

/* The name with its first label replaced by a star. */
static struct bt_str with_star(struct bt_str name, char out[SERVER_NAME_BYTES + 1])
{
	struct bt_str rest = bt_str_sub(name, bt_str_find(name, '.', 0), name.len);

	out[0] = '*';
	memcpy(out + 1, rest.ptr, rest.len);
	return (struct bt_str){out, rest.len + 1};
}

/* The pair for a server name. */
static uint32_t choose_pair(const struct bt_server_tls *tls, struct bt_str name, struct bt_str local)
{
	char buffer[SERVER_NAME_BYTES + 1];
	uint32_t found;

	if (tls->served_n == 1 || name.len > SERVER_NAME_BYTES) {
		return 0;
	}
	if (!name.len) {
		found = find_name(tls, local);
		return found < tls->served_n ? found : 0;
	}
	struct bt_str star = with_star(name, buffer);

	found = find_name(tls, name);
	found = found < tls->served_n ? found : find_name(tls, star);
	/* As Go: else the first whose certificate matches the name, whatever its configured names. */
	for (uint32_t i = 0; i < tls->served_n && found == tls->served_n; i++) {
		if (has_name(&tls->served[i].own, name) || has_name(&tls->served[i].own, star)) {
			found = i;
		}
	}
	return found < tls->served_n ? found : 0;
}

/* ---- sessions ---- */

/* A session's state is stored in GnuTLS' pointer for the session cache, which is unused: libmicrohttpd uses
 * the other pointer. */
static struct bt_server_tls_session *session_of(gnutls_session_t gnutls)
{
	return gnutls_db_get_ptr(gnutls);
}

/* The client hello selects the suites and curves of its version, and the certificate for its server name. */
static int take_hello(gnutls_session_t gnutls)
{
	const struct bt_server_tls_session *session = session_of(gnutls);
	char name[SERVER_NAME_BYTES];
	size_t bytes = sizeof(name);
	unsigned type = 0;
	bool named = gnutls_server_name_get(gnutls, name, &bytes, &type, 0) == GNUTLS_E_SUCCESS &&
		     type == GNUTLS_NAME_DNS;
	struct bt_str wanted = named ? bt_str(name) : bt_str("");
	uint32_t ix = choose_pair(session->tls, wanted, bt_str(session->local));
	gnutls_priority_t priorities =
		session->tls->priorities[gnutls_protocol_get_version(gnutls) == GNUTLS_TLS1_3];

	if (!priorities || gnutls_priority_set(gnutls, priorities) != GNUTLS_E_SUCCESS) {
		return GNUTLS_E_UNSUPPORTED_VERSION_PACKET;
	}
	return gnutls_credentials_set(gnutls, GNUTLS_CRD_CERTIFICATE, session->tls->served[ix].credentials);
}

/* Both sides finish once; the client is last, except in a resumed session, which is not supported. */
static int take_finished(gnutls_session_t gnutls, unsigned type, unsigned when, unsigned incoming,
	const gnutls_datum_t *message)
{
	struct bt_server_tls_session *session = session_of(gnutls);

	(void)type, (void)when, (void)message;
	if (incoming) {
		session->finished(session->context);
	}
	return 0;
}

bool bt_server_tls_begin(void *gnutls_session, struct bt_server_tls_session *session)
{
	gnutls_session_t gnutls = gnutls_session;
	struct bt_server_tls *tls = session->tls;

	gnutls_db_set_ptr(gnutls, session);
	gnutls_handshake_set_post_client_hello_function(gnutls, take_hello);
	gnutls_handshake_set_hook_function(
		gnutls, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST, take_finished);
	if (tls->requests_client_certificate) {
		gnutls_certificate_server_set_request(gnutls, GNUTLS_CERT_REQUEST);
	}
	return gnutls_priority_set(gnutls, tls->any) == GNUTLS_E_SUCCESS &&
	       gnutls_credentials_set(gnutls, GNUTLS_CRD_CERTIFICATE, tls->served[0].credentials) ==
		       GNUTLS_E_SUCCESS;
}

uint32_t bt_server_tls_client_certificates(void *gnutls_session, struct bt_str *out, uint32_t cap)
{
	unsigned n = 0;
	const gnutls_datum_t *list = gnutls_session ? gnutls_certificate_get_peers(gnutls_session, &n) : NULL;

	n = list ? n : 0;
	n = n < cap ? n : cap;
	for (unsigned i = 0; i < n; i++) {
		out[i] = (struct bt_str){(const char *)list[i].data, list[i].size};
	}
	return n;
}
