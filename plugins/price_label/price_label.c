/* SPDX-License-Identifier: Apache-2.0
 * PriceLabel: scores nodes by the price in one of their labels, and can refuse nodes without one. An example,
 * disabled unless a profile enables it.
 */
#include "engine/base/check.h"
#include "plugins/plugin.h"

#define PRICE_MAX 1000000000

/* ---- arguments ---- */

struct price_args {
	struct bt_str label_name, mode;
	int64_t max_price;
	bool required;
};

static const struct bt_field members[] = {
	BT_ARG_META,
	BT_ARG_PLAIN("labelName", STR, struct price_args, label_name),
	BT_ARG_PLAIN("mode", STR, struct price_args, mode),
	BT_ARG_PLAIN("maxPrice", I64, struct price_args, max_price),
	BT_ARG_PLAIN("required", BOOL, struct price_args, required),
};
static const struct bt_schema table = BT_ARG_STRUCT("v1", "PriceLabelArgs", members, struct price_args);

static void price_label_set_defaults(void *opaque, const struct bt_args_env *env, struct bt_arena *arena)
{
	struct price_args *args = opaque;

	(void)env;
	(void)arena;
	if (!args->label_name.len) {
		args->label_name = bt_str("price");
	}
	if (!args->mode.len) {
		args->mode = bt_str("Cheapest");
	}
	/* A maxPrice of 0 makes no sense, so 0 can mean "not set"; otherwise use BT_ARG_MAYBE. */
	if (!args->max_price) {
		args->max_price = BT_MAX_NODE_SCORE;
	}
}

static void price_label_validate(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct price_args *args = opaque;

	(void)env;
	bt_config_check_label_key(errors, bt_args_under(errors, path, "labelName"), args->label_name);
	if (!bt_str_is(args->mode, "Cheapest") && !bt_str_is(args->mode, "Dearest")) {
		bt_config_unsupported(errors, bt_args_under(errors, path, "mode"), args->mode,
			"supported values: \"Cheapest\", \"Dearest\"");
	}
	if (args->max_price < 1 || args->max_price > PRICE_MAX) {
		bt_config_invalid_int(errors, bt_args_under(errors, path, "maxPrice"), args->max_price,
			"not in valid range [1, 1000000000]");
	}
}

static const struct bt_plugin_args args_info = {
	.schema = &table, .set_defaults = price_label_set_defaults, .validate = price_label_validate};

struct price_label_settings {
	uint32_t label; /* a name */
	int64_t max_price;
	bool highest, required;
};

static const void *price_label_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct price_args *args = opaque;
	struct price_label_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));

	*settings = (struct price_label_settings){
		.label = bt_intern_add(env->dictionary->intern, args->label_name),
		.max_price = args->max_price,
		.highest = bt_str_is(args->mode, "Dearest"),
		.required = args->required};
	return settings;
}

/* ---- Filter and Score ---- */

struct price_label_term {
	const struct price_label_settings *settings;
	const uint32_t *prices; /* the label's value by node slot */
};

static void price_label_compile(const void *opaque, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	const struct price_label_settings *settings = opaque;
	struct price_label_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	BT_INVARIANT(settings->max_price > 0 && settings->max_price <= PRICE_MAX);
	(void)signature;
	*term = (struct price_label_term){settings, env->label_column(env->context, settings->label)};
	out->term = term;
	out->filter_skip = !settings->required;
}

/* A price is a whole number, capped at maxPrice. */
static bool read_price(struct bt_str text, int64_t *out_price)
{
	int64_t price = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9') {
			return false;
		}
		price = price < PRICE_MAX ? price * 10 + (text.ptr[i] - '0') : PRICE_MAX;
	}
	*out_price = price;
	return text.len > 0;
}

static bool price_of(const struct bt_view *view, uint32_t value, int64_t *out_price)
{
	return value != BT_NAME_NONE && read_price(bt_view_str(view, value), out_price);
}

static void price_label_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct price_label_term *term = opaque;
	int64_t price;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = price_of(view, term->prices[first + i], &price);
	}
}

/* A node without a price gets the lowest score. */
static void price_label_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct price_label_term *term = opaque;
	const int64_t max_price = term->settings->max_price;

	for (uint32_t i = 0; i < n; i++) {
		int64_t price;

		raw[i] = 0;
		if (price_of(view, term->prices[first + i], &price)) {
			price = price < max_price ? price : max_price;
			price = term->settings->highest ? price : max_price - price;
			raw[i] = price * BT_MAX_NODE_SCORE / max_price;
			BT_INVARIANT(raw[i] >= 0 && raw[i] <= BT_MAX_NODE_SCORE);
		}
	}
}

/* Nothing to append: results depend on the settings only, and keys are compared within a profile. */
static void price_label_key(const void *term, struct bt_buf *out_key)
{
	(void)term;
	(void)out_key;
}

static const char *const reasons[] = {"node(s) had no price"};

/* ---- which events may make a refused pod fit ---- */

static bool price_label_after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct price_label_settings *settings = env->settings;
	const struct bt_node_facts *old = event->node.old, *new = event->node.new;
	int64_t price;
	bool had = old && price_of(env->view, bt_labels_get(old->labels, settings->label), &price);

	return !had && price_of(env->view, bt_labels_get(new->labels, settings->label), &price);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL, price_label_after_node_change, 0},
};

const struct bt_plugin bt_plugin_price_label = {
	.name = "PriceLabel",
	.points = BT_AT(FILTER) | BT_AT(SCORE),
	.args = &args_info,
	.settings = price_label_make_settings,
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = price_label_compile,
	.filter = price_label_filter,
	.refusal = BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
	.reasons = reasons,
	.score = price_label_score,
	.key = price_label_key,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
