import type { Agent, Request } from "../support/Agent.ts"
import type { SignedAuthorization } from "../support/Treasury.ts"
import type { Buyer } from "./Buyer.ts"

export const EMAIL_SERVICES = [
  "email.mailbox.create",
  "email.mailbox.update",
  "email.mailbox.delete",
  "email.message.send"
] as const
export type EmailService = (typeof EMAIL_SERVICES)[number]

export const PHONE_SERVICES = [
  "phone.number.us.30d",
  "phone.number.ca.30d",
  "phone.number.renew.30d",
  "phone.call.outbound.1m",
  "phone.call.outbound.5m",
  "phone.call.extend.1m",
  "phone.call.inbound.add.10m"
] as const
export type PhoneService = (typeof PHONE_SERVICES)[number]

/** The paid operations that exist. */
export const SERVICES = [...EMAIL_SERVICES, ...PHONE_SERVICES] as const
export type Service = (typeof SERVICES)[number]

/** What a client was told, as it came over the wire. */
export interface Told {
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  readonly status: number
  /** Of an error. */
  readonly code: string | undefined
  /** Whether the same request may be repeated for another answer, by the error's own word. */
  readonly retryable: boolean
  readonly paymentState: string | undefined
  readonly text: string
}

/** One signed payment for a purchase, and all that its client was told about it, in order. */
export interface Attempt {
  readonly sender: Agent
  readonly authorization: SignedAuthorization
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string
  readonly idempotencyKey: string
  readonly told: Array<Told>
}

/** By what one can see that a purchase was delivered. Each names something that no other purchase buys. */
export type Goods =
  | { readonly kind: "mailbox"; readonly localPart: string }
  | { readonly kind: "displayName"; readonly mailboxId: string; readonly displayName: string }
  | { readonly kind: "deletion"; readonly mailboxId: string; readonly localPart: string }
  | { readonly kind: "mail"; readonly recipient: string }
  | PhoneGoods

export type PhoneGoods =
  | { readonly kind: "number"; readonly agentName: string; readonly areaCode: string }
  /** 30 days, or 600 inbound seconds, of a number to which no other purchase adds any. */
  | { readonly kind: "renewal" | "minutes"; readonly phoneNumberId: string }
  | { readonly kind: "call"; readonly phoneNumberId: string; readonly toNumber: string }
  /** A minute of a call to which no other purchase adds any. */
  | { readonly kind: "extension"; readonly phoneNumberId: string; readonly callId: string; readonly toNumber: string }

/**
 * - `gives up`: sends its payment once, whatever comes of it;
 * - `repeats`: repeats the same bytes until it is told the end;
 * - `pays again`: does so too, and where the end is 402 it signs another payment, as x402 clients do.
 */
export type ClientKind = "gives up" | "repeats" | "pays again"

/** Something that a client wants once, and the payments that it signed for it. */
export interface Purchase {
  /** Where in the matrix it stands, for people. */
  readonly name: string
  readonly service: Service
  readonly buyer: Buyer
  readonly request: Request
  readonly goods: Goods
  readonly client: ClientKind
  readonly attempts: Array<Attempt>
  /** The only end that is right, where the case has one. */
  readonly end?: End | undefined
  /** Another purchase takes the goods away, so that they can't be seen: what the client was told stands for them. */
  hidden?: boolean | undefined
}

/** The three ways in which a purchase may end. */
export type End = "never charged" | "delivered" | "paid back"
