/* SPDX-License-Identifier: Apache-2.0
 * Asynchronous writers (EDGE async_writer.taken): every byte is written once and in order, and a flush waits
 * for it, with threads delayed at every testpoint and held at each in turn.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "engine/base/async_writer.h"
#include "stress.h"
#include "seed.h"

#define ROUND_BYTES 3000

struct flow {
	uint64_t seed;
	uint64_t taken_n; /* plain: ordered by bt_async_writer_flush */
	bool wrong;
};

static char byte_at(uint64_t n)
{
	return (char)(n * 131 + (n >> 8));
}

static bool take(void *context, const char *bytes, size_t n)
{
	struct flow *flow = context;

	for (size_t i = 0; i < n; i++) {
		flow->wrong |= bytes[i] != byte_at(flow->taken_n + i);
	}
	flow->taken_n += n;
	return true;
}

static void put_and_flush(void *context)
{
	struct flow *flow = context;
	struct bt_rng rng = {++flow->seed};
	struct bt_async_writer *writer = bt_async_writer_create(&(struct bt_async_writer_options){
		take, flow, "writer", UINT32_C(4) << bt_rng_below(&rng, 8)});
	uint64_t put_n = 0;
	char bytes[200];

	flow->taken_n = 0;
	while (put_n < ROUND_BYTES) {
		uint32_t n = bt_rng_below(&rng, sizeof(bytes)) + 1;

		for (uint32_t i = 0; i < n; i++) {
			bytes[i] = byte_at(put_n + i);
		}
		bt_async_writer_put(writer, bytes, n);
		put_n += n;
		if (bt_rng_below(&rng, 8) == 0) {
			STRESS_CHECK(bt_async_writer_flush(writer));
			STRESS_CHECK(flow->taken_n == put_n);
		}
	}
	bt_async_writer_destroy(writer);
	STRESS_CHECK(flow->taken_n == put_n);
	STRESS_CHECK(!flow->wrong);
}

static void every_byte_is_taken_once_and_in_order(void **state)
{
	struct flow flow = {.seed = seed_or(1)};
	int64_t end_ns = stress_end_ns();

	(void)state;
	while (stress_goes_on(end_ns)) {
		bt_testpoint_delay(flow.seed);
		put_and_flush(&flow);
	}
	bt_testpoint_off();
}

static void also_when_a_thread_is_held_at_any_point(void **state)
{
	struct flow flow = {.seed = seed_or(1)};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	stress_hold_at_each("async_writer.", 1, put_and_flush, &flow, flow.seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_taken_once_and_in_order),
		cmocka_unit_test(also_when_a_thread_is_held_at_any_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
