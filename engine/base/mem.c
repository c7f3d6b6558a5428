/* SPDX-License-Identifier: Apache-2.0
 * Heap memory by jemalloc. The sanitizers bring an allocator of their own, which must see every block.
 */
#include "engine/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/thread.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BT_MEM_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BT_MEM_LIBC 1
#endif
#endif

#ifndef BT_MEM_LIBC
#include <jemalloc/jemalloc.h>
#endif

static BT_NORETURN void exhausted(size_t n, size_t size)
{
	fprintf(stderr,
		"berth: out of memory: %zu x %zu bytes are not to be had; give it more memory or less "
		"input\n",
		n, size);
	_Exit(70);
}

static size_t product(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2) {
		exhausted(n, size);
	}
	return bytes ? bytes : 1;
}

void *bt_mem_zalloc(size_t n, size_t size)
{
	void *ptr = calloc(1, product(n, size));

	if (BT_UNLIKELY(!ptr)) {
		exhausted(n, size);
	}
	return ptr;
}

void *bt_mem_realloc(void *ptr, size_t n, size_t size)
{
	void *moved = realloc(ptr, product(n, size));

	if (BT_UNLIKELY(!moved)) {
		exhausted(n, size);
	}
	return moved;
}

static size_t column_bytes(size_t n, size_t size)
{
	return (product(n, size) + BT_CACHELINE - 1) & ~(size_t)(BT_CACHELINE - 1);
}

void *bt_mem_raw_column(bt_mem_arena_ix arena, size_t n, size_t size)
{
	size_t bytes = column_bytes(n, size);
	void *ptr = NULL;

#ifndef BT_MEM_LIBC
	if (arena) {
		ptr = mallocx(
			bytes, MALLOCX_ALIGN(BT_CACHELINE) | MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE);
	}
#endif
	if (!arena) {
		ptr = aligned_alloc(BT_CACHELINE, bytes);
	}
	if (BT_UNLIKELY(!ptr)) {
		exhausted(n, size);
	}
	return ptr;
}

void *bt_mem_column(size_t n, size_t size)
{
	void *ptr = bt_mem_raw_column(0, n, size);

	memset(ptr, 0, column_bytes(n, size));
	return ptr;
}

int64_t *bt_mem_widen(int64_t *column, size_t old_n, size_t new_n)
{
	int64_t *wide = bt_mem_column(new_n, sizeof(*wide));

	if (column) {
		memcpy(wide, column, old_n * sizeof(*wide));
		bt_mem_free(column);
	}
	return wide;
}

char *bt_mem_copy(const char *bytes, size_t n)
{
	char *copy = bt_mem_zalloc(n + 1, 1);

	if (n) {
		memcpy(copy, bytes, n);
	}
	return copy;
}

void bt_mem_free(void *ptr)
{
	free(ptr);
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
	return read_bytes("stats.allocated");
}

bt_mem_arena_ix bt_mem_node_arena(uint32_t numa_ix)
{
	static struct bt_lock lock = BT_LOCK_INIT;
	static unsigned
		arenas[BT_MEM_NODES]; /* lock(lock): 0 is nobody's, for jemalloc has made that one itself */
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
#endif

void *bt_mem_grow(void *array, size_t count_n, size_t *cap_n, size_t size)
{
	if (count_n < *cap_n) {
		return array;
	}
	BT_INVARIANT(count_n == *cap_n);
	*cap_n = *cap_n ? *cap_n * 2 : 8;
	return bt_mem_realloc(array, *cap_n, size);
}
