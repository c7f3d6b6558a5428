/* SPDX-License-Identifier: Apache-2.0
 * Assume, confirm, forget (cache/ledger.c; bt_engine_bound, bind_failed, update_pod, remove_pod in engine/flow) against
 * an API server, a source that is late, skips and repeats, and a network that loses, delays and repeats. Pods are
 * deleted, are being deleted, and come again with another UID; nodes go and come again.
 *
 * What the model asks of others:
 * - a binder sends the same binding again until it has an answer, and after a refusal looks what the pod is, because a
 *   request that was thought lost may have been served; so it answers once, and an answer is the truth for ever;
 * - a binding names the pod's UID;
 * - a source keeps the order of what it says of one pod, and another UID is another pod: the old one has gone.
 *
 * Broken on purpose: FAIL_ON_TIMEOUT, LOOK_ON_TIMEOUT, TRUST_REFUSAL, NO_UID, UPDATE_ACROSS_UIDS, REORDER,
 * NODE_FREES_PODS, CONFIRM_DETACHED, DECIDE_FIRST.
 */
#ifndef CHANGES
#define CHANGES 1 /* what happens to pods and nodes, in all */
#endif
#ifndef FAULTS
#define FAULTS 1 /* of network and source, in all */
#endif
#ifndef CAPACITY
#define CAPACITY 1 /* pods a node */
#endif
#define PODS 2	/* names */
#define UIDS 2
#define NODES 2
#define ENTRIES (PODS * UIDS)
#define ENTRY(pod, uid) ((pod) * UIDS + (uid) - 1)
#define NONE 0 /* no node; a node is its number and 1 */

/* ---- the API server ---- */
byte uid_of[PODS];     /* 0: there is no such pod */
byte next_uid[PODS];
byte bound_to[PODS];
bool terminating[PODS];
bool exists[NODES];
byte load[NODES];
/* the ledger's */
mtype = { VACANT, QUEUED, ASSUMED, SCHEDULED };
mtype state[ENTRIES] = VACANT;
byte node_of[ENTRIES];
byte used[NODES];
bool started;
byte changes_left = CHANGES, faults_left = FAULTS;

/* POST pods/NAME/binding */
inline serve_binding(pod, uid, node, out_bound)
{
	d_step {
		out_bound = false;
		if
#ifdef NO_UID
		:: uid_of[pod] && !terminating[pod] && bound_to[pod] == NONE ->
#else
		:: uid_of[pod] == uid && !terminating[pod] && bound_to[pod] == NONE ->
#endif
			bound_to[pod] = node;
			load[node - 1]++;
			/* What is served is what is assumed: a pod is never bound to two nodes. */
			assert(state[ENTRY(pod, uid)] == ASSUMED && node_of[ENTRY(pod, uid)] == node);
			assert(load[node - 1] <= CAPACITY && load[node - 1] <= used[node - 1]);
			out_bound = true
		:: else
		fi
	}
}

inline delete_pod(pod)
{
	if
	:: bound_to[pod] != NONE -> load[bound_to[pod] - 1]--
	:: else
	fi;
	uid_of[pod] = 0;
	bound_to[pod] = NONE;
	terminating[pod] = false
}

#define CHANGES_OF_POD(pod) \
	:: d_step { changes_left && uid_of[pod] -> changes_left--; delete_pod(pod) } \
	:: d_step { changes_left && uid_of[pod] && !terminating[pod] -> changes_left--; terminating[pod] = true } \
	:: d_step { !uid_of[pod] && next_uid[pod] <= UIDS -> uid_of[pod] = next_uid[pod]; next_uid[pod]++ }
#define CHANGES_OF_NODE(node) \
	:: d_step { changes_left -> changes_left--; exists[node] = !exists[node] }

active proctype world()
{
	d_step {
		uid_of[0] = 1; next_uid[0] = 2;
		uid_of[1] = 1; next_uid[1] = UIDS + 1; /* one pod that comes again is enough */
		exists[0] = true; exists[1] = true
	}
	started = true;
end:	do
	CHANGES_OF_POD(0)
	CHANGES_OF_POD(1)
	CHANGES_OF_NODE(0)
	od
}

/* ---- the source: what a pod is now, and then; states in between are skipped, the same may be said again ---- */
chan said0 = [2] of { byte, byte, bool };
chan said1 = [2] of { byte, byte, bool };
byte said_uid[PODS], said_node[PODS];
bool said_terminating[PODS];

#define NEWS(pod) (uid_of[pod] != said_uid[pod] || bound_to[pod] != said_node[pod] || \
	terminating[pod] != said_terminating[pod])
#define SAY(pod, said) \
	:: d_step { started && nfull(said) && NEWS(pod) -> \
		said!uid_of[pod],bound_to[pod],terminating[pod]; \
		said_uid[pod] = uid_of[pod]; \
		said_node[pod] = bound_to[pod]; \
		said_terminating[pod] = terminating[pod] } \
	:: d_step { started && nfull(said) && faults_left && said_uid[pod] -> \
		faults_left--; \
		said!said_uid[pod],said_node[pod],said_terminating[pod] }

active proctype source()
{
end:	do
	SAY(0, said0)
	SAY(1, said1)
	od
}

/* ---- the ledger and the engine: one thread ---- */
bool detached[ENTRIES], binding[ENTRIES], is_terminating[ENTRIES];
byte known_uid[PODS]; /* the ledger's names: of the entry that is not detached */
bool known[NODES];
byte assumed_n;

mtype = { NOTHING, BOUND, FAILED };
byte order[ENTRIES]; /* to the binder: a node */
mtype answer[ENTRIES] = NOTHING;

inline charge(entry, node)
{
	node_of[entry] = node;
	used[node - 1]++
}

/* The ledger may show for a moment what is no more, but never less than there is. */
inline discharge(entry)
{
	assert(used[node_of[entry] - 1] > load[node_of[entry] - 1]);
	used[node_of[entry] - 1]--;
	node_of[entry] = NONE
}

inline ledger_assume(entry, node)
{
	assert(state[entry] == QUEUED && !detached[entry]);
	charge(entry, node);
	assert(used[node - 1] <= CAPACITY);
	state[entry] = ASSUMED;
	assumed_n++
}

inline ledger_confirm(entry)
{
	assert(state[entry] == ASSUMED);
	state[entry] = SCHEDULED;
	assumed_n--
}

inline ledger_forget(entry)
{
	assert(state[entry] == ASSUMED);
	discharge(entry);
	state[entry] = QUEUED;
	assumed_n--
}

inline ledger_remove(entry)
{
	assert(state[entry] != VACANT && state[entry] != ASSUMED);
	if
	:: node_of[entry] != NONE -> discharge(entry)
	:: else
	fi;
	state[entry] = VACANT;
	detached[entry] = false;
	is_terminating[entry] = false
}

/* bt_engine_remove_pod: whoever is being bound stays until its binder has answered, under no name. */
inline remove_pod(pod, entry)
{
	known_uid[pod] = 0;
	if
	:: binding[entry] ->
		if
		:: state[entry] == ASSUMED -> ledger_forget(entry)
		:: state[entry] == SCHEDULED -> discharge(entry); state[entry] = QUEUED
		:: else
		fi;
		detached[entry] = true
	:: else -> ledger_remove(entry)
	fi
}

/* bt_engine_add_pod */
inline add_pod(pod, uid, entry, node, ends)
{
	assert(state[entry] == VACANT);
	known_uid[pod] = uid;
	is_terminating[entry] = ends;
	state[entry] = QUEUED;
	if
	:: node != NONE -> charge(entry, node); state[entry] = SCHEDULED
	:: else
	fi
}

/* bt_engine_update_pod, bt_ledger_replace */
inline update_pod(entry, node, ends)
{
	if
	:: state[entry] == SCHEDULED /* stays on its node */
	:: state[entry] == ASSUMED && node != NONE ->
		if
		:: node != node_of[entry] -> discharge(entry); charge(entry, node)
		:: else
		fi;
		ledger_confirm(entry)
	:: state[entry] == ASSUMED && node == NONE && ends && !is_terminating[entry] ->
		ledger_forget(entry) /* its binding can only fail */
	:: state[entry] == QUEUED && node != NONE -> charge(entry, node); state[entry] = SCHEDULED
	:: else
	fi;
	is_terminating[entry] = is_terminating[entry] || ends
}

inline take_said(pod, said)
{
	said?uid,node,ends;
	if
	:: uid == 0 && known_uid[pod] -> old = ENTRY(pod, known_uid[pod]); remove_pod(pod, old)
	:: uid == 0 && !known_uid[pod]
#ifdef UPDATE_ACROSS_UIDS
	:: uid && known_uid[pod] -> old = ENTRY(pod, known_uid[pod]); update_pod(old, node, ends)
#else
	:: uid && known_uid[pod] == uid -> update_pod(ENTRY(pod, uid), node, ends)
	:: uid && known_uid[pod] && known_uid[pod] != uid ->
		old = ENTRY(pod, known_uid[pod]);
		remove_pod(pod, old);
		add_pod(pod, uid, ENTRY(pod, uid), node, ends)
#endif
	:: uid && !known_uid[pod] -> add_pod(pod, uid, ENTRY(pod, uid), node, ends)
	fi;
	uid = 0;
	node = NONE;
	old = 0;
	ends = false
}

/* bt_engine_bound */
inline bound(entry)
{
	if
#ifndef CONFIRM_DETACHED
	:: detached[entry] -> ledger_remove(entry)
#endif
	:: !detached[entry] && state[entry] == ASSUMED -> ledger_confirm(entry)
	:: else
	fi
}

/* bt_engine_bind_failed: unassume, let_go */
inline bind_failed(entry)
{
	if
	:: state[entry] == SCHEDULED -> bound(entry) /* it had come about after all */
	:: else ->
		if
		:: state[entry] == ASSUMED -> ledger_forget(entry)
		:: else
		fi;
		if
		:: detached[entry] -> ledger_remove(entry)
		:: else
		fi
	fi
}

#define ANSWER(entry) \
	:: d_step { answer[entry] == BOUND -> answer[entry] = NOTHING; binding[entry] = false; bound(entry) } \
	:: d_step { answer[entry] == FAILED -> answer[entry] = NOTHING; binding[entry] = false; bind_failed(entry) }
#ifdef DECIDE_FIRST
#define INBOX_IS_EMPTY true
#else
#define INBOX_IS_EMPTY (empty(said0) && empty(said1) && \
	answer[0] == NOTHING && answer[1] == NOTHING && answer[2] == NOTHING)
#endif
#define DECIDE(entry, node) \
	:: d_step { INBOX_IS_EMPTY && state[entry] == QUEUED && !detached[entry] && !binding[entry] && !is_terminating[entry] && \
			known[node] && used[node] < CAPACITY -> \
		ledger_assume(entry, node + 1); \
		binding[entry] = true; \
		order[entry] = node + 1 }
#ifdef NODE_FREES_PODS
#define NODE(node) :: d_step { known[node] != exists[node] -> known[node] = exists[node]; used[node] = 0 }
#else
#define NODE(node) :: d_step { known[node] != exists[node] -> known[node] = exists[node] }
#endif
#ifdef REORDER
#define TAKE(pod, said) \
	:: d_step { nempty(said) -> take_said(pod, said) } \
	:: d_step { full(said) -> said?uid,node,ends; said!uid,node,ends; take_said(pod, said) }
#else
#define TAKE(pod, said) :: d_step { nempty(said) -> take_said(pod, said) }
#endif

active proctype scheduler()
{
	byte uid, node, old;
	bool ends;

end:	do
	TAKE(0, said0)
	TAKE(1, said1)
	ANSWER(0)
	ANSWER(1)
	ANSWER(2)
	DECIDE(0, 0)
	DECIDE(0, 1)
	DECIDE(1, 0)
	DECIDE(1, 1)
	DECIDE(2, 0)
	DECIDE(2, 1)
	NODE(0)
	NODE(1)
	od
}

/* ---- binders and their network ---- */
byte late[ENTRIES]; /* the node of a request that is still on its way */

/* Binds one entry, again and again. */
proctype binder(byte pod; byte uid)
{
	byte node;
	bool served, heard;

end:	do
	:: d_step { order[ENTRY(pod, uid)] != NONE -> node = order[ENTRY(pod, uid)]; order[ENTRY(pod, uid)] = NONE };
		do
		:: served = false;
			heard = true;
			if
			:: serve_binding(pod, uid, node, served)
			:: d_step { faults_left -> faults_left--; heard = false } /* the request is lost */
			:: d_step { faults_left -> faults_left--; heard = false; late[ENTRY(pod, uid)] = node }
			:: d_step { faults_left -> faults_left--; heard = false }; /* the answer is lost */
				serve_binding(pod, uid, node, served)
			:: d_step { faults_left -> faults_left--; late[ENTRY(pod, uid)] = node }; /* twice */
				serve_binding(pod, uid, node, served)
			fi;
			if
			:: heard -> break
#ifdef FAIL_ON_TIMEOUT
			:: !heard -> served = false; break
#else
#ifdef LOOK_ON_TIMEOUT
			:: !heard -> served = (uid_of[pod] == uid && bound_to[pod] == node); break
#else
			:: !heard
#endif
#endif
			fi
		od;
		atomic {
#ifndef TRUST_REFUSAL
			served = served || (heard && uid_of[pod] == uid && bound_to[pod] == node);
#endif
			assert(answer[ENTRY(pod, uid)] == NOTHING);
			answer[ENTRY(pod, uid)] = (served -> BOUND : FAILED);
			node = NONE;
			served = false;
			heard = false
		}
	od
}

#define ARRIVE(pod, uid) \
	:: late[ENTRY(pod, uid)] -> serve_binding(pod, uid, late[ENTRY(pod, uid)], served); \
		late[ENTRY(pod, uid)] = NONE; served = false \
	:: late[ENTRY(pod, uid)] -> late[ENTRY(pod, uid)] = NONE

active proctype network()
{
	bool served;

end:	do
	ARRIVE(0, 1)
	ARRIVE(0, 2)
	ARRIVE(1, 1)
	od
}

init
{
	atomic {
		run binder(0, 1);
		run binder(0, 2);
		run binder(1, 1)
	}
}

#define SHOWN(pod) (known_uid[pod] == uid_of[pod] && \
	(!uid_of[pod] || node_of[ENTRY(pod, known_uid[pod])] == bound_to[pod]))
#define NO_REST (!detached[0] && !detached[1] && !detached[2] && assumed_n == 0)
#define settled (NO_REST && SHOWN(0) && SHOWN(1) && load[0] == used[0] && load[1] == used[1])

/* When nothing moves any more, no assumption is left, nothing has leaked, and the ledger is what the server has (I4). */
active proctype standstill()
{
	timeout ->
	assert(settled)
}

/* And it comes to that: changes and faults end (there are CHANGES and FAULTS). */
ltl settles { <> [] settled }
