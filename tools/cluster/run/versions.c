/* SPDX-License-Identifier: Apache-2.0
 * The release that flags select.
 */
#include "tools/cluster/run/versions.h"

#include <stdio.h>

#include "tools/cluster/run/flag_values.h"
#include "tools/kube/config/config_file.h"

#define EMULATED   "emulated-version"
#define COMPATIBLE "min-compatibility-version"
#define PART_MAX   100000u

/* Digits up to another character. Returns: false: none, or out of range. */
static bool take_number(struct bt_str *text, uint32_t *out_number)
{
	uint32_t number = 0;
	size_t n = 0;

	while (n < text->len && text->ptr[n] >= '0' && text->ptr[n] <= '9' && number < PART_MAX) {
		number = number * 10 + (uint32_t)(text->ptr[n++] - '0');
	}
	*text = bt_str_sub(*text, n, text->len);
	*out_number = number;
	return n > 0 && number < PART_MAX;
}

static bool take_dot(struct bt_str *text)
{
	bool dot = bt_str_starts(*text, ".");

	*text = bt_str_sub(*text, dot, text->len);
	return dot;
}

/* "1.36", "v1.36" and "1.36.0" are equal; text after the numbers is ignored. Source: version.Parse of
 * apimachinery, v0.36.3. Returns: NULL, or an error: a format for the text. */
static const char *parse_version(struct bt_str text, uint32_t *out_minor, uint32_t *out_patch, bool *out_one)
{
	uint32_t major = 0;

	text = bt_str_starts(text, "v") ? bt_str_sub(text, 1, text.len) : text;
	*out_patch = 0;
	if (!take_number(&text, &major)) {
		return "could not parse \"%.*s\" as version";
	}
	if (!take_dot(&text) || !take_number(&text, out_minor)) {
		return "illegal version string \"%.*s\"";
	}
	if (take_dot(&text)) {
		(void)take_number(&text, out_patch);
	}
	*out_one = major == 1;
	return NULL;
}

/* An item of the list. Source: toVersionMap. Returns: whether it is valid; else out_error has the reason. */
static bool read_item(struct bt_str item, uint32_t *minor, struct bt_buf *out_error)
{
	size_t equals = bt_str_find(item, '=', 0);
	struct bt_str component = BT_STR("kube"), version = item;
	uint32_t number = 0, patch = 0;
	bool one = false;

	if (equals < item.len) {
		component = bt_flag_trim(bt_str_sub(item, 0, equals));
		version = bt_flag_trim(bt_str_sub(item, equals + 1, item.len));
	}
	const char *wrong = parse_version(version, &number, &patch, &one);

	if (wrong) {
		bt_buf_printf(out_error, wrong, BT_STR_ARG(version));
	} else if (patch) {
		bt_buf_printf(out_error, "patch version not allowed, got: %.*s=%.*s", BT_STR_ARG(component),
			BT_STR_ARG(version));
	} else if (!bt_str_is(component, "kube")) {
		bt_buf_printf(out_error, "component not registered: %.*s; there is only kube",
			BT_STR_ARG(component));
	} else if (!one || !number) {
		bt_buf_printf(out_error,
			"'%.*s' is no version of Kubernetes, such as " BT_RELEASE_DEFAULT_TEXT,
			BT_STR_ARG(version));
	} else if (*minor) {
		bt_buf_printf(out_error, "duplicate version flag, kube=1.%u and kube=1.%u", *minor, number);
	} else {
		*minor = number;
		return true;
	}
	return false;
}

/* Parses the items of all values of the flag. */
static int read_minor(const struct bt_invocation *invocation, const char *name, uint32_t *out_minor)
{
	struct bt_buf error = {0};
	bool good = true;
	const char *text;

	*out_minor = 0;
	for (size_t i = 0; good && (text = bt_invocation_item(invocation, name, i)); i++) {
		struct bt_str rest = bt_str(text);

		while (good && rest.len) {
			size_t end = bt_str_find(rest, ',', 0);

			good = read_item(bt_str_sub(rest, 0, end), out_minor, &error);
			rest = bt_str_sub(rest, end < rest.len ? end + 1 : end, rest.len);
		}
	}
	int status =
		good ? BT_EXIT_OK : bt_invocation_wrong(invocation->command, "--%s: %s", name, error.ptr);

	bt_buf_fini(&error);
	return status;
}

int bt_run_versions_read(const struct bt_invocation *invocation, struct bt_run_versions *out_versions)
{
	const char *name = bt_invocation_text(invocation, "kubernetes-version");
	int status = BT_EXIT_OK;

	*out_versions = (struct bt_run_versions){.fixed = NULL};
	if (name) {
		status = bt_configuration_release(invocation, &out_versions->fixed);
	}
	if (!status && name && bt_invocation_switch(invocation, "follow-server")) {
		status = bt_invocation_wrong(invocation->command,
			"--follow-server and --kubernetes-version exclude each other; give one of them");
	}
	if (!status && bt_invocation_text(invocation, "journal") &&
		bt_invocation_switch(invocation, "follow-server")) {
		status =
			bt_invocation_wrong(invocation->command, "--follow-server and --journal exclude each "
								 "other, since a journal is of one release; "
								 "leave one of them out");
	}
	if (!status) {
		status = read_minor(invocation, EMULATED, &out_versions->emulated);
	}
	return status ? status : read_minor(invocation, COMPATIBLE, &out_versions->compatible);
}

/* The releases that can be emulated: upstream's, for which the gates are known. */
static bool find_emulated(uint32_t minor, const struct bt_release *binary, const struct bt_release **out,
	struct bt_buf *out_error)
{
	uint32_t floor = bt_release_floor(binary);
	char name[16];

	snprintf(name, sizeof(name), "1.%u", minor);
	*out = bt_release_find(bt_str(name));
	if (minor < floor || minor > binary->minor) {
		bt_buf_printf(out_error, "--" EMULATED ": emulation version %s is not between [1.%u, %s.0]",
			name, floor, binary->name);
		return false;
	}
	if (!*out) {
		bt_buf_printf(
			out_error, "--" EMULATED ": the feature gates of %s are not known here; use ", name);
		bt_release_list(out_error);
		return false;
	}
	return true;
}

bool bt_run_versions_apply(const struct bt_run_versions *versions, const struct bt_release *binary,
	struct bt_release *out_release, struct bt_buf *out_error)
{
	const struct bt_release *emulated = binary;
	uint32_t floor = bt_release_floor(binary);

	if (versions->emulated && !find_emulated(versions->emulated, binary, &emulated, out_error)) {
		return false;
	}
	if (versions->compatible &&
		(versions->compatible < floor || versions->compatible > emulated->minor)) {
		bt_buf_printf(out_error,
			"--" COMPATIBLE ": minCompatibilityVersion version 1.%u is not between [1.%u, %s]",
			versions->compatible, floor, emulated->name);
		return false;
	}
	*out_release = *binary;
	if (emulated != binary || versions->compatible) {
		*out_release = bt_release_emulate(binary, emulated, versions->compatible);
	}
	return true;
}
