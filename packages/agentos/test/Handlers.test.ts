import { ScriptedRail } from "@agentos/core/contract-tests"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createServer, type IncomingMessage, request as nodeRequest, type Server, type ServerResponse } from "node:http"
import { connect, createServer as createHttp2Server } from "node:http2"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { type AgentOs, AgentOsError, createAgentOs } from "../src/index.ts"
import { testOptions } from "./support/TestHost.ts"

const MIB = 1024 * 1024
const BASE = "http://localhost:8080/agents"
const MAILBOXES = `${BASE}/api/v1/email/mailboxes`
const JSON_TYPE = { "content-type": "application/json" }

let agentos: AgentOs
let server: Server
let port = 0
beforeAll(async () => {
  agentos = await createAgentOs(testOptions().options)
  server = createServer(agentos.node).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.close()
  await agentos.close()
})

/** A body of unknown length, in pieces. */
const streamOf = (pieces: Iterable<string>): ReadableStream<Uint8Array> => {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream({
    pull: (controller) => {
      const next = iterator.next()
      if (next.done === true) controller.close()
      else controller.enqueue(new TextEncoder().encode(next.value))
    }
  })
}

const post = (url: string, body: string | ReadableStream<Uint8Array>, headers: Record<string, string> = JSON_TYPE) =>
  agentos.fetch(new Request(url, { method: "POST", headers, body, ...({ duplex: "half" } as object) }))

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as {
    error: {
      code: string
      message: string
      retryable: boolean
      issues?: ReadonlyArray<{ path: string; message: string }>
    }
  }
  return { status: response.status, ...error }
}

let count = 0
/** Buys a mailbox, as a client of HTTP. */
const buyMailbox = async () => {
  const body = JSON.stringify({ localPart: `box-${++count}` })
  const unpaid = await post(MAILBOXES, body)
  const challenge = unpaid.headers.get("payment-required") ?? ""
  const payment = ScriptedRail.pay(challenge, `0x${`${count}`.padStart(40, "0")}`, `n${count}`)
  const headers = { ...JSON_TYPE, "payment-signature": payment, "idempotency-key": `key-${count}` }
  const paid = await post(MAILBOXES, streamOf([body]), headers)
  const { data } = (await paid.json()) as {
    data: { mailbox: { address: string }; authentication: { accessToken: string } }
  }
  return { status: paid.status, token: data.authentication.accessToken, address: data.mailbox.address }
}

describe("fetch", () => {
  it("reads a body without a declared length, as text and as a stream, and binds the payment to its bytes", async () => {
    assert.strictEqual((await post(MAILBOXES, JSON.stringify({ localPart: "ada" }))).status, 402)
    assert.strictEqual((await post(MAILBOXES, streamOf(['{"localPart"', ':"ada"}']))).status, 402)
    assert.strictEqual((await buyMailbox()).status, 201)
  })

  it("answers a start-here request without a body with its challenge", async () => {
    const response = await agentos.fetch(new Request(MAILBOXES, { method: "POST" }))
    assert.strictEqual(response.status, 402)
    assert.isNotNull(response.headers.get("payment-required"))
  })

  it("refuses a stream beyond the limit of its route, without reading the rest", async () => {
    let pieces = 0
    const endless = function* () {
      for (;;) {
        pieces += 1
        yield `"${"x".repeat(1_000)}",`
      }
    }
    const { code, message, status } = await errorOf(await post(MAILBOXES, streamOf(endless())))
    assert.deepStrictEqual([status, code], [413, "PAYLOAD_TOO_LARGE"])
    assert.match(message, /16/)
    assert.isBelow(pieces, 30)
  })

  it("refuses chunks of HTTP/1.1, other types, and lengths that are not those of the body, like the server", async () => {
    const body = JSON.stringify({ localPart: "ada" })
    for (const [headers, sent, status, message] of [
      [{ ...JSON_TYPE, "transfer-encoding": "chunked" }, body, 400, /^Content-Length is required\. Send the body/],
      [{}, body, 415, /^Content-Type text\/plain is not supported/],
      [{ ...JSON_TYPE, "content-length": "5" }, body, 400, /^The body is longer than its Content-Length/],
      [{ ...JSON_TYPE, "content-length": "99" }, body, 400, /^The body is incomplete\. Send it again/],
      [{ ...JSON_TYPE, "content-length": "5, 5" }, body, 400, /^Content-Length must be one integer/],
      [JSON_TYPE, "", 400, /^The body is missing: send JSON/]
    ] as const) {
      const url = sent === "" ? `${BASE}/api/v1/email/messages/send` : MAILBOXES
      const { token } = sent === "" ? await buyMailbox() : { token: undefined }
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const error = await errorOf(await post(url, sent, { ...headers, ...authorization }))
      assert.strictEqual(error.status, status, error.message)
      assert.match(error.message, message)
    }
  })

  it("answers HEAD without a body, OPTIONS with the methods, and other prefixes with 404", async () => {
    const head = await agentos.fetch(new Request(`${BASE}/api/v1/services`, { method: "HEAD" }))
    assert.deepStrictEqual([head.status, await head.text()], [200, ""])
    assert.match(head.headers.get("content-type") ?? "", /json/)
    const options = await agentos.fetch(new Request(MAILBOXES, { method: "OPTIONS" }))
    assert.deepStrictEqual([options.status, options.headers.get("allow")], [204, "POST, OPTIONS"])
    // A router that removes the prefix, one that keeps it, and a path that only begins like it.
    for (const [path, status] of [
      ["/api/v1", 200],
      ["/agents/api/v1", 200],
      ["/agents/agents/api/v1", 404],
      ["/agentsapi/v1", 404]
    ] as const) {
      const response = await agentos.fetch(new Request(`http://localhost:8080${path}`))
      assert.strictEqual(response.status, status, path)
    }
  })

  it("ends a request that its caller aborts, whether its body or its answer is under way", async () => {
    const aborted = new AbortController()
    const pending = agentos.fetch(
      new Request(MAILBOXES, {
        method: "POST",
        headers: JSON_TYPE,
        body: new ReadableStream({ pull: () => new Promise(() => undefined) }),
        signal: aborted.signal,
        ...({ duplex: "half" } as object)
      })
    )
    aborted.abort()
    assert.isAtLeast((await pending).status, 400)
    const before = await agentos.fetch(new Request(`${BASE}/api/v1`, { signal: AbortSignal.abort() }))
    assert.isAtLeast(before.status, 200)
  })

  it("streams a download of 25 MiB as it is read, and frees it when it is cancelled", async () => {
    const { address, token } = await buyMailbox()
    const raw = new Uint8Array(25 * MIB).fill(0x61)
    await agentos.messages.receive({
      from: "bob@outside.example",
      to: [address],
      raw,
      author: "bob@outside.example",
      remoteAddress: "192.0.2.1"
    })
    const tenant = await agentos.authenticate(token)
    let messageId: string | undefined
    while (messageId === undefined) {
      messageId = (await agentos.messages.list(tenant, {})).items[0]?.messageId
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const url = `${BASE}/api/v1/email/messages/${messageId}/raw`
    const download = (signal: AbortSignal | null = null) =>
      agentos.fetch(new Request(url, { headers: { authorization: `Bearer ${token}` }, signal }))

    const whole = await download()
    assert.strictEqual(whole.headers.get("content-length"), `${raw.length}`)
    assert.strictEqual((await whole.arrayBuffer()).byteLength, raw.length)

    // A client has memory for a limited number of downloads: those that are cancelled or aborted must free theirs.
    for (let round = 0; round < 40; round++) {
      const ending = new AbortController()
      const part = await download(ending.signal)
      assert.strictEqual(part.status, 200, `round ${round}`)
      const reader = part.body!.getReader()
      const { value } = await reader.read()
      assert.isAtMost(value?.length ?? 0, 256 * 1024)
      if (round % 2 === 0) await reader.cancel()
      else ending.abort()
    }
  })
})

describe("node", () => {
  const send = async (headers: Record<string, string>, pieces: ReadonlyArray<string>) => {
    const sent = nodeRequest({ port, method: "POST", path: "/agents/api/v1/email/mailboxes", headers })
    for (const piece of pieces) sent.write(piece)
    sent.end()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve).once("error", reject)
    })
    return { status: response.statusCode, body: await text(response) }
  }

  it("answers a body with Content-Length, and refuses chunks with the error of the server", async () => {
    const pieces = ['{"localPart":', '"ada"}']
    const length = `${pieces.join("").length}`
    assert.strictEqual((await send({ ...JSON_TYPE, "content-length": length }, pieces)).status, 402)
    const chunked = await send(JSON_TYPE, pieces)
    assert.strictEqual(chunked.status, 400)
    assert.include(
      chunked.body,
      "Content-Length is required. Send the body as one text instead of a stream, without Transfer-Encoding"
    )
  })

  it("reads a body without Content-Length over HTTP/2", async () => {
    const http2 = createHttp2Server((request, response) =>
      agentos.node(request as unknown as IncomingMessage, response as unknown as ServerResponse)
    ).listen(0, "127.0.0.1")
    await new Promise((resolve) => http2.once("listening", resolve))
    const client = connect(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`)
    const stream = client.request({ ":method": "POST", ":path": "/agents/api/v1/email/mailboxes", ...JSON_TYPE })
    stream.end('{"localPart":"ada"}')
    const status = await new Promise((resolve) => stream.once("response", (headers) => resolve(headers[":status"])))
    assert.strictEqual(status, 402)
    client.destroy()
    http2.close()
  })
})

describe("close", () => {
  it("waits for requests in progress", async () => {
    const host = await createAgentOs(testOptions().options)
    let finish = () => {}
    let read = () => {}
    const reading = new Promise<void>((resolve) => (read = resolve))
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          finish = () => {
            controller.enqueue(new TextEncoder().encode('{"localPart":"ada"}'))
            controller.close()
          }
          read()
        }
      },
      { highWaterMark: 0 }
    )
    const init = { method: "POST", headers: JSON_TYPE, body, duplex: "half" } as const
    const answer = host.fetch(new Request(MAILBOXES, init))
    const order: Array<string> = []
    await reading
    const closed = host.close().then(() => order.push("closed"))
    // Refused, because the host is closing.
    assert.strictEqual((await host.fetch(new Request(MAILBOXES, { method: "POST" }))).status, 503)
    finish()
    order.push(`answered ${(await answer).status}`)
    await closed
    assert.deepStrictEqual(order, ["answered 402", "closed"])
  })

  it("answers later requests with 503, from fetch, node:http and the use cases, and may be repeated", async () => {
    const host = await createAgentOs(testOptions().options)
    const listening = createServer(host.node).listen(0, "127.0.0.1")
    await new Promise((resolve) => listening.once("listening", resolve))
    await Promise.all([host.close(), host.close()])
    await host.close()
    const init = { method: "POST", headers: JSON_TYPE, body: '{"localPart":"ada"}' }
    const { port: open } = listening.address() as AddressInfo
    const answers = await Promise.all([
      host.fetch(new Request(MAILBOXES, init)),
      fetch(MAILBOXES.replace(":8080", `:${open}`), init)
    ])
    for (const answer of answers) {
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
      assert.match(answer.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/)
      assert.deepInclude(await errorOf(answer), {
        status: 503,
        code: "SERVICE_UNAVAILABLE",
        message: "The server is stopping and did not process the request. Repeat the identical request later.",
        retryable: true
      })
    }
    for (const use of [() => host.tenants.find(`0x${"1".repeat(40)}`), () => host.numbers.voices()]) {
      const failure = await use().catch((error: unknown) => error)
      assert.instanceOf(failure, AgentOsError)
      assert.deepInclude(failure, { status: 503, code: "SERVICE_UNAVAILABLE", retryable: true })
    }
    listening.close()
  })
})

describe("a public URL", () => {
  it("may have the path /api, whether or not the router removes it", async () => {
    const host = await createAgentOs({ ...testOptions().options, publicUrl: "http://localhost:8080/api/" })
    for (const [path, status] of [
      ["/api/api/v1", 200],
      ["/api/v1", 200],
      ["/api/llms.txt", 200],
      ["/llms.txt", 200],
      ["/v1", 404]
    ] as const) {
      assert.strictEqual((await host.fetch(new Request(`http://localhost:8080${path}`))).status, status, path)
    }
    assert.lengthOf(host.operations.prices(), 11)
    await host.close()
  })

  it("is https, or http on this machine; invalid options are named together", async () => {
    const { options } = testOptions()
    const failure = await createAgentOs({
      ...options,
      publicUrl: "http://agents.example.com",
      keys: "1:short",
      mail: { domain: "nowhere", send: () => undefined },
      trustedProxies: ["everyone"],
      signInOrigins: ["everyone"],
      operatorToken: "short"
    }).catch((error: unknown) => error)
    const { issues } = failure as { readonly issues: ReadonlyArray<string> }
    assert.deepStrictEqual(
      issues.map((issue) => issue.split(" ")[0]),
      ["publicUrl", "keys", "trustedProxies", "signInOrigins", "mail.domain", "operatorToken"]
    )
    for (const publicUrl of ["http://localhost", "http://127.0.0.1:1", "https://agents.example.com/a"]) {
      await (await createAgentOs({ ...options, publicUrl })).close()
    }
  })

  it("opens no port and reads no variable of AgentOS", async () => {
    const read: Array<string> = []
    const { env } = process
    process.env = new Proxy(env, {
      get: (target, name: string) => {
        read.push(name)
        return target[name]
      }
    })
    try {
      const servers = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length
      const before = servers()
      const host = await createAgentOs(testOptions().options)
      assert.strictEqual(servers(), before)
      await host.close()
    } finally {
      process.env = env
    }
    assert.deepStrictEqual(
      read.filter((name) => /^(?:AGENTOS|DATABASE|TWILIO|SMTP)_?/.test(name)),
      []
    )
  })
})
