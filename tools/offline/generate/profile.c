/* SPDX-License-Identifier: Apache-2.0
 * Names of profiles.
 */
#include "tools/offline/generate/profile.h"

static const struct {
	const char *name;
	uint32_t bits;
} names[] = {
	{"basic", BT_PROFILE_BASIC},
	{"fit", BT_PROFILE_FIT},
	{"affinity", BT_PROFILE_AFFINITY},
	{"taints", BT_PROFILE_TAINTS},
	{"ports", BT_PROFILE_PORTS},
	{"images", BT_PROFILE_IMAGES},
	{"gates", BT_PROFILE_GATES},
	{"priority", BT_PROFILE_PRIORITY},
	{"spread", BT_PROFILE_SPREAD},
	{"interpod", BT_PROFILE_INTERPOD},
	{"volumes", BT_PROFILE_VOLUMES},
	{"preemption", BT_PROFILE_PREEMPTION},
	{"churn", BT_PROFILE_CHURN},
	{"devices", BT_PROFILE_DEVICES},
	{"gangs", BT_PROFILE_GANGS},
	{"racks", BT_PROFILE_RACKS},
	{"resize", BT_PROFILE_RESIZE},
	{"topology", BT_PROFILE_GANGS | BT_PROFILE_TOPOLOGY},
	{"everyday", BT_PROFILE_EVERYDAY},
	{"mixed", BT_PROFILE_MIXED},
};

static uint32_t profile_find(struct bt_str name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (bt_str_is(name, names[i].name)) {
			return names[i].bits;
		}
	}
	return 0;
}

enum bt_status bt_profile_parse(struct bt_str list, uint32_t *profiles, struct bt_str *out_unknown)
{
	uint32_t all = 0;

	for (size_t from = 0; from <= list.len;) {
		size_t to = bt_str_find(list, ',', from);
		struct bt_str name = bt_str_sub(list, from, to);
		uint32_t bits = profile_find(name);

		if (bits == 0) {
			*out_unknown = name;
			return BT_NOT_FOUND;
		}
		all |= bits;
		from = to + 1;
	}
	*profiles |= all;
	return BT_OK;
}

const char *bt_profile_name(size_t ix)
{
	return ix < sizeof(names) / sizeof(names[0]) ? names[ix].name : NULL;
}
