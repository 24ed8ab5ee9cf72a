"""What README and docs speak of is there: options, variables, folders, pages."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def sources() -> str:
    files = [ROOT / "CMakeLists.txt", ROOT / "test", ROOT / "run", *ROOT.glob("cmake/**/*.cmake"), *ROOT.glob("tools/*"), *ROOT.glob("tests/install/*")]
    files += [f for folder in ("src", "python") for f in (ROOT / folder).rglob("*") if f.suffix in (".cc", ".h", ".py", ".txt")]
    return "\n".join(f.read_text() for f in files if f.is_file())


def test_the_standing_pages_are_there() -> None:
    for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"):
        assert (ROOT / name).is_file(), name
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 100
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text()


def test_variables_and_options_that_are_named_are_read() -> None:
    text = sources()
    for page in PAGES:
        for name in set(re.findall(r"\bEMPLACE_[A-Z0-9_]*[A-Z0-9]\b", page.read_text())):
            assert re.search(rf"\b{name}\b", text) or re.search(r"EMPLACE_WITH_\$\{", text) and optional(name, text), f"{page.name}: {name}"


def optional(name: str, text: str) -> bool:
    """Options that emplace_optional or a loop over codecs makes."""
    which = name.removeprefix("EMPLACE_WITH_")
    return bool(re.search(rf"emplace_optional\({which} |foreach\(codec[^)]*\b{which}\b", text))


def test_every_option_of_the_build_builds_something() -> None:
    text = sources()
    for name in re.findall(r"^option\((\w+)", text, re.M):
        assert len(re.findall(rf"\b{name}\b", text)) > 1, name
    for folder in re.findall(r"^([a-z/]+):", (ROOT / "cmake" / "layers.txt").read_text(), re.M):
        assert (ROOT / "src" / folder).is_dir(), f"cmake/layers.txt: {folder}"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
