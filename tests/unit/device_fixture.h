/* SPDX-License-Identifier: Apache-2.0
 * Claims, slices and classes of devices, written in short, for tests of what works on them.
 */
#pragma once

#include "object_fixture.h"

#define DEVICE_API "apiVersion: resource.k8s.io/v1, "

/* What the API server fills in, as far as tests leave it out: nothing here; they name mode and count. */
static inline void devices_apply(struct fixture *f, const char *yaml)
{
	bt_ingest_devices(f->cache, fixture_read(f, yaml));
}

/* A class of that name; spec such as "selectors: [...]". */
static inline void device_class(struct fixture *f, const char *name, const char *spec)
{
	char text[1024];

	snprintf(text, sizeof(text), "{" DEVICE_API "kind: DeviceClass, metadata: {name: %s}, spec: {%s}}",
		name, spec);
	devices_apply(f, text);
}

/* A slice of driver d, the only one of its pool unless pool says more: "name: p, generation: 1,
 * resourceSliceCount: 1". */
static inline void device_slice(struct fixture *f, const char *name, const char *pool, const char *spec)
{
	char text[4096];

	snprintf(text, sizeof(text),
		"{" DEVICE_API
		"kind: ResourceSlice, metadata: {name: %s}, spec: {driver: d, pool: {%s}, %s}}",
		name, pool, spec);
	devices_apply(f, text);
}

#define POOL(name) "name: " name ", generation: 1, resourceSliceCount: 1"

/* A claim in namespace default; devices is spec.devices, status is its status. */
static inline void device_claim(struct fixture *f, const char *name, const char *devices, const char *status)
{
	char text[4096];

	snprintf(text, sizeof(text),
		"{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: %s, uid: u-%s}, "
		"spec: {devices: {%s}}, status: {%s}}",
		name, name, devices, status);
	devices_apply(f, text);
}

/* A status that says that devices of pool p, driver d are allocated: results such as "device: a". */
#define ALLOCATED(result) "allocation: {devices: {results: [{request: r, driver: d, pool: p, " result "}]}}"

static inline const struct bt_resource_claim *claim_of(struct fixture *f, const char *name)
{
	return bt_device_store_claim(
		f->cache->view.devices, fixture_name(f, "default"), fixture_name(f, name));
}

/* What is allocated of a device of driver d; all zeroes when nobody ever named it. */
static inline struct bt_device_use use_of(struct fixture *f, const char *pool, const char *device)
{
	const struct bt_device_store *store = f->cache->view.devices;

	for (uint32_t i = 0; i < store->use_n; i++) {
		if (store->uses[i].pool == fixture_name(f, pool) &&
			store->uses[i].device == fixture_name(f, device)) {
			return store->uses[i];
		}
	}
	return (struct bt_device_use){0};
}

static inline const struct bt_device_pools *pools_of(struct fixture *f, uint32_t node)
{
	const struct bt_device_store *store = f->cache->view.devices;

	return store->pools(store->context, node);
}
