/* SPDX-License-Identifier: Apache-2.0
 * A deliberate data race: a message is passed by a flag whose store does not release. helgrind must
 * report it, and must not with the argument "release": the annotations of atomic.h make the
 * difference, and nothing else.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/compiler.h"
#include "stress.h"

static uint32_t message;
static _Atomic uint32_t flag;

static void send(void *context, uint32_t ix)
{
	(void)ix;
	message = 42;
	if (*(const bool *)context) {
		bt_store_release(&flag, 1);
	} else {
		bt_store_relaxed(&flag, 1);
	}
}

/* Not inlined: otherwise the report would name printf. */
static BT_NOINLINE uint32_t received_message(void)
{
	return message;
}

static void receive(void *context, uint32_t ix)
{
	uint32_t turns = 0;

	(void)context;
	(void)ix;
	while (!bt_load_acquire(&flag)) {
		stress_wait_turn(&turns);
	}
	printf("%u\n", received_message());
}

int main(int argc, char **argv)
{
	bool releases = argc > 1 && strcmp(argv[1], "release") == 0;
	struct stress_team team = {.member_n = 0};

	stress_add(&team, send, &releases);
	stress_add(&team, receive, NULL);
	stress_run(&team);
	return 0;
}
