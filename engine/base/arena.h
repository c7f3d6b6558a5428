/* SPDX-License-Identifier: Apache-2.0
 * A bump allocator for many small objects with the same lifetime. Reset keeps the memory for reuse.
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

/* A zero-initialized arena is empty. */

/* Sets the size of an empty arena's first block, for small owners; later blocks double it. */
void bt_arena_start(struct bt_arena *arena, size_t bytes);

/* Frees everything. The arena is empty and usable afterwards. */
void bt_arena_fini(struct bt_arena *arena);

/* Discards all objects and keeps the blocks. */
void bt_arena_reset(struct bt_arena *arena);

/* Its memory in bytes, used or not. */
size_t bt_arena_bytes(const struct bt_arena *arena);

/* size zeroed bytes, aligned for any type. Never NULL. Owns: the arena. */
void *bt_arena_zalloc(struct bt_arena *arena, size_t size);

/* size uninitialized bytes, aligned to align (a power of two up to 16). */
void *bt_arena_alloc(struct bt_arena *arena, size_t size, size_t align);

/* A copy of n bytes, NUL-terminated. */
char *bt_arena_copy(struct bt_arena *arena, const char *bytes, size_t n);
