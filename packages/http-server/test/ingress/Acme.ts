import {
  CallAdmission,
  CallReports,
  type ProviderIngress,
  type RelayEvent,
  Timestamp,
  Unauthenticated,
  VoiceConversations,
  type IngressWebhook,
  type IngressWebhookRequest
} from "@agentos/core"
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** The secret that Acme shares with its customers. */
export const ACME_SECRET = "a secret of Acme"

/** Acme signs the target and the body of a request, and the target alone of a handshake. */
export const acmeSignature = (target: string, body = "", secret = ACME_SECRET): string =>
  createHmac("sha256", secret).update(`${target}\n${body}`).digest("hex")

const isSigned = (target: string, body: string, signature = ""): boolean => {
  const [given, expected] = [Buffer.from(signature), Buffer.from(acmeSignature(target, body))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const decodeArrival = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ call: Schema.String, caller: Schema.String, called: Schema.String }))
)
const decodeEnd = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ seconds: Schema.Int })))

/** Reads a body that Acme has signed. */
const readSigned = Effect.fnUntraced(function* <BodyError>({
  body,
  headers,
  target
}: IngressWebhookRequest<BodyError>) {
  const text = new TextDecoder().decode(yield* body)
  return isSigned(target, text, headers["acme-signature"]) ? text : yield* new Unauthenticated()
})

/** A carrier with its own paths, signatures and formats, which are JSON and plain lines of text. */
export const acme: Effect.Effect<ProviderIngress, never, CallAdmission | CallReports | VoiceConversations> = Effect.gen(
  function* () {
    const admission = yield* CallAdmission
    const reports = yield* CallReports
    const conversations = yield* VoiceConversations
    const limits: IngressWebhook["limits"] = { bodyBytes: 1_024, mediaType: "application/json" }

    const arrived = Effect.fnUntraced(
      function* (text: string) {
        const { call: providerCallId, called: to, caller: from } = yield* decodeArrival(text)
        const admitted = yield* admission.admit({ providerCallId, from, to })
        if (admitted._tag === "Decline") return { status: 200, body: "busy" }
        return { status: 200, body: `media ${Redacted.value(admitted.token)}` }
      },
      Effect.orElseSucceed(() => ({ status: 400 }))
    )

    const ended = Effect.fnUntraced(
      function* (text: string, providerCallId: string) {
        const { seconds } = yield* decodeEnd(text)
        const call = yield* reports.findByProvider(providerCallId)
        if (Option.isNone(call)) return { status: 404 }
        const at = yield* Timestamp.now
        yield* reports.apply(call.value.callId, { _tag: "Ended", at, ending: "completed", seconds })
        return { status: 204 }
      },
      Effect.orElseSucceed(() => ({ status: 400 }))
    )

    return {
      provider: "acme",
      singleHeaders: ["Acme-Signature"],
      webhooks: [
        {
          method: "POST",
          path: "/webhooks/acme/arrived",
          limits,
          handle: (request) => Effect.flatMap(readSigned(request), arrived)
        },
        {
          method: "PUT",
          path: "/webhooks/acme/ended/{call}",
          limits,
          handle: (request) => Effect.flatMap(readSigned(request), (text) => ended(text, request.parameter))
        }
      ],
      sockets: [
        {
          path: "/webhooks/acme/media/{token}",
          limits: { sockets: 1, messageBytes: 256, frames: { burst: 50, perSecond: 50 }, unreadMessages: 16 },
          isAuthentic: ({ headers, target }) => isSigned(target, "", headers["acme-signature"]),
          admit: ({ parameter }) =>
            Effect.map(
              conversations.admit(Redacted.make(parameter)),
              Option.map((call) => ({
                id: call.callId,
                run: ({ messages, send }) =>
                  conversations.run(
                    call,
                    Stream.map(Stream.fromQueue(messages), (text): RelayEvent => ({ _tag: "Said", text })),
                    (command) => send(command._tag === "Say" ? command.text : command._tag.toUpperCase())
                  )
              }))
            ),
          drain: () => Effect.void
        }
      ]
    }
  }
)
