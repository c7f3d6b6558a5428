/* SPDX-License-Identifier: Apache-2.0
 * The kubectl command that exports a cluster. Used by help texts, examples and warnings; README.md and
 * tools/run repeat it, and tests/cli/kinds.sh compares them.
 */
#pragma once

#define BT_KUBECTL_GET "kubectl get $(berth kinds) -A -o json"
