/* SPDX-License-Identifier: Apache-2.0
 * C11 atomics with the order in the name; objects are declared _Atomic. BT_SYNC_RELEASE and BT_SYNC_ACQUIRE
 * annotate, for race detectors, an order that a library or the kernel provides; BT_SYNC_ATOMIC annotates
 * words that a library accesses atomically.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/compiler.h"

#if BT_VALGRIND
#include "engine/base/valgrind.h"

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
#else
#define bt_load_relaxed(object)		atomic_load_explicit((object), memory_order_relaxed)
#define bt_load_acquire(object)		atomic_load_explicit((object), memory_order_acquire)
#define bt_store_relaxed(object, value) atomic_store_explicit((object), (value), memory_order_relaxed)
#define bt_store_release(object, value) atomic_store_explicit((object), (value), memory_order_release)

/* Both return the old value. The plain one is acquire and release: for reference counts. */
#define bt_add(object, value)		atomic_fetch_add_explicit((object), (value), memory_order_acq_rel)
#define bt_add_relaxed(object, value)	atomic_fetch_add_explicit((object), (value), memory_order_relaxed)
#define bt_sub(object, value)		atomic_fetch_sub_explicit((object), (value), memory_order_acq_rel)
#define bt_sub_relaxed(object, value)	atomic_fetch_sub_explicit((object), (value), memory_order_relaxed)

/* Returns the old value; acquire and release. */
#define bt_exchange(object, value)	atomic_exchange_explicit((object), (value), memory_order_acq_rel)

/* Returns whether *object was *expected and is now desired (acquire and release); else stores its value in
 * *expected (acquire). */
#define bt_cas(object, expected, desired)                                                                    \
	atomic_compare_exchange_strong_explicit(                                                             \
		(object), (expected), (desired), memory_order_acq_rel, memory_order_acquire)
#endif

/* Adds to an object that only this thread writes: a load and a store, no locked instruction. */
#define bt_add_owned(object, value) bt_store_relaxed((object), bt_load_relaxed(object) + (value))

#if defined(__SANITIZE_THREAD__)
#define BT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BT_TSAN 1
#endif
#endif

#if BT_VALGRIND
/* BT_SYNC_... are defined above. */
#elif defined(BT_TSAN)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define BT_SYNC_RELEASE(address)       __tsan_release((void *)(uintptr_t)(address))
#define BT_SYNC_ACQUIRE(address)       __tsan_acquire((void *)(uintptr_t)(address))
#define BT_SYNC_ATOMIC(address, bytes) ((void)(address))
#else
#define BT_SYNC_RELEASE(address)       ((void)(address))
#define BT_SYNC_ACQUIRE(address)       ((void)(address))
#define BT_SYNC_ATOMIC(address, bytes) ((void)(address))
#endif

/* No access moves across it, neither in the compiler nor in the processor; every use states WHY. */
BT_INLINE void bt_fence_full(void)
{
#if BT_VALGRIND || defined(BT_TSAN)
	/* Race detectors do not support fences; a read-modify-write is as strong. */
	static _Atomic uint32_t word;

	BT_SYNC_RELEASE(&word);
	atomic_fetch_add_explicit(&word, 0, memory_order_seq_cst);
	BT_SYNC_ACQUIRE(&word);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* No access moves across it in the compiler. */
BT_INLINE void bt_fence_compiler(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Hints to the processor that this is a spin loop. */
BT_INLINE void bt_cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
