# SPDX-License-Identifier: Apache-2.0
# Missing referenced objects are reported, with the kinds to request from kubectl; ignored kinds that change placements cause a warning.
. "$(dirname "$0")/common.sh" "$@"

top=$(dirname "$0")/../..
cat >pods.yaml <<'YAML'
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "90"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data-0}}, {name: w, persistentVolumeClaim: {claimName: data-1}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data-0}}, {name: w, ephemeral: {volumeClaimTemplate: {spec: {}}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: bound}, spec: {nodeName: n1, containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data-9}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: d}, spec: {containers: [{name: c}], resourceClaims: [{name: r, resourceClaimName: gpu}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: e, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}
spec:
  containers: [{name: c}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaceSelector: {matchLabels: {a: b}}}]}}
YAML
"$berth" simulate pods.yaml >out 2>err || fail "simulate: $(cat err)"
# says TEXT: a warning has the text.
says() {
	grep -qF "berth simulate: warning: $1" err || fail "no warning '$1' in: $(cat err)"
}
says "2 pods refer to 2 PersistentVolumeClaims that the input lacks, such as default/data-0; fetch them with kubectl get persistentvolumeclaims -A -o json"
says "1 pod refers to 1 ResourceClaim that the input lacks, such as default/gpu; fetch them with kubectl get resourceclaims -A -o json"
says "1 pod refers to 1 ReplicaSet that the input lacks, such as default/web; fetch them with kubectl get replicasets -A -o json"
says "1 pod refers to 1 Namespace that the input lacks, such as default; fetch them with kubectl get namespaces -A -o json"
grep -qE '^  PersistentVolumeClaim +2  default/data-0 +2  pod +persistentvolumeclaims$' out || fail "the report does not name the claims: $(cat out)"
grep -q '^problems in the input' out && fail "what is missing counts as a problem"
says "everything that a scheduler looks at: kubectl get \$(berth kinds) -A -o json"
"$berth" simulate -q --strict pods.yaml >out 2>err || fail "--strict: $(cat err)"
[ ! -s err ] || fail "-q warns: $(cat err)"
"$berth" simulate -q pods.yaml -o json | grep -qF '"kubectl_get": "persistentvolumeclaims"' || fail "the JSON does not name the claims"

# Indirect references.
cat >claims.yaml <<'YAML'
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-0, namespace: default}, spec: {volumeName: pv-0, storageClassName: fast}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-1, namespace: default}, spec: {storageClassName: fast}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: b-w, namespace: default}, spec: {storageClassName: ""}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {csi: {driver: d, volumeHandle: h}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: gpu, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: default}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default}, spec: {replicas: 0}}
YAML
"$berth" simulate claims.yaml pods.yaml >out 2>err || fail "simulate claims: $(cat err)"
says "1 PersistentVolumeClaim refers to 1 PersistentVolume that the input lacks, such as pv-0; fetch them with kubectl get persistentvolumes -A -o json"
says "1 PersistentVolumeClaim refers to 1 StorageClass that the input lacks, such as fast; fetch them with kubectl get storageclasses -A -o json"
says "1 PersistentVolume counts against limits in CSINodes, which the input lacks; fetch them with kubectl get csinodes -A -o json"
says "1 ResourceClaim refers to 1 DeviceClass that the input lacks, such as gpu; fetch them with kubectl get deviceclasses -A -o json"
says "1 ResourceClaim waits for devices of ResourceSlices, which the input lacks; fetch them with kubectl get resourceslices -A -o json"
[ "$(grep -c 'that the input lacks' err)" = 3 ] || fail "what is there is said to be missing: $(cat err)"
# Order does not matter, nor do threads.
"$berth" simulate --threads 1 pods.yaml claims.yaml 2>&1 >out | diff err - >diff || fail "other warnings in another order: $(cat diff)"
"$berth" simulate "$top/tools/samples" >out 2>err || fail "the samples: $(cat err)"
[ ! -s err ] || fail "the samples lack something: $(cat err)"

# References of a template are reported as well; those of the cluster's own pods once.
"$berth" capacity claims.yaml pods.yaml --pod pods.yaml >out 2>err
[ "$(grep -c 'DeviceClass that the input lacks' err)" = 1 ] || fail "what the cluster lacks is not named once: $(cat err)"
cat >template.yaml <<'YAML'
{apiVersion: v1, kind: Pod, metadata: {name: t}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data-7}}]}}
YAML
"$berth" capacity pods.yaml --pod template.yaml >out 2>err
grep -qF "berth capacity: warning: 1 pod refers to 1 PersistentVolumeClaim that the input lacks, such as default/data-7; fetch them with kubectl get persistentvolumeclaims -A -o json" err ||
	fail "a template's claim is not named: $(cat err)"

# Kinds that change placements.
cat >kinds.yaml <<'YAML'
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: a}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: old}}
YAML
"$berth" simulate pods.yaml kinds.yaml >out 2>err || fail "simulate kinds: $(cat err)"
says "2 of kind ResourceClaimTemplate (resource.k8s.io/v1) ignored: no ResourceClaims are created from templates"
says 'kinds.yaml:7: Deployment old: apiVersion: no matches for kind "Deployment" in version "apps/v1beta1"; the object is ignored; write it as apps/v1'
grep -q ConfigMap err && fail "a ConfigMap is warned about: $(cat err)"
finish
