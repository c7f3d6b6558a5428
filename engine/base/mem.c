/* SPDX-License-Identifier: Apache-2.0
 * Heap memory by jemalloc. The sanitizers and valgrind have their own allocators, which must see every block.
 */
#include "engine/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/thread.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || BT_VALGRIND
#define BT_MEM_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BT_MEM_LIBC 1
#endif
#endif

#ifndef BT_MEM_LIBC
#include <jemalloc/jemalloc.h>

/* jemalloc's options: huge pages on request (madvise), since columns of a million nodes are accessed at
 * random. Weak, so that a program can define its own. */
BT_WEAK const char *malloc_conf = "thp:always";
#endif

static BT_NORETURN void exhausted(const char *caller, size_t n, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"};
	double amount = (double)n * (double)size;
	int unit = 0;

	while (amount >= 1024 && unit < 7) {
		amount /= 1024;
		unit++;
	}
	fprintf(stderr, "berth: out of memory (%.1f %s needed for %s); give it more memory or less input\n",
		amount, units[unit], caller);
	_Exit(70);
}

static size_t product(const char *caller, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2) {
		exhausted(caller, n, size);
	}
	return bytes ? bytes : 1;
}

void *bt_mem_zalloc_for(const char *caller, size_t n, size_t size)
{
	void *ptr = calloc(1, product(caller, n, size));

	if (BT_UNLIKELY(!ptr)) {
		exhausted(caller, n, size);
	}
	return ptr;
}

void *bt_mem_realloc_for(const char *caller, void *ptr, size_t n, size_t size)
{
	void *moved = realloc(ptr, product(caller, n, size));

	if (BT_UNLIKELY(!moved)) {
		exhausted(caller, n, size);
	}
	return moved;
}

static size_t column_bytes(const char *caller, size_t n, size_t size)
{
	return (product(caller, n, size) + BT_CACHELINE - 1) & ~(size_t)(BT_CACHELINE - 1);
}

void *bt_mem_column_for(const char *caller, size_t n, size_t size)
{
	BT_INVARIANT(size > 0);
	size_t bytes = column_bytes(caller, n, size);
	void *ptr = aligned_alloc(BT_CACHELINE, bytes);

	if (BT_UNLIKELY(!ptr)) {
		exhausted(caller, n, size);
	}
	memset(ptr, 0, bytes);
	return ptr;
}

void *bt_mem_widen_for(const char *caller, void *column, size_t old_n, size_t new_n, size_t size)
{
	BT_REQUIRE_HOT(old_n <= new_n);
	void *wide = bt_mem_column_for(caller, new_n, size);

	if (column) {
		memcpy(wide, column, old_n * size);
		bt_mem_free(column);
	}
	return wide;
}

char *bt_mem_copy_for(const char *caller, const char *bytes, size_t n)
{
	char *copy = bt_mem_zalloc_for(caller, n + 1, 1);

	if (n) {
		memcpy(copy, bytes, n);
	}
	return copy;
}

void bt_mem_free(void *ptr)
{
	free(ptr);
}

/* ---- pages ---- */

#define HUGE_PAGE ((size_t)2 << 20)

static _Atomic uint64_t page_bytes; /* atomic: relaxed; of pages that are taken */

void *bt_mem_reserve(size_t bytes)
{
	BT_REQUIRE(bytes > 0);
	/* Large blocks start at a huge page boundary. */
	size_t more = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
	char *room = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (BT_UNLIKELY(room == MAP_FAILED)) {
		exhausted(__func__, bytes, 1);
	}
	if (!more) {
		return room;
	}
	size_t before = -(uintptr_t)room % HUGE_PAGE;
	if (before) {
		munmap(room, before);
	}
	if (before < more) {
		munmap(room + before + bytes, more - before);
	}
	(void)madvise(room + before, bytes, MADV_HUGEPAGE);
	return room + before;
}

void bt_mem_unreserve(void *ptr, size_t bytes, size_t taken_bytes)
{
	if (ptr) {
		BT_REQUIRE(munmap(ptr, bytes) == 0);
		bt_add_relaxed(&page_bytes, -(uint64_t)taken_bytes);
	}
}

void bt_mem_take_pages(size_t bytes)
{
	bt_add_relaxed(&page_bytes, (uint64_t)bytes);
}

bool bt_mem_give_pages(void *ptr, size_t bytes)
{
	BT_REQUIRE((uintptr_t)ptr % BT_MEM_PAGE == 0 && bytes % BT_MEM_PAGE == 0);
	if (sysconf(_SC_PAGESIZE) != BT_MEM_PAGE || madvise(ptr, bytes, MADV_DONTNEED)) {
		return false;
	}
	bt_add_relaxed(&page_bytes, -(uint64_t)bytes);
	return true;
}

#ifdef BT_MEM_LIBC
size_t bt_mem_in_use_bytes(void)
{
	return 0;
}

bt_mem_arena_ix bt_mem_node_arena(uint32_t numa_ix)
{
	(void)numa_ix;
	return 0;
}

void bt_mem_use_arena(bt_mem_arena_ix arena)
{
	(void)arena;
}

size_t bt_mem_arena_in_use_bytes(bt_mem_arena_ix arena)
{
	(void)arena;
	return 0;
}

enum bt_status bt_mem_write_profile(const char *path, struct bt_buf *out_why)
{
	(void)path;
	bt_buf_text(out_why,
		"this build has the allocator of its sanitizer, or of valgrind, which takes no heap profile; "
		"use another build");
	return BT_UNSUPPORTED;
}

void bt_mem_describe(struct bt_buf *out)
{
	(void)out;
}
#else
/* Brings jemalloc's statistics up to date. */
static void refresh(void)
{
	uint64_t epoch = 1;
	size_t size = sizeof(epoch);

	mallctl("epoch", &epoch, &size, &epoch, size);
}

static size_t read_bytes(const char *name)
{
	size_t bytes = 0, size = sizeof(bytes);

	mallctl(name, &bytes, &size, NULL, 0);
	return bytes;
}

size_t bt_mem_in_use_bytes(void)
{
	refresh();
	return read_bytes("stats.allocated") + bt_load_relaxed(&page_bytes);
}

bt_mem_arena_ix bt_mem_node_arena(uint32_t numa_ix)
{
	static struct bt_lock lock = BT_LOCK_INIT;
	static unsigned arenas[BT_MEM_NODES]; /* lock(lock): 0: none yet, since arena 0 is jemalloc's own */
	size_t size = sizeof(arenas[0]);

	if (numa_ix >= BT_MEM_NODES) {
		return 0;
	}
	bt_lock_acquire(&lock);
	if (!arenas[numa_ix] && mallctl("arenas.create", &arenas[numa_ix], &size, NULL, 0)) {
		arenas[numa_ix] = 0;
	}
	bt_mem_arena_ix arena = arenas[numa_ix];
	bt_lock_release(&lock);
	return arena;
}

void bt_mem_use_arena(bt_mem_arena_ix arena)
{
	unsigned ix = arena;

	if (arena) {
		BT_REQUIRE(mallctl("thread.arena", NULL, NULL, &ix, sizeof(ix)) == 0);
	}
}

size_t bt_mem_arena_in_use_bytes(bt_mem_arena_ix arena)
{
	char name[64];
	size_t bytes = 0;

	if (arena) {
		refresh();
		snprintf(name, sizeof(name), "stats.arenas.%u.small.allocated", arena);
		bytes = read_bytes(name);
		snprintf(name, sizeof(name), "stats.arenas.%u.large.allocated", arena);
		bytes += read_bytes(name);
	}
	return bytes;
}

static bool read_flag(const char *name)
{
	bool flag = false;
	size_t size = sizeof(flag);

	return mallctl(name, &flag, &size, NULL, 0) == 0 && flag;
}

enum bt_status bt_mem_write_profile(const char *path, struct bt_buf *out_why)
{
	if (!read_flag("config.prof")) {
		bt_buf_text(out_why,
			"this jemalloc was built without profiling; install one that was configured with "
			"--enable-prof");
		return BT_UNSUPPORTED;
	}
	if (!read_flag("opt.prof")) {
		bt_buf_text(out_why,
			"jemalloc takes no samples, which would slow allocations down; start the program "
			"with MALLOC_CONF=prof:true in its environment");
		return BT_UNSUPPORTED;
	}
	if (mallctl("prof.dump", NULL, NULL, &path, sizeof(path)) != 0) {
		bt_buf_text(out_why, "jemalloc cannot write its heap profile");
		return BT_IO;
	}
	return BT_OK;
}

static void add_description(void *out, const char *text)
{
	bt_buf_text(out, text);
}

void bt_mem_describe(struct bt_buf *out)
{
	refresh();
	malloc_stats_print(add_description, out, "bla"); /* without bins, size classes and single arenas */
}
#endif

void *bt_mem_double_for(const char *caller, void *array, size_t count_n, size_t *cap_n, size_t size)
{
	BT_INVARIANT(count_n == *cap_n);
	*cap_n = *cap_n ? *cap_n * 2 : 8;
	return bt_mem_realloc_for(caller, array, *cap_n, size);
}

/* ---- allocations that may be denied ---- */

/* 1/GRANTED_PART of the rest is granted before the allocator's statistics are read again. */
#define GRANTED_PART 8

static struct {
	_Atomic size_t limit;	 /* atomic: relaxed; 0: none */
	_Atomic int64_t granted; /* atomic: relaxed; bytes that can be granted without reading statistics */
	bool (*refuses)(void *context, enum bt_mem_use use, size_t bytes); /* init: */
	void *context;
} budget;

void bt_mem_set_limit(size_t bytes)
{
	bt_store_relaxed(&budget.granted, INT64_C(0));
	bt_store_relaxed(&budget.limit, bytes);
}

void bt_mem_set_refuser(bool (*refuses)(void *context, enum bt_mem_use use, size_t bytes), void *context)
{
	budget.refuses = refuses;
	budget.context = context;
}

bool bt_mem_may_use(enum bt_mem_use use, size_t bytes)
{
	size_t limit = bt_load_relaxed(&budget.limit);

	BT_REQUIRE_HOT(use < BT_MEM_USE_N);
	if (BT_UNLIKELY(budget.refuses) && budget.refuses(budget.context, use, bytes)) {
		return false;
	}
	if (limit == 0) {
		return true;
	}
	if (bytes <= INT64_MAX && bt_sub_relaxed(&budget.granted, (int64_t)bytes) >= (int64_t)bytes) {
		return true;
	}
	size_t held = bt_mem_in_use_bytes();
	if (held >= limit || bytes > limit - held) {
		bt_store_relaxed(&budget.granted, INT64_C(0));
		return false;
	}
	bt_store_relaxed(&budget.granted, (int64_t)((limit - held) / GRANTED_PART));
	return true;
}
