import {
  type Capabilities,
  isAvailable,
  isStartHere,
  PriceRecord,
  type ServiceEntry,
  ServiceId,
  SERVICES,
  Usdt
} from "@agentos/core"
import { Schema } from "effect"
import { API_NAME, API_VERSION } from "../ApiIdentity.ts"
import { GUIDES, Guides } from "../Guides.ts"
import { DOCS_PATH } from "../PublicPath.ts"
import { Extension, Method } from "./ServiceRecord.ts"

/** Whether money and messages are real, or simulated in a local sandbox. */
export const Environment = Schema.Literals(["production", "sandbox"])
export type Environment = typeof Environment.Type

/** A token on a network in which the server accepts payments, as its challenges offer it. */
export const AcceptedPayment = Schema.Struct({
  /** CAIP-2 id, for example `eip155:196`. */
  network: Schema.String,
  /** Address of the token's contract. */
  asset: Schema.String,
  payTo: Schema.String,
  /** How long an authorization may be valid, counted from its creation. */
  maxTimeoutSeconds: Schema.Int,
  /** The scheme's own fields: those of `extra` that are the same in every challenge. */
  extra: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite]))
})
export type AcceptedPayment = typeof AcceptedPayment.Type

/** The compact catalog: the API's name and version, its authentication rules, its services and links to its guides. */
export const ApiDescription = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  environment: Environment,
  authentication: Schema.Struct({
    scheme: Schema.Literal("bearer"),
    tokenPrefix: Schema.String,
    startHere: Schema.Array(ServiceId),
    rules: Schema.Array(Schema.String)
  }),
  payment: Schema.Struct({
    protocol: Schema.Literal("x402"),
    x402Version: Schema.Literal(2),
    scheme: Schema.Literal("exact"),
    accepts: Schema.Array(AcceptedPayment)
  }),
  guides: Schema.Struct({ ...Guides.fields, docs: Schema.String }),
  services: Schema.Array(
    Schema.Struct({
      serviceId: ServiceId,
      method: Method,
      path: Schema.String,
      price: Schema.NullOr(PriceRecord),
      available: Schema.Boolean.annotateKey({ description: "Whether this server offers the service." }),
      extension: Extension
    })
  )
}).annotate({ identifier: "ApiDescription" })
export type ApiDescription = typeof ApiDescription.Type

const RULES: ReadonlyArray<string> = [
  "Start with a start-here service: call it without Authorization, pay the challenge in the PAYMENT-REQUIRED header with an x402 version 2 client, and repeat the identical request with PAYMENT-SIGNATURE and Idempotency-Key. The response contains your access token.",
  "Send the token as `Authorization: Bearer <ACCESS_TOKEN>` to every other operation except discovery. It is valid for all services of the paying wallet and does not expire.",
  "Pay for operations with a token from the token's own wallet.",
  "POST /api/v1/auth/token returns a lost token, and POST /api/v1/auth/revoke revokes it, for the wallet that signs in with x402's extension sign-in-with-x. Both are free.",
  "GET /api/v1/events/realtime-token returns a token for the WebSocket that is valid for 15 minutes. Never put the access token into a URL."
]

const toCompact = (entry: ServiceEntry, capabilities: Capabilities) => {
  const { extension, method, path, price, serviceId } = entry
  return {
    serviceId,
    method,
    path,
    price: price === null ? null : Usdt.toPrice(price),
    available: isAvailable(entry, capabilities),
    ...(extension === undefined ? {} : { extension })
  }
}

/** Returns the response of `GET /api/v1` on a server with these capabilities, which accepts these payments. */
export const apiDescription = (
  environment: Environment,
  capabilities: Capabilities,
  accepts: ReadonlyArray<AcceptedPayment>
): ApiDescription => ({
  name: API_NAME,
  version: API_VERSION,
  environment,
  authentication: {
    scheme: "bearer",
    tokenPrefix: "at_v1",
    startHere: SERVICES.filter((entry) => isStartHere(entry) && isAvailable(entry, capabilities)).map(
      ({ serviceId }) => serviceId
    ),
    rules: RULES
  },
  payment: { protocol: "x402", x402Version: 2, scheme: "exact", accepts },
  guides: { ...GUIDES, docs: DOCS_PATH },
  services: SERVICES.map((entry) => toCompact(entry, capabilities))
})
