#!/usr/bin/env python3
"""Prints float8_tables.c: the float32 value of each code of the four float8 types.

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


def main():
    print("/* Made by float8_tables.py. */")
    print('#include "scalar/float8_tables.h"\n\n#include <math.h>\n\n/* clang-format off */')
    for name, *layout in FORMATS:
        print(f"\nconst float dql_{name}[256] = {{")
        for row in range(0, 256, 8):
            print("    " + ", ".join(decode(code, *layout) for code in range(row, row + 8)) + ",")
        print("};")


if __name__ == "__main__":
    main()
