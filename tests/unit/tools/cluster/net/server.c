/* SPDX-License-Identifier: Apache-2.0
 * The test server.
 */
#include "server.h"
#include "server_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

bool peer_wait_readable(struct peer *peer)
{
	struct pollfd fds[2] = {
		{.fd = peer->fd, .events = POLLIN}, {.fd = peer->server->stop[0], .events = POLLIN}};

	if (peer->tls && SSL_pending(peer->tls)) {
		return true;
	}
	return poll(fds, 2, -1) > 0 && !fds[1].revents && fds[0].revents;
}

static int receive(struct peer *peer, char *bytes, size_t n)
{
	if (!peer_wait_readable(peer)) {
		return 0;
	}
	return peer->tls ? SSL_read(peer->tls, bytes, (int)n) : (int)recv(peer->fd, bytes, n, 0);
}

bool peer_send_bytes(struct peer *peer, const char *bytes, size_t n)
{
	if (peer->stream) {
		return stream_send(peer->stream, bytes, n);
	}
	while (n) {
		int sent = peer->tls ? SSL_write(peer->tls, bytes, (int)n)
				     : (int)send(peer->fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0) {
			return false;
		}
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

bool peer_send(struct peer *peer, const char *text)
{
	return peer_send_bytes(peer, text, strlen(text));
}

bool peer_answer(struct peer *peer, int status, const char *headers, const char *body)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "HTTP/1.1 %d Whatever\r\n%sContent-Length: %zu\r\n\r\n%s", status, headers,
		strlen(body), body);
	bool good = peer_send_bytes(peer, text.ptr, text.len);

	bt_buf_fini(&text);
	return good;
}

bool peer_is(struct peer *peer, const char *common_name)
{
	if (peer->stream) {
		return stream_is(peer->stream, common_name);
	}
	X509 *certificate = peer->tls ? SSL_get_peer_certificate(peer->tls) : NULL;
	char name[256] = "";

	if (certificate && sk_X509_num(SSL_get_peer_cert_chain(peer->tls)) < 1) {
		X509_NAME_get_text_by_NID(
			X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
	}
	X509_free(certificate);
	return !strcmp(name, common_name);
}

bool peer_resumed(struct peer *peer)
{
	return peer->stream ? stream_resumed(peer->stream) : peer->tls && SSL_session_reused(peer->tls);
}

bool peer_speaks_h2(const struct peer *peer)
{
	return peer->stream;
}

void peer_hang(struct peer *peer)
{
	char byte[256];

	if (peer->stream) {
		stream_hang(peer->stream);
		return;
	}
	while (receive(peer, byte, sizeof(byte)) > 0) {
	}
}

struct bt_str request_header(const struct request *request, const char *name)
{
	struct bt_str all = request->headers;
	size_t n = strlen(name);

	for (size_t at = 0; at < all.len;) {
		size_t end = bt_str_find(all, '\r', at);
		struct bt_str line = bt_str_sub(all, at, end);

		if (line.len > n + 1 && !strncasecmp(line.ptr, name, n) && line.ptr[n] == ':') {
			return bt_str_sub(line, n + 2, line.len);
		}
		at = end + 2;
	}
	return (struct bt_str){0};
}

/* Splits "METHOD path HTTP/1.1\r\nheaders". */
static void read_request_line(struct bt_str head, struct request *out)
{
	size_t one = bt_str_find(head, ' ', 0), two = bt_str_find(head, ' ', one + 1);
	size_t line = bt_str_find(head, '\n', 0);

	out->method = bt_str_sub(head, 0, one);
	out->path = bt_str_sub(head, one + 1, two);
	out->headers = bt_str_sub(head, line + 1, head.len);
}

static bool serve_one(struct peer *peer, struct bt_buf *in, uint32_t nth)
{
	struct request request = {.nth = nth};
	char *over = NULL;
	char bytes[16384];
	int n;

	while (!in->len || !(over = strstr(in->ptr, "\r\n\r\n"))) {
		n = receive(peer, bytes, sizeof(bytes));
		if (n <= 0) {
			return false;
		}
		bt_buf_add(in, bytes, (size_t)n);
	}
	size_t head_n = (size_t)(over - in->ptr) + 4;

	read_request_line((struct bt_str){in->ptr, head_n - 2}, &request);
	struct bt_str length = request_header(&request, "Content-Length");
	size_t body_n = length.len ? strtoul(length.ptr, NULL, 10) : 0;

	while (in->len < head_n + body_n) {
		n = receive(peer, bytes, sizeof(bytes));
		if (n <= 0) {
			return false;
		}
		bt_buf_add(in, bytes, (size_t)n);
	}
	read_request_line((struct bt_str){in->ptr, head_n - 2}, &request);
	request.body = (struct bt_str){in->ptr + head_n, body_n};
	pthread_mutex_lock(&peer->server->lock);
	peer->server->request_n++;
	pthread_mutex_unlock(&peer->server->lock);
	bool more = peer->server->handle(peer->server->context, peer, &request);

	in->len -= head_n + body_n;
	memmove(in->ptr, in->ptr + head_n + body_n, in->len);
	in->ptr[in->len] = 0;
	return more;
}

static bool is_h2(const SSL *tls)
{
	const unsigned char *name = NULL;
	unsigned n = 0;

	if (tls) {
		SSL_get0_alpn_selected(tls, &name, &n);
	}
	return n == 2 && !memcmp(name, "h2", 2);
}

static void *serve(void *context)
{
	struct peer *peer = context;
	struct bt_buf in = {0};
	bool good = true;

	if (peer->server->tls) {
		peer->tls = SSL_new(peer->server->tls);
		SSL_set_fd(peer->tls, peer->fd);
		good = peer_wait_readable(peer) && SSL_accept(peer->tls) == 1;
	}
	if (good && is_h2(peer->tls)) {
		serve_h2(peer);
		good = false;
	}
	for (uint32_t nth = 0; good && serve_one(peer, &in, nth); nth++) {
	}
	bt_buf_fini(&in);
	if (peer->tls) {
		SSL_free(peer->tls);
	}
	shutdown(peer->fd, SHUT_RDWR);
	return NULL;
}

static void *listen_for(void *context)
{
	struct server *server = context;
	struct pollfd fds[2] = {
		{.fd = server->listener, .events = POLLIN}, {.fd = server->stop[0], .events = POLLIN}};

	while (poll(fds, 2, -1) > 0 && !fds[1].revents) {
		struct timeval limit = {.tv_sec = 20};
		int at_once = 1;
		int fd = accept(server->listener, NULL, NULL);

		if (fd < 0) {
			continue;
		}
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		/* As servers in Go do. Otherwise a small write waits for the acknowledgement of the last. */
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
		struct peer *peer = bt_mem_zalloc(1, sizeof(*peer));

		*peer = (struct peer){.server = server, .fd = fd};
		pthread_mutex_lock(&server->lock);
		peer->next = server->peers;
		server->peers = peer;
		server->peer_n++;
		pthread_mutex_unlock(&server->lock);
		BT_REQUIRE(pthread_create(&peer->thread, NULL, serve, peer) == 0);
	}
	return NULL;
}

struct server *server_start(SSL_CTX *tls, handler *handle, void *context)
{
	struct server *server = bt_mem_zalloc(1, sizeof(*server));
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	*server = (struct server){.tls = tls, .handle = handle, .context = context};
	pthread_mutex_init(&server->lock, NULL);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	BT_REQUIRE(bind(server->listener, (struct sockaddr *)&address, size) == 0);
	BT_REQUIRE(listen(server->listener, 64) == 0 && pipe(server->stop) == 0);
	BT_REQUIRE(getsockname(server->listener, (struct sockaddr *)&address, &size) == 0);
	server->port = ntohs(address.sin_port);
	BT_REQUIRE(pthread_create(&server->thread, NULL, listen_for, server) == 0);
	return server;
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

uint32_t server_connection_n(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	uint32_t n = server->peer_n;

	pthread_mutex_unlock(&server->lock);
	return n;
}

uint32_t server_request_n(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	uint32_t n = server->request_n;

	pthread_mutex_unlock(&server->lock);
	return n;
}

void server_stop(struct server *server)
{
	BT_REQUIRE(write(server->stop[1], "", 1) == 1);
	pthread_join(server->thread, NULL);
	for (struct peer *peer = server->peers, *next; peer; peer = next) {
		next = peer->next;
		pthread_join(peer->thread, NULL);
		close(peer->fd);
		bt_mem_free(peer);
	}
	close(server->listener);
	close(server->stop[0]);
	close(server->stop[1]);
	pthread_mutex_destroy(&server->lock);
	bt_mem_free(server);
}
