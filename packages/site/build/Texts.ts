import { API_NAME, API_VERSION } from "@agentos/api"
import { type Group, ORIGIN, type Page, paragraphs } from "./Page.ts"

const SUMMARY = "Real mailboxes and phone numbers for agents, paid per call in USDT through x402."

/** Returns the address of the twin of a page. */
const twinOf = (path: string): string => `${path === "/docs" ? "/docs/index" : path}.md`

/** Directs links between pages to their twins, because a program reads those next. */
const withTwinLinks = (markdown: string): string =>
  markdown
    .replaceAll(/<a id="[^"]*" href="([^"]*)">([^<]*)<\/a>/g, "[$2]($1)")
    .replaceAll(/\]\((\/docs(?:\/[\w/-]*)?)(#[\w-]*)?\)/g, (_, path: string, anchor: string | undefined) =>
      path === "/docs/api" ? `](${ORIGIN}${path})` : `](${ORIGIN}${twinOf(path)}${anchor ?? ""})`
    )

/** Returns the Markdown twin of a page. */
export const twin = ({ description, markdown, title }: Page): string =>
  `${paragraphs(`# ${title}`, `> ${description}`, withTwinLinks(markdown))}\n`

const FIRST = [
  `Base URL: ${ORIGIN}. Contract version ${API_VERSION}: [OpenAPI 3.1](${ORIGIN}/openapi.json); of the WebSocket [AsyncAPI 3](${ORIGIN}/asyncapi.json).`,
  "Start with a service that needs no account and no token: create a mailbox, or buy a number. Send the request without payment, sign the challenge of the 402 response with an x402 version 2 client, and repeat the identical request with `PAYMENT-SIGNATURE` and a unique `Idempotency-Key`. The response contains your access token for everything else.",
  `[\`GET /api/v1\`](${ORIGIN}/api/v1) says whether this server is a sandbox or in production, which networks and tokens it accepts and what it offers. [\`GET /api/v1/services\`](${ORIGIN}/api/v1/services) lists every service with inputs, errors and next actions.`
]

const line = ({ description, slug, title }: Page): string =>
  `- [${title}](${ORIGIN}${twinOf(slug === "index" ? "/docs" : `/docs/${slug}`)}): ${description}`

/** Returns /llms.txt: the index of all pages (https://llmstxt.org). */
export const llmsIndex = (groups: ReadonlyArray<Group>): string =>
  `${paragraphs(
    `# ${API_NAME}`,
    `> ${SUMMARY}`,
    ...FIRST,
    `[All pages in one file](${ORIGIN}/llms-full.txt), with the shapes of all records. [The skill](${ORIGIN}/.well-known/agent-skills/index.json) is a short form of them for coding agents.`,
    ...groups.map(({ label, pages }) => paragraphs(`## ${label}`, pages.map(line).join("\n")))
  )}\n`

/** Returns /llms-full.txt: every page in one file, each a level below its group. */
export const llmsFull = (groups: ReadonlyArray<Group>): string =>
  `${paragraphs(
    `# ${API_NAME}`,
    `> ${SUMMARY}`,
    ...FIRST,
    ...groups.flatMap(({ label, pages }) => [`# ${label}`, ...pages.map((page) => deeper(twin(page).trimEnd()))])
  )}\n`

/** Moves every heading one level down, outside blocks of code. */
const deeper = (markdown: string): string =>
  markdown
    .split(/(^```[^]*?^```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/^#/gm, "##")))
    .join("")
