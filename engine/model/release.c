/* SPDX-License-Identifier: Apache-2.0
 * The table of releases, and lookups in it.
 */
#include "engine/model/release.h"

#include "engine/base/check.h"

#define FIRST 0u
#define LAST  UINT32_MAX

static const struct bt_release releases[] = {
#define BT_RELEASE(minor_, before_, patch)                                                                   \
	{.minor = (minor_),                                                                                  \
		.name = "1." #minor_,                                                                        \
		.before = "1." #before_,                                                                     \
		.minor_text = #minor_,                                                                       \
		.number = "1." #minor_ "." #patch,                                                           \
		.version = "v1." #minor_ "." #patch,                                                         \
		.compatible = (before_)},
#include "engine/model/release.def"
#undef BT_RELEASE
};

#define RELEASE_N (sizeof(releases) / sizeof(releases[0]))

#define BT_GATE_ALWAYS BT_GATE_N
static const struct bt_default_plugin default_plugins[] = {
#define BT_DEFAULT_PLUGIN(first, last, name, weight, gate)                                                   \
	{first, last, BT_STR(name), weight, BT_GATE_##gate},
#include "engine/model/release.def"
#undef BT_DEFAULT_PLUGIN
};
#undef BT_GATE_ALWAYS

#define DEFAULT_PLUGIN_N (sizeof(default_plugins) / sizeof(default_plugins[0]))

static const struct {
	uint32_t first, last;
	const char *name;
} rules[BT_RULE_N] = {
#define BT_RULE(id, first_, last_) [BT_RULE_##id] = {.first = (first_), .last = (last_), .name = #id},
#include "engine/model/release.def"
#undef BT_RULE
};

static const struct text {
	enum bt_release_text id;
	uint32_t first, last;
	const char *text;
} texts[] = {
#define BT_TEXT(id, first, last, text) {BT_TEXT_##id, first, last, text},
#include "engine/model/release.def"
#undef BT_TEXT
};

static const struct metric {
	uint32_t first, last;
	const char *name, *labels;
} metrics[] = {
#define BT_METRIC(first, last, name, labels) {first, last, name, labels},
#include "engine/model/release.def"
#undef BT_METRIC
};

#define METRIC_N (sizeof(metrics) / sizeof(metrics[0]))

static const struct {
	uint32_t first, last;
	const char *metric, *help;
} metric_helps[] = {
#define BT_METRIC_HELP(first, last, metric, help) {first, last, metric, help},
#include "engine/model/release.def"
#undef BT_METRIC_HELP
};

const struct bt_release *bt_release_at(uint32_t ix)
{
	return ix < RELEASE_N ? &releases[ix] : NULL;
}

void bt_release_list(struct bt_buf *out)
{
	for (size_t i = 0; i < RELEASE_N; i++) {
		bt_buf_printf(out, "%s%s", i == 0 ? "" : i + 1 < RELEASE_N ? ", " : " or ", releases[i].name);
	}
}

const struct bt_release *bt_release_find(struct bt_str name)
{
	if (bt_str_starts(name, "v")) {
		name = bt_str_sub(name, 1, name.len);
	}
	for (size_t i = 0; i < RELEASE_N; i++) {
		if (bt_str_is(name, releases[i].name)) {
			return &releases[i];
		}
	}
	return NULL;
}

const struct bt_release *bt_release_default(void)
{
	const struct bt_release *release = bt_release_find(bt_str(BT_RELEASE_DEFAULT_TEXT));

	BT_REQUIRE(release);
	return release;
}

/* The release of a mixture that provides a point. */
static const struct bt_release *whose(const struct bt_release *release, bool others)
{
	return others ? release->other : release;
}

static bool holds(const struct bt_release *release, uint32_t first, uint32_t last)
{
	return release->minor >= first && release->minor <= last;
}

bool bt_release_has(const struct bt_release *release, enum bt_rule rule)
{
	BT_REQUIRE(rule < BT_RULE_N);
	return holds(whose(release, release->other_rules >> rule & 1), rules[rule].first, rules[rule].last);
}

const char *bt_rule_name(enum bt_rule rule)
{
	BT_REQUIRE(rule < BT_RULE_N);
	return rules[rule].name;
}

struct bt_release bt_release_mix(const struct bt_release *release, const struct bt_release *other,
	uint64_t other_rules, bool other_texts, uint64_t other_plugins)
{
	struct bt_release mix = *release;

	BT_REQUIRE(!release->other && !other->other);
	mix.other = other;
	mix.other_rules = other_rules;
	mix.other_texts = other_texts;
	mix.other_plugins = other_plugins;
	return mix;
}

const struct bt_release *bt_release_binary(const struct bt_release *release)
{
	return release->binary ? release->binary : release;
}

uint32_t bt_release_floor(const struct bt_release *binary)
{
	return binary->minor - BT_RELEASE_SKEW;
}

struct bt_release bt_release_emulate(
	const struct bt_release *binary, const struct bt_release *emulated, uint32_t compatible)
{
	struct bt_release emulation = bt_release_mix(emulated, binary, UINT64_MAX, true, UINT64_MAX);
	uint32_t floor = bt_release_floor(binary);

	emulation.binary = binary;
	emulation.compatible = compatible		      ? compatible
			       : emulated->compatible > floor ? emulated->compatible
							      : floor;
	return emulation;
}

const char *bt_release_text(const struct bt_release *release, enum bt_release_text text)
{
	const char *found = NULL;

	release = whose(release, release->other_texts);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !found; i++) {
		const struct text *entry = &texts[i];

		found = entry->id == text && holds(release, entry->first, entry->last) ? entry->text : NULL;
	}
	BT_REQUIRE(found);
	return found;
}

const char *bt_release_metric_help(const struct bt_release *release, const char *metric)
{
	const char *help = NULL;

	release = bt_release_binary(release);
	for (size_t i = 0; i < sizeof(metric_helps) / sizeof(metric_helps[0]) && !help; i++) {
		if (holds(release, metric_helps[i].first, metric_helps[i].last) &&
			bt_str_is(bt_str(metric), metric_helps[i].metric)) {
			help = metric_helps[i].help;
		}
	}
	return help;
}

const char *bt_release_metric_labels(const struct bt_release *release, const char *metric)
{
	bool listed = false;

	release = bt_release_binary(release);
	for (size_t i = 0; i < METRIC_N; i++) {
		if (!bt_str_is(bt_str(metric), metrics[i].name)) {
			continue;
		}
		if (holds(release, metrics[i].first, metrics[i].last)) {
			return metrics[i].labels;
		}
		listed = true;
	}
	return listed ? NULL : "";
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && bt_str_is(bt_str(a), b));
}

/* The rows of both metric tables, as one sequence. */
static const char *metric_of_row(size_t row)
{
	return row < METRIC_N ? metrics[row].name : metric_helps[row - METRIC_N].metric;
}

static bool is_first_row(size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (bt_str_is(bt_str(metric_of_row(i)), metric_of_row(row))) {
			return false;
		}
	}
	return true;
}

bool bt_release_metric_change(
	const struct bt_release *from, const struct bt_release *to, uint32_t ix, struct bt_metric_change *out)
{
	const size_t row_n = METRIC_N + sizeof(metric_helps) / sizeof(metric_helps[0]);

	for (size_t row = 0; row < row_n; row++) {
		const char *name = metric_of_row(row);
		const struct bt_metric_change change = {.metric = name,
			.from_labels = bt_release_metric_labels(from, name),
			.to_labels = bt_release_metric_labels(to, name),
			.from_help = bt_release_metric_help(from, name),
			.to_help = bt_release_metric_help(to, name)};
		bool there = change.from_labels || change.to_labels;
		bool differs = !same_text(change.from_labels, change.to_labels) ||
			       !same_text(change.from_help, change.to_help);

		if (is_first_row(row) && there && differs && ix-- == 0) {
			*out = change;
			return true;
		}
	}
	return false;
}

_Static_assert(DEFAULT_PLUGIN_N <= BT_RELEASE_PLUGINS, "bt_release.other_plugins has a bit for each row");

/* The number of a row's plugin: its first row. */
static uint32_t number_of_row(size_t row)
{
	uint32_t first = 0;

	while (!bt_str_eq(default_plugins[first].name, default_plugins[row].name)) {
		first++;
	}
	return first;
}

static bool has_row(const struct bt_release *release, size_t row)
{
	const struct bt_default_plugin *plugin = &default_plugins[row];

	return holds(whose(release, release->other && release->other_plugins >> number_of_row(row) & 1),
		plugin->first, plugin->last);
}

const struct bt_default_plugin *bt_release_next_plugin(
	const struct bt_release *release, const struct bt_default_plugin *behind)
{
	size_t row = behind ? (size_t)(behind - default_plugins) + 1 : 0;

	while (row < DEFAULT_PLUGIN_N && !has_row(release, row)) {
		row++;
	}
	return row < DEFAULT_PLUGIN_N ? &default_plugins[row] : NULL;
}

bool bt_release_plugin_differs(const struct bt_release *a, const struct bt_release *b, uint32_t number)
{
	bool differs = false;

	for (size_t row = number; row < DEFAULT_PLUGIN_N; row++) {
		differs |= number_of_row(row) == number && has_row(a, row) != has_row(b, row);
	}
	return differs;
}

struct bt_str bt_release_plugin_name(uint32_t number)
{
	BT_REQUIRE(number < DEFAULT_PLUGIN_N);
	return default_plugins[number].name;
}
