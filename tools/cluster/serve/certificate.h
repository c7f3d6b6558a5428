/* SPDX-License-Identifier: Apache-2.0
 * The server's certificate and key, and identities in clients' certificates.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "tools/cluster/serve/settings.h"

/* In PEM. All zeroes: none. Owns: bt_certificate_fini. */
struct bt_certificate {
	struct bt_buf certificate, key;
};

/*
 * The configured certificate; else one from cert_dir, which is created when it is missing or expired; else a
 * new self-signed one for localhost, the loopback addresses and the bind address, valid for a year. Returns:
 * BT_OK; BT_IO, BT_INVALID with the reason and the remedy in out_error.
 */
enum bt_status bt_certificate_load(
	const struct bt_serve_settings *settings, struct bt_certificate *out, struct bt_buf *out_error);
/* A certificate for some names. */
enum bt_status bt_certificate_load_named(
	const struct bt_sni_settings *settings, struct bt_certificate *out, struct bt_buf *out_error);

/* The DNS names of a certificate: its common name, when that is a valid one, and its SANs; * as the first
 * label matches any. */
struct bt_str_list bt_certificate_names(const struct bt_certificate *certificate, struct bt_arena *arena);

void bt_certificate_fini(struct bt_certificate *certificate);

/* Reads a whole file of at most 1 MiB. Returns: BT_OK; BT_IO with the reason in out_error. */
enum bt_status bt_file_read(const char *path, struct bt_buf *out, struct bt_buf *out_error);
