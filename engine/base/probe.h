/* SPDX-License-Identifier: Apache-2.0
 * Static probes (USDT) for bpftrace, perf or SystemTap: each is a nop and an ELF note, used as
 *	bpftrace -e 'usdt:build/release/berth:berth:NAME { @[arg0] = count(); }'
 * The provider is "berth"; the name is written as an identifier, arguments are integers or pointers without
 * side effects. Without systemtap-sdt-dev at configure time, probes compile to nothing.
 */
#pragma once

#if BT_SDT
#include <sys/sdt.h>

#define BT_PROBE1(name, a)	    DTRACE_PROBE1(berth, name, a)
#define BT_PROBE2(name, a, b)	    DTRACE_PROBE2(berth, name, a, b)
#define BT_PROBE3(name, a, b, c)    DTRACE_PROBE3(berth, name, a, b, c)
#define BT_PROBE4(name, a, b, c, d) DTRACE_PROBE4(berth, name, a, b, c, d)
#else
#define BT_PROBE1(name, a)	    ((void)sizeof(a))
#define BT_PROBE2(name, a, b)	    ((void)sizeof(a), (void)sizeof(b))
#define BT_PROBE3(name, a, b, c)    ((void)sizeof(a), (void)sizeof(b), (void)sizeof(c))
#define BT_PROBE4(name, a, b, c, d) ((void)sizeof(a), (void)sizeof(b), (void)sizeof(c), (void)sizeof(d))
#endif
