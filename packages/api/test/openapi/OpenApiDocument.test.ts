import { errorsByStatus, EVENT_EXAMPLES, OPERATIONS, takesBody } from "@agentos/api"
import { EventType } from "@agentos/core"
import { assert, describe, expect, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Schema } from "effect"
import { components, document, documentOf } from "./Document.ts"

const operationOf = (name: keyof typeof OPERATIONS) => documentOf(OPERATIONS[name])

describe("openApiDocument", () => {
  it("is a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(JSON.stringify(document)))
    assert.deepStrictEqual(result.errors ?? [], [])
    assert.isTrue(result.valid)
    assert.strictEqual(validator.version, "3.1")
  })

  it("equals the recorded document, so that a change of the contract is visible", async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot("../golden/openapi.json")
  })

  for (const operation of Object.values(OPERATIONS)) {
    it(`has ${operation.name} with its statuses, its security and its headers`, () => {
      const found = operationOf(operation.name)
      assert.strictEqual(found.operationId, operation.name)
      const isTagged = "mediaTypes" in operation.data || operation.hasEntityTag === true
      const replaced = operation.replacedStatus === undefined ? [] : [`${operation.replacedStatus}`]
      const success =
        operation.entry.capability === "never" ? [] : [`${operation.status}`, ...replaced, ...(isTagged ? ["304"] : [])]
      assert.sameMembers(Object.keys(found.responses), [
        ...success,
        ...[...errorsByStatus(operation.entry).keys()].map(String)
      ])
      const schemes = found.security.map((requirement) => Object.keys(requirement))
      switch (operation.entry.authentication) {
        case "bearer":
          assert.deepStrictEqual(schemes, [["apiKey"]])
          break
        case "sign-in-with-x":
          assert.deepStrictEqual(schemes, [["signInWithX"]])
          break
        default:
          assert.deepStrictEqual(schemes, [])
      }
      const headers = found.parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name)
      const isPaid = operation.entry.price !== null
      const ofPayment = isPaid ? ["PAYMENT-SIGNATURE", "Idempotency-Key", "Accept-Payment"] : []
      assert.deepStrictEqual(
        headers,
        operation.name === "readPaymentStatus" ? ["PAYMENT-SIGNATURE"] : isTagged ? ["If-None-Match"] : ofPayment
      )
      const isSignedIn = operation.entry.authentication === "sign-in-with-x"
      assert.strictEqual("402" in found.responses, isPaid || isSignedIn)
      assert.strictEqual("428" in found.responses, operation.entry.authentication === "bearer")
      if (isPaid || isSignedIn) assert.property(found.responses["402"]?.headers, "PAYMENT-REQUIRED")
      if (isPaid) {
        assert.property(found.responses[`${operation.status}`]?.headers, "PAYMENT-RESPONSE")
        for (const status of ["400", "401", "409", "502", "503"]) assert.property(found.responses, status)
      }
      assert.strictEqual(found.requestBody !== undefined, takesBody(operation))
    })
  }

  it("describes every property, with its own sentence", () => {
    const silent: Array<string> = []
    const visit = (json: unknown, path: string): void => {
      if (typeof json !== "object" || json === null) return
      const { properties } = json as { readonly properties?: Readonly<Record<string, object>> }
      for (const [name, property] of Object.entries(Array.isArray(json) ? {} : (properties ?? {}))) {
        const { description } = property as { readonly description?: string }
        if (!/^\S[^]*\.$/.test(description ?? "")) silent.push(`${path}.${name}`)
      }
      for (const [key, value] of Object.entries(json)) {
        if (key !== "example" && key !== "examples") visit(value, `${path}/${key}`)
      }
    }
    visit(document, "")
    assert.deepStrictEqual(silent, [])
  })

  it("has each operation under one tag of its own resource", () => {
    const tags = document["tags"] as ReadonlyArray<{ readonly name: string }>
    const used = Object.values(OPERATIONS).map(({ name }) => operationOf(name).tags)
    for (const names of used) assert.lengthOf(names, 1)
    assert.sameMembers(
      tags.map(({ name }) => name),
      [...new Set(used.flat())]
    )
  })

  it("has a component for each event type, and the union of them by type", () => {
    const { discriminator, oneOf } = components.schemas["EventRecord"] ?? {}
    const refOf = (type: string) => {
      const name = type.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())
      return `#/components/schemas/${name}Event`
    }
    assert.deepStrictEqual(discriminator, {
      propertyName: "type",
      mapping: Object.fromEntries(EventType.literals.map((type) => [type, refOf(type)]))
    })
    assert.deepStrictEqual(
      oneOf,
      EventType.literals.map((type) => ({ $ref: refOf(type) }))
    )
    const shared = Object.keys((components.schemas["Event"]?.["properties"] ?? {}) as object)
    assert.sameMembers([...shared, "type", "payload"], Object.keys(EVENT_EXAMPLES["email.received"]))
    for (const type of EventType.literals) {
      const schema = components.schemas[refOf(type).split("/").at(-1) ?? ""]
      assert.nestedPropertyVal(schema, "allOf[0].$ref", "#/components/schemas/Event")
      assert.nestedPropertyVal(schema, "allOf[1].properties.type.enum[0]", type)
      assert.deepNestedPropertyVal(schema, "allOf[1].required", ["type", "payload"])
    }
  })

  it("has no union of objects that a client can't tell apart by `type` or by a property of one member", () => {
    const ambiguous: Array<string> = []
    const propertiesOf = (member: unknown): ReadonlyArray<string> => {
      const { $ref, properties, type } = member as Readonly<Record<string, unknown>>
      if (typeof $ref === "string") return propertiesOf(components.schemas[$ref.split("/").at(-1) ?? ""])
      return type === "object" ? Object.keys(properties ?? {}) : []
    }
    const visit = (json: unknown, path: string): void => {
      if (typeof json !== "object" || json === null) return
      const { anyOf, discriminator, oneOf } = json as Readonly<Record<string, unknown>>
      const members = [anyOf, oneOf].find((union) => Array.isArray(union)) ?? []
      const objects = (members as ReadonlyArray<unknown>).map(propertiesOf).filter(({ length }) => length > 0)
      const isTold = objects.every((own) =>
        own.some((name) => objects.every((other) => other === own || !other.includes(name)))
      )
      if (objects.length > 1 && discriminator === undefined && !isTold) ambiguous.push(path)
      for (const [key, value] of Object.entries(json)) visit(value, `${path}/${key}`)
    }
    visit(document, "")
    assert.deepStrictEqual(ambiguous, [])
  })

  it("closes every body that clients send", () => {
    for (const operation of Object.values(OPERATIONS).filter(takesBody)) {
      const body = operationOf(operation.name).requestBody?.content["application/json"]
      const { $ref } = Schema.decodeUnknownSync(Schema.Struct({ $ref: Schema.String }))(body?.schema)
      assert.strictEqual(components.schemas[$ref.split("/").at(-1) ?? ""]?.["additionalProperties"], false, $ref)
    }
  })

  it("has the bounds of numbers and the patterns of texts", () => {
    const limitOf = (name: keyof typeof OPERATIONS) =>
      operationOf(name).parameters.find((parameter) => parameter.name === "limit")?.schema
    assert.deepInclude(limitOf("queryMessages"), { type: "integer", minimum: 1, maximum: 100, default: 50 })
    assert.deepInclude(limitOf("replayEvents"), { type: "integer", minimum: 1, maximum: 200, default: 100 })
    const properties = (name: string) =>
      Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json)))(
        components.schemas[name]?.["properties"]
      )
    assert.strictEqual(properties("PurchaseNumberInput")["areaCode"]?.["pattern"], "^[0-9]{3}$")
    assert.strictEqual(properties("PlaceCallInput")["toNumber"]?.["pattern"], "^\\+[1-9][0-9]{6,14}$")
    assert.property(properties("CreateMailboxInput")["localPart"], "pattern")
    const idempotencyKey = operationOf("sendMessage").parameters.find(({ name }) => name === "Idempotency-Key")
    assert.strictEqual(idempotencyKey?.schema["maxLength"], 255)
  })
})
