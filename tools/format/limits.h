/* SPDX-License-Identifier: Apache-2.0
 * The limits of what is read from outside, in one place. Whatever goes beyond ends with a diagnosis, never
 * with a crash.
 */
#pragma once

/* One file. */
#define BT_LIMIT_FILE_BYTES (8ull << 30)

/* What a compressed file may unfold to: at any point this much, or this many times what has been read of it,
 * up to a file's limit. Objects that hardly differ shrink to a hundred-and-twentieth (zstd -19), zeros to a
 * two-hundred-and- thirtieth (gzip -1) or a thousandth, and a few bytes must not fill the memory. Who knows
 * the file sets the variable to what it may unfold to, such as 4Gi. */
#define BT_LIMIT_UNPACKED_BYTES	   (64ull << 20)
#define BT_LIMIT_UNPACKED_TIMES	   200u
#define BT_LIMIT_UNPACKED_VARIABLE "BERTH_UNPACKED_MAX"

/* Objects and arrays inside each other, in JSON and in YAML. */
#define BT_LIMIT_DEPTH 256

/* The same in a value that nothing is read of: as deep as Go's encoding/json reads, and so as the API server
 * lets anybody nest the parameters of a ResourceClaim. */
#define BT_LIMIT_SKIPPED_DEPTH 10000

/* One string; keeps positions inside a window of the JSON reader within 32 bits. */
#define BT_LIMIT_STRING_BYTES (1u << 30)

/* Lists inside lists. */
#define BT_LIMIT_LIST_DEPTH 8

/* What one YAML document may become when its aliases are expanded: this much, or this many times its own
 * size. */
#define BT_LIMIT_YAML_EXPANDED_BYTES (64u << 20)
#define BT_LIMIT_YAML_EXPANDED_TIMES 16u

/* Files found in directories, and directories inside each other. */
#define BT_LIMIT_FILES		 1000000u
#define BT_LIMIT_DIRECTORY_DEPTH 64
