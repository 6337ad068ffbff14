import { assert, describe, it } from "vitest"
import type { AgentOs } from "@agentos/client"
import { type JsonSchema, type ObjectSchema, TOOLS, type Tool } from "../src/index.ts"

type Fields = Readonly<Record<string, unknown>>

/** Every value that a tool may receive, for each type. */
const valueOf = (name: string, { enum: values, items, minimum, properties, required, type }: JsonSchema): unknown => {
  if (Array.isArray(values)) return values[0] as unknown
  if (type === "object")
    return Object.fromEntries(
      (required as ReadonlyArray<string>).map((one) => [
        one,
        valueOf(one, (properties as Record<string, JsonSchema>)[one]!)
      ])
    )
  if (type === "array") return [valueOf(name, items as JsonSchema)]
  if (type === "boolean") return true
  if (type === "integer") return minimum ?? 1
  if (/Ids?$/.test(name)) return "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
  if (/^(?:to|cc|bcc|from|replyTo)$/.test(name)) return "bob@outside.example"
  if (/^(?:after|before|sendAt)$/.test(name)) return "2026-01-31T12:00:00.000Z"
  return name === "areaCode" ? "415" : "ada"
}

const inputOf = ({ inputSchema, name }: Tool): Fields => {
  const fields = Object.fromEntries(
    Object.entries(inputSchema.properties).map(([field, schema]) => [field, valueOf(field, schema)])
  )
  return name === "place_call" ? { ...fields, to: "+14155550150" } : fields
}

const read = (tool: Tool, input: unknown): Fields => {
  const parsed = tool.parse(input)
  if ("invalid" in parsed) throw new Error(`${tool.name}: ${JSON.stringify(parsed.invalid.data)}`)
  return parsed.input
}

const errorOf = (tool: Tool, input: unknown) => {
  const parsed = tool.parse(input)
  if ("input" in parsed) throw new Error(`${tool.name} accepts ${JSON.stringify(input)}`)
  return (parsed.invalid.data as { readonly error: Readonly<Record<"code" | "message" | "next", string>> }).error
}

const each = (input: Fields, change: (value: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, change(value)]))

const typeOf = (schema: ObjectSchema, name: string): unknown => schema.properties[name]?.["type"]

/** The optional fields that take any text, of which "None" is one. */
const FREE = (
  "addLabels removeLabels label q mailbox cursor subject text html displayName agentName beginMessage description " +
  "digits phoneNumber attachmentId"
).split(" ")

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))("an input of %s", (_, tool) => {
  const full = inputOf(tool)
  const { properties, required } = tool.inputSchema
  const needed = Object.fromEntries(Object.entries(full).filter(([name]) => required.includes(name)))

  it("is read as it is if it is right", () => {
    assert.deepStrictEqual(read(tool, full), full)
    assert.deepStrictEqual(read(tool, needed), needed)
  })

  it.each([[null], [""]])("without a value of an optional field may say %j", (missing) => {
    const optional = Object.keys(properties).filter((name) => !required.includes(name))
    const input = { ...Object.fromEntries(optional.map((name) => [name, missing])), ...needed }
    assert.deepStrictEqual(read(tool, input), needed)
  })

  it.each(["null", "None", " undefined"])(
    "without a value of an optional field may say %j where no text is right",
    (word) => {
      const optional = Object.keys(properties).filter((name) => !required.includes(name))
      const input = { ...Object.fromEntries(optional.map((name) => [name, word])), ...needed }
      const free = optional.filter((name) => {
        const isNull = word === "null" && typeOf(tool.inputSchema, name) === "array"
        return !isNull && (FREE.includes(name) || (name === "from" && tool.name === "place_call"))
      })
      const values = free.map((name) => [name, typeOf(tool.inputSchema, name) === "array" ? [word] : word] as const)
      assert.deepStrictEqual(read(tool, input), { ...Object.fromEntries(values), ...needed })
    }
  )

  it("may have missing values in lists", () => {
    for (const name of Object.keys(full).filter((one) => typeOf(tool.inputSchema, one) === "array")) {
      const list = full[name] as ReadonlyArray<unknown>
      assert.deepStrictEqual(read(tool, { ...full, [name]: ["", ...list, null] }), full)
      if (!required.includes(name)) assert.deepStrictEqual(read(tool, { ...full, [name]: [""] })[name], [])
    }
  })

  it("may have texts for lists, numbers and booleans", () => {
    const texts = each(full, (value) => (typeof value === "string" ? value : JSON.stringify(value)))
    assert.deepStrictEqual(read(tool, texts), full)
    assert.deepStrictEqual(read(tool, JSON.stringify(texts)), full)
    const lists = Object.keys(full).filter((name) => typeOf(tool.inputSchema, name) === "array")
    const bare = Object.fromEntries(lists.map((name) => [name, (full[name] as ReadonlyArray<unknown>)[0]]))
    assert.deepStrictEqual(read(tool, { ...full, ...bare }), full)
  })

  it("with a wrong field is answered with the field, the reason and a right call", () => {
    for (const name of Object.keys(properties)) {
      const wrong = typeOf(tool.inputSchema, name) === "boolean" ? "perhaps" : { not: ["a value"] }
      const { code, message, next } = errorOf(tool, { ...full, [name]: wrong })
      assert.strictEqual(code, "INVALID_INPUT")
      assert.include(message, `${name}`)
      const example: unknown = JSON.parse(next.slice(next.indexOf("{")))
      assert.property(example, name)
      read(tool, example)
    }
    for (const name of required)
      assert.include(errorOf(tool, { ...full, [name]: null }).message, `${name}: is required.`)
  })

  it("with an unknown field is refused if the field has a value", () => {
    assert.deepStrictEqual(read(tool, { ...full, surprise: null }), full)
    const { message } = errorOf(tool, { ...full, surprise: 1 })
    assert.include(message, "surprise: is not an input of this tool.")
    for (const name of Object.keys(properties)) assert.include(message, name)
    errorOf(tool, JSON.parse(`{"__proto__": {"text": "t"}}`))
    errorOf(tool, ["a"])
    // PHP writes an object without fields as a list.
    if (required.length === 0) assert.deepStrictEqual(read(tool, []), {})
    errorOf(tool, "not JSON")
  })

  it("never runs the tool if it is wrong", async () => {
    const result = await tool.run({} as AgentOs, { ...full, surprise: 1 })
    assert.isTrue(result.isError)
  })
})

describe("the answer to a wrong input", () => {
  const sendEmail = TOOLS.find(({ name }) => name === "send_email")!
  const message = { to: ["bob@outside.example"], subject: "Hi", text: "Hello" }

  it("names an unknown field of a file, and its fields, with a file that can be sent", () => {
    const attachments = [{ filename: "a.txt", text: "a", mimeType: "text/plain", path: null }]
    const error = errorOf(sendEmail, { ...message, attachments })
    assert.include(
      error.message,
      "attachments.0.mimeType: is not a field. The fields are filename, contentType, text, contentBase64, contentId."
    )
    assert.deepNestedInclude(JSON.parse(error.next.slice(error.next.indexOf("{"))), {
      "attachments[0]": { filename: "notes.txt", text: "Hello" }
    })
  })

  it("describes the required text in words", () => {
    const refused: ReadonlyArray<readonly [string, Fields, string]> = [
      [
        "create_mailbox",
        { localPart: "ada@agents.test" },
        "localPart: does not match its description: The part before"
      ],
      ["place_call", { to: "0150", greeting: "Hi" }, "to: does not match its description: Number to call, in E.164"],
      ["send_email", { ...message, sendAt: "2026-01-31" }, "sendAt: is not a time in ISO 8601 with its zone."],
      ["send_email", { ...message, to: "Bob <bob@outside.example>" }, "to.0: is not an email address."],
      ["cancel_email", { messageId: "1" }, "messageId: is not a UUID."]
    ]
    for (const [name, input, reason] of refused)
      assert.include(
        errorOf(
          TOOLS.find((tool) => tool.name === name)!,
          input
        ).message,
        reason
      )
  })
})
