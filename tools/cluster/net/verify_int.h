/* SPDX-License-Identifier: Apache-2.0
 * Parts of the check of a chain.
 * Context: any thread.
 */
#pragma once

#include <openssl/x509.h>
#include <stdbool.h>

/*
 * Whether every name of every certificate in a chain, the first one's own, is within the constraints of all
 * authorities above it, by Go's rules: names of hosts, addresses, mailboxes and URIs; a constraint on another
 * kind of name counts nowhere.
 * Returns: X509_V_OK, or an error, with the certificate that is outside in *out_culprit.
 */
int bt_verify_constraints(X509 *const *chain, int chain_n, X509 **out_culprit);

/* Whether a certificate has a critical extension that Go does not know all of. */
bool bt_verify_has_unknown(const X509 *one);
