"""Minibatches copied to a CUDA device beside what it computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any

import torch

from seqfeed._epochs import EpochIterator, each_part
from seqfeed._seqfeed import Feed, Minibatch
from seqfeed._types import Sparse


class _Slot:
    """Pinned memory for one minibatch, used again once its copy to the device is done."""

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


class CudaIterator(EpochIterator[dict[str, Any]]):
    """Keeps minibatches on their way to the device."""

    def __init__(
        self,
        feed: Feed,
        epoch: int,
        convert: Callable[[Minibatch], dict[str, Any]],
        device: torch.device,
        ahead: int,
    ) -> None:
        super().__init__(feed, epoch, convert)
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._free = [_Slot() for _ in range(ahead + 1)]
        self._coming: deque[tuple[dict[str, Any], _Slot, dict[str, Any]]] = deque()
        self._ahead, self._state, self._done = ahead, feed.state_dict(), False

    def __next__(self) -> dict[str, Any]:
        if self._ended:
            raise StopIteration
        while not self._done and len(self._coming) <= self._ahead:
            minibatch = next(self._feed, None)
            if minibatch is None:
                self._done = True
                break
            self._send(minibatch)
        if not self._coming:
            self.close()
            raise StopIteration
        batch, slot, self._state = self._coming.popleft()
        current = torch.cuda.current_stream(self._device)
        current.wait_event(slot.copied)
        for tensor in _tensors(batch):
            tensor.record_stream(current)
        self._free.append(slot)
        return batch

    def _send(self, minibatch: Minibatch) -> None:
        slot = self._free.pop(0)
        slot.copied.synchronize()
        batch = self._convert(minibatch)
        with torch.cuda.stream(self._stream):
            sent = {name: self._sent(slot, name, value) for name, value in batch.items()}
            slot.copied.record(self._stream)
        self._coming.append((sent, slot, minibatch.state_dict()))

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

    def close(self) -> None:
        self._coming.clear()
        super().close()

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "feed": self._state}


def _tensors(batch: dict[str, Any]) -> list[torch.Tensor]:
    tensors: list[torch.Tensor] = []
    for value in batch.values():
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, Sparse) else [value]
        tensors += [part for part in parts if isinstance(part, torch.Tensor)]
    return tensors
