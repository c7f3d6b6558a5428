/* SPDX-License-Identifier: Apache-2.0
 * The flags of berth run as plain values, and what they override in a configuration. The table of flags is
 * tools/cli/run_options.c, whose checks were made when the command line was parsed.
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
	struct bt_arena arena;	     /* private: backs the lists */
	const char *config;	     /* a file */
	const char *kubeconfig;	     /* ignored with --config; see bt_run_flags_apply */
	const char *master;	     /* URL */
	const char *write_config_to; /* a file, or "-" */
	const char *authentication_kubeconfig, *authorization_kubeconfig;
	const char *cpus, *journal;
	struct bt_serve_settings serving;
	struct bt_run_versions versions;
	struct bt_release release; /* set by bt_run_flags_settle, as the next field */
	struct bt_gates gates;
	enum bt_log_format log_format;
	int verbosity;
	enum bt_run_version version;
	bool shadow, follow_server;
	enum bt_sandbox_mode sandbox;
	uint32_t workers; /* 0: chosen by the number of CPUs */
	uint32_t threads;
	uint64_t seed;
	const char *node_sampling; /* configured, all or upstream */
	uint32_t bindings_in_flight, connections, page;
};

/*
 * Reads the flags. Errors are printed on standard error with the remedy.
 * Returns: enum bt_exit.
 * Owns: bt_run_flags_fini, in any case; texts point into the command line.
 */
int bt_run_flags_read(const struct bt_invocation *invocation, struct bt_run_flags *out_flags);
void bt_run_flags_fini(struct bt_run_flags *flags);

/* Reads the flags that depend on the release: versions and feature gates; prints errors. Called once for each
 * release that is tried. Requires: no concurrent reads of flags.release and flags.gates. Returns: enum
 * bt_exit. */
int bt_run_flags_settle(struct bt_run_flags *flags, const struct bt_release *binary);

/*
 * Copies flags into a configuration, as upstream: those of leader election in any case, kubeconfig and those
 * of the client when there is no --config. To be called after its defaults are set, before it is validated
 * (again).
 * Returns: enum bt_exit.
 * Owns: config keeps views of the command line.
 */
int bt_run_flags_apply(const struct bt_invocation *invocation, struct bt_config *config);

/* Whether a connection's content types leave only JSON for reads. Source: rest.NewRequest, v0.36.3. */
bool bt_run_reads_json(const struct bt_client_connection_config *connection);

/* The rate limit of writes: of a connection, with client-go's defaults for 0. qps below 0: no limit. Source:
 * DefaultQPS and DefaultBurst of rest.Config, v0.36.3. */
struct bt_run_rate {
	float qps;
	uint32_t burst;
};
struct bt_run_rate bt_run_rate_of(const struct bt_client_connection_config *connection);

/* Calls call for every flag with its value as kube-scheduler prints it, sorted by name. Context: any
 * thread. */
void bt_run_flags_each(const struct bt_run_flags *flags,
	void (*call)(void *context, const char *name, struct bt_str value), void *context);

/* Logs a warning for each given flag that has no effect. */
void bt_run_flags_warn(const struct bt_invocation *invocation);

/* The same for fields of the configuration. */
void bt_run_config_warn(const struct bt_config *config);
