import { isAscii, isUtf8 } from "node:buffer"
import iconv from "iconv-lite"

/** Limit of a label that is looked up, in characters. */
const LABEL_CHARACTERS = 40

/** Decoders that are kept. A mail can name any number of charsets. */
const DECODERS_MAX = 100

/** Names of UTF-8, as `plain` writes them. */
const UTF8 = new Set("utf8 xutf8 utf8mb3 utf8mb4 utf8bom unicode11utf8 unicode20utf8 cp65001 65001".split(" "))

/** Names of UTF-16 in any order, as `plain` writes them. */
const UTF16 = new Set("utf16 csutf16 ucs2 iso10646ucs2 csunicode unicode".split(" "))

/** Names that say nothing of bytes above 127, as `plain` writes them; the last ones are encodings of bytes. */
const UNKNOWN = new Set(
  "ascii usascii ansix341968 iso646us unknown unknown8bit xunknown xuserdefined userdefined default none 7bit 8bit binary base64 hex internal".split(
    " "
  )
)

/** Charsets by names that neither TextDecoder nor iconv-lite has. */
const ALIASES: Readonly<Record<string, string>> = {
  iso2022jp1: "iso-2022-jp",
  iso2022jp2: "iso-2022-jp",
  iso2022jp3: "iso-2022-jp",
  iso2022jpms: "iso-2022-jp",
  cp50220: "iso-2022-jp",
  cp50221: "iso-2022-jp",
  cp50222: "iso-2022-jp",
  eucjpms: "euc-jp",
  cp51932: "euc-jp",
  shiftjisx0213: "shift_jis",
  ksc56011987: "euc-kr",
  uhc: "euc-kr",
  gb180302000: "gb18030",
  gb180302022: "gb18030",
  shiftjis2004: "shift_jis",
  xmscp932: "shift_jis",
  xmacjapanese: "shift_jis",
  xwindows950: "big5",
  maccentraleurope: "maccenteuro",
  xmacce: "maccenteuro",
  xmaccentraleurroman: "maccenteuro",
  dos866: "ibm866",
  unicode11utf7: "utf-7",
  utf7imap: "utf-7",
  iso88598i: "iso-8859-8",
  iso88598e: "iso-8859-8"
}

type Decode = (bytes: Uint8Array) => string

/** A charset by its label: UTF-8, another one, or none that says how to read bytes above 127. */
type Charset = "utf-8" | "unknown" | Decode

const plain = (label: string): string => label.toLowerCase().replace(/[^a-z0-9]/g, "")

const textDecoder = (label: string): Decode | undefined => {
  try {
    const decoder = new TextDecoder(label)
    return (bytes) => decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const ESCAPE = 0x1b
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const LINE_FEED = 0x0a
const TILDE = 0x7e

/**
 * Decodes ISO-2022-KR (RFC 1557) and the part of ISO-2022-CN (RFC 1922) with GB 2312: two-byte characters are between
 * SO and SI or the end of the line, without their high bits.
 */
const decodeShifted = (bytes: Uint8Array, decode: Decode): string => {
  const plainBytes = new Uint8Array(bytes.length)
  let length = 0
  let high = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === SHIFT_OUT) high = 0x80
    else if (byte === SHIFT_IN) high = 0
    // The designation, such as ESC $ ) C.
    else if (byte === ESCAPE && bytes[at + 1] === 0x24) at += 3
    else {
      if (byte === LINE_FEED) high = 0
      plainBytes[length++] = byte > 0x20 ? byte | high : byte
    }
  }
  return decode(plainBytes.subarray(0, length))
}

/** Decodes HZ (RFC 1843): pairs of bytes between `~{` and `~}` or the end of the line, without their high bits. */
const decodeHz = (bytes: Uint8Array, decode: Decode): string => {
  const plainBytes = new Uint8Array(bytes.length)
  let length = 0
  let isShifted = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const next = bytes[at + 1]
    if (byte === LINE_FEED) isShifted = false
    if (byte === TILDE && next === (isShifted ? 0x7d : 0x7b)) {
      isShifted = !isShifted
      at++
    } else if (isShifted && byte > 0x20 && next !== undefined && next > 0x20) {
      plainBytes[length++] = byte | 0x80
      plainBytes[length++] = next | 0x80
      at++
    } else {
      if (byte === TILDE && next === LINE_FEED) {
        at++
        continue
      }
      if (byte === TILDE && next === TILDE) at++
      plainBytes[length++] = byte
    }
  }
  return decode(plainBytes.subarray(0, length))
}

const eucKr = new TextDecoder("euc-kr")
const gbk = new TextDecoder("gbk")
const korean: Decode = (bytes) => eucKr.decode(bytes)
const chinese: Decode = (bytes) => gbk.decode(bytes)

/** Charsets that neither TextDecoder nor iconv-lite has. */
const SHIFTED: Readonly<Record<string, Decode>> = {
  iso2022kr: (bytes) => decodeShifted(bytes, korean),
  csiso2022kr: (bytes) => decodeShifted(bytes, korean),
  iso2022cn: (bytes) => decodeShifted(bytes, chinese),
  hz: (bytes) => decodeHz(bytes, chinese),
  hzgb2312: (bytes) => decodeHz(bytes, chinese)
}

const littleEndian = new TextDecoder("utf-16le")
const bigEndian = new TextDecoder("utf-16be")
/** The beginning of a text in which zeros are counted, in bytes. */
const COUNTED_BYTES = 4_096

/**
 * Decodes UTF-16 by its byte order mark, or else in the order in which most zeros are the upper half of a character, or else
 * as big-endian (RFC 2781, section 4.3).
 */
const decodeUtf16: Decode = (bytes) => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return littleEndian.decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return bigEndian.decode(bytes)
  let zeros = 0
  for (let at = 0; at < bytes.length && at < COUNTED_BYTES; at++) if (bytes[at] === 0) zeros += at % 2 === 0 ? 1 : -1
  return zeros < 0 ? littleEndian.decode(bytes) : bigEndian.decode(bytes)
}

const findCharset = (label: string): Charset => {
  const name = plain(label)
  if (UTF16.has(name)) return decodeUtf16
  if (UTF8.has(name)) return "utf-8"
  if (UNKNOWN.has(name)) return "unknown"
  const shifted = SHIFTED[name]
  if (shifted !== undefined) return shifted
  const alias = ALIASES[name] ?? label
  const known = textDecoder(alias) ?? textDecoder(alias.replace(/^(?:x-|cs)/i, ""))
  if (known !== undefined) return known
  return iconv.encodingExists(alias) ? (bytes) => iconv.decode(Buffer.from(bytes), alias) : "unknown"
}

const charsets = new Map<string, Charset>()

const charsetOf = (label: string | undefined): Charset => {
  const name = label?.trim()
  if (name === undefined || name === "" || name.length > LABEL_CHARACTERS) return "unknown"
  const kept = charsets.get(name)
  if (kept !== undefined) return kept
  const found = findCharset(name)
  if (charsets.size < DECODERS_MAX) charsets.set(name, found)
  return found
}

const utf8 = new TextDecoder()
const western = new TextDecoder("windows-1252")
const iso2022jp = new TextDecoder("iso-2022-jp")

/** Escape sequences of ISO-2022-JP that begin two-byte characters. */
const JAPANESE = ["\u001b$B", "\u001b$@"]

/** Returns text whose label says UTF-8, although some or all of it is not. */
const decodeBrokenUtf8 = (bytes: Uint8Array): string => {
  const text = utf8.decode(bytes)
  // Without a single valid character above 127 it is not UTF-8 at all; with one, a byte of it was lost.
  return /[^\u0000-\u007f\ufffd]/u.test(text) ? text : western.decode(bytes)
}

const decodeUnlabelled = (bytes: Uint8Array, fallback: Charset): string => {
  if (isAscii(bytes)) {
    const escape = bytes.indexOf(0x1b)
    return escape >= 0 && JAPANESE.some((sequence) => Buffer.from(bytes).includes(sequence, escape))
      ? iso2022jp.decode(bytes)
      : utf8.decode(bytes)
  }
  if (isUtf8(bytes)) return utf8.decode(bytes)
  return typeof fallback === "string" ? western.decode(bytes) : fallback(bytes)
}

/** Whether text in this charset could be UTF-8 with a wrong label: that of UTF-16 contains zeros. */
const isWide = (label: string): boolean => /^(?:utf-?16|utf-?32|ucs-?[24]|unicode$|iso-10646)/i.test(label.trim())

/**
 * Decodes text by the label of its charset. Bytes whose label is missing, unknown or names only ASCII are UTF-8 if they
 * are valid as UTF-8, or in the charset of `fallback`, or in windows-1252. A label that names a known charset is right,
 * except where the bytes rule it out. Never throws.
 */
export const decodeText = (bytes: Uint8Array, label: string | undefined, fallback?: string): string => {
  const charset = charsetOf(label)
  if (charset === "utf-8") return isUtf8(bytes) ? utf8.decode(bytes) : decodeBrokenUtf8(bytes)
  if (charset === "unknown") return decodeUnlabelled(bytes, charsetOf(fallback))
  return isWide(label!) && !bytes.includes(0) && isUtf8(bytes) ? utf8.decode(bytes) : charset(bytes)
}

/** The beginning of HTML that can name its charset, in bytes. */
const META_BYTES = 4 * 1024
const META = /<meta\b[^>]{0,300}?\bcharset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i

/** Returns the charset that the meta element of HTML names. */
export const metaCharset = (html: Uint8Array): string | undefined =>
  META.exec(Buffer.from(html.subarray(0, META_BYTES)).toString("latin1"))?.[1]
