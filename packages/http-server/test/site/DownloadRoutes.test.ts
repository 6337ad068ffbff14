import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { call, errorOf } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"
import { testSite } from "../support/TestSite.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const read = (path: string, headers: Readonly<Record<string, string>> = {}, from = server) =>
  call(from, "GET", path, { headers })

interface Listed {
  readonly url: string
  readonly file: string
  readonly sha256: string
  readonly integrity: string
}

const index = async (): Promise<ReadonlyArray<Listed>> =>
  (JSON.parse((await read("/downloads")).text) as { readonly packages: ReadonlyArray<Listed> }).packages

describe("the packages for download", () => {
  it("are listed with their addresses and the hashes of the served files", async () => {
    const [listed] = await index()
    assert.strictEqual(listed?.url, "http://agentos.test/downloads/agentos-client-0.1.0.tgz")
    const { headers, text } = await read(`/downloads/${listed?.file}`)
    assert.strictEqual(headers.get("content-type"), "application/gzip")
    assert.strictEqual(listed?.sha256, createHash("sha256").update(text).digest("hex"))
    assert.strictEqual(listed?.integrity, `sha512-${createHash("sha512").update(text).digest("base64")}`)
  })

  it("are listed in a page for browsers, with the same hashes", async () => {
    const [listed] = await index()
    const { headers, text } = await read("/downloads", { accept: "text/html,*/*;q=0.8" })
    assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
    for (const part of ["url", "sha256", "integrity"] as const) assert.include(text, listed?.[part] ?? "none")
  })

  it("have an address without their version, and an entity tag", async () => {
    const named = await read("/downloads/agentos-client-0.1.0.tgz")
    const newest = await read("/downloads/agentos-client.tgz")
    assert.strictEqual(newest.text, named.text)
    const etag = named.headers.get("etag") ?? ""
    assert.match(etag, /^"/)
    assert.strictEqual((await read("/downloads/agentos-client.tgz", { "if-none-match": etag })).status, 304)
  })

  it("include no other file of the folder", async () => {
    for (const path of ["/downloads/stray.txt", "/downloads/index.json", "/downloads/..%2fllms.txt", "/downloads/"]) {
      assert.strictEqual(errorOf(await read(path)).code, "RESOURCE_NOT_FOUND", path)
    }
  })

  it("are packed once for readers at the same time", async () => {
    const asked = Promise.withResolvers<void>()
    const packed = Promise.withResolvers<string>()
    let attempts = 0
    const downloads = () => {
      attempts += 1
      asked.resolve()
      return packed.promise
    }
    const packing = await startServer({ site: { ...testSite, downloads } })
    const readers = [1, 2, 3].map(() => read("/downloads", {}, packing))
    await asked.promise
    packed.resolve(await testSite.downloads())
    assert.deepStrictEqual(
      (await Promise.all(readers)).map(({ status }) => status),
      [200, 200, 200]
    )
    assert.strictEqual(attempts, 1)
    await packing.stop()
  })

  it("answer 503 with the reason if they could not be packed, and are packed again for the next reader", async () => {
    let attempts = 0
    const downloads = async () => {
      attempts += 1
      if (attempts === 1) throw new Error("The disk is full.")
      return testSite.downloads()
    }
    const failing = await startServer({ site: { ...testSite, downloads } })
    const refused = await read("/downloads/agentos-client.tgz", {}, failing)
    assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "5"])
    const { code, message } = errorOf(refused)
    assert.strictEqual(code, "SERVICE_UNAVAILABLE")
    assert.include(message, "could not be packed")
    assert.isTrue(failing.logs.some((line) => line.includes("The disk is full.")))
    assert.strictEqual((await read("/downloads/agentos-client.tgz", {}, failing)).status, 200)
    await failing.stop()
  })
})
