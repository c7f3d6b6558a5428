/* SPDX-License-Identifier: Apache-2.0
 * Authentication and authorization by the API server. A lock guards what is remembered; nobody holds it while
 * the API server is asked.
 */
#include "tools/serve/auth.h"

#include <openssl/evp.h>
#include <strings.h>

#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/cli/json_write.h"
#include "tools/log/log.h"
#include "tools/serve/certificate.h"
#include "tools/serve/client_certificate.h"
#include "tools/serve/review.h"

/* So many answers of each kind are remembered; a new one takes the place of the oldest. */
#define REMEMBERED   512
#define DIGEST_BYTES 32
#define TOKEN_BYTES  8192
#define REVIEW_NS    INT64_C(10000000000)
#define SAY_NS	     INT64_C(30000000000)

#define LOOKUP_PATH "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

struct digest {
	unsigned char bytes[DIGEST_BYTES];
};

/* An answer that was given: who a token is, or whether somebody may. */
struct answer {
	struct digest of;
	int64_t until_ns; /* 0: none */
	bool yes;
	struct bt_user user;
	struct bt_buf reason;
};

struct memory {
	struct answer answers[REMEMBERED];
	uint32_t next;
};

/* Reading, that requests in hand go on with while there is a new one. */
struct believed {
	struct bt_authorities *authorities;
	_Atomic uint32_t users;
};

struct bt_auth {
	struct bt_auth_options options; /* init: */
	struct bt_lock lock;
	struct memory tokens, accesses; /* lock(lock): */
	struct believed *believed;	/* lock(lock): NULL: client certificates are not looked at */
	struct bt_buf from_file, from_cluster, pem; /* lock(lock): */
	struct bt_log_limit said;
};

struct bt_auth *bt_auth_create(const struct bt_auth_options *options)
{
	struct bt_auth *auth = bt_mem_zalloc(1, sizeof(*auth));

	auth->options = *options;
	bt_lock_init(&auth->lock);
	return auth;
}

static void drop_believed(struct believed *believed)
{
	if (believed && bt_sub(&believed->users, 1) == 1) {
		bt_authorities_destroy(believed->authorities);
		bt_mem_free(believed);
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
	drop_believed(auth->believed);
	bt_buf_fini(&auth->from_file);
	bt_buf_fini(&auth->from_cluster);
	bt_buf_fini(&auth->pem);
	bt_lock_fini(&auth->lock);
	bt_mem_free(auth);
}

/* ---- what is remembered ---- */

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
		const struct answer *answer = &memory->answers[i];

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
	struct answer *answer = &memory->answers[memory->next];

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

static void say(struct bt_auth *auth, const char *message, const struct bt_buf *reason)
{
	uint64_t held_n;

	if (bt_log_due(&auth->said, bt_clock_monotonic_ns(), SAY_NS, &held_n)) {
		bt_log(BT_LOG_ERROR, 0, message,
			bt_log_fields(bt_log_str("err", bt_buf_view(reason)),
				bt_log_int("heldBack", (int64_t)held_n)));
	}
}

/* ---- who ---- */

enum who { WHO_NOBODY = 0, WHO_KNOWN, WHO_WRONG };

static void add_group(void *context, struct bt_str name)
{
	bt_user_add_group(context, name);
}

static enum who ask_certificate(
	struct bt_auth *auth, const struct bt_auth_request *request, struct bt_user *user)
{
	struct bt_buf error = {0};
	enum who who = WHO_NOBODY;

	bt_lock_acquire(&auth->lock);
	struct believed *believed = auth->believed;

	if (believed) {
		bt_add(&believed->users, 1);
	}
	bt_lock_release(&auth->lock);
	if (believed && request->certificate_n) {
		bt_user_begin_groups(user);
		who = bt_authorities_verify(believed->authorities, request->certificates,
			      request->certificate_n, &user->name, add_group, user, &error) == BT_OK
			      ? WHO_KNOWN
			      : WHO_WRONG;
		bt_user_end_groups(user, false);
	}
	if (who == WHO_WRONG) {
		say(auth, "Unable to authenticate the request", &error);
	}
	drop_believed(believed);
	bt_buf_fini(&error);
	return who;
}

/* The token of "Bearer TOKEN"; empty when it is none. */
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

static enum who ask_token(struct bt_auth *auth, struct bt_str token, struct bt_user *user)
{
	const struct digest of = digest_of(&token, 1);
	struct bt_buf body = {0}, answer = {0}, error = {0};
	bool yes = false;

	if (token.len > TOKEN_BYTES) {
		return WHO_WRONG;
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
			say(auth, "Unable to authenticate the request", &error);
		}
	}
	bt_buf_fini(&body);
	bt_buf_fini(&answer);
	bt_buf_fini(&error);
	return yes ? WHO_KNOWN : WHO_WRONG;
}

/* The first who knows somebody counts; else somebody who was wrong is nobody's guest. */
static enum who authenticate(
	struct bt_auth *auth, const struct bt_auth_request *request, struct bt_user *user)
{
	struct bt_str token = bearer(request->authorization);
	enum who who = ask_certificate(auth, request, user);

	if (who != WHO_KNOWN && token.len && auth->options.authentication) {
		who = ask_token(auth, token, user);
	}
	if (who == WHO_NOBODY) {
		bt_buf_text(&user->name, "system:anonymous");
		bt_user_begin_groups(user);
		bt_user_add_group(user, bt_str("system:unauthenticated"));
		bt_user_end_groups(user, true);
	}
	return who;
}

/* ---- whether ---- */

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
			say(auth, "Unable to authorize the request", &error);
			bt_buf_clear(out_reason);
			bt_buf_str(out_reason, bt_buf_view(&error));
		}
		bt_buf_fini(&error);
	}
	bt_buf_fini(&body);
	bt_buf_fini(&answer);
	return !known ? 500 : allowed ? 200 : 403;
}

/* No text of ours looks like HTML. */
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

static void explain(unsigned status, const struct bt_auth_request *request, const struct bt_user *user,
	const struct bt_buf *reason, struct bt_buf *out)
{
	struct bt_buf text = {0};

	if (status == 403) {
		bt_buf_text(&text, "User ");
		bt_json_write_quote(bt_buf_view(&user->name), &text);
		bt_buf_printf(&text, " cannot %s path ", request->verb);
		bt_json_write_quote(request->path, &text);
		bt_buf_text(out, "forbidden: ");
		add_sane(out, bt_buf_view(&text));
		if (reason->len) {
			bt_buf_text(out, ": ");
			bt_buf_str(out, bt_buf_view(reason));
		}
	} else if (status == 500) {
		bt_buf_text(&text, "Internal Server Error: ");
		bt_json_write_quote(request->path, &text);
		bt_buf_printf(&text, ": %.*s", BT_STR_ARG(bt_buf_view(reason)));
		add_sane(out, bt_buf_view(&text));
	}
	bt_buf_fini(&text);
}

unsigned bt_auth_decide(
	struct bt_auth *auth, const struct bt_auth_request *request, struct bt_buf *out_message)
{
	struct bt_user user = {0};
	struct bt_buf reason = {0};
	unsigned status = 401;

	if (authenticate(auth, request, &user) == WHO_WRONG) {
		bt_buf_text(out_message, "Unauthorized");
	} else {
		status = authorize(auth, request, &user, &reason);
		explain(status, request, &user, &reason, out_message);
	}
	bt_user_fini(&user);
	bt_buf_fini(&reason);
	return status;
}

/* ---- authorities ---- */

/* Believes what has been read, when it has changed and can be used. */
static enum bt_status believe(struct bt_auth *auth, const struct bt_buf *file, const struct bt_buf *cluster,
	struct bt_buf *out_error)
{
	struct bt_buf pem = {0};
	struct believed *believed = NULL, *before = NULL;
	enum bt_status status = BT_OK;

	bt_buf_str(&pem, bt_buf_view(file));
	bt_buf_text(&pem, file->len ? "\n" : "");
	bt_buf_str(&pem, bt_buf_view(cluster));
	if (pem.len) {
		struct bt_authorities *authorities = bt_authorities_create(bt_buf_view(&pem), out_error);

		status = authorities ? BT_OK : BT_INVALID;
		if (authorities) {
			believed = bt_mem_zalloc(1, sizeof(*believed));
			*believed = (struct believed){.authorities = authorities, .users = 1};
		}
	}
	if (status == BT_OK) {
		bt_lock_acquire(&auth->lock);
		before = auth->believed;
		auth->believed = believed;
		bt_buf_clear(&auth->pem);
		bt_buf_str(&auth->pem, bt_buf_view(&pem));
		bt_lock_release(&auth->lock);
		drop_believed(before);
	}
	bt_buf_fini(&pem);
	return status;
}

static enum bt_status read_cluster(struct bt_auth *auth, struct bt_buf *out_pem, struct bt_buf *out_error)
{
	struct bt_buf answer = {0};
	enum bt_status status = BT_OK;

	if (!call(auth, auth->options.authentication, LOOKUP_PATH, (struct bt_str){0}, &answer, out_error)) {
		status = BT_IO;
	} else if (!bt_review_read_authorities(bt_buf_view(&answer), out_pem)) {
		bt_buf_text(out_error, "ConfigMap kube-system/extension-apiserver-authentication has no "
				       "client-ca-file");
		status = BT_INVALID;
	}
	bt_buf_fini(&answer);
	return status;
}

/* Called by one thread at a time: from_file and from_cluster are its own. */
enum bt_status bt_auth_reload(struct bt_auth *auth, struct bt_buf *out_error)
{
	const struct bt_serve_settings *settings = auth->options.settings;
	struct bt_buf read = {0};
	enum bt_status status = BT_OK, other;

	if (settings->client_ca_file) {
		status = bt_file_read(settings->client_ca_file, &read, out_error);
		if (status == BT_OK) {
			bt_buf_clear(&auth->from_file);
			bt_buf_str(&auth->from_file, bt_buf_view(&read));
		}
	}
	/* As upstream: with a file, the cluster's is not asked for. */
	if (!settings->client_ca_file && !settings->skip_lookup && auth->options.authentication) {
		status = read_cluster(auth, &read, out_error);
		if (status == BT_OK) {
			bt_buf_clear(&auth->from_cluster);
			bt_buf_str(&auth->from_cluster, bt_buf_view(&read));
		}
	}
	bt_buf_fini(&read);
	other = believe(auth, &auth->from_file, &auth->from_cluster, out_error);
	return status == BT_OK ? other : status;
}

void bt_auth_authorities(struct bt_auth *auth, struct bt_buf *out_pem)
{
	bt_lock_acquire(&auth->lock);
	bt_buf_str(out_pem, bt_buf_view(&auth->pem));
	bt_lock_release(&auth->lock);
}
