/* SPDX-License-Identifier: Apache-2.0
 * Names of statuses.
 */
#include "engine/base/status.h"

const char *bt_status_name(enum bt_status status)
{
	switch (status) {
	case BT_OK:
		return "ok";
	case BT_NO_MEMORY:
		return "no memory";
	case BT_INVALID:
		return "invalid";
	case BT_RANGE:
		return "out of range";
	case BT_DEPTH:
		return "nested too deeply";
	case BT_TRUNCATED:
		return "cut off";
	case BT_NOT_FOUND:
		return "not found";
	case BT_EXISTS:
		return "exists";
	case BT_FULL:
		return "full";
	case BT_CONFLICT:
		return "conflict";
	case BT_IO:
		return "input or output failed";
	case BT_UNSUPPORTED:
		return "unsupported";
	}
	return "unknown";
}
