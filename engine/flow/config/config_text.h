/* SPDX-License-Identifier: Apache-2.0
 * How upstream writes values inside its error texts.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"
