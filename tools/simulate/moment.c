/* SPDX-License-Identifier: Apache-2.0
 * Moments of virtual time.
 */
#include "tools/simulate/moment.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "tools/codec/schema.h"

#define NS_PER_S INT64_C(1000000000)

/* Nanoseconds of a unit, or 0. */
static double unit_ns(const char *unit, size_t n)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == n && memcmp(units[i].name, unit, n) == 0) {
			return units[i].ns;
		}
	}
	return 0;
}

/* Numbers with units; the last number may be without one, if it is the only one, and is seconds then. */
static bool parse_duration(const char *text, int64_t *out_ns)
{
	double sum = 0;
	const char *at = text;

	while (*at) {
		size_t digits = strspn(at, "0123456789.");
		char *behind;
		double number = strtod(at, &behind);

		if (digits == 0 || behind != at + digits) {
			return false;
		}
		size_t letters = strcspn(behind, "0123456789.");
		bool bare = letters == 0 && at == text && *behind == 0;
		double unit = bare ? 1e9 : unit_ns(behind, letters);
		if (!(unit > 0)) {
			return false;
		}
		sum += number * unit;
		at = behind + letters;
	}
	*out_ns = sum <= (double)BT_MOMENT_MAX ? (int64_t)(sum + 0.5) : 0;
	return at != text && sum <= (double)BT_MOMENT_MAX;
}

bool bt_moment_parse(const char *text, struct bt_moment *out_moment)
{
	if (bt_time_parse(bt_str(text), &out_moment->ns) == BT_OK) {
		out_moment->is_date = true;
		return out_moment->ns >= 0 && out_moment->ns <= BT_MOMENT_MAX;
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
	return left < 1 ? 0 : left < (double)BT_MOMENT_MAX ? (int64_t)left : BT_MOMENT_MAX;
}
