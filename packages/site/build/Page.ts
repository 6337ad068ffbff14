/** The origin of the server in everything that the site says. A server replaces it by its own when it loads a file. */
export const ORIGIN = "https://agentos.example"

/** One page of the site, in Markdown. Links to other pages begin with `/docs/`. */
export interface Page {
  /** The path below /docs, such as `reference/send-message`. */
  readonly slug: string
  readonly title: string
  /** One sentence, for search results and indexes. */
  readonly description: string
  /** Without the title. */
  readonly markdown: string
  /** More front matter for the site, which twins leave out. */
  readonly front?: Readonly<Record<string, unknown>> & { readonly head?: ReadonlyArray<unknown> }
}

/** Pages in the order of the navigation. */
export interface Group {
  readonly label: string
  readonly pages: ReadonlyArray<Page>
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")

const row = (cells: ReadonlyArray<string>): string => `| ${cells.map(cell).join(" | ")} |`

export const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(header), row(header.map(() => "---")), ...rows.map(row)].join("\n")

export const code = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``

export const json = (value: unknown): string => code("json", JSON.stringify(value, null, 2))

/** Joins paragraphs, and leaves out empty ones. */
export const paragraphs = (...texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

/** Returns the anchor of a heading, as the site's headings have it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-")

/** Returns the name of an operation as a part of a path: `send-message`. */
export const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
