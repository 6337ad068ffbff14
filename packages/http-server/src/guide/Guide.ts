import { API_NAME, API_VERSION, ASYNCAPI_PATH, DOCS_PATH, ICON_PATH, LLMS_PATH, OPENAPI_PATH } from "@agentos/api"
import { basicSections } from "./BasicSections.ts"
import { errorSections } from "./ErrorSections.ts"
import { escapeHtml, type GuideSection, sectionToHtml, sectionToMarkdown } from "./GuideBlock.ts"
import type { GuideContext } from "./GuideContext.ts"
import { serviceSections } from "./ServiceSections.ts"

const SUMMARY = "Real mailboxes and phone numbers for agents, paid per call in USDT through x402."

/** Returns every section of the guide in reading order. */
export const guideSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  ...basicSections(context),
  ...serviceSections(context),
  ...errorSections()
]

/** Returns the guide for agents: Markdown in the llms.txt convention (https://llmstxt.org). */
export const agentGuide = (context: GuideContext): string =>
  [
    `# ${API_NAME}`,
    `> ${SUMMARY} Base URL ${context.publicUrl}, contract version ${API_VERSION}. Contract: ${OPENAPI_PATH}, and ${ASYNCAPI_PATH} for the WebSocket. The same guide for people: ${DOCS_PATH}.`,
    ...guideSections(context).map(sectionToMarkdown),
    ""
  ].join("\n\n")

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.6 system-ui,sans-serif;max-width:56rem;margin:0 auto;padding:2rem 1rem}
h1,h2{line-height:1.2}h2{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}
code,pre{font:14px/1.5 ui-monospace,monospace;background:var(--soft);border-radius:4px}
code{padding:.1em .3em;overflow-wrap:anywhere}pre{padding:1rem;overflow-x:auto}pre code{padding:0;background:none}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
nav ul{columns:3 12rem;padding-left:1.2rem}
`

/** Returns the guide for people: one page, with an anchor for every section. */
export const docsPage = (context: GuideContext): string => {
  const sections = guideSections(context)
  const contents = sections
    .map(({ anchor, title }) => `<li><a href="#${anchor}">${escapeHtml(title)}</a></li>`)
    .join("")
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${API_NAME}</title>
<meta name="description" content="${escapeHtml(SUMMARY)}">
<link rel="icon" href="${ICON_PATH}" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<header><h1>${API_NAME}</h1><p>${escapeHtml(SUMMARY)}</p>
<p>Contract version ${API_VERSION}: <a href="${OPENAPI_PATH}">OpenAPI 3.1</a>, <a href="${ASYNCAPI_PATH}">AsyncAPI 3</a>. For agents: <a href="${LLMS_PATH}">llms.txt</a>.</p></header>
<nav aria-label="Contents"><ul>${contents}</ul></nav>
<main>${sections.map(sectionToHtml).join("\n")}</main>
</body>
</html>
`
}

/** The icon of the service as SVG: an envelope. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><title>${API_NAME}</title><rect width="64" height="64" rx="14" fill="#1d4ed8"/><path d="M13 20h38v25H13zl19 14 19-14" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round"/></svg>
`

/** The style of the page, for the content security policy that allows this style and no other. */
export const DOCS_STYLE = STYLE
