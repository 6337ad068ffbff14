import { assert, describe, it } from "vitest"
import { type JsonSchema, openApiSchema, strictSchema, TOOLS } from "../src/index.ts"

interface Dialect {
  readonly of: (schema: (typeof TOOLS)[number]["inputSchema"]) => JsonSchema
  readonly keywords: ReadonlyArray<string>
  readonly formats: ReadonlyArray<string>
  /** Whether an enum may only have texts. */
  readonly hasTextEnums: boolean
  /** Whether each object names all of its fields as required. */
  readonly isStrict: boolean
  readonly source: string
  readonly date: string
}

const COMMON = ["type", "description", "enum", "items", "properties", "required"]
const JSON_SCHEMA = [...COMMON, "additionalProperties", "default", "format", "maximum", "maxItems", "maxLength"]
const NUMBERS = ["minimum", "maximum", "minItems", "maxItems", "pattern", "format"]

/** The rules that each provider publishes for schemas of tools. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  "OpenAI, not strict": {
    of: (schema) => schema,
    keywords: [...JSON_SCHEMA, "minimum", "minItems", "minLength", "pattern"],
    formats: ["date-time", "email", "uuid"],
    hasTextEnums: false,
    isStrict: false,
    source: "https://platform.openai.com/docs/guides/function-calling",
    date: "2026-11-28"
  },
  "OpenAI, strict": {
    of: strictSchema,
    keywords: [...COMMON, ...NUMBERS, "additionalProperties"],
    formats: ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    hasTextEnums: false,
    isStrict: true,
    source: "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
    date: "2026-11-28"
  },
  Anthropic: {
    of: (schema) => schema,
    keywords: [...JSON_SCHEMA, "minimum", "minItems", "minLength", "pattern"],
    formats: ["date-time", "email", "uuid"],
    hasTextEnums: false,
    isStrict: false,
    source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
    date: "2026-11-28"
  },
  "Google Gemini": {
    of: openApiSchema,
    keywords: [...COMMON, ...NUMBERS, "default", "maxLength", "minLength", "nullable", "example", "anyOf"],
    formats: ["date-time", "enum"],
    hasTextEnums: true,
    isStrict: false,
    source: "https://ai.google.dev/api/caching#Schema",
    date: "2026-11-28"
  },
  Mistral: {
    of: (schema) => schema,
    keywords: [...JSON_SCHEMA, "minimum", "minItems", "minLength", "pattern"],
    formats: ["date-time", "email", "uuid"],
    hasTextEnums: false,
    isStrict: false,
    source: "https://docs.mistral.ai/capabilities/function_calling",
    date: "2026-11-28"
  }
}

/** Returns a schema and all schemas in it. */
const schemasIn = (schema: JsonSchema): ReadonlyArray<JsonSchema> => [
  schema,
  ...Object.values((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>).flatMap(schemasIn),
  ...(schema["items"] === undefined ? [] : schemasIn(schema["items"] as JsonSchema))
]

describe("the schemas of the tools", () => {
  it.each(Object.entries(DIALECTS))("are in the dialect of %s", (_, dialect) => {
    for (const { inputSchema, name } of TOOLS)
      for (const schema of schemasIn(dialect.of(inputSchema))) {
        const { additionalProperties, enum: values, format, properties, required, type } = schema
        assert.includeMembers([...dialect.keywords], Object.keys(schema), name)
        if (format !== undefined) assert.include(dialect.formats, format as string, name)
        if (values !== undefined && dialect.hasTextEnums) assert.strictEqual(type, "string", name)
        if (type !== "object") continue
        if (dialect.isStrict) {
          assert.strictEqual(additionalProperties, false, name)
          assert.sameMembers([...(required as ReadonlyArray<string>)], Object.keys(properties as object), name)
        } else assert.includeMembers(Object.keys(properties as object), [...((required ?? []) as Array<string>)], name)
      }
  })

  it("are the same for every host: no examples, no enum of numbers, no schema that is a boolean", () => {
    for (const { inputSchema, name } of TOOLS)
      for (const schema of schemasIn(inputSchema)) {
        assert.isObject(schema, name)
        assert.notProperty(schema, "examples", name)
        if ("enum" in schema) assert.strictEqual(schema["type"], "string", name)
      }
  })

  it("say their limits in the descriptions, because some hosts drop the keywords", () => {
    const limits = ["maximum", "minimum", "maxItems", "minItems", "maxLength", "default"] as const
    for (const { inputSchema, name } of TOOLS)
      for (const schema of schemasIn(inputSchema).filter((one) => typeof one["description"] === "string"))
        for (const keyword of limits.filter((one) => one in schema))
          assert.include(schema["description"] as string, String(schema[keyword]), `${name} ${keyword}`)
  })

  it("let a field that the strict mode requires be null", () => {
    for (const { inputSchema } of TOOLS) {
      const strict = strictSchema(inputSchema)
      for (const [name, property] of Object.entries(strict.properties)) {
        const allowsNull = Array.isArray(property["type"]) && property["type"].includes("null")
        assert.strictEqual(allowsNull, !inputSchema.required.includes(name), name)
        if (allowsNull && Array.isArray(property["enum"])) assert.include(property["enum"], null)
      }
    }
  })
})
