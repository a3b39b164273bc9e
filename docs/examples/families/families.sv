// The input families of spec/random.md (RND-01 to RND-10) in SystemVerilog, integers only.
//
//     iverilog -g2012 -o families.vvp families.sv
//     vvp -n families.vvp +FAMILY=.. +TYPE=.. +SEED=.. +OPERAND=.. +FIRST=.. +COUNT=.. +CHANNELS=.. [+LO=.. +HI=..]
//
// Prints elements FIRST, FIRST + 1, ... as hex words, one a line. TYPE is bf16 or f32; CHANNELS is the length of the
// quantized axis, which outlier-channel alone uses; LO and HI are the ends of ladder's exponent.
module families;
  localparam bit [31:0] BITS = 0, BITS_ANY = 1, LADDER = 3, TIES = 4,  // RND-03
      OUTLIER_ELEMENT = 5, OUTLIER_CHANNEL = 6, ZEROS_MIXED = 7, NONE = 8;

  bit [31:0] family, operand;
  bit [63:0] seed, first, count, channels;
  longint lo = -20, hi = 20;
  int f;  // fraction bits: 7 for BF16, 23 for FP32

  // RND-01, RND-02. Philox4x32-10 of an index for one use: word j is bits 32j and up.
  function automatic bit [127:0] philox(input bit [63:0] index, input bit [31:0] use_);
    bit [31:0] c0, c1, c2, c3, k0, k1;
    bit [63:0] p0, p1;
    {k1, k0} = seed;
    {c1, c0} = index;
    c2 = family;
    c3 = use_ + 16 * operand;
    repeat (10) begin
      p0 = 64'hD2511F53 * c0;
      p1 = 64'hCD9E8D57 * c2;
      c0 = p1[63:32] ^ c1 ^ k0;
      c1 = p1[31:0];
      c2 = p0[63:32] ^ c3 ^ k1;
      c3 = p0[31:0];
      k0 = k0 + 32'h9E3779B9;
      k1 = k1 + 32'hBB67AE85;
    end
    return {c3, c2, c1, c0};
  endfunction

  // RND-02. The word of n x 2^k, rounded once, half-even, to f fraction bits; n is below 2^25, and a zero n has no sign.
  function automatic bit [31:0] rounded(input longint n, input longint k);
    longint m, units, e, q, d, word, infinity;
    if (n == 0) return 0;
    m = n < 0 ? -n : n;
    e = k;
    for (longint rest = m; rest > 1; rest = rest >> 1) e = e + 1;
    q = (e < -126 ? -126 : e) - f;  // the exponent of the last place, that of a subnormal at least
    d = q - k > 40 ? 40 : q - k;  // 40 places already leave nothing of n
    if (d <= 0) units = m << -d;
    else units = (m + (64'sd1 << (d - 1)) - 1 + ((m >> d) & 1)) >> d;
    // The code of units x 2^q. Codes run on from binade to binade, so a carry needs no care.
    word = units + ((q + f + 126) << f);
    infinity = 64'sd255 << f;
    if (word > infinity) word = infinity;
    if (n < 0) word = word + (64'sd1 << (f + 8));
    return word[31:0];
  endfunction

  // RND-02 to RND-10. The word of element i.
  function automatic bit [31:0] element(input bit [63:0] i);
    bit [127:0] a, b;
    bit [191:0] halves;
    bit [31:0] a0, b2, g, word, top;
    longint m, s, e;
    a = philox(i, 0);
    a0 = a[31:0];
    if (family == BITS || family == BITS_ANY) begin
      word = f == 7 ? a0 & 32'hFFFF : a0;
      top = 32'hFF << f;
      return family == BITS && (word & top) == top ? word - (32'd1 << f) : word;
    end
    b = philox(i, 1);
    b2 = b[95:64];
    g = philox(family == OUTLIER_CHANNEL ? i % channels : i / 64, 2);  // its first word
    if (family == TIES) begin
      m = i % 32 == 0 ? 56 : a0 % 57;  // 7 x 2^E is 56 x 2^(E - 3)
      e = g % 17;
      return rounded(b2[0] ? -m : m, e - 8 - 3);
    end
    if (family == ZEROS_MIXED && b2 % 4 < 2) return (b2 % 4) << (f + 8);
    s = -393210;
    halves = {b[63:0], a};
    for (int j = 0; j < 12; j = j + 1) s = s + halves[16*j+:16];
    if (family == OUTLIER_ELEMENT && b2 % 100 == 0) s = s * 50;
    if (family == OUTLIER_CHANNEL && g % 100 == 0) s = s * 30;
    e = g;
    e = family == LADDER ? lo + e % (hi - lo + 1) : 0;
    return rounded(s, e - 16);
  endfunction

  bit [8*15-1:0] name;  // the longest has 15 characters
  bit [8*4-1:0] type_;
  bit [31:0] drawn;

  initial begin
    family = NONE;
    if ($value$plusargs("FAMILY=%s", name) && $value$plusargs("TYPE=%s", type_) && $value$plusargs("SEED=%d", seed)
        && $value$plusargs("OPERAND=%d", operand) && $value$plusargs("FIRST=%d", first)
        && $value$plusargs("COUNT=%d", count) && $value$plusargs("CHANNELS=%d", channels)) begin
      case (name)
        "bits": family = BITS;
        "bits-any": family = BITS_ANY;
        "gauss": family = 2;
        "ladder": family = LADDER;
        "ties": family = TIES;
        "outlier-element": family = OUTLIER_ELEMENT;
        "outlier-channel": family = OUTLIER_CHANNEL;
        "zeros-mixed": family = ZEROS_MIXED;
        default: family = NONE;
      endcase
      f = type_ == "bf16" ? 7 : type_ == "f32" ? 23 : 0;
    end
    if ($value$plusargs("LO=%d", lo)) if (!$value$plusargs("HI=%d", hi)) family = NONE;
    if (family == NONE || f == 0) $fatal(1, "expected +FAMILY +TYPE (bf16, f32) +SEED +OPERAND +FIRST +COUNT +CHANNELS [+LO +HI]");
    else
      for (bit [63:0] i = first; i < first + count; i = i + 1) begin
        drawn = element(i);
        if (f == 7) $display("%h", drawn[15:0]);
        else $display("%h", drawn);
      end
  end
endmodule
