import {
  type ApiError,
  DOCS_PATH,
  documentLinks,
  LLMS_FULL_PATH,
  LLMS_PATH,
  ROOT_PATH,
  RouteUnknown
} from "@agentos/api"
import { Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import Negotiator from "negotiator"
import { documentRoute, type Handler } from "../edge/Route.ts"
import { pathOf } from "../edge/RequestLimits.ts"
import { isCurrent, type PreparedHandler } from "../edge/PreparedDocument.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { type Encoding, SiteFiles } from "./SiteFiles.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const HTML = "text/html"
const MARKDOWN = "text/markdown"
const JSON_TYPE = "application/json"

/** The best first. */
const ENCODINGS: ReadonlyArray<Encoding> = ["br", "gzip", "identity"]

/** How long a reader waits for the first build before it is told to come back. */
const BUILD_WAIT = "500 millis"
const BUILD_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>AgentOS</title></head>
<body><p>The documentation is being built. This takes about 15 seconds. The page reloads by itself.</p></body></html>
`

/** Returns the type that the client prefers, of those that are offered. Without a preference it is the first. */
const preferred = (request: Request, ...offered: Array<string>): string | undefined =>
  new Negotiator({ headers: { ...request.headers } }).mediaType(offered)

/** Returns the best encoding that the client accepts. */
const encodingOf = (request: Request): Encoding => {
  const accepted = new Negotiator({ headers: { ...request.headers } }).encodings([...ENCODINGS])
  return ENCODINGS.find((encoding) => accepted.includes(encoding)) ?? "identity"
}

const buildPending = HttpServerResponse.text(BUILD_PAGE, {
  status: 503,
  contentType: "text/html; charset=utf-8",
  headers: { "retry-after": "2" }
})

/**
 * The documentation: its pages as HTML and Markdown, the indexes for agents, and the start page for browsers. Other clients
 * get `description` at the root. Files are read when they are first requested.
 */
export const routes = (description: PreparedHandler) =>
  Effect.map(ServerSettings, ({ publicUrl, site }) => {
    const texts = new SiteFiles(site.texts, publicUrl)
    const pages = new SiteFiles(site.pages, publicUrl)
    const link = documentLinks(publicUrl)

    const send = async (request: Request, files: SiteFiles, name: string): Promise<Response | undefined> => {
      const file = await files.find(name)
      if (file === undefined) return undefined
      const encoding = file.isCompressible ? encodingOf(request) : "identity"
      const headers = {
        ...file.headers,
        link,
        vary: "Accept, Accept-Encoding",
        ...(encoding === "identity" ? {} : { "content-encoding": encoding })
      }
      if (isCurrent(request.headers["if-none-match"], file.headers.etag)) {
        return HttpServerResponse.empty({ status: 304, headers })
      }
      return HttpServerResponse.uint8Array(await file.bytes(encoding), { contentType: file.contentType, headers })
    }

    const answer = (request: Request, find: () => Promise<Response | undefined>): Effect.Effect<Response, ApiError> =>
      Effect.flatMap(Effect.promise(find), (response) =>
        response === undefined ? Effect.fail(new RouteUnknown({ path: pathOf(request.url) })) : Effect.succeed(response)
      )

    const text =
      (name: string): Handler<never> =>
      (request) =>
        answer(request, () => send(request, texts, name))

    /** Answers with a page. If the site is still being built, tells a browser so after a moment; others wait. */
    const page = (request: Request, name: string): Effect.Effect<Response, ApiError> => {
      const found = answer(request, () => send(request, pages, name))
      if (request.headers["accept"]?.includes(HTML) !== true) return found
      return Effect.promise(() => pages.open()).pipe(
        Effect.timeoutOption(BUILD_WAIT),
        Effect.flatMap((opened) => (Option.isNone(opened) ? Effect.succeed(buildPending) : found))
      )
    }

    /** Answers with a page of the site or one of its files, by its path below /docs. */
    const documentation =
      (path: string): Handler<never> =>
      (request) => {
        const name = path === "" ? "docs" : `docs/${path}`
        if (name.endsWith("/")) {
          return HttpServerResponse.empty({
            status: 308,
            headers: { location: `${publicUrl}/${name.replace(/\/+$/, "")}` }
          })
        }
        if (/\.(?:md|json)$/.test(name))
          return answer(request, async () => (await send(request, texts, name)) ?? send(request, pages, name))
        if (/\.\w+$/.test(name)) return page(request, name)
        return preferred(request, HTML, MARKDOWN) === MARKDOWN
          ? answer(request, () => send(request, texts, path === "" ? "docs/index.md" : `${name}.md`))
          : page(request, `${name}/index.html`)
      }

    const root: Handler<never> = (request, record) => {
      const type = preferred(request, JSON_TYPE, HTML, MARKDOWN)
      if (type === HTML) return page(request, "index.html")
      return type === MARKDOWN ? text("llms.txt")(request, record) : description(request, record)
    }

    return [
      documentRoute(ROOT_PATH, root),
      documentRoute(LLMS_PATH, text("llms.txt")),
      documentRoute(LLMS_FULL_PATH, text("llms-full.txt")),
      documentRoute(DOCS_PATH, documentation("")),
      documentRoute(`${DOCS_PATH}.md`, text("docs/index.md")),
      documentRoute(`${DOCS_PATH}/*`, (request, record) =>
        documentation(record.match.params["*"] ?? "")(request, record)
      )
    ] as const
  })
