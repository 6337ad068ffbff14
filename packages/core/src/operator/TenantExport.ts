import { Effect, Option, Stream } from "effect"
import { AttachmentStore } from "../email/AttachmentStore.ts"
import { InboundMailStore } from "../email/InboundMail.ts"
import { toMailboxRecord } from "../email/Mailbox.ts"
import { MailboxStore } from "../email/MailboxStore.ts"
import { type MessageSummary, toMessageRecord } from "../email/Message.ts"
import { MessageStore, toSuppressionRecord } from "../email/MessageStore.ts"
import { toAnyEventRecord } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import { toWebhookRecord } from "../events/EventWebhook.ts"
import { WebhookStore } from "../events/WebhookStore.ts"
import * as Bytes from "../kernel/Bytes.ts"
import type { Position } from "../kernel/Page.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { paymentOf } from "../payment/PaymentStatus.ts"
import type { Call } from "../phone/Call.ts"
import { toCallRecord } from "../phone/CallRecord.ts"
import { CallStore } from "../phone/CallStore.ts"
import { toPhoneNumberRecord } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { toTranscriptRecord } from "../phone/Transcript.ts"
import { showTenant } from "./TenantDirectory.ts"

/** A file of an export. Its bytes can be read once the files before it have been. */
export interface ExportedFile {
  readonly path: string
  readonly bytes: Stream.Stream<Uint8Array>
}

/** Rows that are read at a time. */
const PAGE = 100

/** Reads a list to its end, page by page. */
const paged = <A>(read: (after: A | undefined) => Effect.Effect<ReadonlyArray<A>>): Stream.Stream<A> =>
  Stream.paginate(undefined as A | undefined, (after) =>
    Effect.map(read(after), (items) => [
      items,
      items.length < PAGE ? Option.none<A | undefined>() : Option.some(items.at(-1))
    ])
  )

const line = (record: unknown): Uint8Array => Bytes.fromText(`${JSON.stringify(record)}\n`)

/**
 * Returns everything that a tenant stored or received, as files: lists as JSON lines in the wire format of the API, received mail
 * as .eml, sent attachments, and a transcript for each call. At most one page of a list and one piece of a file are in memory.
 * It has no token and no secret.
 */
export const exportTenant = Effect.fnUntraced(function* (name: string) {
  const tenant = yield* showTenant(name)
  const { tenantId, wallet } = tenant
  const [mailboxes, messages, mails, attachments] = [
    yield* MailboxStore,
    yield* MessageStore,
    yield* InboundMailStore,
    yield* AttachmentStore
  ]
  const [events, webhooks, numbers, calls, operations] = [
    yield* EventStore,
    yield* WebhookStore,
    yield* PhoneNumberStore,
    yield* CallStore,
    yield* OperationStore
  ]
  const now = yield* Timestamp.now

  const positionOf = (createdAt: number, id: string): Position => ({ createdAt, id })
  const summaries = paged<MessageSummary>((after) =>
    messages.list(tenantId, {}, after && positionOf(after.createdAt, after.messageId), PAGE)
  )
  const listedCalls = paged<Call>((after) =>
    calls.list(tenantId, {}, after && positionOf(after.createdAt, after.callId), PAGE)
  )

  const file = (path: string, records: Stream.Stream<unknown>): Stream.Stream<ExportedFile> =>
    Stream.succeed({ path, bytes: Stream.map(records, line) })
  const listed = <A>(read: Effect.Effect<ReadonlyArray<A>>, to: (item: A) => unknown) =>
    Stream.flatMap(Stream.fromEffect(read), (items) => Stream.fromIterable(items.map(to)))

  const message = ({ messageId }: MessageSummary) =>
    Stream.flatMap(Stream.fromEffect(messages.find(tenantId, messageId)), (found) =>
      found._tag === "Owned" ? Stream.succeed(toMessageRecord(found.value)) : Stream.empty
    )

  const raw = ({ messageId }: MessageSummary): Stream.Stream<ExportedFile> =>
    Stream.flatMap(Stream.fromEffect(mails.findRaw(tenantId, messageId)), (found) =>
      found === undefined
        ? Stream.empty
        : Stream.succeed({ path: `messages/${messageId}.eml`, bytes: mails.readPieces(found.inboundMailId) })
    )

  /** Named by their positions: their own names are the tenant's, and may be those of other folders. */
  const sent = ({ attachments: parts, direction, messageId }: MessageSummary): Stream.Stream<ExportedFile> =>
    direction === "inbound"
      ? Stream.empty
      : Stream.flatMap(Stream.fromIterable(parts.keys()), (index) =>
          Stream.flatMap(Stream.fromEffect(attachments.read(tenantId, messageId, index)), (found) =>
            Option.isSome(found)
              ? Stream.succeed({ path: `attachments/${messageId}/${index}`, bytes: found.value.content })
              : Stream.empty
          )
        )

  const transcript = (call: Call): Stream.Stream<ExportedFile> =>
    file(
      `transcripts/${call.callId}.json`,
      Stream.fromEffect(Effect.map(calls.turns(call.callId), (turns) => toTranscriptRecord(call, turns)))
    )

  const files = [
    file("tenant.json", Stream.succeed(tenant)),
    file("mailboxes.jsonl", listed(mailboxes.list(tenantId), toMailboxRecord)),
    file("messages.jsonl", Stream.flatMap(summaries, message)),
    file(
      "suppressions.jsonl",
      Stream.map(
        paged((after: Parameters<typeof toSuppressionRecord>[0] | undefined) =>
          messages.listSuppressions(tenantId, after?.address, PAGE)
        ),
        toSuppressionRecord
      )
    ),
    file(
      "events.jsonl",
      Stream.map(
        paged((after: Parameters<typeof toAnyEventRecord>[0] | undefined) =>
          events.list(tenantId, {}, after && positionOf(after.createdAt, after.eventId), PAGE)
        ),
        toAnyEventRecord
      )
    ),
    file(
      "webhooks.jsonl",
      Stream.flatMap(Stream.fromEffect(webhooks.find(tenantId)), (found) =>
        Option.isSome(found) ? Stream.succeed(toWebhookRecord(found.value)) : Stream.empty
      )
    ),
    file(
      "numbers.jsonl",
      listed(numbers.list(tenantId), (number) => toPhoneNumberRecord(number, now))
    ),
    file(
      "calls.jsonl",
      Stream.map(listedCalls, (call) => toCallRecord(call, now))
    ),
    file(
      "operations.jsonl",
      Stream.map(
        paged((after: Parameters<typeof paymentOf>[0] | undefined) =>
          operations.list({ payer: wallet, before: after?.operationId, limit: PAGE })
        ),
        paymentOf
      )
    ),
    Stream.flatMap(summaries, (summary) => Stream.concat(raw(summary), sent(summary))),
    Stream.flatMap(listedCalls, transcript)
  ]
  return { tenantId, files: Stream.flatMap(Stream.fromIterable(files), (each) => each) }
})
