/* SPDX-License-Identifier: Apache-2.0
 * How the process reaches API servers, and what it may open once it is sandboxed. Made once;
 * a scheduler that is started anew under another release has the same.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "tools/cluster/net/client_config.h"
#include "tools/cluster/run/flags.h"

/* init: const after bt_run_access_create, but for what is private */
struct bt_run_access {
	const struct bt_run_flags *flags;
	char *kubeconfig; /* or NULL */
	struct bt_client_config *api;
	/* Who is asked about callers; NULL: the server of everything else. */
	struct bt_client_config *authentication, *authorization;
	bool confined; /* private; owner: the main thread */
};

/* The text with an end, for calls that take a C string. Owns: bt_mem_free. */
char *bt_run_copy_text(struct bt_str text);

/* Nothing speaks to a server yet. flags outlive it. Returns: NULL with the reason in out_error. Owns:
 * bt_run_access_destroy. */
struct bt_run_access *bt_run_access_create(
	const struct bt_run_flags *flags, const struct bt_config *config, struct bt_buf *out_error);
void bt_run_access_destroy(struct bt_run_access *access);

/* Calls for each file that is read again later. Returns: whether a credential plugin is run. */
bool bt_run_access_each_file(const struct bt_run_access *access, const struct bt_config *config,
	void (*file)(void *context, const char *path), void *context);

/* Is the file one that is read again later, or a kubeconfig? */
bool bt_run_access_reads(
	const struct bt_run_access *access, const struct bt_config *config, const char *path);

/* Gives up the rights that the process does not need from now on (sandbox.h); nothing the second time.
 * Context: as bt_sandbox_enter. Returns: false with the reason in out_error. */
bool bt_run_access_confine(
	struct bt_run_access *access, const struct bt_config *config, struct bt_buf *out_error);
