import { openApiDocument } from "@agentos/api"
import { createClient } from "@hey-api/openapi-ts"
import openapiTypescript, { astToString } from "openapi-typescript"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const document = openApiDocument({ serverUrl: "https://agentos.example", networks: ["eip155:196"] })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-generators-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const OPTIONS =
  "--noEmit --strict --noUncheckedIndexedAccess --skipLibCheck --target es2022 --module esnext --moduleResolution bundler --lib es2023,dom,dom.iterable"

/** Compiles a program against the generated code, which is checked too. Returns the errors of the compiler. */
const compile = (name: string, program: string): string => {
  const file = join(folder, `${name}.ts`)
  writeFileSync(file, program)
  const compiler = createRequire(import.meta.url).resolve("typescript/lib/tsc.js")
  const { stdout } = spawnSync(process.execPath, [compiler, ...OPTIONS.split(" "), file])
  return stdout.toString()
}

/** Reads events by their type. Each line after `@ts-expect-error` must not compile. */
const NARROWING = `
const aboutOf = (event: EventRecord): string => {
  // @ts-expect-error only some payloads have a subject
  event.payload.subject
  switch (event.type) {
    case "email.received":
      // @ts-expect-error a mail has no duration
      event.payload.connectedSeconds
      return event.payload.subject + (event.payload.authentication?.domain ?? "")
    case "phone.call.ended": {
      const seconds: number = event.payload.connectedSeconds
      return event.payload.endReason === "no_answer" ? "" : String(seconds)
    }
    case "payment.failed":
      return event.payload.reason?.kind ?? event.payload.operationId
    case "events.webhook.paused":
      return event.payload.url
    default:
      // @ts-expect-error it is an event of a number or a call, or of another payment
      const rest: "email.received" = event.type
      return rest
  }
}

const textOf = (answer: MessageQuery): string | null => {
  // @ts-expect-error a page has no message
  answer.message
  return "message" in answer ? answer.message.text : (answer.items[0]?.snippet ?? answer.nextCursor)
}

const reportOf = ({ error }: ErrorBody): string => {
  // @ts-expect-error no error has this code
  if (error.code === "NO_SUCH_CODE") return ""
  return error.code === "INVALID_REQUEST" ? (error.issues?.[0]?.path ?? "") : (error.next?.path ?? error.message)
}
export { aboutOf, reportOf, textOf }
`

describe("the client that a public generator makes from the OpenAPI document", () => {
  it("has narrow types with openapi-typescript", async () => {
    writeFileSync(join(folder, "schema.ts"), astToString(await openapiTypescript(JSON.stringify(document))))
    const errors = compile(
      "typescript",
      `import type { components, operations, webhooks } from "./schema.ts"
type EventRecord = components["schemas"]["EventRecord"]
type MessageQuery = operations["queryMessages"]["responses"][200]["content"]["application/json"]["data"]
type ErrorBody = operations["createMailbox"]["responses"][402]["content"]["application/json"]
${NARROWING}
type Create = operations["createMailbox"]
interface Request {
  readonly parameters: Create["parameters"]
  readonly body: Create["requestBody"]["content"]["application/json"]
}
export const first: Request = { parameters: {}, body: { localPart: "ada" } }
export const paid: Request = {
  parameters: { header: { "PAYMENT-SIGNATURE": "eyJ", "Idempotency-Key": "mailbox-ada-1" } },
  body: { localPart: "ada" }
}
// @ts-expect-error the local part is missing
export const empty: Request = { parameters: {}, body: {} }
// @ts-expect-error bodies are closed
export const more: Request = { parameters: {}, body: { localPart: "ada", localpart: "ada" } }
// @ts-expect-error the payment is required
export const status: operations["readPaymentStatus"]["parameters"] = { header: {} }

type Delivery = webhooks["event"]["post"]["requestBody"]["content"]["application/json"]
export const delivered = (event: Delivery): string => aboutOf(event)
`
    )
    assert.strictEqual(errors, "")
  })

  it("has narrow types and calls operations without a key with @hey-api/openapi-ts", async () => {
    await createClient({
      input: document,
      output: { path: join(folder, "client"), postProcess: [] },
      plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
      logs: { level: "silent" }
    })
    const errors = compile(
      "heyApi",
      `import { createMailbox, getEvent, listEvents, readPaymentStatus } from "./client"
import type { Error, EventRecord, QueryMessagesResponse } from "./client"
type MessageQuery = QueryMessagesResponse["data"]
type ErrorBody = Error
${NARROWING}
export const run = async (): Promise<ReadonlyArray<string>> => {
  await createMailbox({ body: { localPart: "ada" } })
  await createMailbox({ body: { localPart: "ada" }, headers: { "PAYMENT-SIGNATURE": "eyJ", "Idempotency-Key": "1" } })
  // @ts-expect-error the local part is missing
  await createMailbox({ body: {} })
  // @ts-expect-error the payment is required
  await readPaymentStatus({})
  const { data } = await getEvent({ body: { eventId: "019ab1c4-0d7b-7a10-8b44-2f6d3c9e0a01" } })
  const { data: page, error } = await listEvents({ body: { status: "pending" } })
  if (error !== undefined) return [reportOf(error)]
  return [...(data === undefined ? [] : [data.data.event]), ...page.data.items].map(aboutOf)
}
`
    )
    assert.strictEqual(errors, "")
  })
})
