# SPDX-License-Identifier: Apache-2.0
"""libberth for Python, with nothing but ctypes. Copy it beside your program.

    with Berth(seed=1) as cluster:
        cluster.apply(open("cluster.yaml").read(), expand=True)
        for decision in cluster.decisions():
            print(decision.pod, decision.node or decision.message)
"""
import ctypes
import os
from collections import namedtuple
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

OK, NOT_FOUND, TIMEOUT, PLACED, TEXT, JSON, EXPAND = 0, 3, 7, 1, 1, 2, 1


class PodRef(Structure):
    _fields_ = [("namespace", c_char_p), ("name", c_char_p), ("uid", c_char_p), ("node", c_char_p), ("user", c_uint64)]


class DecisionStruct(Structure):
    _fields_ = [("number", c_uint64), ("ticket", c_uint64), ("outcome", c_int), ("priority", c_int32), ("attempts", c_uint32),
                ("time_ns", c_int64), ("pod", PodRef), ("node_user", c_uint64), ("nominated", c_char_p), ("message", c_char_p),
                ("evicted", POINTER(PodRef)), ("evicted_n", c_uint32)]


class Options(Structure):
    _fields_ = [("size", c_size_t), ("config", c_char_p), ("feature_gates", c_char_p), ("threads", c_uint32), ("bind_threads", c_uint32),
                ("seed", c_uint64), ("clock", c_int), ("start_ns", c_int64), ("sampling", c_int), ("binding", c_int), ("eviction", c_int),
                ("no_messages", c_bool), ("node_max", c_uint64), ("pod_max", c_uint64), ("text_bytes_max", c_uint64),
                ("plan_bytes_max", c_uint64), ("decision_max", c_uint32), ("binding_max", c_uint32), ("bind", c_void_p),
                ("evict", c_void_p), ("decided", c_void_p), ("log", c_void_p), ("context", c_void_p), ("memory_bytes_max", c_uint64),
                ("workers", c_uint32), ("kubernetes_version", c_char_p)]


Decision = namedtuple("Decision", "pod node message nominated evicted ticket")


class BerthError(Exception):
    pass


class Berth:
    """A cluster and its scheduler. Options are those of struct berth_options, such as seed=1 or config=open(...).read()."""

    def __init__(self, library=os.environ.get("BERTH_LIBRARY", "libberth.so.0"), **options):
        self.lib = ctypes.CDLL(library)
        self.lib.berth_error.restype = c_char_p
        self.handle = c_void_p()
        values = {key: value.encode() if isinstance(value, str) else value for key, value in options.items()}
        given = Options(size=ctypes.sizeof(Options), **values)
        self._check(self.lib.berth_create(byref(given), byref(self.handle)))

    def _check(self, status):
        if status != OK:
            raise BerthError(self.lib.berth_error(self.handle).decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.berth_destroy(self.handle)

    def apply(self, text, expand=False):
        """Objects as JSON or YAML, new or changed. Raises when some are wrong; the others are taken."""
        data = text.encode()
        self._check(self.lib.berth_apply(self.handle, data, c_size_t(len(data)), EXPAND if expand else 0, None))

    def apply_file(self, path, expand=False):
        self._check(self.lib.berth_apply_file(self.handle, os.fsencode(path), EXPAND if expand else 0, None))

    def delete(self, kind, name, namespace=None):
        self._check(self.lib.berth_delete(self.handle, kind.encode(), namespace and namespace.encode(), name.encode()))

    def decisions(self):
        """Decides pod after pod until none can be decided."""
        found = POINTER(DecisionStruct)()
        while True:
            status = self.lib.berth_next_decision(self.handle, c_int64(0), byref(found))
            if status == TIMEOUT:
                return
            self._check(status)
            d = found.contents
            yield Decision(f"{d.pod.namespace.decode()}/{d.pod.name.decode()}", d.pod.node.decode(), d.message.decode(),
                           d.nominated.decode(), [f"{e.namespace.decode()}/{e.name.decode()}" for e in d.evicted[:d.evicted_n]], d.ticket)

    def bound(self, ticket, ok=True):
        """The answer to a binding, with binding=1 (BERTH_BIND_ANSWERED) in the options."""
        self._check((self.lib.berth_bound if ok else self.lib.berth_bind_failed)(self.handle, c_uint64(ticket)))

    def explain(self, name, namespace="default", form=TEXT, function="berth_explain"):
        text = c_void_p()
        arguments = [self.handle, namespace.encode(), name.encode()] + ([form] if function == "berth_explain" else [])
        self._check(getattr(self.lib, function)(*arguments, byref(text)))
        try:
            return ctypes.string_at(text).decode()
        finally:
            self.lib.berth_free(text)

    def message(self, name, namespace="default"):
        return self.explain(name, namespace, function="berth_message")
