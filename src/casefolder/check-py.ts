/**
 * check.py, which every case folder holds: it compares what a device wrote with what is expected, bits with bits, and
 * knows no rule of any format. Python 3.8 and NumPy. Clauses: spec/folders.md FOL-17, FOL-18.
 * @module
 */
export const CHECK_PY = String.raw`#!/usr/bin/env python3
"""Compares what a device wrote into this folder with what manifest.json says is expected.

    python3 check.py [--dir DIR] [--junit FILE]

The device writes actual_NAME.bin beside expected_NAME.bin, in the same form: all outputs, any of the stages. Exit code:
0 all equal, 1 differences, 2 a file is missing, short, too long or not what the manifest says. Python 3.8, NumPy.
"""
import argparse
import hashlib
import io
import json
import os
import re
import sys
from xml.sax.saxutils import quoteattr

try:
    import numpy as np
except ImportError:
    print("check.py: NumPy is missing (Debian: python3-numpy)", file=sys.stderr)
    sys.exit(2)

SCHEMA = "fp4-case-folder/1"
SIZES = {"bf16": 2, "f16": 2, "f32": 4, "u8": 1, "u16": 2, "u32": 4}
NPY = {"bf16": "<u2", "f16": "<f2", "f32": "<f4", "u8": "|u1", "u16": "<u2", "u32": "<u4", "u4x2": "|u1"}
# sign bit excluded: above this magnitude a word is a NaN
INFINITY = {"bf16": (0x7FFF, 0x7F80), "f16": (0x7FFF, 0x7C00), "f32": (0x7FFFFFFF, 0x7F800000)}
PADDING, LARGEST_FILE = 0xFFFFFFFF, 2**31
FORMS = {"raw": "bin", "npy": "npy", "text": "txt", "readmemh": "mem", "c": "bin"}


class Broken(Exception):
    """The folder cannot be judged."""


def need(condition, message):
    if not condition:
        raise Broken(message)


def unique(pairs):
    """Members of a JSON object; a name that occurs twice is an error."""
    members = dict(pairs)
    need(len(members) == len(pairs), "manifest.json: a name occurs twice")
    return members


def path_in(folder, name):
    """The path of a file of the folder, which no name and no link may leave."""
    plain = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}", name)
    need(plain, "manifest.json: %r is not a plain file name" % (name,))
    path = os.path.join(folder, name)
    inside = os.path.dirname(os.path.realpath(path)) == os.path.realpath(folder)
    need(inside, "%s: a link that leads out of the folder" % name)
    return path


def read(folder, name):
    path = path_in(folder, name)
    need(os.path.isfile(path), "%s: missing, or no file" % name)
    need(os.path.getsize(path) < LARGEST_FILE, "%s: too long" % name)
    with open(path, "rb") as file:
        return file.read()


def checked(folder, name, sha256):
    data = read(folder, name)
    found = hashlib.sha256(data).hexdigest()
    need(found == sha256, "%s: sha256 is %s, the manifest says %s" % (name, found, sha256))
    return data


def size_of(shape):
    return int(np.prod(shape, dtype=object))


def load_manifest(folder):
    """manifest.json, held against its own digest."""
    try:
        data = json.loads(read(folder, "manifest.json").decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise Broken("manifest.json: no JSON: %s" % error)
    need(isinstance(data, dict), "manifest.json: not an object")
    need(data.get("schema") == SCHEMA, "manifest.json: schema is %r, expected %r" % (data.get("schema"), SCHEMA))
    rest = {key: value for key, value in data.items() if key not in ("comment", "digest")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    found = hashlib.sha256(text.encode("utf-8")).hexdigest()
    need(found == data.get("digest"), "manifest.json: changed: its digest is %s, it says %s" % (found, data.get("digest")))
    need(data.get("nan") in ("any", "bits") and data.get("encoding") in FORMS, "manifest.json: nan or encoding unknown")
    need(isinstance(data.get("files"), list) and data["files"], "manifest.json: no files")
    for entry in data["files"]:
        check_entry(entry)
    names = [entry["name"] for entry in data["files"] if entry["role"] != "input"]
    need(len(set(names)) == len(names), "manifest.json: a name occurs twice")
    need(any(e["role"] == "expected" for e in data["files"]), "manifest.json: nothing is expected")
    return data


def check_entry(entry):
    need(isinstance(entry, dict) and entry.get("role") in ("input", "stage", "expected"), "manifest.json: a file without role")
    shape = entry.get("shape")
    whole = isinstance(shape, list) and shape and all(type(n) is int and 0 <= n < 2**31 for n in shape)
    need(whole and 0 < size_of(shape) < 2**31, "manifest.json: %r is no shape" % (shape,))
    need(entry.get("dtype") in NPY and entry.get("compare") in ("bits", "bound"), "manifest.json: dtype or compare unknown")
    named = re.fullmatch(r"[A-Za-z0-9_]+", str(entry.get("name")))
    need(named and (entry["role"] == "input" or str(entry.get("actual")).startswith("actual_")), "manifest.json: names")
    count, digits = entry.get("count"), entry.get("digits")
    blocks = entry["role"] == "input" or (type(count) is int and count > 0 and size_of(shape) % count == 0)
    need(type(count) is int and count > 0 and blocks, "manifest.json: count %r" % (count,))
    need(type(digits) is int and 1 <= digits <= 8, "manifest.json: digits %r" % (digits,))


def from_lines(entry, data, name, form):
    """A block a line: words of the stream, or one number with element 0 lowest."""
    count, digits = entry["count"], entry["digits"]
    marker = "//" if form == "mem" else "#"
    words = []
    for number, line in enumerate(re.split("\r?\n", data.decode("latin-1")), 1):
        line = line.split(marker)[0].strip(" \t") if form == "mem" else "" if line.startswith(marker) else line
        if not line:
            continue
        apart = form == "txt" and entry["dtype"] != "u4x2"
        parts = line.split(" ") if apart else [line.replace("_", "") if form == "mem" else line]
        widths = [digits] * count if apart else [count * digits]
        good = [len(part) for part in parts] == widths and all(re.fullmatch("[0-9a-fA-F]+", part) for part in parts)
        need(good, "%s: line %d: expected %d hex digits, found %r" % (name, number, count * digits, line[:60]))
        run = "".join(parts)
        row = [int(run[i : i + digits], 16) for i in range(0, len(run), digits)]
        words.extend(row[::-1] if form == "mem" else row)
    return np.array(words, dtype=np.uint32)


def words_of(entry, data, name):
    """The elements of a file as unsigned words, in C order."""
    dtype, size, form = entry["dtype"], size_of(entry["shape"]), name.rsplit(".", 1)[-1]
    if form in ("txt", "mem"):
        words = from_lines(entry, data, name, form)
        need(len(words) == size, "%s: %d elements; expected %d" % (name, len(words), size))
        return words
    if form == "npy":
        stream = io.BytesIO(data)
        try:
            array = np.load(stream, allow_pickle=False)
        except Exception as error:
            raise Broken("%s: not a .npy file that can be read: %s" % (name, error))
        need(isinstance(array, np.ndarray) and not stream.read(1), "%s: too long, or more than one array" % name)
        need(array.dtype == np.dtype(NPY[dtype]), "%s: type %s; expected %s" % (name, array.dtype.str, NPY[dtype]))
        need(array.flags.c_contiguous, "%s: Fortran order; expected C order" % name)
        shape = list(entry["shape"])
        if dtype == "u4x2":
            shape = shape[:-1] + [shape[-1] // 2] if shape[-1] % 2 == 0 else [(size + 1) // 2]
        need(list(array.shape) == shape, "%s: shape %s; expected %s" % (name, list(array.shape), shape))
        data = array.tobytes()
    length = (size + 1) // 2 if dtype == "u4x2" else size * SIZES[dtype]
    what = "short" if len(data) < length else "too long"
    need(len(data) == length, "%s: %s: %d bytes; expected %d" % (name, what, len(data), length))
    if dtype != "u4x2":
        return np.frombuffer(data, dtype="<u%d" % SIZES[dtype]).astype(np.uint32)
    packed = np.frombuffer(data, dtype=np.uint8)
    nibbles = [packed & 15, packed >> 4][:: -1 if entry.get("order") == "high-first" else 1]
    return np.stack(nibbles, axis=1).reshape(-1)[:size].astype(np.uint32)


def is_nan(entry, words):
    if entry["dtype"] in INFINITY:
        mask, infinity = INFINITY[entry["dtype"]]
        return (words & mask) > infinity
    return np.isin(words, np.array(entry.get("nans", []), dtype=np.uint32))


def values_of(entry, words):
    dtype = entry["dtype"]
    need(dtype in INFINITY, "%s: bounds are for floats, not %s" % (entry["name"], dtype))
    if dtype == "f16":
        return words.astype(np.uint16).view(np.float16).astype(np.float64)
    return (words << 16 if dtype == "bf16" else words).astype(np.uint32).view(np.float32).astype(np.float64)


def wrong_elements(folder, entry, found, nan):
    """What is expected, as texts by index, and the indices of the elements that are wrong."""
    expected = words_of(entry, checked(folder, entry["file"], entry["sha256"]), entry["file"])
    shown = "%%0%dx" % entry["digits"]
    if entry["compare"] == "bits":
        wrong = found != expected
        if nan == "any":
            wrong &= ~(is_nan(entry, expected) & is_nan(entry, found))
        text = lambda i: shown % expected[i]
    else:
        high = words_of(entry, checked(folder, entry.get("high"), entry.get("highSha256")), entry["high"])
        with np.errstate(invalid="ignore"):
            low_value, value, high_value = (values_of(entry, w) for w in (expected, found, high))
            inside = (low_value <= value) & (value <= high_value)
        wrong = ~(inside | (np.isnan(low_value) & np.isnan(high_value) & np.isnan(value)))
        text = lambda i: (shown + " to " + shown) % (expected[i], high[i])
    if "places" not in entry:
        return text, np.flatnonzero(wrong), None
    name = entry["places"]["file"]
    places = np.frombuffer(checked(folder, name, entry["places"]["sha256"]), dtype="<u4")
    need(len(places) == len(wrong), "%s: %d places; expected %d" % (name, len(places), len(wrong)))
    return text, np.flatnonzero(wrong & (places != PADDING)), places


def place_of(manifest, entry, index, places):
    """Which case, or which row and block of it, and which element of the block."""
    shape, count = entry["shape"], entry["count"]
    if places is not None:
        shape = entry["places"]["shape"]
        index, count = int(places[index]), shape[2]
    row, rest = divmod(int(index), max(1, size_of(shape) // shape[0]))
    block, element = divmod(rest, count)
    boundary, note = (manifest.get("generator") or {}).get("boundary"), ""
    if boundary and boundary["notes"] and row < boundary["rows"] and block < boundary["perRow"]:
        note = " (%s)" % boundary["notes"][(row * boundary["perRow"] + block) % len(boundary["notes"])]
    where = "case %d" % row if manifest["shape"] is None else "row %d, block %d" % (row, block)
    return "%s, element %d%s" % (where, element, note)


def actual_file(folder, manifest, entry):
    """The file the device wrote, or None."""
    # The headerless form always does, beside the folder's own.
    names = [entry["actual"]] + ["actual_%s.bin" % entry["name"]] * (FORMS[manifest["encoding"]] != "bin")
    there = [name for name in names if os.path.lexists(path_in(folder, name))]
    need(len(there) < 2, "%s: only one of them can be meant" % " and ".join(there))
    return there[0] if there else None


def check(folder):
    """One line a file: name, state, message; in the order in which an encoder makes them."""
    manifest = load_manifest(folder)
    inputs = [entry for entry in manifest["files"] if entry["role"] == "input"]
    for listed in inputs + (manifest.get("companions") or []):
        checked(folder, listed["file"], listed["sha256"])
    results = []
    for entry in (entry for entry in manifest["files"] if entry["role"] != "input"):
        name = actual_file(folder, manifest, entry)
        if name is None:
            need(entry["role"] == "stage", "%s: missing" % entry["actual"])
            checked(folder, entry["file"], entry["sha256"])
            results.append((entry["name"], "skipped", "no %s" % entry["actual"]))
            continue
        found = words_of(dict(entry), read(folder, name), name)
        text, wrong, places = wrong_elements(folder, entry, found, manifest["nan"])
        if len(wrong) == 0:
            results.append((entry["name"], "passed", "%d elements" % len(found)))
            continue
        first, where = int(wrong[0]), place_of(manifest, entry, wrong[0], places)
        shown = ("%%0%dx" % entry["digits"]) % int(found[first])
        message = "%d of %d elements differ; first at %s: expected %s, found %s"
        results.append((entry["name"], "failed", message % (len(wrong), len(found), where, text(first), shown)))
    return manifest, results


def write_junit(path, title, results):
    count = [sum(state == wanted for _, state, _ in results) for wanted in ("failed", "error", "skipped")]
    head = '<testsuite name=%s tests="%d" failures="%d" errors="%d" skipped="%d">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', head % (quoteattr(title), len(results), *count)]
    tags = {"failed": "failure", "skipped": "skipped", "error": "error"}
    for name, state, message in results:
        body = "<%s message=%s/>" % (tags[state], quoteattr(message)) if state in tags else ""
        lines.append("  <testcase classname=%s name=%s>%s</testcase>" % (quoteattr(title), quoteattr(name), body))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</testsuite>", ""]))


def main(arguments=None):
    parser = argparse.ArgumentParser(description="compare a device's files with the expected ones, bit by bit")
    parser.add_argument("--dir", default=os.path.dirname(os.path.abspath(__file__)), help="the case folder")
    parser.add_argument("--junit", metavar="FILE", help="write a JUnit report")
    options = parser.parse_args(arguments)
    title, code = "fp4 case folder", 0
    try:
        manifest, results = check(options.dir)
        title = str(manifest.get("function"))
        for name, state, message in results:
            print("%-7s %s: %s" % (state, name, message))
        failed = [result for result in results if result[1] == "failed"]
        if failed:
            print("first wrong: %s: %s" % (failed[0][0], failed[0][2]))
            code = 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a folder that cannot be judged has no other end than a message
        reason = str(error) if isinstance(error, Broken) else "%s: %s" % (type(error).__name__, error)
        print("check.py: %s" % reason, file=sys.stderr)
        results, code = [("folder", "error", reason)], 2
    try:
        if options.junit:
            write_junit(options.junit, title, results)
    except OSError as error:
        print("check.py: %s: %s" % (options.junit, error.strerror), file=sys.stderr)
        code = 2
    return code


if __name__ == "__main__":
    sys.exit(main())
`;
