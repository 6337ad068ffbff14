import { OPERATIONS, type ApiOperation } from "@agentos/api"
import { isStartHere } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyLimitsOf } from "../../src/edge/RequestLimits.ts"
import { parseBody } from "../../src/operation/Decoding.ts"
import { call, errorOf, fresh, newTenant, rawCall } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const SEND = "/api/v1/email/messages/send"
const MAILBOXES = "/api/v1/email/mailboxes"
const NUMBERS = "/api/v1/phone/purchase-us-number-30-days"

let server: TestServer
let tenant: Awaited<ReturnType<typeof newTenant>>
beforeAll(async () => {
  server = await startServer({ carrierToken: "t".repeat(32) })
  tenant = await newTenant(server)
})
afterAll(() => server.stop())

/** Returns the response to a body, and the CPU time of client and server. */
const costOf = async (path: string, body: string) => {
  const start = process.cpuUsage()
  const answer = await call(server, "POST", path, { body, token: tenant.token })
  const { system, user } = process.cpuUsage(start)
  return { answer, cpuMillis: (user + system) / 1_000 }
}

/** Returns the response to the start of a body of 12 MB whose rest does not arrive. */
const sendStart = (start: string): Promise<string> => {
  const head = [
    `POST ${SEND} HTTP/1.1`,
    "Host: agentos.test",
    `Authorization: Bearer ${tenant.token}`,
    "Content-Type: application/json",
    "Content-Length: 12000000"
  ]
  return rawCall(server, `${head.join("\r\n")}\r\n\r\n${start}`)
}

/** Returns a text with every character escaped, as some encoders write non-ASCII characters. */
const escaped = (length: number): string => "\\u00e9".repeat(length)

interface Property {
  readonly type?: string
  readonly maxItems?: number
  readonly maxLength?: number
  readonly maxProperties?: number
  readonly properties?: Readonly<Record<string, Property>>
}
/** The keywords that bound a text in a JSON Schema. */
const BOUND = /"(?:maxLength|pattern|format|enum)":/
const Shape = Schema.Struct({ properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Any)) })
const Document = Schema.Struct({ schema: Shape, definitions: Schema.Record(Schema.String, Shape) })

/** Replaces each object by its properties. */
const flat = (properties: Readonly<Record<string, Property>>): ReadonlyArray<readonly [string, Property]> =>
  Object.entries(properties).flatMap(([name, property]) =>
    property.properties === undefined
      ? [[name, property] as const]
      : flat(property.properties).map(([inner, nested]) => [`${name}.${inner}`, nested] as const)
  )

const propertiesOf = (payload: ApiOperation["payload"]): Readonly<Record<string, Property>> => {
  const { definitions, schema } = Schema.decodeUnknownSync(Document)(Schema.toJsonSchemaDocument(payload))
  return Object.fromEntries(flat(schema.properties ?? Object.values(definitions)[0]?.properties ?? {}))
}

const operations: ReadonlyArray<ApiOperation> = Object.values(OPERATIONS)

describe("the limits of bodies", () => {
  it("accept every input that the contract allows", () => {
    for (const operation of operations) {
      const { name, payload } = operation
      const properties = Object.values(propertiesOf(payload))
      const budget = bodyLimitsOf(operation).json
      const elements = properties.reduce((sum, { maxItems }) => sum + (maxItems ?? 0), 0)
      assert.isAtMost(elements, budget.elements, name)
      const keys = properties.reduce((sum, { maxProperties }) => sum + (maxProperties ?? 0), properties.length)
      assert.isAtMost(keys, budget.keys, name)
      for (const { maxLength } of properties) assert.isAtMost(6 * (maxLength ?? 0), budget.stringBytes, name)
    }
  })

  it("bound every array, text and object of the contract", () => {
    for (const { name: operation, payload } of operations) {
      for (const [name, property] of Object.entries(propertiesOf(payload))) {
        const at = `${operation}.${name}`
        if (property.type === "array") assert.isNumber(property.maxItems, at)
        if (property.type === "string") assert.match(JSON.stringify(property), BOUND, at)
        if (property.type === "object") assert.isNumber(property.maxProperties, at)
      }
    }
  })

  it("refuse 12 MB of recipients without decoding them", async () => {
    for (const item of ["0", "[]", "{}", '""', '"a@example.com"', '{"a":0}', " 0 "]) {
      const items = `${item},`.repeat(Math.floor((12 * 1024 * 1024) / (item.length + 1)))
      const { answer, cpuMillis } = await costOf(SEND, `{"to":[${items}0]}`)
      assert.strictEqual(answer.status, 400)
      const [issue, ...more] = errorOf(answer).issues ?? []
      assert.isEmpty(more)
      assert.match(issue?.path ?? "", /^to(?:\.\d+)?$/)
      // Decoding them took 11 to 16 s. A busy machine, where the refusal takes longer too, needed 0.64 s.
      assert.isBelow(cpuMillis, 2_000, item)
    }
  })

  it("refuse 12 MB of any other invalid content with a short answer", async () => {
    const length = 12 * 1024 * 1024
    const bodies = {
      properties: `{${Array.from({ length: length / 12 }, (_, index) => `"k${index}":0`).join(",")}}`,
      "one property": `{"${"k".repeat(length)}":0}`,
      "a subject": `{"subject":"${"s".repeat(5 * 1024 * 1024)}"}`,
      "a subject of escapes": `{"subject":"${"\\u0001".repeat(1024 * 1024)}"}`,
      surrogates: `{"text":"${"\\ud800".repeat(1024 * 1024)}"}`,
      "a recipient": `{"to":["${"@".repeat(5 * 1024 * 1024)}"]}`,
      "a number": `{"text":${"9".repeat(length)}}`,
      nesting: "[".repeat(length),
      whitespace: `{${" ".repeat(length)}}`,
      quotes: '"'.repeat(length)
    }
    for (const [name, body] of Object.entries(bodies)) {
      const answer = await call(server, "POST", SEND, { body, token: tenant.token })
      assert.strictEqual(answer.status, 400, name)
      assert.isBelow(answer.text.length, 32 * 1024, name)
    }
  })

  it("name the part of the budget that a body exceeds", async () => {
    const properties = Array.from({ length: 129 }, (_, index) => `"k${index}":0`)
    const rows = [
      [SEND, `{"to":${"[".repeat(8)}${"]".repeat(8)}}`, "to.0.0.0.0.0.0.0", "is nested more than 8 levels deep"],
      [SEND, `{"to":[${"0,".repeat(256)}0]}`, "to", "has more than 256 array elements"],
      [SEND, `{${properties.join(",")}}`, "", "has more than 128 properties"],
      [SEND, `{"${"k".repeat(129)}":0}`, "", "has a property name longer than 128 bytes"],
      [SEND, `{"text":"${"x".repeat(14_854_831)}"}`, "text", "must have at most 14854830 bytes"],
      ["/api/v1/events/list", `{"cursor":"${"x".repeat(24 * 1024 + 1)}"}`, "cursor", "must have at most 24576 bytes"]
    ] as const
    for (const [path, body, at, message] of rows) {
      const answer = await call(server, "POST", path, { body, token: tenant.token })
      assert.deepStrictEqual(errorOf(answer).issues, [{ path: at, message }])
    }
  })

  it("refuse a body that exceeds its budget before the rest of it has arrived", async () => {
    const answer = await sendStart(`{"to":[${"0,".repeat(16 * 1024)}`)
    assert.match(answer, /^HTTP\/1.1 400 /)
    assert.include(answer, "more than 256 array elements")
  })

  it("refuse more than 64 KiB outside of strings before the rest of it has arrived", async () => {
    for (const start of ['{"text":', '{"to":[', "", "{}"]) {
      for (const plain of ["9", " ", "\n", ",", '""', ":", "x"]) {
        // Each piece is counted, and its two quotes. Commas and strings in an array are its elements.
        const answer = await sendStart(start + plain.repeat(Math.ceil((64 * 1024) / plain.length) + 2))
        assert.match(answer, /^HTTP\/1.1 400 /, `${start}${plain}`)
        assert.match(answer, /65536 bytes outside of strings|256 array elements|128 properties/)
      }
    }
  })

  it.effect("let other work run between the steps of reading a long body", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      setImmediate(() => order.push("other work"))
      const text = "x".repeat(2 * 1024 * 1024)
      const bytes = new TextEncoder().encode(JSON.stringify({ text }))
      yield* parseBody({ bytes, free: () => {}, isScanned: false }, bodyLimitsOf(OPERATIONS.sendMessage).json)
      order.push("body")
      assert.deepStrictEqual(order, ["other work", "body"])
    })
  )

  it("check the length of a list before its items", async () => {
    const types = Array.from({ length: 51 }, () => 0)
    const answer = await call(server, "POST", "/api/v1/events/list", { body: { types }, token: tenant.token })
    assert.deepStrictEqual(errorOf(answer).issues, [{ path: "types", message: "has 51 items; the maximum is 50" }])
    const long = await costOf("/api/v1/events/list", `{"types":[${"0,".repeat(30_000)}0]}`)
    assert.strictEqual(long.answer.status, 400)
    assert.lengthOf(errorOf(long.answer).issues ?? [], 1)
    assert.strictEqual((await costOf("/api/v1/events/list", `{"types":[${"0,".repeat(130_000)}0]}`)).answer.status, 413)
  })

  it("are 16 KiB for operations that need no token, even with a token", async () => {
    for (const operation of operations.filter(({ entry }) => isStartHere(entry))) {
      const { entry } = operation
      assert.strictEqual(bodyLimitsOf(operation).bytes, 16 * 1024)
      for (const token of [{}, { token: tenant.token }]) {
        const long = `{"localPart":"a"${" ".repeat(16 * 1024)}}`
        const answer = await call(server, "POST", entry.path, { body: long, ...token })
        assert.strictEqual(answer.status, 413, entry.path)
      }
    }
  })

  it("allow the longest start-here inputs with every character escaped", async () => {
    const mailbox = `{"localPart":"${fresh("long").padEnd(64, "x")}","displayName":"${escaped(128)}","outboundSignature":"${escaped(2_048)}"}`
    assert.strictEqual((await call(server, "POST", MAILBOXES, { body: mailbox })).status, 402)
    const url = `https://example.com/${"u".repeat(2_028)}`
    const number = `{"agentName":"${escaped(128)}","agentWebhookUrl":"${url}","areaCode":"415","description":"${escaped(1_000)}","beginMessage":"${escaped(1_000)}","voice":"${escaped(128)}","language":"en-US"}`
    const answer = await call(server, "POST", NUMBERS, { body: number })
    assert.notStrictEqual(answer.status, 413, answer.text)
    // Of these fields, only the voice must be one of a list.
    assert.deepStrictEqual(errorOf(answer).issues?.map(({ path }) => path) ?? [], ["voice"])
  })
})
