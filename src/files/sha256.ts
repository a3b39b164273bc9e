/** SHA-256 of bytes as 64 lower-case hex digits; the caller brings it, since every platform has its own. */
export type Sha256 = (bytes: Uint8Array) => string;
