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
 * The certificate that the settings name; else one from cert_dir, which is made there when there is none or
 * it has expired; else one that is made, signed by itself, for localhost, the loopback addresses and the bind
 * address, valid for a year. Returns: BT_OK; BT_IO, BT_INVALID with the reason and the remedy in out_error.
 */
enum bt_status bt_certificate_load(
	const struct bt_serve_settings *settings, struct bt_certificate *out, struct bt_buf *out_error);
/* One for some names. */
enum bt_status bt_certificate_load_named(
	const struct bt_sni_settings *settings, struct bt_certificate *out, struct bt_buf *out_error);

/* The DNS names that a certificate is for: its common name, when it can be one, and its SANs; a * for the
 * first label stands for any. */
struct bt_str_list bt_certificate_names(const struct bt_certificate *certificate, struct bt_arena *arena);

void bt_certificate_fini(struct bt_certificate *certificate);

/* Reads a whole file of at most 1 MiB. Returns: BT_OK; BT_IO with the reason in out_error. */
enum bt_status bt_file_read(const char *path, struct bt_buf *out, struct bt_buf *out_error);
