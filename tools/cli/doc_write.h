/* SPDX-License-Identifier: Apache-2.0
 * One stream of calls, written as JSON or as YAML: the serializer of reports and Kubernetes objects.
 * Context: one thread; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "tools/cli/json_write.h"

enum bt_doc_style {
	BT_DOC_JSON, /* compact */
	BT_DOC_JSON_PRETTY,
	BT_DOC_YAML
};

/* owner: private to doc_write.c */
struct bt_doc {
	enum bt_doc_style style;
	struct bt_json_writer json; /* all of the state for JSON; out, depth and the bits for YAML too */
	bool in_item;		    /* YAML: "- " was written, and the first key follows on the same line */
};

void bt_doc_init(struct bt_doc *doc, enum bt_doc_style style, struct bt_buf *out);

/* As in json_write.h. A YAML document ends with a line break after the outermost container; JSON does not. */
void bt_doc_begin_object(struct bt_doc *doc);
void bt_doc_begin_array(struct bt_doc *doc);
void bt_doc_end(struct bt_doc *doc);
void bt_doc_key(struct bt_doc *doc, const char *key);
void bt_doc_key_str(struct bt_doc *doc, struct bt_str key);
void bt_doc_str(struct bt_doc *doc, struct bt_str value);
void bt_doc_text(struct bt_doc *doc, const char *value);
void bt_doc_int(struct bt_doc *doc, int64_t value);
void bt_doc_bool(struct bt_doc *doc, bool value);
void bt_doc_null(struct bt_doc *doc);
void bt_doc_real(struct bt_doc *doc, double value, int digits);
