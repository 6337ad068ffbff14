import {
  type Admission,
  type Call,
  CallAdmission,
  CallReports,
  CallStore,
  PhoneNumberStore,
  Timestamp,
  Uuid
} from "@agentos/core"
import { Twiml, Webhook, WEBHOOK_ROUTES, webhookAddresses } from "@agentos/provider-twilio"
import { Cause, Effect, Option, type Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../edge/ErrorResponse.ts"
import { admitWithin, RateLimiting } from "../edge/RateLimiting.ts"
import { requestCost } from "../edge/RequestCost.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { Handover } from "./Handover.ts"
import { countBrokenRelay } from "./RelayMetrics.ts"
import { signedForm } from "./SignedForm.ts"

const forbidden = HttpServerResponse.empty({ status: 403 })
const malformed = HttpServerResponse.empty({ status: 400 })
const unknown = HttpServerResponse.empty({ status: 404 })
const noted = HttpServerResponse.empty({ status: 204 })
const document = (twiml: string) => HttpServerResponse.text(twiml, { contentType: Twiml.TWIML_TYPE })

/** Returns the response that refuses a call. A call that is not answered yet is declined without being answered. */
const away = (form: URLSearchParams): string => (form.get("CallStatus") === "in-progress" ? Twiml.end : Twiml.decline)

/**
 * How long the carrier waits before it opens a relay that it requested from a stopping server, so that the next server
 * has started.
 */
const RESTART_SECONDS = 6

const isId = Schema.is(Uuid.Uuid)

/** Handles a form that the carrier has signed. */
type Handle = (form: URLSearchParams) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, never>

/** The handlers of the carrier's requests and reports. */
const make = Effect.gen(function* () {
  const admission = yield* CallAdmission
  const reports = yield* CallReports
  const calls = yield* CallStore
  const numbers = yield* PhoneNumberStore
  const handover = yield* Handover
  const { publicUrl } = yield* ServerSettings
  const addresses = webhookAddresses(publicUrl)

  /**
   * Returns the call that a form is about, if the carrier's call id matches. A call whose carrier id is unknown,
   * because the response to dialing has not arrived, learns the id here.
   */
  const callOf = Effect.fnUntraced(function* (callId: string, providerCallId: string) {
    if (!isId(callId)) return Option.none<Call>()
    const found = yield* calls.get(callId)
    const call =
      Option.isSome(found) && found.value.providerCallId === null
        ? yield* reports.identify(callId, providerCallId)
        : found
    return Option.filter(call, (known) => known.providerCallId === null || known.providerCallId === providerCallId)
  })

  const answer = Effect.fnUntraced(function* (admitted: Admission, otherwise: string) {
    if (admitted._tag === "Decline") return document(otherwise)
    const { call, token } = admitted
    const number = yield* numbers.find(call.tenantId, call.phoneNumberId)
    const { language, voice } = number._tag === "Owned" ? number.value : { language: null, voice: null }
    const relayUrl = addresses.relay(token)
    const actionUrl = addresses.resume(call.callId)
    const waitSeconds = Math.max(admitted.waitSeconds, handover.isBegun() ? RESTART_SECONDS : 0)
    return document(Twiml.connect({ relayUrl, actionUrl, language, voice, waitSeconds }))
  })

  const voice: Handle = Effect.fnUntraced(function* (form) {
    const inbound = Webhook.readVoice(form)
    if (Option.isNone(inbound)) return malformed
    return yield* answer(yield* admission.admit(inbound.value), away(form))
  })

  const answered =
    (callId: string): Handle =>
    (form) =>
      Effect.gen(function* () {
        const read = Webhook.readAnswer(form)
        if (Option.isNone(read)) return malformed
        const call = yield* callOf(callId, read.value.providerCallId)
        return Option.isNone(call) ? unknown : yield* answer(yield* admission.answered(callId), Twiml.end)
      })

  const resume =
    (callId: string): Handle =>
    (form) =>
      Effect.gen(function* () {
        const read = Webhook.readRelayEnd(form)
        if (Option.isNone(read)) return malformed
        const { errorCode, outcome, providerCallId } = read.value
        const call = yield* callOf(callId, providerCallId)
        if (Option.isNone(call)) return unknown
        if (outcome !== "Broken") return document(Twiml.end)
        yield* countBrokenRelay
        yield* Effect.annotateLogs(Effect.logWarning("the relay of a call broke"), { callId, errorCode })
        const resumed = yield* answer(yield* admission.resume(callId), Twiml.end)
        handover.asked(callId)
        return resumed
      })

  const status =
    (find: (providerCallId: string) => Effect.Effect<Option.Option<Call>>): Handle =>
    (form) =>
      Effect.gen(function* () {
        const read = Webhook.readStatus(form, yield* Timestamp.now)
        if (Option.isNone(read)) return malformed
        const call = yield* find(read.value.providerCallId)
        if (Option.isNone(call)) return unknown
        if (Option.isSome(read.value.report)) yield* reports.apply(call.value.callId, read.value.report.value)
        return noted
      })

  return {
    voice,
    answered,
    resume,
    status: (callId: string) => status((providerCallId) => callOf(callId, providerCallId)),
    // Declined calls are not stored. Their end must not cause an error in the carrier's debugger.
    inboundStatus: (form: URLSearchParams) =>
      Effect.map(status(calls.findByProvider)(form), (response) => (response === unknown ? noted : response))
  }
})

/**
 * The routes for the carrier's requests, where one is configured. They are answered without the envelope, as the
 * carrier expects.
 */
const routes = Effect.fnUntraced(function* (authToken: Redacted.Redacted) {
  const webhooks = yield* make
  const { countAddress } = yield* RateLimiting

  /** Internal failures are logged. The carrier then receives a response that ends or declines the call. */
  const route = (path: `/${string}`, handle: (callId: string) => Handle, failed: (form: URLSearchParams) => string) =>
    HttpRouter.route(
      "POST",
      path,
      Effect.gen(function* () {
        const { params } = yield* HttpRouter.RouteContext
        const request = yield* HttpServerRequest.HttpServerRequest
        const form = yield* signedForm(authToken)
        if (Option.isNone(form)) {
          // A request without the carrier's signature is rate limited like any other client's.
          yield* admitWithin(yield* countAddress(request.remoteAddress, requestCost(request)))
          return forbidden
        }
        return yield* handle(params["callId"] ?? "")(form.value).pipe(
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.as(Effect.logError("a request of the carrier failed", cause), document(failed(form.value)))
          )
        )
      }).pipe(Effect.catch((error) => errorResponse(error, null)))
    )

  const end = () => Twiml.end
  return [
    route(WEBHOOK_ROUTES.voice, () => webhooks.voice, away),
    route(WEBHOOK_ROUTES.answer, webhooks.answered, end),
    route(WEBHOOK_ROUTES.resume, webhooks.resume, end),
    route(WEBHOOK_ROUTES.status, webhooks.status, end),
    route(WEBHOOK_ROUTES.inboundStatus, () => webhooks.inboundStatus, end)
  ]
})

/** Empty without a carrier. */
export const layer = HttpRouter.addAll(
  Effect.flatMap(ServerSettings, ({ carrierToken }) =>
    carrierToken === null ? Effect.succeed([]) : routes(carrierToken)
  )
)
