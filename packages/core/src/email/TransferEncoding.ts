import type { AttachmentSource } from "./Message.ts"

/**
 * How the bytes of a MIME part are written (RFC 2045, section 6); `identity` is any encoding that changes nothing, and
 * `octet-strings` the parts of a constructed OCTET STRING in BER (X.690, section 8.7), as S/MIME uses them.
 */
export type TransferEncoding = "identity" | "base64" | "quoted-printable" | "octet-strings"

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
    case "octet-strings":
      return octetStringsDecoder()
  }
}

/** Returns a decoder of the part of a stream that begins at `offset`. */
const windowDecoder = (offset: number, bytes: number, encoding: TransferEncoding): TransferDecoder => {
  const decoder = makeDecoder(encoding)
  let at = 0
  return {
    decode: (piece) => {
      const start = Math.min(Math.max(offset - at, 0), piece.length)
      const end = Math.min(Math.max(offset + bytes - at, 0), piece.length)
      at += piece.length
      return decoder.decode(piece.subarray(start, end))
    },
    end: decoder.end
  }
}

/** Returns a decoder of a file from the encoded bytes at its place in the raw mail. */
export const sourceDecoder = ({ encoding, inside = [] }: AttachmentSource): TransferDecoder =>
  inside.reduce<TransferDecoder>((outer, place) => {
    const inner = windowDecoder(place.offset, place.encodedBytes, place.encoding)
    return {
      decode: (piece) => inner.decode(outer.decode(piece)),
      end: () => {
        const last = inner.decode(outer.end())
        const end = inner.end()
        const bytes = new Uint8Array(last.length + end.length)
        bytes.set(last)
        bytes.set(end, last.length)
        return bytes
      }
    }
  }, makeDecoder(encoding))

const OCTET_STRING = 0x04
const CONSTRUCTED = 0x20

const octetStringsDecoder = (): TransferDecoder => {
  let tag: number | undefined
  /** Bytes of the length that follow; undefined before its first byte. */
  let digits: number | undefined
  let left = 0
  return {
    decode: (piece) => {
      const bytes = new Uint8Array(piece.length)
      let length = 0
      for (let at = 0; at < piece.length;) {
        if (tag !== undefined && digits === 0) {
          const taken = Math.min(left, piece.length - at)
          if (tag === OCTET_STRING) {
            bytes.set(piece.subarray(at, at + taken), length)
            length += taken
          }
          at += taken
          left -= taken
          if (left === 0) tag = digits = undefined
          continue
        }
        const byte = piece[at++]!
        if (tag === undefined) tag = byte
        else if (digits === undefined) {
          digits = byte < 0x80 ? 0 : byte & 0x7f
          left = byte < 0x80 ? byte : 0
        } else {
          left = left * 256 + byte
          digits--
        }
        // The contents of a constructed string are strings, and an end of contents is empty.
        const isHeadRead = digits === 0
        if (isHeadRead && ((tag & CONSTRUCTED) !== 0 || left === 0)) tag = digits = undefined
      }
      return bytes.subarray(0, length)
    },
    end: () => NOTHING
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
      for (let at = 0; at < piece.length;) {
        // Whole units, in a quarter of the time.
        for (; bitCount === 0 && at + 4 <= piece.length; at += 4) {
          const first = DIGITS[piece[at]!]!
          const second = DIGITS[piece[at + 1]!]!
          const third = DIGITS[piece[at + 2]!]!
          const fourth = DIGITS[piece[at + 3]!]!
          if (((first | second | third | fourth) & NO_DIGIT) !== 0) break
          bytes[length++] = (first << 2) | (second >> 4)
          bytes[length++] = (second << 4) | (third >> 2)
          bytes[length++] = (third << 6) | fourth
        }
        const byte = piece[at++]
        if (byte === undefined) break
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

/** The value of each byte as a hexadecimal digit; -1 of others. */
const HEX_DIGITS = Int8Array.from({ length: 256 }, (_, byte) =>
  "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase())
)
const hexValue = (byte: number): number => HEX_DIGITS[byte]!

/** Limit of an encoded line (RFC 2045, section 6.7). */
const LINE_BYTES = 76
const SPACE = 0x20
const TAB = 0x09

/** Whether a byte pads a soft line break (RFC 2045, section 6.7): a relay may have added it. */
const isPadding = (byte: number | undefined): boolean => byte === SPACE || byte === TAB
/** Whether what begins with this byte after the equals sign can become a soft line break. */
const isSoftBreak = (first: number | undefined): boolean => first === undefined || first === CR || isPadding(first)

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
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at]!
        if (begun.length === 0) {
          if (byte !== EQUALS) {
            bytes[length++] = byte
            continue
          }
          const value = at + 2 < piece.length ? (hexValue(piece[at + 1]!) << 4) | hexValue(piece[at + 2]!) : -1
          if (value < 0) begun = [byte]
          else {
            bytes[length++] = value
            at += 2
          }
          continue
        }
        const [, first] = begun
        if (byte === LF && isSoftBreak(first)) begun = []
        else if (first === undefined && (byte === CR || hexValue(byte) >= 0)) begun.push(byte)
        else if (isPadding(byte) && isSoftBreak(first) && begun.length < LINE_BYTES) begun.push(byte)
        else if (byte === CR && isPadding(first)) begun.push(byte)
        else if (first !== undefined && hexValue(first) >= 0 && hexValue(byte) >= 0) {
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
