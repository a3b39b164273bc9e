#!/usr/bin/env python3
"""The input families of spec/random.md (RND-01 to RND-10) in Python 3.8 or later, integers only.

    python3 families.py FAMILY TYPE SEED OPERAND FIRST COUNT CHANNELS [LO HI]

Prints elements FIRST, FIRST + 1, ... as hex words, one a line. TYPE is bf16 or f32; CHANNELS is the length of the quantized
axis, which outlier-channel alone uses; LO and HI are the ends of ladder's exponent.
"""
import sys

MASK = 0xFFFFFFFF
FAMILIES = ("bits", "bits-any", "gauss", "ladder", "ties", "outlier-element", "outlier-channel", "zeros-mixed")  # RND-03
FRACTION_BITS = {"bf16": 7, "f32": 23}


def philox(seed, c0, c1, c2, c3):
    """RND-01. Philox4x32-10."""
    k0, k1 = seed & MASK, seed >> 32
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def rounded(n, k, f):
    """RND-02. The word of n x 2^k, rounded once, half-even, to f fraction bits; a zero n has no sign."""
    if n == 0:
        return 0
    m = abs(n)
    q = max(m.bit_length() - 1 + k, -126) - f  # the exponent of the last place, that of a subnormal at least
    d = q - k
    units = m << -d if d <= 0 else (m + (1 << (d - 1)) - 1 + ((m >> d) & 1)) >> d
    # The code of units x 2^q. Codes run on from binade to binade, so a carry needs no care.
    word = min(units + ((q + f + 126) << f), 0xFF << f)
    return word | (n < 0) << (f + 8)


def element(family, f, seed, operand, i, channels, lo=-20, hi=20):
    """RND-02 to RND-10. The word of element i."""
    def draw(index, use):
        return philox(seed, index & MASK, index >> 32, FAMILIES.index(family), use + 16 * operand)
    a = draw(i, 0)
    if family in ("bits", "bits-any"):
        word, top = a[0] & ((1 << (f + 9)) - 1), 0xFF << f
        return word - (1 << f) if family == "bits" and word & top == top else word
    b = draw(i, 1)
    g = draw(i % channels if family == "outlier-channel" else i // 64, 2)[0]
    if family == "ties":
        m = 56 if i % 32 == 0 else a[0] % 57  # 7 x 2^E is 56 x 2^(E - 3)
        return rounded(-m if b[2] & 1 else m, -8 + g % 17 - 3, f)
    if family == "zeros-mixed" and b[2] % 4 < 2:
        return (b[2] % 4) << (f + 8)
    s = sum((w & 0xFFFF) + (w >> 16) for w in a + b[:2]) - 393210
    times = 50 if family == "outlier-element" and b[2] % 100 == 0 else 1
    times = 30 if family == "outlier-channel" and g % 100 == 0 else times
    return rounded(s * times, (lo + g % (hi - lo + 1) if family == "ladder" else 0) - 16, f)


def main(args):
    if len(args) not in (7, 9) or args[0] not in FAMILIES or args[1] not in FRACTION_BITS:
        sys.exit("usage: families.py FAMILY TYPE SEED OPERAND FIRST COUNT CHANNELS [LO HI]\n"
                 "FAMILY: %s; TYPE: bf16 or f32" % ", ".join(FAMILIES))
    family, f = args[0], FRACTION_BITS[args[1]]
    seed, operand, first, count, channels, *ends = map(int, args[2:])
    for i in range(first, first + count):
        print("%0*x" % ((f + 9) // 4, element(family, f, seed, operand, i, channels, *ends)))


if __name__ == "__main__":
    main(sys.argv[1:])
