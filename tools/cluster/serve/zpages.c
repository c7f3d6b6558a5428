/* SPDX-License-Identifier: Apache-2.0
 * Pages for people, or objects for programs that request them by the header Accept.
 */
#include "zpages_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "metrics_int.h"
#include "tools/cli/doc_write.h"

#define COMPONENT "kube-scheduler"
#define HEADING                                                                                              \
	"\n" COMPONENT                                                                                       \
	" %s\nWarning: This endpoint is not meant to be machine parseable, has no formatting "               \
	"compatibility guarantees and is for debugging purposes only.\n"

/* ---- content negotiation ---- */

enum format { FORMAT_NONE = 0, FORMAT_TEXT, FORMAT_JSON, FORMAT_YAML };

/* The format of an answer. */
struct media_choice {
	enum format format;
	bool alpha; /* v1alpha1, else v1beta1 */
	double quality;
};

static struct bt_str trimmed(struct bt_str text)
{
	size_t from = 0;

	while (from < text.len && (text.ptr[from] == ' ' || text.ptr[from] == '\t')) {
		from++;
	}
	while (text.len > from && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t')) {
		text.len--;
	}
	return bt_str_sub(text, from, text.len);
}

/* Takes the text before the next separator, which is dropped. */
static struct bt_str take_part(struct bt_str *rest, char separator)
{
	size_t end = bt_str_find(*rest, separator, 0);
	struct bt_str part = trimmed(bt_str_sub(*rest, 0, end));

	*rest = end < rest->len ? bt_str_sub(*rest, end + 1, rest->len) : (struct bt_str){0};
	return part;
}

static double number_of(struct bt_str text)
{
	char copy[16] = {0};

	memcpy(copy, text.len ? text.ptr : "", text.len < sizeof(copy) - 1 ? text.len : sizeof(copy) - 1);
	return strtod(copy, NULL);
}

static bool is_type(struct bt_str type, const char *wanted)
{
	return type.len == strlen(wanted) && strncasecmp(type.ptr, wanted, type.len) == 0;
}

/* An object needs a clause with kind, group and version; a text needs one without. */
static enum format format_of(struct bt_str type, bool names_object, bool is_object)
{
	bool all = is_type(type, "*/*"), any = all || is_type(type, "application/*");
	bool text = all || is_type(type, "text/*") || is_type(type, "text/plain");

	if (is_object && (any || is_type(type, "application/json"))) {
		return FORMAT_JSON;
	}
	if (is_object && is_type(type, "application/yaml")) {
		return FORMAT_YAML;
	}
	return !names_object && text ? FORMAT_TEXT : FORMAT_NONE;
}

/* One clause of the header: type;param=value;… */
static struct media_choice choice_of(struct bt_str clause, const char *kind)
{
	struct bt_str type = take_part(&clause, ';');
	struct bt_str as = {0}, group = {0}, version = {0};
	struct media_choice choice = {.quality = 1};

	while (clause.len) {
		struct bt_str value = take_part(&clause, ';'), name = take_part(&value, '=');

		if (bt_str_is(name, "q")) {
			choice.quality = number_of(value);
		} else if (bt_str_is(name, "as")) {
			as = trimmed(value);
		} else if (bt_str_is(name, "g")) {
			group = trimmed(value);
		} else if (bt_str_is(name, "v")) {
			version = trimmed(value);
		}
	}
	choice.alpha = bt_str_is(version, "v1alpha1");
	bool known = bt_str_is(as, kind) && bt_str_is(group, "config.k8s.io") &&
		     (choice.alpha || bt_str_is(version, "v1beta1"));

	choice.format = format_of(type, as.len || group.len || version.len, known);
	return choice;
}

/* The best clause that can be served; among equals the first. */
static struct media_choice negotiate(struct bt_str accept, const char *kind)
{
	struct media_choice best = {.format = trimmed(accept).len ? FORMAT_NONE : FORMAT_TEXT};

	while (accept.len) {
		struct media_choice choice = choice_of(take_part(&accept, ','), kind);

		if (choice.format != FORMAT_NONE && choice.quality > best.quality) {
			best = choice;
		}
	}
	return best;
}

/* The names of a page. */
struct page {
	const char *kind, *types[2][2], *warning; /* types: JSON and YAML, v1beta1 and v1alpha1 */
};

#define OBJECT_TYPE(format, version, kind) "application/" format ";g=config.k8s.io;v=" version ";as=" kind
#define PAGE(kind_text, path)                                                                                \
	{                                                                                                    \
		kind_text,                                                                                   \
			{{OBJECT_TYPE("json", "v1beta1", kind_text),                                         \
				 OBJECT_TYPE("json", "v1alpha1", kind_text)},                                \
				{OBJECT_TYPE("yaml", "v1beta1", kind_text),                                  \
					OBJECT_TYPE("yaml", "v1alpha1", kind_text)}},                        \
			"299 - \"This version of the " path                                                  \
			" endpoint is deprecated. Please use a newer version.\""                             \
	}

static const struct page flagz = PAGE("Flagz", "flagz"), statusz = PAGE("Statusz", "statusz");

/* Sets type and warning. Returns: false: nothing acceptable, and out is that answer. */
static bool begin_answer(const struct bt_route_request *request, const struct page *page,
	struct media_choice *out_choice, struct bt_route_answer *out)
{
	*out_choice = negotiate(request->accept, page->kind);
	if (out_choice->format == FORMAT_NONE) {
		bt_route_status(406, "NotAcceptable",
			bt_str("only the following media types are accepted: application/json, "
			       "application/yaml, text/plain"),
			out);
		return false;
	}
	if (out_choice->format != FORMAT_TEXT) {
		out->type = page->types[out_choice->format == FORMAT_YAML][out_choice->alpha];
		out->warning = out_choice->alpha ? page->warning : NULL;
	}
	return true;
}

static void begin_object(
	struct bt_doc *doc, const struct media_choice *choice, const struct page *page, struct bt_buf *out)
{
	bt_doc_init(doc, choice->format == FORMAT_YAML ? BT_DOC_YAML : BT_DOC_JSON_PRETTY, out);
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "kind");
	bt_doc_text(doc, page->kind);
	bt_doc_key(doc, "apiVersion");
	bt_doc_text(doc, choice->alpha ? "config.k8s.io/v1alpha1" : "config.k8s.io/v1beta1");
	bt_doc_key(doc, "metadata");
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "name");
	bt_doc_text(doc, COMPONENT);
	bt_doc_end(doc);
}

/* ---- flags ---- */

static void add_line(void *to, const char *name, struct bt_str value)
{
	bt_buf_printf(to, "%s=%.*s\n", name, BT_STR_ARG(value));
}

static void add_member(void *to, const char *name, struct bt_str value)
{
	bt_doc_key(to, name);
	bt_doc_str(to, value);
}

void bt_zpages_flagz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	struct bt_doc doc;
	struct media_choice choice;

	(void)rest;
	if (!begin_answer(request, &flagz, &choice, out)) {
		return;
	}
	if (choice.format == FORMAT_TEXT) {
		bt_buf_printf(&out->body, HEADING, "flagz");
		sources->each_flag(sources->context, add_line, &out->body);
		return;
	}
	begin_object(&doc, &choice, &flagz, &out->body);
	bt_doc_key(&doc, "flags");
	bt_doc_begin_object(&doc);
	sources->each_flag(sources->context, add_member, &doc);
	bt_doc_end(&doc);
	bt_doc_end(&doc);
}

/* ---- status ---- */

/* The first segments of all paths. */
static const char *const folders[] = {
	"/configz", "/debug", "/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/version"};

#define FOLDER_N (sizeof(folders) / sizeof(*folders))

static void write_status(const struct bt_release *release, time_t start, int64_t up_s, struct bt_buf *out)
{
	char text[64];
	struct tm utc;

	gmtime_r(&start, &utc);
	strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &utc);
	bt_buf_printf(out, HEADING, "statusz");
	bt_buf_printf(out, "\nStarted: %s\nUp: %lld hr %02lld min %02lld sec\n", text,
		(long long)(up_s / 3600), (long long)(up_s / 60 % 60), (long long)(up_s % 60));
	bt_buf_printf(out, "Go version: \nBinary version: %s\nEmulation version: %s\nPaths:",
		bt_release_binary(release)->number, release->name);
	for (size_t i = 0; i < FOLDER_N; i++) {
		bt_buf_printf(out, " %s", folders[i]);
	}
	bt_buf_char(out, '\n');
}

static void add_text(struct bt_doc *doc, const char *key, const char *value)
{
	bt_doc_key(doc, key);
	bt_doc_text(doc, value);
}

static void write_status_object(const struct media_choice *choice, const struct bt_release *release,
	time_t start, int64_t up_s, struct bt_buf *out)
{
	struct bt_doc doc;
	char text[32];
	struct tm utc;

	gmtime_r(&start, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	begin_object(&doc, choice, &statusz, out);
	add_text(&doc, "startTime", text);
	bt_doc_key(&doc, "uptimeSeconds");
	bt_doc_int(&doc, up_s);
	add_text(&doc, "goVersion", "");
	add_text(&doc, "binaryVersion", bt_release_binary(release)->number);
	add_text(&doc, "emulationVersion", release->name);
	bt_doc_key(&doc, "paths");
	bt_doc_begin_array(&doc);
	for (size_t i = 0; i < FOLDER_N; i++) {
		bt_doc_text(&doc, folders[i]);
	}
	bt_doc_end(&doc);
	bt_doc_end(&doc);
}

void bt_zpages_statusz(const struct bt_serve_sources *sources, const struct bt_route_request *request,
	struct bt_str rest, struct bt_route_answer *out)
{
	time_t start = (time_t)bt_process_start_seconds(), now = time(NULL);
	int64_t up_s = now > start ? now - start : 0;
	struct media_choice choice;

	(void)sources;
	(void)rest;
	if (!begin_answer(request, &statusz, &choice, out)) {
		return;
	}
	if (choice.format == FORMAT_TEXT) {
		write_status(bt_served_release(sources), start, up_s, &out->body);
	} else {
		write_status_object(&choice, bt_served_release(sources), start, up_s, &out->body);
	}
}
