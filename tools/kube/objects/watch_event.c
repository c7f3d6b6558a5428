/* SPDX-License-Identifier: Apache-2.0
 * Objects as watch events, and as bytes of a journal.
 */
#include "tools/kube/objects/watch_event.h"

#include "engine/base/check.h"
#include "tools/format/encode.h"
#include "tools/format/object_reader.h"

void bt_watch_event_maker_init(struct bt_watch_event_maker *maker)
{
	*maker = (struct bt_watch_event_maker){.json = bt_json_create()};
}

void bt_watch_event_maker_fini(struct bt_watch_event_maker *maker)
{
	bt_json_destroy(maker->json);
}

/* Decodes an object that lives in arena and in text. */
static bool decode(struct bt_watch_event_maker *maker, struct bt_str text, struct bt_arena *arena,
	struct bt_object *out, struct bt_buf *out_error)
{
	struct bt_decode d = {.json = maker->json, .arena = arena};

	bt_json_begin(maker->json, text, arena);
	if (bt_object_decode(&d, out) && !bt_json_more(maker->json)) {
		return true;
	}
	if (d.error.status == BT_OK) {
		bt_buf_text(out_error, "there is more than one object");
	} else {
		bt_buf_printf(
			out_error, "%s%s%s", d.error.path, d.error.path[0] ? ": " : "", d.error.message);
	}
	return false;
}

/* ---- journals ---- */

static void encode_json(void *context, const struct bt_object *object, struct bt_buf *out)
{
	(void)context;
	bt_object_encode(object, out);
}

static bool decode_json(void *context, struct bt_str bytes, struct bt_arena *arena, struct bt_object *out,
	struct bt_buf *out_error)
{
	return decode(context, bytes, arena, out, out_error);
}

struct bt_journal_codec bt_journal_json(struct bt_watch_event_maker *maker)
{
	return (struct bt_journal_codec){encode_json, maker ? decode_json : NULL, maker};
}
