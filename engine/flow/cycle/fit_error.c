/* SPDX-License-Identifier: Apache-2.0
 * The FitError text.
 */
#include "engine/flow/cycle/fit_error.h"

#include <stdlib.h>

#include "engine/base/mem.h"

void bt_fit_error_clear(struct bt_fit_error *error)
{
	for (size_t i = 0; i < error->reason_n; i++) {
		bt_mem_free(error->reasons[i].text);
	}
	error->reason_n = 0;
}

void bt_fit_error_fini(struct bt_fit_error *error)
{
	bt_fit_error_clear(error);
	bt_mem_free(error->reasons);
	*error = (struct bt_fit_error){0};
}

void bt_fit_error_add(struct bt_fit_error *error, struct bt_str reason, uint64_t n)
{
	for (size_t i = 0; i < error->reason_n; i++) {
		if (bt_str_is(reason, error->reasons[i].text)) {
			error->reasons[i].n += n;
			return;
		}
	}
	error->reasons =
		bt_mem_grow(error->reasons, error->reason_n, &error->reason_cap, sizeof(*error->reasons));
	error->reasons[error->reason_n++] = (struct bt_fit_reason){bt_mem_copy(reason.ptr, reason.len), n};
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void bt_fit_error_text(const struct bt_fit_error *error, uint64_t node_n, struct bt_buf *out_text)
{
	size_t n = error->reason_n;
	char **lines = bt_mem_zalloc(n, sizeof(*lines));
	struct bt_buf line = {0};

	for (size_t i = 0; i < n; i++) {
		bt_buf_clear(&line);
		bt_buf_printf(
			&line, "%llu %s", (unsigned long long)error->reasons[i].n, error->reasons[i].text);
		lines[i] = bt_mem_copy(line.ptr, line.len);
	}
	if (n) {
		qsort(lines, n, sizeof(*lines), by_text);
	}
	bt_buf_printf(out_text, "0/%llu nodes are available:", (unsigned long long)node_n);
	for (size_t i = 0; i < n; i++) {
		bt_buf_printf(out_text, "%s%s", i ? ", " : " ", lines[i]);
		bt_mem_free(lines[i]);
	}
	bt_buf_text(out_text, n ? "." : "");
	bt_buf_fini(&line);
	bt_mem_free(lines);
}
