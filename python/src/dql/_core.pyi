from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

class _SupportsDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

class _SupportsArray(Protocol):
    def __array__(self) -> NDArray[Any]: ...

_Tensor: TypeAlias = NDArray[Any] | np.generic | _SupportsDLPack | _SupportsArray | Buffer
_Scale: TypeAlias = _Tensor | float | Sequence[Any]
_ZeroPoint: TypeAlias = _Tensor | int | Sequence[Any]
_Type: TypeAlias = str | type[Any] | np.dtype[Any]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Out = TypeVar("_Out", bound=_SupportsDLPack)
_Y = TypeVar("_Y", bound=np.generic)

@overload
def dequantize(
    x: _Tensor,
    scale: _Scale,
    zero_point: _ZeroPoint | None = None,
    *,
    axis: SupportsIndex | None = 1,
    block_size: SupportsIndex | None = 0,
    dtype: _Type | None = None,
    x_type: _Type | None = None,
    shape: _Shape | None = None,
    out: _Out,
    threads: SupportsIndex | None = None,
    isa: str | None = None,
) -> _Out: ...
@overload
def dequantize(
    x: _Tensor,
    scale: _Scale,
    zero_point: _ZeroPoint | None = None,
    *,
    axis: SupportsIndex | None = 1,
    block_size: SupportsIndex | None = 0,
    dtype: type[_Y] | np.dtype[_Y],
    x_type: _Type | None = None,
    shape: _Shape | None = None,
    out: None = None,
    threads: SupportsIndex | None = None,
    isa: str | None = None,
) -> NDArray[_Y]: ...
@overload
def dequantize(
    x: _Tensor,
    scale: _Scale,
    zero_point: _ZeroPoint | None = None,
    *,
    axis: SupportsIndex | None = 1,
    block_size: SupportsIndex | None = 0,
    dtype: _Type | None = None,
    x_type: _Type | None = None,
    shape: _Shape | None = None,
    out: None = None,
    threads: SupportsIndex | None = None,
    isa: str | None = None,
) -> NDArray[Any]: ...

@final
class Plan:
    def __new__(
        cls,
        shape: _Shape,
        scale_shape: _Shape = (),
        *,
        x_type: _Type,
        scale_type: _Type = "float32",
        dtype: _Type | None = None,
        axis: SupportsIndex = 1,
        block_size: SupportsIndex = 0,
        isa: str | None = None,
        store: str = "auto",
    ) -> Plan: ...
    @overload
    def run(
        self,
        x: _Tensor,
        scale: _Scale,
        zero_point: _ZeroPoint | None = None,
        *,
        out: _Out,
        threads: SupportsIndex | None = None,
    ) -> _Out: ...
    @overload
    def run(
        self,
        x: _Tensor,
        scale: _Scale,
        zero_point: _ZeroPoint | None = None,
        *,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> NDArray[Any]: ...
    @overload
    def run_range(
        self,
        x: _Tensor,
        scale: _Scale,
        zero_point: _ZeroPoint | None = None,
        *,
        begin: SupportsIndex | None = 0,
        end: SupportsIndex | None = None,
        out: _Out,
    ) -> _Out: ...
    @overload
    def run_range(
        self,
        x: _Tensor,
        scale: _Scale,
        zero_point: _ZeroPoint | None = None,
        *,
        begin: SupportsIndex | None = 0,
        end: SupportsIndex | None = None,
        out: None = None,
    ) -> NDArray[Any]: ...
    @overload
    def rows(
        self,
        x: _Tensor,
        scale: _Scale,
        zero_point: _ZeroPoint | None = None,
        *,
        begin: SupportsIndex,
        length: SupportsIndex,
        rows: SupportsIndex,
        stride: SupportsIndex | None = None,
        out: _Out,
    ) -> _Out: ...
    @overload
    def rows(
        self,
        x: _Tensor,
        scale: _Scale,
        zero_point: _ZeroPoint | None = None,
        *,
        begin: SupportsIndex,
        length: SupportsIndex,
        rows: SupportsIndex,
        stride: SupportsIndex | None = None,
        out: None = None,
    ) -> NDArray[Any]: ...
    def slice(self, slices: int, index: int, /) -> tuple[int, int]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def scale_shape(self) -> tuple[int, ...]: ...
    @property
    def x_type(self) -> str: ...
    @property
    def scale_type(self) -> str: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def axis(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def isa(self) -> str: ...

def isas() -> tuple[str, ...]: ...
def active_isa() -> str: ...
def types() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]: ...
def version() -> str: ...
