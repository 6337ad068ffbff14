import { OPERATIONS, inputsOf } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { COMMANDS } from "../../src/command/Commands.ts"
import { useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { challenge } from "../support/PaidAnswers.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

/** The inputs of an operation as a service record shows them. */
const recordOf = (serviceId: string, operation: "listEvents" | "releaseNumber" | "sendMessage") => ({
  [`GET /api/v1/services/${serviceId}`]: [
    {
      data: {
        service: {
          serviceId,
          method: "POST",
          path: "/api/v1/email/messages/send",
          purpose: "Sends.",
          price: { amount: "0.02", asset: "USDT" },
          inputs: inputsOf(OPERATIONS[operation])
        }
      }
    }
  ]
})

const EVENTS = { ...recordOf("events.list", "listEvents"), "POST /api/v1/events/list": [{ data: { items: [] } }] }

/** Runs `agentctl api` and returns the last request. */
const request = async (args: ReadonlyArray<string>, server: object, stdin = "") => {
  const { exit, text } = await play(api, { args: ["api", ...args], exit: 0, server: { ...server }, stdin }, "program")
  const { body, headers, url } = api.seen.at(-1)!
  return { exit, text, url, headers, body: body === "" ? undefined : (JSON.parse(body) as unknown) }
}

describe("agentctl api", () => {
  it("converts fields to the types that the service declares", async () => {
    const fields = ["limit=5", "types=email.received", "types=phone.call.ended", "agentId=1"]
    const { body, exit } = await request(["POST", "/api/v1/events/list", ...fields], EVENTS)
    assert.strictEqual(exit, 0)
    assert.deepStrictEqual(body, { limit: 5, types: ["email.received", "phone.call.ended"], agentId: "1" })
    const release = {
      ...recordOf("phone.number.release", "releaseNumber"),
      "POST /api/v1/phone/release-number": [{ data: { phoneNumber: {} } }]
    }
    const { body: released } = await request(["POST", "/api/v1/phone/release-number", "confirmRelease=true"], release)
    assert.deepStrictEqual(released, { confirmRelease: true })
  })

  it("sends a text that does not fit as it is, so that the server names the field", async () => {
    const { body } = await request(["POST", "/api/v1/events/list", "limit=five", "unknown=true"], EVENTS)
    assert.deepStrictEqual(body, { limit: "five", unknown: "true" })
  })

  it("sends JSON fields, files and queries without asking for the types", async () => {
    api.seen.length = 0
    const server = { "POST /api/v1/events/list": [{ data: { items: [] } }], "GET /api/v1/events": [{ data: {} }] }
    assert.deepStrictEqual((await request(["POST", "/api/v1/events/list", "limit:=5"], server)).body, { limit: 5 })
    const file = await request(["POST", "/api/v1/events/list", "--input", "-"], server, "{}")
    assert.deepStrictEqual([file.exit, file.body], [0, {}])
    assert.strictEqual((await request(["GET", "/api/v1/events", "limit=5"], server)).url, "/api/v1/events?limit=5")
    assert.lengthOf(api.seen, 3)
  })

  it.for([
    [["limit=1", "limit=2"], "Field limit is given twice."],
    [["limit:=x"], 'Invalid JSON after := in "limit:=x".'],
    [["limit"], 'Invalid field "limit". Write NAME=TEXT or NAME:=JSON.'],
    [["-H", "Authorization: Bearer x"], "Authorization is not allowed on the command line"]
  ] as const)("rejects %s", async ([more, problem]) => {
    const { exit, text } = await request(["POST", "/api/v1/events/list", ...more], EVENTS)
    assert.strictEqual(exit, 3)
    assert.include(text, problem)
  })
})

describe("agentctl quote", () => {
  it("converts fields to the types that the service declares", async () => {
    const server = {
      ...recordOf("email.message.send", "sendMessage"),
      "POST /api/v1/email/messages/send": [challenge({ amount: "20000" })]
    }
    const args = ["quote", "email.message.send", "to=bob@outside.example", "subject=12"]
    const { exit, text } = await play(api, { args, exit: 0, server }, "program")
    assert.strictEqual(exit, 0, text)
    assert.deepStrictEqual(JSON.parse(api.seen.at(-1)!.body), { to: ["bob@outside.example"], subject: "12" })
  })
})

describe("flags with choices", () => {
  const choicesOf = (command: string, name: string) =>
    COMMANDS.find((each) => each.name === command)!.flags.flatMap((flag) =>
      flag.name === name && "choices" in flag ? [...flag.choices] : []
    )

  it("offer the values that the contract allows", () => {
    const status = inputsOf(OPERATIONS.listEvents).find(({ name }) => name === "status")!
    assert.deepStrictEqual(choicesOf("events list", "status"), status.schema["enum"])
  })
})
