/* SPDX-License-Identifier: Apache-2.0
 * The report of berth check as JUnit's XML, as CI systems read it.
 */
#include "tools/offline/check/report.h"

/* Characters that XML forbids become question marks. Source: XML 1.0, section 2.2. */
static void write_escaped(struct bt_str text, struct bt_buf *out)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		switch (c) {
		case '&':
			bt_buf_text(out, "&amp;");
			break;
		case '<':
			bt_buf_text(out, "&lt;");
			break;
		case '>':
			bt_buf_text(out, "&gt;");
			break;
		case '"':
			bt_buf_text(out, "&quot;");
			break;
		case '\t':
		case '\n':
		case '\r':
			bt_buf_printf(out, "&#%u;", (unsigned)c);
			break;
		default:
			bt_buf_char(out, c < ' ' || c == 0x7f ? '?' : (char)c);
		}
	}
}

static void write_attribute(const char *name, struct bt_str value, struct bt_buf *out)
{
	bt_buf_printf(out, " %s=\"", name);
	write_escaped(value, out);
	bt_buf_char(out, '"');
}

static void write_case(const struct bt_check *check, uint32_t ix, struct bt_buf *out)
{
	const struct bt_app_workload *workload = &check->app.workloads[ix];
	const char *rule = check->results[ix].reason ? "does-not-fit" : "preempts";
	struct bt_buf sentence = {0}, name = {0};
	bool says = bt_check_sentence(check, ix, &sentence);

	bt_buf_printf(&name, "%.*s/%.*s", BT_STR_ARG(workload->namespace_), BT_STR_ARG(workload->name));
	bt_buf_text(out, "\t\t<testcase");
	write_attribute("classname", bt_str(bt_kind_info(workload->kind)->name), out);
	write_attribute("name", bt_buf_view(&name), out);
	write_attribute("file", bt_str(workload->file), out);
	if (workload->line) {
		bt_buf_printf(out, " line=\"%zu\"", workload->line);
	}
	bt_buf_text(out, says ? ">\n" : "/>\n");
	if (says && bt_check_workload_fails(check, ix)) {
		bt_buf_text(out, "\t\t\t<failure");
		write_attribute("type", bt_str(rule), out);
		write_attribute("message", bt_buf_view(&sentence), out);
		bt_buf_text(out, "/>\n");
	} else if (says) {
		bt_buf_text(out, "\t\t\t<system-out>");
		write_escaped(bt_buf_view(&sentence), out);
		bt_buf_text(out, "</system-out>\n");
	}
	bt_buf_text(out, says ? "\t\t</testcase>\n" : "");
	bt_buf_fini(&sentence);
	bt_buf_fini(&name);
}

void bt_check_write_junit(const struct bt_check *check, struct bt_buf *out)
{
	size_t failure_n = 0;

	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		failure_n += bt_check_workload_fails(check, i);
	}
	bt_buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	bt_buf_printf(out, "<testsuites tests=\"%zu\" failures=\"%zu\">\n", check->app.workload_n, failure_n);
	bt_buf_printf(out, "\t<testsuite name=\"berth check\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
		check->app.workload_n, failure_n);
	for (uint32_t i = 0; i < check->app.workload_n; i++) {
		write_case(check, i, out);
	}
	bt_buf_text(out, "\t</testsuite>\n</testsuites>\n");
}
