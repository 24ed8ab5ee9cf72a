"""The same networks for torch, and through its export for ONNX Runtime."""

from __future__ import annotations

import io
from typing import Any, Callable

import inputs as of
import torch
import torch.nn.functional as F
from torch import nn


def conv(a: int, b: int, size: int, stride: int = 1, groups: int = 1) -> nn.Module:
    return nn.Sequential(nn.Conv2d(a, b, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(b))


class Block(nn.Module):
    def __init__(self, a: int, width: int, stride: int) -> None:
        super().__init__()
        self.a, self.b, self.c = conv(a, width, 1), conv(width, width, 3, stride), conv(width, 4 * width, 1)
        self.short = conv(a, 4 * width, 1, stride) if stride > 1 or a != 4 * width else nn.Identity()

    def forward(self, x: Any) -> Any:
        return F.relu(self.c(F.relu(self.b(F.relu(self.a(x))))) + self.short(x))


def resnet50() -> nn.Module:
    parts, a = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, (blocks, width) in enumerate(of.STAGES):
        for i in range(blocks):
            parts.append(Block(a, width, 2 if stage and not i else 1))
            a = 4 * width
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class Mobile(nn.Module):
    def __init__(self, a: int, size: int, inner: int, outer: int, squeezes: bool, swishes: bool, stride: int) -> None:
        super().__init__()
        act = nn.Hardswish if swishes else nn.ReLU
        self.up = nn.Sequential(conv(a, inner, 1), act()) if inner != a else nn.Identity()
        self.deep = nn.Sequential(conv(inner, inner, size, stride, inner), act())
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, inner // 4, 1), nn.ReLU(), nn.Conv2d(inner // 4, inner, 1), nn.Hardsigmoid()
        ) if squeezes else None
        self.down, self.adds = conv(inner, outer, 1), stride == 1 and a == outer

    def forward(self, x: Any) -> Any:
        y = self.deep(self.up(x))
        y = self.down(y * self.squeeze(y) if self.squeeze else y)
        return x + y if self.adds else y


def mobilenet() -> nn.Module:
    parts, a = [conv(3, 16, 3, 2), nn.Hardswish()], 16
    for size, inner, outer, squeezes, swishes, stride in of.MOBILE:
        parts.append(Mobile(a, size, inner, outer, squeezes, swishes, stride))
        a = outer
    return nn.Sequential(*parts, conv(a, 960, 1), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        n = of.HIDDEN
        self.qkv, self.o, self.u, self.d = nn.Linear(n, 3 * n), nn.Linear(n, n), nn.Linear(n, 4 * n), nn.Linear(4 * n, n)
        self.a, self.b = nn.LayerNorm(n, 1e-12), nn.LayerNorm(n, 1e-12)

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(x).view(x.shape[0], of.WORDS, 3, of.HEADS, -1).permute(2, 0, 3, 1, 4).unbind(0)
        x = self.a(x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)))
        return self.b(x + self.d(F.gelu(self.u(x))))


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.place = nn.Embedding(of.VOCABULARY, of.HIDDEN), nn.Parameter(torch.randn(of.WORDS, of.HIDDEN) * 0.05)
        self.norm, self.layers = nn.LayerNorm(of.HIDDEN, 1e-12), nn.Sequential(*[Layer() for _ in range(of.LAYERS)])

    def forward(self, ids: Any) -> Any:
        x = self.layers(self.norm(self.words(ids) + self.place))
        return F.linear(x.reshape(-1, of.HIDDEN), self.words.weight)


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(of.VOCABULARY, 100), nn.Linear(2 * of.UNITS, of.TAGS)
        self.lstm = nn.LSTM(100, of.UNITS, batch_first=True, bidirectional=True)

    def forward(self, ids: Any) -> Any:
        return self.out(self.lstm(self.words(ids))[0]).reshape(-1, of.TAGS)


def autoencoder() -> nn.Module:
    sizes, parts = (784, 512, 256, 64, 256, 512), []
    for a, b in zip(sizes, sizes[1:]):
        parts += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(512, 784))


NETWORKS = {"resnet50": resnet50, "mobilenet": mobilenet, "bert": Bert, "tagger": Tagger, "autoencoder": autoencoder}


def made(network: str, batch: int) -> tuple[nn.Module, Any, Any]:
    data, labels = (torch.from_numpy(v) for v in of.given(network, batch))
    net = NETWORKS[network]()
    if data.ndim == 4:
        data = data.permute(0, 3, 1, 2)  # channels last in memory
        net = net.to(memory_format=torch.channels_last)
    return net, data if data.is_floating_point() else data.long(), labels if labels.is_floating_point() else labels.long()


def step(network: str, mode: str, batch: int) -> Callable[[], Any]:
    net, data, labels = made(network, batch)
    if mode == "infer":
        net.eval()

        def infer() -> Any:
            with torch.inference_mode():
                return net(data)

        return infer
    adam = lambda p: torch.optim.Adam(p, 1e-4)  # noqa: E731
    optimizer = (lambda p: torch.optim.SGD(p, 0.01, 0.9) if network == "resnet50" else adam(p))(net.parameters())

    def train() -> Any:
        result = net(data)
        loss = F.mse_loss(result, labels) if network == "autoencoder" else F.cross_entropy(result, labels.reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return train


def onnx_step(network: str, mode: str, batch: int) -> Callable[[], Any]:
    import onnxruntime

    net, data, _ = made(network, batch)
    file = io.BytesIO()
    torch.onnx.export(net.eval(), (data.contiguous(),), file, dynamo=False, input_names=["x"])
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    values = data.contiguous().numpy()
    return lambda: session.run(None, {"x": values})
