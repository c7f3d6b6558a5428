/* SPDX-License-Identifier: Apache-2.0
 * PreBind: volumes, then claims, then their node-allocatable resources in the pod's status; then the binding
 * is sent. Source: BindPodVolumes and PreBind of DynamicResources, v1.36.3.
 *
 *   PV_GET --> PV --> (the next) --> PVC --> (the next) --> NODE --> WAIT --> MADE --> claims --> bind.c
 *                                                            ^         ^-------' |
 *                                                            |         the next  |
 *                                                            +-------------------+ not bound: the watch has
 *                                                                                  shown something, or 10 s
 * Each round reads the node and all claims with their volumes, until all are bound in the same round. For its
 * first in-tree volume the node's CSINode is read (CSI_NODE), and then the volume again. Each step is retried
 * a few times; a conflict on a claim reads it again. After a failure claims are rolled back.
 */
#include "tools/cli/json_write.h"
#include "tools/format/object_reader.h"
#include "tools/cluster/write/prebind_int.h"

#define ROUND_NS (10 * BT_WRITE_S)
#define VOLUMES	 "VolumeBinding"

/* ---- copying ---- */

/* Copies the volumes that have a PersistentVolume, or those that have none. */
static uint32_t copy_volumes(struct bt_write_op *op, const struct bt_bind_request *bind_request,
	bool provisioned, struct bt_prebind_volume *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < bind_request->volume_n; i++) {
		const struct bt_bind_request_volume *from = &bind_request->volumes[i];

		if ((from->volume.len == 0) == provisioned) {
			out[n++] = (struct bt_prebind_volume){bt_write_op_copy(op, from->claim),
				bt_write_op_copy(op, from->claim_uid), bt_write_op_copy(op, from->volume)};
		}
	}
	return n;
}

struct bt_prebind *bt_prebind_of(struct bt_write_op *op, const struct bt_bind_request *bind_request)
{
	struct bt_prebind *prebind;

	if (!bind_request->volume_n && !bind_request->claim_n && !bind_request->node_claim_n) {
		return NULL;
	}
	prebind = bt_arena_zalloc(&op->arena, sizeof(*prebind));
	prebind->volume_n = bind_request->volume_n;
	prebind->claim_n = bind_request->claim_n;
	prebind->volumes =
		bt_arena_zalloc(&op->arena, (bind_request->volume_n + 1) * sizeof(*prebind->volumes));
	prebind->claims = bt_arena_zalloc(&op->arena, (bind_request->claim_n + 1) * sizeof(*prebind->claims));
	const uint32_t static_n = copy_volumes(op, bind_request, false, prebind->volumes);

	copy_volumes(op, bind_request, true, prebind->volumes + static_n);
	for (uint32_t i = 0; i < bind_request->claim_n; i++) {
		bt_claim_copy(op, &bind_request->claims[i], &prebind->claims[i]);
	}
	prebind->node_claims = bt_node_claims_copy(op, bind_request);
	return prebind;
}

/* ---- steps ---- */

static bool reads(int stage)
{
	return stage == BT_PREBIND_PV_GET || (stage >= BT_PREBIND_NODE && stage <= BT_PREBIND_MADE) ||
	       stage == BT_PREBIND_CLAIM_GET || stage == BT_PREBIND_CLASS_GET ||
	       stage == BT_PREBIND_POD_GET || stage == BT_PREBIND_READY;
}

static void prebind_enter(struct bt_write_op *op, int stage)
{
	op->stage = stage;
	op->reads = reads(stage);
	op->tries = 0;
}

void bt_prebind_go(struct bt_write_op *op, int stage)
{
	prebind_enter(op, stage);
	bt_write_op_queue_first(op);
}

/* The next volume with a PersistentVolume, or the next one to be provisioned. */
static bool find_volume(const struct bt_prebind *prebind, uint32_t from, bool provisioned, uint32_t *out)
{
	for (uint32_t i = from; i < prebind->volume_n; i++) {
		if ((prebind->volumes[i].volume.len == 0) == provisioned) {
			*out = i;
			return true;
		}
	}
	return false;
}

static void bind_now(struct bt_write_op *op)
{
	op->verbs = &bt_bind_verbs;
	op->stage = 0;
	op->reads = false;
	op->tries = 0;
	op->until_ns = bt_write_now(op->writer) + op->writer->options.bind_timeout_ns;
	bt_write_op_queue(op);
}

static void undo_from(struct bt_writer *writer, struct bt_write_op *op, uint32_t at)
{
	struct bt_prebind *prebind = op->prebind;

	for (prebind->at = at; prebind->at < prebind->claim_n; prebind->at++) {
		if (bt_claim_undo(op)) {
			return;
		}
	}
	if (prebind->node_claims.len && op->stage != BT_PREBIND_CLEAR_NODE_CLAIMS) {
		bt_prebind_go(op, BT_PREBIND_CLEAR_NODE_CLAIMS);
		return;
	}
	bt_bind_failed(writer, op, prebind->why, prebind->message);
}

/* Each X_from starts step X at a volume or claim; after the last one the next step, finally the binding. */
static void ready_from(struct bt_write_op *op, uint32_t at)
{
	struct bt_prebind *prebind = op->prebind;

	for (prebind->at = at; prebind->at < prebind->claim_n; prebind->at++) {
		if (prebind->claims[prebind->at].conditional) {
			bt_claim_wait(op->writer, op);
			return;
		}
	}
	bt_claim_waited(op->writer, op, BT_DEVICES_READY);
	bind_now(op);
}

static void claims_from(struct bt_write_op *op, uint32_t at)
{
	while (at < op->prebind->claim_n && op->prebind->claims[at].held) {
		at++;
	}
	op->prebind->at = at;
	if (at < op->prebind->claim_n) {
		bt_claim_begin(op);
	} else if (op->prebind->node_claims.len) {
		bt_prebind_go(op, BT_PREBIND_NODE_CLAIMS);
	} else {
		ready_from(op, 0);
	}
}

static void wait_from(struct bt_write_op *op, uint32_t at)
{
	op->prebind->at = at;
	if (at >= op->prebind->volume_n) {
		claims_from(op, 0);
	} else {
		bt_prebind_go(op, BT_PREBIND_WAIT);
	}
}

/* All writes of volumes are done. */
static void wait_for_volumes(struct bt_write_op *op)
{
	op->prebind->at = 0;
	if (op->prebind->volume_n) {
		op->until_ns = bt_write_now(op->writer) + op->writer->options.volume_timeout_ns;
		bt_prebind_go(op, BT_PREBIND_NODE);
	} else {
		claims_from(op, 0);
	}
}

static void provision_from(struct bt_write_op *op, uint32_t from)
{
	if (find_volume(op->prebind, from, true, &op->prebind->at)) {
		bt_prebind_go(op, BT_PREBIND_PVC);
	} else {
		wait_for_volumes(op);
	}
}

static void volumes_from(struct bt_write_op *op, uint32_t from)
{
	if (find_volume(op->prebind, from, false, &op->prebind->at)) {
		bt_prebind_go(op, BT_PREBIND_PV_GET);
	} else {
		provision_from(op, 0);
	}
}

void bt_prebind_next(struct bt_writer *writer, struct bt_write_op *op)
{
	uint32_t next = op->prebind->at + 1;

	if (op->prebind->undoes) {
		undo_from(writer, op, next);
	} else if (op->stage == BT_PREBIND_PV_GET || op->stage == BT_PREBIND_PV) {
		volumes_from(op, next);
	} else if (op->stage == BT_PREBIND_PVC) {
		provision_from(op, next);
	} else if (op->stage == BT_PREBIND_WAIT || op->stage == BT_PREBIND_MADE) {
		wait_from(op, next);
	} else if (op->stage == BT_PREBIND_READY) {
		ready_from(op, next);
	} else if (op->stage == BT_PREBIND_NODE_CLAIMS) {
		ready_from(op, 0);
	} else {
		claims_from(op, next);
	}
}

void bt_prebind_begin(struct bt_write_op *op)
{
	op->verbs = &bt_prebind_verbs;
	volumes_from(op, 0);
}

/* ---- failures ---- */

uint32_t bt_prebind_written(
	struct bt_writer *writer, const struct bt_write_op *op, const struct bt_written_claim **out_claims)
{
	const struct bt_prebind *prebind = op->prebind;
	struct bt_written_claim *written;
	uint32_t n = 0;

	*out_claims = NULL;
	if (!prebind || !prebind->claim_n) {
		return 0;
	}
	written = bt_arena_zalloc(&writer->scratch, prebind->claim_n * sizeof(*written));
	for (uint32_t i = 0; i < prebind->claim_n; i++) {
		const struct bt_prebind_claim *claim = &prebind->claims[i];

		if (claim->written && !claim->deleted) {
			written[n++] = (struct bt_written_claim){.name = claim->name,
				.uid = claim->uid,
				.version = claim->written,
				.reserved = claim->reserves,
				.special = claim->special};
		}
	}
	*out_claims = written;
	return n;
}

bool bt_prebind_undo(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str why, struct bt_str message)
{
	struct bt_prebind *prebind = op->prebind;

	if (!prebind || prebind->undoes) {
		return false;
	}
	prebind->undoes = true;
	prebind->why = bt_write_op_copy(op, why);
	prebind->message = bt_write_op_copy(op, message);
	op->verbs = &bt_prebind_verbs;
	undo_from(writer, op, 0);
	return true;
}

void bt_prebind_fail(struct bt_writer *writer, struct bt_write_op *op, const char *plugin, struct bt_str why)
{
	struct bt_buf message = {.len = 0};

	bt_buf_printf(&message, "running PreBind plugin \"%s\": %.*s", plugin, BT_STR_ARG(why));
	struct bt_str text = bt_write_op_copy(op, bt_buf_view(&message));
	bt_buf_fini(&message);
	bt_prebind_undo(writer, op, text, text);
}

static void BT_PRINTF(3, 4)
	fail_volume(struct bt_writer *writer, struct bt_write_op *op, const char *format, ...)
{
	struct bt_buf why = {.len = 0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&why, format, args);
	va_end(args);
	BT_WRITE_COUNT(writer, volume_failed_n);
	bt_prebind_fail(writer, op, VOLUMES, bt_buf_view(&why));
	bt_buf_fini(&why);
}

/* ---- volumes ---- */

static struct bt_prebind_volume *volume_of(const struct bt_write_op *op)
{
	return &op->prebind->volumes[op->prebind->at];
}

/* If the volume belongs to another claim by now, the decision was based on a stale object. Upstream writes
 * the whole cached volume, and the server returns this error. */
static void take_pv(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	const struct bt_prebind_volume *volume = volume_of(op);
	struct bt_str spec = bt_json_member(writer, body, "spec");
	struct bt_str meta = bt_json_member(writer, body, "metadata");
	struct bt_str ref = bt_json_member(writer, spec, "claimRef");
	struct bt_str uid = bt_json_name(bt_json_member(writer, ref, "uid"));
	struct bt_str name = bt_json_name(bt_json_member(writer, ref, "name"));

	if (bt_str_eq(uid, volume->uid)) {
		bt_prebind_next(writer, op); /* it is already so */
	} else if (uid.len || (ref.len && !bt_str_eq(name, volume->claim))) {
		fail_volume(writer, op,
			"Operation cannot be fulfilled on persistentvolumes \"%.*s\": the object has been "
			"modified; please apply your changes to the latest version and try again",
			BT_STR_ARG(volume->volume));
	} else {
		op->version =
			bt_write_op_copy(op, bt_json_name(bt_json_member(writer, meta, "resourceVersion")));
		op->prebound = ref.len != 0;
		bt_prebind_go(op, BT_PREBIND_PV);
	}
}

static void write_pv(const struct bt_write_op *op, struct bt_buf *out)
{
	const struct bt_prebind_volume *volume = volume_of(op);
	struct bt_json_writer json = {.out = out};

	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "metadata");
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "resourceVersion");
	bt_json_write_str(&json, op->version);
	if (!op->prebound) {
		bt_json_write_key(&json, "annotations");
		bt_json_write_begin_object(&json);
		bt_json_write_key(&json, "pv.kubernetes.io/bound-by-controller");
		bt_json_write_text(&json, "yes");
		bt_json_write_end(&json);
	}
	bt_json_write_end(&json);
	bt_json_write_key(&json, "spec");
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "claimRef");
	bt_json_write_begin_object(&json);
	const struct {
		const char *key;
		struct bt_str value;
	} parts[] = {{"kind", BT_STR("PersistentVolumeClaim")}, {"namespace", op->pod.namespace_},
		{"name", volume->claim}, {"uid", volume->uid}, {"apiVersion", BT_STR("v1")}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		bt_json_write_key(&json, parts[i].key);
		bt_json_write_str(&json, parts[i].value);
	}
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
}

static void write_pvc(const struct bt_write_op *op, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out};

	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "metadata");
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "uid");
	bt_json_write_str(&json, volume_of(op)->uid);
	bt_json_write_key(&json, "annotations");
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "volume.kubernetes.io/selected-node");
	bt_json_write_str(&json, op->node);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
}

/* ---- waiting until volumes are bound. Source: BindPodVolumes, checkBindings, v1.36.3 ---- */

static void retry_round(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_stored_pod known;

	if (bt_write_now(writer) >= op->until_ns) {
		fail_volume(writer, op, "binding volumes: context deadline exceeded");
	} else if (!bt_pod_store_get(writer->known, &op->pod, &writer->scratch, &known)) {
		fail_volume(writer, op,
			"binding volumes: pod does not exist any more: pod \"%.*s\" not found",
			BT_STR_ARG(op->pod.name));
	} else {
		op->prebind->at = 0;
		prebind_enter(op, BT_PREBIND_NODE);
		/* The watch may have shown something since the round started. */
		bt_write_op_later(op, op->shown_n == writer->shown_n ? ROUND_NS : 0);
	}
}

/* Keeps the node's labels. */
static void take_node(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bt_str meta = bt_json_member(writer, answer->body, "metadata");
	struct bt_str labels = bt_json_member(writer, meta, "labels");

	if (answer->status == 404) {
		fail_volume(writer, op,
			"binding volumes: failed to get node \"%.*s\": node \"%.*s\" not found",
			BT_STR_ARG(op->node), BT_STR_ARG(op->node));
	} else if (!meta.len) {
		fail_volume(
			writer, op, "binding volumes: the node %.*s cannot be read", BT_STR_ARG(op->node));
	} else {
		if (!bt_str_eq(labels, op->prebind->labels)) {
			op->prebind->labels = bt_write_op_copy(op, labels);
		}
		op->prebind->knows_migrated = false;
		wait_from(op, 0);
	}
}

static void go_on(struct bt_writer *writer, struct bt_write_op *op)
{
	if (op->prebind->is_bound) {
		bt_prebind_next(writer, op);
	} else {
		retry_round(writer, op);
	}
}

/* The claim's volume; an empty name: none yet. */
static void take_made(struct bt_writer *writer, struct bt_write_op *op, struct bt_str name, bool completed)
{
	struct bt_prebind *prebind = op->prebind;
	struct bt_str chosen = volume_of(op)->volume;

	prebind->is_bound = name.len && completed;
	name = chosen.len ? chosen : name;
	if (!name.len) {
		go_on(writer, op);
		return;
	}
	if (!bt_str_eq(name, prebind->made)) {
		prebind->made = bt_write_op_copy(op, name);
	}
	bt_prebind_go(op, BT_PREBIND_MADE);
}

static void take_pvc(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	const struct bt_prebind_volume *volume = volume_of(op);
	struct bt_str meta = bt_json_member(writer, answer->body, "metadata");
	struct bt_str notes = bt_json_member(writer, meta, "annotations");
	struct bt_str node =
		bt_json_name(bt_json_member(writer, notes, "volume.kubernetes.io/selected-node"));

	if (answer->status == 404) {
		fail_volume(writer, op,
			"binding volumes: failed to check %s: persistentvolumeclaims \"%.*s/%.*s\" not found",
			volume->volume.len ? "binding" : "provisioning pvc", BT_STR_ARG(op->pod.namespace_),
			BT_STR_ARG(volume->claim));
	} else if (!bt_str_eq(bt_json_name(bt_json_member(writer, meta, "uid")), volume->uid)) {
		fail_volume(writer, op, "binding volumes: the claim \"%.*s\" is another one by now",
			BT_STR_ARG(volume->claim));
	} else if (!volume->volume.len && !notes.len) {
		fail_volume(writer, op, "binding volumes: selectedNode annotation reset for PVC \"%.*s\"",
			BT_STR_ARG(volume->claim));
	} else if (!volume->volume.len && !bt_str_eq(node, op->node)) {
		fail_volume(writer, op, "binding volumes: provisioning failed for PVC \"%.*s\"",
			BT_STR_ARG(volume->claim));
	} else {
		struct bt_str spec = bt_json_member(writer, answer->body, "spec");

		take_made(writer, op, bt_json_name(bt_json_member(writer, spec, "volumeName")),
			bt_json_member(writer, notes, "pv.kubernetes.io/bind-completed").len != 0);
	}
}

/* Decodes an object of the server. Returns: false when it is not of that kind. */
static bool read_object(
	struct bt_writer *writer, struct bt_str text, enum bt_kind kind, struct bt_object *out)
{
	struct bt_decode decode = {.json = writer->json, .arena = &writer->scratch};

	bt_json_begin(writer->json, text, &writer->scratch);
	return bt_object_decode(&decode, out) && out->kind == kind;
}

/* Which in-tree plugins the node's kubelet has migrated; none when the node has no CSINode. */
static void take_csi_node(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bt_object *object = bt_arena_zalloc(&writer->scratch, sizeof(*object));
	bool is_there = answer->status != 404;

	if (is_there && !read_object(writer, answer->body, BT_KIND_CSI_NODE, object)) {
		fail_volume(
			writer, op, "binding volumes: the CSINode %.*s cannot be read", BT_STR_ARG(op->node));
		return;
	}
	op->prebind->migrated = is_there ? bt_migrated_plugins(&object->csi_node) : 0;
	op->prebind->knows_migrated = true;
	bt_prebind_go(op, BT_PREBIND_MADE);
}

/* Whether a node can reach a volume. */
struct reach {
	bool reached;
	struct bt_str error; /* why that is unknown, in scratch; or empty */
};

/*
 * Whether the node has the labels that the volume requires, translated when the node's kubelet has migrated
 * it. Source: tryTranslatePVToCSI, CheckNodeAffinity, v1.36.3.
 */
static struct reach reach_of(
	struct bt_writer *writer, const struct bt_object *volume, const struct bt_prebind *prebind)
{
	struct bt_object *node = bt_arena_zalloc(&writer->scratch, sizeof(*node));
	struct bt_str labels_text = prebind->labels.len ? prebind->labels : bt_str("{}");
	struct bt_buf text = {.len = 0};

	bt_buf_printf(&text, "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"labels\":%.*s}}",
		BT_STR_ARG(labels_text));
	struct bt_intern *intern = bt_intern_create();
	struct bt_name_refs held = bt_name_refs_pinned(intern);
	struct bt_arena arena = {.first = NULL};
	struct bt_pv pv;
	struct reach reach = {.reached = read_object(writer, bt_buf_view(&text), BT_KIND_NODE, node)};

	bt_pv_compile(&held, &arena, &volume->persistent_volume, &pv);
	const struct bt_labels labels = bt_labels_intern(&held, &arena, &node->meta.labels);
	const bool translated = bt_pv_is_migrated(&pv, prebind->migrated);
	if (translated && pv.disk.error) {
		struct bt_str error = bt_intern_str(intern, pv.disk.error);

		reach.error =
			(struct bt_str){bt_arena_copy(&writer->scratch, error.ptr, error.len), error.len};
	}
	reach.reached = reach.reached && bt_pv_reaches(intern, &pv, translated, labels);
	bt_arena_fini(&arena);
	bt_intern_destroy(intern);
	bt_buf_fini(&text);
	return reach;
}

/* Checks an existing volume. */
static void check_volume(
	struct bt_writer *writer, struct bt_write_op *op, const struct bt_object *volume, bool claimed)
{
	const struct bt_prebind *prebind = op->prebind;
	const struct reach reach = reach_of(writer, volume, prebind);
	bool chosen = volume_of(op)->volume.len;

	if (reach.error.len) {
		fail_volume(writer, op, "binding volumes: %scould not translate pv: %.*s",
			chosen ? "failed to translate pv to csi: " : "", BT_STR_ARG(reach.error));
	} else if (!reach.reached) {
		fail_volume(writer, op,
			"binding volumes: pv \"%.*s\" node affinity doesn't match node \"%.*s\": no matching "
			"NodeSelectorTerms",
			BT_STR_ARG(prebind->made), BT_STR_ARG(op->node));
	} else if (chosen && !claimed) {
		fail_volume(writer, op, "binding volumes: ClaimRef got reset for pv \"%.*s\"",
			BT_STR_ARG(prebind->made));
	} else {
		go_on(writer, op);
	}
}

/* A provisioned volume that does not exist yet will be created. */
static void take_volume(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bt_object *volume = bt_arena_zalloc(&writer->scratch, sizeof(*volume));
	const struct bt_prebind *prebind = op->prebind;
	bool chosen = volume_of(op)->volume.len;
	struct bt_str spec = bt_json_member(writer, answer->body, "spec");
	struct bt_str ref = bt_json_member(writer, spec, "claimRef");

	if (answer->status == 404 && !chosen) {
		retry_round(writer, op);
	} else if (answer->status == 404) {
		fail_volume(writer, op,
			"binding volumes: failed to check binding: persistentvolumes \"%.*s\" not found",
			BT_STR_ARG(prebind->made));
	} else if (!read_object(writer, answer->body, BT_KIND_PERSISTENT_VOLUME, volume)) {
		fail_volume(writer, op, "binding volumes: the volume %.*s cannot be read",
			BT_STR_ARG(prebind->made));
	} else if (!prebind->knows_migrated && bt_volume_migrates(volume->persistent_volume.source.type)) {
		bt_prebind_go(op, BT_PREBIND_CSI_NODE);
	} else {
		check_volume(writer, op, volume, bt_json_name(bt_json_member(writer, ref, "uid")).len != 0);
	}
}

static void take_read(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (op->stage == BT_PREBIND_NODE) {
		take_node(writer, op, answer);
	} else if (op->stage == BT_PREBIND_WAIT) {
		take_pvc(writer, op, answer);
	} else if (op->stage == BT_PREBIND_CSI_NODE) {
		take_csi_node(writer, op, answer);
	} else {
		take_volume(writer, op, answer);
	}
}

static void volume_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	bool is_look = op->stage >= BT_PREBIND_NODE;

	if (is_look && (answer->fate == BT_FATE_DONE || answer->status == 404)) {
		take_read(writer, op, answer);
	} else if (answer->fate != BT_FATE_DONE) {
		if (!bt_write_op_again(op, answer)) {
			struct bt_str why = bt_write_message(writer, answer);

			fail_volume(writer, op, "%.*s", BT_STR_ARG(why));
		}
	} else if (op->stage == BT_PREBIND_PV_GET) {
		take_pv(writer, op, answer->body);
	} else {
		BT_WRITE_COUNT(writer, volume_n);
		bt_prebind_next(writer, op);
	}
}

/* Requests the node, its CSINode, or a volume. */
static void request_read(
	struct bt_writer *writer, const struct bt_write_op *op, struct bt_http_call *out_call)
{
	const struct bt_str nowhere = {.len = 0};
	struct bt_str path = op->stage == BT_PREBIND_NODE
				     ? bt_write_path(writer, "/api/v1", nowhere, "/nodes/", op->node, "")
			     : op->stage == BT_PREBIND_CSI_NODE
				     ? bt_write_path(writer, "/apis/storage.k8s.io/v1", nowhere, "/csinodes/",
					       op->node, "")
				     : bt_write_path(writer, "/api/v1", nowhere, "/persistentvolumes/",
					       op->prebind->made, "");

	*out_call = (struct bt_http_call){.method = BT_HTTP_GET, .path = path};
}

static bool volume_request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	const struct bt_prebind_volume *volume = volume_of(op);
	bool of_pv = op->stage == BT_PREBIND_PV_GET || op->stage == BT_PREBIND_PV;

	if (op->stage >= BT_PREBIND_NODE && op->stage != BT_PREBIND_WAIT) {
		/* Counts from the start of the round. */
		op->shown_n = op->stage == BT_PREBIND_NODE ? writer->shown_n : op->shown_n;
		request_read(writer, op, out_call);
		return true;
	}
	*out_call = (struct bt_http_call){.method = op->reads ? BT_HTTP_GET : BT_HTTP_PATCH,
		.path = bt_write_path(writer, "/api/v1",
			of_pv ? (struct bt_str){.len = 0} : op->pod.namespace_,
			of_pv ? "/persistentvolumes/" : "/persistentvolumeclaims/",
			of_pv ? volume->volume : volume->claim, "")};
	if (!op->reads) {
		(of_pv ? write_pv : write_pvc)(op, &writer->body);
		out_call->content_type = bt_str("application/merge-patch+json");
		out_call->body = bt_buf_view(&writer->body);
	}
	return true;
}

/* ---- verbs ---- */

static bool request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	if (op->stage >= BT_PREBIND_NODE_CLAIMS) {
		bt_node_claims_request(writer, op, out_call);
		return true;
	}
	return op->stage <= BT_PREBIND_MADE ? volume_request(writer, op, out_call)
					    : bt_claim_request(writer, op, out_call);
}

static void answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (op->stage <= BT_PREBIND_MADE) {
		volume_answered(writer, op, answer);
	} else if (op->stage >= BT_PREBIND_NODE_CLAIMS) {
		bt_node_claims_answered(writer, op, answer);
	} else {
		bt_claim_answered(writer, op, answer);
	}
}

/* Writes that were made stay, and are reported. */
static void fenced(struct bt_writer *writer, struct bt_write_op *op)
{
	bt_bind_failed(writer, op, bt_write_fence_reason(writer), (struct bt_str){.len = 0});
}

static void prebind_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	(void)writer;
	bt_prebind_begin(op);
}

static void given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	(void)sent;
	bt_bind_answer(writer, op, false, bt_str("the scheduler ends"));
}

const struct bt_write_op_verbs bt_prebind_verbs = {
	BT_CLASS_BIND, prebind_begin, request, answered, fenced, given_up};

/* ---- claims, volumes and nodes that the watch shows ---- */

static bool waits_for(const struct bt_write_op *op, const struct bt_write_op *shown)
{
	const struct bt_prebind *prebind = op->prebind;
	bool waits = op->verbs == &bt_prebind_verbs && op->stage == BT_PREBIND_NODE;
	bool is_claim = shown->pod.namespace_.len, found = false;

	if (shown->node.len) {
		return waits && bt_str_eq(op->node, shown->node);
	}
	for (uint32_t i = 0; waits && !found && i < prebind->volume_n; i++) {
		const struct bt_prebind_volume *volume = &prebind->volumes[i];

		found = is_claim ? bt_str_eq(op->pod.namespace_, shown->pod.namespace_) &&
					   bt_str_eq(volume->claim, shown->pod.name)
				 : bt_str_eq(volume->volume, shown->pod.name);
	}
	return found;
}

/* Bindings that wait for the object check immediately. */
static void begin_shown(struct bt_writer *writer, struct bt_write_op *shown)
{
	writer->shown_n++;
	for (struct bt_write_op *op = writer->later; op; op = op->next) {
		if (waits_for(op, shown)) {
			op->due_ns = writer->later_ns = bt_write_now(writer);
		}
	}
	bt_write_op_end(shown);
}

static void give_up_shown(struct bt_writer *writer, struct bt_write_op *shown, bool sent)
{
	(void)writer;
	(void)shown;
	(void)sent;
}

const struct bt_write_op_verbs bt_shown_verbs = {
	.class = BT_CLASS_BIND, .begin = begin_shown, .given_up = give_up_shown};
