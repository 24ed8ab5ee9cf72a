"""What torch reaches on this card, for `bench/run gpu --peers FILE`: lines "row peer value"."""
import sys
import time

import torch


def seconds(step, repetitions):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    best = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repetitions):
            step()
        torch.cuda.synchronize()
        best.append((time.perf_counter() - start) / repetitions)
    return sorted(best)[len(best) // 2]


def graphed(step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def chain(op, length, scale):
    x = torch.randn(64, 64, device="cuda") * scale

    def step():
        y = x
        for _ in range(length):
            y = op(y, x)
        return y

    return step


def mlp():
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
        torch.nn.Linear(512, 10)).cuda()
    x = torch.randn(128, 784, device="cuda")
    labels = torch.softmax(torch.randn(128, 10, device="cuda"), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss_of(model(x), labels).backward()
        optimizer.step()

    return step


def cifar():
    pool = dict(kernel_size=3, stride=2, padding=1)
    lrn = dict(size=9, alpha=0.001, beta=0.75, k=1.0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(**pool), nn.LocalResponseNorm(**lrn),
        nn.Conv2d(64, 64, 5, padding=2), nn.ReLU(), nn.LocalResponseNorm(**lrn), nn.MaxPool2d(**pool),
        nn.Flatten(), nn.Linear(2304, 384), nn.ReLU(), nn.Linear(384, 192), nn.ReLU(),
        nn.Linear(192, 10)).cuda()
    x = torch.randn(128, 3, 24, 24, device="cuda")
    labels = torch.softmax(torch.randn(128, 10, device="cuda"), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss_of(model(x), labels).backward()
        optimizer.step()

    return step


def main(path):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    rows = []
    add, mul = chain(torch.add, 1000, 1.0), chain(torch.matmul, 1000, 0.1)
    rows.append(("add-chain-1000-64x64", "torch-graph", seconds(graphed(add), 50) * 1e3))
    rows.append(("add-chain-1000-64x64", "torch-eager", seconds(add, 3) * 1e3))
    rows.append(("matmul-chain-1000-64x64", "torch-graph", seconds(graphed(mul), 20) * 1e3))
    step = mlp()
    rows.append(("mlp-step", "torch-eager", seconds(step, 50) * 1e6))
    rows.append(("mlp-step", "torch-graph", seconds(graphed(step), 100) * 1e6))
    step = cifar()
    rows.append(("cifar10-step", "torch-eager", seconds(step, 30) * 1e6))
    rows.append(("cifar10-step", "torch-graph", seconds(graphed(step), 50) * 1e6))
    for name, dtype in (("bf16", torch.bfloat16), ("tf32", torch.float32)):
        a = torch.randn(8192, 8192, device="cuda", dtype=dtype)
        b = torch.randn(8192, 8192, device="cuda", dtype=dtype)
        time.sleep(5)  # a card that has multiplied for a while lowers its clock: see main.cc
        rows.append((f"matmul-8192-{name}", "torch",
                     2 * 8192**3 / seconds(lambda: a @ b, 5) / 1e12))
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    seconds(lambda: a @ b, 50)
    rows.append(("matmul-8192-bf16-sustained", "torch", 2 * 8192**3 / seconds(lambda: a @ b, 50) / 1e12))
    a = torch.randn(1 << 28, device="cuda")
    b, c = torch.randn_like(a), torch.empty_like(a)
    time.sleep(5)
    rows.append(("add-1GiB", "torch",
                 3 * 4 * (1 << 28) / seconds(lambda: torch.add(a, b, out=c), 20) / 1e9))
    host, back = (torch.randn(1 << 26).pin_memory() for _ in range(2))
    card, other = torch.empty(1 << 26, device="cuda"), torch.randn(1 << 26, device="cuda")
    side = torch.cuda.Stream()

    def both():
        card.copy_(host, non_blocking=True)
        with torch.cuda.stream(side):
            back.copy_(other, non_blocking=True)

    size = 4 * (1 << 26) / 1e9
    rows.append(("copy-in-256MiB", "torch-pinned",
                 size / seconds(lambda: card.copy_(host, non_blocking=True), 5)))
    rows.append(("copy-out-256MiB", "torch-pinned",
                 size / seconds(lambda: back.copy_(other, non_blocking=True), 5)))
    rows.append(("copy-both-ways-256MiB", "torch-pinned", 2 * size / seconds(both, 5)))
    with open(path, "w") as out:
        for row, peer, value in rows:
            print(row, peer, f"{value:.4f}", file=out)


main(sys.argv[1])
