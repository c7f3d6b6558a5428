/* SPDX-License-Identifier: Apache-2.0
 * A program to debug with gdb: values of each type that tools/debug/gdb.py prints, and a
 * function for a breakpoint.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/ledger.h"
#include "engine/base/compiler.h"
#include "engine/model/signature.h"
#include "tools/format/object_reader.h"

#define MANY	   5000 /* number of names, enough for several chunks of the dictionary */
#define LONG_BYTES 300

/* Not static, so that gdb finds it in an optimised program, too. */
extern struct subject {
	struct bt_str empty, text;
	struct bt_quantity quantities[8];
	struct bt_labels labels;
	const struct bt_signature *signature;
	struct bt_pod pod;
	uint32_t first, last, long_; /* names */
} subject;

struct subject subject;

static struct bt_dictionary *kept;
static struct bt_signatures *signatures;

void stop_here(const struct bt_dictionary *dictionary);
void stop_without_dictionary(void);

BT_NOINLINE void stop_here(const struct bt_dictionary *dictionary)
{
	/* gdb's breakpoint; the compiler must not drop the call. */
	__asm__ volatile("" : : "r"(dictionary), "r"(&subject) : "memory");
}

BT_NOINLINE void stop_without_dictionary(void)
{
	__asm__ volatile("" : : "r"(&subject) : "memory");
}

static void report(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	(void)diagnosis;
	abort();
}

static const char pod_text[] = "{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web-1, uid: "
			       "u-1, labels: {app: web, tier: front}},"
			       " spec: {schedulerName: default-scheduler, nodeSelector: {disk: ssd}, "
			       "tolerations: [{operator: Exists}],"
			       " containers: [{name: a, image: app, resources: {requests: {cpu: 250m, "
			       "memory: 1Gi, example.com/gpu: 2}}}]}}";

static void make_names(struct bt_dictionary *dictionary)
{
	char text[LONG_BYTES + 1];

	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "name-%d", i);
		subject.last = bt_intern_add(dictionary->intern, bt_str(text));
		subject.first = i == 0 ? subject.last : subject.first;
	}
	memset(text, 'x', LONG_BYTES);
	text[LONG_BYTES - 1] = '!';
	subject.long_ = bt_intern_add(dictionary->intern, (struct bt_str){text, LONG_BYTES});
}

static void make_quantities(void)
{
	static const char *const texts[] = {
		"0", "1500m", "2Gi", "-3k", "1e3", "100n", "1536Mi", "12345678901234567890"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (bt_quantity_parse(bt_str(texts[i]), &subject.quantities[i]) != BT_OK) {
			abort();
		}
	}
}

/* At exit, when no frame has a dictionary any more. */
static void end(void)
{
	stop_without_dictionary();
	bt_signature_release(subject.signature);
	bt_signatures_destroy(signatures);
	bt_dictionary_destroy(kept);
}

int main(void)
{
	struct bt_dictionary *dictionary = kept = bt_dictionary_create();
	signatures = bt_signatures_create(dictionary);
	struct bt_object_reader *reader = bt_object_reader_create(report, NULL);

	bt_object_reader_begin_text(reader, "pod", bt_str(pod_text), BT_FORMAT_YAML);
	const struct bt_pod_object *object = &bt_object_reader_next(reader)->pod;
	subject.text = (struct bt_str)BT_STR("a \"text\"");
	subject.signature = bt_signatures_intern(signatures, object);
	subject.labels = subject.signature->labels;
	subject.pod = (struct bt_pod){
		.signature = subject.signature,
		.name = bt_intern_add(dictionary->intern, object->meta.name),
		.uid = bt_intern_add(dictionary->intern, object->meta.uid),
		.node_ix = 7,
		.priority = -5,
		.state = BT_POD_SCHEDULED,
		.creation_ns = 1767323045500000000,
	};
	make_names(dictionary);
	make_quantities();
	bt_object_reader_destroy(reader);
	stop_here(dictionary);
	return atexit(end);
}
