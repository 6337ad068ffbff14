import { makeDecoder } from "@agentos/core/transfer-encoding"
import { decodeText } from "./Charset.ts"

/** The longest beginning of an encoded word that is read: a charset with its language, and the encoding. */
const START_CHARACTERS = 90
const START = /^=\?([^?\s*]{1,40})(?:\*[^?\s]{0,40})?\?([BbQq])\?/

/** An encoded word (RFC 2047), and the index after it. */
interface EncodedWord {
  readonly charset: string
  readonly bytes: Uint8Array
  readonly end: number
}

const decodedBytes = (encoding: string, text: string): Uint8Array => {
  if (/b/i.test(encoding)) return makeDecoder("base64").decode(Buffer.from(text, "latin1"))
  const written = Buffer.from(text.replaceAll(/=\s+(?=[\da-f])/gi, "=").replaceAll(/[_\s]/g, " "), "utf8")
  const decoder = makeDecoder("quoted-printable")
  return Buffer.concat([decoder.decode(written), decoder.end()])
}

const wordAt = (text: string, at: number): EncodedWord | undefined => {
  const start = START.exec(text.slice(at, at + START_CHARACTERS))
  if (start === null) return undefined
  const textStart = at + start[0].length
  const textEnd = text.indexOf("?=", textStart)
  if (textEnd < 0) return undefined
  const bytes = decodedBytes(start[2]!, text.slice(textStart, textEnd))
  return { charset: start[1]!, bytes, end: textEnd + 2 }
}

const skipSpace = (text: string, at: number): number => {
  let end = at
  while (text[end] === " " || text[end] === "\t" || text[end] === "\r" || text[end] === "\n") end++
  return end
}

/** Replaces each run of encoded words, with nothing but white space between them, by what `write` returns for its text. */
const replaceRuns = (text: string, write: (decoded: string) => string): string => {
  const parts: Array<string> = []
  const last = text.lastIndexOf("?=")
  let kept = 0
  for (let at = text.indexOf("=?"); at >= 0 && at < last;) {
    let word = wordAt(text, at)
    if (word === undefined) {
      at = text.indexOf("=?", at + 2)
      continue
    }
    const start = at
    let end = at
    let decoded = ""
    while (word !== undefined) {
      const { charset } = word
      const pieces: Array<Uint8Array> = []
      // A character may be split between words, so the bytes of words in one charset are decoded together.
      while (word !== undefined && word.charset.toLowerCase() === charset.toLowerCase()) {
        pieces.push(word.bytes)
        end = word.end
        word = wordAt(text, skipSpace(text, end))
      }
      decoded += decodeText(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), charset)
    }
    parts.push(text.slice(kept, start), write(decoded))
    kept = end
    at = text.indexOf("=?", end)
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(kept)
}

/** Decodes the encoded words in the text of a header field. Takes time in proportion to its length. */
export const decodeWords = (text: string): string =>
  text.includes("=?") ? replaceRuns(text, (decoded) => decoded) : text

/** Rewrites encoded words as one for each run, in UTF-8 and with whole characters, which every reader decodes. */
export const joinWords = (text: string): string =>
  text.includes("=?")
    ? replaceRuns(text, (decoded) => `=?utf-8?B?${Buffer.from(decoded, "utf8").toString("base64")}?=`)
    : text
