import { Arbitrary, Effect, Redacted, Schema } from "effect"
import twilio from "twilio/lib/webhooks/webhooks.js"
import { describe, expect, it } from "vitest"
import { TwilioSignature } from "../src/index.ts"

/** Of the test run: 1, unless TEST_SEED is another whole number or `random`. */
const seed = Number(process.env["TEST_SEED"] ?? "1")
const RUNS = 400

const Port = Schema.Literals(["", ":80", ":443", ":3000", ":8443"])
const Name = Schema.Union([Schema.Literals(["CallSid", "CallStatus", "Digits", "digits"]), Schema.String])
const Value = Schema.Union([Schema.Literals(["", "1", "+14155550150"]), Schema.String])
const parts = {
  scheme: Schema.Literals(["http", "https", "ws", "wss"]),
  host: Schema.Literals(["agents.example", "127.0.0.1", "[::1]"]),
  port: Port,
  path: Schema.Literals(["/", "/webhooks/twilio/voice", "/webhooks/twilio/status/3f0e"]),
  query: Schema.Literals(["", "?", "?call=1&x=%20a", "?a=2&a=1", "?x=%27a"]),
  form: Schema.Array(Schema.Struct({ name: Name, value: Value })).check(Schema.isMaxLength(6)),
  token: Schema.Literals(["sandbox-token", "another"]),
  /** Of the header with the settings; the first means no header. */
  algorithm: Schema.Literals(["", "HMAC_SHA1", "HMAC_SHA256"])
}
const Request = Schema.Struct(parts)
type Request = typeof Request.Type
const Part = Schema.Literals(["scheme", "host", "port", "path", "query", "form", "token", "algorithm"])

const written = ({ host, path, port, query, scheme }: Request): string => `${scheme}://${host}${port}${path}${query}`

const formOf = ({ form }: Request): URLSearchParams => {
  const params = new URLSearchParams()
  for (const { name, value } of form) params.append(name, value)
  return params
}

/** Returns a form as the SDK expects it: a repeated field is a list. */
const fieldsOf = (request: Request): Record<string, string | ReadonlyArray<string>> => {
  const form = formOf(request)
  return Object.fromEntries([...new Set(form.keys())].map((name) => [name, form.getAll(name)]))
}

const sign = (request: Request): string =>
  twilio.getExpectedTwilioSignature(request.token, written(request), fieldsOf(request), request.algorithm)

const ours = (request: Request, signature: string): boolean =>
  TwilioSignature.verify(
    Redacted.make(request.algorithm === "" ? request.token : "the auth token"),
    written(request),
    formOf(request),
    signature,
    {
      header: request.algorithm === "" ? undefined : `key=1,algorithm=${request.algorithm}`,
      sharedKeys: [Redacted.make(request.token)]
    }
  )

const theirs = (request: Request, signature: string): boolean =>
  twilio.validateRequest(request.token, signature, written(request), fieldsOf(request), request.algorithm)

/** The default port of each scheme. The SDK knows those of http and https, and uses that of http for a socket. */
const usualPort = { http: ":80", https: ":443", ws: ":80", wss: ":443" } as const

const holds = async <A>(arbitrary: Arbitrary.Arbitrary<A>, property: (value: A) => boolean) => {
  const result = await Effect.runPromise(Arbitrary.checkEffect(arbitrary, property, { runs: RUNS, seed }))
  expect(Arbitrary.formatCheckFailure(result) ?? "held", `TEST_SEED=${seed}`).toBe("held")
}

describe("the vendor's SDK", () => {
  it("makes signatures that are accepted, however it writes the port", async () => {
    await holds(Arbitrary.schema(Request), (request) => {
      const { port, scheme } = request
      const spelled = [port, "", port === "" ? usualPort[scheme] : port] as const
      return spelled.every((one) => ours(request, sign({ ...request, port: one })))
    })
  })

  it("accepts and rejects the same requests, unchanged and altered", async () => {
    const Pair = Schema.Struct({ request: Request, other: Request, takes: Schema.Array(Part) })
    const tally = { accepted: 0, refused: 0 }
    await holds(Arbitrary.schema(Pair), ({ other, request, takes }) => {
      const signed = { ...request, ...Object.fromEntries(takes.map((part) => [part, other[part]])) }
      const signature = sign(signed)
      const accepted = ours(request, signature)
      tally[accepted ? "accepted" : "refused"] += 1
      const isUsual = request.port === "" || request.port === usualPort.wss
      const isUsualSocket = request.scheme === "wss" && isUsual && /^:(?:80|443)$/.test(signed.port)
      return isUsualSocket || accepted === theirs(request, signature)
    })
    for (const times of Object.values(tally)) expect(times, `TEST_SEED=${seed}`).toBeGreaterThan(RUNS / 20)
  })

  it("rejects a changed, truncated or empty signature, as this adapter does", async () => {
    const Changed = Schema.Struct({
      request: Request,
      at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 26 }))
    })
    await holds(Arbitrary.schema(Changed), ({ at, request }) => {
      const signature = sign(request)
      const changed = `${signature.slice(0, at)}${signature[at] === "A" ? "B" : "A"}${signature.slice(at + 1)}`
      return [changed, signature.slice(0, at), `${signature}=`, ""].every(
        (wrong) => !ours(request, wrong) && !theirs(request, wrong)
      )
    })
  })
})
