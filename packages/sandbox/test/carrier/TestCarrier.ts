import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { type Carrier, type CarrierOptions, startCarrier } from "../../src/carrier/Carrier.ts"
import { type Application, startApplication, until } from "./Application.ts"

export const accountSid = `AC${"a1".repeat(16)}`
export const authToken = "sandbox-token"
export const basePath = `/2010-04-01/Accounts/${accountSid}`
export const credentials = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`

/** A number for sale, and the numbers of two people. */
export const ours = "+14155550100"
export const ada = "+14155550150"
export const bob = "+12125550199"

export type Json = Readonly<Record<string, unknown>>
export type Form = Readonly<Record<string, string | ReadonlyArray<string>>>

export interface Answer<Body = Json> {
  readonly status: number
  readonly body: Body
}

/** The response of GET /sandbox/calls/{id}. */
export interface CallState {
  readonly id: string
  readonly state: "ringing" | "in-progress" | "completed" | "rejected"
  readonly heard: ReadonlyArray<string>
  readonly endedBy: string | null
  readonly status: string
  readonly said: ReadonlyArray<string>
  readonly seconds: number | null
  readonly reason: string | null
}

export interface Log {
  readonly requests: ReadonlyArray<{
    readonly method: string
    readonly path: string
    readonly form: Form
    readonly status: number | null
    readonly delivered: boolean
  }>
  readonly events: ReadonlyArray<{ readonly callSid: string; readonly event: string } & Json>
}

/** A carrier with the account's webhook server. Both stop after the test. */
export interface Rig {
  readonly carrier: Carrier
  readonly application: Application
  readonly dataDir: string
  /** Requests to Twilio's API. `path` is relative to the account. */
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, form: Form) => Promise<Answer>
  readonly remove: (path: string) => Promise<Answer>
  /** A request to the carrier's control API. */
  readonly control: (path: string, body?: unknown) => Promise<Answer>
  readonly log: () => Promise<Log>
  /** Buys a number and returns its sid. */
  readonly buy: (number?: string, form?: Form) => Promise<string>
  /** Places a call and returns its sid. */
  readonly call: (form?: Form) => Promise<string>
  /** Waits for the end of a call. */
  readonly untilEnded: (sid: string) => Promise<CallState>
  readonly callState: (sid: string) => Promise<CallState>
}

const encode = (form: Form): string => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    for (const one of typeof value === "string" ? [value] : value) params.append(name, one)
  }
  return params.toString()
}

/** A client of the carrier at a URL. */
export const clientOf = (url: () => string) => {
  const read = async (response: Response): Promise<Answer> => {
    const text = await response.text()
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Json }
  }
  const headers = { Authorization: credentials }
  const address = (path: string) => `${url()}${path.startsWith("/2010") ? "" : basePath}${path}`
  return {
    get: async (path: string) => read(await fetch(address(path), { headers })),
    post: async (path: string, form: Form) =>
      read(
        await fetch(address(path), {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/x-www-form-urlencoded" },
          body: encode(form)
        })
      ),
    remove: async (path: string) => read(await fetch(address(path), { method: "DELETE", headers })),
    control: async (path: string, body?: unknown) =>
      read(
        await fetch(
          `${url()}/sandbox/${path}`,
          body === undefined
            ? {}
            : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
        )
      )
  }
}

export const startRig = async (options: Partial<CarrierOptions> = {}): Promise<Rig> => {
  const dataDir = await mkdtemp(join(tmpdir(), "agentos-carrier-"))
  const application = await startApplication(authToken)
  const carrier = await startCarrier({ dataDir, accountSid, authToken, ...options })
  onTestFinished(async () => {
    await carrier.close()
    await application.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  const client = clientOf(() => carrier.url)
  const callState = async (sid: string) => (await client.control(`calls/${sid}`)).body as unknown as CallState
  return {
    carrier,
    application,
    dataDir,
    ...client,
    callState,
    log: async () => (await client.control("log")).body as unknown as Log,
    buy: async (number = ours, form = {}) => {
      const bought = await client.post("/IncomingPhoneNumbers.json", { PhoneNumber: number, ...form })
      expect(bought.status).toBe(201)
      return bought.body["sid"] as string
    },
    call: async (form = {}) => {
      const made = await client.post("/Calls.json", { To: ada, From: ours, Twiml: "<Response/>", ...form })
      expect(made).toMatchObject({ status: 201 })
      return made.body["sid"] as string
    },
    untilEnded: async (sid) => {
      let last = await callState(sid)
      for (const deadline = Date.now() + 10_000; !["completed", "rejected"].includes(last.state);) {
        if (Date.now() > deadline) throw new Error(`the call has not ended: ${JSON.stringify(last)}`)
        last = await callState(sid)
      }
      return last
    }
  }
}

/** Returns a document that connects the application's socket. */
export const connect = (application: Application, attributes = "", inside = "", action = true): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Response><Connect${action ? ` action="${application.url}/action"` : ""}>` +
  `<ConversationRelay url="${application.relayUrl}?token=t1" ${attributes}>${inside}</ConversationRelay>` +
  "</Connect></Response>"

export { until }
