import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { BrowserContext, Page } from "playwright-core"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** A page, with the errors of its console and the requests to other origins. */
export interface Visit {
  readonly page: Page
  readonly problems: Array<string>
}

/** Opens a page of which every error and every request to another origin is a problem. */
export const watch = async (context: BrowserContext, baseUrl: string): Promise<Visit> => {
  const page = await context.newPage()
  const problems: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(`console: ${message.text()}`)
  })
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`))
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== baseUrl && protocol !== "data:" && protocol !== "blob:") problems.push(`request: ${request.url()}`)
  })
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`)
  })
  return { page, problems }
}

/** Finds content that is wider than the window. */
export const overflow = async (page: Page): Promise<ReadonlyArray<string>> => {
  const [content = 0, width = 0] = await page.evaluate<ReadonlyArray<number>>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
  )
  return content > width ? [`${content} px of content in ${width} px`] : []
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

/** Finds what axe takes for serious or critical. */
export const seriousViolations = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe)
  const found = await page.evaluate<ReadonlyArray<Violation>>("axe.run().then(({ violations }) => violations)")
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`)
}
