/* SPDX-License-Identifier: Apache-2.0
 * A bump allocator: many small objects that die together. Reset keeps the memory for the next round.
 * Context: one thread at a time.
 */
#pragma once

#include <stddef.h>

struct bt_arena_block;

/* owner: private to arena.c */
struct bt_arena {
	struct bt_arena_block *first, *current;
	char *next, *end;
};

/* An empty arena is all zeroes; it needs no init. */

/* Gives an empty arena a first block of this size, for owners of little; later blocks double it. */
void bt_arena_start(struct bt_arena *arena, size_t bytes);

/* Frees everything. The arena is empty and usable afterwards. */
void bt_arena_fini(struct bt_arena *arena);

/* Forgets every object and keeps the blocks. */
void bt_arena_reset(struct bt_arena *arena);

/* How much memory it has, used or not. */
size_t bt_arena_bytes(const struct bt_arena *arena);

/* size zeroed bytes, aligned for any type. Never NULL. Owns: the arena. */
void *bt_arena_zalloc(struct bt_arena *arena, size_t size);

/* size bytes that are not set, aligned to align (a power of two up to 16). */
void *bt_arena_alloc(struct bt_arena *arena, size_t size, size_t align);

/* A copy of n bytes with a NUL behind them. */
char *bt_arena_copy(struct bt_arena *arena, const char *bytes, size_t n);
