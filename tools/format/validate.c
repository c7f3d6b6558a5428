/* SPDX-License-Identifier: Apache-2.0
 * Walks an object beside the API's own structs. Recursion is as deep as these are.
 */
#include "tools/format/validate.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/suggest.h"

#define MEMBERS_MAX 64
#define WORD_MAX    80

enum api_type {
	API_NONE = 0,
#define BT_API_TYPE(name, ...) API_##name,
#include "tools/format/api_fields.def"
#undef BT_API_TYPE
	API_TYPE_N
};

struct api_field {
	const char *name;   /* NULL: the last */
	enum api_type type; /* of the object, or of the objects of a list; API_NONE: others */
};

#define FIELD(json)                                                                                          \
	{                                                                                                    \
		json, API_NONE                                                                               \
	}
#define OBJECT(json, object)                                                                                 \
	{                                                                                                    \
		json, API_##object                                                                           \
	}
#define BT_API_TYPE(name, ...)                                                                               \
	static const struct api_field name##_fields[] = {{"", API_NONE}, ##__VA_ARGS__, {NULL, API_NONE}};
#include "tools/format/api_fields.def"
#undef BT_API_TYPE
#undef FIELD
#undef OBJECT

/* The first entry of each is empty, for structs without members. */
static const struct api_field *const api_fields[API_TYPE_N] = {
#define BT_API_TYPE(name, ...) [API_##name] = name##_fields + 1,
#include "tools/format/api_fields.def"
#undef BT_API_TYPE
};

/* The struct of a kind; API_NONE: it is not checked. */
static enum api_type kind_type(enum bt_kind kind)
{
	const char *word = bt_kind_info(kind)->name;

	static const struct {
		const char *word;
		enum api_type type;
	} kinds[] = {
#define KIND(name) {#name, API_##name}
		KIND(Node),
		KIND(Pod),
		KIND(Namespace),
		KIND(Service),
		KIND(ReplicationController),
		KIND(ReplicaSet),
		KIND(StatefulSet),
		KIND(PodDisruptionBudget),
		KIND(PersistentVolume),
		KIND(PersistentVolumeClaim),
		KIND(StorageClass),
		KIND(CSINode),
		KIND(CSIDriver),
		KIND(CSIStorageCapacity),
		KIND(VolumeAttachment),
		KIND(ResourceClaim),
		KIND(ResourceSlice),
		KIND(DeviceClass),
		KIND(DeviceTaintRule),
		KIND(PriorityClass),
		KIND(RuntimeClass),
		KIND(LimitRange),
		KIND(ResourceQuota),
		KIND(Deployment),
		KIND(DaemonSet),
		KIND(Job),
		KIND(CronJob),
#undef KIND
	};

	for (size_t i = 0; kind != BT_KIND_OTHER && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].word, word) == 0) {
			return kinds[i].type;
		}
	}
	return API_NONE;
}

/* The values of a member: words between bars, or a range. */
struct value_rule {
	enum api_type type;
	const char *name, *words;
	int64_t min, max;
};

#define WORDS(type, name, words)                                                                             \
	{                                                                                                    \
		API_##type, name, "|" words "|", 0, 0                                                        \
	}
#define RANGE(type, name, min, max)                                                                          \
	{                                                                                                    \
		API_##type, name, NULL, min, max                                                             \
	}

/* Source: pkg/apis/{core,apps,batch,scheduling,storage}/validation, v1.37.2. */
static const struct value_rule value_rules[] = {
	WORDS(Toleration, "operator", "Exists|Equal|Lt|Gt"),
	WORDS(Toleration, "effect", "NoSchedule|PreferNoSchedule|NoExecute"),
	WORDS(Taint, "effect", "NoSchedule|PreferNoSchedule|NoExecute"),
	WORDS(NodeSelectorRequirement, "operator", "In|NotIn|Exists|DoesNotExist|Gt|Lt"),
	WORDS(LabelSelectorRequirement, "operator", "In|NotIn|Exists|DoesNotExist"),
	WORDS(ScopedResourceSelectorRequirement, "operator", "In|NotIn|Exists|DoesNotExist"),
	WORDS(TopologySpreadConstraint, "whenUnsatisfiable", "DoNotSchedule|ScheduleAnyway"),
	WORDS(TopologySpreadConstraint, "nodeAffinityPolicy", "Honor|Ignore"),
	WORDS(TopologySpreadConstraint, "nodeTaintsPolicy", "Honor|Ignore"),
	RANGE(TopologySpreadConstraint, "maxSkew", 1, INT32_MAX),
	RANGE(TopologySpreadConstraint, "minDomains", 1, INT32_MAX),
	RANGE(PreferredSchedulingTerm, "weight", 1, 100),
	RANGE(WeightedPodAffinityTerm, "weight", 1, 100),
	WORDS(PodSpec, "restartPolicy", "Always|OnFailure|Never"),
	WORDS(PodSpec, "preemptionPolicy", "PreemptLowerPriority|Never"),
	WORDS(PodSpec, "dnsPolicy", "ClusterFirst|ClusterFirstWithHostNet|Default|None"),
	RANGE(PodSpec, "activeDeadlineSeconds", 1, INT32_MAX),
	RANGE(PodSpec, "terminationGracePeriodSeconds", 0, INT64_MAX),
	WORDS(Container, "imagePullPolicy", "Always|IfNotPresent|Never"),
	WORDS(ContainerPort, "protocol", "TCP|UDP|SCTP"),
	RANGE(ContainerPort, "containerPort", 1, 65535),
	RANGE(ContainerPort, "hostPort", 0, 65535),
	WORDS(PriorityClass, "preemptionPolicy", "PreemptLowerPriority|Never"),
	WORDS(StorageClass, "volumeBindingMode", "Immediate|WaitForFirstConsumer"),
	WORDS(StorageClass, "reclaimPolicy", "Delete|Retain"),
	WORDS(PersistentVolumeClaimSpec, "volumeMode", "Filesystem|Block"),
	WORDS(PersistentVolumeSpec, "volumeMode", "Filesystem|Block"),
	RANGE(DeploymentSpec, "replicas", 0, INT32_MAX),
	RANGE(ReplicaSetSpec, "replicas", 0, INT32_MAX),
	RANGE(ReplicationControllerSpec, "replicas", 0, INT32_MAX),
	RANGE(StatefulSetSpec, "replicas", 0, INT32_MAX),
	WORDS(StatefulSetSpec, "podManagementPolicy", "OrderedReady|Parallel"),
	WORDS(DeploymentStrategy, "type", "Recreate|RollingUpdate"),
	WORDS(DaemonSetUpdateStrategy, "type", "RollingUpdate|OnDelete"),
	RANGE(JobSpec, "parallelism", 0, INT32_MAX),
	RANGE(JobSpec, "completions", 0, INT32_MAX),
	WORDS(JobSpec, "completionMode", "NonIndexed|Indexed"),
	WORDS(JobSpec, "podReplacementPolicy", "TerminatingOrFailed|Failed"),
	WORDS(CronJobSpec, "concurrencyPolicy", "Allow|Forbid|Replace"),
};

/* One walk. */
struct validation {
	struct bt_json *json;
	struct bt_arena *arena;
	bt_validate_fn *report;
	void *context;
};

/* ---- faults ---- */

/* Reports a fault at a path. A failing cursor sets the path and the message, and is resumed. */
static void report_fault(const struct validation *v, const struct bt_path *path, struct bt_json_mark mark,
	const char *remedy, const char *message)
{
	struct bt_decode decode = {.json = v->json, .arena = v->arena, .path = path};

	bt_decode_fail(&decode, BT_INVALID, bt_json_offset(v->json), remedy, "%s", message);
	v->report(v->context, &decode.error);
	bt_json_seek(v->json, mark);
}

static void unknown_member(
	const struct validation *v, const struct bt_path *path, enum api_type type, struct bt_json_mark mark)
{
	struct bt_suggestion best = {NULL, BT_SUGGEST_MAX};
	char typed[WORD_MAX + 1], remedy[2 * WORD_MAX];

	snprintf(typed, sizeof(typed), "%.*s", BT_STR_ARG(path->key));
	for (const struct api_field *field = api_fields[type]; field->name; field++) {
		bt_suggest(typed, field->name, &best);
	}
	snprintf(remedy, sizeof(remedy), "did you mean \"%s\"?", best.name ? best.name : "");
	report_fault(v, path, mark, best.name ? remedy : "the API server ignores it; leave it out",
		"unknown field");
}

/* Does the list of words, between bars, have the word? */
static bool has_word(const char *words, struct bt_str word)
{
	for (const char *at = words; *at; at++) {
		if (*at == '|' && strncmp(at + 1, word.ptr, word.len) == 0 && at[1 + word.len] == '|') {
			return true;
		}
	}
	return false;
}

static void unknown_word(const struct validation *v, const struct bt_path *path, const char *words,
	struct bt_str word, struct bt_json_mark mark)
{
	char typed[WORD_MAX + 1], list[2 * WORD_MAX], message[3 * WORD_MAX], remedy[3 * WORD_MAX];
	size_t n = 0;

	for (const char *at = words; *at; at++) {
		if (*at != '|') {
			list[n++] = *at;
		} else if (n && list[n - 1] != ' ' && at[1]) {
			list[n++] = ',';
			list[n++] = ' ';
		}
	}
	list[n] = '\0';
	snprintf(typed, sizeof(typed), "%.*s", BT_STR_ARG(word));
	snprintf(message, sizeof(message), "unsupported value \"%s\"", typed);
	snprintf(remedy, sizeof(remedy), "the API server takes %s", list);
	report_fault(v, path, mark, remedy, message);
}

static const struct value_rule *find_rule(enum api_type type, const char *name)
{
	for (size_t i = 0; i < sizeof(value_rules) / sizeof(*value_rules); i++) {
		if (value_rules[i].type == type && strcmp(value_rules[i].name, name) == 0) {
			return &value_rules[i];
		}
	}
	return NULL;
}

/* Checks the value at mark, which stays the cursor's place. */
static void check_value(const struct validation *v, const struct bt_path *path, const struct value_rule *rule,
	struct bt_json_mark mark)
{
	enum bt_json_type type = bt_json_peek(v->json);
	struct bt_str word;
	int64_t number;

	if (rule->words && type == BT_JSON_STRING && bt_json_string(v->json, &word)) {
		bt_json_seek(v->json, mark);
		/* An empty word is the same as none. */
		if (word.len && !has_word(rule->words, word)) {
			unknown_word(v, path, rule->words, word, mark);
		}
	} else if (!rule->words && type == BT_JSON_NUMBER && bt_json_int64(v->json, &number)) {
		char message[WORD_MAX];

		bt_json_seek(v->json, mark);
		if (number < rule->min || number > rule->max) {
			snprintf(message, sizeof(message), "%lld is outside %lld to %lld", (long long)number,
				(long long)rule->min, (long long)rule->max);
			report_fault(v, path, mark, "use a number in this range", message);
		}
	}
	bt_json_seek(v->json, mark);
}

/* ---- the walk ---- */

static const struct api_field *find_member(enum api_type type, struct bt_str name)
{
	for (const struct api_field *field = api_fields[type]; field->name; field++) {
		if (bt_str_is(name, field->name)) {
			return field;
		}
	}
	return NULL;
}

static bool walk_value(const struct validation *v, enum api_type type, const struct bt_path *path);

/* Returns false when the cursor stopped at invalid JSON. NOLINTNEXTLINE(misc-no-recursion) */
static bool walk_object(const struct validation *v, enum api_type type, const struct bt_path *path)
{
	struct bt_path step = {.up = path};
	uint64_t seen = 0;

	if (!bt_json_enter_object(v->json)) {
		return false;
	}
	while (bt_json_next_key(v->json, &step.key)) {
		struct bt_json_mark mark = bt_json_mark(v->json);
		const struct api_field *field = find_member(type, step.key);

		if (!field) {
			unknown_member(v, &step, type, mark);
			if (!bt_json_skip(v->json)) {
				return false;
			}
			continue;
		}
		uint64_t bit = UINT64_C(1) << (field - api_fields[type]) % MEMBERS_MAX;
		if (seen & bit) {
			report_fault(v, &step, mark, "keep one of them", "duplicate field");
		}
		seen |= bit;
		const struct value_rule *rule = find_rule(type, field->name);
		if (rule) {
			check_value(v, &step, rule, mark);
		}
		if (!walk_value(v, field->type, &step)) {
			return false;
		}
	}
	return bt_json_error(v->json)->status == BT_OK;
}

static bool walk_value(const struct validation *v, enum api_type type, const struct bt_path *path)
{
	struct bt_path step = {.up = path};
	enum bt_json_type found = bt_json_peek(v->json);

	if (type == API_NONE || (found != BT_JSON_OBJECT && found != BT_JSON_ARRAY)) {
		return bt_json_skip(v->json);
	}
	if (found == BT_JSON_OBJECT) {
		return walk_object(v, type, path);
	}
	if (!bt_json_enter_array(v->json)) {
		return false;
	}
	for (; bt_json_next_element(v->json); step.index++) {
		bool ok = bt_json_peek(v->json) == BT_JSON_OBJECT ? walk_object(v, type, &step)
								  : bt_json_skip(v->json);

		if (!ok) {
			return false;
		}
	}
	return bt_json_error(v->json)->status == BT_OK;
}

bool bt_validate_object(struct bt_json *json, struct bt_arena *arena, enum bt_kind kind,
	bt_validate_fn *report, void *context)
{
	const struct validation v = {json, arena, report, context};

	BT_REQUIRE(report);
	return walk_value(&v, kind_type(kind), NULL);
}
