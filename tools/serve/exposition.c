/* SPDX-License-Identifier: Apache-2.0
 * Prometheus' text format. Source: prometheus.io/docs/instrumenting/exposition_formats.
 */
#include "tools/serve/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void bt_exposition_begin(
	struct bt_exposition *exposition, const struct bt_str_list *disabled, struct bt_buf *out)
{
	*exposition = (struct bt_exposition){.out = out, .disabled = disabled, .name = ""};
}

void bt_exposition_end(struct bt_exposition *exposition)
{
	bt_buf_fini(&exposition->labels);
}

static bool is_disabled(const struct bt_exposition *exposition, const char *name)
{
	const struct bt_str_list *list = exposition->disabled;

	for (uint32_t i = 0; list && i < list->n; i++) {
		if (bt_str_is(list->items[i], name)) {
			return true;
		}
	}
	return false;
}

/* Text with backslashes, line breaks and, in a value, quotes escaped. */
static void add_escaped(struct bt_buf *out, struct bt_str text, bool value)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '\n') {
			bt_buf_text(out, "\\n");
			continue;
		}
		if (c == '\\' || (value && c == '"')) {
			bt_buf_char(out, '\\');
		}
		bt_buf_char(out, c);
	}
}

void bt_expose(struct bt_exposition *exposition, const char *name, enum bt_metric_type type, const char *help)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};

	exposition->name = name;
	exposition->skips = is_disabled(exposition, name);
	if (exposition->skips) {
		return;
	}
	bt_buf_printf(exposition->out, "# HELP %s ", name);
	add_escaped(exposition->out, bt_str(help), false);
	bt_buf_printf(exposition->out, "\n# TYPE %s %s\n", name, types[type]);
}

void bt_expose_label(struct bt_exposition *exposition, const char *label, struct bt_str value)
{
	struct bt_buf *labels = &exposition->labels;

	bt_buf_printf(labels, "%s%s=\"", labels->len ? "," : "", label);
	add_escaped(labels, value, true);
	bt_buf_char(labels, '"');
}

/* The shortest number that reads back as value. */
static void add_real(struct bt_buf *out, double value)
{
	char text[40];

	if (!isfinite(value)) {
		bt_buf_text(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value) {
			break;
		}
	}
	bt_buf_text(out, text);
}

/* A sample's name and labels; extra: one more label, or NULL. */
static void add_name(struct bt_exposition *exposition, const char *suffix, const char *extra)
{
	const struct bt_buf *labels = &exposition->labels;

	bt_buf_printf(exposition->out, "%s%s", exposition->name, suffix);
	if (labels->len || extra) {
		bt_buf_char(exposition->out, '{');
		bt_buf_str(exposition->out, bt_buf_view(labels));
		bt_buf_text(exposition->out, labels->len && extra ? "," : "");
		bt_buf_text(exposition->out, extra ? extra : "");
		bt_buf_char(exposition->out, '}');
	}
	bt_buf_char(exposition->out, ' ');
}

void bt_expose_count(struct bt_exposition *exposition, uint64_t value)
{
	if (!exposition->skips) {
		add_name(exposition, "", NULL);
		bt_buf_printf(exposition->out, "%llu\n", (unsigned long long)value);
	}
	bt_buf_clear(&exposition->labels);
}

void bt_expose_real(struct bt_exposition *exposition, double value)
{
	if (!exposition->skips) {
		add_name(exposition, "", NULL);
		add_real(exposition->out, value);
		bt_buf_char(exposition->out, '\n');
	}
	bt_buf_clear(&exposition->labels);
}

void bt_expose_buckets(struct bt_exposition *exposition, const struct bt_metric_buckets *buckets)
{
	struct bt_buf le = {0};
	uint64_t count = 0;

	for (uint32_t i = 0; i <= buckets->n && !exposition->skips; i++) {
		count += buckets->counts[i];
		bt_buf_clear(&le);
		bt_buf_text(&le, "le=\"");
		add_real(&le, i < buckets->n ? buckets->bounds[i] : (double)INFINITY);
		bt_buf_char(&le, '"');
		add_name(exposition, "_bucket", le.ptr);
		bt_buf_printf(exposition->out, "%llu\n", (unsigned long long)count);
	}
	if (!exposition->skips) {
		add_name(exposition, "_sum", NULL);
		add_real(exposition->out, buckets->sum);
		bt_buf_char(exposition->out, '\n');
		add_name(exposition, "_count", NULL);
		bt_buf_printf(exposition->out, "%llu\n", (unsigned long long)count);
	}
	bt_buf_fini(&le);
	bt_buf_clear(&exposition->labels);
}

void bt_expose_counter(struct bt_exposition *exposition, const char *name, const char *help, uint64_t value)
{
	bt_expose(exposition, name, BT_METRIC_COUNTER, help);
	bt_expose_count(exposition, value);
}

void bt_expose_gauge(struct bt_exposition *exposition, const char *name, const char *help, double value)
{
	bt_expose(exposition, name, BT_METRIC_GAUGE, help);
	bt_expose_real(exposition, value);
}
