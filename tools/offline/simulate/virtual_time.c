/* SPDX-License-Identifier: Apache-2.0
 * Moments of virtual time.
 */
#include "tools/offline/simulate/virtual_time.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/duration.h"
#include "tools/format/time.h"

/* A number alone is seconds; a sign is refused. */
static bool parse_duration(const char *text, int64_t *out_ns)
{
	bool bare = text[strspn(text, "0123456789.")] == 0;
	struct bt_buf copy = {0};

	bt_buf_text(&copy, text);
	bt_buf_text(&copy, bare ? "s" : "");
	bool good = *text != '+' && *text != '-' && bt_duration_parse(bt_buf_view(&copy), out_ns, NULL);

	bt_buf_fini(&copy);
	return good && *out_ns <= BT_VIRTUAL_TIME_MAX;
}

bool bt_virtual_time_parse(const char *text, struct bt_virtual_time *out_moment)
{
	if (bt_time_parse(bt_str(text), &out_moment->ns) == BT_OK) {
		out_moment->is_date = true;
		return out_moment->ns >= 0 && out_moment->ns <= BT_VIRTUAL_TIME_MAX;
	}
	out_moment->is_date = false;
	return parse_duration(text, &out_moment->ns);
}

bool bt_speed_parse(const char *text, double *out_speed)
{
	char *behind;

	if (text[strspn(text, "0123456789.")] != 0) {
		return false;
	}
	*out_speed = strtod(text, &behind);
	return behind != text && *behind == 0 && *out_speed <= 1e12;
}

void bt_pace_begin(struct bt_pace *pace, double speed, int64_t virtual_ns)
{
	*pace = (struct bt_pace){
		.speed = speed, .virtual_ns = virtual_ns, .real_ns = bt_clock_monotonic_ns()};
}

int64_t bt_pace_left(const struct bt_pace *pace, int64_t virtual_ns)
{
	if (!(pace->speed > 0)) {
		return 0;
	}
	double wait = (double)(virtual_ns - pace->virtual_ns) / pace->speed;
	double left = wait - (double)(bt_clock_monotonic_ns() - pace->real_ns);
	return left < 1 ? 0 : left < (double)BT_VIRTUAL_TIME_MAX ? (int64_t)left : BT_VIRTUAL_TIME_MAX;
}
