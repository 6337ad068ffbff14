import {
  DEFAULT_MAIL_POLICY,
  EmailProvider,
  InboundMails,
  Keyring,
  MailboxStore,
  MailParser,
  MailPolicy,
  newMailbox,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerTestPostgres } from "./support/TestPostgres.ts"

const LIMIT = 3
const MAILS = 24

const policy = { ...DEFAULT_MAIL_POLICY, mailboxLimit: { messages: LIMIT, bytes: Number.POSITIVE_INFINITY } }

/** Gives concurrent deliveries the time to read the same usage, and to use the same free space if they can. */
const slowStandings = Layer.effect(
  MailboxStore,
  Effect.map(MailboxStore, (store) =>
    MailboxStore.of({
      ...store,
      findStandings: (mailboxIds) => Effect.tap(store.findStandings(mailboxIds), () => Effect.sleep("50 millis"))
    })
  )
)

const inboundMails = InboundMails.layer.pipe(
  Layer.provide([
    slowStandings,
    Layer.mock(EmailProvider, { name: "smtp", domain: "agents.test" }),
    Layer.mock(MailParser, {}),
    Layer.mock(Keyring, {
      activeKeyId: 1,
      mac: () => undefined,
      sign: () => ({ keyId: 1, bytes: new Uint8Array() }),
      verificationKeys: []
    }),
    Layer.succeed(MailPolicy, policy)
  ])
)

const makeMailbox = Effect.gen(function* () {
  const [tenants, mailboxes, transactor] = [yield* TenantStore, yield* MailboxStore, yield* Transactor]
  const tenantId = yield* Uuid.next
  const mailboxId = yield* Uuid.next
  const now = yield* Timestamp.now
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: now })
  const mailbox = newMailbox({ mailboxId, tenantId, localPart: "ada", domain: "agents.test", createdAt: now })
  const reserved = mailboxes.reserve("ada", tenantId, mailboxId)
  yield* transactor.transact(Effect.andThen(reserved, mailboxes.create(mailbox, mailboxId)))
  return mailbox
})

layer(inboundMails.pipe(Layer.provideMerge(Postgres.layer), Layer.provideMerge(layerTestPostgres())), {
  excludeTestServices: true
})("a mailbox with room for a few messages", (it) => {
  it.effect("accepts no more than the quota of many mails that arrive at once on separate connections", () =>
    Effect.gen(function* () {
      const { mailboxId } = yield* makeMailbox
      const inbound = yield* InboundMails
      const envelope = { rcptTo: ["ada@agents.test"], remoteAddress: "192.0.2.1", helo: "else.test", secure: false }
      const outcomes = yield* Effect.forEach(
        Array.from({ length: MAILS }, (_, index) => `friend${index}@else.test`),
        (mailFrom) => Effect.result(inbound.accept({ ...envelope, mailFrom }, new Uint8Array(1_000), mailFrom)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, LIMIT)
      const standing = (yield* (yield* MailboxStore).findStandings([mailboxId])).get(mailboxId)
      assert.deepInclude(standing?.usage, { messages: LIMIT })
    })
  )
})
