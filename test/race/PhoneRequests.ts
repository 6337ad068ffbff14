import type { Reply, Request } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  dataOf,
  EXTEND,
  type Purchase,
  RELEASE,
  RENEW
} from "../support/PhoneCustomer.ts"

const BUY = { US: BUY_US, CA: BUY_CANADA } as const
const CALL = { 60: CALL_ONE, 300: CALL_FIVE } as const

export type Country = keyof typeof BUY
export type CallSeconds = keyof typeof CALL

export const buyNumber = ({ phones }: Cluster, country: Country, areaCode?: string): Request => ({
  path: BUY[country],
  body: {
    agentName: "Racer",
    agentWebhookUrl: phones.agentWebhookUrl,
    ...(areaCode === undefined ? {} : { areaCode })
  }
})

export const placeCall = (phoneNumberId: string, toNumber: string, seconds: CallSeconds): Request => ({
  path: CALL[seconds],
  body: { phoneNumberId, toNumber, initialGreeting: "This is one of a race." }
})

export const extendCall = (callId: string): Request => ({ path: EXTEND, body: { callId } })
export const renewNumber = (phoneNumberId: string): Request => ({ path: RENEW, body: { phoneNumberId } })
export const addMinutes = (phoneNumberId: string): Request => ({ path: ADD_MINUTES, body: { phoneNumberId } })

export const releaseNumber = (phoneNumberId: string): Request => ({
  path: RELEASE,
  body: { phoneNumberId, confirmRelease: true }
})

/** What the answer to a purchase brings. */
export const boughtBy = (reply: Reply): Purchase => dataOf<Purchase>(reply)
