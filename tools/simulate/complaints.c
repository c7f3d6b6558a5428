/* SPDX-License-Identifier: Apache-2.0
 * Complaints about the input.
 */
#include "tools/simulate/complaints.h"

#include <stdio.h>

#define PRINTED_MAX 20

void bt_complaints_hear(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_complaints *complaints = context;
	struct bt_buf text = {0};

	complaints->n++;
	complaints->stop |= complaints->strict;
	if (complaints->strict || (!complaints->quiet && complaints->n <= PRINTED_MAX)) {
		bt_diagnosis_text(diagnosis, &text);
		fprintf(stderr, "berth simulate: %s\n", text.ptr);
		bt_buf_fini(&text);
	}
}

void bt_complaints_say(struct bt_complaints *complaints, const char *object, const char *path,
	const char *message, const char *remedy)
{
	bt_complaints_hear(complaints,
		&(struct bt_diagnosis){.object = object, .path = path, .message = message, .remedy = remedy});
}

void bt_complaints_end(const struct bt_complaints *complaints)
{
	if (!complaints->quiet && !complaints->strict && complaints->n > PRINTED_MAX) {
		fprintf(stderr, "berth simulate: %llu more problems like these were skipped over\n",
			(unsigned long long)(complaints->n - PRINTED_MAX));
	}
}
