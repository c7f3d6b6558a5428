/* SPDX-License-Identifier: Apache-2.0
 * The settings of a kubeconfig, or of the pod that we run in, for the server and for us: one chosen context.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/object.h"
#include "tools/cluster/net/client_config.h"

/* Bytes that are cleared when they are freed. */
struct bt_secret {
	char *ptr; /* ends in NUL; NULL: none */
	size_t len;
};

void bt_secret_set(struct bt_secret *secret, const void *bytes, size_t n);
void bt_secret_fini(struct bt_secret *secret);

/* Clears the bytes of a buffer and frees it. */
void bt_secret_buf_fini(struct bt_buf *buf);

struct bt_exec_env {
	struct bt_str name, value;
};

/* A program that prints credentials: users[].user.exec. */
struct bt_exec_plan {
	struct bt_str command, api_version, interactive_mode, install_hint;
	struct bt_str_list args;
	struct bt_exec_env *env;
	uint32_t env_n;
	bool cluster;		      /* provideClusterInfo */
	struct bt_str cluster_config; /* JSON: the extension client.authentication.k8s.io/exec; empty: none */
};

#define BT_KUBECONFIG_MAX 16 /* files in $KUBECONFIG */

struct bt_client_config_plan {
	struct bt_arena arena; /* backs everything that is not secret */
	struct bt_str server, tls_server_name, proxy_url, namespace_;
	bool insecure, disable_compression;
	bool proxy_from_environment; /* no proxy-url is set */
	/* Files, and inline data; data overrides the file. */
	const char *sources[BT_KUBECONFIG_MAX]; /* the kubeconfigs that were read; then NULL */
	const char *authority_file, *certificate_file, *key_file, *token_file;
	struct bt_secret authority, certificate, key;
	struct bt_secret token, username, password;
	struct bt_str as, as_uid;
	struct bt_str_list as_groups;
	struct bt_str_list *as_extra_values; /* values per as_extra_keys */
	struct bt_str_list as_extra_keys;
	bool has_exec;
	struct bt_exec_plan exec;
};

void bt_client_config_plan_fini(struct bt_client_config_plan *plan);

/*
 * Reads options->kubeconfig, or else files, separated by ':', and follows options->context. The first file
 * that names an entry decides; missing files are skipped. With options->master the files need not name a
 * server.
 * Returns: false with the reason in out_error.
 */
bool bt_kubeconfig_read(const char *files, const struct bt_client_config_options *options,
	struct bt_client_config_plan *out_plan, struct bt_buf *out_error);

/* The folder of a pod's service account. Tests use another. */
#define BT_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* Returns: false when we do not run in a pod; the reason is in out_error. */
bool bt_in_cluster_plan(const char *folder, struct bt_client_config_plan *out_plan, struct bt_buf *out_error);

/* The environment's proxy for a URL, by Go's rules; "" for none. Returns: false: the variable is not a URL of
 * a proxy. */
bool bt_proxy_from_environment(struct bt_str url, struct bt_buf *out_proxy, struct bt_buf *out_error);

/* http://, https:// or socks5://, as libcurl expects it. Returns: false: another scheme. */
bool bt_proxy_url(struct bt_str url, struct bt_buf *out_proxy);
