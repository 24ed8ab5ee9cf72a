"""tf.flags: command line flags as `--name=value`."""

from __future__ import annotations

import os
import sys
from typing import Any
from emplace.framework import listing as _listing


class Error(Exception):
    """A flag is unknown or its value does not fit."""


class IllegalFlagValueError(Error):
    """A flag was given a value that its type or a validator refuses."""


class ValidationError(Error):
    """What a validator may raise."""


class UnrecognizedFlagError(Error):
    """The command line has a flag that nobody defined."""


class UnparsedFlagAccessError(Error):
    """A flag was asked for before the command line was parsed."""


class DuplicateFlagError(Error):
    """Two flags were defined with one name."""


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
        object.__setattr__(self, "_validators", [])  # (names, function of their values, words)
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
        for names, fits, words in self._validators:
            values = {n: self._flags[n].value for n in names}
            try:
                good = fits(values)
            except ValidationError as e:
                good, words = False, str(e)
            if not good:
                said = ", ".join(f"flag --{n}={v}" for n, v in values.items())
                raise IllegalFlagValueError(f"{said}: {words}")

    def get_help(self) -> str:
        """All flags with their help and defaults, as text."""
        return "\n".join(f"  --{f.name}: {f.help}\n    (default: {f.default!r})" for f in self._flags.values())

    def is_parsed(self) -> bool:
        """Whether the command line has been parsed, so that values can be had."""
        return self._parsed

    def mark_as_parsed(self) -> None:
        """Lets values be had without a command line: tests use it."""
        object.__setattr__(self, "_parsed", True)

    def unparse_flags(self) -> None:
        """Makes values unavailable until the command line is parsed again."""
        object.__setattr__(self, "_parsed", False)

    def flag_values_dict(self) -> dict[str, Any]:
        """All values by their flag's name."""
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
    function.__doc__ = f"Defines a flag of type {kind}: its value is `FLAGS.name`, `default` unless the command line says another."
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


def _one_of(allowed: Any) -> Any:
    def parse(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"value should be one of <{'|'.join(allowed)}>")
        return value

    return parse


def DEFINE_enum(name: str, default: Any, enum_values: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    """Defines a flag whose value is one of the words `enum_values`."""
    FLAGS._define(_Flag(name, default, help, "enum", _one_of(enum_values)))


def _define_multi(name: str, default: Any, help_text: str, one: Any) -> None:
    """A flag that may be given several times; its value is a list."""

    def parse(value: Any) -> Any:
        flag = FLAGS[name]
        return ([] if not flag.present else list(flag.value)) + [one(value)]

    if default is not None:
        default = [one(v) for v in (default if isinstance(default, (list, tuple)) else [default])]
    FLAGS._define(_Flag(name, default, help_text, "multi", parse))


def DEFINE_multi_string(name: str, default: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    """Defines a flag that may be given more than once; its value is the list of texts."""
    _define_multi(name, default, help, str)


def DEFINE_multi_integer(name: str, default: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    """Defines a flag that may be given more than once; its value is the list of integers."""
    _define_multi(name, default, help, int)


def DEFINE_multi_float(name: str, default: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    """Defines a flag that may be given more than once; its value is the list of numbers."""
    _define_multi(name, default, help, float)


def DEFINE_multi_enum(name: str, default: Any, enum_values: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    """Defines a flag that may be given more than once; its value is a list of words out of `enum_values`."""
    _define_multi(name, default, help, _one_of(enum_values))


def DEFINE_enum_class(name: str, default: Any, enum_class: Any, help: str = "", **_: Any) -> None:  # noqa: A002, N802
    """Defines a flag whose value is a member of a Python enum, given by name in any case."""
    def parse(value: Any) -> Any:
        if isinstance(value, enum_class):
            return value
        by_name = {member.lower(): enum_class[member] for member in enum_class.__members__}
        if str(value).lower() not in by_name:
            raise ValueError(f"value should be one of <{'|'.join(enum_class.__members__)}>")
        return by_name[str(value).lower()]

    FLAGS._define(_Flag(name, None if default is None else parse(default), help, "enum", parse))


def DEFINE_alias(name: str, original_name: str, **_: Any) -> None:  # noqa: N802
    """Another name for a flag."""
    if original_name not in FLAGS:
        raise UnrecognizedFlagError(f"Unknown command line flag '{original_name}'")
    FLAGS._flags[name] = FLAGS[original_name]


def set_default(flag_holder_or_name: Any, value: Any) -> None:
    """Changes a flag's default, and its value unless the command line gave one."""
    flag = FLAGS[flag_holder_or_name]
    flag.default = value
    if not flag.present:
        flag.value = value


def register_validator(flag_name: str, checker: Any, message: str = "Flag validation failed", flag_values: Any = None) -> None:
    """Asked when the flags are parsed; what it does not like is refused."""
    FLAGS._validators.append(([flag_name], lambda values: checker(values[flag_name]), message))


def validator(flag_name: str, message: str = "Flag validation failed", flag_values: Any = None) -> Any:
    """Decorates a function that says whether a flag's value is allowed."""
    def decorate(function: Any) -> Any:
        register_validator(flag_name, function, message)
        return function

    return decorate


def register_multi_flags_validator(flag_names: Any, multi_flags_checker: Any, message: str = "Flags validation failed", flag_values: Any = None) -> None:
    """Has `multi_flags_checker` look at the values of several flags, a dict by name, once they are parsed."""
    FLAGS._validators.append((list(flag_names), multi_flags_checker, message))


def multi_flags_validator(flag_names: Any, message: str = "Flag validation failed", flag_values: Any = None) -> Any:
    """Decorates a function that says whether the values of several flags, a dict by name, go together."""
    def decorate(function: Any) -> Any:
        register_multi_flags_validator(flag_names, function, message)
        return function

    return decorate


def mark_flags_as_mutual_exclusive(flag_names: Any, required: bool = False, flag_values: Any = None) -> None:
    """At most one of these flags may have a value; with `required` exactly one must."""
    def fits(values: dict[str, Any]) -> bool:
        given = sum(v is not None for v in values.values())
        return given == 1 or not required and given == 0

    words = f"{'Exactly' if required else 'At most'} one of ({', '.join(flag_names)}) must have a value other than None."
    register_multi_flags_validator(flag_names, fits, words)


def declare_key_flag(flag_name: str, flag_values: Any = None) -> None:
    """Says which flags the help of a program names first; all are named here."""


def adopt_module_key_flags(module: Any, flag_values: Any = None) -> None:
    """Does nothing, as `declare_key_flag`: help lists all flags."""


def mark_flag_as_required(flag_name: str, flag_values: Any = None) -> None:
    """Parsing fails unless this flag has a value."""
    FLAGS._required.append(flag_name)


def mark_flags_as_required(flag_names: Any, flag_values: Any = None) -> None:
    """Parsing fails unless each of these flags has a value."""
    for name in flag_names:
        mark_flag_as_required(name)

__dir__ = _listing.of_module(globals())
