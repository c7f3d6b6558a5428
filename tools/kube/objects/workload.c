/* SPDX-License-Identifier: Apache-2.0
 * Used names are stored as 64-bit hashes; bt_claims has the owners of pods. Pods are built one at a time in a
 * scratch arena.
 */
#include "tools/kube/objects/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/model/selector.h"
#include "tools/kube/objects/copy.h"
#include "tools/kube/objects/defaults.h"

#define SUFFIX_N	   5
#define SUFFIXES	   14348907u /* 27^5 */
#define TEMPLATE_HASH_N	   10
#define GENERATED_PREFIX_N 58 /* 63 less the suffix, as the API server cuts generateName */
#define UID_N		   36
#define NUMBER_N	   24
#define JOB_CONTROLLER	   "kubernetes.io/job-controller"

/* Entry types for the hash of a namespace and names. */
enum known {
	KNOWN_POD = 1, /* a pod of this name */
	KNOWN_HASHED,  /* active pods of this Deployment, by the names of their ReplicaSets */
	KNOWN_PARENT,  /* the entry of this kind and name, which may have children */
	KNOWN_SEED     /* nothing; the seed of names and uids */
};

/* Kubernetes' alphabet for generated names: no vowels and no digits that look like letters. */
static const char safe_letters[] = "bcdfghjklmnpqrstvwxz2456789";
#define SAFE_N (sizeof(safe_letters) - 1)

struct expansion {
	struct bt_workloads *workloads;
	const struct bt_workloads_request *request;
	struct bt_buf *message;
	uint32_t left; /* pods that may still be made */
};

/* The common part of a workload's pods. Its strings live until the collector ends. */
struct pod_template_draft {
	const struct bt_workload_entry *entry;
	struct bt_owner_object owner;
	struct bt_str prefix; /* of generated names, with the dash */
	uint64_t seed;
	struct bt_str_pair extra_labels[6];
	uint32_t extra_n;
};

static uint64_t hash_key(enum known what, struct bt_str a, struct bt_str b, struct bt_str c)
{
	const struct bt_str parts[] = {a, b, c};
	uint64_t key = bt_hash_u64((uint64_t)what);

	for (size_t i = 0; i < 3; i++) {
		key = bt_hash_u64(key + bt_hash_bytes(parts[i].ptr, parts[i].len) + parts[i].len);
	}
	return bt_hash_key(key);
}

static uint32_t known(const struct bt_workloads *workloads, uint64_t key)
{
	uint32_t n = 0;

	bt_map_get(&workloads->known, key, &n);
	return n;
}

static void know_one_more(struct bt_workloads *workloads, uint64_t key)
{
	bt_map_put(&workloads->known, key, known(workloads, key) + 1);
}

void bt_workloads_fini(struct bt_workloads *workloads)
{
	bt_arena_fini(&workloads->arena);
	bt_arena_fini(&workloads->scratch);
	bt_mem_free(workloads->entries);
	bt_claims_fini(&workloads->claims);
	bt_map_fini(&workloads->known);
	*workloads = (struct bt_workloads){0};
}

static struct bt_str map_value(const struct bt_str_map *map, const char *key)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_is(map->items[i].key, key)) {
			return map->items[i].value;
		}
	}
	return (struct bt_str){NULL, 0};
}

/* "web-<hash>" with the label pod-template-hash=<hash> belongs to the Deployment "web". */
static struct bt_str deployment_name(struct bt_str replica_set, struct bt_str template_hash)
{
	size_t tail = template_hash.len + 1;

	if (template_hash.len == 0 || replica_set.len <= tail ||
		replica_set.ptr[replica_set.len - tail] != '-' ||
		!bt_str_eq(bt_str_sub(replica_set, replica_set.len - template_hash.len, replica_set.len),
			template_hash)) {
		return (struct bt_str){NULL, 0};
	}
	return bt_str_sub(replica_set, 0, replica_set.len - tail);
}

static void observe_pod(struct bt_workloads *workloads, const struct bt_pod_object *pod)
{
	const struct bt_meta_object *meta = &pod->meta;
	const struct bt_owner_object *owner = bt_claim_controller_of(meta);
	struct bt_str none = {NULL, 0};

	know_one_more(workloads, hash_key(KNOWN_POD, meta->namespace_, meta->name, none));
	bt_claims_observe(&workloads->claims, pod);
	if (owner && bt_str_is(owner->kind, "ReplicaSet") && !bt_str_is(pod->phase, "Succeeded") &&
		!bt_str_is(pod->phase, "Failed") && meta->deletion_ns == 0) {
		struct bt_str name =
			deployment_name(owner->name, map_value(&meta->labels, "pod-template-hash"));

		if (name.len) {
			know_one_more(workloads, hash_key(KNOWN_HASHED, meta->namespace_, name, none));
		}
	}
}

void bt_workloads_observe(struct bt_workloads *workloads, const struct bt_object *object)
{
	if (object->kind == BT_KIND_POD) {
		observe_pod(workloads, &object->pod);
		return;
	}
	if (!bt_kind_makes_pods(object->kind)) {
		return;
	}
	workloads->entries = bt_mem_grow(
		workloads->entries, workloads->entry_n, &workloads->entry_cap, sizeof(*workloads->entries));
	workloads->entries[workloads->entry_n++] = (struct bt_workload_entry){.kind = object->kind,
		.workload = bt_copy_workload(&workloads->arena, BT_COPY_ALL, &object->workload)};
}

static struct bt_str join(struct bt_arena *arena, struct bt_str a, const char *between, struct bt_str b)
{
	size_t between_n = strlen(between);
	size_t len = a.len + between_n + b.len;
	char *text = bt_arena_alloc(arena, len + 1, 1);

	if (a.len) {
		memcpy(text, a.ptr, a.len);
	}
	memcpy(text + a.len, between, between_n);
	if (b.len) {
		memcpy(text + a.len + between_n, b.ptr, b.len);
	}
	text[len] = '\0';
	return (struct bt_str){text, len};
}

static struct bt_str number_text(struct bt_arena *arena, int64_t number)
{
	char text[NUMBER_N];
	int len = snprintf(text, sizeof(text), "%" PRId64, number);

	return (struct bt_str){bt_arena_copy(arena, text, (size_t)len), (size_t)len};
}

/* n letters of the safe alphabet, the digits of number in base 27. */
static struct bt_str letters(struct bt_arena *arena, uint64_t number, size_t n)
{
	char *text = bt_arena_alloc(arena, n + 1, 1);

	for (size_t i = 0; i < n; i++, number /= SAFE_N) {
		text[i] = safe_letters[number % SAFE_N];
	}
	text[n] = '\0';
	return (struct bt_str){text, n};
}

/* A uid that follows from a number, in the form of a random one. */
static struct bt_str make_uid(struct bt_arena *arena, uint64_t seed)
{
	uint64_t high = bt_hash_u64(seed);
	uint64_t low = bt_hash_u64(seed ^ high);
	char text[UID_N + 1];

	snprintf(text, sizeof(text), "%08" PRIx32 "-%04x-4%03x-%04x-%012" PRIx64, (uint32_t)(high >> 32),
		(unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
		(unsigned)(low >> 48 & 0x3fff) | 0x8000u, low & 0xffffffffffff);
	return (struct bt_str){bt_arena_copy(arena, text, UID_N), UID_N};
}

struct bt_str bt_workloads_uid(
	struct bt_arena *arena, struct bt_str kind, struct bt_str namespace_, struct bt_str name)
{
	return make_uid(arena, hash_key(KNOWN_SEED, namespace_, kind, name));
}

static void add_label(struct pod_template_draft *draft, const char *key, struct bt_str value)
{
	draft->extra_labels[draft->extra_n++] = (struct bt_str_pair){bt_str(key), value};
}

static void add_job_labels(struct pod_template_draft *draft)
{
	add_label(draft, "batch.kubernetes.io/controller-uid", draft->owner.uid);
	add_label(draft, "batch.kubernetes.io/job-name", draft->owner.name);
	add_label(draft, "controller-uid", draft->owner.uid);
	add_label(draft, "job-name", draft->owner.name);
}

/* Determines the pods' owner and names. */
static struct pod_template_draft begin_draft(
	struct bt_workloads *workloads, const struct bt_workload_entry *entry)
{
	const struct bt_meta_object *meta = &entry->workload.meta;
	struct bt_arena *arena = &workloads->arena;
	struct bt_str kind = bt_str(bt_kind_info(entry->kind)->name);
	uint64_t seed = hash_key(KNOWN_SEED, meta->namespace_, kind, meta->name);
	struct bt_str hash = letters(arena, seed, TEMPLATE_HASH_N);
	struct pod_template_draft draft = {.entry = entry, .seed = seed};

	draft.owner = (struct bt_owner_object){.api_version = bt_str("apps/v1"),
		.kind = kind,
		.name = meta->name,
		.uid = meta->uid.len ? meta->uid : make_uid(arena, seed),
		.controller = true};
	switch (entry->kind) {
	case BT_KIND_DEPLOYMENT:
		draft.owner.kind = bt_str("ReplicaSet");
		draft.owner.name = join(arena, meta->name, "-", hash);
		draft.owner.uid = make_uid(arena, seed + 1);
		add_label(&draft, "pod-template-hash", hash);
		break;
	case BT_KIND_STATEFUL_SET:
		add_label(&draft, "controller-revision-hash", join(arena, meta->name, "-", hash));
		break;
	case BT_KIND_DAEMON_SET:
		add_label(&draft, "controller-revision-hash", hash);
		add_label(&draft, "pod-template-generation", bt_str("1"));
		break;
	case BT_KIND_CRON_JOB:
		draft.owner.name = join(arena, meta->name, "-", letters(arena, seed, SUFFIX_N));
		draft.owner.uid = make_uid(arena, seed + 1);
		draft.owner.kind = bt_str("Job");
		draft.owner.api_version = bt_str("batch/v1");
		add_job_labels(&draft);
		break;
	case BT_KIND_JOB:
		draft.owner.api_version = bt_str("batch/v1");
		add_job_labels(&draft);
		break;
	default:
		draft.owner.api_version =
			bt_str(entry->kind == BT_KIND_REPLICATION_CONTROLLER ? "v1" : "apps/v1");
		break;
	}
	draft.prefix = join(arena, draft.owner.name, "-", (struct bt_str){NULL, 0});
	return draft;
}

static void set_pair(struct bt_str_map *map, struct bt_str_pair pair)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_eq(map->items[i].key, pair.key)) {
			map->items[i].value = pair.value;
			return;
		}
	}
	map->items[map->n++] = pair;
}

/* A copy of a map with room for more. */
static struct bt_str_map roomy_map(struct bt_arena *arena, const struct bt_str_map *from, uint32_t more)
{
	struct bt_str_map map = {.n = from->n, .set = true};

	map.items = bt_arena_alloc(arena, (from->n + more) * sizeof(*map.items), 16);
	if (from->n) {
		memcpy(map.items, from->items, from->n * sizeof(*map.items));
	}
	return map;
}

/* Drops the previous pod and begins one with the template's values, without a name. */
static struct bt_pod_object begin_pod(struct bt_workloads *workloads, const struct pod_template_draft *draft)
{
	const struct bt_workload_object *workload = &draft->entry->workload;
	struct bt_arena *arena = &workloads->scratch;
	struct bt_pod_object pod = {.phase = bt_str("Pending")};
	const uint32_t own_labels = 2;

	bt_arena_reset(arena);
	pod.spec = bt_copy_pod_spec(arena, BT_COPY_ARRAYS, &workload->template_spec);
	pod.meta.namespace_ = workload->meta.namespace_;
	pod.meta.creation_ns = workload->meta.creation_ns;
	pod.meta.finalizers = workload->template_meta.finalizers;
	pod.meta.labels = roomy_map(arena, &workload->template_meta.labels, draft->extra_n + own_labels);
	pod.meta.annotations = roomy_map(arena, &workload->template_meta.annotations, 1);
	for (uint32_t i = 0; i < draft->extra_n; i++) {
		set_pair(&pod.meta.labels, draft->extra_labels[i]);
	}
	pod.meta.owners = bt_arena_alloc(arena, sizeof(*pod.meta.owners), 16);
	pod.meta.owners[0] = draft->owner;
	pod.meta.owner_n = 1;
	return pod;
}

static uint64_t pod_key(const struct bt_pod_object *pod)
{
	return hash_key(KNOWN_POD, pod->meta.namespace_, pod->meta.name, (struct bt_str){NULL, 0});
}

static void finish_pod(struct expansion *expansion, struct bt_pod_object *pod)
{
	struct bt_arena *arena = &expansion->workloads->scratch;
	uint64_t key = pod_key(pod);

	know_one_more(expansion->workloads, key);
	pod->meta.uid = make_uid(arena, key);
	bt_defaults_pod(pod, arena);
	bt_defaults_match_label_keys(pod, arena);
	expansion->left--;
	expansion->request->emit(expansion->request->context, pod);
}

/*
 * Names a pod: the prefix and five letters. Number i gets the letters a * i + b mod 27^5, where a and b
 * follow from the seed: no two numbers of a workload get the same, and consecutive ones look different. Used
 * names are skipped.
 */
static void generate_name(struct bt_workloads *workloads, struct bt_pod_object *pod, struct bt_str prefix,
	uint64_t seed, uint64_t *number)
{
	struct bt_arena *arena = &workloads->scratch;
	uint64_t a = bt_hash_u64(seed) % SUFFIXES / 3 * 3 + 1;
	uint64_t b = bt_hash_u64(seed + 1) % SUFFIXES;

	prefix.len = prefix.len > GENERATED_PREFIX_N ? GENERATED_PREFIX_N : prefix.len;
	pod->meta.generate_name = prefix;
	do {
		struct bt_str suffix = letters(arena, (a * (*number)++ + b) % SUFFIXES, SUFFIX_N);

		pod->meta.name = join(arena, prefix, "", suffix);
	} while (known(workloads, pod_key(pod)));
}

/* Checks the limit of pods; if exceeded, reports the remedy. */
static enum bt_status check_room(
	struct expansion *expansion, const struct bt_workload_entry *entry, uint64_t pods)
{
	const struct bt_meta_object *meta = &entry->workload.meta;

	if (pods <= expansion->left) {
		return BT_OK;
	}
	bt_buf_printf(expansion->message,
		"%s %.*s/%.*s: %" PRIu64 " pods are missing, and only %" PRIu32
		" more may be made; lower its replicas, parallelism or the number of workloads, or do not "
		"expand workloads",
		bt_kind_info(entry->kind)->name, BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name), pods,
		expansion->left);
	return BT_FULL;
}

static enum bt_status expand_replicas(struct expansion *expansion, struct pod_template_draft *draft)
{
	struct bt_workloads *workloads = expansion->workloads;
	const struct bt_workload_object *workload = &draft->entry->workload;
	struct bt_str none = {NULL, 0};
	uint64_t number = 0;
	int64_t missing = workload->replicas;

	if (draft->entry->kind != BT_KIND_DEPLOYMENT) {
		struct bt_claimed claimed = bt_claims_take(
			&workloads->claims, bt_str(bt_kind_info(draft->entry->kind)->name), workload);

		missing -= claimed.active;
		bt_claimed_fini(&claimed);
	} else {
		uint32_t hashed_n = known(workloads,
			hash_key(KNOWN_HASHED, workload->meta.namespace_, workload->meta.name, none));

		/* A paused Deployment creates no ReplicaSet, and so no pods. */
		missing = draft->entry->child_n || (workload->paused && !hashed_n) ? 0 : missing - hashed_n;
	}
	if (missing <= 0) {
		return BT_OK;
	}
	enum bt_status rc = check_room(expansion, draft->entry, (uint64_t)missing);
	for (; rc == BT_OK && missing > 0; missing--) {
		struct bt_pod_object pod = begin_pod(workloads, draft);

		generate_name(workloads, &pod, draft->prefix, draft->seed, &number);
		finish_pod(expansion, &pod);
	}
	return rc;
}

/* Source: updateStorage, pkg/controller/statefulset, v1.37.2. */
static void claim_volumes(
	struct bt_arena *arena, const struct bt_workload_object *set, struct bt_pod_object *pod)
{
	struct bt_pod_spec_object *spec = &pod->spec;
	uint32_t n = 0;

	if (set->claim_template_n == 0) {
		return;
	}
	struct bt_volume_object *volumes =
		bt_arena_alloc(arena, (set->claim_template_n + spec->volume_n) * sizeof(*volumes), 16);
	for (uint32_t i = 0; i < set->claim_template_n; i++) {
		struct bt_str name = set->claim_templates[i].meta.name;

		volumes[n++] = (struct bt_volume_object){.name = name,
			.type = BT_VOLUME_CLAIM,
			.source = join(arena, name, "-", pod->meta.name)};
	}
	/* A claim template hides the template's volume of the same name. */
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		bool hidden = false;

		for (uint32_t j = 0; j < set->claim_template_n; j++) {
			hidden |= bt_str_eq(set->claim_templates[j].meta.name, spec->volumes[i].name);
		}
		if (!hidden) {
			volumes[n++] = spec->volumes[i];
		}
	}
	spec->volumes = volumes;
	spec->volume_n = n;
}

/* Emits a StatefulSet's claims for a pod. False: one of them was refused. Source: getPersistentVolumeClaims,
 * createPersistentVolumeClaims, pkg/controller/statefulset, v1.37.2. */
static bool emit_claims(
	struct expansion *expansion, const struct bt_workload_object *set, const struct bt_pod_object *pod)
{
	const struct bt_workloads_request *request = expansion->request;
	const struct bt_str_map *selected = &set->selector.match_labels;
	struct bt_arena *arena = &expansion->workloads->scratch;

	for (uint32_t i = 0; request->claim && i < set->claim_template_n; i++) {
		const struct bt_claim_object *from = &set->claim_templates[i];
		struct bt_claim_object claim = bt_copy_claim(arena, BT_COPY_ARRAYS, from);

		claim.meta =
			(struct bt_meta_object){.name = join(arena, from->meta.name, "-", pod->meta.name),
				.namespace_ = set->meta.namespace_,
				.creation_ns = set->meta.creation_ns,
				.labels = roomy_map(arena, &from->meta.labels, selected->n),
				.annotations = from->meta.annotations};
		for (uint32_t j = 0; j < selected->n; j++) {
			set_pair(&claim.meta.labels, selected->items[j]);
		}
		if (!request->claim(request->context, &claim)) {
			return false;
		}
	}
	return true;
}

static enum bt_status expand_stateful(struct expansion *expansion, struct pod_template_draft *draft)
{
	struct bt_workloads *workloads = expansion->workloads;
	const struct bt_workload_object *workload = &draft->entry->workload;
	int64_t replicas = workload->replicas > 0 ? workload->replicas : 0;
	enum bt_status rc = check_room(expansion, draft->entry, (uint64_t)replicas);
	struct bt_claimed claimed = bt_claims_take(
		&workloads->claims, bt_str(bt_kind_info(BT_KIND_STATEFUL_SET)->name), workload);

	for (int64_t i = 0; rc == BT_OK && i < replicas; i++) {
		struct bt_pod_object pod = begin_pod(workloads, draft);
		struct bt_str ordinal = number_text(&workloads->scratch, workload->start_ordinal + i);

		pod.meta.name = join(&workloads->scratch, workload->meta.name, "-", ordinal);
		/* An ended pod is deleted and recreated. */
		if (known(workloads, pod_key(&pod)) &&
			!bt_claimed_has(&claimed, BT_CLAIM_ENDED, pod.meta.name)) {
			continue;
		}
		set_pair(&pod.meta.labels,
			(struct bt_str_pair){bt_str("statefulset.kubernetes.io/pod-name"), pod.meta.name});
		set_pair(&pod.meta.labels,
			(struct bt_str_pair){bt_str("apps.kubernetes.io/pod-index"), ordinal});
		claim_volumes(&workloads->scratch, workload, &pod);
		if (emit_claims(expansion, workload, &pod)) {
			finish_pod(expansion, &pod);
		}
	}
	bt_claimed_fini(&claimed);
	return rc;
}

/* "<job>-<index>-", where a job's name that is too long gives way. */
static struct bt_str index_prefix(struct bt_arena *arena, struct bt_str job, struct bt_str index)
{
	struct bt_str tail = join(arena, index, "-", (struct bt_str){NULL, 0});
	size_t room = GENERATED_PREFIX_N - tail.len - 1;

	job.len = job.len > room ? room : job.len;
	return join(arena, job, "-", tail);
}

static void make_indexed_pod(
	struct expansion *expansion, const struct pod_template_draft *draft, int64_t index)
{
	static const struct bt_str key = BT_STR("batch.kubernetes.io/job-completion-index");
	struct bt_workloads *workloads = expansion->workloads;
	struct bt_pod_object pod = begin_pod(workloads, draft);
	struct bt_str text = number_text(&workloads->scratch, index);
	uint64_t number = 0;

	set_pair(&pod.meta.labels, (struct bt_str_pair){key, text});
	set_pair(&pod.meta.annotations, (struct bt_str_pair){key, text});
	generate_name(workloads, &pod, index_prefix(&workloads->scratch, draft->owner.name, text),
		draft->seed + (uint64_t)index, &number);
	finish_pod(expansion, &pod);
}

/* The number of a Job's missing pods: its parallelism, at most the remaining completions. */
static int64_t job_missing(const struct bt_workload_object *job, const struct bt_claimed *claimed)
{
	/* Pods that have succeeded may be gone; the status still counts them. */
	int64_t succeeded = claimed->succeeded;
	int64_t wanted = job->parallelism;

	succeeded = job->succeeded > succeeded ? job->succeeded : succeeded;
	if (!job->has_completions) {
		/* In a work queue the first success means that no work is left. */
		wanted = succeeded > 0 ? claimed->active : wanted;
	} else if (wanted > job->completions - succeeded) {
		wanted = job->completions - succeeded;
	}
	return wanted - claimed->active - (job->replaces_failed_only ? claimed->leaving : 0);
}

/* A list of indexes as a Job's status has it, "1,3-5", read from the left. */
struct index_ranges {
	struct bt_str rest;
	int64_t last; /* of the range before rest */
};

/* The first index from ix on that no range has. Calls use ascending indexes. */
static int64_t skip_ranges(struct index_ranges *ranges, int64_t ix)
{
	while (ranges->rest.len) {
		size_t end = bt_str_find(ranges->rest, ',', 0);
		struct bt_str range = bt_str_sub(ranges->rest, 0, end);
		size_t dash = bt_str_find(range, '-', 0);
		int64_t first, last;

		if (!bt_parse_int64(bt_str_sub(range, 0, dash), &first) || first > ix) {
			break;
		}
		if (dash == range.len || !bt_parse_int64(bt_str_sub(range, dash + 1, range.len), &last)) {
			last = first;
		}
		ranges->last = last;
		ranges->rest = bt_str_sub(ranges->rest, end + (end < ranges->rest.len), ranges->rest.len);
	}
	return ix > ranges->last ? ix : ranges->last + 1;
}

/* Makes pods for the first indexes that have none, and neither have succeeded nor failed for good. */
static void make_indexed_pods(struct expansion *expansion, const struct pod_template_draft *draft,
	const struct bt_claimed *claimed, int64_t missing)
{
	const struct bt_workload_object *job = &draft->entry->workload;
	struct index_ranges completed = {job->completed_indexes, -1}, failed = {job->failed_indexes, -1};

	for (int64_t i = 0; missing > 0 && i < job->completions; i++) {
		char text[NUMBER_N];
		int64_t next = i;

		do {
			i = next;
			next = skip_ranges(&failed, skip_ranges(&completed, i));
		} while (next != i);
		snprintf(text, sizeof(text), "%" PRId64, i);
		if (i < job->completions && !bt_claimed_has(claimed, BT_CLAIM_INDEX, bt_str(text)) &&
			!(job->replaces_failed_only &&
				bt_claimed_has(claimed, BT_CLAIM_LEAVING_INDEX, bt_str(text)))) {
			make_indexed_pod(expansion, draft, i);
			missing--;
		}
	}
}

static enum bt_status expand_job(struct expansion *expansion, struct pod_template_draft *draft)
{
	struct bt_workloads *workloads = expansion->workloads;
	const struct bt_workload_object *job = &draft->entry->workload;
	struct bt_claimed claimed = {.active = 0};
	uint64_t number = 0;

	if (draft->entry->child_n || (job->managed_by.len && !bt_str_is(job->managed_by, JOB_CONTROLLER))) {
		return BT_OK;
	}
	if (draft->entry->kind == BT_KIND_JOB) {
		claimed = bt_claims_take(&workloads->claims, draft->owner.kind, job);
	}
	int64_t missing = job_missing(job, &claimed);
	enum bt_status rc = missing > 0 ? check_room(expansion, draft->entry, (uint64_t)missing) : BT_OK;
	if (rc == BT_OK && job->indexed) {
		make_indexed_pods(expansion, draft, &claimed, missing);
	}
	for (; rc == BT_OK && !job->indexed && missing > 0; missing--) {
		struct bt_pod_object pod = begin_pod(workloads, draft);

		generate_name(workloads, &pod, draft->prefix, draft->seed, &number);
		finish_pod(expansion, &pod);
	}
	bt_claimed_fini(&claimed);
	return rc;
}

static bool same_toleration(const struct bt_toleration_object *a, const struct bt_toleration_object *b)
{
	return bt_str_eq(a->key, b->key) && bt_str_eq(a->operator_, b->operator_) &&
	       bt_str_eq(a->value, b->value) && bt_str_eq(a->effect, b->effect);
}

/* Adds the tolerations of daemon pods; each replaces one that differs only in seconds. */
static void daemon_tolerations(struct bt_arena *arena, struct bt_pod_spec_object *spec)
{
	static const struct bt_toleration_object wanted[] = {
		{BT_STR("node.kubernetes.io/not-ready"), BT_STR("Exists"), BT_STR(""), BT_STR("NoExecute"), 0,
			false},
		{BT_STR("node.kubernetes.io/unreachable"), BT_STR("Exists"), BT_STR(""), BT_STR("NoExecute"),
			0, false},
		{BT_STR("node.kubernetes.io/disk-pressure"), BT_STR("Exists"), BT_STR(""),
			BT_STR("NoSchedule"), 0, false},
		{BT_STR("node.kubernetes.io/memory-pressure"), BT_STR("Exists"), BT_STR(""),
			BT_STR("NoSchedule"), 0, false},
		{BT_STR("node.kubernetes.io/pid-pressure"), BT_STR("Exists"), BT_STR(""),
			BT_STR("NoSchedule"), 0, false},
		{BT_STR("node.kubernetes.io/unschedulable"), BT_STR("Exists"), BT_STR(""),
			BT_STR("NoSchedule"), 0, false},
		{BT_STR("node.kubernetes.io/network-unavailable"), BT_STR("Exists"), BT_STR(""),
			BT_STR("NoSchedule"), 0, false},
	};
	uint32_t wanted_n = sizeof(wanted) / sizeof(wanted[0]) - !spec->host_network;
	struct bt_toleration_object *items =
		bt_arena_alloc(arena, (spec->toleration_n + wanted_n) * sizeof(*items), 16);

	if (spec->toleration_n) {
		memcpy(items, spec->tolerations, spec->toleration_n * sizeof(*items));
	}
	spec->tolerations = items;
	for (uint32_t i = 0; i < wanted_n; i++) {
		bool known = false;

		for (uint32_t j = 0; j < spec->toleration_n; j++) {
			if (same_toleration(&items[j], &wanted[i])) {
				items[j] = wanted[i];
				known = true;
			}
		}
		if (!known) {
			items[spec->toleration_n++] = wanted[i];
		}
	}
}

/* Replaces the pod's required node affinity by "the node of this name"; the template's affinity has been
 * evaluated. */
static void pin_to_node(struct bt_arena *arena, struct bt_pod_spec_object *spec, const struct bt_str *node)
{
	struct bt_node_affinity_object *affinity = &spec->affinity.node_affinity;
	struct bt_node_term_object *term = bt_arena_zalloc(arena, sizeof(*term));
	struct bt_requirement_object *field = bt_arena_zalloc(arena, sizeof(*field));
	struct bt_str *value = bt_arena_zalloc(arena, sizeof(*value));

	*value = *node;
	*field = (struct bt_requirement_object){bt_str("metadata.name"), bt_str("In"), {value, 1, true}};
	term->match_fields = (struct bt_requirement_object_list){field, 1};
	affinity->set = true;
	affinity->required = (struct bt_node_selector_object){true, term, 1};
}

static enum bt_status expand_daemon(struct expansion *expansion, struct pod_template_draft *draft)
{
	struct bt_workloads *workloads = expansion->workloads;
	const struct bt_workloads_request *request = expansion->request;
	const struct bt_workload_object *daemon = &draft->entry->workload;
	struct bt_str wanted_node = daemon->template_spec.node_name;
	enum bt_status rc = check_room(expansion, draft->entry, request->node_n);
	struct bt_claimed claimed =
		bt_claims_take(&workloads->claims, bt_str(bt_kind_info(BT_KIND_DAEMON_SET)->name), daemon);

	for (uint32_t i = 0; rc == BT_OK && i < request->node_n; i++) {
		const struct bt_str *node = &request->node_names[i];
		uint64_t number = i;

		if ((wanted_node.len && !bt_str_eq(wanted_node, *node)) ||
			bt_claimed_has(&claimed, BT_CLAIM_NODE, *node)) {
			continue;
		}
		struct bt_pod_object pod = begin_pod(workloads, draft);
		daemon_tolerations(&workloads->scratch, &pod.spec);
		if (!request->eligible(request->context, &pod, i)) {
			continue;
		}
		pin_to_node(&workloads->scratch, &pod.spec, node);
		generate_name(workloads, &pod, draft->prefix, draft->seed, &number);
		finish_pod(expansion, &pod);
	}
	bt_claimed_fini(&claimed);
	return rc;
}

/* ---- Deployments and their ReplicaSets, CronJobs and their Jobs ---- */

static bool makes_children(const struct bt_workload_entry *entry)
{
	return entry->kind == BT_KIND_DEPLOYMENT || entry->kind == BT_KIND_CRON_JOB;
}

static uint64_t parent_key(const struct bt_meta_object *meta, struct bt_str kind, struct bt_str name)
{
	return hash_key(KNOWN_PARENT, meta->namespace_, kind, name);
}

/* Of two ReplicaSets the one with the later revision is newer, else the one created later. */
static bool is_newer(const struct bt_workload_object *a, const struct bt_workload_object *b)
{
	static const char key[] = "deployment.kubernetes.io/revision";
	int64_t revision_a, revision_b;

	if (bt_parse_int64(map_value(&a->meta.annotations, key), &revision_a) &&
		bt_parse_int64(map_value(&b->meta.annotations, key), &revision_b) &&
		revision_a != revision_b) {
		return revision_a > revision_b;
	}
	return a->meta.creation_ns > b->meta.creation_ns;
}

/* The ReplicaSet that a Deployment scales is the one with replicas, or else the newest. */
static void add_child(
	struct bt_workloads *workloads, struct bt_workload_entry *parent, struct bt_workload_entry *child)
{
	const struct bt_workload_entry *entries = workloads->entries;
	bool active = child->workload.replicas > 0;

	if (parent->child_n == 0 || (active && parent->active_n == 0) ||
		(active == (parent->active_n > 0) &&
			is_newer(&child->workload, &entries[parent->scaled_ix].workload))) {
		parent->scaled_ix = (uint32_t)(child - entries);
	}
	parent->child_n++;
	parent->active_n += active;
}

/* The first Deployment that selects a ReplicaSet without a controller. */
static struct bt_workload_entry *find_adopter(
	struct bt_workloads *workloads, const struct bt_workload_entry *orphan)
{
	for (size_t i = 0; i < workloads->entry_n; i++) {
		struct bt_workload_entry *entry = &workloads->entries[i];

		if (entry->kind == BT_KIND_DEPLOYMENT && entry->workload.meta.deletion_ns == 0 &&
			bt_str_eq(entry->workload.meta.namespace_, orphan->workload.meta.namespace_) &&
			bt_claims_selects(&workloads->claims, &entry->workload, &orphan->workload.meta)) {
			return entry;
		}
	}
	return NULL;
}

static struct bt_workload_entry *find_parent(
	struct bt_workloads *workloads, const struct bt_workload_entry *child)
{
	const struct bt_meta_object *meta = &child->workload.meta;
	const struct bt_owner_object *owner = bt_claim_controller_of(meta);

	if (!owner) {
		return child->kind == BT_KIND_REPLICA_SET && meta->deletion_ns == 0
			       ? find_adopter(workloads, child)
			       : NULL;
	}
	uint32_t place = known(workloads, parent_key(meta, owner->kind, owner->name));
	struct bt_workload_entry *parent = place ? &workloads->entries[place - 1] : NULL;
	if (!parent || !bt_claim_same_uid(parent->workload.meta.uid, owner->uid)) {
		return NULL;
	}
	/* The selector of a CronJob is its pods', and a Deployment lets a ReplicaSet go that it does not
	 * select. */
	return parent->kind == BT_KIND_CRON_JOB || !parent->workload.selector.set ||
			       bt_claims_selects(&workloads->claims, &parent->workload, meta)
		       ? parent
		       : NULL;
}

/* Finds out which workloads leave their pods to others. A Deployment gives its replicas to its only
 * ReplicaSet that has any; while several have, as in a rollout, each keeps its own. */
static void find_families(struct bt_workloads *workloads)
{
	for (size_t i = 0; i < workloads->entry_n; i++) {
		struct bt_workload_entry *entry = &workloads->entries[i];

		if (makes_children(entry)) {
			bt_map_put(&workloads->known,
				parent_key(&entry->workload.meta, bt_str(bt_kind_info(entry->kind)->name),
					entry->workload.meta.name),
				(uint32_t)i + 1);
		}
	}
	for (size_t i = 0; i < workloads->entry_n; i++) {
		struct bt_workload_entry *entry = &workloads->entries[i];
		bool is_child = entry->kind == BT_KIND_REPLICA_SET || entry->kind == BT_KIND_JOB;
		struct bt_workload_entry *parent = is_child ? find_parent(workloads, entry) : NULL;

		if (parent) {
			add_child(workloads, parent, entry);
		}
	}
	for (size_t i = 0; i < workloads->entry_n; i++) {
		const struct bt_workload_entry *entry = &workloads->entries[i];

		if (entry->kind == BT_KIND_DEPLOYMENT && entry->child_n && entry->active_n <= 1 &&
			entry->workload.meta.deletion_ns == 0) {
			workloads->entries[entry->scaled_ix].workload.replicas = entry->workload.replicas;
		}
	}
}

static enum bt_status expand_entry(struct expansion *expansion, const struct bt_workload_entry *entry)
{
	struct pod_template_draft draft = begin_draft(expansion->workloads, entry);

	switch (entry->kind) {
	case BT_KIND_STATEFUL_SET:
		return expand_stateful(expansion, &draft);
	case BT_KIND_JOB:
	case BT_KIND_CRON_JOB:
		return expand_job(expansion, &draft);
	case BT_KIND_DAEMON_SET:
		return expand_daemon(expansion, &draft);
	default:
		return expand_replicas(expansion, &draft);
	}
}

enum bt_status bt_workloads_expand(struct bt_workloads *workloads, const struct bt_workloads_request *request,
	struct bt_buf *out_message)
{
	struct expansion expansion = {.workloads = workloads,
		.request = request,
		.message = out_message,
		.left = request->pod_max ? request->pod_max : BT_WORKLOAD_PODS_MAX};
	enum bt_status rc = BT_OK;

	find_families(workloads);
	for (size_t i = 0; rc == BT_OK && i < workloads->entry_n; i++) {
		const struct bt_workload_entry *entry = &workloads->entries[i];

		if (!entry->workload.suspend && !entry->workload.finished &&
			entry->workload.meta.deletion_ns == 0) {
			rc = expand_entry(&expansion, entry);
		}
	}
	return rc;
}
