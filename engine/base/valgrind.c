/* SPDX-License-Identifier: Apache-2.0
 * The client requests of helgrind and drd. Each tool ignores those of the other, and outside valgrind they
 * are a few instructions without effect.
 */
#include "engine/base/valgrind.h"

#if BT_VALGRIND
#include <stdint.h>
#include <valgrind/helgrind.h>
#include <valgrind/drd.h> /* after helgrind.h, so that it does not redefine its names */

void bt_valgrind_atomic(const void *address, size_t bytes)
{
	VALGRIND_HG_DISABLE_CHECKING(address, bytes);
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_START_SUPPRESSION, address, bytes, 0, 0, 0);
}

void bt_valgrind_release(const void *address)
{
	DO_CREQ_v_W(_VG_USERREQ__HG_USERSO_SEND_PRE, const void *, address);
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_ANNOTATE_HAPPENS_BEFORE, address, 0, 0, 0, 0);
}

void bt_valgrind_acquire(const void *address)
{
	DO_CREQ_v_W(_VG_USERREQ__HG_USERSO_RECV_POST, const void *, address);
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_ANNOTATE_HAPPENS_AFTER, address, 0, 0, 0, 0);
}
#endif
