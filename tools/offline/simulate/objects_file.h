/* SPDX-License-Identifier: Apache-2.0
 * The file of --write-objects: every object as admission leaves it. Context: the thread that loads.
 */
#pragma once

#include "engine/model/object.h"
#include "tools/cli/output.h"
#include "tools/offline/generate/serialize.h"

/* A zero-initialized one is closed. Its fields are private. */
struct bt_objects_file {
	struct bt_output output;
	struct bt_serialize_stream stream;
	struct bt_buf text;
	bool open;
};

/* Opens a file; NULL: none, and nothing is written. YAML by its name, else JSON. Returns: enum bt_exit. */
int bt_objects_file_open(struct bt_objects_file *file, const char *path);

void bt_objects_file_add(struct bt_objects_file *file, const struct bt_object *object);

/* whole: every object was added; else the old file stays. Returns: enum bt_exit. */
int bt_objects_file_close(struct bt_objects_file *file, bool whole);
