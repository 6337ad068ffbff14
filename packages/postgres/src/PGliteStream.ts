import type { PGlite } from "@electric-sql/pglite"
import { Duplex } from "node:stream"
import { callbackify } from "node:util"

/** First bytes of messages (PostgreSQL manual, "Message Formats"): a packet without a type starts with its length. */
const UNTYPED = 0x00
const TERMINATE = 0x58
const CANCEL_REQUEST = 80877102

const bytesOf = (chunk: unknown): Buffer => {
  if (!Buffer.isBuffer(chunk)) throw new TypeError("the driver writes bytes")
  return chunk
}

/**
 * One connection to an embedded database, as the wire protocol in this process.
 *
 * The driver writes whole messages, and as a rule everything of one statement at
 * once: each write is one visit to the database, which answers before it returns.
 * There is one session behind all connections, so only one may be open at a
 * time; what an earlier one left behind is cleared away when another begins.
 */
export const openPGliteStream = (database: PGlite): Duplex => {
  const stream = new Duplex({
    read: () => {},
    write: (chunk: unknown, _encoding, done) => {
      receive(bytesOf(chunk), done)
    },
    final: (done) => {
      stream.push(null)
      done()
    }
  })
  const receive = callbackify(async (message: Buffer): Promise<void> => {
    if (message[0] === TERMINATE) return
    if (message[0] === UNTYPED) {
      // There is nobody to interrupt: the statement is over before anything else is read.
      if (message.readInt32BE(4) === CANCEL_REQUEST) return void stream.destroy()
      await resetSession(database)
    }
    await database.runExclusive(() =>
      database.execProtocolRawStream(message, {
        onRawData: (bytes) => {
          if (bytes.length > 0) stream.push(Buffer.from(bytes))
        }
      })
    )
  })
  return stream
}

const resetSession = async (database: PGlite): Promise<void> => {
  if (database.isInTransaction()) await database.exec("rollback")
  await database.exec("discard all")
}
