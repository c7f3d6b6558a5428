/* SPDX-License-Identifier: Apache-2.0
 * Series of device waits.
 */
#include "tools/cluster/write/device_waits.h"

#include "engine/base/arena.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"

#define FIRST_BOUND_NS INT64_C(100000000)

struct bt_device_waits {
	struct bt_lock lock;
	struct bt_arena names;		 /* lock(lock): */
	struct bt_device_series *series; /* lock(lock): */
	size_t n, cap;
};

struct bt_device_waits *bt_device_waits_create(void)
{
	struct bt_device_waits *waits = bt_mem_zalloc(1, sizeof(*waits));

	bt_lock_init(&waits->lock);
	return waits;
}

void bt_device_waits_destroy(struct bt_device_waits *waits)
{
	bt_arena_fini(&waits->names);
	bt_mem_free(waits->series);
	bt_lock_fini(&waits->lock);
	bt_mem_free(waits);
}

static struct bt_str device_waits_keep(struct bt_device_waits *waits, struct bt_str name)
{
	return (struct bt_str){bt_arena_copy(&waits->names, name.len ? name.ptr : "", name.len), name.len};
}

/* Under the lock. NULL: the limit is reached. */
static struct bt_device_series *series_of(
	struct bt_device_waits *waits, struct bt_str profile, struct bt_str driver, enum bt_devices_end end)
{
	for (size_t i = 0; i < waits->n; i++) {
		struct bt_device_series *series = &waits->series[i];

		if (series->end == end && bt_str_eq(series->driver, driver) &&
			bt_str_eq(series->profile, profile)) {
			return series;
		}
	}
	if (waits->n == BT_DEVICE_SERIES) {
		return NULL;
	}
	waits->series = bt_mem_grow(waits->series, waits->n, &waits->cap, sizeof(*waits->series));
	waits->series[waits->n] = (struct bt_device_series){.profile = device_waits_keep(waits, profile),
		.driver = device_waits_keep(waits, driver),
		.end = end};
	return &waits->series[waits->n++];
}

void bt_device_waits_note(struct bt_device_waits *waits, struct bt_str profile, struct bt_str driver,
	enum bt_devices_end end, bool conditional, int64_t took_ns)
{
	int i = 0;

	while (i < BT_DEVICE_BOUNDS && took_ns > FIRST_BOUND_NS << i) {
		i++;
	}
	bt_lock_acquire(&waits->lock);
	struct bt_device_series *series = series_of(waits, profile, driver, end);

	if (series) {
		series->counts[i]++;
		series->sum_s += (double)took_ns / 1e9;
		series->conditional_n += conditional;
	}
	bt_lock_release(&waits->lock);
}

void bt_device_waits_each(struct bt_device_waits *waits,
	void (*call)(void *context, const struct bt_device_series *series), void *context)
{
	bt_lock_acquire(&waits->lock);
	for (size_t i = 0; i < waits->n; i++) {
		call(context, &waits->series[i]);
	}
	bt_lock_release(&waits->lock);
}

void bt_device_bounds(double out_bounds[BT_DEVICE_BOUNDS])
{
	for (int i = 0; i < BT_DEVICE_BOUNDS; i++) {
		out_bounds[i] = (double)(FIRST_BOUND_NS << i) / 1e9;
	}
}
