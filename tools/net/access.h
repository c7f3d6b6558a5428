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

/* "https://10.0.0.1:6443", for messages. */
const char *bt_access_server(const struct bt_access *access);

/* "10.0.0.1:6443". */
const char *bt_access_host(const struct bt_access *access);

/* What was asked of the server by all clients of this access; see traffic.h. */
struct bt_traffic *bt_access_traffic(const struct bt_access *access);

/* The namespace of the context, or of the pod; "" where none is said. */
const char *bt_access_namespace(const struct bt_access *access);
