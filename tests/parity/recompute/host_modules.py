# SPDX-License-Identifier: Apache-2.0
"""The modules of a model: calls of the forward pass, and operators of the backward pass that stand
for them."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from .host_operators import operators_of
from .host_records import STEP
from .host_tree import Forest, nest
from .host_work import launched_work


def is_module(name):
    return name.lower().startswith("nn.module:")


def is_optimizer(name):
    return name.lower().startswith("optimizer")


def have_modules(base, comparison, options):
    return not options.disable_module and all(
        any(is_module(call.name) for call in side.host.calls) for side in (base, comparison))


@dataclass(eq=False)
class ModuleOperator:
    """An operator that no other of the module holds, with what was launched meanwhile."""
    span: object
    work: list = field(default_factory=list)


class Module:
    def __init__(self, node, caller):
        self.node = node
        self.start = node.span.start
        self.caller = caller  # the thread whose Python functions led here
        self.operators = []  # in order of start
        names = [outer.span.name for outer in node.around()]
        self.full_name = "".join(f"/{name}" for name in reversed(names))
        self.depth = len(names)
        self.call_stack = ";\n".join(reversed(names))  # where no Python function runs

    def take_operators(self, spans):
        self.operators = [ModuleOperator(node.span) for node in nest(spans) if not node.parent]
        for work in self.node.work:
            running = [operator for operator in self.operators
                       if operator.span.start <= work.place.time <= operator.span.end]
            if running:
                running[-1].work.append(work)


class Pass:
    """The modules of one pass."""

    def __init__(self, spans, caller_of):
        self.forest = Forest(spans)
        self._modules = {node: Module(node, caller_of(node.span)) for node in self.forest.nodes}
        self._spans = {}

    @property
    def roots(self):
        return [self._modules[node] for node in self.forest.roots]

    def children(self, module):
        return [self._modules[node] for node in module.node.children]

    def around(self, place):
        node = self.forest.around(place)
        return node and self._modules[node]

    def take_operator(self, span):
        """True if it runs in a module of this pass."""
        node = self.forest.enclosing(span)
        if node:
            self._spans.setdefault(node, []).append(span)
        return node is not None

    def finish(self, works, functions):
        for work in works:
            node = self.forest.at(work.place)
            if node:
                node.work.append(work)
        for node, module in self._modules.items():
            module.take_operators(self._spans.get(node, []))
            inner = functions.around(node.span.place.on(module.caller))
            if inner:
                names = [outer.span.name for outer in inner.around()]
                module.call_stack = ";\n".join(reversed(names))


@lru_cache(maxsize=None)
def passes_of(side):
    """The forward and the backward pass."""
    host = side.host
    forward = Pass([call for call in host.calls if is_module(call.name)]
                   + [operator for operator in host.operators if is_optimizer(operator.name)],
                   caller_of=lambda span: span.thread)
    callers = {}
    for start, end in host.links:
        module, operator = forward.around(start), operators_of(side).forest.at(end)
        if module and operator and operator.span.start == end.time \
                and not is_optimizer(operator.span.name):
            span = replace(operator.span, name="[ BACKWARD ]" + module.full_name)
            callers[span] = start.thread
    backward = Pass(list(callers), caller_of=callers.get)
    for node in operators_of(side).forest.nodes:
        if STEP not in node.span.name and not is_optimizer(node.span.name):
            if not forward.take_operator(node.span):
                backward.take_operator(node.span)
    works = sorted(launched_work(side.device), key=lambda work: work.place.time)
    functions = Forest([call for call in host.calls if not is_module(call.name)])
    for one in (forward, backward):
        one.finish(works, functions)
    return forward, backward
