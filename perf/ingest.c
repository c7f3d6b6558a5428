/* SPDX-License-Identifier: Apache-2.0
 * Reading a cluster as kubectl writes it: decoding alone, and decoding with ingestion into the engine. The
 * argument is the number of pods; there is a node for every twenty. Items are objects.
 */
#include "engine/flow/engine.h"
#include "suites.h"
#include "tools/codec/object.h"
#include "tools/generate/generate.h"
#include "tools/generate/serialize.h"

struct text {
	struct bt_serialize_stream stream;
	struct bt_buf buf;
};

static bool write_object(void *context, const struct bt_object *object)
{
	struct text *text = context;

	bt_serialize_next(&text->stream, object, &text->buf);
	return true;
}

static void make_text(struct text *text, enum bt_doc_style style, uint64_t pod_n)
{
	struct bt_generate_options options = bt_generate_defaults();

	options.pod_n = pod_n;
	options.node_n = (uint32_t)(pod_n / 20);
	bt_serialize_begin(&text->stream, style, &text->buf);
	bt_generate(&options, write_object, text);
	bt_serialize_end(&text->stream, &text->buf);
}

/* Hears of problems, of which there must be none. */
static void count_problem(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)diagnosis;
	++*(int *)context;
}

static void ingest(struct bt_engine *engine, const struct bt_object *object)
{
	enum bt_entry entry;
	uint32_t ix;

	if (object->kind == BT_KIND_NODE) {
		bt_engine_apply_node(engine, &object->node, &ix);
	} else if (object->kind == BT_KIND_POD) {
		bt_engine_add_pod(engine, &object->pod, &entry, &ix);
	}
}

/* Reads the text once. engine == NULL: only decodes. Returns the number of objects. */
static int64_t read_text(
	const struct text *text, enum bt_format format, struct bt_engine *engine, int *problem_n)
{
	struct bt_object_reader *reader = bt_object_reader_create(count_problem, problem_n);
	const struct bt_object *object;
	int64_t object_n = 0;

	bt_object_reader_begin_text(reader, "cluster", bt_buf_view(&text->buf), format);
	while ((object = bt_object_reader_next(reader))) {
		object_n++;
		if (engine) {
			ingest(engine, object);
		}
	}
	bt_object_reader_destroy(reader);
	return object_n;
}

static void measure(struct bt_bench *bench, enum bt_doc_style style, enum bt_format format, bool into_engine)
{
	struct bt_engine_options options = {.seed = 1};
	struct bt_config_errors errors = {0};
	struct bt_config config;
	struct text text = {0};
	int64_t object_n = 0;
	int problem_n = 0;

	make_text(&text, style, (uint64_t)bt_bench_arg(bench));
	bt_config_init_default(&config, NULL);
	while (bt_bench_keep_running(bench)) {
		struct bt_engine *engine = into_engine ? bt_engine_create(&config, &options, &errors) : NULL;

		object_n += read_text(&text, format, engine, &problem_n);
		bt_engine_destroy(engine);
	}
	if (problem_n) {
		bt_bench_skip(bench, "an object was refused");
	}
	bt_bench_items(bench, object_n);
	bt_bench_bytes(bench, bt_bench_iterations(bench) * (int64_t)text.buf.len);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
	bt_buf_fini(&text.buf);
}

static void json(struct bt_bench *bench)
{
	measure(bench, BT_DOC_JSON, BT_FORMAT_JSON, false);
}

static void yaml(struct bt_bench *bench)
{
	measure(bench, BT_DOC_YAML, BT_FORMAT_YAML, false);
}

static void json_to_engine(struct bt_bench *bench)
{
	measure(bench, BT_DOC_JSON, BT_FORMAT_JSON, true);
}

static const struct bt_bench_case cases[] = {
	{.name = "json", .run = json, .args = {1000, 20000}, .arg_n = 2},
	{.name = "yaml", .run = yaml, .args = {1000}, .arg_n = 1},
	{.name = "json_to_engine", .run = json_to_engine, .args = {1000, 20000}, .arg_n = 2},
};

const struct bt_bench_suite bt_bench_ingest = {
	.name = "ingest", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
