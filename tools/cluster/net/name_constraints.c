/* SPDX-License-Identifier: Apache-2.0
 * Name constraints. Source: crypto/x509 of Go 1.26, constraints.go and parser.go. OpenSSL's differ: it counts
 * directory names and addresses in URIs, and does not look at wildcards.
 */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <strings.h>

#include "engine/base/str.h"
#include "tools/cluster/net/verify_int.h"

#define COMPARISON_MAX (1u << 20) /* for one certificate and one authority; OpenSSL has the same */

static struct bt_str text_of(const GENERAL_NAME *name)
{
	const ASN1_STRING *text = name->type == GEN_IPADD ? name->d.ip : name->d.ia5;

	return (struct bt_str){(const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text)};
}

static bool is_known(int type)
{
	return type == GEN_DNS || type == GEN_EMAIL || type == GEN_URI || type == GEN_IPADD;
}

static bool same_text(struct bt_str a, struct bt_str b)
{
	return a.len == b.len && (!a.len || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- what may stand there at all ---- */

/* Source: domainNameValid. */
static bool is_domain(struct bt_str text)
{
	size_t label = 0;

	for (size_t i = 0; i <= text.len && text.len; i++) {
		char c = i < text.len ? text.ptr[i] : '.';

		if (c < 33 || c > 126 || (c == '.' && i == label)) {
			return false;
		}
		label = c == '.' ? i + 1 : label;
	}
	return true;
}

static bool is_address(struct bt_str text)
{
	unsigned char address[16];
	char name[INET6_ADDRSTRLEN];

	if (bt_str_starts(text, "[") || text.len >= sizeof(name)) {
		return text.len < sizeof(name);
	}
	memcpy(name, text.ptr, text.len);
	name[text.len] = 0;
	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* The host of a URI, which must have one that is no address. */
static bool take_host(struct bt_str uri, struct bt_str *out_host)
{
	size_t from = bt_str_find(uri, ':', 0), end;

	if (uri.len < from + 3 || memcmp(uri.ptr + from, "://", 3) != 0) {
		return false;
	}
	uri = bt_str_sub(uri, from + 3, uri.len);
	for (const char *mark = "/?#"; *mark; mark++) {
		uri = bt_str_sub(uri, 0, bt_str_find(uri, *mark, 0));
	}
	while ((end = bt_str_find(uri, '@', 0)) < uri.len) {
		uri = bt_str_sub(uri, end + 1, uri.len);
	}
	if (!bt_str_starts(uri, "[")) {
		uri = bt_str_sub(uri, 0, bt_str_find(uri, ':', 0));
	}
	*out_host = uri;
	return uri.len && !is_address(uri) && is_domain(uri);
}

/* The domain of a mailbox. A local part in quotes is more than anybody has in a certificate. */
static bool take_domain(struct bt_str mailbox, struct bt_str *out_domain)
{
	size_t at = bt_str_find(mailbox, '@', 0);

	for (size_t i = 0; i < at; i++) {
		char c = mailbox.ptr[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		bool dot = c == '.' && i && i + 1 < at && mailbox.ptr[i - 1] != '.';

		if (!letter && !dot && (!c || !strchr("!#$%&'*+-/=?^_`{|}~", c))) {
			return false;
		}
	}
	if (at == 0 || at == mailbox.len) {
		return false;
	}
	*out_domain = bt_str_sub(mailbox, at + 1, mailbox.len);
	return is_domain(*out_domain);
}

/* ---- whether a constraint means a name ---- */

/* ".example.com" means what is below it alone, "example.com" also itself, "" everything. */
static bool has_suffix(struct bt_str name, struct bt_str constraint)
{
	if (!constraint.len) {
		return true;
	}
	if (constraint.len > name.len ||
		!same_text(bt_str_sub(name, name.len - constraint.len, name.len), constraint)) {
		return false;
	}
	return constraint.ptr[0] == '.' || name.len == constraint.len ||
	       name.ptr[name.len - constraint.len - 1] == '.';
}

/* Whether a wildcard may stand for what is excluded: "*.example.com" for "a.example.com". */
static bool is_beside(struct bt_str wildcard, struct bt_str constraint)
{
	struct bt_str below = bt_str_sub(wildcard, bt_str_find(wildcard, '.', 0), wildcard.len);

	return bt_str_starts(wildcard, "*") && below.len &&
	       same_text(below, bt_str_sub(constraint, bt_str_find(constraint, '.', 0), constraint.len));
}

static bool has_address(struct bt_str range, struct bt_str address)
{
	for (size_t i = 0; i < address.len && range.len == 2 * address.len; i++) {
		if ((range.ptr[i] ^ address.ptr[i]) & range.ptr[address.len + i]) {
			return false;
		}
	}
	return range.len == 2 * address.len;
}

static bool is_mailbox(struct bt_str constraint, struct bt_str mailbox)
{
	size_t at = bt_str_find(mailbox, '@', 0);
	struct bt_str domain = bt_str_sub(mailbox, at + 1, mailbox.len);

	if (bt_str_find(constraint, '@', 0) == constraint.len) {
		return has_suffix(domain, constraint);
	}
	return constraint.len == mailbox.len && memcmp(constraint.ptr, mailbox.ptr, at + 1) == 0 &&
	       same_text(bt_str_sub(constraint, at + 1, constraint.len), domain);
}

static bool means(const GENERAL_NAME *constraint, const GENERAL_NAME *name, bool excluded)
{
	struct bt_str wanted = text_of(constraint), text = text_of(name), host = {0};

	switch (name->type) {
	case GEN_IPADD:
		return has_address(wanted, text);
	case GEN_EMAIL:
		return is_mailbox(wanted, text);
	case GEN_URI:
		return take_host(text, &host) && has_suffix(host, wanted);
	default:
		return has_suffix(text, wanted) || (excluded && is_beside(text, wanted));
	}
}

/* ---- a chain ---- */

/* Where names of a kind are permitted, the others of that kind are not. */
static int check_name(const GENERAL_NAME *name, const NAME_CONSTRAINTS *constraints)
{
	bool limited = false, permitted = false;

	for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees); i++) {
		const GENERAL_NAME *base = sk_GENERAL_SUBTREE_value(constraints->permittedSubtrees, i)->base;

		if (base->type == name->type) {
			limited = true;
			permitted = permitted || means(base, name, false);
		}
	}
	if (limited && !permitted) {
		return X509_V_ERR_PERMITTED_VIOLATION;
	}
	for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees); i++) {
		const GENERAL_NAME *base = sk_GENERAL_SUBTREE_value(constraints->excludedSubtrees, i)->base;

		if (base->type == name->type && means(base, name, true)) {
			return X509_V_ERR_EXCLUDED_VIOLATION;
		}
	}
	return X509_V_OK;
}

static bool is_well_formed(const GENERAL_NAME *name)
{
	struct bt_str unused, text = text_of(name);

	return name->type == GEN_URI	 ? take_host(text, &unused)
	       : name->type == GEN_EMAIL ? take_domain(text, &unused)
	       : name->type == GEN_DNS	 ? is_domain(text)
					 : true;
}

static int check_names(const GENERAL_NAMES *names, const NAME_CONSTRAINTS *constraints)
{
	int n = sk_GENERAL_NAME_num(names);
	int64_t all = (int64_t)sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees) +
		      sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees) + 2;

	if (n * all > COMPARISON_MAX) {
		return X509_V_ERR_UNSPECIFIED;
	}
	for (int i = 0; i < n; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (!is_known(name->type)) {
			continue;
		}
		int error = is_well_formed(name) ? check_name(name, constraints)
						 : X509_V_ERR_UNSUPPORTED_NAME_SYNTAX;

		if (error != X509_V_OK) {
			return error;
		}
	}
	return X509_V_OK;
}

int bt_verify_constraints(X509 *const *chain, int chain_n, X509 **out_culprit)
{
	int error = X509_V_OK;

	for (int above = 1; above < chain_n && error == X509_V_OK; above++) {
		NAME_CONSTRAINTS *constraints =
			X509_get_ext_d2i(chain[above], NID_name_constraints, NULL, NULL);

		for (int i = 0; constraints && i < above && error == X509_V_OK; i++) {
			GENERAL_NAMES *names = X509_get_ext_d2i(chain[i], NID_subject_alt_name, NULL, NULL);

			error = check_names(names, constraints);
			*out_culprit = error == X509_V_OK ? *out_culprit : chain[i];
			GENERAL_NAMES_free(names);
		}
		NAME_CONSTRAINTS_free(constraints);
	}
	ERR_clear_error();
	return error;
}

/* ---- extensions ---- */

/* Names of which Go knows none, where they must be known. */
static bool has_unknown_names(const X509 *one)
{
	int critical = 0;
	bool known = false;
	GENERAL_NAMES *names = X509_get_ext_d2i(one, NID_subject_alt_name, &critical, NULL);

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		known = known || is_known(sk_GENERAL_NAME_value(names, i)->type);
	}
	GENERAL_NAMES_free(names);
	return names && critical > 0 && !known;
}

static bool has_unknown_subtree(const STACK_OF(GENERAL_SUBTREE) * subtrees)
{
	for (int i = 0; i < sk_GENERAL_SUBTREE_num(subtrees); i++) {
		if (!is_known(sk_GENERAL_SUBTREE_value(subtrees, i)->base->type)) {
			return true;
		}
	}
	return false;
}

bool bt_verify_has_unknown(const X509 *one)
{
	int critical = 0;
	NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(one, NID_name_constraints, &critical, NULL);
	bool unknown = constraints && critical > 0 &&
		       (has_unknown_subtree(constraints->permittedSubtrees) ||
			       has_unknown_subtree(constraints->excludedSubtrees));

	NAME_CONSTRAINTS_free(constraints);
	return unknown || has_unknown_names(one);
}
