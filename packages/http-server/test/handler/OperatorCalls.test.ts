import { assert, describe, it } from "@effect/vitest"
import { type CallHistory, CallStore, Timestamp } from "@agentos/core"
import { Effect } from "effect"
import { answerCall, ask, CARRIER_TOKEN, newNumber, placeCall, PUBLIC_URL } from "../ingress/CarrierClient.ts"
import { call, errorOf } from "../support/TestClient.ts"
import { startServer } from "../support/TestServer.ts"

const TOKEN = "0123456789abcdef0123456789abcdef"

describe("calls of tenants", () => {
  it("are listed and shown to operators, with their moments and nothing that was said", async () => {
    const server = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL, operatorToken: TOKEN })
    const read = (path: string) =>
      call(server, "GET", `/internal/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
    const dataIn = async <A>(path: string) => (JSON.parse((await read(path)).text) as { readonly data: A }).data
    const number = await newNumber(server)
    const first = await placeCall(server, number)
    await answerCall(server, first)
    await server.run(
      Effect.gen(function* () {
        const calls = yield* CallStore
        yield* calls.addTurn(first.callId, { role: "caller", text: "a secret", at: yield* Timestamp.now })
      })
    )
    const status = { CallSid: first.providerCallId, CallStatus: "completed" }
    await ask(server, `/webhooks/twilio/status/${first.callId}`, status)
    const second = await placeCall(server, number)

    const page = await dataIn<{
      readonly items: ReadonlyArray<{ readonly callId: string }>
      nextCursor: string | null
    }>(`tenants/${number.wallet}/calls?limit=1`)
    assert.deepStrictEqual(
      page.items.map(({ callId }) => callId),
      [second.callId]
    )
    const rest = await dataIn<typeof page>(`tenants/${number.wallet}/calls?limit=1&cursor=${page.nextCursor}`)
    assert.deepStrictEqual([rest.items[0]?.callId, rest.nextCursor], [first.callId, null])

    const shown = await read(`calls/${first.callId}`)
    assert.notInclude(shown.text, "a secret")
    const history = (JSON.parse(shown.text) as { readonly data: CallHistory }).data
    assert.deepInclude(history, { status: "ended", endReason: "completed", providerCallId: first.providerCallId })
    assert.deepStrictEqual(
      history.timeline.map(({ event }) => event),
      ["placed", "answered", "turn of caller", "ended: completed"]
    )
    for (const path of [`calls/${number.phoneNumberId}`, "calls/x", "tenants/0x0/calls"]) {
      const answer = await read(path)
      assert.deepStrictEqual([answer.status, errorOf(answer).code], [404, "RESOURCE_NOT_FOUND"])
    }
    await server.stop()
  })
})
