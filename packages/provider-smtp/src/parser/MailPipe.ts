import { Socket } from "node:net"
import type { Writable } from "node:stream"
import type { MailRequest } from "./ParserMessage.ts"

/** The file by which a parser process receives its mail. */
export const MAIL_FILE = 4

/** A frame has an id, the length of its body, and its kind: a piece of the mail, or the request about it. */
const HEAD_BYTES = 9
const PIECE = 0
const REQUEST = 1

/** Bytes that a process reads at once. It copies them into the mail, and reads the next ones into the same memory. */
const READ_BYTES = 64 * 1024

/** Called once the bytes are written, or with the reason why they never will be. */
type Written = (error?: Error | null) => void

const write = (pipe: Writable, id: number, kind: number, bytes: Uint8Array, written: Written): void => {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeUInt32LE(id, 0)
  head.writeUInt32LE(bytes.length, 4)
  head.writeUInt8(kind, 8)
  pipe.cork()
  pipe.write(head)
  pipe.write(bytes, written)
  pipe.uncork()
}

/** Writes a piece of a mail without a copy of it. */
export const writePiece = (pipe: Writable, id: number, piece: Uint8Array, written: Written): void =>
  write(pipe, id, PIECE, piece, written)

/** Writes the request about a mail, after its last piece. */
export const writeRequest = (pipe: Writable, id: number, request: MailRequest, written: Written): void =>
  write(pipe, id, REQUEST, Buffer.from(JSON.stringify(request)), written)

/** In the parser process: calls `handle` with each mail once all of it has arrived. Pieces of several mails may alternate. */
export const receiveMails = (handle: (id: number, request: MailRequest, raw: Uint8Array) => void): void => {
  const arriving = new Map<number, Array<Uint8Array>>()
  const head = Buffer.alloc(HEAD_BYTES)
  let filling: Buffer = head
  let filledBytes = 0

  const finish = (body: Buffer): void => {
    const id = head.readUInt32LE(0)
    const pieces = arriving.get(id) ?? []
    if (head.readUInt8(8) === PIECE) {
      pieces.push(body)
      return void arriving.set(id, pieces)
    }
    arriving.delete(id)
    handle(id, JSON.parse(body.toString()) as MailRequest, pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }
  const take = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) {
      const copied = bytes.copy(filling, filledBytes, at)
      at += copied
      filledBytes += copied
      // An empty body is complete with its head.
      while (filledBytes === filling.length) {
        filledBytes = 0
        if (filling === head) filling = Buffer.allocUnsafeSlow(head.readUInt32LE(4))
        else {
          finish(filling)
          filling = head
        }
      }
    }
  }
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const callback = (length: number) => {
    take(buffer.subarray(0, length))
    return true
  }
  // The process is killed once the one that started it is gone.
  new Socket({ fd: MAIL_FILE, readable: true, writable: false, onread: { buffer, callback } }).on(
    "error",
    () => undefined
  )
}
