import { errorReply } from "../support/ApiDouble.ts"
import { paid } from "../support/PaidAnswers.ts"
import { AT, call, ID, NUMBER, OPERATION, PERSON, phoneNumber, purchase } from "../support/Samples.ts"
import { asking, NO_TOKEN, NOT_YOURS, paying, type Plans } from "./Plan.ts"

const NUMBERS = "GET /api/v1/phone/numbers"
const numbers = { [NUMBERS]: [{ data: { items: [phoneNumber] } }] }
const RELEASE = "POST /api/v1/phone/release-number"
const TRANSCRIPT = `GET /api/v1/phone/calls/${ID}/transcript`
const FOLLOW = ["call", "transcript", ID, "--follow"]
const ANSWERED = "2026-01-31T12:00:05.000Z"
const TURNS = [
  { role: "agent", text: "Hello.", at: ANSWERED },
  { role: "caller", text: "Hi.", at: "2026-01-31T12:00:07.000Z" }
]
const transcript = (count: number, complete: boolean) => ({
  data: { transcript: { callId: ID, complete, turns: TURNS.slice(0, count) } }
})
const ended = {
  ...call,
  status: "ended",
  endReason: "completed",
  connectedSeconds: 42,
  answeredAt: ANSWERED,
  endedAt: "2026-01-31T12:00:47.000Z"
}

const VOICES = [{ voice: "en-US-Chirp3-HD-Kore", language: "en-US", vendor: "Google" }]

export const PHONE_PLANS: Plans<
  | "number buy"
  | "number list"
  | "number renew"
  | "number add-minutes"
  | "number release"
  | "call start"
  | "call extend"
  | "number voices"
  | "call list"
  | "call show"
  | "call transcript"
> = {
  "number buy": paying(
    ["number", "buy", "us", "--agent-name", "Ada", "--webhook", "https://agent.example/voice"],
    "phone/purchase-us-number-30-days",
    paid(purchase)
  ),
  "number list": asking(["number", "list"], NUMBERS, numbers[NUMBERS]![0]!, NO_TOKEN),
  "number renew": paying(
    ["number", "renew", NUMBER],
    "phone/renew-number-30-days",
    paid({ phoneNumber, operationId: OPERATION }),
    numbers
  ),
  "number add-minutes": paying(
    ["number", "add-minutes", NUMBER],
    "phone/add-inbound-minutes-10",
    paid({ phoneNumber, operationId: OPERATION }),
    numbers
  ),
  "number release": {
    success: {
      args: ["number", "release", NUMBER],
      exit: 0,
      answers: ["y"],
      server: {
        ...numbers,
        [RELEASE]: [{ data: { phoneNumber: { ...phoneNumber, status: "released", releasedAt: AT } } }]
      }
    },
    failure: { args: ["number", "release", PERSON], exit: 5, answers: ["y"], server: numbers },
    interrupt: { args: ["number", "release", NUMBER], exit: 130, answers: ["^C"], server: numbers },
    forPrograms: ["--yes"]
  },
  "call start": paying(
    ["call", "start", "--to", PERSON, "--minutes", "1"],
    "phone/call-1-minute",
    paid({ call, operationId: OPERATION }),
    numbers
  ),
  "call extend": paying(
    ["call", "extend", ID],
    "phone/extend-call-1-minute",
    paid({
      call: { ...call, status: "in_progress", answeredAt: ANSWERED, authorizedSeconds: 120 },
      operationId: OPERATION
    })
  ),
  "number voices": asking(
    ["number", "voices", "--language", "en"],
    "GET /api/v1/phone/voices",
    { data: { items: [...VOICES, { voice: "de-DE-Chirp3-HD-Leda", language: "de-DE", vendor: "Google" }] } },
    { reply: errorReply(503, "SERVICE_UNAVAILABLE", { message: "This server has no telephony." }), exit: 9 }
  ),
  "call list": asking(
    ["call", "list", "--number", NUMBER, "--since", "1d"],
    "GET /api/v1/phone/calls",
    { data: { items: [ended, call], nextCursor: null } },
    NO_TOKEN,
    numbers
  ),
  "call show": asking(["call", "show", ID], `GET /api/v1/phone/calls/${ID}`, { data: { call: ended } }, NOT_YOURS),
  "call transcript": {
    success: { args: FOLLOW, exit: 0, server: { [TRANSCRIPT]: [transcript(1, false), transcript(2, true)] } },
    failure: { args: FOLLOW, exit: 5, server: { [TRANSCRIPT]: [NOT_YOURS.reply] } },
    interrupt: { args: FOLLOW, exit: 130, server: { [TRANSCRIPT]: [transcript(1, false)] }, interrupt: "asleep" }
  }
}
