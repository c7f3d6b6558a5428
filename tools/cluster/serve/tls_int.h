/* SPDX-License-Identifier: Apache-2.0
 * Configuration of GnuTLS: versions, cipher suites, curves, and certificate by server name. The seam to
 * GnuTLS.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "tools/cluster/serve/settings.h"

enum bt_server_tls_version { BT_TLS_12 = 0, BT_TLS_13, BT_TLS_N };

/* GnuTLS' priority strings. Empty: that version is not served. */
struct bt_server_tls_priorities {
	struct bt_buf of[BT_TLS_N];
};

/* Returns: BT_OK; BT_INVALID with the unknown item, and the remedy, in out_error. Owns: out, which
 * bt_server_tls_priorities_fini frees. */
enum bt_status bt_server_tls_priorities(const struct bt_serve_settings *settings,
	struct bt_server_tls_priorities *out, struct bt_buf *out_error);
void bt_server_tls_priorities_fini(struct bt_server_tls_priorities *priorities);

/* A certificate in PEM, and its names: those that were configured ("*." matches one label), else its own. */
struct bt_server_tls_pair {
	struct bt_str certificate, key;
	struct bt_str_list names; /* configured ones; none: the certificate's own */
	struct bt_str_list own;	  /* the names in the certificate */
};

struct bt_server_tls_options {
	const struct bt_server_tls_priorities *priorities;
	const struct bt_server_tls_pair *pairs; /* the first one is the default for unknown names */
	uint32_t pair_n;
	struct bt_str authorities; /* of client certificates, in PEM; empty: none are requested */
};

/* The TLS settings of connections; immutable. Names and certificates are copied. */
struct bt_server_tls;

/* Returns: NULL with the reason in out_error. Owns: one reference, which bt_server_tls_drop releases. */
struct bt_server_tls *bt_server_tls_create(
	const struct bt_server_tls_options *options, struct bt_buf *out_error);
struct bt_server_tls *bt_server_tls_take(struct bt_server_tls *tls); /* adds a reference */
void bt_server_tls_drop(struct bt_server_tls *tls);		     /* NULL is fine */

#define BT_TLS_ADDRESS_BYTES 64

/* The TLS state of a connection, which lives as long as its session. */
struct bt_server_tls_session {
	struct bt_server_tls *tls;
	char local[BT_TLS_ADDRESS_BYTES]; /* the local address: the server name of a client without SNI */
	void (*finished)(void *context);  /* called once, after the handshake */
	void *context;
};

/* Attaches session to a session of GnuTLS. Context: before its handshake. */
bool bt_server_tls_begin(void *gnutls_session, struct bt_server_tls_session *session);

/* The client's certificates in DER; views that last as long as the session. Returns: how many. */
uint32_t bt_server_tls_client_certificates(void *gnutls_session, struct bt_str *out, uint32_t cap);
