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
	BT_EXEC_NONE = 0, /* it was not to run, or to be stopped */
	BT_EXEC_EXITED,
	BT_EXEC_KILLED,
	BT_EXEC_MISSING, /* it could not be begun */
	BT_EXEC_BROKEN	 /* we could not even try */
};

/* What a plugin has said. Owns: bt_exec_credential_fini. */
struct bt_exec_credential {
	struct bt_secret token, certificate, key; /* empty: not said */
	int64_t expires_ns;			  /* since the epoch; INT64_MAX: never */
	int64_t from_s, until_s; /* of the certificate, since the epoch; INT64_MAX: there is none to read */
	enum bt_exec_end end;
	int code; /* it exited with */
};

void bt_exec_credential_fini(struct bt_exec_credential *credential);

/* What is asked of a plugin, and for how long. */
struct bt_exec_call {
	const struct bt_client_config_plan *plan;
	const char *server;
	struct bt_str
		authority; /* whom the cluster's certificate is checked with, in PEM; empty: the system's */
	int64_t limit_ns;
	int stop; /* a file that becomes readable when the program shall be killed and the answer does not
		   * matter any more; -1: none */
};

/*
 * Runs the plan's plugin and reads what it prints until it ends; what it leaves running is not waited for.
 * Context : blocks, at most limit_ns.
 * Returns : false with the reason in out_error; nothing that the program has printed is in it. How the
 * program ended is in out_credential in any case, and nothing else then.
 */
bool bt_exec_run(
	const struct bt_exec_call *call, struct bt_exec_credential *out_credential, struct bt_buf *out_error);
