/* SPDX-License-Identifier: Apache-2.0
 * Runs a credential plugin. With a terminal that it may use, it inherits standard input and error. Otherwise
 * its input is empty, and the beginning of its standard error is forwarded. On timeout its process group is
 * killed. Children that outlive it may continue and are not waited for.
 */
#include "tools/cluster/net/exec_plugin_int.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "tools/format/base64.h"
#include "tools/format/schema.h"
#include "tools/format/time.h"
#include "tools/format/yaml.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/net/tls_int.h"

#define OUTPUT_BYTES  (1u << 20)
#define FORWARD_BYTES (64u << 10) /* of its standard error, that are forwarded */
#define EXEC_INFO     "KUBERNETES_EXEC_INFO"
#define NS_PER_MS     1000000
#define SLOW_NS	      INT64_C(10000000000) /* after that a message reports that it is slow */

extern char **environ;

struct status {
	bool set;
	struct bt_str token, certificate, key, expires;
};

struct exec_plugin_answer {
	struct bt_str kind, api_version;
	struct status status;
};

#define FIELD(json, kind, owner, member)                                                                     \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(owner, member)             \
	}

static const struct bt_field status_fields[] = {
	FIELD("clientCertificateData", STR, struct status, certificate),
	FIELD("clientKeyData", STR, struct status, key),
	FIELD("expirationTimestamp", STR, struct status, expires),
	FIELD("token", STR, struct status, token),
};
static const struct bt_schema status_schema = BT_SCHEMA(status_fields, struct status);

static const struct bt_field answer_fields[] = {
	FIELD("apiVersion", STR, struct exec_plugin_answer, api_version),
	FIELD("kind", STR, struct exec_plugin_answer, kind),
	{.name = BT_STR("status"),
		.type = BT_FIELD_OBJECT,
		.offset = offsetof(struct exec_plugin_answer, status),
		.flag = BT_MEMBER(struct exec_plugin_answer, status.set),
		.schema = &status_schema},
};
static const struct bt_schema answer_schema = BT_SCHEMA(answer_fields, struct exec_plugin_answer);

void bt_exec_credential_fini(struct bt_exec_credential *credential)
{
	bt_secret_fini(&credential->token);
	bt_secret_fini(&credential->certificate);
	bt_secret_fini(&credential->key);
	*credential = (struct bt_exec_credential){0};
}

static bool exec_plugin_fail(
	const struct bt_client_config_plan *plan, struct bt_buf *out_error, const char *message)
{
	bt_buf_printf(out_error, "exec plugin %.*s: %s", BT_STR_ARG(plan->exec.command), message);
	return false;
}

/* ---- the plugin's input ---- */

static void add_member(struct bt_buf *json, const char *name, struct bt_str value)
{
	if (value.len) {
		bt_buf_printf(json, ",\"%s\":", name);
		bt_quote_json(json, value);
	}
}

static void add_cluster(const struct bt_exec_call *call, struct bt_buf *json)
{
	const struct bt_client_config_plan *plan = call->plan;
	struct bt_buf authority = {0};

	bt_buf_text(json, ",\"cluster\":{\"server\":");
	bt_quote_json(json, bt_str(call->server));
	add_member(json, "tls-server-name", plan->tls_server_name);
	bt_base64_encode(call->authority, &authority);
	add_member(json, "certificate-authority-data", bt_buf_view(&authority));
	add_member(json, "proxy-url", plan->proxy_url);
	bt_buf_text(json, plan->insecure ? ",\"insecure-skip-tls-verify\":true" : "");
	bt_buf_text(json, plan->disable_compression ? ",\"disable-compression\":true" : "");
	if (plan->exec.cluster_config.len) {
		bt_buf_text(json, ",\"config\":");
		bt_buf_str(json, plan->exec.cluster_config);
	}
	bt_buf_char(json, '}');
	bt_buf_fini(&authority);
}

static void write_info(const struct bt_exec_call *call, bool interactive, struct bt_buf *out)
{
	const struct bt_client_config_plan *plan = call->plan;

	bt_buf_text(out, EXEC_INFO "={\"kind\":\"ExecCredential\",\"apiVersion\":");
	bt_quote_json(out, plan->exec.api_version);
	bt_buf_printf(out, ",\"spec\":{\"interactive\":%s", interactive ? "true" : "false");
	if (plan->exec.cluster) {
		add_cluster(call, out);
	}
	bt_buf_text(out, "}}");
}

static bool is_overridden(const struct bt_client_config_plan *plan, const char *variable)
{
	struct bt_str name = bt_str_sub(bt_str(variable), 0, bt_str_find(bt_str(variable), '=', 0));

	for (uint32_t i = 0; i < plan->exec.env_n; i++) {
		if (bt_str_eq(plan->exec.env[i].name, name)) {
			return true;
		}
	}
	return bt_str_is(name, EXEC_INFO);
}

/* Our environment, the kubeconfig's additions, and the info. Owns: free_list. */
static char **make_environment(const struct bt_client_config_plan *plan, const struct bt_buf *info)
{
	size_t n = 0;

	while (environ[n]) {
		n++;
	}
	char **list = bt_mem_zalloc(n + plan->exec.env_n + 2, sizeof(*list));

	n = 0;
	for (char **variable = environ; *variable; variable++) {
		if (!is_overridden(plan, *variable)) {
			list[n++] = bt_mem_copy(*variable, strlen(*variable));
		}
	}
	for (uint32_t i = 0; i < plan->exec.env_n; i++) {
		struct bt_buf pair = {0};

		bt_buf_str(&pair, plan->exec.env[i].name);
		bt_buf_char(&pair, '=');
		bt_buf_str(&pair, plan->exec.env[i].value);
		list[n++] = bt_mem_copy(pair.ptr, pair.len);
		bt_secret_buf_fini(&pair);
	}
	list[n] = bt_mem_copy(info->ptr, info->len);
	return list;
}

static char **make_arguments(const struct bt_exec_plan *exec)
{
	char **list = bt_mem_zalloc(exec->args.n + 2, sizeof(*list));

	list[0] = bt_mem_copy(exec->command.ptr, exec->command.len);
	for (uint32_t i = 0; i < exec->args.n; i++) {
		list[i + 1] = bt_mem_copy(exec->args.items[i].ptr, exec->args.items[i].len);
	}
	return list;
}

static void free_list(char **list)
{
	for (char **item = list; *item; item++) {
		explicit_bzero(*item, strlen(*item));
		bt_mem_free(*item);
	}
	bt_mem_free(list);
}

/* ---- the program ---- */

/* Returns: 0, or an errno. */
static int spawn(
	char **arguments, char **environment, bool interactive, int output, int errors, pid_t *out_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	if (!interactive) {
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		flags |= POSIX_SPAWN_SETPGROUP;
		posix_spawnattr_setpgroup(&attributes, 0);
		posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	}
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawnattr_setflags(&attributes, flags);
	int rc = posix_spawnp(out_pid, arguments[0], &files, &attributes, arguments, environment);

	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

static int wait_ms(int64_t until_ns)
{
	int64_t left_ns = until_ns - bt_clock_monotonic_ns();

	return left_ns <= 0				    ? 0
	       : left_ns > (int64_t)3600 * 1000 * NS_PER_MS ? 3600 * 1000
							    : (int)(left_ns / NS_PER_MS) + 1;
}

/* A run of the program, and its output. */
struct exec_plugin_run {
	int64_t until_ns;
	int stop;
	int ended;		/* readable when the program has exited */
	int output;		/* its standard output; -1: closed */
	int errors;		/* its standard error; -1: inherited, or closed */
	size_t forwarded_bytes; /* bytes of standard error that were forwarded */
	struct bt_buf printed;
	enum bt_exec_end end;
	int code;
};

static void warn_slow(const struct bt_client_config_plan *plan)
{
	bt_log(BT_LOG_WARNING, 0, "A credential plugin takes long; run it by hand to see what it waits for",
		bt_log_fields(bt_log_str("command", plan->exec.command)));
}

/* Forwards standard error up to a limit: more would fill the disk of our log. */
static void pass_errors_on(struct exec_plugin_run *run)
{
	static const char cut[] = "\n(truncated)\n";
	char bytes[4096];
	ssize_t got = read(run->errors, bytes, sizeof(bytes));

	if (got <= 0) {
		close(run->errors);
		run->errors = -1;
		return;
	}
	size_t left = FORWARD_BYTES - run->forwarded_bytes, n = (size_t)got < left ? (size_t)got : left;
	bool over = left && n == left;

	run->forwarded_bytes += n;
	ssize_t waste = write(STDERR_FILENO, bytes, n);

	if (over) {
		waste = write(STDERR_FILENO, cut, sizeof(cut) - 1);
	}
	(void)waste;
}

/* Reads a piece of its output, if there is one. Returns: false: nothing to read now. */
static bool read_piece(struct exec_plugin_run *run)
{
	ssize_t got;

	if (run->output < 0) {
		return false;
	}
	bt_buf_reserve(&run->printed, 4096);
	do {
		got = read(run->output, run->printed.ptr + run->printed.len, 4096);
	} while (got < 0 && errno == EINTR);
	run->printed.len += got > 0 ? (size_t)got : 0;
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		close(run->output);
		run->output = -1;
	}
	return got > 0;
}

/* Reads until the program has exited. A child that still holds the output open is not waited for: the
 * program's own output is in the pipe by then. Returns: NULL, or the error. */
static const char *read_output(const struct bt_client_config_plan *plan, struct exec_plugin_run *run)
{
	static const char late[] = "it did not end in time; run it by hand to see what it waits for";
	int64_t log_at_ns = bt_clock_monotonic_ns() + SLOW_NS;

	while (run->printed.len <= OUTPUT_BYTES) {
		struct pollfd files[] = {{.fd = run->output, .events = POLLIN},
			{.fd = run->stop, .events = POLLIN}, {.fd = run->errors, .events = POLLIN},
			{.fd = run->ended, .events = POLLIN}};
		int n = poll(files, 4, wait_ms(log_at_ns < run->until_ns ? log_at_ns : run->until_ns));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n == 0 && log_at_ns < run->until_ns) {
			warn_slow(plan);
			log_at_ns = INT64_MAX;
			continue;
		}
		if (files[1].revents) {
			return "stopped";
		}
		if (files[2].revents) {
			pass_errors_on(run);
		}
		bool read_some = read_piece(run);

		if (files[3].revents && !read_some) {
			return NULL;
		}
		if (!files[3].revents && wait_ms(run->until_ns) == 0) { /* it may print without end */
			return late;
		}
	}
	return "it prints more than 1 MiB; it must print one ExecCredential";
}

/* Forwards output that is available. Does not wait for a child that holds the pipe open. */
static void end_errors(struct exec_plugin_run *run)
{
	struct pollfd file = {.events = POLLIN};

	while (run->errors >= 0 && run->forwarded_bytes < FORWARD_BYTES) {
		file.fd = run->errors;
		if (poll(&file, 1, 0) <= 0) {
			break;
		}
		pass_errors_on(run);
	}
	if (run->errors >= 0) {
		close(run->errors);
		run->errors = -1;
	}
}

/* Two pipes; an interactive program inherits standard error. */
static bool open_pipes(bool interactive, int output[2], int errors[2])
{
	if (pipe2(output, O_CLOEXEC) != 0) {
		return false;
	}
	if (!interactive && pipe2(errors, O_CLOEXEC) != 0) {
		int error = errno;

		close(output[0]);
		close(output[1]);
		errno = error;
		return false;
	}
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	return true;
}

static void close_file(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}

/* Starts the program. Returns: 0 with its output, errors and end in run; or an errno. */
static int begin_program(const struct bt_exec_call *call, const struct bt_buf *info, bool interactive,
	struct exec_plugin_run *run, pid_t *out_pid)
{
	int output[2], errors[2] = {-1, -1};

	if (!open_pipes(interactive, output, errors)) {
		run->end = BT_EXEC_BROKEN;
		return errno;
	}
	char **arguments = make_arguments(&call->plan->exec),
	     **environment = make_environment(call->plan, info);
	int rc = spawn(arguments, environment, interactive, output[1], errors[1], out_pid);

	run->end = rc ? BT_EXEC_MISSING : BT_EXEC_NONE;
	run->output = output[0];
	run->errors = errors[0];
	close_file(&output[1]);
	close_file(&errors[1]);
	free_list(arguments);
	free_list(environment);
	run->ended = rc ? -1 : pidfd_open(*out_pid, 0);
	if (!rc && run->ended < 0) {
		rc = errno;
		kill(*out_pid, SIGKILL);
		waitpid(*out_pid, NULL, 0);
		run->end = BT_EXEC_BROKEN;
	}
	return rc;
}

static bool explain_missing(const struct bt_client_config_plan *plan, const struct exec_plugin_run *run,
	int error, struct bt_buf *out_error)
{
	exec_plugin_fail(plan, out_error, strerror(error));
	if (run->end == BT_EXEC_MISSING) {
		bt_buf_printf(out_error, "; %.*s",
			BT_STR_ARG(plan->exec.install_hint.len ? plan->exec.install_hint
							       : bt_str("install it, or name its path")));
	}
	return false;
}

static bool run_program(const struct bt_exec_call *call, const struct bt_buf *info, bool interactive,
	struct exec_plugin_run *run, struct bt_buf *out_error)
{
	const struct bt_client_config_plan *plan = call->plan;
	int status = 0;
	pid_t pid;
	int error = begin_program(call, info, interactive, run, &pid);
	const char *wrong = error ? NULL : read_output(plan, run);

	close_file(&run->output);
	end_errors(run);
	if (error) {
		return explain_missing(plan, run, error, out_error);
	}
	if (wrong) {
		kill(interactive ? pid : -pid, SIGKILL);
		kill(pid, SIGKILL); /* it may have left its group */
	}
	waitpid(pid, &status, 0);
	close_file(&run->ended);
	if (wrong) {
		run->end = BT_EXEC_KILLED;
		return exec_plugin_fail(plan, out_error, wrong);
	}
	run->end = WIFEXITED(status) ? BT_EXEC_EXITED : BT_EXEC_KILLED;
	run->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		exec_plugin_fail(plan, out_error,
			WIFEXITED(status) ? "it failed with exit code " : "it was killed by signal ");
		bt_buf_int(out_error, WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
		return false;
	}
	return true;
}

/* ---- the plugin's output ---- */

static bool check_answer(const struct bt_client_config_plan *plan, const struct exec_plugin_answer *answer,
	struct bt_buf *out_error)
{
	const struct status *status = &answer->status;

	if (!bt_str_is(answer->kind, "ExecCredential")) {
		return exec_plugin_fail(plan, out_error, "its output is no ExecCredential");
	}
	if (!bt_str_eq(answer->api_version, plan->exec.api_version)) {
		exec_plugin_fail(plan, out_error, "");
		bt_buf_printf(out_error, "it must print the version that the kubeconfig names, %.*s",
			BT_STR_ARG(plan->exec.api_version));
		return false;
	}
	if (!status->set) {
		return exec_plugin_fail(plan, out_error, "its ExecCredential has no status");
	}
	if (!status->token.len && !status->certificate.len && !status->key.len) {
		return exec_plugin_fail(
			plan, out_error, "its status has neither a token nor a client certificate and key");
	}
	if (!status->certificate.len != !status->key.len) {
		return exec_plugin_fail(
			plan, out_error, "clientCertificateData and clientKeyData must come together");
	}
	if (status->certificate.len && !bt_client_tls_key_matches(status->certificate, status->key)) {
		return exec_plugin_fail(plan, out_error,
			"clientCertificateData and clientKeyData are no certificate in PEM and its key");
	}
	return true;
}

static int64_t seconds_of(const ASN1_TIME *time)
{
	struct tm parts;

	return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : INT64_MAX;
}

/* Of the first certificate, which is the client's own. */
static void read_validity(struct bt_str pem, struct bt_exec_credential *out)
{
	BIO *bio = pem.len ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
	X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

	if (certificate) {
		out->from_s = seconds_of(X509_get0_notBefore(certificate));
		out->until_s = seconds_of(X509_get0_notAfter(certificate));
	}
	X509_free(certificate);
	BIO_free(bio);
	ERR_clear_error();
}

/* Clears decoded text: in the output, or in the arena. */
static void clear(struct bt_str text)
{
	union {
		const char *from;
		void *to;
	} bytes = {.from = text.ptr};

	if (text.len) {
		explicit_bzero(bytes.to, text.len);
	}
}

/* Decodes JSON into answer, whose strings are in the arena or in the text. */
static bool decode_answer(const struct bt_client_config_plan *plan, struct bt_str json,
	struct bt_arena *arena, struct exec_plugin_answer *answer, struct bt_buf *out_error)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_decode decode = {.json = cursor, .arena = arena};

	bt_json_begin(cursor, json, arena);
	bool good = bt_schema_decode(&decode, &answer_schema, answer);

	if (!good) {
		exec_plugin_fail(plan, out_error, "its output is no ExecCredential in JSON or YAML");
	} else if (bt_json_more(cursor)) {
		good = exec_plugin_fail(plan, out_error, "it prints something behind its ExecCredential");
	}
	bt_json_destroy(cursor);
	return good;
}

static bool keep_answer(const struct bt_client_config_plan *plan, const struct status *status,
	struct bt_exec_credential *out_credential, struct bt_buf *out_error)
{
	struct bt_exec_credential read = {.expires_ns = INT64_MAX, .from_s = INT64_MAX, .until_s = INT64_MAX};

	if (status->expires.len && bt_time_parse(status->expires, &read.expires_ns) != BT_OK) {
		return exec_plugin_fail(plan, out_error, "expirationTimestamp is no time of RFC 3339");
	}
	bt_secret_set(&read.token, status->token.ptr, status->token.len);
	bt_secret_set(&read.certificate, status->certificate.ptr, status->certificate.len);
	bt_secret_set(&read.key, status->key.ptr, status->key.len);
	read_validity(status->certificate, &read);
	*out_credential = read;
	return true;
}

/* As client-go's decoder: what does not start like a JSON object is YAML; its first document is used. */
static bool read_answer(const struct bt_client_config_plan *plan, struct bt_str output,
	struct bt_exec_credential *out_credential, struct bt_buf *out_error)
{
	struct bt_arena arena = {0};
	struct exec_plugin_answer answer = {0};
	struct bt_yaml *yaml = NULL;
	struct bt_str json = output;
	size_t spaces = 0;

	while (spaces < output.len && strchr(" \t\r\n", output.ptr[spaces])) {
		spaces++;
	}
	if (spaces < output.len && output.ptr[spaces] != '{') {
		yaml = bt_yaml_create();
		bt_yaml_begin(yaml, output);
		if (bt_yaml_next(yaml, &json) != BT_OK) {
			json = bt_str("");
		}
	}
	bool good = decode_answer(plan, json, &arena, &answer, out_error) &&
		    check_answer(plan, &answer, out_error) &&
		    keep_answer(plan, &answer.status, out_credential, out_error);

	clear(answer.status.token);
	clear(answer.status.key);
	if (yaml) {
		clear(json);
		bt_yaml_destroy(yaml);
	}
	bt_arena_fini(&arena);
	return good;
}

bool bt_exec_run(
	const struct bt_exec_call *call, struct bt_exec_credential *out_credential, struct bt_buf *out_error)
{
	const struct bt_client_config_plan *plan = call->plan;
	bool interactive = !bt_str_is(plan->exec.interactive_mode, "Never") && isatty(STDIN_FILENO) == 1;
	struct exec_plugin_run run = {.until_ns = bt_clock_monotonic_ns() + call->limit_ns,
		.stop = call->stop,
		.ended = -1,
		.output = -1,
		.errors = -1};
	struct bt_buf info = {0};

	if (bt_str_is(plan->exec.interactive_mode, "Always") && !interactive) {
		return exec_plugin_fail(plan, out_error,
			"it needs a terminal (interactiveMode: Always), and standard input is none");
	}
	write_info(call, interactive, &info);
	bool good = run_program(call, &info, interactive, &run, out_error) &&
		    read_answer(plan, bt_buf_view(&run.printed), out_credential, out_error);

	out_credential->end = run.end;
	out_credential->code = run.code;
	bt_buf_fini(&info);
	bt_secret_buf_fini(&run.printed);
	return good;
}
