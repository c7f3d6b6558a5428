/* SPDX-License-Identifier: Apache-2.0
 * The signal handlers of the program.
 */
#include "tools/cli/interrupt.h"

#include <stddef.h>

#include "engine/base/atomic.h"
#include "tools/cli/replace.h"

/* C requires volatile for objects that a signal handler writes; threads do not synchronise through it. */
volatile sig_atomic_t bt_interrupt = 0;

static void (*_Atomic before_exit)(void); /* atomic: read by the signal handler */

static void die(int signal_number)
{
	void (*restore)(void) = bt_load_relaxed(&before_exit);

	if (restore) {
		restore();
	}
	bt_replacements_remove();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void note_signal(int signal_number)
{
	if (bt_interrupt) {
		die(signal_number);
	}
	bt_interrupt = 1;
}

/* A process started with the signal ignored (nohup) keeps ignoring it. */
static void handle_unless_ignored(int signal_number, void (*handle)(int signal_number))
{
	struct sigaction action;

	if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
		action = (struct sigaction){.sa_handler = handle};
		sigaction(signal_number, &action, NULL);
	}
}

void bt_interrupt_before_exit(void (*restore)(void))
{
	bt_store_relaxed(&before_exit, restore);
}

void bt_interrupt_install(void)
{
	struct sigaction stop = {.sa_handler = note_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
	handle_unless_ignored(SIGHUP, die);
	handle_unless_ignored(SIGQUIT, die);
	handle_unless_ignored(SIGXCPU, die);
}
