import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { SandboxDescription } from "@agentos/sandbox"
import { Agent } from "../support/Agent.ts"
import { hasChromium, launchChromium, skipReason } from "../support/Chromium.ts"
import { overflow, seriousViolations, watch } from "../support/PageAudit.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

/** The console of operators in a browser. */
const TOKEN = "c".repeat(32)
const WIDTHS = [390, 1440]
const THEMES = ["light", "dark"] as const
/** The folder for screenshots, for people who review them. */
const SCREENSHOTS = process.env["SITE_SCREENSHOTS"]

let sandbox: Sandbox
let described: SandboxDescription
let wallet: string
let browser: Browser

beforeAll(async () => {
  sandbox = await startSandbox({ environment: { AGENTOS_OPERATOR_TOKEN: TOKEN } })
  described = await sandbox.describe()
  const agent = new Agent(described, described.wallets[0]!.privateKey)
  await agent.createMailbox("console")
  wallet = agent.account.address.toLowerCase()
  if (hasChromium) browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await sandbox.stop()
})

/** Opens the console in a window, signs in with the keyboard, does something, and returns what was wrong on the way. */
const operate = async (
  act: (page: Page) => Promise<void>,
  {
    hasClock = false,
    theme = "light",
    token = TOKEN,
    width = 1440
  }: {
    /** Whether time passes only by `page.clock`. */
    hasClock?: boolean
    theme?: (typeof THEMES)[number]
    token?: string
    width?: number
  } = {}
): Promise<ReadonlyArray<string>> => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme })
  context.setDefaultTimeout(60_000)
  const { page, problems } = await watch(context, described.operatorUrl)
  try {
    if (hasClock) await page.clock.install()
    await page.goto(`${described.operatorUrl}/internal/console`)
    await page.getByLabel("Operator's token").focus()
    await page.keyboard.type(token)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await act(page)
    return problems
  } finally {
    await context.close()
  }
}

const open = async (page: Page, title: string): Promise<void> => {
  await page.getByRole("navigation").getByRole("link", { name: title }).click()
  await page.getByRole("heading", { level: 1, name: title }).waitFor()
}

/** Presses a button, completes its dialog, and waits for the result. */
const change = async (
  page: Page,
  label: string,
  fields: Readonly<Record<string, string | { readonly option: string }>> = {}
): Promise<void> => {
  await page.getByRole("button", { name: label, exact: true }).first().click()
  const dialog = page.getByRole("dialog")
  for (const [name, value] of Object.entries(fields)) {
    const field = dialog.getByLabel(name)
    await (typeof value === "string" ? field.fill(value) : field.selectOption(value.option))
  }
  await dialog.getByRole("button", { name: label, exact: true }).click()
  await page
    .getByRole("status")
    .filter({ hasText: `${label}: done.` })
    .waitFor()
}

describe.skipIf(!hasChromium)(`the console in a browser${skipReason}`, () => {
  it.for(WIDTHS.flatMap((width) => THEMES.map((theme) => [width, theme] as const)))(
    "fits %i px in the %s theme, and has no error, foreign request or serious finding of axe",
    async ([width, theme]) => {
      const found: Array<string> = []
      const audit = async (page: Page, name: string): Promise<void> => {
        if (SCREENSHOTS !== undefined) {
          mkdirSync(SCREENSHOTS, { recursive: true })
          await page.screenshot({ path: join(SCREENSHOTS, `console-${name}-${width}-${theme}.png`), fullPage: true })
        }
        // The widths differ in layout, and the themes in colors.
        const isAudited = (theme === "light") === (width === WIDTHS[0])
        const wrong = [...(await overflow(page)), ...(isAudited ? await seriousViolations(page) : [])]
        found.push(...wrong.map((text) => `${name}: ${text}`))
      }
      const problems = await operate(
        async (page) => {
          await audit(page, "overview")
          for (const title of [
            "Operations",
            "Tenants",
            "Mail in",
            "Mail out",
            "Webhooks",
            "Jobs",
            "Selling",
            "Audit",
            "Operators"
          ]) {
            await open(page, title)
            await audit(page, title.toLowerCase())
          }
          await open(page, "Tenants")
          await page.getByRole("link", { name: wallet }).click()
          await page.getByRole("heading", { name: "Calls" }).waitFor()
          await audit(page, "tenant")
          await page.getByRole("button", { name: "Erase" }).click()
          await page.getByRole("dialog").getByText("Waiting mails").waitFor()
          await audit(page, "erase")
          await page.keyboard.press("Escape")
          await page.getByRole("dialog").waitFor({ state: "detached" })
          await open(page, "Operations")
          await page.getByRole("link", { name: /^[0-9a-f-]{36}$/ }).click()
          await page.getByRole("heading", { name: "Timeline" }).waitFor()
          await page.getByText("fulfilled").first().waitFor()
          await audit(page, "operation")
        },
        { theme, width }
      )
      expect([...problems, ...found]).toEqual([])
    }
  )

  it("changes what an operator may change, with its reason in the audit", async () => {
    const problems = await operate(async (page) => {
      await open(page, "Selling")
      await change(page, "Stop selling", {
        "Reason, which customers see": "Maintenance.",
        "Reason, for the audit": "disk"
      })
      await page.getByRole("cell", { name: "Maintenance." }).waitFor()
      await change(page, "Sell again")
      await page.getByText("Nothing.").waitFor()

      await open(page, "Tenants")
      await page.getByRole("searchbox").or(page.getByLabel("Wallet, id, mailbox or number")).first().fill("console")
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: wallet }).click()
      await change(page, "Suspend", { "Reason, which the tenant sees": "Spam.", "Reason, for the audit": "complaint" })
      await change(page, "Resume")

      await open(page, "Jobs")
      await change(page, "Run now")

      await open(page, "Audit")
      for (const text of [
        "sales.stop",
        "sales.start",
        "tenant.suspend",
        "tenant.resume",
        "job.run",
        "disk",
        "complaint"
      ])
        await page.getByRole("cell", { name: text, exact: true }).first().waitFor()
    })
    expect(problems).toEqual([])
  })

  it("shows the token of a new operator once, and what a role refuses", async () => {
    let token = ""
    const problems = await operate(async (page) => {
      await open(page, "Operators")
      await change(page, "Add an operator", { Name: "reader", Role: { option: "read" } })
      token = (await page.getByText(/^[0-9a-f]{64}$/).textContent()) ?? ""
      await page.getByRole("link", { name: "Done" }).click()
      await page.getByRole("cell", { name: "reader" }).waitFor()
      expect(await page.content()).not.toContain(token)
    })
    expect(problems).toEqual([])
    const refused = await operate(
      async (page) => {
        await open(page, "Selling")
        await page.getByRole("button", { name: "Sell again" }).click()
        await page.getByRole("dialog").getByRole("button", { name: "Sell again" }).click()
        await page.getByRole("alert").filter({ hasText: "reader" }).waitFor()
      },
      { token }
    )
    expect(refused.filter((problem) => !problem.includes("403"))).toEqual([])
    expect(refused).toContain(`403: ${described.operatorUrl}/internal/selling/start`)
  })

  it("reads a page again every five seconds, but not while it shows a new token", async () => {
    const problems = await operate(
      async (page) => {
        await open(page, "Operators")
        const isReadAgain = page.waitForRequest(/internal\/operators$/)
        await page.clock.runFor(5_000)
        await isReadAgain

        await change(page, "Add an operator", { Name: "kept", Role: { option: "read" } })
        const token = page.getByText(/^[0-9a-f]{64}$/)
        await token.click()
        let reads = 0
        page.on("request", () => reads++)
        await page.clock.runFor(20_000)
        await page.evaluate(() => fetch("api.js"))
        expect(reads).toBe(1)
        expect(await token.isVisible()).toBe(true)
      },
      { hasClock: true }
    )
    expect(problems).toEqual([])
  })

  it("takes a reason in any script", async () => {
    const reason = "Wartung für Łódź – 保守"
    const problems = await operate(async (page) => {
      await open(page, "Selling")
      await change(page, "Sell again", { "Reason, for the audit": reason })
      await open(page, "Audit")
      await page.getByRole("cell", { name: reason, exact: true }).waitFor()
    })
    expect(problems).toEqual([])
  })

  it("says that a change whose answer was lost may have been made, and offers no repetition", async () => {
    await operate(async (page) => {
      await open(page, "Selling")
      await page.route("**/selling/start", (route) => route.abort())
      await page.getByRole("button", { name: "Sell again" }).click()
      const confirm = page.getByRole("dialog").getByRole("button", { name: "Sell again" })
      await confirm.click()
      await page.getByRole("alert").filter({ hasText: "may have made the change" }).waitFor()
      expect(await confirm.isDisabled()).toBe(true)
    })
  })

  it("asks again for a token that the server refuses", async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${described.operatorUrl}/internal/console/`)
    await page.getByLabel("Operator's token").fill("wrong")
    await page.keyboard.press("Enter")
    await page.getByRole("status").filter({ hasText: "Operator token required" }).waitFor()
    expect(await page.getByLabel("Operator's token").inputValue()).toBe("")
    await context.close()
  })
})

describe("the files of the console", () => {
  it("are served by the private listener alone, and hold no data", async () => {
    const { headers, status } = await fetch(`${described.operatorUrl}/internal/console/`)
    expect(status).toBe(200)
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'")
    for (const path of ["console", "console/", "console/main.js"])
      expect((await fetch(`${described.baseUrl}/internal/${path}`)).status).toBe(404)
    for (const path of ["console/tsconfig.json", "console/../jobs", "console/.."])
      expect((await fetch(`${described.operatorUrl}/internal/${path}`)).status).not.toBe(200)
  })
})
