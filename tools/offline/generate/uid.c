/* SPDX-License-Identifier: Apache-2.0
 * Uids of generated objects: the kind and a number, so that the same options give the same uids.
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
