import { asyncApiDocument, RealtimeClientMessage, RealtimeServerMessage } from "@agentos/api"
import specification from "@asyncapi/specs/schemas/3.0.0.json" with { type: "json" }
import { assert, describe, expect, it } from "@effect/vitest"
import { Ajv, type Options } from "ajv"
import * as formats from "ajv-formats"
import { Schema } from "effect"

const document = asyncApiDocument({ serverUrl: "https://agentos.example/agents", networks: ["eip155:196"] })

const Properties = Schema.Record(Schema.String, Schema.Json)
const Reference = Schema.Struct({ $ref: Schema.String })

const { channels, components, operations, servers } = Schema.decodeUnknownSync(
  Schema.Struct({
    servers: Properties,
    channels: Schema.Struct({
      socket: Schema.Struct({ address: Schema.String, messages: Schema.Record(Schema.String, Reference) })
    }),
    operations: Schema.Record(
      Schema.String,
      Schema.Struct({
        action: Schema.Literals(["send", "receive"]),
        messages: Schema.Array(Reference),
        reply: Schema.optionalKey(Schema.Struct({ messages: Schema.Array(Reference) }))
      })
    ),
    components: Schema.Struct({
      messages: Schema.Record(
        Schema.String,
        Schema.Struct({
          name: Schema.String,
          summary: Schema.String,
          payload: Reference,
          examples: Schema.Array(Schema.Struct({ name: Schema.String, payload: Schema.Json }))
        })
      ),
      schemas: Schema.Record(Schema.String, Properties)
    })
  })
)(document)

const newAjv = (options: Options = {}) => {
  const ajv = new Ajv({ strict: false, allErrors: true, ...options })
  formats.default.default(ajv, { mode: "full" })
  return ajv
}

const strict = { onExcessProperty: "error" } as const
const isFromClient = Schema.is(RealtimeClientMessage)

describe("asyncApiDocument", () => {
  it("is a valid AsyncAPI 3.0 document, by the schema of its specification", () => {
    // The schema brings that of JSON Schema along.
    const ajv = newAjv({ meta: false, validateSchema: false })
    const validate = ajv.compile(specification)
    assert.isFalse(validate({ ...document, channels: { socket: { adress: "/" } } }))
    assert.isTrue(validate(document), ajv.errorsText(validate.errors))
  })

  it("equals the recorded document, so that a change of the contract is visible", async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot("../golden/asyncapi.json")
  })

  it("refers to nothing that it does not contain", () => {
    const missing: Array<string> = []
    const visit = (part: unknown): void => {
      if (typeof part !== "object" || part === null) return
      const { $ref } = part as { readonly $ref?: unknown }
      if (typeof $ref === "string") {
        const target = $ref
          .slice(2)
          .split("/")
          .reduce<unknown>((json, key) => (json as Readonly<Record<string, unknown>> | undefined)?.[key], document)
        if (target === undefined) missing.push($ref)
      }
      for (const value of Object.values(part)) visit(value)
    }
    visit(document)
    assert.deepStrictEqual(missing, [])
  })

  it("is served by the server of the API: the address follows its public URL", () => {
    assert.deepStrictEqual(servers, { socket: { host: "agentos.example", pathname: "/agents", protocol: "wss" } })
    assert.strictEqual(channels.socket.address, "/api/v1/events/socket")
    const local = asyncApiDocument({ serverUrl: "http://localhost:4020", networks: [] })
    assert.deepStrictEqual<unknown>(local["servers"], { socket: { host: "localhost:4020", protocol: "ws" } })
  })

  for (const [name, { examples, payload, summary }] of Object.entries(components.messages)) {
    it(`has an example of ${name} that its schema accepts, in an operation of the side that sends it`, () => {
      assert.match(summary, /\.$/)
      const [example] = examples
      assert.isDefined(example)
      const ajv = newAjv()
      ajv.addSchema(document, "document")
      const validate = ajv.compile({ $ref: `document${payload.$ref}` })
      assert.isTrue(validate(example.payload), ajv.errorsText(validate.errors))
      const isClients = isFromClient(example.payload)
      const codec: Schema.Codec<unknown, unknown> = isClients ? RealtimeClientMessage : RealtimeServerMessage
      Schema.decodeUnknownSync(codec, strict)(example.payload)
      const using = Object.values(operations).filter(({ messages }) =>
        messages.some(({ $ref }) => $ref.endsWith(`/${name}`))
      )
      assert.deepStrictEqual(
        using.map(({ action }) => action),
        [isClients ? "receive" : "send"]
      )
    })
  }

  it("has every message of the contract once", () => {
    const members = [...RealtimeClientMessage.members, ...RealtimeServerMessage.members]
    assert.sameMembers(
      Object.values(components.messages).map(({ name }) => name),
      members.map(({ fields }) => fields.type.literal)
    )
    assert.sameMembers(Object.keys(channels.socket.messages), Object.keys(components.messages))
  })

  it("closes the messages of clients, as the server does", () => {
    for (const name of ["SessionAuthenticate", "EventAcknowledge", "CallReply"]) {
      assert.strictEqual(components.schemas[name]?.["additionalProperties"], false, name)
    }
  })

  it("tells the events of a delivery apart by their type", () => {
    assert.strictEqual(components.schemas["EventRecord"]?.["discriminator"], "type")
    assert.property(components.schemas, "EmailReceivedEvent")
  })
})
