/* SPDX-License-Identifier: Apache-2.0
 * Device requests that stand for extended resources.
 */
#include "plugins/dynamic_resources/extended.h"

#include <stdlib.h>

#include "cache/device_view.h"
#include "cache/node_view.h"
#include "engine/base/check.h"
#include "plugins/plugin.h"

static bool concerns(const struct bt_view *view, const struct bt_amount *amount)
{
	struct bt_str name;

	if (amount->slot < BT_FIRST_SCALAR || amount->amount == 0) {
		return false;
	}
	name = bt_resource_name(view->snapshot->dictionary, amount->slot);
	return view->snapshot->dictionary->resources.extended[amount->slot] ||
	       bt_str_starts(name, "deviceclass.resource.kubernetes.io/");
}

static const struct bt_device_class *class_of(const struct bt_view *view, uint32_t slot)
{
	return bt_device_store_resource(view->devices, view->snapshot->dictionary->resources.names[slot]);
}

bool bt_extended_wanted(const struct bt_view *view, const struct bt_signature *signature)
{
	struct bt_amounts fit = signature->requests.fit;

	for (uint32_t i = 0; view->devices->resource_classes.count && i < fit.n; i++) {
		if (concerns(view, &fit.items[i]) && class_of(view, fit.items[i].slot)) {
			return true;
		}
	}
	return false;
}

static bool by_devices(const struct bt_view *view, const struct bt_amount *amount, uint32_t node_ix)
{
	return concerns(view, amount) && bt_node_alloc(view->snapshot, amount->slot, node_ix) == 0 &&
	       class_of(view, amount->slot);
}

enum bt_extended_source bt_extended_source(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t node_ix)
{
	struct bt_amounts fit = signature->requests.fit;
	enum bt_extended_source source = BT_EXTENDED_ELSEWHERE;

	BT_REQUIRE_HOT(node_ix < view->snapshot->slot_n);
	for (uint32_t i = 0; i < fit.n; i++) {
		if (by_devices(view, &fit.items[i], node_ix)) {
			source = BT_EXTENDED_BY_DEVICES;
		} else if (concerns(view, &fit.items[i]) &&
			   bt_node_alloc(view->snapshot, fit.items[i].slot, node_ix) == 0) {
			return BT_EXTENDED_MISSING;
		}
	}
	return source;
}

static struct bt_device_request request_of(
	const struct bt_view *view, const struct bt_extended_request *extended, int64_t count)
{
	struct bt_intern *intern = view->snapshot->dictionary->intern;
	struct bt_buf text = {0};

	BT_INVARIANT(extended->count >= count && count > 0);
	bt_buf_printf(&text, "container-%u-request-%u", extended->container, extended->key);
	uint32_t name = bt_intern_add(intern, bt_buf_view(&text));
	bt_buf_fini(&text);
	return (struct bt_device_request){.name = name,
		.has_exactly = true,
		.exactly = {.class_ = class_of(view, extended->slot)->name,
			.mode = BT_ALLOCATE_EXACT_COUNT,
			.count = count}};
}

/* What sidecars and containers from this one on hold. */
static int64_t reusable(const struct bt_signature *signature, const struct bt_extended_request *extended)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < signature->extended_n && sum < extended->count; i++) {
		const struct bt_extended_request *other = &signature->extended[i];

		if (!other->short_lived && other->slot == extended->slot &&
			other->container >= extended->container &&
			__builtin_add_overflow(sum, other->count, &sum)) {
			return INT64_MAX;
		}
	}
	return sum;
}

/* Adds the requests for one resource: those of long-running containers, and the
 * largest excess of the others. */
static uint32_t add_requests(const struct bt_view *view, const struct bt_signature *signature, uint32_t slot,
	struct bt_device_request *out)
{
	const struct bt_extended_request *largest = NULL;
	int64_t largest_count = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < signature->extended_n; i++) {
		const struct bt_extended_request *extended = &signature->extended[i];

		if (extended->slot != slot) {
			continue;
		}
		if (!extended->short_lived) {
			out[n++] = request_of(view, extended, extended->count);
			continue;
		}
		int64_t held = reusable(signature, extended);
		if (held < extended->count && extended->count - held > largest_count) {
			largest = extended;
			largest_count = extended->count - held;
		}
	}
	if (largest) {
		out[n++] = request_of(view, largest, largest_count);
	}
	BT_INVARIANT(n <= signature->extended_n);
	return n;
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct bt_intern *intern = context;
	const struct bt_device_request *x = a, *y = b;

	return bt_str_cmp(bt_intern_str(intern, x->name), bt_intern_str(intern, y->name));
}

const struct bt_device_request *bt_extended_requests(
	const struct bt_view *view, const struct bt_signature *signature, uint32_t node_ix, uint32_t *out_n)
{
	struct bt_amounts fit = signature->requests.fit;
	struct bt_device_request *requests =
		bt_arena_zalloc(view->devices->scratch, signature->extended_n * sizeof(*requests));
	uint32_t n = 0;

	for (uint32_t i = 0; i < fit.n; i++) {
		if (by_devices(view, &fit.items[i], node_ix)) {
			n += add_requests(view, signature, fit.items[i].slot, requests + n);
		}
	}
	if (n) {
		qsort_r(requests, n, sizeof(*requests), by_name, view->snapshot->dictionary->intern);
	}
	BT_INVARIANT(n <= signature->extended_n);
	*out_n = n;
	return requests;
}
