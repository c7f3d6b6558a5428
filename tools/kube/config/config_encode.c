/* SPDX-License-Identifier: Apache-2.0
 * Writing KubeSchedulerConfiguration, by the tables that it is read by.
 */
#include "tools/kube/config/config_encode.h"

#include "tools/format/encode.h"
#include "tools/kube/config/config_schema.h"

/* The arguments of a plugin: typed, or as they were read. */
static bool write_args(const void *in, const struct bt_encode_go *go, struct bt_buf *out)
{
	const struct bt_config_args *args = in;
	bool typed = args->type && !args->type->raw;

	if (out && typed) {
		bt_schema_encode_go(args->type->schema, args->value, go, out);
	} else if (out) {
		bt_buf_str(out, args->raw);
	}
	return typed || args->raw.len;
}

static void encode(const struct bt_config *config, bool zeroes, struct bt_buf *out_text)
{
	const struct bt_encode_go go = {"kubescheduler.config.k8s.io/v1", zeroes, write_args};

	bt_schema_encode_go(bt_config_schema(config->gates.release), config, &go, out_text);
}

void bt_config_encode(const struct bt_config *config, struct bt_buf *out_text)
{
	encode(config, false, out_text);
}

void bt_config_encode_whole(const struct bt_config *config, struct bt_buf *out_text)
{
	encode(config, true, out_text);
}
