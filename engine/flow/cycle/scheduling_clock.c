/* SPDX-License-Identifier: Apache-2.0
 * The scheduling thread's time, and the queue's flushes.
 */
#include "engine/flow/cycle/scheduling_clock.h"

#include "engine/base/check.h"

void bt_scheduling_clock_init(struct bt_scheduling_clock *clock, const struct bt_clock *now)
{
	int64_t start_ns = now->now_ns ? bt_clock_now_ns(now) : 0;

	*clock = (struct bt_scheduling_clock){.clock = *now, .ticked_ns = start_ns, .start_ns = start_ns};
}

int64_t bt_scheduling_clock_known(const struct bt_scheduling_clock *clock)
{
	return clock->clock.now_ns ? bt_clock_now_ns(&clock->clock) : INT64_MAX;
}

void bt_scheduling_clock_saw(struct bt_scheduling_clock *clock, int64_t time_ns)
{
	clock->latest_ns = time_ns > clock->latest_ns ? time_ns : clock->latest_ns;
}

int64_t bt_scheduling_clock_waited(const struct bt_scheduling_clock *clock, int64_t since_ns)
{
	return bt_scheduling_clock_now(clock) - (since_ns > clock->start_ns ? since_ns : clock->start_ns);
}

void bt_scheduling_clock_start(struct bt_scheduling_clock *clock)
{
	clock->start_ns = clock->ticked_ns = bt_scheduling_clock_now(clock);
}

void bt_scheduling_clock_tick(struct bt_scheduling_clock *clock, struct bt_queue *queue)
{
	int64_t now = bt_scheduling_clock_now(clock), every = BT_QUEUE_FLUSH_SECONDS * BT_QUEUE_SECOND;
	int64_t due = clock->ticked_ns - clock->start_ns;

	BT_REQUIRE(clock->clock.now_ns);
	bt_queue_flush_backoff(queue, now);
	if ((now - clock->start_ns) / every > due / every) {
		bt_queue_flush_unschedulable(queue, now);
	}
	clock->ticked_ns = now;
}

/* The first mark after a time, of marks every every_ns beginning at from_ns. */
static int64_t mark_after(int64_t time_ns, int64_t from_ns, int64_t every_ns)
{
	int64_t passed = time_ns - from_ns, rest = passed % every_ns;

	if (time_ns > INT64_MAX - every_ns) {
		return INT64_MAX;
	}
	return time_ns - (rest < 0 ? rest + every_ns : rest) + every_ns;
}

int64_t bt_scheduling_clock_next_backoff(const struct bt_queue *queue)
{
	int64_t expiry = bt_queue_next_expiry(queue);

	return expiry == INT64_MAX ? INT64_MAX : mark_after(expiry, 0, BT_QUEUE_SECOND);
}

int64_t bt_scheduling_clock_next_flush(
	const struct bt_scheduling_clock *clock, const struct bt_queue *queue, int64_t refused_by_ns)
{
	int64_t refused = bt_queue_oldest(queue, refused_by_ns), every = BT_QUEUE_FLUSH_SECONDS;

	if (refused == INT64_MAX) {
		return INT64_MAX;
	}
	int64_t due = refused + BT_QUEUE_MAX_UNSCHEDULABLE;
	due = due > clock->ticked_ns ? due : clock->ticked_ns;
	return mark_after(due, clock->start_ns, every * BT_QUEUE_SECOND);
}
