import {
  type Admission,
  type Call,
  CallAdmission,
  CallProgress,
  CallReports,
  type IngressRequest,
  type IngressWebhook,
  type IngressWebhookResponse,
  type ProviderIngress,
  Timestamp,
  VoiceConversations
} from "@agentos/core"
import { Cause, Deferred, Effect, Option, Redacted } from "effect"
import { RELAY_MESSAGE_BYTES_MAX } from "./RelayMessage.ts"
import { countBrokenRelay, relaySession, startCounting } from "./RelaySession.ts"
import { readSignedForm, type SigningAccount } from "./SignedForm.ts"
import { PROVIDER } from "./TwilioFailure.ts"
import * as TwilioSignature from "./TwilioSignature.ts"
import * as Twiml from "./Twiml.ts"
import { relayVoice } from "./Voices.ts"
import * as WebhookForm from "./WebhookForm.ts"
import { WEBHOOK_PATHS, webhookAddresses } from "./WebhookPath.ts"

/**
 * Tracks the calls whose relays this server closes because it stops. Twilio asks at once how each call continues, and is
 * answered while the server still runs.
 */
class RelayDrain {
  readonly #pending = new Set<string>()
  readonly #allResumed = Deferred.makeUnsafe<void>()
  #isStarted = false

  /** True once the server is stopping. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Starts the drain of these calls. Returns when Twilio has asked about each of them. */
  start(callIds: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#isStarted = true
      for (const callId of callIds) this.#pending.add(callId)
      this.#completeIfEmpty()
      return Deferred.await(this.#allResumed)
    })
  }

  /** Records that Twilio has asked how a call continues. */
  resumed(callId: string): void {
    this.#pending.delete(callId)
    this.#completeIfEmpty()
  }

  #completeIfEmpty(): void {
    if (this.#isStarted && this.#pending.size === 0) Deferred.doneUnsafe(this.#allResumed, Effect.void)
  }
}

export type TwilioIngressConfig = SigningAccount

/** A report about a call has about two thousand bytes. */
const WEBHOOK_LIMITS = { bodyBytes: 16 * 1024, mediaType: "application/x-www-form-urlencoded" }

/** Speech and key presses arrive at a few messages per second. */
const RELAY_LIMITS = {
  sockets: 5_000,
  messageBytes: RELAY_MESSAGE_BYTES_MAX,
  frames: { burst: 200, perSecond: 50 },
  unreadMessages: 256
}

/**
 * How long Twilio waits before it opens a relay that it requested from a stopping server, so that the next server has
 * started.
 */
const RESTART_SECONDS = 6

const badRequest: IngressWebhookResponse = { status: 400 }
const notFound: IngressWebhookResponse = { status: 404 }
const noContent: IngressWebhookResponse = { status: 204 }
const document = (twiml: string): IngressWebhookResponse => ({
  status: 200,
  contentType: Twiml.TWIML_TYPE,
  body: twiml
})

/** Returns the document that refuses a call. A call that is not answered yet is declined without being answered. */
const refusalOf = (form: URLSearchParams): string =>
  form.get("CallStatus") === "in-progress" ? Twiml.end : Twiml.decline

/** Answers a form that Twilio has signed. `parameter` is the call id in the path, or empty. */
type Answer = (form: URLSearchParams, parameter: string) => Effect.Effect<IngressWebhookResponse>

/** The webhooks and relay sockets of Twilio: each authenticated by its signature, then passed to the core. */
export const make = Effect.fnUntraced(function* (
  config: TwilioIngressConfig
): Effect.fn.Return<ProviderIngress, never, CallAdmission | CallReports | VoiceConversations> {
  const { authToken, publicUrl, sharedKeys = [] } = config
  const admission = yield* CallAdmission
  const reports = yield* CallReports
  const conversations = yield* VoiceConversations
  const addresses = webhookAddresses(publicUrl)
  const drain = new RelayDrain()
  yield* startCounting

  const connect = (admitted: Admission, refusal: string): IngressWebhookResponse => {
    if (admitted._tag === "Decline") return document(refusal)
    const { call, token } = admitted
    const waitSeconds = Math.max(admitted.waitSeconds, drain.isStarted ? RESTART_SECONDS : 0)
    const relayUrl = addresses.relay(token)
    return document(
      Twiml.connect({
        relayUrl,
        actionUrl: addresses.resume(call.callId),
        ...relayVoice(admitted),
        waitSeconds
      })
    )
  }

  const voice: Answer = Effect.fnUntraced(function* (form) {
    const inbound = WebhookForm.readVoice(form)
    if (Option.isNone(inbound)) return badRequest
    return connect(yield* admission.admit(inbound.value), refusalOf(form))
  })

  const answered: Answer = Effect.fnUntraced(function* (form, callId) {
    const read = WebhookForm.readAnswer(form)
    if (Option.isNone(read)) return badRequest
    const call = yield* reports.find(callId, read.value.providerCallId)
    return Option.isNone(call) ? notFound : connect(yield* admission.answered(callId), Twiml.end)
  })

  const resume: Answer = Effect.fnUntraced(function* (form, callId) {
    const read = WebhookForm.readRelayEnd(form)
    if (Option.isNone(read)) return badRequest
    const { errorCode, outcome, providerCallId } = read.value
    const call = yield* reports.find(callId, providerCallId)
    if (Option.isNone(call)) return notFound
    if (outcome !== "Broken") {
      yield* reports.change(callId, CallProgress.relayEnded)
      return document(Twiml.end)
    }
    yield* countBrokenRelay
    yield* Effect.annotateLogs(Effect.logWarning("the relay of a call broke"), { callId, errorCode })
    const resumed = connect(yield* admission.resume(callId), Twiml.end)
    drain.resumed(callId)
    return resumed
  })

  const report = Effect.fnUntraced(function* (
    read: Option.Option<WebhookForm.StatusReport>,
    find: (providerCallId: string) => Effect.Effect<Option.Option<Call>>,
    unknown: IngressWebhookResponse
  ): Effect.fn.Return<IngressWebhookResponse> {
    if (Option.isNone(read)) return badRequest
    const call = yield* find(read.value.providerCallId)
    if (Option.isNone(call)) return unknown
    if (Option.isSome(read.value.report)) yield* reports.apply(call.value.callId, read.value.report.value)
    return noContent
  })

  const reportStatus = (
    form: URLSearchParams,
    find: (providerCallId: string) => Effect.Effect<Option.Option<Call>>,
    unknown: IngressWebhookResponse
  ) => Effect.flatMap(Timestamp.now, (now) => report(WebhookForm.readStatus(form, now), find, unknown))

  /** Internal failures are logged. Twilio then receives a document that ends or declines the call. */
  const webhook = (
    path: IngressWebhook["path"],
    answer: Answer,
    refusal: (form: URLSearchParams) => string
  ): IngressWebhook => ({
    method: "POST",
    path,
    limits: WEBHOOK_LIMITS,
    handle: (request) =>
      Effect.flatMap(readSignedForm(request, config), (form) =>
        answer(form, request.parameter).pipe(
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.as(Effect.logError("a request of the carrier failed", cause), document(refusal(form)))
          )
        )
      )
  })

  const socketUrl = publicUrl.replace(/^http/i, "ws")
  const isAuthentic = ({ headers, target }: IngressRequest): boolean =>
    TwilioSignature.verify(
      authToken,
      `${socketUrl}${target}`,
      new URLSearchParams(),
      headers[TwilioSignature.SIGNATURE_HEADER],
      { header: headers[TwilioSignature.SETTINGS_HEADER], sharedKeys }
    )

  const end = () => Twiml.end
  return {
    provider: PROVIDER,
    singleHeaders: [TwilioSignature.SIGNATURE_HEADER, TwilioSignature.SETTINGS_HEADER],
    webhooks: [
      webhook(WEBHOOK_PATHS.voice, voice, refusalOf),
      webhook(WEBHOOK_PATHS.answer, answered, end),
      webhook(WEBHOOK_PATHS.resume, resume, end),
      webhook(
        WEBHOOK_PATHS.status,
        (form, callId) => reportStatus(form, (providerCallId) => reports.find(callId, providerCallId), notFound),
        end
      ),
      webhook(
        WEBHOOK_PATHS.recognized,
        (form, callId) =>
          report(WebhookForm.readRecognized(form), (providerCallId) => reports.find(callId, providerCallId), notFound),
        end
      ),
      // Declined calls are not stored. Their end must not cause an error in Twilio's debugger.
      webhook(WEBHOOK_PATHS.inboundStatus, (form) => reportStatus(form, reports.findByProvider, noContent), end)
    ],
    sockets: [
      {
        path: WEBHOOK_PATHS.relay,
        limits: RELAY_LIMITS,
        isAuthentic,
        admit: ({ parameter }) =>
          Effect.map(
            conversations.admit(Redacted.make(parameter)),
            Option.map((call) => relaySession(call, conversations.run))
          ),
        drain: (callIds) => drain.start(callIds)
      }
    ]
  }
})
