import type { Request } from "../../support/Agent.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  EXTEND,
  RELEASE,
  RENEW
} from "../../support/PhoneCustomer.ts"

export type Country = "US" | "CA"
export type CallSeconds = 60 | 300

const EMAIL = "/api/v1/email"

export const createMailbox = (localPart: string): Request => ({ path: `${EMAIL}/mailboxes`, body: { localPart } })

export const updateMailbox = (mailboxId: string, displayName: string): Request => ({
  path: `${EMAIL}/mailboxes/update`,
  body: { mailboxId, displayName }
})

export const deleteMailbox = (mailboxId: string): Request => ({
  path: `${EMAIL}/mailboxes/delete`,
  body: { mailboxId }
})

export const sendMessage = (mailboxId: string, recipient: string): Request => ({
  path: `${EMAIL}/messages/send`,
  body: {
    mailboxId,
    to: [recipient],
    subject: recipient,
    text: "A paid mail.",
    attachments: [{ filename: "paid.txt", contentType: "text/plain", contentBase64: "UGFpZC4=" }]
  }
})

export interface NumberOrder {
  readonly agentName: string
  readonly agentWebhookUrl: string
  readonly areaCode?: string | undefined
}

export const buyNumber = (country: Country, body: NumberOrder): Request => ({
  path: country === "US" ? BUY_US : BUY_CANADA,
  body
})

export const placeCall = (phoneNumberId: string, toNumber: string, seconds: CallSeconds): Request => ({
  path: seconds === 60 ? CALL_ONE : CALL_FIVE,
  body: { phoneNumberId, toNumber, initialGreeting: "Good day." }
})

export const extendCall = (callId: string): Request => ({ path: EXTEND, body: { callId } })
export const renewNumber = (phoneNumberId: string): Request => ({ path: RENEW, body: { phoneNumberId } })
export const addMinutes = (phoneNumberId: string): Request => ({ path: ADD_MINUTES, body: { phoneNumberId } })

export const releaseNumber = (phoneNumberId: string): Request => ({
  path: RELEASE,
  body: { phoneNumberId, confirmRelease: true }
})
