/* SPDX-License-Identifier: Apache-2.0
 * ImageLocality. An image counts its size, scaled by the share of nodes that have it, so that one popular
 * node does not attract everything. Source: plugins/imagelocality, v1.36.3 and v1.37.2.
 */
#include "plugins/image_locality/image_locality.h"

#include "cache/node_view.h"
#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/wrap.h"

#define MIB		  (1024ll * 1024)
#define MIN_SUM		  (23 * MIB)
#define MAX_SUM_PER_IMAGE (1000 * MIB)

/* An image of the pod that some node has, and what it adds to the sum; an image named twice counts twice. */
struct image_locality_wanted {
	const uint64_t *nodes; /* bitmap of the nodes that have it */
	int64_t static_score;
};

struct image_locality_term {
	const struct image_locality_wanted *items;
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

static void image_locality_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	const struct bt_image_locality_settings *rules = settings;
	const struct bt_snapshot *snapshot = env->snapshot;
	/* Images of volumes come after those of containers. */
	uint32_t image_n = rules->volumes_score ? signature->image_n : signature->container_n;
	struct image_locality_term *term = bt_arena_zalloc(env->arena, sizeof(*term));
	struct image_locality_wanted *items = bt_arena_zalloc(env->arena, image_n * sizeof(*items));

	for (uint32_t i = 0; i < image_n; i++) {
		const struct bt_image *image = find_image(snapshot, signature->images[i]);

		if (image) {
			BT_INVARIANT(image->node_n > 0 && image->node_n <= snapshot->node_n);
			double spread = (double)image->node_n / (double)snapshot->node_n;

			items[term->n++] =
				(struct image_locality_wanted){env->image_nodes(env->context, image->name),
					bt_truncate((double)image->size_bytes * spread)};
		}
	}
	BT_INVARIANT(term->n <= image_n && image_n <= signature->image_n);
	term->items = items;
	term->max_sum =
		MAX_SUM_PER_IMAGE * (rules->volumes_raise_top ? signature->image_n : signature->container_n);
	out_compiled->term = term;
	/* No node has any of the images: every node scores 0, as with Skip. */
	out_compiled->score_skip = term->n == 0;
}

/* Some node has an image, and the share of the nodes that have it counts. */
static bool counts_nodes(const void *term)
{
	return ((const struct image_locality_term *)term)->n > 0;
}

/* The score of a node with images of that sum. */
static int64_t score_of(const struct image_locality_term *term, int64_t sum)
{
	if (sum < MIN_SUM) {
		return 0;
	}
	if (sum > term->max_sum) {
		sum = term->max_sum;
	}
	BT_INVARIANT(sum <= term->max_sum && term->max_sum > MIN_SUM);
	return BT_MAX_NODE_SCORE * (sum - MIN_SUM) / (term->max_sum - MIN_SUM);
}

/* Adds an image to the sums of the nodes that have it, a word of the bitmap at a time. */
static void add_image(const struct image_locality_wanted *image, uint32_t first, uint32_t n, int64_t *sums)
{
	for (uint32_t i = 0; i < n; i += 64 - (first + i) % 64) {
		uint64_t bits = image->nodes[(first + i) / 64] >> (first + i) % 64;

		bits &= n - i < 64 ? ((uint64_t)1 << (n - i)) - 1 : UINT64_MAX;
		for (; bits; bits &= bits - 1) {
			int64_t *sum = &sums[i + (uint32_t)__builtin_ctzll(bits)];

			*sum = bt_wrap_add(*sum, image->static_score);
		}
	}
}

static void image_locality_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct image_locality_term *term = opaque;
	int64_t last = 0, score = 0;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	memset(raw, 0, n * sizeof(*raw));
	if (view->usage->is_empty) {
		return;
	}
	for (uint32_t i = 0; i < term->n; i++) {
		add_image(&term->items[i], first, n, raw);
	}
	/* The sums become scores. Few differ, and most are 0, which scores 0. */
	for (uint32_t i = 0; i < n; i++) {
		if (raw[i] != 0 && raw[i] != last) {
			last = raw[i];
			score = score_of(term, last);
		}
		raw[i] = raw[i] ? score : 0;
	}
}

static const void *settings_of(const struct bt_settings_env *env, const void *args)
{
	struct bt_image_locality_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));

	(void)args;
	settings->volumes_score = bt_settings_rule(env, BT_RULE_IMAGE_VOLUMES_SCORE);
	settings->volumes_raise_top = bt_settings_rule(env, BT_RULE_IMAGE_VOLUMES_RAISE_TOP);
	return settings;
}

const struct bt_plugin bt_plugin_image_locality = {
	.name = "ImageLocality",
	.points = BT_AT(SCORE),
	.settings = settings_of,
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = image_locality_compile,
	.counts_nodes = counts_nodes,
	.score = image_locality_score,
};
