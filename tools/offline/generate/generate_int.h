/* SPDX-License-Identifier: Apache-2.0
 * Shared by the generator's parts: nodes and signatures with the data for placing bound pods.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/rng.h"
#include "engine/model/object.h"
#include "tools/offline/generate/generate.h"

#define BT_GEN_EPOCH_S	   INT64_C(1767225600) /* the first of January 2026 */
#define BT_GEN_NAMESPACE_N 5
#define BT_GEN_IMAGE_N	   200
#define BT_GEN_CLASS_N	   4
#define BT_GEN_UID_BYTES   36
#define BT_GEN_PORT_FIRST  30000
#define BT_GEN_PORT_N	   32
#define BT_GEN_ZONE_KEY	   "topology.kubernetes.io/zone"
#define BT_GEN_RACK_KEY	   "example.com/rack"

/* Tracks bound resources, so that no node is overcommitted. */
struct bt_gen_amount {
	int64_t cpu_milli, memory_mib, storage_mib, gpus;
};

struct bt_gen_node {
	struct bt_gen_amount total, free;
	int64_t pods_free;
	uint64_t ports_used; /* by number only: stricter than the API, which also compares the address */
	uint32_t zone, rack;
	uint32_t devices; /* published in a ResourceSlice; a node has these or gpus */
	uint8_t machine;
	bool ssd, batch, soft_taint, unschedulable, gpu_rack;
};

struct bt_gen_signature {
	struct bt_object object;
	struct bt_gen_amount request;
	struct bt_str name; /* "app-17" */
	double weight;
	uint64_t ports;
	uint32_t machines;	/* bit m: may run on machine type m */
	int64_t zone, not_zone; /* -1: any */
	bool ssd, tolerates_batch, tolerates_gpu, pending_only;
	uint32_t devices;	   /* requested by a ResourceClaim of each pod */
	uint32_t gang_size;	   /* pods of a PodGroup; 0: they are in none */
	const char *gang_domain;   /* label key of its PodGroups' topology constraint, or NULL */
	uint64_t member_n, made_n; /* of a gang: how many pods there will be, and are */
};

struct bt_gen {
	struct bt_generate_options options;
	struct bt_arena arena;
	struct bt_gen_node *nodes;
	struct bt_gen_signature *signatures;
	uint32_t *draw; /* signatures in proportion to their weights */
	uint32_t draw_n;
	double gpus_left, devices_left; /* remaining amounts that signatures may request */
	double bound_chance; /* of a pod that may be bound, adjusted to the requested share of all */
};

extern const struct bt_str bt_gen_namespaces[BT_GEN_NAMESPACE_N];
extern const struct bt_gen_class {
	const char *name;
	int32_t value;
} bt_gen_classes[BT_GEN_CLASS_N];

static inline bool bt_gen_has(const struct bt_gen *gen, enum bt_generate_profile profile)
{
	return (gen->options.profiles & (uint32_t)profile) != 0;
}

/* Returns true with a probability of per_mille / 1000. */
static inline bool bt_gen_chance(struct bt_rng *rng, uint32_t per_mille)
{
	return bt_rng_below(rng, 1000) < per_mille;
}

/* Writes a UID made of a kind and a number: the same for the same input, different for different ones. */
void bt_gen_uid(char out_uid[BT_GEN_UID_BYTES], enum bt_kind kind, uint64_t ix);

void bt_gen_nodes_init(struct bt_gen *gen);
uint32_t bt_gen_machine_n(void);
const char *bt_gen_machine_name(uint32_t machine);
/* The node's object, in the scratch arena. */
void bt_gen_node_object(
	const struct bt_gen *gen, uint32_t ix, struct bt_arena *scratch, struct bt_object *out_object);
struct bt_str bt_gen_zone_name(struct bt_arena *arena, uint32_t zone);

/* An object with a UID, the time of the beginning and the version that counts of its kind, and no name. */
struct bt_object bt_gen_object(struct bt_arena *arena, enum bt_kind kind, uint64_t ix);

/* The signature of the ix-th pod. */
struct bt_gen_signature *bt_gen_signature_of(const struct bt_gen *gen, uint64_t ix);

/* Of gangs: how many pods each signature will have. */
void bt_gen_count_members(struct bt_gen *gen);

/* devices.c: DeviceClasses, a node's ResourceSlice, and the ResourceClaim of the signature's current pod. */
bool bt_gen_take_device_classes(struct bt_gen *gen, bt_generate_take *take, void *context);
bool bt_gen_take_slice(struct bt_gen *gen, uint32_t node_ix, struct bt_arena *scratch, bt_generate_take *take,
	void *context);
void bt_gen_add_devices(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng);
bool bt_gen_take_claim(struct bt_gen *gen, struct bt_gen_signature *signature, uint64_t ix,
	struct bt_arena *scratch, bt_generate_take *take, void *context);

/* resize.c: for some bound pods the kubelet has allocated less than their spec requests. */
void bt_gen_resize(
	const struct bt_gen *gen, struct bt_pod_object *pod, uint64_t ix, struct bt_arena *scratch);

/* gangs.c: selects the signatures whose pods form gangs (the first ones, free, only if all do); adds the
 * current pod to one, whose PodGroup precedes its first member. */
void bt_gen_add_gang(struct bt_gen *gen, struct bt_gen_signature *signature, bool free, struct bt_rng *rng);
bool bt_gen_join_gang(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_arena *scratch,
	bt_generate_take *take, void *context);

/* Needs the nodes, whose capacity sizes the requests. */
void bt_gen_signatures_init(struct bt_gen *gen);

/* Finds a node for one more pod of the signature and takes its resources; returns its index or UINT32_MAX. */
uint32_t bt_gen_place(struct bt_gen *gen, const struct bt_gen_signature *signature, struct bt_rng *rng);
