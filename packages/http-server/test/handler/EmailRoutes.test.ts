import { OPERATIONS } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { call, callPaid, dataOf, errorOf, newTenant } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const QUERY = "/api/v1/email/messages/query"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const read = async <A>(data: Schema.Codec<A, unknown>, path: string, token: string) => {
  const answer = await call(server, "GET", path, { token })
  assert.strictEqual(answer.status, 200, answer.text)
  return Schema.decodeUnknownSync(data, { onExcessProperty: "error" })(dataOf(answer))
}

const send = async ({ mailboxId, token, wallet }: Awaited<ReturnType<typeof newTenant>>, subject: string) => {
  const body = { mailboxId, to: ["a@example.com"], subject, text: "Hi" }
  const answer = await callPaid(server, "/api/v1/email/messages/send", { body, token }, wallet)
  return Schema.decodeUnknownSync(OPERATIONS.sendMessage.data)(dataOf(answer)).message.messageId
}

describe("email", () => {
  it("lists the mailboxes of the tenant", async () => {
    const tenant = await newTenant(server)
    const { items } = await read(OPERATIONS.listMailboxes.data, "/api/v1/email/mailboxes/query", tenant.token)
    assert.deepStrictEqual(
      items.map(({ mailboxId }) => mailboxId),
      [tenant.mailboxId]
    )
    assert.deepInclude(items[0], { active: true, address: tenant.address, displayName: null })
  })

  it("lists messages in pages, newest first, without their bodies", async () => {
    const tenant = await newTenant(server)
    const sent = [await send(tenant, "one"), await send(tenant, "two"), await send(tenant, "three")]
    const page = async (query: string) => {
      const data = await read(
        OPERATIONS.queryMessages.data,
        `${QUERY}?mailboxId=${tenant.mailboxId}${query}`,
        tenant.token
      )
      if (!("items" in data)) throw new Error("not a page")
      return data
    }
    const first = await page("&limit=2")
    assert.deepStrictEqual(
      first.items.map(({ messageId }) => messageId),
      sent.toReversed().slice(0, 2)
    )
    assert.notProperty(first.items[0], "text")
    const second = await page(`&limit=2&cursor=${first.nextCursor}`)
    assert.deepStrictEqual(
      second.items.map(({ messageId }) => messageId),
      sent.slice(0, 1)
    )
    assert.isNull(second.nextCursor)
  })

  it("refuses access to another tenant's mail", async () => {
    const owner = await newTenant(server)
    const messageId = await send(owner, "secret")
    const { token } = await newTenant(server)
    for (const query of [`messageId=${messageId}`, `mailboxId=${owner.mailboxId}`]) {
      const answer = await call(server, "GET", `${QUERY}?${query}`, { token })
      assert.strictEqual(answer.status, 403)
      assert.strictEqual(errorOf(answer).code, "RESOURCE_NOT_OWNED")
      assert.notInclude(answer.text, "secret")
    }
    const unknown = await call(server, "GET", `${QUERY}?messageId=019aa000-0000-7000-8000-000000000001`, { token })
    assert.strictEqual(unknown.status, 404)
  })
})
