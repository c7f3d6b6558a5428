/* SPDX-License-Identifier: Apache-2.0
 * Applies and deletes objects that are given as text.
 */
#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/format/limits.h"
#include "tools/format/object_schema.h"
#include "tools/libberth/lib/lib_int.h"

#define PROBLEMS_REPORTED 20

/* ---- problems ---- */

void bt_lib_report(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_lib *lib = context;
	struct bt_lib_job *job = lib->job;
	struct bt_buf text = {0};

	bt_diagnosis_text(diagnosis, &text);
	if (diagnosis->severity != BT_PROBLEM) {
		bt_lib_log(lib, BERTH_LOG_WARNING, text.ptr);
		bt_buf_fini(&text);
		return;
	}
	if (job->applied.problems++ < PROBLEMS_REPORTED) {
		if (job->problems.len) {
			bt_buf_char(&job->problems, '\n');
		}
		bt_buf_str(&job->problems, bt_buf_view(&text));
	}
	job->stop |= job->strict;
	bt_lib_log(lib, BERTH_LOG_WARNING, text.ptr);
	bt_buf_fini(&text);
}

static void feed_diagnose(struct bt_lib *lib, const struct bt_object *object, const char *path,
	const char *message, const char *remedy)
{
	char name[600];

	bt_object_name(object, name, sizeof(name));
	bt_lib_report(lib,
		&(struct bt_diagnosis){.object = name, .path = path, .message = message, .remedy = remedy});
}

/* ---- one object ---- */

enum bt_status bt_lib_take(struct bt_lib *lib, const struct bt_object *object, struct bt_taken *out)
{
	if (lib->threads) {
		*out = (struct bt_taken){.known = true};
		return bt_lib_threads_hand_over(lib, object, false);
	}
	return bt_lib_in_transaction(lib) ? bt_lib_try_object(lib, object, out)
					  : bt_engine_show(lib->engine, object, out);
}

static uint64_t pod_n(const struct bt_lib *lib)
{
	const struct bt_ledger_counts sets = bt_ledger_counts(bt_engine_cache(lib->engine)->ledger);

	return sets.queued + sets.assumed + sets.scheduled;
}

bool bt_lib_has_room(const struct bt_lib *lib, const struct bt_object *object)
{
	const struct bt_cache *cache = bt_engine_cache(lib->engine);
	const struct berth_options *o = &lib->options;
	struct bt_str name = object->meta.name;

	if (object->kind == BT_KIND_POD && o->pod_max && pod_n(lib) >= o->pod_max) {
		return bt_engine_find_pod(lib->engine, object->meta.namespace_, name) != BT_NO_POD;
	}
	if (object->kind == BT_KIND_NODE && o->node_max && cache->view.snapshot->node_n >= o->node_max) {
		return bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, name)) !=
		       BT_NO_NODE;
	}
	return true;
}

/* Is scheduling independent of objects of the kind? */
static bool is_ignored(const struct bt_lib *lib, enum bt_kind kind)
{
	enum bt_kind_store store = bt_kind_store(kind);

	return store == BT_STORE_NONE || (store == BT_STORE_EXPANDED && !lib->admission.expand);
}

void bt_lib_admitted(void *context, struct bt_object *object, bool made)
{
	struct bt_lib *lib = context;
	struct bt_lib_job *job = lib->job;
	struct bt_taken taken;

	if (is_ignored(lib, object->kind)) {
		job->applied.ignored++;
		return;
	}
	if (!bt_lib_has_room(lib, object)) {
		job->limited = true;
		feed_diagnose(lib, object, NULL, "there are as many as the options allow",
			object->kind == BT_KIND_POD ? "raise pod_max" : "raise node_max");
		return;
	}
	if (!bt_lib_in_transaction(lib)) {
		bt_lib_set_user(lib, object, 0);
	}
	enum bt_status status = bt_lib_take(lib, object, &taken);
	if (status == BT_EXISTS || status == BT_UNSUPPORTED) {
		feed_diagnose(lib, object, NULL,
			status == BT_EXISTS
				? "a transaction does not change pods"
				: "a transaction takes pods and nodes only, and new nodes only unrestricted",
			"apply it before the transaction");
		return;
	}
	if (status == BT_CONFLICT) {
		job->stop = job->late = true;
		return;
	}
	if (status == BT_NO_MEMORY) {
		job->limited = true;
		feed_diagnose(lib, object, NULL, "the process holds as much memory as the options allow",
			"raise memory_bytes_max");
		return;
	}
	if (status == BT_FULL) {
		bool node = object->kind == BT_KIND_NODE;

		feed_diagnose(lib, object, node ? "status.allocatable" : "spec.containers",
			node ? "there are more different resource names than berth can distinguish"
			     : "the pod requests too many resources, or too many names of resources are "
			       "known",
			node ? "this resource was left out; use fewer names"
			     : "the pod is not placed; use fewer names");
	}
	if (object->kind == BT_KIND_POD && taken.ix == BT_NO_POD && !taken.known) {
		job->applied.ignored++;
		return;
	}
	job->applied.applied++;
	job->applied.made += made && object->kind == BT_KIND_POD;
}

/* Returns: as bt_engine_delete_object; with threads BT_OK, or BT_CONFLICT when it is too late. */
static enum bt_status take_away(struct bt_lib *lib, const struct bt_object *object)
{
	bt_lib_set_user(lib, object, 0);
	return lib->threads ? bt_lib_threads_hand_over(lib, object, true)
			    : bt_engine_delete_object(
				      lib->engine, object->kind, object->meta.namespace_, object->meta.name);
}

static void remove_object(struct bt_lib *lib, const struct bt_object *object)
{
	struct bt_lib_job *job = lib->job;

	if (object->kind == BT_KIND_OTHER) {
		job->applied.ignored++;
		return;
	}
	enum bt_status status = take_away(lib, object);
	job->applied.applied += status == BT_OK;
	job->stop |= job->late |= status == BT_CONFLICT;
}

enum berth_status bt_lib_begin_feeding(struct berth *handle, struct bt_lib **out)
{
	enum berth_status status = bt_lib_enter(handle, out);

	if (status != BERTH_OK) {
		return status;
	}
	if ((*out)->threads) {
		bt_lib_threads_feed_begin(*out);
	}
	status = bt_lib_check_stopped(*out);
	if (status != BERTH_OK) {
		bt_lib_end_feeding(*out);
	}
	return status;
}

void bt_lib_end_feeding(struct bt_lib *lib)
{
	if (lib->threads) {
		bt_lib_threads_feed_end(lib);
	}
	bt_eventcount_wake(&lib->park);
	bt_lib_leave(lib);
}

void bt_lib_take_event(struct bt_lib *lib, struct bt_object *object, bool gone)
{
	if (gone) {
		bt_defaults_namespace(object);
		remove_object(lib, object);
	} else {
		bt_admission_object(&lib->admission, object);
		/* Events keep their order: no caller waits for later ones. */
		bt_admission_finish(&lib->admission, NULL);
	}
}

/* ---- texts ---- */

enum feed_reading { READ_APPLY, READ_DELETE, READ_EVENTS };

static void read_all(struct bt_lib *lib, struct bt_lib_job *job, struct bt_object_reader *reader)
{
	const struct bt_object *object;

	lib->admission.stop = &job->stop;
	while (!job->stop && (object = bt_object_reader_next(reader))) {
		struct bt_object copy = *object;

		job->applied.objects++;
		if (job->removes) {
			bt_defaults_namespace(&copy);
			remove_object(lib, &copy);
		} else {
			bt_admission_object(&lib->admission, &copy);
		}
	}
	if (job->stop) {
		bt_admission_drop(&lib->admission);
	} else if (lib->threads) {
		bt_lib_threads_finish_admission(lib);
	} else {
		bt_admission_finish(&lib->admission, lib->engine);
	}
	lib->admission.stop = NULL;
}

static enum berth_status end_job(struct bt_lib *lib, struct bt_lib_job *job, struct berth_applied *out)
{
	enum berth_status status = job->limited ? BERTH_LIMIT : BERTH_BAD_INPUT;

	if (job->late) {
		status = bt_lib_fail(lib->handle, BERTH_STOPPED, "berth_stop was called meanwhile");
	} else if (job->applied.problems == 0) {
		status = BERTH_OK;
	} else if (job->applied.problems > PROBLEMS_REPORTED) {
		bt_lib_fail(lib->handle, status, "%s\n%llu more problems like these", job->problems.ptr,
			(unsigned long long)(job->applied.problems - PROBLEMS_REPORTED));
	} else {
		bt_lib_fail(lib->handle, status, "%s", job->problems.ptr);
	}
	if (out) {
		size_t size = out->size;

		job->applied.size = size;
		memcpy(out, &job->applied, size < sizeof(*out) ? size : sizeof(*out));
	}
	bt_buf_fini(&job->problems);
	lib->job = NULL;
	return status;
}

static enum berth_status begin_job(struct berth *berth, unsigned flags, enum feed_reading reading,
	const struct berth_applied *out, struct bt_lib_job *job, struct bt_lib **out_lib)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_begin_feeding(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (flags & ~(BERTH_EXPAND | BERTH_STRICT)) {
		status = bt_lib_fail(berth, BERTH_INVALID, "there is no such flag: 0x%x", flags);
	} else if (out && out->size < sizeof(*out)) {
		status = bt_lib_fail(berth, BERTH_INVALID, "out's size is wrong: use BERTH_INIT on it first");
	} else if (reading != READ_APPLY) {
		status = bt_lib_check_cycles(lib);
	}
	if (status != BERTH_OK) {
		bt_lib_end_feeding(lib);
		return status;
	}
	*job = (struct bt_lib_job){.strict = flags & BERTH_STRICT, .removes = reading == READ_DELETE};
	lib->job = job;
	lib->admission.expand = flags & BERTH_EXPAND;
	*out_lib = lib;
	return BERTH_OK;
}

static enum berth_status read_text(struct berth *berth, const char *text, size_t bytes, unsigned flags,
	enum feed_reading reading, struct berth_applied *out)
{
	struct bt_lib_job job;
	struct bt_lib *lib = NULL;
	enum berth_status status = begin_job(berth, flags, reading, out, &job, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	uint64_t most = lib->options.text_bytes_max ? lib->options.text_bytes_max : BT_LIMIT_FILE_BYTES;

	if (!text && bytes) {
		lib->job = NULL;
		status = bt_lib_fail(berth, BERTH_INVALID, "text is NULL");
	} else if (bytes > most) {
		lib->job = NULL;
		status = bt_lib_fail(berth, BERTH_LIMIT, "the text has %zu bytes, more than the %llu that %s",
			bytes, (unsigned long long)most, "text_bytes_max allows");
	} else {
		if (reading == READ_EVENTS) {
			bt_lib_read_events(lib, (struct bt_str){text, bytes});
		} else {
			bt_object_reader_begin_any(lib->reader, "text", (struct bt_str){text, bytes});
			read_all(lib, &job, lib->reader);
		}
		status = end_job(lib, &job, out);
	}
	bt_lib_end_feeding(lib);
	return status;
}

enum berth_status berth_apply(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out)
{
	return read_text(berth, text, bytes, flags, READ_APPLY, out);
}

enum berth_status berth_delete_text(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out)
{
	return read_text(berth, text, bytes, flags, READ_DELETE, out);
}

enum berth_status berth_apply_events(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out)
{
	if (flags & BERTH_EXPAND) {
		return bt_lib_fail(berth, BERTH_INVALID, "BERTH_EXPAND is not for events");
	}
	return read_text(berth, text, bytes, flags, READ_EVENTS, out);
}

enum berth_status berth_apply_file(
	struct berth *berth, const char *path, unsigned flags, struct berth_applied *out)
{
	struct bt_lib_job job;
	struct bt_lib *lib = NULL;
	enum berth_status status = begin_job(berth, flags, READ_APPLY, out, &job, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!path) {
		lib->job = NULL;
		status = bt_lib_fail(berth, BERTH_INVALID, "path is NULL");
	} else {
		struct bt_object_reader *reader = bt_object_reader_create(bt_lib_report, lib);

		/* Failures to open are reported. */
		(void)bt_object_reader_add_path(reader, path);
		read_all(lib, &job, reader);
		bt_object_reader_destroy(reader);
		status = end_job(lib, &job, out);
	}
	bt_lib_end_feeding(lib);
	return status;
}

/* ---- protobuf ---- */

#define FRAME_BYTES 4

static void report_proto(struct bt_lib *lib, const struct bt_kind_info *info, struct bt_object *object,
	const struct bt_proto_error *error)
{
	object->api_version = bt_kind_api_version(info);
	object->kind_name = bt_str(info->name);
	feed_diagnose(lib, object, error->field, error->text, "encode it with k8s.io/api's Marshal");
}

/* Applies one object. What is read in part only is not applied. */
static void take_message(struct bt_lib *lib, const struct bt_kind_info *info, struct bt_str message)
{
	struct bt_proto_error error = {.text = NULL};
	struct bt_object object;

	bt_arena_reset(&lib->compact);
	lib->job->applied.objects++;
	if (bt_proto_decode(lib->proto, info->kind, message, &lib->compact, &object, &error) ==
		BT_PROTO_IN_PART) {
		report_proto(lib, info, &object, &error);
		return;
	}
	object.kind = info->kind;
	object.api_version = bt_kind_api_version(info);
	object.kind_name = bt_str(info->name);
	bt_lib_take_event(lib, &object, false);
}

static void read_messages(struct bt_lib *lib, const struct bt_kind_info *info, const uint8_t *at, size_t n)
{
	if (!lib->proto) {
		lib->proto = bt_proto_create();
	}
	while (n && !lib->job->stop) {
		size_t length = n < FRAME_BYTES ? 0
						: (size_t)at[0] << 24 | (size_t)at[1] << 16 |
							  (size_t)at[2] << 8 | (size_t)at[3];

		if (n < FRAME_BYTES || length > n - FRAME_BYTES) {
			bt_lib_report(lib, &(struct bt_diagnosis){.file = "bytes",
						   .message = "an object ends after the last byte",
						   .remedy = "precede each object by its length in 4 bytes"});
			return;
		}
		take_message(lib, info, (struct bt_str){(const char *)at + FRAME_BYTES, length});
		at += FRAME_BYTES + length;
		n -= FRAME_BYTES + length;
	}
}

enum berth_status berth_apply_protobuf(
	struct berth *berth, const char *kind, const void *bytes, size_t n, struct berth_applied *out)
{
	struct bt_lib_job job;
	struct bt_lib *lib = NULL;
	enum berth_status status = begin_job(berth, 0, READ_APPLY, out, &job, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	const struct bt_kind_info *info = bt_kind_info(bt_kind_of_word(bt_str(kind)));

	if (!bt_proto_knows(info->kind)) {
		lib->job = NULL;
		status = bt_lib_fail(
			berth, BERTH_INVALID, "kind is %s, neither Pod nor Node", kind ? kind : "NULL");
	} else if (!bytes && n) {
		lib->job = NULL;
		status = bt_lib_fail(berth, BERTH_INVALID, "bytes is NULL");
	} else {
		read_messages(lib, info, bytes, n);
		status = end_job(lib, &job, out);
	}
	bt_lib_end_feeding(lib);
	return status;
}

/* ---- by name ---- */

static enum berth_status feed_result(
	struct bt_lib *lib, enum bt_status status, const char *kind, const struct bt_object *object)
{
	struct bt_str namespace_ = object->meta.namespace_;

	if (status == BT_OK) {
		return BERTH_OK;
	}
	if (status == BT_CONFLICT) {
		return bt_lib_fail(lib->handle, BERTH_STOPPED, "berth_stop was called meanwhile");
	}
	return bt_lib_fail(lib->handle, BERTH_NOT_FOUND, "there is no %s %.*s%s%.*s", kind,
		BT_STR_ARG(namespace_), namespace_.len ? "/" : "", BT_STR_ARG(object->meta.name));
}

enum berth_status berth_delete(
	struct berth *berth, const char *kind, const char *object_namespace, const char *name)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_begin_feeding(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	const struct bt_kind_info *info = bt_kind_info(bt_kind_of_word(bt_str(kind)));
	struct bt_object object = {.kind = info->kind,
		.api_version = bt_kind_api_version(info),
		.kind_name = bt_str(info->name)};

	object.meta = (struct bt_meta_object){.name = bt_str(name), .namespace_ = bt_str(object_namespace)};
	bt_defaults_namespace(&object);
	if (!kind || !name) {
		status = bt_lib_fail(berth, BERTH_INVALID, "%s is NULL", kind ? "name" : "kind");
	} else if (bt_lib_in_transaction(lib)) {
		status = bt_lib_check_cycles(lib);
	} else if (object.kind == BT_KIND_OTHER) {
		status = bt_lib_fail(
			berth, BERTH_NOT_FOUND, "no decision depends on objects of kind %s", kind);
	} else {
		status = feed_result(lib, take_away(lib, &object), kind, &object);
	}
	bt_lib_end_feeding(lib);
	return status;
}
