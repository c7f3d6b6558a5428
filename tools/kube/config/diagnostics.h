/* SPDX-License-Identifier: Apache-2.0
 * Problems of the input, reported on standard error: the first ones in full, the others counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "tools/cli/invocation.h"
#include "tools/format/diagnosis.h"

struct bt_diagnostics {
	const char *command; /* the reporting command, such as simulate */
	bool quiet, strict;
	bool validates;	 /* objects are checked for what an API server would not accept */
	bool keeps;	 /* they are kept until bt_diagnostics_pass prints them */
	uint64_t n;	 /* how many there were */
	uint64_t lost_n; /* the number that may have lost pods */
	bool stop;	 /* strict, and there was one */
	/* private: */
	uint64_t warning_n;
	struct bt_buf kept; /* the first ones, each prefixed with its length */
};

/* The diagnostics of a command line: --quiet, --strict and --validate. */
struct bt_diagnostics bt_diagnostics_of(const struct bt_invocation *invocation);

/* A bt_diagnosis_fn whose context is a struct bt_diagnostics. */
void bt_diagnostics_add(void *context, const struct bt_diagnosis *diagnosis);

/* A diagnostic about an object, without a place in a file. */
void bt_diagnostics_report(struct bt_diagnostics *diagnostics, const char *object, const char *path,
	const char *message, const char *remedy);

/* The same about a pod that is lost. */
void bt_diagnostics_report_lost(struct bt_diagnostics *diagnostics, const char *object, const char *path,
	const char *message, const char *remedy);

/* Prints a warning that is not an error of the input. It is not counted. */
void bt_diagnostics_warn(const struct bt_diagnostics *diagnostics, struct bt_str text);

/* Prints kept diagnostics as its own, and frees them. Context: the owner of both. */
void bt_diagnostics_pass(struct bt_diagnostics *diagnostics, struct bt_diagnostics *kept);

/* Prints the number of suppressed diagnostics. */
void bt_diagnostics_end(const struct bt_diagnostics *diagnostics);

/* Reports that a run ends because part of the input is unreadable. */
void bt_diagnostics_unreadable(const struct bt_invocation *invocation);

/* Reports that the files of a command line contain no usable objects, with the remedy. */
void bt_diagnostics_no_objects(const struct bt_invocation *invocation);
