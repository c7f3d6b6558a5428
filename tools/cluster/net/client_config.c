/* SPDX-License-Identifier: Apache-2.0
 * The server and the identity for it. Files of an identity are checked every ten seconds, and immediately
 * when the server has refused it; when one has changed, an identity with another number replaces the old one.
 * Files that TLS cannot use (a certificate whose key has not been replaced yet, an invalid CA) do not replace
 * the old one until they are valid. Thread: any; a lock guards what changes.
 */
#include "tools/cluster/net/client_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/format/base64.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/net/client_config_int.h"
#include "tools/cluster/net/exec_plugin_int.h"
#include "tools/cluster/net/pem.h"
#include "tools/cluster/net/plan_int.h"
#include "tools/cluster/net/tls_int.h"
#include "tools/cluster/net/client_metrics.h"

#define LOOK_NS		((int64_t)10 * 1000000000)
#define PAIR_NS		((int64_t)1000000000) /* the same while certificate and key do not match */
#define LOG_INTERVAL_NS ((int64_t)60 * 1000000000)
#define FILE_SIZE	(4u << 20)
#define PLUGIN_NS	((int64_t)60 * 1000000000) /* limit of a plugin's run */
#define AGAIN_NS	((int64_t)1000000000)	   /* delay before a failed plugin runs again */

#ifndef BERTH_VERSION
#define BERTH_VERSION "dev"
#endif

/* A file that may be replaced at run time. */
struct watched {
	const char *path; /* NULL: none */
	struct timespec changed;
	off_t size;
	ino_t inode;
	struct bt_secret bytes;
};

enum { FILE_AUTHORITY = 0, FILE_CERTIFICATE, FILE_KEY, FILE_TOKEN, FILE_N };

static const char *const part_names[FILE_N] = {
	"certificate-authority", "client-certificate", "client-key", "tokenFile"};

/* A callback that waits for a plugin. */
struct waiter {
	void (*ready)(void *context);
	void *context;
};

/* A plugin runs on a thread of its own, one run at a time. */
struct client_config_plugin {
	struct bt_thread *thread;	      /* lock(lock): of the last run */
	int stop;			      /* init: an eventfd; -1: no plugin */
	bool runs, known;		      /* lock(lock): known: credential is valid until it expires */
	struct bt_exec_credential credential; /* lock(lock): */
	struct bt_buf error;		      /* lock(lock): of the last run; empty: it succeeded */
	int64_t ran_ns;			      /* lock(lock): */
	struct waiter *waiters;		      /* lock(lock): */
	size_t waiter_n, waiter_cap;
};

struct bt_client_config {
	struct bt_client_config_plan plan;				/* init: */
	struct bt_endpoint endpoint;					/* init: */
	struct bt_buf server, url, proxy, connect_to, host, user_agent; /* init: of endpoint */
	struct bt_lock lock;
	struct watched files[FILE_N]; /* lock(lock): except for their paths, which are init: */
	int64_t look_ns;	      /* lock(lock): when they are checked again */
	bool unpaired;		      /* lock(lock): they have changed, but the identity has not yet */
	struct bt_log_limit log_limit;
	struct bt_identity *identity;	       /* lock(lock): held; never NULL */
	struct bt_client_metrics *metrics;     /* init: */
	struct bt_client_config_counts counts; /* lock(lock): without those of the credential */
	struct bt_buf address;		       /* init: host and port of the server */
	struct client_config_plugin plugin;
};

/* ---- identities ---- */

struct bt_identity *bt_identity_hold(struct bt_identity *identity)
{
	bt_add(&identity->holder_n, 1);
	return identity;
}

void bt_identity_release(struct bt_identity *identity)
{
	if (!identity || bt_sub(&identity->holder_n, 1) != 1) {
		return;
	}
	struct bt_str *parts[] = {&identity->authority, &identity->certificate, &identity->key};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct bt_secret secret = {.len = parts[i]->len};

		memcpy(&secret.ptr, &parts[i]->ptr, sizeof(secret.ptr));
		bt_secret_fini(&secret);
	}
	for (uint32_t i = 0; i < identity->header_n; i++) {
		explicit_bzero(identity->headers[i], strlen(identity->headers[i]));
		bt_mem_free(identity->headers[i]);
	}
	bt_mem_free(identity->headers);
	bt_mem_free(identity);
}

static void add_header(
	struct bt_identity *identity, const char *name, const char *scheme, struct bt_str value)
{
	struct bt_buf line = {0};

	bt_buf_text(&line, name);
	bt_buf_text(&line, scheme);
	bt_buf_str(&line, value);
	identity->headers =
		bt_mem_realloc(identity->headers, identity->header_n + 1, sizeof(*identity->headers));
	identity->headers[identity->header_n++] = bt_mem_copy(line.ptr, line.len);
	bt_secret_buf_fini(&line);
}

static struct bt_str copy_of(const struct bt_secret *data, const struct watched *file)
{
	const struct bt_secret *from = data->len ? data : &file->bytes;

	return from->len ? (struct bt_str){bt_mem_copy(from->ptr, from->len), from->len} : (struct bt_str){0};
}

/* Without blocks that are not certificates: libcurl gets it as well, and stops at the first block that is not
 * PEM. A bundle without any certificate stays as it is, so that the system's are not trusted instead. */
static struct bt_str copy_of_authority(const struct bt_secret *data, const struct watched *file)
{
	const struct bt_secret *from = data->len ? data : &file->bytes;
	struct bt_str text = {from->ptr, from->len};
	struct bt_buf certificates = {0};
	uint32_t broken_n;

	text = bt_pem_certificates(text, &certificates, &broken_n) ? bt_buf_view(&certificates) : text;
	text.ptr = text.len ? bt_mem_copy(text.ptr, text.len) : NULL;
	bt_buf_fini(&certificates);
	return text;
}

static void add_basic(struct bt_identity *identity, const struct bt_client_config_plan *plan)
{
	struct bt_buf pair = {0}, text = {0};

	bt_buf_str(&pair, (struct bt_str){plan->username.ptr, plan->username.len});
	bt_buf_char(&pair, ':');
	bt_buf_str(&pair, (struct bt_str){plan->password.ptr, plan->password.len});
	bt_base64_encode(bt_buf_view(&pair), &text);
	add_header(identity, "Authorization: ", "Basic ", bt_buf_view(&text));
	bt_secret_buf_fini(&pair);
	bt_secret_buf_fini(&text);
}

/* Source: client-go's transport/round_trippers.go, v0.36.3. */
static void add_impersonation(struct bt_identity *identity, const struct bt_client_config_plan *plan)
{
	if (!plan->as.len) {
		return;
	}
	add_header(identity, "Impersonate-User: ", "", plan->as);
	if (plan->as_uid.len) {
		add_header(identity, "Impersonate-Uid: ", "", plan->as_uid);
	}
	for (uint32_t i = 0; i < plan->as_groups.n; i++) {
		add_header(identity, "Impersonate-Group: ", "", plan->as_groups.items[i]);
	}
	for (uint32_t i = 0; i < plan->as_extra_keys.n; i++) {
		struct bt_buf name = {0};
		struct bt_str key = plan->as_extra_keys.items[i];

		bt_buf_text(&name, "Impersonate-Extra-");
		for (size_t k = 0; k < key.len; k++) {
			char c = key.ptr[k];
			bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
				     (c >= 'A' && c <= 'Z') || (c && strchr("!#$&'*+-.^_`|~", c));

			bt_buf_printf(&name, plain ? "%c" : "%%%02X", (unsigned char)c);
		}
		bt_buf_text(&name, ": ");
		for (uint32_t v = 0; v < plan->as_extra_values[i].n; v++) {
			add_header(identity, name.ptr, "", plan->as_extra_values[i].items[v]);
		}
		bt_buf_fini(&name);
	}
}

/* The token of a file overrides the kubeconfig's, once it could be read. */
static struct bt_identity *make_identity(const struct bt_client_config *access, uint64_t number)
{
	const struct bt_client_config_plan *plan = &access->plan;
	struct bt_identity *identity = bt_mem_zalloc(1, sizeof(*identity));
	const struct bt_exec_credential *exec = &access->plugin.credential;
	const struct bt_secret *token = access->files[FILE_TOKEN].bytes.len ? &access->files[FILE_TOKEN].bytes
					: plan->token.len		    ? &plan->token
									    : &exec->token;

	*identity = (struct bt_identity){.holder_n = 1, .number = number};
	if (!access->endpoint.tls) {
		return identity; /* no secrets without TLS */
	}
	identity->authority = copy_of_authority(&plan->authority, &access->files[FILE_AUTHORITY]);
	if (exec->certificate.len) {
		identity->certificate = copy_of(&exec->certificate, NULL);
		identity->key = copy_of(&exec->key, NULL);
	} else {
		identity->certificate = copy_of(&plan->certificate, &access->files[FILE_CERTIFICATE]);
		identity->key = copy_of(&plan->key, &access->files[FILE_KEY]);
	}
	if (token->len) {
		add_header(identity, "Authorization: ", "Bearer ", (struct bt_str){token->ptr, token->len});
	} else if (plan->username.len || plan->password.len) {
		add_basic(identity, plan);
	}
	add_impersonation(identity, plan);
	return identity;
}

/* ---- files ---- */

static bool read_whole(int fd, struct bt_buf *out)
{
	ssize_t n = 1;

	while (n > 0 && out->len <= FILE_SIZE) {
		bt_buf_reserve(out, 16u << 10);
		n = read(fd, out->ptr + out->len, 16u << 10);
		out->len += n > 0 ? (size_t)n : 0;
	}
	return n == 0;
}

/* Removes spaces and line ends around a token; a header cannot contain line ends. */
static void trim(struct bt_buf *text)
{
	size_t from = 0;

	while (text->len && strchr(" \t\r\n", text->ptr[text->len - 1])) {
		text->len--;
	}
	while (from < text->len && strchr(" \t\r\n", text->ptr[from])) {
		from++;
	}
	memmove(text->ptr, text->ptr + from, text->len - from);
	text->len -= from;
}

/* Reads a changed file again. An unreadable file, or an invalid CA, leaves the old bytes. Source: client-go's
 * transport/ca_rotation.go, v0.36.3. Returns: for BT_RELOAD_UNREAD with errno. */
static enum bt_reload reload_file(struct watched *file, int part)
{
	enum bt_reload outcome = BT_RELOAD_UNREAD;
	struct bt_buf bytes = {0};
	struct stat now;

	if (stat(file->path, &now) == 0 && file->bytes.ptr && now.st_ino == file->inode &&
		now.st_size == file->size && now.st_mtim.tv_sec == file->changed.tv_sec &&
		now.st_mtim.tv_nsec == file->changed.tv_nsec) {
		return BT_RELOAD_UNCHANGED;
	}
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return BT_RELOAD_UNREAD;
	}
	bool good = fstat(fd, &now) == 0 && read_whole(fd, &bytes);
	int error = errno;

	close(fd);
	if (good && part == FILE_TOKEN && bytes.len) {
		trim(&bytes);
	}
	if (good && !bytes.len) {
		outcome = BT_RELOAD_EMPTY;
	} else if (good && part == FILE_AUTHORITY && !bt_client_tls_trusts(bt_buf_view(&bytes))) {
		outcome = BT_RELOAD_UNPARSED;
	} else if (good) {
		bool same = file->bytes.ptr && bytes.len == file->bytes.len &&
			    memcmp(bytes.ptr, file->bytes.ptr, bytes.len) == 0;

		outcome = same ? BT_RELOAD_UNCHANGED : BT_RELOAD_UPDATED;
		bt_secret_set(&file->bytes, bytes.ptr, bytes.len);
		file->inode = now.st_ino;
		file->size = now.st_size;
		file->changed = now.st_mtim;
	}
	bt_secret_buf_fini(&bytes);
	errno = error;
	return outcome;
}

/* Under the lock: the data of the identity have changed. */
static void renew_identity(struct bt_client_config *access)
{
	uint64_t number = access->identity->number + 1;

	bt_identity_release(access->identity);
	access->identity = make_identity(access, number);
}

static struct bt_str view_of(const struct bt_secret *data, const struct watched *file)
{
	const struct bt_secret *from = data->len ? data : &file->bytes;

	return (struct bt_str){from->ptr, from->len};
}

/* Appends the part's source: a file by its path, or text in the kubeconfig. */
static void name_part(const struct bt_client_config *access, int part, struct bt_buf *out)
{
	bt_buf_text(out, part_names[part]);
	if (access->files[part].path) {
		bt_buf_printf(out, ": %s", access->files[part].path);
	} else {
		bt_buf_text(out, "-data");
	}
}

static void explain_no_authority(const struct bt_client_config *access, struct bt_buf *out_error)
{
	name_part(access, FILE_AUTHORITY, out_error);
	bt_buf_text(out_error,
		": no certificate can be read from it; it must be in PEM, of the authority that signed the "
		"server's certificate");
}

/* A certificate and its key are replaced one after the other. */
static bool is_paired(const struct bt_client_config *access, struct bt_buf *out_error)
{
	const struct bt_client_config_plan *plan = &access->plan;
	struct bt_str certificate = view_of(&plan->certificate, &access->files[FILE_CERTIFICATE]);
	struct bt_str key = view_of(&plan->key, &access->files[FILE_KEY]);

	if (!certificate.len || !key.len || bt_client_tls_key_matches(certificate, key)) {
		return true;
	}
	name_part(access, FILE_CERTIFICATE, out_error);
	bt_buf_text(out_error, ", ");
	name_part(access, FILE_KEY, out_error);
	bt_buf_text(out_error, ": no certificate in PEM and its key; they must belong together, and the key "
			       "have no password");
	return false;
}

/* Under the lock. */
static void warn_unusable(struct bt_client_config *access, const struct bt_buf *why)
{
	uint64_t held_n;

	if (bt_log_due(&access->log_limit, bt_clock_monotonic_ns(), LOG_INTERVAL_NS, &held_n)) {
		bt_log(BT_LOG_WARNING, 0,
			"Files of the credentials have changed and cannot be used; the last ones count",
			bt_log_fields(bt_log_str("err", bt_buf_view(why)),
				bt_log_int("heldBack", (int64_t)held_n)));
	}
}

/* Under the lock. */
static void reload_files(struct bt_client_config *access, int64_t now_ns)
{
	bool changed = access->unpaired, was_unpaired = access->unpaired;
	struct bt_buf why = {0};

	for (int i = 0; i < FILE_N; i++) {
		enum bt_reload outcome =
			access->files[i].path ? reload_file(&access->files[i], i) : BT_RELOAD_UNCHANGED;

		if (i == FILE_AUTHORITY && access->files[i].path) {
			access->counts.reloads[outcome]++;
		}
		if (outcome == BT_RELOAD_UNPARSED) {
			explain_no_authority(access, &why);
			warn_unusable(access, &why);
			bt_buf_clear(&why);
		}
		changed |= outcome == BT_RELOAD_UPDATED;
	}
	access->unpaired = changed && !is_paired(access, &why);
	access->look_ns = now_ns + (access->unpaired ? PAIR_NS : LOOK_NS);
	if (access->unpaired && was_unpaired) { /* there was time to replace the others */
		warn_unusable(access, &why);
	}
	bt_buf_fini(&why);
	if (changed && !access->unpaired) {
		renew_identity(access);
	}
}

/* ---- the plugin ---- */

static bool same_secret(const struct bt_secret *a, const struct bt_secret *b)
{
	return a->len == b->len && (!a->len || memcmp(a->ptr, b->ptr, a->len) == 0);
}

static bool same_credential(const struct bt_exec_credential *a, const struct bt_exec_credential *b)
{
	return same_secret(&a->token, &b->token) && same_secret(&a->certificate, &b->certificate) &&
	       same_secret(&a->key, &b->key);
}

const double bt_client_config_age_bounds[BT_EXEC_AGES] = {
	600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000};

/* Under the lock. Counts a run of the plugin. */
static void count_run(struct bt_client_config_counts *counts, const struct bt_exec_credential *fresh)
{
	counts->killed_n += fresh->end == BT_EXEC_KILLED;
	counts->missing_n += fresh->end == BT_EXEC_MISSING;
	counts->failed_n += fresh->end == BT_EXEC_BROKEN;
	if (fresh->end == BT_EXEC_EXITED) {
		counts->exits[fresh->code & (BT_EXEC_CODES - 1)]++;
	}
}

/* Under the lock. Records the age of a certificate that is replaced, if there was one. */
static void count_age(struct bt_client_config_counts *counts, const struct bt_exec_credential *old)
{
	struct bt_clock wall = bt_clock_real();
	int i = 0;

	if (!old->certificate.len || old->from_s == INT64_MAX) {
		return;
	}
	double age_s = (double)bt_clock_now_ns(&wall) / 1e9 - (double)old->from_s;

	while (i < BT_EXEC_AGES && age_s > bt_client_config_age_bounds[i]) {
		i++;
	}
	counts->ages[i]++;
	counts->age_sum_s += age_s;
}

/* The kubeconfig's CA, inline or from a file. */
static void authority_of(const struct bt_client_config *access, struct bt_buf *out)
{
	const struct bt_secret *data = &access->plan.authority;
	const struct bt_secret *from = data->len ? data : &access->files[FILE_AUTHORITY].bytes;

	bt_buf_add(out, from->ptr, from->len);
}

static void run_plugin(void *context)
{
	struct bt_client_config *access = context;
	struct client_config_plugin *plugin = &access->plugin;
	struct bt_exec_credential fresh = {0};
	struct bt_buf error = {0}, authority = {0};

	bt_lock_acquire(&access->lock);
	authority_of(access, &authority);
	bt_lock_release(&access->lock);
	const struct bt_exec_call call = {.plan = &access->plan,
		.server = access->endpoint.server,
		.authority = bt_buf_view(&authority),
		.limit_ns = PLUGIN_NS,
		.stop = plugin->stop};
	bool good = bt_exec_run(&call, &fresh, &error);

	bt_buf_fini(&authority);
	bt_lock_acquire(&access->lock);
	plugin->runs = false;
	plugin->known = good;
	count_run(&access->counts, &fresh);
	plugin->ran_ns = bt_clock_monotonic_ns();
	bt_buf_fini(&plugin->error);
	plugin->error = error;
	if (good) {
		bool changed = !same_credential(&fresh, &plugin->credential);

		if (!same_secret(&fresh.certificate, &plugin->credential.certificate)) {
			count_age(&access->counts, &plugin->credential);
		}
		bt_exec_credential_fini(&plugin->credential);
		plugin->credential = fresh;
		if (changed) {
			renew_identity(access);
		}
	}
	for (size_t i = 0; i < plugin->waiter_n; i++) { /* under the lock: no cancelled waiter is called */
		plugin->waiters[i].ready(plugin->waiters[i].context);
	}
	plugin->waiter_n = 0;
	bt_lock_release(&access->lock);
}

/* Under the lock. */
static void add_waiter(struct client_config_plugin *plugin, void (*ready)(void *context), void *context)
{
	for (size_t i = 0; i < plugin->waiter_n; i++) {
		if (plugin->waiters[i].context == context) {
			return;
		}
	}
	plugin->waiters =
		bt_mem_grow(plugin->waiters, plugin->waiter_n, &plugin->waiter_cap, sizeof(*plugin->waiters));
	plugin->waiters[plugin->waiter_n++] = (struct waiter){ready, context};
}

/* Under the lock. Returns READY while the plugin's credential is valid; otherwise the plugin is running, or
 * has just failed. */
static enum bt_client_config_answer check_plugin(
	struct bt_client_config *access, uint64_t refused, struct bt_buf *out_error)
{
	struct client_config_plugin *plugin = &access->plugin;
	struct bt_clock wall = bt_clock_real();
	struct bt_thread_options options = {.name = "credentials"};

	if (plugin->stop < 0) {
		return BT_CLIENT_CONFIG_READY;
	}
	if (plugin->runs) {
		return BT_CLIENT_CONFIG_LATER;
	}
	bool recent = bt_clock_monotonic_ns() - plugin->ran_ns < AGAIN_NS;
	bool expired = bt_clock_now_ns(&wall) >= plugin->credential.expires_ns;

	/* A credential that arrives already expired is used once, rather than running the plugin without
	 * end. */
	if (plugin->known && (!expired || recent) && refused != access->identity->number) {
		return BT_CLIENT_CONFIG_READY;
	}
	if (plugin->error.len && recent) {
		bt_buf_str(out_error, bt_buf_view(&plugin->error));
		return BT_CLIENT_CONFIG_FAILED;
	}
	bt_thread_join(&plugin->thread); /* it has ended, or is about to */
	if (bt_thread_start(&options, run_plugin, access, &plugin->thread, out_error) != BT_OK) {
		return BT_CLIENT_CONFIG_FAILED;
	}
	plugin->runs = true;
	plugin->known = false;
	return BT_CLIENT_CONFIG_LATER;
}

/* Callers see a const config: its mutable fields are under its lock. */
static struct bt_client_config *within(const struct bt_client_config *shared)
{
	union {
		const struct bt_client_config *from;
		struct bt_client_config *to;
	} access = {.from = shared};

	return access.to;
}

enum bt_client_config_answer bt_client_config_identity(const struct bt_client_config *shared,
	uint64_t refused, void (*ready)(void *context), void *context, struct bt_identity **out_identity,
	struct bt_buf *out_error)
{
	struct bt_client_config *access = within(shared);
	int64_t now_ns = bt_clock_monotonic_ns();

	bt_lock_acquire(&access->lock);
	if (access->look_ns <= now_ns || refused == access->identity->number) {
		uint64_t number = access->identity->number;

		reload_files(access, now_ns);
		refused = access->identity->number == number ? refused : 0;
	}
	enum bt_client_config_answer answer = check_plugin(access, refused, out_error);

	if (answer == BT_CLIENT_CONFIG_READY) {
		*out_identity = access->identity;
		bt_add(&access->identity->holder_n, 1);
	} else if (answer == BT_CLIENT_CONFIG_LATER) {
		add_waiter(&access->plugin, ready, context);
	}
	bt_lock_release(&access->lock);
	return answer;
}

void bt_client_config_forget(const struct bt_client_config *shared, void *context)
{
	struct bt_client_config *access = within(shared);
	struct client_config_plugin *plugin = &access->plugin;

	bt_lock_acquire(&access->lock);
	for (size_t i = plugin->waiter_n; i-- > 0;) {
		if (plugin->waiters[i].context == context) {
			plugin->waiters[i] = plugin->waiters[--plugin->waiter_n];
		}
	}
	bt_lock_release(&access->lock);
}

/* ---- the server ---- */

/* Returns: what is wrong with a URL after its scheme, or NULL. */
static const char *fault_of_url(struct bt_str rest)
{
	struct bt_str authority = bt_str_sub(rest, 0, bt_str_find(rest, '/', 0));
	size_t colon = authority.len;
	long port = 0;

	for (size_t i = 0; i < rest.len; i++) {
		if (rest.ptr[i] <= ' ' || rest.ptr[i] == 0x7f || strchr("\"<>\\^`{|}", rest.ptr[i])) {
			return "it has a character that no URL has";
		}
	}
	while (colon && authority.ptr[colon - 1] != ':' && authority.ptr[colon - 1] != ']') {
		colon--;
	}
	bool has_port = colon && authority.ptr[colon - 1] == ':';

	for (size_t i = colon; has_port && i < authority.len; i++) {
		port = authority.ptr[i] >= '0' && authority.ptr[i] <= '9' && port <= UINT16_MAX
			       ? port * 10 + (authority.ptr[i] - '0')
			       : UINT16_MAX + 1;
	}
	if (has_port && colon < authority.len && (port == 0 || port > UINT16_MAX)) {
		return "its port must be a number from 1 to 65535";
	}
	return !authority.len || authority.ptr[0] == ':' ? "it names no host" : NULL;
}

/* A URL, or host:port as client-go also accepts it: over TLS if any TLS setting is present. */
static bool set_url(struct bt_client_config *access, struct bt_str server, struct bt_buf *out_error)
{
	const struct bt_client_config_plan *plan = &access->plan;
	bool has_scheme = bt_str_starts(server, "https://") || bt_str_starts(server, "http://");
	bool tls = plan->insecure || plan->authority.len || plan->authority_file || plan->certificate.len ||
		   plan->certificate_file;

	if (!has_scheme && strstr(server.ptr, "://")) {
		bt_buf_printf(out_error,
			"server %.*s: not a URL of an API server; it must begin with https://",
			BT_STR_ARG(server));
		return false;
	}
	const char *fault = fault_of_url(
		has_scheme ? bt_str_sub(server, bt_str_find(server, '/', 0) + 2, server.len) : server);

	if (fault) {
		bt_buf_printf(out_error, "server %.*s: %s; write it like https://10.0.0.1:6443",
			BT_STR_ARG(server), fault);
		return false;
	}
	if (!has_scheme) {
		bt_buf_text(&access->url, tls ? "https://" : "http://");
	}
	bt_buf_str(&access->url, server);
	while (access->url.len && access->url.ptr[access->url.len - 1] == '/') {
		access->url.ptr[--access->url.len] = 0;
	}
	access->endpoint.tls = bt_str_starts(bt_buf_view(&access->url), "https://");
	return true;
}

/* libcurl sends the URL's host as the name for TLS. So another name becomes the URL's host, and the address
 * is where to connect instead. */
static void set_tls_name(struct bt_client_config *access, struct bt_str name)
{
	struct bt_str url = bt_buf_view(&access->url);
	size_t from = strlen("https://"), end = bt_str_find(url, '/', from), colon = end;
	struct bt_buf other = {0};

	while (colon > from && url.ptr[colon - 1] != ':' && url.ptr[colon - 1] != ']') {
		colon--;
	}
	bool has_port = colon > from && url.ptr[colon - 1] == ':';
	struct bt_str host = bt_str_sub(url, from, has_port ? colon - 1 : end);
	struct bt_str port = has_port ? bt_str_sub(url, colon, end) : bt_str("443");

	bt_buf_printf(&access->connect_to, "%.*s:%.*s:%.*s:%.*s", BT_STR_ARG(name), BT_STR_ARG(port),
		BT_STR_ARG(host), BT_STR_ARG(port));
	bt_buf_printf(&access->host, "Host: %.*s", BT_STR_ARG(bt_str_sub(url, from, end)));
	bt_buf_printf(&other, "https://%.*s:%.*s%.*s", BT_STR_ARG(name), BT_STR_ARG(port),
		BT_STR_ARG(bt_str_sub(url, end, url.len)));
	bt_buf_fini(&access->url);
	access->url = other;
	access->endpoint.connect_to = access->connect_to.ptr;
	access->endpoint.host = access->host.ptr;
}

static bool set_endpoint(struct bt_client_config *access, const struct bt_client_config_options *options,
	struct bt_buf *out_error)
{
	const struct bt_client_config_plan *plan = &access->plan;
	struct bt_endpoint *endpoint = &access->endpoint;
	struct bt_str server = options->master ? bt_str(options->master) : plan->server;

	if (!set_url(access, server, out_error)) {
		return false;
	}
	if (plan->proxy_from_environment) {
		if (!bt_proxy_from_environment(bt_buf_view(&access->url), &access->proxy, out_error)) {
			return false;
		}
	} else {
		bt_proxy_url(plan->proxy_url, &access->proxy);
	}
	bt_buf_str(&access->server, bt_buf_view(&access->url));
	if (plan->tls_server_name.len && !options->master && endpoint->tls) {
		set_tls_name(access, plan->tls_server_name);
	}
	bt_buf_text(&access->user_agent, options->user_agent ? options->user_agent : "berth/" BERTH_VERSION);
	endpoint->server = access->server.ptr;
	endpoint->url = access->url.ptr;
	endpoint->proxy = access->proxy.ptr;
	endpoint->user_agent = access->user_agent.ptr;
	endpoint->insecure = plan->insecure;
	endpoint->compressed = !plan->disable_compression;
	return true;
}

/* ---- sources of the settings ---- */

/* Outside of a cluster and without flags, where kube-scheduler would exit: as kubectl. */
static bool read_as_kubectl(const struct bt_client_config_options *options,
	struct bt_client_config_plan *out_plan, struct bt_buf *out_error)
{
	const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
	struct bt_buf path = {0};
	bool good = false;

	bt_buf_printf(&path, "%s/.kube/config", home ? home : "");
	if (list && *list) {
		good = bt_kubeconfig_read(list, options, out_plan, out_error);
	} else if (access(path.ptr, F_OK) == 0) {
		good = bt_kubeconfig_read(path.ptr, options, out_plan, out_error);
	} else {
		bt_buf_printf(out_error,
			"no API server is named: neither --kubeconfig nor --master is set, this is no pod "
			"($KUBERNETES_SERVICE_HOST and $KUBERNETES_SERVICE_PORT are not set), $KUBECONFIG "
			"is not set, and there is no %s; give one of them",
			path.ptr);
	}
	bt_buf_fini(&path);
	return good;
}

/*
 * kube-scheduler uses --kubeconfig and --master, and otherwise the pod that it runs in; $KUBECONFIG never
 * comes before those. A server that is named by --master alone gets no credentials. Source:
 * BuildConfigFromFlags, v0.36.3.
 */
static bool make_plan(const struct bt_client_config_options *options, struct bt_client_config_plan *out_plan,
	struct bt_buf *out_error)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");

	if (options->kubeconfig && *options->kubeconfig) {
		return bt_kubeconfig_read(options->kubeconfig, options, out_plan, out_error);
	}
	if (options->master) {
		return bt_kubeconfig_read("", options, out_plan, out_error);
	}
	if (host && port && *host && *port) {
		return bt_in_cluster_plan(BT_SERVICE_ACCOUNT, out_plan, out_error);
	}
	return read_as_kubectl(options, out_plan, out_error);
}

static bool open_files(struct bt_client_config *access, struct bt_buf *out_error)
{
	const struct bt_client_config_plan *plan = &access->plan;

	access->files[FILE_AUTHORITY].path = plan->authority.len ? NULL : plan->authority_file;
	access->files[FILE_CERTIFICATE].path = plan->certificate.len ? NULL : plan->certificate_file;
	access->files[FILE_KEY].path = plan->key.len ? NULL : plan->key_file;
	access->files[FILE_TOKEN].path = plan->token_file;
	for (int i = 0; i < FILE_N; i++) {
		struct watched *file = &access->files[i];
		enum bt_reload outcome = file->path ? reload_file(file, i) : BT_RELOAD_UNCHANGED;

		if (outcome == BT_RELOAD_UNPARSED) {
			explain_no_authority(access, out_error);
			return false;
		}
		if (outcome < BT_RELOAD_UNCHANGED && !(i == FILE_TOKEN && plan->token.len)) {
			bt_buf_printf(out_error, "%s: %s: %s; the file must be there and readable for berth",
				part_names[i], file->path,
				outcome == BT_RELOAD_UNREAD ? strerror(errno) : "empty");
			return false;
		}
	}
	return true;
}

/* Rejects what TLS cannot use before anything starts, as client-go does. */
static bool check_data(const struct bt_client_config *access, struct bt_buf *out_error)
{
	const struct bt_secret *authority = &access->plan.authority;

	if (authority->len && !bt_client_tls_trusts((struct bt_str){authority->ptr, authority->len})) {
		explain_no_authority(access, out_error);
		return false;
	}
	return is_paired(access, out_error);
}

/* The host of "https://HOST:PORT/path". */
static struct bt_str host_of(struct bt_str server)
{
	size_t at = bt_str_find(server, '/', 0);
	struct bt_str rest = server;

	if (at + 1 < server.len && server.ptr[at + 1] == '/') {
		rest = bt_str_sub(server, at + 2, server.len);
	}
	return bt_str_sub(rest, 0, bt_str_find(rest, '/', 0));
}

/* Opens the config once its plan is known. Returns: NULL with the reason in out_error. */
static struct bt_client_config *open_access(struct bt_client_config *access,
	const struct bt_client_config_options *options, struct bt_buf *out_error)
{
	if (!set_endpoint(access, options, out_error) || !open_files(access, out_error) ||
		!check_data(access, out_error)) {
		bt_client_config_destroy(access);
		return NULL;
	}
	if (access->endpoint.tls && access->endpoint.insecure) {
		bt_log(BT_LOG_WARNING, 0,
			"The server's certificate is not checked: a man in the middle can read credentials "
			"and "
			"change what is scheduled. Name its certificate-authority instead of "
			"insecure-skip-tls-verify",
			bt_log_fields(bt_log_str("server", bt_str(access->endpoint.server))));
	}
	if (access->plan.has_exec && access->endpoint.tls) {
		access->plugin.stop = eventfd(0, EFD_CLOEXEC);
	}
	access->look_ns = bt_clock_monotonic_ns() + LOOK_NS;
	bt_buf_str(&access->address, host_of(bt_str(access->endpoint.server)));
	access->identity = make_identity(access, 1);
	return access;
}

bool bt_client_config_needs(
	const struct bt_client_config *access, void (*file)(void *context, const char *path), void *context)
{
	for (int i = 0; i < FILE_N; i++) {
		if (access->files[i].path) {
			file(context, access->files[i].path);
		}
	}
	return access->plugin.stop >= 0;
}

void bt_client_config_sources(
	const struct bt_client_config *access, void (*file)(void *context, const char *path), void *context)
{
	for (int i = 0; i < BT_KUBECONFIG_MAX && access->plan.sources[i]; i++) {
		file(context, access->plan.sources[i]);
	}
}

static struct bt_client_config *new_access(void)
{
	struct bt_client_config *access = bt_mem_zalloc(1, sizeof(*access));

	bt_lock_init(&access->lock);
	access->plugin.stop = -1;
	access->metrics = bt_mem_zalloc(1, sizeof(*access->metrics));
	return access;
}

struct bt_client_config *bt_client_config_create(
	const struct bt_client_config_options *options, struct bt_buf *out_error)
{
	struct bt_client_config *access = new_access();

	if (!make_plan(options, &access->plan, out_error)) {
		bt_client_config_destroy(access);
		return NULL;
	}
	return open_access(access, options, out_error);
}

static struct bt_str client_config_keep(struct bt_arena *arena, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(arena, text.len ? text.ptr : "", text.len), text.len};
}

static const char *keep_file(struct bt_arena *arena, struct bt_str path)
{
	return path.len ? client_config_keep(arena, path).ptr : NULL;
}

static void keep_secret(struct bt_secret *secret, struct bt_str bytes)
{
	if (bytes.len) {
		bt_secret_set(secret, bytes.ptr, bytes.len);
	}
}

struct bt_client_config *bt_client_config_create_for(
	const struct bt_client_config_target *target, struct bt_buf *out_error)
{
	struct bt_client_config *access = new_access();
	struct bt_client_config_plan *plan = &access->plan;

	plan->server = client_config_keep(&plan->arena, target->url);
	plan->tls_server_name = client_config_keep(&plan->arena, target->server_name);
	plan->insecure = target->insecure;
	plan->proxy_from_environment = true;
	plan->authority_file = keep_file(&plan->arena, target->authority_file);
	plan->certificate_file = keep_file(&plan->arena, target->certificate_file);
	plan->key_file = keep_file(&plan->arena, target->key_file);
	keep_secret(&plan->authority, target->authority);
	keep_secret(&plan->certificate, target->certificate);
	keep_secret(&plan->key, target->key);
	return open_access(access, &(struct bt_client_config_options){.kubeconfig = NULL}, out_error);
}

static void end_plugin(struct client_config_plugin *plugin)
{
	uint64_t one = 1;

	if (plugin->thread) {
		ssize_t n = write(plugin->stop, &one, sizeof(one));

		BT_REQUIRE(n == (ssize_t)sizeof(one));
		bt_thread_join(&plugin->thread);
	}
	if (plugin->stop >= 0) {
		close(plugin->stop);
	}
	bt_exec_credential_fini(&plugin->credential);
	bt_buf_fini(&plugin->error);
	bt_mem_free(plugin->waiters);
}

void bt_client_config_destroy(struct bt_client_config *access)
{
	if (!access) {
		return;
	}
	end_plugin(&access->plugin);
	bt_identity_release(access->identity);
	for (int i = 0; i < FILE_N; i++) {
		bt_secret_fini(&access->files[i].bytes);
	}
	bt_buf_fini(&access->server);
	bt_buf_fini(&access->url);
	bt_secret_buf_fini(&access->proxy); /* it may hold a password */
	bt_buf_fini(&access->connect_to);
	bt_buf_fini(&access->host);
	bt_buf_fini(&access->user_agent);
	bt_buf_fini(&access->address);
	bt_mem_free(access->metrics);
	bt_client_config_plan_fini(&access->plan);
	bt_lock_fini(&access->lock);
	bt_mem_free(access);
}

const struct bt_endpoint *bt_client_config_endpoint(const struct bt_client_config *access)
{
	return &access->endpoint;
}

const char *bt_client_config_server(const struct bt_client_config *access)
{
	return access->endpoint.server;
}

const char *bt_client_config_host(const struct bt_client_config *access)
{
	return access->address.ptr ? access->address.ptr : "";
}

void bt_client_config_count(const struct bt_client_config *shared, struct bt_client_config_counts *counts)
{
	struct bt_client_config *access = within(shared);

	bt_lock_acquire(&access->lock);
	const struct bt_client_config_counts *own = &access->counts;
	int64_t until_s =
		access->plugin.credential.certificate.len ? access->plugin.credential.until_s : INT64_MAX;

	for (int i = 0; i < BT_EXEC_CODES; i++) {
		counts->exits[i] += own->exits[i];
	}
	for (int i = 0; i <= BT_EXEC_AGES; i++) {
		counts->ages[i] += own->ages[i];
	}
	for (int i = 0; i < BT_RELOAD_N; i++) {
		counts->reloads[i] += own->reloads[i];
	}
	counts->killed_n += own->killed_n;
	counts->missing_n += own->missing_n;
	counts->failed_n += own->failed_n;
	counts->age_sum_s += own->age_sum_s;
	counts->expires_s = until_s < counts->expires_s ? until_s : counts->expires_s;
	bt_lock_release(&access->lock);
}

struct bt_client_metrics *bt_client_config_metrics(const struct bt_client_config *access)
{
	return access->metrics;
}
