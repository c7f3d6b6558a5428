/* SPDX-License-Identifier: Apache-2.0
 * Client configs for API servers, and the files that stay readable in the sandbox. Created once; a scheduler
 * that restarts under another release uses the same.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "tools/cluster/net/client_config.h"
#include "tools/cluster/run/flags.h"

/* init: const after bt_run_access_create, except for private fields */
struct bt_run_access {
	const struct bt_run_flags *flags;
	char *kubeconfig; /* or NULL */
	struct bt_client_config *api;
	/* The server for authentication and authorization; NULL: the same as for everything else. */
	struct bt_client_config *authentication, *authorization;
	bool confined; /* private; owner: the main thread */
};

/* A copy that ends in NUL. Owns: bt_mem_free. */
char *bt_run_copy_text(struct bt_str text);

/* Connects to no server yet. flags outlive it. Returns: NULL with the reason in out_error. Owns:
 * bt_run_access_destroy. */
struct bt_run_access *bt_run_access_create(
	const struct bt_run_flags *flags, const struct bt_config *config, struct bt_buf *out_error);
void bt_run_access_destroy(struct bt_run_access *access);

/* Calls file for each file that is read again later. Returns: whether a credential plugin is configured. */
bool bt_run_access_each_file(const struct bt_run_access *access, const struct bt_config *config,
	void (*file)(void *context, const char *path), void *context);

/* Whether the file is one that is read again later, or a kubeconfig. */
bool bt_run_access_reads(
	const struct bt_run_access *access, const struct bt_config *config, const char *path);

/* Enters the sandbox (sandbox.h); a second call has no effect. Context: as bt_sandbox_enter. Returns: false
 * with the reason in out_error. */
bool bt_run_access_confine(
	struct bt_run_access *access, const struct bt_config *config, struct bt_buf *out_error);
