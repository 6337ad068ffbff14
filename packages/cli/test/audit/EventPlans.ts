import type { JournalState } from "@agentos/client"
import { mkdirSync, writeFileSync } from "node:fs"
import { createPrivateKey, createPublicKey, sign } from "node:crypto"
import { join } from "node:path"
import { errorReply, type Reply } from "../support/ApiDouble.ts"
import type { Scene } from "../support/InProcess.ts"
import { ASSET, paid, PAY_TO, PAYER, TOKEN, TRANSACTION } from "../support/PaidAnswers.ts"
import { AT, event, ID, LATER, mailbox, OPERATION } from "../support/Samples.ts"
import { asking, NO_TOKEN, NOT_YOURS, type Plan, type Plans } from "./Plan.ts"

const TAIL = ["events", "tail"]
const OTHER = "0190f3c2-0000-7000-8000-000000000002"
/** A server without WebSockets. */
const withoutSocket = {
  "GET /api/v1/events/realtime-token": [
    { data: { realtime: { token: "t", expiresAt: AT, websocketUrl: "ws://127.0.0.1:9/s" }, items: [] } }
  ],
  "GET /api/v1/events": [{ data: { items: [event] } }],
  "POST /api/v1/events/list": [{ data: { items: [], nextCursor: null } }]
}
const acknowledged = { ...event, status: "acknowledged", acknowledgedAt: AT }

/** A payment id, which contains its time. */
const PAYMENT = "019c13ec-9e00-7000-8000-0000000000ff"
const RESUME = ["payments", "resume"]
const RECEIPT = ["payments", "receipt", PAYMENT]
const MAILBOXES = "POST /api/v1/email/mailboxes"

const journal =
  (state: Readonly<Record<string, unknown>> & { readonly tag: JournalState["tag"] }) =>
  (folder: string, baseUrl: string): void => {
    mkdirSync(join(folder, "journal"), { mode: 0o700 })
    // Version 1 of the file.
    const entry = {
      version: 1,
      id: PAYMENT,
      createdAt: Date.parse(AT),
      profile: "default",
      baseUrl,
      serviceId: "email.mailbox.create",
      method: "POST",
      path: "/api/v1/email/mailboxes",
      body: '{"localPart":"ada"}',
      idempotencyKey: ID,
      withToken: false,
      payer: PAYER,
      quote: { amount: "250000", asset: ASSET, network: "eip155:196", payTo: PAY_TO },
      paymentSignature: "c2lnbmVkLXBheW1lbnQ=",
      state
    }
    writeFileSync(join(folder, "journal", `${PAYMENT}.json`), JSON.stringify(entry), { mode: 0o600 })
  }
const lost = journal({ tag: "sent", attempts: 1 })
const settled = journal({
  tag: "answered",
  status: 201,
  requestId: ID,
  paymentState: "settled",
  transaction: TRANSACTION
})
const withJournal = ({ failure, interrupt, success }: Plan, prepare: NonNullable<Scene["prepare"]>): Plan => ({
  success: { ...success, prepare },
  failure: { ...failure, prepare },
  interrupt: typeof interrupt === "string" ? interrupt : { ...interrupt, prepare }
})
/** The key of a service that signs receipts, in PKCS #8 (RFC 8410). */
const SIGNING_KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 7)]),
  format: "der",
  type: "pkcs8"
})
const KEY_ID = "did:web:agentos.example#key-1"
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const signedPart = `${encoded({ alg: "EdDSA", kid: KEY_ID })}.${encoded({
  issuedAt: Date.parse(AT) / 1_000,
  network: "eip155:196",
  payer: PAYER.toLowerCase(),
  resourceUrl: "https://agentos.example/api/v1/email/mailboxes",
  transaction: TRANSACTION,
  version: 1
})}`
const withReceipt = journal({
  tag: "answered",
  status: 201,
  requestId: ID,
  paymentState: "settled",
  transaction: TRANSACTION,
  receipt: `${signedPart}.${sign(null, Buffer.from(signedPart), SIGNING_KEY).toString("base64url")}`
})
const DID_PATH = "GET /.well-known/did.json"
const didDocument = (publicKeyJwk: object): Reply => ({
  status: 200,
  body: { id: "did:web:agentos.example", verificationMethod: [{ id: KEY_ID, type: "JsonWebKey", publicKeyJwk }] }
})
const brokenJournal = (folder: string): void => {
  mkdirSync(join(folder, "journal"), { mode: 0o700 })
  writeFileSync(join(folder, "journal", `${PAYMENT}.json`), "{}", { mode: 0o600 })
}
const brokenBudget = (folder: string): void => writeFileSync(join(folder, "budget.json"), "[]", { mode: 0o600 })

const WEBHOOK = "/api/v1/events/webhook"
const webhook = {
  webhookId: ID,
  url: "https://agent.example/events",
  types: null,
  status: "active",
  previousSecretValidUntil: null,
  createdAt: AT,
  updatedAt: AT,
  pausedAt: null
}
const delivery = {
  deliveryId: ID,
  eventId: ID,
  type: "email.received",
  attempt: 1,
  createdAt: AT,
  durationMillis: 40,
  outcome: "failed",
  responseStatus: 503,
  error: "the endpoint answered 503",
  nextAttemptAt: LATER
}
const signed = { AGENTOS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 7).toString("base64")}` }
const endpointAnswers = (status: number): NonNullable<Scene["server"]> => ({
  [`GET ${WEBHOOK}`]: [(url) => ({ status: 200, body: { data: { webhook: { ...webhook, url: `${url}/hook` } } } })],
  "POST /hook": [{ status, body: "" }]
})

export const EVENT_PLANS: Plans<
  | "events tail"
  | "events list"
  | "events get"
  | "events ack"
  | "events ack-all"
  | "webhook set"
  | "webhook show"
  | "webhook delete"
  | "webhook test"
  | "webhook log"
  | "payments list"
  | "payments show"
  | "payments status"
  | "payments receipt"
  | "payments resume"
  | "budget set"
  | "budget show"
> = {
  "events tail": {
    success: { args: [...TAIL, "--max", "1"], exit: 0, server: withoutSocket },
    failure: { args: TAIL, exit: 4, server: { "GET /api/v1/events/realtime-token": [NO_TOKEN.reply] } },
    interrupt: { args: TAIL, exit: 130, server: withoutSocket, interrupt: { said: event.eventId.slice(-8) } }
  },
  "events list": asking(
    ["events", "list"],
    "POST /api/v1/events/list",
    { data: { items: [event, acknowledged], nextCursor: null } },
    NO_TOKEN
  ),
  "events get": asking(["events", "get", ID], "POST /api/v1/events/get", { data: { event } }, NOT_YOURS),
  "events ack": asking(
    ["events", "ack", ID, OTHER],
    "POST /api/v1/events/ack",
    { data: { event: acknowledged } },
    NOT_YOURS
  ),
  "events ack-all": asking(
    ["events", "ack-all", "--before", "1d"],
    "POST /api/v1/events/ack-all",
    { data: { acknowledged: 3 } },
    { reply: errorReply(503, "SERVICE_UNAVAILABLE", { message: "The service is not available now." }), exit: 9 }
  ),
  "webhook set": asking(
    ["webhook", "set", "https://agent.example/events"],
    `POST ${WEBHOOK}`,
    { status: 201, body: { data: { webhook, signingSecret: "whsec_c2VjcmV0" } } },
    {
      reply: errorReply(400, "INVALID_REQUEST", { message: "url must be at a public address.", paymentState: "none" }),
      exit: 3
    }
  ),
  "webhook show": asking(["webhook", "show"], `GET ${WEBHOOK}`, { data: { webhook } }, NOT_YOURS),
  "webhook delete": asking(
    ["webhook", "delete"],
    `DELETE ${WEBHOOK}`,
    { data: { webhookId: ID, deleted: true } },
    NOT_YOURS
  ),
  "webhook test": {
    success: { args: ["webhook", "test"], exit: 0, env: signed, server: endpointAnswers(204) },
    failure: { args: ["webhook", "test"], exit: 1, env: signed, server: endpointAnswers(401) },
    interrupt: { args: ["webhook", "test"], exit: 130, answers: ["^C"] }
  },
  "webhook log": asking(
    ["webhook", "log"],
    `GET ${WEBHOOK}/deliveries`,
    {
      data: {
        items: [{ ...delivery, outcome: "succeeded", responseStatus: 204, error: null, nextAttemptAt: null }, delivery]
      }
    },
    NOT_YOURS
  ),
  "payments list": {
    success: { args: ["payments", "list"], exit: 0, prepare: settled },
    failure: { args: ["payments", "list"], exit: 3, prepare: brokenJournal },
    interrupt: "it never waits"
  },
  "payments show": {
    success: { args: ["payments", "show", PAYMENT], exit: 0, prepare: settled },
    failure: { args: ["payments", "show", PAYMENT], exit: 5 },
    interrupt: "it never waits"
  },
  "payments status": withJournal(
    asking(
      ["payments", "status", PAYMENT],
      "POST /api/v1/payments/status",
      {
        data: {
          payment: {
            operationId: ID,
            serviceId: "email.mailbox.create",
            paymentState: "settled",
            network: "eip155:196",
            asset: ASSET,
            amount: "250000",
            transaction: TRANSACTION,
            refund: null,
            reason: null,
            receipt: "eyJ9",
            createdAt: AT,
            updatedAt: AT,
            advice: "wait",
            retryAfterSeconds: 5
          }
        }
      },
      { reply: errorReply(400, "INVALID_REQUEST", { message: "PAYMENT-SIGNATURE must be base64." }), exit: 3 }
    ),
    lost
  ),
  "payments receipt": {
    success: {
      args: RECEIPT,
      exit: 0,
      prepare: withReceipt,
      server: { [DID_PATH]: [didDocument(createPublicKey(SIGNING_KEY).export({ format: "jwk" }))] }
    },
    failure: {
      args: RECEIPT,
      exit: 1,
      prepare: withReceipt,
      server: {
        [DID_PATH]: [didDocument({ kty: "OKP", crv: "Ed25519", x: Buffer.alloc(32, 9).toString("base64url") })]
      }
    },
    interrupt: {
      args: RECEIPT,
      exit: 130,
      prepare: withReceipt,
      server: { [DID_PATH]: ["hang"] },
      interrupt: "unanswered"
    }
  },
  "payments resume": {
    success: {
      args: RESUME,
      exit: 0,
      prepare: lost,
      server: { [MAILBOXES]: [paid({ mailbox, operationId: OPERATION, authentication: { accessToken: TOKEN } })] }
    },
    failure: { args: RESUME, exit: 8, prepare: lost, server: { [MAILBOXES]: ["cut"] } },
    // The request may have arrived, which "Interrupted." alone would hide.
    interrupt: { args: RESUME, exit: 8, prepare: lost, server: { [MAILBOXES]: ["hang"] }, interrupt: "unanswered" }
  },
  "budget set": {
    success: { args: ["budget", "set", "--per-call", "0.50", "--per-day", "10"], exit: 0, prepare: settled },
    failure: { args: ["budget", "set", "--per-day", "much"], exit: 3 },
    interrupt: "it never waits"
  },
  "budget show": {
    success: { args: ["budget", "show"], exit: 0, prepare: lost },
    failure: { args: ["budget", "show"], exit: 3, prepare: brokenBudget },
    interrupt: "it never waits"
  }
}
