/* SPDX-License-Identifier: Apache-2.0
 * Settings of the server, by kube-scheduler's flags. Plain values; texts are the caller's, and NULL or empty
 * where a flag was not given.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/model/object.h"
#include "tools/cluster/serve/metric_settings.h"

/* The header names of front proxies. */
struct bt_front_proxy_settings {
	struct bt_str_list allowed_names; /* common names; none: any certificate of the CA */
	struct bt_str_list username_headers, uid_headers, group_headers, extra_prefixes;
};

/* A certificate for some names; none: those in the certificate. */
struct bt_sni_settings {
	const char *cert_file, *key_file;
	struct bt_str_list names;
};

struct bt_serve_settings {
	const char *bind_address; /* an IP address; NULL or empty: all */
	uint16_t port;		  /* 0: nothing is served */
	bool share_port;	  /* SO_REUSEPORT */
	const char *cert_file, *key_file, *cert_dir;
	bool tls13;			  /* TLS 1.3 and no other */
	struct bt_str_list cipher_suites; /* of TLS 1.2, by their IANA names; none: Go's */
	const uint32_t *curves;		  /* Go's numbers of key exchanges; none: all that are served */
	uint32_t curve_n;
	const struct bt_sni_settings *sni;
	uint32_t sni_n;
	const char *client_ca_file;
	const char *proxy_ca_file; /* NULL: all settings of front proxies come from the cluster's ConfigMap */
	struct bt_front_proxy_settings proxy;
	bool no_proxy_uids; /* the cluster's UID headers are ignored: gate RemoteRequestHeaderUID */
	bool skip_lookup, tolerate_lookup_failure; /* lookup of the cluster's client CA */
	struct bt_str_list always_allow;	   /* paths; a trailing * is a wildcard */
	int64_t token_ttl_ns, allowed_ttl_ns, refused_ttl_ns;
	struct bt_metric_settings metrics;
};

/* A list of texts, copied. */
static inline struct bt_str_list bt_serve_copy_list(struct bt_arena *arena, const struct bt_str_list *from)
{
	struct bt_str *items = from->n ? bt_arena_zalloc(arena, from->n * sizeof(*items)) : NULL;

	for (uint32_t i = 0; i < from->n; i++) {
		items[i] = (struct bt_str){
			bt_arena_copy(arena, from->items[i].ptr, from->items[i].len), from->items[i].len};
	}
	return (struct bt_str_list){.items = items, .n = from->n};
}
