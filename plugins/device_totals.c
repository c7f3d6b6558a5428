/* SPDX-License-Identifier: Apache-2.0
 * Counting of devices.
 */
#include "plugins/device_totals.h"

#include "cache/device_view.h"
#include "engine/base/buf.h"
#include "engine/base/check.h"

static const struct bt_device_class *class_of(const struct bt_view *view, uint32_t slot)
{
	return view->devices && view->devices->resource_classes.count
		       ? bt_device_store_resource(
				 view->devices, view->snapshot->dictionary->resources.names[slot])
		       : NULL;
}

bool bt_devices_serve(const struct bt_view *view, uint32_t slot)
{
	return class_of(view, slot) != NULL;
}

/* Does the class match the device? As upstream, selectors of unknown kinds and shared devices are ignored
 * here. */
static enum bt_device_answer takes(const struct bt_device_store *store, const struct bt_device_class *class_,
	uint32_t driver, const struct bt_device *device)
{
	enum bt_device_answer answer = BT_DEVICE_YES;
	struct bt_buf why = {0};

	for (uint32_t i = 0; i < class_->selectors.n && answer == BT_DEVICE_YES; i++) {
		if (class_->selectors.expressions[i]) {
			answer = store->calls->match(
				store->context, class_->selectors.expressions[i], driver, device, true, &why);
			BT_INVARIANT(answer <= BT_DEVICE_FAILED);
		}
	}
	bt_buf_fini(&why);
	return answer;
}

static bool slice_reaches(const struct bt_view *view, const struct bt_resource_slice *slice, uint32_t node_ix)
{
	bool named = slice->node_name == view->snapshot->nodes[node_ix].name;

	if (slice->per_device || slice->all_nodes || named) {
		return true;
	}
	if (slice->has_selector) {
		return bt_device_reaches(view->snapshot, node_ix, slice->node_name, false, &slice->selector);
	}
	return slice->node_name == BT_NAME_NONE;
}

static bool allocated(const struct bt_device_use *use)
{
	return use->allocated || use->pending_n || use->share_n || use->consumes;
}

void bt_device_totals(const struct bt_view *view, uint32_t slot, uint32_t node_ix, int64_t *out_capacity,
	int64_t *out_allocated)
{
	const struct bt_device_store *store = view->devices;
	const struct bt_device_class *class_ = class_of(view, slot);

	BT_REQUIRE_HOT(node_ix < view->snapshot->slot_n);
	*out_capacity = *out_allocated = 0;
	for (uint32_t i = 0; class_ && i < store->slice_n; i++) {
		const struct bt_resource_slice *slice = &store->slices[i];

		if (!slice->live || !slice_reaches(view, slice, node_ix)) {
			continue;
		}
		for (uint32_t j = 0; j < slice->device_n; j++) {
			const struct bt_device *device = &slice->devices[j];

			if (slice->per_device &&
				!bt_device_reaches(view->snapshot, node_ix, device->node_name,
					device->all_nodes, device->has_selector ? &device->selector : NULL)) {
				continue;
			}
			enum bt_device_answer answer = takes(store, class_, slice->driver, device);
			if (answer == BT_DEVICE_BAD_EXPRESSION || answer == BT_DEVICE_FAILED) {
				*out_capacity = *out_allocated = 0;
				return;
			}
			*out_capacity += answer == BT_DEVICE_YES;
			*out_allocated += answer == BT_DEVICE_YES && allocated(&store->uses[device->use_ix]);
			BT_INVARIANT(*out_allocated <= *out_capacity);
		}
	}
}
