/* SPDX-License-Identifier: Apache-2.0
 * The result of an operation. A status has one meaning in the whole engine; results of queries have their own
 * enums.
 */
#pragma once

enum bt_status {
	BT_OK = 0,
	BT_NO_MEMORY,  /* an allocation failed or a memory limit was reached */
	BT_INVALID,    /* the input does not follow its grammar or its rules */
	BT_RANGE,      /* a number or size is out of range */
	BT_DEPTH,      /* nested deeper than allowed */
	BT_TRUNCATED,  /* the input ends too early */
	BT_NOT_FOUND,  /* no such name */
	BT_EXISTS,     /* the name is taken */
	BT_FULL,       /* a ring, pool or table has reached its limit */
	BT_CONFLICT,   /* another thread was first */
	BT_IO,	       /* a system call failed; see errno */
	BT_UNSUPPORTED /* recognized, but not implemented */
};

/* Returns the status as a word for logs and tests, such as "not found". Context: any thread. */
const char *bt_status_name(enum bt_status status);
