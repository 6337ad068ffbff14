import {
  canHavePaymentState,
  ERROR_STATUS,
  ErrorEnvelope,
  errorsByStatus,
  type ApiOperation,
  operations,
  OPERATIONS,
  takesBody,
  toServiceRecord
} from "@agentos/api"
import { operationEntry, SERVICES } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as formats from "ajv-formats"
import { Schema } from "effect"
import { createHash } from "node:crypto"
import { ATTACHMENT } from "../../src/example/ResourceExamples.ts"
import { document, documentOf, valuesOf } from "./Document.ts"

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default.default(ajv, { mode: "full" })
ajv.addFormat("binary", true)
ajv.addSchema(document, "document")

/** Checks a value with a schema of the document. */
const check = (schema: object, value: Schema.Json, about: string): void => {
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
  assert.isTrue(validate(value), `${about}: ${ajv.errorsText(validate.errors)}`)
}

const strict = { onExcessProperty: "error" } as const

const Envelope = Schema.Struct({ data: Schema.Json, requestId: Schema.String, guide: Schema.String })

const examplesOf = ({ example, variants }: ApiOperation) => [
  ...(example === undefined ? [] : [["example", example] as const]),
  ...Object.entries(variants ?? {})
]

describe("the examples of the OpenAPI document", () => {
  for (const operation of operations) {
    const documented = documentOf(operation)

    if (operation.entry.capability !== "never") {
      it(`show a request and a response of ${operation.name} that its schemas accept`, () => {
        const examples = examplesOf(operation)
        assert.isAbove(examples.length, 0)
        const { content } = documented.responses[operation.status] ?? {}
        const [[contentType, success] = []] = Object.entries(content ?? {})
        assert.isDefined(success)
        const values = valuesOf(success)
        assert.sameMembers(
          Object.keys(values),
          examples.map(([name]) => name)
        )
        for (const [name, example] of examples) {
          for (const part of ["params", "query"] as const) {
            Schema.decodeUnknownSync(operation[part], strict)(example[part] ?? {})
          }
          const value = values[name] ?? null
          if (contentType !== "application/json") {
            assert.strictEqual<unknown>(value, example.data)
            continue
          }
          check(success.schema, value, name)
          const { data, guide } = Schema.decodeUnknownSync(Envelope, strict)(value)
          assert.deepStrictEqual<unknown>(data, example.data)
          assert.strictEqual(guide, operation.entry.guide)
          Schema.decodeUnknownSync(operation.data as Schema.Codec<unknown, unknown>, strict)(data)
        }
        const body = documented.requestBody?.content["application/json"]
        assert.strictEqual(body !== undefined, takesBody(operation))
        for (const [name, value] of Object.entries(body === undefined ? {} : valuesOf(body))) {
          check(body?.schema ?? {}, value, name)
          Schema.decodeUnknownSync(operation.payload, strict)(value)
        }
        for (const { example, in: place, name, schema } of documented.parameters) {
          if (place === "path") assert.isDefined(example, name)
          if (example !== undefined) check(schema, example, name)
        }
      })
    }

    it(`show each error of ${operation.name}, with the status and the payment state of its code`, () => {
      for (const [status, codes] of errorsByStatus(operation.entry)) {
        const content = documented.responses[status]?.content?.["application/json"]
        assert.isDefined(content)
        const values = valuesOf(content)
        assert.sameMembers(Object.keys(values), [...codes])
        for (const code of codes) {
          const value = values[code] ?? null
          check(content.schema, value, code)
          const { error } = Schema.decodeUnknownSync(ErrorEnvelope, strict)(value)
          assert.strictEqual(error.code, code)
          assert.strictEqual(ERROR_STATUS[code], status)
          assert.strictEqual(error.paymentState !== undefined, operation.entry.price !== null, code)
          if (error.paymentState !== undefined) assert.isTrue(canHavePaymentState(code, error.paymentState), code)
          assert.strictEqual(error.onboarding !== undefined, code === "ONBOARDING_REQUIRED", code)
          assert.strictEqual(error.issues !== undefined, code === "INVALID_REQUEST", code)
        }
      }
    })

    it(`name ${operation.name} in a few words, and explain more than its purpose and its price`, () => {
      assert.match(documented.summary, /^[A-Z][\w']*(?: [\w']+){1,4}$/)
      const [purpose = "", description = "", terms = ""] = documented.description.split("\n\n")
      assert.strictEqual(purpose, operation.entry.purpose)
      assert.match(description, /^[A-Z`].{60,}\.$/s)
      assert.notInclude(description, purpose)
      assert.match(terms, operation.entry.price === null ? /^Free\.$/ : /^Costs \d+\.\d\d USDT/)
    })
  }

  it("show the record of a service, and a description of the API, as the server derives them", () => {
    const service = operationEntry("deleteMailbox")
    const derived = toServiceRecord(
      SERVICES.find(({ serviceId }) => serviceId === service.serviceId)!,
      OPERATIONS.deleteMailbox,
      {
        email: true,
        phone: true
      }
    )
    assert.deepStrictEqual<unknown>(OPERATIONS.getService.example?.data, { service: derived })
    assert.deepStrictEqual<unknown>(OPERATIONS.listServices.example?.data, { items: [derived] })
  })

  it("show the bytes whose length and digest the attachment has", () => {
    const text = String(OPERATIONS.getAttachment.example?.data)
    const { sha256, sizeBytes } = ATTACHMENT
    assert.deepStrictEqual(
      [createHash("sha256").update(text).digest("hex"), Buffer.byteLength(text)],
      [sha256, sizeBytes]
    )
  })

  it("require an Idempotency-Key nowhere, because the request for a challenge needs none", () => {
    const keyed = operations.flatMap((operation) =>
      documentOf(operation).parameters.flatMap(({ name, required }) =>
        name === "Idempotency-Key" ? [[operation.name, required] as const] : []
      )
    )
    assert.deepStrictEqual(
      keyed,
      operations.filter(({ entry }) => entry.price !== null).map(({ name }) => [name, false] as const)
    )
  })
})
