/* SPDX-License-Identifier: Apache-2.0
 * Complaints about the input.
 */
#include "tools/kube/config/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "tools/cli/say.h"

#define PRINTED_MAX 20

/* Says one more, if it is one of those that are said. */
static void say(struct bt_diagnostics *complaints, struct bt_str text, bool fatal)
{
	complaints->n++;
	complaints->stop |= complaints->strict;
	if (fatal || complaints->strict || (!complaints->quiet && complaints->n <= PRINTED_MAX)) {
		bt_say("berth %s: %.*s\n", complaints->command, BT_STR_ARG(text));
	}
}

static void diagnostics_keep(struct bt_diagnostics *complaints, struct bt_str text)
{
	if (complaints->n++ < PRINTED_MAX) {
		bt_buf_add(&complaints->kept, (const char *)&text.len, sizeof(text.len));
		bt_buf_str(&complaints->kept, text);
	}
}

void bt_diagnostics_hear(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_diagnostics *complaints = context;
	struct bt_buf text = {0};

	complaints->lost_n += diagnosis->loss != BT_LOST_NOTHING;
	bt_diagnosis_text(diagnosis, &text);
	if (complaints->keeps) {
		diagnostics_keep(complaints, bt_buf_view(&text));
	} else {
		say(complaints, bt_buf_view(&text), diagnosis->fatal);
	}
	bt_buf_fini(&text);
}

void bt_diagnostics_pass(struct bt_diagnostics *complaints, struct bt_diagnostics *kept)
{
	struct bt_str rest = bt_buf_view(&kept->kept);
	size_t len;

	while (rest.len && !complaints->stop) {
		memcpy(&len, rest.ptr, sizeof(len));
		say(complaints, bt_str_sub(rest, sizeof(len), sizeof(len) + len), false);
		rest = bt_str_sub(rest, sizeof(len) + len, rest.len);
		kept->n--;
	}
	complaints->n += kept->n;
	complaints->lost_n += kept->lost_n;
	bt_buf_fini(&kept->kept);
	*kept = (struct bt_diagnostics){.keeps = true};
}

void bt_diagnostics_say(struct bt_diagnostics *complaints, const char *object, const char *path,
	const char *message, const char *remedy)
{
	bt_diagnostics_hear(complaints,
		&(struct bt_diagnosis){.object = object, .path = path, .message = message, .remedy = remedy});
}

void bt_diagnostics_warn(const struct bt_diagnostics *complaints, struct bt_str text)
{
	if (!complaints->quiet) {
		bt_say("berth %s: warning: %.*s\n", complaints->command, BT_STR_ARG(text));
	}
}

void bt_diagnostics_say_lost(struct bt_diagnostics *complaints, const char *object, const char *path,
	const char *message, const char *remedy)
{
	bt_diagnostics_hear(complaints, &(struct bt_diagnosis){.object = object,
						.path = path,
						.message = message,
						.remedy = remedy,
						.loss = BT_LOST_POD});
}

void bt_diagnostics_end(const struct bt_diagnostics *complaints)
{
	if (!complaints->quiet && !complaints->strict && complaints->n > PRINTED_MAX) {
		bt_say("berth %s: %llu more problems like these were skipped over\n", complaints->command,
			(unsigned long long)(complaints->n - PRINTED_MAX));
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

	for (size_t i = 0; (path = bt_invocation_item(invocation, "filename", i)); i++) {
		csv = csv || is_csv(path);
	}
	for (size_t i = 0; i < invocation->operand_n; i++) {
		csv = csv || is_csv(invocation->operands[i]);
	}
	bt_say("berth %s: the input holds no Kubernetes objects; %s\n", invocation->command->name,
		csv ? "a trace in CSV is for berth simulate --trace openb --nodes FILE --pods FILE, and "
		      "berth "
		      "generate with the same options writes its objects"
		    : "give it files of JSON or YAML as kubectl writes them");
}

void bt_diagnostics_unreadable(const struct bt_invocation *invocation)
{
	bt_say("berth %s: a part of the input cannot be opened or read, and the result would be that of "
	       "another "
	       "cluster; correct the paths\n",
		invocation->command->name);
}
