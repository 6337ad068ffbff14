import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { call, dataOf, errorOf } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const NETWORKS = "/api/v1/payments/networks"
/** The balance of a wallet on the scripted chain is the number of its address. */
const WALLET = `0x${"0".repeat(30)}00000ABCDE`

let server: TestServer
beforeAll(async () => {
  server = await startServer({ rateLimit: { burst: 8, perSecond: 0.001 }, isTimeStopped: true })
})
afterAll(() => server.stop())

describe("the list of payment networks", () => {
  it("needs no token, and shows the balance of a wallet", async () => {
    const answer = await call(server, "GET", `${NETWORKS}?wallet=${WALLET}`)
    assert.deepStrictEqual(dataOf(answer)["items"], [
      {
        network: "eip155:402402",
        asset: "0x00000000000000000000000000000000000000a1",
        name: "USDT0",
        symbol: "USDT",
        transferMethod: null,
        decimals: 6,
        payTo: "0x00000000000000000000000000000000000000b2",
        balance: { amount: "0.70371", baseUnits: "703710" },
        allowance: null,
        permitNonce: null
      }
    ])
  })

  it("refuses a wallet that is not an address, and names it", async () => {
    const answer = await call(server, "GET", `${NETWORKS}?wallet=ada`)
    assert.strictEqual(answer.status, 400)
    assert.deepInclude(errorOf(answer), { code: "INVALID_REQUEST" })
    assert.include(JSON.stringify(errorOf(answer)), "0x and 40 hexadecimal digits")
  })

  it("costs an address more requests for each network whose chain is read", async () => {
    const statuses: Array<number> = []
    for (const wallet of ["b1", "b2", "b3"].map((byte) => `0x${byte.repeat(20)}`)) {
      statuses.push((await call(server, "GET", `${NETWORKS}?wallet=${wallet}`)).status)
    }
    // Of 8 requests, the two before took 4, and each of these takes 3.
    assert.deepStrictEqual(statuses, [200, 200, 429])
  })
})
