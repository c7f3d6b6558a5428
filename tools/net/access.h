/* SPDX-License-Identifier: Apache-2.0
 * Where an API server is, and as whom to speak to it: from a kubeconfig, or from within a pod. Certificates,
 * tokens and files that rotate are read again when they have changed. Source: client-go's tools/clientcmd,
 * rest and plugin/pkg/client/auth/exec, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

struct bt_access;
struct bt_traffic;

struct bt_access_options {
	const char *kubeconfig; /* a file; NULL: $KUBECONFIG, then in-cluster, then ~/.kube/config */
	const char *master;	/* overrides the server's address; or NULL */
	const char *context;	/* of the kubeconfig; NULL: its current one */
	const char *user_agent; /* NULL: "berth/VERSION" */
};

/* Returns: NULL with the reason in out_error: file, line, field, remedy. Never a secret in it.
 * Owns: bt_access_destroy. */
struct bt_access *bt_access_create(const struct bt_access_options *options, struct bt_buf *out_error);
void bt_access_destroy(struct bt_access *access);

/* A server that no kubeconfig names, such as an extender. Texts are copied; empty: none. */
struct bt_access_target {
	struct bt_str url;			   /* http:// or https:// */
	struct bt_str server_name;		   /* the name that TLS asks for, when it is not the URL's */
	struct bt_str authority, certificate, key; /* PEM; they count more than the files */
	struct bt_str authority_file, certificate_file, key_file;
	bool insecure;
};

/* The same for such a server. */
struct bt_access *bt_access_create_for(const struct bt_access_target *target, struct bt_buf *out_error);

/* "https://10.0.0.1:6443", for messages. */
const char *bt_access_server(const struct bt_access *access);

/* "10.0.0.1:6443". */
const char *bt_access_host(const struct bt_access *access);

/* What was asked of the server by all clients of this access; see traffic.h. */
struct bt_traffic *bt_access_traffic(const struct bt_access *access);

/* The namespace of the context, or of the pod; "" where none is said. */
const char *bt_access_namespace(const struct bt_access *access);
