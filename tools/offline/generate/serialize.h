/* SPDX-License-Identifier: Apache-2.0
 * Streams of API objects as JSON and YAML, by the encoder (tools/format/encode.h).
 */
#pragma once

#include <stdbool.h>

#include "engine/base/buf.h"
#include "engine/model/object.h"
#include "tools/cli/doc_write.h"

/*
 * A stream of objects: for BT_DOC_JSON one List with an object a line, for BT_DOC_YAML one document an
 * object. The stream is complete after bt_serialize_end, which may come after any whole object. owner:
 * private to serialize.c
 */
struct bt_serialize_stream {
	enum bt_doc_style style;
	bool any;
};

void bt_serialize_begin(struct bt_serialize_stream *stream, enum bt_doc_style style, struct bt_buf *out);
void bt_serialize_next(
	struct bt_serialize_stream *stream, const struct bt_object *object, struct bt_buf *out);
void bt_serialize_end(struct bt_serialize_stream *stream, struct bt_buf *out);
