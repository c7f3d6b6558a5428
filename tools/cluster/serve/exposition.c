/* SPDX-License-Identifier: Apache-2.0
 * Prometheus' text format. Source: prometheus.io/docs/instrumenting/exposition_formats.
 */
#include "tools/cluster/serve/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sample that waits for others with the same labels. */
struct bt_held_sample {
	struct bt_held_sample *next;
	struct bt_str labels;
	bool is_real;
	uint64_t count;
	double real;
	uint64_t *counts; /* of buckets; NULL: none */
	struct bt_metric_buckets buckets;
};

/* The default settings. */
static const struct bt_metric_settings all_shown;

void bt_exposition_begin(
	struct bt_exposition *exposition, const struct bt_metric_settings *settings, struct bt_buf *out)
{
	*exposition =
		(struct bt_exposition){.out = out, .settings = settings ? settings : &all_shown, .name = ""};
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

/* The shortest number that reads back as value, as Go's FormatFloat(value, 'g', -1, 64) writes it. */
static void add_real(struct bt_buf *out, double value)
{
	int digits = 0, exponent;
	char text[40];

	if (!isfinite(value)) {
		bt_buf_text(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
		return;
	}
	do {
		snprintf(text, sizeof(text), "%.*e", digits++, value);
	} while (strtod(text, NULL) != value && digits < 17);
	exponent = atoi(strchr(text, 'e') + 1);
	if (exponent >= -4 && exponent < 6) {
		snprintf(
			text, sizeof(text), "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, value);
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

static void add_count(struct bt_exposition *exposition, uint64_t value)
{
	add_name(exposition, "", NULL);
	bt_buf_printf(exposition->out, "%llu\n", (unsigned long long)value);
}

static void add_sample(struct bt_exposition *exposition, double value, const char *suffix)
{
	add_name(exposition, suffix, NULL);
	add_real(exposition->out, value);
	bt_buf_char(exposition->out, '\n');
}

static void add_buckets(struct bt_exposition *exposition, const struct bt_metric_buckets *buckets)
{
	struct bt_buf le = {0};
	uint64_t count = 0;

	for (uint32_t i = 0; i <= buckets->n; i++) {
		count += buckets->counts[i];
		bt_buf_clear(&le);
		bt_buf_text(&le, "le=\"");
		add_real(&le, i < buckets->n ? buckets->bounds[i] : (double)INFINITY);
		bt_buf_char(&le, '"');
		add_name(exposition, "_bucket", le.ptr);
		bt_buf_printf(exposition->out, "%llu\n", (unsigned long long)count);
	}
	add_sample(exposition, buckets->sum, "_sum");
	add_name(exposition, "_count", NULL);
	bt_buf_printf(exposition->out, "%llu\n", (unsigned long long)count);
	bt_buf_fini(&le);
}

/* ---- samples that are held back ---- */

/* The held sample with the current labels, created if there is none. */
static struct bt_held_sample *hold(struct bt_exposition *exposition)
{
	struct bt_str labels = bt_buf_view(&exposition->labels);
	struct bt_held_sample *held = exposition->held;

	while (held && !bt_str_eq(held->labels, labels)) {
		held = held->next;
	}
	if (!held) {
		held = bt_arena_zalloc(&exposition->arena, sizeof(*held));
		held->labels = (struct bt_str){
			bt_arena_copy(&exposition->arena, labels.len ? labels.ptr : "", labels.len),
			labels.len};
		*exposition->held_end = held;
		exposition->held_end = &held->next;
	}
	return held;
}

static void hold_buckets(struct bt_exposition *exposition, const struct bt_metric_buckets *buckets)
{
	struct bt_held_sample *held = hold(exposition);

	if (!held->counts) {
		size_t bytes = buckets->n * sizeof(*buckets->bounds);
		double *bounds = bt_arena_alloc(&exposition->arena, bytes, _Alignof(double));

		memcpy(bounds, buckets->bounds, bytes);
		held->counts = bt_arena_zalloc(&exposition->arena, (buckets->n + 1) * sizeof(*held->counts));
		held->buckets = (struct bt_metric_buckets){bounds, held->counts, buckets->n, 0};
	}
	for (uint32_t i = 0; i <= buckets->n; i++) {
		held->counts[i] += buckets->counts[i];
	}
	held->buckets.sum += buckets->sum;
}

static void end_family(struct bt_exposition *exposition)
{
	for (const struct bt_held_sample *held = exposition->held; held; held = held->next) {
		bt_buf_clear(&exposition->labels);
		bt_buf_str(&exposition->labels, held->labels);
		if (held->counts) {
			add_buckets(exposition, &held->buckets);
		} else if (held->is_real) {
			add_sample(exposition, held->real, "");
		} else {
			add_count(exposition, held->count);
		}
	}
	bt_buf_clear(&exposition->labels);
	bt_arena_reset(&exposition->arena);
	exposition->held = NULL;
	exposition->held_end = &exposition->held;
}

/* ---- families and samples ---- */

static enum bt_stability stability_of(const char *help)
{
	static const char *const words[] = {"[ALPHA] ", "[BETA] ", "[STABLE] "};
	int i = 0;

	while (i < BT_STABILITY_N && !bt_str_starts(bt_str(help), words[i])) {
		i++;
	}
	return (enum bt_stability)i;
}

void bt_expose(struct bt_exposition *exposition, const char *name, enum bt_metric_type type, const char *help)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};
	const struct bt_release *release = exposition->release;
	const char *own = release ? bt_release_metric_help(release, name) : NULL;
	bool absent = release && !bt_release_metric_labels(release, name);

	help = own ? own : help;
	enum bt_stability stability = stability_of(help);

	end_family(exposition);
	exposition->name = name;
	exposition->type = type;
	exposition->skips = absent || bt_metric_is_disabled(exposition->settings, name);
	exposition->holds = bt_metric_is_allowanced(exposition->settings, name);
	if (stability != BT_STABILITY_N && !absent) {
		exposition->counts.shown[stability] += !exposition->skips;
		exposition->counts.hidden_n += exposition->skips;
	}
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
	bool expected =
		!exposition->holds || bt_metric_allows(exposition->settings, exposition->name, label, value);

	exposition->unexpected += !expected;
	bt_buf_printf(labels, "%s%s=\"", labels->len ? "," : "", label);
	add_escaped(labels, expected ? value : bt_str("unexpected"), true);
	bt_buf_char(labels, '"');
}

/* Ends the sample. n: how many values it counts. */
static void end_sample(struct bt_exposition *exposition, uint64_t n)
{
	if (exposition->type != BT_METRIC_GAUGE && !exposition->skips) {
		exposition->counts.unexpected_n += n * exposition->unexpected;
	}
	exposition->unexpected = 0;
	bt_buf_clear(&exposition->labels);
}

void bt_expose_count(struct bt_exposition *exposition, uint64_t value)
{
	if (exposition->holds && !exposition->skips) {
		hold(exposition)->count += value;
	} else if (!exposition->skips) {
		add_count(exposition, value);
	}
	end_sample(exposition, value);
}

void bt_expose_real(struct bt_exposition *exposition, double value)
{
	if (exposition->holds && !exposition->skips) {
		struct bt_held_sample *held = hold(exposition);

		held->is_real = true;
		held->real += value;
	} else if (!exposition->skips) {
		add_sample(exposition, value, "");
	}
	end_sample(exposition, value > 0 && value < 1e18 ? (uint64_t)value : 0);
}

void bt_expose_buckets(struct bt_exposition *exposition, const struct bt_metric_buckets *buckets)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i <= buckets->n; i++) {
		n += buckets->counts[i];
	}
	if (exposition->holds && !exposition->skips) {
		hold_buckets(exposition, buckets);
	} else if (!exposition->skips) {
		add_buckets(exposition, buckets);
	}
	end_sample(exposition, n);
}

void bt_exposition_end(struct bt_exposition *exposition)
{
	end_family(exposition);
	bt_buf_fini(&exposition->labels);
	bt_arena_fini(&exposition->arena);
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
