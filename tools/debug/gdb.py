# SPDX-License-Identifier: Apache-2.0
"""gdb shows berth's values as Kubernetes writes them:

    gdb -x tools/debug/gdb.py build/test/berth

Printers: struct bt_str, bt_quantity, bt_labels, bt_signature, bt_pod. Functions:
    print $bt_name(dictionary, 17)       the text of an interned name
    print $bt_duration(deadline_ns)      "1m30.5s"
    print $bt_time(pod->creation_ns)     "2026-01-02T03:04:05Z"

The first argument of $bt_name is a struct bt_intern, bt_dictionary, bt_signatures or bt_signature, or a pointer to
one. A printer uses the dictionary that the value itself references; else $bt_dictionary, if that is set; else the
nearest one that an argument or a local variable of the frame, or of an outer frame, references. Without any, names
are shown as numbers. Works on a core file, too: no function of the program is called.
"""
import datetime

import gdb
import gdb.printing

FRAMES = 40  # frames that are searched for a dictionary
SECOND = 10**9


def struct_of(value):
    """The struct that the value is or points to, with its name; None: not a struct."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR:
        if int(value) == 0 or kind.target().strip_typedefs().code != gdb.TYPE_CODE_STRUCT:
            return None, None
        value = value.dereference()
        kind = value.type.strip_typedefs()
    return (value, kind.unqualified().tag) if kind.code == gdb.TYPE_CODE_STRUCT else (None, None)


# ---- names ----


def intern_of(value):
    """The struct bt_intern that the value references in at most three steps, or None."""
    value, tag = struct_of(value)
    if tag == "bt_intern":
        return value
    member = {"bt_dictionary": "intern", "bt_name_refs": "intern", "bt_signature": "table"}.get(tag, "dictionary")
    if tag is None or member not in [field.name for field in value.type.fields()]:
        return None
    return intern_of(value[member])


def intern_of_frames():
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        return None
    for _ in range(FRAMES):
        if frame is None:
            break
        for symbol in symbols_of(frame):
            try:
                intern = intern_of(symbol.value(frame))
                if intern is not None:
                    int(intern["end"])  # is it readable?
                    return intern
            except gdb.error:
                pass  # optimised out, or not yet set
        frame = frame.older()
    return None


def symbols_of(frame):
    try:
        block = frame.block()
    except RuntimeError:
        return  # a function without debugging information
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.is_argument or symbol.is_variable:
                yield symbol
        block = block.superblock


def intern_for(value):
    """The dictionary of the names in a value, or None."""
    chosen = gdb.convenience_variable("bt_dictionary")
    for candidate in [value, chosen]:
        try:
            intern = None if candidate is None else intern_of(candidate)
            if intern is not None:
                return intern
        except gdb.error:
            pass  # uninitialised: an invalid pointer
    return intern_of_frames()


def record_of(intern, name):
    """As record_of in engine/model/intern.c: fixed names have their own records, the others are in chunks. Each chunk
    is as large as all earlier ones together, and the first one more."""
    record = intern["chunks"].type.target().unqualified().target()
    fixed = intern["fixed"]
    if name <= fixed.type.range()[1]:
        return fixed[name]["bytes"].address.cast(record.pointer()).dereference()
    first_log = 10  # FIRST_CHUNK_LOG
    place = name + (1 << first_log)
    chunk = place.bit_length() - 1 - first_log
    return intern["chunks"][chunk].cast(record.pointer())[place - (1 << (chunk + first_log))]


def text_of(intern, name):
    if name == 0:
        return ""
    if name >= int(intern["end"]):
        raise gdb.GdbError("no name has the number %d" % name)
    record = record_of(intern, name)
    length = int(record["len"])
    at = record["text"].address
    if length > 255:  # SHORT_MAX: the record says where it is
        at = at.cast(gdb.lookup_type("char").pointer().pointer()).dereference()
    return read_text(at, length)


def read_text(at, length):
    return gdb.selected_inferior().read_memory(int(at), length).tobytes().decode("utf-8", "replace") if length else ""


def show(intern, name):
    """A name for display: its text in quotes, or its number."""
    name = int(name)
    if name == 0:
        return "none"
    try:
        return '"%s"' % text_of(intern, name) if intern is not None else "#%d" % name
    except (gdb.error, gdb.GdbError):
        return "#%d" % name


class NameFunction(gdb.Function):
    """$bt_name(dictionary, number): the text of an interned name."""

    def __init__(self):
        super().__init__("bt_name")

    def invoke(self, dictionary, name):
        intern = intern_of(dictionary)
        if intern is None:
            raise gdb.GdbError("$bt_name: the first argument leads to no struct bt_intern")
        # gdb makes a null pointer of an empty Python string.
        text = text_of(intern, int(name)).encode() + b"\0"
        return gdb.Value(text, gdb.lookup_type("char").array(len(text) - 1))


# ---- time ----


def duration(ns):
    """As Go prints a duration, except for fractions below a second: 1h0m30s, 1.5s, 20ms."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    for unit, size in (("ns", 1), ("us", 10**3), ("ms", 10**6)):
        if ns < size * 1000:
            return "%s%s%s" % (sign, decimal(ns, size), unit if ns else "s")
    minutes, rest = divmod(ns, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    text = decimal(rest, SECOND) + "s"
    if hours:
        text = "%dh%dm%s" % (hours, minutes, text)
    elif minutes:
        text = "%dm%s" % (minutes, text)
    return sign + text


def decimal(number, unit):
    whole, part = divmod(number, unit)
    digits = ("%0*d" % (len(str(unit)) - 1, part)).rstrip("0") if part else ""
    return "%d%s" % (whole, "." + digits if digits else "")


def moment(ns):
    """A time since 1970 in UTC, in the API's format."""
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // SECOND)
    part = decimal(ns % SECOND, SECOND)[1:]
    return at.strftime("%Y-%m-%dT%H:%M:%S") + part + "Z"


class TextFunction(gdb.Function):
    """A gdb function from a number to a text."""

    def __init__(self, name, text):
        super().__init__(name)
        self.text = text

    def invoke(self, number):
        return self.text(int(number))


# ---- printers ----


class StrPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return read_text(self.value["ptr"], int(self.value["len"]))

    def display_hint(self):
        return "string"


def wide(value):
    """A signed 128-bit integer, which gdb's Python cannot read directly."""
    number = int(value.format_string(format="x"), 16)
    return number - (1 << 128) if number >> 127 else number


def take_factors(number, factor):
    taken = 0
    while number and number % factor == 0:
        number //= factor
        taken += 1
    return number, taken


def quantity_text(nano, mantissa, nano_exp, form):
    """As bt_quantity_text."""
    if nano == 0:
        return "0"
    if form == "BT_BINARY_SI" and abs(nano) >= 1024 * SECOND and nano % SECOND == 0:
        number, times = take_factors(nano // SECOND, 1024)
        return "%d%s" % (number, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][times] if times <= 6 else "")
    number, exponent = (mantissa, nano_exp - 9) if mantissa else (nano, -9)
    number, taken = take_factors(number, 10)
    exponent += taken
    number *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if form == "BT_DECIMAL_EXPONENT":
        return "%de%d" % (number, exponent) if exponent else "%d" % number
    return "%d%s" % (number, ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"][exponent // 3 + 3]
                     if exponent <= 18 else "")


class QuantityPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        return quantity_text(wide(value["nano"]), int(value["mantissa"]), int(value["nano_exp"]),
                             str(value["format"]))


def list_of(items, n):
    return [items[i] for i in range(int(n))]


def labels_text(intern, labels):
    return "{%s}" % ", ".join(
        "%s: %s" % (show(intern, item["key"]), show(intern, item["value"]))
        for item in list_of(labels["items"], labels["n"]))


class LabelsPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return labels_text(intern_for(self.value), self.value)


def amounts_text(dictionary, intern, amounts):
    """Amounts by the names of their slots; cpu is in thousandths."""
    texts = []
    for item in list_of(amounts["items"], amounts["n"]):
        slot = int(item["slot"])
        fixed = ["cpu", "memory", "ephemeral-storage"][slot] if slot < 3 else None
        if fixed is None and dictionary is not None:
            fixed = show(intern, dictionary["resources"]["names"][slot])
        texts.append("%s: %d%s" % (fixed or "slot %d" % slot, int(item["amount"]), "m" if slot == 0 else ""))
    return "{%s}" % ", ".join(texts)


# Optional fields of a signature: a condition on it, and their text.
LISTS = ("preferred", "toleration", "port", "image", "spread", "volume", "claim", "extended")
FLAGS = (("has_node_selector", "nodeSelector"), ("has_required", "required node affinity"),
         ("pod_affinity", "pod affinity"), ("pod_group", "pod group"))


class SignaturePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        intern = intern_for(value)
        table, tag = struct_of(value["table"])
        dictionary = None
        if tag == "bt_signatures" and "dictionary" in [field.name for field in table.type.fields()]:
            dictionary = table["dictionary"]
        has = [text for member, text in FLAGS if int(value[member])]
        has += ["%d %s" % (int(value[name + "_n"]), name) for name in LISTS if int(value[name + "_n"])]
        text = "signature %d {namespace: %s, schedulerName: %s, labels: %s, requests: %s" % (
            int(value["ix"]), show(intern, value["namespace_"]), show(intern, value["scheduler_name"]),
            labels_text(intern, value["labels"]),
            amounts_text(dictionary, intern, value["requests"]["fit"]))
        if has:
            text += ", has: " + ", ".join(has)
        if int(value["incomplete"]):
            text += ", incomplete: " + value["incomplete"].string()
        return text + "}"


class PodPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        signature, _ = struct_of(value["signature"])
        intern = intern_for(value["signature"])
        namespace = "?" if signature is None else show(intern, signature["namespace_"]).strip('"')
        text = "pod %s/%s {uid: %s, state: %s, priority: %d" % (
            namespace, show(intern, value["name"]).strip('"'), show(intern, value["uid"]), value["state"],
            int(value["priority"]))
        if int(value["node_ix"]) != 0xFFFFFFFF:  # BT_NO_NODE
            text += ", node_ix: %d" % int(value["node_ix"])
        if int(value["status_node"]):
            text += ", nominatedNodeName: " + show(intern, value["status_node"])
        for member in ("creation_ns", "start_ns"):
            if int(value[member]):
                text += ", %s: %s" % (member[:-3], moment(int(value[member])))
        if signature is not None:
            text += ", signature: %d" % int(signature["ix"])
        return text + "}"


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("berth")
    for name, printer in (("bt_str", StrPrinter), ("bt_quantity", QuantityPrinter), ("bt_labels", LabelsPrinter),
                          ("bt_signature", SignaturePrinter), ("bt_pod", PodPrinter)):
        printers.add_printer(name, "^%s$" % name, printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)
    NameFunction()
    TextFunction("bt_duration", duration)
    TextFunction("bt_time", moment)


register()
