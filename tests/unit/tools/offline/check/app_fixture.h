/* SPDX-License-Identifier: Apache-2.0
 * An application of a text, for tests.
 */
#pragma once

#include <unistd.h>

#include "command_line.h"
#include "object_fixture.h"
#include "tools/offline/check/app.h"

struct app_fixture {
	struct command_line line;
	struct bt_app app;
	char path[64];
	int status; /* of bt_app_read */
};

/* Writes the text to a file and reads it, with more options of berth check. Owns: end_app. */
static inline void begin_app(struct app_fixture *f, const char *text, const char *options)
{
	char words[160];

	memset(f, 0, sizeof(*f));
	strcpy(f->path, "/tmp/check-app.XXXXXX");
	int fd = mkstemp(f->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(words, sizeof(words), "cluster -f %s %s", f->path, options);
	assert_int_equal(command_line_parse(&f->line, "check", words), BT_PARSE_RUN);
	f->status = bt_app_read(&f->app, &f->line.invocation);
}

static inline void end_app(struct app_fixture *f)
{
	unlink(f->path);
	bt_app_fini(&f->app);
	bt_invocation_fini(&f->line.invocation);
}

/* A workload's manifest. */
#define MANIFEST(kind, name)                                                                                 \
	"apiVersion: apps/v1\nkind: " kind "\nmetadata: {name: " name "}\n"                                  \
	"spec: {template: {spec: {containers: [{name: c}]}}}\n"
