import { type Capabilities, type CatalogEntry, IDEMPOTENCY_KEY_LIMIT, Usdt } from "@agentos/core"
import { REQUEST_ID } from "../example/ResourceExamples.ts"
import { inputsOf, requiresBody } from "../operation/Inputs.ts"
import { type Bytes, isBytes, type ApiOperation, type OperationExample } from "../operation/ApiOperation.ts"
import { type JsonObject, toJsonObject } from "../schema/JsonSchema.ts"
import type { ContractSchemas } from "./ContractSchemas.ts"
import { errorResponses } from "./ErrorResponses.ts"
import { CATALOG_HEADERS, DOWNLOAD_HEADERS, headerRef, UNCACHED_HEADERS } from "./Headers.ts"

/**
 * The names of the security schemes among the components of the document. Directories of x402 recognize a token by this
 * name (@agentcash/discovery 1.7).
 */
export const ACCESS_TOKEN = "apiKey"
export const SIGN_IN = "signInWithX"

/** Header parameters that several operations share. */
export const PARAMETERS: JsonObject = {
  Payment: {
    name: "PAYMENT-SIGNATURE",
    in: "header",
    required: false,
    description:
      "The payment: base64 of the x402 version 2 PaymentPayload. Omit it on the first request, which returns the challenge. It is required on the paid repetition. The authorization's nonce is random, or bound to the server and the challenge: ASCII `agentos2`, then the first 24 bytes of SHA-256 over the ASCII text of the origin that the client connected to, a line feed and `extra.binding`. A nonce with that tag is accepted by that server with that challenge only. The same holds for `extra.nonceTag`, then the hash of `extra.binding` alone, with that challenge.",
    schema: { type: "string" }
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A unique key that you choose for this operation. Send it with PAYMENT-SIGNATURE, unless the payment has x402's payment-identifier, which is then the key. The first request, which returns the challenge, needs no key. Reuse a key only to repeat the identical request with the same body and payment.",
    schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_LIMIT, examples: ["mailbox-ada-1"] }
  },
  AcceptPayment: {
    name: "Accept-Payment",
    in: "header",
    required: false,
    description:
      "The networks on which you can pay: CAIP-2 ids in your order, separated by commas. The challenge offers those of them that the server accepts, else the first ones of `payment.accepts` in `GET /api/v1` that have room in a header.",
    schema: { type: "string", examples: ["eip155:42220, eip155:196"] }
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The ETag of a response that you have, or several, comma-separated.",
    schema: { type: "string" }
  },
  ReadPayment: {
    name: "PAYMENT-SIGNATURE",
    in: "header",
    required: true,
    description: "The payment: the header of the original request, byte for byte. It is not submitted.",
    schema: { type: "string" }
  }
}

const parameterRef = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` })

/** Returns whether a client that has the response gets 304. */
const isTagged = ({ data, hasEntityTag }: ApiOperation): boolean => isBytes(data) || hasEntityTag === true

const headerParameters = (self: ApiOperation): ReadonlyArray<JsonObject> => {
  if (self.name === "readPaymentStatus") return [parameterRef("ReadPayment")]
  if (isTagged(self)) return [parameterRef("IfNoneMatch")]
  return self.entry.price === null
    ? []
    : [parameterRef("Payment"), parameterRef("IdempotencyKey"), parameterRef("AcceptPayment")]
}

const security = (entry: CatalogEntry): ReadonlyArray<JsonObject> => {
  switch (entry.authentication) {
    case "bearer":
      return [{ [ACCESS_TOKEN]: [] }]
    case "sign-in-with-x":
      return [{ [SIGN_IN]: [] }]
    default:
      return []
  }
}

/** Returns the payment in the form that directories of x402 read (@agentcash/discovery, SPECIFICATION.md, section 7). */
const paymentInfo = (price: Usdt.Usdt, networks: ReadonlyArray<string>): JsonObject => ({
  price: { mode: "fixed", currency: "USD", ...Usdt.toPrice(price) },
  protocols: [{ x402: { version: 2, scheme: "exact", networks: [...networks] } }]
})

const terms = (entry: CatalogEntry): string =>
  [
    entry.price === null ? "Free." : `Costs ${Usdt.toDecimal(entry.price)} ${Usdt.ASSET}, paid by x402 version 2.`,
    entry.authentication === "x402-bootstrap"
      ? "Needs no access token: the response contains one. A token that you send must be that of the paying wallet."
      : ""
  ]
    .filter(Boolean)
    .join(" ")

const ONE = "example"

/** Returns the examples of an operation by name: the first, and its variants. */
const examplesOf = ({ example, variants }: ApiOperation): ReadonlyArray<readonly [string, OperationExample]> => [
  ...(example === undefined ? [] : [[ONE, example] as const]),
  ...Object.entries(variants ?? {})
]

/** Returns the examples of a response as they are sent. */
const responseExamples = (self: ApiOperation): JsonObject =>
  Object.fromEntries(
    examplesOf(self).map(([name, { data }]) => [
      name,
      {
        value: isBytes(self.data)
          ? `${String(data)}`
          : toJsonObject({ data, requestId: REQUEST_ID, guide: self.entry.guide })
      }
    ])
  )

const bytesContent = (self: ApiOperation, { mediaTypes }: Bytes): JsonObject =>
  Object.fromEntries(
    mediaTypes.map((type) => [type, { schema: { type: "string", format: "binary" }, examples: responseExamples(self) }])
  )

const jsonContent = (self: ApiOperation, schema: JsonObject): JsonObject => ({
  "application/json": { schema, examples: responseExamples(self) }
})

/** Returns the headers of a success, and of the 304 that stands for it. */
const successHeaders = (self: ApiOperation): JsonObject => ({
  ...(isBytes(self.data) ? DOWNLOAD_HEADERS : self.hasEntityTag === true ? CATALOG_HEADERS : UNCACHED_HEADERS),
  ...(self.name === "describeApi" ? { Link: headerRef("Link") } : {}),
  ...(self.entry.price === null ? {} : { "PAYMENT-RESPONSE": headerRef("PaymentResponse") })
})
/** Returns the responses to requests that succeed; none for an operation that never does. */
const successResponses = (self: ApiOperation, { responses }: ContractSchemas): JsonObject => {
  if (self.entry.capability === "never") return {}
  const { replacedStatus, status } = self
  const headers = successHeaders(self)
  const content = isBytes(self.data) ? bytesContent(self, self.data) : jsonContent(self, responses.get(self) ?? {})
  return {
    [`${status}`]: {
      description: status === 201 ? "Success. A resource was created." : "Success.",
      headers,
      content
    },
    ...(replacedStatus === undefined
      ? {}
      : {
          [`${replacedStatus}`]: { description: "Success. The resource existed and was replaced.", headers, content }
        }),
    ...(isTagged(self)
      ? { "304": { description: "The version in If-None-Match is the current one. There is no body.", headers } }
      : {})
  }
}

/** Returns the path and query parameters. Those of the example request have their value in it. */
const parameters = (self: ApiOperation): ReadonlyArray<JsonObject> => {
  const values = new Map(
    [self.example?.params, self.example?.query].flatMap((part) => Object.entries(toJsonObject(part ?? {})))
  )
  return inputsOf(self).flatMap(({ description, in: place, name, required, schema }) => {
    const example = values.get(name)
    const parameter = { name, in: place, required, description, schema }
    return place === "body" ? [] : [example === undefined ? parameter : { ...parameter, example }]
  })
}

const requestBody = (self: ApiOperation, schema: JsonObject): JsonObject => {
  const payloads = examplesOf(self).map(([name, { payload }]) => [name, { value: toJsonObject(payload) }] as const)
  return {
    required: requiresBody(self),
    content: { "application/json": { schema, examples: Object.fromEntries(payloads) } }
  }
}

export interface DocumentedServer {
  readonly serverUrl: string
  /** CAIP-2 ids of the networks on which it accepts payments. */
  readonly networks: ReadonlyArray<string>
  /** The halves of the API that it offers; both by default. */
  readonly capabilities?: Capabilities
}

export const operationDocument = (
  self: ApiOperation,
  schemas: ContractSchemas,
  { networks, serverUrl }: DocumentedServer
): JsonObject => {
  const { entry } = self
  const request = schemas.requests.get(self)
  return {
    operationId: self.name,
    tags: [self.tag],
    summary: self.summary,
    description: `${entry.purpose}\n\n${self.description}\n\n${terms(entry)}`,
    externalDocs: { url: `${serverUrl}${entry.guide}` },
    ...(entry.serviceId === null ? {} : { "x-service-id": entry.serviceId }),
    ...(entry.extension === undefined ? {} : { "x-extension": entry.extension }),
    ...(entry.price === null
      ? {}
      : { "x-price": { ...Usdt.toPrice(entry.price) }, "x-payment-info": paymentInfo(entry.price, networks) }),
    ...(entry.authentication === "unavailable" ? { deprecated: true } : {}),
    security: security(entry),
    parameters: [...parameters(self), ...headerParameters(self)],
    ...(request === undefined ? {} : { requestBody: requestBody(self, request) }),
    responses: { ...successResponses(self, schemas), ...errorResponses(self) }
  }
}
