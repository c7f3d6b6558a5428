/* SPDX-License-Identifier: Apache-2.0
 * An asynchronous writer passes on every byte in order, on its own thread; a producer
 * waits while there is no room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/atomic.h"
#include "engine/base/buf.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/async_writer.h"
#include "engine/base/thread.h"

/* The consumer. */
struct taker {
	struct bt_buf bytes;
	_Atomic uint32_t held; /* 1: it accepts nothing */
	size_t room;	       /* bytes until it fails */
	_Atomic uint32_t call_n;
	char thread[BT_THREAD_NAME_BYTES];
};

static bool take(void *context, const char *bytes, size_t n)
{
	struct taker *taker = context;

	while (bt_load_acquire(&taker->held)) {
		bt_thread_yield();
	}
	strncpy(taker->thread, bt_thread_name(), sizeof(taker->thread) - 1);
	bt_add_relaxed(&taker->call_n, 1u);
	if (n > taker->room) {
		return false;
	}
	taker->room -= n;
	bt_buf_add(&taker->bytes, bytes, n);
	return true;
}

static struct bt_async_writer *writer_of(struct taker *taker, uint32_t capacity)
{
	return bt_async_writer_create(&(struct bt_async_writer_options){take, taker, "writer", capacity});
}

static void every_byte_is_written_in_order_however_it_was_put(void **state)
{
	struct taker taker = {.room = SIZE_MAX};
	struct bt_async_writer *writer = writer_of(&taker, 256);
	struct bt_rng rng = {.state = seed_or(7)};
	struct bt_buf wanted = {0};

	(void)state;
	for (int i = 0; i < 2000; i++) {
		char bytes[700];
		size_t n = bt_rng_below(&rng, sizeof(bytes));

		for (size_t at = 0; at < n; at++) {
			bytes[at] = (char)bt_rng_below(&rng, 256);
		}
		bt_buf_add(&wanted, bytes, n);
		bt_async_writer_put(writer, bytes, n);
		if (i % 500 == 0) {
			assert_true(bt_async_writer_flush(writer));
			assert_int_equal(taker.bytes.len, wanted.len);
		}
	}
	assert_true(bt_async_writer_flush(writer));
	assert_int_equal(taker.bytes.len, wanted.len);
	assert_memory_equal(taker.bytes.ptr, wanted.ptr, wanted.len);
	assert_string_equal(taker.thread, "writer");
	bt_async_writer_destroy(writer);
	bt_buf_fini(&taker.bytes);
	bt_buf_fini(&wanted);
}

static void written_data_is_passed_on_without_a_flush(void **state)
{
	struct taker taker = {.room = SIZE_MAX};
	struct bt_async_writer *writer = writer_of(&taker, 0);

	(void)state;
	bt_async_writer_put(writer, "one", 3);
	while (!bt_load_acquire(&taker.call_n)) {
		bt_thread_yield();
	}
	/* Bytes left at the end are not lost. */
	bt_store_release(&taker.held, 1u);
	bt_async_writer_put(writer, "two", 3);
	bt_store_release(&taker.held, 0u);
	bt_async_writer_destroy(writer);
	assert_int_equal(taker.bytes.len, 6);
	assert_memory_equal(taker.bytes.ptr, "onetwo", 6);
	bt_buf_fini(&taker.bytes);
}

static void release_soon(void *context)
{
	struct taker *taker = context;
	int64_t begin_ns = bt_clock_monotonic_ns();

	while (bt_clock_monotonic_ns() - begin_ns < 5000000) {
		bt_thread_yield();
	}
	bt_store_release(&taker->held, 0u);
}

static void a_producer_waits_for_room(void **state)
{
	struct taker taker = {.room = SIZE_MAX, .held = 1};
	struct bt_async_writer *writer = writer_of(&taker, 64);
	struct bt_thread *thread;
	char bytes[1000];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(bt_thread_start(&(struct bt_thread_options){.name = "soon"}, release_soon, &taker,
				 &thread, NULL),
		BT_OK);
	bt_async_writer_put(writer, bytes, sizeof(bytes));
	assert_true(bt_async_writer_full_n(writer) > 0);
	assert_true(bt_async_writer_flush(writer));
	assert_int_equal(taker.bytes.len, sizeof(bytes));
	bt_thread_join(&thread);
	bt_async_writer_destroy(writer);
	bt_buf_fini(&taker.bytes);
}

static void a_failed_consumer_is_not_called_again_and_blocks_no_producer(void **state)
{
	struct taker taker = {.room = 100};
	struct bt_async_writer *writer = writer_of(&taker, 64);
	char bytes[1000] = {0};

	(void)state;
	bt_async_writer_put(writer, bytes, sizeof(bytes));
	assert_false(bt_async_writer_flush(writer));
	uint32_t call_n = bt_load_relaxed(&taker.call_n);
	bt_async_writer_put(writer, bytes, sizeof(bytes));
	assert_false(bt_async_writer_flush(writer));
	assert_int_equal(bt_load_relaxed(&taker.call_n), call_n);
	assert_true(taker.bytes.len <= 100);
	bt_async_writer_destroy(writer);
	bt_buf_fini(&taker.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_written_in_order_however_it_was_put),
		cmocka_unit_test(written_data_is_passed_on_without_a_flush),
		cmocka_unit_test(a_producer_waits_for_room),
		cmocka_unit_test(a_failed_consumer_is_not_called_again_and_blocks_no_producer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
