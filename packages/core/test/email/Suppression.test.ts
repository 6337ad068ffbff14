import {
  mailPieces,
  BLANK_CONTENT,
  DEFAULT_MAIL_POLICY,
  type DeliveryReport,
  InboundMails,
  MailParser,
  MailPolicy,
  messageSending,
  MessageStore,
  noMailParser,
  type OutgoingMail,
  type ParsedMail,
  ProviderError,
  REPORT_LIMIT,
  type SendMessageInput,
  Timestamp,
  Uuid
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { adasMailbox, deliverMail, failureOf, type Host, scenario } from "../support/Purchase.ts"

const { sending } = DEFAULT_MAIL_POLICY
const strict = Layer.succeed(MailPolicy, {
  ...DEFAULT_MAIL_POLICY,
  sending: { ...sending, complaints: { count: 3, rate: 0.003 }, bounces: { count: 3, rate: 0.05 } },
  feedbackReporters: ["fbl.example"]
})

const NONE = { spf: "none", dkim: "none", dmarc: "none", domain: null }
const EMPTY: ParsedMail = {
  ...BLANK_CONTENT,
  from: { address: "", name: null },
  subject: "s",
  text: "t",
  authentication: NONE,
  bodyHash: "00"
}

/** A parser whose mails are written as JSON. */
const jsonParser = MailParser.of({
  ...noMailParser,
  parse: (raw) =>
    Effect.map(Stream.runCollect(mailPieces(raw)), (pieces) => {
      const given: Partial<ParsedMail> = JSON.parse(new TextDecoder().decode(Buffer.concat([...pieces])))
      return { ...EMPTY, ...given }
    })
})

const complaint: DeliveryReport = { _tag: "Feedback", feedbackType: "abuse", recipients: [] }
const unknownUser: DeliveryReport = {
  _tag: "DeliveryStatus",
  recipients: [{ original: null, final: "x@y.test", action: "failed", status: "5.1.1", diagnostic: null }]
}

const contact = (address: string) => ({ address, name: null })

/** Ada sends and answers mail; strangers write to her and report to her return paths. */
const makeAda = Effect.fnUntraced(function* (host: Host, policies: Layer.Layer<never> = strict) {
  const { mailboxId, tenant } = yield* adasMailbox
  const { tenantId } = tenant
  const messages = yield* MessageStore
  const service = yield* messageSending
  const inbound = yield* Effect.provide(
    InboundMails,
    Layer.fresh(InboundMails.layer).pipe(Layer.provide([Layer.succeed(MailParser, jsonParser), policies]))
  )

  const receive = Effect.fnUntraced(function* (rcptTo: ReadonlyArray<string>, mail: Partial<ParsedMail>) {
    // Only reports have no envelope sender: other mail without one is not answered.
    const mailFrom = mail.report === undefined ? "x@else.test" : ""
    const envelope = { mailFrom, rcptTo, remoteAddress: "192.0.2.1", helo: "else.test", secure: false }
    yield* inbound.accept(envelope, new TextEncoder().encode(JSON.stringify(mail)), "x@else.test")
    yield* deliverMail(inbound)
  })

  const send = Effect.fnUntraced(function* (to: ReadonlyArray<string>, more: Partial<SendMessageInput> = {}) {
    const input = { mailboxId, to, subject: "s", text: "t", ...more }
    const context = {
      operationId: yield* Uuid.next,
      tenant,
      createdAt: tenant.createdAt,
      attended: true,
      isAuthenticated: true
    }
    const plan = yield* service.prepare(context, input)
    yield* service.record(context, plan, input, yield* service.perform!(context, plan, input))
    return host.sent.at(-1)!
  })

  const newest = Effect.map(
    messages.list(tenantId, { direction: "inbound" }, undefined, 1),
    ([received]) => received!.messageId
  )

  return {
    tenantId,
    send,
    newest,
    receive: (mail: Partial<ParsedMail>) => receive(["ada@agents.test"], mail),
    /** Lets these persons write to Ada, who answers to all of them. */
    answer: Effect.fnUntraced(function* (from: string, cc: ReadonlyArray<string> = [], dmarc = "none") {
      yield* receive(["ada@agents.test"], {
        from: contact(from),
        cc: cc.map(contact),
        authentication: { ...NONE, dmarc }
      })
      return yield* send([from], { cc, inReplyTo: yield* newest })
    }),
    report: (mail: OutgoingMail, place: number, report: DeliveryReport, domain: string | null = null) =>
      receive([mail.returnPaths[place]!], { report, authentication: { ...NONE, domain } }),
    isPaused: Effect.map(messages.findSending(tenantId), (record) => record?.pause?.reason ?? null),
    suppressed: Effect.map(messages.listSuppressions(tenantId, undefined, 100), (all) =>
      all.map(({ address, reason }) => `${address} ${reason}`)
    )
  }
})

describe("a stranger", () => {
  for (const dmarc of ["none", "pass"]) {
    scenario(
      `who wrote to an agent and was answered can't stop its sending by complaints or bounces (dmarc ${dmarc})`,
      (host) =>
        Effect.gen(function* () {
          const ada = yield* makeAda(host)
          for (const at of Array.range(1, 6)) {
            const report = at % 2 === 0 ? complaint : unknownUser
            yield* ada.report(yield* ada.answer(`m@evil${at}.test`, [], dmarc), 0, report)
          }
          // An agent that answers to all writes to whom the stranger named.
          const named = Array.range(1, 6).map((at) => `c@evil${at}.test`)
          const toAll = yield* ada.answer("boss@evil.test", named, dmarc)
          for (const place of Array.range(0, 6))
            yield* ada.report(toAll, place, place % 2 === 0 ? complaint : unknownUser)
          assert.isNull(yield* ada.isPaused)
          assert.lengthOf(yield* ada.suppressed, 13)
        }),
      strict
    )
  }

  scenario(
    "suppresses only itself by a complaint about a first message, and any number of them stop nothing",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const strangers = Array.range(1, 12).map((at) => `a@evil${at}.test`)
        for (const stranger of strangers) yield* ada.report(yield* ada.send([stranger]), 0, complaint)
        assert.isNull(yield* ada.isPaused)
        assert.sameMembers(
          [...(yield* ada.suppressed)],
          strangers.map((stranger) => `${stranger} complained`)
        )
      }),
    strict
  )

  scenario(
    "who denies any number of its own addresses counts as one",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const list = (...addresses: ReadonlyArray<string>) =>
          Effect.flatMap(ada.send(addresses), (mail) =>
            Effect.forEach(addresses, (_, place) => ada.report(mail, place, unknownUser))
          )
        yield* list(...Array.range(1, 12).map((at) => `a${at}@sub${at}.evil.test`))
        // Anyone has any number of domains there for nothing.
        yield* list(...Array.range(1, 3).map((at) => `a@evil${at}.net.ru`))
        assert.isNull(yield* ada.isPaused)
        assert.lengthOf(yield* ada.suppressed, 15)
        yield* list("a@paid.co.uk")
        assert.strictEqual(yield* ada.isPaused, "bounced")
      }),
    strict
  )

  scenario(
    "who registers two domains counts as two, also in a country where they have three labels",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        for (const domain of ["one.co.uk", "sub.one.co.uk", "two.co.uk", "two.com.au"]) {
          assert.isNull(yield* ada.isPaused)
          yield* ada.report(yield* ada.send([`a@${domain}`]), 0, unknownUser)
        }
        assert.strictEqual(yield* ada.isPaused, "bounced")
      }),
    strict
  )

  scenario(
    "whose mail fails DMARC counts once for each domain, so that forged mail evades no pause",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        for (const at of Array.range(1, 5)) {
          yield* ada.report(yield* ada.answer(`m${at}@evil.test`, [], "fail"), 0, unknownUser)
        }
        assert.isNull(yield* ada.isPaused)
        for (const at of [1, 2]) yield* ada.report(yield* ada.answer(`m@victim${at}.test`, [], "fail"), 0, unknownUser)
        assert.strictEqual(yield* ada.isPaused, "bounced")
      }),
    strict
  )
})

describe("a recipient", () => {
  scenario(
    "can't hide those that it named in a mail behind others in the thread",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const named = Array.range(1, 4).map((at) => `c${at}@evil.test`)
        yield* ada.receive({
          from: contact("boss@evil.test"),
          cc: named.map(contact),
          messageIdHeader: "<1@evil.test>"
        })
        const first = yield* ada.newest
        for (const at of Array.range(1, 60)) {
          const messageIdHeader = `<x${at}@evil.test>`
          yield* ada.receive({ from: contact("boss@evil.test"), inReplyTo: "<1@evil.test>", messageIdHeader })
        }
        const mail = yield* ada.send(["boss@evil.test"], { cc: named, inReplyTo: first })
        for (const place of [1, 2, 3, 4]) yield* ada.report(mail, place, unknownUser)
        assert.lengthOf(yield* ada.suppressed, 4)
        assert.isNull(yield* ada.isPaused)
      }),
    strict
  )

  scenario(
    "can't use up the stored reports of a message, so that reports on others do not count",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const mail = yield* ada.send(["mallory@evil.test", "bob@b.test"])
        const at = Timestamp.Timestamp.make(0)
        const messages = yield* MessageStore
        const [sent] = yield* messages.list(ada.tenantId, { direction: "outbound" }, undefined, 1)
        const { messageId } = sent!
        for (const _ of Array.range(1, REPORT_LIMIT)) {
          const reportId = yield* Uuid.next
          yield* messages.addReport({
            reportId,
            messageId,
            receivedAt: at,
            remoteAddress: "192.0.2.1",
            report: complaint
          })
        }
        yield* ada.report(mail, 1, unknownUser)
        assert.deepStrictEqual(yield* ada.suppressed, ["bob@b.test bounced"])
      }),
    strict
  )

  for (const isAlone of [true, false]) {
    scenario(
      `whom the relay refuses at once counts like one who bounces later (${isAlone ? "alone" : "beside another"})`,
      (host) =>
        Effect.gen(function* () {
          const ada = yield* makeAda(host)
          const refused = (...addresses: ReadonlyArray<string>) =>
            new ProviderError({
              provider: "scripted",
              reason: "Rejected",
              message: "no",
              refused: addresses.map((address) => ({ address, reason: "550 5.1.1 no such user" }))
            })
          const to = (name: string) =>
            isAlone ? [`${name}@evil.test`] : [`${name}@evil.test`, `other${name}@evil.test`]
          for (const name of ["a", "b", "c", "d"]) {
            const [from, ...cc] = to(name)
            yield* ada.receive({ from: contact(from!), cc: cc.map(contact) })
            host.sendScript.push(refused(...to(name)))
            yield* Effect.ignore(ada.send([from!], { cc, inReplyTo: yield* ada.newest }))
          }
          assert.isNull(yield* ada.isPaused)
          host.sendScript.push(refused("x@b.test", "y@c.test", "z@d.test"))
          yield* Effect.ignore(ada.send(["x@b.test", "y@c.test", "z@d.test"]))
          assert.strictEqual(yield* ada.isPaused, "bounced")
        }),
      strict
    )
  }
})

describe("sending is paused", () => {
  scenario(
    "by bounces of different recipients who never wrote, within 24 hours",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const list = yield* ada.send(["a@b.test", "b@c.test", "c@d.test"])
        for (const place of [0, 1]) yield* ada.report(list, place, unknownUser)
        yield* TestClock.adjust("24 hours")
        yield* ada.report(list, 2, unknownUser)
        assert.isNull(yield* ada.isPaused)
        const again = yield* ada.send(["d@e.test", "e@f.test"])
        for (const place of [0, 1]) yield* ada.report(again, place, unknownUser)
        assert.strictEqual(yield* ada.isPaused, "bounced")
      }),
    strict
  )

  scenario(
    "by bounces of different people at a mailbox provider",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const list = yield* ada.send(["a@gmail.com", "a+1@gmail.com", "a+2@gmail.com", "b@gmail.com", "c@gmail.com"])
        for (const place of [0, 1, 2, 3]) yield* ada.report(list, place, unknownUser)
        assert.isNull(yield* ada.isPaused)
        yield* ada.report(list, 4, unknownUser)
        assert.strictEqual(yield* ada.isPaused, "bounced")
      }),
    strict
  )

  scenario(
    "by no complaints of people who wrote first, also if a configured reporter makes them",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        for (const at of Array.range(1, 6)) {
          yield* ada.report(yield* ada.answer(`m${at}@big.test`, [], "pass"), 0, complaint, "fbl.example")
        }
        assert.isNull(yield* ada.isPaused)
        for (const at of [1, 2]) yield* ada.report(yield* ada.send([`a${at}@big.test`]), 0, complaint, "fbl.example")
        // Unproven, so that a tenant can't excuse its recipients by mail in their names.
        const forged = yield* ada.answer("victim@big.test", [], "none")
        assert.isNull(yield* ada.isPaused)
        yield* ada.report(forged, 0, complaint, "fbl.example")
        assert.strictEqual(yield* ada.isPaused, "complained")
      }),
    strict
  )

  scenario(
    "by complaints of a configured reporter, which count for each recipient",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        const mails = yield* Effect.forEach(Array.range(1, 3), (at) => ada.send([`a${at}@big.test`]))
        for (const [domain, mail] of Array.zip(["fbl.example", "mx.fbl.example"], mails)) {
          yield* ada.report(mail, 0, complaint, domain)
        }
        assert.isNull(yield* ada.isPaused)
        yield* ada.report(mails[2]!, 0, complaint, "fbl.example")
        assert.strictEqual(yield* ada.isPaused, "complained")
      }),
    strict
  )

  scenario(
    "by no complaints of a reporter that is not configured, or not authenticated",
    (host) =>
      Effect.gen(function* () {
        const ada = yield* makeAda(host)
        for (const domain of [null, "notfbl.example", "fbl.example.evil.test", "example"]) {
          yield* ada.report(yield* ada.send([`${Math.random()}@big.test`]), 0, complaint, domain)
        }
        assert.isNull(yield* ada.isPaused)
      }),
    strict
  )
})

describe("an address of the service's own domain", () => {
  scenario("that is no active mailbox is refused before payment, and never suppressed", (host) =>
    Effect.gen(function* () {
      const ada = yield* makeAda(host)
      yield* ada.send(["ada+tag@agents.test"])
      const error = yield* failureOf(ada.send(["ada@AGENTS.test", "nowhere@Agents.test", "a@b.test"]))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.deepStrictEqual(error._tag === "InvalidRequest" ? error.issues?.map(({ path }) => path) : [], ["to.1"])
      const mail = yield* ada.send(["ada@agents.test"])
      yield* ada.report(mail, 0, unknownUser)
      assert.deepStrictEqual(yield* ada.suppressed, [])
    })
  )
})
