/* SPDX-License-Identifier: Apache-2.0
 * A client, a pipeline and a clock for the watch's tests, linked in place of the real ones
 * (tools/cluster/net/http.h, engine/flow/pipeline/pipeline.h). Only the test's calls
 * make progress; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/net/http.h"

/* ---- calls ---- */

struct fake_call {
	uint64_t id;
	struct bt_http_call call;
	struct bt_buf path;
	bool open, paused, cancelled;
	struct bt_buf held; /* data received while it was paused */
	bool head_sent;
};

#define FAKE_CALLS 4096

extern struct fake_call fake_calls[FAKE_CALLS];
extern uint32_t fake_call_n;

void fake_reset(void);

/* The open call whose path has this prefix; NULL: none. */
struct fake_call *fake_find(const char *prefix);

/* The parts of a response. Data arrives in pieces of at most piece bytes (0: at once), and is held back while
 * the call is paused. */
void fake_head(struct fake_call *call, uint32_t status, const char *content_type, int64_t retry_after_ns);
void fake_data(struct fake_call *call, struct bt_str bytes, size_t piece);
void fake_done(struct fake_call *call, enum bt_http_end end);

/* ---- time ---- */

/* Runs timers due within this time. */
void fake_pass(int64_t ns);

/* The time until the next timer; -1: none. */
int64_t fake_next_ns(void);

/* ---- the pipeline ---- */

#define FAKE_FED 65536

struct fake_fed {
	enum bt_watch_event_kind kind;
	uint32_t source;
	char name[64], uid[40], node[64], version[24];
};

extern struct fake_fed fake_fed[FAKE_FED];
extern uint32_t fake_fed_n;
extern uint32_t fake_room;	 /* watch events that it accepts until it is full */
extern enum bt_status fake_full; /* its result then */
