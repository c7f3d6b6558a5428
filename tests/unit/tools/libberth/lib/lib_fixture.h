/* SPDX-License-Identifier: Apache-2.0
 * A handle of libberth with objects from text, for tests.
 */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/berth.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define NODE(name, cpu)                                                                                      \
	"{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {kubernetes.io/hostname: " name     \
	"}}, status: {allocatable: {cpu: '" cpu "', memory: 8Gi, pods: '10'}}}\n---\n"
#define POD(name, cpu) POD_WITH(name, cpu, "")
#define POD_WITH(name, cpu, more)                                                                            \
	"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: " name "}, spec: {" more           \
	"containers: [{name: main, resources: {requests: {cpu: '" cpu "', memory: 1Gi}}}]}}\n---\n"

static inline struct berth *make_with(const struct berth_options *options)
{
	struct berth *berth = NULL;

	if (berth_create(options, &berth) != BERTH_OK) {
		fail_msg("berth_create: %s", berth_error(NULL));
	}
	return berth;
}

static inline void feed(struct berth *berth, const char *text)
{
	if (berth_apply(berth, text, strlen(text), 0, NULL) != BERTH_OK) {
		fail_msg("berth_apply: %s", berth_error(berth));
	}
}

/* The next decision, which must concern the pod with this name. */
static inline const struct berth_decision *decide(struct berth *berth, const char *name)
{
	const struct berth_decision *decision = NULL;

	if (berth_next_decision(berth, 0, &decision) != BERTH_OK) {
		fail_msg("no decision about %s: %s", name, berth_error(berth));
	}
	assert_string_equal(decision->pod.name, name);
	return decision;
}

static inline void expect_none(struct berth *berth)
{
	const struct berth_decision *decision = NULL;

	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_TIMEOUT);
	assert_null(decision);
}

static inline void expect_pod(
	struct berth *berth, const char *name, enum berth_pod_state want, const char *want_node)
{
	enum berth_pod_state state = BERTH_POD_UNKNOWN;
	const char *node = NULL;

	assert_int_equal(berth_find_pod(berth, NULL, name, &state, &node), BERTH_OK);
	assert_int_equal(state, want);
	assert_string_equal(node, want_node);
}

static inline struct berth_counts counts_of(struct berth *berth)
{
	struct berth_counts counts;

	BERTH_INIT(&counts);
	assert_int_equal(berth_get_counts(berth, &counts), BERTH_OK);
	return counts;
}

static inline void expect_error(const struct berth *berth, const char *part)
{
	if (!strstr(berth_error(berth), part)) {
		fail_msg("\"%s\" does not hold \"%s\"", berth_error(berth), part);
	}
}
