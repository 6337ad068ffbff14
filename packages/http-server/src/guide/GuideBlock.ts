/** A block of the guide. Texts may contain `code` in backticks and no other markup. */
export type GuideBlock =
  | { readonly text: string }
  | { readonly steps: ReadonlyArray<string> }
  | { readonly points: ReadonlyArray<string> }
  | { readonly code: string }
  | { readonly header: ReadonlyArray<string>; readonly rows: ReadonlyArray<ReadonlyArray<string>> }

/** A section of the guide. The catalog links to its anchor. */
export interface GuideSection {
  readonly anchor: string
  readonly title: string
  readonly blocks: ReadonlyArray<GuideBlock>
}

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const blockToMarkdown = (block: GuideBlock): string => {
  if ("text" in block) return block.text
  if ("steps" in block) return block.steps.map((step, index) => `${index + 1}. ${step}`).join("\n")
  if ("points" in block) return block.points.map((point) => `- ${point}`).join("\n")
  if ("code" in block) return `\`\`\`\n${block.code}\n\`\`\``
  return [row(block.header), row(block.header.map(() => "---")), ...block.rows.map(row)].join("\n")
}

export const sectionToMarkdown = ({ blocks, title }: GuideSection): string =>
  [`## ${title}`, ...blocks.map(blockToMarkdown)].join("\n\n")

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? "")

const inlineToHtml = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>")

const items = (texts: ReadonlyArray<string>): string => texts.map((text) => `<li>${inlineToHtml(text)}</li>`).join("")

const cells = (tag: "td" | "th", texts: ReadonlyArray<string>): string =>
  `<tr>${texts.map((text) => `<${tag}>${inlineToHtml(text)}</${tag}>`).join("")}</tr>`

const blockToHtml = (block: GuideBlock): string => {
  if ("text" in block) return `<p>${inlineToHtml(block.text)}</p>`
  if ("steps" in block) return `<ol>${items(block.steps)}</ol>`
  if ("points" in block) return `<ul>${items(block.points)}</ul>`
  if ("code" in block) return `<pre><code>${escapeHtml(block.code)}</code></pre>`
  const body = block.rows.map((texts) => cells("td", texts)).join("")
  return `<div class="wide"><table><thead>${cells("th", block.header)}</thead><tbody>${body}</tbody></table></div>`
}

export const sectionToHtml = ({ anchor, blocks, title }: GuideSection): string =>
  `<section id="${anchor}"><h2>${escapeHtml(title)}</h2>${blocks.map(blockToHtml).join("")}</section>`
