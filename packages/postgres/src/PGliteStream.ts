import type { PGlite } from "@electric-sql/pglite"
import { Duplex } from "node:stream"
import { callbackify } from "node:util"
import type { PGliteEngine } from "./PGliteEngine.ts"

/** First bytes of messages (PostgreSQL manual, "Message Formats"): a packet without a type starts with its length. */
const UNTYPED = 0x00
const TERMINATE = 0x58
const CANCEL_REQUEST = 80877102

const bytesOf = (chunk: unknown): Buffer => {
  if (!Buffer.isBuffer(chunk)) throw new TypeError("the driver writes bytes")
  return chunk
}

/**
 * Opens a connection to an embedded database that speaks the wire protocol within this process.
 *
 * The driver writes whole messages, and usually all those of one statement at once. Each write is one call of
 * the database, which answers before it returns. All connections share one session, so only one may be open at
 * a time; the state that an earlier one left is discarded when another begins.
 *
 * The connection ends, as one to a server does, if the disk has no room for a statement or the database panics.
 */
export const openPGliteStream = (engine: PGliteEngine): Duplex => {
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
    const isFirst = message[0] === UNTYPED
    // There is nothing to cancel: a statement has finished before anything else is read.
    if (isFirst && message.readInt32BE(4) === CANCEL_REQUEST) return void stream.destroy()
    engine.requireRoom(message.length)
    const database = await engine.database()
    if (isFirst) await resetSession(database)
    try {
      await database.runExclusive(() =>
        database.execProtocolRawStream(message, {
          onRawData: (bytes) => {
            if (bytes.length > 0) stream.push(Buffer.from(bytes))
          }
        })
      )
    } catch (error) {
      engine.discard()
      throw error
    }
  })
  return stream
}

const resetSession = async (database: PGlite): Promise<void> => {
  if (database.isInTransaction()) await database.exec("rollback")
  await database.exec("discard all")
}
