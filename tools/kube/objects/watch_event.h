/* SPDX-License-Identifier: Apache-2.0
 * Objects as watch events for a pipeline, and as bytes for its journal: both are the objects' JSON
 * (tools/format/encode.h).
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/format/json.h"

/* One source's state for making watch events. owner: its thread. */
struct bt_watch_event_maker {
	struct bt_json *json;
};

void bt_watch_event_maker_init(struct bt_watch_event_maker *maker);
void bt_watch_event_maker_fini(struct bt_watch_event_maker *maker);

/* Journals with JSON in them. maker: for reading; NULL: write only. It must outlive the codec. */
struct bt_journal_codec bt_journal_json(struct bt_watch_event_maker *maker);
