import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { ada, type Answer, connect, ours, startRig } from "./TestCarrier.ts"

/**
 * Validates the carrier's responses against Twilio's OpenAPI document, if AGENTOS_TWILIO_OPENAPI names that file
 * (twilio_api_v2010.json of github.com/twilio/twilio-oai). Without it the tests are skipped; the fields in `Shape.ts` are
 * always checked.
 */
const file = process.env["AGENTOS_TWILIO_OPENAPI"]

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly nullable?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Schema
}
interface VendorOperation {
  readonly parameters?: ReadonlyArray<{ readonly in: string; readonly name: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, VendorOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  "date-time-rfc-2822": (value) => /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/.test(value),
  "phone-number": (value) => /^\+[1-9]\d{6,14}$|^\(\d{3}\) \d{3}-\d{4}$/.test(value),
  "iso-country-code": (value) => /^[A-Z]{2}$/.test(value),
  currency: (value) => /^[A-Z]{3}$/.test(value)
}

/** Page URIs are relative to the host, as in the document's examples. */
const isPageUri = (path: string): boolean => /(?:^|\.)(?:\w+_page_)?uri$/.test(path)

/** Returns the violations of a schema, including unknown properties. */
const violationsOf = (document: Document, given: Schema, value: unknown, path: string): ReadonlyArray<string> => {
  const name = given.$ref?.split("/").at(-1)
  const schema = name === undefined ? given : document.components.schemas[name]
  if (schema === undefined) return [`${path}: no schema ${name}`]
  // References to enumerations cannot be nullable in the document, but its examples contain null.
  if (value === null) return schema.nullable === true || name !== undefined ? [] : [`${path}: null`]
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${path}: ${JSON.stringify(value)}`]
  if (schema.type === "object" || schema.properties !== undefined) {
    if (typeof value !== "object") return [`${path}: not an object`]
    if (schema.properties === undefined) return []
    const properties = schema.properties
    return Object.entries(value as object).flatMap(([key, inner]) =>
      properties[key] === undefined
        ? [`${path}.${key}: unknown`]
        : violationsOf(document, properties[key], inner, `${path}.${key}`)
    )
  }
  if (schema.type === "array") {
    if (!Array.isArray(value)) return [`${path}: not an array`]
    return value.flatMap((inner, index) => violationsOf(document, schema.items ?? {}, inner, `${path}[${index}]`))
  }
  const type = schema.type === "integer" ? "number" : schema.type
  if (type !== undefined && typeof value !== type) return [`${path}: ${JSON.stringify(value)} is not ${schema.type}`]
  if (typeof value !== "string") return []
  const isFit =
    (schema.pattern === undefined || new RegExp(schema.pattern).test(value)) &&
    (schema.minLength === undefined || value.length >= schema.minLength) &&
    (schema.maxLength === undefined || value.length <= schema.maxLength) &&
    (formats[schema.format ?? ""]?.(value) ?? true) &&
    (schema.format !== "uri" || isPageUri(path) || URL.canParse(value))
  return isFit ? [] : [`${path}: ${JSON.stringify(value)}`]
}

const paths = {
  search: "/2010-04-01/Accounts/{AccountSid}/AvailablePhoneNumbers/{CountryCode}/Local.json",
  numbers: "/2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers.json",
  number: "/2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers/{Sid}.json",
  calls: "/2010-04-01/Accounts/{AccountSid}/Calls.json",
  call: "/2010-04-01/Accounts/{AccountSid}/Calls/{Sid}.json"
}

const load = (skip: (reason: string) => void): Document => {
  if (file === undefined) skip("AGENTOS_TWILIO_OPENAPI is not set")
  return JSON.parse(readFileSync(file ?? "", "utf8")) as Document
}

describe("Twilio's OpenAPI document", () => {
  it("describes every response of the carrier", async ({ skip }) => {
    const document = load(skip)
    const check = (path: string, method: string, { body, status }: Answer): void => {
      const response = document.paths[path]?.[method]?.responses[String(status)]
      expect(response, `${method} ${path} ${status}`).toBeDefined()
      const schema = response?.content?.["application/json"]?.schema
      if (schema === undefined) expect(body).toEqual({})
      else expect(violationsOf(document, schema, body, "body")).toEqual([])
    }
    const rig = await startRig()
    const settings = { VoiceUrl: "https://app.test/v", StatusCallback: "https://app.test/s", FriendlyName: "x" }
    check(paths.search, "get", await rig.get("/AvailablePhoneNumbers/CA/Local.json"))
    const bought = await rig.post("/IncomingPhoneNumbers.json", { PhoneNumber: ours, ...settings })
    check(paths.numbers, "post", bought)
    await rig.buy("+16045550100")
    const one = `/IncomingPhoneNumbers/${bought.body["sid"] as string}.json`
    check(paths.number, "get", await rig.get(one))
    check(paths.number, "post", await rig.post(one, { VoiceUrl: "" }))
    check(paths.numbers, "get", await rig.get("/IncomingPhoneNumbers.json?PageSize=1"))
    check(paths.numbers, "get", await rig.get("/IncomingPhoneNumbers.json?PhoneNumber=%2B12125550100"))
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const made = await rig.post("/Calls.json", { To: ada, From: ours, Twiml: connect(rig.application) })
    check(paths.calls, "post", made)
    const call = `/Calls/${made.body["sid"] as string}.json`
    await (await rig.application.relay()).message("setup")
    check(paths.call, "get", await rig.get(call))
    check(paths.call, "post", await rig.post(call, { TimeLimit: "60" }))
    check(paths.call, "post", await rig.post(call, { Status: "completed" }))
    check(paths.calls, "get", await rig.get("/Calls.json?PageSize=1"))
    check(paths.number, "delete", await rig.remove(one))
  })

  it("describes every parameter that the carrier accepts", ({ skip }) => {
    const document = load(skip)
    const form = (path: string, method: string) =>
      Object.keys(
        document.paths[path]?.[method]?.requestBody?.content["application/x-www-form-urlencoded"]?.schema.properties ??
          {}
      )
    const query = (path: string) => (document.paths[path]?.["get"]?.parameters ?? []).map(({ name }) => name)
    expect(form(paths.numbers, "post")).toEqual(
      expect.arrayContaining([
        "PhoneNumber",
        "FriendlyName",
        "VoiceUrl",
        "VoiceMethod",
        "VoiceFallbackUrl",
        "VoiceFallbackMethod",
        "VoiceReceiveMode",
        "StatusCallback",
        "StatusCallbackMethod"
      ])
    )
    expect(form(paths.calls, "post")).toEqual(
      expect.arrayContaining([
        "To",
        "From",
        "Url",
        "Method",
        "FallbackUrl",
        "FallbackMethod",
        "Twiml",
        "StatusCallback",
        "StatusCallbackMethod",
        "StatusCallbackEvent",
        "TimeLimit",
        "Timeout",
        "MachineDetection",
        "MachineDetectionTimeout",
        "AsyncAmd",
        "AsyncAmdStatusCallback",
        "AsyncAmdStatusCallbackMethod"
      ])
    )
    expect(form(paths.call, "post")).toEqual(
      expect.arrayContaining(["Url", "Method", "Twiml", "Status", "StatusCallback", "TimeLimit"])
    )
    expect(query(paths.search)).toEqual(expect.arrayContaining(["AreaCode", "Contains", "NearNumber", "PageSize"]))
    expect(query(paths.numbers)).toEqual(
      expect.arrayContaining(["PhoneNumber", "FriendlyName", "PageSize", "PageToken"])
    )
    expect(query(paths.calls)).toEqual(expect.arrayContaining(["To", "From", "Status", "StartTime>", "EndTime<"]))
  })

  it("reports violations", ({ skip }) => {
    const document = load(skip)
    const schema = { $ref: "#/components/schemas/api.v2010.account.call" }
    expect(violationsOf(document, schema, { sid: "CA1", status: "over", start_time: "now", beep: 1 }, "call")).toEqual([
      'call.sid: "CA1"',
      'call.status: "over"',
      'call.start_time: "now"',
      "call.beep: unknown"
    ])
  })
})
