/* SPDX-License-Identifier: Apache-2.0
 * Rights that the process drops once it knows what it needs, so that an attacker who takes it over gains
 * little: no new privileges, no core dump and no debugger of the same user, a seccomp filter, and Landlock
 * for files and ports. This is irreversible.
 * Context: before other threads are started. A running thread gets the seccomp filter and not Landlock; that
 * is logged, or an error with BT_SANDBOX_REQUIRE.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"

enum bt_sandbox_mode {
	BT_SANDBOX_AUTO = 0, /* what the kernel supports; the rest is logged */
	BT_SANDBOX_REQUIRE,  /* all of it, or no start */
	BT_SANDBOX_OFF
};

struct bt_sandbox_path;

/* Exceptions, beyond what every program needs (libraries, /proc, /sys, files of name resolution). */
struct bt_sandbox {
	struct bt_sandbox_path *paths; /* private */
	uint32_t path_n;	       /* private */
	uint16_t port;		       /* for listening; 0: none */
	bool programs; /* programs may be run: no Landlock, which they would inherit, and a shorter filter */
};

void bt_sandbox_fini(struct bt_sandbox *sandbox);

/* Allows reading a file that may be replaced by rename: so its whole folder is readable, unless that is the
 * root. NULL or "": nothing. */
void bt_sandbox_read(struct bt_sandbox *sandbox, const char *file);

/* Allows reading, creating and replacing files in a folder, which is created if it is missing. NULL or "":
 * nothing. */
void bt_sandbox_write_in(struct bt_sandbox *sandbox, const char *folder);

/* Returns: false: BT_SANDBOX_REQUIRE, and out_why names what is not available. */
bool bt_sandbox_enter(const struct bt_sandbox *sandbox, enum bt_sandbox_mode mode, struct bt_buf *out_why);
