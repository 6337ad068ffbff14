import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { get } from "node:http"
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

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

/** Sends a target as it is written, where clients would resolve its dots. */
const statusOf = (target: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port: server.port, path: target }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on("error", reject)
  })

describe("the documentation", () => {
  it("serves pages as HTML with the origin of the server", async () => {
    const { headers, status, text } = await read("/docs/pay", { accept: BROWSER })
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
    assert.include(text, 'href="http://agentos.test/docs/pay"')
    assert.notInclude(text, "agentos.example")
  })

  it("serves the Markdown twin of a page at its address with .md, and to clients that prefer Markdown", async () => {
    for (const [path, accept] of [
      ["/docs/pay.md", "*/*"],
      ["/docs/pay", "text/markdown"],
      ["/docs/pay", "text/markdown, text/html;q=0.5"]
    ] as const) {
      const { headers, text } = await read(path, { accept })
      assert.strictEqual(headers.get("content-type"), "text/markdown; charset=utf-8")
      assert.strictEqual(text, "# How to pay\n\n> curl http://agentos.test/api/v1\n")
      assert.include(headers.get("vary"), "Accept")
    }
    assert.strictEqual((await read("/docs", { accept: "text/markdown" })).text, "# Documentation\n")
    assert.strictEqual((await read("/docs.md")).text, "# Documentation\n")
  })

  it("answers the root with a start page for browsers, the index for agents, and the API description for others", async () => {
    assert.include((await read("/", { accept: BROWSER })).text, "<title>Start</title>")
    assert.strictEqual((await read("/", { accept: "text/markdown" })).text, (await read("/llms.txt")).text)
    for (const accept of ["*/*", "application/json"]) {
      const { data } = JSON.parse((await read("/", { accept })).text) as { readonly data: { readonly name: string } }
      assert.strictEqual(data.name, "AgentOS")
    }
  })

  it("compresses files as the client accepts, and answers 304 for a file that it has", async () => {
    const plain = await read("/docs/pay", { "accept-encoding": "identity" })
    assert.isNull(plain.headers.get("content-encoding"))
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"]
    ] as const) {
      const answer = await read("/docs/pay", { "accept-encoding": accepted })
      assert.strictEqual(answer.headers.get("content-encoding"), encoding)
      assert.strictEqual(answer.text, plain.text)
      const etag = answer.headers.get("etag") ?? ""
      assert.strictEqual((await read("/docs/pay", { "if-none-match": etag })).status, 304)
    }
  })

  it("sends a file that is not text as it is", async () => {
    const answer = await read("/docs/search.pf_meta", { "accept-encoding": "gzip, br" })
    assert.isNull(answer.headers.get("content-encoding"))
    assert.strictEqual(answer.headers.get("content-type"), "application/octet-stream")
    assert.strictEqual(answer.text, "index\n")
  })

  it("lets clients keep files whose name has their hash, and revalidate the others", async () => {
    const asset = await read("/docs/_astro/page.0a1b2c.js")
    assert.strictEqual(asset.headers.get("content-type"), "text/javascript; charset=utf-8")
    assert.strictEqual(asset.headers.get("cache-control"), "public, max-age=31536000, immutable")
    assert.strictEqual((await read("/docs/pay")).headers.get("cache-control"), "public, max-age=300")
  })

  it("allows a page the scripts in it by their hashes, and nothing from another host", async () => {
    const { headers, text } = await read("/docs")
    const [, script = ""] = /<script>([^<]*)<\/script>/.exec(text) ?? []
    const policy = headers.get("content-security-policy") ?? ""
    assert.include(policy, `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
    assert.include(policy, "default-src 'none'")
    assert.notInclude(policy, "http")
  })

  it("has no file outside its folder, whatever the path", async () => {
    for (const target of [
      "/docs/nowhere",
      "/docs/../../outside.txt",
      "/docs/..%2f..%2foutside.txt",
      "/docs/%2e%2e/%2e%2e/outside.txt",
      "/docs/..%5c..%5coutside.txt",
      "/docs//etc/passwd",
      "/docs/%00"
    ]) {
      assert.strictEqual(await statusOf(target), 404, target)
    }
    assert.strictEqual(errorOf(await read("/docs/nowhere")).code, "RESOURCE_NOT_FOUND")
  })

  it("answers a browser for an unknown path with a page", async () => {
    for (const path of ["/nowhere", "/docs/nowhere", "/docs/nowhere.css", "/api/v1/nowhere"]) {
      const { headers, status, text } = await read(path, { accept: BROWSER })
      assert.deepStrictEqual([status, headers.get("content-type")], [404, "text/html; charset=utf-8"], path)
      assert.include(text, "<title>Page not found</title>")
      assert.include(headers.get("content-security-policy"), "default-src 'none'")
      assert.include(headers.get("vary"), "Accept")
    }
    assert.isTrue(server.logs.some((line) => line.includes("/nowhere") && line.includes("RESOURCE_NOT_FOUND")))
  })

  it("answers a browser for an unknown path with a short page while the site is built, and after its build failed", async () => {
    for (const pages of [
      () => new Promise<string>(() => undefined),
      () => Promise.reject(new Error("The disk is full."))
    ]) {
      const building = await startServer({ site: { ...testSite, pages } })
      const { status, text } = await read("/nowhere", { accept: BROWSER }, building)
      assert.strictEqual(status, 404)
      assert.include(text, 'href="http://agentos.test/docs"')
      await building.stop()
    }
  })

  it("names the index to an agent that reads an unknown page in Markdown", async () => {
    for (const [path, accept] of [
      ["/docs/nowhere.md", "*/*"],
      ["/docs/nowhere", "text/markdown"]
    ] as const) {
      const { headers, status, text } = await read(path, { accept })
      assert.deepStrictEqual([status, headers.get("content-type")], [404, "text/markdown; charset=utf-8"], path)
      assert.include(text, "http://agentos.test/llms.txt")
    }
  })

  it("answers other clients for an unknown path with an error", async () => {
    for (const [path, accept] of [
      ["/nowhere", "*/*"],
      ["/docs/nowhere", "*/*"],
      ["/docs/nowhere", "application/json"],
      ["/docs/nowhere.md", "application/json"]
    ] as const) {
      assert.strictEqual(errorOf(await read(path, { accept })).code, "RESOURCE_NOT_FOUND", path)
    }
    const posted = await call(server, "POST", "/nowhere", { headers: { accept: BROWSER } })
    assert.strictEqual(errorOf(posted).code, "RESOURCE_NOT_FOUND")
  })

  it("redirects an address with a slash at its end", async () => {
    const answer = await fetch(`${server.url}/docs/pay/`, { redirect: "manual" })
    assert.deepStrictEqual([answer.status, answer.headers.get("location")], [308, "http://agentos.test/docs/pay"])
  })

  it("puts the path of the public URL before its addresses", async () => {
    const mounted = await startServer({ publicUrl: "https://agents.example.com/api" })
    const { text } = await read("/", { accept: BROWSER }, mounted)
    assert.include(text, 'href="/api/docs/favicon.svg"')
    assert.include(text, '<a href="/api/docs">')
    await mounted.stop()
  })

  it("tells browsers to come back while the pages are built, and serves texts meanwhile", async () => {
    let finish = (_folder: string): void => undefined
    const pages = () => new Promise<string>((resolve) => (finish = resolve))
    const building = await startServer({ site: { ...testSite, pages } })
    const early = await read("/docs/pay", { accept: BROWSER }, building)
    assert.deepStrictEqual([early.status, early.headers.get("retry-after")], [503, "2"])
    assert.include(early.text, 'http-equiv="refresh"')
    assert.strictEqual((await read("/docs/pay.md", {}, building)).status, 200)
    finish(await testSite.pages())
    assert.strictEqual((await read("/docs/pay", { accept: BROWSER }, building)).status, 200)
    await building.stop()
  })

  it("reports a failed build as an internal error, and tries again", async () => {
    let attempts = 0
    const pages = async () => {
      attempts += 1
      if (attempts === 1) throw new Error("The disk is full.")
      return testSite.pages()
    }
    const failing = await startServer({ site: { ...testSite, pages } })
    assert.strictEqual((await read("/docs/pay", {}, failing)).status, 500)
    assert.isTrue(failing.logs.some((line) => line.includes("The disk is full.")))
    assert.strictEqual((await read("/docs/pay", {}, failing)).status, 200)
    await failing.stop()
  })
})
