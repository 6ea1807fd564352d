# SPDX-License-Identifier: BSD-3-Clause
"""Models of published words, with the memory orders that the C code has: all interleavings.

x86 hides a weakened order, and ThreadSanitizer looks at plain data of one process only. In a model
each thread has a view: which store to each word it has seen. A load returns any store that is not
older than that; an acquire load of a release store brings the view that the storing thread had. An
exchange takes the newest store. Words that are plain in C are relaxed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ACQUIRES, RELEASES = {"acquire", "acq_rel", "seq_cst"}, {"release", "acq_rel", "seq_cst"}

SEND, ARRIVAL, RECEIVE = (f"csrc/accl/transport/shm/{x}.c" for x in ("send", "arrival", "receive"))
WORKER, QUEUE = "csrc/veo/lib/worker.c", "csrc/veo/lib/queue.c"
MACHINE = "csrc/dpu/machine/run.c"

# File, function, and the operation, of which the order is read.
OPERATIONS = {
    "take back": (SEND, "withdraw", r"&o->entry->kind, ENTRY_INLINE"),
    "kind": (ARRIVAL, "acclib_arrival_next", r"&shared->kind"),
    "publish": (SEND, "entry_publish", r"&entry->number, s->peer->sent"),
    "next": (ARRIVAL, "acclib_arrival_next", r"&shared->number"),
    "visit": (RECEIVE, "acclib_shm_visit", r"&shared->number"),
    "answer": ("csrc/veo/worker/context.c", "veow_finish", r"&slot->state, WIRE_STATE.*?DONE\)"),
    "crash": ("csrc/veo/worker/crash.c", "publish", r"&veow_header->crashed, \(uint32_t\)number"),
    "crashed": (WORKER, "veolib_worker_is_dead", r"&worker->header->crashed"),
    "dead": (WORKER, "veolib_worker_is_dead", r"&worker->dead, true"),
    "is crash": (QUEUE, "is_crash", r"&proc->memory.header->crashed"),
    "harvest": (QUEUE, "harvest", r"&ctx->proc->worker.dead, true"),
    "is dead": (QUEUE, "has_ended", r"&worker->dead"),
    "state": (QUEUE, "has_ended", r"&slot->state"),
    "want": ("csrc/dpu/lib/schedule/perform.c", "run_beside", r"add_explicit\(&dpu->waiting, 1"),
    "interrupt": (MACHINE, "dpu_machine_interrupt", r"&m->interrupt, 1"),
    "interrupted": (MACHINE, "run", r"&m->interrupt, 0"),
}

# "word = 1" stores, "word <- 1" exchanges, "word" loads, and "word == 1" goes on only if it has
# loaded that. The last line is what nobody may have loaded in the end; every word begins as 0. Of
# the operations with an order each is needed, but those in brackets.
MODELS = {
    "a message that was taken back is not read as one": (
        ("stream = 1", "kind = 1 @take back"),
        ("kind == 1 @kind", "stream"),
        "kind 1, stream 0",
    ),
    "a message is there with its number": (
        ("bytes = 1", "number = 1 @publish"),
        ("number == 1 @next", "bytes"),
        "number 1, bytes 0",
    ),
    "so it is for who only looks at it": (
        ("bytes = 1", "number = 1 @publish"),
        ("number == 1 @visit", "bytes"),
        "number 1, bytes 0",
    ),
    "a worker that died after its answer has answered": (
        ("state = 1 (@answer)", "crashed = 1 @crash"),
        ("crashed == 1 @crashed", "dead = 1 @dead"),
        ("dead == 1 @is dead", "state (@state)"),
        "dead 1, state 0",
    ),
    "so it has for who was told by one that fetched a crash": (
        ("state = 1 (@answer)", "crashed = 1 @crash"),
        ("crashed == 1 @is crash", "dead = 1 @harvest"),
        ("dead == 1 @is dead", "state (@state)"),
        "dead 1, state 0",
    ),
    "an interrupted launch sees who interrupted it": (
        ("waiting = 1 (@want)", "interrupt = 1 @interrupt"),
        ("interrupt <- 0 == 1 @interrupted", "waiting"),
        "interrupt 1, waiting 0",
    ),
}


def order_of(name: str) -> str:
    file, function, operation = OPERATIONS[name]
    text = (ROOT / file).read_text()
    body = re.search(rf"^[\w ]*[ *]{function}\([^;{{]*\)\n\{{\n.*?^\}}\n", text, re.M | re.S)
    assert body is not None, f"{file} has no {function}()"
    found = re.search(operation + r"(?:, memory_order_(\w+))?\)", body[0])
    assert found is not None, f"{function}() does not have {operation}"
    return found[1] or "seq_cst"


Step = tuple[str, str, int, int | None, str]


def parse(line: str, orders: dict[str, str]) -> Step:
    parts = re.fullmatch(r"(\w+)(?: (=|<-) (\d))?(?: == (\d))?(?: \(?@([\w ]+)\)?)?", line)
    assert parts is not None, line
    word, kind, value, wanted, name = parts.groups()
    order = orders[name] if name else "relaxed"
    return kind or "load", word, int(value or 0), int(wanted) if wanted else None, order


def loads(threads: list[list[Step]]) -> set[tuple[tuple[str, int], ...]]:
    """Return what can have been loaded last of each word, in all orders of steps and views."""
    start: Any = (tuple(0 for _ in threads), tuple(() for _ in threads), (), ())
    seen, left = {start}, [start]
    while left:
        at, views, memory, loaded = left.pop()
        for me, steps in enumerate(threads):
            if at[me] == len(steps):
                continue
            kind, word, value, wanted, order = steps[at[me]]
            stores = dict(memory).get(word, ((0, ()),))
            first = dict(views[me]).get(word, 0) if kind == "load" else len(stores) - 1
            for choice in range(first, len(stores)):
                view, got, goes_on = dict(views[me]), dict(loaded), True
                if kind != "=":
                    got[word], theirs = stores[choice]
                    goes_on = wanted in (None, got[word])
                    view[word] = choice
                    for other, at_least in theirs if order in ACQUIRES else ():
                        view[other] = max(view.get(other, 0), at_least)
                now = dict(memory)
                if kind != "load":
                    view[word] = len(stores)
                    shown = view if order in RELEASES else {word: len(stores)}
                    now[word] = (*stores, (value, tuple(sorted(shown.items()))))
                state = (
                    (*at[:me], at[me] + 1 if goes_on else len(steps), *at[me + 1 :]),
                    (*views[:me], tuple(sorted(view.items())), *views[me + 1 :]),
                    tuple(sorted(now.items())),
                    tuple(sorted(got.items())),
                )
                if state not in seen:
                    seen.add(state)
                    left.append(state)
    return {state[3] for state in seen}


def happens(model: tuple[Any, ...], weak: str = "") -> bool:
    """Return whether what is forbidden can be, with one of the orders relaxed."""
    *threads, forbidden = model
    orders = {name: order_of(name) if name != weak else "relaxed" for name in OPERATIONS}
    found = loads([[parse(line, orders) for line in lines] for lines in threads])
    bad = {(word, int(value)) for word, value in (x.split() for x in forbidden.split(", "))}
    return any(bad <= set(one) for one in found)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_published_is_seen(name: str) -> None:
    assert not happens(MODELS[name])


@pytest.mark.parametrize("name", MODELS)
def test_no_order_can_be_weaker(name: str) -> None:
    *threads, _ = MODELS[name]
    needed = re.findall(r" @([\w ]+)", "\n".join(line for lines in threads for line in lines))
    assert len(needed) > 1
    assert all(happens(MODELS[name], weak) for weak in needed)
