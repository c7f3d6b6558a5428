/* SPDX-License-Identifier: Apache-2.0
 * Formats compile errors as cel-go does: position, text, the line and a mark below it.
 */
#include "plugins/dynamic_resources/cel_int.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/base/mem.h"
#include "engine/base/utf8.h"

#define ERRORS_MAX 100 /* more are only counted */

void bt_cel_diagnose(struct bt_cel_compiler *compiler, uint32_t at, const char *format, ...)
{
	struct bt_buf text = {0};
	va_list args;

	compiler->error_n++;
	if (compiler->error_n > ERRORS_MAX) {
		return;
	}
	if (!compiler->errors) {
		compiler->errors = bt_arena_alloc(compiler->arena, ERRORS_MAX * sizeof(*compiler->errors), 8);
	}
	va_start(args, format);
	bt_buf_vprintf(&text, format, args);
	va_end(args);
	/* Sorted by position; errors of one position keep their order. */
	size_t ix = compiler->error_n - 1;
	for (; ix > 0 && compiler->errors[ix - 1].at > at; ix--) {
		compiler->errors[ix] = compiler->errors[ix - 1];
	}
	compiler->errors[ix] = (struct bt_cel_error){
		.at = at, .text = {bt_arena_copy(compiler->arena, text.ptr, text.len), text.len}};
	bt_buf_fini(&text);
}

/* The line that contains the code point at, its number from 1 and the column of at from 0. */
static struct bt_str find_line(struct bt_str source, uint32_t at, uint32_t *out_line, uint32_t *out_column)
{
	size_t start = 0;
	size_t i = 0;
	uint32_t rune;

	*out_line = 1;
	*out_column = 0;
	for (uint32_t rune_ix = 0; i < source.len && rune_ix < at; rune_ix++) {
		bool is_end = source.ptr[i] == '\n';

		i += bt_utf8_decode(source, i, &rune);
		(*out_column)++;
		if (is_end) {
			start = i;
			(*out_line)++;
			*out_column = 0;
		}
	}
	return bt_str_sub(source, start, bt_str_find(source, '\n', start));
}

static void show(struct bt_str source, const struct bt_cel_error *error, struct bt_buf *out)
{
	uint32_t line;
	uint32_t column;
	uint32_t rune;
	size_t i = 0;

	if (error->at == BT_CEL_NOWHERE) {
		bt_buf_text(out, "ERROR: <input>:-1:0: ");
		bt_buf_str(out, error->text);
		return;
	}
	struct bt_str snippet = find_line(source, error->at, &line, &column);
	bt_buf_printf(out, "ERROR: <input>:%u:%u: ", line, column + 1);
	bt_buf_str(out, error->text);
	bt_buf_text(out, "\n | ");
	for (size_t k = 0; k < snippet.len; k++) {
		bt_buf_char(out, snippet.ptr[k] == '\t' ? ' ' : snippet.ptr[k]);
	}
	bt_buf_text(out, "\n | ");
	for (uint32_t k = 0; k < column && i < snippet.len; k++) {
		size_t n = bt_utf8_decode(snippet, i, &rune);

		bt_buf_text(out, n > 1 ? "\xef\xbc\x8e" : "."); /* a full-width dot below a wide character */
		i += n;
	}
	bt_buf_text(out, i < snippet.len && bt_utf8_decode(snippet, i, &rune) > 1 ? "\xef\xbc\xbe" : "^");
}

void bt_cel_show_errors(struct bt_cel_compiler *compiler, struct bt_buf *out)
{
	size_t n = compiler->error_n < ERRORS_MAX ? compiler->error_n : ERRORS_MAX;

	for (size_t i = 0; i < n; i++) {
		if (i) {
			bt_buf_char(out, '\n');
		}
		show(compiler->source, &compiler->errors[i], out);
	}
	if (compiler->error_n > n) {
		bt_buf_printf(out, "\n%zu more errors were truncated", compiler->error_n - n);
	}
}
