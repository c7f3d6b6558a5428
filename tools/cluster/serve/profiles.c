/* SPDX-License-Identifier: Apache-2.0
 * /debug/pprof: CPU time, by sampler_int.h; memory, by jemalloc; threads, by the kernel. For Go's other
 * profiles the page names the equivalent command. Source: net/http/pprof of Go 1.26.
 */
#include "profiles_int.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "sampler_int.h"
#include "tools/cluster/serve/certificate.h"

#define BINARY	    "application/octet-stream"
#define SECONDS	    30 /* as Go's */
#define SECONDS_MAX 300
#define LOOK_MS	    50

typedef void answer_fn(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_route_answer *out);

static answer_fn show_command_line, show_heap, show_profile, show_symbols, show_threads;

/* help has %d for the process. NULL: the profile exists. */
static const struct profile {
	const char *name, *text, *help;
	answer_fn *answer;
} profiles[] = {
	{"allocs", "All past memory allocations",
		"perf record -g -e syscalls:sys_enter_mmap -p %d -- sleep 30", NULL},
	{"block", "Where threads wait", "perf trace -s -p %d -- sleep 30", NULL},
	{"cmdline", "The command line, its words separated by NUL", NULL, show_command_line},
	{"goroutine", "The same as threads: berth has no goroutines", NULL, show_threads},
	{"heap",
		"Memory in use, by allocating function, where jemalloc takes samples "
		"(MALLOC_CONF=prof:true); else "
		"its statistics",
		NULL, show_heap},
	{"mutex", "Which locks are contended", "perf lock contention -b -p %d -- sleep 30", NULL},
	{"profile",
		"Where the processor's time goes, for ?seconds=N (30; at most 300); go tool pprof reads it",
		NULL, show_profile},
	{"symbol", "Names of program counters: none, pprof finds them in the program's file", NULL,
		show_symbols},
	{"threadcreate", "Where threads are made", "perf trace -e clone,clone3 -p %d -- sleep 30", NULL},
	{"threads", "The threads: names, states, processor time", NULL, show_threads},
	{"trace", "What runs when", "perf sched record -p %d -- sleep 5; then perf sched timehist", NULL},
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
		"<p>berth is not written in Go. What is a link is answered here; beside the others stands "
		"the "
		"command that shows the same, on the machine where it runs.</p>\n<table>\n");
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

/* The kernel terminates the last word with a NUL, too. */
static void show_command_line(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_route_answer *out)
{
	struct bt_buf error = {0};

	(void)sources, (void)request;
	if (bt_file_read("/proc/self/cmdline", &out->body, &error) != BT_OK) {
		out->status = 500;
		bt_buf_clear(&out->body);
		bt_buf_printf(&out->body, "%.*s\n", BT_STR_ARG(bt_buf_view(&error)));
	} else if (out->body.len && out->body.ptr[out->body.len - 1] == 0) {
		out->body.len--;
	}
	bt_buf_fini(&error);
}

static void show_symbols(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_route_answer *out)
{
	(void)sources, (void)request;
	bt_buf_text(&out->body, "num_symbols: 0\n");
}

/* ---- CPU time ---- */

/* As Go: anything but a positive number means the default. Returns: 0: too long. */
static int64_t seconds_of(const struct bt_route_request *request)
{
	struct bt_str text = bt_route_argument(request, "seconds");
	int64_t seconds = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9') {
			return SECONDS;
		}
		seconds = seconds > SECONDS_MAX ? seconds : seconds * 10 + (text.ptr[i] - '0');
	}
	return seconds > SECONDS_MAX ? 0 : seconds ? seconds : SECONDS;
}

static void wait_until(const struct bt_serve_sources *sources, int64_t end_ns)
{
	while (bt_clock_monotonic_ns() < end_ns &&
		!(sources->is_ending && sources->is_ending(sources->context))) {
		poll(NULL, 0, LOOK_MS);
		bt_sampler_add_threads();
	}
}

static void show_profile(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_route_answer *out)
{
	int64_t seconds = seconds_of(request);
	struct bt_buf why = {0};
	uint64_t lost_n;

	if (!seconds) {
		out->status = 400;
		bt_buf_printf(&out->body, "seconds: at most %d; repeat the request for more\n", SECONDS_MAX);
	} else if (bt_sampler_begin(&why) != BT_OK) {
		out->status = 500;
		bt_buf_printf(
			&out->body, "Could not enable CPU profiling: %.*s\n", BT_STR_ARG(bt_buf_view(&why)));
	} else {
		wait_until(sources, bt_clock_monotonic_ns() + seconds * 1000000000);
		if (bt_sampler_n(&lost_n), lost_n) {
			out->warning =
				"299 - \"there was no room for the last samples; request fewer seconds\"";
		}
		out->type = BINARY;
		bt_sampler_end(&out->body);
	}
	bt_buf_fini(&why);
}

/* ---- memory ---- */

static bool read_all(int fd, struct bt_buf *out)
{
	ssize_t n;

	do {
		bt_buf_reserve(out, 65536);
		n = pread(fd, out->ptr + out->len, 65536, (off_t)out->len);
		out->len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0;
}

/* Returns: false, with the reason in out_why. Uses a memfd: in the sandbox, no other file can be written. */
static bool add_heap(struct bt_buf *out, struct bt_buf *out_why)
{
	int fd = memfd_create("heap", MFD_CLOEXEC);
	char path[32];

	if (fd < 0) {
		bt_buf_printf(out_why, "no memory file: %s", strerror(errno));
		return false;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bool good = bt_mem_write_profile(path, out_why) == BT_OK;

	if (good && !read_all(fd, out)) {
		bt_buf_printf(out_why, "the memory file cannot be read: %s", strerror(errno));
		good = false;
	}
	close(fd);
	return good;
}

static void show_heap(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_route_answer *out)
{
	struct bt_buf why = {0};

	(void)sources, (void)request;
	if (add_heap(&out->body, &why)) {
		out->type = BINARY;
	} else {
		bt_buf_clear(&out->body);
		bt_buf_printf(&out->body, "No heap profile: %.*s.\nInstead, what the allocator counts:\n\n",
			BT_STR_ARG(bt_buf_view(&why)));
		bt_mem_describe(&out->body);
	}
	bt_buf_fini(&why);
}

/* ---- threads ---- */

static const char *state_name(char letter)
{
	switch (letter) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting for a device";
	case 'T':
	case 't':
		return "stopped";
	default:
		return "ending";
	}
}

/* A line about a thread, from /proc/self/task/TID/stat. Its second word, the name, is in parentheses and may
 * contain any character. A thread that has ended has no line. */
static void add_thread(const char *tid, struct bt_buf *text, struct bt_buf *out)
{
	char path[64], state;
	unsigned long user, system;
	struct bt_buf error = {0};

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	if (bt_file_read(path, text, &error) == BT_OK) {
		const char *name = strchr(text->ptr, '('), *end = strrchr(text->ptr, ')');

		if (name && end &&
			sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user,
				&system) == 3) {
			double tick_seconds = 1.0 / (double)sysconf(_SC_CLK_TCK);

			bt_buf_printf(out, "%-8s %-16.*s %-21s %9.2f s %9.2f s\n", tid, (int)(end - name - 1),
				name + 1, state_name(state), (double)user * tick_seconds,
				(double)system * tick_seconds);
		}
	}
	bt_buf_fini(&error);
}

static void show_threads(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_route_answer *out)
{
	DIR *threads = opendir("/proc/self/task");
	struct bt_buf text = {0};

	(void)sources, (void)request;
	if (!threads) {
		out->status = 500;
		bt_buf_printf(&out->body, "/proc/self/task: %s; mount /proc\n", strerror(errno));
		return;
	}
	bt_buf_printf(
		&out->body, "%-8s %-16s %-21s %11s %11s\n", "thread", "name", "state", "user", "system");
	for (struct dirent *entry; (entry = readdir(threads));) {
		if (entry->d_name[0] != '.') {
			add_thread(entry->d_name, &text, &out->body);
		}
	}
	closedir(threads);
	bt_buf_fini(&text);
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
	} else {
		profile->answer(sources, request, out);
	}
}
