# SPDX-License-Identifier: BSD-3-Clause

"""YAML made to harm: by name, the text of a file ``spec.yaml``.

Text that is large is made when it is asked for, as most runs take a few of these only.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["FILES", "YAML", "Texts", "chain"]

Texts = dict[str, Callable[[], str]]


def chain(first: str, link: str, count: int) -> str:
    return "\n".join([first, *(link.format(i=i, j=i - 1) for i in range(1, count))])


YAML: Texts = {
    "aliases-of-lists": lambda: chain("a0: &a0 [x]", "a{i}: &a{i} [*a{j}, *a{j}]", 60),
    "aliases-of-mappings": lambda: chain(
        "a0: &a0 {x: 1}", "a{i}: &a{i} {{p: *a{j}, q: *a{j}}}", 60
    ),
    "aliases-nine-times": lambda: chain(
        "a0: &a0 [1]", "a{i}: &a{i} [" + ", ".join(["*a{j}"] * 9) + "]", 12
    ),
    "alias-of-itself": lambda: "a: &a [*a]",
    "alias-of-itself-in-a-mapping": lambda: "a: &a {b: {c: *a}}",
    "merges-of-lists": lambda: chain(
        "a0: &a0 {l: [1, 2]}", "a{i}: &a{i} {{l: [], <<<: [*a{j}, *a{j}]}}", 40
    ),
    "merges-of-mappings": lambda: chain(
        "a0: &a0 {k0: 1}", "a{i}: &a{i} {{k{i}: 1, <<: *a{j}}}", 3000
    ),
    "deep-merges": lambda: chain(
        "a0: &a0 {m: {x: 1}}", "a{i}: &a{i} {{m: {{n: *a{j}}}, <<<: [*a{j}, *a{j}]}}", 60
    ),
    "merge-of-many": lambda: "a: &a {x: 1}\nb: {<<: [" + "*a, " * 300_000 + "]}",
    "flat-list": lambda: "a:\n" + "- 1\n" * 1_000_000,
    "flat-flow-list": lambda: "a: [" + "1," * 2_000_000 + "]",
    "flat-mapping": lambda: "\n".join(f"k{i}: {i}" for i in range(400_000)),
    "flat-list-of-text": lambda: "a: [" + "x y z, " * 500_000 + "]",
    "list-of-aliases": lambda: "a: &a [1, 2, 3]\nb: [" + "*a, " * 500_000 + "]",
    "nested-brackets": lambda: "a: " + "[" * 5_000 + "]" * 5_000,
    "nested-braces": lambda: "a: " + "{b: " * 100_000,
    "nested-dashes": lambda: "- " * 200_000 + "x",
    "nested-lines": lambda: "\n".join(" " * i + "a:" for i in range(2_000)),
    "open-brackets": lambda: "a: " + "[" * 2_000_000,
    "question-marks": lambda: "? " * 100_000,
    "long-scalar": lambda: "a: " + "x" * 7_000_000,
    "long-quoted-scalar": lambda: "a: '" + "x" * 7_000_000,
    "long-plain-lines": lambda: "a:\n" + "  x\n" * 1_500_000,
    "long-block": lambda: "a: |\n" + "  x\n" * 1_500_000,
    "long-folded-block": lambda: "a: >\n" + "  x\n" * 1_500_000,
    "long-comment": lambda: "#" * 7_000_000 + "\na: 1\nb: [",
    "many-comments": lambda: "#\n" * 3_000_000 + "a: [",
    "long-key": lambda: "k" * 500_000 + ": 1",
    "long-anchor": lambda: "a: &" + "x" * 5_000_000 + " 1",
    "many-anchors": lambda: "a: [" + "".join(f"&x{i} 1, " for i in range(400_000)) + "]",
    "long-tag": lambda: "a: !" + "x" * 1_000_000 + " 1",
    "many-tags": lambda: "a: [" + "!x {}, " * 400_000 + "]",
    "tag-directives": lambda: (
        "".join(f"%TAG !t{i}! tag:x{i},2000:\n" for i in range(50_000)) + "---\n1"
    ),
    "many-documents": lambda: "a: 1\n---\n" * 400_000,
    "long-number": lambda: "a: " + "9" * 2_000_000,
    "long-hex-number": lambda: "a: 0x" + "f" * 2_000_000,
    "long-float": lambda: "variables: {a: 1." + "9" * 2_000_000 + "}",
    "underscores": lambda: "a: 1" + "_" * 2_000_000,
    "escapes": lambda: 'a: "' + r"\U0001F600" * 500_000 + '"',
    "python-object": lambda: "a: !!python/object/apply:os.system [sleep 30]",
    "python-name": lambda: "a: !!python/name:os.system ''",
    "binary": lambda: "a: !!binary " + "QUJD" * 1_000_000,
    "controls": lambda: "a: 1\nb: \x01",
    "nul": lambda: "a: 1\nb: \0",
    "tabs": lambda: "a:\n" + "\t" * 2_000_000 + "b",
    "spaces": lambda: "a:" + " " * 7_000_000 + "[",
    "empty-items": lambda: "a:\n" + "-\n" * 1_000_000,
    "omap": lambda: "a: !!omap\n" + "".join(f"- k{i}: 1\n" for i in range(200_000)),
}

FILES: Texts = {
    "text-of-a-device": lambda: '{{ include_text("/dev/zero") }}',
    "text-of-another-device": lambda: '{{ include_text("/dev/urandom") }}',
    "a-device": lambda: 'a: {{ include("/dev/zero") }}',
    "a-device-by-tag": lambda: "a: !include /dev/zero",
    "a-device-by-jinja": lambda: '{% include "../../../../../../../dev/zero" %}',
    "a-terminal": lambda: '{{ include_text("/dev/tty") }}',
    "a-pipe": lambda: '{{ include_text("pipe") }}',
    "a-pipe-as-object": lambda: 'a: {{ include("pipe") }}',
    "a-pipe-by-tag": lambda: "a: !include pipe",
    "a-pipe-by-jinja": lambda: '{% include "pipe" %}',
    "a-folder": lambda: '{{ include_text("..") }}',
    "a-folder-by-tag": lambda: "a: !include /etc",
    "a-terminal-by-tag": lambda: "a: !include /dev/tty",
    "a-socket": lambda: '{{ include_text("socket") }}',
    "a-socket-by-tag": lambda: "a: !include socket",
    "a-link-to-a-device": lambda: "a: !include zero",
    "a-link-to-a-socket": lambda: 'a: {{ include("link") }}',
    "the-kernels-log": lambda: '{{ include_text("/proc/kmsg") }}',
    "the-memory": lambda: '{{ include_text("/proc/self/mem") }}',
    "a-large-file": lambda: '{{ include_text("large") }}',
    "a-binary": lambda: '{{ include_text("/bin/sh") }}',
}
