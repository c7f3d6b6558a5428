/* SPDX-License-Identifier: Apache-2.0
 * A pod's spec and status as JSON or YAML.
 */
#include "engine/base/check.h"
#include "tools/offline/generate/serialize.h"
#include "tools/offline/generate/serialize_int.h"

static void write_ports(struct bt_doc *doc, const struct bt_container_object *container)
{
	if (container->port_n == 0) {
		return;
	}
	bt_doc_key(doc, "ports");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < container->port_n; i++) {
		const struct bt_port_object *port = &container->ports[i];

		bt_doc_begin_object(doc);
		bt_doc_key(doc, "containerPort");
		bt_doc_int(doc, port->container_port);
		if (port->host_port != 0) {
			bt_doc_key(doc, "hostPort");
			bt_doc_int(doc, port->host_port);
		}
		bt_serialize_optional(doc, "hostIP", port->host_ip);
		bt_serialize_optional(doc, "protocol", port->protocol);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_containers(
	struct bt_doc *doc, const char *key, const struct bt_container_object *containers, uint32_t n)
{
	if (n == 0) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < n; i++) {
		bt_doc_begin_object(doc);
		bt_doc_key(doc, "name");
		bt_doc_str(doc, containers[i].name);
		bt_serialize_optional(doc, "image", containers[i].image);
		bt_serialize_optional(doc, "restartPolicy", containers[i].restart_policy);
		bt_doc_key(doc, "resources");
		bt_doc_begin_object(doc);
		bt_serialize_resources(doc, "requests", &containers[i].resources.requests);
		bt_serialize_resources(doc, "limits", &containers[i].resources.limits);
		bt_doc_end(doc);
		write_ports(doc, &containers[i]);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_node_term(struct bt_doc *doc, const struct bt_node_term_object *term)
{
	bt_doc_begin_object(doc);
	bt_serialize_requirements(doc, "matchExpressions", &term->match_expressions);
	bt_serialize_requirements(doc, "matchFields", &term->match_fields);
	bt_doc_end(doc);
}

/* Begins an element of preferredDuringSchedulingIgnoredDuringExecution; what is preferred comes next. */
static void begin_preferred(struct bt_doc *doc, int64_t weight, const char *key)
{
	bt_doc_begin_object(doc);
	bt_doc_key(doc, "weight");
	bt_doc_int(doc, weight);
	bt_doc_key(doc, key);
}

static void write_node_affinity(struct bt_doc *doc, const struct bt_node_affinity_object *affinity)
{
	bt_doc_key(doc, "nodeAffinity");
	bt_doc_begin_object(doc);
	if (affinity->required.set) {
		bt_doc_key(doc, "requiredDuringSchedulingIgnoredDuringExecution");
		bt_doc_begin_object(doc);
		bt_doc_key(doc, "nodeSelectorTerms");
		bt_doc_begin_array(doc);
		for (uint32_t i = 0; i < affinity->required.term_n; i++) {
			write_node_term(doc, &affinity->required.terms[i]);
		}
		bt_doc_end(doc);
		bt_doc_end(doc);
	}
	if (affinity->preferred_n > 0) {
		bt_doc_key(doc, "preferredDuringSchedulingIgnoredDuringExecution");
		bt_doc_begin_array(doc);
		for (uint32_t i = 0; i < affinity->preferred_n; i++) {
			begin_preferred(doc, affinity->preferred[i].weight, "preference");
			write_node_term(doc, &affinity->preferred[i].preference);
			bt_doc_end(doc);
		}
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_pod_term(struct bt_doc *doc, const struct bt_pod_term_object *term)
{
	bt_doc_begin_object(doc);
	bt_serialize_selector(doc, "labelSelector", &term->label_selector);
	bt_serialize_list(doc, "namespaces", &term->namespaces);
	bt_serialize_selector(doc, "namespaceSelector", &term->namespace_selector);
	bt_serialize_list(doc, "matchLabelKeys", &term->match_label_keys);
	bt_serialize_list(doc, "mismatchLabelKeys", &term->mismatch_label_keys);
	bt_doc_key(doc, "topologyKey");
	bt_doc_str(doc, term->topology_key);
	bt_doc_end(doc);
}

static void write_pod_affinity(
	struct bt_doc *doc, const char *key, const struct bt_pod_affinity_object *affinity)
{
	if (!affinity->set) {
		return;
	}
	bt_doc_key(doc, key);
	bt_doc_begin_object(doc);
	if (affinity->required_n > 0) {
		bt_doc_key(doc, "requiredDuringSchedulingIgnoredDuringExecution");
		bt_doc_begin_array(doc);
		for (uint32_t i = 0; i < affinity->required_n; i++) {
			write_pod_term(doc, &affinity->required[i]);
		}
		bt_doc_end(doc);
	}
	if (affinity->preferred_n > 0) {
		bt_doc_key(doc, "preferredDuringSchedulingIgnoredDuringExecution");
		bt_doc_begin_array(doc);
		for (uint32_t i = 0; i < affinity->preferred_n; i++) {
			begin_preferred(doc, affinity->preferred[i].weight, "podAffinityTerm");
			write_pod_term(doc, &affinity->preferred[i].term);
			bt_doc_end(doc);
		}
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_affinity(struct bt_doc *doc, const struct bt_affinity_object *affinity)
{
	if (!affinity->node_affinity.set && !affinity->pod_affinity.set && !affinity->pod_anti_affinity.set) {
		return;
	}
	bt_doc_key(doc, "affinity");
	bt_doc_begin_object(doc);
	if (affinity->node_affinity.set) {
		write_node_affinity(doc, &affinity->node_affinity);
	}
	write_pod_affinity(doc, "podAffinity", &affinity->pod_affinity);
	write_pod_affinity(doc, "podAntiAffinity", &affinity->pod_anti_affinity);
	bt_doc_end(doc);
}

static void write_tolerations(struct bt_doc *doc, const struct bt_pod_spec_object *spec)
{
	if (spec->toleration_n == 0) {
		return;
	}
	bt_doc_key(doc, "tolerations");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		const struct bt_toleration_object *toleration = &spec->tolerations[i];

		bt_doc_begin_object(doc);
		bt_serialize_optional(doc, "key", toleration->key);
		bt_serialize_optional(doc, "operator", toleration->operator_);
		bt_serialize_optional(doc, "value", toleration->value);
		bt_serialize_optional(doc, "effect", toleration->effect);
		if (toleration->has_toleration_seconds) {
			bt_doc_key(doc, "tolerationSeconds");
			bt_doc_int(doc, toleration->toleration_seconds);
		}
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_spread(struct bt_doc *doc, const struct bt_pod_spec_object *spec)
{
	if (spec->spread_n == 0) {
		return;
	}
	bt_doc_key(doc, "topologySpreadConstraints");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < spec->spread_n; i++) {
		const struct bt_spread_constraint_object *spread = &spec->spread[i];

		bt_doc_begin_object(doc);
		bt_doc_key(doc, "maxSkew");
		bt_doc_int(doc, spread->max_skew);
		if (spread->has_min_domains) {
			bt_doc_key(doc, "minDomains");
			bt_doc_int(doc, spread->min_domains);
		}
		bt_doc_key(doc, "topologyKey");
		bt_doc_str(doc, spread->topology_key);
		bt_doc_key(doc, "whenUnsatisfiable");
		bt_doc_str(doc, spread->when_unsatisfiable);
		bt_serialize_optional(doc, "nodeAffinityPolicy", spread->node_affinity_policy);
		bt_serialize_optional(doc, "nodeTaintsPolicy", spread->node_taints_policy);
		bt_serialize_selector(doc, "labelSelector", &spread->label_selector);
		bt_serialize_list(doc, "matchLabelKeys", &spread->match_label_keys);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_text(struct bt_doc *doc, const char *key, struct bt_str value)
{
	bt_doc_key(doc, key);
	bt_doc_str(doc, value);
}

/* The disk of a volume. Claims and the disks that generators make are all there is to write. */
static void write_disk(struct bt_doc *doc, const struct bt_volume_object *volume)
{
	static const char *const keys[] = {[BT_VOLUME_CLAIM] = "persistentVolumeClaim",
		[BT_VOLUME_GCE_PD] = "gcePersistentDisk",
		[BT_VOLUME_AWS_EBS] = "awsElasticBlockStore",
		[BT_VOLUME_ISCSI] = "iscsi",
		[BT_VOLUME_RBD] = "rbd",
		[BT_VOLUME_CSI_INLINE] = NULL};

	BT_REQUIRE(volume->type < BT_VOLUME_CSI_INLINE && keys[volume->type]);
	bt_doc_key(doc, keys[volume->type]);
	bt_doc_begin_object(doc);
	if (volume->type == BT_VOLUME_CLAIM) {
		write_text(doc, "claimName", volume->source);
	} else if (volume->type == BT_VOLUME_GCE_PD) {
		write_text(doc, "pdName", volume->source);
	} else if (volume->type == BT_VOLUME_AWS_EBS) {
		write_text(doc, "volumeID", volume->source);
	} else if (volume->type == BT_VOLUME_ISCSI) {
		write_text(doc, "targetPortal", (struct bt_str)BT_STR("10.1.0.2:3260"));
		write_text(doc, "iqn", volume->source);
		bt_doc_key(doc, "lun");
		bt_doc_int(doc, 0);
	} else {
		bt_serialize_list(doc, "monitors", &volume->monitors);
		write_text(doc, "pool", volume->pool);
		write_text(doc, "image", volume->source);
	}
	if (volume->read_only) {
		bt_doc_key(doc, "readOnly");
		bt_doc_bool(doc, true);
	}
	bt_doc_end(doc);
}

static void write_volumes(struct bt_doc *doc, const struct bt_pod_spec_object *spec)
{
	if (spec->volume_n == 0) {
		return;
	}
	bt_doc_key(doc, "volumes");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		bt_doc_begin_object(doc);
		write_text(doc, "name", spec->volumes[i].name);
		write_disk(doc, &spec->volumes[i]);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_gates(struct bt_doc *doc, const struct bt_str_list *gates)
{
	if (gates->n == 0) {
		return;
	}
	bt_doc_key(doc, "schedulingGates");
	bt_doc_begin_array(doc);
	for (uint32_t i = 0; i < gates->n; i++) {
		bt_doc_begin_object(doc);
		write_text(doc, "name", gates->items[i]);
		bt_doc_end(doc);
	}
	bt_doc_end(doc);
}

static void write_spec(struct bt_doc *doc, const struct bt_pod_spec_object *spec)
{
	bt_doc_begin_object(doc);
	bt_serialize_optional(doc, "nodeName", spec->node_name);
	bt_serialize_optional(doc, "schedulerName", spec->scheduler_name);
	bt_serialize_optional(doc, "priorityClassName", spec->priority_class_name);
	if (spec->has_priority) {
		bt_doc_key(doc, "priority");
		bt_doc_int(doc, spec->priority);
	}
	bt_serialize_optional(doc, "preemptionPolicy", spec->preemption_policy);
	bt_serialize_optional(doc, "restartPolicy", spec->restart_policy);
	bt_serialize_map(doc, "nodeSelector", &spec->node_selector);
	write_affinity(doc, &spec->affinity);
	write_tolerations(doc, spec);
	write_spread(doc, spec);
	write_gates(doc, &spec->scheduling_gates);
	bt_serialize_resources(doc, "overhead", &spec->overhead);
	write_containers(doc, "initContainers", spec->init_containers, spec->init_container_n);
	write_containers(doc, "containers", spec->containers, spec->container_n);
	write_volumes(doc, spec);
	bt_doc_end(doc);
}

void bt_serialize_pod(const struct bt_pod_object *pod, struct bt_doc *doc)
{
	bt_doc_key(doc, "spec");
	write_spec(doc, &pod->spec);
	bt_doc_key(doc, "status");
	bt_doc_begin_object(doc);
	bt_serialize_optional(doc, "phase", pod->phase);
	bt_serialize_time(doc, "startTime", pod->start_ns);
	bt_doc_end(doc);
}
