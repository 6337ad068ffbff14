import { Timestamp, Trace, WebhookClient } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope, Tracer } from "effect"
import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { WebhookClientHttps } from "../../src/webhook/index.ts"
import { type Answering, agentServer } from "./support/AgentServer.ts"

const key = Buffer.from("0123456789abcdef0123456789abcdef")
const secret = (bytes: Buffer) => Redacted.make(`whsec_${bytes.toString("base64")}`)
const id = "01890a5d-ac96-774b-bcce-b302099a8057"

const requestTo = (url: string) => ({
  url,
  id,
  timestamp: Timestamp.Timestamp.make(1_763_712_345_678),
  body: '{"subject":"Grüße"}',
  secrets: [secret(key), secret(Buffer.from("an older key"))]
})

const withClient = <A, E, R>(
  options: WebhookClientHttps.WebhookClientOptions,
  use: (client: WebhookClient["Service"]) => Effect.Effect<A, E, R>
) => Effect.provide(Effect.flatMap(WebhookClient, use), WebhookClientHttps.layer(options))

/** Posts to a server that answers as given. Returns the result and the received requests. */
const posted = (answer: Answering, timeoutMillis = 5_000) =>
  Effect.gen(function* () {
    const { allow, asked, sockets, url } = yield* agentServer(answer)
    const result = yield* withClient({ allow: [allow], timeoutMillis }, (client) =>
      Effect.match(client.post(requestTo(url)), {
        onFailure: ({ message }) => ({ status: null, message }),
        onSuccess: (status) => ({ status, message: null })
      })
    )
    return { ...result, asked, sockets }
  })

const scenario = (name: string, test: Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(name, () => Effect.scoped(test))

describe("WebhookClientHttps", () => {
  const loopback = [{ loopback: "http" }] as const
  const reasonOf = (url: string, allow: WebhookClientHttps.WebhookClientOptions["allow"]) =>
    withClient({ allow }, (client) => client.refusal(url))

  scenario(
    "posts by http to this machine if that is allowed",
    Effect.gen(function* () {
      const paths: Array<string> = []
      const server = createServer((request, response) => {
        paths.push(`${String(request.headers["webhook-id"])} ${request.url}`)
        response.writeHead(204).end()
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => server.close())
      )
      const { port } = server.address() as AddressInfo
      const url = `http://localhost:${port}/hook`
      assert.isUndefined(yield* reasonOf(url, loopback))
      assert.strictEqual(yield* withClient({ allow: loopback }, (client) => client.post(requestTo(url))), 204)
      assert.deepStrictEqual(paths, [`${id} /hook`])
    })
  )

  scenario(
    "sends the traceparent of the trace in which it runs, and none outside of one",
    Effect.gen(function* () {
      const { allow, asked, url } = yield* agentServer((response) => response.writeHead(204).end())
      const post = withClient({ allow: [allow] }, (client) =>
        Effect.andThen(client.post(requestTo(url)), Trace.traceparent)
      )
      const traceparent = yield* Trace.trace("test")(post).pipe(
        Effect.provideService(Trace.TraceRecorder, {
          tracer: Tracer.nativeTracer,
          parentOf: () => undefined,
          admits: () => true
        })
      )
      yield* post
      assert.match(String(traceparent), /^00-[\da-f]{32}-[\da-f]{16}-01$/)
      assert.deepStrictEqual(
        asked.map(({ headers }) => headers["traceparent"] ?? null),
        [traceparent, null]
      )
    })
  )

  scenario(
    "refuses http by default, and to other hosts always",
    Effect.gen(function* () {
      for (const url of ["http://localhost:3000/hook", "http://127.0.0.1/", "http://[::1]:3000/"]) {
        assert.strictEqual(yield* reasonOf(url, undefined), "must begin with https://")
        assert.isUndefined(yield* reasonOf(url, loopback))
      }
      for (const url of [
        "http://agent.example/",
        "http://10.0.0.1:3000/",
        "http://127.agent.example/",
        "http://[::2]/"
      ])
        assert.strictEqual(yield* reasonOf(url, loopback), "must begin with https://, unless its host is this machine")
      // It allows no https URL of this machine.
      assert.isString(yield* reasonOf("https://localhost:3000/", loopback))
      const posted = withClient({}, (client) => client.post(requestTo("http://localhost:3000/hook")))
      assert.strictEqual((yield* Effect.flip(posted)).message, "url must begin with https://.")
    })
  )

  scenario(
    "posts the body once, signed with each secret",
    Effect.gen(function* () {
      const { asked, status } = yield* posted((response) => response.writeHead(202).end("thanks"))
      assert.strictEqual(status, 202)
      assert.lengthOf(asked, 1)
      const { body, headers, method, path } = asked[0]!
      assert.deepStrictEqual([method, path, body], ["POST", "/agent?id=1", '{"subject":"Grüße"}'])
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["webhook-id"], id)
      assert.strictEqual(headers["webhook-timestamp"], "1763712345")
      const signatures = [key, Buffer.from("an older key")].map(
        (bytes) => `v1,${createHmac("sha256", bytes).update(`${id}.1763712345.${body}`).digest("base64")}`
      )
      assert.strictEqual(headers["webhook-signature"], signatures.join(" "))
    })
  )

  for (const status of [200, 301, 307, 400, 410, 500]) {
    scenario(
      `returns the status ${status} and follows nothing`,
      Effect.gen(function* () {
        const answered = yield* posted((response) =>
          response.writeHead(status, { location: "https://127.0.0.1/elsewhere" }).end()
        )
        assert.strictEqual(answered.status, status)
        assert.lengthOf(answered.asked, 1)
      })
    )
  }

  scenario(
    "returns the status of an answer without an end, and closes its connection",
    Effect.gen(function* () {
      const endless: Answering = (response) => {
        response.writeHead(200)
        const more = () => {
          while (response.write("x".repeat(16_384)));
        }
        response.on("drain", more)
        response.on("error", () => undefined)
        more()
      }
      const { sockets, status } = yield* posted(endless)
      assert.strictEqual(status, 200)
      assert.isBelow(sockets[0]!.bytesWritten, 16 * 1024 * 1024)
    })
  )

  scenario(
    "ends at once at an answer of interim responses without end, and closes its connection",
    Effect.gen(function* () {
      const endless: Answering = ({ socket }) => {
        const more = () => {
          while (socket?.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(500)) === true);
        }
        socket?.on("drain", more)
        socket?.on("error", () => undefined)
        more()
      }
      const { message, sockets } = yield* posted(endless)
      assert.strictEqual(message, "The answer of 127.0.0.1 has more than 8 interim responses.")
      assert.isBelow(sockets[0]!.bytesWritten, 16 * 1024 * 1024)
    })
  )

  scenario(
    "fails in time if there is no answer, or one that does not end",
    Effect.gen(function* () {
      const message = "127.0.0.1 did not finish its answer within 0.2 s."
      assert.strictEqual((yield* posted(() => undefined, 200)).message, message)
      assert.strictEqual((yield* posted((response) => void response.writeHead(200).write("x"), 200)).message, message)
    })
  )

  scenario(
    "fails if the connection breaks before the answer",
    Effect.gen(function* () {
      const { message } = yield* posted((response) => response.destroy())
      assert.match(message ?? "", /^The connection to 127\.0\.0\.1 failed \(ECONNRESET\)\.$/)
    })
  )

  scenario(
    "connects to no address that is not public, however its URL or DNS says it",
    Effect.gen(function* () {
      const { allow, sockets } = yield* agentServer((response) => response.end())
      for (const [url, address] of [
        [`https://127.0.0.1:${allow.port}/`, "8.8.8.8"],
        [`https://agent.example:${allow.port}/`, "127.0.0.1"],
        [`https://[::ffff:127.0.0.1]:${allow.port}/`, "8.8.8.8"],
        ["https://localhost/", "8.8.8.8"],
        ["http://agent.example/", "8.8.8.8"]
      ] as const) {
        const resolve = () => Promise.resolve([{ address, family: 4 as const }])
        const [refusal, failure] = yield* withClient({ resolve }, (client) =>
          Effect.all([client.refusal(url), Effect.flip(client.post(requestTo(url)))])
        )
        assert.isDefined(refusal, url)
        assert.notInclude(failure.message, "::", url)
      }
      assert.lengthOf(sockets, 0)
    })
  )
})
