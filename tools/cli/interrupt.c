/* SPDX-License-Identifier: Apache-2.0
 * The signal handlers of the program.
 */
#include "tools/cli/interrupt.h"

#include <stddef.h>

/* volatile is what C asks of an object that a signal handler writes; threads do not synchronise through it.
 */
volatile sig_atomic_t bt_interrupt = 0;

static void note_signal(int signal_number)
{
	(void)signal_number;
	bt_interrupt = 1;
}

void bt_interrupt_install(void)
{
	struct sigaction stop = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}
