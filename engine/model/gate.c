/* SPDX-License-Identifier: Apache-2.0
 * The table of feature gates.
 */
#include "engine/model/gate.h"

#include "engine/base/check.h"
#include "engine/model/release.h"

/* Changes of one gate within the known releases. */
#define SPECS 4

static const struct gate {
	const char *name;
	struct bt_gate_spec specs[SPECS]; /* in order; since is 0 only in the first and after the last */
} gates[BT_GATE_N] = {
#define ALPHA		       BT_GATE_ALPHA
#define BETA		       BT_GATE_BETA
#define GA		       BT_GATE_GA
#define DEPRECATED	       BT_GATE_DEPRECATED
#define ABSENT		       BT_GATE_ABSENT
#define ON		       true, false
#define OFF		       false, false
#define LOCKED_ON	       true, true
#define LOCKED_OFF	       false, true
#define BT_GATE(id, text, ...) [BT_GATE_##id] = {.name = text, .specs = {__VA_ARGS__}},
#include "engine/model/gate.def"
#undef BT_GATE
#undef ALPHA
#undef BETA
#undef GA
#undef DEPRECATED
#undef ABSENT
#undef ON
#undef OFF
#undef LOCKED_ON
#undef LOCKED_OFF
};

static const struct bt_gate_need needs_list[] = {
#define BT_GATE_NEEDS(id, other, since) {BT_GATE_##id, BT_GATE_##other, since},
#include "engine/model/gate.def"
#undef BT_GATE_NEEDS
};

#define NEED_N (sizeof(needs_list) / sizeof(needs_list[0]))

const char *bt_gate_name(enum bt_gate gate)
{
	BT_REQUIRE(gate < BT_GATE_N);
	return gates[gate].name;
}

static const struct {
	enum bt_gate gate;
	uint32_t minor;
	struct bt_gate_spec spec;
} compatible_list[] = {
#define ALPHA				   BT_GATE_ALPHA
#define BETA				   BT_GATE_BETA
#define ON				   true, false
#define BT_GATE_COMPATIBLE(id, minor, ...) {BT_GATE_##id, minor, __VA_ARGS__},
#include "engine/model/gate.def"
#undef BT_GATE_COMPATIBLE
#undef ALPHA
#undef BETA
#undef ON
};

/* The gate's specification in a release's own table. */
static const struct bt_gate_spec *spec_at(enum bt_gate gate, uint32_t minor)
{
	static const struct bt_gate_spec none = {.stage = BT_GATE_ABSENT};
	const struct bt_gate_spec *spec = &none;

	for (uint32_t i = 0; i < SPECS && (i == 0 || gates[gate].specs[i].since); i++) {
		if (gates[gate].specs[i].since <= minor) {
			spec = &gates[gate].specs[i];
		}
	}
	return spec;
}

const struct bt_gate_spec *bt_gate_spec(enum bt_gate gate, const struct bt_release *release)
{
	BT_REQUIRE(gate < BT_GATE_N);
	const struct bt_gate_spec *binary = spec_at(gate, bt_release_binary(release)->minor);

	for (size_t i = 0; i < sizeof(compatible_list) / sizeof(compatible_list[0]); i++) {
		if (compatible_list[i].gate == gate && compatible_list[i].spec.since <= release->minor &&
			compatible_list[i].minor <= release->compatible) {
			return &compatible_list[i].spec;
		}
	}
	return binary->stage == BT_GATE_ABSENT ? binary : spec_at(gate, release->minor);
}

/* Does the binary have the gate? An emulated release may be too old for it. */
static bool is_there(enum bt_gate gate, const struct bt_release *release)
{
	return bt_gate_spec(gate, bt_release_binary(release))->stage != BT_GATE_ABSENT;
}

enum bt_gate bt_gate_find(struct bt_str name, const struct bt_release *release)
{
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (bt_str_is(name, gates[gate].name) && is_there((enum bt_gate)gate, release)) {
			return (enum bt_gate)gate;
		}
	}
	return BT_GATE_N;
}

uint32_t bt_gate_since(struct bt_str name)
{
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (bt_str_is(name, gates[gate].name)) {
			return gates[gate].specs[0].since;
		}
	}
	return 0;
}

const struct bt_gate_need *bt_gate_next_need(
	const struct bt_release *release, const struct bt_gate_need *behind)
{
	const struct bt_gate_need *need = behind ? behind + 1 : needs_list, *end = needs_list + NEED_N;

	while (need < end && (need->since > bt_release_binary(release)->minor ||
				     !is_there(need->gate, release) || !is_there(need->needs, release))) {
		need++;
	}
	return need < end ? need : NULL;
}

bool bt_gate_needs(enum bt_gate gate, enum bt_gate other, const struct bt_release *release)
{
	const struct bt_gate_need *need = NULL;

	while ((need = bt_gate_next_need(release, need))) {
		if (need->gate == gate && need->needs == other) {
			return true;
		}
	}
	return false;
}
