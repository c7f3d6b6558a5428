/* SPDX-License-Identifier: Apache-2.0
 * /debug/pprof. Threads of berth take no signals, so that nothing in it can be interrupted: it does not
 * sample itself, and says how the kernel does. Source: net/http/pprof of Go 1.26.
 */
#include "profiles_int.h"

#include <string.h>
#include <unistd.h>

#include "tools/cluster/serve/certificate.h"

/* help has %d for the process. NULL: there is an answer. */
static const struct profile {
	const char *name, *text, *help;
} profiles[] = {
	{"allocs", "All past memory allocations",
		"perf record -g -e syscalls:sys_enter_mmap -p %d -- sleep 30"},
	{"block", "Where threads wait", "perf trace -s -p %d -- sleep 30"},
	{"cmdline", "The command line, its words separated by NUL", NULL},
	{"goroutine", "The stacks of all threads", "gdb -p %d -batch -ex 'thread apply all backtrace'"},
	{"heap", "Memory in use", "see berth_memory_in_use_bytes in /metrics, or perf mem record -p %d"},
	{"mutex", "Which locks are fought for", "perf lock contention -b -p %d -- sleep 30"},
	{"profile", "Where the processor's time goes",
		"perf record -F 99 -g -p %d -- sleep 30; then perf report, or perf script for pprof "
		"(perf_to_profile)"},
	{"symbol", "Names of program counters", NULL},
	{"threadcreate", "Where threads are made", "perf trace -e clone,clone3 -p %d -- sleep 30"},
	{"trace", "What runs when", "perf sched record -p %d -- sleep 5; then perf sched timehist"},
};

#define PROFILE_N (sizeof(profiles) / sizeof(*profiles))

static void add_help(const struct profile *profile, struct bt_buf *out)
{
	const char *at = strstr(profile->help, "%d");

	bt_buf_add(out, profile->help, (size_t)(at - profile->help));
	bt_buf_int(out, getpid());
	bt_buf_text(out, at + 2);
}

static void show_index(struct bt_route_answer *out)
{
	out->type = "text/html; charset=utf-8";
	bt_buf_text(&out->body,
		"<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/<br>\n"
		"<p>berth is not written in Go, and does not sample itself. What is a link is answered here; "
		"beside "
		"the others stands the command that shows the same, on the machine where it "
		"runs.</p>\n<table>\n");
	for (size_t i = 0; i < PROFILE_N; i++) {
		const struct profile *profile = &profiles[i];

		if (profile->help) {
			bt_buf_printf(&out->body, "<tr><td>%s</td><td>%s</td><td><code>", profile->name,
				profile->text);
			add_help(profile, &out->body);
			bt_buf_text(&out->body, "</code></td></tr>\n");
		} else {
			bt_buf_printf(&out->body,
				"<tr><td><a href='/debug/pprof/%s'>%s</a></td><td>%s</td><td></td></tr>\n",
				profile->name, profile->name, profile->text);
		}
	}
	bt_buf_text(&out->body, "</table>\n</body>\n</html>\n");
}

/* The kernel ends the last word with a NUL, too. */
static void show_command_line(struct bt_route_answer *out)
{
	struct bt_buf error = {0};

	if (bt_file_read("/proc/self/cmdline", &out->body, &error) != BT_OK) {
		out->status = 500;
		bt_buf_clear(&out->body);
		bt_buf_printf(&out->body, "%.*s\n", BT_STR_ARG(bt_buf_view(&error)));
	} else if (out->body.len && out->body.ptr[out->body.len - 1] == 0) {
		out->body.len--;
	}
	bt_buf_fini(&error);
}

static const struct profile *profiles_find(struct bt_str name)
{
	for (size_t i = 0; i < PROFILE_N; i++) {
		if (bt_str_is(name, profiles[i].name)) {
			return &profiles[i];
		}
	}
	return NULL;
}

void bt_profiles_answer(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	const struct profile *profile = profiles_find(rest);

	(void)sources;
	(void)request;
	if (!rest.len) {
		show_index(out);
	} else if (!profile) {
		out->status = 404;
		bt_buf_text(&out->body, "Unknown profile\n");
	} else if (profile->help) {
		out->status = 501;
		bt_buf_text(
			&out->body, "berth is not written in Go and has no such profile; on its machine: ");
		add_help(profile, &out->body);
		bt_buf_char(&out->body, '\n');
	} else if (bt_str_is(rest, "cmdline")) {
		show_command_line(out);
	} else { /* pprof has nothing to look up: no profile of this process has bare addresses */
		bt_buf_text(&out->body, "num_symbols: 0\n");
	}
}
