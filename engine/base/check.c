/* SPDX-License-Identifier: Apache-2.0
 * Reports a failed assertion and aborts.
 */
#include "engine/base/check.h"

#include <stdio.h>
#include <stdlib.h>

void bt_check_failed(const char *file, int line, const char *kind, const char *condition)
{
	fprintf(stderr, "berth: %s:%d: %s does not hold: %s\n", file, line, kind, condition);
	abort();
}
