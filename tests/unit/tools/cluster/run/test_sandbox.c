/* SPDX-License-Identifier: Apache-2.0
 * What a sandboxed process may do, and what not. Each case runs in a child, because there
 * is no way back; it tries what an attacker would who has taken the process over.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "tools/cluster/run/sandbox.h"

extern char **environ;

/* ---- attempts: 0, or an errno ---- */

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0) {
		return errno;
	}
	close(fd);
	return 0;
}

static int try_call(long rc)
{
	return rc < 0 ? errno : 0;
}

static int try_socket(int family, int type)
{
	int fd = socket(family, type, 0);

	if (fd >= 0) {
		close(fd);
	}
	return try_call(fd);
}

static int try_program(void)
{
	char name[] = "/bin/true", *arguments[] = {name, NULL};
	pid_t pid;

	return posix_spawn(&pid, name, NULL, NULL, arguments, environ);
}

static int try_bind(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int error = try_call(bind(fd, (struct sockaddr *)&address, sizeof(address)));

	close(fd);
	return error;
}

static void *nothing(void *context)
{
	return context;
}

static int try_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, nothing, NULL);

	return error ? error : pthread_join(thread, NULL);
}

static int try_name(void)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
	int rc = getaddrinfo("localhost", "1", &hints, &all);

	if (all) {
		freeaddrinfo(all);
	}
	return rc;
}

/* ---- a child that reports its results ---- */

#define TRIES 64

struct
try {
	const char *what;
	int error, wanted; /* wanted: -1: any error */
};

struct report { /* shared with the child */
	uint32_t n;
	bool entered;
	struct try tries[TRIES];
};

static struct report *report;

static void note(const char *what, int error, int wanted)
{
	report->tries[report->n++] = (struct try){what, error, wanted};
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

static int end_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static void play(const struct bt_sandbox *sandbox, enum bt_sandbox_mode mode, void (*tries)(void))
{
	report->n = 0;
	report->entered = false;
	pid_t pid = fork();

	if (!pid) {
		struct bt_buf why = {0};

		report->entered = bt_sandbox_enter(sandbox, mode, &why);
		if (report->entered) {
			tries();
		}
		_exit(0);
	}
	assert_int_equal(end_of(pid), 0);
	assert_true(report->entered);
	for (uint32_t i = 0; i < report->n; i++) {
		const struct try *one = &report->tries[i];

		if (one->wanted < 0 ? !one->error : one->error != one->wanted) {
			fail_msg("%s: %s", one->what, one->error ? strerror(one->error) : "done");
		}
	}
}

/* ---- the cases ---- */

static uint16_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	close(fd);
	return ntohs(address.sin_port);
}

#define CPUS "/sys/devices/system/cpu/online"

static uint16_t own_port;

/* Attempts that fail on this machine without a sandbox, too. */
static struct {
	int ipv6, name, machine;
} before;

static void forbidden(void)
{
	char byte = 0;
	struct iovec here = {&byte, 1};
	int pair[2];

	note("execve", try_program(), EPERM);
	note("fork", try_call(fork()), EPERM);
	note("vfork by number", try_call(syscall(SYS_vfork)), EPERM);
	note("clone of a process", try_call(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)), EPERM);
	note("clone3", try_call(syscall(SYS_clone3, NULL, 0)), ENOSYS);
	note("ptrace", try_call(ptrace(PTRACE_TRACEME, 0, NULL, NULL)), EPERM);
	note("memory of others", try_call(process_vm_readv(getppid(), &here, 1, &here, 1, 0)), EPERM);
	note("unshare", try_call(unshare(CLONE_NEWUSER)), EPERM);
	note("bpf", try_call(syscall(SYS_bpf, 0, NULL, 0)), EPERM);
	note("io_uring", try_call(syscall(SYS_io_uring_setup, 1, NULL)), EPERM);
	note("keys", try_call(syscall(SYS_keyctl, 0, 0)), EPERM);
	note("a mount", try_call(mount("none", folder, "tmpfs", 0, NULL)), EPERM);
	note("a mount by a new call", try_call(syscall(SYS_fsopen, "tmpfs", 0)), EPERM);
	note("another root", try_call(chroot(folder)), EPERM);
	note("another kernel", try_call(syscall(SYS_kexec_load, 0, 0, NULL, 0)), EPERM);
	note("a module", try_call(syscall(SYS_init_module, NULL, 0, "")), EPERM);
	note("a profile of all", try_call(syscall(SYS_perf_event_open, NULL, -1, 0, -1, 0)), EPERM);
	note("page faults", try_call(syscall(SYS_userfaultfd, 0)), EPERM);
	note("another's files", try_call(syscall(SYS_pidfd_getfd, 0, 0, 0)), EPERM);
	note("a program without a name",
		try_call(syscall(SYS_execveat, memfd_create("x", 0), "", NULL, NULL, 0)), EPERM);
	note("a signal to another", try_call(kill(getppid(), 0)), EPERM);
	note("a signal to its group", try_call(kill(0, 0)), EPERM);
	note("a signal to a thread of another", try_call(syscall(SYS_tgkill, getppid(), getppid(), 0)),
		EPERM);
	note("another's limits", try_call(prlimit(getppid(), RLIMIT_NOFILE, NULL, NULL)), EPERM);
	note("a file's rights", try_call(chmod(path_of("token/value"), 0777)), EPERM);
	note("another user", try_call(setuid(0)), EPERM);
	note("a Unix socket", try_socket(AF_UNIX, SOCK_STREAM), EAFNOSUPPORT);
	note("a raw link", try_socket(AF_PACKET, SOCK_RAW), EAFNOSUPPORT);
	note("a socket of vsock", try_socket(AF_VSOCK, SOCK_STREAM), EAFNOSUPPORT);
	note("a socket of crypto", try_socket(AF_ALG, SOCK_SEQPACKET), EAFNOSUPPORT);
	note("a family in the upper half",
		try_call(syscall(SYS_socket, 0x100000000L + AF_UNIX, SOCK_STREAM, 0)), EAFNOSUPPORT);
	note("a core dump", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
	note("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EPERM, 0);
	note("a pair of sockets", try_call(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)), 0);
}

static void allowed(void)
{
	struct rlimit limit;

	note("a thread", try_thread(), 0);
	note("a signal to itself", raise(SIGCONT), 0);
	note("its limits", try_call(getrlimit(RLIMIT_NOFILE, &limit)), 0);
	note("an address of IPv4", try_socket(AF_INET, SOCK_STREAM), 0);
	note("an address of IPv6", try_socket(AF_INET6, SOCK_DGRAM), before.ipv6);
	note("tables of addresses", try_socket(AF_NETLINK, SOCK_RAW), 0);
	note("a name", try_name(), before.name);
	note("the port", try_bind(own_port), 0);
	note("what the process is", try_open("/proc/self/stat", O_RDONLY), 0);
	note("its descriptors", try_open("/proc/self/fd", O_RDONLY | O_DIRECTORY), 0);
	note("the machine", try_open(CPUS, O_RDONLY), before.machine);
	note("a token", try_open(path_of("token/value"), O_RDONLY), 0);
	note("a certificate", try_open(path_of("certs/new"), O_WRONLY | O_CREAT | O_EXCL), 0);
	note("its name", try_call(rename(path_of("certs/new"), path_of("certs/tls.crt"))), 0);
	note("its end", try_call(unlink(path_of("certs/tls.crt"))), 0);
}

static void forbidden_files(void)
{
	note("/etc/shadow", try_open("/etc/shadow", O_RDONLY), EACCES);
	note("/etc", try_open("/etc", O_RDONLY | O_DIRECTORY), EACCES);
	note("/root", try_open("/root", O_RDONLY | O_DIRECTORY), EACCES);
	note("a secret beside", try_open(path_of("secret"), O_RDONLY), EACCES);
	note("by a way around", try_open(path_of("token/../secret"), O_RDONLY), EACCES);
	note("a token that is written", try_open(path_of("token/value"), O_WRONLY), EACCES);
	note("a new file", try_open(path_of("token/new"), O_WRONLY | O_CREAT), EACCES);
	note("a new folder", try_call(mkdir(path_of("certs/folder"), 0700)), EACCES);
	note("a link", try_call(symlink("/etc/shadow", path_of("certs/link"))), EACCES);
	note("the end of a token", try_call(unlink(path_of("token/value"))), EACCES);
	note("another's memory", try_open("/proc/1/mem", O_RDONLY), -1);
}

/* As the kubelet does: the parent has renamed another file over it. */
static void rotated(void)
{
	note("before", try_open(path_of("token/value"), O_RDONLY), 0);
	note("what a link leads to", try_open(path_of("linked"), O_RDONLY), 0);
}

static void make_sandbox(struct bt_sandbox *sandbox)
{
	*sandbox = (struct bt_sandbox){.port = own_port};
	bt_sandbox_read(sandbox, path_of("token/value"));
	bt_sandbox_read(sandbox, path_of("not/there"));
	bt_sandbox_read(sandbox, NULL);
	bt_sandbox_write_in(sandbox, path_of("certs"));
}

static void needed_operations_are_allowed(void **state)
{
	struct bt_sandbox sandbox;

	(void)state;
	make_sandbox(&sandbox);
	play(&sandbox, BT_SANDBOX_AUTO, allowed);
	bt_sandbox_fini(&sandbox);
}

static void programs_processes_and_foreign_sockets_are_refused(void **state)
{
	struct bt_sandbox sandbox;

	(void)state;
	make_sandbox(&sandbox);
	play(&sandbox, BT_SANDBOX_AUTO, forbidden);
	bt_sandbox_fini(&sandbox);
}

static void files_that_were_not_declared_are_refused(void **state)
{
	struct bt_sandbox sandbox;

	(void)state;
	if (!has_landlock()) {
		print_message("skipped: this kernel has no Landlock\n");
		skip();
	}
	make_sandbox(&sandbox);
	play(&sandbox, BT_SANDBOX_REQUIRE, forbidden_files);
	bt_sandbox_fini(&sandbox);
}

static void try_other_port(void)
{
	note("another port", try_bind(own_port == 65535 ? 65534 : own_port + 1), EACCES);
	note("any port", try_bind(0), EACCES);
}

static void other_ports_are_refused(void **state)
{
	struct bt_sandbox sandbox;

	(void)state;
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 4) {
		print_message("skipped: this kernel's Landlock knows no ports\n");
		skip();
	}
	make_sandbox(&sandbox);
	play(&sandbox, BT_SANDBOX_REQUIRE, try_other_port);
	bt_sandbox_fini(&sandbox);
}

static void links_are_followed(void **state)
{
	struct bt_sandbox sandbox = {0};

	(void)state;
	bt_sandbox_read(&sandbox, path_of("linked")); /* to token/value */
	play(&sandbox, BT_SANDBOX_AUTO, rotated);
	bt_sandbox_fini(&sandbox);
}

static void plugin_tries(void)
{
	note("execve", try_program(), 0);
	note("a file of the plugin", try_open(path_of("secret"), O_RDONLY), 0);
	note("a Unix socket", try_socket(AF_UNIX, SOCK_STREAM), 0);
	note("ptrace", try_call(ptrace(PTRACE_TRACEME, 0, NULL, NULL)), EPERM);
	note("unshare", try_call(unshare(CLONE_NEWUSER)), EPERM);
	note("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EPERM, 0);
}

static void a_plugin_runs_and_keeps_the_shorter_filter(void **state)
{
	struct bt_sandbox sandbox = {.programs = true};
	struct bt_buf why = {0};

	(void)state;
	play(&sandbox, BT_SANDBOX_AUTO, plugin_tries);
	pid_t pid = fork();

	if (!pid) {
		_exit(bt_sandbox_enter(&sandbox, BT_SANDBOX_REQUIRE, &why) ||
			!strstr(why.ptr,
				"--sandbox=require: no Landlock: the kubeconfig names a credential plugin"));
	}
	assert_int_equal(end_of(pid), 0);
}

static void *sleep_on(void *context)
{
	(void)context;
	pause();
	return NULL;
}

static void a_thread_that_runs_already_is_reported(void **state)
{
	struct bt_sandbox sandbox = {0};
	struct bt_buf why = {0};
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pthread_t thread;

		_exit(pthread_create(&thread, NULL, sleep_on, NULL) != 0 ||
			bt_sandbox_enter(&sandbox, BT_SANDBOX_REQUIRE, &why) ||
			!strstr(why.ptr, "--sandbox=require: no Landlock: other threads run already"));
	}
	assert_int_equal(end_of(pid), 0);
}

static void off_takes_nothing(void)
{
	note("execve", try_program(), 0);
	note("a secret", try_open(path_of("secret"), O_RDONLY), 0);
	note("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

static void nothing_is_taken_when_it_is_off(void **state)
{
	struct bt_sandbox sandbox = {0};

	(void)state;
	play(&sandbox, BT_SANDBOX_OFF, off_takes_nothing);
}

/* A build with sanitizers has no sandbox, and reports that where one is required. */
static bool is_sanitized(void)
{
	struct bt_sandbox sandbox = {0};
	struct bt_buf why = {0};
	pid_t pid = fork();

	if (!pid) {
		_exit(!bt_sandbox_enter(&sandbox, BT_SANDBOX_REQUIRE, &why) && strstr(why.ptr, "sanitizers"));
	}
	return end_of(pid) != 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needed_operations_are_allowed),
		cmocka_unit_test(programs_processes_and_foreign_sockets_are_refused),
		cmocka_unit_test(files_that_were_not_declared_are_refused),
		cmocka_unit_test(other_ports_are_refused),
		cmocka_unit_test(links_are_followed),
		cmocka_unit_test(a_plugin_runs_and_keeps_the_shorter_filter),
		cmocka_unit_test(a_thread_that_runs_already_is_reported),
		cmocka_unit_test(nothing_is_taken_when_it_is_off),
	};

	if (is_sanitized()) {
		puts("skipped: a build with sanitizers has no sandbox");
		return 0;
	}
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(folder_make(NULL), 0);
	mkdir(path_of("token"), 0700);
	mkdir(path_of("certs"), 0700);
	write_text("token/value", "token");
	write_text("secret", "secret");
	assert_int_equal(symlink(path_of("token/value"), path_of("linked")), 0);
	own_port = free_port();
	before.ipv6 = try_socket(AF_INET6, SOCK_DGRAM);
	before.name = try_name();
	before.machine = try_open(CPUS, O_RDONLY);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	folder_remove(NULL);
	return failed;
}
