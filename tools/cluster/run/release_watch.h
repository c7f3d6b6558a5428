/* SPDX-License-Identifier: Apache-2.0
 * Determines the release in effect: reads the server's version at the start and periodically, because the
 * cluster may be upgraded.
 *
 *   undecided --known, the same one-------------> settled --a newer one, for long (follow)--> change
 *             --known, another one--> change          \---a newer one, for long-> settled, logged once
 *             --older than any-----> refused
 *
 * During an upgrade of several API servers each answer may come from another one. So a newer release is
 * accepted only after several identical answers over some time, and an older one never is: a scheduler must
 * not be newer than an API server, and must not alternate between releases.
 * Context: the main thread.
 */
#pragma once

#include "tools/cluster/run/server_version.h"

/* A newer release is accepted after this many consecutive answers, over this time. */
#define BT_RELEASE_WATCH_ANSWERS 3
#define BT_RELEASE_WATCH_NS	 INT64_C(20000000000)

/* How often the version is read: before the first answer, and afterwards. */
#define BT_RELEASE_WATCH_SOON_NS  INT64_C(1000000000)
#define BT_RELEASE_WATCH_LATER_NS INT64_C(10000000000)

enum bt_release_change {
	BT_RELEASE_UNCHANGED = 0,
	BT_RELEASE_SETTLED, /* the assumed release is right */
	BT_RELEASE_CHANGE,  /* another release must take effect */
	BT_RELEASE_REFUSED  /* no known release matches the server; logged */
};

struct bt_release_watch_options {
	const struct bt_release *release; /* in effect, or assumed */
	bool fixed;			  /* by --kubernetes-version: a difference is only logged */
	bool undecided;			  /* release is assumed */
	bool follow;
	enum bt_server_answer (*read_version)(
		void *context, struct bt_server_version *out_version, struct bt_buf *out_error);
	void *context;
};

/* A plain value. */
struct bt_release_watch {
	struct bt_release_watch_options options;
	int64_t next_ns;
	const struct bt_release *candidate;
	uint32_t seen_n;
	int64_t since_ns;
	bool logged;
};

void bt_release_watch_init(
	struct bt_release_watch *watch, const struct bt_release_watch_options *options, int64_t now_ns);

/* Reads the version when that is due. out_release: of BT_RELEASE_CHANGE. */
enum bt_release_change bt_release_watch_tick(
	struct bt_release_watch *watch, int64_t now_ns, const struct bt_release **out_release);

/* The candidate cannot take effect; the reason was logged. It is not offered again. */
void bt_release_watch_decline(struct bt_release_watch *watch);

/*
 * The first read. out_release is the release in effect, or the assumed one because the server does not answer
 * (out_undecided). Logs the result.
 * Returns: false: the server is older than any known release; logged.
 */
bool bt_release_watch_begin(const struct bt_release_watch_options *options,
	const struct bt_release **out_release, bool *out_undecided);
