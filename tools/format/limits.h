/* SPDX-License-Identifier: Apache-2.0
 * All limits of untrusted input. Exceeding one is a diagnosis, never a crash.
 */
#pragma once

/* One file. */
#define BT_LIMIT_FILE_BYTES (8ull << 30)

/* Decompressed size: at any point at most this much, or this many times the bytes read so far, up to a file's
 * limit. Similar objects compress to 1/120 (zstd -19), zeros to 1/230 (gzip -1) or 1/1000, and a few bytes
 * must not fill the memory. For trusted files the variable sets the limit, such as 4Gi. */
#define BT_LIMIT_UNPACKED_BYTES	   (64ull << 20)
#define BT_LIMIT_UNPACKED_TIMES	   200u
#define BT_LIMIT_UNPACKED_VARIABLE "BERTH_UNPACKED_MAX"

/* Objects and arrays inside each other, in JSON and in YAML. */
#define BT_LIMIT_DEPTH 256

/* The same in a skipped value: the limit of Go's encoding/json, and so of the API server for the parameters
 * of a ResourceClaim. */
#define BT_LIMIT_SKIPPED_DEPTH 10000

/* One string; keeps positions inside a window of the JSON reader within 32 bits. */
#define BT_LIMIT_STRING_BYTES (1u << 30)

/* Lists inside lists. */
#define BT_LIMIT_LIST_DEPTH 8

/* The size of a YAML document after the expansion of aliases: this much, or this many times its own
 * size. */
#define BT_LIMIT_YAML_EXPANDED_BYTES (64u << 20)
#define BT_LIMIT_YAML_EXPANDED_TIMES 16u

/* Files found in directories, and directories inside each other. */
#define BT_LIMIT_FILES		 1000000u
#define BT_LIMIT_DIRECTORY_DEPTH 64
