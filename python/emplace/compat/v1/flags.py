"""tf.flags: command line flags as `--name=value`."""

from __future__ import annotations

import os
import sys
from typing import Any


class Error(Exception):
    """A flag is unknown or its value does not fit."""


class IllegalFlagValueError(Error):
    pass


class UnrecognizedFlagError(Error):
    pass


class UnparsedFlagAccessError(Error):
    pass


class DuplicateFlagError(Error):
    pass


class _Flag:
    def __init__(self, name: str, default: Any, help_text: str, kind: str, parse: Any) -> None:
        self.name, self.default, self.help, self.kind, self.parse = name, default, help_text, kind, parse
        self.value, self.present = default, 0

    def take(self, text: Any) -> None:
        try:
            self.value = self.parse(text)
        except ValueError as e:
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {e}") from None
        self.present += 1


class FlagValues:
    """All flags defined; parsed from sys.argv when first asked for."""

    def __init__(self) -> None:
        object.__setattr__(self, "_flags", {})
        object.__setattr__(self, "_required", [])
        object.__setattr__(self, "_parsed", False)

    def _define(self, flag: _Flag) -> None:
        if flag.name in self._flags:
            program = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "<unknown>"
            said = self._flags[flag.name].help
            raise DuplicateFlagError(f"The flag '{flag.name}' is defined twice. First from {program}, second from {program}. Description from first occurrence: {said}")
        self._flags[flag.name] = flag

    def __call__(self, argv: Any, known_only: bool = False) -> list[str]:
        rest = [argv[0]]
        arguments = list(argv[1:])
        object.__setattr__(self, "_parsed", True)
        while arguments:
            word = arguments.pop(0)
            if word == "--":
                rest += arguments
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                continue
            self._take(word, arguments, rest, known_only)
        self._check_required()
        return rest

    def _take(self, word: str, arguments: list[str], rest: list[str], known_only: bool) -> None:
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_") if name.replace("-", "_") in self._flags else name
        flag = self._flags.get(name)
        if flag is None and name.startswith("no") and self._flags.get(name[2:]) and self._flags[name[2:]].kind == "bool":
            self._flags[name[2:]].take("false")
        elif flag is None:
            if name in ("help", "h", "helpfull", "helpshort"):
                print(self.get_help())
                sys.exit(1)
            if not known_only:
                raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
            rest.append(word)
        elif equals:
            flag.take(value)
        elif flag.kind == "bool":
            flag.take("true")
        elif arguments:
            flag.take(arguments.pop(0))
        else:
            raise Error(f"Missing value for flag --{name}")

    def _check_required(self) -> None:
        for name in self._required:
            if self._flags[name].value is None:
                raise IllegalFlagValueError(f"flag --{name}=None: Flag --{name} must have a value other than None.")

    def get_help(self) -> str:
        return "\n".join(f"  --{f.name}: {f.help}\n    (default: {f.default!r})" for f in self._flags.values())

    def is_parsed(self) -> bool:
        return self._parsed

    def mark_as_parsed(self) -> None:
        object.__setattr__(self, "_parsed", True)

    def unparse_flags(self) -> None:
        object.__setattr__(self, "_parsed", False)

    def flag_values_dict(self) -> dict[str, Any]:
        return {n: f.value for n, f in self._flags.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._flags:
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        return self._flags[name].value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        self._flags[name].value = value
        self._flags[name].present += 1

    def __delattr__(self, name: str) -> None:
        self._flags.pop(name, None)

    def __getitem__(self, name: str) -> _Flag:
        return self._flags[name]

    def __contains__(self, name: object) -> bool:
        return name in self._flags

    def __iter__(self) -> Any:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)


FLAGS = FlagValues()


def _bool(value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() in ("true", "t", "1", "y", "yes"):
            return True
        if value.lower() in ("false", "f", "0", "n", "no"):
            return False
        raise ValueError("Non-boolean argument to boolean flag")
    return bool(value)


def _define(kind: str, parse: Any) -> Any:
    def function(name: str, default: Any, help: str = "", flag_values: Any = None, **_: Any) -> None:  # noqa: A002
        value = None if default is None else parse(default)
        (flag_values or FLAGS)._define(_Flag(name, value, help, kind, parse))

    function.__name__ = f"DEFINE_{kind}"
    return function


def _list(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return list(value)
    return [part.strip() for part in value.split(",")] if value else []


DEFINE_string = DEFINE_alias_string = _define("string", str)
DEFINE_integer = _define("integer", int)
DEFINE_float = _define("float", float)
DEFINE_bool = DEFINE_boolean = _define("bool", _bool)
DEFINE_list = _define("list", _list)
DEFINE_spaceseplist = _define("list", lambda v: v.split() if isinstance(v, str) else list(v))


def DEFINE_enum(name: str, default: Any, enum_values: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    def parse(value: Any) -> Any:
        if value not in enum_values:
            raise ValueError(f"value should be one of <{'|'.join(enum_values)}>")
        return value

    FLAGS._define(_Flag(name, default, help, "enum", parse))


def DEFINE_multi_string(name: str, default: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    def parse(value: Any) -> Any:
        flag = FLAGS[name]
        return ([] if not flag.present else list(flag.value)) + [value]

    FLAGS._define(_Flag(name, default, help, "multi", parse))


def mark_flag_as_required(flag_name: str, flag_values: Any = None) -> None:
    FLAGS._required.append(flag_name)


def mark_flags_as_required(flag_names: Any, flag_values: Any = None) -> None:
    for name in flag_names:
        mark_flag_as_required(name)
