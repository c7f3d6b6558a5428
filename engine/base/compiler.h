/* SPDX-License-Identifier: Apache-2.0
 * Compiler attributes behind names, used nowhere else directly.
 */
#pragma once

#define BT_PRINTF(format_ix, first_ix) __attribute__((format(printf, format_ix, first_ix)))
#define BT_MUST_CHECK		       __attribute__((warn_unused_result))
#define BT_NORETURN		       __attribute__((noreturn))
#define BT_WEAK			       __attribute__((weak))
#define BT_LIKELY(x)		       __builtin_expect(!!(x), 1)
#define BT_UNLIKELY(x)		       __builtin_expect(!!(x), 0)
#define BT_INLINE		       static inline __attribute__((always_inline))
/* For cold paths: not inlined, so that hot paths save no registers for them. */
#define BT_NOINLINE __attribute__((noinline))
/* For functions that read memory that sanitizers protect: frames of running functions. */
#define BT_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))

#define BT_CACHELINE 64
