/* SPDX-License-Identifier: Apache-2.0
 * Chains of certificates. Source: crypto/x509 of Go 1.26, Certificate.Verify and VerifyHostname.
 *
 * OpenSSL follows one issuer of each certificate, the first with a matching name, and fails if that one did
 * not sign; two CAs of one name are common while a cluster's CA is replaced. So the search for a chain is
 * here, and OpenSSL checks each chain that is found.
 */
#include "tools/cluster/net/verify.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <strings.h>

#include "engine/base/check.h"

#define CHAIN_MAX     16   /* certificates; two or three are usual */
#define SIGNATURE_MAX 100u /* checked per certificate, as Go does */
#define ADDRESS_MAX   64u
#define NAME_MAX_N    100u /* that a message lists */

struct verify_search {
	X509_STORE_CTX *roots; /* to look issuers up */
	STACK_OF(X509) * others;
	int level;
	int usage; /* NID of the required usage */
	X509 *chain[CHAIN_MAX];
	int chain_n;
	uint32_t signature_n;
	int error; /* of the best candidate issuer */
	X509 *culprit;
};

static bool verify_fail(struct verify_search *search, int error, X509 *culprit)
{
	if (search->error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY) {
		search->error = error;
		search->culprit = culprit;
	}
	return false;
}

/* ---- a chain that was found ---- */

/* Whether every certificate that lists usages lists this one. */
static bool is_for(const struct verify_search *search)
{
	for (int i = 0; i < search->chain_n; i++) {
		EXTENDED_KEY_USAGE *uses = X509_get_ext_d2i(search->chain[i], NID_ext_key_usage, NULL, NULL);
		bool good = !uses;

		for (int k = 0; k < sk_ASN1_OBJECT_num(uses); k++) {
			int nid = OBJ_obj2nid(sk_ASN1_OBJECT_value(uses, k));

			good |= nid == search->usage || nid == NID_anyExtendedKeyUsage;
		}
		EXTENDED_KEY_USAGE_free(uses);
		if (!good) {
			return false;
		}
	}
	return true;
}

/* In OpenSSL's check, each certificate's issuer is the one that the search found, whatever the key
 * identifiers are. */
static int is_issuer(X509_STORE_CTX *context, X509 *one, X509 *issuer)
{
	const struct verify_search *search = X509_STORE_CTX_get_app_data(context);

	for (int i = 0; i + 1 < search->chain_n; i++) {
		if (search->chain[i] == one && search->chain[i + 1] == issuer) {
			return 1;
		}
	}
	return one == issuer && one == search->chain[search->chain_n - 1];
}

/* Times, CAs, path lengths, name constraints, unknown critical extensions, keys and digests. */
static int check_by_openssl(struct verify_search *search)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	STACK_OF(X509) *between = sk_X509_new_null();
	int error = X509_V_ERR_OUT_OF_MEM;

	for (int i = 1; i + 1 < search->chain_n; i++) {
		sk_X509_push(between, search->chain[i]);
	}
	if (store && context && between &&
		X509_STORE_add_cert(store, search->chain[search->chain_n - 1]) == 1 &&
		(X509_STORE_set_check_issued(store, is_issuer), 1) &&
		X509_STORE_CTX_init(context, store, search->chain[0], between) == 1) {
		X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);

		X509_STORE_CTX_set_app_data(context, search);
		X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
		X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
		X509_VERIFY_PARAM_set_auth_level(param, search->level > 1 ? search->level : 1);
		error = X509_verify_cert(context) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context);
		error = error == X509_V_OK && !X509_STORE_CTX_get0_chain(context) ? X509_V_ERR_UNSPECIFIED
										  : error;
	}
	sk_X509_free(between);
	X509_STORE_CTX_free(context);
	X509_STORE_free(store);
	ERR_clear_error();
	return error;
}

static bool check_chain(struct verify_search *search)
{
	int error = check_by_openssl(search);

	if (error == X509_V_OK && !is_for(search)) {
		error = X509_V_ERR_INVALID_PURPOSE;
	}
	return error == X509_V_OK || verify_fail(search, error, search->chain[0]);
}

/* ---- the search ---- */

/* Byte by byte, as Go. */
static bool same_subject(const X509_NAME *a, const X509_NAME *b)
{
	const unsigned char *x, *y;
	size_t x_n, y_n;

	return X509_NAME_get0_der(a, &x, &x_n) == 1 && X509_NAME_get0_der(b, &y, &y_n) == 1 && x_n == y_n &&
	       memcmp(x, y, x_n) == 0;
}

static bool same_names(const X509 *a, const X509 *b)
{
	int i = X509_get_ext_by_NID(a, NID_subject_alt_name, -1);
	int k = X509_get_ext_by_NID(b, NID_subject_alt_name, -1);

	return i < 0 || k < 0 ? i == k
			      : ASN1_STRING_cmp(X509_EXTENSION_get_data(X509_get_ext(a, i)),
					X509_EXTENSION_get_data(X509_get_ext(b, k))) == 0;
}

/* Whether a CA is in the chain already: two that sign each other would loop forever. */
static bool is_in_chain(const struct verify_search *search, X509 *one)
{
	for (int i = 0; i < search->chain_n; i++) {
		X509 *other = search->chain[i];

		if (same_subject(X509_get_subject_name(one), X509_get_subject_name(other)) &&
			EVP_PKEY_eq(X509_get0_pubkey(one), X509_get0_pubkey(other)) == 1 &&
			same_names(one, other)) {
			return true;
		}
	}
	return false;
}

/* Whether it may sign certificates at all. Version 1 has no extensions: only a trusted root may. */
static bool may_sign(X509 *issuer, bool root)
{
	uint32_t flags = X509_get_extension_flags(issuer);

	if (flags & EXFLAG_BCONS) {
		return flags & EXFLAG_CA && X509_get_key_usage(issuer) & KU_KEY_CERT_SIGN;
	}
	return root && X509_get_version(issuer) != X509_VERSION_3;
}

static bool has_signed(struct verify_search *search, X509 *issuer, X509 *one, bool root)
{
	EVP_PKEY *key = X509_get0_pubkey(issuer);

	if (search->signature_n++ >= SIGNATURE_MAX || !key || is_in_chain(search, issuer)) {
		return false;
	}
	if (!may_sign(issuer, root)) {
		return verify_fail(search, X509_V_ERR_INVALID_CA, issuer);
	}
	bool good = X509_verify(one, key) == 1;

	ERR_clear_error();
	return good || verify_fail(search, X509_V_ERR_CERT_SIGNATURE_FAILURE, issuer);
}

static bool extend(struct verify_search *search);

/* Tries one candidate issuer. */
static bool try_issuer(struct verify_search *search, X509 *issuer, bool root)
{
	X509 *one = search->chain[search->chain_n - 1];

	if (search->chain_n == CHAIN_MAX || !has_signed(search, issuer, one, root)) {
		return false;
	}
	search->chain[search->chain_n++] = issuer;
	bool good = root ? check_chain(search) : extend(search);

	search->chain_n -= good ? 0 : 1;
	return good;
}

/* Extends the chain from its last certificate: first by trusted certificates, then by the peer's. Recursion:
 * CHAIN_MAX deep. */
static bool extend(struct verify_search *search)
{
	const X509_NAME *name = X509_get_issuer_name(search->chain[search->chain_n - 1]);
	STACK_OF(X509) *roots = X509_STORE_CTX_get1_certs(search->roots, name);
	bool good = false;

	for (int i = 0; i < sk_X509_num(roots) && !good; i++) {
		X509 *issuer = sk_X509_value(roots, i);

		good = same_subject(X509_get_subject_name(issuer), name) && try_issuer(search, issuer, true);
	}
	for (int i = 0; i < sk_X509_num(search->others) && !good; i++) {
		X509 *other = sk_X509_value(search->others, i);

		good = same_subject(X509_get_subject_name(other), name) && try_issuer(search, other, false);
	}
	sk_X509_pop_free(roots, X509_free);
	return good;
}

/* Whether the certificate is itself trusted and needs no issuer. */
static bool is_root(const struct verify_search *search, X509 *own)
{
	STACK_OF(X509) *same = X509_STORE_CTX_get1_certs(search->roots, X509_get_subject_name(own));
	bool found = false;

	for (int i = 0; i < sk_X509_num(same) && !found; i++) {
		found = X509_cmp(sk_X509_value(same, i), own) == 0;
	}
	sk_X509_pop_free(same, X509_free);
	return found;
}

static void describe_chain(const struct verify_search *search, struct bt_buf *out_why)
{
	char name[256] = "";

	if (search->signature_n > SIGNATURE_MAX) {
		bt_buf_printf(out_why, "more than %u issuers had to be tried", SIGNATURE_MAX);
		return;
	}
	bt_buf_text(out_why, X509_verify_cert_error_string(search->error));
	if (search->culprit) {
		X509_NAME_oneline(X509_get_subject_name(search->culprit), name, sizeof(name));
		bt_buf_printf(out_why, " (%s)", name);
	}
}

int bt_verify_chain(X509 *own, STACK_OF(X509) * others, X509_STORE *store, enum bt_verify_use use, int level,
	struct bt_buf *out_why)
{
	struct verify_search search = {.roots = X509_STORE_CTX_new(),
		.others = others,
		.level = level,
		.usage = use == BT_VERIFY_SERVER ? NID_server_auth : NID_client_auth,
		.chain = {own},
		.chain_n = 1,
		.error = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY};

	BT_REQUIRE(search.roots && X509_STORE_CTX_init(search.roots, store, own, others) == 1);
	bool good = is_root(&search, own) ? check_chain(&search) : extend(&search);

	if (!good) {
		describe_chain(&search, out_why);
	}
	X509_STORE_CTX_free(search.roots);
	ERR_clear_error();
	return good ? X509_V_OK : search.error;
}

/* ---- names ---- */

static struct bt_str verify_text_of(const ASN1_STRING *text)
{
	return (struct bt_str){(const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text)};
}

static bool same_name(struct bt_str a, struct bt_str b)
{
	return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

static struct bt_str without_dot(struct bt_str host)
{
	return host.len && host.ptr[host.len - 1] == '.' ? bt_str_sub(host, 0, host.len - 1) : host;
}

/* Letters, digits, '-' (not first) and '_' in labels that are not empty; the first label of a pattern may be
 * "*". */
static bool is_host(struct bt_str host, bool pattern)
{
	size_t label = 0;

	if (!host.len || bt_str_is(host, "*")) {
		return false;
	}
	for (size_t i = 0; i <= host.len; i++) {
		char c = i < host.len ? host.ptr[i] : '.';
		bool star = pattern && c == '*' && i == 0 && i + 1 < host.len && host.ptr[1] == '.';
		bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			     c == '_' || (c == '-' && i > label);

		if (c == '.' ? i == label : !usual && !star) {
			return false;
		}
		label = c == '.' ? i + 1 : label;
	}
	return true;
}

/* A "*" stands for one label, the first. */
static bool matches(struct bt_str pattern, struct bt_str host)
{
	if (!is_host(without_dot(host), false) || !is_host(pattern, true)) {
		return !bt_str_is(host, ".") && same_name(pattern, host);
	}
	host = without_dot(host);
	if (pattern.ptr[0] == '*') {
		pattern = bt_str_sub(pattern, 1, pattern.len);
		host = bt_str_sub(host, bt_str_find(host, '.', 0), host.len);
	}
	return same_name(pattern, host);
}

/* Parses an address; IPv4 gives 4 bytes also where it is written as IPv6. Returns: its length; 0: not an
 * address. */
static int parse_address(struct bt_str host, unsigned char *out)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	char text[ADDRESS_MAX];

	if (host.len >= 3 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']') {
		host = bt_str_sub(host, 1, host.len - 1);
	}
	if (host.len >= sizeof(text)) {
		return 0;
	}
	memcpy(text, host.ptr, host.len);
	text[host.len] = 0;
	if (inet_pton(AF_INET, text, out) == 1) {
		return 4;
	}
	if (inet_pton(AF_INET6, text, out) != 1) {
		return 0;
	}
	if (memcmp(out, mapped, sizeof(mapped)) == 0) {
		memmove(out, out + sizeof(mapped), 4);
		return 4;
	}
	return 16;
}

static bool same_address(const ASN1_OCTET_STRING *listed, const unsigned char *address, int n)
{
	char text[INET6_ADDRSTRLEN] = "";
	unsigned char bytes[16];
	int length = ASN1_STRING_length(listed);

	if (length == 16) { /* an IPv4 may be listed as IPv6 */
		inet_ntop(AF_INET6, ASN1_STRING_get0_data(listed), text, sizeof(text));
		length = parse_address(bt_str(text), bytes);
		return length == n && memcmp(bytes, address, (size_t)n) == 0;
	}
	return length == n && memcmp(ASN1_STRING_get0_data(listed), address, (size_t)n) == 0;
}

static bool has_common_name(const X509 *own, struct bt_str host)
{
	char name[256] = "";

	X509_NAME_get_text_by_NID(X509_get_subject_name(own), NID_commonName, name, sizeof(name));
	return matches(bt_str(name), host);
}

/* Appends a name of a certificate, which may be hostile: only valid names go to a terminal. */
static bool describe_name(const GENERAL_NAME *name, bool address, struct bt_buf *out)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (name->type != (address ? GEN_IPADD : GEN_DNS)) {
		return false;
	}
	if (!address) {
		bt_buf_str(out, is_host(verify_text_of(name->d.dNSName), true)
					? verify_text_of(name->d.dNSName)
					: bt_str("?"));
	} else if (ASN1_STRING_length(name->d.ip) == 4 || ASN1_STRING_length(name->d.ip) == 16) {
		inet_ntop(ASN1_STRING_length(name->d.ip) == 4 ? AF_INET : AF_INET6,
			ASN1_STRING_get0_data(name->d.ip), text, sizeof(text));
		bt_buf_text(out, text);
	}
	return true;
}

/* As the error of crypto/x509, which operators know. */
static void describe_names(
	const X509 *own, const GENERAL_NAMES *names, struct bt_str host, bool address, struct bt_buf *out_why)
{
	struct bt_buf list = {0};
	uint32_t n = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(names) && n < NAME_MAX_N; i++) {
		size_t from = list.len;

		bt_buf_text(&list, n ? ", " : "");
		if (describe_name(sk_GENERAL_NAME_value(names, i), address, &list)) {
			n++;
		} else {
			list.len = from;
		}
	}
	if (!names && !address && has_common_name(own, host)) {
		bt_buf_text(
			out_why, "x509: certificate relies on legacy Common Name field, use SANs instead");
	} else if (n) {
		bt_buf_printf(out_why, "x509: certificate is valid for %.*s, not %.*s",
			BT_STR_ARG(bt_buf_view(&list)), BT_STR_ARG(host));
	} else {
		bt_buf_printf(out_why,
			address ? "x509: cannot validate certificate for %.*s because it doesn't contain any "
				  "IP SANs"
				: "x509: certificate is not valid for any names, but wanted to match %.*s",
			BT_STR_ARG(host));
	}
	bt_buf_fini(&list);
}

int bt_verify_name(const X509 *own, struct bt_str host, struct bt_buf *out_why)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(own, NID_subject_alt_name, NULL, NULL);
	unsigned char address[16];
	int address_n = parse_address(host, address);
	bool good = false;

	for (int i = 0; i < sk_GENERAL_NAME_num(names) && !good; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		good = address_n ? name->type == GEN_IPADD && same_address(name->d.ip, address, address_n)
				 : name->type == GEN_DNS && matches(verify_text_of(name->d.dNSName), host);
	}
	if (!good) {
		describe_names(own, names, host, address_n != 0, out_why);
	}
	GENERAL_NAMES_free(names);
	return good ? X509_V_OK : address_n ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH;
}
