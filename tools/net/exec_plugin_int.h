/* SPDX-License-Identifier: Apache-2.0
 * Credentials from a program: client.authentication.k8s.io/v1 and v1beta1. Source: client-go's
 * plugin/pkg/client/auth/exec, v0.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "tools/net/plan_int.h"

/* What a plugin has said. Owns: bt_exec_credential_fini. */
struct bt_exec_credential {
	struct bt_secret token, certificate, key; /* empty: not said */
	int64_t expires_ns;			  /* since the epoch; INT64_MAX: never */
};

void bt_exec_credential_fini(struct bt_exec_credential *credential);

/*
 * Runs the plan's plugin and reads what it prints. stop: a file that becomes readable when the program shall
 * be killed and the answer does not matter any more; -1: none.
 * Context : blocks, at most limit_ns.
 * Returns : false with the reason in out_error; nothing that the program has printed is in it.
 */
bool bt_exec_run(const struct bt_access_plan *plan, const char *server, int64_t limit_ns, int stop,
	struct bt_exec_credential *out_credential, struct bt_buf *out_error);
