/* SPDX-License-Identifier: Apache-2.0
 * Cipher suites by their IANA names. GnuTLS is told the key exchanges, ciphers and MACs that the suites are
 * made of, so that other suites of the same parts are served too.
 */
#include "tls_int.h"

/* Of TLS 1.2 those that Go calls preferred and GnuTLS has. TLS 1.3 has no key exchange in its names. */
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
};

static enum bt_status add_suite(
	struct bt_str name, struct bt_buf *out, bool *in_out_aead, struct bt_buf *out_error)
{
	for (size_t i = 0; i < sizeof(suites) / sizeof(*suites); i++) {
		if (!bt_str_is(name, suites[i].name)) {
			continue;
		}
		if (suites[i].exchange) {
			bt_buf_printf(out, ":+%s", suites[i].exchange);
		}
		bt_buf_printf(out, ":+%s:+%s", suites[i].cipher, suites[i].mac);
		*in_out_aead = *in_out_aead || bt_str_is(bt_str(suites[i].mac), "AEAD");
		return BT_OK;
	}
	bt_buf_printf(out_error,
		"Cipher suite %.*s not supported or doesn't exist; --tls-cipher-suites takes ",
		BT_STR_ARG(name));
	for (size_t i = 0; i < sizeof(suites) / sizeof(*suites); i++) {
		bt_buf_printf(out_error, "%s%s", i ? ", " : "", suites[i].name);
	}
	return BT_INVALID;
}

enum bt_status bt_tls_priorities(
	const struct bt_serve_settings *settings, struct bt_buf *out, struct bt_buf *out_error)
{
	enum bt_status status = BT_OK;
	bool aead = false;

	bt_buf_printf(out, "NORMAL:-VERS-ALL:+VERS-TLS1.3%s", settings->tls13 ? "" : ":+VERS-TLS1.2");
	if (settings->cipher_suites.n == 0 || settings->tls13) {
		return BT_OK;
	}
	bt_buf_text(out, ":-KX-ALL:-CIPHER-ALL:-MAC-ALL");
	for (uint32_t i = 0; i < settings->cipher_suites.n && status == BT_OK; i++) {
		status = add_suite(settings->cipher_suites.items[i], out, &aead, out_error);
	}
	/* TLS 1.3 has no others. */
	bt_buf_text(out, aead ? "" : ":+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:+AEAD");
	return status;
}
