import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hasChromium, launchChromium, skipReason } from "../support/Chromium.ts"
import { overflow, seriousViolations, watch } from "../support/PageAudit.ts"
import { useSandbox } from "../support/useSandbox.ts"

/** The documentation as a server serves it, in a browser. */
const host = useSandbox()

/**
 * The layouts for phones and for desktops differ; widths between them are like one of them. The themes differ in colors alone,
 * so axe sees each theme, and each of the two layouts, once.
 */
const LOOKS = [
  { width: 320, theme: "light", isAudited: true },
  { width: 390, theme: "dark", isAudited: false },
  { width: 768, theme: "light", isAudited: false },
  { width: 1280, theme: "dark", isAudited: true }
] as const
/** One page of each kind, for the checks of the layout. */
const SAMPLES = [
  "/",
  "/docs",
  "/docs/quickstart",
  "/docs/client",
  "/docs/examples",
  "/downloads",
  "/docs/pay",
  "/docs/mail",
  "/docs/deploy"
].concat([
  "/docs/reference/services",
  "/docs/reference/states",
  "/docs/reference/errors",
  "/docs/reference/send-message"
])
/** Before compression. */
const BLOCKING_MAX = { files: 2, bytes: 128 * 1024 }
/** The folder for screenshots, for people who review them. */
const SCREENSHOTS = process.env["SITE_SCREENSHOTS"]

let browser: Browser
beforeAll(async () => {
  if (!hasChromium) return
  browser = await launchChromium()
  // A checkout builds the site for its first reader, and packs the packages for the first reader of their page.
  for (const path of ["/docs/quickstart", "/downloads"])
    expect((await fetch(`${host.sandbox.baseUrl}${path}`)).status).toBe(200)
})
afterAll(() => browser?.close())

/** Visits pages with a width and a theme, and returns what `check` finds wrong with each. */
const visit = async (
  paths: ReadonlyArray<string>,
  width: number,
  theme: "light" | "dark",
  check: (page: Page, path: string) => Promise<ReadonlyArray<string>>
): Promise<ReadonlyArray<string>> => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme })
  context.setDefaultTimeout(60_000)
  const { page, problems } = await watch(context, host.sandbox.baseUrl)
  const found: Array<string> = []
  try {
    for (const path of paths) {
      await page.goto(`${host.sandbox.baseUrl}${path}`, { waitUntil: "load" })
      problems.push(...(await check(page, path)))
      found.push(...problems.splice(0).map((problem) => `${path} at ${width} px, ${theme}: ${problem}`))
    }
    return found
  } finally {
    await context.close()
  }
}

/** Whether scripts have made wide blocks of code focusable, which they do once the browser is idle. */
const BLOCKS_ARE_FOCUSABLE = `[...document.querySelectorAll("pre")].every(
  (block) => block.scrollWidth <= block.clientWidth || block.tabIndex >= 0
)`

/** Waits for blocks of code before an audit, which takes seconds on a long page. Findings must last for seconds, too. */
const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
  for (let tries = 0; tries < 20 && !(await page.evaluate<boolean>(BLOCKS_ARE_FOCUSABLE)); tries++)
    await page.waitForTimeout(100)
  let found = await seriousViolations(page)
  for (let tries = 1; found.length > 0 && tries < 6; tries++) {
    await page.waitForTimeout(500)
    found = await seriousViolations(page)
  }
  return found
}

/** Finds too many or too large files without which the browser paints nothing. The page itself is painted while it arrives. */
const blocking = async (page: Page, path: string): Promise<ReadonlyArray<string>> => {
  const sizes = await page.evaluate<ReadonlyArray<number>>(`performance.getEntriesByType("resource")
    .filter((file) => file.renderBlockingStatus === "blocking")
    .map((file) => file.decodedBodySize)`)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  // The style of a page outside the documentation is in the page.
  const isAsExpected = sizes.length >= (path.startsWith("/docs") ? 1 : 0) && sizes.length <= BLOCKING_MAX.files
  const isLight = isAsExpected && bytes <= BLOCKING_MAX.bytes
  return isLight ? [] : [`the first paint waits for ${sizes.length} files, ${bytes} bytes`]
}

const screenshot = async (page: Page, path: string, width: number, theme: string): Promise<void> => {
  if (SCREENSHOTS === undefined) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  const name = `${path.slice(1).replaceAll("/", "-") || "start"}-${width}-${theme}.png`
  await page.screenshot({ path: join(SCREENSHOTS, name) })
}

describe.skipIf(!hasChromium)(`the documentation in a browser${skipReason}`, () => {
  it.for(LOOKS)(
    "fits $width px in the $theme theme, paints early, and has no error, foreign request or serious finding of axe",
    async ({ isAudited, theme, width }) => {
      const problems = await visit(SAMPLES, width, theme, async (page, path) => {
        await screenshot(page, path, width, theme)
        return [
          ...(await overflow(page)),
          ...(await blocking(page, path)),
          ...(isAudited ? await violations(page) : [])
        ]
      })
      expect(problems).toEqual([])
    }
  )

  it("finds a term by its search, with the keyboard alone", async () => {
    const problems = await visit(["/docs"], 1280, "light", async (page) => {
      await page.locator("button[data-open-modal]:enabled").waitFor()
      // The input exists once the browser is idle.
      await page.locator("dialog input").waitFor({ state: "attached" })
      await page.keyboard.press("Control+k")
      await page.locator("dialog[open] input").waitFor()
      await page.keyboard.type("senderPolicy")
      await page.locator(".pagefind-ui__result-link").first().waitFor()
      await page.keyboard.press("Tab")
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/docs\/.+/)
      return []
    })
    expect(problems).toEqual([])
  })

  it("lets a person search from the page of an unknown path", async () => {
    const problems = await visit(["/nowhere"], 390, "light", async (page, path) => {
      await screenshot(page, path, 390, "light")
      const found = [...(await overflow(page)), ...(await violations(page))]
      await page.locator("button[data-open-modal]:enabled").click()
      await page.locator("dialog[open] input").fill("senderPolicy")
      await page.locator(".pagefind-ui__result-link").first().waitFor()
      return found
    })
    const answer = `404: ${host.sandbox.baseUrl}/nowhere`
    expect(problems.filter((problem) => !problem.includes(answer) && !problem.includes("status of 404"))).toEqual([])
    expect(problems.some((problem) => problem.includes(answer))).toBe(true)
  })

  it("follows the guide of a response to its page", async () => {
    const problems = await visit(["/docs#sending"], 1280, "light", async (page) => {
      await page.waitForURL(`${host.sandbox.baseUrl}/docs/mail#sending`)
      return []
    })
    expect(problems).toEqual([])
  })

  it("shows the OpenAPI document", async () => {
    const problems = await visit(["/docs/api"], 1280, "dark", async (page) => {
      await page.getByText("Download OpenAPI Document").first().waitFor()
      await screenshot(page, "/docs/api", 1280, "dark")
      return overflow(page)
    })
    expect(problems).toEqual([])
  })

  it("links to pages, files and headings that exist", async () => {
    const context = await browser.newContext()
    const { page } = await watch(context, host.sandbox.baseUrl)
    const { baseUrl } = host.sandbox
    const anchors = new Map<string, ReadonlySet<string>>()
    const links = new Map<string, string>()
    const waiting = [`${baseUrl}/`]
    for (const url of waiting) {
      const response = await page.goto(url, { waitUntil: "domcontentloaded" })
      if (response?.headers()["content-type"]?.startsWith("text/html") !== true) continue
      const found = await page.evaluate<{
        readonly ids: ReadonlyArray<string>
        readonly links: ReadonlyArray<string>
      }>(`({
        ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
        links: [...document.querySelectorAll("a[href]")].filter((link) => link.closest("#explorer") === null).map(({ href }) => href)
      })`)
      anchors.set(url, new Set(found.ids))
      for (const link of found.links) {
        const [target = "", fragment] = link.split("#")
        if (!target.startsWith(baseUrl)) continue
        links.set(link, url)
        const isPage = !/\.\w+$/.test(target) && !target.includes("/api/v1")
        if (isPage && !waiting.includes(target)) waiting.push(target)
        if (fragment === undefined && !isPage) anchors.set(target, new Set())
      }
    }
    const broken: Array<string> = []
    for (const [link, from] of links) {
      const [target = "", fragment] = link.split("#")
      const known = anchors.get(target)
      const isAlive =
        known === undefined || known.size === 0
          ? (await fetch(target)).ok
          : fragment === undefined || fragment === "" || known.has(decodeURIComponent(fragment))
      if (!isAlive) broken.push(`${from}: ${link}`)
    }
    await context.close()
    expect(anchors.size).toBeGreaterThan(60)
    expect(broken).toEqual([])
  })
})
