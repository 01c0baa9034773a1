"""Copies minibatches to a CUDA device while it computes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import torch

from seqfeed._epochs import AheadIterator, each_part
from seqfeed._seqfeed import Feed, Minibatch
from seqfeed._types import Sparse


class _Slot:
    """Pinned memory for one minibatch. It is used again once its copy to the device is done."""

    def __init__(self) -> None:
        self.memory: dict[tuple[str, int], torch.Tensor] = {}
        self.copied = torch.cuda.Event()

    def pin(self, place: tuple[str, int], tensor: torch.Tensor) -> torch.Tensor:
        """A copy in pinned memory, which grows as needed."""
        size, memory = tensor.numel(), self.memory.get(place)
        if memory is None or memory.numel() < size or memory.dtype != tensor.dtype:
            memory = torch.empty(size + size // 4, dtype=tensor.dtype, pin_memory=True)
            self.memory[place] = memory
        return memory[:size].view(tensor.shape).copy_(tensor)


class CudaIterator(AheadIterator[dict[str, Any]]):
    """Keeps minibatches on their way to the device."""

    def __init__(
        self,
        feed: Feed,
        epoch: int,
        convert: Callable[[Minibatch], dict[str, Any]],
        device: torch.device,
        ahead: int,
    ) -> None:
        super().__init__(feed, epoch, convert, ahead)
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._free = [_Slot() for _ in range(ahead + 1)]

    def _send(self, minibatch: Minibatch) -> tuple[dict[str, Any], _Slot]:
        slot = self._free.pop(0)
        slot.copied.synchronize()
        batch = self._convert(minibatch)
        with torch.cuda.stream(self._stream):
            sent = {name: self._sent(slot, name, value) for name, value in batch.items()}
            slot.copied.record(self._stream)
        return sent, slot

    def _arrived(self, sent: tuple[dict[str, Any], _Slot]) -> dict[str, Any]:
        batch, slot = sent
        current = torch.cuda.current_stream(self._device)
        current.wait_event(slot.copied)
        for tensor in _tensors(batch):
            tensor.record_stream(current)
        self._free.append(slot)
        return batch

    def _sent(self, slot: _Slot, name: str, value: Any) -> Any:
        def send(number: int, tensor: torch.Tensor) -> torch.Tensor:
            return slot.pin((name, number), tensor).to(self._device, non_blocking=True)

        if isinstance(value, torch.Tensor):
            return send(0, value)
        if isinstance(value, Sparse):
            numbers = count()
            return each_part(value, lambda part: send(next(numbers), part))
        if isinstance(value, dict):
            return {key: send(n, part) for n, (key, part) in enumerate(value.items())}
        return value


def _tensors(batch: dict[str, Any]) -> list[torch.Tensor]:
    tensors: list[torch.Tensor] = []
    for value in batch.values():
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, Sparse) else [value]
        tensors += [part for part in parts if isinstance(part, torch.Tensor)]
    return tensors
