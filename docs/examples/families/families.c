/*
 * The input families of spec/random.md (RND-01 to RND-10) in C99, integers only.
 *
 *     cc -std=c99 -O2 -o families families.c
 *     ./families FAMILY TYPE SEED OPERAND FIRST COUNT CHANNELS [LO HI]
 *
 * Prints elements FIRST, FIRST + 1, ... as hex words, one a line. TYPE is bf16 or f32; CHANNELS is the length of the
 * quantized axis, which outlier-channel alone uses; LO and HI are the ends of ladder's exponent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS, BITS_ANY, GAUSS, LADDER, TIES, OUTLIER_ELEMENT, OUTLIER_CHANNEL, ZEROS_MIXED, FAMILIES }; /* RND-03 */
static const char *const names[FAMILIES] = {
    "bits", "bits-any", "gauss", "ladder", "ties", "outlier-element", "outlier-channel", "zeros-mixed"};

typedef struct {
    int family, f; /* f: fraction bits, 7 for BF16, 23 for FP32 */
    uint64_t seed;
    uint32_t operand;
    uint64_t channels;
    int64_t lo, hi;
} draw;

/* RND-01, RND-02. Philox4x32-10 of an index for one use. */
static void philox(const draw *d, uint64_t index, uint32_t use, uint32_t c[4]) {
    uint32_t k0 = (uint32_t)d->seed, k1 = (uint32_t)(d->seed >> 32);
    c[0] = (uint32_t)index, c[1] = (uint32_t)(index >> 32), c[2] = (uint32_t)d->family, c[3] = use + 16 * d->operand;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0, c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1, c[3] = (uint32_t)p0;
        k0 += UINT32_C(0x9E3779B9), k1 += UINT32_C(0xBB67AE85);
    }
}

/* RND-02. The word of n x 2^k, rounded once, half-even, to f fraction bits; n is below 2^25, and a zero n has no sign. */
static uint32_t rounded(int64_t n, int64_t k, int f) {
    if (n == 0) return 0;
    uint64_t m = (uint64_t)(n < 0 ? -n : n), units;
    int64_t e = k;
    for (uint64_t rest = m; rest > 1; rest >>= 1) e++;
    int64_t q = (e < -126 ? -126 : e) - f; /* the exponent of the last place, that of a subnormal at least */
    int64_t d = q - k > 40 ? 40 : q - k;   /* 40 places already leave nothing of n */
    if (d <= 0) units = m << -d;
    else units = (m + (UINT64_C(1) << (d - 1)) - 1 + ((m >> d) & 1)) >> d;
    /* The code of units x 2^q. Codes run on from binade to binade, so a carry needs no care. */
    uint64_t word = units + ((uint64_t)(q + f + 126) << f), infinity = UINT64_C(0xFF) << f;
    return (uint32_t)(word < infinity ? word : infinity) | (uint32_t)(n < 0) << (f + 8);
}

/* RND-02 to RND-10. The word of element i. */
static uint32_t element(const draw *d, uint64_t i) {
    uint32_t a[4], b[4], g[4];
    philox(d, i, 0, a);
    if (d->family == BITS || d->family == BITS_ANY) {
        uint32_t word = d->f == 7 ? a[0] & 0xFFFF : a[0], top = UINT32_C(0xFF) << d->f;
        return d->family == BITS && (word & top) == top ? word - (UINT32_C(1) << d->f) : word;
    }
    philox(d, i, 1, b);
    philox(d, d->family == OUTLIER_CHANNEL ? i % d->channels : i / 64, 2, g);
    if (d->family == TIES) {
        int64_t m = i % 32 == 0 ? 56 : a[0] % 57; /* 7 x 2^E is 56 x 2^(E - 3) */
        return rounded(b[2] & 1 ? -m : m, -8 + (int64_t)(g[0] % 17) - 3, d->f);
    }
    if (d->family == ZEROS_MIXED && b[2] % 4 < 2) return b[2] % 4 << (d->f + 8);
    int64_t s = -393210, e = 0;
    for (int j = 0; j < 4; j++) s += (a[j] & 0xFFFF) + (a[j] >> 16);
    for (int j = 0; j < 2; j++) s += (b[j] & 0xFFFF) + (b[j] >> 16);
    if (d->family == OUTLIER_ELEMENT && b[2] % 100 == 0) s *= 50;
    if (d->family == OUTLIER_CHANNEL && g[0] % 100 == 0) s *= 30;
    if (d->family == LADDER) e = d->lo + (int64_t)g[0] % (d->hi - d->lo + 1);
    return rounded(s, e - 16, d->f);
}

int main(int argc, char **argv) {
    draw d = {.family = 0, .lo = -20, .hi = 20};
    if (argc == 8 || argc == 10) {
        while (d.family < FAMILIES && strcmp(argv[1], names[d.family]) != 0) d.family++;
        d.f = strcmp(argv[2], "bf16") == 0 ? 7 : strcmp(argv[2], "f32") == 0 ? 23 : 0;
    }
    if (d.f == 0 || d.family == FAMILIES) {
        fprintf(stderr, "usage: families FAMILY TYPE SEED OPERAND FIRST COUNT CHANNELS [LO HI]\nFAMILY:");
        for (int j = 0; j < FAMILIES; j++) fprintf(stderr, " %s", names[j]);
        fprintf(stderr, "; TYPE: bf16 or f32\n");
        return 2;
    }
    d.seed = strtoull(argv[3], NULL, 10);
    d.operand = (uint32_t)strtoul(argv[4], NULL, 10);
    uint64_t first = strtoull(argv[5], NULL, 10), count = strtoull(argv[6], NULL, 10);
    d.channels = strtoull(argv[7], NULL, 10);
    if (argc == 10) d.lo = strtoll(argv[8], NULL, 10), d.hi = strtoll(argv[9], NULL, 10);
    for (uint64_t i = first; i < first + count; i++) printf("%0*" PRIx32 "\n", d.f == 7 ? 4 : 8, element(&d, i));
    return 0;
}
