/* SPDX-License-Identifier: Apache-2.0
 * Where and to whom the server answers, as kube-scheduler's flags say it. Plain values; texts are the
 * caller's, and NULL or empty where a flag was not given.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/object.h"

struct bt_serve_settings {
	const char *bind_address; /* an IP address; NULL or empty: every one */
	uint16_t port;		  /* 0: nothing is served */
	bool share_port;	  /* SO_REUSEPORT */
	const char *cert_file, *key_file, *cert_dir;
	bool tls13;			  /* TLS 1.3 and no other */
	struct bt_str_list cipher_suites; /* of TLS 1.2, by their IANA names; none: the usual */
	const char *client_ca_file;
	bool skip_lookup, tolerate_lookup_failure; /* of the cluster's CA of client certificates */
	struct bt_str_list always_allow;	   /* paths, a * at the end stands for anything */
	int64_t token_ttl_ns, allowed_ttl_ns, refused_ttl_ns;
	struct bt_str_list disabled_metrics;
};
