import {
  addMinutes,
  buyNumber,
  createMailbox,
  deleteMailbox,
  extendCall,
  placeCall,
  renewNumber,
  sendMessage,
  updateMailbox
} from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import type { Payment, Purchase } from "../faults/observation/Purchases.ts"
import { freshName, type Request } from "../support/Agent.ts"

export const EMAIL_SERVICES = [
  "email.mailbox.create",
  "email.mailbox.update",
  "email.mailbox.delete",
  "email.message.send"
] as const

export const PHONE_SERVICES = [
  "phone.number.us.30d",
  "phone.number.ca.30d",
  "phone.number.renew.30d",
  "phone.call.outbound.1m",
  "phone.call.outbound.5m",
  "phone.call.extend.1m",
  "phone.call.inbound.add.10m"
] as const

/** The paid operations. */
export const SERVICES = [...EMAIL_SERVICES, ...PHONE_SERVICES] as const
export type Service = (typeof SERVICES)[number]

/** The observable result of a purchase. No other purchase has the same. */
export type Goods =
  | { readonly kind: "mailbox"; readonly localPart: string }
  | { readonly kind: "displayName"; readonly mailboxId: string; readonly displayName: string }
  | { readonly kind: "deletion"; readonly mailboxId: string; readonly localPart: string }
  | { readonly kind: "mail"; readonly recipient: string }
  | { readonly kind: "number"; readonly agentName: string; readonly areaCode: string }
  /** 30 days, or 600 inbound seconds, of a number to which no other purchase adds any. */
  | { readonly kind: "renewal" | "minutes"; readonly phoneNumberId: string }
  | { readonly kind: "call"; readonly phoneNumberId: string; readonly toNumber: string }
  /** A minute of a call to which no other purchase adds any. */
  | { readonly kind: "extension"; readonly phoneNumberId: string; readonly callId: string; readonly toNumber: string }

/**
 * - `gives up`: sends its payment once;
 * - `repeats`: repeats the same bytes until the answer is final;
 * - `pays again`: also signs another payment when the answer is 402, as x402 clients do;
 * - `follows advice`: is killed before its answer, keeps request and header alone, and follows the status of the payment.
 */
export type ClientKind = "gives up" | "repeats" | "pays again" | "follows advice"

/** A purchase of the crash suite. Its group is its situation in the matrix. */
export interface CrashPurchase extends Purchase {
  readonly service: Service
  readonly wallet: Wallet
  readonly request: Request
  readonly goods: Goods
  readonly client: ClientKind
  readonly payments: Array<Payment>
}

export interface OwnMailbox {
  readonly mailboxId: string
  readonly localPart: string
}

export interface OwnNumber {
  readonly phoneNumberId: string
  readonly number: string
}

/** A call in progress. */
export interface OwnCall {
  readonly callId: string
  readonly toNumber: string
  readonly phoneNumberId: string
}

/** The object of a purchase. Each service needs a part of it. */
export interface Target {
  readonly mailbox?: OwnMailbox | undefined
  /** Where a mail goes; by default a domain that accepts all mail. */
  readonly domain?: string | undefined
  /** Where a number is bought, and its agent. */
  readonly areaCode?: string | undefined
  readonly agentWebhookUrl?: string | undefined
  readonly number?: OwnNumber | undefined
  /** The person to call. */
  readonly toNumber?: string | undefined
  readonly call?: OwnCall | undefined
}

const need = <A>(part: A | undefined): A => {
  if (part === undefined) throw new Error("the target of the purchase is incomplete")
  return part
}

/** The request for a service, and its observable result. */
export const orderOf = (service: Service, target: Target): Pick<CrashPurchase, "request" | "goods"> => {
  const fresh = freshName()
  switch (service) {
    case "email.mailbox.create":
      return { request: createMailbox(fresh), goods: { kind: "mailbox", localPart: fresh } }
    case "email.mailbox.update": {
      const { mailboxId } = need(target.mailbox)
      const displayName = `changed ${fresh}`
      return {
        request: updateMailbox(mailboxId, displayName),
        goods: { kind: "displayName", mailboxId, displayName }
      }
    }
    case "email.mailbox.delete": {
      const mailbox = need(target.mailbox)
      return { request: deleteMailbox(mailbox.mailboxId), goods: { kind: "deletion", ...mailbox } }
    }
    case "email.message.send": {
      const recipient = `${fresh}@${target.domain ?? "else.test"}`
      return { request: sendMessage(need(target.mailbox).mailboxId, recipient), goods: { kind: "mail", recipient } }
    }
    case "phone.number.us.30d":
    case "phone.number.ca.30d": {
      const [areaCode, agentWebhookUrl] = [need(target.areaCode), need(target.agentWebhookUrl)]
      const country = service === "phone.number.us.30d" ? "US" : "CA"
      return {
        request: buyNumber(country, { agentName: fresh, agentWebhookUrl, areaCode }),
        goods: { kind: "number", agentName: fresh, areaCode }
      }
    }
    case "phone.number.renew.30d": {
      const { phoneNumberId } = need(target.number)
      return { request: renewNumber(phoneNumberId), goods: { kind: "renewal", phoneNumberId } }
    }
    case "phone.call.inbound.add.10m": {
      const { phoneNumberId } = need(target.number)
      return { request: addMinutes(phoneNumberId), goods: { kind: "minutes", phoneNumberId } }
    }
    case "phone.call.outbound.1m":
    case "phone.call.outbound.5m": {
      const [{ phoneNumberId }, toNumber] = [need(target.number), need(target.toNumber)]
      const seconds = service === "phone.call.outbound.1m" ? 60 : 300
      return {
        request: placeCall(phoneNumberId, toNumber, seconds),
        goods: { kind: "call", phoneNumberId, toNumber }
      }
    }
    case "phone.call.extend.1m": {
      const call = need(target.call)
      return { request: extendCall(call.callId), goods: { kind: "extension", ...call } }
    }
  }
}
