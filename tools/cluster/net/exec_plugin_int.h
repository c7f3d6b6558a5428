/* SPDX-License-Identifier: Apache-2.0
 * Credentials from a program: client.authentication.k8s.io/v1 and v1beta1. Source: client-go's
 * plugin/pkg/client/auth/exec, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "tools/cluster/net/plan_int.h"

/* How a run of the program ended. */
enum bt_exec_end {
	BT_EXEC_NONE = 0, /* it was not run, or was stopped */
	BT_EXEC_EXITED,
	BT_EXEC_KILLED,
	BT_EXEC_MISSING, /* it could not be started */
	BT_EXEC_BROKEN	 /* the run could not be prepared */
};

/* The output of a plugin. Owns: bt_exec_credential_fini. */
struct bt_exec_credential {
	struct bt_secret token, certificate, key; /* empty: none */
	int64_t expires_ns;			  /* since the epoch; INT64_MAX: never */
	int64_t from_s, until_s; /* of the certificate, since the epoch; INT64_MAX: no readable one */
	enum bt_exec_end end;
	int code; /* exit code */
};

void bt_exec_credential_fini(struct bt_exec_credential *credential);

/* The input of a plugin, and its limits. */
struct bt_exec_call {
	const struct bt_client_config_plan *plan;
	const char *server;
	struct bt_str authority; /* PEM that verifies the cluster's certificate; empty: the system's */
	int64_t limit_ns;
	int stop; /* a file that becomes readable when the program must be killed and its result is no longer
		   * wanted; -1: none */
};

/*
 * Runs the plan's plugin and reads its output until it exits. Children that it leaves running are not waited
 * for.
 * Context : blocks, at most limit_ns.
 * Returns : false with the reason in out_error, which contains no output of the program. How the program
 *           ended is in out_credential in any case; on failure nothing else is.
 */
bool bt_exec_run(
	const struct bt_exec_call *call, struct bt_exec_credential *out_credential, struct bt_buf *out_error);
