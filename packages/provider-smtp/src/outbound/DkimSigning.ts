import type { KeyObject } from "node:crypto"
import { Readable } from "node:stream"
import MessageParser, { type MessageParserHeaderLine } from "nodemailer/lib/dkim/message-parser"
import RelaxedBody from "nodemailer/lib/dkim/relaxed-body"
import sign from "nodemailer/lib/dkim/sign"
import type { PluginFunction } from "nodemailer/lib/mailer"
import type { PreparedMail } from "./RelayPool.ts"

/** Signs mail with a key that is parsed once: OpenSSL takes twice as long to parse one as to sign with it. */
export interface DkimSigner {
  readonly domainName: string
  readonly keySelector: string
  readonly privateKey: KeyObject
}

/** A signed mail of at most this size is one piece, and so is written to the relay at once. */
const ONE_PIECE_BYTES = 64 * 1024

const HASH = "sha256"

/** Hashes the body of a mail and reads its header, as the mail is composed. */
const makeSignature = ({ domainName, keySelector, privateKey }: DkimSigner) => {
  const parser = new MessageParser()
  const body = new RelaxedBody({ hashAlgo: HASH })
  let headers: ReadonlyArray<MessageParserHeaderLine> = []
  let sizeBytes = 0
  parser.once("headers", (lines: ReadonlyArray<MessageParserHeaderLine>) => (headers = lines))
  return {
    add: (piece: Buffer): void => {
      const isBody = parser.headersParsed
      if (!isBody) parser.checkHeaders(piece)
      if (parser.headersParsed) body.updateHash(isBody ? piece : piece.subarray(parser.headerBytes - sizeBytes))
      sizeBytes += piece.length
    },
    /** Returns the header field. A composed mail always ends with a line break, as the hash requires. */
    end: (): Buffer => {
      const signed = sign([...headers], HASH, body.bodyHash.digest("base64"), { domainName, keySelector, privateKey })
      if (signed === false) throw new Error("the mail could not be signed")
      return Buffer.from(`${signed}\r\n`)
    }
  }
}

/**
 * Signs each mail as nodemailer's own signer does, with the same bytes. That one passes a mail through four streams, and
 * writes it to the relay in as many pieces.
 */
export const signing =
  (dkim: DkimSigner): PluginFunction<PreparedMail> =>
  ({ message }, done) => {
    const signature = makeSignature(dkim)
    const pieces: Array<Buffer> = []
    let sizeBytes = 0
    const composed = message.createReadStream()
    composed.on("data", (piece: Buffer) => {
      pieces.push(piece)
      sizeBytes += piece.length
      signature.add(piece)
    })
    composed.once("error", done)
    composed.once("end", () => {
      try {
        const field = signature.end()
        const signed = sizeBytes > ONE_PIECE_BYTES ? [field, ...pieces] : [Buffer.concat([field, ...pieces])]
        message.createReadStream = () => Readable.from(signed, { objectMode: false })
        done()
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }
