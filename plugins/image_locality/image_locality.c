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

/* A term with more images than this is compiled again when they, or the number of nodes, change. */
#define FOLLOWED 6
#define LISTED	 32 /* the same of images that no node may have */

/* An image of the pod that some node has, and what it adds to the sum; an image named twice counts twice. */
struct image_locality_wanted {
	uint32_t name;
	const uint64_t *nodes; /* bitmap of the nodes that have it */
	int64_t static_score;
};

struct image_locality_term {
	struct image_locality_wanted *items;
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

/* The number of images that count. Those of volumes come after those of containers. */
static uint32_t image_n(const struct bt_image_locality_settings *rules, const struct bt_signature *signature)
{
	return rules->volumes_score ? signature->image_n : signature->container_n;
}

/* Lists the images of the pod that some node has. Returns: their number. */
static uint32_t list_wanted(const struct bt_image_locality_settings *rules, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct image_locality_wanted *items)
{
	const struct bt_snapshot *snapshot = env->snapshot;
	uint32_t n = 0;

	for (uint32_t i = 0; i < image_n(rules, signature); i++) {
		const struct bt_image *image = find_image(snapshot, signature->images[i]);

		if (image) {
			BT_INVARIANT(image->node_n > 0 && image->node_n <= snapshot->node_n);
			double spread = (double)image->node_n / (double)snapshot->node_n;

			items[n++] = (struct image_locality_wanted){image->name,
				env->image_nodes(env->context, image->name),
				bt_truncate((double)image->size_bytes * spread)};
		}
	}
	BT_INVARIANT(n <= signature->image_n);
	return n;
}

static void image_locality_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	const struct bt_image_locality_settings *rules = settings;
	struct image_locality_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	term->items = bt_arena_zalloc(env->arena, image_n(rules, signature) * sizeof(*term->items));
	term->n = list_wanted(rules, env, signature, term->items);
	term->max_sum =
		MAX_SUM_PER_IMAGE * (rules->volumes_raise_top ? signature->image_n : signature->container_n);
	out_compiled->term = term;
	out_compiled->state = term;
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

/* The score of a node that has the images of these bits. */
static int64_t score_of_set(const struct image_locality_term *term, uint32_t images)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < term->n; i++) {
		sum = bt_wrap_add(sum, images >> i & 1 ? term->items[i].static_score : 0);
	}
	return score_of(term, sum);
}

/* The sets of images that score otherwise now, as bits. */
static uint64_t changed_sets(const struct image_locality_term *before, const struct image_locality_term *now)
{
	uint64_t changed = 0;

	BT_INVARIANT(now->n <= FOLLOWED && before->n == now->n);
	for (uint32_t images = 1; images < 1u << now->n; images++) {
		changed |= (uint64_t)(score_of_set(before, images) != score_of_set(now, images)) << images;
	}
	return changed;
}

/* Sets the bits of the nodes that have one of the sets of images. */
static void mark_nodes(
	const struct image_locality_term *term, uint64_t sets, uint32_t slot_n, uint64_t *nodes)
{
	for (size_t w = 0; w < bt_bitmap_words(slot_n); w++) {
		uint64_t any = 0;

		for (uint32_t i = 0; i < term->n; i++) {
			any |= term->items[i].nodes[w];
		}
		for (; any; any &= any - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(any), images = 0;

			for (uint32_t i = 0; i < term->n; i++) {
				images |= (uint32_t)(term->items[i].nodes[w] >> bit & 1) << i;
			}
			nodes[w] |= (sets >> images & 1) << bit;
		}
	}
}

/* A node that comes or goes moves the shares of all images, but rarely a score. */
static bool follow_images(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, void *state, uint64_t *nodes)
{
	struct image_locality_term *term = state, now = *term;
	struct image_locality_wanted items[LISTED];

	if (term->n > FOLLOWED || image_n(settings, signature) > LISTED) {
		return false;
	}
	now.items = items;
	now.n = list_wanted(settings, env, signature, items);
	if (now.n != term->n) {
		return false;
	}
	for (uint32_t i = 0; i < now.n; i++) {
		if (items[i].name != term->items[i].name) {
			return false;
		}
	}
	uint64_t sets = changed_sets(term, &now);
	memcpy(term->items, items, now.n * sizeof(*items));
	if (sets) {
		mark_nodes(term, sets, env->snapshot->slot_n, nodes);
	}
	return true;
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
	.follow_images = follow_images,
	.score = image_locality_score,
};
