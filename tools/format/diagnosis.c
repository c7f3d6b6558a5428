/* SPDX-License-Identifier: Apache-2.0
 * Diagnoses as one line of text.
 */
#include "tools/format/diagnosis.h"

#include "engine/base/quote.h"

void bt_diagnosis_text(const struct bt_diagnosis *diagnosis, struct bt_buf *buf)
{
	const char *const parts[] = {diagnosis->object, diagnosis->path};

	if (diagnosis->file) {
		bt_printable(buf, bt_str(diagnosis->file));
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
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i] && *parts[i]) {
			bt_printable(buf, bt_str(parts[i]));
			bt_buf_text(buf, ": ");
		}
	}
	bt_printable(buf, bt_str(diagnosis->message));
	if (diagnosis->remedy) {
		bt_buf_text(buf, "; ");
		bt_printable(buf, bt_str(diagnosis->remedy));
	}
}
