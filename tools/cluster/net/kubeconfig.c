/* SPDX-License-Identifier: Apache-2.0
 * Kubeconfig files: resolves context, cluster and user. Entries stay text until one is chosen, so errors in
 * the others do no harm. Source: client-go's tools/clientcmd, v0.36.3: the first of several files that has an
 * entry, or a current context, decides.
 */
#include "tools/cluster/net/plan_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "tools/format/base64.h"
#include "tools/format/diagnosis.h"
#include "tools/format/schema.h"
#include "tools/format/yaml.h"

#define FILE_SIZE (8u << 20)
#define NAMES_MAX 10 /* names listed in an error */

/* A named entry, whose rest is still text. */
struct kubeconfig_entry {
	struct bt_str name, text;
};

struct entries {
	struct kubeconfig_entry *items;
	uint32_t n;
};

struct file {
	const char *path;
	struct bt_buf text;
	struct bt_yaml *yaml;
	struct bt_str json; /* of yaml */
	struct bt_str kind, current_context;
	struct entries clusters, users, contexts;
};

struct kubeconfig_reading {
	struct file files[BT_KUBECONFIG_MAX];
	uint32_t file_n;
	struct bt_json *cursor;
	struct bt_client_config_plan *plan;
	struct bt_buf *error;
};

struct context {
	struct bt_str cluster, user, namespace_;
};

struct extension {
	struct bt_str name, text;
};

struct cluster {
	struct bt_str server, tls_server_name, proxy_url, authority_file, authority_data;
	bool insecure, disable_compression;
	struct extension *extensions;
	uint32_t extension_n;
};

struct values {
	struct bt_str key;
	struct bt_str_list list;
};

struct user {
	struct bt_str certificate_file, certificate_data, key_file, key_data, token, token_file;
	struct bt_str username, password, as, as_uid, provider;
	struct bt_str_list as_groups;
	struct bt_str as_extra;
	bool has_exec;
	struct bt_exec_plan exec;
};

/* ---- tables ---- */

#define FIELD(json, kind, owner, member)                                                                     \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(owner, member)             \
	}
#define ENTRIES(json, member, of)                                                                            \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_ARRAY, .offset = offsetof(struct file, member.items), \
		.count = BT_MEMBER(struct file, member.n), .schema = (of)                                    \
	}

static const struct bt_field cluster_entry_fields[] = {
	FIELD("cluster", RAW, struct kubeconfig_entry, text),
	FIELD("name", STR, struct kubeconfig_entry, name),
};
static const struct bt_schema cluster_entry_schema = BT_SCHEMA(cluster_entry_fields, struct kubeconfig_entry);

static const struct bt_field context_entry_fields[] = {
	FIELD("context", RAW, struct kubeconfig_entry, text),
	FIELD("name", STR, struct kubeconfig_entry, name),
};
static const struct bt_schema context_entry_schema = BT_SCHEMA(context_entry_fields, struct kubeconfig_entry);

static const struct bt_field user_entry_fields[] = {
	FIELD("name", STR, struct kubeconfig_entry, name),
	FIELD("user", RAW, struct kubeconfig_entry, text),
};
static const struct bt_schema user_entry_schema = BT_SCHEMA(user_entry_fields, struct kubeconfig_entry);

static const struct bt_field file_fields[] = {
	ENTRIES("clusters", clusters, &cluster_entry_schema),
	ENTRIES("contexts", contexts, &context_entry_schema),
	FIELD("current-context", STR, struct file, current_context),
	FIELD("kind", STR, struct file, kind),
	ENTRIES("users", users, &user_entry_schema),
};
static const struct bt_schema file_schema = BT_SCHEMA(file_fields, struct file);

static const struct bt_field context_fields[] = {
	FIELD("cluster", STR, struct context, cluster),
	FIELD("namespace", STR, struct context, namespace_),
	FIELD("user", STR, struct context, user),
};
static const struct bt_schema context_schema = BT_SCHEMA(context_fields, struct context);

static const struct bt_field extension_fields[] = {
	FIELD("extension", RAW, struct extension, text),
	FIELD("name", STR, struct extension, name),
};
static const struct bt_schema extension_schema = BT_SCHEMA(extension_fields, struct extension);

static const struct bt_field cluster_fields[] = {
	FIELD("certificate-authority", STR, struct cluster, authority_file),
	FIELD("certificate-authority-data", STR, struct cluster, authority_data),
	FIELD("disable-compression", BOOL, struct cluster, disable_compression),
	{.name = BT_STR("extensions"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct cluster, extensions),
		.count = BT_MEMBER(struct cluster, extension_n),
		.schema = &extension_schema},
	FIELD("insecure-skip-tls-verify", BOOL, struct cluster, insecure),
	FIELD("proxy-url", STR, struct cluster, proxy_url),
	FIELD("server", STR, struct cluster, server),
	FIELD("tls-server-name", STR, struct cluster, tls_server_name),
};
static const struct bt_schema cluster_schema = BT_SCHEMA(cluster_fields, struct cluster);

static const struct bt_field env_fields[] = {
	FIELD("name", STR, struct bt_exec_env, name),
	FIELD("value", STR, struct bt_exec_env, value),
};
static const struct bt_schema env_schema = BT_SCHEMA(env_fields, struct bt_exec_env);

static const struct bt_field exec_fields[] = {
	FIELD("apiVersion", STR, struct bt_exec_plan, api_version),
	FIELD("args", STR_LIST, struct bt_exec_plan, args),
	FIELD("command", STR, struct bt_exec_plan, command),
	{.name = BT_STR("env"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct bt_exec_plan, env),
		.count = BT_MEMBER(struct bt_exec_plan, env_n),
		.schema = &env_schema},
	FIELD("installHint", STR, struct bt_exec_plan, install_hint),
	FIELD("interactiveMode", STR, struct bt_exec_plan, interactive_mode),
	FIELD("provideClusterInfo", BOOL, struct bt_exec_plan, cluster),
};
static const struct bt_schema exec_schema = BT_SCHEMA(exec_fields, struct bt_exec_plan);

static const struct bt_field user_fields[] = {
	FIELD("as", STR, struct user, as),
	FIELD("as-groups", STR_LIST, struct user, as_groups),
	FIELD("as-uid", STR, struct user, as_uid),
	FIELD("as-user-extra", RAW, struct user, as_extra),
	FIELD("auth-provider", RAW, struct user, provider),
	FIELD("client-certificate", STR, struct user, certificate_file),
	FIELD("client-certificate-data", STR, struct user, certificate_data),
	FIELD("client-key", STR, struct user, key_file),
	FIELD("client-key-data", STR, struct user, key_data),
	{.name = BT_STR("exec"),
		.type = BT_FIELD_OBJECT,
		.offset = offsetof(struct user, exec),
		.flag = BT_MEMBER(struct user, has_exec),
		.schema = &exec_schema},
	FIELD("password", STR, struct user, password),
	FIELD("token", STR, struct user, token),
	FIELD("tokenFile", STR, struct user, token_file),
	FIELD("username", STR, struct user, username),
};
static const struct bt_schema user_schema = BT_SCHEMA(user_fields, struct user);

/* ---- errors ---- */

/* at: a byte of the file's JSON, or NULL. Always returns false. */
static bool kubeconfig_fail(struct kubeconfig_reading *reading, const struct file *file, const char *at,
	const char *path, const char *message, const char *remedy)
{
	struct bt_diagnosis diagnosis = {
		.file = file ? file->path : NULL, .path = path, .message = message, .remedy = remedy};

	if (file && at && at >= file->json.ptr && at <= file->json.ptr + file->json.len) {
		diagnosis.line = bt_yaml_line(file->yaml, (size_t)(at - file->json.ptr));
	}
	bt_diagnosis_text(&diagnosis, reading->error);
	return false;
}

/* ---- one file ---- */

static bool read_bytes(struct kubeconfig_reading *reading, struct file *file, int fd)
{
	ssize_t n = 1;

	while (n > 0 && file->text.len <= FILE_SIZE) {
		bt_buf_reserve(&file->text, 64u << 10);
		n = read(fd, file->text.ptr + file->text.len, 64u << 10);
		file->text.len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0) {
		return kubeconfig_fail(
			reading, file, NULL, NULL, strerror(errno), "it must be a file that can be read");
	}
	return file->text.len <= FILE_SIZE ||
	       kubeconfig_fail(reading, file, NULL, NULL, "more than 8 MiB", "is it a kubeconfig?");
}

/* Decodes a part of a file's JSON into a struct. */
static bool decode(struct kubeconfig_reading *reading, struct file *file, struct bt_str text,
	const struct bt_schema *schema, const struct bt_path *path, void *out)
{
	struct bt_decode decode = {.json = reading->cursor, .arena = &reading->plan->arena, .path = path};

	bt_json_begin(reading->cursor, text, &reading->plan->arena);
	if (bt_schema_decode(&decode, schema, out)) {
		return true;
	}
	return kubeconfig_fail(reading, file, text.ptr + decode.error.offset, decode.error.path,
		decode.error.message, decode.error.remedy);
}

static bool parse_file(struct kubeconfig_reading *reading, struct file *file)
{
	const struct bt_yaml_error *bad;

	file->yaml = bt_yaml_create();
	bt_yaml_begin(file->yaml, bt_buf_view(&file->text));
	enum bt_status status = bt_yaml_next(file->yaml, &file->json);

	if (status == BT_NOT_FOUND) {
		return true; /* an empty file has no entries */
	}
	if (status != BT_OK) {
		bad = bt_yaml_error(file->yaml);
		struct bt_diagnosis diagnosis = {.file = file->path,
			.line = bad->line,
			.column = bad->column,
			.message = bad->message,
			.remedy = bad->remedy};

		bt_diagnosis_text(&diagnosis, reading->error);
		return false;
	}
	if (!decode(reading, file, file->json, &file_schema, NULL, file)) {
		return false;
	}
	return !file->kind.len || bt_str_is(file->kind, "Config") ||
	       kubeconfig_fail(
		       reading, file, file->kind.ptr, "kind", "not a kubeconfig", "kind must be Config");
}

/* Returns: false on an error; a missing file is skipped unless needed. */
static bool read_file(struct kubeconfig_reading *reading, const char *path, bool needed)
{
	struct file *file = &reading->files[reading->file_n];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*file = (struct file){.path = path};
	if (fd < 0 && errno == ENOENT && !needed) {
		return true;
	}
	if (fd < 0) {
		return kubeconfig_fail(reading, file, NULL, NULL, strerror(errno),
			"a kubeconfig must be a file that can be read");
	}
	reading->plan->sources[reading->file_n++] = bt_arena_copy(&reading->plan->arena, path, strlen(path));
	bool good = read_bytes(reading, file, fd) && parse_file(reading, file);

	close(fd);
	return good;
}

static void forget_file(struct file *file)
{
	union {
		const char *from;
		void *to;
	} json = {.from = file->json.ptr}; /* the converter's memory, ours until it is destroyed */

	if (json.to) {
		explicit_bzero(json.to, file->json.len);
	}
	if (file->yaml) {
		bt_yaml_destroy(file->yaml);
	}
	bt_secret_buf_fini(&file->text);
}

/* ---- entries ---- */

static struct entries *entries_of(struct file *file, const char *kind)
{
	return !strcmp(kind, "cluster") ? &file->clusters
	       : !strcmp(kind, "user")	? &file->users
					: &file->contexts;
}

/* Appends the available names. */
static void name_entries(struct kubeconfig_reading *reading, const char *kind, struct bt_buf *out)
{
	uint32_t n = 0;

	bt_buf_text(out, !strcmp(kind, "context") ? "set current-context to one of contexts: "
						  : "the context must name one of the kubeconfig: ");
	for (uint32_t f = 0; f < reading->file_n; f++) {
		const struct entries *entries = entries_of(&reading->files[f], kind);

		for (uint32_t i = 0; i < entries->n; i++, n++) {
			if (n < NAMES_MAX) {
				bt_buf_printf(
					out, "%s%.*s", n ? ", " : "", BT_STR_ARG(entries->items[i].name));
			}
		}
	}
	bt_buf_text(out, !n ? "it has none" : n > NAMES_MAX ? ", and more" : "");
}

/* Finds the entry of a name in the first file that has one, and decodes it. */
static bool choose(struct kubeconfig_reading *reading, const char *kind, struct bt_str name,
	const struct bt_schema *schema, void *out, struct file **out_file,
	struct kubeconfig_entry **out_entry)
{
	struct bt_buf message = {0}, remedy = {0};

	for (uint32_t f = 0; f < reading->file_n; f++) {
		struct file *file = &reading->files[f];
		struct entries *entries = entries_of(file, kind);

		for (uint32_t i = 0; i < entries->n; i++) {
			struct kubeconfig_entry *entry = &entries->items[i];
			struct bt_str plural = bt_str(!strcmp(kind, "cluster") ? "clusters"
						      : !strcmp(kind, "user")  ? "users"
									       : "contexts");
			struct bt_path list = {.key = plural};
			struct bt_path item = {.up = &list, .index = i};
			struct bt_path path = {.up = &item, .key = bt_str(kind)};

			if (!bt_str_eq(entry->name, name)) {
				continue;
			}
			*out_file = file;
			*out_entry = entry;
			return !entry->text.len || bt_str_is(entry->text, "null") ||
			       decode(reading, file, entry->text, schema, &path, out);
		}
	}
	bt_buf_printf(&message, "there is no %s named \"%.*s\"", kind, BT_STR_ARG(name));
	name_entries(reading, kind, &remedy);
	kubeconfig_fail(
		reading, reading->file_n ? &reading->files[0] : NULL, NULL, NULL, message.ptr, remedy.ptr);
	bt_buf_fini(&message);
	bt_buf_fini(&remedy);
	return false;
}

static struct bt_str kubeconfig_keep(struct kubeconfig_reading *reading, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&reading->plan->arena, text.ptr, text.len), text.len};
}

static struct bt_str_list keep_list(struct kubeconfig_reading *reading, struct bt_str_list list)
{
	struct bt_str_list copy = list;

	copy.items = bt_arena_zalloc(&reading->plan->arena, (list.n + 1) * sizeof(*copy.items));
	for (uint32_t i = 0; i < list.n; i++) {
		copy.items[i] = kubeconfig_keep(reading, list.items[i]);
	}
	return copy;
}

/* A path in a file is relative to the file's folder. */
static const char *keep_path(struct kubeconfig_reading *reading, const struct file *file, struct bt_str path)
{
	const char *slash = strrchr(file->path, '/');
	struct bt_buf whole = {0};

	if (!path.len) {
		return NULL;
	}
	if (path.ptr[0] != '/' && slash) {
		bt_buf_add(&whole, file->path, (size_t)(slash - file->path) + 1);
	}
	bt_buf_str(&whole, path);
	const char *kept = kubeconfig_keep(reading, bt_buf_view(&whole)).ptr;

	bt_buf_fini(&whole);
	return kept;
}

static bool keep_data(struct kubeconfig_reading *reading, const struct file *file, struct bt_str data,
	const char *field, struct bt_secret *out)
{
	struct bt_buf bytes = {0};

	if (!data.len) {
		return true;
	}
	size_t bad;
	bool good = bt_base64_decode(data, &bytes, &bad);

	if (good) {
		bt_secret_set(out, bytes.ptr, bytes.len);
	}
	bt_secret_buf_fini(&bytes);
	return good || kubeconfig_fail(reading, file, data.ptr, field, "not base64",
			       "it must be the PEM file in base64, on one line (base64 -w0 FILE)");
}

static void keep_secret(struct bt_str text, struct bt_secret *out)
{
	if (text.len) {
		bt_secret_set(out, text.ptr, text.len);
	}
}

/* ---- the chosen entries ---- */

static bool take_cluster(struct kubeconfig_reading *reading, struct bt_str name, bool server_is_given)
{
	struct bt_client_config_plan *plan = reading->plan;
	struct cluster cluster = {0};
	struct kubeconfig_entry *entry;
	struct bt_buf unused = {0};
	struct file *file;

	if (!choose(reading, "cluster", name, &cluster_schema, &cluster, &file, &entry)) {
		return false;
	}
	if (!cluster.server.len && !server_is_given) {
		return kubeconfig_fail(reading, file, entry->text.ptr, "cluster.server",
			"the cluster has no server",
			"it must be the URL of the API server, such as https://10.0.0.1:6443");
	}
	if (cluster.insecure && (cluster.authority_file.len || cluster.authority_data.len)) {
		return kubeconfig_fail(reading, file, entry->text.ptr, "cluster.insecure-skip-tls-verify",
			"the server shall not be verified, yet a certificate authority is given",
			"remove one of them");
	}
	if (cluster.proxy_url.len && !bt_proxy_url(cluster.proxy_url, &unused)) {
		return kubeconfig_fail(reading, file, entry->text.ptr, "cluster.proxy-url",
			"not the URL of a proxy", "its scheme must be http, https or socks5");
	}
	bt_buf_fini(&unused);
	plan->server = kubeconfig_keep(reading, cluster.server);
	plan->tls_server_name = kubeconfig_keep(reading, cluster.tls_server_name);
	plan->proxy_url = kubeconfig_keep(reading, cluster.proxy_url);
	plan->proxy_from_environment = !cluster.proxy_url.len;
	plan->insecure = cluster.insecure;
	plan->disable_compression = cluster.disable_compression;
	plan->authority_file = keep_path(reading, file, cluster.authority_file);
	for (uint32_t i = 0; i < cluster.extension_n; i++) {
		if (bt_str_is(cluster.extensions[i].name, "client.authentication.k8s.io/exec")) {
			plan->exec.cluster_config = kubeconfig_keep(reading, cluster.extensions[i].text);
		}
	}
	return keep_data(reading, file, cluster.authority_data, "cluster.certificate-authority-data",
		&plan->authority);
}

static bool take_exec(struct kubeconfig_reading *reading, const struct file *file,
	const struct kubeconfig_entry *entry, const struct bt_exec_plan *from)
{
	struct bt_exec_plan *to = &reading->plan->exec;
	const char *at = entry->text.ptr;
	bool v1 = bt_str_is(from->api_version, "client.authentication.k8s.io/v1");

	if (!from->command.len) {
		return kubeconfig_fail(
			reading, file, at, "user.exec.command", "no command", "name the plugin to run");
	}
	if (!v1 && !bt_str_is(from->api_version, "client.authentication.k8s.io/v1beta1")) {
		return kubeconfig_fail(reading, file, at, "user.exec.apiVersion", "not a version of this API",
			"it must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
	}
	if (!bt_str_is(from->interactive_mode, "Never") &&
		!bt_str_is(from->interactive_mode, "IfAvailable") &&
		!bt_str_is(from->interactive_mode, "Always") && (v1 || from->interactive_mode.len)) {
		return kubeconfig_fail(reading, file, at, "user.exec.interactiveMode", "not a mode",
			"it must be Never, IfAvailable or Always");
	}
	struct bt_str config = to->cluster_config;

	*to = (struct bt_exec_plan){.cluster = from->cluster, .cluster_config = config, .env_n = from->env_n};
	to->command = kubeconfig_keep(reading, from->command);
	/* A command with a slash is a path relative to the file, as in client-go. */
	if (bt_str_find(from->command, '/', 0) < from->command.len) {
		to->command = bt_str(keep_path(reading, file, from->command));
	}
	to->api_version = kubeconfig_keep(reading, from->api_version);
	to->interactive_mode = kubeconfig_keep(reading, from->interactive_mode);
	to->install_hint = kubeconfig_keep(reading, from->install_hint);
	to->args = keep_list(reading, from->args);
	to->env = bt_arena_zalloc(&reading->plan->arena, (from->env_n + 1) * sizeof(*to->env));
	for (uint32_t i = 0; i < from->env_n; i++) {
		if (!from->env[i].name.len) {
			return kubeconfig_fail(reading, file, at, "user.exec.env",
				"a variable without a name", "each entry must have a name and a value");
		}
		to->env[i] = (struct bt_exec_env){kubeconfig_keep(reading, from->env[i].name),
			kubeconfig_keep(reading, from->env[i].value)};
	}
	reading->plan->has_exec = true;
	return true;
}

/* as-user-extra: lists of strings by key. */
static bool take_extra(struct kubeconfig_reading *reading, struct file *file, struct bt_str text)
{
	struct bt_client_config_plan *plan = reading->plan;
	struct bt_arena *arena = &plan->arena;
	struct bt_json *json = reading->cursor;
	struct bt_str_list keys = {0};
	size_t key_cap = 0, value_cap = 0;
	struct bt_str_list *values = NULL;
	struct bt_str key, value;

	bt_json_begin(json, text, arena);
	for (bool more = bt_json_enter_object(json); more && bt_json_next_key(json, &key);) {
		struct bt_str_list list = {0};
		size_t cap = 0;

		for (more = bt_json_enter_array(json); more && bt_json_next_element(json);) {
			more = bt_json_string(json, &value);
			list.items = bt_mem_grow(list.items, list.n, &cap, sizeof(*list.items));
			list.items[list.n++] = more ? kubeconfig_keep(reading, value) : (struct bt_str){0};
		}
		keys.items = bt_mem_grow(keys.items, keys.n, &key_cap, sizeof(*keys.items));
		values = bt_mem_grow(values, keys.n, &value_cap, sizeof(*values));
		keys.items[keys.n] = kubeconfig_keep(reading, key);
		values[keys.n++] = keep_list(reading, list);
		bt_mem_free(list.items);
	}
	plan->as_extra_keys = keep_list(reading, keys);
	plan->as_extra_values = bt_arena_zalloc(arena, (keys.n + 1) * sizeof(*values));
	for (uint32_t i = 0; i < keys.n; i++) {
		plan->as_extra_values[i] = values[i];
	}
	bt_mem_free(keys.items);
	bt_mem_free(values);
	return bt_json_error(json)->status == BT_OK ||
	       kubeconfig_fail(reading, file, text.ptr, "user.as-user-extra", "not lists of strings by key",
		       "write it as {\"key\": [\"value\"]}");
}

/* Rejects fields of a user that exclude each other. Source: client-go's clientcmd validation, v0.36.3. */
static bool check_user(struct kubeconfig_reading *reading, const struct file *file,
	const struct kubeconfig_entry *entry, const struct user *user)
{
	const char *at = entry->text.ptr;
	bool certificate = user->certificate_file.len || user->certificate_data.len;
	bool basic = user->username.len || user->password.len;

	if (user->token.len && basic) {
		return kubeconfig_fail(reading, file, at, "user",
			"both a token and a username with a password", "only one is allowed");
	}
	if (certificate && !user->key_file.len && !user->key_data.len) {
		return kubeconfig_fail(reading, file, at, "user.client-key",
			"a client certificate without its key",
			"client-key or client-key-data must be given");
	}
	if (user->provider.len && !bt_str_is(user->provider, "null")) {
		return kubeconfig_fail(reading, file, at, "user.auth-provider", "auth providers are no more",
			"use an exec plugin (client.authentication.k8s.io/v1)");
	}
	if (!user->as.len && (user->as_uid.len || user->as_groups.n || user->as_extra.len)) {
		return kubeconfig_fail(reading, file, at, "user.as", "uid, groups or extra without a user",
			"set as to the user to impersonate");
	}
	return true;
}

static bool take_user(struct kubeconfig_reading *reading, struct bt_str name)
{
	struct bt_client_config_plan *plan = reading->plan;
	struct user user = {0};
	struct kubeconfig_entry *entry;
	struct file *file;

	if (!choose(reading, "user", name, &user_schema, &user, &file, &entry) ||
		!check_user(reading, file, entry, &user)) {
		return false;
	}
	plan->certificate_file = keep_path(reading, file, user.certificate_file);
	plan->key_file = keep_path(reading, file, user.key_file);
	plan->token_file = keep_path(reading, file, user.token_file);
	keep_secret(user.token, &plan->token);
	keep_secret(user.username, &plan->username);
	keep_secret(user.password, &plan->password);
	plan->as = kubeconfig_keep(reading, user.as);
	plan->as_uid = kubeconfig_keep(reading, user.as_uid);
	plan->as_groups = keep_list(reading, user.as_groups);
	return keep_data(reading, file, user.certificate_data, "user.client-certificate-data",
		       &plan->certificate) &&
	       keep_data(reading, file, user.key_data, "user.client-key-data", &plan->key) &&
	       (!user.has_exec || take_exec(reading, file, entry, &user.exec)) &&
	       (!user.as_extra.len || bt_str_is(user.as_extra, "null") ||
		       take_extra(reading, file, user.as_extra));
}

static bool take_context(struct kubeconfig_reading *reading, const char *wanted, bool server_is_given)
{
	struct bt_str name = bt_str(wanted);
	struct context context = {0};
	struct kubeconfig_entry *entry;
	struct file *file;

	for (uint32_t i = 0; i < reading->file_n && !name.len; i++) {
		name = reading->files[i].current_context;
	}
	if (!name.len && server_is_given) {
		return true;
	}
	if (!name.len) {
		struct bt_buf remedy = {0};

		name_entries(reading, "context", &remedy);
		kubeconfig_fail(reading, reading->file_n ? &reading->files[0] : NULL, NULL, "current-context",
			"no context is chosen", remedy.ptr);
		bt_buf_fini(&remedy);
		return false;
	}
	if (!choose(reading, "context", name, &context_schema, &context, &file, &entry)) {
		return false;
	}
	reading->plan->namespace_ = kubeconfig_keep(reading, context.namespace_);
	if (!context.cluster.len || !context.user.len) {
		return kubeconfig_fail(reading, file, entry->text.ptr, "context",
			context.cluster.len ? "no user" : "no cluster",
			"a context names a cluster and a user of the kubeconfig");
	}
	return take_cluster(reading, context.cluster, server_is_given) && take_user(reading, context.user);
}

/* ---- all ---- */

bool bt_kubeconfig_read(const char *files, const struct bt_client_config_options *options,
	struct bt_client_config_plan *out_plan, struct bt_buf *out_error)
{
	bool one = options->kubeconfig != NULL;
	struct kubeconfig_reading reading = {
		.plan = out_plan, .error = out_error, .cursor = bt_json_create()};
	char *list = bt_mem_copy(files, strlen(files)), *rest = list, *path;
	bool good = true;

	*out_plan = (struct bt_client_config_plan){.proxy_from_environment = true};
	while (good && (path = strsep(&rest, one ? "" : ":"))) {
		if (*path && reading.file_n == BT_KUBECONFIG_MAX) {
			good = kubeconfig_fail(&reading, NULL, NULL, "KUBECONFIG", "more than 16 files",
				"merge them into one");
		} else if (*path) {
			good = read_file(&reading, path, one);
		}
	}
	if (good && !reading.file_n && !options->master) {
		struct file none = {.path = files};

		good = kubeconfig_fail(&reading, &none, NULL, NULL, "no such file",
			"a kubeconfig must be a file that can be read");
	}
	good = good && take_context(&reading, options->context, options->master != NULL);
	for (uint32_t i = 0; i < reading.file_n; i++) {
		forget_file(&reading.files[i]);
	}
	bt_json_destroy(reading.cursor);
	bt_mem_free(list);
	if (!good) {
		bt_client_config_plan_fini(out_plan);
	}
	return good;
}
