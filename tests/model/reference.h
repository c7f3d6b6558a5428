/* SPDX-License-Identifier: Apache-2.0
 * A scheduler written as a readable model: evaluates one pod on one node at a time, directly from API
 * objects. No interned names, columns, plans or caches; slow. Source: the same as the plugins'.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/model/object.h"

#define REF_NODES_MAX	160
#define REF_REASONS_MAX 16
#define REF_TEXT_MAX	96

enum ref_score { REF_TAINTS = 0, REF_AFFINITY, REF_FIT, REF_BALANCED, REF_IMAGES, REF_SCORE_N };

enum ref_strategy { REF_LEAST = 0, REF_MOST, REF_RATIO };

struct ref_resource {
	const char *name;
	int64_t weight;
};

/* Settings of a profile. */
struct ref_settings {
	int64_t weights[REF_SCORE_N];
	enum ref_strategy strategy;
	struct ref_resource resources[4];
	uint32_t resource_n;
	struct {
		int64_t utilization, score; /* both 0 to 100 */
	} shape[3];
	uint32_t shape_n;
	bool compare_numbers;
};

/* The default profile. */
struct ref_settings ref_defaults(void);

/* A pod; node is empty while it is pending. */
struct ref_pod {
	const struct bt_pod_object *object;
	struct bt_str node;
};

struct ref_cluster {
	const struct bt_node_object *nodes[REF_NODES_MAX];
	uint32_t node_n;
	struct ref_pod *pods; /* those with a node count there */
	uint32_t pod_n;
};

struct ref_node_verdict {
	bool evaluated; /* PreFilter did not exclude it */
	bool passes, unresolvable;
	const char *plugin; /* the plugin that refuses */
	char reasons[REF_REASONS_MAX][REF_TEXT_MAX];
	uint32_t reason_n;
	int64_t scores[REF_SCORE_N]; /* weighted */
	int64_t total;
};

struct ref_verdict {
	const char *refusal; /* of PreFilter, for all nodes */
	bool narrowed;
	bool failed;				      /* scoring ends in an error */
	struct ref_node_verdict nodes[REF_NODES_MAX]; /* indexed as in the cluster */
	uint32_t node_n, feasible_n;
	int64_t best;
};

void ref_judge(const struct ref_cluster *cluster, const struct ref_settings *settings,
	const struct bt_pod_object *pod, struct ref_verdict *out);

/* The message of a pod that fits nowhere, in the default profile. */
void ref_message(const struct ref_verdict *verdict, struct bt_buf *out);

/* The name of a score's plugin. */
const char *ref_score_name(enum ref_score score);
