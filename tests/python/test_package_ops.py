"""modewise.ops: a typed function for each operator of torch.ops.modewise, its docstring and its place in torch: compile,
export, autocast, other devices."""

import inspect
import re
import types
import typing
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

import modewise
from modewise import nn, ops
from modewise.ops import autocast, gradients, kernels

KERNEL_LAUNCH = {"launch", "check_kernels", "kernels_fault", "use_compiled_kernels"}  # not for users: the launchers of GPU kernels
SCHEMAS = {schema.name.removeprefix("modewise::"): schema for schema in torch._C._jit_get_all_schemas()
           if schema.name.startswith("modewise::") and schema.name.removeprefix("modewise::") not in KERNEL_LAUNCH}  # fmt: skip
FUNCTIONS = {name: function for module in (ops, gradients, kernels) for name, function in vars(module).items()
             if isinstance(function, types.FunctionType) and not name.startswith("_")}  # fmt: skip


def python_type(text):
    """The Python type of a schema's type."""
    if text.startswith("Optional["):
        return python_type(text.removeprefix("Optional[")[:-1]) | None
    if text.startswith("List["):
        return Sequence[python_type(text.removeprefix("List[")[:-1])]
    return {"Tensor": Tensor, "int": int, "float": float, "bool": bool, "str": str}[text]


OLD_DEFAULTS = {"causal": "summary"}  # schemas keep the old name of a value


def result_type(schema):
    returns = [str(value.type) for value in schema.returns]
    types_of = [list[Tensor] if text == "List[Tensor]" else list[str] if text == "List[str]" else python_type(text) for text in returns]
    if not types_of:
        return type(None)
    return types_of[0] if len(types_of) == 1 else tuple[*types_of]


def test_every_operator_has_a_function_and_every_function_an_operator():
    assert set(FUNCTIONS) == set(SCHEMAS)
    assert {"mode_product", "tensor_attention", "linear_backward", "use_isa"} <= set(SCHEMAS)
    public = {name for name in ops.__all__ if name not in ("gradients", "kernels")}
    assert public == {name for name in FUNCTIONS if hasattr(ops, name)}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_function_is_as_its_schema(name):
    schema, function = SCHEMAS[name], FUNCTIONS[name]
    hints = typing.get_type_hints(function)
    parameters = list(inspect.signature(function).parameters.values())
    assert [p.name for p in parameters] == [a.name for a in schema.arguments]
    for parameter, argument in zip(parameters, schema.arguments, strict=True):
        assert hints[parameter.name] == python_type(str(argument.type)), parameter.name
        assert (parameter.kind is inspect.Parameter.KEYWORD_ONLY) == argument.kwarg_only, parameter.name
        default = inspect.Parameter.empty if not argument.has_default_value() else argument.default_value
        default = tuple(default) if isinstance(default, list) else default
        assert parameter.default == (OLD_DEFAULTS.get(default, default) if isinstance(default, str) else default), parameter.name
    assert hints["return"] == result_type(schema)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_docstring_names_every_argument(name):
    text = inspect.getdoc(FUNCTIONS[name])
    missing = [a.name for a in SCHEMAS[name].arguments if not re.search(rf"(?<![A-Za-z_]){a.name}(?![A-Za-z_])", text)]
    assert not missing
    if any("Tensor" in str(value.type) for value in SCHEMAS[name].returns):
        assert re.search(r"->\s+\S", text), "what shapes come back"


def test_functions_give_what_the_operators_give():
    """Arguments reach the operator in their places: a sample of those with many."""
    rand = torch.Generator().manual_seed(3)
    x = torch.randn(2, 3, 5, 8, generator=rand)
    wq, wk = (torch.randn(16, 8, generator=rand) for _ in range(2))
    bq, bk = (torch.randn(16, generator=rand) for _ in range(2))
    norms = [torch.randn(4, generator=rand) for _ in range(4)]
    mask = torch.rand(2, 3, 5, generator=rand) > 0.3
    options = {"heads": 2, "combine": "mean", "pooling": "mean", "attend_modes": [1], "rope_modes": [1], "rope_base": 100.0, "token_mask": mask}
    for kernel in ({}, {"kernel": "linear", "features": 24, "feature_map": "regularised", "feature_seed": 5}):
        raw = torch.ops.modewise.kronecker_attention(x, x, wq, bq, wk, bk, *norms, **options, **kernel)
        assert torch.equal(ops.kronecker_attention(x, x, wq, bq, wk, bk, *norms, **options, **kernel), raw)
    q, k, v = (torch.randn(2, 7, 2, 4, generator=rand) for _ in range(3))
    latents, frequencies = torch.randn(1, 2, 2, 4, generator=rand), torch.tensor([[1.0, 0.1], [0.5, 0.2]], dtype=torch.float64)
    raw = torch.ops.modewise.tensor_attention(q, k, v, latents, frequencies, fold=[0, 3], window=4, gains=[1.5], scale=0.3)
    assert torch.equal(ops.tensor_attention(q, k, v, latents, frequencies, fold=[0, 3], window=4, gains=[1.5], scale=0.3), raw)
    raw = torch.ops.modewise.full_attention(x, x, x, 2, mask, 0.5, 3, 4, 17, False)
    assert torch.equal(ops.full_attention(x, x, x, 2, mask, 0.5, 3, 4, 17), raw)


class Small(torch.nn.Module):
    """One of each way through the dispatcher: composite, with autograd of its own, several results, lists."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.attention = modewise.nn.KroneckerAttention(8, 2, 2, rope_modes=[1])
        self.feed = modewise.nn.SwiGLU(8, 6)
        self.norm = modewise.nn.LayerNorm(8)

    def forward(self, x):
        total, normed = ops.dropout_add_norm(x, self.attention(x), 0.0, 0, 0, 16, self.norm.weight, self.norm.bias)
        a, b = ops.mode_pool(total + self.feed(normed), "mean")
        return ops.matmul(a, b.transpose(1, 2)), ops.sum_of_squares(a)


def same(got, wanted):
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        assert torch.equal(g, w)


@pytest.fixture(scope="module")
def sample():
    return torch.randn(5, 3, 5, 8, generator=torch.Generator().manual_seed(7))  # more rows than FEW_ROWS of nn.basic


def test_compiles_as_one_graph(sample):
    model = Small()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    same(compiled(sample), model(sample))
    compiled(sample)[0].sum().backward()
    grads = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(sample)[0].sum().backward()
    same(grads, [p.grad for p in model.parameters()])


class Dropping(torch.nn.Module):
    """A block and a network with dropout of one probability."""

    def __init__(self, p):
        super().__init__()
        feed_forward = nn.GELUNetwork(8, 12, p)
        self.block = nn.Block(8, nn.KroneckerAttention(8, 2, 2), feed_forward, dropout=p)

    def forward(self, x):
        return self.block(x)


def test_dropout_differs_between_calls_of_one_graph(sample):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = Dropping(0.3)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    results = []
    for seed in (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11):  # more than the recompilations that torch allows
        torch.manual_seed(seed)
        results.append(compiled(sample))
    assert torch.equal(results[0], results[1]) and not torch.equal(results[0], results[2])
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
    results[-1].sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_dropout_of_a_graph_drops_what_it_says(sample):
    torch._dynamo.reset()
    whole = Dropping(1.0)
    assert torch.equal(torch.compile(whole, fullgraph=True, backend="aot_eager")(sample), sample)  # both branches are gone
    single = nn.Dropout(0.3)
    compiled = torch.compile(single, fullgraph=True, backend="aot_eager")
    torch.manual_seed(5)
    got = compiled(sample)
    torch.manual_seed(5)
    assert torch.equal(got, torch.nn.functional.dropout(sample, 0.3))
    wide = torch.ones(1000, 100)
    dropped = torch.compile(single.add_to, fullgraph=True, backend="aot_eager")(2 * wide, wide)
    assert torch.equal(dropped.unique(), torch.tensor([2.0, 2 + 1 / 0.7]))
    assert abs((dropped == 2).double().mean().item() - 0.3) < 0.006  # four standard deviations of a mean of 1e5 draws
    network = nn.GELUNetwork(8, 12, 1.0)
    assert torch.equal(torch.compile(network, fullgraph=True, backend="aot_eager")(sample), network.linear2.bias.expand_as(sample))


ATTENTIONS = {
    "product": lambda: nn.KroneckerAttention(8, 2, 3, dropout=0.3),
    "sum": lambda: nn.KroneckerAttention(8, 2, 3, combine="sum", share_modes=True, dropout=0.3),
    "all": lambda: nn.TokenAttention(8, 2, dropout=0.3),
    "spatial": lambda: nn.TokenAttention(8, 2, reach="spatial", dropout=0.3),
    "divided": lambda: nn.DividedAttention(8, 2, 3, dropout=0.3),
}


@pytest.mark.parametrize("name, backend", [*((name, "aot_eager") for name in ATTENTIONS), ("product", "inductor")])
def test_dropout_of_attention_weights_differs_between_calls_of_one_graph(sample, name, backend):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = nn.Block(8, ATTENTIONS[name](), nn.GELUNetwork(8, 12, 0.2), dropout=0.1)
    x = sample.reshape(5, 3, 5, 2, 4).repeat(1, 1, 1, 1, 2)
    mask = torch.rand(x.shape[:-1], generator=torch.Generator().manual_seed(2)) < 0.8
    compiled = torch.compile(model, fullgraph=True, backend=backend)

    def call(seed):
        torch.manual_seed(seed)
        model.zero_grad()
        out = compiled(x, mask)
        out.square().sum().backward()
        return out.detach(), [p.grad.clone() for p in model.parameters()]

    (first, grads), (again, same_grads), (other, _) = call(1), call(1), call(2)
    assert torch.equal(first, again) and all(torch.equal(a, b) for a, b in zip(grads, same_grads, strict=True))
    assert not torch.equal(first, other)
    torch.manual_seed(1)
    assert not torch.equal(compiled(x, mask), compiled(x, mask))  # without a new seed
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_the_gradient_of_a_graph_has_the_mask_of_its_forward_pass():
    torch._dynamo.reset()
    q, k, v, weight = torch.randn(4, 2, 7, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64).unbind()
    compiled = torch.compile(lambda v: ops.full_attention(q, k, v, 2, None, 0.4, None), fullgraph=True, backend="aot_eager")

    def call(values):
        torch.manual_seed(3)
        return compiled(values)

    # It is linear in v: values that are 1 at one token read a column of its matrix off, the same in each call.
    columns = []
    for token in range(7):
        unit = torch.zeros_like(v)
        unit[:, token] = 1
        columns.append(call(unit))
    matrix = torch.stack(columns, 2).unflatten(-1, (2, 3))[..., 0]  # [B, query, key, head]
    by_head = [x.unflatten(-1, (2, 3)) for x in (q, k)]
    scores = (torch.einsum("bihd,bjhd->bijh", *by_head) / 3**0.5).softmax(2)
    assert set((matrix / scores * 0.6).round(decimals=9).flatten().tolist()) == {0.0, 1.0}  # dropped, or scaled by 1 / 0.6
    v.requires_grad_()
    (call(v) * weight).sum().backward()
    wanted = torch.einsum("bijh,bihd->bjhd", matrix, weight.unflatten(-1, (2, 3))).flatten(-2)
    torch.testing.assert_close(v.grad, wanted, rtol=1e-12, atol=1e-12)


def test_exports(sample):
    model = Small().eval()
    batch = torch.export.Dim("batch", min=1, max=64)
    program = torch.export.export(model, (sample,), dynamic_shapes={"x": {0: batch}})
    called = {str(node.target) for node in program.graph.nodes}
    assert {"modewise.kronecker_attention.default", "modewise.dropout_add_norm.default", "modewise.mode_pool.default"} <= called
    wider = torch.cat([sample, sample[:1]])
    same(program.module()(wider), model(wider))


def test_autocast_runs_products_in_the_narrow_type(sample):
    weight = torch.randn(6, 8, generator=torch.Generator().manual_seed(1))
    with torch.autocast("cpu", torch.bfloat16):
        narrow = ops.linear(sample, weight)
        assert narrow.dtype == torch.bfloat16
        assert ops.layer_norm(sample).dtype == torch.float32
        assert ops.dropout_add(sample[..., :6], narrow, 0.0, 0, 0, 16).dtype == torch.float32
        attended = ops.kronecker_attention(sample, sample, weight.new_ones(16, 8), None, weight.new_ones(16, 8), None, heads=2)
        assert attended.dtype == torch.bfloat16
        factor = torch.eye(3, dtype=torch.float64)
        assert ops.mode_product(sample.double(), factor, 0).dtype == torch.float64
    assert torch.equal(narrow, ops.linear(sample.bfloat16(), weight.bfloat16()))
    assert ops.linear(sample, weight).dtype == torch.float32


def test_autocast_has_gradients_in_the_parameters_type(sample):
    weight = torch.randn(6, 8).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        ops.linear(sample, weight).float().square().sum().backward()
    assert weight.grad.dtype == torch.float32
    narrow = weight.detach().bfloat16().requires_grad_()
    ops.linear(sample.bfloat16(), narrow).float().square().sum().backward()
    assert torch.equal(weight.grad, narrow.grad.float())


def test_autocast_rules_name_operators_that_take_tensors():
    rules = [*autocast.NARROW, *autocast.WIDEST]
    assert len(set(rules)) == len(rules)
    assert set(rules) <= set(ops.__all__)


@pytest.mark.parametrize("arguments, sentence", [
    ((torch.zeros(2, 3), torch.zeros(4, 5)), "linear: weight must be [M, 3] for x [2, 3], got [4, 5]"),
    ((torch.zeros(2, 3, dtype=torch.int64), torch.zeros(4, 3)), "linear: x must be float32, float64 or bfloat16, got Long"),
    ((torch.zeros(2, 3, device="meta"), torch.zeros(4, 3)), "linear: weight must be on the device of x, meta, got cpu"),
])  # fmt: skip
def test_wrong_arguments_are_sentences(arguments, sentence):
    with pytest.raises(ValueError) as error:
        ops.linear(*arguments)
    assert str(error.value) == sentence


def test_empty_and_strided_tensors_are_taken():
    weight = torch.randn(4, 3)
    assert ops.linear(torch.zeros(0, 3), weight).shape == (0, 4)
    x = torch.randn(3, 5).t()
    assert torch.equal(ops.linear(x, weight), ops.linear(x.contiguous(), weight))


@pytest.mark.parametrize("name", [name for name, _ in inspect.getmembers(gradients, inspect.isfunction)])
def test_gradients_pass_each_argument_under_its_name(name, monkeypatch):
    """The functions of modewise.ops.gradients against the schemas of the operators."""
    calls = []

    class Recorder:
        def __getattr__(self, operator):
            return lambda *values, **named: calls.append((operator, values, named))

    monkeypatch.setattr(gradients, "_ops", Recorder())
    function = getattr(gradients, name)
    given = {parameter: object() for parameter in inspect.signature(function).parameters}
    function(**given)
    ((operator, values, named),) = calls
    schema = getattr(torch.ops.modewise, operator).default._schema
    assert operator == name
    assert dict(zip([one.name for one in schema.arguments], values, strict=False)) | named == given
