/* SPDX-License-Identifier: Apache-2.0
 * Diagnoses as one line of text.
 */
#include "tools/codec/diagnosis.h"

void bt_diagnosis_text(const struct bt_diagnosis *diagnosis, struct bt_buf *buf)
{
	if (diagnosis->file) {
		bt_buf_text(buf, diagnosis->file);
	}
	if (diagnosis->file && diagnosis->line) {
		bt_buf_printf(buf, ":%zu", diagnosis->line);
	}
	if (diagnosis->file && diagnosis->line && diagnosis->column) {
		bt_buf_printf(buf, ":%zu", diagnosis->column);
	}
	if (diagnosis->file) {
		bt_buf_text(buf, ": ");
	}
	if (diagnosis->object) {
		bt_buf_printf(buf, "%s: ", diagnosis->object);
	}
	if (diagnosis->path && *diagnosis->path) {
		bt_buf_printf(buf, "%s: ", diagnosis->path);
	}
	bt_buf_text(buf, diagnosis->message);
	if (diagnosis->remedy) {
		bt_buf_printf(buf, "; %s", diagnosis->remedy);
	}
}
