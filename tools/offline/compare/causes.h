/* SPDX-License-Identifier: Apache-2.0
 * Compares decisions under two releases, and finds the release difference that causes each change. It follows
 * a journal: every decision is evaluated in the cluster that the journal's scheduler saw. Context: one
 * thread.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "engine/flow/pipeline/journal.h"

/* The recorded part of a release's decision. */
struct bt_verdict_key {
	uint64_t choice;  /* a hash of outcome, node, nominated node, victims; of a failure the error, too */
	uint64_t message; /* a hash of the text */
};

enum bt_difference_kind {
	BT_DIFFERENT_NODE = 0,
	BT_PLACED_INSTEAD,  /* refused before */
	BT_REFUSED_INSTEAD, /* placed before */
	BT_DIFFERENT_PREEMPTION,
	BT_DIFFERENT_FAILURE, /* an error in one release, a refusal in the other */
	BT_DIFFERENT_MESSAGE, /* nothing but the text */
	BT_DIFFERENCE_N
};

/* Causes that are named beside the first one. */
#define BT_OTHER_CAUSES 3

/* A decision that differs. Texts are in the comparison's arena. */
struct bt_difference {
	uint64_t number; /* of the decision, from 1 */
	enum bt_difference_kind kind;
	struct bt_str pod;	/* namespace/name */
	struct bt_str from, to; /* the node, or the other outcome */
	struct bt_str from_message, to_message;
	struct bt_verdict_key from_key, to_key;
	uint32_t cause; /* BT_NO_CAUSE: unknown */
	/* Several differences are needed: the cause is one of them, and so are others; more_n counts those
	 * that found no room. */
	bool together;
	uint32_t others[BT_OTHER_CAUSES], other_n, more_n;
};

#define BT_NO_CAUSE UINT32_MAX

enum bt_cause_kind { BT_CAUSE_RULE = 0, BT_CAUSE_TEXTS, BT_CAUSE_PLUGIN, BT_CAUSE_GATE };

/* A difference between the releases. */
struct bt_cause {
	enum bt_cause_kind kind;
	uint32_t number; /* enum bt_rule, enum bt_gate, or of a default plugin (bt_release_plugin_name) */
	uint64_t decision_n, message_n; /* number of changes by it; of these, changes of the text only */
};

/* Reads the configuration under gates, whose release may be a mixture. Returns: false with the reason in
 * out_error. Owns: the caller; bt_config_fini, in any case. */
typedef bool bt_make_config_fn(
	void *context, const struct bt_gates *gates, struct bt_config *out_config, struct bt_buf *out_error);

struct bt_comparison {
	/* Set by the caller. */
	struct bt_gates from, to;
	bt_make_config_fn *make_config;
	void *context;
	struct bt_journal_codec codec;
	bool (*stop)(void); /* polled for an early end; or NULL */
	/* The result. */
	uint64_t decision_n;
	uint64_t foreign_n;		   /* decisions of the journal that differ from the older release's */
	struct bt_difference *differences; /* in order of decisions */
	size_t difference_n;
	struct bt_cause *causes; /* all tested ones */
	size_t cause_n;
	uint64_t kind_n[BT_DIFFERENCE_N];
	/* private: */
	struct bt_arena arena;
	struct bt_difference_record *records; /* by decision */
	size_t record_cap, difference_cap, cause_cap;
	size_t gates_at; /* the first cause that is a gate */
	enum bt_status status;
};

/*
 * Follows the journal under both releases, then once per difference between them.
 * Returns: BT_OK, also when stopped; else the reason in out_error.
 */
enum bt_status bt_compare_journal(
	struct bt_comparison *comparison, struct bt_str bytes, struct bt_buf *out_error);

/* A cause's name: a rule in words, a gate's name. */
void bt_cause_name(const struct bt_cause *cause, struct bt_buf *out);
void bt_comparison_fini(struct bt_comparison *comparison);
