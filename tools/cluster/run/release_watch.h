/* SPDX-License-Identifier: Apache-2.0
 * Whose decisions are made on this cluster: asked when the scheduler begins, and now and then, since a
 * cluster is upgraded under it.
 *
 *   undecided --known, the same one-------------> settled --a newer one, for long (follow)--> change
 *             --known, another one--> change          \---a newer one, for long-> settled, said once
 *             --older than any-----> refused
 *
 * During an upgrade of several API servers each answer may come from another one. So a newer release counts
 * when it was answered often and for long without another answer between, and an older one never does: a
 * scheduler must not be newer than an API server, and it does not go back and forth.
 * Context: the main thread.
 */
#pragma once

#include "tools/cluster/run/server_version.h"

/* A newer release is believed after so many answers in a row, over so long. */
#define BT_RELEASE_WATCH_ANSWERS 3
#define BT_RELEASE_WATCH_NS	 INT64_C(20000000000)

/* How often the server is asked: until it has answered, and afterwards. */
#define BT_RELEASE_WATCH_SOON_NS  INT64_C(1000000000)
#define BT_RELEASE_WATCH_LATER_NS INT64_C(10000000000)

enum bt_release_change {
	BT_RELEASE_UNCHANGED = 0,
	BT_RELEASE_SETTLED, /* the assumed one is right */
	BT_RELEASE_CHANGE,  /* another one has to decide */
	BT_RELEASE_REFUSED  /* none that is known goes with the server; said */
};

struct bt_release_watch_options {
	const struct bt_release *release; /* the one that decides, or is assumed */
	bool fixed;			  /* by --kubernetes-version: a difference is said, and that is all */
	bool undecided;			  /* it is assumed only */
	bool follow;
	enum bt_server_answer (*ask)(
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
	bool said;
};

void bt_release_watch_init(
	struct bt_release_watch *watch, const struct bt_release_watch_options *options, int64_t now_ns);

/* Asks if that is due. out_release: of BT_RELEASE_CHANGE. */
enum bt_release_change bt_release_watch_look(
	struct bt_release_watch *watch, int64_t now_ns, const struct bt_release **out_release);

/* The candidate cannot be had, for a reason that was said: it is not offered again. */
void bt_release_watch_decline(struct bt_release_watch *watch);

/*
 * The first question. out_release is the release that decides, or the one that is assumed because the server
 * does not answer (out_undecided). What was found is logged.
 * Returns: false: the server is older than any release that is known; said.
 */
bool bt_release_watch_begin(const struct bt_release_watch_options *options,
	const struct bt_release **out_release, bool *out_undecided);
