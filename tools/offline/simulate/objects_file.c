/* SPDX-License-Identifier: Apache-2.0
 * Writes admitted objects as one List, or as YAML documents.
 */
#include "tools/offline/simulate/objects_file.h"

#include "tools/cli/command.h"

static bool is_yaml(const char *path)
{
	return bt_str_ends(bt_str(path), ".yaml") || bt_str_ends(bt_str(path), ".yml");
}

static void write_text(struct bt_objects_file *file)
{
	bt_output_add(&file->output, file->text.ptr, file->text.len);
	bt_buf_clear(&file->text);
}

int bt_objects_file_open(struct bt_objects_file *file, const char *path)
{
	if (!path) {
		return BT_EXIT_OK;
	}
	file->open = bt_output_open(path, BT_OUTPUT_WHOLE, &file->output) == BT_OK;
	if (!file->open) {
		return BT_EXIT_IO;
	}
	bt_serialize_begin(&file->stream, is_yaml(path) ? BT_DOC_YAML : BT_DOC_JSON, &file->text);
	return BT_EXIT_OK;
}

void bt_objects_file_add(struct bt_objects_file *file, const struct bt_object *object)
{
	if (file->open) {
		bt_serialize_next(&file->stream, object, &file->text);
		write_text(file);
	}
}

int bt_objects_file_close(struct bt_objects_file *file, bool whole)
{
	int status = BT_EXIT_OK;

	if (!file->open) {
		return status;
	}
	file->open = false;
	if (whole) {
		bt_serialize_end(&file->stream, &file->text);
		write_text(file);
		status = bt_output_close(&file->output);
	} else {
		bt_output_drop(&file->output);
	}
	bt_buf_fini(&file->text);
	return status;
}
