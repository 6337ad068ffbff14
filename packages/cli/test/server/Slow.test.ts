import { Output } from "@agentos/node/command-line"
import { afterEach, assert, describe, it, vi } from "vitest"
import { Server } from "../../src/server/Server.ts"
import { useApiDouble } from "../support/ApiDouble.ts"
import { machine, removeMachines } from "../support/Machine.ts"

const api = useApiDouble()

afterEach(() => {
  vi.useRealTimers()
  removeMachines()
})

describe("slow server", () => {
  it("is reported once, after ten seconds", async () => {
    const interruption = new AbortController()
    let said = ""
    const before = machine()
    const host = {
      ...before,
      signal: interruption.signal,
      stderr: { ...before.stderr, write: (data: string | Uint8Array) => void (said += Buffer.from(data).toString()) }
    }
    const globals = { help: false, json: false, profile: undefined, "base-url": undefined, quiet: false }
    const output = new Output(host, { json: false, quiet: false, color: false })
    const context = { host, output, globals: { ...globals, "no-color": true, version: false } }
    const hanging = new Promise<void>((resolve) => api.onHanging(resolve))
    api.on("GET /api/v1", "hang")
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const sending = new Server(context, api.url(), undefined).send({
      method: "GET",
      path: "/api/v1",
      repeatable: true
    })
    await hanging
    vi.advanceTimersByTime(9_999)
    assert.strictEqual(said, "")
    vi.advanceTimersByTime(15_000)
    assert.strictEqual(said, `Waiting for ${api.url()}…\n`)
    interruption.abort()
    const [ended] = await Promise.allSettled([sending])
    assert.strictEqual(ended.status, "rejected")
  })
})
