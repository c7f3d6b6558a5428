/* SPDX-License-Identifier: Apache-2.0
 * When the live view is drawn, and where.
 */
#include "tools/offline/live/live.h"

#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tools/cli/message.h"
#include "tools/offline/live/screen.h"

#define PICTURE_NS INT64_C(250000000)
#define LINE_NS	   INT64_C(1000000000)
/* Rates are over at least this long, so that they can be read. */
#define RATE_NS INT64_C(1000000000)

struct bt_live {
	struct bt_live_options options;
	bool on_screen;
	int64_t begin_ns, next_ns;
	/* Samples: the current one, the base of rates, and the next base. */
	struct bt_live_numbers now, before, later;
	struct bt_buf text;
};

static void sample(struct bt_live *live, int64_t elapsed_ns, struct bt_live_numbers *out)
{
	*out = (struct bt_live_numbers){.elapsed_ns = elapsed_ns, .virtual_ns = -1};
	live->options.fill(live->options.context, out);
}

struct bt_live *bt_live_begin(const struct bt_live_options *options)
{
	struct bt_live *live = bt_mem_zalloc(1, sizeof(*live));

	live->options = *options;
	live->on_screen = bt_screen_works(STDERR_FILENO);
	live->begin_ns = bt_clock_monotonic_ns();
	sample(live, 0, &live->before);
	live->later = live->before;
	live->next_ns = live->on_screen ? live->begin_ns : live->begin_ns + LINE_NS;
	if (live->on_screen) {
		bt_screen_begin(STDERR_FILENO);
	}
	return live;
}

/* Chooses the base of the next rates: one to two RATE_NS back. */
static void keep_sample(struct bt_live *live)
{
	if (live->now.elapsed_ns - live->later.elapsed_ns >= RATE_NS) {
		live->before = live->later;
		live->later = live->now;
	}
}

static void show_picture(struct bt_live *live)
{
	struct bt_live_size size = bt_screen_size(STDERR_FILENO);

	size.color = live->options.color;
	bt_live_draw(&live->now, &live->before, &size, &live->text);
	bt_screen_show(bt_buf_view(&live->text));
}

static void show_line(struct bt_live *live)
{
	bt_live_line(&live->now, &live->before, &live->text);
	bt_message("%.*s\n", (int)live->text.len, live->text.ptr);
}

void bt_live_poll(struct bt_live *live)
{
	int64_t now_ns = bt_clock_monotonic_ns();

	if (now_ns < live->next_ns || (!live->on_screen && live->options.quiet)) {
		return;
	}
	sample(live, now_ns - live->begin_ns, &live->now);
	bt_buf_clear(&live->text);
	if (live->on_screen) {
		show_picture(live);
	} else {
		show_line(live);
	}
	keep_sample(live);
	live->next_ns = now_ns + (live->on_screen ? PICTURE_NS : LINE_NS);
}

void bt_live_end(struct bt_live *live)
{
	if (!live) {
		return;
	}
	if (live->on_screen) {
		bt_screen_end();
	}
	bt_buf_fini(&live->text);
	bt_mem_free(live);
}
