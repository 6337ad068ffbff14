import {
  CallIdInput,
  CallRecord,
  E164,
  NumberIdInput,
  PhoneNumberRecord,
  PlaceCallInput,
  PurchaseNumberInput,
  ReleaseNumberInput,
  TranscriptRecord,
  Uuid
} from "@agentos/core"
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { getEndpoint, postEndpoint } from "./Endpoint.ts"
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
  status: 201
} as const

const call = {
  ...NO_INPUT,
  payload: PlaceCallInput,
  data: paidData({ call: CallRecord }),
  status: 201
} as const

const number = {
  ...NO_INPUT,
  payload: NumberIdInput,
  data: paidData({ phoneNumber: PhoneNumberRecord }),
  status: 200
} as const

export const PHONE_OPERATIONS = {
  purchaseUsNumber: operation("purchaseUsNumber", purchase),

  purchaseCanadaNumber: operation("purchaseCanadaNumber", purchase),

  renewNumber: operation("renewNumber", number),

  callOneMinute: operation("callOneMinute", call),

  callFiveMinutes: operation("callFiveMinutes", call),

  extendCall: operation("extendCall", {
    ...NO_INPUT,
    payload: CallIdInput,
    data: paidData({ call: CallRecord }),
    status: 200
  }),

  addInboundMinutes: operation("addInboundMinutes", number),

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
    getEndpoint(PHONE_OPERATIONS.getTranscript)
  )
  .annotate(OpenApi.Description, "Phone numbers and calls.")
