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
  network: Schema.String.annotateKey({ description: "CAIP-2 id of the network, for example `eip155:196`." }),
  asset: Schema.String.annotateKey({ description: "Address of the token's contract." }),
  payTo: Schema.String.annotateKey({ description: "Address that payments go to." }),
  maxTimeoutSeconds: Schema.Int.annotateKey({
    description: "How long an authorization may be valid, in seconds from its creation."
  }),
  extra: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite])).annotateKey({
    description: "The scheme's own fields that are the same in every challenge."
  })
})
export type AcceptedPayment = typeof AcceptedPayment.Type

/** The compact catalog: the API's name and version, its authentication rules, its services and links to its guides. */
export const ApiDescription = Schema.Struct({
  name: Schema.String.annotateKey({ description: "Name of the API." }),
  version: Schema.String.annotateKey({ description: "Version of the contract." }),
  environment: Environment.annotateKey({
    description: "production: money and messages are real. sandbox: they are simulated on one machine."
  }),
  authentication: Schema.Struct({
    scheme: Schema.Literal("bearer").annotateKey({ description: "Scheme of the Authorization header." }),
    tokenPrefix: Schema.String.annotateKey({ description: "The beginning of every access token." }),
    startHere: Schema.Array(ServiceId).annotateKey({
      description: "Services with which a wallet without a token starts."
    }),
    rules: Schema.Array(Schema.String).annotateKey({ description: "The rules of authentication, as sentences." })
  }).annotateKey({ description: "How requests are authenticated." }),
  payment: Schema.Struct({
    protocol: Schema.Literal("x402").annotateKey({ description: "Protocol of payments." }),
    x402Version: Schema.Literal(2).annotateKey({ description: "Version of the protocol." }),
    scheme: Schema.Literal("exact").annotateKey({ description: "Scheme of payments." }),
    accepts: Schema.Array(AcceptedPayment).annotateKey({ description: "The accepted tokens and networks." })
  }).annotateKey({ description: "How paid operations are paid." }),
  guides: Schema.Struct({
    ...Guides.fields,
    docs: Schema.String.annotateKey({ description: "Path of the documentation." })
  }).annotateKey({ description: "Paths of the documentation." }),
  services: Schema.Array(
    Schema.Struct({
      serviceId: ServiceId.annotateKey({ description: "Id of the service." }),
      method: Method.annotateKey({ description: "Method of the call." }),
      path: Schema.String.annotateKey({ description: "Path of the call, with `{parameter}` for variable parts." }),
      price: Schema.NullOr(PriceRecord).annotateKey({ description: "Price of one call; null for a free service." }),
      available: Schema.Boolean.annotateKey({ description: "Whether this server offers the service." }),
      extension: Extension
    })
  ).annotateKey({ description: "Every service in short." })
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
