/* SPDX-License-Identifier: Apache-2.0
 * The seam to jemalloc: the only way our code gets heap memory. Running out of memory ends the program with a
 * clear message, so callers never see NULL; what may fail is bounded by limits before it allocates.
 * Context: any thread, never between queue and assume.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for n objects of size bytes. Owns: free with bt_mem_free. */
void *bt_mem_zalloc(size_t n, size_t size);

/* Grows or shrinks an allocation to n objects of size bytes; new bytes are not set. ptr may be NULL. */
void *bt_mem_realloc(void *ptr, size_t n, size_t size);

/* Zeroed memory whose start and size are multiples of a cache line; for columns. Owns: bt_mem_free. */
void *bt_mem_column(size_t n, size_t size);

/* A column of new_n int64_t that begins with the old_n of column (NULL: none), the rest zero; frees column.
 * Owns: bt_mem_free. */
int64_t *bt_mem_widen(int64_t *column, size_t old_n, size_t new_n);

/* A copy of n bytes with a NUL behind them. Owns: bt_mem_free. */
char *bt_mem_copy(const char *bytes, size_t n);

/* Frees what came from this header; NULL is fine. */
void bt_mem_free(void *ptr);

/* Bytes that the program holds from the allocator now, in all arenas. */
size_t bt_mem_in_use_bytes(void);

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

/* A column from this arena whose bytes are not set: its pages are not touched yet, so they can still be
 * bound.
 * Owns: bt_mem_free. */
void *bt_mem_raw_column(bt_mem_arena_ix arena, size_t n, size_t size);

/* Bytes of an arena that are held now; 0 for arena 0. */
size_t bt_mem_arena_in_use_bytes(bt_mem_arena_ix arena);

/* Makes room for one more element in a growing array: doubles *cap_n when count_n has reached it. */
void *bt_mem_grow(void *array, size_t count_n, size_t *cap_n, size_t size);
