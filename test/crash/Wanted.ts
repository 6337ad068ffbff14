import { freshName } from "../support/Agent.ts"
import type { Purchase, Service } from "./Purchase.ts"

/** A mailbox that a wallet bought. */
export interface OwnMailbox {
  readonly mailboxId: string
  readonly localPart: string
}

/** A telephone number that a wallet bought. */
export interface OwnLine {
  readonly phoneNumberId: string
  readonly number: string
}

/** A call that goes on. */
export interface OwnCall {
  readonly callId: string
  readonly toNumber: string
  readonly phoneNumberId: string
}

/** What a purchase is about; each service needs a part of it. */
export interface About {
  readonly mailbox?: OwnMailbox | undefined
  /** Where a mail goes; a domain that takes all mail unless given. */
  readonly domain?: string | undefined
  /** Where a number is bought, and what agent is to be behind it. */
  readonly areaCode?: string | undefined
  readonly agentWebhookUrl?: string | undefined
  readonly line?: OwnLine | undefined
  /** Who is called. */
  readonly toNumber?: string | undefined
  readonly call?: OwnCall | undefined
}

const PATHS: Readonly<Record<Service, string>> = {
  "email.mailbox.create": "/api/v1/email/mailboxes",
  "email.mailbox.update": "/api/v1/email/mailboxes/update",
  "email.mailbox.delete": "/api/v1/email/mailboxes/delete",
  "email.message.send": "/api/v1/email/messages/send",
  "phone.number.us.30d": "/api/v1/phone/purchase-us-number-30-days",
  "phone.number.ca.30d": "/api/v1/phone/purchase-canada-number-30-days",
  "phone.number.renew.30d": "/api/v1/phone/renew-number-30-days",
  "phone.call.outbound.1m": "/api/v1/phone/call-1-minute",
  "phone.call.outbound.5m": "/api/v1/phone/call-5-minutes",
  "phone.call.extend.1m": "/api/v1/phone/extend-call-1-minute",
  "phone.call.inbound.add.10m": "/api/v1/phone/add-inbound-minutes-10"
}

type Wanted = Pick<Purchase, "request" | "goods">

/** What is asked for, and by what it can be seen. */
export const wanted = (service: Service, about: About): Wanted => {
  const need = <What>(what: What | undefined): What => {
    if (what === undefined) throw new Error(`${service} is about something that is not there`)
    return what
  }
  const path = PATHS[service]
  const fresh = freshName()
  switch (service) {
    case "email.mailbox.create":
      return { request: { path, body: { localPart: fresh } }, goods: { kind: "mailbox", localPart: fresh } }
    case "email.mailbox.update": {
      const { mailboxId } = need(about.mailbox)
      const displayName = `changed ${fresh}`
      return {
        request: { path, body: { mailboxId, displayName } },
        goods: { kind: "displayName", mailboxId, displayName }
      }
    }
    case "email.mailbox.delete": {
      const { localPart, mailboxId } = need(about.mailbox)
      return { request: { path, body: { mailboxId } }, goods: { kind: "deletion", mailboxId, localPart } }
    }
    case "email.message.send": {
      const { mailboxId } = need(about.mailbox)
      const recipient = `${fresh}@${about.domain ?? "else.test"}`
      return {
        request: { path, body: { mailboxId, to: [recipient], subject: "A paid mail", text: fresh } },
        goods: { kind: "mail", recipient }
      }
    }
    case "phone.number.us.30d":
    case "phone.number.ca.30d": {
      const [areaCode, agentWebhookUrl] = [need(about.areaCode), need(about.agentWebhookUrl)]
      return {
        request: { path, body: { agentName: fresh, agentWebhookUrl, areaCode } },
        goods: { kind: "number", agentName: fresh, areaCode }
      }
    }
    case "phone.number.renew.30d":
    case "phone.call.inbound.add.10m": {
      const { phoneNumberId } = need(about.line)
      const kind = service === "phone.number.renew.30d" ? "renewal" : "minutes"
      return { request: { path, body: { phoneNumberId } }, goods: { kind, phoneNumberId } }
    }
    case "phone.call.outbound.1m":
    case "phone.call.outbound.5m": {
      const [{ phoneNumberId }, toNumber] = [need(about.line), need(about.toNumber)]
      const body = { phoneNumberId, toNumber, initialGreeting: "Good day." }
      return { request: { path, body }, goods: { kind: "call", phoneNumberId, toNumber } }
    }
    case "phone.call.extend.1m": {
      const call = need(about.call)
      return { request: { path, body: { callId: call.callId } }, goods: { kind: "extension", ...call } }
    }
  }
}
