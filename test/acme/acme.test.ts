import { ByteBudget, EmailProvider, InboundMails, RateLimiter, TransitMemory } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { readFileSync, statSync } from "node:fs"
import { connect as connectPlain, type Socket } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import { afterAll } from "vitest"
import { mailIntake } from "../../packages/server/src/program/MailIntake.ts"
import { installPeer } from "../peers/support/PeerRoot.ts"
import { startAcme } from "./Acme.ts"

const HOST = "mx.agents.test"
/** The id of the group that may read the files. */
const READERS = 31_000

const MAIL = {
  domain: "agents.test",
  hostName: HOST,
  relay: { host: "", port: 0, security: "none", credentials: undefined },
  dkim: undefined,
  dns: { servers: [], zoneFile: undefined }
} as const

const { root, title } = await installPeer("lego", "pebble")
afterAll(() => root?.close())

/** Sends lines, and returns the reply. */
const ask = async (socket: Socket, lines = ""): Promise<string> => {
  socket.write(lines)
  let reply = ""
  socket.setEncoding("latin1")
  while (!/^\d{3} .*\r\n$/m.test(reply)) {
    const piece = socket.read() as string | null
    if (piece === null) await once(socket, "readable")
    else reply += piece
  }
  return reply.trimEnd()
}

/** Opens an encrypted session. */
const openSession = async (port: number): Promise<TLSSocket> => {
  const socket = connectPlain({ host: "127.0.0.1", port })
  await ask(socket)
  await ask(socket, "EHLO client.test\r\n")
  await ask(socket, "STARTTLS\r\n")
  const secured = connect({ socket, servername: HOST, rejectUnauthorized: false })
  await once(secured, "secureConnect")
  await ask(secured, "EHLO client.test\r\n")
  return secured
}

const serialOf = (session: TLSSocket): string => session.getPeerCertificate().serialNumber
const serialIn = (file: string): string => new X509Certificate(readFileSync(file)).serialNumber

describe.skipIf(root === undefined)(`the certificate of ${title}`, () => {
  it.effect("is renewed while a session stays open, which finishes its mail", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.now())
      const acme = yield* Effect.acquireRelease(
        Effect.promise(() => startAcme(root!, HOST)),
        ({ close }) => Effect.sync(close)
      )
      yield* Effect.promise(() => acme.lego("run"))
      yield* Effect.promise(() => root!.sh(`chgrp -R ${READERS} /peer/lego && chmod -R g+rX /peer/lego`))
      const first = serialIn(acme.certificateFile)

      const accepted: Array<string> = []
      const replaced = yield* Deferred.make<void>()
      const listener = { host: "127.0.0.1", port: 0, certificate: acme, sessions: 9, sessionsPerAddress: 9 }
      const port = yield* mailIntake({ ...MAIL, listener: { ...listener, messagesPerHour: 9 } }, 1).pipe(
        Effect.provide([
          Layer.mock(InboundMails, {
            admit: () => Effect.void,
            accept: (_, raw) => Effect.sync(() => void accepted.push(Buffer.from(raw).toString())),
            refused: () => Effect.void
          }),
          Layer.mock(EmailProvider, { name: "smtp", domain: MAIL.domain }),
          Layer.succeed(RateLimiter.RateLimiter, RateLimiter.unlimited),
          Layer.succeed(TransitMemory, new ByteBudget(1_000_000)),
          Logger.layer([
            Logger.make(({ message }) => {
              if (/was replaced/.test(String(message))) Deferred.doneUnsafe(replaced, Effect.void)
            })
          ])
        ])
      )
      const open = yield* Effect.promise(() => openSession(port))
      assert.strictEqual(serialOf(open), first)
      for (const line of ["MAIL FROM:<a@sender.test>", `RCPT TO:<ada@${MAIL.domain}>`, "DATA"])
        assert.match(yield* Effect.promise(() => ask(open, `${line}\r\n`)), /^(250|354)/)
      open.write("From: a@sender.test\r\nSubject: half\r\n\r\nbefore")

      yield* Effect.promise(() => acme.lego("renew", "--days", "9999", "--no-random-sleep"))
      const second = serialIn(acme.certificateFile)
      assert.notStrictEqual(second, first)
      const { gid, mode } = statSync(acme.keyFile)
      assert.deepStrictEqual([gid, mode & 0o777], [READERS, 0o640])
      yield* TestClock.adjust("1 minute")
      yield* Deferred.await(replaced)
      const next = yield* Effect.promise(() => openSession(port))
      assert.strictEqual(serialOf(next), second)
      assert.match(yield* Effect.promise(() => ask(open, " and after\r\n.\r\n")), /^250/)
      assert.strictEqual(serialOf(open), first)
      assert.match(accepted.join(), /before and after/)
      for (const session of [open, next]) session.destroy()
    })
  )
})
