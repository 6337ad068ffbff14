import {
  type AcknowledgeAllFilter,
  Calls,
  type CallRecord,
  Credentials,
  type EventFilter,
  type EventRecord,
  Events,
  InboundMails,
  Mailboxes,
  type MailboxRecord,
  type MessageRecord,
  type MessageFilter,
  type MessageSummaryRecord,
  Numbers,
  type PhoneNumberRecord,
  type Tenant,
  Timestamp,
  toCallRecord,
  toEventRecord,
  toMailboxRecord,
  toMessageRecord,
  toMessageSummaryRecord,
  toPhoneNumberRecord,
  toTranscriptRecord,
  type TranscriptRecord
} from "@agentos/core"
import { Effect, Redacted } from "effect"
import type { ServerServices } from "./Composition.ts"

/** Which page of a list. `cursor` is the `nextCursor` of the page before. */
export interface PageRequest {
  readonly limit?: number
  readonly cursor?: string
}

export interface PageOf<Item> {
  readonly items: ReadonlyArray<Item>
  /** Null on the last page. */
  readonly nextCursor: string | null
}

/** A mail that the host's own mail system received. */
export interface ReceivedMail {
  /** MAIL FROM; empty for a bounce. */
  readonly from: string
  /** The recipients. Those that have no mailbox here are returned, and do not receive it. */
  readonly to: ReadonlyArray<string>
  /** The message as it arrived. */
  readonly raw: Uint8Array
  /** The address in its From header, to which sender policies apply; empty if there is not exactly one. */
  readonly author: string
  /** The IP address of the sending server, for SPF and for limits. */
  readonly remoteAddress: string
  /** The name with which it introduced itself; by default its address. */
  readonly helo?: string
  /** Whether the connection was encrypted. */
  readonly secure?: boolean
}

/** Runs an effect on the services of one AgentOS. Rejects with its error. */
export type Run = <A, E>(effect: Effect.Effect<A, E, ServerServices>) => Promise<A>

/** The use cases that cost nothing, in this process and without HTTP. They reject with the errors of the core. */
export const useCases = (run: Run) => ({
  /** Returns the tenant of an access token. Rejects if the token is invalid or revoked. */
  authenticate: (accessToken: string): Promise<Tenant> =>
    run(Effect.flatMap(Credentials, ({ authenticate }) => authenticate(Redacted.make(accessToken)))),

  mailboxes: {
    list: (tenant: Tenant): Promise<ReadonlyArray<MailboxRecord>> =>
      run(
        Effect.map(
          Effect.flatMap(Mailboxes, (mailboxes) => mailboxes.list(tenant)),
          (found) => found.map(toMailboxRecord)
        )
      )
  },

  messages: {
    list: (tenant: Tenant, filter: MessageFilter, page: PageRequest = {}): Promise<PageOf<MessageSummaryRecord>> =>
      run(
        Effect.map(
          Effect.flatMap(Mailboxes, (mailboxes) => mailboxes.listMessages(tenant, filter, page)),
          ({ items, nextCursor }) => ({ items: items.map(toMessageSummaryRecord), nextCursor })
        )
      ),
    get: (tenant: Tenant, messageId: string): Promise<MessageRecord> =>
      run(
        Effect.map(
          Effect.flatMap(Mailboxes, (mailboxes) => mailboxes.getMessage(tenant, messageId, undefined)),
          toMessageRecord
        )
      ),
    /**
     * Accepts a mail, which is stored when this resolves and delivered shortly afterwards. Returns the recipients that
     * were refused. Nothing is stored if all are.
     */
    receive: ({
      author,
      from,
      helo,
      raw,
      remoteAddress,
      secure = false,
      to
    }: ReceivedMail): Promise<ReadonlyArray<string>> =>
      run(
        Effect.gen(function* () {
          const inbound = yield* InboundMails
          const sender = { mailFrom: from, remoteAddress }
          const [rcptTo, refused] = yield* Effect.partition(to, (address) =>
            Effect.mapBoth(inbound.admit(address, sender), { onFailure: () => address, onSuccess: () => address })
          )
          if (rcptTo.length > 0) {
            yield* inbound.accept({ ...sender, rcptTo, helo: helo ?? `[${remoteAddress}]`, secure }, raw, author)
          }
          return refused
        })
      )
  },

  numbers: {
    list: (tenant: Tenant): Promise<ReadonlyArray<PhoneNumberRecord>> =>
      run(
        Effect.zipWith(
          Effect.flatMap(Numbers, (numbers) => numbers.list(tenant)),
          Timestamp.now,
          (found, now) => found.map((number) => toPhoneNumberRecord(number, now))
        )
      ),
    /** Releases a number permanently. */
    release: (tenant: Tenant, phoneNumberId: string): Promise<PhoneNumberRecord> =>
      run(
        Effect.zipWith(
          Effect.flatMap(Numbers, (numbers) => numbers.release(tenant, phoneNumberId)),
          Timestamp.now,
          toPhoneNumberRecord
        )
      )
  },

  calls: {
    list: (
      tenant: Tenant,
      filter: Parameters<Calls["Service"]["list"]>[1] = {},
      page: PageRequest = {}
    ): Promise<PageOf<CallRecord>> =>
      run(
        Effect.map(
          Effect.flatMap(Calls, (calls) => calls.list(tenant, filter, page)),
          ({ items, nextCursor }) => ({ items: items.map(toCallRecord), nextCursor })
        )
      ),
    get: (tenant: Tenant, callId: string): Promise<CallRecord> =>
      run(
        Effect.map(
          Effect.flatMap(Calls, (calls) => calls.get(tenant, callId)),
          toCallRecord
        )
      ),
    transcript: (tenant: Tenant, callId: string): Promise<TranscriptRecord> =>
      run(
        Effect.map(
          Effect.flatMap(Calls, (calls) => calls.transcript(tenant, callId)),
          ({ call, turns }) => toTranscriptRecord(call, turns)
        )
      )
  },

  events: {
    list: (tenant: Tenant, filter: EventFilter = {}, page: PageRequest = {}): Promise<PageOf<EventRecord>> =>
      run(
        Effect.map(
          Effect.flatMap(Events, (events) => events.list(tenant.tenantId, filter, page)),
          ({ items, nextCursor }) => ({ items: items.map(toEventRecord), nextCursor })
        )
      ),
    /** The pending events, oldest first, and their number in all pages. */
    replay: (tenant: Tenant, page: PageRequest = {}): Promise<PageOf<EventRecord> & { readonly pending: number }> =>
      run(
        Effect.map(
          Effect.flatMap(Events, (events) => events.replay(tenant.tenantId, page)),
          ({ items, nextCursor, pending }) => ({ items: items.map(toEventRecord), nextCursor, pending })
        )
      ),
    get: (tenant: Tenant, eventId: string): Promise<EventRecord> =>
      run(
        Effect.map(
          Effect.flatMap(Events, (events) => events.get(tenant.tenantId, eventId)),
          toEventRecord
        )
      ),
    acknowledge: (tenant: Tenant, eventId: string): Promise<EventRecord> =>
      run(
        Effect.map(
          Effect.flatMap(Events, (events) => events.acknowledge(tenant.tenantId, eventId)),
          toEventRecord
        )
      ),
    /** Acknowledges the events that match the filter. Returns their number. */
    acknowledgeAll: (tenant: Tenant, filter: AcknowledgeAllFilter): Promise<number> =>
      run(Effect.flatMap(Events, (events) => events.acknowledgeAll(tenant.tenantId, filter)))
  }
})

export type UseCases = ReturnType<typeof useCases>
