/* SPDX-License-Identifier: Apache-2.0
 * What helgrind and drd are told, in builds with the CMake option BT_VALGRIND: they know threads and locks of
 * pthreads, but neither C11 atomics nor what ck, liburcu and the kernel order. The macros of atomic.h have
 * their second form here.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Accesses to these bytes are atomic, so no two of them are a race. */
void bt_valgrind_atomic(const volatile void *address, size_t bytes);

/* Whoever acquires the address afterwards, in any thread, comes after what this thread has done. */
void bt_valgrind_release(const volatile void *address);
void bt_valgrind_acquire(const volatile void *address);

/* private: an operation on word_, which is the object */
#define BT_VALGRIND_ATOMIC(object, releases, acquires, operation)                                            \
	__extension__({                                                                                      \
		__auto_type word_ = (object);                                                                \
		bt_valgrind_atomic(word_, sizeof(*word_));                                                   \
		if (releases) {                                                                              \
			bt_valgrind_release(word_);                                                          \
		}                                                                                            \
		__auto_type value_ = (operation);                                                            \
		if (acquires) {                                                                              \
			bt_valgrind_acquire(word_);                                                          \
		}                                                                                            \
		value_;                                                                                      \
	})

#define bt_load_relaxed(object)                                                                              \
	BT_VALGRIND_ATOMIC(object, false, false, atomic_load_explicit(word_, memory_order_relaxed))
#define bt_load_acquire(object)                                                                              \
	BT_VALGRIND_ATOMIC(object, false, true, atomic_load_explicit(word_, memory_order_acquire))
#define bt_store_relaxed(object, value)                                                                      \
	((void)BT_VALGRIND_ATOMIC(                                                                           \
		object, false, false, (atomic_store_explicit(word_, (value), memory_order_relaxed), true)))
#define bt_store_release(object, value)                                                                      \
	((void)BT_VALGRIND_ATOMIC(                                                                           \
		object, true, false, (atomic_store_explicit(word_, (value), memory_order_release), true)))
#define bt_add(object, value)                                                                                \
	BT_VALGRIND_ATOMIC(                                                                                  \
		object, true, true, atomic_fetch_add_explicit(word_, (value), memory_order_acq_rel))
#define bt_add_relaxed(object, value)                                                                        \
	BT_VALGRIND_ATOMIC(                                                                                  \
		object, false, false, atomic_fetch_add_explicit(word_, (value), memory_order_relaxed))
#define bt_sub(object, value)                                                                                \
	BT_VALGRIND_ATOMIC(                                                                                  \
		object, true, true, atomic_fetch_sub_explicit(word_, (value), memory_order_acq_rel))
#define bt_sub_relaxed(object, value)                                                                        \
	BT_VALGRIND_ATOMIC(                                                                                  \
		object, false, false, atomic_fetch_sub_explicit(word_, (value), memory_order_relaxed))
#define bt_exchange(object, value)                                                                           \
	BT_VALGRIND_ATOMIC(object, true, true, atomic_exchange_explicit(word_, (value), memory_order_acq_rel))
#define bt_cas(object, expected, desired)                                                                    \
	BT_VALGRIND_ATOMIC(object, true, true,                                                               \
		atomic_compare_exchange_strong_explicit(                                                     \
			word_, (expected), (desired), memory_order_acq_rel, memory_order_acquire))

#define BT_SYNC_RELEASE(address)       bt_valgrind_release(address)
#define BT_SYNC_ACQUIRE(address)       bt_valgrind_acquire(address)
#define BT_SYNC_ATOMIC(address, bytes) bt_valgrind_atomic((address), (bytes))
