/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics about the input.
 */
#include "tools/kube/config/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "tools/cli/message.h"

#define PRINTED_MAX 20

struct bt_diagnostics bt_diagnostics_of(const struct bt_invocation *invocation)
{
	const char *validate = bt_invocation_text(invocation, "validate");

	return (struct bt_diagnostics){.command = invocation->command->name,
		.quiet = bt_invocation_has(invocation, "quiet"),
		.strict = bt_invocation_has(invocation, "strict") || !strcmp(validate, "strict"),
		.validates = strcmp(validate, "ignore") != 0};
}

/* Prints a diagnostic, unless the limit is reached. */
static void report(struct bt_diagnostics *diagnostics, struct bt_str text, bool fatal)
{
	diagnostics->n++;
	diagnostics->stop |= diagnostics->strict;
	if (fatal || diagnostics->strict || (!diagnostics->quiet && diagnostics->n <= PRINTED_MAX)) {
		bt_message("berth %s: %.*s\n", diagnostics->command, BT_STR_ARG(text));
	}
}

static void diagnostics_warn_of(struct bt_diagnostics *diagnostics, struct bt_str text)
{
	if (diagnostics->warning_n++ < PRINTED_MAX) {
		bt_diagnostics_warn(diagnostics, text);
	}
}

/* What a kept diagnostic begins with. */
struct kept_diagnostic {
	size_t len;
	bool warning;
};

static void diagnostics_keep(struct bt_diagnostics *diagnostics, struct bt_str text, bool warning)
{
	uint64_t *n = warning ? &diagnostics->warning_n : &diagnostics->n;

	if ((*n)++ < PRINTED_MAX) {
		const struct kept_diagnostic head = {text.len, warning};

		bt_buf_add(&diagnostics->kept, (const char *)&head, sizeof(head));
		bt_buf_str(&diagnostics->kept, text);
	}
}

void bt_diagnostics_add(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_diagnostics *diagnostics = context;
	bool warning = diagnosis->severity == BT_ADVICE ||
		       (diagnosis->severity == BT_UNVALIDATED && !diagnostics->strict);
	struct bt_buf text = {0};

	diagnostics->lost_n += diagnosis->loss != BT_LOST_NOTHING;
	bt_diagnosis_text(diagnosis, &text);
	if (diagnostics->keeps) {
		diagnostics_keep(diagnostics, bt_buf_view(&text), warning);
	} else if (warning) {
		diagnostics_warn_of(diagnostics, bt_buf_view(&text));
	} else {
		report(diagnostics, bt_buf_view(&text), diagnosis->fatal);
	}
	bt_buf_fini(&text);
}

void bt_diagnostics_pass(struct bt_diagnostics *diagnostics, struct bt_diagnostics *kept)
{
	struct bt_str rest = bt_buf_view(&kept->kept);
	struct kept_diagnostic head;

	while (rest.len && !diagnostics->stop) {
		memcpy(&head, rest.ptr, sizeof(head));
		struct bt_str text = bt_str_sub(rest, sizeof(head), sizeof(head) + head.len);

		if (head.warning) {
			diagnostics_warn_of(diagnostics, text);
			kept->warning_n--;
		} else {
			report(diagnostics, text, false);
			kept->n--;
		}
		rest = bt_str_sub(rest, sizeof(head) + head.len, rest.len);
	}
	diagnostics->n += kept->n;
	diagnostics->warning_n += kept->warning_n;
	diagnostics->lost_n += kept->lost_n;
	bt_buf_fini(&kept->kept);
	*kept = (struct bt_diagnostics){.keeps = true, .strict = kept->strict};
}

void bt_diagnostics_report(struct bt_diagnostics *diagnostics, const char *object, const char *path,
	const char *message, const char *remedy)
{
	bt_diagnostics_add(diagnostics,
		&(struct bt_diagnosis){.object = object, .path = path, .message = message, .remedy = remedy});
}

void bt_diagnostics_warn(const struct bt_diagnostics *diagnostics, struct bt_str text)
{
	if (!diagnostics->quiet) {
		bt_message("berth %s: warning: %.*s\n", diagnostics->command, BT_STR_ARG(text));
	}
}

void bt_diagnostics_report_lost(struct bt_diagnostics *diagnostics, const char *object, const char *path,
	const char *message, const char *remedy)
{
	bt_diagnostics_add(diagnostics, &(struct bt_diagnosis){.object = object,
						.path = path,
						.message = message,
						.remedy = remedy,
						.loss = BT_LOST_POD});
}

void bt_diagnostics_end(const struct bt_diagnostics *diagnostics)
{
	if (diagnostics->quiet) {
		return;
	}
	if (!diagnostics->strict && diagnostics->n > PRINTED_MAX) {
		bt_message("berth %s: %llu more problems like these were skipped over\n",
			diagnostics->command, (unsigned long long)(diagnostics->n - PRINTED_MAX));
	}
	if (diagnostics->warning_n > PRINTED_MAX) {
		bt_message("berth %s: warning: %llu more warnings like these\n", diagnostics->command,
			(unsigned long long)(diagnostics->warning_n - PRINTED_MAX));
	}
}

static bool is_csv(const char *path)
{
	return bt_str_ends(bt_str(path), ".csv");
}

void bt_diagnostics_no_objects(const struct bt_invocation *invocation)
{
	const char *path;
	bool csv = false;

	for (size_t i = 0; (path = bt_invocation_input(invocation, i)); i++) {
		csv = csv || is_csv(path);
	}
	bt_message("berth %s: the input holds no Kubernetes objects; %s\n", invocation->command->name,
		csv ? "a trace in CSV is for berth simulate --trace openb --nodes FILE --pods FILE, and "
		      "berth "
		      "generate with the same options writes its objects"
		    : "give it files of JSON or YAML as kubectl writes them");
}

void bt_diagnostics_unreadable(const struct bt_invocation *invocation)
{
	bt_message("berth %s: a part of the input cannot be opened or read, and the result would be that of "
		   "another "
		   "cluster; correct the paths\n",
		invocation->command->name);
}
