/* SPDX-License-Identifier: Apache-2.0
 * Where and to whom the server answers, as kube-scheduler's flags say it. Plain values; texts are the
 * caller's, and NULL or empty where a flag was not given.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/object.h"
#include "tools/serve/metric_settings.h"

/* What front proxies may say in which headers. */
struct bt_front_proxy_settings {
	struct bt_str_list allowed_names; /* common names; none: any that the CA has signed */
	struct bt_str_list username_headers, uid_headers, group_headers, extra_prefixes;
};

struct bt_serve_settings {
	const char *bind_address; /* an IP address; NULL or empty: every one */
	uint16_t port;		  /* 0: nothing is served */
	bool share_port;	  /* SO_REUSEPORT */
	const char *cert_file, *key_file, *cert_dir;
	bool tls13;			  /* TLS 1.3 and no other */
	struct bt_str_list cipher_suites; /* of TLS 1.2, by their IANA names; none: the usual */
	const char *client_ca_file;
	const char *proxy_ca_file; /* NULL: what the cluster says of front proxies counts, all of it */
	struct bt_front_proxy_settings proxy;
	bool no_proxy_uids; /* the cluster's headers of UIDs do not count: gate RemoteRequestHeaderUID */
	bool skip_lookup, tolerate_lookup_failure; /* of the cluster's CA of client certificates */
	struct bt_str_list always_allow;	   /* paths, a * at the end stands for anything */
	int64_t token_ttl_ns, allowed_ttl_ns, refused_ttl_ns;
	struct bt_metric_settings metrics;
};
