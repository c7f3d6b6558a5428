/* SPDX-License-Identifier: Apache-2.0
 * What the process takes from itself once it knows what it needs, so that who takes it over gains little: no
 * new privileges, no core dump and no debugger of the same user, a seccomp filter, and Landlock for files and
 * ports.
 * There is no way back. Context: before other threads are started. One that runs already would get the
 * seccomp filter and not Landlock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"

enum bt_sandbox_mode {
	BT_SANDBOX_AUTO = 0, /* what the kernel has; what it lacks is logged */
	BT_SANDBOX_REQUIRE,  /* all of it, or no start */
	BT_SANDBOX_OFF
};

struct bt_sandbox_path;

/* What stays allowed beside what every program needs (libraries, /proc, /sys, files of name resolution). */
struct bt_sandbox {
	struct bt_sandbox_path *paths; /* private */
	uint32_t path_n;	       /* private */
	uint16_t port;		       /* to listen at; 0: none */
	bool programs; /* may be run: then no Landlock, which they would inherit, and a shorter filter */
};

void bt_sandbox_fini(struct bt_sandbox *sandbox);

/* A file that is read again when another one has taken its name: so its whole folder may be read, unless that
 * is the root. NULL or "": nothing. */
void bt_sandbox_read(struct bt_sandbox *sandbox, const char *file);

/* A folder whose files are read, made and replaced; it is made when it is not there. NULL or "": nothing. */
void bt_sandbox_write_in(struct bt_sandbox *sandbox, const char *folder);

/* Returns: false: BT_SANDBOX_REQUIRE, and out_why says what cannot be had. */
bool bt_sandbox_enter(const struct bt_sandbox *sandbox, enum bt_sandbox_mode mode, struct bt_buf *out_why);
