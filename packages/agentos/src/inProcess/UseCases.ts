import type { CallRecord, MessageRecord, OperationName, Tenant, TenantReport } from "@agentos/core"
import { Credentials, TenantAdministration, TenantStore, walletAddress } from "@agentos/core"
import { Effect, Option, Redacted, Result } from "effect"
import { toAgentOsError } from "./AgentOsError.ts"
import type { AsTenant, DataOf, Invoker, ParamsOf, PayloadOf, QueryOf, Run } from "./Invoke.ts"
import { operationUseCases } from "./Operations.ts"
import { carrierUseCases, receiveMail } from "./Receiving.ts"

export interface PageOf<Item> {
  readonly items: ReadonlyArray<Item>
  /** Null on the last page. */
  readonly nextCursor: string | null
}

/** The stored bytes of a message. The sender chose them, their type and their name. */
export interface StoredContent {
  readonly contentType: string
  readonly sizeBytes: number
  /** Read it to its end, or cancel it. */
  readonly bytes: ReadableStream<Uint8Array>
}

type MessageFilter = Omit<QueryOf<"queryMessages">, "messageId">
type ThreadQuery = QueryOf<"queryThreads">
type ThreadFilter = Omit<ThreadQuery, "threadId">

/**
 * The use cases, in this process. Those of a tenant take the record that `authenticate` returns. They return the records
 * of the API, and reject with `AgentOsError`.
 */
export const useCases = (run: Run, invoker: Invoker) => {
  const asTenant: AsTenant = async (tenant) => ({
    accessToken: Redacted.value(await run(Effect.map(Credentials, ({ accessTokenOf }) => accessTokenOf(tenant)))),
    client: `tenant ${tenant.tenantId}`
  })
  const as = async <Name extends OperationName>(
    tenant: Tenant,
    name: Name,
    input: { readonly params?: ParamsOf<Name>; readonly query?: QueryOf<Name>; readonly payload?: PayloadOf<Name> } = {}
  ): Promise<DataOf<Name>> => invoker.invoke(name, { ...(await asTenant(tenant)), ...input })

  const download = async (
    tenant: Tenant,
    name: "getAttachment" | "getRawMessage",
    params: Record<string, string>
  ): Promise<StoredContent> => {
    const { body, headers } = await invoker.respond(name, { ...(await asTenant(tenant)), params })
    return {
      contentType: headers.get("content-type") ?? "application/octet-stream",
      sizeBytes: Number(headers.get("content-length")),
      bytes: body ?? new ReadableStream({ start: (controller) => controller.close() })
    }
  }

  const administer = (
    act: (service: TenantAdministration["Service"]) => Effect.Effect<Option.Option<TenantReport>>
  ): Promise<TenantReport | null> =>
    run(Effect.map(Effect.flatMap(TenantAdministration, act), (found) => Option.getOrNull(found)))

  return {
    /** Returns the tenant of an access token. Rejects if the token is invalid or revoked. */
    authenticate: async (accessToken: string): Promise<Tenant> => {
      const given = Redacted.make(accessToken)
      const found = await run(Effect.result(Effect.flatMap(Credentials, (service) => service.authenticate(given))))
      if (Result.isSuccess(found)) return found.success
      throw toAgentOsError(found.failure)
    },

    tenants: {
      /** Returns the tenant of a payer, or null if it never bought anything. */
      find: (wallet: string): Promise<Tenant | null> =>
        run(
          Effect.map(
            Effect.flatMap(TenantStore, ({ findByWallet }) => findByWallet(walletAddress(wallet))),
            (found) => Option.getOrNull(found)
          )
        ),
      /** Returns the tenant's access token, for a host that knows its payers by other means. */
      accessToken: async (tenant: Tenant): Promise<string> => (await asTenant(tenant)).accessToken ?? "",
      /** Revokes every credential of a tenant, on every server within 5 seconds. */
      revokeTokens: ({ tenantId }: Tenant) => administer((service) => service.revokeTokens(tenantId)),
      /** Refuses everything of a tenant but reads, and ends its calls. The reason is shown to it. */
      suspend: ({ tenantId }: Tenant, reason: string) => administer((service) => service.suspend(tenantId, reason)),
      resume: ({ tenantId }: Tenant) => administer((service) => service.resume(tenantId))
    },

    mailboxes: {
      list: async (tenant: Tenant) => (await as(tenant, "listMailboxes")).items
    },

    messages: {
      /** Returns messages newest first; those of a thread with `threadId`, of a search with `q`. */
      list: async (tenant: Tenant, filter: MessageFilter = {}) => {
        const data = await as(tenant, "queryMessages", { query: filter })
        return "items" in data ? data : { items: [], nextCursor: null }
      },
      get: async (tenant: Tenant, messageId: string): Promise<typeof MessageRecord.Encoded> => {
        const data = await as(tenant, "queryMessages", { query: { messageId } })
        if ("message" in data) return data.message
        throw new Error("a query for one message returned a list")
      },
      /** Labels messages, or marks them as read or unread: all of them, or none if it rejects. */
      update: async (tenant: Tenant, change: PayloadOf<"updateMessages">) =>
        (await as(tenant, "updateMessages", { payload: change })).items,
      /** Cancels a scheduled message, and has its payment refunded. Rejects once it is being sent. */
      cancel: async (tenant: Tenant, messageId: string) =>
        (await as(tenant, "cancelMessage", { payload: { messageId } })).message,
      /** The bytes of an attachment, streamed. */
      attachment: (tenant: Tenant, messageId: string, attachmentId: string) =>
        download(tenant, "getAttachment", { messageId, attachmentId }),
      /** A received message as it arrived, streamed. */
      raw: (tenant: Tenant, messageId: string) => download(tenant, "getRawMessage", { messageId }),
      receive: receiveMail(run)
    },

    threads: {
      /** Returns threads, newest activity first. */
      list: async (tenant: Tenant, filter: ThreadFilter = {}) => {
        const data = await as(tenant, "queryThreads", { query: filter })
        return "items" in data ? data : { items: [], nextCursor: null }
      },
      /** Returns a thread with a page of its messages, oldest first, without bodies. */
      get: async (tenant: Tenant, threadId: string, page: Omit<ThreadQuery, "threadId" | "label" | "unread"> = {}) => {
        const data = await as(tenant, "queryThreads", { query: { ...page, threadId } })
        if ("thread" in data) return data
        throw new Error("a query for one thread returned a list")
      }
    },

    /** The limits of the tenant's mail and calls, and how much of each is used. */
    limits: (tenant: Tenant) => as(tenant, "listLimits"),

    suppressions: {
      /** The addresses that the tenant can't write to, by address. */
      list: (tenant: Tenant, page: QueryOf<"listSuppressions"> = {}) => as(tenant, "listSuppressions", { query: page }),
      /** Returns whether the address was suppressed. */
      lift: async (tenant: Tenant, address: string) =>
        (await as(tenant, "liftSuppression", { payload: { address } })).lifted
    },

    numbers: {
      list: async (tenant: Tenant) => (await as(tenant, "listNumbers")).items,
      /** Releases a number permanently. */
      release: async (tenant: Tenant, phoneNumberId: string) =>
        (await as(tenant, "releaseNumber", { payload: { phoneNumberId, confirmRelease: true } })).phoneNumber,
      /** The voices with which a number can answer. */
      voices: async () => (await invoker.invoke("listVoices", { client: "in-process" })).items
    },

    calls: {
      list: (tenant: Tenant, filter: QueryOf<"listCalls"> = {}) => as(tenant, "listCalls", { query: filter }),
      get: async (tenant: Tenant, callId: string): Promise<typeof CallRecord.Encoded> =>
        (await as(tenant, "getCall", { params: { callId } })).call,
      /** The transcript so far: all of it, or the page that is asked for, with the cursor of the next. */
      transcript: async (tenant: Tenant, callId: string, page: QueryOf<"getTranscript"> = {}) => {
        const { nextCursor, transcript } = await as(tenant, "getTranscript", { params: { callId }, query: page })
        return { ...transcript, nextCursor }
      }
    },

    events: {
      list: (tenant: Tenant, filter: PayloadOf<"listEvents"> = {}) => as(tenant, "listEvents", { payload: filter }),
      /** The pending events, oldest first, and their number in all pages. */
      replay: (tenant: Tenant, page: QueryOf<"replayEvents"> = {}) => as(tenant, "replayEvents", { query: page }),
      get: async (tenant: Tenant, eventId: string) => (await as(tenant, "getEvent", { payload: { eventId } })).event,
      acknowledge: async (tenant: Tenant, eventId: string) =>
        (await as(tenant, "acknowledgeEvent", { payload: { eventId } })).event,
      /** Acknowledges the events that match the filter. Returns their number. */
      acknowledgeAll: async (tenant: Tenant, filter: PayloadOf<"acknowledgeAllEvents">) =>
        (await as(tenant, "acknowledgeAllEvents", { payload: filter })).acknowledged,
      /** Returns a token for the WebSocket, with its address. */
      realtimeToken: async (tenant: Tenant) => (await as(tenant, "getRealtimeToken")).realtime
    },

    webhooks: {
      /** Sets the endpoint to which events are pushed, and returns its secret: the same one for the same URL. */
      set: (tenant: Tenant, endpoint: PayloadOf<"setEventWebhook">) =>
        as(tenant, "setEventWebhook", { payload: endpoint }),
      get: async (tenant: Tenant) => (await as(tenant, "getEventWebhook")).webhook,
      remove: (tenant: Tenant) => as(tenant, "deleteEventWebhook"),
      /** The last deliveries, newest first. */
      deliveries: async (tenant: Tenant) => (await as(tenant, "listWebhookDeliveries")).items
    },

    operations: operationUseCases(run, invoker, asTenant),
    carrier: carrierUseCases(run)
  }
}

export type UseCases = ReturnType<typeof useCases>
