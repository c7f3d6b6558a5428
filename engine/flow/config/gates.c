/* SPDX-License-Identifier: Apache-2.0
 * Feature gates: parses a list of settings as upstream does.
 */
#include "engine/flow/config/gates.h"

void bt_gates_init(struct bt_gates *gates, const struct bt_release *release)
{
	gates->release = release;
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		gates->on[gate] = bt_gate_spec((enum bt_gate)gate, release)->on;
	}
}

static struct bt_str trim(struct bt_str s)
{
	while (s.len && (s.ptr[0] == ' ' || (s.ptr[0] >= '\t' && s.ptr[0] <= '\r'))) {
		s = bt_str_sub(s, 1, s.len);
	}
	while (s.len && (s.ptr[s.len - 1] == ' ' || (s.ptr[s.len - 1] >= '\t' && s.ptr[s.len - 1] <= '\r'))) {
		s.len--;
	}
	return s;
}

static bool read_bool(struct bt_str s, bool *out_value)
{
	static const char *const words[2][6] = {
		{"0", "f", "F", "false", "FALSE", "False"}, {"1", "t", "T", "true", "TRUE", "True"}};

	for (unsigned value = 0; value < 2; value++) {
		for (unsigned i = 0; i < 6; i++) {
			if (bt_str_is(s, words[value][i])) {
				*out_value = value;
				return true;
			}
		}
	}
	return false;
}

/* The list's setting of each gate; the last one wins. */
struct gates_settings {
	bool given[BT_GATE_N], value[BT_GATE_N];
};

static enum bt_status read_setting(struct gates_settings *settings, const struct bt_release *release,
	struct bt_str item, struct bt_buf *out_error)
{
	size_t equals = bt_str_find(item, '=', 0);
	struct bt_str name = trim(bt_str_sub(item, 0, equals)), text;
	enum bt_gate gate;
	bool value = false;

	if (equals == item.len) {
		bt_buf_printf(out_error, "missing bool value for %.*s", BT_STR_ARG(name));
		return BT_INVALID;
	}
	text = trim(bt_str_sub(item, equals + 1, item.len));
	if (!read_bool(text, &value)) {
		bt_buf_printf(out_error,
			"invalid value of %.*s=%.*s, err: strconv.ParseBool: parsing \"%.*s\": invalid "
			"syntax",
			BT_STR_ARG(name), BT_STR_ARG(text), BT_STR_ARG(text));
		return BT_INVALID;
	}
	gate = bt_gate_find(name, release);
	if (gate == BT_GATE_N) {
		bt_buf_printf(out_error, "unrecognized feature gate: %.*s", BT_STR_ARG(name));
		return BT_INVALID;
	}
	settings->given[gate] = true;
	settings->value[gate] = value;
	return BT_OK;
}

/* Starts another text in a list; end_list closes it. */
static void next_error(struct bt_buf *out_error, unsigned *error_n)
{
	bt_buf_text(out_error, (*error_n)++ ? ", " : "[");
}

/* A single error has no brackets. */
static enum bt_status end_list(struct bt_buf *out_error, size_t start, unsigned error_n)
{
	if (error_n == 1) {
		memmove(out_error->ptr + start, out_error->ptr + start + 1, out_error->len - start);
		out_error->len--;
	} else if (error_n) {
		bt_buf_char(out_error, ']');
	}
	return error_n ? BT_INVALID : BT_OK;
}

/* AllAlpha and AllBeta set the gates of their stage that the list does not name. */
static void set_stage(struct bt_gates *gates, const struct gates_settings *settings, enum bt_gate all,
	enum bt_gate_stage stage)
{
	if (!settings->given[all]) {
		return;
	}
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (bt_gate_spec((enum bt_gate)gate, gates->release)->stage == stage) {
			gates->on[gate] = settings->value[all];
		}
	}
}

static enum bt_status apply(
	struct bt_gates *gates, const struct gates_settings *settings, struct bt_buf *out_error)
{
	size_t start = out_error->len;
	unsigned error_n = 0;

	set_stage(gates, settings, BT_GATE_ALL_ALPHA, BT_GATE_ALPHA);
	set_stage(gates, settings, BT_GATE_ALL_BETA, BT_GATE_BETA);
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		const struct bt_gate_spec *spec = bt_gate_spec((enum bt_gate)gate, gates->release);

		if (!settings->given[gate]) {
			continue;
		}
		if (spec->locked && settings->value[gate] != spec->on) {
			next_error(out_error, &error_n);
			bt_buf_printf(out_error, "cannot set feature gate %s to %s, feature is locked to %s",
				bt_gate_name((enum bt_gate)gate), settings->value[gate] ? "true" : "false",
				spec->on ? "true" : "false");
		} else if (spec->stage == BT_GATE_ABSENT) {
			next_error(out_error, &error_n);
			bt_buf_printf(out_error,
				"cannot set feature gate %s to %s, feature is PreAlpha at emulated version "
				"%s, min compatibility version 1.%u",
				bt_gate_name((enum bt_gate)gate), settings->value[gate] ? "true" : "false",
				gates->release->name, gates->release->compatible);
		}
		gates->on[gate] = settings->value[gate];
	}
	return end_list(out_error, start, error_n);
}

static enum bt_status check_dependencies(const struct bt_gates *gates, struct bt_buf *out_error)
{
	const struct bt_gate_need *need = bt_gate_next_need(gates->release, NULL);
	size_t start = out_error->len;
	unsigned error_n = 0;

	while (need) {
		enum bt_gate gate = need->gate;
		unsigned off_n = 0;

		for (; need && need->gate == gate; need = bt_gate_next_need(gates->release, need)) {
			if (!gates->on[gate] || gates->on[need->needs]) {
				continue;
			}
			if (!off_n++) {
				next_error(out_error, &error_n);
				bt_buf_printf(out_error,
					"%s is enabled, but depends on features that are disabled: [",
					bt_gate_name(gate));
			} else {
				bt_buf_char(out_error, ' ');
			}
			bt_buf_text(out_error, bt_gate_name(need->needs));
		}
		if (off_n) {
			bt_buf_char(out_error, ']');
		}
	}
	return end_list(out_error, start, error_n);
}

/* A setting may have a component prefix, which must be kube; either all settings have it or none. */
static enum bt_status cut_component(struct bt_str *item, bool named[2], struct bt_buf *out_error)
{
	size_t colon = bt_str_find(*item, ':', 0);
	struct bt_str component = trim(bt_str_sub(*item, 0, colon < item->len ? colon : 0));

	if (colon < item->len) {
		*item = bt_str_sub(*item, colon + 1, item->len);
	}
	if (component.len && !bt_str_is(component, "kube")) {
		bt_buf_printf(out_error, "component not registered: %.*s", BT_STR_ARG(component));
		return BT_INVALID;
	}
	named[component.len != 0] = true;
	if (named[0] && named[1]) {
		bt_buf_text(out_error, "set kube feature gates with default empty prefix or kube: prefix "
				       "consistently, do not mix use");
		return BT_INVALID;
	}
	return BT_OK;
}

enum bt_status bt_gates_parse(struct bt_gates *gates, struct bt_str text, struct bt_buf *out_error)
{
	struct gates_settings settings = {.given = {false}};
	struct bt_gates changed = *gates;
	bool named[2] = {false, false};
	enum bt_status status;

	for (size_t from = 0; from < text.len;) {
		size_t to = bt_str_find(text, ',', from);
		struct bt_str item = bt_str_sub(text, from, to);

		if (to > from) {
			status = cut_component(&item, named, out_error);
			if (status == BT_OK) {
				status = read_setting(&settings, gates->release, item, out_error);
			}
			if (status != BT_OK) {
				return status;
			}
		}
		from = to + 1;
	}
	status = apply(&changed, &settings, out_error);
	if (status == BT_OK) {
		status = check_dependencies(&changed, out_error);
	}
	if (status == BT_OK) {
		*gates = changed;
	}
	return status;
}
