/* SPDX-License-Identifier: Apache-2.0
 * Decodes KubeSchedulerConfiguration. Source: the codecs of kube-scheduler v1.36.3, step by step: kind and
 * version first, then the fields, then the arguments of plugins, each with its own kind.
 */
#include "tools/kube/config/config_decode.h"

#include <string.h>
#include <strings.h>

#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "tools/format/json.h"
#include "tools/format/yaml.h"
#include "tools/kube/config/config_schema.h"
#include "tools/kube/config/json_error.h"

static const char group[] = "kubescheduler.config.k8s.io";
static const char config_kind[] = "KubeSchedulerConfiguration";

/* The decoding of one file. */
struct decode {
	struct bt_config *config;
	struct bt_str file; /* as given */
	struct bt_str json; /* the text that is decoded; in the configuration's arena */
	struct bt_json *cursor;
	struct bt_yaml *yaml; /* NULL for JSON */
	struct bt_buf *error;
	struct bt_buf strict; /* nonfatal errors, joined by ", " */
	size_t base;	      /* where the cursor's text begins in json */
	size_t line;	      /* of the first fault */
};

struct type_meta {
	struct bt_str api_version, kind;
};

struct api_version {
	struct bt_str group, version;
};

static void note_line(struct decode *decode, size_t offset)
{
	size_t column;

	if (decode->line) {
		return;
	}
	offset += decode->base;
	if (decode->yaml) {
		decode->line = bt_yaml_line(decode->yaml, offset);
	} else {
		bt_json_place(decode->json, offset, &decode->line, &column);
	}
}

static void add_strict(struct decode *decode, struct bt_str text)
{
	bt_buf_text(&decode->strict, decode->strict.len ? ", " : "");
	bt_buf_str(&decode->strict, text);
}

/* ---- kind and version ---- */

#define META_TYPE                                                                                            \
	"struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "                     \
	"\"json:\\\"kind,omitempty\\\"\" }"

/* Upstream matches kind and version case-insensitively, and rejects other spellings only afterwards. */
static bool is_named(struct bt_str key, const char *name)
{
	return key.len == strlen(name) && !strncasecmp(key.ptr, name, key.len);
}

/* Reads kind and version at the cursor, and moves it past the object. */
static bool read_meta(struct decode *decode, struct type_meta *out_meta)
{
	struct bt_json *json = decode->cursor;
	enum bt_json_type type = bt_json_peek(json);
	struct bt_str key, *field;
	bool ok = true;

	*out_meta = (struct type_meta){.kind = {.len = 0}};
	if (type == BT_JSON_NULL) {
		return bt_json_null(json);
	}
	if (type != BT_JSON_OBJECT) {
		note_line(decode, bt_json_offset(json));
		bt_buf_printf(decode->error,
			"couldn't get version/kind; json parse error: json: cannot unmarshal %s into Go "
			"value of type "
			"%s",
			bt_strict_type_word(type), META_TYPE);
		return false;
	}
	bt_json_enter_object(json);
	while (bt_json_next_key(json, &key)) {
		bool kind = is_named(key, "kind");

		type = bt_json_peek(json);
		if ((!kind && !is_named(key, "apiVersion")) || type == BT_JSON_NULL) {
			bt_json_skip(json);
			continue;
		}
		if (type != BT_JSON_STRING && ok) {
			note_line(decode, bt_json_offset(json));
			bt_buf_printf(decode->error,
				"couldn't get version/kind; json parse error: json: cannot unmarshal %s into "
				"Go struct "
				"field .%s of type string",
				bt_strict_type_word(type), kind ? "kind" : "apiVersion");
			ok = false;
		}
		field = kind ? &out_meta->kind : &out_meta->api_version;
		if (type != BT_JSON_STRING ? !bt_json_skip(json) : !bt_json_string(json, field)) {
			break;
		}
	}
	return ok;
}

static bool split_version(struct decode *decode, struct bt_str text, struct api_version *out_version)
{
	size_t slash = bt_str_find(text, '/', 0);

	*out_version = (struct api_version){.version = text};
	if (slash == text.len || text.len == 1) {
		out_version->version = slash == text.len ? text : (struct bt_str){.len = 0};
		return true;
	}
	if (bt_str_find(text, '/', slash + 1) < text.len) {
		note_line(decode, 0);
		bt_buf_printf(decode->error, "unexpected GroupVersion string: %.*s", BT_STR_ARG(text));
		return false;
	}
	out_version->group = bt_str_sub(text, 0, slash);
	out_version->version = bt_str_sub(text, slash + 1, text.len);
	return true;
}

/* The known kinds of the group: the configuration itself, and the arguments of plugins (out_args; NULL: it is
 * the configuration). */
static const struct bt_schema *find_kind(const struct decode *decode, const struct api_version *version,
	struct bt_str kind, const struct bt_plugin_args **out_args)
{
	*out_args = NULL;
	if (!bt_str_is(version->group, group) || !bt_str_is(version->version, "v1")) {
		return NULL;
	}
	if (bt_str_is(kind, config_kind)) {
		return bt_config_schema(decode->config->gates.release);
	}
	for (uint32_t id = 0; id < bt_plugin_n(); id++) {
		const struct bt_plugin_args *args = bt_plugin_at(id)->args;

		if (args && !args->raw && bt_str_is(kind, args->schema->go_name)) {
			*out_args = args;
			return args->schema;
		}
	}
	return NULL;
}

static void refuse_kind(struct decode *decode, const struct api_version *version, struct bt_str kind)
{
	struct bt_buf name = {.len = 0};

	note_line(decode, 0);
	bt_buf_str(&name, version->group);
	bt_buf_text(&name, version->group.len ? "/" : "");
	bt_buf_str(&name, version->version);
	bt_buf_text(decode->error, "no kind ");
	bt_quote(decode->error, kind);
	bt_buf_text(decode->error, " is registered for version ");
	bt_quote(decode->error, bt_buf_view(&name));
	bt_buf_text(decode->error, " in scheme \"pkg/runtime/scheme.go:111\"");
	bt_buf_fini(&name);
}

/* ---- fields ---- */

/* Runs the strict decoder at the cursor. Faults are added to out_faults; false with an error set when it
 * cannot continue. */
static bool decode_fields(
	struct decode *decode, const struct bt_schema *schema, void *out, struct bt_buf *out_faults)
{
	struct bt_strict strict = {
		.json = decode->cursor, .arena = &decode->config->arena, .sorted = decode->yaml};
	bool ok = bt_strict_decode(&strict, schema, out);

	if (strict.has_offset) {
		note_line(decode, strict.offset);
	}
	bt_buf_str(ok ? out_faults : decode->error, bt_buf_view(ok ? &strict.faults : &strict.fatal));
	bt_strict_fini(&strict);
	return ok;
}

/* ---- arguments of plugins ---- */

/* Upstream's prefix of errors inside the arguments, in two layers. */
static void prefix_args(struct bt_buf *buf, uint32_t profile_ix, uint32_t args_ix)
{
	bt_buf_printf(buf, "decoding .profiles[%u].pluginConfig[%u]: ", profile_ix, args_ix);
}

static void fill_version(struct api_version *version, struct bt_str *kind, const struct bt_schema *schema)
{
	if (!kind->len) {
		*kind = bt_str(schema->go_name);
	}
	if (!version->version.len && (!version->group.len || bt_str_is(version->group, group))) {
		*version = (struct api_version){.group = bt_str(group), .version = bt_str("v1")};
	}
}

/* Decodes by the kind that the arguments name, which should be the plugin's, and only then compares the two.
 */
static bool decode_typed_args(struct decode *decode, struct bt_config_args *args, struct bt_buf *out_faults,
	struct bt_str *out_kind)
{
	const struct bt_schema *own = args->type->schema, *schema;
	const struct bt_plugin_args *type;
	void *ignored = NULL;
	struct bt_json_mark mark = bt_json_mark(decode->cursor);
	struct type_meta meta;
	struct api_version version;
	bool ok;

	if (!read_meta(decode, &meta) || !split_version(decode, meta.api_version, &version)) {
		return false;
	}
	fill_version(&version, &meta.kind, own);
	schema = find_kind(decode, &version, meta.kind, &type);
	if (!schema) {
		refuse_kind(decode, &version, meta.kind);
		return false;
	}
	*out_kind = meta.kind;
	bt_json_seek(decode->cursor, mark);
	if (bt_json_peek(decode->cursor) == BT_JSON_NULL) {
		return true;
	}
	if (schema != own) {
		ignored = bt_mem_zalloc(1, schema->bytes);
	}
	ok = decode_fields(decode, schema, ignored ? ignored : args->value, out_faults);
	bt_mem_free(ignored);
	return ok;
}

static bool decode_args(
	struct decode *decode, struct bt_config_args *args, uint32_t profile_ix, uint32_t args_ix)
{
	struct bt_buf faults = {.len = 0}, inner = {.len = 0}, *error = decode->error;
	struct bt_str kind = {.len = 0}, raw = args->raw;
	bool ok;

	decode->base = (size_t)(raw.ptr - decode->json.ptr);
	bt_json_begin(decode->cursor, raw, &decode->config->arena);
	decode->error = &inner;
	ok = decode_typed_args(decode, args, &faults, &kind);
	decode->error = error;
	if (!ok) {
		prefix_args(error, profile_ix, args_ix);
		bt_buf_printf(error, "decoding args for plugin %.*s: %.*s", BT_STR_ARG(args->name),
			BT_STR_ARG(bt_buf_view(&inner)));
	} else if (!bt_str_is(kind, args->type->schema->go_name)) {
		note_line(decode, 0);
		prefix_args(error, profile_ix, args_ix);
		bt_buf_printf(error, "args for plugin %.*s were not of type %s.%s, got %.*s.%s",
			BT_STR_ARG(args->name), args->type->schema->go_name, group, BT_STR_ARG(kind), group);
		ok = false;
	} else if (faults.len) {
		bt_buf_text(&decode->strict, decode->strict.len ? ", " : "");
		prefix_args(&decode->strict, profile_ix, args_ix);
		bt_buf_printf(&decode->strict,
			"strict decoding error: decoding args for plugin %.*s: strict decoding error: %.*s",
			BT_STR_ARG(args->name), BT_STR_ARG(bt_buf_view(&faults)));
	}
	bt_buf_fini(&faults);
	bt_buf_fini(&inner);
	return ok;
}

/* Leaves out the blanks between the tokens of a JSON text. */
static struct bt_str compact(struct decode *decode, struct bt_str json)
{
	char *text = bt_arena_zalloc(&decode->config->arena, json.len + 1);
	bool quoted = false;
	size_t n = 0;

	for (size_t i = 0; i < json.len; i++) {
		char c = json.ptr[i];

		if (quoted && c == '\\') {
			text[n++] = c;
			c = json.ptr[++i];
		} else if (c == '"') {
			quoted = !quoted;
		}
		if (quoted || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) {
			text[n++] = c;
		}
	}
	return (struct bt_str){text, n};
}

/* Arguments of plugins without a type, or that read them themselves, stay text, without blanks. */
static bool decode_all_args(struct decode *decode)
{
	for (uint32_t i = 0; i < decode->config->profile_n; i++) {
		struct bt_profile_config *profile = &decode->config->profiles[i];

		for (uint32_t k = 0; k < profile->arg_n; k++) {
			struct bt_config_args *args = &profile->args[k];

			bt_config_args_init(decode->config, args);
			if (!args->type || !args->raw.len) {
				args->raw = compact(decode, args->raw);
				continue;
			}
			if (args->type->raw) {
				args->raw = compact(decode, args->raw);
				((struct bt_raw_args *)args->value)->json = args->raw;
				continue;
			}
			if (!decode_args(decode, args, i, k)) {
				return false;
			}
			args->raw = (struct bt_str){.len = 0};
		}
	}
	return true;
}

/* ---- the file ---- */

static void refuse_missing(struct decode *decode, const char *what)
{
	bt_buf_printf(decode->error, "Object '%s' is missing in '%.*s'", what, BT_STR_ARG(decode->file));
}

/* Whether the text is one whole JSON value; upstream checks that before anything else. */
static bool check_syntax(struct decode *decode)
{
	struct bt_json *json = decode->cursor;
	const struct bt_json_error *error;

	bt_json_begin(json, decode->json, &decode->config->arena);
	bt_json_skip(json);
	error = bt_json_error(json);
	if (error->status != BT_OK || bt_json_more(json)) {
		size_t offset = error->offset;

		bt_buf_text(decode->error, "couldn't get version/kind; json parse error: ");
		if (!bt_json_error_text(decode->json, decode->error, &offset)) {
			bt_buf_text(decode->error, error->text);
		}
		note_line(decode, offset);
		return false;
	}
	bt_json_begin(json, decode->json, &decode->config->arena);
	return true;
}

static bool decode_whole(struct decode *decode)
{
	struct bt_buf faults = {.len = 0};
	const struct bt_plugin_args *args;
	void *unused = NULL;
	const struct bt_schema *schema;
	struct api_version version;
	struct type_meta meta;
	bool ok;

	if (!read_meta(decode, &meta) || !split_version(decode, meta.api_version, &version)) {
		return false;
	}
	if (!meta.kind.len || !version.version.len) {
		refuse_missing(decode, meta.kind.len ? "apiVersion" : "Kind");
		return false;
	}
	schema = find_kind(decode, &version, meta.kind, &args);
	if (!schema) {
		refuse_kind(decode, &version, meta.kind);
		return false;
	}
	bt_json_begin(decode->cursor, decode->json, &decode->config->arena);
	if (args) {
		unused = bt_mem_zalloc(1, schema->bytes);
	}
	ok = decode_fields(decode, schema, args ? unused : decode->config, &faults);
	bt_mem_free(unused);
	if (ok && faults.len) {
		add_strict(decode, bt_buf_view(&faults));
	}
	bt_buf_fini(&faults);
	if (!ok || (!args && !decode_all_args(decode))) {
		return false;
	}
	if (decode->strict.len) {
		bt_buf_printf(decode->error, "strict decoding error: %.*s",
			BT_STR_ARG(bt_buf_view(&decode->strict)));
		return false;
	}
	if (args) {
		bt_buf_printf(decode->error,
			"couldn't decode as KubeSchedulerConfiguration, got %s/v1, Kind=%.*s: ", group,
			BT_STR_ARG(meta.kind));
		return false;
	}
	return true;
}

/* Upstream lists keys that appear twice before all other faults. */
static void report_duplicate(void *context, struct bt_str key, size_t line)
{
	struct decode *decode = context;

	decode->line = decode->line ? decode->line : line;
	bt_buf_text(&decode->strict, decode->strict.len ? "" : "yaml: unmarshal errors:");
	bt_buf_printf(&decode->strict, "\n  line %zu: key %.*s already set in map", line, BT_STR_ARG(key));
}

static void refuse_yaml(struct decode *decode, const struct bt_yaml_error *error)
{
	size_t line = error->problem ? error->problem_line : error->line;

	decode->line = error->line;
	bt_buf_text(decode->error, "yaml: ");
	if (line) {
		bt_buf_printf(decode->error, "line %zu: ", line);
	}
	bt_buf_text(decode->error, error->problem ? error->problem : error->message);
}

/* As upstream, JSON starts with a brace; anything else is YAML, of which the first document is used. */
static bool find_json(struct decode *decode)
{
	struct bt_arena *arena = &decode->config->arena;
	struct bt_str json = decode->file;
	enum bt_status status;
	size_t i = 0;

	while (i < json.len && strchr(" \t\r\n", json.ptr[i]) && json.ptr[i]) {
		i++;
	}
	if (i == json.len || json.ptr[i] != '{') {
		decode->yaml = bt_yaml_create();
		bt_yaml_begin(decode->yaml, decode->file);
		bt_yaml_report_duplicates(decode->yaml, report_duplicate, decode);
		status = bt_yaml_next(decode->yaml, &json);
		if (status == BT_NOT_FOUND) {
			json = bt_str("null");
		} else if (status != BT_OK) {
			refuse_yaml(decode, bt_yaml_error(decode->yaml));
			return false;
		}
	}
	decode->json = (struct bt_str){bt_arena_copy(arena, json.ptr, json.len), json.len};
	return true;
}

/* Returns: BT_OK; else upstream's text is appended to out_error and out_line is its line, or 0 when it has
 * none. Nothing is defaulted or validated. */
static enum bt_status config_decode(
	struct bt_config *config, struct bt_str text, struct bt_buf *out_error, size_t *out_line)
{
	struct decode decode = {.config = config, .file = text, .error = out_error};
	bool ok;

	*out_line = 0;
	if (text.len > BT_CONFIG_FILE_BYTES) {
		bt_buf_printf(out_error, "the configuration has %zu bytes, more than the %u that are read",
			text.len, BT_CONFIG_FILE_BYTES);
		return BT_RANGE;
	}
	decode.cursor = bt_json_create();
	ok = find_json(&decode) && check_syntax(&decode) && decode_whole(&decode);
	*out_line = ok ? 0 : decode.line;
	if (decode.yaml) {
		bt_yaml_destroy(decode.yaml);
	}
	bt_json_destroy(decode.cursor);
	bt_buf_fini(&decode.strict);
	return ok ? BT_OK : BT_INVALID;
}

enum bt_status bt_config_load(
	struct bt_config *config, const char *file, struct bt_str text, struct bt_buf *out_error)
{
	struct bt_config_errors errors = {.n = 0};
	struct bt_buf why = {.len = 0};
	size_t line;
	enum bt_status status = config_decode(config, text, &why, &line);

	if (status == BT_OK) {
		bt_config_default(config);
		status = bt_config_validate(config, &errors);
	}
	if (status == BT_OK) {
		status = bt_config_check_profiles(config, &errors);
	}
	if (errors.n) {
		bt_config_errors_text(&errors, &why);
	}
	if (status != BT_OK) {
		bt_buf_text(out_error, file);
		if (line) {
			bt_buf_printf(out_error, ":%zu", line);
		}
		bt_buf_printf(out_error, ": %.*s", BT_STR_ARG(bt_buf_view(&why)));
	}
	bt_config_errors_fini(&errors);
	bt_buf_fini(&why);
	return status;
}
