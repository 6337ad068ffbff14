import {
  CallAdmission,
  CallReports,
  InboundMails,
  type InboundRefusal,
  type RelayCommand,
  type RelayEvent,
  Timestamp,
  VoiceConversations
} from "@agentos/core"
import { Effect, Option, Redacted, Stream } from "effect"
import { type CarrierReport, toCallReport } from "../custom/CustomCarrier.ts"
import type { Run } from "./Invoke.ts"

/** A mail that the host's own mail system received. */
export interface ReceivedMail {
  /** MAIL FROM; empty for a bounce. */
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** The message as it arrived. */
  readonly raw: Uint8Array
  /** The address in its From header, to which sender policies apply; empty if there is not exactly one. */
  readonly author: string
  /** The IP address of the sending server, for SPF and for limits. */
  readonly remoteAddress: string
  /** The name with which it introduced itself; by default its address. */
  readonly helo?: string | undefined
  /** Whether the connection was encrypted. */
  readonly secure?: boolean | undefined
}

/** A recipient that does not receive a mail. A sender may offer it again if the refusal is temporary. */
export interface RefusedRecipient {
  readonly address: string
  readonly reason: InboundRefusal
  readonly isTemporary: boolean
}

const PERMANENT: ReadonlySet<InboundRefusal> = new Set(["mailbox unknown", "tenant suspended", "sender refused"])

const refused = (address: string, reason: InboundRefusal): RefusedRecipient => ({
  address,
  reason,
  isTemporary: !PERMANENT.has(reason)
})

/**
 * Accepts a mail, which is stored when this resolves and delivered shortly afterwards. Returns the recipients that were
 * refused. Nothing is stored if all are.
 */
export const receiveMail =
  (run: Run) =>
  ({
    author,
    from,
    helo,
    raw,
    remoteAddress,
    secure = false,
    to
  }: ReceivedMail): Promise<ReadonlyArray<RefusedRecipient>> =>
    run(
      Effect.gen(function* () {
        const inbound = yield* InboundMails
        const sender = { mailFrom: from, remoteAddress }
        const [rcptTo, unknown] = yield* Effect.partition(to, (address) =>
          Effect.mapBoth(inbound.admit(address, sender), {
            onFailure: ({ refusal }) => refused(address, refusal),
            onSuccess: () => address
          })
        )
        if (rcptTo.length === 0) return unknown
        const envelope = { ...sender, rcptTo, helo: helo ?? `[${remoteAddress}]`, secure }
        return yield* inbound.accept(envelope, raw, author).pipe(
          Effect.as(unknown),
          Effect.catchTag("InboundRefused", ({ refusal }) =>
            Effect.succeed([...unknown, ...rcptTo.map((address) => refused(address, refusal))])
          )
        )
      })
    )

/** How the carrier connects a call to its agent. */
export interface CallConnection {
  readonly callId: string
  /** Admits one conversation of this call, once: pass it to `converse`. */
  readonly token: string
  /** The number's language and voice; null for the carrier's default. */
  readonly language: string | null
  readonly voice: string | null
  /** How long the carrier waits before it opens the conversation. */
  readonly waitSeconds: number
}

/** The reports of a carrier of the host, which the host has authenticated. */
export const carrierUseCases = (run: Run) => {
  const connect = (
    admitted: Effect.Effect<CallAdmissionResult, never, CallAdmission>
  ): Promise<CallConnection | null> =>
    run(
      Effect.map(admitted, (admission) =>
        admission._tag === "Decline"
          ? null
          : {
              callId: admission.call.callId,
              token: Redacted.value(admission.token),
              language: admission.language,
              voice: admission.voice,
              waitSeconds: admission.waitSeconds
            }
      )
    )
  const admission = <A>(use: (service: CallAdmission["Service"]) => Effect.Effect<A>) =>
    Effect.flatMap(CallAdmission, use)
  return {
    /** A call to one of the numbers. Returns how to connect it, or null to decline it. Idempotent. */
    incoming: (call: { readonly providerCallId: string; readonly from: string; readonly to: string }) =>
      connect(admission(({ admit }) => admit(call))),
    /** The answer to a call that was placed. Returns how to connect it, or null to end it. */
    answered: (callId: string) => connect(admission((service) => service.answered(callId))),
    /** The end of a conversation whose call goes on. Returns how to continue, or null to end the call. */
    resume: (callId: string) => connect(admission((service) => service.resume(callId))),
    /** Reports what happened to a call. Reports may repeat and arrive in any order. */
    report: (callId: string, report: CarrierReport): Promise<void> =>
      run(
        Effect.gen(function* () {
          const reports = yield* CallReports
          yield* reports.apply(callId, toCallReport(report, yield* Timestamp.now))
        })
      ),
    /**
     * Runs the conversation that a token admits until `heard` ends or the call is ended, and passes each command for
     * the carrier to `say`. Returns false for any other token.
     */
    converse: (
      token: string,
      heard: AsyncIterable<RelayEvent>,
      say: (command: RelayCommand) => void | PromiseLike<void>
    ): Promise<boolean> =>
      run(
        Effect.gen(function* () {
          const conversations = yield* VoiceConversations
          const call = yield* conversations.admit(Redacted.make(token))
          if (Option.isNone(call)) return false
          const events = Stream.orDie(Stream.fromAsyncIterable(heard, (error) => error))
          yield* conversations.run(call.value, events, (command) => Effect.promise(async () => say(command)))
          return true
        })
      )
  }
}

type CallAdmissionResult = Effect.Success<ReturnType<CallAdmission["Service"]["admit"]>>
