/* SPDX-License-Identifier: Apache-2.0
 * A ring of bytes. Its consumer polls every SLEEP_NS, so the producer never has to wake it.
 */
#include "engine/base/async_writer.h"

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"
#include "engine/base/ring.h"
#include "engine/base/thread.h"

#define CAPACITY    (4u << 20)
#define PIECE_BYTES (128u << 10) /* per call of take */
#define SLEEP_NS    INT64_C(2000000)

struct bt_async_writer {
	struct bt_async_writer_options options; /* init: */
	struct bt_ring ring;
	struct bt_thread *thread;   /* init: NULL: no thread */
	struct bt_eventcount sleep; /* waits between polls */
	uint64_t put_n;		    /* owner: the producer */
	/* owner: the writer's thread */
	char *piece;
	_Atomic uint64_t taken_n;   /* atomic: EDGE async_writer.taken */
	_Atomic uint32_t failed;    /* atomic: the same */
	struct bt_eventcount taken; /* bt_async_writer_flush waits here */
};

static void hand_on(struct bt_async_writer *writer, const char *bytes, size_t n)
{
	if (!bt_load_relaxed(&writer->failed) && !writer->options.take(writer->options.context, bytes, n)) {
		bt_store_relaxed(&writer->failed, 1u);
	}
	BT_TESTPOINT("async_writer.hand_on");
	/* EDGE async_writer.taken release: publishes take's effects, and whether it failed. */
	bt_store_release(&writer->taken_n, bt_load_relaxed(&writer->taken_n) + n);
	bt_eventcount_wake(&writer->taken);
}

static bool take_some(struct bt_async_writer *writer)
{
	uint32_t n = bt_ring_try_pop_n(&writer->ring, writer->piece, PIECE_BYTES);

	if (n) {
		hand_on(writer, writer->piece, n);
	}
	return n > 0;
}

static void run(void *context)
{
	struct bt_async_writer *writer = context;

	while (!bt_ring_is_drained(&writer->ring)) {
		if (take_some(writer)) {
			continue;
		}
		uint32_t key = bt_eventcount_prepare(&writer->sleep);
		/* Only flush and destroy wake it. */
		if (!take_some(writer) && !bt_ring_is_drained(&writer->ring)) {
			bt_eventcount_wait(&writer->sleep, key, SLEEP_NS);
		}
	}
}

struct bt_async_writer *bt_async_writer_create(const struct bt_async_writer_options *options)
{
	struct bt_async_writer *writer = bt_mem_column(1, sizeof(*writer));
	const struct bt_thread_options thread = {.name = options->name};

	writer->options = *options;
	bt_ring_init(&writer->ring, options->capacity ? options->capacity : CAPACITY, 1, options->name);
	bt_eventcount_init(&writer->sleep);
	bt_eventcount_init(&writer->taken);
	writer->piece = bt_mem_zalloc(PIECE_BYTES, 1);
	if (bt_thread_start(&thread, run, writer, &writer->thread, NULL) != BT_OK) {
		writer->thread = NULL;
	}
	return writer;
}

void bt_async_writer_destroy(struct bt_async_writer *writer)
{
	if (!writer) {
		return;
	}
	bt_ring_close(&writer->ring);
	bt_eventcount_wake(&writer->sleep);
	bt_thread_join(&writer->thread);
	bt_ring_fini(&writer->ring);
	bt_mem_free(writer->piece);
	bt_mem_free(writer);
}

void bt_async_writer_put(struct bt_async_writer *writer, const char *bytes, size_t n)
{
	writer->put_n += n;
	if (!writer->thread) {
		hand_on(writer, bytes, n);
		return;
	}
	while (n) {
		uint32_t piece = n < PIECE_BYTES ? (uint32_t)n : PIECE_BYTES;

		uint32_t pushed_n = bt_ring_push_n(&writer->ring, bytes, piece, BT_EVENTCOUNT_FOREVER);
		BT_REQUIRE(pushed_n == piece); /* the ring is never abandoned */
		bytes += piece;
		n -= piece;
	}
}

bool bt_async_writer_flush(struct bt_async_writer *writer)
{
	/* EDGE async_writer.taken acquire */
	while (bt_load_acquire(&writer->taken_n) < writer->put_n) {
		uint32_t key = bt_eventcount_prepare(&writer->taken);

		bt_eventcount_wake(&writer->sleep);
		if (bt_load_acquire(&writer->taken_n) < writer->put_n) {
			bt_eventcount_wait(&writer->taken, key, BT_EVENTCOUNT_FOREVER);
		}
	}
	return !bt_load_relaxed(&writer->failed);
}

uint64_t bt_async_writer_full_n(const struct bt_async_writer *writer)
{
	return bt_ring_stats_read(&writer->ring).full_n;
}
