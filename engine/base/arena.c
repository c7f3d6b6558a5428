/* SPDX-License-Identifier: Apache-2.0
 * A bump allocator over a list of growing blocks.
 */
#include "engine/base/arena.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define FIRST_BLOCK_BYTES (16u << 10)
#define LAST_BLOCK_BYTES  (4u << 20)

struct bt_arena_block {
	struct bt_arena_block *next;
	size_t size_bytes;
	_Alignas(16) char bytes[];
};

static void arena_enter(struct bt_arena *arena, struct bt_arena_block *block)
{
	BT_INVARIANT(block->size_bytes > 0);
	arena->current = block;
	arena->next = block->bytes;
	arena->end = block->bytes + block->size_bytes;
}

static struct bt_arena_block *make_block(size_t size)
{
	struct bt_arena_block *block = bt_mem_realloc(NULL, 1, sizeof(*block) + size);

	*block = (struct bt_arena_block){.size_bytes = size};
	return block;
}

/* Makes a block of at least need bytes current: a kept one if large enough, otherwise a new one. */
static void next_block(struct bt_arena *arena, size_t need)
{
	struct bt_arena_block *block = arena->current ? arena->current->next : arena->first;
	size_t size = arena->current ? arena->current->size_bytes * 2 : FIRST_BLOCK_BYTES;

	if (block && block->size_bytes >= need) {
		arena_enter(arena, block);
		return;
	}
	size = size < LAST_BLOCK_BYTES ? size : LAST_BLOCK_BYTES;
	size = size > need ? size : need;
	struct bt_arena_block *fresh = make_block(size);
	fresh->next = block;
	if (arena->current) {
		arena->current->next = fresh;
	} else {
		arena->first = fresh;
		BT_INVARIANT(!fresh->next);
	}
	arena_enter(arena, fresh);
}

void bt_arena_start(struct bt_arena *arena, size_t bytes)
{
	BT_REQUIRE(!arena->first);
	arena->first = make_block(bytes);
	arena_enter(arena, arena->first);
}

void bt_arena_fini(struct bt_arena *arena)
{
	struct bt_arena_block *block = arena->first;

	while (block) {
		struct bt_arena_block *next = block->next;

		bt_mem_free(block);
		block = next;
	}
	*arena = (struct bt_arena){0};
}

void bt_arena_reset(struct bt_arena *arena)
{
	if (arena->first) {
		arena_enter(arena, arena->first);
	}
}

size_t bt_arena_bytes(const struct bt_arena *arena)
{
	size_t bytes = 0;

	for (const struct bt_arena_block *block = arena->first; block; block = block->next) {
		bytes += block->size_bytes;
	}
	return bytes;
}

void *bt_arena_alloc(struct bt_arena *arena, size_t size, size_t align)
{
	BT_INVARIANT(align && align <= 16 && (align & (align - 1)) == 0);
	uintptr_t at = ((uintptr_t)arena->next + align - 1) & ~(uintptr_t)(align - 1);

	if (!arena->current || size > (uintptr_t)arena->end || at > (uintptr_t)arena->end - size) {
		next_block(arena, size + align);
		at = ((uintptr_t)arena->next + align - 1) & ~(uintptr_t)(align - 1);
	}
	BT_INVARIANT(at >= (uintptr_t)arena->current->bytes && at + size <= (uintptr_t)arena->end);
	arena->next = (char *)(at + size);
	return (void *)at;
}

void *bt_arena_zalloc(struct bt_arena *arena, size_t size)
{
	return memset(bt_arena_alloc(arena, size, 16), 0, size);
}

char *bt_arena_copy(struct bt_arena *arena, const char *bytes, size_t n)
{
	char *copy = bt_arena_alloc(arena, n + 1, 1);

	if (n) {
		memcpy(copy, bytes, n);
	}
	copy[n] = '\0';
	return copy;
}
