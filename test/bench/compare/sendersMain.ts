import {
  DEFAULT_MAIL_POLICY,
  MailboxStore,
  MailPolicy,
  messageSending,
  newMailbox,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { KeyringNode } from "@agentos/node/keyring"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { EmailProviderSmtp } from "@agentos/provider-smtp"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HOST } from "../peer/Peer.ts"
import { answerParent } from "./ChildModule.ts"
import { repeat } from "./Comparison.ts"
import type { Work } from "./Side.ts"

/** The first command opens the sender, each other one lets it send. */
export type SendingCommand =
  | {
      readonly databaseUrl: string
      readonly relayPort: number
      readonly domain: string
      /** The number of tenants. A tenant sends one mail at a time. */
      readonly senders: number
      readonly dkim: { readonly domainName: string; readonly keySelector: string; readonly privateKey: string }
    }
  | { readonly callers: number; readonly millis: number; readonly text: string }

const UNLIMITED = { messages: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }
const POLICY: MailPolicy = {
  ...DEFAULT_MAIL_POLICY,
  mailboxLimit: UNLIMITED,
  tenantLimit: UNLIMITED,
  sending: { ...DEFAULT_MAIL_POLICY.sending, recipientsPerDayAtFirst: 1e9, recipientsPerDay: 1e9 }
}

type Send = (text: string) => Promise<void>

/** Stores a tenant with a mailbox. Returns the effect that sends a mail from it, as a paid operation does. */
const openSender = Effect.fnUntraced(function* (domain: string, localPart: string) {
  const tenants = yield* TenantStore
  const mailboxes = yield* MailboxStore
  const sending = yield* messageSending
  const { transact } = yield* Transactor
  const [tenantId, mailboxId, creationId] = [yield* Uuid.next, yield* Uuid.next, yield* Uuid.next]
  const createdAt = yield* Timestamp.now
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  const tenant = yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt })
  yield* mailboxes.reserve(localPart, tenantId, creationId)
  yield* mailboxes.create(newMailbox({ mailboxId, tenantId, localPart, domain, createdAt }), creationId)
  // As the steps of a paid operation do.
  const locked = <A, E>(effect: Effect.Effect<A, E>) =>
    transact(Effect.andThen(tenants.lock([tenantId]), effect), { key: wallet })
  return Effect.fnUntraced(function* (text: string) {
    const input = { mailboxId, to: ["friend@outside.example"], subject: "Bench", text }
    const context = {
      operationId: yield* Uuid.next,
      tenant,
      createdAt: yield* Timestamp.now,
      attended: true,
      isAuthenticated: true
    }
    const plan = yield* locked(sending.prepare(context, input))
    const receipt = yield* sending.perform!(context, plan, input)
    yield* locked(sending.record(context, plan, input, receipt))
  })
})

/** The tenants that are not sending. */
const idle: Array<Send> = []

const sendOne: Send = async (text) => {
  const send = idle.pop()
  if (send === undefined) throw new Error("there are more callers than tenants")
  await send(text)
  idle.push(send)
}

/** Sends mails with the use case, the provider and the stores of the server. */
answerParent(async (command: SendingCommand): Promise<Work> => {
  if ("callers" in command) return repeat(command.callers, command.millis, () => sendOne(command.text))
  const { databaseUrl, dkim, domain, relayPort, senders } = command
  const ports = Layer.mergeAll(
    Layer.provide(Postgres.layer, layerPostgres({ url: Redacted.make(databaseUrl) })),
    KeyringNode.layer({ activeKeyId: 1, keys: [{ id: 1, secret: Redacted.make("0123456789".repeat(4)) }] }),
    EmailProviderSmtp.layer({
      domain,
      host: HOST,
      port: relayPort,
      clientName: domain,
      security: "none",
      dkim: {
        domain: dkim.domainName,
        selector: dkim.keySelector,
        privateKey: Redacted.make(dkim.privateKey)
      }
    }),
    Layer.succeed(MailPolicy, POLICY)
  )
  const runtime = ManagedRuntime.make(ports)
  for (let index = 0; index < senders; index++) {
    const send = await runtime.runPromise(openSender(domain, `bench${index}`))
    idle.push((text) => runtime.runPromise(send(text)))
  }
  return { count: 0, millis: 0 }
})
