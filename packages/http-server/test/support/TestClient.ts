import { ErrorEnvelope, errorsByStatus, operations } from "@agentos/api"
import { Schema } from "effect"
import { connect } from "node:net"
import { ScriptedRail } from "@agentos/core/contract-tests"
import type { TestServer } from "./TestServer.ts"

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface TestRequest {
  /** Sent as JSON, unless it is already a string. */
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

const entries = operations.map(({ entry }) => ({
  entry,
  path: new RegExp(`^${entry.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
}))

/** Throws if the catalog does not name the error of this answer for its operation. */
const requireDeclared = (method: string, target: string, { status, text }: TestAnswer): void => {
  const [path = ""] = target.split("?")
  const found = entries.find(({ entry, path: pattern }) => entry.method === method && pattern.test(path))
  const [, code = ""] = status < 400 ? [] : (/^\{"error":\{"code":"([A-Z_]+)"/.exec(text) ?? [])
  if (found === undefined || code === "") return
  const declared = [...errorsByStatus(found.entry)].find(([known]) => known === status)?.[1] ?? []
  if (!declared.some((known) => known === code)) {
    throw new Error(`${found.entry.operationId} answered ${status} ${code}, which its catalog entry does not name`)
  }
}

/** Makes one request, like any HTTP client; one to `/internal` at the operator's address. Fails if the answer is an error that the operation does not declare. */
export const call = async (
  { operatorUrl = "", url }: Pick<TestServer, "url"> & Partial<Pick<TestServer, "operatorUrl">>,
  method: string,
  path: string,
  { body, headers, token }: TestRequest = {}
): Promise<TestAnswer> => {
  const response = await fetch(`${path.startsWith("/internal/") && operatorUrl !== "" ? operatorUrl : url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const answer = { status: response.status, headers: response.headers, text: await response.text() }
  requireDeclared(method, path, answer)
  return answer
}

/** Sends bytes on a new connection, and returns everything received until the server closes it. */
export const rawCall = (
  { port }: Pick<TestServer, "port">,
  ...parts: ReadonlyArray<string | Uint8Array>
): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    const received: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => received.push(chunk))
    socket.on("error", reject)
    socket.on("close", () => resolve(Buffer.concat(received).toString()))
    for (const part of parts) socket.write(part)
  })

const decodeError = Schema.decodeUnknownSync(Schema.fromJsonString(ErrorEnvelope), { onExcessProperty: "error" })

/** Returns the error of a response, which must be in the envelope and contain the request's id. */
export const errorOf = (answer: TestAnswer) => {
  const { error } = decodeError(answer.text)
  if (error.requestId !== answer.headers.get("x-request-id")) throw new Error("another requestId in the header")
  return error
}

const Data = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Record(Schema.String, Schema.Json), requestId: Schema.String, guide: Schema.String })
)

/** Returns `data` of a response, which must be a success in the envelope. */
export const dataOf = (answer: TestAnswer) => Schema.decodeUnknownSync(Data)(answer.text).data

/** Returns the string at a path in nested data. */
export const textAt = (json: Schema.Json | undefined, ...at: ReadonlyArray<string>): string => {
  const [key, ...rest] = at
  if (key === undefined) {
    if (typeof json !== "string") throw new Error(`not a text: ${JSON.stringify(json)}`)
    return json
  }
  const inner = typeof json === "object" && json !== null && !Array.isArray(json) ? Object.entries(json) : []
  return textAt(inner.find(([name]) => name === key)?.[1], ...rest)
}

let counter = 0
/** Returns a value for a wallet, a nonce or a key that no other test uses. */
export const fresh = (prefix: string): string => `${prefix}${++counter}`
export const freshWallet = (): string => `0x${(++counter).toString(16).padStart(40, "0")}`

/** Returns the payment headers for a request, made from its own challenge. */
export const payFor = async (server: TestServer, path: string, request: TestRequest, payer: string) => {
  const challenge = (await call(server, "POST", path, request)).headers.get("payment-required")
  if (challenge === null) throw new Error("no challenge")
  return { "payment-signature": ScriptedRail.pay(challenge, payer, fresh("n")), "idempotency-key": fresh("key") }
}

export const callPaid = async (server: TestServer, path: string, request: TestRequest, payer: string) => {
  const headers = await payFor(server, path, request, payer)
  return await call(server, "POST", path, { ...request, headers: { ...request.headers, ...headers } })
}

/** Creates a wallet that has bought a mailbox, and returns it with its token. */
export const newTenant = async (server: TestServer) => {
  const wallet = freshWallet()
  const answer = await callPaid(server, "/api/v1/email/mailboxes", { body: { localPart: fresh("box") } }, wallet)
  const data = dataOf(answer)
  return {
    wallet,
    token: textAt(data, "authentication", "accessToken"),
    mailboxId: textAt(data, "mailbox", "mailboxId"),
    address: textAt(data, "mailbox", "address")
  }
}
