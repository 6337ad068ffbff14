import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { withFigures } from "./Figures.ts"
import type { Page } from "./Page.ts"

const CONTENT = new URL("../content/", import.meta.url)

/** Reads a guide: its front matter has the title and the description. */
export const guide = (slug: string): Page => {
  const file = new URL(`${slug}.md`, CONTENT)
  const [, front, markdown] = /^---\n([^]*?)\n---\n([^]*)$/.exec(readFileSync(file, "utf8")) ?? []
  if (front === undefined || markdown === undefined) throw new Error(`${fileURLToPath(file)} has no front matter.`)
  const { description, title, ...more } = parse(front) as Pick<Page, "title" | "description">
  return { slug, title, description, markdown: withFigures(markdown.trim()), front: more }
}
