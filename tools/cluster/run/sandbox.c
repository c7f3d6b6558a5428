/* SPDX-License-Identifier: Apache-2.0
 * seccomp by libseccomp; Landlock by its three system calls, which have no library.
 *
 * The filter lists what is refused: a list of what is allowed would depend on the C library, and a scheduler
 * that crashes because a new version of it makes another call is worse. A refused call fails with EPERM, as
 * it would for a process without the right.
 */
#include "tools/cluster/run/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "tools/kube/log/log.h"

/* Sanitizers fork, trace and open files; such builds are not for production. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct bt_sandbox_path {
	char *path;
	uint64_t rights; /* of Landlock */
};

/* ---- allowed files ---- */

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                                                \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE | LANDLOCK_ACCESS_FS_MAKE_REG |                            \
		LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* Of kernels newer than the headers. */
#define TRUNCATE  (1ull << 14) /* since version 3 */
#define IOCTL_DEV (1ull << 15) /* 5 */
#define BIND_TCP  (1ull << 0)  /* 4, of the network */
#define SCOPES	  (3ull)       /* 6: abstract sockets of others, signals to others */
#define NET_PORT  2	       /* enum landlock_rule_type */
#define REFER	  (1ull << 13) /* 2 */
#define FIRST_FS  ((1ull << 13) - 1)
/* The rights that apply to a file, not a folder. */
#define OF_FILES                                                                                             \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |         \
		TRUNCATE | IOCTL_DEV)

/* Libraries that are loaded late (name services, certificates' modules), information on process and machine,
 * the system's certificates, and files of name resolution. */
static const char *const system_paths[] = {"/usr", "/lib", "/lib64", "/proc", "/sys", "/etc/ssl", "/etc/pki",
	"/etc/ca-certificates", "/etc/crypto-policies", "/etc/gnutls", "/etc/pkcs11", "/etc/ld.so.cache",
	"/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
	"/etc/services", "/etc/protocols", "/etc/localtime", "/dev/null", "/dev/urandom", "/dev/random"};

static void sandbox_add(struct bt_sandbox *sandbox, const char *path, size_t n, uint64_t rights)
{
	sandbox->paths = bt_mem_realloc(sandbox->paths, sandbox->path_n + 1, sizeof(*sandbox->paths));
	sandbox->paths[sandbox->path_n++] = (struct bt_sandbox_path){bt_mem_copy(path, n), rights};
}

/* The folder of a file; the file itself where that is the root. */
static void add_folder(struct bt_sandbox *sandbox, const char *file, uint64_t rights)
{
	const char *slash = strrchr(file, '/');

	if (!slash) {
		sandbox_add(sandbox, ".", 1, rights);
	} else if (slash == file) {
		sandbox_add(sandbox, file, strlen(file), rights & OF_FILES);
	} else {
		sandbox_add(sandbox, file, (size_t)(slash - file), rights);
	}
}

void bt_sandbox_fini(struct bt_sandbox *sandbox)
{
	for (uint32_t i = 0; i < sandbox->path_n; i++) {
		bt_mem_free(sandbox->paths[i].path);
	}
	bt_mem_free(sandbox->paths);
	*sandbox = (struct bt_sandbox){0};
}

void bt_sandbox_read(struct bt_sandbox *sandbox, const char *file)
{
	char *there = file && *file ? realpath(file, NULL) : NULL;

	if (!file || !*file) {
		return;
	}
	add_folder(sandbox, file, READ);
	if (there) { /* the target of a link */
		add_folder(sandbox, there, READ);
		free(there);
	}
}

void bt_sandbox_write_in(struct bt_sandbox *sandbox, const char *folder)
{
	if (folder && *folder) {
		(void)mkdir(folder, 0755);
		sandbox_add(sandbox, folder, strlen(folder), READ | WRITE);
	}
}

/* ---- Landlock ---- */

struct ruleset {
	uint64_t fs, net, scopes; /* the kernel's masks */
};

struct port_rule {
	uint64_t rights, port;
};

/* Returns: the kernel's version of Landlock; 0: none. */
static int landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return version > 0 ? (int)version : 0;
}

static struct ruleset handled_by(int version)
{
	return (struct ruleset){
		.fs = FIRST_FS | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0) |
		      (version >= 5 ? IOCTL_DEV : 0),
		.net = version >= 4 ? BIND_TCP : 0,
		.scopes = version >= 6 ? SCOPES : 0,
	};
}

/* A missing file needs no rule. */
static void allow(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat about;

	if (rule.parent_fd < 0) {
		return;
	}
	bool folder = fstat(rule.parent_fd, &about) == 0 && S_ISDIR(about.st_mode);

	rule.allowed_access = folder ? rights : rights & OF_FILES;
	(void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

/* Returns: 0, or an errno. */
static int enter_landlock(const struct bt_sandbox *sandbox, int version)
{
	struct ruleset handled = handled_by(version);
	size_t size = version >= 6 ? sizeof(handled) : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
	int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0), error = 0;

	if (rules < 0) {
		return errno;
	}
	for (size_t i = 0; i < sizeof(system_paths) / sizeof(system_paths[0]); i++) {
		allow(rules, system_paths[i], READ);
	}
	for (uint32_t i = 0; i < sandbox->path_n; i++) {
		allow(rules, sandbox->paths[i].path, sandbox->paths[i].rights & handled.fs);
	}
	if (handled.net && sandbox->port) {
		struct port_rule rule = {BIND_TCP, sandbox->port};

		error = syscall(SYS_landlock_add_rule, rules, NET_PORT, &rule, 0) ? errno : 0;
	}
	if (!error && syscall(SYS_landlock_restrict_self, rules, 0) != 0) {
		error = errno;
	}
	close(rules);
	return error;
}

/* ---- seccomp ---- */

/* Always refused: other processes, the machine, calls that only attacks on kernels use. */
static const int never[] = {SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp), SCMP_SYS(process_madvise), SCMP_SYS(mount), SCMP_SYS(umount2),
	SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr), SCMP_SYS(unshare),
	SCMP_SYS(setns), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register), SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
	SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct), SCMP_SYS(quotactl), SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime),
	SCMP_SYS(adjtimex), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt), SCMP_SYS(syslog),
	SCMP_SYS(vhangup), SCMP_SYS(name_to_handle_at), SCMP_SYS(open_by_handle_at), SCMP_SYS(mknod),
	SCMP_SYS(mknodat), SCMP_SYS(personality), SCMP_SYS(uselib), SCMP_SYS(ustat), SCMP_SYS(sysfs),
	SCMP_SYS(fanotify_init), SCMP_SYS(lookup_dcookie), SCMP_SYS(nfsservctl), SCMP_SYS(vm86)};

/* Refused without plugins: other programs, other users, whatever outlives the process. */
static const int alone[] = {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
	SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
	SCMP_SYS(setresgid), SCMP_SYS(setgroups), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(capset),
	SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(setxattr),
	SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
	SCMP_SYS(fremovexattr), SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(msgget),
	SCMP_SYS(msgsnd), SCMP_SYS(msgrcv), SCMP_SYS(semget), SCMP_SYS(semop), SCMP_SYS(semtimedop),
	SCMP_SYS(mq_open), SCMP_SYS(setsid), SCMP_SYS(chmod), SCMP_SYS(fchmodat), SCMP_SYS(tkill),
	SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_send_signal)};

static int sandbox_refuse(scmp_filter_ctx filter, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
		rc = rc == -EDOM ? 0 : rc; /* this machine has no such call */
	}
	return rc;
}

/* Allows sockets of the internet, and netlink, which name resolution uses for addresses. Every other family
 * is refused, also as a number of more than 32 bits, of which the kernel uses only the lower part. */
static int refuse_families(scmp_filter_ctx filter)
{
	const unsigned last = AF_NETLINK;
	int rc = seccomp_rule_add(
		filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_GT, last, 0));

	for (unsigned family = 0; family < last && rc == 0; family++) {
		if (family != AF_INET && family != AF_INET6) {
			rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
				SCMP_A0(SCMP_CMP_EQ, family, 0));
		}
	}
	return rc;
}

/* Signals and limits only for the process itself; Landlock covers signals only since version 6. */
static int refuse_others(scmp_filter_ctx filter)
{
	const struct {
		int call;
		uint64_t own; /* how a process names itself */
	} calls[] = {{SCMP_SYS(kill), (uint64_t)getpid()}, {SCMP_SYS(tgkill), (uint64_t)getpid()},
		{SCMP_SYS(prlimit64), 0}};
	int rc = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && rc == 0; i++) {
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i].call, 1,
			SCMP_A0(SCMP_CMP_NE, calls[i].own, 0));
	}
	return rc;
}

/* Threads, but no processes. A filter cannot read the arguments of clone3, so the C library is made to use
 * clone. */
static int refuse_processes(scmp_filter_ctx filter)
{
	const uint64_t thread = 0x00010000; /* CLONE_THREAD */
	int rc = seccomp_rule_add(
		filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, thread, 0));

	return rc ? rc : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* Returns: 0, or an errno. */
static int enter_seccomp(const struct bt_sandbox *sandbox)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter) {
		return ENOMEM;
	}
	int rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

	rc = rc ? rc : sandbox_refuse(filter, never, sizeof(never) / sizeof(never[0]));
	if (!sandbox->programs) {
		rc = rc ? rc : sandbox_refuse(filter, alone, sizeof(alone) / sizeof(alone[0]));
		rc = rc ? rc : refuse_processes(filter);
		rc = rc ? rc : refuse_others(filter);
		rc = rc ? rc : refuse_families(filter);
	}
	rc = rc ? rc : seccomp_load(filter);
	seccomp_release(filter);
	return -rc;
}

/* ---- both ---- */

static bool miss(enum bt_sandbox_mode mode, const char *what, const char *why, struct bt_buf *out_why)
{
	if (mode == BT_SANDBOX_REQUIRE) {
		bt_buf_printf(out_why, "--sandbox=require: no %s: %s; use --sandbox=auto to go on without",
			what, why);
		return false;
	}
	bt_log(BT_LOG_WARNING, 0, "Goes on without a part of its sandbox",
		bt_log_fields(bt_log_str("part", bt_str(what)), bt_log_str("err", bt_str(why))));
	return true;
}

/* Are there other threads than the calling one? They would not get Landlock's rules: these are of the calling
 * thread, and of those that it starts later. */
static bool has_other_threads(void)
{
	struct stat about;

	/* A link for each thread, and two for the folder. Source: proc_task_getattr, Linux. */
	return stat("/proc/self/task", &about) == 0 && about.st_nlink > 3;
}

bool bt_sandbox_enter(const struct bt_sandbox *sandbox, enum bt_sandbox_mode mode, struct bt_buf *out_why)
{
	int version = landlock_version(), error;

	if (mode == BT_SANDBOX_OFF) {
		return true;
	}
	if (SANITIZED) {
		return miss(mode, "sandbox", "this is a build with sanitizers", out_why);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
		return miss(mode, "sandbox", strerror(errno), out_why);
	}
	if (sandbox->programs) {
		version = 0;
		if (!miss(mode, "Landlock",
			    "the kubeconfig names a credential plugin, which would inherit it", out_why)) {
			return false;
		}
	} else {
		if (has_other_threads() && !miss(mode, "Landlock", "other threads run already", out_why)) {
			return false;
		}
		error = version ? enter_landlock(sandbox, version) : EOPNOTSUPP;
		if (error && !miss(mode, "Landlock", strerror(error), out_why)) {
			return false;
		}
		version = error ? 0 : version;
	}
	error = enter_seccomp(sandbox);
	if (error && !miss(mode, "seccomp", strerror(error), out_why)) {
		return false;
	}
	bt_log(BT_LOG_INFO, 1, "Sandboxed",
		bt_log_fields(bt_log_str("seccomp", bt_str(error ? "no" : "yes")),
			bt_log_int("landlock", version)));
	return true;
}
