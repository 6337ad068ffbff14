import { createHash, randomBytes } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from "vitest"
import { useOf, type Wallet } from "../faults/client/Wallet.ts"
import type { Answer, Payment, Use } from "../faults/observation/Purchases.ts"
import { Testbed, type TestbedOptions } from "../faults/server/Testbed.ts"
import { freshName, type Request } from "../support/Agent.ts"
import { dataOf } from "../support/PhoneCustomer.ts"
import { Shop } from "./Shop.ts"

const MIB = 1024 * 1024
const TIMEOUT_MILLIS = 300_000
const PAUSE_MILLIS = 500
/** Longer than a server takes to start, so that a payment that was not settled before a kill can be settled after it. */
const PAYMENT_SECONDS = 300
/** Three copies of 14 MiB, twice: the challenge and the payment, whose garbage may not have been collected. */
const GROWTH_LIMIT_BYTES = 200 * MIB

/** Recipients, and the step at which the server is killed. Memory grows with their number; for kills, a few are enough. */
const SENDS = [
  [1, "no step"],
  [1, "staged"],
  [1, "before_perform"],
  [1, "after_perform"],
  [50, "no step"],
  [5, "before_perform"]
] as const

/** 10 MiB in two files of random bytes. */
const FILES = [7 * MIB, 3 * MIB].map((length, index) => ({ filename: `file-${index}.bin`, bytes: randomBytes(length) }))
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const requestTo = (mailboxId: string, to: ReadonlyArray<string>): Request => ({
  path: "/api/v1/email/messages/send",
  body: {
    mailboxId,
    to,
    subject: "Files",
    text: "Ten mebibytes.",
    attachments: FILES.map(({ bytes, filename }) => ({
      filename,
      contentType: "application/octet-stream",
      contentBase64: bytes.toString("base64")
    }))
  }
})

/** Returns the hashes of the attachments of a mail. */
const attachmentsIn = (mail: string): ReadonlyArray<string> =>
  mail
    .split(/\r?\n--[^\r\n]+/)
    .filter((part) => /^content-disposition: attachment/im.test(part))
    .map((part) => sha256(Buffer.from(part.slice(part.search(/\r?\n\r?\n/)), "base64")))

/** Returns the largest resident size of a process so far, in bytes. */
const peakBytesOf = async (pid: number): Promise<number> =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024

const network: TestbedOptions["network"] = (planned) => ({ ...planned, maxTimeoutSeconds: PAYMENT_SECONDS })

/** Repeats a request until its answer is final. */
const untilFinal = async (wallet: Wallet, payment: Payment, use: Use): Promise<Answer> => {
  for (;;) {
    const answer = await wallet.send(payment, use).catch(() => undefined)
    if (answer !== undefined && !answer.retryable) return answer
    await sleep(PAUSE_MILLIS)
  }
}

describe(
  "a mail with 10 MiB of attachments arrives whole and is charged once, in bounded memory, also if the server is killed " +
    "between storing the attachments and the answer",
  () => {
    let testbed: Testbed
    let shop: Shop
    beforeAll(async () => {
      testbed = await Testbed.start({ database: "postgres", network })
      shop = new Shop(testbed)
    })
    afterAll(() => testbed.stop())

    /** The sum of all transfers that a wallet has made. */
    const paidBy = async ({ address }: Wallet): Promise<bigint> =>
      (await testbed.token.read())
        .filter(({ from }) => from.toLowerCase() === address.toLowerCase())
        .reduce((sum, { value }) => sum + value, 0n)

    it.each(SENDS)("to %i recipients, killed at %s", async (count, step) => {
      onTestFailed(() => console.log(testbed.serverLogs()))
      const { outboxDir, servers } = testbed.cluster
      const [server] = servers
      const wallet = await shop.newTenant()
      const [mailbox] = await wallet.mailboxes()
      const idleBytes = await peakBytesOf(server!.pid())
      const to = Array.from({ length: count }, () => `${freshName()}@else.test`)
      const request = requestTo(mailbox!.mailboxId, to)
      const before = await paidBy(wallet)
      const payment = await wallet.sign(request)
      const use = useOf(payment, request)
      const startedAt = performance.now()
      if (step !== "no step") {
        const holds = { [payment.authorization.nonce]: { step, until: "killed" } } as const
        testbed.gate.set(holds)
        void wallet.send(payment, use).catch(() => undefined)
        await testbed.gate.untilHeld(holds)
        // The restarted server may take the operation over before it serves, and must not hold it.
        testbed.gate.set({})
        await testbed.killServer()
      }
      const answer = await untilFinal(wallet, payment, use)
      const seconds = (performance.now() - startedAt) / 1_000
      const peakBytes = await peakBytesOf(server!.pid())
      console.log(
        `${count} recipients, killed at ${step}: ${seconds.toFixed(1)} s, ` +
          `peak ${Math.round(peakBytes / MIB)} MiB, idle at first ${Math.round(idleBytes / MIB)} MiB`
      )
      expect([answer.status, answer.code]).toEqual([201, undefined])
      expect((await paidBy(wallet)) - before).toBe(20_000n)
      if (step === "no step") expect(peakBytes - idleBytes).toBeLessThan(GROWTH_LIMIT_BYTES)
      const names = await readdir(outboxDir)
      const envelopes = await Promise.all(
        names
          .filter((name) => name.endsWith(".json"))
          .map(async (name) => ({ name, text: await readFile(join(outboxDir, name), "utf8") }))
      )
      const sent = envelopes.flatMap(({ name, text }) => {
        const { messageId, rcptTo } = JSON.parse(text) as { messageId: string; rcptTo: ReadonlyArray<string> }
        return rcptTo.some((address) => to.includes(address)) ? [{ name, messageId, rcptTo }] : []
      })
      // Each recipient has a return path of its own, and so a transaction. The killed server may have sent some before.
      expect(new Set(sent.flatMap(({ rcptTo }) => rcptTo))).toEqual(new Set(to))
      expect(sent.map(({ rcptTo }) => rcptTo.length)).toEqual(sent.map(() => 1))
      expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(1)
      for (const { name } of [sent[0]!, sent.at(-1)!]) {
        const mail = await readFile(join(outboxDir, name.replace(/json$/, "eml")), "latin1")
        expect(attachmentsIn(mail)).toEqual(FILES.map(({ bytes }) => sha256(bytes)))
      }
    })
  }
)

/** When the server is killed while it receives mails. Reading one of 25 MiB takes a second. */
const MOMENTS = ["while they arrive", "while they are read"] as const
const READING_MILLIS = 200
const SIZES = [10 * MIB, 25 * MIB]
const FROM = "bob@outside.example"
/** A mail that a killed server was reading is read again when its lease has expired. */
const DELIVERY = { timeout: 60_000, interval: 100 }

interface ReceivedMessage {
  readonly messageId: string
  readonly attachments: ReadonlyArray<{ readonly attachmentId: string }>
}

/** Returns a mail of nearly `bytes` bytes, and the hash of its file, which has random bytes. */
const largeMail = async (to: string, bytes: number) => {
  // Base64 with line ends writes 57 bytes as 78.
  const content = randomBytes(Math.floor((bytes * 57) / 78) - 4_096)
  const composer = createTransport({ streamTransport: true, buffer: true })
  const attachments = [{ filename: "file.bin", content }]
  const { message } = await composer.sendMail({ from: FROM, to, subject: "A file", text: "Hello", attachments })
  return { hash: sha256(content), raw: message as Buffer }
}

it(
  "received mails of 10 and 25 MiB are delivered once and whole, in bounded memory, if the server is killed while they " +
    "arrive, or while they are read after their acceptance",
  () =>
    Shop.with({ database: "postgres" }, async (shop) => {
      const { testbed } = shop
      const [server] = testbed.cluster.servers
      const wallet = await shop.newTenant()
      const [mailbox] = await wallet.mailboxes()
      const { address, mailboxId } = mailbox!
      const idleBytes = await peakBytesOf(server!.pid())
      const received = async () => {
        const reply = await wallet.on().send({ path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` })
        return dataOf<{ readonly items: ReadonlyArray<ReceivedMessage> }>(reply).items
      }
      const hashOf = async ({ attachments, messageId }: ReceivedMessage) => {
        const path = `/api/v1/email/messages/${messageId}/attachments/${attachments[0]!.attachmentId}`
        const headers = { authorization: `Bearer ${wallet.token}` }
        const download = await fetch(`${server!.baseUrl}${path}`, { headers })
        return sha256(new Uint8Array(await download.arrayBuffer()))
      }
      const hashes: Array<string> = []
      for (const moment of MOMENTS) {
        const mails = await Promise.all(SIZES.map((bytes) => largeMail(address, bytes)))
        const startedAt = performance.now()
        if (moment === "while they arrive") {
          const killed = Promise.withResolvers<void>()
          let halves = 0
          const sending = mails.map(({ raw }) => {
            const pieces = async function* () {
              yield raw.subarray(0, raw.length / 2)
              halves += 1
              await killed.promise
              yield raw.subarray(raw.length / 2)
            }
            const transport = createTransport({ ...server!.mail, tls: { rejectUnauthorized: false } })
            return transport.sendMail({ envelope: { from: FROM, to: address }, raw: Readable.from(pieces()) })
          })
          const outcomes = Promise.allSettled(sending)
          await vi.waitFor(() => expect(halves).toBe(mails.length), DELIVERY)
          await testbed.killServer()
          killed.resolve()
          expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"])
        }
        // A slow server that still buffers the other mail answers 452, and a sender retries.
        const deliver = async (raw: Buffer) =>
          expect(await testbed.mail.deliver({ mailFrom: FROM, rcptTo: [address] }, raw)).toMatch(/^250 /)
        await Promise.all(mails.map(({ raw }) => vi.waitFor(() => deliver(raw), DELIVERY)))
        const acceptedBytes = await peakBytesOf(server!.pid())
        if (moment === "while they are read") {
          await sleep(READING_MILLIS)
          await testbed.killServer()
        }
        hashes.push(...mails.map(({ hash }) => hash))
        await vi.waitFor(async () => expect(await received()).toHaveLength(hashes.length), DELIVERY)
        expect(new Set(await Promise.all((await received()).map(hashOf)))).toEqual(new Set(hashes))
        const seconds = (performance.now() - startedAt) / 1_000
        const peakBytes = Math.max(acceptedBytes, await peakBytesOf(server!.pid()))
        console.log(
          `received 10 and 25 MiB, killed ${moment}: ${seconds.toFixed(1)} s, ` +
            `peak ${Math.round(peakBytes / MIB)} MiB, idle at first ${Math.round(idleBytes / MIB)} MiB`
        )
        expect(peakBytes - idleBytes).toBeLessThan(GROWTH_LIMIT_BYTES)
      }
      // A copy of an earlier mail would have been read before the last one.
      expect(await received()).toHaveLength(hashes.length)
    }),
  TIMEOUT_MILLIS
)
