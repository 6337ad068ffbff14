import { renderMermaidSVG } from "beautiful-mermaid"

const FENCE = /```mermaid title="([^"]*)"\n([^]*?)\n```/g

/** The colors are those of the theme, so that a diagram changes with it. */
const COLORS = {
  bg: "var(--sl-color-bg)",
  fg: "var(--sl-color-text)",
  muted: "var(--sl-color-text)",
  line: "var(--sl-color-gray-3)",
  border: "var(--sl-color-gray-4)",
  surface: "var(--sl-color-gray-6)",
  transparent: true
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

/** Makes the ids of one diagram different from those of others in the page. */
const scoped = (svg: string, prefix: string): string =>
  svg.replaceAll(/ id="([^"]+)"/g, ` id="${prefix}-$1"`).replaceAll(/url\(#([^)]+)\)/g, `url(#${prefix}-$1)`)

/** The library imports a font from another host. */
const withoutImport = (svg: string): string => svg.replaceAll(/@import url\([^)]*\);/g, "").replaceAll("'Inter', ", "")

const figure = (title: string, source: string, index: number): string => {
  const svg = scoped(withoutImport(renderMermaidSVG(source, COLORS)), `diagram-${index}`)
    .replace("<svg ", `<svg role="img" aria-label="${escaped(title)}" `)
    // Markdown ends a block of HTML at an empty line.
    .replaceAll(/\n\s*\n/g, "\n")
  return `<figure class="diagram" tabindex="0" role="group" aria-label="${escaped(title)}">\n${svg}\n</figure>`
}

/** Replaces the mermaid blocks of a page, which the Markdown twin keeps, by their drawings. */
export const drawDiagrams = (markdown: string): string => {
  let index = 0
  return markdown.replaceAll(FENCE, (_, title: string, source: string) => figure(title, source, (index += 1)))
}
