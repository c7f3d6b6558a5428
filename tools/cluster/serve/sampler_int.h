/* SPDX-License-Identifier: Apache-2.0
 * Samples the stacks of this process' threads: SIGPROF interrupts a thread after each interval of CPU time.
 * At most one sampler runs in a process.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"

#define BT_SAMPLER_HERTZ   100
#define BT_SAMPLER_THREADS 1024
#define BT_SAMPLER_FRAMES  64

/*
 * Starts to sample all current threads.
 * Context : any thread.
 * Returns : BT_OK; BT_CONFLICT (another sampler runs), BT_IO (the system refuses), with the reason in
 *           out_why.
 * Owns : bt_sampler_end, by the same thread or another.
 */
BT_MUST_CHECK enum bt_status bt_sampler_begin(struct bt_buf *out_why);

/* Also samples threads that were started since, while there is room. Context: the owner. */
void bt_sampler_add_threads(void);

/* The number of samples; out_lost_n: the number without room. Context: the owner. */
uint64_t bt_sampler_n(uint64_t *out_lost_n);

/* Ends, and appends the samples as gperftools' CPU profile, which pprof reads. Source: "CPU Profiler Binary
 * Data File Format" of gperftools. Context: the owner. */
void bt_sampler_end(struct bt_buf *out);
