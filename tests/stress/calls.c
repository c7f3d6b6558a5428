/* SPDX-License-Identifier: Apache-2.0
 * Wrappers that count a call and forward it.
 */
#include "calls.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local bool counting;
static _Thread_local struct calls counted;

#define WRAP(kind, type, name, parameters, arguments)                                                        \
	type __real_##name parameters;                                                                       \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters                                                                        \
	{                                                                                                    \
		counted.kind += counting;                                                                    \
		return __real_##name arguments;                                                              \
	}

WRAP(allocation_n, void *, malloc, (size_t n), (n))
WRAP(allocation_n, void *, calloc, (size_t n, size_t size), (n, size))
WRAP(allocation_n, void *, realloc, (void *ptr, size_t n), (ptr, n))
WRAP(allocation_n, void *, aligned_alloc, (size_t align, size_t n), (align, n))
WRAP(allocation_n, int, posix_memalign, (void **out, size_t align, size_t n), (out, align, n))
WRAP(allocation_n, void, free, (void *ptr), (ptr))
WRAP(lock_n, int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
WRAP(lock_n, int, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
WRAP(lock_n, int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
WRAP(lock_n, int, pthread_cond_signal, (pthread_cond_t * c), (c))
WRAP(lock_n, int, pthread_cond_broadcast, (pthread_cond_t * c), (c))
WRAP(lock_n, int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
WRAP(lock_n, int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
WRAP(log_n, int, vfprintf, (FILE * file, const char *format, va_list args), (file, format, args))
WRAP(log_n, int, fputs, (const char *text, FILE *file), (text, file))
WRAP(log_n, size_t, fwrite, (const void *bytes, size_t size, size_t n, FILE *file), (bytes, size, n, file))
WRAP(log_n, ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n))

/* A function with variable arguments cannot forward them; vfprintf writes instead. */
int __wrap_fprintf(FILE *file, const char *format, ...);
int __wrap_fprintf(FILE *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = __wrap_vfprintf(file, format, args);
	va_end(args);
	return n;
}

void calls_begin(void)
{
	counted = (struct calls){0};
	counting = true;
}

struct calls calls_end(void)
{
	counting = false;
	return counted;
}
