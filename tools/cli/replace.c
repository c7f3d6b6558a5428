/* SPDX-License-Identifier: Apache-2.0
 * Files that replace others when they are complete.
 */
#include "tools/cli/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#define LINKS_MAX 40  /* the kernel's limit */
#define NAMES_MAX 100 /* tries */
#define KEPT_MAX  200 /* bytes of a name in that of its unfinished file */
#define SLOTS	  8

/*
 * Paths of unfinished files, for a signal handler: a path is written before its slot is shown, and is not
 * changed.
 */
static struct slot {
	_Atomic uint32_t taken; /* atomic: EDGE replace.taken */
	_Atomic uint32_t shown; /* atomic: EDGE replace.shown, the path may be read */
	char path[PATH_MAX];
} slots[SLOTS];

static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The target of the link at path, relative to path's base. */
static char *follow(const char *path)
{
	size_t folder_n = folder_bytes(path);
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof(to));

	if (n < 0 || (size_t)n == sizeof(to)) {
		errno = n < 0 ? errno : ENAMETOOLONG;
		return NULL;
	}
	folder_n = to[0] == '/' ? 0 : folder_n;
	char *joined = bt_mem_zalloc(folder_n + (size_t)n + 1, 1);

	memcpy(joined, path, folder_n);
	memcpy(joined + folder_n, to, (size_t)n);
	return joined;
}

char *bt_path_behind_links(const char *path)
{
	char *at = bt_mem_copy(path, strlen(path));
	struct stat about;

	for (int links = 0; at && lstat(at, &about) == 0 && S_ISLNK(about.st_mode); links++) {
		char *next = links < LINKS_MAX ? follow(at) : NULL;

		if (links == LINKS_MAX) {
			errno = ELOOP;
		}
		bt_mem_free(at);
		at = next;
	}
	return at;
}

static int take_slot(void)
{
	for (int i = 0; i < SLOTS; i++) {
		if (bt_exchange(&slots[i].taken, 1u) == 0) {
			return i;
		}
	}
	return -1;
}

static void leave_slot(int ix)
{
	bt_store_relaxed(&slots[ix].shown, 0u);
	bt_store_release(&slots[ix].taken, 0u); /* EDGE replace.taken release: the next one writes the path */
}

void bt_replacements_remove(void)
{
	for (int i = 0; i < SLOTS; i++) {
		if (bt_load_acquire(&slots[i].shown)) { /* EDGE replace.shown acquire */
			unlink(slots[i].path);
		}
	}
}

/* Creates a new file in target's folder, named in the slot. Returns its descriptor, or -1 with errno. */
static int make_beside(const char *target, struct slot *slot)
{
	size_t folder_n = folder_bytes(target);

	for (int i = 0; i < NAMES_MAX; i++) {
		uint32_t number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
			return -1;
		}
		int n = snprintf(slot->path, sizeof(slot->path), "%.*s.%.*s.%08x.tmp", (int)folder_n, target,
			KEPT_MAX, target + folder_n, number);
		if ((size_t)n >= sizeof(slot->path)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		int fd = open(slot->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST) {
			return fd;
		}
	}
	return -1;
}

/* Opens the new file with the old one's owner and permissions. Returns: 0 or an errno. */
static int begin_beside(const struct stat *old, struct bt_replacement *out)
{
	struct slot *slot = &slots[out->slot];

	out->fd = make_beside(out->target, slot);
	if (out->fd < 0) {
		return errno;
	}
	bt_store_release(&slot->shown, 1u); /* EDGE replace.shown release: the path is whole */
	if (old && (old->st_uid != geteuid() || old->st_gid != getegid()) &&
		fchown(out->fd, old->st_uid, old->st_gid) != 0) {
		/* Only the owner of both, or root, may do that; the content matters more. */
		errno = 0;
	}
	if (old && fchmod(out->fd, old->st_mode & 0777) != 0) {
		int error = errno;

		close(out->fd);
		unlink(slot->path);
		return error;
	}
	return 0;
}

static int replace_begin(bool in_place, struct bt_replacement *out)
{
	struct stat old;
	bool there = stat(out->target, &old) == 0;

	if (there ? !S_ISREG(old.st_mode) || in_place : in_place) {
		out->fd = open(out->target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return out->fd < 0 ? errno : 0;
	}
	/* Without the right to write the file it is not replaced either. */
	if (there && faccessat(AT_FDCWD, out->target, W_OK, AT_EACCESS) != 0) {
		return errno;
	}
	out->slot = take_slot();
	if (out->slot < 0) {
		return EMFILE;
	}
	int error = begin_beside(there ? &old : NULL, out);
	if (error) {
		leave_slot(out->slot);
		out->slot = -1;
	}
	return error;
}

int bt_replacement_begin(const char *path, bool in_place, struct bt_replacement *out)
{
	struct bt_replacement made = {.fd = -1, .target = bt_path_behind_links(path), .slot = -1};
	int error = made.target ? replace_begin(in_place, &made) : errno;

	if (error) {
		bt_mem_free(made.target);
		return error;
	}
	*out = made;
	return 0;
}

static void replace_end(struct bt_replacement *replacement)
{
	if (replacement->slot >= 0) {
		leave_slot(replacement->slot);
	}
	bt_mem_free(replacement->target);
	*replacement = (struct bt_replacement){.fd = -1, .slot = -1};
}

int bt_replacement_commit(struct bt_replacement *replacement)
{
	int error = 0;

	if (replacement->slot >= 0 && rename(slots[replacement->slot].path, replacement->target) != 0) {
		error = errno;
		unlink(slots[replacement->slot].path);
	}
	replace_end(replacement);
	return error;
}

void bt_replacement_drop(struct bt_replacement *replacement)
{
	if (replacement->slot >= 0) {
		unlink(slots[replacement->slot].path);
	}
	replace_end(replacement);
}
