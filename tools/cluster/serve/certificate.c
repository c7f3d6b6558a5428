/* SPDX-License-Identifier: Apache-2.0
 * Certificates by OpenSSL. Source: MaybeDefaultWithSelfSignedCerts in k8s.io/apiserver/pkg/server/options,
 * v0.36.3.
 */
#include "tools/cluster/serve/certificate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/kube/log/log.h"

#define FILE_BYTES     ((size_t)1 << 20)
#define VALID_SECONDS  (365L * 24 * 3600)
#define HOSTNAME_BYTES 256
#define NAME_BYTES     64

/* In --cert-dir. */
#define CERTIFICATE_NAME "kube-scheduler.crt"
#define KEY_NAME	 "kube-scheduler.key"

void bt_certificate_fini(struct bt_certificate *certificate)
{
	if (certificate->key.ptr) {
		OPENSSL_cleanse(certificate->key.ptr, certificate->key.len);
	}
	bt_buf_fini(&certificate->certificate);
	bt_buf_fini(&certificate->key);
}

enum bt_status bt_file_read(const char *path, struct bt_buf *out, struct bt_buf *out_error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	bt_buf_clear(out);
	while (fd >= 0 && out->len < FILE_BYTES) {
		bt_buf_reserve(out, 4096);
		n = read(fd, out->ptr + out->len, 4096);
		if (n <= 0) {
			break;
		}
		out->len += (size_t)n;
	}
	if (n < 0) {
		bt_buf_printf(out_error, "%s: %s", path, strerror(errno));
	} else if (n > 0) {
		bt_buf_printf(out_error, "%s: larger than 1 MiB", path);
	} else {
		out->ptr[out->len] = 0;
	}
	if (fd >= 0) {
		close(fd);
	}
	return n == 0 ? BT_OK : BT_IO;
}

static enum bt_status certificate_fail(struct bt_buf *out_error, const char *what)
{
	char text[160];

	ERR_error_string_n(ERR_get_error(), text, sizeof(text));
	ERR_clear_error();
	bt_buf_printf(out_error, "%s: %s", what, text);
	return BT_INVALID;
}

static X509 *parse_certificate(const struct bt_buf *pem)
{
	BIO *bio = BIO_new_mem_buf(pem->ptr, (int)pem->len);
	X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	return certificate;
}

/* Whether both can be parsed and belong together. */
static enum bt_status check_pair(const struct bt_certificate *pair, struct bt_buf *out_error)
{
	X509 *certificate = parse_certificate(&pair->certificate);
	BIO *bio = BIO_new_mem_buf(pair->key.ptr, (int)pair->key.len);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"");
	enum bt_status status = BT_OK;

	if (!certificate) {
		status = certificate_fail(out_error, "no certificate in PEM");
	} else if (!key) {
		status = certificate_fail(out_error, "no private key in PEM, or it has a password");
	} else if (X509_check_private_key(certificate, key) != 1) {
		status = certificate_fail(out_error, "the private key is not the certificate's");
	}
	ERR_clear_error();
	EVP_PKEY_free(key);
	X509_free(certificate);
	BIO_free(bio);
	return status;
}

static enum bt_status read_pair(const char *certificate_path, const char *key_path,
	struct bt_certificate *out, struct bt_buf *out_error)
{
	enum bt_status status = bt_file_read(certificate_path, &out->certificate, out_error);

	if (status == BT_OK) {
		status = bt_file_read(key_path, &out->key, out_error);
	}
	if (status == BT_OK) {
		status = check_pair(out, out_error);
		if (status != BT_OK) {
			bt_buf_printf(out_error, " (%s, %s)", certificate_path, key_path);
		}
	}
	return status;
}

static bool has_expired(const struct bt_certificate *pair)
{
	X509 *certificate = parse_certificate(&pair->certificate);
	bool expired = !certificate || X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0;

	X509_free(certificate);
	return expired;
}

static bool add_extension(X509 *certificate, int nid, const char *value)
{
	X509V3_CTX context;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	bool added = extension && X509_add_ext(certificate, extension, -1) == 1;

	X509_EXTENSION_free(extension);
	return added;
}

/* The subjectAltName, as OpenSSL's configuration writes it. */
static void list_names(const char *bind_address, struct bt_buf *out)
{
	char host[HOSTNAME_BYTES] = "";
	unsigned char address[16];

	bt_buf_text(out, "DNS:localhost,IP:127.0.0.1,IP:::1");
	if (gethostname(host, sizeof(host) - 1) == 0 && host[0] &&
		host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")] == 0) {
		bt_buf_printf(out, ",DNS:%s", host);
	}
	ASN1_OCTET_STRING *ip = bind_address ? a2i_IPADDRESS(bind_address) : NULL;

	memset(address, 0, sizeof(address));
	if (ip && memcmp(ASN1_STRING_get0_data(ip), address, (size_t)ASN1_STRING_length(ip)) != 0) {
		bt_buf_printf(out, ",IP:%s", bind_address);
	}
	ASN1_OCTET_STRING_free(ip);
	ERR_clear_error();
}

static bool describe(X509 *certificate, EVP_PKEY *key, const char *names)
{
	X509_NAME *name = X509_get_subject_name(certificate);
	unsigned char serial[8];

	if (RAND_bytes(serial, sizeof(serial)) != 1) {
		return false;
	}
	serial[0] &= 0x7f;
	BIGNUM *number = BN_bin2bn(serial, sizeof(serial), NULL);
	bool good = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) &&
		    X509_set_version(certificate, X509_VERSION_3) == 1 &&
		    X509_gmtime_adj(X509_getm_notBefore(certificate), -300) &&
		    X509_gmtime_adj(X509_getm_notAfter(certificate), VALID_SECONDS) &&
		    X509_NAME_add_entry_by_txt(
			    name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1, 0) == 1 &&
		    X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
		    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
		    add_extension(certificate, NID_key_usage,
			    "critical,digitalSignature,keyEncipherment,keyCertSign") &&
		    add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
		    add_extension(certificate, NID_subject_alt_name, names) &&
		    X509_sign(certificate, key, EVP_sha256()) > 0;

	BN_free(number);
	return good;
}

static void take_bio(BIO *bio, struct bt_buf *out)
{
	char *bytes;
	long n = BIO_get_mem_data(bio, &bytes);

	bt_buf_clear(out);
	bt_buf_add(out, bytes, n > 0 ? (size_t)n : 0);
	BIO_free(bio);
}

static enum bt_status make_pair(
	const char *bind_address, struct bt_certificate *out, struct bt_buf *out_error)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	BIO *certificate_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_secmem());
	struct bt_buf names = {0};
	enum bt_status status = BT_OK;

	list_names(bind_address, &names);
	if (!key || !certificate || !describe(certificate, key, names.ptr) ||
		PEM_write_bio_X509(certificate_bio, certificate) != 1 ||
		PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL) != 1) {
		status = certificate_fail(out_error, "no certificate can be made");
	}
	take_bio(certificate_bio, &out->certificate);
	take_bio(key_bio, &out->key);
	bt_buf_fini(&names);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return status;
}

/* ---- the folder ---- */

static enum bt_status fail_by_errno(struct bt_buf *out_error, const char *folder, const char *name)
{
	int error = errno;

	bt_buf_printf(out_error, "%s%s%s: %s", folder, name ? "/" : "", name ? name : "", strerror(error));
	return BT_IO;
}

/* A file of another user could be changed by that user. */
static bool is_ours(const struct stat *about)
{
	return about->st_uid == 0 || about->st_uid == geteuid();
}

/* Opens the folder, or creates it; files are written by this descriptor, so a later rename of the path has no
 * effect. Returns: -1 with the reason in out_error. */
static int open_folder(const char *folder, struct bt_buf *out_error)
{
	struct stat about;

	mkdir(folder, 0755);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &about) != 0) {
		fail_by_errno(out_error, folder, NULL);
	} else if (!is_ours(&about)) {
		bt_buf_printf(
			out_error, "%s: belongs to user %u, who could replace the key", folder, about.st_uid);
		close(fd);
		return -1;
	} else if (about.st_mode & (S_IWGRP | S_IWOTH) && !(about.st_mode & S_ISVTX)) {
		bt_log(BT_LOG_WARNING, 0,
			"Others may write to the folder of --cert-dir, and replace the certificate; take "
			"their "
			"right "
			"away (chmod go-w)",
			bt_log_fields(bt_log_str("folder", bt_str(folder))));
	}
	return fd;
}

static bool write_all(int fd, const struct bt_buf *text)
{
	for (size_t at = 0; at < text->len;) {
		ssize_t n = write(fd, text->ptr + at, text->len - at);

		if (n < 0 && errno != EINTR) {
			return false;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Writes a temporary file with an unpredictable name and renames it: readers never see a partial file, and no
 * planted link is followed. */
static enum bt_status write_file(int folder_fd, const char *folder, const char *name, mode_t mode,
	const struct bt_buf *text, struct bt_buf *out_error)
{
	char beside[NAME_BYTES];
	uint64_t random;
	enum bt_status status = BT_OK;

	if (RAND_bytes((unsigned char *)&random, sizeof(random)) != 1) {
		return certificate_fail(out_error, "no random numbers");
	}
	snprintf(beside, sizeof(beside), ".%s.%016llx", name, (unsigned long long)random);
	int fd = openat(
		folder_fd, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	bool good = fd >= 0 && write_all(fd, text) && fchmod(fd, mode) == 0;

	if (!good || renameat(folder_fd, beside, folder_fd, name) != 0) {
		status = fail_by_errno(out_error, folder, name);
		unlinkat(folder_fd, beside, 0);
	}
	if (fd >= 0) {
		close(fd);
	}
	return status;
}

static enum bt_status make_in_folder(
	const struct bt_serve_settings *settings, struct bt_certificate *out, struct bt_buf *out_error)
{
	const char *folder = settings->cert_dir;
	int folder_fd = open_folder(folder, out_error);
	enum bt_status status = folder_fd >= 0 ? make_pair(settings->bind_address, out, out_error) : BT_IO;

	if (status == BT_OK) {
		status = write_file(folder_fd, folder, KEY_NAME, 0600, &out->key, out_error);
	}
	if (status == BT_OK) {
		status = write_file(folder_fd, folder, CERTIFICATE_NAME, 0644, &out->certificate, out_error);
	}
	if (folder_fd >= 0) {
		close(folder_fd);
	}
	return status;
}

/* Whether it is another user's file, or not a regular file: opening a pipe would block until it has a
 * writer. */
static bool is_unusable(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && (!is_ours(&about) || !S_ISREG(about.st_mode));
}

static enum bt_status load_from_directory(
	const struct bt_serve_settings *settings, struct bt_certificate *out, struct bt_buf *out_error)
{
	struct bt_buf certificate = {0}, key = {0}, ignored = {0};

	bt_buf_printf(&certificate, "%s/" CERTIFICATE_NAME, settings->cert_dir);
	bt_buf_printf(&key, "%s/" KEY_NAME, settings->cert_dir);
	enum bt_status status = is_unusable(certificate.ptr) || is_unusable(key.ptr)
					? BT_INVALID
					: read_pair(certificate.ptr, key.ptr, out, &ignored);

	if (status != BT_OK || has_expired(out)) {
		status = make_in_folder(settings, out, out_error);
	}
	bt_buf_fini(&certificate);
	bt_buf_fini(&key);
	bt_buf_fini(&ignored);
	return status;
}

enum bt_status bt_certificate_load(
	const struct bt_serve_settings *settings, struct bt_certificate *out, struct bt_buf *out_error)
{
	enum bt_status status;

	if (settings->cert_file) {
		status = read_pair(settings->cert_file, settings->key_file, out, out_error);
		bt_buf_text(
			out_error, status == BT_OK ? "" : "; see --tls-cert-file and --tls-private-key-file");
	} else if (settings->cert_dir) {
		status = load_from_directory(settings, out, out_error);
		bt_buf_text(out_error, status == BT_OK ? "" : "; see --cert-dir");
	} else {
		status = make_pair(settings->bind_address, out, out_error);
	}
	return status;
}

enum bt_status bt_certificate_load_named(
	const struct bt_sni_settings *settings, struct bt_certificate *out, struct bt_buf *out_error)
{
	enum bt_status status = read_pair(settings->cert_file, settings->key_file, out, out_error);

	bt_buf_text(out_error, status == BT_OK ? "" : "; see --tls-sni-cert-key");
	return status;
}

/* Source: IsDNS1123Subdomain, with a star for the first label or alone. */
static bool is_domain(struct bt_str name)
{
	struct bt_str rest = bt_str_starts(name, "*.") ? bt_str_sub(name, 2, name.len) : name;
	bool good = rest.len > 0 && rest.len <= 253, begins = true;

	for (size_t i = 0; i < rest.len && good; i++) {
		char c = rest.ptr[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
		bool last = i + 1 == rest.len || rest.ptr[i + 1] == '.';

		good = letter || (c == '-' && !begins && !last) || (c == '.' && !begins && i + 1 < rest.len);
		begins = c == '.';
	}
	return good || bt_str_is(name, "*");
}

static void add_name(struct bt_arena *arena, struct bt_str name, struct bt_str *items, uint32_t *in_out_n)
{
	items[(*in_out_n)++] = (struct bt_str){bt_arena_copy(arena, name.ptr, name.len), name.len};
}

/* A common name that is an IP address is ignored: a client without SNI could get this certificate. */
static void add_common_name(
	X509 *certificate, struct bt_arena *arena, struct bt_str *items, uint32_t *in_out_n)
{
	char text[HOSTNAME_BYTES];
	unsigned char address[16];
	int n = X509_NAME_get_text_by_NID(
		X509_get_subject_name(certificate), NID_commonName, text, sizeof(text));

	if (n > 0 && inet_pton(AF_INET, text, address) != 1 && is_domain(bt_str(text))) {
		add_name(arena, bt_str(text), items, in_out_n);
	}
}

struct bt_str_list bt_certificate_names(const struct bt_certificate *pair, struct bt_arena *arena)
{
	X509 *certificate = parse_certificate(&pair->certificate);
	GENERAL_NAMES *names =
		certificate ? X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL) : NULL;
	int name_n = names ? sk_GENERAL_NAME_num(names) : 0;
	struct bt_str *items = bt_arena_zalloc(arena, ((size_t)name_n + 1) * sizeof(*items));
	uint32_t n = 0;

	if (certificate) {
		add_common_name(certificate, arena, items, &n);
	}
	for (int i = 0; i < name_n; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type == GEN_DNS) {
			const ASN1_IA5STRING *text = name->d.dNSName;

			add_name(arena,
				(struct bt_str){(const char *)ASN1_STRING_get0_data(text),
					(size_t)ASN1_STRING_length(text)},
				items, &n);
		}
	}
	GENERAL_NAMES_free(names);
	X509_free(certificate);
	ERR_clear_error();
	return (struct bt_str_list){.items = items, .n = n};
}
