import { OPERATIONS } from "@agentos/api"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { randomBytes } from "node:crypto"
import { call, callPaid, dataOf, errorOf, fresh, newTenant, type TestAnswer } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const SEND = "/api/v1/email/messages/send"
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
  const answer = await callPaid(server, SEND, { body, token }, wallet)
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

  it("lists the messages that match filters, with cursors of that filter only", async () => {
    const tenant = await newTenant(server)
    const [one, two, three] = [
      await send(tenant, "Invoice A&B"),
      await send(tenant, "invoice 2"),
      await send(tenant, "x")
    ]
    const list = async (query: string) => {
      const data = await read(OPERATIONS.queryMessages.data, `${QUERY}?${query}`, tenant.token)
      if (!("items" in data)) throw new Error("not a page")
      return { ids: data.items.map(({ messageId }) => messageId), nextCursor: data.nextCursor, items: data.items }
    }
    assert.deepStrictEqual((await list("q=INVOICE")).ids, [two, one])
    assert.deepStrictEqual((await list("q=b+%26+invoice")).ids, [one])
    assert.deepStrictEqual((await list(`threadId=${three}`)).ids, [three])
    assert.deepStrictEqual((await list("direction=outbound&q=2")).ids, [two])
    assert.deepStrictEqual((await list("direction=inbound")).ids, [])
    assert.deepStrictEqual((await list(`from=${tenant.address.toUpperCase()}`)).ids, [three, two, one])
    assert.deepStrictEqual((await list("from=a@example.com")).ids, [])
    const { items } = await list("limit=3")
    assert.deepStrictEqual((await list("before=2020-01-01T00:00:00Z")).ids, [])
    assert.deepStrictEqual((await list(`after=${items.at(-1)?.createdAt}`)).ids, [three, two, one])
    const first = await list("q=invoice&limit=1")
    assert.deepStrictEqual((await list(`q=Invoice&limit=1&cursor=${first.nextCursor}`)).ids, [one])
    for (const [query, path] of [
      [`q=x&cursor=${first.nextCursor}`, "cursor"],
      [`cursor=${first.nextCursor}`, "cursor"],
      ["q=%26+%7C", "q"],
      ["q=", "q"],
      [`q=${"x".repeat(257)}`, "q"],
      ["direction=both", "direction"],
      ["from=nobody", "from"],
      ["threadId=1", "threadId"],
      ["after=yesterday", "after"],
      ["after=2026-01-01T00:00:00Z&before=2026-01-01T00:00:00Z", "after"],
      [`messageId=${one}&q=x`, "messageId"],
      [`messageId=${one}&direction=outbound`, "messageId"]
    ] as const) {
      const answer = await call(server, "GET", `${QUERY}?${query}`, { token: tenant.token })
      assert.strictEqual(answer.status, 400, query)
      assert.strictEqual(errorOf(answer).issues?.[0]?.path, path, query)
    }
    const words = Array.from({ length: 21 }, (_, index) => `w${index}`).join("+")
    assert.strictEqual((await call(server, "GET", `${QUERY}?q=${words}`, { token: tenant.token })).status, 400)
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

  it("sends four messages with 10 MiB of files at once, and returns a file as it was sent", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const file = randomBytes(10 * 1024 * 1024)
    const attachments = [{ filename: "a.bin", contentType: "image/png", contentBase64: file.toString("base64") }]
    const body = JSON.stringify({ mailboxId, to: ["a@example.com"], subject: "Files", text: "Hi", attachments })
    const challenge = (await call(server, "POST", SEND, { body, token })).headers.get("payment-required")
    assert.isNotNull(challenge)
    /** Repeats the request with the same payment, as its error says, if its turn does not come within ten seconds. */
    const sendPaid = async (headers: Readonly<Record<string, string>>): Promise<TestAnswer> => {
      const answer = await call(server, "POST", SEND, { body, token, headers })
      if (answer.status !== 429) return answer
      assert.match(errorOf(answer).message, /The payment was not processed.* retry with the same payment/)
      return await sendPaid(headers)
    }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        sendPaid({
          "payment-signature": ScriptedRail.pay(challenge, wallet, fresh("n")),
          "idempotency-key": fresh("key")
        })
      )
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [201, 201, 201, 201]
    )
    const sent = answers.map((answer) => Schema.decodeUnknownSync(OPERATIONS.sendMessage.data)(dataOf(answer)).message)
    assert.lengthOf(new Set(sent.map(({ messageId }) => messageId)), 4)

    const [{ attachments: stored, messageId }] = sent as [(typeof sent)[0]]
    const path = `/api/v1/email/messages/${messageId}`
    const headers = { authorization: `Bearer ${token}` }
    const download = await fetch(`${server.url}${path}/attachments/${stored[0]!.attachmentId}`, { headers })
    assert.strictEqual(download.status, 200)
    assert.strictEqual(download.headers.get("content-type"), "image/png")
    assert.strictEqual(download.headers.get("content-disposition"), 'attachment; filename="a.bin"')
    assert.isTrue(file.equals(Buffer.from(await download.arrayBuffer())))
    const raw = await call(server, "GET", `${path}/raw`, { token })
    assert.deepStrictEqual([raw.status, errorOf(raw).code], [404, "RESOURCE_NOT_FOUND"])
    assert.match(errorOf(raw).message, /^The message was sent from here, so it has no raw form\./)
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
