/* SPDX-License-Identifier: Apache-2.0
 * A ring of bytes. Its consumer is never asleep for want of them: it looks every NAP_NS, so that who puts has
 * nobody to wake.
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
#define PIECE_BYTES (128u << 10) /* that are handed on at once */
#define NAP_NS	    INT64_C(2000000)

struct bt_async_writer {
	struct bt_async_writer_options options; /* init: */
	struct bt_ring ring;
	struct bt_thread *thread; /* init: NULL: there is none */
	struct bt_eventcount nap; /* where it looks from time to time */
	uint64_t put_n;		  /* owner: who puts */
	/* owner: the spool's thread */
	char *piece;
	_Atomic uint64_t taken_n;   /* atomic: EDGE spool.taken */
	_Atomic uint32_t failed;    /* atomic: the same */
	struct bt_eventcount taken; /* where bt_async_writer_flush waits */
};

static void hand_on(struct bt_async_writer *spool, const char *bytes, size_t n)
{
	if (!bt_load_relaxed(&spool->failed) && !spool->options.take(spool->options.context, bytes, n)) {
		bt_store_relaxed(&spool->failed, 1u);
	}
	BT_TESTPOINT("spool.hand_on");
	/* EDGE spool.taken release: what take did, and whether it failed. */
	bt_store_release(&spool->taken_n, bt_load_relaxed(&spool->taken_n) + n);
	bt_eventcount_wake(&spool->taken);
}

static bool take_some(struct bt_async_writer *spool)
{
	uint32_t n = bt_ring_try_pop_n(&spool->ring, spool->piece, PIECE_BYTES);

	if (n) {
		hand_on(spool, spool->piece, n);
	}
	return n > 0;
}

static void run(void *context)
{
	struct bt_async_writer *spool = context;

	while (!bt_ring_is_drained(&spool->ring)) {
		if (take_some(spool)) {
			continue;
		}
		uint32_t key = bt_eventcount_prepare(&spool->nap);
		/* Only who flushes or ends the spool wakes it. */
		if (!take_some(spool) && !bt_ring_is_drained(&spool->ring)) {
			bt_eventcount_wait(&spool->nap, key, NAP_NS);
		}
	}
}

struct bt_async_writer *bt_async_writer_create(const struct bt_async_writer_options *options)
{
	struct bt_async_writer *spool = bt_mem_column(1, sizeof(*spool));
	const struct bt_thread_options thread = {.name = options->name};

	spool->options = *options;
	bt_ring_init(&spool->ring, options->capacity ? options->capacity : CAPACITY, 1, options->name);
	bt_eventcount_init(&spool->nap);
	bt_eventcount_init(&spool->taken);
	spool->piece = bt_mem_zalloc(PIECE_BYTES, 1);
	if (bt_thread_start(&thread, run, spool, &spool->thread, NULL) != BT_OK) {
		spool->thread = NULL;
	}
	return spool;
}

void bt_async_writer_destroy(struct bt_async_writer *spool)
{
	if (!spool) {
		return;
	}
	bt_ring_close(&spool->ring);
	bt_eventcount_wake(&spool->nap);
	bt_thread_join(&spool->thread);
	bt_ring_fini(&spool->ring);
	bt_mem_free(spool->piece);
	bt_mem_free(spool);
}

void bt_async_writer_put(struct bt_async_writer *spool, const char *bytes, size_t n)
{
	spool->put_n += n;
	if (!spool->thread) {
		hand_on(spool, bytes, n);
		return;
	}
	while (n) {
		uint32_t piece = n < PIECE_BYTES ? (uint32_t)n : PIECE_BYTES;

		/* Nobody abandons the ring. */
		BT_REQUIRE(bt_ring_push_n(&spool->ring, bytes, piece, BT_EVENTCOUNT_FOREVER) == piece);
		bytes += piece;
		n -= piece;
	}
}

bool bt_async_writer_flush(struct bt_async_writer *spool)
{
	/* EDGE spool.taken acquire */
	while (bt_load_acquire(&spool->taken_n) < spool->put_n) {
		uint32_t key = bt_eventcount_prepare(&spool->taken);

		bt_eventcount_wake(&spool->nap);
		if (bt_load_acquire(&spool->taken_n) < spool->put_n) {
			bt_eventcount_wait(&spool->taken, key, BT_EVENTCOUNT_FOREVER);
		}
	}
	return !bt_load_relaxed(&spool->failed);
}

uint64_t bt_async_writer_full_n(const struct bt_async_writer *spool)
{
	return bt_ring_stats_read(&spool->ring).full_n;
}
