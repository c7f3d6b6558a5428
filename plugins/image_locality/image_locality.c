/* SPDX-License-Identifier: Apache-2.0
 * ImageLocality. An image counts its size, scaled by the share of nodes that have it, so that one popular
 * node does not attract everything. Source: plugins/imagelocality, v1.36.3.
 */
#include "plugins/image_locality/image_locality.h"

#include "engine/base/wrap.h"

#define MIB		      (1024ll * 1024)
#define MIN_SUM		      (23 * MIB)
#define IMAGES_OF_LINE	      16
#define AHEAD		      8 /* nodes */
#define MAX_SUM_PER_CONTAINER (1000 * MIB)

/* An image of the pod that some node has, and what it adds to the sum; an image named twice counts twice. */
struct wanted {
	uint32_t name;
	int64_t worth;
};

struct term {
	const struct wanted *items;
	uint32_t n;
	int64_t max_sum;
};

static const struct bt_image *find_image(const struct bt_snapshot *snapshot, uint32_t name)
{
	for (uint32_t i = 0; i < snapshot->image_n; i++) {
		if (snapshot->images[i].name == name && snapshot->images[i].node_n) {
			return &snapshot->images[i];
		}
	}
	return NULL;
}

static void compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	const struct bt_snapshot *snapshot = env->snapshot;
	struct term *term = bt_arena_zalloc(env->arena, sizeof(*term));
	struct wanted *items = bt_arena_zalloc(env->arena, signature->image_n * sizeof(*items));

	(void)settings;
	for (uint32_t i = 0; i < signature->image_n; i++) {
		const struct bt_image *image = find_image(snapshot, signature->images[i]);

		if (image) {
			double spread = (double)image->node_n / (double)snapshot->node_n;

			items[term->n++] =
				(struct wanted){image->name, bt_truncate((double)image->size_bytes * spread)};
		}
	}
	term->items = items;
	term->max_sum = MAX_SUM_PER_CONTAINER * signature->container_n;
	out_compiled->term = term;
	/* No node has any of the images: every node scores 0, which is what Skip leaves too. */
	out_compiled->score_skip = term->n == 0;
}

/* Images are all over the list: a search that jumps would jump wrongly in half of its steps. */
static bool has_image(const struct bt_node *node, uint32_t name)
{
	const uint32_t *at = node->images;

	for (uint32_t n = node->image_n, half; n > 1; n -= half) {
		half = n / 2;
		at += (at[half - 1] < name) * half;
	}
	return node->image_n && *at == name;
}

/* The lists of images are all over memory. */
static void prefetch_images(const struct bt_node *node)
{
	for (uint32_t i = 0; i < node->image_n; i += IMAGES_OF_LINE) {
		__builtin_prefetch(node->images + i);
	}
}

static int64_t score_node(const struct term *term, const struct bt_node *node)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < term->n; i++) {
		bool has = has_image(node, term->items[i].name);

		sum = bt_wrap_add(sum, term->items[i].worth & -(int64_t)has);
	}
	if (sum < MIN_SUM) {
		return 0;
	}
	if (sum > term->max_sum) {
		sum = term->max_sum;
	}
	return BT_MAX_NODE_SCORE * (sum - MIN_SUM) / (term->max_sum - MIN_SUM);
}

static void score(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct bt_node *nodes = view->snapshot->nodes + first;

	for (uint32_t i = 0; i < n; i++) {
		if (i + AHEAD < n) {
			prefetch_images(nodes + i + AHEAD);
		}
		raw[i] = score_node(term, nodes + i);
	}
}

const struct bt_plugin bt_plugin_image_locality = {
	.name = "ImageLocality",
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = compile,
	.score = score,
};
