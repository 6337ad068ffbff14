import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { freshName } from "../../support/Agent.ts"
import { sendMail } from "../../support/ClientRig.ts"
import { useSandbox } from "../../support/useSandbox.ts"
import { freePort } from "../../packed/Client.ts"
import { findBrowsers } from "./Browsers.ts"
import type { Order, Outcome } from "./journey.ts"
import { installRuntimes, type RuntimeFolder } from "./RuntimeFolder.ts"

/** The packed client, in each runtime that it is for. */
const host = useSandbox()

/** An installation, and its removal, take minutes on a busy machine. */
const INSTALL_MILLIS = 500_000
let folder: RuntimeFolder

/** Serves pages, receives their results, and makes a person outside write a mail. */
const pages = new Map<string, string>()
const results = new Map<string, PromiseWithResolvers<string>>()
const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const path = request.url ?? ""
  const body = await text(request)
  response.setHeader("Access-Control-Allow-Origin", "*")
  if (path === "/mail") await sendMail(host.sandbox, body, { subject: "Are you there?", text: "Your code is 482913." })
  if (path.startsWith("/moved")) response.writeHead(302, { Location: host.sandbox.baseUrl })
  results.get(path)?.resolve(body)
  if (!response.headersSent)
    response.setHeader("Content-Type", path.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8")
  response.end(pages.get(path))
}
const site = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
})
const siteUrl = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`

beforeAll(async () => {
  site.listen(0, "127.0.0.1")
  await once(site, "listening")
  folder = await installRuntimes()
}, INSTALL_MILLIS)
afterAll(() => {
  site.close()
  site.closeAllConnections()
  folder?.remove()
}, INSTALL_MILLIS)

const BROWSERS = await findBrowsers()
afterAll(() => Promise.all(BROWSERS.map(({ close }) => close())), INSTALL_MILLIS)

const newOrder = (): Order => ({
  baseUrl: host.sandbox.baseUrl,
  privateKey: host.sandbox.wallets[0]!.privateKey,
  localPart: freshName(),
  mailUrl: `${siteUrl()}/mail`,
  movedUrl: `${siteUrl()}/moved`
})

const outcomeOf = ({ localPart }: Order): Outcome => {
  const address = `${localPart}@${host.sandbox.emailDomain}`
  const subjects = ["Are you there?", "Re: Are you there?"]
  return {
    address,
    listed: [address],
    subjects,
    code: "482913",
    spent: "0.27",
    refusal: ["INVALID_REQUEST", 400],
    moved: expect.stringMatching(/^UNEXPECTED_ANSWER: \S+ redirects( to \S+)?\. Redirects are not followed/) as string
  }
}

/** Returns the outcome in a report, which is an error if the journey failed. */
const reported = (report: string): Outcome => {
  if (!report.startsWith("{")) throw new Error(report)
  return JSON.parse(report) as Outcome
}

/** Reports a journey on the standard output. */
const program = (order: Order, lines = "", wallet = "undefined"): string => `
${lines}
const { journey } = await import("./journey.mjs")
console.log(JSON.stringify(await journey(${JSON.stringify(order)}, ${wallet})))
`

const PROGRAMS: ReadonlyArray<readonly [string, () => ReadonlyArray<string>]> = [
  ["Node 22", () => [folder.program("node-22/bin/node")]],
  ["Node 24", () => [process.execPath]],
  ["Bun", () => [folder.program(".bin/bun"), "run"]],
  ["Deno", () => [folder.program(".bin/deno"), "run", "--allow-all"]]
]

describe("the packed client buys a mailbox, reads, and answers a mail that it receives", () => {
  it.each(PROGRAMS)("in %s", async (_, command) => {
    const order = newOrder()
    const [runtime = "", ...parameters] = command()
    process.stdout.write(`${await folder.run(runtime, "--version")}`)
    const file = folder.write(`${order.localPart}.mjs`, program(order))
    expect(JSON.parse(await folder.run(runtime, ...parameters, file))).toEqual(outcomeOf(order))
  })

  it("in workerd, the runtime of Cloudflare Workers", async () => {
    const order = newOrder()
    const port = await freePort()
    folder.write(
      "worker.mjs",
      `import { journey } from "./journey.mjs"
      export default {
        fetch: async (request) => {
          try {
            return Response.json(await journey(await request.json()))
          } catch (error) {
            return new Response(String(error?.stack ?? error), { status: 500 })
          }
        }
      }`
    )
    folder.write("worker.js", await folder.bundle("worker.mjs", "esm"))
    folder.write(
      "worker.capnp",
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [
          (name = "main", worker = .main),
          (name = "internet", network = (allow = ["local"]))
        ],
        sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
      );
      const main :Workerd.Worker = (
        modules = [(name = "worker", esModule = embed "worker.js")],
        compatibilityDate = "2026-06-01"
      );`
    )
    const workerd = folder.program(".bin/workerd")
    process.stdout.write(await folder.run(workerd, "--version"))
    const printed = await folder.during([workerd, "serve", "worker.capnp"], async () => {
      const request = { method: "POST", body: JSON.stringify(order) }
      const response = await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`, request), { timeout: 20_000 })
      return response.text()
    })
    expect(reported(printed)).toEqual(outcomeOf(order))
  })

  for (const { name, open, title } of BROWSERS)
    it.skipIf(open === undefined)(`in a page in ${title}`, async () => {
      const order = newOrder()
      folder.write(
        "page.mjs",
        `import { journey } from "./journey.mjs"
        const report = (text) => fetch("/result/${name}", { method: "POST", body: text })
        journey(${JSON.stringify(order)}).then(JSON.stringify, (error) => error?.stack ?? String(error)).then(report)`
      )
      pages.set(`/${name}.js`, await folder.bundle("page.mjs", "iife"))
      pages.set(`/${name}`, `<!doctype html><meta charset="utf-8"><script src="/${name}.js"></script>`)
      const result = Promise.withResolvers<string>()
      results.set(`/result/${name}`, result)
      const printed = await open!(folder, `${siteUrl()}/${name}`, () => result.promise)
      expect(reported(printed)).toEqual(outcomeOf(order))
    })
})

describe("the packed client beside other libraries", () => {
  it("pays by a wallet of ethers", async () => {
    const order = newOrder()
    const wallet = `new Wallet(${JSON.stringify(order.privateKey)})`
    const file = folder.write("ethers.mjs", program(order, `import { Wallet } from "ethers"`, wallet))
    expect(JSON.parse(await folder.run(process.execPath, file))).toEqual(outcomeOf(order))
  })

  it("pays within its own limits in a process whose global fetch mppx has replaced", async () => {
    const order = newOrder()
    const account = `privateKeyToAccount(${JSON.stringify(order.privateKey)})`
    const replace = `
      import { Mppx, tempo } from "mppx/client"
      import { privateKeyToAccount } from "viem/accounts"
      Mppx.create({ methods: [tempo({ account: ${account} })] })`
    const file = folder.write("mppx.mjs", program(order, replace))
    expect(JSON.parse(await folder.run(process.execPath, file))).toEqual(outcomeOf(order))
  })
})

describe("the packed client in Node 20", () => {
  const node20 = () => folder.program("node-20/bin/node")

  it("says before it pays that it needs a WebSocket, in a few readable lines", async () => {
    const order = newOrder()
    const file = folder.write("node20.mjs", program(order))
    const { stderr } = await folder.run(node20(), file).then(
      () => Promise.reject(new Error("the program succeeded")),
      (error: unknown) => error as { readonly stderr: string }
    )
    expect(stderr).toContain(
      "AgentOsError: This environment has no WebSocket, over which mail, calls and events arrive."
    )
    expect(stderr).toContain("Use Node 22 or later, or pass WebSocket of the package ws")
    expect(stderr.length).toBeLessThan(2_000)
  })

  it("works with WebSocket of ws", async () => {
    const order = newOrder()
    const file = folder.write(
      "node20-ws.mjs",
      program(order, `import { WebSocket } from "ws"\nglobalThis.WebSocket = WebSocket`)
    )
    expect(JSON.parse(await folder.run(node20(), file))).toEqual(outcomeOf(order))
  })
})
