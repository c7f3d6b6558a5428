/* SPDX-License-Identifier: Apache-2.0
 * Draws the live view. A picture is a list of lines, the most important first; each is clipped to the
 * terminal's width, and those that do not fit its height are left out.
 */
#include "tools/offline/live/view.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S     INT64_C(1000000000)
#define TITLE	     "\033[1m"
#define DIM	     "\033[2m"
#define ALARM	     "\033[33m"
#define PLAIN	     "\033[0m"
#define NAME_COLUMNS 11 /* of a line's name, with the following blank */
#define CELL_COLUMNS 10 /* of a number in a table */
#define BAR_MAX	     40
#define ITEM_MAX     96
#define RATE_MAX     1e18

/* The picture being drawn. */
struct picture {
	struct bt_buf *out;
	struct bt_live_size size;
	uint32_t row;	 /* of the current line, from 1 */
	uint32_t column; /* how many are written of it */
};

/* ---- lines ---- */

static bool is_full(const struct picture *p)
{
	return p->row > p->size.rows;
}

static void begin_line(struct picture *p)
{
	p->row++;
	p->column = 0;
	if (!is_full(p) && p->row > 1) {
		bt_buf_text(p->out, "\r\n");
	}
}

/* Writes a text, truncated and without control characters. */
static void live_view_put(struct picture *p, const char *style, const char *text)
{
	size_t room = p->column < p->size.columns ? p->size.columns - p->column : 0;
	size_t n = strlen(text) < room ? strlen(text) : room;
	bool styled = p->size.color && style && n;

	if (is_full(p)) {
		return;
	}
	bt_buf_text(p->out, styled ? style : "");
	bt_buf_str(p->out, (struct bt_str){text, n});
	bt_buf_text(p->out, styled ? PLAIN : "");
	p->column += (uint32_t)n;
}

static void begin_named(struct picture *p, const char *name)
{
	char text[NAME_COLUMNS + 1];

	snprintf(text, sizeof(text), "%-*s", NAME_COLUMNS, name);
	begin_line(p);
	live_view_put(p, TITLE, text);
}

/* An item on a line, which wraps when there is no room. */
static void put_item(struct picture *p, const char *style, const char *text)
{
	bool first = p->column == NAME_COLUMNS;

	if (!first && p->column + 3 + strlen(text) > p->size.columns) {
		begin_named(p, "");
		first = true;
	}
	live_view_put(p, NULL, first ? "" : "   ");
	live_view_put(p, style, text);
}

/* ---- numbers ---- */

/* 1234567 becomes 1,234,567. */
static const char *grouped(uint64_t n, char out[32])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < len; i++) {
		out[at++] = digits[i];
		if ((len - i - 1) % 3 == 0 && i + 1 < len) {
			out[at++] = ',';
		}
	}
	out[at] = 0;
	return out;
}

static const char *duration(int64_t ns, char out[32])
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
	int i = 0;

	while (i < 3 && (double)ns >= 1000 * units[i].ns) {
		i++;
	}
	double value = (double)ns / units[i].ns;
	snprintf(out, 32, "%.*f %s", i > 0 && value < 100 ? 1 : 0, value, units[i].unit);
	return out;
}

/* Hours, minutes and seconds. */
static const char *span(int64_t ns, char out[32])
{
	int64_t s = ns / NS_PER_S;

	if (s < 3600) {
		snprintf(out, 32, "%02d:%02d", (int)(s / 60), (int)(s % 60));
	} else {
		snprintf(out, 32, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
	}
	return out;
}

static const char *bytes(uint64_t n, char out[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)n;
	int i = 0;

	for (; i < 4 && value >= 1024; i++) {
		value /= 1024;
	}
	snprintf(out, 32, "%.*f %s", i > 0 ? 1 : 0, value, units[i]);
	return out;
}

/* How much it grew in a second. */
static double rate(const struct bt_live_numbers *now, const struct bt_live_numbers *before, uint64_t value,
	uint64_t value_before)
{
	int64_t from_ns = before ? before->elapsed_ns : 0;
	double lasted_s = (double)(now->elapsed_ns - from_ns) / NS_PER_S;
	uint64_t from = before ? value_before : 0;

	double grown = lasted_s > 0 && value > from ? (double)(value - from) / lasted_s : 0;
	return grown < RATE_MAX ? grown : RATE_MAX;
}

#define RATE(now, before, field) rate(now, before, (now)->field, (before) ? (before)->field : 0)

/* Estimated time to completion at the current speed; negative: unknown. */
static int64_t time_left(const struct bt_live_numbers *now)
{
	if (now->total <= now->done || now->done == 0) {
		return now->total && now->total <= now->done ? 0 : -1;
	}
	double left_ns = (double)now->elapsed_ns / (double)now->done * (double)(now->total - now->done);
	return left_ns < RATE_MAX ? (int64_t)left_ns : -1;
}

/* ---- the picture's parts ---- */

static void draw_head(struct picture *p, const struct bt_live_numbers *now)
{
	char time[32], text[ITEM_MAX];

	begin_line(p);
	live_view_put(p, TITLE, "berth  ");
	live_view_put(p, NULL, now->label);
	snprintf(text, sizeof(text), "   %s", span(now->elapsed_ns, time));
	live_view_put(p, NULL, text);
	if (now->virtual_ns >= 0) {
		snprintf(text, sizeof(text), "   virtual %s", span(now->virtual_ns, time));
		live_view_put(p, DIM, text);
	}
}

static void draw_bar(struct picture *p, uint64_t part, uint64_t whole, uint32_t width)
{
	char bar[BAR_MAX + 3];
	uint32_t full = whole ? (uint32_t)((double)part / (double)whole * width) : 0;

	full = full > width ? width : full;
	bar[0] = '[';
	memset(bar + 1, '#', full);
	memset(bar + 1 + full, '.', width - full);
	bar[1 + width] = ']';
	bar[2 + width] = 0;
	live_view_put(p, NULL, bar);
}

static void draw_progress(struct picture *p, const struct bt_live_numbers *now)
{
	char done[32], total[32], time[32], text[ITEM_MAX];
	uint32_t width = p->size.columns / 4 < BAR_MAX ? p->size.columns / 4 : BAR_MAX;
	int64_t left_ns = time_left(now);

	begin_named(p, "progress");
	if (now->total) {
		draw_bar(p, now->done, now->total, width);
		snprintf(text, sizeof(text), " %3.0f %%",
			100 * (double)(now->done < now->total ? now->done : now->total) / (double)now->total);
		live_view_put(p, NULL, text);
		snprintf(text, sizeof(text), "%s of %s %s", grouped(now->done, done),
			grouped(now->total, total), now->unit);
	} else {
		snprintf(text, sizeof(text), "%s %s", grouped(now->done, done), now->unit);
	}
	put_item(p, NULL, text);
	if (left_ns >= 0) {
		snprintf(text, sizeof(text), "ETA %s", span(left_ns, time));
		put_item(p, NULL, text);
	}
}

static void put_count(struct picture *p, const char *style, const char *name, uint64_t n)
{
	char number[32], text[ITEM_MAX];

	snprintf(text, sizeof(text), "%s %s", name, grouped(n, number));
	put_item(p, style, text);
}

static void put_rate(struct picture *p, double value, const char *unit)
{
	char number[32], text[ITEM_MAX];

	snprintf(text, sizeof(text), "%s %s", grouped((uint64_t)(value + 0.5), number), unit);
	put_item(p, NULL, text);
}

static void draw_pods(
	struct picture *p, const struct bt_live_numbers *now, const struct bt_live_numbers *before)
{
	begin_named(p, "rates");
	put_rate(p, RATE(now, before, decided_n), "pods/s");
	put_rate(p, RATE(now, before, refused_n), "refused/s");
	put_rate(p, RATE(now, before, event_n), "events/s");
	begin_named(p, "queue");
	put_count(p, NULL, "active", now->places[BT_WAIT_ACTIVE]);
	put_count(p, NULL, "backoff", now->places[BT_WAIT_BACKOFF]);
	put_count(p, NULL, "unschedulable", now->places[BT_WAIT_UNSCHEDULABLE]);
	put_count(p, NULL, "gated", now->places[BT_WAIT_GATED]);
	put_count(p, NULL, "in flight", now->places[BT_WAIT_IN_FLIGHT] + now->places[BT_WAIT_BINDING]);
	begin_named(p, "pods");
	put_count(p, NULL, "assumed", now->assumed);
	put_count(p, NULL, "scheduled", now->scheduled);
	put_count(p, NULL, "placed", now->placed_n);
	put_count(p, NULL, "nodes", now->node_n);
}

/* A column of the table of stages, and how many are more important when there is not room for all. */
struct view_column {
	const char *head;
	size_t offset;
	uint32_t rank;
};

static const struct view_column columns[] = {
	{"p50", offsetof(struct bt_live_stage, p50_ns), 0},
	{"p90", offsetof(struct bt_live_stage, p90_ns), 3},
	{"p99", offsetof(struct bt_live_stage, p99_ns), 1},
	{"p99.9", offsetof(struct bt_live_stage, p999_ns), 4},
	{"max", offsetof(struct bt_live_stage, max_ns), 2},
};

#define COLUMN_N (sizeof(columns) / sizeof(columns[0]))

static void put_cell(struct picture *p, const char *style, const char *text)
{
	char cell[CELL_COLUMNS + 32];

	snprintf(cell, sizeof(cell), "%*s", CELL_COLUMNS, text);
	live_view_put(p, style, cell);
}

static void draw_stage(struct picture *p, enum bt_stage ix, const struct bt_live_stage *stage, uint32_t room)
{
	char number[32];

	begin_named(p, bt_stage_name(ix));
	for (uint32_t c = 0; c < COLUMN_N; c++) {
		int64_t ns;

		memcpy(&ns, (const char *)stage + columns[c].offset, sizeof(ns));
		if (columns[c].rank < room) {
			put_cell(p, NULL, duration(ns, number));
		}
	}
	if (room > COLUMN_N) {
		put_cell(p, NULL, grouped(stage->n, number));
	}
}

static void draw_stages(struct picture *p, const struct bt_live_numbers *now)
{
	uint32_t room = p->size.columns > NAME_COLUMNS ? (p->size.columns - NAME_COLUMNS) / CELL_COLUMNS : 0;

	begin_named(p, "stage");
	for (uint32_t c = 0; c < COLUMN_N; c++) {
		if (columns[c].rank < room) {
			put_cell(p, DIM, columns[c].head);
		}
	}
	if (room > COLUMN_N) {
		put_cell(p, DIM, "n");
	}
	for (int i = 0; i < BT_STAGE_N; i++) {
		if (now->stages[i].n) {
			draw_stage(p, (enum bt_stage)i, &now->stages[i], room);
		}
	}
}

static void draw_conflicts(struct picture *p, const struct bt_live_numbers *now)
{
	bool any = false;

	begin_named(p, "conflicts");
	for (uint32_t i = 0; i < now->conflict_n; i++) {
		if (now->conflicts[i].n) {
			put_count(p, ALARM, now->conflicts[i].name, now->conflicts[i].n);
			any = true;
		}
	}
	if (!any) {
		live_view_put(p, DIM, "none");
	}
}

static void draw_memory(struct picture *p, const struct bt_live_numbers *now)
{
	char number[32], text[ITEM_MAX];

	begin_named(p, "reclaim");
	put_count(p, NULL, "waits for readers:", now->rcu_pending_n);
	snprintf(text, sizeof(text), "%s", bytes(now->rcu_pending_bytes, number));
	put_item(p, NULL, text);
	if (now->rcu_throttle_n) {
		put_count(p, ALARM, "writers held back", now->rcu_throttle_n);
	}
	if (now->rcu_stall_n) {
		put_count(p, ALARM, "stalled readers", now->rcu_stall_n);
	}
}

static void draw_rings(struct picture *p, const struct bt_live_numbers *now)
{
	char text[ITEM_MAX];

	if (now->ring_n) {
		begin_named(p, "rings");
	}
	for (uint32_t i = 0; i < now->ring_n; i++) {
		const struct bt_live_ring *ring = &now->rings[i];

		snprintf(text, sizeof(text), "%s %u/%u high %u", ring->name, ring->count, ring->capacity,
			ring->high_water);
		put_item(p, ring->full_n ? ALARM : NULL, text);
	}
}

static const struct bt_live_thread *thread_before(
	const struct bt_live_numbers *before, uint32_t at, const char *name)
{
	bool known = before && at < before->thread_n && strcmp(before->threads[at].name, name) == 0;

	return known ? &before->threads[at] : NULL;
}

static void draw_threads(
	struct picture *p, const struct bt_live_numbers *now, const struct bt_live_numbers *before)
{
	char text[ITEM_MAX];

	if (now->thread_n) {
		begin_named(p, "threads");
	}
	for (uint32_t i = 0; i < now->thread_n; i++) {
		const struct bt_live_thread *thread = &now->threads[i];
		const struct bt_live_thread *old = thread_before(before, i, thread->name);
		int64_t lasted_ns = now->elapsed_ns - (old ? before->elapsed_ns : 0);
		int64_t used_ns = thread->cpu_ns - (old ? old->cpu_ns : 0);
		double share = lasted_ns > 0 && used_ns > 0 ? (double)used_ns / (double)lasted_ns : 0;

		/* The kernel counts in ticks, which may slightly exceed the elapsed time. */
		snprintf(text, sizeof(text), "%s %.0f %% %s", thread->name, 100 * (share < 1 ? share : 1),
			thread->does);
		put_item(p, NULL, text);
	}
}

void bt_live_draw(const struct bt_live_numbers *now, const struct bt_live_numbers *before,
	const struct bt_live_size *size, struct bt_buf *out)
{
	struct picture p = {.out = out, .size = *size};

	draw_head(&p, now);
	draw_progress(&p, now);
	draw_pods(&p, now, before);
	if (now->has_stages) {
		draw_stages(&p, now);
	}
	draw_conflicts(&p, now);
	draw_memory(&p, now);
	draw_rings(&p, now);
	draw_threads(&p, now, before);
}

void bt_live_line(const struct bt_live_numbers *now, const struct bt_live_numbers *before, struct bt_buf *out)
{
	char done[32], pods[32], waiting[32], time[32];
	uint64_t waits = now->places[BT_WAIT_ACTIVE] + now->places[BT_WAIT_BACKOFF] +
			 now->places[BT_WAIT_UNSCHEDULABLE] + now->places[BT_WAIT_GATED];
	int64_t left_ns = time_left(now);

	bt_buf_printf(out, "%s %s: %s", span(now->elapsed_ns, time), now->label, grouped(now->done, done));
	if (now->total) {
		bt_buf_printf(out, " of %s", grouped(now->total, done));
	}
	bt_buf_printf(out, " %s, %s pods/s, %s wait", now->unit,
		grouped((uint64_t)(RATE(now, before, decided_n) + 0.5), pods), grouped(waits, waiting));
	if (left_ns >= 0) {
		bt_buf_printf(out, ", ETA %s", span(left_ns, time));
	}
}
