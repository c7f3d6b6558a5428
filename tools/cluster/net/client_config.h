/* SPDX-License-Identifier: Apache-2.0
 * Address and credentials of an API server: from a kubeconfig, or from within a pod. Certificates, tokens and
 * files that rotate are read again when they have changed. Source: client-go's tools/clientcmd, rest and
 * plugin/pkg/client/auth/exec, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

struct bt_client_config;
struct bt_client_metrics;

struct bt_client_config_options {
	const char *kubeconfig; /* a file; NULL: master alone, else in-cluster, else $KUBECONFIG or
				   ~/.kube/config */
	const char *master;	/* overrides the server's address; or NULL */
	const char *context;	/* of the kubeconfig; NULL: its current one */
	const char *user_agent; /* NULL: "berth/VERSION" */
};

/* Returns: NULL with the reason in out_error: file, line, field, remedy; never a secret. Owns:
 * bt_client_config_destroy. */
struct bt_client_config *bt_client_config_create(
	const struct bt_client_config_options *options, struct bt_buf *out_error);
void bt_client_config_destroy(struct bt_client_config *access);

/* A server without a kubeconfig, such as an extender. Texts are copied; empty: none. */
struct bt_client_config_target {
	struct bt_str url;			   /* http:// or https:// */
	struct bt_str server_name;		   /* the name for TLS, when it is not the URL's host */
	struct bt_str authority, certificate, key; /* PEM; they override the files */
	struct bt_str authority_file, certificate_file, key_file;
	bool insecure;
};

/* The same for a target. */
struct bt_client_config *bt_client_config_create_for(
	const struct bt_client_config_target *target, struct bt_buf *out_error);

/* Calls file for each file that is read periodically. Returns: whether a credential plugin is configured. */
bool bt_client_config_needs(
	const struct bt_client_config *access, void (*file)(void *context, const char *path), void *context);

/* Calls file for each kubeconfig that was read; kubeconfigs are read once. */
void bt_client_config_sources(
	const struct bt_client_config *access, void (*file)(void *context, const char *path), void *context);

/* "https://10.0.0.1:6443", for messages. */
const char *bt_client_config_server(const struct bt_client_config *access);

/* "10.0.0.1:6443". */
const char *bt_client_config_host(const struct bt_client_config *access);

/* Metrics of all clients of this config; see client_metrics.h. */
struct bt_client_metrics *bt_client_config_metrics(const struct bt_client_config *access);

#define BT_EXEC_CODES 256
#define BT_EXEC_AGES  11

enum bt_reload {
	BT_RELOAD_UNREAD = 0,
	BT_RELOAD_EMPTY,
	BT_RELOAD_UNPARSED,
	BT_RELOAD_UNCHANGED,
	BT_RELOAD_UPDATED,
	BT_RELOAD_N
};

/* Runs of credential plugins, the lifetime of their client certificates, and reloads of the CA file. Source:
 * client-go's plugin/pkg/client/auth/exec/metrics.go and transport/ca_rotation.go, v0.36.3. */
struct bt_client_config_counts {
	uint64_t exits[BT_EXEC_CODES]; /* runs, by exit code */
	uint64_t killed_n, missing_n,
		failed_n;		 /* ended by a signal; not found; not started for another reason */
	uint64_t ages[BT_EXEC_AGES + 1]; /* age of certificates when they were replaced, by
					  * bt_client_config_age_bounds; the last: beyond */
	double age_sum_s;
	int64_t expires_s; /* when the current certificate expires, since the epoch; INT64_MAX: none */
	uint64_t reloads[BT_RELOAD_N];
};

/* Adds the counts of this config; expires_s becomes the earlier of both. Context: any thread. */
void bt_client_config_count(const struct bt_client_config *access, struct bt_client_config_counts *counts);

/* In seconds, ascending. */
extern const double bt_client_config_age_bounds[BT_EXEC_AGES];
