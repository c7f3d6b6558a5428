/* SPDX-License-Identifier: Apache-2.0
 * Driving a run.
 */
#include "tools/offline/simulate/drive.h"

#include <time.h>

#include "engine/base/thread.h"
#include "tools/cli/interrupt.h"

#define FED   64		/* events between two rounds of steps */
#define LOOK  INT64_C(10000000) /* polling interval of a waiting thread */
#define SLICE INT64_C(50000000) /* a signal just before a sleep is noticed after it */

static void update_progress(const struct bt_drive *drive)
{
	bt_progress_update(drive->progress, bt_load_relaxed(&drive->run->turn_n));
}

/* ---- one thread ---- */

static void sleep_until_due(const struct bt_drive *drive)
{
	int64_t left_ns = bt_simulate_run_sleep_ns(drive->run);
	const struct timespec slice = {.tv_nsec = left_ns < SLICE ? (long)left_ns : (long)SLICE};

	if (left_ns > 0) {
		bt_progress_poll(drive->progress);
		nanosleep(&slice, NULL);
	}
}

/* Feeds events while there is room. Returns whether it did. */
static bool feed_some(const struct bt_drive *drive, struct bt_watch_event **next)
{
	int n = 0;

	for (; drive->replay && n < FED; n++) {
		*next = *next ? *next : bt_trace_player_next(drive->replay, drive->run->pipeline);
		if (!*next || bt_pipeline_feed(drive->run->pipeline, 0, next, 0) != BT_OK) {
			break;
		}
	}
	return n > 0;
}

static void run_inline(const struct bt_drive *drive)
{
	struct bt_watch_event *next = NULL;

	if (drive->resumes) {
		bt_simulate_run_resume(drive->run);
	} else {
		bt_simulate_run_begin(drive->run);
	}
	while (!bt_simulate_run_is_over(drive->run)) {
		/* Objects are read when they are due, so that few events circulate and stay in the cache. */
		if (!bt_pipeline_step(drive->run->pipeline) && !feed_some(drive, &next)) {
			sleep_until_due(drive);
		}
		update_progress(drive);
	}
	bt_watch_event_destroy(next);
}

/* ---- threads ---- */

static void drive_begin(void *context, struct bt_engine *engine)
{
	(void)engine;
	bt_simulate_run_begin(context);
}

static void feed_all(void *context)
{
	const struct bt_drive *drive = context;
	struct bt_watch_event *watch_event;

	while ((watch_event = bt_trace_player_next(drive->replay, drive->run->pipeline)) &&
		bt_pipeline_feed(drive->run->pipeline, 0, &watch_event, BT_FOREVER) == BT_OK) {
	}
	bt_watch_event_destroy(watch_event);
}

/* A separate thread feeds the trace; if it cannot be created, this one feeds it first. */
static struct bt_thread *start_source(const struct bt_drive *drive)
{
	const struct bt_thread_options options = {.name = "source"};
	struct bt_thread *thread = NULL;

	if (drive->replay &&
		bt_thread_start(&options, feed_all, (void *)(uintptr_t)drive, &thread, NULL) != BT_OK) {
		feed_all((void *)(uintptr_t)drive);
	}
	return thread;
}

static void watch_run(const struct bt_drive *drive)
{
	while (!bt_simulate_run_is_over(drive->run)) {
		uint32_t key = bt_eventcount_prepare(&drive->run->park);

		update_progress(drive);
		bt_progress_poll(drive->progress);
		if (!bt_simulate_run_is_over(drive->run)) {
			bt_eventcount_wait(&drive->run->park, key, LOOK);
		}
	}
	update_progress(drive);
}

static void run_in_threads(const struct bt_drive *drive)
{
	bt_pipeline_call(drive->run->pipeline, drive_begin, drive->run);
	struct bt_thread *source = start_source(drive);
	watch_run(drive);
	/* Decisions are carried out, and a source that waits for room continues. */
	bt_pipeline_stop(drive->run->pipeline, BT_END_DRAIN, BT_FOREVER);
	bt_thread_join(&source);
}

void bt_drive(const struct bt_drive *drive)
{
	if (drive->threads) {
		run_in_threads(drive);
	} else {
		run_inline(drive);
	}
}
