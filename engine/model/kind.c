/* SPDX-License-Identifier: Apache-2.0
 * The table of kinds.
 */
#include "engine/model/kind.h"

#include "engine/base/check.h"
#include "engine/model/cluster_event.h"
#include "engine/model/gate.h"

#define CORE(plural) .resource = (plural), .group = "", .versions = {{"v1", "/api/v1/" plural}}
#define IN_GROUP(of, version, plural)                                                                        \
	{                                                                                                    \
		of "/" version, "/apis/" of "/" version "/" plural                                           \
	}
#define GROUP(of, version, plural)                                                                           \
	.resource = (plural), .group = (of), .versions = {IN_GROUP(of, version, plural)}
#define GROUP2(of, version, older, plural)                                                                   \
	.resource = (plural), .group = (of),                                                                 \
	.versions = {IN_GROUP(of, version, plural), IN_GROUP(of, older, plural)}
#define GROUP3(of, version, older, oldest, plural)                                                           \
	.resource = (plural), .group = (of),                                                                 \
	.versions = {                                                                                        \
		IN_GROUP(of, version, plural), IN_GROUP(of, older, plural), IN_GROUP(of, oldest, plural)}
#define NAMESPACED     true
#define CLUSTER	       false
#define BT_GATE_ALWAYS BT_GATE_N
#define NOT_WATCHED    .watched = false, .gate = BT_GATE_N, .rule = BT_RULE_N
#define WATCHED	       .watched = true, .gate = BT_GATE_N, .rule = BT_RULE_N
#define OPTIONAL_BY(gate_, words)                                                                            \
	.watched = true, .optional = true, .gate = BT_GATE_##gate_, .without = (words)
#define OPTIONAL(gate_, words)		 OPTIONAL_BY(gate_, words), .rule = BT_RULE_N
#define OPTIONAL_IF(rule_, gate_, words) OPTIONAL_BY(gate_, words), .rule = BT_RULE_##rule_
#define OPTIONAL_UNLESS(rule_, gate_, words)                                                                 \
	OPTIONAL_BY(gate_, words), .rule = BT_RULE_##rule_, .unless = true

static const struct bt_kind_info kinds[BT_KIND_N] = {
	[BT_KIND_OTHER] = {.name = "",
		.resource = "",
		.group = "",
		.event = BT_CLUSTER_EVENT_WILDCARD,
		.rule = BT_RULE_N},
#define BT_KIND(id, text, where, scope, store_, event_, watch, holder, fields)                               \
	[BT_KIND_##id] = {.kind = BT_KIND_##id,                                                              \
		.name = (text),                                                                              \
		where,                                                                                       \
		.namespaced = (scope),                                                                       \
		.store = BT_STORE_##store_,                                                                  \
		.event = BT_CLUSTER_EVENT_##event_,                                                          \
		watch},
#include "engine/model/kind.def"
#undef BT_KIND
};

const struct bt_kind_info *bt_kind_info(enum bt_kind kind)
{
	BT_REQUIRE((unsigned)kind < BT_KIND_N);
	return &kinds[kind];
}

bool bt_kind_is_of(const struct bt_kind_info *info, const struct bt_release *release)
{
	return info->rule == BT_RULE_N || bt_release_has(release, (enum bt_rule)info->rule) != info->unless;
}

bool bt_kind_is_on(const struct bt_kind_info *info, const struct bt_release *release, const bool *gates)
{
	return bt_kind_is_of(info, release) && (info->gate == BT_GATE_N || gates[info->gate]);
}

enum bt_kind bt_kind_of_word(struct bt_str word)
{
	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		if (bt_str_is(word, kinds[kind].name)) {
			return (enum bt_kind)kind;
		}
	}
	return BT_KIND_OTHER;
}

enum bt_kind bt_kind_of(struct bt_str api_version, struct bt_str word)
{
	enum bt_kind kind = bt_kind_of_word(word);

	for (uint32_t i = 0; i < BT_KIND_VERSIONS && kinds[kind].versions[i].path; i++) {
		if (bt_str_is(api_version, kinds[kind].versions[i].api_version)) {
			return kind;
		}
	}
	return BT_KIND_OTHER;
}
