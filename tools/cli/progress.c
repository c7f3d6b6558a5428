/* SPDX-License-Identifier: Apache-2.0
 * Draws the progress bar.
 */
#include "tools/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "tools/cli/terminal.h"

#define FIRST_DRAW_NS 1000000000
#define DRAW_NS	      100000000
#define LOOK_NS	      10000000
#define BAR_COLUMNS   30 /* at most, */
#define BAR_LEAST     5	 /* and no bar with less */
#define TEXT_BYTES    512

void bt_progress_begin(struct bt_progress *progress, const char *label, uint64_t total, bool quiet)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	bool enabled = !quiet && isatty(STDERR_FILENO) == 1 && !bt_terminal_is_dumb();

	*progress = (struct bt_progress){
		.label = label,
		.total = total,
		.next_look = enabled ? 1 : UINT64_MAX,
		.stride = 1,
		.start_ns = now_ns,
		.last_look_ns = now_ns,
		.next_draw_ns = now_ns + FIRST_DRAW_NS,
		.enabled = enabled,
	};
}

void bt_progress_show_by(struct bt_progress *progress, void (*show)(void *context), void *context)
{
	progress->show = show;
	progress->context = context;
	progress->enabled = true;
	progress->next_look = progress->done + 1;
}

/* " [###...]" in at most that many columns; "" when there are too few. */
static void write_bar(char bar[static BAR_COLUMNS + 4], double share, int columns)
{
	int n = columns - 3 < BAR_COLUMNS ? columns - 3 : BAR_COLUMNS;

	bar[0] = 0;
	if (n < BAR_LEAST) {
		return;
	}
	memcpy(bar, " [", 2);
	for (int i = 0; i < n; i++) {
		bar[2 + i] = (i + 1) <= (int)(share * n) ? '#' : '.';
	}
	memcpy(bar + 2 + n, "]", 2);
}

int bt_progress_text(
	const struct bt_progress *progress, double seconds, unsigned columns, char *out_text, size_t cap)
{
	double rate = (double)progress->done / seconds;
	double share = progress->total ? (double)progress->done / (double)progress->total : 0;
	int width = columns < TEXT_BYTES ? (int)columns : TEXT_BYTES;
	char bar[BAR_COLUMNS + 4] = "", rest[64];
	int rest_n = progress->total ? snprintf(rest, sizeof(rest), " %3.0f%%  %.0f/s", share * 100, rate)
				     : snprintf(rest, sizeof(rest), "  %llu  %.0f/s",
					       (unsigned long long)progress->done, rate);
	int room = width > rest_n ? width - rest_n : 0;
	size_t label_n = strlen(progress->label);
	int label = label_n < (size_t)room ? (int)label_n : room;

	if (progress->total) {
		write_bar(bar, share, room - label);
	}
	return snprintf(out_text, cap, "%.*s%s%.*s", label, progress->label, bar, width, rest);
}

static void draw(struct bt_progress *progress, int64_t now_ns)
{
	char text[TEXT_BYTES];

	/* A character in the last column would wrap on some terminals. */
	bt_progress_text(progress, (double)(now_ns - progress->start_ns) / 1e9,
		bt_terminal_columns(STDERR_FILENO) - 1, text, sizeof(text));
	progress->drawn = true;
	fprintf(stderr, "\r\033[K%s", text);
}

void bt_progress_poll(struct bt_progress *progress)
{
	if (!progress->enabled) {
		return;
	}
	int64_t now_ns = bt_clock_monotonic_ns();

	/* The stride adapts to the caller's speed, so that clock reads stay about LOOK_NS apart. */
	if (now_ns - progress->last_look_ns < LOOK_NS) {
		progress->stride *= 2;
	} else if (progress->stride > 1 && now_ns - progress->last_look_ns > 4 * LOOK_NS) {
		progress->stride /= 2;
	}
	progress->last_look_ns = now_ns;
	progress->next_look = progress->done + progress->stride;
	if (progress->show) {
		progress->show(progress->context);
	} else if (now_ns >= progress->next_draw_ns) {
		draw(progress, now_ns);
		progress->next_draw_ns = now_ns + DRAW_NS;
	}
}

void bt_progress_end(struct bt_progress *progress)
{
	if (progress->drawn) {
		fputs("\r\033[K", stderr);
	}
	progress->enabled = false;
	progress->next_look = UINT64_MAX;
}
