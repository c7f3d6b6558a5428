/* SPDX-License-Identifier: Apache-2.0
 * Log lines in klog's text format, or as component-base's JSON encoder writes them. Source: klog/v2
 * internal/serialize and internal/buffer; k8s.io/component-base/logs/json, v0.36.3.
 *
 * text: I1121 21:30:00.123456   12345 file.c:42] "message" key="value" pod="namespace/name" n=3
 * JSON:
 * {"ts":1763760600123.456,"caller":"log/file.c:42","msg":"message","v":0,"pod":{"name":…,"namespace":…}}
 */
#include "tools/kube/log/log.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "line_int.h"

static struct {
	enum bt_log_format format; /* init: */
	_Atomic int verbosity;	   /* atomic: relaxed */
	_Atomic uint64_t lost_n;   /* atomic: relaxed */
} log_state;

void bt_log_set_verbosity(int verbosity)
{
	bt_store_relaxed(&log_state.verbosity, verbosity);
}

void bt_log_setup(enum bt_log_format format, int verbosity)
{
	log_state.format = format;
	bt_log_set_verbosity(verbosity);
	signal(SIGPIPE, SIG_IGN);
	tzset();
}

bool bt_log_enabled(int verbosity)
{
	return verbosity <= bt_load_relaxed(&log_state.verbosity);
}

uint64_t bt_log_lost_n(void)
{
	return bt_load_relaxed(&log_state.lost_n);
}

bool bt_log_due(struct bt_log_limit *limit, int64_t now_ns, int64_t interval_ns, uint64_t *out_held_n)
{
	int64_t next_ns = bt_load_relaxed(&limit->next_ns);

	if (now_ns < next_ns || !bt_cas(&limit->next_ns, &next_ns, now_ns + interval_ns)) {
		bt_add_relaxed(&limit->held_n, 1);
		return false;
	}
	*out_held_n = bt_exchange(&limit->held_n, 0);
	return true;
}

static void add_header(struct bt_log_line *line, enum bt_log_level level, const char *file, int at)
{
	struct timeval now;
	struct tm day;

	gettimeofday(&now, NULL);
	localtime_r(&now.tv_sec, &day);
	bt_log_line_text(line, level == BT_LOG_ERROR ? "E" : level == BT_LOG_WARNING ? "W" : "I");
	bt_log_line_int(line, day.tm_mon + 1, 2, '0');
	bt_log_line_int(line, day.tm_mday, 2, '0');
	bt_log_line_text(line, " ");
	bt_log_line_int(line, day.tm_hour, 2, '0');
	bt_log_line_text(line, ":");
	bt_log_line_int(line, day.tm_min, 2, '0');
	bt_log_line_text(line, ":");
	bt_log_line_int(line, day.tm_sec, 2, '0');
	bt_log_line_text(line, ".");
	bt_log_line_int(line, now.tv_usec, 6, '0');
	bt_log_line_text(line, " ");
	bt_log_line_int(line, getpid(), 7, ' ');
	bt_log_line_text(line, " ");
	bt_log_line_text(line, file);
	bt_log_line_text(line, ":");
	bt_log_line_int(line, at, 1, '0');
	bt_log_line_text(line, "] ");
}

static bool add_text_field(struct bt_log_line *line, const struct bt_log_field *field)
{
	if (!bt_log_line_text(line, " ") || !bt_log_line_text(line, field->key) ||
		!bt_log_line_text(line, "=")) {
		return false;
	}
	if (field->kind == BT_LOG_FIELD_INT) {
		return bt_log_line_int(line, field->number, 1, '0');
	}
	if (field->kind == BT_LOG_FIELD_REAL) {
		return bt_log_line_real(line, field->real);
	}
	return bt_log_line_quote(line, field->namespace_, field->text, true);
}

static bool add_json_field(struct bt_log_line *line, const struct bt_log_field *field)
{
	struct bt_str none = {0};

	if (!bt_log_line_text(line, ",") || !bt_log_line_quote(line, bt_str(field->key), none, false) ||
		!bt_log_line_text(line, ":")) {
		return false;
	}
	if (field->kind == BT_LOG_FIELD_INT) {
		return bt_log_line_int(line, field->number, 1, '0');
	}
	if (field->kind == BT_LOG_FIELD_REAL) {
		return bt_log_line_real(line, field->real);
	}
	if (field->kind == BT_LOG_FIELD_STR) {
		return bt_log_line_quote(line, field->text, none, false);
	}
	if (!bt_log_line_text(line, "{\"name\":") || !bt_log_line_quote(line, field->text, none, false)) {
		return false;
	}
	if (field->namespace_.len && (!bt_log_line_text(line, ",\"namespace\":") ||
					     !bt_log_line_quote(line, field->namespace_, none, false))) {
		return false;
	}
	return bt_log_line_text(line, "}");
}

static void add_json_head(struct bt_log_line *line, const char *file, int at)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	bt_log_line_text(line, "{\"ts\":");
	bt_log_line_int(line, (int64_t)now.tv_sec * 1000 + now.tv_usec / 1000, 1, '0');
	bt_log_line_text(line, ".");
	bt_log_line_int(line, now.tv_usec % 1000, 3, '0');
	bt_log_line_text(line, ",\"caller\":\"");
	bt_log_line_text(line, file);
	bt_log_line_text(line, ":");
	bt_log_line_int(line, at, 1, '0');
	bt_log_line_text(line, "\",\"msg\":");
}

/* A field that does not fit is omitted with all later ones; a mark shows that. */
static void add_fields(struct bt_log_line *line, const struct bt_log_field *fields, bool json)
{
	for (const struct bt_log_field *field = fields; field && field->key; field++) {
		size_t before = line->n;

		if (!(json ? add_json_field(line, field) : add_text_field(line, field))) {
			line->n = before;
			if (!json) {
				bt_log_line_text(line, " \xe2\x80\xa6");
			}
			return;
		}
	}
}

static void write_line(struct bt_log_line *line)
{
	ssize_t n;

	line->bytes[line->n++] = '\n';
	do {
		n = write(STDERR_FILENO, line->bytes, line->n);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)line->n) {
		bt_add_relaxed(&log_state.lost_n, 1);
	}
}

void bt_log_at(const char *file, int at, enum bt_log_level level, int verbosity, const char *message,
	const struct bt_log_field *fields)
{
	bool json = log_state.format == BT_LOG_JSON;
	int error = errno;
	struct bt_log_line line;

	line.n = 0;
	if (json) {
		add_json_head(&line, file, at);
	} else {
		add_header(&line, level, file, at);
	}
	bt_log_line_quote(&line, bt_str(message), (struct bt_str){0}, !json);
	if (json && level != BT_LOG_ERROR) {
		bt_log_line_text(&line, ",\"v\":");
		bt_log_line_int(&line, level == BT_LOG_INFO ? verbosity : 0, 1, '0');
	}
	add_fields(&line, fields, json);
	if (json) {
		line.bytes[line.n++] = '}';
	}
	write_line(&line);
	errno = error;
}
