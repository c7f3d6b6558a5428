/* SPDX-License-Identifier: Apache-2.0
 * Compares kube-scheduler's answers with ours. An answer has items (the pods of a scenario or the steps of a
 * history), and one text for each aspect of an item. Where kube-scheduler's result is random, every possible
 * one is accepted: "any", "gatedToo" and "or" in the answers mark these places.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "answers.h"

enum { ANSWERS_ASPECTS_MAX = 14 };

struct answers_item {
	struct bt_str name; /* the pod; empty for a step */
	struct bt_str aspects[ANSWERS_ASPECTS_MAX];
	bool any; /* random upstream: not compared */
};

/* Layout of an answer. */
struct answers_kind {
	const char *item_key;		 /* the items' member of an answer */
	const char *const *aspect_names; /* ends with NULL */
	int error_aspect;		 /* for an item without an answer; < 0: none */
	void (*play)(const struct bt_release *release, struct bt_str question, struct bt_buf *out);
	void (*read_item)(struct answers_reader *r, struct answers_item *out);
	/* Is our text accepted? */
	bool (*agrees)(int aspect, struct bt_str want, struct bt_str got);
};

extern const struct answers_kind answers_of_scenarios, answers_of_histories, answers_by_columns;

/* Is got among the texts in want, separated by between? An empty want matches only an empty got. */
bool answers_one_of(struct bt_str want, char between, struct bt_str got);

/* One answer. Owns: the items; their texts live in the reader's arena and in the line. */
struct answers_answer {
	struct bt_str id;
	bool error;	/* could not be answered to its end */
	bool by_chance; /* random upstream from some step on: neither the number of steps
			 * nor the error is compared */
	struct answers_item *items;
	size_t n, cap;
};

struct answers_comparison {
	const struct answers_kind *kind;
	struct answers_reader want_reader, got_reader;
	struct answers_answer want, got;
	uint64_t same[ANSWERS_ASPECTS_MAX], item_n, answer_n, differing_n;
	unsigned shown;
};

/* Owns: answers_comparison_end. */
void answers_comparison_begin(struct answers_comparison *c, const struct answers_kind *kind);
void answers_comparison_end(struct answers_comparison *c);

/*
 * Compares two lines; got is empty where we have no answer. Prints the first differences.
 * Returns: false when want cannot be parsed, or got answers another question.
 */
bool answers_compare(struct answers_comparison *c, struct bt_str want, struct bt_str got);
