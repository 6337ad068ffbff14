import {
  DateTime,
  CallDirection,
  CallIdInput,
  CallRecord,
  DEFAULT_CALL_LIMIT,
  E164,
  NumberIdInput,
  PageInput,
  PhoneNumberRecord,
  PlaceCallInput,
  PurchaseNumberInput,
  ReleaseNumberInput,
  Timestamp,
  TranscriptRecord,
  TURNS_MAX,
  Uuid,
  Voice
} from "@agentos/core"
import { Schema } from "effect"
import {
  ACCESS_TOKEN,
  CALL,
  CALLBACK_SECRET,
  OPERATION_ID,
  PHONE_NUMBER,
  TRANSCRIPT,
  VOICE,
  WEBHOOK_URL
} from "../example/ResourceExamples.ts"
import { operation } from "./ApiOperation.ts"
import { nextCursor } from "./NextCursor.ts"
import { paidData, provisionedData } from "./PaidData.ts"

const purchase = {
  payload: PurchaseNumberInput,
  data: provisionedData({
    phoneNumberId: Uuid.Uuid.annotateKey({ description: "Id of the number." }),
    number: E164.annotateKey({ description: "The number in E.164 format." }),
    callbackVerificationSecret: Schema.String.annotateKey({
      description: "Key of the signatures of the voice callbacks. No other response has it."
    }),
    phoneNumber: PhoneNumberRecord.annotateKey({ description: "The number." })
  }),
  status: 201,
  description:
    "The number answers calls as soon as the response arrives: your agent hears each caller through `agentWebhookUrl`, or through a voice session if it has no public address. The response contains the access token of the paying wallet, and `callbackVerificationSecret`, which no other response has: store both. If no number is for sale in the area code, the request returns 409 before it charges anything. Inbound calls need inbound minutes.",
  example: {
    payload: { agentName: "Ada", agentWebhookUrl: WEBHOOK_URL },
    data: {
      phoneNumberId: PHONE_NUMBER.phoneNumberId,
      number: PHONE_NUMBER.number,
      callbackVerificationSecret: CALLBACK_SECRET,
      phoneNumber: PHONE_NUMBER,
      authentication: { accessToken: ACCESS_TOKEN },
      operationId: OPERATION_ID
    }
  }
} as const

const CANADIAN = "+16045550100"

const call = {
  payload: PlaceCallInput,
  data: paidData({ call: CallRecord.annotateKey({ description: "The call." }) }),
  status: 201,
  description:
    "The seconds count from the answer, and the call ends at its limit. An unanswered call is charged; a call that the carrier could not place is refunded. The call is dialed once, however often you repeat the request. Follow it by `phone.call.started` and `phone.call.ended` events, and read its transcript."
} as const

const callExample = (authorizedSeconds: number) => ({
  payload: { phoneNumberId: PHONE_NUMBER.phoneNumberId, toNumber: CALL.toNumber },
  data: { call: { ...CALL, authorizedSeconds }, operationId: OPERATION_ID }
})

const number = {
  payload: NumberIdInput,
  data: paidData({ phoneNumber: PhoneNumberRecord.annotateKey({ description: "The number after the change." }) })
} as const

const numberExample = (changed: Partial<typeof PHONE_NUMBER>) => ({
  payload: { phoneNumberId: PHONE_NUMBER.phoneNumberId },
  data: { phoneNumber: { ...PHONE_NUMBER, ...changed }, operationId: OPERATION_ID }
})

const RENEWED = {
  entitlement: { ...PHONE_NUMBER.entitlement, expiresAt: "2026-04-01T12:00:00.000Z", secondsRemaining: 5_184_000 }
}
const MINUTES_ADDED = { inboundAllowance: { purchasedSeconds: 600, usedSeconds: 0, remainingSeconds: 600 } }

const time = Timestamp.Timestamp.make(Date.UTC(2026, 0, 31, 12))

const TranscriptPageInput = Schema.Struct({
  limit: PageInput.limit({ maximum: TURNS_MAX, default: TURNS_MAX }),
  cursor: PageInput.cursor
})

/** The filter of a list of calls. A call must match every given part. */
export const ListCallsInput = Schema.Struct({
  phoneNumberId: Schema.optionalKey(Uuid.GivenUuid).annotateKey({
    description: "Only calls of this number.",
    examples: ["019ab1c8-8d52-7a44-9f0b-7f2f7a6a3d20"]
  }),
  direction: Schema.optionalKey(CallDirection).annotateKey({
    description: "Only inbound or only outbound calls.",
    examples: ["inbound"]
  }),
  after: Schema.optionalKey(DateTime).annotateKey({
    description: "Only calls created at or after this time.",
    examples: [time]
  }),
  before: Schema.optionalKey(DateTime).annotateKey({
    description: "Only calls created before this time.",
    examples: [time]
  }),
  limit: PageInput.limit({ maximum: 100, default: DEFAULT_CALL_LIMIT }),
  cursor: PageInput.cursor
}).annotate({ identifier: "ListCallsInput" })

export const PHONE_OPERATIONS = {
  purchaseUsNumber: operation("purchaseUsNumber", { tag: "Phone numbers", summary: "Buy a US number", ...purchase }),

  purchaseCanadaNumber: operation("purchaseCanadaNumber", {
    tag: "Phone numbers",
    summary: "Buy a Canadian number",
    ...purchase,
    example: {
      ...purchase.example,
      data: {
        ...purchase.example.data,
        number: CANADIAN,
        phoneNumber: { ...PHONE_NUMBER, number: CANADIAN, country: "CA" }
      }
    }
  }),

  renewNumber: operation("renewNumber", {
    tag: "Phone numbers",
    summary: "Renew a number",
    ...number,
    description:
      "Adds 30 days to the current end, so that an early renewal loses nothing. A number that has expired can't be renewed.",
    example: numberExample(RENEWED)
  }),

  callOneMinute: operation("callOneMinute", {
    tag: "Calls",
    summary: "Call for one minute",
    ...call,
    example: callExample(60)
  }),

  callFiveMinutes: operation("callFiveMinutes", {
    tag: "Calls",
    summary: "Call for five minutes",
    ...call,
    example: callExample(300)
  }),

  extendCall: operation("extendCall", {
    tag: "Calls",
    summary: "Extend a call",
    payload: CallIdInput,
    data: paidData({ call: CallRecord.annotateKey({ description: "The call." }) }),
    description:
      "The call may be inbound or outbound. The seconds belong to this call alone and are not shared. A call that has ended, or is not answered yet, returns 409 and nothing is charged.",
    example: {
      payload: { callId: CALL.callId },
      data: {
        call: {
          ...CALL,
          status: "in_progress",
          authorizedSeconds: 120,
          connectedSeconds: 0,
          answeredAt: "2026-01-31T12:00:05.000Z"
        },
        operationId: OPERATION_ID
      }
    }
  }),

  addInboundMinutes: operation("addInboundMinutes", {
    tag: "Phone numbers",
    summary: "Add inbound minutes",
    ...number,
    description:
      "Adds 600 seconds, which inbound calls consume from their answer on. Calls in progress share the new seconds at once. Unused seconds stay until the number is released. Without seconds, callers hear a busy line.",
    example: numberExample(MINUTES_ADDED)
  }),

  releaseNumber: operation("releaseNumber", {
    tag: "Phone numbers",
    summary: "Release a number",
    payload: ReleaseNumberInput,
    data: Schema.Struct({
      phoneNumber: PhoneNumberRecord.annotateKey({ description: "The number after the change." })
    }),
    description:
      "Ends the number's calls, then returns the number to the carrier. The remaining time and minutes are lost, and the number may be sold to others. It can't be undone, so `confirmRelease` must be true. If the carrier does not confirm it at once, the number is suspended and the release continues.",
    example: {
      payload: { phoneNumberId: PHONE_NUMBER.phoneNumberId, confirmRelease: true },
      data: { phoneNumber: { ...PHONE_NUMBER, status: "released", releasedAt: "2026-01-31T12:05:00.000Z" } }
    }
  }),

  listNumbers: operation("listNumbers", {
    tag: "Phone numbers",
    summary: "List numbers",
    data: Schema.Struct({ items: Schema.Array(PhoneNumberRecord).annotateKey({ description: "All numbers." }) }),
    description:
      "Returns all numbers of the wallet, released ones included. `status` is expiring when 5 days or less are left: the number still works, and should be renewed.",
    example: { data: { items: [PHONE_NUMBER] } }
  }),

  getCall: operation("getCall", {
    tag: "Calls",
    summary: "Get a call",
    params: CallIdInput,
    data: Schema.Struct({ call: CallRecord.annotateKey({ description: "The call." }) }),
    description:
      "Use it to see whether a call was answered and why it ended. `authorizedSeconds` is its limit, `connectedSeconds` the time since its answer, until its end.",
    example: { params: { callId: CALL.callId }, data: { call: CALL } }
  }),

  getTranscript: operation("getTranscript", {
    tag: "Calls",
    summary: "Get a transcript",
    params: CallIdInput,
    query: TranscriptPageInput,
    data: Schema.Struct({
      transcript: TranscriptRecord.annotateKey({ description: "A page of the transcript." }),
      nextCursor
    }),
    description:
      "Returns the turns in the order in which they were spoken: of the agent, of the caller, and of the system, for example that the agent did not answer. `complete` is true when no more turns will be added. A call has at most 1,000, which are all returned by default; for pages, set `limit` and pass `nextCursor` as `cursor`.",
    example: {
      params: { callId: CALL.callId },
      query: { limit: 10 },
      data: { transcript: TRANSCRIPT, nextCursor: null }
    }
  }),

  listCalls: operation("listCalls", {
    tag: "Calls",
    summary: "List calls",
    query: ListCallsInput,
    data: Schema.Struct({
      items: Schema.Array(CallRecord).annotateKey({ description: "The calls of this page, newest first." }),
      nextCursor
    }),
    description:
      "Returns the calls that match all given filters. Pass `nextCursor` as `cursor` to read on; it is null on the last page.",
    example: { query: { direction: "outbound", limit: 10 }, data: { items: [CALL], nextCursor: null } }
  }),

  listVoices: operation("listVoices", {
    tag: "Phone numbers",
    summary: "List voices",
    data: Schema.Struct({ items: Schema.Array(Voice).annotateKey({ description: "All voices." }) }),
    description:
      "Pass one of them as `voice` and `language` to a purchase. The list is that of the carrier of this server. It needs no token.",
    example: { data: { items: [VOICE] } }
  })
}
