/* SPDX-License-Identifier: Apache-2.0
 * Common fields of generated objects: kind, version, time, and a uid from kind and number, so that the same
 * options give the same uids.
 */
#include "tools/offline/generate/generate_int.h"

#include <stdio.h>

void bt_gen_uid(char out_uid[BT_GEN_UID_BYTES], enum bt_kind kind, uint64_t ix)
{
	static const char pattern[] = "000000kk-0000-4000-8000-000000000000";
	static const char hex[] = "0123456789abcdef";

	memcpy(out_uid, pattern, BT_GEN_UID_BYTES);
	out_uid[6] = hex[(unsigned)kind >> 4 & 15];
	out_uid[7] = hex[(unsigned)kind & 15];
	for (size_t at = BT_GEN_UID_BYTES; at-- > 24 && ix > 0; ix >>= 4) {
		out_uid[at] = hex[ix & 15];
	}
}

struct bt_object bt_gen_object(struct bt_arena *arena, enum bt_kind kind, uint64_t ix)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	char *uid = bt_arena_alloc(arena, BT_GEN_UID_BYTES, 1);
	struct bt_object object = {
		.kind = kind, .api_version = bt_kind_api_version(info), .kind_name = bt_str(info->name)};

	bt_gen_uid(uid, kind, ix);
	object.meta.uid = (struct bt_str){uid, BT_GEN_UID_BYTES};
	object.meta.creation_ns = BT_GEN_EPOCH_S * INT64_C(1000000000);
	return object;
}
