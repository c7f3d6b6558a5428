// SPDX-License-Identifier: Apache-2.0

// generate, feature vol2: storage in full: classes with topologies, capacities, in-tree volumes and their migration, claims and volumes in every state,
// selectors, volume modes and attributes, inline disks, generic ephemeral volumes.
package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

const (
	storageAPI = "storage.k8s.io/v1"
	csiA, csiB = "csi.example.com", "other.example.org"
	csiGCE     = "pd.csi.storage.gke.io"
	zoneLabel  = "topology.kubernetes.io/zone"
)

// moreStorage creates the storage objects once a cluster's nodes are known.
func (g *gen) moreStorage() {
	for _, s := range [][3]string{{"wait", csiA, "WaitForFirstConsumer"}, {"now", csiA, "Immediate"}, {"fixed", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"},
		{"near", csiA, "WaitForFirstConsumer"}, {"gce", "kubernetes.io/gce-pd", "WaitForFirstConsumer"}, {"else", csiB, "WaitForFirstConsumer"}} {
		o := object{"metadata": named(s[0]), "provisioner": s[1], "volumeBindingMode": s[2]}
		if s[0] == "near" || g.chance(15) {
			terms := list{object{"matchLabelExpressions": list{object{"key": pick(g, zoneLabel, "topology.gke.io/zone", "rack"), "values": list{"z1", "z2", "a"}}}}}
			if g.chance(30) {
				terms = append(terms, object{"matchLabelExpressions": list{object{"key": "disk", "values": list{"ssd"}}, object{"key": "rack", "values": list{"a", "b"}}}})
			}
			o["allowedTopologies"] = terms
		}
		if g.chance(10) {
			in(o, "metadata", "annotations")["storageclass.kubernetes.io/is-default-class"] = "true"
		}
		if g.chance(5) {
			delete(o, "volumeBindingMode")
		}
		if g.chance(97) {
			g.of(storageAPI, "StorageClass", o)
		}
	}
	for _, d := range []string{csiA, csiB, csiGCE} {
		if g.chance(60) && !(d == csiA && g.on["volumes"]) {
			g.of(storageAPI, "CSIDriver", object{"metadata": named(d), "spec": object{"storageCapacity": g.chance(50), "attachRequired": g.chance(80)}})
		}
	}
	for i := range g.IntN(6) {
		o := object{"metadata": object{"name": fmt.Sprintf("room-%d", i), "namespace": "default"}, "storageClassName": pick(g, "wait", "wait", "near", "else"), "capacity": pick(g, "5Gi", "0", "100Gi", "0.5Gi")}
		if g.chance(80) {
			o["nodeTopology"] = pick(g, object{"matchLabels": object{zoneLabel: "z1"}}, object{"matchExpressions": list{object{"key": "rack", "operator": pick(g, "In", "NotIn"), "values": list{"a"}}}},
				object{}, object{"matchExpressions": list{object{"key": "disk", "operator": "Exists"}}})
		}
		if g.chance(40) {
			o["maximumVolumeSize"] = pick(g, "2Gi", "10Gi")
		}
		if g.chance(10) {
			delete(o, "capacity")
		}
		g.of(storageAPI, "CSIStorageCapacity", o)
	}
	if g.chance(40) {
		g.of(storageAPI, "VolumeAttributesClass", object{"metadata": named("gold"), "driverName": pick(g, csiA, csiB)})
	}
	for _, n := range g.nodes {
		if g.chance(15) {
			few := q(pick(g, "1", "2", "127"))
			n.Status.Allocatable["attachable-volumes-gce-pd"], n.Status.Capacity["attachable-volumes-gce-pd"] = few, few
		}
		if g.chance(80) {
			g.moreCSINode(n.Name)
		}
	}
	for i := range 2 + g.IntN(10) {
		g.claimAndVolumes(i)
	}
}

func (g *gen) moreCSINode(node string) {
	drivers := list{}
	for _, d := range []string{csiA, csiB, csiGCE, "ebs.csi.aws.com"} {
		if !g.chance(70) {
			continue
		}
		x := object{"name": d, "nodeID": node, "topologyKeys": list{zoneLabel}}
		if g.chance(60) {
			x["allocatable"] = object{"count": pick(g, int64(0), 1, 2, 3, 20)}
		}
		drivers = append(drivers, x)
	}
	m := named(node)
	if g.chance(60) {
		m["annotations"] = object{"storage.alpha.kubernetes.io/migrated-plugins": pick(g, "kubernetes.io/gce-pd", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd", "", "kubernetes.io/gce-pd, kubernetes.io/aws-ebs")}
	}
	g.of(storageAPI, "CSINode", object{"metadata": m, "spec": object{"drivers": drivers}})
}

// claimAndVolumes creates one claim and up to two volumes: bound, pre-bound, almost pre-bound, or unrelated.
func (g *gen) claimAndVolumes(i int) {
	class := pick(g, "wait", "now", "fixed", "fixed", "near", "gce", "else", "absent", "")
	ns, name, id := pick(g, g.spaces...), fmt.Sprintf("vol-%d", i), fmt.Sprintf("uid-vol-%d", i)
	modes := pick(g, list{"ReadWriteOnce"}, list{"ReadWriteOnce", "ReadOnlyMany"}, list{"ReadOnlyMany"}, list{"ReadWriteOncePod"}, list{"ReadWriteMany"})
	notes := object{}
	m := object{"name": name, "namespace": ns, "uid": id, "annotations": notes}
	spec := object{"accessModes": modes, "resources": object{"requests": object{"storage": pick(g, "1Gi", "8Gi", "1e9")}}}
	status := object{"phase": pick(g, "Pending", "Pending", "Bound", "Lost")}
	if g.chance(90) {
		spec["storageClassName"] = class
	} else if g.chance(50) {
		notes["volume.beta.kubernetes.io/storage-class"] = class
	}
	if g.chance(15) {
		spec["volumeMode"] = pick(g, "Block", "Filesystem")
	}
	if g.chance(15) {
		spec["selector"] = pick(g, object{"matchLabels": object{"tier": "fast"}}, object{}, object{"matchExpressions": list{object{"key": "tier", "operator": "NotIn", "values": list{"slow"}}}})
	}
	if g.chance(10) {
		spec["volumeAttributesClassName"] = pick(g, "gold", "absent", "")
	}
	if g.chance(8) {
		notes["volume.kubernetes.io/selected-node"] = pick(g, g.nodes...).Name
	}
	if g.chance(4) {
		m["deletionTimestamp"], m["finalizers"] = "2026-01-01T00:00:00Z", list{"example.com/hold"}
	}
	bound, volumes := g.chance(50), g.IntN(3)
	if bound {
		volumes = max(1, volumes)
	}
	for j := range volumes {
		pv := fmt.Sprintf("disk-%d-%d", i, j)
		o := g.aVolume(pv, class, modes)
		to := object{"kind": "PersistentVolumeClaim", "namespace": ns, "name": name, "uid": id}
		if j == 0 && bound {
			in(o, "spec")["claimRef"], in(o, "status")["phase"] = to, "Bound"
			if g.chance(95) {
				spec["volumeName"], status["phase"] = pv, "Bound"
			}
			if g.chance(90) {
				notes["pv.kubernetes.io/bind-completed"] = "yes"
			}
		} else if g.chance(15) {
			to["name"] = pick(g, name, "vol-0")
			delete(to, "uid")
			if g.chance(40) {
				to["uid"] = pick(g, id, "wrong")
			}
			in(o, "spec")["claimRef"] = to
		}
		if g.chance(97) {
			g.of("v1", "PersistentVolume", o)
		}
	}
	if g.chance(3) {
		spec["volumeName"] = "missing"
	}
	g.of("v1", "PersistentVolumeClaim", object{"metadata": m, "spec": spec, "status": status})
	g.moreClaimNames = append(g.moreClaimNames, types.NamespacedName{Namespace: ns, Name: name})
}

func (g *gen) aVolume(name, class string, modes list) object {
	m := object{"name": name, "uid": "uid-" + name}
	spec := object{"storageClassName": class, "accessModes": pick(g, modes, list{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"}), "capacity": object{"storage": pick(g, "2Gi", "10Gi", "1Gi", "8Gi", "9Gi")}}
	if g.chance(12) {
		spec["volumeMode"] = pick(g, "Block", "Filesystem")
	}
	if g.chance(10) {
		spec["volumeAttributesClassName"] = pick(g, "gold", "other", "")
	}
	switch g.IntN(12) {
	case 0:
		spec["gcePersistentDisk"] = object{"pdName": pick(g, "d1", "d2"), "readOnly": g.chance(30)}
	case 1:
		spec["awsElasticBlockStore"] = object{"volumeID": pick(g, "aws://us/vol-1", "vol-2", "aws:///vol-3")}
	case 2:
		spec["local"] = object{"path": "/mnt"}
	case 3:
		spec["hostPath"] = object{"path": "/x"}
	case 4:
		spec["nfs"] = object{"server": "s", "path": "/"}
	case 5:
		spec["azureDisk"] = object{"diskName": "d", "diskURI": "u"}
	case 6:
		spec["csi"] = object{"driver": csiB, "volumeHandle": pick(g, "same", "h-"+name)}
	default:
		spec["csi"] = object{"driver": csiA, "volumeHandle": pick(g, "same", "h-"+name, "h-"+name)}
	}
	if g.chance(50) {
		spec["nodeAffinity"] = object{"required": object{"nodeSelectorTerms": list{g.plainTerm()}}}
		if g.chance(10) {
			spec["nodeAffinity"] = object{}
		}
	}
	labels := object{}
	if g.chance(30) {
		labels[pick(g, zoneLabel, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")] = pick(g, "z1", "z2", "z1__z3", "r1", "", "__", "z1__")
	}
	if g.chance(40) {
		labels["tier"] = pick(g, "fast", "slow")
	}
	m["labels"] = labels
	if g.chance(3) {
		m["deletionTimestamp"], m["finalizers"] = "2026-01-01T00:00:00Z", list{"example.com/hold"}
	}
	return object{"metadata": m, "spec": spec, "status": object{"phase": pick(g, "Available", "Available", "Available", "Bound", "Released", "Failed", "Pending")}}
}

// moreMounts gives a pod up to three volumes.
func (g *gen) moreMounts(p *v1.Pod) {
	used := map[string]bool{}
	settled := len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) > 0 // its namespace is fixed, too
	add := func(s v1.VolumeSource) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("m%d", len(p.Spec.Volumes)), VolumeSource: s})
	}
	for range 1 + g.IntN(3) {
		switch g.IntN(14) {
		case 0:
			add(v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: pick(g, "d1", "d2"), ReadOnly: g.chance(40)}})
		case 1:
			add(v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(g, "vol-1", "vol-2"), ReadOnly: g.chance(30)}})
		case 2:
			add(v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: pick(g, "10.0.0.9:3260", "10.0.0.8"), IQN: pick(g, "iqn.a", "iqn.b"), Lun: int32(g.IntN(2)), ReadOnly: g.chance(40)}})
		case 3:
			add(v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: []string{pick(g, "m1", "m2"), pick(g, "m2", "m3")}, RBDImage: pick(g, "i1", "i2"), RBDPool: pick(g, "", "rbd", "p2"), ReadOnly: g.chance(40)}})
		case 4:
			add(v1.VolumeSource{CSI: &v1.CSIVolumeSource{Driver: pick(g, csiA, csiB, csiGCE)}})
		case 5:
			add(v1.VolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: pick(g, "u1", "u2")}})
		case 6:
			most := resource.MustParse("1Gi")
			add(v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: &most}})
		case 7:
			g.ephemeral(p, add)
			settled = true
		default:
			c := pick(g, g.moreClaimNames...)
			if settled && c.Namespace != p.Namespace || used[c.Name] && g.chance(80) {
				continue
			}
			settled, used[c.Name], p.Namespace = true, true, c.Namespace
			add(v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name, ReadOnly: g.chance(20)}})
		}
	}
}

// ephemeral: a claim owned by the pod, if the controller has created it, and for this pod.
func (g *gen) ephemeral(p *v1.Pod, add func(v1.VolumeSource)) {
	class := "wait"
	p.UID = types.UID("uid-" + p.Name)
	add(v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
		StorageClassName: &class, Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{"storage": q("1Gi")}}}}}})
	if !g.chance(80) {
		return
	}
	owner := object{"apiVersion": "v1", "kind": "Pod", "name": p.Name, "uid": string(p.UID), "controller": true}
	if g.chance(10) {
		owner["uid"] = "wrong"
	}
	name := p.Name + "-" + p.Spec.Volumes[len(p.Spec.Volumes)-1].Name
	m := object{"name": name, "namespace": p.Namespace, "uid": "uid-" + name}
	if g.chance(90) {
		m["ownerReferences"] = list{owner}
	}
	g.of("v1", "PersistentVolumeClaim", object{"metadata": m, "status": object{"phase": "Pending"},
		"spec": object{"accessModes": list{"ReadWriteOnce"}, "storageClassName": pick(g, "wait", "now", "near"), "resources": object{"requests": object{"storage": "1Gi"}}}})
}
