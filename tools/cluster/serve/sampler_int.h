/* SPDX-License-Identifier: Apache-2.0
 * Samples what the threads of this process execute: every so many milliseconds of processor time a thread is
 * interrupted by SIGPROF and notes its stack. One at a time in a process.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"

#define BT_SAMPLER_HERTZ   100
#define BT_SAMPLER_THREADS 1024
#define BT_SAMPLER_FRAMES  64

/*
 * Samples the threads that there are.
 * Context : any thread.
 * Returns : BT_OK; BT_CONFLICT (samples are taken already), BT_IO (the system refuses), with the reason in
 * out_why.
 * Owns    : bt_sampler_end, by the same thread or another.
 */
BT_MUST_CHECK enum bt_status bt_sampler_begin(struct bt_buf *out_why);

/* Samples threads that have come since as well, as far as there is room. Context: who has begun. */
void bt_sampler_look(void);

/* How many samples there are; out_lost_n: for how many there was no room. Context: who has begun. */
uint64_t bt_sampler_n(uint64_t *out_lost_n);

/* Ends, and appends the samples as gperftools' CPU profile, which pprof reads. Source: "CPU Profiler Binary
 * Data File Format" of gperftools. Context: who has begun. */
void bt_sampler_end(struct bt_buf *out);
