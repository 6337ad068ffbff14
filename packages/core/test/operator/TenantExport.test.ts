import { exportTenant, InboundMails } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ADA, adasMailbox, deliverMail, pay, scenario, sendPaid } from "../support/Purchase.ts"

const MAIL = new TextEncoder().encode("Subject: Grüezi\r\n\r\nHello\r\n")

/** Reads an export as a host does: each file in turn. */
const filesOf = (tenant: string) =>
  Effect.flatMap(exportTenant(tenant), ({ files }) =>
    Stream.runCollect(
      Stream.mapEffect(files, ({ bytes, path }) =>
        Effect.map(Stream.runCollect(bytes), (pieces) => [path, Buffer.concat([...pieces]).toString("latin1")] as const)
      )
    )
  ).pipe(Effect.map((files) => new Map(files)))

const linesOf = (text: string | undefined): ReadonlyArray<Record<string, unknown>> =>
  (text ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe("an export", () => {
  scenario("has the lists of a tenant as JSON lines, and its received mail byte for byte", () =>
    Effect.gen(function* () {
      const { attempt, challenge, tenant } = yield* sendPaid
      yield* attempt(pay(challenge, ADA, "02"))
      const envelope = { mailFrom: "friend@else.test", rcptTo: ["ada@agents.test"], remoteAddress: "192.0.2.1" }
      const inbound = yield* InboundMails
      yield* inbound.accept({ ...envelope, helo: "else.test", secure: false }, MAIL, envelope.mailFrom)
      yield* deliverMail(inbound)

      const files = yield* filesOf(tenant.wallet)
      const messages = linesOf(files.get("messages.jsonl"))
      assert.deepStrictEqual(
        messages.map(({ direction }) => direction),
        ["inbound", "outbound"]
      )
      assert.strictEqual(
        files.get(`messages/${String(messages[0]?.["messageId"])}.eml`),
        Buffer.from(MAIL).toString("latin1")
      )
      assert.lengthOf(linesOf(files.get("mailboxes.jsonl")), 1)
      assert.lengthOf(linesOf(files.get("operations.jsonl")), 2)
      assert.deepInclude(linesOf(files.get("tenant.json"))[0], { tenantId: tenant.tenantId, wallet: ADA })
      assert.include(
        linesOf(files.get("events.jsonl")).map(({ type }) => type),
        "email.received"
      )
      for (const path of ["suppressions.jsonl", "webhooks.jsonl", "numbers.jsonl", "calls.jsonl"]) {
        assert.strictEqual(files.get(path), "", path)
      }
      const all = [...files.values()].join("\n")
      for (const secret of ["at_v1_", "signature", "binding"]) assert.notInclude(all, secret)
    })
  )

  scenario("pages through lists of any length", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const inbound = yield* InboundMails
      for (let count = 0; count < 120; count++) {
        const envelope = { mailFrom: `f${count}@else.test`, rcptTo: ["ada@agents.test"], remoteAddress: "192.0.2.1" }
        yield* inbound.accept({ ...envelope, helo: "else.test", secure: false }, MAIL, envelope.mailFrom)
        yield* deliverMail(inbound)
      }
      const files = yield* filesOf(tenant.tenantId)
      const messages = linesOf(files.get("messages.jsonl"))
      assert.strictEqual(new Set(messages.map(({ messageId }) => messageId)).size, 120)
      assert.strictEqual([...files.keys()].filter((path) => path.endsWith(".eml")).length, 120)
      for (const message of messages) assert.strictEqual(message["mailboxId"], mailboxId)
    })
  )

  scenario("of an unknown tenant is refused", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(exportTenant("unknown")))._tag, "ResourceNotFound")
    })
  )
})
