import type { Agent, Reply } from "./Agent.ts"

export const PHONE = "/api/v1/phone"
export const BUY_US = `${PHONE}/purchase-us-number-30-days`
export const BUY_CANADA = `${PHONE}/purchase-canada-number-30-days`
export const RENEW = `${PHONE}/renew-number-30-days`
export const CALL_ONE = `${PHONE}/call-1-minute`
export const CALL_FIVE = `${PHONE}/call-5-minutes`
export const EXTEND = `${PHONE}/extend-call-1-minute`
export const ADD_MINUTES = `${PHONE}/add-inbound-minutes-10`
export const RELEASE = `${PHONE}/release-number`
export const NUMBERS = `${PHONE}/numbers`

/** Prices in base units. */
export const PRICES = {
  [BUY_US]: 5_000_000n,
  [BUY_CANADA]: 5_000_000n,
  [RENEW]: 5_000_000n,
  [CALL_ONE]: 300_000n,
  [CALL_FIVE]: 1_500_000n,
  [EXTEND]: 300_000n,
  [ADD_MINUTES]: 3_000_000n
} as const

export interface NumberFields {
  readonly phoneNumberId: string
  readonly agentId: string
  readonly agentName: string
  readonly number: string
  readonly status: string
  readonly entitlement: { readonly startedAt: string; readonly expiresAt: string; readonly secondsRemaining: number }
  readonly inboundAllowance: {
    readonly purchasedSeconds: number
    readonly usedSeconds: number
    readonly remainingSeconds: number
  }
}

export interface CallFields {
  readonly callId: string
  readonly phoneNumberId: string
  readonly fromNumber: string | null
  readonly fromWithheld: string | null
  readonly toNumber: string
  readonly status: "queued" | "ringing" | "in_progress" | "ended"
  readonly endReason: string | null
  readonly answeredBy: string | null
  readonly authorizedSeconds: number
  readonly connectedSeconds: number
  readonly createdAt: string
  readonly answeredAt: string | null
  readonly endedAt: string | null
}

export interface TranscriptFields {
  readonly callId: string
  readonly complete: boolean
  readonly turns: ReadonlyArray<{ readonly role: string; readonly text: string; readonly at: string }>
}

export interface EventFields {
  readonly eventId: string
  readonly type: string
  readonly status: string
  readonly source: string
  readonly service: string
  readonly resourceId: string
  readonly agentId: string
  readonly payload: Readonly<Record<string, unknown>>
}

export interface Purchase {
  readonly phoneNumberId: string
  readonly number: string
  readonly callbackVerificationSecret: string
  readonly phoneNumber: NumberFields
  readonly authentication: { readonly accessToken?: string }
  readonly operationId: string
}

/** Returns the data of a success; fails on an error. */
export const dataOf = <Data>(reply: Reply): Data => {
  if (reply.status !== 200 && reply.status !== 201)
    throw new Error(`expected a success, got ${reply.status}: ${reply.text}`)
  return reply.body.data as unknown as Data
}

/** Returns the status and code of an error response. */
export const refusalOf = ({ body, status }: Reply): readonly [number, string | undefined] => [status, body.error?.code]

/** A wallet that buys telephone services. */
export class PhoneCustomer {
  readonly agent: Agent
  /** URL of the agent that answers calls to its numbers. */
  readonly webhookUrl: string

  constructor(agent: Agent, webhookUrl: string) {
    this.agent = agent
    this.webhookUrl = webhookUrl
  }

  get address(): `0x${string}` {
    return this.agent.account.address
  }

  /** Returns the body of a purchase. */
  order(more: object = {}): Readonly<Record<string, unknown>> {
    return { agentName: "Ada", agentWebhookUrl: this.webhookUrl, ...more }
  }

  /** Buys a US number and stores the access token from the response. */
  async buy(more: object = {}): Promise<Purchase> {
    const bought = dataOf<Purchase>(await this.agent.pay({ path: BUY_US, body: this.order(more) }))
    await this.agent.authenticate(bought.authentication)
    return bought
  }

  async addMinutes(phoneNumberId: string): Promise<void> {
    dataOf(await this.agent.pay({ path: ADD_MINUTES, body: { phoneNumberId } }))
  }

  /** Places a call of one minute. */
  async callOut(phoneNumberId: string, toNumber: string, initialGreeting?: string): Promise<CallFields> {
    const body = { phoneNumberId, toNumber, ...(initialGreeting === undefined ? {} : { initialGreeting }) }
    return dataOf<{ readonly call: CallFields }>(await this.agent.pay({ path: CALL_ONE, body })).call
  }

  async numbers(): Promise<ReadonlyArray<NumberFields>> {
    return dataOf<{ readonly items: ReadonlyArray<NumberFields> }>(await this.agent.send({ path: NUMBERS })).items
  }

  async number(phoneNumberId: string): Promise<NumberFields> {
    const found = (await this.numbers()).find((one) => one.phoneNumberId === phoneNumberId)
    if (found === undefined) throw new Error(`number ${phoneNumberId} is not listed`)
    return found
  }

  async call(callId: string): Promise<CallFields> {
    return dataOf<{ readonly call: CallFields }>(await this.agent.send({ path: `${PHONE}/calls/${callId}` })).call
  }

  async transcript(callId: string): Promise<TranscriptFields> {
    const reply = await this.agent.send({ path: `${PHONE}/calls/${callId}/transcript` })
    return dataOf<{ readonly transcript: TranscriptFields }>(reply).transcript
  }

  /** Returns the events of these types, oldest first. */
  async events(...types: ReadonlyArray<string>): Promise<ReadonlyArray<EventFields>> {
    const reply = await this.agent.send({ path: "/api/v1/events/list", body: { types, limit: 100 } })
    return dataOf<{ readonly items: ReadonlyArray<EventFields> }>(reply).items
  }
}
