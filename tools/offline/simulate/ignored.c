/* SPDX-License-Identifier: Apache-2.0
 * Kinds that are not applied.
 */
#include "tools/offline/simulate/ignored.h"

#include <string.h>

const char *bt_ignored_effect(const char *kind)
{
	static const struct {
		const char *kind, *effect;
	} kinds[] = {
		{"ResourceClaimTemplate", "no ResourceClaims are created from templates"},
		{"MutatingWebhookConfiguration", "pods created from workloads are not changed"},
		{"MutatingAdmissionPolicyBinding", "pods created from workloads are not changed"},
	};
	size_t n = strcspn(kind, " ");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strlen(kinds[i].kind) == n && memcmp(kinds[i].kind, kind, n) == 0) {
			return kinds[i].effect;
		}
	}
	return NULL;
}
