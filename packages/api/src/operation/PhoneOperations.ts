import {
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
  Uuid,
  Voice
} from "@agentos/core"
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { DateTime } from "../event/DateTime.ts"
import { getEndpoint, postEndpoint } from "./Endpoint.ts"
import { ACCESS_TOKEN, CALL, OPERATION_ID, PHONE_NUMBER, WEBHOOK_URL } from "./Examples.ts"
import { NO_INPUT, operation } from "./Operation.ts"
import { paidData, provisionedData } from "./PaidData.ts"

const purchase = {
  ...NO_INPUT,
  payload: PurchaseNumberInput,
  data: provisionedData({
    phoneNumberId: Uuid.Uuid,
    number: E164,
    callbackVerificationSecret: Schema.String,
    phoneNumber: PhoneNumberRecord
  }),
  status: 201,
  example: {
    payload: { agentName: "Ada", agentWebhookUrl: WEBHOOK_URL },
    data: {
      phoneNumberId: PHONE_NUMBER.phoneNumberId,
      number: PHONE_NUMBER.number,
      callbackVerificationSecret: "EXAMPLE",
      phoneNumber: PHONE_NUMBER,
      authentication: { accessToken: ACCESS_TOKEN },
      operationId: OPERATION_ID
    }
  }
} as const

const CANADIAN = "+16045550100"

const call = {
  ...NO_INPUT,
  payload: PlaceCallInput,
  data: paidData({ call: CallRecord }),
  status: 201
} as const

const callExample = (authorizedSeconds: number) => ({
  payload: { phoneNumberId: PHONE_NUMBER.phoneNumberId, toNumber: CALL.toNumber },
  data: { call: { ...CALL, authorizedSeconds }, operationId: OPERATION_ID }
})

const number = {
  ...NO_INPUT,
  payload: NumberIdInput,
  data: paidData({ phoneNumber: PhoneNumberRecord }),
  status: 200
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
  purchaseUsNumber: operation("purchaseUsNumber", purchase),

  purchaseCanadaNumber: operation("purchaseCanadaNumber", {
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

  renewNumber: operation("renewNumber", { ...number, example: numberExample(RENEWED) }),

  callOneMinute: operation("callOneMinute", { ...call, example: callExample(60) }),

  callFiveMinutes: operation("callFiveMinutes", { ...call, example: callExample(300) }),

  extendCall: operation("extendCall", {
    ...NO_INPUT,
    payload: CallIdInput,
    data: paidData({ call: CallRecord }),
    status: 200,
    example: {
      payload: { callId: CALL.callId },
      data: {
        call: {
          ...CALL,
          status: "in_progress",
          authorizedSeconds: 120,
          connectedSeconds: 40,
          answeredAt: "2026-01-31T12:00:05.000Z"
        },
        operationId: OPERATION_ID
      }
    }
  }),

  addInboundMinutes: operation("addInboundMinutes", { ...number, example: numberExample(MINUTES_ADDED) }),

  releaseNumber: operation("releaseNumber", {
    ...NO_INPUT,
    payload: ReleaseNumberInput,
    data: Schema.Struct({ phoneNumber: PhoneNumberRecord }),
    status: 200
  }),

  listNumbers: operation("listNumbers", {
    ...NO_INPUT,
    data: Schema.Struct({ items: Schema.Array(PhoneNumberRecord) }),
    status: 200
  }),

  getCall: operation("getCall", {
    ...NO_INPUT,
    params: CallIdInput,
    data: Schema.Struct({ call: CallRecord }),
    status: 200
  }),

  getTranscript: operation("getTranscript", {
    ...NO_INPUT,
    params: CallIdInput,
    data: Schema.Struct({ transcript: TranscriptRecord }),
    status: 200
  }),

  listCalls: operation("listCalls", {
    ...NO_INPUT,
    query: ListCallsInput,
    data: Schema.Struct({ items: Schema.Array(CallRecord), nextCursor: Schema.NullOr(Schema.String) }),
    status: 200
  }),

  listVoices: operation("listVoices", {
    ...NO_INPUT,
    data: Schema.Struct({ items: Schema.Array(Voice) }),
    status: 200
  })
}

export const phoneGroup = HttpApiGroup.make("phone", { topLevel: true })
  .add(
    postEndpoint(PHONE_OPERATIONS.purchaseUsNumber),
    postEndpoint(PHONE_OPERATIONS.purchaseCanadaNumber),
    postEndpoint(PHONE_OPERATIONS.renewNumber),
    postEndpoint(PHONE_OPERATIONS.callOneMinute),
    postEndpoint(PHONE_OPERATIONS.callFiveMinutes),
    postEndpoint(PHONE_OPERATIONS.extendCall),
    postEndpoint(PHONE_OPERATIONS.addInboundMinutes),
    postEndpoint(PHONE_OPERATIONS.releaseNumber),
    getEndpoint(PHONE_OPERATIONS.listNumbers),
    getEndpoint(PHONE_OPERATIONS.getCall),
    getEndpoint(PHONE_OPERATIONS.getTranscript),
    getEndpoint(PHONE_OPERATIONS.listCalls),
    getEndpoint(PHONE_OPERATIONS.listVoices)
  )
  .annotate(OpenApi.Description, "Phone numbers and calls.")
