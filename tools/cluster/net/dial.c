/* SPDX-License-Identifier: Apache-2.0
 * The C library's resolver blocks, so it runs on a thread.
 */
#include "tools/cluster/net/dial_int.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "engine/base/thread.h"

#define KEEPALIVE_IDLE_S 5
#define KEEPALIVE_STEP_S 2

struct bt_resolver {
	const char *host, *port;	 /* init: */
	void (*resolved)(void *context); /* init: */
	void *context;			 /* init: */
	struct bt_thread *thread;	 /* owner: the caller; NULL: not running */
	struct bt_dial_addresses found;	 /* owner: the thread, until it is joined */
	struct bt_buf why;		 /* likewise */
};

static bool look_up(
	const struct bt_resolver *resolver, int flags, struct bt_dial_addresses *out, struct bt_buf *out_why)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
	struct addrinfo *all = NULL;
	int rc = getaddrinfo(resolver->host, resolver->port, &hints, &all);

	out->n = 0;
	if (rc != 0) {
		bt_buf_printf(out_why, "Could not resolve host %s: %s", resolver->host, gai_strerror(rc));
		return false;
	}
	for (const struct addrinfo *one = all; one && out->n < BT_DIAL_ADDRESSES; one = one->ai_next) {
		memcpy(&out->items[out->n], one->ai_addr, one->ai_addrlen);
		out->sizes[out->n++] = one->ai_addrlen;
	}
	freeaddrinfo(all);
	return out->n != 0;
}

static void run(void *context)
{
	struct bt_resolver *resolver = context;

	look_up(resolver, 0, &resolver->found, &resolver->why);
	resolver->resolved(resolver->context);
}

struct bt_resolver *bt_resolver_create(
	const char *host, const char *port, void (*resolved)(void *context), void *context)
{
	struct bt_resolver *resolver = bt_mem_zalloc(1, sizeof(*resolver));

	*resolver =
		(struct bt_resolver){.host = host, .port = port, .resolved = resolved, .context = context};
	return resolver;
}

void bt_resolver_destroy(struct bt_resolver *resolver)
{
	if (resolver) {
		bt_thread_join(&resolver->thread);
		bt_buf_fini(&resolver->why);
		bt_mem_free(resolver);
	}
}

enum bt_resolved bt_resolver_start(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why)
{
	struct bt_thread_options options = {.name = "resolver"};
	struct bt_buf none = {0};
	bool known = look_up(resolver, AI_NUMERICHOST, out, &none);

	bt_buf_fini(&none);
	if (known) {
		return BT_RESOLVED;
	}
	if (!resolver->thread) {
		bt_buf_clear(&resolver->why);
		if (bt_thread_start(&options, run, resolver, &resolver->thread, out_why) != BT_OK) {
			return BT_RESOLVE_FAILED;
		}
	}
	return BT_RESOLVE_LATER;
}

enum bt_resolved bt_resolver_take(
	struct bt_resolver *resolver, struct bt_dial_addresses *out, struct bt_buf *out_why)
{
	bt_thread_join(&resolver->thread);
	*out = resolver->found;
	bt_buf_str(out_why, bt_buf_view(&resolver->why));
	return out->n ? BT_RESOLVED : BT_RESOLVE_FAILED;
}

static void set_option(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

int bt_dial(const struct bt_dial_addresses *addresses, uint32_t ix, int64_t dead_ns)
{
	const struct sockaddr *to = (const struct sockaddr *)(const void *)&addresses->items[ix];
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int64_t dead_ms = dead_ns / 1000000;

	if (fd < 0) {
		return -1;
	}
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_STEP_S);
	/* Closes a connection whose peer acknowledges nothing for this long, however much data is in
	 * flight. */
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(dead_ms > INT_MAX ? INT_MAX : dead_ms));
	if (connect(fd, to, addresses->sizes[ix]) != 0 && errno != EINPROGRESS) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}
