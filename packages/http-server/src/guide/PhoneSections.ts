import type { GuideSection } from "./GuideBlock.ts"
import { type GuideContext, serviceBlocks } from "./GuideContext.ts"

const numbers = (context: GuideContext): GuideSection => ({
  anchor: "numbers",
  title: "Numbers",
  blocks: [
    ...serviceBlocks("numbers", context),
    {
      points: [
        "A purchase gives one number for exactly 30 days, with your token, and `callbackVerificationSecret`: keep both, the secret is shown in no other answer. What may be charged is checked first: where an area code has no number, a 409 names areas that have one.",
        "A renewal adds 30 days to the present end, whenever you make it. `phone.number.expiring` tells you 5, 3 and 1 days before, with the request that renews.",
        "`status` is active, expiring (5 days or less left; it works as ever), suspended (its time is over, and it is being given back) or released. Whatever would outlast the end answers NUMBER_EXPIRING, every use of a suspended or released number NUMBER_RELEASED; nothing is charged for either.",
        "A release can't be undone: it ends the number's calls first, and the rest of its time is lost."
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
        "Seconds count from the answer; a call that nobody answers costs what it costs, and one that the carrier could not make is paid back. It is dialled once, however often you repeat the request.",
        "A call ends by itself at its limit. An extension adds 60 seconds to one that is answered and goes on, and to no other.",
        "Emergency and premium-rate numbers, and those that nobody can be called on, are refused with 400 before anything is charged. The caller id is always your number.",
        "`status` is queued, ringing, in_progress or ended; `endReason` is completed, hangup_agent, time_limit, no_answer, busy, failed or allowance_exhausted. `phone.call.started` and `phone.call.ended` tell of both moments.",
        "`initialGreeting` is said first, or else the number's `beginMessage`. The transcript has the turns of agent, caller and system (what went wrong, for one) as they happen; `complete` says that no more will come."
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
      text: "A number can be called while it has seconds left: without any, callers hear that the line is busy. Seconds count from the answer, calls at the same time share what is left, and a call ends when it has run out. Each purchase adds 600, also during a call; what is left stays until the number goes."
    }
  ]
})

const voiceCallbacks: GuideSection = {
  anchor: "voice-callbacks",
  title: "Voice callbacks",
  blocks: [
    {
      text: "Each thing that the person on the line says is posted to the number's `agentWebhookUrl`, and what you answer is spoken. The address must be https at port 443, with a certificate that is valid, and on the public internet; redirects are not followed."
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
        "Verify before you act: X-Service-Signature is `v1=` and the hex HMAC-SHA256 of X-Service-Timestamp, a dot and the body byte for byte, under the number's `callbackVerificationSecret`. Compare in constant time, and refuse timestamps (in seconds) more than 5 minutes off.",
        "`transcriptSoFar` holds up to 20 turns before this one, oldest first. Keys that are pressed are gathered until `#`, a pause of 1.5 seconds or the 64th, and are one turn: `[pressed 12#]`.",
        'Answer with 200 and `{"text":"…"}`, `{"hangup":true}`, or both in one object: the text is spoken to its end before the call ends. An empty text says nothing.',
        "To be heard sooner, answer with several such objects, a line each, as `application/x-ndjson`: each is spoken as it arrives.",
        "The first byte has to come within 5 seconds, the whole within 30, in 64 KiB at most. What fails is asked once more if nothing of it was spoken yet; then the caller hears an apology, the transcript says why in a system turn, and the call goes on.",
        "When the person speaks over the answer, the rest of it is dropped, the exchange is closed, and the transcript keeps what was heard. When they say the next thing while you are still answering, that is asked in its place."
      ]
    }
  ]
}

/** The sections on telephony, and on the webhook protocol of the agents. */
export const phoneSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  numbers(context),
  calls(context),
  inboundMinutes(context),
  voiceCallbacks
]
