/* SPDX-License-Identifier: Apache-2.0
 * Authentication and authorization by the API server. A lock guards the caches; it is not held during calls
 * to the API server.
 */
#include "tools/cluster/serve/auth.h"

#include <openssl/evp.h>
#include <strings.h>

#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/base/thread.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/net/pem.h"
#include "tools/cluster/serve/certificate.h"
#include "tools/cluster/serve/client_certificate.h"
#include "tools/cluster/serve/front_proxy.h"
#include "tools/cluster/serve/review.h"

/* Cached answers of each kind; a new one replaces the oldest. */
#define REMEMBERED	512
#define DIGEST_BYTES	32
#define TOKEN_BYTES	8192
#define REVIEW_NS	INT64_C(10000000000)
#define LOG_INTERVAL_NS INT64_C(30000000000)

#define LOOKUP_PATH "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

struct digest {
	unsigned char bytes[DIGEST_BYTES];
};

/* A cached answer of a TokenReview or a SubjectAccessReview. */
struct auth_answer {
	struct digest of;
	int64_t until_ns; /* 0: none */
	bool yes;
	struct bt_user user;
	struct bt_buf reason;
};

struct memory {
	struct auth_answer answers[REMEMBERED];
	uint32_t next;
};

/* The CAs of one reload; a request uses the same ones to its end. */
struct trusted_cas {
	struct bt_authorities *authorities; /* NULL: client certificates are ignored */
	struct bt_front_proxy *proxy;	    /* NULL: none */
	_Atomic uint32_t users;
};

struct bt_auth {
	struct bt_auth_options options; /* init: */
	struct bt_lock lock;
	struct memory tokens, accesses;	 /* lock(lock): */
	struct trusted_cas *trusted_cas; /* lock(lock): or NULL */
	struct bt_buf pem;		 /* lock(lock): */
	/* owner: the reloading thread; last valid contents */
	struct bt_buf client_file, proxy_file, config_map;
	struct bt_log_limit log_limit;
};

struct bt_auth *bt_auth_create(const struct bt_auth_options *options)
{
	struct bt_auth *auth = bt_mem_zalloc(1, sizeof(*auth));

	auth->options = *options;
	bt_lock_init(&auth->lock);
	return auth;
}

static void drop_trusted_cas(struct trusted_cas *trusted_cas)
{
	if (trusted_cas && bt_sub(&trusted_cas->users, 1) == 1) {
		bt_authorities_destroy(trusted_cas->authorities);
		bt_front_proxy_destroy(trusted_cas->proxy);
		bt_mem_free(trusted_cas);
	}
}

static void forget(struct memory *memory)
{
	for (uint32_t i = 0; i < REMEMBERED; i++) {
		bt_user_fini(&memory->answers[i].user);
		bt_buf_fini(&memory->answers[i].reason);
	}
}

void bt_auth_destroy(struct bt_auth *auth)
{
	if (!auth) {
		return;
	}
	forget(&auth->tokens);
	forget(&auth->accesses);
	drop_trusted_cas(auth->trusted_cas);
	bt_buf_fini(&auth->client_file);
	bt_buf_fini(&auth->proxy_file);
	bt_buf_fini(&auth->config_map);
	bt_buf_fini(&auth->pem);
	bt_lock_fini(&auth->lock);
	bt_mem_free(auth);
}

/* ---- caches ---- */

static struct digest digest_of(const struct bt_str *parts, size_t n)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	struct digest digest = {{0}};

	EVP_DigestInit_ex(context, EVP_sha256(), NULL);
	for (size_t i = 0; i < n; i++) {
		uint64_t len = parts[i].len;

		EVP_DigestUpdate(context, &len, sizeof(len));
		EVP_DigestUpdate(context, parts[i].len ? parts[i].ptr : "", parts[i].len);
	}
	EVP_DigestFinal_ex(context, digest.bytes, NULL);
	EVP_MD_CTX_free(context);
	return digest;
}

static bool recall(struct bt_auth *auth, struct memory *memory, const struct digest *of, bool *out_yes,
	struct bt_user *out_user, struct bt_buf *out_reason)
{
	int64_t now_ns = bt_clock_now_ns(&auth->options.clock);
	bool found = false;

	bt_lock_acquire(&auth->lock);
	for (uint32_t i = 0; i < REMEMBERED && !found; i++) {
		const struct auth_answer *answer = &memory->answers[i];

		if (answer->until_ns <= now_ns || memcmp(&answer->of, of, sizeof(*of)) != 0) {
			continue;
		}
		found = true;
		*out_yes = answer->yes;
		if (out_user) {
			bt_user_copy(&answer->user, out_user);
		}
		bt_buf_str(out_reason, bt_buf_view(&answer->reason));
	}
	bt_lock_release(&auth->lock);
	return found;
}

static void remember(struct bt_auth *auth, struct memory *memory, const struct digest *of, int64_t ttl_ns,
	bool yes, const struct bt_user *user, const struct bt_buf *reason)
{
	int64_t now_ns = bt_clock_now_ns(&auth->options.clock);

	if (ttl_ns <= 0) {
		return;
	}
	bt_lock_acquire(&auth->lock);
	struct auth_answer *answer = &memory->answers[memory->next];

	memory->next = (memory->next + 1) % REMEMBERED;
	answer->of = *of;
	answer->until_ns = now_ns + ttl_ns;
	answer->yes = yes;
	if (user) {
		bt_user_copy(user, &answer->user);
	}
	bt_buf_clear(&answer->reason);
	bt_buf_str(&answer->reason, bt_buf_view(reason));
	bt_lock_release(&auth->lock);
}

/* ---- calls ---- */

/* Posts a review, or gets the ConfigMap. Returns: false with the reason in out_error. */
static bool call(struct bt_auth *auth, struct bt_http *http, const char *path, struct bt_str body,
	struct bt_buf *out_body, struct bt_buf *out_error)
{
	const struct bt_http_call call = {.method = body.len ? BT_HTTP_POST : BT_HTTP_GET,
		.path = bt_str(path),
		.accept = BT_STR("application/json"),
		.content_type = BT_STR("application/json"),
		.body = body,
		.timeout_ns = REVIEW_NS};
	struct bt_http_head head = {0};

	if (auth->options.fetch(http, &call, &head, out_body, out_error) != BT_HTTP_ANSWERED) {
		return false;
	}
	if (head.status / 100 != 2) {
		bt_buf_printf(out_error, "%s: HTTP status %u", path, head.status);
		return false;
	}
	return true;
}

static void log_refusal(struct bt_auth *auth, const char *message, const struct bt_buf *reason)
{
	uint64_t held_n;

	if (bt_log_due(&auth->log_limit, bt_clock_monotonic_ns(), LOG_INTERVAL_NS, &held_n)) {
		bt_log(BT_LOG_ERROR, 0, message,
			bt_log_fields(bt_log_str("err", bt_buf_view(reason)),
				bt_log_int("heldBack", (int64_t)held_n)));
	}
}

/* ---- authentication ---- */

enum auth_identity { IDENTITY_NONE = 0, IDENTITY_KNOWN, IDENTITY_WRONG };

static void add_group(void *context, struct bt_str name)
{
	bt_user_add_group(context, name);
}

static enum auth_identity check_certificate(const struct trusted_cas *trusted_cas,
	const struct bt_auth_request *request, struct bt_user *user, struct bt_buf *out_error)
{
	if (!trusted_cas->authorities) {
		return IDENTITY_NONE;
	}
	bt_user_begin_groups(user);
	enum bt_status status = bt_authorities_verify(trusted_cas->authorities, request->certificates,
		request->certificate_n, &user->name, add_group, user, out_error);

	bt_user_end_groups(user, false);
	return status == BT_OK ? IDENTITY_KNOWN : IDENTITY_WRONG;
}

/* Front proxies are checked first: the user that it names counts, not its own identity. A client that is not
 * a proxy is no error. */
static enum auth_identity check_proxy(const struct trusted_cas *trusted_cas,
	const struct bt_auth_request *request, struct bt_user *user, struct bt_buf *out_error)
{
	if (!trusted_cas->proxy) {
		return IDENTITY_NONE;
	}
	enum bt_status status = bt_front_proxy_identify(trusted_cas->proxy, request->certificates,
		request->certificate_n, request->headers, request->header_n, user, out_error);

	return status == BT_OK ? IDENTITY_KNOWN : status == BT_NOT_FOUND ? IDENTITY_NONE : IDENTITY_WRONG;
}

/* The user of a certificate, or the one that a proxy names; the reason of IDENTITY_WRONG is logged. */
static enum auth_identity check_certificates(
	struct bt_auth *auth, const struct bt_auth_request *request, struct bt_user *user)
{
	struct bt_buf of_proxy = {0}, of_client = {0};
	enum auth_identity identity = IDENTITY_NONE, client = IDENTITY_NONE;

	bt_lock_acquire(&auth->lock);
	struct trusted_cas *trusted_cas = auth->trusted_cas;

	if (trusted_cas) {
		bt_add(&trusted_cas->users, 1);
	}
	bt_lock_release(&auth->lock);
	if (trusted_cas && request->certificate_n) {
		identity = check_proxy(trusted_cas, request, user, &of_proxy);
		client = identity == IDENTITY_KNOWN
				 ? IDENTITY_NONE
				 : check_certificate(trusted_cas, request, user, &of_client);
		identity = client == IDENTITY_NONE ? identity : client;
	}
	if (identity == IDENTITY_WRONG) {
		log_refusal(
			auth, "Unable to authenticate the request", of_client.len ? &of_client : &of_proxy);
	}
	drop_trusted_cas(trusted_cas);
	bt_buf_fini(&of_proxy);
	bt_buf_fini(&of_client);
	return identity;
}

/* The token of "Bearer TOKEN"; empty if it has another form. */
static struct bt_str bearer(struct bt_str header)
{
	size_t at = bt_str_find(header, ' ', 0);

	if (at != 6 || strncasecmp(header.ptr, "bearer", 6) != 0) {
		return (struct bt_str){0};
	}
	while (at < header.len && header.ptr[at] == ' ') {
		at++;
	}
	struct bt_str token = bt_str_sub(header, at, header.len);

	token.len = bt_str_find(token, ' ', 0);
	return token;
}

static enum auth_identity check_token(struct bt_auth *auth, struct bt_str token, struct bt_user *user)
{
	const struct digest of = digest_of(&token, 1);
	struct bt_buf body = {0}, answer = {0}, error = {0};
	bool yes = false;

	if (token.len > TOKEN_BYTES) {
		return IDENTITY_WRONG;
	}
	if (!recall(auth, &auth->tokens, &of, &yes, user, &error)) {
		bt_review_token(token, &body);
		if (call(auth, auth->options.authentication, "/apis/authentication.k8s.io/v1/tokenreviews",
			    bt_buf_view(&body), &answer, &error) &&
			bt_review_read_token(bt_buf_view(&answer), &yes, user, &error)) {
			remember(auth, &auth->tokens, &of, auth->options.settings->token_ttl_ns, yes, user,
				&error);
		} else {
			yes = false;
			log_refusal(auth, "Unable to authenticate the request", &error);
		}
	}
	bt_buf_fini(&body);
	bt_buf_fini(&answer);
	bt_buf_fini(&error);
	return yes ? IDENTITY_KNOWN : IDENTITY_WRONG;
}

/* The first method that identifies the user decides. Invalid credentials are refused if no method succeeds;
 * only a request without credentials is anonymous. */
static enum auth_identity authenticate(
	struct bt_auth *auth, const struct bt_auth_request *request, struct bt_user *user)
{
	struct bt_str token = bearer(request->authorization);
	enum auth_identity identity = check_certificates(auth, request, user);

	if (identity != IDENTITY_KNOWN && token.len && auth->options.authentication) {
		identity = check_token(auth, token, user);
	}
	if (identity == IDENTITY_NONE) {
		bt_buf_text(&user->name, "system:anonymous");
		bt_user_begin_groups(user);
		bt_user_add_group(user, bt_str("system:unauthenticated"));
		bt_user_end_groups(user, true);
	}
	return identity;
}

/* ---- authorization ---- */

static struct bt_str without_slash(struct bt_str path)
{
	return bt_str_starts(path, "/") ? bt_str_sub(path, 1, path.len) : path;
}

static bool is_always_allowed(const struct bt_serve_settings *settings, struct bt_str path)
{
	struct bt_str wanted = without_slash(path);

	for (uint32_t i = 0; i < settings->always_allow.n; i++) {
		struct bt_str one = without_slash(settings->always_allow.items[i]);

		if (bt_str_eq(one, wanted)) {
			return true;
		}
		if (bt_str_ends(one, "*") && wanted.len >= one.len - 1 &&
			memcmp(wanted.ptr, one.ptr, one.len - 1) == 0) {
			return true;
		}
	}
	return false;
}

/* Returns: 200, 403 or 500, with the reason. */
static unsigned authorize(struct bt_auth *auth, const struct bt_auth_request *request,
	const struct bt_user *user, struct bt_buf *out_reason)
{
	const struct bt_str parts[] = {bt_buf_view(&user->name), bt_buf_view(&user->uid),
		bt_buf_view(&user->groups), bt_buf_view(&user->extra), request->path, bt_str(request->verb)};
	const struct bt_serve_settings *settings = auth->options.settings;
	struct bt_buf body = {0}, answer = {0};
	bool allowed = false, known;

	if (user->privileged || is_always_allowed(settings, request->path)) {
		return 200;
	}
	if (!auth->options.authorization) {
		return 403;
	}
	const struct digest of = digest_of(parts, sizeof(parts) / sizeof(*parts));

	known = recall(auth, &auth->accesses, &of, &allowed, NULL, out_reason);
	if (!known) {
		struct bt_buf error = {0};

		bt_review_access(user, request->path, request->verb, &body);
		known = call(auth, auth->options.authorization,
				"/apis/authorization.k8s.io/v1/subjectaccessreviews", bt_buf_view(&body),
				&answer, &error) &&
			bt_review_read_access(bt_buf_view(&answer), &allowed, out_reason, &error);
		if (known) {
			remember(auth, &auth->accesses, &of,
				allowed ? settings->allowed_ttl_ns : settings->refused_ttl_ns, allowed, NULL,
				out_reason);
		} else {
			log_refusal(auth, "Unable to authorize the request", &error);
			bt_buf_clear(out_reason);
			bt_buf_str(out_reason, bt_buf_view(&error));
		}
		bt_buf_fini(&error);
	}
	bt_buf_fini(&body);
	bt_buf_fini(&answer);
	return !known ? 500 : allowed ? 200 : 403;
}

/* Escapes HTML in foreign text. */
static void add_sane(struct bt_buf *out, struct bt_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '&' || c == '<' || c == '>') {
			bt_buf_text(out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
		} else {
			bt_buf_char(out, c);
		}
	}
}

static void auth_explain(unsigned status, const struct bt_auth_request *request, const struct bt_user *user,
	const struct bt_buf *reason, struct bt_buf *out)
{
	struct bt_buf text = {0};

	if (status == 403) {
		bt_buf_text(&text, "User ");
		bt_quote_json(&text, bt_buf_view(&user->name));
		bt_buf_printf(&text, " cannot %s path ", request->verb);
		bt_quote_json(&text, request->path);
		bt_buf_text(out, "forbidden: ");
		add_sane(out, bt_buf_view(&text));
		if (reason->len) {
			bt_buf_text(out, ": ");
			bt_buf_str(out, bt_buf_view(reason));
		}
	} else if (status == 500) {
		bt_buf_text(&text, "Internal Server Error: ");
		bt_quote_json(&text, request->path);
		bt_buf_printf(&text, ": %.*s", BT_STR_ARG(bt_buf_view(reason)));
		add_sane(out, bt_buf_view(&text));
	}
	bt_buf_fini(&text);
}

bool bt_auth_is_prompt(const struct bt_auth *auth, const struct bt_auth_request *request)
{
	return request->certificate_n == 0 && request->authorization.len == 0 &&
	       is_always_allowed(auth->options.settings, request->path);
}

unsigned bt_auth_decide(struct bt_auth *auth, const struct bt_auth_request *request, bool *out_known,
	struct bt_buf *out_message)
{
	struct bt_user user = {0};
	struct bt_buf reason = {0};
	unsigned status = 401;
	enum auth_identity identity = authenticate(auth, request, &user);

	*out_known = identity == IDENTITY_KNOWN;
	if (identity == IDENTITY_WRONG) {
		bt_buf_text(out_message, "Unauthorized");
	} else {
		status = authorize(auth, request, &user, &reason);
		auth_explain(status, request, &user, &reason, out_message);
	}
	bt_user_fini(&user);
	bt_buf_fini(&reason);
	return status;
}

/* ---- authorities ---- */

/* The CA of client certificates: of a file, or of the cluster. */
static void find_client_pem(struct bt_auth *auth, struct bt_buf *out_pem)
{
	if (auth->options.settings->client_ca_file) {
		bt_buf_str(out_pem, bt_buf_view(&auth->client_file));
	} else {
		bt_review_read_data(bt_buf_view(&auth->config_map), "client-ca-file", out_pem);
	}
}

/* A list of the cluster's front proxy settings. Returns: false with the reason in out_error. */
static bool find_list(struct bt_auth *auth, const char *key, struct bt_arena *arena,
	struct bt_str_list *out_list, struct bt_buf *out_error)
{
	struct bt_buf text = {0};

	bt_review_read_data(bt_buf_view(&auth->config_map), key, &text);
	bool good = bt_review_read_list(bt_buf_view(&text), arena, out_list);

	if (!good) {
		bt_buf_printf(out_error,
			"ConfigMap kube-system/extension-apiserver-authentication: %s: not a "
			"JSON array of strings",
			key);
	}
	bt_buf_fini(&text);
	return good;
}

/* Returns: whether a front proxy is configured, with its CA and headers; false with the reason in out_error
 * when its settings are invalid. */
static bool find_proxy(struct bt_auth *auth, struct bt_arena *arena, struct bt_front_proxy_settings *out,
	struct bt_buf *out_pem, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = auth->options.settings;
	struct bt_str map = bt_buf_view(&auth->config_map);

	if (settings->proxy_ca_file) {
		*out = settings->proxy;
		bt_buf_str(out_pem, bt_buf_view(&auth->proxy_file));
		return out_pem->len > 0;
	}
	bool good = bt_review_read_data(map, "requestheader-client-ca-file", out_pem);
	struct {
		const char *key;
		struct bt_str_list *list;
	} lists[] = {{"requestheader-allowed-names", &out->allowed_names},
		{"requestheader-username-headers", &out->username_headers},
		{"requestheader-group-headers", &out->group_headers},
		{"requestheader-extra-headers-prefix", &out->extra_prefixes},
		{"requestheader-uid-headers", &out->uid_headers}};
	size_t n = sizeof(lists) / sizeof(*lists) - settings->no_proxy_uids;

	for (size_t i = 0; i < n && good; i++) {
		good = find_list(auth, lists[i].key, arena, lists[i].list, out_error);
	}
	return good;
}

/* From what was read. Returns: NULL with the reason in out_error; out_pem: all CAs. */
static struct trusted_cas *make_trusted_cas(
	struct bt_auth *auth, struct bt_buf *out_pem, struct bt_buf *out_error)
{
	struct trusted_cas *trusted_cas = bt_mem_zalloc(1, sizeof(*trusted_cas));
	struct bt_front_proxy_settings proxy = {0};
	struct bt_arena arena = {0};
	struct bt_buf pem = {0};
	size_t before = out_error->len;

	*trusted_cas = (struct trusted_cas){.users = 1};
	find_client_pem(auth, out_pem);
	if (out_pem->len) {
		trusted_cas->authorities = bt_authorities_create(bt_buf_view(out_pem), out_error);
	}
	if (out_error->len == before && find_proxy(auth, &arena, &proxy, &pem, out_error)) {
		trusted_cas->proxy = bt_front_proxy_create(bt_buf_view(&pem), &proxy, out_error);
		bt_buf_text(out_pem, out_pem->len ? "\n" : "");
		bt_buf_str(out_pem, bt_buf_view(&pem));
	}
	bt_arena_fini(&arena);
	bt_buf_fini(&pem);
	if (out_error->len > before) {
		drop_trusted_cas(trusted_cas);
		return NULL;
	}
	return trusted_cas;
}

/* Replaces the CAs by what was read, if that is valid. */
static enum bt_status replace_trusted_cas(struct bt_auth *auth, struct bt_buf *out_error)
{
	struct bt_buf pem = {0}, why = {0};
	struct trusted_cas *trusted_cas = make_trusted_cas(auth, &pem, &why), *before = NULL;
	enum bt_status status = trusted_cas ? BT_OK : BT_INVALID;

	if (trusted_cas) {
		bt_lock_acquire(&auth->lock);
		before = auth->trusted_cas;
		auth->trusted_cas = trusted_cas;
		bt_buf_clear(&auth->pem);
		bt_buf_str(&auth->pem, bt_buf_view(&pem));
		bt_lock_release(&auth->lock);
		drop_trusted_cas(before);
	} else {
		bt_buf_str(out_error, bt_buf_view(&why));
	}
	bt_buf_fini(&pem);
	bt_buf_fini(&why);
	return status;
}

/* Reads the cluster's ConfigMap, for settings that no file has. */
static enum bt_status read_cluster(struct bt_auth *auth, struct bt_buf *out_map, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = auth->options.settings;
	struct bt_buf text = {0};
	enum bt_status status = BT_OK;
	const char *lacks = NULL;

	if (!call(auth, auth->options.authentication, LOOKUP_PATH, (struct bt_str){0}, out_map, out_error)) {
		return BT_IO;
	}
	if (!settings->client_ca_file &&
		!bt_review_read_data(bt_buf_view(out_map), "client-ca-file", &text)) {
		lacks = "client-ca-file";
	} else if (!settings->proxy_ca_file && !settings->tolerate_lookup_failure &&
		   !bt_review_read_data(bt_buf_view(out_map), "requestheader-client-ca-file", &text)) {
		lacks = "requestheader-client-ca-file";
	}
	if (lacks) {
		bt_buf_printf(out_error, "ConfigMap kube-system/extension-apiserver-authentication has no %s",
			lacks);
		status = BT_INVALID;
	}
	bt_buf_fini(&text);
	return status;
}

static void auth_keep(struct bt_buf *kept, struct bt_buf *read)
{
	bt_buf_clear(kept);
	bt_buf_str(kept, bt_buf_view(read));
}

static const enum bt_work_queue file_queues[] = {BT_WORK_CLIENT_CA_FILE, BT_WORK_PROXY_CA_FILE};

/* As upstream: not when files have all of it. */
static bool needs_config_map(const struct bt_auth *auth)
{
	const struct bt_serve_settings *settings = auth->options.settings;

	return (!settings->client_ca_file || !settings->proxy_ca_file) && !settings->skip_lookup &&
	       auth->options.authentication;
}

void bt_auth_add_work(const struct bt_auth *auth, int64_t now_ns)
{
	const struct bt_serve_settings *settings = auth->options.settings;
	const char *const files[] = {settings->client_ca_file, settings->proxy_ca_file};

	for (int i = 0; i < 2; i++) {
		if (files[i]) {
			bt_work_queues_add(auth->options.work_queues, file_queues[i], now_ns);
		}
	}
	if (needs_config_map(auth)) {
		bt_work_queues_add(auth->options.work_queues, BT_WORK_CLIENT_CA_MAP, now_ns);
	}
}

static void take_work(const struct bt_auth *auth, enum bt_work_queue queue)
{
	bt_work_queues_take(auth->options.work_queues, queue, bt_clock_monotonic_ns());
}

static void end_work(const struct bt_auth *auth, enum bt_work_queue queue, enum bt_status status)
{
	bt_work_queues_end(auth->options.work_queues, queue, status == BT_OK, bt_clock_monotonic_ns());
}

/* Reads the file of a flag, if it is set. */
static enum bt_status read_file(
	struct bt_auth *auth, int i, const char *path, struct bt_buf *kept, struct bt_buf *out_error)
{
	static const char *const flags[] = {"--client-ca-file: ", "--requestheader-client-ca-file: "};
	struct bt_buf read = {0}, why = {0};

	if (!path) {
		return BT_OK;
	}
	take_work(auth, file_queues[i]);
	enum bt_status status = bt_file_read(path, &read, &why);

	end_work(auth, file_queues[i], status);
	if (status == BT_OK) {
		auth_keep(kept, &read);
	} else {
		bt_buf_printf(out_error, "%s%s", out_error->len ? "; " : "", flags[i]);
		bt_buf_str(out_error, bt_buf_view(&why));
	}
	bt_buf_fini(&why);
	bt_buf_fini(&read);
	return status;
}

/* Called by one thread at a time, which owns what was read. */
enum bt_status bt_auth_reload(struct bt_auth *auth, bool *out_by_files, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = auth->options.settings;
	const char *const files[] = {settings->client_ca_file, settings->proxy_ca_file};
	struct bt_buf *const kept[] = {&auth->client_file, &auth->proxy_file};
	struct bt_buf read = {0};
	enum bt_status status = BT_OK, other = BT_OK;

	for (int i = 0; i < 2; i++) {
		other = read_file(auth, i, files[i], kept[i], out_error);
		status = status == BT_OK ? other : status;
	}
	*out_by_files = status != BT_OK;
	other = BT_OK;
	if (needs_config_map(auth)) {
		take_work(auth, BT_WORK_CLIENT_CA_MAP);
		other = read_cluster(auth, &read, out_error);
		end_work(auth, BT_WORK_CLIENT_CA_MAP, other);
		if (other == BT_OK) {
			auth_keep(&auth->config_map, &read);
		}
	}
	bt_buf_fini(&read);
	status = status == BT_OK ? other : status;
	other = replace_trusted_cas(auth, out_error);
	*out_by_files |= other != BT_OK && (files[0] || files[1]);
	return status == BT_OK ? other : status;
}

void bt_auth_authorities(struct bt_auth *auth, struct bt_buf *out_pem)
{
	uint32_t broken_n;

	bt_lock_acquire(&auth->lock);
	(void)bt_pem_certificates(bt_buf_view(&auth->pem), out_pem, &broken_n);
	bt_lock_release(&auth->lock);
}
