/* SPDX-License-Identifier: Apache-2.0
 * The kubectl resources to export: all that a scheduler reads. Used by help texts, examples and warnings;
 * README.md and tools/run repeat it, and tests/cli/references.sh compares them.
 */
#pragma once

#define BT_KUBECTL_PODS	   "nodes,pods,namespaces,priorityclasses,poddisruptionbudgets"
#define BT_KUBECTL_OWNERS  "services,replicationcontrollers,replicasets,statefulsets"
#define BT_KUBECTL_VOLUMES "persistentvolumeclaims,persistentvolumes,storageclasses"
#define BT_KUBECTL_CSI	   "csinodes,csidrivers,csistoragecapacities,volumeattachments"

/* For clusters with devices; elsewhere kubectl would fail for unknown resources. */
#define BT_KUBECTL_DEVICES "resourceclaims,resourceslices,deviceclasses"

#define BT_KUBECTL_KINDS   BT_KUBECTL_PODS "," BT_KUBECTL_OWNERS "," BT_KUBECTL_VOLUMES "," BT_KUBECTL_CSI
#define BT_KUBECTL_GET	   "kubectl get " BT_KUBECTL_KINDS " -A -o json"
#define BT_KUBECTL_GET_ALL "kubectl get " BT_KUBECTL_KINDS "," BT_KUBECTL_DEVICES " -A -o json"

/* The same in lines for help texts, which are narrow. */
#define BT_KUBECTL_LINES                                                                                     \
	"kinds=" BT_KUBECTL_PODS "\nkinds=$kinds," BT_KUBECTL_OWNERS "\nkinds=$kinds," BT_KUBECTL_VOLUMES    \
	"\nkinds=$kinds," BT_KUBECTL_CSI "\nkinds=$kinds," BT_KUBECTL_DEVICES "  # in clusters with devices"
