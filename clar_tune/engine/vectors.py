"""Vectors of float32 for numba: what plain loops do not keep in registers.

A value of type :class:`Vector` holds n floats; LLVM spreads it over whatever registers there are.
Kernels are written once for any n: they take a vector ``like`` whose type says how many lanes it
has, ``zeros(8)``, ``zeros(16)`` or ``zeros(32)``. A sparse product is 2 to 8 times faster than as
a plain loop, which keeps its sums in memory.

    total = total + weight * load(x, offset, total)

Loads and stores know no bounds: offsets come from arrays that were checked before they entered.
With ``NUMBA_BOUNDSCHECK=1`` they are checked, as indices of numba's are.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from clar_tune.engine.compiling import FREEDOMS

EXACT = ("contract",)
"""Of sums that must not be taken in another order. Without flags numba adds its own."""

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)


class Vector(types.Type):  # type: ignore[misc]
    """n floats of 32 bits."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(name=f"float32x{lanes}")


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_FLOAT, kind.lanes))


def _inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of vectors that is no call, but a few instructions."""
    return cast(Callable[..., Any], intrinsic(prefer_literal=True)(function))


def _constant(lanes: int, value: float, kind: ir.Type = _FLOAT) -> ir.Constant:
    return ir.Constant(ir.VectorType(kind, lanes), [value] * lanes)


def _spread(builder: Any, scalar: Any, lanes: int) -> Any:
    """A scalar in all lanes."""
    kind = ir.VectorType(scalar.type, lanes)
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(_INT, 0))
    places = ir.Constant(ir.VectorType(_INT, lanes), [0] * lanes)
    return builder.shuffle_vector(first, nothing, places)


def _address(
    context: Any, builder: Any, array: Any, value: Any, offset: Any, kind: ir.VectorType
) -> Any:
    """Where so many elements of a flat array begin."""
    made = context.make_array(array)(context, builder, value)
    if config.BOUNDSCHECK:
        _check_bounds(context, builder, offset, kind.count, made.nitems)
    return builder.bitcast(builder.gep(made.data, [offset]), kind.as_pointer())


def _check_bounds(context: Any, builder: Any, offset: Any, lanes: int, size: Any) -> None:
    """Raise where elements before the first or behind the last would be touched."""
    end = builder.add(offset, ir.Constant(offset.type, lanes))
    before = builder.icmp_signed("<", offset, ir.Constant(offset.type, 0))
    behind = builder.icmp_signed(">", end, size)
    with builder.if_then(builder.or_(before, behind), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a vector is out of bounds",))


def _call(builder: Any, name: str, result: ir.Type, arguments: list[Any], **options: Any) -> Any:
    kind = ir.FunctionType(result, [each.type for each in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, arguments, **options)


@_inline
def zeros(typing: Any, lanes: Any) -> Any:
    """Zeros in a literal number of lanes."""
    kind = Vector(lanes.literal_value)
    return kind(lanes), lambda context, builder, sig, args: _constant(kind.lanes, 0.0)


@_inline
def load(typing: Any, array: Any, offset: Any, like: Any) -> Any:
    """``array[offset : offset + n]`` of a flat array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = context.cast(builder, args[1], sig.args[1], types.int64)
        kind = ir.VectorType(_FLOAT, like.lanes)
        address = _address(context, builder, sig.args[0], args[0], place, kind)
        return builder.load(address, align=4)

    return like(array, offset, like), generate


@_inline
def store(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """``array[offset : offset + n] = value`` of a flat array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = context.cast(builder, args[1], sig.args[1], types.int64)
        kind = ir.VectorType(_FLOAT, value.lanes)
        address = _address(context, builder, sig.args[0], args[0], place, kind)
        builder.store(args[2], address, align=4)
        return context.get_dummy_value()

    return types.none(array, offset, value), generate


def _define_operator(symbol: Any, name: str) -> None:
    """The sum, difference or product of vectors lane by lane; on the left a scalar will do."""

    @infer_global(symbol)
    class Operation(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            left, right = args
            if isinstance(right, Vector) and (left == right or left == types.float32):
                return right(left, right)
            return None

    @lower_builtin(symbol, Vector, Vector)  # type: ignore[untyped-decorator]
    def of_vectors(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, name)(*args, flags=FREEDOMS)

    @lower_builtin(symbol, types.float32, Vector)  # type: ignore[untyped-decorator]
    def of_scalar(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left = _spread(builder, args[0], sig.args[1].lanes)
        return getattr(builder, name)(left, args[1], flags=FREEDOMS)


for _symbol, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define_operator(_symbol, _name)


@_inline
def total(typing: Any, x: Any) -> Any:
    """The sum of all lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        start = ir.Constant(_FLOAT, -0.0)
        name = f"llvm.vector.reduce.fadd.v{x.lanes}f32"
        return _call(builder, name, _FLOAT, [start, args[0]], fastmath=("reassoc",))

    return types.float32(x), generate


@_inline
def largest(typing: Any, x: Any) -> Any:
    """The largest of all lanes; what it is if one is a NaN is not said."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        name = f"llvm.vector.reduce.fmax.v{x.lanes}f32"
        return _call(builder, name, _FLOAT, [args[0]])

    return types.float32(x), generate


@_inline
def maximum(typing: Any, x: Any, y: Any) -> Any:
    """The larger of two, lane by lane; the second where they cannot be compared."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return x(x, y), generate


@_inline
def where_positive(typing: Any, condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition is above 0, else ``y``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], _constant(x.lanes, 0.0))
        return builder.select(above, args[1], args[2])

    return x(condition, x, y), generate


@_inline
def inverse(typing: Any, x: Any) -> Any:
    """One over each lane."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fdiv(_constant(x.lanes, 1.0), args[0])

    return x(x), generate


@_inline
def first(typing: Any, x: Any, count: Any, other: Any) -> Any:
    """``x`` in the first ``count`` lanes, the scalar ``other`` in the rest."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = ir.Constant(ir.VectorType(_INT, x.lanes), list(range(x.lanes)))
        limit = context.cast(builder, args[1], sig.args[1], types.int32)
        inside = builder.icmp_signed("<", lanes, _spread(builder, limit, x.lanes))
        value = context.cast(builder, args[2], sig.args[2], types.float32)
        return builder.select(inside, args[0], _spread(builder, value, x.lanes))

    return x(x, count, other), generate


@_inline
def repeated(typing: Any, x: Any, like: Any) -> Any:
    """Each lane of ``x`` as often in succession as it takes to fill ``like``."""
    times = like.lanes // x.lanes

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        places = [lane // times for lane in range(like.lanes)]
        return _chosen(builder, args[0], places)

    return like(x, like), generate


@_inline
def sums(typing: Any, x: Any, like: Any) -> Any:
    """The sums of as many equal parts of ``x`` as ``like`` has lanes.

    Both halves of all parts are added at once, again and again: fewer steps than part after part.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        made, size = args[0], x.lanes // like.lanes
        while size > 1:
            half = size // 2
            left = [part * size + lane for part in range(like.lanes) for lane in range(half)]
            right = [place + half for place in left]
            made = builder.fadd(
                _chosen(builder, made, left), _chosen(builder, made, right), flags=FREEDOMS
            )
            size = half
        return made

    return like(x, like), generate


def _chosen(builder: Any, x: Any, places: list[int]) -> Any:
    """The lanes of a vector at these places."""
    mask = ir.Constant(ir.VectorType(_INT, len(places)), places)
    return builder.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), mask)


@_inline
def reached(typing: Any, numbers: Any, offset: Any, limit: Any) -> Any:
    """A byte that says which of eight numbers of 16 bits are no less than ``limit``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.VectorType(ir.IntType(16), 8)
        place = context.cast(builder, args[1], sig.args[1], types.int64)
        address = _address(context, builder, sig.args[0], args[0], place, kind)
        least = context.cast(builder, args[2], sig.args[2], types.uint16)
        above = builder.icmp_unsigned(
            ">=", builder.load(address, align=2), _spread(builder, least, 8)
        )
        return builder.bitcast(above, ir.IntType(8))

    return types.uint8(numbers, offset, limit), generate


@_inline
def masked(typing: Any, x: Any, bits: Any) -> Any:
    """Eight lanes, 0 where the bit of a byte is."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte = context.cast(builder, args[1], sig.args[1], types.uint8)
        chosen = builder.bitcast(byte, ir.VectorType(ir.IntType(1), 8))
        return builder.select(chosen, args[0], _constant(8, 0.0))

    return x(x, bits), generate


@_inline
def exponential(typing: Any, x: Any) -> Any:
    r""":math:`e^x` to two units in the last place, for x up to 88; 0 below -87.

    :math:`e^x = 2^k e^r` with :math:`|r| \le \ln 2 / 2`; the rest by Cephes' polynomial. A NaN
    stays one.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _exponential(builder, args[0], x.lanes)

    return x(x), generate


def _exponential(builder: Any, x: Any, lanes: int) -> Any:
    def of(value: float) -> ir.Constant:
        return _constant(lanes, value)

    def fused(a: Any, b: Any, c: Any, flags: tuple[str, ...] = FREEDOMS) -> Any:
        return builder.fadd(builder.fmul(a, b, flags=flags), c, flags=flags)

    given, tiny = x, builder.fcmp_ordered("<", x, of(-87.0))
    x = builder.select(tiny, of(-87.0), x)
    x = builder.select(builder.fcmp_ordered(">", x, of(88.0)), of(88.0), x)
    scaled = builder.fmul(x, of(1.4426950408889634))
    whole = _call(builder, f"llvm.rint.v{lanes}f32", x.type, [scaled])
    # ln 2 in two parts: added first, they would be one that is not exact.
    rest = fused(whole, of(2.12194440e-4), fused(whole, of(-0.693359375), x, EXACT), EXACT)
    y = of(1.9875691500e-4)
    for factor in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5):
        y = fused(y, rest, of(factor))
    y = fused(
        y, builder.fmul(rest, rest, flags=FREEDOMS), builder.fadd(rest, of(1.0), flags=FREEDOMS)
    )
    power = builder.fptosi(whole, ir.VectorType(_INT, lanes))
    bits = builder.add(power, _constant(lanes, 127, _INT))
    bits = builder.shl(bits, _constant(lanes, 23, _INT))
    y = builder.fmul(y, builder.bitcast(bits, x.type), flags=FREEDOMS)
    y = builder.select(tiny, of(0.0), y)
    # A NaN has no whole part, and what LLVM makes of one is not said.
    return builder.select(builder.fcmp_unordered("uno", given, given), given, y)
