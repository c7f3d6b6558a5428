/* SPDX-License-Identifier: Apache-2.0
 * The arguments of NodeAffinity.
 */
#include "plugins/node_affinity/node_affinity.h"

#include "engine/base/quote.h"
#include "engine/model/label_text.h"

static const struct bt_field node_requirement_members[] = {
	BT_ARG_PLAIN("key", STR, struct bt_requirement_object, key),
	BT_ARG_NAMED("operator", struct bt_requirement_object, operator_, "v1.NodeSelectorOperator"),
	BT_ARG_PLAIN("values", STR_LIST, struct bt_requirement_object, values),
};
static const struct bt_schema node_requirement = BT_ARG_STRUCT(
	"v1", "NodeSelectorRequirement", node_requirement_members, struct bt_requirement_object);

static const struct bt_field node_term_members[] = {
	BT_ARG_LIST("matchExpressions", struct bt_node_term_object, match_expressions.items,
		match_expressions.n, node_requirement),
	BT_ARG_LIST("matchFields", struct bt_node_term_object, match_fields.items, match_fields.n,
		node_requirement),
};
static const struct bt_schema node_term =
	BT_ARG_STRUCT("v1", "NodeSelectorTerm", node_term_members, struct bt_node_term_object);

static const struct bt_field node_selector_members[] = {
	BT_ARG_LIST("nodeSelectorTerms", struct bt_node_selector_object, terms, term_n, node_term),
};
static const struct bt_schema node_selector =
	BT_ARG_STRUCT("v1", "NodeSelector", node_selector_members, struct bt_node_selector_object);

static const struct bt_field preferred_term_members[] = {
	BT_ARG_ALWAYS("weight", I32, struct bt_preferred_node_term_object, weight),
	BT_ARG_OBJECT("preference", struct bt_preferred_node_term_object, preference, node_term),
};
static const struct bt_schema preferred_term = BT_ARG_STRUCT(
	"v1", "PreferredSchedulingTerm", preferred_term_members, struct bt_preferred_node_term_object);

static const struct bt_field node_affinity_members[] = {
	BT_ARG_POINTER("requiredDuringSchedulingIgnoredDuringExecution", struct bt_node_affinity_object,
		required, required.set, node_selector),
	BT_ARG_LIST_SET("preferredDuringSchedulingIgnoredDuringExecution", struct bt_node_affinity_object,
		preferred, preferred_n, preferred_set, preferred_term),
};
static const struct bt_schema node_affinity_table =
	BT_ARG_STRUCT("v1", "NodeAffinity", node_affinity_members, struct bt_node_affinity_object);

static const struct bt_field node_affinity_args_members[] = {
	BT_ARG_META,
	BT_ARG_POINTER("addedAffinity", struct bt_node_affinity_args, added_affinity, added_affinity.set,
		node_affinity_table),
};
static const struct bt_schema table =
	BT_ARG_STRUCT("v1", "NodeAffinityArgs", node_affinity_args_members, struct bt_node_affinity_args);

/* The list as JSON: null when it is absent. */
static struct bt_str values_text(const struct bt_str_list *values, struct bt_config_errors *errors)
{
	struct bt_buf buf = {.len = 0};
	struct bt_str text;

	if (!values->set && !values->n) {
		return bt_str("null");
	}
	bt_buf_char(&buf, '[');
	for (uint32_t i = 0; i < values->n; i++) {
		bt_buf_text(&buf, i ? "," : "");
		bt_quote_json_go(&buf, values->items[i]);
	}
	bt_buf_char(&buf, ']');
	text = bt_config_path(errors, "%.*s", BT_STR_ARG(bt_buf_view(&buf)));
	bt_buf_fini(&buf);
	return text;
}

static const char *join_faults(struct bt_config_errors *errors, const struct bt_str *faults, uint32_t n)
{
	struct bt_str text = faults[0];

	for (uint32_t i = 1; i < n; i++) {
		text = bt_config_path(errors, "%.*s; %.*s", BT_STR_ARG(text), BT_STR_ARG(faults[i]));
	}
	return text.ptr;
}

static bool is_int64(struct bt_str s)
{
	size_t i = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
	uint64_t value = 0, limit = s.len && s.ptr[0] == '-' ? (uint64_t)INT64_MAX + 1 : INT64_MAX;

	if (i == s.len) {
		return false;
	}
	for (; i < s.len; i++) {
		uint64_t digit = (uint64_t)(s.ptr[i] - '0');

		if (digit > 9 || value > (limit - digit) / 10) {
			return false;
		}
		value = value * 10 + digit;
	}
	return true;
}

enum operator_kind { WANTS_SOME, WANTS_NONE, WANTS_NUMBER, UNKNOWN };

static enum operator_kind operator_kind(struct bt_str name)
{
	if (bt_str_is(name, "In") || bt_str_is(name, "NotIn")) {
		return WANTS_SOME;
	}
	if (bt_str_is(name, "Exists") || bt_str_is(name, "DoesNotExist")) {
		return WANTS_NONE;
	}
	return bt_str_is(name, "Gt") || bt_str_is(name, "Lt") ? WANTS_NUMBER : UNKNOWN;
}

static void validate_values(const struct bt_requirement_object *expression, enum operator_kind kind,
	struct bt_str path, struct bt_config_errors *errors)
{
	const struct bt_str_list *values = &expression->values;

	if (kind == WANTS_SOME && !values->n) {
		bt_config_invalid_raw(errors, path, values_text(values, errors),
			"for 'in', 'notin' operators, values set can't be empty");
	} else if (kind == WANTS_NONE && values->n) {
		bt_config_invalid_raw(errors, path, values_text(values, errors),
			"values set must be empty for exists and does not exist");
	} else if (kind == WANTS_NUMBER && values->n != 1) {
		bt_config_invalid_raw(errors, path, values_text(values, errors),
			"for 'Gt', 'Lt' operators, exactly one value is required");
	}
	for (uint32_t i = 0; i < values->n && kind == WANTS_NUMBER; i++) {
		if (!is_int64(values->items[i])) {
			bt_config_invalid_text(errors,
				bt_config_path(errors, "%.*s[%u]", BT_STR_ARG(path), i), values->items[i],
				"for 'Gt', 'Lt' operators, the value must be an integer");
		}
	}
}

static void validate_expression(
	const struct bt_requirement_object *expression, struct bt_str path, struct bt_config_errors *errors)
{
	enum operator_kind kind = operator_kind(expression->operator_);
	struct bt_str values = bt_args_under(errors, path, "values"), faults[4];
	uint32_t n;

	if (kind == UNKNOWN) {
		bt_config_unsupported(errors, bt_args_under(errors, path, "operator"), expression->operator_,
			"supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"");
		return;
	}
	n = bt_label_key_faults(expression->key, faults);
	if (n) {
		bt_config_invalid_text(errors, bt_args_under(errors, path, "key"), expression->key,
			join_faults(errors, faults, n));
	}
	validate_values(expression, kind, values, errors);
	for (uint32_t i = 0; i < expression->values.n; i++) {
		n = bt_label_value_faults(expression->values.items[i], faults);
		if (n) {
			bt_config_invalid_text(errors,
				bt_config_path(errors, "%.*s[%u][%.*s]", BT_STR_ARG(values), i,
					BT_STR_ARG(expression->key)),
				expression->values.items[i], join_faults(errors, faults, n));
		}
	}
}

static void validate_field(
	const struct bt_requirement_object *field, struct bt_str path, struct bt_config_errors *errors)
{
	if (!bt_str_is(field->operator_, "In") && !bt_str_is(field->operator_, "NotIn")) {
		bt_config_unsupported(errors, bt_args_under(errors, path, "operator"), field->operator_,
			"supported values: \"In\", \"NotIn\"");
	} else if (field->values.n != 1) {
		bt_config_invalid_raw(errors, bt_args_under(errors, path, "values"),
			values_text(&field->values, errors), "must have one element");
	}
}

static void validate_term(
	const struct bt_node_term_object *term, struct bt_str path, struct bt_config_errors *errors)
{
	for (uint32_t i = 0; i < term->match_expressions.n; i++) {
		validate_expression(&term->match_expressions.items[i],
			bt_args_at(errors, path, "matchExpressions", i), errors);
	}
	for (uint32_t i = 0; i < term->match_fields.n; i++) {
		validate_field(
			&term->match_fields.items[i], bt_args_at(errors, path, "matchFields", i), errors);
	}
}

static void validate_node_affinity(const void *opaque, const struct bt_args_env *env, struct bt_str path,
	struct bt_config_errors *errors)
{
	const struct bt_node_affinity_args *args = opaque;
	const struct bt_node_affinity_object *affinity = &args->added_affinity;
	struct bt_str required =
		bt_args_under(errors, path, "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution");

	(void)env;
	for (uint32_t i = 0; i < affinity->required.term_n; i++) {
		validate_term(&affinity->required.terms[i],
			bt_args_at(errors, required, "nodeSelectorTerms", i), errors);
	}
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		if (affinity->preferred[i].weight) {
			validate_term(&affinity->preferred[i].preference,
				bt_args_at(errors, path,
					"addedAffinity.preferredDuringSchedulingIgnoredDuringExecution", i),
				errors);
		}
	}
}

const struct bt_plugin_args bt_node_affinity_args_info = {
	.schema = &table, .validate = validate_node_affinity};

const void *bt_node_affinity_make_settings(const struct bt_settings_env *env, const void *opaque)
{
	const struct bt_node_affinity_args *args = opaque;
	const struct bt_node_affinity_object *added = &args->added_affinity;
	struct bt_node_affinity_settings *settings = bt_arena_zalloc(env->arena, sizeof(*settings));
	struct bt_preferred_term *preferred =
		bt_arena_zalloc(env->arena, added->preferred_n * sizeof(*preferred));

	settings->has_required = added->required.set;
	settings->required =
		bt_node_selector_compile(&env->dictionary->for_ever, env->arena, &added->required);
	for (uint32_t i = 0; i < added->preferred_n; i++) {
		struct bt_preferred_term *term = &preferred[settings->preferred_n];

		term->weight = added->preferred[i].weight;
		settings->preferred_n +=
			term->weight != 0 && bt_node_term_compile(&env->dictionary->for_ever, env->arena,
						     &added->preferred[i].preference, &term->term, NULL);
	}
	settings->preferred = preferred;
	return settings;
}
