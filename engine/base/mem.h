/* SPDX-License-Identifier: Apache-2.0
 * Wraps jemalloc: the only allocator that our code uses. Out of memory ends the program with a message that
 * names the caller and the size, so callers never see NULL; allocations that may fail call bt_mem_may_use
 * first.
 * Context: any thread, never between queue and assume.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/compiler.h"
#include "engine/base/status.h"

struct bt_buf;

/* Zeroed memory for n objects of size bytes. Owns: free with bt_mem_free. */
#define bt_mem_zalloc(n, size) bt_mem_zalloc_for(__func__, n, size)

/* Grows or shrinks an allocation to n objects of size bytes; new bytes are uninitialized. ptr may be NULL. */
#define bt_mem_realloc(ptr, n, size) bt_mem_realloc_for(__func__, ptr, n, size)

/* Zeroed memory whose start and size are multiples of a cache line; for columns. Owns: bt_mem_free. */
#define bt_mem_column(n, size) bt_mem_column_for(__func__, n, size)

/* A column of new_n objects that begins with the old_n of column (NULL: none), the rest zero; frees column.
 * Owns: bt_mem_free. */
#define bt_mem_widen(column, old_n, new_n, size) bt_mem_widen_for(__func__, column, old_n, new_n, size)

/* A copy of n bytes, NUL-terminated. Owns: bt_mem_free. */
#define bt_mem_copy(bytes, n) bt_mem_copy_for(__func__, bytes, n)

/* Makes room for one more element in a growing array: doubles *cap_n when count_n has reached it. */
#define bt_mem_grow(array, count_n, cap_n, size) bt_mem_grow_for(__func__, array, count_n, cap_n, size)

/* The same; caller: the calling function's name, a constant. */
void *bt_mem_zalloc_for(const char *caller, size_t n, size_t size);
void *bt_mem_realloc_for(const char *caller, void *ptr, size_t n, size_t size);
void *bt_mem_column_for(const char *caller, size_t n, size_t size);
void *bt_mem_widen_for(const char *caller, void *column, size_t old_n, size_t new_n, size_t size);
char *bt_mem_copy_for(const char *caller, const char *bytes, size_t n);
void *bt_mem_double_for(const char *caller, void *array, size_t count_n, size_t *cap_n, size_t size);
static inline void *bt_mem_grow_for(
	const char *caller, void *array, size_t count_n, size_t *cap_n, size_t size)
{
	return count_n < *cap_n ? array : bt_mem_double_for(caller, array, count_n, cap_n, size);
}

/* Frees memory of this header's functions; NULL is ignored. */
void bt_mem_free(void *ptr);

/* Allocated bytes in all arenas, plus reserved pages in use. */
size_t bt_mem_in_use_bytes(void);

/*
 * Writes jemalloc's heap profile, as pprof reads it, to a file.
 * Returns: BT_OK; BT_UNSUPPORTED: profiling is off, BT_IO: the file cannot be written; out_why has reason and
 * remedy.
 */
BT_MUST_CHECK enum bt_status bt_mem_write_profile(const char *path, struct bt_buf *out_why);

/* Appends the allocator's statistics, for people; nothing if it has none. */
void bt_mem_describe(struct bt_buf *out);

/*
 * Reserves page-aligned, zeroed address space; pages get memory on first access. The caller reports used
 * bytes, in whole pages, so that they count as in use.
 * Owns    : the caller; bt_mem_unreserve, with the bytes still in use.
 */
#define BT_MEM_PAGE 4096
void *bt_mem_reserve(size_t bytes);
void bt_mem_unreserve(void *ptr, size_t bytes, size_t taken_bytes);
void bt_mem_take_pages(size_t bytes);

/*
 * Returns pages' memory to the kernel: they read as zeroes again, also for concurrent readers.
 * Requires: ptr is the start of a page, bytes a multiple of BT_MEM_PAGE.
 * Returns : false, without effect, where the system's pages are larger, or on failure.
 */
bool bt_mem_give_pages(void *ptr, size_t bytes);

/* An arena of jemalloc; 0: jemalloc's choice. */
typedef uint32_t bt_mem_arena_ix;

/*
 * The arena of a memory node, so that blocks of different nodes never share a page. Created on first use,
 * never destroyed.
 * Returns : 0 if unavailable: under sanitizers, and from node BT_MEM_NODES on.
 */
#define BT_MEM_NODES 128
bt_mem_arena_ix bt_mem_node_arena(uint32_t numa_ix);

/* Makes the calling thread allocate from this arena, as a pinned worker does from its node's. Any thread
 * frees blocks with bt_mem_free. 0: no effect. */
void bt_mem_use_arena(bt_mem_arena_ix arena);

/* Allocated bytes of an arena; 0 for arena 0. */
size_t bt_mem_arena_in_use_bytes(bt_mem_arena_ix arena);

/* ---- allocations that may be refused ---- */

/* Uses that check before they allocate, and the effect of a denial. */
enum bt_mem_use {
	BT_MEM_OBJECT,	/* an object: BT_NO_MEMORY, without effect; the caller keeps it */
	BT_MEM_BINDING, /* more concurrent bindings: no pod is popped until a binding completes */
	/* Events kept for pods in flight: they are dropped, and these pods are retried. */
	BT_MEM_EVENT,
	BT_MEM_PLAN,  /* columns of a signature: every node is evaluated, with the same result */
	BT_MEM_NOTES, /* nodes where preemption helps: every node is tried, with the same result */
	BT_MEM_USE_N
};

/*
 * May more bytes be allocated for that use? True while the process is below its limit. The allocator's
 * statistics are read each time a part of the rest has been granted, so the limit may be exceeded by objects
 * that grow.
 * Context: any thread; allocates nothing.
 */
bool bt_mem_may_use(enum bt_mem_use use, size_t bytes);

/* Sets the limit of the process; 0: none, the default. Context: any thread. */
void bt_mem_set_limit(size_t bytes);

/* For tests: denies allocations. NULL: none. Context: no concurrent callers. */
void bt_mem_set_refuser(bool (*refuses)(void *context, enum bt_mem_use use, size_t bytes), void *context);
