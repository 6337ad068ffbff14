import {
  InboundMails,
  InboundMailStore,
  Keyring,
  MailboxStore,
  MailParser,
  noMailParser,
  ReturnPath,
  SenderPolicy,
  type Tenant
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, Schema, Stream } from "effect"
import { ADA, adasMailbox, create, failureOf, pay, scenario } from "../support/Purchase.ts"

const { decide, fromInput } = SenderPolicy
const decodeInput = Schema.decodeUnknownResult(SenderPolicy.SenderPolicyInput)
const RESULTS = ["pass", "none", "fail", "permerror", "temperror", undefined] as const

describe("decide", () => {
  const policy = (mode: SenderPolicy.SenderPolicy["mode"]) => ({ mode, allow: ["friend.test"], block: ["foe.test"] })
  const decisions = (author: string, dmarc: string | undefined) =>
    (["anyone", "authenticated", "listed"] as const).map((mode) => decide(policy(mode), author, dmarc)).join(" ")

  it("follows its table, and is undetermined only where the DMARC result decides", () => {
    const table = (author: string) => RESULTS.map((dmarc) => decisions(author, dmarc))
    assert.deepStrictEqual(table("a@foe.test"), Array(6).fill("refused refused refused"))
    assert.deepStrictEqual(table("a@friend.test"), [
      "admitted admitted admitted",
      "admitted admitted admitted",
      "admitted refused refused",
      "admitted refused refused",
      "admitted undetermined undetermined",
      "admitted undetermined undetermined"
    ])
    assert.deepStrictEqual(table("a@other.test"), [
      "admitted admitted refused",
      "admitted refused refused",
      "admitted refused refused",
      "admitted refused refused",
      "admitted undetermined refused",
      "admitted undetermined refused"
    ])
  })

  it("compares addresses in any case of ASCII letters, quoted or not, and domains with their subdomains", () => {
    const { block } = fromInput({ block: ["Bob@Example.com", "bücher.example", "Sub.Example.org"] })
    assert.deepStrictEqual(block, ["bob@example.com", "xn--bcher-kva.example", "sub.example.org"])
    const isBlocked = (author: string) => decide({ ...SenderPolicy.ANYONE, block }, author, "pass") === "refused"
    for (const author of [
      "bob@example.com",
      "BOB@example.com",
      '"bob"@example.com',
      "a@xn--bcher-kva.example",
      "a@mail.xn--bcher-kva.example",
      "a@sub.example.org",
      "a@b.sub.example.org"
    ]) {
      assert.isTrue(isBlocked(author), author)
    }
    for (const author of [
      "bob+tag@example.com",
      "bob@mail.example.com",
      "bob@example.com.evil.test",
      "a@notsub.example.org",
      "a@example.org",
      "bo\u212a@example.com",
      "a@xn--bcher-kva.example.evil.test",
      ""
    ]) {
      assert.isFalse(isBlocked(author), author)
    }
  })

  it.prop(
    "lets block precede allow, allow precede the mode, and more proof never refuse what less proof admits",
    [
      Schema.Literals(["anyone", "authenticated", "listed"]),
      Schema.Array(Schema.Literals(["a@one.test", "one.test", "two.test", "b@two.test", "x.one.test"])),
      Schema.Array(Schema.Literals(["a@one.test", "one.test", "two.test", "b@two.test", "x.one.test"])),
      Schema.Literals(["a@one.test", "b@two.test", "c@x.one.test", "d@three.test"]),
      Schema.Literals(["pass", "none", "fail", "permerror", "temperror"])
    ],
    ([mode, allow, block, author, dmarc]) => {
      const verdict = decide({ mode, allow, block }, author, dmarc)
      const isListed = (entries: ReadonlyArray<string>) =>
        decide({ mode: "anyone", allow: [], block: entries }, author, dmarc) === "refused"
      if (isListed(block)) assert.strictEqual(verdict, "refused")
      else if (mode === "anyone") assert.strictEqual(verdict, "admitted")
      else if (isListed(allow) && (dmarc === "pass" || dmarc === "none")) assert.strictEqual(verdict, "admitted")
      if (verdict === "admitted") assert.strictEqual(decide({ mode, allow, block }, author, "pass"), "admitted")
      const unchecked = decide({ mode, allow, block }, author, undefined)
      if (unchecked !== "undetermined") assert.strictEqual(verdict, unchecked)
    }
  )
})

describe("a policy as input", () => {
  it("has the defaults for omitted parts, and each entry once", () => {
    assert.deepStrictEqual(fromInput({}), SenderPolicy.ANYONE)
    assert.deepStrictEqual(fromInput({ mode: "listed", allow: ["A@b.test", "a@B.test", "c.test"] }), {
      mode: "listed",
      allow: ["a@b.test", "c.test"],
      block: []
    })
  })

  it("consists of addresses and domains, at most 100 in each list", () => {
    const isAccepted = (input: unknown) => decodeInput(input)._tag === "Success"
    assert.isTrue(isAccepted({ allow: ["m\u00fcnchen.test", "a@M\u00dcNCHEN.test"] }))
    for (const entry of ["\uff42ank.test", "a@ba\u00adnk.test", "ban\u212a.test"]) {
      assert.isFalse(isAccepted({ allow: [entry] }), entry)
    }
    const full = Array.from({ length: 100 }, (_, index) => `a${index}.test`)
    assert.isTrue(isAccepted({ mode: "listed", allow: full, block: full }))
    assert.isFalse(isAccepted({ allow: [...full, "b.test"] }))
    assert.isFalse(isAccepted({ mode: "friends" }))
    for (const entry of [
      "*@b.test",
      "@b.test",
      "bob",
      "a b@c.test",
      "b.test/",
      "http://b.test",
      "b..test",
      "[::1]",
      ""
    ]) {
      assert.isFalse(isAccepted({ block: [entry] }), entry)
    }
  })
})

const envelope = {
  mailFrom: "bounce@else.test",
  rcptTo: ["ada@agents.test"],
  remoteAddress: "192.0.2.1",
  helo: "else.test",
  secure: false
}
const raw = new Uint8Array(300_000)

/** A server whose checks of senders have this DMARC result, with the size of each mail that it checked. */
const serverWith = Effect.fnUntraced(function* (dmarc: string, dkim = "none") {
  const checks: Array<number> = []
  const parser = MailParser.of({
    ...noMailParser,
    authenticate: (pieces) =>
      Effect.map(Stream.runCollect(pieces), (all) => {
        checks.push(all.reduce((sum, { length }) => sum + length, 0))
        return { spf: "none", dkim, dmarc, domain: null }
      })
  })
  const inbound = yield* Effect.provide(
    InboundMails,
    Layer.fresh(InboundMails.layer).pipe(Layer.provide(Layer.succeed(MailParser, parser)))
  )
  return { inbound, checks }
})

const setPolicy = Effect.fnUntraced(function* (
  tenant: Tenant,
  localPart: string,
  input: SenderPolicy.SenderPolicyInput
) {
  const store = yield* MailboxStore
  const mailbox = (yield* store.list(tenant.tenantId)).find((found) => found.localPart === localPart)!
  assert.isTrue(yield* store.update({ ...mailbox, senderPolicy: fromInput(input) }))
})

/** The value of the metric of mails that policies kept out of mailboxes. */
const keptOut = (outcome: string) =>
  Effect.map(Metric.snapshot, (metrics) => {
    const found = metrics.find(
      ({ attributes, id }) => id === "agentos_mail_sender_policy_total" && attributes?.["outcome"] === outcome
    )
    return found?.type === "Counter" ? Number(found.state.count) : 0
  })

/** The recipients of the mails that wait for delivery, with the DMARC result that was kept. */
const waiting = Effect.gen(function* () {
  const mails = yield* (yield* InboundMailStore).lease(10, 0)
  return mails.map(({ envelope: kept }) => [...kept.rcptTo, kept.authentication?.dmarc])
})

describe("mail to mailboxes with sender policies", () => {
  scenario("is decided before it is stored, and its sender is checked only if that decides", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const { checks, inbound } = yield* serverWith("pass")
      yield* setPolicy(tenant, "ada", { block: ["foe.test"] })
      yield* inbound.admit("ada@agents.test", envelope)
      const refused = yield* failureOf(inbound.accept(envelope, raw, "x@foe.test"))
      assert.strictEqual(refused.refusal, "sender refused")
      assert.deepStrictEqual(yield* waiting, [])
      yield* inbound.accept(envelope, raw, "x@friend.test")
      assert.deepStrictEqual(checks, [])
      yield* setPolicy(tenant, "ada", { mode: "authenticated" })
      yield* inbound.accept(envelope, raw, "x@friend.test")
      assert.deepStrictEqual(checks, [raw.length])
      assert.sameDeepMembers(yield* waiting, [
        ["ada@agents.test", undefined],
        ["ada@agents.test", "pass"]
      ])
      const unproven = (yield* serverWith("none")).inbound
      assert.strictEqual((yield* failureOf(unproven.accept(envelope, raw, "x@friend.test"))).refusal, "sender refused")
    })
  )

  scenario("is stored for the recipients that admit it alone", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const { inbound } = yield* serverWith("none")
      const unpaid = yield* failureOf(create({ localPart: "eve" }, { tenant, key: "eve" }))
      const signature = pay(unpaid._tag === "PaymentRequired" ? unpaid.challenge : "", ADA, "09")
      yield* create({ localPart: "eve" }, { tenant, signature, key: "eve" })
      yield* setPolicy(tenant, "ada", { mode: "listed", allow: ["friend.test"] })
      const rcptTo = ["ADA+x@agents.test", "eve@agents.test", "ada@agents.test"]
      const before = yield* keptOut("withheld")
      yield* inbound.accept({ ...envelope, rcptTo }, raw, "x@else.test")
      assert.strictEqual((yield* keptOut("withheld")) - before, 1)
      yield* inbound.accept({ ...envelope, rcptTo }, raw, "x@friend.test")
      assert.sameDeepMembers(yield* waiting, [
        ["eve@agents.test", undefined],
        [...rcptTo, "none"]
      ])
    })
  )

  scenario("is refused temporarily as a whole while a decision depends on a check that can't be made", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const { inbound } = yield* serverWith("temperror")
      yield* setPolicy(tenant, "ada", { mode: "authenticated" })
      assert.strictEqual((yield* failureOf(inbound.accept(envelope, raw, "x@else.test"))).refusal, "sender unchecked")
      const { inbound: partly } = yield* serverWith("fail", "temperror")
      assert.strictEqual((yield* failureOf(partly.accept(envelope, raw, "x@else.test"))).refusal, "sender unchecked")
      yield* setPolicy(tenant, "ada", { mode: "listed" })
      assert.strictEqual((yield* failureOf(inbound.accept(envelope, raw, "x@else.test"))).refusal, "sender refused")
      assert.deepStrictEqual(yield* waiting, [])
    })
  )

  scenario("reaches return paths from any sender", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { inbound } = yield* serverWith("fail")
      yield* setPolicy(tenant, "ada", { mode: "listed" })
      const returnPath = `${ReturnPath.make(yield* Keyring, mailboxId, 0)}@agents.test`
      const report = { ...envelope, mailFrom: "", rcptTo: ["ada@agents.test", returnPath] }
      yield* inbound.accept(report, raw, "MAILER-DAEMON@else.test")
      assert.deepStrictEqual(yield* waiting, [[returnPath, undefined]])
    })
  )
})
