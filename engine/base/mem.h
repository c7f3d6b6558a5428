/* SPDX-License-Identifier: Apache-2.0
 * The seam to jemalloc: the only way our code gets heap memory. Running out of memory ends the program with a
 * message that says who wanted how much, so callers never see NULL; what may fail asks before it allocates
 * (bt_mem_may_use).
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

/* Grows or shrinks an allocation to n objects of size bytes; new bytes are not set. ptr may be NULL. */
#define bt_mem_realloc(ptr, n, size) bt_mem_realloc_for(__func__, ptr, n, size)

/* Zeroed memory whose start and size are multiples of a cache line; for columns. Owns: bt_mem_free. */
#define bt_mem_column(n, size) bt_mem_column_for(__func__, n, size)

/* A column of new_n objects that begins with the old_n of column (NULL: none), the rest zero; frees column.
 * Owns: bt_mem_free. */
#define bt_mem_widen(column, old_n, new_n, size) bt_mem_widen_for(__func__, column, old_n, new_n, size)

/* A copy of n bytes with a NUL behind them. Owns: bt_mem_free. */
#define bt_mem_copy(bytes, n) bt_mem_copy_for(__func__, bytes, n)

/* Makes room for one more element in a growing array: doubles *cap_n when count_n has reached it. */
#define bt_mem_grow(array, count_n, cap_n, size) bt_mem_grow_for(__func__, array, count_n, cap_n, size)

/* The same; who: the function that wants it, a constant. */
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

/* Frees what came from this header; NULL is fine. */
void bt_mem_free(void *ptr);

/* Bytes that the program holds from the allocator now, in all arenas, and the pages that were taken. */
size_t bt_mem_in_use_bytes(void);

/*
 * Writes jemalloc's heap profile, as pprof reads it, to a file.
 * Returns: BT_OK; BT_UNSUPPORTED: it takes none, BT_IO: the file cannot be written; out_why says why and what
 * to do.
 */
BT_MUST_CHECK enum bt_status bt_mem_write_profile(const char *path, struct bt_buf *out_why);

/* Appends what the allocator says of itself, for people. Nothing where it says nothing. */
void bt_mem_describe(struct bt_buf *out);

/*
 * Room of the address space, of so many bytes from the start of a page on, zeroed; the memory of its pages is
 * there when it is used. What is used is said, as bytes of whole pages, so that it counts as in use.
 * Owns    : bt_mem_unreserve, with what is taken still.
 */
#define BT_MEM_PAGE 4096
void *bt_mem_reserve(size_t bytes);
void bt_mem_unreserve(void *ptr, size_t bytes, size_t taken_bytes);
void bt_mem_take_pages(size_t bytes);

/*
 * Gives pages' memory back: they are zeroes again, also for who reads them meanwhile.
 * Requires: ptr is the start of a page, bytes a multiple of BT_MEM_PAGE.
 * Returns : false, and nothing has changed, where the system's pages are larger, or it refuses.
 */
bool bt_mem_give_pages(void *ptr, size_t bytes);

/* An arena of jemalloc; 0 leaves the choice to it. */
typedef uint32_t bt_mem_arena_ix;

/*
 * The arena for what belongs on one memory node, so that blocks of different nodes never share a page. It is
 * made when it is first asked for and stays for the life of the process.
 * Returns : 0 where there is none to be had: under sanitizers, and from node BT_MEM_NODES on.
 */
#define BT_MEM_NODES 128
bt_mem_arena_ix bt_mem_node_arena(uint32_t numa_ix);

/* From now on the calling thread allocates from this arena, as a pinned worker does from its node's. Blocks
 * are freed by bt_mem_free in any thread. 0 does nothing. */
void bt_mem_use_arena(bt_mem_arena_ix arena);

/* Bytes of an arena that are held now; 0 for arena 0. */
size_t bt_mem_arena_in_use_bytes(bt_mem_arena_ix arena);

/* ---- allocations that may be refused ---- */

/* What asks before it allocates, and what happens when the answer is no. */
enum bt_mem_use {
	BT_MEM_OBJECT,	/* an object: BT_NO_MEMORY, nothing has changed, and the caller keeps it */
	BT_MEM_BINDING, /* room for more bindings at a time: no pod is popped until a binding is answered */
	/* Events that are kept for pods in flight: they are dropped, and these pods are tried again. */
	BT_MEM_EVENT,
	BT_MEM_PLAN,  /* columns for pods of a kind: every node is evaluated, with the same outcome */
	BT_MEM_NOTES, /* where preemption helps: every node is tried, with the same outcome */
	BT_MEM_USE_N
};

/*
 * May some bytes more be used for that? Yes while the process holds less than its limit; the allocator is
 * asked for what it holds each time a part of what was left has been granted, so the limit may be exceeded by
 * what objects become.
 * Context: any thread; allocates nothing.
 */
bool bt_mem_may_use(enum bt_mem_use use, size_t bytes);

/* Sets the limit of the process; 0: there is none, as at first. Context: any thread. */
void bt_mem_set_limit(size_t bytes);

/* For tests: says no for others. NULL: nobody does. Context: while no other thread asks. */
void bt_mem_set_refuser(bool (*refuses)(void *context, enum bt_mem_use use, size_t bytes), void *context);
