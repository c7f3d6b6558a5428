/* SPDX-License-Identifier: Apache-2.0
 * Draws the progress bar.
 */
#include "tools/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "engine/base/clock.h"

#define FIRST_DRAW_NS 1000000000
#define DRAW_NS	      100000000
#define LOOK_NS	      10000000
#define BAR_COLUMNS   30

void bt_progress_begin(struct bt_progress *progress, const char *label, uint64_t total, bool quiet)
{
	int64_t now_ns = bt_clock_monotonic_ns();
	bool enabled = !quiet && isatty(STDERR_FILENO) == 1;

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

static void draw(struct bt_progress *progress, int64_t now_ns)
{
	double seconds = (double)(now_ns - progress->start_ns) / 1e9;
	double rate = (double)progress->done / seconds;
	char bar[BAR_COLUMNS + 1];

	progress->drawn = true;
	if (progress->total == 0) {
		fprintf(stderr, "\r\033[K%s  %llu  %.0f/s", progress->label,
			(unsigned long long)progress->done, rate);
		return;
	}
	double share = (double)progress->done / (double)progress->total;

	for (int i = 0; i < BAR_COLUMNS; i++) {
		bar[i] = (i + 1) <= (int)(share * BAR_COLUMNS) ? '#' : '.';
	}
	bar[BAR_COLUMNS] = 0;
	fprintf(stderr, "\r\033[K%s [%s] %3.0f%%  %.0f/s", progress->label, bar, share * 100, rate);
}

void bt_progress_look(struct bt_progress *progress)
{
	if (!progress->enabled) {
		return;
	}
	int64_t now_ns = bt_clock_monotonic_ns();

	/* The stride follows the caller's speed, so that looks stay about LOOK_NS apart. */
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
