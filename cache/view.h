/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the views that a plugin gets in a cycle. A plugin includes the header of each part that it reads.
 */
#pragma once

struct bt_snapshot;
struct bt_usage;
struct bt_counting;
struct bt_storage;
struct bt_device_store;

struct bt_view {
	const struct bt_snapshot *snapshot;
	const struct bt_usage *usage;
	const struct bt_counting *counting;
	const struct bt_storage *storage;
	const struct bt_device_store *devices;
};
