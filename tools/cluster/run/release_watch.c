/* SPDX-License-Identifier: Apache-2.0
 * Determines the release in effect, by several answers of the server.
 */
#include "tools/cluster/run/release_watch.h"

#include <stdio.h>

#include "tools/kube/log/log.h"

static void log_versions(enum bt_log_level level, const char *text, const struct bt_release *release,
	const struct bt_server_version *version)
{
	bt_log(level, 0, text,
		bt_log_fields(bt_log_str("release", bt_str(release->name)),
			bt_log_str("server", bt_str(version->git))));
}

static bool is_newer(const struct bt_server_version *version, const struct bt_release *release)
{
	return version->minor > (int)release->minor;
}

/* Logs which release matches a server, and why. */
static void log_release(const struct bt_release *release, const struct bt_server_version *version)
{
	if (is_newer(version, release)) {
		log_versions(BT_LOG_WARNING,
			"The API server is newer than every release that is known here; decisions are those "
			"of the newest one. Use a berth that knows the server's release",
			release, version);
	} else {
		log_versions(
			BT_LOG_INFO, "Decisions are those of the API server's release", release, version);
	}
}

static void refuse(const struct bt_server_version *version)
{
	struct bt_buf known = {0};

	bt_release_list(&known);
	bt_log(BT_LOG_ERROR, 0,
		"The API server is older than every release that is known here, and a scheduler must not be "
		"newer than its API server; upgrade the server, or choose a release by --kubernetes-version",
		bt_log_fields(bt_log_str("server", bt_str(version->git)),
			bt_log_str("known", bt_buf_view(&known))));
	bt_buf_fini(&known);
}

static void warn_no_version(const struct bt_release *release, const struct bt_buf *why)
{
	bt_log(BT_LOG_WARNING, 0,
		"The API server does not report its version; decisions are those of the newest release that "
		"is "
		"known. Choose another one by --kubernetes-version",
		bt_log_fields(
			bt_log_str("release", bt_str(release->name)), bt_log_str("err", bt_buf_view(why))));
}

static const struct bt_release *newest(void)
{
	const struct bt_release *release = NULL, *next;

	for (uint32_t i = 0; (next = bt_release_at(i)); i++) {
		release = next;
	}
	return release;
}

bool bt_release_watch_begin(const struct bt_release_watch_options *options,
	const struct bt_release **out_release, bool *out_undecided)
{
	struct bt_server_version version;
	struct bt_buf why = {0};
	const struct bt_release *release = options->release;
	enum bt_server_answer answer = options->read_version(options->context, &version, &why);

	if (answer == BT_SERVER_KNOWN) {
		release = bt_server_version_release(&version);
		if (release) {
			log_release(release, &version);
		} else {
			refuse(&version);
		}
	} else if (answer == BT_SERVER_NO_VERSION) {
		release = newest();
		warn_no_version(release, &why);
	} else {
		bt_log(BT_LOG_WARNING, 0,
			"The API server does not answer; whose decisions are made depends on its version, "
			"and "
			"none is made before",
			bt_log_fields(bt_log_str("err", bt_buf_view(&why))));
	}
	*out_release = release;
	*out_undecided = answer == BT_SERVER_UNREACHABLE;
	bt_buf_fini(&why);
	return release != NULL;
}

void bt_release_watch_init(
	struct bt_release_watch *watch, const struct bt_release_watch_options *options, int64_t now_ns)
{
	bool soon = options->undecided || options->fixed;

	*watch = (struct bt_release_watch){.options = *options,
		.next_ns = now_ns + (soon ? BT_RELEASE_WATCH_SOON_NS : BT_RELEASE_WATCH_LATER_NS)};
}

void bt_release_watch_decline(struct bt_release_watch *watch)
{
	watch->logged = true;
	watch->options.follow = false;
}

/* The first answer, after the scheduler started without one. */
static enum bt_release_change settle_known(struct bt_release_watch *watch,
	const struct bt_server_version *version, const struct bt_release **out_release)
{
	const struct bt_release *release = bt_server_version_release(version);

	if (!release) {
		refuse(version);
		return BT_RELEASE_REFUSED;
	}
	log_release(release, version);
	watch->options.undecided = false;
	*out_release = release;
	return release == watch->options.release ? BT_RELEASE_SETTLED : BT_RELEASE_CHANGE;
}

static enum bt_release_change settle_unanswered(
	struct bt_release_watch *watch, const struct bt_buf *why, const struct bt_release **out_release)
{
	*out_release = newest();
	warn_no_version(*out_release, why);
	watch->options.undecided = false;
	return *out_release == watch->options.release ? BT_RELEASE_SETTLED : BT_RELEASE_CHANGE;
}

/* Logs once that --kubernetes-version differs from the server's version. */
static void compare(struct bt_release_watch *watch, const struct bt_server_version *version)
{
	if (!watch->logged && version->minor != (int)watch->options.release->minor) {
		log_versions(BT_LOG_WARNING,
			"The API server is of another minor version than the decisions; what only one of "
			"both "
			"knows counts for nothing. Leave --kubernetes-version out, or give the server's",
			watch->options.release, version);
	}
	watch->logged = true;
}

/* Whether a newer release was answered for long enough. */
static bool is_stable(struct bt_release_watch *watch, const struct bt_release *release, int64_t now_ns)
{
	if (!release || release->minor <= watch->options.release->minor) {
		watch->candidate = NULL;
		return false;
	}
	if (release != watch->candidate) {
		watch->candidate = release;
		watch->seen_n = 0;
		watch->since_ns = now_ns;
	}
	return ++watch->seen_n >= BT_RELEASE_WATCH_ANSWERS && now_ns - watch->since_ns >= BT_RELEASE_WATCH_NS;
}

static enum bt_release_change follow(struct bt_release_watch *watch, const struct bt_server_version *version,
	int64_t now_ns, const struct bt_release **out_release)
{
	const struct bt_release *release = bt_server_version_release(version);

	if (!is_stable(watch, release, now_ns)) {
		return BT_RELEASE_UNCHANGED;
	}
	if (watch->options.follow) {
		log_versions(BT_LOG_INFO, "The API server has been upgraded; its release decides from now on",
			release, version);
		*out_release = release;
		return BT_RELEASE_CHANGE;
	}
	if (!watch->logged) {
		log_versions(BT_LOG_WARNING,
			"The API server has been upgraded; its release decides from the next start on, or at "
			"once "
			"with --follow-server",
			release, version);
		watch->logged = true;
	}
	return BT_RELEASE_UNCHANGED;
}

enum bt_release_change bt_release_watch_tick(
	struct bt_release_watch *watch, int64_t now_ns, const struct bt_release **out_release)
{
	const struct bt_release_watch_options *options = &watch->options;
	enum bt_release_change change = BT_RELEASE_UNCHANGED;
	struct bt_server_version version;
	struct bt_buf why = {0};

	if (now_ns < watch->next_ns || (options->fixed && watch->logged)) {
		return BT_RELEASE_UNCHANGED;
	}
	enum bt_server_answer answer = options->read_version(options->context, &version, &why);

	if (answer == BT_SERVER_KNOWN) {
		if (options->fixed) {
			compare(watch, &version);
		} else {
			change = options->undecided ? settle_known(watch, &version, out_release)
						    : follow(watch, &version, now_ns, out_release);
		}
	} else if (answer == BT_SERVER_NO_VERSION && options->undecided) {
		change = settle_unanswered(watch, &why, out_release);
	} else if (answer == BT_SERVER_NO_VERSION && options->fixed) {
		watch->logged = true;
	}
	bt_buf_fini(&why);
	watch->next_ns = now_ns + (options->undecided || options->fixed ? BT_RELEASE_WATCH_SOON_NS
									: BT_RELEASE_WATCH_LATER_NS);
	return change;
}
