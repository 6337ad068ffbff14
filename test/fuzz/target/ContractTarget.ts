import { openApiDocument, type ApiOperation, OPERATIONS } from "@agentos/api"
import type { Random } from "../../support/Random.ts"
import { HttpConnection, NotAnswered, type RawRequest, requestBytes } from "../HttpConnection.ts"
import { ATTACKER_ADDRESSES } from "../DefenseRig.ts"
import { bytesOf, chance, type Json, mutateJson, mutateText, oddText, randomUuid, several } from "../Mutation.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

type Schema = { readonly [key: string]: Json }

const DOCUMENT = openApiDocument({ serverUrl: "http://server.example", networks: [] }) as Schema
const operations: ReadonlyArray<ApiOperation> = Object.values(OPERATIONS)

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const child = (schema: Schema, ...keys: ReadonlyArray<string>): Schema => {
  let found = schema
  for (const key of keys) {
    const next = found[key]
    found = isSchema(next) ? next : {}
  }
  return found
}

const resolve = (schema: Schema): Schema => {
  const reference = schema["$ref"]
  return typeof reference === "string" ? child(DOCUMENT, ...reference.slice(2).split("/")) : schema
}

const id = (field: string) => (random: Random) =>
  random.pick([`{{own.${field}}}`, `{{own.${field}}}`, `{{other.${field}}}`, randomUuid(random)])

/** Valid values of properties whose form is not in their schema, or that name objects. */
const BY_NAME: Readonly<Record<string, (random: Random) => Json>> = {
  mailboxId: id("mailboxId"),
  messageId: id("messageId"),
  eventId: id("eventId"),
  phoneNumberId: id("phoneNumberId"),
  callId: id("callId"),
  resourceId: id("messageId"),
  localPart: (random) => `fuzz-${random.integer(1_000_000)}`,
  agentWebhookUrl: () => "https://1.1.1.1/voice",
  areaCode: () => "415",
  language: () => "en-US",
  toNumber: (random) => random.pick(["+14155550150", "{{own.number}}", "{{other.number}}", "+911"]),
  from: () => "2020-01-01T00:00:00.000Z",
  to: () => "2030-01-01T00:00:00.000Z",
  before: () => "2020-01-01T00:00:00.000Z",
  confirmRelease: () => true,
  status: (random) => random.pick(["pending", "delivered", "acknowledged", "expired", "failed"]),
  types: () => ["email.received"],
  cursor: (random) => random.pick(["AAAA", "{{own.cursor}}", "{{other.cursor}}"]),
  serviceId: (random) => random.pick(["email.mailbox.create", "phone.number.purchase-us"])
}

const addresses = (random: Random): Json =>
  Array.from({ length: 1 + random.integer(3) }, () => random.pick(["a@elsewhere.example", "{{other.address}}"]))

const valueOf = (random: Random, name: string, given: Schema): Json => {
  const schema = resolve(given)
  if (schema["type"] === "array" && ["to", "cc", "bcc"].includes(name)) return addresses(random)
  const known = BY_NAME[name]
  if (known !== undefined) return known(random)
  switch (schema["type"]) {
    case "object":
      return objectOf(random, schema)
    case "array":
      return [valueOf(random, "", child(schema, "items"))]
    case "integer":
    case "number":
      return 1 + random.integer(20)
    case "boolean":
      return chance(random, 2)
    default:
      return "text"
  }
}

const objectOf = (random: Random, schema: Schema): { readonly [key: string]: Json } => {
  const required = schema["required"]
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  return Object.fromEntries(
    Object.entries(child(schema, "properties"))
      .filter(([name]) => isRequired(name) || chance(random, 2))
      .map(([name, property]) => [name, valueOf(random, name, isSchema(property) ? property : {})])
  )
}

const bodyOf = (random: Random, description: Schema): string | undefined => {
  const schema = child(description, "requestBody", "content", "application/json", "schema")
  if (Object.keys(schema).length === 0) return chance(random, 10) ? "{}" : undefined
  let value: Json = objectOf(random, resolve(schema))
  if (!chance(random, 8)) value = several<Json>(random, 3, value, (json) => mutateJson(random, json))
  const text = JSON.stringify(value)
  if (chance(random, 12)) return bytesOf(text.replace(/^\{("[^"]*":)/, "{$1null,$1"))
  return bytesOf(chance(random, 4) ? several(random, 3, text, (json) => mutateText(random, json)) : text)
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value))

const targetOf = (random: Random, { entry }: ApiOperation, description: Schema): string => {
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = chance(random, 3) ? oddText(random) : textOf(BY_NAME[name]?.(random) ?? "x")
    return value.startsWith("{{") ? value : encodeURIComponent(value.toWellFormed())
  })
  const parameters = description["parameters"]
  const names = (Array.isArray(parameters) ? parameters : [])
    .map((parameter: Json) => (isSchema(parameter) ? parameter : {}))
    .filter((parameter) => parameter["in"] === "query")
  const query = names
    .filter(() => chance(random, 2))
    .map((parameter) => {
      const name = textOf(parameter["name"] ?? "")
      const value = chance(random, 3) ? oddText(random) : textOf(valueOf(random, name, child(parameter, "schema")))
      return `${name}=${value.startsWith("{{") ? value : encodeURIComponent(value.toWellFormed())}`
    })
  if (chance(random, 12)) query.push(random.pick(["limit=1&limit=2", "x=1", "%", "=", "limit=%ff", "cursor=&cursor="]))
  return query.length === 0 ? path : `${path}?${query.join("&")}`
}

const headerText = (text: string): string => bytesOf(text).replaceAll(/[\r\n\u0000]/g, " ")

const BEARER = "Bearer {{own.token}}"

const authorizationOf = (random: Random): ReadonlyArray<readonly [string, string]> => {
  switch (random.integer(8)) {
    case 0:
    case 1:
      return []
    case 2:
      return [["Authorization", headerText(mutateText(random, `Bearer at_v1_${"0Az".repeat(20)}`))]]
    case 3:
      return [
        ["authorization", random.pick(["bearer {{own.token}}", "Basic e30=", "Bearer", "Bearer  x", `${BEARER}x`])]
      ]
    default:
      return [["Authorization", BEARER]]
  }
}

/** Of the form of a payment, though no wallet has signed it. */
const PAYMENT: Json = {
  x402Version: 2,
  resource: { url: "http://server.example/api/v1/email/mailboxes", description: "", mimeType: "application/json" },
  accepted: {
    scheme: "exact",
    network: "eip155:196",
    amount: "250000",
    asset: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    maxTimeoutSeconds: 30,
    extra: { name: "USDT", version: "1", nonce: "00", issuedAt: "2026-01-01T00:00:00.000Z", mac: "00" }
  },
  payload: {
    signature: `0x${"11".repeat(65)}`,
    authorization: {
      from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
      to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      value: "250000",
      validAfter: "0",
      validBefore: "99999999999",
      nonce: `0x${"22".repeat(32)}`
    }
  }
}

const paymentOf = (random: Random): ReadonlyArray<readonly [string, string]> => {
  if (!chance(random, 6)) return []
  const json = JSON.stringify(several<Json>(random, 3, PAYMENT, (value) => mutateJson(random, value)))
  const encoded = Buffer.from(json).toString("base64").slice(0, 30_000)
  const used = random.pick(["{{own.payment}}", "{{other.payment}}"])
  const signature = chance(random, 3) ? used : chance(random, 5) ? headerText(mutateText(random, encoded)) : encoded
  const key = random.pick(["key", "", headerText(oddText(random)).slice(0, 300), randomUuid(random)])
  const headers: Array<readonly [string, string]> = [["PAYMENT-SIGNATURE", signature]]
  if (!chance(random, 4)) headers.push(["Idempotency-Key", key])
  if (chance(random, 8))
    headers.push(
      random.pick([
        ["Idempotency-Key", "another"],
        ["Payment-Signature", "e30="]
      ] as const)
    )
  return headers
}

const TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "application/json; charset=utf-16",
  "text/plain",
  ""
]

const generate = (random: Random): RawRequest => {
  const operation = random.pick(operations)
  const { method, path } = operation.entry
  const description = child(DOCUMENT, "paths", path, method.toLowerCase())
  const body = bodyOf(random, description)
  const isReal = operation.name !== "releaseNumber"
  return {
    method: chance(random, 20) ? random.pick(["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "GET", "POST"]) : method,
    target: targetOf(random, operation, description),
    headers: [
      ...authorizationOf(random),
      ...(body === undefined ? [] : [["Content-Type", chance(random, 12) ? random.pick(TYPES) : TYPES[0]!] as const]),
      ...paymentOf(random)
    ],
    // The attacker keeps their number: other inputs use it.
    body: isReal ? body : body?.replaceAll("{{own.phoneNumberId}}", "{{other.phoneNumberId}}")
  }
}

const filled = (request: RawRequest, rig: Parameters<typeof fill>[1]): RawRequest => ({
  ...request,
  target: fill(request.target, rig),
  headers: request.headers.map(([name, value]) => [name, fill(value, rig)]),
  body: request.body === undefined ? undefined : fill(request.body, rig)
})

/** Requests for the operations of the contract, valid and nearly valid. */
export const contractTarget: Target<RawRequest> = {
  name: "contract",
  summary: "requests for the operations of the contract",
  workers: 16,
  generate,
  open: async ({ count, oracle, rig }) => {
    const connection = new HttpConnection({ ...rig.http, localAddress: ATTACKER_ADDRESSES[0] })
    return {
      play: async (request) => {
        count("requests")
        const isHead = request.method === "HEAD"
        try {
          const answer = await connection.request(requestBytes(filled(request, rig), rig.http.host), isHead)
          return oracle.examineAnswer(answer, { hasEnvelope: !isHead })
        } catch (error) {
          if (!(error instanceof NotAnswered)) throw error
          return [{ rule: "every request is answered", detail: error.message }] satisfies ReadonlyArray<Flaw>
        }
      },
      close: async () => connection.close()
    }
  }
}
