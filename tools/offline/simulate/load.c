/* SPDX-License-Identifier: Apache-2.0
 * Objects become the engine's nodes and pods.
 */
#include "tools/offline/simulate/load.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/kubectl_text.h"
#include "tools/format/object_reader.h"
#include "tools/offline/generate/generate.h"
#include "tools/offline/simulate/ignored.h"
#include "tools/offline/simulate/virtual_time.h"

#define NS_PER_S INT64_C(1000000000)

#define NAME_MAX_BYTES 600
#define SLEEP_NS       INT64_C(200000)

/* Kinds that are not used are counted by their group, too: a Deployment of an old version is one of these. */
static void count_kind(struct bt_load *load, const struct bt_object *object)
{
	bool used = bt_kind_store(object->kind) != BT_STORE_NONE;
	uint32_t ix;

	bt_buf_clear(&load->text);
	bt_buf_str(&load->text, object->kind_name);
	if (!used && bt_str_find(object->api_version, '/', 0) < object->api_version.len) {
		bt_buf_printf(&load->text, " (%.*s)", BT_STR_ARG(object->api_version));
	}
	uint64_t key = bt_hash_bytes(load->text.ptr, load->text.len) | 1;
	for (; bt_map_get(&load->kind_ixs, key, &ix); key += 2) {
		if (bt_str_is(bt_buf_view(&load->text), load->kinds[ix].name)) {
			load->kinds[ix].n++;
			return;
		}
	}
	load->kinds = bt_mem_grow(load->kinds, load->kind_n, &load->kind_cap, sizeof(*load->kinds));
	bt_map_put(&load->kind_ixs, key, (uint32_t)load->kind_n);
	load->kinds[load->kind_n++] =
		(struct bt_kind_count){bt_mem_copy(load->text.ptr, load->text.len), 1, used};
}

/* Records a node or pod by kind and name. Returns whether it was there before. */
static bool is_repeated(struct bt_load *load, const struct bt_object *object)
{
	const struct bt_object_version version = bt_object_version_of(object);
	uint32_t check;

	if (bt_map_get(&load->seen, version.key, &check)) {
		return check == version.check;
	}
	bt_map_put(&load->seen, version.key, version.check);
	return false;
}

/* Is the pod scheduled or counted? Ended pods, and pods of other schedulers, are
 * ignored, and may repeat a name. */
static bool counts(const struct bt_load *load, const struct bt_pod_object *pod)
{
	return !bt_ingest_pod_has_ended(pod) &&
	       !bt_engine_is_other_schedulers(bt_pipeline_engine(load->pipeline), pod);
}

static bool is_known(struct bt_load *load, const struct bt_object *object)
{
	bool node = object->kind == BT_KIND_NODE;
	char name[NAME_MAX_BYTES];

	if ((!node && (object->kind != BT_KIND_POD || !counts(load, &object->pod))) ||
		!is_repeated(load, object)) {
		return false;
	}
	bt_object_name(object, name, sizeof(name));
	bt_diagnostics_report(load->diagnostics, name, "metadata.name",
		node ? "duplicate node ignored" : "duplicate pod ignored",
		"the input has it already, and the first one counts; remove the other");
	return true;
}

/* A pod that was being deleted while it waited is not scheduled any more. */
static bool is_leaving(struct bt_load *load, const struct bt_pod_object *pod)
{
	if (pod->spec.node_name.len || !pod->meta.deletion_ns || bt_ingest_pod_has_ended(pod)) {
		return false;
	}
	load->counts.deleting++;
	if (load->deleting) {
		load->deleting(load->context, pod);
	}
	return true;
}

/* An object that admission has accepted. */
static void admitted(void *context, struct bt_object *object, bool made)
{
	struct bt_load *load = context;
	struct bt_taken taken;

	if (load->written) {
		load->written(load->context, object);
	}
	load->counts.expanded += made && object->kind == BT_KIND_POD;
	if ((object->kind == BT_KIND_POD && is_leaving(load, &object->pod)) || is_known(load, object)) {
		return;
	}
	/* Of duplicates the last one counts, whatever its version. */
	object->meta.resource_version = (struct bt_str){0};
	bt_references_note(&load->references, object);
	if (load->entered && !made) {
		load->entered(load->entered_context, object);
	}
	if (load->threads) {
		/* Fails only when the user interrupts. */
		(void)bt_feeder_hand_over(&load->feeder, BT_WATCH_EVENT_APPLY, object);
		return;
	}
	enum bt_status status =
		bt_pipeline_apply_object(load->pipeline, BT_WATCH_EVENT_APPLY, object, &taken);
	bt_intake_note(load->intake, object, status, &taken);
}

void bt_load_init(struct bt_load *load)
{
	load->admission = (struct bt_admission){
		.admitted = admitted,
		.context = load,
		.report = bt_diagnostics_add,
		.report_context = load->diagnostics,
		.stop = &load->diagnostics->stop,
		.expand = load->expand,
		.enforce_quota = load->enforce_quota,
	};
	load->feeder = (struct bt_feeder){.pipeline = load->pipeline};
}

int64_t bt_load_begin_ns(const struct bt_load *load)
{
	int64_t begin_ns = load->latest_ns ? load->latest_ns : load->deleting_ns;

	return begin_ns < BT_VIRTUAL_TIME_MAX ? begin_ns : BT_VIRTUAL_TIME_MAX;
}

/* A deletionTimestamp is the grace period after the request. */
static void note_deletion(struct bt_load *load, const struct bt_meta_object *meta)
{
	int64_t grace_s = meta->deletion_grace_s;
	int64_t grace_ns = grace_s > 0 && grace_s < INT64_MAX / NS_PER_S ? grace_s * NS_PER_S : 0;

	if (meta->deletion_ns > grace_ns && meta->deletion_ns - grace_ns > load->deleting_ns) {
		load->deleting_ns = meta->deletion_ns - grace_ns;
	}
}

void bt_load_object(struct bt_load *load, struct bt_object *object)
{
	note_deletion(load, &object->meta);
	load->counts.objects++;
	if (object->meta.creation_ns > load->latest_ns) {
		load->latest_ns = object->meta.creation_ns;
	}
	count_kind(load, object);
	bt_admission_object(&load->admission, object);
}

/* Feeds every object of a source, until its end, an interrupt, or the error of a strict run. */
static void load_source(struct bt_load *load, const struct bt_source *source)
{
	struct bt_object *object;

	while (!load->diagnostics->stop && !bt_interrupt_pending() &&
		(object = source->next(source->context))) {
		bt_load_object(load, object);
	}
}

/* The files' objects as a source: each is copied from the reader, so that it may be changed. */
struct file_source {
	struct bt_object_reader *reader;
	struct bt_object object;
};

static struct bt_object *next_in_files(void *context)
{
	struct file_source *files = context;
	const struct bt_object *object = bt_object_reader_next(files->reader);

	if (!object) {
		return NULL;
	}
	files->object = *object;
	return &files->object;
}

/* Those of the command line, or n others. */
static void add_paths(struct bt_object_reader *reader, const struct bt_invocation *invocation,
	const char *const *paths, size_t n)
{
	const char *path;

	for (size_t i = 0; !paths && (path = bt_invocation_input(invocation, i)); i++) {
		bt_object_reader_add_path(reader, path);
	}
	for (size_t i = 0; paths && i < n; i++) {
		bt_object_reader_add_path(reader, paths[i]);
	}
}

/* Ends the reader. Returns whether it has read all objects, at least one; else reports the problem. */
static bool end_paths(struct bt_object_reader *reader, const struct bt_invocation *invocation,
	const struct bt_diagnostics *diagnostics)
{
	const struct bt_object_counts counts = bt_object_reader_counts(reader);

	bt_object_reader_destroy(reader);
	if (diagnostics->stop) {
		return false;
	}
	if (bt_interrupt_pending()) {
		return counts.objects && !counts.unreadable;
	}
	if (!counts.objects) {
		bt_diagnostics_no_objects(invocation);
	} else if (counts.unreadable) {
		bt_diagnostics_unreadable(invocation);
	}
	return counts.objects && !counts.unreadable;
}

static struct bt_object_reader *create_reader(struct bt_diagnostics *diagnostics)
{
	struct bt_object_reader *reader = bt_object_reader_create(bt_diagnostics_add, diagnostics);

	bt_object_reader_validate(reader, diagnostics->validates);
	return reader;
}

bool bt_load_paths(struct bt_load *load, const struct bt_invocation *invocation)
{
	return bt_load_paths_of(load, invocation, NULL, 0);
}

bool bt_load_paths_of(
	struct bt_load *load, const struct bt_invocation *invocation, const char *const *paths, size_t n)
{
	struct bt_object_reader *reader = create_reader(load->diagnostics);
	struct file_source files = {.reader = reader};

	bt_object_reader_read_ahead(reader, load->helper_n, 0);
	add_paths(reader, invocation, paths, n);
	load_source(load, &(struct bt_source){next_in_files, &files});
	struct bt_object_counts counts = bt_object_reader_counts(reader);
	load->counts.bytes = counts.bytes;
	load->counts.files = counts.files;
	return end_paths(reader, invocation, load->diagnostics);
}

bool bt_load_each(const struct bt_invocation *invocation, struct bt_diagnostics *diagnostics,
	bool (*take)(void *context, const struct bt_object *object), void *context)
{
	struct bt_object_reader *reader = create_reader(diagnostics);
	const struct bt_object *object;

	add_paths(reader, invocation, NULL, 0);
	while (!diagnostics->stop && !bt_interrupt_pending() && (object = bt_object_reader_next(reader)) &&
		take(context, object)) {
	}
	return end_paths(reader, invocation, diagnostics) && !bt_interrupt_pending();
}

void bt_load_default(const struct bt_invocation *invocation, struct bt_buf *out_source,
	bool (*take)(void *context, const struct bt_object *object), void *context)
{
	struct bt_generate_options options = bt_generate_defaults();

	options.seed = bt_invocation_number(invocation, "seed");
	if (out_source) {
		bt_buf_printf(out_source,
			"made by berth: %u nodes, %llu pods, %u signatures; give it files with -f",
			options.node_n, (unsigned long long)options.pod_n, options.signature_n);
	}
	bt_generate(&options, take, context);
}

void bt_load_source(const struct bt_invocation *invocation, struct bt_buf *out_source)
{
	const char *path;

	for (size_t i = 0; (path = bt_invocation_input(invocation, i)); i++) {
		bt_buf_printf(out_source, "%s%s", i ? ", " : "", strcmp(path, "-") ? path : "standard input");
	}
}

/* ---- after the last object ---- */

static void wait_until_taken(struct bt_load *load)
{
	struct bt_eventcount park;

	bt_eventcount_init(&park);
	while (!bt_feeders_are_taken(&load->feeder, 1) && !bt_interrupt_pending()) {
		bt_eventcount_wait(&park, bt_eventcount_prepare(&park), SLEEP_NS);
	}
}

void bt_load_finish(struct bt_load *load)
{
	if (!load->threads) {
		bt_admission_finish(&load->admission, bt_pipeline_engine(load->pipeline));
		return;
	}
	/* The pods of DaemonSets depend on the nodes, which must have been applied. */
	wait_until_taken(load);
	(void)bt_feeder_finish_admission(&load->feeder, &load->admission);
	wait_until_taken(load);
}

/* ---- warnings ---- */

size_t bt_load_missing(struct bt_load *load, struct bt_missing out[BT_LOAD_MISSING_MAX])
{
	return bt_references_missing(&load->references, out, BT_LOAD_MISSING_MAX);
}

static const char *ending(struct bt_str word, uint64_t n)
{
	return n == 1 ? "" : bt_str_ends(word, "s") ? "es" : "s";
}

void bt_load_missing_text(const struct bt_missing *m, struct bt_buf *out)
{
	unsigned long long object_n = m->object_n, referrer_n = m->referrer_n;
	const char *more = ending(bt_str(m->referrer), referrer_n), *verb = referrer_n == 1 ? "s" : "";

	if (object_n) {
		bt_buf_printf(out, "%llu %s%s refer%s to %llu %s%s that the input lacks, such as %.*s",
			referrer_n, m->referrer, more, verb, object_n, m->kind,
			ending(bt_str(m->kind), object_n), BT_STR_ARG(m->example));
	} else {
		const bool devices = strcmp(m->kind, "ResourceSlice") == 0;

		bt_buf_printf(out, "%llu %s%s %s%s %s %ss, which the input lacks", referrer_n, m->referrer,
			more, devices ? "wait" : "count", verb,
			devices ? "for devices of" : "against limits in", m->kind);
	}
	bt_buf_printf(out, "; fetch them with kubectl get %s -A -o json", m->resource);
}

static void warn_of_missing(struct bt_load *load)
{
	struct bt_missing missing[BT_LOAD_MISSING_MAX];
	size_t n = bt_load_missing(load, missing);

	for (size_t i = 0; i < n; i++) {
		bt_buf_clear(&load->text);
		bt_load_missing_text(&missing[i], &load->text);
		bt_diagnostics_warn(load->diagnostics, bt_buf_view(&load->text));
	}
	if (n) {
		bt_diagnostics_warn(
			load->diagnostics, bt_str("everything that a scheduler looks at: " BT_KUBECTL_GET));
	}
}

void bt_load_warn(struct bt_load *load)
{
	warn_of_missing(load);
	for (size_t i = 0; i < load->kind_n; i++) {
		const struct bt_kind_count *kind = &load->kinds[i];
		const char *effect = kind->used ? NULL : bt_ignored_effect(kind->name);

		if (effect) {
			bt_buf_clear(&load->text);
			bt_buf_printf(&load->text, "%llu of kind %s ignored: %s", (unsigned long long)kind->n,
				kind->name, effect);
			bt_diagnostics_warn(load->diagnostics, bt_buf_view(&load->text));
		}
	}
}

/* ---- objects besides the cluster ---- */

/* The taker of objects that do not belong to the cluster. */
struct apart_taker {
	struct bt_load *load;
	void (*take)(void *context, struct bt_object *object, bool made);
	void *context;
};

static void take_apart(void *context, struct bt_object *object, bool made)
{
	const struct apart_taker *taker = context;

	bt_references_note(&taker->load->references, object);
	taker->take(taker->context, object, made);
}

bool bt_load_apart_source(struct bt_load *load, const struct bt_source *source,
	void (*take)(void *context, struct bt_object *object, bool made), void *context)
{
	struct apart_taker taker = {load, take, context};
	struct bt_admission *admission = &load->admission;
	const struct bt_admission before = *admission;
	uint64_t problem_n = load->diagnostics->n;
	struct bt_object *object;

	bt_references_forget(&load->references); /* the cluster's have been reported */
	admission->admitted = take_apart;
	admission->context = &taker;
	admission->expand = true;
	while (!load->diagnostics->stop && !bt_interrupt_pending() &&
		(object = source->next(source->context))) {
		bt_admission_object(admission, object);
	}
	bt_admission_finish(admission, bt_pipeline_engine(load->pipeline));
	admission->admitted = before.admitted;
	admission->context = before.context;
	admission->expand = before.expand;
	return !load->diagnostics->stop && !bt_interrupt_pending() && load->diagnostics->n == problem_n;
}

bool bt_load_apart(struct bt_load *load, const char *path,
	void (*take)(void *context, struct bt_object *object, bool made), void *context)
{
	struct bt_object_reader *reader = create_reader(load->diagnostics);
	struct file_source files = {.reader = reader};

	bt_object_reader_add_path(reader, path);
	(void)bt_load_apart_source(load, &(struct bt_source){next_in_files, &files}, take, context);
	const struct bt_object_counts counts = bt_object_reader_counts(reader);
	bt_object_reader_destroy(reader);
	warn_of_missing(load);
	return !load->diagnostics->stop && counts.objects && !counts.unreadable;
}

void bt_load_fini(struct bt_load *load)
{
	for (size_t i = 0; i < load->kind_n; i++) {
		bt_mem_free(load->kinds[i].name);
	}
	bt_mem_free(load->kinds);
	bt_admission_fini(&load->admission);
	bt_feeder_fini(&load->feeder);
	bt_map_fini(&load->seen);
	bt_map_fini(&load->kind_ixs);
	bt_references_fini(&load->references);
	bt_buf_fini(&load->text);
}
