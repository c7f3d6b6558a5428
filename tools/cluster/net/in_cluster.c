/* SPDX-License-Identifier: Apache-2.0
 * The API server of the cluster in which we run as a pod, by its service account. Source: client-go's rest
 * package, v0.36.3.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cluster/net/plan_int.h"

static const char *file_of(struct bt_client_config_plan *plan, const char *folder, const char *name)
{
	struct bt_buf path = {0};

	bt_buf_printf(&path, "%s/%s", folder, name);
	const char *kept = bt_arena_copy(&plan->arena, path.ptr, path.len);

	bt_buf_fini(&path);
	return kept;
}

bool bt_in_cluster_plan(const char *folder, struct bt_client_config_plan *out_plan, struct bt_buf *out_error)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
	struct bt_client_config_plan plan = {.proxy_from_environment = true};
	struct bt_buf server = {0};

	if (!host || !port || !*host || !*port) {
		bt_buf_text(out_error, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set; the "
				       "kubelet does so");
		return false;
	}
	bt_buf_printf(&server, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
	plan.server.ptr = bt_arena_copy(&plan.arena, server.ptr, server.len);
	plan.server.len = server.len;
	plan.token_file = file_of(&plan, folder, "token");
	plan.authority_file = file_of(&plan, folder, "ca.crt");
	bt_buf_fini(&server);
	*out_plan = plan;
	return true;
}
