/* SPDX-License-Identifier: Apache-2.0
 * The opaque structs of the public ABI. They live on the stack of a call.
 */
#pragma once

#include "cache/node_view.h"
#include "cache/view.h"
#include "engine/base/buf.h"
#include "engine/berth_plugin.h"
#include "engine/model/cluster_event.h"

struct berth_plugin_pod {
	const struct bt_dictionary *dictionary;
	struct bt_pod_facts facts;
	uint32_t fields; /* visible ones: enum berth_plugin_pod_field bits; UINT32_MAX: all, including the
			    name */
};

/* A node of a view or of an event. */
struct berth_plugin_node {
	const struct bt_dictionary *dictionary;
	const struct bt_view *view; /* NULL: facts */
	uint32_t ix;
	bool usage; /* its usage is visible */
	const struct bt_node_facts *facts;
};

struct berth_plugin_why {
	struct bt_buf text;
	bool wanted; /* else it is not read */
};
