/* SPDX-License-Identifier: Apache-2.0
 * What is wrong with the input, said on standard error: the first ones in full, the others counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "tools/cli/invocation.h"
#include "tools/format/diagnosis.h"

struct bt_diagnostics {
	const char *command; /* that says them, such as simulate */
	bool quiet, strict;
	bool keeps;	 /* they are kept until bt_diagnostics_pass says them */
	uint64_t n;	 /* how many there were */
	uint64_t lost_n; /* of them, those because of which pods may be missing */
	bool stop;	 /* strict, and there was one */
	/* private: */
	struct bt_buf kept; /* the first ones, each behind its length */
};

/* A bt_diagnosis_fn whose context is a struct bt_diagnostics. */
void bt_diagnostics_hear(void *context, const struct bt_diagnosis *diagnosis);

/* A diagnostic about an object, without a place in a file. */
void bt_diagnostics_say(struct bt_diagnostics *diagnostics, const char *object, const char *path,
	const char *message, const char *remedy);

/* The same about a pod that is lost. */
void bt_diagnostics_say_lost(struct bt_diagnostics *diagnostics, const char *object, const char *path,
	const char *message, const char *remedy);

/* Says what is no fault of the input, but worth knowing. It is not counted. */
void bt_diagnostics_warn(const struct bt_diagnostics *diagnostics, struct bt_str text);

/* Says what was kept as diagnostics' own, and frees it. Context: who has both. */
void bt_diagnostics_pass(struct bt_diagnostics *diagnostics, struct bt_diagnostics *kept);

/* Says how many diagnostics were not printed. */
void bt_diagnostics_end(const struct bt_diagnostics *diagnostics);

/* Says that a run ends because not everything could be read. */
void bt_diagnostics_unreadable(const struct bt_invocation *invocation);

/* Says that the files of a command line hold nothing to work with, and what to do about it. */
void bt_diagnostics_no_objects(const struct bt_invocation *invocation);
