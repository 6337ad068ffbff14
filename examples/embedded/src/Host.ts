import {
  Core,
  Credentials,
  type EventRecord,
  Events,
  InboundMails,
  JobRunner,
  MailboxCreation,
  type MailboxRecord,
  MessageRetries,
  OperationCompletion,
  type OutgoingMail,
  PaidOperations,
  type PaidRequest,
  PaymentRail,
  PaymentRequired,
  serviceEntry,
  Timestamp,
  toEventRecord,
  Uuid
} from "@agentos/core"
import { KeyringNode, RealtimeTokensJose } from "@agentos/keyring-node"
import { Memory } from "@agentos/memory"
import { Effect, Layer, ManagedRuntime, Redacted, Schema } from "effect"
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { type CreditAccount, openCredits } from "./Credits.ts"
import { type HouseMail, houseMail } from "./HouseMail.ts"

/** The response to the purchase of a mailbox. */
export interface BoughtMailbox {
  readonly mailbox: MailboxRecord
  readonly authentication: { readonly accessToken: string }
}

/** A custom host of the core. Its interface consists of plain promises. */
export interface Host {
  readonly openAccount: (name: string, credits: bigint) => CreditAccount
  readonly balance: (account: CreditAccount) => bigint
  readonly createMailbox: (account: CreditAccount, localPart: string) => Promise<BoughtMailbox>
  /** Returns whether a recipient has a mailbox that admits the sender. The mail is delivered shortly afterwards. */
  readonly accept: (mail: HouseMail) => Promise<boolean>
  readonly events: (accessToken: string) => Promise<ReadonlyArray<EventRecord>>
  readonly acknowledge: (accessToken: string, eventId: string) => Promise<EventRecord>
  readonly sent: ReadonlyArray<OutgoingMail>
  readonly close: () => Promise<void>
}

export const openHost = (domain: string): Host => {
  const credits = openCredits()
  const sent: Array<OutgoingMail> = []
  // A host with persistent data must also persist its keys, which tokens and challenges depend on.
  const keys = { activeKeyId: 1, keys: [{ id: 1, secret: Redacted.make(randomBytes(32).toString("base64")) }] }

  // Adapters for the ports of the core: storage and keys from packages, payment and mail from this host.
  const ports = Layer.mergeAll(
    Memory.layer,
    KeyringNode.layer(keys),
    RealtimeTokensJose.layer(keys, { issuer: domain }),
    Layer.succeed(PaymentRail, credits.rail),
    houseMail(domain, sent)
  )
  const runtime = ManagedRuntime.make(Core.layer.pipe(Layer.provideMerge(ports)))
  // Background work: delivers accepted mail, retries outbound mail, completes paid operations, and runs periodic jobs.
  runtime.runFork(Effect.flatMap(InboundMails, (mails) => mails.run))
  runtime.runFork(Effect.flatMap(MessageRetries, (retries) => retries.run))
  runtime.runFork(OperationCompletion.run)
  runtime.runFork(Effect.flatMap(JobRunner, (jobs) => jobs.run))

  return {
    openAccount: credits.open,
    balance: ({ address }) => credits.balance(address),
    createMailbox: (account, localPart) => runtime.runPromise(createMailbox(account, { localPart })),
    accept: (mail) => runtime.runPromise(accept(mail)),
    events: (accessToken) => runtime.runPromise(listEvents(accessToken)),
    acknowledge: (accessToken, eventId) => runtime.runPromise(acknowledge(accessToken, eventId)),
    sent,
    close: () => runtime.dispose()
  }
}

/** Requests the price, pays, and repeats the request, like an HTTP client. */
const createMailbox = Effect.fnUntraced(function* (account: CreditAccount, body: unknown) {
  const operations = yield* PaidOperations
  const service = yield* MailboxCreation
  const input = yield* Schema.decodeUnknownEffect(service.input)(body)
  const entry = serviceEntry(service.serviceId)
  const unpaid: PaidRequest = {
    entry,
    // A payment is valid for this request only.
    binding: { tenantId: null, method: entry.method, path: entry.path, query: "", bodyHash: hashOf(body) },
    requestId: yield* Uuid.next,
    resourceUrl: `house:${entry.path}`,
    tenant: null,
    paymentSignature: null,
    idempotencyKey: null
  }
  const required = yield* Effect.flip(operations.execute(service, unpaid, input))
  if (!(required instanceof PaymentRequired)) return yield* Effect.fail(required)
  const paymentSignature = account.pay(required.challenge, yield* Timestamp.now)
  const response = yield* operations.execute(
    service,
    { ...unpaid, paymentSignature, idempotencyKey: randomUUID() },
    input
  )
  return (JSON.parse(Redacted.value(response.body)) as { readonly data: BoughtMailbox }).data
})

const hashOf = (body: unknown): string => createHash("sha256").update(JSON.stringify(body)).digest("hex")

const accept = Effect.fnUntraced(function* (mail: HouseMail) {
  const inbound = yield* InboundMails
  const from = { mailFrom: mail.from, remoteAddress: "127.0.0.1" }
  const rcptTo = yield* Effect.filter(mail.to, (address) => Effect.isSuccess(inbound.admit(address, from)))
  if (rcptTo.length === 0) return false
  return yield* Effect.isSuccess(
    inbound.accept(
      { ...from, rcptTo, helo: "house", secure: true },
      new TextEncoder().encode(JSON.stringify(mail)),
      mail.from
    )
  )
})

const tenantOf = (accessToken: string) =>
  Effect.flatMap(Credentials, ({ authenticate }) => authenticate(Redacted.make(accessToken)))

const listEvents = Effect.fnUntraced(function* (accessToken: string) {
  const events = yield* Events
  const { tenantId } = yield* tenantOf(accessToken)
  return (yield* events.replay(tenantId, {})).items.map(toEventRecord)
})

const acknowledge = Effect.fnUntraced(function* (accessToken: string, eventId: string) {
  const events = yield* Events
  const { tenantId } = yield* tenantOf(accessToken)
  return toEventRecord(yield* events.acknowledge(tenantId, eventId))
})
