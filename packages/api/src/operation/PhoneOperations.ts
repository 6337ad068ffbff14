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

export const purchaseUsNumber = operation("purchaseUsNumber", purchase)
export const purchaseCanadaNumber = operation("purchaseCanadaNumber", purchase)
export const renewNumber = operation("renewNumber", number)
export const callOneMinute = operation("callOneMinute", call)
export const callFiveMinutes = operation("callFiveMinutes", call)

export const extendCall = operation("extendCall", {
  ...NO_INPUT,
  payload: CallIdInput,
  data: paidData({ call: CallRecord }),
  status: 200
})

export const addInboundMinutes = operation("addInboundMinutes", number)

export const releaseNumber = operation("releaseNumber", {
  ...NO_INPUT,
  payload: ReleaseNumberInput,
  data: Schema.Struct({ phoneNumber: PhoneNumberRecord }),
  status: 200
})

export const listNumbers = operation("listNumbers", {
  ...NO_INPUT,
  data: Schema.Struct({ items: Schema.Array(PhoneNumberRecord) }),
  status: 200
})

export const getCall = operation("getCall", {
  ...NO_INPUT,
  params: CallIdInput,
  data: Schema.Struct({ call: CallRecord }),
  status: 200
})

export const getTranscript = operation("getTranscript", {
  ...NO_INPUT,
  params: CallIdInput,
  data: Schema.Struct({ transcript: TranscriptRecord }),
  status: 200
})
