import type { GuideSection } from "./GuideBlock.ts"
import { type GuideContext, serviceBlocks } from "./GuideContext.ts"

const numbers = (context: GuideContext): GuideSection => ({
  anchor: "numbers",
  title: "Numbers",
  blocks: [
    ...serviceBlocks("numbers", context),
    {
      points: [
        "A purchase returns one number for exactly 30 days, your access token, and `callbackVerificationSecret`. Store both: the secret appears in no other response. Availability is checked before you are charged: if an area code has no number, a 409 lists area codes that have one.",
        "A renewal adds 30 days to the current expiry. You receive `phone.number.expiring` 5, 3 and 1 days before, with the request that renews the number.",
        "`status` is active, expiring (5 days or less left; the number still works), suspended (expired; the release is under way) or released. An operation that would outlast the expiry returns NUMBER_EXPIRING. Every use of a suspended or released number returns NUMBER_RELEASED. Neither charges anything.",
        "`voice` and `language` are checked before you are charged. `GET /api/v1/phone/voices` lists the valid values; it needs no token. Omit both for the carrier's default.",
        "A release can't be undone. It ends the number's calls first, and the remaining time is lost."
      ]
    }
  ]
})

const calls = (context: GuideContext): GuideSection => ({
  anchor: "calls",
  title: "Calls",
  blocks: [
    ...serviceBlocks("calls", context),
    {
      points: [
        "Seconds count from the moment the call is answered. An unanswered call is charged. A call that the carrier could not place is refunded. A call is dialed once, however often you repeat the request.",
        "A call ends automatically at its time limit. An extension adds exactly 60 seconds to an answered call in progress, inbound or outbound. On an inbound call, these seconds come after its share of the inbound minutes and belong to it alone.",
        "Emergency, premium-rate and uncallable numbers return 400 before anything is charged. The caller id is always your number.",
        "`status` is queued, ringing, in_progress or ended; `endReason` is completed, hangup_agent, time_limit, no_answer, busy, failed or allowance_exhausted. You receive `phone.call.started` and `phone.call.ended`. `GET /api/v1/phone/calls` lists your calls, newest first.",
        "`initialGreeting` is spoken first, or the number's `beginMessage` if it is omitted. The transcript has the turns of agent, caller and system (for example errors) as they occur. `complete` is true when no more turns will follow."
      ]
    }
  ]
})

const inboundMinutes = (context: GuideContext): GuideSection => ({
  anchor: "inbound-minutes",
  title: "Inbound minutes",
  blocks: [
    ...serviceBlocks("inbound-minutes", context),
    {
      text: "A number can receive calls while it has inbound seconds left; otherwise callers hear a busy line. Seconds count from the moment the call is answered. Concurrent calls share the remaining seconds, and a call ends when none are left. Each purchase adds 600 seconds, also during a call. Unused seconds remain until the number is released."
    },
    {
      text: "A call that is declined because no seconds are left becomes a call record with `endReason` allowance_exhausted and 0 seconds, and a `phone.call.ended` event whose payload has `declinedCalls`. The first declined call of a caller is reported at once (`declinedCalls` is 1). Those of the following minute are reported together at its end, with their number. If more than 20 callers are declined within a minute, the others are counted together: their `fromNumber` is `multiple`."
    }
  ]
})

const voiceCallbacks: GuideSection = {
  anchor: "voice-callbacks",
  title: "Voice callbacks",
  blocks: [
    {
      text: "Each utterance of the person on the line is posted to the number's `agentWebhookUrl`, and your reply is spoken. The URL must be https on port 443, with a valid certificate and a public address. Redirects are not followed."
    },
    {
      code: `POST /voice HTTP/1.1
Content-Type: application/json
X-Service-Timestamp: 1764000000
X-Service-Signature: v1=5f0c…

{"type":"agent.message","callId":"…","phoneNumberId":"…","direction":"inbound","from":"+12025550150","to":"+14155550100",
 "turn":{"text":"When are you open?","at":"2026-11-24T16:00:00.000Z"},
 "transcriptSoFar":[{"role":"agent","text":"Hello, this is Ada.","at":"2026-11-24T15:59:58.000Z"}]}`
    },
    {
      points: [
        "Verify each request: X-Service-Signature is `v1=` followed by the hex HMAC-SHA256 of X-Service-Timestamp, a dot and the raw body, with the number's `callbackVerificationSecret` as the key. Compare in constant time, and reject timestamps (in seconds) that are more than 5 minutes off.",
        "`transcriptSoFar` contains up to 20 previous turns, oldest first. Pressed keys are collected until `#`, a pause of 1.5 seconds or the 64th key, and form one turn: `[pressed 12#]`.",
        'Reply with 200 and `{"text":"…"}`, `{"hangup":true}`, or both in one object: the text is spoken completely before the call ends. An empty text is silent.',
        "To be heard sooner, reply with several such objects, one per line, as `application/x-ndjson`. Each is spoken as it arrives.",
        "The first byte must arrive within 5 seconds and the whole reply within 30 seconds, with at most 64 KiB. A failed request is retried once if nothing of its reply was spoken. After that the caller hears an apology, a system turn in the transcript states the reason, and the call continues.",
        "If the person interrupts the reply, the rest is dropped, the exchange is closed, and the transcript keeps the part that was heard. If the person speaks again while your reply is still arriving, the new utterance replaces the pending request."
      ]
    }
  ]
}

const voiceSessions: GuideSection = {
  anchor: "voice-sessions",
  title: "Voice sessions",
  blocks: [
    {
      text: 'An agent without a public address answers calls over a WebSocket. Buy the number with a placeholder such as `https://agent.invalid/` as `agentWebhookUrl`: it is never contacted. Then open a realtime session with `"mode":"voice"`. It receives the turns of all your numbers, and no events.'
    },
    {
      code: `← {"type":"call.turn","callId":"…","turnId":"…","phoneNumberId":"…","direction":"inbound","from":"+12025550150",
   "to":"+14155550100","turn":{"text":"When are you open?","at":"2026-11-24T16:00:00.000Z"},"transcriptSoFar":[]}
→ {"type":"call.reply","callId":"…","turnId":"…","text":"Let me look.","more":true}
→ {"type":"call.reply","callId":"…","turnId":"…","text":"Until six.","hangup":true}
← {"type":"call.interrupted","callId":"…","turnId":"…"}`
    },
    {
      points: [
        "A reply is complete unless `more` is true. Each part is spoken as it arrives. The limits of webhooks apply: the first part within 5 seconds, the whole reply within 30 seconds, at most 64 KiB. One message holds up to 4,000 characters of text.",
        "`call.interrupted` means that the turn is over: the person spoke over your reply or said something else, the call ended, or time ran out. A reply to a turn that is over is answered with `error` RESOURCE_NOT_FOUND.",
        "While a voice session is connected, `agentWebhookUrl` is not used. With several sessions, each new call is given to one of them at random and keeps it while it is connected. If it closes during a turn, the next session is asked, then the URL.",
        "A session holds up to 64 open turns (`maxInFlight`). Further turns go to your other sessions."
      ]
    }
  ]
}

/** The sections on telephony, and on the webhook protocol of the agents. */
export const phoneSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  numbers(context),
  calls(context),
  inboundMinutes(context),
  voiceCallbacks,
  voiceSessions
]
