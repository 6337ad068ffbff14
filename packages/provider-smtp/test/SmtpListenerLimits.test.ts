import { Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { queryObjects, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { openListener, type TestListener, type TestListenerOptions } from "./support/Listener.ts"
import { openDialogue, openSession, startMessage } from "./support/SmtpDialogue.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const MIB = 1024 * 1024
/** Limit of the memory in use while 128 MiB arrive. */
const KEPT_MAX = 64 * MIB

const listeners: Array<TestListener> = []
const opened = async (options: TestListenerOptions = {}) => {
  const listener = await openListener(options)
  listeners.push(listener)
  return listener
}
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close()
})

const FROM = "From: news@sender.test\r\n\r\n"
const LINE = Buffer.from(`${"x".repeat(78)}\r\n`)

const sendBytes = async (session: Awaited<ReturnType<typeof openSession>>, bytes: number, block = 64 * 1024) => {
  const chunk = Buffer.concat(Array.from({ length: Math.ceil(block / LINE.length) }, () => LINE))
  await session.write(FROM)
  for (let sent = 0; sent < bytes; sent += chunk.length) await session.write(chunk)
  return session.say(".")
}

/** Waits until the sent bytes have arrived: the listener then has no room for this many more from this address. */
const untilFull = async (port: number, bytes: number) => {
  const probe = await openSession(port)
  const ask = async () => {
    const answer = await probe.say(`MAIL FROM:<probe@sender.test> SIZE=${bytes}`)
    await probe.say("RSET")
    return answer
  }
  await expect.poll(ask, { timeout: 60_000, interval: 500 }).toMatch(/^452 4\.3\.1 /)
}

describe("a mail that is too large", () => {
  it("is refused before it is sent if its sender declares its size", async () => {
    const { port } = await opened({ limits: { messageBytes: MIB } })
    const session = await openSession(port)
    expect(await session.say(`MAIL FROM:<news@sender.test> SIZE=${MIB + 1}`)).toMatch(/^552/)
    expect(await session.say(`MAIL FROM:<news@sender.test> SIZE=${MIB}`)).toMatch(/^250/)
  })

  it("is refused with 552 5.3.4 after it was sent, and the connection stays open", async () => {
    const listener = await opened({ limits: { messageBytes: MIB } })
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    expect(await sendBytes(session, 2 * MIB)).toMatch(/^552 5\.3\.4 /)
    await startMessage(session, "ada@agents.test")
    expect(await sendBytes(session, 1000)).toMatch(/^250/)
    expect(listener.taken).toHaveLength(1)
  })

  it("is never buffered beyond the limit, however many arrive at the same time", async () => {
    const listener = await opened({ limits: { messageBytes: MIB } })
    const used = () => {
      const { external, heapUsed } = process.memoryUsage()
      return external + heapUsed
    }
    collectGarbage()
    const before = used()
    let peak = 0
    const watch = setInterval(() => {
      // Includes garbage that is not yet collected. Collecting it takes long, so it begins at half of the limit; V8
      // subtracts collected buffers somewhat later.
      if (used() - before >= KEPT_MAX / 2) collectGarbage()
      peak = Math.max(peak, used() - before)
    }, 25)
    const send = async () => {
      const session = await openSession(listener.port)
      for (let i = 0; i < 2; i++) {
        await startMessage(session, "ada@agents.test")
        expect(await sendBytes(session, 8 * MIB)).toMatch(/^552 5\.3\.4 /)
      }
      session.socket.destroy()
    }
    await Promise.all(Array.from({ length: 8 }, send))
    clearInterval(watch)
    // 128 MiB were transferred.
    expect(peak).toBeLessThan(KEPT_MAX)
    expect(listener.taken).toEqual([])
  }, 120_000)

  it("of exactly the maximum size is accepted", async () => {
    const listener = await opened({ limits: { messageBytes: 1_000 } })
    const session = await openSession(listener.port)
    for (const [bytes, reply] of [
      [998 - FROM.length, /^250/],
      [999 - FROM.length, /^552/]
    ] as const) {
      await startMessage(session, "ada@agents.test")
      expect(await session.say(`${FROM}${"x".repeat(bytes)}\r\n.`)).toMatch(reply)
    }
    expect(listener.taken.map(({ raw }) => raw.length)).toEqual([1_000])
  })
})

describe("too much at a time", () => {
  it("of mails is deferred with 452, and accepted later", async () => {
    const listener = await opened({ limits: { messages: 2 } })
    const sessions = await Promise.all([1, 2, 3].map(() => openSession(listener.port)))
    for (const session of sessions.slice(0, 2)) await startMessage(session, "ada@agents.test")
    expect(await sessions[2]!.say("MAIL FROM:<news@sender.test>")).toMatch(/^452 4\.3\.1 /)
    for (const session of sessions.slice(0, 2)) expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    expect(await startMessage(sessions[2]!, "ada@agents.test")).toMatch(/^354/)
    expect(await sessions[2]!.say(`${FROM}x\r\n.`)).toMatch(/^250/)
  })

  it("of bytes is deferred with 452, and accepted later", async () => {
    const listener = await opened({ limits: { bufferedBytes: 5 * MIB } })
    const [first, second] = await Promise.all([openSession(listener.port), openSession(listener.port)])
    await startMessage(first, "ada@agents.test")
    await first.write(FROM)
    await startMessage(second, "ada@agents.test")
    for (let i = 0; i < 44; i++) await first.write(LINE.toString().repeat(820))
    await untilFull(listener.port, 3 * MIB)
    expect(await sendBytes(second, 3 * MIB)).toMatch(/^452 4\.3\.1 /)
    expect(await second.say(`MAIL FROM:<news@sender.test> SIZE=${3 * MIB}`)).toMatch(/^452 4\.3\.1 /)
    expect(await first.say(".")).toMatch(/^250/)
    await startMessage(second, "ada@agents.test")
    expect(await sendBytes(second, 3 * MIB)).toMatch(/^250/)
    expect(listener.taken).toHaveLength(2)
  })

  it("of mails from one address is deferred with 452, and other addresses are not affected", async () => {
    const listener = await opened({ limits: { messages: 3, messagesPerAddress: 2 } })
    const slow = await Promise.all([1, 2].map(() => openSession(listener.port)))
    for (const session of slow) expect(await startMessage(session, "ada@agents.test")).toMatch(/^354/)
    const third = await openSession(listener.port)
    expect(await third.say("MAIL FROM:<news@sender.test>")).toMatch(/^452 4\.3\.1 /)
    const other = await openSession(listener.port, "127.0.0.2")
    expect(await startMessage(other, "ada@agents.test")).toMatch(/^354/)
    expect(await other.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    for (const session of slow) expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    expect(await third.say("MAIL FROM:<news@sender.test>")).toMatch(/^250/)
    expect(listener.taken).toHaveLength(3)
  })

  it("of bytes from one address is deferred with 452, and other addresses are not affected", async () => {
    const listener = await opened({ limits: { bufferedBytes: 8 * MIB, bufferedBytesPerAddress: 4 * MIB } })
    const slow = await openSession(listener.port)
    await startMessage(slow, "ada@agents.test")
    await slow.write(FROM)
    for (let i = 0; i < 40; i++) await slow.write(LINE.toString().repeat(820))
    await untilFull(listener.port, 3 * MIB)
    const second = await openSession(listener.port)
    await startMessage(second, "ada@agents.test")
    expect(await sendBytes(second, 3 * MIB)).toMatch(/^452 4\.3\.1 /)
    const other = await openSession(listener.port, "127.0.0.2")
    await startMessage(other, "ada@agents.test")
    expect(await sendBytes(other, 3 * MIB)).toMatch(/^250/)
    expect(await slow.say(".")).toMatch(/^250/)
  })

  it("of connections from one address is refused with 421", async () => {
    const { port } = await opened({ limits: { connectionsPerAddress: 2 } })
    const sessions = [await openSession(port), await openSession(port)]
    const third = await openDialogue(port)
    expect(await third.reply()).toMatch(/^421 4\.7\.0 /)
    await third.closed
    await sessions[0]!.say("QUIT")
    await sessions[0]!.closed
    await expect.poll(async () => (await openDialogue(port)).reply(), { timeout: 60_000 }).toMatch(/^220/)
  })

  it("of connections in total is refused with 421", async () => {
    const { port } = await opened({ limits: { connections: 1 } })
    await openSession(port)
    expect(await (await openDialogue(port)).reply()).toMatch(/^421/)
  })
})

describe("a sender", () => {
  it("that disconnects within a mail leaves nothing behind", async () => {
    const listener = await opened({ limits: { messages: 1 } })
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    await session.write(LINE.toString().repeat(1_000))
    session.socket.destroy()
    const next = await openSession(listener.port)
    await expect.poll(() => next.say("MAIL FROM:<news@sender.test>"), { timeout: 60_000 }).toMatch(/^250/)
    expect(listener.taken).toEqual([])
  })

  it("that has disconnected after STARTTLS leaves nothing behind", async () => {
    const { port } = await opened()
    const visit = async () => {
      const session = await openSession(port)
      await session.say("STARTTLS")
      const secure = connectTls({ socket: session.socket, rejectUnauthorized: false })
      await new Promise((resolve) => secure.once("secureConnect", resolve))
      secure.end("QUIT\r\n")
      secure.resume()
      await session.closed
    }
    const sockets = () => queryObjects(Socket, { format: "count" })
    await visit()
    const before = sockets()
    for (let visits = 0; visits < 20; visits++) await visit()
    await expect.poll(sockets, { timeout: 60_000 }).toBeLessThan(before + 10)
  }, 120_000)

  it("that is silent for too long gets 421", async () => {
    const { port } = await opened({ limits: { idleMillis: 1_000 } })
    const session = await openSession(port)
    expect(await session.reply()).toMatch(/^421/)
    await session.closed
  })

  it("that sends a mail too slowly gets 421, and leaves nothing behind", async () => {
    const listener = await opened({ limits: { messageMillis: 300 } })
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    const trickle = setInterval(() => void session.write("x\r\n"), 20)
    expect(await session.reply()).toMatch(/^421 4\.4\.2 /)
    clearInterval(trickle)
    session.socket.destroy()
    expect(listener.taken).toEqual([])
  })
})

/** Longer than any test: what waits for it fails. */
const HOUR_MILLIS = 3_600_000

describe("closing", () => {
  it("disconnects idle senders at once", async () => {
    const listener = await opened({ limits: { shutdownMillis: HOUR_MILLIS } })
    const idle = await openSession(listener.port)
    const addressed = await openSession(listener.port)
    await addressed.say("MAIL FROM:<news@sender.test>")
    const closing = listener.close()
    expect(await idle.reply()).toMatch(/^421 4\.3\.2 /)
    expect(await addressed.reply()).toMatch(/^421 4\.3\.2 /)
    await closing
    await expect(openSession(listener.port)).rejects.toThrow(/closed/)
  })

  it("lets an arriving mail finish, and then sends 421", async () => {
    const listener = await opened({ limits: { shutdownMillis: HOUR_MILLIS } })
    const session = await openSession(listener.port)
    const idle = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    const closing = listener.close()
    expect(await idle.reply()).toMatch(/^421/)
    expect(await session.say(`${FROM}x\r\n.`)).toMatch(/^250/)
    expect(await session.reply()).toMatch(/^421/)
    await closing
    expect(listener.taken).toHaveLength(1)
  })

  it("does not wait for a sender or the store beyond its time limit", async () => {
    const stuck = await opened({ limits: { shutdownMillis: 300 } })
    const session = await openSession(stuck.port)
    await startMessage(session, "ada@agents.test")
    const hanging = await opened({ limits: { shutdownMillis: 300 }, accept: () => Effect.never })
    const storing = await openSession(hanging.port)
    await startMessage(storing, "ada@agents.test")
    await storing.write(`${FROM}x\r\n.\r\n`)
    await Promise.all([stuck.close(), hanging.close()])
    await Promise.all([session.closed, storing.closed])
    expect([...stuck.taken, ...hanging.taken]).toEqual([])
  })
})
