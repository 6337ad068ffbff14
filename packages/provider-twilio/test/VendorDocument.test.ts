import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { type ProviderError, TelephonyProvider, Timestamp } from "@agentos/core"
import { Effect, Redacted } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { TelephonyProviderTwilio } from "../src/index.ts"
import { judge, readVendorDocument, type VendorDocument, type VendorRequest } from "./support/VendorDocument.ts"

/**
 * Checks every request of the adapter against the vendor's own OpenAPI document, if AGENTOS_TWILIO_OPENAPI
 * names that file (twilio_api_v2010.json of github.com/twilio/twilio-oai). Without it the tests are reported as
 * skipped.
 *
 * If AGENTOS_TWILIO_PRISM names a server of prism with that document, prism validates each request too and
 * answers invalid ones with 422. The adapter then reads prism's responses, and otherwise the document's
 * examples:
 *
 *     npx -y @stoplight/prism-cli@5.14.2 mock --port 4010 FILE
 *     AGENTOS_TWILIO_OPENAPI=FILE AGENTOS_TWILIO_PRISM=http://127.0.0.1:4010 \
 *     npx -y pnpm@12 test packages/provider-twilio/test/VendorDocument.test.ts
 */
const file = process.env["AGENTOS_TWILIO_OPENAPI"]
const prism = process.env["AGENTOS_TWILIO_PRISM"]

const load = (skip: (reason: string) => void): VendorDocument => {
  if (file === undefined) skip("AGENTOS_TWILIO_OPENAPI names no vendor document")
  return readVendorDocument(file ?? "")
}

const accountSid = `AC${"a1".repeat(16)}`
const numberSid = `PN${"b2".repeat(16)}`
const callSid = `CA${"c3".repeat(16)}`

type Use = (provider: TelephonyProvider["Service"]) => Effect.Effect<unknown, ProviderError>

/** Every operation, with all its parameters. */
const operations: Readonly<Record<string, Use>> = {
  "search anywhere": (provider) => provider.search({ country: "US", limit: 1 }),
  "search an area": (provider) => provider.search({ country: "CA", areaCode: "604", limit: 1_000 }),
  "search around an area": (provider) => provider.search({ country: "US", near: "425", limit: 8 }),
  buy: (provider) => provider.buy("+14155550100"),
  findNumber: (provider) => provider.findNumber("+14155550100"),
  release: (provider) => provider.release(numberSid),
  listNumbers: (provider) => provider.listNumbers(undefined),
  "listNumbers from a page on": (provider) => provider.listNumbers("Page=1&PageToken=PA1"),
  place: (provider) => provider.place({ callId: "c1", from: "+14155550100", to: "+14155550150", limitSeconds: 14_400 }),
  findCalls: (provider) => provider.findCalls("+14155550100", "+14155550150", Timestamp.Timestamp.make(0)),
  findCall: (provider) => provider.findCall(callSid),
  changeLimit: (provider) => provider.changeLimit(callSid, 360),
  hangUp: (provider) => provider.hangUp(callSid)
}

const toRequest = async (incoming: IncomingMessage): Promise<VendorRequest & { readonly body: string }> => {
  const body = await text(incoming)
  const { authorization, "content-type": contentType } = incoming.headers
  const { method = "", url = "" } = incoming
  return { method, url, authorization, contentType, body, form: new URLSearchParams(body) }
}

/**
 * Starts a server in the vendor's place, which checks each request, and answers like prism or with the
 * document's example.
 */
const startVendor = async (document: VendorDocument) => {
  const judged: Array<string> = []
  const faults: Array<string> = []
  const server = createServer((incoming, outgoing) => {
    const answer = async () => {
      const request = await toRequest(incoming)
      const verdict = judge(document, request)
      judged.push(verdict.operation ?? "unknown")
      faults.push(...verdict.faults)
      if (prism === undefined) {
        outgoing.writeHead(verdict.status, { "content-type": "application/json" })
        return outgoing.end(verdict.example === undefined ? "" : JSON.stringify(verdict.example))
      }
      const { authorization = "", contentType, method } = request
      const response = await fetch(`${prism}${request.url}`, {
        method,
        headers: { authorization, accept: "application/json", ...(contentType && { "content-type": contentType }) },
        body: method === "POST" ? request.body : null
      })
      const body = await response.text()
      if (!response.ok) faults.push(`prism: ${response.status} ${body}`)
      outgoing.writeHead(response.status, { "content-type": "application/json" })
      return outgoing.end(body)
    }
    answer().catch((error: unknown) => outgoing.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, judged, faults }
}

describe("the vendor's document", () => {
  it("accepts every request of the adapter, and describes every operation", async ({ skip }) => {
    const vendor = await startVendor(load(skip))
    const layer = TelephonyProviderTwilio.layer({
      accountSid,
      authToken: Redacted.make("very-secret"),
      apiUrl: vendor.url,
      publicUrl: "https://agents.example",
      label: "agentos test",
      detectsMachines: true
    })
    for (const [name, use] of Object.entries(operations)) {
      const before = vendor.faults.length
      const { _tag: outcome } = await Effect.flatMap(TelephonyProvider, use).pipe(
        Effect.provide(layer),
        Effect.result,
        Effect.runPromise
      )
      const seen = { name, outcome, faults: vendor.faults.slice(before) }
      expect(seen).toStrictEqual({ name, outcome: "Success", faults: [] })
    }
    const account = "/2010-04-01/Accounts/{AccountSid}"
    expect(new Set(vendor.judged)).toStrictEqual(
      new Set([
        `get ${account}/AvailablePhoneNumbers/{CountryCode}/Local.json`,
        `post ${account}/IncomingPhoneNumbers.json`,
        `get ${account}/IncomingPhoneNumbers.json`,
        `delete ${account}/IncomingPhoneNumbers/{Sid}.json`,
        `post ${account}/Calls.json`,
        `get ${account}/Calls.json`,
        `get ${account}/Calls/{Sid}.json`,
        `post ${account}/Calls/{Sid}.json`
      ])
    )
    expect(vendor.judged).toHaveLength(Object.keys(operations).length)
  })

  it("rejects wrong requests", ({ skip }) => {
    const document = load(skip)
    const request = (method: string, path: string, form: Readonly<Record<string, string>> = {}): VendorRequest => ({
      method,
      url: `/2010-04-01/Accounts/${accountSid}/${path}`,
      contentType: "application/x-www-form-urlencoded",
      authorization: "Basic YTpi",
      form: new URLSearchParams(form)
    })
    const wrong: ReadonlyArray<readonly [VendorRequest, string]> = [
      [request("POST", "Calls.json", { To: "+1", From: "+1", TimeLimits: "60" }), "form TimeLimits: unknown"],
      [request("POST", "Calls.json", { From: "+1" }), "form To: missing"],
      [request("POST", "Calls.json", { To: "+1", From: "+1", TimeLimit: "a minute" }), 'form TimeLimit: "a minute"'],
      [request("POST", "Calls.json", { To: "+1", From: "+1", Method: "FETCH" }), 'form Method: "FETCH"'],
      [request("POST", `Calls/${callSid}.json`, { Status: "over" }), 'form Status: "over"'],
      [request("GET", "Calls.json?PageSize=0"), 'query PageSize: "0"'],
      [request("GET", "Calls.json?StartTimes=1"), "query StartTimes: unknown"],
      [request("GET", "Calls/CA1.json"), 'path Sid: "CA1"'],
      [{ ...request("GET", "Calls.json"), authorization: undefined }, "no credentials"],
      [{ ...request("POST", `Calls/${callSid}.json`, { Status: "completed" }), contentType: "text/plain" }, "no form"]
    ]
    for (const [asked, fault] of wrong) expect(judge(document, asked).faults).toStrictEqual([fault])
    expect(judge(document, request("GET", "Recordings/x/y.json")).operation).toBeUndefined()
    expect(judge(document, request("PUT", "Calls.json")).operation).toBeUndefined()
  })
})
