/* SPDX-License-Identifier: Apache-2.0
 * The flags of berth run as plain values, and what they change in a configuration. The table of flags is
 * tools/cli/run_options.c; what it can check has been checked when the command line was read.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/config/config.h"
#include "tools/cli/invocation.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/run/sandbox.h"
#include "tools/cluster/run/versions.h"
#include "tools/cluster/serve/settings.h"

enum bt_run_version { BT_RUN_NO_VERSION = 0, BT_RUN_VERSION, BT_RUN_VERSION_RAW };

/* Texts are NULL where a flag was not given or is empty. */
struct bt_run_flags {
	const struct bt_invocation *invocation;
	struct bt_arena arena;	/* private: what lists lie in */
	const char *config;	/* a file */
	const char *kubeconfig; /* counts without config only; bt_run_flags_apply puts it where it belongs */
	const char *master;	/* URL */
	const char *write_config_to; /* a file, or "-" */
	const char *authentication_kubeconfig, *authorization_kubeconfig;
	const char *cpus, *journal;
	struct bt_serve_settings serving;
	struct bt_run_versions versions;
	struct bt_release release; /* as bt_run_flags_settle has made it, as the next one */
	struct bt_gates gates;
	enum bt_log_format log_format;
	int verbosity;
	enum bt_run_version version;
	bool shadow, follow_server;
	enum bt_sandbox_mode sandbox;
	uint32_t workers; /* 0: from the machine */
	uint32_t threads;
	uint64_t seed;
	const char *node_sampling; /* configured, all or upstream */
	uint32_t bindings_in_flight, connections, page;
};

/*
 * Reads the flags. What is wrong is said on standard error with the remedy.
 * Returns: enum bt_exit. Owns: bt_run_flags_fini, in any case; texts point into the command line.
 */
int bt_run_flags_read(const struct bt_invocation *invocation, struct bt_run_flags *out_flags);
void bt_run_flags_fini(struct bt_run_flags *flags);

/* Reads what depends on the release that decides: versions and feature gates. What is wrong is said. Once for
 * each release that is tried. Requires: nothing looks at flags.release and flags.gates. Returns: enum
 * bt_exit. */
int bt_run_flags_settle(struct bt_run_flags *flags, const struct bt_release *binary);

/*
 * Puts the flags that belong to a configuration into it, as upstream: those of leader election in any case,
 * kubeconfig and those of the client when there is no --config. After its defaults, before it is validated
 * (again).
 * Returns: enum bt_exit. Owns: config keeps views of the command line.
 */
int bt_run_flags_apply(const struct bt_invocation *invocation, struct bt_config *config);

/* Do a connection's content types leave JSON alone for what is read? Source: rest.NewRequest, v0.36.3. */
bool bt_run_reads_json(const struct bt_client_connection_config *connection);

/* How fast may be written: what a connection says, and client-go's own where that is 0. qps below 0: without
 * a limit. Source: DefaultQPS and DefaultBurst of rest.Config, v0.36.3. */
struct bt_run_rate {
	float qps;
	uint32_t burst;
};
struct bt_run_rate bt_run_rate_of(const struct bt_client_connection_config *connection);

/* Calls for every flag of the command with its value as kube-scheduler's flags print theirs, in the order of
 * names. Context: any thread. */
void bt_run_flags_each(const struct bt_run_flags *flags,
	void (*call)(void *context, const char *name, struct bt_str value), void *context);

/* Says of each flag that was given and changes nothing, by a line of the log each, that this is so. */
void bt_run_flags_warn(const struct bt_invocation *invocation);

/* The same for what the configuration says. */
void bt_run_config_warn(const struct bt_config *config);
