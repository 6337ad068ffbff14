import {
  EmailProvider,
  MailParser,
  type OutgoingMail,
  PaymentRail,
  type PaymentProof,
  type PaymentTerms,
  type ProviderErrorReason,
  TelephonyProvider,
  Timestamp
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  AdapterError,
  type CarrierReport,
  type CustomCarrier,
  type CustomMail,
  type CustomRail,
  type RailState
} from "../src/index.ts"
import { customCarrier } from "../src/custom/CustomCarrier.ts"
import { customMail } from "../src/custom/CustomMail.ts"
import { customRail } from "../src/custom/CustomRail.ts"
import { houseCarrier } from "./support/HouseCarrier.ts"

/** Returns an adapter that opens, without the log of its failures. */
const quietly = <A>(adapter: Layer.Layer<A, unknown>) => Layer.merge(Layer.orDie(adapter), Logger.layer([]))
const REASONS: ReadonlyArray<ProviderErrorReason> = ["Temporary", "Rejected", "Misconfigured", "Unknown"]

const mail: OutgoingMail = {
  messageIdHeader: "<1@agents.test>",
  inReplyTo: null,
  references: [],
  from: { address: "ada@agents.test", name: null },
  returnPath: "bounce@agents.test",
  returnPaths: ["bounce@agents.test"],
  recipients: ["bob@outside.example"],
  to: ["bob@outside.example"],
  cc: [],
  replyTo: [],
  autoSubmitted: null,
  bcc: [],
  subject: "Hi",
  text: "Hello",
  html: null,
  attachments: [
    { filename: "a.txt", contentType: "text/plain", sizeBytes: 2, content: Stream.make(new Uint8Array([104, 105])) }
  ],
  date: Timestamp.Timestamp.make(0)
}

const send = (own: Partial<CustomMail>) =>
  Effect.gen(function* () {
    const provider = yield* EmailProvider
    return yield* provider.send(mail)
  }).pipe(Effect.provide(quietly(customMail({ domain: "agents.test", ...own } as CustomMail).layer)))

describe("a mail system of the host", () => {
  it.effect("receives plain values, and accepted every recipient if it returns nothing", () =>
    Effect.gen(function* () {
      const files: Array<string> = []
      const receipt = yield* send({
        send: async ({ attachments, date }) => {
          assert.strictEqual(date.toISOString(), "1970-01-01T00:00:00.000Z")
          for (const { content } of attachments) {
            for await (const piece of content) files.push(Buffer.from(piece).toString())
          }
        }
      })
      assert.deepStrictEqual(files, ["hi"])
      assert.deepStrictEqual(receipt, { accepted: mail.recipients, rejected: [], response: "accepted" })
    })
  )

  it.effect("fails with the reason that it states, also in an error of its own", () =>
    Effect.gen(function* () {
      const refused = [{ address: "bob@outside.example", reason: "550 unknown" }]
      for (const reason of REASONS) {
        for (const error of [
          new AdapterError(reason, "No.", { refused }),
          Object.assign(new Error("No."), { reason, refused })
        ]) {
          const failure = yield* Effect.flip(send({ send: () => Promise.reject(error) }))
          assert.deepInclude(failure, { provider: "custom", reason, message: "No.", refused })
        }
      }
    })
  )

  it.effect("has an unknown outcome after any other error, whose message is hidden", () =>
    Effect.gen(function* () {
      for (const broken of [
        { send: () => Promise.reject(new Error("password=secret")) },
        {
          send: () => {
            throw new TypeError("password=secret")
          }
        }
      ]) {
        const failure = yield* Effect.flip(send(broken))
        assert.deepInclude(failure, { reason: "Unknown", message: "The provider custom failed." })
      }
      const failure = yield* Effect.flip(send({}))
      assert.deepInclude(failure, { reason: "Misconfigured" })
      assert.match(failure.message, /^mail\.send is not a function\./)
    })
  )

  it.effect("parses mail with defaults, and reports one that it cannot parse", () => {
    const envelope = { mailFrom: "b@c.example", rcptTo: [], remoteAddress: "192.0.2.1", helo: "c", secure: false }
    const raw = Stream.make(new Uint8Array([104, 105]))
    const own: CustomMail = {
      domain: "agents.test",
      send: () => undefined,
      parse: (bytes) => {
        if (bytes.length !== 2) throw new Error("two bytes")
        return { from: { address: "b@c.example", name: null }, subject: "Hi", text: "Hello" }
      },
      authenticate: () => ({ spf: "pass", dkim: "none", dmarc: "pass", domain: "c.example" })
    }
    return Effect.gen(function* () {
      const parser = yield* MailParser
      const parsed = yield* parser.parse(raw, envelope)
      assert.deepInclude(parsed, { subject: "Hi", text: "Hello", extractedText: "Hello", truncated: false })
      assert.strictEqual(parsed.authentication.domain, "c.example")
      assert.match(parsed.bodyHash, /^[0-9a-f]{64}$/)
      const failure = yield* Effect.flip(parser.parse(Stream.make(new Uint8Array(3)), envelope))
      assert.strictEqual(failure._tag, "MailUnreadable")
    }).pipe(Effect.provide(quietly(customMail(own).layer)))
  })
})

const terms: PaymentTerms = {
  scheme: "exact",
  network: "credits:house",
  asset: "credit",
  amount: 10n,
  payTo: "house",
  maxTimeoutSeconds: 60,
  extra: {}
}
const proof: PaymentProof = {
  digest: "d",
  network: terms.network,
  asset: terms.asset,
  payer: `0x${"1".repeat(40)}`,
  payTo: "house",
  value: 10n,
  nonce: `0x${"2".repeat(64)}`,
  validAfter: 0,
  validBefore: 60,
  accepted: { ...terms, amount: "10" },
  payload: "header"
}

const onRail = <A, E>(own: Partial<CustomRail>, use: (rail: PaymentRail["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(PaymentRail, use).pipe(
    Effect.provide(quietly(customRail(own as CustomRail).layer as Layer.Layer<PaymentRail>))
  )

describe("a payment rail of the host", () => {
  it.effect("was refused only if it says so, and is unknown after any other error", () =>
    Effect.gen(function* () {
      const settle = (charge: CustomRail["charge"]) => onRail({ charge }, (rail) => rail.settle(proof, terms))
      assert.deepStrictEqual(yield* settle(({ header }) => ({ transaction: header })), {
        _tag: "Accepted",
        transaction: "header"
      })
      for (const reason of REASONS) {
        const answer = yield* settle(() => Promise.reject(new AdapterError(reason, "No.")))
        assert.deepStrictEqual(answer, { _tag: reason === "Rejected" ? "Refused" : "Unknown", message: "No." })
      }
      assert.strictEqual((yield* settle(() => Promise.reject(new Error("lost"))))._tag, "Unknown")
    })
  )

  it.effect("determines the outcome of a payment by its state alone", () =>
    Effect.gen(function* () {
      const outcomeOf = (state: RailState, afterBlock = 0n) =>
        onRail({ find: async () => state }, (rail) => rail.findSettlement(proof, terms, afterBlock))
      const charged = { status: "charged", transaction: "t", amount: 10n } as const
      assert.deepStrictEqual(yield* outcomeOf(charged), { _tag: "Paid", transaction: "t", block: 1n })
      assert.strictEqual((yield* outcomeOf({ ...charged, amount: 9n }))._tag, "UsedOtherwise")
      assert.strictEqual((yield* outcomeOf({ ...charged, block: 7n }, 7n))._tag, "UsedOtherwise")
      assert.strictEqual((yield* outcomeOf({ status: "used", message: "m" }))._tag, "UsedOtherwise")
      // A rail without blocks: AgentOS did not request a charge that was there before it read the nonce.
      const before = yield* onRail({}, (rail) => rail.blockBefore(terms, Timestamp.Timestamp.make(0)))
      assert.strictEqual((yield* outcomeOf(charged, before))._tag, "UsedOtherwise")
      assert.strictEqual((yield* outcomeOf({ status: "pending" }))._tag, "Unsettled")
      assert.deepStrictEqual(yield* outcomeOf({ status: "unused" }), { _tag: "Unused", expired: false })
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(yield* outcomeOf({ status: "unused" }), { _tag: "Unused", expired: true })
      assert.deepStrictEqual(yield* outcomeOf({ status: "unused", expired: false }), { _tag: "Unused", expired: false })
      const read = (state: RailState) => onRail({ find: () => state }, (rail) => rail.readNonce(proof))
      assert.deepStrictEqual(yield* read({ status: "unused", block: 7n }), { used: false, block: 7n })
      assert.deepStrictEqual(yield* read({ status: "pending" }), { used: true, block: 0n })
      const funds = (own: Partial<CustomRail>) => onRail(own, (rail) => rail.readFunds(terms, proof.payer))
      assert.deepStrictEqual(yield* funds({}), { balance: null, allowance: null })
      assert.deepStrictEqual(yield* funds({ balance: () => 5n }), { balance: 5n, allowance: null })
      const lost = onRail({ find: () => Promise.reject(new Error("down")) }, (rail) => rail.readNonce(proof))
      assert.strictEqual((yield* Effect.flip(lost)).reason, "Temporary")
    })
  )

  it.effect("admits no payment whose check fails in any way", () =>
    Effect.gen(function* () {
      const check = (authenticate: CustomRail["authenticate"]) =>
        Effect.flip(onRail({ authenticate }, (rail) => rail.authenticate(proof)))
      for (const error of [new Error("defect"), ...REASONS.map((reason) => new AdapterError(reason, "No."))]) {
        assert.strictEqual((yield* check(() => Promise.reject(error)))._tag, "ProofInvalid")
      }
      const verify = (own: Partial<CustomRail>) => Effect.flip(onRail(own, (rail) => rail.verify(proof, terms)))
      assert.strictEqual(
        (yield* verify({ verify: () => Promise.reject(new AdapterError("Rejected", "poor")) }))._tag,
        "ProofInvalid"
      )
      assert.strictEqual((yield* verify({ verify: () => Promise.reject(new Error("down")) }))._tag, "ProviderError")
    })
  )

  it.effect("refunds once for an id, or leaves the refund due", () =>
    Effect.gen(function* () {
      const refund = { terms, proof, transaction: "t", afterBlock: 0n, nonce: "id" }
      const refunded = (own: Partial<CustomRail>) => onRail(own, (rail) => rail.refund(refund))
      const paid = yield* refunded({ refund: ({ amount, id, payer }) => ({ transaction: `${payer} ${amount} ${id}` }) })
      assert.deepStrictEqual(paid, { _tag: "Paid", transaction: `${proof.payer} 10 id` })
      assert.strictEqual((yield* refunded({ refund: () => null }))._tag, "Pending")
      assert.strictEqual((yield* Effect.flip(refunded({}))).reason, "Misconfigured")
      assert.isFalse(yield* onRail({}, (rail) => Effect.succeed(rail.canRefund(terms))))
      assert.isTrue(yield* onRail({ refund: () => null }, (rail) => Effect.succeed(rail.canRefund(terms))))
      assert.strictEqual((yield* Effect.flip(onRail({}, (rail) => rail.transfers(terms, 0n)))).reason, "Misconfigured")
      const transfers = () => ({ transfers: [], nextBlock: null })
      assert.isFalse(yield* onRail({}, (rail) => Effect.succeed(rail.listsTransfers)))
      assert.isTrue(yield* onRail({ transfers }, (rail) => Effect.succeed(rail.listsTransfers)))
    })
  )
})

describe("a carrier of the host", () => {
  it.effect("is asked in plain values, and an unexplained purchase or call has an unknown outcome", () => {
    const { carrier } = houseCarrier()
    const broken = (own: Partial<CustomCarrier>) =>
      Effect.flatMap(TelephonyProvider, (provider) =>
        Effect.all([
          Effect.flip(provider.buy("+14155550100")),
          Effect.flip(provider.place({ callId: "c", from: "+14155550100", to: "+12025550150", limitSeconds: 60 })),
          Effect.flip(provider.search({ country: "US", limit: 1 }))
        ])
      ).pipe(Effect.provide(quietly(customCarrier({ ...carrier, ...own }).layer(""))))
    return Effect.gen(function* () {
      const down = () => Promise.reject(new Error("down"))
      const failures = yield* broken({ buy: down, place: down, search: down })
      assert.deepStrictEqual(
        failures.map(({ provider, reason }) => [provider, reason]),
        [
          ["house-phone", "Unknown"],
          ["house-phone", "Unknown"],
          ["house-phone", "Temporary"]
        ]
      )
    })
  })

  it.effect("reports durations in whole seconds, and ignores invalid durations and times", () => {
    const { carrier } = houseCarrier()
    const found = (report: Omit<Extract<CarrierReport, { readonly state: "ended" }>, "state" | "ending">) =>
      Effect.flatMap(TelephonyProvider, (provider) =>
        provider.findCalls("+14155550100", "+12025550150", Timestamp.Timestamp.make(1_000))
      ).pipe(
        Effect.provide(
          quietly(
            customCarrier({
              ...carrier,
              findCalls: (_from, _to, after) => [
                { providerCallId: "CA1", report: { state: "ended", ending: "busy", at: after, ...report } }
              ]
            }).layer("")
          )
        )
      )
    return Effect.gen(function* () {
      const seconds = [undefined, 0, 61, 61.2, Number.NaN, -1, Number.POSITIVE_INFINITY]
      const calls = yield* Effect.forEach(seconds, (each) => found({ seconds: each }))
      const reportAt = (at: Timestamp.Timestamp, each: number | null) => ({
        providerCallId: "CA1",
        report: { _tag: "Ended" as const, at, ending: "busy" as const, seconds: each }
      })
      assert.deepStrictEqual(
        calls.flat(),
        [null, 0, 61, 62, null, null, null].map((each) => reportAt(Timestamp.Timestamp.make(1_000), each))
      )
      assert.deepStrictEqual(yield* found({ at: new Date(Number.NaN) }), [reportAt(yield* Timestamp.now, null)])
    })
  })
})
