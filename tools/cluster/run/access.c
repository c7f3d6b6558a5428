/* SPDX-License-Identifier: Apache-2.0
 * Client configs for API servers.
 */
#include "tools/cluster/run/access.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/cli/files.h"
#include "tools/cluster/run/sandbox.h"

char *bt_run_copy_text(struct bt_str text)
{
	char *copy = bt_mem_zalloc(text.len + 1, 1);

	memcpy(copy, text.len ? text.ptr : "", text.len);
	return copy;
}

/* The client config for reviews, if they have a separate kubeconfig. */
static bool make_review(const char *flag, const char *kubeconfig, struct bt_client_config **out_config,
	struct bt_buf *out_error)
{
	struct bt_buf why = {0};

	if (!kubeconfig) {
		return true;
	}
	*out_config =
		bt_client_config_create(&(struct bt_client_config_options){.kubeconfig = kubeconfig}, &why);
	if (!*out_config) {
		bt_buf_printf(out_error, "--%s: %s", flag, why.ptr);
	}
	bt_buf_fini(&why);
	return *out_config != NULL;
}

struct bt_run_access *bt_run_access_create(
	const struct bt_run_flags *flags, const struct bt_config *config, struct bt_buf *out_error)
{
	struct bt_run_access *access = bt_mem_zalloc(1, sizeof(*access));
	struct bt_str kubeconfig = config->client_connection.kubeconfig;

	access->flags = flags;
	access->kubeconfig = kubeconfig.len ? bt_run_copy_text(kubeconfig) : NULL;
	access->api = bt_client_config_create(
		&(struct bt_client_config_options){.kubeconfig = access->kubeconfig, .master = flags->master},
		out_error);
	if (access->api &&
		make_review("authentication-kubeconfig", flags->authentication_kubeconfig,
			&access->authentication, out_error) &&
		make_review("authorization-kubeconfig", flags->authorization_kubeconfig,
			&access->authorization, out_error)) {
		return access;
	}
	bt_run_access_destroy(access);
	return NULL;
}

void bt_run_access_destroy(struct bt_run_access *access)
{
	if (access) {
		bt_client_config_destroy(access->authentication);
		bt_client_config_destroy(access->authorization);
		bt_client_config_destroy(access->api);
		bt_mem_free(access->kubeconfig);
		bt_mem_free(access);
	}
}

bool bt_run_access_each_file(const struct bt_run_access *access, const struct bt_config *config,
	void (*file)(void *context, const char *path), void *context)
{
	const struct bt_client_config *all[] = {access->api, access->authentication, access->authorization};
	const struct bt_serve_settings *serving = &access->flags->serving;
	const char *files[] = {
		serving->cert_file, serving->key_file, serving->client_ca_file, serving->proxy_ca_file};
	bool programs = false;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		programs |= all[i] && bt_client_config_needs(all[i], file, context);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (files[i]) {
			file(context, files[i]);
		}
	}
	for (uint32_t i = 0; i < serving->sni_n; i++) {
		file(context, serving->sni[i].cert_file);
		file(context, serving->sni[i].key_file);
	}
	for (uint32_t i = 0; i < config->extender_n; i++) {
		const struct bt_extender_tls *tls = &config->extenders[i].tls;
		const struct bt_str paths[] = {tls->ca_file, tls->cert_file, tls->key_file};

		for (size_t n = 0; n < sizeof(paths) / sizeof(*paths); n++) {
			char *path = paths[n].len ? bt_run_copy_text(paths[n]) : NULL;

			if (path) {
				file(context, path);
			}
			bt_mem_free(path);
		}
	}
	return programs;
}

struct path_question {
	const char *path;
	bool is_read;
};

static void check_path(void *context, const char *path)
{
	struct path_question *question = context;

	question->is_read = question->is_read || bt_files_are_one(question->path, path);
}

bool bt_run_access_reads(const struct bt_run_access *access, const struct bt_config *config, const char *path)
{
	const struct bt_client_config *all[] = {access->api, access->authentication, access->authorization};
	struct path_question question = {.path = path};

	(void)bt_run_access_each_file(access, config, check_path, &question);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i]) {
			bt_client_config_sources(all[i], check_path, &question);
		}
	}
	return question.is_read;
}

static void allow_read(void *context, const char *path)
{
	bt_sandbox_read(context, path);
}

bool bt_run_access_confine(
	struct bt_run_access *access, const struct bt_config *config, struct bt_buf *out_error)
{
	struct bt_sandbox sandbox = {.port = access->flags->serving.port};

	if (access->confined) {
		return true;
	}
	access->confined = true;
	sandbox.programs = bt_run_access_each_file(access, config, allow_read, &sandbox);
	bt_sandbox_read(&sandbox, getenv("SSL_CERT_FILE"));
	bt_sandbox_read(&sandbox, getenv("OPENSSL_CONF"));
	bt_sandbox_write_in(&sandbox, access->flags->serving.cert_dir);
	bool good = bt_sandbox_enter(&sandbox, access->flags->sandbox, out_error);

	bt_sandbox_fini(&sandbox);
	return good;
}
