import { ICON } from "@agentos/api"
import { stringify } from "yaml"
import { document } from "./Contract.ts"
import { drawDiagrams } from "./Diagrams.ts"
import { guide } from "./Guides.ts"
import type { Page } from "./Page.ts"
import { groups } from "./Site.ts"
import { llmsFull, llmsIndex, twin } from "./Texts.ts"
import { TOPIC_SCRIPT } from "./Topics.ts"

/** Text by path. */
export type Files = ReadonlyMap<string, string>

/** Returns the files of the site that are not HTML, below its root. */
export const textFiles = (): Files => {
  const all = groups()
  const pages = [...all.flatMap((group) => group.pages), guide("api")]
  return new Map([
    ["llms.txt", llmsIndex(all)],
    ["llms-full.txt", llmsFull(all)],
    ["docs/openapi.json", `${JSON.stringify(document, null, 2)}\n`],
    ...pages.map((page) => [`docs/${page.slug}.md`, twin(page)] as const)
  ])
}

/** The start page and that of unknown paths have no twin: an agent gets the index. */
const hasTwin = ({ slug }: Page): boolean => slug !== "start" && slug !== "404"
const twinPathOf = (page: Page): string => (hasTwin(page) ? `/docs/${page.slug}.md` : "/llms.txt")

const CODE_OR_TABLE = /^```[^]*?^```$|(?:^\|.*\n?)+/gm

/** Puts each table into an element that scrolls and that the keyboard reaches. */
const withScrollableTables = (markdown: string): string =>
  markdown.replaceAll(CODE_OR_TABLE, (block) =>
    block.startsWith("|")
      ? `<div class="table" tabindex="0" role="group" aria-label="Table">\n\n${block.trimEnd()}\n\n</div>\n`
      : block
  )

/** Returns a page as Astro reads it. */
const astroPage = (page: Page): string => {
  const script = page.slug === "index" ? [{ tag: "script", attrs: { type: "module" }, content: TOPIC_SCRIPT }] : []
  const front = {
    ...page.front,
    title: page.title,
    description: page.description,
    head: [
      { tag: "link", attrs: { rel: "alternate", type: "text/markdown", href: twinPathOf(page) } },
      ...script,
      ...(page.front?.head ?? [])
    ]
  }
  const markdown = withScrollableTables(drawDiagrams(page.markdown))
  const link = !hasTwin(page) ? "" : `\n\n[This page as Markdown](${twinPathOf(page)})`
  return `---\n${stringify(front)}---\n\n${markdown}${link}\n`
}

/** Returns the sources of Astro: the pages, the navigation and the icon. */
export const astroFiles = (): Files => {
  const all = groups()
  const sidebar = all.map(({ label, pages }) => ({
    label: label.replace(/^Reference: /, ""),
    isReference: label.startsWith("Reference: "),
    items: pages.map(({ slug, title }) => ({ label: title, slug }))
  }))
  const pages = [...all.flatMap((group) => group.pages), guide("api"), guide("start"), guide("404")]
  return new Map([
    ["public/favicon.svg", ICON],
    ["sidebar.json", JSON.stringify(sidebar)],
    ...pages.map((page) => [`content/${page.slug}.md`, astroPage(page)] as const)
  ])
}
