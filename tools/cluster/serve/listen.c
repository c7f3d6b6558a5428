/* SPDX-License-Identifier: Apache-2.0
 * Listen and accept.
 */
#include "listen_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The listen backlog; the system may allow less. */
#define BACKLOG 4096
/* Source: net/http's Server.Serve. */
#define BACKOFF_FIRST_NS INT64_C(5000000)
#define BACKOFF_MAX_NS	 INT64_C(1000000000)
#define LOG_INTERVAL_NS	 INT64_C(60000000000)

static struct addrinfo *resolve(
	const struct bt_serve_settings *settings, uint16_t port, struct bt_buf *out_error)
{
	const char *address =
		settings->bind_address && *settings->bind_address ? settings->bind_address : NULL;
	const struct addrinfo hints = {.ai_family = address ? AF_UNSPEC : AF_INET6,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	/* As in Go, 0.0.0.0 means every address of both families. */
	bool every = !address || strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;

	if (getaddrinfo(every ? "::" : address, service, &hints, &found) != 0) {
		bt_buf_printf(out_error, "--bind-address: '%s' is not an IP address", address ? address : "");
		return NULL;
	}
	return found;
}

static int open_at(const struct bt_serve_settings *settings, const struct addrinfo *at)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0;

	if (fd < 0) {
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (settings->share_port) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	}
	if (at->ai_family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	}
	if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* A machine without IPv6 listens on every address of IPv4. */
static int open_without_ipv6(const struct bt_serve_settings *settings, uint16_t port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	const struct addrinfo at = {
		.ai_family = AF_INET, .ai_addr = (struct sockaddr *)&any, .ai_addrlen = sizeof(any)};

	return open_at(settings, &at);
}

int bt_listen(
	const struct bt_serve_settings *settings, bool any_port, uint16_t *out_port, struct bt_buf *out_error)
{
	uint16_t port = any_port ? 0 : settings->port;
	struct addrinfo *at = resolve(settings, port, out_error);
	struct sockaddr_storage bound;
	socklen_t n = sizeof(bound);

	if (!at) {
		return -1;
	}
	int fd = open_at(settings, at);

	if (fd < 0 && errno == EAFNOSUPPORT) {
		fd = open_without_ipv6(settings, port);
	}
	freeaddrinfo(at);
	if (fd < 0) {
		bt_buf_printf(out_error,
			"cannot listen at %s port %u: %s; see --bind-address and --secure-port",
			settings->bind_address ? settings->bind_address : "every address", port,
			strerror(errno));
		return -1;
	}
	memset(&bound, 0, sizeof(bound));
	getsockname(fd, (struct sockaddr *)&bound, &n);
	*out_port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
						      : ((struct sockaddr_in *)&bound)->sin_port);
	return fd;
}

/* Other errors concern a single connection, so only its peer. Source: accept(2). */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void begin_accept_backoff(struct bt_accept_backoff *backoff, int error, int64_t now_ns)
{
	int64_t twice_ns = backoff->last_ns ? backoff->last_ns * 2 : BACKOFF_FIRST_NS;
	uint64_t held_n;

	backoff->last_ns = twice_ns < BACKOFF_MAX_NS ? twice_ns : BACKOFF_MAX_NS;
	backoff->until_ns = now_ns + backoff->last_ns;
	if (bt_log_due(&backoff->log_limit, now_ns, LOG_INTERVAL_NS, &held_n)) {
		bt_log(BT_LOG_WARNING, 0,
			"Connections have to wait at --secure-port; allow the process more open files "
			"(ulimit -n, LimitNOFILE=)",
			bt_log_fields(bt_log_str("err", bt_str(strerror(error))),
				bt_log_int("heldBack", (int64_t)held_n)));
	}
}

int bt_accept(int listen_fd, struct sockaddr *out_peer, socklen_t *out_n, struct bt_accept_backoff *backoff,
	int64_t now_ns)
{
	int fd;

	do {
		fd = accept4(listen_fd, out_peer, out_n, SOCK_CLOEXEC | SOCK_NONBLOCK);
	} while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd >= 0) {
		backoff->last_ns = 0;
	} else if (is_shortage(errno)) {
		begin_accept_backoff(backoff, errno, now_ns);
	}
	return fd;
}
