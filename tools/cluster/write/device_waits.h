/* SPDX-License-Identifier: Apache-2.0
 * How long bindings have waited for devices to get ready, and what came of it: series for each profile,
 * driver and end. Source: PreBind of DynamicResources, v1.36.3.
 * Context: any thread; a lock guards the series, which are asked for seldom.
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

/* Buckets that double: 0.1 s to 819.2 s, and what is beyond. */
#define BT_DEVICE_BOUNDS 14

/* More series than so many are not kept: a driver a node is no limit to count on. */
#define BT_DEVICE_SERIES 1024

struct bt_device_series {
	struct bt_str profile, driver;
	enum bt_devices_end end;
	uint64_t conditional_n;		       /* devices that had conditions */
	uint64_t counts[BT_DEVICE_BOUNDS + 1]; /* all devices of those claims; of each bucket alone */
	double sum_s;
};

struct bt_device_waits;

/* Owns: bt_device_waits_destroy. */
struct bt_device_waits *bt_device_waits_create(void);
void bt_device_waits_destroy(struct bt_device_waits *waits);

/* A binding has waited so long, and has this device; conditional: for it, too. */
void bt_device_waits_note(struct bt_device_waits *waits, struct bt_str profile, struct bt_str driver,
	enum bt_devices_end end, bool conditional, int64_t took_ns);

/* Calls for each series, in the order in which they began; nothing of waits may be called meanwhile. */
void bt_device_waits_each(struct bt_device_waits *waits,
	void (*call)(void *context, const struct bt_device_series *series), void *context);

/* In seconds. */
void bt_device_bounds(double out_bounds[BT_DEVICE_BOUNDS]);
