import { spawnSync } from "node:child_process"
import { type Browser, chromium, type Page } from "playwright-core"
import { numberToHex, type TypedDataDefinition } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { freshName } from "../support/Agent.ts"
import { sendMail } from "../support/ClientRig.ts"
import { useSandbox } from "../support/useSandbox.ts"
import { startExample } from "./Example.ts"

const executablePath = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim())
  .find((path) => path !== "")
const reason = executablePath === undefined ? " (skipped: install Debian's package chromium)" : ""

const host = useSandbox()

let browser: Browser

/** A wallet of a browser (EIP-1193), which signs only for the selected chain, as MetaMask does. Its key stays outside. */
class InjectedWallet {
  readonly requested: Array<string> = []
  readonly #account: PrivateKeyAccount
  #chainId = 1

  constructor(account: PrivateKeyAccount) {
    this.#account = account
  }

  async request({ method, params = [] }: { method: string; params?: ReadonlyArray<unknown> }): Promise<unknown> {
    this.requested.push(method)
    switch (method) {
      case "eth_requestAccounts":
        return [this.#account.address.toLowerCase()]
      case "eth_chainId":
        return numberToHex(this.#chainId)
      case "wallet_switchEthereumChain":
        this.#chainId = Number((params[0] as { chainId: string }).chainId)
        return null
      case "eth_signTypedData_v4":
        return this.#sign(JSON.parse(params[1] as string) as TypedDataDefinition)
      case "personal_sign":
        return this.#account.signMessage({ message: { raw: params[0] as `0x${string}` } })
      default:
        throw new Error(`the wallet does not support ${method}`)
    }
  }

  #sign(typedData: TypedDataDefinition): Promise<string> {
    if (Number(typedData.domain?.chainId) !== this.#chainId) throw new Error("another chain is selected")
    return this.#account.signTypedData(typedData)
  }
}

describe.skipIf(executablePath === undefined)(`browser-page${reason}`, () => {
  beforeAll(async () => {
    if (executablePath === undefined) return
    // Chromium has no sandbox of its own for root, which containers run as.
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  })
  afterAll(() => browser?.close())

  /** Opens the page in a new profile, which fails the test on an error of the page. */
  const open = async (prepare: (page: Page) => Promise<unknown> = async () => {}): Promise<Page> => {
    const example = startExample("browser-page/src/main.ts", ["--port", "0", "--sandbox", host.file])
    const context = await browser.newContext()
    const page = await context.newPage()
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    onTestFinished(async () => {
      await context.close()
      expect(problems).toEqual([])
    })
    await prepare(page)
    await page.goto(await example.find(/open (\S+)/))
    return page
  }

  const openMailbox = async (page: Page, localPart: string) => {
    await page.getByLabel("Name of the mailbox").fill(localPart)
    await page.getByRole("button", { name: "Open the mailbox" }).click()
    const address = `${localPart}@${host.sandbox.emailDomain}`
    await page.getByRole("status").filter({ hasText: address }).waitFor()
    return address
  }

  it("buys a mailbox with the wallet of the browser, and answers a mail, also after a reload", async () => {
    const account = privateKeyToAccount(host.sandbox.wallets[1]!.privateKey)
    const wallet = new InjectedWallet(account)
    const page = await open(async (opened) => {
      await opened.exposeFunction("walletRequest", wallet.request.bind(wallet))
      await opened.addInitScript(() =>
        Object.assign(globalThis, { ethereum: { request: Reflect.get(globalThis, "walletRequest") } })
      )
    })
    const localPart = freshName()
    const { amount } = await host.chain.charged(account.address, async () => {
      const address = await openMailbox(page, localPart)
      await sendMail(host.sandbox, address, { subject: "Are you there?", text: "<b>Hello?</b>" })
      await page.getByText("<b>Hello?</b>").waitFor()

      // A mail that is not handled yet is shown again.
      await page.reload()
      await openMailbox(page, localPart)
      await page.getByLabel("Answer").fill("I am here.")
      await page.getByRole("button", { name: "Send" }).click()
      await page.getByText("You answered: I am here.").waitFor()
      await page.getByRole("status").filter({ hasText: "spent today: 0.27 USDT" }).waitFor()
    })
    expect(amount).toBe(270_000n)
    expect(wallet.requested.filter((method) => method === "eth_signTypedData_v4")).toHaveLength(2)
    expect(await page.getByRole("alert").textContent()).toBe("")
  })

  it("takes a typed key, and shows why a call failed and whether it cost money", async () => {
    const page = await open()
    await page.getByLabel("Private key").fill(host.sandbox.wallets[2]!.privateKey)
    await page.getByLabel("Name of the mailbox").fill("not valid")
    await page.getByRole("button", { name: "Open the mailbox" }).click()
    const alert = page.getByRole("alert").filter({ hasText: "INVALID_REQUEST" })
    await alert.waitFor()
    expect(await alert.textContent()).toMatch(/^INVALID_REQUEST: localPart must .* Money moved: no\.$/)
    await openMailbox(page, freshName())
  })
})
