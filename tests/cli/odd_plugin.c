/* SPDX-License-Identifier: Apache-2.0
 * A shared object with another plugin ABI, which berth refuses.
 */
#include <berth_plugin.h>

static const struct berth_plugin odd = {
	.size = sizeof(struct berth_plugin), .abi = BERTH_PLUGIN_ABI + 1, .name = "Odd"};

const struct berth_plugin *BERTH_PLUGIN_ENTRY(const struct berth_plugin_host *host);

BERTH_PLUGIN_EXPORT const struct berth_plugin *BERTH_PLUGIN_ENTRY(const struct berth_plugin_host *host)
{
	(void)host;
	return &odd;
}
