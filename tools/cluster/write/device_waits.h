/* SPDX-License-Identifier: Apache-2.0
 * How long bindings have waited for devices to get ready, and the outcome: series per profile, driver and
 * outcome. Source: PreBind of DynamicResources, v1.36.3.
 * Context: any thread; a lock guards the series, which are rarely read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"

enum bt_devices_end {
	BT_DEVICES_READY = 0,
	BT_DEVICES_FAILED,
	BT_DEVICES_TIMEOUT,
	BT_DEVICES_ERROR /* the wait ended in an error */
};

/* Buckets that double: 0.1 s to 819.2 s, and the rest. */
#define BT_DEVICE_BOUNDS 14

/* Limit of series: the number of drivers has no other limit. */
#define BT_DEVICE_SERIES 1024

struct bt_device_series {
	struct bt_str profile, driver;
	enum bt_devices_end end;
	uint64_t conditional_n;		       /* devices that had conditions */
	uint64_t counts[BT_DEVICE_BOUNDS + 1]; /* all devices of those claims; per bucket, not cumulative */
	double sum_s;
};

struct bt_device_waits;

/* Owns: bt_device_waits_destroy. */
struct bt_device_waits *bt_device_waits_create(void);
void bt_device_waits_destroy(struct bt_device_waits *waits);

/* Records a binding's wait for one device. conditional: the device has binding conditions. */
void bt_device_waits_note(struct bt_device_waits *waits, struct bt_str profile, struct bt_str driver,
	enum bt_devices_end end, bool conditional, int64_t took_ns);

/* Calls call for each series, in order of creation; call must not use waits. */
void bt_device_waits_each(struct bt_device_waits *waits,
	void (*call)(void *context, const struct bt_device_series *series), void *context);

/* In seconds. */
void bt_device_bounds(double out_bounds[BT_DEVICE_BOUNDS]);
