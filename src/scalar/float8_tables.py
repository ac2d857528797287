#!/usr/bin/env python3
"""Prints float8_tables.c: what each code of the four float8 types is as a float32, and each magnitude as a bfloat16.

usage: float8_tables.py > float8_tables.c
"""

# name, exponent bits, mantissa bits, exponent bias, which codes are not numbers
FORMATS = [
    ("float8e4m3fn", 4, 3, 7, "all ones is NaN"),
    ("float8e4m3fnuz", 4, 3, 8, "-0 is NaN"),
    ("float8e5m2", 5, 2, 15, "as in IEEE 754"),
    ("float8e5m2fnuz", 5, 2, 16, "-0 is NaN"),
]


def decode(code, exponent_bits, mantissa_bits, bias, special):
    """The value of `code` as a C expression."""
    sign = "-" if code & 0x80 else ""
    magnitude = code & 0x7F
    mantissa = magnitude & ((1 << mantissa_bits) - 1)
    exponent = magnitude >> mantissa_bits
    if special == "all ones is NaN" and magnitude == 0x7F:
        return "NAN"
    if special == "-0 is NaN" and code == 0x80:
        return "NAN"
    if special == "as in IEEE 754" and exponent == (1 << exponent_bits) - 1:
        return "NAN" if mantissa else sign + "INFINITY"
    if exponent == 0:  # subnormal or zero: no implicit one
        exponent = 1
    else:
        mantissa += 1 << mantissa_bits
    return f"{sign}0x{mantissa:x}p{exponent - bias - mantissa_bits:+d}f"


def bfloat16(code, exponent_bits, mantissa_bits, bias, special):
    """The bits of the magnitude `code`; every float8 number is a bfloat16."""
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = code >> mantissa_bits
    value = decode(code, exponent_bits, mantissa_bits, bias, special)
    if value in ("NAN", "INFINITY"):
        return {"NAN": 0x7FC0, "INFINITY": 0x7F80}[value]
    if exponent == 0:
        if mantissa == 0:
            return 0
        shift = mantissa_bits + 1 - mantissa.bit_length()  # moves the leading one to its place
        mantissa = (mantissa << shift) & ((1 << mantissa_bits) - 1)
        exponent = 1 - shift
    return (exponent - bias + 127) << 7 | mantissa << (7 - mantissa_bits)


def print_rows(cells, width):
    for row in range(0, len(cells), width):
        print("    " + ", ".join(cells[row:row + width]) + ",")


def main():
    print("/* Made by float8_tables.py. */")
    print('#include "scalar/float8_tables.h"\n\n#include <math.h>\n\n/* clang-format off */')
    for name, *layout in FORMATS:
        print(f"\nconst float dql_{name}[256] = {{")
        print_rows([decode(code, *layout) for code in range(256)], 8)
        print("};")
        print(f"\nconst uint8_t dql_{name}_planes[256] = {{")
        # where -0 is NaN, the greatest magnitude comes first: flip_of_index() in x86/avx512vbmi_float8.h says why
        magnitudes = range(127, -1, -1) if layout[-1] == "-0 is NaN" else range(128)
        halves = [bfloat16(code, *layout) for code in magnitudes]
        print_rows([f"0x{half & 0xff:02x}" for half in halves] + [f"0x{half >> 8:02x}" for half in halves], 16)
        print("};")


if __name__ == "__main__":
    main()
