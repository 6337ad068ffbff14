import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { rolldown } from "rolldown"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { hasChromium, launchChromium, skipReason } from "../support/Chromium.ts"
import { sendMail } from "../support/ClientRig.ts"
import { startRelaySite } from "../support/RelaySite.ts"
import { useSandbox } from "../support/useSandbox.ts"
import type { Bought, Corresponded, Purchase } from "./browserPage.ts"

const host = useSandbox()

let pages: Server
let browser: Browser

const bundledScript = async (): Promise<string> => {
  const build = await rolldown({
    input: fileURLToPath(new URL("browserPage.ts", import.meta.url)),
    platform: "browser",
    logLevel: "silent"
  })
  try {
    const [chunk] = (await build.generate({ format: "iife", codeSplitting: false })).output
    return chunk.code
  } finally {
    await build.close()
  }
}

/** Serves the page from an origin other than that of the service. */
const servePage = async (): Promise<void> => {
  const script = await bundledScript()
  pages = createServer((request, response) => {
    const isScript = request.url === "/script.js"
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html")
    response.end(isScript ? script : '<!doctype html><meta charset="utf-8"><script src="/script.js"></script>')
  })
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve))
}

describe.skipIf(!hasChromium)(`a page in a browser${skipReason}`, () => {
  beforeAll(async () => {
    if (!hasChromium) return
    await servePage()
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    pages?.close()
  })

  it("on another origin pays with a stock client, and reads the receipt and the token's resources", async () => {
    const page = await browser.newPage()
    const { port } = pages.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/`)
    const { baseUrl, chain, wallets } = host.sandbox
    const wallet = wallets[0]!
    const purchase: Purchase = {
      baseUrl,
      privateKey: wallet.privateKey,
      network: chain.network as Purchase["network"],
      asset: chain.asset,
      localPart: freshName()
    }
    const { amount, result } = await host.chain.charged(wallet.address, () =>
      page.evaluate<Bought, Purchase>((asked) => Reflect.get(globalThis, "buyMailbox")(asked), purchase)
    )
    expect([result.status, amount]).toEqual([201, 250_000n])
    expect(result.receipt).not.toBeNull()
    expect(result.requestId).not.toBeNull()
    expect(result.listed).toContain(result.address)
  })

  it("on another origin buys a mailbox with the client, and answers a mail that arrives meanwhile", async () => {
    const page = await browser.newPage()
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    const { port } = pages.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/`)
    await page.exposeFunction("receiveMail", (address: string) =>
      sendMail(host.sandbox, address, { subject: "Are you there?", text: "Hello?" })
    )
    const { baseUrl, wallets } = host.sandbox
    const wallet = wallets[1]!
    const purchase = { baseUrl, privateKey: wallet.privateKey, localPart: freshName() }
    const { amount, result } = await host.chain.charged(wallet.address, () =>
      page.evaluate<Corresponded, typeof purchase>(
        (asked) => Reflect.get(globalThis, "correspond")(asked, Reflect.get(globalThis, "receiveMail")),
        purchase
      )
    )
    expect([result.address, amount, result.spent]).toEqual([
      `${purchase.localPart}@${host.sandbox.emailDomain}`,
      270_000n,
      "0.27"
    ])
    expect(result.subjects).toEqual(["Are you there?", "Re: Are you there?"])
    expect(result.refusal).toEqual(["INVALID_REQUEST", expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect(problems).toEqual([])
  })

  it("pays a site that relays our challenge, which gets neither a token nor mail", async () => {
    const agent = host.agent(2)
    const own = await agent.createMailbox(freshName())
    const { baseUrl, chain, wallets } = host.sandbox
    const { privateKey } = wallets[2]!
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)

    const stock = await startRelaySite(baseUrl)
    const asked = { baseUrl: stock.url, privateKey, network: chain.network, asset: chain.asset }
    const sold = await page.evaluate<string, typeof asked>((order) => Reflect.get(globalThis, "buyFrom")(order), asked)
    expect(sold).toBe('{"weather":"sunny"}')
    const [taken] = stock.loot
    expect(taken?.status).toBe(201)
    expect(taken?.bought.data?.authentication.accessToken).toBeUndefined()
    expect(taken?.text).not.toContain("at_v1_")
    expect(taken?.text).not.toContain(own.mailboxId)

    const ours = await startRelaySite(baseUrl)
    const order = { baseUrl: ours.url, privateKey, localPart: freshName() }
    const { amount, result } = await host.chain.charged(agent.account.address, () =>
      page.evaluate<string, typeof order>((given) => Reflect.get(globalThis, "createAt")(given), order)
    )
    // The site answers with the weather, which is no answer to a purchase.
    expect([amount, result]).toEqual([0n, "PAYMENT_OUTCOME_UNKNOWN"])
    expect(ours.loot.map(({ bought, status }) => [status, bought.error?.code])).toEqual([[402, "PAYMENT_REQUIRED"]])
  })
})
