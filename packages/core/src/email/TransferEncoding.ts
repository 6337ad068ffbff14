/** How the bytes of a MIME part are written (RFC 2045, section 6); `identity` is any encoding that changes nothing. */
export type TransferEncoding = "identity" | "base64" | "quoted-printable"

/** Decodes the body of a part from pieces of any size, in time and memory proportional to the piece. */
export interface TransferDecoder {
  readonly decode: (piece: Uint8Array) => Uint8Array
  /** Returns the bytes that remain after the last piece. */
  readonly end: () => Uint8Array
}

const NOTHING = new Uint8Array(0)

/** Never fails: bytes that are not valid in the encoding are skipped in base64, and kept in quoted-printable. */
export const makeDecoder = (encoding: TransferEncoding): TransferDecoder => {
  switch (encoding) {
    case "identity":
      return { decode: (piece) => piece, end: () => NOTHING }
    case "base64":
      return base64Decoder()
    case "quoted-printable":
      return quotedPrintableDecoder()
  }
}

const PAD = 0x3d
const NO_DIGIT = 64
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
/** The value of each byte as a digit of base64. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = BASE64.indexOf(String.fromCharCode(byte))
  return value < 0 ? NO_DIGIT : value
})

const base64Decoder = (): TransferDecoder => {
  let pendingBits = 0
  let pendingCount = 0
  return {
    decode: (piece) => {
      const bytes = new Uint8Array(Math.ceil((piece.length * 3) / 4) + 1)
      let length = 0
      // Local variables make the loop several times faster.
      let bits = pendingBits
      let bitCount = pendingCount
      for (const byte of piece) {
        const digit = DIGITS[byte]!
        // Padding ends a unit; another one may follow it.
        if (byte === PAD) bitCount = 0
        if (digit === NO_DIGIT) continue
        bits = ((bits << 6) | digit) & 0xfff
        bitCount += 6
        if (bitCount < 8) continue
        bitCount -= 8
        bytes[length++] = bits >> bitCount
      }
      pendingBits = bits
      pendingCount = bitCount
      return bytes.subarray(0, length)
    },
    end: () => NOTHING
  }
}

const EQUALS = 0x3d
const CR = 0x0d
const LF = 0x0a

/** Returns the value of a hexadecimal digit, or -1. */
const hexValue = (byte: number): number => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? -1 : value
}

const quotedPrintableDecoder = (): TransferDecoder => {
  /** The equals sign and what followed it so far: an escape or a soft line break that has not ended. */
  let begun: Array<number> = []
  return {
    decode: (piece) => {
      const bytes = new Uint8Array(piece.length + begun.length)
      let length = 0
      const write = (more: ReadonlyArray<number>) => {
        bytes.set(more, length)
        length += more.length
      }
      for (const byte of piece) {
        const [, first] = begun
        if (begun.length === 0) {
          if (byte === EQUALS) begun = [byte]
          else bytes[length++] = byte
        } else if (byte === LF && (first === undefined || first === CR)) begun = []
        else if (first === undefined && (byte === CR || hexValue(byte) >= 0)) begun.push(byte)
        else if (first !== undefined && first !== CR && hexValue(byte) >= 0) {
          write([(hexValue(first) << 4) | hexValue(byte)])
          begun = []
        } else {
          write(begun)
          begun = []
          if (byte === EQUALS) begun = [byte]
          else bytes[length++] = byte
        }
      }
      return bytes.subarray(0, length)
    },
    // A single equals sign at the end is a soft line break whose line break belongs to the boundary.
    end: () => (begun.length <= 1 ? NOTHING : Uint8Array.from(begun))
  }
}
