import { connect } from "node:net"
import { Worker } from "node:worker_threads"
import { ByteBudget, InboundRefused, RateLimiter } from "@agentos/core"
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { openListener, type TestListener, type TestListenerOptions } from "./support/Listener.ts"
import { openDialogue, openSession, type SmtpDialogue, startMessage } from "./support/SmtpDialogue.ts"

const MIB = 1024 * 1024

const listeners: Array<TestListener> = []
const opened = async (options: TestListenerOptions = {}) => {
  const listener = await openListener(options)
  listeners.push(listener)
  return listener
}
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close()
})

const HEADER = "From: news@sender.test\r\n\r\n"

/** Returns every reply until the connection is closed. */
const repliesUntilClosed = async (session: SmtpDialogue): Promise<ReadonlyArray<string>> => {
  const replies: Array<string> = []
  try {
    for (;;) replies.push(await session.reply())
  } catch {
    return replies
  }
}

/** Sends recipients in one write; returns the replies. */
const pipelineRecipients = async (session: SmtpDialogue, recipients: ReadonlyArray<string>) => {
  await session.say("MAIL FROM:<news@sender.test>")
  await session.write(recipients.map((recipient) => `RCPT TO:<${recipient}>\r\n`).join(""))
  const replies: Array<string> = []
  for (const _ of recipients) replies.push(await session.reply())
  return replies
}

const repeated = (count: number, address: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => address(i))

describe("recipients", () => {
  const counting = () => {
    const asked: Array<string> = []
    const isDeliverable = (address: string) =>
      Effect.sync(() => {
        asked.push(address)
        return address.startsWith("ada")
      })
    return { asked, isDeliverable }
  }

  it("are looked up once per session, in whatever spelling they are repeated", async () => {
    const { asked, isDeliverable } = counting()
    const { port } = await opened({ isDeliverable })
    const session = await openSession(port)
    const replies = await pipelineRecipients(session, [
      ...repeated(40, () => "ada@agents.test"),
      ...repeated(40, (i) => `ADA+${i}@agents.test`)
    ])
    expect(replies.every((reply) => reply.startsWith("250"))).toBe(true)
    expect(
      await pipelineRecipients(
        await openSession(port),
        repeated(60, () => "nowhere@agents.test")
      )
    ).toEqual(repeated(60, () => "550 5.1.1 No such mailbox here"))
    expect(asked).toHaveLength(2)
  })

  it("are looked up a few at a time, and once for concurrent sessions", async () => {
    let running = 0
    let most = 0
    let lookups = 0
    const { port } = await opened({
      isDeliverable: () =>
        Effect.promise(async () => {
          lookups++
          most = Math.max(most, ++running)
          await new Promise((resolve) => setTimeout(resolve, 20))
          running--
          return true
        })
    })
    const sessions = await Promise.all(repeated(20, () => "").map(() => openSession(port)))
    await Promise.all(sessions.map((session) => pipelineRecipients(session, ["ada@agents.test"])))
    expect(lookups).toBeLessThan(5)
    await Promise.all(
      sessions.map((session, i) =>
        pipelineRecipients(
          session,
          repeated(5, (j) => `r${i}x${j}@agents.test`)
        )
      )
    )
    expect(most).toBeLessThanOrEqual(4)
  })

  it("are looked up separately for each client address, even concurrently", async () => {
    let asked = 0
    let bothAsked = () => {}
    const concurrent = new Promise<void>((resolve) => (bothAsked = resolve))
    const { port } = await opened({
      admit: (_, { remoteAddress }) =>
        Effect.andThen(
          Effect.promise(() => {
            if (++asked === 2) bothAsked()
            return concurrent
          }),
          remoteAddress === "127.0.0.2" ? Effect.fail(new InboundRefused({ refusal: "too much mail" })) : Effect.void
        )
    })
    const sessions = await Promise.all(["127.0.0.2", "127.0.0.3"].map((address) => openSession(port, address)))
    const replies = await Promise.all(sessions.map((session) => pipelineRecipients(session, ["ada@agents.test"])))
    expect(replies.flat().map((reply) => reply.slice(0, 3))).toEqual(["450", "250"])
  })

  it("count against a message's limit even if repeated, and a flood of them ends the session", async () => {
    const { port } = await opened({ limits: { recipients: 10, commands: 100 } })
    const session = await openSession(port)
    const replies = await pipelineRecipients(
      session,
      repeated(30, () => "ada@agents.test")
    )
    expect(replies.map((reply) => reply.slice(0, 9))).toEqual([
      ...repeated(10, () => "250 Accep"),
      ...repeated(20, () => "452 4.5.3")
    ])
    await session.write("RCPT TO:<ada@agents.test>\r\n".repeat(500))
    const rest = await repliesUntilClosed(session)
    expect(rest).toHaveLength(69)
    expect(rest.at(-1)).toMatch(/^421 4\.7\.0 Too many commands/)
  })

  it("without a mailbox end the session when there are too many, even in other domains", async () => {
    const { port } = await opened({ limits: { refusedRecipients: 4 } })
    const session = await openSession(port)
    await session.say("MAIL FROM:<news@sender.test>")
    const recipients = repeated(10, (i) => `RCPT TO:<nobody${i}@${i % 2 === 0 ? "agents" : "other"}.test>\r\n`)
    await session.write(recipients.join(""))
    const replies = await repliesUntilClosed(session)
    expect(replies.map((reply) => reply.slice(0, 9))).toEqual([
      "550 5.1.1",
      "550 5.7.1",
      "550 5.1.1",
      "550 5.7.1",
      "421 4.7.0"
    ])
  })
})

describe("a session", () => {
  it.each(["NOOP", "RSET", "VRFY ada", "HELP", "EHLO again"])("that only says %s is ended", async (command) => {
    const { port } = await opened({ limits: { idleCommands: 20 } })
    const session = await openSession(port)
    await session.write(`${command}\r\n`.repeat(1_000))
    const replies = await repliesUntilClosed(session)
    expect(replies.length).toBeLessThanOrEqual(20)
    expect(replies.at(-1)).toMatch(/^421 4\.7\.0 /)
  })

  it("with too many errors is ended", async () => {
    const { port } = await opened({ limits: { errors: 8 } })
    const session = await openSession(port)
    await session.write("RCPT TO:<ada@agents.test>\r\nDATA\r\nMAIL FROM\r\n".repeat(300))
    const replies = await repliesUntilClosed(session)
    expect(replies.length).toBeLessThanOrEqual(20)
    expect(replies.at(-1)).toBe("421 4.7.0 Too many errors")
  })

  it("that delivers messages continues, however many commands and errors occur in between", async () => {
    const listener = await opened({ limits: { commands: 8, idleCommands: 2, errors: 2 } })
    const session = await openSession(listener.port)
    for (let index = 0; index < 20; index++) {
      expect(await startMessage(session, "ada@agents.test")).toMatch(/^354/)
      expect(await session.say(`${HEADER}x\r\n.`)).toMatch(/^250/)
      expect(await session.say("RSET")).toMatch(/^250/)
      expect(await session.say("DATA")).toMatch(/^503/)
    }
    expect(listener.taken).toHaveLength(20)
  })

  it("is ended at its time limit, but not within a message", async () => {
    const listener = await opened({ limits: { sessionMillis: 400 } })
    const [idle, sending] = await Promise.all([openSession(listener.port), openSession(listener.port)])
    await startMessage(sending, "ada@agents.test")
    expect(await idle.reply()).toMatch(/^421 4\.4\.2 The session took too long/)
    await idle.closed
    expect(await sending.say(`${HEADER}x\r\n.`)).toMatch(/^250/)
  })

  it("with an overlong command is ended", async () => {
    const { port } = await opened()
    const session = await openSession(port)
    await session.write(`NOOP ${"x".repeat(100_000)}`)
    expect(await session.reply()).toMatch(/^421/)
    await session.closed
  })
})

describe("sessions", () => {
  it("of two addresses leave room for others", async () => {
    const { port } = await opened({
      limits: { connections: 20, connectionsPerAddress: 10, connectionsPerNetwork: 10, connectionsReserved: 8 }
    })
    const greetings = (count: number, from: string) =>
      Promise.all(repeated(count, () => from).map(async (address) => (await openDialogue(port, address)).reply()))
    const flood = [...(await greetings(20, "127.0.1.1")), ...(await greetings(20, "127.0.2.1"))]
    expect(flood.filter((reply) => reply.startsWith("220")).length).toBeLessThanOrEqual(14)
    expect(flood.filter((reply) => reply.startsWith("421 4.7.0")).length).toBeGreaterThanOrEqual(26)
    expect((await greetings(1, "127.0.3.1"))[0]).toMatch(/^220/)
  })

  it("beyond the limit are closed, even if the client does not close its side", async () => {
    const { port } = await opened({ limits: { connectionsPerAddress: 1 } })
    await openSession(port)
    const refused = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    refused.on("error", () => undefined)
    await new Promise((resolve) => refused.once("data", resolve))
    // A client learns only by writing that the connection is closed.
    const isCut = () => {
      refused.write("NOOP\r\n")
      return refused.destroyed
    }
    await expect.poll(isCut, { interval: 100, timeout: 60_000 }).toBe(true)
  })

  it("of one network are limited", async () => {
    const { port } = await opened({ limits: { connectionsPerNetwork: 3 } })
    const greetings = []
    for (let host = 1; host <= 5; host++) greetings.push(await (await openDialogue(port, `127.0.9.${host}`)).reply())
    expect(greetings.map((reply) => reply.slice(0, 3))).toEqual(["220", "220", "220", "421", "421"])
  })

  it("of one sender are admitted up to at least 64", async () => {
    const { port } = await opened()
    const sessions = await Promise.all(repeated(64, () => "").map(() => openSession(port)))
    expect(await Promise.all(sessions.map((session) => session.say("NOOP")))).toEqual(repeated(64, () => "250 OK"))
  })
})

describe("rates", () => {
  it("limit the messages of an address, and not those of others", async () => {
    const { port, taken } = await opened({ limits: { messagesPerHour: 2 }, limiter: RateLimiter.makeLocal() })
    const session = await openSession(port)
    for (let index = 0; index < 2; index++) {
      await startMessage(session, "ada@agents.test")
      expect(await session.say(`${HEADER}x\r\n.`)).toMatch(/^250/)
    }
    expect(await startMessage(session, "ada@agents.test")).toMatch(/^450 4\.7\.1 Too many messages .* in \d+ seconds$/)
    expect(await startMessage(await openSession(port, "127.0.0.2"), "ada@agents.test")).toMatch(/^354/)
    expect(taken).toHaveLength(2)
  })

  it("limit the sessions of an address", async () => {
    const { port } = await opened({ limits: { messagesPerHour: 2 }, limiter: RateLimiter.makeLocal() })
    const greetings = []
    for (let index = 0; index < 5; index++) greetings.push(await (await openDialogue(port)).reply())
    expect(greetings.map((reply) => reply.slice(0, 9))).toEqual([...repeated(4, () => "220 mx.ag"), "421 4.7.0"])
  })

  it("limit the commands of an address across its sessions", async () => {
    const { port } = await opened({
      limits: { commands: 100_000 },
      limiter: {
        ...RateLimiter.unlimited,
        take: (rule, subject, cost) => limiter.take({ ...rule, burst: 200, perSecond: 0.001 }, subject, cost)
      }
    })
    const limiter = RateLimiter.makeLocal()
    const sessions = await Promise.all(repeated(4, () => "").map(() => openSession(port)))
    for (const session of sessions) await session.write("RCPT TO:<ada@agents.test>\r\n".repeat(2_000))
    const replies = await Promise.all(sessions.map(repliesUntilClosed))
    expect(replies.flat().length).toBeLessThanOrEqual(220)
    expect(replies.every((each) => each.at(-1)?.startsWith("421 4.7.0 Too many commands from"))).toBe(true)
  })

  it("that can't be determined do not block mail", async () => {
    const { port } = await opened({
      limiter: { ...RateLimiter.unlimited, take: () => Effect.die(new Error("the database is away")) }
    })
    const session = await openSession(port)
    await startMessage(session, "ada@agents.test")
    expect(await session.say(`${HEADER}x\r\n.`)).toMatch(/^250/)
  })
})

describe("memory", () => {
  it("is shared with all other data in transit", async () => {
    const memory = new ByteBudget(4 * MIB)
    const { port } = await opened({ memory })
    const session = await openSession(port)
    memory.reserve(3 * MIB)
    await startMessage(session, "ada@agents.test")
    expect(await session.say(`${HEADER}${`${"x".repeat(998)}\r\n`.repeat(2_000)}.`)).toMatch(/^452 4\.3\.1 /)
    memory.release(3 * MIB)
    await startMessage(session, "ada@agents.test")
    expect(await session.say(`${HEADER}${`${"x".repeat(998)}\r\n`.repeat(2_000)}.`)).toMatch(/^250/)
    expect(memory.usedBytes).toBe(0)
  })
})

describe("the process", () => {
  /** Lines of replies to 50 connections: greetings, the replies to the openings, and several to each flood. */
  const FLOODING_LINES = 700

  /**
   * Runs connections in a separate thread that send as fast as they can, until `stop`. Resolves when many of their
   * commands have been answered.
   */
  const flood = (
    port: number,
    connections: number,
    opening: string,
    repeatedly: string
  ): Promise<{ readonly stop: () => Promise<unknown> }> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(
        `const { workerData, parentPort } = require("node:worker_threads")
        const { connect } = require("node:net")
        let lines = 0
        for (let i = 0; i < workerData.connections; i++) {
          const socket = connect(workerData.port, "127.0.0.1")
          socket.on("error", () => {})
          const send = () => { while (!socket.destroyed && socket.write(workerData.repeatedly)); }
          socket.on("drain", send)
          socket.once("data", () => { socket.write(workerData.opening); send() })
          socket.on("data", (chunk) => {
            lines += chunk.toString("latin1").split("\\n").length - 1
            if (lines > workerData.lines) parentPort.postMessage("flooding")
          })
        }`,
        { eval: true, workerData: { port, connections, opening, repeatedly, lines: FLOODING_LINES } }
      )
      worker.once("message", () => resolve({ stop: () => worker.terminate() }))
      worker.once("error", reject)
    })

  const countingLookups = () => {
    const counted = { lookups: 0 }
    const isDeliverable = () =>
      Effect.sync(() => {
        counted.lookups++
        return true
      })
    return { counted, isDeliverable }
  }

  const OPENING = "EHLO out.sender.test\r\nMAIL FROM:<news@sender.test>\r\n"
  const UNBOUNDED = { commands: 1e9, recipients: 1e9, errors: 1e9, idleCommands: 1e9 }

  it("looks up a recipient once in each of 50 sessions that request it as fast as they can", async () => {
    const { counted, isDeliverable } = countingLookups()
    const { port } = await opened({ limits: UNBOUNDED, isDeliverable })
    const { stop } = await flood(port, 50, OPENING, "RCPT TO:<ada@agents.test>\r\n".repeat(5_000))
    await stop()
    expect(counted.lookups).toBeLessThanOrEqual(50)
  })

  it("limits the lookups per second, however many sessions request them", async () => {
    const { counted, isDeliverable } = countingLookups()
    const { port } = await opened({ limits: UNBOUNDED, isDeliverable })
    const recipients = repeated(5_000, (i) => `RCPT TO:<r${i}@agents.test>\r\n`).join("")
    const startedAt = performance.now()
    const { stop } = await flood(port, 50, OPENING, recipients)
    await stop()
    // A lookup is charged as 2 ms of a share of 40 %: 200 per second, and more at the start.
    expect(counted.lookups).toBeGreaterThan(0)
    expect(counted.lookups).toBeLessThan(400 + (performance.now() - startedAt) / 5)
  })

  it("serves one peer while another floods it", async () => {
    const { port } = await opened({ limits: UNBOUNDED })
    const { stop } = await flood(port, 50, OPENING, "NOOP\r\n".repeat(5_000))
    const session = await openSession(port, "127.0.0.2")
    await startMessage(session, "ada@agents.test")
    expect(await session.say(`${HEADER}x\r\n.`)).toMatch(/^250/)
    await stop()
  })

  it.each(["..\r\n", "...\r\n", "..", "\r\n", "\n", "..\r"])("receives 20 MB of %j", async (line) => {
    const listener = await opened()
    const session = await openSession(listener.port)
    await startMessage(session, "ada@agents.test")
    const block = Buffer.from(line.repeat(Math.floor(65_536 / line.length)))
    const send = async () => {
      await session.write(HEADER)
      for (let sent = 0; sent < 20_000_000; sent += block.length) await session.write(block)
      return session.say("\r\n.")
    }
    expect(await send()).toMatch(/^250/)
    expect(listener.taken).toHaveLength(1)
  })
})
