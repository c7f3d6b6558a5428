/* SPDX-License-Identifier: Apache-2.0
 * ImageLocality: prefers nodes that already have the pod's images.
 */
#pragma once

#include "plugins/plugin.h"

/* settings of the plugin, by the release. */
struct bt_image_locality_settings {
	bool volumes_score;	/* image volumes count as images */
	bool volumes_raise_top; /* and raise the upper limit as containers do */
};

extern const struct bt_plugin bt_plugin_image_locality;
