/* SPDX-License-Identifier: Apache-2.0
 * Bytes that are cleared when they are freed.
 */
#include "tools/cluster/net/plan_int.h"

#include <string.h>

#include "engine/base/mem.h"

void bt_secret_set(struct bt_secret *secret, const void *bytes, size_t n)
{
	bt_secret_fini(secret);
	secret->ptr = bt_mem_copy(bytes, n);
	secret->len = n;
}

void bt_secret_fini(struct bt_secret *secret)
{
	if (secret->ptr) {
		explicit_bzero(secret->ptr, secret->len);
	}
	bt_mem_free(secret->ptr);
	*secret = (struct bt_secret){0};
}

void bt_secret_buf_fini(struct bt_buf *buf)
{
	if (buf->ptr) {
		explicit_bzero(buf->ptr, buf->cap);
	}
	bt_buf_fini(buf);
}

void bt_client_config_plan_fini(struct bt_client_config_plan *plan)
{
	bt_secret_fini(&plan->authority);
	bt_secret_fini(&plan->certificate);
	bt_secret_fini(&plan->key);
	bt_secret_fini(&plan->token);
	bt_secret_fini(&plan->username);
	bt_secret_fini(&plan->password);
	bt_arena_fini(&plan->arena);
	*plan = (struct bt_client_config_plan){0};
}
