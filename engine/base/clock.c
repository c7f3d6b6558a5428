/* SPDX-License-Identifier: Apache-2.0
 * Real, virtual and monotonic clocks.
 */
#include "engine/base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t real_now_ns(void *context)
{
	(void)context;
	return read_ns(CLOCK_REALTIME);
}

static int64_t virtual_now_ns(void *context)
{
	return *(const int64_t *)context;
}

struct bt_clock bt_clock_real(void)
{
	return (struct bt_clock){.now_ns = real_now_ns};
}

struct bt_clock bt_clock_virtual(int64_t *now_ns)
{
	return (struct bt_clock){.now_ns = virtual_now_ns, .context = now_ns};
}

int64_t bt_clock_monotonic_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t bt_clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}
